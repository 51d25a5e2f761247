//! Limits of what a prompt or a session uses, through the built binary: what is refused beyond one, and what is told on the way.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod common;

use common::{Answer, World};
use serde_json::{Value, json};

fn limited(settings: &str) -> World {
    let world = World::new();
    world.configure(&format!("[resources]\n{settings}\n"));
    world
}

fn prompt(world: &World) {
    let mut message = world.message("Read", &json!({}));
    message["hook_event_name"] = json!("UserPromptSubmit");
    message["prompt"] = json!("go on");
    assert!(world.hook("claude-code", message.to_string().as_bytes()).is_pass());
}

/// One call that takes so many seconds: the answer before it and, where it ran, what the model is told after it.
fn takes(world: &World, id: usize, (tool, input): (&str, Value), seconds: u64) -> (Answer, String) {
    let mut message = world.message(tool, &input);
    message["tool_use_id"] = json!(format!("toolu_{id}"));
    let before = world.hook("claude-code", message.to_string().as_bytes());
    if before.is_block() {
        return (before, String::new());
    }
    message["hook_event_name"] = json!("PostToolUse");
    message["tool_response"] = json!({});
    message["duration_ms"] = json!(seconds * 1000);
    let after = world.hook("claude-code", message.to_string().as_bytes());
    assert_eq!(after.code, Some(0), "{}", after.stderr);
    let told = if after.stdout.is_empty() { Value::Null } else { after.json() };
    (before, told["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned())
}

fn shell(command: &str) -> (&'static str, Value) {
    ("Bash", json!({ "command": command }))
}

fn write(world: &World, name: &str) -> (&'static str, Value) {
    ("Write", json!({ "file_path": world.project().join(name), "content": "x" }))
}

#[test]
fn time_is_told_of_at_each_share_once_and_refused_when_it_is_used_up() {
    let world = limited("execution_time = 'block'");
    prompt(&world);
    let mut told = Vec::new();
    for (id, seconds) in [100, 49, 1, 74, 1, 44, 1, 1, 29].into_iter().enumerate() {
        let (before, after) = takes(&world, id, shell(&format!("./build {id}")), seconds);
        assert!(before.is_pass(), "{}", before.stdout);
        told.push(after.split(" % of the limit").next().unwrap().rsplit(' ').next().unwrap().to_owned());
    }
    assert_eq!(told, ["", "", "50", "", "75", "", "90", "", ""], "150, 225 and 270 of 300 seconds");
    let over = world.bash("./build again");
    assert!(over.is_block() && over.stdout.contains("limits.execution-time"), "{}", over.stdout);
    assert!(over.stdout.contains("the calls of this prompt took 300 s of 300 s"), "{}", over.stdout);
    // What was done can still be looked at and told; the next prompt begins anew.
    assert!(world.tool("Read", &json!({"file_path": world.project().join("src/main.rs")})).is_pass());
    prompt(&world);
    assert!(world.bash("./build again").is_pass());
}

#[test]
fn file_operations_are_counted_for_each_prompt() {
    let world = limited("mode = 'block'\nmax_file_operations = 4");
    for round in 0..2 {
        prompt(&world);
        for id in 0..4 {
            let (before, after) = takes(&world, 10 * round + id, write(&world, &format!("src/{id}.rs")), 1);
            assert!(before.is_pass(), "{}", before.stdout);
            assert_eq!(after.contains("50 % of the limit"), id == 1, "{round}.{id}: {after}");
            assert_eq!(after.contains("2 of 4 file operations"), id == 1, "{after}");
        }
        let (over, _) = takes(&world, 10 * round + 9, write(&world, "src/more.rs"), 1);
        assert!(over.is_block() && over.stdout.contains("4 of 4 in this prompt"), "{}", over.stdout);
        assert!(world.bash("ls").is_pass());
    }
}

#[test]
fn a_session_is_counted_whole_where_that_is_asked_for() {
    let world = limited("mode = 'warn'\nmax_file_operations = 2\nexecution_time = 'block'\nper = 'session'");
    for id in 0..2 {
        prompt(&world);
        assert!(takes(&world, id, write(&world, "src/a.rs"), 150).0.is_pass());
    }
    prompt(&world);
    let (over, _) = takes(&world, 2, shell("./build"), 1);
    assert!(
        over.is_block() && over.stdout.contains("the calls of this session took 300 s"),
        "{}",
        over.stdout
    );
}

#[test]
fn each_limit_has_a_mode_of_its_own() {
    let world = limited("mode = 'warn'\nmax_file_operations = 1\nexecution_time = 'off'");
    prompt(&world);
    assert!(takes(&world, 0, write(&world, "src/a.rs"), 5000).0.is_pass());
    let (warned, _) = takes(&world, 1, write(&world, "src/b.rs"), 5000);
    assert!(!warned.is_block() && warned.stdout.contains("limits.file-operations"), "{}", warned.stdout);
    assert!(world.bash("./build").is_pass(), "time is not limited");
    // Nothing is limited by default, and nothing is counted.
    let world = World::new();
    prompt(&world);
    for id in 0..3 {
        let (before, after) = takes(&world, id, write(&world, "src/a.rs"), 5000);
        assert!(before.is_pass() && after.is_empty(), "{}{after}", before.stdout);
    }
    let (code, value) = world.check("ls");
    assert_eq!((code, &value["verdict"]), (0, &json!("allow")));
}
