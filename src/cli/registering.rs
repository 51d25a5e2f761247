//! From the command line's words to those of `install`, `uninstall` and `doctor`.

use std::io::Write;
use std::path::Path;

use anyhow::Result;

use crate::cli::accept;
use crate::cli::args::{RegisterArgs, Scope as Named, Which};
use crate::cli::audit::key;
use crate::cli::doctor::{self, Configured, DoctorOptions};
use crate::cli::install::{self, InstallOptions};
use crate::cli::uninstall::{self, UninstallOptions};
use crate::cli::{Exit, Machine};
use crate::domain::Client;
use crate::host::guard;
use crate::host::registration::{Scope, Surroundings};

pub fn install(args: &RegisterArgs, machine: &Machine, out: &mut dyn Write) -> Result<Exit> {
    let options = InstallOptions {
        clients: clients(args.client),
        scope: scope(args.scope),
        dry_run: args.dry_run,
        bin: args.bin.clone(),
    };
    let here = of_scope(surroundings(machine)?, options.scope);
    let exit = install::install(&options, &here, out)?;
    // A registration for every user is nobody's configuration and nobody's log.
    let of_user = exit == Exit::Fine && !options.dry_run && options.scope != Scope::System;
    if of_user {
        accept::at_installation(&machine.dirs, &machine.places()?, out)?;
        key::first(machine, out)?;
    }
    Ok(exit)
}

pub fn uninstall(args: &RegisterArgs, machine: &Machine, out: &mut dyn Write) -> Result<Exit> {
    let options = UninstallOptions {
        clients: clients(args.client),
        scope: args.scope.map(|named| scope(Some(named))),
        dry_run: args.dry_run,
    };
    let here = surroundings(machine)?;
    let here = options.scope.map_or(here.clone(), |scope| of_scope(here, scope));
    let exit = uninstall::uninstall(&options, &here, out)?;
    let whole = args.client.is_none_or(|which| which.0.is_none());
    let for_all = Path::new(SYSTEM_STATE).exists();
    let last = options.scope.map_or(!for_all, |scope| scope == Scope::System);
    if exit == Exit::Fine && whole && last {
        uninstall::beside(&here.exe, options.dry_run, out)?;
    }
    Ok(exit)
}

pub fn doctor(json: bool, machine: Machine, out: &mut dyn Write) -> Result<Exit> {
    let here = surroundings(&machine)?;
    let places = machine.places()?;
    let configured = Configured { dirs: machine.dirs, places };
    let options = DoctorOptions { clients: Vec::new(), json, patience: doctor::PATIENCE, configured };
    // What it has made for its probes goes before it does.
    guard::note_stops();
    doctor::doctor(&options, &here, out)
}

pub(super) fn surroundings(machine: &Machine) -> Result<Surroundings> {
    Ok(Surroundings::of_process(&machine.env, &machine.dirs)?)
}

/// The record of a registration for every user lies where every user finds it.
const SYSTEM_STATE: &str = "/var/lib/lazaret";

fn of_scope(here: Surroundings, scope: Scope) -> Surroundings {
    match scope {
        Scope::System => Surroundings { state_dir: SYSTEM_STATE.into(), ..here },
        Scope::User | Scope::Project | Scope::Local => here,
    }
}

fn clients(named: Option<Which>) -> Vec<Client> {
    match named {
        None => Vec::new(),
        Some(Which(Some(client))) => vec![client],
        Some(Which(None)) => Client::ALL.to_vec(),
    }
}

fn scope(named: Option<Named>) -> Scope {
    match named {
        None | Some(Named::User) => Scope::User,
        Some(Named::Project) => Scope::Project,
        Some(Named::Local) => Scope::Local,
        Some(Named::System) => Scope::System,
    }
}
