//! The directory of sealed copies while it is filled: every file is written once, and nothing in it is changed afterwards.

use std::collections::BTreeSet;
use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::room::told;
use crate::domain::{Fault, sealed_name};

/// A directory of ours that is empty at first.
#[derive(Debug)]
pub(super) struct Copies<'t> {
    target: &'t Path,
    /// Directories made in it, relative to it.
    made: BTreeSet<String>,
}

impl<'t> Copies<'t> {
    pub fn new(target: &'t Path) -> Copies<'t> {
        Copies { target, made: BTreeSet::new() }
    }

    /// Where the copy of a file lies; `rel` is its path below the root.
    pub fn at(&self, rel: &str) -> PathBuf {
        self.target.join(&*sealed_name(rel))
    }

    /// The copy of a file, which is not there yet.
    pub fn file(&self, rel: &str) -> Result<File, Fault> {
        let path = self.at(rel);
        let made = OpenOptions::new().write(true).create_new(true).mode(0o400).open(&path);
        made.map_err(|error| told(&path, &error))
    }

    /// Makes a directory and those above it.
    pub fn make_dirs(&mut self, rel: &str) -> Result<(), Fault> {
        if rel == "." || self.made.contains(rel) {
            return Ok(());
        }
        for (end, _) in rel.match_indices('/').chain([(rel.len(), "")]) {
            let dir = rel.get(..end).unwrap_or(rel);
            if self.made.contains(dir) {
                continue;
            }
            let path = self.target.join(dir);
            let made = DirBuilder::new().mode(0o700).create(&path);
            made.map_err(|error| told(&path, &error))?;
            self.made.insert(dir.to_owned());
        }
        Ok(())
    }

    /// Nothing more is to be written.
    pub fn close(&self) -> Result<(), Fault> {
        for rel in self.made.iter().map(String::as_str).rev().chain([""]) {
            let path = self.target.join(rel);
            std::fs::set_permissions(&path, Permissions::from_mode(0o500))
                .map_err(|error| told(&path, &error))?;
        }
        Ok(())
    }
}
