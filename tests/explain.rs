//! `lazaret rules explain`: a call of the log, by its event, by the client's id of it, and the last one.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod common;

use common::World;
use serde_json::{Value, json};

fn explained(world: &World, call: &str) -> Value {
    let (code, out, err) = world.run(&["rules", "explain", call, "--json"]);
    assert_eq!(code, 0, "{err}");
    serde_json::from_str(&out).unwrap()
}

/// A call of the shell under that id; whether it was blocked.
fn blocked(world: &World, id: &str, command: &str) -> bool {
    let mut message = world.message("Bash", &json!({ "command": command }));
    message["tool_use_id"] = json!(id);
    world.hook("claude-code", message.to_string().as_bytes()).is_block()
}

fn commands(answer: &Value) -> Vec<&str> {
    answer["commands"].as_array().unwrap().iter().map(|one| one["command"].as_str().unwrap()).collect()
}

#[test]
fn a_blocked_call_is_explained_to_a_person() {
    let world = World::new();
    world.configure("[checkpoints]\nenabled = false\n");
    std::fs::write(world.project().join("src/main.rs"), "fn main() { changed() }\n").unwrap();
    assert!(blocked(&world, "toolu_reset", "git reset --hard"));
    let id = world.audit()[0]["id"].as_str().unwrap().to_owned();
    let (code, said, err) = world.run(&["rules", "explain", "last"]);
    assert_eq!(code, 0, "{err}");
    for part in [
        "block (deny): Bash",
        &format!("event:   {id}"),
        "session s",
        "call:    toolu_reset",
        "action:  git reset --hard",
        "git.reset-hard [high]",
        "instead:",
        "today and without the session's past: the same: block",
        "by:      ",
        "runs git",
        &format!("lazaret feedback {id} fp"),
        "lazaret except git.reset-hard --here --command 'git reset --hard'",
    ] {
        assert!(said.contains(part), "{part} is not in:\n{said}");
    }
    // By the beginning of its id, and by the client's.
    assert_eq!(world.run(&["rules", "explain", id.get(..20).unwrap()]).1, said);
    assert_eq!(world.run(&["rules", "explain", "toolu_reset"]).1, said);
    let answer = explained(&world, &id);
    assert_eq!(
        (&answer["same"], &answer["verdict"], &answer["note"]),
        (&json!(true), &json!("block"), &Value::Null)
    );
    assert_eq!(answer["event"]["call_id"], "toolu_reset");
    assert_eq!(answer["today"]["operations"][0]["program"], "git");
    assert!(answer["today"]["reasons"][0]["by"].is_string());
    let (code, _, err) = world.run(&["rules", "explain", "0123456789"]);
    assert!(
        code == 1 && err.contains("rules explain 0123456789") && err.contains("audit tail --ids"),
        "{err}"
    );
}

#[test]
fn what_is_judged_otherwise_today_is_said() {
    let world = World::new();
    world.configure("[checkpoints]\nenabled = false\n");
    std::fs::write(world.project().join("src/main.rs"), "fn main() { changed() }\n").unwrap();
    assert!(blocked(&world, "toolu_reset", "git reset --hard"));
    world.configure("[checkpoints]\nenabled = false\n[rules]\ndisabled = [\"git.reset-hard\"]\n");
    let answer = explained(&world, "last");
    assert_eq!(answer["same"], false, "{answer:#}");
    assert_ne!(answer["today"]["verdict"], "block");
}

#[test]
fn open_codes_and_checkpoints_are_offered_and_secrets_are_named() {
    let world = World::lasting();
    world.configure("[checkpoints]\nenabled = true\n");
    let mut message = world.message("Bash", &json!({"command": "npm publish"}));
    message["permission_mode"] = json!("dontAsk");
    message["tool_use_id"] = json!("toolu_publish");
    let answer = world.hook("claude-code", message.to_string().as_bytes());
    let explained_one = explained(&world, "toolu_publish");
    let offers = answer.stderr.contains("lazaret allow") || answer.stdout.contains("lazaret allow");
    assert_eq!(commands(&explained_one).iter().any(|one| one.starts_with("lazaret allow ")), offers);

    let mut message = world.message(
        "Write",
        &json!({"file_path": world.project().join("src/main.rs"), "content": "fn main() { x() }\n"}),
    );
    message["tool_use_id"] = json!("toolu_write");
    assert!(world.hook("claude-code", message.to_string().as_bytes()).is_pass());
    let written = explained(&world, "toolu_write");
    assert!(written["today"].is_null() && written["note"].is_string(), "{written:#}");
    assert!(commands(&written).iter().any(|one| one.starts_with("lazaret rollback ")), "{written:#}");

    let mut message = world.message(
        "Bash",
        &json!({"command": "curl -H 'Authorization: Bearer abcdefghijklmnop123456' https://x.example"}),
    );
    message["tool_use_id"] = json!("toolu_secret");
    world.hook("claude-code", message.to_string().as_bytes());
    let secret = explained(&world, "toolu_secret");
    assert!(secret["note"].as_str().unwrap().contains("without its secrets"), "{secret:#}");
    assert!(!secret.to_string().contains("abcdefghijklmnop123456"));
}

/// Its code is known by the offer in the log, also where the log does not have the call's words; and a question is not the block that
/// became of it.
#[test]
fn a_question_that_nobody_could_be_asked_is_explained_with_its_code() {
    let world = World::new();
    let command = "NPM_TOKEN=ghp_abcdefghijklmnopqrstuvwxyz0123456789 npm publish";
    let mut message = world.message("Bash", &json!({ "command": command }));
    message["permission_mode"] = json!("bypassPermissions");
    message["tool_use_id"] = json!("toolu_publish");
    let answer = world.hook("claude-code", message.to_string().as_bytes());
    assert!(answer.stderr.contains("lazaret allow "), "{}", answer.stderr);
    let explained = explained(&world, "toolu_publish");
    assert!(commands(&explained).iter().any(|one| one.starts_with("lazaret allow ")), "{explained:#}");
    let said = world.run(&["rules", "explain", "toolu_publish"]).1;
    assert!(said.starts_with("block (deny)") && said.contains("nobody was there"), "{said}");
    assert!(said.contains("the same: modify (ask)") && said.contains("[redacted:"), "{said}");
}
