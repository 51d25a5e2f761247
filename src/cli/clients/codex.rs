//! Codex's files: what install puts into them, what is taken out again, whether they hold the gate, and the proof of it.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::adapters::codex::{registration, stands};
use crate::cli::doctor::{ANEW, Examined, MUST_BLOCK, MUST_PASS, PROBE, Report, machine};
use crate::cli::install::{Change, Existing, Registering, shown};
use crate::domain::{Client, Content, Fault, FaultKind, join};
use crate::host::dirs::Environment;
use crate::host::registration::hooks::{self, Version, Wanted};
use crate::host::registration::manifest::Kind;
use crate::host::registration::process::{self, End};
use crate::host::registration::settings::{self, Hook, Unusable};
use crate::host::registration::{Scope, Surroundings, clients, files, plain};
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
        group: json!({"hooks": [registration::entry(bin, &here.places, event)]}),
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
    let path = managed_file(here);
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
    let command = hook.entry.get("command").and_then(Value::as_str);
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
        (Scope::System, _) => vec![(managed_file(here), Kind::Settings)],
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

/// What is required of every user.
fn managed_file(here: &Surroundings) -> PathBuf {
    here.managed_dir(Client::Codex).join("requirements.toml")
}

/// The files of a registration for every user, the binary among them.
pub fn managed(here: &Surroundings) -> Option<Vec<PathBuf>> {
    let text = files::read(&managed_file(here)).ok()??;
    let bin = stands::required_bin(&text).filter(|_| stands::requires(&text))?;
    Some(vec![managed_file(here), PathBuf::from(bin)])
}

/// Why Codex would not ask before every call in a session in `project`; `instead`: another content of a file than it has.
pub fn falls(env: &Environment, project: &str, instead: &dyn Fn(&str) -> Option<Content>) -> Option<String> {
    let text = |path: &str| {
        let content = instead(path).unwrap_or_else(|| watch::read(path));
        content.bytes().map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    };
    let dir = env.home_of(Client::Codex);
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

const SUBJECT: &str = "codex";
const FIX: &str = "lazaret install codex";
/// The first Codex with hooks before calls, and the one on which all of this was seen.
const FIRST: Version = Version { major: 0, minor: 124, patch: 0 };
const SEEN: Version = Version { major: 0, minor: 171, patch: 0 };

pub fn examine(examined: &Examined<'_>, report: &mut Report) {
    let here = examined.here;
    version_of_client(here, report);
    let Ok(dir) = here.client_dir(Client::Codex) else {
        return report.fail(SUBJECT, "there is no home directory", "set HOME");
    };
    let read = |path: PathBuf| files::read(&path).ok().flatten();
    let hooks = dir.join("hooks.json");
    let mut paths = vec![hooks.display().to_string()];
    paths.extend(dir.canonicalize().ok().map(|dir| dir.join("hooks.json").display().to_string()));
    let seen = stands::Files {
        paths,
        hooks: read(hooks.clone()),
        config: read(dir.join("config.toml")),
        projects: projects(here, &dir),
        requirements: read(managed_file(here)),
    };
    let required = stands::requires(seen.requirements.as_deref().unwrap_or_default());
    match stands::falls(&seen) {
        Some(why) => report.fail(SUBJECT, format!("calls run unchecked: {why}"), FIX),
        None if required => {
            report.ok(SUBJECT, format!("{}: required for every user", shown(&managed_file(here))))
        }
        None => {
            report.ok(SUBJECT, format!("{}: registered and trusted", shown(&hooks)));
            let message = "started with --disable hooks, -c, -p or --ignore-user-config, it asks no hook; a registration for every user stands then, too";
            report.note_with(SUBJECT, message, "sudo lazaret install codex --scope system");
        }
    }
    let text = if required { seen.requirements.clone() } else { seen.hooks.clone() }.unwrap_or_default();
    if let Some((command, found)) = gate(&text, required) {
        proven(examined, &command, &found, required, report);
    }
    others(seen.hooks.as_deref().unwrap_or_default(), &hooks, report);
}

fn version_of_client(here: &Surroundings, report: &mut Report) {
    let found = clients::executables(Client::Codex, here);
    match (found.first(), clients::oldest_version(Client::Codex, here)) {
        (None, _) => report.note(SUBJECT, "no codex on PATH; examined for the one that reads this directory"),
        (Some(first), None) => report.note(SUBJECT, format!("{} does not tell its version", shown(first))),
        (Some(first), Some(version)) if version < FIRST => {
            let message = format!("version {version} ({}) asks no hook before a call", shown(first));
            report.fail(SUBJECT, message, &format!("codex update: {SEEN} or later"));
        }
        (Some(first), Some(version)) if version < SEEN => {
            let message =
                format!("version {version} ({}): what lazaret relies on was seen on {SEEN}", shown(first));
            report.note_with(SUBJECT, message, "codex update");
        }
        (Some(first), Some(version)) => report.ok(SUBJECT, format!("version {version} ({})", shown(first))),
    }
}

/// The configurations of this project's directories, and the profiles that a session may be started with.
fn projects(here: &Surroundings, dir: &Path) -> Vec<(String, String)> {
    let above = here.cwd.ancestors().map(|above| above.join(".codex/config.toml"));
    let profiles = std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    let profiles = profiles.filter(|path| path.to_string_lossy().ends_with(".config.toml"));
    let all = above.filter(|path| *path != dir.join("config.toml")).chain(profiles);
    all.filter_map(|path| Some((shown(&path), files::read(&path).ok()??))).collect()
}

/// The command of the gate, and what it starts.
fn gate(text: &str, required: bool) -> Option<(String, registration::Registered)> {
    let value: Value = match required {
        true => serde_json::to_value(text.parse::<toml::Table>().ok()?).ok()?,
        false => serde_json::from_str(text).ok()?,
    };
    let groups = value.pointer("/hooks/PreToolUse")?.as_array()?;
    let mut entries = groups.iter().filter_map(|group| group.get("hooks")?.as_array()).flatten();
    entries.find_map(|entry| {
        let command = entry.get("command")?.as_str()?;
        Some((command.to_owned(), registration::registered(command).filter(|found| found.closes)?))
    })
}

fn proven(
    examined: &Examined<'_>,
    command: &str,
    found: &registration::Registered,
    required: bool,
    report: &mut Report,
) {
    let here = examined.here;
    if !required {
        machine::given(&found.places, here, (SUBJECT, FIX), report);
    }
    let bin = PathBuf::from(&found.bin);
    if !examined.is_expected(&bin) {
        report.fail(SUBJECT, format!("it points elsewhere: {}", shown(&bin)), FIX);
    }
    if !machine::binary(&bin, FIX, report) {
        return;
    }
    let session = format!("{PROBE}{}", uuid::Uuid::new_v4());
    let ask = |call: &str| {
        let message = json!({
            "session_id": session, "turn_id": session, "transcript_path": null, "cwd": here.cwd, "model": "none",
            "hook_event_name": "PreToolUse", "permission_mode": "default", "tool_name": "Bash",
            "tool_input": {"command": call}, "tool_use_id": "call_lazaret_doctor",
        });
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", command]).current_dir(&here.cwd);
        process::run(&mut shell, &message.to_string(), examined.options.patience)
            .map_err(|error| format!("cannot be started: {}", plain(&error)))
    };
    let judged = ask(MUST_BLOCK).and_then(|ran| match ran.end {
        End::Exit(2) if ran.stderr.contains("lazaret blocked this call") => Ok(()),
        end => Err(format!("`{MUST_BLOCK}` must be blocked; instead: {end} {}", ran.stderr.trim())),
    });
    let judged = judged.and_then(|()| ask(MUST_PASS)).and_then(|ran| match ran.end {
        End::Exit(0) if ran.stdout.starts_with("{\"continue\":true") => Ok(()),
        end => Err(format!("`{MUST_PASS}` must pass; instead: {end} {}", ran.stderr.trim())),
    });
    match judged {
        Ok(()) => report.ok(SUBJECT, format!("`{MUST_BLOCK}` is blocked, `{MUST_PASS}` passes")),
        Err(why) => report.fail(SUBJECT, why, &format!("{ANEW}, then: {FIX}")),
    }
}

/// Other hooks before a call: what they change in it is run as it is.
fn others(text: &str, path: &Path, report: &mut Report) {
    let value: Value = serde_json::from_str(text).unwrap_or_default();
    let groups = value.pointer("/hooks/PreToolUse").and_then(Value::as_array);
    let entries = groups.into_iter().flatten().filter_map(|group| group.get("hooks")?.as_array()).flatten();
    let strange = |entry: &&Value| {
        let command = entry.get("command").and_then(Value::as_str);
        command.and_then(registration::registered).is_none()
    };
    let count = entries.filter(strange).count();
    if count > 0 {
        let message = format!(
            "{}: {count} other hooks are asked before a call; what one changes in it is not judged",
            shown(path)
        );
        report.note(SUBJECT, message);
    }
}
