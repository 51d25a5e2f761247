//! Code that takes away or moves what a command of the shell would be asked about.

use super::calls::{deleted, path};
use super::shell_text::shell;
use super::{MAX_LITERALS, interpreters, is_old_script, texts};
use crate::domain::Verdict;
use crate::rules::builtin::code::deletes::DELETES_ONE;
use crate::rules::builtin::{code_paths, scripts, statements, undone};
use crate::rules::matcher::{Found, Scene, contains_word, inner_verdict};

words!("builtin/code/loses");

/// Calls that take away the thing which stands in front of them.
const MOVED_BY: &[&str] = &[").rename(", ").replace("];

fn loses<'a>(scene: &Scene<'a>) -> Found<'a> {
    if scene.nested {
        return Found::No;
    }
    let found = interpreters(scene).find(|inv| {
        if is_old_script(inv, scene) {
            return false;
        }
        let cwd = inv.cwd.as_deref().unwrap_or(scene.view.cwd);
        let verdict = |command: String| inner_verdict(scene, &shell(command), cwd);
        texts(inv, scene).any(|text| {
            let mut calls = deleted(inv, &text, scene).into_iter().take(MAX_LITERALS);
            gone(&text).into_iter().take(MAX_LITERALS).any(|command| verdict(command) >= Verdict::Modify)
                // What is blocked is said by another rule.
                || calls.any(|command| verdict(command) == Verdict::Modify)
        })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// What code takes away, as commands of the shell.
fn gone(text: &str) -> Vec<String> {
    let far = |text: &str| text.starts_with(['/', '~']) && text.len() > 1 && !text.contains("\n");
    let holds = |text: &str, calls: &[&str]| calls.iter().any(|call| contains_word(text, call));
    let mut out = Vec::new();
    if holds(text, DELETES_ONE) {
        let near = statements::around(text, &[DELETES_ONE]);
        let named =
            undone::with_inner(code_paths::strings(&near)).into_iter().chain(scripts::run_quotes(&near));
        // `<~/x/*>` of Perl.
        let globbed = near.split('<').skip(1).filter_map(|rest| Some(rest.split_once('>')?.0.to_owned()));
        let whole = |text: &String| far(text) && !is_end(&near, text);
        out.extend(named.chain(globbed).filter(whole).map(|text| format!("rm -f {}", path(&text))));
    }
    let moved_by = || MOVED_BY.iter().any(|call| text.contains(call)) && text.contains("Path");
    if holds(text, MOVES) || moved_by() {
        for call in MOVES.iter().chain(MOVED_BY) {
            for (at, _) in text.match_indices(call) {
                let source = if MOVED_BY.contains(call) {
                    text.get(..at).and_then(|front| code_paths::strings(front).pop())
                } else {
                    text.get(at + call.trim_end_matches(['"', '\'']).len()..)
                        .and_then(|rest| code_paths::strings(rest).into_iter().next())
                };
                let moved = source.filter(|text| far(text));
                out.extend(moved.map(|text| format!("mv {} /tmp/moved", path(&text))));
            }
        }
    }
    out
}

/// Whether a string stands behind something else that it is joined to: `dir + '/x'`.
fn is_end(code: &str, text: &str) -> bool {
    ['"', '\''].iter().any(|quote| {
        let written = format!("{quote}{text}{quote}");
        let mut places = code.match_indices(&written);
        places.any(|(at, _)| code.get(..at).is_some_and(|front| front.trim_end().ends_with(['+', '.'])))
    })
}
