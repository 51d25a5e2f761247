//! Brace expansion: `{a,b}`, `{1..3}`, as bash finds them in a word.

use super::super::{Op, Part};
use super::Env;

const MAX_DEPTH: u8 = 32;
/// Words that one word may become, and steps to find out.
const MAX_WORDS: usize = 4096;
const MAX_STEPS: usize = 1024 * 1024;

/// A character in which braces mean something, or a part in which they do not.
#[derive(Clone, Copy, PartialEq)]
enum Token {
    Char(char),
    Part(usize),
}

type Words = Vec<Vec<Token>>;

/// What a word with braces becomes; none where that is more than the bounds.
pub(super) fn expand(parts: &[Part], env: &Env) -> Option<Vec<Vec<Part>>> {
    if env.spent.get() >= Env::MAX_SPENT {
        return None;
    }
    let mut tokens = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        match part {
            Part::Text { text, quoted: false } => tokens.extend(text.chars().map(Token::Char)),
            _ => tokens.push(Token::Part(index)),
        }
    }
    let mut search = Search { steps: MAX_STEPS };
    let words = search.words(&tokens, 0)?;
    let size: usize = words.iter().map(Vec::len).sum();
    // A word costs much more than its letters. Once there is no more room, nothing is worked out for nothing.
    if words.len() > 1 && !env.afford(size.saturating_mul(64)) {
        env.spent.set(Env::MAX_SPENT);
        return None;
    }
    Some(words.into_iter().map(|word| join(&word, parts)).collect())
}

fn join(word: &[Token], parts: &[Part]) -> Vec<Part> {
    let letters: Option<String> = { word.iter() }
        .map(|token| match token {
            Token::Char(char) => Some(*char),
            Token::Part(_) => None,
        })
        .collect();
    if let Some(text) = letters.filter(|text| !text.is_empty()) {
        return vec![Part::Text { text, quoted: false }];
    }
    let mut out = Vec::new();
    let mut before_brace = false;
    for token in word {
        match (token, out.last_mut()) {
            (Token::Char(char), Some(Part::Text { text, quoted: false })) => text.push(*char),
            (Token::Char(char), Some(Part::Variable { plain, op, .. }))
                if before_brace && (char.is_ascii_alphanumeric() || *char == '_') =>
            {
                // `$x{1,2}` is `$x1 $x2`: another variable.
                *plain = false;
                *op = Op::Other;
            }
            (Token::Char(char), _) => out.push(Part::Text { text: char.to_string(), quoted: false }),
            (Token::Part(index), _) => {
                let next = parts.get(index + 1);
                before_brace =
                    matches!(next, Some(Part::Text { text, quoted: false }) if text.starts_with('{'));
                out.extend(parts.get(*index).cloned());
            }
        }
    }
    out
}

struct Search {
    steps: usize,
}

impl Search {
    fn words(&mut self, text: &[Token], depth: u8) -> Option<Words> {
        if depth > MAX_DEPTH {
            return None;
        }
        let mut from = 0;
        let (open, close) = loop {
            let Some(open) = self.find(text, from, '{')? else { return Some(vec![text.to_vec()]) };
            match self.find(text, open + 1, '}')? {
                Some(close) => break (open, close),
                None => from = open + 1,
            }
        };
        let inside = text.get(open + 1..close)?;
        let middle = if inside.contains(&Token::Char(',')) {
            self.items(inside, depth)?
        } else if let Some(words) = sequence(inside) {
            words?
        } else if close + 1 < text.len() {
            vec![text.get(open..=close)?.to_vec()]
        } else {
            return Some(vec![text.to_vec()]);
        };
        let after = match text.get(close + 1..)? {
            [] => vec![Vec::new()],
            rest => self.words(rest, depth + 1)?,
        };
        let before = text.get(..open)?;
        if middle.len().checked_mul(after.len())? > MAX_WORDS {
            return None;
        }
        let mut out = Vec::new();
        for item in &middle {
            for end in &after {
                let word = [before, item, end].concat();
                self.spend(word.len())?;
                out.push(word);
            }
        }
        Some(out)
    }

    /// The items between commas, each expanded.
    fn items(&mut self, inside: &[Token], depth: u8) -> Option<Words> {
        let mut out = Vec::new();
        let mut rest = inside;
        loop {
            let end = self.find(rest, 0, ',')?;
            out.extend(self.words(rest.get(..end.unwrap_or(rest.len()))?, depth + 1)?);
            if out.len() > MAX_WORDS {
                return None;
            }
            match end {
                Some(end) => rest = rest.get(end + 1..)?,
                None => return Some(out),
            }
        }
    }

    fn spend(&mut self, steps: usize) -> Option<()> {
        self.steps = self.steps.checked_sub(steps.max(1))?;
        Some(())
    }

    /// The next `wanted` outside of nested braces. A `}` counts only behind a comma or `..`.
    fn find(&mut self, text: &[Token], from: usize, wanted: char) -> Option<Option<usize>> {
        let mut level = 0usize;
        let mut separated = wanted != '}';
        let char_at = |at: usize| match text.get(at) {
            Some(Token::Char(char)) => Some(*char),
            _ => None,
        };
        for at in from..text.len() {
            self.spend(1)?;
            let Some(char) = char_at(at) else { continue };
            if char == wanted && level == 0 && separated {
                if char == '{' && at == 0 && (char_at(1) == Some('}') || text.len() == 1) {
                    continue;
                }
                return Some(Some(at));
            }
            match char {
                '{' => level += 1,
                '}' => level = level.saturating_sub(1),
                ',' if level == 0 => separated = true,
                '.' if level == 0 && char_at(at + 1) == Some('.') && char_at(at + 2) != Some('}') => {
                    separated = true;
                }
                _ => {}
            }
        }
        Some(None)
    }
}

/// `x..y` or `x..y..step`: none when it is not that, `Some(None)` when it is too long.
fn sequence(inside: &[Token]) -> Option<Option<Words>> {
    let mut text = String::new();
    for token in inside {
        match token {
            Token::Char(char) => text.push(*char),
            Token::Part(_) => return None,
        }
    }
    let (first, rest) = text.split_once("..")?;
    let (last, step) = match rest.split_once("..") {
        Some((last, step)) => (last, step.parse::<i64>().ok()?),
        None => (rest, 1),
    };
    let letters = letter(first).zip(letter(last));
    let (start, end) = match letters {
        Some((start, end)) => (i64::from(u32::from(start)), i64::from(u32::from(end))),
        None => (first.parse::<i64>().ok()?, last.parse::<i64>().ok()?),
    };
    let width = if padded(first) || padded(last) { first.len().max(last.len()) } else { 0 };
    let step = step.checked_abs()?.max(1);
    let count = end.abs_diff(start) / step.unsigned_abs();
    if count >= MAX_WORDS as u64 {
        return Some(None);
    }
    let mut words = Vec::new();
    let mut value = start;
    for _ in 0..=count {
        let text = match letters {
            Some(_) => u32::try_from(value).ok().and_then(char::from_u32).map(String::from)?,
            None => format!("{value:0width$}"),
        };
        words.push(text.chars().map(Token::Char).collect());
        value = if start <= end { value.saturating_add(step) } else { value.saturating_sub(step) };
    }
    Some(Some(words))
}

fn letter(text: &str) -> Option<char> {
    let mut chars = text.chars();
    let first = chars.next().filter(char::is_ascii_alphabetic)?;
    chars.next().is_none().then_some(first)
}

/// Written with a leading zero.
fn padded(number: &str) -> bool {
    let digits = number.strip_prefix('-').unwrap_or(number);
    digits.len() > 1 && digits.starts_with('0')
}
