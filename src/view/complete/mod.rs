//! What can stand in a place of the command line: by its definition, by what the log and the store hold, by the rules of the program
//! beside this one. It only reads, and little of it: somebody waits at a prompt.

mod values;

use std::ffi::{OsStr, OsString};
use std::io::Write;

use anyhow::Result;
use clap::builder::ValueHint;
use clap::{Arg, CommandFactory};
use clap_complete::Shell;
use clap_complete::engine::{ArgValueCandidates, ArgValueCompleter, CompletionCandidate};

use crate::cli::args::Cli;
use values::Values;

/// The value that stands for names of files, which the shell knows best.
const FILES: &str = "\u{1}files";

/// The script that asks this program; none = of a shell for which clap writes one that asks nothing.
pub fn script(shell: Shell) -> Option<&'static str> {
    match shell {
        Shell::Bash => Some(include_str!("lazaret.bash")),
        Shell::Zsh => Some(include_str!("lazaret.zsh")),
        Shell::Fish => Some(include_str!("lazaret.fish")),
        _ => None,
    }
}

/// One line for each: the word, a tab, what it is. A line without a word says that names of files belong there.
pub fn candidates(words: &[OsString], out: &mut dyn Write) -> Result<()> {
    let mut command = asking(Cli::command().disable_help_subcommand(true), &mut Vec::new());
    let current = words.last().map(OsString::as_os_str).unwrap_or_default();
    let at = words.len().saturating_sub(1);
    let found = clap_complete::engine::complete(&mut command, words.to_vec(), at, None).unwrap_or_default();
    let mut rows: Vec<(String, String)> = found.iter().filter_map(row).collect();
    // Options are shown to whoever begins one, or has nothing else to give.
    let is_option = |(word, _): &(String, String)| word.starts_with('-');
    if !current.as_encoded_bytes().starts_with(b"-") && !rows.iter().all(is_option) {
        rows.retain(|row| !is_option(row));
    }
    for (word, about) in rows {
        writeln!(out, "{word}\t{about}")?;
    }
    Ok(())
}

/// A candidate's line; none of what a prompt cannot show.
fn row(candidate: &CompletionCandidate) -> Option<(String, String)> {
    let word = candidate.get_value().to_str().filter(|_| !candidate.is_hide_set())?;
    if word.ends_with(FILES) {
        return Some((String::new(), "files".to_owned()));
    }
    let help = candidate.get_help().map(ToString::to_string).unwrap_or_default();
    let help: String = help.lines().next().unwrap_or_default().chars().filter(|c| !c.is_control()).collect();
    (!word.chars().any(char::is_control)).then(|| (word.to_owned(), help))
}

/// The command line's definition, whose arguments know where their values come from.
fn asking(command: clap::Command, path: &mut Vec<String>) -> clap::Command {
    let of = path.join(" ");
    let command = command.mut_args(|arg| valued(&of, arg));
    command.mut_subcommands(|sub| {
        path.push(sub.get_name().to_owned());
        let sub = asking(sub, path);
        path.pop();
        sub
    })
}

fn valued(command: &str, arg: Arg) -> Arg {
    if arg.get_value_hint() == ValueHint::AnyPath {
        return arg.add(ArgValueCompleter::new(|_: &OsStr| vec![CompletionCandidate::new(FILES)]));
    }
    match Values::of(command, arg.get_id().as_str()) {
        Some(values) => arg.add(ArgValueCandidates::new(move || values.all())),
        None => arg,
    }
}
