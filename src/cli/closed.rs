//! Whether the gate is closed, asked before a client is started headless.

use anyhow::Result;

use crate::cli::Machine;
use crate::cli::doctor::{self, Configured, DoctorOptions, Status};
use crate::cli::progress::stopped;
use crate::domain::{Client, Fault, FaultKind, escape};
use crate::host::guard;
use crate::host::registration::Surroundings;

/// Refuses unless the gate of this client is proven closed where it will run: without the hook it cannot be `what`.
pub fn closed(client: Client, what: &str, here: &Surroundings, machine: &Machine) -> Result<()> {
    let configured = Configured { dirs: machine.dirs.clone(), places: machine.places()? };
    let options =
        DoctorOptions { clients: vec![client], json: false, patience: doctor::PATIENCE, configured };
    let mut report = doctor::Report::default();
    doctor::examine(&options, here, &mut report);
    if guard::stop_asked().is_some() {
        return Err(stopped(client.name()));
    }
    let open = report.lines.iter().find(|line| line.status == Status::Fail && line.subject == client.name());
    match open {
        None => Ok(()),
        Some(line) => {
            let fault = Fault::new(
                FaultKind::Config,
                format!("{} cannot be {what}", client.name()),
                escape(&line.message),
            );
            Err(fault.with_hint(escape(line.fix.as_deref().unwrap_or("lazaret doctor"))).into())
        }
    }
}
