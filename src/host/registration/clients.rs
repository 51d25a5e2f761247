//! Which clients are on this machine, and in which version.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::hooks::Version;
use super::{Surroundings, process};
use crate::domain::Client;

/// How long a client may take to tell its version.
const VERSION_LIMIT: Duration = Duration::from_secs(10);
/// OpenCode 2 is a client of its own, beside OpenCode 1.
const OPENCODE_2: &str = "opencode2";

/// The executables of a client, the first on `PATH` first.
pub fn executables(client: Client, here: &Surroundings) -> Vec<PathBuf> {
    find(client.about().program, here)
}

/// The executables of OpenCode 2.
pub fn opencode_2(here: &Surroundings) -> Vec<PathBuf> {
    find(OPENCODE_2, here)
}

/// Every executable called `name` on `PATH` and in the usual places, each once.
pub fn find(name: &str, here: &Surroundings) -> Vec<PathBuf> {
    let on_path = here.search_path.iter().flat_map(std::env::split_paths);
    let mut found: Vec<PathBuf> = Vec::new();
    for dir in on_path.chain(here.usual_bin_dirs.iter().cloned()).filter(|dir| dir.is_absolute()) {
        let path = dir.join(name);
        if is_executable(&path) && !found.contains(&path) {
            found.push(path);
        }
    }
    found
}

pub fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// Whether a client is here: its executable, or a directory of its configuration.
pub fn is_here(client: Client, here: &Surroundings) -> bool {
    here.client_dir(client).is_ok_and(|dir| dir.is_dir()) || !executables(client, here).is_empty()
}

/// The oldest version among the executables of a client, since all read the same configuration; none when one of them
/// does not tell or there is none.
pub fn oldest_version(client: Client, here: &Surroundings) -> Option<Version> {
    let versions: Option<Vec<Version>> =
        executables(client, here).iter().map(|path| version_of(path)).collect();
    versions?.into_iter().min()
}

fn version_of(path: &Path) -> Option<Version> {
    let ran = process::run(Command::new(path).arg("--version"), "", VERSION_LIMIT).ok()?;
    if ran.end == process::End::Exit(0) { Version::find(&ran.stdout) } else { None }
}
