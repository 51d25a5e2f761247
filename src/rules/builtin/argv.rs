//! Command lines that stand in code as lists of words, and backticks that run what is between them.

use super::scripts;
use crate::domain::single_quoted;
use crate::rules::foreign::only_substitutes;

/// The command lines of lists with names in them, with each of the strings that those names stand for: `for d in ['/', '/etc']:
/// run(['rm', '-rf', d])`.
pub(super) fn with_values(code: &str) -> Vec<String> {
    /// Most lists, and most values of a name.
    const MOST: usize = 16;
    let mut out = Vec::new();
    for (at, _) in code.match_indices('[').take(MOST) {
        let (front, list) = code.split_at_checked(at).unwrap_or_default();
        let Some(list) = list.get(1..).and_then(|list| list.split(']').next()) else { continue };
        let mut words: Vec<&str> = list.split(',').map(str::trim).filter(|word| !word.is_empty()).collect();
        // `execFileSync('rm', ['-rf', d])`
        let front = front.trim_end().strip_suffix(',').unwrap_or_default();
        let program = front.rsplit('(').next().map(str::trim).filter(|word| literal(word).is_some());
        words.splice(0..0, program);
        let names = || words.iter().filter(|word| literal(word).is_none());
        let (Some(name), true) = (names().next(), words.len() > 1) else { continue };
        if names().any(|other| other != name)
            || !is_name(name)
            || literal(words.first().unwrap_or(name)).is_none()
        {
            continue;
        }
        for value in values(code, name).into_iter().take(MOST) {
            let said = words.iter().map(|word| literal(word).map_or_else(|| quoted(&value), quoted));
            out.push(said.collect::<Vec<_>>().join(" "));
        }
        if out.len() > MOST {
            break;
        }
    }
    out
}

/// How often a name is looked at where it is given something.
const MAX_VALUES: usize = 64;

fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// What a plain string says.
fn literal(word: &str) -> Option<&str> {
    let text = ['"', '\''].iter().find_map(|quote| word.strip_prefix(*quote)?.strip_suffix(*quote))?;
    (!text.contains(['"', '\'', '\\'])).then_some(text)
}

/// The strings that a name is given as they stand, alone or one after the other by a loop.
fn values(code: &str, name: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut left = MAX_VALUES;
    for (at, _) in code.match_indices(name) {
        let front = code.get(..at).unwrap_or_default();
        let behind = code.get(at + name.len()..).unwrap_or_default().trim_start();
        if front.ends_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.')) {
            continue;
        }
        let given = behind.strip_prefix('=').filter(|rest| !rest.starts_with('='));
        let listed = ["in ", "of "].iter().find_map(|word| behind.strip_prefix(word));
        let Some(rest) = given.or(listed).map(str::trim_start) else { continue };
        if left == 0 {
            break;
        }
        left -= 1;
        let end = match rest.chars().next() {
            Some('[') => rest.find(']'),
            Some('(') => rest.find(')'),
            _ => rest.find(['\n', ';']),
        };
        let value = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        match literal(value.trim_end()) {
            Some(text) => out.push(text.to_owned()),
            None if value.starts_with(['[', '(']) => out.extend(scripts::strings(value)),
            None => {}
        }
    }
    out
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
    const OTHERS: &[&str] = &["python", "node", "nodejs", "deno", "bun", "lua", "pypy", "ed"];
    // ``Bun.$`id` ``, and of `zx` and `execa`.
    if code.contains("$`") && ["Bun", "bun", "zx", "execa"].iter().any(|name| code.contains(name)) {
        return true;
    }
    let name = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if OTHERS.contains(&name) {
        return false;
    }
    if !LANGUAGES.contains(&name) {
        return true;
    }
    if name == "perl" && only_substitutes(code) {
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

/// Whether code names the shell otherwise than to take a text apart as a shell would.
pub(super) fn names_shell(code: &str) -> bool {
    const PARSERS: &[&str] = &["-quote", "words", "escape", "split", "join", "-escape", "-words"];
    let lower = code.to_ascii_lowercase();
    { lower.match_indices("shell") }.any(|(at, word)| {
        let behind = lower.get(at + word.len()..).unwrap_or_default();
        let quote = |c: char| matches!(c, '"' | '\'');
        // `escapeshellarg($x)` of PHP
        let escapes = lower.get(..at).is_some_and(|front| front.ends_with("escape"))
            && ["arg(", "cmd("].iter().any(|end| behind.starts_with(end));
        // `require('./lib/shell')`
        let module = lower.get(..at).and_then(|front| front.rsplit(quote).next()).unwrap_or_default();
        let own = module.starts_with("./") && !module.contains(' ') && behind.starts_with(quote);
        !own && !escapes && !PARSERS.iter().any(|parser| behind.starts_with(parser))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_a_list_stand_for_strings() {
        assert_eq!(
            with_values("for d in ['/', '/etc']:\n    subprocess.run(['rm', '-rf', d])"),
            ["rm -rf /", "rm -rf /etc"]
        );
        assert_eq!(with_values("d = '/etc'; run(['rm', '-rf', d])"), ["rm -rf /etc"]);
        assert_eq!(
            with_values("for (const d of ['/a b']) execFileSync('rm', ['-rf', d])"),
            ["rm -rf '/a b'"]
        );
        assert!(with_values("d = '/'.join(parts)\nrun(['rm', '-rf', d])").is_empty());
        assert!(with_values("run(['rm', '-rf', d]); a.d = '/'; e = [d, '/']").is_empty());
    }

    #[test]
    fn backticks_run_in_some_languages_and_outside_of_strings() {
        assert!(runs_backticks("ruby", "puts `id`") && runs_backticks("perl5.36", "print `id`"));
        assert!(runs_backticks("ruby", "puts \"#{`id`}\""));
        assert!(!runs_backticks("perl", "s/a/`b`/g") && runs_backticks("perl", "s/a/`b`/e"));
        assert!(runs_backticks("perl", "s/a/b/, `id`"));
        assert!(names_shell("run(x, shell=True)") && !names_shell("require('shell-quote')"));
        assert!(names_shell("$SHELL './x'") && !names_shell("require('./lib/shell')"));
        assert!(!runs_backticks("ruby", "puts '`id`'") && !runs_backticks("python3", "s = \"`id`\""));
        assert!(runs_backticks("bun", "await Bun.$`id`") && !runs_backticks("bun", "Bun.write('a', `b`)"));
    }
}
