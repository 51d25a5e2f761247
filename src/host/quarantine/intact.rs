//! The sealed copies held against what was sealed: a copy that is read is the one that was made.

use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest, Sha256};

use super::record::Session;
use super::room::fault;
use crate::domain::{Fault, lies_in};
use crate::host::dirs::Dirs;
use crate::host::{hex, private};

const CHUNK: usize = 64 * 1024;

/// That every copy which a reading of `original` shows is as it was sealed: of a directory, all below it.
pub fn intact(dirs: &Dirs, session: &Session, original: &str) -> Result<(), Fault> {
    let contents = session.contents(dirs)?.unwrap_or_default();
    let grounds = session.grounds();
    for file in contents.files.iter().filter(|file| lies_in(&file.original, original)) {
        let Some(copy) = grounds.copy_of(&file.original) else { continue };
        let copy = Path::new(&copy);
        let why = match digest(copy) {
            Ok(found) if found == file.sha256 => continue,
            Ok(_) => "the sealed copy is not what was sealed".to_owned(),
            Err(error) => format!("the sealed copy cannot be read: {error}"),
        };
        return Err(fault(copy, why).with_hint("end the review with `lazaret review end`, and start it anew"));
    }
    Ok(())
}

fn digest(path: &Path) -> io::Result<String> {
    let mut file = private::open(path, false)?;
    let (mut hash, mut chunk) = (Sha256::new(), vec![0; CHUNK]);
    loop {
        match file.read(&mut chunk)? {
            0 => return Ok(hex(&hash.finalize())),
            read => hash.update(chunk.get(..read).unwrap_or_default()),
        }
    }
}
