//! Many processes in one review: the limit is exact, and a process killed at any moment leaves nothing that cannot be read
//! and no key.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "tests"
)]

mod moments;
mod station;
mod worker;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use lazaret::host::clock;
use lazaret::host::quarantine::{
    AgentState, VaultKind, Why, agents, end, enter, key, list, load, probe_own, sweep,
};
use moments::{Moments, kill};
use station::{Station, agent};
use worker::worker;

fn spawn(program: &Path, how: &str, station: &Station, what: &str, more: &str) -> Child {
    let home = station.dirs.runtime.parent().unwrap();
    let mut command = Command::new(program);
    command.arg(how).arg(home).arg(what).arg(more).env("LAZARET_KEYS", station.keys.name());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn of_20_at_once_exactly_5_get_in_ten_times() {
    let program = worker("quarantine_worker");
    for round in 0..10 {
        let station = Station::new();
        station.write("f", "text");
        let review = station.open(&["f"]).unwrap();
        let start = |number: i32| spawn(&program, "enter", &station, review.id.as_str(), &number.to_string());
        let children: Vec<Child> = (0..20).map(start).collect();
        let mut codes: BTreeMap<Option<i32>, usize> = BTreeMap::new();
        for child in children {
            let out = child.wait_with_output().unwrap();
            assert!(out.stderr.is_empty(), "{}", String::from_utf8_lossy(&out.stderr));
            if out.status.code() == Some(2) {
                assert_eq!(String::from_utf8_lossy(&out.stdout).trim(), "TooMany");
            }
            *codes.entry(out.status.code()).or_default() += 1;
        }
        assert_eq!(codes, BTreeMap::from([(Some(0), 5), (Some(2), 15)]), "round {round}");
        let rows = agents(&station.dirs, clock::now()).unwrap();
        assert_eq!(rows.iter().filter(|row| row.state == AgentState::Working).count(), 5);
        assert_eq!(rows.len(), 5, "who was refused is not in it");
    }
}

/// An empty room is nobody's: the sweep of another process takes it away, also between the moment it was made and its first use.
#[test]
fn a_sweep_takes_no_room_from_who_opens_in_it() {
    for round in 0..100 {
        let station = Station::new();
        station.write("f", "text");
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !done.load(Ordering::Relaxed) {
                        sweep(&station.dirs, clock::now()).unwrap();
                    }
                });
            }
            let opened = station.open(&["f"]);
            done.store(true, Ordering::Relaxed);
            assert!(opened.is_ok(), "round {round}: {:?}", opened.err());
        });
    }
}

#[test]
fn a_process_killed_while_it_enters_or_leaves_leaves_a_whole_register() {
    let program = worker("quarantine_worker");
    let station = Station::new();
    station.write("f", "text");
    let review = station.open(&["f"]).unwrap();
    let mut moments = Moments::over(Duration::from_millis(12));
    let mut grew = 0;
    for round in 0..60 {
        let before = agents(&station.dirs, clock::now()).unwrap().len();
        let start = |name| spawn(&program, "churn", &station, review.id.as_str(), name);
        let children = vec![start("a"), start("b")];
        std::thread::sleep(moments.next());
        kill(children);
        let rows = agents(&station.dirs, clock::now()).unwrap();
        moments.learn(rows.len() > before);
        grew += usize::from(rows.len() > before);
        let working = rows.iter().filter(|row| row.state == AgentState::Working).count();
        assert!(working <= 5, "round {round}: {working} at once");
        assert!(load(&station.dirs, &review.id).unwrap().is_some());
        // Those who were killed hold their places until they are given back.
        for row in rows.iter().filter(|row| row.state == AgentState::Working) {
            let killed = agent(&row.session, row.agent.as_ref().unwrap());
            lazaret::host::quarantine::leave(&station.dirs, &killed, clock::now()).unwrap();
        }
        let me = agent("me", "me");
        enter(&station.dirs, &me, Some(&review.id), clock::now(), 5).unwrap().unwrap();
    }
    assert!(grew > 20, "only {grew} rounds came to a call: the test shows nothing");
    assert!(!station.left().iter().any(|name| name.contains("damaged")), "{:?}", station.left());
}

#[test]
fn a_process_killed_while_it_opens_or_ends_leaves_nothing_half() {
    killed_while_it_opens_or_ends(&Station::new());
}

#[test]
fn nor_does_it_leave_a_key_in_the_keyring() {
    let memory = Path::new("/dev/shm");
    let disk = std::env::temp_dir();
    let base = if memory.is_dir() { memory } else { &disk };
    match probe_own() {
        Ok(_) => killed_while_it_opens_or_ends(&Station::at(base, VaultKind::Keyring)),
        Err(fault) => eprintln!("not tested: the keyring ({fault})"),
    }
}

fn killed_while_it_opens_or_ends(station: &Station) {
    let program = worker("quarantine_worker");
    for number in 0..20 {
        station.write(&format!("d{}/f{number}", number % 3), vec![b'x'; 2_000]);
    }
    let project = station.project.to_str().unwrap().to_owned();
    let mut moments = Moments::over(Duration::from_millis(80));
    let (mut halves, mut whole) = (0, 0);
    for round in 0..60 {
        let before = station.left();
        let children = vec![
            spawn(&program, "open", station, &project, "-"),
            spawn(&program, "open", station, &project, "-"),
        ];
        std::thread::sleep(moments.next());
        kill(children);
        let left = station.left();
        halves += left.iter().filter(|name| name.contains("/.") && name.matches('/').count() == 1).count();
        moments.learn(left != before);
        // The next call of any kind.
        let swept = sweep(&station.dirs, clock::now()).unwrap();
        assert!(swept.damaged.is_empty(), "round {round}: {swept:?}");
        for listed in list(&station.dirs).unwrap() {
            let session = listed.session.unwrap_or_else(|fault| panic!("round {round}: {fault}"));
            if session.ended.is_none() {
                assert_eq!((session.files, session.skipped), (20, 0));
                key(&station.dirs, &session).unwrap();
                let files = session.contents(&station.dirs).unwrap().unwrap().files;
                assert!(files.iter().all(|file| {
                    Path::new(&session.grounds().copy_of(&file.original).unwrap()).is_file()
                }));
                assert!(end(&station.dirs, &session.id, Why::Asked, clock::now()).unwrap());
            }
            whole += 1;
        }
        // No key, no salt, no copy.
        for name in station.left() {
            let harmless =
                ["sessions", "ended", "register.json"].contains(&name.as_str()) || name.ends_with(".json");
            assert!(harmless || name.ends_with(".json.new"), "round {round}: {name}");
        }
    }
    assert!(halves > 5 && whole > 0, "{halves} halves, {whole} whole: the test shows nothing");
}
