//! Every message captured from the real clients, decoded: who acts, what is asked for, with which words.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use lazaret::adapters::decode;
use lazaret::domain::{Action, Asking, Client, Event, Outcome, Request};
use serde_json::{Value, json};

/// A request in one line: event, then `tool action`, then whoever is not the main agent.
fn describe(request: &Request) -> String {
    let subject = &request.subject;
    let mut line = match &request.event {
        Event::BeforeTool(call) => format!("before {} {}", call.tool.name(), action(&call.action)),
        Event::AfterTool { call, outcome, error, duration_ms, report } => {
            let outcome = match outcome {
                Outcome::Done => "done",
                Outcome::Failed => "failed",
                Outcome::Pending | Outcome::Blocked => "impossible",
            };
            let mut line = format!("after {} {} {outcome}", call.tool.name(), action(&call.action));
            if let Some(error) = error {
                line.push_str(&format!(" {error:?}"));
            }
            if let Some(duration) = duration_ms {
                line.push_str(&format!(" {duration}ms"));
            }
            if let Some(report) = report {
                let agent = report.agent.as_ref().map(lazaret::domain::AgentId::as_str);
                let (completed, text) = (report.completed, &report.text);
                line.push_str(&format!(" report of {agent:?} {:?} {completed} {text:?}", report.agent_type));
            }
            line
        }
        Event::Prompt { text } => format!("prompt {text:?}"),
        Event::SessionStart { source } => format!("session start {source}"),
        Event::SessionEnd { reason } => format!("session end {reason}"),
        Event::SubagentStart => "subagent start".to_owned(),
        Event::SubagentStop { message } => format!("subagent stop {message:?}"),
        Event::ConfigChange { source, path } => format!("config change {source} {path:?}"),
        Event::Other { name } => format!("other {name}"),
    };
    if let Some(agent) = &subject.agent {
        line.push_str(&format!(" by {}", agent.as_str()));
    }
    if let Some(kind) = &subject.agent_type {
        line.push_str(&format!(" as {kind}"));
    }
    line
}

fn action(action: &Action) -> String {
    match action {
        Action::Shell { command, workdir } => format!("shell {command:?} in {workdir:?}"),
        Action::Read { path } => format!("read {path}"),
        Action::Write { path, content, long } => format!("write {path} {content:?} long={}", long.is_some()),
        Action::Edit { path, content, long } => format!("edit {path} {content:?} long={}", long.is_some()),
        Action::Search { kind, pattern, path, glob } => format!("{kind:?} {pattern} {path:?} {glob:?}"),
        Action::Fetch { url, .. } => format!("fetch {url}"),
        Action::Spawn { agent_type, prompt, options } => {
            format!("spawn {agent_type:?} {prompt:?} {options:?}")
        }
        Action::Other { text, .. } => format!("other {text}"),
    }
}

fn captures(client: &str) -> BTreeMap<String, Value> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/captures").join(client);
    fs::read_dir(dir)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, serde_json::from_slice(&fs::read(path).unwrap()).unwrap())
        })
        .collect()
}

fn compare(decoded: &BTreeMap<String, String>, expected: &[(&str, &str)]) {
    let expected: BTreeMap<String, String> =
        expected.iter().map(|(name, line)| ((*name).to_owned(), (*line).to_owned())).collect();
    for (name, line) in decoded {
        assert_eq!(Some(line), expected.get(name), "{name}");
    }
    assert_eq!(decoded.len(), expected.len(), "every capture has its line, and every line its capture");
}

const CLAUDE: &[(&str, &str)] = &[
    ("InstructionsLoaded", "other InstructionsLoaded"),
    ("MessageDisplay", "other MessageDisplay"),
    ("PermissionRequest-Bash", "other PermissionRequest"),
    ("PostCompact", "other PostCompact"),
    ("PostToolBatch", "other PostToolBatch"),
    (
        "PostToolUse-Agent",
        r#"after Agent spawn Some("quarantine-reviewer") "[[rc:sub]] look" [] done 1243ms report of Some("ad529e4d0f2337e08") Some("quarantine-reviewer") true "sub report""#,
    ),
    ("PostToolUse-Bash", r#"after Bash shell "echo hello | tee /home/u/proj/out.txt" in None done 31ms"#),
    (
        "PostToolUse-Bash-subagent-general-purpose",
        r#"after Bash shell "touch /home/u/proj/subbash" in None done 10ms by aadc366a26ec2b403 as general-purpose"#,
    ),
    ("PostToolUse-Edit", r#"after Edit edit /home/u/proj/w.txt "ONE" long=false done 12ms"#),
    (
        "PostToolUse-Glob-subagent-quarantine-reviewer",
        r#"after Glob Glob **/*.txt Some("/home/u/proj") None done 8ms by ad529e4d0f2337e08 as quarantine-reviewer"#,
    ),
    (
        "PostToolUse-Grep-subagent-quarantine-reviewer",
        "after Grep Names alpha None None done 27ms by ad529e4d0f2337e08 as quarantine-reviewer",
    ),
    ("PostToolUse-Read", "after Read read /home/u/proj/a.txt done 10ms"),
    (
        "PostToolUse-Read-subagent-general-purpose",
        "after Read read /home/u/proj/a.txt done 2ms by aadc366a26ec2b403 as general-purpose",
    ),
    (
        "PostToolUse-Read-subagent-quarantine-reviewer",
        "after Read read /home/u/proj/a.txt done 1ms by ad529e4d0f2337e08 as quarantine-reviewer",
    ),
    ("PostToolUse-Write", r#"after Write write /home/u/proj/w.txt "one\ntwo\n" long=false done 10ms"#),
    (
        "PostToolUse-Write-subagent-general-purpose",
        r#"after Write write /home/u/proj/subw.txt "x" long=false done 3ms by aadc366a26ec2b403 as general-purpose"#,
    ),
    (
        "PostToolUse-mcp__rc__put",
        r#"after mcp__rc__put other {"path":"/home/u/proj/mcp.txt","text":"mm"} done 6ms"#,
    ),
    (
        "PostToolUseFailure-Bash",
        r#"after Bash shell "echo oops >&2; exit 3" in None failed "Exit code 3\noops" 8ms"#,
    ),
    (
        "PostToolUseFailure-Read",
        r#"after Read read /home/u/proj/nope.txt failed "File does not exist. Note: your current working directory is /home/u/proj." 2ms"#,
    ),
    (
        "PostToolUseFailure-WebFetch",
        r#"after WebFetch fetch http://127.0.0.1:1/x failed "Unable to verify if domain 127.0.0.1 is safe to fetch. This may be due to network restrictions or enterprise security policies blocking claude.ai." 16ms"#,
    ),
    ("PreCompact", "other PreCompact"),
    ("PreToolUse-Agent", r#"before Agent spawn Some("quarantine-reviewer") "[[rc:sub]] look" []"#),
    ("PreToolUse-Bash", r#"before Bash shell "echo hello | tee /home/u/proj/out.txt" in None"#),
    (
        "PreToolUse-Bash-subagent-general-purpose",
        r#"before Bash shell "touch /home/u/proj/subbash" in None by aadc366a26ec2b403 as general-purpose"#,
    ),
    ("PreToolUse-Edit", r#"before Edit edit /home/u/proj/w.txt "ONE" long=false"#),
    (
        "PreToolUse-Glob-subagent-quarantine-reviewer",
        r#"before Glob Glob **/*.txt Some("/home/u/proj") None by ad529e4d0f2337e08 as quarantine-reviewer"#,
    ),
    (
        "PreToolUse-Grep-subagent-quarantine-reviewer",
        "before Grep Names alpha None None by ad529e4d0f2337e08 as quarantine-reviewer",
    ),
    ("PreToolUse-Monitor", r#"before Monitor shell "touch /home/u/proj/w_mon; echo ev" in None"#),
    ("PreToolUse-Read", "before Read read /home/u/proj/a.txt"),
    (
        "PreToolUse-Read-subagent-general-purpose",
        "before Read read /home/u/proj/a.txt by aadc366a26ec2b403 as general-purpose",
    ),
    (
        "PreToolUse-Read-subagent-lazaret:quarantine-reviewer",
        "before Read read /home/u/proj/a.txt by a6d7f7241a7e71371 as lazaret:quarantine-reviewer",
    ),
    (
        "PreToolUse-Read-subagent-quarantine-reviewer",
        "before Read read /home/u/proj/a.txt by ad529e4d0f2337e08 as quarantine-reviewer",
    ),
    (
        "PreToolUse-ToolSearch",
        r#"before ToolSearch other {"query":"select:Monitor,CronCreate,WebSearch,NotebookEdit,SendMessage","max_results":5}"#,
    ),
    ("PreToolUse-WebFetch", "before WebFetch fetch http://127.0.0.1:1/x"),
    ("PreToolUse-Write", r#"before Write write /home/u/proj/w.txt "one\ntwo\n" long=false"#),
    (
        "PreToolUse-Write-subagent-general-purpose",
        r#"before Write write /home/u/proj/subw.txt "x" long=false by aadc366a26ec2b403 as general-purpose"#,
    ),
    ("PreToolUse-mcp__rc__put", r#"before mcp__rc__put other {"path":"/home/u/proj/mcp.txt","text":"mm"}"#),
    ("SessionEnd", "session end other"),
    ("SessionStart-compact", "session start compact"),
    ("SessionStart-resume", "session start resume"),
    ("SessionStart-startup", "session start startup"),
    ("Stop", "other Stop"),
    ("SubagentStart", "subagent start by ad529e4d0f2337e08 as quarantine-reviewer"),
    ("SubagentStop", r#"subagent stop Some("sub report") by ad529e4d0f2337e08 as quarantine-reviewer"#),
    ("UserPromptSubmit", r#"prompt "[[rc:main]] go""#),
];

#[test]
fn claude_code() {
    let captures = captures("claude");
    assert_eq!(captures.len(), 45);
    let mut decoded = BTreeMap::new();
    for (name, message) in &captures {
        let bytes = serde_json::to_vec(message).unwrap();
        let read = decode(Client::ClaudeCode, &bytes).unwrap_or_else(|fault| panic!("{name}: {fault}"));
        let request = &read.request;
        assert_eq!(request.subject.client, Client::ClaudeCode);
        assert_eq!(request.subject.session.as_str(), message["session_id"]);
        assert_eq!(request.cwd, "/home/u/proj");
        assert_eq!(request.prompt_id.as_deref(), message["prompt_id"].as_str(), "{name}");
        if let Event::BeforeTool(call) | Event::AfterTool { call, .. } = &request.event {
            assert_eq!(call.id.as_ref().unwrap().as_str(), message["tool_use_id"]);
            assert_eq!(serde_json::from_str::<Value>(read.raw_input).unwrap(), message["tool_input"]);
        } else {
            assert_eq!(read.raw_input, "");
        }
        decoded.insert(name.clone(), describe(request));
    }
    compare(&decoded, CLAUDE);
}

const CODEX: &[(&str, &str)] = &[
    ("PermissionRequest-Bash", "other PermissionRequest"),
    ("PostToolUse-Bash", r#"after Bash shell "echo $0" in None done"#),
    (
        "PostToolUse-Bash-subagent",
        r#"after Bash shell "echo which" in None done by 01a2201a-91e6-7893-a0c5-654abd9b52f9 as explorer"#,
    ),
    ("PostToolUse-Bash-workdir", r#"after Bash shell "pwd" in None done"#),
    ("PostToolUse-apply_patch", r#"after Edit edit a.txt "hello\n" long=false done"#),
    ("PostToolUse-list_mcp_resources", r#"after list_mcp_resources other {} done"#),
    ("PostToolUse-mcp__probe__look", r#"after mcp__probe__look other {} done"#),
    ("PostToolUse-spawn_agent", r#"after Agent spawn Some("explorer") "Do the sub task." [] done"#),
    ("PreToolUse-Bash", r#"before Bash shell "echo $0" in None"#),
    (
        "PreToolUse-Bash-patch",
        r#"before Bash shell "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: b.txt\n+hello\n*** End Patch\nEOF\ncat > 'b.txt' <<'END'\nhello\nEND\n" in None"#,
    ),
    (
        "PreToolUse-Bash-subagent",
        r#"before Bash shell "echo which" in None by 01a2201a-91e6-7893-a0c5-654abd9b52f9 as explorer"#,
    ),
    ("PreToolUse-Bash-workdir", r#"before Bash shell "pwd" in None"#),
    ("PreToolUse-apply_patch", r#"before Edit edit a.txt "hello\n" long=false"#),
    ("PreToolUse-collaborationspawn_agent", r#"before Agent spawn Some("explorer") "Do the sub task." []"#),
    ("PreToolUse-collaborationwait_agent", r#"before collaborationwait_agent other {"timeout_ms":10000}"#),
    ("PreToolUse-list_mcp_resources", r#"before list_mcp_resources other {}"#),
    ("PreToolUse-mcp__probe__look", r#"before mcp__probe__look other {}"#),
    ("PreToolUse-spawn_agent", r#"before Agent spawn Some("explorer") "Do the sub task." []"#),
    ("PreToolUse-view_image", r#"before Read read /etc/passwd"#),
    ("SessionEnd", r#"session end other"#),
    ("SessionStart", r#"session start startup"#),
    ("Stop", r#"other Stop"#),
    ("SubagentStart", r#"subagent start by 01a21ff3-5d95-7cd2-a5f0-1e2225db239e as explorer"#),
    ("SubagentStop", r#"subagent stop Some("one") by 01a2201a-91e6-7893-a0c5-654abd9b52f9 as explorer"#),
    ("UserPromptSubmit", r#"prompt "Do it.""#),
];

#[test]
fn codex() {
    let captures = captures("codex");
    let mut decoded = BTreeMap::new();
    for (name, message) in &captures {
        let bytes = serde_json::to_vec(message).unwrap();
        let read = decode(Client::Codex, &bytes).unwrap_or_else(|fault| panic!("{name}: {fault}"));
        let request = &read.request;
        assert_eq!(request.subject.client, Client::Codex);
        assert_eq!(request.subject.session.as_str(), message["session_id"]);
        assert_eq!((request.cwd.as_str(), request.asking), (message["cwd"].as_str().unwrap(), Asking::No));
        assert_eq!(request.prompt_id.as_deref(), message["turn_id"].as_str(), "{name}");
        if let Event::BeforeTool(call) | Event::AfterTool { call, .. } = &request.event {
            assert_eq!(call.id.as_ref().unwrap().as_str(), message["tool_use_id"]);
            assert_eq!(serde_json::from_str::<Value>(read.raw_input).unwrap(), message["tool_input"]);
        } else {
            assert_eq!(read.raw_input, "");
        }
        decoded.insert(name.clone(), describe(request));
    }
    compare(&decoded, CODEX);
}

const OPENCODE: &[(&str, &str)] = &[
    ("chat.message", r#"prompt "\"[[rc:main]] go\"" as build"#),
    ("chat.message-subagent", r#"prompt "[[rc:sub]] x" as general"#),
    ("event-session.created", "session start startup as build"),
    (
        "tool.execute.after-bash",
        r#"after Bash shell "echo hello > /home/u/proj/out.txt; cat /home/u/proj/out.txt" in None done as build"#,
    ),
    ("tool.execute.after-edit", r#"after Edit edit /home/u/proj/w.txt "ONE" long=false done as build"#),
    ("tool.execute.after-glob", r#"after Glob Glob *.txt Some("/home/u/proj") None done as build"#),
    ("tool.execute.after-grep", r#"after Grep Grep CAN Some("/home/u/proj") None done as build"#),
    (
        "tool.execute.after-invalid",
        r#"after invalid other {"tool":"nosuch","error":"Model tried to call unavailable tool 'nosuch'. Available tools: bash, edit, glob, grep, invalid, rc_put, read, skill, task, todowrite, webfetch, write."} done as build"#,
    ),
    (
        "tool.execute.after-rc_put",
        r#"after mcp__rc__put other {"path":"/home/u/proj/mcp.txt","text":"mm"} done as build"#,
    ),
    ("tool.execute.after-read", "after Read read /home/u/proj/a.txt done as build"),
    (
        "tool.execute.after-task",
        r#"after Agent spawn Some("general") "[[rc:sub]] x" [] done report of Some("ses_e0663373bffetg884LfRmX0bpt") Some("general") true "sub report" as build"#,
    ),
    (
        "tool.execute.after-todowrite",
        r#"after todowrite other {"todos":[{"content":"x","status":"pending","priority":"high","id":"1"}]} done as build"#,
    ),
    (
        "tool.execute.after-write",
        r#"after Write write /home/u/proj/w.txt "one\ntwo\n" long=false done as build"#,
    ),
    (
        "tool.execute.before-bash",
        r#"before Bash shell "echo hello > /home/u/proj/out.txt; cat /home/u/proj/out.txt" in None as build"#,
    ),
    ("tool.execute.before-edit", r#"before Edit edit /home/u/proj/w.txt "ONE" long=false as build"#),
    ("tool.execute.before-glob", r#"before Glob Glob *.txt Some("/home/u/proj") None as build"#),
    ("tool.execute.before-grep", r#"before Grep Grep CAN Some("/home/u/proj") Some("*.txt") as build"#),
    (
        "tool.execute.before-invalid",
        r#"before invalid other {"tool":"nosuch","error":"Model tried to call unavailable tool 'nosuch'. Available tools: bash, edit, glob, grep, invalid, rc_put, read, skill, task, todowrite, webfetch, write."} as build"#,
    ),
    (
        "tool.execute.before-rc_put",
        r#"before mcp__rc__put other {"path":"/home/u/proj/mcp.txt","text":"mm"} as build"#,
    ),
    ("tool.execute.before-read", "before Read read /home/u/proj/a.txt as build"),
    ("tool.execute.before-task", r#"before Agent spawn Some("general") "[[rc:sub]] x" [] as build"#),
    (
        "tool.execute.before-todowrite",
        r#"before todowrite other {"todos":[{"content":"x","status":"pending","priority":"high","id":"1"}]} as build"#,
    ),
    ("tool.execute.before-webfetch", "before WebFetch fetch http://127.0.0.1:1/x as build"),
    (
        "tool.execute.before-write",
        r#"before Write write /home/u/proj/w.txt "one\ntwo\n" long=false as build"#,
    ),
];

/// A capture as the plugin sends it on.
fn sent(name: &str, capture: &Value) -> Option<Value> {
    let event = capture["tag"].as_str().unwrap();
    let directory = "/home/u/proj";
    let agent = capture["output"]["message"]["agent"].as_str().unwrap_or("build");
    match event {
        "tool.execute.before" | "tool.execute.after" | "chat.message" => Some(json!({
            "event": event, "input": capture["input"], "output": capture["output"],
            "directory": directory, "agent": agent,
        })),
        "event" => {
            // The capture holds the beginning of the properties only, as text.
            let text = capture["props"].as_str().unwrap();
            let session = text.split('"').nth(3).unwrap();
            let properties = json!({ "sessionID": session, "info": { "id": session } });
            let event = json!({ "type": capture["type"], "properties": properties });
            Some(
                json!({ "event": "event", "input": { "event": event }, "directory": directory, "agent": agent }),
            )
        }
        // The plugin does not send these: a look-up of its own, and a hook that it does not use.
        "lookup" | "shell.env" => None,
        other => panic!("{name}: {other}"),
    }
}

#[test]
fn opencode() {
    let captures = captures("opencode");
    assert_eq!(captures.len(), 26);
    let mut decoded = BTreeMap::new();
    for (name, capture) in &captures {
        let Some(message) = sent(name, capture) else { continue };
        let bytes = serde_json::to_vec(&message).unwrap();
        let read = decode(Client::OpenCode, &bytes).unwrap_or_else(|fault| panic!("{name}: {fault}"));
        let request = &read.request;
        assert_eq!(request.cwd, "/home/u/proj");
        assert!(request.subject.session.as_str().starts_with("ses_"), "{name}");
        if let Event::BeforeTool(call) | Event::AfterTool { call, .. } = &request.event {
            assert_eq!(call.id.as_ref().unwrap().as_str(), capture["input"]["callID"]);
        }
        decoded.insert(name.clone(), describe(request));
    }
    compare(&decoded, OPENCODE);
}
