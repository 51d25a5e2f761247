//! Many reads and searches over ever new places, with nothing changed, run or handed on since the person spoke, since the last
//! change, or since it was last said.

use super::{Look, Seen, different, number};
use crate::domain::{HistoryEntry, Outcome, Pattern};

/// Reads and searches in a row.
const ENOUGH: u32 = 120;
/// Percent of them that go to a new place.
const NEW: u32 = 60;

pub fn seen(look: &Look<'_>) -> Option<Seen> {
    let told = look.behaviour.interventions.iter().rev();
    let told = told.filter(|one| one.pattern == Pattern::ExplorationWandering.name());
    let since = told.map(|one| one.entry).next().unwrap_or(0);
    let looks = |entry: &&HistoryEntry| {
        entry.number > since && (entry.only_looks() || entry.outcome == Outcome::Blocked)
    };
    let row: Vec<&HistoryEntry> = look.history.of_prompt().take_while(looks).collect();
    let all = number(row.len());
    let new = different(row.iter().map(|entry| entry.action));
    (all >= look.scaled(ENOUGH) && new * 100 >= NEW * all).then(|| Seen {
        confidence: 50,
        severity: 20,
        count: all,
        evidence: format!(
            "{all} reads and searches in a row, {new} of them new, and nothing done with what they found"
        ),
    })
}
