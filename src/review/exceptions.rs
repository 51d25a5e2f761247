//! Exceptions from rules: which of them count for a call, and what they leave of a rule's verdict. Other rules, limits and
//! faults keep their say.

use crate::domain::{
    Action, Effect, EffectKind, Excepted, Exception, Lowered, Policy, Reason, Severity, Target, Tier,
    ToolCall, Trust, Verdict, join, lies_below,
};
use crate::review::Case;
use crate::rules::{self, Invocation, View};

/// Rules without exceptions: what guards the guard, and quarantine.
const FIXED: [&str; 2] = ["selfprotect.", "quarantine."];
pub const DAY_S: u64 = 86_400;
/// Longest time to the expiry of an exception from a critical rule, in days.
const CRITICAL_DAYS: u64 = 90;
/// The same for a rule of severity high.
const HIGH_DAYS: u64 = 366;

/// Whether the rule has no exceptions.
pub fn is_fixed(rule: &str) -> bool {
    FIXED.iter().any(|domain| rule.starts_with(domain))
}

/// Why an exception from a rule of that severity has no effect now.
pub fn objection(exception: &Exception, severity: Severity, policy: &Policy, now_s: u64) -> Option<String> {
    let rule = &exception.rule;
    if is_fixed(rule) {
        return Some(format!("{rule} keeps the guard itself in place, and has no exceptions"));
    }
    if exception.origin > policy.exceptions_from {
        let lowest = policy.exceptions_from.name();
        return Some(format!("`rules.exceptions_from = \"{lowest}\"` leaves out what a lower file excepts"));
    }
    if let Some(expiry) = exception.expires.as_ref().filter(|expiry| expiry.unix_s <= now_s) {
        return Some(format!("it expired ({})", expiry.text));
    }
    let days = match severity {
        Severity::Low | Severity::Medium => return None,
        Severity::High => HIGH_DAYS,
        Severity::Critical => CRITICAL_DAYS,
    };
    let grade = severity.name();
    if severity == Severity::Critical && exception.origin == Tier::Project {
        return Some(format!("{rule} is {grade}: only a managed or user file may except it"));
    }
    if severity == Severity::Critical && exception.to == Lowered::Allow {
        return Some(format!("{rule} is {grade}: at most it becomes a warning (`to = \"warn\"`)"));
    }
    match &exception.expires {
        None => Some(format!("{rule} is {grade}: `expires` must say until when, at most {days} days ahead")),
        Some(expiry) if expiry.unix_s > now_s.saturating_add(days * DAY_S) => {
            Some(format!("{rule} is {grade}: `expires` lies more than {days} days ahead ({})", expiry.text))
        }
        Some(_) => None,
    }
}

/// What exceptions made of a call.
#[derive(Debug, Default)]
pub struct Applied {
    pub used: Vec<Excepted>,
    /// The files of the call are excepted by their place: their effects are not rated once more.
    pub by_path: bool,
}

impl Applied {
    /// The effects that still count for the scores' verdict.
    pub fn rated<'e>(&self, effects: &'e [Effect]) -> impl Iterator<Item = &'e Effect> {
        let by_path = self.by_path;
        effects.iter().filter(move |effect| !(by_path && !effect.privileged && is_on_file(effect)))
    }
}

/// Lowers what rules say where an exception counts. `reasons` come from rules only; one lowered to nothing is taken out.
pub fn apply(case: &Case<'_>, view: &View<'_>, reasons: &mut Vec<Reason>) -> Applied {
    let mut applied = Applied::default();
    if case.trust != Trust::Ordinary {
        return applied;
    }
    for reason in reasons.iter_mut().filter(|reason| !rules::is_unsure(reason)) {
        let counts = |exception: &&Exception| {
            exception.rule == reason.rule
                && exception.to.verdict() < reason.verdict
                && objection(exception, reason.severity, case.policy, case.now_s).is_none()
                && fits(exception, case, view)
        };
        let counting = case.policy.exceptions.iter().filter(counts);
        let Some(exception) = counting.min_by_key(|exception| exception.to.verdict()) else { continue };
        applied.by_path |= !exception.paths.is_empty();
        applied.used.push(Excepted {
            rule: reason.rule.clone(),
            severity: reason.severity,
            was: reason.verdict,
            to: exception.to.verdict(),
            reason: exception.reason.clone(),
            until: exception.expires.as_ref().map(|expiry| expiry.text.clone()),
            file: exception.file.clone(),
            line: exception.line,
        });
        let until =
            exception.expires.as_ref().map_or(String::new(), |expiry| format!(" until {}", expiry.text));
        reason.message = format!("{}; excepted{until}: {}", reason.message, exception.reason);
        reason.verdict = exception.to.verdict();
    }
    reasons.retain(|reason| reason.verdict > Verdict::Allow);
    applied
}

/// Whether the call is one that the exception names.
fn fits(exception: &Exception, case: &Case<'_>, view: &View<'_>) -> bool {
    let agent = exception.agent.as_deref().is_none_or(|name| {
        let subject = case.subject;
        if name == Exception::MAIN {
            subject.agent.is_none()
        } else {
            subject.agent_type.as_deref() == Some(name)
        }
    });
    let tool = exception.tool.as_deref().is_none_or(|name| case.call.tool.name() == name);
    let command = exception.command.as_deref().is_none_or(
        |text| matches!(&case.call.action, Action::Shell { command, .. } if command.trim() == text.trim()),
    );
    agent
        && tool
        && command
        && (exception.paths.is_empty() || touches_only(&exception.paths, view))
        && exception.repository.as_deref().is_none_or(|dir| stays_in(dir, view))
}

/// Whether the call touches files, and all of them lie at or below one of `places`. What is not known lies nowhere.
fn touches_only(places: &[String], view: &View<'_>) -> bool {
    let mut files = view.survey.effects.iter().filter(|effect| is_on_file(effect)).peekable();
    let below = |path: &str| places.iter().any(|place| lies_below(path, place, &view.facts.places));
    view.survey.problem.is_none()
        && files.peek().is_some()
        && files.all(|effect| lies_where(effect, &below))
        && view.survey.invocations.iter().all(|inv| !inv.program.is_empty() && !inv.contained)
}

/// Whether an effect falls where `below` says.
fn lies_where(effect: &Effect, below: &impl Fn(&str) -> bool) -> bool {
    match &effect.target {
        // Where a link leads is an effect of its own.
        Target::Path { path, .. } => path == "/dev/null" || below(path),
        Target::UnknownPath { .. } => false,
        Target::Url(_) | Target::Command(_) | Target::None => true,
    }
}

fn is_on_file(effect: &Effect) -> bool {
    match effect.kind {
        EffectKind::FileRead
        | EffectKind::FileCreation
        | EffectKind::FileModification
        | EffectKind::FileDeletion => {
            matches!(effect.target, Target::Path { .. } | Target::UnknownPath { .. })
        }
        EffectKind::ProcessCreation
        | EffectKind::NetworkRequest
        | EffectKind::SystemCommand
        | EffectKind::SystemModification => false,
    }
}

/// Whether the call is made in `dir`, every command of it runs there, and every file that it touches lies there.
fn stays_in(dir: &str, view: &View<'_>) -> bool {
    let below = |path: &str| lies_below(path, dir, &view.facts.places);
    view.survey.problem.is_none()
        && below(view.cwd)
        && view.survey.invocations.iter().all(|inv| runs_in(inv, &below))
        && view.survey.effects.iter().all(|effect| lies_where(effect, &below))
        && !turns_git_elsewhere(view.call)
}

/// Whether a command runs where `below` says, as far as its working directory and git's own options can tell.
fn runs_in(inv: &Invocation, below: &impl Fn(&str) -> bool) -> bool {
    let Some(cwd) = inv.cwd.as_deref() else { return false };
    let elsewhere =
        |name: &str| matches!(name, "-C" | "--git-dir" | "--work-tree" | "--directory" | "--prefix");
    let inside = |value: Option<&str>| value.is_some_and(|dir| below(&join(cwd, dir)));
    !inv.contained
        && !inv.program.is_empty()
        && below(cwd)
        && inv
            .flags
            .iter()
            .filter(|flag| elsewhere(&flag.name))
            .all(|flag| inside(flag.value.as_ref().and_then(|value| value.known())))
}

/// Variables by which git works in another place than where it is run.
fn turns_git_elsewhere(call: &ToolCall) -> bool {
    let text = crate::review::action_text(call);
    ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"]
        .iter()
        .any(|name| text.contains(name))
}
