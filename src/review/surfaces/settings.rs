//! Settings in JSON that name servers, formatters, plugins and commands.

use serde_json::{Map, Value, json};

use super::markdown::shell_lines;
use super::server;
use crate::domain::{Run, single_quoted};

/// What Claude Code calls the hooks that can answer a call in the gate's stead.
const ANSWERS: [&str; 2] = ["PreToolUse", "PermissionRequest"];

/// Where the packages of providers come from that OpenCode brings or its list of providers (models.dev) names, and single ones.
const SCOPES: [&str; 1] = ["@ai-sdk/"];
const PROVIDERS: [&str; 9] = [
    "@openrouter/ai-sdk-provider",
    "@aihubmix/ai-sdk-provider",
    "@gitlab/gitlab-ai-provider",
    "gitlab-ai-provider",
    "@jerome-benoit/sap-ai-provider",
    "@jerome-benoit/sap-ai-provider-v2",
    "ai-gateway-provider",
    "venice-ai-sdk-provider",
    "ollama-ai-provider-v2",
];

/// The servers of a `.mcp.json`, and of the client's own state for every project.
pub(super) fn servers_of_claude(text: &str) -> Vec<Run> {
    let value = match value(text) {
        Ok(value) => value,
        Err(unread) => return vec![unread],
    };
    lists_of_servers(&value).into_iter().flat_map(servers).collect()
}

fn lists_of_servers(value: &Value) -> Vec<&Value> {
    let own = value.get("mcpServers");
    let projects = value.get("projects").and_then(Value::as_object).into_iter().flatten();
    own.into_iter().chain(projects.filter_map(|(_, project)| project.get("mcpServers"))).collect()
}

/// The hooks and servers of an installed plugin. That its hooks can answer a call is what a person installs some for.
pub(super) fn of_claude_plugin(text: &str) -> Vec<Run> {
    let value = match value(text) {
        Ok(value) => value,
        Err(unread) => return vec![unread],
    };
    // A text is the place of another file.
    let object = |key: &str| value.get(key).filter(|value| value.is_object());
    let hooks = object("hooks").map(hooks).unwrap_or_default();
    let hooks = hooks.into_iter().filter(|run| !matches!(run, Run::Always(_)));
    let named = ["mcpServers", "lspServers"].into_iter().filter_map(object).flat_map(servers);
    // A file of servers alone may name them at its top.
    let is_server = |value: &Value| ["command", "url"].iter().any(|key| value.get(key).is_some());
    let top = value.as_object().into_iter().flatten().filter(|(_, value)| is_server(value));
    hooks.chain(named).chain(top.flat_map(|(name, value)| server(name, value))).collect()
}

/// The same text with nothing in it but its servers; none where there is nothing to be left out.
pub(super) fn servers_alone(bytes: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(bytes).ok()?;
    let value = value(text).ok()?;
    let mut kept = Map::new();
    if let Some(servers) = value.get("mcpServers") {
        kept.insert("mcpServers".to_owned(), servers.clone());
    }
    let projects = value.get("projects").and_then(Value::as_object).into_iter().flatten();
    let projects: Map<String, Value> = projects
        .filter_map(|(name, project)| {
            let servers = project
                .get("mcpServers")
                .filter(|servers| servers.as_object().is_some_and(|all| !all.is_empty()))?;
            Some((name.clone(), json!({ "mcpServers": servers })))
        })
        .collect();
    if !projects.is_empty() {
        kept.insert("projects".to_owned(), Value::Object(projects));
    }
    serde_json::to_vec(&Value::Object(kept)).ok()
}

/// A member `mcpServers`, or OpenCode's `mcp`.
pub(super) fn servers(list: &Value) -> Vec<Run> {
    match list {
        Value::Null => Vec::new(),
        Value::Object(all) => all.iter().flat_map(|(name, one)| server(name, one)).collect(),
        // A list of names and definitions, as agents have it.
        Value::Array(all) => all
            .iter()
            .filter_map(Value::as_object)
            .flat_map(|one| one.iter().flat_map(|(name, one)| server(name, one)))
            .collect(),
        _ => vec![Run::Unread("its servers are not a list".to_owned())],
    }
}

/// The hooks of a settings object.
pub(super) fn hooks(events: &Value) -> Vec<Run> {
    let Some(events) = events.as_object() else {
        return vec![Run::Unread("its hooks are not an object".to_owned())];
    };
    let mut runs = Vec::new();
    for (event, groups) in events {
        let groups = groups.as_array().into_iter().flatten().filter_map(|group| group.get("hooks"));
        for hook in groups.filter_map(Value::as_array).flatten() {
            if ANSWERS.contains(&event.as_str()) {
                // With all that it says: another one of the same event is another one.
                runs.push(Run::Always(format!(
                    "a hook of {event} can answer a call in the gate's stead: {hook}"
                )));
            }
            runs.extend(line(hook));
        }
    }
    runs
}

/// A hook, or another line of Claude Code's settings: a text for a shell, or a program where its arguments stand beside it.
pub(super) fn line(hook: &Value) -> Vec<Run> {
    match (hook.get("command").and_then(Value::as_str), hook.get("args")) {
        (Some(command), None) => vec![Run::command(command)],
        // What is only put to a model runs nothing.
        (None, _) if hook.get("type").and_then(Value::as_str) == Some("prompt") => Vec::new(),
        _ => server("of a hook", hook),
    }
}

/// What OpenCode runs by its settings.
pub(super) fn of_opencode(text: &str) -> Vec<Run> {
    let value = match value(&without_comments(text)) {
        Ok(value) => value,
        Err(unread) => return vec![unread],
    };
    let mut runs = value.get("mcp").map(servers).unwrap_or_default();
    for key in ["plugin", "plugins"] {
        for plugin in value.get(key).and_then(Value::as_array).into_iter().flatten() {
            let name = plugin.as_str().map_or_else(|| plugin.to_string(), str::to_owned);
            runs.push(Run::Always(format!(
                "the plugin {name} runs beside the gate and can answer in its stead"
            )));
        }
    }
    runs.extend(value.get("provider").into_iter().flat_map(providers));
    for key in ["formatter", "lsp"] {
        for (_, one) in value.get(key).and_then(Value::as_object).into_iter().flatten() {
            if one.get("command").is_some() {
                runs.extend(server(key, one));
            }
        }
    }
    for (_, command) in value.get("command").and_then(Value::as_object).into_iter().flatten() {
        runs.extend(shell_lines(command.get("template").and_then(Value::as_str).unwrap_or_default(), false));
    }
    runs.extend(value.pointer("/experimental/hook").into_iter().flat_map(commands_within));
    runs.extend(value.get("shell").and_then(Value::as_str).map(|shell| Run::command(shell.to_owned())));
    runs
}

/// The packages that OpenCode installs and loads for providers, and for single models of them (`npm`).
fn providers(list: &Value) -> Vec<Run> {
    let Value::Object(all) = list else { return Vec::new() };
    let models = all.values().filter_map(|provider| provider.get("models")?.as_object());
    let of_models = models.flat_map(|models| models.values()).filter_map(|model| model.get("provider"));
    let named = all.values().chain(of_models).filter_map(|provider| provider.get("npm"));
    let load = |name: &str| match name.strip_prefix("file:") {
        // Code of a file is judged as that file would be when it is started.
        Some(path) => Some(Run::command(format!("node {}", single_quoted(path.trim_start_matches("//"))))),
        None if is_published(name) => None,
        None => Some(Run::Always(format!("the package {name} is installed and loaded beside the gate"))),
    };
    named.filter_map(|name| load(name.as_str().unwrap_or_default())).collect()
}

/// A package that OpenCode's own list of providers names, from the registry.
fn is_published(package: &str) -> bool {
    let (scoped, rest) = package.strip_prefix('@').map_or((false, package), |rest| (true, rest));
    let (name, version) = rest.split_once('@').unwrap_or((rest, ""));
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+' | '^' | '~' | '*');
    let name = format!("{}{name}", if scoped { "@" } else { "" });
    let in_scope = |scope: &str| {
        name.strip_prefix(scope).is_some_and(|rest| !rest.is_empty() && rest.chars().all(plain))
    };
    version.chars().all(plain)
        && (PROVIDERS.contains(&name.as_str()) || SCOPES.iter().any(|scope| in_scope(scope)))
}

/// Every `command` below a value.
fn commands_within(value: &Value) -> Vec<Run> {
    match value {
        Value::Array(all) => all.iter().flat_map(commands_within).collect(),
        Value::Object(members) if members.contains_key("command") => server("of a hook", value),
        Value::Object(members) => members.values().flat_map(commands_within).collect(),
        _ => Vec::new(),
    }
}

/// The value of a text, where two readers cannot differ.
fn value(text: &str) -> Result<Value, Run> {
    let text = if text.trim().is_empty() { "{}" } else { text };
    serde_json::from_str::<Value>(text)
        .map_err(|error| Run::Unread(format!("it cannot be read with certainty ({error})")))
}

/// JSON with comments and commas at the end of lists, as JSON.
fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let mut quoted = false;
    while let Some(c) = chars.next() {
        match c {
            '"' => quoted = !quoted,
            '\\' if quoted => {
                out.push(c);
                out.extend(chars.next());
                continue;
            }
            '/' if !quoted && chars.peek() == Some(&'/') => {
                chars.by_ref().find(|c| *c == '\n');
                out.push('\n');
                continue;
            }
            '/' if !quoted && chars.peek() == Some(&'*') => {
                let mut last = ' ';
                chars.next();
                chars.by_ref().find(|c| std::mem::replace(&mut last, *c) == '*' && *c == '/');
                continue;
            }
            '}' | ']' if !quoted => {
                let end = out.trim_end().len();
                if out.get(..end).is_some_and(|text| text.ends_with(',')) {
                    out.truncate(end - 1);
                }
            }
            _ => {}
        }
        out.push(c);
    }
    out
}
