//! What code deserves for the programs that it starts: by what its calls are read to do, else by the strings in it.

use super::shell_text::{shell, shell_verdict};
use super::{MAX_LITERALS, changes};
use crate::domain::Verdict;
use crate::rules::builtin::{argv, scripts, undone};
use crate::rules::foreign::{Language, MAX_NESTED, Operation};
use crate::rules::matcher::{Scene, contains_word, flag_value, inner_survey, made_verdict, runs_code};
use crate::rules::{Invocation, facts};
use crate::shell::Arg;

/// What code deserves whose every call is read. None: it may do more than stands in it.
pub(super) fn told_by_account(
    scene: &Scene<'_>,
    inv: &Invocation,
    code: &str,
    cwd: &str,
    least: Verdict,
) -> Option<bool> {
    let account = scene.account(&inv.program, code).filter(|account| !account.open)?;
    let tested =
        flag_value(inv, &["-m"]).is_some_and(|module| matches!(module.known(), Some("pytest" | "unittest")));
    Some(account.operations.iter().any(|operation| match operation {
        Operation::Runs(line) => line_deserves(scene, line, cwd, least, 0),
        Operation::Calls { name, given } => {
            let last = name.rsplit('.').next().unwrap_or_default();
            let starts = NAMED_RUNS.iter().any(|word| contains_word(last, word));
            let texts = || given.iter().filter_map(Arg::known);
            let runs = |line: &str| shell_verdict(scene, line, cwd) >= least;
            starts && !tested && (texts().any(runs) || runs(&texts().collect::<Vec<_>>().join(" ")))
        }
        Operation::Writes(_)
        | Operation::Deletes { .. }
        | Operation::Moves { .. }
        | Operation::Copies { .. } => false,
    }))
}

/// Whether a line that code has run deserves that, or the code that it in turn gives to an interpreter.
fn line_deserves(scene: &Scene<'_>, line: &str, cwd: &str, least: Verdict, depth: usize) -> bool {
    let call = shell(line.to_owned());
    if made_verdict(scene, &call, cwd) >= least {
        return true;
    }
    let inner: Vec<(String, Vec<String>)> = inner_survey(scene, &call, cwd, |survey| {
        let coded = survey.invocations.iter().filter(|inv| runs_code(inv));
        coded.map(|inv| (inv.program.clone(), changes::texts(inv, survey))).collect()
    });
    inner.iter().any(|(program, texts)| {
        texts.iter().any(|text| match scene.account(program, text).filter(|account| !account.open) {
            Some(account) if depth < MAX_NESTED => {
                account.operations.iter().any(|operation| match operation {
                    Operation::Runs(line) => line_deserves(scene, line, cwd, least, depth.saturating_add(1)),
                    _ => false,
                })
            }
            _ => {
                let found = scripts::strings(text).into_iter().chain(scripts::run_quotes(text));
                said_commands(text, found.collect())
                    .iter()
                    .any(|command| shell_verdict(scene, command, cwd) >= least)
            }
        })
    })
}

words!("builtin/code/told");

/// The texts that are tried as commands, of code that is not read to its end. `near`: what the calls that start programs depend on.
pub(super) fn tried(
    scene: &Scene<'_>,
    inv: &Invocation,
    (whole, near): (&str, &str),
    least: Verdict,
    strings: impl FnOnce() -> Vec<String>,
) -> Vec<String> {
    match scene.account(&inv.program, whole) {
        // What a program is started with may come from anywhere in the code.
        Some(account) if account.open && least == Verdict::Block => {
            said_commands(whole, undone::strings(whole))
        }
        // Where strings begin and end is not known for certain.
        None if Language::of(&inv.program).is_some() => {
            let pieces = ['"', '\'', '`'].iter().flat_map(|quote| whole.split(*quote));
            let pieces = pieces.map(str::to_owned).take(MAX_LITERALS.saturating_mul(4));
            said_commands(near, strings()).into_iter().chain(pieces).collect()
        }
        _ => said_commands(near, strings()),
    }
}

/// Whether a line that code gives to a call that runs it deserves that: it is known to be run, as little else of such code is.
pub(super) fn called_deserves(scene: &Scene<'_>, code: &str, cwd: &str, least: Verdict) -> bool {
    let behind = |(at, word): (usize, &str)| {
        let rest = code.get(at + word.len()..)?.trim_start_matches([' ', '(']);
        let own = |before: Option<char>| {
            before.is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '_' | '$' | '@'))
        };
        own(code.get(..at)?.chars().next_back()).then(|| literals(rest).join(" "))
    };
    let calls = CALLED.iter().flat_map(|word| code.match_indices(word)).filter_map(behind);
    calls
        .chain(scripts::run_quotes(code))
        .filter(|line| !line.trim().is_empty())
        .take(MAX_LITERALS)
        .any(|line| line_deserves(scene, &line, cwd, least, 0))
}

/// The strings at the beginning of a text that are parted by commas.
fn literals(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(quote) = rest.chars().next().filter(|c| matches!(c, '"' | '\''))
        && let Some((inside, behind)) = rest.get(1..).and_then(|text| text.split_once(quote))
    {
        found.push(inside);
        rest = behind.trim_start().strip_prefix(',').unwrap_or_default().trim_start();
    }
    found
}

/// What code may have a shell run, of the strings in it: each of them, all together, and what it spells otherwise.
fn said_commands(text: &str, mut found: Vec<String>) -> Vec<String> {
    found.truncate(MAX_LITERALS);
    // `run(["rm", "-rf", "/"])`, and `spawn("rm", ["-rf", "/"])` behind other strings.
    let program = found.iter().position(|word| !word.is_empty() && facts::find(word).is_some());
    let joined = std::iter::once(found.join(" "))
        .chain(program.and_then(|at| found.get(at..)).map(|words| words.join(" ")));
    let piped = |text: &String| text.trim_matches([' ', '|']).to_owned();
    let turned = undone::texts(text, &found).into_iter().chain(argv::with_values(text));
    let commands = found.iter().map(piped).chain(joined).chain(scripts::run_quotes(text)).chain(turned);
    commands.collect()
}
