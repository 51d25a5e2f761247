//! The user's own rules: what they must be besides well written, told by their own examples. Where they stand is the
//! configuration's affair, and the matcher judges by them as by the built-in ones.

use super::matcher::{View, all, find, matches, predicates, rewriter};
use super::{Rewriter, fixture};
use crate::domain::{Policy, Verdict, WrittenRule, WrittenWhen, clip, escape};

/// Longest piece of a rule's text that a message quotes, in bytes.
const SHOWN: usize = 100;

/// Everything that is wrong with a rule that is well written: names that nobody knows, and examples that do not do what they say.
pub fn problems(rule: &WrittenRule) -> Vec<String> {
    let mut wrong = Vec::new();
    if find(&rule.id).is_some() {
        let name = rule.id.split_once('.').map_or("", |(_, name)| name);
        wrong.push(format!(
            "a built-in rule has this id: give yours one of its own, such as `custom.{name}` (and switch the other off \
             with `rules.disabled` where yours is to take its place)"
        ));
    }
    wrong.extend(rule.when.iter().filter_map(unknown_predicate));
    if let Some(name) = &rule.rewriter {
        if rewriter(name).is_none() {
            let known = Rewriter::ALL.iter().map(|rewriter| rewriter.name());
            wrong.push(format!("no rewriter is called {}; {}", quoted(name), near(name, known)));
        } else if rule.verdict != Verdict::Modify {
            wrong.push("a rewriter is for the verdict \"modify\" alone".to_owned());
        }
    }
    // An example is told of a rule that can be asked.
    if wrong.is_empty() {
        wrong = examples(rule);
    }
    wrong
}

/// The examples that do not do what they say.
fn examples(rule: &WrittenRule) -> Vec<String> {
    let fires = rule
        .fires
        .iter()
        .filter(|example| !speaks(rule, example))
        .map(|example| format!("it stays silent on {}, which stands under `fires`", quoted(example)));
    let silent = rule
        .silent
        .iter()
        .filter(|example| speaks(rule, example))
        .map(|example| format!("it fires on {}, which stands under `silent`", quoted(example)));
    fires.chain(silent).collect()
}

/// Whether a rule matches an example, in the made-up world of the examples.
pub fn speaks(rule: &WrittenRule, example: &str) -> bool {
    let policy = Policy::default();
    let call = fixture::call(example);
    let (survey, facts) = fixture::survey_of(&call, &policy);
    matches(
        rule,
        &View { call: &call, cwd: fixture::PROJECT, survey: &survey, facts: &facts, policy: &policy },
    )
}

fn unknown_predicate(when: &WrittenWhen) -> Option<String> {
    match when {
        WrittenWhen::Predicate(name) if !predicates().any(|known| known == name) => Some(format!(
            "no condition of lazaret's is called {}; {}",
            quoted(name),
            near(name, predicates())
        )),
        WrittenWhen::Predicate(_)
        | WrittenWhen::Command(_)
        | WrittenWhen::Effect(_)
        | WrittenWhen::Flow(_)
        | WrittenWhen::Hosts(_)
        | WrittenWhen::Code(_)
        | WrittenWhen::Tool(_) => None,
    }
}

/// The rule whose id is most like this one.
pub fn nearest(id: &str) -> Option<&'static str> {
    let close = all().map(|rule| (strsim::normalized_damerau_levenshtein(rule.id, id), rule.id));
    close.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, id)| id)
}

fn near(name: &str, known: impl Iterator<Item = &'static str>) -> String {
    let close = known.map(|known| (strsim::normalized_damerau_levenshtein(known, name), known));
    match close.max_by(|a, b| a.0.total_cmp(&b.0)) {
        Some((likeness, known)) if likeness >= 0.5 => format!("did you mean {known:?}?"),
        Some(_) | None => "`lazaret rules --json` names them all".to_owned(),
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", escape(&clip(text, SHOWN)))
}
