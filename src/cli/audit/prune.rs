//! `lazaret audit prune`: old files of the log are removed.

use std::io::Write;

use anyhow::Result;
use serde_json::json;

use super::select;
use crate::cli::progress::{Progress, Total};
use crate::cli::{CHECKS, Exit, Machine};
use crate::domain::EventKind;
use crate::host::{audit, clock, config};

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// What is to be removed.
pub struct What<'a> {
    pub before: Option<&'a str>,
    pub keep_days: Option<u32>,
    pub dry_run: bool,
}

pub fn run(what: What<'_>, json: bool, machine: &Machine, out: &mut dyn Write) -> Result<Exit> {
    let policy = config::load(&machine.dirs, &machine.places()?, CHECKS)?.policy;
    let now = clock::now();
    let days = u64::from(what.keep_days.unwrap_or(policy.audit.retain_days));
    let before = match what.before {
        Some(text) => select::time(text, "--before")?,
        None => now.unix_ms.saturating_sub(days.saturating_mul(DAY_MS)),
    };
    let dir = audit::dir(&machine.dirs.state);
    let mut progress = Progress::begin("removing old files of the log", Total::UncountedFiles).finishing();
    let mut is_stopped = false;
    let pruned = audit::prune(&dir, before, now, what.dry_run, &mut |done| {
        let goes_on = progress.at(done);
        is_stopped |= goes_on.is_break();
        goes_on
    })?;
    let stopped = progress.stopped();
    drop(progress);
    let until = clock::rfc3339(before);
    if !what.dry_run && !pruned.files.is_empty() {
        let note = format!("{} files with {} bytes, from before {until}", pruned.files.len(), pruned.bytes);
        machine.log(&policy).plain(EventKind::AuditPruned, &note)?;
    }
    if json {
        let told = json!({
            "removed": !what.dry_run, "before": until, "files": pruned.files, "bytes": pruned.bytes,
        });
        writeln!(out, "{told}")?;
        return if is_stopped { Err(stopped) } else { Ok(Exit::Fine) };
    }
    let verb = if what.dry_run { "would remove" } else { "removed" };
    for file in &pruned.files {
        writeln!(out, "{verb} {}", file.display())?;
    }
    writeln!(
        out,
        "{verb} {} files with {} bytes, all from before {until}",
        pruned.files.len(),
        pruned.bytes
    )?;
    if is_stopped { Err(stopped) } else { Ok(Exit::Fine) }
}
