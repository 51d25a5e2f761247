//! Codex under examination: its version, whether its files have it ask lazaret, what is registered, and what that answers.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::probe::{MUST_BLOCK, MUST_PASS};
use super::report::Report;
use super::{ANEW, Examined, PROBE, machine};
use crate::adapters::codex::registration::{self, Registered};
use crate::adapters::codex::stands::{self, Files};
use crate::cli::install::shown;
use crate::domain::Client;
use crate::host::registration::hooks::Version;
use crate::host::registration::process::{self, End};
use crate::host::registration::{Surroundings, clients, files, plain};

const SUBJECT: &str = "codex";
const FIX: &str = "lazaret install codex";
/// The first Codex with hooks before calls, and the one on which all of this was seen.
const FIRST: Version = Version { major: 0, minor: 124, patch: 0 };
const SEEN: Version = Version { major: 0, minor: 171, patch: 0 };

pub fn examine(examined: &Examined<'_>, report: &mut Report) {
    let here = examined.here;
    version(here, report);
    let Ok(dir) = here.client_dir(Client::Codex) else {
        return report.fail(SUBJECT, "there is no home directory", "set HOME");
    };
    let read = |path: PathBuf| files::read(&path).ok().flatten();
    let hooks = dir.join("hooks.json");
    let mut paths = vec![hooks.display().to_string()];
    paths.extend(dir.canonicalize().ok().map(|dir| dir.join("hooks.json").display().to_string()));
    let seen = Files {
        paths,
        hooks: read(hooks.clone()),
        config: read(dir.join("config.toml")),
        projects: projects(here, &dir),
        requirements: read(here.codex_managed.clone()),
    };
    let required = stands::requires(seen.requirements.as_deref().unwrap_or_default());
    match stands::falls(&seen) {
        Some(why) => report.fail(SUBJECT, format!("calls run unchecked: {why}"), FIX),
        None if required => {
            report.ok(SUBJECT, format!("{}: required for every user", shown(&here.codex_managed)))
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

fn version(here: &Surroundings, report: &mut Report) {
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
fn gate(text: &str, required: bool) -> Option<(String, Registered)> {
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

fn proven(examined: &Examined<'_>, command: &str, found: &Registered, required: bool, report: &mut Report) {
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
