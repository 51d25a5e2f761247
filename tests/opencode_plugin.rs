//! The OpenCode plugin, run by a real Node inside small stand-ins for OpenCode 1 and 2, against binaries that misbehave.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod programs;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

const PLUGIN: &str = include_str!("../adapters/opencode/lazaret.js");
const ALLOW: &str = r#"{"action":"allow"}"#;

/// A plugin installed for one test, and the binary it calls.
struct Scene {
    dir: TempDir,
}

impl Scene {
    /// A binary that keeps each message it is sent and then runs `script`.
    fn new(script: &str) -> Scene {
        let scene = Scene::without_binary();
        fs::create_dir(scene.path("sent")).unwrap();
        let sent = scene.path("sent");
        let sent = sent.display();
        let text = format!(
            "#!/bin/sh\ntest \"$*\" = 'hook opencode' || exit 70\ncat > '{sent}'/$$.part\nmv '{sent}'/$$.part '{sent}'/$$.json\n{script}\n"
        );
        let bin = scene.path("lazaret");
        programs::write(&bin, text);
        scene
    }

    fn answering(line: &str) -> Scene {
        Scene::new(&format!("printf '%s\\n' '{line}'"))
    }

    /// Answers with `line` before a call and with `after` after it.
    fn telling(line: &str, after: &str) -> Scene {
        Scene::new(&format!(
            "if grep -q execute.before \"$(dirname \"$0\")\"/sent/$$.json; then printf '%s\\n' '{line}'; else printf '%s\\n' '{after}'; fi"
        ))
    }

    fn without_binary() -> Scene {
        let scene = Scene { dir: tempfile::tempdir().unwrap() };
        scene.install("const TIMEOUT_MS = 5000");
        scene
    }

    /// Writes the plugin as `lazaret install` does, with another time-out for the tests of that.
    fn install(&self, timeout: &str) {
        for needle in ["\"@LAZARET_BIN@\"", "const TIMEOUT_MS = 5000"] {
            assert_eq!(PLUGIN.matches(needle).count(), 1, "{needle}");
        }
        let bin = serde_json::to_string(&self.path("lazaret")).unwrap();
        let text = PLUGIN.replace("\"@LAZARET_BIN@\"", &bin).replace("const TIMEOUT_MS = 5000", timeout);
        // Under this name Node reads a module where Bun does anyway.
        fs::write(self.path("lazaret.mjs"), text).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn host(&self, host: &str, run: &Value) -> Vec<Value> {
        let host = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/opencode").join(host);
        let mut child = Command::new("node")
            .arg(host)
            .arg(self.path("lazaret.mjs"))
            .env("LAZARET_HOME", self.path("home"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("these tests run the plugin with `node` (20 or later): install it and put it on PATH");
        child.stdin.take().unwrap().write_all(run.to_string().as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "the host failed: {errors}");
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {errors}"))
    }

    fn v1(&self, steps: Value) -> Vec<Value> {
        self.host("host_v1.mjs", &json!({ "steps": steps, "sessions": sessions() }))
    }

    fn v2(&self, steps: Value) -> Vec<Value> {
        self.host("host_v2.mjs", &json!({ "steps": steps, "sessions": sessions() }))
    }

    /// The messages the binary was sent, once there are `count` of them; reports arrive when they like.
    fn sent(&self, count: usize) -> Vec<Value> {
        let mut found = Vec::new();
        for _ in 0..400 {
            let files = fs::read_dir(self.path("sent")).unwrap().map(|entry| entry.unwrap().path());
            let files = files.filter(|path| path.extension().is_some_and(|ext| ext == "json"));
            found = files.map(|path| serde_json::from_slice(&fs::read(path).unwrap()).unwrap()).collect();
            if found.len() >= count {
                break;
            }
            std::thread::sleep(Duration::from_millis(25));
        }
        assert_eq!(found.len(), count, "{found:#?}");
        found
    }

    fn sent_event(&self, count: usize, event: &str) -> Value {
        let sent = self.sent(count);
        let mut of_event = sent.iter().filter(|message| message["event"] == event);
        of_event.next().unwrap_or_else(|| panic!("no {event} in {sent:#?}")).clone()
    }
}

fn sessions() -> Value {
    json!({
        "main": { "id": "main", "agent": "build", "directory": "/home/u/proj" },
        "child": { "id": "child", "agent": "quarantine-reviewer", "parentID": "main" },
        "grandchild": { "id": "grandchild", "agent": "explore", "parentID": "child" },
    })
}

fn before(tool: &str, session: &str, args: Value) -> Value {
    json!({
        "hook": "tool.execute.before",
        "input": { "tool": tool, "sessionID": session, "callID": "c1" },
        "output": { "args": args },
    })
}

fn before2(tool: &str, session: &str, input: Value) -> Value {
    json!({
        "hook": "tool.execute.before",
        "event": { "tool": tool, "sessionID": session, "id": "c1", "messageID": "m", "agent": "build", "input": input },
    })
}

fn ls() -> Value {
    before("bash", "main", json!({ "command": "ls" }))
}

fn error(result: &Value) -> &str {
    result["error"].as_str().unwrap_or_else(|| panic!("the call was let through: {result}"))
}

#[test]
fn an_allowed_call_runs_with_its_arguments_untouched() {
    let scene = Scene::answering(ALLOW);
    let args = json!({ "command": "ls", "description": "d", "timeout": 5000 });
    let results = scene.v1(json!([before("bash", "main", args.clone())]));
    assert_eq!(results[0]["error"], Value::Null);
    assert_eq!(results[0]["args"], args);
    assert_eq!(
        scene.sent(1)[0],
        json!({
            "event": "tool.execute.before",
            "input": { "tool": "bash", "sessionID": "main", "callID": "c1" },
            "output": { "args": args },
            "directory": "/home/u/proj",
            "agent": "build",
        })
    );
}

#[test]
fn a_block_is_thrown_with_its_reason_and_nothing_else() {
    let scene = Scene::new(
        "printf '%s\\n' '{\"action\":\"block\",\"message\":\"rule x: no\"}'; echo noise >&2; exit 2",
    );
    assert_eq!(error(&scene.v1(json!([ls()]))[0]), "rule x: no");
    assert_eq!(error(&scene.v2(json!([before2("shell", "main", json!({}))]))[0]), "rule x: no");
}

#[test]
fn a_block_counts_with_exit_code_0_as_well() {
    let scene = Scene::answering(r#"{"action":"block","message":"no"}"#);
    assert_eq!(error(&scene.v1(json!([ls()]))[0]), "no");
}

#[test]
fn a_change_is_made_in_place() {
    let scene = Scene::answering(r#"{"action":"modify","message":"changed","args":{"command":"ls -l"}}"#);
    let args = json!({ "command": "ls", "timeout": 5 });
    let results = scene.v1(json!([before("bash", "main", args.clone())]));
    assert_eq!(results[0]["args"], json!({ "command": "ls -l", "timeout": 5 }));
    let results = scene.v2(json!([before2("shell", "main", args)]));
    assert_eq!(results[0]["input"], json!({ "command": "ls -l", "timeout": 5 }));
    // What is null is taken out.
    let scene =
        Scene::answering(r#"{"action":"modify","args":{"path":"/sealed","follow":null,"none":null}}"#);
    let args = json!({ "pattern": "x", "follow": true });
    let results = scene.v1(json!([before("grep", "main", args.clone())]));
    assert_eq!(results[0]["args"], json!({ "pattern": "x", "path": "/sealed" }));
    let results = scene.v2(json!([before2("grep", "main", args)]));
    assert_eq!(results[0]["input"], json!({ "pattern": "x", "path": "/sealed" }));
}

#[test]
fn a_warning_reaches_the_model_with_the_result() {
    let scene = Scene::telling(r#"{"action":"allow","message":"careful"}"#, r#"{"action":"allow"}"#);
    let after = |call: &str, output: Value| {
        json!({
            "hook": "tool.execute.after",
            "input": { "tool": "bash", "sessionID": "main", "callID": call, "args": { "command": "ls" } },
            "output": output,
        })
    };
    let text = || json!({ "title": "ls", "output": "a.txt", "metadata": {} });
    let results = scene.v1(json!([
        ls(),
        after("c2", text()),
        after("c1", text()),
        after("c1", text()),
        ls(),
        after("c1", json!({ "content": [{ "type": "text", "text": "stored" }] })),
    ]));
    assert_eq!(results[1]["output"]["output"], "a.txt", "another call");
    assert_eq!(results[2]["output"]["output"], "a.txt\n\ncareful");
    assert_eq!(results[3]["output"]["output"], "a.txt", "told once");
    let content = json!([{ "type": "text", "text": "stored" }, { "type": "text", "text": "careful" }]);
    assert_eq!(results[5]["output"]["content"], content);
}

#[test]
fn advice_on_what_was_done_reaches_the_model_with_the_result() {
    let scene = Scene::telling(r#"{"action":"allow"}"#, r#"{"action":"allow","message":"another way"}"#);
    let input = json!({ "tool": "bash", "sessionID": "main", "callID": "c1", "args": { "command": "ls" } });
    let output = json!({ "title": "ls", "output": "a.txt", "metadata": { "exit": 2 } });
    let results = scene.v1(json!([ls(), { "hook": "tool.execute.after", "input": input, "output": output }]));
    assert_eq!(results[1]["output"]["output"], "a.txt\n\nanother way");
    let done = |status: &str, error: Value, result: Value| {
        json!({
            "hook": "tool.execute.after",
            "event": { "tool": "shell", "sessionID": "main", "id": "c1", "agent": "build", "status": status,
                       "input": { "command": "ls" }, "error": error, "result": result },
        })
    };
    let call = || before2("shell", "main", json!({ "command": "ls" }));
    let results = scene.v2(json!([
        call(),
        done("completed", Value::Null, json!({ "content": "a.txt" })),
        call(),
        done("error", json!("no such file"), Value::Null),
    ]));
    assert_eq!(results[1]["event"]["result"]["content"], "a.txt\n\nanother way");
    assert_eq!(results[3]["event"]["error"], "no such file\n\nanother way");
}

#[test]
fn what_a_tool_throws_is_reported_and_answered_with_the_next_result() {
    let scene = Scene::telling(ALLOW, r#"{"action":"allow","message":"another way"}"#);
    let call = |id: &str| {
        json!({ "hook": "tool.execute.before", "input": { "tool": "read", "sessionID": "main", "callID": id },
                "output": { "args": { "filePath": "none" } } })
    };
    let thrown = |id: &str, error: &str| {
        let part = json!({ "type": "tool", "callID": id, "state": { "status": "error", "error": error } });
        json!({ "hook": "event", "input": { "event": { "type": "message.part.updated", "properties": { "part": part } } } })
    };
    let ran = |id: &str| {
        let input = json!({ "tool": "read", "sessionID": "main", "callID": id, "args": { "filePath": "a" } });
        json!({ "hook": "tool.execute.after", "input": input, "output": { "title": "a", "output": "text" } })
    };
    let results = scene.v1(json!([
        call("c1"),
        thrown("c1", "no such file"),
        thrown("c1", "no such file"),
        thrown("unknown", "no such file"),
        call("c2"),
        thrown("c2", "Tool execution aborted"),
        ran("c3"),
    ]));
    let told = results[6]["output"]["output"].as_str().unwrap();
    assert_eq!(told.matches("another way").count(), 2, "one waited, one is of this call: {told}");
    let sent: Vec<Value> =
        scene.sent(4).into_iter().filter(|sent| sent["event"] == "tool.execute.after").collect();
    let errors: Vec<&Value> = sent.iter().filter_map(|sent| sent["output"].get("error")).collect();
    assert_eq!(errors, ["no such file"]);
}

/// OpenCode's terminal shows neither the error of a call that is refused nor what is added to a result.
#[test]
fn the_person_is_shown_what_the_model_is_given() {
    let wait = || json!({ "hook": "wait", "input": 50 });
    for (line, variant) in [
        (r#"{"action":"block","message":"rule x: no"}"#, "error"),
        (r#"{"action":"allow","message":"rule x: no"}"#, "warning"),
        (r#"{"action":"modify","message":"rule x: no","args":{}}"#, "warning"),
    ] {
        let results = Scene::answering(line).v1(json!([ls(), wait()]));
        let toasts = results[1]["toasts"].as_array().unwrap();
        assert_eq!(toasts.len(), 1, "{line}");
        assert_eq!((&toasts[0]["message"], &toasts[0]["variant"]), (&json!("rule x: no"), &json!(variant)));
    }
    // Nothing where nothing is said.
    assert_eq!(Scene::answering(ALLOW).v1(json!([ls(), wait()]))[1]["toasts"], json!([]));
    // A long one keeps its first lines and its last: the rule, and who can allow it.
    let lines: Vec<String> = (0..20).map(|n| format!("line {n} {}", "x".repeat(60))).collect();
    let long = json!({ "action": "block", "message": lines.join("\n") }).to_string();
    let results = Scene::answering(&long).v1(json!([ls(), wait()]));
    let shown = results[1]["toasts"][0]["message"].as_str().unwrap();
    let kept = [&lines[..3], &["…".to_owned()], &lines[18..]].concat().join("\n");
    assert_eq!(shown, kept);
    assert_eq!(error(&results[0]), lines.join("\n"), "the model is given all of it");
    // A terminal that is not there changes nothing.
    let scene = Scene::answering(r#"{"action":"allow","message":"careful"}"#);
    let run = json!({ "steps": [ls(), wait()], "sessions": sessions(), "lookup": "throws" });
    let results = scene.host("host_v1.mjs", &run);
    assert!(results[1]["error"].is_null(), "{results:?}");
}

#[test]
fn a_stop_ends_the_run_a_little_later() {
    for (stop, aborted) in [(",\"stop\":true", json!(["main"])), ("", json!([]))] {
        let scene = Scene::answering(&format!("{{\"action\":\"block\",\"message\":\"no\"{stop}}}"));
        let results = scene.v1(json!([ls(), { "hook": "wait", "input": 900 }]));
        assert_eq!((error(&results[0]), &results[0]["aborted"]), ("no", &json!([])));
        assert_eq!(results[1]["aborted"], aborted);
    }
}

#[test]
fn a_session_cut_short_is_told_what_it_was_until_the_person_speaks() {
    let scene = Scene::answering(r#"{"action":"allow","message":"the person asked"}"#);
    let system = || json!({ "hook": "experimental.chat.system.transform", "input": { "sessionID": "main" }, "output": { "system": ["s"] } });
    let results = scene.v1(json!([
        system(),
        { "hook": "experimental.session.compacting", "input": { "sessionID": "main" }, "output": { "context": [] } },
        system(),
        { "hook": "chat.message", "input": { "sessionID": "main", "agent": "build" },
          "output": { "message": {}, "parts": [{ "type": "text", "text": "now this" }] } },
        system(),
    ]));
    assert_eq!(results[0]["output"]["system"], json!(["s"]));
    assert_eq!(results[1]["output"]["context"], json!(["the person asked"]));
    assert_eq!(results[2]["output"]["system"], json!(["s", "the person asked"]));
    assert_eq!(results[4]["output"]["system"], json!(["s"]));
}

#[test]
fn a_binary_that_fails_after_a_call_changes_nothing_of_it() {
    for script in ["exit 2", "exit 101", "printf garbage", "kill -9 $$"] {
        let scene = Scene::new(script);
        let input =
            json!({ "tool": "bash", "sessionID": "main", "callID": "c1", "args": { "command": "ls" } });
        let output = json!({ "title": "ls", "output": "a.txt", "metadata": {} });
        let step = json!({ "hook": "tool.execute.after", "input": input, "output": output });
        let results = scene.v1(json!([step]));
        assert_eq!(results[0]["output"]["output"], "a.txt", "{script}");
    }
}

#[test]
fn a_warning_reaches_the_model_of_version_2() {
    let scene = Scene::telling(r#"{"action":"allow","message":"careful"}"#, r#"{"action":"allow"}"#);
    let after = |result: Value| {
        json!({
            "hook": "tool.execute.after",
            "event": {
                "tool": "shell", "sessionID": "main", "id": "c1", "agent": "build",
                "input": { "command": "ls" }, "status": "completed", "result": result,
            },
        })
    };
    let call = || before2("shell", "main", json!({ "command": "ls" }));
    let results = scene.v2(json!([
        call(),
        after(json!({ "content": "a.txt" })),
        call(),
        after(json!({ "content": [{ "type": "text", "text": "a.txt" }] })),
    ]));
    assert_eq!(results[1]["event"]["result"]["content"], "a.txt\n\ncareful");
    assert_eq!(results[3]["event"]["result"]["content"][1], json!({ "type": "text", "text": "careful" }));
}

const REPORT: &str =
    "<task id=\"child\" state=\"completed\">\n<task_result>\nraw words\n</task_result>\n</task>";

fn task_result() -> Value {
    json!({
        "title": "raw title", "output": REPORT, "attachments": ["raw"],
        "metadata": { "sessionId": "child", "parentSessionId": "main", "note": "raw" },
    })
}

fn after_task(output: Value) -> Value {
    json!({
        "hook": "tool.execute.after",
        "input": { "tool": "task", "sessionID": "main", "callID": "c1", "args": { "prompt": "p", "subagent_type": "q" } },
        "output": output,
    })
}

fn after_subagent(result: Value) -> Value {
    json!({
        "hook": "tool.execute.after",
        "event": {
            "tool": "subagent", "sessionID": "main", "id": "c1", "agent": "build",
            "input": { "prompt": "p", "agent": "q" }, "status": "completed", "result": result,
        },
    })
}

#[test]
fn a_report_waits_for_the_binary() {
    // Slower than any report that nobody waits for.
    let scene = Scene::new("sleep 0.3; printf '%s\\n' '{\"action\":\"modify\",\"output\":\"clean\"}'");
    let results = scene.v1(json!([after_task(task_result())]));
    let expected =
        json!({ "title": "a review in quarantine", "output": "clean", "metadata": { "sessionId": "child" } });
    assert_eq!(results[0]["output"], expected);
    let sent = &scene.sent(1)[0];
    assert_eq!((&sent["event"], &sent["agent"]), (&json!("tool.execute.after"), &json!("build")));
    assert_eq!(sent["output"], json!({ "output": REPORT, "metadata": { "sessionId": "child" } }));
    assert_eq!(sent["input"]["args"], json!({ "prompt": "p", "subagent_type": "q" }));
    for (result, expected) in [
        (json!({ "content": "raw" }), json!({ "content": "clean" })),
        (
            json!({ "content": [{ "type": "text", "text": "raw" }] }),
            json!({ "content": [{ "type": "text", "text": "clean" }] }),
        ),
        (json!("raw"), json!({ "output": "clean" })),
        (json!({ "structured": "raw" }), json!({ "output": "clean" })),
    ] {
        let results = scene.v2(json!([after_subagent(result)]));
        assert_eq!(results[0]["event"]["result"], expected);
    }
}

#[test]
fn the_error_of_an_agent_waits_for_the_binary_too() {
    let failed = |error: Value, result: Value| {
        let mut step = after_subagent(result);
        step["event"]["status"] = json!("error");
        step["event"]["error"] = error;
        step
    };
    for scene in [Scene::answering(r#"{"action":"modify","output":"review failed"}"#), Scene::new("exit 1")] {
        for error in [json!("raw"), json!({ "message": "raw", "stack": "raw" }), Value::Null] {
            for result in
                [Value::Null, json!("raw"), json!({ "content": "raw", "metadata": { "sessionId": "child" } })]
            {
                let event = &scene.v2(json!([failed(error.clone(), result)]))[0]["event"];
                let shown = json!([event["error"], event["result"]]).to_string();
                assert!(shown.contains("review failed") && !shown.contains("raw"), "{shown}");
            }
        }
    }
    let scene = Scene::answering(ALLOW);
    let results = scene.v2(json!([failed(json!({ "message": "why" }), Value::Null)]));
    let event = &results[0]["event"];
    assert_eq!((&event["error"], &event["result"]), (&json!({ "message": "why" }), &Value::Null));
    assert_eq!(scene.sent(1)[0]["output"]["error"], "why");
}

#[test]
fn an_ordinary_agents_report_stays_what_it_is() {
    let scene = Scene::answering(ALLOW);
    let results = scene.v1(json!([after_task(task_result())]));
    assert_eq!(results[0]["output"], task_result());
    let results = scene.v2(json!([after_subagent(json!({ "content": "done" }))]));
    assert_eq!(results[0]["event"]["result"], json!({ "content": "done" }));
}

#[test]
fn without_the_binary_no_word_of_a_report_is_left() {
    for broken in [
        Scene::new("exit 1"),
        Scene::new("kill -KILL $$"),
        Scene::answering("garbage"),
        Scene::answering(r#"{"action":"modify"}"#),
        Scene::answering(r#"{"action":"block","message":"no"}"#),
        Scene::without_binary(),
    ] {
        let results = broken.v1(json!([after_task(task_result())]));
        let shown = results[0]["output"].to_string();
        assert_eq!(results[0]["error"], Value::Null);
        assert!(shown.contains("review failed") && !shown.contains("raw"), "{shown}");
        let results = broken.v2(json!([after_subagent(json!({ "content": "raw" }))]));
        let shown = results[0]["event"]["result"].to_string();
        assert!(shown.contains("review failed") && !shown.contains("raw"), "{shown}");
    }
}

#[test]
fn whatever_is_wrong_with_the_binary_the_call_does_not_run() {
    let cases: &[(&str, &str)] = &[
        ("exit 1", "exit code 1"),
        ("printf '{\"action\":\"allow\"}\\n'; exit 1", "exit code 1"),
        ("printf '{\"action\":\"allow\"}\\n'; exit 2", "exit code 2"),
        ("exit 2", "exit code 2"),
        ("exit 101", "exit code 101"),
        ("kill -SEGV $$", "SIGSEGV"),
        ("printf '{\"action\":\"allow\"}\\n'; kill -ABRT $$", "SIGABRT"),
        ("echo garbage", "no usable answer"),
        (":", "no usable answer"),
        ("echo", "no usable answer"),
        ("echo '{}'", "no usable answer"),
        ("echo '[]'", "no usable answer"),
        ("echo '\"allow\"'", "no usable answer"),
        ("echo '{\"action\":\"Allow\"}'", "no usable answer"),
        ("echo '{\"action\":[\"allow\"]}'", "no usable answer"),
        ("echo '{\"action\":\"block\"}'", "no usable answer"),
        ("echo '{\"action\":\"allow\"}'; echo '{\"action\":\"allow\"}'", "no usable answer"),
        ("echo panicked; echo '{\"action\":\"allow\"}'", "no usable answer"),
        ("echo '{\"action\":\"modify\"}'", "arguments that are not there"),
        ("echo '{\"action\":\"modify\",\"args\":[]}'", "arguments that are not there"),
        ("head -c 20000000 /dev/zero", "ENOBUFS"),
    ];
    for (script, why) in cases {
        let scene = Scene::new(script);
        let results = [
            scene.v1(json!([ls()])).remove(0),
            scene.v2(json!([before2("shell", "main", json!({ "command": "ls" }))])).remove(0),
        ];
        for result in &results {
            assert!(error(result).contains(why), "{script}: {}", error(result));
            assert!(error(result).contains("lazaret doctor"), "{script}: {}", error(result));
        }
    }
}

#[test]
fn a_missing_binary_or_one_that_may_not_run_blocks() {
    let scene = Scene::without_binary();
    assert!(error(&scene.v1(json!([ls()]))[0]).contains("ENOENT"));
    fs::write(scene.path("lazaret"), "#!/bin/sh\n").unwrap();
    assert!(error(&scene.v1(json!([ls()]))[0]).contains("EACCES"));
}

#[test]
fn a_plugin_that_was_never_installed_blocks() {
    let scene = Scene::without_binary();
    fs::write(scene.path("lazaret.mjs"), PLUGIN).unwrap();
    assert!(error(&scene.v1(json!([ls()]))[0]).contains("ENOENT"));
}

#[test]
fn a_binary_that_hangs_is_ended_and_blocks() {
    let scene = Scene::new("trap '' TERM; while :; do sleep 1; done");
    scene.install("const TIMEOUT_MS = 300");
    assert!(error(&scene.v1(json!([ls()]))[0]).contains("ETIMEDOUT"));
}

#[test]
fn two_megabytes_of_arguments_arrive_whole() {
    let scene = Scene::answering(ALLOW);
    let content = "é\u{1f600}\"\\\n".repeat(200_000);
    let args = json!({ "filePath": "/home/u/proj/big", "content": content });
    let results = scene.v1(json!([before("write", "main", args.clone())]));
    assert_eq!(results[0]["error"], Value::Null);
    assert!(scene.sent(1)[0]["output"]["args"] == args);
}

#[test]
fn the_agent_is_the_one_of_the_last_message_else_the_one_of_the_session() {
    let scene = Scene::answering(ALLOW);
    let message = json!({
        "hook": "chat.message",
        "input": { "sessionID": "main" },
        "output": {
            "message": { "id": "msg_1", "agent": "plan", "sessionID": "main" },
            "parts": [{ "type": "text", "text": "hello", "id": "prt_1" }, { "type": "file", "url": "x" }],
        },
    });
    let results = scene.v1(json!([message, ls()]));
    assert_eq!(results[1]["error"], Value::Null);
    let call = scene.sent_event(2, "tool.execute.before");
    assert_eq!((&call["agent"], &call["prompt"]), (&json!("plan"), &json!("msg_1")));
    let prompt = scene.sent_event(2, "chat.message");
    assert_eq!(prompt["output"]["parts"], json!([{ "type": "text", "text": "hello" }]));
    assert_eq!(prompt["agent"], "plan");
}

#[test]
fn a_subagent_is_told_by_its_name_and_the_session_at_the_root() {
    let scene = Scene::answering(ALLOW);
    let results = scene.v1(json!([before("read", "grandchild", json!({ "filePath": "a" }))]));
    assert_eq!(results[0]["error"], Value::Null);
    let sent = scene.sent(1);
    assert_eq!((&sent[0]["agent"], &sent[0]["root"]), (&json!("explore"), &json!("main")));

    let scene = Scene::answering(ALLOW);
    let results = scene.v2(json!([before2("read", "child", json!({ "path": "a" }))]));
    assert_eq!(results[0]["error"], Value::Null);
    let sent = scene.sent(1);
    assert_eq!((&sent[0]["agent"], &sent[0]["root"]), (&json!("build"), &json!("main")));
    assert_eq!(sent[0]["directory"], "/home/u/here");
    assert_eq!(sent[0]["input"]["callID"], "c1");
}

#[test]
fn a_session_is_looked_up_once() {
    let scene = Scene::answering(ALLOW);
    let call = || before("read", "child", json!({ "filePath": "a" }));
    let results = scene.v1(json!([call(), call(), call()]));
    assert_eq!(results[2]["error"], Value::Null);
    assert_eq!(results[2]["lookups"], 2, "the child and its parent");
}

#[test]
fn an_agent_that_nobody_names_does_not_act() {
    let scene = Scene::answering(ALLOW);
    let unknown = json!([before("bash", "nobody", json!({ "command": "ls" }))]);
    for lookup in ["answers", "throws"] {
        let run = json!({ "steps": unknown, "sessions": {}, "lookup": lookup });
        let results = scene.host("host_v1.mjs", &run);
        assert!(error(&results[0]).contains("which agent"), "{}", error(&results[0]));
    }
    let run = json!({ "steps": unknown, "lookup": "hangs" });
    assert!(error(&scene.host("host_v1.mjs", &run)[0]).contains("which agent"));
}

#[test]
fn what_happened_is_reported_and_trouble_with_that_breaks_nothing() {
    let long = "x".repeat(100_000);
    let steps = json!([
        {
            "hook": "tool.execute.after",
            "input": { "tool": "bash", "sessionID": "main", "callID": "c1", "args": { "command": "false" } },
            "output": { "title": "t", "output": long, "metadata": { "exit": 1, "output": long } },
        },
        { "hook": "event", "input": { "event": { "type": "session.error", "properties": { "sessionID": "main" } } } },
        { "hook": "event", "input": { "event": { "type": "permission.asked", "properties": { "sessionID": "main", "metadata": { "diff": long } } } } },
        { "hook": "event", "input": { "event": { "type": "message.part.updated", "properties": { "sessionID": "main" } } } },
        { "hook": "event", "input": { "event": { "type": "session.created", "properties": { "info": { "id": "new", "parentID": "main", "agent": "general" } } } } },
        { "hook": "event", "input": { "event": { "type": "session.idle", "properties": { "sessionID": "main" } } } },
        { "hook": "event", "input": { "event": { "type": "session.idle", "properties": { "sessionID": "new" } } } },
        { "hook": "event", "input": { "event": { "type": "session.deleted", "properties": {} } } },
        { "hook": "event", "input": { "event": {} } },
        { "hook": "chat.message", "input": { "sessionID": "main" }, "output": {} },
    ]);
    let scene = Scene::answering(ALLOW);
    for result in scene.v1(steps.clone()) {
        assert_eq!(result["error"], Value::Null);
    }
    let after = scene.sent_event(6, "tool.execute.after");
    assert_eq!(after["output"]["metadata"], json!({ "exit": 1 }));
    assert_eq!(after["output"]["output"].as_str().unwrap().len(), 4000);
    let mut types: Vec<String> = scene
        .sent(6)
        .iter()
        .filter_map(|message| Some(message["input"]["event"]["type"].as_str()?.to_owned()))
        .collect();
    types.sort();
    assert_eq!(types, ["permission.asked", "session.created", "session.error", "session.idle"]);

    for broken in [Scene::new("exit 1"), Scene::new("kill -KILL $$"), Scene::without_binary()] {
        for result in broken.v1(steps.clone()) {
            assert_eq!(result["error"], Value::Null);
        }
    }
}

#[test]
fn version_2_reports_events_prompts_and_errors() {
    let scene = Scene::answering(ALLOW);
    let run = json!({
        "sessions": sessions(),
        "events": [
            { "type": "session.created", "properties": { "info": { "id": "main", "agent": "build" } } },
            { "type": "session.error", "data": { "sessionID": "main" } },
        ],
        "steps": [
            { "hook": "session.prompt", "event": { "sessionID": "main", "prompt": { "text": "do it" } } },
            {
                "hook": "tool.execute.after",
                "event": { "tool": "shell", "sessionID": "main", "id": "c1", "agent": "build", "input": { "command": "x" }, "status": "error", "error": { "message": "denied" } },
            },
        ],
    });
    for result in scene.host("host_v2.mjs", &run) {
        assert_eq!(result["error"], Value::Null);
    }
    assert_eq!(scene.sent_event(4, "tool.execute.after")["output"], json!({ "error": "denied" }));
    assert_eq!(scene.sent_event(4, "chat.message")["output"]["parts"][0]["text"], "do it");
}

#[test]
fn version_2_without_the_reporting_hooks_is_still_guarded() {
    let scene = Scene::answering(r#"{"action":"block","message":"no"}"#);
    let call = before2("shell", "main", json!({ "command": "ls" }));
    let run = json!({ "steps": [call], "sessions": sessions(), "without": ["session.prompt"] });
    assert_eq!(error(&scene.host("host_v2.mjs", &run)[0]), "no");
}

#[test]
fn the_real_binary_and_the_plugin_understand_each_other() {
    let scene = Scene::without_binary();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_lazaret"), scene.path("lazaret")).unwrap();
    let bash = |command: &str| before("bash", "main", json!({ "command": command, "description": "d" }));
    let results = scene.v1(json!([bash("ls -la"), before("bash", "main", json!({}))]));
    assert_eq!(results[0]["error"], Value::Null);
    assert!(error(&results[1]).starts_with("lazaret blocked this call"), "{}", error(&results[1]));
    assert!(error(&results[1]).contains("field command is missing"), "{}", error(&results[1]));
    let shell = |args: Value| before2("shell", "main", args);
    let results = scene.v2(json!([shell(json!({ "command": "ls" })), shell(json!({}))]));
    assert_eq!(results[0]["error"], Value::Null);
    assert!(error(&results[1]).contains("field command is missing"), "{}", error(&results[1]));
}
