//! The chain followed line by line: for a writer that finds lines behind the anchor, for `verify`, and for whoever shows lines.

use super::earlier::Earlier;
use super::seal::{self, ChainKey, Link, Seal};
use super::sealing::SealingKey;

/// Most bytes between two lines that are kept to see whether the next line's seal covers them.
pub(super) const GAP: usize = 4 << 20;

/// What a chain is followed with.
#[derive(Debug, Clone)]
pub(super) struct Follow {
    pub key: ChainKey,
    pub earlier: Option<Earlier>,
    /// The lines from this key's on are held against it too.
    pub sealing: Option<SealingKey>,
    /// Of lines with higher numbers the line feed may be missing: their writers may have been killed.
    pub anchored: u64,
}

/// How far the chain was followed.
#[derive(Debug)]
pub(super) struct Walk {
    pub with: Follow,
    pub at: Link,
    /// What is behind the line `at` and continues nothing so far.
    pub gap: Vec<u8>,
}

/// What a line is to the chain.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// It continues the chain, and covers what was in front of it.
    Next,
    /// It is sealed with the chain's key's name and does not continue it.
    Sealed(Seal),
    /// It continues the chain, and its sealing key did not seal it: somebody had the chain's key and no more.
    Forged,
    /// It is sealed under another name.
    Foreign,
    /// It bears no seal.
    Plain,
}

impl Walk {
    pub fn new(with: Follow, at: Link) -> Walk {
        Walk { with, at, gap: Vec::new() }
    }

    /// One line, with its line feed if it has one.
    pub fn step(&mut self, line: &[u8]) -> Step {
        let ended = self.ended(line);
        let line = ended.as_deref().unwrap_or(line);
        let step = self.judge(line);
        if step == Step::Next {
            self.gap.clear();
        } else {
            self.skip(line);
        }
        step
    }

    /// The chain goes on behind a line that did not continue it.
    pub fn resume(&mut self, at: Link) {
        self.at = at;
        self.gap.clear();
    }

    /// The whole line of one that lacks its line feed and nothing else.
    fn ended(&self, line: &[u8]) -> Option<Vec<u8>> {
        if line.ends_with(b"\n") || self.at.count < self.with.anchored {
            return None;
        }
        let ended = [line, b"\n"].concat();
        seal::read(&ended).map(|_| ended)
    }

    fn judge(&mut self, line: &[u8]) -> Step {
        let Some(seal) = seal::read(line) else { return Step::Plain };
        let with = &mut self.with;
        let is_earlier = |earlier: &&Earlier| {
            seal.key == earlier.key.name && seal.proof.is_none() && seal.count <= earlier.last
        };
        let key = match with.earlier.as_ref().filter(is_earlier) {
            Some(earlier) => &earlier.key,
            None if seal.key == with.key.name && seal.proof.is_some() => &with.key,
            None if seal.key == with.key.name => return Step::Sealed(seal),
            None if with.earlier.as_ref().is_some_and(|earlier| earlier.key.name == seal.key) => {
                return Step::Sealed(seal);
            }
            None => return Step::Foreign,
        };
        let Some(link) = seal::follow(key, &self.at, &self.gap, (line, &seal)) else {
            return Step::Sealed(seal);
        };
        if let Some(sealing) = with.sealing.as_ref().filter(|sealing| link.count >= sealing.number) {
            let Some(own) = sealing.of(link.count) else { return Step::Forged };
            if !seal.proof.is_some_and(|proof| own.proves(&link.tag, &proof)) {
                return Step::Forged;
            }
            with.sealing = Some(own.next());
        }
        self.at = link;
        Step::Next
    }

    fn skip(&mut self, line: &[u8]) {
        let room = (GAP + 1).saturating_sub(self.gap.len());
        self.gap.extend_from_slice(line.get(..line.len().min(room)).unwrap_or_default());
    }
}
