//! The patterns: what a row of deeds says that no single one does. They need enough evidence to be right.

use crate::domain::{Deed, Finding, Outcome, Policy};

/// The deeds of a session, the one that is just done and those before it.
#[derive(Debug, Clone)]
pub struct History<'a> {
    last: &'a Deed,
    /// Newest first.
    before: &'a [Deed],
}

impl<'a> History<'a> {
    pub fn new(last: &'a Deed, before: &'a [Deed]) -> History<'a> {
        History { last, before }
    }

    /// Newest first.
    pub fn deeds(&self) -> impl Iterator<Item = &'a Deed> {
        std::iter::once(self.last).chain(self.before)
    }

    /// The deed that is just done.
    pub fn last(&self) -> &'a Deed {
        self.last
    }
}

/// The patterns that stand, gravest first.
pub fn find(history: &History<'_>, _policy: &Policy) -> Vec<Finding> {
    let mut found: Vec<Finding> = repetitive_errors(history).into_iter().collect();
    crate::domain::sort_by_key(&mut found, |finding| std::cmp::Reverse(finding.severity));
    found
}

/// Seed 000: the same error at least three times in the last ten results. An error after which something was changed is part
/// of mending it, and counts a third.
fn repetitive_errors(history: &History<'_>) -> Option<Finding> {
    /// Results looked at.
    const RESULTS: usize = 10;
    /// Errors in thirds: three whole ones.
    const ENOUGH: u32 = 9;
    let last = Some(history.last()).filter(|deed| deed.outcome == Outcome::Failed && deed.error != 0)?;
    let (mut thirds, mut times, mut changed) = (0_u32, 0_u32, false);
    let results = |deed: &&Deed| matches!(deed.outcome, Outcome::Done | Outcome::Failed);
    for deed in history.deeds().filter(|deed| deed.agent == last.agent).filter(results).take(RESULTS) {
        changed |= deed.changed();
        if deed.error == last.error {
            thirds += if changed { 1 } else { 3 };
            times += 1;
        }
    }
    (thirds >= ENOUGH).then(|| {
        let over = u8::try_from(thirds - ENOUGH).unwrap_or(u8::MAX);
        Finding {
            pattern: "repetitive_errors".to_owned(),
            confidence: 60_u8.saturating_add(over.saturating_mul(2)).min(100),
            severity: 20_u8.saturating_add(over.saturating_mul(3)).min(69),
            evidence: format!("the same error {times} times in the last {RESULTS} results"),
        }
    })
}
