//! Which lists of programs a command's program stands in, remembered for all commands of one program. Knows none of the lists.

use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;

use super::Invocation;

/// Lists that are remembered of one program; two with the same place push each other out.
const PLACES: usize = 256;
/// A call of so many commands asks so often that it pays.
const FEW: usize = 8;
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
        let Some(place) = places.get(((key.0 >> 4) ^ (key.0 >> 12) ^ key.1) % PLACES) else { return look() };
        let known = place.get();
        if known.list == key {
            return known.is_in;
        }
        let is_in = look();
        place.set(Known { list: key, is_in });
        is_in
    }
}

/// Lets the invocations of one program remember together.
pub(super) fn share(invocations: &mut [Invocation]) {
    if invocations.len() <= FEW {
        return;
    }
    let mut programs: HashMap<String, Listed, crate::domain::PlainHash> = HashMap::default();
    for inv in invocations {
        if let Some(known) = programs.get(&inv.program) {
            inv.listed = known.clone();
        } else if programs.len() < MAX_PROGRAMS {
            let new = Listed(Some(Rc::new(std::array::from_fn(|_| Cell::default()))));
            inv.listed = new.clone();
            programs.insert(inv.program.clone(), new);
        }
    }
}
