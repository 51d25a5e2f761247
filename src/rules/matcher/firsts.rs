//! Where the places begin that built-in rules name: a filter made when lazaret is compiled. Most paths lie at none of them.

use std::collections::HashMap;

use super::class::{Named, below_another_home};
use super::relation::{Rel, parts, relation_to};
use super::when::Condition;
use crate::domain::{PlainHash, Target, split_name};
use crate::rules::builtin;

/// Bits of the filter: some for each place, so that few other names share them.
const BITS: u32 = 16_384;
const WORDS: usize = (BITS / 64) as usize;

/// What the first names of a place stand behind.
#[derive(Debug, Clone, Copy)]
enum Behind {
    Root,
    Home,
    Anything,
}

static FIRSTS: [u64; WORDS] = firsts();

/// Whether a target can be one of the places of built-in rules' conditions on effects, or of [`builtin::PLACES`], or lie below one.
/// False: it is not.
pub(super) fn may_lie_at_one(target: &Target, home: Option<&str>) -> bool {
    let path = match target {
        Target::Path { glob: true, .. } => return true,
        Target::Path { path, .. } => path,
        Target::UnknownPath { known, tail, .. } => {
            return may_lie_below(known, home) || !tail.is_empty() && may_lie_below(tail, None);
        }
        Target::Url(_) | Target::Command(_) | Target::None => return false,
    };
    may_lie_below(path, home)
}

/// The same of a path without a pattern.
fn may_lie_below(path: &str, home: Option<&str>) -> bool {
    let has = |behind, first: &str, second: &str| is_set(bits(behind, first.as_bytes(), second.as_bytes()));
    let mut names = parts(path);
    if let Some(first) = names.clone().next()
        && (has(Behind::Root, first, "")
            || names.clone().nth(1).is_some_and(|second| has(Behind::Root, first, second)))
    {
        return true;
    }
    if names.clone().any(|name| has(Behind::Anything, name, "")) {
        return true;
    }
    if home.is_some_and(|home| {
        parts(home).all(|name| names.next().is_some_and(|other| other.eq_ignore_ascii_case(name)))
    }) {
        return names.next().is_some_and(|name| has(Behind::Home, name, ""));
    }
    let tail = below_another_home(path);
    tail.and_then(|tail| parts(tail).next()).is_some_and(|name| has(Behind::Home, name, ""))
}

/// The same of one target after the other, with what holds of a whole directory worked out once.
pub(super) fn may_lie_at_places<'t>(
    targets: impl Iterator<Item = &'t Target>,
    home: Option<&str>,
) -> Vec<bool> {
    // The directory, whether all in it may lie at one, and whether it is the home directory.
    let mut last: Option<(&str, bool, bool)> = None;
    let mut known: HashMap<&str, (bool, bool), PlainHash> = HashMap::default();
    let may = |target: &'t Target| {
        let Target::Path { path, glob: false, .. } = target else { return may_lie_at_one(target, home) };
        let Some((dir, name)) = split_name(path).filter(|(_, name)| !name.is_empty()) else {
            return may_lie_at_one(target, home);
        };
        let (all, is_home) = match last {
            Some((known, all, is_home)) if known == dir => (all, is_home),
            // Of what lies less deep, the name itself is one of the first two.
            _ if parts(dir).nth(1).is_none() => return may_lie_at_one(target, home),
            _ => {
                let find = || {
                    let own = home.is_some_and(|home| relation_to(dir, false, home) == Rel::Same);
                    let is_home = own || below_another_home(&format!("{dir}/")) == Some("");
                    (may_lie_below(dir, home), is_home)
                };
                let (all, is_home) = *known.entry(dir).or_insert_with(find);
                last = Some((dir, all, is_home));
                (all, is_home)
            }
        };
        let name = name.as_bytes();
        all || is_set(bits(Behind::Anything, name, b"")) || (is_home && is_set(bits(Behind::Home, name, b"")))
    };
    targets.map(may).collect()
}

fn is_set(bits: [u32; 2]) -> bool {
    bits.into_iter()
        .all(|bit| FIRSTS.get((bit / 64) as usize).is_some_and(|word| word & (1 << (bit % 64)) != 0))
}

const fn firsts() -> [u64; WORDS] {
    let mut out = [0; WORDS];
    let mut entries: &[builtin::Entry] = &builtin::ENTRIES;
    while let [entry, rest @ ..] = entries {
        if let Condition::Effect(pattern) = entry.when {
            out = with(out, pattern.at);
        }
        entries = rest;
    }
    let mut groups = builtin::PLACES;
    while let [group, rest @ ..] = groups {
        let mut lists = *group;
        while let [list, rest @ ..] = lists {
            out = with(out, list);
            lists = rest;
        }
        groups = rest;
    }
    out
}

#[expect(clippy::indexing_slicing, reason = "a constant: an index out of bounds would not compile")]
const fn with(mut out: [u64; WORDS], mut places: &[Named<'_>]) -> [u64; WORDS] {
    while let [place, rest @ ..] = places {
        let [one, other] = match place {
            Named::Home(path) => bits(Behind::Home, first(path.as_bytes()).0, b""),
            Named::Name(path) => bits(Behind::Anything, first(path.as_bytes()).0, b""),
            Named::Abs(path) => {
                let (top, below) = first(path.as_bytes());
                let below = if below.is_empty() { below } else { first(below).0 };
                // A star stands for any name.
                bits(Behind::Root, top, if let [b'*'] = below { b"" } else { below })
            }
        };
        out[(one / 64) as usize] |= 1 << (one % 64);
        out[(other / 64) as usize] |= 1 << (other % 64);
        places = rest;
    }
    out
}

/// The first name of a path that is no star, and what is behind it.
const fn first(mut path: &[u8]) -> (&[u8], &[u8]) {
    while let [b'/', rest @ ..] = path {
        path = rest;
    }
    let mut rest = path;
    let mut length = 0;
    while let [byte, tail @ ..] = rest {
        if *byte == b'/' {
            break;
        }
        length += 1;
        rest = tail;
    }
    let (name, rest) = path.split_at(length);
    assert!(!matches!(name, [] | [b'*']), "such a place would be anywhere");
    let [b'/', ..] = rest else { return (name, b"") };
    let mut tail = rest;
    while let [b'/', more @ ..] = tail {
        tail = more;
    }
    (name, tail)
}

/// Two bits for names, whatever their case.
const fn bits(behind: Behind, first: &[u8], second: &[u8]) -> [u32; 2] {
    let mut hash: u32 = 0x811c_9dc5 ^ behind as u32;
    let mut names = [first, second];
    let mut left = 2;
    while left > 0 {
        let [name, next] = names;
        let mut name = name;
        while let [byte, rest @ ..] = name {
            hash = (hash ^ byte.to_ascii_lowercase() as u32).wrapping_mul(0x0100_0193);
            name = rest;
        }
        hash = (hash ^ 0x2f).wrapping_mul(0x0100_0193);
        names = [next, b""];
        left -= 1;
    }
    hash ^= hash >> 15;
    hash = hash.wrapping_mul(0x2c1b_3c6d);
    hash ^= hash >> 14;
    [hash % BITS, (hash >> 16) % BITS]
}
