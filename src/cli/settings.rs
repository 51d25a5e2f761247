//! From the command line's words to those of `config` and `trust`, and trust given or taken into the audit log.

use std::io::{IsTerminal, Write};
use std::path::Path;

use anyhow::Result;

use crate::cli::args::{ConfigCommand, TrustAction};
use crate::cli::record::Log;
use crate::cli::{Exit, Machine, accept, config, except, surfaces, trust};
use crate::domain::Policy;
use crate::host::clock;

pub fn config(command: &ConfigCommand, machine: &Machine, out: &mut dyn Write) -> Result<Exit> {
    let (dirs, places) = (&machine.dirs, machine.places()?);
    match command {
        ConfigCommand::Init => config::init(dirs, out)?,
        ConfigCommand::Edit => recorded(accept::edit(dirs, &places, is_terminal(), out)?, machine)?,
        ConfigCommand::Accept => recorded(accept::accept(dirs, &places, is_terminal(), out)?, machine)?,
        ConfigCommand::Show { json } => config::show(dirs, &places, *json, out)?,
        ConfigCommand::Path { json } => config::path(dirs, &places, *json, out)?,
        ConfigCommand::Check { file, json } => {
            if !config::check(dirs, &places, file.as_deref(), *json, out)? {
                return Ok(Exit::Failed);
            }
        }
    }
    Ok(Exit::Fine)
}

pub fn except(args: &except::ExceptArgs, machine: &Machine, out: &mut dyn Write) -> Result<Exit> {
    except::run(args, (&machine.dirs, &machine.places()?), is_terminal(), out)?;
    recorded(true, machine)?;
    Ok(Exit::Fine)
}

fn is_terminal() -> bool {
    std::io::stdin().is_terminal()
}

/// A person's word on the user's file into the log.
fn recorded(accepted: bool, machine: &Machine) -> Result<()> {
    let dirs = &machine.dirs;
    if accepted {
        let log =
            Log { state: &dirs.state, env: &machine.env, policy: &Policy::default(), now: clock::now() };
        log.trust(&format!("{}: accepted", dirs.config_file().display()))?;
    }
    Ok(())
}

/// `how`: what to do, and whether to print JSON.
pub fn trust(
    how: (TrustAction, bool),
    file: Option<&Path>,
    machine: &Machine,
    out: &mut dyn Write,
) -> Result<Exit> {
    let (dirs, places) = (&machine.dirs, machine.places()?);
    let (what, paths) = match how {
        (TrustAction::Show, json) => {
            trust::show(dirs, &places, json, out)?;
            if !json {
                surfaces::show(dirs, out)?;
            }
            return Ok(Exit::Fine);
        }
        (TrustAction::Allow, _) if let_be(file, machine, out)? => return Ok(Exit::Fine),
        (TrustAction::Allow, _) => ("allowed", trust::allow(dirs, &places, file, is_terminal(), out)?),
        (TrustAction::Deny, _) => ("denied", trust::deny(dirs, &places, file, out)?),
    };
    let log = Log { state: &dirs.state, env: &machine.env, policy: &Policy::default(), now: clock::now() };
    for path in paths {
        log.trust(&format!("{path}: {what}"))?;
    }
    Ok(Exit::Fine)
}

/// A file that was taken back from a client, put in place again as a person wants; false where it is none.
fn let_be(file: Option<&Path>, machine: &Machine, out: &mut dyn Write) -> Result<bool> {
    let Some(file) = file else { return Ok(false) };
    let dirs = &machine.dirs;
    let allowed = surfaces::allow(dirs, file, is_terminal(), out)?;
    if let Some(path) = &allowed {
        let log =
            Log { state: &dirs.state, env: &machine.env, policy: &Policy::default(), now: clock::now() };
        log.trust(&format!("{path}: allowed"))?;
    }
    Ok(allowed.is_some())
}
