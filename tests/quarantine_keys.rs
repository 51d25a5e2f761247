//! Keys of review sessions on Linux: in the keyring or in a file in memory, checked on every use, gone at the end.
#![cfg(target_os = "linux")]
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

use hkdf::Hkdf;
use lazaret::domain::Fault;
use lazaret::host::clock;
use lazaret::host::dirs::Environment;
use lazaret::host::quarantine::{Session, VaultKind, Why, end, key, open, probe_own, sweep};
use sha2::Sha256;
use station::{Station, after, is_root, tree};

/// The kinds that work here. What cannot be tested is said.
fn kinds() -> Vec<VaultKind> {
    let mut kinds = Vec::new();
    match probe_own() {
        Ok(_) => kinds.push(VaultKind::Keyring),
        Err(fault) => eprintln!("not tested: the keyring ({fault}); only the file in memory is"),
    }
    if Path::new("/dev/shm").is_dir() {
        kinds.push(VaultKind::Tmpfs);
    } else {
        eprintln!("not tested: the file in memory (there is no /dev/shm); only the keyring is");
    }
    assert!(!kinds.is_empty(), "neither place for keys can be tested here");
    kinds
}

fn station(kind: VaultKind) -> Station {
    let station = Station::at(Path::new(if kind == VaultKind::Tmpfs { "/dev/shm" } else { "/tmp" }), kind);
    station.write("f", "text");
    station
}

fn bytes(station: &Station, session: &Session) -> [u8; 32] {
    *key(&station.dirs, session).unwrap().bytes()
}

#[test]
fn each_session_has_a_key_of_its_own_that_stays_the_same() {
    for kind in kinds() {
        let station = station(kind);
        let (one, two) = (station.open(&["f"]).unwrap(), station.open(&["f"]).unwrap());
        assert_eq!((one.vault, two.vault), (kind, kind));
        assert_eq!(bytes(&station, &one), bytes(&station, &one));
        assert_ne!(bytes(&station, &one), bytes(&station, &two));
        assert_ne!(bytes(&station, &one), [0; 32]);
        // One ends: its key is gone, the other one's is not.
        let before = bytes(&station, &two);
        assert!(end(&station.dirs, &one.id, Why::Asked, clock::now()).unwrap());
        assert!(key(&station.dirs, &one).unwrap_err().message().contains("destroyed"));
        assert_eq!(bytes(&station, &two), before);
    }
}

#[test]
fn two_rooms_share_no_master() {
    for kind in kinds() {
        let (one, two) = (station(kind), station(kind));
        let (first, second) = (one.open(&["f"]).unwrap(), two.open(&["f"]).unwrap());
        let before = bytes(&two, &second);
        end(&one.dirs, &first.id, Why::Asked, clock::now()).unwrap();
        assert_eq!(bytes(&two, &second), before, "the end of the one is not the end of the other");
    }
}

#[test]
fn a_file_in_memory_is_what_the_key_is_derived_from() {
    if !kinds().contains(&VaultKind::Tmpfs) {
        return;
    }
    let station = station(VaultKind::Tmpfs);
    let session = station.open(&["f"]).unwrap();
    let master = fs::read(station.room().join("master.key")).unwrap();
    let salt = fs::read(station.room().join(format!("sessions/{}/salt", session.id))).unwrap();
    let info = format!("lazaret review v1{}", session.id);
    let mut expected = [0; 32];
    Hkdf::<Sha256>::new(Some(&salt), &master).expand(info.as_bytes(), &mut expected).unwrap();
    assert_eq!(bytes(&station, &session), expected);
    // Neither lies anywhere else, in no spelling that a person could have meant.
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    for (name, text) in tree(station.outside()) {
        let text = text.unwrap_or_default();
        for secret in [&master[..], &expected[..]] {
            let found = text.windows(32).any(|part| part == secret)
                || String::from_utf8_lossy(&text).contains(&hex(secret));
            assert_eq!(found, name.ends_with("/master.key") && secret == master, "{name}");
        }
    }
}

#[test]
fn no_key_is_left_at_the_end() {
    for kind in kinds() {
        let station = station(kind);
        let (one, two) = (station.open(&["f"]).unwrap(), station.open(&["f"]).unwrap());
        assert!(holds_master(&station, kind));
        end(&station.dirs, &one.id, Why::Asked, clock::now()).unwrap();
        assert!(holds_master(&station, kind), "the other session needs it");
        end(&station.dirs, &two.id, Why::TimedOut, clock::now()).unwrap();
        assert!(!holds_master(&station, kind));
        assert!(!station.left().iter().any(|name| name.contains("salt") || name.contains("master")));
        // And at the next call after the time is over, when nobody ended it.
        let three = station.open(&["f"]).unwrap();
        assert!(holds_master(&station, kind));
        let swept = sweep(&station.dirs, after(clock::now(), 3601)).unwrap();
        assert_eq!(swept.ended, [(three.id, Why::Expired)]);
        assert!(!holds_master(&station, kind));
    }
}

#[test]
fn what_a_killed_process_wrote_of_a_key_file_is_in_nobodys_way() {
    if !kinds().contains(&VaultKind::Tmpfs) {
        return;
    }
    let station = station(VaultKind::Tmpfs);
    let one = station.open(&["f"]).unwrap();
    end(&station.dirs, &one.id, Why::Asked, clock::now()).unwrap();
    let unfinished = station.room().join("master.key.new");
    std::os::unix::fs::DirBuilderExt::mode(&mut fs::DirBuilder::new(), 0o700)
        .recursive(true)
        .create(station.room())
        .unwrap();
    fs::write(&unfinished, [7; 5]).unwrap();
    let two = station.open(&["f"]).unwrap();
    key(&station.dirs, &two).unwrap();
    assert!(!unfinished.exists(), "it became the key file");
    fs::write(&unfinished, [7; 5]).unwrap();
    end(&station.dirs, &two.id, Why::Asked, clock::now()).unwrap();
    assert!(!station.left().iter().any(|name| name.contains("master")), "{:?}", station.left());
}

fn holds_master(station: &Station, kind: VaultKind) -> bool {
    match kind {
        VaultKind::Tmpfs => station.room().join("master.key").exists(),
        VaultKind::Keyring => in_keyring(station).is_some(),
        VaultKind::Keychain | VaultKind::File => panic!("no such place on Linux"),
    }
}

fn in_keyring(station: &Station) -> Option<linux_keyutils::Key> {
    use linux_keyutils::{KeyRing, KeyRingIdentifier};
    use sha2::Digest;
    let digest = Sha256::digest(station.room().to_str().unwrap().as_bytes());
    let hex: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    let process = KeyRing::from_special_id(KeyRingIdentifier::Process, true).unwrap();
    process.link_keyring_id(KeyRingIdentifier::User).unwrap();
    let ring = KeyRing::from_special_id(KeyRingIdentifier::User, true).unwrap();
    ring.search(&format!("lazaret:review:{hex}")).ok()
}

#[test]
fn the_key_in_the_keyring_is_closed_and_ends_by_itself() {
    if !kinds().contains(&VaultKind::Keyring) {
        return;
    }
    let station = station(VaultKind::Keyring);
    let session =
        station.open_with(&["f"], |opening| (opening.ttl_s, opening.timeout_s) = (7200, 60)).unwrap();
    let held = in_keyring(&station).unwrap();
    let meta = held.metadata().unwrap();
    assert_eq!(meta.get_perms().bits(), 0x3f00_0000, "only who holds the keyring may do anything");
    let listed = fs::read_to_string("/proc/keys").unwrap();
    let line = listed.lines().find(|line| line.contains(meta.get_description())).unwrap();
    assert!(line.contains(" 2h ") || line.contains("119m") || line.contains("120m"), "no time-out: {line}");
    // A key that others may read, or that somebody put there, is not taken.
    let open_to_user = linux_keyutils::KeyPermissions::from_u32(0x3f3f_0000);
    held.set_perms(open_to_user).unwrap();
    assert!(key(&station.dirs, &session).unwrap_err().hint.is_some());
    held.set_perms(linux_keyutils::KeyPermissions::from_u32(0x3f00_0000)).unwrap();
    held.update(&b"too short").unwrap();
    assert!(key(&station.dirs, &session).unwrap_err().message().contains("length"));
    held.invalidate().unwrap();
    // Gone is gone: no call makes a new one.
    let gone = key(&station.dirs, &session).unwrap_err();
    assert!(gone.message().contains("gone from the keyring") && gone.hint.is_some(), "{gone}");
    assert!(in_keyring(&station).is_none());
}

/// Opens a session, does something to the room, and tells what `key` says then.
fn after_harm(harm: impl FnOnce(&Path)) -> Fault {
    let station = station(VaultKind::Tmpfs);
    let session = station.open(&["f"]).unwrap();
    harm(&station.room());
    let fault = key(&station.dirs, &session).unwrap_err();
    assert!(!fault.message().is_empty() && fault.hint.is_some(), "{fault:?}");
    // Neither is a damaged key repaired by the opening of another session; an open room is.
    let room_is_closed = fs::metadata(station.room()).unwrap().permissions().mode() & 0o777 == 0o700;
    assert_eq!(station.open(&["f"]).is_err(), room_is_closed);
    fault
}

#[test]
fn a_key_file_that_is_not_as_it_was_made_is_refused() {
    if !kinds().contains(&VaultKind::Tmpfs) {
        return;
    }
    let chmod = |path: PathBuf, mode| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    let open_file = after_harm(|room| chmod(room.join("master.key"), 0o644));
    assert!(open_file.message().contains("open to others (mode 644)"), "{open_file}");
    let odd_mode = after_harm(|room| chmod(room.join("master.key"), 0o700));
    assert!(odd_mode.message().contains("not 600"), "{odd_mode}");
    let open_room = after_harm(|room| chmod(room.to_path_buf(), 0o755));
    assert!(open_room.message().contains("open to others (mode 755)"), "{open_room}");
    let linked = after_harm(|room| {
        fs::rename(room.join("master.key"), room.join("other")).unwrap();
        symlink("other", room.join("master.key")).unwrap();
    });
    assert!(linked.message().contains("symbolic link"), "{linked}");
    let twice = after_harm(|room| fs::hard_link(room.join("master.key"), room.join("other")).unwrap());
    assert!(twice.message().contains("second name"), "{twice}");
    let short = after_harm(|room| fs::write(room.join("master.key"), [7; 31]).unwrap());
    assert!(short.message().contains("length"), "{short}");
    let dir = after_harm(|room| {
        fs::remove_file(room.join("master.key")).unwrap();
        fs::create_dir(room.join("master.key")).unwrap();
    });
    assert!(dir.message().contains("not a file"), "{dir}");
}

#[test]
fn somebody_elses_key_file_or_room_is_refused() {
    if !is_root() || !kinds().contains(&VaultKind::Tmpfs) {
        eprintln!("not tested: files of other users (only root can give files away)");
        return;
    }
    let give = |path: PathBuf| std::os::unix::fs::chown(path, Some(65_534), None).unwrap();
    let file = after_harm(|room| give(room.join("master.key")));
    assert!(file.message().contains("belongs to user 65534"), "{file}");
    for above in [".", ".."] {
        let station = station(VaultKind::Tmpfs);
        let session = station.open(&["f"]).unwrap();
        let dir = station.room().join(above).canonicalize().unwrap();
        give(dir.clone());
        let fault = key(&station.dirs, &session).unwrap_err();
        assert!(fault.message().contains("not a directory of yours"), "{fault}");
        assert!(fault.hint.unwrap().contains("XDG_RUNTIME_DIR"));
        std::os::unix::fs::chown(dir, Some(0), None).unwrap();
    }
}

#[test]
fn a_missing_key_file_is_not_made_by_a_call() {
    if !kinds().contains(&VaultKind::Tmpfs) {
        return;
    }
    let station = station(VaultKind::Tmpfs);
    let session = station.open(&["f"]).unwrap();
    fs::remove_file(station.room().join("master.key")).unwrap();
    assert!(key(&station.dirs, &session).unwrap_err().message().contains("gone from the tmpfs"));
    assert!(!station.room().join("master.key").exists());
}

#[test]
fn a_disk_gets_no_key() {
    let base = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let stat = rustix::fs::statfs(base).unwrap();
    if stat.f_type == 0x0102_1994 {
        eprintln!("not tested: a room on a disk (the target directory lies in memory)");
        return;
    }
    let station = Station::at(base, VaultKind::Tmpfs);
    station.write("f", "text");
    let fault = station.open(&["f"]).unwrap_err();
    assert!(fault.message().contains("on a disk"), "{fault}");
    assert!(fault.hint.unwrap().contains("XDG_RUNTIME_DIR"));
    assert_eq!(station.left(), ["sessions"], "a failed start leaves nothing");
    // Without a choice it is the keyring, or the same fault with both reasons.
    match (probe_own(), station.open_with(&["f"], |opening| opening.keys = None)) {
        (Ok(_), opened) => assert_eq!(opened.unwrap().vault, VaultKind::Keyring),
        (Err(keyring), opened) => {
            let fault = opened.unwrap_err();
            assert!(fault.message().contains(&keyring.why) && fault.message().contains("on a disk"));
        }
    }
}

#[test]
fn the_place_for_keys_can_be_chosen() {
    let chosen = |keys: Option<&str>| {
        let lazaret_keys = keys.map(str::to_owned);
        VaultKind::chosen(&Environment { lazaret_keys, ..Environment::default() })
    };
    assert_eq!(chosen(None), Ok(None));
    assert_eq!(chosen(Some("keyring")), Ok(Some(VaultKind::Keyring)));
    assert_eq!(chosen(Some("tmpfs")), Ok(Some(VaultKind::Tmpfs)));
    for unknown in ["Keyring", "disk", "0", " tmpfs"] {
        assert!(chosen(Some(unknown)).unwrap_err().hint.unwrap().contains("tmpfs"), "{unknown}");
    }
}

#[test]
fn a_process_that_holds_a_key_cannot_be_dumped() {
    let station = Station::new();
    station.write("f", "text");
    let session = station.open(&["f"]).unwrap();
    key(&station.dirs, &session).unwrap();
    use rustix::process::{DumpableBehavior, Resource, dumpable_behavior, getrlimit};
    assert_eq!(dumpable_behavior(), Ok(DumpableBehavior::NotDumpable));
    assert_eq!(getrlimit(Resource::Core).maximum, Some(0));
}

#[test]
fn without_a_place_in_the_room_nothing_is_opened() {
    let station = Station::new();
    let path = station.write("f", "text");
    // The run directory is a link to somewhere else.
    let elsewhere = station.outside().join("elsewhere");
    fs::create_dir_all(&elsewhere).unwrap();
    fs::create_dir_all(station.dirs.runtime.parent().unwrap()).unwrap();
    symlink(&elsewhere, &station.dirs.runtime).unwrap();
    let places = lazaret::domain::Places::default();
    let opening = lazaret::host::quarantine::Opening {
        root: &station.project,
        paths: &[path],
        ttl_s: 60,
        timeout_s: 60,
        instructions: None,
        opener: None,
        places: &places,
        keys: None,
        now: clock::now(),
    };
    let fault = open(&station.dirs, &opening, &mut lazaret::host::unwatched).unwrap_err();
    assert!(fault.message().contains("not a directory of yours"), "{fault}");
    assert!(fault.hint.unwrap().contains("XDG_RUNTIME_DIR"));
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
    fs::remove_file(&station.dirs.runtime).unwrap();
}
