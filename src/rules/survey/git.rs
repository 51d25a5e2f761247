//! What git commands lose, and the commands that git runs.

use super::Surveyor;
use super::call::Call;
use super::effects::Act;
use super::options::Parsed;
use super::repositories::Repository;
use super::scratch::is_noted_again;
use super::setting::setting_command;
use super::{Flag, Stdin, paths};
use crate::domain::{Ask, EffectKind, PathFact, PathKind, Severity, Target, join};
use crate::rules::facts::Operation;
use crate::shell::{Arg, Piece};

/// Where a repository has what its branch was before, and its settings.
pub(in crate::rules) const REFLOG: &str = ".git/logs/HEAD";
pub(in crate::rules) const CONFIG: &str = ".git/config";
/// Most files of a patch that are looked at.
const MAX_PATCHED: usize = 64;

impl Surveyor<'_> {
    /// Notes the effects of a git command.
    pub(super) fn git(&mut self, call: &Call, parsed: &Parsed, other: Option<&Repository>) {
        if self.git_alias(call, parsed, other)
            || self.git_discards(call, parsed)
            || self.is_lost_in_scratch(call, parsed)
        {
            return;
        }
        let looks = match parsed.first_sub() {
            "branch" => {
                parsed.operands.is_empty()
                    || parsed.has(&["--list", "-l", "-a", "-r", "--contains", "--merged", "--show-current"])
            }
            "tag" => {
                (parsed.operands.is_empty() && parsed.flags.is_empty())
                    || parsed.has(&["-l", "--list", "-n", "--contains"])
            }
            "stash" => false,
            "config" => {
                let writes = parsed.operands.len() > 1
                    && !parsed.has(&["--get", "--get-all", "--get-regexp", "-l", "--list", "--get-urlmatch"])
                    && !matches!(parsed.operands.first().and_then(Arg::known), Some("get" | "list"));
                let writes = writes
                    || parsed.has(&["--add", "--unset", "--unset-all", "--replace-all", "--edit", "-e"]);
                if writes {
                    self.effect(
                        call,
                        EffectKind::FileModification,
                        Target::Command("git config".to_owned()),
                        Severity::Medium,
                    );
                    if let Some(file) = parsed.value(&["-f", "--file"]) {
                        self.file(call, Act::Create, file, false);
                    }
                    self.config(call, parsed);
                }
                true
            }
            "" => true,
            _ => {
                parsed.has(&["--dry-run"])
                    || (matches!(parsed.first_sub(), "clean" | "rm" | "add") && parsed.has(&["-n"]))
            }
        };
        if looks {
            self.operation(call, parsed, Operation::Look);
            return;
        }
        self.operations(call, parsed);
        self.git_files(call, parsed);
    }

    /// What else a subcommand reads, writes or asks for.
    fn git_files(&mut self, call: &Call, parsed: &Parsed) {
        match parsed.first_sub() {
            "push" => {
                self.pushed_branch(parsed);
                // Which addresses its remotes have.
                let by_address = parsed.operands.first().is_some_and(|to| to.prefix().contains(':'));
                if let Some(repo) = self.facts.places.repo.clone().filter(|_| by_address) {
                    self.ask(Ask::Content(join(&repo, CONFIG)));
                }
            }
            "rebase" if parsed.has(&["--root"]) => self.ask_reflogs(),
            "clone" => {
                if let Some(url) = parsed.operands.first() {
                    self.effect(
                        call,
                        EffectKind::NetworkRequest,
                        Target::Url(url.to_text()),
                        Severity::Medium,
                    );
                }
                self.checked_out_to(call, parsed.operands.get(1));
                self.checked_out_to(call, parsed.value(&["--separate-git-dir"]));
            }
            "init" => self.checked_out_to(call, parsed.value(&["--separate-git-dir"])),
            "submodule" | "worktree" if parsed.sub.get(1).is_some_and(|second| second == "add") => {
                for arg in &parsed.operands {
                    self.checked_out_to(call, Some(arg));
                }
            }
            "bundle" => {
                if let [what, file, ..] = parsed.operands.as_slice()
                    && what.known() == Some("create")
                {
                    self.file(call, Act::Create, file, false);
                }
            }
            "mv" => {
                for arg in &parsed.operands {
                    self.file(call, Act::Modify, arg, false);
                }
            }
            "checkout-index" => {
                let prefix = parsed.value(&["--prefix"]);
                self.checked_out_to(call, prefix);
                // It stands right in front of each name.
                for name in parsed.operands.iter().filter(|_| prefix.is_some()) {
                    let mut path = prefix.cloned().unwrap_or_default();
                    super::output::append(&mut path, name);
                    self.file(call, Act::Create, &path, false);
                }
            }
            "apply" | "am" => self.patch(call, parsed),
            "rm" if !parsed.has(&["--cached"]) => {
                for arg in &parsed.operands {
                    self.file(call, Act::Modify, arg, parsed.has(&["-r"]));
                }
            }
            _ => {}
        }
    }

    /// Whether git keeps what a branch was.
    fn ask_reflogs(&mut self) {
        let places = &self.facts.places;
        let home = places.home.as_ref().map(|home| join(home, ".gitconfig"));
        let Some(repo) = places.repo.clone() else { return };
        self.ask(Ask::Path(join(&repo, REFLOG)));
        let files = home.into_iter().chain([join(&repo, CONFIG)]);
        files.for_each(|file| self.ask(Ask::Content(file)));
    }

    /// The files that a patch changes, where it can be read.
    fn patch(&mut self, call: &Call, parsed: &Parsed) {
        let mut texts: Vec<String> = call.input.iter().map(Arg::to_text).collect();
        for arg in &parsed.operands {
            self.file(call, Act::Read, arg, false);
            if let (Target::Path { path, glob: false, .. }, false) =
                (paths::target(arg, call.cwd.as_deref(), false), call.remote)
            {
                self.ask(Ask::Content(path.clone()));
                let text = self.facts.content(&path).flatten().map(str::to_owned);
                texts.extend(self.written(&path).map(Arg::to_text).or(text));
            }
        }
        if parsed.has(&["--check", "--stat", "--numstat", "--summary"]) {
            return;
        }
        let places = &self.facts.places;
        let top = if parsed.first_sub() == "am" { places.repo.as_ref() } else { call.cwd.as_ref() };
        let base = parsed.value(&["--directory"]).map_or_else(String::new, Arg::to_text);
        let Some(base) = top.map(|top| join(top, &base)) else { return };
        let strip = parsed.value(&["-p"]).and_then(Arg::known).and_then(|strip| strip.parse().ok());
        if texts.is_empty() {
            self.checked_out_to(call, parsed.value(&["--directory"]));
        }
        for text in texts {
            self.spend(text.len() / 64);
            for path in patched(&text, strip.unwrap_or(1)) {
                let target = Target::Path { path: join(&base, path), glob: false, recursive: false };
                self.act(call, Act::Modify, target);
            }
        }
    }

    /// Whether nothing is lost with a deletion: git holds what is in the file and the call has not changed it before, or only an
    /// empty directory would go.
    pub(super) fn saved(&mut self, call: &Call, path: &str, fact: Option<&PathFact>) -> bool {
        if is_called(call, "rmdir") {
            return true;
        }
        let is_file = fact.is_some_and(|fact| fact.kind == PathKind::File && !fact.link);
        if !is_file
            || call.remote
            || self.touched(path)
            || paths::in_project(path, &self.facts.places).is_none()
        {
            return false;
        }
        self.ask(Ask::Saved(path.to_owned()));
        self.facts.saved(path) == Some(true)
    }

    /// Whether the call itself has written a file before.
    fn touched(&self, path: &str) -> bool {
        self.changes
            && self.out.effects.iter().any(|effect| {
                matches!(effect.kind, EffectKind::FileCreation | EffectKind::FileModification)
                    && matches!(&effect.target, Target::Path { path: other, .. } if other == path)
            })
    }

    /// Whether something is there, so that the word is no branch.
    fn is_there(&mut self, call: &Call, arg: &Arg) -> bool {
        match paths::target(arg, call.cwd.as_deref(), false) {
            // Names of commits that no file has.
            Target::Path { .. } if arg.prefix() == "HEAD" || arg.prefix().contains(['~', '^', ':', '@']) => {
                false
            }
            Target::Path { path, glob: false, .. } if !call.remote => {
                self.ask(Ask::Path(path.clone()));
                self.facts.path(&path).is_some_and(|fact| fact.kind != PathKind::Missing)
            }
            Target::Path { glob, .. } => glob,
            Target::UnknownPath { .. } | Target::Url(_) | Target::Command(_) | Target::None => false,
        }
    }

    /// `git clean -x` takes a client's settings that git ignores with it.
    fn clean_protected(&mut self, call: &Call) {
        let facts = self.facts;
        let Some(cwd) = &call.cwd else { return };
        for place in facts.places.protected.iter().filter(|place| paths::below(&place.path, cwd)) {
            self.ask(Ask::Path(place.path.clone()));
            if facts.path(&place.path).is_some_and(|fact| fact.kind != PathKind::Missing && fact.ignored) {
                let target = Target::Path { path: place.path.clone(), glob: false, recursive: false };
                self.act(call, Act::Delete, target);
            }
        }
    }

    /// What is in a file says what is done with it.
    pub(super) fn ask_content(&mut self, call: &Call, arg: &Arg) {
        if let (false, Target::Path { path, glob: false, .. }) =
            (call.remote, paths::target(arg, call.cwd.as_deref(), false))
        {
            self.ask(Ask::Content(path));
        }
    }

    /// A forced push that names no branch goes to the one that is checked out.
    fn pushed_branch(&mut self, parsed: &Parsed) {
        let forced = parsed.has(&["-f", "--force"])
            || parsed.flags.iter().any(|flag| flag.name.starts_with("--force"))
            || parsed.operands.iter().any(|arg| arg.prefix().starts_with('+'));
        let current = |arg: &Arg| matches!(arg.prefix().trim_start_matches('+'), "HEAD" | "@");
        if forced && (parsed.operands.len() < 2 || parsed.operands.iter().any(current)) {
            self.ask(Ask::Branch);
        }
    }

    /// The forms that throw work away. True: it is one.
    fn git_discards(&mut self, call: &Call, parsed: &Parsed) -> bool {
        let operands = parsed.operands.as_slice();
        let force = parsed.has(&["-f", "--force"]);
        if is_asked(&call.stdin, parsed.has(&["-p", "--patch"])) {
            return matches!(parsed.first_sub(), "checkout" | "restore" | "reset");
        }
        let all = Target::Command(format!("git {}", parsed.sub.join(" ")));
        let words: Vec<&str> = parsed.sub.iter().map(String::as_str).collect();
        let paths: &[Arg] = match (parsed.first_sub(), words.get(1).copied().unwrap_or_default()) {
            ("reset", _) if parsed.has(&["--hard", "--merge"]) => &[],
            ("read-tree", _) if parsed.has(&["--reset"]) && parsed.has(&["-u"]) => &[],
            ("checkout-index", _) if force && !parsed.has(&["--prefix"]) => operands,
            ("clean", _) if !parsed.has(&["-n", "--dry-run"]) => operands,
            ("checkout", _) if force => &[],
            ("checkout", _) => {
                let behind = parsed.before_dashes.map(|before| operands.len().saturating_sub(before));
                let first = operands.first().filter(|_| behind.is_none());
                let is_path = first.is_some_and(|arg| self.is_there(call, arg));
                match checked_out(&parsed.flags, operands, behind, is_path) {
                    [] => return false,
                    paths => paths,
                }
            }
            ("restore", _) if !parsed.has(&["--staged", "-S"]) || parsed.has(&["--worktree", "-W"]) => {
                operands
            }
            ("switch", _) if force || parsed.has(&["--discard-changes"]) => &[],
            ("branch", _) if parsed.has(&["-D"]) || (force && parsed.has(&["-d", "--delete"])) => &[],
            // Without force git itself refuses to delete what is not committed, here and with work trees.
            ("rm", _) if force && !parsed.has(&["--cached", "-n", "--dry-run"]) => {
                self.handed(call, parsed);
                operands
            }
            ("worktree", "remove") if force => &[],
            ("update-ref", _) if parsed.has(&["-d", "--delete"]) && !is_noted_again(operands) => &[],
            ("gc", _) if parsed.has(&["--prune"]) => &[],
            ("filter-repo" | "filter-branch", _) if !parsed.has(&["--analyze", "--dry-run"]) => &[],
            _ => return false,
        };
        let scratch = self.throws_scratch(call, parsed)
            || self.is_kept_as_patch(parsed, paths)
            || self.is_stashed(call, parsed);
        if let Some(inv) = self.out.invocations.last_mut().filter(|_| scratch) {
            inv.scratch = true;
        }
        let restores = matches!(parsed.first_sub(), "checkout" | "restore" | "checkout-index");
        let recursive = restores || parsed.has(&["-r"]) || parsed.first_sub() == "clean";
        if paths.is_empty() || paths.iter().any(is_whole) {
            // `clean -X` takes only what git ignores.
            let ignored = parsed.first_sub() == "clean" && parsed.has(&["-X"]);
            self.loss(call, all.clone(), ignored || scratch);
            if parsed.first_sub() == "clean" && parsed.has(&["-X", "-x"]) {
                self.clean_protected(call);
            }
        }
        for path in paths.iter().filter(|path| !is_whole(path)) {
            // `:/` and `:(glob)` begin pathspecs, not paths.
            if path.prefix().starts_with(':') {
                self.loss(call, all.clone(), false);
            } else if restores && self.is_gone(call, path) {
                self.file(call, Act::Create, path, false);
            } else {
                self.file(call, Act::Delete, path, recursive);
            }
        }
        true
    }

    /// Whether nothing is there that could be overwritten.
    fn is_gone(&mut self, call: &Call, arg: &Arg) -> bool {
        match paths::target(arg, call.cwd.as_deref(), false) {
            // Git has patterns of its own, quoted or not.
            Target::Path { path, glob: false, .. } if !call.remote && !path.contains(['*', '?', '[']) => {
                self.ask(Ask::Path(path.clone()));
                let missing = self.facts.path(&path).is_some_and(|fact| fact.kind == PathKind::Missing);
                missing && !self.touched(&path)
            }
            Target::Path { .. }
            | Target::UnknownPath { .. }
            | Target::Url(_)
            | Target::Command(_)
            | Target::None => false,
        }
    }

    /// `git config alias.x '!…'` and the like: what is set will be run.
    fn config(&mut self, call: &Call, parsed: &Parsed) {
        let operands = match parsed.operands.first().and_then(Arg::known) {
            Some("set") => parsed.operands.get(1..).unwrap_or_default(),
            _ => parsed.operands.as_slice(),
        };
        if let [key, value, ..] = operands {
            let mut setting = Arg::literal(&format!("{}=", key.text()));
            super::output::append(&mut setting, value);
            if let Some(text) = setting_command(&setting) {
                self.nested(call, "git", &text);
            }
        }
    }
}

/// `git checkout -p`: git asks about each change, and without anybody who answers it does nothing.
pub(crate) fn is_asked(stdin: &Stdin, patch: bool) -> bool {
    let nothing = matches!(stdin, Stdin::File(file) if file.text() == "/dev/null");
    patch && (nothing || *stdin == Stdin::Inherited)
}

/// The paths that `git checkout` overwrites; none when it goes to a branch. `behind`: how many of the operands stand behind
/// `--`; `is_path`: the first operand is something that is there.
pub(in crate::rules) fn checked_out<'o>(
    flags: &[Flag],
    operands: &'o [Arg],
    behind: Option<usize>,
    is_path: bool,
) -> &'o [Arg] {
    const BRANCHES: &[&str] = &["-b", "-B", "--orphan", "-t", "--track", "--detach"];
    if flags.iter().any(|flag| BRANCHES.contains(&flag.name.as_str())) {
        return &[];
    }
    match (behind, operands) {
        (Some(behind), _) => operands.get(operands.len().saturating_sub(behind)..).unwrap_or_default(),
        (None, [first, ..]) if is_path || is_whole(first) => operands,
        (None, [_, rest @ ..]) => rest,
        (None, []) => &[],
    }
}

/// The names of the files in a patch, without their first `strip` directories.
fn patched(text: &str, strip: usize) -> impl Iterator<Item = &str> {
    const HEADS: &[&str] = &["+++ ", "--- "];
    const RENAMES: &[&str] = &["rename to ", "rename from ", "copy to "];
    let after =
        |line: &'_ str, heads: &[&str]| heads.iter().find(|head| line.starts_with(**head)).map(|h| h.len());
    let name = move |line| {
        let full = after(line, HEADS).and_then(|at| line.get(at..));
        let name: Option<&str> = match full {
            Some(full) => full.split('\t').next()?.splitn(strip + 1, '/').nth(strip),
            None => after(line, RENAMES).and_then(|at| line.get(at..)),
        };
        name.filter(|name| !name.is_empty())
    };
    text.lines().filter_map(name).take(MAX_PATCHED)
}

/// The whole tree, as a pathspec.
pub(in crate::rules) fn is_whole(arg: &Arg) -> bool {
    matches!(arg.known(), Some("." | "./" | ":/" | ":/." | ":" | ".." | "*"))
        || matches!(arg.pieces.as_slice(), [Piece::Glob(text)] if text == "*")
}

/// Whether a command is of the program of that name.
pub(super) fn is_called(call: &Call, program: &str) -> bool {
    call.words.first().is_some_and(|word| word.prefix().rsplit('/').next() == Some(program))
}
