//! The sessions and their last calls, as the audit log's lines add up to them. Bounded: what is oldest goes.

use std::collections::{BTreeMap, VecDeque};

use super::shown::Shown;
use crate::domain::{Enforcement, Outcome, Verdict};
use crate::host::audit::{Because, Line, Why};

/// Sessions that are remembered, and calls of each.
const SESSIONS: usize = 64;
const CALLS: usize = 100;
/// Milliseconds after the last sign of a session in which it counts as at work.
const AT_WORK_MS: u64 = 600_000;

/// A session by its client and its own id, as they stand in the log.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    pub client: String,
    pub id: String,
}

/// What a call was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    Allow,
    Warn,
    Modify,
    Ask,
    Block,
}

impl Answer {
    pub const fn word(self) -> &'static str {
        match self {
            Answer::Allow => "allow",
            Answer::Warn => "warn",
            Answer::Modify => "modify",
            Answer::Ask => "ask",
            Answer::Block => "block",
        }
    }

    fn of(line: &Line) -> Option<Answer> {
        let asked = line.enforcement == Enforcement::Ask.name();
        Some(match line.told()? {
            Verdict::Modify | Verdict::Block if asked => Answer::Ask,
            Verdict::Allow => Answer::Allow,
            Verdict::Warn => Answer::Warn,
            Verdict::Modify => Answer::Modify,
            Verdict::Block => Answer::Block,
        })
    }

    /// It did not run as it was asked for, or not yet.
    pub const fn stops(self) -> bool {
        matches!(self, Answer::Ask | Answer::Block)
    }
}

/// One call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The id of its line.
    pub line: String,
    pub at_ms: u64,
    pub answer: Answer,
    pub tool: Shown,
    pub action: Shown,
    /// Where it was made.
    pub cwd: Shown,
    pub rule: Shown,
    pub reason: Shown,
    /// How it ended, as far as the client said so.
    pub outcome: Outcome,
    /// The code that was offered for it.
    pub code: Option<String>,
    id: String,
}

/// Where a session stands, from what wants a person most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    Stopped,
    Held,
    Throttled,
    /// Its state cannot be read.
    Unreadable,
    Running,
    Idle,
    Ended,
}

impl Status {
    pub const fn word(self) -> &'static str {
        match self {
            Status::Stopped => "stopped",
            Status::Held => "held",
            Status::Throttled => "throttled",
            Status::Unreadable => "unreadable",
            Status::Running => "running",
            Status::Idle => "idle",
            Status::Ended => "ended",
        }
    }

    /// A person lets it go on.
    pub const fn waits(self) -> bool {
        matches!(self, Status::Stopped | Status::Held | Status::Throttled)
    }
}

/// One session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    pub key: Key,
    pub cwd: Shown,
    /// The last sign of it, in milliseconds since 1970.
    pub last_ms: u64,
    /// Calls that were stopped, of those that were read.
    pub stops: usize,
    /// Newest last.
    pub calls: VecDeque<Call>,
    pub status: Status,
    /// Why it is not simply running; empty where it is.
    pub why: Shown,
    /// All calls that were decided on.
    pub count: u64,
    ended: bool,
}

impl Session {
    fn new(key: Key) -> Session {
        Session {
            key,
            cwd: Shown::default(),
            last_ms: 0,
            stops: 0,
            calls: VecDeque::new(),
            status: Status::Idle,
            why: Shown::default(),
            count: 0,
            ended: false,
        }
    }

    /// The status where nothing holds it back.
    pub fn by_itself(&self, now_ms: u64) -> Status {
        match now_ms.saturating_sub(self.last_ms) {
            _ if self.ended => Status::Ended,
            0..AT_WORK_MS => Status::Running,
            AT_WORK_MS.. => Status::Idle,
        }
    }

    fn add(&mut self, line: &Line) {
        let Why { cwd, call_id, reasons, .. } = line.why();
        if !cwd.is_empty() {
            self.cwd = Shown::of(&cwd);
        }
        self.last_ms = self.last_ms.max(line.unix_ms().unwrap_or_default());
        self.ended = line.event == "session_ended";
        match line.event.as_str() {
            "action_completed" => return self.end(&call_id, Outcome::Done),
            "action_failed" => return self.end(&call_id, Outcome::Failed),
            _ => {}
        }
        let Some(answer) = Answer::of(line).filter(|_| !line.tool.is_empty()) else { return };
        self.stops += usize::from(answer.stops());
        let Because { rule, message, .. } =
            reasons.iter().find(|because| because.is_of_the_call()).cloned().unwrap_or_default();
        self.calls.push_back(Call {
            line: line.id.clone(),
            at_ms: line.unix_ms().unwrap_or_default(),
            answer,
            tool: Shown::of(&line.tool),
            action: Shown::of(&line.action),
            cwd: Shown::of(&cwd),
            rule: Shown::of(&rule),
            reason: Shown::of(&message),
            outcome: if answer == Answer::Block { Outcome::Blocked } else { Outcome::Pending },
            code: reasons.iter().find_map(Because::code).map(str::to_owned),
            id: call_id,
        });
        if self.calls.len() > CALLS {
            self.calls.pop_front();
        }
    }

    fn end(&mut self, call: &str, outcome: Outcome) {
        let same = |known: &&mut Call| !call.is_empty() && known.id == call;
        if let Some(known) = self.calls.iter_mut().rev().find(same) {
            known.outcome = outcome;
        }
    }
}

/// All of them.
#[derive(Debug, Clone, Default)]
pub struct Sessions(BTreeMap<Key, Session>);

impl Sessions {
    /// Takes a line in; one that is of no session says nothing here.
    pub fn add(&mut self, line: &Line) {
        if !line.session.is_empty() {
            self.entry(Key { client: line.client.clone(), id: line.session.clone() }).add(line);
            self.bound();
        }
    }

    /// A session that is known from elsewhere.
    pub fn meet(&mut self, key: Key, last_ms: u64) {
        let session = self.entry(key);
        session.last_ms = session.last_ms.max(last_ms);
        self.bound();
    }

    fn entry(&mut self, key: Key) -> &mut Session {
        self.0.entry(key).or_insert_with_key(|key| Session::new(key.clone()))
    }

    /// Leaves out the oldest, of those that wait for nobody first.
    fn bound(&mut self) {
        while self.0.len() > SESSIONS {
            let oldest = self.0.values().min_by_key(|session| (session.status.waits(), session.last_ms));
            let Some(key) = oldest.map(|session| session.key.clone()) else { return };
            self.0.remove(&key);
        }
    }

    pub fn each(&mut self) -> impl Iterator<Item = &mut Session> {
        self.0.values_mut()
    }

    /// Newest first.
    pub fn newest_first(&self) -> Vec<Session> {
        let mut all: Vec<Session> = self.0.values().cloned().collect();
        crate::domain::sort_by_key(&mut all, |session| std::cmp::Reverse(session.last_ms));
        all
    }
}
