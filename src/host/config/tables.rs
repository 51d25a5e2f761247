//! Lists of tables in a configuration file, each told whole: every key known, every value of its kind, and all that is wrong
//! noted with its place. What an entry of which list holds is in the files that read them.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::parse::shown;
use crate::domain::{clip, escape};

/// Most entries of a list in a table.
pub const MAX_WORDS: usize = 100;
/// Longest text in a table, and longest example, in bytes.
pub const MAX_TEXT: usize = 500;
pub const MAX_EXAMPLE: usize = 4000;

pub type Value<'i> = Spanned<DeValue<'i>>;

/// Where in the file a mistake is, and what it is.
pub type Mistake = (usize, String);

/// A list of tables.
#[derive(Debug, Clone, Copy)]
pub struct List<T: 'static> {
    /// Its key in the file.
    pub key: &'static str,
    /// What one of them is called, and the key that names it.
    pub one: &'static str,
    pub name: &'static str,
    /// Most of one file.
    pub most: usize,
    pub name_of: fn(&T) -> &str,
    pub read: fn(&mut Reader, &Value<'_>) -> Option<T>,
}

impl<T> List<T> {
    /// The entries that can be used; what is wrong with the others is put to `mistakes`. `check` has the last word.
    pub fn entries(
        &self,
        value: &DeValue<'_>,
        at: usize,
        check: fn(&T) -> Vec<String>,
        mistakes: &mut Vec<Mistake>,
    ) -> Vec<T> {
        let List { key, one, name, most, name_of, read } = *self;
        let Some(array) = value.as_array() else {
            mistakes.push((at, format!("`{key}`: write each {one} as [[{key}]]")));
            return Vec::new();
        };
        if array.len() > most {
            mistakes.push((at, format!("`{key}`: it has {} {one}s, the most are {most}", array.len())));
            return Vec::new();
        }
        let mut found: Vec<T> = Vec::new();
        for (number, entry) in array.iter().enumerate() {
            let called = self.called(entry, number);
            let mut reader = Reader { key, name: called, mistakes: Vec::new() };
            let read = read(&mut reader, entry).filter(|_| reader.mistakes.is_empty());
            if let Some(new) = read {
                if found.iter().any(|other| name_of(other) == name_of(&new)) {
                    reader.wrong(entry, format!("another {one} of this file has the same {name}"));
                } else {
                    let wrong = check(&new);
                    if wrong.is_empty() {
                        found.push(new);
                    }
                    wrong.into_iter().for_each(|text| reader.wrong(entry, text));
                }
            }
            mistakes.append(&mut reader.mistakes);
        }
        found
    }

    /// Its name, or where it stands among them.
    fn called(&self, entry: &Value<'_>, number: usize) -> String {
        let name = entry.get_ref().as_table().and_then(|table| table.get(self.name)?.get_ref().as_str());
        name.map_or_else(
            || format!("{} {}", self.one, number + 1),
            |name| format!("`{}`", escape(&clip(name, MAX_WORDS))),
        )
    }
}

/// Reads one entry. What cannot be used is noted and left out, so that everything that is wrong is told at once.
#[derive(Debug)]
pub struct Reader {
    key: &'static str,
    /// What messages call the entry.
    name: String,
    mistakes: Vec<Mistake>,
}

impl Reader {
    pub fn wrong(&mut self, value: &Value<'_>, text: String) {
        self.wrong_at(value.span().start, text);
    }

    pub fn wrong_at(&mut self, at: usize, text: String) {
        self.mistakes.push((at, format!("`{}`: {}: {text}", self.key, self.name)));
    }

    /// The table, with every key that is not one of `known` noted.
    pub fn table<'v, 'i>(
        &mut self,
        value: &'v Value<'i>,
        what: &str,
        known: &[&str],
    ) -> Option<&'v DeTable<'i>> {
        let what = if what.is_empty() { String::new() } else { format!("{what}: ") };
        let Some(table) = value.get_ref().as_table() else {
            self.wrong(value, format!("{what}{} is not a table", shown(value.get_ref())));
            return None;
        };
        for (key, _) in table {
            if !known.contains(&key.get_ref().as_ref()) {
                let text = format!("{what}unknown key {}", unknown(key.get_ref(), known));
                self.wrong_at(key.span().start, text);
            }
        }
        Some(table)
    }

    /// The one key of a table that stands for one of several things.
    pub fn choice<'v, 'i>(
        &mut self,
        value: &'v Value<'i>,
        what: &str,
        known: &[&'static str],
    ) -> Option<(&'static str, &'v Value<'i>)> {
        let table = self.table(value, what, known)?;
        let mut given = known.iter().filter_map(|key| table.get(*key).map(|value| (*key, value)));
        match (given.next(), given.next()) {
            (Some(one), None) => Some(one),
            (None, _) => {
                // An unknown key has been told already.
                if table.is_empty() {
                    self.wrong(value, format!("{what}: it needs one of {}", known.join(", ")));
                }
                None
            }
            (Some((one, _)), Some((other, _))) => {
                self.wrong(value, format!("{what}: it has {one} and {other}; write two of them"));
                None
            }
        }
    }

    pub fn needed<'v, 'i>(
        &mut self,
        entry: &Value<'i>,
        table: &'v DeTable<'i>,
        key: &str,
    ) -> Option<&'v Value<'i>> {
        let value = table.get(key);
        if value.is_none() {
            self.wrong(entry, format!("it has no `{key}`"));
        }
        value
    }

    pub fn switch(&mut self, table: &DeTable<'_>, key: &str) -> bool {
        let Some(value) = table.get(key) else { return false };
        let on = value.get_ref().as_bool();
        if on.is_none() {
            self.wrong(value, format!("{key}: {} is not true or false", shown(value.get_ref())));
        }
        on.unwrap_or_default()
    }

    pub fn optional(&mut self, table: &DeTable<'_>, key: &str) -> Vec<String> {
        table.get(key).map_or_else(Vec::new, |value| self.words(value, key))
    }

    pub fn word<T: Copy>(&mut self, value: &Value<'_>, what: &str, known: &[(&str, T)]) -> Option<T> {
        let text = value.get_ref().as_str();
        let found = known.iter().find(|(name, _)| Some(*name) == text).map(|(_, word)| *word);
        if found.is_none() {
            let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
            let hint = match text {
                Some(text) => unknown(text, &names),
                None => format!("{} is not one of {}", shown(value.get_ref()), names.join(", ")),
            };
            self.wrong(value, format!("{what}: {hint}"));
        }
        found
    }

    pub fn text(&mut self, value: &Value<'_>, what: &str, max: usize) -> Option<String> {
        let text = value.get_ref().as_str();
        let fit = |text: &&str| {
            // An example is a call, and a call may hold anything.
            let plain = max == MAX_EXAMPLE || !text.chars().any(char::is_control);
            !text.trim().is_empty() && text.len() <= max && plain
        };
        let Some(text) = text.filter(fit) else {
            let shown = shown(value.get_ref());
            self.wrong(
                value,
                format!(
                    "{what}: {shown} is not a text of 1 to {max} bytes{}",
                    if max == MAX_EXAMPLE { "" } else { " in one line" }
                ),
            );
            return None;
        };
        Some(text.to_owned())
    }

    /// A list that is not empty and not too long.
    pub fn list<'v, 'i>(&mut self, value: &'v Value<'i>, what: &str) -> &'v [Value<'i>] {
        match value.get_ref().as_array() {
            Some(items) if !items.is_empty() && items.len() <= MAX_WORDS => items,
            Some(items) => {
                self.wrong(
                    value,
                    format!("{what}: it has {} entries; 1 to {MAX_WORDS} it takes", items.len()),
                );
                &[]
            }
            None => {
                self.wrong(value, format!("{what}: {} is not a list", shown(value.get_ref())));
                &[]
            }
        }
    }

    pub fn words(&mut self, value: &Value<'_>, what: &str) -> Vec<String> {
        let items = self.list(value, what);
        items.iter().filter_map(|item| self.text(item, what, MAX_TEXT)).collect()
    }

    pub fn groups(&mut self, value: &Value<'_>, what: &str) -> Vec<Vec<String>> {
        let items = self.list(value, what);
        items.iter().map(|item| self.words(item, what)).collect()
    }
}

pub fn named<T: Copy>(all: &[T], name: impl Fn(T) -> &'static str) -> Vec<(&'static str, T)> {
    all.iter().map(|word| (name(*word), *word)).collect()
}

/// A word that nobody knows, with the one that it is most like.
pub fn unknown(word: &str, known: &[&str]) -> String {
    let shown = escape(&clip(word, 60));
    let close = known.iter().map(|known| (strsim::normalized_damerau_levenshtein(word, known), *known));
    match close.max_by(|a, b| a.0.total_cmp(&b.0)) {
        Some((likeness, near)) if likeness >= 0.5 => format!("`{shown}`; did you mean `{near}`?"),
        Some(_) | None => format!("`{shown}`; known are {}", known.join(", ")),
    }
}
