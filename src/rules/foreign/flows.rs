//! Whether what code reads is shown: from the strings that name it, by the names that it is given, to the calls that print or send.

use std::collections::BTreeSet;

use super::lex::{self, Fill, Node};
use super::names::{Given, Names};
use super::{Account, Language, read_tree};

words!("foreign/flows");

/// Rounds in which names are found that stand for what others stand for.
const ROUNDS: usize = 8;

/// Whether code shows what it reads of something that a string names. None: that cannot be told.
pub(crate) fn is_shown(code: &str, language: Language, is_named: &dyn Fn(&str) -> bool) -> Option<bool> {
    let nodes = lex::read(code, language)?;
    let names = Names::new(&nodes, language);
    let mut account = Account::default();
    read_tree(&nodes, &names, (language, 0), &mut account);
    if account.open {
        return None;
    }
    let flow = Flow { is_named, names: &names };
    let (mut held, mut seen) = (BTreeSet::new(), BTreeSet::new());
    for _ in 0..ROUNDS {
        let before = held.len();
        for (name, given) in &names.given {
            if flow.of(*given).any(|slice| flow.holds(slice, &held, &mut seen)) {
                held.insert(*name);
            }
        }
        if held.len() == before {
            break;
        }
    }
    let sinks = || names.calls.iter().filter(|(name, _)| SHOWS.contains(name));
    if names.loose.iter().any(|name| matches!(*name, "print" | "log" | "write")) {
        return None;
    }
    if sinks().any(|(_, inside)| flow.holds(inside, &held, &mut seen)) {
        return Some(true);
    }
    // What is read without getting a name may go anywhere.
    let mut all = BTreeSet::new();
    flow.holds(&nodes, &BTreeSet::new(), &mut all);
    (!all.is_empty() && all.is_subset(&seen)).then_some(false)
}

struct Flow<'f, 'n, 'c> {
    is_named: &'f dyn Fn(&str) -> bool,
    names: &'f Names<'n, 'c>,
}

impl<'n, 'c> Flow<'_, 'n, 'c> {
    /// The expressions that a name is given.
    fn of(&self, given: Given<'n, 'c>) -> impl Iterator<Item = &'n [Node<'c>]> {
        let (slice, function) = match given {
            Given::Value(slice) | Given::Part(slice, _) | Given::Member(slice, _) => (Some(slice), None),
            Given::Each(slice, _) | Given::More(slice) => (Some(slice), None),
            Given::Parameter(function, ..) => (None, Some(function)),
            Given::Module(..) | Given::Own | Given::Unknown => (None, None),
        };
        let calls = self.names.calls.iter().filter(move |(name, _)| Some(*name) == function);
        slice.into_iter().chain(calls.map(|(_, inside)| *inside))
    }

    /// Whether an expression holds one of the strings or of the names; the strings are remembered by where they stand.
    fn holds(
        &self,
        nodes: &'n [Node<'c>],
        held: &BTreeSet<&str>,
        seen: &mut BTreeSet<*const Node<'c>>,
    ) -> bool {
        let mut found = false;
        for (at, node) in nodes.iter().enumerate() {
            let next = nodes.get(at.saturating_add(1));
            match node {
                // `os.environ['API_KEY'] = …` sets it, and `'API_KEY' in os.environ` asks whether it is set.
                Node::Group('[', _) if next.is_some_and(|next| next.is("=")) => {}
                Node::Text(_) if next.is_some_and(|next| next.is_name("in") || next.is_name("not")) => {}
                // `process.env.API_KEY`
                Node::Name(name) if (self.is_named)(name) => {
                    seen.insert(std::ptr::from_ref(node));
                    found = true;
                }
                Node::Name(name) => found |= held.contains(name),
                Node::Group(_, inside) => found |= self.holds(inside, held, seen),
                Node::Text(parts) => {
                    for part in parts {
                        match part {
                            Fill::Said(text) if (self.is_named)(text) => {
                                seen.insert(std::ptr::from_ref(node));
                                found = true;
                            }
                            Fill::Said(_) => {}
                            Fill::Code(code) => found |= self.holds(code, held, seen),
                        }
                    }
                }
                Node::Number(_) | Node::Regex | Node::Sign(_) | Node::Line => {}
            }
        }
        found
    }
}
