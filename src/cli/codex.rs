//! Codex's files: what install puts into them, what is taken out again, and whether they hold the gate.

use std::path::{Path, PathBuf};

use crate::adapters::codex::{registration, stands};
use crate::cli::install::{Change, Existing, Registering, shown};
use crate::domain::{Client, Content, Fault, FaultKind, join};
use crate::host::dirs::Environment;
use crate::host::registration::hooks::{self, Wanted};
use crate::host::registration::manifest::Kind;
use crate::host::registration::settings::{self, Hook, Unusable};
use crate::host::registration::{Scope, Surroundings, clients, files};
use crate::host::watch;

const HOOKS: &str = "hooks.json";
const CONFIG: &str = "config.toml";

/// The changes of an installation: the hooks and the trust in them of a user, or the requirements of the machine.
pub fn changes(registering: &Registering<'_>) -> Result<(Vec<Change>, String), Fault> {
    let Registering { bin, scope, here, .. } = *registering;
    let version = clients::oldest_version(Client::Codex, here);
    let version = version.map_or_else(|| "version not known".to_owned(), |version| version.to_string());
    let odd = std::iter::once(bin).chain(here.places.iter().map(String::as_str));
    if let Some(odd) = odd.into_iter().find(|word| !registration::can_be_carried(word)) {
        return Err(Fault::new(
            FaultKind::Config,
            shown(Path::new(odd)),
            "no shell command of Codex's can carry it",
        ));
    }
    match scope {
        Scope::User => Ok((of_user(registering)?, format!(" ({version}): shell form, trusted"))),
        Scope::System => Ok((vec![of_machine(bin, here)?], format!(" ({version}): shell form, required"))),
        // A project's own hooks count once every user trusts them.
        Scope::Project | Scope::Local => {
            Ok((Vec::new(), ": registered for a user or for every user alone".to_owned()))
        }
    }
}

fn of_user(registering: &Registering<'_>) -> Result<Vec<Change>, Fault> {
    let Registering { bin, here, manifest, .. } = *registering;
    let dir = here.client_dir(Client::Codex)?;
    let mut recorded = manifest.bins();
    recorded.push(bin.to_owned());
    let wanted = registration::EVENTS.map(|(event, _)| Wanted {
        event: event.to_owned(),
        group: serde_json::json!({"hooks": [registration::entry(bin, &here.places, event)]}),
    });
    let path = dir.join(HOOKS);
    let old = files::read(&path)?;
    let new =
        settings::with_ours(old.as_deref().unwrap_or_default(), &wanted, &|hook| is_ours(hook, &recorded))
            .map_err(|unusable| left(&path, &unusable.to_string()))?;
    let config = dir.join(CONFIG);
    let before = files::read(&config)?;
    let trusted: Vec<_> = named(&path).iter().flat_map(|name| registration::trusted(name, &new)).collect();
    let trusting = registration::with_trust(before.as_deref().unwrap_or_default(), &trusted)
        .map_err(|registration::Unusable(why)| left(&config, &why))?;
    let mixed = |old: &Option<String>, file: &Path| {
        old.as_deref().is_some_and(|old| without(file, old, &recorded, here).is_ok_and(|less| less != old))
    };
    let change = |path: PathBuf, what: &str, old: Option<String>, new: String| Change {
        client: Client::Codex,
        scope: Scope::User,
        kind: Kind::Settings,
        what: what.to_owned(),
        bin: Some(bin.to_owned()),
        mixed: mixed(&old, &path),
        path,
        old,
        new,
        existing: Existing::Replace,
    };
    let hooks = change(path, &format!("the hook for {} events", wanted.len()), old, new);
    Ok(vec![hooks, change(config, "trust in these hooks", before, trusting)])
}

fn of_machine(bin: &str, here: &Surroundings) -> Result<Change, Fault> {
    let path = here.codex_managed.clone();
    let old = files::read(&path)?;
    let new = registration::with_requirements(old.as_deref().unwrap_or_default(), bin)
        .map_err(|registration::Unusable(why)| left(&path, &why))?;
    Ok(Change {
        client: Client::Codex,
        scope: Scope::System,
        mixed: old.as_deref().is_some_and(|old| registration::without(old) != old),
        path,
        kind: Kind::Settings,
        what: "the hooks, required".to_owned(),
        bin: Some(bin.to_owned()),
        old,
        new,
        existing: Existing::Replace,
    })
}

fn left(path: &Path, why: &str) -> Fault {
    Fault::new(FaultKind::Config, shown(path), format!("{why}; it was left as it is"))
        .with_hint("fix the file and run this again")
}

fn is_ours(hook: &Hook, recorded: &[String]) -> bool {
    let command = hook.entry.get("command").and_then(serde_json::Value::as_str);
    let found = command.and_then(registration::registered);
    found.is_some_and(|found| hooks::is_lazaret(&found.bin, recorded))
}

/// The names that Codex may have for a file: the one it was given, and the one behind links.
fn named(path: &Path) -> Vec<String> {
    let mut names = vec![path.to_string_lossy().into_owned()];
    let real = path.parent().and_then(|dir| dir.canonicalize().ok()).map(|dir| dir.join(HOOKS));
    names.extend(real.map(|real| real.to_string_lossy().into_owned()).filter(|real| *real != names.concat()));
    names
}

/// The files that a registration stands in.
pub fn places(scope: Scope, here: &Surroundings) -> Vec<(PathBuf, Kind)> {
    match (scope, here.client_dir(Client::Codex)) {
        (Scope::User, Ok(dir)) => [HOOKS, CONFIG].map(|name| (dir.join(name), Kind::Settings)).to_vec(),
        (Scope::System, _) => vec![(here.codex_managed.clone(), Kind::Settings)],
        (Scope::User | Scope::Project | Scope::Local, _) => Vec::new(),
    }
}

/// One of them without what is ours.
pub fn without(path: &Path, text: &str, recorded: &[String], _: &Surroundings) -> Result<String, Unusable> {
    if path.extension().is_some_and(|end| end == "toml") {
        return Ok(registration::without(text));
    }
    settings::without_ours(text, &|hook| is_ours(hook, recorded))
}

/// The files of a registration for every user, the binary among them.
pub fn managed(here: &Surroundings) -> Option<Vec<PathBuf>> {
    let text = files::read(&here.codex_managed).ok()??;
    let bin = stands::required_bin(&text).filter(|_| stands::requires(&text))?;
    Some(vec![here.codex_managed.clone(), PathBuf::from(bin)])
}

/// Why Codex would not ask before every call in a session in `project`; `instead`: another content of a file than it has.
pub fn falls(env: &Environment, project: &str, instead: impl Fn(&str) -> Option<Content>) -> Option<String> {
    let text = |path: &str| {
        let content = instead(path).unwrap_or_else(|| watch::read(path));
        content.bytes().map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    };
    let dir = env.codex_dir();
    let hooks = join(&dir, HOOKS);
    let of_project = join(project, ".codex/config.toml");
    let files = stands::Files {
        paths: named(Path::new(&hooks)),
        hooks: text(&hooks),
        config: text(&join(&dir, CONFIG)),
        projects: text(&of_project).map(|text| (of_project, text)).into_iter().collect(),
        requirements: text("/etc/codex/requirements.toml"),
    };
    stands::falls(&files)
}
