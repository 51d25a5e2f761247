//! The overview for people. Every text of a machine's was escaped when it was taken in.

use std::collections::BTreeMap;
use std::io::{Result, Write};

use super::machine::Machine;
use super::tally::{IDS, MACHINES, OF_ONE, RULES, Rule, Tally};
use super::{Overview, time};

/// Widths of a rule's name, of a host, and of a policy.
const NAME: usize = 36;
const HOST: usize = 24;
const POLICY: usize = 20;
/// Ranges of missing lines that are named of each chain.
const RANGES: usize = 3;

pub(super) fn write(overview: &Overview, top: usize, out: &mut dyn Write) -> Result<()> {
    let tally = &overview.tally;
    let (events, machines) = (counted(tally.events, "event"), counted(tally.machines.len() as u64, "user"));
    write!(out, "{events} of {machines} on {}", counted(hosts(tally), "machine"))?;
    if tally.events > 0 {
        write!(out, ", {} to {}", time(tally.first), time(tally.last))?;
    }
    let lines = counted(overview.lines, "line");
    writeln!(
        out,
        "\n{lines} in {}; {} dropped",
        counted(overview.files as u64, "file"),
        counted(tally.duplicates, "duplicate")
    )?;
    rules(tally, top, out)?;
    people(tally, top, out)?;
    machines_table(overview, top, out)?;
    let silent = |machine: &Machine| {
        let silence = tally.silence(machine);
        let said = || format!("nothing since {} ({} ago)", time(machine.seen), age(silence));
        (silence >= overview.silent).then(said).into_iter().collect()
    };
    listed(out, tally, top, "silent", silent)?;
    policies(tally, top, out)?;
    listed(out, tally, top, "the gate", gate)?;
    writeln!(
        out,
        "  the log does not tell: whether a gate was switched off or removed, or never stood before a client. Such a machine\n  \
         is silent, or its calls are allowed; `lazaret doctor` says it there"
    )?;
    listed(out, tally, top, "does not add up", |machine| sums(tally, machine))?;
    unread(overview, out)
}

fn rules(tally: &Tally, top: usize, out: &mut dyn Write) -> Result<()> {
    let stops = |rule: &Rule| (rule.stopped, rule.asked, rule.warned);
    let mut rows: Vec<&Rule> = tally.rules.iter().filter(|rule| stops(rule) != (0, 0, 0)).collect();
    rows.sort_by(|one, other| stops(other).cmp(&stops(one)).then_with(|| one.name.cmp(&other.name)));
    if rows.is_empty() {
        return writeln!(out, "\nno rule stopped a call, asked or warned");
    }
    writeln!(out, "\n{:<NAME$}  stopped    asked   warned    users", "rule")?;
    for Rule { name, stopped, asked, warned, machines, .. } in rows.iter().take(top) {
        writeln!(out, "{name:<NAME$} {stopped:>8} {asked:>8} {warned:>8} {machines:>8}")?;
    }
    more(rows.len(), top, out)
}

/// What people did after a stop, which may say that it was a false alarm.
fn people(tally: &Tally, top: usize, out: &mut dyn Write) -> Result<()> {
    let said = |rule: &Rule| rule.wrong + rule.accepted + rule.allowed + rule.excepted;
    let is_there = |rule: &&Rule| said(rule) + rule.right > 0;
    let mut rows: Vec<&Rule> = tally.rules.iter().filter(is_there).collect();
    rows.sort_by(|one, other| {
        (other.wrong, said(other)).cmp(&(one.wrong, said(one))).then_with(|| one.name.cmp(&other.name))
    });
    if rows.is_empty() {
        writeln!(out, "\nnobody agreed to, allowed, excepted or judged anything")?;
    } else {
        writeln!(out, "\n{:<NAME$}    wrong    right   agreed  allowed excepted", "what people said of it")?;
        for Rule { name, wrong, right, accepted, allowed, excepted, .. } in rows.iter().take(top) {
            writeln!(out, "{name:<NAME$} {wrong:>8} {right:>8} {accepted:>8} {allowed:>8} {excepted:>8}")?;
        }
        more(rows.len(), top, out)?;
    }
    match tally.unknown {
        0 => Ok(()),
        count => writeln!(out, "{} about events that are not counted here", counted(count, "word")),
    }
}

fn machines_table(overview: &Overview, top: usize, out: &mut dyn Write) -> Result<()> {
    let mut rows: Vec<&Machine> = overview.tally.machines.iter().collect();
    rows.sort_by_key(|machine| (std::cmp::Reverse((machine.stops, machine.calls)), &machine.host));
    writeln!(
        out,
        "\n{:<HOST$}     user lazaret  {:<POLICY$} last seen               calls    stops",
        "machine", "policy"
    )?;
    for machine in rows.iter().take(top) {
        let Machine { host, user, version, seen, calls, stops, .. } = machine;
        let (policy, seen) = (policy(machine), time(*seen));
        writeln!(
            out,
            "{host:<HOST$} {user:>8} {version:<8} {policy:<POLICY$} {seen:<20} {calls:>8} {stops:>8}"
        )?;
    }
    more(rows.len(), top, out)
}

/// Which bundle a machine said last that it has.
fn policy(machine: &Machine) -> String {
    let Machine { policy, number, state, .. } = machine;
    match (policy.is_empty(), number) {
        (true, _) => "-".to_owned(),
        (false, Some(number)) if state == "whole" => format!("{policy} {number}"),
        (false, Some(number)) => format!("{policy} {number} ({state})"),
        (false, None) => policy.clone(),
    }
}

fn policies(tally: &Tally, top: usize, out: &mut dyn Write) -> Result<()> {
    let mut all: BTreeMap<String, u64> = BTreeMap::new();
    for machine in &tally.machines {
        *all.entry(policy(machine)).or_default() += 1;
    }
    let mut rows: Vec<(String, u64)> = all.into_iter().collect();
    rows.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
    writeln!(out, "\n{:<NAME$}    users", "policy")?;
    for (name, count) in rows.iter().take(top) {
        let name = if name == "-" { "said nothing of one" } else { name };
        writeln!(out, "{name:<NAME$} {count:>8}")?;
    }
    more(rows.len(), top, out)?;
    let highest = highest(tally);
    listed(out, tally, top, "old policy", |machine| {
        let newest = highest.get(&*machine.policy).copied();
        let old = machine.number.zip(newest).filter(|(number, newest)| number < newest);
        let said = |(number, newest)| format!("{} {number}, and another has {newest}", machine.policy);
        old.map(said).into_iter().collect()
    })
}

/// The highest number of each policy that a machine said it has.
pub(super) fn highest(tally: &Tally) -> BTreeMap<&str, u64> {
    let mut highest: BTreeMap<&str, u64> = BTreeMap::new();
    for machine in tally.machines.iter().filter(|machine| !machine.policy.is_empty()) {
        let number = highest.entry(&machine.policy).or_default();
        *number = (*number).max(machine.number.unwrap_or_default());
    }
    highest
}

/// What a machine's log says of its gate.
fn gate(machine: &Machine) -> Vec<String> {
    let mut said = Vec::new();
    let faults: Vec<String> =
        machine.faults.iter().map(|(code, count)| format!("{count} × {code}")).collect();
    if !faults.is_empty() {
        said.push(format!("faults: {}", faults.join(", ")));
    }
    let starts: Vec<String> =
        machine.starts.iter().map(|(rule, count)| format!("{count} × {rule}")).collect();
    if !starts.is_empty() {
        said.push(format!("sessions began with: {}", starts.join(", ")));
    }
    if machine.undecided() > 0 {
        said.push(format!("{} more ended than were decided on", counted(machine.undecided(), "call")));
    }
    said
}

/// What a machine's log and its numbers say that should not be.
fn sums(tally: &Tally, machine: &Machine) -> Vec<String> {
    let mut said: Vec<String> = machine
        .notices
        .iter()
        .map(|(name, (count, message))| format!("{count} × {name}: {message}"))
        .collect();
    for (chain, numbers) in machine.chains.iter().filter(|(_, numbers)| numbers.lost() > 0) {
        let missing = numbers.missing(RANGES + 1);
        let range =
            |(from, to): &(u64, u64)| if from == to { from.to_string() } else { format!("{from} to {to}") };
        let ranges: Vec<String> = missing.iter().take(RANGES).map(range).collect();
        let rest = if missing.len() > RANGES { " …" } else { "" };
        let unsure = if numbers.unsure { ", or fewer" } else { "" };
        let lost = counted(numbers.lost(), "line");
        said.push(format!("{lost} of {chain} did not come{unsure}: {}{rest}", ranges.join(", ")));
    }
    if machine.repeated > 0 {
        said.push(format!("{} with the number of another", counted(machine.repeated, "event")));
    }
    if machine.unverified > 0 {
        said.push(format!("{} that did not verify", counted(machine.unverified, "event")));
    }
    if machine.more_chains > 0 {
        said.push(format!("{} of further chains", counted(machine.more_chains, "event")));
    }
    if tally.is_ahead(machine) {
        said.push(format!("its clock is ahead: {}", time(machine.seen)));
    }
    said
}

/// The machines of which there is something to say, the first of them by name.
fn listed(
    out: &mut dyn Write,
    tally: &Tally,
    top: usize,
    title: &str,
    what: impl Fn(&Machine) -> Vec<String>,
) -> Result<()> {
    let said = tally.machines.iter().map(|machine| (machine, what(machine)));
    let mut rows: Vec<(&Machine, Vec<String>)> = said.filter(|(_, lines)| !lines.is_empty()).collect();
    rows.sort_by(|(one, _), (other, _)| (&one.host, &one.user).cmp(&(&other.host, &other.user)));
    if rows.is_empty() {
        return writeln!(out, "\n{title}: none");
    }
    writeln!(out, "\n{title}: {}", rows.len())?;
    for (machine, lines) in rows.iter().take(top) {
        for line in lines {
            writeln!(out, "  {} ({}): {line}", machine.host, machine.user)?;
        }
    }
    more(rows.len(), top, out)
}

/// What was not read, and what is more than a report holds.
fn unread(overview: &Overview, out: &mut dyn Write) -> Result<()> {
    let tally = &overview.tally;
    if overview.bad > 0 {
        writeln!(out, "\n{} not read, or not all of them:", counted(overview.bad, "line"))?;
        for named in &overview.named {
            writeln!(out, "  {named}")?;
        }
        let named = overview.named.len() as u64;
        if overview.bad > named {
            writeln!(out, "  and {} more", overview.bad - named)?;
        }
    }
    if tally.others > 0 {
        writeln!(out, "\n{} of others than lazaret", counted(tally.others, "record"))?;
    }
    if tally.beyond > 0 {
        writeln!(out, "\n{} of users beyond {MACHINES} not counted", counted(tally.beyond, "event"))?;
    }
    if tally.rules.first().is_some_and(|others| others.machines > 0) {
        writeln!(
            out,
            "\nmore than {RULES} rules, or {OF_ONE} that one user named first: the others are counted together"
        )?;
    }
    if tally.ids.forgot {
        writeln!(
            out,
            "\nmore than {IDS} events: of earlier ones, those that came again are known by their numbers"
        )?;
    }
    if tally.is_full() {
        writeln!(
            out,
            "\nmore than a report remembers: users of a rule, what people said and what is missing can be more"
        )?;
    }
    Ok(())
}

fn more(all: usize, top: usize, out: &mut dyn Write) -> Result<()> {
    match all.saturating_sub(top) {
        0 => Ok(()),
        more => writeln!(out, "and {more} more (--top)"),
    }
}

/// Hosts, each once.
pub(super) fn hosts(tally: &Tally) -> u64 {
    let mut ids: Vec<&str> = tally.machines.iter().map(|machine| &*machine.id).collect();
    ids.sort_unstable();
    ids.dedup();
    ids.len() as u64
}

fn counted(count: u64, what: &str) -> String {
    let many = if count == 1 { "" } else { "s" };
    format!("{count} {what}{many}")
}

/// A time span in its largest unit.
fn age(nanos: u64) -> String {
    let minutes = nanos / 60_000_000_000;
    match minutes {
        0..120 => format!("{minutes} min"),
        120..2880 => format!("{} h", minutes / 60),
        2880.. => format!("{} days", minutes / 1440),
    }
}
