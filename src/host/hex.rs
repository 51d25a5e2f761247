//! Bytes as hexadecimal digits in lower case.

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// Two digits for each byte.
pub(super) fn hex(bytes: &[u8]) -> String {
    digits(bytes).map(char::from).collect()
}

/// The same, one digit after the other.
pub(super) fn digits(bytes: &[u8]) -> impl Iterator<Item = u8> {
    let halves = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    halves.filter_map(|half| DIGITS.get(usize::from(half)).copied())
}

/// The bytes that were written so; none = it is anything else.
pub(super) fn bytes(text: &[u8]) -> Option<Vec<u8>> {
    let half =
        |digit: u8| DIGITS.iter().position(|known| *known == digit).and_then(|at| u8::try_from(at).ok());
    let (pairs, rest) = text.as_chunks::<2>();
    let bytes = pairs.iter().map(|[high, low]| Some(half(*high)? << 4 | half(*low)?)).collect();
    if rest.is_empty() { bytes } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_two_digits() {
        assert_eq!(hex(&[]), "");
        assert_eq!(hex(&[0, 9, 0x0a, 0xf0, 0xff]), "00090af0ff");
        assert_eq!(bytes(b"00090af0ff"), Some(vec![0, 9, 0x0a, 0xf0, 0xff]));
        for wrong in ["0", "0A", "0g", " 0"] {
            assert_eq!(bytes(wrong.as_bytes()), None, "{wrong}");
        }
    }
}
