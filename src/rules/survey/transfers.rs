//! Programs that take files from one place to another: what they read, what they make, and what they take away.

use super::Surveyor;
use super::call::Call;
use super::effects::Act;
use super::named::{STDIN, descriptor};
use super::operands::{is_into, is_remote, keeps_links};
use super::options::Parsed;
use super::paths;
use crate::domain::{PathKind, Target, join, last_name};
use crate::rules::facts::{Operands, Role};
use crate::shell::Arg;

impl Surveyor<'_> {
    /// Programs that take things from one place to another.
    pub(super) fn transfer(&mut self, call: &Call, parsed: &Parsed) {
        let role = parsed.role();
        let operands = parsed.operands.as_slice();
        let has_dest =
            parsed.roles.contains(&Role::Dest) || parsed.has(&["-d"]) && parsed.program.name == "install";
        let (sources, dest) = match operands.split_last() {
            Some((last, sources)) if !has_dest && (!sources.is_empty() || role == Operands::Remote) => {
                (sources, Some(last))
            }
            _ => (operands, None),
        };
        if parsed.program.name == "rsync" && parsed.has(&["-n", "--dry-run"]) {
            for arg in operands.iter().filter(|arg| !is_remote(arg)) {
                self.file(call, Act::Read, arg, false);
            }
            return;
        }
        match role {
            Operands::Move => {
                let lost = dest.and_then(Arg::known) == Some("/dev/null");
                for source in sources {
                    let target = paths::target(source, call.cwd.as_deref(), true);
                    let vital = match &target {
                        Target::Path { path, glob, .. } => {
                            paths::is_vital(path, *glob, true, &self.facts.places)
                        }
                        Target::UnknownPath { .. } | Target::Url(_) | Target::Command(_) | Target::None => {
                            false
                        }
                    };
                    self.file(call, if vital || lost { Act::Delete } else { Act::Modify }, source, vital);
                }
            }
            Operands::Link => self.link(call, sources, dest),
            Operands::Remote => {
                for source in sources.iter().filter(|arg| !is_remote(arg)) {
                    self.file(call, Act::Read, source, false);
                }
                if let (Some(dest), true) = (
                    dest,
                    parsed.has(&["--delete", "--delete-before", "--delete-after", "--delete-excluded"]),
                ) && !is_remote(dest)
                {
                    self.file(call, Act::Delete, dest, true);
                }
            }
            Operands::Copy => self.each(call, Act::Read, sources, parsed.recursive()),
            _ => {}
        }
        self.copy(call, sources, dest);
        if let Some(dest) =
            dest.filter(|dest| role != Operands::Link && (!is_remote(dest) || role != Operands::Remote))
        {
            self.file(call, Act::Create, dest, false);
            self.land_in(call, dest, sources);
            self.lay_over(call, parsed, sources, dest);
        } else if let (Operands::Link, Some(dest)) = (role, dest) {
            self.lay_over(call, parsed, sources, dest);
        }
        for (flag, role) in parsed.flags.iter().zip(&parsed.roles) {
            if let (Role::Dest, Some(dest)) = (role, &flag.value) {
                self.land_in(call, dest, sources);
                self.lay_over(call, parsed, sources, dest);
            }
        }
    }

    /// What is taken into a directory lies there under its own name.
    pub(super) fn land_in(&mut self, call: &Call, dest: &Arg, sources: &[Arg]) {
        /// Most names that are looked at one by one.
        const NAMES: usize = 32;
        // Of a directory that is not known the end says what it may be.
        let (dir, front) = match paths::target(dest, call.cwd.as_deref(), false) {
            Target::Path { path, glob: false, .. } => (path, None),
            Target::UnknownPath { known, tail, .. } if !tail.is_empty() => (tail.into_string(), Some(known)),
            Target::Path { .. }
            | Target::UnknownPath { .. }
            | Target::Url(_)
            | Target::Command(_)
            | Target::None => return,
        };
        let is_directory = || self.facts.path(&dir).is_some_and(|fact| fact.kind == PathKind::Directory);
        if front.is_none() && !dest.text().ends_with('/') && sources.len() < 2 && !is_directory() {
            return;
        }
        for source in sources.iter().take(NAMES) {
            let text = source.text();
            let name = text.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or_default();
            // Of a tree's content the names are not known; the directory itself stands for it.
            if !name.is_empty() && name != "." && name != ".." && !source.has_unknown() && !source.has_glob()
            {
                let path = join(&dir, name);
                let target = match &front {
                    None => Target::Path { path, glob: false, recursive: false },
                    Some(known) => {
                        Target::UnknownPath { known: known.clone(), tail: path.into(), recursive: false }
                    }
                };
                self.act(call, Act::Create, target);
            }
        }
    }

    /// Remembers that a file is the same as another.
    pub(super) fn copy(&mut self, call: &Call, sources: &[Arg], dest: Option<&Arg>) {
        let ([source], Some(dest)) = (sources, dest) else { return };
        let of = |arg| match paths::target(arg, call.cwd.as_deref(), false) {
            Target::Path { path, glob: false, .. } => Some(path),
            Target::Path { .. }
            | Target::UnknownPath { .. }
            | Target::Url(_)
            | Target::Command(_)
            | Target::None => None,
        };
        if let (Some(source), Some(dest), true) = (of(source), of(dest), self.copies.len() < 64) {
            let input = call.input.as_ref().filter(|_| source == STDIN);
            if let Some(text) = input.or_else(|| self.written(&source)).cloned() {
                self.files.push((dest.clone(), text));
            }
            if descriptor(&source).is_some() && keeps_links(call) {
                self.links.push((dest, source));
            } else {
                self.copies.push((dest, source));
            }
        }
    }

    fn link(&mut self, call: &Call, sources: &[Arg], dest: Option<&Arg>) {
        let option = call.args().iter().position(is_into);
        let dest = dest.or_else(|| option.and_then(|at| call.args().get(at + 1)));
        for source in sources {
            let to = paths::target(source, call.cwd.as_deref(), false);
            let name = source.known().map(|text| last_name(text.trim_end_matches('/')).to_owned());
            let at = match (dest, name) {
                // With `-t`, or where the call made that directory, the link lies in it.
                (Some(dest), Some(name)) if self.takes_links(call, dest) => {
                    let mut inside = dest.clone();
                    super::output::append(&mut inside, &Arg::literal(&format!("/{name}")));
                    paths::target(&inside, call.cwd.as_deref(), false)
                }
                (Some(dest), _) => paths::target(dest, call.cwd.as_deref(), false),
                (None, Some(name)) => paths::target(&Arg::literal(&name), call.cwd.as_deref(), false),
                (None, None) => continue,
            };
            self.act(call, Act::Create, at.clone());
            if let (Target::Path { path: at, glob: false, .. }, Target::Path { path: to, .. }) = (&at, &to)
                && self.links.len() < 64
            {
                self.links.push((at.clone(), to.clone()));
            }
        }
    }

    /// Whether links are made in `dest`, and not as it.
    fn takes_links(&self, call: &Call, dest: &Arg) -> bool {
        let by_option = |arg: &Arg| {
            is_into(arg) || arg.prefix().starts_with("-t") || arg.prefix().starts_with("--target-d")
        };
        let dir = || paths::target(dest, call.cwd.as_deref(), false);
        call.args().iter().any(by_option) || self.made.iter().any(|made| dir().text() == made)
    }

    /// Where what comes out of an archive lies once its names are changed: `--transform 's,^,../x/,'`.
    pub(super) fn renamed(&mut self, call: &Call, parsed: &Parsed, dir: Option<&Arg>) {
        for text in
            [&["--transform", "--xform"][..], &["-s"][..]].iter().filter_map(|names| parsed.value(names))
        {
            let text = text.to_text();
            let Some(rest) = text.trim_start_matches("flags=").split_once('s').map(|(_, rest)| rest) else {
                continue;
            };
            let Some(end) = rest.chars().next().filter(|c| !c.is_alphanumeric()) else { continue };
            let Some((to, _)) = rest.split(end).nth(2).and_then(|to| to.rsplit_once('/')) else { continue };
            if to.starts_with(['/', '~']) || to.contains("..") {
                let front = dir.filter(|_| !to.starts_with(['/', '~']));
                let mut place = front.cloned().unwrap_or_else(|| Arg::literal(""));
                let between = if front.is_some() { "/" } else { "" };
                super::output::append(&mut place, &Arg::literal(&format!("{between}{to}")));
                self.checked_out_to(call, Some(&place));
            }
        }
    }
}
