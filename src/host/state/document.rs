//! What changes seldom in a session: a small JSON document beside the ring, replaced by rename, under the ring's lock.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::file::{Ring, keep};
use super::marks;
use super::ring::Papers;
use super::{cannot, fault};
use crate::domain::{Behaviour, Fault, FaultKind, Marks, Watch};
use crate::host::clock::Now;
use crate::host::private;

/// Longest document, in bytes.
const MAX: u64 = 256 * 1024;
const VERSION: u32 = 1;

/// What a session knows of itself besides its calls.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Document {
    /// Why the session was stopped; none = it was not.
    pub stopped: Option<String>,
    /// What is remembered of files.
    pub marks: Marks,
    /// What the session is for, and how it behaved.
    pub behaviour: Behaviour,
    /// Prompts so far. Kept in the ring's header, so that counting one needs no document.
    pub prompts: u64,
    /// What was last seen of the files that keep the gate where it is; kept in the ring's header too.
    pub watch: Watch,
    /// File operations of the session so far, as the ring's header counts them; a change of it is not kept.
    pub file_operations: u64,
}

impl Document {
    /// Nothing in it needs a file.
    fn is_blank(&self) -> bool {
        self.stopped.is_none() && self.marks.is_empty() && self.behaviour.is_blank()
    }

    /// Nothing in it is asked for when a call is about to run.
    fn is_quiet(&self) -> bool {
        self.stopped.is_none() && self.marks.is_empty() && !self.behaviour.bears_on_calls()
    }
}

/// The file's own form.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Found {
    version: u32,
    stopped: Option<String>,
    #[serde(deserialize_with = "marks::deserialize")]
    marks: Marks,
    behaviour: Behaviour,
}

#[derive(Serialize)]
struct Written<'a> {
    version: u32,
    stopped: Option<&'a str>,
    #[serde(serialize_with = "marks::serialize", skip_serializing_if = "Marks::is_empty")]
    marks: &'a Marks,
    #[serde(skip_serializing_if = "Behaviour::is_blank")]
    behaviour: &'a Behaviour,
}

/// Reads the document of a ring, if its header says that there may be one. A damaged one is kept aside, and the session
/// is stopped: what it held back is not known any more.
pub(super) fn load(ring: &mut Ring, now: Now, repair: bool) -> Result<Document, Fault> {
    let prompts = ring.header.prompts;
    let mut document = match ring.header.papers {
        Papers::None => Document::default(),
        Papers::Maybe | Papers::Kept | Papers::Quiet => read(ring, now, repair)?,
    };
    document.prompts = prompts;
    document.watch = ring.header.watch;
    document.file_operations = ring.header.file_operations;
    Ok(document)
}

/// The same as far as a call that is about to run needs it: most sessions have said what they are for, and nothing else.
pub(super) fn load_for_call(ring: &mut Ring, now: Now) -> Result<Document, Fault> {
    match ring.header.papers {
        Papers::Quiet => {
            Ok(Document { prompts: ring.header.prompts, watch: ring.header.watch, ..Document::default() })
        }
        Papers::None | Papers::Maybe | Papers::Kept => load(ring, now, true),
    }
}

fn read(ring: &mut Ring, now: Now, repair: bool) -> Result<Document, Fault> {
    let path = beside(&ring.path);
    let mut file = match private::open(&path, false) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if matches!(ring.header.papers, Papers::Kept | Papers::Quiet) {
                return Err(stop(ring, &path, "it is gone", repair));
            }
            ring.header.papers = Papers::None;
            return Ok(Document::default());
        }
        Err(error) => return Err(cannot(&path, &error)),
    };
    let meta = file.metadata().map_err(|error| cannot(&path, &error))?;
    private::owned(FaultKind::State, &path, &meta)?;
    let mut bytes = Vec::with_capacity(usize::try_from(meta.len().min(MAX)).unwrap_or(0) + 1);
    (&mut file).take(MAX + 1).read_to_end(&mut bytes).map_err(|error| cannot(&path, &error))?;
    let why = if bytes.len() as u64 > MAX {
        format!("it is longer than {MAX} bytes")
    } else {
        match crate::host::from_json::<Found>(&bytes) {
            Ok(Found { version: VERSION, stopped, marks, behaviour }) => {
                return Ok(Document { stopped, marks, behaviour, ..Document::default() });
            }
            Ok(Found { version, .. }) => format!("it is of version {version}, which is not ours"),
            Err(error) => format!("it is damaged ({error})"),
        }
    };
    if !repair {
        return Err(fault(&path, why));
    }
    let kept = keep(&path, &file, now).map_err(|error| cannot(&path, &error))?;
    Err(stop(ring, &path, &format!("{why}; it was kept as {}", kept.display()), repair))
}

/// Puts a document in place that only says that the session is stopped, and gives the fault that tells so.
fn stop(ring: &mut Ring, path: &Path, why: &str, repair: bool) -> Fault {
    let told = fault(path, format!("{why}; the session is stopped"))
        .with_hint("a person can go on with `lazaret resume`");
    if !repair {
        return told;
    }
    let stopped = Document { stopped: Some(format!("its document was lost: {why}")), ..Document::default() };
    match save(ring, &stopped) {
        Ok(()) => told,
        Err(fault) => fault,
    }
}

/// Replaces the document. The header says "maybe" before and "kept" after, so that a process killed between the two
/// leaves nothing that reads as somebody else's entry.
pub(super) fn save(ring: &mut Ring, document: &Document) -> Result<(), Fault> {
    let path = beside(&ring.path);
    ring.header.prompts = document.prompts;
    ring.header.watch = document.watch;
    if ring.header.papers != Papers::Maybe {
        ring.header.papers = Papers::Maybe;
        ring.write_header()?;
    }
    if document.is_blank() {
        private::found(fs::remove_file(&path)).map_err(|error| cannot(&path, &error))?;
        ring.header.papers = Papers::None;
        return ring.write_header();
    }
    let Document { stopped, marks, behaviour, .. } = document;
    let bytes =
        serde_json::to_vec(&Written { version: VERSION, stopped: stopped.as_deref(), marks, behaviour })
            .map_err(|error| fault(&path, error.to_string()))?;
    if bytes.len() as u64 > MAX {
        return Err(fault(&path, format!("it would be longer than {MAX} bytes")));
    }
    // Under the lock there is one writer, so the other name can be fixed.
    private::replace(&path, &path.with_extension("json.new"), &bytes)
        .map_err(|error| cannot(&path, &error))?;
    ring.header.papers = if document.is_quiet() { Papers::Quiet } else { Papers::Kept };
    ring.write_header()
}

/// The document's path, from the ring's.
pub(super) fn beside(ring: &Path) -> PathBuf {
    ring.with_extension("json")
}

/// Whether the session of that ring is stopped. A document that cannot be read counts as saying so.
pub(super) fn holds_a_stop(ring: &Path) -> bool {
    match fs::read(beside(ring)) {
        Ok(bytes) => crate::host::from_json::<Found>(&bytes).map_or(true, |found| found.stopped.is_some()),
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    }
}
