//! How far the log is known to have gone, kept beside its directory: what is left where that is removed with its keys. Written when a
//! chain begins and when a session does, so that a call costs nothing for it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::chain::Seen;
use crate::host::private;

/// The directory that has one beside it.
const OF: &str = super::NAME;
const FILE: &str = "audit.last";

/// A chain, and the number of a line that it had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Last {
    pub name: u32,
    pub count: u64,
}

impl Last {
    /// What is remembered of a log.
    pub fn of(dir: &Path) -> Option<Last> {
        let text = fs::read_to_string(path(dir)?).ok()?;
        let (name, count) = text.trim().split_once(' ')?;
        Some(Last { name: u32::from_str_radix(name, 16).ok()?, count: count.parse().ok()? })
    }

    pub fn keep(self, dir: &Path) -> io::Result<()> {
        let Some(path) = path(dir) else { return Ok(()) };
        let text = format!("{:08x} {}\n", self.name, self.count);
        private::replace(&path, &path.with_extension("last.new"), text.as_bytes())
    }

    /// Remembers how far a chain is, where it has not gone back.
    pub fn follow(dir: &Path, seen: &Seen) -> io::Result<()> {
        let now = Last { name: seen.chain.keys.chain.name, count: seen.chain.anchor.count };
        match Last::of(dir) {
            Some(last) if last.name == now.name && last.count >= now.count => Ok(()),
            Some(_) | None => now.keep(dir),
        }
    }
}

fn path(dir: &Path) -> Option<PathBuf> {
    dir.ends_with(OF).then(|| dir.with_file_name(FILE))
}
