//! Files that an agent must not change: taken down before, compared after every call, put back when one was changed,
//! so that one session tells all ways that lead through.

use crate::model::{Call, Script, Step, call};
use crate::session::Session;
use crate::world::World;
use serde_json::{Value, json};
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

/// One way for an agent to be rid of the hook.
pub struct Way {
    pub name: String,
    pub tool: &'static str,
    pub input: Value,
}

/// A shell command as a way, for the client's tool of that name.
pub fn by_shell(tool: &'static str, command: &str) -> Way {
    Way { name: command.into(), tool, input: json!({"command": command, "description": "Tidy up"}) }
}

/// Plays all ways in one session, then a call that must be refused; fails with the ways that changed a watched path.
pub fn try_all(world: &World, watched: &[&str], first: Vec<Call>, ways: Vec<Way>, probe: Call) -> Session {
    let paths: Vec<_> = watched.iter().map(|path| world.host(path)).collect();
    let before = Mutex::new(Watched::snapshot(&paths));
    let watched = Arc::new(Watched { paths, before, culprits: Mutex::default() });
    let names: Vec<_> =
        std::iter::once("what came before".to_owned()).chain(ways.iter().map(|w| w.name.clone())).collect();
    let mut steps = vec![Step::call(first)];
    for (index, way) in ways.into_iter().enumerate() {
        let (watched, previous) = (Arc::clone(&watched), names[index].clone());
        steps.push(
            Step::call([call(format!("way-{index}"), way.tool, way.input)])
                .after(move || watched.compare(&previous)),
        );
    }
    let (last, name) = (Arc::clone(&watched), names[names.len() - 1].clone());
    steps.push(Step::call([probe]).after(move || last.compare(&name)).pausing(WATCHED));
    let session = world.play(Script::main(steps));
    let culprits = watched.culprits.lock().unwrap();
    assert!(
        culprits.is_empty(),
        "{} of {} ways lead through:\n{}\n{}",
        culprits.len(),
        names.len() - 1,
        culprits.join("\n"),
        session.story()
    );
    session
}
