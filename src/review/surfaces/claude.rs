//! Settings of Claude Code: the hooks, helpers, servers, plugins and variables by which it runs or obeys something new.

use serde_json::Value;

use super::settings::{hooks, line, servers};
use crate::domain::Run;

/// Commands whose answer is a key, token or header: with another one the client speaks for somebody else, or to somebody else.
const CREDENTIALS: &[&str] =
    &["apiKeyHelper", "awsAuthRefresh", "awsCredentialExport", "gcpAuthRefresh", "otelHeadersHelper"];
/// Commands that draw or list something.
const COMMANDS: &[&str] = &["fileSuggestion", "statusLine", "subagentStatusLine"];
/// What brings a plugin's hooks, servers and prompts.
const PLUGINS: &[&str] = &["enabledPlugins", "extraKnownMarketplaces"];
/// Variables by which the client, or every program that it starts, runs something else or goes elsewhere: whole names and beginnings.
const VARIABLES: &[&str] = &["BASH_ENV", "ENV", "HOME", "IFS", "PATH", "SHELL", "TMPDIR", "USER"];
const BEGINNINGS: &[&str] = &[
    "ANTHROPIC_",
    "BASH_FUNC_",
    "BUN_",
    "CLAUDE_",
    "DYLD_",
    "GIT_",
    "HTTP",
    "LAZARET_",
    "LD_",
    "NODE_",
    "OPENCODE_",
    "PERL5",
    "PYTHON",
    "RUBY",
    "SSL_",
    "XDG_",
    "http",
];
/// Those among them that choose a model, a bound or a way to print.
const QUIET: &[&str] = &[
    "CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR",
    "CLAUDE_CODE_ENABLE_TELEMETRY",
    "CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS",
    "GIT_AUTHOR_EMAIL",
    "GIT_AUTHOR_NAME",
    "GIT_COMMITTER_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_TERMINAL_PROMPT",
    "NODE_ENV",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONIOENCODING",
    "PYTHONUNBUFFERED",
    "PYTHONUTF8",
];
const QUIET_ENDS: &[&str] = &["_MODEL", "_TOKENS", "_MS"];

/// All that these settings have the client run, load or obey.
pub fn started(settings: &Value) -> Vec<Run> {
    let set = |name: &&'static str| {
        settings.get(*name).filter(|value| !is_nothing(value)).map(|value| (*name, value))
    };
    let mut runs = settings.get("hooks").map(hooks).unwrap_or_default();
    runs.extend(CREDENTIALS.iter().filter_map(set).map(|(name, value)| {
        Run::Always(format!("{name} gives the client the key that it speaks with: {value}"))
    }));
    for (_, value) in COMMANDS.iter().filter_map(set) {
        runs.extend(line(value));
    }
    runs.extend(settings.get("mcpServers").map(servers).unwrap_or_default());
    for (name, value) in PLUGINS.iter().filter_map(set) {
        runs.push(Run::Always(format!("{name} has the client load a plugin with its hooks: {value}")));
    }
    for (name, value) in settings.get("env").and_then(Value::as_object).into_iter().flatten() {
        if is_obeyed(name) {
            runs.push(Run::Always(format!(
                "the client and what it starts obey the variable {name}: {value}"
            )));
        }
    }
    runs
}

fn is_obeyed(name: &str) -> bool {
    let obeyed = VARIABLES.contains(&name) || BEGINNINGS.iter().any(|begin| name.starts_with(begin));
    let quiet = QUIET.contains(&name) || QUIET_ENDS.iter().any(|end| name.ends_with(end));
    obeyed && !quiet
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(list) => list.is_empty(),
        Value::Object(members) => members.values().all(is_nothing),
        Value::String(text) => text.is_empty(),
        Value::Bool(true) | Value::Number(_) => false,
    }
}
