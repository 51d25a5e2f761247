//! Messages that are wrong, hostile or unusual: a fault that says what is the matter, or exactly what the client would do.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use lazaret::adapters::{MAX_MESSAGE, decode};
use lazaret::domain::{Action, Client, Event, Fault, FaultKind, Outcome, Request, Tool, ToolCall};
use serde_json::{Value, json};

fn claude(event: &str, fields: &Value) -> Vec<u8> {
    let mut message = json!({ "session_id": "s", "cwd": "/p", "hook_event_name": event });
    for (name, value) in fields.as_object().unwrap() {
        message[name] = value.clone();
    }
    serde_json::to_vec(&message).unwrap()
}

fn claude_call(tool: &str, input: &Value) -> Vec<u8> {
    claude("PreToolUse", &json!({ "tool_name": tool, "tool_input": input }))
}

fn codex_call(tool: &str, input: &Value) -> Vec<u8> {
    claude("PreToolUse", &json!({ "tool_name": tool, "tool_input": input, "turn_id": "t" }))
}

fn opencode_call(tool: &str, args: &Value) -> Vec<u8> {
    let input = json!({ "tool": tool, "sessionID": "ses_1", "callID": "c" });
    let message = json!({
        "event": "tool.execute.before", "input": input, "output": { "args": args }, "directory": "/p", "agent": "build",
    });
    serde_json::to_vec(&message).unwrap()
}

fn request(client: Client, bytes: &[u8]) -> Request {
    match decode(client, bytes) {
        Ok(decoded) => decoded.request,
        Err(fault) => panic!("{fault}: {}", String::from_utf8_lossy(bytes)),
    }
}

fn call(client: Client, bytes: &[u8]) -> ToolCall {
    match request(client, bytes).event {
        Event::BeforeTool(call) => call,
        other => panic!("{other:?}"),
    }
}

fn fault(client: Client, bytes: &[u8]) -> Fault {
    decode(client, bytes).map(|decoded| decoded.request).expect_err(&String::from_utf8_lossy(bytes))
}

/// The fault of a raw Claude Code message with this `tool_input`.
fn raw_fault(tool: &str, input: &str) -> Fault {
    fault(Client::ClaudeCode, &raw(tool, input))
}

fn raw(tool: &str, input: &str) -> Vec<u8> {
    format!(
        r#"{{"session_id":"s","cwd":"/p","hook_event_name":"PreToolUse","tool_name":"{tool}","tool_input":{input}}}"#
    )
    .into_bytes()
}

#[test]
fn what_is_no_message_is_a_fault() {
    let whole = claude_call("Bash", &json!({ "command": "ls" }));
    let mut cases: Vec<Vec<u8>> = vec![
        b"".to_vec(),
        b" \n\t".to_vec(),
        b"null".to_vec(),
        b"[]".to_vec(),
        b"\"text\"".to_vec(),
        b"{}{}".to_vec(),
        b"ls -la".to_vec(),
        b"\xff\xfe{}".to_vec(),
        [&whole[..], b" trailing"].concat(),
        [b"\xef\xbb\xbf".as_slice(), &whole].concat(),
        String::from_utf8(whole.clone()).unwrap().replace("ls", "l\u{0}s").into_bytes(),
    ];
    cases.push([&whole[..30], b"\xc3\x28", &whole[30..]].concat());
    cases.extend((1..whole.len()).map(|length| whole[..length].to_vec()));
    for client in Client::ALL {
        for bytes in &cases {
            let fault = fault(client, bytes);
            assert_eq!(fault.kind, FaultKind::BadMessage, "{}", String::from_utf8_lossy(bytes));
            assert!(!fault.why.is_empty() && fault.why.len() < 400);
        }
    }
    assert!(fault(Client::ClaudeCode, b"").why.contains("empty"));
    assert!(fault(Client::ClaudeCode, b"\xff").why.contains("UTF-8"));
}

#[test]
fn a_missing_field_is_named() {
    let claude_message = json!({
        "session_id": "s", "cwd": "/p", "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": { "command": "ls" },
    });
    for field in ["session_id", "cwd", "hook_event_name", "tool_name", "tool_input"] {
        for broken in [None, Some(Value::Null), Some(json!("")), Some(json!(7)), Some(json!([]))] {
            let mut message = claude_message.clone();
            match &broken {
                None => drop(message.as_object_mut().unwrap().remove(field)),
                Some(value) => message[field] = value.clone(),
            }
            let fault = fault(Client::ClaudeCode, &serde_json::to_vec(&message).unwrap());
            let named =
                fault.why.contains(field) || (field == "tool_input" && fault.why.contains("arguments"));
            assert!(named, "{field} {broken:?}: {}", fault.why);
        }
    }
    let opencode_message = json!({
        "event": "tool.execute.before", "directory": "/p",
        "input": { "tool": "bash", "sessionID": "s" }, "output": { "args": { "command": "ls" } },
    });
    for pointer in ["/event", "/directory", "/input", "/input/tool", "/input/sessionID", "/output/args"] {
        let mut message = opencode_message.clone();
        *message.pointer_mut(pointer).unwrap() = Value::Null;
        let fault = fault(Client::OpenCode, &serde_json::to_vec(&message).unwrap());
        let field = pointer.rsplit('/').next().unwrap();
        assert!(fault.why.contains(&format!("field {field} is missing")), "{pointer}: {}", fault.why);
    }
}

#[test]
fn a_missing_argument_is_named_as_the_client_spells_it() {
    for (client, tool, field) in [
        (Client::ClaudeCode, "Bash", "command"),
        (Client::ClaudeCode, "Monitor", "command"),
        (Client::ClaudeCode, "Read", "file_path"),
        (Client::ClaudeCode, "Write", "content"),
        (Client::ClaudeCode, "Edit", "file_path"),
        (Client::ClaudeCode, "NotebookEdit", "file_path"),
        (Client::ClaudeCode, "Grep", "pattern"),
        (Client::ClaudeCode, "Glob", "pattern"),
        (Client::ClaudeCode, "WebFetch", "url"),
        (Client::OpenCode, "bash", "command"),
        (Client::OpenCode, "shell", "command"),
        (Client::OpenCode, "read", "filePath"),
        (Client::OpenCode, "edit", "filePath"),
        (Client::OpenCode, "apply_patch", "filePath"),
        (Client::OpenCode, "webfetch", "url"),
        (Client::Codex, "Bash", "command"),
        (Client::Codex, "view_image", "path"),
    ] {
        let bytes = match client {
            Client::ClaudeCode => claude_call(tool, &json!({ "other": 1 })),
            Client::OpenCode => opencode_call(tool, &json!({ "other": 1 })),
            Client::Codex => codex_call(tool, &json!({ "other": 1 })),
        };
        let why = fault(client, &bytes).why;
        assert!(why.contains(&format!("field {field} is missing")), "{tool}: {why}");
    }
    assert!(raw_fault("Bash", r#"{"command":["ls"]}"#).why.contains("command: expected text"));
    assert!(raw_fault("Write", r#"{"file_path":"/a","content":7}"#).why.contains("content: expected text"));
}

#[test]
fn the_working_directory_is_absolute_and_ids_are_short() {
    let bytes = claude("Stop", &json!({ "cwd": "relative" }));
    assert!(fault(Client::ClaudeCode, &bytes).why.contains("cwd: expected an absolute path"));
    for field in ["session_id", "agent_id"] {
        let bytes = claude("Stop", &json!({ field: "x".repeat(257) }));
        assert!(fault(Client::ClaudeCode, &bytes).why.contains(field));
    }
    let bytes = claude(
        "PreToolUse",
        &json!({ "tool_name": "Bash", "tool_input": {"command": "x"}, "tool_use_id": "" }),
    );
    assert!(fault(Client::ClaudeCode, &bytes).why.contains("tool_use_id"));
}

#[test]
fn a_field_that_stands_twice_is_refused_wherever_it_would_matter() {
    for input in [
        r#"{"command":"ls","command":"rm -rf /"}"#,
        r#"{"command":"ls","c\u006fmmand":"rm -rf /"}"#,
        r#"{"x":1,"x":1,"command":"ls"}"#,
    ] {
        assert!(raw_fault("Bash", input).why.contains("stands twice"), "{input}");
    }
    let bytes = br#"{"session_id":"s","cwd":"/p","cwd":"/q","hook_event_name":"Stop"}"#;
    assert!(fault(Client::ClaudeCode, bytes).why.contains("cwd stands twice"));
}

#[test]
fn two_spellings_of_one_argument_must_agree() {
    let args = json!({ "filePath": "/etc/shadow", "path": "/p/readme" });
    assert!(fault(Client::OpenCode, &opencode_call("read", &args)).why.contains("contradict"));
    let args = json!({ "filePath": "/p/a", "path": "/p/a" });
    assert_eq!(
        call(Client::OpenCode, &opencode_call("read", &args)).action,
        Action::Read { path: "/p/a".to_owned() }
    );
}

#[test]
fn unknown_fields_are_ignored_and_null_is_absence() {
    let bytes = claude(
        "PreToolUse",
        &json!({
            "tool_name": "Grep", "new_field": { "deep": [1, 2, { "x": null }] }, "agent_id": null, "prompt_id": null,
            "tool_input": { "pattern": "x", "path": null, "glob": null, "-i": true, "future": [[]] },
        }),
    );
    let request = request(Client::ClaudeCode, &bytes);
    assert_eq!((request.subject.agent, request.prompt_id), (None, None));
    let Event::BeforeTool(call) = request.event else { panic!() };
    assert!(matches!(call.action, Action::Search { path: None, glob: None, .. }));
    assert_eq!(call.id, None);
}

#[test]
fn lone_surrogates_are_read_as_the_client_runs_them() {
    let shell = |input: &str| match call(Client::ClaudeCode, &raw("Bash", input)).action {
        Action::Shell { command, .. } => command,
        other => panic!("{other:?}"),
    };
    assert_eq!(shell(r#"{"command":"rm \ud800 -rf /"}"#), "rm \u{fffd} -rf /");
    assert_eq!(shell(r#"{"command":"echo \ud83d\ude00 \udc00"}"#), "echo \u{1f600} \u{fffd}");
    assert_eq!(shell(r#"{"command":"ls","description":"\ud800"}"#), "ls", "elsewhere they do not matter");
    // In a name they make it one that no client knows.
    assert_eq!(raw_fault("Bash", r#"{"comm\ud800and":"ls"}"#).kind, FaultKind::BadMessage);
    assert_eq!(raw_fault("Bash", r#"{"command":"a\ud80"}"#).kind, FaultKind::BadMessage);
}

#[test]
fn hostile_nesting_is_a_fault_wherever_it_is() {
    let bomb = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    let objects = format!("{}1{}", "{\"a\":".repeat(20_000), "}".repeat(20_000));
    for bomb in [bomb, objects] {
        for (tool, input) in [
            ("Bash", format!(r#"{{"command":"ls","x":{bomb}}}"#)),
            ("mcp__a__b", format!(r#"{{"x":{bomb}}}"#)),
            ("mcp__a__b", bomb.clone()),
            ("Monitor", format!(r#"{{"ws":{{"url":{bomb}}}}}"#)),
            ("Bash", format!(r#"{{"command":"ls"}},"x":{bomb}"#).replace(r#"}},"x""#, r#"},"x""#)),
        ] {
            assert_eq!(raw_fault(tool, &input).kind, FaultKind::TooLarge, "{tool}");
        }
        let opencode = format!(
            r#"{{"event":"tool.execute.before","directory":"/p","input":{{"tool":"bash","sessionID":"s"}},"output":{{"args":{{"command":"ls","x":{bomb}}}}}}}"#
        );
        assert_eq!(fault(Client::OpenCode, opencode.as_bytes()).kind, FaultKind::TooLarge);
    }
    // An unfinished one never gets as far.
    assert!(decode(Client::ClaudeCode, &raw("Bash", &"[".repeat(1_000_000))).is_err());
}

#[test]
fn size_is_bounded_and_so_are_fields() {
    let mut long = claude_call("Bash", &json!({ "command": "ls" }));
    long.resize(MAX_MESSAGE, b' ');
    assert!(decode(Client::ClaudeCode, &long).is_ok());
    long.push(b' ');
    let fault = fault(Client::ClaudeCode, &long);
    assert_eq!(fault.kind, FaultKind::TooLarge);
    assert!(fault.hint.is_some());

    let many: serde_json::Map<String, Value> = (0..300).map(|n| (format!("f{n}"), json!(n))).collect();
    assert!(raw_fault("Bash", &Value::Object(many.clone()).to_string()).why.contains("more than 256 fields"));
    // What is not opened may have as many as it likes.
    assert!(decode(Client::ClaudeCode, &raw("mcp__a__b", &Value::Object(many).to_string())).is_ok());
}

#[test]
fn long_content_is_not_decoded_but_must_be_text() {
    let action = |tool: &str, input: &Value| call(Client::ClaudeCode, &claude_call(tool, input)).action;
    let long = "x".repeat(Action::MAX_CONTENT + 1);
    let fits = "x".repeat(Action::MAX_CONTENT);
    let bytes = u32::try_from(long.len() + 2).ok();
    let path = || "/p/a".to_owned();
    assert_eq!(
        action("Write", &json!({ "file_path": "/p/a", "content": long })),
        Action::Write { path: path(), content: String::new(), long: bytes }
    );
    assert_eq!(
        action("Write", &json!({ "file_path": "/p/a", "content": fits })),
        Action::Write { path: path(), content: fits.clone(), long: None }
    );
    assert_eq!(
        action("Edit", &json!({ "file_path": "/p/a", "old_string": "", "new_string": long })),
        Action::Edit { path: path(), content: String::new(), long: bytes }
    );
    let list = format!(r#"{{"file_path":"/a","content":["{long}"]}}"#);
    assert!(raw_fault("Write", &list).why.contains("expected text"));
    let Action::Other { text, .. } = action("mcp__a__b", &json!({ "x": long })) else { panic!() };
    assert!(text.len() <= Action::MAX_CONTENT + '…'.len_utf8());
}

#[test]
fn every_tool_of_claude_code_has_its_place() {
    let internal = |name: &str| Tool::Internal(name.to_owned());
    let unknown = |name: &str| Tool::Unknown(name.to_owned());
    let mcp = |server: &str, tool: &str| Tool::Mcp { server: server.to_owned(), tool: tool.to_owned() };
    let all = json!({
        "command": "c", "file_path": "/p/f", "content": "c", "new_string": "n", "pattern": "p", "url": "u", "prompt": "p",
    });
    for (name, tool) in [
        ("Bash", Tool::Bash),
        ("Monitor", Tool::Monitor),
        ("Read", Tool::Read),
        ("Write", Tool::Write),
        ("Edit", Tool::Edit),
        ("NotebookEdit", Tool::NotebookEdit),
        ("Grep", Tool::Grep),
        ("Glob", Tool::Glob),
        ("Agent", Tool::Agent),
        ("Task", Tool::Agent),
        ("Workflow", Tool::Agent),
        ("WebFetch", Tool::WebFetch),
        ("WebSearch", Tool::WebSearch),
        ("TodoWrite", internal("TodoWrite")),
        ("Skill", internal("Skill")),
        ("CronCreate", internal("CronCreate")),
        ("EnterWorktree", internal("EnterWorktree")),
        ("ExitWorktree", internal("ExitWorktree")),
        ("ToolSearch", internal("ToolSearch")),
        ("SendMessage", internal("SendMessage")),
        ("mcp__rc__put", mcp("rc", "put")),
        ("mcp__plugin_a_b__do__it", mcp("plugin_a_b", "do__it")),
        ("mcp__", unknown("mcp__")),
        ("mcp__a", unknown("mcp__a")),
        ("mcp____x", unknown("mcp____x")),
        ("bash", Tool::Bash),
        ("Bash ", Tool::Bash),
        ("SHELL", Tool::Bash),
        ("bash2", unknown("bash2")),
        ("PowerShell", unknown("PowerShell")),
        ("MultiEdit", Tool::Edit),
        ("RemoteTrigger", unknown("RemoteTrigger")),
    ] {
        assert_eq!(call(Client::ClaudeCode, &claude_call(name, &all)).tool, tool, "{name}");
    }
    let wordless = call(Client::ClaudeCode, &claude_call("bash", &json!({ "code": "x" })));
    assert_eq!(wordless.tool, unknown("bash"), "without a command it is not the shell");
    let leave = |discard: bool| json!({ "action": "remove", "discard_changes": discard });
    let tool = |input: &Value| call(Client::ClaudeCode, &claude_call("ExitWorktree", input)).tool;
    assert_eq!(tool(&leave(false)), internal("ExitWorktree"));
    assert_eq!(tool(&leave(true)), unknown("ExitWorktree"), "throwing work away is more than a mode");
}

#[test]
fn every_tool_of_opencode_has_its_place() {
    let internal = |name: &str| Tool::Internal(name.to_owned());
    let all = json!({
        "command": "c", "filePath": "/p/f", "content": "c", "newString": "n", "pattern": "p", "url": "u", "prompt": "p",
    });
    for (name, tool) in [
        ("bash", Tool::Bash),
        ("shell", Tool::Bash),
        ("read", Tool::Read),
        ("write", Tool::Write),
        ("edit", Tool::Edit),
        ("patch", Tool::Edit),
        ("apply_patch", Tool::Edit),
        ("grep", Tool::Grep),
        ("glob", Tool::Glob),
        ("task", Tool::Agent),
        ("subagent", Tool::Agent),
        ("webfetch", Tool::WebFetch),
        ("websearch", Tool::WebSearch),
        ("todowrite", internal("todowrite")),
        ("invalid", internal("invalid")),
        ("plan_exit", internal("plan_exit")),
        ("skill", internal("skill")),
        ("rc_put", Tool::Mcp { server: "rc".to_owned(), tool: "put".to_owned() }),
        ("a_b_c", Tool::Mcp { server: "a".to_owned(), tool: "b_c".to_owned() }),
        ("_x", Tool::Unknown("_x".to_owned())),
        ("x_", Tool::Unknown("x_".to_owned())),
        ("Bash", Tool::Bash),
        ("execute", Tool::Unknown("execute".to_owned())),
    ] {
        assert_eq!(call(Client::OpenCode, &opencode_call(name, &all)).tool, tool, "{name}");
    }
}

#[test]
fn arguments_of_both_clients_end_in_one_vocabulary() {
    let text = |text: &str| text.to_owned();
    let claude = |tool: &str, input: Value| call(Client::ClaudeCode, &claude_call(tool, &input)).action;
    let opencode = |tool: &str, args: Value| call(Client::OpenCode, &opencode_call(tool, &args)).action;
    let shell = |command: &str, workdir: Option<&str>| Action::Shell {
        command: text(command),
        workdir: workdir.map(str::to_owned),
    };
    assert_eq!(
        opencode("bash", json!({ "command": "ls", "workdir": "sub/../x" })),
        shell("ls", Some("/p/x"))
    );
    assert_eq!(opencode("shell", json!({ "command": "ls", "workdir": "/q" })), shell("ls", Some("/q")));
    assert_eq!(opencode("bash", json!({ "command": "ls", "workdir": "/p/" })), shell("ls", None));
    assert_eq!(claude("Bash", json!({ "command": "ls", "workdir": "/q" })), shell("ls", None));
    assert_eq!(
        claude("Monitor", json!({ "ws": { "url": "wss://x" } })),
        Action::Fetch { url: text("wss://x"), prompt: String::new() }
    );
    assert_eq!(claude("Monitor", json!({ "ws": { "url": "wss://x" }, "command": "c" })), shell("c", None));
    assert_eq!(opencode("read", json!({ "path": "a" })), Action::Read { path: text("a") });
    let edit = |content: &str| Action::Edit { path: text("/n.ipynb"), content: text(content), long: None };
    assert_eq!(claude("NotebookEdit", json!({ "notebook_path": "/n.ipynb", "new_source": "x" })), edit("x"));
    assert_eq!(
        claude("NotebookEdit", json!({ "notebook_path": "/n.ipynb", "edit_mode": "delete" })),
        edit("")
    );
    assert_eq!(
        opencode("edit", json!({ "filePath": "/n.ipynb", "oldString": "o", "newString": "x" })),
        edit("x")
    );
    let spawn =
        |kind: &str| Action::Spawn { agent_type: Some(text(kind)), prompt: text("p"), options: Vec::new() };
    assert_eq!(claude("Agent", json!({ "subagent_type": "q", "prompt": "p" })), spawn("q"));
    assert_eq!(opencode("task", json!({ "subagent_type": "q", "prompt": "p" })), spawn("q"));
    assert_eq!(opencode("subagent", json!({ "agent": "q", "prompt": "p" })), spawn("q"));
    // What says more of an agent than its type and its task is kept; what says nothing is not.
    let named = json!({ "prompt": "p", "subagent_type": "q", "description": "d", "run_in_background": true,
        "model": "m", "name": "n", "resume": "", "task_id": null });
    let options = vec![(text("name"), text("\"n\""))];
    assert_eq!(
        claude("Agent", named),
        Action::Spawn { agent_type: Some(text("q")), prompt: text("p"), options }
    );
    let script = json!({ "script": "agent('x')" });
    let Action::Spawn { agent_type: None, prompt, .. } = claude("Workflow", script) else { panic!() };
    assert!(prompt.contains("agent('x')"));
    assert_eq!(
        opencode("apply_patch", json!({ "patchText": "*** Begin Patch\n*** Delete File: a\n*** End Patch" })),
        shell("rm -- 'a'\n", None)
    );
}

#[test]
fn the_other_events_of_claude_code() {
    let event = |name: &str, fields: Value| request(Client::ClaudeCode, &claude(name, &fields)).event;
    assert_eq!(
        event(
            "ConfigChange",
            json!({ "source": "project_settings", "file_path": "/p/.claude/settings.json" })
        ),
        Event::ConfigChange {
            source: "project_settings".to_owned(),
            path: Some("/p/.claude/settings.json".to_owned())
        }
    );
    assert_eq!(event("ConfigChange", json!({})), Event::ConfigChange { source: String::new(), path: None });
    assert_eq!(event("SubagentStop", json!({})), Event::SubagentStop { message: None });
    assert_eq!(event("Brand New", json!({})), Event::Other { name: "Brand New".to_owned() });
    let with_call = json!({ "tool_name": "Bash", "tool_input": { "command": "ls" } });
    assert!(fault(Client::ClaudeCode, &claude("BeforeTool", &with_call)).why.contains("BeforeTool"));
    let told = event("PermissionRequest", with_call);
    assert_eq!(
        told,
        Event::Other { name: "PermissionRequest".to_owned() },
        "PreToolUse tells of the same call"
    );
    assert!(fault(Client::ClaudeCode, &claude("UserPromptSubmit", &json!({}))).why.contains("prompt"));
}

#[test]
fn what_opencode_reports() {
    let send = |message: Value| request(Client::OpenCode, &serde_json::to_vec(&message).unwrap());
    let after = |output: Value| {
        let input = json!({ "tool": "bash", "sessionID": "s", "callID": "c", "args": { "command": "x" } });
        let message =
            json!({ "event": "tool.execute.after", "input": input, "output": output, "directory": "/p" });
        match send(message).event {
            Event::AfterTool { outcome, error, .. } => (outcome, error),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(after(json!({ "output": "a", "metadata": { "exit": 0 } })), (Outcome::Done, None));
    assert_eq!(after(json!({})), (Outcome::Done, None));
    assert_eq!(
        after(json!({ "output": "oops", "metadata": { "exit": 3 } })),
        (Outcome::Failed, Some("Exit code 3\noops".to_owned()))
    );
    assert_eq!(after(json!({ "error": "denied" })), (Outcome::Failed, Some("denied".to_owned())));

    let bus = |kind: &str, info: Value, root: Value| {
        let event = json!({ "type": kind, "properties": { "sessionID": "s", "info": info } });
        send(json!({ "event": "event", "input": { "event": event }, "directory": "/p", "root": root }))
    };
    assert_eq!(
        bus("session.created", json!({ "id": "s" }), Value::Null).event,
        Event::SessionStart { source: "startup".to_owned() }
    );
    let child = bus("session.created", json!({ "id": "s", "parentID": "main" }), json!("main"));
    assert_eq!(child.event, Event::SubagentStart);
    assert_eq!(child.subject.session.as_str(), "main");
    assert_eq!(child.subject.agent.unwrap().as_str(), "s");
    assert_eq!(bus("session.idle", Value::Null, json!("main")).event, Event::SubagentStop { message: None });
    assert_eq!(
        bus("session.idle", Value::Null, Value::Null).event,
        Event::Other { name: "session.idle".to_owned() }
    );
    assert_eq!(
        bus("session.deleted", Value::Null, Value::Null).event,
        Event::SessionEnd { reason: "deleted".to_owned() }
    );
    assert_eq!(
        bus("permission.asked", Value::Null, Value::Null).event,
        Event::Other { name: "permission.asked".to_owned() }
    );

    let parts = json!([
        { "type": "text", "text": "one" },
        { "type": "text", "text": "not the person's", "synthetic": true },
        { "type": "file", "url": "x" },
        { "type": "text", "text": "two" },
    ]);
    let message = json!({
        "event": "chat.message", "input": { "sessionID": "s" }, "output": { "parts": parts }, "directory": "/p",
        "agent": "plan", "prompt": "msg_1", "root": "s",
    });
    let request = send(message);
    assert_eq!(request.event, Event::Prompt { text: "one\ntwo".to_owned() });
    assert_eq!(request.subject.agent, None, "a session that is its own root is no subagent");
    assert_eq!(request.subject.agent_type.as_deref(), Some("plan"));
    assert_eq!(request.prompt_id.as_deref(), Some("msg_1"));
}

proptest::proptest! {
    /// Whatever the bytes, there is an answer.
    #[test]
    fn no_bytes_break_it(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..200)) {
        for client in Client::ALL {
            let _ = decode(client, &bytes);
        }
    }

    /// Nor does a message that was damaged in one place.
    #[test]
    fn no_damage_breaks_it(at in 0_usize..200, byte in proptest::num::u8::ANY) {
        let mut bytes = claude_call("Edit", &json!({ "file_path": "/p/\u{e9}", "new_string": "\u{1f600}\n", "x": [{}] }));
        let length = bytes.len();
        bytes[at % length] = byte;
        if let Ok(decoded) = decode(Client::ClaudeCode, &bytes) {
            proptest::prop_assert!(decoded.request.cwd.starts_with('/'));
        }
    }
}
