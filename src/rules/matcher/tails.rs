//! The ends of a path, from the whole to its last part.

/// A path and what is left of it without its first component, and so on; none that begins with bare wildcards, which would
/// stand for anything.
fn tails(path: &str) -> impl Iterator<Item = &str> {
    let whole = std::iter::successors(Some(path), |rest| rest.split_once('/').map(|(_, tail)| tail));
    whole.filter(|tail| !tail.starts_with('*') && !tail.starts_with("!("))
}

/// The tails that can be the place `name` or lie in it: their first component is its first. (Dozens of names are held against
/// every path with a hidden directory in it.)
pub(super) fn tails_like<'p>(path: &'p str, is_glob: bool, name: &str) -> impl Iterator<Item = &'p str> {
    let first = name.split('/').next().unwrap_or_default();
    tails(path).filter(move |tail| {
        let tail = tail.strip_prefix('/').unwrap_or(tail).as_bytes();
        is_glob
            || matches!(first, "" | "*")
            || tail.get(..first.len()).is_some_and(|start| start.eq_ignore_ascii_case(first.as_bytes()))
    })
}
