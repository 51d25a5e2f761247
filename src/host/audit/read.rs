//! The log read back: all files, oldest first, line by line. A line that cannot be read is told, not skipped.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::vec::IntoIter;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::mark::Marker;
use super::sealing::VerificationKey;
use super::verify::Wrong;
use super::{cannot, files};
use crate::domain::{Client, Enforcement, Fault, FaultKind, Verdict, names_id};
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
    pub client: Option<Client>,
    pub session: Option<String>,
    /// An agent's id, or its type.
    pub agent: Option<String>,
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
    pub agent_type: String,
    pub tool: String,
    pub action: String,
    pub call_id: String,
    pub verdict: Option<Verdict>,
    pub enforcement: String,
    pub rules: Vec<String>,
    pub note: String,
    /// How long the decision took, in microseconds; 0 of events that are none.
    pub duration_us: u64,
    /// The line as it is in the file.
    #[serde(skip)]
    pub text: String,
    /// Why it does not verify.
    #[serde(skip)]
    pub wrong: Option<Wrong>,
}

impl Line {
    /// The verdict as the client was told: a question that nobody was there to be asked is a block.
    pub fn told(&self) -> Option<Verdict> {
        let refused = self.enforcement == Enforcement::Deny.name();
        self.verdict.map(|verdict| if refused { Verdict::Block } else { verdict })
    }

    /// The line as it is in the file; one that does not verify says so.
    pub fn marked(&self) -> Cow<'_, str> {
        match (self.wrong, self.text.strip_suffix('}')) {
            (Some(wrong), Some(open)) => format!("{open},\"unverified\":\"{}\"}}", wrong.name()).into(),
            _ => Cow::Borrowed(&self.text),
        }
    }
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
    let sieve = Sieve::new(filter);
    Ok(Lines { files: files(dir)?.into_iter(), open: None, pending: Vec::new(), sieve, marker: None })
}

/// The same, with what is wrong with those that do not verify.
pub fn marked(dir: &Path, filter: Filter, key: Option<&VerificationKey>) -> Result<Lines, Fault> {
    let marker = Marker::new(dir, key)?;
    Ok(Lines { marker, ..lines(dir, filter)? })
}

/// The last lines of the log's newest part that the filter lets through, oldest first, at most `most`. What lies further back than the
/// last megabyte is not looked at, and what cannot be read is left out.
pub fn last(dir: &Path, filter: Filter, most: usize) -> Vec<Line> {
    let sieve = Sieve::new(filter);
    let newest = files(dir).ok().and_then(|files| files.into_iter().next_back());
    let bytes = newest.and_then(|path| super::prune::tail(&path)).unwrap_or_default();
    let lines = bytes.split(|byte| *byte == b'\n').rev().filter_map(parse);
    let found = lines.map(|line| Found::Line(Box::new(line))).filter(|found| sieve.lets_through(found));
    let mut last: Vec<Line> = found
        .filter_map(|found| if let Found::Line(line) = found { Some(*line) } else { None })
        .take(most)
        .collect();
    last.reverse();
    last
}

/// Reads on as it is asked.
#[derive(Debug)]
pub struct Lines {
    files: IntoIter<PathBuf>,
    open: Option<Reader>,
    /// What the last bytes read held, last first.
    pending: Vec<Found>,
    sieve: Sieve,
    marker: Option<Marker>,
}

/// A filter with its times as they stand in lines.
#[derive(Debug)]
struct Sieve {
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
                if self.sieve.lets_through(&found) {
                    return Some(Ok(found));
                }
            }
            let Some(reader) = &mut self.open else {
                let path = self.files.next()?;
                match private::open(&path, false) {
                    Ok(file) => self.open = Some(Reader { bytes: BufReader::new(file), path, offset: 0 }),
                    // Removed since the directory was read: it was too old.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {
                        self.marker.iter_mut().for_each(Marker::lost);
                    }
                    Err(error) => return Some(Err(cannot(&path, &error))),
                }
                continue;
            };
            match reader.next(self.marker.as_mut()) {
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

impl Sieve {
    fn new(filter: Filter) -> Sieve {
        let since = filter.since_ms.map(clock::rfc3339);
        let until = filter.until_ms.map(clock::rfc3339);
        Sieve { filter, since, until }
    }

    /// What is torn passes always.
    fn lets_through(&self, found: &Found) -> bool {
        let Found::Line(line) = found else { return true };
        let is = |wanted: &Option<String>, values: &[&str]| {
            wanted.as_deref().is_none_or(|wanted| values.contains(&wanted))
        };
        let filter = &self.filter;
        // The times are all in one form, in which the earlier one sorts first.
        self.since.as_deref().is_none_or(|since| line.time.as_str() >= since)
            && self.until.as_deref().is_none_or(|until| line.time.as_str() < until)
            && filter.client.is_none_or(|client| client.name() == line.client)
            && is(&filter.session, &[&line.session])
            && is(&filter.agent, &[&line.agent, &line.agent_type])
            && is(&filter.tool, &[&line.tool])
            && is(&filter.event, &[&line.event])
            && filter.verdict.is_none_or(|verdict| line.told() == Some(verdict))
            && filter.rule.as_deref().is_none_or(|rule| line.rules.iter().any(|id| names_id(rule, id)))
    }
}

/// The log read as it grows, from its beginning on and across files that are set aside.
#[derive(Debug)]
pub struct Tail {
    dir: PathBuf,
    sieve: Sieve,
    open: Option<(Reader, Name)>,
    marker: Option<Marker>,
}

/// Device and number of a file: it keeps them when it is renamed.
type Name = (u64, u64);

impl Tail {
    pub fn new(dir: &Path, filter: Filter) -> Tail {
        Tail { dir: dir.to_owned(), sieve: Sieve::new(filter), open: None, marker: None }
    }

    /// The same, of which only about the last `most` bytes count of what is there already; the first line may be cut.
    pub fn late(dir: &Path, filter: Filter, most: u64) -> Result<Tail, Fault> {
        let mut tail = Tail::new(dir, filter);
        let mut wanted = most;
        for path in files(dir)?.into_iter().rev() {
            let Some(file) =
                private::found(private::open(&path, false)).map_err(|error| cannot(&path, &error))?
            else {
                continue;
            };
            let meta = file.metadata().map_err(|error| cannot(&path, &error))?;
            let offset = meta.len().saturating_sub(wanted);
            wanted = wanted.saturating_sub(meta.len());
            let mut bytes = BufReader::new(file);
            bytes.seek(SeekFrom::Start(offset)).map_err(|error| cannot(&path, &error))?;
            tail.open = Some((Reader { bytes, path, offset }, (meta.dev(), meta.ino())));
            if wanted == 0 {
                break;
            }
        }
        Ok(tail)
    }

    /// The same, with what is wrong with lines that do not verify.
    pub fn marked(dir: &Path, filter: Filter, key: Option<&VerificationKey>) -> Result<Tail, Fault> {
        Ok(Tail { marker: Marker::new(dir, key)?, ..Tail::new(dir, filter) })
    }

    /// Everything that was added since the last time.
    pub fn poll(&mut self, mut f: impl FnMut(Found)) -> Result<(), Fault> {
        self.poll_while(|found| {
            f(found);
            true
        })
    }

    /// The same, as long as more is wanted; the next time goes on behind it.
    pub fn poll_while(&mut self, mut f: impl FnMut(Found) -> bool) -> Result<(), Fault> {
        loop {
            if !self.drain(&mut f)? {
                return Ok(());
            }
            // Nobody writes to a file that another one follows, so what it has then is all.
            let Some((next, name)) = self.following()? else { return Ok(()) };
            if !self.drain(&mut f)? {
                return Ok(());
            }
            match private::open(&next, false) {
                Ok(file) => {
                    self.open = Some((Reader { bytes: BufReader::new(file), path: next, offset: 0 }, name));
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    self.open = None;
                    self.marker.iter_mut().for_each(Marker::lost);
                }
                Err(error) => return Err(cannot(&next, &error)),
            }
        }
    }

    /// The rest of the open file; `false` = no more is wanted.
    fn drain(&mut self, f: &mut impl FnMut(Found) -> bool) -> Result<bool, Fault> {
        let Some((reader, _)) = &mut self.open else { return Ok(true) };
        while let Some(found) =
            reader.whole(self.marker.as_mut()).map_err(|error| cannot(&reader.path, &error))?
        {
            let mut wanted = true;
            // What lies in one line is told whole.
            for found in found.into_iter().filter(|found| self.sieve.lets_through(found)) {
                wanted &= f(found);
            }
            if !wanted {
                return Ok(false);
            }
        }
        let length = reader.bytes.get_ref().metadata().map_err(|error| cannot(&reader.path, &error))?.len();
        if length < reader.offset {
            let why = "it was cut while it was read; `lazaret audit verify` says whether lines are gone, and who starts again reads what is there";
            return Err(private::fault(FaultKind::Audit, &reader.path, why));
        }
        Ok(true)
    }

    /// The file after the one that is open; the first one where that is not there any more.
    fn following(&self) -> Result<Option<(PathBuf, Name)>, Fault> {
        let named = |path: PathBuf| {
            let meta = std::fs::symlink_metadata(&path).ok()?;
            Some((path, (meta.dev(), meta.ino())))
        };
        let all: Vec<(PathBuf, Name)> = files(&self.dir)?.into_iter().filter_map(named).collect();
        let open = self.open.as_ref().map(|(_, name)| *name);
        let after = all.iter().position(|(_, name)| Some(*name) == open).map_or(0, |at| at + 1);
        Ok(all.into_iter().nth(after))
    }
}

impl Reader {
    /// What the next bytes up to a line feed hold, last first; nothing at the end of the file.
    fn next(&mut self, mut marker: Option<&mut Marker>) -> io::Result<Vec<Found>> {
        loop {
            let mut bytes = Vec::new();
            let read = (&mut self.bytes).take(LINE).read_until(b'\n', &mut bytes)?;
            if read == 0 {
                return Ok(Vec::new());
            }
            let offset = self.offset;
            self.offset += read as u64;
            let wrong = marker.as_mut().and_then(|marker| marker.mark(&bytes));
            let whole = bytes.strip_suffix(b"\n");
            // An empty line is not torn; one without its line feed is, also when the rest of it is there.
            let mut found =
                whole.map_or_else(|| vec![self.torn(offset, read)], |line| self.found(line, offset));
            if !found.is_empty() {
                blame(&mut found, wrong);
                found.reverse();
                return Ok(found);
            }
        }
    }

    /// What the next whole line holds, first first; `None` = no line has ended yet.
    fn whole(&mut self, marker: Option<&mut Marker>) -> io::Result<Option<Vec<Found>>> {
        let mut bytes = Vec::new();
        let read = (&mut self.bytes).take(LINE).read_until(b'\n', &mut bytes)? as u64;
        if read < LINE && !bytes.ends_with(b"\n") {
            self.bytes.seek(SeekFrom::Start(self.offset))?;
            return Ok(None);
        }
        let offset = self.offset;
        self.offset += read;
        let wrong = marker.and_then(|marker| marker.mark(&bytes));
        let mut found = self.found(bytes.strip_suffix(b"\n").unwrap_or(&bytes), offset);
        blame(&mut found, wrong);
        Ok(Some(found))
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

/// What is wrong with the bytes is wrong with all lines in them.
fn blame(found: &mut [Found], wrong: Option<Wrong>) {
    for found in found {
        if let Found::Line(line) = found {
            line.wrong = wrong;
        }
    }
}

fn parse(bytes: &[u8]) -> Option<Line> {
    let text = str::from_utf8(bytes).ok()?;
    let mut line: Line = serde_json::from_str(text).ok()?;
    text.clone_into(&mut line.text);
    (!line.id.is_empty() && !line.time.is_empty()).then_some(line)
}

/// Whether a line with its line feed is an event.
pub(super) fn is_event(line: &[u8]) -> bool {
    line.strip_suffix(b"\n").and_then(parse).is_some()
}

/// Whether this may be the beginning of a line, as a killed writer leaves it: the object in it never ends.
pub(super) fn is_piece(line: &[u8]) -> bool {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let text = match str::from_utf8(line) {
        Ok(text) => Some(text),
        // Cut within a character.
        Err(error) if error.error_len().is_none() => {
            line.get(..error.valid_up_to()).and_then(|text| str::from_utf8(text).ok())
        }
        Err(_) => None,
    };
    let cut = |text| serde_json::from_str::<IgnoredAny>(text).is_err_and(|error| error.is_eof());
    START.starts_with(line) || (line.starts_with(START) && text.is_some_and(cut))
}

/// When the file was begun: the time of its first line.
pub(super) fn begun_ms(path: &Path) -> Option<u64> {
    let mut bytes = Vec::new();
    let file = private::open(path, false).ok()?;
    BufReader::new(file).take(LINE).read_until(b'\n', &mut bytes).ok()?;
    parse(bytes.strip_suffix(b"\n")?)?.unix_ms()
}

/// The time of a file's last line.
pub(super) fn ended_ms(path: &Path) -> Option<u64> {
    let tail = super::prune::tail(path)?;
    let mut lines = tail.split(|byte| *byte == b'\n').rev();
    lines.find_map(parse)?.unix_ms()
}
