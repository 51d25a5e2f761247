//! What the events that are sent add up to, beside them: counted once each, and in nobody's way.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

#[path = "shared/mod.rs"]
mod machines;
mod sending;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::process::Stdio;

use machines::{Became, Machine, Process, until};
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value as Point;
use opentelemetry_proto::tonic::metrics::v1::{AggregationTemporality, ResourceMetrics};
use sending::{Collector, Does, Place, attribute, sender};
use serde_json::{Value, json};

/// What a request says: each series by its metric and what it is told apart by, and when the counting began.
#[derive(Debug, Clone, Default)]
struct Report {
    values: BTreeMap<String, f64>,
    begun: u64,
}

impl Report {
    fn of(all: &ResourceMetrics) -> Report {
        let mut report = Report::default();
        for metric in all.scope_metrics.iter().flat_map(|scope| &scope.metrics) {
            assert!(!metric.unit.is_empty() && !metric.description.is_empty(), "{metric:?}");
            let points = match metric.data.as_ref().unwrap() {
                Data::Sum(sum) => {
                    assert!(sum.is_monotonic, "{metric:?}");
                    assert_eq!(sum.aggregation_temporality, AggregationTemporality::Cumulative as i32);
                    for point in &sum.data_points {
                        assert!(
                            point.start_time_unix_nano > 0
                                && point.start_time_unix_nano < point.time_unix_nano
                        );
                        assert!([0, point.start_time_unix_nano].contains(&report.begun));
                        report.begun = point.start_time_unix_nano;
                    }
                    &sum.data_points
                }
                Data::Gauge(gauge) => &gauge.data_points,
                other => panic!("{other:?}"),
            };
            for point in points {
                let mut name = metric.name.clone();
                for pair in &point.attributes {
                    let Some(Any::StringValue(value)) = pair.value.clone().unwrap().value else {
                        panic!("{pair:?}")
                    };
                    name += &format!(" {}={value}", pair.key);
                }
                let value = match point.value.unwrap() {
                    Point::AsInt(value) => value as f64,
                    Point::AsDouble(value) => value,
                };
                assert_eq!(report.values.insert(name.clone(), value), None, "{name}");
            }
        }
        report
    }

    fn value(&self, name: &str) -> Option<f64> {
        self.values.get(name).copied()
    }
}

fn reports(collector: &Collector) -> Vec<Report> {
    collector.got.lock().unwrap().metrics.iter().map(Report::of).collect()
}

fn last(collector: &Collector) -> Report {
    reports(collector).pop().unwrap_or_default()
}

/// Settings for logs and metrics that go to the same collector.
fn settings(collector: &Collector, more: &str) -> String {
    let metrics = collector.url.replace("/v1/logs", "/v1/metrics");
    format!("[evidence]\nurl = \"{}\"\nmetrics_url = \"{metrics}\"\n{more}", collector.url)
}

#[test]
fn a_real_log_is_counted() {
    let collector = Collector::new();
    let machine = Machine::without_service("url = \"redis://x\"", "");
    machine.configure("");
    fs::write(machine.settings(), settings(&collector, "")).unwrap();
    assert_eq!(machine.hook("one"), Became::Ran);
    assert_eq!(machine.hook("two"), Became::Ran);
    assert!(matches!(machine.hook_of("one", "rm -rf /"), Became::Refused(_)));
    let mut send = sender(&machine.settings(), &machine.path("lazaret/state"), &["--once"]);
    assert!(send.output().unwrap().status.success());
    let log = fs::read_to_string(machine.path("lazaret/state/audit/audit.jsonl")).unwrap();
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut wanted = BTreeMap::from([("lazaret.events.waiting".to_owned(), 0.0)]);
    for line in lines.iter().filter(|line| line.get("verdict").is_some()) {
        let mut count = |name: String| *wanted.entry(name).or_default() += 1.0;
        count(format!("lazaret.decisions lazaret.verdict={}", line["verdict"].as_str().unwrap()));
        count("lazaret.calls lazaret.tool=Bash lazaret.client=claude-code".to_owned());
        if line["verdict"] == "block" {
            for rule in line["rules"].as_array().unwrap() {
                count(format!("lazaret.stops lazaret.rule={}", rule.as_str().unwrap()));
            }
        }
    }
    assert_eq!(wanted["lazaret.calls lazaret.tool=Bash lazaret.client=claude-code"], 3.0, "{log}");
    assert_eq!(wanted["lazaret.stops lazaret.rule=files.delete-root"], 1.0);
    let mut report = last(&collector);
    let age = report.values.remove("lazaret.events.sent.age").unwrap();
    assert!((0.0..600.0).contains(&age), "{age}");
    assert_eq!(report.values, wanted);
    let all = collector.got.lock().unwrap().metrics.remove(0);
    let resource = all.resource.unwrap().attributes;
    assert_eq!(resource, collector.got.lock().unwrap().resources);
    assert_eq!(attribute(&resource, "service.name"), "lazaret");
    // In Prometheus only this and the name tell the counts of two machines apart.
    let instance = format!("{}/{}", attribute(&resource, "host.id"), attribute(&resource, "user.name"));
    assert_eq!(attribute(&resource, "service.instance.id"), instance);
    // Nothing was sent the second time, so there is nothing to count.
    let mut send = sender(&machine.settings(), &machine.path("lazaret/state"), &["--once"]);
    assert!(send.output().unwrap().status.success());
    assert_eq!(last(&collector).values, BTreeMap::from([("lazaret.events.waiting".to_owned(), 0.0)]));
}

/// Adds lines of a chain to a log.
fn add(place: &Place, events: &[&str], from: usize) {
    let path = place.path("state/audit/audit.jsonl");
    let mut log = fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
    for (number, event) in (from..).zip(events) {
        let line = json!({
            "id": format!("01a2-{number:08}"), "time": "2026-11-28T10:00:00.000Z", "event": event, "session": "s",
            "seal": format!("0245da23.{number}.aa.bb"),
        });
        log.write_all(format!("{line}\n").as_bytes()).unwrap();
    }
}

#[test]
fn counts_grow_from_one_beginning_on() {
    let collector = Collector::new();
    let place = Place::new("http://127.0.0.1:1");
    place.settings(&settings(&collector, "metrics_seconds = 1\n"));
    add(&place, &["fault", "prompt_submitted", "fault"], 1);
    collector.does(Does::Busy);
    let mut command = place.sender(&[]);
    let running = Process::start(command.stdout(Stdio::null()).stderr(Stdio::null()));
    until("three are waiting", || last(&collector).value("lazaret.events.waiting") == Some(3.0));
    assert_eq!(last(&collector).values.len(), 1, "nothing was sent, and nothing is counted");
    collector.does(Does::Takes);
    until("two faults were sent", || last(&collector).value("lazaret.faults") == Some(2.0));
    let before = last(&collector);
    assert_eq!(before.value("lazaret.events.waiting"), Some(0.0));
    assert!(before.value("lazaret.events.sent.age").is_some());
    add(&place, &["fault"], 4);
    until("another one was sent", || last(&collector).value("lazaret.faults") == Some(3.0));
    assert_eq!(last(&collector).begun, before.begun);
    drop(running);
}

#[test]
fn a_collector_that_takes_no_metrics_holds_up_no_event() {
    for (does, why) in [
        (Does::Busy, "the collector answered 503"),
        (Does::Babbles, "its answer is none"),
        (Does::Refuses, "the collector refused 1 values: no"),
    ] {
        let collector = Collector::new();
        let place = Place::new("http://127.0.0.1:1");
        place.settings(&settings(&collector, ""));
        place.log("audit.jsonl", "0245da23", 1..4);
        collector.got.lock().unwrap().measures = does;
        let (code, said) = place.once();
        assert!(code == Some(0) && said.contains("3 events were sent"), "{does:?}: {said}");
        assert!(said.contains(why) && said.contains("events are sent all the same"), "{said}");
        assert!(!said.contains('\u{1b}'), "{said}");
        assert_eq!(collector.count(), 3);
    }
}

#[test]
fn a_collector_that_does_not_answer_holds_up_no_event() {
    let collector = Collector::new();
    let place = Place::new("http://127.0.0.1:1");
    place.settings(&settings(&collector, "metrics_seconds = 1\n"));
    collector.got.lock().unwrap().measures = Does::Hangs;
    let mut command = place.sender(&[]);
    let running = Process::start(command.stdout(Stdio::null()).stderr(Stdio::null()));
    until("it waits for an answer", || reports(&collector).len() == 1);
    add(&place, &["fault"; 2_000], 1);
    until("all are there", || collector.ids().len() == 2_000);
    // The answer is still waited for.
    assert_eq!(reports(&collector).len(), 1);
    drop(running);
}

#[test]
fn settings_that_cannot_be_used_are_named() {
    let place = Place::new("http://127.0.0.1:1");
    for (settings, why) in [
        ("metrics_url = \"http://collector.example/v1/metrics\"", "evidence.metrics_url is neither https://"),
        ("metrics_url = \"syslog+tls://x\"", "evidence.metrics_url is neither https://"),
        ("metrics_seconds = 0", "evidence.metrics_seconds is 0; it is 1 at least"),
    ] {
        place.settings(&format!("[evidence]\nurl = \"https://x\"\n{settings}\n"));
        let (code, said) = place.once();
        assert!(code == Some(1) && said.contains(why), "{settings}: {said}");
    }
}
