//! A place of its own for review sessions: a project, and a run directory in memory where the system has one.
#![allow(dead_code, clippy::print_stderr, clippy::unwrap_used, reason = "each test file uses a part of it")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use lazaret::domain::{AgentId, Client, Fault, Places, ReviewId, SessionId};
use lazaret::host::clock::{self, Now};
use lazaret::host::dirs::{Dirs, Environment};
use lazaret::host::quarantine::{self, AgentKey, Opening, Session, VaultKind};

#[path = "../hook/mod.rs"]
pub mod hook;

pub const BIN: &str = env!("CARGO_BIN_EXE_lazaret");
/// Far longer than anything takes, also on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A file system in memory, where the system has one.
pub fn memory() -> Option<&'static Path> {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() {
        return Some(memory);
    }
    eprintln!("not tested: the file in memory (there is no /dev/shm)");
    None
}

/// In memory, with the key in a file; where there is no such place, on the disk with the keyring.
pub fn base() -> (PathBuf, VaultKind) {
    match memory() {
        Some(memory) => (memory.to_path_buf(), VaultKind::Tmpfs),
        None => (std::env::temp_dir(), VaultKind::Keyring),
    }
}

/// The hook as a shell starts it for the places in its variables.
pub fn hook_line() -> String {
    let places = "--home \"$HOME\" --lazaret-home \"$LAZARET_HOME\" --lazaret-keys \"$LAZARET_KEYS\"";
    format!("'{BIN}' hook claude-code {places}")
}

/// A program that knows of this machine what it is told: a user's home, lazaret's, where to work.
pub fn command(program: impl AsRef<Path>, user: &Path, home: &Path, dir: &Path) -> Command {
    let mut command = Command::new(program.as_ref());
    command
        .env_clear()
        .env("HOME", user)
        .env("LAZARET_HOME", home)
        .env("PATH", "/usr/bin:/bin")
        .current_dir(dir)
        .stdin(Stdio::null());
    command
}

pub struct Station {
    dir: tempfile::TempDir,
    pub dirs: Dirs,
    pub project: PathBuf,
    pub keys: VaultKind,
}

impl Station {
    pub fn new() -> Station {
        let (base, keys) = base();
        Station::at(&base, keys)
    }

    pub fn at(base: &Path, keys: VaultKind) -> Station {
        let dir = tempfile::tempdir_in(base).unwrap();
        let home = dir.path().join("home").to_str().unwrap().to_owned();
        let dirs = Dirs::locate(&Environment { lazaret_home: Some(home), ..Environment::default() }).unwrap();
        let project = dir.path().join("project");
        fs::create_dir(&project).unwrap();
        let project = project.canonicalize().unwrap();
        Station { dir, dirs, project, keys }
    }

    /// A file of the project.
    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.project.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    pub fn open(&self, paths: &[&str]) -> Result<Session, Fault> {
        self.open_with(paths, |_| {})
    }

    pub fn open_with(&self, paths: &[&str], change: impl FnOnce(&mut Opening<'_>)) -> Result<Session, Fault> {
        let paths: Vec<PathBuf> = paths.iter().map(|path| self.project.join(path)).collect();
        let places = Places::default();
        let mut opening = Opening {
            root: &self.project,
            paths: &paths,
            ttl_s: 3600,
            timeout_s: 300,
            instructions: Some("look for secrets"),
            opener: None,
            places: &places,
            keys: Some(self.keys),
            now: clock::now(),
        };
        change(&mut opening);
        quarantine::open(&self.dirs, &opening, &mut lazaret::host::unwatched)
    }

    /// A program that works in the project.
    pub fn command(&self, program: impl AsRef<Path>) -> Command {
        command(program, self.outside(), self.dirs.state.parent().unwrap(), &self.project)
    }

    pub fn room(&self) -> PathBuf {
        self.dirs.runtime.join("review")
    }

    pub fn outside(&self) -> &Path {
        self.dir.path()
    }

    /// Everything below the run directory, relative to the room.
    pub fn left(&self) -> Vec<String> {
        let mut left: Vec<String> =
            tree(&self.room()).into_keys().filter(|name| !name.is_empty() && name != "lock").collect();
        left.sort();
        left
    }
}

impl Drop for Station {
    fn drop(&mut self) {
        // Nothing of a test stays in the keyring, and closed directories do not keep the rest from going.
        for listed in quarantine::list(&self.dirs).unwrap_or_default() {
            let _ended = quarantine::end(&self.dirs, &listed.id, quarantine::Why::Asked, clock::now());
        }
        let _swept = quarantine::sweep(&self.dirs, clock::now());
    }
}

/// All files and directories below `dir`, with the bytes of the files.
pub fn tree(dir: &Path) -> BTreeMap<String, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut open = vec![dir.to_path_buf()];
    while let Some(path) = open.pop() {
        let name = path.strip_prefix(dir).unwrap().to_str().unwrap().to_owned();
        let Ok(meta) = fs::symlink_metadata(&path) else { continue };
        if meta.is_dir() {
            open.extend(fs::read_dir(&path).unwrap().flatten().map(|entry| entry.path()));
            found.insert(name, None);
        } else {
            found.insert(name, Some(fs::read(&path).unwrap_or_default()));
        }
    }
    found
}

pub fn agent(session: &str, agent: &str) -> AgentKey {
    AgentKey {
        client: Client::ClaudeCode,
        session: SessionId::new(session).unwrap(),
        agent: AgentId::new(agent),
    }
}

pub fn unknown_id() -> ReviewId {
    ReviewId::parse("3f2b8c1e-9d4a-4e6f-8a7b-0c1d2e3f4a5b").unwrap()
}

/// So many seconds later, on both clocks.
pub fn after(now: Now, seconds: u64) -> Now {
    Now { unix_ms: now.unix_ms + seconds * 1000, boot_ms: now.boot_ms + seconds * 1000 }
}

pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
