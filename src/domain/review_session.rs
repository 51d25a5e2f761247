//! A review session in the words of a decision: its name, what it grants, and where a quarantined agent stands in it. How
//! it is kept is host's.

use crate::domain::last_name;
use std::borrow::Cow;

use super::{Key, lies_in};

/// A UUID of version 4 in its canonical spelling: lower case, hyphenated, 36 bytes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ReviewId(String);

impl ReviewId {
    /// Length in bytes.
    pub const LEN: usize = 36;

    /// The id, or nothing unless `text` is exactly the canonical spelling.
    pub fn parse(text: &str) -> Option<ReviewId> {
        if text.len() != Self::LEN {
            return None;
        }
        let fits = text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            14 => byte == b'4',
            19 => matches!(byte, b'8' | b'9' | b'a' | b'b'),
            _ => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
        });
        fits.then(|| ReviewId(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for ReviewId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a review session grants: files and directories, and where their sealed copies lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grounds {
    /// The real path of the directory that everything lies in.
    pub root: String,
    /// The directory that stands for `root` among the copies.
    pub copies: String,
    pub granted: Vec<Granted>,
}

/// A file or directory that a session grants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Granted {
    /// Its real path, absolute.
    pub original: String,
    /// A directory, with all that lies in it.
    pub tree: bool,
}

/// Names of files that tell searches what to pass over.
const IGNORE_FILES: [&str; 3] = [".gitignore", ".ignore", ".rgignore"];
/// What their copies' names have behind them, so that no search obeys what a stranger wrote.
const SEALED: &str = ".sealed";

/// Whether a file of that name is called otherwise among the copies: an ignore file, or what its copy could be taken for.
/// Some file systems do not tell cases apart.
fn is_renamed(name: &str) -> bool {
    let mut stem = name;
    while let Some(at) = stem.len().checked_sub(SEALED.len())
        && let Some((before, end)) = stem.split_at_checked(at)
        && end.eq_ignore_ascii_case(SEALED)
    {
        stem = before;
    }
    IGNORE_FILES.iter().any(|ignore| stem.eq_ignore_ascii_case(ignore))
}

/// What a file is called among the copies; a directory keeps its name.
pub fn sealed_name(path: &str) -> Cow<'_, str> {
    let name = last_name(path);
    if is_renamed(name) { Cow::Owned(format!("{path}{SEALED}")) } else { Cow::Borrowed(path) }
}

/// Whether a directory of that name could lie where a file's copy belongs.
pub fn is_sealed_name(name: &str) -> bool {
    name.strip_suffix(SEALED).is_some_and(is_renamed)
}

impl Grounds {
    fn grant(&self, original: &str) -> Option<&Granted> {
        let plain = !original.split('/').any(|name| name == "." || name == "..");
        let fits = |granted: &&Granted| match granted.tree {
            true => lies_in(original, &granted.original),
            false => granted.original == original,
        };
        self.granted.iter().filter(|_| plain).find(fits)
    }

    /// Where the copy of a granted file or directory, or of what lies in one, is: none = it is not granted.
    pub fn copy_of(&self, original: &str) -> Option<String> {
        self.grant(original)?;
        let below = original.strip_prefix(self.root.as_str()).unwrap_or(original).trim_start_matches('/');
        let below = if self.is_tree(original) { Cow::Borrowed(below) } else { sealed_name(below) };
        let copies = self.copies.trim_end_matches('/');
        Some(if below.is_empty() { copies.to_owned() } else { format!("{copies}/{below}") })
    }

    /// Whether the path is a directory that was granted as such.
    pub fn is_tree(&self, original: &str) -> bool {
        self.granted.iter().any(|granted| granted.tree && granted.original == original)
    }
}

/// Where a quarantined agent stands when it calls.
#[derive(Debug)]
pub enum Standing {
    In(Inside),
    Out(Out),
}

/// What a decision needs of the session that an agent works in.
#[derive(Debug)]
pub struct Inside {
    pub review: ReviewId,
    pub grounds: Grounds,
    /// Life of the session's references, in seconds.
    pub ttl_s: u32,
    pub key: Key,
    /// The present, in unix seconds.
    pub now_s: u64,
}

/// Why a quarantined agent works in no session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Out {
    /// It has not used a reference yet.
    Unbound,
    /// It is bound to another session than its reference names.
    OtherSession,
    /// The session that its reference names did not grant it.
    Forged,
    /// The reference is older than it may be, or dated in the future.
    Expired,
    /// As many agents work as may.
    TooMany,
    /// Its time has passed.
    TimedOut,
    /// There is no such session, or none any more.
    NoSession,
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "3f2b8c1e-9d4a-4e6f-8a7b-0c1d2e3f4a5b";

    #[test]
    fn the_canonical_spelling_is_accepted() {
        assert_eq!(ReviewId::parse(ID).unwrap().as_str(), ID);
        assert!(ReviewId::parse(&uuid::Uuid::new_v4().to_string()).is_some());
    }

    #[test]
    fn every_other_spelling_is_refused() {
        for text in [
            "",
            &ID.to_uppercase(),
            &ID.replace('-', ""),
            &format!("{{{ID}}}"),
            &format!("urn:uuid:{ID}"),
            &format!(" {ID}"),
            &format!("{ID}\n"),
            &ID.replace("-4e6f", "-1e6f"),
            &ID.replace("-8a7b", "-ca7b"),
            &ID.replace('3', "é"),
        ] {
            assert_eq!(ReviewId::parse(text), None, "{text}");
        }
    }

    fn grounds(root: &str, granted: &[(&str, bool)]) -> Grounds {
        let granted =
            granted.iter().map(|(original, tree)| Granted { original: (*original).to_owned(), tree: *tree });
        Grounds { root: root.to_owned(), copies: "/run/c".to_owned(), granted: granted.collect() }
    }

    #[test]
    fn a_copy_is_found_of_what_is_granted_alone() {
        let two = grounds("/p", &[("/p/a/f", false), ("/p/d", true)]);
        for (original, copy) in [("/p/a/f", "/run/c/a/f"), ("/p/d", "/run/c/d"), ("/p/d/x/y", "/run/c/d/x/y")]
        {
            assert_eq!(two.copy_of(original).unwrap(), copy);
        }
        for foreign in ["/p", "/p/a", "/p/a/f/x", "/p/a/g", "/p/dd", "/p/d/../a/f", "/p/d/./x", "/etc/passwd"]
        {
            assert_eq!(two.copy_of(foreign), None, "{foreign}");
        }
    }

    #[test]
    fn ignore_files_lie_under_other_names() {
        let grounds = grounds("/p", &[("/p", true), ("/p/x/.ignore", true)]);
        let mut copies = std::collections::BTreeSet::new();
        for (original, copy) in [
            ("/p/.gitignore", "/run/c/.gitignore.sealed"),
            ("/p/.gitignore.sealed", "/run/c/.gitignore.sealed.sealed"),
            ("/p/.gitignore.sealed.sealed", "/run/c/.gitignore.sealed.sealed.sealed"),
            ("/p/.gitignore.SEALED", "/run/c/.gitignore.SEALED.sealed"),
            ("/p/a/.rgignore", "/run/c/a/.rgignore.sealed"),
            ("/p/a/.IGNORE", "/run/c/a/.IGNORE.sealed"),
            ("/p/.ignore/.ignore", "/run/c/.ignore/.ignore.sealed"),
            ("/p/.ignore/f", "/run/c/.ignore/f"),
            ("/p/x/.ignore", "/run/c/x/.ignore"),
            ("/p/a.gitignore", "/run/c/a.gitignore"),
            ("/p/f.sealed", "/run/c/f.sealed"),
            ("/p/.sealed", "/run/c/.sealed"),
        ] {
            assert_eq!(grounds.copy_of(original).unwrap(), copy);
            assert!(copies.insert(copy), "{copy}");
        }
        assert!(is_sealed_name(".gitignore.sealed") && !is_sealed_name(".gitignore"));
    }

    #[test]
    fn the_root_itself_and_the_root_of_all_can_be_named() {
        let whole = grounds("/p", &[("/p", true)]);
        assert_eq!(whole.copy_of("/p/x").unwrap(), "/run/c/x");
        assert_eq!(whole.copy_of("/p").unwrap(), "/run/c");
        let all = grounds("/", &[("/etc/f", false)]);
        assert_eq!(all.copy_of("/etc/f").unwrap(), "/run/c/etc/f");
    }
}
