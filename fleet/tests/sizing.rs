//! What a call, a machine and an event cost those who serve many machines. The figures are printed (`-- --nocapture`); what is the same on
//! every computer is asserted.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "tests; what is measured is printed"
)]

#[path = "shared/mod.rs"]
mod machines;

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use machines::{Became, Machine, Redis, limited};
use serde_json::{Value, json};

fn figure(name: &str, value: impl std::fmt::Display) {
    println!("{name}: {value}");
}

fn rate(count: u64, time: Duration) -> String {
    format!("{:.0} a second", count as f64 / time.as_secs_f64())
}

/// How often a server of Redis has run each command.
fn commands(redis: &Redis) -> BTreeMap<String, u64> {
    let said = redis.cli(&["INFO", "commandstats"]);
    let one = |line: &str| {
        let (name, rest) = line.trim().strip_prefix("cmdstat_")?.split_once(":calls=")?;
        Some((name.to_owned(), rest.split(',').next()?.parse().ok()?))
    };
    said.lines().filter_map(one).collect()
}

/// The same since then.
fn since(redis: &Redis, before: &BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    let now = commands(redis).into_iter();
    now.map(|(name, count)| (name.clone(), count - before.get(&name).unwrap_or(&0)))
        .filter(|(_, count)| *count > 0)
        .collect()
}

/// The bytes of all keys that look so, with what is in them.
fn bytes(redis: &Redis, pattern: &str) -> u64 {
    let keys = redis.cli(&["--scan", "--pattern", pattern]);
    keys.lines()
        .map(|key| redis.cli(&["MEMORY", "USAGE", key, "SAMPLES", "0"]).trim().parse::<u64>().unwrap())
        .sum()
}

fn resident(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

fn limit() -> Value {
    json!([{"tool": "*", "calls": 10_000, "window_seconds": 600}])
}

/// As many calls with a limit, by eight at once.
fn asked(machine: &Machine, calls: u64) -> Duration {
    let (begun, next) = (Instant::now(), AtomicU64::new(0));
    let question = json!({"ask": "call", "v": 1, "client": "claude-code", "session": "s", "repositories": [],
        "limits": limit(), "within_ms": 5000});
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                while next.fetch_add(1, Ordering::Relaxed) < calls {
                    assert_eq!(machine.ask(&question), json!({"answer": "runs"}));
                }
            });
        }
    });
    begun.elapsed()
}

#[test]
fn what_the_server_of_all_machines_is_asked() {
    const CALLS: u64 = 40;
    let redis = Redis::new(&[]);
    let state = format!("url = \"{}\"\nprefix = \"x\"", redis.url());
    let mut machine = Machine::new(&state, &limited(1000));
    let service = machine.service().0.id();
    figure("memory of the service, idle (kB)", resident(service));
    let (before, begun) = (commands(&redis), Instant::now());
    std::thread::sleep(Duration::from_secs(4));
    let (idle, seconds) = (since(&redis, &before), begun.elapsed().as_secs_f64());
    let looks = idle["hgetall"] as f64 / seconds;
    figure("looks at what is stopped a second, of one machine", format!("{looks:.1}, {idle:?}"));
    assert!(idle["hgetall"] > 0 && looks < 6.0, "{idle:?}");
    let clients = redis.cli(&["CLIENT", "LIST"]).lines().filter(|line| !line.contains("cmd=client")).count();
    figure("connections of a service to the server", clients);
    assert_eq!(clients, 1);
    let before = commands(&redis);
    for _ in 0..CALLS {
        assert_eq!(machine.hook("s"), Became::Ran);
    }
    let after = since(&redis, &before);
    figure(&format!("commands for {CALLS} calls of the hook under one limit"), format!("{after:?}"));
    // One round trip, and in the script no more than is looked at and counted once.
    for (command, times) in [
        ("eval", 1),
        ("time", 1),
        ("zremrangebyscore", 1),
        ("zscore", 1),
        ("zcard", 1),
        ("zadd", 1),
        ("pexpire", 1),
    ] {
        assert_eq!(after[command], times * CALLS, "{command}: {after:?}");
    }
    let one = bytes(&redis, "{x}:calls:*") as f64 / CALLS as f64;
    let took = asked(&machine, 4000);
    figure("calls with a limit by eight at once", rate(4000, took));
    figure("memory of the service under eight (kB)", resident(service));
    let many = bytes(&redis, "{x}:calls:*") as f64 / (4000 + CALLS) as f64;
    figure("bytes of a counted call in the server, of few and of many", format!("{one:.0}, {many:.0}"));
    assert!(many < 200.0, "{many}");
    for agent in 0..200 {
        let mut question = machine.call();
        question["agent"] = json!(format!("0198f2b4-1c7e-7a30-9d43-{agent:012}"));
        question["lease"] = json!({"most": 1000, "seconds": 600});
        assert_eq!(machine.ask(&question), json!({"answer": "runs"}));
    }
    let place = bytes(&redis, "{x}:quarantined") as f64 / 200.0;
    figure("bytes of a place in the server", format!("{place:.0}"));
    assert!(place < 300.0, "{place}");
    for stop in 0..200 {
        machine.done(&[
            "stop",
            "--session",
            &format!("codex:0198f2b4-1c7e-7a30-9d43-{stop:012}"),
            "--why",
            "a test of what it costs",
        ]);
    }
    let stop = bytes(&redis, "{x}:stops") as f64 / 200.0;
    figure("bytes of a stop in the server", format!("{stop:.0}"));
    assert!(stop < 500.0, "{stop}");
}

/// On one machine without a service, one with it, and one with a limit that the server counts, in turn.
#[test]
fn what_a_call_of_the_hook_takes_longer() {
    const ROUNDS: usize = 100;
    // As it is unless somebody says otherwise; an answer that waits for the disk takes what the disk takes.
    let redis = Redis::new(&["--appendfsync", "everysec"]);
    let state = format!("url = \"{}\"\nprefix = \"x\"", redis.url());
    let none = Machine::without_service(&state, "");
    none.configure("");
    let (asking, counted) = (Machine::new(&state, ""), Machine::new(&state, &limited(1000)));
    let before = commands(&redis);
    let mut times = [const { Vec::new() }; 3];
    for _ in 0..ROUNDS {
        for (machine, times) in [&none, &asking, &counted].iter().zip(&mut times) {
            let begun = Instant::now();
            assert_eq!(machine.hook("s"), Became::Ran);
            times.push(begun.elapsed());
        }
    }
    assert_eq!(since(&redis, &before)["eval"], ROUNDS as u64);
    let [none, asking, counted] = times.map(|mut times| {
        times.sort_unstable();
        times[ROUNDS / 2].as_secs_f64() * 1000.0
    });
    let more = |time: f64| format!("{:+.2} ms", time - none);
    figure("a call of the hook without a service", format!("{none:.2} ms"));
    figure(
        "with one, and with a limit that the server counts",
        format!("{}, {}", more(asking), more(counted)),
    );
}

/// Takes whatever comes; the bytes of it.
fn taking() -> (String, Arc<AtomicU64>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1/logs", listener.local_addr().unwrap());
    let bytes = Arc::new(AtomicU64::new(0));
    let all = bytes.clone();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let (mut reader, mut length, mut line) =
                (BufReader::new(stream.try_clone().unwrap()), 0, String::new());
            while reader.read_line(&mut line).unwrap() > 2 {
                if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length: ") {
                    length = value.trim().parse().unwrap();
                }
                line.clear();
            }
            reader.read_exact(&mut vec![0; length]).unwrap();
            all.fetch_add(length as u64, Ordering::Relaxed);
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").unwrap();
        }
    });
    (url, bytes)
}

fn send(machine: &Machine, state: &PathBuf) -> (u64, Duration) {
    let begun = Instant::now();
    let mut command = Command::new(machines::program("lazaret-fleet"));
    command.args(["send", "--once", "--config"]).arg(machine.settings()).arg("--state").arg(state);
    let out = command.output().unwrap();
    let said = String::from_utf8(out.stdout).unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    (said.split(' ').next().unwrap().parse().unwrap(), begun.elapsed())
}

#[test]
fn what_an_event_costs_on_its_way() {
    const EVENTS: u64 = 20_000;
    let (url, bytes) = taking();
    let machine = Machine::without_service("url = \"redis://x\"", "");
    machine.configure("");
    fs::write(machine.settings(), format!("[evidence]\nurl = \"{url}\"\n")).unwrap();
    for round in 0..30 {
        assert_eq!(machine.hook_of("s", "ls"), Became::Ran);
        if round % 10 == 0 {
            assert!(matches!(machine.hook_of("s", "rm -rf ~"), Became::Refused(_)));
        }
    }
    let state = machine.path("lazaret/state");
    let log = fs::read_to_string(state.join("audit/audit.jsonl")).unwrap();
    let (sent, _) = send(&machine, &state);
    let (wire, written) = (bytes.swap(0, Ordering::Relaxed) / sent, log.len() as u64 / sent);
    figure("bytes of an event in the log, and on its way", format!("{written}, {wire} ({sent} events)"));
    assert!(wire < 3 * written, "{wire} of {written}");
    // The same lines again and again, with ids of their own: what is sent is not what costs time on one machine.
    let many = machine.path("many");
    fs::create_dir_all(many.join("audit")).unwrap();
    fs::set_permissions(many.join("audit"), fs::Permissions::from_mode(0o700)).unwrap();
    let line = log.lines().find(|line| line.contains("action_allowed")).unwrap();
    let parts: Vec<&str> = line.split('"').collect();
    let name = line.rsplit_once("\"seal\":\"").unwrap().1.split('.').next().unwrap();
    let lines: String = (1..=EVENTS)
        .map(|number| {
            let line = line.replacen(parts[3], &format!("0198f2b4-1c7e-7a30-9d43-{number:012}"), 1);
            let (head, _) = line.rsplit_once("\"seal\":\"").unwrap();
            format!("{head}\"seal\":\"{name}.{number}.aa.bb\"}}\n")
        })
        .collect();
    fs::write(many.join("audit/audit.jsonl"), lines).unwrap();
    let (sent, took) = send(&machine, &many);
    assert_eq!(sent, EVENTS);
    figure("events of `send --once`", rate(sent, took));
}
