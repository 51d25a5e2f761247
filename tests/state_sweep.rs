//! Old sessions are swept; stopped ones and those in use stay. In a file of its own: a child process that another test
//! of the same process is just starting holds copies of our descriptors, so a session could look as if it were in use.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod entries;

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use entries::{entry, subject};
use lazaret::host::clock::Now;
use lazaret::host::state::{Look, Store, amend, sweep, update};

const LOOK: Look = Look { records: 200, window_ms: 60_000 };
const NOW: Now = Now { unix_ms: 1_700_000_000_000, boot_ms: 5_000_000 };
const DAY_MS: u64 = 24 * 60 * 60 * 1000;

fn set_modified(path: &Path, unix_ms: u64) {
    let time = SystemTime::UNIX_EPOCH + Duration::from_millis(unix_ms);
    fs::File::open(path).unwrap().set_modified(time).unwrap();
}

#[test]
fn old_sessions_are_swept_and_stopped_ones_stay() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::new(dir.path()).waiting(50);
    let sessions = dir.path().join("sessions");
    let old = NOW.unix_ms - 8 * DAY_MS;
    for id in ["old", "new", "stopped", "busy", "goals"] {
        update(&store, &subject(id), NOW, LOOK, |_| ((), Some(entry(1)))).unwrap();
    }
    amend(&store, &subject("stopped"), NOW, |document| document.stopped = Some("x".to_owned())).unwrap();
    amend(&store, &subject("goals"), NOW, |document| document.behaviour.purpose.words.push("x".to_owned()))
        .unwrap();
    let file = |name: &str| sessions.join(name);
    for name in [".new-1-2-3", "claude-code-x.json.new", "claude-code-x.ring.damaged-1"] {
        fs::write(file(name), "").unwrap();
    }
    fs::write(file(".new-4-5-6"), "").unwrap();
    for entry in fs::read_dir(&sessions).unwrap().flatten() {
        set_modified(&entry.path(), old);
    }
    set_modified(&file("claude-code-new.ring"), NOW.unix_ms - 6 * DAY_MS);
    set_modified(&file(".new-4-5-6"), NOW.unix_ms);
    let busy = fs::File::open(file("claude-code-busy.ring")).unwrap();
    fs2::FileExt::try_lock_exclusive(&busy).unwrap();
    assert_eq!(sweep(&store, NOW, 7).unwrap(), 5);
    let mut left: Vec<_> = fs::read_dir(&sessions).unwrap().flatten().map(|e| e.file_name()).collect();
    left.sort();
    assert_eq!(
        left,
        [
            ".new-4-5-6",
            "claude-code-busy.ring",
            "claude-code-new.ring",
            "claude-code-stopped.json",
            "claude-code-stopped.ring"
        ]
    );
    assert_eq!(sweep(&Store::new("/nonexistent"), NOW, 7).unwrap(), 0);
}
