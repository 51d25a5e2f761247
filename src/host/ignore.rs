//! What git ignores in a work tree: its own small reader of gitignore files, without git and without its index. So a
//! tracked file that matches a pattern counts as ignored, which git would deny.

use super::facts::{common_git_dir, git_dir};
use super::files::{self, Links};
use super::places;
use crate::domain::{join, last_name, lies_in};

/// Longest file of patterns that is read.
const MAX_FILE: u64 = 256 * 1024;
/// Most work over all questions; beyond, nothing counts as ignored. One pattern against one name costs 1, and 1 more for
/// each 64 pairs of their bytes.
const MAX_WORK: usize = 500_000;
/// Most names in a path.
const MAX_DEPTH: usize = 128;

/// The patterns of one work tree, read as they are needed.
pub struct Ignore {
    /// The work tree, as it was named and with symbolic links resolved.
    repo: String,
    real_repo: Option<String>,
    excludes: Option<String>,
    /// By file: what it holds, or that it cannot be used.
    read: Vec<(String, Option<Patterns>)>,
    /// By directory: whether it is the top of a work tree.
    tops: Vec<(String, bool)>,
    /// By work tree: the patterns of its own git directory.
    infos: Vec<(String, Option<String>)>,
    /// The directory of the path before: hundreds of files of one directory are asked about one after the other.
    near: Option<Near>,
    left: usize,
}

struct Patterns(Vec<Pattern>);

struct Pattern {
    glob: Vec<u8>,
    negated: bool,
    directory_only: bool,
    /// Matches the last name only; otherwise the whole path from the file's directory on.
    by_name: bool,
}

/// What holds of all in one directory.
struct Near {
    dir: String,
    /// It is ignored itself, or lies in what is.
    ignored: bool,
    /// The files of patterns that speak of what is in it, the nearest last: their places in `read`, and where their paths begin.
    files: Vec<(usize, String)>,
}

/// What is beyond the bounds: nothing is said to be ignored.
struct Beyond;

impl Ignore {
    pub fn new(repo: &str, home: Option<&str>) -> Ignore {
        Ignore {
            repo: repo.to_owned(),
            real_repo: None,
            excludes: home.map(|home| join(home, ".config/git/ignore")),
            read: Vec::new(),
            tops: Vec::new(),
            infos: Vec::new(),
            near: None,
            left: MAX_WORK,
        }
    }

    /// Whether git ignores what is at `path`: absolute, normalised, without symbolic links (but for the last name).
    pub fn ignores(&mut self, path: &str, directory: bool) -> bool {
        let Some(path) = self.below_repo(path) else { return false };
        // Patterns like `*` match git's own directory too.
        if path.split('/').any(|name| name == ".git") {
            return false;
        }
        self.check(&path, directory).unwrap_or(false)
    }

    /// The path, when it lies below the repository by one of its two names.
    fn below_repo(&mut self, path: &str) -> Option<String> {
        if path != self.repo && lies_in(path, &self.repo) {
            return Some(path.to_owned());
        }
        let repo = &self.repo;
        let real = self.real_repo.get_or_insert_with(|| super::facts::real_path(repo));
        let rest = path.strip_prefix(real.as_str())?.strip_prefix('/')?;
        Some(join(&self.repo, rest))
    }

    fn check(&mut self, path: &str, directory: bool) -> Result<bool, Beyond> {
        // A repository inside this one has its own rules, and is not itself something that can be made again.
        if directory && places::has_git(path) {
            return Ok(false);
        }
        let dir = places::upwards(path).nth(1).ok_or(Beyond)?;
        let near = match self.near.take() {
            Some(near) if near.dir == dir => near,
            Some(_) | None => self.near(dir)?,
        };
        let ignored = if near.ignored { Ok(true) } else { self.excluded(&near.files, path, directory) };
        self.near = Some(near);
        ignored
    }

    /// What holds of all in a directory.
    fn near(&mut self, dir: &str) -> Result<Near, Beyond> {
        let mut above: Vec<&str> = places::upwards(dir).take(MAX_DEPTH).collect();
        let top = above.iter().position(|dir| *dir == self.repo || self.is_top(dir)).ok_or(Beyond)?;
        above.truncate(top + 1);
        above.reverse();
        let Some(root) = above.first().copied() else { return Err(Beyond) };
        let mut files = Vec::new();
        for file in self.excludes.clone().into_iter().chain(self.info(root)) {
            files.push((self.at(&file, Links::Follow), root.to_owned()));
        }
        files.push((self.at(&join(root, ".gitignore"), Links::Refuse), root.to_owned()));
        // From the top down: what lies in an ignored directory is ignored, whatever is written further down.
        let mut ignored = false;
        for dir in above.iter().skip(1) {
            ignored = ignored || self.excluded(&files, dir, true)?;
            if ignored {
                break;
            }
            files.push((self.at(&join(dir, ".gitignore"), Links::Refuse), (*dir).to_owned()));
        }
        Ok(Near { dir: dir.to_owned(), ignored, files })
    }

    /// The place of a file of patterns, which is read when it is first asked for.
    fn at(&mut self, file: &str, links: Links) -> usize {
        self.read.iter().position(|(known, _)| known == file).unwrap_or_else(|| {
            self.read.push((file.to_owned(), load(file, links)));
            self.read.len() - 1
        })
    }

    fn is_top(&mut self, dir: &str) -> bool {
        if let Some((_, top)) = self.tops.iter().rev().find(|(known, _)| known == dir) {
            return *top;
        }
        let top = places::has_git(dir);
        self.tops.push((dir.to_owned(), top));
        top
    }

    fn info(&mut self, root: &str) -> Option<String> {
        if let Some((_, info)) = self.infos.iter().find(|(known, _)| known == root) {
            return info.clone();
        }
        let info = git_dir(root).map(|dir| join(&common_git_dir(&dir), "info/exclude"));
        self.infos.push((root.to_owned(), info.clone()));
        info
    }

    /// Whether a pattern of these files excludes `entry` itself. The last ones speak first.
    fn excluded(&mut self, files: &[(usize, String)], entry: &str, directory: bool) -> Result<bool, Beyond> {
        for (file, base) in files.iter().rev() {
            if let Some(verdict) = self.verdict(*file, (base, entry, directory))? {
                return Ok(verdict);
            }
        }
        Ok(false)
    }

    /// What the last pattern of a file that matches says: ignored, or (negated) not.
    fn verdict(&mut self, file: usize, at: (&str, &str, bool)) -> Result<Option<bool>, Beyond> {
        let (base, entry, directory) = at;
        let Some((_, Some(patterns))) = self.read.get(file) else { return Err(Beyond) };
        let inside = entry.strip_prefix(base.strip_suffix('/').unwrap_or(base)).unwrap_or(entry);
        let inside = inside.trim_start_matches('/');
        let name = last_name(inside);
        for pattern in patterns.0.iter().rev() {
            let text = if pattern.by_name { name } else { inside };
            let work = 1 + pattern.glob.len().saturating_mul(text.len()) / 64;
            self.left = self.left.checked_sub(work).ok_or(Beyond)?;
            if pattern.directory_only && !directory {
                continue;
            }
            if matches(&pattern.glob, text.as_bytes()) {
                return Ok(Some(!pattern.negated));
            }
        }
        Ok(None)
    }
}

/// The patterns of a file; none when it is there and cannot be used. A `.gitignore` that is a link does not count, as with
/// git.
fn load(file: &str, links: Links) -> Option<Patterns> {
    match files::read(file, MAX_FILE, links) {
        Ok(None) | Err(files::Unreadable::Refused(rustix::io::Errno::LOOP)) => Some(Patterns(Vec::new())),
        Ok(Some(bytes)) => Some(parse(&bytes)),
        Err(files::Unreadable::NotAFile) => Some(Patterns(Vec::new())),
        Err(_) => None,
    }
}

fn parse(bytes: &[u8]) -> Patterns {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    Patterns(bytes.split(|byte| *byte == b'\n').filter_map(pattern).collect())
}

fn pattern(line: &[u8]) -> Option<Pattern> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.starts_with(b"#") {
        return None;
    }
    let line = without_trailing_blanks(line);
    let (negated, line) = line.strip_prefix(b"!").map_or((false, line), |rest| (true, rest));
    let (directory_only, line) = line.strip_suffix(b"/").map_or((false, line), |rest| (true, rest));
    if line.is_empty() {
        return None;
    }
    let by_name = !line.contains(&b'/');
    let glob = line.strip_prefix(b"/").unwrap_or(line).to_vec();
    Some(Pattern { glob, negated, directory_only, by_name })
}

/// Blanks at the end do not count, unless a backslash stands before them.
fn without_trailing_blanks(line: &[u8]) -> &[u8] {
    let mut end = 0;
    let mut escaped = false;
    for (at, byte) in line.iter().enumerate() {
        if *byte != b' ' || escaped {
            end = at + 1;
        }
        escaped = *byte == b'\\' && !escaped;
    }
    line.get(..end).unwrap_or(line)
}

/// Git's glob over bytes: `*` and `?` stop at slashes, `**` between slashes does not, `[…]` with ranges and classes, `\` takes
/// the next byte as it is. Goes back at most to the last `*` and the last `**`, so the work is bounded by the product of
/// the lengths.
fn matches(glob: &[u8], text: &[u8]) -> bool {
    let (mut g, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    let mut deep: Option<(usize, usize)> = None;
    loop {
        if let Some((next, any_depth)) = stars(glob, g) {
            g = next;
            if any_depth {
                (deep, star) = (Some((g, t)), None);
            } else {
                star = Some((g, t));
            }
            continue;
        }
        let step = match (glob.get(g), text.get(t)) {
            (None, None) => return true,
            (Some(_), Some(byte)) => one(glob, g, *byte),
            _ => None,
        };
        if let Some(next) = step {
            (g, t) = (next, t + 1);
            continue;
        }
        if let Some((after, from)) = star.filter(|(_, from)| text.get(*from).is_some_and(|b| *b != b'/')) {
            star = Some((after, from + 1));
            (g, t) = (after, from + 1);
            continue;
        }
        let Some((after, from)) = deep else { return false };
        let Some(next) = next_start(glob, after, text, from) else { return false };
        (deep, star) = (Some((after, next)), None);
        (g, t) = (after, next);
    }
}

/// Where `**` may begin anew: after the next slash, or, at the end of the pattern, anywhere.
fn next_start(glob: &[u8], after: usize, text: &[u8], from: usize) -> Option<usize> {
    if after >= glob.len() {
        return (from < text.len()).then_some(from + 1);
    }
    let rest = text.get(from..)?;
    rest.iter().position(|byte| *byte == b'/').map(|at| from + at + 1)
}

/// The stars at `g`, if any: where the pattern goes on, and whether they cross slashes.
fn stars(glob: &[u8], g: usize) -> Option<(usize, bool)> {
    let count = glob.get(g..)?.iter().take_while(|byte| **byte == b'*').count();
    let end = g + count;
    let begins = g == 0 || glob.get(g - 1) == Some(&b'/');
    match (count, glob.get(end)) {
        (0, _) => None,
        (2.., Some(b'/')) if begins => Some((end + 1, true)),
        (2.., None) if begins => Some((end, true)),
        _ => Some((end, false)),
    }
}

/// The place in the pattern after one element that takes `byte`.
fn one(glob: &[u8], g: usize, byte: u8) -> Option<usize> {
    match glob.get(g)? {
        b'?' => (byte != b'/').then_some(g + 1),
        b'[' => set(glob, g + 1, byte),
        b'\\' => (*glob.get(g + 1)? == byte).then_some(g + 2),
        literal => (*literal == byte).then_some(g + 1),
    }
}

/// A `[…]` whose content begins at `g`.
fn set(glob: &[u8], mut g: usize, byte: u8) -> Option<usize> {
    let negated = matches!(glob.get(g)?, b'!' | b'^');
    g += usize::from(negated);
    let first = g;
    let mut found = false;
    let mut previous: Option<u8> = None;
    loop {
        let here = *glob.get(g)?;
        match here {
            b']' if g > first => break,
            b'-' if previous.is_some() && glob.get(g + 1).is_some_and(|next| *next != b']') => {
                let escaped = glob.get(g + 1) == Some(&b'\\');
                g += 1 + usize::from(escaped);
                let high = *glob.get(g)?;
                found |= previous.is_some_and(|low| low <= byte && byte <= high);
                previous = None;
            }
            b'[' if glob.get(g + 1) == Some(&b':') => {
                let name = glob.get(g + 2..)?;
                let length = name.iter().position(|byte| *byte == b']')?;
                match name.get(..length)?.strip_suffix(b":") {
                    Some(class) => {
                        found |= in_class(class, byte)?;
                        g += 2 + length;
                    }
                    // No class after all: a bracket like any other byte.
                    None => found |= byte == b'[',
                }
                previous = None;
            }
            b'\\' => {
                g += 1;
                let literal = *glob.get(g)?;
                found |= literal == byte;
                previous = Some(literal);
            }
            literal => {
                found |= literal == byte;
                previous = Some(literal);
            }
        }
        g += 1;
    }
    (found != negated && byte != b'/').then_some(g + 1)
}

/// Whether a byte is of a named class; nothing for a name that is none.
fn in_class(class: &[u8], byte: u8) -> Option<bool> {
    Some(match class {
        b"alnum" => byte.is_ascii_alphanumeric(),
        b"alpha" => byte.is_ascii_alphabetic(),
        b"blank" => matches!(byte, b' ' | b'\t'),
        b"cntrl" => byte.is_ascii_control(),
        b"digit" => byte.is_ascii_digit(),
        b"graph" => byte.is_ascii_graphic(),
        b"lower" => byte.is_ascii_lowercase(),
        b"print" => byte.is_ascii_graphic() || byte == b' ',
        b"punct" => byte.is_ascii_punctuation(),
        b"space" => byte.is_ascii_whitespace() || byte == 0x0b,
        b"upper" => byte.is_ascii_uppercase(),
        b"xdigit" => byte.is_ascii_hexdigit(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_globs_end() {
        let text = "a/".repeat(2000);
        for glob in ["*a*a*a*a*b".repeat(50), "**/a/".repeat(300) + "b", "*/".repeat(500) + "b"] {
            assert!(!matches(glob.as_bytes(), text.as_bytes()));
        }
    }
}
