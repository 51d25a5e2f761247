//! The audit log: no line is lost or torn, whoever writes and whatever rotates; what is torn is told.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod worker;

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime};

use lazaret::domain::{
    AuditEvent, AuditPolicy, Client, Decision, EventKind, FaultKind, LogLevel, Reason, SessionId, Severity,
    Subject, Verdict,
};
use lazaret::host::audit::{Filter, Found, Line, append, lines, sweep};
use lazaret::host::clock::Now;
use worker::worker;

const POLICY: AuditPolicy = AuditPolicy {
    enabled: true,
    log_level: LogLevel::Info,
    mask_pii: false,
    retain_days: 30,
    max_bytes: 1 << 30,
};
const NOW: Now = Now { unix_ms: 1_763_700_000_000, boot_ms: 1 };
const DAY_MS: u64 = 24 * 60 * 60 * 1000;

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

fn found(dir: &Path, filter: Filter) -> Vec<Found> {
    lines(dir, filter).unwrap().map(Result::unwrap).collect()
}

fn read(dir: &Path, filter: Filter) -> Vec<Line> {
    let line = |found| match found {
        Found::Line(line) => *line,
        Found::Torn { .. } => panic!("{found:?}"),
    };
    found(dir, filter).into_iter().map(line).collect()
}

fn tools(dir: &Path, filter: Filter) -> Vec<String> {
    read(dir, filter).into_iter().map(|line| line.tool).collect()
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let mut names: Vec<_> = fs::read_dir(dir).unwrap().flatten().map(|entry| entry.path()).collect();
    names.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    names.sort();
    names
}

fn writers(dir: &Path, count: usize, max_bytes: u64) -> Vec<Child> {
    let program = worker("audit_worker");
    let start = |name: usize| {
        let mut command = Command::new(&program);
        command.arg(dir).args([name.to_string(), count.to_string(), max_bytes.to_string()]);
        command.stderr(Stdio::piped()).spawn().unwrap()
    };
    (0..8).map(start).collect()
}

/// Eight processes, and every line of each is there once, whole and in its order.
fn all_there(dir: &Path, count: usize, max_bytes: u64) {
    for child in writers(dir, count, max_bytes) {
        let out = child.wait_with_output().unwrap();
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    }
    let lines = read(dir, Filter::default());
    let ids: BTreeSet<_> = lines.iter().map(|line| &line.id).collect();
    assert_eq!(ids.len(), lines.len(), "ids are unique");
    let expected: BTreeSet<_> =
        (0..8).flat_map(|name| (0..count).map(move |number| format!("{name}-{number}"))).collect();
    let told: BTreeSet<_> = lines.iter().map(|line| line.tool.clone()).collect();
    assert_eq!((told.len(), lines.len()), (8 * count, 8 * count));
    assert_eq!(told, expected);
    for line in &lines {
        let number: usize = line.tool.split('-').nth(1).unwrap().parse().unwrap();
        assert_eq!(line.action, "\"x\n".repeat(number * 37 % 2000));
    }
}

#[test]
fn eight_processes_lose_and_tear_no_line() {
    let dir = tempfile::tempdir().unwrap();
    all_there(dir.path(), 200, 1 << 30);
    assert_eq!(files(dir.path()).len(), 1);
}

#[test]
fn eight_processes_lose_no_line_while_the_log_rotates() {
    let dir = tempfile::tempdir().unwrap();
    all_there(dir.path(), 200, 50_000);
    assert!(files(dir.path()).len() > 20, "{:?}", files(dir.path()));
}

#[test]
fn a_line_is_for_its_owner_and_has_an_id_that_sorts_by_time() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("audit");
    let first = append(&log, &POLICY, NOW, &event("a")).unwrap().unwrap();
    let second = append(&log, &POLICY, later(1), &event("b")).unwrap().unwrap();
    assert!(first < second && first.len() == 36 && first.as_bytes()[14] == b'7', "{first} {second}");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&log), mode(&log.join("audit.jsonl"))), (0o700, 0o600));
    let told = read(&log, Filter::default());
    assert_eq!((told[0].id.as_str(), told[1].id.as_str()), (first.as_str(), second.as_str()));
    assert_eq!(told[0].time, "2025-11-21T04:40:00.000Z");
}

#[test]
fn a_log_that_is_off_writes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("audit");
    let off = AuditPolicy { enabled: false, ..POLICY };
    assert_eq!(append(&log, &off, NOW, &event("a")).unwrap(), None);
    assert!(!log.exists());
}

#[test]
fn filters_let_through_what_they_say() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path();
    let session = SessionId::new("s1").unwrap();
    let subject = Subject { client: Client::OpenCode, session, agent: None, agent_type: None };
    let reason = Reason {
        rule: "fs.root".to_owned(),
        verdict: Verdict::Block,
        severity: Severity::High,
        message: "m".to_owned(),
        matched: String::new(),
        instead: None,
    };
    let decision = Decision::new(vec![reason], None, false);
    let mut blocked = event("Bash");
    blocked.kind = EventKind::ActionBlocked;
    blocked.subject = Some(&subject);
    blocked.decision = Some(&decision);
    append(log, &POLICY, NOW, &event("Read")).unwrap();
    append(log, &POLICY, later(1000), &blocked).unwrap();
    append(log, &POLICY, later(2000), &event("Write")).unwrap();
    let text = |text: &str| Some(text.to_owned());
    let none = Filter::default;
    assert_eq!(tools(log, none()), ["Read", "Bash", "Write"]);
    assert_eq!(tools(log, Filter { since_ms: Some(NOW.unix_ms + 1000), ..none() }), ["Bash", "Write"]);
    assert_eq!(tools(log, Filter { until_ms: Some(NOW.unix_ms + 1000), ..none() }), ["Read"]);
    assert_eq!(tools(log, Filter { session: text("s1"), ..none() }), ["Bash"]);
    assert_eq!(tools(log, Filter { verdict: Some(Verdict::Block), ..none() }), ["Bash"]);
    assert_eq!(tools(log, Filter { rule: text("fs.root"), ..none() }), ["Bash"]);
    assert_eq!(tools(log, Filter { rule: text("fs"), ..none() }), [""; 0]);
    assert_eq!(tools(log, Filter { tool: text("Write"), ..none() }), ["Write"]);
    assert_eq!(tools(log, Filter { event: text("action_blocked"), ..none() }), ["Bash"]);
    assert_eq!(tools(log, Filter { event: text("action_blocked"), tool: text("Read"), ..none() }), [""; 0]);
    let line = &read(log, Filter { tool: text("Bash"), ..none() })[0];
    assert_eq!((line.client.as_str(), line.enforcement.as_str()), ("opencode", "deny"));
    let raw: serde_json::Value = serde_json::from_str(&line.text).unwrap();
    assert_eq!(raw["reasons"][0]["severity"], "high");
    assert!(found(&log.join("none"), none()).is_empty());
}

#[test]
fn a_torn_line_is_told_and_hides_no_other() {
    let dir = tempfile::tempdir().unwrap();
    append(dir.path(), &POLICY, NOW, &event("a")).unwrap();
    let path = dir.path().join("audit.jsonl");
    let whole = fs::metadata(&path).unwrap().len();
    let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
    // Cut short by a full disk; the next line is written right behind it, then another is cut at the end.
    let cut = r#"{"id":"x","time":"2025-11-21T04:40:00.000Z","action":"say \"{\\\"id\\\":\\\"#;
    file.write_all(cut.as_bytes()).unwrap();
    append(dir.path(), &POLICY, NOW, &event("b")).unwrap();
    file.write_all(b"\n\xff\xfe\n").unwrap();
    file.write_all(br#"{"id":"y","time":"2025-11-21T04:40:00.000Z","event":"e"}"#).unwrap();
    let told: Vec<String> = found(dir.path(), Filter::default())
        .into_iter()
        .map(|found| match found {
            Found::Line(line) => line.tool,
            Found::Torn { file, offset, length } => {
                assert_eq!(file, path);
                assert!(offset >= whole);
                format!("torn {length}")
            }
        })
        .collect();
    assert_eq!(told, ["a", &format!("torn {}", cut.len()), "b", "torn 2", "torn 56"]);
}

#[test]
fn a_link_in_place_of_the_log_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let elsewhere = dir.path().join("elsewhere");
    fs::write(&elsewhere, "").unwrap();
    let log = dir.path().join("audit");
    fs::create_dir(&log).unwrap();
    symlink(&elsewhere, log.join("audit.jsonl")).unwrap();
    let fault = append(&log, &POLICY, NOW, &event("a")).unwrap_err();
    assert!(fault.kind == FaultKind::Audit && fault.why.contains("symbolic link"), "{fault}");
    assert_eq!(fs::read(&elsewhere).unwrap(), b"");
}

#[test]
fn a_full_disk_is_a_fault() {
    let dir = tempfile::tempdir().unwrap();
    let script = "ulimit -f 8; trap '' XFSZ; exec \"$0\" \"$1\" n 1000 1000000000";
    let mut sh = Command::new("sh");
    let out = sh.arg("-c").arg(script).arg(worker("audit_worker")).arg(dir.path()).output().unwrap();
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.code() == Some(4) && said.contains("audit log "), "{said}");
    let all = found(dir.path(), Filter::default());
    let torn = all.iter().filter(|found| matches!(found, Found::Torn { .. })).count();
    assert!(torn <= 1 && all.len() > torn, "{torn} of {}", all.len());
}

#[test]
fn a_file_is_set_aside_when_it_is_full_and_by_its_age() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path();
    let small = AuditPolicy { max_bytes: 100, ..POLICY };
    append(log, &small, NOW, &event("a")).unwrap();
    append(log, &small, NOW, &event("b")).unwrap();
    append(log, &POLICY, later(1), &event("c")).unwrap();
    let names: Vec<_> = files(log).iter().map(|path| path.file_name().unwrap().to_owned()).collect();
    assert_eq!(
        names,
        ["audit-20251121T044000.000Z-001.jsonl", "audit-20251121T044000.000Z.jsonl", "audit.jsonl"]
    );
    assert_eq!(tools(log, Filter::default()), ["a", "b", "c"], "the oldest file first");
    sweep(log, &POLICY, later(DAY_MS)).unwrap();
    assert_eq!(files(log).len(), 3, "not yet older than a day");
    sweep(log, &POLICY, later(DAY_MS + 2)).unwrap();
    assert!(!log.join("audit.jsonl").exists());
    append(log, &POLICY, later(2 * DAY_MS), &event("d")).unwrap();
    assert_eq!(tools(log, Filter::default()), ["a", "b", "c", "d"]);
}

#[test]
fn what_was_kept_long_enough_is_removed() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path();
    let small = AuditPolicy { max_bytes: 100, ..POLICY };
    for tool in ["a", "b", "c"] {
        append(log, &small, NOW, &event(tool)).unwrap();
    }
    append(log, &POLICY, NOW, &event("d")).unwrap();
    let day = |days: u64| SystemTime::UNIX_EPOCH + Duration::from_millis(NOW.unix_ms - days * DAY_MS);
    for (path, days) in files(log).iter().zip([31, 29, 31, 99]) {
        fs::File::open(path).unwrap().set_modified(day(days)).unwrap();
    }
    assert_eq!(sweep(log, &POLICY, NOW).unwrap(), 2);
    assert_eq!(tools(log, Filter::default()).len(), 2, "the current file is never removed");
    assert_eq!(sweep(&log.join("none"), &POLICY, NOW).unwrap(), 0);
}
