//! Work that is thrown away: the work tree, the index, stashes.

use super::{GIT, LIBRARIES, first_git, git, is_protected, target_of_refspec, throws};
use crate::domain::{EffectKind, PathKind, Severity, Target, Verdict};
use crate::rules::Invocation;
use crate::rules::builtin::predicate;
use crate::rules::matcher::{
    Code, Command, Found, Instead, RULE, Rewriter, Rule, Scene, Trigger, When, flag_value, has_flag,
    is_scratch, target_of,
};
use crate::rules::survey::{checked_out, is_asked, is_whole};
use crate::shell::Arg;

pub(in crate::rules::builtin) const RULES: &[Rule] = &[
    Rule {
        id: "git.reset-hard",
        reason: "throws away every uncommitted change in the work tree",
        instead: Some(Instead::Command("git stash")),
        when: &[
            predicate("git_resets_hard", Trigger::programs(GIT), |scene| {
                throws(scene, &["reset"], |has| has("--hard") || has("--merge"))
            }),
            predicate("git_reads_tree_over", Trigger::programs(GIT), |scene| {
                throws(scene, &["read-tree"], |has| has("--reset") && has("-u"))
            }),
            predicate("git_checks_index_out", Trigger::programs(GIT), |scene| {
                throws(scene, &["checkout-index"], |has| {
                    (has("-f") || has("--force"))
                        && (has("-a") || has("--all") || has("--stdin"))
                        && !has("--prefix")
                })
            }),
            When::Code(Code {
                programs: &[],
                all: &[
                    LIBRARIES,
                    &[
                        "reset('--hard",
                        "reset(\"--hard",
                        "reset(['--hard",
                        "reset([\"--hard",
                        "GIT_RESET_HARD",
                        "ResetMode.HARD",
                        "git.clean('-",
                        "git.clean(\"-",
                        "working_tree=True",
                    ],
                ],
            }),
        ],
        ..RULE
    },
    Rule {
        id: "git.checkout-paths",
        reason: "overwrites uncommitted changes of all files in the named place",
        instead: Some(Instead::Command("git stash")),
        when: &[predicate("git_checkout_places", Trigger::programs(GIT), |scene| {
            overwrites(scene, "checkout", Loss::Wide)
        })],
        ..RULE
    },
    Rule {
        id: "git.checkout-force",
        reason: "switches branch and throws uncommitted changes away",
        instead: Some(Instead::Command("git stash")),
        when: &[predicate("git_switches_by_force", Trigger::programs(GIT), |scene| {
            throws(scene, &["checkout", "switch"], |has| {
                has("-f") || has("--force") || has("--discard-changes")
            })
        })],
        ..RULE
    },
    Rule {
        id: "git.restore",
        reason: "overwrites uncommitted changes of all files in the named place",
        instead: Some(Instead::Command("git stash")),
        when: &[predicate("git_restore_places", Trigger::programs(GIT), |scene| {
            overwrites(scene, "restore", Loss::Wide)
        })],
        ..RULE
    },
    Rule {
        id: "git.discard-file",
        verdict: Verdict::Modify,
        severity: Severity::Medium,
        reason: "overwrites a file that has changes which git does not hold",
        instead: Some(Instead::Command("git stash push {last}")),
        when: &[
            predicate("git_checkout_files", Trigger::programs(GIT), |scene| {
                overwrites(scene, "checkout", Loss::File)
            }),
            predicate("git_restore_files", Trigger::programs(GIT), |scene| {
                overwrites(scene, "restore", Loss::File)
            }),
            predicate("git_checkout_index_files", Trigger::programs(GIT), |scene| {
                overwrites(scene, "checkout-index", Loss::File)
            }),
        ],
        ..RULE
    },
    Rule {
        id: "git.clean",
        reason: "deletes files that git does not track and cannot bring back",
        instead: Some(Instead::Command("git clean -nd")),
        when: &[predicate("git_clean_forced", Trigger::programs(GIT), clean)],
        ..RULE
    },
    Rule {
        id: "git.clean-ignored",
        verdict: Verdict::Warn,
        severity: Severity::Medium,
        reason: "deletes all that git ignores: build output, but .env files and local settings too",
        instead: Some(Instead::Command("git clean -ndX")),
        when: &[When::Command(Command {
            without: &["-n", "--dry-run"],
            ..git(&["clean"], &[&["-f", "--force"], &["-X"]])
        })],
        ..RULE
    },
    Rule {
        id: "git.rm-all",
        reason: "deletes every tracked file, changed ones too",
        instead: Some(Instead::Command("git rm -r --cached {last}")),
        when: &[predicate("git_rm_all", Trigger::programs(GIT), |scene| {
            first_git(scene, "rm", |inv| {
                let forced = has_flag(inv, "-f") || has_flag(inv, "--force");
                let kept = has_flag(inv, "--cached") || has_flag(inv, "-n") || has_flag(inv, "--dry-run");
                forced && !kept && inv.operands.iter().any(is_whole) && !is_scratch(inv, scene)
            })
        })],
        ..RULE
    },
    Rule {
        id: "git.branch-reset",
        verdict: Verdict::Modify,
        reason: "moves or deletes a protected branch, so that its commits hang on nothing",
        instead: Some(Instead::Advice(
            "make a branch of what is there first, and let the person move this one",
        )),
        when: &[predicate("git_moves_protected_branch", Trigger::programs(GIT), moves_protected)],
        ..RULE
    },
    Rule {
        id: "git.stash-drop",
        verdict: Verdict::Modify,
        reason: "throws stashed work away",
        instead: Some(Instead::Command("git stash list")),
        when: &[predicate("git_drops_stash", Trigger::programs(GIT), |scene| {
            throws(scene, &["stash drop"], |_| true)
        })],
        ..RULE
    },
    Rule {
        id: "git.stash-clear",
        reason: "throws away all work that was ever stashed",
        instead: Some(Instead::Command("git stash list")),
        when: &[predicate("git_clears_stashes", Trigger::programs(GIT), |scene| {
            throws(scene, &["stash clear"], |_| true)
        })],
        ..RULE
    },
    Rule {
        id: "git.stash-all",
        verdict: Verdict::Modify,
        severity: Severity::Medium,
        reason: "stashes ignored files too: local settings, .env files and build output disappear",
        instead: Some(Instead::Command("git stash -u")),
        when: &[When::Command(Command { without: &["-m"], ..git(&["stash"], &[&["-a", "--all"]]) })],
        ..RULE
    },
    Rule {
        id: "git.worktree-remove-force",
        verdict: Verdict::Modify,
        severity: Severity::Medium,
        reason: "removes a work tree with its uncommitted changes",
        instead: Some(Instead::Command("git worktree remove {last}")),
        rewriter: Some(Rewriter::WithoutForce),
        when: &[predicate("git_removes_work_tree", Trigger::programs(GIT), |scene| {
            throws(scene, &["worktree remove"], |has| has("-f") || has("--force"))
        })],
    },
    Rule {
        id: "git.submodule-deinit-force",
        verdict: Verdict::Modify,
        severity: Severity::Medium,
        reason: "removes a submodule's work tree with its uncommitted changes",
        instead: Some(Instead::Command("git submodule deinit {last}")),
        rewriter: Some(Rewriter::WithoutForce),
        when: &[When::Command(git(&["submodule deinit"], &[&["-f", "--force"]]))],
    },
];

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
    let name = path.rsplit('/').next().unwrap_or_default();
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
fn moves_protected<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.invocations().iter().find(|inv| {
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
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}
