//! The log of a machine, sent to a receiver of syslog that is killed, hangs up in the middle and closes without a word.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

#[path = "shared/mod.rs"]
mod machines;
mod sending;

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use machines::{Became, Machine, Process, port, until};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use sending::{Place, id, sender};
use serde_json::Value;

/// Where the process that receives finds what it is to do; without it, there is nothing to do.
const RECEIVES: &str = "TEST_SYSLOG_RECEIVES";

/// How a receiver ends a connection.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Ends {
    /// As the protocol has it.
    Well,
    /// Each third time after a hundred messages, with a close_notify.
    Early,
    /// Without a close_notify.
    Mute,
}

impl Ends {
    const ALL: [Ends; 3] = [Ends::Well, Ends::Early, Ends::Mute];
}

/// A receiver of syslog: a process that writes each message to a file as it comes.
struct Receiver {
    dir: tempfile::TempDir,
    port: u16,
    process: Option<Process>,
}

impl Receiver {
    /// One over TLS, whose certificate is signed by `ca.pem`.
    fn new() -> Receiver {
        let dir = tempfile::tempdir().unwrap();
        let key = rcgen::KeyPair::generate().unwrap();
        let mut ca = rcgen::CertificateParams::new(Vec::new()).unwrap();
        ca.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        fs::write(dir.path().join("ca.pem"), ca.self_signed(&key).unwrap().pem()).unwrap();
        let issuer = rcgen::Issuer::new(ca, key);
        let key = rcgen::KeyPair::generate().unwrap();
        let own = rcgen::CertificateParams::new(["localhost".to_owned()]).unwrap();
        fs::write(dir.path().join("cert.der"), own.signed_by(&key, &issuer).unwrap().der()).unwrap();
        fs::write(dir.path().join("key.der"), key.serialize_der()).unwrap();
        fs::write(dir.path().join("messages"), "").unwrap();
        Receiver { dir, port: port(), process: None }
    }

    /// Starts it, or starts it again with what it had.
    fn start(&mut self, ends: Ends) {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "a_process_that_receives", "--nocapture"]);
        command.env(RECEIVES, format!("{} {ends:?} {}", self.port, self.dir.path().display()));
        self.process = Some(Process::start(command.stdout(Stdio::null()).stderr(Stdio::null())));
        until("it listens", || TcpStream::connect(("localhost", self.port)).is_ok());
    }

    fn kill(&mut self) {
        self.process = None;
    }

    fn settings(&self) -> String {
        let ca = self.dir.path().join("ca.pem");
        format!("[evidence]\nurl = \"syslog+tls://localhost:{}\"\nca = \"{}\"\n", self.port, ca.display())
    }

    /// All messages that are whole; a killed process may have begun another one.
    fn messages(&self) -> Vec<String> {
        let text = fs::read_to_string(self.dir.path().join("messages")).unwrap();
        text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')).map(str::to_owned).collect()
    }

    fn ids(&self) -> BTreeSet<String> {
        self.messages().iter().map(|message| Message::of(message).parameter("id")).collect()
    }
}

/// A message of RFC 5424.
#[derive(Debug)]
struct Message {
    head: Vec<String>,
    parameters: Vec<(String, String)>,
    body: Value,
}

impl Message {
    fn of(text: &str) -> Message {
        let mut parts = text.splitn(7, ' ');
        let head: Vec<String> = parts.by_ref().take(6).map(str::to_owned).collect();
        let mut rest = parts.next().unwrap().strip_prefix("[lazaret@32473").unwrap();
        let mut parameters = Vec::new();
        while let Some(next) = rest.strip_prefix(' ') {
            let (name, value) = next.split_once("=\"").unwrap();
            let (mut text, mut chars) = (String::new(), value.char_indices());
            let end = loop {
                match chars.next().unwrap() {
                    (at, '"') => break at,
                    (_, '\\') => text.push(chars.next().unwrap().1),
                    (_, c) => text.push(c),
                }
            };
            parameters.push((name.to_owned(), text));
            rest = value.get(end + 1..).unwrap();
        }
        let body = serde_json::from_str(rest.strip_prefix("] ").unwrap()).unwrap();
        Message { head, parameters, body }
    }

    fn parameter(&self, name: &str) -> String {
        let found = self.parameters.iter().find(|(known, _)| known == name);
        found.unwrap_or_else(|| panic!("{name}: {self:?}")).1.clone()
    }
}

/// Not a test of its own: what the others start.
#[test]
fn a_process_that_receives() {
    let Ok(told) = std::env::var(RECEIVES) else { return };
    let [port, ends, dir] = told.splitn(3, ' ').collect::<Vec<_>>().try_into().unwrap();
    let ends = Ends::ALL.into_iter().find(|known| format!("{known:?}") == ends).unwrap();
    let dir = PathBuf::from(dir);
    let key = PrivatePkcs8KeyDer::from(fs::read(dir.join("key.der")).unwrap());
    let certificate = CertificateDer::from(fs::read(dir.join("cert.der")).unwrap());
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()));
    let config = config.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
    let config = Arc::new(config.with_single_cert(vec![certificate], key.into()).unwrap());
    let listener = TcpListener::bind(("127.0.0.1", port.parse().unwrap())).unwrap();
    for (at, stream) in listener.incoming().flatten().enumerate() {
        let mut stream = StreamOwned::new(ServerConnection::new(Arc::clone(&config)).unwrap(), stream);
        let most = if ends == Ends::Early && at % 3 == 2 { 100 } else { usize::MAX };
        let (mut reader, mut begun) = (BufReader::new(&mut stream), Vec::new());
        for _ in 0..most {
            // Who only looked whether anybody listens, or was killed, says no more.
            let Ok(message) = frame(&mut reader) else { break };
            begun.clear();
            begun.extend_from_slice(&message);
            begun.push(b'\n');
            let file = fs::OpenOptions::new().append(true).open(dir.join("messages"));
            file.unwrap().write_all(&begun).unwrap();
        }
        if ends != Ends::Mute {
            stream.conn.send_close_notify();
            let _gone = stream.flush();
        }
    }
}

/// The next message: its length in decimal, a space and so many bytes.
fn frame(reader: &mut impl BufRead) -> std::io::Result<Vec<u8>> {
    let mut length = Vec::new();
    if reader.read_until(b' ', &mut length)? == 0 {
        return Err(std::io::ErrorKind::UnexpectedEof.into());
    }
    let length = String::from_utf8(length).unwrap();
    let mut message = vec![0; length.strip_suffix(' ').unwrap().parse().unwrap()];
    reader.read_exact(&mut message)?;
    Ok(message)
}

fn quiet(mut command: Command) -> Process {
    Process::start(command.stdout(Stdio::null()).stderr(Stdio::null()))
}

fn wanted(all: u64) -> BTreeSet<String> {
    (1..=all).map(|number| id("0245da23", number, "")).collect()
}

#[test]
fn of_what_a_killed_receiver_was_sent_nothing_is_lost() {
    const ALL: u64 = 20_000;
    let mut receiver = Receiver::new();
    let place = Place::new("http://127.0.0.1:1");
    place.settings(&receiver.settings());
    place.log("audit.jsonl", "0245da23", 1..ALL + 1);
    let mut running = quiet(place.sender(&[]));
    let mut kills = 0;
    for part in [2_000, 6_000, 11_000] {
        receiver.start(Ends::Well);
        until("a part is there", || receiver.messages().len() > part);
        receiver.kill();
        kills += 1;
    }
    receiver.start(Ends::Well);
    until("more is there", || receiver.messages().len() > 15_000);
    running.kill();
    kills += 1;
    let running = quiet(place.sender(&[]));
    until("all are there", || receiver.ids().len() as u64 == ALL);
    let memory = fs::read_to_string(format!("/proc/{}/status", running.0.id())).unwrap();
    let most = memory.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let most: u64 = most.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(most < 64 * 1024, "{most} kB");
    assert_eq!(receiver.ids(), wanted(ALL));
    // No more than the batch on its way came twice each time.
    let came = receiver.messages().len() as u64;
    assert!(came <= ALL + kills * 513, "{came}");
}

#[test]
fn of_what_a_receiver_hung_up_on_nothing_is_lost() {
    const ALL: u64 = 4_000;
    for ends in [Ends::Early, Ends::Mute] {
        let mut receiver = Receiver::new();
        receiver.start(ends);
        let place = Place::new("http://127.0.0.1:1");
        place.settings(&receiver.settings());
        place.log("audit.jsonl", "0245da23", 1..ALL + 1);
        let (code, said) = place.once();
        assert!(code == Some(0) && said.contains("4000 events were sent"), "{ends:?}: {said}");
        assert_eq!(said.contains("ends connections without close_notify"), ends == Ends::Mute, "{said}");
        // One that says nothing is asked twice whether it means it.
        assert!(said.contains("it is tried again"), "{said}");
        assert_eq!(receiver.ids(), wanted(ALL), "{ends:?}");
        let came = receiver.messages().len() as u64;
        assert!(if ends == Ends::Mute { came == ALL + 512 } else { came > ALL }, "{ends:?}: {came}");
    }
}

/// The messages of a real log, as they were sent with these settings, and that log's lines.
fn of_a_real_log(receiver: &Receiver, machine: &Machine, settings: &str) -> (Vec<Message>, Vec<Value>) {
    machine.configure("");
    fs::write(machine.settings(), settings).unwrap();
    assert_eq!(machine.hook("a \"]\\ session"), Became::Ran);
    assert!(matches!(machine.hook_of("two", "rm -rf /"), Became::Refused(_)));
    let mut send = sender(&machine.settings(), &machine.path("lazaret/state"), &["--once"]);
    let out = send.output().unwrap();
    assert!(out.status.success(), "{out:?}");
    let log = fs::read_to_string(machine.path("lazaret/state/audit/audit.jsonl")).unwrap();
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    // The line itself, to the byte: the seal is over its bytes.
    if !settings.contains("format") {
        assert!(receiver.messages().iter().zip(log.lines()).all(|(message, line)| message.ends_with(line)));
    }
    (receiver.messages().iter().map(|message| Message::of(message)).collect(), lines)
}

#[test]
fn a_real_log_comes_as_it_was_written() {
    let mut receiver = Receiver::new();
    receiver.start(Ends::Well);
    let machine = Machine::without_service("url = \"redis://x\"", "");
    let (messages, lines) = of_a_real_log(&receiver, &machine, &receiver.settings());
    assert_eq!(messages.len(), lines.len());
    for (message, line) in messages.iter().zip(&lines) {
        assert_eq!(message.body, *line);
        assert_eq!(message.parameter("id"), line["id"].as_str().unwrap());
        let [_, time, host, app, process, kind] = &message.head[..] else { panic!("{message:?}") };
        assert_eq!([time, kind], [&line["time"], &line["event"]].map(|text| text.as_str().unwrap()));
        assert_eq!([app.as_str(), process], ["lazaret", "-"]);
        assert!(!host.is_empty() && message.parameters.iter().all(|(name, _)| name != "unverified"));
    }
    let of = |event: &str| messages.iter().find(|message| message.head[5] == event).unwrap();
    let (allowed, blocked) = (of("action_allowed"), of("action_blocked"));
    // Facility 13; 6 = informational, 3 = error.
    assert_eq!([&allowed.head[0], &blocked.head[0]], ["<110>1", "<107>1"]);
    assert_eq!(allowed.parameter("session"), "a \"]\\ session");
    assert_eq!([blocked.parameter("verdict"), blocked.parameter("tool")], ["block", "Bash"]);
    let rules: Vec<&str> =
        blocked.parameters.iter().filter(|(name, _)| name == "rule").map(|(_, rule)| rule.as_str()).collect();
    let logged = blocked.body["rules"].as_array().unwrap();
    assert_eq!(rules, logged.iter().map(|rule| rule.as_str().unwrap()).collect::<Vec<_>>());
}

#[test]
fn a_real_log_comes_in_another_schema() {
    let mut receiver = Receiver::new();
    receiver.start(Ends::Well);
    let machine = Machine::without_service("url = \"redis://x\"", "");
    let settings = receiver.settings() + "format = \"ecs\"\n";
    let (messages, lines) = of_a_real_log(&receiver, &machine, &settings);
    assert!(!messages.is_empty());
    for (message, line) in messages.iter().zip(&lines) {
        assert_eq!([&message.body["lazaret"], &message.body["event"]["id"]], [line, &line["id"]]);
    }
}

#[test]
fn a_receiver_on_this_machine_needs_no_certificate() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = Place::new(&format!("syslog+tcp://127.0.0.1:{}", listener.local_addr().unwrap().port()));
    place.log("audit.jsonl", "0245da23", 1..4);
    let receiving = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        listener.accept().unwrap().0.read_to_end(&mut bytes).unwrap();
        bytes
    });
    assert_eq!(place.once(), (Some(0), "3 events were sent\n".to_owned()));
    let bytes = receiving.join().unwrap();
    let mut rest = &*bytes;
    for number in 1..4 {
        let message = String::from_utf8(frame(&mut rest).unwrap()).unwrap();
        assert_eq!(Message::of(&message).parameter("id"), id("0245da23", number, ""));
    }
    assert!(rest.is_empty());
}

#[test]
fn a_receiver_that_another_authority_signed_gets_nothing() {
    let (mut receiver, other) = (Receiver::new(), Receiver::new());
    receiver.start(Ends::Well);
    let place = Place::new("http://127.0.0.1:1");
    let ca = |receiver: &Receiver| receiver.dir.path().join("ca.pem").display().to_string();
    place.settings(&receiver.settings().replace(&ca(&receiver), &ca(&other)));
    place.log("audit.jsonl", "0245da23", 1..4);
    let mut command = place.sender(&[]);
    let mut running = Process::start(command.stdout(Stdio::null()).stderr(Stdio::piped()));
    let mut said = String::new();
    BufReader::new(running.0.stderr.take().unwrap()).read_line(&mut said).unwrap();
    assert!(said.contains("invalid peer certificate") && said.contains("it is tried again"), "{said}");
    assert!(receiver.messages().is_empty() && !Path::new(&place.path("state/fleet-sent.json")).exists());
}

#[test]
fn settings_that_cannot_be_used_are_named() {
    let place = Place::new("http://127.0.0.1:1");
    for (settings, why) in [
        ("url = \"syslog+tcp://receiver.example:514\"", "or syslog+tcp:// on this machine"),
        ("url = \"syslog://127.0.0.1:514\"", "neither https://"),
        ("url = \"syslog+tls://receiver.example/path\"", "stand a host and a port, and nothing else"),
        ("url = \"syslog+tls://name@receiver.example\"", "a name or password does not stand in it"),
        ("url = \"syslog+tcp://localhost:1@receiver.example\"", "or syslog+tcp:// on this machine"),
        ("url = \"syslog+tls://x\"\ntoken_file = \"token\"", "evidence.token_file: syslog has no tokens"),
        ("url = \"syslog+tls://x\"\nca = \"nowhere\"", "nowhere: there is no such file"),
    ] {
        place.settings(&format!("[evidence]\n{settings}\n"));
        let (code, said) = place.once();
        assert!(code == Some(1) && said.contains(why), "{settings}: {said}");
    }
}
