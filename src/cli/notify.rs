//! `lazaret notify REPORT`: the command that the user named is told of a stopped session. The hook starts this and does not
//! wait; a person can, to see whether it works.

use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, bail};

use crate::cli::CHECKS;
use crate::cli::record::Log;
use crate::cli::{Exit, Machine};
use crate::domain::{Fault, FaultKind};
use crate::host::child::{self, End, Terms};
use crate::host::{clock, config, places, reports};

/// How long the command may take, and how long it then has to end by itself.
const LIMIT: Duration = Duration::from_secs(10);
const GRACE: Duration = Duration::from_secs(1);

pub fn run(report: &Path, machine: &Machine, out: &mut dyn Write) -> Result<Exit> {
    // Not where this was started: no project has a say.
    let places = places::locate(&machine.env, &machine.dirs, "/");
    let policy = config::load(&machine.dirs, &places, CHECKS)?.policy;
    let [program, args @ ..] = policy.interventions.notify.as_slice() else {
        bail!("notify: interventions.notify is not set");
    };
    let report = reports::open(&machine.dirs.state, report)?;
    let mut command = Command::new(program);
    command.args(args).stdin(report).current_dir("/");
    let terms = Terms { limit: Some(LIMIT), grace: GRACE, shares_stderr: false };
    let failed = match child::run(&mut command, terms, &mut |_| ControlFlow::Continue(())) {
        Err(error) => Some(error.to_string()),
        Ok(ran) => match ran.end {
            End::Exit(0) => None,
            End::Exit(code) => Some(format!("it ended with exit code {code}")),
            End::Signal(signal) => Some(format!("it was ended by signal {signal}")),
            End::TimedOut => Some(format!("it did not end within {} s", LIMIT.as_secs())),
            End::Ended | End::Stopped(_) => Some("lazaret was stopped".to_owned()),
        },
    };
    let log = Log { state: &machine.dirs.state, env: &machine.env, policy: &policy, now: clock::now() };
    if let Some(why) = failed {
        let fault = Fault::new(FaultKind::Host, format!("interventions.notify {program}"), why);
        log.fault(&fault)?;
        return Err(fault.into());
    }
    log.notified(program)?;
    writeln!(out, "{program} was notified")?;
    Ok(Exit::Fine)
}
