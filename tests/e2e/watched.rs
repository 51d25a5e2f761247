//! Files that an agent must not change: taken down before, compared after every call, put back when one was changed,
//! so that one session tells all ways that lead through.

use crate::model::{Call, Script, Step};
use crate::session::Session;
use crate::world::World;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

/// Claude Code needs up to two seconds to see a changed settings file.
pub const WATCHED: Duration = Duration::from_secs(4);

/// A configuration with which a session that tries one way after the other to the same file is not stopped for it. It is accepted when
/// lazaret is registered afterwards.
pub const UNSTOPPED: &str = "[patterns]\nenabled_patterns = [\"repetitive_errors\"]\n";

/// What stands at a path.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Found {
    Nothing,
    File {
        mode: u32,
        content: Vec<u8>,
    },
    /// By its inode and birth: one that was moved away and made anew is another.
    Directory {
        mode: u32,
        inode: u64,
        born: Option<SystemTime>,
    },
    Other,
}

fn look(path: &Path) -> Found {
    let Ok(meta) = path.symlink_metadata() else { return Found::Nothing };
    let mode = meta.mode() & 0o7777;
    if meta.is_dir() {
        Found::Directory { mode, inode: meta.ino(), born: meta.created().ok() }
    } else if meta.is_file() {
        Found::File { mode, content: fs::read(path).unwrap_or_default() }
    } else {
        Found::Other
    }
}

fn put_back(path: &Path, found: &Found) {
    if look(path) == *found {
        return;
    }
    match look(path) {
        Found::Directory { .. } if !matches!(found, Found::Directory { .. }) => {
            fs::remove_dir_all(path).unwrap()
        }
        Found::Nothing | Found::Directory { .. } => {}
        Found::File { .. } | Found::Other => fs::remove_file(path).unwrap(),
    }
    match found {
        Found::Nothing | Found::Other => {}
        Found::File { mode, content } => {
            fs::write(path, content).unwrap();
            fs::set_permissions(path, PermissionsExt::from_mode(*mode)).unwrap();
        }
        Found::Directory { mode, .. } => {
            fs::create_dir_all(path).unwrap();
            fs::set_permissions(path, PermissionsExt::from_mode(*mode)).unwrap();
        }
    }
}

/// The watched paths, parents before children, and the ways that changed one.
struct Watched {
    paths: Vec<PathBuf>,
    before: Mutex<BTreeMap<PathBuf, Found>>,
    culprits: Mutex<Vec<String>>,
}

impl Watched {
    fn snapshot(paths: &[PathBuf]) -> BTreeMap<PathBuf, Found> {
        paths.iter().map(|path| (path.clone(), look(path))).collect()
    }

    /// Blames `way` for every watched path that differs, and puts those back.
    fn compare(&self, way: &str) {
        let mut before = self.before.lock().unwrap();
        let changed: Vec<_> = before.iter().filter(|(path, found)| look(path) != **found).collect();
        if changed.is_empty() {
            return;
        }
        let names: Vec<_> = changed.iter().map(|(path, _)| path.display().to_string()).collect();
        self.culprits.lock().unwrap().push(format!("{way}: changed {}", names.join(", ")));
        for path in &self.paths {
            put_back(path, &before[path]);
        }
        *before = Self::snapshot(&self.paths);
    }
}

/// Plays all ways in one session, each followed by the call that must be refused; fails with the ways that changed a watched path.
/// The ways are called `way-0` and so on, the calls `probe-0` and so on.
pub fn try_all(
    world: &World,
    watched: &[&str],
    ways: Vec<(String, Call)>,
    probe: impl Fn(&str) -> Call,
) -> Session {
    let paths: Vec<_> = watched.iter().map(|path| world.host(path)).collect();
    let before = Mutex::new(Watched::snapshot(&paths));
    let watched = Arc::new(Watched { paths, before, culprits: Mutex::default() });
    let count = ways.len();
    let mut steps = vec![Step::call([probe("first")])];
    for (index, (name, way)) in ways.into_iter().enumerate() {
        let watched = Arc::clone(&watched);
        let last = if index + 1 == count { WATCHED } else { Duration::ZERO };
        steps.push(Step::call([way]));
        steps.push(
            Step::call([probe(&format!("probe-{index}"))])
                .after(move || watched.compare(&name))
                .pausing(last),
        );
    }
    let session = world.play(Script::main(steps));
    let culprits = watched.culprits.lock().unwrap();
    assert!(
        culprits.is_empty(),
        "{} of {count} ways lead through:\n{}\n{}",
        culprits.len(),
        culprits.join("\n"),
        session.story()
    );
    session
}
