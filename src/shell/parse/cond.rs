//! `[[ … ]]`.

use super::super::{Part, Word};
use super::Parser;
use super::lexer::Keyword;
use super::state::Parse;
use super::word::Mode;

impl Parser<'_> {
    /// The expression behind `[[`, and its `]]`. Parentheses are counted.
    pub(super) fn condition(&mut self) -> Parse<()> {
        let mut depth = 0usize;
        loop {
            self.newlines()?;
            if self.accept(Keyword::Bang) {
                continue;
            }
            if self.take(b"(") {
                depth += 1;
                continue;
            }
            let bare = !self.end_of_condition() && self.operand_of_condition()?;
            if !bare {
                self.newlines()?;
            }
            loop {
                self.blank();
                if depth > 0 && self.take(b")") {
                    depth -= 1;
                    self.newlines()?;
                } else {
                    break;
                }
            }
            if self.take(b"&&") || self.take(b"||") {
                continue;
            }
            if depth == 0 && self.end_of_condition() {
                self.take(b"]]");
                return Ok(());
            }
            return Err(self.wrong("`]]` is missing"));
        }
    }

    pub(super) fn end_of_condition(&mut self) -> bool {
        let start = self.pos;
        let end = self.take(b"]]") && self.peek().is_none_or(super::lexer::is_meta);
        self.pos = start;
        end
    }

    /// A test. True: it was one bare word, behind which no newline may stand.
    fn operand_of_condition(&mut self) -> Parse<bool> {
        let word = self.word_of_condition(Mode::Plain)?;
        if let Some(test) = bare(&word).filter(|word| is_unary(word)) {
            let names_variable = matches!(test, "-v" | "-R");
            let operand = self.word_of_condition(Mode::Plain)?;
            if names_variable {
                self.evaluated(&operand)?;
            }
            return Ok(false);
        }
        self.blank();
        let (mut counts, mut matches) = (false, false);
        let mode = match self.byte() {
            Some(b'<' | b'>') if self.second() != Some(b'(') => {
                self.pos += 1;
                Mode::Plain
            }
            _ => {
                let (start, mark) = (self.pos, self.state.here());
                let operator = self.word(Mode::Plain)?;
                match bare(&operator) {
                    Some("=" | "==" | "!=") => Mode::Pattern,
                    Some("=~") => {
                        matches = true;
                        Mode::Regex
                    }
                    Some("-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge") => {
                        counts = true;
                        Mode::Plain
                    }
                    Some("-nt" | "-ot" | "-ef") => Mode::Plain,
                    _ => {
                        self.state.burn(self.pos - start)?;
                        self.state.rewind(&mark);
                        self.pos = start;
                        return Ok(true);
                    }
                }
            }
        };
        let other = self.word_of_condition(mode)?;
        if counts {
            self.evaluated(&word)?;
            self.evaluated(&other)?;
        }
        if matches {
            self.state.matched.extend([word, literal(&other)]);
        }
        Ok(false)
    }

    /// A word that is evaluated as arithmetic: what is substituted in a subscript is run, quoted or not.
    fn evaluated(&mut self, word: &Word) -> Parse<()> {
        let texts = word.parts.iter().filter_map(|part| match part {
            Part::Text { text, .. } => Some(text.as_str()),
            Part::Variable { .. }
            | Part::Substitution { .. }
            | Part::Process { .. }
            | Part::Arithmetic(_) => None,
        });
        let text: String = texts.collect();
        self.evaluated_text(&text, word.span)
    }

    fn word_of_condition(&mut self, mode: Mode) -> Parse<Word> {
        self.blank();
        if self.end_of_condition() {
            return Err(self.wrong("an operand in `[[` is missing"));
        }
        let word = self.word(mode)?;
        if word.parts.is_empty() { Err(self.wrong("an operand in `[[` is missing")) } else { Ok(word) }
    }
}

/// What a regular expression matches as it stands; its signs stand between words.
fn literal(pattern: &Word) -> Word {
    let plain = |part: &Part| match part {
        Part::Text { text, quoted: false } => {
            let signs = |c: char| if matches!(c, '(' | ')' | '|' | '^' | '$' | '?' | '+') { ' ' } else { c };
            Part::Text { text: text.chars().map(signs).collect(), quoted: true }
        }
        _ => part.clone(),
    };
    Word { parts: pattern.parts.iter().map(plain).collect(), span: pattern.span }
}

/// The text of a word that has no quotes and no expansions.
fn bare(word: &Word) -> Option<&str> {
    match word.parts.as_slice() {
        [Part::Text { text, quoted: false }] => Some(text),
        _ => None,
    }
}

fn is_unary(word: &str) -> bool {
    matches!(word.as_bytes(), [b'-', letter] if b"abcdefghknoprstuvwxzGLNOSR".contains(letter))
}
