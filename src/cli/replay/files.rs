//! The files of recorded sessions: which there are, of which form each is, and their pieces one after the other.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::adapters::transcript::{self, Told, Unread};
use crate::cli::lines::{Line, Lines};

/// Longest line, in bytes; a client's own bound for what it keeps of one call is far below.
const MAX_LINE: usize = 64 * 1024 * 1024;
/// Longest export that is read whole, in bytes.
const MAX_EXPORT: u64 = 1024 * 1024 * 1024;
/// Directories that are searched at most, and how deep.
const MAX_DIRECTORIES: usize = 100_000;
const MAX_DEPTH: usize = 16;

/// A file, or standard input.
pub enum Source {
    Input,
    /// One that was named.
    Named(PathBuf),
    /// One that was found in a directory: it may hold something else.
    Found(PathBuf),
}

impl Source {
    pub fn shown(&self) -> String {
        match self {
            Source::Input => "standard input".to_owned(),
            Source::Named(path) | Source::Found(path) => path.display().to_string(),
        }
    }
}

/// Where a piece stands.
#[derive(Debug, Clone)]
pub struct At {
    pub file: String,
    /// From 1; of an export, 0.
    pub line: usize,
}

/// A piece of a record.
pub enum Piece {
    Told(Told, At),
    Unread(NotRead),
}

/// Why a line was not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotRead {
    Torn,
    /// By its name, where it has one.
    Unknown(String),
    TooLong,
}

/// What a file was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Record,
    /// No record of a session; it was found, not named.
    Other,
}

/// Every file that is named, and those below the directories that are, in order.
pub fn found(named: &[PathBuf], unreadable: &mut Vec<(String, String)>) -> Vec<Source> {
    let mut all = Vec::new();
    for path in named {
        if path == Path::new("-") {
            all.push(Source::Input);
        } else if path.is_dir() {
            let mut below = Vec::new();
            search(path, &mut below, unreadable);
            // A session's own file (`ID.jsonl`) before those of its agents (`ID/…`).
            crate::domain::sort_by_key(&mut below, |path| path.to_string_lossy().into_owned());
            all.extend(below.into_iter().map(Source::Found));
        } else {
            all.push(Source::Named(path.clone()));
        }
    }
    all
}

/// The files below a directory that may be records. Links are not followed.
fn search(top: &Path, below: &mut Vec<PathBuf>, unreadable: &mut Vec<(String, String)>) {
    let mut open = vec![(top.to_path_buf(), 0_usize)];
    let mut searched = 0_usize;
    while let Some((dir, depth)) = open.pop() {
        searched += 1;
        let entries = match std::fs::read_dir(&dir) {
            Ok(entries) => entries,
            Err(error) => {
                unreadable.push((dir.display().to_string(), error.to_string()));
                continue;
            }
        };
        for entry in entries.flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            if kind.is_dir() && depth < MAX_DEPTH && searched + open.len() < MAX_DIRECTORIES {
                open.push((path, depth + 1));
            } else if kind.is_file() && path.extension().is_some_and(|end| end == "jsonl" || end == "json") {
                below.push(path);
            }
        }
    }
}

/// Hands the pieces of a file to `take`, until it says that it wants no more.
pub fn read(source: &Source, take: impl FnMut(Piece) -> bool) -> Result<Kind> {
    match source {
        Source::Input => pieces(BufReader::new(std::io::stdin()), source, take),
        Source::Named(path) | Source::Found(path) => {
            let file = File::open(path)?;
            pieces(BufReader::with_capacity(256 * 1024, file), source, take)
        }
    }
}

/// An export is one JSON object over many lines or on one that holds `messages`; everything else is read line by line.
fn pieces(mut input: impl BufRead, source: &Source, mut take: impl FnMut(Piece) -> bool) -> Result<Kind> {
    let file = source.shown();
    let start = input.fill_buf()?;
    let first = start.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty());
    let first = first.unwrap_or_default().trim_ascii();
    let window = first.get(..first.len().min(4096)).unwrap_or(first);
    let is_export =
        first == b"{" || window.starts_with(b"{\"info\":") && window.windows(5).any(|word| word == b"\"ses_");
    if is_export {
        return whole(input, source, &file, take);
    }
    let mut reader = transcript::Lines::default();
    let mut lines = Lines::new(input, MAX_LINE);
    let (mut number, mut known, mut unknown) = (0_usize, 0_usize, Vec::new());
    while let Some(line) = lines.read()? {
        number += 1;
        let told = match line {
            Line::Text(text) if text.trim().is_empty() => continue,
            Line::Text(text) => reader.read(text).map_err(|why| match why {
                Unread::Torn => NotRead::Torn,
                Unread::Unknown(kind) => NotRead::Unknown(kind),
            }),
            Line::NotText => Err(NotRead::Torn),
            Line::TooLong => Err(NotRead::TooLong),
        };
        match told {
            Ok(told) => {
                known += 1;
                for told in told {
                    if !take(Piece::Told(told, At { file: file.clone(), line: number })) {
                        return Ok(Kind::Record);
                    }
                }
            }
            Err(why) => unknown.push(why),
        }
        // A file of something else is not read to its end.
        if known == 0 && unknown.len() >= 1000 {
            break;
        }
    }
    match (known, source) {
        (0, Source::Found(_)) => Ok(Kind::Other),
        (0, Source::Input | Source::Named(_)) if number > 0 => {
            bail!("no line of it is of a recorded session")
        }
        _ => {
            unknown.into_iter().all(|why| take(Piece::Unread(why)));
            Ok(Kind::Record)
        }
    }
}

/// An export of OpenCode.
fn whole(
    input: impl BufRead,
    source: &Source,
    file: &str,
    mut take: impl FnMut(Piece) -> bool,
) -> Result<Kind> {
    let mut text = String::new();
    input.take(MAX_EXPORT).read_to_string(&mut text).context("it cannot be read as text")?;
    match (transcript::export(&text), source) {
        (Ok(told), _) => {
            told.into_iter().all(|told| take(Piece::Told(told, At { file: file.to_owned(), line: 0 })));
            Ok(Kind::Record)
        }
        (Err(_), Source::Found(_)) => Ok(Kind::Other),
        (Err(Unread::Torn), Source::Input | Source::Named(_)) => {
            bail!("its JSON is torn; export the session again")
        }
        (Err(Unread::Unknown(_)), Source::Input | Source::Named(_)) => {
            bail!("it is no session that OpenCode exported")
        }
    }
}
