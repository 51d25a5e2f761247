//! What each client is told for each answer, byte for byte where the client is particular.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use lazaret::adapters::{ExitKind, Reply, decode, encode, refuse};
use lazaret::domain::{Client, Decision, Enforcement, Fault, FaultKind, Reason, Rewrite, Severity, Verdict};
use serde_json::{Value, json};

/// A Bash call with fields, spacing and an escape that have to survive a rewrite.
const CLAUDE: &str = r#"{"session_id":"s","cwd":"/p","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"description":"a \ud800 \u0041","command":"git push --force","timeout": 5.0,"x":{"a" : [1]}},"tool_use_id":"t"}"#;
const OPENCODE: &str = r#"{"event":"tool.execute.before","input":{"tool":"bash","sessionID":"s","callID":"c"},"output":{"args":{"command":"git push --force","timeout":5}},"directory":"/p","agent":"build"}"#;

const CODEX: &str = r#"{"session_id":"s","turn_id":"t","transcript_path":null,"cwd":"/p","hook_event_name":"PreToolUse","model":"m","permission_mode":"default","tool_name":"Bash","tool_input":{"command":"git push --force"},"tool_use_id":"c"}"#;

fn reason(verdict: Verdict) -> Reason {
    Reason {
        rule: "git.push-force".to_owned(),
        verdict,
        severity: Severity::High,
        message: "overwrites what others pushed".to_owned(),
        matched: "git push --force".to_owned(),
        instead: Some("git push --force-with-lease".to_owned()),
    }
}

fn decision(verdict: Verdict, rewrite: Option<Rewrite>, can_ask: bool) -> Decision {
    Decision::new(vec![reason(verdict)], rewrite, can_ask)
}

fn rewrite(field: &'static str, value: &str, needs_permission: bool) -> Option<Rewrite> {
    Some(Rewrite {
        name: "force-with-lease".to_owned(),
        field,
        value: value.to_owned(),
        also: &[],
        only: &[],
        needs_permission,
        told: true,
    })
}

fn reply(client: Client, message: &str, decision: &Decision) -> Reply {
    encode(&decode(client, message.as_bytes()).unwrap(), decision)
}

fn claude(decision: &Decision) -> Reply {
    reply(Client::ClaudeCode, CLAUDE, decision)
}

fn opencode(decision: &Decision) -> Reply {
    reply(Client::OpenCode, OPENCODE, decision)
}

fn json_of(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(bytes)))
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

const BLOCKED: &str = "lazaret blocked this call: \
    rule git.push-force: overwrites what others pushed\n\
    matched: git push --force\n\
    instead: git push --force-with-lease\n\
    to allow: only a person can, at a terminal in that directory: lazaret except git.push-force --here\n\
    repeating the same call will not help";
const WARNED: &str = "lazaret lets this call run, with a warning: \
    rule git.push-force: overwrites what others pushed\n\
    matched: git push --force\n\
    instead: git push --force-with-lease";
const CHANGED: &str = "lazaret changed this call before it ran (force-with-lease): command is now git push --force-with-lease\n\
    rule git.push-force: overwrites what others pushed\n\
    matched: git push --force\n\
    instead: git push --force-with-lease";
const ASKED: &str = "lazaret asks a person about this call: \
    rule git.push-force: overwrites what others pushed\n\
    matched: git push --force\n\
    instead: git push --force-with-lease\n\
    it runs only if a person says yes; if nobody does, repeating it will not help";

#[test]
fn claude_allow_is_silence() {
    let silence = Reply { stdout: Vec::new(), stderr: Vec::new(), code: ExitKind::Pass };
    assert_eq!(claude(&Decision::new(Vec::new(), None, true)), silence);
}

#[test]
fn claude_warn_tells_the_person_and_the_model() {
    let reply = claude(&decision(Verdict::Warn, None, true));
    assert_eq!((reply.code, text(&reply.stderr)), (ExitKind::Pass, ""));
    assert_eq!(
        json_of(&reply.stdout),
        json!({
            "systemMessage": WARNED,
            "hookSpecificOutput": { "hookEventName": "PreToolUse", "additionalContext": WARNED },
        })
    );
}

#[test]
fn claude_rewrite_gives_back_the_whole_input_with_one_field_changed() {
    let change = rewrite("command", "git push --force-with-lease", false);
    let reply = claude(&decision(Verdict::Modify, change, true));
    assert_eq!((reply.code, text(&reply.stderr)), (ExitKind::Pass, ""));
    let expected = format!(
        r#"{{"systemMessage":{0},"hookSpecificOutput":{{"hookEventName":"PreToolUse","updatedInput":{{"description":"a \ud800 \u0041","command":"git push --force-with-lease","timeout":5.0,"x":{{"a" : [1]}}}},"additionalContext":{0}}}}}"#,
        json!(CHANGED)
    );
    assert_eq!(text(&reply.stdout), expected);
}

#[test]
fn claude_rewrite_skips_the_prompt_only_where_it_must() {
    let change = rewrite("command", "git push --force-with-lease", true);
    // Lone surrogates go back as they came, which serde_json cannot read.
    let stdout = claude(&decision(Verdict::Modify, change, true)).stdout;
    let start = r#""hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":"lazaret changed"#;
    assert!(text(&stdout).contains(start), "{}", text(&stdout));
    assert!(text(&stdout).contains(r#""command":"git push --force-with-lease","timeout":5.0"#));
}

#[test]
fn a_rewrite_finds_the_client_s_own_name_for_the_field() {
    let read = r#"{"session_id":"s","cwd":"/p","hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{"file_path":"/a","limit":3}}"#;
    let change = || decision(Verdict::Modify, rewrite("file_path", "/sealed/a", true), true);
    let output = json_of(&reply(Client::ClaudeCode, read, &change()).stdout);
    assert_eq!(output["hookSpecificOutput"]["updatedInput"], json!({ "file_path": "/sealed/a", "limit": 3 }));
    for name in ["filePath", "path"] {
        let read = format!(
            r#"{{"event":"tool.execute.before","input":{{"tool":"read","sessionID":"s"}},"output":{{"args":{{"{name}":"a","limit":3}}}},"directory":"/p","agent":"q"}}"#
        );
        let line = json_of(&reply(Client::OpenCode, &read, &change()).stdout);
        assert_eq!((&line["action"], &line["args"]), (&json!("modify"), &json!({ name: "/sealed/a" })));
    }
}

#[test]
fn a_rewrite_that_has_no_place_in_the_call_blocks_it() {
    for field in ["file_path", "no_such_field"] {
        let decision = decision(Verdict::Modify, rewrite(field, "x", true), true);
        assert_eq!(decision.enforcement(), Enforcement::Rewrite);
        let reply = claude(&decision);
        assert_eq!(reply.code, ExitKind::Block);
        assert_eq!(json_of(&reply.stdout)["hookSpecificOutput"]["permissionDecision"], "deny");
        let reply = opencode(&decision);
        assert_eq!((reply.code, &json_of(&reply.stdout)["action"]), (ExitKind::Block, &json!("block")));
    }
}

#[test]
fn what_a_change_needs_is_added_and_what_is_not_told_is_not_said() {
    let sealed = |field, value: &str, also| Rewrite {
        name: "sealed-copy".to_owned(),
        field,
        value: value.to_owned(),
        also,
        only: &[],
        needs_permission: true,
        told: false,
    };
    let grep = r#"{"session_id":"s","cwd":"/p","hook_event_name":"PreToolUse","tool_name":"Grep","tool_input":{"pattern":"x","-n":true}}"#;
    let change = decision(Verdict::Modify, Some(sealed("path", "/sealed", &[])), false);
    assert_eq!(
        json_of(&reply(Client::ClaudeCode, grep, &change).stdout),
        json!({ "hookSpecificOutput": {
            "hookEventName": "PreToolUse", "permissionDecision": "allow",
            "permissionDecisionReason": "lazaret changed this call before it ran (sealed-copy)",
            "updatedInput": { "pattern": "x", "-n": true, "path": "/sealed" },
        }})
    );
    for tool in ["grep", "glob"] {
        let search = format!(
            r#"{{"event":"tool.execute.before","input":{{"tool":"{tool}","sessionID":"s"}},"output":{{"args":{{"pattern":"x"}}}},"directory":"/p","agent":"q"}}"#
        );
        let line = json_of(&reply(Client::OpenCode, &search, &change).stdout);
        assert_eq!(line, json!({ "action": "modify", "args": { "path": "/sealed" } }));
    }
    // A switch is set where the client knows it.
    let change =
        decision(Verdict::Modify, Some(sealed("prompt", "task", &[("run_in_background", false)])), false);
    for input in [r#"{"prompt":"p"}"#, r#"{"prompt":"p","run_in_background":true}"#] {
        let spawn = format!(
            r#"{{"session_id":"s","cwd":"/p","hook_event_name":"PreToolUse","tool_name":"Agent","tool_input":{input}}}"#
        );
        let output = json_of(&reply(Client::ClaudeCode, &spawn, &change).stdout);
        let expected = json!({ "prompt": "task", "run_in_background": false });
        assert_eq!(output["hookSpecificOutput"]["updatedInput"], expected);
    }
    let task = r#"{"event":"tool.execute.before","input":{"tool":"task","sessionID":"s"},"output":{"args":{"prompt":"p"}},"directory":"/p","agent":"build"}"#;
    let line = json_of(&reply(Client::OpenCode, task, &change).stdout);
    assert_eq!(line, json!({ "action": "modify", "args": { "prompt": "task" } }));
}

#[test]
fn arguments_that_are_not_known_are_left_out() {
    let sealed = |field, only| Rewrite {
        name: "sealed-copy".to_owned(),
        field,
        value: "/sealed".to_owned(),
        also: &[],
        only,
        needs_permission: true,
        told: false,
    };
    let change = |field, only| decision(Verdict::Modify, Some(sealed(field, only)), false);
    let claude = |tool: &str, input: &str, change: &Decision| {
        let call = format!(
            r#"{{"session_id":"s","cwd":"/p","hook_event_name":"PreToolUse","tool_name":"{tool}","tool_input":{input}}}"#
        );
        json_of(&reply(Client::ClaudeCode, &call, change).stdout)["hookSpecificOutput"]["updatedInput"]
            .clone()
    };
    let grep = change("path", &["pattern", "path", "glob", "-n"]);
    let input = r#"{"pattern":"x","-n":true,"path":"a","pre":"sh","glob":"*","-f":"/etc/passwd"}"#;
    assert_eq!(
        claude("Grep", input, &grep),
        json!({ "pattern": "x", "-n": true, "path": "/sealed", "glob": "*" })
    );
    let read = change("file_path", &["file_path", "limit"]);
    let input = r#"{"file_path":"a","notebook_path":"a","limit":3,"follow":true}"#;
    assert_eq!(claude("Read", input, &read), json!({ "file_path": "/sealed", "limit": 3 }));
    let opencode = |tool: &str, args: &str, change: &Decision| {
        let call = format!(
            r#"{{"event":"tool.execute.before","input":{{"tool":"{tool}","sessionID":"s"}},"output":{{"args":{args}}},"directory":"/p","agent":"q"}}"#
        );
        json_of(&reply(Client::OpenCode, &call, change).stdout)["args"].clone()
    };
    let args = r#"{"pattern":"x","include":"*.c","glob":"/etc/*","pre":"sh"}"#;
    assert_eq!(opencode("grep", args, &grep), json!({ "path": "/sealed", "glob": null, "pre": null }));
    let args = r#"{"filePath":"a","path":"a","limit":3,"follow":true}"#;
    assert_eq!(opencode("read", args, &read), json!({ "filePath": "/sealed", "path": null, "follow": null }));
}

#[test]
fn a_result_is_replaced_in_the_clients_own_shape() {
    let mut decision = Decision::new(Vec::new(), None, false);
    decision.replacement = Some("clean \"text\"".to_owned());
    let after = include_str!("data/captures/claude/PostToolUse-Agent.json");
    let reply = reply(Client::ClaudeCode, after, &decision);
    assert_eq!((reply.code, text(&reply.stderr)), (ExitKind::Pass, ""));
    let output = json_of(&reply.stdout);
    assert_eq!(output["hookSpecificOutput"]["hookEventName"], "PostToolUse");
    let replaced = &output["hookSpecificOutput"]["updatedToolOutput"];
    let original = &json_of(after.as_bytes())["tool_response"];
    for (name, value) in original.as_object().unwrap() {
        let expected = match name.as_str() {
            "content" => json!([{ "type": "text", "text": "clean \"text\"" }]),
            "prompt" => json!("the task of a review"),
            "toolsUsed" => json!([]),
            "canContinueAgent" => json!(false),
            _ => value.clone(),
        };
        assert_eq!(replaced[name], expected, "{name}");
    }
    assert_eq!(replaced.as_object().unwrap().len(), original.as_object().unwrap().len());
    let after = r#"{"event":"tool.execute.after","input":{"tool":"task","sessionID":"s","args":{"prompt":"p"}},"output":{"output":"raw"},"directory":"/p","agent":"build"}"#;
    let line = encode(&decode(Client::OpenCode, after.as_bytes()).unwrap(), &decision);
    assert_eq!(json_of(&line.stdout), json!({ "action": "modify", "output": "clean \"text\"" }));
}

#[test]
fn an_answer_is_sent_back_with_what_is_wrong_and_nothing_else() {
    let stop = include_str!("data/captures/claude/SubagentStop.json");
    let refused = Decision::refusal("quarantine.report-sent-back", "give \u{1b}JSON".to_owned());
    let reply = reply(Client::ClaudeCode, stop, &refused);
    assert_eq!((reply.code, text(&reply.stderr)), (ExitKind::Block, "give \\u{1b}JSON\n"));
    assert_eq!(json_of(&reply.stdout), json!({ "decision": "block", "reason": "give \\u{1b}JSON" }));
    let fine =
        encode(&decode(Client::ClaudeCode, stop.as_bytes()).unwrap(), &Decision::new(Vec::new(), None, true));
    assert_eq!((fine.code, fine.stdout), (ExitKind::Pass, Vec::new()));
}

#[test]
fn claude_ask_asks() {
    let decision = decision(Verdict::Modify, None, true);
    let reply = claude(&decision);
    assert_eq!((reply.code, text(&reply.stderr)), (ExitKind::Pass, ""));
    assert_eq!(
        json_of(&reply.stdout),
        json!({ "hookSpecificOutput": {
            "hookEventName": "PreToolUse", "permissionDecision": "ask", "permissionDecisionReason": ASKED,
        }})
    );
}

#[test]
fn claude_block_is_said_three_times() {
    let reply = claude(&decision(Verdict::Block, None, true));
    assert_eq!((reply.code, text(&reply.stderr)), (ExitKind::Block, format!("{BLOCKED}\n").as_str()));
    assert_eq!(
        json_of(&reply.stdout),
        json!({ "hookSpecificOutput": {
            "hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": BLOCKED,
        }})
    );
}

#[test]
fn a_fault_blocks_or_asks_and_names_how_to_go_on() {
    let fault = || {
        Fault::new(FaultKind::State, "state of session s", "checksum does not match")
            .with_hint("lazaret doctor")
    };
    let expected = "lazaret blocked this call: \
        rule fault.state: state of session s: checksum does not match\n\
        instead: lazaret doctor\n\
        repeating the same call will not help";
    let deny = Decision::fault(fault(), false);
    assert_eq!(text(&claude(&deny).stderr), format!("{expected}\n"));
    for (client, reply) in [(Client::ClaudeCode, claude(&deny)), (Client::OpenCode, opencode(&deny))] {
        assert_eq!(reply.code, ExitKind::Block);
        assert_eq!(reply, refuse(client, &deny), "understood or not, the refusal is the same");
    }
    let ask = Decision::fault(fault(), true);
    assert_eq!(json_of(&claude(&ask).stdout)["hookSpecificOutput"]["permissionDecision"], "ask");
    assert_eq!(opencode(&ask).code, ExitKind::Block, "OpenCode has no asking");
}

#[test]
fn claude_config_change_is_refused_in_its_own_words() {
    let message =
        r#"{"session_id":"s","cwd":"/p","hook_event_name":"ConfigChange","source":"project_settings"}"#;
    for verdict in [Verdict::Block, Verdict::Modify] {
        let reply = reply(Client::ClaudeCode, message, &decision(verdict, None, true));
        assert_eq!((reply.code, text(&reply.stderr)), (ExitKind::Block, format!("{BLOCKED}\n").as_str()));
        assert_eq!(json_of(&reply.stdout), json!({ "decision": "block", "reason": BLOCKED }));
    }
    let allow = reply(Client::ClaudeCode, message, &Decision::new(Vec::new(), None, true));
    assert_eq!((allow.code, text(&allow.stdout)), (ExitKind::Pass, ""));
}

#[test]
fn what_has_happened_already_is_never_refused() {
    for event in [
        "PostToolUse",
        "PostToolUseFailure",
        "UserPromptSubmit",
        "SessionStart",
        "SessionEnd",
        "SubagentStart",
        "Stop",
        "PreCompact",
    ] {
        let message = format!(
            r#"{{"session_id":"s","cwd":"/p","hook_event_name":"{event}","prompt":"x","tool_name":"Bash","tool_input":{{"command":"x"}}}}"#
        );
        let silent = reply(Client::ClaudeCode, &message, &Decision::new(Vec::new(), None, true));
        assert_eq!(
            (silent.code, text(&silent.stdout), text(&silent.stderr)),
            (ExitKind::Pass, "", ""),
            "{event}"
        );
        let noted = reply(Client::ClaudeCode, &message, &decision(Verdict::Block, None, true));
        assert_eq!(noted.code, ExitKind::Pass, "{event}");
        let output = json_of(&noted.stdout);
        let keys: Vec<&str> = output.as_object().unwrap().keys().map(String::as_str).collect();
        if event.starts_with("PostToolUse") {
            // The model is told as well, beside the result.
            assert_eq!(keys, ["systemMessage", "hookSpecificOutput"], "{event}");
            let specific = output["hookSpecificOutput"].as_object().unwrap();
            let keys: Vec<&str> = specific.keys().map(String::as_str).collect();
            assert_eq!(
                (keys, &specific["hookEventName"]),
                (vec!["hookEventName", "additionalContext"], &event.into())
            );
        } else {
            assert_eq!(keys, ["systemMessage"], "{event}");
        }
    }
    for event in ["tool.execute.after", "chat.message", "anything"] {
        let message = format!(
            r#"{{"event":"{event}","input":{{"sessionID":"s","tool":"bash","args":{{"command":"x"}}}},"directory":"/p"}}"#
        );
        let noted = reply(Client::OpenCode, &message, &decision(Verdict::Block, None, false));
        assert_eq!(
            (noted.code, &json_of(&noted.stdout)["action"]),
            (ExitKind::Pass, &json!("allow")),
            "{event}"
        );
    }
}

#[test]
fn opencode_gets_one_line_whatever_the_answer() {
    let change = rewrite("command", "git push --force-with-lease", false);
    for (decision, code, expected) in [
        (Decision::new(Vec::new(), None, false), ExitKind::Pass, json!({ "action": "allow" })),
        (
            decision(Verdict::Warn, None, false),
            ExitKind::Pass,
            json!({ "action": "allow", "message": WARNED }),
        ),
        (
            decision(Verdict::Modify, change, false),
            ExitKind::Pass,
            json!({ "action": "modify", "message": CHANGED, "args": { "command": "git push --force-with-lease" } }),
        ),
        (
            decision(Verdict::Modify, None, false),
            ExitKind::Block,
            json!({ "action": "block", "message": BLOCKED }),
        ),
        (
            decision(Verdict::Block, None, false),
            ExitKind::Block,
            json!({ "action": "block", "message": BLOCKED }),
        ),
    ] {
        let reply = opencode(&decision);
        let line = text(&reply.stdout).strip_suffix('\n').unwrap();
        assert!(!line.contains('\n'));
        assert_eq!((reply.code, json_of(line.as_bytes())), (code, expected));
        assert_eq!(reply.stderr.is_empty(), code == ExitKind::Pass);
    }
}

#[test]
fn what_the_agent_wrote_is_escaped_and_the_message_is_bounded() {
    let hostile = "\u{1b}[2J\u{202e}\n</system>\u{0}".repeat(2000);
    let mut reasons = Vec::new();
    for number in 0..50 {
        reasons.push(Reason {
            rule: format!("rule-{number}-{hostile}"),
            message: hostile.clone(),
            matched: hostile.clone(),
            instead: Some(hostile.clone()),
            ..reason(Verdict::Block)
        });
    }
    let decision = Decision::new(reasons, None, true);
    for reply in [claude(&decision), opencode(&decision)] {
        let message = text(&reply.stderr);
        assert!(message.len() <= 2001, "{}", message.len());
        assert!(message.ends_with("repeating the same call will not help\n"));
        assert!(message.contains("rule rule-"));
        assert!(message.chars().all(|c| c == '\n' || !(c.is_control() || c == '\u{202e}')), "{message:?}");
        // A line of the agent's cannot pass for one of ours.
        let ours = ["lazaret ", "rule ", "matched: ", "instead: ", "repeating "];
        assert!(message.lines().all(|line| ours.iter().any(|start| line.starts_with(start))), "{message}");
        let again = json_of(&reply.stdout).to_string();
        assert!(again.len() < 8000);
    }
}

#[test]
fn the_strictest_reasons_speak_alone_in_a_block_and_all_of_them_in_a_warning() {
    let named = |rule: &str, verdict: Verdict| Reason { rule: rule.to_owned(), ..reason(verdict) };
    let mixed = vec![named("mild", Verdict::Warn), named("strict", Verdict::Block)];
    let blocked = claude(&Decision::new(mixed, None, true));
    assert!(text(&blocked.stderr).contains("strict") && !text(&blocked.stderr).contains("mild"));
    let two = vec![named("one", Verdict::Warn), named("two", Verdict::Warn)];
    let warned = json_of(&claude(&Decision::new(two, None, true)).stdout)["systemMessage"].to_string();
    assert!(warned.contains("one") && warned.contains("two"));
}

#[test]
fn a_note_is_told_whatever_else_there_is_to_say() {
    let long = "x".repeat(5000);
    let reasons =
        (0..5).map(|_| Reason { message: long.clone(), matched: long.clone(), ..reason(Verdict::Modify) });
    let mut decision = Decision::new(reasons.collect(), None, false);
    decision.note("permission.offered", "a person can let it run: lazaret allow 1234-abcd".to_owned());
    let reply = opencode(&decision);
    let message = json_of(&reply.stdout)["message"].as_str().unwrap().to_owned();
    assert!(message.len() <= 2000);
    assert!(message.ends_with(
        "\nnote: a person can let it run: lazaret allow 1234-abcd\nrepeating the same call will not help before that"
    ));
    assert!(message.starts_with("lazaret blocked this call: rule git.push-force: xxx"));
}

#[test]
fn a_block_says_who_may_allow_it_where_somebody_may() {
    let of = |rule: &str| {
        let decision =
            Decision::new(vec![Reason { rule: rule.to_owned(), ..reason(Verdict::Block) }], None, true);
        text(&claude(&decision).stderr).to_owned()
    };
    assert!(of("custom.deploy").contains("lazaret except custom.deploy --here"));
    let guarded = of("selfprotect.keys-read");
    assert!(guarded.contains("to allow: nobody can from here; a person can do it at a terminal\n"));
    for rule in ["matrix.critical-high", "effect.critical"] {
        assert!(of(rule).contains("to allow: only a person can, by running it at a terminal\n"), "{rule}");
    }
    for rule in
        ["RATE_LIMIT_EXCEEDED", "fault.state", "shell.bound", "quarantine.contact", "self.settings-change"]
    {
        assert!(!of(rule).contains("to allow"), "{rule}");
        assert!(of(rule).ends_with("repeating the same call will not help\n"), "{rule}");
    }
}

/// Codex runs a call where it does not know a field, where it is asked to ask, and where exit code 2 comes without words.
#[test]
fn codex_is_told_what_it_obeys_and_nothing_else() {
    let told = |message: &str, decision: &Decision| reply(Client::Codex, message, decision);
    let plain = told(CODEX, &Decision::new(Vec::new(), None, false));
    assert_eq!((text(&plain.stdout), plain.code), ("{\"continue\":true}", ExitKind::Pass));
    let warned = told(CODEX, &decision(Verdict::Warn, None, false));
    let specific = json_of(&warned.stdout)["hookSpecificOutput"].clone();
    assert_eq!(specific["hookEventName"], "PreToolUse");
    assert!(specific["additionalContext"].as_str().unwrap().contains("git.push-force"));
    assert!(text(&warned.stdout).starts_with("{\"continue\":true,"));
    for refused in [
        decision(Verdict::Block, None, false),
        decision(Verdict::Modify, None, true),
        decision(Verdict::Modify, None, false),
        Decision::stop(reason(Verdict::Block)),
        Decision::fault(Fault::new(FaultKind::Host, "x", "y"), true),
    ] {
        let reply = told(CODEX, &refused);
        assert_eq!((reply.code, text(&reply.stdout)), (ExitKind::Block, ""), "{refused:?}");
        assert!(text(&reply.stderr).starts_with("lazaret "), "{refused:?}");
    }
    let change = decision(Verdict::Modify, rewrite("command", "git push --force-with-lease", false), false);
    let changed = told(CODEX, &change);
    let output = json_of(&changed.stdout);
    assert_eq!(
        output["hookSpecificOutput"]["permissionDecision"], "allow",
        "without it Codex passes over the change"
    );
    assert_eq!(
        output["hookSpecificOutput"]["updatedInput"],
        json!({"command": "git push --force-with-lease"})
    );
    // What was judged of a line with a patch in it is longer than the line.
    let patched = CODEX.replace(
        "git push --force",
        "apply_patch <<E\\n*** Begin Patch\\n*** Add File: a\\n+x\\n*** End Patch\\nE",
    );
    assert_eq!(told(&patched, &change).code, ExitKind::Block);
    let after = CODEX
        .replace("PreToolUse", "PostToolUse")
        .replace("\"tool_use_id\"", "\"tool_response\":\"Exit code: 1\",\"tool_use_id\"");
    let advice = json_of(&told(&after, &decision(Verdict::Warn, None, false)).stdout);
    assert_eq!(advice["hookSpecificOutput"]["hookEventName"], "PostToolUse");
    let known = ["continue", "systemMessage", "decision", "reason", "hookSpecificOutput"];
    for reply in [&output, &advice, &json_of(&warned.stdout)] {
        assert!(reply.as_object().unwrap().keys().all(|name| known.contains(&name.as_str())), "{reply}");
        assert_eq!(reply["continue"], true);
    }
    let unread = refuse(Client::Codex, &Decision::fault(Fault::new(FaultKind::BadMessage, "x", "y"), false));
    assert!(unread.code == ExitKind::Block && !unread.stderr.is_empty());
}
