//! The master key in the user's login keychain, which lets only the program that put it there read it without asking the person. The
//! framework is brought in when a key is made or read: no other call pays for its start.
#![allow(
    unsafe_code,
    reason = "functions of a framework, called by their C forms; each block says why it holds"
)]

use std::ffi::{CStr, c_char, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU32, Ordering};

use zeroize::Zeroize;

use super::{Vault, VaultKind, host_fault, random_key};
use crate::domain::{Fault, Key};

const FRAMEWORK: &CStr = c"/System/Library/Frameworks/Security.framework/Security";
/// What the entries are called; each has the room's description as its account.
const SERVICE: &str = "lazaret";
/// `errSecItemNotFound`.
const NOT_FOUND: Status = -25_300;

type Status = i32;
/// A reference to a keychain or to an entry of one.
type Ref = *mut c_void;

type Add =
    unsafe extern "C" fn(Ref, u32, *const c_char, u32, *const c_char, u32, *const c_void, *mut Ref) -> Status;
type Find = unsafe extern "C" fn(
    Ref,
    u32,
    *const c_char,
    u32,
    *const c_char,
    *mut u32,
    *mut *mut c_void,
    *mut Ref,
) -> Status;
type Free = unsafe extern "C" fn(*mut c_void, *mut c_void) -> Status;
type Delete = unsafe extern "C" fn(Ref) -> Status;
type Interaction = unsafe extern "C" fn(u8) -> Status;

/// The functions that are needed, of the framework that is brought in for good.
struct Functions {
    add: Add,
    find: Find,
    free: Free,
    delete: Delete,
}

impl Functions {
    fn load() -> Result<Functions, Fault> {
        // SAFETY: a framework of the system, whose start has no conditions.
        let framework = unsafe { libc::dlopen(FRAMEWORK.as_ptr(), libc::RTLD_LAZY | libc::RTLD_LOCAL) };
        let function = |name: &CStr| {
            // SAFETY: `framework` is what was opened, or null, which has nothing of these names.
            let found = if framework.is_null() {
                null_mut()
            } else {
                unsafe { libc::dlsym(framework, name.as_ptr()) }
            };
            let missing =
                || host_fault("the keychain", format!("this system has no {}", name.to_string_lossy()));
            if found.is_null() { Err(missing()) } else { Ok(found) }
        };
        let interaction = function(c"SecKeychainSetUserInteractionAllowed")?;
        let (add, find) =
            (function(c"SecKeychainAddGenericPassword")?, function(c"SecKeychainFindGenericPassword")?);
        let (free, delete) = (function(c"SecKeychainItemFreeContent")?, function(c"SecKeychainItemDelete")?);
        // SAFETY: these are the forms that the system's headers give the functions of these names.
        unsafe {
            // Nobody can answer a window while a client waits for its hook.
            let interaction = std::mem::transmute::<Ref, Interaction>(interaction);
            told(interaction(0))?;
            Ok(Functions {
                add: std::mem::transmute::<Ref, Add>(add),
                find: std::mem::transmute::<Ref, Find>(find),
                free: std::mem::transmute::<Ref, Free>(free),
                delete: std::mem::transmute::<Ref, Delete>(delete),
            })
        }
    }
}

/// One entry of the keychain, by the room's description.
#[derive(Debug)]
pub(super) struct Keychain {
    account: String,
}

impl Keychain {
    pub fn new(account: String) -> Keychain {
        Keychain { account }
    }

    /// That the keychain keeps keys for us without asking anybody: tried with one that is worth nothing.
    pub fn probe() -> Result<(), Fault> {
        static TRIED: AtomicU32 = AtomicU32::new(0);
        let account = format!("probe {} {}", std::process::id(), TRIED.fetch_add(1, Ordering::Relaxed));
        let probe = Keychain::new(account);
        let made = probe.make()?;
        let kept = probe.find();
        probe.forget()?;
        if kept?.is_some_and(|kept| kept.bytes() == made.bytes()) {
            Ok(())
        } else {
            Err(host_fault("the keychain", "it does not keep its word"))
        }
    }

    fn named(text: &str) -> (u32, *const c_char) {
        (u32::try_from(text.len()).unwrap_or_default(), text.as_ptr().cast::<c_char>())
    }

    fn make(&self) -> Result<Key, Fault> {
        let functions = Functions::load()?;
        let key = random_key()?;
        let ((service, of), (account, by)) = (Keychain::named(SERVICE), Keychain::named(&self.account));
        let length = u32::try_from(Key::LEN).unwrap_or_default();
        // SAFETY: every length is that of the text or key before it, and all outlive the call; null is the default keychain, and no
        // reference is asked for.
        told(unsafe {
            (functions.add)(
                null_mut(),
                service,
                of,
                account,
                by,
                length,
                key.bytes().as_ptr().cast::<c_void>(),
                null_mut(),
            )
        })?;
        Ok(key)
    }

    fn find(&self) -> Result<Option<Key>, Fault> {
        let functions = Functions::load()?;
        let ((service, of), (account, by)) = (Keychain::named(SERVICE), Keychain::named(&self.account));
        let (mut length, mut content): (u32, *mut c_void) = (0, null_mut());
        // SAFETY: as above; what is given back goes into two variables of its types.
        let status = unsafe {
            (functions.find)(
                null_mut(),
                service,
                of,
                account,
                by,
                &raw mut length,
                &raw mut content,
                null_mut(),
            )
        };
        if status == NOT_FOUND {
            return Ok(None);
        }
        told(status)?;
        let mut bytes = [0_u8; Key::LEN];
        let fits = usize::try_from(length) == Ok(Key::LEN) && !content.is_null();
        // SAFETY: the content has `length` bytes, which are read, overwritten and given back once.
        unsafe {
            if fits {
                let content = std::slice::from_raw_parts_mut(content.cast::<u8>(), Key::LEN);
                bytes.copy_from_slice(content);
                content.zeroize();
            }
            (functions.free)(null_mut(), content);
        }
        let key = Key::new(bytes);
        bytes.zeroize();
        match fits {
            true => Ok(Some(key)),
            false => Err(host_fault("the key in the keychain", "it has another length than a key")
                .with_hint("end the reviews with `lazaret review end`, and start anew")),
        }
    }
}

impl Vault for Keychain {
    fn kind(&self) -> VaultKind {
        VaultKind::Keychain
    }

    fn master(&self, make: bool) -> Result<Option<Key>, Fault> {
        match self.find()? {
            Some(key) => Ok(Some(key)),
            None if make => self.make().map(Some),
            None => Ok(None),
        }
    }

    fn keep_for(&self, _seconds: u32) -> Result<(), Fault> {
        // An entry has no time-out: the sweep of the next call sees to it.
        Ok(())
    }

    fn forget(&self) -> Result<(), Fault> {
        let functions = Functions::load()?;
        let ((service, of), (account, by)) = (Keychain::named(SERVICE), Keychain::named(&self.account));
        let mut entry: Ref = null_mut();
        // SAFETY: as above. The content is not asked for: who may not read an entry, as after an update of this program, may delete it.
        let status = unsafe {
            (functions.find)(null_mut(), service, of, account, by, null_mut(), null_mut(), &raw mut entry)
        };
        if status == NOT_FOUND {
            return Ok(());
        }
        told(status)?;
        // SAFETY: `entry` is a reference that the framework gave for this entry, and that nobody gave back.
        told(unsafe { (functions.delete)(entry) })
    }
}

fn told(status: Status) -> Result<(), Fault> {
    if status == 0 {
        return Ok(());
    }
    Err(host_fault("the keychain", format!("the system refuses it (status {status})"))
        .with_hint("unlock the login keychain, or set LAZARET_KEYS=file to keep the key in a file of yours"))
}
