//! The calls of a log as traces, beside the events: each once, and in nobody's way.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

#[path = "shared/mod.rs"]
mod machines;
mod sending;

use std::fs;
use std::process::Stdio;

use machines::{Became, Machine, Process, until};
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use sending::{Collector, Does, Place, attribute, sender};
use serde_json::{Value, json};

/// Settings for logs and traces that go to the same collector.
fn settings(collector: &Collector) -> String {
    let traces = collector.url.replace("/v1/logs", "/v1/traces");
    format!("[evidence]\nurl = \"{}\"\ntraces_url = \"{traces}\"\n", collector.url)
}

fn spans(collector: &Collector) -> Vec<Span> {
    let got = collector.got.lock().unwrap();
    got.traces.iter().flat_map(|all| &all.scope_spans).flat_map(|scope| scope.spans.clone()).collect()
}

fn nanos(line: &Value) -> u64 {
    let time = humantime::parse_rfc3339(line["time"].as_str().unwrap()).unwrap();
    u64::try_from(time.duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos()).unwrap()
}

#[test]
fn the_calls_of_a_session_are_one_trace() {
    let collector = Collector::new();
    let machine = Machine::without_service("url = \"redis://x\"", "");
    machine.configure("");
    fs::write(machine.settings(), settings(&collector)).unwrap();
    assert_eq!(machine.hook("one"), Became::Ran);
    assert_eq!(machine.hook_after("one", "ls"), Became::Ran);
    assert!(matches!(machine.hook_of("one", "rm -rf /"), Became::Refused(_)));
    assert_eq!(machine.hook("two"), Became::Ran);
    let send = || {
        let mut send = sender(&machine.settings(), &machine.path("lazaret/state"), &["--once"]);
        assert!(send.output().unwrap().status.success());
        spans(&collector)
    };
    let sent = send();
    let log = fs::read_to_string(machine.path("lazaret/state/audit/audit.jsonl")).unwrap();
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |event: &str, session: &str| {
        lines.iter().find(|line| line["event"] == event && line["session"] == session).unwrap()
    };
    let (begun, ended) = (of("action_allowed", "one"), of("action_completed", "one"));
    let (refused, open) = (of("action_blocked", "one"), of("action_allowed", "two"));
    assert_eq!(sent.len(), 3, "{sent:?}");
    for (span, decision, end) in
        [(&sent[0], begun, ended), (&sent[1], refused, refused), (&sent[2], open, open)]
    {
        assert_eq!((span.trace_id.len(), span.span_id.len(), &*span.name), (16, 8, "Bash"));
        assert_eq!(attribute(&span.attributes, "log.record.uid"), decision["id"].as_str().unwrap());
        assert_eq!(attribute(&span.attributes, "session.id"), decision["session"].as_str().unwrap());
        let took = decision["duration_us"].as_u64().unwrap() * 1000;
        assert_eq!(
            (span.start_time_unix_nano, span.end_time_unix_nano),
            (nanos(decision) - took, nanos(end))
        );
    }
    assert_eq!(sent[0].trace_id, sent[1].trace_id);
    assert_ne!(sent[0].trace_id, sent[2].trace_id);
    assert_ne!(sent[0].span_id, sent[1].span_id);
    let status = sent[1].status.clone().unwrap();
    assert_eq!((status.code, &*status.message), (StatusCode::Error as i32, "files.delete-root"));
    assert!(sent[0].status.is_none() && sent[2].status.is_none());
    let resource = collector.got.lock().unwrap().traces[0].resource.clone().unwrap().attributes;
    assert_eq!(resource, collector.got.lock().unwrap().resources);
    // Ids hang on the log alone.
    fs::remove_file(machine.path("lazaret/state/fleet-sent.json")).unwrap();
    let again = send();
    let ids = |spans: &[Span]| -> Vec<(Vec<u8>, Vec<u8>)> {
        spans.iter().map(|span| (span.trace_id.clone(), span.span_id.clone())).collect()
    };
    assert_eq!(ids(&again[..3]), ids(&again[3..]));
}

/// Lines of one chain, each a call's.
fn write(place: &Place, lines: impl Iterator<Item = Value>) {
    let line = |(at, mut line): (usize, Value)| {
        line["id"] = json!(format!("01a2-{at:08}"));
        line["time"] = json!(format!("2026-11-28T10:00:{:02}.000Z", at % 60));
        line["tool"] = json!("Bash");
        line["seal"] = json!(format!("0245da23.{}.aa.bb", at + 1));
        format!("{line}\n")
    };
    let text: String = lines.enumerate().map(line).collect();
    fs::write(place.path("state/audit/audit.jsonl"), text).unwrap();
}

fn allowed(call: &str) -> Value {
    json!({"event": "action_allowed", "session": "s", "call_id": call, "verdict": "allow", "enforcement": "proceed"})
}

fn refused() -> Value {
    json!({"event": "action_blocked", "session": "s", "verdict": "block", "enforcement": "deny", "rules": ["x"]})
}

#[test]
fn calls_that_run_at_once_end_each_for_itself() {
    let collector = Collector::new();
    let place = Place::new("http://127.0.0.1:1");
    place.settings(&settings(&collector));
    let end = |event: &str, call: &str| json!({"event": event, "session": "s", "call_id": call});
    let lines = [
        allowed("a"),
        allowed("b"),
        end("action_failed", "b"),
        end("action_completed", "a"),
        // Its beginning is not in the log.
        end("action_completed", "c"),
    ];
    write(&place, lines.into_iter());
    assert_eq!(place.once(), (Some(0), "5 events were sent\n".to_owned()));
    let sent = spans(&collector);
    let took: Vec<u64> = sent
        .iter()
        .map(|span| (span.end_time_unix_nano - span.start_time_unix_nano) / 1_000_000_000)
        .collect();
    assert_eq!(took, [1, 3]);
    assert_eq!(sent[0].status.clone().unwrap().message, "the call failed");
    assert_eq!(sent[1].status, None);
}

#[test]
fn a_collector_that_takes_no_traces_holds_up_no_event() {
    for (does, why) in [
        (Does::Busy, "the collector answered 503"),
        (Does::Babbles, "its answer is none"),
        (Does::Refuses, "the collector refused 1 spans: no"),
    ] {
        let collector = Collector::new();
        let place = Place::new("http://127.0.0.1:1");
        place.settings(&settings(&collector));
        write(&place, (0..3).map(|_| refused()));
        collector.got.lock().unwrap().measures = does;
        let (code, said) = place.once();
        assert!(code == Some(0) && said.contains("3 events were sent"), "{does:?}: {said}");
        assert!(said.contains(why) && said.contains("events are sent all the same"), "{said}");
        assert!(!said.contains('\u{1b}') && collector.count() == 3, "{said}");
    }
}

#[test]
fn a_collector_that_does_not_answer_holds_up_no_event() {
    const ALL: usize = 40 * 512;
    let collector = Collector::new();
    let place = Place::new("http://127.0.0.1:1");
    place.settings(&settings(&collector));
    collector.got.lock().unwrap().measures = Does::Hangs;
    write(&place, (0..ALL).map(|_| refused()));
    let told = place.path("told");
    let mut command = place.sender(&[]);
    let running = Process::start(command.stdout(Stdio::null()).stderr(fs::File::create(&told).unwrap()));
    until("all are there", || collector.ids().len() == ALL);
    until("what is left out is said", || {
        fs::read_to_string(&told).unwrap().contains("the collector of traces is too slow")
    });
    let memory = fs::read_to_string(format!("/proc/{}/status", running.0.id())).unwrap();
    let most = memory.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let most: u64 = most.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(most < 64 * 1024, "{most} kB");
    // One request is there, and its answer is still waited for.
    assert_eq!(spans(&collector).len(), 512);
    drop(running);
}

#[test]
fn an_address_that_cannot_be_used_is_named() {
    let place = Place::new("http://127.0.0.1:1");
    place.settings("[evidence]\nurl = \"https://x\"\ntraces_url = \"http://collector.example/v1/traces\"\n");
    let (code, said) = place.once();
    assert!(code == Some(1) && said.contains("evidence.traces_url is neither https://"), "{said}");
}
