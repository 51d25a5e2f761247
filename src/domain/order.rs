//! A stable sort of which the binary holds one copy, whatever is sorted: each of the standard library's is some six kilobytes.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// Sorts by a key; what has the same key stays in its order.
pub fn sort_by_key<T, K: Ord>(items: &mut Vec<T>, key: impl Fn(&T) -> K) {
    sort_by(items, |a, b| key(a).cmp(&key(b)));
}

/// Sorts by a comparison; what is equal stays in its order.
pub fn sort_by<T>(items: &mut Vec<T>, compare: impl Fn(&T, &T) -> Ordering) {
    if items.len() < 2 {
        return;
    }
    let places = sorted(items.len(), &|a, b| match (items.get(a), items.get(b)) {
        (Some(a), Some(b)) => compare(a, b),
        _ => Ordering::Equal,
    });
    let mut slots: Vec<Option<T>> = items.drain(..).map(Some).collect();
    items.extend(places.into_iter().filter_map(|at| slots.get_mut(at)?.take()));
}

/// A set of these. Collected, each kind of set would bring a sort of its own.
pub fn set_of<T: Ord>(items: impl IntoIterator<Item = T>) -> BTreeSet<T> {
    let mut set = BTreeSet::new();
    for item in items {
        set.insert(item);
    }
    set
}

/// A map of these, the last of those with one key. Collected, each kind of map would bring a sort of its own.
pub fn map_of<K: Ord, V>(items: impl IntoIterator<Item = (K, V)>) -> BTreeMap<K, V> {
    let mut map = BTreeMap::new();
    for (key, value) in items {
        map.insert(key, value);
    }
    map
}

fn sorted(count: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut places: Vec<usize> = (0..count).collect();
    places.sort_by(|a, b| compare(*a, *b));
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_ones_stay_in_their_order() {
        let mut pairs = vec![(2, 'a'), (1, 'b'), (2, 'c'), (1, 'd'), (0, 'e')];
        sort_by_key(&mut pairs, |(number, _)| *number);
        assert_eq!(pairs, [(0, 'e'), (1, 'b'), (1, 'd'), (2, 'a'), (2, 'c')]);
        sort_by(&mut pairs, |a, b| b.0.cmp(&a.0));
        assert_eq!(pairs, [(2, 'a'), (2, 'c'), (1, 'b'), (1, 'd'), (0, 'e')]);
    }

    #[test]
    fn nothing_is_lost() {
        for count in 0..40_u32 {
            let mut numbers: Vec<u32> = (0..count).map(|number| number * 7 % 11).collect();
            let mut expected = numbers.clone();
            expected.sort_unstable();
            sort_by_key(&mut numbers, |number| *number);
            assert_eq!(numbers, expected);
        }
    }
}
