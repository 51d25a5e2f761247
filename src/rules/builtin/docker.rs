//! What is kept for containers on this machine: volumes, images, and all containers at once.

use super::standing::{is_own, is_scratch, names_live};
use crate::rules::Invocation;
use crate::rules::matcher::{Found, Scene, asks_for_help, flag_value, has_flag, has_sub, runs};
use crate::shell::Arg;

const DOCKER: &[&str] = &["docker", "podman", "nerdctl", "finch"];

const COMPOSE: &[&str] = &["docker-compose", "podman-compose"];

words!("builtin/docker");

/// The labels that a prune is narrowed to.
fn labels(inv: &Invocation) -> impl Iterator<Item = &str> {
    let filters = inv.args.iter().filter_map(Arg::known).map(|word| word.trim_start_matches("--filter="));
    filters.filter_map(|filter| filter.strip_prefix("label="))
}

/// A prune takes only what has a certain label.
fn is_labelled(inv: &Invocation) -> bool {
    labels(inv).any(|label| !label.is_empty())
}

/// How much of what is there a command takes away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Taken {
    /// All volumes, or all containers that run.
    Lasting,
    /// All images, or all containers that it lets end first.
    Again,
}

fn volumes_pruned(inv: &Invocation) -> bool {
    let volumes = has_sub(inv, "volume prune") || has_sub(inv, "system prune") && has_flag(inv, "--volumes");
    (volumes && !is_labelled(inv) || has_sub(inv, "system reset")) && !asks_for_help(inv)
}

fn labelled_volumes_pruned(inv: &Invocation) -> bool {
    (has_sub(inv, "volume prune") || has_sub(inv, "system prune") && has_flag(inv, "--volumes"))
        && is_labelled(inv)
        && !labels(inv).any(is_scratch)
}

/// What the other command lists is narrowed to some, or to what is in nobody's use.
fn is_narrowed(other: &Invocation) -> bool {
    // `docker images 'web:*'`
    let one = || matches!(other.operands.as_slice(), [name] if name.known().is_some_and(|name| name != "*" && !name.starts_with('-')));
    let images = other.args.first().and_then(Arg::known) == Some("images");
    images && one()
        || other.args.iter().map(Arg::text).any(|text| {
            let by = text.trim_start_matches("--filter=").trim_start_matches("-f");
            UNUSED.iter().any(|front| by.starts_with(front)) || text.starts_with("--latest") || text == "-l"
        })
}

/// Whether a list is narrowed to what is named for tests, by its own filters or by a search behind it.
pub(super) fn lists_scratch(all: &[Invocation], lister: &Invocation) -> bool {
    let named = |text: &str| {
        let by = text.trim_start_matches("--filter=").trim_start_matches("-f");
        ["name=", "label="].iter().any(|key| by.strip_prefix(key).is_some_and(is_scratch))
    };
    lister.args.iter().filter_map(Arg::known).any(named)
        || searched(all, lister).any(|pattern| !pattern.contains('|') && is_scratch(pattern))
}

/// The patterns that the lines of a list are searched for before anything else is done with them.
fn searched<'a>(all: &'a [Invocation], lister: &Invocation) -> impl Iterator<Item = &'a str> {
    let (pipeline, stage) = (lister.pipeline, lister.stage);
    let behind = all.iter().filter(move |inv| inv.pipeline == pipeline && inv.stage > stage);
    let searches = |inv: &&Invocation| {
        let inverts = ["-v", "--invert-match"].iter().any(|flag| has_flag(inv, flag));
        runs(inv, &["grep", "rg", "egrep", "fgrep"]) && !inverts
    };
    let pattern = |inv: &'a Invocation| inv.operands.first().and_then(Arg::known);
    let says = |pattern: &&str| pattern.bytes().filter(u8::is_ascii_alphanumeric).count() > 2;
    behind.filter(searches).filter_map(pattern).filter(says)
}

/// Words behind the program and its group: `rm` of `docker container rm`.
fn verb(inv: &Invocation) -> &str {
    let mut words = inv.args.iter().filter_map(Arg::known).filter(|word| !word.starts_with('-'));
    match words.next().unwrap_or_default() {
        "container" | "image" => words.next().unwrap_or_default(),
        "service" => words.next().filter(|word| matches!(*word, "rm" | "remove")).map_or("", |_| "service"),
        "volume" => words.next().filter(|word| matches!(*word, "rm" | "remove")).map_or("", |_| "volume"),
        word => word,
    }
}

/// What another command lists in full is taken away.
fn every<'a>(scene: &Scene<'a>, taken: Taken) -> Found<'a> {
    let all = scene.invocations();
    let found = all.iter().enumerate().find(|(index, inv)| {
        if !runs(inv, DOCKER) {
            return false;
        }
        let forced = has_flag(inv, "-f") || has_flag(inv, "--force") || has_flag(inv, "-v");
        let takes = match verb(inv) {
            "volume" | "kill" | "service" => Some(Taken::Lasting),
            "rm" if forced => Some(Taken::Lasting),
            "rm" | "rmi" | "stop" => Some(Taken::Again),
            _ => None,
        };
        takes == Some(taken)
            && all.iter().any(|other| {
                let comes =
                    other.feeds == Some(*index) || other.pipeline == inv.pipeline && other.stage < inv.stage;
                let lists = other
                    .args
                    .iter()
                    .filter_map(Arg::known)
                    .take(2)
                    .any(|word| matches!(word, "ps" | "images" | "ls" | "list"));
                let volumes = || verb(inv) == "volume";
                comes
                    && lists
                    && runs(other, DOCKER)
                    && !is_narrowed(other)
                    && if volumes() {
                        !lists_scratch(all, other)
                    } else {
                        searched(all, other).next().is_none()
                    }
            })
    });
    Found::from(found.map(|(_, inv)| inv.text.as_str()))
}

/// A volume deleted by name, unless by its name nobody misses it; with `data`, one in which data is kept by its name.
fn volume_removed<'a>(scene: &Scene<'a>, data: bool) -> Found<'a> {
    let found = scene.first(DOCKER, |inv| {
        let removes = verb(inv) == "volume" && !asks_for_help(inv);
        let names =
            || inv.args.iter().skip_while(|arg| !matches!(arg.known(), Some("rm" | "remove"))).skip(1);
        let names = || names().filter(|arg| !arg.prefix().starts_with('-'));
        let keeps = |arg: &Arg| {
            let name = arg.prefix().to_ascii_lowercase();
            DATA.iter().any(|part| name.contains(part)) || names_live(inv)
        };
        let missed = |arg: &&Arg| arg.known().is_none_or(|name| !is_scratch(name) && !is_filled_again(name));
        // One that is named is a question; more of them, or what others live by, is none.
        let kept = || names().filter(missed).filter(|arg| keeps(arg) && !is_own(arg.prefix())).count();
        removes
            && if data {
                kept() > 1 || kept() > 0 && names_live(inv)
            } else {
                (names().any(|arg| missed(&arg)) || names().next().is_none()) && !is_from_scratch(scene, inv)
            }
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// What a command is given comes from a list of what is named for tests, and nothing beside it.
fn is_from_scratch(scene: &Scene<'_>, inv: &Invocation) -> bool {
    let all = scene.invocations();
    let comes = |other: &Invocation| {
        other.feeds.and_then(|index| all.get(index)).is_some_and(|fed| std::ptr::eq(fed, inv))
            || other.pipeline == inv.pipeline && other.stage < inv.stage && runs(other, DOCKER)
    };
    let mut listers = all.iter().filter(|other| comes(other)).peekable();
    let named = inv.args.iter().filter_map(Arg::known).filter(|word| !word.starts_with('-')).count();
    listers.peek().is_some() && named == 2 && listers.all(|lister| lists_scratch(all, lister))
}

/// A volume that installing or building fills again.
fn is_filled_again(name: &str) -> bool {
    ["node_modules", "node-modules", "_cache", "-cache", "cargo-registry", "pip-cache"]
        .iter()
        .any(|end| name.ends_with(end))
}

/// A composition taken down with its volumes or images, unless it is one for tests.
fn composed(inv: &Invocation, scene: &Scene<'_>) -> bool {
    (runs(inv, COMPOSE) || runs(inv, DOCKER)) && takes_composition(inv) && !is_composed_for_tests(scene, inv)
}

/// `docker compose down`, with the volumes or with images that are not built here.
fn takes_composition(inv: &Invocation) -> bool {
    let words = || inv.args.iter().filter_map(Arg::known);
    let down =
        words().any(|word| word == "down") && (runs(inv, COMPOSE) || words().any(|word| word == "compose"));
    let mut kinds = inv.args.iter().skip_while(|arg| arg.known() != Some("--rmi")).skip(1);
    // What is built here is built again.
    let mut images =
        || has_flag(inv, "--rmi") && kinds.next().is_none_or(|kind| kind.known() != Some("local"));
    down && (["-v", "--volumes"].iter().any(|flag| has_flag(inv, flag)) || images())
}

/// The composition is one for tests, by its file's name or by its own.
fn is_composed_for_tests(scene: &Scene<'_>, inv: &Invocation) -> bool {
    let words = || inv.args.iter().filter_map(Arg::known);
    let project = flag_value(inv, &["-p", "--project-name"]).and_then(Arg::known);
    words().any(|word| !word.starts_with('-') && is_scratch(word))
        || project.is_some_and(is_scratch_project)
        || words().zip(words().skip(1)).any(|(flag, name)| flag == "-p" && is_scratch_project(name))
        || is_project_for_tests(scene)
}

/// The variable that names the composition is set in the call, and to a name for tests.
fn is_project_for_tests(scene: &Scene<'_>) -> bool {
    let words = scene.command_line().split(|c: char| c.is_whitespace() || c == ';');
    let mut names = words.filter_map(|word| word.strip_prefix("COMPOSE_PROJECT_NAME=")).peekable();
    names.peek().is_some() && names.all(|name| is_scratch_project(name.trim_matches(['"', '\''])))
}

/// Also `apptest`, which is no word.
fn is_scratch_project(name: &str) -> bool {
    const WORDS: &[&str] = &["latest", "contest", "protest", "greatest", "fastest", "attest"];
    is_scratch(name)
        || ["test", "tests", "e2e"].iter().any(|end| name.len() > end.len() + 2 && name.ends_with(end))
            && !name.contains('$')
            && !WORDS.iter().any(|word| name.ends_with(word))
}
