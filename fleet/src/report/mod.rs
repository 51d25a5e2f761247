//! An overview of many machines, out of what they sent: the lines that a collector wrote, read in a stream.

mod bounds;
mod files;
mod json;
mod machine;
mod parse;
mod table;
mod tally;

use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Result, bail};
use clap::Args;
use lazaret::cli::audit::select;
use lazaret::domain::{clip, escape};

use tally::Tally;

/// Lines that could not be read which are named.
const NAMED: usize = 10;
/// Longest reason for one, in bytes.
const WHY: usize = 200;

#[derive(Debug, Args)]
pub struct Report {
    /// Files of a collector's, one request of OpenTelemetry as JSON a line; directories of such files; `-` for standard input
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Only count events since then: RFC 3339 (2026-01-31T12:00:00Z) or an age (90s, 15m, 2h, 7d)
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// A machine of which nothing was heard for so long is named
    #[arg(long, value_name = "AGE", default_value = "24h", value_parser = humantime::parse_duration)]
    silent: Duration,
    /// How many rules, policies and machines are named in each table
    #[arg(long, value_name = "N", default_value_t = 20)]
    top: usize,
    /// Print one JSON object, with all of them
    #[arg(long)]
    json: bool,
}

/// What was read, and what could not be.
#[derive(Debug)]
struct Overview {
    tally: Tally,
    silent: u64,
    files: usize,
    lines: u64,
    bad: u64,
    named: Vec<String>,
}

impl Overview {
    fn complain(&mut self, line: &files::Line<'_>, why: &str) {
        self.bad += 1;
        if self.named.len() < NAMED {
            let (file, why) = (escape(line.file), escape(&clip(why, WHY)));
            self.named.push(format!("{file}:{}: {why}", line.number));
        }
    }

    fn line(&mut self, line: &files::Line<'_>) {
        self.lines += 1;
        let Some(bytes) = line.bytes else {
            return self.complain(line, &format!("it is longer than {} MiB", files::LONGEST >> 20));
        };
        let mut wrong = None;
        let read = parse::line(bytes, &mut |origin, record| match record {
            Ok(record) => self.tally.add(origin, &record),
            Err(error) => {
                wrong.get_or_insert(error);
            }
        });
        if let Some(error) = read.err().or(wrong) {
            self.complain(line, &format!("{error:#}"));
        }
    }
}

/// Reads all of it, and says what it adds up to.
pub fn run(args: &Report, out: &mut dyn Write) -> Result<()> {
    let since = args.since.as_deref().map(|since| select::time(since, "--since")).transpose()?;
    let since = since.unwrap_or_default().saturating_mul(1_000_000);
    let files = files::meant(&args.files)?;
    let mut overview = Overview {
        tally: Tally::new(since, nanos(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())),
        silent: nanos(args.silent),
        files: files.len(),
        lines: 0,
        bad: 0,
        named: Vec::new(),
    };
    for file in &files {
        files::each(file, |line| overview.line(line))?;
    }
    if overview.tally.machines.is_empty() {
        let Overview { lines, bad, tally, .. } = &overview;
        let first = overview.named.first().map_or_else(String::new, |named| format!("; {named}"));
        bail!(
            "no event of lazaret's is in what was given: {lines} lines, {bad} of them not read, {} records of others{first}",
            tally.others
        );
    }
    Ok(if args.json { json::write(&overview, out) } else { table::write(&overview, args.top, out) }?)
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// A time as people read it; a dash for none.
fn time(nanos: u64) -> String {
    match nanos {
        0 => "-".to_owned(),
        _ => humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_nanos(nanos)).to_string(),
    }
}
