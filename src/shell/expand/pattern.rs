//! `${NAME#pattern}` and `${NAME:offset:length}` of a known value.

use super::Piece;
use crate::domain::single_quoted;
use crate::shell::parse::unescaped;

/// Longest value and pattern that are matched here.
const MAX: usize = 1024;

/// Which end is cut off, and how much of it.
pub(super) struct Trim {
    pub suffix: bool,
    pub longest: bool,
}

impl Trim {
    /// The value without what the pattern matches; none where that is not worked out here.
    pub fn cut<'a>(&self, value: &'a str, pattern: &[Piece]) -> Option<&'a str> {
        let pattern = tokens(pattern)?;
        if value.len() > MAX || pattern.len() > MAX {
            return None;
        }
        let mut places: Vec<usize> = value.char_indices().map(|(at, _)| at).collect();
        places.push(value.len());
        // The order in which cuts are tried: the shortest match first, or the longest.
        if self.suffix != self.longest {
            places.reverse();
        }
        for at in places {
            let (head, tail) = value.split_at_checked(at)?;
            let (matched, left) = if self.suffix { (tail, head) } else { (head, tail) };
            if matches(matched, &pattern) {
                return Some(left);
            }
        }
        Some(value)
    }
}

enum Token {
    Char(char),
    Any,
    Many,
}

/// The pattern, if it has only `?` and `*`.
fn tokens(pieces: &[Piece]) -> Option<Vec<Token>> {
    let mut out = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Known(text) => out.extend(text.chars().map(Token::Char)),
            Piece::Glob(text) => {
                for char in text.chars() {
                    out.push(match char {
                        '?' => Token::Any,
                        '*' => Token::Many,
                        _ => return None,
                    });
                }
            }
            Piece::Unknown => return None,
        }
    }
    Some(out)
}

/// Whether the pattern matches all of the text; goes back only to the last `*`.
fn matches(text: &str, pattern: &[Token]) -> bool {
    let chars: Vec<char> = text.chars().collect();
    let (mut at, mut token) = (0usize, 0usize);
    let mut star: Option<(usize, usize)> = None;
    while at < chars.len() {
        let step = match pattern.get(token) {
            Some(Token::Many) => {
                star = Some((token, at));
                token += 1;
                continue;
            }
            Some(Token::Any) => true,
            Some(Token::Char(char)) => chars.get(at) == Some(char),
            None => false,
        };
        if step {
            at += 1;
            token += 1;
        } else if let Some((behind, from)) = star {
            star = Some((behind, from + 1));
            (token, at) = (behind + 1, from + 1);
        } else {
            return false;
        }
    }
    pattern.get(token..).unwrap_or_default().iter().all(|token| matches!(token, Token::Many))
}

/// `//old/new`, `/old/new`, `^^`, `,,`, `^`, `,` or `@` with a letter, of plain text; none where it is not worked out here.
pub(super) fn change(value: &str, how: &str) -> Option<String> {
    if value.len() > MAX || how.len() > MAX {
        return None;
    }
    let first = |upper: bool| {
        let mut text = value.to_owned();
        let head = text.get_mut(..1)?;
        if upper {
            head.make_ascii_uppercase()
        } else {
            head.make_ascii_lowercase()
        }
        Some(text)
    };
    match how {
        "^" | "," if value.is_empty() => return Some(String::new()),
        "^^" | "@U" if value.is_ascii() => return Some(value.to_ascii_uppercase()),
        ",," | "@L" if value.is_ascii() => return Some(value.to_ascii_lowercase()),
        "^" | "@u" if value.is_ascii() && !value.is_empty() => return first(true),
        "," if value.is_ascii() && !value.is_empty() => return first(false),
        "@E" => return Some(unescaped(value)),
        "@Q" => return Some(single_quoted(value)),
        _ => {}
    }
    let rest = how.strip_prefix('/')?;
    let (every, rest) = rest.strip_prefix('/').map_or((false, rest), |rest| (true, rest));
    let plain = |text: &str| {
        !text.contains(['\\', '$', '`', '\'', '"', '*', '?', '[', '(', '&', '~', '#', '%', '<', '>'])
    };
    let (old, new) = rest.split_once('/').unwrap_or((rest, ""));
    // `#`, `%`: only at the beginning, only at the end; there is always nothing.
    if let (false, Some(at @ (b'#' | b'%'))) = (every, old.bytes().next()) {
        let old = old.get(1..).filter(|old| plain(old) && plain(new))?;
        let left = if at == b'#' { value.strip_prefix(old) } else { value.strip_suffix(old) };
        return Some(match (left, at) {
            (Some(left), b'#') => format!("{new}{left}"),
            (Some(left), _) => format!("{left}{new}"),
            (None, _) => value.to_owned(),
        });
    }
    if old.is_empty() || !plain(old) || !plain(new) {
        return None;
    }
    let grown = value.len().saturating_mul(new.len().max(1));
    if grown > 64 * MAX {
        return None;
    }
    Some(if every { value.replace(old, new) } else { value.replacen(old, new, 1) })
}

/// `offset` or `offset:length`, as plain numbers.
pub(super) fn slice(value: &str, range: &str) -> Option<String> {
    let (offset, length) = match range.split_once(':') {
        Some((offset, length)) => (offset, Some(length)),
        None => (range, None),
    };
    let chars = i64::try_from(value.chars().count()).ok()?;
    let offset = offset.trim_matches(' ').parse::<i64>().ok()?;
    let start = if offset < 0 { offset.checked_add(chars)? } else { offset };
    if start < 0 || start > chars {
        return Some(String::new());
    }
    let end = match length.map(|length| length.trim_matches(' ').parse::<i64>()) {
        None => chars,
        Some(Ok(length)) if length < 0 => chars.checked_add(length)?,
        Some(Ok(length)) => start.checked_add(length)?.min(chars),
        Some(Err(_)) => return None,
    };
    if end < start {
        return None;
    }
    let (start, count) = (usize::try_from(start).ok()?, usize::try_from(end - start).ok()?);
    Some(value.chars().skip(start).take(count).collect())
}
