//! Targets that lie beside each other: what holds of all in a directory is worked out once. The classes themselves are `class`'s.

use std::cell::RefCell;
use std::collections::HashMap;

use super::View;
use super::class::{Classes, Rel, Spot, inside, relation_to};
use crate::domain::{EffectKind, PlainHash};
use crate::rules::builtin::lists;

/// A call of so few commands and effects asks too seldom for anything to be remembered.
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
    /// What holds of everything in it.
    All(Classes),
}

/// The directories that files were asked about in. Of hundreds of files in one directory only the first two are held against every
/// place. Belongs to one survey, and is filled only while that is judged: a copy of the survey begins with nothing.
#[derive(Debug, Default)]
pub struct Dirs(RefCell<HashMap<String, [Known; WAYS], PlainHash>>);

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
    fn get(&self, dir: &str, way: usize) -> Known {
        let known = self.0.try_borrow().ok();
        known.and_then(|known| known.get(dir)?.get(way).copied()).unwrap_or_default()
    }

    fn set(&self, dir: &str, way: usize, new: Known) {
        let Ok(mut dirs) = self.0.try_borrow_mut() else { return };
        if dirs.len() >= MAX_DIRS {
            return;
        }
        if !dirs.contains_key(dir) {
            dirs.insert(dir.to_owned(), [Known::Nothing; WAYS]);
        }
        if let Some(place) = dirs.get_mut(dir).and_then(|known| known.get_mut(way)) {
            *place = new;
        }
    }
}

/// The classes of a target, with what holds of all in its directory worked out once.
pub(super) fn classes(here: Spot<'_>, view: &View<'_>) -> Classes {
    let few = view.survey.effects.len() + view.survey.invocations.len() <= FEW;
    let Some((dir, _)) = here.path.rsplit_once('/').filter(|_| !few && !here.is_glob) else {
        return here.classes(view);
    };
    let dirs = &view.survey.dirs;
    let way = 2 * here.kind as usize + usize::from(here.recursive);
    match dirs.get(dir, way) {
        // The name of git's own directory is one that only it has.
        Known::All(all) if !is_git(here.path) => all.or(here.called(view)),
        Known::Asked if !is_git(here.path) => {
            let all = is_even(dir, view).then(|| here.lies(view));
            dirs.set(dir, way, all.map_or(Known::Uneven, Known::All));
            all.map_or_else(|| here.classes(view), |all| all.or(here.called(view)))
        }
        Known::Nothing => {
            dirs.set(dir, way, Known::Asked);
            here.classes(view)
        }
        Known::Asked | Known::Uneven | Known::All(_) => here.classes(view),
    }
}

/// Whether every file in this directory lies to every place as every other does: no place lies below it.
fn is_even(dir: &str, view: &View<'_>) -> bool {
    let places = &view.facts.places;
    let above = |place: &str| relation_to(dir, false, place) == Rel::Above;
    let fixed = lists::HOMES.iter().chain(lists::SYSTEM_DIRS).chain(lists::PACKAGE_CACHES);
    let of_work = places.repo.iter().chain(&places.project).chain(&places.temp).chain(&places.home);
    dir.starts_with('/')
        && !inside(dir, "/dev")
        && view.policy.scope.is_empty()
        && !places.protected.iter().any(|place| above(&place.path))
        && !fixed.copied().any(above)
        && !of_work.map(String::as_str).any(above)
        && !above(view.cwd)
}

/// Whether the last component is the name of git's own directory.
pub(super) fn is_git(path: &str) -> bool {
    path.rsplit_once('/').is_some_and(|(_, name)| name.eq_ignore_ascii_case(".git"))
}
