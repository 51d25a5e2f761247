//! The one spelling of a reference: `typed://PATH?hmac=HEX&ts=SECONDS&sid=UUID`.

use super::{MAX_PATH, Reference, TAG, check_path};
use crate::domain::ReviewId;

pub(super) const SCHEME: &str = "typed://";
/// Longest spelling, in bytes: every byte of the longest path escaped, and what stands around it.
const MAX_TEXT: usize = SCHEME.len() + 3 * MAX_PATH + "?hmac=&ts=&sid=".len() + 2 * TAG + 20 + ReviewId::LEN;
const HEX: &[u8; 16] = b"0123456789abcdef";

/// What is wrong with the spelling of a reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Malformed {
    /// It does not begin with `typed://`, in exactly these letters.
    Scheme,
    TooLong,
    /// The path is not absolute and normal.
    Path,
    /// A byte of the path that must be escaped is not, or the other way round.
    Escape,
    /// `hmac=` with 64 lower-case hexadecimal digits does not follow the path.
    Tag,
    /// `ts=` with a plain number does not follow the signature.
    Timestamp,
    /// `sid=` with a session's id does not end the text.
    Session,
    /// Something that looks like a reference, but was changed: its letters, its slashes, its place.
    Altered,
}

impl Malformed {
    /// The code shown to the agent and written to the audit log.
    pub const fn code(self) -> &'static str {
        "INVALID_TYPED_REFERENCE"
    }

    pub const fn message(self) -> &'static str {
        match self {
            Malformed::Scheme => "the reference does not begin with `typed://`",
            Malformed::TooLong => "the reference is too long",
            Malformed::Path => "the path in the reference is not absolute and normal",
            Malformed::Escape => "the path in the reference is not escaped as it was given out",
            Malformed::Tag => "the signature in the reference is not 64 lower-case hexadecimal digits",
            Malformed::Timestamp => "the time in the reference is not a plain number",
            Malformed::Session => "the session in the reference is not a session id",
            Malformed::Altered => {
                "this looks like a reference, but not as it was given out; use it exactly as it stands"
            }
        }
    }
}

pub(super) fn write(reference: &Reference) -> String {
    let mut out = String::with_capacity(SCHEME.len() + reference.path.len() * 2 + 160);
    out.push_str(SCHEME);
    for byte in &reference.path {
        if is_plain(*byte) {
            out.push(char::from(*byte));
        } else {
            out.push('%');
            push_hex(&mut out, *byte, true);
        }
    }
    out.push_str("?hmac=");
    for byte in reference.tag {
        push_hex(&mut out, byte, false);
    }
    out.push_str("&ts=");
    out.push_str(&reference.minted.to_string());
    out.push_str("&sid=");
    out.push_str(reference.session.as_str());
    out
}

pub(super) fn parse(text: &str) -> Result<Reference, Malformed> {
    if text.len() > MAX_TEXT {
        return Err(Malformed::TooLong);
    }
    let rest = text.strip_prefix(SCHEME).ok_or(Malformed::Scheme)?;
    let (path, rest) = rest.split_once("?hmac=").ok_or(Malformed::Tag)?;
    let (tag, rest) = rest.split_once("&ts=").ok_or(Malformed::Tag)?;
    let (minted, session) = rest.split_once("&sid=").ok_or(Malformed::Timestamp)?;
    let path = unescape(path)?;
    check_path(&path).map_err(|_| Malformed::Path)?;
    let reference = Reference {
        path,
        tag: parse_tag(tag).ok_or(Malformed::Tag)?,
        minted: parse_seconds(minted).ok_or(Malformed::Timestamp)?,
        session: ReviewId::parse(session).ok_or(Malformed::Session)?,
    };
    // Whatever the parts let through: a reference has one spelling.
    if write(&reference) == text { Ok(reference) } else { Err(Malformed::Altered) }
}

/// What stands in a path as it is (RFC 3986, unreserved).
const fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'~' | b'-')
}

fn push_hex(out: &mut String, byte: u8, upper: bool) {
    for digit in [byte >> 4, byte & 15] {
        let digit = HEX.get(usize::from(digit)).copied().unwrap_or(b'0');
        out.push(char::from(if upper { digit.to_ascii_uppercase() } else { digit }));
    }
}

fn unescape(text: &str) -> Result<Vec<u8>, Malformed> {
    let mut path = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            if !is_plain(byte) {
                return Err(Malformed::Escape);
            }
            path.push(byte);
            continue;
        }
        let mut digit = || bytes.next().and_then(|byte| value(byte.to_ascii_lowercase()));
        let (Some(high), Some(low)) = (digit(), digit()) else { return Err(Malformed::Escape) };
        let escaped = high << 4 | low;
        if is_plain(escaped) {
            return Err(Malformed::Escape);
        }
        path.push(escaped);
    }
    Ok(path)
}

/// The value of a lower-case hexadecimal digit.
const fn value(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

fn parse_tag(text: &str) -> Option<[u8; TAG]> {
    if text.len() != 2 * TAG {
        return None;
    }
    let mut tag = [0; TAG];
    let mut digits = text.bytes();
    for byte in &mut tag {
        *byte = value(digits.next()?)? << 4 | value(digits.next()?)?;
    }
    Some(tag)
}

fn parse_seconds(text: &str) -> Option<u64> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    if plain { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SID: &str = "3f2b8c1e-9d4a-4e6f-8a7b-0c1d2e3f4a5b";

    fn text(path: &str, tag: &str, ts: &str, sid: &str) -> String {
        format!("typed://{path}?hmac={tag}&ts={ts}&sid={sid}")
    }

    #[test]
    fn the_canonical_spelling_is_read_and_written_back() {
        let tag = "0123456789abcdef".repeat(4);
        for (path, bytes) in [
            ("%2Fa%20b", &b"/a b"[..]),
            ("%2Fa%3Fhmac%3D%26ts%3D", b"/a?hmac=&ts="),
            ("%2F%FF%0A%25", b"/\xff\n%"),
            ("%2F", b"/"),
        ] {
            let text = text(path, &tag, "18446744073709551615", SID);
            let reference = parse(&text).unwrap();
            assert_eq!(reference.path(), bytes);
            assert_eq!(reference.to_string(), text);
        }
    }

    #[test]
    fn each_other_spelling_is_malformed() {
        let tag = "0123456789abcdef".repeat(4);
        let good = text("%2Fa", &tag, "1", SID);
        assert!(parse(&good).is_ok());
        for (text, why) in [
            (good.replace("typed", "Typed"), Malformed::Scheme),
            (good.replace("typed://", "typed:/"), Malformed::Scheme),
            (format!(" {good}"), Malformed::Scheme),
            (format!("{good} "), Malformed::Session),
            (format!("{good}#x"), Malformed::Session),
            (format!("{good}&x=1"), Malformed::Session),
            (good.replace("%2Fa", "/a"), Malformed::Escape),
            (good.replace("%2Fa", "%2fa"), Malformed::Altered),
            (good.replace("%2Fa", "%2F%61"), Malformed::Escape),
            (good.replace("%2Fa", "%2Fé"), Malformed::Escape),
            (good.replace("%2Fa", "%2F%"), Malformed::Escape),
            (good.replace("%2Fa", "%2F%2"), Malformed::Escape),
            (good.replace("%2Fa", "a"), Malformed::Path),
            (good.replace("%2Fa", ""), Malformed::Path),
            (good.replace("%2Fa", "%2Fa%2F..%2Fb"), Malformed::Path),
            (good.replace("%2Fa", "%2Fa%00"), Malformed::Path),
            (good.replace(&tag, &tag.to_uppercase()), Malformed::Tag),
            (good.replace(&tag, tag.trim_start_matches('0')), Malformed::Tag),
            (good.replace("?hmac=", "?HMAC="), Malformed::Tag),
            (good.replace("ts=1", "ts=01"), Malformed::Timestamp),
            (good.replace("ts=1", "ts=+1"), Malformed::Timestamp),
            (good.replace("ts=1", "ts="), Malformed::Timestamp),
            (good.replace("ts=1", "ts=18446744073709551616"), Malformed::Timestamp),
            (good.replace(SID, &SID.to_uppercase()), Malformed::Session),
            (good.replace("&sid", "&ts=2&sid"), Malformed::Timestamp),
            (text(&format!("%2F{}", "%FF".repeat(5000)), &tag, "1", SID), Malformed::TooLong),
        ] {
            assert_eq!(parse(&text), Err(why), "{}", text.chars().take(80).collect::<String>());
        }
    }
}
