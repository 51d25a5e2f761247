//! The messages of our OpenCode plugin, and the replies it obeys. Which hook of which OpenCode they stand for is the
//! plugin's affair.

use serde::Serialize;
use serde_json::value::RawValue;

use super::json::{Object, bad, missing};
use super::{
    Decoded, ExitKind, Reply, Spoken, call_id, directory, message, need, optional, report, session_id,
    vocabulary,
};
use crate::domain::{
    AgentId, AgentReport, Asking, Client, Decision, Enforcement, Event, Fault, Outcome, Request, Rewrite,
    Subject, Tool, ToolCall,
};

const CLIENT: Client = Client::OpenCode;

pub(super) fn spoken(call: &Spoken<'_>) -> String {
    let head = serde_json::json!({
        "event": "tool.execute.before", "directory": call.cwd, "agent": call.agent_type,
        "root": call.agent.map(|_| call.session),
        "input": {"tool": call.tool, "sessionID": call.agent.unwrap_or(call.session), "callID": call.id},
    });
    super::with_raw(&head, "output", &format!("{{\"args\":{}}}", call.input))
}

pub(super) fn decode<'a>(message: &Object<'a>) -> Result<Decoded<'a>, Fault> {
    message.check_depth(&["input", "output"])?;
    let name = need(message, "event")?;
    let cwd = directory(message, "directory")?;
    let input = message.object("input")?.ok_or_else(|| missing("input"))?;
    let output = message.object("output")?;
    input.check_depth(&["args"])?;
    if let Some(output) = &output {
        output.check_depth(&["args"])?;
    }
    let (event, raw_input, session) = match name.as_str() {
        "tool.execute.before" => {
            let (call, raw) = call(&input, output.as_ref(), &cwd)?;
            (Event::BeforeTool(call), raw, need(&input, "sessionID")?)
        }
        "tool.execute.after" => {
            let (call, raw) = call(&input, Some(&input), &cwd)?;
            let args = input.object("args").ok().flatten();
            (after(call, args, output.as_ref())?, raw, need(&input, "sessionID")?)
        }
        "chat.message" => {
            let text = output.as_ref().map_or(Ok(String::new()), prompt)?;
            (Event::Prompt { text }, "", need(&input, "sessionID")?)
        }
        "experimental.session.compacting" => {
            (Event::SessionStart { source: "compact".to_owned() }, "", need(&input, "sessionID")?)
        }
        "event" => {
            let (event, session) = bus_event(&input, message.raw("root").is_some())?;
            (event, "", session)
        }
        other => (Event::Other { name: other.to_owned() }, "", need(&input, "sessionID")?),
    };
    let subject = subject(message, &session)?;
    let prompt_id = optional(message, "prompt")?;
    let request =
        Request { subject, cwd, transcript: None, prompt_id, asking: Asking::No, background: false, event };
    Ok(Decoded { request, raw_input, raw_response: "" })
}

/// OpenCode gives a subagent a session of its own. With the session at the root known, that is the session, as in
/// Claude Code, and the subagent's own is the agent's id.
fn subject(message: &Object<'_>, own: &str) -> Result<Subject, Fault> {
    let root = optional(message, "root")?.filter(|root| root != own);
    let agent = match &root {
        Some(_) => Some(AgentId::new(own).ok_or_else(|| super::bad_id("sessionID"))?),
        None => None,
    };
    Ok(Subject {
        client: CLIENT,
        session: session_id(root.as_deref().unwrap_or(own), "sessionID")?,
        agent,
        agent_type: optional(message, "agent")?,
    })
}

fn call<'a>(
    input: &Object<'a>,
    holder: Option<&Object<'a>>,
    cwd: &str,
) -> Result<(ToolCall, &'a str), Fault> {
    let name = need(input, "tool")?;
    let raw = holder.and_then(|holder| holder.raw("args")).ok_or_else(|| missing("args"))?;
    let id = call_id(input, "callID")?;
    Ok((vocabulary::call(CLIENT, &name, raw, cwd, id)?, raw))
}

/// How a call ended. A shell command that ended with another exit code than 0 has failed, as in Claude Code.
fn after(call: ToolCall, args: Option<Object<'_>>, output: Option<&Object<'_>>) -> Result<Event, Fault> {
    let mut error = None;
    if let Some(output) = output {
        error = optional(output, "error")?;
        let exit = match output.object("metadata") {
            Ok(Some(metadata)) => metadata.raw("exit").filter(|code| *code != "0"),
            _ => None,
        };
        if let (None, Some(code)) = (&error, exit) {
            error = Some(format!("Exit code {code}\n{}", optional(output, "output")?.unwrap_or_default()));
        }
    }
    let outcome = if error.is_some() { Outcome::Failed } else { Outcome::Done };
    let report = (call.tool == Tool::Agent).then(|| {
        let report = report::of_opencode(args, output);
        AgentReport { completed: report.completed && outcome == Outcome::Done, ..report }
    });
    Ok(Event::AfterTool { call, outcome, error, duration_ms: None, report })
}

/// The text of a message: its parts, without what plugins and the client itself put in.
fn prompt(output: &Object<'_>) -> Result<String, Fault> {
    let Some(raw) = output.raw("parts") else { return Ok(String::new()) };
    let parts: Vec<&RawValue> = serde_json::from_str(raw).map_err(|_| bad("field parts: expected a list"))?;
    let mut text = String::new();
    for part in parts {
        let part = Object::parse(part.get(), "part")?;
        if part.raw("type") != Some("\"text\"") || part.raw("synthetic") == Some("true") {
            continue;
        }
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&part.text("text")?.unwrap_or_default());
    }
    Ok(text)
}

/// An event of OpenCode's bus, with the session it is about; `child` when that is known to be a subagent's.
fn bus_event(input: &Object<'_>, child: bool) -> Result<(Event, String), Fault> {
    let event = input.object("event")?.ok_or_else(|| missing("event"))?;
    let kind = need(&event, "type")?;
    let properties = event.object("properties")?.ok_or_else(|| missing("properties"))?;
    let info = properties.object("info")?;
    let session = match (properties.text("sessionID")?, &info) {
        (Some(id), _) => id.into_owned(),
        (None, Some(info)) => need(info, "id")?,
        (None, None) => return Err(missing("sessionID")),
    };
    let child = child || info.as_ref().is_some_and(|info| info.raw("parentID").is_some());
    let event = match kind.as_str() {
        "session.created" if child => Event::SubagentStart,
        "session.created" => Event::SessionStart { source: "startup".to_owned() },
        "session.idle" | "session.deleted" if child => Event::SubagentStop { message: None },
        "session.deleted" => Event::SessionEnd { reason: "deleted".to_owned() },
        other => Event::Other { name: other.to_owned() },
    };
    Ok((event, session))
}

/// The line that the plugin reads. It takes silence for a failure, so there always is one.
#[derive(Debug, Serialize)]
struct Line<'a> {
    action: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
    /// The arguments that change, by OpenCode's names for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    args: Option<std::collections::BTreeMap<&'a str, &'a RawValue>>,
    /// What takes the place of the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<&'a str>,
    /// The session is stopped: its run is to end.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stop: bool,
}

impl<'a> Line<'a> {
    fn new(action: &'static str, message: Option<&'a str>) -> Line<'a> {
        Line { action, message, args: None, output: None, stop: false }
    }
}

pub(super) fn encode(decoded: &Decoded<'_>, decision: &Decision) -> Reply {
    let Event::BeforeTool(_) = decoded.request.event else {
        if let Some(text) = &decision.replacement {
            return pass(&Line { output: Some(text), ..Line::new("modify", None) });
        }
        // Reports what happened: nothing to refuse.
        let said = match &decoded.request.event {
            Event::AfterTool { .. } => message::advice,
            Event::SessionStart { source } if source == "compact" => message::reminder,
            Event::BeforeTool(_)
            | Event::Prompt { .. }
            | Event::SessionStart { .. }
            | Event::SessionEnd { .. }
            | Event::SubagentStart
            | Event::SubagentStop { .. }
            | Event::ConfigChange { .. }
            | Event::Other { .. } => message::noted,
        };
        let text = (decision.enforcement() != Enforcement::Proceed).then(|| said(decision));
        let stop = decision.enforcement() == Enforcement::Stop;
        return pass(&Line { stop, ..Line::new("allow", text.as_deref()) });
    };
    match decision.enforcement() {
        Enforcement::Proceed => pass(&Line::new("allow", None)),
        Enforcement::Notice => {
            let text = message::warning(decision);
            pass(&Line::new("allow", Some(&text)))
        }
        Enforcement::Rewrite => decision
            .rewrite()
            .and_then(|rewrite| rewritten(decoded, decision, rewrite))
            .unwrap_or_else(|| block(&message::blocked(decision))),
        // OpenCode cannot ask.
        Enforcement::Ask | Enforcement::Deny => block(&message::blocked(decision)),
        // Should the plugin not end the run, the state refuses what comes after.
        Enforcement::Stop => refuse(&message::stopped(decision), true),
    }
}

fn rewritten(decoded: &Decoded<'_>, decision: &Decision, rewrite: &Rewrite) -> Option<Reply> {
    let changed = vocabulary::rewritten(CLIENT, decoded.raw_input, rewrite)?;
    let raw = |(name, value): &'_ (&'static str, String)| {
        RawValue::from_string(value.clone()).ok().map(|value| (*name, value))
    };
    let values = changed.changes.iter().map(raw).collect::<Option<Vec<_>>>()?;
    // The plugin takes out what is null.
    let none = RawValue::from_string("null".to_owned()).ok()?;
    let dropped = changed.dropped.iter().map(|name| (name.as_str(), &*none));
    // One by one: collecting would sort first, by a sort of its own.
    let mut args = std::collections::BTreeMap::new();
    args.extend(values.iter().map(|(name, value)| (*name, &**value)).chain(dropped));
    let text = message::changed(decision, rewrite);
    let message = rewrite.told.then_some(text.as_str());
    Some(pass(&Line { args: Some(args), ..Line::new("modify", message) }))
}

fn pass(line: &Line<'_>) -> Reply {
    Reply::pass(bytes(line))
}

pub(super) fn block(text: &str) -> Reply {
    refuse(text, false)
}

fn refuse(text: &str, stop: bool) -> Reply {
    let stdout = bytes(&Line { stop, ..Line::new("block", Some(text)) });
    Reply { stdout, stderr: format!("{text}\n").into_bytes(), code: ExitKind::Block }
}

/// No line at all, should it fail: the plugin blocks then.
fn bytes(line: &Line<'_>) -> Vec<u8> {
    let mut bytes = serde_json::to_vec(line).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}
