//! `lazaret resume SESSION`: a person lets a session go on. Demands a terminal, so that an agent's shell cannot do it.

use std::io::{IsTerminal, Write};

use anyhow::{Result, anyhow, bail};

use crate::cli::record::Log;
use crate::cli::{Exit, Machine};
use crate::domain::{Client, Policy, SessionId, Subject, escape};
use crate::host::clock;
use crate::host::state::{self, Look, Store};

pub fn run(session: &str, machine: &Machine, out: &mut dyn Write) -> Result<Exit> {
    if !std::io::stdin().is_terminal() {
        bail!("resume: standard input is not a terminal; a person must run this by hand");
    }
    let id = SessionId::new(session)
        .ok_or_else(|| anyhow!("resume {}: not an id of a session", escape(session)))?;
    let (store, now) = (Store::new(&machine.dirs.state), clock::now());
    for client in Client::ALL {
        let subject = Subject { client, session: id.clone(), agent: None, agent_type: None };
        let stand = state::look(&store, &subject, now, Look { records: 0, window_ms: 0 })?;
        let behaviour = &stand.behaviour;
        let limited =
            behaviour.throttle.is_some() || behaviour.held.is_some() || behaviour.most_calls.is_some();
        if stand.stopped.is_none() && !limited {
            continue;
        }
        state::amend(&store, &subject, now, |document| {
            document.stopped = None;
            document.behaviour.released();
            document.behaviour.most_calls = None;
        })?;
        let why = stand.stopped.as_deref().unwrap_or("it was slowed down or held back");
        let log = Log { state: &machine.dirs.state, env: &machine.env, policy: &Policy::default(), now };
        log.resumed(&format!("{} {session}: {why}", client.name()))?;
        writeln!(
            out,
            "session {} of {} goes on; it was held because: {}",
            escape(session),
            client.name(),
            escape(why)
        )?;
        return Ok(Exit::Fine);
    }
    bail!("resume {}: no session of that id is stopped, slowed down or held back", escape(session))
}
