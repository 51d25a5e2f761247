//! Who could change a file: by writing it, or by replacing it or one of the directories above it.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::domain::{Fault, FaultKind};

/// What may be changed by somebody else than its owner.
const GROUP_OR_OTHERS: u32 = 0o022;

/// The path, or the directory above it, by which this process could change what stands there; none = it cannot. Root could change all.
pub fn by_us(path: &Path) -> Option<PathBuf> {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let can = |path: &&Path| rustix::fs::access(*path, rustix::fs::Access::WRITE_OK).is_ok();
    path.ancestors().find(can).map(Path::to_owned)
}

/// That a file and all directories above it belong to root, nobody else can write to them, and everybody can read the file.
pub fn check_root(path: &Path) -> Result<(), Fault> {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    for part in real.ancestors() {
        let why = match std::fs::metadata(part) {
            Err(error) => Some(error.to_string()),
            Ok(meta) if meta.uid() != 0 => Some(format!("it belongs to user {}", meta.uid())),
            // In a directory like /tmp nobody can replace what is root's.
            Ok(meta) if meta.mode() & GROUP_OR_OTHERS != 0 && meta.mode() & 0o1000 == 0 => {
                Some("others than root can write to it".to_owned())
            }
            Ok(meta) if meta.mode() & if meta.is_dir() { 0o001 } else { 0o004 } == 0 => {
                Some("not every user can read what is there".to_owned())
            }
            Ok(_) => None,
        };
        if let Some(why) = why {
            let what = format!("the binary {}", path.display());
            let why = format!("{}: {why}", part.display());
            let hint = "install it where only root can write: sudo ./install.sh --system";
            return Err(Fault::new(FaultKind::Host, what, why).with_hint(hint));
        }
    }
    Ok(())
}
