//! Checkpoints and rollback under faults: killed at every step, a full disk, other people's changes, and what else a file
//! system holds. Never a lost or half-written file.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]
#![cfg(target_os = "linux")]

mod common;
mod undoing;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use common::{BIN, World};
use serde_json::{Value, json};
use undoing::{after, before, checkpoints, configured, rollback, shell, tree};

/// A number that looks drawn by lot, the same in every run.
struct Lot(u64);

impl Lot {
    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % most
    }
}

/// Bytes that no program wrote as text, and that do not compress.
fn bytes(seed: u64, length: usize) -> Vec<u8> {
    let mut lot = Lot(seed * 2 + 1);
    (0..length).map(|_| u8::try_from(lot.below(256)).unwrap()).collect()
}

type Tree = [(String, u32, Vec<u8>)];
/// Its name, what is said, and what makes it.
type Case = (&'static str, &'static str, fn(&Path));

/// Work of every kind in `src`.
fn work(world: &World) {
    let src = world.project().join("src");
    fs::create_dir_all(src.join("deep/er")).unwrap();
    fs::create_dir_all(src.join("empty")).unwrap();
    fs::write(src.join("long.bin"), bytes(1, 300_000)).unwrap();
    fs::write(src.join("deep/er/short.bin"), [0_u8, 255, 10, 0, 128]).unwrap();
    fs::write(src.join("deep/nothing"), "").unwrap();
    fs::write(src.join("run.sh"), "#!/bin/sh\n").unwrap();
    fs::write(src.join("setuid"), "not a program").unwrap();
    symlink("long.bin", src.join("link")).unwrap();
    symlink("/nowhere/at/all", src.join("deep/dangling")).unwrap();
    for (name, mode) in [("run.sh", 0o755), ("setuid", 0o4711), ("long.bin", 0o600), ("empty", 0o1777)] {
        fs::set_permissions(src.join(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    fs::set_permissions(src.join("deep/er"), fs::Permissions::from_mode(0o555)).unwrap();
}

/// What a call has left: half of the work is gone, a part is overwritten, something is new.
fn destroy(project: &Path) {
    let src = project.join("src");
    fs::set_permissions(src.join("deep/er"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::remove_dir_all(&src).unwrap();
}

/// What strace calls an end by SIGKILL before the `nth` of these system calls; the process's own end otherwise.
fn killed_at(world: &World, args: &[&str], message: &[u8], (call, nth): (&str, usize)) -> Output {
    let inject = format!("inject={call}:signal=KILL:when={nth}");
    let mut child = Command::new("strace")
        .args(["-f", "-o", "/dev/null", "-e", &format!("trace={call}"), "-e", &inject, BIN])
        .args(args)
        .env_clear()
        .env("HOME", world.home())
        .env("PATH", "/usr/bin:/bin")
        .current_dir(world.project())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("strace runs");
    // One that was killed reads nothing more.
    let _ = child.stdin.take().unwrap().write_all(message);
    child.wait_with_output().unwrap()
}

/// A copy of the project and of what lazaret remembers, to begin again from.
struct Kept {
    copy: tempfile::TempDir,
    of: [PathBuf; 2],
}

impl Kept {
    fn of(world: &World) -> Kept {
        let kept =
            Kept { copy: tempfile::tempdir().unwrap(), of: [world.project(), world.home().join(".local")] };
        for (place, name) in kept.of.iter().zip(["proj", "local"]) {
            copy(place, &kept.copy.path().join(name));
        }
        kept
    }

    fn put_back(&self) {
        for (place, name) in self.of.iter().zip(["proj", "local"]) {
            // Closed directories would keep what is in them.
            let script = "if [ -e \"$0\" ]; then chmod -R u+rwX \"$0\" && rm -rf \"$0\"; fi";
            assert!(Command::new("sh").args(["-c", script]).arg(place).status().unwrap().success());
            copy(&self.copy.path().join(name), place);
        }
    }
}

fn copy(from: &Path, to: &Path) {
    assert!(Command::new("cp").arg("-a").arg(from).arg(to).status().unwrap().success());
}

/// What is at each path, but the directories.
fn contents(tree: &Tree) -> BTreeMap<&str, (u32, &[u8])> {
    let files = tree.iter().filter(|(_, mode, _)| mode & 0o170_000 != 0o040_000);
    files.map(|(path, mode, content)| (path.as_str(), (*mode, content.as_slice()))).collect()
}

/// Whether a name is one under which a rollback makes what it then renames.
fn is_temporary(path: &str) -> bool {
    path.rsplit_once(".lazaret-").is_some_and(|(_, end)| end.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Every path has what was there before the rollback, or what it puts back; nothing else is there but what it was making.
fn neither_lost_nor_half(world: &World, (old, new): (&Tree, &Tree), at: &str) {
    let now = tree(world);
    let (old, new, now) = (contents(old), contents(new), contents(&now));
    for (path, is) in now.iter().filter(|(path, _)| !is_temporary(path)) {
        let known = old.get(path) == Some(is) || new.get(path) == Some(is);
        assert!(known, "{at}: {path} is neither as it was nor as it is to be ({} bytes)", is.1.len());
    }
    for path in old.keys().filter(|path| new.contains_key(*path)) {
        assert!(now.contains_key(path), "{at}: {path} is gone");
    }
}

/// System calls by which a rollback changes anything, or is about to.
const CHANGES: [&str; 12] = [
    "openat",
    "open",
    "write",
    "fsync",
    "fchmod",
    "rename",
    "renameat",
    "unlink",
    "unlinkat",
    "mkdir",
    "mkdirat",
    "symlinkat",
];

#[test]
fn a_rollback_that_is_killed_at_any_step_is_completed_by_the_next() {
    let world = World::new();
    work(&world);
    fs::write(world.project().join("notes.txt"), "a person's notes\n").unwrap();
    let was = tree(&world);
    shell(&world, "t1", "rm -rf src && echo overwritten > notes.txt && echo new > made.txt", |project| {
        destroy(project);
        fs::write(project.join("notes.txt"), "overwritten\n").unwrap();
        fs::write(project.join("made.txt"), "new\n").unwrap();
    });
    let gone = tree(&world);
    let kept = Kept::of(&world);
    let (mut killed, mut half) = (0, 0);
    for call in CHANGES {
        // Of those that it makes by the hundred every ninth has to do.
        let step = if matches!(call, "openat" | "write") { 9 } else { 1 };
        for nth in (1..).step_by(step) {
            let at = format!("killed before {call} number {nth}");
            let out = killed_at(&world, &["rollback", "--last"], b"", (call, nth));
            if out.status.code() == Some(0) {
                assert!(tree(&world) == was, "{at}: it said that it was done");
                kept.put_back();
                break;
            }
            killed += 1;
            neither_lost_nor_half(&world, (&gone, &was), &at);
            let between = tree(&world);
            half += usize::from(between != was && between != gone);
            let (code, told, problem) = world.run(&["rollback", "--last"]);
            assert!(tree(&world) == was, "{at}: {told}{problem}\n{:?}", names(&world));
            assert!(code == 0 || between == was, "{at}: {told}{problem}");
            kept.put_back();
        }
    }
    assert!(killed > 30 && half > 15, "killed {killed} times, {half} of them half-way");
}

fn names(world: &World) -> Vec<String> {
    tree(world).into_iter().map(|(path, mode, _)| format!("{mode:o} {path}")).collect()
}

#[test]
fn a_call_whose_saving_is_killed_at_any_step_has_changed_nothing_and_can_be_saved_again() {
    let world = World::new();
    work(&world);
    let was = tree(&world);
    world.bash("ls");
    let kept = Kept::of(&world);
    let message = world.message("Bash", &json!({"command": "rm -rf src"})).to_string();
    let mut killed = 0;
    for call in ["open", "openat", "write", "rename", "mkdir", "fsync"] {
        let step = if matches!(call, "open" | "openat") { 9 } else { 3 };
        for nth in (1..).step_by(step) {
            let at = format!("killed before {call} number {nth}");
            let home = world.home().to_str().unwrap();
            let out =
                killed_at(&world, &["hook", "claude-code", "--home", home], message.as_bytes(), (call, nth));
            assert!(tree(&world) == was, "{at}");
            if out.status.code() == Some(0) {
                break;
            }
            killed += 1;
            assert!(out.stdout.is_empty(), "{at}: an answer that the client may take: {}", text(&out.stdout));
            assert!(checkpoints(&world).len() <= 1, "{at}");
            shell(&world, "t2", "rm -rf src", destroy);
            let (code, done) = rollback(&world, &["--last"]);
            assert_eq!((code, tree(&world) == was), (0, true), "{at}: {done}");
            kept.put_back();
        }
    }
    assert!(killed > 10, "killed {killed} times");
    // What the killed ones have left goes when a session starts.
    fs::write(world.state().join("checkpoints/objects/.new-1-1"), "half of a content").unwrap_or_default();
    session_start(&world);
    let left = files_below(&world.state().join("checkpoints"));
    assert!(left.iter().all(|path| !path.contains(".new-")), "{left:?}");
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The hook at a session's start, when what is old is swept.
fn session_start(world: &World) {
    let message = json!({"session_id": "s", "cwd": world.project(), "hook_event_name": "SessionStart", "source": "startup"});
    let answer = world.hook("claude-code", message.to_string().as_bytes());
    assert_eq!(answer.code, Some(0), "{}{}", answer.stdout, answer.stderr);
}

fn files_below(dir: &Path) -> Vec<String> {
    let (mut found, mut open) = (Vec::new(), vec![dir.to_owned()]);
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            if entry.path().is_dir() {
                open.push(entry.path());
            } else {
                found.push(entry.path().display().to_string());
            }
        }
    }
    found.sort();
    found
}

#[test]
fn processes_that_are_killed_at_any_moment_lose_nothing() {
    let world = World::new();
    let src = world.project().join("src");
    for file in 0..150 {
        fs::write(src.join(format!("{file}.bin")), bytes(file, 20_000)).unwrap();
    }
    let was = tree(&world);
    shell(&world, "t1", "rm -rf src", |project| fs::remove_dir_all(project.join("src")).unwrap());
    let gone = tree(&world);
    let kept = Kept::of(&world);
    let begun = Instant::now();
    rollback(&world, &["--last"]);
    let whole = u64::try_from(begun.elapsed().as_micros()).unwrap();
    let (mut lot, mut half) = (Lot(20_261_122), 0);
    for round in 0..16 {
        kept.put_back();
        let mut child = world.command().args(["rollback", "--last"]).stdout(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(lot.below(whole)));
        // By the standard library's own hand: it knows whether the process is still there.
        child.kill().unwrap();
        child.wait().unwrap();
        neither_lost_nor_half(&world, (&gone, &was), &format!("round {round}"));
        let between = tree(&world);
        half += usize::from(between != was && between != gone);
        let (code, told, problem) = world.run(&["rollback", "--last"]);
        assert!(tree(&world) == was, "round {round}: {told}{problem}");
        assert!(code == 0 || between == was, "round {round}: {told}{problem}");
    }
    let _ = writeln!(std::io::stderr(), "{half} of 16 were half-way");
}

#[test]
fn a_rollback_that_was_killed_can_itself_be_undone() {
    let world = World::new();
    work(&world);
    let was = tree(&world);
    shell(&world, "t1", "rm -rf src", destroy);
    let gone = tree(&world);
    // Before the fourth file takes its place.
    let out = killed_at(&world, &["rollback", "--last"], b"", ("renameat", 4));
    assert_ne!(out.status.code(), Some(0));
    assert!(tree(&world) != was && tree(&world) != gone);
    let half = checkpoints(&world)[1]["id"].as_str().unwrap().to_owned();
    let (code, done) = rollback(&world, &[&half]);
    assert_eq!(code, 0, "{done}");
    assert!(tree(&world) == gone, "{:?}", names(&world));
    // Undoing that in turn puts back what was restored until then, and the first command all of it.
    assert_eq!(rollback(&world, &["--last"]).0, 0);
    assert!(tree(&world) == was, "{:?}", names(&world));
}

#[test]
fn a_chain_of_rollbacks_of_rollbacks() {
    let world = World::new();
    work(&world);
    let was = tree(&world);
    shell(&world, "t1", "rm -rf src", destroy);
    let gone = tree(&world);
    let mut id = checkpoints(&world)[0]["id"].as_str().unwrap().to_owned();
    for round in 0..6 {
        let (code, done) = rollback(&world, &[&id]);
        assert_eq!(code, 0, "{round}: {done}");
        assert!(tree(&world) == if round % 2 == 0 { was.clone() } else { gone.clone() }, "{round}");
        id = done["rollback"].as_str().unwrap().to_owned();
    }
}

/// Runs a shell script as root of namespaces of its own, with `$BIN`, `$HOME` and `$P`, where a small disk can be mounted.
fn on_small_disks(world: &World, script: &str) -> Option<String> {
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c"]);
    let able = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", "mount -t tmpfs -o size=64k tmpfs /mnt"])
        .output();
    if !able.is_ok_and(|out| out.status.success()) {
        let _ = writeln!(std::io::stderr(), "skipped: no namespaces in which a small disk can be mounted");
        return None;
    }
    let out = command
        .arg(format!("set -u; cd \"$P\"; {script}"))
        .env_clear()
        .envs([("BIN", BIN), ("PATH", "/usr/bin:/bin")])
        .env("HOME", world.home())
        .env("P", world.project())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    Some(text(&out.stdout) + &text(&out.stderr))
}

/// The message of a call of the shell as a file, to be given to the hook by a script.
fn in_a_file(world: &World, name: &str, event: &str, command: &str) {
    let mut message = world.message("Bash", &json!({ "command": command }));
    message["hook_event_name"] = json!(event);
    message["tool_use_id"] = json!("t1");
    message["tool_response"] = json!({});
    fs::write(world.home().join(name), message.to_string()).unwrap();
}

#[test]
fn where_the_stores_disk_is_full_nothing_leans_on_it_and_it_does_not_stay_full() {
    let world = World::new();
    fs::write(world.project().join("src/long.bin"), bytes(1, 600_000)).unwrap();
    fs::write(world.project().join("src/longer.bin"), bytes(2, 1_200_000)).unwrap();
    let was = tree(&world);
    in_a_file(&world, "before", "PreToolUse", "rm -rf src");
    fs::create_dir_all(world.state()).unwrap();
    let told = on_small_disks(
        &world,
        "mount -t tmpfs -o size=1m,mode=700 tmpfs \"$HOME/.local/state/lazaret\"; \
         \"$BIN\" hook claude-code --home \"$HOME\" < \"$HOME/before\"; echo; echo \"code $?\"; \
         echo \"made $(ls \"$HOME/.local/state/lazaret/checkpoints/made\" | wc -l)\"; \
         echo \"objects $(find \"$HOME/.local/state/lazaret/checkpoints/objects\" -type f | wc -l)\"; \
         \"$BIN\" checkpoint list",
    );
    let Some(told) = told else { return };
    assert!(told.contains("\"permissionDecision\":\"ask\"") && told.contains("could not be saved"), "{told}");
    assert!(
        told.contains("made 0\n") && told.contains("objects 0\n") && told.contains("no checkpoints"),
        "{told}"
    );
    assert!(tree(&world) == was);
}

#[test]
fn where_the_projects_disk_is_full_a_rollback_puts_back_what_fits_and_the_rest_later() {
    let world = World::new();
    let data = world.project().join("data");
    fs::create_dir_all(&data).unwrap();
    in_a_file(&world, "before", "PreToolUse", "rm -rf data/part");
    in_a_file(&world, "after", "PostToolUse", "rm -rf data/part");
    let told = on_small_disks(
        &world,
        "mount -t tmpfs -o size=1m tmpfs data; mkdir -p data/part; echo small > data/part/a.txt; echo small > data/part/z.txt; \
         head -c 600000 /dev/urandom > data/part/long.bin; sha256sum data/part/* > \"$HOME/sums\"; \
         \"$BIN\" hook claude-code --home \"$HOME\" < \"$HOME/before\" > \"$HOME/answer\"; rm -rf data/part; \
         \"$BIN\" hook claude-code --home \"$HOME\" < \"$HOME/after\" >/dev/null; \
         head -c 700000 /dev/urandom > data/other; \
         \"$BIN\" rollback --last; echo \"first $?\"; echo \"files $(ls -A data/part | tr '\\n' ' ')\"; \
         rm data/other; \"$BIN\" rollback --last; echo \"second $?\"; \
         echo \"files $(ls -A data/part | tr '\\n' ' ')\"; sha256sum -c \"$HOME/sums\" && echo all the same",
    );
    let Some(told) = told else { return };
    assert!(fs::read_to_string(world.home().join("answer")).unwrap().contains("lazaret rollback"), "{told}");
    assert!(told.contains("failed ") && told.contains("long.bin: No space left"), "{told}");
    assert!(told.contains("first 1\nfiles a.txt z.txt \n"), "{told}");
    assert!(told.contains("second 0\nfiles a.txt long.bin z.txt \n"), "{told}");
    assert!(told.contains("all the same"), "{told}");
}

#[test]
fn other_peoples_files_are_left_alone_and_nothing_is_written_through_a_link() {
    let world = World::new();
    work(&world);
    let src = world.project().join("src");
    let outside = world.home().join("outside");
    fs::create_dir_all(outside.join("er")).unwrap();
    for name in ["nothing", "er/short.bin", "run.sh"] {
        fs::write(outside.join(name), "not the project's").unwrap();
    }
    let theirs = |world: &World| {
        let names = files_below(&world.home().join("outside"));
        names.into_iter().map(|name| (fs::read(&name).unwrap(), name)).collect::<Vec<_>>()
    };
    let before = theirs(&world);
    shell(&world, "t1", "rm -rf src", destroy);
    // The directory of two of them leads elsewhere now, a third is a link to a file elsewhere, a fourth is a person's.
    fs::create_dir(&src).unwrap();
    symlink(&outside, src.join("deep")).unwrap();
    symlink(outside.join("run.sh"), src.join("run.sh")).unwrap();
    fs::write(src.join("setuid"), "a person's").unwrap();
    let (code, done) = rollback(&world, &["--last"]);
    assert_eq!(code, 1, "{done}");
    let whole = |done: &Value| [&done["conflicts"], &done["failed"]].map(Value::to_string).concat();
    for name in ["src/deep\"", "src/deep/er", "src/deep/nothing", "src/run.sh", "src/setuid"] {
        assert!(whole(&done).contains(name), "{name} is not named: {done}");
    }
    assert_eq!(fs::read(src.join("long.bin")).unwrap(), bytes(1, 300_000), "{done}");
    assert_eq!(fs::read_to_string(src.join("setuid")).unwrap(), "a person's");
    assert!(theirs(&world) == before, "nothing outside was written");
    // Whoever forces it gets the file and the directory, not what the links lead to.
    let id = done["checkpoints"][0].as_str().unwrap().to_owned();
    let (_, done) = rollback(&world, &[&id, "--force", "src"]);
    assert!(whole(&done).contains("a directory on the way to it is a symbolic link now"), "{done}");
    // The link has given way to the directory; now what lay in it can come back.
    let (code, done) = rollback(&world, &[&id]);
    assert_eq!(code, 0, "{done}");
    assert!(theirs(&world) == before, "nothing outside was written");
    assert_eq!(fs::read_to_string(src.join("run.sh")).unwrap(), "#!/bin/sh\n");
    assert!(!src.join("deep").is_symlink() && src.join("deep/er/short.bin").is_file(), "{done}");
}

/// What the hook says to the deletion of `src`.
fn deletion(world: &World) -> (String, String) {
    let answer = before(world, "t1", "Bash", &json!({"command": "rm -rf src"}));
    let decision =
        answer.json()["hookSpecificOutput"]["permissionDecision"].as_str().unwrap_or("runs").to_owned();
    (decision, answer.stdout)
}

#[test]
fn a_deletion_of_what_cannot_be_saved_is_asked_about_and_says_why() {
    let cases: [Case; 4] = [
        ("a name", "its name is not UTF-8", |src| {
            fs::write(src.join(OsStr::from_bytes(b"caf\xe9")), "x").unwrap();
        }),
        ("too many", "there are more than 40 files", |src| {
            for file in 0..41 {
                fs::write(src.join(file.to_string()), "x").unwrap();
            }
        }),
        ("one too long", "it is 68.4 KiB; at most 64 KiB of it are saved", |src| {
            fs::write(src.join("long"), vec![0; 70_000]).unwrap();
        }),
        ("too much together", "of it are saved", |src| {
            for file in 0..4 {
                fs::write(src.join(file.to_string()), bytes(file, 50_000)).unwrap();
            }
        }),
    ];
    for (name, why, make) in cases {
        let world = World::new();
        configured(&world, "max_files = 40\nmax_file_bytes = 65536\nmax_bytes = 131072\n");
        assert_eq!(deletion(&world).0, "runs", "{name}");
        make(&world.project().join("src"));
        let was = tree(&world);
        let (decision, told) = deletion(&world);
        assert_eq!(decision, "ask", "{name}: {told}");
        assert!(told.contains(why), "{name}: {told}");
        assert!(tree(&world) == was, "{name}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_device_is_no_file_that_can_be_saved() {
    let world = World::new();
    let device = world.project().join("src/device");
    let made = rustix::fs::mknodat(
        rustix::fs::CWD,
        &device,
        rustix::fs::FileType::CharacterDevice,
        rustix::fs::Mode::RWXU,
        rustix::fs::makedev(1, 3),
    );
    if made.is_err() {
        let _ = writeln!(std::io::stderr(), "skipped: only root makes devices");
        return;
    }
    let (decision, told) = deletion(&world);
    assert_eq!(decision, "ask", "{told}");
    assert!(told.contains("it is a device"), "{told}");
}

#[test]
fn a_file_of_a_gigabyte_is_said_to_be_beyond_the_bound_by_the_hook_and_by_the_rollback() {
    let world = World::new();
    let huge = world.project().join("src/huge.bin");
    File::create(&huge).unwrap().set_len(1 << 30).unwrap();
    let begun = Instant::now();
    let (decision, told) = deletion(&world);
    assert!(
        decision == "ask" && told.contains("huge.bin: it is 1024 MiB; at most 32 MiB of it are saved"),
        "{told}"
    );
    // The person says yes.
    fs::remove_dir_all(world.project().join("src")).unwrap();
    after(&world, "t1", "Bash", &json!({"command": "rm -rf src"}));
    let (code, told, _) = world.run(&["rollback", "--last"]);
    assert!(code == 1 && told.contains("huge.bin: it is 1024 MiB; at most 32 MiB of it are saved"), "{told}");
    assert_eq!(fs::read_to_string(world.project().join("src/main.rs")).unwrap(), "fn main() {}\n");
    assert!(!huge.exists() && begun.elapsed() < Duration::from_secs(30), "it was not read");
    // What overwrites it runs, and says nothing that is not so.
    File::create(&huge).unwrap().set_len(1 << 30).unwrap();
    let write = json!({"file_path": huge, "content": "short"});
    let answer = before(&world, "t2", "Write", &write);
    assert!(answer.code == Some(0) && !answer.stdout.contains("rollback"), "{}", answer.stdout);
}

#[test]
fn what_git_ignores_by_itself_comes_back_with_its_directory() {
    let world = World::new();
    let src = world.project().join("src");
    fs::write(world.project().join(".gitignore"), "node_modules/\n.env\n*.log\n").unwrap();
    fs::create_dir_all(src.join("node_modules/x")).unwrap();
    fs::write(src.join("node_modules/x/index.js"), "made again by npm").unwrap();
    fs::write(src.join(".env"), "TOKEN=not in git\n").unwrap();
    File::create(src.join("long.log")).unwrap().set_len(3 << 20).unwrap();
    let answer =
        shell(&world, "t1", "rm -rf src", |project| fs::remove_dir_all(project.join("src")).unwrap());
    assert!(answer.stdout.contains("lazaret rollback"), "{}", answer.stdout);
    assert_eq!(rollback(&world, &["--last"]).0, 0);
    assert_eq!(fs::read_to_string(src.join(".env")).unwrap(), "TOKEN=not in git\n");
    assert!(!src.join("node_modules").exists() && !src.join("long.log").exists());
}

#[test]
fn processes_that_save_and_restore_at_once_do_not_disturb_each_other() {
    let world = World::new();
    for part in 0..8_u64 {
        let dir = world.project().join(format!("part{part}"));
        fs::create_dir_all(&dir).unwrap();
        for file in 0..10_u64 {
            fs::write(dir.join(file.to_string()), bytes(part * 100 + file, 5_000)).unwrap();
        }
    }
    let was = tree(&world);
    let each = |act: &(dyn Fn(usize) + Sync)| {
        std::thread::scope(|scope| (0..8).for_each(|part| drop(scope.spawn(move || act(part)))));
    };
    each(&|part| {
        let command = format!("rm -rf part{part}");
        let answer = shell(&world, &format!("t{part}"), &command, |project| {
            fs::remove_dir_all(project.join(format!("part{part}"))).unwrap();
        });
        assert!(answer.stdout.contains("lazaret rollback"), "{part}: {}", answer.stdout);
    });
    let made = checkpoints(&world);
    assert!(made.len() == 8 && made.iter().all(|one| one["complete"] == json!(true)), "{made:?}");
    // Every one by two processes at the same time: the second finds it done, or is told that things have changed.
    each(&|part| {
        let id = made[part]["id"].as_str().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| world.run(&["rollback", id]));
            }
        });
    });
    let left: Vec<String> = names(&world).into_iter().filter(|name| is_temporary(name)).collect();
    assert!(tree(&world) == was, "left: {left:?}");
}

#[test]
fn what_is_old_or_too_much_goes_and_the_rest_can_still_be_put_back() {
    let world = World::new();
    configured(&world, "max_store_bytes = 200000\nmax_bytes = 100000\n");
    let file = world.project().join("src/main.rs");
    for round in 0..8 {
        fs::write(&file, bytes(round, 40_000)).unwrap();
        let write = json!({"file_path": file, "content": "new"});
        before(&world, &format!("t{round}"), "Write", &write);
        fs::write(&file, "new").unwrap();
        after(&world, &format!("t{round}"), "Write", &write);
    }
    let made = checkpoints(&world);
    let room: u64 = files_below(&world.state().join("checkpoints"))
        .iter()
        .map(|path| fs::metadata(path).unwrap().len())
        .sum();
    assert!((2..8).contains(&made.len()) && room <= 200_000, "{} checkpoints, {room} bytes", made.len());
    assert_eq!(rollback(&world, &["--last"]).0, 0);
    assert_eq!(fs::read(&file).unwrap(), bytes(7, 40_000));
    // One that is as old as it may be.
    let dir = world.state().join("checkpoints/made");
    let oldest = made[0]["id"].as_str().unwrap();
    let aged = format!("018f0000-0000{}", oldest.get(13..).unwrap());
    let text = fs::read_to_string(dir.join(format!("{oldest}.json"))).unwrap().replace(oldest, &aged);
    fs::remove_file(dir.join(format!("{oldest}.json"))).unwrap();
    fs::write(dir.join(format!("{aged}.json")), text).unwrap();
    session_start(&world);
    let now = checkpoints(&world);
    assert_eq!(now.len(), made.len(), "the rollback's own came, the aged one went");
    assert!(now.iter().all(|one| one["id"] != json!(aged)));
    assert_eq!(rollback(&world, &[made[1]["id"].as_str().unwrap(), "--force", "src"]).0, 0);
}

#[test]
fn a_call_that_never_ran_does_not_hide_the_one_that_did() {
    let world = World::new();
    shell(&world, "t1", "rm -rf src", |project| fs::remove_dir_all(project.join("src")).unwrap());
    let notes = world.project().join("notes.txt");
    fs::write(&notes, "kept").unwrap();
    before(&world, "t2", "Bash", &json!({"command": "rm notes.txt"}));
    assert_eq!(checkpoints(&world).len(), 2);
    let (code, told, _) = world.run(&["rollback", "--last"]);
    assert!(code == 0 && told.contains("made before Bash: rm -rf src"), "{told}");
    assert!(world.project().join("src/main.rs").exists() && notes.exists());
}

#[test]
fn a_content_that_a_power_cut_has_emptied_is_said_and_saved_anew() {
    let world = World::new();
    let file = world.project().join("src/main.rs");
    let remove = |id: &str| shell(&world, id, "rm src/main.rs", |_| fs::remove_file(&file).unwrap());
    remove("t1");
    let object = files_below(&world.state().join("checkpoints/objects")).pop().unwrap();
    File::options().write(true).open(&object).unwrap().set_len(0).unwrap();
    let (code, done) = rollback(&world, &["--last"]);
    assert!(
        code == 1 && done["failed"][0]["path"] == json!(file.canonicalize().unwrap_or_else(|_| file.clone())),
        "{done}"
    );
    assert!(!file.exists());
    fs::write(&file, "fn main() {}\n").unwrap();
    remove("t2");
    assert_eq!(rollback(&world, &["--last"]).0, 0);
    assert_eq!(fs::read_to_string(&file).unwrap(), "fn main() {}\n");
}

#[test]
fn what_a_killed_rollback_was_making_goes_when_a_session_starts() {
    let world = World::new();
    work(&world);
    shell(&world, "t1", "rm -rf src", destroy);
    fs::write(world.project().join(".notes.txt.lazaret-7"), "a person's, whatever its name").unwrap();
    killed_at(&world, &["rollback", "--last"], b"", ("renameat", 1));
    let made = || names(&world).into_iter().filter(|name| is_temporary(name)).count();
    assert_eq!(made(), 2, "{:?}", names(&world));
    session_start(&world);
    assert_eq!(made(), 1, "{:?}", names(&world));
    assert!(world.project().join(".notes.txt.lazaret-7").exists());
}
