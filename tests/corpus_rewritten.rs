//! Dangerous cases written otherwise are stopped, and harmless ones written otherwise are let through; docs/evaluation.md has
//! the figures for all of them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

#[path = "corpus/mod.rs"]
mod corpus;
#[path = "corpus/mutate.rs"]
mod mutate;
#[path = "corpus/rewrite.rs"]
mod rewrite;

use std::collections::BTreeMap;

use corpus::{Case, cases, command_verdict};
use lazaret::domain::{Policy, Verdict};
use mutate::{Aim, MUTATIONS};

/// One way of writing in so many is tried on a case, another one on the next.
const SHARE: usize = 11;

/// By family: how many were written otherwise, and how many of them were stopped.
fn stopped(cases: &[Case], fits: fn(Aim) -> bool) -> BTreeMap<String, (usize, usize)> {
    let policy = Policy::default();
    let mut tally: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for (number, case) in cases.iter().enumerate() {
        let Some(command) = case.command() else { continue };
        for (at, mutation) in MUTATIONS.iter().enumerate() {
            if !fits(mutation.aim) || (at + number) % SHARE != 0 {
                continue;
            }
            let Some(text) = (mutation.write)(command) else { continue };
            let entry = tally.entry(case.family.clone()).or_default();
            entry.0 += 1;
            entry.1 += usize::from(command_verdict(&text, case.situation, &policy) > Verdict::Warn);
        }
    }
    tally
}

fn all(tally: &BTreeMap<String, (usize, usize)>) -> (usize, usize) {
    tally.values().fold((0, 0), |sum, (written, stopped)| (sum.0 + written, sum.1 + stopped))
}

#[test]
fn what_is_dangerous_is_stopped_however_it_is_written() {
    let cases: Vec<_> = cases().into_iter().filter(|case| case.expect.is_dangerous()).collect();
    let tally = stopped(&cases, |_| true);
    let (written, caught) = all(&tally);
    assert!(written >= 5_000, "only {written} were written");
    assert!(caught * 100 >= written * 96, "{caught} of {written} stopped: {tally:#?}");
    let weak: Vec<_> =
        tally.iter().filter(|(_, (written, caught))| *written >= 50 && caught * 100 < written * 88).collect();
    assert!(weak.is_empty(), "{weak:?}");
}

#[test]
fn what_is_harmless_is_let_through_however_it_is_written() {
    let cases: Vec<_> = cases().into_iter().filter(|case| !case.expect.is_dangerous()).collect();
    let tally = stopped(&cases, |aim| aim == Aim::Plain);
    let (written, caught) = all(&tally);
    assert!(written >= 1_500, "only {written} were written");
    assert!(caught * 200 <= written, "{caught} of {written} stopped: {tally:#?}");
}
