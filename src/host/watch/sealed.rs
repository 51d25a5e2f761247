//! The sealed copies: of every watched file the content that counts, found by its digest, in lazaret's own state.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::before::Before;
use crate::domain::{Content, Fault, FaultKind, escape};
use crate::host::registration::manifest;
use crate::host::{files, hex, lock, private};

pub(super) const DIR: &str = "gate";
const INDEX: &str = "index.json";
const LOCK: &str = "lock";
const VERSION: u32 = 1;
/// Longest index and copy, in bytes.
const MAX: u64 = 1 << 20;
/// Longest wait for the lock, in milliseconds.
pub(super) const WAIT_MS: u64 = 500;

/// One file as it counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    /// SHA-256 of the content, in hexadecimal; none = there is no such file.
    sha256: Option<String>,
    mode: u32,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Index {
    version: u32,
    files: BTreeMap<String, Entry>,
    #[serde(default)]
    before: Before,
}

/// The copies, locked for this process as long as it holds them.
#[derive(Debug)]
pub struct Sealed {
    dir: PathBuf,
    index: Index,
    _lock: fs::File,
}

impl Sealed {
    /// Opens the copies below lazaret's state directory; a damaged index counts as empty, since nothing in it can be relied on.
    pub fn open(state: &Path) -> Result<Sealed, Fault> {
        let dir = state.join(DIR);
        private::dir(FaultKind::State, state)?;
        private::dir(FaultKind::State, &dir)?;
        let path = dir.join(LOCK);
        let cannot = |error: &std::io::Error| private::cannot(FaultKind::State, &path, error);
        let file = private::open_make(&path).map_err(|error| cannot(&error))?;
        if !lock::hold(&file, lock::Hold::Alone, WAIT_MS).map_err(|error| cannot(&error))? {
            return Err(
                private::fault(FaultKind::Busy, &path, "another process holds it").with_hint("try again")
            );
        }
        let index = read(&dir.join(INDEX)).and_then(|bytes| crate::host::from_json::<Index>(&bytes).ok());
        let index = index.filter(|index| index.version == VERSION).unwrap_or_default();
        Ok(Sealed { dir, index, _lock: file })
    }

    /// Why what counts for a path cannot be said although it was known: its copy is gone or damaged, or all copies of a registration
    /// that stands in the record of installations are gone.
    pub fn missing(&self, path: &str, had_looked: bool) -> Option<Fault> {
        let damaged = self.index.files.contains_key(path) && self.of(path).is_none();
        let record = || self.dir.parent().is_some_and(|state| state.join(manifest::NAME).exists());
        let gone = || had_looked && self.index.files.is_empty() && record();
        (damaged || gone()).then(|| {
            private::fault(
                FaultKind::State,
                &self.dir,
                format!("the sealed copy of {} is gone", escape(path)),
            )
            .with_hint("look at the clients' settings, then run: lazaret install")
        })
    }

    /// The content that counts for a path, and its mode; none = nothing is known of it, or its copy is damaged.
    pub fn of(&self, path: &str) -> Option<(Content, u32)> {
        let entry = self.index.files.get(path)?;
        let Some(sha256) = &entry.sha256 else { return Some((Content::Absent, entry.mode)) };
        let bytes = read(&self.dir.join(sha256)).filter(|bytes| digest(bytes) == *sha256)?;
        Some((Content::Bytes(bytes), entry.mode))
    }

    /// Lets what is at a path now count. What cannot be read is not kept: the copy of before goes on to count.
    pub fn keep(&mut self, path: &str, content: &Content) -> Result<(), Fault> {
        let entry = match content {
            Content::Unreadable(_) => return Ok(()),
            Content::Absent => Entry { sha256: None, mode: 0o600 },
            Content::Bytes(bytes) => {
                let sha256 = digest(bytes);
                let copy = self.dir.join(&sha256);
                if read(&copy).is_none_or(|kept| kept != *bytes) {
                    files::replace(&copy, bytes).map_err(|error| self.cannot(&error))?;
                }
                let mode = fs::metadata(path).map_or(0o600, |meta| meta.permissions().mode() & 0o7777);
                Entry { sha256: Some(sha256), mode }
            }
        };
        if self.index.files.get(path) == Some(&entry) {
            return Ok(());
        }
        let was = self.index.files.insert(path.to_owned(), entry);
        if let Some(sha256) = was.and_then(|was| was.sha256) {
            self.index.before.add(path, sha256);
        }
        self.save()
    }

    /// Whether this content counted for a path before.
    pub fn counted(&self, path: &str, bytes: &[u8]) -> bool {
        self.index.before.holds(path, bytes)
    }

    /// Forgets a path.
    pub fn forget(&mut self, path: &str) -> Result<(), Fault> {
        self.index.before.forget(path);
        match self.index.files.remove(path) {
            Some(_) => self.save(),
            None => Ok(()),
        }
    }

    /// Removes the copies altogether where none is left.
    pub fn close(self) -> Result<(), Fault> {
        if self.index.files.is_empty() {
            // Whoever waits for the lock makes them anew.
            fs::remove_dir_all(&self.dir).map_err(|error| self.cannot(&error))?;
        }
        Ok(())
    }

    fn save(&mut self) -> Result<(), Fault> {
        self.index.version = VERSION;
        let bytes = serde_json::to_vec(&self.index).unwrap_or_default();
        files::replace(&self.dir.join(INDEX), &bytes).map_err(|error| self.cannot(&error))?;
        self.sweep();
        Ok(())
    }

    /// Removes copies that nothing names any more.
    fn sweep(&self) {
        for entry in fs::read_dir(&self.dir).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let named = self.index.files.values().any(|file| file.sha256.as_ref() == Some(&name));
            if name.len() == 64 && !named {
                // A copy too many harms nobody.
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    fn cannot(&self, error: &std::io::Error) -> Fault {
        private::cannot(FaultKind::State, &self.dir, error)
    }
}

pub(super) fn read(path: &Path) -> Option<Vec<u8>> {
    files::read(path.to_str()?, MAX, files::Links::Refuse).ok().flatten()
}

pub(super) fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}
