//! The golden files: every case of the corpus and every rule's example with its exact verdict, enforcement and rules, so that a change
//! shows each answer that it changed. After reading them: `LAZARET_UPDATE_GOLDEN=1 cargo test --test golden`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

#[path = "corpus/mod.rs"]
mod corpus;

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use lazaret::domain::{Asking, Client, Decision, Policy, SessionId, Stand, Subject, Trust};
use lazaret::review::{self, Case};
use lazaret::rules::{all, fixture};
use serde_json::{Value, json};

/// A file of calls of one's own, a JSON object with `command` on each line: their answers are held against the file beside it that
/// ends in `.golden`, which the first run writes.
const COMMANDS: &str = "LAZARET_GOLDEN_COMMANDS";
const UPDATE: &str = "LAZARET_UPDATE_GOLDEN";

/// What was decided, in one line.
fn answer(decision: &Decision) -> String {
    let mut rules: Vec<&str> = decision.reasons().iter().map(|reason| reason.rule.as_str()).collect();
    rules.sort_unstable();
    rules.dedup();
    format!("{}\t{}\t{}", decision.verdict().name(), decision.enforcement().name(), rules.join(" "))
}

fn example(text: &str, policy: &Policy) -> Decision {
    let session = SessionId::new("examples").unwrap();
    let subject = Subject { client: Client::ClaudeCode, session, agent: None, agent_type: None };
    let call = fixture::call(text);
    let (survey, facts) = fixture::survey_of(&call, policy);
    review::decide(&Case {
        subject: &subject,
        call: &call,
        cwd: fixture::PROJECT,
        trust: Trust::Ordinary,
        standing: None,
        asking: Asking::Yes,
        survey: &survey,
        facts: &facts,
        policy,
        stand: &Stand::default(),
        now_s: 0,
    })
}

/// Holds the answers against a file. Where they differ, they are written to `now`.
fn hold(golden: &Path, now: &Path, answers: &str) {
    if std::env::var_os(UPDATE).is_some() {
        fs::create_dir_all(golden.parent().unwrap()).unwrap();
        return fs::write(golden, answers).unwrap();
    }
    let before = fs::read_to_string(golden).unwrap_or_default();
    let before: std::collections::BTreeSet<&str> = before.lines().collect();
    let after: std::collections::BTreeSet<&str> = answers.lines().collect();
    let mut changed: Vec<(&str, &str)> = before.difference(&after).map(|line| (*line, "-")).collect();
    changed.extend(after.difference(&before).map(|line| (*line, "+")));
    changed.sort_unstable();
    if changed.is_empty() {
        return;
    }
    fs::write(now, answers).unwrap();
    let shown: String = changed.iter().fold(String::new(), |mut text, (line, sign)| {
        let _infallible = writeln!(text, "{sign} {line}");
        text
    });
    panic!(
        "{} lines are not those of {}; all answers are in {}\n{shown}",
        changed.len(),
        golden.display(),
        now.display()
    );
}

fn file(name: &str) -> (PathBuf, PathBuf) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    (
        root.join("tests/data/golden").join(name),
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("golden-{name}")),
    )
}

#[test]
fn every_case_of_the_corpus_is_answered_as_before() {
    let policy = Policy::default();
    let mut answers = String::new();
    for case in corpus::cases() {
        let decision = corpus::decide(&case.tool, &case.input, case.situation, &policy);
        writeln!(answers, "{}\t{}", case.id, answer(&decision)).unwrap();
    }
    let (golden, now) = file("corpus.txt");
    hold(&golden, &now, &answers);
}

#[test]
fn every_example_of_a_rule_is_answered_as_before() {
    let policy = Policy::default();
    let mut answers = String::new();
    for rule in all() {
        for (kind, examples) in [("fires", rule.fires()), ("silent", rule.silent())] {
            for text in examples {
                let shown = text.escape_debug();
                writeln!(answers, "{} {kind}: {shown}\t{}", rule.id, answer(&example(text, &policy)))
                    .unwrap();
            }
        }
    }
    let (golden, now) = file("examples.txt");
    hold(&golden, &now, &answers);
}

#[test]
fn commands_of_ones_own_are_answered_as_before() {
    let Some(path) = std::env::var_os(COMMANDS).map(PathBuf::from) else {
        println!("skipped: {COMMANDS} names no file");
        return;
    };
    let policy = Policy::default();
    let mut answers = String::new();
    for line in fs::read_to_string(&path).unwrap().lines() {
        let value: Value = serde_json::from_str(line).unwrap();
        let command = value.get("command").and_then(Value::as_str).expect("no command");
        let decision = corpus::decide("Bash", &json!({ "command": command }), corpus::PROJECT, &policy);
        writeln!(answers, "{}\t{}", command.escape_debug(), answer(&decision)).unwrap();
    }
    let (mut golden, mut now) = (path.clone().into_os_string(), path.into_os_string());
    golden.push(".golden");
    now.push(".now");
    let golden = PathBuf::from(golden);
    if golden.exists() {
        hold(&golden, Path::new(&now), &answers);
    } else {
        fs::write(golden, answers).unwrap();
    }
}
