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
use opentelemetry_proto::tonic::collector::metrics::v1::{
    ExportMetricsPartialSuccess, ExportMetricsServiceRequest, ExportMetricsServiceResponse,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTracePartialSuccess, ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::logs::v1::LogRecord;
use opentelemetry_proto::tonic::metrics::v1::ResourceMetrics;
use opentelemetry_proto::tonic::trace::v1::ResourceSpans;
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
    /// Takes it, and never says so.
    Hangs,
    /// Leads to a page where everybody is told that all is well.
    Leads,
}

#[derive(Debug)]
pub struct Got {
    pub does: Does,
    pub records: Vec<LogRecord>,
    pub resources: Vec<KeyValue>,
    pub tokens: BTreeSet<String>,
    /// What it does with metrics and traces.
    pub measures: Does,
    pub metrics: Vec<ResourceMetrics>,
    pub traces: Vec<ResourceSpans>,
}

impl Got {
    fn logs(&mut self, body: &[u8], token: String) -> Vec<u8> {
        let request = ExportLogsServiceRequest::decode(body).unwrap();
        self.tokens.insert(token);
        for all in request.resource_logs {
            self.resources = all.resource.unwrap().attributes;
            self.records.extend(all.scope_logs.into_iter().flat_map(|logs| logs.log_records));
        }
        let refused = ExportLogsPartialSuccess {
            rejected_log_records: 1,
            error_message: "too \u{1b}[31mred".to_owned(),
        };
        let partial_success = (self.does == Does::Refuses).then_some(refused);
        ExportLogsServiceResponse { partial_success }.encode_to_vec()
    }

    fn metrics(&mut self, body: &[u8]) -> Vec<u8> {
        self.metrics.extend(ExportMetricsServiceRequest::decode(body).unwrap().resource_metrics);
        let refused =
            ExportMetricsPartialSuccess { rejected_data_points: 1, error_message: "no \u{1b}".to_owned() };
        let partial_success = (self.measures == Does::Refuses).then_some(refused);
        ExportMetricsServiceResponse { partial_success }.encode_to_vec()
    }

    fn traces(&mut self, body: &[u8]) -> Vec<u8> {
        self.traces.extend(ExportTraceServiceRequest::decode(body).unwrap().resource_spans);
        let refused = ExportTracePartialSuccess { rejected_spans: 1, error_message: "no \u{1b}".to_owned() };
        let partial_success = (self.measures == Does::Refuses).then_some(refused);
        ExportTraceServiceResponse { partial_success }.encode_to_vec()
    }
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
        let got = Got {
            does: Does::Takes,
            records: Vec::new(),
            resources: Vec::new(),
            tokens: BTreeSet::new(),
            measures: Does::Takes,
            metrics: Vec::new(),
            traces: Vec::new(),
        };
        let collector = Collector { url, got: Arc::new(Mutex::new(got)) };
        let answering = collector.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let answering = answering.clone();
                // Who asks may have been killed.
                std::thread::spawn(move || answering.answer(&stream).is_ok());
            }
        });
        collector
    }

    fn answer(&self, mut stream: &TcpStream) -> std::io::Result<()> {
        if self.got.lock().unwrap().does == Does::Away {
            return Ok(());
        }
        let (mut reader, mut path, mut length) = (BufReader::new(stream), String::new(), 0);
        let mut token = String::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            let Some((name, value)) = line.trim().split_once(": ") else {
                if line.trim().is_empty() {
                    break;
                }
                assert!(line.starts_with("POST ") || line.starts_with("GET /well "), "{line}");
                line.split(' ').nth(1).unwrap().clone_into(&mut path);
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
        let mut got = self.got.lock().unwrap();
        let does = if path == "/v1/logs" { got.does } else { got.measures };
        let answer = match (does, path.as_str()) {
            (Does::Busy, _) => {
                return stream
                    .write_all(b"HTTP/1.1 503 busy\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            }
            (Does::Leads, path) if path != "/well" => {
                return stream.write_all(
                    b"HTTP/1.1 302 Found\r\nLocation: /well\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
                );
            }
            (Does::Babbles, _) => b"<html>".to_vec(),
            (_, "/well") => Vec::new(),
            (_, "/v1/logs") => got.logs(&body, token),
            (_, "/v1/metrics") => got.metrics(&body),
            (_, "/v1/traces") => got.traces(&body),
            (_, path) => panic!("{path}"),
        };
        drop(got);
        match does {
            Does::Forgets => return Ok(()),
            Does::Hangs => std::thread::sleep(std::time::Duration::from_secs(600)),
            _ => {}
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

    /// The number of the last line that a sender remembers as taken; 0 = none. A sender that is killed before it was told sends again.
    pub fn remembered(&self) -> u64 {
        let Ok(text) = fs::read_to_string(self.path("state/fleet-sent.json")) else { return 0 };
        serde_json::from_str::<serde_json::Value>(&text).unwrap()["number"].as_u64().unwrap()
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
