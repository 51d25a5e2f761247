//! The numbers in the text format that Prometheus reads.

use std::collections::BTreeMap;
use std::io::{Result, Write};

use super::tally::{BOUNDS_US, Counts, Measured, Tally};

pub(super) fn write(tally: &Tally, out: &mut dyn Write) -> Result<()> {
    let total = &tally.total;
    head(out, "lazaret_reviews_total", "counter", "Decisions on calls, by what the client was answered.")?;
    let answers = [
        ("allowed", total.allowed),
        ("warned", total.warned),
        ("asked", total.asked),
        ("rewritten", total.rewritten()),
        ("blocked", total.blocked),
    ];
    for (answer, count) in answers {
        writeln!(out, "lazaret_reviews_total{{answer=\"{answer}\"}} {count}")?;
    }
    histogram(tally, out)?;
    by("rule", &tally.rules, out)?;
    by("tool", &tally.tools, out)?;
    by("agent", &tally.agents, out)?;
    head(out, "lazaret_interventions_total", "counter", "What was done about patterns.")?;
    for (kind, count) in &tally.interventions {
        writeln!(out, "lazaret_interventions_total{{kind=\"{}\"}} {count}", label(kind))?;
    }
    let measured = "lazaret_interventions_measured_total";
    head(
        out,
        measured,
        "counter",
        "Interventions after which the pattern ended within ten actions, or did not.",
    )?;
    for (kind, Measured { worked, in_vain }) in &tally.measured {
        let kind = label(kind);
        writeln!(out, "{measured}{{kind=\"{kind}\",result=\"worked\"}} {worked}")?;
        writeln!(out, "{measured}{{kind=\"{kind}\",result=\"in_vain\"}} {in_vain}")?;
    }
    head(out, "lazaret_faults_total", "counter", "Calls and commands on which no decision was possible.")?;
    writeln!(out, "lazaret_faults_total {}", tally.faults)?;
    head(out, "lazaret_feedback_total", "counter", "Decisions that people called right or wrong.")?;
    writeln!(out, "lazaret_feedback_total{{opinion=\"ok\"}} {}", total.ok)?;
    writeln!(out, "lazaret_feedback_total{{opinion=\"fp\"}} {}", total.fp)?;
    head(out, "lazaret_sessions", "gauge", "Sessions of clients that the log tells of.")?;
    writeln!(out, "lazaret_sessions {}", tally.sessions())
}

fn histogram(tally: &Tally, out: &mut dyn Write) -> Result<()> {
    let name = "lazaret_review_duration_seconds";
    head(out, name, "histogram", "Time of a decision.")?;
    let mut so_far = 0_u64;
    for (bound, count) in BOUNDS_US.iter().zip(tally.durations) {
        so_far = so_far.saturating_add(count);
        writeln!(out, "{name}_bucket{{le=\"{}\"}} {so_far}", seconds(*bound))?;
    }
    writeln!(out, "{name}_bucket{{le=\"+Inf\"}} {}", tally.total.all)?;
    writeln!(out, "{name}_sum {}", seconds(tally.total.duration_us))?;
    writeln!(out, "{name}_count {}", tally.total.all)
}

/// Microseconds as seconds, exactly.
fn seconds(us: u64) -> String {
    let text = format!("{}.{:06}", us / 1_000_000, us % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn by(what: &str, counts: &BTreeMap<String, Counts>, out: &mut dyn Write) -> Result<()> {
    let name = format!("lazaret_{what}_reviews_total");
    head(out, &name, "counter", &format!("Decisions by {what} and verdict."))?;
    for (value, counts) in counts {
        let verdicts = [
            ("allow", counts.allowed),
            ("warn", counts.warned),
            ("modify", counts.modified),
            ("block", counts.blocked),
        ];
        for (verdict, count) in verdicts.into_iter().filter(|(_, count)| *count > 0) {
            writeln!(out, "{name}{{{what}=\"{}\",verdict=\"{verdict}\"}} {count}", label(value))?;
        }
    }
    Ok(())
}

fn head(out: &mut dyn Write, name: &str, kind: &str, help: &str) -> Result<()> {
    writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}")
}

/// A label's value with its three escapes.
fn label(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
