//! Commands that nobody can read before they run.

use std::cell::LazyCell;

use super::{is_unknown, only_as_argument, stands_behind};
use crate::domain::Target;
use crate::rules::builtin::lists;
use crate::rules::matcher::{
    By, Found, Scene, Sought, Trigger, has_flag, inside, is_interpreter, runs, runs_input, runs_shell,
    target_of,
};
use crate::rules::survey::subscripts::counts;
use crate::rules::{Invocation, Stdin};
use crate::shell::{Arg, Op, Part, Piece, Word, parse};

words!("builtin/shell/unknown");

/// Code has a shell run a text that it puts together in a way which is not followed, and that names the home directory or a shell.
fn computed_by_code<'a>(scene: &Scene<'a>) -> Found<'a> {
    let holds = |text: &str, list: &[&str]| list.iter().any(|word| text.contains(word));
    let home = scene.view.facts.places.home.as_deref().unwrap_or("/root");
    let found = scene.running(|inv| is_interpreter(&inv.program)).find(|inv| {
        let codes = scene.codes(inv);
        let says = |code: &Sought, list: &[&str]| list.iter().any(|word| code.has(word));
        let near = |text: &str| holds(text, NEAR) || text.contains(&format!("{home}/"));
        codes.iter().any(|code| {
            says(code, SHELL_CALLS)
                && says(code, PUTS_TOGETHER)
                && (near(code)
                    || inv.operands.iter().any(|arg| near(&arg.text()) && !arg.text().contains("://")))
                && !scene.account(&inv.program, code).is_some_and(|account| account.runs_nothing())
        })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

const EVAL: &[&str] = &["eval"];

/// What runs text as commands.
const RUNS_TEXT: Trigger = Trigger::SHELL.or(Trigger::programs(EVAL));

/// Whether something that is no locator feeds the invocation.
fn is_fed(index: usize, scene: &Scene<'_>) -> bool {
    let fed = scene.invocations().get(index);
    let names_path = fed.is_some_and(|inv| inv.word.pieces.len() > 1);
    let evaluates = fed.is_some_and(evaluates_whole);
    scene.invocations().iter().enumerate().any(|(at, inv)| {
        let settles = || evaluates && scene.view.survey.settles.iter().any(|walked| walked.contains(&at));
        let counted = || {
            let argument = |fed: &Invocation| runs_shell(fed) && code_given(fed).is_some_and(says_numbers);
            let own = || !scene.runs_any(sets_unseen) && !scene.command_line().contains("PATH=");
            prints_number(inv) && fed.is_some_and(argument) && own()
        };
        let expected = || if names_path { runs(inv, LOCATORS) } else { sets_up(inv) || counted() };
        inv.feeds == Some(index) && !expected() && !settles()
    })
}

/// `eval "$(f)"`: nothing stands beside what it is given.
fn evaluates_whole(inv: &Invocation) -> bool {
    runs(inv, EVAL)
        && matches!(inv.args.as_slice(), [arg] if matches!(arg.pieces.as_slice(), [Piece::Unknown]))
}

/// What it prints is for `eval`, and nobody else has written it: the set-up of a tool, a path, a script of the manifest.
fn sets_up(inv: &Invocation) -> bool {
    const WRITTEN: &[&str] = &["run", "run-script", "exec", "x", "dlx", "start", "view", "info"];
    const TOLD: &[&str] =
        &["log", "show", "config", "notes", "cat-file", "tag", "blame", "diff", "stash", "grep", "archive"];
    let is_path = inv.word.prefix().contains('/') && !inv.word.prefix().ends_with("/bin/brew");
    // What only hands on a file or a page has no words for its set-up: these are names of files.
    const HANDERS: &[&str] = &[
        "cat", "tac", "head", "tail", "less", "more", "bat", "sed", "awk", "gawk", "grep", "rg", "sort",
        "uniq", "cut", "tr", "nl", "rev", "base64", "xxd", "zcat", "gunzip", "strings", "curl", "wget",
    ];
    let hands_on = runs(inv, HANDERS) || runs_shell(inv) || is_interpreter(&inv.program);
    let first = inv.sub.first().map(String::as_str).or_else(|| inv.operands.first().and_then(Arg::known));
    let says = |word: &str| inv.args.iter().any(|arg| arg.text().contains(word));
    match inv.program.as_str() {
        "git" => !first.is_some_and(|sub| TOLD.contains(&sub)),
        "npm" | "yarn" | "pnpm" | "go" | "cargo" | "bazel" | "poetry" => {
            !first.is_some_and(|sub| WRITTEN.contains(&sub))
        }
        "node" | "nodejs" => says("--completion-bash") || says("require.resolve"),
        // What the shell itself knows, in a form that it reads again.
        "declare" | "typeset" => first.is_some() && ["-f", "-p"].iter().any(|flag| has_flag(inv, flag)),
        "getopt" => true,
        "perl" => says("local::lib") || says("-V"),
        "jq" => says(".scripts") && says("package.json"),
        _ if runs(inv, LOCATORS) => true,
        name if SETS_UP
            .iter()
            .any(|(tool, words)| *tool == name && first.is_some_and(|w| words.contains(&w))) =>
        {
            !is_path
        }
        _ => {
            let told = matches!(first, Some("completion" | "completions" | "shellenv"));
            let asked = || says("--completion") || says("--generate") && says("complet");
            !is_path && !hands_on && (told || asked())
        }
    }
}

/// `bash <(…)`: what another command prints is the script.
fn runs_process(inv: &Invocation) -> bool {
    const FILTERS: &[&str] = &["<(grep", "<(sed", "<(envsubst", "<(echo", "<(printf", "<(awk", "<(tr"];
    let whole = inv.operands.first().is_some_and(|arg| matches!(arg.pieces.as_slice(), [Piece::Unknown]));
    let sources = runs(inv, lists::RUN_IN_SHELL);
    // A file of settings is read that way, without its comments.
    let settings =
        || inv.text.contains("<(cat ") || sources && FILTERS.iter().any(|front| inv.text.contains(front));
    whole && (sources || runs_shell(inv)) && inv.text.contains("<(") && !settings()
}

fn pattern_command<'a>(scene: &Scene<'a>) -> Found<'a> {
    let hides =
        |inv: &&Invocation| inv.word.has_glob() && !inv.word.text().starts_with('[') && !names_scripts(inv);
    let found = scene.invocations().iter().filter(hides).find(|inv| !is_built_here(inv, scene));
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// `concurrently "npm:lint-*"`: scripts of the manifest, which that program looks up itself.
fn names_scripts(inv: &Invocation) -> bool {
    let runner = inv.word.prefix().split_once(':').map(|(runner, _)| runner);
    inv.wrappers.last().is_some_and(|name| name == "concurrently")
        && matches!(runner, Some("npm" | "yarn" | "pnpm" | "bun" | "node" | "deno"))
}

/// A program in a directory of the project, such as `./target/release/deps/bench-*`. (A pattern alone may be the name of any.)
fn is_built_here(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let Target::Path { path, .. } = target_of(&inv.word, inv.cwd.as_deref()) else { return false };
    inv.word.prefix().contains('/') && scene.view.facts.places.roots().any(|root| inside(&path, root))
}

fn computed_command<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.invocations().iter().enumerate().find(|(index, inv)| {
        let runs_text =
            is_unknown(inv) && inv.word.prefix().is_empty() || runs_unknown_text(inv) || runs_process(inv);
        runs_text && is_fed(*index, scene)
    });
    Found::from(found.map(|(_, inv)| inv.text.as_str()))
}

/// A shell runs what comes down a pipe, and nothing is known of it. (On another machine it is that machine's.)
fn unknown_input<'a>(scene: &Scene<'a>) -> Found<'a> {
    const ELSEWHERE: &[&str] = &["ssh", "docker", "podman", "kubectl", "vagrant", "lxc", "chroot", "mosh"];
    let all = scene.invocations();
    let found = all.iter().find(|inv| {
        inv.stdin == Stdin::Pipe
            && runs_shell(inv)
            && !has_flag(inv, "-n")
            && runs_input(inv, By::Pipe)
            && !inv.wrappers.iter().any(|wrapper| ELSEWHERE.contains(&wrapper.as_str()))
            && {
                // What came in is known: it was read, and its commands stand deeper than this shell.
                let mut inside = scene.read_by(inv).peekable();
                let is_read = |other: &Invocation| !(is_unknown(other) && other.word.prefix().is_empty());
                inside.peek().is_none() || !inside.all(is_read)
            }
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// `${NAME@P}`: the value is expanded again, with the commands in it.
fn prompt_expansion<'a>(scene: &Scene<'a>) -> Found<'a> {
    Found::from(scene.texts().find(|text| expands_as_prompt(text)))
}

/// A subscript with a substitution in it, kept as text in a variable that is named again: arithmetic and `[[` run it.
fn run_by_arithmetic<'a>(scene: &Scene<'a>) -> Found<'a> {
    const WRITTEN: [&str; 4] = ["[$(", "[`", "[\\$(", "[\\`"];
    let mut texts = scene.texts().filter(|text| WRITTEN.iter().any(|sign| text.contains(sign)));
    Found::from(texts.find(|whole| {
        let script = parse(whole);
        may_count(whole)
            && script.commands.iter().flat_map(|simple| &simple.assigns).any(|assign| {
                let again = whole.matches(assign.name.as_str()).nth(1).is_some();
                again && is_run_subscript(&assign.value)
            })
    }))
}

/// Whether a text has arithmetic in it, or a command that takes the name of a variable, whose subscript it counts.
fn may_count(text: &str) -> bool {
    const TAKES_NAMES: &[&str] = &[
        "${!", "unset", "read", "export", "declare", "local", "typeset", "mapfile", "getopts", "wait", "[[",
        "test", "printf", "eval", "${#", "integer", "float",
    ];
    counts(text) || TAKES_NAMES.iter().any(|name| text.contains(name))
}

/// `NAME[$(…)…]` as text.
fn is_run_subscript(value: &Word) -> bool {
    let text: String = value
        .parts
        .iter()
        .filter_map(|part| if let Part::Text { text, .. } = part { Some(text.as_str()) } else { None })
        .collect();
    ["[$(", "[`"].iter().any(|sign| {
        text.split_once(sign).is_some_and(|(name, rest)| {
            let is_name = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
            is_name && !name.is_empty() && rest.contains(']')
        })
    })
}

fn expands_as_prompt(line: &str) -> bool {
    if !line.contains("@P}") {
        return false;
    }
    let script = parse(line);
    let values = |simple: &'_ crate::shell::Simple| {
        let assigned = simple.assigns.iter().map(|assign| assign.value.clone());
        simple.words.iter().cloned().chain(assigned).collect::<Vec<_>>()
    };
    script.commands.iter().flat_map(values).any(|word| {
        let text = line.get(word.span.0..word.span.1).unwrap_or_default();
        text.contains("@P}")
            && word.parts.iter().any(|part| {
                matches!(part, Part::Variable { op: Op::Other | Op::Element(_) | Op::Change(_), .. })
            })
    })
}

/// A shell or `eval` that is given text which is not known.
fn runs_unknown_text(inv: &Invocation) -> bool {
    let input = match &inv.stdin {
        Stdin::Text(arg) => inv.operands.is_empty() && arg.has_unknown(),
        Stdin::Inherited | Stdin::Pipe | Stdin::File(_) => false,
    };
    if !input && !inv.args.iter().any(Arg::has_unknown) {
        return false;
    }
    if runs(inv, EVAL) {
        return true;
    }
    let harmless = |code: &Arg| inv.wrappers.iter().any(|by| by == "xargs") && only_as_argument(code);
    (input || code_given(inv).is_some_and(|code| code.has_unknown() && !harmless(code))) && runs_shell(inv)
}

/// The code that an interpreter is given on its line.
fn code_given(inv: &Invocation) -> Option<&Arg> {
    let code = inv.flags.iter().find(|flag| flag.name == "-c").and_then(|flag| flag.value.as_ref());
    code.or_else(|| if has_flag(inv, "-c") { inv.operands.first() } else { None })
}

fn eval_unknown<'a>(scene: &Scene<'a>) -> Found<'a> {
    let all = scene.invocations();
    let own = LazyCell::new(|| !scene.runs_any(sets_unseen));
    let found = all.iter().enumerate().find(|(index, inv)| {
        let is_told = || all.iter().any(|other| other.feeds == Some(*index));
        let is_environment = || *own && takes_environment(inv, scene.command_line());
        runs_unknown_text(inv) && !is_told() && !is_environment()
    });
    Found::from(found.map(|(_, inv)| inv.text.as_str()))
}

/// Whether a command may set variables that stand nowhere in the line.
fn sets_unseen(inv: &Invocation) -> bool {
    runs(inv, &["source", ".", "eval", "mapfile", "readarray", "getopts", "coproc"]) || inv.program.is_empty()
}

/// Whether what stands behind a `$` gives a number, whatever it is: how the last command ended, how many arguments there are, whose
/// account it is.
fn is_number(rest: &str) -> bool {
    rest.starts_with(['?', '#'])
        || ["(id -u)", "(id -g)", "(nproc)"].iter().any(|front| rest.starts_with(front))
}

/// Whether what is not known of a text only stands behind commands that print it, or give files to whoever it is.
fn says_numbers(code: &Arg) -> bool {
    let says = |front: &str| {
        let program = front.split_whitespace().next().unwrap_or_default();
        matches!(program, "echo" | "printf" | "chown" | "chgrp") && !front.contains('{')
    };
    let mut known = String::new();
    only_as_argument(code) && code.pieces.iter().all(|piece| stands_behind(piece, &mut known, says))
}

/// Whether a command prints a number and is told nothing else.
fn prints_number(inv: &Invocation) -> bool {
    let words: Vec<&str> = inv.args.iter().filter_map(Arg::known).collect();
    match inv.program.as_str() {
        "id" => matches!(words.as_slice(), ["-u" | "-g"]),
        "nproc" => inv.args.is_empty(),
        _ => false,
    }
}

/// `bash -c "cd $DIR && ls"`: what is not known are variables that the command does not set, and so the person's, and each stands as
/// an argument.
fn takes_environment(inv: &Invocation, line: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let set = |name: &str| {
        line.match_indices(name).any(|(at, name)| {
            let (before, behind) = line.split_at_checked(at).unwrap_or_default();
            let behind = behind.get(name.len()..).unwrap_or_default();
            let value = before.ends_with('$') || before.ends_with('{') && !behind.starts_with([':', '=']);
            !value && !before.ends_with(is_name) && !behind.starts_with(is_name)
        })
    };
    let numbers = || !line.contains("PATH=") && code_given(inv).is_some_and(says_numbers);
    let named = || {
        inv.text.split('$').skip(1).all(|rest| {
            if is_number(rest) {
                return numbers();
            }
            let braced = rest.strip_prefix('{');
            let rest = braced.unwrap_or(rest);
            let name = rest.split(|c| !is_name(c)).next().unwrap_or_default();
            let end = rest.get(name.len()..).unwrap_or_default();
            !name.is_empty() && (braced.is_none() || end.starts_with('}')) && !set(name)
        })
    };
    code_given(inv).is_some_and(only_as_argument) && !inv.text.contains('`') && named()
}
