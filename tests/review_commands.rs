//! The commands of review mode with the built binary: sessions, references, answers, and whole reviews with made-up
//! clients that answer well, badly, never, or leave something behind.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "tests"
)]

mod programs;
mod station;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use station::{BIN, PATIENCE, hook_line};

const UNKNOWN: &str = "3f2b8c1e-9d4a-4e6f-8a7b-0c1d2e3f4a5b";

struct Place {
    dir: tempfile::TempDir,
    keys: &'static str,
}

/// Exit code, standard output, standard error.
struct Told(i32, String, String);

impl Told {
    fn json(&self) -> Value {
        serde_json::from_str(&self.1).unwrap_or_else(|e| panic!("{e}: {}{}", self.1, self.2))
    }
}

impl Place {
    fn new() -> Place {
        let (base, keys) = station::base();
        Place::at(&base, keys.name())
    }

    fn at(base: &Path, keys: &'static str) -> Place {
        let place = Place { dir: tempfile::tempdir_in(base).unwrap(), keys };
        for sub in ["bin", "user", "project/.git"] {
            fs::create_dir_all(place.path(sub)).unwrap();
        }
        place.write("project/src/a.c", "int a;\nint b;\n");
        place.write("project/src/deep/b.c", "int c;\n");
        place
    }

    fn path(&self, below: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(below)
    }

    fn write(&self, below: &str, text: &str) {
        let path = self.path(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn read(&self, below: &str) -> String {
        fs::read_to_string(self.path(below)).unwrap_or_else(|e| panic!("{below}: {e}"))
    }

    fn command(&self) -> Command {
        let mut command =
            station::command(BIN, &self.path("user"), &self.path("home"), &self.path("project"));
        command
            .env("LAZARET_KEYS", self.keys)
            .env("PATH", format!("{}:/usr/bin:/bin", self.path("bin").display()));
        command
    }

    fn run(&self, args: &[&str]) -> Told {
        told(self.command().args(args))
    }

    /// A command that is to go well.
    fn well(&self, args: &[&str]) -> Told {
        let told = self.run(args);
        assert_eq!(told.0, 0, "{args:?}: {}{}", told.1, told.2);
        told
    }

    /// A session of `src`, and what its opening said.
    fn start(&self) -> (String, Value) {
        let value = self.well(&["review", "start", "src", "--json"]).json();
        (value["session"].as_str().unwrap().to_owned(), value)
    }

    fn audit(&self) -> Vec<(String, String)> {
        let text = fs::read_to_string(self.path("home/state/audit/audit.jsonl")).unwrap_or_default();
        let field = |line: &Value, key: &str| line[key].as_str().unwrap_or_default().to_owned();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .map(|line: Value| (field(&line, "event"), field(&line, "note")))
            .collect()
    }

    fn sessions(&self) -> Vec<Value> {
        self.well(&["review", "list", "--json"]).json()["sessions"].as_array().unwrap().clone()
    }

    /// Nothing of a key or a copy is left.
    fn is_clean(&self) {
        for session in self.sessions() {
            assert_eq!(session["state"], "ended", "{session}");
        }
        let room = self.path("home/run/review");
        let left: Vec<_> = fs::read_dir(room.join("sessions")).into_iter().flatten().collect();
        assert!(left.is_empty(), "{left:?}");
        let master = fs::read_dir(room).into_iter().flatten().flatten();
        assert!(!master.into_iter().any(|entry| entry.file_name().to_string_lossy().contains("master")));
        assert!(!self.path("home/state/review-run").exists());
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // Nothing of a test stays in the keyring.
        let _ended = self.command().args(["review", "end", "--all"]).output();
    }
}

fn told(command: &mut Command) -> Told {
    let out = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Told(out.status.code().unwrap_or(-1), text(&out.stdout), text(&out.stderr))
}

fn answer(severity: &str) -> String {
    let risk = if severity == "info" { "none" } else { severity };
    json!({"summary": "two files", "riskLevel": risk, "filesReviewed": ["src/a.c", "src/deep/b.c"], "findings": [
        {"type": "security", "severity": severity, "title": "a is not \u{1b}[31minitialised",
         "description": "It is read before it is written.", "location": {"file": "src/a.c", "line": 2}}]})
    .to_string()
}

#[test]
fn a_start_that_nobody_can_read_leaves_no_session() {
    let place = Place::new();
    let shell = |line: &str| {
        let own = place.command();
        let mut command = Command::new("/bin/sh");
        command.args(["-c", line, BIN]).env_clear().current_dir(place.path("project")).stdin(Stdio::null());
        command.envs(own.get_envs().filter_map(|(name, value)| Some((name, value?))));
        told(&mut command)
    };
    let open = || place.well(&["review", "list", "--json"]).json()["sessions"].as_array().unwrap().len();
    let Told(code, _, error) = shell("exec \"$0\" review start src 1>&-");
    assert_eq!(code, 1, "{error}");
    assert!(
        error.starts_with("lazaret: standard output: it is closed") && error.contains("hint: "),
        "{error}"
    );
    assert_eq!(open(), 0);
    assert_eq!(shell("exec \"$0\" review start src >/dev/null").0, 0);
    assert_eq!(open(), 1);
    place.well(&["review", "end", "--all"]);
}

#[test]
fn a_name_with_a_dash_is_told_how_to_be_given() {
    let place = Place::new();
    place.write("project/-dash.rs", "fn f() {}\n");
    let Told(code, _, error) = place.run(&["review", "start", "-dash.rs"]);
    assert_eq!(code, 1);
    assert!(error.contains("`-- -dash.rs`"), "{error}");
    place.well(&["review", "start", "--", "-dash.rs"]);
    place.well(&["review", "end", "--all"]);
}

#[test]
fn a_session_is_opened_shown_and_ended() {
    let place = Place::new();
    let (id, opened) = place.start();
    let root = place.path("project");
    assert_eq!(opened["root"], root.to_str().unwrap());
    assert_eq!((&opened["files"], &opened["bytes"]), (&json!(2), &json!(21)));
    assert_eq!((&opened["ttl_seconds"], &opened["timeout_seconds"]), (&json!(3600), &json!(300)));
    assert_eq!(opened["references"][0]["path"], root.join("src").to_str().unwrap());
    assert_eq!(opened["references"][0]["kind"], "dir");
    let uri = opened["references"][0]["uri"].as_str().unwrap();
    assert!(uri.starts_with("typed://%2F") && uri.ends_with(&format!("&sid={id}")), "{uri}");
    assert_eq!(opened["agent_type"], "quarantine-reviewer");
    // A directory cannot be read: each of its files has a reference of its own in the prompt.
    let inside = place.well(&["ref", "create", "--session", &id, "src/deep/b.c"]).1;
    let line = format!("- {}  \"src/deep/b.c\"", inside.trim());
    assert!(opened["user_prompt"].as_str().unwrap().contains(&line), "{line}");
    let part = |key: &str| opened[key].as_str().unwrap().to_owned();
    assert!(part("user_prompt").contains(uri) && !part("system_prompt").contains(uri));
    assert_eq!(part("prompt"), format!("{}\n\n{}", part("system_prompt").trim_end(), part("user_prompt")));
    assert!(part("expires") > part("opened"));

    let listed = place.sessions();
    assert_eq!((listed.len(), &listed[0]["session"], &listed[0]["state"]), (1, &json!(id), &json!("open")));
    assert!(listed[0]["seconds_left"].as_u64().unwrap() > 3000 && listed[0]["agents"] == 0);
    let shown = place.well(&["review", "show", &id, "--json"]).json();
    assert_eq!(shown["sealed"][0]["path"], root.join("src/a.c").to_str().unwrap());
    assert_eq!((&shown["skipped_count"], &shown["skipped"]), (&json!(0), &json!([])));
    assert_eq!((&shown["sealed"][0]["lines"], &shown["entries"][0]["kind"]), (&json!(2), &json!("dir")));
    assert!(shown.get("prompt").is_none() && shown.get("references").is_none());
    let again = place.well(&["review", "show", &id, "--prompt", "--json"]).json();
    assert_eq!((&again["prompt"], &again["references"]), (&opened["prompt"], &opened["references"]));
    let printed = place.well(&["review", "show", &id, "--prompt"]).1;
    assert_eq!(printed.trim_end(), part("prompt").trim_end());
    let words = place.well(&["review", "show", &id]).1;
    assert!(words.contains("src/deep/b.c (1 lines, 7 bytes)") && !words.contains("hmac="), "{words}");

    assert!(place.well(&["review", "end", &id]).1.contains("its key is destroyed"));
    let second = place.well(&["review", "end", &id]).1;
    assert!(second.contains("had ended already") && second.contains("(asked)"), "{second}");
    assert_eq!(place.well(&["review", "end", &id, "--json"]).json()["sessions"][0]["had_ended"], true);
    place.is_clean();
    let gone = place.run(&["review", "show", &id, "--prompt"]);
    assert!(gone.0 == 1 && gone.2.contains("it ended at") && gone.2.contains("hint: start a new review"));
    assert!(place.well(&["review", "show", &id]).1.contains("ended at"));
    let events: Vec<String> = place.audit().into_iter().map(|(event, _)| event).collect();
    assert_eq!(events, ["quarantine_session_started", "quarantine_session_ended"]);
    assert!(place.audit()[0].1.contains(&id));
}

/// Before the first session nobody has read what is not trusted, and the client's own directory is searched like any other.
#[test]
fn transcripts_of_agents_are_closed_from_the_first_session_on() {
    let place = Place::new();
    let home = place.path("user");
    fs::create_dir_all(home.join(".claude/projects/p/s/subagents")).unwrap();
    let answers = || {
        let code = "import pathlib; print([p.read_text() for p in pathlib.Path.home().rglob('.claude/projects/p/*.jsonl')])";
        [format!("grep -rn x {}/.claude", home.display()), format!("python3 -c \"{code}\"")].map(|command| {
            let value = place.run(&["check", "--json", "--", &command]).json();
            let rules = value["reasons"].as_array().unwrap();
            rules.iter().any(|reason| reason["rule"] == "quarantine.transcript-read")
        })
    };
    assert_eq!(answers(), [false, false]);
    let (session, _) = place.start();
    assert_eq!(answers(), [true, true]);
    place.well(&["review", "end", &session]);
    assert_eq!(answers(), [true, true]);
}

#[test]
fn what_start_prints_for_a_person() {
    let place = Place::new();
    std::os::unix::fs::symlink("/etc/passwd", place.path("project/src/link")).unwrap();
    let out = place.well(&["review", "start", "src", "--instructions", "look at the network code"]).1;
    for part in [
        "  sealed:  2 files, 21 bytes (key: ",
        "src/link: it is a symbolic link",
        "subagent type `quarantine-reviewer`",
        "> look at the network code",
        "when it has answered: lazaret review end ",
    ] {
        assert!(out.contains(part), "{part}: {out}");
    }
    // Somebody who has read enough does not end it.
    let mut child = place.command().args(["review", "start", "src"]).stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
    assert_eq!(place.sessions().iter().filter(|session| session["state"] == "open").count(), 2);
    let ended = place.well(&["review", "end", "--all", "--json"]).json();
    assert_eq!(ended["sessions"].as_array().unwrap().len(), 2);
    assert!(place.well(&["review", "end", "--all"]).1.contains("no review session is open"));
    place.is_clean();
}

#[test]
fn the_root_is_the_work_tree_or_what_is_named() {
    let place = Place::new();
    let below = |args: &[&str]| told(place.command().current_dir(place.path("project/src")).args(args));
    let value = below(&["review", "start", "a.c", "--json"]).json();
    assert_eq!(value["root"], place.path("project").to_str().unwrap());
    let named =
        below(&["review", "start", "a.c", "--root", ".", "--ttl", "60", "--timeout", "30", "--json"]).json();
    assert_eq!(named["root"], place.path("project/src").to_str().unwrap());
    assert_eq!((&named["ttl_seconds"], &named["timeout_seconds"]), (&json!(60), &json!(30)));
    fs::remove_dir(place.path("project/.git")).unwrap();
    let outside = below(&["review", "start", "../src/a.c", "--root", "deep"]);
    assert!(
        outside.0 == 1 && outside.2.contains("lies outside") && outside.2.contains("hint: "),
        "{}",
        outside.2
    );
    if fs::canonicalize("/").unwrap().join(".git").exists() {
        return;
    }
    let value = below(&["review", "start", "a.c", "--json"]).json();
    assert_eq!(value["root"], place.path("project/src").to_str().unwrap());
}

#[test]
fn what_cannot_be_started_says_why() {
    let place = Place::new();
    for (args, told) in [
        (&["start", "src/none.c"][..], "No such file"),
        (&["start", "/etc/hostname"], "lies outside"),
        (&["start", "src", "--ttl", "100000"], "the life of a review"),
        (&["start", "src", "--ttl", "10", "--timeout", "20"], "the time limit of a review"),
        (&["start"], "required"),
        (&["start", "src", "--ttl", "0"], "0 is not in"),
        (&["show", "1"], "that is not a session's id"),
        (&["show", UNKNOWN], "there is no such session"),
        (&["end", UNKNOWN], "there is no such session"),
        (&["end", "a\u{1b}[31m"], "a\\u{1b}[31m: that is not a session's id"),
        (&["end"], "required"),
        (&["parse", "--session", UNKNOWN, "x"], "there is no such session"),
        (&["parse", "none.json"], "none.json: No such file"),
        (&["parse", "--fail-on", "awful", "x"], "invalid value"),
    ] {
        let failed = place.run(&[&["review"], args].concat());
        assert!(failed.0 == 1 && failed.1.is_empty() && failed.2.contains(told), "{args:?}: {}", failed.2);
    }
    let keys = told(place.command().env("LAZARET_KEYS", "paper").args(["review", "start", "src"]));
    assert!(keys.0 == 1 && keys.2.contains("hint: set LAZARET_KEYS"), "{}", keys.2);
    assert!(place.sessions().is_empty());
}

#[test]
fn a_session_that_cannot_be_logged_is_not_opened() {
    let place = Place::new();
    place.write("home/state/audit", "a file where a directory should be");
    fs::set_permissions(place.path("home/state"), fs::Permissions::from_mode(0o700)).unwrap();
    let failed = place.run(&["review", "start", "src"]);
    assert!(failed.0 == 1 && failed.2.contains("audit"), "{}", failed.2);
    place.is_clean();
}

#[test]
fn references_are_minted_for_what_is_granted_only() {
    let place = Place::new();
    place.write("project/other.c", "int x;\n");
    std::os::unix::fs::symlink("a.c", place.path("project/src/link")).unwrap();
    let (id, opened) = place.start();
    let create = |path: &str| place.run(&["ref", "create", "--session", &id, path]);
    assert_eq!(create("src").1.trim(), opened["references"][0]["uri"].as_str().unwrap());
    let uri = create("src/a.c").1.trim().to_owned();
    assert!(uri.contains("%2Fsrc%2Fa.c?hmac="), "{uri}");
    let dir = place.well(&["ref", "create", "--session", &id, "src/deep", "--json"]).json();
    assert_eq!(dir["kind"], "dir");
    // What the link leads to is granted, and so the link's own name never appears.
    assert_eq!(create("src/link").1.trim(), uri);
    for path in ["other.c", "/etc/passwd", "src/none", ".", "src/../other.c"] {
        let refused = create(path);
        assert!(refused.0 == 1 && refused.2.contains("does not grant it"), "{path}: {}", refused.2);
        assert!(refused.2.contains("hint: lazaret review show"), "{}", refused.2);
    }

    let verify = |uri: &str| place.run(&["ref", "verify", uri]);
    let held = verify(&uri);
    assert!(held.0 == 0 && held.1.contains("it holds") && held.1.contains("src/a.c"), "{}", held.1);
    let value = place.well(&["ref", "verify", &uri, "--json"]).json();
    assert_eq!(
        (&value["valid"], &value["code"], &value["session"]),
        (&json!(true), &Value::Null, &json!(id))
    );
    let (other, _) = place.start();
    for (uri, code) in [
        (uri.replace("a.c", "b.c"), "HMAC_VERIFICATION_FAILED"),
        (uri.replace("&ts=1", "&ts=2"), "HMAC_VERIFICATION_FAILED"),
        (uri.replace(&id, &other), "HMAC_VERIFICATION_FAILED"),
        (uri.replace(&id, UNKNOWN), "SESSION_MISMATCH"),
        (uri.replace("%2F", "%2f"), "INVALID_TYPED_REFERENCE"),
        (uri.replace("typed://", "TYPED://"), "INVALID_TYPED_REFERENCE"),
        ("src/a.c".to_owned(), "INVALID_TYPED_REFERENCE"),
        (String::new(), "INVALID_TYPED_REFERENCE"),
    ] {
        let refused = verify(&uri);
        assert!(refused.0 == 2 && refused.1.contains(code), "{uri}: {}{}", refused.1, refused.2);
        assert_eq!(place.run(&["ref", "verify", &uri, "--json"]).json()["code"], code);
    }
    let foreign = place.run(&["ref", "verify", &uri, "--session", &other]);
    assert!(foreign.0 == 2 && foreign.1.contains("SESSION_MISMATCH"), "{}", foreign.1);
    place.well(&["review", "end", &id]);
    let over = verify(&uri);
    assert!(over.0 == 2 && over.1.contains("has ended"), "{}", over.1);
    assert_eq!(place.run(&["ref", "create", "--session", &id, "src"]).0, 1);
}

#[test]
fn the_keyring_keeps_the_key_where_it_works() {
    if let Err(fault) = lazaret::host::quarantine::probe_own() {
        eprintln!("not tested: the keyring ({fault})");
        return;
    }
    let place = Place::at(&std::env::temp_dir(), "keyring");
    let (id, opened) = place.start();
    assert_eq!(opened["keys"], "keyring");
    let uri = place.well(&["ref", "create", "--session", &id, "src/a.c"]).1;
    place.well(&["ref", "verify", uri.trim()]);
    place.well(&["review", "end", &id]);
    assert_eq!(place.run(&["ref", "verify", uri.trim()]).0, 2);
    place.is_clean();
}

#[test]
fn no_command_shows_the_key() {
    let place = Place::new();
    let (id, opened) = place.start();
    let uri = opened["references"][0]["uri"].as_str().unwrap().to_owned();
    let mut secrets = vec![fs::read(place.path(&format!("home/run/review/sessions/{id}/salt"))).unwrap()];
    secrets.extend(fs::read(place.path("home/run/review/master.key")).ok());
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    for args in [
        &["review", "list", "--json"][..],
        &["review", "show", &id, "--json", "--prompt"],
        &["ref", "create", "--session", &id, "src", "--json"],
        &["ref", "verify", &uri, "--json"],
        &["agents", "--json"],
        &["review", "end", &id, "--json"],
        &["audit", "show", "--json"],
    ] {
        let said = place.well(args).1;
        for secret in &secrets {
            let list = serde_json::to_string(secret).unwrap();
            assert!(secret.len() == 32 && !said.contains(&hex(secret)) && !said.contains(&list), "{args:?}");
        }
    }
}

#[test]
fn agents_at_work_are_listed() {
    let place = Place::new();
    assert!(place.well(&["agents"]).1.contains("no quarantined agent"));
    let (id, _) = place.start();
    let uri = place.well(&["ref", "create", "--session", &id, "src/a.c"]).1.trim().to_owned();
    let read = json!({"session_id": "client", "cwd": place.path("project"), "hook_event_name": "PreToolUse",
        "tool_name": "Read", "tool_input": {"file_path": uri}, "tool_use_id": "t", "agent_id": "a1",
        "agent_type": "quarantine-reviewer"});
    let hook = hook(&place, &read);
    assert_eq!(hook.0, 0, "{}{}", hook.1, hook.2);
    let agents = place.well(&["agents", "--json"]).json();
    let agent = &agents["agents"][0];
    assert_eq!((&agent["agent"], &agent["session"]), (&json!("a1"), &json!(id)));
    assert!(agent["seconds_left"].as_u64().unwrap() <= 300 && agents["max_concurrent"] == 5);
    assert!(place.well(&["agents"]).1.contains("1 of 5 at once"));
    assert!(place.well(&["review", "show", &id]).1.contains("a1 of claude-code session client"));
    assert_eq!(place.sessions()[0]["agents"], 1);
    place.well(&["review", "end", &id]);
    assert_eq!(place.well(&["agents", "--json"]).json()["agents"], json!([]));
}

fn hook(place: &Place, message: &Value) -> Told {
    place.write("message.json", &message.to_string());
    let file = fs::File::open(place.path("message.json")).unwrap();
    told(station::hook::hook(&mut place.command(), "claude-code").stdin(file))
}

#[test]
fn an_answer_is_checked_and_cleaned() {
    let place = Place::new();
    let (id, _) = place.start();
    place.write("good.json", &answer("high"));
    let file = place.path("good.json");
    let file = file.to_str().unwrap();
    let parse = |more: &[&str]| place.run(&[&["review", "parse", file], more].concat());
    let shown = parse(&["--session", &id]);
    assert_eq!(shown.0, 0, "{}", shown.2);
    assert!(shown.1.starts_with("high      src/a.c:2  a is not initialised\n"), "{}", shown.1);
    assert!(shown.1.contains("risk high: 2 of 2 files read"), "{}", shown.1);
    let value = parse(&["--session", &id, "--json"]).json();
    assert_eq!(
        (&value["usable"], &value["failed"], &value["locations_checked"]),
        (&json!(true), &json!(false), &json!(true))
    );
    assert_eq!(value["report"]["review"]["sessionId"], json!(id));
    assert_eq!(value["report"]["findings"][0]["location"]["line"], 2);
    for (limit, code) in [("info", 2), ("high", 2), ("critical", 0)] {
        assert_eq!(parse(&["--session", &id, "--fail-on", limit]).0, code, "{limit}");
        assert_eq!(parse(&["--fail-on", limit, "--json"]).json()["failed"], code == 2);
    }
    let unchecked = parse(&[]);
    assert!(
        unchecked.1.contains("no session was named") && !unchecked.1.contains("a.c:2"),
        "{}",
        unchecked.1
    );
    let value = parse(&["--json"]).json();
    assert_eq!((&value["session"], &value["report"]["review"]), (&Value::Null, &Value::Null));

    for (text, wrong) in [
        ("{}".to_owned(), "summary"),
        (format!("```json\n{}\n```", answer("low")), "code fence"),
        (format!("Here: {}", answer("low")), "something else before it"),
        (answer("awful"), "findings[0].severity"),
        (String::new(), "found nothing"),
        ("x".repeat(300_000), "at most 256 KiB"),
    ] {
        place.write("good.json", &text);
        let refused = parse(&["--session", &id]);
        assert!(
            refused.0 == 1 && refused.1.is_empty() && refused.2.contains(wrong),
            "{wrong}: {}",
            refused.2
        );
        let value = parse(&["--session", &id, "--json"]).json();
        assert!(
            value["usable"] == false && value["report"].is_null() && !value["errors"][0].is_null(),
            "{value}"
        );
    }
    fs::write(place.path("good.json"), b"{\xff}").unwrap();
    assert!(parse(&[]).2.contains("expected UTF-8"));
    place.write("good.json", &answer("low"));
    let stdin = fs::File::open(place.path("good.json")).unwrap();
    assert_eq!(told(place.command().args(["review", "parse", "-", "--fail-on", "low"]).stdin(stdin)).0, 2);
    place.well(&["review", "end", &id]);
    let ended = parse(&["--session", &id]);
    assert!(ended.0 == 1 && ended.2.contains("it ended at"), "{}", ended.2);
}

/// Whole reviews, with a made-up Claude Code.
struct Clinic(Place);

impl Clinic {
    /// Registered, with a client that does `script` when it is asked for a review.
    fn new(script: &str) -> Clinic {
        let clinic = Clinic(Place::new());
        clinic.client("claude", "2.1.329 (Claude Code)", script);
        clinic.0.well(&["install", "claude-code"]);
        clinic
    }

    fn client(&self, name: &str, version: &str, script: &str) {
        let log = self.0.path("log");
        fs::create_dir_all(&log).unwrap();
        let script = format!(
            "#!/bin/sh\n[ \"$1\" = --version ] && {{ echo '{version}'; exit 0; }}\nlog={}\n\
             for a; do printf '%s\\n' \"$a\"; done > $log/args\nenv > $log/env\npwd > $log/pwd\nls -A > $log/ls\n\
             readlink /proc/$$/fd/0 > $log/stdin\necho $$ > $log/pid.new; mv $log/pid.new $log/pid\n{script}\n",
            log.display()
        );
        let path = self.0.path("bin").join(name);
        programs::write(&path, script);
    }

    /// What the client sends when it is done: `answer` after two calls.
    fn stream(&self, answer: &str) {
        let call =
            json!({"type": "assistant", "message": {"content": [{"type": "tool_use", "name": "Read"}]}});
        let done = json!({"type": "result", "subtype": "success", "is_error": false, "result": answer});
        self.0.write("log/stream", &format!("{call}\n{call}\n{done}\n"));
    }

    fn review(&self, more: &[&str]) -> Told {
        self.0.run(&[&["review", "run", "src"], more].concat())
    }

    /// The processes that the client noted are gone, and so are session, copies and directory.
    fn nothing_is_left(&self) {
        for name in ["pid", "grandchild"] {
            let Ok(pid) = fs::read_to_string(self.0.path("log").join(name)) else { continue };
            assert!(is_gone(pid.trim()), "{name} {pid}");
        }
        self.0.is_clean();
        assert!(!Path::new(self.0.read("log/pwd").trim()).exists());
    }

    fn events(&self) -> Vec<String> {
        let events = self.0.audit().into_iter().map(|(event, _)| event);
        events.filter(|event| event.starts_with("quarantine_")).collect()
    }
}

fn is_gone(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.is_empty() || stat.contains(") Z ")
}

#[test]
fn a_whole_review_with_claude_code() {
    let clinic = Clinic::new("cat $log/stream");
    clinic.stream(&answer("high"));
    let told = clinic.review(&["--model", "m1", "--instructions", "look twice"]);
    assert_eq!(told.0, 2, "{}{}", told.1, told.2);
    assert!(told.1.starts_with("high      src/a.c:2  a is not initialised\n"), "{}", told.1);
    assert!(told.1.contains("a finding is at or above high"), "{}", told.1);
    assert_eq!(told.2, "", "nothing is said on a pipe");
    // It says that it read both, and no hook was ever asked.
    assert!(told.1.contains("risk high: 0 of 2 files read\n"), "{}", told.1);
    assert!(told.1.contains("careful with the whole: unread-files, never-read"), "{}", told.1);
    clinic.nothing_is_left();
    assert_eq!(clinic.events(), ["quarantine_session_started", "quarantine_session_ended"]);

    let args = clinic.0.read("log/args");
    let lines: Vec<&str> = args.lines().collect();
    assert_eq!((lines[0], lines[1].starts_with("Review what is listed")), ("-p", true));
    for (option, value) in [
        ("--output-format", "stream-json"),
        ("--agent", "quarantine-reviewer"),
        ("--tools", "Read,Grep,Glob"),
        ("--setting-sources", "user"),
        ("--model", "m1"),
    ] {
        let at = lines.iter().position(|line| *line == option).unwrap_or_else(|| panic!("{option}"));
        assert_eq!(lines[at + 1], value);
    }
    assert!(args.contains("> look twice") && args.contains("--verbose"), "{args}");
    let session = clinic.0.sessions()[0]["session"].as_str().unwrap().to_owned();
    assert!(clinic.0.read("log/env").lines().any(|line| line == format!("LAZARET_QUARANTINE={session}")));
    assert_eq!(clinic.0.read("log/stdin").trim(), "/dev/null");
    assert_eq!(clinic.0.read("log/ls"), "", "it works in an empty directory");

    clinic.stream(&answer("medium"));
    let value = clinic.review(&["--json"]);
    assert_eq!(value.0, 0);
    let value = value.json();
    assert_eq!(
        (&value["client"], &value["calls"], &value["failed"]),
        (&json!("claude-code"), &json!(2), &json!(false))
    );
    assert_eq!(value["report"]["findings"][0]["severity"], "medium");
    assert_eq!(clinic.review(&["--fail-on", "medium"]).0, 2);
    clinic.nothing_is_left();
}

/// The hook that the client runs finds itself in the session, whatever agent the client says it is.
#[test]
fn the_client_is_quarantined_as_a_whole() {
    let clinic = Clinic::new("");
    let call = |tool: &str, input: Value| {
        json!({"session_id": "c", "cwd": "/", "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input,
               "tool_use_id": "t"})
    };
    clinic.0.write("log/bash", &call("Bash", json!({"command": "ls"})).to_string());
    clinic.0.write("log/plain", &call("Read", json!({"file_path": "/etc/passwd"})).to_string());
    clinic.0.write("log/read", &call("Read", json!({"file_path": "URI"})).to_string());
    clinic.client(
        "claude",
        "2.1.329 (Claude Code)",
        &format!(
            "uri=$(grep -o 'typed://[^ ]*' $log/args | head -1)\nsed \"s|URI|$(echo $uri | sed 's/&/\\\\&/g')|\" $log/read > $log/read2\n\
             for c in bash plain read2; do {hook} < $log/$c > $log/$c.out 2> $log/$c.err; echo $? > $log/$c.code; done\n\
             cat $log/stream", hook = hook_line()),
    );
    clinic.stream(&answer("low"));
    let told = clinic.0.run(&["review", "run", "src/a.c"]);
    assert_eq!(told.0, 0, "{}{}", told.1, told.2);
    assert_eq!(clinic.0.read("log/bash.code").trim(), "2");
    assert_eq!(clinic.0.read("log/plain.code").trim(), "2");
    let read = clinic.0.read("log/read2.out");
    assert_eq!(clinic.0.read("log/read2.code").trim(), "0", "{read}{}", clinic.0.read("log/read2.err"));
    assert!(read.contains("/copies/src/a.c") && read.contains("updatedInput"), "{read}");
    assert!(told.1.contains("risk low: 1 of 1 files read\n") && !told.1.contains("never-read"), "{}", told.1);
    clinic.nothing_is_left();
}

/// The hook ends a review with the client's session, before the answer is looked at.
#[test]
fn a_session_that_ends_with_its_client_does_no_harm() {
    let clinic = Clinic::new(&format!(
        "for m in bash over; do {hook} < $log/$m > $log/$m.out 2>&1; done\n\
         {BIN} review list > $log/listed\ncat $log/stream",
        hook = hook_line()
    ));
    let message = |event: &str| {
        json!({"session_id": "c", "cwd": "/", "hook_event_name": event, "tool_name": "Glob",
               "tool_input": {"pattern": "*"}, "tool_use_id": "t", "reason": "other"})
    };
    clinic.0.write("log/bash", &message("PreToolUse").to_string());
    clinic.0.write("log/over", &message("SessionEnd").to_string());
    clinic.stream(&answer("high"));
    let told = clinic.review(&[]);
    assert_eq!(told.0, 2, "{}{}", told.1, told.2);
    assert!(clinic.0.read("log/listed").contains("(client-ended)"), "{}", clinic.0.read("log/bash.out"));
    assert!(told.1.starts_with("high      src/a.c:2  "), "{}", told.1);
    clinic.nothing_is_left();
    let mut events = clinic.events();
    events.retain(|event| event.starts_with("quarantine_session"));
    assert_eq!(events, ["quarantine_session_started", "quarantine_session_ended"]);
}

#[test]
fn a_whole_review_with_opencode() {
    let clinic = Clinic(Place::new());
    clinic.client("opencode", "1.18.33", "cat > $log/task; cat $log/stream");
    clinic.0.well(&["install", "opencode"]);
    let part = |text: &str| json!({"type": "text", "part": {"text": text}}).to_string();
    let lines = [
        json!({"type": "step_start"}).to_string(),
        part("I look first."),
        json!({"type": "tool_use", "part": {"tool": "read"}}).to_string(),
        json!({"type": "step_start"}).to_string(),
        part(&answer("critical")),
    ];
    clinic.0.write("log/stream", &lines.join("\n"));
    let told = clinic.review(&["--client", "opencode", "--json"]);
    assert_eq!(told.0, 2, "{}{}", told.1, told.2);
    let value = told.json();
    assert_eq!((&value["client"], &value["calls"]), (&json!("opencode"), &json!(1)));
    let args = clinic.0.read("log/args");
    let probed: Vec<(String, String)> =
        clinic.0.audit().into_iter().filter(|(event, _)| event.starts_with("action_")).collect();
    assert!(
        probed.len() >= 2 && probed.iter().all(|(_, note)| note.contains("lazaret doctor")),
        "{probed:?}"
    );
    let shown = clinic.0.well(&["audit", "show", "--tool", "Bash"]).1;
    assert!(shown.lines().count() >= 2, "{shown}");
    for line in shown.lines() {
        assert!(line.ends_with("  (a question of lazaret doctor, not an agent's call)"), "{line}");
    }
    assert_eq!(args.trim_end(), "run\n--format\njson\n--agent\nquarantine-reviewer");
    let task = clinic.0.read("log/task");
    assert!(task.starts_with("Review what is listed") && task.contains("- typed://"), "{task}");
    let env = clinic.0.read("log/env");
    let config = env.lines().find_map(|line| line.strip_prefix("OPENCODE_CONFIG_CONTENT=")).unwrap();
    let config: Value = serde_json::from_str(config).unwrap();
    let agent = &config["agent"]["quarantine-reviewer"];
    assert_eq!((&agent["mode"], &agent["permission"]["*"]), (&json!("primary"), &json!("deny")));
    clinic.nothing_is_left();
    // No other client is here, so none needs to be named.
    assert_eq!(clinic.review(&[]).0, 2);
}

#[test]
fn a_client_without_the_hook_is_not_started() {
    let clinic = Clinic(Place::new());
    let none = clinic.review(&[]);
    assert!(none.0 == 1 && none.2.contains("no such client is on PATH"), "{}", none.2);
    clinic.client("claude", "2.1.329 (Claude Code)", "cat $log/stream");
    let open = clinic.review(&[]);
    assert!(open.0 == 1 && open.2.contains("the gate is not registered"), "{}", open.2);
    assert!(open.2.contains("hint: lazaret install claude-code"), "{}", open.2);
    // What the project under review registers does not count: it is not run from there.
    clinic.0.well(&["install", "claude-code", "--scope", "project"]);
    let project = clinic.review(&[]);
    assert!(project.0 == 1 && project.2.contains("the gate is not registered"), "{}", project.2);
    assert!(!clinic.0.path("log/args").exists(), "it was not started");
    assert!(clinic.0.sessions().is_empty() && clinic.events().is_empty());
    clinic.0.well(&["install", "claude-code"]);
    let settings = clinic.0.path("user/.claude/settings.json");
    let text = fs::read_to_string(&settings).unwrap();
    // A plugin that is not installed registers nothing; what is registered for other events is none of the gate.
    fs::write(&settings, r#"{"enabledPlugins": {"lazaret@lazaret": true}}"#).unwrap();
    let plugin = clinic.review(&[]);
    assert!(
        plugin.0 == 1 && plugin.2.contains("lazaret@lazaret is on, and its hooks do not run"),
        "{}",
        plugin.2
    );
    let mut others: Value = serde_json::from_str(&text).unwrap();
    others["hooks"].as_object_mut().unwrap().retain(|event, _| event == "SessionStart");
    assert_eq!(others["hooks"].as_object().unwrap().len(), 1);
    fs::write(&settings, others.to_string()).unwrap();
    let others = clinic.review(&[]);
    assert!(others.0 == 1 && others.2.contains("the gate is not registered"), "{}", others.2);
    assert!(!clinic.0.path("log/args").exists(), "it was not started");
    let off = text.replacen('{', "{\"disableAllHooks\": true,", 1);
    fs::write(&settings, off).unwrap();
    let off = clinic.review(&[]);
    assert!(off.0 == 1 && off.2.contains("disableAllHooks"), "{}", off.2);
    clinic.0.is_clean();
}

#[test]
fn an_answer_that_is_none_fails_the_review() {
    let clinic = Clinic::new("cat $log/stream");
    for (answer, wrong) in
        [("I found nothing.", "something else before it"), ("{\"a\":1}", "summary"), ("", "found nothing")]
    {
        clinic.stream(answer);
        let told = clinic.review(&[]);
        assert!(told.0 == 1 && told.1.is_empty() && told.2.contains(wrong), "{answer}: {}{}", told.1, told.2);
        assert!(told.2.contains("lazaret: the answer of claude-code: the answer does not follow the schema"));
        clinic.nothing_is_left();
    }
    let json = clinic.review(&["--json"]);
    assert!(json.0 == 1 && json.json()["usable"] == false);
}

/// Not in what the client is given, and not in what anybody could read of the command itself.
#[test]
fn the_key_is_in_nobodys_arguments_or_environment() {
    let clinic = Clinic::new(
        "cp ${LAZARET_HOME}/run/review/master.key $log/master\n\
         cat /proc/$PPID/cmdline /proc/$PPID/environ > $log/above 2>/dev/null\ncat $log/stream",
    );
    clinic.stream(&answer("high"));
    assert_eq!(clinic.review(&[]).0, 2);
    let Ok(master) = fs::read(clinic.0.path("log/master")) else {
        eprintln!("not tested: a key in a file (the keyring holds it)");
        return;
    };
    let hex: String = master.iter().map(|byte| format!("{byte:02x}")).collect();
    for log in ["args", "env", "above"] {
        let bytes = fs::read(clinic.0.path("log").join(log)).unwrap();
        assert!(!bytes.is_empty() && !bytes.windows(master.len()).any(|part| part == master), "{log}");
        assert!(!String::from_utf8_lossy(&bytes).to_lowercase().contains(&hex), "{log}");
    }
}

/// Whoever talked it into that: a pipeline must not take it for a clean review.
#[test]
fn an_answer_without_findings_of_an_agent_that_looked_at_nothing_fails_the_review() {
    let clinic = Clinic::new(&format!(
        "[ -e $log/call ] && {hook} < $log/call > $log/out 2>&1\ncat $log/stream",
        hook = hook_line()
    ));
    let nothing =
        json!({"summary": "Fine.", "riskLevel": "none", "findings": [], "filesReviewed": ["src/a.c"]});
    clinic.stream(&nothing.to_string());
    let refused = || {
        let told = clinic.review(&[]);
        assert_eq!((told.0, told.1.as_str()), (1, ""), "{}", told.2);
        assert!(told.2.contains("it found nothing, but it looked at no file"), "{}", told.2);
        clinic.nothing_is_left();
    };
    refused();
    let call = |tool: &str, input: Value| {
        // Each review is a session of the client's own.
        let call = json!({"session_id": tool, "cwd": "/", "hook_event_name": "PreToolUse", "tool_name": tool,
                          "tool_input": input, "tool_use_id": "t"});
        clinic.0.write("log/call", &call.to_string());
    };
    // What was refused showed it nothing.
    call("Read", json!({"file_path": "/etc/passwd"}));
    refused();
    call("Grep", json!({"pattern": "gets"}));
    let told = clinic.review(&[]);
    assert_eq!(told.0, 0, "{}{}", told.1, told.2);
    assert!(told.1.starts_with("no findings\n"), "{}", told.1);
}

#[test]
fn a_client_that_fails_is_quoted_and_cleaned_up_after() {
    for (script, wrong) in [
        (
            "echo 'no \u{1b}[31mcredit' >&2; exit 7",
            "it ended with exit code 7: it gave no answer (no \\u{1b}[31mcredit)",
        ),
        ("cat $log/stream; exit 3", "it ended with exit code 3"),
        ("kill -9 $$", "it was ended by signal 9"),
        ("true", "it gave no answer"),
        ("yes '{\"type\":\"assistant\"}' | head -c 3000000; echo; exit 0", "it gave no answer"),
        (
            "echo '{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":true,\"result\":\"API Error: 500\"}'; exit 1",
            "it ended with exit code 1: (API Error: 500)",
        ),
    ] {
        let clinic = Clinic::new(script);
        clinic.stream(&answer("low"));
        let told = clinic.review(&[]);
        assert!(told.0 == 1 && told.1.is_empty() && told.2.contains(wrong), "{script}: {}{}", told.1, told.2);
        clinic.nothing_is_left();
        assert_eq!(clinic.events(), ["quarantine_session_started", "quarantine_session_ended"]);
    }
}

const LEAVES: &str = "setsid sh -c 'echo $$ > $0/g.new; mv $0/g.new $0/grandchild; trap \"\" TERM; while :; do sleep 1; done' $log &\n\
                      while [ ! -e $log/grandchild ]; do sleep 0.01; done";

#[test]
fn a_client_that_hangs_is_ended_in_time() {
    for script in
        ["sleep 600", "trap '' TERM; while :; do sleep 1; done", &format!("{LEAVES}\nexec sleep 600")]
    {
        let clinic = Clinic::new(script);
        let begun = Instant::now();
        let told = clinic.review(&["--timeout", "1"]);
        assert!(told.0 == 1 && told.2.contains("it was not done in 1 s"), "{script}: {}", told.2);
        assert!(told.2.contains("hint: ") && told.2.contains("--timeout"), "{}", told.2);
        assert!(begun.elapsed() < PATIENCE, "{script}");
        clinic.nothing_is_left();
        assert_eq!(clinic.events(), ["quarantine_session_started", "quarantine_timeout"]);
        assert_eq!(clinic.0.sessions()[0]["ended"]["why"], "timed-out");
    }
}

/// A client that is told to go ends its own session, and thereby the review, before `review run` does.
#[test]
fn a_time_out_is_logged_also_where_the_client_was_quicker() {
    let clinic = Clinic::new(&format!(
        "{hook} < $log/glob > $log/out 2>&1\n\
         trap '{hook} < $log/over > $log/out2 2>&1; exit 0' TERM\nwhile :; do sleep 0.1; done",
        hook = hook_line()
    ));
    let message = |event: &str| {
        json!({"session_id": "c", "cwd": "/", "hook_event_name": event, "tool_name": "Glob",
               "tool_input": {"pattern": "*"}, "tool_use_id": "t", "reason": "other"})
    };
    clinic.0.write("log/glob", &message("PreToolUse").to_string());
    clinic.0.write("log/over", &message("SessionEnd").to_string());
    let told = clinic.review(&["--timeout", "2"]);
    assert!(told.0 == 1 && told.2.contains("it was not done in 2 s"), "{}", told.2);
    let events = clinic.events();
    assert!(events.contains(&"quarantine_timeout".to_owned()), "{events:?}");
    clinic.nothing_is_left();
}

#[test]
fn what_a_client_leaves_behind_goes_with_it() {
    let clinic = Clinic::new(&format!("{LEAVES}\ncat $log/stream"));
    clinic.stream(&answer("low"));
    let told = clinic.review(&[]);
    assert_eq!(told.0, 0, "{}{}", told.1, told.2);
    assert!(clinic.0.path("log/grandchild").exists());
    clinic.nothing_is_left();
}

/// Only what the client started is ended, not what was there before.
#[test]
fn a_child_that_was_there_before_is_left_alone() {
    let clinic = Clinic::new("cat $log/stream");
    clinic.stream(&answer("low"));
    let mut shell = Command::new("/bin/sh");
    let script =
        format!("sleep 600 & echo $! > {}; exec {BIN} review run src", clinic.0.path("other").display());
    shell.arg("-c").arg(script).env_clear().current_dir(clinic.0.path("project"));
    for (name, value) in clinic.0.command().get_envs() {
        shell.env(name, value.unwrap());
    }
    let status = shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    assert!(status.success());
    let other = clinic.0.read("other");
    assert!(!is_gone(other.trim()));
    kill_process(Pid::from_raw(other.trim().parse().unwrap()).unwrap(), Signal::KILL).unwrap();
    clinic.nothing_is_left();
}

#[test]
fn a_review_that_is_stopped_ends_its_client_and_its_session() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let clinic = Clinic::new(&format!("{LEAVES}\nexec sleep 600"));
        let mut command = clinic.0.command();
        let child = command
            .args(["review", "run", "src"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        wait_for(&clinic.0.path("log/grandchild"));
        kill_process(pid(&child), signal).unwrap();
        let out = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&out.stderr);
        assert!(
            out.status.code() == Some(128 + signal.as_raw()) && stderr.contains("it was stopped by signal"),
            "{stderr}"
        );
        clinic.nothing_is_left();
        assert_eq!(clinic.events(), ["quarantine_session_started", "quarantine_session_ended"]);
    }
}

fn pid(child: &Child) -> Pid {
    Pid::from_child(child)
}

fn wait_for(path: &Path) {
    let begun = Instant::now();
    while !path.exists() {
        assert!(begun.elapsed() < PATIENCE, "{} did not appear", path.display());
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_killed_review_takes_its_client_along_and_ends_with_the_next_call() {
    let clinic = Clinic::new("exec sleep 600");
    let mut command = clinic.0.command();
    let mut child = command.args(["review", "run", "src"]).spawn().unwrap();
    wait_for(&clinic.0.path("log/pid"));
    kill_process(pid(&child), Signal::KILL).unwrap();
    child.wait().unwrap();
    let client = clinic.0.read("log/pid");
    let begun = Instant::now();
    while cfg!(target_os = "linux") && !is_gone(client.trim()) {
        assert!(begun.elapsed() < PATIENCE, "the client works on");
        std::thread::sleep(Duration::from_millis(10));
    }
    let room = clinic.0.path("home/run/review");
    let open: Vec<_> = fs::read_dir(room.join("sessions")).unwrap().flatten().collect();
    assert_eq!(open.len(), 1, "nobody has looked yet");
    if cfg!(target_os = "linux") {
        let session = clinic.0.sessions()[0].clone();
        assert_eq!((&session["state"], &session["ended"]["why"]), (&json!("ended"), &json!("process-gone")));
        assert_eq!(clinic.events(), ["quarantine_session_started", "quarantine_session_ended"]);
    }
    clinic.0.well(&["review", "end", open[0].file_name().to_str().unwrap()]);
    assert!(!room.join("master.key").exists() && !room.join("master.keyring").exists());
    let left: Vec<_> =
        fs::read_dir(clinic.0.path("home/run/review/sessions")).into_iter().flatten().collect();
    assert!(left.is_empty(), "{left:?}");
}

/// The commands that look or open are no loosening: an agent may use them through its shell.
#[test]
fn an_agent_may_use_them_through_its_shell() {
    let place = Place::new();
    for command in [
        "lazaret review start src",
        "lazaret review list --json",
        "lazaret review show 3f2b8c1e-9d4a-4e6f-8a7b-0c1d2e3f4a5b",
        "lazaret review end 3f2b8c1e-9d4a-4e6f-8a7b-0c1d2e3f4a5b",
        "lazaret review parse --session 3f2b8c1e-9d4a-4e6f-8a7b-0c1d2e3f4a5b answer.json",
        "lazaret ref verify 'typed://%2Fa?hmac=0&ts=1&sid=x'",
        "lazaret agents",
    ] {
        let told = place.run(&["check", command]);
        assert_eq!(told.0, 0, "{command}: {}", told.1);
    }
}
