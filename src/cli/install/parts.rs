//! What each client gets: Claude Code the hooks, OpenCode the plugin, both the quarantined reviewer. Works out the new text
//! of each file; changes none.

use std::path::PathBuf;

use serde_json::Value;

use super::change::{Change, Existing, shown};
use crate::domain::{Client, Fault, FaultKind};
use crate::host::registration::hooks::{self, BIN_MARKER, Form};
use crate::host::registration::manifest::{Kind, Manifest};
use crate::host::registration::{Scope, Surroundings, clients, files, settings};

const CLAUDE_AGENT: &str = include_str!("../../../adapters/claude-code/agents/quarantine-reviewer.md");
/// What Claude Code's definition says of the agent's name and tools, and OpenCode's in its place.
const FOR_OPENCODE: [(&str, &str); 2] = [
    ("name: quarantine-reviewer\n", ""),
    (
        "tools: Read, Grep, Glob\n",
        "mode: subagent\npermission:\n  \"*\": deny\n  read: allow\n  grep: allow\n  glob: allow\n  external_directory: allow\n",
    ),
];
const AGENT_FILE: &str = "agents/quarantine-reviewer.md";
/// Stands in the plugin for the places that the binary is given.
const PLACES_MARKER: &str = "const PLACES = []\n";
/// The plugin for OpenCode, with the marker for the binary's path in it.
const PLUGIN: &str = include_str!("../../../adapters/opencode/lazaret.js");

/// What is registered, where, and what earlier installs wrote.
pub struct Registering<'a> {
    pub bin: &'a str,
    pub scope: Scope,
    pub here: &'a Surroundings,
    pub manifest: &'a Manifest,
}

/// The changes for Claude Code.
pub fn claude_code(registering: &Registering<'_>) -> Result<(Vec<Change>, String), Fault> {
    let Registering { bin, scope, here, manifest } = *registering;
    let version = clients::oldest_version(Client::ClaudeCode, here);
    let form = Form::for_client(version);
    let told = version.map_or_else(|| "version not known".to_owned(), |version| version.to_string());
    let told = format!(" ({told}): {}", form.name());
    let path = scope.claude_settings(here)?;
    let old = files::read(&path)?;
    let mut recorded = manifest.bins();
    recorded.push(bin.to_owned());
    let wanted = hooks::wanted(bin, places(scope, here), form);
    let new = settings::with(old.as_deref().unwrap_or_default(), &wanted, &recorded).map_err(|unusable| {
        Fault::new(FaultKind::Config, shown(&path), format!("{unusable}; it was left as it is"))
            .with_hint("fix the file (claude code reads plain JSON, without comments) and run this again")
    })?;
    let mixed =
        old.as_deref().is_some_and(|old| settings::without(old, &recorded).is_ok_and(|less| less != old));
    let what = format!("the hook for {} events", wanted.len());
    let registration = Change {
        client: Client::ClaudeCode,
        scope,
        path,
        kind: Kind::Settings,
        what,
        bin: Some(bin.to_owned()),
        old,
        new,
        mixed,
        existing: Existing::Replace,
    };
    Ok((of_scope(registration, None, (Client::ClaudeCode, scope), here)?, told))
}

/// The quarantined reviewer's definition, which takes nobody's place.
fn agent(client: Client, scope: Scope, here: &Surroundings) -> Result<Change, Fault> {
    let path = agent_path(client, scope, here)?;
    let old = files::read(&path)?;
    Ok(Change {
        client,
        scope,
        path,
        kind: Kind::Whole,
        what: "the quarantined reviewer".to_owned(),
        bin: None,
        old,
        new: agent_for(client),
        mixed: false,
        existing: Existing::Keep,
    })
}

/// The changes for OpenCode.
pub fn opencode(registering: &Registering<'_>) -> Result<(Vec<Change>, String), Fault> {
    let Registering { bin, scope, here, .. } = *registering;
    let path = scope.opencode_plugin(here)?;
    let old = files::read(&path)?;
    let plugin = Change {
        client: Client::OpenCode,
        scope,
        path,
        kind: Kind::Whole,
        what: "the plugin".to_owned(),
        bin: Some(bin.to_owned()),
        old,
        new: plugin_for(bin, places(scope, here)),
        mixed: false,
        existing: Existing::Replace,
    };
    let named = if scope == Scope::System { Some(naming_plugin(here)?) } else { None };
    Ok((of_scope(plugin, named, (Client::OpenCode, scope), here)?, ": plugin".to_owned()))
}

/// What belongs together: of a user also the reviewer's definition, which is looked for in users' and projects' directories alone.
fn of_scope(
    first: Change,
    second: Option<Change>,
    (client, scope): (Client, Scope),
    here: &Surroundings,
) -> Result<Vec<Change>, Fault> {
    let mut changes = vec![first];
    changes.extend(second);
    if scope != Scope::System {
        changes.push(agent(client, scope, here)?);
    }
    Ok(changes)
}

/// The places that a registration gives: one for every user gives none, so that each user's own count.
fn places(scope: Scope, here: &Surroundings) -> &[String] {
    if scope == Scope::System { &[] } else { &here.places }
}

/// OpenCode's managed configuration with our plugin among those that it names.
fn naming_plugin(here: &Surroundings) -> Result<Change, Fault> {
    let (path, url) = (here.opencode_managed_file(), here.managed_plugin_url()?);
    let old = files::read(&path)?;
    let unusable = |unusable: settings::Unusable| {
        Fault::new(FaultKind::Config, shown(&path), format!("{unusable}; it was left as it is"))
            .with_hint("fix the file (plain JSON, without comments) and run this again")
    };
    let new = settings::with_plugin(old.as_deref().unwrap_or_default(), &url).map_err(unusable)?;
    Ok(Change {
        client: Client::OpenCode,
        scope: Scope::System,
        path,
        kind: Kind::Plugins,
        what: "the plugin's name".to_owned(),
        bin: None,
        old,
        new,
        mixed: false,
        existing: Existing::Replace,
    })
}

/// The plugin's text for a binary and the places that it is given.
pub fn plugin_for(bin: &str, places: &[String]) -> String {
    let marker = Value::from(BIN_MARKER).to_string();
    let text = PLUGIN.replacen(&marker, &Value::from(bin).to_string(), 1);
    text.replacen(PLACES_MARKER, &format!("const PLACES = {}\n", Value::from(places)), 1)
}

/// The binary in a plugin that is ours byte for byte, and the places that it is given.
pub fn program_in(text: &str) -> Option<(String, Vec<String>)> {
    let after = |name: &str| {
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix("const ")?.strip_prefix(name)?.strip_prefix(" = "))?;
        serde_json::from_str::<Value>(line).ok()
    };
    let bin = after("BIN")?.as_str()?.to_owned();
    let places: Option<Vec<String>> =
        after("PLACES")?.as_array()?.iter().map(|place| place.as_str().map(str::to_owned)).collect();
    let places = places?;
    (plugin_for(&bin, &places) == text).then_some((bin, places))
}

/// The quarantined reviewer's definition for a client.
pub fn agent_for(client: Client) -> String {
    let mut text = CLAUDE_AGENT.to_owned();
    if client == Client::OpenCode {
        for (theirs, own) in FOR_OPENCODE {
            text = text.replacen(theirs, own, 1);
        }
    }
    text
}

/// Where the quarantined reviewer's definition goes.
pub fn agent_path(client: Client, scope: Scope, here: &Surroundings) -> Result<PathBuf, Fault> {
    let dir = if client == Client::OpenCode { scope.opencode_dir(here)? } else { scope.claude_dir(here)? };
    Ok(dir.join(AGENT_FILE))
}

#[cfg(test)]
mod tests {
    use super::agent_for;
    use crate::domain::Client;

    #[test]
    fn a_client_gets_the_definition_that_its_adapter_holds() {
        let claude = include_str!("../../../adapters/claude-code/agents/quarantine-reviewer.md");
        let opencode = include_str!("../../../adapters/opencode/agents/quarantine-reviewer.md");
        assert_eq!(agent_for(Client::ClaudeCode), claude);
        assert_eq!(agent_for(Client::OpenCode), opencode);
    }
}
