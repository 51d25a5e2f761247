//! Sessions, calls and codes as lines of text, for the screen and for a pipe.

use super::feed::Code;
use super::sessions::{Call, Key, Session};
use super::shown::{Shown, left, span};
use crate::domain::Outcome;

/// Characters of a session's id that tell it apart from others.
const SHORT: usize = 8;

/// The beginning of a session's id.
pub fn short(key: &Key) -> String {
    Shown::of(&key.id.chars().take(SHORT).collect::<String>()).to_string()
}

/// A session in a line, behind its status.
pub fn session(session: &Session, now_ms: u64) -> String {
    let age = span(now_ms.saturating_sub(session.last_ms));
    let client = Shown::of(&session.key.client);
    let Session { key, count, stops, cwd, .. } = session;
    let calls = if *count == 1 { "call" } else { "calls" };
    format!("{:<SHORT$} {age:>4}  {client:<11} {count:>4} {calls:<5} {stops:>3} stopped  {cwd}", short(key))
}

/// A call in a line, behind its age and answer.
pub fn call(call: &Call) -> String {
    let ended = match call.outcome {
        Outcome::Failed => "failed ",
        Outcome::Pending | Outcome::Done | Outcome::Blocked => "",
    };
    let rule = if call.rule.is_empty() { String::new() } else { format!("[{}] ", call.rule) };
    format!("{ended}{} {rule}{}", call.tool, call.action)
}

/// A code in a line, behind it.
pub fn code(code: &Code) -> String {
    let whose = code.of.as_ref().map(short).unwrap_or_default();
    format!("{:>5}  {whose:<SHORT$} {}", left(code.left_ms), code.text)
}

pub fn about_session(session: &Session, now_ms: u64) -> Vec<Shown> {
    let Session { key, cwd, count, stops, status, why, last_ms, .. } = session;
    let mut lines = vec![
        Shown::of(&format!("session {} of {}", key.id, key.client)),
        Shown::whole(&format!("in {cwd}")),
        Shown::of(&format!("{}, last seen {} ago", status.word(), span(now_ms.saturating_sub(*last_ms)))),
        Shown::of(&format!(
            "{count} calls in all; {stops} of those in the newest part of the log were stopped"
        )),
    ];
    if !why.is_empty() {
        lines.push(why.clone());
    }
    lines
}

pub fn about_call(call: &Call, now_ms: u64) -> Vec<Shown> {
    let age = span(now_ms.saturating_sub(call.at_ms));
    let ended = match call.outcome {
        Outcome::Done | Outcome::Failed => format!(", {}", call.outcome.name()),
        Outcome::Pending | Outcome::Blocked => String::new(),
    };
    let head = format!("{} {age} ago{ended}", call.answer.word());
    let mut lines = vec![Shown::of(&head), Shown::whole(&format!("{}: {}", call.tool, call.action))];
    lines.push(Shown::whole(&format!("in {}", call.cwd)));
    if !call.rule.is_empty() {
        lines.push(Shown::whole(&format!("rule {}: {}", call.rule, call.reason)));
    }
    if let Some(code) = &call.code {
        lines.push(Shown::of(&format!("it was offered under the code {code}")));
    }
    lines
}

pub fn about_code(code: &Code, call: Option<&Call>) -> Vec<Shown> {
    let head = format!("{}, good for {}", code.code, left(code.left_ms));
    let mut lines = vec![Shown::of(&head)];
    lines.extend(offer(code, call));
    lines
}

/// All that a code would let run, whose it is, where, and why it was stopped. `call` is what the code was offered for.
pub fn offer(code: &Code, call: Option<&Call>) -> Vec<Shown> {
    let whose = code.of.as_ref().map_or_else(
        || Shown::of("offered to a session that is not in the newest part of the log"),
        |key| Shown::of(&format!("session {} of {}", key.id, key.client)),
    );
    let mut lines = vec![code.text.clone(), Shown::default(), whose];
    if let Some(call) = call {
        lines.push(Shown::whole(&format!("{} in {}", call.tool, call.cwd)));
        lines.push(Shown::whole(&format!("rule {}: {}", call.rule, call.reason)));
    }
    lines
}
