//! One-time permissions: a blocked call is offered under a code, a person at a terminal grants it, and exactly that action
//! passes once. Whether it is a person is for the caller to see to.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rand::TryRng;
use rand::rngs::SysRng;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::clock::Now;
use super::{hex, private};
use crate::domain::{Fault, FaultKind, Subject, clip};

/// How long an offer can be granted, and how long a permission can be used, in milliseconds.
pub const TTL_MS: u64 = 600_000;
/// Longest text of an action that is kept, in bytes: what a person cannot be shown whole is not offered.
pub const TEXT: usize = 4096;
/// Longest file that is read.
const FILE: u64 = 64 * 1024;
/// Offers looked at when a code is granted, or swept.
const LOOKED_AT: usize = 4096;
/// Digits that are not taken for each other (Crockford's).
const DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// An exact action: who asks, for what, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ActionDigest(String);

impl ActionDigest {
    pub fn new(subject: &Subject, tool: &str, action: &str, cwd: &str) -> ActionDigest {
        let mut hash = Sha256::new();
        for part in ["lazaret action 1", subject.client.name(), tool, action, cwd] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        ActionDigest(hex(&hash.finalize()))
    }
}

/// A permission, offered or granted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Permit {
    pub code: String,
    pub action: ActionDigest,
    /// The action as it is shown to a person.
    pub text: String,
    unix_ms: u64,
    boot_ms: u64,
}

impl Permit {
    /// Both clocks must agree that it is young: neither a new start nor a clock set back makes an old one valid again.
    fn is_valid(&self, now: Now) -> bool {
        let by_boot = now.boot_ms.checked_sub(self.boot_ms).is_some_and(|age| age < TTL_MS);
        by_boot && now.unix_ms.abs_diff(self.unix_ms) < TTL_MS
    }

    /// How long it is good for still, in milliseconds.
    pub fn left_ms(&self, now: Now) -> u64 {
        TTL_MS.saturating_sub(now.age_ms(Now { unix_ms: self.unix_ms, boot_ms: self.boot_ms }))
    }
}

/// Where permissions lie.
#[derive(Debug, Clone)]
pub struct Permits {
    dir: PathBuf,
}

impl Permits {
    pub fn new(state_dir: &Path) -> Permits {
        Permits { dir: state_dir.join("permits") }
    }

    /// Offers an action under a code; one that is offered already keeps its code.
    pub fn offer(&self, action: &ActionDigest, text: &str, now: Now) -> Result<String, Fault> {
        let path = self.offered().join(&action.0);
        if let Some(open) = read(&path)?.filter(|offer| offer.is_valid(now)) {
            return Ok(open.code);
        }
        let Now { unix_ms, boot_ms } = now;
        let (code, action) = (new_code()?, action.clone());
        let permit = Permit { code, action, text: clip(text, TEXT), unix_ms, boot_ms };
        self.write(&self.offered(), &permit)?;
        Ok(permit.code)
    }

    /// Turns the offer of that code into a permission: none = there is no such offer, or it has expired.
    pub fn grant(&self, code: &str, now: Now) -> Result<Option<Permit>, Fault> {
        let Some(offer) = self.refuse(code, now)? else { return Ok(None) };
        let permit = Permit { unix_ms: now.unix_ms, boot_ms: now.boot_ms, ..offer };
        self.write(&self.granted(), &permit)?;
        Ok(Some(permit))
    }

    /// Takes the offer of that code back: none = there is no such offer, or it has expired.
    pub fn refuse(&self, code: &str, now: Now) -> Result<Option<Permit>, Fault> {
        let code = plain(code);
        let offers = all(&self.offered())?;
        let Some((path, offer)) = offers.into_iter().find(|(_, offer)| plain(&offer.code) == code) else {
            return Ok(None);
        };
        // Whoever removes the offer has it: two grants at once make one permission.
        if !offer.is_valid(now) || !remove(&path)? {
            return Ok(None);
        }
        Ok(Some(offer))
    }

    /// Uses the permission for that action up: `true` for exactly one caller.
    pub fn take(&self, action: &ActionDigest, now: Now) -> Result<bool, Fault> {
        let path = self.granted().join(&action.0);
        let Some(permit) = read(&path)? else { return Ok(false) };
        Ok(remove(&path)? && permit.is_valid(now) && permit.action == *action)
    }

    /// What can be granted now.
    pub fn offers(&self, now: Now) -> Result<Vec<Permit>, Fault> {
        let offers = all(&self.offered())?.into_iter().map(|(_, offer)| offer);
        Ok(offers.filter(|offer| offer.is_valid(now)).collect())
    }

    /// Removes what has expired, and what a killed process left.
    pub fn sweep(&self, now: Now) -> Result<usize, Fault> {
        let mut removed = 0;
        for dir in [self.offered(), self.granted()] {
            for path in names(&dir)? {
                let over = match read(&path) {
                    Ok(Some(permit)) => !permit.is_valid(now),
                    // It may be half written: it is over when nobody has touched it for long.
                    Ok(None) | Err(_) => private::untouched_ms(&path, now) > TTL_MS,
                };
                removed += usize::from(over && remove(&path)?);
            }
        }
        Ok(removed)
    }

    fn offered(&self) -> PathBuf {
        self.dir.join("offered")
    }

    fn granted(&self) -> PathBuf {
        self.dir.join("granted")
    }

    fn write(&self, dir: &Path, permit: &Permit) -> Result<(), Fault> {
        private::dir(FaultKind::State, dir)?;
        let path = dir.join(&permit.action.0);
        let bytes = serde_json::to_vec(permit).map_err(|error| fault(&path, error.to_string()))?;
        let temp = dir.join(format!("{}.{}.new", permit.action.0, permit.code));
        private::replace(&path, &temp, &bytes).map_err(|error| cannot(&path, &error))
    }
}

/// Eight digits of the operating system's randomness.
fn new_code() -> Result<String, Fault> {
    let mut bytes = [0_u8; 8];
    SysRng.try_fill_bytes(&mut bytes).map_err(|error| {
        Fault::new(FaultKind::Host, "a code for a one-time permission", format!("no randomness: {error}"))
    })?;
    let digit = |byte: u8| DIGITS.get(usize::from(byte % 32)).copied().map_or('0', char::from);
    let (front, back) = bytes.split_at_checked(4).unwrap_or_default();
    let text = |part: &[u8]| part.iter().map(|byte| digit(*byte)).collect::<String>();
    Ok(format!("{}-{}", text(front), text(back)))
}

/// A code as it was meant: case, hyphens, blanks and digits that look alike do not matter.
fn plain(code: &str) -> String {
    let mean = |c: char| match c.to_ascii_uppercase() {
        'O' => Some('0'),
        'I' | 'L' => Some('1'),
        c => c.is_ascii_alphanumeric().then_some(c),
    };
    code.chars().filter_map(mean).collect()
}

/// A permit, if the file is there and is one. A damaged one permits nothing.
fn read(path: &Path) -> Result<Option<Permit>, Fault> {
    let opened = private::found(private::open(path, false)).map_err(|error| cannot(path, &error))?;
    let Some(mut file) = opened else { return Ok(None) };
    let meta = file.metadata().map_err(|error| cannot(path, &error))?;
    private::owned(FaultKind::State, path, &meta)?;
    let bytes = private::read(&mut file, FILE).map_err(|error| cannot(path, &error))?;
    Ok(bytes.and_then(|bytes| crate::host::from_json(&bytes).ok()))
}

fn names(dir: &Path) -> Result<Vec<PathBuf>, Fault> {
    let entries = private::found(fs::read_dir(dir)).map_err(|error| cannot(dir, &error))?;
    Ok(entries.into_iter().flatten().flatten().take(LOOKED_AT).map(|entry| entry.path()).collect())
}

fn all(dir: &Path) -> Result<Vec<(PathBuf, Permit)>, Fault> {
    let read = |path: PathBuf| read(&path).transpose().map(|permit| permit.map(|permit| (path, permit)));
    names(dir)?.into_iter().filter_map(read).collect()
}

/// Removes a file: `false` = somebody else did.
fn remove(path: &Path) -> Result<bool, Fault> {
    let removed = private::found(fs::remove_file(path)).map_err(|error| cannot(path, &error))?;
    Ok(removed.is_some())
}

fn fault(path: &Path, why: impl Into<String>) -> Fault {
    private::fault(FaultKind::State, path, why)
}

fn cannot(path: &Path, error: &io::Error) -> Fault {
    private::cannot(FaultKind::State, path, error)
}
