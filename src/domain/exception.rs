//! Exceptions from rules, as a configuration gives them. Whether one counts for a call is `review::exceptions`' affair.

use serde::{Deserialize, Serialize};

use super::{Severity, Verdict, words};

words! {
    /// Whose file a setting stands in, from the highest layer.
    #[derive(PartialOrd, Ord)]
    Tier {
        Managed = "managed",
        User = "user",
        Project = "project",
    }
}

words! {
    /// The verdict that an exception leaves of a rule's.
    Lowered {
        Ask = "ask",
        Warn = "warn",
        Allow = "allow",
    }
}

impl Lowered {
    pub const fn verdict(self) -> Verdict {
        match self {
            Lowered::Ask => Verdict::Modify,
            Lowered::Warn => Verdict::Warn,
            Lowered::Allow => Verdict::Allow,
        }
    }
}

/// The moment from which an exception has no effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expiry {
    /// In seconds since 1970.
    pub unix_s: u64,
    /// As it was written.
    pub text: String,
}

/// One exception. All that it names must fit; what it does not name fits every call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exception {
    pub rule: String,
    pub to: Lowered,
    pub reason: String,
    pub expires: Option<Expiry>,
    /// Absolute or `~/…`; each counts with all that lies below it.
    pub paths: Vec<String>,
    /// A directory in which the call is made and stays.
    pub repository: Option<String>,
    pub tool: Option<String>,
    /// A command of the shell, word for word.
    pub command: Option<String>,
    /// A type of agent; [`Exception::MAIN`] is the one that has none.
    pub agent: Option<String>,
    pub origin: Tier,
    pub file: String,
    pub line: usize,
}

impl Exception {
    /// The agent that is no subagent.
    pub const MAIN: &'static str = "main";

    /// One from that rule for every call, of no file yet.
    pub fn of(rule: String, origin: Tier) -> Exception {
        Exception {
            rule,
            to: Lowered::Warn,
            reason: String::new(),
            expires: None,
            paths: Vec::new(),
            repository: None,
            tool: None,
            command: None,
            agent: None,
            origin,
            file: String::new(),
            line: 0,
        }
    }
}

/// An exception that counted for a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excepted {
    pub rule: String,
    pub severity: Severity,
    /// What the rule alone would have said.
    pub was: Verdict,
    pub to: Verdict,
    pub reason: String,
    /// As it was written.
    pub until: Option<String>,
    pub file: String,
    pub line: usize,
}
