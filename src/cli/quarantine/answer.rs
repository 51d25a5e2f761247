//! The answer of a quarantined agent on its way to the trusted one: sent back while it departs from the schema, cleaned, or
//! withheld.

use serde_json::json;

use super::{Desk, Past};
use crate::domain::{Action, AgentReport, Client, Decision, Fault, Request, ReviewId, Subject, ToolCall};
use crate::host::quarantine::{self, AgentKey, Session, Why};
use crate::review::response::{self, CleanReport, Metadata, ReviewedFile};

/// How often an answer is sent back.
const RETRIES: u32 = 3;
/// Most errors of an answer that are told at once.
const TOLD: usize = 8;

/// Why the trusted agent gets no report. None of the words are the agent's.
struct Withheld {
    why: String,
    next: String,
}

impl Withheld {
    fn new(why: impl Into<String>, next: impl Into<String>) -> Withheld {
        Withheld { why: why.into(), next: next.into() }
    }

    fn to_json(&self) -> String {
        json!({ "lazaret": "review failed", "why": self.why, "next": self.next }).to_string()
    }
}

const ANEW: &str = "tell the person; a new review begins with `lazaret review start FILE…`";
const AGAIN: &str = "run the quarantined agent once more, with the same prompt";

impl Desk<'_> {
    /// The end of a quarantined agent's work: its place is given back, unless its answer is sent back to it.
    pub fn stop(&self, subject: &Subject, message: Option<&str>) -> Result<Decision, Fault> {
        let key = AgentKey::of(subject);
        let mut decision = Decision::new(Vec::new(), None, false);
        // The others tell of the end without the answer, or have no way back.
        let takes_back = subject.client == Client::ClaudeCode;
        let errors = if takes_back { response::parse(message.unwrap_or_default()).err() } else { None };
        if let Some(errors) = errors {
            let counted = quarantine::sent_back(self.dirs, &key, self.now)?;
            if counted.is_some_and(|counted| counted.agent <= RETRIES) {
                let told: Vec<String> = errors.iter().take(TOLD).map(ToString::to_string).collect();
                let message = format!(
                    "lazaret sends your answer back: it has to be exactly one JSON object of the schema in your task, \
                     with nothing before or after it. {}",
                    told.join("; ")
                );
                decision = Decision::refusal("quarantine.report-sent-back", message);
                decision.quarantined = true;
                return Ok(decision);
            }
        }
        quarantine::leave(self.dirs, &key, self.now)?;
        decision.quarantined = true;
        Ok(decision)
    }

    /// What the trusted agent gets in place of what an agent reported: none = it was an ordinary agent's.
    pub fn report(&self, request: &Request, call: &ToolCall, report: &AgentReport) -> Option<Decision> {
        let wanted = match &call.action {
            Action::Spawn { agent_type, .. } => agent_type.as_deref(),
            Action::Shell { .. }
            | Action::Read { .. }
            | Action::Write { .. }
            | Action::Edit { .. }
            | Action::Search { .. }
            | Action::Fetch { .. }
            | Action::Other { .. } => None,
        };
        let types = [wanted, report.agent_type.as_deref()];
        let listed = types.into_iter().flatten().any(|name| self.policy.quarantine.covers(name));
        let key = report.agent.as_ref().map(|agent| AgentKey {
            client: request.subject.client,
            session: request.subject.session.clone(),
            agent: Some(agent.clone()),
        });
        let bound = match &key {
            Some(key) => quarantine::bound(self.dirs, key),
            None => Ok(None),
        };
        // An agent that worked in a session is quarantined whatever it is called.
        if let (false, None, Ok(None)) = (listed, self.env.lazaret_quarantine.as_deref(), &bound) {
            return None;
        }
        let weighed = match (bound, &key) {
            (Ok(Some(id)), Some(key)) => self.clean(key, &id, report),
            (Ok(_), _) => Err(Withheld::new(
                "the agent read nothing through a reference of an open review, so its report belongs to none",
                "hand over the prompt of `lazaret review start FILE…` exactly as it was printed",
            )),
            (Err(fault), _) => Err(Withheld::new(fault.message(), ANEW)),
        };
        if let Some(key) = &key {
            // It has ended, whatever is told of its answer.
            let _left = quarantine::leave(self.dirs, key, self.now);
        }
        Some(match weighed {
            Ok(clean) => {
                let note = format!(
                    "review {}: {} findings, risk {}",
                    clean.session,
                    clean.findings.len(),
                    clean.risk_level.name()
                );
                handed_on("quarantine.report-accepted", note, clean.to_json())
            }
            Err(withheld) => withhold(&withheld),
        })
    }

    fn clean(&self, key: &AgentKey, id: &ReviewId, report: &AgentReport) -> Result<CleanReport, Withheld> {
        let faulty = |fault: Fault| Withheld::new(fault.message(), ANEW);
        let session = quarantine::load(self.dirs, id).map_err(faulty)?;
        let Some(session) = session else {
            return Err(Withheld::new("its review session is gone", ANEW));
        };
        if let Some(ended) = session.ended {
            return Err(Withheld::new(format!("its review has ended ({})", ended.why.name()), ANEW));
        }
        if !report.completed {
            return Err(Withheld::new("the agent came back without a report", AGAIN));
        }
        match response::parse(&report.text) {
            Ok(parsed) => {
                let contents = session.contents(self.dirs).map_err(faulty)?.unwrap_or_default();
                Ok(self.cleaned(key, &session, &contents, parsed))
            }
            Err(_) => Err(self.invalid(key)),
        }
    }

    /// What is said of an answer that departs from the schema.
    fn invalid(&self, key: &AgentKey) -> Withheld {
        let why = "the agent's answer is not one JSON object of the response schema";
        // It was asked for another one three times.
        if key.client == Client::ClaudeCode {
            return Withheld::new(why, ANEW);
        }
        match quarantine::sent_back(self.dirs, key, self.now) {
            Ok(Some(counted)) if counted.review < RETRIES => Withheld::new(why, AGAIN),
            Ok(_) | Err(_) => Withheld::new(format!("{why}, and this review has failed for good"), ANEW),
        }
    }

    fn cleaned(
        &self,
        key: &AgentKey,
        session: &Session,
        contents: &quarantine::Contents,
        parsed: response::Report,
    ) -> CleanReport {
        let grounds = session.grounds();
        let copies: Vec<Option<String>> =
            contents.files.iter().map(|file| grounds.copy_of(&file.original)).collect();
        let files: Vec<ReviewedFile<'_>> = contents
            .files
            .iter()
            .zip(&copies)
            .map(|(file, copy)| ReviewedFile {
                original: &file.original,
                sealed: copy.as_deref().unwrap_or_default(),
                lines: u32::try_from(file.lines).unwrap_or(u32::MAX),
            })
            .collect();
        let past = Past::of(self.dirs, key, self.now);
        let read = past.read(session, contents);
        let meta = Metadata {
            session: &session.id,
            root: &session.root,
            sealed_root: &grounds.copies,
            started_s: session.opened().unix_ms / 1000,
            finished_s: self.now.unix_ms / 1000,
            calls: past.count(),
            read: read.as_ref(),
        };
        response::clean(parsed, &files, &meta)
    }

    /// The end of a client's session: reviews in which nobody works any more end with it. Names those that did.
    pub fn close(&self, subject: &Subject) -> Result<Vec<(ReviewId, Why)>, Fault> {
        let mut ended = Vec::new();
        for id in quarantine::leave_session(self.dirs, subject.client, &subject.session, self.now)? {
            if quarantine::end(self.dirs, &id, Why::ClientEnded, self.now)? {
                ended.push((id, Why::ClientEnded));
            }
        }
        Ok(ended)
    }
}

/// What stands in the place of a report that could not be looked at, because lazaret itself failed.
pub fn withheld(fault: Fault) -> Decision {
    let mut decision = withhold(&Withheld::new(fault.message(), ANEW));
    decision.note(fault.kind.code(), fault.message());
    decision
}

fn withhold(withheld: &Withheld) -> Decision {
    handed_on("quarantine.report-rejected", withheld.why.clone(), withheld.to_json())
}

fn handed_on(rule: &str, note: String, text: String) -> Decision {
    let mut decision = Decision::new(Vec::new(), None, false);
    decision.note(rule, note);
    decision.quarantined = true;
    decision.replacement = Some(text);
    decision
}
