//! An effect pattern against the effects of a call.

use std::borrow::Cow;

use super::{Classes, Found, OnEffect, Scene, at, runs, target_of};
use crate::domain::{Effect, Target};
use crate::rules::Invocation;

pub(super) fn find<'a>(pattern: &OnEffect, scene: &Scene<'a>) -> Found<'a> {
    let home = scene.view.facts.places.home.as_deref();
    for (effect, classes) in scene.effects() {
        if !pattern.kinds.contains(&effect.kind) || !falls_on(pattern, effect, classes, home) {
            continue;
        }
        let owner = owner(scene, &effect.target);
        if owner.is_some_and(|inv| runs(inv, pattern.except)) {
            continue;
        }
        return Found::Yes(owner.map_or_else(|| shown(effect), |inv| Cow::Borrowed(inv.text.as_str())));
    }
    Found::No
}

fn falls_on(pattern: &OnEffect, effect: &Effect, classes: Classes, home: Option<&str>) -> bool {
    let anywhere = pattern.any.is_empty() && pattern.at.is_empty();
    (anywhere || classes.any(pattern.any) || at(&effect.target, pattern.at, home))
        && !classes.any(pattern.none)
        && (!pattern.recursive || is_recursive(&effect.target))
        && (!pattern.lasting || !effect.disposable)
}

fn is_recursive(target: &Target) -> bool {
    match target {
        Target::Path { recursive, .. } | Target::UnknownPath { recursive, .. } => *recursive,
        Target::Url(_) | Target::Command(_) | Target::None => false,
    }
}

fn shown(effect: &Effect) -> Cow<'_, str> {
    match &effect.target {
        Target::UnknownPath { known, .. } => Cow::Owned(format!("{known}…")),
        target => Cow::Borrowed(target.text()),
    }
}

/// The command whose operand, option or redirection names the target.
pub(crate) fn owner<'a>(scene: &Scene<'a>, target: &Target) -> Option<&'a Invocation> {
    let wanted = target.text();
    let names = |inv: &Invocation| {
        let values = inv.flags.iter().filter_map(|flag| flag.value.as_ref());
        let same = |other: &Target| other.text().trim_end_matches('/') == wanted.trim_end_matches('/');
        inv.operands.iter().chain(values).any(|arg| same(&target_of(arg, inv.cwd.as_deref())))
            || inv.writes.iter().any(|(write, _)| same(write))
            || inv.reads.iter().any(same)
    };
    scene.invocations().iter().find(|inv| names(inv)).or_else(|| {
        let name = wanted.rsplit('/').find(|part| !part.is_empty())?;
        scene.invocations().iter().find(|inv| inv.args.iter().any(|arg| arg.prefix().contains(name)))
    })
}
