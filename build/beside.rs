//! What stands in the data files beside the code of rules (`access.toml` beside `access.rs`): lists of words, rules and examples.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use toml::de::DeTable;

use crate::rules::{self, Entry};
use crate::words::{Lists, Words};
use crate::{entries, facts, failed, is_data};

/// A data file.
#[derive(Deserialize)]
struct File {
    #[serde(default)]
    words: BTreeMap<String, Words>,
    /// The rules by their ids.
    #[serde(flatten)]
    rules: BTreeMap<String, Entry>,
}

/// What all of the files hold.
#[derive(Default)]
pub struct Beside {
    examples: Vec<String>,
    pub words: Lists,
    /// The constants of the rules of each file.
    pub rules: BTreeMap<String, String>,
}

impl Beside {
    /// Reads the files below a directory, but for the rows of programs.
    pub fn read(&mut self, rules: &Path, dir: &Path) -> Result<(), String> {
        for path in entries(dir)? {
            if path.is_dir() && path != rules.join(facts::ROOM) {
                self.read(rules, &path)?;
            } else if is_data(&path) {
                let below = path.strip_prefix(rules).unwrap_or(&path).with_extension("");
                self.add(&path, below.to_string_lossy().into_owned())?;
            }
        }
        Ok(())
    }

    /// Reads one file. Its examples go to the others, as `src/rules/examples.rs` reads them.
    fn add(&mut self, path: &Path, below: String) -> Result<(), String> {
        let content = std::fs::read_to_string(path).map_err(|error| failed(path, &error))?;
        let mut file: File = toml::from_str(&content).map_err(|error| failed(path, &error))?;
        if !file.words.is_empty() {
            self.words.insert(below.clone(), file.words);
        }
        let ids = order(&content).map_err(|error| failed(path, &error))?;
        let entries: Vec<(String, Entry)> =
            { ids }.into_iter().filter_map(|id| file.rules.remove_entry(&id)).collect();
        let code = rules::code(&entries).map_err(|error| failed(path, &error))?;
        if !code.is_empty() {
            self.rules.insert(below, code);
        }
        for (id, Entry { fires, silent, .. }) in entries {
            let record = format!("={id}");
            if self.examples.contains(&record) {
                return Err(failed(path, &format!("{id} has examples in another file already")));
            }
            self.examples.push(record);
            self.examples.extend(fires.iter().map(|call| format!("+{call}")));
            self.examples.extend(silent.iter().map(|call| format!("-{call}")));
        }
        Ok(())
    }

    /// The examples as the binary carries them.
    pub fn packed(&self) -> Vec<u8> {
        miniz_oxide::deflate::compress_to_vec(self.examples.join("\u{1e}").as_bytes(), 10)
    }
}

/// The keys of a file as they stand there: of reasons that weigh the same people read that of the first rule.
fn order(content: &str) -> Result<Vec<String>, toml::de::Error> {
    let table = DeTable::parse(content)?;
    let mut keys: Vec<_> = table.get_ref().keys().collect();
    keys.sort_by_key(|key| key.span().start);
    Ok(keys.into_iter().map(|key| key.get_ref().to_string()).collect())
}
