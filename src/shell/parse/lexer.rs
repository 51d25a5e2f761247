//! Bytes, blanks, comments, newlines and keywords.

use super::Parser;
use super::state::Parse;

/// A reserved word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keyword {
    If,
    Then,
    Elif,
    Else,
    Fi,
    While,
    Until,
    Do,
    Done,
    For,
    Select,
    Case,
    Esac,
    In,
    Function,
    Time,
    Coproc,
    Bang,
    Open,
    Close,
    Condition,
}

impl Keyword {
    fn of(word: &[u8]) -> Option<Keyword> {
        Some(match word {
            b"if" => Keyword::If,
            b"then" => Keyword::Then,
            b"elif" => Keyword::Elif,
            b"else" => Keyword::Else,
            b"fi" => Keyword::Fi,
            b"while" => Keyword::While,
            b"until" => Keyword::Until,
            b"do" => Keyword::Do,
            b"done" => Keyword::Done,
            b"for" => Keyword::For,
            b"select" => Keyword::Select,
            b"case" => Keyword::Case,
            b"esac" => Keyword::Esac,
            b"in" => Keyword::In,
            b"function" => Keyword::Function,
            b"time" => Keyword::Time,
            b"coproc" => Keyword::Coproc,
            b"!" => Keyword::Bang,
            b"{" => Keyword::Open,
            b"}" => Keyword::Close,
            b"[[" => Keyword::Condition,
            _ => return None,
        })
    }
}

/// Whether a byte ends an unquoted word.
pub(super) fn is_meta(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'|' | b'&' | b';' | b'(' | b')' | b'<' | b'>')
}

/// Whether a byte may stand in a variable's name.
pub(super) fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

impl Parser<'_> {
    /// The next byte as it stands.
    pub(super) fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.pos).copied()
    }

    /// The next byte, line continuations in front of it passed.
    pub(super) fn peek(&mut self) -> Option<u8> {
        self.pos = self.joined(self.pos);
        self.byte()
    }

    /// The byte after the next one, line continuations left out.
    pub(super) fn second(&mut self) -> Option<u8> {
        self.peek()?;
        let at = self.joined(self.pos + 1);
        self.text.as_bytes().get(at).copied()
    }

    /// The place `from`, or where the line continuations there end.
    pub(super) fn joined(&self, from: usize) -> usize {
        let bytes = self.text.as_bytes();
        let mut at = from;
        while bytes.get(at) == Some(&b'\\') && bytes.get(at + 1) == Some(&b'\n') {
            at += 2;
        }
        at
    }

    /// Takes the next bytes when they are these.
    pub(super) fn take(&mut self, wanted: &[u8]) -> bool {
        let mut at = self.pos;
        for byte in wanted {
            at = self.joined(at);
            if self.text.as_bytes().get(at) != Some(byte) {
                return false;
            }
            at += 1;
        }
        self.pos = at;
        true
    }

    /// Passes blanks and a comment. Only between tokens.
    pub(super) fn blank(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t') => self.pos += 1,
                // A backslash that ends the text is nothing where no word has begun.
                Some(b'\\') if self.pos + 1 == self.text.len() => self.pos += 1,
                Some(b'#') => {
                    let rest = self.text.as_bytes().get(self.pos..).unwrap_or_default();
                    let length = rest.iter().position(|byte| *byte == b'\n');
                    self.pos += length.unwrap_or(rest.len());
                    return;
                }
                _ => return,
            }
        }
    }

    /// Passes one newline and reads the here-documents that wait for it.
    pub(super) fn newline(&mut self) -> Parse<()> {
        let at = self.pos;
        self.pos += 1;
        if self.urgent.take().is_some_and(|wanted| wanted != at) {
            return Err(self.wrong("a here-document whose body begins inside of a word"));
        }
        if at < self.reread && !self.state.pending.is_empty() {
            return Err(self.wrong("a here-document whose body begins inside of `((`"));
        }
        if self.state.extglob_next && self.state.outermost() {
            self.state.extglob = true;
        }
        if self.state.pending.is_empty() { Ok(()) } else { self.documents() }
    }

    /// Passes blanks, comments and newlines.
    pub(super) fn newlines(&mut self) -> Parse<()> {
        self.blank();
        while self.byte() == Some(b'\n') {
            self.newline()?;
            self.blank();
        }
        Ok(())
    }

    /// The reserved word that stands here, and where it ends.
    pub(super) fn keyword(&self) -> Option<(Keyword, usize)> {
        let bytes = self.text.as_bytes();
        let mut word = [0u8; 8];
        let (mut length, mut at) = (0usize, self.joined(self.pos));
        loop {
            match bytes.get(at) {
                Some(byte) if byte.is_ascii_lowercase() || matches!(byte, b'{' | b'}' | b'[' | b'!') => {
                    *word.get_mut(length)? = *byte;
                    length += 1;
                }
                Some(byte) if !is_meta(*byte) => return None,
                _ => break,
            }
            at = self.joined(at + 1);
        }
        Keyword::of(word.get(..length)?).map(|keyword| (keyword, at))
    }

    /// Takes a reserved word if it stands here.
    pub(super) fn accept(&mut self, wanted: Keyword) -> bool {
        self.blank();
        match self.keyword() {
            Some((found, end)) if found == wanted => {
                self.pos = end;
                true
            }
            _ => false,
        }
    }

    pub(super) fn expect(&mut self, wanted: Keyword, missing: &'static str) -> Parse<()> {
        if self.accept(wanted) { Ok(()) } else { Err(self.wrong(missing)) }
    }
}
