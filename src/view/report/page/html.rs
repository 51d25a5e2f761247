//! HTML in the making: what is written raw is a constant of this program, and everything else is escaped.

use std::fmt::Write;

use crate::domain::is_hidden;
use crate::host::clock;
use crate::review::redact::redact;

/// A piece of a page.
#[derive(Debug, Default)]
pub struct Html {
    page: String,
    /// Times of the day stand with their day.
    dated: bool,
}

impl Html {
    /// An empty one; `dated` = times of the day stand with their day.
    pub fn new(dated: bool) -> Html {
        Html { dated, ..Html::default() }
    }

    /// A constant.
    pub fn raw(&mut self, markup: &'static str) -> &mut Html {
        self.page.push_str(markup);
        self
    }

    /// Text on one line: whatever could break it, hide or turn the direction of writing is shown as its code.
    pub fn text(&mut self, text: &str) -> &mut Html {
        self.escaped(text, false)
    }

    /// Text of several lines.
    pub fn lines(&mut self, text: &str) -> &mut Html {
        self.escaped(text, true)
    }

    /// A time of the day, in UTC.
    pub fn clock(&mut self, unix_ms: u64) -> &mut Html {
        let text = clock::rfc3339(unix_ms);
        let (day, rest) = text.split_once('T').unwrap_or_default();
        let day = day.split_once('-').map(|(_, day)| day).filter(|_| self.dated);
        self.page.extend(day.into_iter().flat_map(|day| [day, " "]));
        self.page.push_str(rest.split('.').next().unwrap_or_default());
        self
    }

    /// So many things of a name.
    pub fn counted(&mut self, count: usize, name: &'static str) -> &mut Html {
        self.count(count).raw(" ").raw(name).raw(if count == 1 { "" } else { "s" })
    }

    /// A place on the machine.
    pub fn place(&mut self, path: &str) -> &mut Html {
        self.code(&redact(path))
    }

    /// A count.
    pub fn count(&mut self, count: usize) -> &mut Html {
        let _ = write!(self.page, "{count}");
        self
    }

    /// A place in a plot, to a tenth.
    pub fn at(&mut self, place: f64) -> &mut Html {
        let _ = write!(self.page, "{}", (place * 10.0).round() / 10.0);
        self
    }

    /// A text between tags of one kind, of a class.
    pub fn code(&mut self, text: &str) -> &mut Html {
        self.raw("<code>").text(text).raw("</code>")
    }

    pub fn len(&self) -> usize {
        self.page.len()
    }

    pub fn into_string(self) -> String {
        self.page
    }

    fn escaped(&mut self, text: &str, lines: bool) -> &mut Html {
        for c in text.chars() {
            match c {
                '&' => self.page.push_str("&amp;"),
                '<' => self.page.push_str("&lt;"),
                '>' => self.page.push_str("&gt;"),
                '"' => self.page.push_str("&quot;"),
                '\'' => self.page.push_str("&#39;"),
                '\n' if lines => self.page.push('\n'),
                '\t' => self.page.push_str("    "),
                '\n' => self.page.push('⏎'),
                c if c.is_control() || is_hidden(c) => {
                    let _ = write!(self.page, "\\u{{{:x}}}", u32::from(c));
                }
                c => self.page.push(c),
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let mut html = Html::default();
        html.text(text);
        html.into_string()
    }

    #[test]
    fn nothing_that_is_markup_hidden_or_of_another_direction_passes() {
        assert_eq!(shown("<b a=\"1\" c='2'>&amp;"), "&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;amp;");
        assert_eq!(shown("a\u{202e}b\u{0}c\u{200b}d\re"), "a\\u{202e}b\\u{0}c\\u{200b}d\\u{d}e");
        assert_eq!(shown("a\nb\tc"), "a⏎b    c");
    }

    #[test]
    fn several_lines_stay_several() {
        let mut html = Html::default();
        html.lines("a\n<b>");
        assert_eq!(html.into_string(), "a\n&lt;b&gt;");
    }
}
