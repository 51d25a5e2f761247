//! Seed 000: the mean alignment of the last twenty actions is below .5, and fell by .3 from their first half to their second.

use super::{Look, Seen, number, ran};
use crate::domain::{HistoryEntry, Place};

/// Actions of a half.
const HALF: usize = 10;
/// Mean alignment, in percent.
const MEAN: u32 = 50;
/// By how much it fell, in percent.
const FALL: u32 = 30;

pub fn seen(look: &Look<'_>) -> Option<Seen> {
    let entries: Vec<&HistoryEntry> =
        look.history.of_prompt().filter(|entry| ran(entry)).take(2 * HALF).collect();
    let (second, first) = entries.split_at_checked(HALF)?;
    if first.len() < HALF {
        return None;
    }
    let (first, now) = (mean(first), mean(second));
    // More sensitive is a higher mean and a smaller fall.
    let (bound, fall) = (MEAN * FALL / look.scaled(FALL), look.scaled(FALL));
    let drifted = first + now < 2 * bound && first >= now + fall;
    drifted.then(|| {
        let outside = number(second.iter().filter(|entry| entry.place == Place::Outside).count());
        Seen {
            confidence: 55 + (first - now) / 3,
            severity: 20 + 2 * outside,
            count: number(2 * HALF),
            evidence: format!(
                "of the last {} actions, the first half served what was asked for to {first} %, the second to {now} %",
                2 * HALF
            ),
        }
    })
}

/// In percent.
fn mean(entries: &[&HistoryEntry]) -> u32 {
    entries.iter().map(|entry| u32::from(entry.alignment)).sum::<u32>() / number(entries.len()).max(1)
}
