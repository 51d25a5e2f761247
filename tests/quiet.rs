//! No noise, through the built binary: a warning is given once, a score says nothing beside a rule.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod common;

use common::World;
use lazaret::domain::{Behaviour, Policy, Verdict};
use lazaret::rules::fixture;

#[test]
fn a_warning_reaches_the_model_once() {
    let world = World::new();
    let warned = |command: &str| !world.bash(command).stdout.is_empty();
    assert!(warned("docker builder prune"), "the first time");
    for _ in 0..3 {
        assert!(!warned("docker builder prune"), "said before");
    }
    assert!(warned("docker system prune -f"), "of something else");
    assert!(!warned("docker builder prune"));
    let lines = world.audit();
    let count = lines.iter().filter(|line| line["verdict"] == "warn").count();
    assert_eq!(count, 6, "each is on record: {lines:?}");
}

/// Another agent has not read it.
#[test]
fn a_subagent_is_warned_for_itself() {
    let world = World::new();
    let mut message = world.message("Bash", &serde_json::json!({"command": "docker builder prune"}));
    assert!(!world.hook("claude-code", message.to_string().as_bytes()).stdout.is_empty());
    message["agent_id"] = serde_json::json!("agent-1");
    message["agent_type"] = serde_json::json!("general-purpose");
    assert!(!world.hook("claude-code", message.to_string().as_bytes()).stdout.is_empty());
    assert!(world.hook("claude-code", message.to_string().as_bytes()).stdout.is_empty());
}

#[test]
fn only_so_many_warnings_are_remembered() {
    let mut behaviour = Behaviour::default();
    for print in 0..200 {
        assert!(behaviour.warns(print) && !behaviour.warns(print));
    }
    assert_eq!(behaviour.warned.len(), Behaviour::WARNED);
    assert!(!behaviour.bears_on_calls(), "no call reads it");
}

/// Whatever a rule says, no score says the same again.
#[test]
fn a_score_is_silent_beside_a_rule() {
    let world = World::new();
    for command in ["rm -rf src", "docker builder prune", "git push --force origin main", "sudo reboot"] {
        let answer = world.bash(command);
        let told = format!("{}{}", answer.stdout, answer.stderr);
        assert!(!told.contains("matrix."), "{command}: {told}");
    }
    let reasons = fixture::reasons("docker builder prune", &Policy::default());
    assert_eq!(reasons[0].verdict, Verdict::Warn, "{reasons:?}");
}

/// What a checkpoint holds is not warned of by a score; what the session wrote goes the same way.
#[test]
fn what_is_saved_is_not_scored() {
    let world = World::new();
    let notes = world.project().join("notes.txt");
    std::fs::write(&notes, "mine").unwrap();
    for command in ["rm notes.txt", "rm -f missing.txt", "unlink notes.txt", "rm ./notes.txt"] {
        let answer = world.bash(command);
        let told = format!("{}{}", answer.stdout, answer.stderr);
        assert!(!answer.is_block() && !told.contains("matrix."), "{command}: {told}");
    }
}
