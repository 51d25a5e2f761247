//! What a session did before, as far as a decision looks back.

use super::{Behaviour, Marks, Verdict, words};

words! {
    /// How a call ended.
    Outcome {
        /// Not reported yet.
        Pending = "pending",
        Done = "done",
        Failed = "failed",
        /// lazaret did not let it run.
        Blocked = "blocked",
    }
}

impl Outcome {
    /// How a call can have ended.
    pub const ENDED: [Outcome; 3] = [Outcome::Done, Outcome::Failed, Outcome::Blocked];
}

/// One earlier call of the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PastCall {
    /// Fingerprint of tool and action: equal for the same call.
    pub action: u64,
    /// Fingerprint of the agent (0 = main agent).
    pub agent: u64,
    /// Fingerprint of the tool's name.
    pub tool: u64,
    /// Age in milliseconds; a call whose age cannot be told counts as 0.
    pub age_ms: u64,
    pub outcome: Outcome,
    /// It changed files (a write, an edit, a command that writes).
    pub writes: bool,
    /// Its record cannot be read: it counts, with age 0, as a call of every agent and of every tool.
    pub damaged: bool,
}

/// What is remembered of the call that is being decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Fingerprint of tool and action.
    pub action: u64,
    /// Fingerprint of the agent (0 = main agent).
    pub agent: u64,
    /// Fingerprint of the tool's name.
    pub tool: u64,
    /// Fingerprint of the call's id, by which its outcome is reported (0 = it has none).
    pub call: u64,
    pub verdict: Verdict,
    pub outcome: Outcome,
    pub writes: bool,
    /// It counts against the session's file operations.
    pub file_operation: bool,
}

/// What a session last saw of the files that keep the gate where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Watch {
    /// What the system said of the files that are looked at before a call, and after it; 0 = not looked at yet.
    pub before: u64,
    pub after: u64,
    /// When a call last ended, in milliseconds since 1970; 0 = none did.
    pub ended_ms: u64,
    /// When the person last said something, in milliseconds since 1970; 0 = never.
    pub spoke_ms: u64,
    /// A call started something that may work on after its end.
    pub lingers: bool,
}

/// Where the session stands when the call comes in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stand {
    /// Newest first: as many as were asked for, and at least all inside the window that was asked for.
    pub history: Vec<PastCall>,
    /// Calls of this age and older may be missing (overwritten, or lost with a damaged file): none = no call is missing.
    pub missing_ms: Option<u64>,
    /// Calls of this session so far.
    pub calls: u64,
    /// File operations of this session so far.
    pub file_operations: u64,
    /// Prompts of the person in this session so far.
    pub prompts: u64,
    pub watch: Watch,
    /// The session was stopped, and why; a person must resume it.
    pub stopped: Option<String>,
    /// What is remembered of files.
    pub marks: Marks,
    /// What the session is for, and how it behaved.
    pub behaviour: Behaviour,
}

impl Stand {
    /// Whether calls may be missing that are no older than this, so that a limit over so long counts as reached.
    pub fn lacks(&self, window_ms: u64) -> bool {
        self.missing_ms.is_some_and(|missing| missing <= window_ms)
    }
}

/// A 64-bit fingerprint (FNV-1a) of some parts, the same in every version of lazaret. Not for secrets.
pub fn fingerprint(parts: &[&[u8]]) -> u64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for part in parts {
        let add = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        // A text may have kilobytes: eight of them a turn.
        let mut chunks = part.chunks_exact(8);
        for chunk in &mut chunks {
            if let [a, b, c, d, e, f, g, h] = chunk {
                hash = [a, b, c, d, e, f, g, h].into_iter().fold(hash, add);
            }
        }
        hash = add(chunks.remainder().iter().fold(hash, add), &0xff);
    }
    hash
}
