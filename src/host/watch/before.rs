//! Contents of watched files that counted once: `git switch` brings them again.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::sealed::digest;

/// Most contents that are known of one file.
const MAX: usize = 32;

/// By path, the SHA-256 of each content, the latest last.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Before(BTreeMap<String, Vec<String>>);

impl Before {
    /// Remembers a content that counts no more.
    pub fn add(&mut self, path: &str, sha256: String) {
        let contents = self.0.entry(path.to_owned()).or_default();
        contents.retain(|one| *one != sha256);
        contents.push(sha256);
        contents.drain(..contents.len().saturating_sub(MAX));
    }

    pub fn holds(&self, path: &str, bytes: &[u8]) -> bool {
        self.0.get(path).is_some_and(|contents| contents.contains(&digest(bytes)))
    }

    pub fn forget(&mut self, path: &str) {
        self.0.remove(path);
    }
}
