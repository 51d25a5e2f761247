//! Which lists of programs a command's program stands in, remembered for all commands of one program. Knows none of the lists.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use super::Invocation;
use crate::domain::PlainHash;

/// Lists that are remembered of one program. Some with the same place stand beside each other, one more pushes the oldest out: where
/// they stand in memory differs from build to build, and two that push each other out cost a call of many commands half as much again.
const PLACES: usize = 512;
const BESIDE: usize = 4;
/// Spreads addresses that are alike: the golden ratio's part of a word.
const SPREAD: usize = 0x9E37_79B9_7F4A_7C15;
/// A call of so many commands asks so often that it pays.
const FEW: usize = 8;
/// And one of so many words: of each the lists are asked again.
const FEW_WORDS: usize = 128;
/// Most programs that are told apart.
const MAX_PROGRAMS: usize = 128;

/// A list, by where it stands, and whether the program stands in it.
#[derive(Debug, Clone, Copy, Default)]
struct Known {
    list: (usize, usize),
    is_in: bool,
}

/// What is remembered of a program; nothing for a call of few commands.
#[derive(Debug, Clone, Default)]
pub struct Listed(Option<Rc<[Cell<Known>; PLACES]>>);

/// What is remembered changes no invocation.
impl PartialEq for Listed {
    fn eq(&self, _: &Listed) -> bool {
        true
    }
}

impl Eq for Listed {}

impl Listed {
    /// Whether the program stands in a list, which `look` finds out where it is not known. Only of lists that are there as long as
    /// lazaret runs: they are told apart by their places in memory.
    pub(in crate::rules) fn known_or<T>(&self, list: &'static [T], look: impl FnOnce() -> bool) -> bool {
        let Some(places) = &self.0 else { return look() };
        let key = (list.as_ptr().addr(), size_of_val(list));
        let spread = (key.0 ^ key.1.rotate_left(32)).wrapping_mul(SPREAD) >> 32;
        let first = (spread % PLACES) & !(BESIDE - 1);
        let Some(beside) = places.get(first..first + BESIDE) else { return look() };
        if let Some(known) = beside.iter().map(Cell::get).find(|known| known.list == key) {
            return known.is_in;
        }
        let is_in = look();
        let mut newer = Known { list: key, is_in };
        for place in beside {
            newer = place.replace(newer);
        }
        is_in
    }
}

/// What is remembered of programs, by their names.
type Table = HashMap<String, Listed, PlainHash>;

/// What is remembered of the programs of all calls that stand in one. A copy of the survey begins with nothing.
#[derive(Debug, Default)]
pub struct Programs {
    known: RefCell<Table>,
    /// How many commands there were.
    commands: Cell<usize>,
}

impl Clone for Programs {
    fn clone(&self) -> Programs {
        Programs::default()
    }
}

/// What is remembered changes no survey.
impl PartialEq for Programs {
    fn eq(&self, _: &Programs) -> bool {
        true
    }
}

impl Programs {
    /// Lets the commands of a call that stands in this one remember together with those of the calls in front of it.
    pub(in crate::rules) fn lend(&self, invocations: &mut [Invocation]) {
        let before = self.commands.get();
        self.commands.set(before.saturating_add(invocations.len()));
        if let (true, Ok(mut known)) = (before > FEW, self.known.try_borrow_mut()) {
            attach(invocations, &mut known);
        }
    }
}

/// Lets the invocations of one program remember together.
pub(super) fn share(invocations: &mut [Invocation]) {
    if invocations.len() > FEW || invocations.iter().any(|inv| inv.args.len() > FEW_WORDS) {
        attach(invocations, &mut Table::default());
    }
}

fn attach(invocations: &mut [Invocation], programs: &mut Table) {
    for inv in invocations {
        if let Some(known) = programs.get(&inv.program) {
            inv.listed = known.clone();
        } else if programs.len() < MAX_PROGRAMS {
            let places: Rc<[Cell<Known>]> = (0..PLACES).map(|_| Cell::default()).collect();
            let new = Listed(places.try_into().ok());
            inv.listed = new.clone();
            programs.insert(inv.program.clone(), new);
        }
    }
}
