//! `lazaret audit`: the log for people.

use std::io::Write;
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result, anyhow, bail};
use serde_json::Value;

use crate::cli::Exit;
use crate::cli::args::{AuditCommand, AuditFilter};
use crate::domain::{Verdict, escape};
use crate::host::audit::{self, Filter};
use crate::host::dirs::Dirs;

pub fn run(command: &AuditCommand, dirs: &Dirs, out: &mut dyn Write) -> Result<Exit> {
    match command {
        AuditCommand::Show(filter) => print(filter, None, dirs, out),
        AuditCommand::Tail { lines, filter } => print(filter, Some(*lines), dirs, out),
    }
}

fn print(args: &AuditFilter, last: Option<usize>, dirs: &Dirs, out: &mut dyn Write) -> Result<Exit> {
    let filter = resolve(args)?;
    let mut events = Vec::new();
    let mut damaged = 0_usize;
    for line in audit::read(&dirs.state, &filter)? {
        match line {
            Ok(event) => events.push(event),
            Err(_) => damaged += 1,
        }
        if let Some(last) = last
            && events.len() > last
        {
            events.remove(0);
        }
    }
    for event in &events {
        if args.json {
            writeln!(out, "{event}")?;
        } else {
            line(event, out)?;
        }
    }
    if damaged > 0 {
        bail!("audit log: {damaged} lines could not be read; they are left where they are");
    }
    Ok(Exit::Fine)
}

/// One event in one line: time, verdict, tool, action, rules.
fn line(event: &Value, out: &mut dyn Write) -> std::io::Result<()> {
    let text = |key: &str| event.get(key).and_then(Value::as_str).unwrap_or_default();
    let rules: Vec<&str> =
        event.get("rules").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let verdict = if text("verdict").is_empty() { text("event") } else { text("verdict") };
    let action = if text("action").is_empty() { text("note") } else { text("action") };
    write!(out, "{}  {:<6}  {:<8}  {}", text("time"), verdict, text("tool"), escape(action))?;
    if !rules.is_empty() {
        write!(out, "  [{}]", rules.join(", "))?;
    }
    writeln!(out)
}

fn resolve(args: &AuditFilter) -> Result<Filter> {
    if let Some(verdict) = &args.verdict {
        let known = [Verdict::Allow, Verdict::Warn, Verdict::Modify, Verdict::Block].map(Verdict::name);
        if !known.contains(&verdict.as_str()) {
            bail!("--verdict {verdict}: it is one of {}", known.join(", "));
        }
    }
    Ok(Filter {
        session: args.session.clone(),
        verdict: args.verdict.clone(),
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
        (Err(_), Ok(age)) => SystemTime::now().checked_sub(age).ok_or_else(|| anyhow!("{option} {text}: too long ago"))?,
        (Err(_), Err(_)) => bail!("{option} {text}: give a time (2026-01-31T12:00:00Z) or an age (90s, 15m, 2h, 7d)"),
    };
    let since = point.duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
    u64::try_from(since.as_millis()).with_context(|| format!("{option} {text}: out of range"))
}
