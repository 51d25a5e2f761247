//! Which events are meant: from the command line's words to a filter.

use std::time::{Duration, SystemTime};

use anyhow::{Context, Result, anyhow, bail};

use super::args::Select;
use crate::cli::config::{nearest, unknown_rule};
use crate::cli::{CHECKS, Machine, Misnamed};
use crate::domain::{EventKind, OWN_IDS, Pattern, Policy, Verdict, names_id};
use crate::host::audit::{self, Filter, Found};
use crate::host::config;
use crate::rules;

/// The filter that the arguments describe.
pub fn filter(args: &Select, machine: &Machine) -> Result<Filter> {
    let verdict = match &args.verdict {
        None => None,
        Some(name) => match Verdict::from_name(name) {
            Some(verdict) => Some(verdict),
            None => return misnamed("--verdict", name, Verdict::NAMES.into_iter()),
        },
    };
    if let Some(name) = args.event.as_deref().filter(|name| EventKind::from_name(name).is_none()) {
        let stands = Filter { event: args.event.clone(), ..Filter::default() };
        if !is_in_log(stands, machine)? {
            return misnamed("--event", name, EventKind::NAMES.into_iter());
        }
    }
    if let Some(rule) = &args.rule {
        known_rule(rule, machine)?;
    }
    Ok(Filter {
        client: args.client,
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

/// The error of a name that is none of these.
fn misnamed<'a, T>(option: &str, name: &str, known: impl Iterator<Item = &'a str> + Clone) -> Result<T> {
    let hint = match nearest(name, known.clone()) {
        Some(near) => format!("did you mean {near}?"),
        None => format!("it is one of {}", known.collect::<Vec<_>>().join(", ")),
    };
    Err(Misnamed(format!("{option} {name}: there is none of that name; {hint}")).into())
}

/// Refuses the id of a rule that neither this lazaret, nor the configuration, nor the log knows.
fn known_rule(rule: &str, machine: &Machine) -> Result<()> {
    // A configuration that cannot be used is no reason to keep the log from anybody.
    let loaded = config::load(&machine.dirs, &machine.places()?, CHECKS);
    let policy = loaded.map_or_else(|_| Policy::default(), |loaded| loaded.policy);
    let patterns = pattern_ids(&policy);
    let mut others = OWN_IDS.iter().chain(rules::RETIRED).copied().chain(patterns.iter().map(String::as_str));
    if others.clone().any(|id| names_id(rule, id)) {
        return Ok(());
    }
    let Some(why) = unknown_rule(rule, &policy) else { return Ok(()) };
    if is_in_log(Filter { rule: Some(rule.to_owned()), ..Filter::default() }, machine)? {
        return Ok(());
    }
    // Of a rule's name and another's, the one that is nearer is meant.
    let why = match nearest(rule, others.by_ref()).filter(|_| !why.contains("did you mean")) {
        Some(near) => format!("no rule is called {rule:?}; did you mean {near}?"),
        None => why,
    };
    Err(Misnamed(format!("--rule {rule}: {why}")).into())
}

/// The ids under which patterns of behaviour are reported.
fn pattern_ids(policy: &Policy) -> Vec<String> {
    let id = |name: &str| format!("pattern.{name}");
    let own = policy.patterns.custom.iter().map(|pattern| id(&pattern.name));
    Pattern::ALL.into_iter().map(|pattern| id(pattern.name())).chain(own).collect()
}

/// Whether any event passes: what an older lazaret wrote has a name too.
fn is_in_log(filter: Filter, machine: &Machine) -> Result<bool> {
    let mut lines = audit::lines(&audit::dir(&machine.dirs.state), filter)?;
    Ok(lines.any(|found| matches!(found, Ok(Found::Line(_)))))
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
