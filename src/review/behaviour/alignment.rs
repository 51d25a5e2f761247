//! How far an action serves what the session is for. Generous: what cannot be told is not held against it.

use crate::domain::{ActionKind, Place, Places, Policy, Purpose, lies_below, lies_in};

/// Percent of what cannot be told: it names no file (a test, a build, a look at the repository's history).
const GENERAL: u8 = 70;
/// Looking at something in the project that the person did not name.
const LOOKS: u8 = 50;
/// Changing something in the project that the person did not name.
const CHANGES: u8 = 20;
/// Longest ending that a word may have otherwise (`parser`, `parsing`).
const ENDING: usize = 3;
/// Bytes of a word that are compared at least.
const STEM: usize = 4;

/// What is known of an action.
#[derive(Debug, Clone, Copy)]
pub struct Act<'a> {
    /// What it asks for.
    pub text: &'a str,
    /// The files that it names.
    pub paths: &'a [&'a str],
    pub operation: ActionKind,
    pub place: Place,
}

/// In percent: 100 where the purpose is not known, or where a word of it or a place that it mentions is in the action; less for
/// looking elsewhere in the project, for changing something there, and nothing outside.
pub fn alignment(act: &Act<'_>, policy: &Policy, purpose: &Purpose, places: &Places) -> u8 {
    if policy.goals.is_empty() && purpose.words.is_empty() && purpose.paths.is_empty() {
        return 100;
    }
    let text = act.text.to_lowercase();
    let goals = policy.goals.iter().flat_map(|goal| goal.split(|c: char| !c.is_alphanumeric()));
    let mut words = goals.filter(|word| word.chars().count() >= STEM).map(str::to_lowercase);
    let named = purpose.words.iter().any(|word| text.contains(stem(word)))
        || words.any(|word| text.contains(stem(&word)))
        || act.paths.iter().any(|path| mentioned(path, purpose, places));
    if named {
        return 100;
    }
    match (act.place, act.operation) {
        (Place::Outside, _) => 0,
        (Place::Nowhere, _) => GENERAL,
        (Place::Inside, ActionKind::Write | ActionKind::Delete) => CHANGES,
        (
            Place::Inside,
            ActionKind::Read
            | ActionKind::Search
            | ActionKind::Execute
            | ActionKind::Network
            | ActionKind::Spawn
            | ActionKind::Other,
        ) => LOOKS,
    }
}

/// Whether a path is one that the person mentions, lies below one, beside one, or around one.
fn mentioned(path: &str, purpose: &Purpose, places: &Places) -> bool {
    purpose.paths.iter().any(|known| {
        let beside = known.rsplit_once('/').map_or("", |(directory, _)| directory);
        let deep = beside.bytes().filter(|byte| *byte == b'/').count() > 1;
        lies_below(path, known, places) || lies_in(known, path) || (deep && lies_below(path, beside, places))
    })
}

/// The beginning of a word, which its other forms share.
fn stem(word: &str) -> &str {
    let length = word.len().saturating_sub(ENDING).max(STEM).min(word.len());
    word.get(..word.floor_char_boundary(length)).unwrap_or(word)
}
