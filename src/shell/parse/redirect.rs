//! Redirections.

use super::super::{Part, Redirect, RedirectKind, Word};
use super::Parser;
use super::lexer::is_name;
use super::state::{Doc, Parse};
use super::word::{Mode, push_text};

impl Parser<'_> {
    /// A redirection, if one stands here.
    pub(super) fn redirect(&mut self) -> Parse<Option<Redirect>> {
        let start = self.pos;
        let fd = match self.peek() {
            Some(byte) if byte.is_ascii_digit() => self.descriptor(),
            Some(b'{') => self.descriptor_name(),
            Some(b'<' | b'>' | b'&') => Ok(None),
            _ => return Ok(None),
        };
        let Ok(fd) = fd else {
            self.pos = start;
            return Ok(None);
        };
        let numbered = self.pos != start;
        match (self.peek(), self.second()) {
            (Some(b'<' | b'>'), Some(b'(')) => {}
            (Some(b'<'), _) => return self.input(fd).map(Some),
            (Some(b'>'), _) => return self.output(fd).map(Some),
            (Some(b'&'), Some(b'>')) if !numbered => {
                self.take(b"&>");
                let kind = if self.take(b">") { RedirectKind::Append } else { RedirectKind::Write };
                return self.target(None, kind).map(Some);
            }
            _ => {}
        }
        self.pos = start;
        Ok(None)
    }

    /// The digits in front of `<` or `>`.
    fn descriptor(&mut self) -> Result<Option<u32>, ()> {
        let mut value = 0u32;
        while let Some(digit) = self.peek().filter(u8::is_ascii_digit) {
            self.pos += 1;
            let more = value.checked_mul(10).and_then(|v| v.checked_add(u32::from(digit - b'0')));
            value = more.filter(|v| i32::try_from(*v).is_ok()).ok_or(())?;
        }
        if matches!(self.byte(), Some(b'<' | b'>')) { Ok(Some(value)) } else { Err(()) }
    }

    /// `{name}` in front of `<` or `>`.
    fn descriptor_name(&mut self) -> Result<Option<u32>, ()> {
        self.pos += 1;
        let first = self.peek();
        while self.peek().is_some_and(is_name) {
            self.pos += 1;
        }
        let named = first.is_some_and(|byte| is_name(byte) && !byte.is_ascii_digit());
        if self.byte() == Some(b'[') {
            let rest = self.text.as_bytes().get(self.pos..).unwrap_or_default();
            let end = rest.iter().position(|byte| !is_name(*byte) && !b"[]@*".contains(byte));
            self.pos += end.unwrap_or(0);
        }
        let closed = named && self.take(b"}") && matches!(self.peek(), Some(b'<' | b'>'));
        if closed { Ok(None) } else { Err(()) }
    }

    fn input(&mut self, fd: Option<u32>) -> Parse<Redirect> {
        if self.take(b"<<<") {
            return self.target(fd, RedirectKind::HereString);
        }
        if self.take(b"<<-") {
            return self.heredoc(fd, true);
        }
        if self.take(b"<<") {
            return self.heredoc(fd, false);
        }
        if self.take(b"<&") {
            return self.duplicate(fd, RedirectKind::Duplicate);
        }
        if self.take(b"<>") {
            return self.target(fd, RedirectKind::ReadWrite);
        }
        self.take(b"<");
        self.target(fd, RedirectKind::Read)
    }

    fn output(&mut self, fd: Option<u32>) -> Parse<Redirect> {
        if self.take(b">>") {
            return self.target(fd, RedirectKind::Append);
        }
        if self.take(b">&") {
            return self.duplicate(fd, RedirectKind::Write);
        }
        if !self.take(b">|") {
            self.take(b">");
        }
        self.target(fd, RedirectKind::Write)
    }

    /// The word behind `<&` and `>&`: a descriptor, or for `>&` perhaps a file.
    fn duplicate(&mut self, fd: Option<u32>, otherwise: RedirectKind) -> Parse<Redirect> {
        self.blank();
        if self.peek() == Some(b'-') {
            // `>&-word` closes, and `word` is a word of its own.
            let start = self.pos;
            self.pos += 1;
            let mut parts = Vec::new();
            push_text(&mut parts, "-", false);
            let target = Word { parts, span: self.span(start) };
            return Ok(Redirect { fd, kind: RedirectKind::Duplicate, target });
        }
        let mut redirect = self.target(fd, otherwise)?;
        if let [Part::Text { text, .. }] = redirect.target.parts.as_slice() {
            let digits = text.strip_suffix('-').unwrap_or(text);
            if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
                redirect.kind = RedirectKind::Duplicate;
            }
        }
        Ok(redirect)
    }

    fn target(&mut self, fd: Option<u32>, kind: RedirectKind) -> Parse<Redirect> {
        let target = self.needed_word("the target of a redirection is missing")?;
        Ok(Redirect { fd, kind, target })
    }

    /// The delimiter of a here-document. Its body is read at the next newline.
    fn heredoc(&mut self, fd: Option<u32>, strip: bool) -> Parse<Redirect> {
        self.blank();
        let start = self.pos;
        // Substitutions in a delimiter are text and never run.
        let mark = self.state.here();
        let word = self.word(Mode::Plain)?;
        self.state.rewind(&mark);
        self.state.count_word()?;
        if word.parts.is_empty() {
            return Err(self.wrong("the delimiter of a here-document is missing"));
        }
        let (delimiter, quoted) = super::heredoc::delimiter(self.since(start));
        let id = self.state.docs.len();
        self.state.docs.push(Doc { delimiter, strip, quoted, ..Doc::default() });
        self.state.pending.push(id);
        Ok(Redirect { fd, kind: RedirectKind::Heredoc, target: Word { parts: Vec::new(), span: (id, id) } })
    }
}
