//! The words that people and models read: one for each enforcement, escaped and capped.

use crate::domain::{Decision, Reason, Rewrite, clip, escape};

/// Longest message, in bytes: a client hands all of it to the model.
const MAX: usize = 2000;
/// Most reasons in one message; the strictest come first.
const MAX_REASONS: usize = 3;

/// Why the call does not run.
pub(super) fn blocked(decision: &Decision) -> String {
    let end = "repeating the same call will not help";
    message("lazaret blocked this call", &decisive(decision), Some(end))
}

/// Why nothing runs any more.
pub(super) fn stopped(decision: &Decision) -> String {
    let end = "every further call is refused until a person runs lazaret resume";
    message("lazaret stopped this session", &decisive(decision), Some(end))
}

/// What a person is asked; without one, the model reads it as the reason of a refusal.
pub(super) fn question(decision: &Decision) -> String {
    let end = "it runs only if a person says yes; if nobody does, repeating it will not help";
    message("lazaret asks a person about this call", &decisive(decision), Some(end))
}

/// What there is to say against a call that runs.
pub(super) fn warning(decision: &Decision) -> String {
    let reasons: Vec<&Reason> = decision.reasons().iter().take(MAX_REASONS).collect();
    message("lazaret lets this call run, with a warning", &reasons, None)
}

/// What was changed in a call, and why.
pub(super) fn changed(decision: &Decision, rewrite: &Rewrite) -> String {
    let head = format!(
        "lazaret changed this call before it ran ({}): {} is now {}",
        part(&rewrite.name, 60),
        rewrite.field,
        part(&rewrite.value, 700)
    );
    message(&head, &decisive(decision), None)
}

/// The reasons that made the verdict.
fn decisive(decision: &Decision) -> Vec<&Reason> {
    let reasons = decision.reasons().iter().filter(|reason| reason.verdict == decision.verdict());
    reasons.take(MAX_REASONS).collect()
}

fn message(head: &str, reasons: &[&Reason], end: Option<&str>) -> String {
    let mut out = head.to_owned();
    for reason in reasons {
        out.push_str(&format!("\nrule {}: {}", part(&reason.rule, 80), part(&reason.message, 400)));
        if !reason.matched.is_empty() {
            out.push_str(&format!("\nmatched: {}", part(&reason.matched, 200)));
        }
        if let Some(instead) = &reason.instead {
            out.push_str(&format!("\ninstead: {}", part(instead, 300)));
        }
    }
    // The end is short, and more useful than the tail of the third reason.
    let room = MAX - end.map_or(0, |end| end.len() + 1);
    let mut out = clip(&out, room.saturating_sub('…'.len_utf8()));
    if let Some(end) = end {
        out.push('\n');
        out.push_str(end);
    }
    out
}

/// One part of a message: clipped before it is escaped, so that escaping cannot be made expensive, and after.
fn part(text: &str, max: usize) -> String {
    clip(&escape(&clip(text, max)), max)
}

/// What a person should know of an event that cannot be refused.
pub(super) fn noted(decision: &Decision) -> String {
    let reasons: Vec<&Reason> = decision.reasons().iter().take(MAX_REASONS).collect();
    message("lazaret noted", &reasons, None)
}
