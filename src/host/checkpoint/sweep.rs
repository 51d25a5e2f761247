//! What goes: checkpoints that are too old or too many, contents that none of them names, what killed processes left.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::record::{Manifest, State};
use super::store::Checkpoints;
use crate::domain::Fault;
use crate::host::clock::Now;
use crate::host::private;

const DAY_MS: u64 = 24 * 60 * 60 * 1000;
/// Files that are being written are left alone for so long.
const YOUNG_MS: u64 = 60 * 60 * 1000;

impl Checkpoints {
    /// Removes what has passed its age, and more where the store is too large.
    pub fn sweep(&self, now: Now) -> Result<(), Fault> {
        if !self.dir.exists() {
            return Ok(());
        }
        let _held = self.hold()?;
        self.make_room(now, self.bounds.max_store_bytes)
    }

    /// Removes the oldest until at most `most` bytes are left. The lock is held.
    pub(super) fn make_room(&self, now: Now, most: u64) -> Result<(), Fault> {
        let mut all = self.all()?;
        let age = u64::from(self.bounds.retain_days) * DAY_MS;
        let mut kept: Vec<Manifest> = Vec::with_capacity(all.len());
        let mut bytes = 0_u64;
        let mut seen: BTreeSet<String> = BTreeSet::new();
        // The newest stay.
        while let Some(manifest) = all.pop() {
            for entry in &manifest.entries {
                if let State::File { digest, size, .. } = &entry.state
                    && seen.insert(digest.clone())
                {
                    bytes = bytes.saturating_add(*size);
                }
            }
            let old = now.unix_ms.saturating_sub(manifest.unix_ms) > age;
            if old || bytes > most {
                self.forget(&manifest.id)?;
                let _ = fs::remove_file(self.dir.join("after").join(format!("{}.json", manifest.id)));
            } else {
                kept.push(manifest);
            }
        }
        let used = self.remove_unnamed(&kept, now);
        self.count(used)
    }

    /// Removes contents that no checkpoint names, and says how many bytes are left.
    fn remove_unnamed(&self, kept: &[Manifest], now: Now) -> u64 {
        let named: BTreeSet<&str> = kept
            .iter()
            .flat_map(|manifest| &manifest.entries)
            .filter_map(|entry| match &entry.state {
                State::File { digest, .. } => Some(digest.as_str()),
                _ => None,
            })
            .collect();
        let mut used = 0;
        for front in files(&self.dir.join("objects")) {
            let name = name_of(&front);
            if name.starts_with(super::TEMP) {
                remove_when_old(&front, now);
                continue;
            }
            for object in files(&front) {
                if named.contains(format!("{name}{}", name_of(&object)).as_str()) {
                    used += fs::symlink_metadata(&object).map_or(0, |meta| meta.len());
                } else {
                    let _ = fs::remove_file(&object);
                }
            }
        }
        let ids: BTreeSet<&str> = kept.iter().map(|manifest| manifest.id.as_str()).collect();
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
                remove_when_old(&file, now);
            }
        }
        used
    }
}

fn remove_when_old(file: &Path, now: Now) {
    if private::untouched_ms(file, now) > YOUNG_MS {
        let _ = fs::remove_file(file);
    }
}

fn files(dir: &Path) -> Vec<std::path::PathBuf> {
    fs::read_dir(dir).map(|entries| entries.flatten().map(|entry| entry.path()).collect()).unwrap_or_default()
}

fn name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
