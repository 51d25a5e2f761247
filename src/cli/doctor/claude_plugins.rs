//! lazaret as an installed plugin of Claude Code: whether it is on, where the client reads it from, and what it registers there.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::domain::Fault;
use crate::host::registration::{Surroundings, files};

const NAME: &str = "lazaret";
/// Stands for the plugin's directory in its hooks.
const ROOT: &str = "${CLAUDE_PLUGIN_ROOT}";

/// The plugin, as the client reads it.
pub struct Plugin {
    /// `lazaret@marketplace`.
    pub key: String,
    pub root: PathBuf,
    /// Its hooks, with the directory filled in.
    pub hooks: String,
}

impl Plugin {
    pub fn hooks_file(&self) -> PathBuf {
        self.root.join("hooks/hooks.json")
    }
}

/// The plugins of that name that are on: those that the client can read, or why not. `settings`: the lowest first.
pub fn enabled<'a>(
    settings: impl Iterator<Item = &'a Value>,
    here: &Surroundings,
) -> Vec<(String, Result<Plugin, String>)> {
    let mut switches: Vec<(&str, bool)> = Vec::new();
    for value in settings {
        for (key, on) in value.get("enabledPlugins").and_then(Value::as_object).into_iter().flatten() {
            switches.retain(|(other, _)| other != key);
            switches.push((key, *on == Value::Bool(true)));
        }
    }
    let ours = switches.iter().filter(|(key, on)| *on && key.split('@').next() == Some(NAME));
    ours.map(|(key, _)| ((*key).to_owned(), read(key, here))).collect()
}

fn read(key: &str, here: &Surroundings) -> Result<Plugin, String> {
    let told = |fault: Fault| fault.to_string();
    let plugins = here.claude_dir().map_err(told)?.join("plugins");
    let root = match from_folder(key, &plugins)? {
        Some(folder) => folder,
        None => installed(key, &plugins, &here.cwd)?.ok_or("it is on, and not installed")?,
    };
    let file = root.join("hooks/hooks.json");
    let text = files::read(&file).map_err(told)?;
    let text = text.ok_or_else(|| format!("{}: there is no such file", file.display()))?;
    // As it stands inside a text of JSON.
    let quoted = Value::from(root.display().to_string()).to_string();
    let hooks = text.replace(ROOT, quoted.trim_matches('"'));
    Ok(Plugin { key: key.to_owned(), root, hooks })
}

fn json(path: &Path) -> Result<Option<Value>, String> {
    let Some(text) = files::read(path).map_err(|fault| fault.to_string())? else { return Ok(None) };
    let value = serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(Some(value))
}

/// From a marketplace that is a directory the client reads its plugins where they lie.
fn from_folder(key: &str, plugins: &Path) -> Result<Option<PathBuf>, String> {
    let Some((_, marketplace)) = key.split_once('@') else { return Ok(None) };
    let Some(known) = json(&plugins.join("known_marketplaces.json"))? else { return Ok(None) };
    let Some(entry) = known.get(marketplace) else { return Ok(None) };
    let text = |place: &str| entry.pointer(place).and_then(Value::as_str);
    let (Some("directory"), Some(folder)) = (text("/source/source"), text("/source/path")) else {
        return Ok(None);
    };
    let folder = PathBuf::from(folder);
    let Some(listed) = json(&folder.join(".claude-plugin/marketplace.json"))? else { return Ok(None) };
    let own = listed.get("plugins").and_then(Value::as_array).into_iter().flatten();
    let mut own = own.filter(|plugin| plugin.get("name").and_then(Value::as_str) == Some(NAME));
    let source = own.next().and_then(|plugin| plugin.get("source")).and_then(Value::as_str);
    Ok(source.map(|source| folder.join(source.trim_start_matches("./"))))
}

/// From any other marketplace it reads the copy that it installed: for this user, or for this project.
fn installed(key: &str, plugins: &Path, project: &Path) -> Result<Option<PathBuf>, String> {
    let Some(record) = json(&plugins.join("installed_plugins.json"))? else { return Ok(None) };
    let entries = record.get("plugins").and_then(|all| all.get(key)).and_then(Value::as_array);
    let counts = |entry: &&Value| match entry.get("projectPath").and_then(Value::as_str) {
        Some(path) => project.starts_with(path),
        None => true,
    };
    let path = |entry: &Value| entry.get("installPath").and_then(Value::as_str).map(PathBuf::from);
    // That of the project stands before that of the user.
    let mut counted: Vec<&Value> = entries.into_iter().flatten().filter(counts).collect();
    crate::domain::sort_by_key(&mut counted, |entry| entry.get("projectPath").is_none());
    Ok(counted.into_iter().find_map(path))
}
