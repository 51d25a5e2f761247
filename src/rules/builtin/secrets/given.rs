//! Programs that are given a secret file and show or publish it, and a reviewer that is given the home directory.

use super::{DECRYPTERS, PACKERS, PUBLISHERS};
use crate::domain::{EffectKind, Target};
use crate::rules::Invocation;
use crate::rules::matcher::{Class, Found, Scene, classify, has_flag, target_of};

/// Programs that have a use for secret files, told to show or to publish one.
pub(super) fn secret_given_away<'a>(scene: &Scene<'a>) -> Found<'a> {
    let secret = |inv: &Invocation| {
        inv.operands.iter().any(|arg| {
            let classes = classify(&target_of(arg, inv.cwd.as_deref()), EffectKind::FileRead, &scene.view);
            let published = inv.program != "git" && classes.has(Class::EnvFile);
            classes.has(Class::Secret) || published
        })
    };
    let packed = scene.first(PACKERS, |inv| {
        inv.operands.iter().any(|arg| {
            let target = match target_of(arg, inv.cwd.as_deref()) {
                Target::Path { path, glob, .. } => Target::Path { path, glob, recursive: true },
                other => other,
            };
            classify(&target, EffectKind::FileRead, &scene.view).has(Class::Secret)
        })
    });
    if let Some(inv) = packed {
        return Found::yes(&inv.text);
    }
    let decrypts = |inv: &Invocation| ["-d", "--decrypt"].iter().any(|flag| has_flag(inv, flag));
    if let Some(inv) = scene.first(DECRYPTERS, |inv| decrypts(inv) && secret(inv)) {
        return Found::yes(&inv.text);
    }
    let found = scene.first(PUBLISHERS, |inv| {
        let sub: Vec<&str> = inv.sub.iter().map(String::as_str).take(2).collect();
        let shows = matches!(
            sub.as_slice(),
            ["diff" | "hash-object" | "grep" | "show" | "apply" | "blame" | "stripspace", ..]
                | ["gist", "create" | "edit"]
                | ["release", "create" | "upload"]
                | ["snippet", "create"]
        );
        shows && secret(inv)
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// A review of a whole home directory, or of more: its secrets would be copied for the one who reads.
pub(super) fn home_reviewed(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let starts = matches!(inv.sub.as_slice(), [review, verb, ..] if review == "review" && matches!(verb.as_str(), "start" | "run"));
    starts
        && inv.operands.iter().any(|arg| {
            let target = target_of(arg, inv.cwd.as_deref());
            classify(&target, EffectKind::FileDeletion, &scene.view).any(&[
                Class::Root,
                Class::Home,
                Class::Users,
            ])
        })
}
