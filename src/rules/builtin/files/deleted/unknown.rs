//! Deletions of what nobody can know beforehand.

use crate::domain::{Effect, EffectKind, Target};
use crate::rules::Invocation;
use crate::rules::matcher::{Class, Found, Scene, classify, runs};
use crate::rules::survey::is_guarded;
use crate::shell::{Arg, Piece};

fn unknown_deletions<'s, 'a>(
    scene: &'s Scene<'a>,
) -> impl Iterator<Item = (&'a str, Option<&'a Invocation>)> + 's {
    scene.effects().filter_map(|(effect, _)| match &effect.target {
        Target::UnknownPath { known, recursive: true, .. }
            if effect.kind == EffectKind::FileDeletion && !is_made_again(effect, known) =>
        {
            let deleter = scene.invocations().iter().find(|inv| deletes_unknown(inv));
            Some((known.as_str(), deleter))
        }
        _ => None,
    })
}

/// What is known of it says that it can be made again: more than the directory that it is in.
fn is_made_again(effect: &Effect, known: &str) -> bool {
    effect.disposable && !known.ends_with('/')
}

fn deletes_unknown(inv: &Invocation) -> bool {
    inv.args.iter().any(Arg::has_unknown) && !runs(inv, &["echo", "printf", "export", "read", "test", "["])
}

/// Whether what is known puts it into the project or a temporary directory, whatever comes behind.
fn is_bounded(known: &str, scene: &Scene<'_>) -> bool {
    let target = Target::begun(known, true);
    known.len() > 1 && !classify(&target, EffectKind::FileDeletion, &scene.view).any(&[Class::Outside])
}

fn shown<'a>(known: &'a str, inv: Option<&'a Invocation>) -> Found<'a> {
    Found::yes(inv.map_or(known, |inv| inv.text.as_str()))
}

pub(super) fn is_module(target: &Target) -> bool {
    module_of(target).is_some()
}

/// The name of the submodule of which a target is the repository: `.git/modules/vendor/x`.
fn module_of(target: &Target) -> Option<&str> {
    let Target::Path { path, glob: false, .. } = target else { return None };
    path.split_once("/.git/modules/")
        .map(|(_, name)| name.trim_end_matches('/'))
        .filter(|name| !name.is_empty())
}

/// Whether the same call takes the submodule out of the project before: the last step of three.
pub(super) fn is_taken_out(scene: &Scene<'_>, target: &Target) -> bool {
    let is_it = |arg: &Arg| {
        arg.known()
            .is_some_and(|arg| Some(arg.trim_end_matches('/').trim_start_matches("./")) == module_of(target))
    };
    let takes = |inv: &Invocation| {
        inv.program == "git" && matches!(inv.sub.first().map(String::as_str), Some("rm" | "submodule"))
    };
    scene.invocations().iter().any(|inv| takes(inv) && inv.operands.iter().any(is_it))
}

pub(super) fn delete_unknown<'a>(scene: &Scene<'a>) -> Found<'a> {
    let mut unbounded = unknown_deletions(scene).filter(|(known, _)| !is_bounded(known, scene));
    let plain = unbounded.find(|(_, inv)| !inv.is_some_and(would_be_root));
    plain.map_or(Found::No, |(known, inv)| shown(known, inv))
}

pub(super) fn delete_unknown_root<'a>(scene: &Scene<'a>) -> Found<'a> {
    let mut unbounded = unknown_deletions(scene).filter(|(known, _)| !is_bounded(known, scene));
    let root = unbounded.find(|(_, inv)| inv.is_some_and(would_be_root));
    root.map_or(Found::No, |(known, inv)| shown(known, inv))
}

/// With every unknown part empty it deletes `/` or `/*`, and nothing stops the shell then.
fn would_be_root(inv: &Invocation) -> bool {
    inv.operands.iter().any(is_root_when_empty) && !is_guarded(&inv.text)
}

/// With every unknown part empty it would be `/` or `/*`.
fn is_root_when_empty(arg: &Arg) -> bool {
    let mut rest = String::new();
    for piece in &arg.pieces {
        match piece {
            Piece::Known(text) | Piece::Glob(text) => rest.push_str(text),
            Piece::Unknown => {}
        }
    }
    arg.has_unknown() && rest.starts_with('/') && rest.bytes().all(|b| matches!(b, b'/' | b'*' | b'.'))
}
