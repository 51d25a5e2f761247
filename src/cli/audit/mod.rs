//! `lazaret audit`: the log for people and other programs.

pub mod args;
mod csv;
pub mod ecs;
mod export;
pub mod key;
mod prune;
pub mod select;
pub(super) mod verify;

use std::collections::VecDeque;
use std::io::Write;
use std::time::Duration;

use anyhow::{Result, bail};

use crate::cli::{Exit, Machine};
use crate::domain::{clip, escape};
use crate::host::audit::{self, End, Found, Line, Tail};
use args::{AuditCommand, Form, Select, Show};

/// Between two looks for new events.
const PAUSE: Duration = Duration::from_millis(200);

pub fn run(command: &AuditCommand, machine: &Machine, out: &mut dyn Write) -> Result<Exit> {
    match command {
        AuditCommand::Show(show) => {
            every((&show.select, show.key.as_deref()), machine, |line| print(line, show, out))
        }
        AuditCommand::Tail { lines, follow: false, show } => tail(*lines, show, machine, out),
        AuditCommand::Tail { lines, follow: true, show } => follow(*lines, show, machine, out),
        AuditCommand::Verify { json, key, log } => {
            verify::run(verify::What { key: key.as_deref(), log: log.as_deref() }, *json, machine, out)
        }
        AuditCommand::Key { if_none: false } => key::run(machine, out),
        AuditCommand::Key { if_none: true } => key::first(machine, out).map(|()| Exit::Fine),
        AuditCommand::Export { format, plugin, output, select } => {
            let into = match (format, plugin) {
                (_, Some(name)) => export::Into::Plugin(name),
                (format, None) => export::Into::Form(format.unwrap_or(Form::Json)),
            };
            export::run(into, output.as_deref(), select, machine, out)
        }
        AuditCommand::Prune { before, keep_days, dry_run, json } => {
            let what = prune::What { before: before.as_deref(), keep_days: *keep_days, dry_run: *dry_run };
            prune::run(what, *json, machine, out)
        }
    }
}

/// Every event that passes, held against a verification key if one is given; what is torn, and what does not verify, is said in
/// the end.
fn every(
    (args, key): (&Select, Option<&str>),
    machine: &Machine,
    mut f: impl FnMut(&Line) -> std::io::Result<()>,
) -> Result<Exit> {
    let (mut torn, mut unverified) = (Vec::new(), 0_usize);
    let dir = audit::dir(&machine.dirs.state);
    let key = key.map(key::read).transpose()?;
    for found in audit::marked(&dir, select::filter(args, machine)?, key.as_ref())? {
        match found? {
            Found::Line(line) => {
                unverified += usize::from(line.wrong.is_some());
                f(&line)?;
            }
            Found::Torn { file, offset, length } => torn.push((file, offset, length)),
        }
    }
    if unverified > 0 {
        bail!(
            "{unverified} of these events do not verify; where the log stops being what was written says `lazaret audit verify`"
        );
    }
    if let End::Wrong(bad) = audit::end(&dir)? {
        bail!(
            "the end of the log does not verify: {}; `lazaret audit verify` says more",
            verify::why(bad.wrong)
        );
    }
    match torn.first() {
        None => Ok(Exit::Fine),
        Some((file, offset, length)) => bail!(
            "{}: {length} bytes at byte {offset} are no event, and {} more such places; they are left where they are",
            file.display(),
            torn.len() - 1
        ),
    }
}

fn tail(last: usize, show: &Show, machine: &Machine, out: &mut dyn Write) -> Result<Exit> {
    let mut kept = VecDeque::new();
    let told = every((&show.select, show.key.as_deref()), machine, |line| {
        keep(&mut kept, line.clone(), last);
        Ok(())
    });
    for line in &kept {
        print(line, show, out)?;
    }
    told
}

fn keep(kept: &mut VecDeque<Line>, line: Line, last: usize) {
    kept.push_back(line);
    if kept.len() > last {
        kept.pop_front();
    }
}

/// The newest events, and new ones until the reader goes away. What is torn is left to `show` and `verify`.
fn follow(last: usize, show: &Show, machine: &Machine, out: &mut dyn Write) -> Result<Exit> {
    let key = show.key.as_deref().map(key::read).transpose()?;
    let dir = audit::dir(&machine.dirs.state);
    let mut tail = Tail::marked(&dir, select::filter(&show.select, machine)?, key.as_ref())?;
    let mut kept = VecDeque::new();
    tail.poll(|found| {
        if let Found::Line(line) = found {
            keep(&mut kept, *line, last);
        }
    })?;
    loop {
        for line in kept.drain(..) {
            print(&line, show, out)?;
        }
        out.flush()?;
        std::thread::sleep(PAUSE);
        tail.poll(|found| {
            if let Found::Line(line) = found {
                kept.push_back(*line);
            }
        })?;
    }
}

/// One event in one line: time, verdict, tool, action, rules; or the line as it stands in the log.
fn print(line: &Line, show: &Show, out: &mut dyn Write) -> std::io::Result<()> {
    if show.json {
        return writeln!(out, "{}", line.marked());
    }
    let what: &str = match line.told() {
        Some(verdict) => verdict.name(),
        None => &line.event,
    };
    if let Some(wrong) = line.wrong {
        write!(out, "DOES NOT VERIFY ({})  ", wrong.name())?;
    }
    if show.ids {
        write!(out, "{}  ", line.id)?;
    }
    let action = if line.action.is_empty() { &line.note } else { &line.action };
    write!(out, "{}  {what:<6}  {:<8}  {}", line.time, line.tool, escape(&clip(action, 300)))?;
    if !line.rules.is_empty() {
        write!(out, "  [{}]", line.rules.join(", "))?;
    }
    if !line.action.is_empty() && !line.note.is_empty() {
        write!(out, "  ({})", escape(&clip(&line.note, 100)))?;
    }
    writeln!(out)
}
