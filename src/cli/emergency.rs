//! What is left when a session is stopped: a report of what it did last, and word to the command that the user named.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::cli::record::Log;
use crate::domain::{Behaviour, Fault, FaultKind, HistoryEntry, Policy, Request, clip, escape, fingerprint};
use crate::host::audit::{self, Filter, Line};
use crate::host::clock::{self, Now};
use crate::host::{detached, reports};
use crate::review::behaviour::{Chosen, History};

/// Actions, and lines of the log, that a report tells.
const TOLD: usize = 20;
/// Longest text of a line of the log, in bytes.
const TEXT: usize = 300;

/// A session that is stopped now.
#[derive(Debug, Clone, Copy)]
pub struct Stopped<'a> {
    pub request: &'a Request,
    pub chosen: &'a Chosen,
    pub history: &'a History<'a>,
    pub behaviour: &'a Behaviour,
}

impl Stopped<'_> {
    /// Keeps the report, and says where it is.
    pub fn report(&self, state_dir: &Path, now: Now) -> Result<PathBuf, Fault> {
        let session = self.request.subject.session.as_str();
        let text = serde_json::to_vec_pretty(&self.json(state_dir, now)).unwrap_or_default();
        reports::save(state_dir, fingerprint(&[session.as_bytes()]), &text, now)
    }

    fn json(&self, state_dir: &Path, now: Now) -> Value {
        let Stopped { request, chosen, history, behaviour } = *self;
        let subject = &request.subject;
        let session = subject.session.as_str();
        let mut entries: Vec<&HistoryEntry> = history.entries().take(TOLD).collect();
        entries.reverse();
        let filter =
            Filter { client: Some(subject.client), session: Some(session.to_owned()), ..Filter::default() };
        let log = audit::last(&audit::dir(state_dir), filter, TOLD);
        let interventions = behaviour.interventions.iter().map(|one| {
            json!({ "kind": one.kind, "pattern": one.pattern, "time": clock::rfc3339(one.at_ms), "effective": one.effective })
        });
        json!({
            "kind": "emergency_stop",
            "time": clock::rfc3339(now.unix_ms),
            "client": subject.client.name(),
            "session": session,
            "agent": subject.agent.as_ref().map(crate::domain::AgentId::as_str),
            "cwd": escape(&request.cwd),
            "pattern": chosen.pattern,
            "reason": escape(&chosen.text),
            "patterns": behaviour.found,
            "asked": escape(&behaviour.purpose.said),
            "last_error": escape(&behaviour.last_error),
            "resume": format!("lazaret resume {session}"),
            "undo": format!("lazaret rollback --last --session {session}"),
            "interventions": interventions.collect::<Vec<_>>(),
            "actions": entries.into_iter().map(action).collect::<Vec<_>>(),
            "log": log.iter().map(line).collect::<Vec<_>>(),
        })
    }
}

fn action(entry: &HistoryEntry) -> Value {
    json!({
        "number": entry.number,
        "age_ms": entry.age_ms,
        "operation": entry.operation,
        "place": entry.place,
        "outcome": format!("{:?}", entry.outcome).to_lowercase(),
        "alignment": entry.alignment,
        "duration_ms": entry.duration_ms,
        "bytes": entry.size,
    })
}

fn line(line: &Line) -> Value {
    let text = |text: &str| clip(&escape(&clip(text, TEXT)), TEXT);
    json!({
        "time": line.time,
        "event": line.event,
        "tool": text(&line.tool),
        "action": text(&line.action),
        "verdict": line.verdict,
        "rules": line.rules,
        "note": text(&line.note),
    })
}

/// Has the user's command told of a report, without waiting for it. What fails stands in the log.
pub fn announce(report: Option<Result<PathBuf, Fault>>, policy: &Policy, log: Log<'_>) {
    let path = match report {
        None => return,
        Some(Ok(path)) => path,
        Some(Err(fault)) => {
            let _recorded = log.fault(&fault);
            return;
        }
    };
    if policy.interventions.notify.is_empty() {
        return;
    }
    if let Err(error) = detached::start_again(&["notify".as_ref(), path.as_os_str()], log.env) {
        let _recorded = log.fault(&Fault::new(FaultKind::Host, "interventions.notify", error.to_string()));
    }
}
