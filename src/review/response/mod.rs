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

/// What a finding is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Security,
    Correctness,
    Quality,
    Performance,
    Dependency,
    PromptInjection,
    Other,
}

impl Kind {
    pub const ALL: [Kind; 7] = [
        Kind::Security,
        Kind::Correctness,
        Kind::Quality,
        Kind::Performance,
        Kind::Dependency,
        Kind::PromptInjection,
        Kind::Other,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Kind::Security => "security",
            Kind::Correctness => "correctness",
            Kind::Quality => "quality",
            Kind::Performance => "performance",
            Kind::Dependency => "dependency",
            Kind::PromptInjection => "prompt-injection",
            Kind::Other => "other",
        }
    }
}

/// How bad a finding or a whole report is. `None` is a report's, `Info` a finding's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Danger {
    None,
    Info,
    Low,
    Medium,
    High,
    Critical,
}

impl Danger {
    /// Of a whole report.
    pub const OF_REPORT: [Danger; 5] =
        [Danger::None, Danger::Low, Danger::Medium, Danger::High, Danger::Critical];
    /// Of one finding.
    pub const OF_FINDING: [Danger; 5] =
        [Danger::Info, Danger::Low, Danger::Medium, Danger::High, Danger::Critical];

    pub const fn name(self) -> &'static str {
        match self {
            Danger::None => "none",
            Danger::Info => "info",
            Danger::Low => "low",
            Danger::Medium => "medium",
            Danger::High => "high",
            Danger::Critical => "critical",
        }
    }
}
