//! Counts of what was sent, as metrics of OpenTelemetry: on a thread of its own, so that a collector which takes none of them holds up no
//! event.

use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use lazaret::host::audit::{self, Filter, Line};
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value;
use opentelemetry_proto::tonic::metrics::v1::{
    AggregationTemporality, Gauge, Metric, NumberDataPoint, ResourceMetrics, ScopeMetrics, Sum,
};
use prost::Message;

use super::collector::Collector;
use super::counts::{Counter, Counts, Labels};
use super::cursor::Place;
use super::{Origin, otlp};
use crate::settings::Evidence;

/// The thread, and what it reads.
#[derive(Debug)]
pub struct Metrics {
    counts: Arc<Mutex<Counts>>,
    /// Dropped when nothing is sent any more.
    going_on: Sender<()>,
    thread: JoinHandle<()>,
}

/// What the thread does its work with.
struct Reporter {
    counts: Arc<Mutex<Counts>>,
    collector: Collector,
    origin: Origin,
    log: PathBuf,
    begun: SystemTime,
    every: Duration,
}

impl Metrics {
    /// Begins; none = the settings name no collector of metrics.
    pub fn new(
        evidence: &Evidence,
        origin: &Origin,
        log: PathBuf,
        at: Option<&Place>,
    ) -> Result<Option<Metrics>> {
        let Some(url) = &evidence.metrics_url else { return Ok(None) };
        let counts = Arc::new(Mutex::new(Counts { at: at.cloned(), ..Counts::default() }));
        let reporter = Reporter {
            counts: Arc::clone(&counts),
            collector: Collector::new(evidence, url)?,
            origin: origin.clone(),
            log,
            begun: SystemTime::now(),
            every: Duration::from_secs(evidence.metrics_seconds.into()),
        };
        let (going_on, ended) = mpsc::channel();
        let thread = thread::Builder::new().name("metrics".to_owned()).spawn(move || reporter.run(&ended));
        Ok(Some(Metrics { counts, going_on, thread: thread.context("a thread for metrics")? }))
    }

    /// Counts events that a collector took; the last one stands at that place.
    pub fn sent(&self, lines: &[Line], at: Option<&Place>) {
        locked(&self.counts).add(lines, at);
    }

    /// Sends once more, and waits until that is done or has failed.
    pub fn end(self) {
        drop(self.going_on);
        // What went wrong there was said there.
        let _ended = self.thread.join();
    }
}

fn locked(counts: &Mutex<Counts>) -> MutexGuard<'_, Counts> {
    counts.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Reporter {
    fn run(&self, ended: &Receiver<()>) {
        let mut was_well = true;
        loop {
            let ends = ended.recv_timeout(self.every) != Err(RecvTimeoutError::Timeout);
            let sent = self.collector.metrics(&self.request().encode_to_vec());
            if let (Err(error), true) = (&sent, was_well) {
                crate::complain(&format!("{error:#}; events are sent all the same"));
            }
            was_well = sent.is_ok();
            if ends {
                return;
            }
        }
    }

    fn request(&self) -> ExportMetricsServiceRequest {
        // Read before it is known how far the sender is: what is written meanwhile does not count as waiting.
        let last = audit::last(&self.log, Filter::default(), 1).iter().find_map(Place::of);
        let now = SystemTime::now();
        let (mut metrics, waiting, newest) = {
            let counts = locked(&self.counts);
            let metrics: Vec<Metric> = counts
                .of
                .iter()
                .map(|(counter, series)| sum(*counter, series.iter(), self.begun, now))
                .collect();
            (metrics, last.map(|last| waiting(&last, counts.at.as_ref())), counts.newest)
        };
        if let Some(waiting) = waiting {
            let value = Value::AsInt(i64::try_from(waiting).unwrap_or(i64::MAX));
            metrics.push(gauge(
                "lazaret.events.waiting",
                "Events that were not sent yet",
                "{event}",
                value,
                now,
            ));
        }
        if let Some(newest) = newest {
            let age = now.duration_since(newest).unwrap_or_default().as_secs_f64();
            let told = "Age of the newest event that was sent";
            metrics.push(gauge("lazaret.events.sent.age", told, "s", Value::AsDouble(age), now));
        }
        let scope = ScopeMetrics { scope: Some(otlp::scope()), metrics, ..ScopeMetrics::default() };
        let all = ResourceMetrics {
            resource: Some(otlp::resource(&self.origin)),
            scope_metrics: vec![scope],
            ..ResourceMetrics::default()
        };
        ExportMetricsServiceRequest { resource_metrics: vec![all] }
    }
}

/// How many lines of a log that ends with `last` were not sent.
fn waiting(last: &Place, at: Option<&Place>) -> u64 {
    let sent = at.filter(|at| at.chain == last.chain).map_or(0, |at| at.number);
    last.number.saturating_sub(sent)
}

fn sum<'c>(
    counter: Counter,
    series: impl Iterator<Item = (&'c Labels, &'c u64)>,
    begun: SystemTime,
    now: SystemTime,
) -> Metric {
    let (name, description, unit) = match counter {
        Counter::Decisions => ("lazaret.decisions", "Decisions in events that were sent", "{decision}"),
        Counter::Stops => {
            ("lazaret.stops", "Calls that were refused, once for each rule that spoke", "{call}")
        }
        Counter::Calls => ("lazaret.calls", "Calls that were decided on", "{call}"),
        Counter::Faults => ("lazaret.faults", "Faults in events that were sent", "{fault}"),
    };
    let point = |(labels, count): (&Labels, &u64)| NumberDataPoint {
        attributes: attributes(labels),
        start_time_unix_nano: nanos(begun),
        time_unix_nano: nanos(now),
        value: Some(Value::AsInt(i64::try_from(*count).unwrap_or(i64::MAX))),
        ..NumberDataPoint::default()
    };
    let sum = Sum {
        data_points: series.map(point).collect(),
        aggregation_temporality: AggregationTemporality::Cumulative.into(),
        is_monotonic: true,
    };
    metric(name, description, unit, Data::Sum(sum))
}

fn gauge(name: &str, description: &str, unit: &str, value: Value, now: SystemTime) -> Metric {
    let point =
        NumberDataPoint { time_unix_nano: nanos(now), value: Some(value), ..NumberDataPoint::default() };
    metric(name, description, unit, Data::Gauge(Gauge { data_points: vec![point] }))
}

fn metric(name: &str, description: &str, unit: &str, data: Data) -> Metric {
    Metric {
        name: name.to_owned(),
        description: description.to_owned(),
        unit: unit.to_owned(),
        data: Some(data),
        ..Metric::default()
    }
}

fn attributes(labels: &Labels) -> Vec<KeyValue> {
    match labels {
        Some(labels) => labels.iter().map(|(key, value)| otlp::text(key, value)).collect(),
        None => vec![otlp::pair("otel.metric.overflow", Any::BoolValue(true))],
    }
}

fn nanos(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
