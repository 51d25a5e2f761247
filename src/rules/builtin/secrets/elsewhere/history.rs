//! Secrets in what version control keeps: committed, shown and searched.

use super::{SEARCHERS, is_kept, sub_is};
use crate::rules::Invocation;
use crate::rules::builtin::lists;
use crate::rules::builtin::secrets::shown::{HUNTED, VIEWERS};
use crate::rules::builtin::secrets::{is_diverted, is_secret_name, leaves_out};
use crate::rules::matcher::{Scene, has_flag, runs};
use crate::shell::Arg;

words!("builtin/secrets/elsewhere/history");

/// `git show REV:.env`
pub(super) fn committed_file(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let names = |inv: &Invocation| {
        inv.operands.iter().any(|arg| {
            let text = arg.text();
            text.split_once(':').is_some_and(|(_, path)| !path.starts_with("//") && is_kept(path, scene))
        })
    };
    let all = scene.invocations();
    // `git cat-file blob $(git rev-parse HEAD:.env)`
    let found_by = |inv: &Invocation| {
        let at = all.iter().position(|other| std::ptr::eq(other, inv));
        all.iter().any(|other| {
            other.feeds.is_some() && other.feeds == at && sub_is(other, &["rev-parse"]) && names(other)
        })
    };
    // `git archive HEAD .env`: unpacked nowhere, or onto the output.
    let archived = |inv: &Invocation| {
        let mut behind = all.iter().filter(|other| other.pipeline == inv.pipeline && other.stage > inv.stage);
        sub_is(inv, &["archive"])
            && !["-o", "--output"].iter().any(|flag| has_flag(inv, flag))
            && inv.operands.iter().any(|arg| is_kept(&arg.text(), scene))
            && behind.all(|other| {
                let aside = |arg: &Arg| arg.text().contains('O') && arg.text().len() < 8;
                let views = runs(other, VIEWERS) && other.program != "wc";
                other.program.ends_with("tar") && other.args.iter().any(aside) || views
            })
    };
    !is_diverted(inv)
        && (sub_is(inv, &["show", "cat-file"]) && (names(inv) || found_by(inv)) || archived(inv))
}

/// Whether git shows the changes themselves.
fn shows_changes(inv: &Invocation) -> bool {
    if BRIEF.iter().any(|flag| has_flag(inv, flag)) {
        return false;
    }
    let patch = ["-p", "-u", "--patch", "--full-diff"].iter().any(|flag| has_flag(inv, flag));
    patch && sub_is(inv, &["log", "stash", "reflog"]) || sub_is(inv, &["show", "diff", "whatchanged"])
}

/// `git log -p -- .env`
pub(super) fn history_shown(inv: &Invocation, scene: &Scene<'_>) -> bool {
    shows_changes(inv)
        && !is_diverted(inv)
        && (!sub_is(inv, &["stash"])
            || inv.sub.get(1).is_some_and(|sub| sub == "show")
            || inv.operands.iter().any(|arg| arg.known() == Some("show")))
        && inv.args.iter().any(|arg| {
            let text = arg.text();
            !text.starts_with('-') && !text.contains(':') && is_kept(&text, scene)
        })
}

/// Whether a pattern is for the values of secrets: by their shape, or by a word that is nothing else.
pub(in crate::rules::builtin::secrets) fn hunts(pattern: &str) -> bool {
    let lower = pattern.to_ascii_lowercase();
    let mut words = lower.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).filter(|w| !w.is_empty());
    is_shaped(&lower) || words.any(|word| is_hunted(word) || is_secret_name(word))
}

/// What tokens and keys begin with.
fn is_shaped(lower: &str) -> bool {
    let shapes = ["akia", "private key", "ghp_", "github_pat_", "xoxb-", "sk_live", "sk-ant"];
    // `(ghp|gho)_[A-Za-z0-9]{36}`
    let begun = ["-----begin", "ghp|", "|ghp", "gho|", "|gho", "xox[", "xox(", "sk-[", "glpat-"];
    shapes.iter().chain(&begun).any(|shape| lower.contains(shape))
}

fn is_hunted(word: &str) -> bool {
    HUNTED.contains(&word)
        || matches!(word, "pass" | "api_key" | "apikey" | "secret_key" | "secretkey" | "access_key" | "pwd")
}

/// The first thing behind a command in its pipeline that searches for secrets, and shows what it finds.
pub(super) fn hunted_behind<'a>(
    inv: &Invocation,
    scene: &Scene<'a>,
    wanted: &dyn Fn(&str) -> bool,
) -> Option<&'a Invocation> {
    let behind = |other: &&Invocation| other.pipeline == inv.pipeline && other.stage > inv.stage;
    let all = scene.invocations();
    // What only counts at the end, or cuts the names off, shows no value.
    if { all.iter() }.filter(behind).any(|other| runs(other, &["wc", "cut"])) {
        return None;
    }
    { all.iter() }.filter(behind).find(|other| {
        runs(other, SEARCHERS)
            && !lists::QUIET.iter().any(|flag| has_flag(other, flag))
            && !leaves_out(other)
            && other.operands.first().is_some_and(|arg| wanted(&arg.text()))
    })
}

pub(super) fn history_searched(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let all = scene.invocations();
    if shows_changes(inv) && !sub_is(inv, &["diff"]) {
        let picked = inv.args.iter().zip(inv.args.iter().skip(1)).any(|(flag, value)| {
            matches!(flag.known(), Some("-S" | "-G" | "--grep")) && is_wanted_alone(&value.text())
        }) || inv.args.iter().any(|arg| {
            let text = arg.text();
            ["-S", "-G"].iter().any(|flag| text.strip_prefix(flag).is_some_and(is_wanted_alone))
        });
        return picked || hunted_behind(inv, scene, &hunts).is_some();
    }
    let every = || {
        inv.text.contains("rev-list")
            || all.iter().any(|other| {
                other.program == "git"
                    && sub_is(other, &["rev-list"])
                    && (other.pipeline == inv.pipeline
                        || other.feeds.and_then(|at| all.get(at)).is_some_and(|o| std::ptr::eq(o, inv)))
            })
    };
    sub_is(inv, &["grep"])
        && !lists::QUIET.iter().any(|flag| has_flag(inv, flag))
        && inv.operands.first().is_some_and(|arg| hunts(&arg.text()))
        && every()
}

/// What is looked for is a secret's shape or the bare word, and not a name that has the word in it.
fn is_wanted_alone(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    is_shaped(&lower) || is_hunted(lower.trim_matches(['\'', '"', '=', '^', '$', '.', '*']))
}
