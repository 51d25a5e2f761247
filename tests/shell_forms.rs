//! Ways of the shell to run what does not stand where commands stand, and ordinary uses of the same: tests/shell_forms.txt.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

#[path = "corpus/mod.rs"]
mod corpus;

use corpus::{PROJECT, command_verdict};
use lazaret::domain::{Policy, Verdict};

const FORMS: &str = include_str!("shell_forms.txt");

/// The lines that begin with this word, and what stands behind it; `\n` is a newline.
fn forms(word: &str) -> Vec<String> {
    let behind = |line: &str| line.strip_prefix(word)?.strip_prefix(' ').map(|line| line.replace("⏎", "\n"));
    FORMS.lines().filter_map(behind).collect()
}

/// The lines of that word whose verdict is none of those that are meant.
fn others(word: &str, is_meant: impl Fn(Verdict) -> bool) -> Vec<String> {
    let said = |line: &String| command_verdict(line, PROJECT, &Policy::default());
    let all = forms(word).into_iter().map(|line| (said(&line), line));
    all.filter(|(said, _)| !is_meant(*said)).map(|(said, line)| format!("{}: {line}", said.name())).collect()
}

#[test]
fn every_line_says_what_is_meant() {
    let known = |line: &&str| {
        line.is_empty()
            || ["#", "block ", "asked ", "quiet ", "warned "].iter().any(|word| line.starts_with(word))
    };
    let strange: Vec<&str> = FORMS.lines().filter(|line| !known(line)).collect();
    assert!(strange.is_empty(), "{strange:?}");
    assert!(forms("block").len() >= 240, "{}", forms("block").len());
    assert!(forms("quiet").len() >= 140, "{}", forms("quiet").len());
}

#[test]
fn a_command_is_found_in_every_form() {
    let missed = others("block", |said| said == Verdict::Block);
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn what_names_code_is_asked_about() {
    let missed = others("asked", |said| said >= Verdict::Modify);
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn ordinary_uses_are_let_through() {
    let stopped = others("quiet", |said| said == Verdict::Allow);
    assert!(stopped.is_empty(), "{}", stopped.join("\n"));
    let wrong = others("warned", |said| said == Verdict::Warn);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
