//! What clients keep or print of a session, read for its tool calls: Claude Code's transcripts and stream, Codex's rollouts, OpenCode's
//! exports, events and stored parts, SpecStory's pages, logs of hook messages. Reads what was recorded; nothing here runs, and nothing is
//! refused for what it cannot make sense of.

mod claude;
mod codex;
mod codex_tools;
mod hooks;
mod opencode;
mod specstory;
mod specstory_tools;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::Spoken;
use crate::domain::{Client, words};

pub use opencode::Stored;
pub use specstory::{is_page, page};

words! {
    /// Who wrote a record.
    #[derive(PartialOrd, Ord)]
    Form {
        ClaudeCode = "claude-code",
        Codex = "codex",
        OpenCode = "opencode",
        SpecStory = "specstory",
        HookLog = "hook-log",
    }
}

impl Form {
    /// What one file of it is called, and several.
    pub const fn files(self) -> (&'static str, &'static str) {
        match self {
            Form::ClaudeCode => ("Claude Code transcript", "Claude Code transcripts"),
            Form::Codex => ("Codex rollout", "Codex rollouts"),
            Form::OpenCode => ("OpenCode export or part", "OpenCode exports or parts"),
            Form::SpecStory => ("SpecStory page", "SpecStory pages"),
            Form::HookLog => ("hook log", "hook logs"),
        }
    }
}

/// One call of a tool, as it was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    pub form: Form,
    /// In whose words the call is put to the gate.
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
        super::spoken(
            self.client,
            &Spoken {
                session: &self.session,
                agent: self.agent.as_deref(),
                agent_type: self.agent_type.as_deref(),
                cwd,
                mode,
                id: Some(&self.id),
                tool: &self.tool,
                input: &self.input,
            },
        )
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
    /// A call that cannot be judged.
    Left(Left),
}

words! {
    /// Why a recorded call is not judged.
    #[derive(PartialOrd, Ord)]
    Left {
        /// PowerShell or `cmd.exe`: the gate reads the languages of Unix shells.
        OtherShell = "other_shell",
        /// The record names the tool and not what it was told.
        NoArguments = "no_arguments",
        /// A tool that no client of the gate has.
        OtherTool = "other_tool",
    }
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

/// What tells forms apart.
#[derive(Deserialize)]
struct Head<'a> {
    #[serde(rename = "type")]
    kind: Option<Value>,
    id: Option<Value>,
    record_type: Option<Value>,
    #[serde(borrow)]
    payload: Option<&'a RawValue>,
    #[serde(borrow)]
    instructions: Option<&'a RawValue>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    messages: Option<&'a RawValue>,
}

impl Head<'_> {
    fn form(&self, text: &str) -> Form {
        let kind = self.kind.as_ref().and_then(Value::as_str);
        let id = self.id.as_ref().and_then(Value::as_str).unwrap_or_default();
        let is_bare = kind.is_some_and(|kind| codex::ITEMS.contains(&kind)) && self.message.is_none();
        let is_old_head = kind.is_none() && !id.is_empty() && self.instructions.is_some();
        if text.contains("\"tool_name\"") && hooks::message(text).is_some() {
            Form::HookLog
        } else if kind.is_some() && self.payload.is_some()
            || is_bare
            || is_old_head
            || self.record_type.is_some()
        {
            Form::Codex
        } else if self.messages.is_some() || opencode::is_stored(id) {
            Form::OpenCode
        } else {
            Form::ClaudeCode
        }
    }
}

/// Reads a record piece by piece. What a piece does not say again (directory, mode) counts on from those before it.
#[derive(Debug, Default)]
pub struct Reader {
    claude: claude::Lines,
    codex: codex::Lines,
    hooks: hooks::Lines,
}

impl Reader {
    /// What the next JSON value tells, and whose it is.
    pub fn read(&mut self, text: &str, stored: &mut Stored) -> Result<(Form, Vec<Told>), Unread> {
        let head: Head<'_> = serde_json::from_str(text).map_err(|_| {
            if serde_json::from_str::<&RawValue>(text).is_ok() { nameless() } else { Unread::Torn }
        })?;
        let form = head.form(text);
        let told = match form {
            Form::HookLog => self.hooks.read(text)?,
            Form::Codex => self.codex.read(text)?,
            Form::OpenCode => stored.read(text)?,
            Form::ClaudeCode | Form::SpecStory => return self.claude.read(text),
        };
        Ok((form, told))
    }
}

/// The JSON values of a text that is no file of lines: one after the other, those of a list each by itself.
pub fn values(text: &str) -> impl Iterator<Item = Result<&str, Unread>> {
    let stream = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    stream.flat_map(|value| match value {
        Ok(value) => match serde_json::from_str::<Vec<&RawValue>>(value.get()) {
            Ok(list) => list.into_iter().map(|value| Ok(value.get())).collect::<Vec<_>>(),
            Err(_) => vec![Ok(value.get())],
        },
        Err(_) => vec![Err(Unread::Torn)],
    })
}
