//! Claude Code.

use crate::clients::Client;
use crate::model::{Script, Step, call};
use crate::world::{BIN, World};
use serde_json::json;

/// The registration in the form that closes the gate on a missing, crashing or hanging binary as well.
fn registration() -> String {
    let hook = json!([{"matcher": "*", "hooks": [
        {"type": "command", "command": BIN, "args": ["hook", "claude-code"], "timeout": 10, "onFailure": "block"}]}]);
    json!({"hooks": {"PreToolUse": hook}}).to_string()
}

#[test]
fn the_harness_sees_a_block_a_rewrite_and_a_pass() {
    let world = World::new(Client::Claude);
    world.write("/home/dev/.claude/settings.json", &registration());
    world.program(BIN, include_str!("fake-hook.sh"));
    let session = world.play(
        Script::main([
            Step::call([call(
                "pass",
                "Bash",
                json!({"command": "echo PASSED > passed.txt; cat passed.txt"}),
            )]),
            Step::call([call("block", "Bash", json!({"command": "touch BLOCKME"}))]),
            Step::call([call("rewrite", "Bash", json!({"command": "touch REWRITEME"}))]),
            Step::call([call(
                "spawn",
                "Agent",
                json!({"description": "d", "prompt": "[[sub]] go", "run_in_background": false}),
            )]),
        ])
        .sub("[[sub]]", [Step::call([call("sub-block", "Bash", json!({"command": "touch BLOCKME-too"}))])]),
    );
    assert_eq!(session.told("pass").text, "PASSED");
    assert!(session.told("block").is_error);
    assert!(session.told("block").text.contains("the fake hook says no"), "{}", session.story());
    assert_eq!(session.told("rewrite").text, "REWRITTEN");
    assert!(session.told("sub-block").text.contains("the fake hook says no"), "{}", session.story());
    for absent in ["BLOCKME", "REWRITEME", "BLOCKME-too"] {
        assert!(!world.exists(&format!("/home/dev/proj/{absent}")), "{absent}");
    }
}
