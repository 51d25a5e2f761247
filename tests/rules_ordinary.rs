//! Ordinary work: no rule says more than a warning to any of it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use lazaret::domain::{Policy, Verdict};
use lazaret::rules::fixture;

const ORDINARY: &str = include_str!("ordinary.txt");

/// The commands of the list: one a line, `\n` written out, `#` in front of remarks.
fn commands() -> Vec<String> {
    ORDINARY
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with("# "))
        .map(|line| line.replace("\\n", "\n"))
        .collect()
}

#[test]
fn ordinary_work_is_let_through() {
    let commands = commands();
    assert!(commands.len() >= 450, "only {}", commands.len());
    let mut wrong = Vec::new();
    for command in &commands {
        for reason in fixture::reasons(command, &Policy::default()) {
            if reason.verdict > Verdict::Warn {
                wrong.push(format!("{} ({}): {command}", reason.rule, reason.verdict.name()));
            }
        }
    }
    assert!(wrong.is_empty(), "{} false alarms:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn most_ordinary_work_is_not_even_warned_about() {
    let commands = commands();
    let warned: Vec<_> = commands
        .iter()
        .filter_map(|command| {
            fixture::reasons(command, &Policy::default())
                .first()
                .map(|reason| format!("{}: {command}", reason.rule))
        })
        .collect();
    assert!(
        warned.len() * 20 <= commands.len(),
        "{} of {} warned:\n{}",
        warned.len(),
        commands.len(),
        warned.join("\n")
    );
}
