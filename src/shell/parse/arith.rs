//! Arithmetic: only its end is looked for, and the substitutions in it.

use super::super::Context;
use super::Parser;
use super::state::{Parse, Stop};

impl Parser<'_> {
    /// `((…))` from its first `(` on, if it is that: the parentheses have to match, and the last two stand together. Otherwise
    /// nothing is taken, and it is a subshell in a subshell.
    pub(super) fn try_arithmetic(&mut self) -> Parse<bool> {
        let start = self.pos;
        if self.failed.contains(&start) {
            return Ok(false);
        }
        let mark = self.state.here();
        self.state.enter()?;
        self.take(b"((");
        let found = self.balanced(b'(', b')').map(|()| {
            let closed = self.peek() == Some(b')');
            self.pos += usize::from(closed);
            closed
        });
        match found {
            Ok(true) => {
                self.state.leave();
                Ok(true)
            }
            Err(Stop::Bound) => Err(Stop::Bound),
            Ok(false) | Err(Stop::Syntax) => {
                self.state.burn(self.pos.saturating_sub(start))?;
                self.state.rewind(&mark);
                self.failed.insert(start);
                self.pos = start;
                Ok(false)
            }
        }
    }

    /// Arithmetic behind its opening sign, up to the matching closing one.
    pub(super) fn arithmetic(&mut self, open: u8, close: u8) -> Parse<()> {
        self.state.enter()?;
        self.balanced(open, close)?;
        self.state.leave();
        Ok(())
    }

    /// The subscript of an array, behind its `[`.
    pub(super) fn subscript(&mut self) -> Parse<()> {
        self.arithmetic(b'[', b']')
    }

    fn balanced(&mut self, open: u8, close: u8) -> Parse<()> {
        let outer = self.state.scope.inner;
        self.state.scope.inner = Context::Arithmetic;
        let mut depth = 0usize;
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
                b'$' => self.dollar(&mut ignored, true)?,
                _ => {
                    self.pos += 1;
                    if byte == close {
                        if depth == 0 {
                            self.state.scope.inner = outer;
                            return Ok(());
                        }
                        depth -= 1;
                    } else if byte == open {
                        depth += 1;
                    }
                }
            }
            ignored.clear();
        }
        Err(self.wrong("the end of arithmetic or of a subscript is missing"))
    }
}
