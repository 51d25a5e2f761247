//! What install wrote, kept in the state directory so that uninstall can give back the very bytes from before.
//! A record that is missing or out of date costs exactness, never a registration.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Scope, Surroundings, files, host_fault};
use crate::domain::{Client, Fault};

/// Its name in the state directory.
pub const NAME: &str = "install.json";
const VERSION: u32 = 1;
/// The mode of directories made for the record.
const PRIVATE: u32 = 0o700;

/// What kind of file was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A client's settings, with our entries among others.
    Settings,
    /// A file that is ours as a whole.
    Whole,
    /// OpenCode's configuration, with our plugin's name among others.
    Plugins,
}

/// What was at a path before install came.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Before {
    Absent,
    Backup(PathBuf),
    /// Ours already, and changed by others since; there are no bytes to give back.
    Mixed,
}

/// One file that install wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written {
    pub path: PathBuf,
    pub kind: Kind,
    client: String,
    scope: String,
    /// The binary that is registered there.
    pub bin: Option<String>,
    pub before: Before,
    /// Digest of the text as install left it.
    pub after: String,
    /// Directories that were made for it, outermost first.
    #[serde(default)]
    pub dirs: Vec<PathBuf>,
}

impl Written {
    pub fn new(path: &Path, kind: Kind, client: Client, scope: Scope) -> Written {
        Written {
            path: path.to_path_buf(),
            kind,
            client: client.name().to_owned(),
            scope: scope.name().to_owned(),
            bin: None,
            before: Before::Absent,
            after: String::new(),
            dirs: Vec::new(),
        }
    }

    pub fn is_of(&self, client: Client, scope: Option<Scope>) -> bool {
        self.client == client.name() && scope.is_none_or(|scope| self.scope == scope.name())
    }
}

/// All that install wrote on this machine for this user.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Manifest {
    pub written: Vec<Written>,
    /// Directories that were made for this record, outermost first.
    dirs: Vec<PathBuf>,
}

#[derive(Serialize, Deserialize)]
struct Document {
    version: u32,
    #[serde(default)]
    dirs: Vec<PathBuf>,
    written: Vec<Written>,
}

/// A manifest and, when there was a damaged one, where that was put.
#[derive(Debug)]
pub struct Loaded {
    pub manifest: Manifest,
    pub set_aside: Option<PathBuf>,
}

impl Manifest {
    pub fn path(here: &Surroundings) -> PathBuf {
        here.state_dir.join(NAME)
    }

    /// The manifest as it is on the disk; a damaged one counts as empty.
    pub fn peek(here: &Surroundings) -> Manifest {
        let text = files::read(&Manifest::path(here)).ok().flatten();
        text.and_then(|text| parse(&text)).unwrap_or_default()
    }

    /// The manifest for changing it; a damaged one is kept aside.
    pub fn load(here: &Surroundings) -> Result<Loaded, Fault> {
        let path = Manifest::path(here);
        let Some(text) = files::read(&path)? else {
            return Ok(Loaded { manifest: Manifest::default(), set_aside: None });
        };
        if let Some(manifest) = parse(&text) {
            return Ok(Loaded { manifest, set_aside: None });
        }
        let aside = files::back_up(&path, here.now)?;
        Ok(Loaded { manifest: Manifest::default(), set_aside: Some(aside) })
    }

    pub fn find(&self, path: &Path) -> Option<&Written> {
        self.written.iter().find(|written| written.path == path)
    }

    /// The paths of all binaries that were registered.
    pub fn bins(&self) -> Vec<String> {
        self.written.iter().filter_map(|written| written.bin.clone()).collect()
    }

    pub fn put(&mut self, written: Written) {
        self.forget(&written.path);
        self.written.push(written);
    }

    pub fn forget(&mut self, path: &Path) {
        self.written.retain(|written| written.path != path);
    }

    /// Makes the directory that the manifest lies in.
    pub fn make_room(&mut self, here: &Surroundings) -> Result<(), Fault> {
        self.dirs.extend(files::make_dirs(&here.state_dir, PRIVATE)?);
        Ok(())
    }

    /// Writes the manifest; an empty one is removed, with the directories made for it when nothing else is in them.
    pub fn save(&mut self, here: &Surroundings) -> Result<(), Fault> {
        let path = Manifest::path(here);
        if self.written.is_empty() {
            files::remove(&path)?;
            files::remove_empty_dirs(&self.dirs);
            return Ok(());
        }
        self.make_room(here)?;
        let document = Document { version: VERSION, dirs: self.dirs.clone(), written: self.written.clone() };
        let text = serde_json::to_string_pretty(&document)
            .map_err(|error| host_fault(path.display().to_string(), &std::io::Error::other(error)))?;
        files::replace(&path, &(text + "\n"), 0o600)
    }
}

fn parse(text: &str) -> Option<Manifest> {
    let document: Document = serde_json::from_str(text).ok()?;
    (document.version == VERSION).then_some(Manifest { written: document.written, dirs: document.dirs })
}
