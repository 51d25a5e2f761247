//! A `[[patterns.custom]]` table to a pattern in words. Whether its examples do what they say is asked of who looks for patterns.

use toml::de::{DeTable, DeValue};

use super::parse::{fraction, shown, whole};
use super::tables::{List, MAX_TEXT, MAX_WORDS, Reader, Value, named};
use crate::domain::{ActionKind, Outcome, Severity, WrittenFilter, WrittenPattern, clip};

/// What is still wrong with a pattern that is well written.
pub type PatternCheck = fn(&WrittenPattern) -> Vec<String>;

/// The list of patterns.
pub const PATTERNS: List<WrittenPattern> = List {
    key: "patterns.custom",
    one: "pattern",
    name: "name",
    most: WrittenPattern::MOST,
    name_of: |pattern| &pattern.name,
    read: Reader::pattern,
};

const PATTERN: &[&str] = &[
    "name",
    "description",
    "window",
    "among",
    "filter",
    "count",
    "ratio",
    "severity",
    "text",
    "fires",
    "silent",
];
const FILTER: &[&str] = &["tool", "operation", "path", "outcome", "error"];
/// Longest name, in bytes.
const NAME: usize = 40;

impl Reader {
    fn pattern(&mut self, entry: &Value<'_>) -> Option<WrittenPattern> {
        let table = self.table(entry, "", PATTERN)?;
        let name = self.needed(entry, table, "name").and_then(|value| self.pattern_name(value));
        let description =
            table.get("description").and_then(|value| self.text(value, "description", MAX_TEXT));
        let window = self.needed(entry, table, "window");
        let window = window.and_then(|value| self.number(value, "window", WrittenPattern::WINDOW));
        let among = table.get("among").and_then(|value| self.filter(value, "among"));
        let filter = self.needed(entry, table, "filter").and_then(|value| self.filter(value, "filter"));
        let enough = window.and_then(|window| self.enough((entry, table), window));
        let severity = self.needed(entry, table, "severity");
        let severity = severity
            .and_then(|value| self.word(value, "severity", Severity::ALL.map(|s| (s.name(), s)).as_slice()));
        let text = self.needed(entry, table, "text").and_then(|value| self.text(value, "text", MAX_TEXT));
        let fires = self.needed(entry, table, "fires").map(|value| self.histories(value, "fires"));
        let silent = self.needed(entry, table, "silent").map(|value| self.histories(value, "silent"));
        let (count, percent) = enough?;
        Some(WrittenPattern {
            name: name?,
            description: description.unwrap_or_default(),
            window: window?,
            among,
            filter: filter?,
            count,
            percent,
            severity: severity?,
            text: text?,
            fires: fires?,
            silent: silent?,
            hushed: false,
        })
    }

    /// A word like those of the built-in patterns.
    pub fn pattern_name(&mut self, value: &Value<'_>) -> Option<String> {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        let fits = |name: &&str| !name.is_empty() && name.len() <= NAME && name.bytes().all(plain);
        let name = value.get_ref().as_str().filter(fits);
        if name.is_none() {
            let shown = shown(value.get_ref());
            let text = format!("{shown} is no name of up to {NAME} lower-case letters, digits and `_`");
            self.wrong(value, text);
        }
        name.map(str::to_owned)
    }

    pub fn number(&mut self, value: &Value<'_>, what: &str, most: u32) -> Option<u32> {
        let number = whole(value.get_ref()).and_then(|number| u32::try_from(number).ok());
        let number = number.filter(|number| (1..=most).contains(number));
        if number.is_none() {
            let shown = shown(value.get_ref());
            self.wrong(value, format!("{what}: {shown} is not a whole number from 1 to {most}"));
        }
        number
    }

    /// How many entries, and how many percent of them, make the pattern.
    fn enough(&mut self, (entry, table): (&Value<'_>, &DeTable<'_>), window: u32) -> Option<(u32, u32)> {
        let count = table.get("count").map(|value| self.number(value, "count", window));
        let ratio = table.get("ratio").map(|value| {
            let number = fraction(value.get_ref()).filter(|number| *number > 0.0 && *number <= 1.0);
            if number.is_none() {
                let shown = shown(value.get_ref());
                self.wrong(value, format!("ratio: {shown} is not a number above 0 and up to 1"));
            }
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1 to 100")]
            number.map(|number| (number * 100.0).round().max(1.0) as u32)
        });
        match (count, ratio) {
            (None, None) => {
                self.wrong(entry, "it has neither `count` nor `ratio`".to_owned());
                None
            }
            (Some(count), None) => Some((count?, 0)),
            (None, Some(ratio)) => Some((WrittenPattern::FEWEST.min(window), ratio?)),
            (Some(count), Some(ratio)) => Some((count?, ratio?)),
        }
    }

    fn filter(&mut self, value: &Value<'_>, what: &str) -> Option<WrittenFilter> {
        let table = self.table(value, what, FILTER)?;
        if table.is_empty() {
            self.wrong(value, format!("{what}: it needs one of {}", FILTER.join(", ")));
        }
        let operation = named(&ActionKind::ALL, ActionKind::name);
        let outcome = named(&Outcome::ENDED, Outcome::name);
        Some(WrittenFilter {
            tool: self.optional(table, "tool"),
            operation: self.known_words(table, "operation", &operation),
            path: self.shapes(table),
            outcome: self.known_words(table, "outcome", &outcome),
            error: self.optional(table, "error"),
        })
    }

    fn known_words<T: Copy>(&mut self, table: &DeTable<'_>, key: &str, known: &[(&str, T)]) -> Vec<T> {
        let Some(value) = table.get(key) else { return Vec::new() };
        self.list(value, key).iter().filter_map(|item| self.word(item, key, known)).collect()
    }

    /// Shell patterns of paths.
    fn shapes(&mut self, table: &DeTable<'_>) -> Vec<String> {
        let Some(value) = table.get("path") else { return Vec::new() };
        let shapes = self.words(value, "path");
        for shape in &shapes {
            let above = shape.split('/').any(|part| part == "." || part == "..");
            if above || shape.ends_with('/') || (shape.starts_with('~') && !shape.starts_with("~/")) {
                let shown = crate::domain::escape(&clip(shape, MAX_WORDS));
                let text = format!(
                    "path: \"{shown}\": write it absolute, as ~/… or from the project down, and /** for all below"
                );
                self.wrong(value, text);
            }
        }
        shapes
    }

    /// Histories, each a list of steps.
    fn histories(&mut self, value: &Value<'_>, what: &str) -> Vec<Vec<String>> {
        let items = self.list(value, what);
        let is_list = |item: &Value<'_>| matches!(item.get_ref(), DeValue::Array(_));
        if !items.iter().all(is_list) {
            self.wrong(value, format!("{what}: each history is a list of calls"));
            return Vec::new();
        }
        items.iter().map(|item| self.examples(item, what)).collect()
    }
}
