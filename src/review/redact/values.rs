//! Values that are secrets because of the name in front of them.

use super::names::{self, MAX_NAME, Program};
use super::{Hit, run, starts_with_ignoring_case, tail};

const KIND: &str = "secret";
/// How far a value is looked at to find that it is none; what is longer is taken for a secret.
const MAX_LOOK: usize = 64;
/// Longest quoted part inside a word.
const MAX_QUOTED: usize = 256;
/// Blanks that may stand between a name, its sign and its value.
const MAX_BLANKS: usize = 4;

/// `NAME=value`, with the `=` at `at`.
pub(super) fn assigned(bytes: &[u8], at: usize) -> Option<Hit> {
    // Not a comparison.
    if byte_at(bytes, at + 1) == Some(b'=') || matches!(before(bytes, at), Some(b'=' | b'!' | b'<' | b'>')) {
        return None;
    }
    let sign = if before(bytes, at) == Some(b':') { at - 1 } else { at };
    let name_end = back_over_blanks(bytes, sign);
    let name = name_before(bytes, name_end)?;
    if !names::is_secret(name) {
        return None;
    }
    let value = over_blanks(bytes, at + 1);
    // Without blanks it is an assignment; with them it may be prose or code.
    let close = name_end == sign && value == at + 1;
    secret_value(bytes, value, name, close)
}

/// `"name": "value"`, `name: value` and headers, with the `:` at `at`.
pub(super) fn named(bytes: &[u8], at: usize) -> Option<Hit> {
    let name_end = back_over_blanks(bytes, at);
    let quoted = matches!(before(bytes, name_end), Some(b'"' | b'\''));
    let name_end = if quoted { back_over_escapes(bytes, name_end - 1) } else { name_end };
    let name = name_before(bytes, name_end)?;
    let value = over_blanks(bytes, at + 1);
    if names::is_header(name) {
        return header(bytes, value);
    }
    if !names::is_secret(name) || value == at + 1 && !quoted && !is_quote(bytes, value) {
        return None;
    }
    if quoted && !is_quote(bytes, value) {
        return None;
    }
    secret_value(bytes, value, name, false)
}

/// `scheme://user:password@host`, with the `:` at `at`.
pub(super) fn in_url(bytes: &[u8], at: usize) -> Option<Hit> {
    let start = at + b"://".len();
    if !tail(bytes, at).starts_with(b"://") {
        return None;
    }
    let end = run(bytes, start, |byte| {
        !byte.is_ascii_whitespace()
            && !matches!(byte, b'/' | b'?' | b'#' | b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\')
    });
    let authority = tail(bytes, start).get(..end - start).filter(|text| !is_reference(text))?;
    let host = authority.iter().rposition(|byte| *byte == b'@')?;
    let colon = authority.get(..host)?.iter().position(|byte| *byte == b':')?;
    let password = authority.get(colon + 1..host)?;
    let known = !password.is_empty() && !is_reference(password);
    known.then_some(Hit { start: start + colon + 1, end: start + host, kind: "url-password" })
}

/// `--name value` and the short options of `program`, with the first `-` at `at`.
pub(super) fn option(bytes: &[u8], at: usize, program: Program) -> Option<Hit> {
    if before(bytes, at)
        .is_some_and(|byte| !byte.is_ascii_whitespace() && !matches!(byte, b'"' | b'\'' | b','))
    {
        return None;
    }
    if byte_at(bytes, at + 1) == Some(b'-') {
        return long_option(bytes, at, program);
    }
    let value = over_blanks(bytes, at + 2);
    let apart = value > at + 2;
    match (byte_at(bytes, at + 1)?, program) {
        (b'p', Program::Sshpass) => secret_value(bytes, value, b"-p", true),
        (b'p', Program::Login) | (b'a', Program::Redis) if apart => secret_value(bytes, value, b"-p", true),
        (b'p', Program::Mysql) if !apart => secret_value(bytes, value, b"-p", true),
        (b'u', Program::Curl) => after_colon(bytes, value),
        _ => None,
    }
}

fn long_option(bytes: &[u8], at: usize, program: Program) -> Option<Hit> {
    let start = at + 2;
    let end = run(bytes, start, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'));
    let name = tail(bytes, start).get(..end - start)?;
    let value = over_blanks(bytes, end);
    if value == end || name.len() > MAX_NAME {
        return None;
    }
    if program == Program::Curl && (name == b"user" || name == b"proxy-user") {
        return after_colon(bytes, value);
    }
    if !names::is_secret(name) || byte_at(bytes, value) == Some(b'-') || is_prose(tail(bytes, value)) {
        return None;
    }
    secret_value(bytes, value, name, true)
}

/// The part of `user:password` after the colon.
fn after_colon(bytes: &[u8], value: usize) -> Option<Hit> {
    let hit = secret_value(bytes, value, b"-u", true)?;
    let colon = tail(bytes, hit.start).iter().take(hit.end - hit.start).position(|byte| *byte == b':')?;
    let start = hit.start + colon + 1;
    (start < hit.end && !is_reference(tail(bytes, start))).then_some(Hit { start, ..hit })
}

/// The value at `at`, unless it is empty, a reference to a secret kept elsewhere, or plainly none. `close` when the place
/// alone makes it a secret; otherwise it must look like one, or be quoted.
fn secret_value(bytes: &[u8], at: usize, name: &[u8], close: bool) -> Option<Hit> {
    let open = run(bytes, at, |byte| byte == b'\\');
    let single = byte_at(bytes, open) == Some(b'\'');
    let first = if is_quote(bytes, at) { open + 1 } else { at };
    if is_reference(tail(bytes, first)) && !single {
        return None;
    }
    let (start, end) = match byte_at(bytes, open) {
        Some(quote @ (b'"' | b'\'' | b'`')) => {
            let end = quoted_end(bytes, open + 1, quote, open > at);
            (open + 1, if close { concatenated_end(bytes, end) } else { end })
        }
        _ => (at, word_end(bytes, at)),
    };
    let value = tail(bytes, start).get(..end.checked_sub(start)?)?;
    let bare = start == at;
    if value.is_empty() || value.eq_ignore_ascii_case(name) || is_none(value) {
        return None;
    }
    // A call, a lookup: the secret is not in this text.
    let called = byte_at(bytes, end) == Some(b'(') || is_lookup(value);
    if bare && value.len() <= MAX_LOOK && called {
        return None;
    }
    if bare && !close && !looks_random(value) {
        return None;
    }
    Some(Hit { start, end, kind: KIND })
}

/// A header's value: to the end of the line or of the quotes around it.
fn header(bytes: &[u8], at: usize) -> Option<Hit> {
    const SCHEMES: [&[u8]; 8] =
        [b"bearer ", b"basic ", b"token ", b"digest ", b"negotiate ", b"apikey ", b"key ", b"aws4-"];
    let start = run(bytes, run(bytes, at, |byte| byte == b'\\'), |byte| matches!(byte, b'"' | b'\''));
    let value = tail(bytes, start);
    let within = |byte: &u8| !matches!(byte, b'\n' | b'\r' | b'"' | b'\'' | b'\\' | b'`');
    let look = value.iter().take(MAX_LOOK).take_while(|byte| within(byte));
    if look.clone().any(|byte| *byte == b'$') {
        return None;
    }
    let scheme = SCHEMES.iter().any(|scheme| starts_with_ignoring_case(value, scheme));
    let word = look.clone().take(16).take_while(|byte| byte.is_ascii_graphic()).count();
    let pair = look.clone().any(|byte| *byte == b'=');
    if look.count() == 0 || !(scheme || word == 16 || pair) {
        return None;
    }
    Some(Hit { start, end: run(bytes, start, |byte| within(&byte)), kind: "header" })
}

/// Where the quotes that were opened before `at` are closed; the end of the text when they are not. `escaped`: the
/// quotes are written with a backslash themselves, as in JSON inside JSON.
fn quoted_end(bytes: &[u8], at: usize, quote: u8, escaped: bool) -> usize {
    let mut end = at;
    while let Some(byte) = byte_at(bytes, end) {
        if byte == quote || (escaped && byte == b'\\' && byte_at(bytes, end + 1) == Some(quote)) {
            break;
        }
        end += if byte == b'\\' && quote != b'\'' { 2 } else { 1 };
    }
    end.min(bytes.len())
}

/// What follows a closing quote without a blank belongs to the same word.
fn concatenated_end(bytes: &[u8], quote: usize) -> usize {
    match byte_at(bytes, quote + 1) {
        Some(byte) if byte.is_ascii_alphanumeric() || matches!(byte, b'"' | b'\'' | b'$') => {
            word_end(bytes, quote + 1)
        }
        _ => quote,
    }
}

/// Where the shell word at `at` ends.
fn word_end(bytes: &[u8], at: usize) -> usize {
    let mut end = at;
    while let Some(byte) = byte_at(bytes, end) {
        match byte {
            b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')' | b'`' => break,
            byte if byte.is_ascii_whitespace() => break,
            b'\\' if matches!(byte_at(bytes, end + 1), Some(b'n' | b'r' | b't' | b'"')) => break,
            b'\\' => end += 2,
            b'"' | b'\'' if ends_word(byte_at(bytes, end + 1)) => break,
            b'"' | b'\'' => end += quoted_part(tail(bytes, end)),
            _ => end += 1,
        }
    }
    let end = end.min(bytes.len());
    let found = tail(bytes, at).get(..end - at).unwrap_or_default();
    end - found.iter().rev().take_while(|byte| matches!(byte, b',' | b']' | b'}' | b'.')).count()
}

/// The length of the quoted part of a word that starts here; of the quote alone when nothing near closes it.
fn quoted_part(bytes: &[u8]) -> usize {
    let rest = bytes.iter().skip(1).take(MAX_QUOTED);
    let inside = rest.take_while(|byte| **byte != b'\n' && Some(*byte) != bytes.first()).count();
    if bytes.get(inside + 1) == bytes.first() { inside + 2 } else { 1 }
}

fn ends_word(byte: Option<u8>) -> bool {
    byte.is_none_or(|byte| !(byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'"' | b'\'' | b'$')))
}

/// The name that ends before `end`.
fn name_before(bytes: &[u8], end: usize) -> Option<&[u8]> {
    let before = bytes.get(end.saturating_sub(MAX_NAME)..end)?;
    let belongs = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let length = before.iter().rev().take_while(|byte| belongs(byte)).count();
    before.get(before.len() - length..).filter(|name| !name.is_empty())
}

/// A variable, a substitution, a place to be filled in: `$X`, `${X}`, `<token>`, `{{ x }}`, `***`.
fn is_reference(value: &[u8]) -> bool {
    value.starts_with(b"$")
        || value.starts_with(b"<")
        || value.starts_with(b"{{")
        || value.starts_with(b"***")
        || value.starts_with(b"[redacted:")
}

fn is_none(value: &[u8]) -> bool {
    const NONE: [&[u8]; 8] = [b"null", b"none", b"nil", b"true", b"false", b"undefined", b"yes", b"no"];
    NONE.iter().any(|none| value.eq_ignore_ascii_case(none))
}

fn is_lookup(value: &[u8]) -> bool {
    const LOOKUPS: [&[u8]; 7] =
        [b"os.environ", b"process.env", b"env.", b"self.", b"this.", b"args.", b"config."];
    LOOKUPS.iter().any(|lookup| value.starts_with(lookup))
}

/// Whether a word after an option belongs to a sentence about that option.
fn is_prose(value: &[u8]) -> bool {
    const WORDS: [&[u8]; 14] = [
        b"to", b"for", b"is", b"in", b"and", b"or", b"with", b"from", b"as", b"the", b"a", b"that", b"flag",
        b"option",
    ];
    let length = value.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let whole = value.get(length).is_none_or(|byte| matches!(byte, b' ' | b'.' | b',' | b'\n'));
    whole && WORDS.iter().any(|word| value.get(..length) == Some(word))
}

/// At least eight bytes with letters and digits among them.
fn looks_random(value: &[u8]) -> bool {
    value.len() >= 8 && value.iter().any(u8::is_ascii_digit) && value.iter().any(u8::is_ascii_alphabetic)
}

fn is_quote(bytes: &[u8], at: usize) -> bool {
    let at = run(bytes, at, |byte| byte == b'\\');
    matches!(byte_at(bytes, at), Some(b'"' | b'\'' | b'`'))
}

fn byte_at(bytes: &[u8], at: usize) -> Option<u8> {
    bytes.get(at).copied()
}

fn before(bytes: &[u8], at: usize) -> Option<u8> {
    at.checked_sub(1).and_then(|at| byte_at(bytes, at))
}

fn over_blanks(bytes: &[u8], at: usize) -> usize {
    at + tail(bytes, at).iter().take(MAX_BLANKS).take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

fn back_over_blanks(bytes: &[u8], at: usize) -> usize {
    let before = bytes.get(..at).unwrap_or_default();
    at - before.iter().rev().take(MAX_BLANKS).take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

fn back_over_escapes(bytes: &[u8], at: usize) -> usize {
    let before = bytes.get(..at).unwrap_or_default();
    at - before.iter().rev().take(MAX_BLANKS).take_while(|byte| **byte == b'\\').count()
}
