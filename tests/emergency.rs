//! What is left of a session that was stopped, through the built binary: the report, the command that is told, and going on.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod common;
mod programs;

use common::{Answer, World};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Calls of one command that take twice as long each time, until the session is stopped: what the client is told then.
fn stop(world: &World) -> Answer {
    let mut prompt = world.message("Read", &json!({}));
    prompt["hook_event_name"] = json!("UserPromptSubmit");
    prompt["prompt"] = json!("Train it with password=hunter2-and-more");
    world.hook("claude-code", prompt.to_string().as_bytes());
    for id in 0..7 {
        let mut message = world.message("Bash", &json!({"command": "./grow"}));
        message["tool_use_id"] = json!(format!("toolu_{id}"));
        assert!(!world.hook("claude-code", message.to_string().as_bytes()).is_block());
        message["hook_event_name"] = json!("PostToolUse");
        message["tool_response"] = json!({});
        message["duration_ms"] = json!(2000_u64 << id);
        let answer = world.hook("claude-code", message.to_string().as_bytes());
        if answer.stdout.contains("emergency_stop") {
            return answer;
        }
    }
    panic!("it was not stopped");
}

fn reports(world: &World) -> Vec<PathBuf> {
    let entries = fs::read_dir(world.state().join("reports")).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// A program of the user's that is told of stopped sessions.
fn notified_by(world: &World, script: &str) -> PathBuf {
    let program = world.home().join("told.sh");
    programs::write(&program, format!("#!/bin/sh\n{script}\n"));
    let text = format!(
        "[interventions]\nnotify = [{:?}, \"--to\", \"me and you\"]\n",
        program.display().to_string()
    );
    world.configure(&text);
    program
}

/// Waits for what a process does that nobody waits for.
fn until(world: &World, what: &str, done: impl Fn() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < Duration::from_secs(40), "waited too long for {what}: {:?}", world.audit());
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn has(world: &World, event: &str, words: &str) -> bool {
    let text = fs::read_to_string(world.state().join("audit/audit.jsonl")).unwrap_or_default();
    text.lines().any(|line| line.contains(&format!("\"event\":\"{event}\"")) && line.contains(words))
}

#[test]
fn a_stopped_session_leaves_a_report() {
    let world = World::new();
    let answer = stop(&world);
    let reports = reports(&world);
    let [path] = reports.as_slice() else { panic!("{reports:?}") };
    assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
    let refused = world.bash("ls");
    for told in [&answer.stdout, &refused.stderr] {
        assert!(told.contains(&path.display().to_string()), "{told}");
    }
    let report = read(path);
    assert_eq!(report["kind"], "emergency_stop");
    assert_eq!((&report["session"], &report["client"]), (&json!("s"), &json!("claude-code")));
    assert_eq!(
        (&report["pattern"], &report["resume"]),
        (&json!("resource_spiral"), &json!("lazaret resume s"))
    );
    assert!(report["reason"].as_str().unwrap().contains("grows each time"), "{report}");
    let asked = report["asked"].as_str().unwrap();
    assert!(asked.contains("Train it") && !asked.contains("hunter2"), "{asked}");
    let actions = report["actions"].as_array().unwrap();
    assert_eq!(actions.len(), 7);
    assert_eq!((&actions[6]["duration_ms"], &actions[6]["outcome"]), (&json!(128_000), &json!("done")));
    assert!(report["log"].to_string().contains("./grow"), "{report}");
    // The call after which it was stopped has run: nobody is told that it was refused.
    let ends = world.audit().into_iter().rfind(|line| line["event"] == "action_completed").unwrap();
    assert_eq!(
        (&ends["action"], &ends["verdict"], &ends["enforcement"]),
        (&json!("./grow"), &json!("warn"), &json!("stop"))
    );
    let blocked = world.run(&["audit", "show", "--verdict", "block"]).1;
    assert_eq!(blocked.lines().count(), 1, "{blocked}");
    assert!(fs::metadata(path).unwrap().len() < 64 * 1024);
}

#[test]
fn a_stop_holds_where_no_report_can_be_kept() {
    let world = World::new();
    fs::create_dir_all(world.state()).unwrap();
    fs::write(world.state().join("reports"), "in the way").unwrap();
    let answer = stop(&world);
    assert!(answer.json()["continue"] == false && !answer.stdout.contains("reports"), "{}", answer.stdout);
    assert!(world.bash("ls").is_block());
    assert!(has(&world, "fault", "reports"), "{:?}", world.audit());
}

#[test]
fn the_users_command_is_told_and_nobody_waits() {
    let world = World::new();
    let here = world.home().display().to_string();
    notified_by(
        &world,
        &format!("cat > '{here}/told.json'\necho \"$#:$1:$2\" > '{here}/args'\npwd > '{here}/where'"),
    );
    stop(&world);
    until(&world, "the notification", || has(&world, "notification_sent", "told.sh"));
    assert_eq!(read(&world.home().join("told.json")), read(&reports(&world)[0]));
    assert_eq!(fs::read_to_string(world.home().join("args")).unwrap(), "2:--to:me and you\n");
    assert_eq!(fs::read_to_string(world.home().join("where")).unwrap(), "/\n");
}

#[test]
fn a_command_that_hangs_holds_nobody_up_and_is_ended() {
    let world = World::new();
    let pid = world.home().join("pid");
    notified_by(&world, &format!("echo $$ > '{}'\ntrap '' TERM\nsleep 300; sleep 300", pid.display()));
    stop(&world);
    let number = || fs::read_to_string(&pid).unwrap_or_default().trim().to_owned();
    let runs = || Path::new("/proc").join(number()).exists();
    until(&world, "its beginning", || !number().is_empty());
    assert!(runs(), "the hook waited for it");
    until(&world, "the end of it", || has(&world, "fault", "it did not end within 10 s"));
    assert!(!runs(), "it still runs");
}

#[test]
fn a_command_that_fails_or_is_missing_is_a_fault_in_the_log() {
    let world = World::new();
    let program = notified_by(&world, "exit 3");
    assert!(stop(&world).stdout.contains("emergency_stop"));
    until(&world, "the fault", || has(&world, "fault", "it ended with exit code 3"));
    fs::remove_file(program).unwrap();
    let report = reports(&world)[0].display().to_string();
    let (code, _, error) = world.run(&["notify", &report]);
    assert!(code == 1 && error.contains("told.sh: No such file"), "{error}");
    for other in ["/etc/passwd", "stop-none.json"] {
        let (code, _, error) = world.run(&["notify", other]);
        assert!(code == 1 && error.starts_with("lazaret: "), "{other}: {error}");
    }
}

#[test]
fn a_project_names_no_command() {
    let world = World::new();
    let mark = world.home().join("mark");
    let line = format!("[interventions]\nnotify = [\"/usr/bin/touch\", {:?}]\n", mark.display().to_string());
    fs::write(world.project().join(".lazaret.toml"), line).unwrap();
    let (_, told, _) = world.run(&["config", "check"]);
    assert!(told.contains("a project's file cannot set it"), "{told}");
    stop(&world);
    let report = reports(&world)[0].display().to_string();
    let (code, _, error) = world.run(&["notify", &report]);
    assert!(code == 1 && error.contains("interventions.notify is not set"), "{error}");
    assert!(!mark.exists() && !has(&world, "notification_sent", ""), "{:?}", world.audit());
    for wrong in ["[\"notify-send\"]", "\"/bin/true\"", "[\"/bin/true\", 1]"] {
        let file = world.home().join("wrong.toml");
        fs::write(&file, format!("[interventions]\nnotify = {wrong}\n")).unwrap();
        let (code, told, error) = world.run(&["config", "check", file.to_str().unwrap()]);
        assert!(code != 0 && (told + &error).contains("absolute path"), "{wrong}");
    }
}

/// Who holds a terminal goes on with the session; it runs again then.
#[test]
#[cfg(target_os = "linux")]
fn a_person_at_a_terminal_lets_it_go_on() {
    let world = World::new();
    stop(&world);
    assert!(world.bash("ls").is_block());
    let (code, told) = world.at_terminal(&["resume", "s"]);
    assert!(code == 0 && told.contains("session s of claude-code goes on"), "{told}");
    assert!(world.bash("ls").is_pass());
    assert!(has(&world, "session_resumed", "resource_spiral"));
    assert_ne!(world.at_terminal(&["resume", "s"]).0, 0, "twice");
}
