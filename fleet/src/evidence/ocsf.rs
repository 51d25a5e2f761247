//! Events in the Open Cybersecurity Schema Framework: a call is API Activity under the profile Security Control, anything else a Base
//! Event; the whole event stands under `unmapped`.

use std::time::UNIX_EPOCH;

use lazaret::domain::{LogLevel, Verdict};
use lazaret::host::audit::Line;
use serde_json::{Map, Value, json};

use super::{Origin, level};

/// The version of the schema whose attributes are used.
const VERSION: &str = "1.5.0";
/// What the schema calls an activity that it has no name for.
const OTHER: u32 = 99;
/// Category and class of API Activity, and of a Base Event.
const CALL: (u32, u32) = (6, 6003);
const BASE: (u32, u32) = (0, 0);

/// An action and a disposition, each with its number.
type Control = ((u32, &'static str), (u32, &'static str));

/// The event as one JSON object.
pub fn event(line: &Line, origin: &Origin) -> serde_json::Result<Value> {
    let whole: Value = serde_json::from_str(&line.marked())?;
    let control = control(line);
    let (category, class) = if line.tool.is_empty() { BASE } else { CALL };
    let mut fields = Map::new();
    let mut put = |key: &str, value: Value| fields.insert(key.to_owned(), value);
    put("activity_id", json!(OTHER));
    put("activity_name", json!(line.event));
    put("category_uid", json!(category));
    put("class_uid", json!(class));
    put("type_uid", json!(class * 100 + OTHER));
    put("severity_id", json!(severity(&line.event)));
    put("status_id", json!(status(&line.event, control)));
    put("time", json!(millis(&line.time)));
    put("message", json!(message(line)));
    put("metadata", metadata(line, control.is_some()));
    if !line.tool.is_empty() {
        put("actor", actor(line));
        let mut api = json!({"operation": line.tool});
        if let (Some(api), false) = (api.as_object_mut(), line.call_id.is_empty()) {
            api.insert("request".to_owned(), json!({"uid": line.call_id}));
        }
        put("api", api);
        put("src_endpoint", json!({"hostname": origin.host, "uid": origin.machine}));
    }
    if let Some(((action_id, action), (disposition_id, disposition))) = control {
        put("action_id", json!(action_id));
        put("action", json!(action));
        put("disposition_id", json!(disposition_id));
        put("disposition", json!(disposition));
        let rules = line.rules.iter().map(|rule| json!({"decision": action, "policy": {"uid": rule}}));
        let rules: Vec<Value> = rules.collect();
        if !rules.is_empty() {
            put("authorizations", json!(rules));
        }
    }
    put("unmapped", whole);
    Ok(Value::Object(fields))
}

fn metadata(line: &Line, controls: bool) -> Value {
    let product = json!({"name": "lazaret", "vendor_name": "lazaret", "version": env!("CARGO_PKG_VERSION")});
    let mut metadata = json!({
        "version": VERSION, "product": product, "uid": line.id, "event_code": line.event,
        "log_name": "lazaret.audit", "original_time": line.time,
    });
    if let Some(metadata) = metadata.as_object_mut() {
        if controls {
            metadata.insert("profiles".to_owned(), json!(["security_control"]));
        }
        if !line.session.is_empty() {
            metadata.insert("correlation_uid".to_owned(), json!(line.session));
        }
    }
    metadata
}

/// The client, and the session in it.
fn actor(line: &Line) -> Value {
    let client = if line.client.is_empty() { "unknown" } else { &line.client };
    let mut actor = json!({"app_name": client});
    if let (Some(actor), false) = (actor.as_object_mut(), line.session.is_empty()) {
        actor.insert("session".to_owned(), json!({"uid": line.session}));
    }
    actor
}

/// What was done with a call that was decided on, as the client was told.
fn control(line: &Line) -> Option<Control> {
    let verdict = line.told()?;
    let (allowed, denied) = ((1, "Allowed"), (2, "Denied"));
    Some(match (line.enforcement.as_str(), verdict) {
        ("ask", _) => ((0, "Unknown"), (23, "Challenge")),
        ("stop", _) | (_, Verdict::Block) => (denied, (2, "Blocked")),
        (_, Verdict::Allow) => (allowed, (1, "Allowed")),
        (_, Verdict::Warn) => (allowed, (19, "Alert")),
        (_, Verdict::Modify) => (allowed, (11, "Corrected")),
    })
}

fn severity(event: &str) -> u32 {
    match level(event) {
        LogLevel::Debug | LogLevel::Info => 1,
        LogLevel::Warn => 3,
        LogLevel::Error => 4,
    }
}

/// 1 = success, 2 = failure, 0 = neither.
fn status(event: &str, control: Option<Control>) -> u32 {
    match (event, control) {
        ("action_failed" | "fault", _) => 2,
        ("action_completed", _) => 1,
        (_, Some(((action, _), _))) => action,
        (_, None) => 0,
    }
}

fn millis(time: &str) -> u64 {
    let time = humantime::parse_rfc3339(time).ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    time.and_then(|since| u64::try_from(since.as_millis()).ok()).unwrap_or_default()
}

/// One line for people.
fn message(line: &Line) -> String {
    let parts = [&line.event, &line.tool, &line.action, &line.note];
    parts.into_iter().filter(|part| !part.is_empty()).map(String::as_str).collect::<Vec<_>>().join(" ")
}
