//! What a checkpoint's manifest says: who was about to do what, and what was at each path.

use serde::{Deserialize, Serialize};

/// Which file it was, and when it was last changed: inode, size, then seconds and nanoseconds of both times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Stamp(pub [i64; 6]);

/// What is at a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum State {
    Absent,
    File {
        /// SHA-256, in hexadecimal digits.
        digest: String,
        mode: u32,
        size: u64,
        /// Names that the file has.
        links: u64,
        stamp: Stamp,
    },
    Symlink {
        target: String,
    },
    Directory {
        mode: u32,
    },
    /// It was not saved.
    Skipped {
        why: String,
        /// Something is lost with it.
        loss: bool,
    },
}

impl State {
    /// Whether the same is there: content, mode, where a link leads. When it was changed does not count.
    pub fn is_same(&self, other: &State) -> bool {
        match (self, other) {
            (
                State::File { digest, mode, .. },
                State::File { digest: other_digest, mode: other_mode, .. },
            ) => digest == other_digest && mode == other_mode,
            (State::Skipped { .. }, _) | (_, State::Skipped { .. }) => false,
            _ => self == other,
        }
    }

    pub const fn name(&self) -> &'static str {
        match self {
            State::Absent => "absent",
            State::File { .. } => "file",
            State::Symlink { .. } => "symlink",
            State::Directory { .. } => "directory",
            State::Skipped { .. } => "skipped",
        }
    }

    pub(super) fn skipped(why: impl Into<String>) -> State {
        State::Skipped { why: why.into(), loss: true }
    }
}

/// One path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Absolute; no directory in it is a symbolic link.
    pub path: String,
    #[serde(flatten)]
    pub state: State,
}

/// One checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// A UUID of version 7.
    pub id: String,
    pub unix_ms: u64,
    pub client: String,
    pub session: String,
    /// The person's prompt that the call belongs to, as the client names it.
    pub prompt: Option<String>,
    pub call: Option<String>,
    pub tool: String,
    /// What the call asked for, without secrets.
    pub action: String,
    pub cwd: String,
    /// The project.
    pub root: Option<String>,
    /// Of the checkpoint that a rollback makes before it changes anything: what it undoes.
    pub undoes: Vec<String>,
    /// The repositories of which something was saved.
    #[serde(default)]
    pub repos: Vec<String>,
    /// Work trees of which every file was seen that git did not hold, and whether those in repositories inside are among them.
    #[serde(default)]
    pub trees: Vec<String>,
    /// What git held of them was seen too.
    #[serde(default)]
    pub whole: bool,
    #[serde(default)]
    pub inner: bool,
    /// Directories of which every file was seen, so that what is new in them afterwards was made by the call.
    #[serde(default)]
    pub listed: Vec<String>,
    /// Git's index in the project, and when it was last changed.
    #[serde(default)]
    pub index: Option<(String, Stamp)>,
    pub entries: Vec<Entry>,
}

impl Manifest {
    /// What was not saved although something is lost with it, and why.
    pub fn lost(&self) -> impl Iterator<Item = (&str, &str)> {
        self.entries.iter().filter_map(|entry| match &entry.state {
            State::Skipped { why, loss: true } => Some((entry.path.as_str(), why.as_str())),
            _ => None,
        })
    }

    /// What was left out and does not count as lost, and why.
    pub fn omitted(&self) -> impl Iterator<Item = (&str, &str)> {
        self.entries.iter().filter_map(|entry| match &entry.state {
            State::Skipped { why, loss: false } => Some((entry.path.as_str(), why.as_str())),
            _ => None,
        })
    }

    /// Bytes of all files in it.
    pub fn bytes(&self) -> u64 {
        self.entries
            .iter()
            .map(|entry| if let State::File { size, .. } = entry.state { size } else { 0 })
            .sum()
    }
}

/// What a call has left: the same paths, and those that are new.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct After {
    pub entries: Vec<Entry>,
    /// Paths that were not there before.
    pub new: Vec<Entry>,
    /// What is new or changed and no rollback touches.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stays: Vec<String>,
    /// Of a rollback that is not at its end, or could not do all: it may be done again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unfinished: bool,
}
