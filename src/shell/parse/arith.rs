//! Arithmetic, and whatever else bash delimits by counting brackets: only its end is looked for, and the substitutions in it.

use super::super::{Bound, Context, Part};
use super::Parser;
use super::state::Parse;

impl Parser<'_> {
    /// `((…))` as a command, from its first `(` on, if it is that: the parentheses match, and the last two stand together.
    /// Otherwise nothing is taken, and it is a subshell in a subshell.
    pub(super) fn arithmetic_command(&mut self) -> Parse<bool> {
        let start = self.pos;
        if self.doubled.contains_key(&start) {
            return Ok(false);
        }
        let mark = self.state.here();
        self.state.enter()?;
        self.take(b"((");
        self.balanced(b'(', b')', false)?;
        if self.byte() == Some(b')') {
            self.pos += 1;
            self.state.leave();
            self.note_counted(start);
            return Ok(true);
        }
        self.state.burn(self.pos.saturating_sub(start))?;
        self.state.rewind(&mark);
        self.doubled.insert(start, self.pos);
        self.reread = self.reread.max(self.pos);
        self.pos = start;
        Ok(false)
    }

    /// `$((…))`, from its first `(` on. bash looks for its end as if it were arithmetic, also when it is not: then the
    /// text up to there is a list of commands.
    pub(super) fn dollar_parentheses(&mut self, parts: &mut Vec<Part>, quoted: bool) -> Parse<()> {
        let start = self.pos;
        let context = self.state.scope.inner;
        self.state.enter()?;
        if !self.doubled.contains_key(&start) {
            let mark = self.state.here();
            self.pos += 1;
            let closed = self.balanced(b'(', b')', false)?;
            let last = self.pos - 1;
            if closed.is_some_and(|at| self.joined(at + 1) == last) {
                self.state.leave();
                self.note_counted(start);
                let source = self.since(start).to_owned();
                parts.push(Part::Arithmetic(source));
                return Ok(());
            }
            self.state.burn(self.pos.saturating_sub(start))?;
            self.state.rewind(&mark);
            self.doubled.insert(start, last);
            self.pos = start;
        }
        let subshell = self.delimited(context)?;
        self.state.leave();
        parts.push(Part::Substitution { subshell, quoted });
        Ok(())
    }

    /// `<((…)…)`, from its first `(` on: delimited as arithmetic is, but always commands.
    pub(super) fn process_parentheses(&mut self) -> Parse<u32> {
        let start = self.pos;
        self.state.enter()?;
        if !self.doubled.contains_key(&start) {
            let mark = self.state.here();
            self.pos += 1;
            self.balanced(b'(', b')', false)?;
            self.state.burn(self.pos.saturating_sub(start))?;
            self.state.rewind(&mark);
            self.doubled.insert(start, self.pos - 1);
            self.pos = start;
        }
        let subshell = self.delimited(Context::ProcessSubstitution)?;
        self.state.leave();
        Ok(subshell)
    }

    /// The commands in parentheses whose end is known, from the `(` on.
    fn delimited(&mut self, context: Context) -> Parse<u32> {
        let start = self.pos;
        let end = self.doubled.get(&start).copied().unwrap_or(start);
        let outer = self.state.scope;
        let subshell = self.open_substitution(context, false);
        let waiting = std::mem::take(&mut self.state.pending);
        let text = self.text.get(..end).unwrap_or_default();
        let mut inner = Parser::new(text, self.origin, &mut *self.state);
        inner.pos = start + 1;
        inner.doubled = std::mem::take(&mut self.doubled);
        let result = inner.rest_of_script();
        self.doubled = inner.doubled;
        result?;
        self.state.pending = waiting;
        self.state.scope = outer;
        self.pos = end + 1;
        Ok(subshell)
    }

    /// Notes the variables that the arithmetic since `start` assigns: `i++`, `i = 1`, `i += 2`.
    pub(super) fn note_counted(&mut self, start: usize) {
        let text = self.since(start);
        if !text.contains('=') && !text.contains("++") && !text.contains("--") {
            return;
        }
        let letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let mut from = 0;
        while let Some(at) = text.get(from..).and_then(|rest| rest.find(letter)) {
            let begin = from + at;
            let rest = text.get(begin..).unwrap_or_default();
            let end = begin + rest.find(|c| !letter(c)).unwrap_or(rest.len());
            let (front, name) =
                (text.get(..begin).unwrap_or_default(), text.get(begin..end).unwrap_or_default());
            let behind = text.get(end..).unwrap_or_default().trim_start();
            let sign = behind.trim_start_matches(['+', '-', '*', '/', '%', '&', '|', '^', '<', '>']);
            let assigns = sign.starts_with('=') && !sign.starts_with("==") && !behind.starts_with(['<', '>'])
                || behind.starts_with("<<=")
                || behind.starts_with(">>=");
            let counts = |text: &str| text.starts_with("++") || text.starts_with("--");
            let front = front.trim_end();
            if assigns || counts(behind) || front.ends_with("++") || front.ends_with("--") {
                self.state.assigned.insert(name.to_owned());
            }
            from = end;
        }
    }

    /// Arithmetic behind its opening sign, up to the matching closing one.
    pub(super) fn arithmetic(&mut self, open: u8, close: u8) -> Parse<()> {
        self.state.enter()?;
        self.balanced(open, close, false)?;
        self.state.leave();
        Ok(())
    }

    /// The subscript of an array, behind its `[`.
    pub(super) fn subscript(&mut self) -> Parse<()> {
        self.state.enter()?;
        self.balanced(b'[', b']', true)?;
        self.state.leave();
        Ok(())
    }

    /// A text without its quotes that is evaluated as arithmetic, from a word that stands at `origin`.
    pub(super) fn evaluated_text(&mut self, text: &str, origin: (usize, usize)) -> Parse<()> {
        if !text.contains('[') || !(text.contains("$(") || text.contains('`')) {
            return Ok(());
        }
        self.state.burn(text.len())?;
        self.state.enter()?;
        let outer = self.state.scope.inner;
        self.state.scope.inner = Context::Arithmetic;
        let origin = self.origin.unwrap_or(origin);
        let mut inner = Parser::new(text, Some(origin), &mut *self.state);
        inner.expansions_in(&mut Vec::new(), 0, text.len())?;
        self.state.scope.inner = outer;
        self.state.leave();
        Ok(())
    }

    /// Goes behind the `close` that matches an `open` just read; gives the place where the first pair in between closed.
    /// `nested`: what is in `${…}` and `$[…]` cannot close. In arithmetic bash lets it.
    fn balanced(&mut self, open: u8, close: u8, nested: bool) -> Parse<Option<usize>> {
        let outer = self.state.scope.inner;
        self.state.scope.inner = Context::Arithmetic;
        let mut depth = 0usize;
        let mut closed = None;
        let mut ignored = Vec::new();
        while let Some(byte) = self.byte() {
            let start = self.pos;
            match byte {
                b'\\' => self.pos += 2,
                b'\'' => {
                    self.pass_single()?;
                    self.expansions_in(&mut ignored, start + 1, self.pos - 1)?;
                }
                b'"' => self.double(&mut ignored)?,
                b'`' => self.backtick(&mut ignored, true, true)?,
                b'$' if self.second() == Some(b'\'') => {
                    self.pos = start + 1;
                    self.peek();
                    let inside = self.pos + 1;
                    self.pass_ansi()?;
                    self.expansions_in(&mut ignored, inside, self.pos - 1)?;
                }
                b'$' if nested || self.second() == Some(b'(') => self.dollar(&mut ignored, true)?,
                b'<' | b'>' if nested && self.second() == Some(b'(') => self.process(&mut ignored)?,
                _ => {
                    self.pos += 1;
                    if byte == close {
                        if depth == 0 {
                            self.state.scope.inner = outer;
                            return Ok(closed);
                        }
                        depth -= 1;
                        if depth == 0 {
                            closed = closed.or(Some(start));
                        }
                    } else if byte == open {
                        depth += 1;
                        // No shell's arithmetic nests like that; in one that knows none these are subshells.
                        if depth > Bound::MAX_DEPTH {
                            return self.state.over(Bound::Depth);
                        }
                    }
                }
            }
            ignored.clear();
        }
        Err(self.wrong("the end of arithmetic or of a subscript is missing"))
    }
}
