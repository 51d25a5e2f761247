//! Whole-process benchmark of the hook: A B A B … against a process that only exits and against a no-op of the same
//! linkage. Prints the tables of docs/performance.md. Run: `cargo run --release --example bench [RUNS]`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::too_many_arguments,
    clippy::zombie_processes,
    unsafe_code,
    reason = "a benchmark run by hand; unsafe only for wait4, which std does not offer and which reaps the child"
)]

mod review;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

const MUSL: &str = "x86_64-unknown-linux-musl";

struct Run {
    wall_us: f64,
    cpu_us: f64,
}

struct Figures {
    wall: f64,
    cpu: f64,
}

fn main() {
    let runs: usize = std::env::args().nth(1).map_or(300, |n| n.parse().expect("RUNS is a number"));
    let dir = std::env::temp_dir().join(format!("lazaret-bench-{}", std::process::id()));
    fs::create_dir_all(dir.join("proj/.git")).unwrap();
    fs::write(dir.join("proj/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(dir.join("proj/a.txt"), "a\n").unwrap();
    let bare = bare_exit(&dir);
    let builds = [("static musl", build(Some(MUSL), &dir)), ("plain (glibc)", build(None, &dir))];
    println!(
        "{runs} runs each, medians; wall and CPU in microseconds, ratios pair by pair against the no-op\n"
    );
    println!("| build | process | wall | CPU | wall ÷ no-op | instructions | system calls |");
    println!("|---|---|---|---|---|---|---|");
    let one = series(&[&bare], &dir, b"", runs);
    println!(
        "| – | bare exit | {:.0} | {:.0} | | {} | {} |",
        one[0].wall,
        one[0].cpu,
        instructions(&bare, &[], &dir, b""),
        calls(&bare, &[], &dir, b"")
    );
    for (name, (lazaret, noop)) in &builds {
        let message = shell(&dir, "ls");
        println!(
            "| {name} | no-op | | | 1.00 | {} | {} |",
            instructions(noop, &[], &dir, &message),
            calls(noop, &[], &dir, &message)
        );
        for (call, message) in calls_to_measure(&dir) {
            let args = ["hook", "claude-code"];
            let (a, b, ratio) = pairs((lazaret, &args), (noop, &[]), &dir, &message, runs);
            println!(
                "| {name} | {call} | {:.0} (no-op {:.0}) | {:.0} (no-op {:.0}) | {ratio:.2} | {} | {} |",
                a.wall,
                b.wall,
                a.cpu,
                b.cpu,
                instructions(lazaret, &args, &dir, &message),
                calls(lazaret, &args, &dir, &message)
            );
        }
    }
    review::tables(&builds[0].1.0, &builds[0].1.1, &dir, runs);
    history(&builds[0].1.0, &dir);
    fs::remove_dir_all(&dir).unwrap();
}

fn calls_to_measure(dir: &Path) -> Vec<(&'static str, Vec<u8>)> {
    let cwd = dir.join("proj");
    let big = serde_json::json!({"file_path": cwd.join("big.txt"), "content": "x".repeat(1 << 20)});
    let read = serde_json::json!({"file_path": cwd.join("a.txt")});
    vec![
        ("allowed `ls`", shell(dir, "ls")),
        ("blocked `git reset --hard`", shell(dir, "git reset --hard")),
        ("1 MB Write", message(dir, "Write", &big)),
        ("Read", message(dir, "Read", &read)),
    ]
}

fn shell(dir: &Path, command: &str) -> Vec<u8> {
    message(dir, "Bash", &serde_json::json!({ "command": command }))
}

fn message(dir: &Path, tool: &str, input: &serde_json::Value) -> Vec<u8> {
    serde_json::json!({
        "session_id": "d5fb4692-4e8b-4cf2-9148-6b5ef6a61e3d", "transcript_path": "/home/u/.claude/projects/p/s.jsonl",
        "cwd": dir.join("proj"), "prompt_id": "48f45939-9405-48c0-b4f3-f498273369ea", "permission_mode": "default",
        "effort": {"level": "medium"}, "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input,
        "tool_use_id": "toolu_1",
    })
    .to_string()
    .into_bytes()
}

/// The smallest process there is: one system call, no libc.
fn bare_exit(dir: &Path) -> PathBuf {
    let (source, binary) = (dir.join("bare.s"), dir.join("bare"));
    fs::write(&source, ".globl _start\n_start: mov $60,%eax\nxor %edi,%edi\nsyscall\n").unwrap();
    let status = Command::new("cc").args(["-nostdlib", "-static", "-o"]).arg(&binary).arg(&source).status();
    assert!(status.expect("cc runs").success());
    binary
}

/// lazaret as cargo builds it, and a no-op of the same linkage.
fn build(target: Option<&str>, dir: &Path) -> (PathBuf, PathBuf) {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let mut command = Command::new(&cargo);
    command.args(["build", "--release", "--locked", "--quiet", "--no-default-features", "--bin", "lazaret"]);
    // Not by cargo: the tests' dependencies come with every example, and some of them are C.
    let noop = dir.join(format!("noop-{}", target.unwrap_or("plain")));
    let mut compiler = Command::new("rustc");
    compiler.args(["--edition=2024", "-Copt-level=3", "-Clto=fat", "-Ccodegen-units=1", "-Cpanic=abort"]);
    compiler.args(["-Cstrip=symbols", "examples/noop.rs", "-o"]).arg(&noop);
    if let Some(target) = target {
        command.args(["--target", target]);
        compiler.args(["--target", target, "-Crelocation-model=static"]);
    }
    assert!(command.status().unwrap().success(), "build for {target:?}");
    assert!(compiler.status().unwrap().success(), "no-op for {target:?}");
    let root = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    let root = target.map_or(root.clone(), |target| root.join(target)).join("release");
    (root.join("lazaret").canonicalize().unwrap(), noop)
}

fn start(program: &Path, args: &[&str], dir: &Path, input: &[u8]) -> Run {
    let file = dir.join("input");
    if fs::read(&file).ok().as_deref() != Some(input) {
        fs::write(&file, input).unwrap();
    }
    let begun = Instant::now();
    let child = Command::new(program)
        .args(args)
        .env_clear()
        .env("HOME", dir)
        .env("XDG_RUNTIME_DIR", dir)
        .env("PATH", "/usr/bin:/bin")
        .stdin(fs::File::open(&file).unwrap())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // SAFETY: a zeroed rusage is a valid value, and both pointers outlive the call; the child is ours and waited for once.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        let mut status = 0;
        libc::wait4(i32::try_from(child.id()).unwrap(), &raw mut status, 0, &raw mut usage);
        usage
    };
    let wall_us = begun.elapsed().as_secs_f64() * 1e6;
    let seconds = |time: libc::timeval| time.tv_sec as f64 * 1e6 + time.tv_usec as f64;
    Run { wall_us, cpu_us: seconds(usage.ru_utime) + seconds(usage.ru_stime) }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn figures(runs: &[Run]) -> Figures {
    Figures {
        wall: median(runs.iter().map(|run| run.wall_us).collect()),
        cpu: median(runs.iter().map(|run| run.cpu_us).collect()),
    }
}

fn series(programs: &[&Path], dir: &Path, input: &[u8], runs: usize) -> Vec<Figures> {
    programs
        .iter()
        .map(|program| figures(&(0..runs).map(|_| start(program, &[], dir, input)).collect::<Vec<_>>()))
        .collect()
}

/// A B A B …: figures of both and the median of the pairwise ratio of wall times.
fn pairs(
    a: (&Path, &[&str]),
    b: (&Path, &[&str]),
    dir: &Path,
    input: &[u8],
    runs: usize,
) -> (Figures, Figures, f64) {
    let (mut of_a, mut of_b) = (Vec::new(), Vec::new());
    for _ in 0..10 {
        start(a.0, a.1, dir, input);
        start(b.0, b.1, dir, input);
    }
    for _ in 0..runs {
        of_a.push(start(a.0, a.1, dir, input));
        of_b.push(start(b.0, b.1, dir, input));
    }
    let ratio = median(of_a.iter().zip(&of_b).map(|(a, b)| a.wall_us / b.wall_us).collect());
    (figures(&of_a), figures(&of_b), ratio)
}

fn instructions(program: &Path, args: &[&str], dir: &Path, input: &[u8]) -> String {
    let text = observed(
        "valgrind",
        &["--tool=callgrind", "--callgrind-out-file=/dev/null"],
        program,
        args,
        dir,
        input,
    );
    let line = text.lines().find(|line| line.contains("Collected :"));
    line.and_then(|line| line.rsplit(' ').next()).unwrap_or("?").to_owned()
}

fn calls(program: &Path, args: &[&str], dir: &Path, input: &[u8]) -> String {
    let text = observed("strace", &["-f"], program, args, dir, input);
    text.lines().filter(|line| line.contains('(') && !line.starts_with("+++")).count().to_string()
}

fn observed(tool: &str, options: &[&str], program: &Path, args: &[&str], dir: &Path, input: &[u8]) -> String {
    let mut child = Command::new(tool)
        .args(options)
        .arg(program)
        .args(args)
        .env_clear()
        .env("HOME", dir)
        .env("XDG_RUNTIME_DIR", dir)
        .env("PATH", "/usr/bin:/bin")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{tool}: {error}"));
    // A process that ends without reading closes the pipe.
    drop(child.stdin.take().unwrap().write_all(input));
    String::from_utf8_lossy(&child.wait_with_output().unwrap().stderr).into_owned()
}

/// The cost of a call after 10, 1 000 and 100 000 calls of the same session.
fn history(lazaret: &Path, dir: &Path) {
    println!("\n| calls before | wall of an allowed `ls` | instructions |\n|---|---|---|");
    let args = ["hook", "claude-code"];
    fs::remove_dir_all(dir.join(".local")).unwrap();
    let message = shell(dir, "ls");
    let mut made = 0;
    for goal in [10, 1_000, 100_000] {
        while made < goal {
            start(lazaret, &args, dir, &message);
            made += 1;
        }
        let after: Vec<Run> = (0..200).map(|_| start(lazaret, &args, dir, &message)).collect();
        made += 200;
        println!(
            "| {goal} | {:.0} | {} |",
            figures(&after).wall,
            instructions(lazaret, &args, dir, &message)
        );
    }
}
