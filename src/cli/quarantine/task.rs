//! The task of a quarantined agent: references to everything that its session grants, and the two prompts around them.

use std::collections::HashMap;

use crate::domain::{Fault, FaultKind, lies_in};
use crate::host::dirs::Dirs;
use crate::host::quarantine::{self, Contents, Entry, EntryKind, Session};
use crate::reference::Reference;
use crate::review::prompt::{Extent, Listed, Parts, system_prompt, user_prompt};
use crate::review::quarantine_tools::AllowedTool;

/// What a session's agent is handed. Made anew whenever it is needed, always the same: references are dated at the
/// opening of the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// One for each file and directory that was named, in that order.
    pub references: Vec<String>,
    pub system_prompt: String,
    pub user_prompt: String,
}

impl Task {
    /// The task of an open session. The key is read for it, and wiped.
    pub fn of(dirs: &Dirs, session: &Session) -> Result<Task, Fault> {
        let contents = session.contents(dirs)?.unwrap_or_default();
        let key = quarantine::key(dirs, session)?;
        let minted = session.opened().unix_ms / 1000;
        let mint = |entry: &Entry| {
            Reference::mint(&key, entry.original.as_bytes(), minted, &session.id, session.ttl_s).map_err(
                |unfit| Fault::new(FaultKind::Host, format!("path {}", entry.original), unfit.message()),
            )
        };
        let references: Vec<Reference> = session.entries.iter().map(mint).collect::<Result<_, _>>()?;
        let extents = Extents::of(&contents);
        let files: Vec<Listed<'_>> = session
            .entries
            .iter()
            .zip(&references)
            .map(|(entry, reference)| Listed {
                reference,
                name: name(entry, session),
                extent: extents.of_entry(entry),
            })
            .collect();
        let parts = Parts {
            session: &session.id,
            allowed_tools: &AllowedTool::ALL,
            ttl_s: session.ttl_s,
            timeout_s: session.timeout_s,
            files: &files,
            instructions: session.instructions.as_deref(),
        };
        Ok(Task {
            references: references.iter().map(ToString::to_string).collect(),
            system_prompt: system_prompt(&parts),
            user_prompt: user_prompt(&parts),
        })
    }

    /// Both prompts in one, for an agent whose system prompt is its definition's.
    pub fn whole(&self) -> String {
        format!("{}\n\n{}", self.system_prompt.trim_end(), self.user_prompt)
    }
}

/// The path below the root of the session; of the root itself, its own name.
fn name<'e>(entry: &'e Entry, session: &Session) -> &'e str {
    let below = entry.original.strip_prefix(&session.root).unwrap_or(&entry.original).trim_start_matches('/');
    if below.is_empty() { entry.original.rsplit('/').next().unwrap_or(&entry.original) } else { below }
}

/// How large everything is.
struct Extents<'c> {
    files: HashMap<&'c str, Extent>,
    contents: &'c Contents,
}

impl<'c> Extents<'c> {
    fn of(contents: &'c Contents) -> Extents<'c> {
        let extent = |lines, bytes| Extent::File { lines: u32::try_from(lines).unwrap_or(u32::MAX), bytes };
        let files =
            contents.files.iter().map(|file| (file.original.as_str(), extent(file.lines, file.bytes)));
        Extents { files: files.collect(), contents }
    }

    fn of_entry(&self, entry: &Entry) -> Extent {
        match entry.kind {
            EntryKind::File => {
                let unknown = Extent::File { lines: 0, bytes: entry.bytes };
                self.files.get(entry.original.as_str()).copied().unwrap_or(unknown)
            }
            EntryKind::Dir => {
                let inside = |file: &&quarantine::SealedFile| lies_in(&file.original, &entry.original);
                let count = self.contents.files.iter().filter(inside).count();
                Extent::Directory { files: u32::try_from(count).unwrap_or(u32::MAX) }
            }
        }
    }
}
