//! A session's record, its end and what a sweep takes away; a damaged record is never "no session".
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "tests"
)]

mod station;

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use lazaret::host::clock;
use lazaret::host::quarantine::{MAX_OPEN, Session, Swept, Why, agents, end, enter, key, list, load, sweep};
use station::{Station, after, agent, is_root, unknown_id};

fn one() -> (Station, Session) {
    let station = Station::new();
    station.write("d/f", "text");
    let session = station.open(&["d"]).unwrap();
    (station, session)
}

fn record(station: &Station, session: &Session) -> PathBuf {
    station.room().join(format!("sessions/{}/record.json", session.id))
}

#[test]
fn what_was_opened_is_found_again() {
    let (station, session) = one();
    assert_eq!(load(&station.dirs, &session.id).unwrap().unwrap(), session);
    assert_eq!((session.ttl_s, session.timeout_s, session.ended), (3600, 300, None));
    assert_eq!(session.root, station.project.to_str().unwrap());
    assert_eq!(session.instructions.as_deref(), Some("look for secrets"));
    assert_eq!(load(&station.dirs, &unknown_id()).unwrap(), None);
    let listed = list(&station.dirs).unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!(*listed[0].session.as_ref().unwrap(), session);
    assert_ne!(station.open(&["d"]).unwrap().id, session.id);
}

#[test]
fn the_end_leaves_a_tombstone_and_nothing_else() {
    let (station, session) = one();
    let now = clock::now();
    assert!(end(&station.dirs, &session.id, Why::ClientEnded, now).unwrap());
    assert!(!end(&station.dirs, &session.id, Why::Asked, now).unwrap(), "it ends once");
    assert!(!end(&station.dirs, &unknown_id(), Why::Asked, now).unwrap());
    let tombstone = load(&station.dirs, &session.id).unwrap().unwrap();
    let ended = tombstone.ended.unwrap();
    assert_eq!((ended.why, ended.unix_ms), (Why::ClientEnded, now.unix_ms));
    assert_eq!((tombstone.entries.len(), tombstone.instructions.clone()), (1, None));
    assert_eq!(tombstone.contents(&station.dirs).unwrap(), None);
    let record = format!("ended/{}.json", session.id);
    assert_eq!(station.left(), ["ended", &record, "sessions"]);
    assert_eq!(list(&station.dirs).unwrap().len(), 1);
    // A day later it goes too, and the room with it.
    let old = SystemTime::now() - Duration::from_secs(25 * 3600);
    for path in [station.room().join(&record), station.room().join("ended")] {
        fs::File::open(path).unwrap().set_modified(old).unwrap();
    }
    assert_eq!(sweep(&station.dirs, clock::now()).unwrap(), Swept::default());
    assert!(!station.room().exists(), "{:?}", station.left());
    assert_eq!(load(&station.dirs, &session.id).unwrap(), None);
    // And a new one can be opened.
    assert!(station.open(&["d"]).is_ok());
}

#[test]
fn a_damaged_record_is_a_fault() {
    type Harm = fn(&Path);
    let harms: [(&str, Harm); 7] = [
        ("it is damaged", |path| fs::write(path, "{").unwrap()),
        ("it is damaged", |path| fs::write(path, r#"{"version":1,"content":{}}"#).unwrap()),
        ("version 2", |path| fs::write(path, r#"{"version":2,"content":{}}"#).unwrap()),
        ("it is gone", |path| fs::remove_file(path).unwrap()),
        ("longer than", |path| fs::write(path, vec![b' '; 2 << 20]).unwrap()),
        ("open to others", |path| fs::set_permissions(path, Permissions::from_mode(0o640)).unwrap()),
        ("symbolic link", |path| {
            fs::rename(path, path.with_extension("other")).unwrap();
            symlink("record.other", path).unwrap();
        }),
    ];
    for (told, harm) in harms {
        let (station, session) = one();
        harm(&record(&station, &session));
        let fault = load(&station.dirs, &session.id).unwrap_err();
        assert!(fault.message().contains(told), "{fault}");
        // Neither an agent nor a sweep takes it for anything else.
        let now = clock::now();
        assert!(enter(&station.dirs, &agent("s", "a"), Some(&session.id), now, 5).is_err(), "{told}");
        let swept = sweep(&station.dirs, now).unwrap();
        assert_eq!((swept.ended, swept.damaged), (Vec::new(), vec![session.id.clone()]), "{told}");
        assert!(list(&station.dirs).unwrap()[0].session.is_err());
        // A person can end it, and its key is gone.
        assert!(end(&station.dirs, &session.id, Why::Asked, now).unwrap());
        assert!(key(&station.dirs, &session).unwrap_err().message().contains("destroyed"));
        assert_eq!(load(&station.dirs, &session.id).unwrap().unwrap().ended.unwrap().why, Why::Asked);
        assert!(!record(&station, &session).exists());
    }
}

#[test]
fn another_sessions_record_is_a_fault() {
    let (station, session) = one();
    let other = station.open(&["d"]).unwrap();
    fs::copy(record(&station, &other), record(&station, &session)).unwrap();
    assert!(load(&station.dirs, &session.id).unwrap_err().message().contains("another session's"));
}

#[test]
fn somebody_elses_record_is_a_fault() {
    if !is_root() {
        eprintln!("not tested: a record of another user (only root can give files away)");
        return;
    }
    let (station, session) = one();
    std::os::unix::fs::chown(record(&station, &session), Some(65_534), None).unwrap();
    assert!(load(&station.dirs, &session.id).unwrap_err().message().contains("belongs to user 65534"));
}

#[test]
fn a_damaged_session_that_nobody_ends_goes_after_a_day() {
    let (station, session) = one();
    fs::write(record(&station, &session), "{").unwrap();
    let dir = record(&station, &session).parent().unwrap().to_path_buf();
    fs::File::open(dir).unwrap().set_modified(SystemTime::now() - Duration::from_secs(25 * 3600)).unwrap();
    assert_eq!(sweep(&station.dirs, clock::now()).unwrap().ended, [(session.id, Why::Broken)]);
}

#[test]
fn so_many_can_be_open_at_once() {
    let (station, first) = one();
    for _ in 1..MAX_OPEN {
        station.open(&["d"]).unwrap();
    }
    let fault = station.open(&["d"]).unwrap_err();
    assert!(fault.hint.unwrap().contains("lazaret review end"));
    assert_eq!(fs::read_dir(station.room().join("sessions")).unwrap().count(), MAX_OPEN);
    end(&station.dirs, &first.id, Why::Asked, clock::now()).unwrap();
    assert!(station.open(&["d"]).is_ok());
}

#[test]
fn a_sweep_ends_what_is_over_and_leaves_the_rest() {
    let (station, long) = one();
    let short = station.open_with(&["d"], |opening| (opening.ttl_s, opening.timeout_s) = (60, 30)).unwrap();
    let now = clock::now();
    assert_eq!(sweep(&station.dirs, after(now, 59)).unwrap(), Swept::default());
    let swept = sweep(&station.dirs, after(now, 61)).unwrap();
    assert_eq!((swept.ended, swept.damaged), (vec![(short.id.clone(), Why::Expired)], Vec::new()));
    assert!(key(&station.dirs, &long).is_ok() && key(&station.dirs, &short).is_err());
    assert_eq!(load(&station.dirs, &short.id).unwrap().unwrap().ended.unwrap().why, Why::Expired);
    // An agent past its deadline takes its session with it, also when it never calls again.
    enter(&station.dirs, &agent("s", "a"), Some(&long.id), now, 5).unwrap().unwrap();
    assert_eq!(sweep(&station.dirs, after(now, 300)).unwrap(), Swept::default());
    let swept = sweep(&station.dirs, after(now, 301)).unwrap();
    assert_eq!(swept.ended, [(long.id.clone(), Why::TimedOut)]);
    assert!(key(&station.dirs, &long).is_err());
    assert_eq!(agents(&station.dirs, after(now, 301)).unwrap()[0].left_ms, 0);
    assert!(!station.left().iter().any(|name| name.contains("master")), "{:?}", station.left());
}

#[test]
fn a_sweep_without_a_room_finds_nothing_and_makes_nothing() {
    let station = Station::new();
    assert_eq!(sweep(&station.dirs, clock::now()).unwrap(), Swept::default());
    assert!(!station.dirs.runtime.exists());
    assert!(
        list(&station.dirs).unwrap().is_empty() && agents(&station.dirs, clock::now()).unwrap().is_empty()
    );
}

#[test]
fn what_killed_processes_left_is_swept() {
    let (station, session) = one();
    let at = |name: &str| station.room().join("sessions").join(name);
    let leave = |name: &str| {
        fs::create_dir_all(at(name).join("copies/d")).unwrap();
        fs::write(at(name).join("copies/d/f"), "x").unwrap();
        fs::write(at(name).join("salt"), [1; 32]).unwrap();
        fs::set_permissions(at(name).join("copies/d"), Permissions::from_mode(0o500)).unwrap();
    };
    leave(&format!(".new-{}", unknown_id()));
    leave(&format!(".gone-{}", unknown_id()));
    fs::create_dir_all(station.room().join("ended")).unwrap();
    for unfinished in ["register.json.new", "ended/x.json.new"] {
        fs::write(station.room().join(unfinished), "{").unwrap();
    }
    // Killed in the middle of the end: the key is gone, the rest is there.
    fs::remove_file(at(session.id.as_str()).join("salt")).unwrap();
    let fault = key(&station.dirs, &session).unwrap_err();
    assert!(fault.message().contains("destroyed"));
    let swept = sweep(&station.dirs, clock::now()).unwrap();
    assert_eq!(swept.ended, [(session.id.clone(), Why::Broken)]);
    let tombstone = format!("ended/{}.json", session.id);
    assert_eq!(station.left(), ["ended", &tombstone, "sessions"]);
    // Killed between the making of the master and the session.
    fs::write(station.room().join("master.key"), [1; 32]).unwrap();
    fs::write(station.room().join("master.keyring"), "").unwrap();
    sweep(&station.dirs, clock::now()).unwrap();
    assert!(!station.left().iter().any(|name| name.contains("master")), "{:?}", station.left());
}

#[test]
fn a_sweep_does_not_touch_what_is_being_filled() {
    let (station, _session) = one();
    let new = station.room().join(format!("sessions/.new-{}", unknown_id()));
    fs::create_dir(&new).unwrap();
    let held = fs::File::open(&new).unwrap();
    assert!(fs2::FileExt::try_lock_exclusive(&held).is_ok());
    sweep(&station.dirs, clock::now()).unwrap();
    assert!(new.exists());
    drop(held);
    sweep(&station.dirs, clock::now()).unwrap();
    assert!(!new.exists());
}
