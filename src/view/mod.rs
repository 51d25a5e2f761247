//! What people look at: the report of a session and the view of running ones, the manual, completions. It only reads; what changes
//! something is started as the command that a person would give.

mod complete;
mod pages;
mod report;
mod watch;

use std::ffi::OsString;
use std::io::Write;

use anyhow::bail;

use crate::cli::args::Command;
use crate::cli::{Exit, Machine, person};
use crate::host::guard;

/// The whole second program, of its name and arguments, which are those of `lazaret`.
pub fn run(args: &[OsString]) -> u8 {
    guard::arm_tool();
    person(args, command)
}

fn command(command: &Command, _args: &[OsString], out: &mut dyn Write) -> anyhow::Result<Exit> {
    match command {
        Command::Report(args) => report::run(args, &Machine::here()?, out),
        Command::Watch(args) => watch::run(args, &Machine::here()?, out),
        Command::Completions { shell, words } => pages::completions(*shell, words.as_deref(), out),
        Command::Man { command } => pages::manual(command, out),
        _ => bail!("this program only shows: report, watch, completions, man; the others are of lazaret"),
    }
}
