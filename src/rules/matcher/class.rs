//! Which kind of place a target is: worked out from the path alone and the facts at hand.

use super::{View, glob};
use crate::domain::{EffectKind, Protected, ProtectedKind, Target, join};
use crate::rules::builtin::lists;
use crate::shell::Arg;

/// Kinds of place. A target may be several at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Class {
    /// The root of the file system, or all in it.
    Root,
    /// The operating system's directories, outside home, project and temporary directories.
    System,
    /// The home directory, or all in it.
    Home,
    /// Directly below the home directory, and not what is being worked on.
    HomeTop,
    /// The directory of all homes, or somebody else's home.
    Users,
    /// The top of the repository or project, all in it, or a directory above it.
    Project,
    /// A `.git` directory or what is in it.
    Git,
    /// Where no work is expected: not the repository, the project, the scope or a temporary directory.
    Outside,
    /// A block device, or the memory.
    Device,
    /// What an agent must not change.
    Protected,
    /// lazaret's keys and sealed copies.
    Keys,
    /// A file of secrets: private keys, credentials.
    Secret,
    /// A `.env` file.
    EnvFile,
}

/// A set of classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Classes(u32);

impl Classes {
    pub const NONE: Classes = Classes(0);

    #[must_use]
    pub const fn with(self, class: Class, holds: bool) -> Classes {
        if holds { Classes(self.0 | 1 << class as u8) } else { self }
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
pub(crate) enum At {
    /// This path below the home directory, and what is below it.
    Home(&'static str),
    /// This absolute path, and what is below it.
    Abs(&'static str),
    /// This path at the end or in the middle of any path.
    Name(&'static str),
}

/// How a target lies to a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rel {
    Apart,
    Above,
    Same,
    Below,
}

fn parts(path: &str) -> impl Iterator<Item = &str> + Clone {
    path.split('/').filter(|part| !part.is_empty())
}

/// How `target` (a pattern with `is_glob`) can lie to the place made of `place`'s components.
pub(crate) fn relation<'p>(target: &str, is_glob: bool, place: impl Iterator<Item = &'p str>) -> Rel {
    let mut target = parts(target);
    let mut place = place;
    loop {
        match (target.next(), place.next()) {
            (None, None) => return Rel::Same,
            (None, Some(_)) => return Rel::Above,
            (Some(_), None) => return Rel::Below,
            (Some("**"), Some(here)) if is_glob => {
                // Only the last component can still tell them apart.
                let last = place.last().unwrap_or(here);
                let matches =
                    target.last().is_none_or(|pattern| pattern == "**" || glob::segment(pattern, last));
                return if matches { Rel::Same } else { Rel::Apart };
            }
            (Some(a), Some(b)) => {
                let same = if is_glob { glob::segment(a, b) } else { a.eq_ignore_ascii_case(b) };
                if !same && b != "*" {
                    return Rel::Apart;
                }
            }
        }
    }
}

fn within(rel: Rel) -> bool {
    matches!(rel, Rel::Same | Rel::Below)
}

/// Whether `path` is `dir` or lies below it.
pub(crate) fn inside(path: &str, dir: &str) -> bool {
    within(relation(path, false, parts(dir)))
}

/// Whether a target is one of `places` or lies below one.
pub(crate) fn at(target: &Target, places: &[At], home: Option<&str>) -> bool {
    let (path, is_glob) = match target {
        Target::Path { path, glob, .. } => (path.as_str(), *glob),
        // What is unknown comes behind: below the place is enough, being its beginning is not.
        Target::UnknownPath { known, .. } => (known.as_str(), false),
        Target::Url(_) | Target::Command(_) | Target::None => return false,
    };
    places.iter().any(|place| match place {
        At::Home(rest) => {
            home.is_some_and(|home| within(relation(path, is_glob, parts(home).chain(parts(rest)))))
        }
        At::Abs(place) => within(relation(path, is_glob, parts(place))),
        At::Name(name) => {
            let mut rest = path;
            loop {
                if within(relation(rest, is_glob, parts(name))) {
                    return true;
                }
                match rest.split_once('/') {
                    Some((_, tail)) => rest = tail,
                    None => return false,
                }
            }
        }
    })
}

/// The path that an operand of a command run in `cwd` names.
pub(crate) fn target_of(arg: &Arg, cwd: Option<&str>) -> Target {
    let prefix = arg.prefix();
    let base = match cwd {
        Some(cwd) => cwd,
        None if prefix.starts_with('/') => "/",
        None => return Target::UnknownPath { known: String::new(), recursive: false },
    };
    if arg.has_unknown() {
        let mut known = if prefix.is_empty() { String::new() } else { join(base, prefix) };
        if prefix.ends_with('/') && known.len() > 1 {
            known.push('/');
        }
        return Target::UnknownPath { known, recursive: false };
    }
    Target::Path { path: join(base, &arg.text()), glob: arg.has_glob(), recursive: false }
}

/// The classes of what an effect of this kind falls on.
pub(crate) fn classify(target: &Target, kind: EffectKind, view: &View<'_>) -> Classes {
    match target {
        Target::Path { path, glob, recursive } => {
            let here = Spot { path, is_glob: *glob, recursive: *recursive, kind };
            let classes = here.classes(view);
            // A link that is deleted takes nothing with it; anything else done to it reaches what it leads to.
            match view.facts.path(path) {
                Some(fact) if fact.real != *path && !(fact.link && kind == EffectKind::FileDeletion) => {
                    let real = Spot { path: &fact.real, is_glob: false, ..here };
                    Classes(classes.0 | real.classes(view).0)
                }
                _ => classes,
            }
        }
        Target::UnknownPath { known, recursive } => {
            let here = Spot { path: known, is_glob: false, recursive: *recursive, kind };
            here.unknown_classes(view)
        }
        Target::Url(_) | Target::Command(_) | Target::None => Classes::NONE,
    }
}

/// A path and what is done to it.
#[derive(Debug, Clone, Copy)]
struct Spot<'a> {
    path: &'a str,
    is_glob: bool,
    recursive: bool,
    kind: EffectKind,
}

impl Spot<'_> {
    fn classes(self, view: &View<'_>) -> Classes {
        let own = Classes::NONE
            .with(Class::Protected, self.touches(view, |_| true))
            .with(Class::Keys, self.reads_keys(view))
            .with(Class::Secret, is_secret(self, view.facts.places.home.as_deref()))
            .with(Class::EnvFile, is_env_file(self.path));
        // All in a directory is as good as the directory.
        let folded = match self.path.rsplit_once('/') {
            Some((dir, last)) if self.is_glob && glob::is_everything(last) => Spot {
                path: if dir.is_empty() { "/" } else { dir },
                is_glob: dir.contains(['*', '?', '[']),
                ..self
            },
            _ => self,
        };
        Classes(own.0 | folded.place(view).0)
    }

    /// The classes that only say where it lies.
    fn place(self, view: &View<'_>) -> Classes {
        if self.kind == EffectKind::FileRead {
            // Where a file lies says nothing about reading it.
            return Classes::NONE;
        }
        let places = &view.facts.places;
        let home = places.home.as_deref();
        let to = |place: &str| relation(self.path, self.is_glob, parts(place));
        let expected = self.is_expected(view);
        let at_home = home.map_or(Rel::Apart, to);
        let top = at_home == Rel::Below && home.is_some_and(|home| depth(self.path) == depth(home) + 1);
        let users = lists::HOMES.iter().any(|dir| match to(dir) {
            Rel::Same => true,
            Rel::Below => depth(self.path) == depth(dir) + 1 && at_home == Rel::Apart && !expected,
            Rel::Above | Rel::Apart => false,
        });
        let system = !expected && !within(at_home) && lists::SYSTEM_DIRS.iter().any(|dir| within(to(dir)));
        Classes::NONE
            .with(Class::Root, parts(self.path).next().is_none())
            .with(Class::System, system)
            .with(Class::Home, at_home == Rel::Same || (self.recursive && at_home == Rel::Above))
            .with(Class::HomeTop, top && !expected)
            .with(Class::Users, users)
            .with(Class::Project, roots(view).any(|root| matches!(to(root), Rel::Same | Rel::Above)))
            .with(Class::Git, parts(self.path).any(|part| part.eq_ignore_ascii_case(".git")))
            .with(Class::Outside, !expected)
            .with(Class::Device, is_device(self.path))
    }

    fn is_expected(self, view: &View<'_>) -> bool {
        let fixed = if self.is_glob { fixed_prefix(self.path) } else { self.path };
        roots(view)
            .chain(view.facts.places.temp.iter().map(String::as_str))
            .chain(view.policy.scope.iter().map(String::as_str))
            .any(|root| inside(fixed, root))
    }

    /// Whether it falls on a protected place for which `test` holds.
    fn touches(self, view: &View<'_>, test: impl Fn(&Protected) -> bool) -> bool {
        view.facts.places.protected.iter().filter(|place| test(place)).any(|place| {
            match relation(self.path, self.is_glob, parts(&place.path)) {
                Rel::Apart => false,
                Rel::Same => true,
                Rel::Below => place.tree,
                Rel::Above => self.takes_with_it(view),
            }
        })
    }

    /// Whether doing this to a directory does it to the protected places below.
    fn takes_with_it(self, view: &View<'_>) -> bool {
        match self.kind {
            EffectKind::FileDeletion => true,
            EffectKind::FileRead | EffectKind::FileCreation => false,
            // Of a whole project or home (a formatter, `chmod -R u+w .`) it is ordinary work.
            EffectKind::FileModification | EffectKind::SystemModification => {
                self.recursive && is_inner(self.path, view)
            }
            EffectKind::ProcessCreation | EffectKind::NetworkRequest | EffectKind::SystemCommand => false,
        }
    }

    fn reads_keys(self, view: &View<'_>) -> bool {
        view.facts.places.protected.iter().filter(|place| place.kind == ProtectedKind::Keys).any(|place| {
            match relation(self.path, self.is_glob, parts(&place.path)) {
                Rel::Apart => false,
                Rel::Same => true,
                Rel::Below => place.tree,
                Rel::Above => self.recursive && is_inner(self.path, view),
            }
        })
    }

    /// The classes of a path of which only the beginning is known.
    fn unknown_classes(self, view: &View<'_>) -> Classes {
        let name = self.path.rsplit('/').next().unwrap_or_default();
        let begins = |place: &Protected| {
            let reach = place.path.get(..self.path.len());
            is_inner(self.path, view)
                && reach.is_some_and(|reach| reach.eq_ignore_ascii_case(self.path))
                && (name.is_empty() || name.len() >= 2)
        };
        let protected = &view.facts.places.protected;
        let below = |place: &Protected| place.tree && inside(self.path, &place.path);
        let hits = |place: &&Protected| begins(place) || below(place);
        let secret_dir = lists::SECRET_DIRS.iter().any(|dir| {
            let places = [At::Name(dir)];
            at(&Target::UnknownPath { known: self.path.to_owned(), recursive: false }, &places, None)
        });
        let classes = if self.path.is_empty() { Classes::NONE } else { self.place(view) };
        // The place itself is not what is named: something below it is.
        let lies = Classes::NONE
            .with(Class::System, classes.has(Class::System))
            .with(Class::Git, classes.has(Class::Git))
            .with(Class::Outside, classes.has(Class::Outside))
            .with(Class::Device, classes.has(Class::Device));
        lies.with(Class::Protected, protected.iter().any(|place| hits(&place)))
            .with(Class::Keys, protected.iter().filter(|p| p.kind == ProtectedKind::Keys).any(|p| hits(&p)))
            .with(Class::Secret, self.kind == EffectKind::FileRead && secret_dir && !name.ends_with(".pub"))
    }
}

/// Deeper than the roots of work and the home directory, and in one of them or nowhere near them.
fn is_inner(path: &str, view: &View<'_>) -> bool {
    let broad = |place: &str| matches!(relation(path, false, parts(place)), Rel::Same | Rel::Above);
    !path.is_empty() && !view.facts.places.home.as_deref().is_some_and(broad) && !roots(view).any(broad)
}

/// The directories that are being worked on. Not the home directory or what is above it: working there makes nothing
/// in it expendable.
fn roots<'a>(view: &View<'a>) -> impl Iterator<Item = &'a str> {
    let places = &view.facts.places;
    let cwd = (places.repo.is_none() && places.project.is_none()).then_some(view.cwd);
    let home = places.home.as_deref();
    [places.repo.as_deref(), places.project.as_deref(), cwd]
        .into_iter()
        .flatten()
        .filter(move |root| *root != "/" && !home.is_some_and(|home| inside(home, root)))
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

fn is_env_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    match name.strip_prefix(".env") {
        Some("") => true,
        Some(rest) => rest
            .strip_prefix('.')
            .is_some_and(|rest| !rest.split('.').any(|part| lists::ENV_EXAMPLES.contains(&part))),
        None => name == ".envrc",
    }
}

fn is_secret(spot: Spot<'_>, home: Option<&str>) -> bool {
    let same = |pattern: &str, name: &str| {
        if spot.is_glob { glob::segment(pattern, name) } else { pattern == name }
    };
    let name = spot.path.rsplit('/').next().unwrap_or_default();
    if name.ends_with(".pub") || lists::NOT_SECRET.contains(&name) {
        return false;
    }
    let as_target = |recursive| Target::Path { path: spot.path.to_owned(), glob: spot.is_glob, recursive };
    if lists::SECRET_NAMES.iter().any(|secret| same(name, secret)) && !glob::is_everything(name) {
        return true;
    }
    if lists::SECRET_ENDINGS.iter().any(|ending| name.len() > ending.len() && name.ends_with(ending)) {
        return true;
    }
    // Cheap first: none of the lists below has a place without a hidden directory, /etc, /proc or Library in it.
    if !spot.path.contains("/.")
        && !spot.is_glob
        && !lists::SECRET_ROOTS.iter().any(|root| spot.path.starts_with(root))
    {
        return false;
    }
    let target = as_target(spot.recursive);
    if lists::SECRET_FILES.iter().any(|file| at(&target, &[*file], home)) {
        return true;
    }
    lists::SECRET_DIRS.iter().any(|dir| {
        let Some(rel) = deepest(spot.path, spot.is_glob, dir) else { return false };
        rel == Rel::Below && lists::SECRET_TREES.contains(dir) || rel == Rel::Same && spot.recursive
    })
}

/// How a path lies to the first occurrence of `dir` in it.
fn deepest(path: &str, is_glob: bool, dir: &str) -> Option<Rel> {
    let mut rest = path;
    loop {
        let rel = relation(rest, is_glob, parts(dir));
        if within(rel) {
            return Some(rel);
        }
        rest = rest.split_once('/')?.1;
    }
}

/// Whether a name with wildcards can stand for `name`.
pub(crate) fn may_be(pattern: &str, name: &str) -> bool {
    glob::segment(pattern, name)
}
