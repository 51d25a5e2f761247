//! One file that install changes: shown as a difference, or made with a backup and a record of how to take it back.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::domain::{Client, Fault, escape};
use crate::host::registration::manifest::{Before, Kind, Manifest, Written};
use crate::host::registration::{Scope, Surroundings, diff, files};

/// The mode of a new file: nobody but its owner writes to what a client runs.
const MODE: u32 = 0o644;
const DIR_MODE: u32 = 0o755;

/// What happens to a file of the same name that install did not write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    Replace,
    Keep,
}

/// A file, its text and the text it is to have.
#[derive(Debug, Clone)]
pub struct Change {
    pub client: Client,
    pub scope: Scope,
    pub path: PathBuf,
    pub kind: Kind,
    pub what: String,
    pub bin: Option<String>,
    pub old: Option<String>,
    pub new: String,
    /// The old text holds a registration of ours already.
    pub mixed: bool,
    pub existing: Existing,
}

impl Change {
    /// Prints the difference. True when there is one.
    pub fn show(&self, out: &mut dyn Write) -> Result<bool> {
        let old = self.old.as_deref().unwrap_or_default();
        let changes = self.old.as_deref() != Some(self.new.as_str());
        if changes {
            write!(out, "{}", diff::unified(&shown(&self.path), old, &self.new))?;
            self.name_target(out)?;
        } else {
            writeln!(out, "unchanged  {}: {}", shown(&self.path), self.what)?;
        }
        Ok(changes)
    }

    /// Writes the file. True when it was not so already.
    pub fn make(&self, here: &Surroundings, manifest: &mut Manifest, out: &mut dyn Write) -> Result<bool> {
        if self.old.as_deref() == Some(self.new.as_str()) {
            writeln!(out, "unchanged  {}: {}", shown(&self.path), self.what)?;
            return Ok(false);
        }
        let earlier = self.still_as_we_left_it(manifest);
        if self.existing == Existing::Keep && self.old.is_some() && earlier.is_none() {
            writeln!(out, "kept       {}: it was there before, and is not lazaret's", shown(&self.path))?;
            return Ok(false);
        }
        let mut written = Written::new(&self.path, self.kind, self.client, self.scope);
        written.bin.clone_from(&self.bin);
        written.after = files::digest(&self.new);
        let backup = self.keep_what_was(earlier, &mut written, here)?;
        written.dirs.extend(self.make_room()?);
        manifest.put(written);
        // Recorded first: a record of a change that was not made is harmless, a change without a record is not exact.
        manifest.save(here)?;
        files::replace(&self.path, &self.new, MODE)?;
        let verb = if self.old.is_some() { "changed    " } else { "created    " };
        writeln!(out, "{}{}: {}", verb, shown(&self.path), self.what)?;
        self.name_target(out)?;
        if let Some(backup) = backup {
            writeln!(out, "           backup {}", shown(&backup))?;
        }
        Ok(true)
    }

    /// Where a link leads, whether or not anything is there yet, is what is written.
    fn name_target(&self, out: &mut dyn Write) -> Result<()> {
        let target = files::behind_links(&self.path)?;
        if target != self.path {
            writeln!(out, "           a link to {}", shown(&target))?;
        }
        Ok(())
    }

    fn still_as_we_left_it(&self, manifest: &Manifest) -> Option<Written> {
        let earlier = manifest.find(&self.path)?;
        let old = self.old.as_deref()?;
        (earlier.after == files::digest(old)).then(|| earlier.clone())
    }

    /// Fills in what was there before, and backs it up where it is not ours. Returns a new backup's place.
    fn keep_what_was(
        &self,
        earlier: Option<Written>,
        written: &mut Written,
        here: &Surroundings,
    ) -> Result<Option<PathBuf>, Fault> {
        if let Some(earlier) = earlier {
            written.before = earlier.before;
            written.dirs = earlier.dirs;
            return Ok(None);
        }
        if self.old.is_none() {
            written.before = Before::Absent;
            return Ok(None);
        }
        let backup = files::back_up(&self.path, here.now)?;
        written.before = if self.mixed { Before::Mixed } else { Before::Backup(backup.clone()) };
        Ok(Some(backup))
    }

    fn make_room(&self) -> Result<Vec<PathBuf>, Fault> {
        let target = files::behind_links(&self.path)?;
        target.parent().map_or(Ok(Vec::new()), |dir| files::make_dirs(dir, DIR_MODE))
    }
}

/// A path as it is printed.
pub fn shown(path: &Path) -> String {
    escape(&path.display().to_string())
}
