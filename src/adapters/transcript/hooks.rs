//! Logs of the messages that Claude Code sends its hooks, as the person's own hooks keep them: bare, or in an envelope.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Form, Recorded, Told, Unread, nameless};
use crate::domain::Client;

#[derive(Deserialize)]
struct Message<'a> {
    session_id: Option<String>,
    cwd: Option<String>,
    #[serde(alias = "hook_event", alias = "event")]
    hook_event_name: Option<String>,
    permission_mode: Option<String>,
    agent_id: Option<String>,
    agent_type: Option<String>,
    tool_name: Option<String>,
    tool_use_id: Option<String>,
    #[serde(borrow)]
    tool_input: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_response: Option<&'a RawValue>,
    timestamp: Option<Value>,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(
        borrow,
        alias = "data",
        alias = "input",
        alias = "hook_input",
        alias = "message",
        alias = "event"
    )]
    payload: Option<&'a RawValue>,
}

/// The hook message in a text, where there is one.
pub(super) fn message(text: &str) -> Option<&str> {
    let tells = |text: &str| {
        serde_json::from_str::<Message<'_>>(text)
            .is_ok_and(|message| message.tool_name.is_some() && message.tool_input.is_some())
    };
    if tells(text) {
        return Some(text);
    }
    let inner = serde_json::from_str::<Envelope<'_>>(text).ok()?.payload?.get();
    tells(inner).then_some(inner)
}

/// Reads a log message by message.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// Calls that were told of before they ran, and have not ended.
    open: Vec<Open>,
    /// Calls that name no id.
    nameless: usize,
}

#[derive(Debug)]
struct Open {
    session: String,
    id: String,
    tool: String,
    input: String,
}

/// Most calls that are waited for.
const MAX_OPEN: usize = 64;

impl Lines {
    /// What the next message tells. One that comes after a call tells of the call too, where nothing did before.
    pub fn read(&mut self, text: &str) -> Result<Vec<Told>, Unread> {
        let text = message(text).ok_or_else(nameless)?;
        let message: Message<'_> = serde_json::from_str(text).map_err(|_| nameless())?;
        let (Some(tool), Some(input)) = (message.tool_name.clone(), message.tool_input) else {
            return Ok(Vec::new());
        };
        let input = input.get().to_owned();
        let session = message.session_id.clone().unwrap_or_else(|| "unnamed".to_owned());
        let event = message.hook_event_name.as_deref().unwrap_or_default();
        let is_over = event.starts_with("PostToolUse") || message.tool_response.is_some();
        if !is_over && !matches!(event, "" | "PreToolUse") {
            return Ok(Vec::new());
        }
        let same = |open: &Open| match &message.tool_use_id {
            Some(id) => open.id == *id,
            None => open.session == session && open.tool == tool && open.input == input,
        };
        let known = self.open.iter().position(same).filter(|_| is_over).map(|at| self.open.remove(at));
        let (id, call) = match known {
            Some(open) => (open.id, None),
            None => {
                let call = self.recorded(&message, session.clone(), tool, input);
                (call.id.clone(), Some(call))
            }
        };
        let mut told = Vec::new();
        if let Some(call) = call {
            if !is_over {
                self.wait(&call);
            }
            told.push(Told::Call(Box::new(call)));
        }
        if is_over {
            let failed = event == "PostToolUseFailure" || message.tool_response.is_some_and(is_error);
            told.push(Told::Ended { session, id, failed });
        }
        Ok(told)
    }

    fn wait(&mut self, call: &Recorded) {
        if self.open.len() >= MAX_OPEN {
            self.open.remove(0);
        }
        self.open.push(Open {
            session: call.session.clone(),
            id: call.id.clone(),
            tool: call.tool.clone(),
            input: call.input.clone(),
        });
    }

    fn recorded(&mut self, message: &Message<'_>, session: String, tool: String, input: String) -> Recorded {
        self.nameless += usize::from(message.tool_use_id.is_none());
        let id = message.tool_use_id.clone().unwrap_or_else(|| format!("{session}#{}", self.nameless));
        Recorded {
            form: Form::HookLog,
            client: Client::ClaudeCode,
            session,
            agent: message.agent_id.clone(),
            agent_type: message.agent_type.clone(),
            cwd: message.cwd.clone(),
            mode: message.permission_mode.clone(),
            time: message.timestamp.as_ref().and_then(Value::as_str).map(str::to_owned),
            id,
            tool,
            input,
        }
    }
}

fn is_error(response: &RawValue) -> bool {
    #[derive(Deserialize)]
    struct Response {
        is_error: Option<bool>,
        success: Option<bool>,
    }
    serde_json::from_str::<Response>(response.get())
        .is_ok_and(|response| response.is_error == Some(true) || response.success == Some(false))
}
