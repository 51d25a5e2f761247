//! What is deleted, and where: the machine, the home directory, the project, places that are not known.

mod piped;
mod unknown;

use super::outside::CHANGES;
use super::{DELETES, WIDE, outside};
use crate::domain::{Effect, EffectKind, Origin, PathKind, Target};
use crate::rules::Invocation;
use crate::rules::matcher::{
    Class, EFFECT, Found, OnEffect, Scene, classify, find_but, has_flag, owner, target_of,
};
use crate::shell::Arg;
use piped::delete_piped;
use unknown::{delete_unknown, delete_unknown_root, is_module, is_taken_out};

fn repository_deleted<'a>(scene: &Scene<'a>) -> Found<'a> {
    find_but(&OF_GIT, scene, |_, target| is_module(target) || is_of_new_clone(scene, target))
}

fn repository_of_a_submodule_deleted<'a>(scene: &Scene<'a>) -> Found<'a> {
    find_but(&OF_GIT, scene, |_, target| !is_module(target) || is_taken_out(scene, target))
}

/// Deletion of what git keeps.
const OF_GIT: OnEffect = OnEffect {
    kinds: DELETES,
    any: &[Class::Git],
    recursive: true,
    lasting: true,
    except: &["git"],
    ..EFFECT
};

words!("builtin/files/deleted");

/// A home, the project or more, named to a program that clears what it is given.
fn cleared(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let lost = |arg: &Arg, inv: &Invocation| {
        let home = scene.view.facts.places.home.as_deref();
        let text = arg.text();
        let path = match (text.strip_prefix('~'), home) {
            (Some(rest), Some(home)) => Arg::literal(&format!("{home}{rest}")),
            _ => arg.clone(),
        };
        let classes = classify(&target_of(&path, inv.cwd.as_deref()), EffectKind::FileDeletion, &scene.view);
        classes.any(WIDE) || classes.has(Class::Project)
    };
    let first = inv.args.iter().filter_map(Arg::known).find(|word| !word.starts_with(['-', '+']));
    match (inv.program.as_str(), first) {
        ("gio", Some("trash")) if has_flag(inv, "--empty") => true,
        ("gio", Some("trash" | "remove")) => inv.args.iter().skip(1).any(|arg| lost(arg, inv)),
        ("gio", _) => false,
        ("cargo", Some("clean")) => {
            let told = inv.args.iter().skip_while(|arg| arg.known() != Some("--target-dir")).nth(1);
            let attached = inv.args.iter().filter_map(|arg| arg.known()?.strip_prefix("--target-dir="));
            // Assignments in front of a command are gone once it is surveyed; the text still has them.
            let line = scene.command_line();
            let by_variable = line.split("CARGO_TARGET_DIR=").skip(1);
            let by_variable = by_variable.filter_map(|rest| rest.split([' ', ';', '\n']).next());
            told.is_some_and(|arg| lost(arg, inv)) || { attached.chain(by_variable) }
                .any(|dir| lost(&Arg::literal(dir.trim_matches('"')), inv))
        }
        ("cargo", _) => false,
        ("tmpreaper" | "tmpwatch" | "trash-cli" | "trash-put" | "trash" | "rmtrash", _) => {
            inv.args.iter().any(|arg| lost(arg, inv))
        }
        ("fdupes" | "jdupes", _) => {
            let deletes = |arg: &Arg| {
                arg.prefix() == "--delete" || arg.prefix().starts_with('-') && arg.prefix().contains('d')
            };
            inv.args.iter().any(deletes) && inv.args.iter().any(|arg| lost(arg, inv))
        }
        // What it encrypts, nobody reads again without the key.
        ("ccrypt" | "ccencrypt", _) => {
            let reads = ["-d", "-c", "--decrypt", "--cat"].iter().any(|flag| has_flag(inv, flag));
            !reads && inv.args.iter().any(|arg| lost(arg, inv))
        }
        (program, command) => {
            let told = |words: &[&str]| {
                inv.args.iter().any(|arg| arg.known().is_some_and(|word| words.contains(&word)))
            };
            let moves =
                program == "rar" && (matches!(command, Some("m" | "mf")) || told(&["-df", "-dr", "-dw"]));
            // `find ~ | xargs 7z a -sdel`
            let listed = || {
                inv.wrappers.iter().any(|name| name == "xargs")
                    && scene
                        .first(&["find", "fd", "ls"], |other| {
                            other.pipeline == inv.pipeline && other.args.iter().any(|arg| lost(arg, other))
                        })
                        .is_some()
            };
            (moves || told(&["-sdel"])) && (inv.args.iter().skip(1).any(|arg| lost(arg, inv)) || listed())
        }
    }
}

/// Whether the call itself makes what lies at the path, in front of the effect with that number: nothing is there now.
pub(super) fn is_made_before(scene: &Scene<'_>, number: usize, path: &str) -> bool {
    let makes = |effect: &Effect| {
        effect.kind == EffectKind::FileCreation
            && matches!(&effect.target, Target::Path { path: made, glob: false, .. } if made == path)
    };
    scene.view.facts.is_missing(path)
        && (scene.effects().take(number).any(|(effect, _)| makes(effect)) || {
            scene.view.survey.marks.source(path)
        }
        .is_some_and(|mark| matches!(mark.origin, Origin::Fetched(_))))
}

/// Whether a target is the repository of a clone that the same call makes, where nothing is now.
fn is_of_new_clone(scene: &Scene<'_>, target: &Target) -> bool {
    let Target::Path { path, .. } = target else { return false };
    let top = path.find("/.git").and_then(|at| path.get(..at));
    let clones = |inv: &Invocation| inv.program == "git" && inv.sub.first().is_some_and(|sub| sub == "clone");
    top.is_some_and(|top| scene.invocations().iter().any(clones) && is_made_before(scene, usize::MAX, top))
}

/// Whether the known beginning of a path leads two directories below the home directory, so that its rest names something in there.
fn is_deep(known: &str, scene: &Scene<'_>) -> bool {
    let below = scene.view.facts.places.home.as_deref().and_then(|home| known.strip_prefix(home));
    below.is_some_and(|below| below.trim_start_matches('/').matches('/').count() >= 2)
}

/// What git discards in another work tree: no checkpoint holds it, whoever is asked.
fn discarded_elsewhere<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.effects().find_map(|(effect, classes)| {
        let lost = DELETES.contains(&effect.kind)
            && !effect.disposable
            && classes.has(Class::Checkout)
            && matches!(effect.target, Target::Path { recursive: true, .. });
        owner(scene, &effect.target).filter(|inv| lost && inv.program == "git")
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

fn delete_file_outside<'a>(scene: &Scene<'a>) -> Found<'a> {
    for (number, (effect, classes)) in scene.effects().enumerate() {
        let path = match &effect.target {
            Target::Path { path, recursive: false, .. } => path,
            // One file of a directory that is known: `rm -f ~/.app/pending-"$id"`.
            Target::UnknownPath { known, recursive: false, .. } if is_deep(known, scene) => known,
            Target::Path { .. }
            | Target::UnknownPath { .. }
            | Target::Url(_)
            | Target::Command(_)
            | Target::None => continue,
        };
        let outside =
            classes.has(Class::Outside) && !classes.any(&[Class::System, Class::Protected, Class::Git]);
        if effect.kind != EffectKind::FileDeletion || !outside || effect.disposable {
            continue;
        }
        if outside::is_nobodys(scene, number, path) {
            continue;
        }
        let owner = owner(scene, &effect.target);
        if owner.is_none_or(|inv| inv.program != "git") {
            return Found::yes(owner.map_or(path.as_str(), |inv| inv.text.as_str()));
        }
    }
    Found::No
}

/// So many directories with what lies in them.
const MANY_DIRS: usize = 3;

/// As many directories right below a root of work, each deleted as a whole by the same call.
fn top_deleted<'a>(scene: &Scene<'a>) -> Found<'a> {
    let facts = &scene.view.facts;
    let mut tops: Vec<&str> = Vec::new();
    for (effect, classes) in scene.effects() {
        let Target::Path { path, glob, recursive } = &effect.target else { continue };
        if effect.kind != EffectKind::FileDeletion || effect.disposable || classes.has(Class::Project) {
            continue;
        }
        // `src/**` is all of `src`.
        let whole = if *glob { path.strip_suffix("/**") } else { Some(path.as_str()).filter(|_| *recursive) };
        let Some(top) = whole.filter(|top| !top.contains(['*', '?', '['])) else { continue };
        let below = facts.places.roots().any(|root| {
            top.strip_prefix(root)
                .and_then(|rest| rest.strip_prefix('/'))
                .is_some_and(|name| !name.contains('/'))
        });
        let missing = facts.path(top).is_some_and(|fact| fact.kind != PathKind::Directory);
        if below && !missing && !tops.contains(&top) {
            tops.push(top);
            if tops.len() >= MANY_DIRS {
                return Found::Yes(scene.command_line().to_owned().into());
            }
        }
    }
    Found::No
}
