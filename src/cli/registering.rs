//! From the command line's words to those of `install`, `uninstall` and `doctor`.

use std::io::Write;

use anyhow::Result;

use crate::cli::args::{RegisterArgs, Scope as Named, Which};
use crate::cli::audit::key;
use crate::cli::doctor::{self, Configured, DoctorOptions};
use crate::cli::install::{self, InstallOptions};
use crate::cli::uninstall::{self, UninstallOptions};
use crate::cli::{Exit, Machine};
use crate::domain::Client;
use crate::host::registration::{Scope, Surroundings};

pub fn install(args: &RegisterArgs, machine: &Machine, out: &mut dyn Write) -> Result<Exit> {
    let options = InstallOptions {
        clients: clients(args.client),
        scope: scope(args.scope),
        dry_run: args.dry_run,
        bin: args.bin.clone(),
    };
    let exit = install::install(&options, &surroundings(machine)?, out)?;
    if exit == install::Exit::Fine && !args.dry_run {
        key::first(machine, out)?;
    }
    Ok(ended(exit))
}

pub fn uninstall(args: &RegisterArgs, machine: &Machine, out: &mut dyn Write) -> Result<Exit> {
    let options = UninstallOptions {
        clients: clients(args.client),
        scope: args.scope.map(|named| scope(Some(named))),
        dry_run: args.dry_run,
    };
    Ok(ended(uninstall::uninstall(&options, &surroundings(machine)?, out)?))
}

pub fn doctor(json: bool, machine: Machine, out: &mut dyn Write) -> Result<Exit> {
    let here = surroundings(&machine)?;
    let places = machine.places()?;
    let configured = Configured { dirs: machine.dirs, places };
    let options = DoctorOptions { clients: Vec::new(), json, patience: doctor::PATIENCE, configured };
    Ok(ended(doctor::doctor(&options, &here, out)?))
}

pub(super) fn surroundings(machine: &Machine) -> Result<Surroundings> {
    Ok(Surroundings::of_process(&machine.env, &machine.dirs)?)
}

fn clients(named: Option<Which>) -> Vec<Client> {
    match named {
        None => Vec::new(),
        Some(Which::ClaudeCode) => vec![Client::ClaudeCode],
        Some(Which::OpenCode) => vec![Client::OpenCode],
        Some(Which::All) => Client::ALL.to_vec(),
    }
}

fn scope(named: Option<Named>) -> Scope {
    match named {
        None | Some(Named::User) => Scope::User,
        Some(Named::Project) => Scope::Project,
        Some(Named::Local) => Scope::Local,
    }
}

fn ended(exit: install::Exit) -> Exit {
    match exit {
        install::Exit::Fine => Exit::Fine,
        install::Exit::NotFine => Exit::Failed,
    }
}
