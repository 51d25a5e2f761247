//! Work trees in temporary directories: what git throws away there is nobody's.

use super::call::Call;
use super::options::Parsed;
use super::paths;
use super::{Invocation, Surveyor};
use crate::domain::{Ask, PathKind, Target};
use crate::shell::Arg;

words!("survey/scratch");

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
                        Target::Path { path, glob: false, .. } => {
                            self.is_scratch(path, true) || self.is_added(call, path)
                        }
                        Target::Path { .. }
                        | Target::UnknownPath { .. }
                        | Target::Url(_)
                        | Target::Command(_)
                        | Target::None => false,
                    })
            }
            ("filter-repo" | "filter-branch", cwd) => {
                let to = parsed.value(&["--target"]).map(|arg| paths::target(arg, cwd, false));
                let dir = match &to {
                    Some(Target::Path { path, glob: false, .. }) => Some(path.as_str()),
                    Some(_) => None,
                    None => cwd,
                };
                dir.is_some_and(|dir| {
                    self.is_scratch(dir, to.is_some() || call.arrived || parsed.has(&["-C"]))
                })
            }
            (
                "reset" | "checkout" | "switch" | "restore" | "clean" | "read-tree" | "checkout-index" | "rm",
                Some(cwd),
            ) => self.is_scratch(cwd, call.arrived || parsed.has(&["-C"])),
            ("gc" | "prune" | "reflog" | "update-ref" | "stash", Some(cwd)) => {
                self.is_scratch(cwd, call.arrived || parsed.has(&["-C"])) && self.has_own_repository(cwd)
            }
            _ => false,
        }
    }

    /// Notes what a command takes out of a repository that lies in a temporary directory as a whole. True: it is one.
    pub(super) fn is_lost_in_scratch(&mut self, call: &Call, parsed: &Parsed) -> bool {
        let second = parsed.sub.get(1).map(String::as_str).unwrap_or_default();
        let loses = matches!(
            (parsed.first_sub(), second),
            ("stash", "drop" | "clear") | ("reflog", "expire" | "delete") | ("prune", _)
        );
        if !loses || !self.throws_scratch(call, parsed) {
            return false;
        }
        if let Some(inv) = self.out.invocations.last_mut() {
            inv.scratch = true;
        }
        self.loss(call, Target::Command(format!("git {}", parsed.sub.join(" "))), true);
        true
    }

    /// Whether a work tree has its branches, stashes and objects to itself: the call itself began it there, or what lies there
    /// is a repository and not a linked work tree.
    fn has_own_repository(&mut self, dir: &str) -> bool {
        let sub = |inv: &Invocation| match inv.program.as_str() {
            "git" => inv.sub.first().cloned().unwrap_or_default(),
            _ => String::new(),
        };
        let all = &self.out.invocations;
        if all.iter().any(|inv| sub(inv) == "worktree") {
            return false;
        }
        let mut begun = all.iter().filter(|inv| matches!(sub(inv).as_str(), "init" | "clone"));
        let is_begun = begun.any(|inv| {
            let at = usize::from(sub(inv) == "clone");
            let named = inv.operands.get(at).map(|arg| paths::target(arg, inv.cwd.as_deref(), false));
            let here =
                named.as_ref().map_or(inv.cwd.as_deref().filter(|_| at == 0), |target| Some(target.text()));
            here == Some(dir) && inv.flags.iter().all(|flag| PLAIN_OPTIONS.contains(&flag.name.as_str()))
        });
        if is_begun {
            return true;
        }
        let (git, common) = (format!("{dir}/.git"), format!("{dir}/.git/commondir"));
        self.ask(Ask::Path(git.clone()));
        self.ask(Ask::Path(common.clone()));
        let kind = |path: &str| self.facts.path(path).map(|fact| fact.kind);
        kind(&git) == Some(PathKind::Directory) && kind(&common) == Some(PathKind::Missing)
    }

    /// Whether the call itself has written what is thrown away to a file before: `git diff > wip.patch && git checkout -- src`.
    pub(super) fn is_kept_as_patch(&self, parsed: &Parsed, paths: &[Arg]) -> bool {
        let index = match parsed.first_sub() {
            "checkout" if !parsed.has(&["-f", "--force"]) => false,
            "restore" if !parsed.has(&["--staged", "-S"]) => false,
            "checkout" | "restore" | "reset" => true,
            _ => return false,
        };
        self.out.invocations.iter().any(|inv| {
            let head = inv.operands.first().and_then(Arg::known) == Some("HEAD");
            let places = inv.operands.get(usize::from(head)..).unwrap_or_default();
            let whole = places.is_empty() || !paths.is_empty() && places == paths;
            inv.program == "git"
                && inv.sub.first().is_some_and(|sub| sub == "diff")
                && inv.flags.iter().all(|flag| matches!(flag.name.as_str(), "--binary" | "--no-color" | "-U"))
                && (head || !index)
                && whole
                && inv
                    .writes
                    .iter()
                    .any(|(target, _)| target.text().ends_with(".patch") || target.text().ends_with(".diff"))
        })
    }

    /// Whether the call itself has made this work tree before.
    fn is_added(&self, call: &Call, dir: &str) -> bool {
        self.out.invocations.iter().any(|inv| {
            inv.program == "git"
                && matches!(inv.sub.as_slice(), [tree, add] if tree == "worktree" && add == "add")
                // Forced, it may be one that was there.
                && !inv.args.iter().any(|arg| matches!(arg.known(), Some("-f" | "--force")))
                && inv.cwd == call.cwd
                && inv
                    .operands
                    .first()
                    .is_some_and(|arg| paths::target(arg, call.cwd.as_deref(), false).text() == dir)
        })
    }

    /// Whether the call itself has stashed all that is tracked before, and not taken it back: `git stash && git reset --hard`.
    pub(super) fn is_stashed(&self, call: &Call, parsed: &Parsed) -> bool {
        const PARTLY: &[&str] = &["-k", "--keep-index", "-S", "--staged", "-p", "--patch"];
        let latest = self.out.invocations.iter().rev().filter(|inv| inv.program == "git");
        let mut stashes = latest.filter(|inv| inv.sub.first().is_some_and(|sub| sub == "stash"));
        matches!(parsed.first_sub(), "reset" | "switch" | "checkout")
            && stashes.next().is_some_and(|inv| {
                matches!(inv.sub.get(1).map_or("push", String::as_str), "push" | "save")
                    && inv.cwd == call.cwd
                    && (inv.operands.is_empty() || inv.sub.get(1).is_some_and(|sub| sub == "save"))
                    && !inv.flags.iter().any(|flag| PARTLY.contains(&flag.name.as_str()))
            })
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
        let made = dir.ends_with(super::located::MADE) || self.made.iter().any(|made| made == dir);
        self.ask(Ask::Path(dir.to_owned()));
        self.facts
            .path(dir)
            .is_some_and(|fact| apart(&fact.real) && (or_fails || made || fact.kind == PathKind::Directory))
    }
}

/// References that the next fetch or the next command writes again.
pub(in crate::rules) fn is_noted_again(refs: &[Arg]) -> bool {
    refs.first().and_then(Arg::known).is_some_and(|name| {
        matches!(name, "ORIG_HEAD" | "FETCH_HEAD")
            || name.starts_with("refs/remotes/")
            || name.starts_with("refs/bisect/")
    })
}
