//! How one path lies to another: above, the same, below, apart.

use super::glob;

/// How a target lies to a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rel {
    Apart,
    Above,
    Same,
    Below,
}

pub(super) fn parts(path: &str) -> impl Iterator<Item = &str> + Clone {
    path.split('/').filter(|part| !part.is_empty())
}

/// A bit for the name of each component of a path; all of them for a pattern.
pub(super) fn names_of(path: &str, is_glob: bool) -> u64 {
    if is_glob {
        return u64::MAX;
    }
    let (mut names, mut sum) = (0, None);
    for byte in path.bytes() {
        sum = if byte == b'/' {
            names |= sum.map_or(0, bit_of);
            None
        } else {
            Some(name_sum(sum.unwrap_or(0), byte))
        };
    }
    names | sum.map_or(0, bit_of)
}

/// One of 64 bits for the name of a component, whatever its case.
pub(super) fn name_bit(name: &str) -> u64 {
    bit_of(name.bytes().fold(0, name_sum))
}

fn name_sum(sum: u32, byte: u8) -> u32 {
    sum.wrapping_mul(31).wrapping_add(u32::from(byte.to_ascii_lowercase()))
}

fn bit_of(sum: u32) -> u64 {
    1 << (sum % 64)
}

/// How `target` (a pattern with `is_glob`) can lie to the place made of `place`'s components.
pub(crate) fn relation<'p>(target: &str, is_glob: bool, place: impl Iterator<Item = &'p str> + Clone) -> Rel {
    let mut target = parts(target);
    let mut place = place;
    loop {
        let rest = place.clone();
        match (target.next(), place.next()) {
            (None, None) => return Rel::Same,
            (None, Some(_)) => return Rel::Above,
            (Some("**"), Some(_)) if is_glob => return any_depth(target, rest),
            (Some(_), None) => return Rel::Below,
            (Some(a), Some(b)) if agree(a, b, is_glob) => {}
            (Some(_), Some(_)) => return Rel::Apart,
        }
    }
}

/// How `target` can lie to the absolute path `place`. Nearly all paths part from nearly all places, and that is seen at the
/// first byte that differs.
pub(crate) fn relation_to(target: &str, is_glob: bool, place: &str) -> Rel {
    if !is_glob && parts_early(target.as_bytes(), place.as_bytes()) {
        return Rel::Apart;
    }
    // Spelled alike as far as the shorter one goes: no need to go through the components.
    let is_below = |rest: &str| matches!(rest.as_bytes(), [b'/', next, ..] if *next != b'/');
    if !is_glob && !target.is_empty() && place.strip_prefix(target).is_some_and(is_below) {
        return Rel::Above;
    }
    relation(target, is_glob, parts(place))
}

/// Whether two paths differ within a component that both have. False: they may still, but not in the plain way.
pub(super) fn parts_early(target: &[u8], place: &[u8]) -> bool {
    // Most paths of a call begin like most places, in the home directory: eight bytes at a time.
    let (mut of_target, mut of_place) = (target, place);
    while let (Some((a, target)), Some((b, place))) =
        (of_target.split_first_chunk::<8>(), of_place.split_first_chunk::<8>())
    {
        if a != b {
            break;
        }
        (of_target, of_place) = (target, place);
    }
    let differs = |(a, b): (&u8, &u8)| !a.eq_ignore_ascii_case(b);
    let Some(at) = of_target.iter().zip(of_place).position(differs) else { return false };
    let at = target.len() - of_target.len() + at;
    // What is in front is the same in both: it ends a component of both, or of none.
    let front = place.get(..at).unwrap_or_default();
    let start = front.iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
    let ends = target.get(at) == Some(&b'/') || place.get(at) == Some(&b'/');
    !(ends && start == at) && place.get(start) != Some(&b'*')
}

/// The same behind a `**`, which stands for any number of components. It is never taken to lead below the place: that would
/// be said of every search.
fn any_depth<'t, 'p>(
    target: impl Iterator<Item = &'t str> + Clone,
    mut place: impl Iterator<Item = &'p str> + Clone,
) -> Rel {
    let mut found = Rel::Apart;
    loop {
        let (mut pattern, mut rest) = (target.clone(), place.clone());
        let rel = loop {
            match (pattern.next(), rest.next()) {
                // A second one is not followed: it may mean anything.
                (Some("**"), _) | (None, None) => break Rel::Same,
                (None, Some(_)) => break Rel::Above,
                (Some(a), Some(b)) if agree(a, b, true) => {}
                (Some(_), _) => break Rel::Apart,
            }
        };
        match rel {
            Rel::Same => return Rel::Same,
            Rel::Above if target.clone().next().is_none() => return Rel::Same,
            Rel::Above => found = Rel::Above,
            Rel::Below | Rel::Apart => {}
        }
        if place.next().is_none() {
            return found;
        }
    }
}

fn agree(pattern: &str, name: &str, is_glob: bool) -> bool {
    // In the name of a place of ours a star stands for one component.
    name == "*" || if is_glob { glob::segment(pattern, name) } else { pattern.eq_ignore_ascii_case(name) }
}

pub(super) fn within(rel: Rel) -> bool {
    matches!(rel, Rel::Same | Rel::Below)
}

/// Whether `path` is `dir` or lies below it.
pub(crate) fn inside(path: &str, dir: &str) -> bool {
    within(relation_to(path, false, dir))
}
