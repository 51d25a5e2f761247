//! The overview: of real machines that sent their logs, and of files that somebody wrote to take it down.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::panic_in_result_fn,
    clippy::indexing_slicing,
    reason = "tests"
)]

#[path = "shared/mod.rs"]
mod machines;

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use lazaret::host::brought;
use machines::{Became, Machine};
use opentelemetry_proto::tonic::collector::logs::v1::{ExportLogsServiceRequest, ExportLogsServiceResponse};
use prost::Message;
use serde_json::{Value, json};

/// A collector that writes each request as a line, as the file exporter of OpenTelemetry's does.
struct Collector {
    url: String,
    dir: tempfile::TempDir,
}

impl Collector {
    fn new() -> Collector {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1/logs", listener.local_addr().unwrap());
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("logs.jsonl");
        let mut file = File::create(path).unwrap();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let request = ExportLogsServiceRequest::decode(&*take(&stream)).unwrap();
                writeln!(file, "{}", serde_json::to_string(&request).unwrap()).unwrap();
                answer(&stream);
            }
        });
        Collector { url, dir }
    }

    fn file(&self) -> PathBuf {
        self.dir.path().join("logs.jsonl")
    }

    fn lines(&self) -> Vec<String> {
        fs::read_to_string(self.file()).unwrap().lines().map(str::to_owned).collect()
    }
}

/// The body of a request.
fn take(stream: &TcpStream) -> Vec<u8> {
    let (mut reader, mut length, mut line) = (BufReader::new(stream), 0, String::new());
    while reader.read_line(&mut line).unwrap() > 2 {
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length: ") {
            length = value.trim().parse().unwrap();
        }
        line.clear();
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    body
}

fn answer(mut stream: &TcpStream) {
    let answer = ExportLogsServiceResponse::default().encode_to_vec();
    write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", answer.len())
        .unwrap();
    stream.write_all(&answer).unwrap();
}

/// A machine that sends to a collector.
fn machine(collector: &Collector) -> Machine {
    let machine = Machine::without_service("url = \"redis://x\"", "");
    machine.configure("");
    fs::write(machine.settings(), format!("[evidence]\nurl = \"{}\"\n", collector.url)).unwrap();
    machine
}

fn state(machine: &Machine) -> PathBuf {
    machine.path("lazaret/state")
}

fn send(machine: &Machine) {
    let sent = machine
        .fleet(&["send", "--once"])
        .arg("--state")
        .arg(state(machine))
        .arg("--dir")
        .arg(machine.path("etc"))
        .output()
        .unwrap();
    assert!(sent.status.success(), "{}", String::from_utf8_lossy(&sent.stderr));
}

/// A bundle as `policy apply` leaves it.
fn applied(machine: &Machine, number: u64, config: &str) {
    let written = brought::written(&brought::title("acme", number), config);
    fs::write(machine.path("etc/config.toml"), written).unwrap();
    let applied = json!({"name": "acme", "number": number, "sha256": brought::digest(config.as_bytes()),
        "expires": null, "applied": "2026-11-28T10:00:00Z", "had": {"acme": number}});
    fs::write(machine.path("etc/policy.json"), applied.to_string()).unwrap();
}

fn report(files: &[&Path], more: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_lazaret-fleet")).arg("report").args(files).args(more).output().unwrap()
}

fn told(files: &[&Path], more: &[&str]) -> String {
    let out = report(files, more);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap()
}

fn object(files: &[&Path], more: &[&str]) -> Value {
    serde_json::from_str(&told(files, &[more, &["--json"]].concat())).unwrap()
}

fn refused(files: &[&Path], why: &str) {
    let out = report(files, &[]);
    let said = String::from_utf8(out.stderr).unwrap();
    assert!(out.status.code() == Some(1) && said.contains(why), "{said}");
}

/// A line of a chain, sent with this about its machine.
fn line(number: u64, event: &str, about: &[(&str, Value)], more: &Value) -> Value {
    let mut body = json!({"id": format!("id-{number}"), "seal": format!("0245da23.{number}.aa.bb")});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    request(about, event, &format!("id-{number}"), &of(event, &body))
}

/// A body that is an event of the log.
fn of(event: &str, more: &Value) -> Value {
    let mut body = json!({"event": event});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    any(&body)
}

/// A request of one record, as a collector writes it.
fn request(of: &[(&str, Value)], event: &str, uid: &str, body: &Value) -> Value {
    let about: Vec<Value> =
        [("service.name", json!("lazaret")), ("host.id", json!("m1")), ("host.name", json!("one"))]
            .iter()
            .chain(of)
            .map(|(key, value)| json!({"key": key, "value": any(value)}))
            .collect();
    json!({"resourceLogs": [{"resource": {"attributes": about}, "scopeLogs": [{"logRecords": [{
        "timeUnixNano": "1764324000000000000", "eventName": format!("lazaret.{event}"), "body": body,
        "attributes": [{"key": "log.record.uid", "value": {"stringValue": uid}}], "traceId": "", "spanId": "",
    }]}]}]})
}

fn any(value: &Value) -> Value {
    match value {
        Value::String(text) => json!({"stringValue": text}),
        Value::Number(number) => json!({"intValue": number.to_string()}),
        Value::Array(list) => json!({"arrayValue": {"values": list.iter().map(any).collect::<Vec<_>>()}}),
        Value::Object(object) => {
            let values: Vec<Value> =
                object.iter().map(|(key, value)| json!({"key": key, "value": any(value)})).collect();
            json!({"kvlistValue": {"values": values}})
        }
        other => panic!("{other}"),
    }
}

fn stop(rule: &str) -> Value {
    json!({"verdict": "block", "enforcement": "deny", "rules": [rule], "duration_us": 9, "session": "s", "client": "codex"})
}

fn file(dir: &Path, name: &str, lines: &[Value]) -> PathBuf {
    let path = dir.join(name);
    fs::write(&path, lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    path
}

#[test]
fn of_real_machines_it_says_what_they_did() {
    let collector = Collector::new();
    let (one, two) = (machine(&collector), machine(&collector));
    applied(&one, 7, "# seven\n");
    for machine in [&one, &two] {
        assert_eq!(machine.hook("one"), Became::Ran);
        assert!(matches!(machine.hook_of("one", "rm -rf ~"), Became::Refused(_)));
    }
    assert!(matches!(one.hook_of("two", "rm -rf ~"), Became::Refused(_)));
    let lazaret = Path::new(env!("CARGO_BIN_EXE_lazaret-fleet")).with_file_name("lazaret");
    let mut word = Command::new(lazaret);
    word.args(["feedback", "last", "fp"]).env_clear().env("HOME", one.path("home"));
    assert!(word.env("LAZARET_HOME", one.path("lazaret")).output().unwrap().status.success());
    send(&one);
    send(&two);
    // What was sent is sent once more, as after an answer that was lost.
    fs::remove_file(state(&one).join("fleet-sent.json")).unwrap();
    send(&one);
    let file = collector.file();
    let said = object(&[&file], &[]);
    let lines = |machine: &Machine| {
        fs::read_to_string(state(machine).join("audit/audit.jsonl")).unwrap().lines().count() as u64
    };
    assert_eq!(said["events"], lines(&one) + lines(&two));
    assert_eq!(said["duplicates"], lines(&one));
    // Both are users of this computer; the one that sent last says what it has.
    let [machine] = &said["machines"].as_array().unwrap()[..] else { panic!("{said}") };
    assert_eq!((&machine["calls"], &machine["stops"]), (&json!(5), &json!(3)));
    assert_eq!(machine["policy"], json!({"name": "acme", "number": 7, "state": "whole", "old": false}));
    assert_eq!((&machine["silent"], &machine["clock_ahead"]), (&json!(false), &json!(false)));
    assert_eq!((machine["chains"].as_object().unwrap().len(), &machine["repeated"]), (2, &json!(0)));
    let rule = &said["rules"][0];
    assert_eq!(
        (&rule["stopped"], &rule["users"], &rule["wrong"]),
        (&json!(3), &json!(1), &json!(1)),
        "{rule}"
    );
    let text = told(&[&file], &["--silent", "1h"]);
    assert!(text.contains(rule["name"].as_str().unwrap()) && text.contains("acme 7"), "{text}");
    assert!(text.contains("\nsilent: none\n") && text.contains("\ndoes not add up: none\n"), "{text}");
    assert!(told(&[&file], &["--silent", "0s"]).contains("\nsilent: 1\n"));
    // The same from a directory, from standard input, and of a time in which nothing was.
    assert_eq!(object(&[collector.dir.path()], &[])["events"], said["events"]);
    let input = Command::new(env!("CARGO_BIN_EXE_lazaret-fleet"))
        .args(["report", "-", "--json"])
        .stdin(File::open(&file).unwrap())
        .output()
        .unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&input.stdout).unwrap()["rules"], said["rules"]);
    let later = object(&[&file], &["--since", "2100-01-01"]);
    assert_eq!((&later["events"], &later["machines"][0]["seen"]), (&json!(0), &machine["seen"]));
}

#[test]
fn a_line_is_as_the_mapping_of_otlp_has_it() {
    let collector = Collector::new();
    let machine = machine(&collector);
    assert_eq!(machine.hook("one"), Became::Ran);
    applied(&machine, 3, "# three\n");
    fs::write(machine.path("etc/config.toml"), "# by hand\n").unwrap();
    send(&machine);
    let line: Value = serde_json::from_str(&collector.lines()[0]).unwrap();
    let of = &line["resourceLogs"][0];
    let value = |list: &Value, key: &str| {
        let found = list.as_array().unwrap().iter().find(|pair| pair["key"] == key);
        found.unwrap_or_else(|| panic!("{key}: {list}"))["value"].clone()
    };
    let about = &of["resource"]["attributes"];
    assert_eq!(value(about, "service.name"), json!({"stringValue": "lazaret"}));
    assert_eq!(value(about, "lazaret.policy.name"), json!({"stringValue": "acme"}));
    assert_eq!(value(about, "lazaret.policy.number"), json!({"intValue": "3"}));
    assert_eq!(value(about, "lazaret.policy.state"), json!({"stringValue": "changed"}));
    let records = of["scopeLogs"][0]["logRecords"].as_array().unwrap();
    let allowed = records.iter().find(|record| record["eventName"] == "lazaret.action_allowed").unwrap();
    assert!(allowed["timeUnixNano"].as_str().unwrap().parse::<u64>().unwrap() > 1_700_000_000_000_000_000);
    assert_eq!((&allowed["severityNumber"], &allowed["traceId"]), (&json!(9), &json!("")));
    let body = &allowed["body"]["kvlistValue"]["values"];
    assert_eq!(value(body, "tool"), json!({"stringValue": "Bash"}));
    let duration = value(body, "duration_us");
    assert!(duration["intValue"].as_str().unwrap().parse::<u64>().unwrap() > 0, "{duration}");
    assert!(told(&[&collector.file()], &[]).contains("acme 3 (changed)"));
}

#[test]
fn what_people_did_after_a_stop_is_counted_once() {
    let dir = tempfile::tempdir().unwrap();
    let ask = json!({"verdict": "modify", "enforcement": "ask", "rules": ["git.push"], "duration_us": 9,
        "session": "s", "client": "claude-code", "call_id": "c"});
    let ended = json!({"session": "s", "client": "claude-code", "call_id": "c"});
    let once = json!({"verdict": "allow", "enforcement": "proceed", "rules": ["permission.used", "git.push"],
        "duration_us": 9, "session": "s"});
    let excepted = json!({"verdict": "allow", "enforcement": "proceed", "duration_us": 9, "session": "s",
        "exceptions": [{"rule": "git.push"}]});
    let word = |on: u64, word: &str| json!({"action": format!("id-{on}"), "note": word});
    let lines = [
        line(1, "action_asked", &[], &ask),
        line(2, "action_completed", &[], &ended),
        line(3, "action_completed", &[], &ended),
        line(4, "permission_used", &[], &once),
        line(5, "action_allowed", &[], &excepted),
        line(6, "action_blocked", &[], &stop("fs.root")),
        line(7, "feedback", &[], &word(6, "fp: our mirror")),
        line(8, "feedback", &[], &word(6, "ok")),
        line(9, "feedback", &[], &word(1, "fp")),
        line(10, "feedback", &[], &word(99, "fp")),
        // Another machine says it of an event that is not its own.
        request(&[("host.id", json!("m2"))], "feedback", "other", &of("feedback", &word(6, "fp"))),
        // A question of doctor's is no call.
        line(
            11,
            "action_blocked",
            &[],
            &json!({"verdict": "block", "duration_us": 9, "session": "lazaret-doctor-1"}),
        ),
    ];
    let file = file(dir.path(), "a.jsonl", &lines);
    let said = object(&[&file], &[]);
    let rule = |name: &str| {
        let found = said["rules"].as_array().unwrap().iter().find(|rule| rule["name"] == name);
        found.unwrap_or_else(|| panic!("{said}")).clone()
    };
    let push = json!({"name": "git.push", "stopped": 0, "asked": 1, "warned": 0, "users": 1, "agreed": 1, "allowed": 1,
        "excepted": 1, "wrong": 1, "right": 0});
    let root = json!({"name": "fs.root", "stopped": 1, "asked": 0, "warned": 0, "users": 1, "agreed": 0, "allowed": 0,
        "excepted": 0, "wrong": 0, "right": 1});
    assert_eq!((rule("git.push"), rule("fs.root")), (push, root));
    assert_eq!(said["feedback_on_unknown"], 2);
    assert_eq!((&said["machines"][0]["calls"], &said["machines"][0]["undecided"]), (&json!(4), &json!(0)));
    assert_eq!(said["machines"][0]["proved_by_doctor"], "2025-11-28T10:00:00Z");
    assert!(told(&[&file], &[]).contains("2 words about events that are not counted here"));
}

#[test]
fn what_does_not_add_up_is_said_of_its_machine() {
    let dir = tempfile::tempdir().unwrap();
    let about = |id: &str, number: u64| {
        [
            ("host.id", json!(id)),
            ("host.name", json!(id)),
            ("user.name", json!("1000")),
            ("lazaret.policy.name", json!("acme")),
            ("lazaret.policy.number", json!(number)),
            ("lazaret.policy.state", json!("whole")),
        ]
    };
    let (good, bad) = (about("good", 7), about("bad", 6));
    let fault = json!({"note": "fault.config: it cannot be used"});
    let started = json!({"session": "s", "verdict": "warn", "rules": ["self.binary-changed", "x"]});
    let mut unverified = line(21, "action_blocked", &bad, &stop("fs.root"));
    let attributes = &mut unverified["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0]["attributes"];
    attributes
        .as_array_mut()
        .unwrap()
        .push(json!({"key": "lazaret.unverified", "value": {"stringValue": "changed"}}));
    let repeated = request(&bad, "x", "another", &of("x", &json!({"seal": "0245da23.21.cc.dd"})));
    let ended = request(&good, "action_completed", "e", &of("action_completed", &json!({"call_id": "c"})));
    let lines = [
        line(10, "fault", &bad, &fault),
        line(13, "session_started", &bad, &started),
        request(&bad, "log_gap", "gap", &json!({"stringValue": "lines 11 to 12 were \u{1b}[31mremoved"})),
        line(20, "action_allowed", &bad, &json!({})),
        unverified,
        repeated,
        ended,
    ];
    let text = told(&[&file(dir.path(), "a", &lines)], &[]);
    for wanted in [
        "does not add up: 1\n  bad (1000): 1 × log_gap: lines 11 to 12 were \\u{1b}[31mremoved\n  bad (1000): 8 lines of 0245da23 did \
         not come: 11 to 12, 14 to 19\n  bad (1000): 1 event with the number of another\n  bad (1000): 1 event that did not verify\n",
        "  bad (1000): faults: 1 × fault.config\n  bad (1000): sessions began with: 1 × self.binary-changed\n",
        "  good (1000): 1 call more ended than were decided on\n",
        "old policy: 1\n  bad (1000): acme 6, and another has 7\n",
        "silent: 2\n  bad (1000): nothing since 2025-11-28T10:00:00Z (",
        "the log does not tell: whether a gate was switched off or removed",
    ] {
        assert!(text.contains(wanted), "{wanted:?} is not in {text}");
    }
}

#[test]
fn events_in_other_schemas_are_found_in_them() {
    let dir = tempfile::tempdir().unwrap();
    let event = |number: u64| {
        let mut event = stop("fs.root");
        event["event"] = json!("action_blocked");
        event["seal"] = json!(format!("0245da23.{number}.aa.bb"));
        event
    };
    let notice = json!({"event": "log_gap", "note": "lines 3 to 4 were removed"});
    let lines = [
        request(&[], "action_blocked", "1", &any(&json!({"event": {"kind": "alert"}, "lazaret": event(1)}))),
        request(&[], "action_blocked", "2", &any(&json!({"class_uid": 6003, "unmapped": event(2)}))),
        request(&[], "log_gap", "3", &any(&notice)),
        request(&[], "action_blocked", "4", &any(&json!({"message": "somebody's own"}))),
    ];
    let text = told(&[&file(dir.path(), "a", &lines)], &[]);
    assert!(text.contains("\nfs.root                                     2 "), "{text}");
    assert!(text.contains("1 × log_gap: lines 3 to 4 were removed\n"), "{text}");
    assert!(text.contains("a:4: its body is no event of the log\n"), "{text}");
}

#[test]
fn what_cannot_be_read_is_named_and_the_rest_is_counted() {
    let dir = tempfile::tempdir().unwrap();
    let good = line(1, "action_blocked", &[], &stop("\u{1b}]0;title\u{7}\u{202e}rule"));
    let other = json!({"resourceLogs": [{"resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "nginx"}}]},
        "scopeLogs": [{"logRecords": [{"body": {"stringValue": "GET /"}}]}]}]});
    let mut two = line(2, "action_blocked", &[], &stop("fs.root"));
    let records = &mut two["resourceLogs"][0]["scopeLogs"][0]["logRecords"];
    records.as_array_mut().unwrap().insert(0, json!("no record"));
    let file =
        file(dir.path(), "a.jsonl", &[json!("\u{1b}[2J"), json!({"resourceSpans": []}), good, other, two]);
    fs::OpenOptions::new()
        .append(true)
        .open(&file)
        .unwrap()
        .write_all(b"\n\xff\xfe\n{\"resourceLogs\":")
        .unwrap();
    let text = told(&[&file], &[]);
    assert!(!text.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{text:?}");
    assert!(
        text.contains("\\u{1b}]0;title\\u{7}\\u{202e}rule") && text.contains("2 events of 1 user"),
        "{text}"
    );
    assert!(
        text.contains("5 lines not read, or not all of them:\n") && text.contains("1 record of others"),
        "{text}"
    );
    for place in [
        "a.jsonl:1: ",
        "a.jsonl:2: it has no resourceLogs",
        "a.jsonl:5: ",
        "a.jsonl:7: it is not UTF-8",
        "a.jsonl:8: ",
    ] {
        assert!(text.contains(place), "{place} is not in {text}");
    }
    let empty = dir.path().join("empty");
    fs::write(&empty, "").unwrap();
    refused(&[&empty], "no event of lazaret's is in what was given: 0 lines");
    fs::write(&empty, "{}\n\u{1b}\n").unwrap();
    refused(&[&empty], "2 of them not read");
    refused(&[&dir.path().join("nowhere")], "nowhere: No such file");
    let said = report(&[&file], &["--since", "soon"]);
    assert!(String::from_utf8(said.stderr).unwrap().contains("--since soon: give a time"));
}

/// Writes lines to a report in a stream, and says what it said, and its largest memory in KiB.
fn streamed(write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> (Value, u64) {
    let out = tempfile::NamedTempFile::new().unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_lazaret-fleet"))
        .args(["report", "-", "--json"])
        .stdin(Stdio::piped())
        .stdout(out.reopen().unwrap())
        .spawn()
        .unwrap();
    let mut input = std::io::BufWriter::new(child.stdin.take().unwrap());
    write(&mut input).unwrap();
    input.flush().unwrap();
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let most = most.trim().trim_end_matches(" kB").parse().unwrap();
    drop(input);
    assert!(child.wait().unwrap().success());
    (serde_json::from_slice(&fs::read(out.path()).unwrap()).unwrap(), most)
}

#[test]
fn a_line_of_hundreds_of_megabytes_takes_nothing_down() {
    let good = line(1, "action_blocked", &[], &stop("fs.root"));
    let (said, most) = streamed(|input| {
        let chunk = "[".repeat(1 << 20);
        for _ in 0..300 {
            input.write_all(chunk.as_bytes())?;
        }
        writeln!(input)?;
        // Deep, wide, and much of what says nothing, in lines that are short enough to be read.
        writeln!(input, "{{\"resourceLogs\":{}", "[".repeat(20 << 20))?;
        writeln!(input, "{{\"resourceLogs\":[{}{{}}]}}", "{},".repeat(8 << 20))?;
        let deep = format!("{}{}", "{\"arrayValue\":{\"values\":[".repeat(5000), "]}}".repeat(5000));
        writeln!(
            input,
            "{}",
            request(&[], "x", "deep", &json!(0))
                .to_string()
                .replace("\"body\":0", &format!("\"body\":{deep}"))
        )?;
        let wide = format!("{{\"kvlistValue\":{{\"values\":[{}{{}}]}}}}", "{},".repeat(9 << 20));
        writeln!(
            input,
            "{}",
            request(&[], "x", "wide", &json!(0))
                .to_string()
                .replace("\"body\":0", &format!("\"body\":{wide}"))
        )?;
        writeln!(input, "{good}")
    });
    assert_eq!((&said["events"], &said["unread"]["lines"]), (&json!(1), &json!(4)), "{said}");
    assert!(most < 160 * 1024, "{most} kB");
}

#[test]
fn names_without_end_are_counted_together() {
    const ALL: u64 = 60_000;
    let (said, most) = streamed(|input| {
        for number in 0..ALL {
            let rules: Vec<String> =
                (0..20).map(|at| format!("rule-{number}-{at}-{}", "x".repeat(200))).collect();
            let event = json!({"verdict": "block", "duration_us": 9, "rules": rules, "seal": format!("c{number}.{}.a.b", number * 2)});
            let about = [("host.id", json!(format!("m{}", number % 30)))];
            writeln!(
                input,
                "{}",
                request(&about, "action_blocked", &number.to_string(), &of("action_blocked", &event))
            )?;
        }
        Ok(())
    });
    assert_eq!((&said["events"], said["machines"].as_array().unwrap().len()), (&json!(ALL), 30));
    let others = &said["rules"][0];
    assert_eq!((&others["name"], &others["users"]), (&json!("(other rules)"), &json!(30)));
    assert!(
        said["rules"].as_array().unwrap().len() <= 1 + 30 * 200,
        "{}",
        said["rules"].as_array().unwrap().len()
    );
    assert_eq!(said["machines"][0]["further_chains"], 2000 - 32);
    assert!(most < 96 * 1024, "{most} kB");
}

#[test]
fn who_has_read_enough_hears_no_complaint() {
    for more in [&["--json"][..], &[]] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_lazaret-fleet"))
            .args(["report", "-"])
            .args(more)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let good = line(1, "action_blocked", &[], &stop("fs.root"));
        writeln!(child.stdin.take().unwrap(), "{good}").unwrap();
        let out = child.wait_with_output().unwrap();
        assert_eq!((out.status.code(), String::from_utf8(out.stderr).unwrap()), (Some(0), String::new()));
    }
}
