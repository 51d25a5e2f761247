//! Does a change of the client's settings take lazaret's registration away? The second net behind the rules.

use serde_json::Value;

/// Why the settings, as they would be after a change, no longer hold the gate; nothing when they do. `settings` are the texts of
/// every settings file that exists, with their names; `by_plugin`: the registration is a plugin's, not a settings file's.
pub fn drops_registration(settings: &[(String, String)], by_plugin: bool) -> Option<String> {
    let mut registered = by_plugin;
    for (name, text) in settings {
        let Ok(value) = serde_json::from_str::<Value>(text) else {
            continue;
        };
        if value.get("disableAllHooks").is_some_and(|off| *off != Value::Bool(false)) {
            return Some(format!("{name} would switch every hook off (disableAllHooks)"));
        }
        registered |= holds_gate(&value);
    }
    (!registered).then(|| "no settings file would register lazaret for PreToolUse any more".to_owned())
}

/// Whether a settings file registers lazaret before every tool call.
fn holds_gate(settings: &Value) -> bool {
    let groups = settings.pointer("/hooks/PreToolUse").and_then(Value::as_array);
    groups.into_iter().flatten().any(|group| {
        let all = group.get("matcher").is_none_or(|m| m.as_str().is_some_and(|m| m.is_empty() || m == "*"));
        let hooks = group.get("hooks").and_then(Value::as_array);
        all && hooks.into_iter().flatten().any(is_ours)
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    const GATE: &str = r#"{"hooks":{"PreToolUse":[{"matcher":"*","hooks":[
        {"type":"command","command":"/x/lazaret","args":["hook","claude-code"]}]}]}}"#;

    fn named(texts: &[&str]) -> Vec<(String, String)> {
        texts.iter().map(|text| ("settings.json".to_owned(), (*text).to_owned())).collect()
    }

    #[test]
    fn kept_gates_pass() {
        assert_eq!(drops_registration(&named(&[GATE, "{}"]), false), None);
        assert_eq!(drops_registration(&named(&["{}"]), true), None);
        let shell = r#"{"hooks":{"PreToolUse":[{"hooks":[
            {"type":"command","command":"\"/x/lazaret\" hook claude-code || exit 2"}]}]}}"#;
        assert_eq!(drops_registration(&named(&[shell]), false), None);
    }

    #[test]
    fn lost_gates_are_named() {
        assert!(drops_registration(&named(&["{}"]), false).is_some());
        assert!(drops_registration(&named(&["not json"]), false).is_some());
        assert!(drops_registration(&named(&[GATE, r#"{"disableAllHooks":true}"#]), true).is_some());
        assert!(drops_registration(&named(&[GATE, r#"{"disableAllHooks":"yes"}"#]), false).is_some());
        let narrowed = GATE.replace("\"*\"", "\"Bash\"");
        assert!(drops_registration(&named(&[&narrowed]), false).is_some());
    }
}
