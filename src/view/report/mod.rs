//! `lazaret report`: one page about a session, or some time: what was done, stopped and changed, and what can be undone.

mod changes;
mod diff;
mod gather;
mod judged;
mod page;
mod story;

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::cli::view::ReportArgs;
use crate::cli::{Exit, Machine};
use crate::domain::escape;
use crate::host::{clock, files};
use page::Shown;

/// What shows a page.
const OPENER: &str = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };

pub fn run(args: &ReportArgs, machine: &Machine, out: &mut dyn Write) -> Result<Exit> {
    let printed = args.output.as_deref() == Some(Path::new("-"));
    if printed && args.open {
        bail!("report: --open shows a file, and --output - writes none");
    }
    let material = gather::gather(args, machine)?;
    let saved = changes::saved(&material.story.sessions, machine)?;
    let judged = judged::judge(&material.story, machine)?;
    let now = clock::now();
    let page =
        page::page(&Shown { material: &material, saved: &saved, judged: &judged, unix_ms: now.unix_ms });
    if printed {
        if std::io::stdout().is_terminal() {
            bail!("report: standard output is a terminal, which shows no page; name a file, or pipe it");
        }
        out.write_all(page.as_bytes())?;
        return Ok(Exit::Fine);
    }
    let path = args.output.clone().unwrap_or_else(|| named(now.unix_ms));
    files::create(&path, page.as_bytes())
        .with_context(|| format!("report: {}", escape(&path.to_string_lossy())))?;
    let path = path.canonicalize().unwrap_or(path);
    writeln!(out, "{}", escape(&path.to_string_lossy()))?;
    if args.open {
        open(&path)?;
    }
    Ok(Exit::Fine)
}

/// A name that no report had before.
fn named(unix_ms: u64) -> PathBuf {
    let time = clock::rfc3339(unix_ms).replace([':', '-'], "");
    PathBuf::from(format!("lazaret-report-{time}.html"))
}

/// Hands the page to the browser.
fn open(path: &Path) -> Result<()> {
    let mut command = Command::new(OPENER);
    command.arg(path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let ended = command
        .status()
        .with_context(|| format!("report: the page is there, but {OPENER} could not be run"))?;
    if !ended.success() {
        bail!("report: the page is there, but {OPENER} could not show it");
    }
    Ok(())
}
