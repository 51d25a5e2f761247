//! What is remembered of the files of one scope that run something: what the system said of each, and a copy of its content, in
//! lazaret's own state.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::before::Before;
use super::sealed::{WAIT_MS, digest, read};
use crate::domain::{Content, Fault, FaultKind, Surface, set_of};
use crate::host::{files, lock, private};

const DIR: &str = "surfaces";
const INDEX: &str = "index.json";
const VIEW: &str = "view";
const LOCK: &str = "lock";
/// There while a call runs that may write.
const OPEN: &str = "open";
const VERSION: u64 = 1;

/// The scope of the clients' settings, which are watched otherwise: of it only what was taken back is remembered.
pub const SETTINGS: &str = "settings";

/// One file as it was last let be.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Kept {
    seen: u64,
    /// None = its content could not be read.
    sha256: Option<String>,
    mode: u32,
}

/// What was moved aside, until a person accepts it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    pub aside: String,
    pub why: String,
}

#[derive(Debug, Default)]
struct Index {
    files: BTreeMap<String, Kept>,
    links: BTreeSet<String>,
    /// Directories with more files than are looked at, of which a person was told.
    over: BTreeSet<String>,
    taken: BTreeMap<String, Taken>,
    before: Before,
    /// By the configuration that leads there.
    linked: BTreeMap<String, Vec<(String, Surface)>>,
}

/// The memory of one scope, locked for this process as long as it holds it.
#[derive(Debug)]
pub struct Shelf {
    dir: PathBuf,
    index: Index,
    is_new: bool,
    _lock: fs::File,
}

/// What the last look saw, without a lock: one number, and what configurations lead to.
pub fn last(state: &Path, key: &str) -> (u64, Vec<(String, Surface)>) {
    last_of(&state.join(DIR).join(key))
}

fn last_of(dir: &Path) -> (u64, Vec<(String, Surface)>) {
    let bytes = read(&dir.join(VIEW)).unwrap_or_default();
    let value: Value = crate::host::from_json(&bytes).unwrap_or_default();
    let number = value.get("view").and_then(Value::as_u64).unwrap_or_default();
    (number, value.get("linked").map(links).unwrap_or_default())
}

/// Places by their path: whether hooks lie there, else a configuration.
fn links(value: &Value) -> Vec<(String, Surface)> {
    let members = value.as_object().into_iter().flatten();
    let kind =
        |hooks: &Value| if hooks == &Value::Bool(true) { Surface::GitHook } else { Surface::GitConfig };
    members.map(|(path, hooks)| (path.clone(), kind(hooks))).collect()
}

fn links_value(links: &[(String, Surface)]) -> Value {
    Value::Object(
        links.iter().map(|(path, kind)| (path.clone(), Value::Bool(*kind == Surface::GitHook))).collect(),
    )
}

fn text(value: Option<&Value>) -> Option<String> {
    value.and_then(Value::as_str).map(str::to_owned)
}

impl Index {
    /// None = it is not one of ours.
    fn from(value: &Value) -> Option<Index> {
        if value.get("version").and_then(Value::as_u64) != Some(VERSION) {
            return None;
        }
        let object = |key: &str| value.get(key).and_then(Value::as_object);
        let names = |key: &str| {
            let list = value.get(key).and_then(Value::as_array).into_iter().flatten();
            set_of(list.filter_map(Value::as_str).map(str::to_owned))
        };
        let mut index = Index { links: names("links"), over: names("over"), ..Index::default() };
        for (path, file) in object("files")? {
            let seen = file.get("seen").and_then(Value::as_u64)?;
            let mode = u32::try_from(file.get("mode").and_then(Value::as_u64)?).ok()?;
            index.files.insert(path.clone(), Kept { seen, sha256: text(file.get("sha256")), mode });
        }
        for (path, taken) in object("taken")? {
            let aside = text(taken.get("aside"))?;
            index.taken.insert(path.clone(), Taken { aside, why: text(taken.get("why"))? });
        }
        index.before =
            value.get("before").and_then(|before| Before::deserialize(before).ok()).unwrap_or_default();
        for (config, led) in object("linked")? {
            index.linked.insert(config.clone(), links(led));
        }
        Some(index)
    }

    fn value(&self) -> Value {
        let files = self.files.iter().map(|(path, file)| {
            (path.clone(), json!({"seen": file.seen, "sha256": file.sha256, "mode": file.mode}))
        });
        let taken = self
            .taken
            .iter()
            .map(|(path, taken)| (path.clone(), json!({"aside": taken.aside, "why": taken.why})));
        let linked = self.linked.iter().map(|(config, led)| (config.clone(), links_value(led)));
        let names = |names: &BTreeSet<String>| names.iter().cloned().map(Value::String).collect();
        let (links, over): (Value, Value) = (names(&self.links), names(&self.over));
        let mut value = Map::new();
        for (key, part) in [
            ("version", VERSION.into()),
            ("files", Value::Object(files.collect())),
            ("taken", Value::Object(taken.collect())),
            ("linked", Value::Object(linked.collect())),
            ("before", json!(self.before)),
            ("links", links),
            ("over", over),
        ] {
            value.insert(key.to_owned(), part);
        }
        Value::Object(value)
    }
}

/// Says that a call runs that may write, or that none does; true = one was known to.
pub fn running(state: &Path, key: &str, runs: bool) -> bool {
    let path = state.join(DIR).join(key).join(OPEN);
    if runs {
        // Where there is no memory yet there is nothing to compare with either.
        return private::open_make(&path).is_ok();
    }
    fs::remove_file(&path).is_ok()
}

impl Shelf {
    /// Opens it; a damaged one counts as new, since nothing in it can be relied on.
    pub fn open(state: &Path, key: &str) -> Result<Shelf, Fault> {
        let above = state.join(DIR);
        let dir = above.join(key);
        for dir in [state, &above, &dir] {
            private::dir(FaultKind::State, dir)?;
        }
        let path = dir.join(LOCK);
        let cannot = |error: &std::io::Error| private::cannot(FaultKind::State, &path, error);
        let file = private::open_make(&path).map_err(|error| cannot(&error))?;
        if !lock::hold(&file, lock::Hold::Alone, WAIT_MS).map_err(|error| cannot(&error))? {
            let busy = private::fault(FaultKind::Busy, &path, "another process holds it");
            return Err(busy.with_hint("try again"));
        }
        let value: Option<Value> =
            read(&dir.join(INDEX)).and_then(|bytes| crate::host::from_json(&bytes).ok());
        let index = value.as_ref().and_then(Index::from);
        let is_new = index.is_none();
        Ok(Shelf { dir, index: index.unwrap_or_default(), is_new, _lock: file })
    }

    /// Those of every scope.
    pub fn all(state: &Path) -> Result<Vec<Shelf>, Fault> {
        let entries = fs::read_dir(state.join(DIR)).into_iter().flatten().flatten();
        entries.map(|entry| Shelf::open(state, &entry.file_name().to_string_lossy())).collect()
    }

    /// Nothing was looked at before.
    pub fn is_new(&self) -> bool {
        self.is_new
    }

    /// Whether a file is as it was when it was last let be.
    pub fn is_as_seen(&self, path: &str, seen: u64) -> bool {
        self.index.files.get(path).is_some_and(|kept| kept.seen == seen)
    }

    /// The content that was last let be, and its mode; none = there was no such file.
    pub fn of(&self, path: &str) -> Option<(Content, u32)> {
        let kept = self.index.files.get(path)?;
        let bytes = kept
            .sha256
            .as_ref()
            .and_then(|sha256| read(&self.dir.join(sha256)).filter(|bytes| digest(bytes) == *sha256));
        let lost = || Content::Unreadable("its copy is lost".to_owned());
        Some((bytes.map_or_else(lost, Content::Bytes), kept.mode))
    }

    pub fn knows_link(&self, link: &str) -> bool {
        self.index.links.contains(link)
    }

    /// Lets a file be as it is.
    pub fn keep(&mut self, path: &str, seen: u64, content: &Content) -> Result<(), Fault> {
        let sha256 = match content {
            Content::Bytes(bytes) => {
                let sha256 = digest(bytes);
                let copy = self.dir.join(&sha256);
                if !copy.exists() {
                    files::replace(&copy, bytes).map_err(|error| self.cannot(&error))?;
                }
                Some(sha256)
            }
            Content::Absent | Content::Unreadable(_) => None,
        };
        let mode = fs::metadata(path).map_or(0o600, |meta| meta.permissions().mode() & 0o7777);
        let was = self.index.files.insert(path.to_owned(), Kept { seen, sha256: sha256.clone(), mode });
        if let Some(was) = was.and_then(|was| was.sha256).filter(|was| Some(was) != sha256.as_ref()) {
            self.index.before.add(path, was);
        }
        self.index.taken.remove(path);
        Ok(())
    }

    /// Whether a file was let be with this content before: `git switch` brings it again.
    pub fn counted(&self, path: &str, bytes: &[u8]) -> bool {
        self.index.before.holds(path, bytes)
    }

    /// Remembers what was taken back of a client's settings.
    pub fn took_settings(state: &Path, path: &str, taken: Taken) -> Result<(), Fault> {
        let mut shelf = Shelf::open(state, SETTINGS)?;
        shelf.took(path, taken);
        shelf.save(1)
    }

    pub fn keep_link(&mut self, link: &str) {
        self.index.links.insert(link.to_owned());
    }

    /// Remembers a directory that holds more than is looked at; true = it was not known to.
    pub fn keep_over(&mut self, dir: &str) -> bool {
        self.index.over.insert(dir.to_owned())
    }

    /// Remembers what was moved aside, for a person to accept.
    pub fn took(&mut self, path: &str, taken: Taken) {
        self.index.taken.insert(path.to_owned(), taken);
    }

    /// A person has it in place again.
    pub fn gave(&mut self, path: &str) -> Result<(), Fault> {
        self.index.taken.remove(path);
        let (view, _) = last_of(&self.dir);
        self.save(view)
    }

    /// All that was moved aside.
    pub fn taken(&self) -> impl Iterator<Item = (&String, &Taken)> {
        self.index.taken.iter()
    }

    /// Forgets what is not there any more.
    pub fn only(&mut self, there: &BTreeSet<&str>) {
        self.index.files.retain(|path, _| there.contains(path.as_str()));
        self.index.linked.retain(|path, _| there.contains(path.as_str()));
    }

    pub fn lead(&mut self, config: &str, linked: Vec<(String, Surface)>) {
        if linked.is_empty() {
            self.index.linked.remove(config);
        } else {
            self.index.linked.insert(config.to_owned(), linked);
        }
    }

    /// Everything that configurations lead to.
    pub fn linked(&self) -> Vec<(String, Surface)> {
        self.index.linked.values().flatten().cloned().collect()
    }

    /// Writes it, with the number of what was seen.
    pub fn save(&mut self, view: u64) -> Result<(), Fault> {
        let index = serde_json::to_vec(&self.index.value()).unwrap_or_default();
        let last = json!({"view": view, "linked": links_value(&self.linked())});
        let last = serde_json::to_vec(&last).unwrap_or_default();
        for (name, bytes) in [(INDEX, &index), (VIEW, &last)] {
            files::replace(&self.dir.join(name), bytes).map_err(|error| self.cannot(&error))?;
        }
        self.sweep();
        Ok(())
    }

    /// Removes copies that nothing names any more.
    fn sweep(&self) {
        let named = set_of(self.index.files.values().filter_map(|file| file.sha256.as_deref()));
        for entry in fs::read_dir(&self.dir).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.len() == 64 && !named.contains(name.as_str()) {
                // A copy too many harms nobody.
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    fn cannot(&self, error: &std::io::Error) -> Fault {
        private::cannot(FaultKind::State, &self.dir, error)
    }
}
