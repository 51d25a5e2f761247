//! What is read from the machine, again and again: the log as it grows, where each session stands, the codes that are open. Nothing
//! here takes a lock that a call waits for.

use anyhow::{Result, anyhow, bail};

use super::sessions::{Key, Session, Sessions, Status};
use super::shown::{Shown, span};
use crate::cli::{Machine, doctor};
use crate::domain::{Client, Fault, Policy, SessionId, Subject, escape};
use crate::host::audit::{self, Filter, Found, Tail};
use crate::host::checkpoint::Checkpoints;
use crate::host::clock::{self, Now};
use crate::host::permit::Permits;
use crate::host::state::{self, Glance, Store};

/// So much of the log that is there already is read.
const LOG: u64 = 4 << 20;
/// Looks between two at all files of sessions.
const SELDOM: u32 = 100;
/// A session without a line in that part of the log is shown for so long after it was last touched.
const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// An action that a person may let run once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Code {
    pub code: String,
    /// All of the action.
    pub text: Shown,
    pub left_ms: u64,
    /// Whose call it was offered for, where the log says so.
    pub of: Option<Key>,
}

/// Everything that is shown, at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Seen {
    pub now_ms: u64,
    /// Newest first.
    pub sessions: Vec<Session>,
    /// Newest first.
    pub codes: Vec<Code>,
    /// What could not be read; empty = nothing.
    pub fault: Shown,
}

/// Where it comes from.
#[derive(Debug)]
pub struct Feed {
    tail: Tail,
    store: Store,
    permits: Permits,
    checkpoints: Checkpoints,
    sessions: Sessions,
    only: Option<SessionId>,
    looks: u32,
}

impl Feed {
    pub fn new(machine: &Machine, only: Option<&str>) -> Result<Feed> {
        let dirs = &machine.dirs;
        let log = audit::dir(&dirs.state);
        let id = |text: &str| {
            SessionId::new(text).ok_or_else(|| anyhow!("watch: {} is not an id of a session", escape(text)))
        };
        let filter = Filter { session: only.map(str::to_owned), ..Filter::default() };
        let most = if only.is_some() { u64::MAX } else { LOG };
        Ok(Feed {
            tail: Tail::late(&log, filter, most)?,
            store: Store::new(&dirs.state),
            permits: Permits::new(&dirs.state),
            checkpoints: Checkpoints::new(&dirs.state, Policy::default().checkpoints),
            sessions: Sessions::default(),
            only: only.map(id).transpose()?,
            looks: 0,
        })
    }

    /// What there is to see now.
    pub fn look(&mut self) -> Seen {
        let now = clock::now();
        let mut fault = Shown::default();
        let mut note = |read: Result<(), Fault>| {
            if let Err(error) = read {
                fault = Shown::of(&error.message());
            }
        };
        let sessions = &mut self.sessions;
        note(self.tail.poll(|found| {
            if let Found::Line(line) = found
                && !line.session.starts_with(doctor::PROBE)
            {
                sessions.add(&line);
            }
        }));
        if self.looks.is_multiple_of(SELDOM) {
            note(self.meet(now));
        }
        self.looks = self.looks.wrapping_add(1);
        for session in self.sessions.each() {
            stand(&self.store, session, now);
        }
        let sessions = self.sessions.newest_first();
        let mut codes = Vec::new();
        note(self.permits.offers(now).map(|offers| {
            codes = offers
                .into_iter()
                .map(|offer| Code {
                    of: of(&sessions, &offer.code),
                    text: Shown::whole(&offer.text),
                    left_ms: offer.left_ms(now),
                    code: offer.code,
                })
                .collect();
        }));
        codes.retain(|code| self.only.is_none() || code.of.is_some());
        crate::domain::sort_by(&mut codes, |one, other| {
            other.left_ms.cmp(&one.left_ms).then_with(|| one.code.cmp(&other.code))
        });
        Seen { now_ms: now.unix_ms, sessions, codes, fault }
    }

    /// The same, where a session that was asked for must be there.
    pub fn first(&mut self) -> Result<Seen> {
        let seen = self.look();
        if let Some(id) = self.only.as_ref().filter(|_| seen.sessions.is_empty()) {
            bail!(
                "watch: there is no session {}; `lazaret watch --once` shows those there are",
                escape(id.as_str())
            );
        }
        Ok(seen)
    }

    /// The call that a checkpoint was made before.
    pub fn made_before(&self, id: &str) -> Option<String> {
        let manifest = self.checkpoints.find(id).ok().flatten()?;
        Some(format!("{}: {}", manifest.tool, manifest.action))
    }

    /// Sessions that the log's newest part does not name: of the last day, and those that a person lets go on.
    fn meet(&mut self, now: Now) -> Result<(), Fault> {
        for (subject, age_ms) in state::known(&self.store, now)? {
            let probe = subject.session.as_str().starts_with(doctor::PROBE);
            let wanted = match &self.only {
                Some(only) => subject.session == *only,
                None => !probe && (age_ms < DAY_MS || self.waits(&subject, now)),
            };
            if wanted {
                let key =
                    Key { client: subject.client.name().to_owned(), id: subject.session.as_str().to_owned() };
                self.sessions.meet(key, now.unix_ms.saturating_sub(age_ms));
            }
        }
        Ok(())
    }

    fn waits(&self, subject: &Subject, now: Now) -> bool {
        state::glance(&self.store, subject, now)
            .is_ok_and(|glance| glance.is_some_and(|glance| glance.waits()))
    }
}

/// The session that the code was offered to.
fn of(sessions: &[Session], code: &str) -> Option<Key> {
    let has = |session: &&Session| session.calls.iter().any(|call| call.code.as_deref() == Some(code));
    sessions.iter().find(has).map(|session| session.key.clone())
}

/// Says of the session where it stands.
fn stand(store: &Store, session: &mut Session, now: Now) {
    let (client, id) = (Client::from_name(&session.key.client), SessionId::new(&session.key.id));
    let (Some(client), Some(id)) = (client, id) else { return };
    let subject = Subject { client, session: id, agent: None, agent_type: None };
    let glance = match state::glance(store, &subject, now) {
        Ok(glance) => glance.unwrap_or_default(),
        Err(fault) => {
            (session.status, session.why) = (Status::Unreadable, Shown::of(&fault.message()));
            return;
        }
    };
    session.count = glance.calls;
    let Glance { stopped, held, throttled, .. } = glance;
    (session.status, session.why) = match (stopped, held, throttled) {
        (Some(why), ..) => (Status::Stopped, Shown::of(&why)),
        (None, Some(why), _) => (Status::Held, Shown::of(&why)),
        (None, None, Some((calls, until_ms))) => {
            let left = span(until_ms.saturating_sub(now.unix_ms));
            (Status::Throttled, Shown::of(&format!("at most {calls} calls a minute for {left} more")))
        }
        (None, None, None) => (session.by_itself(now.unix_ms), Shown::default()),
    };
}
