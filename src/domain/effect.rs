//! What an action would do to the world outside the client.

use super::{Severity, words};

words! {
    /// The kinds of side effect. The base risk of each is in `review::risk`.
    #[derive(PartialOrd, Ord, Hash)]
    EffectKind {
        FileRead = "file_read",
        FileCreation = "file_creation",
        FileModification = "file_modification",
        FileDeletion = "file_deletion",
        /// Starts a known program that does more than read and write the files it names (a build, a test run, a server).
        ProcessCreation = "process_creation",
        NetworkRequest = "network_request",
        /// A command whose effects we do not know.
        SystemCommand = "system_command",
        /// Changes the system itself: packages, services, users, permissions, kernel, disks.
        SystemModification = "system_modification",
    }
}

/// What an effect falls on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// An absolute, lexically normalised path. With `glob`, a pattern in shell spelling that stands for many paths.
    /// `recursive`: with all that lies below it.
    Path {
        path: String,
        glob: bool,
        recursive: bool,
    },
    /// A path of which not everything is known before the command runs; `known` is the part in front that is, `tail` what stands behind
    /// the last unknown part, from its slash on (empty where there is none).
    UnknownPath {
        known: String,
        tail: Box<str>,
        recursive: bool,
    },
    Url(String),
    /// A command by its text.
    Command(String),
    None,
}

impl Target {
    /// A path of which no more than the beginning is known.
    pub fn begun(known: impl Into<String>, recursive: bool) -> Target {
        Target::UnknownPath { known: known.into(), tail: Box::default(), recursive }
    }

    /// The target as it is shown to people.
    pub fn text(&self) -> &str {
        match self {
            Target::Path { path, .. } => path,
            Target::UnknownPath { known, .. } => known,
            Target::Url(text) | Target::Command(text) => text,
            Target::None => "",
        }
    }

    /// The end of a path that is known.
    pub fn end(&self) -> &str {
        match self {
            Target::UnknownPath { tail, .. } => tail,
            Target::Path { .. } | Target::Url(_) | Target::Command(_) | Target::None => self.text(),
        }
    }

    pub(super) fn change(&mut self, change: impl Fn(&str) -> String) {
        match self {
            Target::Path { path: text, .. } | Target::UnknownPath { known: text, .. } => *text = change(text),
            Target::Url(text) | Target::Command(text) => *text = change(text),
            Target::None => {}
        }
    }
}

/// One side effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effect {
    pub kind: EffectKind,
    pub target: Target,
    pub severity: Severity,
    /// True only when lazaret or git can bring back what was there.
    pub reversible: bool,
    /// What is lost can be made again: git ignores it, it is known build output, or it lies in a temporary directory.
    pub disposable: bool,
    /// Done with another user's rights (sudo and the like).
    pub privileged: bool,
}
