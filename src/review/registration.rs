//! Does a change of the client's settings take lazaret's registration away, or let the client run something new? The second net behind
//! the rules. Settings are judged as the client may read them: what cannot be read with certainty may say anything.

use std::collections::BTreeSet;

use serde_json::Value;

use super::surfaces::started;
use crate::domain::{Content, Run, set_of};

/// Why the settings, as they would be after a change, no longer hold the gate; nothing when they do. `managed`: the settings of whoever
/// manages the machine, whose hooks no other settings switch off; `settings`: every other settings file with its name; `by_plugin`: the
/// registration is a plugin's, not a settings file's.
pub fn drops_registration(
    managed: &Content,
    settings: &[(String, Content)],
    by_plugin: bool,
) -> Option<String> {
    if let Ok(Some(managed)) = read(managed)
        && holds_gate(&managed)
    {
        return None;
    }
    let mut registered = by_plugin;
    for (name, content) in settings {
        let value = match read(content) {
            Ok(None) => continue,
            Ok(Some(value)) => value,
            Err(why) => return Some(format!("{name} may switch every hook off: {why}")),
        };
        if switches_off(&value) {
            return Some(format!("{name} would switch every hook off (disableAllHooks)"));
        }
        registered |= holds_gate(&value);
    }
    (!registered).then(|| "no settings file would register lazaret for PreToolUse any more".to_owned())
}

/// Whether a settings file with this content leaves every hook out, as far as it can be read.
pub fn leaves_hooks_out(content: &Content) -> bool {
    read(content).ok().flatten().is_some_and(|value| switches_off(&value))
}

/// Whether settings leave every hook out.
pub fn switches_off(settings: &Value) -> bool {
    settings.get("disableAllHooks").is_some_and(|off| *off != Value::Bool(false))
}

/// Whether the hooks that held the gate before are all gone: what stands there now asks another program, if any.
pub fn is_replaced(before: &[(String, Content)], after: &[(String, Content)]) -> bool {
    let gates = |files: &[(String, Content)]| -> BTreeSet<String> {
        let values = files.iter().filter_map(|(_, content)| read(content).ok().flatten());
        set_of(values.flat_map(|value| gates(&value)))
    };
    let (before, after) = (gates(before), gates(after));
    !before.is_empty() && before.is_disjoint(&after)
}

/// What a client would run, load or obey by the settings `after` that it did not by those `before`.
pub fn starts(before: &Content, after: &Content) -> Vec<Run> {
    let Ok(Some(after)) = read(after) else { return Vec::new() };
    let known = started(&read(before).ok().flatten().unwrap_or_default());
    started(&after).into_iter().filter(|run| !known.contains(run)).collect()
}

/// A settings file's value as the client reads it; none where there is nothing. An error where two readers may differ.
fn read(content: &Content) -> Result<Option<Value>, String> {
    let bytes = match content {
        Content::Absent => return Ok(None),
        Content::Unreadable(why) => return Err(why.clone()),
        Content::Bytes(bytes) => bytes,
    };
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if bytes.trim_ascii().is_empty() {
        return Ok(None);
    }
    let unsure = |error: &dyn std::fmt::Display| format!("it cannot be read with certainty ({error})");
    let text = std::str::from_utf8(bytes).map_err(|error| unsure(&error))?;
    serde_json::from_str::<Value>(text).map(Some).map_err(|error| unsure(&error))
}

/// Whether a settings file registers lazaret before every tool call.
fn holds_gate(settings: &Value) -> bool {
    !gates(settings).is_empty()
}

/// What the hooks by which a settings file does so ask: the program and its arguments, not how long it is waited for.
fn gates(settings: &Value) -> Vec<String> {
    let groups = settings.pointer("/hooks/PreToolUse").and_then(Value::as_array);
    let all = |group: &&Value| {
        group.get("matcher").is_none_or(|m| m.as_str().is_some_and(|m| m.is_empty() || m == "*"))
    };
    let hooks = groups.into_iter().flatten().filter(all).filter_map(|group| group.get("hooks"));
    let hooks = hooks.filter_map(Value::as_array).flatten();
    let asked = |hook: &Value| {
        ["command", "args"].map(|key| hook.get(key).map(Value::to_string)).into_iter().flatten().collect()
    };
    hooks.filter(|hook| is_ours(hook) && is_waited_for(hook)).map(asked).collect()
}

/// Whether one hook entry runs `lazaret hook claude-code`, in either form.
fn is_ours(hook: &Value) -> bool {
    let text = |key: &str| hook.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let args = hook.get("args").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let mut line = text("command");
    for arg in args {
        line.push(' ');
        line.push_str(arg);
    }
    text("type") == "command" && line.contains("lazaret") && line.contains("hook claude-code")
}

/// Whether the client waits for the entry's answer about every call.
fn is_waited_for(hook: &Value) -> bool {
    let off = |key: &str| hook.get(key).is_none_or(|value| *value == Value::Bool(false));
    off("async") && off("asyncRewake") && hook.get("if").is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GATE: &str = r#"{"hooks":{"PreToolUse":[{"matcher":"*","hooks":[
        {"type":"command","command":"/x/lazaret","args":["hook","claude-code"]}]}]}}"#;

    fn bytes(text: &str) -> Content {
        Content::Bytes(text.as_bytes().to_vec())
    }

    fn named(texts: &[&str]) -> Vec<(String, Content)> {
        texts.iter().map(|text| ("settings.json".to_owned(), bytes(text))).collect()
    }

    #[test]
    fn kept_gates_pass() {
        assert_eq!(drops_registration(&Content::Absent, &named(&[GATE, "{}"]), false), None);
        assert_eq!(drops_registration(&Content::Absent, &named(&["{}", ""]), true), None);
        assert_eq!(drops_registration(&Content::Absent, &[("a".to_owned(), Content::Absent)], true), None);
        assert_eq!(drops_registration(&Content::Absent, &named(&[&format!("\u{feff}{GATE}")]), false), None);
        let off = named(&[r#"{"disableAllHooks":true}"#]);
        assert_eq!(drops_registration(&bytes(GATE), &off, false), None, "managed hooks run all the same");
        assert!(drops_registration(&bytes("{}"), &off, false).is_some());
        let shell = r#"{"hooks":{"PreToolUse":[{"hooks":[
            {"type":"command","command":"\"/x/lazaret\" hook claude-code || exit 2"}]}]}}"#;
        assert_eq!(drops_registration(&Content::Absent, &named(&[shell]), false), None);
    }

    #[test]
    fn lost_gates_are_named() {
        assert!(drops_registration(&Content::Absent, &named(&["{}"]), false).is_some());
        assert!(
            drops_registration(&Content::Absent, &named(&[GATE, r#"{"disableAllHooks":true}"#]), true)
                .is_some()
        );
        assert!(
            drops_registration(&Content::Absent, &named(&[GATE, r#"{"disableAllHooks":"yes"}"#]), false)
                .is_some()
        );
        for narrowed in [
            GATE.replace("\"*\"", "\"Bash\""),
            GATE.replace("\"type\"", "\"async\":true,\"type\""),
            GATE.replace("\"type\"", "\"if\":\"Bash(ls)\",\"type\""),
        ] {
            assert!(
                drops_registration(&Content::Absent, &named(&[&narrowed]), false).is_some(),
                "{narrowed}"
            );
        }
    }

    /// Claude Code honours each of these, or was seen to at its next start.
    #[test]
    fn what_two_readers_may_read_differently_counts_as_switching_off() {
        let deep = format!("{{\"disableAllHooks\":true,\"a\":{}{}}}", "[".repeat(200), "]".repeat(200));
        let utf16: Vec<u8> =
            "\u{feff}{\"disableAllHooks\":true}".encode_utf16().flat_map(u16::to_le_bytes).collect();
        for content in [
            bytes("\u{feff}{\"disableAllHooks\":true}"),
            bytes("{\"disableAllHooks\":true,\"a\":1e999999}"),
            bytes("{\"disableAllHooks\":true,\"a\":\"\\ud800\"}"),
            bytes(&deep),
            Content::Bytes(utf16),
            Content::Bytes(b"{\"disableAllHooks\":true,\"a\":\"\xff\"}".to_vec()),
            bytes("not json"),
            Content::Unreadable("it is longer than 1048576 bytes".to_owned()),
        ] {
            let settings = [("user".to_owned(), bytes(GATE)), ("project".to_owned(), content)];
            let why = drops_registration(&Content::Absent, &settings, true).unwrap_or_default();
            assert!(why.contains("project"), "{settings:?}");
        }
    }

    #[test]
    fn what_the_client_would_start_is_named() {
        const LONG: &str = r#"{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"/home/somebody/.local/bin/lazaret",
            "args":["hook","claude-code","--home","/home/somebody","--xdg-state-home","/home/somebody/state"],"timeout":15}]}]}}"#;
        let hook = r#"{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"./evil"}]}]}}"#;
        for (before, after, named) in [
            ("{}", hook, "a hook of PreToolUse"),
            ("", r#"{"apiKeyHelper":"./evil"}"#, "apiKeyHelper"),
            ("{}", r#"{"env":{"LD_PRELOAD":"./evil.so"}}"#, "LD_PRELOAD"),
            ("{}", r#"{"env":{"LAZARET_HOME":"/x"}}"#, "LAZARET_HOME"),
            (&LONG.replace("15", "0.001"), LONG, "a hook of PreToolUse"),
            (r#"{"statusLine":{"command":"a"}}"#, r#"{"statusLine":{"command":"b"}}"#, "\"b\""),
            ("{}", r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"a | b"}]}]}}"#, "\"a | b\""),
        ] {
            let found = starts(&bytes(before), &bytes(after));
            let text = format!("{found:?}");
            assert!(text.contains(named), "{after}: {text}");
            assert!(starts(&bytes(after), &bytes(after)).is_empty());
            assert_eq!(starts(&bytes(after), &bytes(before)).is_empty(), before.len() < 3);
        }
        for harmless in [
            r#"{"permissions":{"allow":["Bash(ls)"]}}"#,
            r#"{"env":{"DEBUG":"1","ANTHROPIC_MODEL":"x","NODE_ENV":"test"},"model":"x"}"#,
            r#"{"hooks":{"Stop":[{"hooks":[{"type":"prompt","prompt":"is it done?"}]}]}}"#,
        ] {
            assert!(starts(&Content::Absent, &bytes(harmless)).is_empty(), "{harmless}");
        }
    }
}
