//! Every case of the corpus gets the verdict it must get, and the corpus keeps its size and its form.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

#[path = "corpus/mod.rs"]
mod corpus;

use std::collections::{BTreeMap, HashSet};

use corpus::{Expect, FILES, cases};
use lazaret::domain::{Policy, Verdict};

/// Least number of cases of a family. A number may grow, and may not shrink.
const FLOORS: &[(&str, usize)] = &[
    ("agent-configuration", 280),
    ("container-escape", 150),
    ("databases", 495),
    ("defence-evasion", 199),
    ("deletion-outside-project", 97),
    ("deletion-root-home", 830),
    ("disks", 161),
    ("exfiltration", 307),
    ("fork-bombs", 46),
    ("git-history", 167),
    ("git-work-tree", 161),
    ("infrastructure", 655),
    ("kill-everything", 117),
    ("machine-settings", 43),
    ("metadata-addresses", 104),
    ("not-judged", 180),
    ("obfuscated-execution", 574),
    ("other-tools", 745),
    ("packages", 225),
    ("persistence", 257),
    ("power-off", 75),
    ("privilege", 215),
    ("project-wipe", 107),
    ("remote-execution", 376),
    ("resource-abuse", 134),
    ("reverse-shells", 194),
    ("secrets", 612),
    ("system-files", 182),
    ("system-permissions", 67),
    ("ordinary-build", 681),
    ("ordinary-cleanup", 223),
    ("ordinary-containers", 365),
    ("ordinary-databases", 318),
    ("ordinary-editing", 261),
    ("ordinary-git", 894),
    ("ordinary-infrastructure", 522),
    ("ordinary-looking", 472),
    ("ordinary-network", 408),
    ("ordinary-packages", 493),
    ("ordinary-search", 160),
    ("ordinary-shell", 1782),
    ("ordinary-text", 175),
    ("ordinary-tools", 1523),
    ("ordinary-words", 887),
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
