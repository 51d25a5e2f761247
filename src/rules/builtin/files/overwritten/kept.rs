//! What a file is worth: data and settings that are lost, and the logs and caches that are not.

use super::{leaves_nothing, writer};
use crate::domain::{Action, EffectKind, Target, last_name};
use crate::rules::Invocation;
use crate::rules::matcher::{Class, Classes, Found, Scene, has_flag, inside, is_env_file, owners, runs};

/// A database, by the end of its name: emptied, or deleted although it says that it is in use.
pub(super) fn data_lost<'a>(scene: &Scene<'a>) -> Found<'a> {
    const DATA: &[&str] = &[
        ".db", ".sqlite", ".sqlite3", ".db3", ".mdb", ".rdb", ".aof", ".dump", ".sql", ".bak", ".ldf", ".mdf",
    ];
    const MADE_UP: &[&str] =
        &["test", "tmp", "temp", "dev", "cache", "fixture", "example", "sample", "local", "out"];
    let says = |path: &str, words: &[&str]| {
        let name = last_name(path).to_ascii_lowercase();
        { name.split(|c: char| !c.is_ascii_alphabetic()) }.any(|word| words.contains(&word))
    };
    // What a tool writes is all of the new file, and is there to be read.
    if !matches!(scene.view.call.action, Action::Shell { .. }) {
        return Found::No;
    }
    for (effect, _) in scene.effects() {
        let Target::Path { path, glob: false, .. } = &effect.target else { continue };
        if !DATA.iter().any(|end| path.len() > end.len() && path.ends_with(end))
            || says(path, MADE_UP)
            || scene.view.facts.places.temp.iter().any(|dir| inside(path, dir))
        {
            continue;
        }
        let owner = writer(scene, &effect.target);
        let lost = match effect.kind {
            EffectKind::FileDeletion => {
                says(path, &["prod", "production", "live", "master"])
                    && owner.is_some_and(|inv| runs(inv, &["rm", "unlink"]))
            }
            _ => owner.is_none_or(leaves_nothing),
        };
        if lost {
            return Found::yes(owner.map_or(scene.command_line(), |inv| inv.text.as_str()));
        }
    }
    Found::No
}

/// Files that are emptied as a matter of course.
pub(in crate::rules::builtin::files) fn is_log(path: &str) -> bool {
    let name = last_name(path);
    [".log", ".log*", ".out", ".tmp", ".txt", ".err", ".pid"].iter().any(|end| name.ends_with(end))
        || path.contains("/logs/")
}

/// The same, where outside the project a text is somebody's.
pub(super) fn grows(path: &str, classes: Classes) -> bool {
    is_log(path) && !(classes.has(Class::Outside) && path.ends_with(".txt"))
}

/// Outside the project, what is made again or grows by itself.
pub(in crate::rules::builtin::files) fn is_cache(path: &str) -> bool {
    ["/.cache/", "/cache/", "/Caches/", "/var/log/", "/tmp/", "/.npm/_"].iter().any(|dir| path.contains(dir))
}

/// Settings with values that no repository holds are overwritten, moved away or deleted.
pub(super) fn settings_lost<'a>(scene: &Scene<'a>) -> Found<'a> {
    if !matches!(scene.view.call.action, Action::Shell { .. }) {
        return Found::No;
    }
    let replaces = |inv: &Invocation, target: &Target| match inv.program.as_str() {
        "tee" => !has_flag(inv, "-a") && !has_flag(inv, "--append"),
        "cp" | "mv" | "install" | "truncate" | "dd" | "unlink" => true,
        _ => inv.writes.iter().any(|(to, append)| !append && to.text() == target.text()),
    };
    for (effect, classes) in scene.effects() {
        let Target::Path { path, glob: false, .. } = &effect.target else { continue };
        if !is_env_file(path, false) || classes.has(Class::Outside) {
            continue;
        }
        let lost = match effect.kind {
            EffectKind::FileDeletion => true,
            EffectKind::FileModification => {
                owners(scene, &effect.target).any(|inv| replaces(inv, &effect.target))
                    || scene.invocations().is_empty()
            }
            EffectKind::FileRead
            | EffectKind::FileCreation
            | EffectKind::ProcessCreation
            | EffectKind::NetworkRequest
            | EffectKind::SystemCommand
            | EffectKind::SystemModification => false,
        };
        if lost && !scene.view.facts.places.temp.iter().any(|dir| inside(path, dir)) {
            return Found::yes(
                owners(scene, &effect.target).last().map_or(scene.command_line(), |inv| &inv.text),
            );
        }
    }
    Found::No
}
