//! Claude Code's hook messages and replies.

use serde::Serialize;
use serde_json::value::RawValue;

use super::json::{Object, bad, missing};
use super::{
    Decoded, ExitKind, Reply, Spoken, agent_id, call_id, directory, message, need, optional, report,
    session_id, vocabulary,
};
use crate::domain::{
    Asking, Client, Decision, Enforcement, Event, Fault, Outcome, Request, Rewrite, Subject, Tool, ToolCall,
    clip, escape,
};

const CLIENT: Client = Client::ClaudeCode;
const BEFORE: &str = "PreToolUse";
const AFTER: &str = "PostToolUse";
const AFTER_FAILURE: &str = "PostToolUseFailure";
const START: &str = "SessionStart";
/// Events that have no say in whether a call runs: before it does, `PreToolUse` tells of it.
const NO_SAY: &[&str] = &[
    "PermissionRequest",
    "PermissionDenied",
    "PostToolBatch",
    "Stop",
    "StopFailure",
    "PreCompact",
    "PostCompact",
    "InstructionsLoaded",
    "MessageDisplay",
    "Notification",
];

pub(super) fn spoken(call: &Spoken<'_>) -> String {
    let head = serde_json::json!({
        "session_id": call.session, "cwd": call.cwd, "hook_event_name": BEFORE, "tool_name": call.tool,
        "tool_use_id": call.id, "agent_id": call.agent, "agent_type": call.agent_type, "permission_mode": call.mode,
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
    let prompt_id = optional(message, "prompt_id")?;
    let transcript = optional(message, "transcript_path")?;
    let asking = asking(optional(message, "permission_mode")?.as_deref());
    let raw_response = message.raw("tool_response").unwrap_or_default();
    let background = is_left_running(&event, raw_input, raw_response);
    Ok(Decoded {
        request: Request { subject, cwd, transcript, prompt_id, asking, background, event },
        raw_input,
        raw_response,
    })
}

/// Whether a call works on after its end: told so, moved to the background by the client, or one that watches.
fn is_left_running(event: &Event, input: &str, response: &str) -> bool {
    let (Event::BeforeTool(call) | Event::AfterTool { call, .. }) = event else { return false };
    let told = || {
        let field = Object::parse(input, "tool_input").ok().and_then(|input| input.raw("run_in_background"));
        field.is_some_and(|value| value != "false" && value != "null")
    };
    call.tool == Tool::Monitor
        || (input.contains("run_in_background") || input.contains('\\')) && told()
        || response.contains("\"backgroundTaskId\"")
}

fn event<'a>(message: &Object<'a>, name: &str, cwd: &str) -> Result<(Event, &'a str), Fault> {
    let text = |field: &str| Ok::<String, Fault>(optional(message, field)?.unwrap_or_default());
    let event = match name {
        BEFORE => {
            let (call, raw) = call(message, cwd)?;
            return Ok((Event::BeforeTool(call), raw));
        }
        AFTER | AFTER_FAILURE => {
            let (call, raw) = call(message, cwd)?;
            let outcome = if name == AFTER { Outcome::Done } else { Outcome::Failed };
            let report = (name == AFTER && call.tool == Tool::Agent)
                .then(|| report::of_claude(message.raw("tool_response")));
            let error = optional(message, "error")?;
            let duration_ms = message.raw("duration_ms").and_then(|raw| raw.parse().ok());
            return Ok((Event::AfterTool { call, outcome, error, duration_ms, report }, raw));
        }
        "UserPromptSubmit" => {
            Event::Prompt { text: optional(message, "prompt")?.ok_or_else(|| missing("prompt"))? }
        }
        "SessionStart" => Event::SessionStart { source: text("source")? },
        "SessionEnd" => Event::SessionEnd { reason: text("reason")? },
        "SubagentStart" => Event::SubagentStart,
        "SubagentStop" => Event::SubagentStop { message: optional(message, "last_assistant_message")? },
        "ConfigChange" => {
            Event::ConfigChange { source: text("source")?, path: optional(message, "file_path")? }
        }
        // A call that is told of under a name of which we do not know whether it is before or after.
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

/// Whether an `ask` is really put to a person in that permission mode. With all permissions bypassed the client was seen to run
/// a call that was to be asked about; modes that ask nobody, or that we do not know, count as that. In `auto` a terminal asks.
fn asking(permission_mode: Option<&str>) -> Asking {
    match permission_mode {
        None | Some("default" | "plan" | "acceptEdits") => Asking::Yes,
        Some("auto") => Asking::AtTerminal,
        Some(_) => Asking::No,
    }
}

/// What goes to standard output. Claude Code drops the whole of it, and lets the call run, when it is not one JSON
/// object that names the event.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Output<'a> {
    #[serde(rename = "continue", skip_serializing_if = "Option::is_none")]
    go_on: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stop_reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_message: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hook_specific_output: Option<Specific<'a>>,
}

/// The part of the reply that only calls have, before or after they run.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Specific<'a> {
    hook_event_name: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_decision: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_decision_reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_input: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    additional_context: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_tool_output: Option<serde_json::Value>,
}

pub(super) fn encode(decoded: &Decoded<'_>, decision: &Decision) -> Reply {
    match &decoded.request.event {
        Event::BeforeTool(_) => before_tool(decoded, decision),
        Event::ConfigChange { .. } => config_change(decision),
        Event::AfterTool { .. } => after_tool(decoded, decision),
        Event::SubagentStop { .. } => subagent_stop(decision),
        Event::SessionStart { .. } => session_start(decision),
        Event::Prompt { .. } | Event::SessionEnd { .. } | Event::SubagentStart | Event::Other { .. } => {
            notice(decision)
        }
    }
}

fn before_tool(decoded: &Decoded<'_>, decision: &Decision) -> Reply {
    match decision.enforcement() {
        Enforcement::Proceed => Reply::pass(Vec::new()),
        Enforcement::Notice => {
            let text = message::warning(decision);
            let specific = Specific { additional_context: Some(&text), ..Specific::default() };
            pass_or_deny(Output { system_message: Some(&text), ..Output::default() }, specific, decision)
        }
        Enforcement::Ask => {
            let text = message::question(decision);
            let specific = Specific {
                permission_decision: Some("ask"),
                permission_decision_reason: Some(&text),
                ..Specific::default()
            };
            pass_or_deny(Output::default(), specific, decision)
        }
        Enforcement::Rewrite => {
            decision.rewrite().and_then(|rewrite| rewritten(decoded, decision, rewrite)).unwrap_or_else(
                // A rewrite that has no place in this call leaves the call as dangerous as it was.
                || deny(&message::blocked(decision), None),
            )
        }
        Enforcement::Deny => {
            let text = message::blocked(decision);
            // In a subagent it ends the subagent, and the one that started it goes on.
            deny(&text, decision.ends_agent().then_some(text.as_str()))
        }
        Enforcement::Stop => {
            let text = message::stopped(decision);
            deny(&text, Some(&text))
        }
    }
}

fn rewritten(decoded: &Decoded<'_>, decision: &Decision, rewrite: &Rewrite) -> Option<Reply> {
    let changed = vocabulary::rewritten(CLIENT, decoded.raw_input, rewrite)?;
    let updated: &RawValue = serde_json::from_str(&changed.whole).ok()?;
    let text = message::changed(decision, rewrite);
    let allow = rewrite.needs_permission.then_some("allow");
    let specific = Specific {
        permission_decision: allow,
        permission_decision_reason: allow.map(|_| text.as_str()),
        updated_input: Some(updated),
        additional_context: rewrite.told.then_some(text.as_str()),
        ..Specific::default()
    };
    let output = Output { system_message: rewrite.told.then_some(&text), ..Output::default() };
    Some(pass_or_deny(output, specific, decision))
}

/// The result that the model gets instead, or what it is told beside the one it has.
fn after_tool(decoded: &Decoded<'_>, decision: &Decision) -> Reply {
    if let Some(text) = &decision.replacement {
        return Reply::pass(replaced(decoded.raw_response, text));
    }
    if decision.enforcement() == Enforcement::Proceed {
        return Reply::pass(Vec::new());
    }
    let failed = matches!(decoded.request.event, Event::AfterTool { outcome: Outcome::Failed, .. });
    let text = message::advice(decision);
    let specific = Specific {
        hook_event_name: if failed { AFTER_FAILURE } else { AFTER },
        additional_context: Some(&text),
        ..Specific::default()
    };
    let stop = (decision.enforcement() == Enforcement::Stop).then_some(text.as_str());
    let output = Output {
        go_on: stop.map(|_| false),
        stop_reason: stop,
        system_message: Some(&text),
        hook_specific_output: Some(specific),
        ..Output::default()
    };
    Reply::pass(serde_json::to_vec(&output).unwrap_or_default())
}

fn replaced(raw_response: &str, text: &str) -> Vec<u8> {
    let specific = Specific {
        hook_event_name: AFTER,
        updated_tool_output: Some(report::for_claude(raw_response, text)),
        ..Specific::default()
    };
    let output = Output { hook_specific_output: Some(specific), ..Output::default() };
    serde_json::to_vec(&output).unwrap_or_default()
}

/// Keeps back what may be a report. Should it be a call after all, the exit code blocks that, whatever the JSON says.
pub(super) fn refuse_result(decision: &Decision) -> Reply {
    let text = decision.replacement.as_deref().unwrap_or_default();
    let stderr = format!("{}\n", message::noted(decision)).into_bytes();
    Reply { stdout: replaced("", text), stderr, code: ExitKind::Block }
}

/// Ends the subagent's work, or sends its answer back to it.
fn subagent_stop(decision: &Decision) -> Reply {
    match decision.enforcement() {
        Enforcement::Proceed | Enforcement::Notice | Enforcement::Rewrite | Enforcement::Ask => {
            notice(decision)
        }
        Enforcement::Deny | Enforcement::Stop => {
            let text = message::sent_back(decision);
            block(&Output { decision: Some("block"), reason: Some(&text), ..Output::default() }, &text)
        }
    }
}

/// Exit 0 with a JSON reply; a block, should there be no JSON.
fn pass_or_deny(output: Output<'_>, specific: Specific<'_>, decision: &Decision) -> Reply {
    let specific = Specific { hook_event_name: BEFORE, ..specific };
    let output = Output { hook_specific_output: Some(specific), ..output };
    serde_json::to_vec(&output).map_or_else(|_| deny(&message::blocked(decision), None), Reply::pass)
}

/// A block, said three times: JSON, standard error and exit code each suffice alone. `stop` ends the turn as well,
/// which alone would let this call run.
pub(super) fn deny(text: &str, stop: Option<&str>) -> Reply {
    let specific = Specific {
        hook_event_name: BEFORE,
        permission_decision: Some("deny"),
        permission_decision_reason: Some(text),
        ..Specific::default()
    };
    let output = Output {
        go_on: stop.map(|_| false),
        stop_reason: stop,
        hook_specific_output: Some(specific),
        ..Output::default()
    };
    block(&output, text)
}

fn config_change(decision: &Decision) -> Reply {
    match decision.enforcement() {
        Enforcement::Proceed | Enforcement::Notice => notice(decision),
        // There is no asking and no rewriting here.
        Enforcement::Rewrite | Enforcement::Ask | Enforcement::Deny | Enforcement::Stop => {
            let text = message::blocked(decision);
            block(&Output { decision: Some("block"), reason: Some(&text), ..Output::default() }, &text)
        }
    }
}

fn block(output: &Output<'_>, text: &str) -> Reply {
    let stdout = serde_json::to_vec(output).unwrap_or_default();
    Reply { stdout, stderr: format!("{text}\n").into_bytes(), code: ExitKind::Block }
}

/// What the model is told when it begins anew.
fn session_start(decision: &Decision) -> Reply {
    // Anything else is for the person.
    if decision.reasons().first().is_none_or(|reason| reason.rule != "session.remembered") {
        return notice(decision);
    }
    let text = message::reminder(decision);
    let specific =
        Specific { hook_event_name: START, additional_context: Some(&text), ..Specific::default() };
    let output = Output { hook_specific_output: Some(specific), ..Output::default() };
    Reply::pass(serde_json::to_vec(&output).unwrap_or_default())
}

/// For events that report what happened: nothing to refuse, but the person may be told.
fn notice(decision: &Decision) -> Reply {
    if decision.enforcement() == Enforcement::Proceed {
        return Reply::pass(Vec::new());
    }
    let text = message::noted(decision);
    let output = Output { system_message: Some(&text), ..Output::default() };
    Reply::pass(serde_json::to_vec(&output).unwrap_or_default())
}
