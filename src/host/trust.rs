//! A person's word on a file of configuration: a project's, or the user's own. Permission is for one path with one content, so
//! an edit withdraws it; refusal is for the path, so it outlives edits.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::files::{self, Links};
use super::{hex, private};
use crate::domain::words;

/// Longest path that is kept beside a permission.
const MAX_PATH: u64 = 64 * 1024;

words! {
    /// What a person has said of a file.
    TrustState {
        /// Nothing yet, or nothing of this content.
        Unknown = "unknown",
        Allowed = "allowed",
        Denied = "denied",
    }
}

/// What a person has said of the file at `path` with this content.
pub fn state(state_dir: &Path, path: &str, content: &[u8]) -> TrustState {
    if holds(&denied_place(state_dir, path), path) {
        TrustState::Denied
    } else if holds(&allowed_place(state_dir, path, content), path) {
        TrustState::Allowed
    } else {
        TrustState::Unknown
    }
}

/// From now on the file may loosen, as long as it has this content.
pub fn allow(state_dir: &Path, path: &str, content: &[u8]) -> std::io::Result<()> {
    record(&allowed_place(state_dir, path, content), path)?;
    private::found(std::fs::remove_file(denied_place(state_dir, path))).map(drop)
}

/// From now on the file may loosen with this content and with no other one, earlier ones included.
pub fn accept(state_dir: &Path, path: &str, content: &[u8]) -> std::io::Result<()> {
    withdraw(state_dir, path)?;
    allow(state_dir, path, content)?;
    begin(state_dir, path)
}

/// Whether nobody has been asked about the user's file so far: lazaret is new here, or of a version that did not ask.
pub fn is_new(state_dir: &Path) -> bool {
    !begun_place(state_dir).exists()
}

/// From now on the user's file counts as a person accepts it.
pub fn begin(state_dir: &Path, path: &str) -> std::io::Result<()> {
    record(&begun_place(state_dir), path)
}

fn begun_place(state_dir: &Path) -> PathBuf {
    state_dir.join("trust/asked")
}

/// From now on the file may not loosen, whatever its content; earlier permissions are gone.
pub fn deny(state_dir: &Path, path: &str) -> std::io::Result<()> {
    record(&denied_place(state_dir, path), path)?;
    withdraw(state_dir, path)
}

/// Takes every permission for the file back.
fn withdraw(state_dir: &Path, path: &str) -> std::io::Result<()> {
    for entry in private::found(std::fs::read_dir(state_dir.join("trust/allowed")))?.into_iter().flatten() {
        let file = entry?.path();
        if holds(&file, path) {
            std::fs::remove_file(file)?;
        }
    }
    Ok(())
}

/// A record says the path it is for, for a person who looks, and so that a stray file is none.
fn holds(record: &Path, path: &str) -> bool {
    let Some(record) = record.to_str() else { return false };
    files::read(record, MAX_PATH, Links::Refuse) == Ok(Some(path.as_bytes().to_vec()))
}

fn record(place: &Path, path: &str) -> std::io::Result<()> {
    if let Some(dir) = place.parent() {
        files::private_dir(dir)?;
    }
    files::replace(place, path.as_bytes())
}

fn denied_place(state_dir: &Path, path: &str) -> PathBuf {
    state_dir.join("trust/denied").join(hex(&Sha256::digest(path.as_bytes())))
}

fn allowed_place(state_dir: &Path, path: &str, content: &[u8]) -> PathBuf {
    // The length keeps a path's end from passing for a content's beginning.
    let mut hash = Sha256::new();
    hash.update(u64::try_from(path.len()).unwrap_or(u64::MAX).to_le_bytes());
    hash.update(path.as_bytes());
    hash.update(content);
    state_dir.join("trust/allowed").join(hex(&hash.finalize()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permission_is_for_a_content_and_refusal_for_a_path() {
        let dir = tempfile::tempdir().unwrap();
        let here = dir.path();
        assert_eq!(state(here, "/p", b"one"), TrustState::Unknown);
        allow(here, "/p", b"one").unwrap();
        assert_eq!(state(here, "/p", b"one"), TrustState::Allowed);
        assert_eq!(state(here, "/p", b"two"), TrustState::Unknown);
        assert_eq!(state(here, "/po", b"ne"), TrustState::Unknown);
        deny(here, "/p").unwrap();
        assert_eq!(state(here, "/p", b"one"), TrustState::Denied);
        assert_eq!(state(here, "/p", b"two"), TrustState::Denied);
        allow(here, "/p", b"two").unwrap();
        assert_eq!(state(here, "/p", b"two"), TrustState::Allowed);
        assert_eq!(
            state(here, "/p", b"one"),
            TrustState::Unknown,
            "refusal took the earlier permission away"
        );
    }

    #[test]
    fn a_stray_record_is_none() {
        let dir = tempfile::tempdir().unwrap();
        allow(dir.path(), "/p", b"x").unwrap();
        let place = allowed_place(dir.path(), "/p", b"x");
        std::fs::write(&place, b"/other").unwrap();
        assert_eq!(state(dir.path(), "/p", b"x"), TrustState::Unknown);
        std::fs::remove_file(&place).unwrap();
        std::fs::write(dir.path().join("elsewhere"), b"/p").unwrap();
        std::os::unix::fs::symlink(dir.path().join("elsewhere"), &place).unwrap();
        assert_eq!(state(dir.path(), "/p", b"x"), TrustState::Unknown);
    }
}
