//! The answer of a quarantined agent: what of it is accepted, and what of that the trusted agent gets to see. It shows
//! nothing to anybody itself.

mod clean;
mod flags;
mod json;
mod parse;
mod places;
mod text;

pub use clean::{CleanFinding, CleanLocation, CleanReport, CleanUnread, Metadata, clean};
pub use flags::Flag;
pub use parse::{MAX_BYTES, SchemaError, parse};
pub use places::ReviewedFile;
pub use text::harmless;

use crate::domain::words;

/// The published JSON Schema of an answer, as the prompt shows it.
pub const SCHEMA: &str = include_str!("../../../docs/response.schema.json");

/// An answer that follows the schema. Its text is the agent's own: not to be shown before [`clean`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    pub summary: String,
    pub risk_level: Danger,
    pub findings: Vec<Finding>,
    pub files_reviewed: Vec<String>,
    pub unread: Vec<Unread>,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub kind: Kind,
    pub severity: Danger,
    pub title: String,
    pub description: String,
    pub location: Option<Location>,
    pub recommendation: Option<String>,
    pub snippet: Option<String>,
}

/// Where a finding is, as the agent says; lines count from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    pub file: String,
    pub line: Option<u32>,
    pub end_line: Option<u32>,
}

/// A file that the agent could not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    pub file: String,
    pub why: String,
}

words! {
    /// What a finding is about.
    Kind {
        Security = "security",
        Correctness = "correctness",
        Quality = "quality",
        Performance = "performance",
        Dependency = "dependency",
        PromptInjection = "prompt-injection",
        Other = "other",
    }
}

words! {
    /// How bad a finding or a whole report is. `None` is a report's, `Info` a finding's.
    #[derive(PartialOrd, Ord)]
    Danger {
        None = "none",
        Info = "info",
        Low = "low",
        Medium = "medium",
        High = "high",
        Critical = "critical",
    }
}

impl Danger {
    /// Of a whole report.
    pub const OF_REPORT: [Danger; 5] =
        [Danger::None, Danger::Low, Danger::Medium, Danger::High, Danger::Critical];
    /// Of one finding.
    pub const OF_FINDING: [Danger; 5] =
        [Danger::Info, Danger::Low, Danger::Medium, Danger::High, Danger::Critical];
}
