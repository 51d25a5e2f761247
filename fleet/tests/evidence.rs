//! The log of a machine, sent to a collector that is away, refuses, hangs up and answers nonsense.
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

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use machines::{Became, Machine, Process, until};
use opentelemetry_proto::tonic::collector::logs::v1::{
    ExportLogsPartialSuccess, ExportLogsServiceRequest, ExportLogsServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::logs::v1::LogRecord;
use prost::Message;

/// What a collector does with a request.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Does {
    Takes,
    /// Hangs up at once.
    Away,
    /// 503.
    Busy,
    /// Takes it, and hangs up before it says so.
    Forgets,
    /// 200, with something that is no answer.
    Babbles,
    /// Takes all but one.
    Refuses,
}

#[derive(Debug)]
struct Got {
    does: Does,
    records: Vec<LogRecord>,
    resources: Vec<KeyValue>,
    tokens: BTreeSet<String>,
}

/// A collector of OpenTelemetry.
#[derive(Clone)]
struct Collector {
    url: String,
    got: Arc<Mutex<Got>>,
}

impl Collector {
    fn new() -> Collector {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1/logs", listener.local_addr().unwrap());
        let got =
            Got { does: Does::Takes, records: Vec::new(), resources: Vec::new(), tokens: BTreeSet::new() };
        let collector = Collector { url, got: Arc::new(Mutex::new(got)) };
        let answering = collector.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // Who asks may have been killed.
                let _gone = answering.answer(&stream);
            }
        });
        collector
    }

    fn answer(&self, mut stream: &TcpStream) -> std::io::Result<()> {
        let does = self.got.lock().unwrap().does;
        if does == Does::Away {
            return Ok(());
        }
        let (mut reader, mut length, mut token) = (BufReader::new(stream), 0, String::new());
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            let Some((name, value)) = line.trim().split_once(": ") else {
                if line.trim().is_empty() {
                    break;
                }
                assert!(line.starts_with("POST /v1/logs "), "{line}");
                continue;
            };
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.parse().unwrap(),
                "authorization" => value.clone_into(&mut token),
                "content-type" => assert_eq!(value, "application/x-protobuf"),
                _ => {}
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        if does == Does::Busy {
            return stream.write_all(b"HTTP/1.1 503 busy\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        }
        let mut answer = ExportLogsServiceResponse::default().encode_to_vec();
        if does == Does::Babbles {
            answer = b"<html>".to_vec();
        } else {
            let request = ExportLogsServiceRequest::decode(&*body).unwrap();
            let mut got = self.got.lock().unwrap();
            got.tokens.insert(token);
            for all in request.resource_logs {
                got.resources = all.resource.unwrap().attributes;
                got.records.extend(all.scope_logs.into_iter().flat_map(|logs| logs.log_records));
            }
            if does == Does::Refuses {
                let error_message = "too \u{1b}[31mred".to_owned();
                let partial_success =
                    Some(ExportLogsPartialSuccess { rejected_log_records: 1, error_message });
                answer = ExportLogsServiceResponse { partial_success }.encode_to_vec();
            }
        }
        if does == Does::Forgets {
            return Ok(());
        }
        write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", answer.len())?;
        stream.write_all(&answer)
    }

    fn does(&self, does: Does) {
        self.got.lock().unwrap().does = does;
    }

    /// The ids of what came, each once.
    fn ids(&self) -> BTreeSet<String> {
        self.got
            .lock()
            .unwrap()
            .records
            .iter()
            .map(|record| attribute(&record.attributes, "log.record.uid"))
            .collect()
    }

    fn names(&self) -> Vec<String> {
        self.got.lock().unwrap().records.iter().map(|record| record.event_name.clone()).collect()
    }

    fn count(&self) -> usize {
        self.got.lock().unwrap().records.len()
    }
}

fn attribute(attributes: &[KeyValue], key: &str) -> String {
    let found = attributes.iter().find(|pair| pair.key == key).and_then(|pair| pair.value.clone()?.value);
    match found {
        Some(Any::StringValue(text)) => text,
        found => panic!("{key}: {found:?} in {attributes:?}"),
    }
}

/// A state directory and settings for a sender.
struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new(url: &str) -> Place {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("state/audit")).unwrap();
        fs::set_permissions(dir.path().join("state/audit"), fs::Permissions::from_mode(0o700)).unwrap();
        let place = Place { dir };
        place.settings(&format!("[evidence]\nurl = \"{url}\"\n"));
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn settings(&self, text: &str) {
        fs::write(self.path("fleet.toml"), text).unwrap();
        fs::set_permissions(self.path("fleet.toml"), fs::Permissions::from_mode(0o600)).unwrap();
    }

    /// Lines of a chain as they stand in a log.
    fn log(&self, file: &str, chain: &str, numbers: std::ops::Range<u64>) {
        self.log_as(file, chain, numbers, "");
    }

    fn log_as(&self, file: &str, chain: &str, numbers: std::ops::Range<u64>, later: &str) {
        let lines: String = numbers.map(|number| {
            format!(
                "{{\"id\":\"{}\",\"time\":\"2026-11-28T10:00:00.000Z\",\"event\":\"action_allowed\",\"session\":\"s\",\"tool\":\"Bash\",\
                 \"action\":\"ls {number}\",\"seal\":\"{chain}.{number}.aa.bb\"}}\n",
                id(chain, number, later)
            )
        }).collect();
        fs::write(self.path("state/audit").join(file), lines).unwrap();
    }

    fn sender(&self, more: &[&str]) -> Command {
        sender(&self.path("fleet.toml"), &self.path("state"), more)
    }

    fn once(&self) -> (Option<i32>, String) {
        let out = self.sender(&["--once"]).output().unwrap();
        let said = [out.stdout, out.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
        (out.status.code(), said)
    }
}

fn id(chain: &str, number: u64, later: &str) -> String {
    format!("01a2-{later}{chain}-{number:08}")
}

fn sender(settings: &Path, state: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lazaret-fleet"));
    command.args(["send", "--config"]).arg(settings).arg("--state").arg(state).args(more);
    command
}

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
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
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
    collector.does(Does::Refuses);
    let (code, said) = place.once();
    assert!(code == Some(0) && said.contains("refused 1 events: too") && !said.contains('\u{1b}'), "{said}");
    assert_eq!(place.once().1, "0 events were sent\n");
}

#[test]
fn settings_that_cannot_be_used_are_named() {
    let place = Place::new("http://127.0.0.1:1/v1/logs");
    for (settings, why) in [
        ("[state]\nurl = \"redis://x\"\n", "it has no table [evidence]"),
        ("[evidence]\nurl = \"http://collector.example/v1/logs\"\n", "neither https://"),
        ("[evidence]\nurl = \"https://x\"\ntoken_file = \"nowhere\"\n", "nowhere: there is no such file"),
        ("[evidence]\nurl = \"https://x\"\nca = \"nowhere\"\n", "nowhere: there is no such file"),
    ] {
        place.settings(settings);
        let (code, said) = place.once();
        assert!(code == Some(1) && said.contains(why), "{settings}: {said}");
    }
    fs::write(place.path("state/fleet-sent.json"), "{").unwrap();
    place.settings("[evidence]\nurl = \"https://x\"\n");
    assert!(place.once().1.contains("fleet-sent.json: it cannot be read; remove it"));
}
