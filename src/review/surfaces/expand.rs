//! What clients themselves put in for variables and arguments, before anything of a file is run.

use crate::domain::single_quoted;
use crate::rules::prompts::front_matter;

/// Most words of arguments that are put in.
const MAX_WORDS: usize = 100;

/// A word of a command as a client reads it, as a word for a shell: `${NAME}` and `{env:NAME}` are variables, of `${NAME:-default}`
/// the default counts, `{file:PATH}` is what is in a file.
pub(super) fn word(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, found, after)) = next(rest) {
        if !before.is_empty() {
            out.push_str(&single_quoted(before));
        }
        out.push_str(&match found {
            Found::Variable(name) => format!("\"${{{name}}}\""),
            Found::Default(default) => single_quoted(default),
            Found::File(path) => format!("\"$(cat {})\"", single_quoted(path)),
        });
        rest = after;
    }
    if out.is_empty() || !rest.is_empty() {
        out.push_str(&single_quoted(rest));
    }
    out
}

/// An address in which the defaults stand for their variables.
pub(super) fn address(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, found, after)) = next(rest) {
        out.push_str(before);
        match found {
            Found::Default(default) => out.push_str(default),
            Found::Variable(_) | Found::File(_) => {
                out.push_str(rest.get(before.len()..rest.len() - after.len()).unwrap_or_default());
            }
        }
        rest = after;
    }
    out + rest
}

enum Found<'t> {
    Variable(&'t str),
    Default(&'t str),
    File(&'t str),
}

/// The first of these forms, with what stands before and behind it.
fn next(text: &str) -> Option<(&str, Found<'_>, &str)> {
    let mut from = 0;
    loop {
        let at = from + text.get(from..)?.find('{')?;
        from = at + 1;
        let inside = text.get(from..)?;
        let Some((inside, after)) = inside.split_once('}') else { continue };
        let front = text.get(..at)?;
        let variable = |name: &str| {
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        };
        if let Some(front) = front.strip_suffix('$') {
            match inside.split_once(":-") {
                Some((name, default)) if variable(name) => {
                    return Some((front, Found::Default(default), after));
                }
                None if variable(inside) => return Some((front, Found::Variable(inside), after)),
                Some(_) | None => {}
            }
        } else if let Some(name) = inside.strip_prefix("env:").filter(|name| variable(name)) {
            return Some((front, Found::Variable(name), after));
        } else if let Some(path) = inside.strip_prefix("file:") {
            return Some((front, Found::File(path), after));
        }
    }
}

/// A prompt with its arguments in it, as the versions of the client read it: `$1` is the second word for some, the first for others.
pub fn with_arguments(text: &str, arguments: &str) -> [String; 2] {
    let words = words(arguments);
    let names = named(text);
    [0, 1].map(|base| {
        let one = |at: usize| words.get(at).map_or("", String::as_str);
        let mut out = String::with_capacity(text.len() + arguments.len());
        let mut rest = text;
        let mut put_in = false;
        while let Some((before, after)) = rest.split_once('$') {
            out.push_str(before);
            let digits =
                |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let number = |text: &str| text.parse::<usize>().ok();
            let indexed = after.strip_prefix("ARGUMENTS[").and_then(|after| after.split_once(']'));
            let name = names.iter().enumerate().find(|(_, name)| after.starts_with(name.as_str()));
            let (value, behind) =
                if let Some((at, behind)) = indexed.and_then(|(at, behind)| Some((number(at)?, behind))) {
                    (one(at), behind)
                } else if let Some(behind) = after.strip_prefix("ARGUMENTS") {
                    (arguments, behind)
                } else if let Some((at, behind)) =
                    after.split_at_checked(digits(after)).and_then(|(at, behind)| Some((number(at)?, behind)))
                {
                    (at.checked_sub(base).map_or("", one), behind)
                } else if let Some((at, name)) = name {
                    (one(at), after.strip_prefix(name.as_str()).unwrap_or_default())
                } else {
                    out.push('$');
                    rest = after;
                    continue;
                };
            put_in = true;
            out.push_str(value);
            rest = behind;
        }
        out.push_str(rest);
        if !put_in {
            out.push_str("\n\nARGUMENTS: ");
            out.push_str(arguments);
        }
        out
    })
}

/// The names that a front matter gives arguments.
fn named(text: &str) -> Vec<String> {
    let head = front_matter(text).unwrap_or_default();
    let list = head.lines().find_map(|line| line.strip_prefix("arguments:")).unwrap_or_default();
    let words = list.split([' ', ',', '[', ']', '"', '\'']).filter(|word| !word.is_empty());
    words.map(str::to_owned).take(MAX_WORDS).collect()
}

/// Arguments apart, as a shell takes them apart.
fn words(arguments: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut open: Option<char> = None;
    let mut fresh = true;
    for c in arguments.chars() {
        match (open, c) {
            (Some(quote), c) if c == quote => open = None,
            (None, '\'' | '"') => {
                open = Some(c);
                if std::mem::take(&mut fresh) {
                    words.push(String::new());
                }
            }
            (None, c) if c.is_whitespace() => fresh = true,
            (_, c) => {
                if std::mem::take(&mut fresh) {
                    words.push(String::new());
                }
                if let Some(word) = words.last_mut() {
                    word.push(c);
                }
            }
        }
        if words.len() > MAX_WORDS {
            break;
        }
    }
    words
}
