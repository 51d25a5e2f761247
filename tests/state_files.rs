//! The state on the disk: what is damaged is kept and told, never taken for empty; what is foreign is refused.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod entries;
mod programs;
mod worker;

use std::fs;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use entries::{entry, subject};
use lazaret::domain::{
    Client, Entry, Fault, FaultKind, Mark, Marks, Origin, Outcome, Reach, Stand, Subject, Throttle,
};
use lazaret::host::clock::Now;
use lazaret::host::state::{
    CAPACITY, Document, Kept, Look, Reported, Store, amend, glance, known, look, remember, reported, update,
};
use worker::worker;

const LOOK: Look = Look { records: 200, window_ms: 60_000 };
const NOW: Now = Now { unix_ms: 1_700_000_000_000, boot_ms: 5_000_000 };
const DAY_MS: u64 = 24 * 60 * 60 * 1000;
const RECORDS_AT: u64 = 4096;
const RECORD: u64 = 64;

/// Whether a call is remembered whose end is reported.
fn finish(store: &Store, subject: &Subject, call: u64, outcome: Outcome, now: Now) -> Result<bool, Fault> {
    let told = reported(store, subject, now, Reported { call, outcome, seen: 0, background: false }, |_| {
        ((), None)
    })?;
    Ok(told.is_some_and(|((), verdict)| verdict.is_some()))
}

struct Place {
    dir: tempfile::TempDir,
    store: Store,
}

impl Place {
    fn new() -> Place {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(dir.path()).waiting(50);
        Place { dir, store }
    }

    fn sessions(&self) -> PathBuf {
        self.dir.path().join("sessions")
    }

    fn ring(&self) -> PathBuf {
        self.sessions().join("claude-code-s.ring")
    }

    fn document(&self) -> PathBuf {
        self.sessions().join("claude-code-s.json")
    }

    fn add(&self, call: u64, now: Now) -> Result<(), Fault> {
        update(&self.store, &subject("s"), now, LOOK, |_| ((), Some(entry(call))))
    }

    /// A call of one of many agents, decided on without a look back.
    fn add_of(&self, agent: u64, call: u64, now: Now) -> Result<(), Fault> {
        let entry = Entry { agent, ..entry(call) };
        update(&self.store, &subject("s"), now, Look { records: 0, window_ms: 0 }, |_| ((), Some(entry)))
    }

    fn stand(&self, now: Now) -> Result<Stand, Fault> {
        look(&self.store, &subject("s"), now, LOOK)
    }

    fn kept(&self) -> Vec<PathBuf> {
        let names = fs::read_dir(self.sessions()).unwrap().flatten().map(|entry| entry.path());
        names.filter(|path| path.to_str().unwrap().contains(".damaged-")).collect()
    }
}

fn later(ms: u64) -> Now {
    Now { unix_ms: NOW.unix_ms + ms, boot_ms: NOW.boot_ms + ms }
}

fn flip(path: &Path, at: u64) {
    let file = fs::OpenOptions::new().read(true).write(true).open(path).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, at).unwrap();
    file.write_all_at(&[!byte[0]], at).unwrap();
}

#[test]
fn a_session_remembers_its_calls_newest_first() {
    let place = Place::new();
    for call in 1..=3 {
        place.add(call, later(call * 1000)).unwrap();
    }
    let stand = place.stand(later(10_000)).unwrap();
    let told: Vec<_> = stand.history.iter().map(|past| (past.action, past.age_ms, past.writes)).collect();
    assert_eq!(told, [(30, 7000, false), (20, 8000, true), (10, 9000, false)]);
    assert_eq!((stand.calls, stand.missing_ms, stand.stopped), (3, None, None));
    assert_eq!(look(&place.store, &subject("other"), NOW, LOOK).unwrap(), Stand::default());
}

#[test]
fn what_is_made_is_for_its_owner_only() {
    let place = Place::new();
    place.add(1, NOW).unwrap();
    amend(&place.store, &subject("s"), NOW, |document| document.behaviour.purpose.words.push("g".to_owned()))
        .unwrap();
    for (path, mode) in [(place.sessions(), 0o700), (place.ring(), 0o600), (place.document(), 0o600)] {
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, mode, "{}", path.display());
    }
}

#[test]
fn looking_makes_and_changes_nothing() {
    let place = Place::new();
    assert_eq!(place.stand(NOW).unwrap(), Stand::default());
    assert!(!place.sessions().exists());
    place.add(1, NOW).unwrap();
    let before = fs::read(place.ring()).unwrap();
    update(&place.store, &subject("s"), NOW, LOOK, |_| ((), None)).unwrap();
    amend(&place.store, &subject("s"), NOW, |document| document.behaviour.purpose.words.clear()).unwrap();
    assert!(!finish(&place.store, &subject("s"), 99, Outcome::Done, NOW).unwrap());
    place.stand(NOW).unwrap();
    assert_eq!(fs::read(place.ring()).unwrap(), before);
    assert_eq!(fs::read_dir(place.sessions()).unwrap().count(), 1);
}

#[test]
fn an_outcome_is_put_where_its_call_is() {
    let place = Place::new();
    for call in 1..=200 {
        place.add(call, NOW).unwrap();
    }
    assert!(finish(&place.store, &subject("s"), 2, Outcome::Failed, NOW).unwrap());
    assert!(finish(&place.store, &subject("s"), 199, Outcome::Done, NOW).unwrap());
    assert!(!finish(&place.store, &subject("s"), 0, Outcome::Done, NOW).unwrap());
    assert!(!finish(&place.store, &subject("none"), 1, Outcome::Done, NOW).unwrap());
    let history = place.stand(NOW).unwrap().history;
    let told: Vec<_> = history.iter().filter(|past| past.outcome != Outcome::Pending).collect();
    assert_eq!(
        told.iter().map(|past| (past.action, past.outcome)).collect::<Vec<_>>(),
        [(1990, Outcome::Done), (20, Outcome::Failed)]
    );
    assert_eq!(history.len(), 200);
}

#[test]
fn history_reaches_back_as_far_as_was_asked() {
    let place = Place::new();
    for call in 1..=300 {
        place.add(call, later(call * 1000)).unwrap();
    }
    let seen = |records, window_ms| {
        let stand = look(&place.store, &subject("s"), later(300_000), Look { records, window_ms }).unwrap();
        assert!(!stand.lacks(window_ms));
        stand.history.len()
    };
    assert_eq!(seen(200, 0), 200);
    assert_eq!(seen(10, 60_000), 61);
    assert_eq!(seen(0, 0), 1, "the one of this millisecond");
    assert_eq!(seen(200, 250_000), 251);
    assert_eq!(seen(200, u64::MAX), 300);
}

#[test]
fn a_ring_that_came_round_says_so_where_it_matters() {
    let place = Place::new();
    let calls = CAPACITY + 50;
    for call in 1..=calls {
        place.add_of(0, call, later(call * 10)).unwrap();
    }
    let now = later(calls * 10);
    let seen =
        |records, window_ms| look(&place.store, &subject("s"), now, Look { records, window_ms }).unwrap();
    // Across the place where the ring begins again.
    let stand = seen(200, 0);
    assert_eq!(stand.calls, calls);
    let actions: Vec<_> = stand.history.iter().map(|past| past.action / 10).collect();
    assert_eq!(actions, (calls - 199..=calls).rev().collect::<Vec<_>>());
    assert!(!stand.lacks(0), "nothing inside the window is missing");
    assert!(!seen(200, 10_000).lacks(10_000));
    let all = seen(200, u64::MAX);
    assert!(all.lacks(u64::MAX), "older calls are inside the window");
    assert_eq!(all.history.len() as u64, CAPACITY - 1);
    assert!(finish(&place.store, &subject("s"), calls, Outcome::Done, now).unwrap());
    assert!(!finish(&place.store, &subject("s"), 1, Outcome::Done, now).unwrap(), "it was overwritten");
}

/// A hundred calls a minute for each of a hundred and twenty agents of one session: every one of them is there to be counted.
#[test]
fn many_agents_at_once_do_not_wear_out_the_ring() {
    let place = Place::new();
    let (agents, each, minute) = (120_u64, 100_u64, 60_000_u64);
    for call in 0..agents * each {
        place.add_of(call % agents, call, later(call * minute / (agents * each))).unwrap();
    }
    let now = later(minute - 1);
    let stand = look(&place.store, &subject("s"), now, Look { records: 200, window_ms: minute }).unwrap();
    assert!(!stand.lacks(minute), "{:?}", stand.missing_ms);
    for agent in 0..agents {
        let counted = stand.history.iter().filter(|past| past.agent == agent).count() as u64;
        assert_eq!(counted, each, "agent {agent}");
    }
}

/// A ring that an earlier version made has less room, and is neither damaged nor lost.
#[test]
fn a_smaller_ring_of_an_earlier_version_goes_on() {
    let place = Place::new();
    place.add(1, later(1)).unwrap();
    let ring = place.ring();
    fs::OpenOptions::new().write(true).open(&ring).unwrap().set_len(4096 + 4096 * 64).unwrap();
    for call in 2..=4_200 {
        place.add_of(0, call, later(call * 10)).unwrap();
    }
    let seen = |window_ms| {
        look(&place.store, &subject("s"), later(42_000), Look { records: 200, window_ms }).unwrap()
    };
    assert_eq!((seen(1_000).calls, seen(u64::MAX).history.len()), (4_200, 4_095));
    assert!(!seen(10_000).lacks(10_000) && seen(u64::MAX).lacks(u64::MAX));
    assert_eq!(fs::metadata(&ring).unwrap().len(), 4096 + 4096 * 64);
}

#[test]
fn neither_a_clock_set_back_nor_a_new_start_opens_the_window() {
    let place = Place::new();
    for call in 1..=5 {
        place.add(call, NOW).unwrap();
    }
    let inside = |now| {
        let stand = place.stand(now).unwrap();
        stand.history.iter().filter(|past| past.age_ms < LOOK.window_ms).count()
    };
    let (unix_ms, boot_ms) = (NOW.unix_ms, NOW.boot_ms);
    assert_eq!(inside(Now { unix_ms: unix_ms - DAY_MS, boot_ms: boot_ms + 1000 }), 5, "set back a day");
    assert_eq!(inside(Now { unix_ms: unix_ms + DAY_MS, boot_ms: boot_ms + 1000 }), 5, "set forward a day");
    assert_eq!(inside(Now { unix_ms: unix_ms + 30_000, boot_ms: 7 }), 5, "started anew");
    assert_eq!(inside(Now { unix_ms: unix_ms - DAY_MS, boot_ms: 7 }), 5, "started anew and set back");
    assert_eq!(inside(Now { unix_ms: unix_ms - DAY_MS, boot_ms: boot_ms + 60_000 }), 0, "a minute did pass");
    assert_eq!(inside(Now { unix_ms: unix_ms + 60_000, boot_ms: 7 }), 0, "a minute did pass");
}

#[test]
fn a_damaged_record_is_there_and_young() {
    let place = Place::new();
    for call in 1..=4 {
        place.add(call, NOW).unwrap();
    }
    flip(&place.ring(), RECORDS_AT + RECORD + 40);
    let stand = place.stand(later(DAY_MS)).unwrap();
    let told: Vec<_> = stand.history.iter().map(|past| (past.damaged, past.age_ms)).collect();
    assert_eq!(told, [(false, DAY_MS), (false, DAY_MS), (true, 0), (false, DAY_MS)]);
    place.add(5, NOW).unwrap();
    assert_eq!(place.stand(NOW).unwrap().calls, 5);
}

#[test]
fn records_that_somebody_blanked_are_not_taken_for_none() {
    let place = Place::new();
    for call in 1..=100 {
        place.add(call, NOW).unwrap();
    }
    let file = fs::OpenOptions::new().write(true).open(place.ring()).unwrap();
    file.write_all_at(&vec![0; usize::try_from(100 * RECORD).unwrap()], RECORDS_AT).unwrap();
    let stand = place.stand(later(DAY_MS)).unwrap();
    let inside = stand.history.iter().filter(|past| past.damaged && past.age_ms < LOOK.window_ms).count();
    assert_eq!(inside, 100);
}

/// Whatever is wrong with the file as a whole: told once, kept byte by byte, and begun anew with the window closed.
fn begins_anew(place: &Place, says: &str) {
    let bytes = fs::read(place.ring()).unwrap();
    let looked = place.stand(later(1)).unwrap_err();
    assert_eq!((looked.kind, place.kept().len()), (FaultKind::State, 0), "looking repairs nothing");
    let fault = place.add(8, later(1)).unwrap_err();
    assert_eq!(fault.kind, FaultKind::State);
    assert!(fault.why.contains(says) && fault.hint.is_some(), "{fault}");
    let kept = place.kept();
    assert_eq!(kept.len(), 1, "{kept:?}");
    assert!(fault.why.contains(kept[0].to_str().unwrap()), "{fault}");
    let copied = fs::read(&kept[0]).unwrap();
    assert_eq!(copied, bytes[..bytes.len().min(1 << 20)]);
    assert_eq!(fs::metadata(&kept[0]).unwrap().permissions().mode() & 0o777, 0o600);
    place.add(9, later(2)).unwrap();
    let stand = place.stand(later(3)).unwrap();
    assert_eq!((stand.calls, stand.lacks(LOOK.window_ms)), (1, true), "what was before is not known");
    assert!(
        !place.stand(later(LOOK.window_ms + 2)).unwrap().lacks(LOOK.window_ms),
        "after the window it does not matter"
    );
}

#[test]
fn a_damaged_header_begins_anew() {
    let place = Place::new();
    place.add(1, NOW).unwrap();
    flip(&place.ring(), 16);
    begins_anew(&place, "header is damaged");
}

#[test]
fn a_file_without_our_mark_begins_anew() {
    let place = Place::new();
    place.add(1, NOW).unwrap();
    flip(&place.ring(), 0);
    begins_anew(&place, "header is damaged");
}

#[test]
fn a_foreign_version_begins_anew() {
    let place = Place::new();
    place.add(1, NOW).unwrap();
    let file = fs::OpenOptions::new().write(true).open(place.ring()).unwrap();
    file.write_all_at(&2_u64.to_le_bytes(), 8).unwrap();
    begins_anew(&place, "version 2");
}

#[test]
fn a_truncated_an_empty_and_an_oversize_file_begin_anew() {
    for length in [0, 100, 4096, 5000, 300_000, 2 << 20] {
        let place = Place::new();
        place.add(1, NOW).unwrap();
        fs::OpenOptions::new().write(true).open(place.ring()).unwrap().set_len(length).unwrap();
        begins_anew(&place, &format!("{length} bytes"));
    }
}

#[test]
fn a_symbolic_link_is_refused() {
    let place = Place::new();
    place.add(1, NOW).unwrap();
    let elsewhere = place.dir.path().join("elsewhere");
    fs::rename(place.ring(), &elsewhere).unwrap();
    symlink(&elsewhere, place.ring()).unwrap();
    let before = fs::read(&elsewhere).unwrap();
    let fault = place.add(2, NOW).unwrap_err();
    assert!(fault.kind == FaultKind::State && fault.why.contains("symbolic link"), "{fault}");
    assert_eq!(fs::read(&elsewhere).unwrap(), before);
}

#[test]
fn a_link_in_place_of_the_directory_is_refused() {
    let place = Place::new();
    let elsewhere = tempfile::tempdir().unwrap();
    symlink(elsewhere.path(), place.sessions()).unwrap();
    let fault = place.add(1, NOW).unwrap_err();
    assert!(fault.why.contains("not a directory of yours"), "{fault}");
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
}

#[test]
fn a_directory_and_a_pipe_in_place_of_the_file_are_refused() {
    let place = Place::new();
    fs::create_dir_all(place.ring()).unwrap();
    assert_eq!(place.add(1, NOW).unwrap_err().kind, FaultKind::State);
    fs::remove_dir(place.ring()).unwrap();
    assert!(Command::new("mkfifo").arg(place.ring()).status().unwrap().success());
    assert!(place.add(1, NOW).unwrap_err().why.contains("not a file"));
}

/// Only root can give a file away; anybody else cannot make this happen, and sees that the kernel refuses it.
#[test]
fn a_file_of_somebody_else_is_refused() {
    let place = Place::new();
    place.add(1, NOW).unwrap();
    let mine = fs::metadata(place.ring()).unwrap().uid();
    match chown(place.ring(), Some(mine + 1234), None) {
        Ok(()) => {
            let fault = place.add(2, NOW).unwrap_err();
            assert!(fault.why.contains(&format!("belongs to user {}", mine + 1234)), "{fault}");
        }
        Err(error) => assert!(mine != 0 && error.kind() == std::io::ErrorKind::PermissionDenied, "{error}"),
    }
}

#[test]
fn a_state_that_cannot_be_written_is_a_fault_with_a_hint() {
    // A directory in a file: not even root can make it.
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("state"), "").unwrap();
    let store = Store::new(dir.path().join("state"));
    let fault = update(&store, &subject("s"), NOW, LOOK, |_| ((), Some(entry(1)))).unwrap_err();
    assert_eq!(fault.kind, FaultKind::State);
}

/// As another user in a directory that is not theirs, when this is root; in one without write permission otherwise.
#[test]
fn a_read_only_directory_is_a_fault_and_nothing_passes() {
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("state_worker");
    programs::copy(worker("state_worker"), &program);
    let state = dir.path().join("state");
    fs::create_dir(&state).unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(&state, fs::Permissions::from_mode(0o555)).unwrap();
    let mut command = Command::new(&program);
    command.args(["call".as_ref(), state.as_os_str(), "s".as_ref(), "100".as_ref()]);
    if fs::metadata(dir.path()).unwrap().uid() == 0 {
        use std::os::unix::process::CommandExt;
        command.uid(65_534).gid(65_534);
    }
    let out = command.output().unwrap();
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.code() == Some(4) && said.contains("ermission denied"), "{:?} {said}", out.status);
}

#[test]
fn a_full_disk_is_a_fault_and_the_state_stays_whole() {
    let place = Place::new();
    place.add(1, NOW).unwrap();
    let program = worker("state_worker");
    let call = |limit: &str, session: &str| {
        let script = format!("ulimit -f {limit}; exec \"$0\" call \"$1\" {session} 100");
        Command::new("sh").arg("-c").arg(script).arg(&program).arg(place.dir.path()).output().unwrap()
    };
    // A file may not grow: neither a new ring nor a record in the one there is.
    for session in ["s", "new"] {
        let out = call("0", session);
        let said = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(4), "{said}");
        assert!(said.contains("too large"), "{said}");
    }
    assert_eq!(place.stand(NOW).unwrap().calls, 1);
    let names: Vec<_> = fs::read_dir(place.sessions()).unwrap().flatten().map(|e| e.file_name()).collect();
    assert_eq!(names, ["claude-code-s.ring"], "no temporary file stays");
    assert_eq!(call("unlimited", "s").status.code(), Some(0));
    assert_eq!(place.stand(NOW).unwrap().calls, 2);
}

/// Who only looks on neither waits for a call nor is waited for.
#[test]
fn a_glance_takes_no_lock() {
    let place = Place::new();
    let glanced = |now| glance(&place.store, &subject("s"), now).unwrap();
    assert_eq!(glanced(NOW), None, "it makes nothing");
    place.add(1, NOW).unwrap();
    amend(&place.store, &subject("s"), NOW, |document| {
        document.stopped = Some("a loop".to_owned());
        document.behaviour.held = Some("held".to_owned());
        let throttle = Throttle { calls: 3, until_ms: NOW.unix_ms + 500, pattern: "p".to_owned() };
        document.behaviour.throttle = Some(throttle);
    })
    .unwrap();
    let held = fs::File::open(place.ring()).unwrap();
    fs2::FileExt::try_lock_exclusive(&held).unwrap();
    let seen = glanced(NOW).unwrap();
    assert_eq!(
        (seen.calls, seen.stopped.as_deref(), seen.held.as_deref()),
        (1, Some("a loop"), Some("held"))
    );
    assert_eq!((seen.throttled, seen.waits()), (Some((3, NOW.unix_ms + 500)), true));
    assert_eq!(glanced(later(500)).unwrap().throttled, None, "its time is over");
    assert_eq!(
        known(&place.store, NOW).unwrap().iter().map(|(known, _)| &known.session).collect::<Vec<_>>(),
        [&subject("s").session]
    );
    drop(held);
    amend(&place.store, &subject("s"), NOW, |document| *document = Document::default()).unwrap();
    assert!(!glanced(NOW).unwrap().waits());
    fs::write(place.ring(), "damaged").unwrap();
    assert_eq!(glance(&place.store, &subject("s"), NOW).unwrap_err().kind, FaultKind::State);
    assert_eq!(place.kept(), Vec::<PathBuf>::new(), "it repairs nothing");
}

#[test]
fn a_lock_that_is_held_is_waited_for_and_then_a_fault() {
    let place = Place::new();
    place.add(1, NOW).unwrap();
    let held = fs::File::open(place.ring()).unwrap();
    fs2::FileExt::try_lock_exclusive(&held).unwrap();
    let fault = place.add(2, NOW).unwrap_err();
    assert!(fault.kind == FaultKind::Busy && fault.hint.is_some(), "{fault}");
    drop(held);
    place.add(2, NOW).unwrap();
    assert_eq!(place.stand(NOW).unwrap().calls, 2);
}

#[test]
fn odd_session_ids_have_files_of_their_own() {
    let place = Place::new();
    let long = "x".repeat(200);
    let ids = ["s", "S", "../s", "s/../s", "a b", "ü", ".", &long, "claude-code-s", "sha256"];
    for (count, id) in ids.iter().enumerate() {
        update(&place.store, &subject(id), NOW, LOOK, |stand| {
            assert_eq!(stand.calls, 0, "{id} shares a file");
            ((), Some(entry(1)))
        })
        .unwrap();
        assert_eq!(fs::read_dir(place.sessions()).unwrap().count(), count + 1, "{id}");
    }
    let opencode = Subject { client: Client::OpenCode, ..subject("s") };
    assert_eq!(look(&place.store, &opencode, NOW, LOOK).unwrap(), Stand::default());
}

#[test]
fn the_document_is_kept_and_goes_when_it_says_nothing() {
    let place = Place::new();
    let change = |f: &dyn Fn(&mut Document)| {
        amend(&place.store, &subject("s"), NOW, |document| f(document)).unwrap();
    };
    change(&|document| document.prompts += 1);
    assert!(!place.document().exists(), "counting needs no document");
    change(&|document| {
        document.stopped = Some("loop".to_owned());
        document.behaviour.purpose.words.push("tidy".to_owned());
        document.prompts += 1;
    });
    let stand = place.stand(later(1000)).unwrap();
    assert_eq!((stand.stopped.as_deref(), stand.prompts), (Some("loop"), 2));
    assert_eq!(stand.behaviour.purpose.words, ["tidy"]);
    place.add(1, NOW).unwrap();
    assert_eq!(place.stand(NOW).unwrap().stopped.as_deref(), Some("loop"));
    change(&|document| {
        document.stopped = None;
        document.behaviour.purpose.words.clear();
    });
    assert!(!place.document().exists());
    let stand = place.stand(NOW).unwrap();
    assert_eq!((stand.stopped, stand.prompts, stand.calls), (None, 2, 1));
}

/// A stop that cannot be read any more is still a stop.
#[test]
fn a_damaged_document_is_kept_and_stops_the_session() {
    let too_long = format!("{{\"version\":1,\"goals\":[\"{}\"]}}", "x".repeat(300_000));
    for bytes in ["", "{", "{\"version\":7}", "[]", "{\"version\":1,\"stopped\":5}", &too_long] {
        let place = Place::new();
        amend(&place.store, &subject("s"), NOW, |document| document.stopped = Some("loop".to_owned()))
            .unwrap();
        fs::write(place.document(), bytes).unwrap();
        assert!(place.stand(NOW).is_err());
        assert!(place.kept().is_empty(), "looking repairs nothing");
        let fault = place.add(1, NOW).unwrap_err();
        assert!(fault.kind == FaultKind::State && fault.hint.is_some(), "{fault}");
        assert_eq!(fs::read_to_string(&place.kept()[0]).unwrap(), bytes);
        assert!(place.stand(NOW).unwrap().stopped.is_some(), "{bytes:.40}");
    }
}

/// What a session is for has no say in a call that is about to run: the document is read, and its damage seen, by whoever asks for it.
#[test]
fn a_call_does_not_wait_for_what_it_has_no_use_for() {
    let place = Place::new();
    let change = |word: &str| {
        amend(&place.store, &subject("s"), NOW, |document| {
            document.behaviour.purpose.words.push(word.to_owned())
        })
    };
    change("tidy").unwrap();
    // What is remembered of a file is kept beside it, and read from then on.
    let mark = Mark { path: "/p/a".to_owned(), reach: Reach::File, origin: Origin::Secret };
    let mut marks = Marks::default();
    marks.add(mark);
    remember(&place.store, &subject("s"), NOW, LOOK, |_| {
        ((), Some(entry(1)), Kept { marks: Some(marks), ..Kept::default() })
    })
    .unwrap();
    let stand = place.stand(NOW).unwrap();
    assert_eq!((stand.behaviour.purpose.words, stand.marks.iter().count()), (vec!["tidy".to_owned()], 1));
    update(&place.store, &subject("s"), NOW, LOOK, |stand| {
        assert_eq!(stand.marks.iter().count(), 1);
        ((), Some(entry(2)))
    })
    .unwrap();
    amend(&place.store, &subject("s"), NOW, |document| document.marks.forget("/p/a")).unwrap();
    fs::write(place.document(), "{").unwrap();
    place.add(1, NOW).unwrap();
    assert!(change("up").unwrap_err().why.contains("damaged"));
    assert!(place.add(1, NOW).is_ok() && place.stand(NOW).unwrap().stopped.is_some());
}

#[test]
fn a_document_that_was_taken_away_stops_the_session() {
    let place = Place::new();
    amend(&place.store, &subject("s"), NOW, |document| document.stopped = Some("loop".to_owned())).unwrap();
    fs::remove_file(place.document()).unwrap();
    assert!(place.add(1, NOW).unwrap_err().why.contains("it is gone"));
    assert!(place.stand(NOW).unwrap().stopped.is_some());
}

#[test]
fn a_stop_outlives_its_ring() {
    let place = Place::new();
    amend(&place.store, &subject("s"), NOW, |document| document.stopped = Some("loop".to_owned())).unwrap();
    fs::remove_file(place.ring()).unwrap();
    update(&place.store, &subject("s"), NOW, LOOK, |stand| {
        assert_eq!(stand.stopped.as_deref(), Some("loop"));
        ((), Some(entry(1)))
    })
    .unwrap();
}

#[test]
fn a_link_in_place_of_the_document_is_refused() {
    let place = Place::new();
    amend(&place.store, &subject("s"), NOW, |document| document.stopped = Some("loop".to_owned())).unwrap();
    fs::remove_file(place.document()).unwrap();
    symlink("/dev/null", place.document()).unwrap();
    assert!(place.add(1, NOW).unwrap_err().why.contains("symbolic link"));
}
