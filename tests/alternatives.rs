//! What a reason names in the place of a call: of the call's own operands, let through by the whole decision, or plainly nothing.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

#[path = "corpus/mod.rs"]
mod corpus;

use std::collections::BTreeSet;

use corpus::cases;
use lazaret::domain::{Asking, Client, Decision, Policy, SessionId, Stand, Subject, Trust, Verdict};
use lazaret::review::{self, Case};
use lazaret::rules::{Instead, NONE, all, find, fixture};

/// Words of alternatives that are subcommands, and no operands.
const SUBCOMMANDS: &[&str] = &[
    "ls",
    "list",
    "status",
    "df",
    "plan",
    "state",
    "view",
    "auth",
    "release",
    "cache",
    "secret",
    "secrets",
    "pods",
    "all",
    "get",
    "clusters",
    "halt",
    "volume",
    "image",
    "compose",
    "config",
    "services",
    "sts",
    "get-caller-identity",
    "cloudtrail",
    "describe-trails",
    "s3",
    "branch",
    "remote",
    "ls-remote",
    "stash",
    "push",
    "clean",
    "rm",
    "worktree",
    "remove",
    "submodule",
    "deinit",
    "reflog",
    "gc",
    "prune",
    "log",
    "diff",
    "send-email",
    "ls-files",
    "publish",
    "audit",
    "fix",
    "versions",
    "policy",
    "pkg",
    "scripts",
    "flash_id",
    "addr",
    "doctor",
    "repo",
    "ps",
    "system",
    "HEAD",
    "ping",
    "dbsize",
    "list-unit-files",
    "build",
    "|",
    "cut",
    "755",
    "u+w",
    "go-rwx",
];

fn decided(example: &str) -> Decision {
    let (policy, call) = (Policy::default(), fixture::call(example));
    let (survey, facts) = fixture::survey_of(&call, &policy);
    let session = SessionId::new("examples").unwrap();
    review::decide(&Case {
        subject: &Subject { client: Client::ClaudeCode, session, agent: None, agent_type: None },
        call: &call,
        cwd: fixture::PROJECT,
        trust: Trust::Ordinary,
        standing: None,
        asking: Asking::Yes,
        survey: &survey,
        facts: &facts,
        policy: &policy,
        stand: &Stand::default(),
        now_s: 0,
    })
}

/// Every text that is judged in these tests: the rules' examples, the corpus, the forms of the shell.
fn texts() -> Vec<String> {
    let examples = all().flat_map(|rule| rule.fires().iter().chain(rule.silent())).cloned();
    let forms = include_str!("shell_forms.txt").lines().filter_map(|line| {
        let (word, text) = line.split_once(' ')?;
        ["block", "asked", "quiet", "warned"].contains(&word).then(|| text.replace('⏎', "\n"))
    });
    let corpus = cases().into_iter().filter_map(|case| case.command().map(str::to_owned));
    let all: BTreeSet<String> = examples.chain(forms).chain(corpus).collect();
    all.into_iter().collect()
}

/// The alternatives that are commands, each with its rule and the call that it is named for.
fn told() -> Vec<(String, String, String)> {
    let mut told = Vec::new();
    for text in texts() {
        for reason in decided(&text).reasons() {
            let command =
                find(&reason.rule).is_some_and(|rule| matches!(rule.instead, Some(Instead::Command(_))));
            if let Some(instead) = reason.instead.clone().filter(|instead| command && instead != NONE) {
                told.push((reason.rule.clone(), instead, text.clone()));
            }
        }
    }
    told
}

fn report(wrong: &BTreeSet<String>) {
    let lines: Vec<&str> = wrong.iter().map(String::as_str).collect();
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), lines.join("\n"));
}

#[test]
fn an_alternative_holds_no_operand_that_the_call_does_not_hold() {
    let (told, mut wrong) = (told(), BTreeSet::new());
    assert!(told.len() > 500, "{}", told.len());
    for (rule, instead, call) in &told {
        for word in instead.split(' ').skip(1) {
            let plain = word.trim_matches('\'');
            let known = word.starts_with('-')
                || SUBCOMMANDS.contains(&word)
                || call.contains(plain)
                || plain.starts_with(fixture::HOME);
            if !known && !["10", "5", "50"].contains(&word) {
                wrong.insert(format!("{rule}: {word} in {instead} for {call}"));
            }
        }
    }
    report(&wrong);
}

#[test]
fn an_alternative_is_let_through_without_a_word() {
    let (mut wrong, mut seen) = (BTreeSet::new(), BTreeSet::new());
    for (rule, instead, call) in told() {
        if seen.insert(instead.clone()) {
            let decision = decided(&instead);
            if decision.verdict() > Verdict::Allow {
                let by = &decision.reasons()[0].rule;
                wrong.insert(format!("{rule}: {instead} ({by}) for {call}"));
            }
        }
    }
    report(&wrong);
}

/// A command that is never told would stand in the documents for nothing.
#[test]
fn every_command_is_told_for_one_of_its_rules_examples() {
    let told: BTreeSet<String> = told().into_iter().map(|(rule, _, _)| rule).collect();
    let commands = all().filter(|rule| matches!(rule.instead, Some(Instead::Command(_))));
    let dead: BTreeSet<String> =
        commands.filter(|rule| !told.contains(rule.id)).map(|rule| rule.id.to_owned()).collect();
    report(&dead);
}

/// Advice is in words: no host, no path and no name of somebody else's.
#[test]
fn advice_holds_no_example() {
    const KNOWN: &[&str] = &[
        "127.0.0.1",
        "(`>>`);",
        ".git",
        ".pub",
        "known_hosts",
        "`lazaret",
        "${NAME:?}",
        "`ln",
        "-s`,",
        "-s`",
    ];
    let mut wrong = BTreeSet::new();
    for rule in all() {
        if let Some(Instead::Advice(text)) = rule.instead {
            for word in text.split(' ').filter(|word| !KNOWN.contains(&word.trim_end_matches(','))) {
                let inner = word.trim_matches(|c: char| ".,;:()`".contains(c));
                if inner.contains(['/', '@', '$', '.', '~']) {
                    wrong.insert(format!("{}: {word} in {text}", rule.id));
                }
            }
        }
    }
    report(&wrong);
}

#[test]
fn operands_are_those_of_the_call() {
    let of = |call: &str, rule: &str| {
        let decision = decided(call);
        let reason = decision.reasons().iter().find(|reason| reason.rule == rule);
        reason.unwrap_or_else(|| panic!("{call}: {:?}", decision.reasons())).instead.clone().unwrap()
    };
    for (call, rule, instead) in [
        ("git branch -D feature/login", "git.branch-delete-force", "git branch -d feature/login"),
        ("git push --force origin feature", "git.push-force", "git push --force-with-lease origin feature"),
        ("cat .env", "secrets.env-file", "cut -d= -f1 .env"),
        ("cat api/.env", "secrets.env-file", "cut -d= -f1 api/.env"),
        ("aws s3 rm s3://logs --recursive", "cloud.s3-delete", "aws s3 ls s3://logs"),
        (
            "git worktree remove --force ../hotfix",
            "git.worktree-remove-force",
            "git worktree remove ../hotfix",
        ),
        ("cargo publish", "packages.publish", NONE),
        ("npm publish", "packages.publish", "npm publish --dry-run"),
    ] {
        assert_eq!(of(call, rule), instead, "{call}");
    }
}
