//! The master key in the user's keyring of the kernel: never on a disk, never swapped out, and gone by itself in time.

use std::sync::atomic::{AtomicU32, Ordering};

use linux_keyutils::{Key as Held, KeyError, KeyPermissionsBuilder, KeyRing, KeyRingIdentifier, Permission};
use zeroize::Zeroize;

use super::{Vault, VaultKind, host_fault, random_key};
use crate::domain::{Fault, Key};

/// Only a process that holds the keyring may do anything; to others of the same user the key is not even visible.
const HOLDER: Permission = Permission::ALL;
/// How long a key may stay that nobody came to give its time-out, in seconds.
const FIRST_TIMEOUT_S: usize = 60;

/// One key of the user's keyring, by its description.
#[derive(Debug)]
pub(super) struct Keyring {
    description: String,
}

impl Keyring {
    pub fn new(description: String) -> Keyring {
        Keyring { description }
    }

    /// That the kernel gives us keyrings here: tried with a key that is worth nothing and goes with this process.
    pub fn probe() -> Result<(), Fault> {
        static TRIED: AtomicU32 = AtomicU32::new(0);
        let (ring, key) = (reach_user_keyring()?, random_key()?);
        let name = format!("lazaret:probe:{}", TRIED.fetch_add(1, Ordering::Relaxed));
        let held = closed_key(ring, &name, &key)?;
        let mut bytes = [0_u8; Key::LEN];
        let found =
            ring.search(&name).and_then(|found| found.read(&mut bytes)).map_err(|error| refused(&error))?;
        let kept = found == Key::LEN && bytes == *key.bytes();
        bytes.zeroize();
        held.invalidate().map_err(|error| refused(&error))?;
        let gone = ring.search(&name).is_err();
        if kept && gone { Ok(()) } else { Err(host_fault("the keyring", "it does not keep its word")) }
    }

    fn find(&self) -> Result<Option<Held>, Fault> {
        let ring =
            KeyRing::from_special_id(KeyRingIdentifier::User, true).map_err(|error| refused(&error))?;
        if let Ok(key) = ring.search(&self.description) {
            return Ok(Some(key));
        }
        // A session that was not set up by a login has no way to the user's keyring: then we make one.
        reach_user_keyring()?;
        match ring.search(&self.description) {
            Ok(key) => Ok(Some(key)),
            Err(error) if is_absent(error) => Ok(None),
            Err(error) => Err(refused(&error)),
        }
    }

    /// Made in the keyring of this process, closed there, and then put into the user's: a process killed on the way leaves
    /// nothing, or a key that ends by itself.
    fn make(&self) -> Result<Key, Fault> {
        let key = random_key()?;
        let held = closed_key(reach_user_keyring()?, &self.description, &key)?;
        KeyRing::from_special_id(KeyRingIdentifier::User, true)
            .and_then(|ring| ring.link_key(held))
            .map_err(|error| refused(&error))?;
        Ok(key)
    }
}

/// A new key that only a holder may use, and only for a while.
fn closed_key(ring: KeyRing, name: &str, key: &Key) -> Result<Held, Fault> {
    let holder = KeyPermissionsBuilder::builder().posessor(HOLDER).build();
    let held = ring.add_key(name, key.bytes()).map_err(|error| refused(&error))?;
    let closed = held.set_timeout(FIRST_TIMEOUT_S).and_then(|()| held.set_perms(holder));
    closed.map(|()| held).map_err(|error| refused(&error))
}

impl Vault for Keyring {
    fn kind(&self) -> VaultKind {
        VaultKind::Keyring
    }

    fn master(&self, make: bool) -> Result<Option<Key>, Fault> {
        let Some(held) = self.find()? else {
            return if make { self.make().map(Some) } else { Ok(None) };
        };
        // A key of that name which others of the user could read or put there is not ours.
        let meta = held.metadata().map_err(|error| refused(&error))?;
        let user = KeyPermissionsBuilder::builder().posessor(HOLDER).build();
        if meta.get_uid() != rustix::process::geteuid().as_raw() || meta.get_perms().bits() != user.bits() {
            let why = "its owner or permissions are not as they were set";
            return Err(host_fault("the key in the keyring", why)
                .with_hint("end the reviews with `lazaret review end`, and start anew"));
        }
        // One byte more than a key has, to see a longer one.
        let mut bytes = [0_u8; Key::LEN + 1];
        let read = held.read(&mut bytes);
        let key = match (&read, bytes.first_chunk()) {
            (Ok(Key::LEN), Some(key)) => Ok(Some(Key::new(*key))),
            (Err(error), _) if is_absent(*error) => Ok(None),
            (Err(error), _) => Err(refused(error)),
            _ => Err(host_fault("the key in the keyring", "it has another length than a key")),
        };
        bytes.zeroize();
        key
    }

    fn keep_for(&self, seconds: u32) -> Result<(), Fault> {
        let Some(held) = self.find()? else { return Err(host_fault("the keyring", "the key is gone")) };
        let seconds = usize::try_from(seconds.max(1)).unwrap_or(FIRST_TIMEOUT_S);
        held.set_timeout(seconds).map_err(|error| refused(&error))
    }

    fn forget(&self) -> Result<(), Fault> {
        let Some(held) = self.find()? else { return Ok(()) };
        match held.invalidate().or_else(|_| held.revoke()) {
            Ok(()) => Ok(()),
            Err(error) if is_absent(error) => Ok(()),
            Err(error) => Err(refused(&error)),
        }
    }
}

/// Links the user's keyring to that of the process, which thereby holds what is in it; gives the latter.
fn reach_user_keyring() -> Result<KeyRing, Fault> {
    let process = KeyRing::from_special_id(KeyRingIdentifier::Process, true);
    let linked = process.and_then(|ring| ring.link_keyring_id(KeyRingIdentifier::User).map(|()| ring));
    linked.map_err(|error| refused(&error))
}

/// Whether there is simply no such key, or not any more.
fn is_absent(error: KeyError) -> bool {
    matches!(error, KeyError::KeyDoesNotExist | KeyError::KeyExpired | KeyError::KeyRevoked)
}

fn refused(error: &KeyError) -> Fault {
    host_fault("the keyring", format!("the system refuses it ({error:?})"))
        .with_hint("set LAZARET_KEYS=tmpfs to keep the key in a file in memory")
}
