//! What clients keep of the agents that an agent started: there stand the bytes that a quarantined one read.

use std::cell::LazyCell;

use crate::domain::{Action, Effect, EffectKind, ProtectedKind, SearchKind, Target, last_name};
use crate::rules::builtin::lists;
use crate::rules::matcher::{
    At, Found, Rel, Scene, at, has_flag, owner, owners, relation, relation_to, runs,
};
use crate::rules::{Invocation, Stdin};

words!("builtin/selfprotect/transcripts");

/// OpenCode's messages, those of all its agents.
const MESSAGES: &[At] = &[At::Name("opencode/storage/message"), At::Name("opencode/storage/part")];

/// A search of which only the names of files are shown, or how often.
fn names_files(inv: &Invocation) -> bool {
    runs(inv, &["grep", "egrep", "fgrep", "rg", "ag"]) && lists::QUIET.iter().any(|flag| has_flag(inv, flag))
}

/// What code names that reads transcripts by a name that it puts together, or goes through a whole tree of them: one of each list.
const IN_CODE: &[&[&str]] = &[
    &[".claude", "opencode/storage"],
    &["projects", "subagents", "agent-", ".jsonl", "opencode/storage"],
    WALKED_IN_CODE,
    READ_IN_CODE,
];

/// Code reads a transcript of a subagent.
pub(super) fn read_by_code<'a>(scene: &Scene<'a>) -> Found<'a> {
    if scene.view.facts.never_reviewed() {
        return Found::No;
    }
    scene.code_where(|codes, _| codes.iter().any(|code| IN_CODE.iter().all(|words| code.holds_any(words))))
}

/// A transcript of a subagent, or a directory of them, is read.
pub(super) fn read<'a>(scene: &Scene<'a>) -> Found<'a> {
    // Names alone are no content; and where nobody was ever quarantined there is nothing in it that is closed.
    if scene.view.facts.never_reviewed()
        || matches!(scene.view.call.action, Action::Search { kind: SearchKind::Glob, .. })
    {
        return Found::No;
    }
    let dirs = LazyCell::new(|| config_dirs(scene));
    let lists = |inv: &Invocation| runs(inv, LISTERS) || names_files(inv);
    let goes = |inv: &Invocation| runs(inv, &["cd", "pushd"]);
    let shown = |effect: &&Effect| {
        // A search that names no place is one of where it runs.
        let here = |inv: &&Invocation| {
            inv.cwd.as_deref() == Some(effect.target.text())
                && inv.operands.len() <= 1
                && inv.stdin == Stdin::Inherited
                && runs(inv, &["grep", "egrep", "fgrep", "rg", "ag", "ack"])
        };
        let named = owners(scene, &effect.target).filter(|inv| !goes(inv));
        let mut all = named.chain(scene.invocations().iter().filter(here)).peekable();
        all.peek().is_none() || !all.all(lists)
    };
    let read = scene.effects().map(|(effect, _)| effect).filter(|effect| effect.kind == EffectKind::FileRead);
    let found = read.filter(|effect| holds_transcript(&effect.target, &dirs, scene)).find(shown);
    match found {
        Some(effect) => {
            owner(scene, &effect.target).map_or(Found::yes(effect.target.text()), |inv| Found::yes(&inv.text))
        }
        None => Found::No,
    }
}

/// Where Claude Code has its settings for the user, and with them its transcripts. A project's are another matter.
fn config_dirs<'a>(scene: &Scene<'a>) -> Vec<&'a str> {
    let places = &scene.view.facts.places;
    let settings = places.protected.iter().filter(|place| place.kind == ProtectedKind::ClientSettings);
    settings.filter_map(|place| place.path.strip_suffix("/settings.json")).collect()
}

fn holds_transcript(target: &Target, dirs: &[&str], scene: &Scene<'_>) -> bool {
    let (path, glob, recursive) = match target {
        Target::Path { path, glob, recursive } => match path.split_once("/**") {
            // All that lies below, whatever it is called: what a search finds is written so.
            Some((_, found)) if *glob && !may_be_transcript(found) => return false,
            Some((dir, _)) if *glob => (dir, true, true),
            Some(_) | None => (path.as_str(), *glob, *recursive),
        },
        Target::UnknownPath { known, recursive, .. } => (known.as_str(), false, *recursive),
        Target::Url(_) | Target::Command(_) | Target::None => return false,
    };
    if at(target, MESSAGES, scene.view.facts.places.home.as_deref()) {
        return true;
    }
    if recursive && path.ends_with("/opencode/storage") {
        return true;
    }
    // Nearly everything lies apart from the directory, or above it: then nothing in it is meant but what a pattern names. A reading of
    // all that is below the directory itself is one of its transcripts.
    let home = scene.view.facts.places.home.as_deref();
    let is_whole = |dir: &str| recursive && path == dir && is_the_users(dir, home);
    let inside =
        |dir: &str| (path.len() > dir.len() || is_whole(dir)) && relation_to(path, false, dir) != Rel::Apart;
    dirs.iter().filter(|dir| glob || inside(dir)).any(|dir| {
        let below = |rest: &'static str| {
            relation(path, glob, dir.split('/').chain(rest.split('/')).filter(|part| !part.is_empty()))
        };
        let kept = match below("projects/*/*/subagents") {
            Rel::Same => glob || recursive,
            Rel::Below => true,
            // A single file is the session's own, also for a search.
            Rel::Above => {
                recursive
                    && !path.ends_with(".jsonl")
                    // What a project's sessions keep to remember lies beside them.
                    && !path.ends_with("/memory")
                    && (is_whole(dir) || matches!(below("projects"), Rel::Same | Rel::Below))
            }
            Rel::Apart => false,
        };
        kept || (below("projects") == Rel::Below && is_agents_own_file(path))
    })
}

/// Whether what a search finds by this pattern may be a transcript, whose name ends in `.jsonl`.
fn may_be_transcript(pattern: &str) -> bool {
    let end = pattern.rsplit_once('.').map(|(_, end)| end.to_ascii_lowercase()).unwrap_or_default();
    end.is_empty() || end.starts_with("json") || !end.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// A project has a directory of that name too, and no transcripts in it.
fn is_the_users(dir: &str, home: Option<&str>) -> bool {
    match dir.strip_suffix("/.claude") {
        Some(above) => Some(above) == home,
        None => true,
    }
}

/// As older versions name them, beside the session's own file.
fn is_agents_own_file(path: &str) -> bool {
    let name = last_name(path);
    name.starts_with("agent-") && name.ends_with(".jsonl")
}
