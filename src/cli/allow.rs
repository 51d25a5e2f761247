//! `lazaret allow CODE`: a person's one-time permission. Demands a terminal, so that an agent's shell cannot give it.

use std::io::{IsTerminal, Write};

use anyhow::{Result, bail};

use crate::cli::Exit;
use crate::domain::escape;
use crate::host::state::Store;
use crate::host::{clock, permit};

pub fn run(code: &str, store: &Store, out: &mut dyn Write) -> Result<Exit> {
    if !std::io::stdin().is_terminal() {
        bail!("allow: standard input is not a terminal; a person must run this by hand");
    }
    let granted = permit::grant(store, code, clock::now())?;
    writeln!(out, "allowed once: {}", escape(&granted))?;
    writeln!(out, "the agent may now make exactly this call again, one time, within ten minutes of its block")?;
    Ok(Exit::Fine)
}
