//! Variables that hold what a service on this machine answered: with the token of a test's own login nobody gets in elsewhere.

use crate::rules::builtin::standing::is_this_machine;
use crate::rules::matcher::host_of;

/// How far variables are followed that hold a part of others.
const DEPTH: usize = 4;

words!("builtin/secrets/answers");

/// Whether a command line gives a variable nothing but what a service on this machine answers, or parts of that.
pub(super) fn is_answered_here(name: &str, line: &str) -> bool {
    let mut words = line.split_whitespace();
    let read = words.any(|word| word == "read") || line.contains(&format!("for {name} "));
    !read && (is_counted(name, line) || answered(name, line, DEPTH))
}

/// Whether a variable is only given numbers, and sums of them: `total_pass=$((total_pass + 1))`.
fn is_counted(name: &str, line: &str) -> bool {
    let mut given = line
        .match_indices(name)
        .filter_map(|(at, _)| line.get(at + name.len()..)?.strip_prefix('='))
        .peekable();
    let number = |value: &str| value.starts_with("$((") || value.starts_with(|c: char| c.is_ascii_digit());
    given.peek().is_some()
        && given.all(number)
        && !line.contains("declare")
        && !line.contains("local -n")
        && !line.contains("typeset")
}

fn answered(name: &str, line: &str, depth: usize) -> bool {
    let mut given = assigned(name, line).peekable();
    depth > 0 && given.peek().is_some() && given.all(|text| is_from_here(text, line, depth))
}

/// The substitutions that a variable is given, and an empty text for whatever else it is.
fn assigned<'l>(name: &str, line: &'l str) -> impl Iterator<Item = &'l str> {
    line.match_indices(name).filter_map(move |(at, _)| {
        let before = line.get(..at)?.chars().next_back();
        let value = line.get(at + name.len()..)?.strip_prefix('=')?;
        let begins = before.is_none_or(|c| c.is_whitespace() || matches!(c, ';' | '&' | '(' | '|'));
        let value = value.strip_prefix('"').unwrap_or(value);
        begins.then(|| value.strip_prefix("$(").and_then(alone).unwrap_or_default())
    })
}

/// A text up to the parenthesis that closes it, where nothing else stands behind.
fn alone(text: &str) -> Option<&str> {
    let inside = inside(text);
    let behind = text.get(inside.len()..)?.strip_prefix(')')?;
    let behind = behind.strip_prefix('"').unwrap_or(behind);
    let ends = behind.is_empty()
        || behind.starts_with(|c: char| c.is_whitespace() || matches!(c, ';' | '&' | ')' | '|'));
    ends.then_some(inside)
}

/// A text up to the parenthesis that closes it.
fn inside(text: &str) -> &str {
    let mut depth = 1_usize;
    let end = text.find(|c| {
        depth += usize::from(c == '(');
        depth -= usize::from(c == ')' && depth > 0);
        depth == 0
    });
    text.get(..end.unwrap_or(0)).unwrap_or_default()
}

/// Whether a substitution asks only this machine, or hands on what a variable holds that came from it.
fn is_from_here(text: &str, line: &str, depth: usize) -> bool {
    let mut stages = text.split('|').map(|stage| stage.split_whitespace().next().unwrap_or_default());
    let first = stages.next().unwrap_or_default();
    let kept = stages.all(|program| FILTERS.contains(&program)) && !text.contains(['<', ';', '`']);
    let words = || text.split(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '='));
    if first == "curl" {
        let mut hosts =
            words().filter(|word| word.contains("://") || word.starts_with("localhost:")).peekable();
        let file = words().any(|word| word.starts_with('@') || word == "-K" || word == "--config");
        // A store of secrets may run here too.
        let store = ["secret", "vault", "approle", ":8200"].iter().any(|word| text.contains(word));
        return kept
            && !file
            && !store
            && hosts.peek().is_some()
            && hosts.all(|url| is_this_machine(&host_of(url)));
    }
    let mut names = text.split('$').skip(1).map(|behind| {
        let bare = behind.trim_start_matches('{');
        bare.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default()
    });
    let first_name = names.next().unwrap_or_default();
    kept && matches!(first, "echo" | "printf")
        && !first_name.is_empty()
        && std::iter::once(first_name).chain(names).all(|name| answered(name, line, depth - 1))
}
