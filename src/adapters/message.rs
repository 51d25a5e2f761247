//! The words that people and models read: one for each enforcement, escaped and capped.

use crate::domain::{Decision, Leave, Reason, Rewrite, Verdict, clip, escape};

/// Longest message, in bytes: a client hands all of it to the model.
const MAX: usize = 2000;
/// Most reasons in one message; the strictest come first.
const MAX_REASONS: usize = 3;

const IN_VAIN: &str = "repeating the same call will not help";

/// Why the call does not run, and who could let it.
pub(super) fn blocked(decision: &Decision) -> String {
    let end = if notes(decision).next().is_some() {
        format!("{IN_VAIN} before that")
    } else {
        format!("{}{IN_VAIN}", leave(decision))
    };
    answer("lazaret blocked this call", decision, Some(&end))
}

/// Who could let a blocked call run; nothing where the reasons say so themselves.
fn leave(decision: &Decision) -> String {
    let mut rules: Vec<String> = Vec::new();
    let mut nobody = false;
    for reason in decisive(decision) {
        match reason.leave() {
            Leave::Told => return String::new(),
            Leave::Nobody => nobody = true,
            Leave::Score => {}
            Leave::Exception => rules.push(part(&reason.rule, 80)),
        }
    }
    if !nobody && rules.is_empty() {
        return "to allow: only a person can, by running it at a terminal\n".to_owned();
    }
    if nobody {
        return "to allow: nobody can from here; a person can do it at a terminal\n".to_owned();
    }
    rules.dedup();
    let commands: Vec<String> = rules.iter().map(|rule| format!("lazaret except {rule} --here")).collect();
    format!("to allow: only a person can, at a terminal in that directory: {}\n", commands.join("; "))
}

/// The strictest reasons that are told.
fn decisive(decision: &Decision) -> impl Iterator<Item = &Reason> {
    let strictest = decision.reasons().iter().filter(|reason| reason.verdict != Verdict::Allow);
    strictest.filter(|reason| reason.verdict == decision.verdict()).take(MAX_REASONS)
}

/// Why nothing runs any more.
pub(super) fn stopped(decision: &Decision) -> String {
    let by_fleet =
        decision.reasons().first().is_some_and(|reason| reason.rule == crate::domain::fleet::STOPPED);
    let end = if by_fleet {
        "every further call is refused until a person runs lazaret-fleet resume"
    } else {
        "every further call is refused until a person runs lazaret resume"
    };
    answer("lazaret stopped this session", decision, Some(end))
}

/// What a person is asked; without one, the model reads it as the reason of a refusal.
pub(super) fn question(decision: &Decision) -> String {
    let end = "it runs only if a person says yes; if nobody does, repeating it will not help";
    answer("lazaret asks a person about this call", decision, Some(end))
}

/// What there is to say against a call that runs.
pub(super) fn warning(decision: &Decision) -> String {
    answer("lazaret lets this call run, with a warning", decision, None)
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

/// What the model is told of the way it works, beside a result.
pub(super) fn advice(decision: &Decision) -> String {
    message("lazaret looked at the last actions of this session", decision, None)
}

/// What the model is told again after its context was cut short.
pub(super) fn reminder(decision: &Decision) -> String {
    message("lazaret remembers of this session, from before its context was cut short", decision, None)
}

/// What is told with a decision without speaking for or against the call.
fn notes(decision: &Decision) -> impl Iterator<Item = &Reason> {
    decision.reasons().iter().filter(|reason| reason.verdict == Verdict::Allow)
}

/// A message whose first line holds rule and reason: a client's terminal shows no other.
fn answer(head: &str, decision: &Decision, end: Option<&str>) -> String {
    joined((head, ": "), decision, end)
}

/// The reasons that made the verdict, then the notes and `end`: these are short, and of more use than the tail of the
/// third reason, so they get their room first.
fn message(head: &str, decision: &Decision, end: Option<&str>) -> String {
    joined((head, "\n"), decision, end)
}

/// The same with what stands between its head and the first reason.
fn joined((head, mut between): (&str, &'static str), decision: &Decision, end: Option<&str>) -> String {
    let mut tail = String::new();
    for note in notes(decision).take(MAX_REASONS) {
        tail.push_str(&format!("\nnote: {}", part(&note.message, 200)));
    }
    if let Some(end) = end {
        tail.push('\n');
        tail.push_str(end);
    }
    let mut out = head.to_owned();
    let mut told: Vec<&str> = Vec::new();
    for reason in decisive(decision) {
        out.push_str(&format!("{between}rule {}: {}", part(&reason.rule, 80), part(&reason.message, 400)));
        between = "\n";
        if !reason.matched.is_empty() {
            out.push_str(&format!("\nmatched: {}", part(&reason.matched, 200)));
        }
        // One alternative is enough where the score speaks behind a rule, or two rules name the same.
        let named =
            |instead: &str| told.contains(&instead) || (reason.leave() == Leave::Score && !told.is_empty());
        if let Some(instead) = reason.instead.as_deref().filter(|instead| !named(instead)) {
            told.push(instead);
            out.push_str(&format!("\ninstead: {}", part(instead, 300)));
        }
    }
    clip(&out, MAX.saturating_sub(tail.len() + '…'.len_utf8())) + &tail
}

/// One part of a message: clipped before it is escaped, so that escaping cannot be made expensive, and after.
fn part(text: &str, max: usize) -> String {
    clip(&escape(&clip(text, max)), max)
}
