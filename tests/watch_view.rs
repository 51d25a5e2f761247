//! `lazaret watch` as a person sits before it: a terminal, keys, and sessions whose calls go through the built hook.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod common;
mod terminal;
mod undoing;

use std::fs;
use std::process::Stdio;

use common::{Answer, World};
use serde_json::json;
use terminal::Screen;

const ASKED: &str = "cp -r old/. ~";
const WINDOW: (u16, u16) = (110, 30);

/// A call that a person would be asked about, where the client asks nobody.
fn unasked(world: &World, session: &str, command: &str) -> Answer {
    let mut message = world.message("Bash", &json!({ "command": command }));
    message["session_id"] = json!(session);
    message["permission_mode"] = json!("bypassPermissions");
    world.hook("claude-code", message.to_string().as_bytes())
}

/// The code that it was offered under.
fn code(answer: &Answer) -> String {
    let (_, rest) = answer.stderr.split_once("lazaret allow ").expect("a code is offered");
    rest.split_whitespace().next().unwrap().to_owned()
}

fn logged(world: &World, event: &str) -> usize {
    world.audit().iter().filter(|line| line["event"] == event).count()
}

/// Calls of one command that take twice as long each time, until the session is stopped.
fn stop(world: &World) {
    for id in 0..7 {
        let mut message = world.message("Bash", &json!({"command": "./grow"}));
        message["tool_use_id"] = json!(format!("toolu_{id}"));
        world.hook("claude-code", message.to_string().as_bytes());
        message["hook_event_name"] = json!("PostToolUse");
        message["tool_response"] = json!({});
        message["duration_ms"] = json!(2000_u64 << id);
        if world.hook("claude-code", message.to_string().as_bytes()).stdout.contains("emergency_stop") {
            return;
        }
    }
    panic!("it was not stopped");
}

#[test]
fn a_question_is_allowed_and_the_call_runs_once() {
    let world = World::new();
    let code = code(&unasked(&world, "s", ASKED));
    let mut screen = Screen::of(&world, &["watch"], WINDOW);
    let text = screen.shows(&code);
    assert!(text.contains(ASKED) && text.contains("1 code open") && text.contains("block"), "{text}");
    screen.press("a");
    let asked = screen.shows("let exactly this run once?");
    assert!(asked.contains(ASKED) && asked.contains("session s of claude-code"), "{asked}");
    assert!(unasked(&world, "s", ASKED).is_block(), "nothing is allowed before the yes");
    screen.press("n");
    screen.shows_no("let exactly this");
    assert_eq!(logged(&world, "permission_granted"), 0);
    screen.press("a");
    screen.shows("let exactly this run once?");
    screen.press("y");
    screen.shows("allowed once");
    screen.shows("0 codes open");
    assert_eq!(unasked(&world, "s", ASKED).code, Some(0));
    assert!(unasked(&world, "s", ASKED).is_block(), "it runs once");
    screen.press("q");
    assert_eq!(screen.ends(), (0, true));
    assert_eq!((logged(&world, "permission_granted"), logged(&world, "permission_used")), (1, 1));
}

#[test]
fn what_was_typed_before_the_question_was_shown_is_no_answer() {
    let world = World::new();
    let code = code(&unasked(&world, "s", ASKED));
    let mut screen = Screen::of(&world, &["watch"], WINDOW);
    screen.shows(&code);
    screen.press("ay");
    screen.shows("let exactly this run once?");
    // The question is still there when another key has been read.
    screen.press("n");
    screen.shows_no("let exactly this");
    screen.press("q");
    assert_eq!(screen.ends(), (0, true));
    assert_eq!(logged(&world, "permission_granted"), 0);
}

#[test]
fn it_ends_when_its_terminal_is_gone() {
    let world = World::new();
    let code = code(&unasked(&world, "s", ASKED));
    let mut screen = Screen::of(&world, &["watch"], WINDOW);
    screen.shows(&code);
    let process = screen.cut();
    let begun = std::time::Instant::now();
    while process.exists() {
        assert!(begun.elapsed().as_secs() < 30, "it is still there");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

#[test]
fn an_action_that_cannot_be_shown_whole_is_offered_under_no_code() {
    let world = World::new();
    let answer = unasked(&world, "s", &format!("{ASKED} # {}", "a".repeat(5000)));
    assert!(answer.is_block() && !answer.stderr.contains("lazaret allow "), "{}", answer.stderr);
    assert!(unasked(&world, "s", ASKED).stderr.contains("lazaret allow "));
}

#[test]
fn a_question_is_refused_and_its_code_is_good_for_nothing() {
    let world = World::new();
    let (mine, other) = (code(&unasked(&world, "s", ASKED)), code(&unasked(&world, "t", "cp -r older/. ~")));
    let mut screen = Screen::of(&world, &["watch"], WINDOW);
    let text = screen.until("both codes", |text| text.contains(&mine) && text.contains(&other));
    // In the pane of codes, down to the older one.
    let last = if text.find(&mine) > text.find(&other) { &mine } else { &other };
    assert_eq!(last, &mine, "the newest stands first:\n{text}");
    screen.press("\t\tj");
    screen.until("its session", |text| text.contains(&format!("{mine}, good for")));
    screen.press("x");
    screen.shows("refused, and the code is good for nothing any more");
    screen.shows("1 code open");
    screen.press("q");
    assert_eq!(screen.ends(), (0, true));
    let (exit, told) = world.at_terminal(&["allow", &mine]);
    assert!(exit == 1 && told.contains("there is no such code"), "{told}");
    assert_eq!((logged(&world, "permission_refused"), logged(&world, "permission_granted")), (1, 0));
    assert!(unasked(&world, "s", ASKED).is_block());
    let (exit, told) = world.at_terminal(&["allow", &other]);
    assert!(exit == 0, "the other one is as good as before: {told}");
}

#[test]
fn a_stopped_session_goes_on() {
    let world = World::new();
    stop(&world);
    assert!(world.bash("ls").is_block());
    let mut screen = Screen::of(&world, &["watch"], WINDOW);
    let text = screen.shows("stopped    s");
    assert!(text.contains("1 held up") && text.contains("grows each time"), "{text}");
    screen.press("r");
    let asked = screen.shows("let the session go on?");
    assert!(asked.contains("resource_spiral"), "{asked}");
    assert!(world.bash("ls").is_block(), "it is stopped until the yes");
    screen.press("y");
    screen.shows("session s of claude-code goes on");
    screen.shows("running    s");
    assert!(world.bash("ls").is_pass());
    assert_eq!(logged(&world, "session_resumed"), 1);
    screen.press("r");
    screen.shows("not stopped, held or throttled");
    screen.press("q");
    assert_eq!(screen.ends(), (0, true));
}

#[test]
fn the_last_call_is_rolled_back_after_it_was_shown() {
    let world = World::new();
    let main = world.project().join("src/main.rs");
    fs::write(&main, "fn main() { /* not committed */ }\n").unwrap();
    let was = undoing::tree(&world);
    let removed = |project: &std::path::Path| fs::remove_dir_all(project.join("src")).unwrap();
    undoing::shell(&world, "t1", "rm -rf src", removed);
    let mut screen = Screen::of(&world, &["watch"], (140, 30));
    screen.shows("rm -rf src");
    screen.press("u");
    let asked = screen.shows("put this back?");
    assert!(asked.contains("would restore") && asked.contains("src/main.rs"), "{asked}");
    assert!(asked.contains("made before Bash: rm -rf src"), "{asked}");
    screen.press("n");
    screen.shows_no("put this back?");
    assert!(!main.exists(), "a no changes nothing");
    screen.press("u");
    screen.shows("put this back?");
    screen.press("y");
    let done = screen.shows("to undo this: lazaret rollback");
    assert!(done.contains("restored") && done.contains("src/main.rs"), "{done}");
    assert_eq!(undoing::tree(&world), was);
    screen.press("\rq");
    assert_eq!(screen.ends(), (0, true));
}

/// What comes while a person looks on is seen, and what ends is said to have ended.
#[test]
fn calls_are_seen_as_they_come() {
    let world = World::new();
    let mut screen = Screen::of(&world, &["watch"], WINDOW);
    screen.shows("0 sessions");
    world.bash("echo first");
    screen.shows("echo first");
    let blocked = world.bash("rm -rf /");
    assert!(blocked.is_block());
    let text = screen.shows("rm -rf /");
    assert!(text.contains("block  Bash [") && text.contains("1 stopped"), "{text}");
    screen.press("\t\r");
    let more = screen.shows("rule ");
    assert!(more.contains("block") && more.contains("Bash: rm -rf /"), "{more}");
    screen.press("\u{1b}");
    let mut end = world.message("", &json!({}));
    end["hook_event_name"] = json!("SessionEnd");
    end["reason"] = json!("logout");
    world.hook("claude-code", end.to_string().as_bytes());
    screen.shows("ended      s");
    screen.press("?");
    screen.shows("the client itself");
    screen.press("\u{3}");
    assert_eq!(screen.ends(), (0, true));
}

#[test]
fn what_an_agent_wrote_does_not_reach_the_terminal_as_it_is() {
    let world = World::new();
    let hostile = "cp -r old/. ~ # \u{1b}[2J\u{1b}]0;owned\u{7}\u{202e}esrever\u{9b}31m\nnext";
    let offered = code(&unasked(&world, "s\u{1b}[5m", hostile));
    let mut screen = Screen::of(&world, &["watch"], (200, 40));
    let text = screen.shows(&offered);
    assert!(text.contains("\\u{1b}[2J") && text.contains("\\u{202e}esrever"), "{text}");
    screen.press("a");
    screen.shows("let exactly this run once?");
    screen.press("n\t\r");
    screen.shows("it was offered under the code");
    screen.press("nq");
    let raw = screen.raw();
    for wrong in ["\u{202e}", "\u{9b}", "\u{7}", "\u{1b}]0", "\u{1b}[5ms"] {
        assert!(!raw.contains(wrong), "{wrong:?} in {raw:?}");
    }
    assert_eq!(screen.ends(), (0, true));
    let (exit, plain, _) = world.run(&["watch"]);
    assert!(exit == 0 && plain.contains("\\u{202e}esrever"), "{plain}");
    assert!(plain.chars().all(|c| c == '\n' || !c.is_control()) && !plain.contains('\u{202e}'), "{plain:?}");
}

#[test]
fn a_small_window_and_one_that_changes_are_drawn() {
    let world = World::new();
    stop(&world);
    let offered = code(&unasked(&world, "t", ASKED));
    let mut screen = Screen::of(&world, &["watch"], (40, 10));
    screen.shows("stopped");
    screen.press("\t\t");
    screen.shows(&offered);
    for (columns, rows) in [(20, 5), (2, 2), (1, 1), (200, 60), (40, 10)] {
        screen.resize(columns, rows);
        screen.press("aj");
    }
    screen.press("g");
    // Nobody says yes before the end of it was shown.
    let asked = screen.until("its beginning", |text| text.contains(ASKED) && !text.contains("y yes"));
    screen.press("G");
    screen.until("its end", |text| text.contains("rule ") && text.contains("y yes"));
    assert!(asked.lines().all(|line| line.chars().count() <= 200), "{asked}");
    screen.press("nq");
    assert_eq!(screen.ends(), (0, true));
}

#[test]
fn the_terminal_is_given_back_however_it_ends() {
    let world = World::new();
    world.bash("echo here");
    for signal in ["TERM", "HUP", "INT", "QUIT"] {
        let screen = Screen::of(&world, &["watch"], WINDOW);
        screen.shows("echo here");
        screen.signal(signal);
        assert_eq!(screen.ends(), (0, true), "{signal}");
    }
    let mut screen = Screen::with(&world, &["watch"], WINDOW, "NO_COLOR=1");
    screen.shows("echo here");
    screen.press("q");
    let raw = screen.raw();
    assert!(!raw.contains("\u{1b}[31m") && !raw.contains("\u{1b}[38;5;"), "{raw:?}");
    assert_eq!(screen.ends(), (0, true));
}

#[test]
fn off_a_terminal_it_is_text_and_ends() {
    let world = World::new();
    let (exit, out, _) = world.run(&["watch"]);
    assert_eq!((exit, out.as_str()), (0, "no sessions\n"));
    stop(&world);
    let offered = code(&unasked(&world, "t", ASKED));
    let (exit, out, _) = world.run(&["watch"]);
    assert_eq!(exit, 0);
    for part in ["stopped     s ", "running     t ", "grows each time", "lazaret resume s", &offered, ASKED] {
        assert!(out.contains(part), "no {part} in {out}");
    }
    let (exit, one, _) = world.run(&["watch", "--once", "--session", "t"]);
    assert!(exit == 0 && one.contains("running     t ") && !one.contains("stopped     s "), "{one}");
    let (exit, out) = world.at_terminal(&["watch", "--once"]);
    assert!(exit == 0 && out.contains("running     t ") && !out.contains('\u{1b}'), "{out}");
    let (exit, _, error) = world.run(&["watch", "--session", "nobody\u{1b}[2J"]);
    assert!(exit == 1 && error.contains("there is no session nobody\\u{1b}[2J"), "{error}");
}

#[test]
fn it_is_for_people() {
    let world = World::new();
    let out = world.command().arg("watch").env("CLAUDECODE", "1").stdin(Stdio::null()).output().unwrap();
    let error = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.code() == Some(1) && error.contains("the command is for people"), "{error}");
    // And it gives nobody a terminal who has none: where its keys lead, there is one demanded.
    let offered = code(&unasked(&world, "s", ASKED));
    for args in [vec!["allow", &offered, "--refuse"], vec!["allow", &offered]] {
        let (exit, _, error) = world.run(&args);
        assert!(exit == 1 && error.contains("terminal"), "{args:?}: {error}");
    }
    assert_eq!(world.at_terminal(&["allow", &offered]).0, 0, "it is still open");
}
