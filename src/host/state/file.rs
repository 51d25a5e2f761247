//! A ring file on the disk: opened or made, locked, checked, read and written; set aside when it is damaged.

use std::fs::{self, File, Metadata};
use std::io::{self, Read, Seek};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use super::ring::{FILE, HEADER, Header, RECORD, Record, Unreadable, capacity, offset, until_wrap};
use super::{Store, cannot, fault};
use crate::domain::{Fault, FaultKind};
use crate::host::clock::Now;
use crate::host::lock::{self, Hold};
use crate::host::private;

/// At most this much of a damaged file is kept.
const KEPT: u64 = 1 << 20;

/// What the file is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To read and write; made if it is missing.
    Make,
    /// To read and write, if it is there.
    Change,
    /// To read, if it is there; nothing is repaired.
    Look,
}

/// An open ring file and its lock, which ends with it.
#[derive(Debug)]
pub(super) struct Ring {
    file: File,
    pub path: PathBuf,
    pub header: Header,
    /// How many records it has room for.
    capacity: u64,
}

impl Ring {
    /// Opens the file and takes the lock: `None` = there is none and none was to be made.
    pub fn open(store: &Store, name: &str, now: Now, purpose: Purpose) -> Result<Option<Ring>, Fault> {
        let path = store.sessions().join(format!("{name}.ring"));
        // A file that a sweep took away between our open and our lock is opened anew; more than a few in a row is odd.
        for _ in 0..16 {
            let file = match private::open(&path, purpose != Purpose::Look) {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    if purpose != Purpose::Make {
                        return Ok(None);
                    }
                    create(store, &path, now)?;
                    continue;
                }
                Err(error) => return Err(cannot(&path, &error)),
            };
            let hold = if purpose == Purpose::Look { Hold::Shared } else { Hold::Alone };
            if !lock::hold(&file, hold, store.wait_ms).map_err(|error| cannot(&path, &error))? {
                return Err(busy(&path, store.wait_ms));
            }
            let meta = file.metadata().map_err(|error| cannot(&path, &error))?;
            if meta.nlink() == 0 {
                continue;
            }
            private::owned(FaultKind::State, &path, &meta)?;
            return Ring::read(file, path, &meta, now, purpose).map(Some);
        }
        Err(fault(&path, "it is removed again and again"))
    }

    /// Opens the file to read without its lock: what is being written just then is damaged now, and whole the next time.
    pub fn glance(store: &Store, name: &str, now: Now) -> Result<Option<Ring>, Fault> {
        let path = store.sessions().join(format!("{name}.ring"));
        let opened = private::found(private::open(&path, false)).map_err(|error| cannot(&path, &error))?;
        let Some(file) = opened else { return Ok(None) };
        let meta = file.metadata().map_err(|error| cannot(&path, &error))?;
        private::owned(FaultKind::State, &path, &meta)?;
        Ring::read(file, path, &meta, now, Purpose::Look).map(Some)
    }

    fn read(file: File, path: PathBuf, meta: &Metadata, now: Now, purpose: Purpose) -> Result<Ring, Fault> {
        let why = if let Some(capacity) = capacity(meta.len()) {
            let mut bytes = [0; HEADER];
            file.read_exact_at(&mut bytes, 0).map_err(|error| cannot(&path, &error))?;
            match Header::decode(&bytes) {
                Ok(header) => return Ok(Ring { file, path, header, capacity }),
                Err(Unreadable::Foreign(version)) => format!("it is of version {version}, which is not ours"),
                Err(Unreadable::Damaged) => "its header is damaged".to_owned(),
            }
        } else {
            format!("it has {} bytes instead of {FILE}", meta.len())
        };
        if purpose == Purpose::Look {
            return Err(fault(&path, why));
        }
        let kept = keep(&path, &file, now).map_err(|error| cannot(&path, &error))?;
        begin_anew(&file, now).map_err(|error| cannot(&path, &error))?;
        Err(fault(&path, format!("{why}; it was kept as {} and begun anew", kept.display()))
            .with_hint("try again: what the session did before is not remembered"))
    }

    /// The oldest sequence number that the ring still has.
    pub fn oldest(&self) -> u64 {
        self.header.oldest(self.capacity)
    }

    /// The records from `from` up to and with `to`, in one read, or two where the ring begins again.
    pub fn records(&self, from: u64, to: u64) -> Result<Vec<u8>, Fault> {
        let count = to.saturating_sub(from) + 1;
        let first = count.min(until_wrap(from, self.capacity));
        let size = |count: u64| usize::try_from(count).unwrap_or(0).saturating_mul(RECORD);
        let mut bytes = vec![0; size(count)];
        let (head, tail) = bytes.split_at_mut_checked(size(first)).unwrap_or_default();
        let read = |bytes: &mut [u8], sequence| match bytes {
            [] => Ok(()),
            bytes => self.file.read_exact_at(bytes, offset(sequence, self.capacity)),
        };
        read(head, from)
            .and_then(|()| read(tail, from + first))
            .map_err(|error| cannot(&self.path, &error))?;
        Ok(bytes)
    }

    pub fn record(&self, sequence: u64) -> Result<Option<Record>, Fault> {
        let bytes = self.records(sequence, sequence)?;
        Ok(bytes.first_chunk().and_then(|bytes| Record::decode(bytes, sequence)))
    }

    pub fn write_record(&self, record: &Record) -> Result<(), Fault> {
        let at = offset(record.sequence, self.capacity);
        self.file.write_all_at(&record.encode(), at).map_err(|error| cannot(&self.path, &error))
    }

    pub fn write_header(&self) -> Result<(), Fault> {
        self.file.write_all_at(&self.header.encode(), 0).map_err(|error| cannot(&self.path, &error))
    }
}

/// Copies a damaged file beside itself, under a name that says when.
pub(super) fn keep(path: &Path, file: &File, now: Now) -> io::Result<PathBuf> {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".damaged-{}", now.unix_ms));
    let kept = PathBuf::from(name);
    let mut copy = match private::open_new(&kept) {
        Ok(copy) => copy,
        // Damaged twice in one millisecond: the first copy is the one worth having.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(kept),
        Err(error) => return Err(error),
    };
    let mut from = file;
    from.rewind()?;
    io::copy(&mut from.take(KEPT), &mut copy)?;
    Ok(kept)
}

/// Makes the file an empty ring, in place, so that whoever waits for its lock finds a good one.
fn begin_anew(file: &File, now: Now) -> io::Result<()> {
    file.set_len(0)?;
    file.set_len(FILE)?;
    file.write_all_at(&Header::new(now, true).encode(), 0)
}

/// Makes a whole ring under another name first: at `path` there is never half a one.
fn create(store: &Store, path: &Path, now: Now) -> Result<(), Fault> {
    static MADE: AtomicU32 = AtomicU32::new(0);
    let dir = store.sessions();
    private::dir(FaultKind::State, &dir)?;
    let made = MADE.fetch_add(1, Ordering::Relaxed);
    let temp = dir.join(format!(".new-{}-{}-{made}", std::process::id(), now.boot_ms));
    let write = || {
        let file = private::open_new(&temp)?;
        file.set_len(FILE)?;
        file.write_all_at(&Header::new(now, false).encode(), 0)?;
        put_in_place(&temp, path)
    };
    let written = write();
    if written.is_err() {
        // Best effort: a temporary file that stays is swept later.
        let _gone = fs::remove_file(&temp);
    }
    match written {
        // Another process was quicker: its ring is as good as ours.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        written => written.map_err(|error| cannot(path, &error)),
    }
}

/// Renames without replacing.
fn put_in_place(temp: &Path, path: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;
    match renameat_with(CWD, temp, CWD, path, RenameFlags::NOREPLACE) {
        // A file system that cannot do it in one step (NFS, old kernels) can do it in two.
        Err(Errno::INVAL | Errno::NOSYS) => {
            fs::hard_link(temp, path)?;
            fs::remove_file(temp)
        }
        renamed => Ok(renamed?),
    }
}

fn busy(path: &Path, wait_ms: u64) -> Fault {
    let why = format!("another call of this session has held its lock for {wait_ms} ms");
    Fault::new(FaultKind::Busy, format!("state {}", path.display()), why)
        .with_hint("try again; if it stays, look for a hanging lazaret process")
}
