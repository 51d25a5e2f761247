//! Skills, commands and agents: their shell lines, and the hooks and servers of their front matter.

use serde_json::Value;

use super::settings::hooks;
use crate::domain::Run;
use crate::rules::prompts::{self, front_matter};

/// What has the client run something, at the top of a front matter.
const KEYS: [&str; 2] = ["hooks", "mcpservers"];
/// Where a hook could answer a call in the gate's stead.
const ANSWERS: [&str; 2] = ["pretooluse", "permissionrequest"];

/// All that a skill, command or agent of Claude Code has run.
pub(super) fn of_claude(text: &str) -> Vec<Run> {
    let mut runs = shell_lines(text, true);
    if let Some(head) = front_matter(text) {
        runs.extend(of_front_matter(head));
    }
    runs
}

/// The shell lines of a prompt.
pub(super) fn shell_lines(text: &str, apart: bool) -> Vec<Run> {
    prompts::shell_lines(text, apart).into_iter().map(Run::command).collect()
}

/// The name that a skill or command gives itself.
pub fn named(text: &str) -> Option<&str> {
    let mut lines = front_matter(text)?.lines();
    lines.find_map(|line| line.strip_prefix("name:")).map(|name| unquoted(name.trim()))
}

/// What hooks and servers a front matter names. It is YAML: what is more than keys, lists and plain or quoted values in it may say
/// anything, and only where a hook or server may be meant is it looked at.
fn of_front_matter(head: &str) -> Vec<Run> {
    let lines: Vec<&str> = head.split(['\n', '\r']).collect();
    let mut runs = Vec::new();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        at += 1;
        let top = !line.starts_with([' ', '\t', '#', '-']);
        if !top || line.trim().is_empty() {
            continue;
        }
        if line.starts_with(['{', '?', '&', '*', '!', '<', '%']) {
            runs.push(Run::Unread("its front matter is more than plain keys".to_owned()));
            continue;
        }
        let (key, value) = line.split_once(':').unwrap_or((line, ""));
        let key = unquoted(key.trim()).to_ascii_lowercase();
        // An escape in a key can spell another one.
        if key.contains('\\') {
            runs.push(Run::Unread("a key of its front matter is escaped".to_owned()));
        }
        if !KEYS.contains(&key.as_str()) {
            continue;
        }
        let below = lines.get(at..).unwrap_or_default();
        let deep = |line: &&&str| line.starts_with([' ', '\t', '-']) || line.trim().is_empty();
        let count = below.iter().take_while(deep).count();
        let block = below.get(..count).unwrap_or_default();
        at += count;
        let inline = value.split(" #").next().unwrap_or_default().trim();
        runs.extend(section(&key, inline, block));
    }
    runs
}

/// One of those keys: its value on the same line, or the lines below it.
fn section(key: &str, inline: &str, block: &[&str]) -> Vec<Run> {
    let unread = || vec![Run::Unread(format!("`{key}` of its front matter cannot be read with certainty"))];
    if !inline.is_empty() {
        return match serde_json::from_str::<Value>(inline) {
            Ok(Value::Null) => Vec::new(),
            Ok(value) if key == "hooks" => hooks(&value),
            Ok(value) => super::settings::servers(&value),
            Err(_) => unread(),
        };
    }
    let mut runs = Vec::new();
    let mut command: Option<String> = None;
    for line in block {
        let bare = line.trim();
        if bare.is_empty() || bare.starts_with('#') {
            continue;
        }
        let item = bare.trim_start_matches("- ").trim_start();
        let Some((name, value)) = item.split_once(':').filter(|(name, _)| is_plain(name)) else {
            match (command.as_mut(), bare.strip_prefix("- ")) {
                // An argument of the command above it.
                (Some(command), Some(word)) if is_scalar(word) => {
                    command.push(' ');
                    command.push_str(&crate::domain::single_quoted(unquoted(word)));
                    continue;
                }
                // A server that is named and defined elsewhere.
                (None, Some(word)) if key == "mcpservers" && is_scalar(word) => continue,
                _ => return unread(),
            }
        };
        let (name, value) = (unquoted(name.trim()).to_ascii_lowercase(), value.trim());
        if !value.is_empty() && !is_scalar(value) && !is_words(value) {
            return unread();
        }
        match name.as_str() {
            "command" => {
                runs.extend(command.take().map(Run::command));
                command = Some(unquoted(value).to_owned());
            }
            "args" if is_words(value) => {
                let words = value.trim_matches(['[', ']']).split(',').map(|word| unquoted(word.trim()));
                let words: Vec<String> = words.map(crate::domain::single_quoted).collect();
                command = command.map(|command| format!("{command} {}", words.join(" ")));
            }
            "url" => runs.push(Run::Address(unquoted(value).to_owned())),
            _ if key == "hooks" && ANSWERS.contains(&name.as_str()) => {
                runs.push(Run::Always(format!("a hook of {name} can answer a call in the gate's stead")));
            }
            _ => {}
        }
    }
    runs.extend(command.map(Run::command));
    if runs.is_empty() && key == "hooks" && block.iter().any(|line| !line.trim().is_empty()) {
        return unread();
    }
    runs
}

/// A key that stands as it is meant.
fn is_plain(name: &str) -> bool {
    let name = unquoted(name.trim());
    !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '|' | '*'))
}

/// A value that stands as it is meant: no block, no reference, no escape.
fn is_scalar(value: &str) -> bool {
    let escaped = value.starts_with('"') && value.contains('\\');
    let more = value.starts_with(['{', '[', '&', '*', '|', '>', '!', '%', '@', '`']);
    !(escaped || more)
}

/// A list on one line, of plain values.
fn is_words(value: &str) -> bool {
    value.starts_with('[') && value.ends_with(']') && !value.contains(['{', '\\', '&', '*'])
}

fn unquoted(value: &str) -> &str {
    let inner = |quote| value.strip_prefix(quote).and_then(|value| value.strip_suffix(quote));
    inner('"').or_else(|| inner('\'')).unwrap_or(value)
}
