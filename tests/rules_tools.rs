//! Calls of tools other than the shell, through the whole decision on a real home directory: what must be stopped, and honest
//! work beside it. Nothing here runs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod common;

use std::fs;

use common::World;
use serde_json::Value;

/// Calls, one JSON object a line; `@TOP@` is the directory that everything lies in. Their number may only grow.
const STOPPED: &str = include_str!("data/tools/stopped.jsonl");
const SILENT: &str = include_str!("data/tools/silent.jsonl");

/// The calls that are not told one of the right things.
fn wrong(calls: &str, least: usize, right: &[&str]) -> String {
    let world = World::new();
    let top = world.home();
    fs::create_dir_all(top.join("home")).unwrap();
    let calls: Vec<String> = calls.lines().map(|line| line.replace("@TOP@", top.to_str().unwrap())).collect();
    assert!(calls.len() >= least, "only {}", calls.len());
    let mut command = world.command();
    command.env("HOME", top.join("home")).env("USER", "u").args(["check", "--json", "--batch", "-"]);
    let answer = world.answer(&mut command, calls.join("\n").as_bytes());
    let told: Vec<Value> = answer.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(told.len(), calls.len(), "{}", answer.stderr);
    let said = |one: &Value| one["enforcement"].as_str().unwrap_or("error").to_owned();
    let wrong = calls.iter().zip(told.iter().map(said)).filter(|(_, said)| !right.contains(&said.as_str()));
    wrong.map(|(call, said)| format!("{said}: {call}\n")).collect()
}

#[test]
fn dangerous_calls_of_tools_are_stopped() {
    assert_eq!(wrong(STOPPED, 590, &["ask", "deny", "stop"]), "");
}

#[test]
fn honest_calls_of_tools_go_on() {
    assert_eq!(wrong(SILENT, 370, &["proceed", "notice"]), "");
}
