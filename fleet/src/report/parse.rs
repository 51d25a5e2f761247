//! A line as a collector writes it: the JSON form of a request of OpenTelemetry. It is walked through one record at a time, so that whatever
//! stands in it, no more than one record is taken apart in memory.

use std::fmt;

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde::de::{Deserializer as _, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// Longest record, and longest description of where records are from, in bytes.
const RECORD: usize = 1 << 20;
const RESOURCE: usize = 1 << 16;

/// Where records are from, as their sender says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origin {
    pub service: String,
    pub version: String,
    pub machine: String,
    pub host: String,
    pub user: String,
    pub policy: String,
    pub number: Option<u64>,
    pub state: String,
}

/// One record.
#[derive(Debug, Clone, Default)]
pub struct Record {
    pub uid: String,
    /// `lazaret.` and the event's type.
    pub name: String,
    pub nanos: u64,
    /// Why the line does not verify on its machine; empty = it does.
    pub unverified: String,
    /// What is said in words.
    pub notice: String,
    pub event: Event,
}

/// An event of the log, as far as a report goes.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Event {
    pub client: String,
    pub session: String,
    pub action: String,
    pub call_id: String,
    pub verdict: String,
    pub enforcement: String,
    pub rules: Vec<String>,
    pub exceptions: Vec<Excepted>,
    pub note: String,
    pub duration_us: u64,
    pub fault: Option<Fault>,
    pub seal: String,
}

/// What an exception kept from counting.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Excepted {
    pub rule: String,
}

/// Why no decision was possible.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Fault {
    pub code: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Request<'l> {
    #[serde(borrow)]
    resource_logs: Option<&'l RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OfResource<'l> {
    #[serde(borrow)]
    resource: Option<&'l RawValue>,
    #[serde(borrow)]
    scope_logs: Option<&'l RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OfScope<'l> {
    #[serde(borrow)]
    log_records: Option<&'l RawValue>,
}

#[derive(Deserialize)]
struct Resource {
    #[serde(default)]
    attributes: Vec<Pair>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
struct Written {
    time_unix_nano: Value,
    observed_time_unix_nano: Value,
    event_name: String,
    attributes: Vec<Pair>,
    body: Option<Any>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Pair {
    key: String,
    value: Option<Any>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Any {
    string_value: Option<String>,
    bool_value: Option<bool>,
    int_value: Option<Value>,
    double_value: Option<Value>,
    array_value: Option<Values<Any>>,
    kvlist_value: Option<Values<Pair>>,
}

#[derive(Deserialize)]
struct Values<T> {
    #[serde(default = "Vec::new")]
    values: Vec<T>,
}

impl Any {
    fn text(self) -> String {
        self.string_value.unwrap_or_default()
    }

    fn json(self) -> Value {
        if let Some(text) = self.string_value {
            Value::String(text)
        } else if let Some(number) = self.int_value.or(self.double_value) {
            whole(&number).map_or(number, Value::from)
        } else if let Some(list) = self.array_value {
            list.values.into_iter().map(Any::json).collect()
        } else if let Some(pairs) = self.kvlist_value {
            let pairs = pairs.values.into_iter();
            Value::Object(
                pairs.map(|pair| (pair.key, pair.value.unwrap_or_default().json())).collect::<Map<_, _>>(),
            )
        } else {
            self.bool_value.map_or(Value::Null, Value::Bool)
        }
    }
}

/// A number as this form has it: of 64 bits it is a text.
fn whole(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

/// Hands each record of a line on with where it is from; what is none is handed on as why.
pub fn line(bytes: &[u8], with: &mut dyn FnMut(&Origin, Result<Record>)) -> Result<()> {
    let text = str::from_utf8(bytes).context("it is not UTF-8 text")?;
    let request: Request<'_> = serde_json::from_str(text)?;
    let Some(all) = request.resource_logs else { bail!("it has no resourceLogs") };
    each(Some(all), &mut |of| {
        let of: OfResource<'_> = serde_json::from_str(of)?;
        let origin = of.resource.map(origin).transpose()?.unwrap_or_default();
        each(of.scope_logs, &mut |scope| {
            let scope: OfScope<'_> = serde_json::from_str(scope)?;
            each(scope.log_records, &mut |text| {
                with(&origin, record(text));
                Ok(())
            })
        })
    })
}

fn origin(raw: &RawValue) -> Result<Origin> {
    if raw.get().len() > RESOURCE {
        bail!("what is said of where it is from is longer than {} KiB", RESOURCE >> 10);
    }
    let mut origin = Origin::default();
    for pair in serde_json::from_str::<Resource>(raw.get())?.attributes {
        let value = pair.value.unwrap_or_default();
        let place = match &*pair.key {
            "service.name" => &mut origin.service,
            "service.version" => &mut origin.version,
            "host.id" => &mut origin.machine,
            "host.name" => &mut origin.host,
            "user.name" => &mut origin.user,
            "lazaret.policy.name" => &mut origin.policy,
            "lazaret.policy.state" => &mut origin.state,
            "lazaret.policy.number" => {
                origin.number = value.int_value.as_ref().and_then(whole);
                continue;
            }
            _ => continue,
        };
        *place = value.text();
    }
    Ok(origin)
}

fn record(text: &str) -> Result<Record> {
    if text.len() > RECORD {
        bail!("a record is longer than {} KiB", RECORD >> 10);
    }
    let written: Written = serde_json::from_str(text)?;
    let nanos = [&written.time_unix_nano, &written.observed_time_unix_nano];
    let nanos = nanos.into_iter().filter_map(whole).find(|nanos| *nanos > 0).unwrap_or_default();
    let mut record = Record { name: written.event_name, nanos, ..Record::default() };
    for pair in written.attributes {
        let value = pair.value.unwrap_or_default();
        match &*pair.key {
            "log.record.uid" => record.uid = value.text(),
            "lazaret.unverified" => record.unverified = value.text(),
            _ => {}
        }
    }
    match written.body {
        Some(Any { string_value: Some(text), .. }) => record.notice = text,
        Some(body) => record.event = event(body.json())?,
        None => bail!("a record has no body"),
    }
    if record.notice.is_empty() {
        record.notice.clone_from(&record.event.note);
    }
    Ok(record)
}

/// The event in a body, which other schemas have as a whole under a key of their own.
fn event(mut body: Value) -> Result<Event> {
    if body.get("event").and_then(Value::as_str).is_none() {
        let whole = ["lazaret", "unmapped"].into_iter().find_map(|key| body.get_mut(key).map(Value::take));
        body = whole.context("its body is no event of the log")?;
    }
    serde_json::from_value(body).context("its body is no event of the log")
}

/// Hands the elements of a list on, as they are written.
fn each(list: Option<&RawValue>, with: &mut dyn FnMut(&str) -> Result<()>) -> Result<()> {
    let Some(list) = list else { return Ok(()) };
    let mut first = None;
    let visitor = Each(&mut |text: &str| {
        if let Err(error) = with(text) {
            first.get_or_insert(error);
        }
    });
    serde_json::Deserializer::from_str(list.get()).deserialize_seq(visitor)?;
    first.map_or(Ok(()), Err)
}

struct Each<'w>(&'w mut dyn FnMut(&str));

impl<'l> Visitor<'l> for Each<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'l>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(element) = list.next_element::<&RawValue>()? {
            (self.0)(element.get());
        }
        Ok(())
    }
}
