//! What a line says besides what every reader looks for: where the call was made, and why it was answered so.

use serde::Deserialize;

use super::Line;

/// More of a line; what it does not say is empty.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub struct Why {
    pub cwd: String,
    pub call_id: String,
    pub reasons: Vec<Because>,
    pub effects: Vec<Effect>,
    pub risk: Risk,
    pub rewrite: Rewrite,
}

/// One reason.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub struct Because {
    pub rule: String,
    pub severity: String,
    pub message: String,
    pub matched: String,
    pub instead: String,
}

/// Something that a call would do.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub struct Effect {
    pub kind: String,
    pub target: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub struct Risk {
    pub level: String,
}

/// What a call was changed to.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub struct Rewrite {
    pub value: String,
}

/// The rule whose reason offers a person's permission, with the code at its end.
pub const OFFERED: &str = "permission.offered";

impl Because {
    /// The code under which the call was offered to a person.
    pub fn code(&self) -> Option<&str> {
        (self.rule == OFFERED).then(|| self.message.rsplit(' ').next()).flatten()
    }

    /// It speaks of the call, not of what was done for it.
    pub fn is_of_the_call(&self) -> bool {
        !self.rule.starts_with("permission.") && !self.rule.starts_with("checkpoint.")
    }
}

impl Line {
    /// Its time in milliseconds since 1970; none = it says none.
    pub fn unix_ms(&self) -> Option<u64> {
        let time = humantime::parse_rfc3339(&self.time).ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
        u64::try_from(time.as_millis()).ok()
    }

    pub fn why(&self) -> Why {
        serde_json::from_str(&self.text).unwrap_or_default()
    }
}
