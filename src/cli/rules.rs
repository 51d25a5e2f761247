//! `lazaret rules`: the built-in rules, and their examples through the whole decision.

use std::io::Write;

use anyhow::{Result, anyhow, bail};
use serde_json::{Value, json};

use crate::cli::Exit;
use crate::cli::args::RulesCommand;
use crate::domain::{Asking, Client, Decision, Policy, SessionId, Stand, Subject, Trust, escape};
use crate::review::{self, Case};
use crate::rules::{self, Expect, Instead, Rule, fixture};

pub fn run(command: &RulesCommand, out: &mut dyn Write) -> Result<Exit> {
    match command {
        RulesCommand::List { json } => list(*json, out),
        RulesCommand::Show { id, json } => show(id, *json, out),
        RulesCommand::Test { json } => test_all(*json, out),
    }
}

fn as_json(rule: &Rule) -> Value {
    json!({
        "id": rule.id,
        "verdict": rule.verdict.name(),
        "severity": rule.severity.name(),
        "reason": rule.reason,
        "instead": rule.instead.map(Instead::text),
        "fires": rule.fires,
        "silent": rule.silent,
    })
}

fn list(as_object: bool, out: &mut dyn Write) -> Result<Exit> {
    if as_object {
        let rules: Vec<Value> = rules::all().map(as_json).collect();
        writeln!(out, "{}", serde_json::to_string_pretty(&json!({ "rules": rules }))?)?;
        return Ok(Exit::Fine);
    }
    let width = rules::all().map(|rule| rule.id.len()).max().unwrap_or(0);
    for rule in rules::all() {
        writeln!(
            out,
            "{:width$}  {:6}  {:8}  {}",
            rule.id,
            rule.verdict.name(),
            rule.severity.name(),
            rule.reason
        )?;
    }
    Ok(Exit::Fine)
}

fn show(id: &str, as_object: bool, out: &mut dyn Write) -> Result<Exit> {
    let Some(rule) = rules::find(id) else {
        let near = rules::all()
            .map(|rule| (strsim::damerau_levenshtein(rule.id, id), rule.id))
            .min()
            .map_or("", |(_, near)| near);
        bail!("rule {id}: there is none of this name; the nearest is {near} (see `lazaret rules list`)");
    };
    if as_object {
        writeln!(out, "{}", serde_json::to_string_pretty(&as_json(rule))?)?;
        return Ok(Exit::Fine);
    }
    writeln!(out, "{} ({}, {})", rule.id, rule.verdict.name(), rule.severity.name())?;
    writeln!(out, "  why:     {}", rule.reason)?;
    if let Some(instead) = rule.instead {
        writeln!(out, "  instead: {}", instead.text())?;
    }
    for example in rule.fires {
        writeln!(out, "  fires:   {}", escape(example))?;
    }
    for example in rule.silent {
        writeln!(out, "  silent:  {}", escape(example))?;
    }
    Ok(Exit::Fine)
}

/// The whole decision on an example in the rules' made-up world, for a session without a past.
fn decide(example: &str, subject: &Subject, policy: &Policy) -> Decision {
    let call = fixture::call(example);
    let (survey, facts) = fixture::survey_of(&call, policy);
    review::decide(&Case {
        subject,
        call: &call,
        cwd: fixture::PROJECT,
        trust: Trust::Ordinary,
        standing: None,
        asking: Asking::Yes,
        survey: &survey,
        facts: &facts,
        policy,
        stand: &Stand::default(),
    })
}

/// Runs every example of every rule; what is not as it should be is listed, and the exit code is 1.
fn test_all(as_object: bool, out: &mut dyn Write) -> Result<Exit> {
    let session = SessionId::new("rules-test").ok_or_else(|| anyhow!("session rules-test: not an id"))?;
    let subject = Subject { client: Client::ClaudeCode, session, agent: None, agent_type: None };
    let policy = Policy::default();
    let mut count = 0_usize;
    let mut wrong = Vec::new();
    for rule in rules::all() {
        let fires = rule.fires.iter().map(|example| (example, Expect::Fires));
        let silent = rule.silent.iter().map(|example| (example, Expect::Silent));
        for (example, expect) in fires.chain(silent) {
            count += 1;
            let decision = decide(example, &subject, &policy);
            let spoke = decision.reasons().iter().any(|reason| reason.rule == rule.id);
            if spoke != (expect == Expect::Fires) || (spoke && decision.verdict() < rule.verdict) {
                wrong.push((rule.id, *example, if spoke { "fires" } else { "stays silent" }));
            }
        }
    }
    if as_object {
        let failed: Vec<Value> = wrong
            .iter()
            .map(|(id, example, what)| json!({"rule": id, "example": example, "result": what}))
            .collect();
        let report = json!({"rules": rules::all().count(), "examples": count, "failed": failed});
        writeln!(out, "{}", serde_json::to_string_pretty(&report)?)?;
    } else {
        for (id, example, what) in &wrong {
            writeln!(out, "FAIL {id} {what} on: {}", escape(example))?;
        }
        writeln!(
            out,
            "{} rules, {count} examples, {} not as they should be",
            rules::all().count(),
            wrong.len()
        )?;
    }
    Ok(if wrong.is_empty() { Exit::Fine } else { Exit::Failed })
}
