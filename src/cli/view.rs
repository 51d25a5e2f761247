//! What the program beside this one does (`report`, `watch`, `completions`, `man`): arguments, and its start.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;
use clap::Args;

use super::Exit;
use super::args::client_name;
use crate::domain::{Client, Fault, FaultKind};
use crate::host::released;

#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Only this session (default: the newest one)
    #[arg(long, value_name = "ID", conflicts_with = "since")]
    pub session: Option<String>,
    /// All sessions since then: RFC 3339 (2026-01-31T12:00:00Z) or an age (90s, 15m, 2h, 7d)
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Only this client
    #[arg(long, value_parser = client_name(), value_name = "CLIENT")]
    pub client: Option<Client>,
    /// Hold the log against this verification key too: its text, or @FILE
    #[arg(long, value_name = "KEY")]
    pub key: Option<String>,
    /// A new file (default: lazaret-report-TIME.html here); - = standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Show it in the browser
    #[arg(long)]
    pub open: bool,
}

#[derive(Debug, Args)]
pub struct WatchArgs {
    /// Only this session
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Print what is there now and end, as on a pipe
    #[arg(long)]
    pub once: bool,
}

/// Becomes the second program, with the arguments of this one. They are given: what the standard library knows of them is empty in a
/// process that did not start its way.
pub fn run(args: &[OsString]) -> Result<Exit> {
    let program = released::beside(released::VIEW)?;
    let error = Command::new(&program).args(args.iter().skip(1)).exec();
    let fault = Fault::new(FaultKind::Host, program.display().to_string(), error.to_string());
    Err(fault.with_hint("it comes with lazaret and lies beside it: install lazaret again").into())
}
