//! Archives and trees that are put over protected places.

use super::{FILLERS, UNPACKERS};
use crate::domain::{Target, join};
use crate::rules::Invocation;
use crate::rules::builtin::operations;
use crate::rules::builtin::selfprotect::{TARS, aimed, around_protected, unpacks};
use crate::rules::matcher::{Found, Scene, flag_value, has_flag, inside, runs, target_of};
use crate::shell::Arg;

pub(super) fn unpacked<'a>(scene: &Scene<'a>) -> Found<'a> {
    let over = |dest: &Arg, inv: &Invocation| {
        around_protected(dest, inv, scene)
            && !aimed::is_shared(dest, inv, scene)
            && !takes_others(dest, inv, scene)
    };
    match filled(scene, over) {
        Found::No => Found::from(piped_archive(scene).map(|inv| inv.text.as_str())),
        found => found,
    }
}

/// `tar c .claude | tar x -C there`: the members by the names that they were put in with.
fn piped_archive<'a>(scene: &Scene<'a>) -> Option<&'a Invocation> {
    let here = Arg::literal(".");
    scene.first(UNPACKERS, |inv| {
        let Target::Path { path: dest, .. } =
            target_of(flag_value(inv, &["-C", "--directory", "-D"]).unwrap_or(&here), inv.cwd.as_deref())
        else {
            return false;
        };
        let packs = |other: &&Invocation| {
            other.pipeline == inv.pipeline && other.stage < inv.stage && runs(other, TARS)
        };
        let lands = |arg: &Arg| around_protected(&Arg::literal(&join(&dest, &arg.text())), inv, scene);
        unpacks(inv) && scene.invocations().iter().filter(packs).any(|other| other.operands.iter().any(lands))
    })
}

pub(super) fn home_filled<'a>(scene: &Scene<'a>) -> Found<'a> {
    let Some(home) = scene.view.facts.places.home.as_deref() else { return Found::No };
    let absolute = |inv: &Invocation| {
        let bundled =
            inv.args.first().is_some_and(|arg| !arg.prefix().starts_with('-') && arg.prefix().contains('P'));
        unpacks(inv) && (bundled || has_flag(inv, "-P") || has_flag(inv, "--absolute-names"))
    };
    if let Some(inv) = scene.first(TARS, absolute) {
        return Found::yes(&inv.text);
    }
    filled(scene, |dest, inv| match target_of(dest, inv.cwd.as_deref()) {
        Target::Path { path, glob: false, .. } => {
            // Everybody unpacks in a temporary directory, also where a home lies below it.
            inside(home, &path) && !scene.view.facts.places.temp.contains(&path)
                || aimed::is_shared(dest, inv, scene)
                    && around_protected(dest, inv, scene)
                    && !takes_others(dest, inv, scene)
        }
        Target::Path { .. }
        | Target::UnknownPath { .. }
        | Target::Url(_)
        | Target::Command(_)
        | Target::None => false,
    })
}

/// `tar xzf rel.tgz -C ~/.local/bin rel/tool --strip-components=1`: what is taken out is named, and none of it lands on what is
/// protected.
fn takes_others(dest: &Arg, inv: &Invocation, scene: &Scene<'_>) -> bool {
    let Some((members, stripped)) = members_of(inv) else { return false };
    let Target::Path { path: dest, glob: false, .. } = target_of(dest, inv.cwd.as_deref()) else {
        return false;
    };
    let lands_apart = |member: &&str| {
        let mut parts = member.split('/').filter(|part| !matches!(*part, "" | "."));
        let rest = parts.by_ref().skip(stripped).collect::<Vec<_>>().join("/");
        !rest.is_empty()
            && !member.starts_with('/')
            && !member.contains("..")
            && !around_protected(&Arg::literal(&join(&dest, &rest)), inv, scene)
    };
    !members.is_empty() && members.iter().all(lands_apart)
}

/// The members that `tar` is told to take out, and how many directories it leaves out in front; nothing where anything else is
/// said that may change their names.
fn members_of(inv: &Invocation) -> Option<(Vec<&str>, usize)> {
    const STRIP: &str = "--strip-components";
    let mut words = operations::known_words(inv).into_iter();
    if !runs(inv, TARS) || words.len() != inv.args.len() {
        return None;
    }
    let bundle = words.next()?;
    let letters = bundle.trim_start_matches('-');
    if bundle.starts_with("--") || !letters.contains('x') || !letters.bytes().all(|b| b"xzjJvfk".contains(&b))
    {
        return None;
    }
    if letters.contains('f') {
        words.next()?;
    }
    let (mut members, mut stripped) = (Vec::new(), 0);
    while let Some(word) = words.next() {
        match word {
            "-C" | "--directory" => drop(words.next()?),
            STRIP => stripped = words.next()?.parse().ok()?,
            _ if word.starts_with(STRIP) => stripped = word.get(STRIP.len() + 1..)?.parse().ok()?,
            _ if word.starts_with('-') || word.contains(['*', '?', '[']) => return None,
            _ => members.push(word),
        }
    }
    Some((members, stripped))
}

/// A tree unpacked or copied into a directory for which `test` holds.
pub(super) fn filled<'a>(scene: &Scene<'a>, test: impl Fn(&Arg, &Invocation) -> bool) -> Found<'a> {
    let here = Arg::literal(".");
    let found = scene.first(FILLERS, |inv| {
        let whole = |arg: &Arg| arg.prefix().ends_with("/.") || arg.prefix().ends_with('/') || arg.has_glob();
        match inv.program.as_str() {
            "rsync" if has_flag(inv, "-n") || has_flag(inv, "--dry-run") => false,
            "cp" | "rsync" | "ditto" => match inv.operands.split_last() {
                Some((dest, sources)) => {
                    let tree = has_flag(inv, "-T") || has_flag(inv, "--no-target-directory");
                    (sources.iter().any(whole) || (tree && inv.program == "cp")) && test(dest, inv)
                }
                None => false,
            },
            "dpkg" | "dpkg-deb" => {
                const UNPACKS: &[&str] = &["-x", "-X", "-R", "--extract", "--vextract", "--raw-extract"];
                let told = inv.args.iter().any(|arg| arg.known().is_some_and(|arg| UNPACKS.contains(&arg)));
                told && inv.args.len() > 2 && inv.args.last().is_some_and(|dest| test(dest, inv))
            }
            "python" | "python3" => {
                let unpacks = inv.args.iter().any(|arg| matches!(arg.known(), Some("zipfile" | "tarfile")))
                    && inv.args.iter().any(|arg| matches!(arg.known(), Some("-e" | "--extract")));
                unpacks && inv.args.last().is_some_and(|dest| test(dest, inv))
            }
            _ => {
                let dest = flag_value(inv, &["-C", "--directory", "-d", "-o", "-D"]);
                unpacks(inv) && test(dest.unwrap_or(&here), inv)
            }
        }
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}
