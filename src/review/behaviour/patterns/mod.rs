//! The patterns: what a row of entries says that no single one does. They need enough evidence to be right; one file for each.

mod custom;
mod exploration_wandering;
mod failed_references;
mod goal_drift;
mod repeated_blocks;
mod repetitive_errors;
mod resource_spiral;
mod scope_creep;

pub use custom::{Ended, marked};

use crate::domain::{Behaviour, Finding, HistoryEntry, Outcome, Pattern, Policy, set_of};

/// The entries of a session, the one that is just done and those before it.
#[derive(Debug, Clone)]
pub struct History<'a> {
    last: &'a HistoryEntry,
    /// Newest first.
    before: &'a [HistoryEntry],
    /// What plugins of the user's found in it.
    told: &'a [Finding],
}

impl<'a> History<'a> {
    /// Entries that are looked back on.
    pub const LOOKED_AT: usize = 200;

    pub fn new(last: &'a HistoryEntry, before: &'a [HistoryEntry]) -> History<'a> {
        History { last, before, told: &[] }
    }

    /// The same with what plugins of the user's found in it.
    #[must_use]
    pub fn told(self, told: &'a [Finding]) -> History<'a> {
        History { told, ..self }
    }

    /// Newest first.
    pub fn entries(&self) -> impl Iterator<Item = &'a HistoryEntry> {
        std::iter::once(self.last).chain(self.before).take(History::LOOKED_AT)
    }

    /// Those of the person's present prompt, newest first.
    fn of_prompt(&self) -> impl Iterator<Item = &'a HistoryEntry> {
        let prompt = self.last.prompt;
        self.entries().filter(move |entry| entry.prompt == prompt)
    }

    /// The entry that is just done.
    pub fn last(&self) -> &'a HistoryEntry {
        self.last
    }
}

/// What a pattern is looked for in.
#[derive(Debug, Clone, Copy)]
struct Look<'a> {
    history: &'a History<'a>,
    behaviour: &'a Behaviour,
    policy: &'a Policy,
}

impl Look<'_> {
    /// A threshold of evidence under the configured sensitivity.
    fn scaled(&self, threshold: u32) -> u32 {
        self.policy.patterns.sensitivity.scaled(threshold)
    }
}

/// A pattern that was seen: confidence and severity in percent, not capped yet.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Seen {
    confidence: u32,
    severity: u32,
    evidence: String,
    /// How many actions speak for it.
    count: u32,
}

/// The patterns that stand, gravest first.
pub fn find(history: &History<'_>, behaviour: &Behaviour, policy: &Policy) -> Vec<Finding> {
    let look = Look { history, behaviour, policy };
    let enabled = Pattern::ALL.into_iter().filter(|pattern| policy.patterns.looks_for(pattern.name()));
    // Of two that are as grave, the user's own has the better words, and a stranger's none.
    let own = |hushed| custom::find(&policy.patterns.custom, hushed, history);
    let built_in = enabled.filter_map(|pattern| one(pattern, &look));
    let mut found: Vec<Finding> =
        own(false).chain(built_in).chain(own(true)).chain(history.told.iter().cloned()).collect();
    crate::domain::sort_by_key(&mut found, |finding| std::cmp::Reverse(finding.severity));
    found
}

fn one(pattern: Pattern, look: &Look<'_>) -> Option<Finding> {
    let seen = match pattern {
        Pattern::RepetitiveErrors => repetitive_errors::seen(look),
        Pattern::ScopeCreep => scope_creep::seen(look),
        Pattern::ResourceSpiral => resource_spiral::seen(look),
        Pattern::GoalDrift => goal_drift::seen(look),
        Pattern::ExplorationWandering => exploration_wandering::seen(look),
        Pattern::FailedReferences => failed_references::seen(look),
        Pattern::RepeatedBlocks => repeated_blocks::seen(look),
    }?;
    Some(Finding {
        pattern: pattern.name().to_owned(),
        confidence: percent(seen.confidence),
        severity: percent(seen.severity).min(pattern.cap()),
        evidence: seen.evidence,
        count: seen.count,
    })
}

fn percent(number: u32) -> u8 {
    u8::try_from(number.min(100)).unwrap_or(100)
}

/// A count as a number that can be reckoned with.
fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// It ran, whatever came of it.
fn ran(entry: &HistoryEntry) -> bool {
    matches!(entry.outcome, Outcome::Done | Outcome::Failed)
}

/// How many different ones there are.
fn different(prints: impl Iterator<Item = u64>) -> u32 {
    let set = set_of(prints);
    number(set.len())
}
