//! History that is rewritten, unreachable or damaged.

use super::{GIT, first_git, is_git, is_protected, is_sub, target_of_refspec, throws};
use crate::domain::{EffectKind, PathKind, join, last_name, lies_in};
use crate::rules::Invocation;
use crate::rules::git_settings::entries;
use crate::rules::matcher::{Found, Scene, asks_for_help, has_flag, has_operand, has_sub, is_scratch};
use crate::rules::survey::{CONFIG, REFLOG, is_noted_again};
use crate::shell::Arg;

words!("builtin/git/history");

fn git_deletes_reference(inv: &Invocation, scene: &Scene<'_>) -> bool {
    has_sub(inv, "update-ref")
        && (has_flag(inv, "--stdin") || has_flag(inv, "-d") && !is_noted_again(&inv.operands))
        && !asks_for_help(inv)
        && !is_scratch(inv, scene)
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
        Some("rebase") => flagged(inv, &["--root"]) && !keeps_reflogs(inv, scene),
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

/// Whether the commits that a rebase replaces stay named: git writes a reflog there, nothing in the call ends that, and it refuses
/// to begin where work is not committed.
fn keeps_reflogs(inv: &Invocation, scene: &Scene<'_>) -> bool {
    const ENDS: &[&str] = &["gc", "prune", "reflog", "repack", "maintenance", "update-ref", "config"];
    let facts = scene.view.facts;
    let Some(repo) = &facts.places.repo else { return false };
    let inside = inv.cwd.as_ref().is_some_and(|cwd| lies_in(cwd, repo));
    let ended = scene.invocations().iter().any(|other| {
        other.program == "git" && other.sub.first().is_some_and(|sub| ENDS.contains(&sub.as_str()))
    });
    let set = |arg: &Arg| {
        let text = arg.text().to_ascii_lowercase();
        text.contains("logallrefupdates") || text.starts_with("--git-dir") || text.starts_with("--work-tree")
    };
    let touched = |path: &str| path.contains("/.git/");
    inside
        && !ended
        && !inv.args.iter().any(set)
        && facts.path(&join(repo, REFLOG)).is_some_and(|fact| fact.kind == PathKind::File)
        && facts.content(&join(repo, CONFIG)).flatten().is_some_and(keeps_what_was)
        && facts
            .places
            .home
            .as_ref()
            .is_none_or(|home| facts.content(&join(home, ".gitconfig")).flatten().is_none_or(keeps_what_was))
        && !scene
            .view
            .survey
            .effects
            .iter()
            .any(|effect| effect.kind != EffectKind::FileRead && touched(effect.target.text()))
}

/// Whether settings leave git's reflogs on, and what is in them for as long as usual.
fn keeps_what_was(text: &str) -> bool {
    let keeps = |(key, value): &(String, String)| match key.as_str() {
        "core.logallrefupdates" => matches!(value.as_str(), "true" | "always"),
        key => !key.starts_with("gc.reflog") && key != "gc.pruneexpire",
    };
    entries(text).is_some_and(|all| all.iter().all(keeps))
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
fn history_cleaner(inv: &Invocation) -> bool {
    let is_cleaner = |arg: &Arg| {
        let text = arg.text();
        let name = last_name(&text);
        name.starts_with("bfg") && name.ends_with(".jar")
    };
    inv.args.iter().any(is_cleaner)
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
