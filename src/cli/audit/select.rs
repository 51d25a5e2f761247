//! Which events are meant: from the command line's words to a filter.

use std::time::{Duration, SystemTime};

use anyhow::{Context, Result, anyhow, bail};

use super::args::Select;
use crate::domain::Verdict;
use crate::host::audit::Filter;

/// The filter that the arguments describe.
pub fn filter(args: &Select) -> Result<Filter> {
    let verdicts = [Verdict::Allow, Verdict::Warn, Verdict::Modify, Verdict::Block];
    let verdict = match &args.verdict {
        None => None,
        Some(name) => Some(verdicts.into_iter().find(|verdict| verdict.name() == name).ok_or_else(|| {
            anyhow!("--verdict {name}: it is one of {}", verdicts.map(Verdict::name).join(", "))
        })?),
    };
    Ok(Filter {
        client: args.client.map(Into::into),
        session: args.session.clone(),
        agent: args.agent.clone(),
        verdict,
        rule: args.rule.clone(),
        tool: args.tool.clone(),
        event: args.event.clone(),
        since_ms: args.since.as_deref().map(|text| time(text, "--since")).transpose()?,
        until_ms: args.until.as_deref().map(|text| time(text, "--until")).transpose()?,
    })
}

/// A point in time in Unix milliseconds: RFC 3339, a date, or an age before now.
pub fn time(text: &str, option: &str) -> Result<u64> {
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
