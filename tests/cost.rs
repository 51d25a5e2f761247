//! What an allowed call costs, in numbers that do not depend on the machine's load: instructions, system calls, CPUID. Measured on
//! the static release build, the one that install.sh installs. Goals and method: docs/performance.md.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

const TARGET: &str = "x86_64-unknown-linux-musl";
/// With the files of a third client among those that are protected.
const MAX_INSTRUCTIONS: u64 = 154_000;
const MAX_SYSTEM_CALLS: usize = 49;
/// Pages of four kilobytes that an allowed `ls` touches: of code, constants and memory. How often the kernel is asked for them hangs on
/// how the file lies in its cache, this does not.
const MAX_PAGES: usize = 298;
/// Other calls of every day, with the same room.
const OTHERS: [(&str, u64); 3] =
    [("git status", 198_500), ("cat README.md", 176_500), ("git reset --hard", 833_000)];
/// A pipeline of thirty commands.
const MAX_PIPELINE: u64 = 1_200_000;
/// Calls of ten kilobytes (docs/performance.md says how far that is from a millisecond).
const MAX_SCRIPT: u64 = 22_300_000;
const MAX_WRITTEN: u64 = 20_100_000;
const MAX_MANIFEST: u64 = 30_400_000;
const MAX_PYTHON: u64 = 17_300_000;
const MAX_OPTIONS: u64 = 25_000_000;
/// The first goal was 4 MiB. The rules have more than doubled since, and behaviour, checkpoints and the audit chain came, after all
/// that nobody reads was left out (docs/performance.md); then what settles whether a reset of git discards anything reads its
/// objects, and code in Python and JavaScript is read (128 KB); then a configuration teaches programs, and what is known of them is shown (41 KB); then the examples of rules were packed (-245 KB), text for fish is read (12 KB), and no unwinder is linked
/// (-70 KB), and it is asked where data goes, by any program (70 KB), what a far place is, and what code asks providers for (25 KB), of
/// which a second reader of JSON gave 16 back; then a third client came (72 KB), and what is installed is compared with its release's sums, and each command has its
/// page (25 KB); then a service for many machines is asked where a setting says so, and doctor asks it too (94 KB).
/// What a call costs does not hang on it: it touches few of the pages.
const MAX_BINARY_BYTES: u64 = 7 * 1024 * 1024 + 560 * 1024;

/// The static release build, made once; or the one that `LAZARET_COST_BINARY` names.
fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| {
        if let Some(path) = std::env::var_os("LAZARET_COST_BINARY") {
            return PathBuf::from(path).canonicalize().expect("LAZARET_COST_BINARY is a file");
        }
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/static_build.sh");
        let status = Command::new(script)
            .arg(TARGET)
            .env("CARGO", env!("CARGO"))
            .stdin(Stdio::null())
            .status()
            .expect("the script runs");
        assert!(
            status.success(),
            "the static build failed: is the target there? (rustup target add {TARGET})"
        );
        let target =
            std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
        target.join(TARGET).join("release/lazaret").canonicalize().unwrap()
    })
}

/// A directory of that name, where there is none yet. Not hidden, as few projects are: such a path is held against more places. Not
/// random: the filter before the lists of names lets one name in sixty through, and what is looked at then costs 36 000 instructions.
fn named(letter: char) -> Option<tempfile::TempDir> {
    let name = format!("lazaret-cost-{}", letter.to_string().repeat(6));
    match tempfile::Builder::new().prefix(&name).rand_bytes(0).tempdir() {
        Ok(dir) => Some(dir),
        Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => None,
        Err(e) => panic!("{name}: {e}"),
    }
}

/// A machine of its own for one test: a home, and a git work tree in it.
struct World {
    dir: tempfile::TempDir,
}

impl World {
    fn new() -> World {
        let dir = ('a'..='z').find_map(named).expect("a free name: remove old lazaret-cost-* directories");
        fs::create_dir_all(dir.path().join("proj/.git")).unwrap();
        fs::write(dir.path().join("proj/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
        World { dir }
    }

    fn message(&self, command: &str) -> String {
        let cwd = self.dir.path().join("proj");
        serde_json::json!({
            "session_id": "d5fb4692-4e8b-4cf2-9148-6b5ef6a61e3d", "transcript_path": "/home/u/.claude/projects/p/s.jsonl",
            "cwd": cwd, "prompt_id": "48f45939-9405-48c0-b4f3-f498273369ea", "permission_mode": "bypassPermissions",
            "effort": {"level": "medium"}, "hook_event_name": "PreToolUse", "tool_name": "Bash",
            "tool_input": {"command": command, "description": "d", "timeout": 5000}, "tool_use_id": "toolu_1",
        })
        .to_string()
    }

    /// Runs `tool` around the hook with this command as the call.
    fn run(&self, tool: &[&str], command: &str) -> Output {
        self.send(tool, &self.message(command))
    }

    fn send(&self, tool: &[&str], message: &str) -> Output {
        let (first, rest) = tool.split_first().map_or((None, &[][..]), |(first, rest)| (Some(*first), rest));
        let mut process = match first {
            Some(first) => {
                let mut process = Command::new(first);
                process.args(rest).arg(binary());
                process
            }
            None => Command::new(binary()),
        };
        let mut child = process
            .args(["hook", "claude-code", "--home"])
            .arg(self.dir.path())
            .arg("--xdg-runtime-dir")
            .arg(self.dir.path())
            .env_clear()
            .env("HOME", self.dir.path())
            .env("XDG_RUNTIME_DIR", self.dir.path())
            .env("PATH", "/usr/bin:/bin")
            .current_dir(self.dir.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|e| panic!("{}: {e}", first.unwrap_or("lazaret")));
        child.stdin.take().unwrap().write_all(message.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    }

    fn instructions(&self, command: &str) -> u64 {
        let out = self.run(&["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"], command);
        collected(&out)
    }

    /// The same of a dry run, which has no deadline.
    fn dry(&self, command: &str) -> u64 {
        self.dry_event(&self.message(command))
    }

    /// The same of a dry run of a whole message.
    fn dry_event(&self, message: &str) -> u64 {
        let file = self.dir.path().join("message.json");
        fs::write(&file, message).unwrap();
        let out = Command::new("valgrind")
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
            .arg(binary())
            .args(["check", "--event", file.to_str().unwrap()])
            .env_clear()
            .env("HOME", self.dir.path())
            .env("XDG_RUNTIME_DIR", self.dir.path())
            .env("PATH", "/usr/bin:/bin")
            .output()
            .expect("valgrind runs");
        collected(&out)
    }

    /// The pages that a call touches.
    fn pages(&self, command: &str) -> usize {
        let out = self.run(&["valgrind", "--tool=lackey", "--trace-mem=yes"], command);
        let text = String::from_utf8_lossy(&out.stderr).into_owned();
        let mut pages = std::collections::HashSet::new();
        for line in
            text.lines().filter(|line| ["I ", " L", " S", " M"].iter().any(|way| line.starts_with(way)))
        {
            let address = line.get(3..).and_then(|rest| rest.trim().split(',').next());
            pages
                .extend(address.and_then(|address| u64::from_str_radix(address, 16).ok()).map(|at| at >> 12));
        }
        pages.len()
    }

    fn system_calls(&self, command: &str) -> Vec<String> {
        let log = self.dir.path().join("strace.log");
        let out = self.run(&["strace", "-f", "-o", log.to_str().unwrap()], command);
        assert!(log.exists(), "strace: {}", String::from_utf8_lossy(&out.stderr));
        let text = fs::read_to_string(log).unwrap();
        text.lines().filter(|l| l.contains('(')).map(str::to_owned).collect()
    }
}

/// The instructions that callgrind counted.
fn collected(out: &Output) -> u64 {
    let text = String::from_utf8_lossy(&out.stderr).into_owned();
    let line = text.lines().find(|l| l.contains("Collected :")).unwrap_or_else(|| panic!("valgrind: {text}"));
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

#[test]
fn an_allowed_call_stays_inside_its_budget() {
    let world = World::new();
    let first = world.run(&[], "ls");
    assert!(first.status.success() && first.stdout.is_empty(), "{}", String::from_utf8_lossy(&first.stderr));
    let instructions = world.instructions("ls");
    let calls = world.system_calls("ls");
    let _ =
        writeln!(std::io::stderr(), "allowed ls: {instructions} instructions, {} system calls", calls.len());
    assert!(instructions <= MAX_INSTRUCTIONS, "{instructions} instructions (at most {MAX_INSTRUCTIONS})");
    assert!(calls.len() <= MAX_SYSTEM_CALLS, "{} system calls:\n{}", calls.len(), calls.join("\n"));
    for forbidden in ["socket(", "connect(", "clone(", "fork(", "vfork(", "clone3(", "fsync(", "fdatasync("] {
        assert!(!calls.iter().any(|call| call.contains(forbidden)), "an allowed call made {forbidden}…)");
    }
}

#[test]
fn an_allowed_call_touches_few_pages() {
    let world = World::new();
    world.run(&[], "ls");
    let pages = world.pages("ls");
    let _ = writeln!(std::io::stderr(), "allowed ls: {pages} pages");
    assert!(pages > 30, "only {pages} pages: valgrind's tool lackey said nothing");
    assert!(pages <= MAX_PAGES, "{pages} pages (at most {MAX_PAGES}): cargo run --example layout");
}

#[test]
fn other_calls_of_every_day_stay_inside_theirs() {
    let world = World::new();
    let pipeline = format!("cat a.txt{}", " | grep -v x".repeat(29));
    let mut wrong = Vec::new();
    for (command, most) in OTHERS.into_iter().chain([(pipeline.as_str(), MAX_PIPELINE)]) {
        world.run(&[], command);
        let cost = world.instructions(command);
        let _ = writeln!(std::io::stderr(), "{command:.20}: {cost} instructions");
        if cost > most {
            wrong.push(format!("{command:.20}: {cost} instructions (at most {most})"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What the person asked for is read when a call has ended, not before each.
#[test]
fn a_prompt_makes_calls_no_dearer() {
    let world = World::new();
    world.run(&[], "ls");
    let without = world.instructions("ls");
    let mut said: serde_json::Value = serde_json::from_str(&world.message("ls")).unwrap();
    said["hook_event_name"] = "UserPromptSubmit".into();
    said["prompt"] = "Mend the parser in src/parse.rs, and see to it that all tests pass".into();
    assert!(world.send(&[], &said.to_string()).status.success());
    let with = world.instructions("ls");
    assert!(with <= without + without / 50, "{without} instructions without a prompt, {with} with one");
}

#[test]
fn no_cpuid_on_an_allowed_call() {
    let world = World::new();
    world.run(&[], "ls");
    let listing = Command::new("objdump").arg("-d").arg(binary()).output().expect("objdump runs");
    let listing = String::from_utf8_lossy(&listing.stdout).into_owned();
    let addresses: Vec<String> = listing
        .lines()
        .filter(|line| line.trim_end().ends_with("cpuid"))
        .filter_map(|line| line.split(':').next().map(|a| a.trim().to_owned()))
        .collect();
    assert!(listing.lines().count() > 10_000, "objdump did not disassemble the binary");
    let profile = world.dir.path().join("callgrind.out");
    let out = format!("--callgrind-out-file={}", profile.display());
    world.run(&["valgrind", "--tool=callgrind", "--dump-instr=yes", "--compress-pos=no", &out], "ls");
    let executed = fs::read_to_string(&profile).unwrap();
    let executed: std::collections::HashSet<u64> = executed
        .lines()
        .filter_map(|line| line.split(' ').next()?.strip_prefix("0x"))
        .filter_map(|address| u64::from_str_radix(address, 16).ok())
        .collect();
    assert!(executed.len() > 1000, "only {} addresses in the profile", executed.len());
    // The binary is loaded at a fixed address (.cargo/config.toml), so that the listing's addresses are the executed ones.
    let listed = |line: &str| line.split(':').next().and_then(|a| u64::from_str_radix(a.trim(), 16).ok());
    let known = listing.lines().filter_map(listed).filter(|address| executed.contains(address)).count();
    assert!(
        known > 1000,
        "only {known} of the executed addresses are in the listing: is the binary position-independent?"
    );
    for address in addresses {
        let address = u64::from_str_radix(&address, 16).unwrap();
        assert!(!executed.contains(&address), "CPUID at {address:#x} was executed");
    }
}

/// The state's cost does not grow with what came before.
#[test]
fn the_cost_does_not_grow_with_history() {
    let world = World::new();
    for _ in 0..10 {
        world.run(&[], "ls");
    }
    let after_ten = world.instructions("ls");
    for _ in 0..1_500 {
        world.run(&[], "ls");
    }
    let after_many = world.instructions("ls");
    let _ = writeln!(
        std::io::stderr(),
        "after 10 calls {after_ten}, after 1 500 calls {after_many} instructions"
    );
    assert!(
        after_many <= after_ten + after_ten / 10,
        "{after_ten} instructions after 10 calls, {after_many} after 1 500"
    );
}

/// Calls of ten kilobytes as agents make them: tool, input, and the most instructions of a dry run.
fn long_calls() -> Vec<(&'static str, &'static str, serde_json::Value, u64)> {
    fn lines(front: &str, back: &str, line: impl Fn(usize) -> String) -> String {
        let mut out = front.to_owned();
        for number in 0.. {
            let next = line(number);
            if out.len() + next.len() + back.len() > 9_900 {
                break;
            }
            out.push_str(&next);
        }
        out + back
    }
    let script = |front: &str| {
        lines(front, "", |n| match n % 6 {
            0 => format!("mkdir -p build/dir{n}\n"),
            1 => format!("cp src/a{n}.rs build/\n"),
            2 => format!("echo \"step {n} done\"\n"),
            3 => format!("cargo build -p crate{n}\n"),
            4 => format!("grep -n foo{n} src/lib.rs\n"),
            _ => format!("test -f x{n} && cat x\n"),
        })
    };
    let bash = |command: String| serde_json::json!({ "command": command });
    let write = |path: &str, content: String| serde_json::json!({ "file_path": path, "content": content });
    let scripts = lines("{\"name\": \"x\", \"scripts\": {\n", "\"last\": \"ls\"}}", |n| {
        format!(" \"s{n}\": \"node build{n}.js && echo ok\",\n")
    });
    let python = lines("python3 - <<'E'\nimport json,os\n", "\nE\n", |n| {
        format!("for row{n} in data:\n    print(row{n}[\"name\"], os.path.join(\"a\", \"b{n}\"))\n")
    });
    vec![
        ("a script", "Bash", bash(script("")), MAX_SCRIPT),
        ("a script written", "Write", write("run.sh", script("#!/bin/bash\nset -e\n")), MAX_WRITTEN),
        ("package.json written", "Write", write("package.json", scripts), MAX_MANIFEST),
        ("Python", "Bash", bash(python), MAX_PYTHON),
        (
            "variables of a container",
            "Bash",
            bash(lines("docker run ", "img", |_| "-e A=b ".to_owned())),
            MAX_OPTIONS,
        ),
    ]
}

#[test]
fn calls_of_ten_kilobytes_stay_inside_their_budget() {
    let world = World::new();
    world.run(&[], "ls");
    let mut wrong = Vec::new();
    for (name, tool, mut input, most) in long_calls() {
        let mut message: serde_json::Value = serde_json::from_str(&world.message("ls")).unwrap();
        if let Some(path) = input.get("file_path").and_then(|path| path.as_str()) {
            input["file_path"] = format!("{}/{path}", message["cwd"].as_str().unwrap()).into();
        }
        message["tool_name"] = tool.into();
        message["tool_input"] = input;
        let cost = world.dry_event(&message.to_string());
        let _ = writeln!(std::io::stderr(), "{name}: {cost} instructions");
        if cost > most {
            wrong.push(format!("{name}: {cost} instructions (at most {most})"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Hostile shapes, each as long as asked; more of them in `examples/linear.rs`.
type Shape = (&'static str, fn(usize) -> String);

fn shapes() -> [Shape; 8] {
    fn repeated(front: &str, unit: &str, back: &str, size: usize) -> String {
        format!("{front}{}{back}", unit.repeat((size - front.len() - back.len()) / unit.len()))
    }
    [
        ("long word", |size| repeated("ls ", "a", "", size)),
        ("open quote", |size| repeated("echo '", "a", "", size)),
        ("backslashes", |size| repeated("echo ", "\\", "", size)),
        ("comments", |size| repeated("", "# a\n", "ls", size)),
        ("braces", |size| repeated("echo ", "{a,b}", "", size)),
        ("brackets", |size| repeated("ls ", "[", "", size)),
        ("here-document", |size| repeated("cat > x <<'E'\n", "ls a\n", "E\n", size)),
        ("substitutions", |size| repeated("echo ", "$(a ", "", size)),
    ]
}

/// From 10 KB on a byte costs no more than twice as much, however many there are.
#[test]
fn the_cost_of_a_byte_does_not_grow_with_the_length() {
    let world = World::new();
    world.run(&[], "ls");
    let fixed = world.dry("ls");
    let mut wrong = Vec::new();
    for (name, shape) in shapes() {
        let costs: Vec<u64> = [10_000, 100_000, 1_000_000]
            .map(|size| world.dry(&shape(size)).saturating_sub(fixed) * 1000 / u64::try_from(size).unwrap())
            .to_vec();
        let _ = writeln!(std::io::stderr(), "{name}: {costs:?} instructions per 1 000 bytes");
        if costs.iter().any(|cost| *cost > 2 * costs[0].max(1000)) {
            wrong.push(format!("{name}: {costs:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_binary_is_small() {
    let bytes = fs::metadata(binary()).unwrap().len();
    assert!(bytes <= MAX_BINARY_BYTES, "{bytes} bytes (at most {MAX_BINARY_BYTES})");
}
