//! The master key in the user's keyring of the kernel: never on a disk, never swapped out, and gone by itself in time.

use linux_keyutils::{Key as Held, KeyError, KeyPermissionsBuilder, KeyRing, KeyRingIdentifier, Permission};
use zeroize::Zeroize;

use super::{Vault, VaultKind, host_fault, random_key};
use crate::domain::{Fault, Key};

/// What only a process that holds the keyring may do; to others of the same user the key is not even visible.
const HOLDER: Permission = Permission::from_bits_truncate(
    Permission::VIEW.bits()
        | Permission::READ.bits()
        | Permission::WRITE.bits()
        | Permission::SEARCH.bits()
        | Permission::SETATTR.bits(),
);
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

    /// That the kernel really keeps, gives and forgets keys here: tried with a key that is worth nothing.
    pub fn probe() -> Result<(), Fault> {
        let tried = Keyring::new(format!("lazaret:probe:{}", std::process::id()));
        let key = tried.master(true)?.ok_or_else(|| host_fault("the keyring", "it keeps nothing"))?;
        let again = tried.master(false)?;
        tried.forget()?;
        let kept = again.is_some_and(|again| again.bytes() == key.bytes());
        let gone = tried.master(false)?.is_none();
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

    fn make(&self) -> Result<Key, Fault> {
        let key = random_key()?;
        let ring =
            KeyRing::from_special_id(KeyRingIdentifier::User, true).map_err(|error| refused(&error))?;
        let held = ring.add_key(&self.description, key.bytes()).map_err(|error| refused(&error))?;
        let holder = KeyPermissionsBuilder::builder().posessor(HOLDER).build();
        let closed = held.set_timeout(FIRST_TIMEOUT_S).and_then(|()| held.set_perms(holder));
        match closed {
            Ok(()) => Ok(key),
            Err(error) => {
                self.forget()?;
                Err(refused(&error))
            }
        }
    }
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
                .with_way_out("end the reviews with `lazaret review end`, and start anew"));
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

/// Links the user's keyring to the process, which thereby holds what is in it.
fn reach_user_keyring() -> Result<(), Fault> {
    let process = KeyRing::from_special_id(KeyRingIdentifier::Process, true);
    let linked = process.and_then(|ring| ring.link_keyring_id(KeyRingIdentifier::User));
    linked.map_err(|error| refused(&error))
}

/// Whether there is simply no such key, or not any more.
fn is_absent(error: KeyError) -> bool {
    matches!(error, KeyError::KeyDoesNotExist | KeyError::KeyExpired | KeyError::KeyRevoked)
}

fn refused(error: &KeyError) -> Fault {
    host_fault("the keyring", format!("the system refuses it ({error:?})"))
        .with_way_out("set LAZARET_KEYS=tmpfs to keep the key in a file in memory")
}
