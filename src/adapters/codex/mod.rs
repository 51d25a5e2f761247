//! Codex's hook messages and replies. A reply that Codex does not understand to the last field lets the call run, so only what it
//! was seen to obey is said: a block is exit code 2 with words on standard error, and everything else one object that begins with
//! `{"continue":true`, for which the registered command looks.

pub mod registration;
pub mod stands;

use serde::Serialize;
use serde_json::value::RawValue;

use super::json::{Object, bad, missing};
use super::{
    Decoded, ExitKind, Reply, Spoken, agent_id, call_id, directory, message, need, optional, session_id,
    vocabulary,
};
use crate::domain::{
    Asking, Client, Decision, Enforcement, Event, Fault, Outcome, Request, Rewrite, Subject, Tool, ToolCall,
    clip, escape,
};

const CLIENT: Client = Client::Codex;
const BEFORE: &str = "PreToolUse";
const AFTER: &str = "PostToolUse";
const START: &str = "SessionStart";
/// Events with a call in which nothing is decided: before it runs, `PreToolUse` tells of it.
const NO_SAY: &[&str] = &["PermissionRequest"];

/// Codex's tools by the names that its hooks hand over; those of agents stand behind the name of their group. What is typed into a
/// running program (`write_stdin`) comes to no hook.
pub(super) fn tool(name: &str) -> Tool {
    const GROUPS: [&str; 3] = ["collaboration", "multi_agent_v1", "clock__"];
    let bare = GROUPS.iter().find_map(|group| name.strip_prefix(group)).unwrap_or(name);
    match bare {
        "Bash" => Tool::Bash,
        "apply_patch" => Tool::Edit,
        "view_image" => Tool::Read,
        "spawn_agent" => Tool::Agent,
        // Plans, goals, questions, and agents of this session whose calls are reviewed.
        "update_plan"
        | "request_user_input"
        | "get_goal"
        | "create_goal"
        | "update_goal"
        | "curr_time"
        | "sleep"
        | "tool_search"
        | "wait"
        | "wait_agent"
        | "list_agents"
        | "close_agent"
        | "resume_agent"
        | "interrupt_agent"
        | "send_input"
        | "send_message"
        | "followup_task"
        | "list_mcp_resources"
        | "list_mcp_resource_templates" => Tool::Internal(name.to_owned()),
        "read_mcp_resource" => Tool::Mcp { server: "codex".to_owned(), tool: bare.to_owned() },
        _ => vocabulary::claude_mcp(name).unwrap_or_else(|| Tool::Unknown(name.to_owned())),
    }
}

/// The message that Codex would send before a call.
pub(super) fn spoken(call: &Spoken<'_>) -> String {
    let head = serde_json::json!({
        "session_id": call.session, "turn_id": "turn", "cwd": call.cwd, "hook_event_name": BEFORE,
        "permission_mode": call.mode, "tool_name": call.tool, "tool_use_id": call.id, "agent_id": call.agent,
        "agent_type": call.agent_type,
    });
    super::with_raw(&head, "tool_input", call.input)
}

pub(super) fn decode<'a>(message: &Object<'a>) -> Result<Decoded<'a>, Fault> {
    message.check_depth(&["tool_input"])?;
    let name = need(message, "hook_event_name")?;
    let cwd = directory(message, "cwd")?;
    let subject = Subject {
        client: CLIENT,
        session: session_id(&need(message, "session_id")?, "session_id")?,
        agent: agent_id(message, "agent_id")?,
        agent_type: optional(message, "agent_type")?,
    };
    let (event, raw_input) = event(message, &name, &cwd)?;
    let prompt_id = optional(message, "turn_id")?;
    let transcript = optional(message, "transcript_path")?;
    let raw_response = message.raw("tool_response").unwrap_or_default();
    // Codex takes `ask` for an error, and runs the call.
    let (asking, background) = (Asking::No, false);
    Ok(Decoded {
        request: Request { subject, cwd, transcript, prompt_id, asking, background, event },
        raw_input,
        raw_response,
    })
}

fn event<'a>(message: &Object<'a>, name: &str, cwd: &str) -> Result<(Event, &'a str), Fault> {
    let text = |field: &str| Ok::<String, Fault>(optional(message, field)?.unwrap_or_default());
    let event = match name {
        BEFORE => {
            let (call, raw) = call(message, cwd)?;
            return Ok((Event::BeforeTool(call), raw));
        }
        AFTER => {
            let (call, raw) = call(message, cwd)?;
            let error = failure(message.raw("tool_response").unwrap_or_default());
            let outcome = if error.is_some() { Outcome::Failed } else { Outcome::Done };
            return Ok((Event::AfterTool { call, outcome, error, duration_ms: None, report: None }, raw));
        }
        "UserPromptSubmit" => {
            Event::Prompt { text: optional(message, "prompt")?.ok_or_else(|| missing("prompt"))? }
        }
        START => Event::SessionStart { source: text("source")? },
        "SessionEnd" => Event::SessionEnd { reason: text("reason")? },
        "SubagentStart" => Event::SubagentStart,
        "SubagentStop" => Event::SubagentStop { message: optional(message, "last_assistant_message")? },
        other if message.raw("tool_input").is_some() && !NO_SAY.contains(&other) => {
            let why = format!("event {} is not known, and holds a call of a tool", escape(&clip(other, 64)));
            return Err(bad(why));
        }
        other => Event::Other { name: other.to_owned() },
    };
    Ok((event, ""))
}

fn call<'a>(message: &Object<'a>, cwd: &str) -> Result<(ToolCall, &'a str), Fault> {
    let name = need(message, "tool_name")?;
    let raw = message.raw("tool_input").ok_or_else(|| missing("tool_input"))?;
    let id = call_id(message, "tool_use_id")?;
    Ok((vocabulary::call(CLIENT, &name, raw, cwd, id)?, raw))
}

/// Why a call failed, as far as its result says so: of a command Codex hands over what it printed and not how it ended.
fn failure(raw: &str) -> Option<String> {
    if let Ok(text) = serde_json::from_str::<String>(raw) {
        let code = text.strip_prefix("Exit code: ").and_then(|rest| rest.lines().next());
        return code.filter(|code| *code != "0").map(|_| text.clone());
    }
    let result = Object::parse(raw, "tool_response").ok()?;
    (result.raw("isError") == Some("true")).then(|| "the server says that it failed".to_owned())
}

/// What goes to standard output: no field but those that Codex knows of the event.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Output<'a> {
    #[serde(rename = "continue")]
    go_on: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_message: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hook_specific_output: Option<Specific<'a>>,
}

impl Output<'_> {
    const NOTHING: Output<'static> = Output {
        go_on: true,
        system_message: None,
        decision: None,
        reason: None,
        hook_specific_output: None,
    };
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Specific<'a> {
    hook_event_name: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_decision: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_input: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    additional_context: Option<&'a str>,
}

pub(super) fn encode(decoded: &Decoded<'_>, decision: &Decision) -> Reply {
    match &decoded.request.event {
        Event::BeforeTool(_) => before_tool(decoded, decision),
        Event::AfterTool { .. } => after_tool(decision),
        Event::SessionStart { .. } => session_start(decision),
        Event::Prompt { .. }
        | Event::SessionEnd { .. }
        | Event::SubagentStart
        | Event::SubagentStop { .. }
        | Event::ConfigChange { .. }
        | Event::Other { .. } => told(decision, message::noted, None),
    }
}

fn before_tool(decoded: &Decoded<'_>, decision: &Decision) -> Reply {
    match decision.enforcement() {
        Enforcement::Proceed | Enforcement::Notice => told(decision, message::warning, Some(BEFORE)),
        Enforcement::Rewrite => decision
            .rewrite()
            .and_then(|rewrite| rewritten(decoded, decision, rewrite))
            .unwrap_or_else(|| deny(&message::blocked(decision))),
        // There is no asking.
        Enforcement::Ask | Enforcement::Deny => deny(&message::blocked(decision)),
        Enforcement::Stop => deny(&message::stopped(decision)),
    }
}

fn rewritten(decoded: &Decoded<'_>, decision: &Decision, rewrite: &Rewrite) -> Option<Reply> {
    // What was judged holds more lines than the call has.
    if vocabulary::holds_patch(decoded.raw_input) {
        return None;
    }
    let changed = vocabulary::rewritten(CLIENT, decoded.raw_input, rewrite)?;
    let updated: &RawValue = serde_json::from_str(&changed.whole).ok()?;
    let text = message::changed(decision, rewrite);
    let text = rewrite.told.then_some(text.as_str());
    let specific = Specific {
        hook_event_name: BEFORE,
        // Without it Codex passes over the change.
        permission_decision: Some("allow"),
        updated_input: Some(updated),
        additional_context: text,
    };
    let output = Output { system_message: text, hook_specific_output: Some(specific), ..Output::NOTHING };
    Some(Reply::pass(serde_json::to_vec(&output).ok()?))
}

/// Beside the result of a call; in its place, where it is to be kept back.
fn after_tool(decision: &Decision) -> Reply {
    match &decision.replacement {
        Some(text) => pass(&Output { decision: Some("block"), reason: Some(text), ..Output::NOTHING }),
        None => told(decision, message::advice, Some(AFTER)),
    }
}

/// What the model is told when it begins anew, and the person else.
fn session_start(decision: &Decision) -> Reply {
    let remembers = decision.reasons().first().is_some_and(|reason| reason.rule == "session.remembered");
    if remembers {
        told(decision, message::reminder, Some(START))
    } else {
        told(decision, message::noted, None)
    }
}

/// Nothing is refused; the person is told, and the model where the event takes something for it.
fn told(decision: &Decision, words: fn(&Decision) -> String, event: Option<&'static str>) -> Reply {
    if decision.enforcement() == Enforcement::Proceed {
        return pass(&Output::NOTHING);
    }
    let text = words(decision);
    let specific = event.map(|hook_event_name| Specific {
        hook_event_name,
        permission_decision: None,
        updated_input: None,
        additional_context: Some(&text),
    });
    pass(&Output { system_message: Some(&text), hook_specific_output: specific, ..Output::NOTHING })
}

fn pass(output: &Output<'_>) -> Reply {
    serde_json::to_vec(output).map_or_else(|_| deny("lazaret could not write its answer"), Reply::pass)
}

/// A block. On standard output nothing: with words there Codex would look for an answer in them.
pub(super) fn deny(text: &str) -> Reply {
    Reply { stdout: Vec::new(), stderr: format!("{text}\n").into_bytes(), code: ExitKind::Block }
}
