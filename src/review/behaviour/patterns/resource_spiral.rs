//! Seed 000: a budget of the prompt (bytes written, time, file operations) that grows by more than half each time, and that
//! the next step would bring past .8 of its limit.

use super::{Look, Seen, number};
use crate::domain::{ActionKind, Finding, HistoryEntry, Outcome, ResourceMode};

/// Steps of growth in a row: fewer happen by chance (a check, a build, a test, a release).
const STEPS: usize = 5;
/// Mean growth from one to the next, in percent.
const GROWTH: u64 = 150;
/// Share of a limit, in percent.
const SHARE: u64 = 80;
/// Milliseconds that the calls of a prompt take (seed 000: 300 s).
const TIME_MS: u64 = 300_000;
/// Bytes that the calls of a prompt write.
const BYTES: u64 = 1024 * 1024;
/// What takes less says nothing of growth.
const LEAST_MS: u64 = 1000;
const LEAST_BYTES: u64 = 1024;

pub fn seen(look: &Look<'_>) -> Option<Seen> {
    let duration = |entry: &HistoryEntry| u64::from(entry.duration_ms);
    let size = |entry: &HistoryEntry| u64::from(entry.size);
    let time = growing(look, duration, (LEAST_MS, TIME_MS), "time");
    let bytes = growing(look, size, (LEAST_BYTES, BYTES), "bytes written");
    [time, bytes, operations(look)].into_iter().flatten().max_by_key(|seen| seen.severity)
}

/// One measure of the same kind of action, each time more than the time before.
fn growing(
    look: &Look<'_>,
    measure: fn(&HistoryEntry) -> u64,
    (least, limit): (u64, u64),
    name: &str,
) -> Option<Seen> {
    let last = look.history.last();
    let steps = usize::try_from(look.scaled(number(STEPS))).unwrap_or(STEPS);
    let alike = look.history.of_prompt().filter(|entry| {
        entry.tool == last.tool && entry.operation == last.operation && entry.agent == last.agent
    });
    // Newest first, so each is to be larger than the one after it.
    let entries: Vec<&HistoryEntry> = alike.take(steps + 1).collect();
    let row: Vec<u64> = entries.iter().map(|entry| measure(entry)).collect();
    let (newest, oldest) = (*row.first()?, *row.last()?);
    let grows = row.iter().zip(row.iter().skip(1)).all(|(newer, older)| newer > older);
    if row.len() <= steps || !grows || oldest < least {
        return None;
    }
    // The mean growth to the power of the steps, without roots: newest / oldest.
    let exponent = u32::try_from(steps).unwrap_or(u32::MAX);
    let needed = u128::from(oldest).saturating_mul(u128::from(GROWTH).saturating_pow(exponent));
    let has = u128::from(newest).saturating_mul(100_u128.saturating_pow(exponent));
    if has <= needed {
        return None;
    }
    let before = row.get(1).copied().unwrap_or(newest).max(1);
    let used: u64 = look.history.of_prompt().map(measure).sum();
    let next = newest.saturating_mul(newest) / before;
    let seen = judged(used.saturating_add(next), limit, name)?;
    Some(if is_loop(look, &entries) { seen } else { corrected(seen) })
}

/// Whether it is the same call each time, with nothing changed between.
fn is_loop(look: &Look<'_>, row: &[&HistoryEntry]) -> bool {
    let last = look.history.last();
    let first = row.last().map_or(last.number, |entry| entry.number);
    let mut since = look.history.of_prompt().take_while(|entry| entry.number >= first);
    row.iter().all(|entry| entry.action == last.action)
        && !since.any(|entry| entry.changed() && entry.action != last.action)
}

/// The same where it is no loop.
fn corrected(seen: Seen) -> Seen {
    Seen { severity: seen.severity.min(u32::from(Finding::CORRECTED)), ..seen }
}

/// File operations, where they are limited: three rows of actions with ever more of them.
fn operations(look: &Look<'_>) -> Option<Seen> {
    /// Actions of a row.
    const ROW: usize = 10;
    let limit = &look.policy.resources;
    if limit.mode == ResourceMode::Off {
        return None;
    }
    let counts = |entry: &HistoryEntry| {
        entry.outcome == Outcome::Done && matches!(entry.operation, ActionKind::Write | ActionKind::Delete)
    };
    let done: Vec<u64> = look.history.of_prompt().map(|entry| u64::from(counts(entry))).collect();
    let mut rows = done.chunks_exact(ROW).map(|row| row.iter().sum::<u64>());
    let (third, second, first) = (rows.next()?, rows.next()?, rows.next()?);
    let grows = first > 0 && second * 100 > first * GROWTH && third * 100 > second * GROWTH;
    let used: u64 = done.iter().sum();
    if grows {
        judged(used + third * third / second, limit.max_file_operations, "file operations").map(corrected)
    } else {
        None
    }
}

/// What the next step would bring a budget to.
fn judged(predicted: u64, limit: u64, name: &str) -> Option<Seen> {
    let share = predicted.saturating_mul(100) / limit.max(1);
    (share > SHARE).then(|| {
        let over = u32::try_from((share - SHARE) / 2).unwrap_or(u32::MAX);
        Seen {
            confidence: 70_u32.saturating_add(over / 4),
            severity: 50_u32.saturating_add(over),
            count: number(STEPS + 1),
            evidence: format!(
                "{name} of this prompt grows each time; the next step would bring it to {share} % of its limit ({limit})"
            ),
        }
    })
}
