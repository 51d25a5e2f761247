//! `lazaret allow CODE`: a person's one-time permission, or that there is none. Demands a terminal, so that an agent's shell cannot
//! give it.

use std::io::{IsTerminal, Write};

use anyhow::{Result, bail};

use crate::cli::{Exit, Machine};
use crate::domain::{EventKind, Policy, escape};
use crate::host::clock;
use crate::host::permit::Permits;

pub fn run(code: &str, refuse: bool, machine: &Machine, out: &mut dyn Write) -> Result<Exit> {
    if !std::io::stdin().is_terminal() {
        bail!("allow: standard input is not a terminal; a person must run this by hand");
    }
    let (permits, now) = (Permits::new(&machine.dirs.state), clock::now());
    let found = if refuse { permits.refuse(code, now)? } else { permits.grant(code, now)? };
    let Some(permit) = found else {
        bail!(
            "allow {code}: there is no such code, or it has expired; make the agent try again for a new one"
        );
    };
    let (kind, done) = if refuse {
        (EventKind::PermissionRefused, "refused, and the code is good for nothing any more")
    } else {
        (EventKind::PermissionGranted, "allowed once, for ten minutes")
    };
    machine.log(&Policy::default()).plain(kind, &permit.text)?;
    writeln!(out, "{done}: {}", escape(&permit.text))?;
    Ok(Exit::Fine)
}
