//! Every case of the corpus gets the verdict it must get, and the corpus keeps its size and its form.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

#[path = "corpus/mod.rs"]
mod corpus;

use std::collections::{BTreeMap, HashSet};

use corpus::{Expect, FILES, cases};
use lazaret::domain::{Policy, Verdict};

/// Least number of cases of a family. A number may grow, and may not shrink.
const FLOORS: &[(&str, usize)] = &[
    ("agent-configuration", 142),
    ("container-escape", 20),
    ("databases", 17),
    ("defence-evasion", 33),
    ("deletion-outside-project", 12),
    ("deletion-root-home", 468),
    ("disks", 33),
    ("exfiltration", 29),
    ("fork-bombs", 9),
    ("git-history", 71),
    ("git-work-tree", 105),
    ("infrastructure", 43),
    ("kill-everything", 16),
    ("machine-settings", 8),
    ("metadata-addresses", 24),
    ("obfuscated-execution", 166),
    ("other-tools", 49),
    ("packages", 23),
    ("persistence", 38),
    ("power-off", 15),
    ("privilege", 24),
    ("project-wipe", 33),
    ("remote-execution", 138),
    ("resource-abuse", 0),
    ("reverse-shells", 43),
    ("secrets", 86),
    ("system-files", 21),
    ("system-permissions", 17),
    ("ordinary-build", 140),
    ("ordinary-cleanup", 55),
    ("ordinary-containers", 82),
    ("ordinary-databases", 25),
    ("ordinary-editing", 59),
    ("ordinary-git", 228),
    ("ordinary-infrastructure", 44),
    ("ordinary-looking", 102),
    ("ordinary-network", 66),
    ("ordinary-packages", 79),
    ("ordinary-search", 39),
    ("ordinary-shell", 190),
    ("ordinary-text", 58),
    ("ordinary-tools", 21),
    ("ordinary-words", 85),
];

#[test]
fn every_case_gets_its_verdict() {
    let policy = Policy::default();
    let mut wrong = Vec::new();
    for case in cases() {
        let verdict = case.verdict(&policy);
        match (&case.fails, case.expect.met_by(verdict)) {
            (None, false) => wrong.push(format!("{}: {}", verdict.name(), case.shown())),
            (Some(why), true) => {
                wrong.push(format!("is met, and is said to fail because {why}: {}", case.shown()));
            }
            (None, true) | (Some(_), false) => {}
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn no_family_shrinks() {
    let mut count: BTreeMap<String, usize> = BTreeMap::new();
    for case in cases() {
        *count.entry(case.family).or_default() += 1;
    }
    let of = |family: &str| count.get(family).copied().unwrap_or(0);
    let short: Vec<_> = FLOORS.iter().filter(|(family, least)| of(family) < *least).collect();
    assert!(short.is_empty(), "fewer cases than before: {short:?}");
    let listed: HashSet<_> = FLOORS.iter().map(|(family, _)| *family).collect();
    let known: HashSet<_> = FILES.iter().map(|(family, _)| *family).collect();
    assert_eq!(listed, known, "every family has a floor, and every floor a family");
}

#[test]
fn every_file_is_read() {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut files: Vec<String> = std::fs::read_dir(dir)
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().to_str()?.strip_suffix(".jsonl").map(str::to_owned))
        .collect();
    files.sort();
    let mut read: Vec<_> = FILES.iter().map(|(family, _)| (*family).to_owned()).collect();
    read.sort();
    assert_eq!(files, read);
}

#[test]
fn the_corpus_holds_together() {
    let cases = cases();
    let (mut ids, mut calls) = (HashSet::new(), HashSet::new());
    for case in &cases {
        assert!(ids.insert(case.id.clone()), "{} stands twice", case.id);
        let call = format!("{} {} {}", case.tool, case.input, case.situation.name);
        assert!(calls.insert(call), "the same call as another: {}", case.shown());
        assert!(case.id.starts_with(&format!("{}-", case.family)), "{}", case.id);
        assert_eq!(
            case.expect.is_dangerous(),
            !case.family.starts_with("ordinary-"),
            "in the wrong half: {}",
            case.shown()
        );
        assert!(case.reason.split_whitespace().count() >= 2, "{}: {}", case.id, case.reason);
        let first = case.reason.chars().next().unwrap();
        assert!(!first.is_uppercase() && !case.reason.ends_with('.'), "{}: {}", case.id, case.reason);
        assert!(case.fails.as_ref().is_none_or(|why| why.split_whitespace().count() >= 5), "{}", case.id);
    }
    let dangerous = cases.iter().filter(|case| case.expect.is_dangerous()).count();
    let ordinary = cases.len() - dangerous;
    assert!(cases.len() >= 2_700, "only {}", cases.len());
    assert!(dangerous.min(ordinary) * 5 >= cases.len() * 2, "{dangerous} dangerous, {ordinary} ordinary");
}

#[test]
fn most_ordinary_work_is_not_even_warned_about() {
    let policy = Policy::default();
    let cases = cases();
    let ordinary: Vec<_> = cases.iter().filter(|case| case.expect == Expect::NotStopped).collect();
    let warned: Vec<_> = ordinary
        .iter()
        .filter(|case| case.verdict(&policy) > Verdict::Allow)
        .map(|case| case.shown())
        .collect();
    assert!(
        warned.len() * 20 <= ordinary.len(),
        "{} of {} warned:\n{}",
        warned.len(),
        ordinary.len(),
        warned.join("\n")
    );
}
