//! `lazaret replay` on what other clients and tools keep of a session: Codex, SpecStory, OpenCode's store, logs of hook messages.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod common;

use std::fs;

use common::World;
use serde_json::{Value, json};

const SESSIONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/sessions");

fn replay(world: &World, args: &[&str]) -> Value {
    let (_, stdout, stderr) = world.run(&[&["replay", "--json"], args].concat());
    assert_eq!(stderr, "", "no progress where nobody looks");
    serde_json::from_str(&stdout).unwrap_or_else(|e| panic!("{e}: {stdout}{stderr}"))
}

fn of(format: &str) -> Value {
    replay(&World::new(), &[&format!("{SESSIONS}/{format}")])
}

/// The stopped calls: what was asked for, the rule, the session.
fn stopped(found: &Value) -> Vec<(String, String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let mut all: Vec<_> = found["stopped"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (text(&one["action"]), text(&one["reasons"][0]["rule"]), text(&one["session"])))
        .collect();
    all.sort();
    all
}

fn one(action: &str, rule: &str, session: &str) -> (String, String, String) {
    (action.to_owned(), rule.to_owned(), session.to_owned())
}

#[test]
fn codex() {
    let found = of("codex");
    assert_eq!(found["files"]["formats"], json!({"codex": 2}));
    // Shell lines in four spellings, a patch, a patch that a line hands over, a plan, a server's tool; and the older rollout's one.
    assert_eq!(found["totals"]["calls"], 9, "{found:#}");
    let deleted = "rm -rf /home/dev/attic/../.ssh";
    assert_eq!(
        stopped(&found),
        [
            one("rm -rf /home/dev/attic/../.ssh", &rule_of(&found, deleted), "old-0001"),
            one("rm -rf ~", "files.delete-home", "019c0000-aaaa"),
        ]
    );
    assert_eq!(found["left_out"]["other_shell"], 1);
    assert_eq!(found["left_out"]["other_tool"], 1, "what a running program is told");
    assert_eq!(found["lines_unread"]["torn"], 1, "the rest is still read");
    assert_eq!(found["lines_unread"]["unknown_kinds"], json!({"hologram": 1}));
    assert_eq!(found["directories_gone"], 9, "all name their directory");
}

fn rule_of(found: &Value, action: &str) -> String {
    let all = found["stopped"].as_array().unwrap();
    let call = all.iter().find(|call| call["action"] == action).unwrap_or_else(|| panic!("{found:#}"));
    call["reasons"][0]["rule"].as_str().unwrap().to_owned()
}

#[test]
fn codex_works_where_it_says() {
    let world = World::new();
    let file = world.home().join("rollout.jsonl");
    let meta = |cwd: &str| json!({"type": "session_meta", "payload": {"id": "s1", "cwd": cwd}}).to_string();
    let call = |id: &str, arguments: &Value| {
        json!({"type": "response_item", "payload": {"type": "function_call", "name": "shell_command", "call_id": id,
            "arguments": arguments.to_string()}})
        .to_string()
    };
    let project = world.project();
    let inside = call("a", &json!({"command": "rm -rf build", "workdir": project}));
    let outside = call("b", &json!({"command": "rm -rf build", "workdir": world.home()}));
    fs::write(&file, [meta(project.to_str().unwrap()), inside, outside].join("\n")).unwrap();
    let found = replay(&world, &[file.to_str().unwrap()]);
    let ids: Vec<&str> =
        found["stopped"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["b"], "{found:#}");
    fs::write(&file, [meta("C:\\work\\shop"), call("c", &json!({"command": "rm -rf build"}))].join("\n"))
        .unwrap();
    let found = replay(&world, &[file.to_str().unwrap()]);
    assert_eq!(found["left_out"]["other_shell"], 1, "{found:#}");
}

#[test]
fn codex_records_a_search_without_words_and_a_patch_without_its_tool() {
    let world = World::new();
    let file = world.home().join("rollout.jsonl");
    let patch = "*** Begin Patch\n*** Add File: notes.md\n+(all of it); rm -rf ~\n*** End Patch";
    let arguments = json!({"command": ["bash", "-lc", patch]}).to_string();
    let lines = [
        json!({"type": "session_meta", "payload": {"id": "s1", "cwd": world.project()}}),
        json!({"type": "response_item", "payload": {"type": "web_search_call", "status": "completed"}}),
        json!({"type": "function_call", "name": "shell", "call_id": "c1", "arguments": arguments}),
    ];
    fs::write(&file, lines.map(|line| line.to_string()).join("\n")).unwrap();
    let found = replay(&world, &[file.to_str().unwrap()]);
    assert_eq!((&found["totals"]["calls"], &found["totals"]["stopped"]), (&json!(2), &json!(0)), "{found:#}");
}

/// As Codex 0.171.0 writes it with a model that has no tools but code: each call that the code makes is an item of its own.
#[test]
fn codex_calls_from_code_count() {
    let world = World::new();
    let file = world.home().join("rollout.jsonl");
    let done =
        |item: Value| json!({"type": "event_msg", "payload": {"type": "item_completed", "item": item}});
    let lines = [
        json!({"type": "session_meta", "payload": {"id": "s1", "cwd": world.project()}}),
        json!({"type": "world_state", "payload": {}}),
        json!({"type": "response_item", "payload": {"type": "custom_tool_call", "call_id": "c1", "name": "exec",
            "input": "await tools.exec_command({cmd: 'rm -rf ~'})"}}),
        done(json!({"type": "CommandExecution", "id": "exec-1", "command": ["/bin/bash", "-lc", "rm -rf ~"],
            "cwd": format!("file://{}", world.project().display()), "status": "completed"})),
        done(
            json!({"type": "CommandExecution", "id": "call-of-the-model", "command": ["/bin/bash", "-lc", "rm -rf ~"]}),
        ),
        done(
            json!({"type": "FileChange", "id": "exec-2", "changes": {"/home/u/.ssh/authorized_keys": {"type": "add", "content": "x\n"}}}),
        ),
        done(
            json!({"type": "McpToolCall", "id": "exec-3", "server": "probe", "tool": "look", "arguments": {}}),
        ),
        json!({"type": "response_item", "payload": {"type": "function_call", "call_id": "c2", "namespace": "mcp__probe", "name": "look",
            "arguments": "{}"}}),
    ];
    fs::write(&file, lines.map(|line| line.to_string()).join("\n")).unwrap();
    let found = replay(&world, &[file.to_str().unwrap()]);
    assert_eq!(found["totals"]["calls"], 5, "{found:#}");
    let ids: Vec<&str> =
        found["stopped"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["exec-1", "exec-2"], "{found:#}");
    assert_eq!(
        (&found["left_out"]["other_tool"], &found["lines_unread"]["unknown_kinds"]),
        (&Value::Null, &json!({})),
        "{found:#}"
    );
}

#[test]
fn codex_results_count() {
    let world = World::new();
    let file = world.home().join("rollout.jsonl");
    for (output, expected) in [
        (json!("Exit code: 1\nWall time: 0 seconds\nOutput:\nno"), true),
        (json!("Process exited with code 2\nOutput:\n"), true),
        (json!("{\"output\":\"no\",\"metadata\":{\"exit_code\":7}}"), true),
        (json!({"content": "no", "success": false}), true),
        (json!("Exit code: 0\nOutput:\nExit code: 1"), false),
        (json!("plain"), false),
    ] {
        let mut lines = Vec::new();
        for round in 0..4 {
            let id = format!("c{round}");
            let arguments = json!({"command": "sudo some-unknown-program --now"}).to_string();
            lines.push(json!({"type": "function_call", "name": "shell_command", "call_id": id, "arguments": arguments}));
            lines.push(json!({"type": "function_call_output", "call_id": id, "output": output}));
        }
        let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
        fs::write(&file, lines.join("\n")).unwrap();
        let found = replay(&world, &[file.to_str().unwrap()]);
        assert_eq!(found["totals"]["stopped"].as_u64().unwrap() > 0, expected, "{output}: {found:#}");
    }
}

#[test]
fn specstory() {
    let world = World::new();
    let page = "shop/.specstory/history/2026-02-01_10-00-00Z-tidy-up.md";
    let there = world.home().join(page);
    fs::create_dir_all(there.parent().unwrap()).unwrap();
    fs::copy(format!("{SESSIONS}/{}", page.replace("shop", "specstory")), &there).unwrap();
    let found = replay(&world, &[there.to_str().unwrap()]);
    assert_eq!(found["files"]["formats"], json!({"specstory": 1}));
    assert_eq!(found["totals"]["calls"], 7, "{found:#}");
    assert_eq!(
        stopped(&found),
        [
            one("git status\ngit reset --hard", "git.reset-hard", "5bec0000-1111"),
            one("rm -rf ~", "files.delete-home", "5bec0000-1111"),
        ]
    );
    let home = found["stopped"].as_array().unwrap().iter().find(|call| call["action"] == "rm -rf ~").unwrap();
    assert_eq!((&home["line"], &home["time"]), (&json!(39), &json!("2026-02-01 10:00:05Z")), "{home:#}");
    let left = &found["left_out"];
    assert_eq!(
        (&left["other_shell"], &left["no_arguments"], &left["other_tool"]),
        (&json!(1), &json!(1), &json!(1))
    );
    assert_eq!(found["directories_gone"], 0, "a page names no directory: the one it lies in counts");
}

#[test]
fn opencode_store() {
    let found = of("opencode-store");
    assert_eq!(found["files"]["formats"], json!({"opencode": 8}));
    assert_eq!(found["totals"]["calls"], 3, "{found:#}");
    assert_eq!(
        stopped(&found),
        [
            one("git reset --hard", "git.reset-hard", "ses_root"),
            one("rm -rf ~", "files.delete-home", "ses_root")
        ],
        "a subagent's session is its parent's"
    );
    let home = found["stopped"].as_array().unwrap().iter().find(|call| call["action"] == "rm -rf ~").unwrap();
    assert_eq!(home["agent"], "explore");
}

#[test]
fn hook_logs() {
    let found = of("hooks");
    assert_eq!(found["files"]["formats"], json!({"hook-log": 2}));
    // A message that comes after a call is no second call; one that nothing came before tells of its call.
    assert_eq!(found["totals"]["calls"], 5, "a subagent's prompt is a call too: {found:#}");
    assert_eq!(
        stopped(&found),
        [
            one("git reset --hard", "git.reset-hard", "hook-0001"),
            one("rm -rf ~", "files.delete-home", "hook-0001")
        ]
    );
    assert_eq!(found["lines_unread"]["torn"], 1);
}

#[test]
fn a_directory_of_all_of_them() {
    let world = World::new();
    let notes = world.home().join("notes.md");
    fs::write(&notes, "# Notes\n").unwrap();
    let (code, told, _) = world.run(&["replay", SESSIONS, world.home().to_str().unwrap()]);
    assert_eq!(code, 0, "{told}");
    for part in [
        "read: 2 Codex rollouts, 8 OpenCode exports or parts, 1 SpecStory page, 2 hook logs",
        "2 calls of PowerShell or cmd.exe were not judged",
        "1 call was recorded without its arguments and not judged",
        "2 calls were of tools that no client of the gate has",
        "no record of a session: ",
        "notes.md",
        "2 lines are torn",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
}

#[test]
fn the_form_is_told_by_what_a_file_holds() {
    let world = World::new();
    for (from, format) in [
        ("codex/rollout-2025-05-01-old.jsonl", "codex"),
        ("specstory/.specstory/history/2026-02-01_10-00-00Z-tidy-up.md", "specstory"),
        ("hooks/logs/pre_tool_use.json", "hook-log"),
        ("opencode-store/storage/part/msg_0001/prt_0002.json", "opencode"),
    ] {
        let file = world.home().join("nameless");
        fs::copy(format!("{SESSIONS}/{from}"), &file).unwrap();
        let found = replay(&world, &[file.to_str().unwrap()]);
        assert_eq!(found["files"]["formats"], json!({format: 1}), "{from}");
        assert!(found["totals"]["stopped"].as_u64().unwrap() > 0, "{from}");
    }
}
