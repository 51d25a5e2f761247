//! What is registered with Codex: the groups of its `hooks.json`, what its `config.toml` says of trust in them, and what its
//! `requirements.toml` says for every user. Texts alone.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// The events, and how Codex spells each where it keeps trust. The first is the gate.
pub const EVENTS: [(&str, &str); 7] = [
    ("PreToolUse", "pre_tool_use"),
    ("PostToolUse", "post_tool_use"),
    ("UserPromptSubmit", "user_prompt_submit"),
    ("SubagentStart", "subagent_start"),
    ("SubagentStop", "subagent_stop"),
    ("SessionStart", "session_start"),
    ("SessionEnd", "session_end"),
];
/// How long Codex waits, in seconds; longer than the command waits for lazaret.
pub const TIMEOUT: u64 = 20;
/// Longer than that Codex waits for no hook at the end of a session, and says so.
const AT_END: u64 = 3;

/// How long Codex is to wait for the hook of an event.
fn timeout(event: &str) -> u64 {
    if event == "SessionEnd" { AT_END } else { TIMEOUT }
}

/// Ends what hangs. Codex runs the call once its own time is over. The program comes from where only root puts any: Codex starts a hook with
/// a directory of its own in front of the search path, into which every call may write.
const LIMIT: &str = if cfg!(target_os = "macos") {
    r#"/usr/bin/perl -e "alarm 12; exec @ARGV" "$@""#
} else {
    r#"command -p timeout -s KILL 12 "$@""#
};
/// Codex blocks on exit code 2 with words on standard error, and on nothing else that a broken program may do: what is not an answer
/// of lazaret's becomes that. The user's own shell, whichever it is, runs `/bin/sh`; single quotes and backslashes mean different
/// things to different shells, so there are none.
const OPENS: &str = "/bin/sh -c 'a=$(";
const CLOSES: &str = r#") && case $a in [{]?continue?:true*[}]) printf %s "$a"; exit;; esac; echo "lazaret: this call is not run" >&2; exit 2' lazaret "#;
const ASKED: &str = " hook codex";
/// Ends the head of a table of ours in `config.toml`. Codex writes that file anew and puts tables of its own before a comment at the end,
/// so that lines around a block would not tell what is ours.
const MARK: &str = " # lazaret";
/// The lines around what is ours in `requirements.toml`, which nobody writes anew.
const BEGIN: &str =
    "# lazaret: what follows is written and taken out by `lazaret install` and `lazaret uninstall`\n";
const END: &str = "# lazaret: end\n";

/// A registration in exactly the spelling that [`command`] writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registered {
    pub bin: String,
    /// The places that it is given: names and values in turn.
    pub places: Vec<String>,
    /// The gate: what is no answer is a block.
    pub closes: bool,
}

/// Whether a path or a name can stand between double quotes in any shell.
pub fn can_be_carried(word: &str) -> bool {
    !word.chars().any(|c| matches!(c, '"' | '\'' | '\\' | '$' | '`' | '!') || c.is_control())
}

/// The command of one event.
pub fn command(bin: &str, places: &[String], closes: bool) -> String {
    let mut line = if closes { [OPENS, LIMIT, CLOSES].concat() } else { String::new() };
    line.push_str(&format!("\"{bin}\"{ASKED}"));
    for pair in places.chunks(2) {
        if let [name, value] = pair {
            line.push_str(&format!(" {name} \"{value}\""));
        }
    }
    line
}

/// What a command starts, where it is one of ours.
pub fn registered(command: &str) -> Option<Registered> {
    let head = [OPENS, LIMIT, CLOSES].concat();
    let (line, closes) = command.strip_prefix(&head).map_or((command, false), |line| (line, true));
    let (bin, mut rest) = line.strip_prefix('"')?.split_once('"')?;
    rest = rest.strip_prefix(ASKED)?;
    let mut places = Vec::new();
    while !rest.is_empty() {
        let (name, after) = rest.strip_prefix(' ')?.split_once(" \"")?;
        let (value, after) = after.split_once('"')?;
        places.extend([name.to_owned(), value.to_owned()]);
        rest = after;
    }
    let found = Registered { bin: bin.to_owned(), places, closes };
    (self::command(&found.bin, &found.places, closes) == command).then_some(found)
}

/// The entry of an event in `hooks.json`.
pub fn entry(bin: &str, places: &[String], event: &str) -> Value {
    json!({"type": "command", "command": command(bin, places, event == "PreToolUse"), "timeout": timeout(event)})
}

/// What Codex takes for the identity of an entry of ours: a changed one is not run until it is trusted anew. (Seen on 0.171.0; the
/// end-to-end tests hold it.)
pub fn hash(label: &str, command: &str, timeout: u64) -> String {
    let command = Value::from(command);
    let identity = format!(
        r#"{{"event_name":"{label}","hooks":[{{"async":false,"command":{command},"timeout":{timeout},"type":"command"}}]}}"#
    );
    let digest = Sha256::digest(identity.as_bytes());
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}

/// One entry of `hooks.json` that is to be trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trusted {
    /// The file, the event and the place in it, as Codex writes them.
    pub key: String,
    pub hash: String,
}

/// Our entries of a `hooks.json` that lies at `path`.
pub fn trusted(path: &str, hooks: &str) -> Vec<Trusted> {
    let value: Value = serde_json::from_str(hooks).unwrap_or_default();
    let mut found = Vec::new();
    for (event, label) in EVENTS {
        let groups = value.pointer(&format!("/hooks/{event}")).and_then(Value::as_array);
        for (at, group) in groups.into_iter().flatten().enumerate() {
            let entries = group.get("hooks").and_then(Value::as_array);
            for (place, entry) in entries.into_iter().flatten().enumerate() {
                let Some(command) = entry.get("command").and_then(Value::as_str) else { continue };
                let timeout = entry.get("timeout").and_then(Value::as_u64).unwrap_or(600);
                if registered(command).is_some() && group.get("matcher").is_none() {
                    let key = format!("{path}:{label}:{at}:{place}");
                    found.push(Trusted { key, hash: hash(label, command, timeout) });
                }
            }
        }
    }
    found
}

/// Why a text of TOML was left alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unusable(pub String);

/// The text of `config.toml` with trust in these entries, and nothing else of ours; all other bytes as they were.
pub fn with_trust(text: &str, wanted: &[Trusted]) -> Result<String, Unusable> {
    let said = parsed(text)?;
    let heads = text.lines().filter(|line| is_own_head(line)).count();
    if heads <= wanted.len() && wanted.iter().all(|one| hash_in(&said, &one.key) == Some(Some(&one.hash))) {
        return Ok(text.to_owned());
    }
    let rest = without(text);
    let said = parsed(&rest)?;
    let mut new = rest.clone();
    if !new.is_empty() && !new.ends_with('\n') {
        new.push('\n');
    }
    for one in wanted {
        match hash_in(&said, &one.key) {
            Some(Some(hash)) if hash == one.hash => {}
            Some(_) => {
                return Err(Unusable(format!(
                    "[hooks.state.\"{}\"] stands there for another hook; take that table out",
                    one.key
                )));
            }
            None => {
                let key = Value::from(one.key.as_str());
                new.push_str(&format!("[hooks.state.{key}]{MARK}\ntrusted_hash = \"{}\"\n", one.hash));
            }
        }
    }
    parsed(&new)?;
    Ok(new)
}

/// The hash that is trusted under a key; none where there is no such table.
fn hash_in<'t>(said: &'t toml::Table, key: &str) -> Option<Option<&'t str>> {
    let state = said.get("hooks")?.get("state")?.get(key)?;
    Some(state.get("trusted_hash").and_then(toml::Value::as_str))
}

fn is_own_head(line: &str) -> bool {
    line.starts_with("[hooks.state.") && line.trim_end().ends_with(MARK)
}

/// The text of `requirements.toml` with the gate for every user in it, which no user's settings and no option switch off.
pub fn with_requirements(text: &str, bin: &str) -> Result<String, Unusable> {
    let rest = without(text);
    parsed(&rest)?;
    let mut block = "[features]\nhooks = true\n".to_owned();
    for (event, _) in EVENTS {
        let command = Value::from(command(bin, &[], event == "PreToolUse"));
        block.push_str(&format!(
            "[[hooks.{event}]]\n[[hooks.{event}.hooks]]\ntype = \"command\"\ncommand = {command}\ntimeout = {}\n",
            timeout(event)
        ));
    }
    framed(&rest, &block)
}

/// The text without what is ours.
pub fn without(text: &str) -> String {
    let cut = text.find(BEGIN).and_then(|begin| {
        let end = begin + text.get(begin..)?.find(END)? + END.len();
        Some([text.get(..begin)?, text.get(end..)?].concat())
    });
    let mut own = false;
    let mut is_ours = |line: &str| {
        own = is_own_head(line) || own && (line.starts_with("trusted_hash") || line.starts_with("enabled"));
        own
    };
    cut.as_deref().unwrap_or(text).split_inclusive('\n').filter(|line| !is_ours(line)).collect()
}

/// The text with a block of ours at its end, if that leaves it TOML.
fn framed(rest: &str, block: &str) -> Result<String, Unusable> {
    let line = if rest.is_empty() || rest.ends_with('\n') { "" } else { "\n" };
    let new = [rest, line, BEGIN, block, END].concat();
    parsed(&new)?;
    Ok(new)
}

fn parsed(text: &str) -> Result<toml::Table, Unusable> {
    text.parse::<toml::Table>().map_err(|error| {
        let line =
            error.span().map_or(1, |span| text.get(..span.start).unwrap_or_default().lines().count().max(1));
        Unusable(format!("line {line}: {}", error.message()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_recognised() {
        let places = ["--home", "/home/u u", "--xdg-state-home", "/s"].map(str::to_owned);
        for closes in [true, false] {
            for places in [&places[..], &[]] {
                let line = command("/opt/la z/lazaret", places, closes);
                let found = registered(&line).unwrap();
                assert_eq!(
                    (found.bin.as_str(), &found.places[..], found.closes),
                    ("/opt/la z/lazaret", places, closes)
                );
            }
        }
        for other in
            ["", "lazaret hook codex", "\"/x\" hook codex; true", "\"/x\" hook codex --home \"/h\" || true"]
        {
            assert_eq!(registered(other), None, "{other}");
        }
        assert!(!command("/x", &[], true).contains('\\'));
        assert!(!can_be_carried("/a\"b") && !can_be_carried("/a$b") && can_be_carried("/a b"));
    }

    /// As `hooks/list` of Codex 0.171.0 says it.
    #[test]
    fn the_identity_is_codexs_own() {
        assert_eq!(
            hash("pre_tool_use", "/tmp/cx/w-U46DsA/home/hook.sh", 600),
            "sha256:55adf9d4b386471a8740203fe319923d8fad74de980a54064a8dc2f6d495d7aa"
        );
    }

    #[test]
    fn trust_is_put_in_and_taken_out_to_the_byte() {
        let one =
            Trusted { key: "/h/.codex/hooks.json:pre_tool_use:0:0".to_owned(), hash: "sha256:1".to_owned() };
        for text in [
            "",
            "model = \"x\"",
            "model = \"x\" # mine\n\n[features]\nhooks = true\n",
            "[hooks.state.\"other\"]\nenabled = true\n",
        ] {
            let longer = with_trust(text, std::slice::from_ref(&one)).unwrap();
            assert!(
                longer.parse::<toml::Table>().unwrap()["hooks"]["state"][&one.key]["trusted_hash"].as_str()
                    == Some("sha256:1")
            );
            assert_eq!(with_trust(&longer, std::slice::from_ref(&one)).unwrap(), longer);
            assert_eq!(without(&longer).trim_end_matches('\n'), text.trim_end_matches('\n'));
        }
        // As Codex leaves it when it has put something of its own at the end.
        let longer = with_trust("a = 1\n", std::slice::from_ref(&one)).unwrap() + "\n[tui]\nx = true\n";
        assert_eq!(with_trust(&longer, std::slice::from_ref(&one)).unwrap(), longer);
        assert_eq!(without(&longer), "a = 1\n\n[tui]\nx = true\n");
        let other = Trusted { hash: "sha256:3".to_owned(), ..one.clone() };
        assert!(with_trust(&longer, &[other]).unwrap().contains("sha256:3"));
        let trusted = format!("[hooks.state.\"{}\"]\ntrusted_hash = \"sha256:1\"\n", one.key);
        assert_eq!(with_trust(&trusted, std::slice::from_ref(&one)).unwrap(), trusted);
        for bad in [trusted.replace(":1\"", ":2\""), "hooks = {}\n".to_owned(), "a = \n".to_owned()] {
            assert!(with_trust(&bad, std::slice::from_ref(&one)).is_err(), "{bad}");
        }
        assert!(with_requirements("[features]\nx = true\n", "/b").is_err());
    }
}
