//! The order of what happens when a call has ended: it becomes an entry, patterns are looked for, and what is to be said is said.

use crate::cli::emergency::{self, Stopped};
use crate::cli::hook::LOOK_BACK;
use crate::cli::plugins;
use crate::cli::record::Log;
use crate::domain::{
    Decision, Enforcement, Facts, Fault, Finding, HistoryEntry, Intervened, InterventionKind, Mode, Outcome,
    Places, PluginKind, Policy, Purpose, Reason, Request, ResourcePolicy, Severity, Subject, ToolCall, Trust,
    Verdict, clip,
};
use crate::host::audit::{self, Filter};
use crate::host::clock::Now;
use crate::host::state::{self, Look, Reported, Store};
use crate::review::behaviour::{self, Chosen, History, Report};
use crate::review::{self, Case, limits, redact};
use crate::rules::{self, Survey};
use std::path::PathBuf;

/// What a note on limits stands under.
const USED: &str = "limits.used";

/// How a call ended, as the client reports it.
#[derive(Debug, Clone, Copy)]
pub struct Ended<'a> {
    pub outcome: Outcome,
    pub error: Option<&'a str>,
    /// The rule that refused it, where that is how it ended.
    pub rule: Option<&'a str>,
    pub duration_ms: Option<u64>,
    /// What the system says now of the files that keep the gate where it is; 0 = nobody asked it.
    pub seen: u64,
}

impl<'a> Ended<'a> {
    /// As the client reports it.
    pub fn reported(outcome: Outcome, error: Option<&'a str>, duration_ms: Option<u64>) -> Ended<'a> {
        Ended { outcome, error, rule: None, duration_ms, seen: 0 }
    }
}

/// What came of a report.
#[derive(Debug, Default)]
pub struct Told {
    /// What was said of the call before it ran; none = no such call is remembered.
    pub verdict: Option<Verdict>,
    /// The intervention that it leads to.
    pub chosen: Option<Chosen>,
    /// What else is to be told: how far a limit is used, and what a supervised run has to say.
    pub notes: Vec<String>,
    /// The report of the session, if it is stopped now.
    pub report: Option<Result<PathBuf, Fault>>,
    /// The interventions of which it is known now whether they worked.
    pub measured: Vec<Intervened>,
    /// What plugins of the user's could not say.
    pub faults: Vec<Fault>,
    /// What the session's past says of the call, if it did not wait for that.
    pub afterwards: Option<Decision>,
    /// The files that keep the gate where it is are not as they were.
    pub moved: bool,
}

/// A call has ended that counts for its session's behaviour.
pub fn ended(
    request: &Request,
    call: &ToolCall,
    ended: Ended<'_>,
    (places, policy): (&Places, &Policy),
    (store, now): (&Store, Now),
) -> Result<Told, Fault> {
    let facts = Facts::new(places.clone());
    let survey = rules::survey(call, &request.cwd, &facts, policy);
    let afterwards = match policy.mode {
        Mode::Async => afterwards((request, call), (&survey, &facts, policy), (store, now))?,
        Mode::Blocking => None,
    };
    let told = remembered(request, call, ended, (&survey, &facts, policy), (store, now))?;
    Ok(Told { afterwards, ..told })
}

/// What the session's past, as it was before the call, says of it.
fn afterwards(
    (request, call): (&Request, &ToolCall),
    (survey, facts, policy): (&Survey, &Facts, &Policy),
    (store, now): (&Store, Now),
) -> Result<Option<Decision>, Fault> {
    let subject = &request.subject;
    let mut stand = state::look(store, subject, now, Look { records: LOOK_BACK, window_ms: 0 })?;
    let action = review::identify(subject, call).action;
    // The newest one first: its own record, and those of calls that began after it.
    let own = stand.history.iter().position(|past| past.action == action);
    stand.history.drain(..own.map_or(0, |own| own + 1));
    Ok(review::afterwards(&Case {
        subject,
        call,
        cwd: &request.cwd,
        trust: Trust::Ordinary,
        standing: None,
        asking: request.asking,
        survey,
        facts,
        policy,
        stand: &stand,
        now_s: now.unix_ms / 1000,
    }))
}

/// A call was refused: that is an entry too. What is known of it comes from the decision.
fn refused(
    (request, call): (&Request, &ToolCall),
    rule: Option<&str>,
    known: (&Survey, &Facts, &Policy),
    (store, now): (&Store, Now),
) -> Result<Told, Fault> {
    let ended = Ended { outcome: Outcome::Blocked, error: None, rule, duration_ms: None, seen: 0 };
    remembered(request, call, ended, known, (store, now))
}

/// A refusal is remembered, and what it makes with those before it may change the answer. Nothing is lost when that fails.
pub fn after_refusal(
    mut decision: Decision,
    (request, call): (&Request, &ToolCall),
    known: (&Survey, &Facts, &Policy),
    (store, log): (&Store, Log<'_>),
) -> Decision {
    if decision.enforcement() != Enforcement::Deny || decision.fault_kind().is_some() {
        return decision;
    }
    // What the session's own state refused would have been refused anyhow, by a rule that is not known now.
    let of_session = |rule: &String| rule.starts_with("SESSION_");
    let rule = decision.reasons().first().map(|reason| reason.rule.clone()).filter(|rule| !of_session(rule));
    let chosen = match refused((request, call), rule.as_deref(), known, (store, log.now)) {
        Ok(told) => {
            emergency::announce(told.report, known.2, log);
            let _recorded = log.measured(request, &told.measured);
            told.faults.iter().for_each(|fault| drop(log.fault(fault)));
            told.notes.into_iter().for_each(|note| decision.note(USED, note));
            told.chosen
        }
        Err(fault) => {
            let _recorded = log.fault(&fault);
            None
        }
    };
    if let Some(chosen) = chosen {
        let _recorded = log.intervention(request, &chosen);
        let advice = advice(&chosen);
        if advice.enforcement() == Enforcement::Stop {
            return advice;
        }
        for reason in advice.reasons() {
            decision.note(&reason.rule, reason.message.clone());
        }
    }
    decision
}

fn remembered(
    request: &Request,
    call: &ToolCall,
    ended: Ended<'_>,
    (survey, facts, policy): (&Survey, &Facts, &Policy),
    (store, now): (&Store, Now),
) -> Result<Told, Fault> {
    let subject = &request.subject;
    let error = ended.error.map(redact::redact);
    let report = Report {
        subject,
        call,
        survey,
        facts,
        policy,
        outcome: ended.outcome,
        error: error.as_deref(),
        rule: ended.rule,
        duration_ms: ended.duration_ms,
    };
    let (found, mut faults) = found_by_plugins((request, call), ended, policy, (store, now));
    let call = reported(request, call, ended);
    let told = state::reported(store, subject, now, call, |told| {
        if report.outcome == Outcome::Done {
            let purpose = &mut told.document.behaviour.purpose;
            behaviour::checked_out(survey).for_each(|directory| purpose.has_made(directory));
        }
        let known = behaviour::entry(&report, &told.document.behaviour.purpose);
        let took_ms = u32::try_from(told.took_ms).unwrap_or(u32::MAX);
        let duration_ms = if known.duration_ms == 0 { took_ms } else { known.duration_ms };
        let entry = HistoryEntry { number: told.number, duration_ms, ..known };
        let behaviour = &mut told.document.behaviour;
        let history = History::new(&entry, told.entries).told(&found);
        let judged = behaviour::judge(&history, behaviour, error.as_deref(), now.unix_ms, policy);
        let (mut chosen, measured) = (judged.chosen, judged.measured);
        let mut report = None;
        if let Some(chosen) = chosen.as_mut().filter(|chosen| chosen.kind == InterventionKind::EmergencyStop)
        {
            let saved = Stopped { request, chosen, history: &history, behaviour }.report(store.dir(), now);
            if let Ok(path) = &saved {
                chosen.text.push_str(&format!("; what it did last stands in {}", path.display()));
            }
            report = Some(saved);
            told.document.stopped = Some(chosen.text.clone());
        }
        let took_ms = if call.outcome == Outcome::Blocked { 0 } else { u64::from(entry.duration_ms) };
        let (behaviour, operations) = (&mut told.document.behaviour, told.document.file_operations);
        let mut notes = limits::count(&mut behaviour.spent, took_ms, operations, &policy.resources);
        notes.append(&mut behaviour.notes);
        let moved = told.moved;
        let told = Told { chosen, notes, report, measured, moved, ..Told::default() };
        (told, Some(entry))
    })?;
    let mut told = told.map(|(told, verdict)| Told { verdict, ..told }).unwrap_or_default();
    if let Some(chosen) = &mut told.chosen {
        faults.append(&mut plugins::worded(request, chosen, policy));
    }
    Ok(Told { faults, ..told })
}

/// What the session's state is told of a call's end.
fn reported(request: &Request, call: &ToolCall, ended: Ended<'_>) -> Reported {
    Reported {
        call: review::identify(&request.subject, call).call,
        outcome: ended.outcome,
        seen: ended.seen,
        background: request.background,
    }
}

/// What plugins find in the session, asked before it is locked: they may take their time.
fn found_by_plugins(
    (request, call): (&Request, &ToolCall),
    ended: Ended<'_>,
    policy: &Policy,
    (store, now): (&Store, Now),
) -> (Vec<Finding>, Vec<Fault>) {
    if !policy.plugins.iter().any(|plugin| plugin.kind == PluginKind::Pattern) {
        return (Vec::new(), Vec::new());
    }
    match state::entries(store, &request.subject, now) {
        Ok(entries) => plugins::patterns((request, call), ended, &entries, policy),
        Err(fault) => (Vec::new(), vec![fault]),
    }
}

/// The same for one that does not: only its outcome is kept.
pub fn recorded(
    request: &Request,
    call: &ToolCall,
    ended: Ended<'_>,
    (store, now): (&Store, Now),
) -> Result<Told, Fault> {
    let call = reported(request, call, ended);
    let told = state::reported(store, &request.subject, now, call, |told| (told.moved, None))?;
    let (moved, verdict) = told.unwrap_or_default();
    Ok(Told { verdict, moved, ..Told::default() })
}

/// The person has said what is to be done. `seen`: what the system says now of the files that keep the gate where it is; true = it
/// said something else before.
pub fn prompted(
    request: &Request,
    (text, seen): (&str, u64),
    limits: &ResourcePolicy,
    (store, now): (&Store, Now),
) -> Result<bool, Fault> {
    if request.subject.agent.is_some() {
        return Ok(false);
    }
    let said = redact::redact(text);
    state::amend(store, &request.subject, now, |document| {
        document.prompts = document.prompts.saturating_add(1);
        document.behaviour.released();
        let spent = limits::begun(document.behaviour.spent, document.file_operations, limits);
        document.behaviour.spent = spent;
        document.behaviour.purpose = Purpose {
            id: request.prompt_id.clone().unwrap_or_default(),
            number: u32::try_from(document.prompts).unwrap_or(u32::MAX),
            made: std::mem::take(&mut document.behaviour.purpose.made),
            ..behaviour::purpose(&said, &request.cwd)
        };
        document.watch.spoke_ms = now.unix_ms;
        document.watch.before != seen
    })
}

/// The context was cut short: what the session is for and where it stands is told again.
pub fn restarted(request: &Request, store: &Store, now: Now) -> Result<Decision, Fault> {
    let subject = &request.subject;
    let stand = state::look(store, subject, now, Look { records: 0, window_ms: 0 })?;
    let refused = refused_last(subject, store);
    let parts = behaviour::rebuilt(&stand.behaviour, stand.stopped.as_deref(), &refused);
    let reasons = parts.into_iter().map(|part| reason("session.remembered", Verdict::Warn, part));
    let reasons: Vec<Reason> = reasons.collect();
    if !reasons.is_empty() {
        state::amend(store, &request.subject, now, |document| {
            document.behaviour.recovery_attempted = true;
        })?;
    }
    Ok(Decision::new(reasons, None, false))
}

/// The last different calls of the session that were refused, newest first, as far as the log still has them.
fn refused_last(subject: &Subject, store: &Store) -> Vec<String> {
    /// So many are told, and so many looked at.
    const TOLD: usize = 3;
    const LOOKED_AT: usize = 20;
    /// Longest action, in bytes.
    const ACTION: usize = 80;
    let filter = Filter {
        client: Some(subject.client),
        session: Some(subject.session.as_str().to_owned()),
        verdict: Some(Verdict::Block),
        ..Filter::default()
    };
    let mut refused: Vec<String> = Vec::new();
    for line in audit::last(&audit::dir(store.dir()), filter, LOOKED_AT).iter().rev() {
        let Some(rule) = line.rules.first().filter(|_| !line.action.is_empty()) else { continue };
        let told = format!("{} ({rule})", clip(&line.action, ACTION));
        if refused.len() < TOLD && !refused.contains(&told) {
            refused.push(told);
        }
    }
    refused
}

/// What the client is told of a call's end, if anything, and what is recorded of it.
pub fn said(told: &Told) -> Option<Decision> {
    let notes = told.notes.iter().map(|note| reason(USED, Verdict::Warn, note.clone()));
    let late = told.afterwards.iter().flat_map(|late| late.reasons().iter().cloned());
    let reasons = notes.chain(late);
    let mut decision = if let Some(chosen) = &told.chosen {
        let mut decision = advice(chosen);
        reasons.for_each(|reason| decision.note(&reason.rule, reason.message));
        decision
    } else {
        let reasons: Vec<Reason> = reasons.collect();
        if reasons.is_empty() && told.afterwards.is_none() {
            return None;
        }
        Decision::new(reasons, None, false)
    };
    if let Some(late) = &told.afterwards {
        decision.risk.clone_from(&late.risk);
        decision.rationality.clone_from(&late.rationality);
    }
    Some(decision)
}

/// What the client is told of an intervention.
fn advice(chosen: &Chosen) -> Decision {
    let rule = format!("pattern.{}", chosen.pattern);
    let mut decision = if chosen.kind == InterventionKind::EmergencyStop {
        Decision::stop(reason(&rule, Verdict::Block, chosen.text.clone()))
    } else {
        Decision::new(vec![reason(&rule, Verdict::Warn, chosen.text.clone())], None, false)
    };
    if let Some(reminder) = &chosen.reminder {
        decision.note(&rule, reminder.clone());
    }
    decision
}

pub fn reason(rule: &str, verdict: Verdict, message: String) -> Reason {
    Reason::new(rule, verdict, Severity::Medium, message)
}
