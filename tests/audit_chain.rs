//! The audit log's chain: whatever is changed, added, removed, moved or cut off is told with its place; what killed writers and full
//! disks leave is not.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod worker;

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use lazaret::domain::{AuditEvent, AuditPolicy, EventKind, LogLevel, Policy};
use lazaret::host::audit::{
    Bad, CHAIN, Checked, End, Filter, Found, Tail, Wrong, append, end, lines, prune, sweep, verify,
};
use lazaret::host::clock::Now;
use lazaret::host::unwatched;
use worker::worker;

const NOW: Now = Now { unix_ms: 1_763_700_000_000, boot_ms: 1 };
const DAY_MS: u64 = 24 * 60 * 60 * 1000;

fn policy(max_bytes: u64) -> AuditPolicy {
    AuditPolicy { max_bytes, ..Policy::default().audit }
}

fn event(tool: &str) -> AuditEvent<'_> {
    AuditEvent {
        kind: EventKind::ActionAllowed,
        subject: None,
        cwd: "/w",
        tool,
        action: "ls",
        call_id: None,
        decision: None,
        note: "",
        duration_us: 3,
    }
}

fn later(ms: u64) -> Now {
    Now { unix_ms: NOW.unix_ms + ms, ..NOW }
}

/// Events 1 to `count`, each a second after the one before it.
fn write(dir: &Path, policy: &AuditPolicy, from: u64, count: u64) {
    for number in from..from + count {
        append(dir, policy, later(number * 1000), &event(&format!("t{number}"))).unwrap();
    }
}

fn good(dir: &Path) -> Checked {
    verify(dir, None, &mut unwatched).unwrap().unwrap_or_else(|bad| panic!("{bad:?}"))
}

fn bad(dir: &Path) -> Bad {
    match verify(dir, None, &mut unwatched).unwrap() {
        Err(bad) => bad,
        Ok(checked) => panic!("not seen: {checked:?}"),
    }
}

fn current(dir: &Path) -> PathBuf {
    dir.join("audit.jsonl")
}

/// The log's files, oldest first.
fn files(dir: &Path) -> Vec<PathBuf> {
    let mut names: Vec<_> = fs::read_dir(dir).unwrap().flatten().map(|entry| entry.path()).collect();
    names.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    names.sort_by_key(|path| (path == &current(dir), path.file_stem().unwrap().to_owned()));
    names
}

/// Files with what is in them.
type Copies = Vec<(PathBuf, Vec<u8>)>;

/// Seven events in three files of two, and one of one; the chain's file last.
fn log() -> (tempfile::TempDir, Copies) {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &policy(300), 1, 7);
    let mut copies: Copies =
        files(dir.path()).into_iter().map(|path| (path.clone(), fs::read(&path).unwrap())).collect();
    assert_eq!(copies.iter().map(|(_, bytes)| split(bytes).len()).collect::<Vec<_>>(), [2, 2, 2, 1]);
    let chain = dir.path().join(CHAIN);
    copies.push((chain.clone(), fs::read(chain).unwrap()));
    (dir, copies)
}

fn restore(copies: &Copies) {
    for (path, bytes) in copies {
        fs::write(path, bytes).unwrap();
    }
}

fn split(bytes: &[u8]) -> Vec<Vec<u8>> {
    bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
}

/// All lines of the log in their order, put back as so many files with the same numbers of lines.
fn put(copies: &Copies, lines: &[Vec<u8>]) {
    let mut rest = lines.to_vec();
    let files = &copies[..copies.len() - 1];
    for (at, (path, bytes)) in files.iter().enumerate() {
        let count = if at + 1 == files.len() { rest.len() } else { split(bytes).len().min(rest.len()) };
        fs::write(path, rest.drain(..count).flatten().collect::<Vec<_>>()).unwrap();
    }
}

fn all(copies: &Copies) -> Vec<Vec<u8>> {
    copies[..copies.len() - 1].iter().flat_map(|(_, bytes)| split(bytes)).collect()
}

#[test]
fn a_log_in_several_files_is_one_chain() {
    let (dir, _) = log();
    let checked = good(dir.path());
    assert_eq!((checked.files, checked.lines, checked.first, checked.last), (4, 7, 1, 7));
    assert_eq!((checked.unchained, checked.unanchored, checked.torn.len()), (0, 0, 0));
    let mode = fs::metadata(dir.path().join(CHAIN)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
}

#[test]
fn every_changed_byte_is_told_with_its_line() {
    let (dir, copies) = log();
    for (path, bytes) in &copies[..copies.len() - 1] {
        for at in 0..bytes.len() {
            for flip in [1, 0x20, 0x80] {
                let mut changed = bytes.clone();
                changed[at] ^= flip;
                fs::write(path, &changed).unwrap();
                let bad = bad(dir.path());
                let line = split(&bytes[..at]).iter().filter(|line| line.ends_with(b"\n")).count() as u64 + 1;
                let near = bad.file == *path && (bad.line == line || bad.line == line + 1);
                // A number that was changed may name a line of the file after it.
                let next = bad.line == 1 && matches!(bad.wrong, Wrong::Removed(..) | Wrong::Changed);
                assert!(near || next, "{}, byte {at} ({flip}), line {line}: {bad:?}", path.display());
            }
        }
        fs::write(path, bytes).unwrap();
    }
    good(dir.path());
}

#[test]
fn every_changed_byte_of_the_key_or_the_anchor_is_seen() {
    let (dir, copies) = log();
    let (path, bytes) = copies.last().unwrap();
    // Magic, name and chain key; the sealing key is proven by a verification key, and the size is no more than a mark for writers;
    // then the anchor and the beginning.
    for at in (0..48).chain(88..200) {
        let mut changed = bytes.clone();
        changed[at] ^= 0x40;
        fs::write(path, &changed).unwrap();
        let bad = verify(dir.path(), None, &mut unwatched).unwrap().expect_err(&format!("byte {at}"));
        assert!(at >= 16 || bad.wrong == Wrong::KeyGone, "byte {at}: {bad:?}");
    }
}

#[test]
fn a_removed_line_is_told_by_its_number() {
    let (dir, copies) = log();
    let lines = all(&copies);
    for from in 0..lines.len() {
        for to in from..lines.len() {
            let mut left = lines.clone();
            left.drain(from..=to);
            put(&copies, &left);
            let (first, last) = (from as u64 + 1, to as u64 + 1);
            let expected =
                if to + 1 == lines.len() { Wrong::CutOff(first, last) } else { Wrong::Removed(first, last) };
            assert_eq!(bad(dir.path()).wrong, expected, "{from} to {to}");
        }
    }
    restore(&copies);
    for (at, (path, bytes)) in copies[..copies.len() - 1].iter().enumerate() {
        fs::remove_file(path).unwrap();
        let wrong = bad(dir.path()).wrong;
        let told = if at == 3 { wrong == Wrong::CutOff(7, 7) } else { matches!(wrong, Wrong::Removed(..)) };
        assert!(told, "file {at}: {wrong:?}");
        fs::write(path, bytes).unwrap();
    }
}

#[test]
fn a_moved_or_repeated_line_is_told() {
    let (dir, copies) = log();
    let lines = all(&copies);
    for from in 0..lines.len() {
        for to in 0..=lines.len() {
            let mut moved = lines.clone();
            moved.insert(to, lines[from].clone());
            put(&copies, &moved);
            assert!(verify(dir.path(), None, &mut unwatched).unwrap().is_err(), "{from} again at {to}");
            if to == from || to == from + 1 {
                continue;
            }
            moved.remove(if to < from { from + 1 } else { from });
            put(&copies, &moved);
            let wrong = bad(dir.path()).wrong;
            let first = u64::try_from(from.min(to)).unwrap() + 1;
            assert_eq!(wrong, Wrong::Moved(first), "{from} to {to}");
        }
    }
    put(&copies, &[lines.clone(), vec![lines[2].clone()]].concat());
    assert_eq!(bad(dir.path()).wrong, Wrong::Repeated(3));
}

#[test]
fn a_cut_end_is_told_wherever_it_is_cut() {
    let (dir, copies) = log();
    let whole = all(&copies).concat();
    let (path, last) = &copies[3];
    for length in 0..last.len() {
        fs::write(path, &last[..length]).unwrap();
        let bad = bad(dir.path());
        assert_eq!((bad.wrong, bad.file, bad.line), (Wrong::CutOff(7, 7), path.clone(), 1), "{length} bytes");
    }
    // In one file, over all lines.
    for path in copies[..3].iter().map(|(path, _)| path) {
        fs::remove_file(path).unwrap();
    }
    for length in 0..whole.len() {
        fs::write(path, &whole[..length]).unwrap();
        let there = whole[..length].iter().filter(|byte| **byte == b'\n').count() as u64;
        assert_eq!(bad(dir.path()).wrong, Wrong::CutOff(there + 1, 7), "{length} bytes");
    }
    fs::remove_file(path).unwrap();
    assert_eq!(bad(dir.path()).wrong, Wrong::CutOff(1, 7));
    // The next event does not hide it.
    append(dir.path(), &policy(1 << 20), later(9000), &event("t8")).unwrap();
    assert_eq!(bad(dir.path()).wrong, Wrong::Removed(1, 7));
}

#[test]
fn an_anchor_for_less_cannot_be_made_from_the_log() {
    let (dir, copies) = log();
    let lines = all(&copies);
    put(&copies, &lines[..6]);
    let (path, bytes) = copies.last().unwrap();
    // The number of the line before, and as much of its tag as the line shows.
    let text = String::from_utf8(lines[5].clone()).unwrap();
    let shown = text.trim_end().strip_suffix("\"}").unwrap().rsplitn(3, '.').take(2).collect::<Vec<_>>();
    let shown = [shown[1], shown[0]].concat();
    let mut forged = bytes.clone();
    forged[88..96].copy_from_slice(&6_u64.to_le_bytes());
    let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
    let mark: Vec<u8> = shown.as_bytes().chunks(2).map(byte).collect();
    forged[96..112].copy_from_slice(&mark[..16]);
    forged[128..160].copy_from_slice(&mark);
    fs::write(path, &forged).unwrap();
    assert_eq!(bad(dir.path()).wrong, Wrong::Anchor);
}

#[test]
fn added_lines_are_told() {
    let (dir, copies) = log();
    let forged =
        b"{\"id\":\"x\",\"time\":\"2025-11-21T04:40:00.000Z\",\"event\":\"action_allowed\"}\n".to_vec();
    let lines = all(&copies);
    for at in 1..=lines.len() {
        let mut more = lines.clone();
        more.insert(at, forged.clone());
        put(&copies, &more);
        assert_eq!(bad(dir.path()).wrong, Wrong::Added, "{at}");
    }
    // Also when lazaret wrote on behind them.
    append(dir.path(), &policy(1 << 20), later(9000), &event("t8")).unwrap();
    assert_eq!(bad(dir.path()).wrong, Wrong::Added);
    restore(&copies);
    // So much that it is not looked through: it is set aside, and told.
    fs::OpenOptions::new()
        .append(true)
        .open(current(dir.path()))
        .unwrap()
        .write_all(&forged.repeat(100_000))
        .unwrap();
    append(dir.path(), &policy(1 << 30), later(9000), &event("t8")).unwrap();
    let bad = bad(dir.path());
    assert_eq!((bad.wrong, bad.line), (Wrong::Added, 2));
    assert_eq!(split(&fs::read(current(dir.path())).unwrap()).len(), 1);
}

#[test]
fn events_of_earlier_versions_are_unchained_and_not_bad() {
    let dir = tempfile::tempdir().unwrap();
    let old =
        |id: &str| format!("{{\"id\":\"{id}\",\"time\":\"2025-11-20T04:40:00.000Z\",\"event\":\"fault\"}}\n");
    fs::write(dir.path().join("audit-20251120T050000.000Z.jsonl"), old("a") + &old("b")).unwrap();
    fs::write(current(dir.path()), old("c") + "{\"id\":\"torn").unwrap();
    let checked = good(dir.path());
    assert_eq!((checked.lines, checked.unchained), (0, 4));
    write(dir.path(), &policy(1 << 20), 1, 3);
    let checked = good(dir.path());
    assert_eq!((checked.lines, checked.unchained, checked.torn.len()), (3, 3, 1), "{checked:?}");
    let told = lines(dir.path(), Filter::default()).unwrap().map(Result::unwrap);
    assert_eq!(told.filter(|found| matches!(found, Found::Line(_))).count(), 6);
    // From then on a line without a seal is none of ours.
    let mut file = fs::OpenOptions::new().append(true).open(current(dir.path())).unwrap();
    file.write_all(old("d").as_bytes()).unwrap();
    assert_eq!(bad(dir.path()).wrong, Wrong::Added);
}

#[test]
fn without_its_key_nothing_is_proven() {
    let (dir, copies) = log();
    let chain = dir.path().join(CHAIN);
    fs::remove_file(&chain).unwrap();
    let bad_ = bad(dir.path());
    assert_eq!((bad_.wrong, bad_.file, bad_.line), (Wrong::KeyGone, copies[0].0.clone(), 1));
    append(dir.path(), &policy(1 << 20), later(9000), &event("t8")).unwrap();
    assert_eq!(bad(dir.path()).wrong, Wrong::KeyGone);
    // A damaged one is kept, told once, and made anew.
    fs::write(&chain, "x").unwrap();
    let fault = append(dir.path(), &policy(1 << 20), later(9000), &event("t9")).unwrap_err();
    assert!(
        fault.why.contains("damaged") && dir.path().join(format!("{CHAIN}.damaged-1763700009000")).exists(),
        "{fault}"
    );
    append(dir.path(), &policy(1 << 20), later(9001), &event("t9")).unwrap();
    // So is one of another version.
    let mut other = fs::read(&chain).unwrap();
    other[11] = b'1';
    fs::write(&chain, other).unwrap();
    let fault = append(dir.path(), &policy(1 << 20), later(9002), &event("t9")).unwrap_err();
    assert!(fault.why.contains("of another version"), "{fault}");
    append(dir.path(), &policy(1 << 20), later(9003), &event("t9")).unwrap();
    // Once what can't be proven is gone, the rest is.
    let pruned = prune(dir.path(), later(20_000).unix_ms, later(20_000), false, &mut unwatched).unwrap();
    assert_eq!(pruned.files.len(), 4);
    write(dir.path(), &policy(1 << 20), 30, 2);
    assert_eq!(good(dir.path()).lines, 2);
}

#[test]
fn a_key_that_others_may_read_is_told_and_closed() {
    let (dir, _) = log();
    let chain = dir.path().join(CHAIN);
    fs::set_permissions(&chain, fs::Permissions::from_mode(0o644)).unwrap();
    assert!(good(dir.path()).exposed);
    sweep(dir.path(), &policy(1 << 20), later(9000)).unwrap();
    assert!(!good(dir.path()).exposed);
    fs::remove_file(&chain).unwrap();
    std::os::unix::fs::symlink("/dev/null", &chain).unwrap();
    let fault = append(dir.path(), &policy(1 << 20), later(9000), &event("t8")).unwrap_err();
    assert!(fault.why.contains("symbolic link"), "{fault}");
}

/// Killed between line and anchor: the line is there, and counts.
#[test]
fn a_line_behind_the_anchor_is_taken_in_by_the_next_one() {
    let dir = tempfile::tempdir().unwrap();
    let chain = dir.path().join(CHAIN);
    write(dir.path(), &policy(1 << 20), 1, 2);
    let before = fs::read(&chain).unwrap();
    write(dir.path(), &policy(1 << 20), 3, 2);
    fs::write(&chain, before).unwrap();
    let checked = good(dir.path());
    assert_eq!((checked.lines, checked.unanchored), (4, 2));
    write(dir.path(), &policy(1 << 20), 5, 1);
    let checked = good(dir.path());
    assert_eq!((checked.lines, checked.unanchored, checked.torn.len()), (5, 0, 0));
}

#[test]
fn a_torn_line_is_covered_by_the_next_one() {
    let dir = tempfile::tempdir().unwrap();
    let piece = b"{\"id\":\"0193\",\"time\":\"2025-11-2";
    write(dir.path(), &policy(1 << 20), 1, 2);
    let tear = |bytes: &[u8]| {
        fs::OpenOptions::new().append(true).open(current(dir.path())).unwrap().write_all(bytes).unwrap();
    };
    tear(piece);
    assert_eq!(good(dir.path()).torn.len(), 1);
    write(dir.path(), &policy(1 << 20), 3, 2);
    let checked = good(dir.path());
    assert_eq!((checked.lines, checked.torn.len()), (4, 1));
    assert_eq!((checked.torn[0].line, checked.torn[0].length), (3, piece.len()));
    // Two writers killed one after the other.
    tear(piece);
    tear(b"\n");
    tear(&piece[..3]);
    write(dir.path(), &policy(1 << 20), 5, 2);
    assert_eq!((good(dir.path()).lines, good(dir.path()).torn.len()), (6, 2));
    let whole = fs::read(current(dir.path())).unwrap();
    let at = whole.windows(piece.len()).position(|window| window == piece).unwrap();
    for offset in 0..piece.len() {
        let mut changed = whole.clone();
        changed[at + offset] ^= 1;
        fs::write(current(dir.path()), &changed).unwrap();
        assert_eq!(bad(dir.path()).line, 3, "byte {offset}");
    }
}

fn writers(dir: &Path, processes: usize, count: u64, max_bytes: u64) -> Vec<Child> {
    let program = worker("audit_worker");
    let start = |name: usize| {
        let mut command = Command::new(&program);
        command.arg(dir).args([name.to_string(), count.to_string(), max_bytes.to_string()]);
        command.stderr(Stdio::piped()).spawn().unwrap()
    };
    (0..processes).map(start).collect()
}

/// `LAZARET_AUDIT_EVENTS=100000` for the whole of it.
#[test]
fn eight_processes_make_one_chain() {
    let wanted = std::env::var("LAZARET_AUDIT_EVENTS").ok().and_then(|count| count.parse().ok());
    let count = wanted.unwrap_or(8_000_u64).div_ceil(8);
    let dir = tempfile::tempdir().unwrap();
    for child in writers(dir.path(), 8, count, 4 << 20) {
        let out = child.wait_with_output().unwrap();
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    }
    let checked = good(dir.path());
    assert_eq!(
        (checked.lines, checked.last, checked.torn.len(), checked.unanchored),
        (8 * count, 8 * count, 0, 0)
    );
    let mut told: Vec<String> = lines(dir.path(), Filter::default())
        .unwrap()
        .map(|found| match found.unwrap() {
            Found::Line(line) => line.tool,
            torn => panic!("{torn:?}"),
        })
        .collect();
    told.sort_unstable();
    let mut expected: Vec<String> =
        (0..8).flat_map(|name| (0..count).map(move |number| format!("{name}-{number}"))).collect();
    expected.sort_unstable();
    assert!(told == expected, "{} of {}", told.len(), expected.len());
}

#[test]
fn writers_killed_at_any_moment_leave_a_log_that_verifies() {
    let dir = tempfile::tempdir().unwrap();
    let mut last = 0;
    for round in 0..25_u64 {
        let children = writers(dir.path(), 3, 1_000_000, 200_000);
        std::thread::sleep(Duration::from_micros(3_000 + round * 2_711));
        for mut child in children {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        let checked = good(dir.path());
        assert!(checked.last >= last, "round {round}: {} after {last}", checked.last);
        last = checked.last;
        if round % 2 == 0 {
            append(dir.path(), &policy(1 << 20), Now { unix_ms: 1_900_000_000_000, boot_ms: 1 }, &event("t"))
                .unwrap();
            last += 1;
            let checked = good(dir.path());
            assert_eq!((checked.last, checked.unanchored), (last, 0));
        }
    }
    assert!(last > 100, "only {last} events were written");
}

/// The file was set aside, and the process killed before it wrote that the current one begins anew: nothing is lost, and nothing says so.
#[test]
fn a_writer_killed_between_setting_aside_and_saying_so_is_no_loss() {
    let dir = tempfile::tempdir().unwrap();
    let add = |max| append(dir.path(), &policy(max), later(0), &event("t")).unwrap();
    add(1 << 20);
    add(1);
    let key = dir.path().join("lazaret-audit.key");
    let set_aside = files(dir.path());
    assert!(set_aside.len() == 1 && !dir.path().join("audit.jsonl").exists());
    // Where the key file has the size of the current file.
    let mut bytes = fs::read(&key).unwrap();
    assert_eq!(bytes[80..88], [0; 8]);
    bytes[80..88].copy_from_slice(&fs::metadata(&set_aside[0]).unwrap().len().to_le_bytes());
    fs::write(&key, bytes).unwrap();
    add(1 << 20);
    let checked = good(dir.path());
    assert_eq!((checked.lines, checked.last), (3, 3));
    assert!(!fs::read_to_string(dir.path().join("audit.jsonl")).unwrap().contains("not there any more"));
}

#[test]
fn a_full_disk_leaves_a_log_that_verifies() {
    let dir = tempfile::tempdir().unwrap();
    let script = "ulimit -f 16; trap '' XFSZ; exec \"$0\" \"$1\" n 1000 1000000000";
    let out = Command::new("sh")
        .arg("-c")
        .arg(script)
        .arg(worker("audit_worker"))
        .arg(dir.path())
        .output()
        .unwrap();
    assert_eq!(out.status.code(), Some(4), "{}", String::from_utf8_lossy(&out.stderr));
    let checked = good(dir.path());
    assert!(checked.lines > 0 && checked.torn.is_empty(), "{checked:?}");
    write(dir.path(), &policy(1 << 30), 1, 2);
    assert_eq!(good(dir.path()).lines, checked.lines + 2);
}

#[test]
fn removed_files_are_where_the_chain_begins() {
    let (dir, copies) = log();
    let before = later(4_500).unix_ms;
    let would = prune(dir.path(), before, later(8_000), true, &mut unwatched).unwrap();
    assert_eq!(would.files, [copies[0].0.clone(), copies[1].0.clone()]);
    assert_eq!(files(dir.path()).len(), 4, "a dry run removes nothing");
    assert_eq!(prune(dir.path(), before, later(8_000), false, &mut unwatched).unwrap(), would);
    let checked = good(dir.path());
    assert_eq!((checked.lines, checked.first, checked.last), (3, 5, 7));
    // Killed before the files went: they are from before the beginning.
    fs::write(&copies[1].0, &copies[1].1).unwrap();
    let checked = good(dir.path());
    assert_eq!((checked.lines, checked.pruned), (3, 2));
    fs::remove_file(&copies[1].0).unwrap();
    // One more than was pruned is missing.
    let (path, bytes) = &copies[2];
    fs::write(path, split(bytes)[1].clone()).unwrap();
    assert_eq!(bad(dir.path()).wrong, Wrong::Removed(5, 5));
    fs::write(path, bytes).unwrap();
    // All of it, the current file too; the chain goes on.
    assert_eq!(
        prune(dir.path(), later(60_000).unix_ms, later(9_000), false, &mut unwatched).unwrap().files.len(),
        2
    );
    assert_eq!((good(dir.path()).lines, files(dir.path()).len()), (0, 0));
    write(dir.path(), &policy(1 << 20), 20, 2);
    let checked = good(dir.path());
    assert_eq!((checked.lines, checked.first, checked.last), (2, 8, 9));
    assert!(matches!(end(dir.path()), Ok(End::Fine { .. })), "what was pruned is no gap");
}

/// Files that somebody else removed: the next line says so, and the end is not fine for as long as the first line is missing.
#[test]
fn a_log_that_was_removed_is_told_by_the_next_line() {
    let (dir, _) = log();
    let count = good(dir.path()).last;
    for path in files(dir.path()) {
        fs::remove_file(path).unwrap();
    }
    for more in 0..2 {
        write(dir.path(), &policy(1 << 20), 20 + more, 1);
        let text = fs::read_to_string(current(dir.path())).unwrap();
        assert_eq!(text.matches(&format!("up to number {count} are not there")).count(), 1, "{text}");
        assert_eq!(bad(dir.path()).wrong, Wrong::Removed(1, count));
        let found = end(dir.path()).unwrap();
        assert!(matches!(&found, End::Wrong(bad) if bad.wrong == Wrong::Removed(1, count)), "{found:?}");
    }
}

#[test]
fn what_is_kept_long_enough_goes_and_the_rest_verifies() {
    let (dir, _) = log();
    let names = files(dir.path());
    let ages = [31, 31, 1, 0];
    for (path, days) in names.iter().zip(ages) {
        let time = std::time::UNIX_EPOCH + Duration::from_millis(NOW.unix_ms - days * DAY_MS);
        fs::File::open(path).unwrap().set_modified(time).unwrap();
    }
    assert_eq!(sweep(dir.path(), &policy(1 << 20), NOW).unwrap(), 2);
    assert_eq!(good(dir.path()).first, 5);
}

#[test]
fn a_clock_that_was_set_back_leaves_the_order() {
    let dir = tempfile::tempdir().unwrap();
    for (number, ms) in [9_000_000, 8_000_000, 7_000_000, 7_000_000, 10_000_000].into_iter().enumerate() {
        append(dir.path(), &policy(100), later(ms), &event(&format!("t{number}"))).unwrap();
    }
    assert_eq!((good(dir.path()).lines, files(dir.path()).len()), (5, 5));
}

#[test]
fn following_misses_nothing_where_files_are_set_aside() {
    let dir = tempfile::tempdir().unwrap();
    let mut tail = Tail::new(dir.path(), Filter::default());
    let mut seen = Vec::new();
    let mut poll = |seen: &mut Vec<String>| {
        tail.poll(|found| match found {
            Found::Line(line) => seen.push(line.tool),
            Found::Torn { .. } => panic!("{found:?}"),
        })
        .unwrap();
    };
    poll(&mut seen);
    let mut number = 0;
    for batch in [1, 3, 2, 7, 1, 1, 5] {
        write(dir.path(), &policy(300), number, batch);
        number += batch;
        poll(&mut seen);
        assert_eq!(seen, (0..number).map(|number| format!("t{number}")).collect::<Vec<_>>());
    }
    // Half a line is none yet.
    let text = "{\"id\":\"x\",\"time\":\"2025-11-21T04:40:00.000Z\",\"tool\":\"half\"}";
    let mut file = fs::OpenOptions::new().append(true).create(true).open(current(dir.path())).unwrap();
    file.write_all(text.as_bytes()).unwrap();
    poll(&mut seen);
    assert_eq!(seen.len() as u64, number);
    file.write_all(b"\n").unwrap();
    poll(&mut seen);
    assert_eq!(seen.last().unwrap(), "half");
}

#[test]
fn following_late_begins_near_the_end_and_misses_nothing_from_there() {
    let dir = tempfile::tempdir().unwrap();
    let after = |most: u64| {
        let (mut tail, mut seen) = (Tail::late(dir.path(), Filter::default(), most).unwrap(), Vec::new());
        let mut poll = |tail: &mut Tail| {
            tail.poll(|found| {
                if let Found::Line(line) = found {
                    seen.push(line.tool)
                }
            })
            .unwrap();
        };
        poll(&mut tail);
        write(dir.path(), &policy(300), 20, 3);
        poll(&mut tail);
        seen
    };
    assert_eq!(after(u64::MAX), ["t20", "t21", "t22"], "there was no log");
    fs::remove_dir_all(dir.path()).unwrap();
    write(dir.path(), &policy(300), 0, 20);
    assert!(files(dir.path()).len() > 3);
    let all = after(u64::MAX);
    assert_eq!(all, (0..23).map(|number| format!("t{number}")).collect::<Vec<_>>());
    let some = after(700);
    assert!((4..10).contains(&some.len()) && some[some.len() - 3..] == all[20..], "{some:?}");
}

/// Seed 000, `audit`: `log_level: {:enum, [:debug, :info, :warn, :error], :info}`.
#[test]
fn the_level_says_what_is_written() {
    assert_eq!(Policy::default().audit.log_level, LogLevel::Info);
    assert!(
        LogLevel::Debug < LogLevel::Info
            && LogLevel::Info < LogLevel::Warn
            && LogLevel::Warn < LogLevel::Error
    );
    let kinds = [
        (EventKind::ClientEvent, 1),
        (EventKind::ActionAllowed, 2),
        (EventKind::ActionWarned, 3),
        (EventKind::ActionBlocked, 4),
        (EventKind::Fault, 4),
        (EventKind::SessionStopped, 4),
    ];
    for (at, log_level) in
        [LogLevel::Debug, LogLevel::Info, LogLevel::Warn, LogLevel::Error].into_iter().enumerate()
    {
        let dir = tempfile::tempdir().unwrap();
        let policy = AuditPolicy { log_level, ..policy(1 << 20) };
        for (kind, level) in kinds {
            let written = append(dir.path(), &policy, NOW, &AuditEvent { kind, ..event("t") }).unwrap();
            assert_eq!(written.is_some(), level > at, "{} at {log_level:?}", kind.name());
        }
        good(dir.path());
    }
}
