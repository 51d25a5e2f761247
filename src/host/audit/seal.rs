//! What ties a line to the one before it: the seal at its end, written and read. Touches no file.

use blake2::Blake2bMac;
use blake2::digest::consts::U32;
use blake2::digest::{KeyInit, Mac};
use subtle::ConstantTimeEq;
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::host::hex;

/// BLAKE2b with a key. A line is tagged on every call: without help of the processor, which to look for costs more than the rest of
/// the call, SHA-256 takes several times as many instructions, and BLAKE2 with a key of its own needs no HMAC around it.
type Tagger = Blake2bMac<U32>;

/// Bytes of a key, and of a tag.
pub(super) const SIZE: usize = 32;
/// Bytes of a tag that stand in the line. The rest stands nowhere but in the anchor, so that what a log shows does not suffice to
/// make an anchor for less of it.
pub(super) const SHOWN: usize = 16;
pub(super) const SEAL: &[u8] = b",\"seal\":\"";
const GAP: &[u8] = b",\"gap\":";

/// What only lazaret has.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub(super) struct Key {
    pub secret: [u8; SIZE],
    /// What lines call it: says nothing of the secret.
    pub name: u32,
}

/// A place in the chain: how many lines there are up to it, and the tag of the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Link {
    pub count: u64,
    pub tag: [u8; SIZE],
}

impl Link {
    /// The part of the tag that stands in the line.
    pub fn shown(&self) -> &[u8] {
        self.tag.get(..SHOWN).unwrap_or_default()
    }
}

/// A seal as it stands in a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seal {
    /// The key's name.
    pub key: u32,
    /// The line's number, from 1.
    pub count: u64,
    /// Bytes in front of the line that are no line and that the seal covers.
    pub gap: u64,
    /// Length of what the tag is made over.
    covered: usize,
    shown: Vec<u8>,
}

/// Ends a line that is `{…}` and a line feed with its seal, and says where the chain is then. `gap` is what stands between the
/// line before and this one and belongs to neither.
pub(super) fn close(line: &mut Vec<u8>, key: &Key, before: &Link, gap: &[u8]) -> Link {
    line.truncate(line.len().saturating_sub(b"}\n".len()));
    if !gap.is_empty() {
        line.extend_from_slice(GAP);
        line.extend_from_slice(gap.len().to_string().as_bytes());
    }
    let count = before.count.saturating_add(1);
    line.extend_from_slice(SEAL);
    line.extend(hex::digits(&key.name.to_be_bytes()));
    line.push(b'.');
    line.extend_from_slice(count.to_string().as_bytes());
    line.push(b'.');
    let link = Link { count, tag: tag(key, before, gap, line) };
    line.extend(hex::digits(link.shown()));
    line.extend_from_slice(b"\"}\n");
    link
}

/// Where the chain is after a line with its line feed: `None` = the line does not continue it.
pub(super) fn follow(key: &Key, before: &Link, gap: &[u8], line: &[u8], seal: &Seal) -> Option<Link> {
    let fits =
        seal.count == before.count.saturating_add(1) && usize::try_from(seal.gap).ok() == Some(gap.len());
    let link = Link { count: seal.count, tag: tag(key, before, gap, line.get(..seal.covered)?) };
    (fits && bool::from(link.shown().ct_eq(&seal.shown))).then_some(link)
}

/// The seal of a line with its line feed; one spelling, everything else is none.
pub(super) fn read(line: &[u8]) -> Option<Seal> {
    let rest = line.strip_suffix(b"\"}\n")?;
    let (covered, shown) = rest.split_at_checked(rest.len().checked_sub(2 * SHOWN)?)?;
    let (rest, count) = number(covered.strip_suffix(b".")?)?;
    let rest = rest.strip_suffix(b".")?;
    let (rest, name) = rest.split_at_checked(rest.len().checked_sub(8)?)?;
    let rest = rest.strip_suffix(SEAL)?;
    let gap = number(rest).and_then(|(rest, gap)| rest.ends_with(GAP).then_some(gap)).unwrap_or(0);
    let key = u32::from_be_bytes(hex::bytes(name)?.try_into().ok()?);
    Some(Seal { key, count, gap, covered: covered.len(), shown: hex::bytes(shown)? })
}

/// The place before the first line.
pub(super) fn begin(key: &Key) -> Link {
    Link { count: 0, tag: tag(key, &Link::default(), b"", b"lazaret audit: before the first line") }
}

/// The key's block has room for the tag of the line before: behind the secret it costs nothing, and a line tagged behind another
/// one is tagged with another key.
fn tag(key: &Key, before: &Link, gap: &[u8], line: &[u8]) -> [u8; SIZE] {
    let mut block = blake2::digest::Key::<Tagger>::default();
    for (to, from) in block.iter_mut().zip(key.secret.iter().chain(&before.tag)) {
        *to = *from;
    }
    let mut mac = Tagger::new(&block);
    block.as_mut_slice().zeroize();
    mac.update(gap);
    mac.update(line);
    mac.finalize().into_bytes().into()
}

/// The number that bytes end with, and what stands before it.
fn number(bytes: &[u8]) -> Option<(&[u8], u64)> {
    let digits = bytes.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let (rest, digits) = bytes.split_at_checked(bytes.len() - digits)?;
    // No zero in front: a number has one spelling.
    if digits.first() == Some(&b'0') && digits.len() > 1 {
        return None;
    }
    Some((rest, str::from_utf8(digits).ok()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> Key {
        Key { secret: [7; SIZE], name: 0x0102_ab00 }
    }

    #[test]
    fn a_line_continues_the_one_before_it_and_no_other() {
        let key = key();
        let begin = begin(&key);
        let mut line = b"{\"id\":\"a\"}\n".to_vec();
        let first = close(&mut line, &key, &begin, b"");
        let seal = read(&line).unwrap();
        assert_eq!((seal.key, seal.count, seal.gap), (key.name, 1, 0));
        assert_eq!(follow(&key, &begin, b"", &line, &seal), Some(first));
        assert_eq!(follow(&key, &first, b"", &line, &seal), None);
        assert_eq!(follow(&key, &begin, b"x", &line, &seal), None);
        assert_eq!(follow(&Key { secret: [8; SIZE], ..key.clone() }, &begin, b"", &line, &seal), None);
        assert!(serde_json::from_slice::<serde_json::Value>(&line).is_ok());
    }

    #[test]
    fn every_changed_byte_is_seen() {
        let key = key();
        let begin = begin(&key);
        let mut line = b"{\"id\":\"a\",\"action\":\"ls\"}\n".to_vec();
        let _ = close(&mut line, &key, &begin, b"torn\n");
        let whole = read(&line).unwrap();
        assert_eq!(whole.gap, 5);
        assert!(follow(&key, &begin, b"torn\n", &line, &whole).is_some());
        assert!(follow(&key, &begin, b"tore\n", &line, &whole).is_none());
        for at in 0..line.len() {
            for flip in [1, 32, 128] {
                let mut changed = line.clone();
                changed[at] ^= flip;
                let seal = read(&changed).filter(|seal| seal.key == key.name);
                let link = seal.and_then(|seal| follow(&key, &begin, b"torn\n", &changed, &seal));
                assert_eq!(link, None, "byte {at}");
            }
        }
    }

    #[test]
    fn a_seal_has_one_spelling() {
        let mut line = b"{}\n".to_vec();
        let _ = close(&mut line, &key(), &Link { count: 41, ..begin(&key()) }, b"");
        let text = String::from_utf8(line.clone()).unwrap();
        assert!(text.starts_with("{,\"seal\":\"0102ab00.42.") && text.ends_with("\"}\n"), "{text}");
        for (from, to) in
            [(".42.", ".042."), ("ab00", "AB00"), (".42.", ".."), ("\"}\n", "\"} \n"), ("seal", "sea1")]
        {
            assert_eq!(read(text.replace(from, to).as_bytes()), None, "{to}");
        }
    }
}
