//! Where the command begins among the operands of a program that runs it.

use super::call::Call;
use super::options::Parsed;
use crate::rules::facts::{self, Rest, Wrap};
use crate::shell::Arg;

/// The place of the command's first word among the operands.
pub(super) fn first_word(call: &Call, parsed: &Parsed, wrap: Wrap) -> Option<usize> {
    match wrap.rest {
        Rest::AfterDashes => parsed.before_dashes,
        Rest::AfterFlag => {
            let args = call.args();
            let is_flag = |arg: &Arg| matches!(arg.known(), Some("-c" | "--command" | "--args" | "-args"));
            let behind = args.len().checked_sub(args.iter().position(is_flag)? + 1)?;
            parsed.operands.len().checked_sub(behind)
        }
        Rest::Words if parsed.program.name == "setarch" => {
            let is_own =
                |arg: &&Arg| arg.known().is_some_and(|text| text.starts_with('-') || is_machine(text));
            Some(parsed.operands.iter().take_while(is_own).count())
        }
        Rest::Words | Rest::EnvWords | Rest::Text => Some(usize::from(wrap.skip)),
    }
}

/// Whether `setarch` takes the word for the kind of machine to be.
fn is_machine(text: &str) -> bool {
    const MACHINES: &[&str] = &[
        "alpha", "arm", "i386", "i486", "i586", "i686", "ia64", "linux", "mips", "parisc", "ppc", "riscv",
        "s390", "sparc", "uname26", "x86_64",
    ];
    let is = |machine: &&str| {
        text.strip_prefix(machine).is_some_and(|rest| {
            matches!(
                rest,
                "" | "32" | "64" | "el" | "64el" | "le" | "64le" | "x" | "v6l" | "v7l" | "v8l" | "hf"
            )
        })
    };
    text == "aarch64" || MACHINES.iter().any(is)
}

words!("survey/unfold");

/// Another word that may be the command's first, because an option that the tables do not know may have taken the one before
/// it as its value, or because that one is a subcommand.
pub(super) fn later_command(parsed: &Parsed, skip: usize) -> Option<usize> {
    /// Most words that are tried.
    const WORDS: usize = 32;
    let first = parsed.operands.get(skip)?.known()?;
    if VERBS.contains(&first) {
        return Some(skip + 1);
    }
    let mut rest = parsed.operands.iter().enumerate().skip(skip + 1).take(WORDS);
    let found = rest.find(|(_, arg)| arg.known().is_some_and(is_program)).map(|(at, _)| at);
    found.filter(|_| parsed.strange)
}

/// Whether the tables know the program of that name.
pub(super) fn is_program(text: &str) -> bool {
    text.rsplit('/').next().is_some_and(|name| facts::find(name).is_some())
}
