//! A session's life: opened whole or not at all, looked up, its key derived, ended with its key first.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use uuid::Uuid;

use super::holder::Holder;
use super::making::make;
use super::record::{self, Contents, ENDED, Ended, OPEN, SALT, Session, Why, write_record};
use super::register;
use super::room::{Locked, Room, cannot, fault, told};
use super::seal;
use super::vault::{self, VaultKind};
use crate::domain::{Fault, FaultKind, Key, Places, ReviewId, escape, lies_in, size};
use crate::host::clock::Now;
use crate::host::dirs::Dirs;
use crate::host::places;
use crate::host::{Watched, private};

/// Most sessions that are open at once.
pub const MAX_OPEN: usize = 16;
/// Most paths that are named for one session.
pub const MAX_NAMED: usize = 1_000;
/// Longest life of a session, in seconds.
pub const MAX_TTL_S: u32 = 24 * 60 * 60;
/// Longest instructions, in bytes.
pub(super) const MAX_INSTRUCTIONS: usize = 16 * 1024;
/// Names looked at in a directory of sessions.
pub(super) const LOOKED_AT: usize = 4096;
/// Bytes of a salt with what makes another machine's key of the one that is derived.
const WITH_KEY: usize = vault::SALT + Key::LEN;

/// What a session is opened for.
#[derive(Debug, Clone)]
pub struct Opening<'o> {
    /// Everything must lie in it.
    pub root: &'o Path,
    pub paths: &'o [PathBuf],
    /// Life of the session and its references, in seconds, at most [`MAX_TTL_S`].
    pub ttl_s: u32,
    /// How long one agent may work, in seconds.
    pub timeout_s: u32,
    pub instructions: Option<&'o str>,
    /// The process that it lasts no longer than, until an agent works in it.
    pub opener: Option<Holder>,
    pub places: &'o Places,
    /// Where the key is to be kept; none = whatever works.
    pub keys: Option<VaultKind>,
    pub now: Now,
}

/// Opens a session: key, record and sealed copies; a failed start leaves nothing.
/// `each` is told how many files are sealed; where it ends that, there is no session.
pub fn open(dirs: &Dirs, opening: &Opening<'_>, each: &mut Watched<'_>) -> Result<Session, Fault> {
    let (root, named) = named(opening)?;
    let mut places = opening.places.clone();
    places::resolve_links(&mut places);
    let id = new_id()?;
    make(dirs, &id, (opening.keys, opening.now), None, |copies| {
        let sealed = seal::seal(&root, &named, &places.protected, copies, each)?;
        let session = Session {
            id: id.clone(),
            root,
            opened_unix_ms: opening.now.unix_ms,
            opened_boot_ms: opening.now.boot_ms,
            ttl_s: opening.ttl_s,
            timeout_s: opening.timeout_s,
            // Where it is comes out when it is made.
            vault: VaultKind::Keyring,
            instructions: opening.instructions.map(str::to_owned),
            opener: opening.opener,
            entries: sealed.entries,
            files: sealed.contents.files.len() as u64,
            bytes: sealed.bytes,
            skipped: sealed.contents.skipped.len() as u64,
            ended: None,
            copies: PathBuf::new(),
        };
        Ok((session, sealed.contents))
    })
}

/// The real root and the real paths of what is named, all of them inside it.
fn named(opening: &Opening<'_>) -> Result<(String, Vec<String>), Fault> {
    let wrong = |what: &str, why: String| Err(Fault::new(FaultKind::Config, what, why));
    if !(1..=MAX_TTL_S).contains(&opening.ttl_s) {
        return wrong("the life of a review", format!("it must be 1 to {MAX_TTL_S} seconds"));
    }
    if !(1..=opening.ttl_s).contains(&opening.timeout_s) {
        return wrong("the time limit of a review", "it must be 1 second to the life of the review".into());
    }
    if opening.instructions.is_some_and(|text| text.len() > MAX_INSTRUCTIONS) {
        return wrong("the instructions", format!("they are longer than {}", size(MAX_INSTRUCTIONS as u64)));
    }
    if opening.paths.is_empty() || opening.paths.len() > MAX_NAMED {
        return wrong("what is to be reviewed", format!("name 1 to {MAX_NAMED} files or directories"));
    }
    let root = real(opening.root)?;
    let mut named = Vec::with_capacity(opening.paths.len());
    for path in opening.paths {
        let real = real(path)?;
        if !lies_in(&real, &root) {
            let why = format!("it lies outside {}", escape(&root));
            return Err(Fault::new(FaultKind::Host, escape(&real), why)
                .with_hint("name a directory that holds it with --root"));
        }
        named.push(real);
    }
    Ok((root, named))
}

fn real(path: &Path) -> Result<String, Fault> {
    let shown = || escape(&path.to_string_lossy());
    let real =
        fs::canonicalize(path).map_err(|error| Fault::new(FaultKind::Host, shown(), error.to_string()))?;
    real.into_os_string().into_string().map_err(|_| {
        Fault::new(FaultKind::Host, shown(), "its name is not text").with_hint("rename it first")
    })
}

fn new_id() -> Result<ReviewId, Fault> {
    ReviewId::parse(Uuid::new_v4().as_hyphenated().to_string().as_str())
        .ok_or_else(|| Fault::new(FaultKind::Host, "a session's id", "it could not be made"))
}

/// The session of that id, open or ended. A damaged record is a fault.
pub fn load(dirs: &Dirs, id: &ReviewId) -> Result<Option<Session>, Fault> {
    Room::open(dirs)?.map_or(Ok(None), |room| record::load(&room, id))
}

impl Session {
    /// The list of its files; none when it has ended.
    pub fn contents(&self, dirs: &Dirs) -> Result<Option<Contents>, Fault> {
        Room::open(dirs)?.map_or(Ok(None), |room| record::read_contents(&room, &self.id))
    }
}

/// A session of the list; its record may be damaged.
#[derive(Debug)]
pub struct Listed {
    pub id: ReviewId,
    pub session: Result<Session, Fault>,
}

/// All sessions, the open ones and those that ended in the last day.
pub fn list(dirs: &Dirs) -> Result<Vec<Listed>, Fault> {
    let Some(room) = Room::open(dirs)? else { return Ok(Vec::new()) };
    let mut ids = open_ids(&room)?;
    for id in ended_ids(&room)? {
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    let listed = |id: ReviewId| match record::load(&room, &id) {
        Ok(Some(session)) => Some(Listed { id, session: Ok(session) }),
        // It ended and was swept between the two looks.
        Ok(None) => None,
        Err(fault) => Some(Listed { id, session: Err(fault) }),
    };
    let mut all: Vec<Listed> = ids.into_iter().filter_map(listed).collect();
    crate::domain::sort_by_key(&mut all, |listed| {
        listed.session.as_ref().map_or(0, |session| session.opened_unix_ms)
    });
    Ok(all)
}

/// The key of an open session.
pub fn key(dirs: &Dirs, session: &Session) -> Result<Key, Fault> {
    let over = || {
        Fault::new(FaultKind::State, format!("review {}", session.id), "it has ended, its key is destroyed")
            .with_hint("start a new review")
    };
    let room = Room::open(dirs)?.ok_or_else(over)?;
    let rel = format!("{OPEN}/{}/{SALT}", session.id);
    let salt = room.read(&rel, WITH_KEY as u64)?.ok_or_else(over)?;
    let damaged = || fault(&room.at(&rel), "it is damaged");
    let (salt, other) = salt.split_first_chunk().ok_or_else(damaged)?;
    let own = vault::derive(&room, session.vault, &session.id, salt)?;
    if other.is_empty() {
        return Ok(own);
    }
    Ok(own.with(other.try_into().map_err(|_| damaged())?))
}

/// Ends a session: its key first, then its copies; what is left is a tombstone. `false` = it was not open.
pub fn end(dirs: &Dirs, id: &ReviewId, why: Why, now: Now) -> Result<bool, Fault> {
    let Some(room) = Room::open(dirs)? else { return Ok(false) };
    let Some(_lock) = room.lock()? else { return Ok(false) };
    let ended = end_locked(&room, id, why, now);
    let forgotten = forget_if_idle(&room);
    ended.and_then(|ended| forgotten.map(|()| ended))
}

/// The same under the lock, with the master left as it is.
pub(super) fn end_locked(room: &Room, id: &ReviewId, why: Why, now: Now) -> Result<bool, Fault> {
    let dir = format!("{OPEN}/{id}");
    if !room.exists(&dir) {
        return Ok(false);
    }
    room.destroy(&format!("{dir}/{SALT}"), WITH_KEY)?;
    let ended = Some(Ended { unix_ms: now.unix_ms, why });
    let tombstone = match record::load(room, id) {
        Ok(Some(session)) => Session { ended: session.ended.or(ended), instructions: None, ..session },
        // Of a damaged record nothing is known but that the session has ended.
        Ok(None) | Err(_) => Session {
            id: id.clone(),
            root: "/".to_owned(),
            opened_unix_ms: now.unix_ms,
            opened_boot_ms: now.boot_ms,
            ttl_s: 0,
            timeout_s: 0,
            vault: VaultKind::Keyring,
            instructions: None,
            opener: None,
            entries: Vec::new(),
            files: 0,
            bytes: 0,
            skipped: 0,
            ended,
            copies: PathBuf::new(),
        },
    };
    let bury = || {
        room.make_dir(ENDED)?;
        write_record(room, &format!("{ENDED}/{id}.json"), &tombstone)
    };
    let buried = bury();
    let gone = format!("{OPEN}/.gone-{id}");
    rename(room, &dir, &gone)?;
    let released = register::release(room, id, now);
    remove_tree(&room.at(&gone))?;
    // Where there was no room for it before, there is now.
    buried.or_else(|_| bury())?;
    released.map(|()| true)
}

/// Forgets the master and the register when no session is open.
pub(super) fn forget_if_idle(room: &Room) -> Result<(), Fault> {
    if !open_ids(room)?.is_empty() {
        return Ok(());
    }
    register::forget_useless(room)?;
    if vault::may_hold(room) { vault::forget(room) } else { Ok(()) }
}

/// The sessions that are open.
pub(super) fn open_ids(room: &Room) -> Result<Vec<ReviewId>, Fault> {
    Ok(room.names(OPEN, LOOKED_AT)?.iter().filter_map(|name| ReviewId::parse(name)).collect())
}

/// The sessions of which there is a tombstone.
pub(super) fn ended_ids(room: &Room) -> Result<Vec<ReviewId>, Fault> {
    let names = room.names(ENDED, LOOKED_AT)?;
    Ok(names.iter().filter_map(|name| ReviewId::parse(name.strip_suffix(".json")?)).collect())
}

pub(super) fn locked(room: &Room) -> Result<Locked, Fault> {
    room.lock()?.ok_or_else(|| fault(&room.path, "it was removed meanwhile").with_hint("try again"))
}

pub(super) fn rename(room: &Room, from: &str, to: &str) -> Result<(), Fault> {
    rustix::fs::renameat(&room.dir, from, &room.dir, to).map_err(|errno| cannot(&room.at(from), errno))
}

/// Removes a directory of ours with all that lies in it, also where nothing may be written any more.
pub(super) fn remove_tree(dir: &Path) -> Result<(), Fault> {
    let mut open = vec![dir.to_path_buf()];
    while let Some(path) = open.pop() {
        // What cannot be changed or read is told of by the removal.
        let Ok(meta) = fs::symlink_metadata(&path) else { continue };
        if !meta.is_dir() {
            continue;
        }
        let _opened = fs::set_permissions(&path, Permissions::from_mode(0o700));
        let entries = fs::read_dir(&path).into_iter().flatten().flatten();
        open.extend(
            entries
                .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
                .map(|entry| entry.path()),
        );
    }
    private::found(fs::remove_dir_all(dir)).map(drop).map_err(|error| told(dir, &error))
}
