//! The order of what happens when a call has ended: it becomes a deed, patterns are looked for, and what is to be said is said.

use crate::domain::{
    Decision, Deed, Facts, Fault, Outcome, Places, Policy, Purpose, Reason, Request, Severity, ToolCall,
    Verdict,
};
use crate::host::clock::Now;
use crate::host::state::{self, Reported, Store};
use crate::review::behaviour::{self, Chosen, History, Report};
use crate::review::{self, redact};
use crate::rules;

/// How a call ended, as the client reports it.
#[derive(Debug, Clone, Copy)]
pub struct Ended<'a> {
    pub outcome: Outcome,
    pub error: Option<&'a str>,
    pub duration_ms: Option<u64>,
}

/// What came of a report.
#[derive(Debug, Default)]
pub struct Told {
    /// What was said of the call before it ran; none = no such call is remembered.
    pub verdict: Option<Verdict>,
    /// The intervention that it leads to.
    pub chosen: Option<Chosen>,
}

/// A call has ended that counts for its session's behaviour.
pub fn ended(
    request: &Request,
    call: &ToolCall,
    ended: Ended<'_>,
    (places, policy): (&Places, &Policy),
    (store, now): (&Store, Now),
) -> Result<Told, Fault> {
    let subject = &request.subject;
    let facts = Facts::new(places.clone());
    let survey = rules::survey(call, &request.cwd, &facts, policy);
    let error = ended.error.map(redact::redact);
    let report = Report {
        subject,
        call,
        survey: &survey,
        facts: &facts,
        policy,
        outcome: ended.outcome,
        error: error.as_deref(),
        duration_ms: ended.duration_ms,
    };
    let call = Reported { call: review::identify(subject, call).call, outcome: ended.outcome };
    let told = state::reported(store, subject, now, call, |told| {
        let known = behaviour::deed(&report, &told.document.behaviour.purpose);
        let took_ms = u32::try_from(told.took_ms).unwrap_or(u32::MAX);
        let duration_ms = if known.duration_ms == 0 { took_ms } else { known.duration_ms };
        let deed = Deed { number: told.number, duration_ms, ..known };
        let behaviour = &mut told.document.behaviour;
        let judged = behaviour::judge(
            &History::new(&deed, told.deeds),
            behaviour,
            error.as_deref(),
            now.unix_ms,
            policy,
        );
        (judged.chosen, Some(deed))
    })?;
    Ok(told.map_or_else(Told::default, |(chosen, verdict)| Told { verdict, chosen }))
}

/// The same for one that does not: only its outcome is kept.
pub fn recorded(
    request: &Request,
    call: &ToolCall,
    ended: Ended<'_>,
    (store, now): (&Store, Now),
) -> Result<Told, Fault> {
    let subject = &request.subject;
    let call = Reported { call: review::identify(subject, call).call, outcome: ended.outcome };
    let told = state::reported(store, subject, now, call, |_| ((), None))?;
    Ok(Told { verdict: told.and_then(|((), verdict)| verdict), chosen: None })
}

/// The person has said what is to be done.
pub fn prompted(request: &Request, text: &str, store: &Store, now: Now) -> Result<(), Fault> {
    if request.subject.agent.is_some() {
        return Ok(());
    }
    let said = redact::redact(text);
    state::amend(store, &request.subject, now, |document| {
        document.prompts = document.prompts.saturating_add(1);
        document.behaviour.purpose = Purpose {
            id: request.prompt_id.clone().unwrap_or_default(),
            number: u32::try_from(document.prompts).unwrap_or(u32::MAX),
            ..behaviour::purpose(&said, &request.cwd)
        };
    })
}

/// What the client is told of an intervention.
pub fn advice(chosen: &Chosen) -> Decision {
    let reason = Reason {
        rule: format!("pattern.{}", chosen.pattern),
        verdict: Verdict::Warn,
        severity: Severity::Medium,
        message: chosen.text.clone(),
        matched: String::new(),
        instead: None,
    };
    Decision::new(vec![reason], None, false)
}
