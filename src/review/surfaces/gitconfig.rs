//! A configuration of git: the commands that it has run, and the files and hooks that it leads to.

use crate::domain::{Run, Surface};
use crate::rules::{configured_command, git_settings};

/// A place that a configuration leads to: a file, or a directory of hooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Linked {
    pub path: String,
    pub kind: Surface,
}

/// What it has run.
pub(super) fn runs(text: &str) -> Vec<Run> {
    let Some(settings) = git_settings::entries(text) else {
        return vec![Run::Unread("it is not a configuration as git reads it".to_owned())];
    };
    let command = |(key, value): &(String, String)| {
        let text = configured_command(key, value)?;
        Some(Run::Command { text, by: key.to_ascii_lowercase() })
    };
    settings.iter().filter_map(command).collect()
}

/// What it leads to, as it stands there.
pub fn linked(text: &[u8]) -> Vec<Linked> {
    let text = String::from_utf8_lossy(text);
    let lead = |(key, value): (String, String)| {
        let kind = match key.as_str() {
            "core.hookspath" => Surface::GitHook,
            "include.path" => Surface::GitConfig,
            key if key.starts_with("includeif.") && key.ends_with(".path") => Surface::GitConfig,
            _ => return None,
        };
        (!value.is_empty()).then_some(Linked { path: value, kind })
    };
    git_settings::entries(&text).unwrap_or_default().into_iter().filter_map(lead).collect()
}
