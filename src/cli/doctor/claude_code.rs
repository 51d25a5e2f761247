//! Claude Code under examination: every settings file that it reads, what is registered there, and what stands beside it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use super::claude_plugins;
use super::probe::{self, Proof};
use super::report::Report;
use super::{Examined, machine};
use crate::cli::install::shown;
use crate::domain::Client;
use crate::host::registration::hooks::{self, Form, Version};
use crate::host::registration::settings::{self, Hook};
use crate::host::registration::{Scope, clients, files};
use crate::review;

const SUBJECT: &str = "claude-code";
const GATE: &str = "PreToolUse";
/// Events whose hooks can decide about a call beside ours.
const DECIDING: [&str; 2] = [GATE, "PermissionRequest"];

/// One settings file that parses.
struct Source {
    /// None: managed.
    scope: Option<Scope>,
    path: PathBuf,
    value: Value,
    hooks: Vec<Hook>,
    /// The plugin's key and its directory, when these are the hooks of a plugin and the file is none of settings.
    plugin: Option<(String, PathBuf)>,
}

impl Source {
    /// The command that registers anew where this registration stands.
    fn fix(&self) -> String {
        if let Some((key, _)) = &self.plugin {
            return format!("claude plugin update {key}");
        }
        match self.scope {
            None => format!("edit {}", shown(&self.path)),
            Some(Scope::User) => "lazaret install claude-code".to_owned(),
            Some(scope) => format!("lazaret install claude-code --scope {}", scope.name()),
        }
    }
}

pub fn examine(examined: &Examined<'_>, report: &mut Report) {
    let mut sources = sources(examined, report);
    switches(&sources, report);
    plugins(&mut sources, examined, report);
    let version = client(examined, report);
    let gates: Vec<(&Source, &Hook)> = registrations(&sources, GATE).collect();
    if gates.is_empty() {
        let message = "the gate is not registered: calls run unchecked";
        report.fail(SUBJECT, message, "lazaret install claude-code");
        return others(&sources, report);
    }
    let distinct = distinct(&gates, report);
    for (source, hook) in distinct {
        one_registration(examined, version, source, hook, report);
    }
    missing_events(&sources, report);
    others(&sources, report);
}

/// The settings files of all scopes, each once.
fn sources(examined: &Examined<'_>, report: &mut Report) -> Vec<Source> {
    let here = examined.here;
    let scopes = Scope::OF_USERS.into_iter().map(|scope| (Some(scope), scope.claude_settings(here)));
    let places = std::iter::once((None, Ok(here.claude_managed.clone()))).chain(scopes);
    let mut seen: Vec<PathBuf> = Vec::new();
    let mut sources = Vec::new();
    for (scope, path) in places {
        let read = path.and_then(|path| files::read(&path).map(|text| (path, text)));
        let (path, text) = match read {
            Ok((path, Some(text))) if !text.trim().is_empty() => (path, text),
            Ok((_, Some(_) | None)) => continue,
            Err(fault) => {
                report.fail(SUBJECT, fault.to_string(), fault.hint.as_deref().unwrap_or("look at the file"));
                continue;
            }
        };
        let real = path.canonicalize().unwrap_or_else(|_| path.clone());
        if seen.contains(&real) {
            continue;
        }
        seen.push(real);
        match settings::hooks_in(&text) {
            Ok(hooks) => {
                let value = serde_json::from_str(&text).unwrap_or_default();
                sources.push(Source { scope, path, value, hooks, plugin: None });
            }
            Err(unusable) => {
                let message = format!("{}: {unusable}: the client cannot use it", shown(&path));
                report.fail(SUBJECT, message, &format!("edit {}", shown(&path)));
            }
        }
    }
    sources
}

/// Adds what lazaret's plugins register, where they are installed and on.
fn plugins(sources: &mut Vec<Source>, examined: &Examined<'_>, report: &mut Report) {
    // The managed settings stand first, and above all others.
    let settings = sources.iter().skip_while(|source| source.scope.is_none()).map(|source| &source.value);
    let managed = sources.iter().filter(|source| source.scope.is_none()).map(|source| &source.value);
    let enabled = claude_plugins::enabled(settings.chain(managed), examined.here);
    for (key, plugin) in enabled {
        let read = plugin.and_then(|plugin| {
            let hooks = settings::hooks_in(&plugin.hooks)
                .map_err(|unusable| format!("{}: {unusable}", shown(&plugin.hooks_file())))?;
            Ok((plugin, hooks))
        });
        match read {
            Ok((plugin, hooks)) => sources.push(Source {
                scope: None,
                path: plugin.hooks_file(),
                value: Value::Null,
                hooks,
                plugin: Some((plugin.key, plugin.root)),
            }),
            Err(why) => {
                let message = format!("the plugin {key} is on, and its hooks do not run: {why}");
                report.fail(SUBJECT, message, &format!("claude plugin install {key}"));
            }
        }
    }
}

/// What switches hooks off altogether.
fn switches(sources: &[Source], report: &mut Report) {
    for source in sources {
        let on = |key: &str| source.value.get(key).is_some_and(|value| *value != Value::Bool(false));
        let name = shown(&source.path);
        if review::switches_off(&source.value) {
            let message = format!("{name}: \"disableAllHooks\" is set: no hook runs");
            report.fail(SUBJECT, message, &format!("remove \"disableAllHooks\" from {name}"));
        }
        if source.scope.is_none()
            && on("allowManagedHooksOnly")
            && registrations_in(source, GATE).next().is_none()
        {
            let message =
                format!("{name}: \"allowManagedHooksOnly\" is set, and the gate is not registered there");
            report.fail(SUBJECT, message, "have the gate registered in the managed settings");
        }
        let plugins = source.value.get("enabledPlugins").and_then(Value::as_object);
        let plugin = plugins
            .into_iter()
            .flatten()
            .any(|(key, on)| key.split('@').next() == Some("lazaret") && *on == Value::Bool(true));
        if plugin && sources.iter().any(|source| registrations_in(source, GATE).next().is_some()) {
            let message = format!("{name}: the plugin is on as well: each call is counted twice");
            report.fail(SUBJECT, message, "lazaret uninstall claude-code");
        }
    }
}

/// The version of the client; the oldest when there are several.
fn client(examined: &Examined<'_>, report: &mut Report) -> Option<Version> {
    let found = clients::executables(Client::ClaudeCode, examined.here);
    let version = clients::oldest_version(Client::ClaudeCode, examined.here);
    match (found.first(), version) {
        (None, _) => {
            report.note(SUBJECT, "no claude on PATH; examined for the one that reads these settings")
        }
        (Some(first), None) => report.note(SUBJECT, format!("{} does not tell its version", shown(first))),
        (Some(first), Some(version)) => report.ok(SUBJECT, format!("version {version} ({})", shown(first))),
    }
    version
}

fn registrations<'a>(sources: &'a [Source], event: &'a str) -> impl Iterator<Item = (&'a Source, &'a Hook)> {
    sources.iter().flat_map(move |source| registrations_in(source, event).map(move |hook| (source, hook)))
}

fn registrations_in<'a>(source: &'a Source, event: &'a str) -> impl Iterator<Item = &'a Hook> {
    source.hooks.iter().filter(move |hook| hook.event == event && hooks::looks_like_ours(&hook.entry))
}

/// The registrations that the client runs: of equal ones, one. Several that differ are a fault of their own.
fn distinct<'a>(gates: &[(&'a Source, &'a Hook)], report: &mut Report) -> Vec<(&'a Source, &'a Hook)> {
    let key = |hook: &Hook| (hook.entry.get("command").cloned(), hook.entry.get("args").cloned());
    let mut distinct: Vec<(&Source, &Hook)> = Vec::new();
    for (source, hook) in gates {
        match distinct.iter().find(|(_, other)| key(other) == key(hook)) {
            Some((first, _)) => {
                let message =
                    format!("registered in {} and {}; it runs once", shown(&first.path), shown(&source.path));
                report.note(SUBJECT, message);
            }
            None => distinct.push((source, hook)),
        }
    }
    if let [_, second, ..] = distinct.as_slice() {
        let places: Vec<String> = distinct.iter().map(|(source, _)| shown(&source.path)).collect();
        let count = distinct.len();
        let message =
            format!("registered {count} times ({}): each call is counted {count} times", places.join(", "));
        let scope = second.0.scope.map_or("user", Scope::name);
        report.fail(SUBJECT, message, &format!("lazaret uninstall claude-code --scope {scope}"));
    }
    distinct
}

fn one_registration(
    examined: &Examined<'_>,
    version: Option<Version>,
    source: &Source,
    hook: &Hook,
    report: &mut Report,
) {
    let fix = source.fix();
    let name = shown(&source.path);
    if let Err(why) = covers_everything(hook) {
        report.fail(SUBJECT, format!("{name}: {why}"), &fix);
    }
    if let Err(why) = closes(&hook.entry, version) {
        report.fail(SUBJECT, format!("{name}: {why}"), &fix);
    } else if hooks::binary_of(&hook.entry).is_some_and(|(_, form)| form != Form::for_client(version))
        && version.is_some()
    {
        report.note_with(SUBJECT, format!("{name}: this client can do with the faster exec form"), &fix);
    }
    let limit = match time_out(&hook.entry, examined.deadline) {
        Ok(limit) => limit.map_or(examined.options.patience, |limit| limit.min(examined.options.patience)),
        Err(why) => {
            report.fail(SUBJECT, format!("{name}: {why}"), &fix);
            examined.options.patience
        }
    };
    if let Some(registered) = hooks::registered(&hook.entry) {
        // For every user, and of a plugin, there is one registration: each user has the places of the password database.
        if source.scope.is_some() {
            machine::given(&registered.places, examined.here, (SUBJECT, &fix), report);
        }
        let bin = PathBuf::from(registered.bin);
        let own = source.plugin.as_ref().is_some_and(|(_, root)| bin.starts_with(root));
        if !own && !examined.is_expected(&bin) {
            let message =
                format!("{name} points elsewhere: {}, not {}", shown(&bin), expected_name(examined));
            report.fail(SUBJECT, message, &fix);
        }
        if bin.is_absolute() && !machine::binary(&bin, &fix, report) {
            return;
        }
    } else {
        report.note_with(SUBJECT, format!("{name}: the command is not spelt as install writes it"), &fix);
    }
    match probe::prove(&hook.entry, examined.here, limit) {
        Proof::Closed => {
            let message =
                format!("{name}: `{}` is blocked, `{}` passes", probe::MUST_BLOCK, probe::MUST_PASS);
            report.ok(SUBJECT, message);
        }
        Proof::Open(why) => {
            report.fail(SUBJECT, format!("{name}: {why}"), &format!("{}, then: {fix}", super::ANEW));
        }
    }
}

fn expected_name(examined: &Examined<'_>) -> String {
    examined.expected.first().map_or_else(String::new, |path: &PathBuf| shown(Path::new(path)))
}

/// Whether every call of every tool comes to the hook, and is waited for.
fn covers_everything(hook: &Hook) -> Result<(), String> {
    match &hook.matcher {
        None => {}
        Some(Value::String(matcher)) if ["", "*", ".*"].contains(&matcher.as_str()) => {}
        Some(matcher) => {
            return Err(format!("the matcher {matcher} lets other tools past; it must be \"*\""));
        }
    }
    if hook.entry.get("type").and_then(Value::as_str) != Some("command") {
        return Err("its \"type\" is not \"command\": it does not run".to_owned());
    }
    if hook.entry.get("if").is_some() {
        return Err("it has an \"if\", and what that does not match goes past".to_owned());
    }
    match hook.entry.get("async") {
        None | Some(Value::Bool(false)) => Ok(()),
        Some(_) => Err("it is \"async\": the client does not wait for its answer".to_owned()),
    }
}

/// Whether a binary that is missing or crashes blocks, too, on this client.
fn closes(entry: &Value, version: Option<Version>) -> Result<(), String> {
    let on_failure = entry.get("onFailure").and_then(Value::as_str) == Some("block");
    let known = version.is_some_and(|version| version >= hooks::FIRST_WITH_ON_FAILURE);
    if on_failure && known || hooks::exits_2_on_failure(entry) {
        return Ok(());
    }
    let first = hooks::FIRST_WITH_ON_FAILURE;
    Err(match (on_failure, version) {
        (false, _) => {
            "a hook that crashes lets the call run: neither \"onFailure\" nor `|| exit 2`".to_owned()
        }
        (true, Some(version)) => {
            format!("this client ({version}) does not know \"onFailure\", which came with {first}")
        }
        (true, None) => {
            format!("it relies on \"onFailure\", which came with {first}, and the version is not known")
        }
    })
}

/// The registered time-out, which must leave our own deadline room.
fn time_out(entry: &Value, deadline: Duration) -> Result<Option<Duration>, String> {
    let Some(value) = entry.get("timeout") else { return Ok(None) };
    let seconds =
        value.as_f64().ok_or_else(|| format!("its \"timeout\" is {value}, not a number: it does not run"))?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(limit) if limit > deadline => Ok(Some(limit)),
        Ok(_) | Err(_) => {
            let own = deadline.as_secs_f64();
            Err(format!(
                "its \"timeout\" of {seconds} s is not longer than lazaret's own deadline of {own} s"
            ))
        }
    }
}

fn missing_events(sources: &[Source], report: &mut Report) {
    let missing: Vec<String> =
        hooks::events().into_iter().filter(|event| registrations(sources, event).next().is_none()).collect();
    if missing.is_empty() {
        report.ok(SUBJECT, format!("all {} events are registered", hooks::events().len()));
    } else {
        let message = format!("not registered for {}", missing.join(", "));
        report.fail(SUBJECT, message, "lazaret install claude-code");
    }
}

/// Hooks of others that have a say in the same calls.
fn others(sources: &[Source], report: &mut Report) {
    for source in sources {
        for hook in &source.hooks {
            if DECIDING.contains(&hook.event.as_str()) && !hooks::looks_like_ours(&hook.entry) {
                let command = hook.entry.get("command").and_then(Value::as_str).unwrap_or("(no command)");
                let message = format!(
                    "{}: another {} hook may interfere by answering allow or updatedInput: {}",
                    shown(&source.path),
                    hook.event,
                    crate::domain::clip(command, 120),
                );
                report.note(SUBJECT, message);
            }
        }
    }
}
