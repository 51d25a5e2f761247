//! `lazaret rules`: the rules, built-in and custom, whole or in a line, and their examples through the whole decision.

mod explain;
mod form;
mod test;

use std::io::Write;

use anyhow::{Result, bail};
use serde_json::json;

pub use form::{condition, toml};

use crate::cli::args::RulesCommand;
use crate::cli::{CHECKS, Exit, Machine};
use crate::domain::{Policy, WayOut, WrittenRule, escape};
use crate::host::config;
use crate::rules::{self, custom};

pub fn run(command: &RulesCommand, machine: &Machine, out: &mut dyn Write) -> Result<Exit> {
    match command {
        RulesCommand::List { json } => list(*json, machine, out),
        RulesCommand::Show { id, json, toml } => show(id, (*json, *toml), machine, out),
        RulesCommand::Explain { call, json } => explain::run(call, *json, machine, out),
        RulesCommand::Test { file, json } => test::run(file.as_deref(), *json, machine, out),
    }
}

fn built_in() -> impl Iterator<Item = WrittenRule> {
    rules::all().map(rules::written)
}

/// The custom rules that count here.
fn own(machine: &Machine) -> Result<Vec<WrittenRule>> {
    Ok(policy(machine)?.custom_rules)
}

fn policy(machine: &Machine) -> Result<Policy> {
    Ok(config::load(&machine.dirs, &machine.places()?, CHECKS)?.policy)
}

/// Every rule: in a line each, or whole.
pub fn list(as_object: bool, machine: &Machine, out: &mut dyn Write) -> Result<Exit> {
    let own = own(machine)?;
    if as_object {
        let all: Vec<_> = built_in().map(|rule| form::json(&rule)).collect();
        let own: Vec<_> = own.iter().map(form::json).collect();
        writeln!(out, "{}", serde_json::to_string_pretty(&json!({ "rules": all, "custom": own }))?)?;
        return Ok(Exit::Fine);
    }
    let all: Vec<WrittenRule> = built_in().chain(own).collect();
    let width = all.iter().map(|rule| rule.id.len()).max().unwrap_or(0);
    for rule in &all {
        writeln!(
            out,
            "{:width$}  {:6}  {:8}  {}",
            rule.id,
            rule.verdict.name(),
            rule.severity.name(),
            escape(&rule.reason)
        )?;
    }
    Ok(Exit::Fine)
}

fn show(id: &str, (json, toml): (bool, bool), machine: &Machine, out: &mut dyn Write) -> Result<Exit> {
    let found = match rules::find(id) {
        Some(rule) => Some(rules::written(rule)),
        None => own(machine)?.into_iter().find(|rule| rule.id == id),
    };
    let Some(rule) = found else {
        let near = custom::nearest(id).unwrap_or_default();
        bail!("rule {id}: there is none of this name; the nearest is {near} (see `lazaret rules list`)");
    };
    if json {
        writeln!(out, "{}", serde_json::to_string_pretty(&form::json(&rule))?)?;
    } else if toml {
        write!(out, "{}", form::toml(&rule)?)?;
    } else {
        describe(&rule, out)?;
    }
    Ok(Exit::Fine)
}

fn describe(rule: &WrittenRule, out: &mut dyn Write) -> Result<()> {
    writeln!(out, "{} ({}, {})", rule.id, rule.verdict.name(), rule.severity.name())?;
    writeln!(out, "  why:     {}", escape(&rule.reason))?;
    if let Some(instead) = &rule.instead {
        let kind = match instead {
            WayOut::Command(_) => "run",
            WayOut::Advice(_) => "do",
        };
        writeln!(out, "  instead: {kind} {}", escape(instead.text()))?;
    }
    if let Some(rewriter) = &rule.rewriter {
        writeln!(out, "  rewrite: {rewriter}")?;
    }
    for when in &rule.when {
        writeln!(out, "  when:    {}", escape(&condition(when)?))?;
    }
    for example in &rule.fires {
        writeln!(out, "  fires:   {}", escape(example))?;
    }
    for example in &rule.silent {
        writeln!(out, "  silent:  {}", escape(example))?;
    }
    Ok(())
}
