//! Secrets that are moved, linked, uploaded or copied with all that lies around them, by programs that show nothing.

use crate::domain::{Action, Claim, EffectKind, Target, join};
use crate::rules::Invocation;
use crate::rules::matcher::{Class, Found, Scene, classify, has_flag, runs, target_of};
use crate::shell::Arg;

/// Programs that give a file another place or name.
const MOVERS: &[&str] = &["mv", "ln", "link", "gmv"];

/// Programs that copy whole trees.
pub(super) const COPIERS: &[&str] = &["cp", "rsync", "ditto", "rclone", "scp", "gsutil"];

words!("builtin/secrets/carried");

/// Whether a path, with all that is in it, is a secret.
fn is_secret(arg: &Arg, inv: &Invocation, scene: &Scene<'_>) -> bool {
    holds_secret(&target_of(arg, inv.cwd.as_deref()), scene)
}

fn holds_secret(target: &Target, scene: &Scene<'_>) -> bool {
    let whole = match target {
        Target::Path { path, glob, .. } => Target::Path { path: path.clone(), glob: *glob, recursive: true },
        Target::UnknownPath { .. } | Target::Url(_) | Target::Command(_) | Target::None => target.clone(),
    };
    classify(&whole, EffectKind::FileRead, &scene.view).has(Class::Secret)
}

/// A secret moved, linked or uploaded.
pub(super) fn carried<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(CARRIERS, |inv| {
        if runs(inv, MOVERS) {
            let symbolic = inv.program == "ln" && (has_flag(inv, "-s") || has_flag(inv, "--symbolic"));
            let sources = inv.operands.split_last().map_or(&[][..], |(_, sources)| sources);
            return !symbolic && sources.iter().any(|arg| is_secret(arg, inv, scene));
        }
        let words =
            UPLOADERS.iter().find(|(name, _)| *name == inv.program).map_or(&[][..], |(_, words)| words);
        let told = |arg: &Arg| arg.known().is_some_and(|word| words.contains(&word));
        // What it is brought to is no source.
        let sources = inv.args.split_last().map(|(last, front)| {
            let flagged = front.last().is_some_and(|arg| arg.prefix().starts_with('-'));
            front.iter().chain(flagged.then_some(last))
        });
        // `docker cp web:/etc/shadow .`
        let inside = |arg: &Arg| {
            let path = arg.known().and_then(|text| text.split_once(':')).map(|(_, path)| path);
            path.filter(|path| path.starts_with('/')).map(Arg::literal)
        };
        inv.args.iter().any(told)
            && sources.is_some_and(|mut args| {
                args.any(|arg| {
                    is_secret(arg, inv, scene) || inside(arg).is_some_and(|arg| is_secret(&arg, inv, scene))
                })
            })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// A tool that moves or copies files, given a directory of secrets; a search whose pattern of names leads to them.
pub(super) fn carried_by_tool<'a>(scene: &Scene<'a>) -> Found<'a> {
    let home = scene.view.facts.places.home.as_deref();
    let named = |path: &str, recursive: bool| {
        let full = match (path.strip_prefix('~'), home) {
            (Some(rest), Some(home)) => format!("{home}{rest}"),
            _ => join(scene.view.cwd, path),
        };
        let glob = full.contains(['*', '?', '[']);
        let target = Target::Path { path: full, glob, recursive };
        classify(&target, EffectKind::FileRead, &scene.view).has(Class::Secret)
    };
    match &scene.view.call.action {
        Action::Other { claims, .. } => {
            let name = scene.view.call.tool.name().to_ascii_lowercase();
            let carries =
                ["move", "rename", "copy", "upload", "zip", "archive"].iter().any(|w| name.contains(w));
            let secret = claims.iter().find_map(|claim| match claim {
                Claim::File { path, .. } if carries && named(path, true) => Some(path.as_str()),
                Claim::File { .. } | Claim::Command(_) | Claim::Code(_) | Claim::Unread => None,
            });
            Found::from(secret)
        }
        // `**/*` names nothing: what the directory holds is judged as one that is read.
        Action::Search { path, glob: Some(glob), .. } if !glob.trim_matches(['*', '/']).is_empty() => {
            let joined = format!("{}/{glob}", path.as_deref().unwrap_or("."));
            if named(&joined, true) { Found::yes(glob) } else { Found::No }
        }
        _ => Found::No,
    }
}

/// All of a home, or of the machine, is among the sources of a copy.
fn takes_home(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let sources = inv.operands.split_last().map_or(&[][..], |(_, sources)| sources);
    let whole = |arg: &Arg| {
        let target = target_of(arg, inv.cwd.as_deref());
        classify(&target, EffectKind::FileDeletion, &scene.view).any(&[
            Class::Root,
            Class::Home,
            Class::Users,
        ])
    };
    let deep = inv.program != "cp"
        || ["-r", "-R", "-a", "--recursive", "--archive"].iter().any(|f| has_flag(inv, f));
    deep && sources.iter().any(whole)
}

/// All that programs keep of their settings is among the sources of a copy, and with it the credentials of some.
fn takes_settings(inv: &Invocation, scene: &Scene<'_>) -> bool {
    const KEPT: &[&str] =
        &[".config", ".local", ".local/share", "Library", "Library/Application Support", ".mozilla"];
    let Some(home) = scene.view.facts.places.home.as_deref() else { return false };
    let sources = inv.operands.split_last().map_or(&[][..], |(_, sources)| sources);
    sources.iter().any(|arg| match target_of(arg, inv.cwd.as_deref()) {
        Target::Path { path, .. } => {
            let path = path.trim_end_matches(['*', '/', '.']);
            path.strip_prefix(home)
                .and_then(|rest| rest.strip_prefix('/'))
                .is_some_and(|dir| KEPT.contains(&dir))
        }
        Target::UnknownPath { .. } | Target::Url(_) | Target::Command(_) | Target::None => false,
    })
}

/// Whether what a copy goes to is another machine.
fn is_remote(inv: &Invocation) -> bool {
    inv.operands.last().is_some_and(|dest| {
        let text = dest.text();
        let front = text.split('/').next().unwrap_or_default();
        front.contains(':') && !text.starts_with('/')
    })
}

pub(in crate::rules::builtin) fn home_sent(inv: &Invocation, scene: &Scene<'_>) -> bool {
    is_remote(inv) && (takes_home(inv, scene) || takes_settings(inv, scene))
}

pub(super) fn home_copied(inv: &Invocation, scene: &Scene<'_>) -> bool {
    !is_remote(inv) && takes_home(inv, scene)
}
