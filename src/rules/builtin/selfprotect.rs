//! Self-protection: the places, programs and variables that keep lazaret in front of the agent.

pub(super) mod agents;
mod aimed;
mod clients;
mod killed;
pub(super) mod places;
mod transcripts;
mod trees;
mod written;

use super::lists::TARS;
use crate::domain::{Action, Client, EffectKind, Places, Protected, Target};
use crate::rules::matcher::{
    Found, Instead, Scene, contains_word, has_flag, inside, is_protected, leads_to_protected, squeeze,
    target_of,
};
use crate::rules::{Invocation, own_commands};
use crate::shell::Arg;
pub(super) use killed::{RUNTIMES, only_asks};

const ASK: Option<Instead> =
    Some(Instead::Advice("describe the change and let the person make it at a terminal"));

const CHANGES: &[EffectKind] =
    &[EffectKind::FileCreation, EffectKind::FileModification, EffectKind::FileDeletion];

const OWN: &[&str] = &["lazaret", "lazaret-view", "lazaret-fleet"];

/// Programs that change the variables of others.
const SETTERS: &[&str] = &["export", "unset", "declare", "typeset", "readonly", "launchctl", "systemctl"];

const WRITES: &[EffectKind] = &[EffectKind::FileCreation, EffectKind::FileModification];

words!("builtin/selfprotect");

/// lazaret is uninstalled by whatever installed it, or its name is given to something else.
fn taken_away(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let names = |wanted: &[&str]| inv.args.iter().filter_map(Arg::known).any(|word| wanted.contains(&word));
    match inv.program.as_str() {
        "alias" => inv.args.iter().any(|arg| arg.text().starts_with("lazaret=")),
        "hash" => names(&["-p"]) && names(&["lazaret"]),
        "export" => names(&["-f"]) && names(&["lazaret"]) && scene.command_line().contains("lazaret()"),
        _ => {
            names(&["lazaret"])
                && names(&["uninstall", "remove", "rm", "un", "unlink", "purge", "autoremove"])
        }
    }
}

/// A protected place, or the client's or lazaret's own directory around one.
fn around_protected(arg: &Arg, inv: &Invocation, scene: &Scene<'_>) -> bool {
    let (path, glob) = match target_of(arg, inv.cwd.as_deref()) {
        Target::Path { path, glob, .. } => (path, glob),
        Target::UnknownPath { tail, .. } => return leads_to_protected(&tail, &scene.view),
        Target::Url(_) | Target::Command(_) | Target::None => return false,
    };
    // Everybody unpacks there; what is protected below it lies in a directory of its own.
    if scene.view.facts.places.temp.contains(&path) {
        return false;
    }
    if !glob && is_work(&path, &scene.view.facts.places) {
        return false;
    }
    let wide = Target::Path { path, glob, recursive: true };
    is_protected(&wide, &scene.view)
}

/// A directory of the project like any other, in which a client would read settings only where it is started there.
fn is_work(path: &str, places: &Places) -> bool {
    let hidden = path.rsplit('/').next().is_some_and(|name| name.starts_with('.'));
    let holds = |place: &Protected| {
        let above = || place.path.rsplit_once('/').is_some_and(|(above, _)| above == path);
        inside(path, &place.path) || hidden && above()
    };
    places.roots().any(|root| path != root && inside(path, root)) && !places.protected.iter().any(holds)
}

/// Whether an archiver takes out, by the letters that tar and cpio have for it; the others do nothing else here.
fn unpacks(inv: &Invocation) -> bool {
    match inv.program.as_str() {
        "tar" | "bsdtar" | "cpio" => {
            let bundle = inv.args.first().is_some_and(|arg| {
                let text = arg.prefix();
                !text.starts_with('-') && text.contains('x')
            });
            bundle || ["-x", "--extract", "--get", "-i"].iter().any(|flag| has_flag(inv, flag))
        }
        _ => true,
    }
}

fn own_commands(inv: &Invocation) -> bool {
    let words = inv.args.iter().map(Arg::known);
    // What its words do reaches other machines.
    let is_fleet = inv.program == "lazaret-fleet";
    !if is_fleet { own_commands::only_asks(words) } else { own_commands::is_for_agents(words) }
}

fn variables(inv: &Invocation) -> bool {
    let guarding = |text: &str| {
        ["LAZARET_", "CLAUDE_CONFIG_DIR", "ANTHROPIC_BASE_URL", "CLAUDE_CODE_DISABLE", "OPENCODE_CONFIG"]
            .into_iter()
            .chain(Client::ALL.into_iter().filter_map(|client| client.about().variable))
            .any(|name| text.starts_with(name))
    };
    let sets = match inv.program.as_str() {
        "launchctl" => {
            inv.args.first().and_then(Arg::known).is_some_and(|word| matches!(word, "setenv" | "unsetenv"))
        }
        "systemctl" => {
            inv.args.iter().any(|arg| matches!(arg.known(), Some("set-environment" | "unset-environment")))
        }
        _ => true,
    };
    sets && inv.args.iter().any(|arg| guarding(arg.prefix()))
}

fn hooks_disabled<'a>(scene: &Scene<'a>) -> Found<'a> {
    let json = |path: &str| path.ends_with(".json") || path.ends_with(".jsonc") || path.ends_with(".json5");
    match &scene.view.call.action {
        Action::Write { path, content, long } | Action::Edit { path, content, long } => {
            let settings = contains_word(path, "/.claude/") && json(path);
            if json(path) && squeeze(content).contains("disableAllHooks") {
                return Found::yes(path);
            }
            // Longer than we look: only a settings file would be worth hiding it in.
            if long.is_some() && settings { Found::unsure(path) } else { Found::No }
        }
        Action::Shell { command, .. } => {
            if !command.contains("disableAllHooks") {
                return Found::No;
            }
            let written = scene
                .effects()
                .find(|(effect, _)| WRITES.contains(&effect.kind) && json(effect.target.text()));
            written.map_or(Found::No, |_| Found::yes(command))
        }
        // The client's own tool for its settings.
        Action::Other { text, .. } => {
            let sets = scene.view.call.tool.name() == "Config" && text.contains("\"value\"");
            let of_hooks = || text.to_ascii_lowercase().contains("hooks");
            if sets && of_hooks() { Found::yes(text) } else { Found::No }
        }
        _ => Found::No,
    }
}

#[cfg(test)]
mod tests {
    use super::is_work;
    use crate::domain::{Places, Protected, ProtectedKind};

    #[test]
    fn a_directory_of_the_project_is_work_and_those_of_clients_are_not() {
        let place =
            |path: &str, tree| Protected { path: path.to_owned(), tree, kind: ProtectedKind::ClientSettings };
        let places = Places {
            home: Some("/home/u".to_owned()),
            repo: Some("/home/u/proj".to_owned()),
            protected: vec![
                place("/home/u/proj/sub/.claude/settings.json", false),
                place("/home/u/proj/sub/opencode.json", false),
                place("/home/u/proj/.claude/plugins", true),
            ],
            ..Places::default()
        };
        for path in ["/home/u/proj/sub", "/home/u/proj/sub/deep", "/home/u/proj/.github"] {
            assert!(is_work(path, &places), "{path}");
        }
        for path in [
            "/home/u/proj",
            "/home/u/other",
            "/home/u/proj/sub/.claude",
            "/home/u/proj/.claude/plugins",
            "/home/u/proj/.claude/plugins/x",
        ] {
            assert!(!is_work(path, &places), "{path}");
        }
    }
}
