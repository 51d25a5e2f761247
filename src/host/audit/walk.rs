//! The chain followed line by line: for a writer that finds lines behind the anchor, and for `verify`.

use super::seal::{self, Key, Link, Seal};

/// Most bytes between two lines that are kept to see whether the next line's seal covers them.
pub(super) const GAP: usize = 4 << 20;

/// How far the chain was followed.
pub(super) struct Walk<'k> {
    pub key: &'k Key,
    pub at: Link,
    /// What stands behind the line `at` and continues nothing so far.
    pub gap: Vec<u8>,
}

/// What a line is to the chain.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// It continues the chain, and covers what stood in front of it.
    Next,
    /// It is sealed with the chain's key's name and does not continue it.
    Sealed(Seal),
    /// It is sealed under another name.
    Foreign,
    /// It bears no seal.
    Plain,
}

impl Walk<'_> {
    pub fn new(key: &Key, at: Link) -> Walk<'_> {
        Walk { key, at, gap: Vec::new() }
    }

    /// One line, with its line feed if it has one.
    pub fn step(&mut self, line: &[u8]) -> Step {
        let Some(seal) = seal::read(line) else {
            self.skip(line);
            return Step::Plain;
        };
        if seal.key != self.key.name {
            self.skip(line);
            return Step::Foreign;
        }
        if let Some(link) = seal::follow(self.key, &self.at, &self.gap, line, &seal) {
            self.at = link;
            self.gap.clear();
            return Step::Next;
        }
        self.skip(line);
        Step::Sealed(seal)
    }

    fn skip(&mut self, line: &[u8]) {
        let room = (GAP + 1).saturating_sub(self.gap.len());
        self.gap.extend_from_slice(line.get(..line.len().min(room)).unwrap_or_default());
    }
}
