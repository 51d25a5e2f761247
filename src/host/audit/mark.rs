//! Which lines do not verify, for whoever shows lines: the chain is followed on behind each that does not.

use std::path::Path;

use super::chain::Chain;
use super::read;
use super::seal::{Link, Seal};
use super::sealing::VerificationKey;
use super::verify::Wrong;
use super::walk::{Step, Walk};
use crate::domain::Fault;

/// Follows the chain along the lines that are read.
#[derive(Debug)]
pub(super) struct Marker {
    /// From the last line that verified.
    walk: Walk,
    /// Where the last line that did not verify says that the chain is.
    claimed: Option<Link>,
    base: u64,
    begun: bool,
    /// Whether the next line is taken for what it says: what was in front of it was removed while it was read.
    lost: bool,
}

impl Marker {
    /// For a log with a chain.
    pub fn new(dir: &Path, key: Option<&VerificationKey>) -> Result<Option<Marker>, Fault> {
        let seen = Chain::look(dir)?;
        Ok(seen.map(|seen| Marker {
            walk: Walk::new(seen.follow(key), seen.base),
            claimed: None,
            base: seen.base.count,
            begun: false,
            lost: false,
        }))
    }

    /// A file is not there any more.
    pub fn lost(&mut self) {
        self.lost = true;
    }

    /// What is wrong with a line, with its line feed; of a piece of one nothing is said.
    pub fn mark(&mut self, line: &[u8]) -> Option<Wrong> {
        let at = self.walk.at;
        match self.walk.step(line) {
            Step::Next => {
                (self.begun, self.lost, self.claimed) = (true, false, None);
                None
            }
            Step::Plain if !self.begun && self.base == 0 => {
                self.walk.resume(at);
                None
            }
            Step::Plain => (!read::is_piece(line)).then_some(Wrong::Added),
            Step::Foreign => Some(Wrong::KeyGone),
            Step::Forged => {
                self.claimed = super::seal::read(line).and_then(|seal| seal.claimed());
                Some(Wrong::Forged)
            }
            Step::Sealed(seal) => self.sealed(at, line, &seal),
        }
    }

    /// A line that does not continue the chain from the last line that did. Where it continues it without what was put in between, or
    /// from the last line that did not, it is as it was written.
    fn sealed(&mut self, at: Link, line: &[u8], seal: &Seal) -> Option<Wrong> {
        if !self.begun && seal.count <= self.base {
            self.walk.resume(at);
            return None;
        }
        for from in [Some(at), self.claimed].into_iter().flatten() {
            self.walk.resume(from);
            let step = self.walk.step(line);
            if step == Step::Next {
                (self.begun, self.claimed) = (true, None);
                return None;
            }
            if step == Step::Forged {
                self.walk.resume(at);
                self.claimed = seal.claimed();
                return Some(Wrong::Forged);
            }
        }
        self.walk.resume(at);
        self.claimed = seal.claimed();
        if self.lost {
            self.lost = false;
            return None;
        }
        let next = at.count.saturating_add(1);
        Some(match seal.count {
            count if count == next => Wrong::Changed,
            count if count > next && self.claimed.is_some() => Wrong::Removed(next, count - 1),
            count if count > next => Wrong::Changed,
            count => Wrong::Repeated(count),
        })
    }
}
