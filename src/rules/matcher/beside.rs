//! Targets that lie beside each other: what holds of all in a directory is worked out once. The classes themselves are `class`'s.

use super::View;
use super::class::{Classes, Rel, Spot, inside, relation_to};
use crate::domain::EffectKind;
use crate::rules::builtin::lists;

/// Where the target before was. Of hundreds of files in one directory only the first two are held against every place.
#[derive(Debug, Default)]
pub(super) struct Beside<'v> {
    dir: &'v str,
    deep: bool,
    kind: Option<EffectKind>,
    /// What holds of everything in that directory; none where there is a place of its own in it, or it is not worked out yet.
    all: Option<Classes>,
    /// It came twice: what holds of all in it is worked out, where that can be.
    again: bool,
}

impl<'v> Beside<'v> {
    pub fn classes(&mut self, here: Spot<'v>, view: &View<'_>) -> Classes {
        let Some((dir, _)) = here.path.rsplit_once('/').filter(|_| !here.is_glob) else {
            return here.classes(view);
        };
        if (dir, here.recursive, Some(here.kind)) != (self.dir, self.deep, self.kind) {
            let (deep, kind) = (here.recursive, Some(here.kind));
            *self = Beside { dir, deep, kind, all: None, again: false };
            return here.classes(view);
        }
        if !self.again {
            self.again = true;
            // The name of git's own directory is one that only it has.
            let plain = is_even(dir, view) && !is_git(here.path);
            self.all = plain.then(|| here.lies(view));
        }
        self.all.map_or_else(|| here.classes(view), |all| all.or(here.called(view)))
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
