//! What quarantined agents are remembered to have done: how many calls, and which files they were led to.

use std::collections::HashSet;

use crate::domain::{AgentId, Client, Outcome, PastCall, SessionId, Subject, Tool};
use crate::host::clock::Now;
use crate::host::dirs::Dirs;
use crate::host::quarantine::{AgentKey, AgentRow, Contents, Session};
use crate::host::state::{self, CAPACITY, Look, Store};
use crate::review;

/// The calls of some agents.
#[derive(Debug, Default)]
pub struct Past {
    calls: Vec<PastCall>,
    /// Some of what they did may not be remembered.
    incomplete: bool,
}

impl Past {
    /// Of one agent, and of it alone.
    pub fn of(dirs: &Dirs, key: &AgentKey, now: Now) -> Past {
        let subject = Subject {
            client: key.client,
            session: key.session.clone(),
            agent: key.agent.clone(),
            agent_type: None,
        };
        let all = Look { records: CAPACITY, window_ms: 0 };
        let Ok(stand) = state::look(&Store::new(&dirs.state), &subject, now, all) else {
            return Past { calls: Vec::new(), incomplete: true };
        };
        let remembered = u64::try_from(stand.history.len()).unwrap_or(u64::MAX);
        let incomplete = stand.calls > remembered || stand.history.iter().any(|past| past.damaged);
        let agent = review::agent_fingerprint(&subject);
        let calls = stand.history.into_iter().filter(|past| past.agent == agent).collect();
        Past { calls, incomplete }
    }

    /// Of all these agents.
    pub fn of_all<'r>(dirs: &Dirs, rows: impl Iterator<Item = &'r AgentRow>, now: Now) -> Past {
        let mut all = Past::default();
        for row in rows {
            let Some(key) = key(row) else {
                all.incomplete = true;
                continue;
            };
            let one = Past::of(dirs, &key, now);
            all.calls.extend(one.calls);
            all.incomplete |= one.incomplete;
        }
        all
    }

    /// How many calls, refused ones included.
    pub fn count(&self) -> u32 {
        u32::try_from(self.calls.len()).unwrap_or(u32::MAX)
    }

    /// Whether no call of theirs was let through, so that they saw nothing of any file; what is not known counts for them.
    pub fn saw_nothing(&self) -> bool {
        !self.incomplete && !self.calls.iter().any(ran)
    }

    /// The files of a session that they read, or searched one by one: none = it cannot be said of every file. A search of
    /// a whole directory shows no more of a file than what it finds.
    pub fn read<'c>(&self, session: &Session, contents: &'c Contents) -> Option<HashSet<&'c str>> {
        if self.incomplete {
            return None;
        }
        let actions: HashSet<u64> =
            self.calls.iter().filter(|past| ran(past)).map(|past| past.action).collect();
        let grounds = session.grounds();
        let led_to = |copy: &str| {
            [Tool::Read, Tool::Grep].iter().any(|tool| actions.contains(&review::sealed_action(tool, copy)))
        };
        let originals = contents.files.iter().map(|file| file.original.as_str());
        Some(originals.filter(|file| grounds.copy_of(file).is_some_and(|copy| led_to(&copy))).collect())
    }
}

fn ran(past: &PastCall) -> bool {
    match past.outcome {
        Outcome::Pending | Outcome::Done => true,
        Outcome::Failed | Outcome::Blocked => false,
    }
}

fn key(row: &AgentRow) -> Option<AgentKey> {
    let agent = match &row.agent {
        Some(agent) => Some(AgentId::new(agent)?),
        None => None,
    };
    Some(AgentKey { client: Client::from_name(&row.client)?, session: SessionId::new(&row.session)?, agent })
}
