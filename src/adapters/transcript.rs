//! What the clients keep or print of a session, read for its tool calls: Claude Code's transcripts and stream, OpenCode's exports
//! and events. Reads what was recorded; nothing here runs, and nothing is refused for what it cannot make sense of.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::domain::{Client, clip};

/// One call of a tool, as it was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    pub client: Client,
    pub session: String,
    pub agent: Option<String>,
    pub agent_type: Option<String>,
    /// The directory it was made in, where that was recorded.
    pub cwd: Option<String>,
    /// Claude Code's permission mode, which says whether a person can be asked.
    pub mode: Option<String>,
    /// As it was recorded.
    pub time: Option<String>,
    pub id: String,
    /// By the client's name.
    pub tool: String,
    /// The arguments, raw.
    pub input: String,
}

impl Recorded {
    /// The hook message that the client would send before this call, in that permission mode; `cwd` where none was recorded.
    pub fn message(&self, cwd: &str, mode: Option<&str>) -> String {
        let cwd = self.cwd.as_deref().filter(|dir| dir.starts_with('/')).unwrap_or(cwd);
        let agent = self.agent.as_deref();
        let head = match self.client {
            Client::ClaudeCode => json!({
                "session_id": self.session, "cwd": cwd, "hook_event_name": "PreToolUse", "tool_name": self.tool,
                "tool_use_id": self.id, "agent_id": agent, "agent_type": self.agent_type, "permission_mode": mode,
            }),
            Client::OpenCode => json!({
                "event": "tool.execute.before", "directory": cwd, "agent": self.agent_type,
                "root": agent.map(|_| &self.session),
                "input": {"tool": self.tool, "sessionID": agent.unwrap_or(&self.session), "callID": self.id},
            }),
        };
        let head = head.to_string();
        let open = head.strip_suffix('}').unwrap_or(&head);
        match self.client {
            Client::ClaudeCode => format!("{open},\"tool_input\":{}}}", self.input),
            Client::OpenCode => format!("{open},\"output\":{{\"args\":{}}}}}", self.input),
        }
    }
}

/// What one piece of a record tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Told {
    Call(Box<Recorded>),
    /// How a call ended.
    Ended {
        session: String,
        id: String,
        failed: bool,
    },
}

/// Why a piece of a record tells nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unread {
    /// No JSON object: torn, or something else altogether.
    Torn,
    /// A kind of record that is not known, by its name where it has one.
    Unknown(String),
}

fn nameless() -> Unread {
    Unread::Unknown(String::new())
}

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
    #[serde(alias = "session_id", alias = "sessionID")]
    session_id: Option<String>,
    cwd: Option<String>,
    #[serde(alias = "permission_mode")]
    permission_mode: Option<String>,
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

/// Reads a record line by line. What a line does not say again (directory, mode) counts on from the lines before it.
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
    /// What the next line tells.
    pub fn read(&mut self, text: &str) -> Result<Vec<Told>, Unread> {
        let line: Line<'_> = serde_json::from_str(text).map_err(|_| {
            if serde_json::from_str::<&RawValue>(text).is_ok() { nameless() } else { Unread::Torn }
        })?;
        let remember = |known: &mut Option<String>, said: &Option<String>| {
            if said.is_some() {
                known.clone_from(said);
            }
        };
        remember(&mut self.session, &line.session_id);
        remember(&mut self.cwd, &line.cwd);
        remember(&mut self.mode, &line.permission_mode);
        match (line.kind.as_deref(), line.message, line.part) {
            (Some("assistant" | "user"), Some(message), _) => {
                let message: Message<'_> = serde_json::from_str(message.get()).map_err(|_| nameless())?;
                Ok(self.blocks(&line, message.content.map_or("[]", RawValue::get)))
            }
            (Some("tool_use"), _, Some(part)) => {
                let session = line.session_id.clone().ok_or_else(nameless)?;
                let part: Part<'_> = serde_json::from_str(part.get()).map_err(|_| nameless())?;
                let held = Held { session, root: None, agent: None, cwd: self.cwd.clone() };
                Ok(part.told(&held))
            }
            (Some("system" | "assistant" | "user"), ..) => Ok(Vec::new()),
            (Some(kind), ..) if WITHOUT_CALLS.contains(&kind) || EVENTS_WITHOUT_CALLS.contains(&kind) => {
                Ok(Vec::new())
            }
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

#[derive(Deserialize)]
struct Export<'a> {
    info: Info,
    #[serde(borrow)]
    messages: Vec<Exchange<'a>>,
}

#[derive(Deserialize)]
struct Info {
    id: String,
    #[serde(rename = "parentID")]
    parent: Option<String>,
    directory: Option<String>,
}

#[derive(Deserialize)]
struct Exchange<'a> {
    info: About,
    #[serde(borrow, default)]
    parts: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct About {
    agent: Option<String>,
    mode: Option<String>,
    path: Option<AboutPath>,
}

#[derive(Deserialize)]
struct AboutPath {
    cwd: Option<String>,
}

#[derive(Deserialize)]
struct Part<'a> {
    #[serde(rename = "type")]
    kind: Option<String>,
    tool: Option<String>,
    #[serde(rename = "callID")]
    call_id: Option<String>,
    #[serde(borrow)]
    state: Option<State<'a>>,
}

#[derive(Deserialize)]
struct State<'a> {
    status: Option<String>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    metadata: Option<Value>,
    time: Option<Span>,
}

#[derive(Deserialize)]
struct Span {
    start: Option<u64>,
}

/// What the message around a part says of it.
struct Held {
    session: String,
    root: Option<String>,
    agent: Option<String>,
    cwd: Option<String>,
}

impl Part<'_> {
    fn told(self, held: &Held) -> Vec<Told> {
        let (Some("tool"), Some(tool), Some(id), Some(state)) =
            (self.kind.as_deref(), self.tool, self.call_id, self.state)
        else {
            return Vec::new();
        };
        let exit = state.metadata.as_ref().and_then(|data| data.get("exit")).and_then(Value::as_i64);
        let failed = state.status.as_deref() == Some("error") || exit.is_some_and(|code| code != 0);
        let call = Recorded {
            client: Client::OpenCode,
            session: held.root.clone().unwrap_or_else(|| held.session.clone()),
            agent: held.root.as_ref().map(|_| held.session.clone()),
            agent_type: held.agent.clone(),
            cwd: held.cwd.clone(),
            mode: None,
            time: state.time.and_then(|time| time.start).map(|at| at.to_string()),
            id: id.clone(),
            tool,
            input: state.input.map_or("{}", RawValue::get).to_owned(),
        };
        let session = call.session.clone();
        vec![Told::Call(Box::new(call)), Told::Ended { session, id, failed }]
    }
}

/// What an export of OpenCode tells, in its order.
pub fn export(text: &str) -> Result<Vec<Told>, Unread> {
    let Export { info, messages } = serde_json::from_str(text)
        .map_err(|error| if error.is_data() { nameless() } else { Unread::Torn })?;
    let mut told = Vec::new();
    for Exchange { info: about, parts } in messages {
        let cwd = about.path.and_then(|path| path.cwd).or_else(|| info.directory.clone());
        let held = Held {
            session: info.id.clone(),
            root: info.parent.clone(),
            agent: about.agent.or(about.mode),
            cwd,
        };
        for part in parts {
            if let Ok(part) = serde_json::from_str::<Part<'_>>(part.get()) {
                told.extend(part.told(&held));
            }
        }
    }
    Ok(told)
}
