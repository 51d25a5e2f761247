//! What lazaret registers with Claude Code: the events, read from `hooks/claude-code.settings.json`, and the two forms
//! of the command. Also recognises such commands again. Touches no file.

use std::path::Path;

use serde_json::{Map, Value, json};

/// The one list of events; the plugin's `hooks/hooks.json` is held against it by a test.
const FRAGMENT: &str = include_str!("../../../hooks/claude-code.settings.json");
/// Stands in the fragment for the binary's absolute path.
pub const BIN_MARKER: &str = "@LAZARET_BIN@";
/// The first Claude Code that knows `onFailure`.
pub const FIRST_WITH_ON_FAILURE: Version = Version { major: 2, minor: 1, patch: 295 };
/// What a hook command is called with.
const ARGUMENTS: [&str; 2] = ["hook", "claude-code"];
const SHELL_ARGUMENTS: &str = " hook claude-code";
const SHELL_CLOSES: &str = " || exit 2";

/// A client's version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    pub major: u32,
    pub minor: u32,
    pub patch: u32,
}

impl Version {
    /// The first `a.b.c` in what a client prints for `--version`.
    pub fn find(text: &str) -> Option<Version> {
        text.split(|c: char| !c.is_ascii_digit() && c != '.').find_map(|word| {
            let mut numbers = word.split('.').map(str::parse::<u32>);
            let mut next = || numbers.next().and_then(Result::ok);
            Some(Version { major: next()?, minor: next()?, patch: next()? })
        })
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// How the command is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Started directly; `onFailure` closes the gate when it cannot be started, crashes or hangs.
    Exec,
    /// Through `/bin/sh`, `|| exit 2` closing the gate; for clients that do not know `onFailure`.
    Shell,
}

impl Form {
    /// The form for a client; the strictest guess when its version is not known.
    pub fn for_client(version: Option<Version>) -> Form {
        if version.is_some_and(|version| version >= FIRST_WITH_ON_FAILURE) { Form::Exec } else { Form::Shell }
    }

    pub const fn name(self) -> &'static str {
        match self {
            Form::Exec => "exec form",
            Form::Shell => "shell form",
        }
    }
}

/// One group to be registered under one event.
#[derive(Debug, Clone, PartialEq)]
pub struct Wanted {
    pub event: String,
    pub group: Value,
}

impl Wanted {
    pub fn matcher(&self) -> Option<&Value> {
        self.group.get("matcher")
    }

    pub fn entry(&self) -> Option<&Value> {
        self.group.get("hooks").and_then(|hooks| hooks.get(0))
    }
}

/// Everything to be registered for the binary `bin`.
pub fn wanted(bin: &str, form: Form) -> Vec<Wanted> {
    let fragment: Value = serde_json::from_str(FRAGMENT).unwrap_or_default();
    let Some(events) = fragment.get("hooks").and_then(Value::as_object) else { return Vec::new() };
    let groups = events.iter().flat_map(|(event, groups)| {
        groups.as_array().into_iter().flatten().map(move |group| (event.clone(), group.clone()))
    });
    groups
        .map(|(event, mut group)| {
            for entry in group.get_mut("hooks").and_then(Value::as_array_mut).into_iter().flatten() {
                *entry = filled_in(entry, bin, form);
            }
            Wanted { event, group }
        })
        .collect()
}

/// The events that are registered, in order.
pub fn events() -> Vec<String> {
    wanted(BIN_MARKER, Form::Exec).into_iter().map(|wanted| wanted.event).collect()
}

fn filled_in(entry: &Value, bin: &str, form: Form) -> Value {
    let closes = entry.get("onFailure").is_some();
    let mut filled = Map::new();
    for (key, value) in entry.as_object().into_iter().flatten() {
        match (key.as_str(), form) {
            ("command", Form::Exec) => filled.insert(key.clone(), json!(bin)),
            ("command", Form::Shell) => filled.insert(key.clone(), json!(shell_command(bin, closes))),
            ("args", Form::Shell) => None,
            _ => filled.insert(key.clone(), value.clone()),
        };
    }
    Value::Object(filled)
}

fn shell_command(bin: &str, closes: bool) -> String {
    let mut quoted = String::with_capacity(bin.len() + 2);
    for c in bin.chars() {
        if matches!(c, '"' | '\\' | '$' | '`') {
            quoted.push('\\');
        }
        quoted.push(c);
    }
    format!("\"{quoted}\"{SHELL_ARGUMENTS}{}", if closes { SHELL_CLOSES } else { "" })
}

/// The binary that a hook entry starts as `… hook claude-code`, in exactly the spelling that [`wanted`] writes.
pub fn binary_of(entry: &Value) -> Option<(String, Form)> {
    let command = entry.get("command")?.as_str()?;
    if let Some(args) = entry.get("args") {
        let ours = args.as_array()?.iter().map(Value::as_str).eq(ARGUMENTS.map(Some));
        return ours.then(|| (command.to_owned(), Form::Exec));
    }
    let command = command.trim();
    let command = command.strip_suffix(SHELL_CLOSES).unwrap_or(command).trim_end();
    let word = command.strip_suffix(SHELL_ARGUMENTS)?;
    Some((unquoted(word)?, Form::Shell))
}

/// Whether an entry has to do with `hook claude-code` at all, however it is spelt.
pub fn looks_like_ours(entry: &Value) -> bool {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    let args = entry.get("args").and_then(Value::as_array);
    let args: Vec<String> = args.into_iter().flatten().map(|arg| text(Some(arg))).collect();
    let whole = format!("{} {}", text(entry.get("command")), args.join(" "));
    binary_of(entry).is_some() || whole.contains(SHELL_ARGUMENTS)
}

/// Whether an entry is a shell command that ends in exit 2 whenever what it starts fails.
pub fn exits_2_on_failure(entry: &Value) -> bool {
    let command = entry.get("command").and_then(Value::as_str).unwrap_or_default();
    entry.get("args").is_none() && command.trim_end().ends_with(SHELL_CLOSES)
}

/// Whether `bin` is a lazaret: by its file name, or because install recorded that path.
pub fn is_lazaret(bin: &str, recorded: &[String]) -> bool {
    Path::new(bin).file_name().is_some_and(|name| name == "lazaret")
        || recorded.iter().any(|known| known == bin)
}

/// The one word that `/bin/sh` makes of `word`, if it is one plain or double-quoted word.
fn unquoted(word: &str) -> Option<String> {
    let Some(inner) = word.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else {
        let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,@%:~".contains(c) || !c.is_ascii();
        return (!word.is_empty() && word.chars().all(plain)).then(|| word.to_owned());
    };
    let mut out = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' | '`' => return None,
            '\\' => match chars.next()? {
                c @ ('"' | '\\' | '$' | '`') => out.push(c),
                c => out.extend(['\\', c]),
            },
            c => out.push(c),
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gate_is_closed_by_the_events_that_can_let_something_through() {
        for form in [Form::Exec, Form::Shell] {
            let all = wanted("/opt/lazaret", form);
            assert!(all.len() >= 9);
            for one in &all {
                let entry = one.entry().unwrap();
                let closes = ["PreToolUse", "ConfigChange"].contains(&one.event.as_str());
                assert_eq!(entry.get("onFailure").is_some(), closes, "{}", one.event);
                assert_eq!(
                    entry["command"].as_str().unwrap().ends_with("|| exit 2"),
                    closes && form == Form::Shell
                );
                assert!(entry["timeout"].is_u64());
            }
            let gate = all.iter().find(|one| one.event == "PreToolUse").unwrap();
            assert_eq!(gate.matcher(), Some(&json!("*")));
        }
    }

    #[test]
    fn the_plugins_file_registers_the_same() {
        let plugin = include_str!("../../../hooks/hooks.json");
        assert_eq!(plugin, FRAGMENT.replace(BIN_MARKER, "${CLAUDE_PLUGIN_ROOT}/bin/lazaret"));
    }

    #[test]
    fn the_plugin_names_what_is_there() {
        let plugin: Value =
            serde_json::from_str(include_str!("../../../.claude-plugin/plugin.json")).unwrap();
        assert_eq!(plugin["name"], "lazaret");
        assert_eq!(plugin["version"], env!("CARGO_PKG_VERSION"));
        let agent = include_str!("../../../adapters/claude-code/agents/quarantine-reviewer.md");
        assert!(agent.starts_with("---\nname: quarantine-reviewer\n"));
        assert_eq!(plugin["agents"], json!(["./adapters/claude-code/agents/quarantine-reviewer.md"]));
    }

    #[test]
    fn what_was_written_is_recognised_with_every_path() {
        for bin in ["/a/lazaret", "/with space/la\"z$a`r\\et", "/ü/x"] {
            for form in [Form::Exec, Form::Shell] {
                for one in wanted(bin, form) {
                    assert_eq!(binary_of(one.entry().unwrap()), Some((bin.to_owned(), form)));
                }
            }
        }
    }

    #[test]
    fn other_peoples_hooks_are_not_ours() {
        for other in [
            json!({"type": "command", "command": "guard hook claude"}),
            json!({"type": "command", "command": "/x/lazaret", "args": ["audit"]}),
            json!({"type": "command", "command": "echo \"$(rm x)\" hook claude-code || true"}),
            json!({"type": "http", "url": "http://localhost"}),
        ] {
            assert_eq!(binary_of(&other), None, "{other}");
        }
        assert!(looks_like_ours(&json!({"command": "timeout 5 /x/lazaret hook claude-code || exit 2"})));
        assert!(!is_lazaret("/usr/bin/other", &[]));
        assert!(is_lazaret("/usr/bin/other", &["/usr/bin/other".into()]));
    }

    #[test]
    fn versions() {
        let v = Version::find("2.1.329 (Claude Code)\n").unwrap();
        assert_eq!(v.to_string(), "2.1.329");
        assert_eq!(Form::for_client(Some(v)), Form::Exec);
        assert_eq!(Form::for_client(Version::find("v2.1.294")), Form::Shell);
        assert_eq!(Form::for_client(Version::find("unknown 2.1")), Form::Shell);
    }
}
