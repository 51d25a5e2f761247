//! Ways around the guard, and honest work near it, through the whole decision on a real home directory. Nothing here runs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod common;

use std::fs;
use std::path::Path;

use common::World;
use serde_json::Value;

/// Calls, one JSON object a line; `@TOP@` is the directory that everything lies in. Their number may only grow.
const STOPPED: &str = include_str!("data/selfprotect/stopped.jsonl");
const SILENT: &str = include_str!("data/selfprotect/silent.jsonl");

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// The enforcement of each call.
fn enforcements(calls: &str) -> Vec<(String, String)> {
    let world = World::new();
    let top = world.home();
    for file in ["home/.claude/settings.json", "proj/.claude/settings.json", "e/.claude/settings.json"] {
        write(&top.join(file), "{}\n");
    }
    write(&top.join("e2/sub/a"), "x\n");
    for dir in [
        "home/.local/bin",
        "home/.config/lazaret",
        "proj/.claude/commands",
        "proj/template",
        "proj/docs",
        "proj/dist",
    ] {
        fs::create_dir_all(top.join(dir)).unwrap();
    }
    let calls: Vec<String> = calls.lines().map(|line| line.replace("@TOP@", top.to_str().unwrap())).collect();
    let mut command = world.command();
    command.env("HOME", top.join("home")).env("USER", "u").args(["check", "--json", "--batch", "-"]);
    let answer = world.answer(&mut command, calls.join("\n").as_bytes());
    let told: Vec<Value> = answer.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(told.len(), calls.len(), "{}", answer.stderr);
    let said = |one: &Value| one["enforcement"].as_str().unwrap_or("error").to_owned();
    calls.into_iter().zip(told.iter().map(said)).collect()
}

fn wrong(calls: &str, least: usize, right: &[&str]) -> String {
    let said = enforcements(calls);
    assert!(said.len() >= least, "only {}", said.len());
    let wrong = said.iter().filter(|(_, enforcement)| !right.contains(&enforcement.as_str()));
    wrong.map(|(call, enforcement)| format!("{enforcement}: {call}\n")).collect()
}

#[test]
fn no_way_around_the_guard_is_open() {
    assert_eq!(wrong(STOPPED, 920, &["ask", "deny", "stop"]), "");
}

#[test]
fn honest_work_near_the_guard_goes_on() {
    assert_eq!(wrong(SILENT, 345, &["proceed", "notice"]), "");
}
