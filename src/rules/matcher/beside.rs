//! Targets that lie beside each other: what holds of all in a directory is worked out once. The classes themselves are `class`'s.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use super::View;
use super::class::{Class, Classes, Spot};
use super::relation::{Rel, inside, relation_to};
use crate::domain::{EffectKind, PlainHash, split_name};
use crate::rules::builtin::lists;

/// A call that asks so seldom has nothing remembered for it.
const FEW: usize = 8;
/// Most directories that are told apart.
const MAX_DIRS: usize = 4096;
/// What can be done in a directory: each kind of effect, to one file or with all below it.
const WAYS: usize = 2 * EffectKind::ALL.len();

/// What is known of a directory, for one way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Known {
    #[default]
    Nothing,
    /// A file in it was asked about.
    Asked,
    /// There is a place of its own in it.
    Uneven,
    /// The classes of everything in it that say no more than where it lies.
    All(Classes),
}

/// A protected place that does not lie apart from a directory.
#[derive(Debug, Clone, Copy)]
pub(super) struct Near {
    number: usize,
    /// Where it lies below the directory: the first byte of the name there. What does not begin so lies apart from it.
    first: Option<u8>,
}

impl Near {
    /// Its number, unless it lies apart from the file of this name in the directory.
    fn of(self, name: &str) -> Option<usize> {
        let begins = |first: u8| name.as_bytes().first().is_none_or(|byte| byte.eq_ignore_ascii_case(&first));
        self.first.is_none_or(begins).then_some(self.number)
    }
}

/// What is known of a directory.
#[derive(Debug, Default)]
struct Dir {
    ways: [Known; WAYS],
    /// The protected places that lie in it, around it, or are it.
    near: Option<Rc<[Near]>>,
}

/// The directories that files were asked about in. Of hundreds of files in one directory only the first two are held against every
/// place, and the others against the protected ones near it. Belongs to one survey, and is filled only while that is judged: a copy of the survey begins with nothing.
#[derive(Debug, Default)]
pub struct Dirs {
    known: RefCell<HashMap<String, Dir, PlainHash>>,
    /// How often a class was asked for, as far as it matters.
    asked: Cell<usize>,
}

impl Clone for Dirs {
    fn clone(&self) -> Dirs {
        Dirs::default()
    }
}

/// What is remembered changes no survey.
impl PartialEq for Dirs {
    fn eq(&self, _: &Dirs) -> bool {
        true
    }
}

impl Dirs {
    /// Gives what is known to a call that stands in this one and is made in the same directory, or takes it back.
    pub fn exchange(&self, other: &Dirs) {
        let (Ok(mut own), Ok(mut others)) = (self.known.try_borrow_mut(), other.known.try_borrow_mut())
        else {
            return;
        };
        std::mem::swap(&mut *own, &mut *others);
        self.asked.swap(&other.asked);
    }

    fn get(&self, dir: &str, way: usize) -> (Known, Option<Rc<[Near]>>) {
        let known = self.known.try_borrow().ok();
        let found = known.as_ref().and_then(|known| known.get(dir));
        found
            .map(|dir| (dir.ways.get(way).copied().unwrap_or_default(), dir.near.clone()))
            .unwrap_or_default()
    }

    fn change(&self, dir: &str, change: impl FnOnce(&mut Dir)) {
        let Ok(mut dirs) = self.known.try_borrow_mut() else { return };
        if let Some(known) = dirs.get_mut(dir) {
            change(known);
        } else if dirs.len() < MAX_DIRS {
            let mut new = Dir::default();
            change(&mut new);
            dirs.insert(dir.to_owned(), new);
        }
    }

    fn set(&self, dir: &str, way: usize, new: Known) {
        self.change(dir, |known| {
            if let Some(place) = known.ways.get_mut(way) {
                *place = new;
            }
        });
    }

    /// Whether enough is asked for that it pays to remember; counts the question.
    fn is_busy(&self) -> bool {
        let asked = self.asked.get();
        if asked < FEW {
            self.asked.set(asked + 1);
        }
        asked >= FEW
    }
}

/// The directory and the name of a target, where there is one and it pays to remember what is known of the directory.
fn dir_of<'a>(here: &Spot<'a>, view: &View<'_>) -> Option<(&'a str, &'a str)> {
    let parts = split_name(here.path).filter(|_| !here.is_glob)?;
    view.survey.dirs.is_busy().then_some(parts)
}

/// The classes of a target, with what holds of all in its directory worked out once.
pub(super) fn classes(here: Spot<'_>, view: &View<'_>) -> Classes {
    let Some((dir, name)) = dir_of(&here, view) else { return here.classes(view) };
    let dirs = &view.survey.dirs;
    let way = 2 * here.kind as usize + usize::from(here.recursive);
    let (known, near) = dirs.get(dir, way);
    let near = near.unwrap_or_else(|| find_near(dir, view));
    let near: Vec<usize> = near.iter().filter_map(|near| near.of(name)).collect();
    let own = here.called(view).or(here.guarded(Some(&near), view));
    match known {
        // The name of git's own directory is one that only it has.
        Known::All(all) if !is_git(here.path) => return own.or(all),
        Known::Asked if !is_git(here.path) => {
            let all = is_even(dir, view).then(|| here.place(view));
            dirs.set(dir, way, all.map_or(Known::Uneven, Known::All));
            return own.or(all.unwrap_or_else(|| here.place(view)));
        }
        Known::Nothing => dirs.set(dir, way, Known::Asked),
        Known::Asked | Known::Uneven | Known::All(_) => {}
    }
    own.or(here.place(view))
}

/// Whether a target falls on a protected place, with the places near its directory looked for once.
pub(super) fn is_protected(here: Spot<'_>, view: &View<'_>) -> bool {
    let near = dir_of(&here, view).map(|(dir, name)| {
        let (_, near) = view.survey.dirs.get(dir, 0);
        let near = near.unwrap_or_else(|| find_near(dir, view));
        near.iter().filter_map(|near| near.of(name)).collect::<Vec<_>>()
    });
    here.guarded(near.as_deref(), view).has(Class::Protected)
}

/// The protected places that do not lie apart from a directory: what lies in it lies apart from all others.
fn find_near(dir: &str, view: &View<'_>) -> Rc<[Near]> {
    let all = view.facts.places.protected.iter().enumerate();
    let near = all.filter(|(_, place)| relation_to(dir, false, &place.path) != Rel::Apart);
    // A star stands for any name, and what is written otherwise than the directory is not looked at closer.
    let first = |path: &str| {
        let front = path.get(..dir.len()).filter(|front| front.eq_ignore_ascii_case(dir));
        let behind = front.and_then(|_| path.get(dir.len()..)).and_then(|rest| rest.strip_prefix('/'));
        behind.and_then(|rest| rest.bytes().next()).filter(|byte| !matches!(byte, b'*' | b'/'))
    };
    let near: Rc<[Near]> = near.map(|(number, place)| Near { number, first: first(&place.path) }).collect();
    view.survey.dirs.change(dir, |known| known.near = Some(Rc::clone(&near)));
    near
}

/// Whether every file in this directory lies to every place as every other does: no place but protected ones lies below it.
fn is_even(dir: &str, view: &View<'_>) -> bool {
    let places = &view.facts.places;
    let above = |place: &str| relation_to(dir, false, place) == Rel::Above;
    let fixed = lists::HOMES.iter().chain(lists::SYSTEM_DIRS).chain(lists::PACKAGE_CACHES);
    let of_work = places.repo.iter().chain(&places.project).chain(&places.temp).chain(&places.home);
    dir.starts_with('/')
        && !inside(dir, "/dev")
        && view.policy.scope.is_empty()
        && !fixed.copied().any(above)
        && !of_work.map(String::as_str).any(above)
        && !above(view.cwd)
}

/// Whether the last component is the name of git's own directory.
pub(super) fn is_git(path: &str) -> bool {
    split_name(path).is_some_and(|(_, name)| name.eq_ignore_ascii_case(".git"))
}
