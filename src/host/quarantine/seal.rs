//! Sealed copies: the named files and directories are copied once, through descriptors that no link can redirect.
//! What is not a plain file of bounded size is left out and reported.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;
use sha2::{Digest, Sha256};

use super::beneath;
use super::copies::Copies;
use super::kernel;
use super::record::{Contents, Entry, EntryKind, SealedFile, Skipped, below};
use crate::domain::{
    Fault, FaultKind, Protected, ProtectedKind, escape, is_sealed_name, lies_in, sealed_name, size,
};
use crate::host::{Watched, files, hex};

/// Most files of a session.
pub const MAX_FILES: usize = 5_000;
/// Most bytes of all files of a session.
pub const MAX_TOTAL: u64 = 64 << 20;
/// Longest file, in bytes.
pub const MAX_FILE: u64 = 8 << 20;
/// Deepest directory below a named one.
pub const MAX_DEPTH: usize = 64;
/// Most names that are looked at in all directories.
pub const MAX_LOOKED_AT: usize = 20_000;
/// Longest name that a file can have, in bytes.
const MAX_NAME: usize = 255;
/// Most names of what was left out that are told when nothing is left.
const TOLD: usize = 20;
const CHUNK: usize = 64 * 1024;

/// Everything that was sealed.
pub(super) struct Sealed {
    pub entries: Vec<Entry>,
    pub contents: Contents,
    pub bytes: u64,
}

/// Why one file was not copied.
enum Refusal {
    Skip(&'static str),
    /// The system said so.
    System(Errno),
    /// Nothing more can be copied.
    Fault(Fault),
}

impl From<Errno> for Refusal {
    fn from(errno: Errno) -> Refusal {
        Refusal::System(errno)
    }
}

/// Copies `named`, real paths inside the real directory `root`, into the directory `target`, which is ours and empty.
pub(super) fn seal(
    root: &str,
    named: &[String],
    protected: &[Protected],
    target: &Path,
    each: &mut Watched<'_>,
) -> Result<Sealed, Fault> {
    let dir = beneath::open_dir(root).map_err(|errno| refused(root, errno))?;
    let mut sealer = Sealer {
        root,
        dir,
        protected,
        copies: Copies::new(target),
        files: BTreeMap::new(),
        skipped: Vec::new(),
        linked: Vec::new(),
        bytes: 0,
        looked_at: 0,
        chunk: vec![0; CHUNK],
        each,
    };
    let mut entries: Vec<Entry> = Vec::with_capacity(named.len());
    for path in named {
        if !entries.iter().any(|entry| entry.original == *path) {
            entries.push(sealer.named(path)?);
        }
    }
    if sealer.files.is_empty() {
        return Err(nothing(&sealer.skipped));
    }
    sealer.copies.close()?;
    let (skipped, linked) = (sealer.skipped, sealer.linked);
    let contents = Contents { files: sealer.files.into_values().collect(), skipped, linked };
    Ok(Sealed { entries, contents, bytes: sealer.bytes })
}

struct Sealer<'s, 'w> {
    root: &'s str,
    dir: OwnedFd,
    protected: &'s [Protected],
    copies: Copies<'s>,
    /// Copied files, by their path relative to the root.
    files: BTreeMap<String, SealedFile>,
    skipped: Vec<Skipped>,
    linked: Vec<(String, u64)>,
    bytes: u64,
    looked_at: usize,
    chunk: Vec<u8>,
    /// Is told how many files are copied.
    each: &'s mut Watched<'w>,
}

impl Sealer<'_, '_> {
    /// A path that a person named: whatever keeps it from being copied is a fault.
    fn named(&mut self, path: &str) -> Result<Entry, Fault> {
        if self.is_protected(path) {
            let why = "it is a protected place, which no quarantined agent may read";
            return Err(Fault::new(FaultKind::Host, shown(path), why));
        }
        if kernel::is_its_own(path) {
            return Err(made_up(path));
        }
        let rel = below(path, self.root).to_owned();
        let rel = if rel.is_empty() { "." } else { &rel };
        let fault = |refusal| match refusal {
            Refusal::Skip(why) => Fault::new(FaultKind::Host, shown(path), why),
            Refusal::System(errno) => refused(path, errno),
            Refusal::Fault(fault) => fault,
        };
        // Only to tell the kind: what is opened then is looked at again.
        let found = rustix::fs::statat(&self.dir, rel, AtFlags::SYMLINK_NOFOLLOW)
            .map_err(|errno| refused(path, errno))?;
        let (original, before) = (path.to_owned(), self.bytes);
        match FileType::from_raw_mode(found.st_mode) {
            FileType::RegularFile => {
                let file = self.file(None, rel, rel).map_err(fault)?;
                let (bytes, sha256) = (file.bytes, Some(file.sha256));
                Ok(Entry { original, kind: EntryKind::File, bytes, sha256 })
            }
            FileType::Directory => {
                self.tree(rel)?;
                Ok(Entry { original, kind: EntryKind::Dir, bytes: self.bytes - before, sha256: None })
            }
            _ => Err(fault(Refusal::Skip("it is neither a file nor a directory"))),
        }
    }

    /// A directory with all that lies below it.
    fn tree(&mut self, rel: &str) -> Result<(), Fault> {
        let mut open = vec![(rel.to_owned(), 0_usize)];
        while let Some((rel, depth)) = open.pop() {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY;
            let dir = match beneath::open(&self.dir, &rel, flags, Mode::empty()) {
                Ok(dir) => dir,
                Err(errno) if depth == 0 => return Err(refused(&self.original(&rel), errno)),
                Err(errno) => {
                    self.skip(&rel, Refusal::System(errno))?;
                    continue;
                }
            };
            if kernel::made_it_up(&dir) {
                match depth {
                    0 => return Err(made_up(&self.original(&rel))),
                    _ => self.skip(&rel, Refusal::Skip(kernel::WHY))?,
                }
                continue;
            }
            self.copies.make_dirs(&rel)?;
            let mut below = self.one_dir(&dir, &rel, depth)?;
            // The last one is taken first.
            below.reverse();
            open.extend(below.into_iter().map(|rel| (rel, depth + 1)));
        }
        Ok(())
    }

    /// The files of one directory; gives the directories in it that are to be entered.
    fn one_dir(&mut self, dir: &OwnedFd, rel: &str, depth: usize) -> Result<Vec<String>, Fault> {
        let mut deeper = Vec::new();
        for (name, text) in self.names(dir, rel)? {
            let child = if rel == "." { text.clone() } else { format!("{rel}/{text}") };
            if !name {
                self.skip(&child, Refusal::Skip("its name is not text"))?;
                continue;
            }
            if self.is_protected(&self.original(&child)) {
                self.skip(&child, Refusal::Skip("it is a protected place"))?;
                continue;
            }
            if kernel::is_its_own(&self.original(&child)) {
                self.skip(&child, Refusal::Skip(kernel::WHY))?;
                continue;
            }
            let kind = rustix::fs::statat(dir, text.as_str(), AtFlags::SYMLINK_NOFOLLOW)
                .map(|stat| FileType::from_raw_mode(stat.st_mode));
            let refusal = match kind {
                Ok(FileType::RegularFile) => self.file(Some(dir), &text, &child).err(),
                Ok(FileType::Directory) if text == ".git" => Some(Refusal::Skip("it is git's own directory")),
                Ok(FileType::Directory) if is_sealed_name(&text) => {
                    Some(Refusal::Skip("it is called like the copy of an ignore file"))
                }
                Ok(FileType::Directory) if depth >= MAX_DEPTH => Some(Refusal::Skip("it lies too deep")),
                Ok(FileType::Directory) => {
                    deeper.push(child.clone());
                    None
                }
                Ok(FileType::Symlink) => Some(Refusal::Skip("it is a symbolic link")),
                Ok(_) => Some(Refusal::Skip("it is neither a file nor a directory")),
                Err(errno) => Some(Refusal::System(errno)),
            };
            if let Some(refusal) = refusal {
                self.skip(&child, refusal)?;
            }
        }
        Ok(deeper)
    }

    /// The names in a directory, sorted, and whether each is text; one that is not is shown as well as can be.
    fn names(&mut self, dir: &OwnedFd, rel: &str) -> Result<Vec<(bool, String)>, Fault> {
        let path = self.original(rel);
        let cannot = |errno| refused(&path, errno);
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::read_from(dir).map_err(cannot)? {
            let entry = entry.map_err(cannot)?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            self.looked_at += 1;
            if self.looked_at > MAX_LOOKED_AT {
                return Err(too_large(format!(
                    "it holds more than {MAX_LOOKED_AT} names; at most so many are looked at"
                )));
            }
            names.push((name.to_str().is_ok(), name.to_string_lossy().into_owned()));
        }
        crate::domain::sort_by(&mut names, Ord::cmp);
        Ok(names)
    }

    /// Copies one file: `name` in `dir`, or below the root. `rel` is its path below the root.
    fn file(&mut self, dir: Option<&OwnedFd>, name: &str, rel: &str) -> Result<SealedFile, Refusal> {
        // What was copied already, by another name for it, stays as it was copied.
        if let Some(known) = self.files.get(rel) {
            return Ok(known.clone());
        }
        if (self.each)(self.files.len() as u64).is_break() {
            let why = "stopped before all files were sealed; no session was opened";
            return Err(Refusal::Fault(Fault::new(FaultKind::Host, "review", why)));
        }
        let at = dir.unwrap_or(&self.dir).as_fd();
        let from = beneath::open(at, name, OFlags::RDONLY, Mode::empty())?;
        if kernel::made_it_up(&from) {
            return Err(Refusal::Skip(kernel::WHY));
        }
        let stat = rustix::fs::fstat(&from)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(Refusal::Skip("it changed while it was copied"));
        }
        if u64::try_from(stat.st_size).unwrap_or(u64::MAX) > MAX_FILE {
            return Err(Refusal::Skip("it is longer than 8 MiB"));
        }
        let copy = sealed_name(rel);
        if copy.rsplit('/').next().is_some_and(|name| name.len() > MAX_NAME) {
            return Err(Refusal::Skip("its name is too long"));
        }
        if self.files.len() >= MAX_FILES {
            return Err(Refusal::Fault(too_large(format!(
                "it is more than {MAX_FILES} files; at most so many are sealed"
            ))));
        }
        self.copies
            .make_dirs(rel.rsplit_once('/').map_or(".", |(above, _)| above))
            .map_err(Refusal::Fault)?;
        let file = self.copy(File::from(from), rel)?;
        self.bytes += file.bytes;
        if self.bytes > MAX_TOTAL {
            let (had, most) = (size(self.bytes), size(MAX_TOTAL));
            let why = format!("the files are more than {had} together; at most {most} are sealed");
            return Err(Refusal::Fault(too_large(why)));
        }
        // The same bytes under another name, perhaps of a neighbour who changes them: they are copied as they are, and it is said.
        if stat.st_nlink > 1 {
            self.linked.push((file.original.clone(), files::links(&stat)));
        }
        self.files.insert(rel.to_owned(), file.clone());
        Ok(file)
    }

    fn copy(&mut self, mut from: File, rel: &str) -> Result<SealedFile, Refusal> {
        let path = self.copies.at(rel);
        let ours = |error: std::io::Error| Refusal::Fault(super::room::told(&path, &error));
        let mut to = self.copies.file(rel).map_err(Refusal::Fault)?;
        let (mut hash, mut bytes, mut lines, mut last) = (Sha256::new(), 0_u64, 0_u64, b'\n');
        loop {
            let read = match from.read(&mut self.chunk) {
                Ok(read) => read,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    self.take_back(rel)?;
                    return Err(Refusal::System(Errno::from_io_error(&error).unwrap_or(Errno::IO)));
                }
            };
            let part = self.chunk.get(..read).unwrap_or_default();
            let Some(end) = part.last() else { break };
            last = *end;
            bytes += part.len() as u64;
            if bytes > MAX_FILE {
                self.take_back(rel)?;
                return Err(Refusal::Skip("it is longer than 8 MiB"));
            }
            lines += part.iter().filter(|byte| **byte == b'\n').count() as u64;
            hash.update(part);
            to.write_all(part).map_err(ours)?;
        }
        lines += u64::from(last != b'\n');
        let sha256 = hex(&hash.finalize());
        Ok(SealedFile { original: self.original(rel), bytes, lines, sha256 })
    }

    /// Removes what was copied of a file that cannot be copied whole.
    fn take_back(&self, rel: &str) -> Result<(), Refusal> {
        let path = self.copies.at(rel);
        std::fs::remove_file(&path).map_err(|error| Refusal::Fault(super::room::told(&path, &error)))
    }

    fn skip(&mut self, rel: &str, refusal: Refusal) -> Result<(), Fault> {
        let why = match refusal {
            Refusal::Skip(why) => why.to_owned(),
            Refusal::System(Errno::LOOP | Errno::NOENT | Errno::NOTDIR | Errno::XDEV | Errno::AGAIN) => {
                "it changed while it was copied".to_owned()
            }
            Refusal::System(errno) => format!("it cannot be read ({errno})"),
            Refusal::Fault(fault) => return Err(fault),
        };
        self.skipped.push(Skipped { path: self.original(rel), why });
        Ok(())
    }

    fn original(&self, rel: &str) -> String {
        let root = self.root.trim_end_matches('/');
        if rel == "." { self.root.to_owned() } else { format!("{root}/{rel}") }
    }

    /// What is lazaret's own is not handed out. A client's settings are: in a stranger's code they are worth a look, and a
    /// copy changes nothing.
    fn is_protected(&self, path: &str) -> bool {
        let own = self.protected.iter().filter(|place| match place.kind {
            ProtectedKind::Own | ProtectedKind::Keys => true,
            ProtectedKind::ClientSettings => false,
        });
        own.into_iter().any(|place| match place.tree {
            true => lies_in(path, &place.path),
            false => path == place.path,
        })
    }
}

fn shown(path: &str) -> String {
    escape(path)
}

fn refused(path: &str, errno: Errno) -> Fault {
    let why = match errno {
        Errno::LOOP => "a symbolic link was put in its place".to_owned(),
        errno => errno.to_string(),
    };
    Fault::new(FaultKind::Host, shown(path), why)
}

fn made_up(path: &str) -> Fault {
    Fault::new(FaultKind::Host, shown(path), kernel::WHY)
        .with_hint("name files of a project; what the kernel tells changes while it is read")
}

/// There is no file to read: what was left out, and why.
fn nothing(skipped: &[Skipped]) -> Fault {
    let mut why = "there is no file in what was named".to_owned();
    if !skipped.is_empty() {
        let left: Vec<String> =
            skipped.iter().take(TOLD).map(|left| format!("{} ({})", shown(&left.path), left.why)).collect();
        why = format!("all of it was left out: {}", left.join(", "));
        if skipped.len() > TOLD {
            why.push_str(&format!(", and {} more", skipped.len() - TOLD));
        }
    }
    Fault::new(FaultKind::Host, "nothing to review", why)
        .with_hint("name files, or directories that hold some")
}

fn too_large(why: String) -> Fault {
    Fault::new(FaultKind::TooLarge, "what is to be reviewed", why)
        .with_hint("name less, or review it in parts")
}
