//! A collector of OpenTelemetry, and a log that is sent to it.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::panic_in_result_fn,
    clippy::indexing_slicing,
    reason = "tests; each uses a part"
)]

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use opentelemetry_proto::tonic::collector::logs::v1::{
    ExportLogsPartialSuccess, ExportLogsServiceRequest, ExportLogsServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::logs::v1::LogRecord;
use prost::Message;

/// What a collector does with a request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Does {
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
pub struct Got {
    pub does: Does,
    pub records: Vec<LogRecord>,
    pub resources: Vec<KeyValue>,
    pub tokens: BTreeSet<String>,
}

/// A collector of OpenTelemetry.
#[derive(Clone)]
pub struct Collector {
    pub url: String,
    pub got: Arc<Mutex<Got>>,
}

impl Collector {
    pub fn new() -> Collector {
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

    pub fn does(&self, does: Does) {
        self.got.lock().unwrap().does = does;
    }

    /// The ids of what came, each once.
    pub fn ids(&self) -> BTreeSet<String> {
        self.got
            .lock()
            .unwrap()
            .records
            .iter()
            .map(|record| attribute(&record.attributes, "log.record.uid"))
            .collect()
    }

    pub fn names(&self) -> Vec<String> {
        self.got.lock().unwrap().records.iter().map(|record| record.event_name.clone()).collect()
    }

    pub fn count(&self) -> usize {
        self.got.lock().unwrap().records.len()
    }
}

pub fn attribute(attributes: &[KeyValue], key: &str) -> String {
    let found = attributes.iter().find(|pair| pair.key == key).and_then(|pair| pair.value.clone()?.value);
    match found {
        Some(Any::StringValue(text)) => text,
        found => panic!("{key}: {found:?} in {attributes:?}"),
    }
}

/// A state directory and settings for a sender.
pub struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    pub fn new(url: &str) -> Place {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("state/audit")).unwrap();
        fs::set_permissions(dir.path().join("state/audit"), fs::Permissions::from_mode(0o700)).unwrap();
        let place = Place { dir };
        place.settings(&format!("[evidence]\nurl = \"{url}\"\n"));
        place
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn settings(&self, text: &str) {
        fs::write(self.path("fleet.toml"), text).unwrap();
        fs::set_permissions(self.path("fleet.toml"), fs::Permissions::from_mode(0o600)).unwrap();
    }

    /// Lines of a chain as they stand in a log.
    pub fn log(&self, file: &str, chain: &str, numbers: std::ops::Range<u64>) {
        self.log_as(file, chain, numbers, "");
    }

    pub fn log_as(&self, file: &str, chain: &str, numbers: std::ops::Range<u64>, later: &str) {
        let lines: String = numbers.map(|number| {
            format!(
                "{{\"id\":\"{}\",\"time\":\"2026-11-28T10:00:00.000Z\",\"event\":\"action_allowed\",\"session\":\"s\",\"tool\":\"Bash\",\
                 \"action\":\"ls {number}\",\"seal\":\"{chain}.{number}.aa.bb\"}}\n",
                id(chain, number, later)
            )
        }).collect();
        fs::write(self.path("state/audit").join(file), lines).unwrap();
    }

    pub fn sender(&self, more: &[&str]) -> Command {
        sender(&self.path("fleet.toml"), &self.path("state"), more)
    }

    pub fn once(&self) -> (Option<i32>, String) {
        let out = self.sender(&["--once"]).output().unwrap();
        let said = [out.stdout, out.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
        (out.status.code(), said)
    }
}

pub fn id(chain: &str, number: u64, later: &str) -> String {
    format!("01a2-{later}{chain}-{number:08}")
}

pub fn sender(settings: &Path, state: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lazaret-fleet"));
    command.args(["send", "--config"]).arg(settings).arg("--state").arg(state).args(more);
    command
}
