//! `lazaret allow CODE`: a person's one-time permission. Demands a terminal, so that an agent's shell cannot give it.

use std::io::{IsTerminal, Write};

use anyhow::{Result, bail};

use crate::cli::record::Log;
use crate::cli::{Exit, Machine};
use crate::domain::{Policy, escape};
use crate::host::clock;
use crate::host::permit::Permits;

pub fn run(code: &str, machine: &Machine, out: &mut dyn Write) -> Result<Exit> {
    if !std::io::stdin().is_terminal() {
        bail!("allow: standard input is not a terminal; a person must run this by hand");
    }
    let Some(permit) = Permits::new(&machine.dirs.state).grant(code, clock::now())? else {
        bail!(
            "allow {code}: there is no such code, or it has expired; make the agent try again for a new one"
        );
    };
    let log =
        Log { state: &machine.dirs.state, env: &machine.env, policy: &Policy::default(), now: clock::now() };
    log.permission(&permit.text)?;
    writeln!(out, "allowed once, for ten minutes: {}", escape(&permit.text))?;
    Ok(Exit::Fine)
}
