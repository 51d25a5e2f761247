//! The clients' wire formats: bytes → Request, Decision → Reply. Nothing in here decides or touches the machine.
#![forbid(clippy::disallowed_methods, clippy::disallowed_types)]

mod claims;
mod claude;
pub mod codex;
mod json;
mod message;
mod opencode;
mod patch;
mod report;
mod said;
pub mod transcript;
mod vocabulary;

use crate::domain::{AgentId, CallId, Client, Decision, Fault, FaultKind, Request, SessionId, size};
use json::{Object, bad, missing};
pub(crate) use patch::BEGIN as PATCH_BEGIN;
pub use said::{Said, said};
pub use vocabulary::tool;

/// Longest accepted message, in bytes. A client sends a file of a few megabytes whole.
pub const MAX_MESSAGE: usize = 16 * 1024 * 1024;

/// A message in our words, and what a reply to it needs of the original.
#[derive(Debug)]
pub struct Decoded<'a> {
    pub request: Request,
    /// The arguments of the call as the client sent them; empty for events without a call.
    pub raw_input: &'a str,
    /// The result of the call as the client sent it; empty where there is none.
    pub raw_response: &'a str,
}

/// What the client is told: the bytes for each stream and whether the call may run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    pub code: ExitKind,
}

/// The two ways a hook may end; any third lets the call run on some client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitKind {
    Pass,
    Block,
}

impl Reply {
    fn pass(stdout: Vec<u8>) -> Reply {
        Reply { stdout, stderr: Vec::new(), code: ExitKind::Pass }
    }
}

/// A call about to run, from which a hook message is made.
#[derive(Debug)]
pub struct Spoken<'a> {
    pub session: &'a str,
    pub agent: Option<&'a str>,
    pub agent_type: Option<&'a str>,
    pub cwd: &'a str,
    pub mode: Option<&'a str>,
    pub id: Option<&'a str>,
    /// By the client's name for it.
    pub tool: &'a str,
    /// Its arguments, raw.
    pub input: &'a str,
}

/// The hook message that a client would send before that call.
pub fn spoken(client: Client, call: &Spoken<'_>) -> String {
    match client {
        Client::ClaudeCode => claude::spoken(call),
        Client::OpenCode => opencode::spoken(call),
        Client::Codex => codex::spoken(call),
    }
}

/// The client that sends a whole message of that shape; `given` where several do.
pub fn client_of(message: &serde_json::Value, given: Client) -> Option<Client> {
    let has = |name: &str| message.get(name).is_some();
    match (has("hook_event_name"), given) {
        (true, _) if has("turn_id") => Some(Client::Codex),
        (true, Client::OpenCode) => Some(Client::ClaudeCode),
        (true, given) => Some(given),
        (false, _) => has("event").then_some(Client::OpenCode),
    }
}

/// A JSON object with one member more, whose value is raw.
fn with_raw(object: &serde_json::Value, name: &str, raw: &str) -> String {
    let head = object.to_string();
    format!("{},\"{name}\":{raw}}}", head.strip_suffix('}').unwrap_or(&head))
}

/// Reads one message. Whatever cannot be read for certain is a fault.
pub fn decode(client: Client, bytes: &[u8]) -> Result<Decoded<'_>, Fault> {
    if bytes.len() > MAX_MESSAGE {
        let why = format!("it is more than {0}; at most {0} are read", size(MAX_MESSAGE as u64));
        return Err(Fault::new(FaultKind::TooLarge, "hook message", why)
            .with_hint("split the work into smaller calls"));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| bad(format!("not UTF-8: {error}")))?;
    if text.trim().is_empty() {
        return Err(bad("standard input is empty"));
    }
    let message = Object::parse(text, "message")?;
    match client {
        Client::ClaudeCode => claude::decode(&message),
        Client::OpenCode => opencode::decode(&message),
        Client::Codex => codex::decode(&message),
    }
}

/// The reply to a message that was understood.
pub fn encode(decoded: &Decoded<'_>, decision: &Decision) -> Reply {
    match decoded.request.subject.client {
        Client::ClaudeCode => claude::encode(decoded, decision),
        Client::OpenCode => opencode::encode(decoded, decision),
        Client::Codex => codex::encode(decoded, decision),
    }
}

/// The refusal of whatever was sent, when it was not understood.
pub fn refuse(client: Client, decision: &Decision) -> Reply {
    let text = message::blocked(decision);
    match client {
        Client::ClaudeCode => claude::deny(&text, None),
        Client::OpenCode => opencode::block(&text),
        Client::Codex => codex::deny(&text),
    }
}

/// The same where the message, not understood, may hold an agent's report, which a refusal alone would not keep back: when
/// it speaks of a result, and is not plainly a call about to run.
pub fn refuse_result(client: Client, message: &[u8], decision: &Decision) -> Option<Reply> {
    let plain = without_escapes(message);
    let holds = |word: &[u8]| plain.windows(word.len()).any(|bytes| bytes == word);
    match client {
        Client::ClaudeCode if holds(b"PostToolUse") => Some(claude::refuse_result(decision)),
        Client::ClaudeCode if holds(b"tool_response") && !holds(b"\"PreToolUse\"") => {
            Some(claude::refuse_result(decision))
        }
        // The plugin keeps a report back whenever it gets no answer that it understands; Codex has no reviews.
        Client::ClaudeCode | Client::OpenCode | Client::Codex => None,
    }
}

/// The bytes with the letters that JSON writes as `\u00XX` written out.
fn without_escapes(message: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(message.len());
    let mut rest = message;
    while let Some((first, after)) = rest.split_first() {
        let escaped = rest.strip_prefix(b"\\u00").and_then(|digits| digits.split_at_checked(2));
        let letter = escaped.and_then(|(digits, after)| {
            let letter = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
            Some((letter, after))
        });
        let (byte, after) = letter.unwrap_or((*first, after));
        plain.push(byte);
        rest = after;
    }
    plain
}

/// A field that has to be there and not be empty.
fn need(object: &Object<'_>, name: &str) -> Result<String, Fault> {
    let text = object.text(name)?.ok_or_else(|| missing(name))?;
    if text.is_empty() { Err(bad(format!("field {name} is empty"))) } else { Ok(text.into_owned()) }
}

fn optional(object: &Object<'_>, name: &str) -> Result<Option<String>, Fault> {
    Ok(object.text(name)?.map(std::borrow::Cow::into_owned))
}

/// An absolute directory.
fn directory(object: &Object<'_>, name: &str) -> Result<String, Fault> {
    let path = need(object, name)?;
    if path.starts_with('/') {
        Ok(path)
    } else {
        Err(bad(format!("field {name}: expected an absolute path")))
    }
}

fn session_id(text: &str, name: &str) -> Result<SessionId, Fault> {
    SessionId::new(text).ok_or_else(|| bad_id(name))
}

fn agent_id(object: &Object<'_>, name: &str) -> Result<Option<AgentId>, Fault> {
    let text = object.text(name)?;
    text.map(|text| AgentId::new(&text).ok_or_else(|| bad_id(name))).transpose()
}

fn call_id(object: &Object<'_>, name: &str) -> Result<Option<CallId>, Fault> {
    let text = object.text(name)?;
    text.map(|text| CallId::new(&text).ok_or_else(|| bad_id(name))).transpose()
}

fn bad_id(name: &str) -> Fault {
    bad(format!("field {name}: expected 1 to {} bytes", SessionId::MAX))
}
