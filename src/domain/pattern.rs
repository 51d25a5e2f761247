//! Patterns and interventions in words: the form in which those of one's own are written in configuration files and kept in the
//! policy. How they are looked for and made is in `review`.

use serde::{Deserialize, Serialize};

use super::{ActionKind, InterventionKind, Outcome, Severity};

/// Which entries are meant: all that it says must fit, and of each list one; an empty list fits every entry.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct WrittenFilter {
    /// Names of tools; a `*` stands for any letters.
    pub tool: Vec<String>,
    pub operation: Vec<ActionKind>,
    /// Shell patterns: absolute, below the home directory (`~/…`), or below the project.
    pub path: Vec<String>,
    pub outcome: Vec<Outcome>,
    /// Texts that the error holds, without numbers and colours.
    pub error: Vec<String>,
}

/// A pattern of one's own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrittenPattern {
    pub name: String,
    /// What is seen, in one line; empty = the name says it.
    pub description: String,
    /// So many entries of the prompt are looked at, the last ones (1 to [`WrittenPattern::WINDOW`]).
    pub window: u32,
    /// The entries that are looked at at all; none = every one.
    pub among: Option<WrittenFilter>,
    /// Those of them that count.
    pub filter: WrittenFilter,
    /// So many have to count at least.
    pub count: u32,
    /// And so many percent of those that are looked at.
    pub percent: u32,
    /// The class: how grave it can become.
    pub severity: Severity,
    /// What the model is told; placeholders stand in braces.
    pub text: String,
    /// Histories after whose last entry it must stand.
    pub fires: Vec<Vec<String>>,
    /// Histories in which it must never stand.
    pub silent: Vec<Vec<String>>,
    /// It comes from a file that nobody trusts: it counts, and its words are not repeated.
    pub hushed: bool,
}

impl WrittenPattern {
    /// Patterns of one's own that are looked for: an entry has a bit for each.
    pub const MOST: usize = 32;
    /// Longest window, in entries.
    pub const WINDOW: u32 = 200;
    /// Share (in percent) of entries says nothing of fewer than these (seed 000's scope creep).
    pub const FEWEST: u32 = 5;

    /// The highest severity in percent that evidence can bring it to: the classes of the built-in patterns.
    pub const fn cap(&self) -> u8 {
        highest(self.severity)
    }
}

/// The highest severity in percent of a pattern of this class (seed 000).
pub const fn highest(class: Severity) -> u8 {
    match class {
        Severity::Low => 29,
        Severity::Medium => 69,
        Severity::High => 89,
        Severity::Critical => 100,
    }
}

/// What is done otherwise about one pattern.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrittenIntervention {
    /// The pattern's name, built in or of one's own.
    pub pattern: String,
    /// What the model is told instead, with placeholders in braces; none = the words of the pattern.
    pub text: Option<String>,
    /// The mildest intervention; none = as the severity asks for.
    pub first: Option<InterventionKind>,
    /// The gravest; none = as the pattern's class allows.
    pub most: Option<InterventionKind>,
}

/// Which of the user's own patterns an entry has to do with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Marked {
    /// Fingerprint of the filters that the bits were set by (0 = there were none).
    pub by: u64,
    /// A bit for each pattern that looks at the entry.
    pub among: u32,
    /// A bit for each pattern for which it counts.
    pub counts: u32,
}
