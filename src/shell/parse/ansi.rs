//! The escapes of `$'…'`.

/// The text that the inside of `$'…'` stands for.
pub(in crate::shell) fn decode(inside: &str) -> String {
    let mut out: Vec<u8> = Vec::with_capacity(inside.len());
    let mut bytes = inside.as_bytes();
    while let Some((first, rest)) = bytes.split_first() {
        bytes = rest;
        if *first != b'\\' {
            out.push(*first);
            continue;
        }
        let Some((letter, after)) = bytes.split_first() else {
            out.push(b'\\');
            break;
        };
        bytes = after;
        match escape(*letter, &mut bytes) {
            // bash ends the string at a NUL.
            Some(Code::Byte(0)) => break,
            Some(Code::Byte(byte)) => out.push(byte),
            Some(Code::Char(value)) => push_char(&mut out, value),
            None => out.extend([b'\\', *letter]),
        }
    }
    String::from_utf8(out).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

enum Code {
    Byte(u8),
    Char(u32),
}

/// What `\letter` stands for; digits and the like are taken from `rest`.
fn escape(letter: u8, rest: &mut &[u8]) -> Option<Code> {
    Some(Code::Byte(match letter {
        b'a' => 7,
        b'b' => 8,
        b'e' | b'E' => 27,
        b'f' => 12,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 11,
        b'\\' | b'\'' | b'"' | b'?' => letter,
        b'0'..=b'7' => {
            let (more, digits) = number(rest, 8, 2);
            low_byte((u32::from(letter - b'0') << (3 * digits)) | more)
        }
        b'x' => return hexadecimal(rest),
        b'u' | b'U' => {
            let most = if letter == b'u' { 4 } else { 8 };
            let (value, digits) = number(rest, 16, most);
            return (digits > 0).then_some(Code::Char(value));
        }
        b'c' => {
            let (control, left) = rest.split_first()?;
            let escaped = *control == b'\\' && left.first() == Some(&b'\\');
            *rest = left.get(usize::from(escaped)..).unwrap_or_default();
            control.to_ascii_uppercase() & 0x1f
        }
        _ => return None,
    }))
}

fn hexadecimal(rest: &mut &[u8]) -> Option<Code> {
    if let Some((b'{', inner)) = rest.split_first() {
        let mut inner = inner;
        let (value, digits) = number(&mut inner, 16, usize::MAX);
        if digits > 0 {
            if let Some((b'}', left)) = inner.split_first() {
                inner = left;
            }
            *rest = inner;
            return Some(Code::Byte(low_byte(value)));
        }
        return None;
    }
    let (value, digits) = number(rest, 16, 2);
    (digits > 0).then(|| Code::Byte(low_byte(value)))
}

fn low_byte(value: u32) -> u8 {
    u8::try_from(value & 0xff).unwrap_or_default()
}

/// Takes up to `most` digits: their value, and how many they were.
fn number(rest: &mut &[u8], radix: u32, most: usize) -> (u32, usize) {
    let (mut value, mut digits) = (0u32, 0usize);
    while digits < most {
        let Some(digit) = rest.first().and_then(|byte| char::from(*byte).to_digit(radix)) else { break };
        value = value.wrapping_mul(radix).wrapping_add(digit);
        digits += 1;
        *rest = rest.get(1..).unwrap_or_default();
    }
    (value, digits)
}

fn push_char(out: &mut Vec<u8>, value: u32) {
    match char::from_u32(value) {
        Some(char) => out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes()),
        None => out.extend_from_slice("\u{fffd}".as_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn escapes_become_what_bash_makes_of_them() {
        for (inside, wanted) in [
            (r"\x72\x6d", "rm"),
            (r"\162\155", "rm"),
            (r"\1621", "r1"),
            (r"a\'b\\c\qd", r"a'b\c\qd"),
            (r"\u0041\U00000042\u43x", "ABCx"),
            (r"\xc3\xa9", "é"),
            (r"\x{72}m", "rm"),
            (r"\x\u", r"\x\u"),
            (r"\cA\c[\e", "\x01\x1b\x1b"),
            (r"a\0b", "a"),
            (r"\x00b", ""),
            ("a\\", "a\\"),
            (r"\t\n", "\t\n"),
        ] {
            assert_eq!(decode(inside), wanted, "{inside}");
        }
    }
}
