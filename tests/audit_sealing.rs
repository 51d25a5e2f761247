//! The log's keys go forward and are forgotten: whoever reads all of the machine cannot rewrite what was written before, and a person
//! with the verification key sees it. And what the end of the log, and the lines that are shown, say without a key.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod worker;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use lazaret::domain::{AuditEvent, AuditPolicy, EventKind, Policy};
use lazaret::host::audit::{
    Bad, CHAIN, Checked, End, Filter, Found, VerificationKey, Wrong, append, end, give, marked, prune, verify,
};
use lazaret::host::clock::Now;
use lazaret::host::unwatched;
use worker::worker;

const NOW: Now = Now { unix_ms: 1_763_700_000_000, boot_ms: 1 };
/// Where the file of the chain has its parts.
const SEALING: std::ops::Range<usize> = 48..80;
const COUNT: std::ops::Range<usize> = 88..96;
const MARK: std::ops::Range<usize> = 128..160;

fn policy(max_bytes: u64) -> AuditPolicy {
    AuditPolicy { max_bytes, ..Policy::default().audit }
}

fn later(ms: u64) -> Now {
    Now { unix_ms: NOW.unix_ms + ms, ..NOW }
}

/// So many events, each a second after the one before it.
fn write(dir: &Path, from: u64, count: u64, max_bytes: u64) {
    for number in from..from + count {
        let tool = format!("t{number}");
        let event = AuditEvent {
            kind: EventKind::ActionAllowed,
            subject: None,
            cwd: "/w",
            tool: &tool,
            action: "ls",
            call_id: None,
            decision: None,
            note: "",
            duration_us: 3,
        };
        append(dir, &policy(max_bytes), later(number * 1000), &event).unwrap();
    }
}

fn good(dir: &Path, key: Option<&VerificationKey>) -> Checked {
    verify(dir, key, &mut unwatched).unwrap().unwrap_or_else(|bad| panic!("{bad:?}"))
}

fn bad(dir: &Path, key: Option<&VerificationKey>) -> Bad {
    match verify(dir, key, &mut unwatched).unwrap() {
        Err(bad) => bad,
        Ok(checked) => panic!("not seen: {checked:?}"),
    }
}

fn current(dir: &Path) -> PathBuf {
    dir.join("audit.jsonl")
}

fn log_lines(dir: &Path) -> Vec<String> {
    fs::read_to_string(current(dir)).unwrap().split_inclusive('\n').map(str::to_owned).collect()
}

fn add(dir: &Path, bytes: &[u8]) {
    let mut file = fs::OpenOptions::new().append(true).create(true).open(current(dir)).unwrap();
    file.write_all(bytes).unwrap();
}

/// What is wrong with each line, as whoever shows them sees it: the tool's name with what is wrong.
fn marks(dir: &Path, key: Option<&VerificationKey>) -> Vec<(String, Option<&'static str>)> {
    let found = marked(dir, Filter::default(), key).unwrap().map(Result::unwrap);
    found
        .filter_map(|found| match found {
            Found::Line(line) => Some((line.tool.clone(), line.wrong.map(Wrong::name))),
            Found::Torn { .. } => None,
        })
        .collect()
}

/// Seven events, and a key that was given out before the first.
fn log() -> (tempfile::TempDir, VerificationKey) {
    let dir = tempfile::tempdir().unwrap();
    let key = give(dir.path(), NOW).unwrap();
    write(dir.path(), 1, 7, 1 << 20);
    (dir, key)
}

/// Somebody who has read and may write everything: the chain is put back to behind line `count`, whose mark the log shows, and goes on
/// from there with the present sealing key.
fn put_back(dir: &Path, count: usize) {
    let lines = log_lines(dir);
    fs::write(current(dir), lines[..count].concat()).unwrap();
    let seal: Vec<&str> = lines[count - 1].trim_end().trim_end_matches("\"}").rsplitn(3, '.').collect();
    let digits = [seal[1], seal[0]].concat();
    let mark: Vec<u8> = digits
        .as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect();
    let mut chain = fs::read(dir.join(CHAIN)).unwrap();
    chain[COUNT].copy_from_slice(&(count as u64).to_le_bytes());
    chain[MARK].copy_from_slice(&mark);
    let size = fs::metadata(current(dir)).unwrap().len();
    chain[80..88].copy_from_slice(&size.to_le_bytes());
    fs::write(dir.join(CHAIN), chain).unwrap();
}

#[test]
fn who_reads_the_key_cannot_rewrite_what_was_written_before() {
    let (dir, key) = log();
    let dir = dir.path();
    assert_eq!(good(dir, Some(&key)).proven, Some(1));
    put_back(dir, 3);
    write(dir, 4, 4, 1 << 20);
    // The chain is whole: without the verification key nothing is seen of it.
    assert_eq!((good(dir, None).lines, good(dir, None).proven), (7, None));
    let found = bad(dir, Some(&key));
    assert_eq!((found.wrong, found.line), (Wrong::Forged, 4));
    let wrong: Vec<_> = marks(dir, Some(&key)).into_iter().filter_map(|(_, wrong)| wrong).collect();
    assert_eq!(wrong, ["forged"; 4]);
}

#[test]
fn who_reads_the_key_cannot_cut_off_the_end() {
    let (dir, key) = log();
    let dir = dir.path();
    put_back(dir, 5);
    write(dir, 6, 1, 1 << 20);
    assert_eq!(bad(dir, Some(&key)).wrong, Wrong::Forged);
    let (dir, key) = log();
    let dir = dir.path();
    put_back(dir, 5);
    // The anchor's whole tag is not in the log; where somebody computes it, the sealing key is still a later one's.
    let changed = bad(dir, Some(&key));
    assert_eq!(changed.wrong, Wrong::Anchor);
    // All of it gone, and begun anew.
    let (dir, key) = log();
    let dir = dir.path();
    fs::remove_file(current(dir)).unwrap();
    fs::remove_file(dir.join(CHAIN)).unwrap();
    assert_eq!(bad(dir, Some(&key)).wrong, Wrong::OtherChain);
    write(dir, 1, 7, 1 << 20);
    assert_eq!(good(dir, None).lines, 7);
    assert_eq!(bad(dir, Some(&key)).wrong, Wrong::OtherChain);
}

#[test]
fn a_replaced_sealing_key_is_seen_with_the_verification_key() {
    let (dir, key) = log();
    let dir = dir.path();
    let whole = fs::read(dir.join(CHAIN)).unwrap();
    for at in SEALING {
        let mut changed = whole.clone();
        changed[at] ^= 1;
        fs::write(dir.join(CHAIN), &changed).unwrap();
        assert_eq!(bad(dir, Some(&key)).wrong, Wrong::Anchor, "byte {at}");
    }
}

#[test]
fn keys_are_forgotten_with_every_line() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let key = give(dir, NOW).unwrap();
    let mut seen: Vec<Vec<u8>> = Vec::new();
    for number in 1..20 {
        let secret = fs::read(dir.join(CHAIN)).unwrap()[SEALING].to_vec();
        assert!(!seen.contains(&secret), "the key of line {number}");
        seen.push(secret);
        write(dir, number, 1, 300);
        for entry in fs::read_dir(dir).unwrap().flatten() {
            let bytes = fs::read(entry.path()).unwrap();
            for old in &seen {
                assert!(!bytes.windows(old.len()).any(|window| window == old), "{:?}", entry.path());
            }
        }
    }
    assert!(key.text().contains(&seen[0].iter().map(|byte| format!("{byte:02x}")).collect::<String>()));
    assert_eq!((good(dir, Some(&key)).proven, good(dir, Some(&key)).given), (Some(1), 1));
}

#[test]
fn a_key_given_out_later_covers_what_was_there_too() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    write(dir, 1, 4, 1 << 20);
    let key = give(dir, NOW).unwrap();
    assert_eq!((key.first(), good(dir, Some(&key)).proven), (5, None));
    write(dir, 5, 3, 1 << 20);
    assert_eq!(good(dir, Some(&key)).proven, Some(5));
    let again = VerificationKey::parse(&key.text()).unwrap();
    assert_eq!(good(dir, Some(&again)).proven, Some(5));
    // Of what was there before it nothing can be written anew without a break at its first line.
    let after = log_lines(dir)[4..].concat();
    put_back(dir, 2);
    write(dir, 3, 2, 1 << 20);
    add(dir, after.as_bytes());
    assert!(verify(dir, Some(&key), &mut unwatched).unwrap().is_err());
    // More than there is to be proven: the log was put back to before the key.
    let (dir, _) = log();
    let dir = dir.path();
    let old = (fs::read(dir.join(CHAIN)).unwrap(), fs::read(current(dir)).unwrap());
    write(dir, 8, 3, 1 << 20);
    let key = give(dir, NOW).unwrap();
    fs::write(dir.join(CHAIN), old.0).unwrap();
    fs::write(current(dir), old.1).unwrap();
    assert_eq!(bad(dir, Some(&key)).wrong, Wrong::CutOff(8, 10));
}

#[test]
fn a_log_whose_oldest_files_were_removed_is_proven_from_where_it_begins() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let key = give(dir, NOW).unwrap();
    write(dir, 1, 9, 300);
    let pruned = prune(dir, later(5_500).unix_ms, later(20_000), false, &mut unwatched).unwrap();
    assert!(!pruned.files.is_empty());
    let checked = good(dir, Some(&key));
    assert!(checked.first > 1, "{checked:?}");
    assert_eq!((checked.proven, checked.last), (Some(checked.first), 9));
    // A copy of the directory is as good as the log.
    let copy = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(dir).unwrap().flatten() {
        fs::copy(entry.path(), copy.path().join(entry.file_name())).unwrap();
    }
    assert_eq!(good(copy.path(), Some(&key)), checked);
}

/// A writer was killed while it wrote the first line of a new file: the next line's seal covers the piece.
#[test]
fn a_file_that_begins_with_a_torn_line_ends_well() {
    for aside in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        let key = give(dir, NOW).unwrap();
        if aside {
            // Each line fills a file.
            write(dir, 1, 1, 1);
        }
        add(dir, b"{\"id\":\"torn");
        write(dir, 2, 1, 1 << 20);
        assert_eq!(good(dir, Some(&key)).torn.len(), 1, "{aside}");
        assert_eq!(end(dir).unwrap(), End::Fine { given: 1 }, "{aside}");
        // The piece is as it was.
        let text = fs::read_to_string(current(dir)).unwrap();
        fs::write(current(dir), text.replace("torn", "turn")).unwrap();
        assert!(matches!(end(dir).unwrap(), End::Wrong(_)), "{aside}");
    }
}

#[test]
fn killed_writers_leave_a_log_that_the_key_proves() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let key = give(dir, NOW).unwrap();
    let program = worker("audit_worker");
    let mut last = 0;
    for round in 0..20_u64 {
        let start = |name: u64| {
            let mut command = Command::new(&program);
            command.arg(dir).args([name.to_string(), "1000000".to_owned(), "100000".to_owned()]);
            command.stderr(Stdio::null()).spawn().unwrap()
        };
        let children: Vec<_> = (0..3).map(start).collect();
        std::thread::sleep(Duration::from_micros(5_000 + round * 3_137));
        for mut child in children {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        let checked = good(dir, Some(&key));
        assert!(checked.last >= last, "round {round}: {} after {last}", checked.last);
        last = checked.last;
        assert!(
            matches!(end(dir).unwrap(), End::Fine { given: 1 } | End::None),
            "round {round}: {:?}",
            end(dir)
        );
        // No line that is there is one that does not verify.
        assert!(marks(dir, Some(&key)).iter().all(|(_, wrong)| wrong.is_none()), "round {round}");
    }
    assert!(last > 50, "only {last} events were written");
}

/// Killed between the line and the key: the line is there and the key is still its own.
#[test]
fn a_line_whose_key_was_not_forgotten_in_time_counts() {
    let (dir, key) = log();
    let dir = dir.path();
    let before = fs::read(dir.join(CHAIN)).unwrap();
    write(dir, 8, 1, 1 << 20);
    fs::write(dir.join(CHAIN), before).unwrap();
    let checked = good(dir, Some(&key));
    assert_eq!((checked.lines, checked.unanchored, checked.proven), (8, 1, Some(1)));
    assert_eq!(end(dir).unwrap(), End::Fine { given: 1 });
    write(dir, 9, 1, 1 << 20);
    let checked = good(dir, Some(&key));
    assert_eq!((checked.lines, checked.unanchored), (9, 0));
}

/// The writer was killed one byte before the end of its line.
#[test]
fn a_line_without_its_line_feed_counts_once() {
    let (dir, key) = log();
    let dir = dir.path();
    let before = fs::read(dir.join(CHAIN)).unwrap();
    write(dir, 8, 1, 1 << 20);
    fs::write(dir.join(CHAIN), &before).unwrap();
    let bytes = fs::read(current(dir)).unwrap();
    fs::write(current(dir), bytes.strip_suffix(b"\n").unwrap()).unwrap();
    assert_eq!((good(dir, Some(&key)).lines, good(dir, Some(&key)).torn.len()), (8, 0));
    write(dir, 9, 2, 1 << 20);
    let checked = good(dir, Some(&key));
    assert_eq!((checked.lines, checked.last, checked.torn.len()), (10, 10, 0));
    assert_eq!(log_lines(dir).len(), 10);
}

#[test]
fn a_complete_line_added_by_hand_is_a_forgery() {
    let forged = [
        r#"{"id":"x"}"#,
        r#"{"id":"x","tool":"Bash"}"#,
        r#"{"id":"x","time":"","event":"action_allowed"}"#,
        r#"{"id":"x","time":"2025-11-21T04:40:00.000Z","event":"action_allowed","verdict":"fine"}"#,
        r#"{"id":"x","time":"2025-11-21T04:40:00.000Z","event":"action_allowed"}"#,
        r#"{"id":"x","time":7}"#,
        r#"{"id":"x"} "#,
        r#"{"id":"x"}}"#,
        r#"{"id":"x" "time"}"#,
        r#"{"ID":"x"}"#,
        "[]",
        "x",
    ];
    for text in forged {
        for ending in ["\n", ""] {
            let (dir, key) = log();
            let dir = dir.path();
            add(dir, format!("{text}{ending}").as_bytes());
            assert_eq!(bad(dir, None).wrong, Wrong::Added, "{text}{ending:?}");
            let End::Wrong(found) = end(dir).unwrap() else { panic!("{text}") };
            assert_eq!(found.wrong, Wrong::Added, "{text}");
            // Also when lazaret wrote on behind it, and with the key.
            write(dir, 8, 1, 1 << 20);
            assert_eq!(bad(dir, None).wrong, Wrong::Added, "{text}");
            assert_eq!(bad(dir, Some(&key)).wrong, Wrong::Added, "{text}");
            assert!(matches!(end(dir).unwrap(), End::Wrong(_)), "{text}");
        }
    }
    // What a killed writer leaves is none.
    let (dir, _) = log();
    let whole = log_lines(dir.path())[0].clone();
    for length in 1..whole.len() - 2 {
        let (dir, key) = log();
        add(dir.path(), &whole.as_bytes()[..length]);
        assert_eq!(good(dir.path(), Some(&key)).torn.len(), 1, "{length} bytes");
        assert_eq!(end(dir.path()).unwrap(), End::Fine { given: 1 });
    }
}

#[test]
fn the_end_of_the_log_is_looked_at_alone() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    assert_eq!(end(dir).unwrap(), End::None);
    // At every length, and where files are set aside.
    for number in 1..12 {
        write(dir, number, 1, 500);
        assert_eq!(end(dir).unwrap(), End::Fine { given: 0 }, "{number}");
    }
    let wrong = |dir: &Path| match end(dir).unwrap() {
        End::Wrong(bad) => bad.wrong,
        fine => panic!("not seen: {fine:?}"),
    };
    let (dir, _) = log();
    let dir = dir.path();
    let (chain, bytes) = (fs::read(dir.join(CHAIN)).unwrap(), fs::read(current(dir)).unwrap());
    let lines = log_lines(dir);
    fs::write(current(dir), lines[..6].concat()).unwrap();
    assert_eq!(wrong(dir), Wrong::CutOff(7, 7));
    fs::write(current(dir), [&lines[..5], &lines[6..]].concat().concat()).unwrap();
    assert_eq!(wrong(dir), Wrong::Removed(6, 6));
    fs::write(current(dir), lines.concat().replace("t7", "t8")).unwrap();
    assert_eq!(wrong(dir), Wrong::Changed);
    fs::write(current(dir), "").unwrap();
    assert_eq!(wrong(dir), Wrong::CutOff(1, 7));
    fs::remove_file(current(dir)).unwrap();
    assert_eq!(wrong(dir), Wrong::CutOff(1, 7));
    fs::write(current(dir), &bytes).unwrap();
    fs::remove_file(dir.join(CHAIN)).unwrap();
    assert_eq!(wrong(dir), Wrong::KeyGone);
    fs::write(dir.join(CHAIN), &chain).unwrap();
    assert_eq!(end(dir).unwrap(), End::Fine { given: 1 });
    // What is far in front of the end is not looked at: that is what `verify` is for.
    write(dir, 8, 1_500, 1 << 30);
    let long = fs::read_to_string(current(dir)).unwrap();
    fs::write(current(dir), long.replacen("t2", "t0", 1)).unwrap();
    assert_eq!(end(dir).unwrap(), End::Fine { given: 1 });
    assert_eq!(bad(dir, None).wrong, Wrong::Changed);
}

#[test]
fn lines_that_do_not_verify_are_marked_and_no_others() {
    let (dir, _) = log();
    let dir = dir.path();
    let lines = log_lines(dir);
    let all = |wrong: &[(usize, &'static str)]| -> Vec<(String, Option<&'static str>)> {
        (1..=7)
            .map(|number| {
                let found = wrong.iter().find(|(line, _)| *line == number);
                (format!("t{number}"), found.map(|(_, wrong)| *wrong))
            })
            .collect()
    };
    assert_eq!(marks(dir, None), all(&[]));
    // Changed: the line itself, and none behind it.
    let mut changed = lines.clone();
    changed[2] = changed[2].replace("\"ls\"", "\"id\"");
    fs::write(current(dir), changed.concat()).unwrap();
    assert_eq!(marks(dir, None), all(&[(3, "changed")]));
    // Added, sealed as it seems, or not.
    for forged in [
        lines[5].replace("t6", "t9"),
        lines[2].clone(),
        "{\"id\":\"x\",\"time\":\"2\",\"tool\":\"t9\"}\n".into(),
    ] {
        let mut added = lines.clone();
        added.insert(3, forged.clone());
        fs::write(current(dir), added.concat()).unwrap();
        let marks = marks(dir, None);
        let wrong: Vec<usize> =
            marks.iter().enumerate().filter(|(_, (_, wrong))| wrong.is_some()).map(|(at, _)| at).collect();
        assert_eq!(wrong, [3], "{forged}: {marks:?}");
    }
    // Removed: the line behind it says so, and the rest verifies.
    let mut removed = lines.clone();
    removed.remove(3);
    fs::write(current(dir), removed.concat()).unwrap();
    let mut expected = all(&[(5, "removed")]);
    expected.remove(3);
    assert_eq!(marks(dir, None), expected);
    fs::write(current(dir), lines.concat()).unwrap();
    // Another chain's.
    let (other, _) = log();
    add(dir, log_lines(other.path())[0].as_bytes());
    assert_eq!(marks(dir, None).pop().unwrap().1, Some("key_gone"));
}

/// A log of the version before, as its binary wrote it.
fn earlier() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/audit");
    fs::copy(data.join("earlier.jsonl"), current(dir.path())).unwrap();
    let digits = fs::read_to_string(data.join("earlier.key.hex")).unwrap();
    let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
    let bytes: Vec<u8> = digits.trim().as_bytes().chunks(2).map(byte).collect();
    fs::write(dir.path().join(CHAIN), bytes).unwrap();
    dir
}

#[test]
fn the_log_of_an_earlier_version_still_verifies_and_goes_on() {
    let dir = earlier();
    let dir = dir.path();
    let checked = good(dir, None);
    assert_eq!((checked.lines, checked.earlier, checked.first, checked.last), (5, 5, 1, 5));
    assert_eq!(end(dir).unwrap(), End::Fine { given: 0 });
    assert!(marks(dir, None).iter().all(|(_, wrong)| wrong.is_none()));
    let key = give(dir, NOW).unwrap();
    assert_eq!(key.first(), 6);
    write(dir, 6, 4, 1 << 20);
    let checked = good(dir, Some(&key));
    assert_eq!((checked.lines, checked.earlier, checked.proven, checked.last), (9, 5, Some(6), 9));
    assert_eq!(end(dir).unwrap(), End::Fine { given: 6 });
    assert!(marks(dir, Some(&key)).iter().all(|(_, wrong)| wrong.is_none()));
    // What the earlier version wrote is still held against its key, byte by byte.
    let whole = fs::read(current(dir)).unwrap();
    let old = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/audit/earlier.jsonl")).unwrap();
    for at in (0..old.len()).step_by(7) {
        let mut changed = whole.clone();
        changed[at] ^= 1;
        fs::write(current(dir), &changed).unwrap();
        assert!(verify(dir, None, &mut unwatched).unwrap().is_err(), "byte {at}");
    }
    // Its one key seals no line of ours.
    fs::write(current(dir), &whole).unwrap();
    add(dir, &old[old.len() - 235..]);
    assert!(verify(dir, None, &mut unwatched).unwrap().is_err());
}

#[test]
fn a_line_that_an_earlier_version_did_not_anchor_is_taken_in() {
    let dir = earlier();
    let dir = dir.path();
    // The anchor of the fourth line, as it was before the fifth: only its number and size are known from outside, so the whole file
    // is made from the line before by the earlier binary's own rule, which the chain of five proves.
    let lines = log_lines(dir);
    fs::write(current(dir), lines[..5].concat() + "{\"id\":\"torn").unwrap();
    let checked = good(dir, None);
    assert_eq!((checked.lines, checked.torn.len()), (5, 1));
    write(dir, 6, 2, 1 << 20);
    let checked = good(dir, None);
    assert_eq!((checked.lines, checked.earlier, checked.torn.len()), (7, 5, 1));
}

#[test]
fn files_of_an_earlier_version_are_removed_like_ours() {
    let dir = earlier();
    let dir = dir.path();
    // Set aside by the earlier version: the end of its file stands behind its chain's beginning, and the size is none.
    fs::rename(current(dir), dir.join("audit-20261123T124917.000Z.jsonl")).unwrap();
    let mut chain = fs::read(dir.join(CHAIN)).unwrap();
    let anchor = chain[56..96].to_vec();
    chain[48..56].fill(0);
    chain.extend_from_slice(&anchor);
    fs::write(dir.join(CHAIN), chain).unwrap();
    assert_eq!(end(dir).unwrap(), End::Fine { given: 0 });
    for number in 1_000_000_000_u64..1_000_000_003 {
        write(dir, number, 1, 300);
    }
    assert_eq!((good(dir, None).lines, good(dir, None).earlier), (8, 5));
    let before = 1_763_700_000_000 + 31_000_000_000;
    let pruned =
        prune(dir, 1_795_438_200_000, Now { unix_ms: before * 2, boot_ms: 1 }, false, &mut unwatched)
            .unwrap();
    assert_eq!(pruned.files.len(), 1);
    let checked = good(dir, None);
    assert_eq!((checked.lines, checked.earlier, checked.first, checked.last), (3, 0, 6, 8));
}
