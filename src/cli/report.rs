//! A decision for people and scripts: the shape of `check --json`, and the text of `check`.

use std::io::{self, Write};

use anyhow::Result;
use serde_json::{Value, json};

use super::rules::condition;
use crate::domain::{Decision, Excepted, Operation, Subject, Target, Verdict, WrittenWhen, escape};
use crate::rules::{Invocation, Survey};
use crate::shell::Arg;

/// What `--explain` adds to an answer.
#[derive(Clone, Copy)]
pub struct Explained<'a> {
    pub survey: &'a Survey,
    /// By which condition which rule matched.
    pub conditions: &'a [(String, WrittenWhen)],
}

impl Explained<'_> {
    /// The condition by which a rule matched.
    fn by(self, rule: &str) -> Result<Option<String>> {
        let found = self.conditions.iter().find(|(named, _)| named == rule);
        found.map(|(_, when)| condition(when)).transpose()
    }

    fn operations(self) -> Vec<Value> {
        self.survey.invocations.iter().map(operation).collect()
    }
}

/// One command of a call; what is not known before it runs is null.
fn operation(invocation: &Invocation) -> Value {
    json!({
        "program": Some(&invocation.program).filter(|program| !program.is_empty()),
        "words": invocation.args.iter().map(Arg::known).collect::<Vec<_>>(),
        "text": invocation.text,
        "does": invocation.does.map(Operation::name),
        "through": invocation.wrappers,
        "cwd": invocation.cwd,
    })
}

/// The same with the operations of the call, and the condition by which each rule matched.
pub fn explained(decision: &Decision, subject: &Subject, explained: Explained<'_>) -> Result<Value> {
    let mut answer = json(decision, subject);
    for reason in answer.get_mut("reasons").and_then(Value::as_array_mut).into_iter().flatten() {
        let by = explained.by(reason.get("rule").and_then(Value::as_str).unwrap_or_default())?;
        if let Some(reason) = reason.as_object_mut() {
            reason.insert("by".to_owned(), by.into());
        }
    }
    if let Some(answer) = answer.as_object_mut() {
        answer.insert("operations".to_owned(), explained.operations().into());
        answer.insert("problem".to_owned(), explained.survey.problem.clone().into());
    }
    Ok(answer)
}

/// `check --json`: keys and shape are a contract.
pub fn json(decision: &Decision, subject: &Subject) -> Value {
    let reasons: Vec<Value> = decision
        .reasons()
        .iter()
        .map(|reason| {
            json!({
                "rule": reason.rule,
                "verdict": reason.verdict.name(),
                "severity": reason.severity.name(),
                "message": reason.message,
                "matched": reason.matched,
                "instead": reason.instead,
            })
        })
        .collect();
    let risk = decision.risk.as_ref().map(|risk| {
        json!({
            "score": rounded(risk.score.get()),
            "level": risk.level.name(),
            "factors": risk.factors,
            "modifiers": risk.modifiers,
        })
    });
    let rationality = decision.rationality.as_ref().map(|rationality| {
        json!({
            "score": rounded(rationality.score.get()),
            "level": rationality.level.name(),
            "components": rationality.components,
            "issues": rationality.issues.iter().map(|issue| issue.text()).collect::<Vec<_>>(),
            "suggestions": rationality.issues.iter().map(|issue| issue.suggestion()).collect::<Vec<_>>(),
        })
    });
    let effects: Vec<Value> = decision
        .effects
        .iter()
        .map(|effect| {
            json!({
                "kind": effect.kind.name(),
                "target": target(&effect.target),
                "severity": effect.severity.name(),
                "reversible": effect.reversible,
            })
        })
        .collect();
    json!({
        "verdict": decision.verdict().name(),
        "enforcement": decision.enforcement().name(),
        "reasons": reasons,
        "risk": risk,
        "rationality": rationality,
        "coverage": decision.coverage.map(|coverage| rounded(coverage.get())),
        "effects": effects,
        "patterns": decision.patterns,
        "intervention": decision.intervention,
        "rewrite": decision.rewrite().map(|rewrite| json!({
            "name": rewrite.name, "field": rewrite.field, "value": rewrite.value,
        })),
        "exceptions": decision.exceptions.iter().map(excepted).collect::<Vec<Value>>(),
        "quarantined": decision.quarantined,
        "subject": {
            "client": subject.client.name(),
            "session": subject.session.as_str(),
            "agent": subject.agent.as_ref().map(crate::domain::AgentId::as_str),
        },
        "fault": decision.fault_kind().map(|fault| json!({
            "code": fault.kind.code(), "message": fault.message(), "hint": fault.hint,
        })),
    })
}

fn excepted(excepted: &Excepted) -> Value {
    json!({
        "rule": excepted.rule,
        "severity": excepted.severity.name(),
        "was": excepted.was.name(),
        "verdict": excepted.to.name(),
        "reason": excepted.reason,
        "expires": excepted.until,
        "file": excepted.file,
        "line": excepted.line,
    })
}

fn target(target: &Target) -> Value {
    match target {
        Target::None => Value::Null,
        Target::UnknownPath { known, .. } => Value::from(format!("{known}…")),
        Target::Path { .. } | Target::Url(_) | Target::Command(_) => Value::from(target.text()),
    }
}

/// Two decimals are what a score means.
fn rounded(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

/// Colours of a verdict, where they are wanted.
#[derive(Debug, Clone, Copy)]
pub struct Paint(pub bool);

impl Paint {
    /// Colours only on a terminal, and not under `NO_COLOR`.
    pub fn auto() -> Paint {
        use std::io::IsTerminal;
        Paint(io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()))
    }

    fn verdict(self, verdict: Verdict) -> String {
        self.word(verdict, verdict.name())
    }

    /// A word in the colour of a verdict.
    pub fn word(self, verdict: Verdict, word: &str) -> String {
        let code = match verdict {
            Verdict::Allow => "32",
            Verdict::Warn => "33",
            Verdict::Modify => "35",
            Verdict::Block => "31",
        };
        if self.0 { format!("\x1b[1;{code}m{word}\x1b[0m") } else { word.to_owned() }
    }
}

/// `check` in words.
pub fn text(
    out: &mut dyn Write,
    decision: &Decision,
    explained: Option<Explained<'_>>,
    paint: Paint,
) -> io::Result<()> {
    writeln!(out, "{} ({})", paint.verdict(decision.verdict()), decision.enforcement().name())?;
    for reason in decision.reasons() {
        writeln!(out, "  {} [{}, {}]", reason.rule, reason.verdict.name(), reason.severity.name())?;
        writeln!(out, "    why:     {}", escape(&reason.message))?;
        if !reason.matched.is_empty() {
            writeln!(out, "    matched: {}", escape(&reason.matched))?;
        }
        if let Some(instead) = &reason.instead {
            writeln!(out, "    instead: {}", escape(instead))?;
        }
        let by =
            explained.map(|explained| explained.by(&reason.rule)).transpose().map_err(io::Error::other)?;
        if let Some(by) = by.flatten() {
            writeln!(out, "    by:      {}", escape(&by))?;
        }
    }
    for excepted in &decision.exceptions {
        writeln!(
            out,
            "  exception from {}: {} instead of {}, {}",
            excepted.rule,
            excepted.to.name(),
            excepted.was.name(),
            escape(&excepted.reason)
        )?;
        let until = excepted.until.as_deref().map_or(String::new(), |until| format!(", until {until}"));
        writeln!(out, "    stands in {}:{}{until}", escape(&excepted.file), excepted.line)?;
    }
    if let Some(rewrite) = decision.rewrite() {
        writeln!(out, "  rewritten by {}: {}", rewrite.name, escape(&rewrite.value))?;
    }
    match explained {
        Some(explained) => explain(out, decision, explained.survey),
        None => Ok(()),
    }
}

fn explain(out: &mut dyn Write, decision: &Decision, survey: &Survey) -> io::Result<()> {
    if let Some(risk) = &decision.risk {
        let factors = if risk.factors.is_empty() { "none".to_owned() } else { risk.factors.join(", ") };
        writeln!(out, "  risk {:.2} ({}): {factors}", risk.score.get(), risk.level.name())?;
    }
    if let Some(rationality) = &decision.rationality {
        let parts = &rationality.components;
        writeln!(
            out,
            "  rationality {:.2} ({}): alignment {:.1}, progression {:.1}, efficiency {:.1}, completeness {:.1}",
            rationality.score.get(),
            rationality.level.name(),
            parts.goal_alignment.get(),
            parts.logical_progression.get(),
            parts.efficiency.get(),
            parts.completeness.get()
        )?;
    } else if decision.risk.is_some() {
        writeln!(out, "  rationality: looked at when the call has ended (reviewer.mode is async)")?;
    }
    if let Some(coverage) = decision.coverage {
        writeln!(out, "  known before it runs: {:.2} of its words", coverage.get())?;
    }
    for invocation in &survey.invocations {
        let name = if invocation.program.is_empty() { "(unknown program)" } else { &invocation.program };
        let through = invocation.wrappers.join(" > ");
        let through = if through.is_empty() { through } else { format!(" through {through}") };
        let does = invocation.does.map_or(String::new(), |does| format!(" ({})", does.name()));
        writeln!(out, "  runs {}{does}{through}: {}", escape(name), escape(&invocation.text))?;
    }
    for effect in &decision.effects {
        writeln!(
            out,
            "  {} {} ({}{})",
            effect.kind.name(),
            escape(effect.target.text()),
            effect.severity.name(),
            if effect.disposable { ", disposable" } else { "" }
        )?;
    }
    if let Some(problem) = &survey.problem {
        writeln!(out, "  not understood: {}", escape(problem))?;
    }
    Ok(())
}
