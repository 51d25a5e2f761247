//! The repository that git works on where that is not the project's own, which is watched: what its settings and hooks have run.

use super::Surveyor;
use super::call::Call;
use super::options::Parsed;
use super::paths;
use super::scope::Scope;
use super::setting::{ALIAS, configured_command};
use super::wrap::in_dir;
use crate::domain::{Ask, PathKind, Target, join, last_name, lies_in};
use crate::rules::facts::Role;
use crate::rules::git_settings;
use crate::shell::{Arg, Piece};

/// Most directories above one that are looked at for a repository.
const MAX_LEVELS: usize = 32;
/// Most settings files of git that are read for one command, those that others include among them.
const MAX_FILES: usize = 8;
words!("survey/repositories");

/// Subcommands that show differences: only these run what makes a text of a file.
const DIFFERENCES: &str = "diff log show blame annotate grep cat-file stash add commit whatchanged range-diff reflog difftool gui \
    diff-tree diff-index diff-files format-patch";
/// Settings by their beginning, and the subcommands that alone obey them.
const ONLY: &[(&str, &str)] = &[
    ("diff.", DIFFERENCES),
    ("interactive.", "add checkout reset restore stash commit"),
    ("difftool.", "difftool gui"),
    ("mergetool.", "mergetool gui"),
    ("guitool.", "gui"),
    ("man.", ""),
    ("browser.", "instaweb web--browse"),
    ("web.", "instaweb web--browse"),
    ("instaweb.", "instaweb"),
    ("sendemail.", "send-email"),
    ("imap.", "imap-send"),
    ("tar.", "archive"),
    ("submodule.", "submodule clone pull checkout switch"),
];

/// The setting that names the directory of the hooks.
const HOOKS_PATH: &str = "core.hookspath";
/// The hooks that anything may run which writes the index or a reference.
const ALWAYS: &str = "post-index-change reference-transaction";
/// The hooks of a repository that is pushed to.
const RECEIVING: &str =
    "pre-receive update post-receive post-update proc-receive push-to-checkout reference-transaction";

/// One that git works on.
pub(super) struct Repository {
    /// Its git directory.
    dir: String,
    /// What it shares with other work trees.
    common: String,
    /// Where its commands run.
    top: String,
}

impl Repository {
    /// Its settings files.
    pub fn settings(&self) -> [String; 2] {
        [join(&self.common, "config"), join(&self.dir, "config.worktree")]
    }
}

/// One setting, and the file that has it.
pub(super) struct Setting {
    pub file: String,
    pub key: String,
    pub value: String,
}

impl Surveyor<'_> {
    /// Surveys `git`; gives the call in the directory that it runs in.
    pub(super) fn git_command(&mut self, call: Call, scope: &mut Scope, parsed: &Parsed) -> Call {
        let start = call.cwd.clone();
        let call = in_dir(call, parsed);
        self.emit(&call, parsed.program.name, Some(parsed));
        let other = self.other_repository(&call, start, (parsed, scope));
        self.git(&call, parsed, other.as_ref());
        if parsed.first_sub() == "for-each-repo" {
            // Its words are a subcommand, and its options.
            let name = parsed.program.name;
            let words = std::iter::once(Arg::literal(name)).chain(parsed.operands.iter().cloned());
            self.run_inner(call.unfolded(name, words.collect()), scope, name);
        }
        self.option_commands(&call, parsed, parsed.program.name);
        if let Some(other) = other {
            self.repository(&call, parsed, &other, scope);
        }
        self.receiving(&call, parsed, scope);
        self.named_hooks(&call, parsed, scope);
        call
    }

    /// Surveys the hooks in a directory that the command itself names for them.
    fn named_hooks(&mut self, call: &Call, parsed: &Parsed, scope: &Scope) {
        let Some(top) = call.cwd.clone().filter(|_| !call.remote) else { return };
        let key = |text: &str| text.eq_ignore_ascii_case(HOOKS_PATH);
        let given = parsed.flags.iter().zip(&parsed.roles).filter_map(|(flag, role)| {
            let (name, value) =
                flag.value.as_ref().filter(|_| *role == Role::Setting)?.known()?.split_once('=')?;
            key(name).then(|| value.to_owned())
        });
        let dirs: Vec<String> = given.collect();
        let sub = parsed.first_sub();
        for dir in dirs.iter().filter_map(|dir| self.home_or(&top, dir)).collect::<Vec<_>>() {
            let run = HOOKS.iter().filter(|(subs, _)| subs.split_whitespace().any(|one| one == sub));
            for names in run.map(|(_, names)| *names).chain([ALWAYS]) {
                self.hooks(call, &dir, names, scope);
            }
        }
        // From now on whatever runs hooks runs these.
        if let ("config", [.., name, value]) = (sub, parsed.operands.as_slice())
            && name.known().is_some_and(key)
            && let Some(dir) = value.known().and_then(|dir| self.home_or(&top, dir))
        {
            for names in HOOKS.iter().map(|(_, names)| *names).chain([ALWAYS]) {
                self.hooks(call, &dir, names, scope);
            }
        }
    }

    /// Surveys what a program that asks git has it run where it is started.
    pub(super) fn asks_git(&mut self, call: &Call, scope: &Scope, parsed: &Parsed) {
        if let Some(other) = self.other_repository(call, call.cwd.clone(), (parsed, scope)) {
            self.repository(call, parsed, &other, scope);
        }
    }

    /// The repository that a git command uses which begins in `start`, where that is another than the one that is watched, or the
    /// call itself has written in it.
    fn other_repository(
        &mut self,
        call: &Call,
        start: Option<String>,
        (parsed, scope): (&Parsed, &Scope),
    ) -> Option<Repository> {
        let is_git = parsed.program.name == "git";
        if call.remote || call.container.is_some() || is_git && QUIET.contains(&parsed.first_sub()) {
            return None;
        }
        let places = &self.facts.places;
        let variable = || scope.env.get("GIT_DIR").flatten().map(Arg::literal);
        let named = parsed.value(&["--git-dir"]).cloned().or_else(variable);
        let base = if is_git { begun(start, parsed)? } else { start? };
        if named.is_none()
            && places.repo.as_ref() == Some(&base)
            && places.project == places.repo
            && !(self.writes() && self.writes_below(&join(&base, ".git")))
        {
            return None;
        }
        let found = match named {
            Some(dir) => match paths::target(&dir, Some(&base), false) {
                Target::Path { path, glob: false, .. } => self.led_to(path, base),
                _ => return None,
            },
            None => self.nearest(&base)?,
        };
        let project = self.facts.places.project.clone();
        let own = project.and_then(|project| self.nearest(&project)).is_some_and(|own| own.dir == found.dir);
        (!own || self.writes_below(&found.dir)).then_some(found)
    }

    /// Surveys what the settings and hooks of a repository have git run.
    fn repository(&mut self, call: &Call, parsed: &Parsed, other: &Repository, scope: &Scope) {
        // What its settings run may be git again; and the same command runs the same again.
        let open = other.dir.clone();
        let done = format!("{} {} {}", other.dir, parsed.first_sub(), self.files.len());
        if self.repositories.contains(&open) || self.repositories.contains(&done) {
            return;
        }
        self.repositories.extend([done, open]);
        self.obey_repository(call, parsed, other, scope);
        self.repositories.retain(|other_dir| *other_dir != other.dir);
    }

    fn obey_repository(&mut self, call: &Call, parsed: &Parsed, other: &Repository, scope: &Scope) {
        let mut call = call.clone();
        call.cwd = Some(other.top.clone());
        let is_git = parsed.program.name == "git";
        // The others show what git knows.
        let sub = if is_git { parsed.first_sub() } else { "diff" };
        let mut hooks = join(&other.common, "hooks");
        for setting in self.settings(other.settings().to_vec(), true) {
            if setting.key == HOOKS_PATH {
                hooks = self.home_or(&other.top, &setting.value).unwrap_or(hooks);
            }
            let obeyed = |(start, subs): &(&str, &str)| {
                !setting.key.starts_with(start) || subs.split_whitespace().any(|one| one == sub)
            };
            if setting.key.starts_with(ALIAS) || !ONLY.iter().all(obeyed) {
                continue;
            }
            let text = match setting.key.as_str() {
                "" => Some(Arg { pieces: vec![Piece::Unknown].into() }),
                key => configured_command(key, &setting.value).map(|command| Arg::literal(&command)),
            };
            let Some(text) = text else { continue };
            let begin = self.out.invocations.len();
            match setting.key.as_str() {
                "" => self.run(call.unfolded("git", vec![Arg::literal("eval"), text]), &mut scope.clone()),
                _ => self.nested(&call, "git", &text),
            }
            let from = if setting.key.is_empty() { "its settings" } else { &setting.key };
            self.name_source(begin, &format!("{from} in {}", setting.file));
        }
        let run = HOOKS.iter().filter(|(subs, _)| subs.split_whitespace().any(|one| one == sub));
        for names in run.map(|(_, names)| *names).chain([ALWAYS]) {
            self.hooks(&call, &hooks, names, scope);
        }
    }

    /// Surveys the hooks of a repository of this machine that is pushed to.
    fn receiving(&mut self, call: &Call, parsed: &Parsed, scope: &Scope) {
        let Some(to) = parsed.operands.first().filter(|_| parsed.first_sub() == "push" && !call.remote)
        else {
            return;
        };
        if !to.prefix().starts_with(['/', '.', '~']) {
            return;
        }
        let Target::Path { path, glob: false, .. } = paths::target(to, call.cwd.as_deref(), false) else {
            return;
        };
        for dir in [join(&path, ".git"), path.clone(), format!("{path}.git")] {
            let mut call = call.clone();
            call.cwd = Some(dir.clone());
            self.hooks(&call, &join(&dir, "hooks"), RECEIVING, scope);
        }
    }

    /// Surveys those of a directory's hooks that are there.
    fn hooks(&mut self, call: &Call, dir: &str, names: &str, scope: &Scope) {
        for name in names.split_whitespace() {
            let path = join(dir, name);
            let Some(text) = self.text_of(&path).filter(|_| !self.scripts.contains(&path)) else { continue };
            let begin = self.out.invocations.len();
            let words = [runner(&text), &path].map(Arg::literal).to_vec();
            self.run(call.unfolded("git", words), &mut scope.clone());
            self.name_source(begin, &format!("the hook {path}"));
        }
    }

    /// Says of the commands from `begin` on where they stand.
    fn name_source(&mut self, begin: usize, source: &str) {
        for inv in self.out.invocations.iter_mut().skip(begin) {
            inv.text.push_str(&format!(" ({source})"));
        }
    }

    /// The settings in these files and in those that they include. `certain`: of a file that cannot be read with certainty one without
    /// a key is given.
    pub(super) fn settings(&mut self, mut files: Vec<String>, certain: bool) -> Vec<Setting> {
        let mut found = Vec::new();
        let mut at = 0;
        while let Some(file) = files.get(at).cloned() {
            at += 1;
            let text = self.text_of(&file);
            let entries = match &text {
                Some(text) => git_settings::entries(text),
                None if certain && self.is_something(&file) => None,
                None => continue,
            };
            self.spend(text.map_or(0, |text| text.len()) / 64);
            let Some(entries) = entries else {
                if certain {
                    found.push(Setting { file, key: String::new(), value: String::new() });
                }
                continue;
            };
            for (key, value) in entries {
                if is_include(&key) && files.len() < MAX_FILES {
                    let beside = file.rsplit_once('/').map_or("/", |(dir, _)| dir);
                    files.extend(self.home_or(beside, &value).filter(|other| !files.contains(other)));
                }
                found.push(Setting { file: file.clone(), key, value });
            }
        }
        found
    }

    /// A path of a setting, which stands beside `beside` unless it says otherwise.
    fn home_or(&self, beside: &str, value: &str) -> Option<String> {
        match (value.strip_prefix("~/"), &self.facts.places.home) {
            (Some(rest), Some(home)) => Some(join(home, rest)),
            (Some(_), None) => None,
            (None, _) => Some(join(beside, value)),
        }
    }

    /// The repository that git finds from a directory.
    fn nearest(&mut self, dir: &str) -> Option<Repository> {
        let real = if self.facts.places.repo.as_deref() == Some(dir) { None } else { self.real(dir) };
        let dir = real.as_deref().unwrap_or(dir);
        let mut level = dir;
        for _ in 0..MAX_LEVELS {
            let inside = join(level, ".git");
            // Of the one around the working directory it is known.
            let known = self.facts.places.repo.as_deref() == Some(level);
            if known || self.is_repository(&inside) || self.text_of(&inside).is_some() {
                return Some(self.led_to(inside, level.to_owned()));
            }
            if self.is_repository(level) {
                return Some(self.led_to(level.to_owned(), level.to_owned()));
            }
            level = match level.rsplit_once('/')? {
                ("", "") => return None,
                ("", _) => "/",
                (above, _) => above,
            };
        }
        None
    }

    /// The repository of a git directory, or of a file that names one.
    fn led_to(&mut self, path: String, top: String) -> Repository {
        let led = self.text_of(&path).and_then(|text| text.strip_prefix("gitdir:").map(str::to_owned));
        let beside = path.rsplit_once('/').map_or("/", |(dir, _)| dir);
        let dir = led.map_or_else(|| path.clone(), |led| join(beside, led.trim()));
        let common = self.text_of(&join(&dir, "commondir"));
        let common = common.map_or_else(|| dir.clone(), |common| join(&dir, common.trim()));
        Repository { dir, common, top }
    }

    /// Whether git takes a directory for a repository; or the call itself wrote settings there.
    fn is_repository(&mut self, dir: &str) -> bool {
        let written = self.written(&join(dir, "config")).and_then(Arg::known);
        if written.and_then(git_settings::entries).is_some_and(|all| !all.is_empty()) {
            return true;
        }
        self.text_of(&join(dir, "HEAD")).is_some()
            && (self.text_of(&join(dir, "commondir")).is_some()
                || ["objects", "refs"].iter().all(|name| self.is_directory(&join(dir, name))))
    }

    /// The text of a file, as the call leaves it.
    fn text_of(&mut self, path: &str) -> Option<String> {
        if let Some(written) = self.written(path).and_then(Arg::known) {
            return Some(written.to_owned());
        }
        self.ask(Ask::Content(path.to_owned()));
        self.facts.content(path).flatten().map(str::to_owned)
    }

    fn is_directory(&mut self, path: &str) -> bool {
        self.ask(Ask::Path(path.to_owned()));
        self.facts.path(path).is_some_and(|fact| fact.kind == PathKind::Directory)
    }

    fn is_something(&mut self, path: &str) -> bool {
        self.ask(Ask::Path(path.to_owned()));
        self.facts.path(path).is_some_and(|fact| matches!(fact.kind, PathKind::File | PathKind::Other))
    }

    fn real(&mut self, path: &str) -> Option<String> {
        self.ask(Ask::Path(path.to_owned()));
        self.facts.path(path).map(|fact| fact.real.clone())
    }

    /// Whether the call itself has written any file.
    fn writes(&self) -> bool {
        !(self.files.is_empty() && self.links.is_empty())
    }

    /// Whether the call itself has written a file there.
    fn writes_below(&self, dir: &str) -> bool {
        let files = self.files.iter().map(|(path, _)| path);
        files.chain(self.links.iter().map(|(path, _)| path)).any(|path| lies_in(path, dir))
    }
}

/// Where git begins, after its options `-C`.
fn begun(start: Option<String>, parsed: &Parsed) -> Option<String> {
    let mut dir = start?;
    for (flag, role) in parsed.flags.iter().zip(&parsed.roles) {
        if *role == Role::Dir && flag.name == "-C" {
            dir = join(&dir, flag.value.as_ref()?.known()?);
        }
    }
    Some(dir)
}

/// The program that a script names in its first line; without one it is a shell's.
fn runner(text: &str) -> &str {
    let line = text.lines().next().and_then(|line| line.strip_prefix("#!")).unwrap_or_default();
    let names = line.split_whitespace().map(last_name);
    names.into_iter().find(|name| *name != "env" && !name.starts_with('-')).unwrap_or("sh")
}

/// `include.path`, `includeIf.….path`.
fn is_include(key: &str) -> bool {
    key == "include.path" || (key.starts_with("includeif.") && key.ends_with(".path"))
}
