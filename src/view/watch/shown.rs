//! Text as it may stand on a screen: nothing in it moves the cursor, hides, or turns its neighbours round.

use crate::domain::{clip, escape};

/// Longest text that is kept of anything, in bytes before it is escaped.
const MOST: usize = 1024;

/// Text that is safe to print, made of any.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Shown(String);

impl Shown {
    pub fn of(text: &str) -> Shown {
        Shown(escape(&clip(text, MOST)))
    }

    /// All of it, however long.
    pub fn whole(text: &str) -> Shown {
        Shown(escape(text))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl std::fmt::Display for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&self.0)
    }
}

/// A time span in a few characters: `12s`, `9m`, `3h`, `6d`.
pub fn span(ms: u64) -> String {
    let seconds = ms / 1000;
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds / 60),
        3600..86_400 => format!("{}h", seconds / 3600),
        86_400.. => format!("{}d", seconds / 86_400),
    }
}

/// What is left of a time to the second: `9:41`.
pub fn left(ms: u64) -> String {
    let seconds = ms.div_ceil(1000);
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_moves_the_cursor_or_turns_text_round_is_shown_as_it_is() {
        let hostile = "a\u{1b}[2J\u{202e}b\nc\u{9b}31m\u{7}\rd\u{200b}";
        for shown in [Shown::of(hostile), Shown::whole(hostile)] {
            let text = shown.as_str();
            assert!(text.starts_with("a\\u{1b}[2J\\u{202e}b\\nc\\u{9b}31m"), "{text}");
            assert!(text.chars().all(|c| !c.is_control() && !crate::domain::is_hidden(c)), "{text}");
        }
        assert!(Shown::of(&"x".repeat(9000)).as_str().len() < 1100);
        assert_eq!(Shown::whole(&"x".repeat(9000)).as_str().len(), 9000);
    }

    #[test]
    fn spans_are_short() {
        let cases =
            [(0, "0s"), (59_999, "59s"), (60_000, "1m"), (7_200_000, "2h"), (u64::MAX, "213503982334d")];
        for (ms, shown) in cases {
            assert_eq!(span(ms), shown);
        }
        assert_eq!(
            (left(600_000), left(1), left(61_000), left(0)),
            ("10:00".into(), "0:01".into(), "1:01".into(), "0:00".into())
        );
    }
}
