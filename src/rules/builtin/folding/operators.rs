//! Signs between strings: what `+`, `*`, `/` and the like make of them.

use super::calls::{self, Value, base64, formatted};
use super::lexer::{Language, Placed, Token};
use super::{PATHS, Reader};

impl Reader<'_> {
    /// `'a' + 'b'`, and in some languages `'a' 'b'`.
    pub(super) fn joined(&mut self, next: Option<&Token<'_>>) -> bool {
        if self.language.joins_neighbours()
            && let (Some(front), Some(behind)) = (self.text(1), self.text(0))
        {
            let whole = format!("{front}{behind}");
            return self.replace(2, whole);
        }
        // What is done to the second string is done first.
        let waits = matches!(next, Some(Token::Sign('.' | '[' | '*' | '%' | ':')));
        match (self.text(2), self.text(0)) {
            (Some(front), Some(behind)) if self.is(1, '+') && !waits => {
                let whole = format!("{front}{behind}");
                self.replace(3, whole)
            }
            (Some(front), Some(value)) if self.is(1, '%') && front.contains('%') => {
                let Some(whole) = formatted(front, &[value.to_owned()]) else { return false };
                self.replace(3, whole)
            }
            _ => self.list_by_text(),
        }
    }

    /// `['a', 'b'] * '.'`
    fn list_by_text(&mut self) -> bool {
        let Some(between) = self.text(0).map(str::to_owned) else { return false };
        if !self.is(1, '*') || !self.is(2, ']') {
            return false;
        }
        let close = self.stack.len() - 3;
        let Some(open) = self.opening(close) else { return false };
        match self.values(open + 1, close).and_then(calls::texts) {
            Some(items) => self.replace(self.stack.len() - open, items.join(&between)),
            None => false,
        }
    }

    /// `Path('a') / 'b'`
    pub(super) fn below(&mut self) -> bool {
        if self.language != Language::Python || !self.is(1, '/') {
            return false;
        }
        let Some(name) = self.text(0).map(str::to_owned) else { return false };
        if let Some(base) = self.text(2) {
            let whole = calls::below(base, &name);
            return self.replace(3, whole);
        }
        let path = self.is(2, ')') && self.is(4, '(') && PATHS.contains(&self.word(5));
        let Some(base) = self.text(3).filter(|_| path) else { return false };
        let whole = calls::below(base, &name);
        self.stack.truncate(self.stack.len() - 3);
        let replaced = self.replace(1, whole);
        self.stack.push(Placed { token: Token::Sign(')'), space: "" });
        replaced
    }

    /// `reverse 'a'` of Perl, which needs no brackets.
    pub(super) fn turned(&mut self) -> bool {
        if self.language != Language::Perl {
            return false;
        }
        let Some(text) = self.text(0) else { return false };
        let whole = match self.word(1) {
            "reverse" => Some(text.chars().rev().collect::<String>()),
            "decode_base64" => base64(text),
            _ => None,
        };
        if let Some(whole) = whole.as_ref().filter(|_| self.word(2) == "eval") {
            self.run.push(whole.clone());
        }
        let count = if self.word(2) == "scalar" { 3 } else { 2 };
        whole.is_some_and(|whole| self.replace(count, whole))
    }

    /// `'a' * 3`, `['a', 'b'] * 2`
    pub(super) fn repeated(&mut self) -> bool {
        const MOST: usize = 64;
        let Some(Token::Number(number)) = self.top(0) else { return false };
        let Some(times) = number.parse::<usize>().ok().filter(|times| *times <= MOST) else { return false };
        if !self.is(1, '*') {
            return false;
        }
        if let Some(text) = self.text(2) {
            let whole = text.repeat(times);
            return self.replace(3, whole);
        }
        if !self.is(2, ']') {
            return false;
        }
        let close = self.stack.len() - 3;
        let Some(open) = self.opening(close) else { return false };
        let Some(items) = self.values(open + 1, close).and_then(calls::texts) else { return false };
        if items.len() * times > MOST {
            return false;
        }
        let many: Vec<String> = (0..times).flat_map(|_| items.iter().cloned()).collect();
        self.put(open, Value::Many(many))
    }
}
