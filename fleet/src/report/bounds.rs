//! What a report remembers, whatever machines send: sets that forget, and ranges of numbers.

use std::collections::hash_map::RandomState;
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, Hash};
use std::mem;

/// Most chains of all machines, and most ranges of all chains.
const CHAINS: usize = 500_000;
const RANGES: usize = 600_000;

/// How many more there is room for.
#[derive(Debug)]
pub struct Left {
    pub chains: usize,
    pub ranges: usize,
}

impl Default for Left {
    fn default() -> Left {
        Left { chains: CHAINS, ranges: RANGES }
    }
}

/// Values by a digest of their keys: the last so many at least, and no more than twice as many.
#[derive(Debug)]
pub struct Recent<V> {
    keys: RandomState,
    young: HashMap<u64, V>,
    old: HashMap<u64, V>,
    most: usize,
    /// Something is not known any more.
    pub forgot: bool,
}

impl<V> Recent<V> {
    pub fn new(most: usize) -> Recent<V> {
        let (young, old) = (HashMap::new(), HashMap::new());
        Recent { keys: RandomState::new(), young, old, most, forgot: false }
    }

    /// Whether the key was not there.
    pub fn insert(&mut self, key: impl Hash, value: V) -> bool {
        let key = self.keys.hash_one(key);
        if self.old.contains_key(&key) || self.young.contains_key(&key) {
            return false;
        }
        if self.young.len() >= self.most {
            self.forgot |= !self.old.is_empty();
            self.old = mem::take(&mut self.young);
        }
        self.young.insert(key, value);
        true
    }

    pub fn get(&mut self, key: impl Hash) -> Option<&mut V> {
        let key = self.keys.hash_one(key);
        self.young.get_mut(&key).or_else(|| self.old.get_mut(&key))
    }

    pub fn remove(&mut self, key: impl Hash) -> Option<V> {
        let key = self.keys.hash_one(key);
        self.young.remove(&key).or_else(|| self.old.remove(&key))
    }
}

/// The numbers of a chain that came.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Numbers {
    /// By their first numbers, the last ones.
    ranges: BTreeMap<u64, u64>,
    /// There was no room for all.
    pub unsure: bool,
}

impl Numbers {
    /// Whether it was not there; `left` is how many ranges may be begun.
    pub fn insert(&mut self, number: u64, left: &mut usize) -> bool {
        let before = self.ranges.range(..=number).next_back().map(|(from, to)| (*from, *to));
        if before.is_some_and(|(_, to)| number <= to) {
            return false;
        }
        let behind = number.checked_add(1).and_then(|next| self.ranges.remove(&next));
        let to = behind.unwrap_or(number);
        let joined = before.filter(|(_, last)| last.checked_add(1) == Some(number));
        if let Some((from, _)) = joined {
            self.ranges.insert(from, to);
            *left += usize::from(behind.is_some());
        } else if behind.is_some() || *left > 0 {
            *left -= usize::from(behind.is_none());
            self.ranges.insert(number, to);
        } else {
            self.unsure = true;
        }
        true
    }

    /// First and last number of each range that is missing between others, the first `most` of them.
    pub fn missing(&self, most: usize) -> Vec<(u64, u64)> {
        self.gaps().take(most).collect()
    }

    /// How many numbers are missing.
    pub fn lost(&self) -> u64 {
        self.gaps().fold(0, |all, (from, to)| all.saturating_add((to - from).saturating_add(1)))
    }

    fn gaps(&self) -> impl Iterator<Item = (u64, u64)> {
        let next = self.ranges.keys().skip(1);
        self.ranges.values().zip(next).map(|(to, from)| (to.saturating_add(1), from.saturating_sub(1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_join_whatever_their_order() {
        let (mut numbers, mut left) = (Numbers::default(), 3);
        for number in [5, 1, 2, 9, 3, 2, u64::MAX] {
            numbers.insert(number, &mut left);
        }
        assert_eq!(numbers.missing(9), [(4, 4), (6, 8)]);
        assert!(numbers.unsure && left == 0, "there was no room for the last one");
        assert!(!numbers.insert(2, &mut left) && numbers.insert(4, &mut left));
        assert_eq!((numbers.missing(9), numbers.lost(), left), (vec![(6, 8)], 3, 1));
        assert!(numbers.insert(u64::MAX, &mut left) && numbers.lost() == u64::MAX - 10 + 3);
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let mut recent = Recent::new(10);
        assert!((0..20).all(|key| recent.insert(key, ())) && !recent.forgot);
        assert!((0..20).all(|key| !recent.insert(key, ())));
        assert!(recent.insert(20, ()) && recent.forgot && recent.young.len() + recent.old.len() <= 20);
        assert!(recent.get(19).is_some() && recent.remove(3).is_none());
    }
}
