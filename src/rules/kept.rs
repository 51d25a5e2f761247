//! What people keep below their home directory, by our lists: keys and credentials, and caches that tools fill again.

use super::builtin::lists::{CACHES, NOT_SECRET, SECRET_DIRS, SECRET_NAMES, SECRET_TREES};

/// Directories and files, relative to the home directory, in which keys and credentials are kept.
pub fn secrets() -> impl Iterator<Item = &'static str> {
    let files = SECRET_NAMES.iter().filter(|name| name.starts_with('.'));
    SECRET_DIRS.iter().chain(files).copied()
}

/// Files in those directories that are no secret, relative to the home directory.
pub fn not_secret() -> impl Iterator<Item = String> {
    SECRET_TREES.iter().flat_map(|dir| NOT_SECRET.iter().map(move |name| [dir, "/", name].concat()))
}

/// Caches, relative to the home directory.
pub fn caches() -> impl Iterator<Item = &'static str> {
    CACHES.iter().map(|cache| cache.trim_end_matches('/'))
}
