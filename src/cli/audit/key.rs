//! `lazaret audit key`: a person is given, once, what later events are verified with. Demands a terminal, so that it ends in no agent's
//! transcript.

use std::io::{IsTerminal, Read, Write};

use anyhow::{Context, Result, bail};

use crate::cli::record::Log;
use crate::cli::{CHECKS, Exit, Machine};
use crate::domain::Policy;
use crate::host::audit::{self, End, VerificationKey};
use crate::host::{clock, config};

/// Longest file that a key is read from.
const LONGEST: u64 = 64 * 1024;

pub fn run(machine: &Machine, out: &mut dyn Write) -> Result<Exit> {
    if !is_terminal() {
        bail!("audit key: standard input and output must be a terminal; a person must run this by hand");
    }
    let policy = config::load(&machine.dirs, &machine.places()?, CHECKS)?.policy;
    if !policy.audit.enabled {
        bail!("audit key: the audit log is switched off (audit.enabled)");
    }
    give(machine, &policy, out)?;
    Ok(Exit::Fine)
}

/// The same at the end of an installation, where a person looks on and nobody was given a key yet.
pub fn first(machine: &Machine, out: &mut dyn Write) -> Result<()> {
    let policy = config::load(&machine.dirs, &machine.places()?, CHECKS)?.policy;
    let none = match audit::end(&audit::dir(&machine.dirs.state))? {
        End::None | End::Fine { given: 0 } => true,
        End::Fine { .. } | End::Wrong(_) => false,
    };
    if none && policy.audit.enabled && is_terminal() {
        writeln!(out)?;
        give(machine, &policy, out)?;
    }
    Ok(())
}

fn is_terminal() -> bool {
    std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

fn give(machine: &Machine, policy: &Policy, out: &mut dyn Write) -> Result<()> {
    let state = &machine.dirs.state;
    let key = audit::give(&audit::dir(state), clock::now())?;
    // This event is the first one that the key is for, and the last one for which it is on the machine.
    let log = Log { state, env: &machine.env, policy, now: clock::now() };
    log.key_given(&format!("for all events from number {} on", key.first()))?;
    writeln!(out, "the audit log's verification key, for all events from number {} on:", key.first())?;
    writeln!(out)?;
    writeln!(out, "  {}", key.text())?;
    writeln!(out)?;
    writeln!(out, "keep it away from this machine: it is shown this once, and is not on it any more")?;
    writeln!(out, "verify with it: lazaret audit verify --key KEY (or @FILE)")?;
    Ok(())
}

/// The key of a text, or in a file.
pub fn read(text: &str) -> Result<VerificationKey> {
    let text = match text.strip_prefix('@') {
        None if VerificationKey::is_meant(text) => text.to_owned(),
        path => {
            let path = path.unwrap_or(text);
            let file = std::fs::File::open(path).with_context(|| format!("--key {path}"))?;
            let mut text = String::new();
            file.take(LONGEST).read_to_string(&mut text).with_context(|| format!("--key {path}"))?;
            text
        }
    };
    // Of a file any line.
    let found = text.lines().find_map(VerificationKey::parse);
    found.context("--key: this is no verification key of `lazaret audit key`, or it was mistyped")
}
