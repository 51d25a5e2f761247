//! Copies of secrets that earlier calls made: sent, committed, printed or given away.

use super::{ARCHIVERS, GIT};
use crate::domain::{Action, Claim, Usage, join, lies_in};
use crate::rules::Invocation;
use crate::rules::builtin::code::MAX_LITERALS;
use crate::rules::builtin::{scripts, standing};
use crate::rules::matcher::{Found, Scene, connects, has_flag, is_env_file, runs, target_of};
use crate::shell::Arg;

pub(super) fn tree_sent<'a>(scene: &Scene<'a>) -> Found<'a> {
    let all = scene.invocations();
    let bare = |inv: &Invocation| {
        let client = runs(inv, &["openssl"]) && inv.args.first().and_then(Arg::known) == Some("s_client");
        (client || connects(inv)) && !is_to_this_machine(inv)
    };
    let packs = |inv: &Invocation| match inv.program.as_str() {
        "git" => inv.sub.first().is_some_and(|sub| match sub.as_str() {
            "archive" | "bundle" | "fast-export" => true,
            "log" | "show" | "format-patch" => has_flag(inv, "-p") || has_flag(inv, "--stdout"),
            _ => false,
        }),
        "tar" | "bsdtar" | "gtar" => {
            let letters = inv.operands.first().map(Arg::text).unwrap_or_default();
            has_flag(inv, "-c")
                || has_flag(inv, "--create")
                || (letters.starts_with('c') && letters.len() < 6)
        }
        _ => ARCHIVERS.contains(&inv.program.as_str()),
    };
    let found = all.iter().filter(|inv| bare(inv)).find(|inv| {
        all.iter().any(|other| other.pipeline == inv.pipeline && other.stage < inv.stage && packs(other))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// Whether all that a bare connection is told, apart from options and ports, is this machine.
fn is_to_this_machine(inv: &Invocation) -> bool {
    let told = || {
        let words =
            inv.args.iter().map(Arg::prefix).filter(|text| !text.starts_with('-') && *text != "s_client");
        words.filter(|text| text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let is_here = |text: &str| {
        // A path is no machine here: it may be the value of an option.
        let host = text.strip_prefix("TCP:").unwrap_or(text);
        !host.starts_with(['/', '.']) && standing::is_this_machine(host)
    };
    told().next().is_some() && told().all(is_here)
}

/// Whether a copy of a secret is at a path, or below it. What is named like a file of settings is mostly ignored by git, and has
/// rules of its own.
fn holds_copy(path: &str, scene: &Scene<'_>) -> bool {
    scene.view.survey.marks.iter().any(|mark| {
        mark.origin.is_secret()
            && !is_env_file(&mark.path, false)
            && (mark.covers(path) || lies_in(&mark.path, path))
    })
}

pub(super) fn copy_committed<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(GIT, |inv| {
        let adds = inv.sub.first().is_some_and(|sub| matches!(sub.as_str(), "add" | "stage"));
        let all = has_flag(inv, "-A") || has_flag(inv, "--all");
        let named = |arg: &Arg| holds_copy(target_of(arg, inv.cwd.as_deref()).text(), scene);
        adds && (inv.operands.iter().any(named)
            || all && inv.cwd.as_deref().is_some_and(|cwd| holds_copy(cwd, scene)))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// The files that the strings in an interpreter's code name.
pub(super) fn named_in<'s>(
    text: &'s str,
    inv: &'s Invocation,
    scene: &'s Scene<'_>,
) -> impl Iterator<Item = String> + 's {
    let cwd = inv.cwd.as_deref().unwrap_or(scene.view.cwd);
    scripts::strings(text)
        .into_iter()
        .take(MAX_LITERALS)
        .filter(|text| !text.is_empty())
        .map(|text| join(cwd, &text))
}

pub(super) fn copy_in_code<'a>(scene: &Scene<'a>) -> Found<'a> {
    let marks = &scene.view.survey.marks;
    scene.code_where(|codes, inv| {
        let names = |text: &str| named_in(text, inv, scene).any(|path| marks.secret(&path, false).is_some());
        codes.iter().any(|text| names(text))
    })
}

pub(super) fn copy_given<'a>(scene: &Scene<'a>) -> Found<'a> {
    let Action::Other { claims, .. } = &scene.view.call.action else { return Found::No };
    let given = claims.iter().find_map(|claim| match claim {
        Claim::File { path, usage: Usage::Read | Usage::Unsaid } => Some(path.as_str()),
        Claim::File { usage: Usage::Write | Usage::Delete, .. }
        | Claim::Command(_)
        | Claim::Code(_)
        | Claim::Unread => None,
    });
    Found::from(
        given.filter(|path| scene.view.survey.marks.secret(&join(scene.view.cwd, path), true).is_some()),
    )
}
