//! Sealed copies: what is copied, what is left out and why, what is refused, and that no trick with names gets past it.
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
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use lazaret::domain::{FaultKind, Places, Protected, ProtectedKind};
use lazaret::host::clock;
use lazaret::host::quarantine::{
    Contents, EntryKind, MAX_FILE, MAX_FILES, MAX_NAMED, MAX_TOTAL, Session, Why, end, list,
};
use station::{Station, is_root, tree};

fn contents(station: &Station, session: &Session) -> Contents {
    session.contents(&station.dirs).unwrap().unwrap()
}

/// What was left out, by its path below the project.
fn skipped(station: &Station, session: &Session) -> Vec<(String, String)> {
    let project = station.project.to_str().unwrap();
    let below = |path: &str| path.strip_prefix(project).unwrap().trim_start_matches('/').to_owned();
    contents(station, session).skipped.into_iter().map(|left| (below(&left.path), left.why)).collect()
}

#[test]
fn files_and_directories_are_copied_with_their_names() {
    let station = Station::new();
    station.write("src/main.rs", "fn main() {}\n");
    station.write("src/deep/er/no end", "one\ntwo");
    station.write("src/empty", "");
    station.write("other", "not named");
    station.write("read me", [0xff, 0, b'\n', 7]);
    let session = station.open(&["read me", "src", "src/../read me", "src/main.rs"]).unwrap();
    let project = station.project.to_str().unwrap();
    let entries: Vec<_> = session.entries.iter().map(|e| (e.original.as_str(), e.kind, e.bytes)).collect();
    let (file, dir) = (EntryKind::File, EntryKind::Dir);
    let at = |name: &str| format!("{project}/{name}");
    let (one, two, three) = (at("read me"), at("src"), at("src/main.rs"));
    assert_eq!(entries, [(one.as_str(), file, 4), (&two, dir, 20), (&three, file, 13)]);
    assert_eq!((session.files, session.bytes, session.skipped), (4, 24, 0));
    // The copies, and nothing else.
    let copies: Vec<(String, Option<Vec<u8>>)> = tree(&session.copies).into_iter().collect();
    let file = |name: &str, bytes: &[u8]| (name.to_owned(), Some(bytes.to_vec()));
    let dir = |name: &str| (name.to_owned(), None);
    let expected = [
        dir(""),
        file("read me", &[0xff, 0, b'\n', 7]),
        dir("src"),
        dir("src/deep"),
        dir("src/deep/er"),
        file("src/deep/er/no end", b"one\ntwo"),
        file("src/empty", b""),
        file("src/main.rs", b"fn main() {}\n"),
    ];
    assert_eq!(copies, expected);
    for (name, bytes) in copies {
        let mode = fs::metadata(session.copies.join(&name)).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, if bytes.is_some() { 0o400 } else { 0o500 }, "{name}");
    }
    // The list of files has what findings are checked against.
    let files = contents(&station, &session).files;
    let lines: Vec<_> = files.iter().map(|file| (file.original.as_str(), file.bytes, file.lines)).collect();
    let (no_end, empty) = (at("src/deep/er/no end"), at("src/empty"));
    assert_eq!(lines, [(one.as_str(), 4, 2), (&no_end, 7, 2), (&empty, 0, 0), (&three, 13, 1)]);
    assert_eq!(files[2].sha256, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    assert_eq!(session.entries[2].sha256.as_ref(), Some(&files[3].sha256));
    for file in &files {
        let copy = session.grounds().copy_of(&file.original).unwrap();
        assert_eq!(fs::read(&copy).unwrap(), fs::read(&file.original).unwrap());
    }
}

#[test]
fn everything_else_is_closed_to_others() {
    let station = Station::new();
    station.write("d/f", "text");
    let session = station.open(&["d"]).unwrap();
    for (name, bytes) in tree(&station.room()) {
        let mode = fs::metadata(station.room().join(&name)).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode & 0o077, 0, "{name} {mode:o}");
        let private = if bytes.is_some() { 0o600 } else { 0o700 };
        assert!(name.contains("/copies") || mode == private, "{name} {mode:o}");
    }
    assert!(session.copies.starts_with(station.room()));
}

#[test]
fn what_is_no_plain_file_is_left_out_and_reported() {
    let station = Station::new();
    station.write("secret", "secret");
    station.write("d/f", "text");
    station.write("d/.git/config", "[core]");
    station.write("d/.gitignore", "x");
    station.write("d/big", vec![b'x'; usize::try_from(MAX_FILE).unwrap() + 1]);
    station.write("d/fits", vec![b'x'; usize::try_from(MAX_FILE).unwrap()]);
    let d = station.project.join("d");
    symlink("../secret", d.join("link")).unwrap();
    symlink("/etc", d.join("linked dir")).unwrap();
    symlink("nowhere", d.join("dangling")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(d.join("fifo")).status().unwrap().success());
    let _socket = UnixListener::bind(d.join("socket")).unwrap();
    fs::write(d.join(std::ffi::OsStr::from_bytes(b"\xff")), "x").unwrap();
    let mut deep = d.clone();
    for _ in 0..66 {
        deep.push("n");
        fs::create_dir(&deep).unwrap();
    }
    fs::write(deep.join("f"), "too deep").unwrap();
    let session = station.open(&["d"]).unwrap();
    let left_out = skipped(&station, &session);
    let why = |name: &str| left_out.iter().find(|(path, _)| path == name).unwrap().1.as_str();
    for link in ["d/link", "d/linked dir", "d/dangling"] {
        assert_eq!(why(link), "it is a symbolic link");
    }
    for odd in ["d/fifo", "d/socket"] {
        assert_eq!(why(odd), "it is neither a file nor a directory");
    }
    assert_eq!(why("d/.git"), "it is git's own directory");
    assert_eq!(why("d/big"), "it is longer than 8 MiB");
    assert_eq!(why("d/\u{fffd}"), "its name is not text");
    assert_eq!(why(&format!("d{}", "/n".repeat(65))), "it lies too deep");
    assert_eq!((left_out.len(), session.skipped), (9, 9));
    let files: Vec<_> = tree(&session.copies).into_iter().filter(|(_, bytes)| bytes.is_some()).collect();
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["d/.gitignore.sealed", "d/f", "d/fits"]);
    // Named by a person, git's own files are copied like others.
    let named = station.open(&["d/.git/config", "d/.git"]).unwrap();
    assert_eq!((named.files, named.skipped), (1, 0));
}

#[test]
fn a_file_that_may_not_be_read_is_left_out() {
    if is_root() {
        eprintln!("not tested: files without permission (root may read everything)");
        return;
    }
    let station = Station::new();
    fs::set_permissions(station.write("d/closed", "x"), Permissions::from_mode(0o000)).unwrap();
    station.write("d/f", "text");
    let session = station.open(&["d"]).unwrap();
    assert_eq!(session.files, 1);
    assert!(skipped(&station, &session)[0].1.contains("cannot be read"));
}

#[test]
fn protected_places_are_not_copied() {
    let station = Station::new();
    station.write("d/.lazaret.toml", "x");
    station.write("d/keys/k", "x");
    station.write("d/f", "text");
    station.write("d/.claude/settings.json", "{}");
    symlink(station.project.join("d"), station.project.join("by link")).unwrap();
    let protected = |name: &str, tree, kind| {
        // Protected by a name that leads there, as well as by the real one.
        let path = station.project.join(name).to_str().unwrap().to_owned();
        Protected { path, tree, kind }
    };
    let protected = vec![
        protected("d/.lazaret.toml", false, ProtectedKind::Own),
        protected("by link/keys", true, ProtectedKind::Keys),
        protected("d/.claude/settings.json", false, ProtectedKind::ClientSettings),
    ];
    let places = Places { protected, ..Places::default() };
    let open = |paths: &[&str]| {
        let places = places.clone();
        let paths: Vec<_> = paths.iter().map(|path| station.project.join(path)).collect();
        lazaret::host::quarantine::open(
            &station.dirs,
            &lazaret::host::quarantine::Opening {
                root: &station.project,
                paths: &paths,
                ttl_s: 60,
                timeout_s: 60,
                instructions: None,
                opener: None,
                places: &places,
                keys: Some(station.keys),
                now: clock::now(),
            },
            &mut lazaret::host::unwatched,
        )
    };
    let session = open(&["d"]).unwrap();
    let whys: Vec<_> = skipped(&station, &session);
    let place = |name: &str| (name.to_owned(), "it is a protected place".to_owned());
    assert_eq!(whys, [place("d/.lazaret.toml"), place("d/keys")]);
    assert_eq!(session.files, 2, "the client's settings are part of what a stranger wrote");
    for named in ["d/.lazaret.toml", "d/keys", "d/keys/k", "by link/keys/k"] {
        assert!(open(&[named]).unwrap_err().message().contains("protected place"), "{named}");
    }
}

#[test]
fn what_cannot_be_reviewed_is_refused_and_leaves_nothing() {
    let station = Station::new();
    station.write("f", "text");
    let secret = station.outside().join("secret");
    fs::write(&secret, "secret").unwrap();
    symlink(&secret, station.project.join("link")).unwrap();
    station.write("big", vec![b'x'; usize::try_from(MAX_FILE).unwrap() + 1]);
    assert!(
        std::process::Command::new("mkfifo").arg(station.project.join("fifo")).status().unwrap().success()
    );
    fs::write(station.project.join(std::ffi::OsStr::from_bytes(b"\xff")), "x").unwrap();
    for (paths, told) in [
        (&["f", "../secret"][..], "lies outside"),
        (&["link"], "lies outside"),
        (&["/etc/passwd"], "lies outside"),
        (&[".."], "lies outside"),
        (&["f", "none"], "No such file"),
        (&["f/below"], "Not a directory"),
        (&["fifo"], "neither a file nor a directory"),
        (&["f", "big"], "longer than 8 MiB"),
        (&[], "name 1 to"),
    ] {
        let fault = station.open(paths).unwrap_err();
        assert!(fault.message().contains(told), "{paths:?}: {fault}");
    }
    let many = vec!["f"; MAX_NAMED + 1];
    assert!(station.open(&many).is_err());
    for (ttl_s, timeout_s) in [(0, 1), (60, 0), (60, 61), (86_401, 60)] {
        let fault = station
            .open_with(&["f"], |opening| (opening.ttl_s, opening.timeout_s) = (ttl_s, timeout_s))
            .unwrap_err();
        assert_eq!(fault.kind, FaultKind::Config, "{ttl_s} {timeout_s}");
    }
    let left = station.left();
    assert!(left.is_empty() || left == ["sessions"], "{left:?}");
    assert!(list(&station.dirs).unwrap().is_empty());
}

#[test]
fn a_session_without_a_file_is_refused_with_what_was_left_out() {
    let station = Station::new();
    station.write("f", "text");
    fs::create_dir_all(station.project.join("empty/deeper")).unwrap();
    fs::create_dir(station.project.join("links")).unwrap();
    for number in 0..25 {
        symlink("../f", station.project.join(format!("links/{number:02}"))).unwrap();
    }
    let fault = station.open(&["empty"]).unwrap_err();
    assert_eq!(fault.message(), "nothing to review: there is no file in what was named");
    let told = station.open(&["links", "empty"]).unwrap_err().message();
    assert!(told.starts_with("nothing to review: all of it was left out: "), "{told}");
    assert!(told.contains("links/00 (it is a symbolic link), "), "{told}");
    assert!(told.contains("links/19 (") && told.ends_with(", and 5 more"), "{told}");
    assert!(list(&station.dirs).unwrap().is_empty());
    assert_eq!(station.open(&["links", "f"]).unwrap().files, 1);
}

#[test]
fn ignore_files_hide_nothing_among_the_copies() {
    let station = Station::new();
    let long = format!(".gitignore{}", ".sealed".repeat(35));
    for name in [".gitignore", ".gitignore.sealed", "a/.ignore", "a/.rgignore", "a/evil.rs", &long] {
        station.write(&format!("d/{name}"), format!("{name}\n*\n"));
    }
    station.write("d/b/.gitignore", "*");
    station.write("d/b/.gitignore.sealed/hidden", "x");
    station.write(".ignore", "*");
    station.write("e/.gitignore/f", "x");
    let session = station.open(&["d", ".ignore", "e", "e/.gitignore"]).unwrap();
    let copies = tree(&session.copies);
    let names: Vec<&str> =
        copies.iter().filter(|(_, bytes)| bytes.is_some()).map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            ".ignore.sealed",
            "d/.gitignore.sealed",
            "d/.gitignore.sealed.sealed",
            "d/a/.ignore.sealed",
            "d/a/.rgignore.sealed",
            "d/a/evil.rs",
            "d/b/.gitignore.sealed",
            "e/.gitignore/f",
        ]
    );
    let why = |name: &str, why: &str| (name.to_owned(), why.to_owned());
    assert_eq!(
        skipped(&station, &session),
        [
            why(&format!("d/{long}"), "its name is too long"),
            why("d/b/.gitignore.sealed", "it is called like the copy of an ignore file")
        ]
    );
    for file in &contents(&station, &session).files {
        let copy = session.grounds().copy_of(&file.original).unwrap();
        assert_eq!(fs::read(&copy).unwrap(), fs::read(&file.original).unwrap());
    }
}

#[test]
fn what_the_kernel_makes_up_is_refused() {
    let station = Station::new();
    for path in ["/proc/self/environ", "/proc/self", "/proc", "/sys/kernel", "/dev", "/dev/null"] {
        if !Path::new(path).exists() {
            continue;
        }
        let root = Path::new("/");
        let fault = station.open_with(&[path], |opening| opening.root = root).unwrap_err();
        assert!(fault.message().contains("that the kernel makes up"), "{path}: {fault}");
    }
    assert!(list(&station.dirs).unwrap().is_empty());
}

#[test]
fn the_bounds_of_number_and_size_hold() {
    let station = Station::new();
    for number in 0..=MAX_FILES {
        station.write(&format!("many/{number}"), "");
    }
    let fault = station.open(&["many"]).unwrap_err();
    assert!(fault.kind == FaultKind::TooLarge && fault.message().contains("5000 files"), "{fault}");
    fs::remove_file(station.project.join("many/0")).unwrap();
    assert_eq!(station.open(&["many"]).unwrap().files, 5000);
    let part = vec![b'x'; usize::try_from(MAX_FILE).unwrap()];
    for number in 0..MAX_TOTAL / MAX_FILE {
        station.write(&format!("large/{number}"), &part);
    }
    assert_eq!(station.open(&["large"]).unwrap().bytes, MAX_TOTAL);
    station.write("large/more", "x");
    let fault = station.open(&["large"]).unwrap_err();
    assert!(fault.kind == FaultKind::TooLarge && fault.hint.is_some(), "{fault}");
    assert_eq!(list(&station.dirs).unwrap().len(), 2);
    assert_eq!(fs::read_dir(station.room().join("sessions")).unwrap().count(), 2);
}

#[test]
fn nothing_done_to_the_original_reaches_the_copy() {
    let station = Station::new();
    let file = station.write("d/f", "as it was");
    let secret = station.outside().join("secret");
    fs::write(&secret, "secret").unwrap();
    let session = station.open(&["d/f"]).unwrap();
    let copy = session.grounds().copy_of(file.to_str().unwrap()).unwrap();
    let sealed = || fs::read_to_string(&copy).unwrap();
    fs::write(&file, "edited").unwrap();
    assert_eq!(sealed(), "as it was");
    fs::remove_file(&file).unwrap();
    symlink(&secret, &file).unwrap();
    assert_eq!(sealed(), "as it was");
    fs::rename(station.project.join("d"), station.project.join("e")).unwrap();
    assert_eq!(sealed(), "as it was");
    assert!(end(&station.dirs, &session.id, Why::Asked, clock::now()).unwrap());
    assert!(!Path::new(&copy).exists());
}

/// A thread that puts `there` in the place of the name, and something of the name's back, as fast as it can.
fn swapping(name: &Path, other: &Path, stop: &Arc<AtomicBool>) -> std::thread::JoinHandle<u64> {
    let (name, other, stop) = (name.to_path_buf(), other.to_path_buf(), Arc::clone(stop));
    std::thread::spawn(move || {
        let mut swaps = 0;
        while !stop.load(Ordering::Relaxed) {
            let exchange = rustix::fs::RenameFlags::EXCHANGE;
            rustix::fs::renameat_with(rustix::fs::CWD, &name, rustix::fs::CWD, &other, exchange).unwrap();
            swaps += 1;
        }
        swaps
    })
}

/// Opens sessions while a part of the path is swapped for a link to a secret; gives how many were opened and how often
/// the file was in them.
fn race(swapped: &str, named: &str) -> (usize, usize) {
    let station = Station::new();
    station.write("a/b/f", "the original");
    // A session without a file would be refused.
    station.write("steady", "never swapped");
    let outside = station.outside().join("outside");
    fs::create_dir_all(outside.join("b")).unwrap();
    for name in ["f", "b/f"] {
        fs::write(outside.join(name), "the secret").unwrap();
    }
    // Links that lead to the secret at the same place below them.
    let target = match swapped {
        "a" => outside.clone(),
        "a/b" => outside.join("b"),
        _ => outside.join("f"),
    };
    let other = station.project.join("other");
    symlink(target, &other).unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let thread = swapping(&station.project.join(swapped), &other, &stop);
    let (mut opened, mut sealed) = (0, 0);
    for _ in 0..300 {
        let Ok(session) = station.open(&[named]) else { continue };
        opened += 1;
        for (name, bytes) in tree(&session.copies) {
            if let Some(bytes) = bytes.filter(|_| name != "steady") {
                assert_eq!(String::from_utf8_lossy(&bytes), "the original", "{name}");
                sealed += 1;
            }
        }
        end(&station.dirs, &session.id, Why::Asked, clock::now()).unwrap();
    }
    stop.store(true, Ordering::Relaxed);
    assert!(thread.join().unwrap() > 300, "hardly anything was swapped: the test shows nothing");
    (opened, sealed)
}

#[test]
fn a_race_for_a_name_gives_the_original_or_nothing() {
    let mut both = (0, 0);
    for (swapped, named) in [("a/b/f", "a/b/f"), ("a/b", "a/b/f"), ("a", "a/b/f"), ("a/b/f", "."), ("a", ".")]
    {
        let (opened, sealed) = race(swapped, named);
        both = (both.0 + opened, both.1 + sealed);
    }
    assert!(both.0 > 300 && both.1 > 100, "{both:?}: too few were opened: the test shows nothing");
}

#[test]
fn a_file_with_another_name_elsewhere_is_said() {
    let station = Station::new();
    station.write("d/own.rs", "own\n");
    station.write("neighbour/theirs.rs", "theirs\n");
    fs::hard_link(station.project.join("neighbour/theirs.rs"), station.project.join("d/link.rs")).unwrap();
    let session = station.open(&["d"]).unwrap();
    let contents = session.contents(&station.dirs).unwrap().unwrap();
    let link = station.project.join("d/link.rs").to_str().unwrap().to_owned();
    assert_eq!(contents.linked, [(link.clone(), 2)]);
    assert_eq!(contents.files.len(), 2);
    let out = station.command(station::BIN).args(["review", "start", "d"]).output().unwrap();
    let said = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(said.contains("hard links") && said.contains(&format!("{link}: 2 names")), "{said}");
}
