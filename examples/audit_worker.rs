//! One process that writes audit lines. Not part of the product: tests/audit_log.rs runs many of it.
//! `DIR NAME COUNT MAX_BYTES`: COUNT lines of which each names NAME and its number, and has a text of changing length.
#![allow(clippy::print_stderr, clippy::expect_used, reason = "a program for tests")]

use std::path::Path;
use std::process::ExitCode;

use lazaret::domain::{AuditEvent, AuditPolicy, EventKind, Policy};
use lazaret::host::{audit, clock};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [dir, name, count, max_bytes] = args.as_slice() else { return ExitCode::from(99) };
    let count: usize = count.parse().expect("a number");
    let max_bytes = max_bytes.parse().expect("a number");
    let policy = AuditPolicy { max_bytes, ..Policy::default().audit };
    for number in 0..count {
        let (tool, action) = (format!("{name}-{number}"), "\"x\n".repeat(number * 37 % 2000));
        let event = AuditEvent {
            kind: EventKind::ActionAllowed,
            subject: None,
            cwd: "/w",
            tool: &tool,
            action: &action,
            call_id: None,
            decision: None,
            note: "",
            duration_us: 0,
        };
        if let Err(fault) = audit::append(Path::new(dir), &policy, clock::now(), &event) {
            eprintln!("{fault}");
            return ExitCode::from(4);
        }
    }
    ExitCode::SUCCESS
}
