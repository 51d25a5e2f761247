//! What the end of a path says of it, whatever directory it lies in: `"$DIR/.claude/settings.json"`.

use super::View;
use super::class::{Class, Classes};
use super::secret::{is_env_file, is_secret};
use crate::domain::{EffectKind, Protected};

/// The classes of a path of which this end is known, from a slash on; empty where none is.
pub(super) fn classes(tail: &str, kind: EffectKind, view: &View<'_>) -> Classes {
    if tail.is_empty() {
        return Classes::NONE;
    }
    if kind == EffectKind::FileRead {
        return Classes::NONE
            .with(Class::Secret, is_key(tail, view))
            .with(Class::EnvFile, is_env_file(tail, false));
    }
    let all = &view.facts.places.protected;
    let guarded = tail.contains("/.") && all.iter().any(|place| touches(tail, kind, place));
    Classes::NONE.with(Class::Protected, guarded)
}

/// Whether a path with this end may be a protected place, lie in one, or be the directory around one.
pub(crate) fn leads_to_protected(tail: &str, view: &View<'_>) -> bool {
    classes(tail, EffectKind::FileDeletion, view).has(Class::Protected)
}

fn is_key(tail: &str, view: &View<'_>) -> bool {
    // One name alone may be that of any project's file.
    let home = view.facts.places.home.as_deref().filter(|_| tail.matches('/').count() > 1);
    is_secret(tail, false, false, None)
        || home.is_some_and(|home| is_secret(&format!("{home}{tail}"), false, false, Some(home)))
}

/// Whether it falls on a protected place that is known by its last hidden directory or name.
fn touches(tail: &str, kind: EffectKind, place: &Protected) -> bool {
    let Some((own, end)) = hidden_end(tail).zip(hidden_end(&place.path)) else { return false };
    let begins = |whole: &str, front: &str| {
        whole.get(..front.len()).is_some_and(|start| start.eq_ignore_ascii_case(front))
            && whole.as_bytes().get(front.len()) == Some(&b'/')
    };
    own.eq_ignore_ascii_case(end)
        || (place.tree && begins(own, end))
        || (kind == EffectKind::FileDeletion && begins(end, own))
}

/// A path from its last hidden name on.
fn hidden_end(path: &str) -> Option<&str> {
    path.rfind("/.").and_then(|at| path.get(at..))
}
