//! Seed 000: more than .3 of at least five accesses lie outside the places where work is expected. What is only looked up
//! (packages, toolchains, headers, documentation) is no access; changing something elsewhere weighs more than reading it.

use super::{Look, Seen, ran};
use crate::domain::{ActionKind, Place};

/// Accesses looked at.
const ACCESSES: usize = 20;
/// Fewer say nothing.
const FEWEST: u32 = 5;
/// Percent of them.
const SHARE: u32 = 30;
/// The most that reading elsewhere comes to by itself: it is said once.
const READ_SEVERITY: u32 = 28;

pub fn seen(look: &Look<'_>) -> Option<Seen> {
    let accesses = look.history.of_prompt().filter(|entry| ran(entry) && entry.place != Place::Nowhere);
    let (mut all, mut outside, mut changes) = (0_u32, 0_u32, 0_u32);
    for entry in accesses.take(ACCESSES) {
        all += 1;
        if entry.place == Place::Outside {
            outside += 1;
            changes += u32::from(matches!(entry.operation, ActionKind::Write | ActionKind::Delete));
        }
    }
    let passed = all >= FEWEST && outside * 100 > look.scaled(SHARE) * all;
    passed.then(|| Seen {
        confidence: 50 + outside * 50 / all,
        severity: (14 + 2 * (outside - changes)).min(READ_SEVERITY) + 8 * changes,
        count: outside,
        evidence: format!(
            "{outside} of the last {all} accesses to files lie outside the project, {changes} of them changes"
        ),
    })
}
