//! A warning reaches an agent once: the same rule about the same thing is not told again in its session.

use crate::domain::{Decision, Enforcement, Subject, Verdict, fingerprint};
use crate::host::clock::Now;
use crate::host::state::{self, Store};
use crate::review;

/// The decision as it is told. Where it cannot be known whether it was told before, it is told.
pub fn once(decision: Decision, subject: &Subject, (store, now): (&Store, Now)) -> Decision {
    if decision.enforcement() != Enforcement::Notice {
        return decision;
    }
    let agent = review::agent_fingerprint(subject).to_le_bytes();
    let warnings = decision.reasons().iter().filter(|reason| reason.verdict == Verdict::Warn);
    let prints: Vec<u64> = warnings
        .map(|reason| fingerprint(&[&agent, reason.rule.as_bytes(), reason.matched.as_bytes()]))
        .collect();
    let is_new = state::amend(store, subject, now, |document| {
        let new: Vec<bool> = prints.iter().map(|print| document.behaviour.warns(*print)).collect();
        new.contains(&true)
    });
    if is_new.unwrap_or(true) { decision } else { decision.warned_before() }
}
