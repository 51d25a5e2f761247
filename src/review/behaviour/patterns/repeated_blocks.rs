//! What is refused is tried again and again: the same call (or one that the same rule refuses for the same file) three times, or
//! eight refused calls of whatever kind in twenty. Only the first is a loop, and can end a session.

use super::{Look, Seen, number};
use crate::domain::{HistoryEntry, Outcome};

/// The same call.
const SAME: u32 = 3;
/// Percent for the first three, and for each one more: a correction at three, slowed down at five, held at seven, stopped at nine.
const SAME_SEVERITY: u32 = 35;
const SAME_STEP: u32 = 10;
/// Calls looked at.
const CALLS: usize = 20;
/// Any of them.
const ANY: u32 = 8;
/// Percent for the first eight, for each one more, and at most: different calls that were refused are no loop, and more than advice
/// would punish the next honest one.
const ANY_SEVERITY: u32 = 40;
const ANY_STEP: u32 = 5;
const ANY_MOST: u32 = 49;

pub fn seen(look: &Look<'_>) -> Option<Seen> {
    let last = Some(look.history.last()).filter(|entry| entry.outcome == Outcome::Blocked)?;
    let recent = look.history.of_prompt().take(CALLS);
    let blocked: Vec<&HistoryEntry> = recent.filter(|entry| entry.outcome == Outcome::Blocked).collect();
    let any = number(blocked.len());
    let same = number(blocked.iter().filter(|entry| is_again(entry, last)).count());
    let (enough_same, enough_any) = (look.scaled(SAME), look.scaled(ANY));
    let by_same = (same >= enough_same).then(|| {
        let severity = SAME_SEVERITY + SAME_STEP * (same - enough_same);
        (severity, same, "this call was blocked")
    });
    let by_any = (any >= enough_any).then(|| {
        let severity = ANY_SEVERITY + ANY_STEP * (any - enough_any);
        (severity.min(ANY_MOST), any, "calls were blocked")
    });
    let (severity, times, what) = by_same.into_iter().chain(by_any).max()?;
    Some(Seen {
        confidence: 80,
        severity,
        count: times,
        evidence: format!("{what} {times} times in the last {CALLS} calls of this prompt"),
    })
}

/// Whether one refused call is the other one: the same words, or the same rule (as far as it is known), operation and file.
fn is_again(entry: &HistoryEntry, last: &HistoryEntry) -> bool {
    let by_rule = entry.error == last.error || entry.error == 0 || last.error == 0;
    let on_file = entry.path != 0 && entry.path == last.path && entry.operation == last.operation;
    entry.action == last.action || by_rule && on_file
}
