//! What is on the screen and what a key does to it. No terminal, no clock and no file: what is read and what is done comes and goes as
//! values.

use std::collections::VecDeque;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::feed::{Code, Seen};
use super::order::{Done, Order};
use super::popup::Popup;
use super::preview;
use super::rows;
use super::sessions::{Call, Key, Session};
use super::shown::Shown;

/// Rows of a page.
const PAGE: isize = 10;

const HELP: &[&str] = &[
    "tab, left, right   another pane: sessions, calls, codes",
    "up, down, j, k     another row; page up and page down go by ten",
    "enter              all that is known of the row",
    "a                  allow the action of the code, once",
    "x                  refuse the code: it is good for nothing any more",
    "r                  let the session go on that is stopped, held or throttled",
    "u                  undo what the session's last call changed: shown first",
    "q, esc, ctrl-c     leave",
    "",
    "A call that says `ask` is asked about by the client itself; it is answered there.",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pane {
    Sessions,
    Calls,
    Codes,
}

impl Pane {
    const ALL: [Pane; 3] = [Pane::Sessions, Pane::Calls, Pane::Codes];

    fn next(self, by: usize) -> Pane {
        let at = Pane::ALL.iter().position(|pane| *pane == self).unwrap_or(0);
        Pane::ALL.get((at + by) % Pane::ALL.len()).copied().unwrap_or(self)
    }
}

/// What is to be done now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    Nothing,
    Leave,
    Start(Order),
}

/// One line about what was done last.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Message {
    pub text: Shown,
    pub bad: bool,
}

#[derive(Debug)]
pub struct Screen {
    pub seen: Seen,
    /// Columns and rows.
    pub size: (u16, u16),
    pub pane: Pane,
    pub popup: Option<Popup>,
    pub message: Message,
    /// An order is being carried out.
    pub busy: bool,
    // What is selected goes by what it is, not by its row: rows move while they are read.
    session: Option<Key>,
    call: Option<String>,
    code: Option<String>,
}

impl Screen {
    pub fn new(seen: Seen, size: (u16, u16)) -> Screen {
        let (pane, message) = (Pane::Sessions, Message::default());
        let mut screen = Screen {
            seen,
            size,
            pane,
            popup: None,
            message,
            busy: false,
            session: None,
            call: None,
            code: None,
        };
        screen.keep();
        screen
    }

    /// What was read anew.
    pub fn take(&mut self, seen: Seen) {
        self.seen = seen;
        self.keep();
    }

    /// Holds on to what is selected, also when newer rows come.
    fn keep(&mut self) {
        self.session = self.session().map(|session| session.key.clone());
        self.code = self.code().map(|code| code.code.clone());
    }

    pub fn session_at(&self) -> Option<usize> {
        let found = self.seen.sessions.iter().position(|session| Some(&session.key) == self.session.as_ref());
        found.or((!self.seen.sessions.is_empty()).then_some(0))
    }

    pub fn session(&self) -> Option<&Session> {
        self.seen.sessions.get(self.session_at()?)
    }

    /// The calls of the session that is selected, newest first.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.session().map(|session| &session.calls).into_iter().flat_map(VecDeque::iter).rev()
    }

    /// None selected: the newest.
    pub fn call_at(&self) -> Option<usize> {
        let found = self.calls().position(|call| Some(&call.line) == self.call.as_ref());
        found.or(self.calls().next().map(|_| 0))
    }

    pub fn call(&self) -> Option<&Call> {
        self.calls().nth(self.call_at()?)
    }

    pub fn code_at(&self) -> Option<usize> {
        let found = self.seen.codes.iter().position(|code| Some(&code.code) == self.code.as_ref());
        found.or((!self.seen.codes.is_empty()).then_some(0))
    }

    pub fn code(&self) -> Option<&Code> {
        self.seen.codes.get(self.code_at()?)
    }

    pub fn key(&mut self, key: KeyEvent) -> Action {
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            return if key.code == KeyCode::Char('c') { Action::Leave } else { Action::Nothing };
        }
        match self.popup.take() {
            Some(popup) => self.in_popup(popup, key.code),
            None => self.in_panes(key.code),
        }
    }

    fn in_popup(&mut self, mut popup: Popup, key: KeyCode) -> Action {
        let by = match key {
            KeyCode::Esc | KeyCode::Char('q' | 'n') => return Action::Nothing,
            KeyCode::Enter if popup.then.is_none() => return Action::Nothing,
            KeyCode::Char('y') if popup.may_say_yes(self.size) && popup.then.is_some() => {
                return popup.then.map_or(Action::Nothing, |order| self.order(order));
            }
            key => step(key).unwrap_or(0),
        };
        popup.scroll(by, self.size);
        self.popup = Some(popup);
        Action::Nothing
    }

    fn in_panes(&mut self, key: KeyCode) -> Action {
        match key {
            KeyCode::Esc | KeyCode::Char('q') => return Action::Leave,
            KeyCode::Tab | KeyCode::Right | KeyCode::Char('l') => self.pane = self.pane.next(1),
            KeyCode::BackTab | KeyCode::Left | KeyCode::Char('h') => self.pane = self.pane.next(2),
            KeyCode::Char('?') => {
                let help = HELP.iter().map(|line| Shown::of(line)).collect();
                self.popup = Some(Popup::read("keys", help));
            }
            KeyCode::Enter => self.popup = self.all_of_it(),
            KeyCode::Char('a') => self.allow(),
            KeyCode::Char('x') => match self.code().map(|code| code.code.clone()) {
                Some(code) => return self.order(Order::Refuse { code }),
                None => self.say("no code is open", true),
            },
            KeyCode::Char('r') => self.resume(),
            KeyCode::Char('u') => match self.session().map(|session| session.key.clone()) {
                Some(Key { client, id }) => return self.order(Order::Preview { client, session: id }),
                None => self.say("there is no session", true),
            },
            key => self.go(step(key).unwrap_or(0)),
        }
        Action::Nothing
    }

    /// Selects a row further down, or up.
    fn go(&mut self, by: isize) {
        let to =
            |at: Option<usize>, rows: usize| Some(at?.saturating_add_signed(by).min(rows.checked_sub(1)?));
        match self.pane {
            Pane::Sessions => {
                let at = to(self.session_at(), self.seen.sessions.len());
                let key = at.and_then(|at| self.seen.sessions.get(at)).map(|session| session.key.clone());
                if key != self.session {
                    (self.session, self.call) = (key, None);
                }
            }
            Pane::Calls => {
                let at = to(self.call_at(), self.calls().count());
                // At the top, the newest is selected also when others come.
                let line = at.filter(|at| *at > 0).and_then(|at| self.calls().nth(at));
                self.call = line.map(|call| call.line.clone());
            }
            Pane::Codes => {
                let at = to(self.code_at(), self.seen.codes.len());
                self.code = at.and_then(|at| self.seen.codes.get(at)).map(|code| code.code.clone());
            }
        }
    }

    fn allow(&mut self) {
        let Some(code) = self.code() else { return self.say("no code is open", true) };
        let text = rows::offer(code, self.offered(code));
        let order = Order::Allow { code: code.code.clone() };
        self.popup = Some(Popup::ask("let exactly this run once?", text, order));
    }

    /// The call that the code was offered for.
    pub fn offered(&self, code: &Code) -> Option<&Call> {
        let mut calls = self.seen.sessions.iter().flat_map(|session| &session.calls);
        calls.rfind(|call| call.code.as_deref() == Some(&code.code))
    }

    fn resume(&mut self) {
        let Some(session) = self.session().filter(|session| session.status.waits()) else {
            return self.say("the session that is selected is not stopped, held or throttled", true);
        };
        let why = Shown::of(&format!(
            "{} session {} is {}:",
            session.key.client,
            session.key.id,
            session.status.word()
        ));
        let Key { client, id } = session.key.clone();
        let order = Order::Resume { client, session: id };
        self.popup = Some(Popup::ask("let the session go on?", vec![why, session.why.clone()], order));
    }

    /// All that is known of the row that is selected.
    fn all_of_it(&self) -> Option<Popup> {
        let (title, lines) = match self.pane {
            Pane::Sessions => ("session", rows::about_session(self.session()?, self.seen.now_ms)),
            Pane::Calls => ("call", rows::about_call(self.call()?, self.seen.now_ms)),
            Pane::Codes => {
                let code = self.code()?;
                ("code", rows::about_code(code, self.offered(code)))
            }
        };
        Some(Popup::read(title, lines))
    }

    /// Something is asked that a yes would do.
    pub fn asks(&self) -> bool {
        self.popup.as_ref().is_some_and(|popup| popup.then.is_some())
    }

    /// One at a time.
    fn order(&mut self, order: Order) -> Action {
        if self.busy {
            self.say("wait until what was begun is done", true);
            return Action::Nothing;
        }
        self.busy = true;
        self.say("working", false);
        Action::Start(order)
    }

    pub fn say(&mut self, text: &str, bad: bool) {
        self.message = Message { text: Shown::of(text), bad };
    }

    /// An order could not be begun.
    pub fn failed(&mut self, why: &str) {
        self.busy = false;
        self.say(why, true);
    }

    /// An order has come to its end; `made` says before which call a checkpoint was made.
    pub fn ended(&mut self, order: &Order, done: &Done, made: impl Fn(&str) -> Option<String>) {
        self.busy = false;
        self.message = Message::default();
        let found = match order {
            Order::Preview { .. } => preview::read(&done.stdout),
            Order::Allow { .. } | Order::Refuse { .. } | Order::Resume { .. } | Order::Rollback { .. } => {
                None
            }
        };
        if let Some(found) = found {
            // What is being read is not exchanged for something else under the person's hand.
            match self.popup {
                Some(_) => self.say("what would be put back is known now: u shows it", false),
                None => self.popup = Some(found.popup(made)),
            }
            return;
        }
        match (order, done.lines()) {
            (Order::Rollback { .. }, lines) if !done.stdout.is_empty() => {
                self.popup = Some(Popup::read("rollback", lines));
            }
            (_, lines) if done.fine => {
                self.message = Message { text: lines.into_iter().next().unwrap_or_default(), bad: false };
            }
            (_, lines) => self.popup = Some(Popup::read("it was not done", lines)),
        }
    }
}

/// How many rows a key goes down.
fn step(key: KeyCode) -> Option<isize> {
    match key {
        KeyCode::Down | KeyCode::Char('j') => Some(1),
        KeyCode::Up | KeyCode::Char('k') => Some(-1),
        KeyCode::PageDown => Some(PAGE),
        KeyCode::PageUp => Some(-PAGE),
        KeyCode::Home | KeyCode::Char('g') => Some(isize::MIN),
        KeyCode::End | KeyCode::Char('G') => Some(isize::MAX),
        _ => None,
    }
}
