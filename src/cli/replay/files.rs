//! The files of recorded sessions: which there are, of which form each is, and their pieces one after the other.

use std::cell::Cell;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::adapters::transcript::{self, Form, Reader, Stored, Told, Unread};
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
    /// In bytes; what standard input holds nobody knows.
    pub fn length(&self) -> u64 {
        match self {
            Source::Input => 0,
            Source::Named(path) | Source::Found(path) => std::fs::metadata(path).map_or(0, |meta| meta.len()),
        }
    }

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

/// Every file that is named, and those below the directories that are, in order.
pub fn found(named: &[PathBuf], unreadable: &mut Vec<(String, String)>) -> Vec<Source> {
    let mut all = Vec::new();
    for path in named {
        if path == Path::new("-") {
            all.push(Source::Input);
        } else if path.is_dir() {
            let mut below = Vec::new();
            search(path, &mut below, unreadable);
            // A session's own file (`ID.jsonl`) before those of its agents (`ID/…`), and of OpenCode's store what is said of
            // sessions and messages before their parts.
            crate::domain::sort_by_key(&mut below, |path| (rank(path), path.to_string_lossy().into_owned()));
            all.extend(below.into_iter().map(Source::Found));
        } else {
            all.push(Source::Named(path.clone()));
        }
    }
    all
}

fn rank(path: &Path) -> u8 {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    match name.split_once('_') {
        Some(("ses", _)) => 0,
        Some(("msg", _)) => 1,
        _ => 2,
    }
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
            } else if kind.is_file() && is_record(&path) {
                below.push(path);
            }
        }
    }
}

fn is_record(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "jsonl" || end == "json" || end == "md")
}

/// Hands the pieces of a file to `take`, until it says that it wants no more. Whose record it is; none where it was found and is
/// something else.
/// `behind` grows by the bytes that are read.
pub fn read(
    source: &Source,
    stored: &mut Stored,
    behind: &Cell<u64>,
    take: impl FnMut(Piece) -> bool,
) -> Result<Option<Form>> {
    match source {
        Source::Input => pieces(BufReader::new(std::io::stdin()), source, stored, take),
        Source::Named(path) | Source::Found(path) => {
            let file = Counted { file: File::open(path)?, behind };
            pieces(BufReader::with_capacity(256 * 1024, file), source, stored, take)
        }
    }
}

/// A file that counts what is read of it.
struct Counted<'c> {
    file: File,
    behind: &'c Cell<u64>,
}

impl Read for Counted<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let read = self.file.read(into)?;
        self.behind.set(self.behind.get().saturating_add(read as u64));
        Ok(read)
    }
}

/// A page, a text of JSON values over many lines, or one value a line, as it begins.
fn pieces(
    mut input: impl BufRead,
    source: &Source,
    stored: &mut Stored,
    take: impl FnMut(Piece) -> bool,
) -> Result<Option<Form>> {
    let start = input.fill_buf()?;
    let window = start.get(..start.len().min(4096)).unwrap_or(start);
    let is_page = transcript::is_page(&String::from_utf8_lossy(window));
    let first = start.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty());
    let first = first.unwrap_or_default().trim_ascii();
    let window = first.get(..first.len().min(4096)).unwrap_or(first);
    let is_export = window.starts_with(b"{\"info\":") && window.windows(5).any(|word| word == b"\"ses_");
    if is_page {
        return page(input, source, take);
    }
    if first == b"{" || first.starts_with(b"[") || is_export {
        return whole(input, source, stored, take);
    }
    lines(input, source, stored, take)
}

/// One JSON value a line.
fn lines(
    input: impl BufRead,
    source: &Source,
    stored: &mut Stored,
    mut take: impl FnMut(Piece) -> bool,
) -> Result<Option<Form>> {
    let file = source.shown();
    let mut reader = Reader::default();
    let mut lines = Lines::new(input, MAX_LINE);
    let (mut number, mut form, mut unknown) = (0_usize, None, Vec::new());
    while let Some(line) = lines.read()? {
        number += 1;
        let told = match line {
            Line::Text(text) if text.trim().is_empty() => continue,
            Line::Text(text) => reader.read(text, stored).map_err(not_read),
            Line::NotText => Err(NotRead::Torn),
            Line::TooLong => Err(NotRead::TooLong),
        };
        match told {
            Ok((whose, told)) => {
                form = form.or(Some(whose));
                for told in told {
                    if !take(Piece::Told(told, At { file: file.clone(), line: number })) {
                        return Ok(form);
                    }
                }
            }
            Err(why) => unknown.push(why),
        }
        // A file of something else is not read to its end.
        if form.is_none() && unknown.len() >= 1000 {
            break;
        }
    }
    ended(form, unknown, source, number, take)
}

/// A file that held nothing but what is not known is no record.
fn ended(
    form: Option<Form>,
    unknown: Vec<NotRead>,
    source: &Source,
    number: usize,
    mut take: impl FnMut(Piece) -> bool,
) -> Result<Option<Form>> {
    match (form, source) {
        (None, Source::Input | Source::Named(_)) if number > 0 => {
            bail!("no line of it is of a recorded session")
        }
        (None, _) => Ok(None),
        (Some(_), _) => {
            unknown.into_iter().all(|why| take(Piece::Unread(why)));
            Ok(form)
        }
    }
}

fn not_read(why: Unread) -> NotRead {
    match why {
        Unread::Torn => NotRead::Torn,
        Unread::Unknown(kind) => NotRead::Unknown(kind),
    }
}

fn text_of(input: impl BufRead) -> Result<String> {
    let mut text = String::new();
    input.take(MAX_EXPORT).read_to_string(&mut text).context("it cannot be read as text")?;
    Ok(text)
}

/// The directory whose `.specstory` a page lies in: where the session was held.
fn project(source: &Source) -> Option<String> {
    let (Source::Named(path) | Source::Found(path)) = source else { return None };
    let path = std::path::absolute(path).ok()?;
    let own = path.ancestors().find(|dir| dir.file_name().is_some_and(|name| name == ".specstory"))?;
    Some(own.parent()?.to_string_lossy().into_owned())
}

/// A page of SpecStory.
fn page(input: impl BufRead, source: &Source, mut take: impl FnMut(Piece) -> bool) -> Result<Option<Form>> {
    let file = source.shown();
    let text = text_of(input)?;
    let cwd = project(source);
    let told = transcript::page(&text).into_iter().map(|(mut told, line)| {
        if let Told::Call(call) = &mut told {
            call.cwd.clone_from(&cwd);
        }
        (told, line)
    });
    told.map(|(told, line)| Piece::Told(told, At { file: file.clone(), line })).all(&mut take);
    Ok(Some(Form::SpecStory))
}

/// JSON values over many lines, or in one list: an export, a file of OpenCode's store, a log that is one list.
fn whole(
    input: impl BufRead,
    source: &Source,
    stored: &mut Stored,
    mut take: impl FnMut(Piece) -> bool,
) -> Result<Option<Form>> {
    let file = source.shown();
    let text = text_of(input)?;
    let mut reader = Reader::default();
    let (mut number, mut form, mut unknown) = (0_usize, None, Vec::new());
    for value in transcript::values(&text) {
        number += 1;
        match value.and_then(|value| reader.read(value, stored)) {
            Ok((whose, told)) => {
                form = form.or(Some(whose));
                let mut pieces = told.into_iter();
                if !pieces.all(|told| take(Piece::Told(told, At { file: file.clone(), line: 0 }))) {
                    return Ok(form);
                }
            }
            Err(why) => unknown.push(not_read(why)),
        }
        if form.is_none() && unknown.len() >= 1000 {
            break;
        }
    }
    let is_torn = form.is_none() && unknown.as_slice() == [NotRead::Torn];
    if is_torn && matches!(source, Source::Input | Source::Named(_)) {
        bail!("its JSON is torn; export the session again")
    }
    ended(form, unknown, source, number, take)
}
