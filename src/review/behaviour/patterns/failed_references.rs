//! Reads of files that do not exist, again and again: the model takes something for there that is not.

use super::{Look, Seen, different, number};
use crate::domain::HistoryEntry;

/// Reads and searches looked at.
const READS: usize = 12;
/// Those of them that named a file that is not there.
const ENOUGH: u32 = 5;

pub fn seen(look: &Look<'_>) -> Option<Seen> {
    let last = look.history.last();
    if !(last.missing && last.only_looks()) {
        return None;
    }
    let reads = look.history.of_prompt().filter(|entry| entry.only_looks());
    let missing: Vec<&HistoryEntry> = reads.take(READS).filter(|entry| entry.missing).collect();
    let (times, enough) = (number(missing.len()), look.scaled(ENOUGH));
    (times >= enough).then(|| Seen {
        confidence: 60 + 5 * (times - enough),
        severity: 20 + 3 * (times - enough),
        count: times,
        evidence: format!(
            "{times} of the last {READS} reads named files that do not exist ({} different ones)",
            different(missing.iter().map(|entry| entry.path))
        ),
    })
}
