//! Events in the Elastic Common Schema: what it has fields for stands in them, and the whole event under `lazaret`.

use serde_json::{Map, Value, json};

/// The version of the schema whose fields are used.
const VERSION: &str = "8.11.0";

/// What the schema says of an event of a type: kind, type, and outcome.
type Class = (&'static str, &'static str, &'static str);

/// The event as one JSON object.
pub fn event(text: &str) -> serde_json::Result<Value> {
    let event: Map<String, Value> = serde_json::from_str(text)?;
    let get = |key: &str| event.get(key).and_then(Value::as_str).unwrap_or_default();
    let (kind, class, outcome) = class(get("event"));
    let mut fields = Map::new();
    fields.insert("@timestamp".to_owned(), json!(get("time")));
    fields.insert("ecs".to_owned(), json!({"version": VERSION}));
    let mut about = json!({
        "id": get("id"), "kind": kind, "category": [category(get("event"), get("tool"))], "type": [class],
        "action": get("event"), "outcome": outcome, "module": "lazaret", "dataset": "lazaret.audit",
        "provider": "lazaret",
    });
    if let (Some(about), Some(us)) = (about.as_object_mut(), event.get("duration_us").and_then(Value::as_u64))
    {
        about.insert("duration".to_owned(), json!(us.saturating_mul(1000)));
    }
    let reasons = event.get("reasons").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let reason = reasons.first().and_then(|reason| reason.get("message")).and_then(Value::as_str);
    if let (Some(about), Some(reason)) = (about.as_object_mut(), reason) {
        about.insert("reason".to_owned(), json!(reason));
    }
    fields.insert("event".to_owned(), about);
    fields.insert("log".to_owned(), json!({"level": level(kind, class)}));
    fields
        .insert("message".to_owned(), json!(message(get("event"), get("tool"), get("action"), get("note"))));
    if let Some(rules) = event.get("rules") {
        fields.insert("rule".to_owned(), json!({"id": rules, "ruleset": "lazaret"}));
    }
    let mut process = Map::new();
    if !get("cwd").is_empty() {
        process.insert("working_directory".to_owned(), json!(get("cwd")));
    }
    match get("tool") {
        "Bash" if !get("action").is_empty() => {
            process.insert("command_line".to_owned(), json!(get("action")));
        }
        "Read" | "Write" | "Edit" | "NotebookEdit" if get("action").starts_with('/') => {
            fields.insert("file".to_owned(), json!({"path": get("action")}));
        }
        _ => {}
    }
    if !process.is_empty() {
        fields.insert("process".to_owned(), Value::Object(process));
    }
    fields.insert("lazaret".to_owned(), Value::Object(event));
    Ok(Value::Object(fields))
}

fn class(event: &str) -> Class {
    match event {
        "action_allowed" | "quarantine_access" | "permission_used" => ("event", "allowed", "success"),
        "action_warned" | "action_modified" | "action_asked" | "intervention" => ("alert", "info", "unknown"),
        "action_completed" => ("event", "end", "success"),
        "action_failed" => ("event", "end", "failure"),
        "fault" => ("event", "error", "failure"),
        "session_started"
        | "subagent_started"
        | "quarantine_session_started"
        | "quarantine_agent_started" => ("event", "start", "success"),
        "session_ended" | "subagent_stopped" | "quarantine_session_ended" | "quarantine_agent_stopped" => {
            ("event", "end", "success")
        }
        "config_changed" | "trust_changed" | "permission_granted" | "permission_refused"
        | "session_resumed" | "feedback" | "audit_key_given" => ("event", "change", "success"),
        "audit_pruned" => ("event", "deletion", "success"),
        "prompt_submitted"
        | "client_event"
        | "quarantine_report_accepted"
        | "notification_sent"
        | "intervention_measured" => ("event", "info", "success"),
        // What was refused, and what this version does not know.
        _ => ("alert", "denied", "failure"),
    }
}

fn category(event: &str, tool: &str) -> &'static str {
    match (event, tool) {
        (_, "Bash") => "process",
        (_, "Read" | "Write" | "Edit" | "NotebookEdit" | "Glob" | "Grep") => "file",
        (_, "WebFetch" | "WebSearch") => "network",
        ("session_started" | "session_ended" | "session_stopped" | "session_resumed", _) => "session",
        (
            "config_changed"
            | "config_change_blocked"
            | "trust_changed"
            | "permission_granted"
            | "permission_refused"
            | "audit_pruned"
            | "audit_key_given",
            _,
        ) => "configuration",
        _ => "intrusion_detection",
    }
}

fn level(kind: &str, class: &str) -> &'static str {
    match (kind, class) {
        ("alert", "denied") | (_, "error") => "error",
        ("alert", _) => "warn",
        _ => "info",
    }
}

/// One line for people.
fn message(event: &str, tool: &str, action: &str, note: &str) -> String {
    let parts = [event, tool, action, note];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}
