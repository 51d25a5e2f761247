//! Bits and capabilities that make a file more than a file.

use crate::domain::{EffectKind, PathKind};
use crate::rules::Invocation;
use crate::rules::builtin::everyday;
use crate::rules::matcher::{Class, Scene, asks_for_help, classify, flag_value, has_flag, target_of};
use crate::shell::Arg;

fn capabilities_given(inv: &Invocation, scene: &Scene<'_>) -> bool {
    // Who mounts behind it has looked for an alternative.
    let only_prints = has_flag(inv, "--print") && scene.first(&["mount"], |_| true).is_none();
    !only_prints
        && !["-v", "-n", "--decode"].iter().any(|flag| has_flag(inv, flag))
        && !asks_for_help(inv)
        && !everyday::binds_low_ports(inv)
}

const MODE_SETTERS: &[&str] = &["chmod", "install", "mkdir"];

/// The modes among the arguments: octal digits or symbolic.
fn modes(inv: &Invocation) -> impl Iterator<Item = &str> {
    let by_flag = flag_value(inv, &["-m", "--mode"]).and_then(Arg::known);
    let given = if inv.program == "chmod" {
        inv.args.iter().filter_map(Arg::known)
    } else {
        [].iter().filter_map(Arg::known)
    };
    given.chain(by_flag)
}

fn octal(mode: &str) -> Option<u32> {
    let digits = mode.strip_prefix(['=', '+']).unwrap_or(mode);
    (digits.len() >= 3).then(|| u32::from_str_radix(digits, 8).ok()).flatten()
}

/// `chmod g+s shared/`: what is made in these directories belongs to their group. Nothing that can be run is touched.
fn shares_directories(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let Some((mode, dirs)) = inv.operands.split_first() else { return false };
    let group = mode.known().is_some_and(|mode| {
        mode == "g+s" || octal(mode).is_some_and(|bits| bits & 0o4000 == 0 && bits & 0o2000 != 0)
    });
    let is_dir = |arg: &Arg| {
        let target = target_of(arg, inv.cwd.as_deref());
        !arg.has_glob()
            && arg.known().is_some_and(|text| {
                text.ends_with('/')
                    || scene
                        .view
                        .facts
                        .path(target.text())
                        .is_some_and(|fact| fact.kind == PathKind::Directory)
            })
    };
    let plain = ["-R", "--recursive", "--reference"].iter().all(|flag| !has_flag(inv, flag));
    inv.program == "chmod" && group && plain && !dirs.is_empty() && dirs.iter().all(is_dir)
}

fn setuid(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let sets = |mode: &str| match octal(mode) {
        Some(bits) => bits & 0o4000 != 0 || (bits & 0o2000 != 0 && bits & 0o111 != 0),
        None => mode.split(',').any(|clause| {
            clause.split_once(['+', '=']).is_some_and(|(who, what)| {
                !who.contains('o')
                    && who.chars().all(|c| "ugoa".contains(c))
                    && what.contains('s')
                    && what.chars().all(|c| "rwxXst".contains(c))
            })
        }),
    };
    modes(inv).any(sets) && inv.program != "mkdir" && !shares_directories(inv, scene)
}

const MODE_COPIERS: &[&str] = &["chmod", "cp"];

words!("builtin/privilege/modes");

fn setuid_copied(inv: &Invocation) -> bool {
    let is_one = |text: &str| {
        text.starts_with('/') && text.rsplit('/').next().is_some_and(|name| SETUID_PROGRAMS.contains(&name))
    };
    if inv.program == "chmod" {
        return flag_value(inv, &["--reference"]).is_some_and(|arg| is_one(arg.prefix()));
    }
    let keeps = ["-p", "-a", "--preserve", "--archive"].iter().any(|flag| has_flag(inv, flag));
    keeps && inv.operands.first().is_some_and(|arg| is_one(arg.prefix()))
}

/// The same where nobody else has anything to do: the home, the system, keys.
fn opened_to_all(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let opens = |mode: &str| {
        octal(mode).is_some_and(|bits| bits & 0o002 != 0)
            || mode.contains("o+w")
            || mode.contains("a+w")
            || mode.contains("a+rw")
            || mode.contains("o+rw")
    };
    // A key is its owner's alone: nobody else may read it either.
    let shows = |mode: &str| octal(mode).is_some_and(|bits| bits & 0o044 != 0) || mode.contains("+r");
    let key = |arg: &Arg| {
        let target = target_of(arg, inv.cwd.as_deref());
        let place = classify(&target, EffectKind::FileRead, &scene.view);
        (place.has(Class::Secret) || target.text().ends_with("/.ssh")) && !target.text().ends_with(".pub")
    };
    let shown = inv.program == "chmod"
        && modes(inv).any(shows)
        && inv.args.iter().skip(1).any(|arg| arg.prefix().contains(['/', '~']) && key(arg));
    let place = |arg: &Arg| {
        let target = target_of(arg, inv.cwd.as_deref());
        let whole = classify(&target, EffectKind::FileDeletion, &scene.view);
        whole.any(&[Class::Root, Class::System, Class::Home, Class::Users, Class::Secret, Class::Device])
            || ["/.ssh", "/.gnupg"].iter().any(|own| target.text().ends_with(own))
            || target.text().contains("/.ssh/")
    };
    shown
        || inv.program != "mkdir"
            && modes(inv).any(opens)
            && inv.args.iter().skip(1).any(|arg| arg.prefix().contains(['/', '~']) && place(arg))
}

fn mask_opened(inv: &Invocation) -> bool {
    inv.operands.iter().filter_map(Arg::known).any(|mask| matches!(mask, "0" | "00" | "000" | "0000"))
}

fn world_writable(inv: &Invocation) -> bool {
    let opens = |mode: &str| match octal(mode) {
        // With the sticky bit only the owner of a file may delete it: /tmp.
        Some(bits) => bits & 0o002 != 0 && bits & 0o1000 == 0,
        None => mode.split(',').any(|clause| {
            clause.split_once(['+', '=']).is_some_and(|(who, what)| {
                who.contains(['o', 'a'])
                    && who.chars().all(|c| "ugoa".contains(c))
                    && what.contains('w')
                    && what.chars().all(|c| "rwxXst".contains(c))
            })
        }),
    };
    modes(inv).any(opens)
}

fn project_opened(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let opens = |mode: &str| {
        octal(mode).is_some_and(|bits| bits & 0o002 != 0)
            || ["a+w", "a+rw", "o+w", "o+rw", "ugo+rw"].iter().any(|word| mode.contains(word))
    };
    let whole = |arg: &Arg| {
        classify(&target_of(arg, inv.cwd.as_deref()), EffectKind::FileDeletion, &scene.view)
            .has(Class::Project)
    };
    (has_flag(inv, "-R") || has_flag(inv, "--recursive"))
        && modes(inv).any(opens)
        && inv.args.iter().skip(1).any(|arg| !arg.prefix().starts_with('-') && whole(arg))
}
