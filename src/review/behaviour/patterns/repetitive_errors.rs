//! Seed 000: the same error at least three times in the last ten results. An error after which something was changed is part
//! of fixing it, and counts a third.

use super::{Look, Seen, ran};
use crate::domain::Outcome;

/// Results looked at.
const RESULTS: usize = 10;
/// Errors in thirds: three whole ones.
const ENOUGH: u32 = 9;
/// All results that are looked at are the same call with the same error, in so many milliseconds: nobody waits or looks between.
const LOOP_MS: u64 = 60_000;
const LOOP_SEVERITY: u32 = 50;

pub fn seen(look: &Look<'_>) -> Option<Seen> {
    let last =
        Some(look.history.last()).filter(|entry| entry.outcome == Outcome::Failed && entry.error != 0)?;
    // Reads of what is not there all fail alike; they are a pattern of their own.
    if last.missing && last.only_looks() {
        return None;
    }
    let (mut thirds, mut times, mut changed) = (0_u32, 0_u32, false);
    let mut again = 0;
    for entry in look.history.entries().filter(|entry| entry.agent == last.agent && ran(entry)).take(RESULTS)
    {
        changed |= entry.changed();
        if entry.error == last.error {
            thirds += if changed { 1 } else { 3 };
            times += 1;
            again += usize::from(entry.action == last.action && entry.age_ms < LOOP_MS);
        }
    }
    let enough = look.scaled(ENOUGH);
    (thirds >= enough).then(|| {
        let over = thirds - enough;
        Seen {
            confidence: 60 + over * 2,
            severity: if again == RESULTS { LOOP_SEVERITY } else { 20 + over },
            count: times,
            evidence: format!("the same error {times} times in the last {RESULTS} results"),
        }
    })
}
