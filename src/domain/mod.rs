//! The words of lazaret: what a call is, what it does, what was decided. No logic about shells, clients or files.
#![forbid(clippy::disallowed_methods, clippy::disallowed_types)]

mod behaviour;
pub mod client;
mod content;
mod decision;
mod effect;
mod event;
mod exception;
mod facts;
mod fault;
pub mod fleet;
mod history;
mod ids;
mod key;
mod letters;
mod marks;
mod order;
mod pattern;
mod plugin;
mod policy;
mod program;
mod request;
mod review_session;
mod score;
#[cfg(any(target_os = "macos", test))]
mod spelling;
mod surface;
mod text;
mod words;
mod written_rule;

pub use behaviour::{
    ActionKind, Behaviour, Finding, HistoryEntry, Intervened, InterventionKind, Pattern, Place, Purpose,
    Spent, Throttle,
};
pub use client::{About, Client, Reads, WatchedFiles};
pub use content::Content;
pub use decision::{Decision, Enforcement, Leave, Reason, Rewrite, Severity, Verdict};
pub use effect::{Effect, EffectKind, Target};
pub use event::{AuditEvent, EventKind};
pub use exception::{Excepted, Exception, Expiry, Lowered, Tier};
pub use facts::{Answer, Ask, Facts, PathFact, PathKind, Places, PlainHash, Protected, ProtectedKind};
pub use fault::{Fault, FaultKind};
pub use history::{Entry, Outcome, PastCall, Stand, Watch, fingerprint};
pub use ids::{OWN_IDS, names_id};
pub use key::Key;
pub use letters::{Among, OneOf, letter_at};
pub use marks::{Mark, Marks, Origin, Reach};
pub use order::{map_of, set_of, sort_by, sort_by_key};
pub use pattern::{Marked, WrittenFilter, WrittenIntervention, WrittenPattern, highest};
pub use plugin::{Plugin, PluginKind, PluginRisk};
pub use policy::{
    AuditPolicy, BuiltinRules, CheckpointPolicy, FleetFault, FleetPolicy, FleetService, InterventionPolicy,
    LogLevel, Mode, OnFault, PatternPolicy, Policy, Profile, QuarantinePolicy, RationalityThresholds,
    ResourceMode, ResourcePolicy, RiskThresholds, Sensitivity, Span, ToolLimit, lies_below,
};
pub use program::{Operands, Operation, Rest, Role, Takes, Wrap, WrittenProgram, WrittenSub, is_option_word};
pub use request::{
    Action, AgentId, AgentReport, Asking, CallId, Claim, Event, Request, SearchKind, SessionId, Subject,
    Tool, ToolCall, Trust, Usage,
};
pub use review_session::{Granted, Grounds, Inside, Out, ReviewId, Standing, is_sealed_name, sealed_name};
pub use score::{Components, Issue, Modifiers, Rationality, RationalityLevel, Risk, RiskLevel, Score};
pub use surface::{Run, Surface};
pub use text::{
    clip, escape, is_hidden, join, last_name, lies_in, pasted, same_name, shell_word, single_quoted, size,
    split_name, words_of,
};
pub(crate) use words::words;
pub use written_rule::{
    Class, Flow, WayOut, WrittenCode, WrittenCommand, WrittenEffect, WrittenOperand, WrittenRule,
    WrittenTool, WrittenWhen,
};
