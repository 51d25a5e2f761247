//! Patterns of one's own: which entries count for them, told when an entry is made, and whether enough of them do.

use super::{History, percent};
use crate::domain::{
    ActionKind, Finding, HistoryEntry, Marked, Outcome, Places, WrittenFilter, WrittenPattern, fingerprint,
};
use crate::review::behaviour::error::plain;

/// What a filter is asked of: a call that has ended.
#[derive(Debug, Clone, Copy)]
pub struct Ended<'a> {
    pub tool: &'a str,
    pub operation: ActionKind,
    /// The files that it names, and where they lie.
    pub paths: &'a [&'a str],
    pub places: &'a Places,
    pub outcome: Outcome,
    /// Normalised; empty = it has none.
    pub error: &'a str,
}

/// The bits that an entry gets.
pub fn marked(patterns: &[WrittenPattern], ended: &Ended<'_>) -> Marked {
    let mut marked = Marked { by: defined(patterns), ..Marked::default() };
    for (bit, pattern) in bits(patterns) {
        if pattern.among.as_ref().is_none_or(|among| passes(among, ended)) {
            marked.among |= bit;
            if passes(&pattern.filter, ended) {
                marked.counts |= bit;
            }
        }
    }
    marked
}

/// Fingerprint of what the bits mean, so that those of another configuration are not taken for these.
fn defined(patterns: &[WrittenPattern]) -> u64 {
    if patterns.is_empty() {
        return 0;
    }
    let filters: Vec<_> = patterns.iter().map(|pattern| (&pattern.among, &pattern.filter)).collect();
    fingerprint(&[&serde_json::to_vec(&filters).unwrap_or_default()])
}

/// Each pattern with its bit.
fn bits(patterns: &[WrittenPattern]) -> impl Iterator<Item = (u32, &WrittenPattern)> {
    patterns.iter().take(WrittenPattern::MOST).scan(1_u32, |next, pattern| {
        let bit = *next;
        *next = bit.rotate_left(1);
        Some((bit, pattern))
    })
}

fn passes(filter: &WrittenFilter, ended: &Ended<'_>) -> bool {
    let WrittenFilter { tool, operation, path, outcome, error } = filter;
    let starred = |name: &String| fast_glob::glob_match(name, ended.tool);
    let holds = |text: &String| ended.error.contains(&plain(text));
    (tool.is_empty() || tool.iter().any(starred))
        && (operation.is_empty() || operation.contains(&ended.operation))
        && (outcome.is_empty() || outcome.contains(&ended.outcome))
        && (error.is_empty() || error.iter().any(holds))
        && (path.is_empty() || path.iter().any(|path| lies_at(path, ended)))
}

/// Whether one of the files lies where a shell pattern says. One that is not absolute counts from the project; one that begins
/// with `**/` anywhere.
fn lies_at(pattern: &str, ended: &Ended<'_>) -> bool {
    let below = |root: &str, pattern: &str, path: &str| {
        let rest = path.strip_prefix(root.trim_end_matches('/')).and_then(|rest| rest.strip_prefix('/'));
        rest.is_some_and(|rest| fast_glob::glob_match(pattern, rest))
    };
    ended.paths.iter().any(|path| {
        if let Some(pattern) = pattern.strip_prefix('/') {
            below("/", pattern, path)
        } else if let Some(pattern) = pattern.strip_prefix("~/") {
            ended.places.home.as_deref().is_some_and(|home| below(home, pattern, path))
        } else {
            let roots = ended.places.roots().chain(pattern.starts_with("**/").then_some("/"));
            roots.into_iter().any(|root| below(root, pattern, path))
        }
    })
}

/// The patterns of one's own that stand: those of files that nobody trusts, or the others.
pub fn find<'a>(
    patterns: &'a [WrittenPattern],
    hushed: bool,
    history: &'a History<'a>,
) -> impl Iterator<Item = Finding> + 'a {
    let meant = bits(patterns).filter(move |(_, pattern)| pattern.hushed == hushed);
    meant.filter_map(|(bit, pattern)| seen(pattern, bit, history))
}

/// It stands when the last entry counts, and enough of those before it do.
fn seen(pattern: &WrittenPattern, bit: u32, history: &History<'_>) -> Option<Finding> {
    /// Percent that begin each severity, and that as much evidence again adds.
    const BEGINS: u32 = 20;
    const GROWS: u32 = 50;
    const SURE: u32 = 60;
    let last = history.last().marked;
    if last.counts & bit == 0 {
        return None;
    }
    let window = usize::try_from(pattern.window).unwrap_or(usize::MAX);
    let looked_at = |entry: &&HistoryEntry| entry.marked.by == last.by && entry.marked.among & bit != 0;
    let (mut all, mut counts) = (0_u32, 0_u32);
    for entry in history.of_prompt().filter(looked_at).take(window) {
        all += 1;
        counts += u32::from(entry.marked.counts & bit != 0);
    }
    let enough = pattern.count.max((pattern.percent * all).div_ceil(100)).max(1);
    (counts >= enough).then(|| {
        let over = (counts - enough) * GROWS / enough;
        let what = if pattern.hushed || pattern.description.is_empty() {
            String::new()
        } else {
            format!(" ({})", pattern.description)
        };
        Finding {
            pattern: pattern.name.clone(),
            confidence: percent(SURE + over / 2),
            severity: percent(BEGINS + over).min(pattern.cap()),
            evidence: format!("{counts} of the last {all} actions{what}"),
            count: counts,
        }
    })
}
