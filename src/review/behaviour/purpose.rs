//! What a person's prompt says that the session is for: its words and the paths it mentions.

use crate::domain::{Purpose, clip, join};

/// Longest piece of a prompt that is kept in its own words, in bytes.
const SAID: usize = 600;
/// Longest piece of a prompt that is looked through, in bytes.
const LOOKED_AT: usize = 16 * 1024;
const WORDS: usize = 32;
const PATHS: usize = 16;
/// Shorter words say too little.
const SHORTEST: usize = 4;

/// The purpose of a prompt that was given in `cwd`; its id and number are for the caller.
pub fn purpose(text: &str, cwd: &str) -> Purpose {
    let looked_at = text.get(..text.floor_char_boundary(LOOKED_AT)).unwrap_or_default();
    let (mut words, mut paths) = (Vec::new(), Vec::new());
    let edges = |c: char| !c.is_alphanumeric() && !"/~_".contains(c);
    for word in looked_at.split(|c: char| c.is_whitespace() || "`\"'()[]{}<>,;".contains(c)) {
        let word = word.trim_start_matches(|c| edges(c) && c != '.').trim_end_matches(edges);
        if is_path(word) {
            let home = word.starts_with("~/");
            let path = if home { word.to_owned() } else { join(cwd, word.trim_start_matches("./")) };
            if paths.len() < PATHS && !paths.contains(&path) {
                paths.push(path);
            }
        }
        let plain = word.to_lowercase();
        let counts = plain.chars().count() >= SHORTEST && !COMMON.contains(&plain.as_str());
        if counts && words.len() < WORDS && !words.contains(&plain) {
            words.push(plain);
        }
    }
    Purpose { said: clip(unquoted(text.trim()), SAID), words, paths, ..Purpose::default() }
}

/// A client may put quotes around all of what was said.
fn unquoted(text: &str) -> &str {
    text.strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
        .filter(|inner| !inner.contains('"'))
        .unwrap_or(text)
}

/// It has a slash, or ends like the name of a file.
fn is_path(word: &str) -> bool {
    let file = word.rsplit_once('.').is_some_and(|(name, end)| {
        !name.is_empty()
            && (1..=5).contains(&end.len())
            && end.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && end.bytes().any(|byte| byte.is_ascii_alphabetic())
    });
    (word.contains('/') || file) && word.len() > 1 && !word.contains("://")
}

/// Words that every prompt may hold, so that they say nothing of this one.
const COMMON: &[&str] = &[
    "this", "that", "with", "from", "have", "please", "should", "would", "could", "make", "there", "then",
    "them", "they", "what", "when", "where", "which", "into", "also", "some", "only", "just", "want", "need",
    "like", "your", "their", "about", "after", "before", "does", "doing", "file", "files", "code", "work",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_paths_of_a_prompt() {
        let purpose = purpose(
            "Please fix the parser in `src/parse/word.rs`, and run ./check.sh. See https://x.y/z",
            "/p",
        );
        assert_eq!(purpose.paths, ["/p/src/parse/word.rs", "/p/check.sh"]);
        assert_eq!(super::purpose("\"Go on.\"", "/p").said, "Go on.");
        assert_eq!(super::purpose("\"a\" or \"b\"", "/p").said, "\"a\" or \"b\"");
        assert!(
            purpose.words.contains(&"parser".to_owned()) && !purpose.words.contains(&"please".to_owned())
        );
    }
}
