//! An event of the log as a record of OpenTelemetry: nothing of it is left out, and what collectors look for stands in attributes too.

use std::path::PathBuf;
use std::time::UNIX_EPOCH;

use lazaret::domain::{EventKind, LogLevel};
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

/// What a machine and its user are told apart by.
#[derive(Debug)]
pub struct Origin {
    pub machine: String,
    pub host: String,
    pub user: String,
    /// The managed configuration.
    pub managed: PathBuf,
}

impl Origin {
    /// Which bundle was applied last on this machine, and whether it is what stands there now.
    fn policy(&self) -> Vec<KeyValue> {
        // A request without them says that it is not known; `lazaret doctor` says why.
        let Ok(Some((applied, is_same))) = brought::in_force(&self.managed) else { return Vec::new() };
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
}

/// A request with these records.
pub fn request(origin: &Origin, records: Vec<LogRecord>) -> ExportLogsServiceRequest {
    let version = env!("CARGO_PKG_VERSION");
    let mut attributes = vec![
        text("service.name", "lazaret"),
        text("service.version", version),
        text("host.id", &origin.machine),
        text("host.name", &origin.host),
        text("user.name", &origin.user),
    ];
    attributes.extend(origin.policy());
    let resource = Some(Resource { attributes, ..Resource::default() });
    let scope = InstrumentationScope {
        name: "lazaret.audit".to_owned(),
        version: version.to_owned(),
        ..InstrumentationScope::default()
    };
    let logs = ScopeLogs { scope: Some(scope), log_records: records, ..ScopeLogs::default() };
    let all = ResourceLogs { resource, scope_logs: vec![logs], ..ResourceLogs::default() };
    ExportLogsServiceRequest { resource_logs: vec![all] }
}

/// A line of the log.
pub fn record(line: &Line) -> LogRecord {
    let nanos = humantime::parse_rfc3339(&line.time)
        .ok()
        .and_then(|time| u64::try_from(time.duration_since(UNIX_EPOCH).ok()?.as_nanos()).ok())
        .unwrap_or_default();
    let (severity, word) = severity(&line.event);
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
    LogRecord {
        time_unix_nano: nanos,
        observed_time_unix_nano: nanos,
        severity_number: severity.into(),
        severity_text: word.to_owned(),
        body: serde_json::from_str(&line.text).ok().map(value),
        attributes,
        event_name: format!("lazaret.{}", line.event),
        ..LogRecord::default()
    }
}

/// A record of what the sender itself has to say.
pub fn notice(name: &str, message: &str, uid: &str, nanos: u64) -> LogRecord {
    LogRecord {
        time_unix_nano: nanos,
        observed_time_unix_nano: nanos,
        severity_number: SeverityNumber::Error.into(),
        severity_text: "error".to_owned(),
        body: Some(any(Any::StringValue(message.to_owned()))),
        attributes: vec![text("log.record.uid", uid)],
        event_name: format!("lazaret.{name}"),
        ..LogRecord::default()
    }
}

fn severity(event: &str) -> (SeverityNumber, &'static str) {
    match EventKind::from_name(event).map(EventKind::level) {
        Some(LogLevel::Debug) => (SeverityNumber::Debug, "debug"),
        Some(LogLevel::Info) => (SeverityNumber::Info, "info"),
        Some(LogLevel::Warn) => (SeverityNumber::Warn, "warn"),
        // One of a type that this version does not know is not made light of.
        Some(LogLevel::Error) | None => (SeverityNumber::Error, "error"),
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

fn pair(key: &str, value: Any) -> KeyValue {
    KeyValue { key: key.to_owned(), value: Some(any(value)), ..KeyValue::default() }
}

fn text(key: &str, value: &str) -> KeyValue {
    pair(key, Any::StringValue(value.to_owned()))
}
