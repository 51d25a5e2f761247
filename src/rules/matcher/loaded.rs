//! Files of code that the call itself writes and that other code of it loads by their names: modules, libraries, included files.

use super::Scene;
use crate::domain::last_name;
use crate::rules::trail::runs_standard_module;
use crate::rules::{Invocation, modules};
use crate::shell::Arg;

/// Names of files that stand for the directory they lie in.
const OF_DIRECTORY: &[&str] = &["__init__", "__main__", "index", "init", "mod"];

/// Most files of one command.
const MAX_FILES: usize = 16;

/// The content of the files which the code of a command, or one of these files, names: those that the call writes, and those that
/// lie beside the code. `script`: the code that stands in a file.
pub(super) fn loaded(inv: &Invocation, script: Option<&str>, scene: &Scene<'_>) -> Vec<String> {
    let written = &scene.view.survey.written;
    if written.is_empty() && scene.view.survey.marks.is_empty() || runs_standard_module(inv) {
        return Vec::new();
    }
    let mut texts: Vec<String> = inv.args.iter().map(Arg::to_text).collect();
    texts.extend(super::input_of(inv, scene));
    let given = texts.len();
    let codes: Vec<&str> = texts.iter().skip(inv.args.len()).map(String::as_str).chain(script).collect();
    let beside = beside(inv, &codes, scene);
    texts.extend(beside);
    if written.is_empty() {
        return texts.split_off(given);
    }
    let mut left: Vec<&(String, Arg)> = written.iter().collect();
    // Each round loads something more, or is the last.
    while texts.len() < given + MAX_FILES {
        let tests = runs_tests(inv);
        let named = |path: &str| texts.iter().any(|text| names_module(text, path));
        let Some(at) = left.iter().position(|(path, _)| tests && is_test(path) || named(path)) else {
            break;
        };
        texts.push(left.remove(at).1.to_text());
    }
    texts.split_off(given)
}

/// Whether a command runs all files that are called as tests are: of unittest, pytest, node.
fn runs_tests(inv: &Invocation) -> bool {
    inv.args.iter().any(|arg| matches!(arg.known(), Some("unittest" | "pytest" | "nose2" | "--test")))
}

fn is_test(path: &str) -> bool {
    let name = last_name(path);
    name.starts_with("test")
        || ["_test.", ".test.", "-test.", "conftest."].iter().any(|part| name.contains(part))
}

/// The files beside the code of a command which it loads, as far as this session made them. Others are the project's own.
fn beside(inv: &Invocation, codes: &[&str], scene: &Scene<'_>) -> Vec<String> {
    if scene.view.survey.marks.is_empty() || !super::runs_code(inv) {
        return Vec::new();
    }
    let ours = |path: &&String| scene.view.survey.marks.source(path).is_some();
    let text = |path: &String| scene.view.facts.content(path).flatten().map(str::to_owned);
    modules::loaded_by(inv, codes).iter().filter(ours).filter_map(text).take(MAX_FILES).collect()
}

/// Whether a text names a file as code does: by its name without the ending, or by its directory's.
pub(crate) fn names_module(text: &str, path: &str) -> bool {
    let mut parts = path.rsplit('/');
    let name = parts.next().unwrap_or_default();
    let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
    let stem = if OF_DIRECTORY.contains(&stem) { parts.next().unwrap_or_default() } else { stem };
    let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    !stem.is_empty()
        && text.match_indices(stem).any(|(at, _)| {
            let before = text.get(..at).and_then(|front| front.chars().next_back());
            let behind = text.get(at + stem.len()..).and_then(|rest| rest.chars().next());
            // `-MM`, `-lm`: directly behind the letter of an option.
            let option = || text.starts_with('-') && at == 2;
            !behind.is_some_and(part) && (!before.is_some_and(part) || option())
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_by_their_names() {
        for (text, path) in [
            ("import m", "/p/m.py"),
            ("from p import m", "/p/m.py"),
            ("import p", "/q/p/__init__.py"),
            ("-MM", "/p/M.pm"),
            ("require('./a-b')", "/p/a-b.js"),
            ("m.awk", "/p/m.awk"),
        ] {
            assert!(names_module(text, path), "{text}: {path}");
        }
        for (text, path) in [("import mm", "/p/m.py"), ("import os", "/p/m.py"), ("a_m", "/p/m.py")] {
            assert!(!names_module(text, path), "{text}: {path}");
        }
    }
}
