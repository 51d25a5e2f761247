//! What is remembered of an action that has ended.

use crate::domain::{
    Action, ActionKind, Claim, Effect, EffectKind, Facts, HistoryEntry, Outcome, Place, Places, Policy,
    Purpose, Subject, Target, ToolCall, Usage, fingerprint, lies_below,
};
use crate::review::behaviour::alignment::{Act, alignment};
use crate::review::behaviour::lookup::is_looked_up;
use crate::review::behaviour::patterns::{Ended, marked};
use crate::review::{action_text, agent_fingerprint, identify};
use crate::rules::Survey;

/// What is reported of a call, and what was seen in it.
#[derive(Debug, Clone, Copy)]
pub struct Report<'a> {
    pub subject: &'a Subject,
    pub call: &'a ToolCall,
    pub survey: &'a Survey,
    pub facts: &'a Facts,
    pub policy: &'a Policy,
    pub outcome: Outcome,
    pub error: Option<&'a str>,
    /// The rule that refused it, where that is how it ended.
    pub rule: Option<&'a str>,
    pub duration_ms: Option<u64>,
}

/// The entry that a report makes; its number is given when it is remembered.
pub fn entry(report: &Report<'_>, purpose: &Purpose) -> HistoryEntry {
    let Report { subject, call, survey, facts, policy, .. } = *report;
    let identity = identify(subject, call);
    let paths = paths(call, &survey.effects);
    let operation = operation(call, &survey.effects);
    let place = place(&paths, (policy, &facts.places), purpose);
    let text = action_text(call);
    let act = Act { text: &text, paths: &paths, operation, place };
    let error = report.error.filter(|_| report.outcome == Outcome::Failed);
    let plain = error.map(super::normalised).unwrap_or_default();
    let tool = call.tool.name();
    let failed = error.map(|_| fingerprint(&[tool.as_bytes(), plain.as_bytes()]));
    let refused = report.rule.map(|rule| fingerprint(&[b"refused by", rule.as_bytes()]));
    let ended = Ended {
        tool: &tool,
        operation,
        paths: &paths,
        places: &facts.places,
        outcome: report.outcome,
        error: &plain,
    };
    HistoryEntry {
        number: 0,
        age_ms: 0,
        call: identity.call,
        action: identity.action,
        agent: agent_fingerprint(subject),
        tool: identity.tool,
        path: paths.first().map_or(0, |path| fingerprint(&[path.as_bytes()])),
        error: failed.or(refused).unwrap_or_default(),
        operation,
        place,
        outcome: report.outcome,
        missing: error.is_some_and(super::error::says_missing),
        alignment: alignment(&act, policy, purpose, &facts.places),
        duration_ms: u32::try_from(report.duration_ms.unwrap_or(0)).unwrap_or(u32::MAX),
        size: size(&call.action),
        prompt: purpose.number,
        marked: marked(&policy.patterns.custom, &ended),
    }
}

/// Where they lie. Without a project every place would be outside, so that none is; a place that the person mentions is inside,
/// and what everybody looks up is nowhere.
fn place(paths: &[&str], (policy, places): (&Policy, &Places), purpose: &Purpose) -> Place {
    let inside = |path: &str| {
        places.roots().next().is_none()
            || policy.expects(path, places)
            || purpose.paths.iter().chain(&purpose.made).any(|known| lies_below(path, known, places))
            || is_called(path, purpose)
    };
    let mut place = Place::Nowhere;
    for path in paths.iter().filter(|path| !is_looked_up(path, places)) {
        if !inside(path) {
            return Place::Outside;
        }
        place = Place::Inside;
    }
    place
}

/// Whether a directory on the way to it is one that the person calls by its name (`the payment-service checkout`).
fn is_called(path: &str, purpose: &Purpose) -> bool {
    let directories = path.rsplit_once('/').map_or("", |(directories, _)| directories);
    let named = |part: &str| purpose.words.iter().any(|word| part.eq_ignore_ascii_case(word));
    directories.split('/').any(|part| !part.is_empty() && named(part))
}

/// The directories that a call clones a repository into, or checks one out in.
pub fn checked_out(survey: &Survey) -> impl Iterator<Item = &str> {
    let clones = survey.invocations.iter().any(|inv| {
        let sub: Vec<&str> = inv.sub.iter().map(String::as_str).collect();
        matches!((inv.program.as_str(), sub.as_slice()), ("git", ["clone", ..] | ["worktree", "add", ..]))
            || matches!((inv.program.as_str(), sub.as_slice()), ("gh" | "glab", ["repo", "clone", ..]))
    });
    survey.effects.iter().filter(move |effect| clones && effect.kind == EffectKind::FileCreation).filter_map(
        |effect| match &effect.target {
            Target::Path { path, .. } => Some(path.as_str()),
            Target::UnknownPath { .. } | Target::Url(_) | Target::Command(_) | Target::None => None,
        },
    )
}

/// The files that a call names, the first being the one it is about.
fn paths<'a>(call: &'a ToolCall, effects: &'a [Effect]) -> Vec<&'a str> {
    match &call.action {
        Action::Read { path } | Action::Write { path, .. } | Action::Edit { path, .. } => vec![path],
        Action::Search { path, .. } => {
            path.as_deref().into_iter().filter(|path| path.starts_with('/')).collect()
        }
        Action::Shell { .. } | Action::Other { .. } | Action::Fetch { .. } | Action::Spawn { .. } => effects
            .iter()
            .filter_map(|effect| match &effect.target {
                Target::Path { path, .. } => Some(path.as_str()),
                Target::UnknownPath { .. } | Target::Url(_) | Target::Command(_) | Target::None => None,
            })
            .collect(),
    }
}

/// What a call mainly does: of a command, the gravest of what it does to files, else that it runs.
fn operation(call: &ToolCall, effects: &[Effect]) -> ActionKind {
    match &call.action {
        Action::Read { .. } => ActionKind::Read,
        Action::Write { .. } | Action::Edit { .. } => ActionKind::Write,
        Action::Search { .. } => ActionKind::Search,
        Action::Fetch { .. } => ActionKind::Network,
        Action::Spawn { .. } => ActionKind::Spawn,
        Action::Other { claims, .. } => claimed(claims).unwrap_or(ActionKind::Other),
        Action::Shell { .. } => {
            let does = |kind| effects.iter().any(|effect| effect.kind == kind);
            if does(EffectKind::FileDeletion) {
                ActionKind::Delete
            } else if does(EffectKind::FileModification) || does(EffectKind::FileCreation) {
                ActionKind::Write
            } else if does(EffectKind::NetworkRequest) {
                ActionKind::Network
            } else if !effects.is_empty() && effects.iter().all(|effect| effect.kind == EffectKind::FileRead)
            {
                ActionKind::Read
            } else {
                ActionKind::Execute
            }
        }
    }
}

fn claimed(claims: &[Claim]) -> Option<ActionKind> {
    claims.iter().find_map(|claim| match claim {
        Claim::Command(_) | Claim::Code(_) => Some(ActionKind::Execute),
        Claim::File { usage, .. } => match usage {
            Usage::Read => Some(ActionKind::Read),
            Usage::Write => Some(ActionKind::Write),
            Usage::Delete => Some(ActionKind::Delete),
            Usage::Unsaid => None,
        },
        Claim::Unread => None,
    })
}

/// Bytes that a call brings with it to be written.
fn size(action: &Action) -> u32 {
    match action {
        Action::Write { content, long, .. } | Action::Edit { content, long, .. } => {
            long.unwrap_or_else(|| u32::try_from(content.len()).unwrap_or(u32::MAX))
        }
        Action::Shell { .. }
        | Action::Read { .. }
        | Action::Search { .. }
        | Action::Fetch { .. }
        | Action::Spawn { .. }
        | Action::Other { .. } => 0,
    }
}
