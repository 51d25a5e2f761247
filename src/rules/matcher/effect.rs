//! An effect pattern against the effects of a call.

use std::borrow::Cow;

use super::command::is_one_of;
use super::when::{On, OnEffect};
use super::{Classes, Found, Scene, Whose, target_of};
use crate::domain::{Effect, Target, last_name};
use crate::rules::Invocation;
use crate::shell::Arg;

/// Beyond this many effects times commands nobody's exceptions are looked for: strictness instead of slowness.
const MAX_PAIRS: usize = 250_000;

/// Beyond this many words held against targets no command is said to be the one that names them. Rules take that strictly.
const MAX_LOOKS: usize = 300_000;

/// The same as the pattern in a rule, where commands of which `spares` holds are excepted too.
pub(crate) fn find_but<'a>(
    pattern: &OnEffect,
    scene: &Scene<'a>,
    spares: impl Fn(&Invocation, &Target) -> bool,
) -> Found<'a> {
    find_where(pattern, scene, Whose::BuiltIn, &spares)
}

pub(super) fn find<'a>(pattern: &On<'_>, scene: &Scene<'a>, whose: Whose) -> Found<'a> {
    find_where(pattern, scene, whose, &|_, _| false)
}

fn find_where<'a>(
    pattern: &On<'_>,
    scene: &Scene<'a>,
    whose: Whose,
    spares: &dyn Fn(&Invocation, &Target) -> bool,
) -> Found<'a> {
    let pairs = scene.view.survey.effects.len().saturating_mul(scene.invocations().len());
    for (index, (effect, classes)) in scene.effects().enumerate() {
        if !pattern.kinds.contains(&effect.kind) || !may_fall_on(pattern, effect, classes) {
            continue;
        }
        let anywhere = pattern.any.is_empty() && pattern.at.is_empty();
        let is_at =
            || (whose == Whose::Custom || scene.may_be_at(index)) && scene.is_at(index, effect, pattern.at);
        if !(anywhere || classes.any(pattern.any) || is_at()) {
            continue;
        }
        if pairs > MAX_PAIRS || scene.looks.get() > MAX_LOOKS {
            return Found::Yes(shown(effect));
        }
        // It is excepted only when every command that names the target is.
        let mut excepted = false;
        let mut found = None;
        for inv in owners(scene, &effect.target) {
            if is_one_of(&inv.program, pattern.except) || spares(inv, &effect.target) {
                excepted = true;
            } else {
                found = found.or(Some(inv));
            }
        }
        match found {
            Some(inv) => return Found::yes(&inv.text),
            None if !excepted => {
                let text = owner(scene, &effect.target).map(|inv| Cow::Borrowed(inv.text.as_str()));
                return Found::Yes(text.unwrap_or_else(|| shown(effect)));
            }
            None => {}
        }
    }
    Found::No
}

/// Whether all but the place holds.
fn may_fall_on(pattern: &On<'_>, effect: &Effect, classes: Classes) -> bool {
    !classes.any(pattern.none)
        && (!pattern.recursive || is_recursive(&effect.target))
        && (!pattern.lasting || !effect.disposable)
}

fn is_recursive(target: &Target) -> bool {
    match target {
        // `**` is what a search through all levels is written as.
        Target::Path { path, glob, recursive } => *recursive || (*glob && path.contains("**")),
        Target::UnknownPath { recursive, .. } => *recursive,
        Target::Url(_) | Target::Command(_) | Target::None => false,
    }
}

fn shown(effect: &Effect) -> Cow<'_, str> {
    match &effect.target {
        Target::UnknownPath { known, .. } => Cow::Owned(format!("{known}…")),
        target => Cow::Borrowed(target.text()),
    }
}

/// The commands whose operand, option or redirection names the target.
pub(crate) fn owners<'a>(scene: &Scene<'a>, target: &Target) -> impl Iterator<Item = &'a Invocation> {
    let (wanted, end) = (target.text(), target.end());
    let same = move |other: &Target| other.text().trim_end_matches('/') == wanted.trim_end_matches('/');
    let looks = &scene.looks;
    let names = move |inv: &Invocation| {
        looks.set(looks.get().saturating_add(1).saturating_add(inv.operands.len()));
        if looks.get() > MAX_LOOKS {
            return false;
        }
        // Where nothing in front is known, the end is the name.
        if wanted.is_empty() && !end.is_empty() {
            let mut named =
                inv.operands.iter().chain(inv.flags.iter().filter_map(|flag| flag.value.as_ref()));
            let mut places = inv.reads.iter().chain(inv.writes.iter().map(|(write, _)| write));
            return named.any(|arg| target_of(arg, inv.cwd.as_deref()).end() == end)
                || places.any(|place| place.end() == end);
        }
        if wanted.is_empty() {
            return inv.operands.iter().any(|arg| arg.has_unknown() && arg.prefix().is_empty());
        }
        let values = inv.flags.iter().filter_map(|flag| flag.value.as_ref());
        let can = |arg: &&Arg| may_name(arg, wanted);
        inv.operands.iter().chain(values).filter(can).any(|arg| same(&target_of(arg, inv.cwd.as_deref())))
            || inv.writes.iter().any(|(write, _)| same(write))
            || inv.reads.iter().any(same)
    };
    scene.invocations().iter().filter(move |inv| names(inv))
}

/// Whether an argument can name this path: by its last component, unless that leads elsewhere. Cheap, because every command
/// is held against every effect.
fn may_name(arg: &Arg, wanted: &str) -> bool {
    let Some(text) = arg.known() else { return true };
    let last = last_name(text.trim_end_matches('/'));
    matches!(last, "" | "." | "..") || wanted.trim_end_matches('/').ends_with(last)
}

/// The command that a reason about the target quotes: the innermost that names it, or else one that has its name in it.
pub(crate) fn owner<'a>(scene: &Scene<'a>, target: &Target) -> Option<&'a Invocation> {
    owners(scene, target).last().or_else(|| {
        let name = target.text().rsplit('/').find(|part| !part.is_empty())?;
        scene.invocations().iter().rev().find(|inv| inv.args.iter().any(|arg| arg.prefix().contains(name)))
    })
}
