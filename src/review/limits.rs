//! Limits of what a prompt or a session uses (seed 000 `resources`): what speaks against a call beyond one, and what is told on the
//! way there.

use crate::domain::{
    Action, Effect, EffectKind, Reason, ResourceMode, ResourcePolicy, Severity, Span, Spent, Verdict,
};
use crate::review::Case;

/// Shares of a limit, in percent, at each of which it is told once how much of it is used.
const SHARES: [u8; 3] = [50, 75, 90];

/// The highest of the shares that is reached; 0 = none.
pub fn share(used: u64, limit: u64) -> u8 {
    let percent = used.saturating_mul(100) / limit.max(1);
    SHARES.into_iter().rev().find(|share| percent >= u64::from(*share)).unwrap_or(0)
}

/// What speaks against a call because a limit is used up.
pub fn over(case: &Case<'_>) -> impl Iterator<Item = Reason> {
    [file_operations(case), execution_time(case)].into_iter().flatten()
}

fn file_operations(case: &Case<'_>) -> Option<Reason> {
    let limits = &case.policy.resources;
    let verdict = verdict(limits.mode)?;
    let all = case.stand.file_operations;
    let used = spent(case).operations(all, limits.per);
    let counts = used >= limits.max_file_operations && case.survey.effects.iter().any(is_file_operation);
    counts.then(|| Reason {
        instead: Some(
            "a person can raise max_file_operations in [resources] of the configuration".to_owned(),
        ),
        ..Reason::new(
            "limits.file-operations",
            verdict,
            Severity::Medium,
            format!(
                "file operation limit exceeded: {used} of {} in this {}",
                limits.max_file_operations,
                limits.per.name()
            ),
        )
    })
}

/// Looking is let through, so that what was done can be told.
fn execution_time(case: &Case<'_>) -> Option<Reason> {
    let limits = &case.policy.resources;
    let verdict = verdict(limits.execution_time)?;
    let used = spent(case).time_ms(limits.per) / 1000;
    let looks = matches!(case.call.action, Action::Read { .. } | Action::Search { .. });
    (used >= limits.max_execution_time && !looks).then(|| Reason { instead: Some(
            "tell the person what is left to do; a person can raise max_execution_time_seconds in [resources] of the \
             configuration"
                .to_owned(),
        ), ..Reason::new("limits.execution-time", verdict, Severity::Medium, format!(
            "execution time limit exceeded: the calls of this {} took {used} s of {} s",
            limits.per.name(),
            limits.max_execution_time
        )) })
}

fn verdict(mode: ResourceMode) -> Option<Verdict> {
    match mode {
        ResourceMode::Off => None,
        ResourceMode::Warn => Some(Verdict::Warn),
        ResourceMode::Block => Some(Verdict::Block),
    }
}

fn spent(case: &Case<'_>) -> Spent {
    case.stand.behaviour.spent.unwrap_or_default()
}

/// Whether an effect counts as a file operation: it changes a file.
pub fn is_file_operation(effect: &Effect) -> bool {
    use EffectKind::{
        FileCreation, FileDeletion, FileModification, FileRead, NetworkRequest, ProcessCreation,
        SystemCommand, SystemModification,
    };
    match effect.kind {
        FileCreation | FileModification | FileDeletion => true,
        FileRead | ProcessCreation | NetworkRequest | SystemCommand | SystemModification => false,
    }
}

/// A prompt begins: what is counted from here on, after so many file operations of the session. Nothing where nothing is limited.
pub fn begun(before: Option<Spent>, operations: u64, limits: &ResourcePolicy) -> Option<Spent> {
    if !counts(limits) {
        return None;
    }
    let before = before.unwrap_or_default();
    let begun = Spent {
        operations_before: operations,
        before_ms: before.before_ms.saturating_add(before.time_ms),
        ..Spent::default()
    };
    Some(match limits.per {
        Span::Prompt => begun,
        Span::Session => {
            Spent { told_operations: before.told_operations, told_time: before.told_time, ..begun }
        }
    })
}

/// A call has ended that took so long, with so many file operations of the session: counts it, and gives what is to be told, once
/// for each share of a limit.
pub fn count(
    spent: &mut Option<Spent>,
    took_ms: u64,
    operations: u64,
    limits: &ResourcePolicy,
) -> Vec<String> {
    if !counts(limits) {
        *spent = None;
        return Vec::new();
    }
    let spent = spent.get_or_insert_default();
    spent.time_ms = spent.time_ms.saturating_add(took_ms);
    let (operations, seconds) = (spent.operations(operations, limits.per), spent.time_ms(limits.per) / 1000);
    let mut told = Vec::new();
    for (mode, (used, limit), before, what) in [
        (
            limits.mode,
            (operations, limits.max_file_operations),
            &mut spent.told_operations,
            "file operations",
        ),
        (
            limits.execution_time,
            (seconds, limits.max_execution_time),
            &mut spent.told_time,
            "seconds that calls may take",
        ),
    ] {
        let share = share(used, limit);
        if mode != ResourceMode::Off && share > *before {
            *before = share;
            told.push(format!(
                "{share} % of the limit of this {} is used: {used} of {limit} {what}; {}",
                limits.per.name(),
                "do what matters most first, and tell the person what is left"
            ));
        }
    }
    told
}

/// Whether the hook limits anything.
fn counts(limits: &ResourcePolicy) -> bool {
    limits.mode != ResourceMode::Off || limits.execution_time != ResourceMode::Off
}
