//! Which quarantined agents there are, which session each is bound to, since when, and which still work: one small file
//! under the room's lock. While a session is open there is one: when it is gone or damaged, every agent is refused until the
//! sessions have ended.

use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::holder::{Holder, Lookout};
use super::life::open_ids;
use super::record::{self, Session, Why, elapsed_ms};
use super::room::{Room, fault};
use super::waiting::{AgentKey, Waiting};
use crate::domain::{AgentId, Client, Fault, ReviewId, SessionId};
use crate::host::clock::Now;
use crate::host::dirs::Dirs;

/// Most agents that are remembered.
pub const MAX_AGENTS: usize = 1_000;
const FILE: &str = "register.json";
/// Longest register, in bytes.
const MAX: u64 = 4 << 20;
const VERSION: u32 = 1;
/// What the name of a damaged register begins with.
const DAMAGED: &str = "register.json.damaged-";

/// What has become of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AgentState {
    /// It holds one of the places.
    Working,
    /// It ended; if it goes on, its binding and its deadline are what they were.
    Left,
    /// It worked longer than it may.
    TimedOut,
}

/// An agent that may go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entered {
    pub session: Session,
    pub since: Now,
    /// Until its deadline.
    pub left_ms: u64,
    /// This call bound it.
    pub first: bool,
}

/// Why an agent may not go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Denied {
    /// It is bound to no session, and names none.
    Unbound,
    /// It is bound to another session than the one it names.
    OtherSession {
        bound: ReviewId,
    },
    /// As many agents work as may.
    TooMany,
    /// Its deadline has passed; the caller ends the session.
    TimedOut {
        review: ReviewId,
    },
    /// It had ended, and comes back after its deadline: it is out, and the review goes on without it.
    Late,
    NoSuchSession,
    Ended {
        review: ReviewId,
        why: Why,
    },
}

/// An agent in the list for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentRow {
    pub client: String,
    pub session: String,
    pub agent: Option<String>,
    pub review: String,
    pub since: Now,
    /// Until its deadline; 0 when it has passed.
    pub left_ms: u64,
    pub state: AgentState,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Row {
    client: String,
    session: String,
    agent: Option<String>,
    review: String,
    unix_ms: u64,
    boot_ms: u64,
    timeout_s: u32,
    state: AgentState,
    /// How often its answer was refused.
    #[serde(default)]
    sent_back: u32,
    /// The client's process; none = it cannot be said.
    #[serde(default)]
    holder: Option<Holder>,
}

impl Row {
    fn is(&self, key: &AgentKey) -> bool {
        self.of_session(key.client, &key.session)
            && self.agent.as_deref() == key.agent.as_ref().map(AgentId::as_str)
    }

    fn of_session(&self, client: Client, session: &SessionId) -> bool {
        self.client == client.name() && self.session == session.as_str()
    }

    fn since(&self) -> Now {
        Now { unix_ms: self.unix_ms, boot_ms: self.boot_ms }
    }

    /// Until its deadline: none = it has passed.
    fn left_ms(&self, now: Now) -> Option<u64> {
        (u64::from(self.timeout_s) * 1000).checked_sub(elapsed_ms(now, self.since()))
    }

    /// Whether it holds one of the places.
    fn works(&self, now: Now) -> bool {
        self.state == AgentState::Working && self.left_ms(now).is_some()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Register {
    version: u32,
    /// Why an earlier one was lost; set, it refuses everybody.
    lost: Option<String>,
    rows: Vec<Row>,
    /// Agents that were started and made no call yet.
    #[serde(default)]
    pub(super) waiting: Vec<Waiting>,
}

impl Register {
    fn new() -> Register {
        Register { version: VERSION, lost: None, rows: Vec::new(), waiting: Vec::new() }
    }

    /// How many places are taken, by all but this agent.
    pub(super) fn taken(&self, key: Option<&AgentKey>, now: Now) -> usize {
        let others = self.rows.iter().filter(|row| row.works(now) && !key.is_some_and(|key| row.is(key)));
        others.count() + self.waiting.iter().filter(|waiting| waiting.is_kept(now)).count()
    }
}

/// Sees to it that there is one before the first session is open, so that a lost one is missed.
pub(super) fn begin(room: &Room, open: &[ReviewId]) -> Result<(), Fault> {
    if open.is_empty() && !room.exists(FILE) { save(room, &Register::new()) } else { Ok(()) }
}

/// Lets an agent go on, if it may. Its first call binds it to `wanted`, which the caller has verified, takes one of
/// `concurrent` places, and starts its time; later calls only look.
pub fn enter(
    dirs: &Dirs,
    key: &AgentKey,
    wanted: Option<&ReviewId>,
    now: Now,
    concurrent: u32,
) -> Result<Result<Entered, Denied>, Fault> {
    let absent = || if wanted.is_some() { Denied::NoSuchSession } else { Denied::Unbound };
    let Some(room) = Room::open(dirs)? else { return Ok(Err(absent())) };
    let Some(_lock) = room.lock()? else { return Ok(Err(absent())) };
    let mut register = intact(&room, now)?;
    let before = register.clone();
    let answer = admit(&room, &mut register, (key, wanted), now, concurrent)?;
    if register != before {
        save(&room, &register)?;
    }
    Ok(answer)
}

fn admit(
    room: &Room,
    register: &mut Register,
    (key, wanted): (&AgentKey, Option<&ReviewId>),
    now: Now,
    concurrent: u32,
) -> Result<Result<Entered, Denied>, Fault> {
    let places = usize::try_from(concurrent).unwrap_or(usize::MAX);
    let taken = register.taken(Some(key), now);
    let full = taken >= places;
    let Some(row) = register.rows.iter_mut().find(|row| row.is(key)) else {
        let Some(wanted) = wanted else { return Ok(Err(Denied::Unbound)) };
        let session = match usable(room, wanted, now)? {
            Ok(session) => session,
            Err(denied) => return Ok(Err(denied)),
        };
        // One place was kept for it when it was started.
        let own = |waiting: &Waiting| waiting.is_of(key.client, &key.session) && waiting.is_in(wanted);
        let own = register.waiting.iter().position(|waiting| waiting.is_kept(now) && own(waiting));
        if taken - usize::from(own.is_some()) >= places || !make_room(room, register)? {
            return Ok(Err(Denied::TooMany));
        }
        if let Some(own) = own {
            register.waiting.remove(own);
        }
        let row = Row {
            client: key.client.name().to_owned(),
            session: key.session.as_str().to_owned(),
            agent: key.agent.as_ref().map(|agent| agent.as_str().to_owned()),
            review: wanted.as_str().to_owned(),
            unix_ms: now.unix_ms,
            boot_ms: now.boot_ms,
            timeout_s: session.timeout_s,
            state: AgentState::Working,
            sent_back: 0,
            holder: Holder::above(),
        };
        let left_ms = row.left_ms(now).unwrap_or(0);
        register.rows.push(row);
        return Ok(Ok(Entered { session, since: now, left_ms, first: true }));
    };
    let review = ReviewId::parse(&row.review)
        .ok_or_else(|| fault(&room.at(FILE), "it names a session by no id of ours"))?;
    let left_ms = match (row.state, row.left_ms(now)) {
        (AgentState::Working | AgentState::Left, Some(left_ms)) => left_ms,
        (AgentState::Left, None) => {
            return Ok(Err(usable(room, &review, now)?.err().unwrap_or(Denied::Late)));
        }
        (AgentState::TimedOut, _) | (AgentState::Working, None) => {
            row.state = AgentState::TimedOut;
            return Ok(Err(Denied::TimedOut { review }));
        }
    };
    let session = match usable(room, &review, now)? {
        Ok(session) => session,
        Err(denied) => return Ok(Err(denied)),
    };
    if wanted.is_some_and(|wanted| *wanted != review) {
        return Ok(Err(Denied::OtherSession { bound: review }));
    }
    if row.state == AgentState::Left {
        if full {
            return Ok(Err(Denied::TooMany));
        }
        row.state = AgentState::Working;
        // Its client may have been started anew.
        row.holder = Holder::above();
    }
    Ok(Ok(Entered { session, since: row.since(), left_ms, first: false }))
}

/// The session, if it is open and not too old.
fn usable(room: &Room, review: &ReviewId, now: Now) -> Result<Result<Session, Denied>, Fault> {
    let denied = |why| match why {
        Why::TimedOut => Denied::TimedOut { review: review.clone() },
        Why::Asked | Why::Expired | Why::ClientEnded | Why::ProcessGone | Why::Broken => {
            Denied::Ended { review: review.clone(), why }
        }
    };
    Ok(match record::load(room, review)? {
        None => Err(Denied::NoSuchSession),
        Some(Session { ended: Some(ended), .. }) => Err(denied(ended.why)),
        Some(session) if session.is_expired(now) => Err(denied(Why::Expired)),
        Some(session) => Ok(session),
    })
}

/// Sees to it that there is room for one more: when it is full, agents of sessions that are not open any more go.
fn make_room(room: &Room, register: &mut Register) -> Result<bool, Fault> {
    if register.rows.len() >= MAX_AGENTS {
        let open = open_ids(room)?;
        register.rows.retain(|row| open.iter().any(|id| id.as_str() == row.review));
    }
    Ok(register.rows.len() < MAX_AGENTS)
}

/// The session that an agent is bound to; nothing is changed.
pub fn bound(dirs: &Dirs, key: &AgentKey) -> Result<Option<ReviewId>, Fault> {
    let Some(room) = Room::open(dirs)? else { return Ok(None) };
    let register = read(&room)?.map_err(|why| lost(&room, &why))?;
    if let Some(why) = &register.lost {
        return Err(lost(&room, why));
    }
    let row = register.rows.iter().find(|row| row.is(key));
    Ok(row.and_then(|row| ReviewId::parse(&row.review)))
}

/// How often answers were refused, this time included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SentBack {
    /// Of this agent.
    pub agent: u32,
    /// Of all agents of its review.
    pub review: u32,
}

/// Counts that an agent's answer was refused: none = it may not give another one, because it is bound to no session that
/// is open or has no time left.
pub fn sent_back(dirs: &Dirs, key: &AgentKey, now: Now) -> Result<Option<SentBack>, Fault> {
    let Some(room) = Room::open(dirs)? else { return Ok(None) };
    let Some(_lock) = room.lock()? else { return Ok(None) };
    let mut register = intact(&room, now)?;
    let Some(row) = register.rows.iter_mut().find(|row| row.is(key)) else { return Ok(None) };
    let Some(review) = ReviewId::parse(&row.review).filter(|_| row.left_ms(now).is_some()) else {
        return Ok(None);
    };
    if usable(&room, &review, now)?.is_err() {
        return Ok(None);
    }
    row.sent_back = row.sent_back.saturating_add(1);
    let agent = row.sent_back;
    let of_review = register.rows.iter().filter(|row| row.review == review.as_str());
    let all = of_review.fold(0_u32, |sum, row| sum.saturating_add(row.sent_back));
    save(&room, &register)?;
    Ok(Some(SentBack { agent, review: all }))
}

/// Gives an agent's place back: `false` = it had none.
pub fn leave(dirs: &Dirs, key: &AgentKey, now: Now) -> Result<bool, Fault> {
    Ok(!set_left(dirs, now, |row| row.is(key))?.is_empty())
}

/// Gives back the places of all agents of a client's session, and names the reviews in which nobody works any more: they
/// are to be ended.
pub fn leave_session(
    dirs: &Dirs,
    client: Client,
    session: &SessionId,
    now: Now,
) -> Result<Vec<ReviewId>, Fault> {
    if let Some(room) = Room::open(dirs)? {
        super::places::forget(&room, client, session, now)?;
    }
    set_left(dirs, now, |row| row.of_session(client, session))
}

/// Marks the rows that `whose` picks, and names their reviews in which nobody works any more.
fn set_left(dirs: &Dirs, now: Now, whose: impl Fn(&Row) -> bool) -> Result<Vec<ReviewId>, Fault> {
    let Some(room) = Room::open(dirs)? else { return Ok(Vec::new()) };
    let Some(_lock) = room.lock()? else { return Ok(Vec::new()) };
    let mut register = intact(&room, now)?;
    let before = register.clone();
    let mut reviews: Vec<String> = Vec::new();
    for row in register.rows.iter_mut().filter(|row| whose(row)) {
        if row.state == AgentState::Working {
            row.state = AgentState::Left;
        }
        if !reviews.contains(&row.review) {
            reviews.push(row.review.clone());
        }
    }
    if register != before {
        save(&room, &register)?;
    }
    let works = |review: &String| register.rows.iter().any(|row| row.review == *review && row.works(now));
    reviews.retain(|review| !works(review));
    Ok(reviews.iter().filter_map(|review| ReviewId::parse(review)).collect())
}

/// All agents, for a person. A damaged register is a fault; nothing is repaired.
pub fn agents(dirs: &Dirs, now: Now) -> Result<Vec<AgentRow>, Fault> {
    let Some(room) = Room::open(dirs)? else { return Ok(Vec::new()) };
    let register = read(&room)?.map_err(|why| lost(&room, &why))?;
    if let Some(why) = &register.lost {
        return Err(lost(&room, why));
    }
    let row = |row: Row| AgentRow {
        since: row.since(),
        left_ms: row.left_ms(now).unwrap_or(0),
        state: if row.left_ms(now).is_none() && row.state == AgentState::Working {
            AgentState::TimedOut
        } else {
            row.state
        },
        client: row.client,
        session: row.session,
        agent: row.agent,
        review: row.review,
    };
    Ok(register.rows.into_iter().map(row).collect())
}

/// What the register says of the sessions that are open; a damaged one says nothing.
pub(super) struct Stock {
    rows: Vec<Row>,
    now: Now,
}

/// Looked up once for all sessions.
pub(super) fn stock(room: &Room, now: Now) -> Stock {
    let rows = read(room).ok().and_then(Result::ok).map(|register| register.rows);
    Stock { rows: rows.unwrap_or_default(), now }
}

impl Stock {
    /// Whether an agent works in it that is past its deadline.
    pub fn is_overdue(&self, review: &ReviewId) -> bool {
        let late = |row: &Row| row.state == AgentState::Working && row.left_ms(self.now).is_none();
        self.rows.iter().any(|row| row.review == review.as_str() && late(row))
    }

    /// Whether everybody is known to have ended who could go on with it: the clients of its agents; before there are any,
    /// who opened it.
    pub fn is_deserted(&self, session: &Session, lookout: &mut Lookout) -> bool {
        let mut holders: Vec<Option<Holder>> = Vec::new();
        for row in self.rows.iter().filter(|row| row.review == session.id.as_str()) {
            if !holders.contains(&row.holder) {
                holders.push(row.holder);
            }
        }
        if holders.is_empty() {
            holders.push(session.opener);
        }
        holders.into_iter().all(|holder| holder.is_some_and(|holder| lookout.is_gone(holder)))
    }
}

/// The agents of a session that has ended give their places back; the late ones are remembered as such.
pub(super) fn release(room: &Room, review: &ReviewId, now: Now) -> Result<(), Fault> {
    // A lost register has nobody to release, and must not keep a session from ending.
    let Ok(mut register) = intact(room, now) else { return Ok(()) };
    let before = register.clone();
    for row in register.rows.iter_mut().filter(|row| row.review == review.as_str()) {
        if row.state == AgentState::Working {
            row.state = if row.left_ms(now).is_some() { AgentState::Left } else { AgentState::TimedOut };
        }
    }
    if register == before { Ok(()) } else { save(room, &register) }
}

/// Drops the agents of sessions of which nothing is left but this.
pub(super) fn drop_rows(room: &Room, gone: &[ReviewId], now: Now) -> Result<(), Fault> {
    let Ok(mut register) = intact(room, now) else { return Ok(()) };
    let before = register.rows.len();
    register.rows.retain(|row| !gone.iter().any(|id| id.as_str() == row.review));
    if register.rows.len() == before { Ok(()) } else { save(room, &register) }
}

/// Once no session is open, a lost register has nobody left to hold back, and an empty one nobody to remember.
pub(super) fn forget_useless(room: &Room) -> Result<(), Fault> {
    match read(room)? {
        Ok(Register { lost: None, rows, .. }) if !rows.is_empty() => Ok(()),
        Ok(_) | Err(_) => room.remove(FILE).map(|_| ()),
    }
}

/// Whether a file of that name is a damaged register.
pub(super) fn is_kept_aside(name: &str) -> bool {
    name.starts_with(DAMAGED)
}

/// Removes the register of a room that is given up.
pub(super) fn remove(room: &Room) -> Result<(), Fault> {
    room.remove(FILE).map(|_| ())
}

/// The register, under the lock. A damaged one is kept aside, and one that refuses everybody is put in its place.
pub(super) fn intact(room: &Room, now: Now) -> Result<Register, Fault> {
    let why = match read(room)? {
        Ok(Register { lost: Some(why), .. }) => return Err(lost(room, &why)),
        Ok(register) => return Ok(register),
        Err(why) => why,
    };
    let kept = format!("{DAMAGED}{}", now.unix_ms);
    let why = match rustix::fs::renameat(&room.dir, FILE, &room.dir, kept.as_str()) {
        Ok(()) => format!("{why}; it was kept as {}", room.at(&kept).display()),
        Err(Errno::NOENT) => why,
        Err(errno) => return Err(super::room::cannot(&room.at(FILE), errno)),
    };
    save(room, &Register { lost: Some(why.clone()), ..Register::new() })?;
    Err(lost(room, &why))
}

/// The register, or why it is none; where no session is open, a missing one is empty. One that is not ours is a fault.
fn read(room: &Room) -> Result<Result<Register, String>, Fault> {
    let Some(bytes) = room.read(FILE, MAX)? else {
        let missed = !open_ids(room)?.is_empty();
        return Ok(if missed { Err("it is gone".to_owned()) } else { Ok(Register::new()) });
    };
    Ok(match crate::host::from_json::<Register>(&bytes) {
        Ok(register) if register.version == VERSION => Ok(register),
        Ok(register) => Err(format!("it is of version {}, which is not ours", register.version)),
        Err(error) => Err(format!("it is damaged ({error})")),
    })
}

pub(super) fn save(room: &Room, register: &Register) -> Result<(), Fault> {
    let bytes = serde_json::to_vec(register).map_err(|error| fault(&room.at(FILE), error.to_string()))?;
    if bytes.len() as u64 > MAX {
        return Err(fault(&room.at(FILE), format!("it would be longer than {MAX} bytes")));
    }
    room.write(FILE, &bytes)
}

fn lost(room: &Room, why: &str) -> Fault {
    fault(&room.at(FILE), format!("{why}; no quarantined agent may go on"))
        .with_hint("a person can end the reviews with `lazaret review end`, and start anew")
}
