//! Lists of words, which become constants: each file's in one file, which the macro `words!` of `src/rules/mod.rs` includes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;
use toml::Value;

use crate::facts::variant;
use crate::{RULES, failed};

/// Words of fewer than these may be the same by chance.
const FEW: usize = 3;

/// The lists of all files, by the paths of these below `src/rules` without their ends, and by their names.
pub type Lists = BTreeMap<String, BTreeMap<String, Words>>;

/// Words that are alike.
#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
pub struct Words {
    says: String,
    #[serde(default)]
    pub list: Vec<String>,
    /// Instead of words places: `/etc` is absolute, `~/.ssh` below the home directory, `.git/hooks` anywhere.
    #[serde(default)]
    places: Vec<String>,
    /// Instead of words rows, and what stands in each column: a `word`, `words`, or a variant of the type in Rust that is named.
    #[serde(default)]
    rows: Vec<Vec<Value>>,
    #[serde(default)]
    columns: Vec<String>,
    /// The type of a row, and the function that makes one of its columns; a tuple where nothing is said.
    row: Option<[String; 2]>,
}

impl Words {
    fn all(&self) -> &[String] {
        if self.places.is_empty() { &self.list } else { &self.places }
    }

    /// What is wrong with the list.
    fn fault(&self, name: &str) -> Option<String> {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        if !name.starts_with(|first: char| first.is_ascii_lowercase()) || !name.bytes().all(plain) {
            return Some("a name is in lower case, with _ between its words".to_owned());
        }
        if self.says.trim().is_empty() {
            return Some("says nothing: one sentence on what the words are".to_owned());
        }
        let held = [self.list.len(), self.places.len(), self.rows.len()];
        match held.iter().filter(|many| **many > 0).count() {
            0 => return Some("the list is empty".to_owned()),
            1 => {}
            _ => return Some("holds words (list), places or rows: make two of it".to_owned()),
        }
        let mut seen = BTreeSet::new();
        let twice = self.all().iter().find(|word| !seen.insert(*word));
        let twice = twice.map(|word| format!("{word:?} stands there twice"));
        twice.or_else(|| self.table().err())
    }

    /// The rows as they stand in Rust.
    fn table(&self) -> Result<String, String> {
        let row = |row: &Vec<Value>| {
            if row.len() != self.columns.len() {
                return Err(format!("{row:?}: as many columns as are named"));
            }
            let cells = row.iter().zip(&self.columns).map(|(value, column)| cell(value, column));
            let maker = self.row.as_ref().map_or("", |[_, maker]| maker);
            Ok(format!("    {maker}({}),\n", cells.collect::<Result<Vec<_>, _>>()?.join(", ")))
        };
        self.rows.iter().map(row).collect()
    }

    /// The type of a row.
    fn of(&self) -> String {
        let ty = |column: &String| match column.as_str() {
            "word" => "&str".to_owned(),
            "words" => "&[&str]".to_owned(),
            named => named.to_owned(),
        };
        let tuple = || format!("({})", self.columns.iter().map(ty).collect::<Vec<_>>().join(", "));
        self.row.as_ref().map_or_else(tuple, |[ty, _]| ty.clone())
    }

    /// The list as a constant.
    fn code(&self, name: &str) -> String {
        let says: String = self.says.trim().lines().map(|line| format!("/// {line}\n")).collect();
        let name = name.to_ascii_uppercase();
        if !self.rows.is_empty() {
            let rows = self.table().unwrap_or_default();
            // A type of the file is as visible as the file says.
            let allow = "#[allow(private_interfaces, reason = \"holds for every file\")]";
            return format!("{says}{allow}\npub(crate) const {name}: &[{}] = &[\n{rows}];\n", self.of());
        }
        if self.places.is_empty() {
            return format!("{says}pub(crate) const {name}: &[&str] = &{:?};\n", self.list);
        }
        let places: String = self.places.iter().map(|place| format!("    {},\n", at(place))).collect();
        // A file may have `At` in scope or not.
        let allow = "#[allow(unused_qualifications, reason = \"the path holds in every file\")]";
        format!("{says}{allow}\npub(crate) const {name}: &[crate::rules::matcher::At] = &[\n{places}];\n")
    }
}

/// What stands in a column. A variant may hold a number: `writes 0` is `Writes(0)`.
fn cell(value: &Value, column: &str) -> Result<String, String> {
    match (column, value) {
        ("word", Value::String(word)) => Ok(format!("{word:?}")),
        ("words", Value::Array(words)) if words.iter().all(Value::is_str) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            Ok(format!("&{words:?}"))
        }
        ("usize", Value::Integer(number)) => Ok(number.to_string()),
        ("word" | "words" | "usize", _) => Err(format!("{value}: is no {column}")),
        (of, Value::String(word)) => match word.split_once(' ') {
            Some((word, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => {
                Ok(format!("{}({number})", variant(of, word)?))
            }
            Some(_) | None => variant(of, word),
        },
        _ => Err(format!("{value}: a variant of {column} is a word")),
    }
}

/// A place as the variant of `crate::rules::matcher::At` that its beginning stands for.
pub fn at(place: &str) -> String {
    let (variant, text) = match place.strip_prefix("~/") {
        Some(below) => ("Home", below),
        None if place.starts_with('/') => ("Abs", place),
        None => ("Name", place),
    };
    format!("crate::rules::matcher::At::{variant}({text:?})")
}

/// The lists of each file as constants.
pub fn code(lists: &Lists) -> Result<BTreeMap<String, String>, String> {
    check(lists)?;
    let constants =
        |words: &BTreeMap<String, Words>| words.iter().map(|(name, words)| words.code(name)).collect();
    Ok(lists.iter().map(|(file, words)| (file.clone(), constants(words))).collect())
}

/// Writes the constants of each file below a directory.
pub fn write(files: &BTreeMap<String, String>, dir: &Path) -> Result<(), String> {
    if dir.exists() {
        std::fs::remove_dir_all(dir).map_err(|error| failed(dir, &error))?;
    }
    for (file, code) in files {
        let path = dir.join(format!("{file}.rs"));
        let parent = path.parent().unwrap_or(dir);
        std::fs::create_dir_all(parent).map_err(|error| failed(parent, &error))?;
        crate::write(&path, code.as_bytes())?;
    }
    Ok(())
}

/// Every list says what it is, has no word twice, and stands there once.
fn check(lists: &Lists) -> Result<(), String> {
    let mut known: BTreeMap<(bool, BTreeSet<&String>), String> = BTreeMap::new();
    let all =
        lists.iter().flat_map(|(file, words)| words.iter().map(move |(name, words)| (file, name, words)));
    for (file, name, words) in all {
        let here = format!("{RULES}/{file}.toml: words.{name}");
        if let Some(fault) = words.fault(name) {
            return Err(format!("{here}: {fault}"));
        }
        let set: BTreeSet<&String> = words.all().iter().collect();
        if set.len() < FEW {
            continue;
        }
        if let Some(there) = known.insert((words.places.is_empty(), set), here.clone()) {
            return Err(format!("{here}: the same words as in {there}; keep one list and import it"));
        }
    }
    Ok(())
}
