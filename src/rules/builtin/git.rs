//! Git: what throws work away, rewrites what others have, or runs code behind git's back.

pub(super) mod discarded;
pub(super) mod history;
pub(super) mod pushed;

use super::{lists, predicate};
use crate::domain::{Action, EffectKind, Severity, Target, Tool, ToolCall, Verdict, single_quoted};
use crate::rules::Invocation;
use crate::rules::matcher::{
    COMMAND, Command, EFFECT, Found, Instead, OnEffect, RULE, Rule, Scene, Trigger, When, asks_for_help,
    has_flag, has_sub, host_of, inner_verdict, is_known, is_scratch,
};
use crate::rules::survey::setting_command;
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
        id: "git.config-executes",
        reason: "this setting makes git run a program of its own choosing from now on",
        instead: Some(Instead::Advice("let the person make this setting: they can see what git would run")),
        when: &[predicate("git_config_executes", Trigger::programs(GIT), config_executes)],
        fires: &[
            "git config core.hooksPath /tmp/hooks",
            "git config --global core.sshCommand 'ssh -i /tmp/k'",
            "git config alias.st '!rm -rf /'",
            "git config --global alias.st '!id'",
            "git config alias.tidy '!rm -rf'",
            "git config core.hooksPath ../hooks",
            "git -c core.fsmonitor=/tmp/x status",
            "git -c core.pager='sh -c id' log",
            "git --config-env=core.fsmonitor=V status",
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
            "git config alias.root '!git rev-parse --show-toplevel'",
            "git config core.hooksPath .husky",
            "git config --local core.hooksPath .githooks",
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
            "cp .githooks/* .git/hooks/",
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
            "mv .git/hooks /tmp/x",
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
        let lasting = || is_git(inv, "config") && lasting_setting(inv) && !is_judged_otherwise(scene, inv);
        inv.program == "git" && (one_call_setting(inv) || lasting())
    });
    match found {
        Some(inv) => Found::yes(&inv.text),
        None => rebase_made_to_run(scene),
    }
}

/// A setting of this repository alone whose commands are looked at by themselves: an alias by its text, hooks in the project by their
/// content when they come.
fn is_judged_otherwise(scene: &Scene<'_>, inv: &Invocation) -> bool {
    let wide = ["--global", "--system", "--file", "-f"].iter().any(|flag| has_flag(inv, flag));
    let Some([key, value]) = inv.operands.last_chunk() else { return false };
    let (Some(key), Some(value)) = (key.known(), value.known()) else { return false };
    let key = key.to_ascii_lowercase();
    if wide {
        return false;
    }
    if key == "core.hookspath" {
        return !value.starts_with(['/', '~']) && !value.split('/').any(|part| part == "..");
    }
    let Some(command) = value.strip_prefix('!').filter(|_| key.starts_with("alias.")) else { return false };
    // Whoever uses it puts arguments behind it.
    let command = format!("{} \"$arguments\"", command.trim());
    let call = ToolCall { tool: Tool::Bash, action: Action::Shell { command, workdir: None }, id: None };
    inner_verdict(scene, &call, inv.cwd.as_deref().unwrap_or(scene.view.cwd)) < Verdict::Modify
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
            Some("-c" | "--config-env") => values.extend(args.next().cloned()),
            Some(option) if option.starts_with("--config-env=") => {
                values.extend(option.split_once('=').map(|(_, value)| Arg::literal(value)));
            }
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
        let owner = crate::rules::matcher::owner(scene, &effect.target);
        let copied = || owner.is_some_and(|inv| matches!(inv.program.as_str(), "cp" | "install"));
        let hooks = path.contains("/hooks/") || path.ends_with("/.git/hooks") && copied();
        let own = left || hooks || path.ends_with(".lock") || path.ends_with("/info/exclude");
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

/// A setting after which a plain push overwrites or deletes what is on the remote.
fn forces_later_pushes(key: &str, value: Option<&str>) -> bool {
    key.starts_with("remote.")
        && value.is_some_and(|value| {
            key.ends_with(".push") && value.starts_with('+') || key.ends_with(".mirror") && value == "true"
        })
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
