//! The session's files as an agent may name them, mapped back to what they are called outside.

use std::collections::HashMap;

use super::flags::{Flag, Flags};
use crate::reference::{Seen, look};

/// One file of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReviewedFile<'a> {
    /// Where it was when the session began: absolute.
    pub original: &'a str,
    /// Where its sealed copy is: absolute.
    pub sealed: &'a str,
    /// How many lines it has.
    pub lines: u32,
}

/// All files of a session, found by any of their names.
pub(super) struct Places<'a> {
    files: &'a [ReviewedFile<'a>],
    by_name: HashMap<&'a str, usize>,
    root: &'a str,
    sealed_root: &'a str,
    /// Files whose copies have another name, the longest name first.
    renamed: Vec<&'a ReviewedFile<'a>>,
}

/// What stands in a reference besides letters and digits.
const IN_REFERENCE: &str = "._~-%?=&:/";

impl<'a> Places<'a> {
    pub fn new(files: &'a [ReviewedFile<'a>], root: &'a str, sealed_root: &'a str) -> Places<'a> {
        let (root, sealed_root) = (root.trim_end_matches('/'), sealed_root.trim_end_matches('/'));
        let mut by_name = HashMap::with_capacity(files.len() * 3);
        for (at, file) in files.iter().enumerate() {
            let relative = file.original.strip_prefix(root).and_then(|path| path.strip_prefix('/'));
            // The absolute names come first: a relative one that reads like another file's never takes its place.
            for name in [Some(file.original), Some(file.sealed), relative].into_iter().flatten() {
                by_name.entry(name).or_insert(at);
            }
        }
        // What a search shows of a copy; never in the place of a file's own name.
        for (at, file) in files.iter().enumerate() {
            let relative = file.sealed.strip_prefix(sealed_root).and_then(|path| path.strip_prefix('/'));
            if let Some(name) = relative {
                by_name.entry(name).or_insert(at);
            }
        }
        let mut renamed: Vec<_> = files
            .iter()
            .filter(|file| file.original.strip_prefix(root) != file.sealed.strip_prefix(sealed_root))
            .collect();
        crate::domain::sort_by_key(&mut renamed, |file| std::cmp::Reverse(file.sealed.len()));
        Places { files, by_name, root, sealed_root, renamed }
    }

    pub fn count(&self) -> usize {
        self.files.len()
    }

    /// The file that an agent names: by its reference, its path, its path below the root or its sealed copy's.
    pub fn file(&self, name: &str) -> Option<&'a ReviewedFile<'a>> {
        let at = match look(name, "") {
            Seen::Reference(reference) => {
                self.by_name.get(String::from_utf8_lossy(reference.path()).as_ref())
            }
            Seen::Malformed(_) => None,
            Seen::Plain => self.by_name.get(name.strip_prefix("./").unwrap_or(name)),
        };
        self.files.get(*at?)
    }

    /// `text` with the names that only the quarantined agent knows replaced: references by the file they name, or by a
    /// mark where they name none, and paths of sealed copies by those of the originals.
    pub fn outside(&self, text: &str, flags: &mut Flags) -> String {
        let mut mapped = self.without_references(text, flags);
        if self.sealed_root.is_empty() || !mapped.contains(self.sealed_root) {
            return mapped;
        }
        for file in self.renamed.iter().filter(|file| !file.sealed.is_empty()) {
            if mapped.contains(file.sealed) {
                mapped = mapped.replace(file.sealed, file.original);
            }
        }
        mapped.replace(self.sealed_root, self.root)
    }

    fn without_references(&self, text: &str, flags: &mut Flags) -> String {
        // Same length in bytes, so that places in one are places in the other.
        let lower = text.to_ascii_lowercase();
        let belongs = |c: char| c.is_ascii_alphanumeric() || IN_REFERENCE.contains(c);
        let mut out = String::with_capacity(text.len());
        let mut done = 0;
        for (found, _) in lower.match_indices("typed:/") {
            if found < done {
                continue;
            }
            // Claude Code shows a reference as a path below its directory.
            let before = text.get(done..found).unwrap_or_default();
            let path = before.strip_suffix('/').map_or(before, |cut| {
                cut.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || "._~-%/".contains(c))
            });
            out.push_str(path);
            let rest = text.get(found..).unwrap_or_default();
            let token = rest.split(|c| !belongs(c)).next().unwrap_or_default();
            let bare = token.trim_end_matches(['.', ':', '?', '/']);
            done = found + bare.len();
            match self.file(bare).or_else(|| self.file(&bare.replacen("typed:/%", "typed://%", 1))) {
                Some(file) => out.push_str(file.original),
                None => {
                    flags.insert(Flag::Reference);
                    out.push_str("[reference removed]");
                }
            }
        }
        out.push_str(text.get(done..).unwrap_or_default());
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Key, ReviewId};
    use crate::reference::Reference;

    const FILES: [ReviewedFile<'static>; 3] = [
        ReviewedFile { original: "/p/src/a b.rs", sealed: "/run/x/copies/src/a b.rs", lines: 3 },
        ReviewedFile { original: "/p/c.rs", sealed: "/run/x/copies/c.rs", lines: 9 },
        ReviewedFile { original: "/p/.ignore", sealed: "/run/x/copies/.ignore.sealed", lines: 1 },
    ];

    fn places() -> Places<'static> {
        Places::new(&FILES, "/p/", "/run/x/copies")
    }

    fn reference(path: &str) -> String {
        let id = ReviewId::parse("3f2b8c1e-9d4a-4e6f-8a7b-0c1d2e3f4a5b").unwrap();
        Reference::mint(&Key::new([3; 32]), path.as_bytes(), 1, &id, 60).unwrap().to_string()
    }

    #[test]
    fn every_name_of_a_file_leads_to_it() {
        let places = places();
        let text = reference("/p/src/a b.rs");
        for name in [
            "/p/src/a b.rs",
            "src/a b.rs",
            "./src/a b.rs",
            "/run/x/copies/src/a b.rs",
            &text,
            &format!("/p/{}", text.replacen("//", "/", 1)),
        ] {
            assert_eq!(places.file(name), FILES.first(), "{name}");
        }
        for name in [".ignore", ".ignore.sealed", "/run/x/copies/.ignore.sealed"] {
            assert_eq!(places.file(name), FILES.last(), "{name}");
        }
        for name in [
            "a b.rs",
            "/etc/passwd",
            "",
            "/p/src",
            "../p/c.rs",
            &reference("/etc/passwd"),
            "typed://%2Fp%2Fc.rs",
        ] {
            assert_eq!(places.file(name), None, "{name}");
        }
    }

    #[test]
    fn references_and_sealed_paths_do_not_leave() {
        let text = reference("/p/c.rs");
        let resolved = text.replacen("//", "/", 1);
        for (inside, outside) in [
            (format!("see {text}."), "see /p/c.rs.".to_owned()),
            (format!("({text}), `{text}`"), "(/p/c.rs), `/p/c.rs`".to_owned()),
            (format!("in /w/dir/{resolved} there"), "in /p/c.rs there".to_owned()),
            (format!("é{text}é"), "é/p/c.rsé".to_owned()),
            ("at /run/x/copies/c.rs:3".to_owned(), "at /p/c.rs:3".to_owned()),
            ("in /run/x/copies/.ignore.sealed too".to_owned(), "in /p/.ignore too".to_owned()),
            ("it is typed: see above".to_owned(), "it is typed: see above".to_owned()),
        ] {
            let mut flags = Flags::new();
            assert_eq!(places().outside(&inside, &mut flags), outside);
            assert!(flags.is_empty());
        }
        let forged =
            [reference("/etc/passwd"), text.to_uppercase(), "TYPED:/x".to_owned(), format!("{text}0")];
        for inside in forged {
            let mut flags = Flags::new();
            assert_eq!(places().outside(&format!("a {inside} b"), &mut flags), "a [reference removed] b");
            assert_eq!(flags, Flags::from([Flag::Reference]));
        }
    }
}
