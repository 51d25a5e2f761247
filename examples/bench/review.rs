//! What review mode costs: minting and verifying in this process, opening a session and one quarantined Read as processes.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use lazaret::domain::{Key, ReviewId};
use lazaret::reference::Reference;

use crate::{median, message, pairs};

/// Prints the tables of review mode.
pub fn tables(lazaret: &Path, noop: &Path, dir: &Path, runs: usize) {
    println!("\n| review mode | microseconds |\n|---|---|");
    references();
    for (files, kib) in [(50, 5), (5_000, 2)] {
        opening(lazaret, dir, files, kib);
    }
    quarantined_read(lazaret, noop, dir, runs);
}

/// Microseconds of one call, many times over.
fn each(times: u32, mut call: impl FnMut()) -> f64 {
    let begun = Instant::now();
    for _ in 0..times {
        call();
    }
    begun.elapsed().as_secs_f64() * 1e6 / f64::from(times)
}

fn references() {
    const TIMES: u32 = 20_000;
    let key = Key::new([7; Key::LEN]);
    let id = ReviewId::parse("3f2b8c1e-9d4a-4e6f-8a7b-0c1d2e3f4a5b").unwrap();
    let mint = || Reference::mint(&key, b"/home/you/project/src/main.rs", 1_000_000, &id, 3600).unwrap();
    let text = mint().to_string();
    let minted = each(TIMES, || drop(std::hint::black_box(mint().to_string())));
    let verified = each(TIMES, || {
        let reference = Reference::parse(std::hint::black_box(&text)).unwrap();
        reference.verify(&key, &id, 3600, 1_000_001).unwrap();
    });
    println!("| mint and write a reference | {minted:.1} |\n| parse and verify one | {verified:.1} |");
}

/// `review start` on a directory, the median of five.
fn opening(lazaret: &Path, dir: &Path, files: usize, kib: usize) {
    let tree = dir.join(format!("proj/tree{files}"));
    for number in 0..files {
        let at = tree.join(format!("d{}", number / 100));
        fs::create_dir_all(&at).unwrap();
        fs::write(at.join(format!("f{number}.rs")), "// some text of a file\n".repeat(kib * 44)).unwrap();
    }
    let walls = (0..5).map(|_| {
        let begun = Instant::now();
        let session = open(lazaret, dir, &tree);
        let wall = begun.elapsed().as_secs_f64() * 1e6;
        close(lazaret, dir, &session);
        wall
    });
    println!(
        "| `review start` on a directory of {files} files, {} KiB | {:.0} |",
        files * kib,
        median(walls.collect())
    );
}

fn command(lazaret: &Path, dir: &Path, args: &[&str]) -> serde_json::Value {
    let out = Command::new(lazaret)
        .args(args)
        .env_clear()
        .env("HOME", dir)
        .env("XDG_RUNTIME_DIR", dir)
        .env("PATH", "/usr/bin:/bin")
        .current_dir(dir.join("proj"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
    serde_json::from_slice(&out.stdout).unwrap()
}

fn open(lazaret: &Path, dir: &Path, path: &Path) -> serde_json::Value {
    command(lazaret, dir, &["review", "start", "--json", path.to_str().unwrap()])
}

fn close(lazaret: &Path, dir: &Path, session: &serde_json::Value) {
    command(lazaret, dir, &["review", "end", "--json", session["session"].as_str().unwrap()]);
}

/// One Read through a reference, against the no-op. An agent gets a hundred calls a minute, so every 85 (with those that warm
/// up) are another agent's; five may work at once.
fn quarantined_read(lazaret: &Path, noop: &Path, dir: &Path, runs: usize) {
    let session = open(lazaret, dir, &dir.join("proj/a.txt"));
    let uri = session["references"][0]["uri"].as_str().unwrap();
    let (mut ratios, mut walls) = (Vec::new(), Vec::new());
    for round in 0..runs.div_ceil(75).min(5) {
        let text = String::from_utf8(message(dir, "Read", &serde_json::json!({"file_path": uri}))).unwrap();
        let agent = format!(r#""agent_type":"quarantine-reviewer","agent_id":"bench-{round}","cwd""#);
        let text = text.replacen("\"cwd\"", &agent, 1);
        let args = ["hook", "claude-code"];
        let (a, _, ratio) = pairs((lazaret, &args), (noop, &[]), dir, text.as_bytes(), 75);
        ratios.push(ratio);
        walls.push(a.wall);
    }
    println!(
        "| a quarantined Read, as a whole process | {:.0} ({:.2} times the no-op) |",
        median(walls),
        median(ratios)
    );
    close(lazaret, dir, &session);
}
