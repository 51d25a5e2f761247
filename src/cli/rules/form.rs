//! A rule as JSON and as TOML: the one form in which rules are exported and read.

use anyhow::Result;
use serde_json::{Value, json};

use crate::domain::{WrittenRule, WrittenWhen};

/// A rule whole; keys and shape are a contract.
pub fn json(rule: &WrittenRule) -> Value {
    json!({
        "id": rule.id,
        "domain": domain(rule),
        "verdict": rule.verdict,
        "severity": rule.severity,
        "reason": rule.reason,
        "instead": rule.instead,
        "rewriter": rule.rewriter,
        "when": rule.when,
        "fires": rule.fires,
        "silent": rule.silent,
    })
}

fn domain(rule: &WrittenRule) -> &str {
    rule.id.split_once('.').map_or("", |(domain, _)| domain)
}

/// A rule as it stands in a configuration file.
pub fn toml(rule: &WrittenRule) -> Result<String> {
    let text = |text: &str| ::toml::Value::String(text.to_owned()).to_string();
    let mut out = format!(
        "[[rules.custom]]\nid = {}\ndomain = {}\nverdict = {}\nseverity = {}\nreason = {}\n",
        text(&rule.id),
        text(domain(rule)),
        text(rule.verdict.name()),
        text(rule.severity.name()),
        text(&rule.reason)
    );
    if let Some(instead) = &rule.instead {
        out.push_str(&format!("instead = {}\n", ::toml::Value::try_from(instead)?));
    }
    if let Some(rewriter) = &rule.rewriter {
        out.push_str(&format!("rewriter = {}\n", text(rewriter)));
    }
    let conditions: Vec<String> =
        rule.when.iter().map(|when| Ok(format!("{{ {} }}", condition(when)?))).collect::<Result<_>>()?;
    list(&mut out, "when", conditions.into_iter());
    list(&mut out, "fires", rule.fires.iter().map(|example| text(example)));
    list(&mut out, "silent", rule.silent.iter().map(|example| text(example)));
    Ok(out)
}

/// A condition without the braces around it.
pub fn condition(when: &WrittenWhen) -> Result<String> {
    let text = ::toml::Value::try_from(when)?.to_string();
    let inner = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    Ok(inner.unwrap_or(&text).trim().to_owned())
}

fn list(out: &mut String, key: &str, items: impl Iterator<Item = String>) {
    out.push_str(&format!("{key} = [\n"));
    for item in items {
        out.push_str(&format!("  {item},\n"));
    }
    out.push_str("]\n");
}
