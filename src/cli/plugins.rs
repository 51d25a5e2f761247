//! The user's plugins in the order of a call: what they are asked, and what their answers are worth. One that matches nothing is
//! not started.

use serde_json::{Map, Value, json};

use crate::cli::behaviour::Ended;
use crate::domain::{
    AgentId, Facts, Fault, FaultKind, Finding, HistoryEntry, Plugin, PluginKind, PluginRisk, Policy, Request,
    Score, ToolCall, Trust, clip, escape,
};
use crate::host::{guard, plugin};
use crate::review::behaviour::Chosen;
use crate::review::{self, redact};
use crate::rules::Survey;

/// The version of what is asked and answered.
const PROTOCOL: u32 = 1;
/// Longest text of an agent in a question, and longest text of an answer, in bytes.
const ASKED: usize = 64 << 10;
const SAID: usize = 500;

/// Those of a kind that are asked about this tool.
fn about<'p>(policy: &'p Policy, kind: PluginKind, tool: &str) -> impl Iterator<Item = &'p Plugin> {
    let of_kind = policy.plugins.iter().filter(move |plugin| plugin.kind == kind);
    of_kind.filter(move |plugin| plugin.tools.iter().any(|name| fast_glob::glob_match(name, tool)))
}

/// Lets a hook wait for what its plugins may take, in milliseconds; a command of a person has no deadline.
fn wait(policy: &Policy, asked: &Plugin) {
    guard::put_off(policy.deadline_ms.saturating_add(asked.timeout_ms));
}

/// Asks about the risk of a call that is about to run, and puts the highest that was said to what is known of it. What cannot be
/// had is a fault: the call waits for somebody's word on it.
pub fn rate(
    (request, call): (&Request, &ToolCall),
    trust: Trust,
    (survey, policy): (&Survey, &Policy),
    facts: &mut Facts,
) -> Option<Fault> {
    if policy.plugins.is_empty() || trust == Trust::Quarantined || !policy.enabled {
        return None;
    }
    let effects = survey.effects.iter().map(|effect| {
        json!({ "kind": effect.kind.name(), "target": effect.target.text(), "severity": effect.severity.name() })
    });
    let effects: Vec<Value> = effects.collect();
    let mut broken = None;
    for asked in about(policy, PluginKind::Risk, &call.tool.name()) {
        let mut question = question(asked, request, Some(call));
        question.insert("effects".to_owned(), effects.clone().into());
        wait(policy, asked);
        match plugin::ask(asked, &question.into()).and_then(|answer| risk(asked, &answer)) {
            Ok(Some(said)) if facts.rated.as_ref().is_none_or(|rated| said.score > rated.score) => {
                facts.rated = Some(said);
            }
            Ok(_) => {}
            Err(fault) => broken = Some(fault),
        }
    }
    broken
}

/// What plugins find in a session after one more call has ended, and what went wrong.
pub fn patterns(
    (request, call): (&Request, &ToolCall),
    ended: Ended<'_>,
    history: &[HistoryEntry],
    policy: &Policy,
) -> (Vec<Finding>, Vec<Fault>) {
    let mut found = Vec::new();
    let mut faults = Vec::new();
    for asked in about(policy, PluginKind::Pattern, &call.tool.name()) {
        let mut question = question(asked, request, Some(call));
        question.insert("outcome".to_owned(), ended.outcome.name().into());
        question
            .insert("error".to_owned(), ended.error.map(|error| clip(&redact::redact(error), ASKED)).into());
        question.insert("duration_ms".to_owned(), ended.duration_ms.into());
        question.insert("history".to_owned(), history.iter().rev().map(entry).collect::<Vec<Value>>().into());
        wait(policy, asked);
        match plugin::ask(asked, &question.into()).and_then(|answer| finding(asked, policy, &answer)) {
            Ok(one) => found.extend(one),
            Err(fault) => faults.push(fault),
        }
    }
    (found, faults)
}

/// Has plugins word an intervention. Gives what went wrong; the words are then lazaret's.
pub fn worded(request: &Request, chosen: &mut Chosen, policy: &Policy) -> Vec<Fault> {
    let mut faults = Vec::new();
    let of_kind = policy.plugins.iter().filter(|plugin| plugin.kind == PluginKind::Intervention);
    for asked in of_kind {
        if !asked.patterns.is_empty() && !asked.patterns.contains(&chosen.pattern) {
            continue;
        }
        let mut question = question(asked, request, None);
        question.insert("intervention".to_owned(), chosen.kind.name().into());
        question.insert("pattern".to_owned(), chosen.pattern.as_str().into());
        question.insert("text".to_owned(), chosen.text.as_str().into());
        question.insert("reminder".to_owned(), chosen.reminder.clone().into());
        wait(policy, asked);
        let answer = plugin::ask(asked, &question.into());
        match answer.and_then(|answer| text(asked, &answer, "text")) {
            Ok(text) if text.is_empty() => {}
            Ok(text) => chosen.text = format!("{} ({}): {text}", chosen.pattern, chosen.kind.name()),
            Err(fault) => faults.push(fault),
        }
    }
    faults
}

/// What every question says.
fn question(asked: &Plugin, request: &Request, call: Option<&ToolCall>) -> Map<String, Value> {
    let subject = &request.subject;
    let mut question = Map::new();
    for (key, value) in [
        ("protocol", PROTOCOL.into()),
        ("kind", asked.kind.name().into()),
        ("plugin", asked.name.as_str().into()),
        ("client", subject.client.name().into()),
        ("session", subject.session.as_str().into()),
        ("agent", subject.agent.as_ref().map(AgentId::as_str).into()),
        ("agent_type", subject.agent_type.as_deref().into()),
        ("cwd", request.cwd.as_str().into()),
    ] {
        question.insert(key.to_owned(), value);
    }
    if let Some(call) = call {
        question.insert("tool".to_owned(), call.tool.name().into());
        question.insert("action".to_owned(), clip(&review::action_text(call), ASKED).into());
    }
    question
}

/// One action of the session. What is equal has the same mark.
fn entry(entry: &HistoryEntry) -> Value {
    let mark = |print: u64| (print != 0).then(|| format!("{print:016x}"));
    json!({
        "number": entry.number, "age_ms": entry.age_ms, "operation": entry.operation, "place": entry.place,
        "outcome": entry.outcome.name(), "missing": entry.missing, "alignment": f64::from(entry.alignment) / 100.0,
        "duration_ms": entry.duration_ms, "bytes": entry.size, "prompt": entry.prompt,
        "action": mark(entry.action), "tool": mark(entry.tool), "path": mark(entry.path), "error": mark(entry.error),
        "agent": mark(entry.agent),
    })
}

/// Empty = it says nothing.
fn risk(asked: &Plugin, answer: &Value) -> Result<Option<PluginRisk>, Fault> {
    let Some(score) = share(asked, answer, "score")? else { return Ok(None) };
    let reason = text(asked, answer, "reason")?;
    Ok(Some(PluginRisk { plugin: asked.name.clone(), score: Score::new(score), reason }))
}

fn finding(asked: &Plugin, policy: &Policy, answer: &Value) -> Result<Option<Finding>, Fault> {
    let Some(severity) = share(asked, answer, "severity")? else { return Ok(None) };
    let confidence = share(asked, answer, "confidence")?.unwrap_or(1.0);
    let evidence = text(asked, answer, "evidence")?;
    let count = answer.get("count").and_then(Value::as_u64).and_then(|count| u32::try_from(count).ok());
    Ok(Some(Finding {
        pattern: asked.name.clone(),
        confidence: percent(confidence),
        severity: percent(severity).min(policy.cap(&asked.name)),
        evidence: if evidence.is_empty() { "a plugin says so".to_owned() } else { evidence },
        count: count.unwrap_or(1),
    }))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share: 0 to 100")]
fn percent(share: f64) -> u8 {
    (share * 100.0).round() as u8
}

/// A number from 0 to 1; none = it is not said.
fn share(asked: &Plugin, answer: &Value, key: &str) -> Result<Option<f64>, Fault> {
    match answer.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_f64().filter(|number| (0.0..=1.0).contains(number)) {
            Some(number) => Ok(Some(number)),
            None => Err(wrong(asked, format!("{key} is not a number from 0 to 1"))),
        },
    }
}

/// A text for the model and the person; empty = it is not said.
fn text(asked: &Plugin, answer: &Value, key: &str) -> Result<String, Fault> {
    match answer.get(key) {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(text)) => Ok(escape(&clip(&redact::redact(text.trim()), SAID))),
        Some(_) => Err(wrong(asked, format!("{key} is not a text"))),
    }
}

fn wrong(asked: &Plugin, why: String) -> Fault {
    Fault::new(FaultKind::Host, format!("plugin {}: its answer", asked.name), why)
        .with_hint("docs/plugins.md says what it may answer")
}
