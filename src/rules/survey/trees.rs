//! Trees that are laid over others: copied, moved, unpacked. Which protected places that falls on.

use super::Surveyor;
use super::call::Call;
use super::effects::Act;
use super::options::Parsed;
use super::paths;
use crate::domain::{Ask, EffectKind, PathKind, Target, join};
use crate::rules::builtin::lists::{LOGIN_KEYS, SHELL_STARTUP};
use crate::rules::builtin::machine::{COMMANDS, FIRST};
use crate::rules::facts::MAKEFILES;
use crate::rules::matcher::{At, may_be};
use crate::shell::{Arg, Piece};

/// Most sources that are looked at one by one.
const SOURCES: usize = 32;

/// Files among login keys that say how to log in elsewhere: they are meant only where one is seen to come along.
const SEEN: &[&str] = &["config"];

/// What is laid over something else.
#[derive(Clone, Copy)]
struct Tree<'t> {
    /// Where it is now; nothing when that is not known or not on this machine.
    from: Option<&'t str>,
    /// Which names of its first level come along.
    names: Option<&'t str>,
    /// Only files come along.
    flat: bool,
}

impl Surveyor<'_> {
    /// Notes what taking `sources` to `dest` does to the protected places there.
    pub(super) fn lay_over(&mut self, call: &Call, parsed: &Parsed, sources: &[Arg], dest: &Arg) {
        let program = parsed.program.name;
        let Some(onto) = self.landing(call, dest).filter(|onto| onto != "/dev/null") else { return };
        if parsed.has(&["--parents"]) || (program == "rsync" && parsed.has(&["-R", "--relative"])) {
            self.unpack(call, Some(dest), sources, 0);
        }
        // A directory is left out; files of a pattern, or of no known name, come along.
        let flat = matches!(program, "cp" | "gcp" | "scp" | "install" | "link" | "ln") && !parsed.recursive();
        let whole = parsed.has(&["-T", "--no-target-directory"]) || program == "ditto";
        let into = self.facts.path(&onto).is_some_and(|fact| fact.kind == PathKind::Directory)
            || dest.text().ends_with('/')
            || sources.len() > 1
            || parsed.has(&["-t", "--target-directory"]);
        for source in sources.iter().take(SOURCES) {
            let text = source.text();
            let content = whole
                || text == "."
                || text.ends_with("/.")
                || program == "rclone"
                || (program == "rsync" && text.ends_with('/'));
            let mut from = None;
            if let Target::Path { path, .. } = paths::target(source, call.cwd.as_deref(), false)
                && !(super::operands::is_remote(source) || call.remote)
            {
                from = Some(path);
            }
            let name = last_name(source);
            match (content, from, name) {
                (true, ..) if flat => {}
                (true, from, _) => {
                    let tree = Tree { from: from.as_deref(), names: None, flat: false };
                    self.lay(call, tree, &onto);
                    self.land(call, tree, &onto);
                }
                (false, from, Some(names)) if names.contains(['*', '?', '[']) => {
                    let dir = from.as_deref().map(|from| from.rsplit_once('/').map_or("/", |(dir, _)| dir));
                    // What a search finds, hidden or not.
                    let names = (names != "**").then_some(names.as_str());
                    let tree = Tree { from: dir, names, flat };
                    self.lay(call, tree, &onto);
                    self.land(call, tree, &onto);
                }
                (false, _, Some(_)) if flat => {}
                (false, from, Some(name)) => {
                    let from = from.filter(|_| !source.has_glob());
                    let there = if into { join(&onto, &name) } else { onto.clone() };
                    self.lay(call, Tree { from: from.as_deref(), names: None, flat: false }, &there);
                }
                // Under a name that is not known it lies in the directory.
                (false, _, None) => self.land(call, Tree { from: None, names: None, flat: false }, &onto),
            }
        }
    }

    /// The directory or file that a destination is: behind the links that the call itself makes, and of those that a pattern may stand
    /// for one that matters.
    fn landing(&self, call: &Call, dest: &Arg) -> Option<String> {
        let Target::Path { path, glob, .. } = paths::target(dest, call.cwd.as_deref(), false) else {
            return None;
        };
        if !glob {
            // A link that is made just now leads to what is linked.
            let made = call.words.first().and_then(Arg::known) == Some("ln");
            let leads = self.links.iter().rev().find(|(link, _)| *link == path && !made);
            return Some(leads.map_or(path, |(_, to)| to.clone()));
        }
        let pattern: Vec<&str> = path.trim_end_matches('/').split('/').collect();
        let home = self.facts.places.home.as_deref().unwrap_or("/root");
        let keys = join(home, ".ssh");
        let above =
            self.facts.places.protected.iter().filter_map(|place| Some(place.path.rsplit_once('/')?.0));
        let fits = |dir: &&str| {
            let names: Vec<&str> = dir.split('/').collect();
            names.len() == pattern.len()
                && names.iter().zip(&pattern).all(|(name, part)| name == part || may_be(part, name))
        };
        std::iter::once(keys.as_str()).chain(above).find(fits).map(str::to_owned)
    }

    /// Notes which of the files that run or let somebody in come among those that are put into a directory.
    fn land(&mut self, call: &Call, tree: Tree<'_>, onto: &str) {
        let inner = self.is_inner(onto);
        if tree.from.is_none() && !inner {
            return;
        }
        for name in self.telling_names(onto) {
            // A program among many is one only where it is seen.
            let program = COMMANDS.contains(&name) || SEEN.contains(&name);
            let strict = inner && !program && self.may_come(tree);
            let falls = tree.names.is_none_or(|names| may_be(names, name))
                && tree.from.map_or(!program, |from| self.holds(from, name, name, strict));
            if falls {
                self.act(
                    call,
                    Act::Create,
                    Target::Path { path: join(onto, name), glob: false, recursive: false },
                );
            }
        }
    }

    /// The names in a directory by which a file is run, or lets somebody in.
    fn telling_names(&self, dir: &str) -> Vec<&'static str> {
        let first = |place: &At| match (place, self.facts.places.home.as_deref()) {
            (At::Home(path), Some(home)) => {
                dir.strip_prefix(home).is_some_and(|rest| rest.trim_start_matches('/') == *path)
            }
            (At::Abs(path), _) => dir == *path,
            _ => false,
        };
        let keys = match dir.ends_with("/.ssh") {
            true => LOGIN_KEYS,
            false if FIRST.iter().any(first) => COMMANDS,
            false => &[],
        };
        let home = self.facts.places.home.as_deref();
        let inside =
            home.and_then(|home| dir.strip_prefix(home)).map(|inside| inside.trim_start_matches('/'));
        let startup = SHELL_STARTUP.iter().filter_map(|at| match (at, inside) {
            (At::Home(path), Some("")) => Some(*path),
            (At::Home(path), Some(inside)) => path.strip_prefix(inside)?.strip_prefix('/'),
            _ => None,
        });
        let seen = SEEN.iter().copied().filter(|_| dir.ends_with("/.ssh"));
        keys.iter().copied().chain(seen).chain(startup.filter(|name| !name.contains('/'))).collect()
    }

    /// The same of files of which no name is known: what an archive, a patch or a computed name holds.
    pub(super) fn land_unknown(&mut self, call: &Call, dir: Option<&Arg>) {
        let here = Arg::literal(".");
        if let Target::Path { path, glob: false, .. } =
            paths::target(dir.unwrap_or(&here), call.cwd.as_deref(), false)
        {
            self.land(call, Tree { from: None, names: None, flat: false }, &path);
        }
    }

    /// Notes what git puts into another directory.
    pub(super) fn checked_out_to(&mut self, call: &Call, prefix: Option<&Arg>) {
        if let Some(prefix) = prefix {
            self.file(call, Act::Create, prefix, false);
            self.lay_unknown(call, prefix);
            self.land_unknown(call, Some(prefix));
        }
    }

    /// Notes what a program that unpacks may put into its directory.
    pub(super) fn unpacked(&mut self, call: &Call, parsed: &Parsed) {
        let installs = |arg: &Arg| arg.prefix().starts_with("install");
        if matches!(parsed.program.name, "make" | "gmake") && call.args().iter().any(installs) {
            for name in MAKEFILES {
                self.ask_content(call, &Arg::literal(name));
            }
        }
        let first = parsed.operands.first().and_then(Arg::known).unwrap_or(parsed.first_sub());
        let dir = match parsed.program.name {
            "unzip" if parsed.operands.len() < 2 && !parsed.has(&["-l", "-p", "-t", "-Z"]) => {
                parsed.value(&["-d"])
            }
            "7z" | "7za" | "7zz" if matches!(first, "x" | "e") => parsed.value(&["-o"]),
            "cpio" if parsed.has(&["-i", "-p"]) => parsed.value(&["-D", "--directory"]),
            "jar" if parsed.has(&["-x"]) || first.starts_with('x') => parsed.value(&["-C", "--dir"]),
            "unar" => parsed.value(&["-o"]),
            "cabextract" if !parsed.has(&["-l", "-t"]) => parsed.value(&["-d", "--directory"]),
            "unrar" | "rar" if matches!(first, "x" | "e") => {
                parsed.operands.last().filter(|dir| dir.prefix().ends_with('/'))
            }
            // The package, and where it goes.
            "dpkg" | "dpkg-deb" if parsed.has(&["-x", "-X", "--extract", "--vextract", "-R"]) => {
                parsed.operands.get(1)
            }
            "patch" if !parsed.has(&["--dry-run"]) => None,
            _ => return,
        };
        self.land_unknown(call, dir);
        if let Some(dir) = dir {
            self.lay_unknown(call, dir);
            self.file(call, Act::Create, dir, false);
        }
    }

    /// Notes what members that are taken out of an archive by name fall on.
    pub(super) fn unpack(&mut self, call: &Call, dir: Option<&Arg>, members: &[Arg], strip: usize) {
        let here = Arg::literal(".");
        let Target::Path { path: dir, glob: false, .. } =
            paths::target(dir.unwrap_or(&here), call.cwd.as_deref(), false)
        else {
            return;
        };
        for member in members.iter().take(SOURCES) {
            let text = member.text();
            let parts = text.split('/').filter(|part| !matches!(*part, "" | "."));
            let rest: Vec<&str> = parts.skip(strip).collect();
            let path = join(&dir, &rest.join("/"));
            if path == dir {
                continue;
            }
            // Members may be patterns of the archiver's own, quoted for it.
            let glob = text.contains(['*', '?', '[']);
            if !glob {
                self.lay(call, Tree { from: None, names: None, flat: false }, &path);
            }
            self.act(call, Act::Create, Target::Path { path, glob, recursive: false });
        }
    }

    /// Notes what a new tree of unknown content falls on.
    pub(super) fn lay_unknown(&mut self, call: &Call, dest: &Arg) {
        if let Target::Path { path, glob: false, .. } = paths::target(dest, call.cwd.as_deref(), false) {
            self.lay(call, Tree { from: None, names: None, flat: false }, &path);
        }
    }

    fn lay(&mut self, call: &Call, tree: Tree<'_>, onto: &str) {
        let facts = self.facts;
        let inner = self.is_inner(onto);
        for place in &facts.places.protected {
            let Some(rest) = rest_below(&place.path, onto) else { continue };
            let first = rest.split('/').next().unwrap_or(rest);
            if tree.names.is_some_and(|names| !may_be(names, first)) {
                continue;
            }
            let falls = match tree.from {
                None => inner,
                Some(from) => self.holds(from, first, rest, inner && self.may_come(tree)),
            };
            if falls {
                let path = place.path.clone();
                self.act(call, Act::Modify, Target::Path { path, glob: false, recursive: false });
            }
        }
    }

    /// Whether a tree that is not there yet may be before it is taken: the files of a pattern come from what the call fetches, if from
    /// anywhere.
    fn may_come(&self, tree: Tree<'_>) -> bool {
        !tree.flat || self.out.effects.iter().any(|effect| effect.kind == EffectKind::NetworkRequest)
    }

    /// Whether a tree has `rest` in it. `strict`: one that is not there yet is taken to.
    fn holds(&mut self, from: &str, first: &str, rest: &str, strict: bool) -> bool {
        let whole = join(from, rest);
        let made = |path: &String| paths::is_or_has_name_below(path, &whole);
        if self.files.iter().any(|(path, _)| made(path)) || self.copies.iter().any(|(path, _)| made(path)) {
            return true;
        }
        if strict && self.kind_of(from) == Some(PathKind::Missing) {
            return true;
        }
        let top = join(from, first);
        match self.kind_of(&top) {
            Some(PathKind::Missing) => false,
            Some(_) if top == whole => true,
            Some(_) => match self.kind_of(&whole) {
                Some(kind) => kind != PathKind::Missing,
                None => self.is_out_of_questions(),
            },
            None => self.is_out_of_questions(),
        }
    }

    fn kind_of(&mut self, path: &str) -> Option<PathKind> {
        self.ask(Ask::Path(path.to_owned()));
        self.facts.path(path).map(|fact| fact.kind)
    }

    /// Deeper than the home directory and what is worked on: nothing but a client's or our own things is there.
    fn is_inner(&self, path: &str) -> bool {
        let places = &self.facts.places;
        let broad = |dir: &String| paths::is_or_has_name_below(dir, path);
        !(places.home.as_ref().is_some_and(broad)
            || places.repo.as_ref().is_some_and(broad)
            || places.project.as_ref().is_some_and(broad))
    }
}

/// The last name of a source, also where what comes in front of it is not known.
fn last_name(source: &Arg) -> Option<String> {
    let (text, whole) = match source.pieces.last()? {
        Piece::Known(text) if source.has_unknown() => (text.clone(), false),
        Piece::Unknown => return None,
        Piece::Known(_) | Piece::Glob(_) => (source.to_text(), true),
    };
    let text = text.trim_end_matches('/');
    match text.rsplit_once(['/', ':']) {
        Some((_, name)) => (!name.is_empty()).then(|| name.to_owned()),
        None => (whole && !text.is_empty() && text != "..").then(|| text.to_owned()),
    }
}

/// What of `place` is left below `dir`, without regard to ASCII case.
fn rest_below<'p>(place: &'p str, dir: &str) -> Option<&'p str> {
    let dir = dir.trim_end_matches('/');
    let (start, rest) = place.split_at_checked(dir.len())?;
    if !start.eq_ignore_ascii_case(dir) {
        return None;
    }
    if rest.is_empty() { Some("") } else { rest.strip_prefix('/') }
}
