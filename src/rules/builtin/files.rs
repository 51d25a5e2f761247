//! Files: deletion, overwriting and permissions beyond what a project needs.

pub(super) mod deleted;
pub(super) mod outside;
pub(super) mod overwritten;

use crate::domain::{EffectKind, PathKind, Target};
use crate::rules::Invocation;
use crate::rules::matcher::{Class, Found, Scene, asks_for_help, classify, has_flag, inside, target_of};
use crate::shell::Arg;

const DELETES: &[EffectKind] = &[EffectKind::FileDeletion];

/// Places that are more than anybody's single work.
pub(super) const WIDE: &[Class] = &[Class::Root, Class::System, Class::Home, Class::HomeTop, Class::Users];

const CHMOD: &[&str] = &["chmod"];

const OPENERS: &[&str] = &["chmod", "setfacl"];

const CHOWN: &[&str] = &["chown", "chgrp"];

const MOVERS: &[&str] = &["mv", "rename"];

words!("builtin/files");

fn directory_of_a_home_moved<'a>(scene: &Scene<'a>) -> Found<'a> {
    moves_home(scene, |inv| !sets_aside(inv, scene) && !renames_served(inv))
}

fn settings_put_aside<'a>(scene: &Scene<'a>) -> Found<'a> {
    moves_home(scene, |inv| sets_aside(inv, scene))
}

/// The first command for which `test` holds of those that move a directory of the system or of a home.
fn moves_home<'a>(scene: &Scene<'a>, test: impl Fn(&Invocation) -> bool) -> Found<'a> {
    let found = scene.first(MOVERS, |inv| {
        let count = inv.operands.len().saturating_sub(usize::from(!has_flag(inv, "-t")));
        let wide = |arg: &Arg| {
            let target = target_of(arg, inv.cwd.as_deref());
            let classes = classify(&target, EffectKind::FileDeletion, &scene.view);
            classes.any(WIDE) && !(classes.any(&[Class::HomeTop]) && is_plain_file(&target, scene))
        };
        !inv.contained && inv.operands.iter().take(count).any(wide) && test(inv)
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// One file that no program looks for by its name: not a directory, and not hidden.
fn is_plain_file(target: &Target, scene: &Scene<'_>) -> bool {
    let Target::Path { path, glob: false, .. } = target else { return false };
    let fact = scene.view.facts.path(path);
    fact.is_some_and(|fact| fact.kind == PathKind::File && !fact.link) && !path.contains("/.")
}

/// One hidden thing of the home directory gets another ending: `mv ~/.vimrc ~/.vimrc.bak`.
fn sets_aside(inv: &Invocation, scene: &Scene<'_>) -> bool {
    const ENDS: &[&str] = &[".bak", ".orig", ".old", ".backup", ".save", "-backup", "-old", "~"];
    let [from, to] = inv.operands.as_slice() else { return false };
    let (from, to) = (target_of(from, inv.cwd.as_deref()), target_of(to, inv.cwd.as_deref()));
    let (Target::Path { path, glob: false, .. }, Target::Path { path: to, glob: false, .. }) = (&from, &to)
    else {
        return false;
    };
    let home = scene.view.facts.places.home.as_deref();
    let name = home.and_then(|home| path.strip_prefix(home)).and_then(|name| name.strip_prefix("/."));
    let kept = [Class::Secret, Class::Protected, Class::Keys];
    name.is_some_and(|name| !name.is_empty() && !name.contains('/'))
        && to.strip_prefix(path.as_str()).is_some_and(|end| ENDS.contains(&end))
        && !classify(&from, EffectKind::FileDeletion, &scene.view).any(&kept)
}

/// Whether a file gets another name in its directory, below the place of a program that somebody put on the machine by hand.
fn renames_served(inv: &Invocation) -> bool {
    const SERVED: &[&str] = &["/root/", "/srv/", "/opt/", "/var/www/"];
    let [from, to] = inv.operands.as_slice() else { return false };
    let path = |arg: &Arg| match target_of(arg, inv.cwd.as_deref()) {
        Target::Path { path, glob: false, .. } => Some(path),
        _ => None,
    };
    let (Some(from), Some(to)) = (path(from), path(to)) else { return false };
    let Some((dir, _)) = from.rsplit_once('/') else { return false };
    let below = SERVED.iter().find_map(|place| dir.strip_prefix(place));
    below.is_some_and(|name| !name.is_empty() && !name.starts_with('.'))
        && to.rsplit_once('/').is_some_and(|(other, _)| other == dir)
}

/// `git ls-files` without a name lists every file of the project, and with `-o` those that git cannot bring back.
fn lists_all_of_git(lister: &Invocation) -> bool {
    let spared = ["-d", "--deleted", "-i", "--ignored"].iter().any(|flag| has_flag(lister, flag));
    lister.program == "git"
        && lister.sub.first().is_some_and(|sub| sub == "ls-files")
        && lister.operands.is_empty()
        && !spared
}

/// Of a copy the target decides; of one to another machine the source as well.
fn mirrored(inv: &Invocation, scene: &Scene<'_>) -> bool {
    const DELETES: &[&str] =
        &["--delete", "--delete-before", "--delete-after", "--delete-during", "--delete-excluded", "--del"];
    let lost = |arg: &Arg| {
        let target = target_of(arg, inv.cwd.as_deref());
        let lies = classify(&target, EffectKind::FileDeletion, &scene.view);
        lies.any(WIDE) || lies.any(&[Class::Project, Class::Outside])
    };
    let here = inv.operands.last().is_some_and(|arg| !arg.has_unknown() && !arg.prefix().contains(':'));
    let skipped = if here { inv.operands.len().saturating_sub(1) } else { 0 };
    DELETES.iter().any(|flag| has_flag(inv, flag))
        && !["-n", "--dry-run"].iter().any(|flag| has_flag(inv, flag))
        && inv.operands.iter().skip(skipped).any(lost)
}

fn chown_outside(inv: &Invocation, scene: &Scene<'_>) -> bool {
    const ONE: &[Class] = &[Class::Root, Class::System, Class::Home, Class::Users, Class::Device];
    const TREE: &[Class] = &[Class::Outside, Class::Device];
    let tree = has_flag(inv, "-R") || has_flag(inv, "--recursive");
    let lies = |arg: &Arg| {
        let target = target_of(arg, inv.cwd.as_deref());
        let found = classify(&target, EffectKind::FileDeletion, &scene.view);
        match tree {
            _ if inv.contained => found.has(Class::Device),
            true => found.any(WIDE) || found.any(TREE),
            false => found.any(ONE),
        }
    };
    !asks_for_help(inv)
        && inv.operands.iter().any(lies)
        && !takes_back(inv, scene)
        && !is_of_new_directories(inv, scene)
}

/// Only directories change hands that the call itself makes, each by its own name.
fn is_of_new_directories(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let files = inv.operands.get(1..).unwrap_or_default();
    let made = |arg: &Arg| {
        let Target::Path { path, glob: false, .. } = target_of(arg, inv.cwd.as_deref()) else { return false };
        let is_new = scene.view.facts.path(&path).is_none_or(|fact| fact.kind == PathKind::Missing);
        let makes = |other: &&Invocation| {
            other.program == "mkdir"
                && other.operands.iter().any(|made| target_of(made, other.cwd.as_deref()).text() == path)
        };
        is_new
            && scene
                .invocations()
                .iter()
                .take_while(|other| !std::ptr::eq(*other, inv))
                .any(|other| makes(&other))
    };
    !files.is_empty() && files.iter().all(made)
}

/// What was unpacked or installed beside the system by one person, by its own directory: that is theirs to give.
fn is_given(path: &str) -> bool {
    const BELOW: &[(&str, usize)] = &[("/opt", 2), ("/srv", 2), ("/var/www", 3), ("/usr/local", 4)];
    let depth = path.split('/').filter(|part| !part.is_empty()).count();
    BELOW.iter().any(|(dir, least)| inside(path, dir) && depth >= *least)
}

/// What lies in the person's own home directory is given back to the person.
fn takes_back(inv: &Invocation, scene: &Scene<'_>) -> bool {
    const ONESELF: &[&str] =
        &["$USER", "${USER}", "$LOGNAME", "$(whoami)", "`whoami`", "$(id -u", "$(id -un", "$UID", "${UID}"];
    let places = &scene.view.facts.places;
    let Some(((owner, files), home)) = inv.operands.split_first().zip(places.home.as_deref()) else {
        return false;
    };
    let oneself = match owner.known() {
        Some(name) => places.user.as_deref() == name.split([':', '.']).next(),
        None => ONESELF.iter().any(|spelling| inv.text.contains(spelling)),
    };
    let own = |arg: &Arg| match target_of(arg, inv.cwd.as_deref()) {
        Target::Path { path, glob, .. } => {
            inside(&path, home) && path.len() > home.len() || !glob && is_given(&path)
        }
        Target::UnknownPath { .. } | Target::Url(_) | Target::Command(_) | Target::None => false,
    };
    oneself && inv.program == "chown" && !inv.contained && files.iter().all(own)
}

/// All of a directory in the home gets other permissions than only more for its owner and less for everybody else.
fn opens_home_directory(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let keeps = |clause: &str| match clause.split_once('+') {
        Some(("u", _)) => true,
        Some(_) => false,
        None => clause.split_once('-').is_some_and(|(who, _)| matches!(who, "g" | "o" | "go" | "og")),
    };
    let recursive = has_flag(inv, "-R") || has_flag(inv, "--recursive");
    let mode = inv.operands.first().and_then(Arg::known).filter(|_| inv.program == "chmod");
    let on_home = |arg: &Arg| {
        let target = target_of(arg, inv.cwd.as_deref());
        classify(&target, EffectKind::FileModification, &scene.view).any(&[Class::HomeTop])
    };
    recursive
        && !inv.contained
        && inv.operands.iter().any(on_home)
        && !mode.is_some_and(|mode| mode.split(',').all(keeps))
}

fn chmod_lockout(inv: &Invocation, scene: &Scene<'_>) -> bool {
    const MODES: &[&str] = &[
        "000", "0000", "0", "a-rwx", "a-r", "a-w", "a-rw", "ugo-rwx", "ugo-w", "ugo-r", "-rwx", "-r", "-w",
        "u-w", "u-r", "u-rwx", "a=", "u=",
    ];
    let mode = inv.args.iter().any(|arg| arg.known().is_some_and(|mode| MODES.contains(&mode)));
    mode && inv.operands.iter().any(|arg| {
        let target = target_of(arg, inv.cwd.as_deref());
        let classes = classify(&target, EffectKind::FileDeletion, &scene.view);
        classes.any(&[Class::Project, Class::Git])
    })
}
