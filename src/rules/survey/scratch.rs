//! Work trees in temporary directories: what git throws away there is nobody's.

use super::Surveyor;
use super::call::Call;
use super::options::Parsed;
use super::paths;
use crate::domain::{Ask, PathKind, Target};

impl Surveyor<'_> {
    /// Whether what a command throws away is a work tree in a temporary directory: what branches and stashes hold may be the
    /// project's, of which it is a linked work tree.
    pub(super) fn throws_scratch(&mut self, call: &Call, parsed: &Parsed) -> bool {
        const ELSEWHERE: &[&str] = &["--git-dir", "--work-tree", "-c", "--config-env"];
        if call.remote || call.container.is_some() || parsed.has(ELSEWHERE) {
            return false;
        }
        match (parsed.first_sub(), call.cwd.as_deref()) {
            ("worktree", cwd) => {
                let dirs = parsed.operands.iter().filter(|arg| arg.known() != Some("remove"));
                let dirs: Vec<Target> = dirs.map(|arg| paths::target(arg, cwd, false)).collect();
                !dirs.is_empty()
                    && dirs.iter().all(|dir| match dir {
                        Target::Path { path, glob: false, .. } => self.is_scratch(path, true),
                        Target::Path { .. }
                        | Target::UnknownPath { .. }
                        | Target::Url(_)
                        | Target::Command(_)
                        | Target::None => false,
                    })
            }
            (
                "reset" | "checkout" | "switch" | "restore" | "clean" | "read-tree" | "checkout-index" | "rm",
                Some(cwd),
            ) => self.is_scratch(cwd, parsed.has(&["-C"])),
            _ => false,
        }
    }

    /// Whether a directory lies in a temporary one and has nothing to do with the project; `or_fails`: the
    /// command does nothing where it is not there.
    fn is_scratch(&mut self, dir: &str, or_fails: bool) -> bool {
        let places = &self.facts.places;
        let apart = |path: &str| {
            !path.contains(['*', '?', '['])
                && paths::in_project(path, places).is_none()
                && !paths::is_vital(path, false, true, places)
                && paths::is_disposable(path, false, places)
                && places.temp.iter().any(|temp| paths::below(path, temp))
        };
        if !apart(dir) || self.links.iter().any(|(link, _)| paths::is_or_has_name_below(dir, link)) {
            return false;
        }
        let made = dir.ends_with(super::output::MADE) || self.made.iter().any(|made| made == dir);
        self.ask(Ask::Path(dir.to_owned()));
        self.facts
            .path(dir)
            .is_some_and(|fact| apart(&fact.real) && (or_fails || made || fact.kind == PathKind::Directory))
    }
}
