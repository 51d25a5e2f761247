//! Code in another language than the shell's: it is not parsed, only searched for what it names.

use super::{Code, Found, Rel, Scene, is_interpreter, relation, runs};
use crate::domain::{Effect, EffectKind, Facts, Protected, ProtectedKind, Target};
use crate::rules::builtin::lists;
use crate::rules::{Invocation, Stdin};
use crate::shell::Arg;

pub(super) fn find<'a>(code: &Code, scene: &Scene<'a>) -> Found<'a> {
    for inv in scene.invocations().iter().filter(|inv| is_one_of(inv, code.programs)) {
        let holds = code_of(inv, scene.view.facts)
            .any(|text| code.all.iter().all(|group| group.iter().any(|word| contains_word(&text, word))));
        if holds {
            return Found::yes(&inv.text);
        }
    }
    Found::No
}

/// One of the programs, with or without a version behind its name (`python3.12`).
fn is_one_of(inv: &Invocation, programs: &[&str]) -> bool {
    if programs.is_empty() {
        return is_interpreter(&inv.program);
    }
    let base = inv.program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    runs(inv, programs) || programs.contains(&base)
}

/// The texts that an interpreter is given to run: its arguments, its standard input, and the script where it is known.
pub(crate) fn code_of<'i>(inv: &'i Invocation, facts: &'i Facts) -> impl Iterator<Item = String> + 'i {
    let stdin = match &inv.stdin {
        Stdin::Text(arg) => Some(arg.text()),
        Stdin::File(target) => content(facts, target.text()),
        Stdin::Inherited | Stdin::Pipe => None,
    };
    let script = inv.operands.first().and_then(|arg| {
        let target = super::target_of(arg, inv.cwd.as_deref());
        content(facts, target.text())
    });
    // Of a filter the operands behind its program are only what it reads.
    let count = if lists::SCRIPTED_FILTERS.contains(&inv.program.as_str()) { 1 } else { usize::MAX };
    let given = if count == 1 { &inv.operands } else { &inv.args };
    given.iter().take(count).map(Arg::text).chain(stdin).chain(script)
}

fn content(facts: &Facts, path: &str) -> Option<String> {
    facts.content(path).flatten().map(str::to_owned)
}

/// Whether `text` holds `word`, without regard to ASCII case.
pub(crate) fn contains_word(text: &str, word: &str) -> bool {
    let (text, word) = (text.as_bytes(), word.as_bytes());
    word.is_empty() || text.windows(word.len()).any(|window| window.eq_ignore_ascii_case(word))
}

/// Letters, digits, dots, dashes and underscores only: what is left of a path after quotes, joins and slashes are gone.
pub(crate) fn squeeze(text: &str) -> String {
    text.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_')).collect()
}

/// The first command whose doings we cannot tell (an interpreter, a program we do not know) and that names a protected
/// place.
pub(crate) fn mentions_protected<'a>(scene: &Scene<'a>) -> Found<'a> {
    let protected = &scene.view.facts.places.protected;
    for inv in scene.invocations() {
        if !is_interpreter(&inv.program) && !is_unknown(inv, scene) {
            continue;
        }
        for text in code_of(inv, scene.view.facts) {
            let squeezed = squeeze(&text);
            if protected.iter().any(|place| names(&squeezed, place, inv.cwd.as_deref())) {
                return Found::yes(&inv.text);
            }
        }
    }
    Found::No
}

fn is_unknown(inv: &Invocation, scene: &Scene<'_>) -> bool {
    scene.view.survey.effects.iter().any(|effect: &Effect| match &effect.target {
        Target::Command(text) if effect.kind == EffectKind::SystemCommand => *text == inv.text,
        _ => false,
    })
}

/// Whether squeezed code names a protected place by the end of its path, seen from `cwd`.
fn names(squeezed: &str, place: &Protected, cwd: Option<&str>) -> bool {
    let mut back = place.path.rsplit('/').filter(|part| !part.is_empty());
    let (Some(last), Some(before)) = (back.next(), back.next()) else { return false };
    // `settings.local.json` is found by `settings`: code may put the name together.
    let stem = match last.split('.').next() {
        Some("") | None => last,
        Some(stem) if place.kind == ProtectedKind::ClientSettings && before.starts_with('.') => stem,
        Some(_) => last,
    };
    let from_here = cwd.is_some_and(|cwd| {
        let rel = relation(cwd, false, place.path.split('/').filter(|part| !part.is_empty()));
        let dir = place.path.rsplit_once('/').map_or("", |(dir, _)| dir);
        (rel == Rel::Above && dir.eq_ignore_ascii_case(cwd))
            || (place.tree && matches!(rel, Rel::Same | Rel::Below))
    });
    if from_here || is_telling(last) {
        return contains_word(squeezed, last) || (before.starts_with('.') && contains_word(squeezed, stem));
    }
    match place.kind {
        // Both parts anywhere: `os.chdir(".claude"); open("settings.json")`.
        ProtectedKind::ClientSettings if before.starts_with('.') => {
            contains_word(squeezed, before) && contains_word(squeezed, stem)
        }
        ProtectedKind::ClientSettings | ProtectedKind::Own | ProtectedKind::Keys => {
            contains_word(squeezed, &format!("{before}{last}"))
        }
    }
}

/// A file name that means nothing else, wherever it stands.
fn is_telling(name: &str) -> bool {
    lists::TELLING_NAMES.contains(&name)
}
