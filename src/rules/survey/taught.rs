//! Programs that the configuration teaches: their rows, and what they add to what is known of a command.

use super::Invocation;
use super::options;
use crate::domain::{Policy, WrittenProgram};
use crate::rules::facts::{Kind, Operation, Program, Row, Sub, Verbs};

/// A program of the configuration, and its rows.
pub(super) struct Taught<'a> {
    pub written: &'a WrittenProgram,
    subs: Vec<Sub<'a>>,
}

impl<'a> Taught<'a> {
    fn new(written: &'a WrittenProgram) -> Taught<'a> {
        let subs = written.commands.iter().map(|sub| Sub {
            names: &sub.names,
            options: &sub.options,
            operation: sub.does,
            operands: sub.operands,
            wrap: sub.runs,
        });
        Taught { written, subs: subs.collect() }
    }

    /// The row of a program that has none of lazaret's own: of the highest file that says something of it and may loosen.
    pub fn find(policy: &'a Policy, name: &str) -> Option<Taught<'a>> {
        policy.programs.iter().find(|one| !one.adds && is_called(one, name)).map(Taught::new)
    }

    pub fn row(&self) -> Row<'_> {
        let WrittenProgram { options, does, operands, nested, single_dash, runs, .. } = self.written;
        Row {
            options,
            operation: *does,
            operands: *operands,
            kind: match runs {
                Some(wrap) => Kind::Wrap(*wrap),
                None if *single_dash => Kind::Dash,
                None => Kind::Plain,
            },
            verbs: Verbs::Usual,
            subs: &self.subs,
            nested,
            by_option: self.subs.iter().any(|sub| sub.names.split(' ').any(|name| name.starts_with('-'))),
        }
    }
}

/// Adds what files say of a command that do not give its row: only what is stricter than what is known of it.
pub(super) fn add(policy: &Policy, inv: &mut Invocation) {
    for written in policy.programs.iter().filter(|one| is_called(one, &inv.program)) {
        let taught = Taught::new(written);
        let row = taught.row();
        let said = options::parse(&inv.args, &Program::new(&inv.program, &row)).said();
        if said.is_some_and(Operation::is_grave) && !inv.does.is_some_and(Operation::is_grave) {
            inv.does = said;
        }
    }
}

fn is_called(written: &WrittenProgram, name: &str) -> bool {
    written.names.iter().any(|one| one == name)
}
