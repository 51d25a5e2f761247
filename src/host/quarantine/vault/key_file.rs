//! The master key in a file, where the system's own place for keys is refused: in memory where the system has file systems there, from
//! where it may be swapped out; else on a disk, readable for its owner alone.

use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use rustix::fs::OFlags;
use zeroize::Zeroize;

use super::{Vault, VaultKind, random_key};
use crate::domain::{Fault, Key};
use crate::host::quarantine::room::{Room, UNFINISHED, fault, told};

/// The file's name in the room.
const NAME: &str = "master.key";

/// The key file of a room.
#[derive(Debug)]
pub(super) struct KeyFile<'r> {
    room: &'r Room,
    kind: VaultKind,
}

impl KeyFile<'_> {
    /// A vault in this room, which must lie in memory.
    #[cfg(target_os = "linux")]
    pub fn in_memory(room: &Room) -> Result<KeyFile<'_>, Fault> {
        /// What the kernel calls tmpfs and ramfs.
        const IN_MEMORY: [u64; 2] = [0x0102_1994, 0x8584_58f6];
        let stat = rustix::fs::fstatfs(&room.dir)
            .map_err(|errno| crate::host::quarantine::room::cannot(&room.path, errno))?;
        if u64::try_from(stat.f_type).is_ok_and(|kind| IN_MEMORY.contains(&(kind & 0xffff_ffff))) {
            return Ok(KeyFile { room, kind: VaultKind::Tmpfs });
        }
        let why = "it is on a disk, where no key may lie";
        Err(fault(&room.path, why).with_hint(
            "set XDG_RUNTIME_DIR, or LAZARET_HOME, to a directory on a tmpfs, as /dev/shm mostly is",
        ))
    }

    /// A vault in this room, wherever it lies.
    #[cfg(not(target_os = "linux"))]
    pub fn on_disk(room: &Room) -> KeyFile<'_> {
        KeyFile { room, kind: VaultKind::File }
    }

    fn find(&self) -> Result<Option<Key>, Fault> {
        let path = self.room.at(NAME);
        let Some((mut file, meta)) = self.room.open_checked(NAME, OFlags::RDONLY)? else { return Ok(None) };
        let odd = if meta.nlink() != 1 {
            Some("it has a second name")
        } else if meta.permissions().mode() & 0o777 != 0o600 {
            Some("its mode is not 600")
        } else if meta.len() != Key::LEN as u64 {
            Some("it has another length than a key")
        } else {
            None
        };
        if let Some(why) = odd {
            let hint = "end the reviews with `lazaret review end`, remove it, and start anew";
            return Err(fault(&path, why).with_hint(hint));
        }
        let mut bytes = [0_u8; Key::LEN];
        let read = file.read_exact(&mut bytes).map_err(|error| told(&path, &error));
        let key = read.map(|()| Some(Key::new(bytes)));
        bytes.zeroize();
        key
    }

    /// Under its name in one step, so that a process killed on the way leaves no part of a key there.
    fn make(&self) -> Result<Key, Fault> {
        self.forget()?;
        let key = random_key()?;
        if let Err(fault) = self.room.write(NAME, key.bytes()) {
            self.forget()?;
            return Err(fault);
        }
        Ok(key)
    }
}

impl Vault for KeyFile<'_> {
    fn kind(&self) -> VaultKind {
        self.kind
    }

    fn master(&self, make: bool) -> Result<Option<Key>, Fault> {
        match self.find()? {
            None if make => self.make().map(Some),
            found => Ok(found),
        }
    }

    fn keep_for(&self, _seconds: u32) -> Result<(), Fault> {
        // A file has no time-out: the sweep of the next call sees to it.
        Ok(())
    }

    fn forget(&self) -> Result<(), Fault> {
        destroy(self.room)
    }
}

/// Whether a room has a key file, finished or not.
pub(super) fn may_hold(room: &Room) -> bool {
    room.exists(NAME) || room.exists(&unfinished())
}

/// Forgets the key file of a room, wherever it lies, and what a killed process wrote of one.
pub(super) fn destroy(room: &Room) -> Result<(), Fault> {
    room.destroy(&unfinished(), Key::LEN)?;
    room.destroy(NAME, Key::LEN).map(|_| ())
}

fn unfinished() -> String {
    format!("{NAME}{UNFINISHED}")
}
