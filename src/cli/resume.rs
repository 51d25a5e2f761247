//! `lazaret resume SESSION`: a person lets a session go on. Demands a terminal, so that an agent's shell cannot do it.

use std::io::{IsTerminal, Write};

use anyhow::{Result, anyhow, bail};

use crate::cli::{Exit, Machine};
use crate::domain::{Client, EventKind, Policy, SessionId, Subject, escape};
use crate::host::clock;
use crate::host::state::{self, Look, Store};

pub fn run((session, of): (&str, Option<Client>), machine: &Machine, out: &mut dyn Write) -> Result<Exit> {
    if !std::io::stdin().is_terminal() {
        bail!("resume: standard input is not a terminal; a person must run this by hand");
    }
    let id = SessionId::new(session)
        .ok_or_else(|| anyhow!("resume {}: not an id of a session", escape(session)))?;
    let (store, now) = (Store::new(&machine.dirs.state), clock::now());
    let mut held = Vec::new();
    for client in Client::ALL.into_iter().filter(|client| of.is_none_or(|of| of == *client)) {
        let subject = Subject { client, session: id.clone(), agent: None, agent_type: None };
        let stand = state::look(&store, &subject, now, Look { records: 0, window_ms: 0 })?;
        let behaviour = &stand.behaviour;
        let limited =
            behaviour.throttle.is_some() || behaviour.held.is_some() || behaviour.most_calls.is_some();
        if stand.stopped.is_some() || limited {
            held.push((subject, stand.stopped));
        }
    }
    let (subject, stopped) = match held.pop() {
        Some(found) if held.is_empty() => found,
        Some(_) => {
            bail!("resume {}: sessions of several clients have that id; name one: --client", escape(session))
        }
        None => {
            bail!("resume {}: no session of that id is stopped, slowed down or held back", escape(session))
        }
    };
    state::amend(&store, &subject, now, |document| {
        document.stopped = None;
        document.behaviour.released();
        document.behaviour.most_calls = None;
    })?;
    let why = stopped.as_deref().unwrap_or("it was slowed down or held back");
    let client = subject.client.name();
    let note = format!("{client} {session}: {why}");
    machine.log(&Policy::default()).plain(EventKind::SessionResumed, &note)?;
    writeln!(out, "session {} of {client} goes on; it was held because: {}", escape(session), escape(why))?;
    Ok(Exit::Fine)
}
