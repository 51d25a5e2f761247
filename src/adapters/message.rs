//! The words that people and models read: one for each enforcement, escaped and capped.

use crate::domain::{Decision, Reason, Rewrite, Verdict, clip, escape};

/// Longest message, in bytes: a client hands all of it to the model.
const MAX: usize = 2000;
/// Most reasons in one message; the strictest come first.
const MAX_REASONS: usize = 3;

/// Why the call does not run.
pub(super) fn blocked(decision: &Decision) -> String {
    let end = if notes(decision).next().is_some() {
        "repeating the same call will not help before that"
    } else {
        "repeating the same call will not help"
    };
    message("lazaret blocked this call", decision, Some(end))
}

/// Why nothing runs any more.
pub(super) fn stopped(decision: &Decision) -> String {
    let end = "every further call is refused until a person runs lazaret resume";
    message("lazaret stopped this session", decision, Some(end))
}

/// What a person is asked; without one, the model reads it as the reason of a refusal.
pub(super) fn question(decision: &Decision) -> String {
    let end = "it runs only if a person says yes; if nobody does, repeating it will not help";
    message("lazaret asks a person about this call", decision, Some(end))
}

/// What there is to say against a call that runs.
pub(super) fn warning(decision: &Decision) -> String {
    message("lazaret lets this call run, with a warning", decision, None)
}

/// What was changed in a call, and why; of a change that is not told, only its name.
pub(super) fn changed(decision: &Decision, rewrite: &Rewrite) -> String {
    if !rewrite.told {
        return format!("lazaret changed this call before it ran ({})", part(&rewrite.name, 60));
    }
    let head = format!(
        "lazaret changed this call before it ran ({}): {} is now {}",
        part(&rewrite.name, 60),
        rewrite.field,
        part(&rewrite.value, 700)
    );
    message(&head, decision, None)
}

/// What is wrong with an answer that its agent is to give again.
pub(super) fn sent_back(decision: &Decision) -> String {
    let why = decision.reasons().first().map_or("", |reason| reason.message.as_str());
    part(why, MAX)
}

/// What a person should know of an event that cannot be refused.
pub(super) fn noted(decision: &Decision) -> String {
    message("lazaret noted", decision, None)
}

/// What is told with a decision without speaking for or against the call.
fn notes(decision: &Decision) -> impl Iterator<Item = &Reason> {
    decision.reasons().iter().filter(|reason| reason.verdict == Verdict::Allow)
}

/// The reasons that made the verdict, then the notes and `end`: these are short, and of more use than the tail of the
/// third reason, so they get their room first.
fn message(head: &str, decision: &Decision, end: Option<&str>) -> String {
    let mut tail = String::new();
    for note in notes(decision).take(MAX_REASONS) {
        tail.push_str(&format!("\nnote: {}", part(&note.message, 200)));
    }
    if let Some(end) = end {
        tail.push('\n');
        tail.push_str(end);
    }
    let mut out = head.to_owned();
    let decisive = decision.reasons().iter().filter(|reason| reason.verdict != Verdict::Allow);
    for reason in decisive.filter(|reason| reason.verdict == decision.verdict()).take(MAX_REASONS) {
        out.push_str(&format!("\nrule {}: {}", part(&reason.rule, 80), part(&reason.message, 400)));
        if !reason.matched.is_empty() {
            out.push_str(&format!("\nmatched: {}", part(&reason.matched, 200)));
        }
        if let Some(instead) = &reason.instead {
            out.push_str(&format!("\ninstead: {}", part(instead, 300)));
        }
    }
    clip(&out, MAX.saturating_sub(tail.len() + '…'.len_utf8())) + &tail
}

/// One part of a message: clipped before it is escaped, so that escaping cannot be made expensive, and after.
fn part(text: &str, max: usize) -> String {
    clip(&escape(&clip(text, max)), max)
}
