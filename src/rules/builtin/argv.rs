//! How code starts programs, as far as the words tell it: by a list of arguments that no shell looks into, and by backticks.

use super::scripts;
use crate::domain::single_quoted;

/// Calls of Python that start a program from a list of arguments.
const CALLS: &[&str] = &[
    "subprocess.run(",
    "subprocess.call(",
    "subprocess.check_call(",
    "subprocess.check_output(",
    "subprocess.Popen(",
];

/// The command lines of code that starts programs in no other way than by lists of plain strings. None: it may in another way too.
pub(super) fn commands(code: &str) -> Option<Vec<String>> {
    /// What stands in such code besides the calls.
    const NAMES: &[&str] =
        &["import subprocess", "subprocess.PIPE", "subprocess.DEVNULL", "subprocess.STDOUT"];
    let mut rest = String::with_capacity(code.len());
    let mut left = code;
    let mut found = Vec::new();
    while let Some((at, call)) = CALLS.iter().filter_map(|call| left.find(call).map(|at| (at, *call))).min() {
        rest.push_str(left.get(..at)?);
        let list = left.get(at + call.len()..)?.trim_start().strip_prefix('[')?;
        let end = end_of_list(list)?;
        let words = scripts::strings(list.get(..end)?);
        found.push(words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "));
        left = list.get(end..)?;
    }
    rest.push_str(left);
    for name in NAMES {
        rest = rest.replace(name, "");
    }
    let other = super::code::STARTS.iter().any(|start| rest.contains(start)) || rest.contains("eval");
    (!found.is_empty() && !other).then_some(found)
}

/// Where a list of nothing but plain strings, with commas between them, ends.
fn end_of_list(text: &str) -> Option<usize> {
    let mut quote = None;
    let mut joined = false;
    for (at, c) in text.char_indices() {
        match quote {
            _ if c == '\\' => return None,
            Some(open) if c == open => (quote, joined) = (None, true),
            Some(_) => {}
            // Two strings side by side are one.
            None if matches!(c, '"' | '\'') && !joined => quote = Some(c),
            None if c == ']' => return Some(at),
            None if c == ',' => joined = false,
            None if c.is_whitespace() => {}
            None => return None,
        }
    }
    None
}

/// The text as one word of a shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    single_quoted(word)
}

/// Whether backticks of a program's code run what stands between them: not in every language, and not within a string.
pub(super) fn runs_backticks(program: &str, code: &str) -> bool {
    const LANGUAGES: &[&str] = &["perl", "ruby", "php", "raku", "irb", "awk", "gawk", "sh", "bash"];
    const OTHERS: &[&str] = &["python", "node", "nodejs", "deno", "bun", "lua", "pypy"];
    let name = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if OTHERS.contains(&name) {
        return false;
    }
    if !LANGUAGES.contains(&name) {
        return true;
    }
    if name == "perl" && is_substitution(code) {
        return false;
    }
    let mut quote = None;
    let mut escaped = false;
    for (at, c) in code.char_indices() {
        match quote {
            _ if escaped => escaped = false,
            _ if c == '\\' => escaped = true,
            // `"#{`id`}"`
            Some('"') if c == '`' && code.get(..at).is_some_and(|front| front.contains("#{")) => return true,
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if c == '`' => return true,
            None if matches!(c, '"' | '\'') => quote = Some(c),
            None => {}
        }
    }
    false
}

/// One `s/…/…/` that is not told to run its replacement, and nothing else.
fn is_substitution(code: &str) -> bool {
    let Some(rest) = code.trim().strip_prefix("s/") else { return false };
    let rest = rest.replace("\\/", "");
    let mut parts = rest.split('/');
    let flags = parts.nth(2);
    parts.next().is_none()
        && flags.is_some_and(|flags| flags.bytes().all(|b| b.is_ascii_lowercase() && b != b'e'))
}

/// Whether code names the shell otherwise than to take a text apart as a shell would.
pub(super) fn names_shell(code: &str) -> bool {
    const PARSERS: &[&str] = &["-quote", "words", "escape", "-escape", "-words"];
    let lower = code.to_ascii_lowercase();
    { lower.match_indices("shell") }.any(|(at, word)| {
        let behind = lower.get(at + word.len()..).unwrap_or_default();
        !PARSERS.iter().any(|parser| behind.starts_with(parser))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_one_command() {
        let of = |code| commands(code);
        assert_eq!(
            of("import subprocess; subprocess.run(['git', 'restore', 'a b'], check=True)"),
            Some(vec!["git restore 'a b'".to_owned()])
        );
        assert_eq!(of("import subprocess; subprocess.run(['sh', '-c', x])"), None);
        assert_eq!(of("import subprocess; subprocess.run(['r' 'm', '-rf', '/'])"), None);
        assert_eq!(of("import subprocess, os; os.system('x'); subprocess.run(['ls'])"), None);
        assert_eq!(of("import subprocess; subprocess.run(['ls'], shell=True)"), None);
        assert_eq!(of("import subprocess; subprocess.run('ls')"), None);
        assert_eq!(of("print(1)"), None);
    }

    #[test]
    fn backticks_run_in_some_languages_and_outside_of_strings() {
        assert!(runs_backticks("ruby", "puts `id`") && runs_backticks("perl5.36", "print `id`"));
        assert!(runs_backticks("ruby", "puts \"#{`id`}\""));
        assert!(!runs_backticks("perl", "s/a/`b`/g") && runs_backticks("perl", "s/a/`b`/e"));
        assert!(runs_backticks("perl", "s/a/b/, `id`"));
        assert!(names_shell("run(x, shell=True)") && !names_shell("require('shell-quote')"));
        assert!(!runs_backticks("ruby", "puts '`id`'") && !runs_backticks("python3", "s = \"`id`\""));
    }
}
