//! What the configuration opens: a gate that is registered and lets everything through is no gate.

use super::report::Report;
use crate::domain::{BuiltinRules, Exception, Policy, Verdict, names_id};
use crate::host::clock;
use crate::host::config::Explained;
use crate::review::exceptions;
use crate::rules::{self, Rule};

const SUBJECT: &str = "rules";

/// Says that the gate is open where the configuration leaves no rule that stops a call, and how many it switches off else.
pub fn examine(explained: &Explained, report: &mut Report) {
    let policy = &explained.policy;
    if !policy.enabled {
        return open(explained, "reviewer.enabled", "no call of an ordinary agent is looked at", report);
    }
    let stopping = || rules::all().filter(|rule| rule.verdict != Verdict::Warn);
    match policy.builtin_rules {
        BuiltinRules::None => {
            return open(explained, "rules.builtin", "every built-in rule is off", report);
        }
        BuiltinRules::Essential => {
            report.note(SUBJECT, "rules.builtin: only those of severity critical are on");
        }
        BuiltinRules::All => {}
    }
    let disabled = |rule: &&Rule| policy.disabled_rules.iter().any(|named| names_id(named, rule.id));
    let (all, off) = (stopping().count(), stopping().filter(disabled).count());
    let left: Vec<&Rule> = stopping().filter(|rule| !disabled(rule) && !is_excepted(rule, policy)).collect();
    // What guards the guard has no exceptions, and stops nothing else.
    let only_itself = left.iter().all(|rule| exceptions::is_fixed(rule.id));
    match (left.is_empty(), only_itself) {
        (true, _) => return open(explained, "rules.disabled", "every rule that stops a call is off", report),
        (false, true) => {
            let why = "every rule that stops a call is off or excepted, but those that guard lazaret itself";
            return open(explained, "rules.disabled", why, report);
        }
        (false, false) => {}
    }
    if off > 0 {
        let message = format!("rules.disabled: {off} of the {all} rules that stop a call are off");
        report.note(SUBJECT, message);
    }
}

fn open(explained: &Explained, key: &str, why: &str, report: &mut Report) {
    let set = explained.values.iter().find(|one| one.key.name == key).and_then(|one| one.from.first());
    let file = set.and_then(|at| explained.layers.get(*at)).map(|layer| layer.path.as_str());
    let place = file.map_or_else(|| "the configuration".to_owned(), str::to_owned);
    report.fail(SUBJECT, format!("the gate is open: {key}: {why}"), &format!("remove {key} from {place}"));
}

/// Whether an exception without any condition lets the rule's calls run now.
fn is_excepted(rule: &Rule, policy: &Policy) -> bool {
    let now_s = clock::now().unix_ms / 1000;
    let everywhere = |one: &&Exception| {
        let bare = one.paths.is_empty() && one.repository.is_none() && one.tool.is_none();
        one.rule == rule.id && bare && one.command.is_none() && one.agent.is_none()
    };
    let counts = |one: &Exception| exceptions::objection(one, rule.severity, policy, now_s).is_none();
    policy.exceptions.iter().filter(everywhere).any(counts)
}
