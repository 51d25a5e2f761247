//! The screen without a terminal: lines of a log in, keys in, and what is drawn and ordered out.

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::style::Color;

use super::draw::{Paint, draw};
use super::feed::{Code, Seen};
use super::order::{Done, Order};
use super::screen::{Action, Pane, Screen};
use super::sessions::{Key, Sessions, Status};
use super::shown::Shown;
use crate::domain::Outcome;
use crate::host::audit::Line;

/// Ten seconds after the last line.
const NOW_MS: u64 = 1_700_000_110_000;

fn line(second: u64, session: &str, more: &str) -> Line {
    let time = crate::host::clock::rfc3339(1_700_000_000_000 + second * 1000);
    let text = format!(
        r#"{{"id":"id-{session}-{second}","time":"{time}","client":"claude-code","session":"{session}","cwd":"/w",{more}}}"#
    );
    let mut line: Line = serde_json::from_str(&text).unwrap();
    line.text = text;
    line
}

fn call(second: u64, session: &str, verdict: &str, action: &str) -> Line {
    let enforcement = if verdict == "block" { "deny" } else { "proceed" };
    let more = format!(
        r#""event":"action","tool":"Bash","action":"{action}","call_id":"c{second}","verdict":"{verdict}","enforcement":"{enforcement}",
           "reasons":[{{"rule":"checkpoint.made","message":"saved"}},{{"rule":"a.rule","message":"it is bad"}},
                      {{"rule":"permission.offered","message":"a person can: lazaret allow CODE-{second}"}}]"#
    );
    line(second, session, &more)
}

fn seen(lines: &[Line]) -> Seen {
    let mut sessions = Sessions::default();
    lines.iter().for_each(|line| sessions.add(line));
    sessions.each().for_each(|session| session.status = session.by_itself(NOW_MS));
    Seen { now_ms: NOW_MS, sessions: sessions.newest_first(), ..Seen::default() }
}

fn code(name: &str, text: &str) -> Code {
    let of = Some(Key { client: "claude-code".to_owned(), id: "one".to_owned() });
    Code { code: name.to_owned(), text: Shown::whole(text), left_ms: 300_000, of }
}

/// Two sessions, of which the older one is stopped, and two codes.
fn two() -> Seen {
    let mut seen = seen(&[
        call(1, "one", "block", "rm -rf /"),
        call(2, "one", "allow", "ls"),
        call(100, "two", "allow", "make"),
    ]);
    seen.sessions[1].status = Status::Stopped;
    seen.sessions[1].why = Shown::of("a loop");
    seen.codes = vec![code("AAAA-1111", "first thing"), code("BBBB-2222", "second thing")];
    seen
}

fn screen(seen: Seen) -> Screen {
    Screen::new(seen, (100, 30))
}

fn press(screen: &mut Screen, keys: &str) -> Action {
    let mut last = Action::Nothing;
    for c in keys.chars() {
        let code = match c {
            '\t' => KeyCode::Tab,
            '\r' => KeyCode::Enter,
            '\u{1b}' => KeyCode::Esc,
            c => KeyCode::Char(c),
        };
        last = screen.key(KeyEvent::new(code, KeyModifiers::NONE));
    }
    last
}

fn drawn(screen: &mut Screen, size: (u16, u16), paint: Paint) -> Terminal<TestBackend> {
    let mut terminal = Terminal::new(TestBackend::new(size.0, size.1)).unwrap();
    screen.size = size;
    terminal.draw(|frame| draw(frame, screen, paint)).unwrap();
    terminal
}

fn text(screen: &mut Screen, size: (u16, u16)) -> String {
    let terminal = drawn(screen, size, Paint::Plain);
    let buffer = terminal.backend().buffer();
    let rows = buffer.content().chunks(usize::from(size.0));
    rows.map(|row| row.iter().map(ratatui::buffer::Cell::symbol).collect::<String>() + "\n").collect()
}

#[test]
fn lines_add_up_to_sessions_and_calls() {
    let lines = [
        call(1, "one", "block", "rm -rf /"),
        call(2, "one", "allow", "ls"),
        line(
            3,
            "one",
            r#""event":"action_failed","tool":"Bash","action":"ls","call_id":"c2","verdict":"warn""#,
        ),
        call(4, "two", "modify", "git push -f"),
        line(5, "two", r#""event":"session_ended""#),
        line(6, "", r#""event":"trust_changed""#),
    ];
    let seen = seen(&lines);
    let [two, one] = seen.sessions.as_slice() else { panic!("{seen:?}") };
    assert_eq!((two.key.id.as_str(), two.status), ("two", Status::Ended));
    assert_eq!((one.key.id.as_str(), one.status), ("one", Status::Running));
    assert_eq!((one.calls.len(), one.stops, one.cwd.as_str()), (2, 1, "/w"));
    let (blocked, failed) = (&one.calls[0], &one.calls[1]);
    assert_eq!((blocked.rule.as_str(), blocked.reason.as_str()), ("a.rule", "it is bad"));
    assert_eq!(blocked.code.as_deref(), Some("CODE-1"));
    assert_eq!((blocked.outcome, failed.outcome), (Outcome::Blocked, Outcome::Failed));
    assert_eq!(one.by_itself(NOW_MS + 600_000), Status::Idle);
}

/// A question of the client's own is no block: it has an answer yet to come.
#[test]
fn what_the_client_asks_is_a_question() {
    let mut asked = call(1, "one", "modify", "x");
    asked.enforcement = "ask".to_owned();
    let seen = seen(&[asked]);
    assert_eq!((seen.sessions[0].calls[0].answer.word(), seen.sessions[0].stops), ("ask", 1));
}

#[test]
fn what_is_kept_is_bounded() {
    let mut sessions = Sessions::default();
    sessions.add(&call(0, "waits", "allow", "ls"));
    sessions.each().for_each(|session| session.status = Status::Stopped);
    for number in 1..100 {
        sessions.add(&call(number, &format!("s{number}"), "allow", "ls"));
    }
    let all = sessions.newest_first();
    assert_eq!((all.len(), all[0].key.id.as_str()), (64, "s99"));
    assert!(all.iter().any(|session| session.key.id == "waits"), "what waits for a person stays");
    for number in 1..300 {
        sessions.add(&call(number, "s99", "allow", &format!("ls {number}")));
    }
    let calls = &sessions.newest_first()[0].calls;
    assert_eq!((calls.len(), calls[99].action.as_str()), (100, "ls 299"));
}

#[test]
fn what_is_selected_stays_selected_while_rows_move() {
    let mut screen = screen(two());
    assert_eq!(screen.session().unwrap().key.id, "two");
    press(&mut screen, "j");
    assert_eq!(screen.session().unwrap().key.id, "one");
    let mut more = two();
    more.sessions.insert(0, seen(&[call(105, "three", "allow", "ls")]).sessions.remove(0));
    more.codes.insert(0, code("CCCC-3333", "third thing"));
    screen.take(more);
    assert_eq!((screen.session_at(), screen.session().unwrap().key.id.as_str()), (Some(2), "one"));
    assert_eq!(screen.code().unwrap().code, "AAAA-1111", "a newer code is not slipped under the key");
    screen.take(Seen::default());
    assert!(screen.session().is_none() && screen.code().is_none() && screen.call().is_none());
    assert_eq!(press(&mut screen, "jkGg\r"), Action::Nothing);
}

#[test]
fn a_code_is_allowed_after_a_yes_and_refused_at_once() {
    let mut screen = screen(two());
    assert_eq!(press(&mut screen, "\t\tja"), Action::Nothing);
    assert!(text(&mut screen, (100, 30)).contains("second thing"), "it is shown first");
    assert_eq!(press(&mut screen, "n"), Action::Nothing);
    assert_eq!(press(&mut screen, "y"), Action::Nothing, "a yes to nothing");
    let order = Order::Allow { code: "BBBB-2222".to_owned() };
    assert_eq!(press(&mut screen, "ay"), Action::Start(order.clone()));
    assert_eq!(press(&mut screen, "x"), Action::Nothing, "one at a time");
    screen.ended(
        &order,
        &Done { fine: true, stdout: "allowed once\n".to_owned(), ..Done::default() },
        |_| None,
    );
    assert_eq!((screen.message.text.as_str(), screen.message.bad), ("allowed once", false));
    assert_eq!(press(&mut screen, "x"), Action::Start(Order::Refuse { code: "BBBB-2222".to_owned() }));
}

/// An action that is longer than the window cannot be allowed unread.
#[test]
fn a_yes_counts_once_the_end_was_shown() {
    let mut seen = two();
    seen.codes = vec![code("AAAA-1111", &format!("true {}; rm -rf ~", " ".repeat(4000)))];
    let mut screen = screen(seen);
    screen.size = (80, 24);
    assert_eq!(press(&mut screen, "ay"), Action::Nothing);
    assert!(!text(&mut screen, (80, 24)).contains("y yes"));
    assert_eq!(press(&mut screen, "Gy"), Action::Start(Order::Allow { code: "AAAA-1111".to_owned() }));
}

#[test]
fn only_what_is_held_back_is_let_go_on() {
    let mut screen = screen(two());
    assert_eq!(press(&mut screen, "ry"), Action::Nothing);
    assert!(screen.message.bad, "{:?}", screen.message);
    press(&mut screen, "jr");
    assert!(text(&mut screen, (100, 30)).contains("a loop"));
    let order = Order::Resume { client: "claude-code".to_owned(), session: "one".to_owned() };
    assert_eq!(press(&mut screen, "y"), Action::Start(order));
}

#[test]
fn a_rollback_is_shown_before_it_is_done() {
    let mut screen = screen(two());
    let preview = Order::Preview { client: "claude-code".to_owned(), session: "two".to_owned() };
    assert_eq!(press(&mut screen, "u"), Action::Start(preview.clone()));
    let stdout = r#"{"checkpoints":["id-9"],"restored":["/w/a"],"removed":[]}"#.to_owned();
    screen.ended(&preview, &Done { stdout, ..Done::default() }, |id| Some(format!("Bash: rm a of {id}")));
    let shown = text(&mut screen, (100, 30));
    assert!(shown.contains("would restore /w/a") && shown.contains("Bash: rm a of id-9"), "{shown}");
    let rollback = Order::Rollback { id: "id-9".to_owned() };
    assert_eq!(press(&mut screen, "y"), Action::Start(rollback.clone()));
    screen.ended(
        &rollback,
        &Done { fine: true, stdout: "restored /w/a\n".to_owned(), ..Done::default() },
        |_| None,
    );
    assert!(text(&mut screen, (100, 30)).contains("restored /w/a"));
    assert_eq!(press(&mut screen, "\u{1b}"), Action::Nothing, "that closes the popup");
    press(&mut screen, "u");
    let stderr = "lazaret: rollback: there is no checkpoint\n".to_owned();
    screen.ended(&preview, &Done { stderr, ..Done::default() }, |_| None);
    let shown = text(&mut screen, (100, 30));
    assert!(shown.contains("it was not done") && shown.contains("there is no checkpoint"), "{shown}");
    assert_eq!(press(&mut screen, "\u{1b}"), Action::Nothing);
    assert_eq!(press(&mut screen, "\u{1b}"), Action::Leave);
}

#[test]
fn it_is_left_by_each_of_its_keys() {
    for key in ["q", "\u{1b}"] {
        assert_eq!(press(&mut screen(two()), key), Action::Leave);
    }
    let interrupt = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
    let mut screen = screen(two());
    press(&mut screen, "?");
    assert!(text(&mut screen, (100, 30)).contains("answered there"));
    assert_eq!(screen.key(interrupt), Action::Leave);
}

#[test]
fn every_size_is_drawn() {
    let mut hostile = two();
    hostile.codes.push(code("CCCC-3333", "日本語 \u{1b}[31m \u{202e} e\u{301}"));
    for keys in ["", "\t", "\t\t", "\t\t\r", "a", "?"] {
        for columns in (1..45).chain([200]) {
            for rows in (1..24).chain([60]) {
                let mut screen = screen(hostile.clone());
                press(&mut screen, keys);
                drawn(&mut screen, (columns, rows), Paint::Colour);
            }
        }
    }
    let mut narrow = screen(hostile);
    assert!(text(&mut narrow, (40, 10)).contains("stopped    one"));
    narrow.pane = Pane::Codes;
    let codes = text(&mut narrow, (40, 10));
    assert!(codes.contains("AAAA-1111") && !codes.contains("stopped    one"), "{codes}");
    assert!(codes.chars().all(|c| c == '\n' || !c.is_control()) && !codes.contains('\u{202e}'), "{codes:?}");
}

/// Whoever sees no colours reads the same.
#[test]
fn colours_are_left_out_where_nobody_wants_them() {
    let coloured = |paint| {
        let terminal = drawn(&mut screen(two()), (100, 30), paint);
        terminal.backend().buffer().content().iter().filter(|cell| cell.fg != Color::Reset).count()
    };
    assert!(coloured(Paint::Colour) > 0);
    assert_eq!(coloured(Paint::Plain), 0);
    let shown = text(&mut screen(two()), (100, 30));
    for word in ["stopped    one", "running    two", "allow", "AAAA-1111", "1 held up"] {
        assert!(shown.contains(word), "no {word} in\n{shown}");
    }
}
