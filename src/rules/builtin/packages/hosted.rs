//! Repositories of strangers at the usual code hosts: run at once, installed, or cloned and started in the same call.

use super::words;
use crate::domain::Target;
use crate::rules::Invocation;
use crate::rules::builtin::{downloads, lists};
use crate::rules::matcher::{
    Found, Scene, flag_value, has_flag, inside, runs, runs_code, runs_shell, target_of,
};
use crate::shell::Arg;

/// Hosts at which anybody may have a repository.
const HOSTS: &[&str] =
    &["github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "gist.github.com", "git.sr.ht"];

/// Schemes of package runners for the same.
const SHORT: &[&str] = &["github:", "gitlab:", "bitbucket:", "gist:", "sourcehut:", "codeberg:"];

words!("builtin/packages/hosted");

/// Programs that bring a repository here.
const CLONERS: &[&str] = &["git", "gh", "glab", "hub", "degit", "tiged"];

/// Of an address or a short name of a repository at one of the hosts, its owner.
fn owner_of(text: &str) -> Option<&str> {
    let text = text.trim_start_matches("git+");
    let rest = SHORT.iter().find_map(|short| text.strip_prefix(short)).or_else(|| {
        let bare = text.split_once("://").map_or(text, |(_, rest)| rest);
        let bare = bare.trim_start_matches("git@");
        HOSTS.iter().find_map(|host| bare.strip_prefix(host)?.strip_prefix(['/', ':']))
    })?;
    rest.split('/').next().filter(|owner| !owner.is_empty())
}

pub(in crate::rules::builtin) fn is_stranger(owner: &str) -> bool {
    !OWNERS.iter().any(|known| owner.eq_ignore_ascii_case(known))
}

/// The first of these programs that is given a stranger's repository as what it fetches.
fn named<'a>(scene: &Scene<'a>, table: &[(&str, &[&str])]) -> Found<'a> {
    let listed = |inv: &Invocation| table.iter().any(|(name, _)| *name == inv.program);
    let found = scene.running(listed).find(|inv| {
        let Some((_, verbs)) = table.iter().find(|(name, _)| *name == inv.program) else { return false };
        let given: Vec<&str> = words(inv).take(6).collect();
        let verb = verbs.iter().find(|verb| verb.split(' ').zip(&given).all(|(a, b)| a == *b));
        let skip = match (verbs.is_empty(), verb) {
            (true, _) => 0,
            (false, Some(verb)) => verb.split(' ').count(),
            (false, None) => return false,
        };
        let options = flag_value(inv, &["--from", "-p", "--package", "--spec", "--with", "--git", "-f"]);
        let option = options.map(Arg::prefix).filter(|_| inv.program != "pip");
        // Of what is run at once the first operand is what is fetched, later ones are its arguments.
        let count = if verbs.is_empty() || !installs(inv) { 1 } else { usize::MAX };
        let mut sources = given.iter().skip(skip).take(count).copied().chain(option);
        sources.any(|text| owner_of(text).is_some_and(is_stranger))
            || inv.program == "mix" && given.contains(&"github")
            || installs(inv)
                && runs(inv, &["npm", "pnpm"])
                && given.iter().skip(skip).any(|text| is_pair(text))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

fn installs(inv: &Invocation) -> bool {
    let first = words(inv).next().unwrap_or_default();
    matches!(first, "install" | "i" | "add" | "inject" | "pip" | "archive.install" | "specific_install")
}

/// `npm i owner/repository`.
fn is_pair(text: &str) -> bool {
    let plain = |part: &str| {
        !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
    };
    text.split_once('/').is_some_and(|(owner, name)| plain(owner) && plain(name) && is_stranger(owner))
}

/// The directory of a stranger's repository that a command brings here.
fn cloned_dir(inv: &Invocation) -> Option<String> {
    let mut words = words(inv).skip_while(|word| matches!(*word, "repo" | "project"));
    let clones = match inv.program.as_str() {
        "git" | "gh" | "glab" | "hub" => words.next() == Some("clone"),
        _ => true,
    };
    let source = words.next().filter(|_| clones)?;
    let owner = match inv.program.as_str() {
        "git" => owner_of(source)?,
        _ => owner_of(source).or_else(|| source.split_once('/').map(|(owner, _)| owner))?,
    };
    let own = source.trim_end_matches('/').rsplit(['/', ':']).next()?.trim_end_matches(".git");
    let name = words.next().unwrap_or(own);
    let Target::Path { path, .. } = target_of(&Arg::literal(name), inv.cwd.as_deref()) else { return None };
    is_stranger(owner).then_some(path)
}

/// The script that a command runs by its path, or that an interpreter is given.
fn script_of(inv: &Invocation) -> Option<String> {
    let cwd = inv.cwd.as_deref();
    let path = |arg: &Arg| match target_of(arg, cwd) {
        Target::Path { path, .. } => Some(path),
        Target::UnknownPath { .. } | Target::Url(_) | Target::Command(_) | Target::None => None,
    };
    let coded = || has_flag(inv, "-c") || has_flag(inv, "-e") || has_flag(inv, "-m");
    let told = runs_shell(inv) || runs_code(inv) || runs(inv, lists::RUN_IN_SHELL);
    if inv.word.text().contains('/') && !told {
        path(&inv.word)
    } else if told && !coded() && !runs(inv, lists::SCRIPTED_FILTERS) {
        inv.operands.first().and_then(path)
    } else {
        None
    }
}

fn is_building(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| BUILDING.contains(&name))
}

fn clone_run<'a>(scene: &Scene<'a>) -> Found<'a> {
    let all = scene.invocations();
    if !scene.runs_any(|inv| runs(inv, CLONERS)) {
        return Found::No;
    }
    let dirs: Vec<(usize, String)> = all
        .iter()
        .enumerate()
        .filter(|(_, inv)| runs(inv, CLONERS))
        .filter_map(|(at, inv)| Some((at, cloned_dir(inv)?)))
        .take(8)
        .collect();
    if dirs.is_empty() {
        return Found::No;
    }
    let found = all.iter().enumerate().find(|(index, inv)| {
        let within =
            |path: &str| dirs.iter().any(|(at, dir)| index > at && (path == dir || inside(path, dir)));
        let script = || script_of(inv).is_some_and(|path| within(&path) && !is_building(&path));
        let rooted = || {
            inv.privileged
                && runs(inv, &["make", "gmake", "ninja", "npm", "pip", "pip3", "python", "python3"])
                && inv.cwd.as_deref().is_some_and(within)
        };
        script() || rooted()
    });
    Found::from(found.map(|(_, inv)| inv.text.as_str()))
}

const RECEIVERS: &[&str] = &["gh", "croc", "wormhole", "magic-wormhole"];

/// A program that somebody sent, or that stands in a stranger's release, started where it came to lie.
fn received_run<'a>(scene: &Scene<'a>) -> Found<'a> {
    let all = scene.invocations();
    let receives = |inv: &Invocation| {
        if !runs(inv, RECEIVERS) {
            return false;
        }
        let first: Vec<&str> = words(inv).take(2).collect();
        match inv.program.as_str() {
            "gh" => {
                let from = flag_value(inv, &["-R", "--repo"]).map(Arg::text).unwrap_or_default();
                first.starts_with(&["release", "download"])
                    && from.split('/').rev().nth(1).is_some_and(is_stranger)
            }
            "croc" => !first.is_empty() && !first.contains(&"send"),
            "wormhole" | "magic-wormhole" => first.contains(&"receive"),
            _ => false,
        }
    };
    let Some(at) = all.iter().position(receives) else { return Found::No };
    let found = all.iter().skip(at + 1).find(|inv| {
        script_of(inv)
            .is_some_and(|path| !is_building(&path) && scene.view.facts.content(&path).flatten().is_none())
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// What comes out of an archive from a host that nothing is known of, started at once where it was unpacked.
fn unpacked_run<'a>(scene: &Scene<'a>) -> Found<'a> {
    let all = scene.invocations();
    let policy = scene.view.policy;
    let strange = |inv: &Invocation| {
        runs(inv, lists::DOWNLOADERS)
            && inv.operands.iter().any(|arg| {
                let text = arg.text();
                let host = crate::rules::matcher::host_of(&text);
                let address = text.contains("://") || downloads::takes_bare(inv, &text);
                address && host.contains('.') && crate::rules::trail::is_strange(&host, policy)
            })
    };
    let unpacks = |inv: &Invocation| runs(inv, &["tar", "bsdtar", "gtar", "unzip", "cpio", "7z"]);
    if !scene.runs_any(|inv| runs(inv, lists::DOWNLOADERS)) {
        return Found::No;
    }
    let Some(source) = all.iter().position(strange) else { return Found::No };
    let Some(at) = all.iter().skip(source).position(unpacks).map(|at| at + source) else { return Found::No };
    let found = all.iter().skip(at + 1).find(|inv| {
        script_of(inv)
            .is_some_and(|path| !is_building(&path) && scene.view.facts.content(&path).flatten().is_none())
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}
