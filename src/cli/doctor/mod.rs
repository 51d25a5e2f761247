//! `lazaret doctor`: proves that the gate is closed by running what is registered as the client would run it. Changes
//! nothing by itself.

pub mod claude_code;
mod claude_plugins;
mod configuration;
mod hostile;
mod log;
pub mod machine;
pub mod opencode;
mod opened;
mod probe;
mod report;
mod reviewer;
pub mod standing;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;

pub use probe::{MUST_BLOCK, MUST_PASS};
pub use report::{Line, Report, Status};

use crate::cli::CHECKS;
use crate::cli::Exit;
use crate::cli::clients as handling;
use crate::cli::install::chosen;
use crate::cli::progress::stopped;
use crate::domain::{Client, Places, Policy};
use crate::host::dirs::Dirs;
use crate::host::registration::Surroundings;
use crate::host::registration::manifest::Manifest;
use crate::host::{config, guard};

/// How long a probe may take: far longer than the hook's own deadline, also on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// What the sessions begin with that a probe makes up, so that its calls are known for what they are.
pub const PROBE: &str = "lazaret-doctor-";

/// The fix for a binary that is where it should be and does not answer as it should.
pub const ANEW: &str =
    "look for rules that are switched off (lazaret config show), or put the binary in anew (install.sh)";

/// What `lazaret doctor` was asked to do.
#[derive(Debug, Clone)]
pub struct DoctorOptions {
    /// None named: those found.
    pub clients: Vec<Client>,
    pub json: bool,
    /// How long a probe may take; the registered time-out when that is shorter.
    pub patience: Duration,
    /// The configuration to be examined.
    pub configured: Configured,
}

/// Where the configuration is looked for.
#[derive(Debug, Clone)]
pub struct Configured {
    pub dirs: Dirs,
    pub places: Places,
}

/// Examines the clients named or found, and prints the result.
pub fn doctor(options: &DoctorOptions, here: &Surroundings, out: &mut dyn Write) -> Result<Exit> {
    let mut report = Report::default();
    examine(options, here, &mut report);
    if guard::stop_asked().is_some() {
        return Err(stopped("doctor"));
    }
    finish(&report, options.json, out)
}

/// Prints a report and says how it ended.
pub fn finish(report: &Report, json: bool, out: &mut dyn Write) -> Result<Exit> {
    if json {
        report.print_json(out)?;
    } else {
        report.print(out)?;
    }
    Ok(if report.is_well() { Exit::Fine } else { Exit::Failed })
}

/// Examines the clients and the machine.
pub fn examine(options: &DoctorOptions, here: &Surroundings, report: &mut Report) {
    let clients = chosen(&options.clients, here);
    if clients.is_empty() {
        report.fail("clients", handling::none_is_here(), "install a client, then: lazaret install");
    }
    let explained = config::explain(&options.configured.dirs, &options.configured.places, CHECKS);
    let deadline_ms = match &explained {
        Ok(explained) => explained.policy.deadline_ms,
        Err(_) => Policy::default().deadline_ms,
    };
    let deadline = Duration::from_millis(deadline_ms.into());
    // First what would be the cause of what the clients show.
    configuration::examine(&explained, report);
    configuration::policy(&options.configured.dirs.managed, report);
    if let Ok(explained) = &explained {
        opened::examine(explained, report);
        configuration::fleet(explained, &options.configured.dirs.state, report);
    }
    let examined = Examined { options, here, expected: expected(here), deadline };
    for client in clients {
        if guard::stop_asked().is_some() {
            return;
        }
        (handling::of(client).examine)(&examined, report);
        if client.about().reviews {
            reviewer::examine(client, here, report);
        }
    }
    standing::examine(here, report);
    machine::examine(here, report);
    log::examine(here, report);
}

/// What every examination looks at.
pub struct Examined<'a> {
    pub options: &'a DoctorOptions,
    pub here: &'a Surroundings,
    /// The binaries that a registration may name.
    expected: Vec<PathBuf>,
    /// After how long the hook ends by itself.
    deadline: Duration,
}

impl Examined<'_> {
    /// Whether `bin` is what install registered, or this binary.
    pub fn is_expected(&self, bin: &Path) -> bool {
        let real = bin.canonicalize().unwrap_or_else(|_| bin.to_path_buf());
        self.expected.contains(&real)
    }
}

fn expected(here: &Surroundings) -> Vec<PathBuf> {
    let mut expected: Vec<PathBuf> = Manifest::peek(here).bins().into_iter().map(PathBuf::from).collect();
    expected.push(here.exe.clone());
    expected.into_iter().map(|path| path.canonicalize().unwrap_or(path)).collect()
}
