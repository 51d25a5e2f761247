//! Where the master key of all reviews is kept, and how a session's key is derived from it. Only the opening of a session
//! makes a master; a call only ever reads it.

mod key_file;
#[cfg(target_os = "macos")]
mod keychain;
#[cfg(target_os = "linux")]
mod keyring;

use hkdf::Hkdf;
use rand::TryRng;
use rand::rngs::SysRng;
use sha2::{Digest, Sha256};
use zeroize::Zeroize;

use super::room::{Room, fault};
use crate::domain::{Fault, FaultKind, Key, ReviewId, words};
use crate::host::dirs::Environment;

/// Bytes of a session's salt.
pub(super) const SALT: usize = 32;
/// What the derivation is for, so that no other use of the master gives the same key.
const PURPOSE: &[u8] = b"lazaret review v1";
/// Says that there may be a master in the system's own place that is to be forgotten some day.
const MARK: &str = "master.keyring";

words! {
    /// The places where a master key can be kept.
    VaultKind {
        /// The user's keyring of the kernel (Linux).
        Keyring = "keyring",
        /// A file in memory (Linux).
        Tmpfs = "tmpfs",
        /// The user's login keychain (macOS).
        Keychain = "keychain",
        /// A file that only its owner may read, on a disk (macOS).
        File = "file",
    }
}

/// The place of this system's own, and the file that stands in for it.
#[cfg(target_os = "linux")]
const HERE: (VaultKind, VaultKind) = (VaultKind::Keyring, VaultKind::Tmpfs);
#[cfg(target_os = "macos")]
const HERE: (VaultKind, VaultKind) = (VaultKind::Keychain, VaultKind::File);

impl VaultKind {
    /// What `LAZARET_KEYS` chooses; none = whatever works.
    pub fn chosen(env: &Environment) -> Result<Option<VaultKind>, Fault> {
        let Some(name) = env.lazaret_keys.as_deref() else { return Ok(None) };
        let here = |kind: &VaultKind| *kind == HERE.0 || *kind == HERE.1;
        VaultKind::from_name(name).filter(here).map(Some).ok_or_else(|| {
            let why = format!("{:?} is not a place for keys on this system", crate::domain::clip(name, 200));
            let hint = format!("set LAZARET_KEYS to {} or {}, or unset it", HERE.0.name(), HERE.1.name());
            Fault::new(FaultKind::Config, "LAZARET_KEYS", why).with_hint(hint)
        })
    }
}

/// One place for the master key.
pub(super) trait Vault {
    fn kind(&self) -> VaultKind;
    /// The master; where there is none it is made, if asked for.
    fn master(&self, make: bool) -> Result<Option<Key>, Fault>;
    /// Lets the master go by itself after so many seconds, where the place can do that.
    fn keep_for(&self, seconds: u32) -> Result<(), Fault>;
    fn forget(&self) -> Result<(), Fault>;
}

/// The place of that kind for this room; nothing is tried.
pub(super) fn of_kind(room: &Room, kind: VaultKind) -> Result<Box<dyn Vault + '_>, Fault> {
    match kind {
        #[cfg(target_os = "linux")]
        VaultKind::Keyring => Ok(Box::new(keyring::Keyring::new(description(room)))),
        #[cfg(target_os = "linux")]
        VaultKind::Tmpfs => Ok(Box::new(key_file::KeyFile::in_memory(room)?)),
        #[cfg(target_os = "macos")]
        VaultKind::Keychain => Ok(Box::new(keychain::Keychain::new(description(room)))),
        #[cfg(target_os = "macos")]
        VaultKind::File => Ok(Box::new(key_file::KeyFile::on_disk(room))),
        elsewhere => {
            let fault = host_fault("the place for keys", format!("this system has no {}", elsewhere.name()));
            Err(fault.with_hint("start a new review"))
        }
    }
}

/// The place that was chosen; without a choice the system's own where it works, as `probe` says, else a file.
fn choose(
    room: &Room,
    chosen: Option<VaultKind>,
    probe: fn() -> Result<&'static str, Fault>,
) -> Result<Box<dyn Vault + '_>, Fault> {
    let (own, file) = HERE;
    if chosen == Some(file) {
        return of_kind(room, file);
    }
    let Err(refused) = probe() else { return of_kind(room, own) };
    if chosen.is_some() {
        return Err(refused);
    }
    of_kind(room, file).map_err(|no_file| {
        let why = format!("{}; {}", refused.message(), no_file.message());
        let fault = host_fault("a place for the key", why);
        no_file.hint.into_iter().fold(fault, Fault::with_hint)
    })
}

/// Whether the system keeps keys for us here, and what it calls the place.
pub fn probe_own() -> Result<&'static str, Fault> {
    #[cfg(target_os = "linux")]
    keyring::Keyring::probe()?;
    #[cfg(target_os = "macos")]
    keychain::Keychain::probe()?;
    Ok(HERE.0.name())
}

/// The master for a new session, made if it is missing, and the place it is in.
pub(super) fn make_master(room: &Room, chosen: Option<VaultKind>, seconds: u32) -> Result<VaultKind, Fault> {
    never_dump()?;
    let vault = choose(room, chosen, probe_own)?;
    if vault.kind() == HERE.0 {
        // First the mark: a process killed right after leaves nothing that is never forgotten.
        room.touch(MARK)?;
    }
    let master = vault.master(true)?;
    if master.is_none() {
        return Err(host_fault("the master key", "it could not be made"));
    }
    vault.keep_for(seconds)?;
    Ok(vault.kind())
}

/// Whether a master may still be somewhere.
pub(super) fn may_hold(room: &Room) -> bool {
    room.exists(MARK) || key_file::may_hold(room)
}

/// Forgets the master wherever it may be.
pub(super) fn forget(room: &Room) -> Result<(), Fault> {
    key_file::destroy(room)?;
    if room.exists(MARK) {
        of_kind(room, HERE.0)?.forget()?;
        room.remove(MARK)?;
    }
    Ok(())
}

/// 32 bytes of salt for a new session.
pub(super) fn random_salt() -> Result<[u8; SALT], Fault> {
    let mut bytes = [0_u8; SALT];
    fill(&mut bytes)?;
    Ok(bytes)
}

/// The key of a session, derived anew each time.
pub(super) fn derive(room: &Room, kind: VaultKind, id: &ReviewId, salt: &[u8; SALT]) -> Result<Key, Fault> {
    never_dump()?;
    let master = of_kind(room, kind)?.master(false)?.ok_or_else(|| {
        let hint = format!(
            "start a new review; where the client runs in a container of its own, with LAZARET_KEYS={}",
            HERE.1.name()
        );
        fault(&room.path, format!("the master key is gone from the {}", kind.name())).with_hint(hint)
    })?;
    let mut bytes = [0_u8; Key::LEN];
    let expanded = Hkdf::<Sha256>::new(Some(salt), master.bytes())
        .expand_multi_info(&[PURPOSE, id.as_str().as_bytes()], &mut bytes);
    let key = Key::new(bytes);
    bytes.zeroize();
    expanded.map(|()| key).map_err(|error| host_fault("the session's key", error.to_string()))
}

/// A process that holds a key leaves no core and cannot be read by others of the same user. There is no need to lock its
/// memory: a key is in it for microseconds, and the kernel does not swap out what was touched just now.
#[cfg(target_os = "linux")]
fn never_dump() -> Result<(), Fault> {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};
    let refused = |errno: rustix::io::Errno| host_fault("the process that holds a key", errno.to_string());
    set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(refused)?;
    no_core().map_err(refused)
}

/// A process that holds a key leaves no core.
#[cfg(not(target_os = "linux"))]
fn never_dump() -> Result<(), Fault> {
    no_core().map_err(|errno| host_fault("the process that holds a key", errno.to_string()))
}

fn no_core() -> rustix::io::Result<()> {
    use rustix::process::{Resource, Rlimit, setrlimit};
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })
}

/// Each room has a key of its own name.
fn description(room: &Room) -> String {
    use std::os::unix::ffi::OsStrExt;
    let digest = Sha256::digest(room.path.as_os_str().as_bytes());
    let short = digest.first_chunk::<8>().map_or_else(String::new, |start| crate::host::hex(start));
    format!("lazaret:review:{short}")
}

fn random_key() -> Result<Key, Fault> {
    let mut bytes = [0_u8; Key::LEN];
    fill(&mut bytes)?;
    let key = Key::new(bytes);
    bytes.zeroize();
    Ok(key)
}

fn fill(bytes: &mut [u8]) -> Result<(), Fault> {
    SysRng.try_fill_bytes(bytes).map_err(|error| host_fault("a new key", format!("no randomness: {error}")))
}

fn host_fault(what: &str, why: impl Into<String>) -> Fault {
    Fault::new(FaultKind::Host, what, why)
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::host::dirs::Dirs;

    fn refused() -> Result<&'static str, Fault> {
        Err(host_fault("the keyring", "refused for the test").with_hint("set LAZARET_KEYS=tmpfs"))
    }

    fn room(base: &Path) -> (tempfile::TempDir, Room) {
        let dir = tempfile::tempdir_in(base).unwrap();
        let home = dir.path().join("home").to_str().unwrap().to_owned();
        let env = Environment { lazaret_home: Some(home), ..Environment::default() };
        std::fs::create_dir(dir.path().join("home")).unwrap();
        let room = Room::make(&Dirs::locate(&env).unwrap()).unwrap().unwrap();
        (dir, room)
    }

    #[test]
    fn where_the_keyring_is_refused_a_file_in_memory_takes_its_place() {
        let memory = Path::new("/dev/shm");
        if !memory.is_dir() {
            eprintln!("not tested: the file in memory (there is no /dev/shm)");
            return;
        }
        let (_dir, room) = room(memory);
        assert_eq!(choose(&room, None, refused).unwrap().kind(), VaultKind::Tmpfs);
        assert_eq!(choose(&room, None, || Ok("here")).unwrap().kind(), VaultKind::Keyring);
        assert_eq!(choose(&room, Some(VaultKind::Tmpfs), || Ok("here")).unwrap().kind(), VaultKind::Tmpfs);
        // Who asked for the keyring gets no other place.
        let told = choose(&room, Some(VaultKind::Keyring), refused).err().unwrap();
        assert!(told.message().contains("refused for the test"), "{told}");
    }

    #[test]
    fn where_there_is_neither_both_reasons_are_told() {
        let (_dir, room) = room(Path::new("/var/tmp"));
        let in_memory = key_file::KeyFile::in_memory(&room).is_ok();
        if in_memory {
            eprintln!("not tested: a room on a disk (/var/tmp lies in memory)");
            return;
        }
        let told = choose(&room, None, refused).err().unwrap();
        assert!(told.message().contains("refused for the test") && told.message().contains("on a disk"));
        assert!(told.hint.unwrap().contains("XDG_RUNTIME_DIR"));
    }
}
