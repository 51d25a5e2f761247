//! What goes: checkpoints that are too old or too many, contents that none of them names, what killed processes left.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::record::{Manifest, State};
use super::store::{Checkpoints, MAX_CHECKPOINTS, on_disk};
use crate::domain::{Fault, map_of, set_of};
use crate::host::clock::Now;
use crate::host::private;

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

impl Checkpoints {
    /// Removes what has passed its age, and more where the store is too large. What is young and small costs next to nothing.
    pub fn sweep(&self, now: Now) -> Result<(), Fault> {
        if !self.dir.exists() {
            return Ok(());
        }
        let _held = self.hold()?;
        self.remove_leftovers();
        let gone = self.remove_old(now)?;
        let looked = self.dir.join("swept");
        let counted = looked.exists() && private::untouched_ms(&looked, now) < DAY_MS;
        if !gone && counted && self.used() <= self.bounds.max_store_bytes {
            return Ok(());
        }
        self.fit(now, self.bounds.max_store_bytes)?;
        self.write(&looked, b"")
    }

    /// Removes the oldest until at most `most` bytes are left. The lock is held.
    pub(super) fn make_room(&self, now: Now, most: u64) -> Result<(), Fault> {
        self.remove_old(now)?;
        self.fit(now, most)
    }

    /// The same of those that are not too old.
    fn fit(&self, now: Now, most: u64) -> Result<(), Fault> {
        let mut kept: Vec<Manifest> = Vec::new();
        let mut bytes = 0_u64;
        let mut seen: BTreeSet<String> = BTreeSet::new();
        let mut is_full = false;
        // The newest stay.
        for id in self.ids()?.iter().rev() {
            let own: u64 = self.files_of(id).iter().map(|path| on_disk(length(path))).sum();
            let Some(manifest) = self.find(id).ok().flatten() else {
                self.drop_files(id)?;
                continue;
            };
            let files = manifest.entries.iter().filter_map(|entry| match &entry.state {
                State::File { digest, size, .. } if !seen.contains(digest) => Some((digest.clone(), *size)),
                _ => None,
            });
            let files = map_of(files);
            let more = files.values().fold(own, |sum, size| sum.saturating_add(on_disk(*size)));
            // One that is too large alone does not take all others with it.
            is_full |= more <= most && bytes.saturating_add(more) > most;
            if is_full || more > most {
                self.drop_files(id)?;
                continue;
            }
            bytes = bytes.saturating_add(more);
            seen.extend(files.into_keys());
            kept.push(manifest);
        }
        self.remove_unnamed(&kept, now);
        self.count(bytes)
    }

    /// Removes those that are too old or too many, by what their names say. Whether there were any.
    fn remove_old(&self, now: Now) -> Result<bool, Fault> {
        let age = u64::from(self.bounds.retain_days) * DAY_MS;
        let ids = self.ids()?;
        let too_many = ids.len().saturating_sub(MAX_CHECKPOINTS);
        let is_old = |id: &str| made_ms(id).is_none_or(|made| now.unix_ms.saturating_sub(made) > age);
        let mut gone = false;
        for (at, id) in ids.iter().enumerate() {
            if at < too_many || is_old(id) {
                self.drop_files(id)?;
                gone = true;
            }
        }
        Ok(gone)
    }

    fn files_of(&self, id: &str) -> [PathBuf; 2] {
        [self.manifest(id), self.dir.join("after").join(format!("{id}.json"))]
    }

    fn drop_files(&self, id: &str) -> Result<(), Fault> {
        let [_, after] = self.files_of(id);
        self.forget(id)?;
        let _ = fs::remove_file(after);
        Ok(())
    }

    /// Removes contents that no checkpoint names, and what killed processes have left: nobody else writes now.
    fn remove_unnamed(&self, kept: &[Manifest], now: Now) {
        let entries = kept.iter().flat_map(|manifest| &manifest.entries);
        let named = set_of(entries.filter_map(|entry| match &entry.state {
            State::File { digest, .. } => Some(digest.as_str()),
            _ => None,
        }));
        for front in files(&self.dir.join("objects")) {
            let name = name_of(&front);
            if name.starts_with(super::TEMP) {
                let _ = fs::remove_file(&front);
                continue;
            }
            for object in files(&front) {
                if !named.contains(format!("{name}{}", name_of(&object)).as_str()) {
                    let _ = fs::remove_file(&object);
                }
            }
        }
        let ids = set_of(kept.iter().map(|manifest| manifest.id.as_str()));
        for file in files(&self.dir.join("after")) {
            if !ids.contains(name_of(&file).trim_end_matches(".json")) {
                let _ = fs::remove_file(&file);
            }
        }
        for file in files(&self.dir.join("pending")) {
            if private::untouched_ms(&file, now) > DAY_MS {
                let _ = fs::remove_file(&file);
            }
        }
        for file in files(&self.dir) {
            if name_of(&file).starts_with(super::TEMP) {
                let _ = fs::remove_file(&file);
            }
        }
    }
}

/// When a checkpoint was made, in milliseconds since 1970: an id of version 7 begins with it.
fn made_ms(id: &str) -> Option<u64> {
    let digits: String = id.chars().filter(|c| *c != '-').take(12).collect();
    (digits.len() == 12).then(|| u64::from_str_radix(&digits, 16).ok()).flatten()
}

fn length(path: &Path) -> u64 {
    fs::symlink_metadata(path).map_or(0, |meta| meta.len())
}

fn files(dir: &Path) -> Vec<PathBuf> {
    fs::read_dir(dir).map(|entries| entries.flatten().map(|entry| entry.path()).collect()).unwrap_or_default()
}

fn name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
