//! What belongs to a release: the list of sums that was published with it, and the files that install.sh put beside the binary.

use std::collections::BTreeSet;
use std::io;
use std::path::{Component, Path, PathBuf};

use sha2::{Digest, Sha256};

use super::hex::{bytes, hex};
use crate::domain::{Fault, FaultKind};

/// The list's name, in an archive and in `share/lazaret`.
const SUMS: &str = "SHA256SUMS";
/// The binary's name, in a list and where it is installed.
pub const BINARY: &str = "lazaret";
/// The second program's name, in a list and beside the binary.
pub const VIEW: &str = "lazaret-view";

/// The name of the program for a machine of a fleet, likewise.
const FLEET: &str = "lazaret-fleet";

/// The program of that name in the directory of this one, links followed.
pub fn beside(name: &str) -> io::Result<PathBuf> {
    let exe = std::env::current_exe().and_then(|path| path.canonicalize());
    let why = |error| io::Error::other(format!("the path of this binary: {error}"));
    exe.map(|exe| exe.with_file_name(name)).map_err(why)
}

/// What a list says of one file.
struct Sum {
    digest: String,
    name: PathBuf,
}

/// How one file stands against the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Same,
    Differs,
    Missing,
}

/// The list that counts for a binary, and the directory that its names are below.
#[derive(Debug)]
pub struct Release {
    pub list: PathBuf,
    base: PathBuf,
    installed: bool,
}

impl Release {
    /// Of the binary at this path: what was installed with it, or what lies beside it in an archive.
    pub fn of(exe: &Path) -> Option<Release> {
        let dir = exe.parent()?;
        let installed = dir.file_name().is_some_and(|name| name == "bin");
        let base = if installed { dir.parent()? } else { dir };
        let list = if installed { base.join("share/lazaret").join(SUMS) } else { base.join(SUMS) };
        list.is_file().then(|| Release { list, base: base.to_owned(), installed })
    }

    /// Each file of the list that should be here, with how it stands. The first is the binary.
    pub fn compare(&self, exe: &Path) -> Result<Vec<(PathBuf, State)>, Fault> {
        let sums = read(&self.list)?;
        let mut all = vec![(exe.to_owned(), program(&sums, BINARY, exe)?)];
        if sums.iter().any(|sum| is(sum, VIEW)) {
            let view = exe.with_file_name(VIEW);
            let state = if view.exists() { program(&sums, VIEW, &view)? } else { State::Missing };
            all.push((view, state));
        }
        for sum in sums.iter().filter(|sum| !is(sum, BINARY) && !is(sum, VIEW)) {
            let fleet = self.installed && is(sum, FLEET);
            if self.installed && !fleet && !is_shared(&sum.name) {
                continue;
            }
            let path = if fleet { exe.with_file_name(FLEET) } else { self.base.join(&sum.name) };
            let state = match digest(&path) {
                Ok(found) if found == sum.digest => State::Same,
                Ok(_) => State::Differs,
                // Not everybody who has an archive with it installs it.
                Err(error) if error.kind() == io::ErrorKind::NotFound && fleet => continue,
                Err(error) if error.kind() == io::ErrorKind::NotFound => State::Missing,
                Err(error) => return Err(fault(&path, &error.to_string())),
            };
            all.push((path, state));
        }
        Ok(all)
    }

    /// Where it was installed: the files below `share` that are still as the list says, the list itself last.
    pub fn removable(&self) -> Result<Vec<PathBuf>, Fault> {
        if !self.installed {
            return Ok(Vec::new());
        }
        let shared = read(&self.list)?.into_iter().filter(|sum| is_shared(&sum.name));
        let same = |sum: Sum| {
            let path = self.base.join(sum.name);
            digest(&path).is_ok_and(|found| found == sum.digest).then_some(path)
        };
        Ok(shared.filter_map(same).chain([self.list.clone()]).collect())
    }

    /// Removes these files, and their directories as far as nothing else is in them.
    pub fn remove(&self, files: &[PathBuf]) -> Result<(), Fault> {
        for file in files {
            std::fs::remove_file(file).map_err(|error| fault(file, &error.to_string()))?;
        }
        let share = self.base.join("share");
        let above = |file: &PathBuf| {
            file.ancestors()
                .skip(1)
                .take_while(|dir| dir.starts_with(&share))
                .map(Path::to_owned)
                .collect::<Vec<_>>()
        };
        let dirs: BTreeSet<PathBuf> = files.iter().flat_map(above).collect();
        for dir in dirs.iter().rev() {
            // Something of somebody else's is in it.
            let _ = std::fs::remove_dir(dir);
        }
        Ok(())
    }
}

/// How the binary stands against a list that is named.
pub fn compare_binary(list: &Path, exe: &Path) -> Result<State, Fault> {
    program(&read(list)?, BINARY, exe)
}

/// How the program of that name stands. A published list has a line for that of each system.
fn program(sums: &[Sum], name: &str, exe: &Path) -> Result<State, Fault> {
    let found = digest(exe).map_err(|error| fault(exe, &error.to_string()))?;
    let mut named = sums.iter().filter(|sum| is(sum, name)).map(|sum| sum.digest == found);
    Ok(match (named.next(), named.any(|same| same)) {
        (None, _) => State::Missing,
        (Some(true), _) | (_, true) => State::Same,
        (Some(false), false) => State::Differs,
    })
}

/// Completions have the names of programs too.
fn is(sum: &Sum, name: &str) -> bool {
    !is_shared(&sum.name) && sum.name.file_name().is_some_and(|file| file == name)
}

fn is_shared(name: &Path) -> bool {
    name.starts_with("share") && name.components().all(|part| matches!(part, Component::Normal(_)))
}

fn read(list: &Path) -> Result<Vec<Sum>, Fault> {
    let text = std::fs::read_to_string(list).map_err(|error| fault(list, &error.to_string()))?;
    let line = |line: &str| {
        let (digest, name) = line.split_once(' ')?;
        let name = name.strip_prefix([' ', '*'])?;
        let known = digest.len() == 64 && bytes(digest.as_bytes()).is_some() && !name.is_empty();
        known.then(|| Sum { digest: digest.to_owned(), name: name.into() })
    };
    let sums: Option<Vec<Sum>> = text.lines().map(line).collect();
    sums.filter(|sums| !sums.is_empty()).ok_or_else(|| fault(list, "it is no list of SHA-256 sums"))
}

fn digest(path: &Path) -> io::Result<String> {
    Ok(hex(&Sha256::digest(std::fs::read(path)?)))
}

fn fault(path: &Path, why: &str) -> Fault {
    Fault::new(FaultKind::Host, crate::domain::escape(&path.to_string_lossy()), why)
}
