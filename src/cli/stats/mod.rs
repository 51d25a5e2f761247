//! `lazaret stats` and `lazaret feedback`: what the log adds up to, and what people think of single decisions.

pub mod args;
pub mod feedback;
mod json;
mod prometheus;
mod table;
mod tally;

use std::io::Write;

use anyhow::{Result, bail};

use crate::cli::audit::select;
use crate::cli::{Exit, Machine};
use crate::domain::{Subject, Verdict};
use crate::host::audit::{self, Filter, Found, Line};
use args::StatsArgs;
pub use tally::{BOUNDS_US, Tally};

pub fn run(args: &StatsArgs, machine: &Machine, out: &mut dyn Write) -> Result<Exit> {
    let dir = audit::dir(&machine.dirs.state);
    let mut tally = Tally::new(feedback::all(&dir)?);
    let mut torn = 0_u64;
    for found in audit::lines(&dir, select::filter(&args.select, machine)?)? {
        match found? {
            Found::Line(line) => tally.add(&line),
            Found::Torn { .. } => torn += 1,
        }
    }
    if args.prometheus {
        prometheus::write(&tally, out)?;
    } else if args.json {
        json::write(&tally, args.top, out)?;
    } else {
        table::write(&tally, args.top, out)?;
    }
    if torn > 0 {
        bail!("{torn} places of the log are no events and are not counted; see lazaret audit verify");
    }
    Ok(Exit::Fine)
}

/// What the log says of one session since `since_ms`, and the lines themselves of what was blocked, the first `most` of them.
pub fn of_session(
    session: &Subject,
    since_ms: u64,
    most: usize,
    machine: &Machine,
) -> Result<(Tally, Vec<Line>)> {
    let filter = Filter {
        client: Some(session.client),
        session: Some(session.session.as_str().to_owned()),
        since_ms: Some(since_ms),
        ..Filter::default()
    };
    let (mut tally, mut blocked) = (Tally::default(), Vec::new());
    for found in audit::lines(&audit::dir(&machine.dirs.state), filter)? {
        let Found::Line(line) = found? else { continue };
        tally.add(&line);
        if line.told() == Some(Verdict::Block) && blocked.len() < most {
            blocked.push(*line);
        }
    }
    Ok((tally, blocked))
}
