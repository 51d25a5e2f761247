//! What git commands lose, and the commands that git runs.

use super::Surveyor;
use super::call::Call;
use super::effects::Act;
use super::options::Parsed;
use crate::domain::{Ask, EffectKind, Severity, Target};
use crate::rules::commands::Deed;
use crate::shell::{Arg, Piece};

impl Surveyor<'_> {
    /// Notes the effects of a git command.
    pub(super) fn git(&mut self, call: &Call, parsed: &Parsed) {
        if self.git_discards(call, parsed) {
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
            self.deed(call, parsed, Deed::Look);
            return;
        }
        self.deeds(call, parsed);
        self.git_files(call, parsed);
    }

    /// What else a subcommand reads, writes or asks for.
    fn git_files(&mut self, call: &Call, parsed: &Parsed) {
        match parsed.first_sub() {
            "push" => self.pushed_branch(parsed),
            "clone" => {
                if let Some(url) = parsed.operands.first() {
                    self.effect(call, EffectKind::NetworkRequest, Target::Url(url.text()), Severity::Medium);
                }
                if let Some(dir) = parsed.operands.get(1) {
                    self.file(call, Act::Create, dir, false);
                    self.lay_unknown(call, dir);
                }
            }
            "submodule" | "worktree" if parsed.sub.get(1).is_some_and(|second| second == "add") => {
                for arg in &parsed.operands {
                    self.lay_unknown(call, arg);
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
            "apply" | "am" => {
                for arg in &parsed.operands {
                    self.file(call, Act::Read, arg, false);
                    self.ask_content(call, arg);
                }
            }
            _ => {}
        }
    }

    /// What is in a file says what is done with it.
    pub(super) fn ask_content(&mut self, call: &Call, arg: &Arg) {
        if let (false, Target::Path { path, glob: false, .. }) =
            (call.remote, super::paths::target(arg, call.cwd.as_deref(), false))
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
        let all = Target::Command(format!("git {}", parsed.sub.join(" ")));
        let paths: &[Arg] = match parsed.first_sub() {
            "reset" if parsed.has(&["--hard", "--merge", "--keep"]) => &[],
            "clean" if !parsed.has(&["-n", "--dry-run"]) => operands,
            "checkout" if force => &[],
            "checkout" => match parsed.before_dashes {
                Some(before) => operands.get(before..).unwrap_or_default(),
                None => match operands {
                    [.., last] if is_whole(last) && !parsed.has(&["-b", "-B"]) => std::slice::from_ref(last),
                    [_, rest @ ..]
                        if !rest.is_empty() && !parsed.has(&["-b", "-B", "--orphan", "-t", "--track"]) =>
                    {
                        rest
                    }
                    _ => return false,
                },
            },
            "restore" if !parsed.has(&["--staged", "-S"]) || parsed.has(&["--worktree", "-W"]) => operands,
            "switch" if force || parsed.has(&["--discard-changes"]) => &[],
            "branch" if parsed.has(&["-D"]) || (force && parsed.has(&["-d", "--delete"])) => &[],
            "rm" if !parsed.has(&["--cached", "-n", "--dry-run"]) => operands,
            "update-ref" if parsed.has(&["-d", "--delete"]) => &[],
            "gc" if parsed.has(&["--prune"]) => &[],
            _ => return false,
        };
        let recursive = parsed.has(&["-r"]) || matches!(parsed.first_sub(), "checkout" | "restore" | "clean");
        if paths.is_empty() || paths.iter().any(is_whole) {
            // `clean -X` takes only what git ignores.
            self.loss(call, all, parsed.first_sub() == "clean" && parsed.has(&["-X"]));
        }
        for path in paths.iter().filter(|path| !is_whole(path)) {
            // `:/` and `:(glob)` begin pathspecs, not paths.
            if path.prefix().starts_with(':') {
                self.loss(call, Target::Command(format!("git {}", parsed.sub.join(" "))), false);
            } else {
                self.file(call, Act::Delete, path, recursive);
            }
        }
        true
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

/// The whole tree, as a pathspec.
fn is_whole(arg: &Arg) -> bool {
    matches!(arg.known(), Some("." | "./" | ":/" | ":/." | ":" | ".."))
        || matches!(arg.pieces.as_slice(), [Piece::Glob(text)] if text == "*")
}

/// The command line in a setting `key=value` of git or ssh, where it holds one.
pub(in crate::rules) fn setting_command(setting: &Arg) -> Option<Arg> {
    let (key, _) = setting.prefix().split_once(['=', ' '])?;
    let value = super::options::after(setting, key.len() + 1)?;
    let key = key.to_ascii_lowercase();
    if key.starts_with("alias.")
        || key == "credential.helper"
        || (key.starts_with("credential.") && key.ends_with(".helper"))
    {
        return if value.prefix().starts_with('!') { super::options::after(&value, 1) } else { None };
    }
    let runs = matches!(
        key.as_str(),
        "exec"
            | "core.pager"
            | "core.editor"
            | "core.sshcommand"
            | "core.fsmonitor"
            | "core.askpass"
            | "core.gitproxy"
            | "core.alternaterefscommand"
            | "diff.external"
            | "sequence.editor"
            | "gpg.program"
            | "gpg.ssh.program"
            | "proxycommand"
            | "localcommand"
            | "knownhostscommand"
            | "uploadpack.packobjectshook"
            | "web.browser"
            | "sendemail.smtpserver"
    ) || ["pager.", "filter.", "browser.", "man.", "gpg."]
        .iter()
        .any(|start| key.starts_with(start) && !key.ends_with(".required") && !key.ends_with(".format"))
        || [
            ".cmd",
            ".textconv",
            ".driver",
            ".clean",
            ".smudge",
            ".process",
            ".command",
            ".uploadpack",
            ".receivepack",
        ]
        .iter()
        .any(|end| key.ends_with(end));
    let is_switch = matches!(
        value.known(),
        Some("true" | "false" | "0" | "1" | "yes" | "no" | "on" | "off" | "ssh" | "openpgp")
    );
    (runs && !is_switch).then_some(value)
}
