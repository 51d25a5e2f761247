//! Claude Code's transcripts and stream, and the events that OpenCode prints beside its answers.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::opencode::{Held, Part};
use super::{Form, Recorded, Told, Unread, nameless};
use crate::domain::{Client, clip};

/// Kinds of line in which Claude Code keeps no calls.
const WITHOUT_CALLS: &[&str] = &[
    "summary",
    "ai-title",
    "attachment",
    "queue-operation",
    "file-history-snapshot",
    "progress",
    "mode",
    "permission-mode",
    "last-prompt",
    "pr-link",
    "tag",
    "custom-title",
    "agent-name",
    "agent-color",
    "agent-setting",
    "content-replacement",
    "result",
    "rate_limit_event",
    "atis-latch",
    "api-request",
    "api-request-blob",
    "api-request-shape",
    "tools-used",
    "cost-state",
    "stream_event",
];
/// Kinds of event in which OpenCode prints no calls.
const EVENTS_WITHOUT_CALLS: &[&str] = &["step_start", "step_finish", "text", "reasoning", "error"];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    #[serde(rename = "type")]
    kind: Option<String>,
    session_id: Option<String>,
    /// Some versions write the session twice, in two spellings.
    #[serde(rename = "session_id")]
    session_again: Option<String>,
    #[serde(rename = "sessionID")]
    session_of_opencode: Option<String>,
    cwd: Option<String>,
    permission_mode: Option<String>,
    #[serde(rename = "permission_mode")]
    permission_mode_again: Option<String>,
    agent_id: Option<String>,
    /// The type of the agent.
    attribution_agent: Option<String>,
    is_sidechain: Option<bool>,
    #[serde(rename = "parent_tool_use_id")]
    parent_tool_use_id: Option<String>,
    #[serde(default)]
    timestamp: Option<Value>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    part: Option<&'a RawValue>,
}

impl Line<'_> {
    /// The session, however it is spelled.
    fn session(&self) -> Option<String> {
        let spellings = [&self.session_id, &self.session_again, &self.session_of_opencode];
        spellings.into_iter().find_map(Clone::clone)
    }
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(rename = "type")]
    kind: Option<String>,
    id: Option<String>,
    name: Option<String>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    tool_use_id: Option<String>,
    is_error: Option<bool>,
}

/// Reads a transcript line by line.
#[derive(Debug, Default)]
pub struct Lines {
    session: Option<String>,
    cwd: Option<String>,
    mode: Option<String>,
    /// Agents by the call that started them, with their type.
    spawned: Vec<(String, String)>,
}

/// Most starts of agents that are remembered.
const MAX_SPAWNED: usize = 256;

impl Lines {
    /// What the next line tells, and whose it is.
    pub fn read(&mut self, text: &str) -> Result<(Form, Vec<Told>), Unread> {
        let line: Line<'_> = serde_json::from_str(text).map_err(|_| nameless())?;
        let remember = |known: &mut Option<String>, said: &Option<String>| {
            if said.is_some() {
                known.clone_from(said);
            }
        };
        remember(&mut self.session, &line.session());
        remember(&mut self.cwd, &line.cwd);
        remember(
            &mut self.mode,
            &line.permission_mode.clone().or_else(|| line.permission_mode_again.clone()),
        );
        match (line.kind.as_deref(), line.message, line.part) {
            (Some("assistant" | "user"), Some(message), _) => {
                let message: Message<'_> = serde_json::from_str(message.get()).map_err(|_| nameless())?;
                let content = message.content.map_or("[]", RawValue::get);
                Ok((Form::ClaudeCode, self.blocks(&line, content)))
            }
            (Some("tool_use"), _, Some(part)) => {
                let session = line.session().ok_or_else(nameless)?;
                let part: Part<'_> = serde_json::from_str(part.get()).map_err(|_| nameless())?;
                let held = Held { session, root: None, agent: None, cwd: self.cwd.clone() };
                Ok((Form::OpenCode, part.told(&held)))
            }
            (Some("system" | "assistant" | "user"), ..) => Ok((Form::ClaudeCode, Vec::new())),
            (Some(kind), ..) if WITHOUT_CALLS.contains(&kind) => Ok((Form::ClaudeCode, Vec::new())),
            (Some(kind), ..) if EVENTS_WITHOUT_CALLS.contains(&kind) => Ok((Form::OpenCode, Vec::new())),
            (Some(kind), ..) => Err(Unread::Unknown(clip(kind, 40))),
            (None, ..) => Err(nameless()),
        }
    }

    /// The calls and results of a message; a message that is one text has none.
    fn blocks(&mut self, line: &Line<'_>, content: &str) -> Vec<Told> {
        let blocks: Vec<&RawValue> = serde_json::from_str(content).unwrap_or_default();
        let mut told = Vec::new();
        for block in blocks {
            let Ok(block) = serde_json::from_str::<Block<'_>>(block.get()) else { continue };
            match (block.kind.as_deref(), block.id, block.name, block.input, block.tool_use_id) {
                (Some("tool_use"), Some(id), Some(name), Some(input), _) => {
                    if let (true, Some(kind)) = (matches!(name.as_str(), "Task" | "Agent"), spawned(input)) {
                        if self.spawned.len() >= MAX_SPAWNED {
                            self.spawned.remove(0);
                        }
                        self.spawned.push((id.clone(), kind));
                    }
                    told.push(Told::Call(Box::new(self.recorded(line, id, name, input.get()))));
                }
                (Some("tool_result"), _, _, _, Some(id)) => {
                    let session = self.session().to_owned();
                    told.push(Told::Ended { session, id, failed: block.is_error == Some(true) });
                }
                _ => {}
            }
        }
        told
    }

    fn session(&self) -> &str {
        self.session.as_deref().unwrap_or("unnamed")
    }

    fn recorded(&self, line: &Line<'_>, id: String, tool: String, input: &str) -> Recorded {
        let parent = line.parent_tool_use_id.as_deref();
        let sidechain = line.is_sidechain.unwrap_or_default() || parent.is_some();
        let agent = line.agent_id.clone().or_else(|| parent.map(str::to_owned));
        let kind =
            self.spawned.iter().find(|(id, _)| Some(id.as_str()) == parent).map(|(_, kind)| kind.clone());
        Recorded {
            form: Form::ClaudeCode,
            client: Client::ClaudeCode,
            session: self.session().to_owned(),
            agent: agent.or_else(|| sidechain.then(|| "unnamed".to_owned())),
            agent_type: kind.or_else(|| line.attribution_agent.clone().filter(|_| sidechain)),
            cwd: self.cwd.clone(),
            mode: self.mode.clone(),
            time: line.timestamp.as_ref().and_then(Value::as_str).map(str::to_owned),
            id,
            tool,
            input: input.to_owned(),
        }
    }
}

/// The type of agent that a call starts.
fn spawned(input: &RawValue) -> Option<String> {
    #[derive(Deserialize)]
    struct Input {
        subagent_type: Option<String>,
    }
    serde_json::from_str::<Input>(input.get()).ok()?.subagent_type
}
