//! Bytes as hexadecimal digits in lower case.

/// Two digits for each byte.
pub fn hex(bytes: &[u8]) -> String {
    digits(bytes).map(char::from).collect()
}

/// The same, one digit after the other.
pub(super) fn digits(bytes: &[u8]) -> impl Iterator<Item = u8> {
    bytes.iter().flat_map(|byte| [byte >> 4, byte & 15].map(digit))
}

fn digit(half: u8) -> u8 {
    half + if half < 10 { b'0' } else { b'a' - 10 }
}

/// The bytes that were written so; none = it is anything else.
pub(super) fn bytes(text: &[u8]) -> Option<Vec<u8>> {
    let half = |known: u8| (0..16).find(|half| digit(*half) == known);
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
