//! What is written to the audit log, and in which words.

use std::borrow::Cow;
use std::path::Path;

use crate::adapters::Said;
use crate::cli::doctor;
use crate::domain::{
    AuditEvent, Decision, Enforcement, Event, EventKind, Fault, Intervened, Outcome, Policy, Request,
    ReviewId, Tool, ToolCall, Verdict, clip,
};
use crate::host::audit;
use crate::host::clock::Now;
use crate::host::environment::Environment;
use crate::host::quarantine::{Session, Why};
use crate::review::behaviour::Chosen;
use crate::review::{self, redact};

/// Longest action or note in the log, in bytes, after redaction.
const TEXT: usize = 4 * 1024;
/// Longest text that is looked through for secrets; what is beyond is not written.
const LOOKED_AT: usize = 64 * 1024;

/// What became of an intervention.
pub(super) const WORKED: &str = "worked";
pub(super) const IN_VAIN: &str = "in vain";

/// Said of a call that a probe made up.
const PROBED: &str = "a question of lazaret doctor, not an agent's call";

/// Text that an agent wrote, fit for the log: secrets out, then clipped.
pub(super) fn safe(text: &str) -> String {
    let looked = match text.len() {
        ..=LOOKED_AT => Cow::Borrowed(text),
        _ => Cow::Owned(clip(text, LOOKED_AT)),
    };
    clip(&redact::redact_start(&looked, TEXT), TEXT)
}

/// The log of one lazaret, at one moment.
#[derive(Debug, Clone, Copy)]
pub struct Log<'a> {
    pub state: &'a Path,
    pub env: &'a Environment,
    pub policy: &'a Policy,
    pub now: Now,
}

impl Log<'_> {
    fn append(&self, event: &AuditEvent<'_>) -> Result<(), Fault> {
        if self.policy.audit.mask_pii { self.masked(event) } else { self.write(event) }
    }

    fn write(&self, event: &AuditEvent<'_>) -> Result<(), Fault> {
        audit::append(&audit::dir(self.state), &self.policy.audit, self.now, event).map(|_id| ())
    }

    /// The same without personal data.
    fn masked(&self, event: &AuditEvent<'_>) -> Result<(), Fault> {
        let mask = |text: &str| redact::mask(text, self.env.home()).into_owned();
        let decision = event.decision.map(|decision| {
            let mut decision = decision.clone().with_texts(mask);
            for excepted in &mut decision.exceptions {
                excepted.reason = mask(&excepted.reason);
                excepted.file = mask(&excepted.file);
            }
            decision
        });
        let (cwd, action, note) = (mask(event.cwd), mask(event.action), mask(event.note));
        let decision = decision.as_ref();
        self.write(&AuditEvent { cwd: &cwd, action: &action, note: &note, decision, ..event.clone() })
    }

    /// A call that was decided on.
    pub fn call(
        &self,
        request: &Request,
        call: &ToolCall,
        decision: &Decision,
        duration_us: u64,
    ) -> Result<(), Fault> {
        let text = review::action_text(call);
        let action = safe(&text);
        // Where nothing is said of a call in which nothing is secret, its effects hold nothing secret either: the usual case,
        // and it costs no second look.
        let plain = decision.reasons().is_empty() && decision.rewrite().is_none() && action == text;
        let told = (!plain).then(|| decision.clone().with_texts(safe));
        self.append(&AuditEvent {
            kind: kind(decision),
            subject: Some(&request.subject),
            cwd: &request.cwd,
            tool: &call.tool.name(),
            action: &action,
            call_id: call.id.as_ref().map(crate::domain::CallId::as_str),
            decision: Some(told.as_ref().unwrap_or(decision)),
            // Nothing of the kind was about to run.
            note: if request.subject.session.as_str().starts_with(doctor::PROBE) { PROBED } else { "" },
            duration_us,
        })
    }

    /// Any other event of a client.
    pub fn event(&self, request: &Request, decision: &Decision) -> Result<(), Fault> {
        let (kind, call, note) = told(&request.event, decision);
        let ran = matches!(request.event, Event::AfterTool { .. }) && decision.replacement.is_none();
        let told = (decision.verdict() > Verdict::Allow || decision.rationality.is_some()).then(|| {
            let told = decision.clone().with_texts(safe);
            if ran { told.after_the_fact() } else { told }
        });
        let action = call.map(|call| safe(&review::action_text(call))).unwrap_or_default();
        let tool = call.map(|call| call.tool.name());
        self.append(&AuditEvent {
            kind,
            subject: Some(&request.subject),
            cwd: &request.cwd,
            tool: tool.as_deref().unwrap_or_default(),
            action: &action,
            call_id: call.and_then(|call| call.id.as_ref()).map(crate::domain::CallId::as_str),
            decision: told.as_ref(),
            note: &safe(&note),
            duration_us: 0,
        })
    }

    /// Something was done about a pattern.
    pub fn intervention(&self, request: &Request, chosen: &Chosen) -> Result<(), Fault> {
        self.append(&AuditEvent {
            subject: Some(&request.subject),
            cwd: &request.cwd,
            action: &format!("{} {}", chosen.kind.name(), chosen.pattern),
            note: &safe(&chosen.text),
            ..AuditEvent::of(EventKind::Intervention)
        })
    }

    /// It is known now whether these interventions worked.
    pub fn measured(&self, request: &Request, interventions: &[Intervened]) -> Result<(), Fault> {
        interventions.iter().try_for_each(|one| {
            self.append(&AuditEvent {
                subject: Some(&request.subject),
                cwd: &request.cwd,
                action: &format!("{} {}", one.kind.name(), one.pattern),
                note: if one.effective == Some(true) { WORKED } else { IN_VAIN },
                ..AuditEvent::of(EventKind::InterventionMeasured)
            })
        })
    }

    /// A fault that has no decision to stand in.
    pub fn fault(&self, fault: &Fault) -> Result<(), Fault> {
        self.plain(EventKind::Fault, &format!("{}: {}", fault.kind.code(), fault.message()))
    }

    /// A message that could not be read, with what it says all the same of who sent it.
    pub fn unreadable(&self, fault: &Fault, said: &Said) -> Result<(), Fault> {
        self.append(&AuditEvent {
            subject: said.subject.as_ref(),
            tool: &safe(&said.tool),
            note: &safe(&format!("{}: {}", fault.kind.code(), fault.message())),
            ..AuditEvent::of(EventKind::Fault)
        })
    }

    /// A review session was opened.
    pub fn review_started(&self, session: &Session) -> Result<(), Fault> {
        let note = format!(
            "review {}: files {}, bytes {}, seconds {}, below {}",
            session.id, session.files, session.bytes, session.ttl_s, session.root
        );
        self.plain(EventKind::QuarantineSessionStarted, &note)
    }

    /// Review sessions that were found to be over.
    pub fn reviews_ended(&self, ended: &[(ReviewId, Why)]) -> Result<(), Fault> {
        ended.iter().try_for_each(|(id, why)| self.review_ended(id, *why))
    }

    /// A review session has ended.
    pub fn review_ended(&self, id: &ReviewId, why: Why) -> Result<(), Fault> {
        let kind = match why {
            Why::TimedOut => EventKind::QuarantineTimeout,
            Why::Asked | Why::Expired | Why::ClientEnded | Why::ProcessGone | Why::Broken => {
                EventKind::QuarantineSessionEnded
            }
        };
        self.plain(kind, &format!("review {id}: {}", why.name()))
    }

    /// An event that no client reported.
    pub fn plain(&self, kind: EventKind, note: &str) -> Result<(), Fault> {
        self.alone(kind, "", note)
    }

    /// The same about something.
    pub fn alone(&self, kind: EventKind, action: &str, note: &str) -> Result<(), Fault> {
        self.append(&AuditEvent { action, note: &safe(note), ..AuditEvent::of(kind) })
    }
}

/// The type of event that a decision is.
fn kind(decision: &Decision) -> EventKind {
    if decision.fault_kind().is_some() {
        return EventKind::Fault;
    }
    let rule = decision.reasons().first().map_or("", |reason| reason.rule.as_str());
    match rule {
        "TOOL_NOT_ALLOWED" => return EventKind::ToolBlocked,
        "INVALID_TYPED_REFERENCE" => return EventKind::TypedReferenceInvalid,
        "HMAC_VERIFICATION_FAILED" => return EventKind::HmacFailure,
        "SESSION_MISMATCH" => return EventKind::SessionMismatch,
        "TYPED_REFERENCE_EXPIRED" => return EventKind::ReferenceExpired,
        "CONCURRENT_AGENT_LIMIT" | "FLEET_QUARANTINE_FULL" => return EventKind::ConcurrentAgentLimit,
        "QUARANTINE_TIMEOUT" => return EventKind::QuarantineTimeout,
        "quarantine.sealed-copy" => return EventKind::QuarantineAccess,
        "RATE_LIMIT_EXCEEDED" | "TOOL_LIMIT_EXCEEDED" | "FLEET_LIMIT_EXCEEDED" => {
            return EventKind::RateLimitExceeded;
        }
        "SESSION_STOPPED" => return EventKind::SessionStopped,
        "permission.used" => return EventKind::PermissionUsed,
        _ => {}
    }
    match decision.enforcement() {
        Enforcement::Proceed => EventKind::ActionAllowed,
        Enforcement::Notice => EventKind::ActionWarned,
        Enforcement::Rewrite => EventKind::ActionModified,
        Enforcement::Ask => EventKind::ActionAsked,
        Enforcement::Deny => EventKind::ActionBlocked,
        Enforcement::Stop => EventKind::SessionStopped,
    }
}

/// Kind, call and note of an event that is not a call about to run.
fn told<'a>(event: &'a Event, decision: &Decision) -> (EventKind, Option<&'a ToolCall>, String) {
    match event {
        Event::BeforeTool(call) => (kind(decision), Some(call), String::new()),
        Event::AfterTool { call, .. } if decision.replacement.is_some() => {
            let first = decision.reasons().first();
            let kind = match first.map(|reason| reason.rule.as_str()) {
                Some("quarantine.report-accepted") => EventKind::QuarantineReportAccepted,
                _ => EventKind::QuarantineReportRejected,
            };
            (kind, Some(call), first.map(|reason| reason.message.clone()).unwrap_or_default())
        }
        Event::AfterTool { call, outcome, error, .. } => {
            let kind = match outcome {
                Outcome::Done | Outcome::Pending => EventKind::ActionCompleted,
                Outcome::Failed | Outcome::Blocked => EventKind::ActionFailed,
            };
            let error = error.as_deref().unwrap_or_default();
            let note = match call.tool {
                // The words of an agent, perhaps of a quarantined one.
                Tool::Agent if !error.is_empty() => format!("error of {} bytes", error.len()),
                _ => error.to_owned(),
            };
            (kind, Some(call), note)
        }
        Event::Prompt { text } => (EventKind::PromptSubmitted, None, format!("{} bytes", text.len())),
        Event::SessionStart { source } => (EventKind::SessionStarted, None, source.clone()),
        Event::SessionEnd { reason } => (EventKind::SessionEnded, None, reason.clone()),
        Event::SubagentStart if decision.quarantined => {
            (EventKind::QuarantineAgentStarted, None, String::new())
        }
        Event::SubagentStart => (EventKind::SubagentStarted, None, String::new()),
        Event::SubagentStop { .. } if decision.quarantined => {
            let kind = match decision.verdict() {
                Verdict::Block => EventKind::QuarantineReportSentBack,
                Verdict::Allow | Verdict::Warn | Verdict::Modify => EventKind::QuarantineAgentStopped,
            };
            (kind, None, String::new())
        }
        Event::SubagentStop { .. } => (EventKind::SubagentStopped, None, String::new()),
        Event::ConfigChange { source, path } => {
            let kind = if decision.verdict() == Verdict::Block {
                EventKind::ConfigChangeBlocked
            } else {
                EventKind::ConfigChanged
            };
            (kind, None, format!("{source} {}", path.as_deref().unwrap_or_default()))
        }
        Event::Other { name } => (EventKind::ClientEvent, None, name.clone()),
    }
}
