//! A `[[plugins]]` table to a plugin. Never taken from a project's file; what the program is worth is looked at when it is started.

use super::parse::shown;
use super::tables::{List, Reader, Value, named};
use crate::domain::{Pattern, Plugin, PluginKind, Severity};

/// The list of plugins.
pub const PLUGINS: List<Plugin> = List {
    key: "plugins",
    one: "plugin",
    name: "name",
    most: 16,
    name_of: |plugin| &plugin.name,
    read: Reader::plugin,
};

const PLUGIN: &[&str] = &["name", "kind", "program", "sha256", "timeout_ms", "tools", "patterns", "severity"];
/// Longest path, in bytes.
const PATH: usize = 1024;

impl Reader {
    fn plugin(&mut self, entry: &Value<'_>) -> Option<Plugin> {
        let table = self.table(entry, "", PLUGIN)?;
        let name = self.needed(entry, table, "name").and_then(|value| self.pattern_name(value));
        let kind = self.needed(entry, table, "kind");
        let kind =
            kind.and_then(|value| self.word(value, "kind", &named(&PluginKind::ALL, PluginKind::name)));
        let program = self.needed(entry, table, "program").and_then(|value| self.program(value));
        let sha256 = self.needed(entry, table, "sha256").and_then(|value| self.digest(value));
        let kind = kind?;
        let (longest, usual) = kind.timeouts();
        let timeout_ms = match table.get("timeout_ms") {
            Some(value) => self.number(value, "timeout_ms", longest)?,
            None => usual,
        };
        let severities = Severity::ALL.map(|severity| (severity.name(), severity));
        let severity = table.get("severity").map(|value| self.word(value, "severity", &severities));
        for (key, kinds) in [
            ("tools", &[PluginKind::Risk, PluginKind::Pattern][..]),
            ("patterns", &[PluginKind::Intervention]),
            ("severity", &[PluginKind::Pattern]),
        ] {
            if let Some(value) = table.get(key).filter(|_| !kinds.contains(&kind)) {
                self.wrong(value, format!("{key}: a plugin of kind {} takes none", kind.name()));
            }
        }
        if matches!(kind, PluginKind::Risk | PluginKind::Pattern) {
            self.needed(entry, table, "tools")?;
        }
        if kind == PluginKind::Pattern {
            self.needed(entry, table, "severity")?;
            if name.as_deref().is_some_and(|name| Pattern::from_name(name).is_some()) {
                self.wrong(entry, "a built-in pattern has this name: give yours one of its own".to_owned());
            }
        }
        Some(Plugin {
            name: name?,
            kind,
            program: program?,
            sha256: sha256?,
            timeout_ms,
            tools: self.optional(table, "tools"),
            patterns: self.optional(table, "patterns"),
            severity: severity.unwrap_or(Some(Severity::Low))?,
        })
    }

    fn program(&mut self, value: &Value<'_>) -> Option<String> {
        let program = self.text(value, "program", PATH)?;
        if !program.starts_with('/') {
            self.wrong(value, format!("program: {} is no absolute path", shown(value.get_ref())));
            return None;
        }
        Some(program)
    }

    fn digest(&mut self, value: &Value<'_>) -> Option<String> {
        let hex = |text: &&str| text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let digest = value.get_ref().as_str().filter(hex).map(str::to_ascii_lowercase);
        if digest.is_none() {
            let shown = shown(value.get_ref());
            self.wrong(
                value,
                format!("sha256: {shown} is not 64 hexadecimal digits (`sha256sum PROGRAM` prints them)"),
            );
        }
        digest
    }
}
