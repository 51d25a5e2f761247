//! OpenCode under examination: where the plugin is, whether it is ours, and what it does when it is loaded and asked.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use super::probe::{MUST_BLOCK, MUST_PASS};
use super::report::Report;
use super::{Examined, machine, standing};
use crate::cli::install::{program_in, shown};
use crate::domain::{Client, clip, escape};
use crate::host::registration::hooks::Version;
use crate::host::registration::process::{self, End};
use crate::host::registration::{Surroundings, clients, files, plain};

const SUBJECT: &str = "opencode";
const FIX: &str = "lazaret install opencode";
/// Loads a plugin as the client does, and asks it about two calls.
const DRIVER: &str = include_str!("opencode-probe.mjs");
/// What can load the plugin in the client's stead.
const RUNTIMES: [(&str, &[&str]); 2] = [("node", &["--input-type=module", "-e"]), ("bun", &["-e"])];
/// Both spellings of the directory are loaded.
const PLUGIN_DIRS: [&str; 2] = ["plugin", "plugins"];
const PLUGIN_FILE: &str = "lazaret.js";
/// The first OpenCode that loads a plugin with both entry points; an older one goes on unguarded.
const FIRST_TO_LOAD: Version = Version { major: 1, minor: 18, patch: 29 };
/// For the runtime's own start.
const START: Duration = Duration::from_secs(10);

/// What the driver found.
#[derive(Debug, Deserialize)]
struct Found {
    /// Why the plugin could not be loaded or asked.
    error: Option<String>,
    /// What was thrown at the call that must be blocked.
    blocked: Option<String>,
    /// What was thrown at the call that must pass.
    stopped: Option<String>,
    /// Whether the call that must pass was changed.
    changed: bool,
}

pub fn examine(examined: &Examined<'_>, report: &mut Report) {
    if let Some(found) = clients::opencode_2(examined.here).first() {
        let message = format!("OpenCode 2 is here ({}), and the plugin is not proven there", shown(found));
        report.note_with(SUBJECT, message, "see docs/install.md; use OpenCode 1 where the gate must hold");
    }
    client(examined.here, report);
    let plugins = plugins(examined.here);
    let Some(first) = plugins.first() else {
        return report.fail(SUBJECT, "the plugin is not installed: calls run unchecked", FIX);
    };
    if plugins.len() > 1 {
        let places: Vec<String> = plugins.iter().map(|path| shown(path)).collect();
        let message = format!("the plugin is there {} times: each call is counted as often", plugins.len());
        report.fail(SUBJECT, format!("{message} ({})", places.join(", ")), "remove all but one of them");
    }
    for plugin in &plugins {
        one_plugin(examined, plugin, report);
    }
    report.note(SUBJECT, format!("a running session keeps the plugin it started with ({})", shown(first)));
}

/// Whether the client is one that loads the plugin.
fn client(here: &Surroundings, report: &mut Report) {
    let found = clients::executables(Client::OpenCode, here);
    match (found.first(), clients::oldest_version(Client::OpenCode, here)) {
        (None, _) => {
            report.note(SUBJECT, "no opencode on PATH; examined for the one that reads this directory")
        }
        (Some(first), None) => report.note(SUBJECT, format!("{} does not tell its version", shown(first))),
        (Some(first), Some(version)) if version < FIRST_TO_LOAD => {
            let message = format!("version {version} ({}) does not load the plugin", shown(first));
            report.fail(SUBJECT, message, &format!("opencode upgrade: {FIRST_TO_LOAD} or later"));
        }
        (Some(first), Some(version)) => report.ok(SUBJECT, format!("version {version} ({})", shown(first))),
    }
}

/// Every place from which the client would load our plugin, each once.
fn plugins(here: &Surroundings) -> Vec<PathBuf> {
    let mut dirs: Vec<PathBuf> = here.opencode_dir().into_iter().collect();
    dirs.extend(here.home.iter().map(|home| home.join(".opencode")));
    dirs.extend(here.opencode_config_dir.clone());
    dirs.extend(here.cwd.ancestors().map(|dir| dir.join(".opencode")));
    let mut found: Vec<PathBuf> =
        standing::managed_plugin(here).into_iter().map(|(_, plugin)| plugin).collect();
    for file in dirs.iter().flat_map(|dir| PLUGIN_DIRS.map(|sub| dir.join(sub).join(PLUGIN_FILE))) {
        if file.exists() && !found.contains(&file) {
            found.push(file);
        }
    }
    found
}

fn one_plugin(examined: &Examined<'_>, plugin: &Path, report: &mut Report) {
    let name = shown(plugin);
    let text = match files::read(plugin) {
        Ok(text) => text.unwrap_or_default(),
        Err(fault) => return report.fail(SUBJECT, fault.to_string(), FIX),
    };
    let Some((bin, places)) = program_in(&text) else {
        return report.fail(SUBJECT, format!("{name} is not the plugin of this lazaret"), FIX);
    };
    let bin = PathBuf::from(bin);
    if !examined.is_expected(&bin) {
        report.fail(SUBJECT, format!("{name} points elsewhere: {}", shown(&bin)), FIX);
    }
    machine::given(&places, examined.here, (SUBJECT, FIX), report);
    if !machine::binary(&bin, FIX, report) {
        return;
    }
    let runtime = RUNTIMES.iter().find_map(|(name, args)| {
        let found = clients::find(name, examined.here).into_iter().next()?;
        Some((found, *args))
    });
    let proof = match runtime {
        Some((runtime, args)) => {
            ask_plugin(&runtime, args, plugin, examined).map(|()| format!("loaded by {}", shown(&runtime)))
        }
        None => ask_binary((&bin, &places), examined)
            .map(|()| "its bytes are right and the binary answers".to_owned()),
    };
    match proof {
        Ok(how) => {
            report.ok(SUBJECT, format!("{name}: `{MUST_BLOCK}` is blocked, `{MUST_PASS}` passes ({how})"))
        }
        Err(why) => report.fail(SUBJECT, format!("{name}: {why}"), &format!("{}, then: {FIX}", super::ANEW)),
    }
}

fn ask_plugin(runtime: &Path, args: &[&str], plugin: &Path, examined: &Examined<'_>) -> Result<(), String> {
    let limit = examined.options.patience * 2 + START;
    let mut command = Command::new(runtime);
    command
        .args(args)
        .arg(DRIVER)
        .current_dir(&examined.here.cwd)
        .env("OPENCODE", "1")
        .env("AGENT", "1")
        .env("LAZARET_PROBE_PLUGIN", plugin)
        .env("LAZARET_PROBE_SESSION", format!("{}{}", super::PROBE, uuid::Uuid::new_v4()))
        .env("LAZARET_PROBE_BLOCK", MUST_BLOCK)
        .env("LAZARET_PROBE_PASS", MUST_PASS);
    let ran = process::run(&mut command, "", limit).map_err(|error| plain(&error))?;
    let last = ran.stdout.lines().last().unwrap_or_default();
    let found: Found = match (ran.end, serde_json::from_str(last)) {
        (End::Exit(0), Ok(found)) => found,
        (end, _) => {
            return Err(format!(
                "the plugin could not be asked: {end} {}",
                escape(&clip(ran.stderr.trim(), 200))
            ));
        }
    };
    if let Some(error) = found.error {
        return Err(format!("the plugin does not load: {}", escape(&clip(&error, 200))));
    }
    match (found.blocked, found.stopped) {
        (None, _) => Err(format!("`{MUST_BLOCK}` must be blocked and was let through")),
        (Some(_), Some(why)) => {
            Err(format!("`{MUST_PASS}` must pass; instead: {}", escape(&clip(&why, 200))))
        }
        (Some(_), None) if found.changed => Err(format!("`{MUST_PASS}` must pass unchanged and was changed")),
        (Some(_), None) => Ok(()),
    }
}

/// Without a runtime for the plugin, the binary is asked as the plugin would ask it.
fn ask_binary((bin, places): (&Path, &[String]), examined: &Examined<'_>) -> Result<(), String> {
    let session = format!("{}{}", super::PROBE, uuid::Uuid::new_v4());
    for (call, action, code) in [(MUST_BLOCK, "block", 2), (MUST_PASS, "allow", 0)] {
        let message = json!({
            "event": "tool.execute.before",
            "input": {"tool": "bash", "sessionID": session, "callID": "lazaret-doctor"},
            "output": {"args": {"command": call}},
            "directory": examined.here.cwd.display().to_string(),
            "agent": null,
        });
        let mut command = Command::new(bin);
        command.args(["hook", SUBJECT]).args(places).current_dir(&examined.here.cwd);
        let ran = process::run(&mut command, &message.to_string(), examined.options.patience)
            .map_err(|error| format!("the binary cannot be started: {}", plain(&error)))?;
        let answer: Value = serde_json::from_str(ran.stdout.trim()).unwrap_or_default();
        if ran.end != End::Exit(code) || answer.get("action").and_then(Value::as_str) != Some(action) {
            let told = escape(&clip(ran.stdout.trim(), 200));
            return Err(format!("`{call}` must be answered with {action}; instead: {}, {told}", ran.end));
        }
    }
    Ok(())
}
