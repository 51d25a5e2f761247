//! Git: what throws work away, rewrites what others have, or runs code behind git's back.

use super::{branches, lists, predicate, sub};
use crate::domain::{Action, EffectKind, PathKind, Severity, Target, Tool, ToolCall, Verdict, single_quoted};
use crate::rules::Invocation;
use crate::rules::matcher::{
    COMMAND, Code, Command, EFFECT, Found, Instead, OnEffect, RULE, Rewriter, Rule, Scene, Trigger, When,
    asks_for_help, flag_value, has_flag, has_operand, has_sub, host_of, inner_verdict, is_known, is_scratch,
    target_of,
};
use crate::rules::survey::{checked_out, is_asked, is_noted_again, is_whole, setting_command};
use crate::shell::Arg;

const GIT: &[&str] = &["git"];

const fn git(subs: &'static [&'static str], flags: &'static [&'static [&'static str]]) -> Command {
    Command { programs: GIT, subs, flags, ..COMMAND }
}

/// Libraries that work on a repository, as code brings them in.
const LIBRARIES: &[&str] =
    &["import git", "from git import", "simple-git", "pygit2", "nodegit", "isomorphic-git", "rugged"];

const CHANGES: &[EffectKind] =
    &[EffectKind::FileCreation, EffectKind::FileModification, EffectKind::FileDeletion];

pub(crate) const RULES: &[Rule] = &[
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
        fires: &[
            "git reset --hard",
            "git -C sub reset --hard HEAD~2",
            "git reset --har origin/main",
            "sudo git reset --hard",
            "git -c alias.z='reset --hard' z",
            "git -c alias.z=reset z --hard",
            "git config alias.x 'reset --hard'",
            "git read-tree -u --reset HEAD",
            "cd /tmp/none; git reset --hard",
            "false || cd /tmp/none && git reset --hard",
            "cd /tmp/none && true; git reset --hard",
            "{ cd /tmp/none && true; }; git reset --hard",
            "git diff > x.patch && git reset --hard",
            "git stash push src && git reset --hard",
            "git stash && git stash pop && git reset --hard",
            "ln -s /home/u/other /tmp/o && git -C /tmp/o reset --hard",
            "GIT_WORK_TREE=/home/u/proj git -C /tmp/demo reset --hard",
            "git -C /tmp reset --hard",
            "git checkout-index -fa",
            "python3 -c \"from git import Repo; r=Repo('.'); r.git.reset('--hard','HEAD~5')\"",
            "node -e \"const g=require('simple-git')(); g.reset(['--hard','HEAD~5'])\"",
        ],
        silent: &[
            "git reset --keep HEAD~1",
            "python3 -c \"from git import Repo; print(Repo('.').git.status())\"",
            "git config alias.undo 'reset --soft HEAD~1'",
            "git read-tree -m -u HEAD topic",
            "git checkout-index -a --prefix=/tmp/export/",
            "git reset --soft HEAD~1",
            "git -C /tmp/demo reset --hard v1.0.0",
            "git clone -q . /tmp/none && cd /tmp/none && git reset --hard v1.0.0",
            "cd /tmp/none && { git fetch; git reset --hard; }",
            "cd /tmp/none || exit 1; git reset --hard",
            "cd /tmp/none || { echo no; exit 1; }\ngit reset --hard",
            "git diff HEAD > x.patch && git reset --hard",
            "git stash -u && git reset --hard HEAD~1 && git stash pop",
            "git reset HEAD file.txt",
            "git commit -m 'git reset --hard is gone'",
            "grep -rn 'git reset --hard' docs",
            "echo git reset --hard",
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
        fires: &[
            "git checkout -- .",
            "git checkout .",
            "git checkout HEAD -- src",
            "git checkout src",
            "git checkout main src README.md",
            "git checkout -- '*.rs'",
            "git checkout -- \"$X\"",
            "yes | git checkout -p",
            "git diff --stat > x.patch && git checkout -- src",
            "git diff README.md > x.patch && git checkout -- src",
        ],
        silent: &[
            "git checkout main",
            "git checkout -b topic",
            "git checkout -",
            "git checkout --track origin/topic",
            "git checkout v1.2.0",
            "git checkout -- README.md",
            "git -C /tmp/demo checkout .",
            "git checkout HEAD~1 -- gone.txt",
            "git checkout -- target",
            "git checkout -p",
            "git checkout -p main -- src",
            "git diff > /tmp/wip.patch && git checkout -- src && git apply /tmp/wip.patch",
            "git clone -q https://github.com/a/b /tmp/none && cd /tmp/none && git checkout -- .",
        ],
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
        fires: &["git checkout -f main", "git switch --discard-changes main", "git checkout --force topic"],
        silent: &["git checkout main", "git switch -c topic", "git switch topic"],
        ..RULE
    },
    Rule {
        id: "git.restore",
        reason: "overwrites uncommitted changes of all files in the named place",
        instead: Some(Instead::Command("git stash")),
        when: &[predicate("git_restore_places", Trigger::programs(GIT), |scene| {
            overwrites(scene, "restore", Loss::Wide)
        })],
        fires: &[
            "git restore .",
            "git restore src",
            "git restore --source HEAD~1 src",
            "git restore --staged --worktree .",
        ],
        silent: &[
            "git restore --staged .",
            "git restore -S src/main.rs",
            "git restore src/lib.rs",
            "git log -- src",
            "git restore --help",
        ],
        ..RULE
    },
    Rule {
        id: "git.discard-file",
        verdict: Verdict::Modify,
        severity: Severity::Medium,
        reason: "overwrites a file that has changes which git does not hold",
        instead: Some(Instead::Command("git stash push README.md")),
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
        fires: &[
            "git checkout -- README.md",
            "git checkout README.md",
            "git checkout HEAD~1 -- README.md",
            "git restore src/main.rs",
            "git checkout-index -f README.md",
        ],
        silent: &[
            "git checkout src/lib.rs",
            "git restore Makefile",
            "git checkout main -- package-lock.json",
            "git checkout HEAD~1 -- gone.txt",
            "git checkout --theirs README.md",
            "git checkout-index README.md",
        ],
        ..RULE
    },
    Rule {
        id: "git.clean",
        reason: "deletes files that git does not track and cannot bring back",
        instead: Some(Instead::Command("git clean -nd")),
        when: &[predicate("git_clean_forced", Trigger::programs(GIT), clean)],
        fires: &[
            "git clean -fd",
            "git clean -fdx",
            "git clean --force",
            "git -c clean.requireForce=false clean -dx",
            "git config clean.requireForce 0; git clean -d",
            "git clean -fd src",
            "git -C /tmp/demo -c core.worktree=/home/u/proj clean -fdx",
            "git --work-tree=/home/u/proj -C /tmp/demo clean -fdx",
            "git clean -fdx target src",
        ],
        silent: &[
            "git clean -n",
            "git clean -nfd",
            "git clean --dry-run -f",
            "git commit -m 'git clean -fdx'",
            "git clean -fdX",
            "git -C /tmp/demo clean -fdx",
            "git clean -fdx target dist",
        ],
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
        fires: &["git clean -fdX", "git clean -f -X"],
        silent: &["git clean -ndX", "git clean -fdx target", "git clean -X"],
        ..RULE
    },
    Rule {
        id: "git.rm-all",
        reason: "deletes every tracked file, changed ones too",
        instead: Some(Instead::Command("git rm -r --cached .")),
        when: &[predicate("git_rm_all", Trigger::programs(GIT), |scene| {
            first_git(scene, "rm", |inv| {
                let forced = has_flag(inv, "-f") || has_flag(inv, "--force");
                let kept = has_flag(inv, "--cached") || has_flag(inv, "-n") || has_flag(inv, "--dry-run");
                forced && !kept && inv.operands.iter().any(is_whole) && !is_scratch(inv, scene)
            })
        })],
        fires: &["git rm -rf .", "git rm -r --force ':/'", "git rm -rf '*'"],
        silent: &["git rm -r --cached .", "git rm -rf docs/old", "git rm README.md", "git rm -rfn ."],
        ..RULE
    },
    Rule {
        id: "git.branch-reset",
        verdict: Verdict::Modify,
        reason: "moves or deletes a protected branch, so that its commits hang on nothing",
        instead: Some(Instead::Command("git branch backup main")),
        when: &[predicate("git_moves_protected_branch", Trigger::programs(GIT), moves_protected)],
        fires: &[
            "git branch -f main HEAD~3",
            "git branch -M topic main",
            "git branch -D main",
            "git checkout -B main HEAD~2",
            "git switch -C main",
            "git update-ref refs/heads/main HEAD~3",
            "git fetch origin +topic:main",
            "git branch -f \"$B\" HEAD~3",
        ],
        silent: &[
            "git branch -f topic HEAD~3",
            "git checkout -B topic origin/main",
            "git switch -C topic main",
            "git branch -M main",
            "git branch backup main",
            "git fetch origin main:main",
            "git update-ref refs/heads/backup main",
            "git branch -vv | awk '/: gone]/{print $1}' | xargs git branch -D",
        ],
        ..RULE
    },
    Rule {
        id: "git.unknown-program",
        verdict: Verdict::Modify,
        reason: "a program that is only known once it runs is told what would throw work away",
        instead: Some(Instead::Advice("write the program out")),
        when: &[predicate("unknown_program_discards", Trigger::UNKNOWN, unknown_program)],
        fires: &[
            "\"$UNKNOWN\" reset --hard",
            "$GIT clean -fdx",
            "$X push --force origin main",
            "\"$TOOL\" -rf /",
            "$(pick) -rf ~",
            "$X / -type f -delete",
            "$X if=/dev/zero of=/dev/sda",
        ],
        silent: &[
            "\"$GIT\" status",
            "$PYTHON -m pytest",
            "\"$EDITOR\" README.md",
            "$RM -rf target",
            "${CC:-cc} -o x x.c",
        ],
        ..RULE
    },
    Rule {
        id: "git.push-force",
        verdict: Verdict::Modify,
        severity: Severity::Medium,
        reason: "a forced push overwrites commits that others may have pushed since",
        instead: Some(Instead::Command("git push --force-with-lease")),
        rewriter: Some(Rewriter::ForceWithLease),
        when: &[predicate("git_forced_push", Trigger::programs(GIT), forced_push)],
        fires: &[
            "git push --force origin feature",
            "git push -f origin feature",
            "git push origin +feature",
            "git push -uf origin feature",
        ],
        silent: &[
            "git push",
            "git push -u origin feature",
            "git push --force-with-lease origin feature",
            "git push --follow-tags",
            "git commit -m 'no git push --force'",
        ],
    },
    Rule {
        id: "git.push-force-protected",
        reason: "a forced push to a protected branch rewrites what everybody builds on",
        instead: Some(Instead::Advice("push to a branch of your own and open a pull request")),
        when: &[
            predicate(
                "git_forced_push_to_protected_branch",
                Trigger::programs(GIT),
                forced_push_to_protected,
            ),
            predicate("forced_push_by_another_program", Trigger::programs(branches::PUSHERS), |scene| {
                branches::forced_by_another(scene, branches::PUSHERS)
            }),
            When::Code(Code {
                programs: &[],
                all: &[
                    LIBRARIES,
                    &["push("],
                    &["--force'", "--force\"", "force=True"],
                    &["'main'", "\"main\"", "main:main", "'master'", "\"master\""],
                ],
            }),
        ],
        fires: &[
            "git push --force origin main",
            "git push -f origin HEAD:master",
            "git push origin +release",
            "git push --force --all origin",
            "git push -f origin :",
            "git -c push.default=matching push -f",
            "git push --force-with-lease origin main",
            "hub push --force origin main",
            "hub push origin +main",
            "sl push --force --to main",
            "git subtree push --prefix . origin main --force",
        ],
        silent: &[
            "git push origin main",
            "git push --force origin feature",
            "hub push origin main",
            "hub push --force origin feature",
            "sl push --to main",
            "git subtree push --prefix dist origin gh-pages",
            "git push origin main-menu",
            "git push --force-with-lease origin feature",
        ],
        ..RULE
    },
    Rule {
        id: "git.push-delete",
        verdict: Verdict::Warn,
        severity: Severity::Medium,
        reason: "deletes a branch or tag on the remote",
        instead: Some(Instead::Command("git branch -r --merged")),
        when: &[predicate("git_push_deletes", Trigger::programs(GIT), push_deletes)],
        fires: &["git push origin --delete topic", "git push origin :topic", "git push -d origin topic"],
        silent: &["git push origin topic", "git push origin HEAD:topic", "git branch -d topic"],
        ..RULE
    },
    Rule {
        id: "git.push-prune",
        verdict: Verdict::Modify,
        reason: "deletes branches on the remote that are not named here",
        instead: Some(Instead::Command("git push origin --delete topic")),
        when: &[predicate("git_push_deletes_unknown", Trigger::programs(GIT), |scene| {
            first_git(scene, "push", |inv| {
                let by_option = has_flag(inv, "--delete") || has_flag(inv, "-d");
                let unknown = |arg: &Arg| arg.has_unknown() || arg.has_glob();
                inv.operands.iter().any(|arg| unknown(arg) && (by_option || arg.prefix().starts_with(':')))
            })
        })],
        fires: &["git push origin --delete \"$B\"", "git branch -r | xargs git push origin --delete"],
        silent: &["git push origin --delete topic", "git push origin \"$B\"", "git remote prune origin"],
        ..RULE
    },
    Rule {
        id: "git.push-delete-protected",
        severity: Severity::Critical,
        reason: "deletes a protected branch on the remote",
        instead: Some(Instead::Command("git push origin topic")),
        when: &[predicate("git_deletes_protected_branch", Trigger::programs(GIT), deletes_protected)],
        fires: &[
            "git push origin :main",
            "git push --delete origin master",
            "git push origin -d refs/heads/main",
        ],
        silent: &["git push origin main", "git push --delete origin topic", "git push origin :topic"],
        ..RULE
    },
    Rule {
        id: "git.push-mirror",
        reason: "makes the remote an exact copy, deleting every branch that is not here",
        instead: Some(Instead::Command("git push --all")),
        when: &[When::Command(Command {
            without: &["--dry-run", "-n"],
            ..git(&["push"], &[&["--mirror", "--prune"]])
        })],
        fires: &["git push --mirror", "git push --mirror backup", "git push --prune origin 'refs/heads/*'"],
        silent: &[
            "git push --all",
            "git clone --mirror https://github.com/a/b",
            "git push --mirror --dry-run backup",
        ],
        ..RULE
    },
    Rule {
        id: "git.branch-delete-force",
        verdict: Verdict::Modify,
        severity: Severity::Medium,
        reason: "deletes a branch even when its commits are nowhere else",
        instead: Some(Instead::Command("git branch -d topic")),
        when: &[
            When::Command(git(&["branch"], &[&["-D"]])),
            When::Command(git(&["branch"], &[&["-d", "--delete"], &["-f", "--force"]])),
        ],
        fires: &["git branch -D topic", "git branch -d -f topic"],
        silent: &["git branch -d topic", "git branch topic", "git branch --list"],
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
        fires: &["git stash drop", "git stash drop stash@{2}", "cd /tmp/demo && git stash drop"],
        silent: &[
            "git stash drop --help",
            "git stash",
            "git stash pop",
            "git stash list",
            "git stash push -m 'drop later'",
            "git init -q /tmp/none && cd /tmp/none && git stash && git stash drop",
        ],
        ..RULE
    },
    Rule {
        id: "git.stash-clear",
        reason: "throws away all work that was ever stashed",
        instead: Some(Instead::Command("git stash list")),
        when: &[predicate("git_clears_stashes", Trigger::programs(GIT), |scene| {
            throws(scene, &["stash clear"], |_| true)
        })],
        fires: &[
            "git stash clear",
            "git stash push -u; git stash clear",
            "git -C sub stash clear",
            "git worktree add /tmp/none && cd /tmp/none && git stash clear",
            "git init --separate-git-dir=.git /tmp/none && cd /tmp/none && git stash clear",
        ],
        silent: &[
            "git stash",
            "git stash list",
            "git stash show -p",
            "git commit -m 'git stash clear'",
            "git clone -q . /tmp/none && git -C /tmp/none stash clear",
        ],
        ..RULE
    },
    Rule {
        id: "git.stash-all",
        verdict: Verdict::Modify,
        severity: Severity::Medium,
        reason: "stashes ignored files too: local settings, .env files and build output disappear",
        instead: Some(Instead::Command("git stash -u")),
        when: &[When::Command(Command { without: &["-m"], ..git(&["stash"], &[&["-a", "--all"]]) })],
        fires: &["git stash -a", "git stash push --all"],
        silent: &["git stash -u", "git stash push src", "git stash apply"],
        ..RULE
    },
    Rule {
        id: "git.reflog-expire",
        reason: "removes the record that makes lost commits recoverable",
        instead: Some(Instead::Command("git reflog")),
        when: &[predicate("git_expires_reflog", Trigger::programs(GIT), |scene| {
            throws(scene, &["reflog expire", "reflog delete"], |has| !has("-n") && !has("--dry-run"))
        })],
        fires: &["git reflog expire --expire=now --all", "git reflog delete HEAD@{1}"],
        silent: &[
            "git reflog",
            "git reflog show main",
            "git log -g",
            "git reflog expire --expire=now --all --dry-run",
            "git clone -q . /tmp/none && cd /tmp/none && git reflog expire --expire=now --all",
        ],
        ..RULE
    },
    Rule {
        id: "git.gc-prune",
        reason: "deletes unreachable commits at once, so that nothing can bring them back",
        instead: Some(Instead::Command("git gc")),
        when: &[
            predicate("git_collects_at_once", Trigger::programs(GIT), |scene| {
                throws(scene, &["gc"], |has| has("--prune=now") || has("--prune=all"))
            }),
            predicate("git_prunes_at_once", Trigger::programs(GIT), |scene| {
                throws(scene, &["prune"], |has| {
                    (has("--expire=now") || has("--expire=all")) && !has("-n") && !has("--dry-run")
                })
            }),
        ],
        fires: &[
            "git gc --prune=now",
            "git gc --aggressive --prune=all",
            "git prune --expire=now",
            "git prune -v --expire now",
        ],
        silent: &[
            "git gc",
            "git gc --auto",
            "git prune -n",
            "git remote prune origin",
            "git fetch --prune",
            "git clone -q --mirror . /tmp/none && git -C /tmp/none gc --prune=now",
        ],
        ..RULE
    },
    Rule {
        id: "git.prune",
        verdict: Verdict::Warn,
        severity: Severity::Medium,
        reason: "deletes objects that no branch and no reflog reaches, dropped stashes among them",
        instead: Some(Instead::Command("git prune -n")),
        when: &[When::Command(Command { without: &["-n", "--dry-run"], ..git(&["prune"], &[]) })],
        fires: &["git prune", "git prune -v"],
        silent: &["git prune -n", "git remote prune origin", "git fetch --prune", "git worktree prune"],
        ..RULE
    },
    Rule {
        id: "git.filter-history",
        reason: "rewrites the whole history of the repository",
        instead: Some(Instead::Command("git clone . /tmp/rewrite")),
        when: &[
            predicate("history_filtered", Trigger::programs(GIT), |scene| {
                throws(scene, &["filter-branch", "filter-repo"], |has| !has("--analyze") && !has("--dry-run"))
            }),
            When::Command(Command { programs: &["git-filter-repo", "bfg", "git-filter-branch"], ..COMMAND }),
        ],
        fires: &[
            "git filter-branch --tree-filter 'rm -f x' HEAD",
            "git filter-repo --path src",
            "git filter-repo --source /tmp/demo --target .",
            "bfg --delete-files key.pem",
        ],
        silent: &[
            "git filter-repo --analyze",
            "git filter-repo --source . --target /tmp/demo --subdirectory-filter src --force",
            "git clone -q --no-local . /tmp/none && cd /tmp/none && git filter-repo --path src",
            "git log --follow src/main.rs",
            "git rebase -i HEAD~3",
            "git commit --amend --no-edit",
            "pip show git-filter-repo",
        ],
        ..RULE
    },
    Rule {
        id: "git.update-ref-delete",
        reason: "deletes a reference without any of git's safety checks",
        instead: Some(Instead::Command("git branch -d topic")),
        when: &[predicate("git_deletes_reference", Trigger::programs(GIT), |scene| {
            let found = scene.first(GIT, |inv| {
                has_sub(inv, "update-ref")
                    && (has_flag(inv, "--stdin") || has_flag(inv, "-d") && !is_noted_again(&inv.operands))
                    && !asks_for_help(inv)
                    && !is_scratch(inv, scene)
            });
            Found::from(found.map(|inv| inv.text.as_str()))
        })],
        fires: &[
            "git update-ref -d refs/heads/main",
            "git update-ref --stdin < refs.txt",
            "git update-ref -d HEAD",
            "git update-ref -d refs/stash",
            "git update-ref -d \"$REF\"",
        ],
        silent: &[
            "git update-ref refs/heads/backup HEAD",
            "git show-ref",
            "git for-each-ref",
            "git update-ref -d refs/remotes/origin/old",
            "git update-ref -d ORIG_HEAD",
        ],
        ..RULE
    },
    Rule {
        id: "git.worktree-remove-force",
        verdict: Verdict::Modify,
        severity: Severity::Medium,
        reason: "removes a work tree with its uncommitted changes",
        instead: Some(Instead::Command("git worktree remove ../topic")),
        rewriter: Some(Rewriter::WithoutForce),
        when: &[predicate("git_removes_work_tree", Trigger::programs(GIT), |scene| {
            throws(scene, &["worktree remove"], |has| has("-f") || has("--force"))
        })],
        fires: &[
            "git worktree remove --force ../topic",
            "git worktree remove -f ../topic",
            "git worktree add ../other main; git worktree remove -f ../topic",
        ],
        silent: &[
            "git worktree remove ../topic",
            "git worktree remove --force /tmp/wt-bench",
            "git worktree add ../bench main && make -C ../bench && git worktree remove --force ../bench",
            "git worktree list",
            "git worktree add -f ../topic main",
            "git worktree prune",
        ],
    },
    Rule {
        id: "git.submodule-deinit-force",
        verdict: Verdict::Modify,
        severity: Severity::Medium,
        reason: "removes a submodule's work tree with its uncommitted changes",
        instead: Some(Instead::Command("git submodule deinit vendor/lib")),
        rewriter: Some(Rewriter::WithoutForce),
        when: &[When::Command(git(&["submodule deinit"], &[&["-f", "--force"]]))],
        fires: &["git submodule deinit -f vendor/lib", "git submodule deinit --all --force"],
        silent: &[
            "git submodule deinit vendor/lib",
            "git submodule update --init --force",
            "git submodule status",
        ],
    },
    Rule {
        id: "git.config-executes",
        reason: "this setting makes git run a program of its own choosing from now on",
        instead: Some(Instead::Command("git config --get core.hooksPath")),
        when: &[predicate("git_config_executes", Trigger::programs(GIT), config_executes)],
        fires: &[
            "git config core.hooksPath /tmp/hooks",
            "git config --global core.sshCommand 'ssh -i /tmp/k'",
            "git config alias.st '!rm -rf /'",
            "git -c core.fsmonitor=/tmp/x status",
            "git -c core.pager='sh -c id' log",
            "git config set filter.lfs.smudge /tmp/x",
            "git --exec-path=/tmp/x status",
            "git -c sequence.editor=\"sed -i 's/^pick/exec id; pick/'\" rebase -i main",
            "git -c core.editor='sed -i 1s/.*/x id/' rebase -i main",
            "git -c core.editor='sed -i s/a/b/e' commit --amend",
            "GIT_SEQUENCE_EDITOR=\"sed -i '1iexec rm -rf ~'\" git rebase -i HEAD~2",
            "GIT_SEQUENCE_EDITOR=\"sed -i '1s/^pick/exec rm -rf ~ #/'\" git rebase -i HEAD~2",
            "GIT_SEQUENCE_EDITOR=\"sed -i 's/^pick.*/x git reset --hard main/'\" git rebase -i HEAD~2",
        ],
        silent: &[
            "git config user.name 'A B'",
            "git config alias.st status",
            "git config --get core.hooksPath",
            "git config get core.pager",
            "git config --unset core.hooksPath",
            "git -c core.pager=cat log",
            "GIT_SEQUENCE_EDITOR=\"sed -i '/^pick/a exec cargo test'\" git rebase -i main",
            "GIT_SEQUENCE_EDITOR=\"sed -i 's/^pick a1b2/fixup a1b2/'\" git rebase -i main",
            "git -c core.editor=\"sed -i '1s/fix/Fix/'\" commit --amend",
            "git -c sequence.editor=\"sed -i 's/^pick/fixup/'\" rebase -i main",
            "git config --list",
        ],
        ..RULE
    },
    Rule {
        id: "git.hook-written",
        verdict: Verdict::Modify,
        reason: "a git hook runs on the person's machine with every commit, checkout or push",
        instead: Some(Instead::Advice(
            "put the check into the project's own tooling and let the person install the hook",
        )),
        when: &[When::Effect(OnEffect {
            kinds: &[EffectKind::FileCreation, EffectKind::FileModification],
            at: lists::GIT_HOOKS,
            ..EFFECT
        })],
        fires: &[
            "echo 'curl x' > .git/hooks/post-checkout",
            "cp hook.sh .git/hooks/pre-commit",
            "Write /home/u/proj/.git/hooks/pre-push #!/bin/sh",
        ],
        silent: &[
            "ls .git/hooks",
            "cat .git/hooks/pre-commit.sample",
            "Write /home/u/proj/docs/hooks.md text",
            "Read /home/u/proj/.git/hooks/pre-commit",
        ],
        ..RULE
    },
    Rule {
        id: "git.internals-written",
        reason: "git's own files are changed behind git's back",
        instead: Some(Instead::Advice("use the git command that makes the change")),
        when: &[predicate("git_internals_written", Trigger::kinds(CHANGES), internals_written)],
        fires: &[
            "echo x > .git/config",
            "sed -i s/a/b/ .git/config",
            "Write /home/u/proj/.git/HEAD x",
            "rm .git/index",
            "rm .git/MERGE_HEAD",
            "echo x > .git/MERGE_MSG",
        ],
        silent: &[
            "rm -f .git/index.lock",
            "rm .git/MERGE_MSG",
            "rm -f .git/gc.log",
            "cat .git/config",
            "git config user.email a@b.c",
            "Read /home/u/proj/.git/HEAD",
        ],
        ..RULE
    },
    Rule {
        id: "git.no-verify",
        verdict: Verdict::Warn,
        severity: Severity::Low,
        reason: "skips the repository's own checks",
        instead: Some(Instead::Command("git commit")),
        when: &[
            When::Command(git(&["commit", "push", "merge", "am", "rebase"], &[&["--no-verify"]])),
            When::Command(git(&["commit"], &[&["-n"]])),
            predicate("git_hooks_disabled_by_variable", Trigger::programs(GIT), hooks_disabled),
        ],
        fires: &[
            "git commit --no-verify -m x",
            "git commit -n -m x",
            "git push --no-verify",
            "HUSKY=0 git commit -m x",
        ],
        silent: &["git commit -m 'about --no-verify'", "git push -n", "git log -n 3", "git merge -n topic"],
        ..RULE
    },
    Rule {
        id: "git.remote-changed",
        verdict: Verdict::Warn,
        severity: Severity::Medium,
        reason: "later pushes and fetches go to another place",
        instead: Some(Instead::Command("git remote -v")),
        when: &[When::Command(git(&["remote set-url", "remote add"], &[]))],
        fires: &[
            "git remote set-url origin https://x.example/a.git",
            "git remote add fork git@github.com:a/b.git",
        ],
        silent: &["git remote -v", "git remote show origin", "git remote get-url origin"],
        ..RULE
    },
    Rule {
        id: "git.history-damaged",
        reason: "takes commits, references or the whole repository out of reach",
        instead: Some(Instead::Command("git log --oneline -5")),
        when: &[
            When::Command(git(&[], &[&["--unpack-unreachable=now"]])),
            predicate("history_cleaner_run_as_a_jar", Trigger::programs(&["java"]), history_cleaner),
            When::Command(Command { flags: &[&["--all", "-a"]], ..sub(&["hg"], &["revert"]) }),
            When::Command(Command {
                flags: &[&["--remove-unversioned", "--remove-ignored"]],
                ..sub(&["svn"], &["cleanup"])
            }),
            When::Command(Command { flags: &[&["--deleted", "--delete"]], ..sub(&["jj"], &["git push"]) }),
            When::Command(Command {
                flags: &[&["-C", "--clean"]],
                ..sub(&["sl"], &["goto", "update", "up"])
            }),
            When::Command(sub(&["sl"], &["purge", "clean"])),
            predicate("repository_damaged_by_git", Trigger::programs(GIT), repository_damaged),
            When::Command(Command {
                flags: &[&["-C", "--clean"]],
                ..sub(&["hg"], &["update", "up", "checkout", "co"])
            }),
            When::Command(sub(&["hg"], &["strip", "purge", "debugstrip", "prune"])),
            When::Command(Command { flags: &[&["-R", "--recursive"]], ..sub(&["svn"], &["revert"]) }),
            When::Command(sub(&["jj"], &["abandon", "op restore", "operation restore", "op abandon"])),
        ],
        fires: &[
            "git symbolic-ref --delete HEAD",
            "git tag -l | xargs git tag -d",
            "git tag -d $(git tag)",
            "git rebase -i --root",
            "git send-pack --force git@x.example:a/b main",
            "git replace -f HEAD HEAD~1",
            "git config core.bare true",
            "hg update -C",
            "svn revert -R .",
            "jj abandon @",
            "git config gc.reflogExpire now && git gc",
            "git -c gc.pruneExpire=now gc",
            "git -c gc.reflogExpireUnreachable=0 gc",
            "java -jar bfg.jar --delete-files id_rsa",
            "java -jar /opt/bfg-1.14.0.jar --strip-blobs-bigger-than 1M",
            "git branch -D main",
            "git branch --delete --force master",
            "git diff | git apply -R",
            "git diff HEAD | git apply --reverse",
            "git stash list | cut -d: -f1 | xargs -n1 git stash drop",
            "while git stash drop; do :; done",
            "git apply -R <(git diff)",
            "git tag -l | xargs git push --delete origin",
            "hg revert --all --no-backup",
            "svn cleanup --remove-unversioned",
            "sl goto --clean main",
            "sl purge",
            "git stash -u && git stash drop",
            "git stash push; git stash drop",
            "git fast-import --force",
            "git update-ref refs/heads/main HEAD~10",
        ],
        silent: &[
            "git tag -d v1",
            "git tag",
            "git symbolic-ref HEAD",
            "git rebase main",
            "git config core.bare",
            "hg status",
            "svn revert a.txt",
            "jj log",
            "git config gc.reflogExpire 90.days",
            "git config gc.pruneExpire",
            "git -c gc.auto=0 fetch",
            "java -jar app.jar",
            "git branch -D topic",
            "git branch -d main",
            "git stash pop || git stash drop",
            "git stash list && git stash drop",
            "git stash drop",
            "git show HEAD | git apply -R",
            "git diff | git apply --cached --check",
            "hg revert a.txt",
            "svn cleanup",
            "sl goto main",
        ],
        ..RULE
    },
    Rule {
        id: "git.source-replaced",
        verdict: Verdict::Modify,
        reason: "has git fetch from another place than the address says, or overwrites a branch with what is there",
        instead: Some(Instead::Command("git config --get remote.origin.url")),
        when: &[
            predicate("traffic_redirected", Trigger::programs(GIT), redirected),
            predicate("branch_overwritten_by_a_fetch", Trigger::programs(GIT), fetched_over),
        ],
        fires: &[
            "git config --global url.https://x.example/.insteadOf https://github.com/",
            "git config --global http.proxy http://x.example:8080",
            "git fetch --force origin main:main",
            "git fetch origin +main:main",
            "git config remote.origin.push '+refs/heads/*:refs/heads/*' && git push",
            "git config remote.origin.mirror true",
        ],
        silent: &[
            "git config url.git@github.com:.insteadOf https://github.com/",
            "git config --get http.proxy",
            "git fetch origin",
            "git fetch origin main",
            "git config remote.origin.push HEAD",
            "git fetch origin '+refs/heads/*:refs/remotes/origin/*'",
            "git fetch origin +refs/pull/4/head:pr-4",
        ],
        ..RULE
    },
];

fn is_git(inv: &Invocation, sub: &str) -> bool {
    inv.program == "git" && inv.sub.first().is_some_and(|first| first == sub)
}

fn first_git<'a>(scene: &Scene<'a>, sub: &str, test: impl Fn(&Invocation) -> bool) -> Found<'a> {
    let found = scene.invocations().iter().find(|inv| is_git(inv, sub) && test(inv));
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// The first of these subcommands with options for which `test` holds, where more is lost than a work tree in a temporary
/// directory.
fn throws<'a>(scene: &Scene<'a>, subs: &[&str], test: impl Fn(&dyn Fn(&str) -> bool) -> bool) -> Found<'a> {
    let found = scene.first(GIT, |inv| {
        subs.iter().any(|sub| has_sub(inv, sub))
            && test(&|flag| has_flag(inv, flag))
            && !asks_for_help(inv)
            && !is_scratch(inv, scene)
    });
    Found::from(found.map(|inv| inv.text.as_str()))
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

/// Files that a package manager writes: nobody's changes are lost with them.
const LOCK_FILES: &[&str] = &[
    "Cargo.lock",
    "Gemfile.lock",
    "Pipfile.lock",
    "bun.lock",
    "bun.lockb",
    "composer.lock",
    "flake.lock",
    "go.sum",
    "mix.lock",
    "package-lock.json",
    "pnpm-lock.yaml",
    "poetry.lock",
    "pubspec.lock",
    "uv.lock",
    "yarn.lock",
];

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

/// `"$X" reset --hard`, `"$X" -rf /`: as if it were git or rm.
fn unknown_program<'a>(scene: &Scene<'a>) -> Found<'a> {
    if scene.nested {
        return Found::No;
    }
    let found = scene.invocations().iter().filter(|inv| inv.program.is_empty()).find(|inv| {
        let words: Option<Vec<String>> = inv.args.iter().map(quoted).collect();
        let first = inv.args.first().map(Arg::prefix).unwrap_or_default();
        let (Some(words), false) = (words, first.is_empty()) else { return false };
        let told = |names: &[&str]| inv.args.iter().any(|arg| names.contains(&arg.prefix()));
        let program = match first {
            _ if told(&["-delete", "-exec", "-execdir"]) => "find",
            _ if inv.args.iter().any(|arg| arg.prefix().starts_with("of=")) => "dd",
            _ if first.starts_with('-') => "rm",
            _ => "git",
        };
        let call = ToolCall {
            tool: Tool::Bash,
            action: Action::Shell { command: format!("{program} {}", words.join(" ")), workdir: None },
            id: None,
        };
        inner_verdict(scene, &call, inv.cwd.as_deref().unwrap_or(scene.view.cwd)) == Verdict::Block
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// An argument as a word of a command line; nothing when it is not known.
fn quoted(arg: &Arg) -> Option<String> {
    arg.known().map(single_quoted)
}

/// A push that overwrites what is there: by option, or by `+` in front of a refspec.
pub(crate) fn is_forced_push(inv: &Invocation) -> bool {
    is_git(inv, "push")
        && (is_plainly_forced(inv) || refspecs(inv).any(|refspec| refspec.starts_with('+')))
        && !has_flag(inv, "--dry-run")
        && !has_flag(inv, "-n")
}

fn is_plainly_forced(inv: &Invocation) -> bool {
    inv.flags
        .iter()
        .any(|flag| flag.name == "-f" || (flag.name.len() >= 4 && "--force".starts_with(&flag.name)))
}

/// The refspecs of a push; the first operand is the remote.
fn refspecs(inv: &Invocation) -> impl Iterator<Item = &str> {
    inv.operands.iter().skip(1).map(Arg::prefix)
}

fn forced_push<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.invocations().iter().find(|inv| is_forced_push(inv));
    Found::from(found.map(|inv| inv.text.as_str()))
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

pub(super) fn target_of_refspec(refspec: &str) -> &str {
    let target = refspec.trim_start_matches('+').rsplit(':').next().unwrap_or_default();
    target.strip_prefix("refs/heads/").unwrap_or(target)
}

pub(super) fn is_protected(branch: &str, scene: &Scene<'_>) -> bool {
    let branches = &scene.view.policy.protected_branches;
    branches.iter().any(|protected| {
        branch == protected || (branch.contains('*') && crate::rules::matcher::may_be(branch, protected))
    })
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

/// Settings that make git run what they name although they hold no command line, by the lower-case key or its beginning
/// and end. Those that do are the survey's to tell.
const REACHING: &[(&str, &str)] = &[
    ("core.hookspath", ""),
    ("credential.helper", ""),
    ("credential.", ".helper"),
    ("include.path", ""),
    ("includeif.", ".path"),
    ("init.templatedir", ""),
    ("protocol.ext.allow", ""),
    ("interactive.difffilter", ""),
    ("submodule.", ".update"),
];

/// Values that switch a thing off, or are the plain programs people name there.
const HARMLESS: &[&str] = &[
    "",
    "true",
    "false",
    "cat",
    "less",
    "less -R",
    "less -FRX",
    "more",
    "delta",
    "vim",
    "vi",
    "nano",
    "nvim",
    "emacs",
    "code --wait",
    "store",
    "cache",
    "osxkeychain",
    "manager",
    "libsecret",
    "checkout",
    "rebase",
    "merge",
    "none",
    ":",
    ".githooks",
    ".husky",
    ".husky/_",
    "gpg",
    "gpg2",
    "git-lfs clean -- %f",
    "git-lfs smudge -- %f",
    "git-lfs filter-process",
];

fn executes(key: &str, value: Option<&str>) -> bool {
    if value.is_some_and(|value| HARMLESS.contains(&value.trim())) {
        return false;
    }
    let key = key.to_ascii_lowercase();
    let reaches = REACHING.iter().any(|(front, back)| {
        if front.ends_with('.') { key.starts_with(front) && key.ends_with(back) } else { key == *front }
    });
    match value {
        Some(value) if key.starts_with("alias.") && !value.starts_with('!') => false,
        Some(value) => reaches || setting_command(&Arg::literal(&format!("{key}={value}"))).is_some(),
        // What is set is not known: an alias may be anything, and so may a command.
        None => reaches || setting_command(&Arg::literal(&format!("{key}=!unknown"))).is_some(),
    }
}

fn config_executes<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.invocations().iter().find(|inv| {
        inv.program == "git" && (one_call_setting(inv) || (is_git(inv, "config") && lasting_setting(inv)))
    });
    match found {
        Some(inv) => Found::yes(&inv.text),
        None => rebase_made_to_run(scene),
    }
}

/// `GIT_SEQUENCE_EDITOR="sed -i '1iexec …'" git rebase -i`: the list of commits is given commands to run, and they may not run.
fn rebase_made_to_run<'a>(scene: &Scene<'a>) -> Found<'a> {
    const EDITORS: &[&str] = &["sed", "gsed", "perl", "awk", "gawk"];
    const RUN: &[&str] = &["exec ", "/x ", "ix ", "ax ", "\\x "];
    let Some(rebase) = scene.first(GIT, |inv| is_git(inv, "rebase")) else { return Found::No };
    let stopped = |command: &str| {
        let action = Action::Shell { command: command.trim().to_owned(), workdir: None };
        let call = ToolCall { tool: Tool::Bash, action, id: None };
        inner_verdict(scene, &call, rebase.cwd.as_deref().unwrap_or(scene.view.cwd)) >= Verdict::Modify
    };
    let found = scene.first(EDITORS, |inv| {
        inv.args.iter().any(|arg| {
            let text = arg.text();
            RUN.iter().filter_map(|word| text.split_once(word)).any(|(_, rest)| {
                let line = rest.split('\n').next().unwrap_or_default();
                stopped(line) || line.rsplit_once('/').is_some_and(|(front, _)| stopped(front))
            })
        })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// `git -c key=value …`.
fn one_call_setting(inv: &Invocation) -> bool {
    let mut args = inv.args.iter();
    let mut values = Vec::new();
    while let Some(arg) = args.next() {
        match arg.known() {
            Some("-c" | "--config-env") => values.extend(args.next()),
            Some(option) if option.starts_with("--exec-path=") => return !option.contains("=/usr/"),
            Some(sub) if inv.sub.first().is_some_and(|first| first == sub) => break,
            _ => {}
        }
    }
    values.iter().any(|arg| {
        let text = arg.text();
        let (key, value) = text.split_once('=').unwrap_or((&*text, "true"));
        executes(key, (!arg.has_unknown()).then_some(value))
            && !(arg.known().is_some() && edits_by_pattern(key, value))
    })
}

/// `-c core.editor="sed -i s/a/b/"`: the message or the list of commits is changed by a pattern.
fn edits_by_pattern(key: &str, value: &str) -> bool {
    let editor = ["core.editor", "sequence.editor"].iter().any(|name| key.eq_ignore_ascii_case(name));
    let expression = value.strip_prefix("sed -i ").or_else(|| value.strip_prefix("sed -i.bak "));
    editor
        && expression.is_some_and(|text| {
            let quoted = text.trim().strip_prefix('\'').and_then(|text| text.strip_suffix('\''));
            let text = quoted.unwrap_or(text);
            let becomes = text.split('/').nth(2).unwrap_or_default();
            // `exec` and `x` are what the list of commits runs.
            let runs = becomes.contains("xec") || becomes.split_whitespace().next() == Some("x");
            let address = text.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, ',' | '$'));
            !runs
                && address.starts_with("s/")
                && text.matches('/').count() == 3
                && matches!(text.rsplit('/').next(), Some("" | "g" | "I"))
                && !text.contains(['\'', '"', '`', ';', '|', '&', '\n', '(', '>', '<'])
        })
}

/// `git config key value`, `git config set key value`.
fn lasting_setting(inv: &Invocation) -> bool {
    let reads =
        ["--get", "--get-all", "--get-regexp", "--list", "-l", "--unset", "--unset-all", "--remove-section"];
    if reads.iter().any(|flag| has_flag(inv, flag)) || has_flag(inv, "-e") || has_flag(inv, "--edit") {
        return false;
    }
    let nested = inv.sub.iter().skip(1).map(String::as_str);
    let words: Vec<&str> = nested.chain(inv.operands.iter().map(Arg::prefix)).collect();
    let words = match words.first() {
        Some(&"set") => words.get(1..).unwrap_or_default(),
        Some(&("get" | "list" | "unset" | "edit" | "remove-section" | "rename-section")) => return false,
        _ => words.as_slice(),
    };
    let known = inv.operands.last().is_some_and(|arg| !arg.has_unknown());
    match words {
        [key, value, ..] => executes(key, known.then_some(*value)),
        _ => false,
    }
}

fn internals_written<'a>(scene: &Scene<'a>) -> Found<'a> {
    for (effect, classes) in scene.effects() {
        let Target::Path { path, recursive, .. } = &effect.target else { continue };
        if !CHANGES.contains(&effect.kind) || *recursive || !classes.has(crate::rules::matcher::Class::Git) {
            continue;
        }
        // A lock that a dead git left behind is removed by hand; hooks have a rule of their own; git itself may write.
        let left = effect.kind == EffectKind::FileDeletion && effect.disposable;
        let own =
            left || path.ends_with(".lock") || path.contains("/hooks/") || path.ends_with("/info/exclude");
        let owner = crate::rules::matcher::owner(scene, &effect.target);
        if own || path.ends_with("/.git") || owner.is_some_and(|inv| inv.program == "git") {
            continue;
        }
        return Found::yes(owner.map_or(path.as_str(), |inv| inv.text.as_str()));
    }
    Found::No
}

fn hooks_disabled<'a>(scene: &Scene<'a>) -> Found<'a> {
    const OFF: &[&str] = &["HUSKY=0", "HUSKY_SKIP_HOOKS=1", "SKIP=", "LEFTHOOK=0"];
    let line = scene.command_line();
    if !OFF.iter().any(|off| line.contains(off)) {
        return Found::No;
    }
    let off = line.split_whitespace().any(|word| OFF.iter().any(|off| word.starts_with(off)));
    first_git(scene, "commit", |_| off)
}

fn is_sub(inv: &Invocation, word: &str) -> bool {
    inv.sub.first().is_some_and(|sub| sub == word)
}

/// One condition for what is rare, so that an ordinary `git status` meets no more of them.
fn repository_damaged<'a>(scene: &Scene<'a>) -> Found<'a> {
    let ways: [for<'b> fn(&Scene<'b>) -> Found<'b>; 8] = [
        history_replaced,
        tags_deleted,
        repository_broken,
        expires_at_once,
        deletes_protected_here,
        changes_taken_back,
        stashed_and_dropped,
        stashes_dropped_in_turn,
    ];
    let found = ways.iter().map(|way| way(scene)).find(|found| !matches!(found, Found::No));
    found.unwrap_or(Found::No)
}

/// What the history is read by is deleted or put in the place of something else.
fn history_replaced<'a>(scene: &Scene<'a>) -> Found<'a> {
    let flagged = |inv: &Invocation, flags: &[&str]| flags.iter().any(|flag| has_flag(inv, flag));
    let found = scene.first(GIT, |inv| match inv.sub.first().map(String::as_str) {
        Some("symbolic-ref") => flagged(inv, &["-d", "--delete"]),
        Some("replace") => flagged(inv, &["-f", "--graft", "--force"]),
        Some("rebase") => flagged(inv, &["--root"]),
        Some("send-pack" | "http-push") => flagged(inv, &["--force", "--mirror", "-f"]),
        Some("fast-import") => flagged(inv, &["--force"]),
        Some("update-ref") => moves_protected_ref(inv, scene),
        Some("lfs") => {
            (has_operand(inv, "migrate") || inv.sub.iter().any(|word| word == "migrate"))
                && !inv.args.iter().any(|arg| arg.known() == Some("info"))
        }
        _ => false,
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// `git update-ref refs/heads/main HEAD~3`, past every check.
fn moves_protected_ref(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let first = inv.operands.first().and_then(Arg::known);
    first.is_some_and(|name| name.starts_with("refs/heads/") && is_protected(target_of_refspec(name), scene))
}

/// `git tag -d $(git tag)`, `git tag -l | xargs git tag -d`, `git tag | xargs git push --delete origin`.
fn tags_deleted<'a>(scene: &Scene<'a>) -> Found<'a> {
    let all = scene.invocations();
    let deletes = |inv: &Invocation| has_flag(inv, "-d") || has_flag(inv, "--delete");
    let lists_all = |inv: &&Invocation| is_sub(inv, "tag") && inv.operands.is_empty() && !deletes(inv);
    let Some(lister) = all.iter().find(lists_all) else { return Found::No };
    let removes = |inv: &&Invocation| (is_sub(inv, "tag") || is_git(inv, "push")) && deletes(inv);
    let found = all.iter().filter(removes).find(|inv| {
        let piped = inv.pipeline == lister.pipeline && inv.stage > lister.stage;
        piped || lister.feeds.and_then(|at| all.get(at)).is_some_and(|outer| std::ptr::eq(outer, *inv))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// `-c gc.reflogExpire=now`, `config gc.pruneExpire now`: what is unreachable goes with the next gc.
fn expires_at_once<'a>(scene: &Scene<'a>) -> Found<'a> {
    const KEYS: &[&str] = &["gc.reflogexpire", "gc.reflogexpireunreachable", "gc.pruneexpire"];
    let now = |key: &str, value: &str| {
        KEYS.contains(&key.to_ascii_lowercase().as_str())
            && matches!(value.trim(), "now" | "all" | "0" | "0.days" | "0.days.ago" | "0 days" | "now()")
    };
    let found = scene.first(GIT, |inv| {
        let words: Vec<String> = inv.args.iter().map(Arg::to_text).collect();
        let given = words.iter().filter_map(|word| word.split_once('=')).any(|(key, value)| now(key, value));
        let kept = is_sub(inv, "config")
            && words.windows(2).any(|pair| matches!(pair, [key, value] if now(key, value)));
        given || kept
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// `java -jar bfg.jar`, by whatever version.
fn history_cleaner<'a>(scene: &Scene<'a>) -> Found<'a> {
    let is_cleaner = |arg: &Arg| {
        let text = arg.text();
        let name = text.rsplit('/').next().unwrap_or_default();
        name.starts_with("bfg") && name.ends_with(".jar")
    };
    let found = scene.first(&["java"], |inv| inv.args.iter().any(is_cleaner));
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// `git branch -D main`, by its name.
fn deletes_protected_here<'a>(scene: &Scene<'a>) -> Found<'a> {
    first_git(scene, "branch", |inv| {
        let forced = has_flag(inv, "-f") || has_flag(inv, "--force");
        let deletes = has_flag(inv, "-d") || has_flag(inv, "--delete");
        (has_flag(inv, "-D") || forced && deletes)
            && inv.operands.iter().filter_map(Arg::known).any(|branch| is_protected(branch, scene))
    })
}

/// `git diff | git apply -R`, `git apply -R <(git diff)`: as `git checkout .`.
fn changes_taken_back<'a>(scene: &Scene<'a>) -> Found<'a> {
    let all = scene.invocations();
    let whole = |inv: &&Invocation| {
        is_git(inv, "diff") && inv.operands.iter().all(|arg| matches!(arg.known(), Some("HEAD" | ".")))
    };
    let shown: Vec<&Invocation> = all.iter().filter(whole).collect();
    if shown.is_empty() {
        return Found::No;
    }
    first_git(scene, "apply", |inv| {
        let back = has_flag(inv, "-R") || has_flag(inv, "--reverse");
        let looks = has_flag(inv, "--check") || has_flag(inv, "--stat");
        let takes = |shown: &&Invocation| {
            inv.operands.is_empty() && inv.pipeline == shown.pipeline && inv.stage > shown.stage
                || shown.feeds.and_then(|at| all.get(at)).is_some_and(|outer| std::ptr::eq(outer, inv))
        };
        back && !looks && shown.iter().any(takes)
    })
}

/// `git stash list | … | xargs git stash drop`, `while git stash drop; do :; done`: as `git stash clear`.
fn stashes_dropped_in_turn<'a>(scene: &Scene<'a>) -> Found<'a> {
    let all = scene.invocations();
    let listed =
        all.iter().any(|inv| is_git(inv, "stash") && inv.sub.get(1).is_some_and(|sub| sub == "list"));
    first_git(scene, "stash", |inv| {
        let drops = inv.sub.get(1).is_some_and(|sub| sub == "drop");
        let by_list =
            || listed && inv.wrappers.iter().any(|name| matches!(name.as_str(), "xargs" | "parallel"));
        let by_loop = || {
            let line = scene.command_line();
            ["while git stash drop", "until ! git stash drop"].iter().any(|form| line.contains(form))
        };
        drops && (by_list() || by_loop())
    })
}

/// `git stash && git stash drop`: as `git reset --hard`.
fn stashed_and_dropped<'a>(scene: &Scene<'a>) -> Found<'a> {
    let all = scene.invocations();
    let stash = |inv: &Invocation, subs: &[&str]| {
        is_git(inv, "stash") && subs.contains(&inv.sub.get(1).map_or("push", String::as_str))
    };
    let Some(dropped) = all.iter().position(|inv| stash(inv, &["drop"])) else { return Found::No };
    let before = all.iter().take(dropped).rev().find(|inv| is_git(inv, "stash"));
    let made = before.is_some_and(|inv| stash(inv, &["push", "save"]));
    Found::from(all.get(dropped).filter(|_| made).map(|inv| inv.text.as_str()))
}

/// A setting after which a plain push overwrites or deletes what is on the remote.
fn forces_later_pushes(key: &str, value: Option<&str>) -> bool {
    key.starts_with("remote.")
        && value.is_some_and(|value| {
            key.ends_with(".push") && value.starts_with('+') || key.ends_with(".mirror") && value == "true"
        })
}

/// A setting after which git no longer finds the work tree, or takes another directory for it.
fn repository_broken<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(GIT, |inv| {
        let words: Vec<String> = inv.operands.iter().map(Arg::to_text).collect();
        is_sub(inv, "config")
            && words.windows(2).any(|pair| match pair {
                [key, value] => match key.as_str() {
                    "core.bare" => value == "true",
                    "core.worktree" => !value.starts_with('.'),
                    _ => false,
                },
                _ => false,
            })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// What is fetched comes from another host than the address says.
fn redirected<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(GIT, |inv| {
        if !is_sub(inv, "config") || inv.operands.len() < 2 {
            return false;
        }
        let words: Vec<String> = inv.operands.iter().map(Arg::to_text).collect();
        let key = words.first().map(|word| word.to_ascii_lowercase()).unwrap_or_default();
        let known = |url: &str| is_known(&host_of(url.trim_start_matches("git@")), scene.view.policy);
        let url = key.strip_prefix("url.").and_then(|rest| rest.strip_suffix(".insteadof"));
        let proxy = words.get(1).filter(|_| matches!(key.as_str(), "http.proxy" | "https.proxy"));
        url.is_some_and(|url| !known(url))
            || proxy.is_some_and(|url| !known(url))
            || forces_later_pushes(&key, words.get(1).map(String::as_str))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// `git fetch origin +main:main` moves a local branch to whatever is there.
fn fetched_over<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(GIT, |inv| {
        let forced = has_flag(inv, "-f") || has_flag(inv, "--force");
        is_sub(inv, "fetch")
            && inv.operands.iter().skip(1).any(|arg| {
                let text = arg.text();
                let target =
                    text.trim_start_matches('+').split_once(':').map(|(_, target)| target.to_owned());
                let local = target.is_some_and(|to| {
                    !to.is_empty() && !to.starts_with("refs/remotes/") && !to.contains('*')
                });
                // A request to merge gets a branch of its own.
                let request = text.trim_start_matches('+').starts_with("refs/pull/")
                    || text.trim_start_matches('+').starts_with("refs/merge-requests/");
                let own =
                    text.rsplit(':').next().is_some_and(|to| !matches!(to, "main" | "master" | "develop"));
                (forced || text.starts_with('+')) && local && !(request && own)
            })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}
