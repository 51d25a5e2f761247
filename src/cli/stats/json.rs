//! The numbers as one JSON object.

use std::collections::BTreeMap;
use std::io::Write;

use serde_json::{Map, Value, json};

use super::tally::{BOUNDS_US, Counts, Measured, Tally, largest};

pub(super) fn write(tally: &Tally, top: usize, out: &mut dyn Write) -> anyhow::Result<()> {
    let counters: Map<String, Value> =
        tally.counters().into_iter().map(|(name, value)| (name.to_owned(), number(name, value))).collect();
    let bounds = BOUNDS_US.iter().map(|bound| json!(bound)).chain([Value::Null]);
    let durations: Vec<Value> =
        bounds.zip(tally.durations).map(|(le_us, count)| json!({"le_us": le_us, "count": count})).collect();
    let effectiveness: Map<String, Value> = tally
        .measured
        .iter()
        .map(|(kind, Measured { worked, in_vain })| {
            (kind.clone(), json!({"worked": worked, "in_vain": in_vain}))
        })
        .collect();
    let all = json!({
        "since": tally.first,
        "until": tally.last,
        "sessions": tally.sessions(),
        "counters": counters,
        "asked_actions": tally.total.asked,
        "review_duration": durations,
        "rules": rows(&tally.rules, top),
        "tools": rows(&tally.tools, top),
        "agents": rows(&tally.agents, top),
        "interventions": tally.interventions,
        "effectiveness": effectiveness,
        "faults": tally.faults,
        "feedback": {"ok": tally.total.ok, "fp": tally.total.fp},
    });
    writeln!(out, "{}", serde_json::to_string_pretty(&all)?)?;
    Ok(())
}

/// Counts without a fraction, means and shares with one; what nobody measured is null.
fn number(name: &str, value: Option<f64>) -> Value {
    let Some(value) = value else { return Value::Null };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts")]
    if name.starts_with("avg_") || name.ends_with("_rate") { json!(value) } else { json!(value as u64) }
}

fn rows(counts: &BTreeMap<String, Counts>, top: usize) -> Vec<Value> {
    let row = |(name, counts): (&str, &Counts)| {
        let Counts { all, allowed, warned, modified, asked, blocked, fp, ok, .. } = counts;
        json!({
            "name": name, "all": all, "allowed": allowed, "warned": warned, "modified": modified, "asked": asked,
            "blocked": blocked, "mean_us": counts.mean_us(), "fp": fp, "ok": ok,
        })
    };
    largest(counts, top).into_iter().map(row).collect()
}
