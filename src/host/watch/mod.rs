//! The files that keep the gate where it is: which they are, whether the system says that they are as they were, what is in them,
//! and how they are put back. Judges nothing.

mod aside;
mod before;
pub mod binary;
mod sealed;
pub mod shelf;
mod state;
pub mod surfaces;

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

pub use aside::moved;
pub use sealed::Sealed;

use super::clock::Now;
use super::dirs::{Dirs, Environment};
use super::files::{self, Links};
use crate::domain::{Client, Content, Fault, fingerprint, join};

/// The largest file that is looked at, in bytes; a larger one counts as unreadable.
const MAX: u64 = 1 << 20;

/// What a watched file is to the gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Settings of a client, which register lazaret or can switch its hooks off.
    Settings,
    /// The plugin that is OpenCode's registration.
    Plugin,
    /// lazaret's own configuration of the user.
    Configuration,
    /// What Claude Code keeps of its own, and writes all the time: of its content the `env` counts, which the client obeys.
    State,
}

/// A watched file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Watched {
    pub path: String,
    pub role: Role,
}

/// The watched files of one client, by the event at which the system is asked of them: before a call, and after it. Each event asks
/// of two at most; what changed unseen at the one shows at the other. The configuration is read with every event anyway.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Files {
    pub before: Vec<Watched>,
    pub after: Vec<Watched>,
    /// Looked at when a session begins and ends.
    state: Vec<Watched>,
    own: Watched,
}

impl Files {
    /// The watched files of `client` for a session in `project`.
    pub fn of(client: Client, env: &Environment, dirs: &Dirs, project: &str) -> Files {
        let watched = |dir: &str, name: &str, role| Watched { path: join(dir, name), role };
        let home = env.home().unwrap_or("/");
        let own = watched("/", &dirs.config_file().to_string_lossy(), Role::Configuration);
        match client {
            Client::ClaudeCode => {
                let given = env.claude_config_dir.as_deref();
                let dir = given.map_or_else(|| join(home, ".claude"), str::to_owned);
                let state = vec![
                    watched(given.unwrap_or(home), ".claude.json", Role::State),
                    watched(&dir, ".config.json", Role::State),
                ];
                let user = watched(&dir, "settings.json", Role::Settings);
                let of_project = |name| watched(project, name, Role::Settings);
                Files {
                    before: vec![user.clone(), of_project(".claude/settings.local.json")],
                    after: vec![user, of_project(".claude/settings.json")],
                    state,
                    own,
                }
            }
            Client::OpenCode => {
                let dir = env.xdg_config_home.clone().unwrap_or_else(|| join(home, ".config"));
                let plugin = watched(&dir, "opencode/plugin/lazaret.js", Role::Plugin);
                let of_project = watched(project, ".opencode/plugin/lazaret.js", Role::Plugin);
                Files {
                    before: vec![plugin.clone()],
                    after: vec![plugin, of_project],
                    state: Vec::new(),
                    own,
                }
            }
            client => {
                let (dir, about) = (env.home_of(client), client.about());
                let all = |dir: &str, names: &[&str]| -> Vec<Watched> {
                    names.iter().map(|name| watched(dir, name, Role::Settings)).collect()
                };
                let of_project = all(&join(project, about.project), about.watched.of_project);
                let after = all(&dir, about.watched.after).into_iter().chain(of_project).collect();
                Files { before: all(&dir, about.watched.before), after, state: Vec::new(), own }
            }
        }
    }

    /// All of them, each once.
    pub fn all(&self) -> impl Iterator<Item = &Watched> {
        let before = self.before.iter();
        let after = self.after.iter().filter(|file| !self.before.contains(file));
        before.chain(after).chain(&self.state).chain([&self.own])
    }
}

/// What the system says of some files: the same number as long as nobody wrote, replaced or removed one, and `own` (what is known of
/// the configuration) is the same. Never 0.
pub fn seen(files: &[Watched], own: u64) -> u64 {
    let mut words: Vec<u64> = Vec::with_capacity(files.len() * 7 + 1);
    words.push(own);
    for file in files {
        match rustix::fs::stat(file.path.as_str()) {
            Ok(stat) => words.extend(stat_words(&stat)),
            Err(errno) => words.push(u64::from(errno.raw_os_error().unsigned_abs())),
        }
        words.push(u64::MAX);
    }
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    fingerprint(&[&bytes]).max(1)
}

/// What of an answer of the system tells that a file was written, replaced or made another.
#[allow(
    clippy::unnecessary_cast,
    clippy::cast_sign_loss,
    reason = "widths differ between systems; only equality matters"
)]
fn stat_words(stat: &rustix::fs::Stat) -> [u64; 6] {
    [
        stat.st_ino as u64,
        stat.st_size as u64,
        stat.st_mode as u64,
        stat.st_ctime as u64,
        stat.st_ctime_nsec as u64,
        stat.st_mtime_nsec as u64,
    ]
}

/// When the file, or where it is gone its directory, was last changed; milliseconds since 1970, 0 where nobody can tell.
pub fn changed_ms(path: &str) -> u64 {
    let above = || Path::new(path).parent().and_then(|dir| rustix::fs::stat(dir).ok());
    let Some(stat) = rustix::fs::stat(path).ok().or_else(above) else { return 0 };
    let (seconds, nanoseconds) = super::index::ctime(&stat);
    let whole = |part: i64| u64::try_from(part).unwrap_or(0);
    whole(seconds).saturating_mul(1000).saturating_add(whole(nanoseconds) / 1_000_000)
}

/// Puts something at a path as a person wants: no hook finds it there before it counts.
pub fn placing<T, E: From<Fault>>(
    state: &Path,
    path: &Path,
    put: impl FnOnce() -> Result<T, E>,
) -> Result<T, E> {
    let mut sealed = Sealed::open(state)?;
    let answer = put()?;
    let path = path.to_string_lossy();
    sealed.keep(&path, &read(&path))?;
    Ok(answer)
}

impl Watched {
    /// What of the file counts, as it is now.
    pub fn content(&self) -> Content {
        match self.role {
            Role::State => state::essence(
                files::read(&self.path, state::MAX, Links::Follow).map_err(|why| why.to_string()),
            ),
            Role::Settings | Role::Plugin | Role::Configuration => read(&self.path),
        }
    }

    /// Puts back what of the file counts. What was there in its stead is kept under the name that is given.
    pub fn put_back(
        &self,
        (content, mode): (&Content, u32),
        (state, now): (&Path, Now),
    ) -> io::Result<Option<PathBuf>> {
        let repaired = match self.role {
            Role::State => files::read(&self.path, state::MAX, Links::Follow).ok().flatten(),
            Role::Settings | Role::Plugin | Role::Configuration => None,
        };
        // The rest of the client's state is its own: the login stands there.
        let repaired = repaired.and_then(|bytes| state::repaired(&bytes, content)).map(Content::Bytes);
        match (repaired, self.role) {
            (Some(repaired), _) => put_back(&self.path, (&repaired, mode), (state, now)),
            (None, Role::State) => put_back(&self.path, (&Content::Absent, mode), (state, now)),
            (None, _) => put_back(&self.path, (content, mode), (state, now)),
        }
    }
}

/// What is at a path now.
pub fn read(path: &str) -> Content {
    read_up_to(path, MAX)
}

/// The same of a file that may have so many bytes.
pub fn read_up_to(path: &str, max: u64) -> Content {
    match files::read(path, max, Links::Follow) {
        Ok(Some(bytes)) => Content::Bytes(bytes),
        Ok(None) => Content::Absent,
        Err(why) => Content::Unreadable(why.to_string()),
    }
}

/// Puts `content` at `path` again, in one step; what is there in its stead is kept below `state`. Gives the name under which it is kept.
pub fn put_back(
    path: &str,
    (content, mode): (&Content, u32),
    (state, now): (&Path, Now),
) -> io::Result<Option<PathBuf>> {
    let path = Path::new(path);
    let aside = match fs::symlink_metadata(path) {
        Ok(_) => Some(aside::away(path, state, now)?),
        Err(_) => None,
    };
    if let Content::Bytes(bytes) = content {
        if let Some(dir) = path.parent() {
            fs::create_dir_all(dir)?;
        }
        files::replace(path, bytes)?;
        fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
    }
    Ok(aside)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(path: &Path) -> Vec<Watched> {
        vec![Watched { path: path.display().to_string(), role: Role::Settings }]
    }

    #[test]
    fn every_kind_of_change_is_seen() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("settings.json");
        let mut before = vec![seen(&one(&path), 0)];
        let mut changes = |what: &str| {
            let now = seen(&one(&path), 0);
            assert!(!before.contains(&now), "{what}");
            assert_eq!(now, seen(&one(&path), 0), "{what}");
            before.push(now);
        };
        fs::write(&path, "{}").unwrap();
        changes("made");
        fs::write(&path, "[]").unwrap();
        changes("written in place, as long as before");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        changes("another mode");
        fs::write(dir.path().join("other"), "{}").unwrap();
        fs::rename(dir.path().join("other"), &path).unwrap();
        changes("replaced");
    }

    #[test]
    fn what_is_put_back_is_as_it_was_and_nothing_is_lost() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("deep/settings.json");
        let name = path.display().to_string();
        let good = Content::Bytes(b"{\"hooks\": 1}".to_vec());
        let (state, now) = (dir.path().join("state"), Now::default());
        assert_eq!(put_back(&name, (&good, 0o640), (&state, now)).unwrap(), None);
        assert_eq!(
            (read(&name), fs::metadata(&path).unwrap().permissions().mode() & 0o777),
            (good.clone(), 0o640)
        );
        fs::write(&path, "{}").unwrap();
        let aside = put_back(&name, (&good, 0o600), (&state, now)).unwrap().unwrap();
        assert_eq!((read(&name), fs::read_to_string(&aside).unwrap().as_str()), (good, "{}"));
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        let another = put_back(&name, (&Content::Absent, 0), (&state, now)).unwrap().unwrap();
        assert!(aside.starts_with(&state) && another.starts_with(&state));
        assert!(another.is_dir() && another != aside);
        assert_eq!(read(&name), Content::Absent);
    }
}
