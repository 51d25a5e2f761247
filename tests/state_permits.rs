//! One-time permissions: exactly that action, exactly once, for ten minutes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use lazaret::domain::{Client, SessionId, Subject};
use lazaret::host::clock::Now;
use lazaret::host::permit::{ActionDigest, Permits, TTL_MS};

const NOW: Now = Now { unix_ms: 1_700_000_000_000, boot_ms: 5_000_000 };

fn later(ms: u64) -> Now {
    Now { unix_ms: NOW.unix_ms + ms, boot_ms: NOW.boot_ms + ms }
}

fn subject(client: Client, session: &str) -> Subject {
    Subject { client, session: SessionId::new(session).unwrap(), agent: None, agent_type: None }
}

fn action(text: &str) -> ActionDigest {
    ActionDigest::new(&subject(Client::ClaudeCode, "s"), "Bash", text, "/w")
}

fn permits() -> (tempfile::TempDir, Permits) {
    let dir = tempfile::tempdir().unwrap();
    let permits = Permits::new(dir.path());
    (dir, permits)
}

#[test]
fn an_action_is_this_one_only() {
    let claude = subject(Client::ClaudeCode, "s");
    let this = ActionDigest::new(&claude, "Bash", "ls", "/w");
    assert_eq!(this, ActionDigest::new(&subject(Client::ClaudeCode, "other"), "Bash", "ls", "/w"));
    let others = [
        ActionDigest::new(&subject(Client::OpenCode, "s"), "Bash", "ls", "/w"),
        ActionDigest::new(&claude, "Read", "ls", "/w"),
        ActionDigest::new(&claude, "Bash", "ls ", "/w"),
        ActionDigest::new(&claude, "Bash", "ls", "/w/"),
        ActionDigest::new(&claude, "Bashl", "s", "/w"),
    ];
    assert!(others.iter().all(|other| *other != this));
}

#[test]
fn what_is_granted_passes_once() {
    let (dir, permits) = permits();
    assert!(!permits.take(&action("a"), NOW).unwrap());
    let code = permits.offer(&action("a"), "rm a", NOW).unwrap();
    assert!(!permits.take(&action("a"), NOW).unwrap(), "offered is not granted");
    let granted = permits.grant(&code, later(1)).unwrap().unwrap();
    assert_eq!((granted.text.as_str(), &granted.action), ("rm a", &action("a")));
    assert!(permits.grant(&code, later(1)).unwrap().is_none(), "a code is good once");
    assert!(!permits.take(&action("b"), later(2)).unwrap());
    let mode = fs::metadata(dir.path().join("permits/granted")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    assert!(permits.take(&action("a"), later(2)).unwrap());
    assert!(!permits.take(&action("a"), later(2)).unwrap());
}

#[test]
fn what_is_refused_is_neither_open_nor_granted() {
    let (_dir, permits) = permits();
    let code = permits.offer(&action("a"), "rm a", NOW).unwrap();
    let other = permits.offer(&action("b"), "rm b", NOW).unwrap();
    assert_eq!(permits.offers(later(1000)).unwrap()[0].left_ms(later(1000)), TTL_MS - 1000);
    let refused = permits.refuse(&code.to_lowercase(), later(1)).unwrap().unwrap();
    assert_eq!((refused.text.as_str(), &refused.action), ("rm a", &action("a")));
    assert!(
        permits.refuse(&code, later(1)).unwrap().is_none()
            && permits.grant(&code, later(1)).unwrap().is_none()
    );
    assert!(!permits.take(&action("a"), later(2)).unwrap());
    assert_eq!(
        permits.offers(later(2)).unwrap().iter().map(|offer| &offer.code).collect::<Vec<_>>(),
        [&other]
    );
    assert_ne!(
        permits.offer(&action("a"), "rm a", later(3)).unwrap(),
        code,
        "tried again it is another question"
    );
    assert!(permits.refuse(&other, later(TTL_MS)).unwrap().is_none(), "it had expired");
}

#[test]
fn of_many_that_take_it_one_has_it() {
    let (_dir, permits) = permits();
    for _ in 0..20 {
        let code = permits.offer(&action("a"), "rm a", NOW).unwrap();
        permits.grant(&code, NOW).unwrap().unwrap();
        let take = || permits.take(&action("a"), NOW).unwrap();
        let taken = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(take)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).filter(|won| *won).count()
        });
        assert_eq!(taken, 1);
    }
}

#[test]
fn a_code_is_read_as_it_was_meant() {
    let (_dir, permits) = permits();
    for number in 0..50 {
        let action = action(&number.to_string());
        let code = permits.offer(&action, "x", NOW).unwrap();
        assert_eq!((code.len(), code.as_bytes()[4]), (9, b'-'), "{code}");
        assert!(!code.contains(['O', 'I', 'L', 'U']), "{code}");
        let typed = code.to_lowercase().replace('-', " ").replace('0', "o").replace('1', "l");
        assert_eq!(permits.grant(&typed, NOW).unwrap().unwrap().action, action);
    }
    for wrong in ["", "-", "AAAA-AAAA", "../../x"] {
        assert!(permits.grant(wrong, NOW).unwrap().is_none(), "{wrong}");
    }
}

#[test]
fn an_offer_keeps_its_code_while_it_is_good() {
    let (_dir, permits) = permits();
    let first = permits.offer(&action("a"), "x", NOW).unwrap();
    assert_eq!(permits.offer(&action("a"), "x", later(TTL_MS - 1)).unwrap(), first);
    let second = permits.offer(&action("a"), "x", later(TTL_MS)).unwrap();
    assert_ne!(second, first);
    assert!(permits.grant(&first, later(TTL_MS)).unwrap().is_none());
    assert_eq!(permits.offers(later(TTL_MS)).unwrap().len(), 1);
}

#[test]
fn after_ten_minutes_neither_offer_nor_permission_is_good() {
    let (_dir, permits) = permits();
    let code = permits.offer(&action("a"), "x", NOW).unwrap();
    assert!(permits.grant(&code, later(TTL_MS)).unwrap().is_none());
    permits.grant(&code, later(TTL_MS - 1)).unwrap().unwrap();
    assert!(!permits.take(&action("a"), later(2 * TTL_MS)).unwrap());
}

#[test]
fn no_clock_makes_an_old_permission_good_again() {
    let (unix_ms, boot_ms) = (NOW.unix_ms, NOW.boot_ms);
    let odd = [
        Now { unix_ms: unix_ms - 3_600_000, boot_ms: boot_ms + TTL_MS },
        Now { unix_ms: unix_ms + 1, boot_ms: 7 },
        Now { unix_ms: unix_ms + TTL_MS, boot_ms: boot_ms + 1 },
        Now { unix_ms: unix_ms - TTL_MS, boot_ms: boot_ms + 1 },
    ];
    for now in odd {
        let (_dir, permits) = permits();
        let code = permits.offer(&action("a"), "x", NOW).unwrap();
        permits.grant(&code, NOW).unwrap().unwrap();
        assert!(!permits.take(&action("a"), now).unwrap(), "{now:?}");
    }
}

#[test]
fn what_expired_or_is_damaged_is_swept() {
    let (dir, permits) = permits();
    permits.offer(&action("old"), "x", NOW).unwrap();
    permits.offer(&action("new"), "x", later(TTL_MS)).unwrap();
    fs::write(dir.path().join("permits/offered/junk"), "{").unwrap();
    assert_eq!(permits.sweep(later(TTL_MS)).unwrap(), 1, "junk may be half written");
    let names: Vec<_> = fs::read_dir(dir.path().join("permits/offered")).unwrap().flatten().collect();
    assert_eq!(names.len(), 2);
    assert_eq!(permits.sweep(Now { unix_ms: u64::MAX, boot_ms: u64::MAX }).unwrap(), 2);
    assert!(permits.offers(NOW).unwrap().is_empty());
}

#[test]
fn a_permission_for_another_action_or_by_a_link_is_none() {
    let (dir, permits) = permits();
    let code = permits.offer(&action("a"), "x", NOW).unwrap();
    permits.grant(&code, NOW).unwrap().unwrap();
    let granted = dir.path().join("permits/granted");
    let name = fs::read_dir(&granted).unwrap().flatten().next().unwrap().path();
    let code = permits.offer(&action("b"), "x", NOW).unwrap();
    permits.grant(&code, NOW).unwrap().unwrap();
    let other = fs::read_dir(&granted).unwrap().flatten().map(|e| e.path()).find(|p| *p != name).unwrap();
    fs::copy(&name, &other).unwrap();
    assert!(!permits.take(&action("b"), NOW).unwrap());
    symlink(&name, &other).unwrap();
    assert!(permits.take(&action("b"), NOW).is_err());
}
