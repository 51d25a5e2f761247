//! What is known of programs, for people to look at.

use super::facts::{self, Kind, Row, Verbs, operations};
use serde::Serialize;

use crate::domain::{WrittenProgram, WrittenSub};

/// The row of a program, in the form in which programs are taught.
#[derive(Debug)]
pub struct Known {
    pub program: WrittenProgram,
    /// How its words are read, where that is nothing that a configuration file can say.
    pub kind: Option<&'static str>,
    /// What is made of the verbs that it is told.
    pub verbs: &'static str,
}

/// The row that lazaret has of a program, by its base name.
pub fn known(name: &str) -> Option<Known> {
    let found = facts::find(name)?;
    let Row { options, operation, operands, kind, subs, nested, verbs, .. } = **found;
    let commands = subs.iter().map(|sub| WrittenSub {
        names: sub.names.to_owned(),
        options: sub.options.to_owned(),
        does: sub.operation,
        operands: sub.operands,
        runs: sub.wrap,
    });
    let program = WrittenProgram {
        names: vec![found.name.to_owned()],
        options: options.to_owned(),
        single_dash: kind == Kind::Dash,
        does: operation,
        operands,
        runs: if let Kind::Wrap(wrap) = kind { Some(wrap) } else { None },
        local: facts::is_local(name),
        commands: commands.collect(),
        nested: nested.to_owned(),
        adds: false,
    };
    Some(Known { program, kind: kind_of(kind), verbs: verbs_of(verbs) })
}

/// A kind of operation that rules ask for, and by which words of a program's command line it is done.
#[derive(Debug, Serialize)]
pub struct Told {
    pub kind: &'static str,
    /// What such an operation does.
    pub says: &'static str,
    pub words: Vec<&'static str>,
}

/// What a program is told where it does something that rules ask for.
pub fn told(name: &str) -> Vec<Told> {
    let of_kind = |(kind, says, rows): &(&'static str, &'static str, operations::Operations)| {
        let rows = rows.iter().filter(|(names, _)| names.contains(&name));
        let words: Vec<&str> = rows.flat_map(|(_, words)| words.iter().copied()).collect();
        (!words.is_empty()).then_some(Told { kind, says, words })
    };
    operations::ALL.iter().filter_map(of_kind).collect()
}

/// The names of all programs of which lazaret has a row.
pub fn names() -> impl Iterator<Item = &'static str> {
    facts::names()
}

/// Whether a program without a row is known to work on this machine only.
pub fn is_local(name: &str) -> bool {
    facts::is_local(name)
}

const fn kind_of(kind: Kind) -> Option<&'static str> {
    Some(match kind {
        Kind::Plain | Kind::Dash | Kind::Wrap(_) => return None,
        Kind::Raw => "it has no options",
        Kind::Shell => "as a shell",
        Kind::Interpreter => "as an interpreter of code",
        Kind::Find => "as find",
        Kind::Fd => "as fd",
        Kind::Xargs => "as xargs",
        Kind::Parallel => "as parallel",
        Kind::Git => "as git",
        Kind::Stdin => "it runs the commands that it reads from its input",
        Kind::Builtin(_) => "as a builtin of the shell",
    })
}

const fn verbs_of(verbs: Verbs) -> &'static str {
    match verbs {
        Verbs::Usual => "judged where the row says no more than that it talks to another machine",
        Verbs::Judged => "judged",
        Verbs::Access => "judged where they give access; rules know the others one by one",
        Verbs::Ruled => "not judged: rules know them one by one",
    }
}
