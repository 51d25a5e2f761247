//! The log of a machine, sent to a collector that is away, refuses, hangs up and answers nonsense.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

#[path = "shared/mod.rs"]
mod machines;
mod sending;

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use machines::{Became, Machine, Process, hook, until};
use opentelemetry_proto::tonic::common::v1::AnyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use sending::{Collector, Does, Place, attribute, id, sender};
use serde_json::{Value, json};

#[test]
fn of_a_hundred_thousand_events_none_is_lost() {
    const ALL: u64 = 100_000;
    let collector = Collector::new();
    let place = Place::new(&collector.url);
    let first = ALL / 4;
    for (at, file) in [
        "audit-20261128T100000.000Z.jsonl",
        "audit-20261128T110000.000Z.jsonl",
        "audit-20261128T120000.000Z.jsonl",
        "audit.jsonl",
    ]
    .iter()
    .enumerate()
    {
        let from = 1 + first * at as u64;
        place.log(file, "0245da23", from..from + first);
    }
    collector.does(Does::Away);
    let quiet = |mut command: Command| Process::start(command.stdout(Stdio::null()).stderr(Stdio::null()));
    let mut running = quiet(place.sender(&[]));
    std::thread::sleep(std::time::Duration::from_millis(600));
    assert_eq!(collector.count(), 0);
    for does in [Does::Busy, Does::Babbles, Does::Forgets, Does::Takes] {
        collector.does(does);
        std::thread::sleep(std::time::Duration::from_millis(400));
    }
    until("a third is there", || collector.count() > 30_000);
    running.kill();
    // What it had on its way is sent again, and nothing before that.
    let before = collector.count();
    let running = quiet(place.sender(&[]));
    until("all are there", || collector.ids().len() as u64 == ALL);
    let memory = fs::read_to_string(format!("/proc/{}/status", running.0.id())).unwrap();
    let most = memory.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let most: u64 = most.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(most < 64 * 1024, "{most} kB");
    let wanted: BTreeSet<String> = (1..=ALL).map(|number| id("0245da23", number, "")).collect();
    assert_eq!(collector.ids(), wanted);
    assert!(
        collector.count() as u64 <= ALL + 4 * 512,
        "{} came, {before} before it was killed",
        collector.count()
    );
    let (code, said) = place.once();
    assert!(code == Some(1) && said.contains("another sender is at work"), "{said}");
    until("all is remembered", || place.remembered() == ALL);
    drop(running);
    assert_eq!(place.once(), (Some(0), "0 events were sent\n".to_owned()));
}

#[test]
fn a_real_log_comes_as_it_was_written() {
    let collector = Collector::new();
    let machine = Machine::without_service("url = \"redis://x\"", "");
    machine.configure("");
    fs::write(machine.path("etc/token"), "t0k3n\n").unwrap();
    let settings = format!("[evidence]\nurl = \"{}\"\ntoken_file = \"token\"\n", collector.url);
    fs::write(machine.settings(), settings).unwrap();
    assert_eq!(machine.hook("one"), Became::Ran);
    assert_eq!(machine.hook("two"), Became::Ran);
    let mut send = sender(&machine.settings(), &machine.path("lazaret/state"), &["--once"]);
    assert!(send.output().unwrap().status.success());
    let got = collector.got.lock().unwrap();
    assert_eq!(got.tokens, BTreeSet::from(["Bearer t0k3n".to_owned()]));
    assert!(!attribute(&got.resources, "host.id").is_empty());
    assert_eq!(attribute(&got.resources, "service.name"), "lazaret");
    let log = fs::read_to_string(machine.path("lazaret/state/audit/audit.jsonl")).unwrap();
    assert_eq!(log.lines().count(), got.records.len());
    for (line, record) in log.lines().zip(&got.records) {
        let line: Value = serde_json::from_str(line).unwrap();
        assert_eq!(line["id"], attribute(&record.attributes, "log.record.uid"));
        assert_eq!(record.event_name, format!("lazaret.{}", line["event"].as_str().unwrap()));
        assert!(!record.attributes.iter().any(|pair| pair.key == "lazaret.unverified"), "{record:?}");
        let Some(Any::KvlistValue(body)) = record.body.clone().unwrap().value else { panic!("{record:?}") };
        assert_eq!(body.values.len(), line.as_object().unwrap().len());
        assert_eq!(attribute(&body.values, "seal"), line["seal"].as_str().unwrap());
        assert!(record.time_unix_nano > 1_700_000_000_000_000_000);
    }
    let allowed = got.records.iter().find(|record| record.event_name == "lazaret.action_allowed").unwrap();
    assert_eq!(attribute(&allowed.attributes, "session.id"), "one");
    assert_eq!(
        (attribute(&allowed.attributes, "lazaret.tool"), allowed.severity_number),
        ("Bash".to_owned(), 9)
    );
}

/// A body as the JSON that it was made of.
fn plain(value: &AnyValue) -> Value {
    match value.value.as_ref() {
        None => Value::Null,
        Some(Any::StringValue(text)) => json!(text),
        Some(Any::BoolValue(on)) => json!(on),
        Some(Any::IntValue(number)) => json!(number),
        Some(Any::DoubleValue(number)) => json!(number),
        Some(Any::ArrayValue(list)) => list.values.iter().map(plain).collect(),
        Some(Any::KvlistValue(list)) => {
            let pairs =
                list.values.iter().map(|pair| (pair.key.clone(), plain(pair.value.as_ref().unwrap())));
            Value::Object(pairs.collect())
        }
        other => panic!("{other:?}"),
    }
}

/// What a machine's log was sent as: an allowed call, a blocked one and what else stands there.
fn sent_as(format: &str) -> (Machine, Vec<Value>) {
    let collector = Collector::new();
    let machine = Machine::without_service("url = \"redis://x\"", "");
    machine.configure("");
    let settings = format!("[evidence]\nurl = \"{}\"\nformat = \"{format}\"\n", collector.url);
    fs::write(machine.settings(), settings).unwrap();
    assert_eq!(machine.hook("one"), Became::Ran);
    assert!(matches!(machine.hook_of("one", "rm -rf /"), Became::Refused(_)));
    let mut send = sender(&machine.settings(), &machine.path("lazaret/state"), &["--once"]);
    assert!(send.output().unwrap().status.success());
    let got = collector.got.lock().unwrap();
    let log = fs::read_to_string(machine.path("lazaret/state/audit/audit.jsonl")).unwrap();
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let ids: Vec<String> =
        got.records.iter().map(|record| attribute(&record.attributes, "log.record.uid")).collect();
    assert_eq!(ids, lines.iter().map(|line| line["id"].as_str().unwrap()).collect::<Vec<_>>());
    let bodies = got.records.iter().map(|record| plain(record.body.as_ref().unwrap())).collect();
    (machine, bodies)
}

#[test]
fn a_real_log_comes_in_the_schema_of_elastic_as_the_export_writes_it() {
    let (machine, bodies) = sent_as("ecs");
    let mut export = Command::new(hook());
    export.args(["audit", "export", "--format", "ecs"]).env_clear().env("HOME", machine.path("home"));
    let out = export.env("LAZARET_HOME", machine.path("lazaret")).output().unwrap();
    assert!(out.status.success(), "{out:?}");
    let exported = String::from_utf8(out.stdout).unwrap();
    let exported: Vec<Value> = exported.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(bodies, exported);
    assert!(bodies.iter().any(|body| body["event"]["type"] == json!(["denied"])), "{bodies:?}");
}

#[test]
fn a_real_log_comes_in_the_open_schema() {
    let (machine, bodies) = sent_as("ocsf");
    let log = fs::read_to_string(machine.path("lazaret/state/audit/audit.jsonl")).unwrap();
    for (body, line) in bodies.iter().zip(log.lines()) {
        let line: Value = serde_json::from_str(line).unwrap();
        // What the schema requires of every event.
        for key in ["activity_id", "category_uid", "class_uid", "severity_id", "time", "type_uid"] {
            assert!(body[key].is_u64(), "{key}: {body}");
        }
        let number = |key: &str| body[key].as_u64().unwrap();
        assert_eq!(number("type_uid"), number("class_uid") * 100 + number("activity_id"));
        assert_eq!(number("class_uid") / 1000, number("category_uid"));
        assert_eq!(
            (&body["metadata"]["uid"], &body["metadata"]["product"]["name"]),
            (&line["id"], &json!("lazaret"))
        );
        assert_eq!(body["unmapped"], line);
        let at = humantime::parse_rfc3339(line["time"].as_str().unwrap()).unwrap();
        let at = at.duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
        assert_eq!(u128::from(number("time")), at);
        assert_eq!(body["class_uid"] == 6003, line.get("tool").is_some());
    }
    let of = |event: &str| bodies.iter().find(|body| body["activity_name"] == event).unwrap();
    let (allowed, blocked) = (of("action_allowed"), of("action_blocked"));
    assert_eq!(allowed["actor"], json!({"app_name": "claude-code", "session": {"uid": "one"}}));
    assert_eq!(allowed["api"], json!({"operation": "Bash", "request": {"uid": "t"}}));
    assert!(allowed["src_endpoint"]["uid"].is_string());
    let control = |body: &Value| {
        ["action_id", "disposition_id", "severity_id", "status_id"].map(|key| body[key].clone())
    };
    assert_eq!(control(allowed), [1, 1, 1, 1]);
    assert_eq!(control(blocked), [2, 2, 4, 2]);
    let rules = blocked["unmapped"]["rules"].as_array().unwrap();
    let named: Vec<&Value> =
        blocked["authorizations"].as_array().unwrap().iter().map(|one| &one["policy"]["uid"]).collect();
    assert_eq!(named, rules.iter().collect::<Vec<_>>());
}

#[test]
fn a_log_that_was_replaced_shows() {
    let collector = Collector::new();
    let place = Place::new(&collector.url);
    let sent = |count: usize| {
        let (code, said) = place.once();
        assert_eq!((code, &*said), (Some(0), &*format!("{count} events were sent\n")));
    };
    place.log("audit.jsonl", "aaaaaaaa", 1..5);
    sent(4);
    place.log("audit.jsonl", "aaaaaaaa", 1..6);
    sent(1);
    // The oldest were removed, and more of them than were sent.
    place.log("audit.jsonl", "aaaaaaaa", 9..11);
    sent(2);
    // An older copy went on: the numbers are the same, and what bears them is later.
    place.log_as("audit.jsonl", "aaaaaaaa", 8..10, "z");
    sent(2);
    place.log("audit.jsonl", "bbbbbbbb", 1..3);
    sent(2);
    let names = collector.names();
    let notices: Vec<&String> = names.iter().filter(|name| name.starts_with("lazaret.log_")).collect();
    assert_eq!(notices, ["lazaret.log_gap", "lazaret.log_set_back", "lazaret.log_replaced"]);
    assert_eq!(names.len(), 4 + 1 + 2 + 2 + 2 + 3);
}

#[test]
fn what_a_collector_refuses_is_said_and_not_sent_again() {
    let collector = Collector::new();
    let place = Place::new(&collector.url);
    place.log("audit.jsonl", "aaaaaaaa", 1..5);
    // Not where it is led to, whatever is said there.
    collector.does(Does::Leads);
    let mut running = Process::start(place.sender(&["--once"]).stderr(Stdio::piped()));
    let mut said = String::new();
    BufReader::new(running.0.stderr.take().unwrap()).read_line(&mut said).unwrap();
    assert!(said.contains("the collector answered 302") && collector.count() == 0, "{said}");
    drop(running);
    collector.does(Does::Refuses);
    // And without HTTPS past a proxy, which would read along.
    let mut past = place.sender(&["--once"]);
    for name in ["http_proxy", "HTTPS_PROXY", "ALL_PROXY"] {
        past.env(name, "http://127.0.0.1:1");
    }
    let out = past.output().unwrap();
    let (code, said) = (out.status.code(), String::from_utf8(out.stderr).unwrap());
    assert!(code == Some(0) && said.contains("refused 1 events: too") && !said.contains('\u{1b}'), "{said}");
    assert_eq!(place.once().1, "0 events were sent\n");
}

#[test]
fn settings_that_cannot_be_used_are_named() {
    let place = Place::new("http://127.0.0.1:1/v1/logs");
    for (settings, why) in [
        ("[state]\nurl = \"redis://x\"\n", "it has no table [evidence]"),
        ("[evidence]\nurl = \"http://collector.example/v1/logs\"\n", "neither https://"),
        ("[evidence]\nurl = \"http://localhost:80@collector.example/v1/logs\"\n", "neither https://"),
        ("[evidence]\nurl = \"https://user:secret@collector.example/v1/logs\"\n", "neither https://"),
        ("[evidence]\nurl = \"https://\"\n", "neither https://"),
        (
            "[evidence]\nurl = \"https://x\"\nmetrics_url = \"https://[::1\"\n",
            "evidence.metrics_url is neither",
        ),
        ("[evidence]\nurl = \"https://x\"\ntoken_file = \"nowhere\"\n", "nowhere: there is no such file"),
        ("[evidence]\nurl = \"https://x\"\nca = \"nowhere\"\n", "nowhere: there is no such file"),
        (
            "[evidence]\nurl = \"https://x\"\nformat = \"cef\"\n",
            "fleet.toml:3: evidence.format: there is no `cef`; it is lazaret, ecs or ocsf",
        ),
    ] {
        place.settings(settings);
        let (code, said) = place.once();
        assert!(code == Some(1) && said.contains(why), "{settings}: {said}");
    }
    fs::write(place.path("state/fleet-sent.json"), "{").unwrap();
    place.settings("[evidence]\nurl = \"https://x\"\n");
    assert!(place.once().1.contains("fleet-sent.json: it cannot be read; remove it"));
}
