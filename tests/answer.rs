//! What the founding documents name in an analysis stands in the answer of `check --json`, under those names: the step reviewer's
//! factors, modifiers, components and reasons, cell by cell.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod common;

use common::World;
use serde_json::{Value, json};

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

fn names(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect()
}

/// What `check` answers to a call that has failed so often before in the session.
fn after_failures(world: &World, command: &str, failures: usize) -> Value {
    for _ in 0..failures {
        world.bash(command);
        let mut after = world.message("Bash", &json!({ "command": command }));
        after["hook_event_name"] = json!("PostToolUseFailure");
        after["error"] = json!("Exit code 1");
        assert!(!world.hook("claude-code", after.to_string().as_bytes()).is_block());
    }
    let file = world.home().join("event.json");
    std::fs::write(&file, world.message("Bash", &json!({ "command": command })).to_string()).unwrap();
    let (_, stdout, _) = world.run(&["check", "--json", "--event", file.to_str().unwrap()]);
    serde_json::from_str(&stdout).unwrap()
}

/// Step reviewer, "Risk Analysis": each of the six factors, and the score that it makes.
#[test]
fn every_factor_is_named() {
    let world = World::new();
    for (command, factor, score) in [
        ("rm notes.txt", "file_deletion", 0.8),
        ("frobnicate", "system_command", 0.7),
        ("curl https://github.com/", "network_request", 0.6),
        ("sed -i s/a/b/ README.md", "file_modification", 0.4),
        ("touch new.txt", "file_creation", 0.3),
        ("cat README.md", "file_read", 0.1),
    ] {
        let (_, answer) = world.check(command);
        assert_eq!(names(&answer["risk"]["factors"])[0], factor, "{command}: {answer:#}");
        assert_eq!(answer["risk"]["score"], score, "{command}");
    }
}

/// Step reviewer, "Risk Analysis": the four modifiers, each with its own value, and the factor that says so.
#[test]
fn every_modifier_is_named() {
    let world = World::new();
    let (_, outside) = world.check("touch /opt/x");
    assert_eq!(keys(&outside["risk"]["modifiers"]), ["scope", "repetition", "privilege", "pattern"]);
    assert_eq!(
        outside["risk"],
        json!({"score": 0.6, "level": "medium", "factors": ["file_creation", "out_of_scope"],
            "modifiers": {"scope": 0.3, "repetition": 0.0, "privilege": 0.0, "pattern": 0.0}})
    );
    let (_, privileged) = world.check("sudo touch x");
    assert_eq!(privileged["risk"]["modifiers"]["privilege"], 0.2);
    assert!(names(&privileged["risk"]["factors"]).contains(&"privileged"), "{privileged:#}");
    let repeated = after_failures(&world, "cat missing.txt", 2);
    assert_eq!(repeated["risk"]["modifiers"]["repetition"], 0.2);
    assert!(names(&repeated["risk"]["factors"]).contains(&"repeated_failures"), "{repeated:#}");
}

/// Step reviewer, "Rationality Checking": the four components, the overall score, and what is wrong in words.
#[test]
fn every_component_is_named() {
    let world = World::new();
    let (_, first) = world.check("cat README.md");
    assert_eq!(
        first["rationality"],
        json!({"score": 0.91, "level": "high", "issues": [], "suggestions": [], "components": {
            "goal_alignment": 1.0, "logical_progression": 0.7, "efficiency": 1.0, "completeness": 1.0}})
    );
    let again = after_failures(&world, "cat missing.txt", 1);
    assert_eq!(again["rationality"]["components"]["logical_progression"], 0.3);
    assert_eq!(names(&again["rationality"]["issues"]), ["repeats what failed"]);
    let suggestions = names(&again["rationality"]["suggestions"]);
    assert_eq!(suggestions, ["read the error, and change something before trying again"]);
    let (_, unknown) = world.check("\"$X\" src");
    assert_eq!(unknown["rationality"]["components"]["completeness"], 0.5);
    assert_eq!(names(&unknown["rationality"]["issues"]), ["not fully understood"]);
}

/// `--explain` adds the operations, what was not understood, and by which condition each rule matched; without it nothing of it is there.
#[test]
fn explained_answers_name_the_operations() {
    let world = World::new();
    let line = "sudo rm -rf \"$X\" && git reset --hard";
    let (_, plain) = world.check(line);
    assert_eq!((&plain["operations"], &plain["reasons"][0]["by"]), (&Value::Null, &Value::Null));
    let (_, out, err) = world.run(&["check", "--json", "--explain", line]);
    let answer: Value = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {out}{err}"));
    assert!(answer["problem"].is_null(), "{answer:#}");
    let operations = answer["operations"].as_array().unwrap();
    assert_eq!(keys(&operations[0]), ["program", "words", "text", "does", "through", "cwd"]);
    let removed = operations.iter().find(|operation| operation["program"] == "rm").unwrap();
    assert_eq!(removed["words"], json!(["-rf", null]), "what is not known before it runs is null");
    assert_eq!(removed["through"], json!(["sudo"]));
    let reset =
        answer["reasons"].as_array().unwrap().iter().find(|reason| reason["rule"] == "git.reset-hard");
    assert!(reset.unwrap()["by"].is_string(), "{answer:#}");

    let file = world.home().join("calls.jsonl");
    std::fs::write(&file, "{\"command\": \"git reset --hard\"}\n").unwrap();
    let (_, out, err) = world.run(&["check", "--batch", file.to_str().unwrap(), "--explain", "--json"]);
    let answer: Value = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {out}{err}"));
    assert_eq!(answer["operations"][0]["words"], json!(["reset", "--hard"]));
    assert!(answer["reasons"][0]["by"].is_string(), "{answer:#}");
}

/// Step reviewer, "Side Effect Analysis" and "Decision Engine": effects with their four facts, and each reason whole.
#[test]
fn effects_and_reasons_are_told_in_full() {
    let world = World::new();
    let (_, answer) = world.check("git reset --hard");
    assert_eq!(answer["verdict"], "block");
    for effect in answer["effects"].as_array().unwrap() {
        assert_eq!(keys(effect), ["kind", "target", "severity", "reversible"]);
    }
    let reason = &answer["reasons"][0];
    assert_eq!(keys(reason), ["rule", "verdict", "severity", "message", "matched", "instead"]);
    assert_eq!(reason["rule"], "git.reset-hard");
    assert_eq!(reason["matched"], "git reset --hard");
    let (_, scored) = world.check("touch /opt/a/b && cat missing.txt");
    assert_eq!(scored["effects"].as_array().unwrap().len(), 2, "{scored:#}");
    // Where no rule speaks, the matrix does, with level, score and factors in its sentence.
    let repeated = after_failures(&world, "sudo frobnicate --all", 3);
    let reason = &repeated["reasons"][0];
    assert_eq!(reason["rule"], "matrix.critical-medium");
    let message = reason["message"].as_str().unwrap();
    for part in ["critical risk action (1.00)", "system_command", "repeated_failures", "repeats what failed"]
    {
        assert!(message.contains(part), "{message}");
    }
}
