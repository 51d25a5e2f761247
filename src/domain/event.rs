//! One line of the audit log, before it is written.

use super::{Decision, LogLevel, Subject};

/// The types of audit event: those of seed 004 and those of the step review.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventKind {
    ActionAllowed,
    ActionWarned,
    ActionModified,
    ActionAsked,
    ActionBlocked,
    ActionCompleted,
    ActionFailed,
    ToolBlocked,
    /// A plain path, what is no reference, or a place outside where one is needed.
    TypedReferenceInvalid,
    HmacFailure,
    SessionMismatch,
    ReferenceExpired,
    RateLimitExceeded,
    ConcurrentAgentLimit,
    QuarantineSessionStarted,
    QuarantineSessionEnded,
    QuarantineTimeout,
    /// A quarantined agent was led to a sealed copy.
    QuarantineAccess,
    QuarantineAgentStarted,
    QuarantineAgentStopped,
    QuarantineReportAccepted,
    QuarantineReportSentBack,
    QuarantineReportRejected,
    SessionStopped,
    SessionResumed,
    /// A pattern was found in what a session did, and something was done about it.
    Intervention,
    SessionStarted,
    SessionEnded,
    SubagentStarted,
    SubagentStopped,
    PromptSubmitted,
    ConfigChanged,
    ConfigChangeBlocked,
    ClientEvent,
    Fault,
    PermissionGranted,
    PermissionUsed,
    TrustChanged,
    AuditPruned,
    /// A person was given the key that later lines are verified with.
    AuditKeyGiven,
    /// A person said whether a decision was right.
    Feedback,
    /// The user's command was told of a stopped session.
    NotificationSent,
    /// Whether an intervention worked is known now.
    InterventionMeasured,
}

impl EventKind {
    pub const fn name(self) -> &'static str {
        match self {
            EventKind::ActionAllowed => "action_allowed",
            EventKind::ActionWarned => "action_warned",
            EventKind::ActionModified => "action_modified",
            EventKind::ActionAsked => "action_asked",
            EventKind::ActionBlocked => "action_blocked",
            EventKind::ActionCompleted => "action_completed",
            EventKind::ActionFailed => "action_failed",
            EventKind::ToolBlocked => "tool_blocked",
            EventKind::TypedReferenceInvalid => "typed_reference_invalid",
            EventKind::HmacFailure => "hmac_failure",
            EventKind::SessionMismatch => "session_mismatch",
            EventKind::ReferenceExpired => "reference_expired",
            EventKind::RateLimitExceeded => "rate_limit_exceeded",
            EventKind::ConcurrentAgentLimit => "concurrent_agent_limit",
            EventKind::QuarantineSessionStarted => "quarantine_session_started",
            EventKind::QuarantineSessionEnded => "quarantine_session_ended",
            EventKind::QuarantineTimeout => "quarantine_timeout",
            EventKind::QuarantineAccess => "quarantine_access",
            EventKind::QuarantineAgentStarted => "quarantine_agent_started",
            EventKind::QuarantineAgentStopped => "quarantine_agent_stopped",
            EventKind::QuarantineReportAccepted => "quarantine_report_accepted",
            EventKind::QuarantineReportSentBack => "quarantine_report_sent_back",
            EventKind::QuarantineReportRejected => "quarantine_report_rejected",
            EventKind::SessionStopped => "session_stopped",
            EventKind::SessionResumed => "session_resumed",
            EventKind::Intervention => "intervention",
            EventKind::SessionStarted => "session_started",
            EventKind::SessionEnded => "session_ended",
            EventKind::SubagentStarted => "subagent_started",
            EventKind::SubagentStopped => "subagent_stopped",
            EventKind::PromptSubmitted => "prompt_submitted",
            EventKind::ConfigChanged => "config_changed",
            EventKind::ConfigChangeBlocked => "config_change_blocked",
            EventKind::ClientEvent => "client_event",
            EventKind::Fault => "fault",
            EventKind::PermissionGranted => "permission_granted",
            EventKind::PermissionUsed => "permission_used",
            EventKind::TrustChanged => "trust_changed",
            EventKind::AuditPruned => "audit_pruned",
            EventKind::AuditKeyGiven => "audit_key_given",
            EventKind::Feedback => "feedback",
            EventKind::NotificationSent => "notification_sent",
            EventKind::InterventionMeasured => "intervention_measured",
        }
    }
}

impl EventKind {
    /// Its level. What was refused, a fault, a stop and a person's opinion are of the highest: they are
    /// written whatever is set.
    pub const fn level(self) -> LogLevel {
        match self {
            EventKind::ClientEvent => LogLevel::Debug,
            EventKind::ActionAllowed
            | EventKind::ActionCompleted
            | EventKind::SessionStarted
            | EventKind::SessionEnded
            | EventKind::SubagentStarted
            | EventKind::SubagentStopped
            | EventKind::PromptSubmitted
            | EventKind::NotificationSent
            | EventKind::InterventionMeasured
            | EventKind::QuarantineSessionStarted
            | EventKind::QuarantineSessionEnded
            | EventKind::QuarantineAccess
            | EventKind::QuarantineAgentStarted
            | EventKind::QuarantineAgentStopped
            | EventKind::QuarantineReportAccepted => LogLevel::Info,
            EventKind::ActionWarned
            | EventKind::ActionModified
            | EventKind::ActionAsked
            | EventKind::ActionFailed
            | EventKind::ConfigChanged
            | EventKind::QuarantineReportSentBack
            | EventKind::PermissionGranted
            | EventKind::PermissionUsed
            | EventKind::TrustChanged
            | EventKind::SessionResumed
            | EventKind::Intervention
            | EventKind::AuditPruned => LogLevel::Warn,
            EventKind::ActionBlocked
            | EventKind::ToolBlocked
            | EventKind::TypedReferenceInvalid
            | EventKind::HmacFailure
            | EventKind::SessionMismatch
            | EventKind::ReferenceExpired
            | EventKind::RateLimitExceeded
            | EventKind::ConcurrentAgentLimit
            | EventKind::QuarantineTimeout
            | EventKind::QuarantineReportRejected
            | EventKind::ConfigChangeBlocked
            | EventKind::AuditKeyGiven
            | EventKind::SessionStopped
            | EventKind::Feedback
            | EventKind::Fault => LogLevel::Error,
        }
    }
}

/// An event as `host::audit` writes it; every text in it has already been redacted.
#[derive(Debug, Clone)]
pub struct AuditEvent<'a> {
    pub kind: EventKind,
    pub subject: Option<&'a Subject>,
    pub cwd: &'a str,
    /// Tool name in our vocabulary, empty for events without one.
    pub tool: &'a str,
    /// What was asked for (command, path, URL), redacted and clipped.
    pub action: &'a str,
    pub call_id: Option<&'a str>,
    pub decision: Option<&'a Decision>,
    /// Anything else worth a line (a fault's text, a prompt's length).
    pub note: &'a str,
    pub duration_us: u64,
}
