//! Words: quotes, escapes and what is joined to them.

use super::super::{Context, Op, Part, Problem, Word};
use super::lexer::is_meta;
use super::state::Parse;
use super::{Parser, ansi};

/// Where a word stands, as far as that changes where it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Plain,
    /// The right side of `==` in `[[ ]]`, where extended patterns are always on.
    Pattern,
    /// The right side of `=~`, where `(` and `|` belong to the word.
    Regex,
}

/// Adds text to a word, joined to the text before it where that is of the same kind.
pub(super) fn push_text(parts: &mut Vec<Part>, more: &str, as_quoted: bool) {
    match parts.last_mut() {
        Some(Part::Text { text, quoted }) if *quoted == as_quoted => text.push_str(more),
        _ => {
            // Most words have one part: room for four of them is three too many.
            if parts.is_empty() {
                parts.reserve_exact(1);
            }
            parts.push(Part::Text { text: more.to_owned(), quoted: as_quoted });
        }
    }
}

/// A part whose value cannot be known.
pub(super) fn unknown(name: &str) -> Part {
    Part::Variable { name: name.to_owned(), plain: false, default: None, op: Op::Other, quoted: true }
}

impl Parser<'_> {
    /// A word, which may be empty when none stands here.
    pub(super) fn word(&mut self, mode: Mode) -> Parse<Word> {
        let mut parts = Vec::new();
        self.peek();
        let start = self.pos;
        self.word_rest(&mut parts, mode)?;
        if self.pos > start {
            self.state.count_word()?;
        }
        Ok(Word { parts, span: self.span(start) })
    }

    /// A word where there has to be one.
    pub(super) fn needed_word(&mut self, missing: &'static str) -> Parse<Word> {
        self.blank();
        let word = self.word(Mode::Plain)?;
        if word.parts.is_empty() { Err(self.wrong(missing)) } else { Ok(word) }
    }

    /// The rest of a word that has begun.
    pub(super) fn word_rest(&mut self, parts: &mut Vec<Part>, mode: Mode) -> Parse<()> {
        while let Some(byte) = self.peek() {
            match byte {
                b'\\' => self.escaped(parts),
                b'\'' => self.single(parts)?,
                b'"' => self.double(parts)?,
                b'$' => self.dollar(parts, false)?,
                b'`' => self.backtick(parts, false, false)?,
                b'<' | b'>' if self.second() == Some(b'(') && mode != Mode::Regex => {
                    self.process(parts)?;
                }
                b'|' if mode == Mode::Regex => {
                    self.pos += 1;
                    push_text(parts, "|", false);
                }
                b'(' if mode == Mode::Regex => self.group(parts)?,
                b'?' | b'*' | b'+' | b'@' | b'!' => {
                    let pattern = mode == Mode::Pattern || (self.state.extglob && mode == Mode::Plain);
                    let start = self.pos;
                    let opens = pattern && self.second() == Some(b'(');
                    self.pos = start + 1;
                    push_text(parts, self.since(start), false);
                    if opens {
                        self.peek();
                        self.group(parts)?;
                    }
                }
                byte if is_meta(byte) => return Ok(()),
                _ => self.run(parts),
            }
        }
        Ok(())
    }

    /// Ordinary characters.
    fn run(&mut self, parts: &mut Vec<Part>) {
        let start = self.pos;
        let rest = self.text.as_bytes().get(start..).unwrap_or_default();
        let special = |byte: &u8| {
            is_meta(*byte)
                || matches!(byte, b'\\' | b'\'' | b'"' | b'$' | b'`' | b'?' | b'*' | b'+' | b'@' | b'!')
        };
        self.pos += rest.iter().position(special).unwrap_or(rest.len());
        push_text(parts, self.since(start), false);
    }

    /// A parenthesised pattern, from its `(` on. Parentheses are counted.
    fn group(&mut self, parts: &mut Vec<Part>) -> Parse<()> {
        let mut depth = 0usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'\\' => self.escaped(parts),
                b'\'' => self.single(parts)?,
                b'"' => self.double(parts)?,
                b'$' => self.dollar(parts, false)?,
                b'`' => self.backtick(parts, false, false)?,
                b'<' | b'>' if self.second() == Some(b'(') => self.process(parts)?,
                b'(' | b')' | b' ' | b'\t' | b'\n' | b'|' | b'&' | b';' | b'<' | b'>' => {
                    self.pos += 1;
                    push_text(parts, self.since(self.pos - 1), false);
                    match byte {
                        b'(' => depth += 1,
                        b')' if depth == 1 => return Ok(()),
                        b')' => depth -= 1,
                        _ => {}
                    }
                }
                b'?' | b'*' | b'+' | b'@' | b'!' => {
                    self.pos += 1;
                    push_text(parts, self.since(self.pos - 1), false);
                }
                _ => self.run(parts),
            }
        }
        Err(self.wrong("a pattern's `)` is missing"))
    }

    /// A backslash and what it quotes.
    fn escaped(&mut self, parts: &mut Vec<Part>) {
        self.pos += 1;
        let start = self.pos;
        match self.text.get(start..).and_then(|rest| rest.chars().next()) {
            Some(char) => {
                self.pos += char.len_utf8();
                push_text(parts, self.since(start), true);
            }
            None => push_text(parts, "\\", true),
        }
    }

    /// `'…'`
    fn single(&mut self, parts: &mut Vec<Part>) -> Parse<()> {
        let start = self.pos + 1;
        self.pass_single()?;
        push_text(parts, self.text.get(start..self.pos - 1).unwrap_or_default(), true);
        Ok(())
    }

    /// Goes behind a `'…'`.
    pub(super) fn pass_single(&mut self) -> Parse<()> {
        let start = self.pos + 1;
        match self.text.get(start..).and_then(|rest| rest.find('\'')) {
            Some(length) => {
                self.pos = start + length + 1;
                Ok(())
            }
            None => Err(self.wrong(Problem::SINGLE)),
        }
    }

    /// `"…"`
    pub(super) fn double(&mut self, parts: &mut Vec<Part>) -> Parse<()> {
        let open = self.pos;
        self.pos += 1;
        push_text(parts, "", true);
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.pos += 1;
                    return Ok(());
                }
                Some(_) => self.in_double(parts, b"\"")?,
                None => {
                    self.pos = open;
                    return Err(self.wrong(Problem::DOUBLE));
                }
            }
        }
    }

    /// One step of text that is quoted as in double quotes. `stops`: what is special besides `\`, `$` and backticks.
    pub(super) fn in_double(&mut self, parts: &mut Vec<Part>, stops: &[u8]) -> Parse<()> {
        let start = self.pos;
        match self.byte() {
            Some(b'\\') => {
                let next = self.text.as_bytes().get(start + 1).copied();
                let escapes = next.is_some_and(|b| matches!(b, b'\\' | b'$' | b'`') || stops.contains(&b));
                self.pos += if escapes { 2 } else { 1 };
                let from = if escapes { start + 1 } else { start };
                push_text(parts, self.since(from), true);
                Ok(())
            }
            Some(b'$') => self.dollar(parts, true),
            Some(b'`') => self.backtick(parts, true, stops.contains(&b'"')),
            _ => {
                let rest = self.text.as_bytes().get(start..).unwrap_or_default();
                let special = |(at, byte): (usize, &u8)| {
                    at > 0 && (matches!(byte, b'\\' | b'$' | b'`') || stops.contains(byte))
                };
                self.pos += rest.iter().enumerate().position(special).unwrap_or(rest.len());
                push_text(parts, self.since(start), true);
                Ok(())
            }
        }
    }

    /// `$'…'`, from its quote on.
    pub(super) fn ansi(&mut self, parts: &mut Vec<Part>) -> Parse<()> {
        let start = self.pos + 1;
        self.pass_ansi()?;
        push_text(parts, &ansi::decode(self.text.get(start..self.pos - 1).unwrap_or_default()), true);
        Ok(())
    }

    /// Goes behind a `$'…'`, from its quote on.
    pub(super) fn pass_ansi(&mut self) -> Parse<()> {
        let bytes = self.text.as_bytes();
        let mut at = self.pos + 1;
        loop {
            match bytes.get(at) {
                Some(b'\\') => at += 2,
                Some(b'\'') => {
                    self.pos = at + 1;
                    return Ok(());
                }
                Some(_) => at += 1,
                None => return Err(self.wrong(Problem::SINGLE)),
            }
        }
    }

    /// `<(…)` or `>(…)`.
    pub(super) fn process(&mut self, parts: &mut Vec<Part>) -> Parse<()> {
        self.peek();
        self.pos += 1;
        self.peek();
        let subshell = match self.second() {
            Some(b'(') => self.process_parentheses()?,
            _ => self.substitution(Context::ProcessSubstitution)?,
        };
        parts.push(Part::Process { subshell });
        Ok(())
    }
}
