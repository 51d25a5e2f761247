//! Files that code in a call may change, as far as it names them: for what is saved first, not for what is said of the call.

use super::deletes::{DELETES, DELETES_ONE, EMPTIES_ONE};
use super::{MAX_LITERALS, STARTS};
use crate::domain::last_name;
use crate::rules::builtin::{code_paths, lists};
use crate::rules::matcher::{contains_word, is_bare_name, runs, runs_code};
use crate::rules::{Invocation, Stdin, Survey};
use crate::shell::Arg;

words!("builtin/code/changes");
/// What only reads although it opens.
const READS: &[&str] = &["open(", "open "];

/// What code may change.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Code {
    /// Where it runs, and the strings in it that may be names of files.
    pub names: Vec<(Option<String>, String)>,
    /// It may take away directories.
    pub deep: bool,
    /// It puts names together, looks for them, or is given them.
    pub computes: bool,
}

/// The files that code standing in the call may change; nothing where there is no such code.
pub fn by_code(survey: &Survey) -> Option<Code> {
    let mut found: Option<Code> = None;
    for inv in survey.invocations.iter().filter(|inv| is_programmed(inv)) {
        let texts = texts(inv, survey);
        if !texts.iter().any(|text| changes(inv, text)) {
            continue;
        }
        let code = found.get_or_insert_default();
        code.deep |= texts.iter().any(|text| deletes(text) || names_program(text) || text.contains("move"));
        code.computes |= texts.iter().any(|text| computes(inv, text));
        let words = texts.iter().flat_map(|text| words(inv, text));
        let given = inv.operands.iter().filter_map(Arg::known).map(str::to_owned);
        code.names.extend(words.chain(given).take(MAX_LITERALS).map(|word| (inv.cwd.clone(), word)));
    }
    found
}

fn is_programmed(inv: &Invocation) -> bool {
    runs_code(inv) || runs(inv, lists::SEDS)
}

/// The code that an interpreter is given: in its arguments, on its input, or by what prints it.
pub(super) fn texts(inv: &Invocation, survey: &Survey) -> Vec<String> {
    let mut texts: Vec<String> = match filter(inv) {
        // The operands behind its program are what it reads.
        true => inv.operands.iter().take(1).map(Arg::to_text).collect(),
        false => inv.args.iter().map(Arg::to_text).collect(),
    };
    let given = inv.flags.iter().filter(|flag| matches!(flag.name.as_str(), "-e" | "--expression"));
    texts.extend(given.filter_map(|flag| flag.value.as_ref()).map(Arg::to_text));
    match &inv.stdin {
        Stdin::Text(text) => texts.push(text.to_text()),
        Stdin::Pipe => {
            let before = |other: &&Invocation| other.pipeline == inv.pipeline && other.stage < inv.stage;
            texts.extend(
                survey.invocations.iter().filter(before).flat_map(|other| &other.args).map(Arg::to_text),
            );
        }
        Stdin::Inherited | Stdin::File(_) => {}
    }
    texts.retain(|text| !is_bare_name(text));
    texts
}

/// Whether a program is a filter whose first operand is what it does.
fn filter(inv: &Invocation) -> bool {
    runs(inv, lists::SCRIPTED_FILTERS) || runs(inv, lists::SEDS)
}

fn changes(inv: &Invocation, text: &str) -> bool {
    if runs(inv, lists::SEDS) {
        // `w FILE`, `s/a/b/w FILE`.
        return text
            .match_indices("w ")
            .any(|(at, _)| !text.get(..at).unwrap_or_default().ends_with(|c: char| c.is_ascii_alphabetic()));
    }
    if runs(inv, lists::SCRIPTED_FILTERS) {
        return text.contains("print") && text.contains('>')
            || names_program(text) && text.contains("system");
    }
    let opens = READS.iter().any(|call| text.contains(call))
        && ["'w", "\"w", "'a", "\"a", ">", "+"].iter().any(|mode| text.contains(mode));
    let writes = WRITES.iter().filter(|call| !READS.contains(call)).any(|call| text.contains(call));
    opens || writes || deletes(text) || starts(text) && names_program(text)
}

/// Whether code changes files whose names do not stand in it.
fn computes(inv: &Invocation, text: &str) -> bool {
    let to_variable = |rest: &str| !rest.trim_start_matches(['>', ' ', '=']).starts_with('"');
    COMPUTES.iter().any(|mark| text.contains(mark))
        || runs(inv, lists::SCRIPTED_FILTERS) && text.split('>').skip(1).any(to_variable)
}

fn deletes(text: &str) -> bool {
    [DELETES, DELETES_ONE, EMPTIES_ONE].iter().any(|list| list.iter().any(|call| contains_word(text, call)))
}

fn starts(text: &str) -> bool {
    STARTS.iter().any(|call| text.contains(call))
}

fn names_program(text: &str) -> bool {
    code_paths::strings(text).iter().any(|string| {
        let first = string.split_whitespace().next().unwrap_or_default();
        PROGRAMS.contains(&last_name(first)) || string.contains('>')
    })
}

/// The words in code that may be names of files.
fn words(inv: &Invocation, text: &str) -> Vec<String> {
    if runs(inv, lists::SEDS) {
        let behind = text.match_indices("w ").filter_map(|(at, mark)| text.get(at + mark.len()..));
        return behind.map(|rest| rest.lines().next().unwrap_or_default().trim().to_owned()).collect();
    }
    let mut found = Vec::new();
    for string in code_paths::strings(text) {
        let parts = string.split_whitespace().map(|word| word.trim_start_matches(['>', '<', '+', '|']));
        found.extend(parts.filter(|part| *part != string).map(str::to_owned));
        found.push(string);
    }
    found.retain(|word| !word.is_empty() && !matches!(word.as_str(), "." | "./" | "..") && word.len() < 1024);
    found
}
