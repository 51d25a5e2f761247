//! The same call blocked three times, or eight blocks in twenty calls: what is refused is tried again and again.

use super::{Look, Seen, number};
use crate::domain::{Deed, Outcome};

/// The same call.
const SAME: u32 = 3;
/// Calls looked at.
const CALLS: usize = 20;
/// Any of them.
const ANY: u32 = 8;

pub fn seen(look: &Look<'_>) -> Option<Seen> {
    let last = Some(look.history.last()).filter(|deed| deed.outcome == Outcome::Blocked)?;
    let recent = look.history.of_prompt().take(CALLS);
    let blocked: Vec<&Deed> = recent.filter(|deed| deed.outcome == Outcome::Blocked).collect();
    let any = number(blocked.len());
    let same = number(blocked.iter().filter(|deed| deed.action == last.action).count());
    let (enough_same, enough_any) = (look.scaled(SAME), look.scaled(ANY));
    let by_same =
        (same >= enough_same).then(|| (35 + 10 * (same - enough_same), same, "this call was blocked"));
    let by_any = (any >= enough_any).then(|| (40 + 5 * (any - enough_any), any, "calls were blocked"));
    let (severity, times, what) = by_same.into_iter().chain(by_any).max()?;
    Some(Seen {
        confidence: 80,
        severity,
        count: times,
        evidence: format!("{what} {times} times in the last {CALLS} calls of this prompt"),
    })
}
