//! What ties a line to the one before it, and to a key that is forgotten: the seal at its end, written and read. Touches no file.

use blake2::Blake2bMac;
use blake2::digest::consts::U32;
use blake2::digest::{KeyInit, Mac};
use subtle::ConstantTimeEq;
use zeroize::{Zeroize, ZeroizeOnDrop};

use super::sealing::SealingKey;
use crate::host::hex;

/// BLAKE2b with a key. A line is tagged on every call: without help of the processor, which to look for costs more than the rest of
/// the call, SHA-256 takes several times as many instructions, and BLAKE2 with a key of its own needs no HMAC around it.
type Tagger = Blake2bMac<U32>;

/// Bytes of a key, and of a tag.
pub(super) const SIZE: usize = 32;
/// Bytes of a tag, and of a proof, in the line. The rest of a tag is nowhere but in the anchor, so that what a log shows does not
/// suffice to make an anchor for less of it.
pub(super) const SHOWN: usize = 16;
/// What the sealing key proves of a line.
pub(super) type Proof = [u8; SHOWN];
pub(super) const SEAL: &[u8] = b",\"seal\":\"";
const GAP: &[u8] = b",\"gap\":";

/// The key of a chain, the same for all its lines: whoever has it can follow the chain, and write it anew.
#[derive(Debug, Clone, Zeroize, ZeroizeOnDrop)]
pub(super) struct ChainKey {
    pub secret: [u8; SIZE],
    /// What lines call it: says nothing of the secret.
    pub name: u32,
}

/// A place in the chain: how many lines there are up to it, and what the last one is known by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Link {
    pub count: u64,
    pub tag: [u8; SIZE],
    /// What the next line's tag depends on.
    pub mark: [u8; SIZE],
}

impl Link {
    /// The part of the tag that stands in the line.
    pub fn shown(&self) -> &[u8] {
        self.tag.get(..SHOWN).unwrap_or_default()
    }

    /// Whether it is the same place, whatever of the tag is known.
    pub fn is_where(&self, other: &Link) -> bool {
        (self.count, self.mark) == (other.count, other.mark)
    }

    /// A place of which only what the next line needs is known.
    pub const fn marked(count: u64, mark: [u8; SIZE]) -> Link {
        Link { count, tag: [0; SIZE], mark }
    }

    /// A line with two tags: both, as they stand in it, are what the next one depends on.
    fn proven(count: u64, tag: [u8; SIZE], proof: &Proof) -> Link {
        let mut mark = [0; SIZE];
        for (to, from) in mark.iter_mut().zip(tag.iter().take(SHOWN).chain(proof)) {
            *to = *from;
        }
        Link { count, tag, mark }
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
    /// None: an earlier version wrote the line.
    pub proof: Option<Proof>,
}

impl Seal {
    /// Where the chain would be after the line that bears this seal, as far as the line says it.
    pub fn claimed(&self) -> Option<Link> {
        let proof = self.proof?;
        let mut tag = [0; SIZE];
        for (to, from) in tag.iter_mut().zip(&self.shown) {
            *to = *from;
        }
        Some(Link::proven(self.count, tag, &proof))
    }
}

/// Both keys that a line is sealed with.
#[derive(Debug, Clone)]
pub(super) struct Keys {
    pub chain: ChainKey,
    pub sealing: SealingKey,
}

/// Ends a line that is `{…}` and a line feed with its seal, and says where the chain is then. `gap` is what is between the
/// line before and this one and belongs to neither.
pub(super) fn close(line: &mut Vec<u8>, keys: &Keys, before: &Link, gap: &[u8]) -> Link {
    line.truncate(line.len().saturating_sub(b"}\n".len()));
    if !gap.is_empty() {
        line.extend_from_slice(GAP);
        line.extend_from_slice(gap.len().to_string().as_bytes());
    }
    let count = before.count.saturating_add(1);
    line.extend_from_slice(SEAL);
    line.extend(hex::digits(&keys.chain.name.to_be_bytes()));
    line.push(b'.');
    line.extend_from_slice(count.to_string().as_bytes());
    line.push(b'.');
    let tag = tag(&keys.chain.secret, &before.mark, gap, line);
    let link = Link::proven(count, tag, &keys.sealing.prove(&tag));
    // The mark is the part of the tag that is shown, and the proof.
    let (shown, proof) = link.mark.split_at(SHOWN);
    line.extend(hex::digits(shown));
    line.push(b'.');
    line.extend(hex::digits(proof));
    line.extend_from_slice(b"\"}\n");
    link
}

/// Where the chain is after a line with its line feed: `None` = the line does not continue it.
pub(super) fn follow(
    key: &ChainKey,
    before: &Link,
    gap: &[u8],
    (line, seal): (&[u8], &Seal),
) -> Option<Link> {
    let fits =
        seal.count == before.count.saturating_add(1) && usize::try_from(seal.gap).ok() == Some(gap.len());
    let tag = tag(&key.secret, &before.mark, gap, line.get(..seal.covered)?);
    let link = match &seal.proof {
        Some(proof) => Link::proven(seal.count, tag, proof),
        None => Link { count: seal.count, tag, mark: tag },
    };
    (fits && bool::from(link.shown().ct_eq(&seal.shown))).then_some(link)
}

/// The seal of a line with its line feed; one spelling, everything else is none.
pub(super) fn read(line: &[u8]) -> Option<Seal> {
    let rest = line.strip_suffix(b"\"}\n")?;
    let (rest, last) = shown(rest)?;
    // Of an earlier version: one tag, behind the number.
    let Some((covered, first)) = shown(rest) else { return sealed(rest, last, None) };
    sealed(covered, first, Some(last.try_into().ok()?))
}

/// `.` and a tag at the end of these bytes, and what is in front of the tag, without the dot.
fn shown(bytes: &[u8]) -> Option<(&[u8], Vec<u8>)> {
    let (rest, digits) = bytes.split_at_checked(bytes.len().checked_sub(2 * SHOWN)?)?;
    Some((rest.strip_suffix(b".")?, hex::bytes(digits)?))
}

/// The seal that ends with these bytes and the dot behind them.
fn sealed(covered: &[u8], shown: Vec<u8>, proof: Option<Proof>) -> Option<Seal> {
    let (rest, count) = number(covered)?;
    let rest = rest.strip_suffix(b".")?;
    let (rest, name) = rest.split_at_checked(rest.len().checked_sub(8)?)?;
    let rest = rest.strip_suffix(SEAL)?;
    let gap = number(rest).and_then(|(rest, gap)| rest.ends_with(GAP).then_some(gap)).unwrap_or(0);
    let key = u32::from_be_bytes(hex::bytes(name)?.try_into().ok()?);
    Some(Seal { key, count, gap, covered: covered.len() + 1, shown, proof })
}

/// The place before the first line.
pub(super) fn begin(key: &ChainKey) -> Link {
    let tag = tag(&key.secret, &[0; SIZE], b"", b"lazaret audit: before the first line");
    Link { count: 0, tag, mark: tag }
}

/// A keyed BLAKE2 has a block for its key, twice as long as ours: the mark of the line before, or what is to be proven, costs
/// nothing there, and a line tagged behind another one is tagged with another key.
pub(super) fn tag(secret: &[u8; SIZE], with: &[u8; SIZE], gap: &[u8], line: &[u8]) -> [u8; SIZE] {
    let mut block = blake2::digest::Key::<Tagger>::default();
    let (own, also) = block.split_at_mut(SIZE);
    own.copy_from_slice(secret);
    also.copy_from_slice(with);
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

    fn keys() -> Keys {
        Keys {
            chain: ChainKey { secret: [7; SIZE], name: 0x0102_ab00 },
            sealing: SealingKey { number: 1, secret: [9; SIZE] },
        }
    }

    #[test]
    fn a_seal_has_one_spelling() {
        let mut line = b"{}\n".to_vec();
        let keys = keys();
        let _ = close(&mut line, &keys, &Link { count: 41, ..begin(&keys.chain) }, b"");
        let text = String::from_utf8(line.clone()).unwrap();
        assert!(text.starts_with("{,\"seal\":\"0102ab00.42.") && text.ends_with("\"}\n"), "{text}");
        assert_eq!(text.len(), "{,\"seal\":\"0102ab00.42.\"}\n".len() + 4 * SHOWN + 1, "{text}");
        for (from, to) in
            [(".42.", ".042."), ("ab00", "AB00"), (".42.", ".."), ("\"}\n", "\"} \n"), ("seal", "sea1")]
        {
            assert_eq!(read(text.replace(from, to).as_bytes()), None, "{to}");
        }
    }
}
