//! A session that goes from one machine to another: all that it is, its copies and its key, and never its place in a room.

use std::io::{Read, Write};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::copies::Copies;
use super::life::{MAX_INSTRUCTIONS, MAX_NAMED, MAX_TTL_S, key, load};
use super::making::make;
use super::record::{Contents, EntryKind, SealedFile, Session, below, elapsed_ms};
use super::room::told;
use super::seal::{MAX_DEPTH, MAX_FILE, MAX_FILES, MAX_LOOKED_AT, MAX_TOTAL};
use super::vault::VaultKind;
use crate::domain::{Fault, FaultKind, Key, lies_in, sealed_name};
use crate::host::clock::Now;
use crate::host::dirs::Dirs;
use crate::host::hex;

/// How far a machine's clock may lie behind another's, in milliseconds.
const AHEAD_MS: u64 = 60_000;
/// Longest name that a file can have, in bytes.
const MAX_NAME: usize = 255;
const CHUNK: usize = 64 * 1024;
/// Deepest directory below the root: a named one and what lies in it.
const DEEPEST: usize = 2 * MAX_DEPTH;

/// A session and the list of its files.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Shared {
    pub session: Session,
    pub contents: Contents,
}

impl Shared {
    /// An open session of this machine, and its key.
    pub fn of(dirs: &Dirs, session: Session) -> Result<(Shared, Key), Fault> {
        let key = key(dirs, &session)?;
        let contents = session.contents(dirs)?.unwrap_or_default();
        Ok((Shared { session, contents }, key))
    }

    /// Writes its copies one after the other, in the order of the list.
    pub fn write_copies(&self, to: &mut dyn Write) -> Result<(), Fault> {
        let grounds = self.session.grounds();
        for file in &self.contents.files {
            let path = grounds.copy_of(&file.original).ok_or_else(|| self.damaged("a file outside it"))?;
            let path = std::path::PathBuf::from(path);
            let copied = std::fs::File::open(&path).and_then(|mut from| std::io::copy(&mut from, to));
            if copied.map_err(|error| told(&path, &error))? != file.bytes {
                return Err(self.damaged("a copy that is not what was sealed"));
            }
        }
        Ok(())
    }

    /// Opens it here with the key that it has elsewhere. `files` are its copies, one after the other; the place of `keys` is chosen as for any.
    pub fn take(
        self,
        dirs: &Dirs,
        key: &Key,
        (keys, now): (Option<VaultKind>, Now),
        files: &mut dyn Read,
    ) -> Result<Session, Fault> {
        let age = now.unix_ms.saturating_sub(self.session.opened_unix_ms);
        self.fits(now)?;
        let id = self.session.id.clone();
        // Also one that has ended: its agents are bound to it for good.
        if let Some(known) = load(dirs, &id)? {
            let (why, hint) = match known.ended {
                None => ("open", format!("`lazaret review show {id} --prompt` prints the task of its agent")),
                Some(_) => ("known, and has ended,", "start a new review, and share that".to_owned()),
            };
            return Err(self.refused(&format!("it is {why} on this machine already")).with_hint(hint));
        }
        make(dirs, &id, (keys, now), Some(key), |target| {
            let mut copies = Copies::new(target);
            for file in &self.contents.files {
                self.unpack(file, &mut copies, files)?;
            }
            copies.close()?;
            // Since when it is open is said by two clocks, of which one is this machine's alone.
            let opened_boot_ms = now.boot_ms.saturating_sub(age);
            let session = Session { opened_boot_ms, opener: None, ..self.session };
            Ok((session, self.contents))
        })
    }

    fn unpack(&self, file: &SealedFile, copies: &mut Copies<'_>, files: &mut dyn Read) -> Result<(), Fault> {
        let rel = below(&file.original, &self.session.root);
        copies.make_dirs(rel.rsplit_once('/').map_or(".", |(above, _)| above))?;
        let path = copies.at(rel);
        let mut to = copies.file(rel)?;
        let (mut hash, mut left, mut chunk) = (Sha256::new(), file.bytes, vec![0; CHUNK]);
        while left > 0 {
            let most = usize::try_from(left).unwrap_or(CHUNK).min(CHUNK);
            let part = chunk.get_mut(..most).unwrap_or_default();
            files.read_exact(part).map_err(|_| self.damaged("less than its list names"))?;
            hash.update(&*part);
            to.write_all(part).map_err(|error| told(&path, &error))?;
            left -= most as u64;
        }
        if hex(&hash.finalize()) == file.sha256 { Ok(()) } else { Err(self.damaged("another file")) }
    }

    /// That it is what lazaret itself could have made, and still open.
    fn fits(&self, now: Now) -> Result<(), Fault> {
        let session = &self.session;
        let then = Now { unix_ms: session.opened_unix_ms, boot_ms: now.boot_ms };
        if session.opened_unix_ms > now.unix_ms.saturating_add(AHEAD_MS) {
            return Err(self
                .refused("it was opened in the future")
                .with_hint("the clocks of the two machines differ: set them"));
        }
        if elapsed_ms(now, then) > u64::from(session.ttl_s) * 1000 || session.ended.is_some() {
            return Err(self.refused("its time has passed").with_hint("start a new review"));
        }
        if !(1..=MAX_TTL_S).contains(&session.ttl_s) || !(1..=session.ttl_s).contains(&session.timeout_s) {
            return Err(self.damaged("a time that no review has"));
        }
        let files = &self.contents.files;
        let bytes = files.iter().fold(0_u64, |sum, file| sum.saturating_add(file.bytes));
        let is_large = files.len() > MAX_FILES
            || bytes > MAX_TOTAL
            || files.iter().any(|file| file.bytes > MAX_FILE)
            || !(1..=MAX_NAMED).contains(&session.entries.len());
        if is_large || files.len() as u64 != session.files || bytes != session.bytes {
            return Err(self.damaged("more, or less, than a review is of"));
        }
        if files.is_empty()
            || session.instructions.as_ref().is_some_and(|text| text.len() > MAX_INSTRUCTIONS)
            || self.contents.skipped.len() > MAX_LOOKED_AT
            || directories(files.iter().map(|file| below(&file.original, &session.root))) > MAX_LOOKED_AT
        {
            return Err(self.damaged("more directories, or words, than a review has"));
        }
        let is_inside = |path: &str| is_plain(path) && lies_in(path, &session.root);
        let is_granted = |path: &str| {
            session.entries.iter().any(|entry| match entry.kind {
                EntryKind::File => entry.original == path,
                EntryKind::Dir => lies_in(path, &entry.original),
            })
        };
        let names = session.entries.iter().map(|entry| entry.original.as_str());
        let stray = names.clone().any(|path| !is_inside(path))
            || files.iter().any(|file| !is_inside(&file.original) || !is_granted(&file.original));
        if !is_plain(&session.root) || stray {
            return Err(self.damaged("a path outside what it grants"));
        }
        Ok(())
    }

    fn damaged(&self, what: &str) -> Fault {
        self.refused(&format!("what came of it is damaged: it holds {what}"))
    }

    fn refused(&self, why: &str) -> Fault {
        Fault::new(FaultKind::State, format!("review {}", self.session.id), why)
    }
}

/// How many directories these paths lie in, each counted once where the paths are in order; one that lies deeper than any that is sealed
/// counts for more than there may be.
fn directories<'p>(paths: impl Iterator<Item = &'p str>) -> usize {
    let (mut count, mut before) = (0, "");
    for path in paths {
        let dirs = path.split('/').count() - 1;
        let same = path.split('/').zip(before.split('/')).take_while(|(one, other)| one == other).count();
        count += if dirs > DEEPEST { MAX_LOOKED_AT + 1 } else { dirs.saturating_sub(same) };
        before = path;
    }
    count
}

/// Absolute, with names alone in it that a file can have.
fn is_plain(path: &str) -> bool {
    let is_name = |name: &str| !matches!(name, "" | "." | "..") && sealed_name(name).len() <= MAX_NAME;
    let rest = path.strip_prefix('/');
    rest.is_some_and(|rest| rest.is_empty() || rest.split('/').all(is_name)) && !path.contains('\0')
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const HOUR: u64 = 3_600_000;

    fn shared(change: impl FnOnce(&mut Value)) -> Shared {
        let file = |path: &str| json!({"original": path, "bytes": 2, "lines": 1, "sha256": ""});
        let mut value = json!({
            "session": {
                "id": "3f2b8c1e-9d4a-4e6f-8a7b-0c1d2e3f4a5b", "root": "/p", "opened_unix_ms": 10 * HOUR, "opened_boot_ms": 5,
                "ttl_s": 3600, "timeout_s": 300, "vault": "keyring", "instructions": null, "opener": null, "files": 2,
                "bytes": 4, "skipped": 0, "ended": null,
                "entries": [
                    {"original": "/p/d", "kind": "dir", "bytes": 2, "sha256": null},
                    {"original": "/p/f", "kind": "file", "bytes": 2, "sha256": ""},
                ],
            },
            "contents": {"files": [file("/p/d/x"), file("/p/f")], "skipped": [], "linked": []},
        });
        change(&mut value);
        serde_json::from_value(value).unwrap()
    }

    fn refused(at: u64, change: impl FnOnce(&mut Value)) -> Option<String> {
        shared(change).fits(Now { unix_ms: at, boot_ms: 7 }).err().map(|fault| fault.message())
    }

    #[test]
    fn another_clock_makes_none_last_longer() {
        let at = |ms| refused(ms, |_| {});
        for fine in [10 * HOUR, 11 * HOUR, 10 * HOUR - AHEAD_MS] {
            assert_eq!(at(fine), None);
        }
        for (then, why) in [
            (11 * HOUR + 1, "its time has passed"),
            (34 * HOUR, "its time has passed"),
            (10 * HOUR - AHEAD_MS - 1, "opened in the future"),
            (0, "opened in the future"),
        ] {
            assert!(at(then).unwrap().contains(why), "{then}");
        }
    }

    #[test]
    fn what_no_review_of_ours_is_like_is_refused() {
        let changes: [fn(&mut Value); 20] = [
            |all| all["contents"]["files"] = json!([]),
            |all| all["session"]["instructions"] = "x".repeat(20_000).into(),
            |all| all["contents"]["files"][0]["original"] = format!("/p/d{}/x", "/a".repeat(200)).into(),
            |all| {
                all["contents"]["skipped"] = json!(vec![json!({"path": "/p/d/y", "why": "w"}); 20_001]);
            },
            |all| all["session"]["root"] = "p".into(),
            |all| all["session"]["root"] = "/p/../q".into(),
            |all| all["session"]["entries"][0]["original"] = "/q/d".into(),
            |all| all["session"]["entries"][0]["original"] = "/p/e".into(),
            |all| all["session"]["entries"] = json!([]),
            |all| all["contents"]["files"][0]["original"] = "/p/d/../../etc/x".into(),
            |all| all["contents"]["files"][0]["original"] = "/p/d//x".into(),
            |all| all["contents"]["files"][0]["original"] = "/p/d/".into(),
            |all| all["contents"]["files"][0]["original"] = "/p/g".into(),
            |all| all["contents"]["files"][0]["original"] = format!("/p/d/{}", "x".repeat(256)).into(),
            |all| all["contents"]["files"][0]["bytes"] = 3.into(),
            |all| all["contents"]["files"][0]["bytes"] = u64::MAX.into(),
            |all| all["session"]["files"] = 1.into(),
            |all| all["session"]["ttl_s"] = 90_000.into(),
            |all| all["session"]["timeout_s"] = 0.into(),
            |all| all["session"]["ended"] = json!({"unix_ms": 1, "why": "asked"}),
        ];
        for (at, change) in changes.into_iter().enumerate() {
            assert!(refused(10 * HOUR, change).is_some(), "{at}");
        }
    }
}
