//! Personal data taken out of text: mail addresses, phone numbers, card numbers, and the name of a home directory. One pass.

use crate::domain::last_name;
use std::borrow::Cow;

use super::{Hit, run, tail};

/// Digits of a card number.
const CARD: std::ops::RangeInclusive<usize> = 13..=19;
/// Digits of a phone number in international form (E.164), and of one with a leading zero.
const PHONE: std::ops::RangeInclusive<usize> = 8..=15;
/// Longest number with what stands between its digits.
const LONGEST: usize = 40;
/// Longest part of a mail address in front of the `@` (RFC 5321).
const LOCAL: usize = 64;

/// `text` with personal data replaced by `[masked:kind]`. `home` is the person's home directory: its last name is taken out
/// wherever it is a whole word.
pub fn mask<'t>(text: &'t str, home: Option<&str>) -> Cow<'t, str> {
    let bytes = text.as_bytes();
    let name = home.and_then(name_of);
    let mut out = String::new();
    let (mut at, mut kept) = (0, 0);
    while let Some(byte) = bytes.get(at) {
        let hit = match byte {
            b'@' => mail(bytes, at, kept),
            b'0'..=b'9' | b'+' | b'(' => number(bytes, at),
            _ => None,
        };
        let Some(hit) = hit.or_else(|| named(bytes, at, name, kept)) else {
            at += 1;
            continue;
        };
        out.push_str(text.get(kept..hit.start).unwrap_or_default());
        out.push_str("[masked:");
        out.push_str(hit.kind);
        out.push(']');
        kept = hit.end;
        at = hit.end.max(at + 1);
    }
    if out.is_empty() {
        return Cow::Borrowed(text);
    }
    out.push_str(text.get(kept..).unwrap_or_default());
    Cow::Owned(out)
}

/// The person's name in the path of a home directory; `/root` says nothing of a person.
fn name_of(home: &str) -> Option<&[u8]> {
    let name = last_name(home.trim_end_matches('/'));
    (name.len() > 1 && name != "root").then_some(name.as_bytes())
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn before(bytes: &[u8], at: usize) -> Option<u8> {
    at.checked_sub(1).and_then(|at| bytes.get(at)).copied()
}

/// The person's name at `at`, or the mail address that it is part of.
fn named(bytes: &[u8], at: usize, name: Option<&[u8]>, kept: usize) -> Option<Hit> {
    let name = name?;
    let end = at + name.len();
    let whole = !before(bytes, at).is_some_and(is_word) && !bytes.get(end).copied().is_some_and(is_word);
    if !tail(bytes, at).starts_with(name) || !whole {
        return None;
    }
    let sign = end + tail(bytes, end).iter().take(LOCAL).take_while(|byte| is_local(**byte)).count();
    let address = if bytes.get(sign) == Some(&b'@') { mail(bytes, sign, kept) } else { None };
    Some(address.filter(|hit| hit.start <= at).unwrap_or(Hit { start: at, end, kind: "home" }))
}

/// What the part of a mail address before the `@` is made of.
fn is_local(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b'+' | b'%') || byte >= 0x80
}

/// The address around the `@` at `at`; nothing before `kept` is looked at again.
fn mail(bytes: &[u8], at: usize, kept: usize) -> Option<Hit> {
    let front = bytes.get(kept..at)?.iter().rev().take(LOCAL).take_while(|byte| is_local(**byte)).count();
    let end = run(bytes, at + 1, |byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-') || byte >= 0x80
    });
    let host = tail(bytes, at + 1).get(..end - at - 1)?;
    let dots = host.iter().rev().take_while(|byte| matches!(byte, b'.' | b'-')).count();
    let host = host.get(..host.len() - dots)?;
    // A name with a dot in it that ends in letters: `user@host` alone and `pkg@1.2.3` are none.
    let last = host.rsplit(|byte| *byte == b'.').next()?;
    let named = host.contains(&b'.') && last.len() > 1 && !last.iter().any(u8::is_ascii_digit);
    // Where `git@` begins a place, it is nobody's.
    let git = bytes.get(at - front..at)? == b"git";
    (front > 0 && named && !git).then_some(Hit { start: at - front, end: end - dots, kind: "mail" })
}

/// The card or phone number that begins at `at`.
fn number(bytes: &[u8], at: usize) -> Option<Hit> {
    // Inside a word, a path, a version or another number none begins.
    if before(bytes, at)
        .is_some_and(|byte| is_word(byte) || matches!(byte, b'.' | b'-' | b'+' | b'/' | b'@' | b'#'))
    {
        return None;
    }
    let (digits, groups) = groups(bytes, at);
    let first = bytes.get(at).copied();
    // As many groups as make a number; what follows it may be another one.
    (1..=groups.len()).rev().find_map(|count| {
        let groups = groups.get(..count)?;
        let lengths: Vec<usize> = groups.iter().map(|(length, _)| *length).collect();
        let digits = digits.get(..lengths.iter().sum())?;
        let end = groups.last()?.1;
        let next = |place: usize| bytes.get(place).copied();
        let time = next(end) == Some(b':') && next(end + 1).is_some_and(|byte| byte.is_ascii_digit());
        if time || next(end).is_some_and(is_word) {
            return None;
        }
        let card = CARD.contains(&digits.len()) && first != Some(b'+') && is_card(&lengths) && luhn(digits);
        let phone = PHONE.contains(&digits.len()) && is_phone(first, digits, &lengths);
        let kind = if card { "card" } else { "phone" };
        (card || phone).then_some(Hit { start: at, end, kind })
    })
}

/// The digits from `at` on, and each of their groups: how long it is, and where it ends.
fn groups(bytes: &[u8], at: usize) -> (Vec<u8>, Vec<(usize, usize)>) {
    let (mut digits, mut groups) = (Vec::new(), Vec::<(usize, usize)>::new());
    for (place, byte) in bytes.iter().copied().enumerate().skip(at).take(LONGEST) {
        match byte {
            b'0'..=b'9' => {
                digits.push(byte - b'0');
                match groups.last_mut().filter(|(_, end)| *end == place) {
                    Some((length, end)) => (*length, *end) = (*length + 1, place + 1),
                    None => groups.push((1, place + 1)),
                }
            }
            b'+' | b'(' if place == at => {}
            b' ' | b'-' if before(bytes, place).is_some_and(joins) => {}
            b'(' | b')' | b'/' | b'.' if digits.len() < 8 => {}
            _ => break,
        }
    }
    (digits, groups)
}

/// Only one blank or dash, or one behind a bracket, joins two groups of digits.
fn joins(byte: u8) -> bool {
    byte.is_ascii_digit() || byte == b')'
}

/// How cards are written: in one, or in the groups that are printed on them.
fn is_card(groups: &[usize]) -> bool {
    matches!(groups, [_] | [4, 4, 4, 4] | [4, 4, 4, 4, 3] | [4, 6, 5])
}

/// With a plus in front; or in groups, with a zero in front or as in North America. A bare number, a date and a time are none.
fn is_phone(first: Option<u8>, digits: &[u8], groups: &[usize]) -> bool {
    match first {
        Some(b'+') => digits.first() != Some(&0),
        Some(b'0') => groups.len() > 1 && digits.len() >= 10,
        Some(_) => groups == [3, 3, 4] && digits.first() > Some(&1),
        None => false,
    }
}

/// The check digit of card numbers.
fn luhn(digits: &[u8]) -> bool {
    let doubled = |digit: u8| if digit > 4 { digit * 2 - 9 } else { digit * 2 };
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(place, digit)| u32::from(if place % 2 == 1 { doubled(*digit) } else { *digit }))
        .sum();
    sum.is_multiple_of(10) && digits.iter().any(|digit| *digit != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOME: Option<&str> = Some("/home/maria");

    #[test]
    fn personal_data_is_masked() {
        let cases = [
            ("git config user.email maria.lopez+x@mail.example.org", "git config user.email [masked:mail]"),
            ("mail <a@b.co>, thanks.", "mail <[masked:mail]>, thanks."),
            ("to a@b.example.", "to [masked:mail]."),
            ("pay 4111 1111 1111 1111 now", "pay [masked:card] now"),
            ("pay 4111-1111-1111-1111", "pay [masked:card]"),
            ("card=378282246310005", "card=[masked:card]"),
            ("call +49 30 1234567", "call [masked:phone]"),
            ("call +4915112345678.", "call [masked:phone]."),
            ("call (212) 555-0173 today", "call [masked:phone] today"),
            ("call 212-555-0173", "call [masked:phone]"),
            ("call 030 1234 5678", "call [masked:phone]"),
            ("212-555-0173 5 times", "[masked:phone] 5 times"),
            ("4111 1111 1111 1111 12/30", "[masked:card] 12/30"),
            ("x.maria@mail.example.org", "[masked:mail]"),
            ("cat /home/maria/notes.txt", "cat /home/[masked:home]/notes.txt"),
            ("ls ~maria; id maria", "ls ~[masked:home]; id [masked:home]"),
            ("/Users/maria", "/Users/[masked:home]"),
        ];
        for (text, masked) in cases {
            assert_eq!(mask(text, HOME), masked, "{text}");
        }
    }

    #[test]
    fn ordinary_text_stays_as_it_is() {
        let cases = [
            "npm install left-pad@1.3.0",
            "git clone git@code.example.org:team/app.git",
            "ssh deploy@build",
            "date 2026-11-21T23:15:00Z 2026-11-21 23:15:00",
            "from 2026-11-21 2026-11-22 to 01-02-2026 03:04",
            "sleep 1763700000000; kill 123456789",
            "curl http://127.0.0.1:8080/a/10.0.0.1",
            "sha 4111111111111112 deadbeef00112233",
            "seq 1 10000000000000000000000000",
            "id 0193a2f4-7c1e-7000-8000-123456789012",
            "rustc 1.95.0 (59807616e 2026-04-14)",
            "chmod 0644 a; mask 0000000000000000",
            "mariachi /home/mariana amaria maria_x",
            "python -m http.server 8000 -- 1 2 3",
            "@scope/pkg a@ @b.org",
        ];
        for text in cases {
            assert_eq!(mask(text, HOME), text);
        }
        assert_eq!(mask("/root and /home/maria", Some("/root")), "/root and /home/maria");
        assert_eq!(mask("/home/maria", None), "/home/maria");
    }

    #[test]
    fn a_long_text_of_hostile_shape_is_looked_at_once() {
        for unit in ["(", "@", "a.", "1/", "+", "0(", "maria@"] {
            let text = unit.repeat(400_000 / unit.len());
            assert!(!mask(&text, None).contains("[masked:"), "{unit}");
        }
    }
}
