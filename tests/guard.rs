//! However a hook call breaks, its exit code is 2: a client lets the call run on every other one.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod worker;

use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Output, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use worker::worker;

fn misbehave(how: &[&str]) -> Output {
    Command::new(worker("misbehave")).args(how).output().unwrap()
}

fn assert_blocked(out: &Output, says: &str) {
    let said = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(2), "{:?}: {said}", out.status);
    assert!(said.contains(says) && said.ends_with(": call blocked\n"), "{said}");
}

#[test]
fn without_a_fault_the_guard_is_not_seen() {
    let out = misbehave(&["nothing"]);
    assert_eq!((out.status.code(), out.stderr.as_slice()), (Some(0), &b""[..]));
}

#[test]
fn a_panic_ends_with_2_and_names_the_place_only() {
    let out = misbehave(&["panic"]);
    assert_blocked(&out, "lazaret: internal error at examples/misbehave.rs:");
    assert!(!String::from_utf8_lossy(&out.stderr).contains("on purpose"), "the message may hold anything");
}

#[test]
fn a_panic_without_a_standard_error_ends_with_2() {
    let program = worker("misbehave");
    let script = "exec \"$0\" panic 2>&- >&-";
    let status = Command::new("sh").arg("-c").arg(script).arg(program).status().unwrap();
    assert_eq!(status.code(), Some(2));
}

#[test]
fn a_stack_overflow_ends_with_2() {
    assert_blocked(&misbehave(&["overflow"]), "stack overflow");
}

#[test]
fn an_abort_ends_with_2() {
    assert_blocked(&misbehave(&["abort"]), "aborted");
}

#[test]
fn memory_without_end_ends_with_2() {
    for how in ["allocate", "allocate-at-once", "allocate-bounded"] {
        assert_blocked(&misbehave(&[how]), "aborted");
    }
}

#[test]
fn the_deadline_ends_with_2() {
    for how in ["hang", "spin"] {
        assert_blocked(&misbehave(&[how, "50"]), "deadline passed");
    }
}

#[test]
fn a_deadline_that_the_parent_blocked_ends_with_2_all_the_same() {
    let mut env = Command::new("env");
    env.arg("--block-signal=ALRM").arg(worker("misbehave")).args(["hang", "50"]);
    assert_blocked(&env.output().unwrap(), "deadline passed");
}

#[test]
fn signals_end_with_2() {
    let caught = [
        (Signal::TERM, "terminated"),
        (Signal::SEGV, "bad memory access"),
        (Signal::BUS, "bad memory access"),
        (Signal::ABORT, "aborted"),
        (Signal::ILL, "illegal instruction"),
        (Signal::XCPU, "processor time used up"),
        (Signal::ALARM, "deadline passed"),
    ];
    let program = worker("misbehave");
    for (signal, says) in caught {
        let (status, said) = signalled(&program, signal);
        assert_eq!((status.code(), status.signal()), (Some(2), None), "{signal:?}");
        assert!(said.contains(says), "{signal:?}: {said}");
    }
}

/// Sends the signal once the process catches SIGTERM, the last that the guard takes care of.
fn signalled(program: &Path, signal: Signal) -> (ExitStatus, String) {
    let mut child = Command::new(program).arg("hang").stderr(Stdio::piped()).spawn().unwrap();
    let armed = (0..2000).any(|_| {
        std::thread::sleep(Duration::from_millis(5));
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
        u64::from_str_radix(caught.trim(), 16).unwrap() & 1 << (Signal::TERM.as_raw() - 1) != 0
    });
    assert!(armed, "the guard was not armed in ten seconds");
    kill_process(Pid::from_child(&child), signal).unwrap();
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    (child.wait().unwrap(), said)
}

#[test]
fn a_file_that_may_not_grow_is_an_error_and_no_end() {
    let dir = tempfile::tempdir().unwrap();
    let script = "ulimit -f 1; exec \"$0\" write \"$1\"";
    let mut sh = Command::new("sh");
    sh.arg("-c").arg(script).arg(worker("misbehave")).arg(dir.path().join("big"));
    assert_eq!(sh.status().unwrap().code(), Some(7));
}

#[test]
fn a_panic_of_a_command_ends_with_1_and_one_line() {
    let out = misbehave(&["tool"]);
    let said = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(1), "{said}");
    assert!(said.starts_with("lazaret: internal error at ") && said.lines().count() == 1, "{said}");
}
