//! The screen as it is drawn. Words say what colours say too.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, List, ListItem, ListState, Padding, Paragraph, Wrap};

use super::popup::{Part, Popup};
use super::rows;
use super::screen::{Pane, Screen};
use super::sessions::{Answer, Status};
use super::shown::{Shown, span};

/// From so many rows on all three panes are shown; on less the one that is worked in.
const ALL_PANES: u16 = 18;
/// Rows of what is said of the row that is selected.
const DETAIL: u16 = 3;

const KEYS: &str = "a allow  x refuse  r resume  u undo  enter more  tab pane  ? keys  q leave";
const FEW_KEYS: &str = "a x r u  tab pane  ? keys  q leave";

/// With colours, or without (`NO_COLOR`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paint {
    Colour,
    Plain,
}

impl Paint {
    fn of(self, colour: Color) -> Style {
        match self {
            Paint::Colour => Style::new().fg(colour),
            Paint::Plain => Style::new(),
        }
    }

    fn status(self, status: Status) -> Style {
        match status {
            Status::Stopped => self.of(Color::Red).add_modifier(Modifier::BOLD),
            Status::Held | Status::Throttled | Status::Unreadable => {
                self.of(Color::Yellow).add_modifier(Modifier::BOLD)
            }
            Status::Running => self.of(Color::Green),
            Status::Idle | Status::Ended => Style::new(),
        }
    }

    fn answer(self, answer: Answer) -> Style {
        match answer {
            Answer::Allow => Style::new(),
            Answer::Warn => self.of(Color::Yellow),
            Answer::Modify => self.of(Color::Cyan),
            Answer::Ask => self.of(Color::Magenta).add_modifier(Modifier::BOLD),
            Answer::Block => self.of(Color::Red).add_modifier(Modifier::BOLD),
        }
    }
}

pub fn draw(frame: &mut Frame<'_>, screen: &Screen, paint: Paint) {
    let area = frame.area();
    let detail = if area.height > 2 * DETAIL { DETAIL } else { 0 };
    let [head, body, detail, message, keys] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Fill(1),
        Constraint::Length(detail),
        Constraint::Length(1),
        Constraint::Length(1),
    ])
    .areas(area);
    frame.render_widget(
        Paragraph::new(header(screen)).style(Style::new().add_modifier(Modifier::REVERSED)),
        head,
    );
    if body.height + DETAIL >= ALL_PANES {
        let most = u16::try_from(screen.seen.sessions.len()).unwrap_or(u16::MAX).saturating_add(2);
        let codes = u16::try_from(screen.seen.codes.len()).unwrap_or(u16::MAX).saturating_add(2);
        let [top, middle, bottom] = Layout::vertical([
            Constraint::Length(most.clamp(3, body.height / 3)),
            Constraint::Fill(1),
            Constraint::Length(codes.clamp(3, body.height / 4)),
        ])
        .areas(body);
        pane(frame, screen, (Pane::Sessions, top), paint);
        pane(frame, screen, (Pane::Calls, middle), paint);
        pane(frame, screen, (Pane::Codes, bottom), paint);
    } else {
        pane(frame, screen, (screen.pane, body), paint);
    }
    frame.render_widget(Paragraph::new(about(screen)).wrap(Wrap { trim: true }), detail);
    frame.render_widget(Paragraph::new(said(screen, paint)), message);
    let all = if usize::from(area.width) < KEYS.len() { FEW_KEYS } else { KEYS };
    frame.render_widget(Paragraph::new(all), keys);
    if let Some(popup) = &screen.popup {
        over(frame, popup);
    }
}

fn header(screen: &Screen) -> String {
    let waiting = screen.seen.sessions.iter().filter(|session| session.status.waits()).count();
    let counted = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let sessions = counted(screen.seen.sessions.len(), "session");
    format!(
        " lazaret watch  {sessions}, {waiting} held up  {} open",
        counted(screen.seen.codes.len(), "code")
    )
}

/// One pane in its place.
fn pane(frame: &mut Frame<'_>, screen: &Screen, (which, area): (Pane, Rect), paint: Paint) {
    let now = screen.seen.now_ms;
    let (title, at, rows): (String, _, Vec<Line<'_>>) = match which {
        Pane::Sessions => {
            let row = |session| {
                let session: &super::sessions::Session = session;
                let status = format!("{:<10} ", session.status.word());
                Line::from(vec![
                    Span::styled(status, paint.status(session.status)),
                    Span::raw(rows::session(session, now)),
                ])
            };
            ("sessions".to_owned(), screen.session_at(), screen.seen.sessions.iter().map(row).collect())
        }
        Pane::Calls => {
            let row = |call: &super::sessions::Call| {
                let age = span(now.saturating_sub(call.at_ms));
                Line::from(vec![
                    Span::raw(format!("{age:>4} ")),
                    Span::styled(format!("{:<6} ", call.answer.word()), paint.answer(call.answer)),
                    Span::raw(rows::call(call)),
                ])
            };
            let of = screen.session().map(|session| rows::short(&session.key)).unwrap_or_default();
            (format!("calls of {of}"), screen.call_at(), screen.calls().map(row).collect())
        }
        Pane::Codes => {
            let row = |code: &super::feed::Code| {
                Line::from(vec![
                    Span::styled(format!("{} ", code.code), paint.answer(Answer::Ask)),
                    Span::raw(rows::code(code)),
                ])
            };
            ("codes open".to_owned(), screen.code_at(), screen.seen.codes.iter().map(row).collect())
        }
    };
    let worked_in = which == screen.pane;
    let frame_style = if worked_in { Style::new().add_modifier(Modifier::BOLD) } else { Style::new() };
    let marked = if worked_in { Modifier::REVERSED } else { Modifier::empty() };
    let list = List::new(rows.into_iter().map(ListItem::new))
        .block(Block::bordered().title(title).border_style(frame_style))
        .highlight_symbol("> ")
        .highlight_style(Style::new().add_modifier(marked));
    frame.render_stateful_widget(list, area, &mut ListState::default().with_selected(at));
}

/// What is said of the row that is selected.
fn about(screen: &Screen) -> String {
    let now = screen.seen.now_ms;
    let lines = match screen.pane {
        Pane::Sessions => screen.session().map(|session| rows::about_session(session, now)),
        Pane::Calls => screen.call().map(|call| rows::about_call(call, now)),
        Pane::Codes => screen.code().map(|code| rows::about_code(code, screen.offered(code))),
    };
    let lines = lines.unwrap_or_default();
    // The most telling line is the last.
    lines.iter().rev().map(Shown::as_str).collect::<Vec<_>>().join("; ")
}

fn said<'s>(screen: &'s Screen, paint: Paint) -> Span<'s> {
    let (message, fault) = (&screen.message, &screen.seen.fault);
    let bad = paint.of(Color::Red).add_modifier(Modifier::BOLD);
    match (message.text.is_empty(), fault.is_empty()) {
        (true, false) => Span::styled(fault.as_str(), bad),
        (true, true) => Span::raw(""),
        (false, _) => Span::styled(
            message.text.as_str(),
            if message.bad { bad } else { Style::new().add_modifier(Modifier::BOLD) },
        ),
    }
}

/// A popup over everything else.
fn over(frame: &mut Frame<'_>, popup: &Popup) {
    let area = frame.area();
    let size = (area.width, area.height);
    let (width, height) = popup.size(size);
    let place =
        Rect { x: area.x + (area.width - width) / 2, y: area.y + (area.height - height) / 2, width, height };
    let Part { rows, above, below } = popup.part(size);
    let keys = match (&popup.then, below) {
        (_, 1..) => format!("down: {below} more rows"),
        (Some(_), 0) => "y yes  n no".to_owned(),
        (None, 0) if above > 0 => "up  esc back".to_owned(),
        (None, 0) => "esc back".to_owned(),
    };
    let mut lines: Vec<Line<'_>> = rows.into_iter().map(Line::from).collect();
    lines.push(Line::styled(keys, Style::new().add_modifier(Modifier::BOLD)));
    let block = Block::bordered().title(popup.title).padding(Padding::horizontal(1));
    frame.render_widget(Clear, place);
    frame.render_widget(Paragraph::new(lines).block(block), place);
}
