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
