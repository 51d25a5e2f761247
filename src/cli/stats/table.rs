//! The numbers for people.

use std::io::{Result, Write};

use super::tally::{BOUNDS_US, Counts, Measured, Tally, largest, ratio};
use crate::domain::{clip, escape};

/// Characters of a whole bar.
const BAR: usize = 24;
/// Longest name in a table, in bytes.
const NAME: usize = 36;

pub(super) fn write(tally: &Tally, top: usize, out: &mut dyn Write) -> Result<()> {
    let total = &tally.total;
    let (Some(first), Some(last)) = (&tally.first, &tally.last) else {
        return writeln!(out, "no decision in the log, or none that passes the filters");
    };
    let sessions = tally.sessions();
    let many = if sessions == 1 { "" } else { "s" };
    writeln!(out, "{} decisions in {sessions} session{many}, {first} to {last}", total.all)?;
    writeln!(out)?;
    row(out, "allowed", total.allowed, total.all)?;
    row(out, "warned", total.warned, total.all)?;
    row(out, "asked", total.asked, total.all)?;
    row(out, "rewritten", total.rewritten(), total.all)?;
    row(out, "blocked", total.blocked, total.all)?;
    writeln!(out)?;
    durations(tally, out)?;
    by("rule", &largest(&tally.rules, top), tally.rules.len(), out)?;
    by("tool", &largest(&tally.tools, top), tally.tools.len(), out)?;
    by("agent", &largest(&tally.agents, top), tally.agents.len(), out)?;
    if !tally.interventions.is_empty() {
        let title = "intervention";
        writeln!(out, "\n{title:<NAME$}      all   worked  in vain")?;
        for (kind, count) in &tally.interventions {
            let Measured { worked, in_vain } = tally.measured.get(kind).copied().unwrap_or_default();
            writeln!(out, "{kind:<NAME$} {count:>8} {worked:>8} {in_vain:>8}")?;
        }
    }
    if tally.faults > 0 {
        writeln!(out, "\n{} faults: lazaret audit show --event fault", tally.faults)?;
    }
    match total.false_positives() {
        Some(share) => {
            let judged = total.fp + total.ok;
            writeln!(out, "\nfalse positives: {} of {judged} that were judged ({})", total.fp, percent(share))
        }
        None => writeln!(out, "\nfalse positives: none was judged yet (lazaret feedback EVENT fp|ok)"),
    }
}

fn durations(tally: &Tally, out: &mut dyn Write) -> Result<()> {
    let mean = tally.total.mean_us().unwrap_or_default() / 1000.0;
    writeln!(out, "time of a decision: {mean:.3} ms on average")?;
    for (place, count) in tally.durations.iter().enumerate() {
        let name = match (BOUNDS_US.get(place), BOUNDS_US.last()) {
            (Some(bound), _) => format!("to {} ms", millis(*bound)),
            (None, last) => format!("above {} ms", millis(last.copied().unwrap_or_default())),
        };
        if *count > 0 {
            row(out, &name, *count, tally.total.all)?;
        }
    }
    Ok(())
}

/// Microseconds as milliseconds, without needless zeroes.
fn millis(us: u64) -> String {
    let (whole, part) = (us / 1000, us % 1000);
    let text = format!("{whole}.{part:03}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn by(what: &str, rows: &[(&str, &Counts)], all: usize, out: &mut dyn Write) -> Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{what:<NAME$}      all   warned    asked  blocked    wrong")?;
    for (name, counts) in rows {
        let name = escape(&clip(name, NAME));
        let Counts { all, warned, asked, blocked, fp, .. } = counts;
        writeln!(out, "{name:<NAME$} {all:>8} {warned:>8} {asked:>8} {blocked:>8} {fp:>8}")?;
    }
    match all.saturating_sub(rows.len()) {
        0 => Ok(()),
        more => writeln!(out, "and {more} more (--top)"),
    }
}

/// A name, how many, which share, and that as a bar.
fn row(out: &mut dyn Write, name: &str, count: u64, all: u64) -> Result<()> {
    let share = ratio(count, all).unwrap_or_default();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to BAR")]
    #[expect(clippy::cast_precision_loss, reason = "BAR is small")]
    let length = (share * BAR as f64).round().clamp(0.0, BAR as f64) as usize;
    // What is there at all is seen.
    let length = if count > 0 { length.max(1) } else { 0 };
    let line = format!("  {name:<14} {count:>8} {:>7}  {}", percent(share), "#".repeat(length));
    writeln!(out, "{}", line.trim_end())
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}
