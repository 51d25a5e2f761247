//! Which kind of place a target is: worked out from the path alone and the facts at hand.

use std::cell::LazyCell;

use super::beside::{self, is_git};
use super::relation::{Rel, inside, name_bit, names_of, parts, parts_early, relation, relation_to, within};
use super::secret::{is_copied_secret, is_env_file, is_secret};
use super::tails::tails_like;
use super::{View, ends, glob};
pub(crate) use crate::domain::Class;
use crate::domain::{EffectKind, Origin, Protected, ProtectedKind, Target, join, last_name};
use crate::rules::builtin::lists;
use crate::rules::survey::{MAX_PATH, paths};
use crate::shell::{Arg, is_pattern};

/// A set of classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Classes(u32);

impl Classes {
    pub const NONE: Classes = Classes(0);

    #[must_use]
    pub const fn with(self, class: Class, holds: bool) -> Classes {
        if holds { Classes(self.0 | 1 << class as u8) } else { self }
    }

    #[must_use]
    pub const fn or(self, other: Classes) -> Classes {
        Classes(self.0 | other.0)
    }

    pub const fn has(self, class: Class) -> bool {
        self.0 & (1 << class as u8) != 0
    }

    pub fn any(self, classes: &[Class]) -> bool {
        classes.iter().any(|class| self.has(*class))
    }
}

/// A place by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Named<'r> {
    /// This path below the home directory, and what is below it.
    Home(&'r str),
    /// This absolute path, and what is below it.
    Abs(&'r str),
    /// This path at the end or in the middle of any path.
    Name(&'r str),
}

/// A place in a built-in rule.
pub(crate) type At = Named<'static>;

/// Whether a target is one of `places` or lies below one.
pub(crate) fn at(target: &Target, places: &[Named<'_>], home: Option<&str>) -> bool {
    !places.is_empty() && at_by(target, names_in(target), places, home)
}

/// The same for a target whose [`names_in`] are worked out already.
pub(super) fn at_by(target: &Target, names: u64, places: &[Named<'_>], home: Option<&str>) -> bool {
    match target {
        Target::Path { path, glob, .. } => is_at_by(path, *glob, names, (places, home)),
        // What is unknown comes behind: below the place is enough, being its beginning is not. The end is at places that are
        // known by their name alone.
        Target::UnknownPath { known, tail, .. } => {
            is_at_by(known, false, names, (places, home))
                || !tail.is_empty()
                    && places
                        .iter()
                        .any(|place| matches!(place, Named::Name(name) if is_named(tail, is_pattern(tail), names, name)))
        }
        Target::Url(_) | Target::Command(_) | Target::None => false,
    }
}

pub(super) fn is_at(path: &str, is_glob: bool, places: &[Named<'_>], home: Option<&str>) -> bool {
    is_at_by(path, is_glob, names_of(path, is_glob), (places, home))
}

/// A bit for the name of each component of a target; all of them for a pattern.
pub(super) fn names_in(target: &Target) -> u64 {
    match target {
        Target::Path { path, glob, .. } => names_of(path, *glob),
        Target::UnknownPath { known, tail, .. } => names_of(known, false) | names_of(tail, is_pattern(tail)),
        Target::Url(_) | Target::Command(_) | Target::None => 0,
    }
}

fn is_at_by(path: &str, is_glob: bool, names: u64, (places, home): (&[Named<'_>], Option<&str>)) -> bool {
    // Below the home directory and no pattern: only what is below it is held against the places there.
    let tail = home.filter(|_| !is_glob).and_then(|home| path.strip_prefix(home)?.strip_prefix('/'));
    let other = if is_glob || tail.is_some() { None } else { below_another_home(path) };
    places.iter().any(|place| match (place, tail) {
        (Named::Home(rest), Some(tail)) => within(relation_to(tail, false, rest)),
        (Named::Home(rest), None) => {
            home.is_some_and(|home| {
                (is_glob || !parts_early(path.as_bytes(), home.as_bytes()))
                    && within(relation(path, is_glob, parts(home).chain(parts(rest))))
            }) || rest.starts_with(['.', 'L'])
                && other.is_some_and(|tail| within(relation_to(tail, false, rest)))
        }
        (Named::Abs(place), _) => within(relation_to(path, is_glob, place)),
        (Named::Name(name), _) => is_named(path, is_glob, names, name),
    })
}

/// What of a path lies below somebody's home directory, whoever that is: what starts by itself there does so as well.
pub(crate) fn below_another_home(path: &str) -> Option<&str> {
    if let Some(tail) = path.strip_prefix("/root/") {
        return Some(tail);
    }
    let rest = path.strip_prefix("/home/").or_else(|| path.strip_prefix("/Users/"))?;
    rest.split_once('/').map(|(_, tail)| tail)
}

/// Whether a path lies at a place that is known by its name, wherever that stands; `names` are the path's.
fn is_named(path: &str, is_glob: bool, names: u64, name: &str) -> bool {
    let first = name.get(..name.bytes().position(|c| c == b'/').unwrap_or(name.len())).unwrap_or("");
    (first == "*" || names & name_bit(first) != 0)
        && tails_like(path, is_glob, name).any(|tail| within(relation_to(tail, is_glob, name)))
}

/// The path that an operand of a command run in `cwd` names.
pub(crate) fn target_of(arg: &Arg, cwd: Option<&str>) -> Target {
    let prefix = arg.prefix();
    let base = match cwd {
        Some(cwd) => cwd,
        None if prefix.starts_with('/') => "/",
        None => return Target::UnknownPath { known: String::new(), tail: arg.below(), recursive: false },
    };
    if arg.has_unknown() {
        let mut known = if prefix.is_empty() { String::new() } else { join(base, prefix) };
        if prefix.ends_with('/') && known.len() > 1 {
            known.push('/');
        }
        return Target::UnknownPath { known, tail: arg.tail(), recursive: false };
    }
    let glob = arg.has_glob() || (base.contains('*') && !prefix.starts_with('/'));
    Target::Path { path: join(base, &arg.text()), glob, recursive: false }
}

/// The classes of what an effect of this kind falls on.
pub(crate) fn classify(target: &Target, kind: EffectKind, view: &View<'_>) -> Classes {
    match target {
        // No system takes such a name.
        Target::Path { path, .. } if path.len() > 2 * MAX_PATH => Classes::NONE,
        Target::Path { path, glob, recursive } => {
            let deep = *recursive || (*glob && path.contains("**"));
            let here = Spot { path, is_glob: *glob, recursive: deep, kind };
            let classes = beside::classes(here, view);
            // A link that is deleted takes nothing with it; anything else done to it reaches what it leads to.
            match view.facts.path(path) {
                Some(fact) if fact.real != *path && !(fact.link && kind == EffectKind::FileDeletion) => {
                    let real = Spot { path: &fact.real, is_glob: false, ..here };
                    classes.or(real.classes(view))
                }
                _ => classes,
            }
            .or(remembered(target, kind, view))
        }
        Target::UnknownPath { known, tail, recursive } => {
            let here = Spot { path: known, is_glob: false, recursive: *recursive, kind };
            here.unknown_classes(view).or(ends::classes((known, tail), kind, view))
        }
        Target::Url(_) | Target::Command(_) | Target::None => Classes::NONE,
    }
}

/// Whether a read of this is one of a file of settings: what [`classify`] says of [`Class::EnvFile`], without the other classes.
pub(crate) fn is_settings(target: &Target, view: &View<'_>) -> bool {
    let (path, glob) = match target {
        Target::Path { path, glob, .. } => (path, glob),
        Target::UnknownPath { known, tail, .. } => return ends::is_settings(known, tail),
        Target::Url(_) | Target::Command(_) | Target::None => return false,
    };
    let real =
        || view.facts.path(path).is_some_and(|fact| fact.real != *path && is_env_file(&fact.real, false));
    let kept = || matches!(held(target, EffectKind::FileRead, view), Some(Origin::Settings));
    path.len() <= 2 * MAX_PATH && (is_env_file(path, *glob) || real() || kept())
}

/// Whether changing this changes a protected place.
pub(crate) fn is_protected(target: &Target, view: &View<'_>) -> bool {
    let kind = EffectKind::FileModification;
    let Target::Path { path, glob, recursive } = target else {
        return classify(target, kind, view).has(Class::Protected);
    };
    let recursive = *recursive || (*glob && path.contains("**"));
    let here = Spot { path, is_glob: *glob, recursive, kind };
    let real = view.facts.path(path).filter(|fact| fact.real != *path);
    path.len() <= 2 * MAX_PATH
        && (beside::is_protected(here, view)
            || real.is_some_and(|fact| {
                let there = Spot { path: &fact.real, is_glob: false, ..here };
                there.guarded(None, view).has(Class::Protected)
            }))
}

/// What the session knows of a file that is read: a copy of a secret is one.
fn remembered(target: &Target, kind: EffectKind, view: &View<'_>) -> Classes {
    match held(target, kind, view) {
        Some(Origin::Secret) => Classes::NONE.with(Class::Secret, true),
        Some(Origin::Settings) => Classes::NONE.with(Class::EnvFile, true),
        Some(Origin::Environment | Origin::Written | Origin::Fetched(_) | Origin::Program(_)) | None => {
            Classes::NONE
        }
    }
}

/// The secret that is in a file that is read, as far as the session knows.
pub(crate) fn held<'v>(target: &Target, kind: EffectKind, view: &View<'v>) -> Option<&'v Origin> {
    let marks = &view.survey.marks;
    let Target::Path { path, glob: false, recursive } = target else { return None };
    if marks.is_empty() || kind != EffectKind::FileRead {
        return None;
    }
    let real = view.facts.path(path).map(|fact| fact.real.as_str()).filter(|real| real != path);
    marks.secret(path, *recursive).or_else(|| marks.secret(real?, *recursive))
}

/// A path and what is done to it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spot<'a> {
    pub path: &'a str,
    pub is_glob: bool,
    pub recursive: bool,
    pub kind: EffectKind,
}

impl Spot<'_> {
    pub fn classes(self, view: &View<'_>) -> Classes {
        self.called(view).or(self.lies(view))
    }

    /// The classes that its name says.
    pub fn called(self, view: &View<'_>) -> Classes {
        let home = view.facts.places.home.as_deref();
        let copied =
            || self.kind == EffectKind::FileRead && !self.is_glob && is_copied_secret(self.path, home);
        Classes::NONE
            .with(Class::Secret, is_secret(self.path, self.is_glob, self.recursive, home) || copied())
            .with(Class::EnvFile, is_env_file(self.path, self.is_glob))
            .with(Class::Git, self.kind != EffectKind::FileRead && (is_git(self.path) || self.may_be_git()))
    }

    /// A pattern that git's own directory fits and hardly anything beside it: `.g*t`, `.[g]it`.
    fn may_be_git(self) -> bool {
        let last = self.path.rsplit_once('/').map_or(self.path, |(_, last)| last);
        self.is_glob && last.len() <= 12 && last.starts_with('.') && glob::segment(last, ".git")
    }

    /// The classes that say where it lies.
    fn lies(self, view: &View<'_>) -> Classes {
        let own = self.guarded(None, view);
        // All in a directory is as good as the directory.
        let folded = match self.path.rsplit_once('/') {
            Some((dir, last)) if self.is_glob && glob::is_everything(last) => Spot {
                path: if dir.is_empty() { "/" } else { dir },
                is_glob: dir.contains(['*', '?', '[']),
                ..self
            },
            _ => self,
        };
        own.or(folded.place(view))
    }

    /// The classes that say on which protected places it falls: `near` are the numbers of those that it may, where that is known.
    pub fn guarded(self, near: Option<&[usize]>, view: &View<'_>) -> Classes {
        let all = &view.facts.places.protected;
        let inner = LazyCell::new(|| is_inner(self.path, view));
        let inner = || *inner;
        let (touches, keys) = match near {
            Some(near) => {
                let near = || near.iter().filter_map(|number| all.get(*number));
                (self.touches(near(), inner, view), self.reads_keys(near(), inner, view))
            }
            None => (self.touches(all.iter(), inner, view), self.reads_keys(all.iter(), inner, view)),
        };
        Classes::NONE.with(Class::Protected, touches).with(Class::Keys, keys)
    }

    /// The classes that only say where it lies.
    pub fn place(self, view: &View<'_>) -> Classes {
        if self.kind == EffectKind::FileRead {
            // Where a file lies says nothing about reading it.
            return Classes::NONE;
        }
        let places = &view.facts.places;
        let home = places.home.as_deref();
        let to = |place: &str| relation_to(self.path, self.is_glob, place);
        let expected = self.is_expected(view);
        let at_home = home.map_or(Rel::Apart, to);
        let top = at_home == Rel::Below && home.is_some_and(|home| depth(self.path) == depth(home) + 1);
        let users = lists::HOMES.iter().any(|dir| match to(dir) {
            Rel::Same => true,
            Rel::Below => depth(self.path) == depth(dir) + 1 && at_home == Rel::Apart && !expected,
            Rel::Above | Rel::Apart => false,
        });
        let again = || {
            self.kind == EffectKind::FileDeletion && lists::PACKAGE_CACHES.iter().any(|dir| within(to(dir)))
        };
        let system =
            !expected && !within(at_home) && lists::SYSTEM_DIRS.iter().any(|dir| within(to(dir))) && !again();
        let cache = || {
            let inside = home.and_then(|home| self.path.strip_prefix(home)).unwrap_or_default();
            self.kind == EffectKind::FileDeletion && lists::CACHES.contains(&inside.trim_start_matches('/'))
        };
        let in_checkout = || view.facts.path(self.path).is_some_and(|fact| fact.checkout);
        Classes::NONE
            .with(Class::Root, parts(self.path).next().is_none())
            .with(Class::System, system)
            .with(Class::Home, at_home == Rel::Same || (self.recursive && at_home == Rel::Above))
            .with(Class::HomeTop, top && !expected && !cache())
            .with(Class::Users, users)
            .with(Class::Project, roots(view).any(|root| matches!(to(root), Rel::Same | Rel::Above)))
            .with(Class::Git, parts(self.path).any(|part| part.eq_ignore_ascii_case(".git")))
            .with(Class::Outside, !expected)
            .with(Class::Expected, expected)
            .with(Class::Checkout, !expected && (in_checkout() || is_output_elsewhere(self.path, home)))
            .with(Class::Device, is_device(self.path))
    }

    fn is_expected(self, view: &View<'_>) -> bool {
        let fixed = if self.is_glob { fixed_prefix(self.path) } else { self.path };
        let places = &view.facts.places;
        let here = places.repo.is_none() && places.project.is_none();
        view.policy.expects(fixed, places) || (here && roots(view).any(|root| inside(fixed, root)))
    }

    /// Whether it falls on a protected place. `inner` says whether it is no root of work and no home ([`is_inner`]).
    fn touches<'p>(
        self,
        mut places: impl Iterator<Item = &'p Protected>,
        inner: impl Fn() -> bool,
        view: &View<'_>,
    ) -> bool {
        self.kind != EffectKind::FileRead
            && places.any(|place| match relation_to(self.path, self.is_glob, &place.path) {
                Rel::Apart => false,
                // A pattern stands for what is there.
                Rel::Same => !self.is_glob || !view.facts.is_missing(&place.path),
                Rel::Below => place.tree,
                Rel::Above => self.takes_with_it(&inner),
            })
    }

    /// Whether doing this to a directory does it to the protected places below.
    fn takes_with_it(self, inner: impl Fn() -> bool) -> bool {
        match self.kind {
            EffectKind::FileDeletion => true,
            EffectKind::FileRead | EffectKind::FileCreation => false,
            // Of a whole project or home (a formatter, `chmod -R u+w .`) it is ordinary work.
            EffectKind::FileModification | EffectKind::SystemModification => self.recursive && inner(),
            EffectKind::ProcessCreation | EffectKind::NetworkRequest | EffectKind::SystemCommand => false,
        }
    }

    fn reads_keys<'p>(
        self,
        places: impl Iterator<Item = &'p Protected>,
        inner: impl Fn() -> bool,
        view: &View<'_>,
    ) -> bool {
        places.filter(|place| place.kind == ProtectedKind::Keys).any(|place| {
            match relation_to(self.path, self.is_glob, &place.path) {
                Rel::Apart => false,
                Rel::Same => true,
                Rel::Below => place.tree,
                // One file deep in our own directory: who searches what lies above that is not after it.
                Rel::Above => self.recursive && inner() && (place.tree || self.is_own(view)),
            }
        })
    }

    /// Whether it lies in a directory of ours.
    fn is_own(self, view: &View<'_>) -> bool {
        let own = |place: &&Protected| place.tree && place.kind == ProtectedKind::Own;
        view.facts
            .places
            .protected
            .iter()
            .filter(own)
            .any(|place| matches!(relation_to(self.path, self.is_glob, &place.path), Rel::Same | Rel::Below))
    }

    /// The classes of a path of which only the beginning is known.
    fn unknown_classes(self, view: &View<'_>) -> Classes {
        let name = last_name(self.path);
        let inner = LazyCell::new(|| is_inner(self.path, view));
        let begins = |place: &Protected| {
            let reach = place.path.get(..self.path.len());
            *inner
                && reach.is_some_and(|reach| reach.eq_ignore_ascii_case(self.path))
                && (name.is_empty() || name.len() >= 2)
        };
        let protected = &view.facts.places.protected;
        let below = |place: &Protected| place.tree && inside(self.path, &place.path);
        let hits = |place: &&Protected| begins(place) || below(place);
        let secret_dir = lists::SECRET_DIRS.iter().any(|dir| {
            let places = [At::Name(dir)];
            at(&Target::begun(self.path, false), &places, None)
        });
        let classes = if self.path.is_empty() { Classes::NONE } else { self.place(view) };
        // The place itself is not what is named: something below it is.
        let lies = Classes::NONE
            .with(Class::System, classes.has(Class::System))
            .with(Class::Git, classes.has(Class::Git))
            .with(Class::Outside, classes.has(Class::Outside))
            .with(Class::Device, classes.has(Class::Device));
        lies.with(Class::Unknown, self.path.is_empty())
            .with(Class::Protected, protected.iter().any(|place| hits(&place)))
            .with(Class::Keys, protected.iter().filter(|p| p.kind == ProtectedKind::Keys).any(|p| hits(&p)))
            .with(Class::Secret, self.kind == EffectKind::FileRead && secret_dir && !name.ends_with(".pub"))
    }
}

/// What a build makes again, in a directory of the home that is not hidden.
fn is_output_elsewhere(path: &str, home: Option<&str>) -> bool {
    let below = home.and_then(|home| path.strip_prefix(home)).and_then(|rest| rest.strip_prefix('/'));
    let inner = below.and_then(|below| below.split_once('/')).filter(|(top, _)| !top.starts_with('.'));
    inner.is_some_and(|(_, inner)| paths::is_build_output(inner))
}

/// Deeper than the roots of work and the home directory, and in one of them or nowhere near them.
fn is_inner(path: &str, view: &View<'_>) -> bool {
    let broad = |place: &str| matches!(relation_to(path, false, place), Rel::Same | Rel::Above);
    let temp = || view.facts.places.temp.iter().any(|temp| temp == path.trim_end_matches('/'));
    !path.is_empty()
        && !view.facts.places.home.as_deref().is_some_and(broad)
        && !roots(view).any(broad)
        && !temp()
}

/// The directories that are being worked on; where there are none, the working directory.
fn roots<'a>(view: &View<'a>) -> impl Iterator<Item = &'a str> {
    let places = &view.facts.places;
    let home = places.home.as_deref();
    let cwd = (places.repo.is_none() && places.project.is_none()).then_some(view.cwd);
    let cwd = cwd.filter(move |cwd| *cwd != "/" && !home.is_some_and(|home| inside(home, cwd)));
    places.roots().chain(cwd)
}

fn depth(path: &str) -> usize {
    parts(path).count()
}

/// The directories in front of the first component with a wildcard.
fn fixed_prefix(path: &str) -> &str {
    match path.find(['*', '?', '[']) {
        Some(wild) => {
            path.get(..wild).and_then(|front| front.rfind('/')).and_then(|end| path.get(..end)).unwrap_or("")
        }
        None => path,
    }
}

fn is_device(path: &str) -> bool {
    path.strip_prefix("/dev/").is_some_and(|name| {
        lists::DEVICES.iter().any(|device| name.starts_with(device))
            && !lists::HARMLESS_DEVICES.contains(&name)
    })
}

/// Whether a name with wildcards can stand for `name`.
pub(crate) fn may_be(pattern: &str, name: &str) -> bool {
    glob::segment(pattern, name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::PathKind;
    use crate::domain::Policy;
    use crate::rules::{Survey, fixture};

    fn classes(path: &str, kind: EffectKind, recursive: bool) -> Classes {
        let call = fixture::call("ls");
        let (facts, survey, policy) = (fixture::facts(), Survey::default(), Policy::default());
        let view =
            View { call: &call, cwd: fixture::PROJECT, survey: &survey, facts: &facts, policy: &policy };
        let target = match path.strip_suffix('…') {
            Some(known) => Target::begun(known, recursive),
            None => Target::Path { path: path.to_owned(), glob: path.contains(['*', '?', '[']), recursive },
        };
        classify(&target, kind, &view)
    }

    #[test]
    fn targets_beside_each_other_have_the_classes_that_they_have_alone() {
        let call = fixture::call("ls");
        let (facts, policy) = (fixture::facts(), Policy::default());
        let (few, _) = fixture::survey_of(&call, &policy);
        let (many, _) = fixture::survey_of(&fixture::call(&"ls;".repeat(9)), &policy);
        let view =
            |survey| View { call: &call, cwd: fixture::PROJECT, survey, facts: &facts, policy: &policy };
        let (alone, beside) = (view(&few), view(&many));
        let home = facts.places.home.clone().unwrap();
        let dirs = ["", "/etc", "/home", "/dev", "/var/cache", "/tmp", "/opt/x", fixture::PROJECT, &home]
            .map(str::to_owned);
        let below = [".claude", ".config", "src", ".git", ".ssh", "tests/fixtures"];
        let below = [fixture::PROJECT, &home].map(|dir| below.map(|name| format!("{dir}/{name}")));
        let names = [
            "a",
            "b",
            ".git",
            ".GIT",
            "id_rsa",
            ".env",
            "settings.json",
            "sda",
            "home",
            "u",
            "proj",
            "*",
            ".claude",
        ];
        for kind in [EffectKind::FileRead, EffectKind::FileModification, EffectKind::FileDeletion] {
            for recursive in [false, true] {
                let targets: Vec<Target> = dirs
                    .iter()
                    .chain(below.iter().flatten())
                    .flat_map(|dir| names.map(|name| format!("{dir}/{name}")))
                    .map(|path| Target::Path { glob: path.contains('*'), path, recursive })
                    .collect();
                for target in &targets {
                    let next = classify(target, kind, &beside);
                    assert_eq!(next, classify(target, kind, &alone), "{kind:?} of {target:?}");
                }
            }
        }
    }

    #[test]
    fn where_a_deletion_falls() {
        let cases: &[(&str, &[Class], &[Class])] = &[
            ("/", &[Class::Root, Class::Home, Class::Project], &[Class::System]),
            ("/*", &[Class::Root], &[]),
            ("/etc/nginx", &[Class::System, Class::Outside], &[Class::Home]),
            ("/home/u", &[Class::Home, Class::Project], &[Class::HomeTop]),
            ("/home/u/*", &[Class::Home], &[]),
            ("/home/u/Documents", &[Class::HomeTop, Class::Outside], &[Class::Home]),
            ("/home/u/work/thing", &[Class::Outside], &[Class::HomeTop]),
            ("/home", &[Class::Users, Class::Home], &[]),
            ("/home/other", &[Class::Users], &[Class::Home]),
            ("/home/u/proj", &[Class::Project], &[Class::HomeTop, Class::Outside]),
            ("/home/u/proj/*", &[Class::Project], &[]),
            ("/home/u/proj/src", &[], &[Class::Project, Class::Outside, Class::System]),
            ("/home/u/proj/*.o", &[], &[Class::Project, Class::Outside]),
            ("/home/u/proj/.git/refs", &[Class::Git], &[Class::Outside]),
            ("/home/u/*/src", &[Class::Outside], &[]),
            ("/tmp/x", &[], &[Class::Outside, Class::System]),
            ("/dev/sda", &[Class::Device], &[]),
            ("/dev/null", &[], &[Class::Device]),
            ("/dev/shm/x", &[], &[Class::Device]),
        ];
        for (path, has, has_not) in cases {
            let classes = classes(path, EffectKind::FileDeletion, true);
            assert!(has.iter().all(|class| classes.has(*class)), "{path}: {classes:?} lacks one of {has:?}");
            assert!(!classes.any(has_not), "{path}: {classes:?} has one of {has_not:?}");
        }
    }

    #[test]
    fn protected_places_are_met_in_every_spelling() {
        for path in [
            "/home/u/proj/.claude/settings.json",
            "/home/u/proj/.CLAUDE/Settings.json",
            "/home/u/proj/.claude",
            "/home/u/proj/.claude/*",
            "/home/u/proj/.cl*/s*",
            "/home/u/proj/**/settings.json",
            "/home/u/proj/**/.cl*",
            "/home/u/proj/**",
            "/home/u/.config/lazaret/sub/x",
            "/home/u/.config",
            "/home/u/proj/.claude/…",
            "/home/u/proj/.claude/sett…",
            "/home/u/.config/lazaret/…",
        ] {
            assert!(classes(path, EffectKind::FileDeletion, false).has(Class::Protected), "{path}");
        }
        for path in [
            "/home/u/proj/src",
            "/home/u/proj/*.rs",
            "/home/u/proj/s…",
            "…",
            "/home/u/proj/.claude/agents/x.md",
        ] {
            assert!(!classes(path, EffectKind::FileModification, false).has(Class::Protected), "{path}");
        }
    }

    #[test]
    fn changing_a_whole_project_is_not_changing_the_settings_in_it() {
        let changed = |path| classes(path, EffectKind::FileModification, true).has(Class::Protected);
        assert!(!changed("/home/u/proj"));
        assert!(!changed("/home/u"));
        assert!(changed("/home/u/proj/.claude"));
        assert!(!classes("/home/u/proj/.claude", EffectKind::FileModification, false).has(Class::Protected));
    }

    #[test]
    fn what_a_link_leads_to_counts() {
        let call = fixture::call("ls");
        let (facts, survey, policy) = (fixture::facts(), Survey::default(), Policy::default());
        let real = "/home/u/proj/.claude/settings.json".to_owned();
        let fact = crate::domain::PathFact {
            kind: PathKind::File,
            real,
            link: true,
            ignored: false,
            checkout: false,
        };
        facts.answer_path("/tmp/x".to_owned(), fact);
        let view =
            View { call: &call, cwd: fixture::PROJECT, survey: &survey, facts: &facts, policy: &policy };
        let target = Target::Path { path: "/tmp/x".to_owned(), glob: false, recursive: false };
        assert!(classify(&target, EffectKind::FileModification, &view).has(Class::Protected));
        assert!(!classify(&target, EffectKind::FileDeletion, &view).has(Class::Protected));
    }
}
