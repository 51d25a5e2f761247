//! The counting: from lines of the log to the numbers of seed 002, and by rule, tool and agent.

use std::collections::{BTreeMap, BTreeSet};

use super::args::Opinion;
use super::feedback::Opinions;
use crate::cli::doctor;
use crate::cli::record::WORKED;
use crate::domain::{EventKind, Verdict, set_of, sort_by};
use crate::host::audit::Line;

/// Upper bounds of the duration histogram, in microseconds. The last is the review time that seed 002 allows.
pub const BOUNDS_US: [u64; 9] = [100, 250, 500, 1_000, 2_500, 5_000, 10_000, 50_000, 100_000];

/// How many calls of some kind there were, and how they were answered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    pub all: u64,
    pub allowed: u64,
    pub warned: u64,
    /// Rewritten or asked about.
    pub modified: u64,
    pub asked: u64,
    pub blocked: u64,
    pub duration_us: u64,
    /// What people called right, and wrong.
    pub ok: u64,
    pub fp: u64,
}

impl Counts {
    fn add(&mut self, line: &Line, verdict: Verdict, opinion: Option<Opinion>) {
        self.all += 1;
        match verdict {
            Verdict::Allow => self.allowed += 1,
            Verdict::Warn => self.warned += 1,
            Verdict::Modify => self.modified += 1,
            Verdict::Block => self.blocked += 1,
        }
        self.asked += u64::from(line.enforcement == "ask");
        self.duration_us = self.duration_us.saturating_add(line.duration_us);
        match opinion {
            Some(Opinion::Ok) => self.ok += 1,
            Some(Opinion::Fp) => self.fp += 1,
            None => {}
        }
    }

    /// What was modified without a question.
    pub fn rewritten(&self) -> u64 {
        self.modified.saturating_sub(self.asked)
    }

    /// The mean time of a decision in microseconds: none = there was none.
    pub fn mean_us(&self) -> Option<f64> {
        ratio(self.duration_us, self.all)
    }

    /// The share of the judged decisions that people called wrong: none = nobody judged one.
    pub fn false_positives(&self) -> Option<f64> {
        ratio(self.fp, self.fp + self.ok)
    }
}

/// A quotient, where there is something to divide by.
pub(super) fn ratio(part: u64, whole: u64) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// What became of interventions: whether the pattern ended within the next ten actions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Measured {
    pub worked: u64,
    pub in_vain: u64,
}

/// What the log adds up to.
#[derive(Debug, Default)]
pub struct Tally {
    opinions: Opinions,
    pub total: Counts,
    pub rules: BTreeMap<String, Counts>,
    pub tools: BTreeMap<String, Counts>,
    /// By type; the main agent has none.
    pub agents: BTreeMap<String, Counts>,
    pub interventions: BTreeMap<String, u64>,
    /// By kind, of how many it is known that they worked, and that they were in vain.
    pub measured: BTreeMap<String, Measured>,
    /// Calls not above each of [`BOUNDS_US`] and above the one before; the last are those above all.
    pub durations: [u64; BOUNDS_US.len() + 1],
    pub faults: u64,
    sessions: BTreeSet<(String, String)>,
    pub first: Option<String>,
    pub last: Option<String>,
}

/// What the main agent is called.
pub(super) const MAIN: &str = "main";

impl Tally {
    pub fn new(opinions: Opinions) -> Tally {
        Tally { opinions, ..Tally::default() }
    }

    /// Counts a line, if it is a decision on a call, an intervention or a fault.
    pub fn add(&mut self, line: &Line) {
        // What doctor asks is no agent's call.
        if line.session.starts_with(doctor::PROBE) {
            return;
        }
        let kind = line.action.split(' ').next().unwrap_or_default();
        if line.event == EventKind::Intervention.name() {
            *self.interventions.entry(kind.to_owned()).or_default() += 1;
        } else if line.event == EventKind::InterventionMeasured.name() {
            let measured = self.measured.entry(kind.to_owned()).or_default();
            let count = if line.note == WORKED { &mut measured.worked } else { &mut measured.in_vain };
            *count += 1;
        }
        self.faults += u64::from(line.event == EventKind::Fault.name());
        if let Some(verdict) = line.told().filter(|_| is_review(&line.event)) {
            self.review(line, verdict);
        }
    }

    fn review(&mut self, line: &Line, verdict: Verdict) {
        let opinion = self.opinions.get(&line.id).copied();
        self.total.add(line, verdict, opinion);
        self.tools.entry(line.tool.clone()).or_default().add(line, verdict, opinion);
        let agent = if line.agent_type.is_empty() { MAIN } else { &line.agent_type };
        self.agents.entry(agent.to_owned()).or_default().add(line, verdict, opinion);
        for rule in set_of(&line.rules) {
            self.rules.entry(rule.clone()).or_default().add(line, verdict, opinion);
        }
        let place = BOUNDS_US.iter().filter(|bound| line.duration_us > **bound).count();
        if let Some(count) = self.durations.get_mut(place) {
            *count += 1;
        }
        self.sessions.insert((line.client.clone(), line.session.clone()));
        self.first.get_or_insert_with(|| line.time.clone());
        self.last = Some(line.time.clone());
    }

    pub fn sessions(&self) -> usize {
        self.sessions.len()
    }

    /// The seed's counters in its order. There is no cache in the hook, so nothing is ever found in one.
    pub fn counters(&self) -> [(&'static str, Option<f64>); 8] {
        #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
        let count = |number: u64| Some(number as f64);
        let total = &self.total;
        [
            ("total_reviews", count(total.all)),
            ("allowed_actions", count(total.allowed)),
            ("warned_actions", count(total.warned)),
            ("modified_actions", count(total.modified)),
            ("blocked_actions", count(total.blocked)),
            ("avg_review_time", total.mean_us().map(|us| us / 1000.0)),
            ("cache_hit_rate", None),
            ("false_positive_rate", total.false_positives()),
        ]
    }
}

/// The types of a decision on a call that was about to run.
const REVIEWS: [EventKind; 17] = [
    EventKind::ActionAllowed,
    EventKind::ActionWarned,
    EventKind::ActionModified,
    EventKind::ActionAsked,
    EventKind::ActionBlocked,
    EventKind::ToolBlocked,
    EventKind::TypedReferenceInvalid,
    EventKind::HmacFailure,
    EventKind::SessionMismatch,
    EventKind::ReferenceExpired,
    EventKind::RateLimitExceeded,
    EventKind::ConcurrentAgentLimit,
    EventKind::QuarantineTimeout,
    EventKind::QuarantineAccess,
    EventKind::SessionStopped,
    EventKind::PermissionUsed,
    EventKind::Fault,
];

fn is_review(event: &str) -> bool {
    REVIEWS.iter().any(|kind| kind.name() == event)
}

/// Those with the most calls first.
pub(super) fn largest(counts: &BTreeMap<String, Counts>, top: usize) -> Vec<(&str, &Counts)> {
    let mut rows: Vec<_> = counts.iter().map(|(name, counts)| (name.as_str(), counts)).collect();
    sort_by(&mut rows, |one, other| other.1.all.cmp(&one.1.all).then(one.0.cmp(other.0)));
    rows.truncate(top);
    rows
}
