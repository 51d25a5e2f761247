//! What stands in the data files beside the rules (`access.toml` beside `access.rs`): lists of words, and examples.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use crate::words::{Lists, Words};
use crate::{entries, facts, failed, is_data, read};

/// A data file.
#[derive(Deserialize)]
struct File {
    #[serde(default)]
    words: BTreeMap<String, Words>,
    /// The rules by their ids.
    #[serde(flatten)]
    examples: BTreeMap<String, Examples>,
}

/// Examples of a rule: calls on which it fires, and on which it stays silent.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Examples {
    #[serde(default)]
    fires: Vec<String>,
    #[serde(default)]
    silent: Vec<String>,
}

/// What all of the files hold.
#[derive(Default)]
pub struct Beside {
    examples: Vec<String>,
    pub words: Lists,
}

impl Beside {
    /// Reads the files below a directory, but for the rows of programs.
    pub fn read(&mut self, rules: &Path, dir: &Path) -> Result<(), String> {
        for path in entries(dir)? {
            if path.is_dir() && path != rules.join(facts::ROOM) {
                self.read(rules, &path)?;
            } else if is_data(&path) {
                let file: File = read(&path)?;
                if !file.words.is_empty() {
                    let below = path.strip_prefix(rules).unwrap_or(&path).with_extension("");
                    self.words.insert(below.to_string_lossy().into_owned(), file.words);
                }
                self.add(&path, file.examples)?;
            }
        }
        Ok(())
    }

    /// Puts examples to the others, as `src/rules/examples.rs` reads them.
    fn add(&mut self, path: &Path, rules: BTreeMap<String, Examples>) -> Result<(), String> {
        for (id, Examples { fires, silent }) in rules {
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
