//! Programs of the user's own that are asked: which there are, and for what. How they are started is the host's affair.

use serde::{Deserialize, Serialize};

use super::{Score, Severity, words};

words! {
    /// What a plugin is asked for (seed 000, "Plugin Architecture").
    PluginKind {
        /// How risky a call is that is about to run.
        Risk = "risk",
        /// Whether a pattern stands after a call has ended.
        Pattern = "pattern",
        /// What the model is told in an intervention.
        Intervention = "intervention",
        /// The audit log in a form of its own.
        Export = "export",
    }
}

impl PluginKind {
    /// The longest time-out, and the one where none is given, in milliseconds.
    pub const fn timeouts(self) -> (u32, u32) {
        match self {
            PluginKind::Risk | PluginKind::Pattern | PluginKind::Intervention => (5_000, 500),
            PluginKind::Export => (3_600_000, 60_000),
        }
    }
}

/// One plugin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plugin {
    /// Lower-case letters, digits and `_`; of a pattern's it is the pattern's name.
    pub name: String,
    pub kind: PluginKind,
    /// An absolute path.
    pub program: String,
    /// The SHA-256 of the file's content, in lower-case hex.
    pub sha256: String,
    pub timeout_ms: u32,
    /// Of risk and pattern: the tools whose calls it is asked about; a `*` stands for any letters.
    pub tools: Vec<String>,
    /// Of interventions: the patterns that it is asked about; empty = every one.
    pub patterns: Vec<String>,
    /// Of a pattern: its class, which is how grave it can become.
    pub severity: Severity,
}

/// What a plugin says of a call's risk. It can only raise it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PluginRisk {
    pub plugin: String,
    pub score: Score,
    /// Why, in one line; empty = it does not say.
    pub reason: String,
}
