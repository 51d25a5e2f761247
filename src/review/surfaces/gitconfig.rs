//! A configuration of git: the commands that it has run, and the files and hooks that it leads to.

use crate::domain::{Run, Surface};
use crate::rules::configured_command;

/// Most settings that are looked at.
const MAX: usize = 4096;

/// A place that a configuration leads to: a file, or a directory of hooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Linked {
    pub path: String,
    pub kind: Surface,
}

/// What it has run.
pub(super) fn runs(text: &str) -> Vec<Run> {
    let Some(settings) = settings(text) else {
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
        let lower = key.to_ascii_lowercase();
        let kind = match lower.as_str() {
            "core.hookspath" => Surface::GitHook,
            "include.path" => Surface::GitConfig,
            _ if lower.starts_with("includeif.") && lower.ends_with(".path") => Surface::GitConfig,
            _ => return None,
        };
        (!value.is_empty()).then_some(Linked { path: value, kind })
    };
    settings(&text).unwrap_or_default().into_iter().filter_map(lead).collect()
}

/// All settings, keys in full; none where git itself would refuse the text, or there are too many.
fn settings(text: &str) -> Option<Vec<(String, String)>> {
    let mut found = Vec::new();
    let mut section = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let mut line = line.trim().to_owned();
        // A value goes on in the next line behind a backslash; comments do not.
        while goes_on(&line) {
            line.pop();
            line.push_str(lines.next().unwrap_or_default());
        }
        let mut rest = line.as_str();
        if let Some(head) = rest.strip_prefix('[') {
            let end = end_of_head(head)?;
            section = named(head.get(..end)?);
            rest = head.get(end + 1..)?.trim_start();
        }
        if rest.is_empty() || rest.starts_with(['#', ';']) {
            continue;
        }
        let (key, value) = rest.split_once('=').map_or((rest, None), |(key, value)| (key, Some(value)));
        let key = key.split(['#', ';']).next().unwrap_or_default().trim();
        if key.is_empty() || section.is_empty() || found.len() >= MAX {
            return None;
        }
        found.push((format!("{section}.{key}"), value.map_or_else(|| "true".to_owned(), unquoted)));
    }
    Some(found)
}

/// Whether a line ends in a backslash that is not itself escaped, outside a comment.
fn goes_on(line: &str) -> bool {
    let escaped = line.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1;
    escaped && !line.starts_with(['#', ';'])
}

/// Where a section's head ends: a bracket in quotes does not.
fn end_of_head(head: &str) -> Option<usize> {
    let (mut quoted, mut escaped) = (false, false);
    head.bytes().position(|byte| {
        let end = byte == b']' && !quoted;
        match byte {
            b'\\' if !escaped => escaped = true,
            b'"' if !escaped => quoted = !quoted,
            _ => escaped = false,
        }
        end
    })
}

/// `section "sub section"` as the beginning of a key.
fn named(head: &str) -> String {
    let (section, sub) = head.split_once('"').unwrap_or((head, ""));
    let sub = sub.trim_end().trim_end_matches('"').replace("\\\"", "\"").replace("\\\\", "\\");
    let section = section.trim();
    if sub.is_empty() { section.to_owned() } else { format!("{section}.{sub}") }
}

/// A value without its quotes, escapes and comment.
fn unquoted(value: &str) -> String {
    let mut out = String::new();
    let mut quoted = false;
    let mut chars = value.trim().chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => quoted = !quoted,
            '#' | ';' if !quoted => break,
            '\\' => match chars.next() {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some(other) => out.push(other),
                None => {}
            },
            _ => out.push(c),
        }
    }
    out.trim_end().to_owned()
}
