//! What others see: pushes and remotes.

use super::{GIT, LIBRARIES, first_git, is_forced_push, is_git, is_protected, refspecs, target_of_refspec};
use crate::rules::Invocation;
use crate::rules::builtin::branches;
use crate::rules::matcher::{Found, Scene, has_flag, has_operand};
use crate::shell::Arg;

words!("builtin/git/pushed");

fn git_push_deletes_unknown<'a>(scene: &Scene<'a>) -> Found<'a> {
    first_git(scene, "push", |inv| {
        let by_option = has_flag(inv, "--delete") || has_flag(inv, "-d");
        let unknown = |arg: &Arg| arg.has_unknown() || arg.has_glob();
        inv.operands.iter().any(|arg| unknown(arg) && (by_option || arg.prefix().starts_with(':')))
    })
}

fn forced_push(inv: &Invocation) -> bool {
    is_forced_push(inv)
}

fn forced_push_to_protected<'a>(scene: &Scene<'a>) -> Found<'a> {
    for inv in scene.invocations().iter().filter(|inv| is_git(inv, "push")) {
        let leased = inv.flags.iter().any(|flag| flag.name.starts_with("--force-"));
        if !(is_forced_push(inv) || leased) {
            continue;
        }
        match protected_target(inv, scene) {
            Some(true) => return Found::yes(&inv.text),
            Some(false) => {}
            None => return Found::unsure(&inv.text),
        }
    }
    branches::forced_by_another(scene, GIT)
}

/// Whether a push goes to a protected branch; nothing when that is not known.
fn protected_target(inv: &Invocation, scene: &Scene<'_>) -> Option<bool> {
    if has_flag(inv, "--all") || has_flag(inv, "--mirror") || has_flag(inv, "--branches") {
        return Some(true);
    }
    // The refspec `:` stands for all branches that both sides have, and so does the setting.
    let matching = |arg: &Arg| matches!(arg.known(), Some(":" | "+:" | "push.default=matching"));
    if inv.args.iter().any(matching) {
        return Some(true);
    }
    if refspecs(inv).next().is_none() || has_operand(inv, "HEAD") || has_operand(inv, "@") {
        return current_is_protected(scene);
    }
    let mut sure = true;
    for arg in inv.operands.iter().skip(1) {
        match arg.known() {
            Some(refspec) if is_protected(target_of_refspec(refspec), scene) => return Some(true),
            Some(_) => {}
            // The target may still be told: `$local:topic`.
            None => sure = false,
        }
    }
    sure.then_some(false)
}

fn current_is_protected(scene: &Scene<'_>) -> Option<bool> {
    let branch = scene.view.facts.branch()?;
    Some(branch.is_some_and(|branch| is_protected(branch, scene)))
}

fn deletes_protected<'a>(scene: &Scene<'a>) -> Found<'a> {
    first_git(scene, "push", |inv| {
        let by_option = has_flag(inv, "--delete") || has_flag(inv, "-d");
        inv.operands.iter().filter_map(Arg::known).any(|refspec| {
            (by_option || refspec.starts_with(':')) && is_protected(target_of_refspec(refspec), scene)
        })
    })
}

fn push_deletes<'a>(scene: &Scene<'a>) -> Found<'a> {
    first_git(scene, "push", |inv| {
        let mut refspecs = refspecs(inv);
        has_flag(inv, "--delete")
            || has_flag(inv, "-d")
            || refspecs.any(|refspec| refspec.trim_start_matches('+').starts_with(':') && refspec != ":")
    })
}
