//! How far the log was sent: the number that the chain gave the last line which a collector took. Beside the log, so that it goes where
//! the log goes.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use lazaret::host::audit::Line;
use serde::{Deserialize, Serialize};

use crate::place::{read, replace};

/// In lazaret's state directory.
const FILE: &str = "fleet-sent.json";
const MAX: u64 = 4096;

/// A place in a chain.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The chain's name.
    pub chain: String,
    /// The last line's number in it.
    pub number: u64,
    /// The last line's id: ids sort by time, so that lines of the same numbers which were written later are not taken for it.
    pub id: String,
}

impl Place {
    /// Where a line says that it stands; none = it bears no seal.
    pub fn of(line: &Line) -> Option<Place> {
        let (_, seal) = line.text.rsplit_once(",\"seal\":\"")?;
        let (chain, rest) = seal.split_once('.')?;
        let (number, _) = rest.split_once('.')?;
        Some(Place { chain: chain.to_owned(), number: number.parse().ok()?, id: line.id.clone() })
    }

    /// Whether that one is the same or comes before it, as far as both say.
    pub fn covers(&self, other: &Place) -> bool {
        self.chain == other.chain && other.number <= self.number && other.id <= self.id
    }
}

/// The place on the disk, for one sender at a time.
#[derive(Debug)]
pub struct Cursor {
    path: PathBuf,
    /// Held as long as this sender lives.
    _held: File,
}

impl Cursor {
    pub fn open(state: &Path) -> Result<(Cursor, Option<Place>)> {
        let path = state.join(FILE);
        let lock = state.join(format!("{FILE}.lock"));
        let held = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&lock);
        let held = held.with_context(|| lock.display().to_string())?;
        if held.try_lock().is_err() {
            bail!("{}: another sender is at work on this log", lock.display());
        }
        let before = match read(&path, MAX)? {
            Some(bytes) => Some(serde_json::from_slice(&bytes).with_context(|| {
                format!(
                    "{}: it cannot be read; remove it, and all of the log is sent again (each event under the id it had)",
                    path.display()
                )
            })?),
            None => None,
        };
        Ok((Cursor { path, _held: held }, before))
    }

    /// Remembers that everything up to there was taken.
    pub fn keep(&self, place: &Place) -> Result<()> {
        let text = serde_json::to_string(place)?;
        replace(&self.path, text.as_bytes(), 0o600).with_context(|| self.path.display().to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(id: &str, text: &str) -> Line {
        Line { id: id.to_owned(), text: text.to_owned(), ..Line::default() }
    }

    #[test]
    fn a_line_says_where_it_stands() {
        let sealed = line("b", r#"{"id":"b","note":",\"seal\":\"no.1.","seal":"0245da23.17.aa.bb"}"#);
        let place = Place::of(&sealed).unwrap();
        assert_eq!((&*place.chain, place.number), ("0245da23", 17));
        assert_eq!(Place::of(&line("x", r#"{"id":"x"}"#)), None);
        let other = |number: u64, id: &str| Place { number, id: id.to_owned(), ..place.clone() };
        assert!(place.covers(&place) && place.covers(&other(16, "a")));
        // Written later under a number that was there before: an older copy of the log went on.
        assert!(!place.covers(&other(16, "c")) && !place.covers(&other(18, "c")));
        assert!(!place.covers(&Place { chain: "x".to_owned(), ..place.clone() }));
    }
}
