//! Git: branches and tags taken away many at a time, transports that are programs, and what keeps a repository in order switched off.

use super::git::{is_protected, target_of_refspec};
use super::operations;
use crate::rules::Invocation;
use crate::rules::matcher::{Found, Scene, has_flag, host_of, is_known};
use crate::shell::Arg;

const GIT: &[&str] = &["git"];

/// Programs that put checks into a repository's hooks, and take them out again.
const HOOKERS: &[&str] = &["pre-commit", "lefthook", "husky", "overcommit"];

words!("builtin/branches");

fn is_sub(inv: &Invocation, word: &str) -> bool {
    inv.sub.first().is_some_and(|sub| sub == word)
}

fn flagged(inv: &Invocation, flags: &[&str]) -> bool {
    flags.iter().any(|flag| has_flag(inv, flag))
}

/// Deletes branches by force here, or branches on a remote.
fn deletes(inv: &Invocation) -> bool {
    let forced = flagged(inv, &["-f", "--force"]) && flagged(inv, &["-d", "--delete"]);
    inv.program == "git"
        && (is_sub(inv, "branch") && (has_flag(inv, "-D") || forced)
            || is_sub(inv, "push") && flagged(inv, &["-d", "--delete"]))
}

/// Prints the names of all branches, whatever became of them.
fn lists_all(inv: &Invocation) -> bool {
    let merged = inv.args.iter().any(|arg| {
        ["--merged", "--contains", "--points-at", "--list"].iter().any(|flag| arg.prefix().starts_with(flag))
    });
    let first = inv.sub.first().map(String::as_str).unwrap_or_default();
    let named = first == "branch" && inv.operands.is_empty() && !deletes(inv);
    inv.program == "git" && !merged && (named || matches!(first, "for-each-ref" | "ls-remote"))
}

/// `git branch | xargs git branch -D`, `git branch -D $(git branch)`, `for b in $(git branch -r); do git push -d …`.
fn listed_deleted<'a>(scene: &Scene<'a>) -> Found<'a> {
    let all = scene.invocations();
    if !scene.runs_any(|inv| inv.program == "git") {
        return Found::No;
    }
    let Some(lister) = all.iter().position(lists_all) else { return Found::No };
    let Some(list) = all.get(lister) else { return Found::No };
    // A list of what is gone from the remote is one of what was merged there.
    let narrowed = scene.command_line().contains("gone");
    let found = all.iter().enumerate().filter(|(_, inv)| !narrowed && deletes(inv)).find(|(index, inv)| {
        let piped = inv.pipeline == list.pipeline && inv.stage > list.stage;
        let known = inv.operands.iter().all(|arg| arg.known().is_some());
        piped || list.feeds == Some(*index) || *index > lister && !known
    });
    Found::from(found.map(|(_, inv)| inv.text.as_str()))
}

fn runs_address<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(GIT, |inv| {
        let fetches = inv.sub.first().is_some_and(|sub| {
            matches!(
                sub.as_str(),
                "clone" | "fetch" | "pull" | "push" | "ls-remote" | "remote" | "submodule" | "archive"
            )
        });
        // What serves the other side is a program, and never more than its name.
        let served = ["--upload-pack", "--receive-pack", "--exec", "-u"];
        let own = |text: &str| text.ends_with("git-upload-pack") || text.ends_with("git-receive-pack");
        let runs_other = |value: &Arg| {
            let text = value.text();
            let text = text.trim_start_matches('=');
            !own(text) && text.contains([' ', ';', '|', '&', '$', '`'])
        };
        fetches
            && (inv.operands.iter().any(|arg| arg.prefix().starts_with("ext::"))
                || inv.args.iter().any(|arg| arg.prefix().starts_with("--remote=ext::"))
                || inv.flags.iter().any(|flag| {
                    served.contains(&flag.name.as_str()) && flag.value.as_ref().is_some_and(runs_other)
                }))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// The tag of a release on the remote: `v1.2.0`. (One of a single number is made to be moved.)
fn is_tag(refspec: &str) -> bool {
    let name = refspec.trim_start_matches(['+', ':']);
    let name = name.strip_prefix("refs/tags/").unwrap_or(name);
    let number = name.strip_prefix(['v', 'V']).unwrap_or(name);
    number.contains('.') && number.starts_with(|c: char| c.is_ascii_digit())
}

fn tag_deleted(inv: &Invocation) -> bool {
    let by_option = flagged(inv, &["-d", "--delete"]);
    let mut refspecs = inv.operands.iter().skip(1).filter_map(Arg::known);
    is_sub(inv, "push") && refspecs.any(|word| (by_option || word.starts_with(':')) && is_tag(word))
}

/// One condition for what is rare, so that an ordinary `git status` meets no more of them.
fn left_open(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let words: Vec<&str> = inv.operands.iter().filter_map(Arg::known).collect();
    match inv.sub.first().map(String::as_str) {
        Some("config") => words.windows(2).any(|pair| match pair {
            [key, value] => lowers(&key.to_ascii_lowercase(), value, flagged(inv, &["--global", "--system"])),
            _ => false,
        }),
        Some("remote") => {
            let set = inv.sub.get(1).is_some_and(|sub| sub == "set-url");
            let url = words.iter().find(|word| word.contains("://") && !word.starts_with("ssh://"));
            set && url.is_some_and(|url| !is_known(&host_of(url), scene.view.policy))
        }
        Some("read-tree") => has_flag(inv, "--empty"),
        Some("lfs") => words.contains(&"prune") && flagged(inv, &["--force", "-f"]),
        Some("svn") => words.contains(&"reset"),
        _ => false,
    }
}

/// A setting without which a repository takes what it would have refused.
fn lowers(key: &str, value: &str, everywhere: bool) -> bool {
    let off = matches!(value, "false" | "0" | "off" | "no");
    match key {
        "receive.denynonfastforwards"
        | "receive.denydeletes"
        | "receive.fsckobjects"
        | "transfer.fsckobjects"
        | "core.protecthfs"
        | "core.protectntfs" => off,
        "receive.denycurrentbranch" | "receive.denydeletecurrent" => off || value == "ignore",
        "http.sslverify" => off && everywhere,
        _ => false,
    }
}

/// `svn delete` of an address takes effect at once and for everybody.
fn svn_deletes(inv: &Invocation) -> bool {
    let mut words = inv.args.iter().filter_map(Arg::known).filter(|word| !word.starts_with('-'));
    words.next().is_some_and(|word| matches!(word, "delete" | "rm" | "del" | "remove"))
        && inv.operands.iter().any(|arg| arg.prefix().contains("://"))
}

/// Programs that push as git does, or for it.
pub(super) const PUSHERS: &[&str] = &["hub", "sl"];

/// A forced push by one of the programs that stand around git, or by a subcommand that pushes a part of the tree.
pub(super) fn forced_by_another<'a>(scene: &Scene<'a>, programs: &[&str]) -> Found<'a> {
    let found = scene.first(programs, |inv| {
        let words = operations::known_words(inv);
        let Some(at) = words.iter().position(|word| *word == "push") else { return false };
        let behind = words.get(at + 1..).unwrap_or_default();
        let refs =
            || behind.iter().filter(|word| !word.starts_with('-')).skip(usize::from(inv.program == "hub"));
        let forced = behind.iter().any(|word| matches!(*word, "-f" | "--force") || word.starts_with('+'));
        let pushes = inv.program != "git" || words.first() == Some(&"subtree");
        // Without a branch it is the one that is checked out.
        pushes
            && forced
            && (refs().next().is_none() && inv.program == "hub"
                || refs().any(|word| is_protected(target_of_refspec(word), scene)))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}
