//! What a recorded session had done before each of its calls, as far as a decision looks back. Nothing of it is kept on disk.

use std::collections::HashMap;

use crate::cli::judge::{Judged, Trail};
use crate::domain::{Outcome, PastCall, Stand};
use crate::review;

/// Calls that a decision looks back on, as in the hook.
const LOOK_BACK: usize = 64;
/// Older than any window: limits on how often a tool is called are not replayed.
const LONG_AGO: u64 = u64::MAX;

/// The past of each session.
#[derive(Debug, Default)]
pub struct Pasts {
    sessions: HashMap<String, Recent>,
}

impl Pasts {
    pub fn of(&mut self, session: &str) -> &mut Recent {
        self.sessions.entry(session.to_owned()).or_default()
    }
}

/// The newest calls of a session.
#[derive(Debug, Default)]
pub struct Recent {
    stand: Stand,
    pub trail: Trail,
    /// The permission mode that was last recorded; a subagent's own record names none.
    pub mode: Option<String>,
    /// The ids of `stand.history`, in its order.
    ids: Vec<String>,
}

impl Recent {
    pub fn stand(&self) -> &Stand {
        &self.stand
    }

    /// A call that was made: it ran, whatever would be said of it today.
    pub fn push(&mut self, id: &str, judged: &Judged) {
        let Some((_, identity)) = &judged.call else { return };
        let past = PastCall {
            action: identity.action,
            agent: identity.agent,
            tool: identity.tool,
            age_ms: LONG_AGO,
            outcome: Outcome::Pending,
            writes: judged.decision.effects.iter().any(review::is_file_operation),
            damaged: false,
        };
        self.trail.keep(judged);
        self.stand.history.insert(0, past);
        self.ids.insert(0, id.to_owned());
        self.stand.history.truncate(LOOK_BACK);
        self.ids.truncate(LOOK_BACK);
    }

    /// Notes how a call ended.
    pub fn ended(&mut self, id: &str, failed: bool) {
        let Some(at) = self.ids.iter().position(|known| known == id) else { return };
        if let Some(past) = self.stand.history.get_mut(at) {
            past.outcome = if failed { Outcome::Failed } else { Outcome::Done };
        }
    }
}
