//! Codex's rollouts: today's lines, which wrap an item in a `payload`, and the older ones, which are the item.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::codex_tools::{self, Asked};
use super::{Form, Left, Recorded, Told, Unread, nameless};
use crate::domain::{Client, clip};

/// Kinds of item that stand alone in older rollouts.
pub(super) const ITEMS: &[&str] = &[
    "message",
    "reasoning",
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "custom_tool_call_output",
    "local_shell_call",
    "web_search_call",
    "ghost_snapshot",
    "compaction",
];
/// Kinds of line.
const LINES: &[&str] = &[
    "session_meta",
    "turn_context",
    "response_item",
    "event_msg",
    "compacted",
    "token_usage_record",
    "world_state",
];
/// Begins the ids of calls that code made, which stand as what was done alone.
const BY_CODE: &str = "exec-";

#[derive(Deserialize)]
struct Line<'a> {
    timestamp: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    id: Option<String>,
    #[serde(borrow)]
    payload: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct About {
    id: Option<String>,
    cwd: Option<String>,
    source: Option<Value>,
}

#[derive(Deserialize)]
struct Item<'a> {
    #[serde(rename = "type")]
    kind: Option<String>,
    id: Option<String>,
    call_id: Option<String>,
    name: Option<String>,
    namespace: Option<String>,
    arguments: Option<Value>,
    input: Option<Value>,
    action: Option<Value>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    output: Option<&'a RawValue>,
}

/// Reads a rollout line by line.
#[derive(Debug, Default)]
pub(super) struct Lines {
    session: Option<String>,
    /// The thread that started this one.
    parent: Option<String>,
    cwd: Option<String>,
    /// Calls that name no id.
    nameless: usize,
}

impl Lines {
    /// What the next line tells.
    pub fn read(&mut self, text: &str) -> Result<Vec<Told>, Unread> {
        let line: Line<'_> = serde_json::from_str(text).map_err(|_| nameless())?;
        let time = line.timestamp;
        match (line.kind.as_deref(), line.payload) {
            (Some("session_meta" | "turn_context"), Some(about)) => {
                let about = serde_json::from_str(about.get()).map_err(|_| nameless())?;
                self.begun(about);
                Ok(Vec::new())
            }
            (Some("response_item"), Some(item)) => self.item(item.get(), time),
            (Some("event_msg"), Some(event)) if event.get().contains(BY_CODE) => {
                Ok(self.done(event.get(), time))
            }
            (Some(kind), Some(_)) if LINES.contains(&kind) => Ok(Vec::new()),
            (Some(kind), None) if ITEMS.contains(&kind) => self.item(text, time),
            (Some(kind), _) => Err(Unread::Unknown(clip(kind, 40))),
            (None, _) => {
                // The first line of an older rollout, or one of its states.
                if self.session.is_none() {
                    self.session = line.id;
                }
                Ok(Vec::new())
            }
        }
    }

    /// A thread that was forked repeats how its parent began: what comes first is its own.
    fn begun(&mut self, about: About) {
        if self.session.is_none() {
            self.session = about.id;
            let spawned = about.source.as_ref().and_then(|source| source.pointer("/subagent/thread_spawn"));
            let parent = spawned.and_then(|spawn| spawn.get("parent_thread_id")).and_then(Value::as_str);
            self.parent = parent.map(str::to_owned);
        }
        if about.cwd.is_some() {
            self.cwd = about.cwd;
        }
    }

    fn item(&mut self, text: &str, time: Option<String>) -> Result<Vec<Told>, Unread> {
        let item: Item<'_> = serde_json::from_str(text).map_err(|_| nameless())?;
        let own = self.session.clone().unwrap_or_else(|| "unnamed".to_owned());
        let session = self.parent.clone().unwrap_or_else(|| own.clone());
        let asked = match (item.kind.as_deref(), &item.name) {
            (Some("function_call"), Some(name)) => {
                let name = match &item.namespace {
                    Some(server) if server.starts_with("mcp__") && !server.ends_with("__") => {
                        format!("{server}__{name}")
                    }
                    Some(space) if space.starts_with("mcp__") => format!("{space}{name}"),
                    // A group of Codex's own tools.
                    Some(_) | None => name.clone(),
                };
                codex_tools::function(&name, &arguments(item.arguments), self.cwd.as_deref())
            }
            (Some("custom_tool_call"), Some(name)) => {
                codex_tools::custom(name, item.input.as_ref().and_then(Value::as_str).unwrap_or_default())
            }
            (Some("local_shell_call"), _) => {
                codex_tools::function("local_shell", &item.action.unwrap_or_default(), self.cwd.as_deref())
            }
            (Some("web_search_call"), _) => {
                codex_tools::function("web_search", &item.action.unwrap_or_default(), self.cwd.as_deref())
            }
            (Some("function_call_output" | "custom_tool_call_output"), _) => {
                let (Some(id), Some(output)) = (item.call_id, item.output) else { return Ok(Vec::new()) };
                return Ok(vec![Told::Ended { session, id, failed: codex_tools::has_failed(output) }]);
            }
            (Some("message"), _) => {
                self.directory(item.content.map_or("", RawValue::get));
                return Ok(Vec::new());
            }
            _ => return Ok(Vec::new()),
        };
        self.nameless += 1;
        let id = item.call_id.or(item.id).unwrap_or_else(|| format!("{own}#{}", self.nameless));
        Ok(vec![self.told(asked, id, time)])
    }

    fn told(&self, asked: Result<Asked, Left>, id: String, time: Option<String>) -> Told {
        let Asked { tool, input } = match asked {
            Ok(asked) => asked,
            Err(left) => return Told::Left(left),
        };
        let own = self.session.clone().unwrap_or_else(|| "unnamed".to_owned());
        Told::Call(Box::new(Recorded {
            form: Form::Codex,
            client: Client::OpenCode,
            session: self.parent.clone().unwrap_or_else(|| own.clone()),
            agent: self.parent.is_some().then_some(own),
            agent_type: None,
            cwd: self.cwd.clone(),
            mode: None,
            time,
            id,
            tool,
            input: input.to_string(),
        }))
    }

    /// What code called: a command, changes of files or a tool of a server, and how it ended.
    fn done(&self, text: &str, time: Option<String>) -> Vec<Told> {
        let event: Value = serde_json::from_str(text).unwrap_or_default();
        let of = |name: &str| event.pointer(&format!("/item/{name}"));
        let word = |name: &str| of(name).and_then(Value::as_str).unwrap_or_default();
        let ended = event.get("type").and_then(Value::as_str) == Some("item_completed");
        let id = word("id").to_owned();
        if !ended || !id.starts_with(BY_CODE) {
            return Vec::new();
        }
        let asked = match word("type") {
            "CommandExecution" => {
                let cwd = word("cwd").strip_prefix("file://").or(self.cwd.as_deref());
                let arguments = json!({ "command": of("command"), "workdir": cwd });
                codex_tools::function("exec_command", &arguments, self.cwd.as_deref())
            }
            "FileChange" => codex_tools::changed(of("changes")),
            "McpToolCall" => {
                let name = format!("mcp__{}__{}", word("server"), word("tool"));
                codex_tools::function(&name, of("arguments").unwrap_or(&Value::Null), self.cwd.as_deref())
            }
            _ => return Vec::new(),
        };
        let failed = !matches!(word("status"), "completed" | "");
        let session =
            self.parent.clone().or_else(|| self.session.clone()).unwrap_or_else(|| "unnamed".to_owned());
        vec![self.told(asked, id.clone(), time), Told::Ended { session, id, failed }]
    }

    /// Older rollouts say only in words where they were made.
    fn directory(&mut self, content: &str) {
        if self.cwd.is_some() {
            return;
        }
        let told = content.split_once("<cwd>").and_then(|(_, rest)| rest.split_once("</cwd>"));
        let told = told.map(|(dir, _)| dir).or_else(|| {
            let (_, rest) = content.split_once("Current working directory: ")?;
            rest.split(['\\', '"']).next()
        });
        self.cwd = told.filter(|dir| dir.starts_with('/')).map(str::to_owned);
    }
}

/// Arguments are JSON in a string.
fn arguments(raw: Option<Value>) -> Value {
    match raw {
        Some(Value::String(text)) => serde_json::from_str(&text).unwrap_or(Value::String(text)),
        Some(value) => value,
        None => Value::Null,
    }
}
