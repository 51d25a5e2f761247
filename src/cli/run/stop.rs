//! Why a run was ended.

use std::time::Duration;

use crate::domain::{clip, escape};

/// Longest word of somebody else in a reason, in bytes.
const QUOTED: usize = 300;

/// What was passed, or what happened.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Stop {
    Time(Duration),
    /// Bytes that were held, and that may be.
    Memory(u64, u64),
    Tokens(u64, u64),
    Cost(f64, f64),
    Calls(u64, u64),
    /// The hook has stopped the session.
    Emergency(String),
    /// A call ran that the hook never saw: its id and its tool.
    GateOpen(String, String),
}

impl Stop {
    /// The name that programs read.
    pub fn name(&self) -> &'static str {
        match self {
            Stop::Time(_) => "time",
            Stop::Memory(..) => "memory",
            Stop::Tokens(..) => "tokens",
            Stop::Cost(..) => "cost",
            Stop::Calls(..) => "calls",
            Stop::Emergency(_) => "emergency_stop",
            Stop::GateOpen(..) => "gate_open",
        }
    }

    /// The reason for people.
    pub fn text(&self) -> String {
        match self {
            Stop::Time(limit) => format!("it was not done in {}", humantime::format_duration(*limit)),
            Stop::Memory(held, most) => {
                format!("it held {}, more than {}", mebibytes(*held), mebibytes(*most))
            }
            Stop::Tokens(used, most) => format!("it used {used} tokens, more than {most}"),
            Stop::Cost(cost, most) => format!("it cost {cost:.2} dollars, more than {most:.2}"),
            Stop::Calls(made, most) => format!("it made {made} calls, more than {most}"),
            Stop::Emergency(why) => format!("the session was stopped: {}", escape(&clip(why, QUOTED))),
            Stop::GateOpen(id, tool) => format!(
                "the gate is open: the call {} of {} ran, and lazaret's hook never saw it; lazaret doctor says what is registered",
                escape(&clip(id, QUOTED)),
                escape(&clip(tool, QUOTED))
            ),
        }
    }
}

/// Bytes for people.
pub(super) fn mebibytes(bytes: u64) -> String {
    format!("{} MiB", bytes.div_ceil(1 << 20))
}
