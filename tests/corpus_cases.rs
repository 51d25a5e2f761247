//! Every case of the corpus gets the verdict it must get, and the corpus keeps its size and its form.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

#[path = "corpus/mod.rs"]
mod corpus;

use std::collections::{BTreeMap, HashSet};

use corpus::{Expect, FILES, cases};
use lazaret::domain::{Policy, Verdict};

/// Least number of cases of a family. A number may grow, and may not shrink.
const FLOORS: &[(&str, usize)] = &[
    ("agent-configuration", 154),
    ("container-escape", 49),
    ("databases", 167),
    ("defence-evasion", 50),
    ("deletion-outside-project", 29),
    ("deletion-root-home", 750),
    ("disks", 61),
    ("exfiltration", 49),
    ("fork-bombs", 27),
    ("git-history", 83),
    ("git-work-tree", 118),
    ("infrastructure", 256),
    ("kill-everything", 31),
    ("machine-settings", 10),
    ("metadata-addresses", 49),
    ("not-judged", 180),
    ("obfuscated-execution", 317),
    ("other-tools", 49),
    ("packages", 102),
    ("persistence", 75),
    ("power-off", 31),
    ("privilege", 54),
    ("project-wipe", 43),
    ("remote-execution", 148),
    ("resource-abuse", 29),
    ("reverse-shells", 64),
    ("secrets", 139),
    ("system-files", 74),
    ("system-permissions", 29),
    ("ordinary-build", 212),
    ("ordinary-cleanup", 60),
    ("ordinary-containers", 114),
    ("ordinary-databases", 79),
    ("ordinary-editing", 88),
    ("ordinary-git", 285),
    ("ordinary-infrastructure", 127),
    ("ordinary-looking", 161),
    ("ordinary-network", 106),
    ("ordinary-packages", 152),
    ("ordinary-search", 50),
    ("ordinary-shell", 498),
    ("ordinary-text", 77),
    ("ordinary-tools", 21),
    ("ordinary-words", 125),
];

/// Orders in words, to whomever and wherever they stand: let through without a word.
const PROSE: &str = "not-judged";

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
            !case.family.starts_with("ordinary-") && case.family != PROSE,
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
