//! The examples of the built-in rules: calls on which one fires, and calls on which it stays silent. They stand beside the rules, in a
//! file of the same name (`access.toml` beside `access.rs`), and are packed when lazaret is built: no hook call reads them.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use super::matcher::Rule;

/// What [`unpacked`] reads: records with this sign between them, each a sign and a text.
const BETWEEN: char = '\u{1e}';
/// More than they ever are.
const MAX_BYTES: usize = 16 * 1024 * 1024;

static PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/examples.bin"));

/// The examples of one rule.
#[derive(Debug, Default)]
struct Examples {
    fires: Vec<String>,
    silent: Vec<String>,
}

impl Rule {
    /// Calls on which the rule fires.
    pub fn fires(&self) -> &'static [String] {
        all().get(self.id).map_or(&[], |examples| &examples.fires)
    }

    /// Calls like those, on which it stays silent.
    pub fn silent(&self) -> &'static [String] {
        all().get(self.id).map_or(&[], |examples| &examples.silent)
    }
}

/// The rules that have examples, by their ids.
pub fn ids() -> impl Iterator<Item = &'static str> {
    all().keys().map(String::as_str)
}

fn all() -> &'static BTreeMap<String, Examples> {
    static ALL: OnceLock<BTreeMap<String, Examples>> = OnceLock::new();
    ALL.get_or_init(|| {
        let bytes = miniz_oxide::inflate::decompress_to_vec_with_limit(PACKED, MAX_BYTES).unwrap_or_default();
        unpacked(&String::from_utf8(bytes).unwrap_or_default())
    })
}

/// `=id`, and behind it `+` and what it fires on, `-` and what it stays silent on.
fn unpacked(text: &str) -> BTreeMap<String, Examples> {
    let mut all: BTreeMap<String, Examples> = BTreeMap::new();
    let mut of = Examples::default();
    let mut id = String::new();
    for record in text.split(BETWEEN) {
        match record.split_at_checked(1) {
            Some(("=", next)) => {
                all.insert(std::mem::replace(&mut id, next.to_owned()), std::mem::take(&mut of));
            }
            Some(("+", call)) => of.fires.push(call.to_owned()),
            Some(("-", call)) => of.silent.push(call.to_owned()),
            Some(_) | None => {}
        }
    }
    all.insert(id, of);
    all.remove("");
    all
}
