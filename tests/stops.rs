//! Long commands that a person stops with Ctrl-C, by the real signal: nothing half-written stays, nothing is lost, the terminal's line is
//! cleared. And what a terminal shows of them while they work.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]
#![cfg(target_os = "linux")]

mod common;

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use common::World;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

const INT: i32 = 2;
/// How long a slow machine may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// The binary as a shell starts it: whoever runs the tests may have Ctrl-C ignored.
fn begin(world: &World, args: &[&str]) -> Child {
    let ours = world.command();
    let mut command = Command::new("env");
    command.arg("--default-signal=INT").arg(common::BIN).args(args).env_clear().current_dir(world.project());
    for (name, value) in ours.get_envs() {
        command.env(name, value.unwrap());
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn interrupt(child: &Child) {
    // It may be over already.
    let _gone = kill_process(Pid::from_child(child), Signal::INT);
}

/// Stopped as soon as `begun` holds, or after a while.
fn stopped(world: &World, args: &[&str], begun: impl Fn() -> bool) -> Output {
    let child = begin(world, args);
    let since = Instant::now();
    while !begun() {
        assert!(since.elapsed() < PATIENCE, "{args:?} did not begin");
        std::thread::sleep(Duration::from_micros(200));
    }
    interrupt(&child);
    child.wait_with_output().unwrap()
}

/// It ended by the signal, or with the exit code that a shell makes of that, or was done before.
fn ended_by_it(out: &Output) -> bool {
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(!said.contains("defect"), "{said}");
    match (out.status.signal(), out.status.code()) {
        (Some(INT), _) => true,
        (_, Some(130)) => true,
        (_, Some(0)) => false,
        other => panic!("{other:?}: {said}"),
    }
}

fn sleep(ms: u64) -> impl Fn() -> bool {
    let until = Instant::now() + Duration::from_millis(ms);
    move || Instant::now() >= until
}

/// All files below a directory.
fn below(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        if entry.file_type().unwrap().is_dir() {
            found.extend(below(&entry.path()));
        } else {
            found.push(entry.path());
        }
    }
    found
}

/// Recorded sessions that take a while: many calls in many files.
fn records(world: &World, calls: usize) -> PathBuf {
    let dir = world.home().join("records");
    fs::create_dir_all(&dir).unwrap();
    for file in 0..20 {
        let line = |n: usize| {
            json!({"type": "assistant", "sessionId": format!("s{file}"), "cwd": "/nowhere", "timestamp": "2026-01-01T00:00:00Z",
                "message": {"role": "assistant", "content": [{"type": "tool_use", "id": format!("t{file}-{n}"), "name": "Bash",
                "input": {"command": format!("for f in a b c; do grep -rn x{n} src | sort | uniq -c | head -{n} > out{n}.txt; done")}}]}})
            .to_string()
        };
        fs::write(dir.join(format!("{file}.jsonl")), (0..calls).map(|n| line(n) + "\n").collect::<String>())
            .unwrap();
    }
    dir
}

/// A log of many lines in several files.
fn long_log(world: &World) {
    world.configure("[audit]\nmax_bytes = 65536\n");
    let dir = lazaret::host::audit::dir(&world.state());
    let policy =
        lazaret::domain::AuditPolicy { max_bytes: 65_536, ..lazaret::domain::Policy::default().audit };
    let note = "n".repeat(400);
    for _ in 0..4_000 {
        let event = lazaret::domain::AuditEvent {
            note: &note,
            ..lazaret::domain::AuditEvent::of(lazaret::domain::EventKind::Fault)
        };
        lazaret::host::audit::append(&dir, &policy, lazaret::host::clock::now(), &event).unwrap();
    }
}

#[test]
fn a_replay_ends_at_once() {
    let world = World::new();
    let records = records(&world, 400);
    let since = Instant::now();
    let out = stopped(&world, &["replay", records.to_str().unwrap()], sleep(300));
    assert!(ended_by_it(&out) && since.elapsed() < PATIENCE, "20 files of 400 calls take longer");
    assert!(out.stdout.is_empty(), "{}", String::from_utf8_lossy(&out.stdout));
    assert!(!world.state().exists(), "nothing is written");
}

#[test]
fn verify_leaves_the_log_as_it_is() {
    let world = World::new();
    long_log(&world);
    let before = below(&world.state());
    stopped(&world, &["audit", "verify"], sleep(30));
    assert_eq!(below(&world.state()), before);
    let (code, said, _) = world.run(&["audit", "verify"]);
    assert!(code == 0 && said.starts_with("ok:"), "{said}");
}

#[test]
fn a_prune_that_is_stopped_leaves_a_log_that_verifies() {
    let world = World::new();
    long_log(&world);
    let dir = lazaret::host::audit::dir(&world.state());
    let files = || fs::read_dir(&dir).unwrap().count();
    let all = files();
    assert!(all > 20, "{all} files");
    let out = stopped(&world, &["audit", "prune", "--keep-days", "0"], || files() < all);
    let was_stopped = ended_by_it(&out);
    let (code, said, err) = world.run(&["audit", "verify"]);
    assert!(code == 0, "stopped: {was_stopped}: {said}{err}");
    assert_eq!(world.run(&["audit", "prune", "--keep-days", "0"]).0, 0, "it goes on where it was");
    assert!(files() < all / 2);
    assert_eq!(world.run(&["audit", "verify"]).0, 0);
}

/// Files that a call deleted, with a checkpoint of them.
fn deleted(world: &World, count: usize) -> Vec<PathBuf> {
    world.configure("[checkpoints]\nenabled = true\n");
    let dir = world.project().join("src/many");
    fs::create_dir_all(&dir).unwrap();
    let files: Vec<PathBuf> = (0..count).map(|n| dir.join(format!("{n}.txt"))).collect();
    for (n, file) in files.iter().enumerate() {
        fs::write(file, format!("content of {n}\n").repeat(20)).unwrap();
    }
    let _ = world.bash("rm -rf src/many");
    fs::remove_dir_all(&dir).unwrap();
    let after = json!({"session_id": "s", "cwd": world.project(), "hook_event_name": "PostToolUse", "tool_name": "Bash",
        "tool_input": {"command": "rm -rf src/many"}, "tool_response": {"stdout": "", "stderr": ""}, "tool_use_id": "t"});
    world.hook("claude-code", after.to_string().as_bytes());
    files
}

#[test]
fn a_rollback_that_is_stopped_loses_nothing_and_goes_on() {
    let world = World::lasting();
    let files = deleted(&world, 2_000);
    let there = || files.iter().filter(|file| file.exists()).count();
    let out = stopped(&world, &["rollback", "--last"], || files[0].exists());
    let said = String::from_utf8_lossy(&out.stdout).into_owned();
    if ended_by_it(&out) {
        assert!(
            said.contains("paths were not touched") && said.contains("to undo this: lazaret rollback"),
            "{said}"
        );
        assert!(there() < files.len());
    }
    // What is there is whole, and nothing of ours lies beside it.
    for file in below(&world.project().join("src/many")) {
        assert!(files.contains(&file), "{}", file.display());
        assert_eq!(fs::read_to_string(&file).unwrap().lines().count(), 20, "{}", file.display());
    }
    let (_, again, err) = world.run(&["rollback", "--last"]);
    assert_eq!(there(), files.len(), "{again}{err}");
    for (n, file) in files.iter().enumerate() {
        assert_eq!(fs::read_to_string(file).unwrap(), format!("content of {n}\n").repeat(20));
    }
    let store = world.state().join("checkpoints");
    let left: Vec<_> = fs::read_dir(&store).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert!(
        !left.iter().any(|name| name == "restoring" || name.to_string_lossy().starts_with(".")),
        "{left:?}"
    );
}

#[test]
fn a_review_that_is_stopped_while_it_seals_is_none() {
    let world = World::new();
    let dir = world.project().join("src/many");
    fs::create_dir_all(&dir).unwrap();
    for n in 0..3_000 {
        fs::write(dir.join(format!("{n}.c")), "int x;\n".repeat(500)).unwrap();
    }
    let all = world.home().join("all");
    let there = |args: &[&str]| {
        let mut command = world.command();
        command.args(args).env("LAZARET_HOME", &all);
        command
    };
    let mut command = Command::new("env");
    command.arg("--default-signal=INT").arg(common::BIN).args(["review", "start", "src"]).env_clear();
    command.env("HOME", world.home()).env("PATH", "/usr/bin:/bin").env("LAZARET_HOME", &all);
    let child = command
        .current_dir(world.project())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let child = child.spawn().unwrap();
    let since = Instant::now();
    while below(&all).len() < 20 {
        assert!(since.elapsed() < PATIENCE, "it did not begin");
        std::thread::sleep(Duration::from_micros(200));
    }
    interrupt(&child);
    let out = child.wait_with_output().unwrap();
    let listed = there(&["review", "list", "--json"]).output().unwrap();
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    if ended_by_it(&out) {
        assert_eq!(listed["sessions"], json!([]), "{}", String::from_utf8_lossy(&out.stderr));
        let left: Vec<PathBuf> =
            below(&all).into_iter().filter(|path| path.extension().is_some_and(|e| e == "c")).collect();
        assert_eq!(left, Vec::<PathBuf>::new(), "copies are left");
    }
}

#[test]
fn an_export_that_is_stopped_leaves_no_half_file() {
    let world = World::new();
    long_log(&world);
    let file = world.home().join("events.json");
    let output = file.to_str().unwrap();
    let out = stopped(&world, &["audit", "export", "--format", "json", "--output", output], || file.exists());
    if !ended_by_it(&out) {
        assert!(file.exists());
    }
    // Stopped when all was written already, it is there, and whole.
    if file.exists() {
        let whole = world.home().join("whole.json");
        let (code, _, err) =
            world.run(&["audit", "export", "--format", "json", "--output", whole.to_str().unwrap()]);
        assert_eq!((code, err.as_str()), (0, ""));
        assert!(fs::read(&file).unwrap() == fs::read(&whole).unwrap(), "half of it is left");
    }
}

/// What is written to a terminal by a command that is stopped after so many milliseconds; 0 = it is let end.
fn on_a_terminal(world: &World, args: &str, stop_after_ms: u64, more: &[(&str, &str)]) -> String {
    let stop = if stop_after_ms > 0 {
        let seconds = Duration::from_millis(stop_after_ms).as_secs_f64();
        format!("timeout --foreground --signal=INT {seconds} ")
    } else {
        String::new()
    };
    let line = format!("{stop}{} {args} >/dev/null", common::BIN);
    let mut command = Command::new("script");
    command.args(["-qec", &line, "/dev/null"]).current_dir(world.project()).env_clear();
    command.env("HOME", world.home()).env("PATH", "/usr/bin:/bin").env("TERM", "xterm");
    command.envs(more.iter().copied());
    let out = command.stdin(Stdio::null()).output().unwrap();
    String::from_utf8_lossy(&out.stdout).into_owned()
}

#[test]
fn a_terminal_shows_how_far_it_is_and_is_cleared() {
    let world = World::new();
    // Far more than is done until the stop: a faster machine has not finished either.
    let records = records(&world, 8_000);
    let replay = format!("replay {}", records.display());
    let shown = on_a_terminal(&world, &replay, 1_500, &[]);
    assert!(shown.contains("of 20,") && shown.contains("calls") && shown.contains("left"), "{shown:?}");
    assert!(shown.trim_end().ends_with("\r\u{1b}[K") || shown.ends_with("\r\u{1b}[K"), "{shown:?}");
    assert!(!shown.contains("\u{1b}[?25l"), "the cursor stays: {shown:?}");
    assert!(!shown.contains("\u{1b}[3"), "no colours: {shown:?}");
    let dumb = on_a_terminal(&world, &replay, 1_500, &[("TERM", "dumb")]);
    assert_eq!(dumb, "", "a terminal that cannot");
    let first = fs::read_to_string(records.join("1.jsonl")).unwrap().lines().next().unwrap().to_owned();
    fs::write(world.home().join("one.jsonl"), first).unwrap();
    let short =
        on_a_terminal(&world, &format!("replay {}", world.home().join("one.jsonl").display()), 0, &[]);
    assert!(!short.contains("file 1"), "what is over at once shows nothing: {short:?}");
}
