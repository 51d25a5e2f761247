//! What holds for every case of the corpus, whatever its verdict: a wrapper, padding or a stricter policy never makes the
//! verdict milder, and what is only written down is never stopped.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

#[path = "corpus/mod.rs"]
mod corpus;
#[path = "corpus/rewrite.rs"]
mod rewrite;

use corpus::{Case, Situation, cases, command_verdict};
use lazaret::domain::{BuiltinRules, Mode, Policy, ResourceMode, Verdict};
use rewrite::{CONSTRUCTS, PADDINGS, PREFIXES, WRAPPERS};

/// One form in so many is tried on a case, another one on the next; all of them with `LAZARET_CORPUS=all` in the environment.
const SHARE: usize = 6;

/// The forms that are this case's share of them.
fn share<'a, T>(case: &Case, forms: &'a [T]) -> impl Iterator<Item = &'a T> {
    let all = std::env::var_os("LAZARET_CORPUS").is_some_and(|value| value == "all");
    let number: usize = case.id.rsplit('-').next().unwrap().parse().unwrap();
    forms
        .iter()
        .enumerate()
        .filter(move |(at, _)| all || (at + number).is_multiple_of(SHARE))
        .map(|(_, form)| form)
}

/// Looks at every case on as many threads as there are processors; what is wrong, in the order of the cases.
fn every(check: impl Fn(&Case, &mut Vec<String>) + Sync) -> Vec<String> {
    let cases = cases();
    let parts = std::thread::available_parallelism().map_or(2, usize::from).max(1);
    let check = &check;
    std::thread::scope(|scope| {
        let threads: Vec<_> = cases
            .chunks(cases.len().div_ceil(parts))
            .map(|part| {
                scope.spawn(move || {
                    let mut wrong = Vec::new();
                    for case in part {
                        check(case, &mut wrong);
                    }
                    wrong
                })
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    })
}

fn report(wrong: &[String]) {
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Says so where a rewritten command gets a milder verdict than the command.
fn not_milder(case: &Case, plain: Verdict, text: &str, situation: Situation, wrong: &mut Vec<String>) {
    let said = command_verdict(text, situation, &Policy::default());
    if said < plain && case.rewritten.is_none() {
        wrong.push(format!(
            "{}: {} became {}: {}",
            case.id,
            plain.name(),
            said.name(),
            text.replace('\n', "\\n")
        ));
    }
}

/// What only keeps the machine busy without end, and writes nothing, does no harm once `timeout` ends it.
fn given_an_end(case: &Case, text: &str) -> bool {
    let kept = text.replace("> /dev/null", "");
    text.starts_with("timeout ")
        && case.reason.contains("without end")
        && !kept.contains(['>', '|'])
        && !kept.contains("of=")
}

/// Stopped only by rules that `is_one` picks.
fn stopped_only_by(case: &Case, is_one: impl Fn(&str) -> bool) -> bool {
    let decision = corpus::decide(&case.tool, &case.input, case.situation, &Policy::default());
    let mut stopping = decision.reasons().iter().filter(|reason| reason.verdict >= Verdict::Modify);
    stopping.all(|reason| is_one(reason.rule.as_ref()))
}

/// Stopped only for words of Windows' shells: no program of this system can start those.
fn of_windows(case: &Case) -> bool {
    stopped_only_by(case, |rule| rule.starts_with("powershell."))
}

/// The rules about secrets that are printed, and about nothing else that is done with them.
const SHOWN: &[&str] = &[
    "secrets.credential-shown",
    "secrets.token-printed",
    "secrets.variable-printed",
    "cloud.secret-printed",
    "secrets.env-values",
];

/// What only prints a secret does no harm where its output is thrown away, or kept in a variable that nobody uses, or counted with.
fn shown_to_nobody(case: &Case, text: &str) -> bool {
    let counted = text.contains("'own[$(");
    (text.ends_with(" > /dev/null 2>&1") || text.starts_with("x=$(") || counted)
        && stopped_only_by(case, |rule| SHOWN.contains(&rule) || counted && rule.starts_with("secrets."))
}

/// Where rewriting is known to make a verdict milder, the case says why, and there are few of them.
#[test]
fn few_cases_are_known_to_be_lowered() {
    let known = cases().iter().filter(|case| case.rewritten.is_some()).count();
    assert!(known * 100 <= cases().len(), "{known} of {}", cases().len());
}

#[test]
fn a_wrapper_never_lowers_a_verdict() {
    let wrong = every(|case, wrong| {
        let Some(command) = case.command() else { return };
        let plain = case.verdict(&Policy::default());
        if plain < Verdict::Modify || of_windows(case) {
            return;
        }
        for wrapper in share(case, WRAPPERS) {
            let text = wrapper.around(command);
            if let Some(text) = text.filter(|text| !given_an_end(case, text) && !shown_to_nobody(case, text))
            {
                not_milder(case, plain, &text, case.situation, wrong);
            }
        }
        if rewrite::is_simple(command) {
            for prefix in share(case, PREFIXES) {
                let text = format!("{prefix} {command}");
                if !given_an_end(case, &text) {
                    not_milder(case, plain, &text, case.situation, wrong);
                }
            }
        }
    });
    report(&wrong);
}

#[test]
fn a_construct_of_the_shell_never_lowers_a_verdict() {
    let wrong = every(|case, wrong| {
        let Some(command) = case.command() else { return };
        let plain = case.verdict(&Policy::default());
        if plain < Verdict::Modify || of_windows(case) {
            return;
        }
        for construct in share(case, CONSTRUCTS) {
            let text = construct.around(command);
            if let Some(text) = text.filter(|text| !given_an_end(case, text) && !shown_to_nobody(case, text))
            {
                not_milder(case, plain, &text, case.situation, wrong);
            }
        }
    });
    report(&wrong);
}

#[test]
fn a_construct_of_the_shell_stops_nothing_harmless() {
    const HARMLESS: &[&str] = &[
        "ls -la src",
        "git status --short",
        "echo done",
        "cat README.md | head -5",
        "cargo test --lib",
        "rm -f build/x.o",
    ];
    let mut wrong = Vec::new();
    for construct in CONSTRUCTS {
        for text in HARMLESS.iter().filter_map(|command| construct.around(command)) {
            let said = command_verdict(&text, corpus::PROJECT, &Policy::default());
            // A variable that git takes its settings from is asked about whatever it says.
            // So is a subscript that runs something, where it is kept for later.
            if said > Verdict::Warn && !text.contains("GIT_CONFIG_COUNT") && !text.contains("((key))") {
                wrong.push(format!("{}: {text}", said.name()));
            }
        }
    }
    report(&wrong);
}

#[test]
fn harmless_padding_never_lowers_a_verdict() {
    let wrong = every(|case, wrong| {
        let Some(command) = case.command() else { return };
        let plain = case.verdict(&Policy::default());
        for padding in share(case, PADDINGS) {
            if let Some(text) = padding(command).filter(|text| !shown_to_nobody(case, text)) {
                not_milder(case, plain, &text, case.situation, wrong);
            }
        }
    });
    report(&wrong);
}

/// What writes a command line down, or looks for it, and does not run it. `@` is the command in single quotes, `%` as it is.
const WRITTEN_DOWN: &[&str] = &[
    "echo @",
    "printf '%s\\n' @",
    "git commit -m @",
    "git commit -am 'fix: stop running it' -m @",
    "git tag -a v1 -m @",
    "git log --grep=@",
    "grep -rnF @ src",
    "rg -F @ docs",
    "git grep -nF -e @",
    "gh issue create --title 'it runs this' --body @",
    "gh pr comment 7 --body @",
    "cat > notes.md <<'EOF'\n# Never run this\n%\nEOF",
    "cat >> docs/incident.md <<'END_OF_NOTES'\n%\nEND_OF_NOTES",
    "git commit -F - <<'EOF'\nRefuse it\n\n%\nEOF",
    "gh pr create --title 'Refuse it' --body \"$(cat <<'EOF'\n%\nEOF\n)\"",
    "test @ = x || true",
    "X=@",
    "echo @ >> notes.txt",
    "echo @ | wc -c",
];

#[test]
fn what_is_only_written_down_is_never_stopped() {
    let wrong = every(|case, wrong| {
        let Some(command) = case.command().filter(|_| case.expect.is_dangerous()) else { return };
        if command.contains("EOF") {
            return;
        }
        for form in share(case, WRITTEN_DOWN) {
            let text =
                form.replace('@', &rewrite::quoted(command)).replace("\n%\n", &format!("\n{command}\n"));
            let said = command_verdict(&text, corpus::PROJECT, &Policy::default());
            if said > Verdict::Warn {
                wrong.push(format!("{}: {}: {}", case.id, said.name(), text.replace('\n', "\\n")));
            }
        }
    });
    report(&wrong);
}

/// Policies in pairs: the second is stricter than the first, or as strict.
fn pairs() -> Vec<(&'static str, Policy, Policy)> {
    let with = |change: fn(&mut Policy)| {
        let mut policy = Policy::default();
        change(&mut policy);
        policy
    };
    let standard = Policy::default;
    vec![
        ("off, on", with(|policy| policy.enabled = false), standard()),
        ("no rules, the essential ones", with(|p| p.builtin_rules = BuiltinRules::None), with(essential)),
        ("the essential rules, all", with(essential), standard()),
        (
            "rules switched off, all",
            with(|policy| {
                let rules =
                    ["files.delete-root", "git.reset-hard", "network.download-to-shell", "secrets.file-read"];
                policy.disabled_rules = rules.map(str::to_owned).to_vec();
            }),
            standard(),
        ),
        ("a wider scope, the usual one", with(|policy| policy.scope = vec!["/".to_owned()]), standard()),
        ("async, blocking", with(|policy| policy.mode = Mode::Async), standard()),
        ("no known hosts less", standard(), with(|policy| policy.known_hosts.clear())),
        (
            "no protected branches, the usual ones",
            with(|policy| policy.protected_branches.clear()),
            standard(),
        ),
        (
            "one protected branch more",
            standard(),
            with(|policy| policy.protected_branches.push("topic".to_owned())),
        ),
        (
            "higher bounds of risk, the usual ones",
            with(|policy| {
                policy.risk.medium = 0.8;
                policy.risk.high = 0.9;
                policy.risk.critical = 1.0;
            }),
            standard(),
        ),
        (
            "lower bounds of risk",
            standard(),
            with(|policy| {
                policy.risk.medium = 0.5;
                policy.risk.high = 0.7;
                policy.risk.critical = 0.8;
            }),
        ),
        (
            "a budget that warns, one that blocks",
            with(|policy| {
                policy.resources.mode = ResourceMode::Warn;
                policy.resources.max_file_operations = 0;
            }),
            with(|policy| {
                policy.resources.mode = ResourceMode::Block;
                policy.resources.max_file_operations = 0;
            }),
        ),
    ]
}

fn essential(policy: &mut Policy) {
    policy.builtin_rules = BuiltinRules::Essential;
}

#[test]
fn a_stricter_policy_never_allows_more() {
    let pairs = pairs();
    let wrong = every(|case, wrong| {
        for (name, loose, strict) in share(case, &pairs) {
            let (before, after) = (case.verdict(loose), case.verdict(strict));
            if after < before {
                wrong.push(format!("{name}: {} became {}: {}", before.name(), after.name(), case.shown()));
            }
        }
    });
    report(&wrong);
}
