//! Whether Codex's files, as they are, have it ask lazaret before every call.

use serde_json::Value;

use super::registration::{self, Trusted};

/// What Codex reads for a session, as text; none where there is no such file.
#[derive(Debug, Clone, Default)]
pub struct Files {
    /// Where `hooks.json` lies, by each name that Codex may have for it.
    pub paths: Vec<String>,
    pub hooks: Option<String>,
    pub config: Option<String>,
    /// `config.toml` of the projects' directories, with their names.
    pub projects: Vec<(String, String)>,
    /// What whoever manages the machine requires.
    pub requirements: Option<String>,
}

/// Why Codex would not ask lazaret before every call; nothing where it would.
pub fn falls(files: &Files) -> Option<String> {
    if requires(files.requirements.as_deref().unwrap_or_default()) {
        return None;
    }
    let Some(hooks) = &files.hooks else { return Some("hooks.json is not there".to_owned()) };
    // Codex passes over a file with any other member.
    let value: Value = match serde_json::from_str(hooks) {
        Ok(value) => value,
        Err(error) => return Some(format!("hooks.json cannot be read: {error}")),
    };
    let members = value.as_object().into_iter().flatten();
    if let Some((other, _)) =
        members.into_iter().find(|(name, _)| !["hooks", "description"].contains(&name.as_str()))
    {
        return Some(format!("hooks.json holds \"{other}\", for which Codex passes over the whole file"));
    }
    let gates: Vec<Trusted> = files.paths.iter().flat_map(|path| gates(path, hooks, &value)).collect();
    if gates.is_empty() {
        return Some("hooks.json does not register lazaret for PreToolUse".to_owned());
    }
    let config = match parsed(files.config.as_deref().unwrap_or_default()) {
        Ok(config) => config,
        Err(why) => return Some(format!("config.toml cannot be read: {why}")),
    };
    let state = |gate: &Trusted| config.get("hooks").and_then(|hooks| hooks.get("state")?.get(&gate.key));
    let stands = |gate: &Trusted| {
        state(gate).is_some_and(|state| {
            let trusted = state.get("trusted_hash").and_then(toml::Value::as_str) == Some(&gate.hash);
            trusted && state.get("enabled").and_then(toml::Value::as_bool) != Some(false)
        })
    };
    if !gates.iter().any(stands) {
        return Some(
            "config.toml does not trust the hook of PreToolUse, or switches it off: Codex does not run it"
                .to_owned(),
        );
    }
    if is_off(&config) {
        return Some("config.toml switches hooks off ([features] hooks)".to_owned());
    }
    files.projects.iter().find_map(|(name, text)| match parsed(text) {
        Ok(config) => is_off(&config).then(|| format!("{name} switches hooks off ([features] hooks)")),
        Err(why) => Some(format!("{name} cannot be read: {why}")),
    })
}

/// Our entries for the gate that Codex waits for.
fn gates(path: &str, hooks: &str, value: &Value) -> Vec<Trusted> {
    let label = format!(":{}:", registration::EVENTS.first().map_or("", |(_, label)| label));
    let waited_for = |trusted: &Trusted| {
        let place = trusted.key.rsplit_once(label.as_str()).map(|(_, place)| place.replace(':', "/hooks/"));
        let entry = place.and_then(|place| value.pointer(&format!("/hooks/PreToolUse/{place}")));
        entry.is_some_and(|entry| {
            let closes = entry.get("command").and_then(Value::as_str).and_then(registration::registered);
            let only = |name: &String| ["type", "command", "timeout"].contains(&name.as_str());
            closes.is_some_and(|found| found.closes)
                && entry.get("timeout").and_then(Value::as_u64) == Some(registration::TIMEOUT)
                && entry.as_object().is_some_and(|entry| entry.keys().all(only))
        })
    };
    let all = registration::trusted(path, hooks).into_iter();
    all.filter(|trusted| trusted.key.contains(&label) && waited_for(trusted)).collect()
}

/// Whether a configuration switches hooks off, by either of the names that Codex knows.
pub fn is_off(config: &toml::Table) -> bool {
    let features = config.get("features");
    ["hooks", "codex_hooks"].iter().any(|name| {
        features.and_then(|features| features.get(name)).is_some_and(|on| on.as_bool() != Some(true))
    })
}

/// Whether the requirements of this machine hold the gate and keep hooks on.
pub fn requires(text: &str) -> bool {
    let Ok(required) = parsed(text) else { return false };
    let on = required.get("features").and_then(|features| features.get("hooks")?.as_bool()) == Some(true);
    on && required_gate(&required).is_some()
}

/// The binary of a gate that is registered for every user.
pub fn required_bin(text: &str) -> Option<String> {
    required_gate(&parsed(text).ok()?).map(|found| found.bin)
}

fn required_gate(required: &toml::Table) -> Option<registration::Registered> {
    let groups = required.get("hooks")?.get("PreToolUse")?.as_array()?;
    let entries = groups.iter().filter(|group| group.get("matcher").is_none());
    let mut entries = entries.filter_map(|group| group.get("hooks")?.as_array()).flatten();
    entries.find_map(|entry| {
        registration::registered(entry.get("command")?.as_str()?).filter(|found| found.closes)
    })
}

fn parsed(text: &str) -> Result<toml::Table, String> {
    text.parse::<toml::Table>().map_err(|error| error.message().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: &str = "/h/.codex/hooks.json";

    fn standing() -> Files {
        let entry = registration::entry("/b/lazaret", &[], "PreToolUse");
        let hooks = serde_json::json!({"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "x"}]}, {"hooks": [entry]}]}}).to_string();
        let config =
            registration::with_trust("model = \"m\"\n", &registration::trusted(PATH, &hooks)).unwrap();
        Files { paths: vec![PATH.to_owned()], hooks: Some(hooks), config: Some(config), ..Files::default() }
    }

    #[test]
    fn a_gate_stands_until_one_thing_is_missing() {
        let good = standing();
        assert_eq!(falls(&good), None);
        let hooks = good.hooks.clone().unwrap();
        let config = good.config.clone().unwrap();
        let with_hooks = |text: String| Files { hooks: Some(text), ..good.clone() };
        let with_config = |text: String| Files { config: Some(text), ..good.clone() };
        for (files, word) in [
            (Files { hooks: None, ..good.clone() }, "not there"),
            (with_hooks("{".to_owned()), "cannot be read"),
            (with_hooks(format!("\u{feff}{hooks}")), "cannot be read"),
            (with_hooks(hooks.replace("{\"hooks\":{", "{\"x\":1,\"hooks\":{")), "passes over"),
            (with_hooks(hooks.replace("/b/lazaret", "/b/other")), "does not trust"),
            (with_hooks(hooks.replace("\"timeout\":20", "\"timeout\":1")), "does not register"),
            (
                with_hooks(hooks.replace("\"timeout\":20", "\"async\":true,\"timeout\":20")),
                "does not register",
            ),
            (
                with_hooks(hooks.replace("{\"hooks\":[{\"type\":\"command\",\"command\":\"x\"}]},", "")),
                "does not trust",
            ),
            (with_hooks("{}".to_owned()), "does not register"),
            (with_config(String::new()), "does not trust"),
            (with_config(config.replace("trusted_hash", "enabled = false\ntrusted_hash")), "switches it off"),
            (with_config(format!("[features]\nhooks = false\n{config}")), "switches hooks off"),
            (with_config(format!("[features]\ncodex_hooks = false\n{config}")), "switches hooks off"),
            (
                Files {
                    projects: vec![("p".to_owned(), "[features]\nhooks = false\n".to_owned())],
                    ..good.clone()
                },
                "p switches",
            ),
        ] {
            let why = falls(&files).unwrap_or_default();
            assert!(why.contains(word), "{word}: {why}\n{files:?}");
        }
        let required = registration::with_requirements("", "/b/lazaret").unwrap();
        assert_eq!(required_bin(&required).as_deref(), Some("/b/lazaret"));
        assert_eq!(falls(&Files { hooks: None, requirements: Some(required.clone()), ..good.clone() }), None);
        let soft = required.replace("hooks = true", "hooks = false");
        assert!(falls(&Files { hooks: None, requirements: Some(soft), ..good }).is_some());
    }
}
