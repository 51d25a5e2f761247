//! `lazaret audit prune`: old files of the log are removed.

use std::io::Write;

use anyhow::Result;
use serde_json::json;

use super::select;
use crate::cli::CHECKS;
use crate::cli::record::Log;
use crate::cli::{Exit, Machine};
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
    let pruned = audit::prune(&audit::dir(&machine.dirs.state), before, now, what.dry_run)?;
    let until = clock::rfc3339(before);
    if !what.dry_run && !pruned.files.is_empty() {
        let log = Log { state: &machine.dirs.state, env: &machine.env, policy: &policy, now: clock::now() };
        log.pruned(&format!(
            "{} files with {} bytes, from before {until}",
            pruned.files.len(),
            pruned.bytes
        ))?;
    }
    if json {
        let told = json!({
            "removed": !what.dry_run, "before": until, "files": pruned.files, "bytes": pruned.bytes,
        });
        writeln!(out, "{told}")?;
        return Ok(Exit::Fine);
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
    Ok(Exit::Fine)
}
