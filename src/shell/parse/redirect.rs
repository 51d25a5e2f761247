//! Redirections.

use super::super::{Part, Redirect, RedirectKind, Word};
use super::Parser;
use super::lexer::is_name;
use super::state::{Doc, Parse};
use super::word::{Mode, push_text};

impl Parser<'_> {
    /// Adds a redirection to a list, if one stands here.
    pub(super) fn redirect(&mut self, list: &mut Vec<Redirect>) -> Parse<bool> {
        let start = self.pos;
        let front = match self.peek() {
            Some(byte) if byte.is_ascii_digit() => self.descriptor().map(|fd| (fd, None)),
            Some(b'{') => self.descriptor_name().map(|name| (None, Some(name))),
            Some(b'<' | b'>' | b'&') => Ok((None, None)),
            _ => return Ok(false),
        };
        let Ok((fd, name)) = front else {
            self.pos = start;
            return Ok(false);
        };
        let numbered = self.pos != start;
        let reads = self.peek() == Some(b'<');
        let kind = match (self.peek(), self.second()) {
            (Some(b'<' | b'>'), Some(b'(')) => None,
            (Some(b'<'), _) => Some(self.input()),
            (Some(b'>'), _) => Some(self.output()),
            (Some(b'&'), Some(b'>')) if !numbered => {
                self.take(b"&>");
                Some(Sign::Plain(if self.take(b">") { RedirectKind::Append } else { RedirectKind::Write }))
            }
            _ => None,
        };
        let Some(sign) = kind else {
            self.pos = start;
            return Ok(false);
        };
        let doubles = matches!(sign, Sign::Duplicate(_));
        list.push(Redirect { fd, name, reads, doubles, kind: RedirectKind::Read, target: Word::default() });
        match list.last_mut() {
            Some(redirect) => self.target(sign, redirect)?,
            None => return Ok(false),
        }
        Ok(true)
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
    fn descriptor_name(&mut self) -> Result<String, ()> {
        self.pos += 1;
        let start = self.pos;
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
        let name = self.since(start).to_owned();
        let closed = named && self.take(b"}") && matches!(self.peek(), Some(b'<' | b'>'));
        if closed { Ok(name) } else { Err(()) }
    }

    /// `2>` or `{name}>` stands here.
    fn begins_redirect(&mut self) -> bool {
        let start = self.pos;
        let begins = match self.peek() {
            Some(byte) if byte.is_ascii_digit() => self.descriptor().is_ok(),
            Some(b'{') => self.descriptor_name().is_ok(),
            _ => false,
        };
        let process = begins && self.second() == Some(b'(');
        self.pos = start;
        begins && !process
    }

    fn input(&mut self) -> Sign {
        if self.take(b"<<<") {
            Sign::Plain(RedirectKind::HereString)
        } else if self.take(b"<<-") {
            Sign::Heredoc { strip: true }
        } else if self.take(b"<<") {
            Sign::Heredoc { strip: false }
        } else if self.take(b"<&") {
            Sign::Duplicate(RedirectKind::Duplicate)
        } else if self.take(b"<>") {
            Sign::Plain(RedirectKind::ReadWrite)
        } else {
            self.take(b"<");
            Sign::Plain(RedirectKind::Read)
        }
    }

    fn output(&mut self) -> Sign {
        if self.take(b">>") {
            Sign::Plain(RedirectKind::Append)
        } else if self.take(b">&") {
            Sign::Duplicate(RedirectKind::Write)
        } else {
            let _forced = self.take(b">|") || self.take(b">");
            Sign::Plain(RedirectKind::Write)
        }
    }

    /// What stands behind the sign of a redirection.
    fn target(&mut self, sign: Sign, redirect: &mut Redirect) -> Parse<()> {
        self.blank();
        let start = self.pos;
        redirect.kind = match sign {
            Sign::Plain(kind) | Sign::Duplicate(kind) => kind,
            Sign::Heredoc { strip } => {
                let id = self.delimiter(strip)?;
                redirect.kind = RedirectKind::Heredoc;
                redirect.target.span = (id, id);
                return Ok(());
            }
        };
        let duplicates = matches!(sign, Sign::Duplicate(_));
        if !duplicates && self.begins_redirect() {
            return Err(self.wrong("a redirection stands where the target of one is missing"));
        }
        if duplicates && self.peek() == Some(b'-') {
            // `>&-word` closes, and `word` is a word of its own.
            self.pos += 1;
            push_text(&mut redirect.target.parts, "-", false);
            redirect.target.span = self.span(start);
            redirect.kind = RedirectKind::Duplicate;
            return Ok(());
        }
        self.fill_word(&mut redirect.target, start)?;
        if redirect.target.parts.is_empty() {
            return Err(self.wrong("the target of a redirection is missing"));
        }
        if duplicates && is_descriptor(&redirect.target) {
            redirect.kind = RedirectKind::Duplicate;
        }
        Ok(())
    }

    /// The delimiter of a here-document, whose body is read at the next newline: its number.
    fn delimiter(&mut self, strip: bool) -> Parse<usize> {
        let start = self.pos;
        self.delimiter_word()?;
        if self.pos == start {
            return Err(self.wrong("the delimiter of a here-document is missing"));
        }
        let (delimiter, quoted) = super::heredoc::delimiter(self.since(start));
        if delimiter.contains('\n') {
            return Err(self.wrong("a newline in the delimiter of a here-document"));
        }
        let id = self.state.docs.len();
        self.state.docs.push(Doc { delimiter, strip, quoted, ..Doc::default() });
        self.state.pending.push(id);
        self.state.count_word()?;
        Ok(id)
    }

    /// Passes the word of a delimiter. Substitutions in it are text and never run.
    fn delimiter_word(&mut self) -> Parse<()> {
        let mark = self.state.here();
        self.word_rest(&mut Vec::new(), Mode::Plain)?;
        self.state.rewind(&mark);
        Ok(())
    }
}

/// The sign of a redirection.
#[derive(Debug, Clone, Copy)]
enum Sign {
    Plain(RedirectKind),
    /// `<&` or `>&`; the kind that it is when no descriptor follows.
    Duplicate(RedirectKind),
    Heredoc {
        strip: bool,
    },
}

/// `2` or `2-`.
fn is_descriptor(target: &Word) -> bool {
    let [Part::Text { text, .. }] = target.parts.as_slice() else { return false };
    let digits = text.strip_suffix('-').unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}
