//! The files of a machine: what it was told about its fleet, the configuration in force, and the highest numbers it had.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use lazaret::host::brought::{self, APPLIED, Applied};
use lazaret::host::dirs::{Dirs, Environment};
use lazaret::host::files::{self, Links};
use serde::{Deserialize, Serialize};

use crate::bundle;
use crate::settings::MAX_SETTINGS;

/// The managed configuration.
pub const CONFIG: &str = "config.toml";
/// One that no bundle brought, and that a bundle took the place of.
pub const BEFORE: &str = "config.toml.before";

/// The directory of the managed configuration.
pub fn managed() -> PathBuf {
    let file = Dirs::managed();
    file.parent().map_or_else(PathBuf::new, Path::to_owned)
}

/// What a machine took last, and the highest number of each policy that it had.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taken {
    #[serde(flatten)]
    pub last: Applied,
    had: BTreeMap<String, u64>,
}

impl Taken {
    /// The same with one more.
    pub fn and(before: Option<Taken>, last: Applied) -> Taken {
        let mut had = before.map(|before| before.had).unwrap_or_default();
        had.insert(last.name.clone(), last.number);
        Taken { last, had }
    }

    /// The highest number that it had of a policy.
    pub fn highest(&self, name: &str) -> Option<u64> {
        self.had.get(name).copied()
    }
}

/// What the configuration file is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Config {
    Missing,
    /// As a bundle brought it: the SHA-256 of that.
    Brought(String),
    /// Written by somebody, or changed since.
    Other,
}

impl Config {
    /// As that bundle brought it.
    pub fn is_of(&self, applied: &Applied) -> bool {
        *self == Config::Brought(applied.sha256.clone())
    }
}

/// A machine's managed directory.
#[derive(Debug)]
pub struct Place<'p>(pub &'p Path);

impl Place<'_> {
    /// Held while a bundle is applied, so that of two the older one does not come second.
    pub fn held(&self) -> Result<fs::File> {
        let held = fs::File::open(self.0).and_then(|dir| dir.lock().map(|()| dir));
        held.with_context(|| self.0.display().to_string())
    }

    /// What was applied last; where that was lost, what the configuration says of the bundle that brought it.
    pub fn taken(&self) -> Result<Option<Taken>> {
        let path = self.0.join(APPLIED);
        if let Some(bytes) = read(&path, MAX_SETTINGS)? {
            let taken = serde_json::from_slice(&bytes).with_context(|| {
                format!(
                    "{}: the number in it keeps older bundles out, and it cannot be read; put it right, or remove it \
                     if {CONFIG} names the bundle in its first line",
                    path.display()
                )
            })?;
            return Ok(Some(taken));
        }
        let bytes = read(&self.0.join(CONFIG), bundle::MAX)?.unwrap_or_default();
        Ok(named_in(&String::from_utf8_lossy(&bytes)).map(|last| Taken::and(None, last)))
    }

    /// What the configuration says; nothing where there is none.
    pub fn text(&self) -> Result<String> {
        let path = self.0.join(CONFIG);
        let bytes = read(&path, bundle::MAX)?.unwrap_or_default();
        String::from_utf8(bytes).with_context(|| format!("{}: it is not UTF-8 text", path.display()))
    }

    pub fn config(&self) -> Result<Config> {
        let Some(bytes) = read(&self.0.join(CONFIG), bundle::MAX)? else { return Ok(Config::Missing) };
        let digest = brought::brought(&String::from_utf8_lossy(&bytes)).map(str::to_owned);
        Ok(digest.map_or(Config::Other, Config::Brought))
    }

    /// Puts a bundle in force. The number first: a machine that is stopped in between takes the same bundle again, and no older one.
    pub fn put(&self, title: &str, config: &str, taken: &Taken) -> Result<()> {
        self.remember(taken)?;
        self.write(CONFIG, brought::written(title, config).as_bytes())
    }

    /// Writes what was taken last.
    pub fn remember(&self, taken: &Taken) -> Result<()> {
        let told = serde_json::to_string_pretty(taken)? + "\n";
        self.write(APPLIED, told.as_bytes())
    }

    /// What was applied last is what stands there.
    pub fn is_in_force(&self) -> Result<bool> {
        let config = self.config()?;
        Ok(self.taken()?.is_some_and(|taken| config.is_of(&taken.last)))
    }

    /// In one step, for all to read: who reads it meets the old file or the new one.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let path = self.0.join(name);
        replace(&path, bytes, 0o644).map_err(|error| {
            let hint = if error.kind() == io::ErrorKind::PermissionDenied { "; run it as root" } else { "" };
            let why = format!("{}: it cannot be written{hint}", path.display());
            anyhow::Error::from(error).context(why)
        })
    }
}

/// Puts a file there in one step, and so that it outlives a machine that stops now: who reads it meets the old one or the new one.
pub fn replace(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let (dir, name) = (path.parent().unwrap_or(path), path.file_name().unwrap_or_default());
    let new = dir.join(format!(".{}.new", name.to_string_lossy()));
    let written = || -> io::Result<()> {
        // What one that was killed has left.
        if fs::symlink_metadata(&new).is_ok() {
            fs::remove_file(&new)?;
        }
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
        // Whatever the umask is.
        file.set_permissions(fs::Permissions::from_mode(mode))?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&new, path)?;
        fs::File::open(dir)?.sync_all()
    };
    written().inspect_err(|_| {
        let _left = fs::remove_file(&new);
    })
}

/// The bundle that a configuration names in its first line, where it is as that brought it.
fn named_in(text: &str) -> Option<Applied> {
    let sha256 = brought::brought(text)?.to_owned();
    let (head, _) = text.lines().next()?.rsplit_once(", sha256 ")?;
    Applied::titled(head.split_once(": ")?.1, sha256)
}

/// A file of at most so many bytes; none = there is none. A FIFO or a device is not waited for.
pub fn read(path: &Path, max: u64) -> Result<Option<Vec<u8>>> {
    let file = path.display();
    let bytes = files::read(&path.to_string_lossy(), max, Links::Follow);
    let bytes = bytes.map_err(|why| anyhow::anyhow!("{file}: {why}"))?;
    if bytes.is_none() && fs::symlink_metadata(path).is_ok() {
        bail!("{file}: it is a link that leads to no file");
    }
    Ok(bytes)
}

/// The same of a file that has to be there.
pub fn needed(path: &Path, max: u64) -> Result<Vec<u8>> {
    read(path, max)?.with_context(|| format!("{}: there is no such file", path.display()))
}

/// The same of one that is text.
pub fn needed_text(path: &Path, max: u64) -> Result<String> {
    String::from_utf8(needed(path, max)?).with_context(|| format!("{}: it is not UTF-8 text", path.display()))
}

/// Where lazaret keeps everything of who runs this.
pub fn dirs() -> Result<Dirs> {
    Dirs::locate(&Environment::read()).map_err(|fault| anyhow::anyhow!(fault.message()))
}
