//! The rule of combination: gates first, then every assessor, the strictest verdict wins.

use std::borrow::Cow;

use crate::domain::{
    Action, Asking, CallId, Decision, Effect, EffectKind, Facts, Mode, Outcome, PastCall, Policy,
    Rationality, Reason, Rewrite, Risk, Severity, Stand, Standing, Subject, Target, Tool, ToolCall, Trust,
    Verdict, fingerprint,
};
use crate::review::gates::Passed;
use crate::review::matrix::DangerousPattern;
use crate::review::{assess, exceptions, gates, limits, rated, rationality, risk, with_patterns};
use crate::rules::{self, Survey, View};

/// Everything that a decision depends on.
#[derive(Debug, Clone, Copy)]
pub struct Case<'a> {
    pub subject: &'a Subject,
    pub call: &'a ToolCall,
    pub cwd: &'a str,
    pub trust: Trust,
    /// Of a quarantined agent; without it, it gets nothing.
    pub standing: Option<&'a Standing>,
    pub asking: Asking,
    pub survey: &'a Survey,
    pub facts: &'a Facts,
    pub policy: &'a Policy,
    pub stand: &'a Stand,
    /// Seconds since 1970.
    pub now_s: u64,
}

/// Fingerprints under which a call is remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    pub action: u64,
    pub agent: u64,
    pub tool: u64,
    /// 0 when the client gives no call id.
    pub call: u64,
}

/// The fingerprints of a call.
pub fn identify(subject: &Subject, call: &ToolCall) -> Identity {
    let text = action_text(call);
    Identity {
        action: fingerprint(&[call.tool.name().as_bytes(), text.as_bytes()]),
        agent: gates::agent_fingerprint(subject),
        tool: gates::tool_fingerprint(&call.tool),
        call: call.id.as_ref().map_or(0, call_fingerprint),
    }
}

/// What a call's id is remembered by.
pub fn call_fingerprint(id: &CallId) -> u64 {
    fingerprint(&[id.as_str().as_bytes()])
}

/// The fingerprint under which a quarantined agent's call is remembered that was led to this copy.
pub fn sealed_action(tool: &Tool, copy: &str) -> u64 {
    fingerprint(&[b"sealed copy", tool.name().as_bytes(), copy.as_bytes()])
}

/// What a call asks for, in one text.
pub fn action_text(call: &ToolCall) -> Cow<'_, str> {
    match &call.action {
        Action::Shell { command, .. } => Cow::Borrowed(command),
        Action::Read { path } | Action::Write { path, .. } => Cow::Borrowed(path),
        Action::Edit { path, content, .. } => Cow::Owned(format!("{path}\n{content}")),
        Action::Search { pattern, path, .. } => {
            Cow::Owned(format!("{pattern} {}", path.as_deref().unwrap_or_default()))
        }
        Action::Fetch { url, .. } => Cow::Borrowed(url),
        Action::Spawn { prompt, .. } => Cow::Borrowed(prompt),
        Action::Other { text, .. } => Cow::Borrowed(text),
    }
}

/// The decision on a call.
pub fn decide(case: &Case<'_>) -> Decision {
    let mut decision = decided(case);
    let behaviour = &case.stand.behaviour;
    decision.patterns.clone_from(&behaviour.found);
    decision.intervention = behaviour.interventions.last().filter(|one| one.effective.is_none()).cloned();
    decision
}

fn decided(case: &Case<'_>) -> Decision {
    let Case { call, policy, survey, .. } = *case;
    let can_ask = case.asking == Asking::Yes;
    match gates::gates(case) {
        Ok(Passed::Ordinary) => {}
        Ok(Passed::Sealed(change)) => return sealed(change),
        Err(reason) => {
            let stopped = reason.rule == gates::STOPPED;
            let mut decision =
                if stopped { Decision::stop(reason) } else { Decision::new(vec![reason], None, can_ask) };
            decision.quarantined = case.trust == Trust::Quarantined;
            return decision;
        }
    }
    if !policy.enabled {
        return Decision::new(Vec::new(), None, can_ask);
    }
    let text = action_text(call);
    let weighing = (!waits(case)).then(|| Weighing::of(case, &text));

    let view = View { call, cwd: case.cwd, survey, facts: case.facts, policy };
    let mut reasons: Vec<Reason> = rules::judge(&view);
    let applied = exceptions::apply(case, &view, &mut reasons);
    reasons.extend(assess::understood(survey, &text));
    reasons.extend(limits::over(case));
    let against = weighing.as_ref().and_then(|weighing| {
        if applied.by_path {
            let rated: Vec<Effect> = applied.rated(&survey.effects).cloned().collect();
            weighing.against_these(&rated, &text)
        } else {
            weighing.against(&text)
        }
    });
    // A score says nothing beside a rule, unless it alone stops the call.
    let ruled = reasons.iter().map(|reason| reason.verdict).max().unwrap_or(Verdict::Allow);
    let told = |score: &Reason| {
        let stops = score.verdict == Verdict::Block
            && (ruled < Verdict::Modify
                || !score.rule.starts_with("matrix.")
                || deletes_many(&survey.effects));
        ruled == Verdict::Allow || stops
    };
    reasons.extend(against.filter(told));
    let said = case.facts.rated.as_ref().filter(|said| !reasons.is_empty() && !said.reason.is_empty());
    let rewrite = if reasons.is_empty() { None } else { rules::rewrite(&view, &reasons) };
    let mut decision = Decision::new(reasons, rewrite, can_ask);
    if let Some(said) = said {
        decision.note(&format!("plugin.{}", said.plugin), said.reason.clone());
    }
    match weighing {
        Some(weighing) => weighing.tell(&mut decision),
        None => decision.risk = Some(alone(case)),
    }
    decision.coverage = Some(survey.coverage());
    decision.effects = survey.effects.clone();
    decision.exceptions = applied.used;
    decision
}

/// Whether a pattern says which files are to go, and nobody who is asked about it sees which.
fn deletes_many(effects: &[Effect]) -> bool {
    effects.iter().filter(|effect| effect.kind == EffectKind::FileDeletion).any(|effect| {
        matches!(&effect.target, Target::Path { path, glob: true, recursive } if *recursive || !names_some(path))
    })
}

/// `~/slide-*.jpg`: a pattern for some files of one directory, of whose names enough is written out.
fn names_some(pattern: &str) -> bool {
    const ENOUGH: usize = 3;
    let is_open = |c: char| matches!(c, '*' | '?' | '[' | ']' | '{' | '}');
    let (dir, name) = pattern.rsplit_once('/').unwrap_or(("", pattern));
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    !dir.contains(is_open)
        && !stem.contains(['[', '{'])
        && stem.chars().filter(|c| c.is_alphanumeric()).count() >= ENOUGH
}

/// A call with all that its session's past says of it.
struct Weighing<'a> {
    case: &'a Case<'a>,
    action: u64,
    risk: Risk,
    rationality: Rationality,
    /// What it would be in a session that has done nothing yet.
    unpast: Rationality,
    pattern: DangerousPattern,
    first_time: bool,
}

impl<'a> Weighing<'a> {
    fn of(case: &'a Case<'a>, text: &str) -> Weighing<'a> {
        let Case { subject, call, policy, stand, survey, .. } = *case;
        let action = identify(subject, call).action;
        let complete = is_complete(survey);
        Weighing {
            case,
            action,
            risk: weighed(case, &survey.effects, action, &stand.history),
            rationality: rationality(text, action, complete, &stand.history, policy),
            unpast: rationality(text, action, complete, &[], policy),
            pattern: pattern(stand, action),
            first_time: !stand.history.iter().any(|past| past.action == action),
        }
    }

    /// What speaks against it.
    fn against(&self, text: &str) -> Option<Reason> {
        self.with_past(&self.risk, &self.case.survey.effects, text)
    }

    /// The same where only these of its effects count.
    fn against_these(&self, effects: &[Effect], text: &str) -> Option<Reason> {
        let risk = weighed(self.case, effects, self.action, &self.case.stand.history);
        self.with_past(&risk, effects, text)
    }

    /// What the session did before counts against a call only where something speaks against the call by itself.
    fn with_past(&self, risk: &Risk, effects: &[Effect], text: &str) -> Option<Reason> {
        let itself = by_itself(self.case, effects);
        assess::matrix(&itself, &self.unpast, effects, (DangerousPattern::No, true), text)?;
        assess::matrix(risk, &self.rationality, effects, (self.pattern, self.first_time), text)
    }

    fn tell(self, decision: &mut Decision) {
        decision.risk = Some(self.risk);
        decision.rationality = Some(self.rationality);
    }
}

/// The risk of these effects of a call after this past.
fn weighed(case: &Case<'_>, effects: &[Effect], action: u64, history: &[PastCall]) -> Risk {
    let mut risk = risk(effects, action, history, &case.facts.places, case.policy);
    if pattern(case.stand, action) == DangerousPattern::Yes {
        risk = with_patterns(risk, &case.stand.behaviour, case.policy);
    }
    rated(risk, case.facts.rated.as_ref(), case.policy)
}

/// Whether the call goes on with a loop: a pattern stands that asks for more than a correction, and exactly this call was
/// refused or failed before.
fn pattern(stand: &Stand, action: u64) -> DangerousPattern {
    let mut again = stand.history.iter().filter(|past| past.action == action);
    let loops = stand.behaviour.against().next().is_some()
        && again.any(|past| matches!(past.outcome, Outcome::Failed | Outcome::Blocked));
    if loops { DangerousPattern::Yes } else { DangerousPattern::No }
}

/// The risk of a call by itself, whatever the session did before.
fn alone(case: &Case<'_>) -> Risk {
    by_itself(case, &case.survey.effects)
}

/// The same of these effects.
fn by_itself(case: &Case<'_>, effects: &[Effect]) -> Risk {
    let risk = risk(effects, 0, &[], &case.facts.places, case.policy);
    rated(risk, case.facts.rated.as_ref(), case.policy)
}

/// Whether what the session's past says of a call is looked at only when it has ended: all of it is understood, and it has little
/// risk by itself. Rules, limits and gates wait for nothing.
fn waits(case: &Case<'_>) -> bool {
    case.policy.mode == Mode::Async
        && is_complete(case.survey)
        && case.survey.effects.iter().all(|effect| effect.severity < Severity::Critical)
        && !alone(case).score.reaches(case.policy.async_threshold)
}

/// What the session's past says of a call that did not wait for it and has ended: nothing is held up by it any more. None = it has
/// been said before the call.
pub fn afterwards(case: &Case<'_>) -> Option<Decision> {
    if case.trust == Trust::Quarantined || !case.policy.enabled || !waits(case) {
        return None;
    }
    let text = action_text(case.call);
    let weighing = Weighing::of(case, &text);
    let against = weighing.against(&text);
    let told = against.map(|reason| Reason { verdict: reason.verdict.min(Verdict::Warn), ..reason });
    let mut decision = Decision::new(told.into_iter().collect(), None, false);
    weighing.tell(&mut decision);
    Some(decision)
}

/// A quarantined agent's call, led to the sealed copy of what it asked for.
fn sealed(change: Rewrite) -> Decision {
    let reason = Reason::new(
        "quarantine.sealed-copy",
        Verdict::Modify,
        Severity::Low,
        "a quarantined agent gets the copy that was sealed when its review was opened".to_owned(),
    );
    let mut decision = Decision::new(vec![reason], Some(change), false);
    decision.quarantined = true;
    decision
}

/// Whether all of the call is understood.
fn is_complete(survey: &Survey) -> bool {
    survey.problem.is_none() && !has_unknown(survey)
}

/// Whether something in the call is known only when it runs.
fn has_unknown(survey: &Survey) -> bool {
    survey.invocations.iter().any(|invocation| invocation.program.is_empty())
        || survey.effects.iter().any(|effect| matches!(effect.target, Target::UnknownPath { .. }))
}
