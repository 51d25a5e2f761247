//! The arguments that a word is cut into.

use super::{Arg, Env, Piece};

const BLANKS: &str = " \t\n";

/// Collects the pieces of a word. Only the values of unquoted variables are split.
pub(super) struct Fields<'e> {
    done: Vec<Arg>,
    pieces: Vec<Piece>,
    /// The current argument exists, even if it is empty.
    started: bool,
    /// The last argument was ended by blanks, so that one more separator belongs to them.
    after_blank: bool,
    cut: Cut<'e>,
    /// One argument whatever it holds: no splitting, no globs.
    whole: bool,
}

/// What separates arguments.
#[derive(Clone, Copy)]
enum Cut<'e> {
    At(&'e str),
    /// `IFS` was assigned something that is not known.
    Unknown,
}

impl<'e> Fields<'e> {
    pub fn split(env: &'e Env) -> Fields<'e> {
        let cut = match env.get("IFS") {
            None => Cut::At(BLANKS),
            Some(Some(value)) => Cut::At(value),
            Some(None) => Cut::Unknown,
        };
        Fields { done: Vec::new(), pieces: Vec::new(), started: false, after_blank: false, cut, whole: false }
    }

    /// One argument, with globs.
    pub fn unsplit() -> Fields<'e> {
        let cut = Cut::At("");
        Fields { done: Vec::new(), pieces: Vec::new(), started: true, after_blank: false, cut, whole: false }
    }

    pub fn whole() -> Fields<'e> {
        Fields { whole: true, ..Fields::unsplit() }
    }

    pub fn is_whole(&self) -> bool {
        self.whole
    }

    pub fn finish(mut self) -> Vec<Arg> {
        if self.started {
            self.close();
        }
        self.done
    }

    /// Text that means itself.
    pub fn known(&mut self, more: &str) {
        self.begin();
        if more.is_empty() {
            return;
        }
        match self.pieces.last_mut() {
            Some(Piece::Known(text)) => text.push_str(more),
            _ => self.pieces.push(Piece::Known(more.to_owned())),
        }
    }

    pub fn unknown(&mut self) {
        self.begin();
        if self.pieces.last() != Some(&Piece::Unknown) {
            self.pieces.push(Piece::Unknown);
        }
    }

    /// Unquoted text. `open`: a bracket that is not closed in it may be closed behind it.
    pub fn pattern(&mut self, text: &str, open: bool) {
        self.begin();
        if self.whole {
            self.known(text);
            return;
        }
        let mut rest = text;
        // No bracket that opens in front of here is closed; to look for its end again for each would take long.
        let mut barren = 0;
        while let Some(at) = rest.find(['*', '?', '[', '(']) {
            // `@(` and its like: the sign in front belongs to the pattern.
            let sign = rest.as_bytes().get(at) == Some(&b'(');
            let before = rest.as_bytes().get(at.wrapping_sub(1));
            let at = match before {
                Some(b'+' | b'@' | b'!') if sign => at - 1,
                _ => at,
            };
            self.known(rest.get(..at).unwrap_or_default());
            let tail = rest.get(at..).unwrap_or_default();
            let here = text.len() - tail.len();
            let (length, active) = match glob_length(tail, here < barren) {
                Ok(length) => (length, true),
                Err(end) => {
                    barren = barren.max(here + end);
                    (1, open && tail.starts_with('['))
                }
            };
            let piece = tail.get(..length).unwrap_or_default();
            if active {
                self.glob(piece);
            } else {
                self.known(piece);
            }
            rest = tail.get(length..).unwrap_or_default();
        }
        self.known(rest);
    }

    /// The value of an unquoted variable.
    pub fn value(&mut self, value: &str, open: bool) {
        let cut = match self.cut {
            _ if self.whole => return self.known(value),
            Cut::Unknown => return self.unknown(),
            Cut::At(cut) => cut,
        };
        let mut run = String::new();
        for char in value.chars() {
            if !cut.contains(char) {
                run.push(char);
                continue;
            }
            if !run.is_empty() {
                self.pattern(&run, open);
                run.clear();
            }
            if BLANKS.contains(char) {
                if self.started {
                    self.close();
                    self.after_blank = true;
                }
            } else if self.started {
                self.close();
            } else if self.after_blank {
                self.after_blank = false;
            } else {
                self.close();
            }
        }
        if !run.is_empty() {
            self.pattern(&run, open);
        }
    }

    fn glob(&mut self, text: &str) {
        match self.pieces.last_mut() {
            Some(Piece::Glob(before)) => before.push_str(text),
            _ => self.pieces.push(Piece::Glob(text.to_owned())),
        }
    }

    fn begin(&mut self) {
        self.started = true;
        self.after_blank = false;
    }

    fn close(&mut self) {
        self.done.push(Arg { pieces: std::mem::take(&mut self.pieces).into() });
        self.started = false;
        self.after_blank = false;
    }
}

/// How much of the text is one glob; or, where it is none, up to where no bracket is closed. `barren`: none is closed here.
fn glob_length(text: &str, barren: bool) -> Result<usize, usize> {
    let bytes = text.as_bytes();
    match bytes {
        [b'?' | b'*' | b'+' | b'@' | b'!', b'(', ..] => Ok(group_length(bytes)),
        [b'*' | b'?', ..] => Ok(1),
        [b'[', ..] if !barren => bracket_length(bytes),
        _ => Err(1),
    }
}

fn group_length(bytes: &[u8]) -> usize {
    let mut depth = 0usize;
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' if depth == 1 => return at + 1,
            b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    bytes.len()
}

/// The length of a bracket expression; or, where it is none, up to where no other is closed either.
fn bracket_length(bytes: &[u8]) -> Result<usize, usize> {
    let mut from = 1;
    from += usize::from(matches!(bytes.get(from), Some(b'!' | b'^')));
    from += usize::from(bytes.get(from) == Some(&b']'));
    let rest = bytes.get(from..).unwrap_or_default();
    match rest.iter().position(|byte| matches!(byte, b']' | b'/')) {
        Some(end) if rest.get(end) == Some(&b']') => Ok(from + end + 1),
        Some(end) => Err(from + end),
        None => Err(bytes.len()),
    }
}
