//! What a report tells, as it was in the log: sessions, their prompts, calls and events, in order. Pure.

use std::collections::BTreeMap;

use crate::domain::{Enforcement, EventKind, Verdict};
use crate::host::audit::{Because, Effect, Line, Why, Wrong};
use crate::review::redact::redact;

/// So long after the last event of a session, what a person said is still about it, in milliseconds: a code's time, and some.
const AFTER_MS: u64 = 15 * 60 * 1000;

/// How a call was answered, from the mildest answer to the strictest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Answer {
    Allowed,
    Warned,
    Rewritten,
    Asked,
    Stopped,
}

impl Answer {
    pub const ALL: [Answer; 5] =
        [Answer::Allowed, Answer::Warned, Answer::Rewritten, Answer::Asked, Answer::Stopped];

    pub const fn name(self) -> &'static str {
        match self {
            Answer::Allowed => "allowed",
            Answer::Warned => "warned",
            Answer::Rewritten => "rewritten",
            Answer::Asked => "asked",
            Answer::Stopped => "stopped",
        }
    }

    fn of(verdict: Verdict, enforcement: &str) -> Answer {
        let is = |wanted: Enforcement| enforcement == wanted.name();
        if verdict == Verdict::Block || is(Enforcement::Deny) || is(Enforcement::Stop) {
            Answer::Stopped
        } else if is(Enforcement::Ask) {
            Answer::Asked
        } else if is(Enforcement::Rewrite) || verdict == Verdict::Modify {
            Answer::Rewritten
        } else if verdict == Verdict::Warn {
            Answer::Warned
        } else {
            Answer::Allowed
        }
    }

    /// A person has something to look at.
    pub fn is_told(self) -> bool {
        self > Answer::Allowed
    }
}

/// What became of a call that was let run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ended {
    /// The client reported nothing, or nothing yet.
    #[default]
    Unknown,
    Well,
    Failed,
}

/// One call and its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    pub id: String,
    pub unix_ms: u64,
    pub tool: String,
    pub action: String,
    pub cwd: String,
    /// As the client names it.
    pub call_id: String,
    /// The agent's type; empty = the main one.
    pub agent: String,
    pub answer: Answer,
    pub reasons: Vec<Because>,
    pub effects: Vec<Effect>,
    pub risk: String,
    /// What the call was changed to; empty = it was not.
    pub rewrite: String,
    /// How long the decision took, in microseconds.
    pub took_us: u64,
    pub ended: Ended,
    /// From the decision to the reported end, in milliseconds: the person's answer to a question is in it.
    pub ran_ms: u64,
    /// Why its line does not verify.
    pub wrong: Option<Wrong>,
}

/// What is in a session's order of time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// A person's prompt, of so many bytes; the log does not hold its text.
    Prompt {
        unix_ms: u64,
        note: String,
    },
    Call(Box<Call>),
    /// Anything else.
    Event(Event),
}

/// What is no call and no prompt, by its type in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    pub unix_ms: u64,
    pub kind: String,
    pub text: String,
    /// Why its line does not verify.
    pub wrong: Option<Wrong>,
}

impl Event {
    fn of(line: &Line) -> Event {
        let text = [line.action.as_str(), &line.note].map(str::trim).join(" ").trim().to_owned();
        Event {
            unix_ms: line.unix_ms().unwrap_or_default(),
            kind: line.event.clone(),
            text,
            wrong: line.wrong,
        }
    }
}

impl Item {
    pub fn unix_ms(&self) -> u64 {
        match self {
            Item::Event(event) => event.unix_ms,
            Item::Prompt { unix_ms, .. } => *unix_ms,
            Item::Call(call) => call.unix_ms,
        }
    }

    fn call(&self) -> Option<&Call> {
        if let Item::Call(call) = self { Some(call) } else { None }
    }
}

/// One session of a client.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Session {
    pub client: String,
    pub id: String,
    /// Where it first worked.
    pub cwd: String,
    /// Prompts before the time that the report begins with.
    pub earlier: usize,
    pub items: Vec<Item>,
    /// Places of calls in `items` whose end was not reported yet, by the client's name of them.
    open: BTreeMap<String, usize>,
}

impl Session {
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.items.iter().filter_map(Item::call)
    }

    /// From the first event to the last, in milliseconds since 1970.
    pub fn span(&self) -> (u64, u64) {
        let times = self.items.iter().map(Item::unix_ms);
        (times.clone().min().unwrap_or_default(), times.max().unwrap_or_default())
    }

    /// Calls that are told, and none of them verifies.
    pub fn is_forged(&self) -> bool {
        self.calls().next().is_some() && self.calls().all(|call| call.wrong.is_some())
    }

    /// Begun by a prompt, each with its number in the session; what came before the first one has number 0.
    pub fn chapters(&self) -> Vec<Chapter<'_>> {
        let mut chapters: Vec<Chapter<'_>> = Vec::new();
        for item in &self.items {
            let begins = matches!(item, Item::Prompt { .. });
            let number = chapters.last().map_or(self.earlier, |chapter| chapter.number) + usize::from(begins);
            match chapters.last_mut() {
                Some(chapter) if !begins => chapter.items.push(item),
                _ => chapters.push(Chapter { number, items: vec![item] }),
            }
        }
        chapters
    }

    fn ended(&mut self, call_id: &str, ended: Ended, unix_ms: u64) {
        let Some(at) = self.open.remove(call_id) else { return };
        if let Some(Item::Call(call)) = self.items.get_mut(at) {
            call.ended = ended;
            call.ran_ms = unix_ms.saturating_sub(call.unix_ms);
        }
    }
}

/// What was done for one prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chapter<'s> {
    pub number: usize,
    /// The prompt first, where there is one.
    pub items: Vec<&'s Item>,
}

impl<'s> Chapter<'s> {
    pub fn calls(&self) -> impl Iterator<Item = &'s Call> {
        self.items.iter().filter_map(|item| item.call())
    }
}

/// All that a report tells of the log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Story {
    pub sessions: Vec<Session>,
    /// Events of no session: what a person allowed, refused or said, and what was done to lazaret itself.
    pub apart: Vec<Event>,
    /// Places of the log that are no lines.
    pub torn: u64,
    /// Lines that do not verify.
    pub wrong: u64,
}

impl Story {
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.sessions.iter().flat_map(Session::calls)
    }

    /// Takes in a line from before the time that the report begins with.
    pub fn earlier(&mut self, line: &Line) {
        if line.event == EventKind::PromptSubmitted.name()
            && let Some(session) = self.session(line, "")
        {
            session.earlier += 1;
        }
    }

    /// Leaves out sessions of which only earlier lines were met, and events from long before or after the others.
    pub fn close(&mut self) {
        self.sessions.retain(|session| !session.items.is_empty());
        let spans = self.sessions.iter().map(Session::span);
        let (from, to) = spans.fold((u64::MAX, 0), |(from, to), span| (from.min(span.0), to.max(span.1)));
        self.apart.retain(|event| (from..=to.saturating_add(AFTER_MS)).contains(&event.unix_ms));
    }

    /// Takes a line in.
    pub fn add(&mut self, line: &Line) {
        self.wrong += u64::from(line.wrong.is_some());
        if line.session.is_empty() {
            return self.apart.push(Event::of(line));
        }
        let more: Why = serde_json::from_str(&line.text).unwrap_or_default();
        let unix_ms = line.unix_ms().unwrap_or_default();
        let Some(session) = self.session(line, &more.cwd) else { return };
        let is = |kind: EventKind| line.event == kind.name();
        if is(EventKind::ActionCompleted) || is(EventKind::ActionFailed) {
            let ended = if is(EventKind::ActionFailed) { Ended::Failed } else { Ended::Well };
            session.ended(&more.call_id, ended, unix_ms);
        } else if is(EventKind::PromptSubmitted) {
            session.items.push(Item::Prompt { unix_ms, note: line.note.clone() });
        } else if let Some(verdict) = line.verdict.filter(|_| !line.tool.is_empty()) {
            if !more.call_id.is_empty() {
                session.open.insert(more.call_id.clone(), session.items.len());
            }
            session.items.push(Item::Call(Box::new(call(line, more, verdict, unix_ms))));
        } else {
            session.items.push(Item::Event(Event::of(line)));
        }
    }

    fn session(&mut self, line: &Line, cwd: &str) -> Option<&mut Session> {
        let same = |session: &Session| session.id == line.session && session.client == line.client;
        // The one that the line before was of is the likeliest.
        if !self.sessions.iter().rev().any(same) {
            let (client, id) = (line.client.clone(), line.session.clone());
            self.sessions.push(Session { client, id, ..Session::default() });
        }
        let session = self.sessions.iter_mut().rfind(|session| same(session))?;
        if session.cwd.is_empty() {
            cwd.clone_into(&mut session.cwd);
        }
        Some(session)
    }
}

fn call(line: &Line, more: Why, verdict: Verdict, unix_ms: u64) -> Call {
    Call {
        id: line.id.clone(),
        unix_ms,
        tool: redact(&line.tool).into_owned(),
        action: line.action.clone(),
        cwd: more.cwd,
        call_id: more.call_id,
        agent: redact(&line.agent_type).into_owned(),
        answer: Answer::of(verdict, &line.enforcement),
        reasons: more.reasons,
        effects: more.effects,
        risk: more.risk.level,
        rewrite: more.rewrite.value,
        took_us: line.duration_us,
        ended: Ended::Unknown,
        ran_ms: 0,
        wrong: line.wrong,
    }
}
