//! OpenCode's patch format, read only as far as which files it touches, how, and what it puts into them. It sees at least what
//! OpenCode sees.

use super::json::bad;
use crate::domain::{Action, Fault, single_quoted};

/// What a patch does to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Add,
    Update,
    Delete,
    /// The file of the header before it goes there.
    Move,
}

#[derive(Debug)]
struct Change<'a> {
    kind: Kind,
    path: &'a str,
    /// The lines that it adds; nothing when they were too many to be kept.
    content: String,
}

/// Begins a patch.
pub(crate) const BEGIN: &str = "*** Begin Patch";

/// A command line with the commands behind it that do what a patch in it does: `apply_patch` is no program of its own.
pub(super) fn told_out(line: String) -> String {
    let Some((_, patch)) = line.split_once(BEGIN) else { return line };
    let patch = patch.split_once("*** End Patch").map_or(patch, |(patch, _)| patch);
    let done = commands(&changes(patch));
    if done.is_empty() { line } else { format!("{line}\n{done}") }
}

const HEADERS: [(&str, Kind); 4] = [
    ("*** Add File:", Kind::Add),
    ("*** Update File:", Kind::Update),
    ("*** Delete File:", Kind::Delete),
    ("*** Move to:", Kind::Move),
];

/// What a patch asks for: an edit when it changes one file; otherwise the command line that would touch the same
/// files, since the rules know what deleting, moving and overwriting means in that language.
pub(super) fn action(text: &str) -> Result<Action, Fault> {
    let changes = changes(text);
    match changes.as_slice() {
        [] => Err(bad("argument patchText names no file")),
        [Change { kind: Kind::Add | Kind::Update, path, .. }] => {
            let (content, long) = added(text);
            Ok(Action::Edit { path: (*path).to_owned(), content, long })
        }
        changes => Ok(Action::Shell { command: commands(changes), workdir: None }),
    }
}

/// The changes, each with what it adds, as long as all of that is not too long.
fn changes(text: &str) -> Vec<Change<'_>> {
    let mut out: Vec<Change<'_>> = Vec::new();
    let mut left = Action::MAX_CONTENT;
    for line in text.split('\n') {
        if let Some(change) = change(line) {
            out.push(change);
        } else if let (Some(added), Some(last)) = (line.strip_prefix('+'), out.last_mut()) {
            left = left.saturating_sub(added.len() + 1);
            if left > 0 {
                last.content.push_str(added);
                last.content.push('\n');
            }
        }
    }
    if left == 0 {
        out.iter_mut().for_each(|change| change.content.clear());
    }
    out
}

/// The change that a line announces. Lines are taken for headers wherever they stand: a context line that looks like
/// one makes the review stricter, never laxer.
fn change(line: &str) -> Option<Change<'_>> {
    let header = trim(line);
    let (kind, path) =
        HEADERS.iter().find_map(|(name, kind)| Some((*kind, trim(header.strip_prefix(name)?))))?;
    (!path.is_empty()).then_some(Change { kind, path, content: String::new() })
}

/// As JavaScript trims, whose idea of white space is not ours.
fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| (c.is_whitespace() && c != '\u{85}') || c == '\u{feff}')
}

/// The lines that the patch adds, and their length if they were too many to be kept.
fn added(text: &str) -> (String, Option<u32>) {
    let mut content = String::new();
    for line in text.split('\n').filter_map(|line| line.strip_prefix('+')) {
        if content.len() + line.len() >= Action::MAX_CONTENT {
            return (String::new(), Some(u32::try_from(text.len()).unwrap_or(u32::MAX)));
        }
        content.push_str(line);
        content.push('\n');
    }
    (content, None)
}

fn commands(changes: &[Change<'_>]) -> String {
    let mut out = String::new();
    let mut updated = "";
    for Change { kind, path, content } in changes {
        let file = quoted(path);
        match kind {
            Kind::Add => out.push_str(&filled(&format!("> {file}"), content)),
            Kind::Update => {
                updated = path;
                out.push_str(&filled(&format!(">> {file}"), content));
            }
            Kind::Delete => out.push_str(&format!("rm -- {file}\n")),
            Kind::Move => {
                out.push_str(&format!("mv -- {} {file}\n", quoted(updated)));
                if !content.is_empty() {
                    out.push_str(&filled(&format!(">> {file}"), content));
                }
            }
        }
    }
    out
}

/// The command that writes a text where `redirection` says.
fn filled(redirection: &str, content: &str) -> String {
    if content.is_empty() {
        return format!(": {redirection}\n");
    }
    let mut end = "END".to_owned();
    while content.lines().any(|line| line == end) {
        end.push('_');
    }
    format!("cat {redirection} <<'{end}'\n{content}{end}\n")
}

/// One shell word, whatever is in it.
fn quoted(path: &str) -> String {
    // Judged as the place that it is for a tool that expands it.
    let (home, rest) = path.strip_prefix("~/").map_or(("", path), |rest| ("~/", rest));
    home.to_owned() + &single_quoted(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(text: &str) -> String {
        match action(text).unwrap() {
            Action::Shell { command, workdir: None } => command,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn one_changed_file_is_an_edit() {
        let text = "*** Begin Patch\n*** Update File: src/a b.rs\n@@ fn x\n-old\n+new\n+two\n*** End Patch";
        assert_eq!(
            action(text).unwrap(),
            Action::Edit { path: "src/a b.rs".to_owned(), content: "new\ntwo\n".to_owned(), long: None }
        );
        assert!(matches!(action("*** Add File: n\n+x").unwrap(), Action::Edit { path, .. } if path == "n"));
    }

    #[test]
    fn several_files_deletions_and_moves_are_the_commands_that_do_it() {
        assert_eq!(
            shell(
                "*** Begin Patch\n*** Add File: a\n+x\n*** Delete File: it's\n*** Update File: c\n*** Move to: d\n@@\n"
            ),
            "cat > 'a' <<'END'\nx\nEND\nrm -- 'it'\\''s'\n: >> 'c'\nmv -- 'c' 'd'\n"
        );
        assert_eq!(shell("*** Delete File: /etc/passwd"), "rm -- '/etc/passwd'\n");
        assert_eq!(
            shell("*** Add File: a\n+END\n*** Update File: b\n*** Move to: c\n@@\n-x\n+y"),
            "cat > 'a' <<'END_'\nEND\nEND_\n: >> 'b'\nmv -- 'b' 'c'\ncat >> 'c' <<'END'\ny\nEND\n"
        );
        let long = format!("*** Add File: a\n{}*** Add File: b\n+x", "+line of text\n".repeat(40_000));
        assert_eq!(shell(&long), ": > 'a'\n: > 'b'\n");
    }

    #[test]
    fn headers_are_seen_where_opencode_sees_them() {
        for header in ["  *** Delete File: a", "\u{feff}*** Delete File:a", "*** Delete File:   a \r"] {
            assert_eq!(shell(header), "rm -- 'a'\n", "{header:?}");
        }
    }

    #[test]
    fn a_patch_without_files_is_a_fault_and_a_long_one_keeps_no_content() {
        assert!(action("*** Begin Patch\n*** Delete File: \n*** End Patch").is_err());
        let long = format!("*** Add File: a\n{}", "+line of text\n".repeat(40_000));
        assert_eq!(
            action(&long).unwrap(),
            Action::Edit {
                path: "a".to_owned(),
                content: String::new(),
                long: u32::try_from(long.len()).ok()
            }
        );
    }
}
