//! Behaviour over time, through the built binary: what is done about a row of calls.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod common;

use common::{Answer, World};
use serde_json::json;

/// One call of a shell command that fails with `error`: what the client is told after it.
fn fails(world: &World, id: usize, command: &str, error: &str) -> Answer {
    let mut message = world.message("Bash", &json!({"command": command}));
    message["tool_use_id"] = json!(format!("toolu_{id}"));
    assert!(!world.hook("claude-code", message.to_string().as_bytes()).is_block());
    message["hook_event_name"] = json!("PostToolUseFailure");
    message["error"] = json!(error);
    world.hook("claude-code", message.to_string().as_bytes())
}

#[test]
fn the_third_time_the_same_error_is_met_with_a_correction() {
    let world = World::new();
    for id in 0..2 {
        let answer = fails(&world, id, "make check", &format!("Exit code 2\nmake: *** [check] Error {id}"));
        assert_eq!((answer.code, answer.stdout.as_str()), (Some(0), ""));
    }
    let answer = fails(&world, 2, "make check", "Exit code 2\nmake: *** [check] Error 2");
    let output = &answer.json()["hookSpecificOutput"];
    assert_eq!(output["hookEventName"], "PostToolUseFailure");
    let told = output["additionalContext"].as_str().unwrap();
    assert!(told.contains("repetitive_errors") && told.contains("make: *** [check]"), "{told}");
    let again = fails(&world, 3, "make check", "Exit code 2\nmake: *** [check] Error 2");
    assert_eq!(again.stdout, "", "not again within the cooldown");
}

#[test]
fn an_error_that_is_being_mended_is_no_pattern() {
    let world = World::new();
    for id in 0..5 {
        let answer = fails(&world, 2 * id, "cargo test", "Exit code 101\ntest result: FAILED. 1 failed");
        assert_eq!(answer.stdout, "", "round {id}");
        let path = world.project().join("src/main.rs");
        let mut edit =
            world.message("Edit", &json!({"file_path": path, "old_string": "a", "new_string": "b"}));
        edit["tool_use_id"] = json!(format!("toolu_{}", 2 * id + 1));
        assert!(world.hook("claude-code", edit.to_string().as_bytes()).is_pass());
        edit["hook_event_name"] = json!("PostToolUse");
        edit["tool_response"] = json!({});
        assert_eq!(world.hook("claude-code", edit.to_string().as_bytes()).stdout, "");
    }
}

/// Runs one command so that it takes `seconds`.
fn takes(world: &World, id: usize, seconds: u64) -> (Answer, Option<Answer>) {
    let mut message = world.message("Bash", &json!({"command": "./grow"}));
    message["tool_use_id"] = json!(format!("toolu_{id}"));
    let before = world.hook("claude-code", message.to_string().as_bytes());
    if before.is_block() {
        return (before, None);
    }
    message["hook_event_name"] = json!("PostToolUse");
    message["tool_response"] = json!({});
    message["duration_ms"] = json!(seconds * 1000);
    let after = world.hook("claude-code", message.to_string().as_bytes());
    (before, Some(after))
}

#[test]
fn what_keeps_growing_is_slowed_down_and_then_stopped() {
    let world = World::new();
    for (id, seconds) in [2, 4, 8, 16, 32].into_iter().enumerate() {
        let (_, after) = takes(&world, id, seconds);
        assert_eq!(after.unwrap().stdout, "", "{seconds} s");
    }
    let told = takes(&world, 5, 64).1.unwrap().stdout;
    assert!(told.contains("resource_spiral (resource_throttling)"), "{told}");
    let stopped = takes(&world, 6, 128).1.unwrap().json();
    assert_eq!(stopped["continue"], false, "{stopped}");
    let refused = world.bash("ls");
    assert!(refused.is_block() && refused.json()["continue"] == false, "{}", refused.stdout);
    assert!(refused.stderr.contains("lazaret resume"), "{}", refused.stderr);
    let (code, _, error) = world.run(&["resume", "s"]);
    assert!(code == 1 && error.contains("terminal"), "{error}");
    assert!(world.audit().iter().any(|line| line.to_string().contains("\"intervention\"")));
}

#[test]
fn a_call_that_is_refused_again_and_again_becomes_a_pattern() {
    let world = World::new();
    for _ in 0..2 {
        let answer = world.bash("rm -rf /");
        assert!(answer.is_block() && !answer.stderr.contains("repeated_blocks"), "{}", answer.stderr);
    }
    let third = world.bash("rm -rf /");
    assert!(third.is_block() && third.stderr.contains("repeated_blocks"), "{}", third.stderr);
}

/// A call that is refused, by its command: what the person and the model are told.
fn refused(world: &World, command: &str) -> Answer {
    let answer = world.bash(command);
    assert!(answer.is_block(), "{command}: {}", answer.stdout);
    answer
}

#[test]
fn a_loop_of_refused_calls_is_slowed_down_held_and_stopped() {
    let world = World::new();
    let told: Vec<Answer> = (0..14).map(|_| refused(&world, "rm -rf /")).collect();
    let says =
        |at: usize, what: &str| told[at - 1].stderr.contains(what) || told[at - 1].stdout.contains(what);
    assert!(says(3, "repeated_blocks (context_reinforcement)"), "{}", told[2].stderr);
    assert!(says(5, "repeated_blocks (resource_throttling)"), "{}", told[4].stderr);
    assert!(says(7, "repeated_blocks (checkpoint_rollback)"), "{}", told[6].stderr);
    assert!(says(9, "repeated_blocks (emergency_stop)"), "{}", told[8].stderr);
    assert_eq!(told[8].json()["continue"], false, "{}", told[8].stdout);
    assert!((10..=14).all(|at| says(at, "SESSION_STOPPED")), "{}", told[13].stderr);
    assert!(world.bash("ls").stderr.contains("SESSION_STOPPED"));
    let made = world.audit().into_iter().filter(|line| line["event"] == "intervention");
    let kinds: Vec<String> = made.map(|line| line["action"].as_str().unwrap().to_owned()).collect();
    assert_eq!(
        kinds,
        ["context_reinforcement", "resource_throttling", "checkpoint_rollback", "emergency_stop"]
            .map(|kind| format!("{kind} repeated_blocks"))
    );
}

#[test]
fn the_same_target_in_other_words_is_the_same_loop() {
    let world = World::new();
    let ways = ["rm -rf ~/work", "rm -fr ~/work", "rm -r -f ~/work", "rm --recursive --force ~/work"];
    let told: Vec<Answer> = (0..9).map(|n| refused(&world, ways[n % ways.len()])).collect();
    assert!(told[8].stderr.contains("repeated_blocks (emergency_stop)"), "{}", told[8].stderr);
}

#[test]
fn different_calls_that_are_refused_stop_no_session() {
    let world = World::new();
    let targets = ["/", "/etc", "/usr", "~", "~/.ssh", "/var/lib", "/boot", "~/Documents", "/home", "/opt/x"];
    for target in targets.iter().chain(&targets[..4]) {
        let answer = refused(&world, &format!("rm -rf {target}"));
        for kind in ["resource_throttling", "checkpoint_rollback", "emergency_stop"] {
            assert!(!answer.stderr.contains(kind), "{target}: {}", answer.stderr);
        }
    }
    assert!(world.bash("ls").is_pass(), "and the session goes on");
}

#[test]
fn after_a_compaction_the_session_is_told_what_it_is_for() {
    let world = World::new();
    let event = |name: &str, fields: &[(&str, &str)]| {
        let mut message = world.message("Read", &json!({}));
        message["hook_event_name"] = json!(name);
        for (field, value) in fields {
            message[*field] = json!(value);
        }
        world.hook("claude-code", message.to_string().as_bytes())
    };
    assert_eq!(event("SessionStart", &[("source", "compact")]).stdout, "", "nothing is known");
    event("UserPromptSubmit", &[("prompt", "Fix the parser in src/parse.rs")]);
    assert_eq!(event("SessionStart", &[("source", "startup")]).stdout, "");
    let told = event("SessionStart", &[("source", "compact")]).json();
    assert_eq!(told["hookSpecificOutput"]["hookEventName"], "SessionStart");
    let text = told["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert!(text.contains("Fix the parser in src/parse.rs") && !text.contains("refused"), "{text}");
    for command in ["rm -rf /", "git push --mirror origin", "rm -rf /"] {
        assert!(world.bash(command).is_block(), "{command}");
    }
    for id in 0..7 {
        takes(&world, id, 2 << id);
    }
    let told = event("SessionStart", &[("source", "compact")]).json();
    let text = told["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert!(text.contains("rm -rf / (") && text.contains("git push --mirror origin ("), "{text}");
    assert_eq!(text.matches("rm -rf /").count(), 1, "each once: {text}");
    assert!(text.contains("the session is stopped: resource_spiral"), "{text}");
}

#[test]
fn work_that_leaves_the_project_is_reminded_of_the_person_s_words() {
    let world = World::new();
    let mut prompt = world.message("Read", &json!({}));
    prompt["hook_event_name"] = json!("UserPromptSubmit");
    prompt["prompt"] = json!("Fix the parser");
    world.hook("claude-code", prompt.to_string().as_bytes());
    let mut told = Vec::new();
    for id in 0..6 {
        let path = if id < 3 {
            world.project().join(format!("src/parser{id}.rs"))
        } else {
            std::path::PathBuf::from(format!("/srv/other/notes{id}.txt"))
        };
        let mut message = world.message("Read", &json!({"file_path": path}));
        message["tool_use_id"] = json!(format!("toolu_{id}"));
        assert!(!world.hook("claude-code", message.to_string().as_bytes()).is_block());
        message["hook_event_name"] = json!("PostToolUse");
        message["tool_response"] = json!({});
        told.push(world.hook("claude-code", message.to_string().as_bytes()).stdout);
    }
    let told = told.concat();
    assert!(told.contains("scope_creep") && told.contains("Fix the parser"), "{told}");
}
