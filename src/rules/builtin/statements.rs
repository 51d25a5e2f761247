//! The part of a script that a call in it depends on: its statement, what is assigned to the names in it, who calls the function
//! around it. By lines and brackets only, so that a string at one end of a script says nothing of a call at the other.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::rules::matcher::{Sought, contains_word};

/// Scripts of fewer lines are taken whole.
const SHORT: usize = 4;
/// Longest statement, in lines.
const MAX_LINES: usize = 40;
/// How often names are followed to where they come from.
const ROUNDS: usize = 4;
/// Most lines of a script that are looked at; a longer one is taken whole.
const MAX_SCRIPT: usize = 4000;

/// What begins a function.
const FUNCTIONS: &[&str] = &["def ", "async def ", "function ", "async function ", "sub ", "func ", "fn "];

/// The statements of `code` that hold one of `calls`, and those that they depend on.
pub(super) fn around(code: &str, calls: &[&[&str]]) -> String {
    let lines = code.lines().count();
    if !(SHORT..=MAX_SCRIPT).contains(&lines) {
        return code.to_owned();
    }
    // No call has a line break in it: what is nowhere in the code is in none of its statements.
    let whole = Sought::new(code.to_owned());
    let held: Vec<&str> =
        calls.iter().flat_map(|list| list.iter().copied()).filter(|call| whole.holds(call)).collect();
    if held.is_empty() {
        return String::new();
    }
    let statements = split(code);
    let mut taken: Vec<bool> =
        statements.iter().map(|text| held.iter().any(|call| contains_word(text, call))).collect();
    let mut names: BTreeSet<&str> = BTreeSet::new();
    let mut functions: BTreeSet<&str> = BTreeSet::new();
    for _ in 0..ROUNDS {
        for (index, text) in
            statements.iter().enumerate().filter(|(index, _)| taken.get(*index) == Some(&true))
        {
            names.extend(words(text));
            functions.extend(around_it(&statements, index));
        }
        let mut more = false;
        for (text, taken) in statements.iter().zip(&mut taken).filter(|(_, taken)| !**taken) {
            let assigns = assigned(text).any(|name| names.contains(name));
            if assigns || functions.iter().any(|name| calls_function(text, name)) {
                *taken = true;
                more = true;
            }
        }
        if !more {
            break;
        }
    }
    let kept = statements.iter().zip(&taken).filter(|(_, taken)| **taken).map(|(text, _)| *text);
    kept.collect::<Vec<_>>().join("\n")
}

/// The lines of `code` that hold one of `sources`, and those that use a name which was given its value in one of them.
pub(super) fn behind(code: &str, sources: &[&str]) -> String {
    let mut names: BTreeSet<&str> = BTreeSet::new();
    let mut kept = String::new();
    for line in code.lines().take(MAX_SCRIPT) {
        let source = sources.iter().any(|source| contains_word(line, source));
        if source || !names.is_empty() && words(line).any(|word| names.contains(word)) {
            names.extend(given(line));
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

/// The names that a line gives a value: in front of `=`, between `for` and `in` or `of`, as the argument of a block.
fn given(line: &str) -> impl Iterator<Item = &str> {
    const LOOPS: &[&str] = &["for ", "for(", "foreach "];
    const OWN: &[&str] = &["const", "let", "var", "my", "in", "of", "as"];
    let looped = LOOPS.iter().find_map(|word| line.split_once(word)).map(|(_, rest)| rest);
    let looped = looped.map(|rest| {
        let ends = [" in ", " of "].iter().filter_map(|word| rest.find(word)).min();
        ends.and_then(|end| rest.get(..end)).unwrap_or_default()
    });
    let block = line.split('|').nth(1).filter(|_| line.contains("each"));
    let front = line.split_once('=').map(|(front, _)| front).filter(|front| !front.contains(['(', '[']));
    looped.into_iter().chain(block).chain(front).flat_map(words).filter(|word| !OWN.contains(word))
}

/// Whether a line of code is a comment as a whole.
pub(super) fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with('#') || line.trim_start().starts_with("//")
}

/// Code without the lines that are comments as a whole.
pub(super) fn uncommented(code: &str) -> Cow<'_, str> {
    if !code.lines().any(is_comment) {
        return Cow::Borrowed(code);
    }
    Cow::Owned(code.split_inclusive('\n').filter(|line| !is_comment(line)).collect())
}

/// Whether none of `calls` stands in Python's code itself, but only in its strings and comments, and none of those is run. A bar at
/// the edge of a string opens a pipe in other languages, and names of its own exceptions call nothing.
pub(super) fn only_speaks(code: &str, calls: &[&[&str]]) -> bool {
    const RAISED: &[&str] = &["SystemExit", "SystemError"];
    const RUN: &[&str] = &["exec(", "eval(", "compile(", "globals(", "runpy", "ctypes", "pickle"];
    let own = RAISED.iter().fold(without_strings(code), |own, name| own.replace(name, ""));
    let mut calls = calls.iter().chain(&[RUN]).flat_map(|list| list.iter());
    !calls.any(|call| !call.contains(['"', '\'']) && contains_word(&own, call))
}

/// Python's code without what stands in its strings and comments; strings with code in them are kept.
pub(super) fn without_strings(code: &str) -> String {
    let mut out = String::new();
    let mut rest = code;
    while let Some(at) = rest.find(['"', '\'', '#']) {
        let (front, tail) = rest.split_at_checked(at).unwrap_or((rest, ""));
        out.push_str(front);
        if tail.starts_with('#') {
            rest = tail.find('\n').and_then(|end| tail.get(end..)).unwrap_or_default();
            continue;
        }
        let one = tail.get(..1).unwrap_or_default();
        let triple = one.repeat(3);
        let quote = if tail.starts_with(&triple) { triple.as_str() } else { one };
        let inside = tail.get(quote.len()..).unwrap_or_default();
        let end = end_of(inside, quote);
        let prefix: &str = front.rsplit(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
        if prefix.len() <= 2 && prefix.contains(['f', 'F']) {
            out.push_str(inside.get(..end).unwrap_or_default());
        }
        out.push_str("\"\"");
        rest = inside.get(end + quote.len()..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

/// Code without its comments and with `mark` for each of its strings, and the strings; none when a string has code in it, or no end.
pub(super) fn apart(code: &str, python: bool, mark: char) -> Option<(String, Vec<String>)> {
    let (mut own, mut strings) = (String::new(), Vec::new());
    let mut rest = code;
    let comment = if python { "#" } else { "//" };
    while let Some(at) = rest.find(['"', '\'', '`', '#', '/']) {
        let (front, tail) = rest.split_at_checked(at)?;
        own.push_str(front);
        let one = tail.get(..1)?;
        if tail.starts_with(comment) {
            rest = tail.find('\n').and_then(|end| tail.get(end..)).unwrap_or_default();
            continue;
        }
        if matches!(one, "#" | "/") || python && one == "`" {
            own.push_str(one);
            rest = tail.get(1..)?;
            continue;
        }
        let triple = one.repeat(3);
        let quote = if python && tail.starts_with(&triple) { triple.as_str() } else { one };
        let inside = tail.get(quote.len()..)?;
        let end = end_of(inside, quote);
        let text = inside.get(..end)?;
        let prefix = front.rsplit(|c: char| !is_name(c)).next().unwrap_or_default();
        if text.contains(if python { "{" } else { "${" }) && (!python || prefix.contains(['f', 'F'])) {
            return None;
        }
        // `r"…"`: the letter is no name.
        own.truncate(own.len().checked_sub(if python { prefix.len() } else { 0 })?);
        own.push(mark);
        strings.push(text.to_owned());
        rest = inside.get(end + quote.len()..)?;
    }
    own.push_str(rest);
    Some((own, strings))
}

/// Where a string ends: in front of its quote, or with the code.
fn end_of(inside: &str, quote: &str) -> usize {
    let mut escaped = false;
    for (at, c) in inside.char_indices() {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if inside.get(at..).is_some_and(|rest| rest.starts_with(quote)) {
            return at;
        }
    }
    inside.len()
}

/// The lines of code, those that a bracket holds together as one.
fn split(code: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let (mut start, mut end, mut depth, mut lines) = (0, 0, 0_i32, 0);
    for line in code.split_inclusive('\n') {
        end += line.len();
        lines += 1;
        depth = (depth + brackets(line)).max(0);
        if depth == 0 || lines >= MAX_LINES {
            out.push(code.get(start..end).unwrap_or_default());
            (start, depth, lines) = (end, 0, 0);
        }
    }
    out.push(code.get(start..).unwrap_or_default());
    out
}

/// How many more brackets a line opens than it closes, outside its strings.
fn brackets(line: &str) -> i32 {
    let (mut depth, mut quote, mut escaped) = (0, None, false);
    for c in line.chars() {
        match (quote, c) {
            _ if escaped => escaped = false,
            (_, '\\') => escaped = true,
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'' | '`') => quote = Some(c),
            (None, '(' | '[') => depth += 1,
            (None, ')' | ']') => depth -= 1,
            (None, _) => {}
        }
    }
    depth
}

pub(super) fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c| !is_name(c)).filter(|word| word.starts_with(|c: char| c.is_alphabetic() || c == '_'))
}

/// The names that a statement gives a value: in front of `=`, behind `for`, in a `with … as`.
fn assigned(text: &str) -> impl Iterator<Item = &str> {
    let line = text.trim_start();
    let looped = line
        .strip_prefix("for ")
        .or_else(|| line.strip_prefix("for ("))
        .or_else(|| line.strip_prefix("foreach"));
    let of_loop = looped.map(|rest| rest.split([':', '{']).next().unwrap_or_default());
    let of_with = line.strip_prefix("with ").and_then(|rest| rest.split(" as ").nth(1));
    let front = line.split_once('=').filter(|(front, rest)| {
        !rest.starts_with(['=', '>', '~']) && !front.ends_with(['!', '<', '>']) && !front.contains('(')
    });
    of_loop.into_iter().chain(of_with).chain(front.map(|(front, _)| front)).flat_map(words)
}

/// The name of the function that a statement stands in, going by what it is indented.
fn around_it<'c>(statements: &[&'c str], index: usize) -> Option<&'c str> {
    let indent = |text: &str| text.len() - text.trim_start().len();
    let own = indent(statements.get(index)?);
    let above = statements.get(..index)?.iter().rev();
    let line = above.filter(|text| indent(text) < own).map(|text| text.trim_start()).find_map(|line| {
        let line = line.strip_prefix("export ").unwrap_or(line);
        let named = FUNCTIONS.iter().find_map(|front| line.strip_prefix(front));
        named.or_else(|| {
            line.contains("=>").then(|| line.trim_start_matches("const ").trim_start_matches("let "))
        })
    })?;
    words(line).next()
}

fn calls_function(text: &str, name: &str) -> bool {
    text.match_indices(name)
        .any(|(at, _)| text.get(at + name.len()..).is_some_and(|rest| rest.trim_start().starts_with('(')))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALLS: &[&[&str]] = &[&["rmtree"]];

    #[test]
    fn what_a_call_depends_on_is_kept() {
        let code = "import os\nTARGET = '/home/u'\nother = '/etc'\nfor name in [\n  'a',\n  'b']:\n    print(name)\nshutil.rmtree(TARGET)\n";
        let kept = around(code, CALLS);
        assert!(kept.contains("/home/u") && !kept.contains("/etc"), "{kept}");
        let code =
            "def wipe(path):\n    log('/x')\n    shutil.rmtree(path)\n\nprint('/etc')\nwipe('/home/u')\n";
        let kept = around(code, CALLS);
        assert!(kept.contains("/home/u") && !kept.contains("/etc") && !kept.contains("/x"), "{kept}");
        let code = "a = 1\nb = 2\nfor d in ['/etc',\n          '/usr']:\n    shutil.rmtree(d)\n";
        assert!(around(code, CALLS).contains("/usr"));
    }

    #[test]
    fn short_scripts_are_taken_whole() {
        assert_eq!(around("a = '/'\nrmtree(b)\n", CALLS), "a = '/'\nrmtree(b)\n");
    }

    #[test]
    fn what_only_strings_say_is_not_called() {
        let calls: &[&[&str]] = &[&["system", "run("]];
        for code in
            ["s = 'docker system prune'", "t = \"\"\"\nrun('x') 'a\n\"\"\"  # run(x)\n", "t='it\\'s run(x)'"]
        {
            assert!(only_speaks(code, calls), "{code}");
        }
        for code in [
            "os.system('x')",
            "f\"{run('x')}\"",
            "s = 'run(x)'\nexec(s)",
            "\"\"\"a\"\"\"; run('x')",
            "# it's\nrun('x')",
        ] {
            assert!(!only_speaks(code, calls), "{code}");
        }
    }

    #[test]
    fn without_a_call_nothing_is_left() {
        assert_eq!(around("a = '/'\nb = 1\nc = 2\nd = 3\n", CALLS), "");
    }
}
