//! What a name that git doesn't know stands for: aliases given with the command, and those that stand in git's settings.

use super::call::Call;
use super::options::Parsed;
use super::setting::{ALIAS, setting_command};
use super::{Surveyor, output, paths};
use crate::domain::{Ask, Target, join};
use crate::rules::git_settings;
use crate::shell::Arg;

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
