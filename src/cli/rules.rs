//! `lazaret rules`: the built-in rules, and their examples through the whole decision.

use std::io::Write;

use anyhow::{Result, bail};
use serde_json::{Value, json};

use crate::cli::Exit;
use crate::cli::args::RulesCommand;
use crate::rules::{self, Rule};

pub fn run(command: &RulesCommand, out: &mut dyn Write) -> Result<Exit> {
    match command {
        RulesCommand::List { json } => list(*json, out),
        RulesCommand::Show { id, json } => show(id, *json, out),
        RulesCommand::Test { .. } => bail!("rules test: not in this build"),
    }
}

fn as_json(rule: &Rule) -> Value {
    json!({
        "id": rule.id,
        "verdict": rule.verdict.name(),
        "severity": rule.severity.name(),
        "reason": rule.reason,
        "instead": rule.instead.map(|instead| instead),
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
        writeln!(out, "{:width$}  {:6}  {:8}  {}", rule.id, rule.verdict.name(), rule.severity.name(), rule.reason)?;
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
        writeln!(out, "  instead: {}", instead)?;
    }
    for example in rule.fires {
        writeln!(out, "  fires:   {}", crate::domain::escape(example))?;
    }
    for example in rule.silent {
        writeln!(out, "  silent:  {}", crate::domain::escape(example))?;
    }
    Ok(Exit::Fine)
}
