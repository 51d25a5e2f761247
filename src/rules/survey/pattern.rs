//! Patterns of searches, as far as they say how what is found is called: `-path` of find, regular expressions of find, fd and grep.

use crate::shell::Arg;

/// Most alternatives of a regular expression.
const MAX_ALTERNATIVES: usize = 16;

/// The end of every path that a `-path` pattern matches, below each place where the search starts. Its `*` matches slashes too. None: it
/// may match nearly everything, or a part of the place itself.
pub(super) fn of_path(pattern: &str, starts: &[&Arg]) -> Option<String> {
    let is_wild = |part: &str| part.contains(['*', '?', '[', '\\']);
    let whole = |text: &str| text.trim_end_matches('/').trim_start_matches("./").to_owned();
    let one = match starts {
        [] => Some(String::new()),
        [start] => Some(whole(&start.text())),
        _ => None,
    };
    let rest = match pattern.strip_prefix("*/") {
        Some(rest) => rest,
        // `*.orig`
        None if pattern.starts_with('*') => {
            let end = pattern.trim_start_matches('*');
            return (!is_wild(end) && !end.contains('/') && end.len() > 1).then(|| format!("*{end}"));
        }
        None => {
            let start = one.as_deref()?;
            let below = pattern.strip_prefix("./").unwrap_or(pattern);
            if matches!(start, "" | ".") { below } else { below.strip_prefix(start)?.strip_prefix('/')? }
        }
    };
    let mut parts = rest.split('/').skip_while(|part| is_wild(part) || part.is_empty()).peekable();
    let first = *parts.peek()?;
    if matches!(first, "." | "..")
        || starts.iter().any(|start| start.text().split('/').any(|own| own.eq_ignore_ascii_case(first)))
    {
        return None;
    }
    let mut out = String::new();
    while let Some(part) = parts.next() {
        let part = match (is_wild(part), parts.peek()) {
            (false, _) => part.to_owned(),
            (true, Some(_)) => "**".to_owned(),
            // The last one may reach over slashes too, and keeps how it ends.
            (true, None) => match part.strip_prefix('*') {
                Some(end) if !is_wild(end) && !end.is_empty() => format!("**/*{end}"),
                _ => "**".to_owned(),
            },
        };
        if !out.is_empty() {
            out.push('/');
        }
        out.push_str(&part);
    }
    Some(out)
}

/// The names in which a regular expression is found, as patterns; nothing where that cannot be told.
pub(in crate::rules) fn of_names(expression: &str) -> Vec<String> {
    let (front, rest) = expression.strip_prefix('^').map_or(("*", expression), |rest| ("", rest));
    let (end, rest) = rest.strip_suffix('$').map_or(("*", rest), |rest| ("", rest));
    let names = of_regex(rest);
    if names.iter().any(|name| name.contains('/')) {
        return Vec::new();
    }
    names.iter().map(|name| format!("{front}{name}{end}")).collect()
}

/// The texts that a regular expression matches: letters, escaped dots and one group of alternatives (`\.\(orig\|rej\)`, `\.(a|b)`). Empty:
/// it has more in it than that.
pub(super) fn of_regex(text: &str) -> Vec<String> {
    let text = text.replace("\\(", "(").replace("\\)", ")").replace("\\|", "|");
    let (front, group, end) = match text.split_once('(') {
        Some((front, rest)) => match rest.split_once(')') {
            Some((group, end)) => (front, group, end),
            None => return Vec::new(),
        },
        None => ("", text.as_str(), ""),
    };
    let all: Option<Vec<String>> =
        { group.split('|') }.map(|one| plain(&format!("{front}{one}{end}"))).collect();
    all.filter(|all| all.len() <= MAX_ALTERNATIVES && all.iter().all(|one| one.len() > 1)).unwrap_or_default()
}

/// What an expression without signs of its own matches.
fn plain(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some(escaped @ ('.' | '-' | '/' | '_')) => out.push(escaped),
                _ => return None,
            },
            '.' | '*' | '+' | '?' | '[' | ']' | '{' | '}' | '^' | '$' | '(' | ')' | '|' => return None,
            letter => out.push(letter),
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_limited_by_whole_names() {
        let here = Arg::literal(".");
        let of = |pattern| of_path(pattern, &[&here]);
        assert_eq!(of("*/__snapshots__/*").as_deref(), Some("__snapshots__/**"));
        assert_eq!(of("*/.ipynb_checkpoints").as_deref(), Some(".ipynb_checkpoints"));
        assert_eq!(of("./packages/*/dist").as_deref(), Some("packages/**/dist"));
        assert_eq!(of("*/build/*.o").as_deref(), Some("build/**/*.o"));
        assert_eq!(of("*.orig").as_deref(), Some("*.orig"));
        for wide in ["*", "*/*", "*claude*", "./*", "*/../*", "*/[a-z]*"] {
            assert_eq!(of(wide), None, "{wide}");
        }
    }

    #[test]
    fn a_part_of_the_start_limits_nothing() {
        let start = Arg::literal("/home/u/proj/.claude");
        assert_eq!(of_path("*/.claude/settings.json", &[&start]), None);
        assert_eq!(of_path("/home/u/proj/.claude/x", &[&start]).as_deref(), Some("x"));
        assert_eq!(of_path("elsewhere/x", &[&start]), None);
    }

    #[test]
    fn expressions_are_texts() {
        assert_eq!(of_regex(r"\.\(orig\|rej\)"), [".orig", ".rej"]);
        assert_eq!(of_regex(r"\.(a|b)x"), [".ax", ".bx"]);
        assert_eq!(of_regex(r"/core"), ["/core"]);
        for wide in [".*", r"\.[a-z]+", r"a\d", "x", "(a", ""] {
            assert!(of_regex(wide).is_empty(), "{wide}");
        }
    }
}
