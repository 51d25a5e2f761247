//! Git: what throws work away, rewrites what others have, or runs code behind git's back.

use super::{lists, predicate};
use crate::domain::{EffectKind, Severity, Target, Verdict};
use crate::rules::Invocation;
use crate::rules::matcher::{
    COMMAND, Command, EFFECT, Found, Instead, OnEffect, RULE, Rewriter, Rule, Scene, When, has_flag,
    has_operand,
};
use crate::rules::survey::setting_command;
use crate::shell::Arg;

const GIT: &[&str] = &["git"];

const fn git(subs: &'static [&'static str], flags: &'static [&'static [&'static str]]) -> Command {
    Command { programs: GIT, subs, flags, ..COMMAND }
}

pub(crate) const RULES: &[Rule] = &[
    Rule {
        id: "git.reset-hard",
        reason: "throws away every uncommitted change in the work tree",
        instead: Some(Instead::Command("git stash")),
        when: &[When::Command(git(&["reset"], &[&["--hard", "--merge"]]))],
        fires: &[
            "git reset --hard",
            "git -C sub reset --hard HEAD~2",
            "git reset --har origin/main",
            "sudo git reset --hard",
        ],
        silent: &[
            "git reset --soft HEAD~1",
            "git reset HEAD file.txt",
            "git commit -m 'git reset --hard is gone'",
            "grep -rn 'git reset --hard' docs",
            "echo git reset --hard",
        ],
        ..RULE
    },
    Rule {
        id: "git.checkout-paths",
        reason: "overwrites uncommitted changes of the named files",
        instead: Some(Instead::Command("git stash")),
        when: &[predicate("git_checkout_paths", checkout_paths)],
        fires: &[
            "git checkout -- .",
            "git checkout .",
            "git checkout HEAD -- src",
            "git checkout HEAD~1 -- README.md",
        ],
        silent: &[
            "git checkout main",
            "git checkout -b topic",
            "git checkout -",
            "git checkout --track origin/topic",
            "git checkout v1.2.0",
        ],
        ..RULE
    },
    Rule {
        id: "git.checkout-force",
        reason: "switches branch and throws uncommitted changes away",
        instead: Some(Instead::Command("git stash")),
        when: &[When::Command(git(&["checkout", "switch"], &[&["-f", "--force", "--discard-changes"]]))],
        fires: &["git checkout -f main", "git switch --discard-changes main", "git checkout --force topic"],
        silent: &["git checkout main", "git switch -c topic", "git switch topic"],
        ..RULE
    },
    Rule {
        id: "git.restore",
        reason: "overwrites uncommitted changes of the named files",
        instead: Some(Instead::Command("git stash")),
        when: &[predicate("git_restore_worktree", restore_worktree)],
        fires: &[
            "git restore .",
            "git restore src/main.rs",
            "git restore --source HEAD~1 src",
            "git restore --staged --worktree .",
        ],
        silent: &[
            "git restore --staged .",
            "git restore -S src/main.rs",
            "git log -- src",
            "git restore --help",
        ],
        ..RULE
    },
    Rule {
        id: "git.clean",
        reason: "deletes files that git does not track and cannot bring back",
        instead: Some(Instead::Command("git clean -nd")),
        when: &[When::Command(Command {
            without: &["-n", "--dry-run"],
            ..git(&["clean"], &[&["-f", "--force"]])
        })],
        fires: &[
            "git clean -fd",
            "git clean -fdx",
            "git clean --force",
            "git -c clean.requireForce=false clean -f",
        ],
        silent: &[
            "git clean -n",
            "git clean -nfd",
            "git clean --dry-run -f",
            "git commit -m 'git clean -fdx'",
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
        when: &[predicate("git_forced_push", forced_push)],
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
        when: &[predicate("git_forced_push_to_protected_branch", forced_push_to_protected)],
        fires: &[
            "git push --force origin main",
            "git push -f origin HEAD:master",
            "git push origin +release",
            "git push --force --all origin",
            "git push --force-with-lease origin main",
        ],
        silent: &[
            "git push origin main",
            "git push --force origin feature",
            "git push origin main-menu",
            "git push --force-with-lease origin feature",
        ],
        ..RULE
    },
    Rule {
        id: "git.push-delete",
        verdict: Verdict::Modify,
        reason: "deletes a branch or tag on the remote",
        instead: Some(Instead::Advice("name the branch to the person and let them delete it")),
        when: &[
            When::Command(git(&["push"], &[&["--delete", "-d", "--prune"]])),
            predicate("git_push_empty_source", push_empty_source),
        ],
        fires: &[
            "git push origin --delete topic",
            "git push origin :topic",
            "git push -d origin topic",
            "git push --prune origin",
        ],
        silent: &["git push origin topic", "git push origin HEAD:topic", "git branch -d topic"],
        ..RULE
    },
    Rule {
        id: "git.push-delete-protected",
        severity: Severity::Critical,
        reason: "deletes a protected branch on the remote",
        instead: Some(Instead::Command("git push origin topic")),
        when: &[predicate("git_deletes_protected_branch", deletes_protected)],
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
        when: &[When::Command(git(&["push"], &[&["--mirror"]]))],
        fires: &["git push --mirror", "git push --mirror backup"],
        silent: &["git push --all", "git clone --mirror https://github.com/a/b"],
        ..RULE
    },
    Rule {
        id: "git.branch-delete-force",
        verdict: Verdict::Warn,
        severity: Severity::Low,
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
        when: &[When::Command(git(&["stash drop", "stash clear"], &[]))],
        fires: &["git stash drop", "git stash clear", "git stash drop stash@{2}"],
        silent: &["git stash", "git stash pop", "git stash list", "git stash push -m 'drop later'"],
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
        when: &[When::Command(git(&["reflog expire", "reflog delete"], &[]))],
        fires: &["git reflog expire --expire=now --all", "git reflog delete HEAD@{1}"],
        silent: &["git reflog", "git reflog show main", "git log -g"],
        ..RULE
    },
    Rule {
        id: "git.gc-prune",
        reason: "deletes unreachable commits at once, so that nothing can bring them back",
        instead: Some(Instead::Command("git gc")),
        when: &[
            When::Command(git(&["gc"], &[&["--prune=now", "--prune=all"]])),
            When::Command(Command { without: &["-n", "--dry-run"], ..git(&["prune"], &[]) }),
        ],
        fires: &["git gc --prune=now", "git gc --aggressive --prune=all", "git prune"],
        silent: &["git gc", "git gc --auto", "git prune -n", "git remote prune origin", "git fetch --prune"],
        ..RULE
    },
    Rule {
        id: "git.filter-history",
        reason: "rewrites the whole history of the repository",
        instead: Some(Instead::Command("git clone . /tmp/rewrite")),
        when: &[
            When::Command(git(&["filter-branch", "filter-repo"], &[])),
            When::Command(Command { programs: &["git-filter-repo", "bfg", "git-filter-branch"], ..COMMAND }),
        ],
        fires: &[
            "git filter-branch --tree-filter 'rm -f x' HEAD",
            "git filter-repo --path src",
            "bfg --delete-files key.pem",
        ],
        silent: &[
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
        when: &[When::Command(git(&["update-ref"], &[&["-d", "--stdin"]]))],
        fires: &["git update-ref -d refs/heads/main", "git update-ref --stdin < refs.txt"],
        silent: &["git update-ref refs/heads/backup HEAD", "git show-ref", "git for-each-ref"],
        ..RULE
    },
    Rule {
        id: "git.worktree-remove-force",
        verdict: Verdict::Modify,
        severity: Severity::Medium,
        reason: "removes a work tree with its uncommitted changes",
        instead: Some(Instead::Command("git worktree remove ../topic")),
        when: &[When::Command(git(&["worktree remove"], &[&["-f", "--force"]]))],
        fires: &["git worktree remove --force ../topic", "git worktree remove -f ../topic"],
        silent: &[
            "git worktree remove ../topic",
            "git worktree list",
            "git worktree add -f ../topic main",
            "git worktree prune",
        ],
        ..RULE
    },
    Rule {
        id: "git.submodule-deinit-force",
        verdict: Verdict::Modify,
        severity: Severity::Medium,
        reason: "removes a submodule's work tree with its uncommitted changes",
        instead: Some(Instead::Command("git submodule deinit vendor/lib")),
        when: &[When::Command(git(&["submodule deinit"], &[&["-f", "--force"]]))],
        fires: &["git submodule deinit -f vendor/lib", "git submodule deinit --all --force"],
        silent: &[
            "git submodule deinit vendor/lib",
            "git submodule update --init --force",
            "git submodule status",
        ],
        ..RULE
    },
    Rule {
        id: "git.config-executes",
        reason: "this setting makes git run a program of its own choosing from now on",
        instead: Some(Instead::Command("git config --get core.hooksPath")),
        when: &[predicate("git_config_executes", config_executes)],
        fires: &[
            "git config core.hooksPath /tmp/hooks",
            "git config --global core.sshCommand 'ssh -i /tmp/k'",
            "git config alias.st '!rm -rf /'",
            "git -c core.fsmonitor=/tmp/x status",
            "git -c core.pager='sh -c id' log",
            "git config set filter.lfs.smudge /tmp/x",
        ],
        silent: &[
            "git config user.name 'A B'",
            "git config alias.st status",
            "git config --get core.hooksPath",
            "git config get core.pager",
            "git config --unset core.hooksPath",
            "git -c core.pager=cat log",
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
        when: &[predicate("git_internals_written", internals_written)],
        fires: &[
            "echo x > .git/config",
            "sed -i s/a/b/ .git/config",
            "Write /home/u/proj/.git/HEAD x",
            "rm .git/index",
        ],
        silent: &[
            "rm -f .git/index.lock",
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
            predicate("git_hooks_disabled_by_variable", hooks_disabled),
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
];

fn is_git(inv: &Invocation, sub: &str) -> bool {
    inv.program == "git" && inv.sub.first().is_some_and(|first| first == sub)
}

fn first_git<'a>(scene: &Scene<'a>, sub: &str, test: impl Fn(&Invocation) -> bool) -> Found<'a> {
    let found = scene.invocations().iter().find(|inv| is_git(inv, sub) && test(inv));
    Found::from(found.map(|inv| inv.text.as_str()))
}

fn has_dashes(inv: &Invocation) -> bool {
    inv.args.iter().any(|arg| arg.known() == Some("--"))
}

fn checkout_paths<'a>(scene: &Scene<'a>) -> Found<'a> {
    first_git(scene, "checkout", |inv| {
        let creates =
            ["-b", "-B", "--orphan", "--track", "-t", "--detach"].iter().any(|flag| has_flag(inv, flag));
        let path = |arg: &Arg| matches!(arg.known(), Some("." | "./" | ":/" | "*")) || arg.has_glob();
        let path_file = has_flag(inv, "--pathspec-from-file") || has_flag(inv, "-p");
        let behind_dashes = has_dashes(inv) && inv.args.last().is_some_and(|arg| arg.known() != Some("--"));
        !creates
            && (behind_dashes
                || path_file
                || inv.operands.iter().any(path)
                || inv.operands.len() > 1
                || names_a_file(inv, scene))
    })
}

/// `git checkout README.md`: what stands there is a file, so it is no branch.
fn names_a_file(inv: &Invocation, scene: &Scene<'_>) -> bool {
    inv.operands.iter().any(|arg| match crate::rules::matcher::target_of(arg, inv.cwd.as_deref()) {
        Target::Path { path, .. } => {
            scene.view.facts.path(&path).is_some_and(|fact| fact.kind != crate::domain::PathKind::Missing)
        }
        Target::UnknownPath { .. } | Target::Url(_) | Target::Command(_) | Target::None => false,
    })
}

fn restore_worktree<'a>(scene: &Scene<'a>) -> Found<'a> {
    first_git(scene, "restore", |inv| {
        let staged = has_flag(inv, "--staged") || has_flag(inv, "-S");
        let worktree = has_flag(inv, "--worktree") || has_flag(inv, "-W");
        let help = inv.args.iter().any(|arg| arg.known() == Some("--help"));
        (!staged || worktree) && !help
    })
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
    Found::No
}

/// Whether a push goes to a protected branch; nothing when that is not known.
fn protected_target(inv: &Invocation, scene: &Scene<'_>) -> Option<bool> {
    if has_flag(inv, "--all") || has_flag(inv, "--mirror") || has_flag(inv, "--branches") {
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

fn target_of_refspec(refspec: &str) -> &str {
    let target = refspec.trim_start_matches('+').rsplit(':').next().unwrap_or_default();
    target.strip_prefix("refs/heads/").unwrap_or(target)
}

fn is_protected(branch: &str, scene: &Scene<'_>) -> bool {
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

fn push_empty_source<'a>(scene: &Scene<'a>) -> Found<'a> {
    first_git(scene, "push", |inv| {
        refspecs(inv).any(|refspec| refspec.trim_start_matches('+').starts_with(':') && refspec != ":")
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
        Some(value) => reaches || setting_command(&Arg::literal(&format!("{key}={value}"))).is_some(),
        // What is set is not known: an alias may be anything, and so may a command.
        None => reaches || setting_command(&Arg::literal(&format!("{key}=!unknown"))).is_some(),
    }
}

fn config_executes<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.invocations().iter().find(|inv| {
        inv.program == "git" && (one_call_setting(inv) || (is_git(inv, "config") && lasting_setting(inv)))
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
            Some(sub) if inv.sub.first().is_some_and(|first| first == sub) => break,
            _ => {}
        }
    }
    values.iter().any(|arg| {
        let text = arg.text();
        let (key, value) = text.split_once('=').unwrap_or((text.as_str(), "true"));
        executes(key, (!arg.has_unknown()).then_some(value))
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
    let changes = [EffectKind::FileCreation, EffectKind::FileModification, EffectKind::FileDeletion];
    for (effect, classes) in scene.effects() {
        let Target::Path { path, recursive, .. } = &effect.target else { continue };
        if !changes.contains(&effect.kind) || *recursive || !classes.has(crate::rules::matcher::Class::Git) {
            continue;
        }
        // A lock that a dead git left behind is removed by hand; hooks have a rule of their own; git itself may write.
        let own = path.ends_with(".lock") || path.contains("/hooks/") || path.ends_with("/info/exclude");
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
    first_git(scene, "commit", |_| {
        line.split_whitespace().any(|word| OFF.iter().any(|off| word.starts_with(off)))
    })
}
