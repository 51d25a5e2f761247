//! What git's settings have run: commands that stand in them, and aliases for names that git doesn't know.

use super::call::Call;
use super::options::Parsed;
use super::{Surveyor, output, paths};
use crate::domain::{Ask, Target, join, single_quoted};
use crate::rules::git_settings;
use crate::shell::Arg;

/// Begins the keys of aliases.
const ALIAS: &str = "alias.";
/// Most settings files of git that are read for one name, those that others include among them.
const MAX_FILES: usize = 8;

impl Surveyor<'_> {
    /// `git x`, where `x` is an alias: what it stands for, with the words behind it. True: it is one.
    pub(super) fn git_alias(&mut self, call: &Call, parsed: &Parsed) -> bool {
        let name = parsed.first_sub();
        // Git never looks for an alias of its own commands' names.
        if name.is_empty() {
            return false;
        }
        let texts = match given(parsed, name) {
            Some(text) => vec![text],
            None if parsed.row.is_none() => self.set_alias(call, parsed, name),
            None => return false,
        };
        let is_one = !texts.is_empty();
        let at = call.words.iter().position(|word| word.known() == Some(name));
        for mut text in texts {
            for word in at.and_then(|at| call.words.get(at + 1..)).unwrap_or_default() {
                output::append(&mut text, &Arg::literal(" "));
                output::append(&mut text, word);
            }
            self.nested(call, "git", &text);
        }
        is_one
    }

    /// What the settings files of the repository and the user say that a name stands for: all of them, because which counts is for
    /// git to know.
    fn set_alias(&mut self, call: &Call, parsed: &Parsed, name: &str) -> Vec<Arg> {
        let mut found = Vec::new();
        if call.remote {
            return found;
        }
        let mut files = self.settings_files(call, parsed);
        let mut at = 0;
        while let Some(path) = files.get(at).cloned() {
            at += 1;
            self.ask(Ask::Content(path.clone()));
            let written = self.written(&path).and_then(Arg::known).map(str::to_owned);
            let Some(text) = written.or_else(|| self.facts.content(&path).flatten().map(str::to_owned))
            else {
                continue;
            };
            self.spend(text.len() / 64);
            for (key, value) in git_settings::entries(&text).unwrap_or_default() {
                let alias = key.strip_prefix(ALIAS).is_some_and(|alias| alias.eq_ignore_ascii_case(name));
                if alias {
                    found.extend(setting_command(&Arg::literal(&format!("{key}={value}"))));
                } else if includes(&key) && files.len() < MAX_FILES {
                    files.extend(self.included(&path, &value));
                }
            }
        }
        found
    }

    /// The settings files that git reads in a call's directory.
    fn settings_files(&self, call: &Call, parsed: &Parsed) -> Vec<String> {
        let places = &self.facts.places;
        let mut files: Vec<String> = Vec::new();
        let named = |option: &str| match parsed
            .value(&[option])
            .map(|dir| paths::target(dir, call.cwd.as_deref(), false))
        {
            Some(Target::Path { path, glob: false, .. }) => Some(path),
            _ => None,
        };
        let (directory, repository) = (named("-C"), named("--git-dir"));
        files.extend(repository.map(|dir| join(&dir, "config")));
        let tops = [directory.as_ref(), call.cwd.as_ref(), places.repo.as_ref()];
        for top in tops.into_iter().flatten() {
            files.push(join(top, ".git/config"));
        }
        if let Some(home) = &places.home {
            files.extend([".gitconfig", ".config/git/config"].map(|name| join(home, name)));
        }
        let mut seen: Vec<String> = Vec::new();
        for file in files {
            if !seen.contains(&file) {
                seen.push(file);
            }
        }
        seen
    }

    /// The file that another includes.
    fn included(&self, by: &str, value: &str) -> Option<String> {
        let beside = by.rsplit_once('/').map_or("/", |(dir, _)| dir);
        match (value.strip_prefix("~/"), &self.facts.places.home) {
            (Some(rest), Some(home)) => Some(join(home, rest)),
            (Some(_), None) => None,
            (None, _) => Some(join(beside, value)),
        }
    }
}

/// `include.path`, `includeIf.….path`.
fn includes(key: &str) -> bool {
    key == "include.path" || (key.starts_with("includeif.") && key.ends_with(".path"))
}

/// `git -c alias.x='…' x`.
fn given(parsed: &Parsed, name: &str) -> Option<Arg> {
    let setting = parsed.flags.iter().filter(|flag| flag.name == "-c").find_map(|flag| {
        let value = flag.value.as_ref()?;
        let (key, _) = value.prefix().split_once('=')?;
        let alias = key.get(..ALIAS.len()).is_some_and(|start| start.eq_ignore_ascii_case(ALIAS));
        (alias && key.get(ALIAS.len()..) == Some(name)).then_some(value)
    });
    setting.and_then(setting_command)
}

/// The command line that a configuration of git has run by this setting, where it does. Beside those of a single call, what only a
/// file brings: the program of a helper, a remote that is a command, a submodule that is brought up to date by one.
pub fn configured_command(key: &str, value: &str) -> Option<String> {
    let lower = key.to_ascii_lowercase();
    let helper = lower.starts_with("credential.") && lower.ends_with("helper");
    let submodule = lower.starts_with("submodule.") && lower.ends_with(".update");
    if helper && value.starts_with('/') {
        return Some(value.to_owned());
    }
    if submodule {
        return value.strip_prefix('!').map(str::to_owned);
    }
    if let Some(command) = value.strip_prefix("ext::") {
        // Its words are apart by blanks, and a blank in one is written `% `.
        let words = command.replace("%%", "%\0").replace("% ", "\u{1}");
        let word = |word: &str| single_quoted(&word.replace('\u{1}', " ").replace("%\0", "%"));
        return Some(words.split(' ').map(word).collect::<Vec<_>>().join(" "));
    }
    setting_command(&Arg::literal(&format!("{key}={value}"))).map(|command| command.text().into_owned())
}

/// The command line in a setting `key=value` of git or ssh, where it holds one.
pub(in crate::rules) fn setting_command(setting: &Arg) -> Option<Arg> {
    let (key, _) = setting.prefix().split_once(['=', ' '])?;
    let value = super::options::after(setting, key.len() + 1)?;
    let key = key.to_ascii_lowercase();
    if key.starts_with(ALIAS) {
        if value.prefix().starts_with('!') {
            return super::options::after(&value, 1);
        }
        let mut text = Arg::literal("git ");
        output::append(&mut text, &value);
        return Some(text);
    }
    if key == "credential.helper" || (key.starts_with("credential.") && key.ends_with(".helper")) {
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
            | "gc.recentobjectshook"
            | "interactive.difffilter"
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
