//! What a session remembers of files: which came from elsewhere, which its agent wrote, which hold a secret. Bounded.

use super::lies_in;

/// Why a file is remembered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The agent wrote it, and it is of a kind that is run or lies outside the project.
    Written,
    /// It came from this host (empty = not known which).
    Fetched(String),
    /// It is a copy of the program of this name, or leads to it.
    Program(String),
    /// It holds what was printed of the environment.
    Environment,
    /// It holds what stood in a `.env` file or in a store of tokens.
    Settings,
    /// It holds a private key or a credential.
    Secret,
}

impl Origin {
    /// What weighs more is forgotten later.
    const fn weight(&self) -> u8 {
        match self {
            Origin::Written => 0,
            Origin::Fetched(_) => 1,
            Origin::Program(_) => 2,
            Origin::Environment => 3,
            Origin::Settings => 4,
            Origin::Secret => 5,
        }
    }

    /// Whether it says that something secret is in the file.
    pub const fn is_secret(&self) -> bool {
        match self {
            Origin::Written | Origin::Fetched(_) | Origin::Program(_) => false,
            Origin::Environment | Origin::Settings | Origin::Secret => true,
        }
    }
}

/// Which files a mark is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// The one at the path.
    File,
    /// All at and below the path.
    Tree,
    /// All whose path begins so.
    Names,
}

/// One thing that is remembered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// Absolute, normalised.
    pub path: String,
    pub reach: Reach,
    pub origin: Origin,
}

impl Mark {
    /// Whether the file at `path` is among those that it is about.
    pub fn covers(&self, path: &str) -> bool {
        match self.reach {
            Reach::File => self.path == path,
            Reach::Tree => lies_in(path, &self.path),
            Reach::Names => path.starts_with(&self.path),
        }
    }
}

/// What is remembered, oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Marks {
    list: Vec<Mark>,
    /// Bytes of all paths and hosts.
    bytes: usize,
}

impl Marks {
    /// Most marks.
    pub const MAX: usize = 256;
    /// Longest path or host, in bytes; what is longer is not remembered.
    pub const MAX_PATH: usize = 4096;
    /// Most bytes of paths and hosts together.
    pub const MAX_BYTES: usize = 96 * 1024;

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Mark> {
        self.list.iter()
    }

    /// Remembers one more; when there are too many, the oldest of those that weigh least is forgotten.
    pub fn add(&mut self, mark: Mark) {
        let fits = size(&mark) <= Marks::MAX_PATH && mark.path.len() > 1 && !mark.path.contains('\0');
        // What goes there is gone, and nothing comes from there that was put there.
        let sink = matches!(mark.path.as_str(), "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/tty");
        if fits && !sink && !self.list.contains(&mark) {
            self.restore(mark);
        }
    }

    /// The same of one that is known to be whole and not to stand there twice.
    pub fn restore(&mut self, mark: Mark) {
        self.bytes += size(&mark);
        self.list.push(mark);
        while self.list.len() > Marks::MAX || self.bytes > Marks::MAX_BYTES {
            // Of equals `min_by_key` gives the first, which is the oldest.
            let lightest = self.list.iter().enumerate().min_by_key(|(_, mark)| mark.origin.weight());
            let Some((at, _)) = lightest else { return };
            self.bytes -= size(&self.list.remove(at));
        }
    }

    /// Takes over all that another session state holds.
    pub fn add_all(&mut self, others: &Marks) {
        for mark in &others.list {
            self.add(mark.clone());
        }
    }

    /// Forgets what is known of the files at and below a path that are gone or have become others.
    pub fn forget(&mut self, path: &str) {
        if !self.list.iter().any(|mark| lies_in(&mark.path, path)) {
            return;
        }
        self.list.retain(|mark| !lies_in(&mark.path, path));
        self.bytes = self.list.iter().map(size).sum();
    }

    /// Remembers of `to` what is remembered of `from`, and of all below it.
    pub fn copy(&mut self, from: &str, to: &str) {
        let copies: Vec<Mark> = self
            .list
            .iter()
            .filter_map(|mark| {
                let below = match mark.path.strip_prefix(from) {
                    Some(rest) if rest.is_empty() || rest.starts_with('/') => rest,
                    Some(_) | None if mark.covers(from) => "",
                    Some(_) | None => return None,
                };
                let reach = if mark.reach == Reach::Names { Reach::Tree } else { mark.reach };
                Some(Mark { path: format!("{to}{below}"), reach, origin: mark.origin.clone() })
            })
            .collect();
        for mark in copies {
            self.add(mark);
        }
    }

    /// Where the file at `path` is from: what was said of it most exactly, and last.
    pub fn source(&self, path: &str) -> Option<&Mark> {
        let is_source = |mark: &&Mark| matches!(mark.origin, Origin::Written | Origin::Fetched(_));
        let covering = self.list.iter().filter(|mark| is_source(mark) && mark.covers(path));
        covering.max_by_key(|mark| mark.path.len())
    }

    /// The program that the file at `path` is a copy of; of a name without a directory, of any file of that name.
    pub fn program(&self, path: &str) -> Option<&str> {
        let is_it = |mark: &Mark| match path.contains('/') {
            true => mark.covers(path),
            false => mark.path.rsplit('/').next() == Some(path),
        };
        self.list.iter().rev().filter(|mark| is_it(mark)).find_map(|mark| match &mark.origin {
            Origin::Program(name) => Some(name.as_str()),
            Origin::Written
            | Origin::Fetched(_)
            | Origin::Environment
            | Origin::Settings
            | Origin::Secret => None,
        })
    }

    /// The worst secret that is in the file at `path`, or with `below` in one below it.
    pub fn secret(&self, path: &str, below: bool) -> Option<&Origin> {
        let holds = |mark: &&Mark| mark.covers(path) || (below && lies_in(&mark.path, path));
        let secrets = self.list.iter().filter(|mark| mark.origin.is_secret());
        secrets.filter(holds).map(|mark| &mark.origin).max_by_key(|origin| origin.weight())
    }
}

fn size(mark: &Mark) -> usize {
    let host = match &mark.origin {
        Origin::Fetched(host) | Origin::Program(host) => host.len(),
        Origin::Written | Origin::Environment | Origin::Settings | Origin::Secret => 0,
    };
    mark.path.len() + host
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(path: &str, reach: Reach, origin: Origin) -> Mark {
        Mark { path: path.to_owned(), reach, origin }
    }

    fn file(path: &str, origin: Origin) -> Mark {
        mark(path, Reach::File, origin)
    }

    #[test]
    fn the_most_exact_mark_says_where_a_file_is_from() {
        let mut marks = Marks::default();
        marks.add(mark("/p/a", Reach::Tree, Origin::Fetched("x.example".to_owned())));
        marks.add(file("/p/a/mine.sh", Origin::Written));
        let source = |path: &str| marks.source(path).map(|mark| mark.origin.clone());
        assert_eq!(source("/p/a/mine.sh"), Some(Origin::Written));
        assert_eq!(source("/p/a/b.sh"), Some(Origin::Fetched("x.example".to_owned())));
        assert_eq!(source("/p/ab"), None);
    }

    #[test]
    fn marks_follow_copies_and_end_with_the_file() {
        let mut marks = Marks::default();
        marks.add(file("/p/d/x", Origin::Secret));
        marks.copy("/p/d", "/q");
        assert_eq!(marks.secret("/q/x", false), Some(&Origin::Secret));
        marks.forget("/p/d");
        assert_eq!(marks.secret("/p/d/x", false), None);
        assert_eq!((marks.secret("/q", false), marks.secret("/q", true)), (None, Some(&Origin::Secret)));
    }

    #[test]
    fn a_flood_of_files_does_not_drive_a_secret_out() {
        let mut marks = Marks::default();
        marks.add(file("/p/secret", Origin::Secret));
        for number in 0..1000 {
            marks.add(file(&format!("/p/{number}.sh"), Origin::Written));
        }
        assert_eq!(marks.iter().count(), Marks::MAX);
        assert!(marks.secret("/p/secret", false).is_some() && marks.source("/p/999.sh").is_some());
        for number in 0..100 {
            marks.add(file(&format!("/{}/{number}", "a".repeat(4000)), Origin::Secret));
        }
        assert!(marks.iter().map(size).sum::<usize>() <= Marks::MAX_BYTES);
    }
}
