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

/// A limit that stands against the call, worked out from the state under the lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limit {
    /// `RATE_LIMIT_EXCEEDED`, `CONCURRENT_AGENT_LIMIT`, `TOOL_LIMIT_EXCEEDED`, `SESSION_STOPPED`.
    pub code: &'static str,
    pub message: String,
}

/// Where the session stands when the call comes in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stand {
    /// Newest first, at most 200.
    pub history: Vec<PastCall>,
    /// File operations of this session so far.
    pub file_operations: u64,
    pub limit: Option<Limit>,
    /// A person allowed exactly this action (`lazaret allow`); the id of that permission.
    pub allowed: Option<String>,
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
