//! Variables that hold secrets, printed.

use super::answers::is_answered_here;
use std::borrow::Cow;

use super::{WRITTEN, expands, is_secret_name, is_shown_through, names_in, spared};
use crate::domain::sort_by_key;
use crate::rules::builtin::{libraries, lists};
use crate::rules::matcher::{Found, Scene, has_flag, input_of, prints_environment, runs, runs_code};
use crate::rules::{Invocation, Stdin};
use crate::shell::{Arg, RedirectKind, parse};

fn environment_encoded_by_code<'a>(scene: &Scene<'a>) -> Found<'a> {
    scene.code_where(|codes, _| codes.iter().any(|text| encodes_all(text)))
}

words!("builtin/secrets/variables");

fn variable_printed<'a>(scene: &Scene<'a>) -> Found<'a> {
    let line = scene.command_line();
    printed_variable(scene, &|name| is_secret_name(name) && !is_answered_here(name, line))
}

/// A variable with such a name is printed and shown.
pub(super) fn printed_variable<'a>(scene: &Scene<'a>, is_wanted: &dyn Fn(&str) -> bool) -> Found<'a> {
    let found = scene.first(VARIABLE_PRINTERS, |inv| {
        // Redirected to a file or given to another command it is not shown.
        let shown = || !is_diverted(inv) && is_shown_through(inv, scene) && !is_used(inv, scene);
        if inv.program == "printenv" {
            return inv.operands.iter().any(|arg| is_wanted(arg.prefix())) && shown();
        }
        match inv.program.as_str() {
            // `declare -p NAME` shows it with its value.
            "declare" | "typeset" => {
                return has_flag(inv, "-p")
                    && inv.args.iter().filter_map(Arg::known).any(is_wanted)
                    && shown();
            }
            "jq" | "gojq" => {
                let filter = inv.operands.first().map(Arg::text).unwrap_or_default();
                let names =
                    ["$ENV.", "env."].iter().flat_map(|front| filter.split(front).skip(1)).map(identifier);
                return { names }.any(is_wanted) && shown();
            }
            "envsubst" => {
                return input_of(inv, scene).iter().any(|text| names_in(text).any(is_wanted)) && shown();
            }
            _ => {}
        }
        // `set -x`: the shell writes each command down with the values in it.
        if runs(inv, &[":", "true"]) && !is_traced(scene) {
            return false;
        }
        let told = match &inv.stdin {
            _ if inv.program != "cat" => expands(inv, scene),
            // `cat <<< "$TOKEN"`
            Stdin::Text(text) => text.has_unknown() && inv.text.contains("<<<"),
            Stdin::Inherited | Stdin::Pipe | Stdin::File(_) => false,
        };
        // `v=NAME; echo "${!v}"`
        let indirect = || {
            let words = scene.command_line().split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            inv.text.contains("${!") && { words }.any(is_wanted)
        };
        told && (names_in(&without_tests(&inv.text)).any(is_wanted) || indirect()) && shown()
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// A text without the tests that its substitutions begin with: `$([ -n "$TOKEN" ] && echo yes)` shows whether, and not what.
fn without_tests(text: &str) -> Cow<'_, str> {
    let mut out = Cow::Borrowed(text);
    let mut from = 0;
    while let Some(at) = out.get(from..).and_then(|rest| rest.find("$(")) {
        from += at + "$(".len();
        let rest = out.get(from..).unwrap_or_default();
        let begin = from + rest.len() - rest.trim_start().trim_start_matches("if ").len();
        while let Some(length) = out.get(begin..).and_then(test_length) {
            out.to_mut().replace_range(begin..begin + length, "");
        }
    }
    out
}

/// How long the test is that a text begins with, with the sign behind it where another one follows.
fn test_length(text: &str) -> Option<usize> {
    let ends: &[&str] = match text.split_once(' ')?.0 {
        "[" => &[" ]"],
        "[[" => &[" ]]"],
        "test" => &["&&", "||", ";", ")"],
        _ => return None,
    };
    let (at, end) = ends.iter().filter_map(|end| Some((text.find(end)?, *end))).min()?;
    // More than the test stands in between.
    let more = ["$(", "`", "&&", "||", ";", "|", "\n"];
    if text.get(..at).is_none_or(|test| more.iter().any(|sign| test.contains(sign))) {
        return None;
    }
    let closed = at + if end.starts_with(' ') { end.len() } else { 0 };
    let behind = text.get(closed..)?;
    let joined =
        ["||", "&&"].iter().find_map(|sign| behind.trim_start().strip_prefix(sign)).map(str::trim_start);
    let next = joined.filter(|rest| rest.starts_with(['[', 't']));
    Some(next.map_or(closed, |rest| text.len() - rest.len()))
}

/// `env | base64`: all variables, and nothing in between that leaves only some of them or only names.
fn environment_encoded(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let listed = prints_environment(inv)
        || runs(inv, &["export", "declare", "typeset"])
            && matches!(inv.args.as_slice(), [only] if matches!(only.known(), Some("-p" | "-x" | "-px" | "-xp")));
    listed && {
        let mut behind: Vec<&Invocation> = scene
            .invocations()
            .iter()
            .filter(|other| other.pipeline == inv.pipeline && other.stage > inv.stage)
            .collect();
        sort_by_key(&mut behind, |other| other.stage);
        let encoder = behind.iter().position(|other| encodes(other));
        encoder.is_some_and(|at| behind.iter().take(at).all(|other| keeps_all(other)))
    }
}

/// Whether a filter turns text into letters that say nothing to who reads them.
fn encodes(inv: &Invocation) -> bool {
    match inv.program.as_str() {
        "tr" => inv.operands.len() == 2 && inv.operands.iter().all(|set| set.text().contains("-z")),
        "openssl" => inv.args.iter().any(|arg| matches!(arg.known(), Some("enc" | "base64" | "-base64"))),
        _ => runs(inv, ENCODERS),
    }
}

/// Whether a filter lets most of what comes to it through, with the values.
fn keeps_all(inv: &Invocation) -> bool {
    match inv.program.as_str() {
        "sort" | "cat" | "tee" | "uniq" | "gzip" | "pigz" | "xz" | "zstd" | "bzip2" | "nl" => true,
        "grep" | "egrep" => {
            let pattern = inv.operands.first().map(Arg::text).unwrap_or_default();
            leaves_out(inv) || pattern.trim_matches(['.', '*', '^', '$', '=']).is_empty()
        }
        "tr" => !encodes(inv),
        _ => false,
    }
}

/// Code that encodes all variables at once.
fn encodes_all(text: &str) -> bool {
    squeezed_environment(text).is_some_and(|bare| ENCODED_ENVIRONMENT.iter().any(|form| bare.contains(form)))
}

/// Whether the shell is told to write down what it runs.
fn is_traced(scene: &Scene<'_>) -> bool {
    let traces = |inv: &Invocation| {
        let told = |arg: &Arg| arg.known().is_some_and(|word| word == "xtrace" || is_trace(word));
        inv.args.iter().any(told)
    };
    scene.first(&["set", "bash", "sh", "zsh", "dash"], traces).is_some()
}

/// `-x`, alone or among other letters.
fn is_trace(word: &str) -> bool {
    word.strip_prefix('-').is_some_and(|letters| {
        letters.len() < 6 && letters.contains('x') && letters.bytes().all(|byte| byte.is_ascii_lowercase())
    })
}

/// The name at the beginning of a text.
pub(super) fn identifier(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}

/// Whether its output goes to a file; its errors alone do not matter.
pub(super) fn is_diverted(inv: &Invocation) -> bool {
    !inv.writes.is_empty()
        && parse(&inv.text).commands.iter().flat_map(|simple| &simple.redirects).any(|redirect| {
            matches!(redirect.kind, RedirectKind::Write | RedirectKind::Append)
                && redirect.fd.is_none_or(|fd| fd == 1)
        })
}

pub(super) const ENVIRONMENT: &[&str] =
    &["env", "printenv", "set", "export", "declare", "typeset", "compgen"];

/// `env | grep -i token`: the values of what is found are shown.
/// Whether a search shows the lines without what it looks for.
pub(super) fn leaves_out(inv: &Invocation) -> bool {
    has_flag(inv, "-v") || has_flag(inv, "--invert-match")
}

pub(super) fn environment_searched<'a>(scene: &Scene<'a>, hunted: &[&str]) -> Found<'a> {
    let printed = || scene.first(ENVIRONMENT, prints_environment);
    let found = scene.first(&["grep", "egrep", "rg", "awk", "ag"], |inv| {
        let names_only = || {
            scene.invocations().iter().any(|other| {
                other.pipeline == inv.pipeline && (runs(other, &["cut", "sed"]) || other.program == "wc")
            })
        };
        let pattern = inv.operands.first().map(Arg::text).unwrap_or_default().to_ascii_lowercase();
        let quiet = lists::QUIET.iter().any(|flag| has_flag(inv, flag)) || leaves_out(inv);
        let words = || pattern.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        !quiet
            && words().any(|word| hunted.contains(&word) || is_secret_name(word))
            && !names_only()
            && printed().is_some_and(|env| env.pipeline == inv.pipeline)
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// Code that prints every variable, or one whose name says that it is secret.
fn code_prints_environment<'a>(scene: &Scene<'a>) -> Found<'a> {
    code_prints(scene, true, &is_secret_name)
}

/// Code that prints a variable with such a name, or with `any` every variable.
pub(super) fn code_prints<'a>(scene: &Scene<'a>, any: bool, is_wanted: &dyn Fn(&str) -> bool) -> Found<'a> {
    let wanted = |tail: &str| {
        let name: String = tail.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
        is_wanted(&name.to_ascii_uppercase())
    };
    let found = scene.invocations().iter().filter(|inv| runs_code(inv)).find(|inv| {
        let prints = inv.program == "node" && (has_flag(inv, "-p") || has_flag(inv, "--print"));
        let named = |text: &str| is_wanted(&text.to_ascii_uppercase());
        let said = inv.args.iter().any(|arg| {
            let Some(bare) = squeezed_environment(&arg.text()) else { return false };
            let shows = prints
                || ["print", "console.log", "puts", "echo", "log(", "dump("]
                    .iter()
                    .any(|word| bare.contains(word));
            let valued = |front: &&str| {
                let mut found = bare.match_indices(*front);
                found.any(|(at, _)| {
                    let (before, behind) = bare.split_at_checked(at).unwrap_or_default();
                    let behind = behind.strip_prefix(*front).unwrap_or_default();
                    wanted(behind) && !is_asked_about(before, behind)
                })
            };
            let one = shows
                && ONE_VARIABLE.iter().any(valued)
                && !["requests.", "fetch(", "urlopen", "len(", "bool(", "boolean(", "!!"]
                    .iter()
                    .any(|word| bare.contains(word));
            let whole = || {
                matches!(bare.as_str(), "process.env" | "json.stringify(process.env)")
                    || bare.starts_with("json.stringify(process.env,")
            };
            one && (prints || !spared::is_kept(inv, &arg.text(), &named))
                || any && (prints && whole() || SHOWS_ALL.iter().any(|all| bare.contains(all)))
        });
        let named: &[&str] = &["environ", "getenv(", "process.env", "ENV[", "ENV{"];
        let shown: &[&str] = &["print", "puts", "log(", "echo"];
        said || libraries::scripts_with(inv, scene, &[named, shown])
            .iter()
            .any(|script| script_prints(script, any, &wanted))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// Whether of a variable, whose name `behind` begins with, only what it is like is asked: `process.env.KEY ? 'set' : 'missing'`,
/// `'set' if os.getenv('KEY') else 'missing'`, `os.getenv('KEY') is not None`.
fn is_asked_about(before: &str, behind: &str) -> bool {
    const COMPARED: &[&str] =
        &["isnot", "isnone", "==", "!=", "in", ".length", ".startswith(", ".startsWith("];
    let rest = behind.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
    let rest = rest.trim_start_matches(['\'', '"']);
    // A default value: `getenv('KEY', '')`.
    let closed = match rest.strip_prefix(',') {
        Some(default) => default.split_once(')').map_or("", |(_, rest)| rest),
        None => rest.strip_prefix([')', ']', '}']).unwrap_or(rest),
    };
    let chosen = closed.starts_with('?') && !closed.starts_with("?.") && !closed.starts_with("??");
    chosen
        || before.ends_with("if") && closed.starts_with("else")
        || before.ends_with("ifnot") && closed.starts_with("else")
        || before.ends_with('!')
        || COMPARED.iter().any(|sign| closed.starts_with(sign))
}

/// Code in small letters without blanks; none where it names no environment.
fn squeezed_environment(code: &str) -> Option<String> {
    let names = ["env", "ENV"].iter().any(|word| code.contains(word));
    names.then(|| code.chars().filter(|c| !c.is_whitespace()).collect::<String>().to_ascii_lowercase())
}

/// Whether a script prints the variable itself: one that only uses it prints other things.
pub(super) fn script_prints(script: &str, any: bool, wanted: &dyn Fn(&str) -> bool) -> bool {
    const PRINTS: &[&str] = &["print(", "print", "console.log(", "puts", "echo"];
    let Some(bare) = squeezed_environment(script) else { return false };
    let one = ONE_VARIABLE.iter().any(|front| {
        bare.match_indices(front).any(|(at, front)| {
            let (before, behind) = bare.split_at_checked(at).unwrap_or_default();
            let behind = behind.strip_prefix(front).unwrap_or_default();
            PRINTS.iter().any(|call| before.ends_with(call))
                && wanted(behind)
                && !is_asked_about(before, behind)
        })
    });
    let whole = || {
        SHOWS_ALL
            .iter()
            .filter(|form| form.contains("print") || form.contains("log("))
            .any(|all| bare.contains(all))
    };
    one || any && whole()
}

/// Something behind it in the pipeline does more with what it prints than to write it down in another way.
fn is_used(inv: &Invocation, scene: &Scene<'_>) -> bool {
    scene.invocations().iter().any(|other| {
        other.pipeline == inv.pipeline
            && other.stage > inv.stage
            && (!rewrites(other) || is_diverted(other) || !is_shown_through(other, scene))
    })
}

/// Whether a filter writes each letter of what it is given down, in whatever form.
fn rewrites(inv: &Invocation) -> bool {
    let first = || inv.operands.first().map(Arg::text).unwrap_or_default();
    match inv.program.as_str() {
        "tr" => true,
        "sed" => first().contains('&') && !first().contains('*'),
        "grep" | "egrep" => has_flag(inv, "-o") && first().trim_matches('.').is_empty(),
        _ => runs(inv, WRITTEN),
    }
}
