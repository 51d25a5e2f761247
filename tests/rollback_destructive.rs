//! Commands that lose work really run, each in a repository of its own, after the hook let them pass: a rollback gives back what
//! was said to be saved, and what it does not give back was said before.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod destructive;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use destructive::{Bench, Ended, Outcome};

/// Fewest commands that must have run.
const RUN: usize = 300;

fn commands() -> Vec<&'static str> {
    let table = include_str!("data/rollback_destructive.txt");
    let only = std::env::var("ROLLBACK_ONLY").unwrap_or_default();
    let wanted = |line: &&str| !line.is_empty() && !line.starts_with('#') && line.contains(&only);
    table.lines().filter(wanted).collect()
}

#[test]
fn each_command_stands_once_and_stays_in_its_directory() {
    let mut commands = commands();
    let all = commands.len();
    for command in &commands {
        let own = ["/dev/null", "/dev/zero", "/bin/rm"]
            .iter()
            .fold((*command).to_owned(), |text, known| text.replace(known, ""));
        for word in ["sudo", " ~", "=~", " /", "\"/", "=/", "http", "ssh"] {
            assert!(!own.contains(word), "{command}: holds {word}");
        }
    }
    commands.sort_unstable();
    commands.dedup();
    assert_eq!(commands.len(), all, "a command stands there twice");
}

#[test]
fn what_was_said_to_be_saved_comes_back_and_nothing_is_lost_silently() {
    let commands = commands();
    let outcomes = Mutex::new(Vec::new());
    let next = AtomicUsize::new(0);
    let workers = std::thread::available_parallelism().map_or(2, |n| n.get().min(4)) * 4;
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                let bench = Bench::new();
                while let Some(command) = commands.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let began = std::time::Instant::now();
                    let outcome = bench.run(command);
                    if std::env::var_os("ROLLBACK_VERBOSE").is_some() {
                        eprintln!("{:?}\t{}\t{:?}", outcome.ended, command, began.elapsed());
                        eprintln!("{}", outcome.fault().unwrap_or_default());
                    }
                    outcomes.lock().unwrap().push(outcome);
                }
            });
        }
    });
    let outcomes = outcomes.into_inner().unwrap();
    let count = |ended: Ended| outcomes.iter().filter(|outcome| outcome.ended == ended).count();
    let summary = format!(
        "{} silent, {} warned, {} asked about, {} blocked, {} without effect",
        count(Ended::Silent),
        count(Ended::Warned),
        count(Ended::Asked),
        count(Ended::Blocked),
        count(Ended::Void)
    );
    if std::env::var_os("ROLLBACK_VERBOSE").is_some() {
        let mut lines: Vec<String> =
            outcomes.iter().map(|o| format!("{:?}\t{}", o.ended, o.command)).collect();
        lines.sort();
        println!("{}", lines.join("\n"));
    }
    let mut faults: Vec<String> = outcomes.iter().filter_map(Outcome::fault).collect();
    faults.sort();
    assert!(faults.is_empty(), "{} of {}: {summary}\n{}", faults.len(), outcomes.len(), faults.join("\n"));
    let run = count(Ended::Silent) + count(Ended::Warned);
    println!("{summary}");
    assert!(run >= RUN || commands.len() < RUN, "only {run} ran: {summary}");
}
