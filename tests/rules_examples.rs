//! Every built-in rule against its own examples, in a made-up world, through the survey and the matcher.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::collections::HashSet;

use lazaret::domain::{Policy, Verdict};
use lazaret::rules::{Instead, all, find, fixture};

fn fired(example: &str) -> Vec<String> {
    fixture::reasons(example, &Policy::default()).into_iter().map(|reason| reason.rule).collect()
}

/// Fails with everything that is wrong, not only the first.
fn report(wrong: &[String]) {
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_rule_fires_on_its_examples() {
    let mut wrong = Vec::new();
    for rule in all() {
        for example in rule.fires {
            let fired = fired(example);
            if !fired.iter().any(|id| id == rule.id) {
                wrong.push(format!("{}: {example}\n    fired: {fired:?}", rule.id));
            }
        }
    }
    report(&wrong);
}

#[test]
fn every_rule_is_silent_on_its_near_misses() {
    let mut wrong = Vec::new();
    for rule in all() {
        for example in rule.silent {
            if fired(example).iter().any(|id| id == rule.id) {
                wrong.push(format!("{}: {example}", rule.id));
            }
        }
    }
    report(&wrong);
}

#[test]
fn every_way_out_that_is_a_command_is_let_through() {
    let mut wrong = Vec::new();
    for rule in all() {
        let Some(Instead::Command(command)) = rule.instead else { continue };
        let strict: Vec<_> = fixture::reasons(command, &Policy::default())
            .into_iter()
            .filter(|reason| reason.verdict > Verdict::Warn)
            .map(|reason| reason.rule)
            .collect();
        if !strict.is_empty() {
            wrong.push(format!("{}: {command} gives {strict:?}", rule.id));
        }
    }
    report(&wrong);
}

#[test]
fn the_table_holds_together() {
    let mut ids = HashSet::new();
    for rule in all() {
        assert!(ids.insert(rule.id), "{} stands twice", rule.id);
        assert_eq!(find(rule.id).map(|found| found.id), Some(rule.id));
        let (subject, name) = rule.id.split_once('.').expect("an id is subject.name");
        let plain = |text: &str| {
            !text.is_empty()
                && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        };
        assert!(plain(subject) && plain(name), "{}", rule.id);
        assert!(rule.fires.len() >= 2 && rule.silent.len() >= 2, "{}: too few examples", rule.id);
        assert!(!rule.reason.is_empty() && !rule.reason.ends_with('.'), "{}: {}", rule.id, rule.reason);
        assert!(rule.reason.chars().next().is_some_and(char::is_lowercase), "{}: {}", rule.id, rule.reason);
        assert!(rule.instead.is_some_and(|instead| !instead.text().is_empty()), "{}: no way out", rule.id);
        assert!(rule.verdict > Verdict::Allow, "{} says nothing", rule.id);
        assert!(
            rule.rewriter.is_none() || rule.verdict == Verdict::Modify,
            "{}: only what is modified is rewritten",
            rule.id
        );
        let silent: HashSet<_> = rule.silent.iter().collect();
        assert!(rule.fires.iter().all(|example| !silent.contains(example)), "{}: both", rule.id);
    }
    assert!(ids.len() >= 150, "only {} rules", ids.len());
}

#[test]
fn what_matched_is_quoted_and_short() {
    let long = format!("git reset --hard {}", "x".repeat(1000));
    let reasons = fixture::reasons(&long, &Policy::default());
    let reason = reasons.iter().find(|reason| reason.rule == "git.reset-hard").expect("it fires");
    assert!(reason.matched.starts_with("git reset --hard"), "{}", reason.matched);
    assert!(reason.matched.len() <= 200 + '…'.len_utf8(), "{}", reason.matched.len());
}

#[test]
fn rules_can_be_switched_off() {
    use lazaret::domain::BuiltinRules;
    let with = |change: &dyn Fn(&mut Policy)| {
        let mut policy = Policy::default();
        change(&mut policy);
        fixture::reasons("git reset --hard", &policy).iter().any(|reason| reason.rule == "git.reset-hard")
    };
    assert!(with(&|_| {}));
    assert!(!with(&|policy| policy.disabled_rules.push("git.reset-hard".to_owned())));
    assert!(!with(&|policy| policy.builtin_rules = BuiltinRules::None));
    assert!(!with(&|policy| policy.builtin_rules = BuiltinRules::Essential), "it is not critical");
    let mut policy = Policy { builtin_rules: BuiltinRules::Essential, ..Policy::default() };
    policy.disabled_rules.clear();
    assert!(fixture::reasons("rm -rf /", &policy).iter().any(|reason| reason.rule == "files.delete-root"));
}
