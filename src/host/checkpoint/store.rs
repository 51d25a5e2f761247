//! The store's directory: manifests, contents, what calls have left, and which call is on its way. One process at a time.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use rand::TryRng;
use rand::rngs::SysRng;

use super::objects::Objects;
use super::record::{After, Manifest};
use super::take::{self, Tree, Wanted};
use crate::domain::{CheckpointPolicy, Fault, FaultKind, Subject, fingerprint};
use crate::host::clock::Now;
use crate::host::{from_json, lock, private};

/// How long a process waits for another one that saves, in milliseconds.
const WAIT_MS: u64 = 1_000;
/// Longest manifest that is read, in bytes.
const MAX_MANIFEST: u64 = 64 << 20;
/// Most checkpoints that are kept.
pub(super) const MAX_CHECKPOINTS: usize = 10_000;
/// What a file takes up on a disk is counted in pieces of this size.
const BLOCK: u64 = 4096;

/// Whose call a checkpoint is for, and what it is.
#[derive(Debug, Clone, Copy)]
pub struct Meta<'a> {
    pub subject: &'a Subject,
    pub prompt: Option<&'a str>,
    pub call: Option<&'a str>,
    pub tool: &'a str,
    /// Without secrets.
    pub action: &'a str,
    pub cwd: &'a str,
    pub root: Option<&'a str>,
}

/// A checkpoint that was made.
#[derive(Debug, Clone)]
pub struct Made {
    pub id: String,
    /// What was not saved although something is lost with it, and why.
    pub lost: Vec<(String, String)>,
    /// What was left out and does not count as lost, and why.
    pub omitted: Vec<(String, String)>,
}

/// All checkpoints.
#[derive(Debug, Clone)]
pub struct Checkpoints {
    pub(super) dir: PathBuf,
    pub(super) bounds: CheckpointPolicy,
}

impl Checkpoints {
    pub fn new(state_dir: &Path, bounds: CheckpointPolicy) -> Checkpoints {
        Checkpoints { dir: state_dir.join("checkpoints"), bounds }
    }

    /// Saves what is wanted, before a call. `None` = there is nothing to save.
    pub fn make(&self, meta: &Meta<'_>, wanted: &Wanted<'_>, now: Now) -> Result<Option<Made>, Fault> {
        if wanted.is_void() {
            return Ok(None);
        }
        let _held = self.hold()?;
        let mut objects = self.objects();
        let room = self.room(now)?;
        let taken = take::take(wanted, (&self.bounds, room), Some(&mut objects)).map_err(|error| {
            objects.take_back();
            private::cannot(FaultKind::State, &self.dir, &error)
        })?;
        if taken.entries.is_empty() {
            return Ok(None);
        }
        let manifest = Manifest {
            id: new_id(now)?,
            unix_ms: now.unix_ms,
            client: meta.subject.client.name().to_owned(),
            session: meta.subject.session.as_str().to_owned(),
            prompt: meta.prompt.map(str::to_owned),
            call: meta.call.map(str::to_owned),
            tool: meta.tool.to_owned(),
            action: meta.action.to_owned(),
            cwd: meta.cwd.to_owned(),
            root: meta.root.map(str::to_owned),
            undoes: Vec::new(),
            repos: wanted.sites.iter().map(|site| site.repo.clone()).collect(),
            trees: taken.trees,
            whole: wanted.sites.iter().any(|site| site.tree == Tree::Whole),
            inner: wanted.extent.inner,
            listed: taken.listed,
            index: wanted.repo.and_then(super::after::index_of),
            entries: taken.entries,
        };
        self.keep(&manifest, objects.added).inspect_err(|_| objects.take_back())?;
        if let Some(call) = meta.call {
            let path = self.pending(meta.subject, call);
            self.write(&path, manifest.id.as_bytes())?;
        }
        let pairs = |(path, why): (&str, &str)| (path.to_owned(), why.to_owned());
        let lost = manifest.lost().map(pairs).collect();
        let omitted = manifest.omitted().map(pairs).collect();
        Ok(Some(Made { id: manifest.id, lost, omitted }))
    }

    /// Drops a checkpoint whose call does not run after all; its contents go with the next sweep.
    pub fn forget(&self, id: &str) -> Result<(), Fault> {
        let path = self.manifest(id);
        let gone = private::found(fs::remove_file(&path));
        gone.map(drop).map_err(|error| private::cannot(FaultKind::State, &path, &error))
    }

    /// All checkpoints, oldest first. A damaged one is left out.
    pub fn all(&self) -> Result<Vec<Manifest>, Fault> {
        Ok(self.counted()?.0)
    }

    /// The same, and how many are damaged.
    pub fn counted(&self) -> Result<(Vec<Manifest>, usize), Fault> {
        let mut damaged = 0;
        let read = |id: &String| {
            self.find(id).unwrap_or_else(|_| {
                damaged += 1;
                None
            })
        };
        let all = self.ids()?.iter().filter_map(read).collect();
        Ok((all, damaged))
    }

    /// The newest ones, at most `most`, the newest first.
    pub fn newest(&self, most: usize) -> Result<Vec<Manifest>, Fault> {
        let ids = self.ids()?;
        Ok(ids.iter().rev().take(most).filter_map(|id| self.find(id).ok().flatten()).collect())
    }

    /// Their ids, oldest first.
    pub(super) fn ids(&self) -> Result<Vec<String>, Fault> {
        let dir = self.dir.join("made");
        let entries = private::found(fs::read_dir(&dir))
            .map_err(|error| private::cannot(FaultKind::State, &dir, &error))?;
        let names =
            entries.into_iter().flatten().flatten().filter_map(|entry| entry.file_name().into_string().ok());
        let mut ids: Vec<String> = names
            .filter_map(|name| name.strip_suffix(".json").map(str::to_owned))
            .filter(|id| !id.starts_with('.'))
            .collect();
        crate::domain::sort_by(&mut ids, Ord::cmp);
        Ok(ids)
    }

    /// The checkpoint of that id.
    pub fn find(&self, id: &str) -> Result<Option<Manifest>, Fault> {
        self.read(&self.manifest(id))
    }

    /// What its call has left, where that is known.
    pub fn after(&self, id: &str) -> Result<Option<After>, Fault> {
        self.read(&self.dir.join("after").join(format!("{}.json", plain(id))))
    }

    /// A content that is kept, of at most `max` bytes; none = it is not kept, or longer.
    pub fn content(&self, digest: &str, max: u64) -> Option<Vec<u8>> {
        let file = File::open(self.objects().path(digest)?).ok()?;
        let mut bytes = Vec::new();
        file.take(max + 1).read_to_end(&mut bytes).ok()?;
        (bytes.len() as u64 <= max).then_some(bytes)
    }

    pub(super) fn objects(&self) -> Objects {
        Objects::new(self.dir.join("objects"))
    }

    pub(super) fn manifest(&self, id: &str) -> PathBuf {
        self.dir.join("made").join(format!("{}.json", plain(id)))
    }

    /// Where it stands which checkpoint a call on its way has.
    pub(super) fn pending(&self, subject: &Subject, call: &str) -> PathBuf {
        let of = [subject.client.name(), subject.session.as_str(), call].map(str::as_bytes);
        self.dir.join("pending").join(format!("{:016x}", fingerprint(&of)))
    }

    /// Puts a manifest down, and counts what it added.
    pub(super) fn keep(&self, manifest: &Manifest, added: u64) -> Result<(), Fault> {
        let path = self.manifest(&manifest.id);
        let bytes = serde_json::to_vec(manifest)
            .map_err(|error| private::fault(FaultKind::State, &path, error.to_string()))?;
        self.write(&path, &bytes)?;
        let used = self.used().saturating_add(added).saturating_add(on_disk(bytes.len() as u64));
        self.count(used)
    }

    pub(super) fn keep_after(&self, id: &str, after: &After) -> Result<(), Fault> {
        let path = self.dir.join("after").join(format!("{}.json", plain(id)));
        let bytes = serde_json::to_vec(after)
            .map_err(|error| private::fault(FaultKind::State, &path, error.to_string()))?;
        self.write(&path, &bytes)
    }

    /// Bytes in the store, as they were counted.
    pub(super) fn used(&self) -> u64 {
        let text = fs::read_to_string(self.dir.join("used")).unwrap_or_default();
        text.trim().parse().unwrap_or(0)
    }

    pub(super) fn count(&self, used: u64) -> Result<(), Fault> {
        self.write(&self.dir.join("used"), used.to_string().as_bytes())
    }

    /// Bytes that may still come in; the oldest checkpoints make room.
    fn room(&self, now: Now) -> Result<u64, Fault> {
        let (most, wanted) = (self.bounds.max_store_bytes, self.bounds.max_bytes);
        let room = most.saturating_sub(self.used());
        if room >= wanted.min(most) {
            return Ok(room);
        }
        self.make_room(now, most.saturating_sub(wanted))?;
        Ok(most.saturating_sub(self.used()))
    }

    /// One process at a time, until the answer goes.
    pub(super) fn hold(&self) -> Result<File, Fault> {
        self.hold_within(WAIT_MS)
    }

    /// The same, waiting so many milliseconds for another process.
    pub(super) fn hold_within(&self, wait_ms: u64) -> Result<File, Fault> {
        for name in ["", "objects", "made", "after", "pending"] {
            private::dir(FaultKind::State, &self.dir.join(name))?;
        }
        let path = self.dir.join("lock");
        let in_vain = |error: io::Error| private::cannot(FaultKind::State, &path, &error);
        let file = private::open_append(&path).map_err(in_vain)?;
        if lock::hold(&file, lock::Hold::Alone, wait_ms).map_err(in_vain)? {
            Ok(file)
        } else {
            Err(private::fault(FaultKind::Busy, &path, "another process is saving a checkpoint"))
        }
    }

    pub(super) fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), Fault> {
        let temp = self.dir.join(format!("{}{}", super::TEMP, std::process::id()));
        private::replace(path, &temp, bytes).map_err(|error| {
            let _ = fs::remove_file(&temp);
            private::cannot(FaultKind::State, path, &error)
        })
    }

    fn read<T: serde::de::DeserializeOwned>(&self, path: &Path) -> Result<Option<T>, Fault> {
        let in_vain = |error: io::Error| private::cannot(FaultKind::State, path, &error);
        let opened = private::found(private::open(path, false)).map_err(in_vain)?;
        let Some(mut file) = opened else { return Ok(None) };
        let bytes = private::read(&mut file, MAX_MANIFEST).map_err(in_vain)?;
        let damaged = || private::fault(FaultKind::State, path, "it is damaged").with_hint("remove it");
        let bytes = bytes.ok_or_else(damaged)?;
        from_json(&bytes).map(Some).map_err(|_| damaged())
    }
}

/// What a file of so many bytes takes up.
pub(super) const fn on_disk(bytes: u64) -> u64 {
    bytes.div_ceil(BLOCK).saturating_mul(BLOCK)
}

/// An id as a file name.
fn plain(id: &str) -> String {
    id.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(64).collect()
}

/// A UUID of version 7: it sorts by time.
pub(super) fn new_id(now: Now) -> Result<String, Fault> {
    let mut random = [0_u8; 10];
    SysRng.try_fill_bytes(&mut random).map_err(|error| {
        Fault::new(FaultKind::Host, "a checkpoint's id", format!("no randomness: {error}"))
    })?;
    let id = uuid::Builder::from_unix_timestamp_millis(now.unix_ms, &random).into_uuid();
    Ok(id.hyphenated().to_string())
}
