//! Git: what throws work away, rewrites what others have, or runs code behind git's back.

pub(super) mod discarded;
pub(super) mod history;
mod hooks;
pub(super) mod pushed;
pub(super) mod settings;

use crate::domain::{Action, EffectKind, Target, Tool, ToolCall, Verdict, single_quoted};
use crate::rules::Invocation;
use crate::rules::matcher::{
    Found, Scene, asks_for_help, has_flag, has_sub, host_of, inner_verdict, is_known, is_scratch,
};
use crate::shell::Arg;

const GIT: &[&str] = &["git"];

/// Libraries that work on a repository, as code brings them in.
const LIBRARIES: &[&str] =
    &["import git", "from git import", "simple-git", "pygit2", "nodegit", "isomorphic-git", "rugged"];

const WRITES: &[EffectKind] = &[EffectKind::FileCreation, EffectKind::FileModification];
const CHANGES: &[EffectKind] =
    &[EffectKind::FileCreation, EffectKind::FileModification, EffectKind::FileDeletion];

pub(super) fn is_git(inv: &Invocation, sub: &str) -> bool {
    inv.program == "git" && inv.sub.first().is_some_and(|first| first == sub)
}

fn first_git<'a>(scene: &Scene<'a>, sub: &str, test: impl Fn(&Invocation) -> bool) -> Found<'a> {
    let found = scene.invocations().iter().find(|inv| is_git(inv, sub) && test(inv));
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// The first of these subcommands with an option of each group and without any of the others, where more is lost than a work tree in
/// a temporary directory.
fn throws<'a>(scene: &Scene<'a>, subs: &[&str], options: &[&[&str]], without: &[&str]) -> Found<'a> {
    super::first(scene, GIT, |inv| {
        subs.iter().any(|sub| has_sub(inv, sub))
            && options.iter().all(|group| group.iter().any(|flag| has_flag(inv, flag)))
            && !without.iter().any(|flag| has_flag(inv, flag))
            && !asks_for_help(inv)
            && !is_scratch(inv, scene)
    })
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

words!("builtin/git");

/// Whether a path below `.git` is one of git's own: by its first name, by one in capitals (`ORIG_HEAD`), or because it is not known.
fn is_gits_own(path: &str) -> bool {
    let Some((_, below)) = path.rsplit_once("/.git/").or_else(|| path.split_once(".git/")) else {
        return true;
    };
    let first = below.split('/').next().unwrap_or_default();
    let plain = first.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'));
    !plain
        || first.contains("..")
        || first.bytes().all(|b| b.is_ascii_uppercase() || b == b'_')
        || first.starts_with("sharedindex.")
        || GITS_OWN.iter().any(|own| first.eq_ignore_ascii_case(own))
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
        if own
            || !is_gits_own(path)
            || path.ends_with("/.git")
            // Another owner or mode leaves what is in a file as it was.
            || owner.is_some_and(|inv| matches!(inv.program.as_str(), "git" | "chown" | "chmod" | "chgrp"))
        {
            continue;
        }
        return Found::yes(owner.map_or(path.as_str(), |inv| inv.text.as_str()));
    }
    Found::No
}

fn hooks_disabled<'a>(scene: &Scene<'a>) -> Found<'a> {
    const OFF: &[&str] = &["HUSKY=0", "HUSKY_SKIP_HOOKS=1", "SKIP=", "LEFTHOOK=0"];
    let line = scene.command_line();
    if !OFF.iter().any(|off| scene.says(off)) {
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
fn redirected(inv: &Invocation, scene: &Scene<'_>) -> bool {
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
}

/// `git fetch origin +main:main` moves a local branch to whatever is there.
fn fetched_over(inv: &Invocation) -> bool {
    let forced = has_flag(inv, "-f") || has_flag(inv, "--force");
    is_sub(inv, "fetch")
        && inv.operands.iter().skip(1).any(|arg| {
            let text = arg.text();
            let target = text.trim_start_matches('+').split_once(':').map(|(_, target)| target.to_owned());
            let local = target
                .is_some_and(|to| !to.is_empty() && !to.starts_with("refs/remotes/") && !to.contains('*'));
            // A request to merge gets a branch of its own.
            let request = text.trim_start_matches('+').starts_with("refs/pull/")
                || text.trim_start_matches('+').starts_with("refs/merge-requests/");
            let own = text.rsplit(':').next().is_some_and(|to| !matches!(to, "main" | "master" | "develop"));
            (forced || text.starts_with('+')) && local && !(request && own)
        })
}
