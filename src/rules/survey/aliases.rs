//! What a name that git doesn't know stands for: aliases given with the command, and those that stand in git's settings.

use super::call::Call;
use super::options::Parsed;
use super::repositories::{Repository, Setting};
use super::setting::{ALIAS, setting_command};
use super::{Surveyor, output, paths};
use crate::domain::{Target, join};
use crate::shell::Arg;

impl Surveyor<'_> {
    /// `git x`, where `x` is an alias: what it stands for, with the words behind it. True: it is one.
    pub(super) fn git_alias(&mut self, call: &Call, parsed: &Parsed, other: Option<&Repository>) -> bool {
        let name = parsed.first_sub();
        // Git never looks for an alias of its own commands' names.
        if name.is_empty() {
            return false;
        }
        let texts = match given(parsed, name) {
            Some(text) => vec![text],
            None if parsed.row.is_none() => self.set_alias(call, parsed, other, name),
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
    fn set_alias(
        &mut self,
        call: &Call,
        parsed: &Parsed,
        other: Option<&Repository>,
        name: &str,
    ) -> Vec<Arg> {
        if call.remote {
            return Vec::new();
        }
        let files = self.settings_files(call, parsed, other);
        let mut found = Vec::new();
        for Setting { key, value, .. } in self.settings(files, false) {
            let alias = key.strip_prefix(ALIAS).is_some_and(|alias| alias.eq_ignore_ascii_case(name));
            if alias {
                found.extend(setting_command(&Arg::literal(&format!("{key}={value}"))));
            }
        }
        found
    }

    /// The settings files that git reads in a call's directory.
    fn settings_files(&self, call: &Call, parsed: &Parsed, other: Option<&Repository>) -> Vec<String> {
        let places = &self.facts.places;
        let mut files: Vec<String> = other.iter().flat_map(|other| other.settings()).collect();
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
