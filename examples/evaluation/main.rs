//! Measures, in the made-up world of the corpus, what docs/evaluation.md says: `cargo run --example evaluation -- mutations`
//! (dangerous cases written otherwise, harmless ones written otherwise; with `--missed` every one that went wrong).
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a tool for those who work on lazaret, run by hand"
)]

#[path = "../../tests/corpus/mod.rs"]
mod corpus;
#[path = "../../tests/corpus/mutate.rs"]
mod mutate;
#[path = "../../tests/corpus/rewrite.rs"]
mod rewrite;

use std::collections::BTreeMap;

use corpus::{Case, cases, command_verdict};
use lazaret::domain::{Policy, Verdict};
use mutate::{Aim, MUTATIONS};

/// How many were written otherwise, and how many of them were stopped and blocked.
#[derive(Default, Clone, Copy)]
struct Tally {
    written: usize,
    stopped: usize,
    blocked: usize,
}

impl Tally {
    fn count(&mut self, verdict: Verdict) {
        self.written += 1;
        self.stopped += usize::from(verdict > Verdict::Warn);
        self.blocked += usize::from(verdict == Verdict::Block);
    }

    fn row(self, name: &str) -> String {
        let share = |part: usize| 100.0 * part as f64 / self.written.max(1) as f64;
        let (stopped, blocked) = (share(self.stopped), share(self.blocked));
        format!("| {name} | {} | {stopped:.1} % | {blocked:.1} % |", self.written)
    }
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let missed = words.iter().any(|word| word == "--missed");
    let step = words.iter().find_map(|word| word.strip_prefix("--one-in=")?.parse().ok()).unwrap_or(1usize);
    if words.first().map(String::as_str) != Some("mutations") {
        println!("usage: evaluation mutations [--missed] [--one-in=N]");
        return;
    }
    let (dangerous, harmless): (Vec<Case>, Vec<Case>) = cases()
        .into_iter()
        .filter(|case| case.command().is_some())
        .partition(|case| case.expect.is_dangerous());
    measure(
        "Dangerous cases written otherwise",
        &dangerous,
        step,
        |_| true,
        |verdict| missed && verdict <= Verdict::Warn,
    );
    measure(
        "Harmless cases written otherwise, as one does without hiding anything",
        &harmless,
        step,
        |aim| aim == Aim::Plain,
        |verdict| missed && verdict > Verdict::Warn,
    );
}

fn measure(title: &str, cases: &[Case], step: usize, fits: fn(Aim) -> bool, shows: impl Fn(Verdict) -> bool) {
    let policy = Policy::default();
    let (mut by_family, mut by_mutation) = (BTreeMap::<&str, Tally>::new(), BTreeMap::<&str, Tally>::new());
    let mut all = Tally::default();
    for (number, case) in cases.iter().enumerate() {
        let command = case.command().unwrap_or_default();
        for (at, mutation) in MUTATIONS.iter().enumerate().filter(|(_, mutation)| fits(mutation.aim)) {
            if (at + number) % step != 0 {
                continue;
            }
            let Some(text) = (mutation.write)(command) else { continue };
            let verdict = command_verdict(&text, case.situation, &policy);
            if shows(verdict) {
                println!("{} {} [{}] {}", verdict.name(), case.id, mutation.name, text.replace('\n', "\\n"));
            }
            by_family.entry(&case.family).or_default().count(verdict);
            by_mutation.entry(mutation.name).or_default().count(verdict);
            all.count(verdict);
        }
    }
    println!("\n{title}\n\n| family | written | stopped | blocked |\n|---|--:|--:|--:|");
    for (family, tally) in &by_family {
        println!("{}", tally.row(family));
    }
    println!("{}", all.row("**all**"));
    println!("\n| way of writing | written | stopped | blocked |\n|---|--:|--:|--:|");
    for (name, tally) in &by_mutation {
        println!("{}", tally.row(name));
    }
}
