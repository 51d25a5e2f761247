//! From the command line's words to those of `config` and `trust`, and trust given or taken into the audit log.

use std::io::{IsTerminal, Write};
use std::path::Path;

use anyhow::Result;

use crate::cli::args::{ConfigCommand, TrustAction};
use crate::cli::record::Log;
use crate::cli::{Exit, Machine, config, trust};
use crate::domain::Policy;
use crate::host::clock;

pub fn config(command: &ConfigCommand, machine: &Machine, out: &mut dyn Write) -> Result<Exit> {
    let (dirs, places) = (&machine.dirs, machine.places()?);
    match command {
        ConfigCommand::Init => config::init(dirs, out)?,
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
            return Ok(Exit::Fine);
        }
        (TrustAction::Allow, _) => {
            let terminal = std::io::stdin().is_terminal();
            ("allowed", trust::allow(dirs, &places, file, terminal, out)?)
        }
        (TrustAction::Deny, _) => ("denied", trust::deny(dirs, &places, file, out)?),
    };
    let log = Log { state: &dirs.state, env: &machine.env, policy: &Policy::default(), now: clock::now() };
    for path in paths {
        log.trust(&format!("{path}: {what}"))?;
    }
    Ok(Exit::Fine)
}
