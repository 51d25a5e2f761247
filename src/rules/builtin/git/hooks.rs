//! Hooks that a call writes, judged by their content.

use super::WRITES;
use crate::domain::{Action, Target, Verdict, last_name};
use crate::rules::builtin::code::shell_text::has_known_programs;
use crate::rules::builtin::code::shell_text::shell;
use crate::rules::builtin::lists;
use crate::rules::matcher::{EFFECT, Found, OnEffect, Scene, find_but, inner_verdict};

/// Shells whose scripts are read as such.
const SHELLS: &[&str] = &["sh", "bash", "dash"];

/// A hook is written, and is not known to be one that would be let run as a call.
pub(super) fn written<'a>(scene: &Scene<'a>) -> Found<'a> {
    if let Action::Write { content, path, .. } = &scene.view.call.action
        && path.contains("/.git/hooks/")
        && is_let_run(scene, content)
    {
        return Found::No;
    }
    let pattern = OnEffect { kinds: WRITES, at: lists::GIT_HOOKS, ..EFFECT };
    find_but(&pattern, scene, |_, target| text_of(scene, target).is_some_and(|text| is_let_run(scene, text)))
}

/// The text of a file that the call writes once, and whole.
fn text_of<'s>(scene: &'s Scene<'_>, target: &Target) -> Option<&'s str> {
    let Target::Path { path, glob: false, .. } = target else { return None };
    let appended =
        scene.invocations().iter().flat_map(|inv| &inv.writes).any(|(to, appended)| {
            *appended && matches!(to, Target::Path { path: other, .. } if other == path)
        });
    let mut texts = scene.view.survey.written.iter().filter(|(other, _)| other == path);
    let (first, more) = (texts.next()?, texts.next());
    first.1.known().filter(|_| !appended && more.is_none())
}

/// Whether a script is a shell's, and all that it would do would be let run as a call.
fn is_let_run(scene: &Scene<'_>, text: &str) -> bool {
    let line = text.lines().next().and_then(|line| line.strip_prefix("#!")).unwrap_or("/bin/sh");
    let mut words = line.split_whitespace().map(last_name);
    let name = words.find(|word| *word != "env");
    if !name.is_some_and(|name| SHELLS.contains(&name)) {
        return false;
    }
    let cwd = scene.view.facts.places.repo.as_deref().unwrap_or(scene.view.cwd);
    inner_verdict(scene, &shell(text.to_owned()), cwd) < Verdict::Modify
        && has_known_programs(scene, text.to_owned(), cwd)
}
