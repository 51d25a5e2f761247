//! The log's verification key as a person meets it, and what a session's start, `doctor` and `show` say of a log that does not verify.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod hook;

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

struct World {
    dir: tempfile::TempDir,
}

impl World {
    fn new() -> World {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("home/proj/.git")).unwrap();
        fs::write(dir.path().join("home/proj/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
        World { dir }
    }

    fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env_clear().env("HOME", self.home()).env("XDG_RUNTIME_DIR", self.dir.path());
        command.env("PATH", "/usr/bin:/bin").env("SHELL", "/bin/sh").current_dir(self.home().join("proj"));
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(env!("CARGO_BIN_EXE_lazaret")).args(args).stdin(Stdio::null()).output().unwrap()
    }

    fn said(&self, args: &[&str]) -> String {
        let out = self.run(args);
        assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap()
    }

    /// The same at a terminal of its own.
    #[cfg(target_os = "linux")]
    fn at_a_terminal(&self, args: &str) -> String {
        let line = format!("{} {args}", env!("CARGO_BIN_EXE_lazaret"));
        let out = self.command("script").args(["-qec", &line, "/dev/null"]).output().unwrap();
        let text = String::from_utf8(out.stdout).unwrap();
        assert!(out.status.success(), "{args}: {text}");
        text
    }

    fn hook(&self, event: &str, more: Value) -> String {
        let mut message =
            json!({ "session_id": "s1", "cwd": self.home().join("proj"), "hook_event_name": event });
        message.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let mut lazaret = self.command(env!("CARGO_BIN_EXE_lazaret"));
        let mut child = hook::hook(&mut lazaret, "claude-code")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(message.to_string().as_bytes()).unwrap();
        let out = child.wait_with_output().unwrap();
        assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap()
    }

    fn call(&self, command: &str) {
        let call = json!({ "permission_mode": "default", "tool_name": "Bash", "tool_use_id": "t1",
            "tool_input": { "command": command } });
        self.hook("PreToolUse", call);
    }

    fn log(&self) -> PathBuf {
        self.home().join(".local/state/lazaret/audit/audit.jsonl")
    }

    fn add(&self, text: &str) {
        let mut file = fs::OpenOptions::new().append(true).open(self.log()).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }
}

const FORGED: &str = "{\"id\":\"x\",\"time\":\"2026-11-21T04:40:00.000Z\",\"event\":\"action_allowed\",\
                      \"tool\":\"Bash\",\"action\":\"forged\",\"verdict\":\"allow\"}\n";

#[test]
fn no_key_is_given_out_without_a_terminal() {
    let world = World::new();
    world.call("ls");
    let out = world.run(&["audit", "key"]);
    assert_eq!((out.status.code(), out.stdout.len()), (Some(1), 0));
    assert!(String::from_utf8_lossy(&out.stderr).contains("must be a terminal"), "{out:?}");
    assert!(world.said(&["audit", "verify"]).contains("none was given out yet"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_key_that_was_given_out_proves_the_log_from_elsewhere() {
    let world = World::new();
    world.call("ls");
    let said = world.at_a_terminal("audit key");
    let key = said.split_whitespace().find(|word| word.starts_with("lazaret-audit-key-1.")).unwrap();
    for name in ["audit.jsonl", "lazaret-audit.key"] {
        let bytes = fs::read(world.log().with_file_name(name)).unwrap();
        let secret = key.rsplit('.').next().unwrap().get(..64).unwrap();
        let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
        let secret: Vec<u8> = secret.as_bytes().chunks(2).map(byte).collect();
        assert!(!bytes.windows(32).any(|window| window == secret), "the key is still in {name}");
    }
    world.call("pwd");
    let proven = world.said(&["audit", "verify", "--key", key]);
    assert!(proven.contains("proven with the verification key: events 2 to 3"), "{proven}");
    // From elsewhere: a copy of the log, and the key in a file with other text.
    let elsewhere = World::new();
    let copy = elsewhere.home().join("copied");
    fs::create_dir_all(&copy).unwrap();
    for entry in fs::read_dir(world.log().parent().unwrap()).unwrap().flatten() {
        fs::copy(entry.path(), copy.join(entry.file_name())).unwrap();
    }
    let file = elsewhere.home().join("key.txt");
    fs::write(&file, format!("the key of my laptop\n{key}\n")).unwrap();
    let args = ["audit", "verify", "--json", "--log", copy.to_str().unwrap(), "--key"];
    for named in [format!("@{}", file.display()), file.display().to_string()] {
        let told: Value = serde_json::from_str(&elsewhere.said(&[&args[..], &[&named]].concat())).unwrap();
        assert_eq!(
            (&told["proven_from"], &told["events"], &told["ok"]),
            (&json!(2), &json!(3), &json!(true))
        );
    }
    let other = key.replacen(['1', '2', '3'], "4", 2);
    let out = world.run(&["audit", "verify", "--key", &other]);
    assert!(String::from_utf8_lossy(&out.stderr).contains("mistyped"), "{out:?}");
    // It is given out once by itself, and whenever a person asks.
    let again = world.at_a_terminal("audit key");
    assert!(!again.contains(key) && again.contains("from number 4 on"), "{again}");
}

#[cfg(target_os = "linux")]
#[test]
fn an_installation_at_a_terminal_gives_the_first_key() {
    let world = World::new();
    let said = world.at_a_terminal("install claude-code");
    assert!(said.contains("lazaret-audit-key-1.") && said.contains("from number 1 on"), "{said}");
    assert!(!world.at_a_terminal("install claude-code").contains("lazaret-audit-key-1."));
    let world = World::new();
    assert!(!world.said(&["install", "claude-code"]).contains("lazaret-audit-key"));
    assert!(!world.at_a_terminal("install claude-code --dry-run").contains("lazaret-audit-key"));
}

#[test]
fn a_session_start_says_that_the_end_does_not_verify() {
    let world = World::new();
    world.call("ls");
    let start = || world.hook("SessionStart", json!({ "source": "startup" }));
    assert_eq!(start(), "");
    world.add(FORGED);
    let said = start();
    let told: Value = serde_json::from_str(&said).unwrap();
    let text = told["systemMessage"].as_str().unwrap();
    assert!(text.contains("audit log does not verify") && text.contains("not written by lazaret"), "{text}");
    assert!(fs::read_to_string(world.log()).unwrap().contains("audit.unverified"));
    // Cut off, and gone.
    let world = World::new();
    world.call("ls");
    world.call("pwd");
    let start = || world.hook("SessionStart", json!({ "source": "startup" }));
    let text = fs::read_to_string(world.log()).unwrap();
    fs::write(world.log(), text.split_inclusive('\n').next().unwrap()).unwrap();
    assert!(start().contains("does not verify"));
    fs::remove_file(world.log()).unwrap();
    assert!(start().contains("does not verify"));
}

/// A log that is deleted whole, with its keys or without, before or after a session began: the next event says so, and a session's
/// start and `doctor` do for as long as what is missing would have been kept.
#[test]
fn a_deleted_log_is_told_at_once_and_later() {
    let start = |world: &World| world.hook("SessionStart", json!({ "source": "startup" }));
    let audit = |world: &World| world.log().parent().unwrap().to_owned();
    for (begun, whole) in [(false, false), (false, true), (true, false), (true, true)] {
        let world = World::new();
        if begun {
            assert_eq!(start(&world), "");
        }
        world.call("ls");
        world.call("pwd");
        if whole {
            fs::remove_dir_all(audit(&world)).unwrap();
        } else {
            fs::remove_file(world.log()).unwrap();
        }
        world.call("ls -l");
        world.call("ls -a");
        let log = fs::read_to_string(world.log()).unwrap();
        let first = log.lines().next().unwrap();
        assert!(
            first.contains("are not there any more") && first.contains("\"fault\""),
            "{begun} {whole}: {log}"
        );
        assert_eq!(log.matches("are not there any more").count(), 1);
        for _ in 0..2 {
            let said = start(&world);
            assert!(said.contains("does not verify") && said.contains("missing"), "{begun} {whole}: {said}");
        }
        let told = String::from_utf8(world.run(&["doctor"]).stdout).unwrap();
        assert!(told.contains("it does not verify"), "{told}");
        assert!(!world.run(&["audit", "verify"]).status.success());
    }
    // An older copy of log and keys together, and nothing at all.
    let world = World::new();
    world.call("ls");
    let kept: Vec<(PathBuf, Vec<u8>)> = fs::read_dir(audit(&world))
        .unwrap()
        .flatten()
        .map(|entry| (entry.path(), fs::read(entry.path()).unwrap()))
        .collect();
    world.call("pwd");
    world.call("pwd -P");
    assert_eq!(start(&world), "");
    kept.iter().for_each(|(path, bytes)| fs::write(path, bytes).unwrap());
    let told = String::from_utf8(world.run(&["doctor"]).stdout).unwrap();
    assert!(told.contains("it does not verify"), "{told}");
    fs::remove_dir_all(audit(&world)).unwrap();
    let told = String::from_utf8(world.run(&["doctor"]).stdout).unwrap();
    assert!(told.contains("it does not verify"), "{told}");
}

#[test]
fn doctor_says_whether_the_end_verifies() {
    let world = World::new();
    let line = |world: &World| -> Value {
        let out = world.run(&["doctor", "--json"]);
        let told: Value = serde_json::from_slice(&out.stdout).unwrap();
        let lines = told["lines"].as_array().or(told["checks"].as_array()).unwrap().clone();
        lines.into_iter().find(|line| line["subject"] == "audit log").unwrap()
    };
    assert_eq!(line(&world)["status"], "note");
    world.call("ls");
    let found = line(&world);
    assert!(found["status"] == "note" && found["message"].as_str().unwrap().contains("verify"), "{found}");
    world.add(FORGED);
    assert_eq!(line(&world)["status"], "fail");
}

#[test]
fn shown_lines_that_do_not_verify_are_marked() {
    let world = World::new();
    for command in ["ls", "pwd", "git status"] {
        world.call(command);
    }
    assert!(!world.said(&["audit", "show"]).contains("DOES NOT VERIFY"));
    let text = fs::read_to_string(world.log()).unwrap();
    fs::write(world.log(), text.replace("\"action\":\"pwd\"", "\"action\":\"cat\"")).unwrap();
    world.add(FORGED);
    let out = world.run(&["audit", "show"]);
    let shown = String::from_utf8(out.stdout).unwrap();
    let marked: Vec<&str> = shown.lines().filter(|line| line.starts_with("DOES NOT VERIFY")).collect();
    assert_eq!(out.status.code(), Some(1));
    assert!(marked.len() == 2 && marked[0].contains("(changed)") && marked[0].contains("cat"), "{shown}");
    assert!(marked[1].contains("(added)") && marked[1].contains("forged"), "{shown}");
    assert!(String::from_utf8_lossy(&out.stderr).contains("2 of these events do not verify"));
    // What other programs read says it too.
    for args in [
        &["audit", "show", "--json"][..],
        &["audit", "tail", "--json"],
        &["audit", "export", "--format", "json"],
        &["audit", "export", "--format", "csv"],
        &["audit", "export", "--format", "ecs"],
    ] {
        let out = world.run(args);
        let text = String::from_utf8(out.stdout).unwrap();
        assert_eq!((out.status.code(), text.matches("unverified").count()), (Some(1), 2), "{args:?}: {text}");
    }
    // A filter that lets none of them through shows none.
    let out = world.run(&["audit", "show", "--session", "nobody"]);
    assert!(out.stdout.is_empty() && out.status.code() == Some(1), "the end does not verify");
}
