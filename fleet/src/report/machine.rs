//! What is known of a user of a machine.

use std::collections::BTreeMap;

use super::bounds::{Left, Numbers};

/// Most chains of one.
const CHAINS: usize = 32;

/// A user of a machine.
#[derive(Debug, Clone, Default)]
pub struct Machine {
    pub id: String,
    pub user: String,
    pub host: String,
    pub version: String,
    /// Policy, number and whether that is what stands there, as it said last; empty = it said nothing.
    pub policy: String,
    pub number: Option<u64>,
    pub state: String,
    /// When its newest event was, in nanoseconds since 1970, and when doctor last saw the gate stop a call.
    pub seen: u64,
    pub proved: u64,
    pub calls: u64,
    pub stops: u64,
    pub faults: BTreeMap<String, u64>,
    /// What the starts of sessions said of the gate.
    pub starts: BTreeMap<&'static str, u64>,
    /// Calls that may have run, and calls that ended.
    pub may_run: u64,
    pub ended: u64,
    pub chains: Vec<(String, Numbers)>,
    pub more_chains: u64,
    /// Events of a number that another event had.
    pub repeated: u64,
    pub unverified: u64,
    /// What its sender said of the log, by name: how often, and the last of it.
    pub notices: BTreeMap<&'static str, (u64, String)>,
    /// How many rules it was the first to name.
    pub named: u32,
}

impl Machine {
    /// Calls that ended though nothing decided on them; none where lines are missing that may have.
    pub fn undecided(&self) -> u64 {
        let is_whole = self.notices.is_empty() && self.chains.iter().all(|(_, numbers)| numbers.lost() == 0);
        if is_whole { self.ended.saturating_sub(self.may_run) } else { 0 }
    }

    /// Whether a number of a chain did not come before; none = there is no room for the chain.
    pub fn chain(&mut self, chain: String, number: u64, left: &mut Left) -> Option<bool> {
        let known = self.chains.iter().position(|(name, _)| *name == chain);
        let at = match known {
            Some(at) => at,
            None if self.chains.len() >= CHAINS || left.chains == 0 => {
                self.more_chains += 1;
                return None;
            }
            None => {
                left.chains -= 1;
                // Nearly every machine has one.
                self.chains.reserve_exact(1);
                self.chains.push((chain, Numbers::default()));
                self.chains.len() - 1
            }
        };
        let (_, numbers) = self.chains.get_mut(at)?;
        Some(numbers.insert(number, &mut left.ranges))
    }
}
