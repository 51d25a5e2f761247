//! Secrets taken out of text before it is stored or shown: known shapes of tokens, and values whose name says what they
//! are. One pass, no backtracking over more than a few bytes; it would rather hide too much than too little.

mod names;
mod personal;
mod shapes;
mod values;

use std::borrow::Cow;

use names::Program;
pub use personal::mask;

/// A secret: where it is and what to call it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Hit {
    start: usize,
    end: usize,
    kind: &'static str,
}

/// The kind of what is shortened rather than named.
const SHORTENED: &str = "";

/// `text` with every secret in it replaced by `[redacted:kind]`, and the signatures of references shortened.
pub fn redact(text: &str) -> Cow<'_, str> {
    redact_start(text, usize::MAX)
}

/// The same of the beginning of `text`, which ends where more than `most` bytes have come of it.
pub fn redact_start(text: &str, most: usize) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let mut program = Program::Other;
    let mut out = String::new();
    let (mut at, mut kept) = (0, 0);
    // No secret begins in front of where it is found, so that what was passed over stays as it is.
    while let Some(byte) = bytes.get(at).filter(|_| out.len().saturating_add(at - kept) <= most) {
        let hit = match byte {
            b'=' => shapes::signature(bytes, at).or_else(|| values::assigned(bytes, at)),
            b':' => values::in_url(bytes, at).or_else(|| values::named(bytes, at)),
            b'-' => shapes::private_key(bytes, at).or_else(|| values::option(bytes, at, program)),
            b';' | b'|' | b'&' | b'\n' => {
                program = Program::Other;
                None
            }
            b'A'..=b'Z' | b'a'..=b'z' if starts_word(bytes, at) => {
                if let Some(known) = names::program(bytes, at) {
                    program = known;
                }
                shapes::token(bytes, at)
            }
            _ => None,
        };
        let Some(hit) = hit else {
            at += 1;
            continue;
        };
        out.push_str(text.get(kept..hit.start).unwrap_or_default());
        if hit.kind == SHORTENED {
            out.push('…');
        } else {
            out.push_str("[redacted:");
            out.push_str(hit.kind);
            out.push(']');
        }
        kept = hit.end;
        at = hit.end.max(at + 1);
    }
    while at < bytes.len() && !text.is_char_boundary(at) {
        at += 1;
    }
    if out.is_empty() {
        return Cow::Borrowed(text.get(..at).unwrap_or(text));
    }
    out.push_str(text.get(kept..at).unwrap_or_default());
    Cow::Owned(out)
}

/// Whether nothing that belongs to a word stands before `at`. The letter of an escape (`\n`) belongs to none.
fn starts_word(bytes: &[u8], at: usize) -> bool {
    let before = |back: usize| at.checked_sub(back).and_then(|at| bytes.get(at)).copied();
    match before(1) {
        Some(b'n' | b't' | b'r') => before(2) == Some(b'\\'),
        Some(byte) => !(byte.is_ascii_alphanumeric() || byte == b'_'),
        None => true,
    }
}

/// The bytes from `at` on.
fn tail(bytes: &[u8], at: usize) -> &[u8] {
    bytes.get(at..).unwrap_or_default()
}

/// Where the run of bytes that `belongs` accepts ends.
fn run(bytes: &[u8], at: usize, belongs: impl Fn(u8) -> bool) -> usize {
    at + tail(bytes, at).iter().take_while(|byte| belongs(**byte)).count()
}

fn starts_with_ignoring_case(bytes: &[u8], word: &[u8]) -> bool {
    bytes.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests;
