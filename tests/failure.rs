//! Whatever comes in and whatever is broken: exit code 0 or 2, and what hides a destructive command is blocked.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod common;

use std::fs;
use std::process::{Command, Stdio};

use common::World;
use serde_json::json;

const DANGER: &str = "rm -rf /";

#[test]
fn hostile_messages_block() {
    let world = World::new();
    let bash = |command: &str| world.message("Bash", &json!({ "command": command })).to_string();
    let deep = format!("{{\"a\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let mut surrogate = bash("@@").replace("@@", "echo \\ud800; rm -rf /");
    surrogate.push('\n');
    let mut invalid = bash("echo @@; rm -rf /").into_bytes();
    let at = invalid.windows(2).position(|w| w == b"@@").unwrap();
    invalid[at] = 0xff;
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("empty", Vec::new()),
        ("white space", b" \n".to_vec()),
        ("truncated", bash(DANGER).as_bytes()[..60].to_vec()),
        ("not an object", b"[]".to_vec()),
        ("two objects", format!("{0}{0}", bash(DANGER)).into_bytes()),
        ("20 MB", bash(&format!("echo {}; {DANGER}", "x".repeat(20 << 20))).into_bytes()),
        ("invalid UTF-8", invalid),
        ("lone surrogates", surrogate.into_bytes()),
        ("nested JSON", deep.into_bytes()),
        ("10 000 open parentheses", bash(&format!("{}{DANGER}", "(".repeat(10_000))).into_bytes()),
        (
            "10 000 nested parentheses",
            bash(&format!("{}{DANGER}{}", "(".repeat(10_000), ")".repeat(10_000))).into_bytes(),
        ),
        (
            "10 000 nested substitutions",
            bash(&format!("{}{DANGER}{}", "$(".repeat(10_000), ")".repeat(10_000))).into_bytes(),
        ),
        ("100 000 times true &&", bash(&format!("{}{DANGER}", "true && ".repeat(100_000))).into_bytes()),
        ("a 12 MB command", bash(&format!("{DANGER} #{}", "x".repeat(12 << 20))).into_bytes()),
        (
            "no tool name",
            br#"{"session_id":"s","cwd":"/","hook_event_name":"PreToolUse","tool_input":{}}"#.to_vec(),
        ),
        ("no command", world.message("Bash", &json!({})).to_string().into_bytes()),
        (
            "command of another type",
            world.message("Bash", &json!({"command": ["rm"]})).to_string().into_bytes(),
        ),
        (
            "no session",
            br#"{"cwd":"/","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}"#
                .to_vec(),
        ),
        ("no event", br#"{"session_id":"s","cwd":"/"}"#.to_vec()),
        ("null bytes", bash("rm -rf /\0x").into_bytes()),
    ];
    for (name, message) in cases {
        for client in ["claude-code", "opencode"] {
            let answer = world.hook(client, &message);
            assert_eq!(answer.code, Some(2), "{name} on {client}: {} {}", answer.stdout, answer.stderr);
            assert!(!answer.stderr.is_empty(), "{name} on {client}: nothing says why");
        }
    }
}

#[test]
fn a_missing_field_is_named() {
    let world = World::new();
    let answer = world.hook(
        "claude-code",
        br#"{"session_id":"s","cwd":"/","hook_event_name":"PreToolUse","tool_input":{}}"#,
    );
    assert!(answer.stderr.contains("tool_name"), "{}", answer.stderr);
    let answer = world.tool("Write", &json!({"content": "x"}));
    assert!(answer.stderr.contains("file_path"), "{}", answer.stderr);
}

#[test]
fn wrong_arguments_block() {
    let world = World::new();
    for args in
        [&["hook"][..], &["hook", "emacs"], &["hook", "claude-code", "extra"], &["hook", "--claude-code"]]
    {
        let out = world.command().args(args).stdin(Stdio::null()).output().unwrap();
        assert_eq!(out.status.code(), Some(2), "{args:?}");
        assert!(!out.stderr.is_empty(), "{args:?}");
    }
}

/// Runs the hook under a shell that changes something around it first.
fn under(world: &World, before: &str, redirect: &str, command: &str) -> Option<i32> {
    let file = world.home().join("message.json");
    fs::write(&file, world.message("Bash", &json!({ "command": command })).to_string()).unwrap();
    let script = format!(
        "{before}\n\"{}\" hook claude-code --home \"$HOME\" <{} {redirect}",
        common::BIN,
        file.display()
    );
    let out = Command::new("sh")
        .arg("-c")
        .arg(script)
        .env_clear()
        .env("HOME", world.home())
        .env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin")
        .output()
        .unwrap();
    out.status.code()
}

#[test]
fn closed_outputs_do_not_open_the_gate() {
    let world = World::new();
    for redirect in [">&-", "2>&-", ">&- 2>&-", ">/dev/full", ">/dev/full 2>/dev/full"] {
        assert_eq!(under(&world, "", redirect, DANGER), Some(2), "{redirect}");
        assert_eq!(
            under(&world, "", redirect, "ls"),
            Some(0),
            "{redirect}: an allowed call says nothing anyway"
        );
        // A rewrite that the client cannot hear must not let the original run.
        if redirect.contains('>') && !redirect.starts_with("2>") {
            assert_eq!(under(&world, "", redirect, "git push --force origin x"), Some(2), "{redirect}");
        }
    }
}

#[test]
fn no_home_lets_nothing_through() {
    let world = World::new();
    let message = world.message("Bash", &json!({"command": DANGER})).to_string();
    let mut command = world.command();
    command.args(["hook", "claude-code", "--home", "home"]);
    let answer = world.answer(&mut command, message.as_bytes());
    assert!(answer.is_block() && answer.stderr.contains("--home"), "{}", answer.stderr);
}

#[test]
fn a_home_that_is_not_there_is_named_and_not_made() {
    let world = World::new();
    let home = world.home().join("nobody");
    let mut answers = Vec::new();
    for message in [
        world.message("Bash", &json!({"command": DANGER})).to_string(),
        world.message("Bash", &json!({"command": "ls"})).to_string(),
        r#"{"session_id":"s","cwd":"/","hook_event_name":"SessionStart","source":"startup"}"#.to_owned(),
        "{".to_owned(),
    ] {
        let mut command = world.command();
        common::hook::hook(command.env("HOME", &home), "claude-code");
        answers.push(world.answer(&mut command, message.as_bytes()));
        assert!(!home.exists(), "{message}");
    }
    assert!(answers[0].is_block());
    assert_eq!(answers[1].json()["hookSpecificOutput"]["permissionDecision"], "ask", "on_fault is ask");
    assert!(answers[1].stdout.contains("HOME is "), "{}", answers[1].stdout);
    assert_eq!(answers[2].code, Some(0));
    assert!(answers[3].is_block());
}

#[test]
fn a_state_that_cannot_be_written_asks_or_blocks() {
    let world = World::new();
    fs::create_dir_all(world.home().join(".local/state")).unwrap();
    fs::write(world.state(), "a file where the directory should be").unwrap();
    assert!(world.bash(DANGER).is_block());
    let ordinary = world.bash("ls");
    assert_eq!(ordinary.code, Some(0));
    assert_eq!(ordinary.json()["hookSpecificOutput"]["permissionDecision"], "ask", "on_fault is ask");
    let config = world.home().join(".config/lazaret");
    fs::create_dir_all(&config).unwrap();
    fs::write(config.join("config.toml"), "on_fault = \"block\"\n").unwrap();
    assert!(world.bash("ls").is_block());
}

#[test]
fn a_full_disk_asks_or_blocks() {
    let world = World::new();
    let state = world.home().join(".local/state");
    fs::create_dir_all(&state).unwrap();
    let file = world.home().join("message.json");
    let run = |command: &str| {
        fs::write(&file, world.message("Bash", &json!({ "command": command })).to_string()).unwrap();
        let script = format!(
            "mount -t tmpfs -o size=8k none {0} && head -c 100000 /dev/zero >{0}/fill 2>/dev/null; \"{1}\" hook claude-code --home \"$HOME\" <{2}",
            state.display(),
            common::BIN,
            file.display()
        );
        let out = Command::new("unshare")
            .args(["-rm", "sh", "-c", &script])
            .env("HOME", world.home())
            .output()
            .expect("unshare runs (util-linux)");
        assert!(
            !String::from_utf8_lossy(&out.stderr).contains("mount:"),
            "no tmpfs could be mounted in a namespace"
        );
        (out.status.code(), String::from_utf8_lossy(&out.stdout).into_owned())
    };
    assert_eq!(run(DANGER).0, Some(2));
    let (code, stdout) = run("ls");
    assert!(code == Some(2) || stdout.contains("\"ask\""), "{code:?} {stdout}");
}

#[test]
fn damaged_state_and_configuration_are_kept_and_reported() {
    let world = World::new();
    assert!(world.bash("ls").is_pass());
    let sessions = world.state().join("sessions");
    let ring = fs::read_dir(&sessions).unwrap().next().unwrap().unwrap().path();
    fs::write(&ring, vec![0x5a; 9000]).unwrap();
    let answer = world.bash("ls");
    assert!(
        answer.code == Some(0) && answer.stdout.contains("\"ask\""),
        "{} {}",
        answer.stdout,
        answer.stderr
    );
    let kept = fs::read_dir(&sessions)
        .unwrap()
        .filter(|e| e.as_ref().unwrap().file_name().to_string_lossy().contains("damaged"));
    assert_eq!(kept.count(), 1, "the damaged file is kept aside");
    assert!(world.bash("ls").is_pass(), "and the session goes on");
    assert!(world.bash(DANGER).is_block());

    let config = world.home().join(".config/lazaret");
    fs::create_dir_all(&config).unwrap();
    fs::write(config.join("config.toml"), "[risk\nlow = ").unwrap();
    assert!(world.bash(DANGER).is_block());
    let answer = world.bash("ls");
    assert!(answer.stdout.contains("\"ask\"") && answer.stdout.contains("config.toml"), "{}", answer.stdout);
}
