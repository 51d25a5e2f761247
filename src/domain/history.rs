//! What a session did before, as far as a decision looks back.

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Not reported yet.
    Pending,
    Done,
    Failed,
    /// lazaret did not let it run.
    Blocked,
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
}

/// Where the session stands when the call comes in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stand {
    /// Newest first: at least the last 200 calls, and everything inside the longest window that was asked for.
    pub history: Vec<PastCall>,
    /// The record was overwritten inside the window: older calls may be missing, so a limit counts as reached.
    pub wrapped: bool,
    /// Calls of this session so far.
    pub calls: u64,
    /// File operations of this session so far.
    pub file_operations: u64,
    /// Why the session was stopped, when it was.
    pub stopped: Option<String>,
}

/// A 64-bit fingerprint (FNV-1a) of some parts, the same in every version of lazaret. Not for secrets.
pub fn fingerprint(parts: &[&[u8]]) -> u64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for part in parts {
        for byte in part.iter().chain(&[0xff]) {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    hash
}
