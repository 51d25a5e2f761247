//! Assignments, arrays, and words that may be either.

use super::super::{Assign, Part, Word};
use super::Parser;
use super::command::Draft;
use super::lexer::is_name;
use super::state::Parse;
use super::word::{push_text, unknown};

impl Parser<'_> {
    /// An assignment or the command word.
    pub(super) fn first_word(&mut self, draft: &mut Draft) -> Parse<()> {
        let start = self.pos;
        match self.assignment_head()? {
            Some(head) if head.assigns => {
                draft.assigns.push(head.assign());
                match draft.assigns.last_mut() {
                    Some(assign) => self.assigned(assign),
                    None => Ok(()),
                }
            }
            _ => self.begun_word(&mut draft.words, start),
        }
    }

    /// A word of which what stands since `start` is read.
    fn begun_word(&mut self, words: &mut Vec<Word>, start: usize) -> Parse<()> {
        words.push(Word::default());
        let Some(word) = words.last_mut() else { return Ok(()) };
        if self.pos > start {
            push_text(&mut word.parts, self.since(start), false);
        }
        self.fill_word(word, start)
    }

    /// An argument of `declare` and its like.
    pub(super) fn assigning_word(&mut self, draft: &mut Draft) -> Parse<()> {
        let start = self.pos;
        let head = self.assignment_head()?.filter(|head| head.assigns);
        let Some(head) = head.filter(|_| self.peek() == Some(b'(')) else {
            return self.begun_word(&mut draft.words, start);
        };
        let mut word = Word::default();
        push_text(&mut word.parts, self.since(start), false);
        draft.declared.push(head.assign());
        if let Some(assign) = draft.declared.last_mut() {
            assign.array = true;
            self.array(&mut assign.list)?;
        }
        word.parts.push(unknown(""));
        draft.words.push(word);
        match draft.words.last_mut() {
            Some(word) => self.fill_word(word, start),
            None => Ok(()),
        }
    }

    /// `NAME=`, `NAME+=`, `NAME[…]=`, or `NAME[…]` alone. Nothing is taken when the text here is none of them.
    fn assignment_head(&mut self) -> Parse<Option<Head>> {
        let start = self.pos;
        if !self.may_assign() {
            return Ok(None);
        }
        let mut name = String::new();
        while let Some(byte) = self.peek().filter(|byte| is_name(*byte)) {
            self.pos += 1;
            name.push(char::from(byte));
        }
        let valid = name.bytes().next().is_some_and(|byte| !byte.is_ascii_digit());
        let mut key = None;
        if valid && self.byte() == Some(b'[') {
            let inside = self.pos + 1;
            self.pos += 1;
            self.subscript()?;
            key = Some(self.text.get(inside..self.pos.saturating_sub(1)).unwrap_or_default().to_owned());
        }
        if valid {
            let append = self.take(b"+=");
            if append || self.take(b"=") {
                return Ok(Some(Head { name, append, key, assigns: true }));
            }
        }
        if key.is_some() {
            return Ok(Some(Head { name, append: false, key, assigns: false }));
        }
        self.pos = start;
        Ok(None)
    }

    /// Whether what stands behind the name here, if there is one, can make it the head of an assignment. Most words are none.
    fn may_assign(&self) -> bool {
        let rest = self.text.as_bytes().get(self.pos..).unwrap_or_default();
        let behind = rest.iter().find(|byte| !is_name(**byte));
        // Behind a backslash the name may go on in the next line.
        matches!(behind, Some(b'=' | b'+' | b'[' | b'\\'))
    }

    /// The value of an assignment whose head is read.
    fn assigned(&mut self, assign: &mut Assign) -> Parse<()> {
        let start = self.pos;
        if self.peek() == Some(b'(') {
            assign.array = true;
            assign.value.parts.push(unknown(&assign.name));
            self.array(&mut assign.list)?;
        }
        self.fill_word(&mut assign.value, start)
    }

    /// The elements of `(…)` behind `NAME=`.
    fn array(&mut self, list: &mut Vec<Word>) -> Parse<()> {
        self.state.enter()?;
        self.pos += 1;
        loop {
            self.blank();
            let start = self.pos;
            match self.byte() {
                Some(b')') => break,
                Some(b'\n') if self.state.pending.is_empty() => self.newline()?,
                None | Some(b'\n') => return Err(self.wrong("an array's `)` is missing")),
                Some(b'[') => {
                    self.pos += 1;
                    self.subscript()?;
                    self.begun_word(list, start)?;
                }
                Some(_) => {
                    self.push_word(list)?;
                    if self.pos == start {
                        return Err(self.wrong("unexpected token in an array"));
                    }
                }
            }
        }
        self.pos += 1;
        self.state.leave();
        Ok(())
    }
}

/// What stands in front of an assigned value.
struct Head {
    name: String,
    append: bool,
    key: Option<String>,
    /// A `=` was there.
    assigns: bool,
}

impl Head {
    fn assign(self) -> Assign {
        let Head { name, append, key, .. } = self;
        Assign { name, append, array: key.is_some(), key, value: Word::default(), list: Vec::new() }
    }
}

/// Whether the arguments of a command may be `NAME=(…)`.
pub(super) fn takes_assignments(word: &Word) -> bool {
    matches!(word.parts.as_slice(), [Part::Text { text, quoted: false }] if matches!(
        text.as_str(),
        "declare" | "typeset" | "local" | "export" | "readonly" | "alias" | "eval" | "let"
    ))
}
