//! Work that is thrown away: the work tree, the index, stashes.

use super::{GIT, LIBRARIES, first_git, is_protected, target_of_refspec, throws};
use crate::domain::{EffectKind, PathKind, Target, last_name};
use crate::rules::Invocation;
use crate::rules::matcher::{Found, Scene, flag_value, has_flag, is_scratch, target_of};
use crate::rules::survey::{checked_out, is_asked, is_whole};
use crate::shell::Arg;

fn git_rm_all<'a>(scene: &Scene<'a>) -> Found<'a> {
    first_git(scene, "rm", |inv| {
        let forced = has_flag(inv, "-f") || has_flag(inv, "--force");
        let kept = has_flag(inv, "--cached") || has_flag(inv, "-n") || has_flag(inv, "--dry-run");
        forced && !kept && inv.operands.iter().any(is_whole) && !is_scratch(inv, scene)
    })
}

/// Beyond this many paths times effects everything counts as lost: strictness instead of slowness.
const MAX_PAIRS: usize = 1_000_000;

/// How much the paths of a command stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Loss {
    Nothing,
    /// A file with changes that git does not hold.
    File,
    /// A directory, a pattern, or what is not known.
    Wide,
}

words!("builtin/git/discarded");

/// The first `git sub` that overwrites as much as `loss`.
fn overwrites<'a>(scene: &Scene<'a>, sub: &str, loss: Loss) -> Found<'a> {
    first_git(scene, sub, |inv| {
        let by_patch = has_flag(inv, "-p") || has_flag(inv, "--patch");
        if is_asked(&inv.stdin, by_patch) {
            return false;
        }
        let by_file = has_flag(inv, "--pathspec-from-file") || by_patch;
        let most =
            overwritten(inv, scene).iter().map(|arg| loss_of(arg, inv, scene)).max_by_key(|loss| *loss as u8);
        match loss {
            Loss::Wide => {
                (most == Some(Loss::Wide) || (by_file && sub != "checkout-index")) && !is_scratch(inv, scene)
            }
            Loss::File | Loss::Nothing => most == Some(loss),
        }
    })
}

/// The paths that a checkout or restore overwrites.
fn overwritten<'i>(inv: &'i Invocation, scene: &Scene<'_>) -> &'i [Arg] {
    let none = &[];
    if inv.args.iter().any(|arg| arg.known() == Some("--help")) {
        return none;
    }
    match inv.sub.first().map(String::as_str) {
        Some("restore") => {
            let staged = has_flag(inv, "--staged") || has_flag(inv, "-S");
            let worktree = has_flag(inv, "--worktree") || has_flag(inv, "-W");
            if !staged || worktree { &inv.operands } else { none }
        }
        Some("checkout-index") if has_flag(inv, "-f") && !has_flag(inv, "--prefix") => &inv.operands,
        Some("checkout") => {
            let dashes = inv.args.iter().position(|arg| arg.known() == Some("--"));
            let behind = dashes.map(|at| inv.args.len().saturating_sub(at + 1));
            let is_path = inv.operands.first().is_some_and(|arg| arg.has_glob() || is_there(arg, inv, scene));
            checked_out(&inv.flags, &inv.operands, behind, is_path)
        }
        _ => none,
    }
}

fn path_of(arg: &Arg, inv: &Invocation) -> Option<String> {
    match target_of(arg, inv.cwd.as_deref()) {
        Target::Path { path, glob: false, .. } => Some(path),
        Target::Path { .. }
        | Target::UnknownPath { .. }
        | Target::Url(_)
        | Target::Command(_)
        | Target::None => None,
    }
}

/// `git checkout README.md`: what stands there is a file, so it is no branch.
fn is_there(arg: &Arg, inv: &Invocation, scene: &Scene<'_>) -> bool {
    let path = path_of(arg, inv);
    path.and_then(|path| scene.view.facts.path(&path)).is_some_and(|fact| fact.kind != PathKind::Missing)
}

/// What is lost when a path is overwritten: as the survey has it among the deletions.
fn loss_of(arg: &Arg, inv: &Invocation, scene: &Scene<'_>) -> Loss {
    let Some(path) = path_of(arg, inv).filter(|_| !is_whole(arg) && !arg.prefix().starts_with(':')) else {
        return Loss::Wide;
    };
    let effects = &scene.view.survey.effects;
    if inv.operands.len().saturating_mul(effects.len()) > MAX_PAIRS {
        return Loss::Wide;
    }
    let lost = effects.iter().any(|effect| {
        effect.kind == EffectKind::FileDeletion && !effect.disposable && effect.target.text() == path
    });
    let is_file = scene.view.facts.path(&path).is_some_and(|fact| fact.kind == PathKind::File);
    let name = last_name(&path);
    // Both sides of a conflict are held by git.
    let side = has_flag(inv, "--ours") || has_flag(inv, "--theirs");
    match (lost, is_file) {
        (false, _) => Loss::Nothing,
        (true, true) if side || LOCK_FILES.contains(&name) => Loss::Nothing,
        (true, true) => Loss::File,
        (true, false) => Loss::Wide,
    }
}

/// A clean that deletes more than what git ignores or a build makes again.
fn clean<'a>(scene: &Scene<'a>) -> Found<'a> {
    let unforced = |arg: &Arg| arg.text().to_ascii_lowercase().contains("clean.requireforce");
    let unforced =
        scene.invocations().iter().any(|inv| inv.program == "git" && inv.args.iter().any(unforced));
    first_git(scene, "clean", |inv| {
        let forced = unforced || has_flag(inv, "-f") || has_flag(inv, "--force");
        let spares = ["-n", "--dry-run", "-X"].iter().any(|flag| has_flag(inv, flag))
            || inv.args.iter().any(|arg| arg.known() == Some("--help"));
        let named = !inv.operands.is_empty()
            && inv.operands.iter().all(|arg| loss_of(arg, inv, scene) == Loss::Nothing);
        forced && !spares && !named && !is_scratch(inv, scene)
    })
}

/// A local branch that is protected, or not known, and is set to another commit or deleted.
fn moves_protected(inv: &Invocation, scene: &Scene<'_>) -> bool {
    if inv.program != "git" {
        return false;
    }
    let has = |flags: &[&str]| flags.iter().any(|flag| has_flag(inv, flag));
    let by_flag = |flags: &[&str]| flag_value(inv, flags).into_iter().collect::<Vec<_>>();
    let forced = has(&["-f", "--force"]);
    let branches: Vec<&Arg> = match inv.sub.first().map(String::as_str) {
        Some("checkout") => by_flag(&["-B"]),
        Some("switch") => by_flag(&["-C", "--force-create"]),
        // Of a name that is not known a person is asked as of any branch.
        Some("branch") if has(&["-D"]) || (forced && has(&["-d", "--delete"])) => {
            inv.operands.iter().filter(|arg| arg.known().is_some()).collect()
        }
        Some("branch") if has(&["-M", "-C"]) || (forced && has(&["-m", "--move", "-c", "--copy"])) => {
            inv.operands.iter().skip(1).collect()
        }
        Some("branch") if forced => inv.operands.iter().take(1).collect(),
        Some("update-ref") => {
            let heads = |arg: &&Arg| arg.has_unknown() || arg.prefix().starts_with("refs/heads/");
            inv.operands.iter().take(1).filter(heads).collect()
        }
        Some("fetch" | "pull") => {
            let local = |arg: &&Arg| {
                let text = arg.text();
                let to = text.strip_prefix('+').and_then(|text| text.split_once(':')).map(|(_, to)| to);
                to.is_some_and(|to| !to.starts_with("refs/") || to.starts_with("refs/heads/"))
            };
            inv.operands.iter().skip(1).filter(local).collect()
        }
        _ => return false,
    };
    branches.into_iter().any(|arg| match arg.known() {
        Some(branch) => is_protected(target_of_refspec(branch), scene),
        None => true,
    })
}
