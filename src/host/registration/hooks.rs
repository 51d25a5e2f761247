//! What lazaret registers with Claude Code: the events, read from `hooks/claude-code.settings.json`, and the two forms
//! of the command. Also recognises such commands again. Touches no file.

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::host::environment;

/// The one list of events; the plugin's `hooks/hooks.json` is held against it by a test.
const FRAGMENT: &str = include_str!("../../../hooks/claude-code.settings.json");
/// Stands in the fragment for the binary's absolute path.
pub const BIN_MARKER: &str = "@LAZARET_BIN@";
/// The first Claude Code that knows `onFailure`.
pub const FIRST_WITH_ON_FAILURE: Version = Version { major: 2, minor: 1, patch: 295 };
/// What a hook command is called with, before the places of this user.
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

/// Everything to be registered for the binary `bin`, which is given `places` as arguments.
pub fn wanted(bin: &str, places: &[String], form: Form) -> Vec<Wanted> {
    let fragment: Value = serde_json::from_str(FRAGMENT).unwrap_or_default();
    let Some(events) = fragment.get("hooks").and_then(Value::as_object) else { return Vec::new() };
    let groups = events.iter().flat_map(|(event, groups)| {
        groups.as_array().into_iter().flatten().map(move |group| (event.clone(), group.clone()))
    });
    groups
        .map(|(event, mut group)| {
            for entry in group.get_mut("hooks").and_then(Value::as_array_mut).into_iter().flatten() {
                *entry = filled_in(entry, (bin, places), form);
            }
            Wanted { event, group }
        })
        .collect()
}

/// The events that are registered, in order.
pub fn events() -> Vec<String> {
    wanted(BIN_MARKER, &[], Form::Exec).into_iter().map(|wanted| wanted.event).collect()
}

fn filled_in(entry: &Value, (bin, places): (&str, &[String]), form: Form) -> Value {
    let closes = entry.get("onFailure").is_some();
    let mut filled = Map::new();
    for (key, value) in entry.as_object().into_iter().flatten() {
        match (key.as_str(), form) {
            ("command", Form::Exec) => filled.insert(key.clone(), json!(bin)),
            ("command", Form::Shell) => {
                filled.insert(key.clone(), json!(shell_command((bin, places), closes)))
            }
            ("args", Form::Shell) => None,
            ("args", Form::Exec) => {
                let given = ARGUMENTS.into_iter().chain(places.iter().map(String::as_str));
                filled.insert(key.clone(), given.collect())
            }
            _ => filled.insert(key.clone(), value.clone()),
        };
    }
    Value::Object(filled)
}

fn shell_command((bin, places): (&str, &[String]), closes: bool) -> String {
    let mut line = quoted(bin) + SHELL_ARGUMENTS;
    for (place, word) in places.iter().enumerate() {
        line.push(' ');
        // A name, then its value.
        line.push_str(&if place % 2 == 0 { word.clone() } else { quoted(word) });
    }
    line + if closes { SHELL_CLOSES } else { "" }
}

fn quoted(word: &str) -> String {
    let mut quoted = String::with_capacity(word.len() + 2);
    quoted.push('"');
    for c in word.chars() {
        if matches!(c, '"' | '\\' | '$' | '`') {
            quoted.push('\\');
        }
        quoted.push(c);
    }
    quoted.push('"');
    quoted
}

/// A registration in exactly the spelling that [`wanted`] writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registered {
    pub bin: String,
    /// The places that it is given: names and values in turn.
    pub places: Vec<String>,
    pub form: Form,
}

/// What a hook entry starts as `… hook claude-code`.
pub fn registered(entry: &Value) -> Option<Registered> {
    let command = entry.get("command")?.as_str()?;
    let (bin, places, form) = if let Some(args) = entry.get("args") {
        let args: Option<Vec<&str>> = args.as_array()?.iter().map(Value::as_str).collect();
        let places = args?.strip_prefix(&ARGUMENTS)?.iter().map(|arg| (*arg).to_owned()).collect();
        (command.to_owned(), places, Form::Exec)
    } else {
        let command = command.trim();
        let command = command.strip_suffix(SHELL_CLOSES).unwrap_or(command).trim_end();
        let (bin, mut rest) = first_word(command)?;
        rest = rest.strip_prefix(SHELL_ARGUMENTS)?;
        let mut places = Vec::new();
        while !rest.is_empty() {
            let (word, after) = first_word(rest.strip_prefix(' ')?)?;
            places.push(word);
            rest = after;
        }
        (bin, places, Form::Shell)
    };
    let args: Vec<std::ffi::OsString> = places.iter().map(Into::into).collect();
    environment::given(&args).is_ok().then_some(Registered { bin, places, form })
}

/// The binary that a hook entry starts as `… hook claude-code`, in exactly the spelling that [`wanted`] writes.
pub fn binary_of(entry: &Value) -> Option<(String, Form)> {
    registered(entry).map(|found| (found.bin, found.form))
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

/// The first word that `/bin/sh` makes of a line, if it is one plain or double-quoted word, and what comes after it.
fn first_word(line: &str) -> Option<(String, &str)> {
    let Some(inner) = line.strip_prefix('"') else {
        let end = line.find(' ').unwrap_or(line.len());
        let (word, rest) = line.split_at_checked(end)?;
        let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,@%:~".contains(c) || !c.is_ascii();
        return (!word.is_empty() && word.chars().all(plain)).then(|| (word.to_owned(), rest));
    };
    let mut word = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    loop {
        match chars.next()? {
            '"' => return Some((word, chars.as_str())),
            '`' => return None,
            '\\' => match chars.next()? {
                c @ ('"' | '\\' | '$' | '`') => word.push(c),
                c => word.extend(['\\', c]),
            },
            c => word.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gate_is_closed_by_the_events_that_can_let_something_through() {
        for form in [Form::Exec, Form::Shell] {
            let all = wanted("/opt/lazaret", &[], form);
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
        // The client fills in where the plugin is; the places of the user are those of the password database.
        let root = "\"hook\", \"claude-code\", \"--claude-plugin-root\", \"${CLAUDE_PLUGIN_ROOT}\"";
        let ours = FRAGMENT.replace(BIN_MARKER, "${CLAUDE_PLUGIN_ROOT}/bin/lazaret");
        // Besides, a session's beginning brings the binary where there is none yet.
        let fetch = "        {\"type\": \"command\", \"command\": \"/bin/sh\", \"args\": [\"${CLAUDE_PLUGIN_ROOT}/hooks/fetch.sh\"], \"timeout\": 60},\n";
        let begins = "    \"SessionStart\": [\n      { \"hooks\": [\n";
        assert!(plugin.contains(&format!("{begins}{fetch}")));
        let registered = plugin.replacen(fetch, "", 1);
        assert_eq!(registered, ours.replace("\"hook\", \"claude-code\"", root));
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
        let odd = "/with space/la\"z$a`r\\et";
        let given = ["--home", "/home/u", "--xdg-state-home", odd].map(str::to_owned);
        for bin in ["/a/lazaret", odd, "/ü/x"] {
            for (form, places) in
                [(Form::Exec, &[][..]), (Form::Shell, &[]), (Form::Exec, &given), (Form::Shell, &given)]
            {
                for one in wanted(bin, places, form) {
                    let found = registered(one.entry().unwrap()).unwrap();
                    assert_eq!(found, Registered { bin: bin.to_owned(), places: places.to_vec(), form });
                }
            }
        }
    }

    #[test]
    fn other_peoples_hooks_are_not_ours() {
        for other in [
            json!({"type": "command", "command": "guard hook claude"}),
            json!({"type": "command", "command": "/x/lazaret", "args": ["audit"]}),
            json!({"type": "command", "command": "/x/lazaret", "args": ["hook", "claude-code", "--verbose", "1"]}),
            json!({"type": "command", "command": "\"/x/lazaret\" hook claude-code --home \"/h\"; true || exit 2"}),
            json!({"type": "command", "command": "echo \"$(rm x)\" hook claude-code || true"}),
            json!({"type": "http", "url": "http://localhost"}),
        ] {
            assert_eq!(binary_of(&other), None, "{other}");
        }
        assert!(looks_like_ours(&json!({"command": "timeout 5 /x/lazaret hook claude-code || exit 2"})));
        assert!(!is_lazaret("/usr/bin/other", &[]));
        assert!(is_lazaret("/usr/bin/other", &["/usr/bin/other".into()]));
    }
}
