//! By what agents are known, and places kept for those that were started and made no call yet: nobody knows their names. Touches no
//! file.

use serde::{Deserialize, Serialize};

use super::record::elapsed_ms;
use crate::domain::{AgentId, Client, ReviewId, SessionId, Subject};
use crate::host::clock::Now;

/// How long a place is kept for an agent that makes no call, in milliseconds.
const KEPT_MS: u64 = 120_000;

/// An agent, as its client names it; the main agent of a client that is quarantined as a whole has no id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentKey {
    pub client: Client,
    pub session: SessionId,
    pub agent: Option<AgentId>,
}

impl AgentKey {
    pub fn of(subject: &Subject) -> AgentKey {
        AgentKey { client: subject.client, session: subject.session.clone(), agent: subject.agent.clone() }
    }
}

/// The call that starts an agent.
#[derive(Debug, Clone, Copy)]
pub struct Start<'a> {
    pub client: Client,
    pub session: &'a SessionId,
    /// The call's id, if the client gives one.
    pub call: &'a str,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Waiting {
    client: String,
    session: String,
    call: String,
    review: String,
    unix_ms: u64,
    boot_ms: u64,
}

impl Waiting {
    pub fn new(start: Start<'_>, review: &ReviewId, now: Now) -> Waiting {
        Waiting {
            client: start.client.name().to_owned(),
            session: start.session.as_str().to_owned(),
            call: start.call.to_owned(),
            review: review.as_str().to_owned(),
            unix_ms: now.unix_ms,
            boot_ms: now.boot_ms,
        }
    }

    /// Whether the place is still kept.
    pub fn is_kept(&self, now: Now) -> bool {
        elapsed_ms(now, Now { unix_ms: self.unix_ms, boot_ms: self.boot_ms }) < KEPT_MS
    }

    pub fn is_of(&self, client: Client, session: &SessionId) -> bool {
        self.client == client.name() && self.session == session.as_str()
    }

    /// Whether this call started it; a call without an id is nobody's.
    pub fn is_by(&self, start: Start<'_>) -> bool {
        self.is_of(start.client, start.session) && !start.call.is_empty() && self.call == start.call
    }

    pub fn is_in(&self, review: &ReviewId) -> bool {
        self.review == review.as_str()
    }
}
