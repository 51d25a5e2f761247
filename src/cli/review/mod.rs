//! Review mode's commands: sessions, references, agents, an answer's cleaning, the whole review at once. What is allowed in
//! quarantine is decided elsewhere.

mod agents;
pub mod args;
mod findings;
mod headless;
mod parse;
mod refs;
mod run;
mod sessions;
pub mod shared;
mod start;

use std::io::Write;

use anyhow::Result;

use crate::cli::CHECKS;
use crate::cli::config::line;
use crate::cli::record::Log;
use crate::cli::{Exit, Machine};
use crate::domain::{Fault, FaultKind, Policy, ReviewId, clip, escape};
use crate::host::clock::{self, Now};
use crate::host::config;
use crate::host::quarantine::{self, Session, Why};
use args::{RefCommand, ReviewCommand};

/// Longest text of the command line that is quoted in a message, in bytes.
const QUOTED: usize = 200;

pub fn run(command: &ReviewCommand, machine: &Machine, out: &mut dyn Write) -> Result<Exit> {
    match command {
        ReviewCommand::Start(args) => start::start(args, &Office::open(machine)?, out),
        ReviewCommand::List { json } => sessions::list(*json, &Office::look(machine), out),
        ReviewCommand::Show { id, prompt, json } => {
            sessions::show(id, (*prompt, *json), &Office::look(machine), out)
        }
        ReviewCommand::End { id, json, .. } => {
            sessions::end(id.as_deref(), *json, &Office::lenient(machine), out)
        }
        ReviewCommand::Parse(args) => parse::parse(args, &Office::look(machine), out),
        ReviewCommand::Run(args) => run::run(args, &Office::open(machine)?, out),
    }
}

pub fn reference(command: &RefCommand, machine: &Machine, out: &mut dyn Write) -> Result<Exit> {
    let office = Office::look(machine);
    match command {
        RefCommand::Create { session, path, json } => refs::create((session, path), *json, &office, out),
        RefCommand::Verify { uri, session, json } => {
            refs::verify(uri, session.as_deref(), *json, &office, out)
        }
    }
}

pub fn agents(json: bool, machine: &Machine, out: &mut dyn Write) -> Result<Exit> {
    agents::agents(json, &Office::look(machine), out)
}

/// One command at work: the machine, the policy, the moment it began.
struct Office<'m> {
    machine: &'m Machine,
    policy: Policy,
    now: Now,
}

impl Office<'_> {
    /// For a command that opens a session: what is over is ended first, and the configuration must be usable.
    fn open(machine: &Machine) -> Result<Office<'_>> {
        let policy = config::load(&machine.dirs, &machine.places()?, CHECKS)?.policy;
        let office = Office { machine, policy, now: clock::now() };
        office.tidy()?;
        Ok(office)
    }

    /// For a command that looks. What cannot be tidied up is what it may be there to show.
    fn look(machine: &Machine) -> Office<'_> {
        let office = Office::lenient(machine);
        let _tidied = office.tidy();
        office
    }

    /// For the end of a session, which no broken configuration may hold up.
    fn lenient(machine: &Machine) -> Office<'_> {
        let load = |places| config::load(&machine.dirs, &places, CHECKS).ok();
        let policy = machine.places().ok().and_then(load).map(|loaded| loaded.policy).unwrap_or_default();
        Office { machine, policy, now: clock::now() }
    }

    fn log(&self) -> Log<'_> {
        self.machine.log(&self.policy)
    }

    /// Ends what is over.
    fn tidy(&self) -> Result<(), Fault> {
        self.log().reviews_ended(&quarantine::sweep(&self.machine.dirs, self.now)?.ended)
    }

    /// Ends a session and says so in the log: `false` = it was not open.
    fn end(&self, id: &ReviewId, why: Why) -> Result<bool, Fault> {
        let ended = quarantine::end(&self.machine.dirs, id, why, clock::now())?;
        if ended {
            self.log().review_ended(id, why)?;
        }
        Ok(ended)
    }

    /// A session that could not be noted in the log must not be. The first error is what counts.
    fn noted(&self, session: &Session, noted: Result<(), Fault>) -> Result<(), Fault> {
        if noted.is_err() {
            let _ended = quarantine::end(&self.machine.dirs, &session.id, Why::Broken, clock::now());
        }
        noted
    }

    /// The session of that id, open or ended.
    fn session(&self, id: &ReviewId) -> Result<Session, Fault> {
        quarantine::load(&self.machine.dirs, id)?.ok_or_else(|| {
            Fault::new(FaultKind::State, format!("review {id}"), "there is no such session")
                .with_hint("lazaret review list")
        })
    }

    /// The same, when it is still open.
    fn open_session(&self, id: &ReviewId) -> Result<Session, Fault> {
        let session = self.session(id)?;
        match session.ended {
            None => Ok(session),
            Some(ended) => {
                let why = format!("it ended at {} ({})", clock::rfc3339(ended.unix_ms), ended.why.name());
                Err(Fault::new(FaultKind::State, format!("review {id}"), why).with_hint("start a new review"))
            }
        }
    }
}

/// A session's id as a person wrote it.
fn id(text: &str) -> Result<ReviewId, Fault> {
    ReviewId::parse(text).ok_or_else(|| {
        let what = format!("review {}", escape(&clip(text, QUOTED)));
        Fault::new(FaultKind::Config, what, "that is not a session's id").with_hint("lazaret review list")
    })
}

/// Seconds until a session expires.
fn seconds_left(session: &Session, now: Now) -> u64 {
    session.expires_unix_ms().saturating_sub(now.unix_ms) / 1000
}
