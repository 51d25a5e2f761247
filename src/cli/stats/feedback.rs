//! What people think of decisions: events of the log like any other, so that they are sealed, exported and pruned with it.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use anyhow::{Result, bail};

use super::args::{FeedbackArgs, Opinion};
use crate::cli::{Exit, Machine};
use crate::domain::{EventKind, Policy, Verdict, clip, escape};
use crate::host::audit::{self, Filter, Found, Line};

/// The newest event that was not simply allowed.
const LAST: &str = "last";
/// So much of an id is asked for at least: less is a guess.
const LEAST: usize = 4;

/// The last opinion on each event.
pub(super) type Opinions = BTreeMap<String, Opinion>;

/// All opinions that the log holds. A later one on the same event replaces the earlier.
pub(super) fn all(dir: &Path) -> Result<Opinions> {
    let only = Filter { event: Some(EventKind::Feedback.name().to_owned()), ..Filter::default() };
    let mut opinions = Opinions::new();
    for found in audit::lines(dir, only)? {
        let Found::Line(line) = found? else { continue };
        let said = [Opinion::Fp, Opinion::Ok].into_iter().find(|opinion| told(&line.note, *opinion));
        if let Some(opinion) = said {
            opinions.insert(line.action, opinion);
        }
    }
    Ok(opinions)
}

/// Whether a note says this, with or without a reason behind it.
fn told(note: &str, opinion: Opinion) -> bool {
    note.strip_prefix(opinion.name()).is_some_and(|rest| rest.is_empty() || rest.starts_with(": "))
}

pub fn run(args: &FeedbackArgs, machine: &Machine, out: &mut dyn Write) -> Result<Exit> {
    let line = find("feedback", &args.event, &audit::dir(&machine.dirs.state))?;
    let note = match args.note.as_deref().filter(|note| !note.is_empty()) {
        Some(why) => format!("{}: {why}", args.opinion.name()),
        None => args.opinion.name().to_owned(),
    };
    machine.log(&Policy::default()).alone(EventKind::Feedback, &line.id, &note)?;
    let verdict = line.told().map_or("", Verdict::name);
    let action = escape(&clip(&line.action, 200));
    writeln!(out, "{}: noted {} ({verdict} {} {action})", line.id, args.opinion.name(), line.tool)?;
    Ok(Exit::Fine)
}

/// The one decision that is meant: by the event's id or its beginning, by the client's id of the call, or the last.
pub fn find(command: &str, wanted: &str, dir: &Path) -> Result<Line> {
    if wanted != LAST && wanted.len() < LEAST {
        bail!("{command} {}: give at least {LEAST} digits of the event's id", escape(wanted));
    }
    let mut found: Option<Box<Line>> = None;
    let mut more = 0_u64;
    for next in audit::lines(dir, Filter::default())? {
        let Found::Line(line) = next? else { continue };
        let Some(verdict) = line.told() else { continue };
        if wanted == LAST {
            if verdict > Verdict::Allow {
                found = Some(line);
            }
        } else if line.call_id == wanted {
            // What came of it stands in later lines.
            return Ok(*line);
        } else if line.id.starts_with(wanted) {
            more += u64::from(found.is_some());
            found.get_or_insert(line);
        }
    }
    match found {
        Some(_) if more > 0 => {
            bail!("{command} {}: {} events begin so; give more of the id", escape(wanted), more + 1)
        }
        Some(line) => Ok(*line),
        None if wanted == LAST => bail!("{command} last: the log holds no call that was not simply allowed"),
        None => bail!(
            "{command} {}: no decision of that id is in the log; `lazaret audit tail --ids` shows them",
            escape(wanted)
        ),
    }
}
