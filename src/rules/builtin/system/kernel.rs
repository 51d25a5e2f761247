//! The kernel: its modules and settings.

use crate::domain::{Target, last_name};
use crate::rules::Invocation;
use crate::rules::builtin::{everyday, lists};
use crate::rules::matcher::{Scene, asks_for_help, has_flag, runs, target_of};
use crate::shell::Arg;

fn module_loaded(inv: &Invocation) -> bool {
    const SHOWS: &[&str] = &["-n", "--dry-run", "--show-depends", "-c", "--showconfig"];
    !inv.operands.is_empty()
        && !SHOWS.iter().any(|flag| has_flag(inv, flag))
        && !everyday::loads_known_module(inv)
        && !takes_own_module(inv)
}

fn module_put_in(inv: &Invocation, scene: &Scene<'_>) -> bool {
    !inv.operands.is_empty() && !is_own_module(inv, scene)
}

fn own_module(inv: &Invocation, scene: &Scene<'_>) -> bool {
    is_own_module(inv, scene) || takes_own_module(inv)
}

fn kernel_switch_set(inv: &Invocation) -> bool {
    const SETS: &[&str] = &["-w", "--write", "-p", "--load", "--system"];
    let sets = SETS.iter().any(|flag| has_flag(inv, flag))
        || inv.operands.iter().any(|arg| arg.text().contains('='));
    sets && !asks_for_help(inv) && !everyday::only_tunes(inv)
}

words!("builtin/system/kernel");

/// A module leaves the kernel that is none of the system's, without force.
fn takes_own_module(inv: &Invocation) -> bool {
    let removes = match inv.program.as_str() {
        "rmmod" => true,
        "modprobe" => has_flag(inv, "-r") || has_flag(inv, "--remove"),
        _ => false,
    };
    let own = |arg: &Arg| {
        arg.known().is_some_and(|name| {
            let name = last_name(name);
            !SYSTEM_MODULES.iter().any(|front| name.starts_with(front))
        })
    };
    removes
        && !has_flag(inv, "-f")
        && !has_flag(inv, "--force")
        && !inv.operands.is_empty()
        && inv.operands.iter().all(own)
}

/// A module that lies in a directory of the project and did not come from elsewhere, or one that leaves the kernel.
fn is_own_module(inv: &Invocation, scene: &Scene<'_>) -> bool {
    if inv.program != "insmod" {
        return inv.program == "rmmod" && takes_own_module(inv);
    }
    let Some(first) = inv.operands.first() else { return false };
    let Target::Path { path, glob: false, recursive: false } = target_of(first, inv.cwd.as_deref()) else {
        return false;
    };
    let below = scene.view.facts.places.roots().filter_map(|root| path.strip_prefix(root)?.strip_prefix('/'));
    // At the top of a project lies what was put there; a driver has a directory of its own.
    let own = { below }.any(|rest| rest.contains('/') && !rest.starts_with('.'));
    own && path.ends_with(".ko")
        && scene.view.survey.marks.source(&path).is_none()
        && !scene.runs_any(|other| runs(other, lists::DOWNLOADERS))
}
