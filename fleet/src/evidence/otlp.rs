//! An event of the log as a record of OpenTelemetry: nothing of it is left out, and what collectors look for stands in attributes too.

use std::time::UNIX_EPOCH;

use lazaret::domain::LogLevel;
use lazaret::host::audit::Line;
use lazaret::host::brought;
use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::common::v1::{
    AnyValue, ArrayValue, InstrumentationScope, KeyValue, KeyValueList,
};
use opentelemetry_proto::tonic::logs::v1::{LogRecord, ResourceLogs, ScopeLogs, SeverityNumber};
use opentelemetry_proto::tonic::resource::v1::Resource;
use serde_json::Value;

use super::{Format, Origin, level};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A request with these events.
pub fn request(origin: &Origin, format: Format, lines: &[&Line]) -> ExportLogsServiceRequest {
    let log_records = lines.iter().map(|line| record(line, origin, format)).collect();
    let logs = ScopeLogs { scope: Some(scope()), log_records, ..ScopeLogs::default() };
    let all =
        ResourceLogs { resource: Some(resource(origin)), scope_logs: vec![logs], ..ResourceLogs::default() };
    ExportLogsServiceRequest { resource_logs: vec![all] }
}

/// The machine and its user, as a resource.
pub fn resource(origin: &Origin) -> Resource {
    let mut attributes = vec![
        text("service.name", "lazaret"),
        text("service.version", VERSION),
        // What two senders are told apart by where nothing else of a resource is kept.
        text("service.instance.id", &format!("{}/{}", origin.machine, origin.user)),
        text("host.id", &origin.machine),
        text("host.name", &origin.host),
        text("user.name", &origin.user),
    ];
    attributes.extend(policy(origin));
    Resource { attributes, ..Resource::default() }
}

/// Which bundle was applied last on this machine, and whether it is what stands there now.
fn policy(origin: &Origin) -> Vec<KeyValue> {
    // A request without them says that it is not known; `lazaret doctor` says why.
    let Ok(Some((applied, is_same))) = brought::in_force(&origin.managed) else { return Vec::new() };
    let state = match (is_same, &applied.partly) {
        (false, _) => "changed",
        (true, Some(_)) => "part",
        (true, None) => "whole",
    };
    let number = Any::IntValue(i64::try_from(applied.number).unwrap_or(i64::MAX));
    vec![
        text("lazaret.policy.name", &applied.name),
        pair("lazaret.policy.number", number),
        text("lazaret.policy.state", state),
    ]
}

/// What all of it comes from.
pub fn scope() -> InstrumentationScope {
    InstrumentationScope {
        name: "lazaret.audit".to_owned(),
        version: VERSION.to_owned(),
        ..InstrumentationScope::default()
    }
}

fn record(line: &Line, origin: &Origin, format: Format) -> LogRecord {
    let nanos = nanos(&line.time);
    let (severity, word) = severity(&line.event);
    LogRecord {
        time_unix_nano: nanos,
        observed_time_unix_nano: nanos,
        severity_number: severity.into(),
        severity_text: word.to_owned(),
        body: serde_json::from_str(&format.text(line, origin)).ok().map(value),
        attributes: attributes(line),
        event_name: format!("lazaret.{}", line.event),
        ..LogRecord::default()
    }
}

/// What collectors look for in an event.
pub fn attributes(line: &Line) -> Vec<KeyValue> {
    let mut attributes = vec![text("log.record.uid", &line.id)];
    let verdict = line.told().map(|verdict| verdict.name());
    let told = [
        ("session.id", line.session.as_str()),
        ("lazaret.client", &line.client),
        ("lazaret.agent", &line.agent),
        ("lazaret.tool", &line.tool),
        ("lazaret.verdict", verdict.unwrap_or_default()),
        // Where the line does not verify on this machine.
        ("lazaret.unverified", line.wrong.map_or("", |wrong| wrong.name())),
    ];
    attributes
        .extend(told.iter().filter(|(_, value)| !value.is_empty()).map(|(key, value)| text(key, value)));
    if !line.rules.is_empty() {
        let values = line.rules.iter().map(|rule| any(Any::StringValue(rule.clone()))).collect();
        attributes.push(pair("lazaret.rules", Any::ArrayValue(ArrayValue { values })));
    }
    attributes
}

/// A time of the log, as OpenTelemetry counts it; 0 = it is none.
pub fn nanos(time: &str) -> u64 {
    humantime::parse_rfc3339(time)
        .ok()
        .and_then(|time| u64::try_from(time.duration_since(UNIX_EPOCH).ok()?.as_nanos()).ok())
        .unwrap_or_default()
}

fn severity(event: &str) -> (SeverityNumber, &'static str) {
    match level(event) {
        LogLevel::Debug => (SeverityNumber::Debug, "debug"),
        LogLevel::Info => (SeverityNumber::Info, "info"),
        LogLevel::Warn => (SeverityNumber::Warn, "warn"),
        LogLevel::Error => (SeverityNumber::Error, "error"),
    }
}

fn value(json: Value) -> AnyValue {
    any(match json {
        Value::Null => return AnyValue { value: None },
        Value::Bool(on) => Any::BoolValue(on),
        Value::Number(number) => match number.as_i64() {
            Some(number) => Any::IntValue(number),
            None => Any::DoubleValue(number.as_f64().unwrap_or_default()),
        },
        Value::String(text) => Any::StringValue(text),
        Value::Array(list) => Any::ArrayValue(ArrayValue { values: list.into_iter().map(value).collect() }),
        Value::Object(object) => {
            let values = object.into_iter().map(|(key, json)| KeyValue {
                key,
                value: Some(value(json)),
                ..KeyValue::default()
            });
            Any::KvlistValue(KeyValueList { values: values.collect() })
        }
    })
}

fn any(value: Any) -> AnyValue {
    AnyValue { value: Some(value) }
}

/// An attribute.
pub fn pair(key: &str, value: Any) -> KeyValue {
    KeyValue { key: key.to_owned(), value: Some(any(value)), ..KeyValue::default() }
}

/// An attribute that is a text.
pub fn text(key: &str, value: &str) -> KeyValue {
    pair(key, Any::StringValue(value.to_owned()))
}
