//! Contents of files by their SHA-256: each once, written under another name and renamed, so that there is never half of one.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::store::on_disk;
use crate::host::{hex, private};

const CHUNK: usize = 128 * 1024;
/// From this size on, the file system is asked to share the content instead of copying it.
const SHARED: u64 = 1 << 20;

/// Why a content was not taken in.
#[derive(Debug)]
pub enum Refused {
    /// The file itself could not be read.
    Source(io::Error),
    /// The store could not be written.
    Store(io::Error),
}

impl Refused {
    pub(super) fn source(errno: rustix::io::Errno) -> Refused {
        Refused::Source(errno.into())
    }
}

/// The contents below one directory.
#[derive(Debug)]
pub(super) struct Objects {
    dir: PathBuf,
    /// Bytes that came in newly.
    pub added: u64,
    /// What they are.
    new: Vec<PathBuf>,
    next: u32,
}

impl Objects {
    pub fn new(dir: PathBuf) -> Objects {
        Objects { dir, added: 0, new: Vec::new(), next: 0 }
    }

    /// Removes what came in newly: nothing will name it. A disk that is full does not stay so because of us.
    pub fn take_back(&mut self) {
        for path in self.new.drain(..) {
            let _ = fs::remove_file(path);
        }
        self.added = 0;
    }

    /// Where a content lies; a digest that is none lies nowhere.
    pub fn path(&self, digest: &str) -> Option<PathBuf> {
        let plain = digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
        let (front, rest) = digest.split_at_checked(2).filter(|_| plain)?;
        Some(self.dir.join(front).join(rest))
    }

    /// Takes in what is in `file`, which has `size` bytes.
    pub fn put(&mut self, file: &mut File, size: u64) -> Result<String, Refused> {
        if size >= SHARED {
            return self.put_long(file, size);
        }
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0) + 1);
        file.take(size + 1).read_to_end(&mut bytes).map_err(Refused::Source)?;
        let digest = hex(Sha256::digest(&bytes).as_ref());
        let to = self.place(&digest)?;
        // A power cut can leave a name without its content.
        if !fs::symlink_metadata(&to).is_ok_and(|meta| meta.is_file() && meta.len() == bytes.len() as u64) {
            let temp = self.temp();
            let written = private::replace(&to, &temp, &bytes);
            self.keep(written, (&temp, to), bytes.len() as u64)?;
        }
        Ok(digest)
    }

    fn put_long(&mut self, file: &mut File, size: u64) -> Result<String, Refused> {
        let temp = self.temp();
        // Left by a process of the same number that was killed.
        let _ = fs::remove_file(&temp);
        let mut copy = private::open_new(&temp).map_err(Refused::Store)?;
        let taken = if is_shared(file, &copy) {
            digest(&mut copy, size).map_err(|_| Refused::Store(io::ErrorKind::InvalidData.into()))
        } else {
            pour(file, Some(&mut copy), size)
        };
        let moved = taken.and_then(|digest| {
            let to = self.place(&digest)?;
            let known = to.exists();
            fs::rename(&temp, &to).map_err(Refused::Store)?;
            Ok((digest, (!known).then_some(to)))
        });
        match moved {
            Ok((digest, new)) => {
                self.added += if new.is_some() { on_disk(size) } else { 0 };
                self.new.extend(new);
                Ok(digest)
            }
            Err(refused) => {
                let _ = fs::remove_file(&temp);
                Err(refused)
            }
        }
    }

    fn keep(
        &mut self,
        written: io::Result<()>,
        (temp, to): (&Path, PathBuf),
        size: u64,
    ) -> Result<(), Refused> {
        match written {
            Ok(()) => {
                self.new.push(to);
                self.added += on_disk(size);
                Ok(())
            }
            Err(error) => {
                let _ = fs::remove_file(temp);
                Err(Refused::Store(error))
            }
        }
    }

    fn place(&self, digest: &str) -> Result<PathBuf, Refused> {
        let to = self.path(digest).ok_or_else(|| Refused::Store(io::ErrorKind::InvalidInput.into()))?;
        if let Some(dir) = to.parent()
            && !dir.exists()
        {
            DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(Refused::Store)?;
        }
        Ok(to)
    }

    fn temp(&mut self) -> PathBuf {
        self.next += 1;
        self.dir.join(format!("{}{}-{}", super::TEMP, std::process::id(), self.next))
    }
}

/// Whether the copy shares the content, which costs nothing; where the file system can.
#[cfg(target_os = "linux")]
fn is_shared(file: &File, copy: &File) -> bool {
    rustix::fs::ioctl_ficlone(copy, file).is_ok()
}

/// Other systems only make a shared copy of a file that is not there yet.
#[cfg(not(target_os = "linux"))]
fn is_shared(_file: &File, _copy: &File) -> bool {
    false
}

/// The digest of what is left in a file that has `size` bytes.
pub(super) fn digest(file: &mut File, size: u64) -> Result<String, Refused> {
    pour(file, None, size)
}

/// Reads `size` bytes, hands them on, and says their digest.
pub(super) fn pour(from: &mut File, mut to: Option<&mut File>, size: u64) -> Result<String, Refused> {
    let mut hash = Sha256::new();
    let mut chunk = vec![0_u8; CHUNK.min(usize::try_from(size).unwrap_or(CHUNK).max(1))];
    let mut left = size;
    while left > 0 {
        let got = match from.read(&mut chunk) {
            Ok(0) => return Err(Refused::Source(io::ErrorKind::UnexpectedEof.into())),
            Ok(got) => got,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(Refused::Source(error)),
        };
        let bytes = chunk.get(..got).unwrap_or_default();
        hash.update(bytes);
        if let Some(to) = &mut to {
            to.write_all(bytes).map_err(Refused::Store)?;
        }
        left = left.saturating_sub(bytes.len() as u64);
    }
    Ok(hex(hash.finalize().as_ref()))
}
