//! Scores and the levels they fall into. The cut-offs are in the policy.

use serde::{Deserialize, Serialize};

use super::words;

/// A number from 0 to 1. Anything that is not such a number becomes 1, the strictest.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default, Serialize, Deserialize)]
#[serde(from = "f64", into = "f64")]
pub struct Score(f64);

/// It is never not-a-number.
impl Eq for Score {}

impl Score {
    pub const ZERO: Score = Score(0.0);
    pub const ONE: Score = Score(1.0);

    /// Clamps to 0..=1; not-a-number counts as 1.
    pub fn new(value: f64) -> Score {
        if value.is_nan() { Score::ONE } else { Score(value.clamp(0.0, 1.0)) }
    }

    pub const fn get(self) -> f64 {
        self.0
    }

    /// At least `bound`, with the rounding of sums like .3 + .3 taken out.
    pub fn reaches(self, bound: f64) -> bool {
        self.0 + 1e-9 >= bound
    }
}

impl From<f64> for Score {
    fn from(value: f64) -> Score {
        Score::new(value)
    }
}

impl From<Score> for f64 {
    fn from(score: Score) -> f64 {
        score.0
    }
}

words! {
    /// Bands of risk, by lower bounds.
    #[derive(PartialOrd, Ord)]
    RiskLevel {
        Minimal = "minimal",
        Low = "low",
        Medium = "medium",
        High = "high",
        Critical = "critical",
    }
}

words! {
    /// Bands of rationality, by lower bounds.
    #[derive(PartialOrd, Ord)]
    RationalityLevel {
        Low = "low",
        Medium = "medium",
        High = "high",
    }
}

/// What was added to the base risk (seed 002).
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Modifiers {
    pub scope: f64,
    pub repetition: f64,
    pub privilege: f64,
    pub pattern: f64,
}

/// The risk of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Risk {
    pub score: Score,
    pub level: RiskLevel,
    /// The kinds of effect and circumstances that made the score, strongest first.
    pub factors: Vec<&'static str>,
    pub modifiers: Modifiers,
}

/// The four parts of rationality (seed 002).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Components {
    pub goal_alignment: Score,
    pub logical_progression: Score,
    pub efficiency: Score,
    pub completeness: Score,
}

/// What speaks against a part of it (seed 002).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Issue {
    NotAligned,
    RepeatsFailure,
    RepeatsDone,
    NotUnderstood,
}

impl Issue {
    pub const ALL: [Issue; 4] =
        [Issue::NotAligned, Issue::RepeatsFailure, Issue::RepeatsDone, Issue::NotUnderstood];

    pub const fn text(self) -> &'static str {
        match self {
            Issue::NotAligned => "not aligned with the goals",
            Issue::RepeatsFailure => "repeats what failed",
            Issue::RepeatsDone => "repeats what was just done",
            Issue::NotUnderstood => "not fully understood",
        }
    }

    /// What would be more rational.
    pub const fn suggestion(self) -> &'static str {
        match self {
            Issue::NotAligned => "go back to what was asked for, or say how this serves it",
            Issue::RepeatsFailure => "read the error, and change something before trying again",
            Issue::RepeatsDone => "use the result that is at hand",
            Issue::NotUnderstood => "write it in plain steps, each a command of its own",
        }
    }
}

/// How far a call makes sense where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Rationality {
    pub score: Score,
    pub level: RationalityLevel,
    pub components: Components,
    pub issues: Vec<Issue>,
}
