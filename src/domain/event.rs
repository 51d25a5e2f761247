//! One line of the audit log, before it is written.

use super::{Decision, LogLevel, Subject, words};

words! {
    /// The types of audit event: those of seed 004 and those of the step review.
    EventKind {
        ActionAllowed = "action_allowed",
        ActionWarned = "action_warned",
        ActionModified = "action_modified",
        ActionAsked = "action_asked",
        ActionBlocked = "action_blocked",
        ActionCompleted = "action_completed",
        ActionFailed = "action_failed",
        ToolBlocked = "tool_blocked",
        /// A plain path, what is no reference, or a place outside where one is needed.
        TypedReferenceInvalid = "typed_reference_invalid",
        HmacFailure = "hmac_failure",
        SessionMismatch = "session_mismatch",
        ReferenceExpired = "reference_expired",
        RateLimitExceeded = "rate_limit_exceeded",
        ConcurrentAgentLimit = "concurrent_agent_limit",
        QuarantineSessionStarted = "quarantine_session_started",
        QuarantineSessionEnded = "quarantine_session_ended",
        QuarantineTimeout = "quarantine_timeout",
        /// A quarantined agent was led to a sealed copy.
        QuarantineAccess = "quarantine_access",
        QuarantineAgentStarted = "quarantine_agent_started",
        QuarantineAgentStopped = "quarantine_agent_stopped",
        QuarantineReportAccepted = "quarantine_report_accepted",
        QuarantineReportSentBack = "quarantine_report_sent_back",
        QuarantineReportRejected = "quarantine_report_rejected",
        SessionStopped = "session_stopped",
        SessionResumed = "session_resumed",
        /// A pattern was found in what a session did, and something was done about it.
        Intervention = "intervention",
        SessionStarted = "session_started",
        SessionEnded = "session_ended",
        SubagentStarted = "subagent_started",
        SubagentStopped = "subagent_stopped",
        PromptSubmitted = "prompt_submitted",
        ConfigChanged = "config_changed",
        ConfigChangeBlocked = "config_change_blocked",
        ClientEvent = "client_event",
        Fault = "fault",
        PermissionGranted = "permission_granted",
        /// A person refused what was offered under a code.
        PermissionRefused = "permission_refused",
        PermissionUsed = "permission_used",
        TrustChanged = "trust_changed",
        AuditPruned = "audit_pruned",
        /// A person was given the key that later lines are verified with.
        AuditKeyGiven = "audit_key_given",
        /// A person said whether a decision was right.
        Feedback = "feedback",
        /// The user's command was told of a stopped session.
        NotificationSent = "notification_sent",
        /// Whether an intervention worked is known now.
        InterventionMeasured = "intervention_measured",
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
            | EventKind::PermissionRefused
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

impl AuditEvent<'_> {
    /// One of which only the kind is known.
    pub const fn of(kind: EventKind) -> Self {
        AuditEvent {
            kind,
            subject: None,
            cwd: "",
            tool: "",
            action: "",
            call_id: None,
            decision: None,
            note: "",
            duration_us: 0,
        }
    }
}
