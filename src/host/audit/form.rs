//! The bytes of the chain's file. Touches no file.

use super::earlier::Earlier;
use super::seal::{ChainKey, Keys, Link, SIZE};
use super::sealing::SealingKey;

/// What the files of every version begin with, and ours.
pub(super) const KIN: &[u8] = b"lazaret aud";
pub(super) const MAGIC: &[u8; 12] = b"lazaret aud3";
/// Magic, then the chain's key with its name.
const HEAD: usize = 12 + 4 + SIZE;
/// The sealing key, the size of the current file, the anchor: what every line changes, in one write.
pub(super) const MOVING: u64 = HEAD as u64;
const MOVED: usize = SIZE + 8 + 8 + 2 * SIZE;
/// What every line needs, in one read.
pub(super) const HOT: usize = HEAD + MOVED;
/// Where the chain begins.
pub(super) const BASE: u64 = HOT as u64;
/// A number and a mark.
pub(super) const LINK: usize = 8 + SIZE;
pub(super) const GIVEN: u64 = BASE + LINK as u64;
/// The key of an earlier version with its name, and the number of the last line that it sealed.
const EARLIER: usize = 4 + SIZE + 8;
/// The ends of the files that were set aside, up to the end of the file.
pub(super) const SEAMS: usize = HOT + LINK + 8 + EARLIER;

/// The part that every line needs.
pub(super) struct Hot {
    pub keys: Keys,
    pub anchor: Link,
    /// Of the current file with the anchored line.
    pub size: u64,
}

/// All but the ends of files.
pub(super) struct Whole {
    pub hot: Hot,
    pub base: Link,
    pub given: u64,
    pub earlier: Option<Earlier>,
}

impl Hot {
    pub fn read(bytes: &[u8; HOT]) -> Option<Hot> {
        let rest = bytes.strip_prefix(MAGIC)?;
        let (chain, rest) = chain_key(rest)?;
        let (secret, rest) = rest.split_first_chunk()?;
        let (size, rest) = number(rest)?;
        let (count, rest) = number(rest)?;
        let (tag, rest) = rest.split_first_chunk()?;
        let sealing = SealingKey { number: count.saturating_add(1), secret: *secret };
        let anchor = Link { count, tag: *tag, mark: *rest.first_chunk()? };
        Some(Hot { keys: Keys { chain, sealing }, anchor, size })
    }
}

/// The file up to the ends of files.
pub(super) fn read(bytes: &[u8]) -> Option<Whole> {
    let (hot, rest) = bytes.split_first_chunk()?;
    let (base, rest) = rest.split_at_checked(LINK)?;
    let (given, rest) = number(rest)?;
    let (key, rest) = chain_key(rest)?;
    let (last, _) = number(rest)?;
    let earlier = (last > 0).then_some(Earlier { key, last });
    Some(Whole { hot: Hot::read(hot)?, base: link(base)?, given, earlier })
}

/// The same written.
pub(super) fn write(hot: &Hot, base: &Link, earlier: Option<&Earlier>) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&hot.keys.chain.name.to_le_bytes());
    bytes.extend_from_slice(&hot.keys.chain.secret);
    bytes.extend_from_slice(&moving(&hot.keys.sealing, &hot.anchor, hot.size));
    bytes.extend_from_slice(&linked(base));
    bytes.extend_from_slice(&0_u64.to_le_bytes());
    let (name, secret, last) =
        earlier.map_or((0, [0; SIZE], 0), |earlier| (earlier.key.name, earlier.key.secret, earlier.last));
    bytes.extend_from_slice(&name.to_le_bytes());
    bytes.extend_from_slice(&secret);
    bytes.extend_from_slice(&last.to_le_bytes());
    bytes
}

/// What every line changes.
pub(super) fn moving(key: &SealingKey, anchor: &Link, size: u64) -> [u8; MOVED] {
    let mut bytes = [0; MOVED];
    let (size, count) = (size.to_le_bytes(), anchor.count.to_le_bytes());
    let parts: [&[u8]; 5] = [&key.secret, &size, &count, &anchor.tag, &anchor.mark];
    let mut rest = bytes.as_mut_slice();
    for part in parts {
        let Some((to, left)) = rest.split_at_mut_checked(part.len()) else { break };
        to.copy_from_slice(part);
        rest = left;
    }
    bytes
}

/// A place of the chain.
pub(super) fn linked(link: &Link) -> Vec<u8> {
    [link.count.to_le_bytes().as_slice(), &link.mark].concat()
}

pub(super) fn link(bytes: &[u8]) -> Option<Link> {
    let (count, mark) = number(bytes)?;
    Some(Link::marked(count, *mark.first_chunk()?))
}

/// New keys of random bytes.
pub(super) fn keys(random: &[u8], number: u64) -> Option<Keys> {
    let (chain, secret) = chain_key(random)?;
    Some(Keys { chain, sealing: SealingKey { number, secret: *secret.first_chunk()? } })
}

pub(super) fn chain_key(bytes: &[u8]) -> Option<(ChainKey, &[u8])> {
    let (name, rest) = bytes.split_first_chunk()?;
    let (secret, rest) = rest.split_first_chunk()?;
    Some((ChainKey { secret: *secret, name: u32::from_le_bytes(*name) }, rest))
}

pub(super) fn number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (number, rest) = bytes.split_first_chunk()?;
    Some((u64::from_le_bytes(*number), rest))
}
