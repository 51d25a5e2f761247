//! How far long commands are, as a person sees it at a terminal: a line that comes while there is much to do, and is gone when it is done.
//! What takes long here are single system calls, which strace holds up: the same on every machine.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod common;
mod terminal;
mod undoing;

use std::fs;
use std::process::Command;

use common::World;
use terminal::Screen;

const CALLS: &str = "open,openat,renameat,renameat2,linkat,getdents64";

/// Starts a command in the project, of which each call that opens or moves a file takes so many milliseconds more.
fn slow(world: &World, args: &[&str], ms: u32) -> Screen {
    let inject = format!("-e trace={CALLS} -e inject={CALLS}:delay_enter={ms}000");
    let project = lazaret::domain::single_quoted(&world.project().to_string_lossy());
    Screen::with(world, args, (120, 30), &format!("-C {project} strace -f -qq -o /dev/null {inject}"))
}

/// A project with some files that are not committed.
fn filled() -> World {
    let world = World::new();
    for id in 0..8 {
        fs::write(world.project().join(format!("src/{id}.rs")), "not committed\n").unwrap();
    }
    world
}

/// They are deleted by a call, which is being undone.
fn rolling_back(world: &World) -> Screen {
    undoing::shell(world, "t1", "rm -rf src", |project| fs::remove_dir_all(project.join("src")).unwrap());
    slow(world, &["rollback", "--last"], 20)
}

/// The line was shown, wiped away, and then came what the command says; gives all that was sent to the terminal.
fn shown_until(screen: Screen, line: &str, said: &str) -> String {
    screen.shows(said);
    let raw = screen.raw();
    assert_eq!(screen.ends(), (0, true), "{raw:?}");
    let (_, after) = raw.rsplit_once(line).unwrap_or_else(|| panic!("no {line:?} in {raw:?}"));
    let (wiped, said_at) = (after.find("\r\u{1b}[2K"), after.find(said));
    assert!(wiped.is_some() && wiped < said_at, "{raw:?}");
    raw
}

#[test]
fn verifying_shows_how_much_of_the_log_is_read() {
    let world = World::new();
    let log = world.state().join("audit/audit.jsonl");
    // It is told every quarter of a megabyte.
    while fs::metadata(&log).map_or(0, |found| found.len()) < 400_000 {
        world.bash(&format!("echo {}", "long ".repeat(20_000)));
    }
    let screen = slow(&world, &["audit", "verify"], 200);
    let raw = shown_until(screen, "verifying the log [", "ok: ");
    assert!(raw.contains(" B of ") || raw.contains(" KiB of "), "{raw:?}");
}

#[test]
fn pruning_shows_how_many_files_it_looked_at() {
    let world = World::new();
    world.bash("echo one");
    let log = world.state().join("audit");
    for month in 1..9 {
        let older = log.join(format!("audit-20250{month}01T000000.000Z.jsonl"));
        fs::copy(log.join("audit.jsonl"), older).unwrap();
    }
    let screen = slow(&world, &["audit", "prune", "--keep-days", "0"], 60);
    let raw = shown_until(screen, "removing old files of the log, ", "removed 9 files");
    assert!(raw.contains(" files, "), "{raw:?}");
}

#[test]
fn rolling_back_shows_how_many_files_are_left() {
    let world = filled();
    let was = undoing::tree(&world);
    let screen = rolling_back(&world);
    let raw = shown_until(screen, "putting back [", "restored");
    assert!(raw.contains(" files, ") && raw.contains(" left"), "{raw:?}");
    assert_eq!(undoing::tree(&world), was);
}

/// What was begun by then is whole: all of a file or nothing of it, and it says how to go on.
#[test]
fn ctrl_c_ends_a_roll_back_between_two_files() {
    let world = filled();
    let was = undoing::tree(&world);
    let screen = rolling_back(&world);
    screen.shows("putting back [");
    // As the terminal does it for what is in front, but for the shell and for strace.
    let strace = fs::read_to_string(world.home().join("terminal/pid")).unwrap();
    let children = format!("/proc/{0}/task/{0}/children", strace.trim());
    let lazaret = fs::read_to_string(children).unwrap();
    assert!(Command::new("kill").args(["-s", "INT", lazaret.trim()]).status().unwrap().success());
    let text = screen.shows("stopped before it was done");
    assert_eq!(screen.ends(), (130, true), "{text}");
    assert_ne!(undoing::tree(&world), was);
    let (code, _, error) = world.run(&["rollback", "--last"]);
    assert_eq!(code, 0, "{error}");
    assert_eq!(undoing::tree(&world), was);
}

#[test]
fn opening_a_review_shows_how_many_files_are_sealed() {
    let world = filled();
    let screen = slow(&world, &["review", "start", "src"], 60);
    let raw = shown_until(screen, "sealing, ", "typed://");
    assert!(raw.contains(" files, "), "{raw:?}");
}
