//! Plugins of the user's: each kind is asked what it says it is, no other program is started than the pinned one, and what goes wrong
//! is never an allow. The examples of docs/plugins.md are run as they stand there.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "tests"
)]

mod common;
mod programs;

use std::fs;
use std::path::{Path, PathBuf};

use common::{Answer, World};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// Says that it was asked and with what, then answers.
const ASKED: &str = "#!/bin/sh\ncat > \"${0%/*}/asked\"\n";

fn digest(path: &Path) -> String {
    Sha256::digest(fs::read(path).unwrap()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A plugin in a directory of its own, and its table without what is special to its kind.
fn plugin(world: &World, name: &str, text: &str) -> (PathBuf, String) {
    let path = world.home().join("plugins").join(name).join("plugin");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    programs::write(&path, text);
    let table = format!(
        "[[plugins]]\nname = '{name}'\nprogram = '{}'\nsha256 = '{}'\n",
        path.display(),
        digest(&path)
    );
    (path, table)
}

fn configure(world: &World, text: &str) {
    world.configure(text);
}

fn answers(json: &str) -> String {
    format!("{ASKED}echo '{json}'\n")
}

fn asked(path: &Path) -> Option<Value> {
    let text = fs::read_to_string(path.with_file_name("asked")).ok()?;
    Some(serde_json::from_str(&text).unwrap())
}

/// A call has ended.
fn ended(world: &World, number: u32, tool: &str, input: &Value, error: Option<&str>) -> Answer {
    let (event, key, result) = match error {
        Some(error) => ("PostToolUseFailure", "error", json!(error)),
        None => ("PostToolUse", "tool_response", json!({})),
    };
    let mut message = world.message(tool, input);
    message["tool_use_id"] = format!("t{number}").into();
    let before = world.hook("claude-code", message.to_string().as_bytes());
    assert_eq!(before.code, Some(0), "{}", before.stderr);
    message["hook_event_name"] = event.into();
    message[key] = result;
    world.hook("claude-code", message.to_string().as_bytes())
}

#[test]
fn a_risk_rises_for_the_calls_that_it_is_asked_about() {
    let world = World::new();
    let says = answers(r#"{"score": 0.97, "reason": "the moon is full"}"#);
    let (path, table) = plugin(&world, "moon", &says);
    configure(&world, &format!("{table}kind = 'risk'\ntools = ['Ba*']\ntimeout_ms = 5000\n"));
    assert!(world.tool("Read", &json!({"file_path": world.project().join("src/main.rs")})).is_pass());
    assert_eq!(asked(&path), None, "not its tool");
    let answer = world.bash("make docs");
    assert!(answer.is_block(), "{}", answer.stdout);
    assert!(
        answer.stderr.contains("matrix.critical") && answer.stderr.contains("the moon is full"),
        "{}",
        answer.stderr
    );
    let question = asked(&path).unwrap();
    assert_eq!(
        (&question["protocol"], &question["kind"], &question["tool"], &question["action"]),
        (&1.into(), &"risk".into(), &"Bash".into(), &"make docs".into())
    );
    assert!(question["effects"][0]["kind"].is_string(), "{question}");
    let line = world.audit().into_iter().rfind(|line| line["action"] == "make docs").unwrap();
    assert_eq!(line["risk"]["score"], 0.97, "{line}");
    // `check` says the same.
    let (code, value) = world.check("make docs");
    let factors = value["risk"]["factors"].as_array().unwrap();
    assert!(code == 2 && factors.contains(&"plugin".into()), "{value}");
}

#[test]
fn a_risk_never_falls_and_silence_changes_nothing() {
    let world = World::new();
    for says in [r#"{"score": 0, "reason": "all is well"}"#, "{}"] {
        let (_, table) = plugin(&world, "calm", &answers(says));
        configure(&world, &format!("{table}kind = 'risk'\ntools = ['*']\ntimeout_ms = 5000\n"));
        assert!(world.bash("rm -rf /").is_block());
        assert!(world.bash("ls").is_pass());
        assert_eq!(world.check("frobnicate").1["risk"]["score"], 0.7);
    }
}

#[test]
fn what_a_risk_plugin_does_wrong_is_never_an_allow() {
    let world = World::new();
    let ask = |text: &str, more: &str| {
        let (path, table) = plugin(&world, "odd", text);
        configure(&world, &format!("on_fault = 'block'\n{table}kind = 'risk'\ntools = ['Bash']\n{more}"));
        (path, world.bash("ls"))
    };
    let slow = "timeout_ms = 300\n";
    let long = "timeout_ms = 5000\n";
    for (text, more, told) in [
        ("#!/bin/sh\nsleep 600\n", slow, "it did not answer within 300 ms"),
        ("#!/bin/sh\necho broken >&2; exit 3\n", long, "it ended with exit 3: broken"),
        ("#!/bin/sh\nkill -9 $$\n", long, "it ended with killed by signal 9"),
        ("#!/bin/sh\necho fine\n", long, "its answer is not one JSON object"),
        ("#!/bin/sh\necho '{} {}'\n", long, "its answer is not one JSON object"),
        ("#!/bin/sh\necho '{\"score\": 7}'\n", long, "score is not a number from 0 to 1"),
        ("#!/bin/sh\necho '{\"score\": \"high\"}'\n", long, "score is not a number from 0 to 1"),
        ("#!/bin/sh\necho '{\"score\": 0.1, \"reason\": 5}'\n", long, "reason is not a text"),
        (
            "#!/bin/sh\nhead -c 100000 /dev/zero | tr '\\000' ' '; echo '{}'\n",
            long,
            "KiB; at most 64 KiB are read",
        ),
    ] {
        let (_, answer) = ask(text, more);
        assert!(answer.is_block() && answer.stderr.contains(told), "{told}: {}", answer.stderr);
        assert!(answer.stderr.contains("plugin odd"), "{}", answer.stderr);
    }
    // Another program than the pinned one is not started.
    let (path, answer) = ask(&answers("{}"), long);
    assert!(answer.is_pass() && asked(&path).is_some());
    fs::remove_file(path.with_file_name("asked")).unwrap();
    programs::write(&path, format!("{}# changed\n", answers("{}")));
    let answer = world.bash("ls");
    assert!(answer.is_block() && answer.stderr.contains("which is not the pinned one"), "{}", answer.stderr);
    assert_eq!(asked(&path), None, "it was started");
    for command in [&["config", "check"][..], &["doctor"]] {
        let (_, out, err) = world.run(command);
        assert!(format!("{out}{err}").contains("which is not the pinned one"), "{command:?}: {out}{err}");
    }
    fs::remove_file(&path).unwrap();
    let answer = world.bash("ls");
    assert!(answer.is_block() && answer.stderr.contains("there is no such program"), "{}", answer.stderr);
}

#[test]
fn no_project_brings_a_plugin() {
    let world = World::new();
    let (path, table) = plugin(&world, "theirs", &answers("{}"));
    let file = world.project().join(".lazaret.toml");
    fs::write(&file, format!("{table}kind = 'risk'\ntools = ['Bash']\n")).unwrap();
    lazaret::host::trust::allow(&world.state(), file.to_str().unwrap(), &fs::read(&file).unwrap()).unwrap();
    assert!(world.bash("ls").is_pass());
    assert_eq!(asked(&path), None);
    let (_, out, _) = world.run(&["config", "show"]);
    assert!(out.contains("plugins = []") && out.contains("a project's file cannot set it"), "{out}");
}

#[test]
fn every_mistake_in_a_table_is_named() {
    let world = World::new();
    let (_, table) = plugin(&world, "one", &answers("{}"));
    for (text, told) in [
        (format!("{table}kind = 'risk'\n"), "it has no `tools`"),
        (format!("{table}kind = 'risks'\ntools = ['Bash']\n"), "kind: `risks`; did you mean `risk`?"),
        (format!("{table}kind = 'pattern'\ntools = ['Bash']\n"), "it has no `severity`"),
        (format!("{table}kind = 'export'\ntools = ['Bash']\n"), "tools: a plugin of kind export takes none"),
        (
            format!("{table}kind = 'risk'\ntools = ['Bash']\ntimeout_ms = 5001\n"),
            "timeout_ms: 5001 is not a whole number from 1 to 5000",
        ),
        (format!("{}kind = 'export'\n", table.replace("program = '/", "program = '")), "is no absolute path"),
        (
            table.lines().filter(|line| !line.starts_with("sha256")).collect::<Vec<_>>().join("\n")
                + "\nsha256 = 'abc'\nkind = 'export'\n",
            "is not 64 hexadecimal digits",
        ),
        (
            format!(
                "{}kind = 'pattern'\nseverity = 'low'\ntools = ['Bash']\n",
                table.replace("'one'", "'scope_creep'")
            ),
            "a built-in pattern has this name",
        ),
        (
            format!("{table}kind = 'export'\n{table}kind = 'export'\n"),
            "another plugin of this file has the same name",
        ),
    ] {
        configure(&world, &text);
        let (code, out, err) = world.run(&["config", "check"]);
        assert!(code == 1 && format!("{out}{err}").contains(told), "{told}: {out}{err}");
        assert!(!world.bash("ls").is_pass(), "a mistake is a fault");
    }
}

#[test]
fn a_pattern_is_found_and_worded_by_plugins_within_its_class() {
    let world = World::new();
    let found = answers(r#"{"severity": 0.9, "confidence": 0.8, "evidence": "too much of it", "count": 3}"#);
    let (finder, finds) = plugin(&world, "too_much", &found);
    let (speaker, speaks) = plugin(&world, "house", &answers(r#"{"text": "have a rest"}"#));
    let (other, others) = plugin(&world, "other", &answers(r#"{"text": "never"}"#));
    configure(
        &world,
        &format!(
            "{finds}kind = 'pattern'\ntools = ['Bash']\nseverity = 'low'\ntimeout_ms = 5000\n\
             {speaks}kind = 'intervention'\npatterns = ['too_much']\ntimeout_ms = 5000\n\
             {others}kind = 'intervention'\npatterns = ['goal_drift']\ntimeout_ms = 5000\n"
        ),
    );
    let read = json!({"file_path": world.project().join("src/main.rs")});
    assert_eq!(ended(&world, 1, "Read", &read, None).stdout, "");
    assert_eq!(asked(&finder), None, "not its tool");
    let answer = ended(&world, 2, "Bash", &json!({"command": "make"}), Some("Exit code 2\nno rule"));
    assert!(
        answer.stdout.contains("too_much (soft_correction): have a rest"),
        "{}{}",
        answer.stdout,
        answer.stderr
    );
    let question = asked(&finder).unwrap();
    assert_eq!((&question["outcome"], &question["action"]), (&"failed".into(), &"make".into()), "{question}");
    assert!(question["error"].as_str().unwrap().contains("no rule"));
    assert_eq!(
        (&question["history"][0]["operation"], &question["history"][1]),
        (&"read".into(), &Value::Null)
    );
    let question = asked(&speaker).unwrap();
    assert_eq!(
        (&question["intervention"], &question["pattern"]),
        (&"soft_correction".into(), &"too_much".into())
    );
    assert!(question["text"].as_str().unwrap().contains("too much of it"), "{question}");
    assert_eq!(asked(&other), None, "not its pattern");
    let (_, state) = world.check("ls");
    assert!(state["patterns"].as_array().unwrap().is_empty(), "a dry run without a session knows none");

    // One that breaks is told in the log, and the words are lazaret's.
    let (_, breaks) = plugin(&world, "house", "#!/bin/sh\nexit 9\n");
    let (_, finds) = plugin(&world, "too_much", &found);
    configure(
        &world,
        &format!(
            "{finds}kind = 'pattern'\ntools = ['Write']\nseverity = 'low'\ntimeout_ms = 5000\n{breaks}kind = 'intervention'\ntimeout_ms = 5000\n"
        ),
    );
    let write = json!({"file_path": world.project().join("a"), "content": "x"});
    let mut message = world.message("Write", &write);
    message["session_id"] = "another".into();
    for event in ["PreToolUse", "PostToolUse"] {
        message["hook_event_name"] = event.into();
        let answer = world.hook("claude-code", message.to_string().as_bytes());
        assert_eq!(answer.code, Some(0));
        assert_eq!(
            answer.stdout.contains("too_much (soft_correction): too much of it"),
            event == "PostToolUse",
            "{}",
            answer.stdout
        );
    }
    assert!(
        world
            .audit()
            .iter()
            .any(|line| line["event"] == "fault" && line["note"].to_string().contains("plugin house"))
    );
}

#[test]
fn the_log_is_given_to_an_exporter() {
    let world = World::new();
    let (_, table) = plugin(&world, "count", "#!/bin/sh\ngrep -c '\"action\":\"ls'\n");
    let (_, slow) = plugin(&world, "slow", "#!/bin/sh\nsleep 600\n");
    let (_, fails) = plugin(&world, "fails", "#!/bin/sh\nexit 4\n");
    configure(
        &world,
        &format!("{table}kind = 'export'\n{slow}kind = 'export'\ntimeout_ms = 300\n{fails}kind = 'export'\n"),
    );
    assert!(world.bash("ls").is_pass() && world.bash("ls src").is_pass());
    assert_eq!(world.run(&["audit", "export", "--plugin", "count"]).1, "2\n");
    let file = world.home().join("out");
    let done = world.run(&["audit", "export", "--plugin", "count", "--output", file.to_str().unwrap()]);
    assert_eq!((done.0, fs::read_to_string(&file).unwrap().as_str()), (0, "2\n"), "{}", done.2);
    for (name, told) in [
        ("slow", "it was not done within 300 ms"),
        ("fails", "it ended with exit status: 4"),
        ("none", "no [[plugins]] of kind export has this name (count, slow, fails)"),
    ] {
        let (code, _, err) = world.run(&["audit", "export", "--plugin", name]);
        assert!(code == 1 && err.contains(told), "{name}: {code} {err}");
    }
}

/// The programs of docs/plugins.md, in their order.
fn examples() -> Vec<String> {
    let docs = fs::read_to_string("docs/plugins.md").unwrap();
    docs.split("```python\n").skip(1).map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

#[test]
fn the_examples_of_the_documentation_work() {
    if std::process::Command::new("python3").arg("--version").output().is_err() {
        eprintln!("not tested: the examples of docs/plugins.md (there is no python3)");
        return;
    }
    let world = World::new();
    let examples = examples();
    let [risk, pattern, intervention, export] = examples.as_slice() else { panic!("{}", examples.len()) };
    let (_, risk) = plugin(&world, "freeze", risk);
    let (_, pattern) = plugin(&world, "never_run", pattern);
    let (_, intervention) = plugin(&world, "house", intervention);
    let (_, export) = plugin(&world, "plain", export);
    configure(
        &world,
        &format!(
            "{risk}kind = 'risk'\ntools = ['Bash']\ntimeout_ms = 5000\n\
             {pattern}kind = 'pattern'\ntools = ['Write', 'Edit']\nseverity = 'low'\ntimeout_ms = 5000\n\
             {intervention}kind = 'intervention'\npatterns = ['never_run']\ntimeout_ms = 5000\n{export}kind = 'export'\n"
        ),
    );
    assert_eq!(world.run(&["config", "check"]).0, 0);
    let deploy = || world.bash("make deploy");
    assert_eq!(deploy().code, Some(0));
    fs::write(world.project().join("FREEZE"), "").unwrap();
    let answer = deploy();
    assert!(answer.is_block() && answer.stderr.contains("the project is frozen"), "{}", answer.stderr);
    let mut told = String::new();
    for number in 1..=12 {
        let path = world.project().join(format!("src/{number}.rs"));
        told = ended(&world, number, "Write", &json!({"file_path": path, "content": "x"}), None).stdout;
        assert_eq!(told.is_empty(), number < 12, "{number}: {told}");
    }
    assert!(
        told.contains("never_run (soft_correction): run ./check.sh before you change anything else"),
        "{told}"
    );
    let (code, out, err) = world.run(&["audit", "export", "--plugin", "plain"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.lines().any(|line| line.contains(" block Bash matrix.critical-")), "{out}");
}
