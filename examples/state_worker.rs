//! One process that uses a session's state as a hook call does. Not part of the product: tests/state_*.rs run many of it.
//! `call DIR SESSION LIMIT` adds a call unless LIMIT calls lie inside the window, and exits with 0 (passed), 2 (denied) or
//! 4 (fault); `calls DIR SESSION FILE` adds call after call until it is killed, and writes each that was acknowledged as
//! a line to FILE; `amend DIR SESSION FILE` changes the document instead.
#![allow(clippy::print_stderr, clippy::expect_used, reason = "a program for tests")]

use std::fs::OpenOptions;
use std::io::Write;
use std::process::ExitCode;

use lazaret::domain::{Client, Entry, Fault, Outcome, SessionId, Subject, Verdict};
use lazaret::host::state::{Look, Store, amend, update};
use lazaret::host::{clock, guard};

const LOOK: Look = Look { records: 200, window_ms: 60_000 };

fn main() -> ExitCode {
    guard::arm(60_000);
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [how, dir, session, more] = args.as_slice() else { return ExitCode::from(99) };
    let store = Store::new(dir).waiting(20_000);
    let session = SessionId::new(session).expect("a session");
    let subject = Subject { client: Client::ClaudeCode, session, agent: None, agent_type: None };
    let done = match how.as_str() {
        "call" => call(&store, &subject, more.parse().expect("a limit")),
        "calls" => calls(&store, &subject, more),
        "amend" => amends(&store, &subject, more),
        _ => return ExitCode::from(99),
    };
    done.unwrap_or_else(|fault| {
        eprintln!("{fault}");
        ExitCode::from(4)
    })
}

fn entry(call: u64, verdict: Verdict) -> Entry {
    let outcome = Outcome::Pending;
    Entry { action: 1, agent: 0, tool: 2, call, verdict, outcome, writes: false, file_operation: true }
}

fn call(store: &Store, subject: &Subject, limit: usize) -> Result<ExitCode, Fault> {
    update(store, subject, clock::now(), LOOK, |stand| {
        let inside = stand.history.iter().filter(|past| past.age_ms < LOOK.window_ms).count();
        let passes = inside < limit && !stand.lacks(LOOK.window_ms);
        let entry = passes.then(|| entry(1, Verdict::Allow));
        (if passes { ExitCode::SUCCESS } else { ExitCode::from(2) }, entry)
    })
}

fn calls(store: &Store, subject: &Subject, told: &str) -> Result<ExitCode, Fault> {
    let mut told = OpenOptions::new().append(true).create(true).open(told).expect("a file");
    let first = u64::from(std::process::id()) << 32;
    for call in first.. {
        update(store, subject, clock::now(), Look { records: 200, window_ms: 0 }, |_| {
            ((), Some(entry(call, Verdict::Allow)))
        })?;
        told.write_all(format!("{call}\n").as_bytes()).expect("to tell");
    }
    Ok(ExitCode::SUCCESS)
}

fn amends(store: &Store, subject: &Subject, told: &str) -> Result<ExitCode, Fault> {
    let mut told = OpenOptions::new().append(true).create(true).open(told).expect("a file");
    loop {
        let goals = amend(store, subject, clock::now(), |document| {
            let next = document
                .behaviour
                .purpose
                .words
                .first()
                .and_then(|goal| goal.parse::<u64>().ok())
                .unwrap_or(0)
                + 1;
            document.behaviour.purpose.words = vec![next.to_string()];
            document.prompts += 1;
            next
        })?;
        told.write_all(format!("{goals}\n").as_bytes()).expect("to tell");
        // And away with it: the next one is made from nothing.
        if goals.is_multiple_of(3) {
            amend(store, subject, clock::now(), |document| document.behaviour.purpose.words.clear())?;
        }
    }
}
