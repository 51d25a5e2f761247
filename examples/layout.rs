//! Writes `layout.ld`: the functions that ordinary hook calls run, to be linked next to each other (see build.rs). Run it when
//! tests/cost.rs says that a call touches too many pages: `cargo run --example layout`. Needs valgrind.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, reason = "a tool for developers")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const TARGET: &str = "x86_64-unknown-linux-musl";
/// What stands for the compiler's own numbers behind a symbol.
const NUMBERED: &str = ".*";
/// What ordinary sessions are made of.
const COMMANDS: [&str; 6] = [
    "ls -la",
    "git status --short",
    "git diff | head -50",
    "cargo test --quiet 2>&1 | tail -20",
    "cd src && grep -rn 'fn main' . | sort -u",
    "npm run build && rm -rf dist/old",
];

fn main() {
    let binary = build();
    let dir = std::env::temp_dir().join(format!("lazaret-layout-{}", std::process::id()));
    fs::create_dir_all(dir.join("proj/.git")).unwrap();
    fs::write(dir.join("proj/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
    let mut seen: BTreeMap<String, (bool, usize)> = BTreeMap::new();
    for (at, message) in messages(&dir.join("proj")).iter().enumerate() {
        for name in functions(&binary, message, &dir) {
            let (plainest, calls) = seen.entry(name).or_default();
            *plainest |= at == 0;
            *calls += 1;
        }
    }
    fs::remove_dir_all(&dir).unwrap();
    assert!(seen.len() > 300, "only {} functions were seen", seen.len());
    // What the plainest call runs comes first, and of the rest what most calls run: they touch the fewest pages.
    let mut names: Vec<(String, (bool, usize))> = seen.into_iter().collect();
    names.sort_by_key(|(_, calls)| std::cmp::Reverse(*calls));
    fs::write("layout.ld", script(&names)).unwrap();
    println!("layout.ld: {} functions", names.len());
}

/// The static binary with its symbols, in a directory of its own; or the one that `LAZARET_LAYOUT_BINARY` names.
fn build() -> PathBuf {
    if let Some(path) = std::env::var_os("LAZARET_LAYOUT_BINARY") {
        return PathBuf::from(path).canonicalize().expect("LAZARET_LAYOUT_BINARY is a file");
    }
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let root = PathBuf::from("target/layout");
    let status = Command::new(cargo)
        .args([
            "build",
            "--release",
            "--locked",
            "--no-default-features",
            "--bin",
            "lazaret",
            "--target",
            TARGET,
            "--target-dir",
        ])
        .arg(&root)
        .env("CARGO_PROFILE_RELEASE_STRIP", "false")
        .status();
    assert!(status.expect("cargo runs").success(), "the build failed");
    root.join(TARGET).join("release/lazaret").canonicalize().unwrap()
}

fn messages(cwd: &Path) -> Vec<String> {
    let call = |event: &str, tool: &str, input: serde_json::Value| {
        serde_json::json!({
            "session_id": "d5fb4692-4e8b-4cf2-9148-6b5ef6a61e3d", "cwd": cwd, "permission_mode": "default",
            "hook_event_name": event, "tool_name": tool, "tool_input": input, "tool_use_id": "toolu_1",
            "tool_response": {"stdout": ""}, "duration_ms": 7,
        })
        .to_string()
    };
    let mut all: Vec<String> = COMMANDS
        .iter()
        .map(|command| call("PreToolUse", "Bash", serde_json::json!({"command": command})))
        .collect();
    let file = cwd.join("src/a.rs");
    all.push(call("PreToolUse", "Read", serde_json::json!({"file_path": file})));
    all.push(call(
        "PreToolUse",
        "Write",
        serde_json::json!({"file_path": file, "content": "fn main() {}\n"}),
    ));
    all.push(call(
        "PreToolUse",
        "Edit",
        serde_json::json!({"file_path": file, "old_string": "a", "new_string": "b"}),
    ));
    all.push(call("PostToolUse", "Bash", serde_json::json!({"command": "ls"})));
    all
}

/// The functions that one call runs, by their symbols. The first run makes the session's files, the second is ordinary.
fn functions(binary: &Path, message: &str, home: &Path) -> BTreeSet<String> {
    let out = home.join("callgrind");
    for _ in 0..2 {
        let mut child = Command::new("valgrind")
            .args(["--tool=callgrind", "--demangle=no", &format!("--callgrind-out-file={}", out.display())])
            .arg(binary)
            .args(["hook", "claude-code"])
            .env_clear()
            .env("HOME", home)
            .env("XDG_RUNTIME_DIR", home)
            .env("PATH", "/usr/bin:/bin")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("valgrind runs");
        child.stdin.take().unwrap().write_all(message.as_bytes()).unwrap();
        child.wait().unwrap();
    }
    let seen = fs::read_to_string(&out).unwrap();
    let named =
        seen.lines().filter_map(|line| line.strip_prefix("fn=").or_else(|| line.strip_prefix("cfn=")));
    let symbols = named.filter_map(|line| line.split_once(") ").map(|(_, symbol)| symbol));
    let rust = symbols.filter(|symbol| symbol.starts_with("_R") || symbol.starts_with("_ZN"));
    rust.map(|symbol| without_hashes(symbol.split('\'').next().unwrap_or(symbol))).collect()
}

/// A symbol with `*` in the place of what differs between compilers: the hash at the end (`17h…E`) in the older spelling, each
/// crate's (`Cs…_`) in the newer.
fn without_hashes(symbol: &str) -> String {
    const HASH: &str = "17h";
    if let (true, Some((name, _))) = (symbol.starts_with("_ZN"), symbol.rsplit_once(HASH)) {
        return format!("{name}{HASH}*");
    }
    let mut out = String::new();
    // Behind a dot stands a number of the compiler's own, which differs from build to build.
    let (mut rest, numbered) = symbol.split_once('.').map_or((symbol, ""), |(name, _)| (name, NUMBERED));
    while let Some(at) = rest.find("Cs") {
        let (before, after) = rest.split_at(at + 2);
        out.push_str(before);
        let length = after.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(0);
        let (hash, tail) = after.split_at(length);
        // A hash is followed by `_` and the length of the crate's name.
        let is_hash =
            tail.strip_prefix('_').is_some_and(|tail| tail.starts_with(|c: char| c.is_ascii_digit()));
        out.push_str(if is_hash { "*" } else { hash });
        rest = tail;
    }
    out + rest + numbered
}

fn script(names: &[(String, (bool, usize))]) -> String {
    let mut out = String::from(
        "/* Written by `cargo run --example layout`: what an ordinary hook call runs, together. See build.rs. */\n",
    );
    // The tables that a function's branches go by have its name too.
    let plainest: Vec<&str> =
        names.iter().filter(|(_, (plain, _))| *plain).map(|(name, _)| &**name).collect();
    out.push_str(&together(".rodata", plainest.into_iter()));
    out.push_str(&together(".text", names.iter().map(|(name, _)| &**name)));
    out
}

/// The part of the script for sections that begin like this.
fn together<'a>(kind: &str, names: impl Iterator<Item = &'a str>) -> String {
    let mut out = format!("SECTIONS\n{{\n  {kind}.hook :\n  {{\n");
    for name in names {
        match name.strip_suffix(NUMBERED) {
            Some(bare) => out.push_str(&format!("    *({kind}.{bare} {kind}.{name})\n")),
            None => out.push_str(&format!("    *({kind}.{name})\n")),
        }
    }
    out.push_str(&format!("  }}\n}}\nINSERT BEFORE {kind};\n"));
    out
}
