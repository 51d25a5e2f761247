//! What the end of a path says of it, whatever directory it lies in: `"$DIR/.claude/settings.json"`.

use super::View;
use super::class::{Class, Classes};
use super::glob::segment;
use super::secret::{is_env_file, is_secret};
use crate::domain::{EffectKind, Protected, last_name};
use crate::rules::builtin::lists;
use crate::shell::is_pattern;

/// The classes of a path of which this beginning is known, and this end from a slash on; either may be empty.
pub(super) fn classes((known, tail): (&str, &str), kind: EffectKind, view: &View<'_>) -> Classes {
    if kind == EffectKind::FileRead {
        return Classes::NONE
            .with(Class::Secret, !tail.is_empty() && is_key(tail, view))
            .with(Class::EnvFile, is_settings(known, tail));
    }
    if tail.is_empty() {
        return Classes::NONE;
    }
    let all = &view.facts.places.protected;
    let guarded = tail.contains("/.") && all.iter().any(|place| touches(tail, kind, place));
    Classes::NONE.with(Class::Protected, guarded)
}

/// Whether a path with this end may be a protected place, lie in one, or be the directory around one.
pub(crate) fn leads_to_protected(tail: &str, view: &View<'_>) -> bool {
    classes(("", tail), EffectKind::FileDeletion, view).has(Class::Protected)
}

/// Whether a path with this beginning and this end is a file of settings: `.env.$STAGE` is one too.
pub(super) fn is_settings(known: &str, tail: &str) -> bool {
    let last = last_name(known);
    let example = || last.split('.').any(|part| lists::ENV_EXAMPLES.contains(&part));
    if tail.is_empty() {
        last.starts_with(".env.") && !example()
    } else {
        is_env_file(tail, is_pattern(tail))
    }
}

fn is_key(tail: &str, view: &View<'_>) -> bool {
    // One name alone may be that of any project's file.
    let home = view.facts.places.home.as_deref().filter(|_| tail.matches('/').count() > 1);
    let glob = is_pattern(tail);
    is_secret(tail, glob, false, None)
        || home.is_some_and(|home| is_secret(&format!("{home}{tail}"), glob, false, Some(home)))
}

/// Whether it falls on a protected place that is known by its last hidden directory or name.
fn touches(tail: &str, kind: EffectKind, place: &Protected) -> bool {
    let Some((own, end)) = hidden_end(tail).zip(hidden_end(&place.path)) else { return false };
    if is_pattern(own) {
        return reaches(own, kind, end, place.tree);
    }
    let begins = |whole: &str, front: &str| {
        whole.get(..front.len()).is_some_and(|start| start.eq_ignore_ascii_case(front))
            && whole.as_bytes().get(front.len()) == Some(&b'/')
    };
    own.eq_ignore_ascii_case(end)
        || (place.tree && begins(own, end))
        || (kind == EffectKind::FileDeletion && begins(end, own))
}

/// The same for an end that is a pattern.
fn reaches(pattern: &str, kind: EffectKind, end: &str, tree: bool) -> bool {
    let (mut own, mut place) = (pattern.split('/'), end.split('/'));
    loop {
        match (own.next(), place.next()) {
            (None, None) => return true,
            (Some(_), None) => return tree,
            (None, Some(_)) => return kind == EffectKind::FileDeletion,
            (Some(part), Some(name)) if segment(part, name) => {}
            (Some(_), Some(_)) => return false,
        }
    }
}

/// A path from its last hidden name on.
fn hidden_end(path: &str) -> Option<&str> {
    path.rfind("/.").and_then(|at| path.get(at..))
}
