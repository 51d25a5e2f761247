//! What is known of the machine. The review asks, `host` answers; neither does the other's work.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::{Marks, PluginRisk, lies_in};

/// A question about the machine.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ask {
    /// What is at this absolute path, where does it really lead, does git ignore it?
    Path(String),
    /// The text of the file at this absolute path, at most [`Ask::MAX_CONTENT`] bytes.
    Content(String),
    /// Does git hold what is in the file at this absolute path?
    Saved(String),
    /// The branch that is checked out in the repository.
    Branch,
}

impl Ask {
    /// Longest file, in bytes, whose text is given; of a longer one nothing is.
    pub const MAX_CONTENT: u64 = 256 * 1024;
    /// Most questions of one survey; what is beyond stays unanswered.
    pub const MAX: usize = 1920;
    /// Most texts among them.
    pub const MAX_TEXTS: usize = 192;
}

/// What is at a path (of a symbolic link: what it leads to).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathKind {
    Missing,
    File,
    Directory,
    Other,
}

/// The answer to [`Ask::Path`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathFact {
    pub kind: PathKind,
    /// The path with every symbolic link resolved; for a missing path, its nearest existing ancestor resolved and the
    /// rest appended.
    pub real: String,
    /// The path itself is a symbolic link.
    pub link: bool,
    /// Git ignores it (only asked inside the repository).
    pub ignored: bool,
    /// It lies in the home directory below the top of another git work tree than the one worked in.
    pub checkout: bool,
}

/// Why a place is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProtectedKind {
    /// A client's settings, hooks or plugins.
    ClientSettings,
    /// lazaret's configuration, state, log or binary: may be read, not changed.
    Own,
    /// lazaret's keys and sealed copies: not even read.
    Keys,
}

/// A place that an agent must not change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Protected {
    /// Absolute, normalised.
    pub path: String,
    /// With all that lies below it.
    pub tree: bool,
    pub kind: ProtectedKind,
}

/// Where things are on this machine: known before any question.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Places {
    pub home: Option<String>,
    /// The top of the git work tree around the working directory.
    pub repo: Option<String>,
    /// The client's project directory.
    pub project: Option<String>,
    /// Temporary directories.
    pub temp: Vec<String>,
    pub protected: Vec<Protected>,
    /// Name of the user, for `~name`.
    pub user: Option<String>,
    /// The file that is there once a review was begun on this machine.
    pub reviewed: Option<String>,
    /// Variables of the environment that say where protected places are, with their values: who writes `$NAME/…` means them.
    pub variables: Vec<(String, String)>,
}

impl Places {
    /// The directories that are worked on. Not the root, and not the home directory or what is above it: working there makes
    /// nothing in it expendable.
    pub fn roots(&self) -> impl Iterator<Item = &str> {
        let home = self.home.as_deref();
        let roots = self.repo.iter().chain(&self.project).map(String::as_str);
        roots.filter(move |root| *root != "/" && !home.is_some_and(|home| lies_in(home, root)))
    }
}

/// Hundreds of paths with the same beginning are asked for again and again: a tree would compare that beginning each time.
type ByPath<T> = HashMap<String, T, PlainHash>;

/// For maps of names that are looked up often.
pub type PlainHash = BuildHasherDefault<Sum>;

/// Eight bytes at a time, because paths are long. The standard library's own would ask the system for random numbers; there are at
/// most a few thousand paths.
#[derive(Debug, Clone)]
pub struct Sum(u64);

impl Default for Sum {
    fn default() -> Sum {
        Sum(0xcbf2_9ce4_8422_2325)
    }
}

impl Sum {
    fn mix(&mut self, more: u64) {
        let product = (self.0 ^ more).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = product ^ product >> 32;
    }
}

impl Hasher for Sum {
    fn write(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some((eight, tail)) = rest.split_first_chunk::<8>() {
            self.mix(u64::from_le_bytes(*eight));
            rest = tail;
        }
        let last = rest.iter().fold(rest.len() as u64, |last, byte| last << 8 | u64::from(*byte));
        self.mix(last);
    }

    /// What ends a text.
    fn write_u8(&mut self, _: u8) {}

    fn finish(&self) -> u64 {
        // The high bits tell entries of one bucket apart.
        self.0 ^ self.0 << 32
    }
}

/// Answers by path. What was given out stays where it is while more come in, so that a question can be answered while others are
/// looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Kept<T> {
    numbers: RefCell<ByPath<usize>>,
    /// Each has twice as much room as the one before.
    rooms: [OnceCell<Vec<OnceCell<T>>>; 8],
}

impl<T> Default for Kept<T> {
    fn default() -> Kept<T> {
        Kept { numbers: RefCell::default(), rooms: [const { OnceCell::new() }; 8] }
    }
}

impl<T> Kept<T> {
    /// Answers in the first room.
    const FIRST: usize = 32;

    fn get(&self, path: &str) -> Option<&T> {
        let number = self.numbers.try_borrow().ok()?.get(path).copied()?;
        self.place(number)?.get()
    }

    fn has(&self, path: &str) -> bool {
        self.numbers.try_borrow().is_ok_and(|numbers| numbers.contains_key(path))
    }

    /// Keeps an answer, where there is none yet and there is room.
    fn keep(&self, path: String, answer: T) {
        let Ok(mut numbers) = self.numbers.try_borrow_mut() else { return };
        let number = numbers.len();
        if let std::collections::hash_map::Entry::Vacant(free) = numbers.entry(path)
            && self.place(number).is_some_and(|place| place.set(answer).is_ok())
        {
            free.insert(number);
        }
    }

    fn place(&self, number: usize) -> Option<&OnceCell<T>> {
        let room = (number / Self::FIRST + 1).ilog2() as usize;
        let size = Self::FIRST << room;
        let places = || std::iter::repeat_with(OnceCell::new).take(size).collect();
        self.rooms.get(room)?.get_or_init(places).get(number + Self::FIRST - size)
    }
}

/// Answers one question, if it can: the machine, asked while a call is surveyed.
pub type Answer<'a> = dyn FnMut(Ask, &Facts) + 'a;

/// The answers so far.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Facts {
    pub places: Places,
    paths: Kept<PathFact>,
    contents: Kept<Option<String>>,
    saved: Kept<bool>,
    branch: OnceCell<Option<String>>,
    /// What the session remembers of files.
    pub marks: Marks,
    /// The highest risk that a plugin of the user's gave the call.
    pub rated: Option<PluginRisk>,
}

impl Facts {
    pub fn new(places: Places) -> Facts {
        Facts { places, ..Facts::default() }
    }

    pub fn path(&self, path: &str) -> Option<&PathFact> {
        self.paths.get(path)
    }

    /// Whether it is known that nothing is at the path, no link that leads nowhere either.
    pub fn is_missing(&self, path: &str) -> bool {
        self.path(path).is_some_and(|fact| fact.kind == PathKind::Missing && !fact.link)
    }

    /// The text of a file: `None` = not asked yet, `Some(None)` = missing, too long, or not text.
    pub fn content(&self, path: &str) -> Option<Option<&str>> {
        self.contents.get(path).map(Option::as_deref)
    }

    /// The file is tracked and unchanged since git took it in, so that git can bring it back: `None` = not asked yet.
    pub fn saved(&self, path: &str) -> Option<bool> {
        self.saved.get(path).copied()
    }

    /// The branch: `None` = not asked yet, `Some(None)` = detached or no repository.
    pub fn branch(&self) -> Option<Option<&str>> {
        self.branch.get().map(Option::as_deref)
    }

    /// Whether it is known that no review was ever begun here: then no agent was quarantined.
    #[inline(never)]
    pub fn never_reviewed(&self) -> bool {
        self.places.reviewed.as_deref().is_some_and(|mark| self.is_missing(mark))
    }

    pub fn answer_path(&self, path: String, fact: PathFact) {
        self.paths.keep(path, fact);
    }

    pub fn answer_content(&self, path: String, text: Option<String>) {
        self.contents.keep(path, text);
    }

    pub fn answer_saved(&self, path: String, saved: bool) {
        self.saved.keep(path, saved);
    }

    pub fn answer_branch(&self, branch: Option<String>) {
        self.branch.get_or_init(|| branch);
    }

    /// Whether the question has its answer.
    pub fn knows(&self, ask: &Ask) -> bool {
        match ask {
            Ask::Path(path) => self.paths.has(path),
            Ask::Content(path) => self.contents.has(path),
            Ask::Saved(path) => self.saved.has(path),
            Ask::Branch => self.branch.get().is_some(),
        }
    }
}
