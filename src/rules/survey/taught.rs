//! Programs that the configuration teaches: their rows, and what they add to what is known of a command.

use super::Invocation;
use super::options::{self, Parsed};
use crate::domain::{Policy, WrittenProgram};
use crate::rules::facts::{Kind, Operation, Program, Row, Sub, Verbs};
use crate::shell::Arg;

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
            closed: true,
            by_option: self.subs.iter().any(|sub| sub.names.split(' ').any(|name| name.starts_with('-'))),
        }
    }
}

/// Adds what files say of a command: what a row says of it that does not give it its words, and what is told somewhere among its words,
/// where an option that nobody listed may stand in front.
pub(super) fn add(policy: &Policy, inv: &mut Invocation) {
    for written in policy.programs.iter().filter(|one| is_called(one, &inv.program)) {
        let taught = Taught::new(written);
        let row = taught.row();
        let program = Program::new(&inv.program, &row);
        let parsed = options::parse(&inv.args, &program);
        let said = parsed.said().or_else(|| named(&parsed, &row));
        inv.added.extend(said.filter(|operation| operation.is_grave() && inv.does != Some(*operation)));
    }
}

/// What the gravest command does whose words stand among those of a command line, in their order.
fn named(parsed: &Parsed<'_>, row: &Row<'_>) -> Option<Operation> {
    let words = || parsed.sub.iter().map(String::as_str).chain(parsed.operands.iter().filter_map(Arg::known));
    let told = |name: &str| {
        let mut rest = words();
        name.split('.').all(|part| rest.any(|word| word == part))
    };
    let grave = row.subs.iter().filter(|sub| sub.operation.is_grave());
    let mut names = grave.flat_map(|sub| sub.names.split(' ').map(move |name| (name, sub.operation)));
    names.find(|(name, _)| !name.starts_with('-') && told(name)).map(|(_, operation)| operation)
}

fn is_called(written: &WrittenProgram, name: &str) -> bool {
    written.names.iter().any(|one| one == name)
}
