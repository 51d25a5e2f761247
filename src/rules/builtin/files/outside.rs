//! Files outside the project that are emptied (as one is deleted), or come into it under a second name by which they are changed.

use super::deleted::is_made_before;
use super::overwritten::{EMPTIERS, is_cache, is_log, leaves_nothing, writer};
use crate::domain::{Action, EffectKind, PathKind, Reach, Target};
use crate::rules::Invocation;
use crate::rules::matcher::{Class, Found, Scene, classify, has_flag, inside, owners, runs, target_of};
use crate::rules::survey::is_program_dir;
use crate::shell::Arg;

words!("builtin/files/outside");

/// What leaves another content in a file.
pub(super) const CHANGES: &[EffectKind] = &[EffectKind::FileCreation, EffectKind::FileModification];

const LINKERS: &[&str] = &["ln", "gln", "link", "cp", "gcp"];

/// A file outside the project that is there, and in which the call leaves nothing.
pub(super) fn emptied<'a>(scene: &Scene<'a>) -> Found<'a> {
    for (number, (effect, classes)) in scene.effects().enumerate() {
        let Target::Path { path, glob: false, .. } = &effect.target else { continue };
        let counts = CHANGES.contains(&effect.kind)
            && classes.has(Class::Outside)
            && !classes.any(&[Class::System, Class::Protected, Class::Git])
            && !effect.disposable
            && !path.starts_with("/dev/")
            && !scene.view.facts.places.temp.iter().any(|dir| inside(path, dir))
            && !is_nobodys(scene, number, path);
        if !counts {
            continue;
        }
        let empties = |inv: &&Invocation| {
            let appends = inv.writes.iter().any(|(to, append)| *append && to.text() == path);
            // What a program for this makes need not be there to be meant.
            let is_there = effect.kind == EffectKind::FileModification || runs(inv, EMPTIERS);
            !appends && is_there && (leaves_nothing(inv) || opens_only(inv, scene))
        };
        let mut owners = owners(scene, &effect.target).chain(writer(scene, &effect.target));
        if let Some(inv) = owners.find(empties) {
            return Found::yes(&inv.text);
        }
        if is_bare(scene) && effect.kind == EffectKind::FileModification {
            return Found::yes(scene.command_line());
        }
    }
    Found::No
}

/// `> FILE`, with no command at all.
fn is_bare(scene: &Scene<'_>) -> bool {
    let line = scene.command_line();
    matches!(scene.view.call.action, Action::Shell { .. })
        && scene.invocations().is_empty()
        && line.contains('>')
        && !line.contains(">>")
        && !line.contains("<>")
}

/// Whether a file outside the project is a log or a cache, or the session's own, which an earlier call or this one has made.
pub(super) fn is_nobodys(scene: &Scene<'_>, number: usize, path: &str) -> bool {
    let own = scene.view.facts.marks.source(path).is_some_and(|mark| mark.reach == Reach::File);
    // What lies around the home says nothing of what is in it.
    let home = scene.view.facts.places.home.as_deref();
    let inside = home.and_then(|home| path.strip_prefix(home)).unwrap_or(path);
    own || is_made_again(inside) || is_made_before(scene, number, path)
}

/// A log or a cache. What a person writes ends in `.txt` as well.
fn is_made_again(path: &str) -> bool {
    is_cache(path) || is_log(path) && !path.ends_with(".txt")
}

/// `exec 6> FILE`, and nothing behind it that could write there.
fn opens_only(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let silent = |inv: &Invocation| runs(inv, &["exec", ":", "true"]);
    silent(inv) && scene.invocations().iter().all(silent)
}

fn hard_linked(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let any = |inv: &Invocation, flags: &[&str]| flags.iter().any(|flag| has_flag(inv, flag));
    let hard = |inv: &Invocation| match inv.program.as_str() {
        "cp" | "gcp" => any(inv, &["-l", "--link"]) || inv.args.iter().any(is_linking),
        _ => !any(inv, &["-s", "--symbolic"]),
    };
    let into = any(inv, &["-t", "--target-directory"]);
    let count = inv.operands.len().saturating_sub(usize::from(!into));
    hard(inv)
        && inv
            .operands
            .iter()
            .take(count)
            .any(|arg| is_of_a_person(&target_of(arg, inv.cwd.as_deref()), scene))
}

/// `-al`
fn is_linking(arg: &Arg) -> bool {
    let letters = arg.known().and_then(|text| text.strip_prefix('-')).unwrap_or_default();
    letters.contains('l') && letters.chars().all(|c| c.is_ascii_alphabetic())
}

/// A file outside the project that is neither a program nor made again.
fn is_of_a_person(target: &Target, scene: &Scene<'_>) -> bool {
    let Target::Path { path, .. } = target else { return false };
    let classes = classify(target, EffectKind::FileModification, &scene.view);
    let dir = path.rsplit_once('/').map_or("/", |(dir, _)| dir);
    classes.has(Class::Outside)
        && !is_made_again(path)
        && !is_program_dir(dir)
        && !scene.view.facts.places.temp.iter().any(|temp| inside(path, temp))
        && scene.view.facts.path(path).is_none_or(|fact| fact.kind != PathKind::Missing)
}
