//! What a session is, and how it is kept: a small record for every call, the list of its files apart, and a tombstone when
//! it has ended. A damaged record is a fault, never "no session".

use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::holder::Holder;
use super::room::{Room, fault};
use super::vault::VaultKind;
use crate::domain::{Fault, Granted, Grounds, ReviewId, words};
use crate::host::clock::Now;

const VERSION: u32 = 1;
/// Longest record, in bytes.
const MAX_RECORD: u64 = 1 << 20;
/// Longest list of files, in bytes.
const MAX_CONTENTS: u64 = 16 << 20;

/// Directories and files of the room.
pub(super) const OPEN: &str = "sessions";
pub(super) const ENDED: &str = "ended";
pub(super) const RECORD: &str = "record.json";
pub(super) const CONTENTS: &str = "contents.json";
pub(super) const SALT: &str = "salt";
pub(super) const COPIES: &str = "copies";

/// What was named when the session was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EntryKind {
    File,
    Dir,
}

/// A file or directory that the agent gets a reference to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Its real path, absolute.
    pub original: String,
    pub kind: EntryKind,
    /// Of a directory: of all that was copied from it.
    pub bytes: u64,
    /// Of a file, in hexadecimal.
    pub sha256: Option<String>,
}

/// A file that was copied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SealedFile {
    pub original: String,
    pub bytes: u64,
    /// A last line without an end counts.
    pub lines: u64,
    pub sha256: String,
}

/// What lies below a named directory and was not copied, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    pub path: String,
    pub why: String,
}

/// All files of a session, sorted by path, and what was left out.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Contents {
    pub files: Vec<SealedFile>,
    pub skipped: Vec<Skipped>,
    /// Files that have other names too, which may lie anywhere, and how many names each has.
    #[serde(default)]
    pub linked: Vec<(String, u64)>,
}

words! {
    /// Why a session has ended.
    Why {
        /// A person, or the command that opened it, ended it.
        Asked = "asked",
        /// It was older than its references may be.
        Expired = "expired",
        /// An agent worked longer than it may.
        TimedOut = "timed-out",
        /// The client's session ended.
        ClientEnded = "client-ended",
        /// The process that it was opened for, or every client whose agents worked in it, has ended.
        ProcessGone = "process-gone",
        /// A process that was ending it was killed, or its record was damaged.
        Broken = "broken",
    }
}

/// When and why a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    pub unix_ms: u64,
    pub why: Why,
}

/// A quarantine session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    #[serde(with = "review_id")]
    pub id: ReviewId,
    /// The real path of the directory that everything lies in.
    pub root: String,
    pub(super) opened_unix_ms: u64,
    pub(super) opened_boot_ms: u64,
    /// Life of the session and its references, in seconds.
    pub ttl_s: u32,
    /// How long one agent may work, in seconds.
    pub timeout_s: u32,
    pub vault: VaultKind,
    pub instructions: Option<String>,
    /// The process that it lasts no longer than, until an agent works in it; none = there is none, or it cannot be said.
    #[serde(default)]
    pub(super) opener: Option<Holder>,
    pub entries: Vec<Entry>,
    /// Number of files, their bytes, and how many were left out.
    pub files: u64,
    pub bytes: u64,
    pub skipped: u64,
    pub ended: Option<Ended>,
    /// The directory of the copies.
    #[serde(skip)]
    pub copies: PathBuf,
}

impl Session {
    pub fn opened(&self) -> Now {
        Now { unix_ms: self.opened_unix_ms, boot_ms: self.opened_boot_ms }
    }

    /// When it expires, in milliseconds since 1970.
    pub fn expires_unix_ms(&self) -> u64 {
        self.opened_unix_ms.saturating_add(u64::from(self.ttl_s) * 1000)
    }

    pub fn is_expired(&self, now: Now) -> bool {
        elapsed_ms(now, self.opened()) > u64::from(self.ttl_s) * 1000
    }

    /// What it grants.
    pub fn grounds(&self) -> Grounds {
        let granted = |entry: &Entry| Granted {
            original: entry.original.clone(),
            tree: match entry.kind {
                EntryKind::File => false,
                EntryKind::Dir => true,
            },
        };
        Grounds {
            root: self.root.clone(),
            copies: self.copies.to_string_lossy().into_owned(),
            granted: self.entries.iter().map(granted).collect(),
        }
    }
}

/// The part of a path below `root`, which it must lie in; without a slash at the front.
pub(super) fn below<'p>(path: &'p str, root: &str) -> &'p str {
    path.strip_prefix(root).unwrap_or(path).trim_start_matches('/')
}

/// How long ago `then` was, by whichever clock says more: a clock set back never makes anything last longer.
pub(super) fn elapsed_ms(now: Now, then: Now) -> u64 {
    now.age_ms(then).max(now.unix_ms.saturating_sub(then.unix_ms))
}

#[derive(Deserialize)]
struct Version {
    version: u32,
}

#[derive(Serialize, Deserialize)]
struct Paper<T> {
    version: u32,
    content: T,
}

/// A session as it is found.
pub(super) fn load(room: &Room, id: &ReviewId) -> Result<Option<Session>, Fault> {
    let open = format!("{OPEN}/{id}/{RECORD}");
    if let Some(session) = read_record(room, id, &open)? {
        return Ok(Some(session));
    }
    let ended = read_record(room, id, &format!("{ENDED}/{id}.json"))?;
    if ended.is_none() && room.exists(&format!("{OPEN}/{id}")) {
        return Err(damaged(room, &open, "it is gone"));
    }
    Ok(ended)
}

fn read_record(room: &Room, id: &ReviewId, rel: &str) -> Result<Option<Session>, Fault> {
    let Some(mut session) = read::<Session>(room, rel, MAX_RECORD)? else { return Ok(None) };
    if session.id != *id {
        return Err(damaged(room, rel, "it is another session's"));
    }
    session.copies = room.at(&format!("{OPEN}/{id}/{COPIES}"));
    Ok(Some(session))
}

pub(super) fn write_record(room: &Room, rel: &str, session: &Session) -> Result<(), Fault> {
    write(room, rel, session, MAX_RECORD)
}

pub(super) fn read_contents(room: &Room, id: &ReviewId) -> Result<Option<Contents>, Fault> {
    read(room, &format!("{OPEN}/{id}/{CONTENTS}"), MAX_CONTENTS)
}

pub(super) fn write_contents(room: &Room, rel: &str, contents: &Contents) -> Result<(), Fault> {
    write(room, rel, contents, MAX_CONTENTS)
}

fn write<T: Serialize>(room: &Room, rel: &str, content: &T, max: u64) -> Result<(), Fault> {
    let bytes = serde_json::to_vec(&Paper { version: VERSION, content })
        .map_err(|error| fault(&room.at(rel), error.to_string()))?;
    if bytes.len() as u64 > max {
        return Err(fault(&room.at(rel), format!("it would be longer than {max} bytes"))
            .with_hint("name fewer files, or a directory that holds them"));
    }
    room.write(rel, &bytes)
}

fn read<T: DeserializeOwned>(room: &Room, rel: &str, max: u64) -> Result<Option<T>, Fault> {
    let Some(bytes) = room.read(rel, max)? else { return Ok(None) };
    match crate::host::from_json::<Paper<T>>(&bytes) {
        Ok(Paper { version: VERSION, content }) => Ok(Some(content)),
        Ok(Paper { version, .. }) => Err(foreign(room, rel, version)),
        Err(error) => match crate::host::from_json::<Version>(&bytes) {
            Ok(Version { version }) if version != VERSION => Err(foreign(room, rel, version)),
            Ok(_) | Err(_) => Err(damaged(room, rel, &format!("it is damaged ({error})"))),
        },
    }
}

fn foreign(room: &Room, rel: &str, version: u32) -> Fault {
    damaged(room, rel, &format!("it is of version {version}, which is not ours"))
}

fn damaged(room: &Room, rel: &str, why: &str) -> Fault {
    fault(&room.at(rel), why).with_hint("end the review with `lazaret review end`, and start it anew")
}

/// A session's id as text.
mod review_id {
    use serde::{Deserialize, Deserializer, Serializer};

    use crate::domain::ReviewId;

    pub fn serialize<S: Serializer>(id: &ReviewId, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(id.as_str())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<ReviewId, D::Error> {
        let text = String::deserialize(from)?;
        ReviewId::parse(&text).ok_or_else(|| serde::de::Error::custom("no review session's id"))
    }
}
