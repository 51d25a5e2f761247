//! `lazaret audit`: the log for people.

use std::collections::VecDeque;
use std::io::Write;
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result, anyhow, bail};

use crate::cli::args::{AuditCommand, AuditFilter};
use crate::cli::{Exit, Machine};
use crate::domain::{Verdict, clip, escape};
use crate::host::audit::{self, Filter, Found, Line};

pub fn run(command: &AuditCommand, machine: &Machine, out: &mut dyn Write) -> Result<Exit> {
    match command {
        AuditCommand::Show(filter) => print(filter, None, machine, out),
        AuditCommand::Tail { lines, filter } => print(filter, Some(*lines), machine, out),
    }
}

fn print(args: &AuditFilter, last: Option<usize>, machine: &Machine, out: &mut dyn Write) -> Result<Exit> {
    let mut kept: VecDeque<Line> = VecDeque::new();
    let mut torn = Vec::new();
    for found in audit::lines(&audit::dir(&machine.dirs.state), resolve(args)?)? {
        match found? {
            Found::Line(line) => match last {
                None => show(&line, args.json, out)?,
                Some(last) => {
                    kept.push_back(*line);
                    if kept.len() > last {
                        kept.pop_front();
                    }
                }
            },
            Found::Torn { file, offset, length } => torn.push((file, offset, length)),
        }
    }
    for line in &kept {
        show(line, args.json, out)?;
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

/// One event in one line: time, verdict, tool, action, rules; or the line as it stands in the log.
fn show(line: &Line, json: bool, out: &mut dyn Write) -> std::io::Result<()> {
    if json {
        return writeln!(out, "{}", line.text);
    }
    let what: &str = match line.verdict {
        Some(verdict) => verdict.name(),
        None => &line.event,
    };
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

fn resolve(args: &AuditFilter) -> Result<Filter> {
    let verdicts = [Verdict::Allow, Verdict::Warn, Verdict::Modify, Verdict::Block];
    let verdict = match &args.verdict {
        None => None,
        Some(name) => Some(verdicts.into_iter().find(|verdict| verdict.name() == name).ok_or_else(|| {
            anyhow!("--verdict {name}: it is one of {}", verdicts.map(Verdict::name).join(", "))
        })?),
    };
    Ok(Filter {
        session: args.session.clone(),
        verdict,
        rule: args.rule.clone(),
        tool: args.tool.clone(),
        event: args.event.clone(),
        since_ms: args.since.as_deref().map(|text| time(text, "--since")).transpose()?,
        until_ms: args.until.as_deref().map(|text| time(text, "--until")).transpose()?,
    })
}

/// A point in time in Unix milliseconds: RFC 3339, a date, or an age before now.
fn time(text: &str, option: &str) -> Result<u64> {
    let full = if text.len() == 10 { format!("{text}T00:00:00Z") } else { text.to_owned() };
    let point = match (humantime::parse_rfc3339_weak(&full), humantime::parse_duration(text)) {
        (Ok(point), _) => point,
        (Err(_), Ok(age)) => {
            SystemTime::now().checked_sub(age).ok_or_else(|| anyhow!("{option} {text}: too long ago"))?
        }
        (Err(_), Err(_)) => {
            bail!("{option} {text}: give a time (2026-01-31T12:00:00Z) or an age (90s, 15m, 2h, 7d)")
        }
    };
    let since = point.duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
    u64::try_from(since.as_millis()).with_context(|| format!("{option} {text}: out of range"))
}
