//! What stands over everything else until it is answered: a question, with all that it is about, or something to read.

use ratatui::text::Span;

use super::order::Order;
use super::shown::Shown;

/// Rows of a popup that are no text: its frame, and the line that says what can be pressed.
const FRAME: u16 = 3;
/// Columns that are its frame and the blanks inside.
const SIDES: u16 = 4;
/// Narrower than this nobody reads it.
const NARROWEST: u16 = 20;
/// It is no wider than this.
const WIDTH: u16 = 90;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Popup {
    pub title: &'static str,
    pub text: Vec<Shown>,
    /// What is done on `y`; none = it is only to be read.
    pub then: Option<Order>,
    /// The first row that is shown.
    pub from: usize,
}

/// The part of a popup that is on the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    pub rows: Vec<String>,
    /// Rows above and below it.
    pub above: usize,
    pub below: usize,
}

impl Popup {
    pub fn read(title: &'static str, text: Vec<Shown>) -> Popup {
        Popup { title, text, then: None, from: 0 }
    }

    pub fn ask(title: &'static str, text: Vec<Shown>, then: Order) -> Popup {
        Popup { title, text, then: Some(then), from: 0 }
    }

    /// Its width and height on a screen of this size.
    pub fn size(&self, (width, height): (u16, u16)) -> (u16, u16) {
        let wide = width.min(WIDTH);
        let rows = u16::try_from(self.rows(wide).len()).unwrap_or(u16::MAX);
        (wide, rows.saturating_add(FRAME).min(height))
    }

    /// What of it is on such a screen.
    pub fn part(&self, screen: (u16, u16)) -> Part {
        let (wide, high) = self.size(screen);
        let mut rows = self.rows(wide);
        let room = usize::from(high.saturating_sub(FRAME));
        let above = self.from.min(rows.len().saturating_sub(room));
        let below = rows.len().saturating_sub(above).saturating_sub(room);
        rows.drain(..above);
        rows.truncate(room);
        Part { rows, above, below }
    }

    /// Goes so many rows down, or up.
    pub fn scroll(&mut self, by: isize, screen: (u16, u16)) {
        let Part { above, below, .. } = self.part(screen);
        self.from = above.saturating_add_signed(by).min(above + below);
    }

    /// Nobody says yes to what they have not seen to its end.
    pub fn may_say_yes(&self, screen: (u16, u16)) -> bool {
        self.size(screen).0 >= NARROWEST && self.part(screen).below == 0
    }

    fn rows(&self, wide: u16) -> Vec<String> {
        let room = usize::from(wide.saturating_sub(SIDES)).max(1);
        self.text.iter().flat_map(|line| wrap(line.as_str(), room)).collect()
    }
}

/// A line in rows of at most so many columns; what is wider than a row stands alone.
fn wrap(text: &str, room: usize) -> Vec<String> {
    let (mut rows, mut row, mut used) = (Vec::new(), String::new(), 0);
    let mut buffer = [0; 4];
    for c in text.chars() {
        let wide = Span::raw(&*c.encode_utf8(&mut buffer)).width();
        if used + wide > room && !row.is_empty() {
            rows.push(std::mem::take(&mut row));
            used = 0;
        }
        row.push(c);
        used += wide;
    }
    rows.push(row);
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn long() -> Popup {
        let then = Order::Allow { code: "K".to_owned() };
        Popup::ask("allow", vec![Shown::whole(&"word ".repeat(40)), Shown::of("the end")], then)
    }

    #[test]
    fn rows_are_as_wide_as_there_is_room() {
        assert_eq!(wrap("abcde", 2), ["ab", "cd", "e"]);
        assert_eq!(wrap("日本語", 4), ["日本", "語"]);
        assert_eq!(wrap("日本", 1), ["日", "本"]);
        assert_eq!(wrap("", 5), [""]);
    }

    #[test]
    fn nobody_says_yes_before_the_end_was_shown() {
        let (mut popup, small) = (long(), (40, 6));
        assert_eq!(popup.size(small), (40, 6));
        assert!(!popup.may_say_yes(small), "{:?}", popup.part(small));
        popup.scroll(1, small);
        assert!(!popup.may_say_yes(small) && popup.part(small).above == 1);
        popup.scroll(100, small);
        assert!(popup.may_say_yes(small) && popup.part(small).rows.concat().contains("the end"));
        popup.scroll(-100, small);
        assert_eq!(popup.part(small).above, 0);
        assert!(long().may_say_yes((90, 24)));
        // Where there is no room at all, nothing was shown.
        assert!(!long().may_say_yes((40, 3)) && !long().may_say_yes((1, 1)));
    }
}
