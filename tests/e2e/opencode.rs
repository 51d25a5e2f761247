//! OpenCode.

use crate::clients::Client;
use crate::model::{Script, Step, call};
use crate::world::{BIN, World};
use serde_json::json;

#[test]
fn the_harness_sees_a_block_a_rewrite_and_a_pass() {
    let world = World::new(Client::OpenCode);
    world.write("/home/dev/.config/opencode/plugin/fake.js", include_str!("fake-plugin.js"));
    world.program(BIN, include_str!("fake-hook.sh"));
    let bash =
        |label: &str, command: &str| call(label, "bash", json!({"command": command, "description": "d"}));
    let session = world.play(
        Script::main([
            Step::call([bash("pass", "echo PASSED > passed.txt; cat passed.txt")]),
            Step::call([bash("block", "touch BLOCKME")]),
            Step::call([bash("rewrite", "touch REWRITEME")]),
            Step::call([call(
                "spawn",
                "task",
                json!({"description": "d", "prompt": "[[sub]] go", "subagent_type": "general"}),
            )]),
        ])
        .sub("[[sub]]", [Step::call([bash("sub-block", "touch BLOCKME-too")])]),
    );
    assert_eq!(session.told("pass").text.trim(), "PASSED");
    assert!(session.told("block").text.contains("the fake hook says no"), "{}", session.story());
    assert_eq!(session.told("rewrite").text.trim(), "REWRITTEN");
    assert!(session.told("sub-block").text.contains("the fake hook says no"), "{}", session.story());
    for absent in ["BLOCKME", "REWRITEME", "BLOCKME-too"] {
        assert!(!world.exists(&format!("/home/dev/proj/{absent}")), "{absent}");
    }
}
