//! The task of a quarantined agent: references to everything that its session grants, and the two prompts around them.

use std::collections::HashMap;

use crate::domain::{Fault, FaultKind, lies_in};
use crate::host::dirs::Dirs;
use crate::host::quarantine::{self, Contents, Entry, EntryKind, Session};
use crate::reference::Reference;
use crate::review::prompt::{Extent, Listed, Parts, system_prompt, user_prompt};
use crate::review::quarantine_tools::AllowedTool;

/// Most files of directories that get a reference of their own; the others can be searched.
const MAX_INSIDE: usize = 200;

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
        let mint = |original: &str| {
            Reference::mint(&key, original.as_bytes(), minted, &session.id, session.ttl_s)
                .map_err(|unfit| Fault::new(FaultKind::Host, format!("path {original}"), unfit.message()))
        };
        let references: Vec<Reference> =
            session.entries.iter().map(|entry| mint(&entry.original)).collect::<Result<_, _>>()?;
        let extents = Extents::of(&contents);
        let inside = inside(session, &contents);
        let inside: Vec<(&str, Reference)> =
            inside.into_iter().map(|file| Ok((file, mint(file)?))).collect::<Result<_, Fault>>()?;
        let named = session.entries.iter().zip(&references).map(|(entry, reference)| Listed {
            reference,
            name: name(&entry.original, session),
            extent: extents.of_entry(entry),
        });
        let below = inside.iter().map(|(file, reference)| Listed {
            reference,
            name: name(file, session),
            extent: extents.of_file(file, 0),
        });
        let files: Vec<Listed<'_>> = named.chain(below).collect();
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
fn name<'e>(original: &'e str, session: &Session) -> &'e str {
    let below = original.strip_prefix(&session.root).unwrap_or(original).trim_start_matches('/');
    if below.is_empty() { original.rsplit('/').next().unwrap_or(original) } else { below }
}

/// The files of the directories that were named, the first so many: only a file's own reference can be read.
fn inside<'c>(session: &Session, contents: &'c Contents) -> Vec<&'c str> {
    let of_tree = |file: &&str| {
        let named = session.entries.iter().any(|entry| entry.original == **file);
        !named && session.entries.iter().any(|entry| lies_in(file, &entry.original))
    };
    contents.files.iter().map(|file| file.original.as_str()).filter(of_tree).take(MAX_INSIDE).collect()
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

    /// `bytes`: of a file that is not in the list.
    fn of_file(&self, original: &str, bytes: u64) -> Extent {
        self.files.get(original).copied().unwrap_or(Extent::File { lines: 0, bytes })
    }

    fn of_entry(&self, entry: &Entry) -> Extent {
        match entry.kind {
            EntryKind::File => self.of_file(&entry.original, entry.bytes),
            EntryKind::Dir => {
                let inside = |file: &&quarantine::SealedFile| lies_in(&file.original, &entry.original);
                let count = self.contents.files.iter().filter(inside).count();
                Extent::Directory { files: u32::try_from(count).unwrap_or(u32::MAX) }
            }
        }
    }
}
