//! What a replay found, for people and as JSON.

use std::io::{self, Write};

use serde_json::{Map, Value, json};

use super::tally::{Counts, Listed, Session, Tally};
use crate::adapters::transcript::Left;
use crate::cli::args::{Assume, ReplayArgs};
use crate::cli::report::Paint;
use crate::domain::{Enforcement, clip, escape};

/// Most sessions and rules in the table; the JSON has all.
const ROWS: usize = 15;
/// Longest action in the table, in bytes.
const ACTION: usize = 160;

/// The table.
pub fn text(
    out: &mut dyn Write,
    tally: &Tally,
    unreadable: &[(String, String)],
    args: &ReplayArgs,
) -> io::Result<()> {
    let counts = &tally.counts;
    writeln!(
        out,
        "{} in {} ({})",
        several(counts.calls, "call"),
        several(tally.sessions.len() as u64, "session"),
        several(tally.files.values().sum(), "file")
    )?;
    let read: Vec<String> = tally
        .files
        .iter()
        .map(|(form, number)| {
            let (one, many) = form.files();
            format!("{number} {}", if *number == 1 { one } else { many })
        })
        .collect();
    if !read.is_empty() {
        writeln!(out, "read: {}", read.join(", "))?;
    }
    for (name, number) in [
        ("blocked", counts.blocked),
        ("asked", counts.asked),
        ("rewritten", counts.rewritten),
        ("warned", counts.warned),
        ("passed", counts.passed()),
    ] {
        writeln!(out, "  {name:<9} {number:>7}  {:>6}", percent(number, counts.calls))?;
    }
    rules(out, tally)?;
    calls(out, tally, args)?;
    sessions(out, tally)?;
    remarks(out, tally, args.assume)?;
    for (path, why) in unreadable {
        writeln!(out, "not read: {}: {}", escape(path), escape(why))?;
    }
    Ok(())
}

fn rules(out: &mut dyn Write, tally: &Tally) -> io::Result<()> {
    let mut rows: Vec<(&String, &Counts)> = tally.rules.iter().collect();
    crate::domain::sort_by_key(&mut rows, |(_, counts)| std::cmp::Reverse((counts.stopped(), counts.warned)));
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nrules that decided            blocked   asked rewritten  warned")?;
    for (rule, counts) in rows.iter().take(ROWS) {
        let Counts { blocked, asked, rewritten, warned, .. } = counts;
        writeln!(out, "  {:<26} {blocked:>8} {asked:>7} {rewritten:>9} {warned:>7}", escape(rule))?;
    }
    more(out, rows.len(), ROWS)
}

fn calls(out: &mut dyn Write, tally: &Tally, args: &ReplayArgs) -> io::Result<()> {
    let shown = |listed: &&Listed| args.warned || listed.enforcement != Enforcement::Notice;
    let rows: Vec<&Listed> = tally.listed.iter().filter(shown).collect();
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{} calls, equal ones once", if args.warned { "stopped and warned" } else { "stopped" })?;
    let paint = Paint::auto();
    for listed in rows.iter().take(args.limit) {
        let times = if listed.times > 1 { format!("  {} times", listed.times) } else { String::new() };
        let agent = listed.agent.as_ref().map_or(String::new(), |agent| format!("  by {}", escape(agent)));
        writeln!(
            out,
            "\n  {} {}{times}{agent}",
            paint.word(listed.verdict, word(listed.enforcement)),
            escape(&listed.tool)
        )?;
        writeln!(out, "    {}", escape(&clip(&listed.action, ACTION)))?;
        if let Some(reason) = listed.reasons.first() {
            writeln!(out, "    {}: {}", reason.rule, escape(&reason.message))?;
            if let Some(instead) = &reason.instead {
                writeln!(out, "    instead: {}", escape(instead))?;
            }
        }
        if let Some(rewrite) = &listed.rewrite {
            writeln!(out, "    becomes: {}", escape(&clip(rewrite, ACTION)))?;
        }
        let line = if listed.at.line > 0 { format!(":{}", listed.at.line) } else { String::new() };
        let time = listed.time.as_ref().map_or(String::new(), |time| format!(" at {}", escape(time)));
        writeln!(out, "    {}{line}{time} ({})", escape(&listed.at.file), escape(&listed.id))?;
    }
    more(out, rows.len(), args.limit)?;
    let example = rows.first().map_or("ID", |listed| listed.id.as_str());
    writeln!(out, "\none of them in full: lazaret replay FILE --call {}", escape(example))
}

fn sessions(out: &mut dyn Write, tally: &Tally) -> io::Result<()> {
    if tally.sessions.len() < 2 {
        return Ok(());
    }
    writeln!(out, "\nsession                                  calls blocked   asked rewritten  warned")?;
    for session in tally.sessions.iter().take(ROWS) {
        let Counts { calls, blocked, asked, rewritten, warned } = session.counts;
        writeln!(
            out,
            "  {:<36} {calls:>7} {blocked:>7} {asked:>7} {rewritten:>9} {warned:>7}  {}",
            escape(&clip(&session.id, 36)),
            escape(&session.file)
        )?;
    }
    more(out, tally.sessions.len(), ROWS)
}

fn more(out: &mut dyn Write, all: usize, shown: usize) -> io::Result<()> {
    match all.checked_sub(shown) {
        None | Some(0) => Ok(()),
        Some(more) => writeln!(out, "  … and {more} more (--json has all)"),
    }
}

/// Files of something else that are named; the JSON names more.
const OTHERS: usize = 5;

/// What the numbers rest on.
fn remarks(out: &mut dyn Write, tally: &Tally, assume: Assume) -> io::Result<()> {
    let basis = match assume {
        Assume::Today => "judged with today's rules, configuration and files, not those of then",
        Assume::Nothing => "judged with today's rules and configuration, and nothing known of any file",
    };
    writeln!(out, "\n{basis}; limits on how often are not replayed")?;
    let left = |why: Left| tally.left.get(&why).copied().unwrap_or_default();
    for (number, one, many) in [
        (
            tally.gone,
            "call was made in a directory that is gone",
            "calls were made in directories that are gone",
        ),
        (
            tally.repeated,
            "call was recorded twice and counted once",
            "calls were recorded twice and counted once",
        ),
        (
            tally.quarantined,
            "call of a quarantined agent was left out",
            "calls of quarantined agents were left out",
        ),
        (tally.torn, "line is torn", "lines are torn"),
        (tally.too_long, "line is too long", "lines are too long"),
        (
            left(Left::OtherShell),
            "call of PowerShell or cmd.exe was not judged",
            "calls of PowerShell or cmd.exe were not judged",
        ),
        (
            left(Left::NoArguments),
            "call was recorded without its arguments and not judged",
            "calls were recorded without their arguments and not judged",
        ),
        (
            left(Left::OtherTool),
            "call was of a tool that no client of the gate has",
            "calls were of tools that no client of the gate has",
        ),
        (tally.other_files, "other file lies there", "other files lie there"),
    ] {
        match number {
            0 => {}
            1 => writeln!(out, "{number} {one}")?,
            _ => writeln!(out, "{number} {many}")?,
        }
    }
    for name in tally.others.iter().take(OTHERS) {
        writeln!(out, "  no record of a session: {}", escape(name))?;
    }
    for (kind, number) in tally.unknown.iter().take(ROWS) {
        let kind = if kind.is_empty() {
            "no kind at all".to_owned()
        } else {
            format!("a kind that is not known: {}", escape(kind))
        };
        writeln!(out, "{} of {kind}", several(*number, "line"))?;
    }
    Ok(())
}

const fn word(enforcement: Enforcement) -> &'static str {
    match enforcement {
        Enforcement::Proceed => "passed",
        Enforcement::Notice => "warned",
        Enforcement::Rewrite => "rewritten",
        Enforcement::Ask => "asked",
        Enforcement::Deny | Enforcement::Stop => "blocked",
    }
}

pub fn several(number: u64, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

fn percent(part: u64, whole: u64) -> String {
    if whole == 0 { "-".to_owned() } else { format!("{:.1} %", part as f64 * 100.0 / whole as f64) }
}

/// One object with everything; `--limit` does not count here.
pub fn json(tally: &Tally, unreadable: &[(String, String)], args: &ReplayArgs) -> Value {
    let rules: Vec<Value> =
        tally.rules.iter().map(|(rule, counts)| with_counts(json!({ "rule": rule }), counts)).collect();
    let listed = |warned: bool| -> Vec<Value> {
        let wanted = |listed: &&Listed| (listed.enforcement == Enforcement::Notice) == warned;
        tally.listed.iter().filter(wanted).map(one).collect()
    };
    let unreadable: Vec<Value> =
        unreadable.iter().map(|(path, why)| json!({ "path": path, "why": why })).collect();
    let stopped = tally.counts.stopped();
    let share = if tally.counts.calls == 0 { 0.0 } else { stopped as f64 / tally.counts.calls as f64 };
    let formats: Map<String, Value> =
        tally.files.iter().map(|(form, number)| (form.name().to_owned(), (*number).into())).collect();
    let named = [("repeated", tally.repeated), ("quarantined", tally.quarantined)].into_iter();
    let named = named.chain(tally.left.iter().map(|(why, number)| (why.name(), *number)));
    let left_out: Map<String, Value> = named.map(|(name, number)| (name.to_owned(), number.into())).collect();
    json!({
        "totals": with_counts(json!({ "distinct": tally.distinct.len() }), &tally.counts),
        "share_stopped": (share * 10_000.0).round() / 10_000.0,
        "rules": rules,
        "sessions": tally.sessions.iter().map(session).collect::<Vec<Value>>(),
        "stopped": listed(false),
        "warned": listed(true),
        "unlisted": tally.unlisted,
        "assumed": match args.assume { Assume::Today => "today", Assume::Nothing => "nothing" },
        "files": {
            "read": tally.files.values().sum::<u64>(),
            "formats": formats,
            "other": tally.other_files,
            "others": tally.others,
            "unreadable": unreadable,
        },
        "left_out": left_out,
        "directories_gone": tally.gone,
        "lines_unread": { "torn": tally.torn, "unknown": tally.unknown.values().sum::<u64>(), "unknown_kinds": tally.unknown, "too_long": tally.too_long },
    })
}

fn with_counts(mut object: Value, counts: &Counts) -> Value {
    let Counts { calls, blocked, asked, rewritten, warned } = counts;
    if let Some(object) = object.as_object_mut() {
        for (name, number) in [
            ("calls", *calls),
            ("stopped", counts.stopped()),
            ("blocked", *blocked),
            ("asked", *asked),
            ("rewritten", *rewritten),
            ("warned", *warned),
            ("passed", counts.passed()),
        ] {
            object.insert(name.to_owned(), number.into());
        }
    }
    object
}

fn session(session: &Session) -> Value {
    let Session { form, client, id, file, first, last, counts } = session;
    let about = json!({ "client": client.name(), "format": form.name(), "session": id, "file": file, "first": first, "last": last });
    with_counts(about, counts)
}

fn one(listed: &Listed) -> Value {
    let reasons: Vec<Value> = listed
        .reasons
        .iter()
        .map(|reason| {
            json!({
                "rule": reason.rule, "severity": reason.severity.name(), "message": reason.message,
                "matched": reason.matched, "instead": reason.instead,
            })
        })
        .collect();
    json!({
        "times": listed.times,
        "verdict": listed.verdict.name(),
        "enforcement": listed.enforcement.name(),
        "client": listed.client.name(),
        "format": listed.form.name(),
        "session": listed.session,
        "agent": listed.agent,
        "time": listed.time,
        "file": listed.at.file,
        "line": (listed.at.line > 0).then_some(listed.at.line),
        "id": listed.id,
        "tool": listed.tool,
        "action": listed.action,
        "rewrite": listed.rewrite,
        "reasons": reasons,
    })
}
