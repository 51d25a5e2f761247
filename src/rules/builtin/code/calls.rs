//! What the calls of code that is read do to files: as commands of the shell, and as the files that they write.

use crate::domain::{join, lies_in, single_quoted};
use crate::rules::Invocation;
use crate::rules::foreign::Operation;
use crate::rules::matcher::Scene;

/// What code takes away by calls that are read, as commands of the shell.
pub(super) fn deleted<'a>(inv: &'a Invocation, code: &str, scene: &Scene<'a>) -> Vec<String> {
    /// What stands in the name of each such call.
    const TAKES: &[&str] = &["rm", "unlink", "remove", "rename", "replace", "move", "emptyDir"];
    if !scene.codes(inv).iter().any(|text| text.holds_any(TAKES)) {
        return Vec::new();
    }
    let account = scene.account(&inv.program, code);
    let command = |operation: &Operation| match operation {
        Operation::Deletes { path: file, tree: true } => Some(format!("rm -rf -- {}", path(file.known()?))),
        Operation::Deletes { path: file, tree: false } => Some(format!("rm -f -- {}", path(file.known()?))),
        Operation::Moves { from, .. } => Some(format!("mv -- {} /tmp/moved", path(from.known()?))),
        Operation::Runs(_) | Operation::Writes(_) | Operation::Copies { .. } | Operation::Calls { .. } => {
            None
        }
    };
    account.map(|account| account.operations.iter().filter_map(command).collect()).unwrap_or_default()
}

/// The files outside of the project that code writes, by calls that are read.
pub(super) fn written_elsewhere<'a>(inv: &'a Invocation, code: &str, scene: &Scene<'a>) -> Vec<String> {
    const WRITES: &[&str] = &["open", "write", "copy", "cp"];
    let cwd = inv.cwd.as_deref().unwrap_or(scene.view.cwd);
    if !scene.codes(inv).iter().any(|text| text.holds_any(WRITES)) {
        return Vec::new();
    }
    let own =
        |path: &str| scene.view.facts.places.project.as_deref().is_some_and(|project| lies_in(path, project));
    let account = scene.account(&inv.program, code);
    let written =
        account.iter().flat_map(|account| &account.operations).filter_map(|operation| match operation {
            Operation::Writes(path) | Operation::Copies { to: path, .. } => path.known(),
            Operation::Runs(_)
            | Operation::Deletes { .. }
            | Operation::Moves { .. }
            | Operation::Calls { .. } => None,
        });
    written
        .filter(|file| !file.starts_with('~'))
        .map(|file| join(cwd, file))
        .filter(|path| !own(path))
        .collect()
}

/// A path as a word of the shell, with its patterns and the home directory.
pub(super) fn path(text: &str) -> String {
    let (front, rest) = if let Some(rest) = text.strip_prefix("~/") { ("~/", rest) } else { ("", text) };
    let parts: Vec<String> = rest
        .split('/')
        .map(|part| if part.contains('*') || part.is_empty() { part.to_owned() } else { single_quoted(part) })
        .collect();
    format!("{front}{}", parts.join("/"))
}
