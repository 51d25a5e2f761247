//! What tests of checkpoints put a world through: calls as a client reports them, and a person's commands.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    dead_code,
    reason = "each test file uses a part of it"
)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::common::{Answer, World};

/// The `[checkpoints]` of this user's configuration.
pub fn configured(world: &World, checkpoints: &str) {
    world.configure(&format!("[checkpoints]\n{checkpoints}"));
}

/// The hook before a call; the call is not run.
pub fn before(world: &World, id: &str, tool: &str, input: &Value) -> Answer {
    let mut message = world.message(tool, input);
    message["tool_use_id"] = json!(id);
    message["prompt_id"] = json!("prompt-1");
    world.hook("claude-code", message.to_string().as_bytes())
}

/// The hook after it.
pub fn after(world: &World, id: &str, tool: &str, input: &Value) {
    let mut message = world.message(tool, input);
    message["tool_use_id"] = json!(id);
    message["hook_event_name"] = json!("PostToolUse");
    message["tool_response"] = json!({});
    let answer = world.hook("claude-code", message.to_string().as_bytes());
    assert_eq!(answer.code, Some(0), "{}{}", answer.stdout, answer.stderr);
}

/// A call of the shell whose work `act` does in its stead, inside the project of this test.
pub fn shell(world: &World, id: &str, command: &str, act: impl FnOnce(&Path)) -> Answer {
    let input = json!({ "command": command });
    let answer = before(world, id, "Bash", &input);
    assert_eq!(answer.code, Some(0), "{command}: {}{}", answer.stdout, answer.stderr);
    act(&world.project());
    after(world, id, "Bash", &input);
    answer
}

pub fn git(args: &'static [&'static str]) -> impl FnOnce(&Path) {
    move |project| {
        let status = Command::new("git").args(args).arg("--quiet").current_dir(project).status().unwrap();
        assert!(status.success(), "git {args:?}");
    }
}

pub fn rollback(world: &World, args: &[&str]) -> (i32, Value) {
    let args = [&["rollback", "--json"], args].concat();
    let (code, stdout, stderr) = world.run(&args);
    (code, serde_json::from_str(&stdout).unwrap_or_else(|e| panic!("{e}: {stdout}{stderr}")))
}

/// Every path of the project but git's own and what it ignores: mode, and content or where a link leads.
pub fn tree(world: &World) -> Vec<(String, u32, Vec<u8>)> {
    let mut found = Vec::new();
    let mut open = vec![world.project()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(&dir).unwrap().flatten() {
            let (path, meta) = (entry.path(), fs::symlink_metadata(entry.path()).unwrap());
            if path.ends_with(".git") || path.ends_with("node_modules") {
                continue;
            }
            let content = if meta.is_symlink() {
                fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
            } else if meta.is_file() {
                fs::read(&path).unwrap()
            } else {
                Vec::new()
            };
            if meta.is_dir() {
                open.push(path.clone());
            }
            found.push((path.display().to_string(), meta.permissions().mode(), content));
        }
    }
    found.sort();
    found
}

pub fn checkpoints(world: &World) -> Vec<Value> {
    let (code, stdout, stderr) = world.run(&["checkpoint", "list", "--json"]);
    assert_eq!(code, 0, "{stderr}");
    serde_json::from_str::<Value>(&stdout).unwrap()["checkpoints"].as_array().unwrap().clone()
}
