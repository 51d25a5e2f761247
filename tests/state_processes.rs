//! Many processes on one session: limits are exact, and a process killed at any moment loses nothing.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod moments;
mod worker;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use lazaret::domain::{Client, Entry, Outcome, SessionId, Subject, Verdict};
use lazaret::host::clock::{self, Now};
use lazaret::host::state::{Look, Store, look, update};
use moments::{Moments, kill};
use worker::worker;

const ALL: Look = Look { records: u64::MAX, window_ms: 0 };

fn subject() -> Subject {
    let session = SessionId::new("s").unwrap();
    Subject { client: Client::ClaudeCode, session, agent: None, agent_type: None }
}

fn spawn(program: &Path, how: &str, dir: &Path, more: &str) -> Child {
    let mut command = Command::new(program);
    command.arg(how).arg(dir).arg("s").arg(more).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn of_120_at_once_exactly_100_pass_ten_times() {
    let program = worker("state_worker");
    for round in 0..10 {
        let dir = tempfile::tempdir().unwrap();
        let children: Vec<Child> = (0..120).map(|_| spawn(&program, "call", dir.path(), "100")).collect();
        let mut codes: BTreeMap<Option<i32>, usize> = BTreeMap::new();
        for child in children {
            let out = child.wait_with_output().unwrap();
            assert!(out.stderr.is_empty(), "{}", String::from_utf8_lossy(&out.stderr));
            *codes.entry(out.status.code()).or_default() += 1;
        }
        assert_eq!(codes, BTreeMap::from([(Some(0), 100), (Some(2), 20)]), "round {round}");
        let stand = look(&Store::new(dir.path()), &subject(), clock::now(), ALL).unwrap();
        assert_eq!((stand.calls, stand.file_operations, stand.history.len()), (100, 100, 100));
        let names: Vec<_> = fs::read_dir(dir.path().join("sessions")).unwrap().collect();
        assert_eq!(names.len(), 1, "only the ring is left: {names:?}");
    }
}

/// So many processes that work until they are killed, and tell of it in this directory.
fn working(program: &Path, how: &str, number: usize, dir: &Path) -> Vec<Child> {
    let told = dir.join("told");
    (0..number).map(|_| spawn(program, how, dir, told.to_str().unwrap())).collect()
}

/// What they told.
fn told(dir: &Path) -> usize {
    fs::read_to_string(dir.join("told")).unwrap_or_default().lines().count()
}

#[test]
fn a_process_killed_at_any_moment_loses_no_call() {
    let dir = tempfile::tempdir().unwrap();
    let program = worker("state_worker");
    let mut moments = Moments::over(Duration::from_millis(12));
    let (mut acknowledged, mut rounds_with_calls) = (0, 0);
    for round in 0..100 {
        let children = working(&program, "calls", 2, dir.path());
        std::thread::sleep(moments.next());
        kill(children);
        let before = acknowledged;
        acknowledged = told(dir.path());
        moments.learn(acknowledged > before);
        rounds_with_calls += usize::from(acknowledged > before);
        let stand = look(&Store::new(dir.path()), &subject(), clock::now(), ALL).unwrap();
        let calls = usize::try_from(stand.calls).unwrap();
        // Each killed process may have added one call that it did not come to tell of.
        let untold = calls.checked_sub(acknowledged).expect("no call is lost");
        assert!(untold <= 2 * (usize::try_from(round).unwrap() + 1), "{calls} calls, {acknowledged} told");
        assert!(stand.history.iter().all(|past| !past.damaged), "round {round}");
        assert_eq!(stand.file_operations, stand.calls);
    }
    assert!(rounds_with_calls > 20, "only {rounds_with_calls} rounds came to a call: the test shows nothing");
    let names = fs::read_dir(dir.path().join("sessions")).unwrap().flatten();
    let damaged = names.filter(|entry| entry.file_name().to_string_lossy().contains("damaged")).count();
    assert_eq!(damaged, 0);
}

#[test]
fn a_process_killed_while_it_changes_the_document_leaves_a_whole_one() {
    let dir = tempfile::tempdir().unwrap();
    let program = worker("state_worker");
    let mut moments = Moments::over(Duration::from_millis(12));
    for round in 0..50 {
        let before = told(dir.path());
        let children = working(&program, "amend", 1, dir.path());
        std::thread::sleep(moments.next());
        kill(children);
        moments.learn(told(dir.path()) > before);
        let stand = look(&Store::new(dir.path()), &subject(), clock::now(), ALL).unwrap();
        assert_eq!(stand.stopped, None, "round {round}");
        assert!(stand.behaviour.purpose.words.iter().all(|goal| goal.parse::<u64>().is_ok()));
    }
    assert!(told(dir.path()) > 20);
}

/// What a killed process leaves between its two writes: the record, and a header that does not count it.
#[test]
fn a_record_that_the_header_does_not_count_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::new(dir.path());
    let add = |call: u64| {
        let entry = Entry {
            action: 1,
            agent: 0,
            tool: 2,
            call,
            verdict: Verdict::Allow,
            outcome: Outcome::Pending,
            writes: false,
            file_operation: true,
        };
        update(&store, &subject(), Now { unix_ms: call, boot_ms: call }, ALL, |_| ((), Some(entry))).unwrap();
    };
    add(1);
    let ring = dir.path().join("sessions/claude-code-s.ring");
    let header = fs::read(&ring).unwrap()[..4096].to_vec();
    add(2);
    let mut bytes = fs::read(&ring).unwrap();
    bytes[..4096].copy_from_slice(&header);
    fs::write(&ring, &bytes).unwrap();
    let stand = look(&store, &subject(), Now { unix_ms: 9, boot_ms: 9 }, ALL).unwrap();
    assert_eq!((stand.calls, stand.file_operations, stand.history.len()), (2, 2, 2));
    add(3);
    let stand = look(&store, &subject(), Now { unix_ms: 9, boot_ms: 9 }, ALL).unwrap();
    assert_eq!((stand.calls, stand.file_operations), (3, 3));
    assert_eq!(stand.history.iter().map(|past| past.age_ms).collect::<Vec<_>>(), [6, 7, 8]);
}
