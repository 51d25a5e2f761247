//! What becomes of one command in the turns of the loops around it: what it prints in each, and which values it leaves.

use super::output;
use super::scope::Scope;
use crate::shell::{Arg, Assign, Simple};

/// Most values of one variable that are kept apart.
const MAX_VALUES: usize = 32;

/// The values of loops' variables that a command is run with.
pub(super) type Way = Vec<(String, String)>;

/// What a command prints, by the turns that it is run in; none where that is not known. `open`: it does not end its line.
#[derive(Debug, Clone, Default)]
pub(super) struct Turns {
    turns: Vec<(Way, Option<Arg>)>,
    open: bool,
}

impl Turns {
    pub fn new(open: bool) -> Turns {
        Turns { turns: Vec::new(), open }
    }

    pub fn once(printed: Option<Arg>) -> Turns {
        Turns { turns: vec![(Way::new(), printed)], open: false }
    }

    pub fn push(&mut self, way: Way, printed: Option<Arg>) {
        self.turns.push((way, printed));
    }

    /// The variables by which its turns differ.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let several = self.turns.len() > 1;
        let ways = self.turns.iter().take(usize::from(several));
        ways.flat_map(|(way, _)| way.iter().map(|(name, _)| name.as_str()))
    }

    /// What is printed in the turn that `scope` is in; outside of the loop, in all of them.
    pub fn here(&self, scope: &Scope) -> Option<Arg> {
        let is_here = |(way, _): &&(Way, Option<Arg>)| {
            way.iter().all(|(name, value)| scope.env.get(name) == Some(Some(value.as_str())))
        };
        match self.turns.as_slice() {
            [(_, printed)] => printed.clone(),
            turns => match turns.iter().find(is_here) {
                Some((_, printed)) => printed.clone(),
                None => self.whole(),
            },
        }
    }

    /// All that is printed.
    pub fn whole(&self) -> Option<Arg> {
        let mut whole: Option<Arg> = None;
        for (_, printed) in &self.turns {
            let printed = printed.as_ref()?;
            match &mut whole {
                Some(before) if !before.pieces.is_empty() => {
                    if !self.open {
                        output::append(before, &Arg::literal("\n"));
                    }
                    output::append(before, printed);
                }
                _ => whole = Some(printed.clone()),
            }
        }
        whole
    }

    pub fn each(&self) -> impl Iterator<Item = &Arg> {
        self.turns.iter().filter_map(|(_, printed)| printed.as_ref())
    }
}

/// The values that variables have after each turn of a command.
pub(super) struct Values {
    before: Vec<(String, Option<String>)>,
    chosen: Vec<(String, Vec<String>)>,
    found: Vec<(String, Vec<String>)>,
}

impl Values {
    pub fn new(scope: &Scope) -> Values {
        Values { before: scope.env.vars.clone(), chosen: scope.choices.clone(), found: Vec::new() }
    }

    /// Begins a turn: what the one before it has assigned anew is no reason to doubt what this one assigns.
    pub fn begin(&self, scope: &mut Scope, simple: &Simple) {
        for assign in simple.assigns.iter().filter(|assign| !grows(assign)) {
            let before = self.before.iter().rev().find(|(name, _)| *name == assign.name);
            scope.env.restore(&assign.name, before.map(|(_, value)| value.clone()));
        }
    }

    /// Notes what a turn has left.
    pub fn note(&mut self, scope: &Scope, way: &Way) {
        let own = |name: &str| way.iter().any(|(other, _)| other == name) || name.starts_with('\u{1}');
        for (name, value) in &scope.env.vars {
            let same = self.before.iter().any(|(other, before)| other == name && before == value);
            if let Some(value) = value.as_ref().filter(|_| !same && !own(name)) {
                add(&mut self.found, name, value);
            }
        }
        for (name, values) in &scope.choices {
            if !own(name) && !self.chosen.iter().any(|(other, before)| other == name && before == values) {
                values.iter().for_each(|value| add(&mut self.found, name, value));
            }
        }
    }

    /// Leaves to each variable every value that it had after a turn, where each turn assigns it anew.
    pub fn leave(self, scope: &mut Scope, simple: &Simple) {
        for (name, values) in self.found {
            let grows = simple.assigns.iter().any(|assign| assign.name == name && grows(assign));
            if values.len() > 1 && values.len() <= MAX_VALUES && !grows {
                scope.env.set(&name, None);
                scope.choose(&name, values);
            }
        }
    }
}

/// Whether an assignment adds to what the variable holds.
fn grows(assign: &Assign) -> bool {
    assign.append || super::reading::names(&assign.value).any(|other| other == assign.name)
}

fn add(found: &mut Vec<(String, Vec<String>)>, name: &str, value: &str) {
    match found.iter_mut().find(|(other, _)| other == name) {
        Some((_, values)) if values.iter().any(|other| other == value) => {}
        Some((_, values)) => values.push(value.to_owned()),
        None => found.push((name.to_owned(), vec![value.to_owned()])),
    }
}
