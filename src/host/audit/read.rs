//! The log read back: all files, oldest first, line by line. A line that cannot be read is told, not skipped.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::vec::IntoIter;

use serde::Deserialize;

use super::{cannot, files};
use crate::domain::{Fault, Verdict};
use crate::host::clock;
use crate::host::private;

/// Longest line that is read; ours are shorter.
const LINE: u64 = 4 << 20;
/// How every line begins. Inside a line it cannot occur: a quote in a text is escaped.
const START: &[u8] = b"{\"id\":\"";

/// What is looked for; what is not set does not matter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Not before this, in milliseconds since 1970.
    pub since_ms: Option<u64>,
    /// Not at or after this.
    pub until_ms: Option<u64>,
    pub session: Option<String>,
    pub verdict: Option<Verdict>,
    pub rule: Option<String>,
    pub tool: Option<String>,
    pub event: Option<String>,
}

/// One line, as far as it is shown or looked for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub struct Line {
    pub id: String,
    pub time: String,
    pub event: String,
    pub client: String,
    pub session: String,
    pub agent: String,
    pub tool: String,
    pub action: String,
    pub verdict: Option<Verdict>,
    pub enforcement: String,
    pub rules: Vec<String>,
    pub note: String,
    /// The line as it stands in the file.
    #[serde(skip)]
    pub text: String,
}

/// What a file holds at some place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    Line(Box<Line>),
    /// Bytes that are no line: a process was killed while it wrote, the disk was full, or somebody was at the file.
    Torn {
        file: PathBuf,
        offset: u64,
        length: usize,
    },
}

/// All lines of the log that the filter lets through, and all that is torn.
pub fn lines(dir: &Path, filter: Filter) -> Result<Lines, Fault> {
    let since = filter.since_ms.map(clock::rfc3339);
    let until = filter.until_ms.map(clock::rfc3339);
    Ok(Lines { files: files(dir)?.into_iter(), open: None, pending: Vec::new(), filter, since, until })
}

/// Reads on as it is asked.
#[derive(Debug)]
pub struct Lines {
    files: IntoIter<PathBuf>,
    open: Option<Reader>,
    /// What the last bytes read held, last first.
    pending: Vec<Found>,
    filter: Filter,
    since: Option<String>,
    until: Option<String>,
}

#[derive(Debug)]
struct Reader {
    path: PathBuf,
    offset: u64,
    bytes: BufReader<File>,
}

impl Iterator for Lines {
    type Item = Result<Found, Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            while let Some(found) = self.pending.pop() {
                match &found {
                    Found::Line(line) if !self.lets_through(line) => {}
                    _ => return Some(Ok(found)),
                }
            }
            let Some(reader) = &mut self.open else {
                let path = self.files.next()?;
                match private::open(&path, false) {
                    Ok(file) => self.open = Some(Reader { bytes: BufReader::new(file), path, offset: 0 }),
                    // Removed since the directory was read: it was too old.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    Err(error) => return Some(Err(cannot(&path, &error))),
                }
                continue;
            };
            match reader.next() {
                Ok(found) if found.is_empty() => self.open = None,
                Ok(found) => self.pending = found,
                Err(error) => {
                    let fault = cannot(&reader.path, &error);
                    self.open = None;
                    return Some(Err(fault));
                }
            }
        }
    }
}

impl Lines {
    fn lets_through(&self, line: &Line) -> bool {
        let is =
            |wanted: &Option<String>, value: &str| wanted.as_deref().is_none_or(|wanted| wanted == value);
        let filter = &self.filter;
        // The times are all in one form, in which the earlier one sorts first.
        self.since.as_deref().is_none_or(|since| line.time.as_str() >= since)
            && self.until.as_deref().is_none_or(|until| line.time.as_str() < until)
            && is(&filter.session, &line.session)
            && is(&filter.tool, &line.tool)
            && is(&filter.event, &line.event)
            && filter.verdict.is_none_or(|verdict| line.verdict == Some(verdict))
            && filter.rule.as_ref().is_none_or(|rule| line.rules.contains(rule))
    }
}

impl Reader {
    /// What the next bytes up to a line feed hold, last first; nothing at the end of the file.
    fn next(&mut self) -> io::Result<Vec<Found>> {
        loop {
            let mut bytes = Vec::new();
            let read = (&mut self.bytes).take(LINE).read_until(b'\n', &mut bytes)?;
            if read == 0 {
                return Ok(Vec::new());
            }
            let offset = self.offset;
            self.offset += read as u64;
            let whole = bytes.strip_suffix(b"\n");
            // An empty line is not torn; one without its line feed is, also when the rest of it is there.
            let mut found =
                whole.map_or_else(|| vec![self.torn(offset, read)], |line| self.found(line, offset));
            if !found.is_empty() {
                found.reverse();
                return Ok(found);
            }
        }
    }

    /// The lines in these bytes: more than one where a line was cut short and the next one stands right behind it.
    fn found(&self, mut bytes: &[u8], mut offset: u64) -> Vec<Found> {
        let mut found = Vec::new();
        while !bytes.is_empty() {
            let next = bytes.windows(START.len()).skip(1).position(|window| window == START);
            let (piece, rest) = next.and_then(|at| bytes.split_at_checked(at + 1)).unwrap_or((bytes, &[]));
            found.push(match parse(piece) {
                Some(line) => Found::Line(Box::new(line)),
                None => self.torn(offset, piece.len()),
            });
            offset += piece.len() as u64;
            bytes = rest;
        }
        found
    }

    fn torn(&self, offset: u64, length: usize) -> Found {
        Found::Torn { file: self.path.clone(), offset, length }
    }
}

fn parse(bytes: &[u8]) -> Option<Line> {
    let text = str::from_utf8(bytes).ok()?;
    let mut line: Line = serde_json::from_str(text).ok()?;
    text.clone_into(&mut line.text);
    (!line.id.is_empty() && !line.time.is_empty()).then_some(line)
}

/// When the file was begun: the time of its first line.
pub(super) fn begun_ms(path: &Path) -> Option<u64> {
    let mut bytes = Vec::new();
    let file = private::open(path, false).ok()?;
    BufReader::new(file).take(LINE).read_until(b'\n', &mut bytes).ok()?;
    let line = parse(bytes.strip_suffix(b"\n")?)?;
    let time = humantime::parse_rfc3339(&line.time).ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    u64::try_from(time.as_millis()).ok()
}
