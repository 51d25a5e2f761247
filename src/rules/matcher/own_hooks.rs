//! The project's own hooks in a text of code: work like any other, of which a rule asks. Only the user's are protected, and both
//! have the same name.

use super::inside;
use crate::domain::{Places, join};

/// Where Claude Code's hooks lie, below a project or a home directory.
const HOOKS: &str = ".claude/hooks";

/// `text` without the names of the project's own hooks, as a program run in `cwd` reads them; nothing where it has none.
pub(super) fn left_out(text: &str, cwd: Option<&str>, places: &Places) -> Option<String> {
    let free = |dir: &str| {
        let hooks = join(dir, HOOKS);
        !places.protected.iter().any(|place| place.tree && inside(&hooks, &place.path))
    };
    if names_home(text, places) {
        return None;
    }
    let here = cwd.is_some_and(free);
    let roots: Vec<String> =
        places.roots().filter(|root| free(root)).map(|root| [root, "/"].concat()).collect();
    let starts = |before: &str| !before.ends_with(is_of_a_path);
    let is_own = |before: &str| {
        let below = |top: &str| before.strip_suffix(top).is_some_and(starts);
        (here && (starts(before) || below("./")))
            || roots.iter().any(|root| below(root))
            || ["$CLAUDE_PROJECT_DIR/", "${CLAUDE_PROJECT_DIR}/"].iter().any(|top| below(top))
    };
    let mut left = String::with_capacity(text.len());
    let mut rest = text;
    let mut before = String::with_capacity(text.len());
    // Some systems take a name for the same in other letters.
    while let Some((front, after)) = split(rest) {
        left.push_str(front);
        before.push_str(front);
        let own = is_own(&before);
        let path = after.split(|c: char| !is_of_a_path(c)).next().unwrap_or_default();
        before.push_str(HOOKS);
        let is_whole = path.is_empty() || path.starts_with('/');
        if is_whole && !path.contains("..") && own {
            rest = after.strip_prefix(path).unwrap_or(after);
            before.push_str(path);
        } else {
            left.push_str(HOOKS);
            rest = after;
        }
    }
    left.push_str(rest);
    (left.len() != text.len()).then_some(left)
}

/// Whether a text could put the place together with a home directory, or go there first.
fn names_home(text: &str, places: &Places) -> bool {
    let roots = places.roots();
    let rest = roots.fold(text.to_owned(), |text, root| text.replace(root, "")).to_ascii_lowercase();
    ["~", "home", "userprofile"].iter().any(|name| rest.contains(name))
        || places.home.as_deref().is_some_and(|home| rest.contains(&home.to_ascii_lowercase()))
}

/// A text in front of the next name of the place and behind it, in whatever letters it is written.
fn split(text: &str) -> Option<(&str, &str)> {
    let at =
        text.as_bytes().windows(HOOKS.len()).position(|part| part.eq_ignore_ascii_case(HOOKS.as_bytes()))?;
    Some((text.get(..at)?, text.get(at + HOOKS.len()..)?))
}

/// Whether a character goes on with a path: one that begins after it is part of a longer one.
fn is_of_a_path(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '/' | '.' | '-' | '_' | '~' | '$' | '{' | '}' | '*' | '?' | '+' | '%')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Protected, ProtectedKind};

    fn left(text: &str, cwd: &str) -> Option<String> {
        let path = "/home/u/.claude/hooks".to_owned();
        let places = Places {
            home: Some("/home/u".to_owned()),
            project: Some("/home/u/proj".to_owned()),
            protected: vec![Protected { path, tree: true, kind: ProtectedKind::ClientSettings }],
            ..Places::default()
        };
        left_out(text, Some(cwd), &places)
    }

    #[test]
    fn the_projects_hooks_are_left_out_and_no_others() {
        let proj = "/home/u/proj";
        for (text, rest) in [
            (".claude/hooks/a.py", ""),
            ("open('.claude/hooks/a.py')", "open('')"),
            ("open('./.claude/hooks/a.py')", "open('./')"),
            ("/home/u/proj/.claude/hooks/a.sh", "/home/u/proj/"),
            ("\"$CLAUDE_PROJECT_DIR/.claude/hooks/a.sh\"", "\"$CLAUDE_PROJECT_DIR/\""),
            ("a('.claude/hooks/x'); b('.claude/settings.json')", "a(''); b('.claude/settings.json')"),
        ] {
            assert_eq!(left(text, proj).as_deref(), Some(rest), "{text}");
        }
        for text in [
            "~/.claude/hooks/a.py",
            "$HOME/.claude/hooks/a.py",
            "/home/u/.claude/hooks/a.py",
            "../.claude/hooks/a.py",
            ".claude/hooks/../settings.json",
            "x + '/.claude/hooks/a.py'",
            ".claude/hooks.json",
            "copy('x', join(environ['HOME'], '.claude/hooks/a.py'))",
            "copy('x', Path.home() / '.claude/hooks/a.py')",
            "chdir('/home/u'); copy('x', '.claude/hooks/a.py')",
        ] {
            assert_eq!(left(text, proj), None, "{text}");
        }
        assert_eq!(left(".claude/hooks/a.py", "/home/u"), None, "the user's own, seen from home");
    }
}
