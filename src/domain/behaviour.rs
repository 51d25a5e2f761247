//! How a session behaves over time: what its actions came to, what was found in that, and what was done about it.

use serde::{Deserialize, Serialize};

use super::{Marked, Outcome, Span, words};

words! {
    /// What an action does, in the words that patterns are written in.
    #[derive(Hash)]
    ActionKind {
        Read = "read",
        Search = "search",
        Write = "write",
        Delete = "delete",
        Execute = "execute",
        Network = "network",
        Spawn = "spawn",
        Other = "other",
    }
}

/// Where the files of an action lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// It names no file.
    Nowhere,
    /// All of them where work is expected.
    Inside,
    /// At least one elsewhere.
    Outside,
}

impl Place {
    pub const ALL: [Place; 3] = [Place::Nowhere, Place::Inside, Place::Outside];
}

/// One action of the session that has ended, or was not let run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HistoryEntry {
    /// Its place in the session, from 1.
    pub number: u64,
    /// Age in milliseconds; one whose age cannot be told counts as 0.
    pub age_ms: u64,
    /// Fingerprint of the call's id (0 = it has none).
    pub call: u64,
    /// Fingerprint of tool and action: equal for the same call.
    pub action: u64,
    /// Fingerprint of the agent (0 = main agent).
    pub agent: u64,
    /// Fingerprint of the tool's name.
    pub tool: u64,
    /// Fingerprint of the first file it names (0 = none).
    pub path: u64,
    /// Fingerprint of its error without what differs from one time to the next, or of the rule that refused it (0 = none).
    pub error: u64,
    pub operation: ActionKind,
    pub place: Place,
    pub outcome: Outcome,
    /// It failed because a file that it names is not there.
    pub missing: bool,
    /// How far it serves the goals, in percent (100 where they are not known).
    pub alignment: u8,
    /// Milliseconds it took (0 = not known).
    pub duration_ms: u32,
    /// Bytes of what it wrote or gave back.
    pub size: u32,
    /// The person's prompt it belongs to: how many there had been.
    pub prompt: u32,
    pub marked: Marked,
}

impl HistoryEntry {
    /// It reads or searches, and nothing else.
    pub fn only_looks(&self) -> bool {
        matches!(self.operation, ActionKind::Read | ActionKind::Search)
    }

    /// It changed files, and did so.
    pub fn changed(&self) -> bool {
        self.outcome == Outcome::Done && matches!(self.operation, ActionKind::Write | ActionKind::Delete)
    }
}

words! {
    /// The five interventions of seed 000, from the mildest.
    #[derive(PartialOrd, Ord, Hash)]
    InterventionKind {
        SoftCorrection = "soft_correction",
        ContextReinforcement = "context_reinforcement",
        ResourceThrottling = "resource_throttling",
        CheckpointRollback = "checkpoint_rollback",
        EmergencyStop = "emergency_stop",
    }
}

words! {
    /// The built-in patterns: seed 000's four, and ours.
    #[derive(PartialOrd, Ord, Hash)]
    Pattern {
        RepetitiveErrors = "repetitive_errors",
        ScopeCreep = "scope_creep",
        ResourceSpiral = "resource_spiral",
        GoalDrift = "goal_drift",
        ExplorationWandering = "exploration_wandering",
        FailedReferences = "failed_references",
        RepeatedBlocks = "repeated_blocks",
    }
}

impl Pattern {
    /// A loop of it is through all interventions in seconds, so that a graver one does not wait for the cooldown.
    pub const fn hurries(self) -> bool {
        matches!(self, Pattern::RepeatedBlocks)
    }

    /// The highest severity in percent that evidence can bring it to: seed 000's class of what can be a loop, a correction of what
    /// says only where the work goes.
    pub const fn cap(self) -> u8 {
        match self {
            Pattern::ScopeCreep
            | Pattern::GoalDrift
            | Pattern::ExplorationWandering
            | Pattern::FailedReferences => Finding::CORRECTED,
            Pattern::RepetitiveErrors => 69,
            Pattern::ResourceSpiral | Pattern::RepeatedBlocks => 100,
        }
    }
}

/// What the session is for, as the person last said it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Purpose {
    /// The client's id of the prompt.
    pub id: String,
    /// How many prompts there were, this one included.
    pub number: u32,
    /// The person's own words, redacted and clipped.
    pub said: String,
    /// Words of it by which an action can be told to serve it, in lower case.
    pub words: Vec<String>,
    /// Paths that it mentions: absolute, or below the home directory as `~/…`.
    pub paths: Vec<String>,
    /// Directories that the session itself cloned or checked out, whatever the prompt; at most [`Purpose::MADE`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub made: Vec<String>,
}

impl Purpose {
    /// Directories of its own that are remembered.
    pub const MADE: usize = 16;

    /// Remembers a directory that the session made; the oldest goes.
    pub fn has_made(&mut self, directory: &str) {
        if self.made.iter().any(|known| known == directory) {
            return;
        }
        self.made.push(directory.to_owned());
        let over = self.made.len().saturating_sub(Purpose::MADE);
        self.made.drain(..over);
    }
}

/// A pattern that was found in what the session did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Its name: one of seed 000's, ours or the user's.
    pub pattern: String,
    /// How sure, in percent.
    pub confidence: u8,
    /// How grave, in percent: the intervention goes by it.
    pub severity: u8,
    /// What was seen, in words for the model and the person.
    pub evidence: String,
    /// How many actions speak for it.
    #[serde(default)]
    pub count: u32,
}

impl Finding {
    /// Severity in percent from which more than a correction is called for (seed 000): only a loop comes to it.
    pub const GRAVE: u8 = 50;
    /// The most that is met with words alone.
    pub const CORRECTED: u8 = Finding::GRAVE - 1;
}

/// One intervention that was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intervened {
    pub kind: InterventionKind,
    pub pattern: String,
    /// Milliseconds since 1970.
    pub at_ms: u64,
    /// The entry after which it was made.
    #[serde(alias = "deed")]
    pub entry: u64,
    /// The prompt it was made in.
    pub prompt: u32,
    /// Whether the pattern ended within the next ten actions; none = not known yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective: Option<bool>,
}

/// Calls are let through only so often.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Throttle {
    /// At most so many calls in a minute.
    pub calls: u32,
    /// Until then, in milliseconds since 1970.
    pub until_ms: u64,
    pub pattern: String,
}

/// What the calls of a prompt, and of those before it, have used. Counted only where something is limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Spent {
    /// File operations of the session when the prompt began.
    pub operations_before: u64,
    /// Milliseconds that calls took: before the prompt, and since.
    pub before_ms: u64,
    pub time_ms: u64,
    /// The highest share of the limit, in percent, that was told of: of file operations, and of time.
    pub told_operations: u8,
    pub told_time: u8,
}

impl Spent {
    /// File operations, of `all` of the session.
    pub fn operations(&self, all: u64, over: Span) -> u64 {
        match over {
            Span::Prompt => all.saturating_sub(self.operations_before),
            Span::Session => all,
        }
    }

    /// Milliseconds.
    pub fn time_ms(&self, over: Span) -> u64 {
        match over {
            Span::Prompt => self.time_ms,
            Span::Session => self.before_ms.saturating_add(self.time_ms),
        }
    }
}

/// What a session knows of its own behaviour.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Behaviour {
    pub purpose: Purpose,
    /// The patterns that the last entry left standing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub found: Vec<Finding>,
    /// The interventions of this session, oldest first; at most [`Behaviour::KEPT`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub interventions: Vec<Intervened>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throttle: Option<Throttle>,
    /// Why nothing may be changed any more until the person says something; none = it may.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held: Option<String>,
    /// Something was done to bring the session back on its way since the person last said something (seed 000).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub recovery_attempted: bool,
    /// The last error, redacted and clipped; empty = the last action did not fail.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub last_error: String,
    /// What is used of the limits of this prompt; none = nothing is limited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spent: Option<Spent>,
    /// What a supervised run has to say to the model, with the next result.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What the model was warned of, by fingerprints, newest last; at most [`Behaviour::WARNED`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warned: Vec<u64>,
    /// Calls that the session may have in all while it is supervised; none = as many as it likes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most_calls: Option<u64>,
}

impl Behaviour {
    /// Interventions that are remembered: more than the most that a prompt can have.
    pub const KEPT: usize = 64;

    /// Warnings that are remembered.
    pub const WARNED: usize = 64;

    /// Remembers a warning; false = it was given before.
    pub fn warns(&mut self, print: u64) -> bool {
        if self.warned.contains(&print) {
            return false;
        }
        self.warned.push(print);
        let over = self.warned.len().saturating_sub(Self::WARNED);
        self.warned.drain(..over);
        true
    }

    /// Nothing in it is worth a file.
    pub fn is_blank(&self) -> bool {
        *self == Behaviour::default()
    }

    /// Whether it has a say in the calls to come, or is told with them. What the session is for has none: that is asked of calls that
    /// have ended.
    pub fn bears_on_calls(&self) -> bool {
        !self.found.is_empty()
            || self.throttle.is_some()
            || self.held.is_some()
            || self.spent.is_some()
            || self.most_calls.is_some()
            || self.interventions.last().is_some_and(|one| one.effective.is_none())
    }

    /// The patterns that stand and ask for more than a correction: they speak against the same call again.
    pub fn against(&self) -> impl Iterator<Item = &Finding> {
        self.found.iter().filter(|finding| finding.severity >= Finding::GRAVE)
    }

    /// The person has said something, or let the session go on: what held it back is over.
    pub fn released(&mut self) {
        self.throttle = None;
        self.held = None;
        self.recovery_attempted = false;
        self.found.clear();
    }

    /// Remembers one more intervention; the oldest goes.
    pub fn intervened(&mut self, one: Intervened) {
        self.interventions.push(one);
        let over = self.interventions.len().saturating_sub(Self::KEPT);
        self.interventions.drain(..over);
    }
}
