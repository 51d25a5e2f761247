//! Where an argument points, how bad it is to lose what is there, and whether it can be made again.

use crate::domain::client::PROGRAMS;
use crate::domain::{PathFact, PathKind, Places, Target, join, last_name};
use crate::rules::builtin::lists::{CACHES, HOMES, PACKAGE_CACHES, SYSTEM_DIRS};
use crate::rules::matcher::is_everything;
use crate::shell::{Arg, Piece};

/// Longest path that a system takes, in bytes.
pub(in crate::rules) const MAX_PATH: usize = 4096;

words!("survey/paths");

/// Of the first level, what is neither a directory of the operating system nor one of homes, and as vital.
const VITAL: &[&str] = &["/dev", "/private"];

/// Whether losing this directory loses the system or everybody's files.
fn is_system(path: &str) -> bool {
    SYSTEM_DIRS.contains(&path) || HOMES.contains(&path) || VITAL.contains(&path)
}

/// Whether a directory of the system or of homes has a name that begins so.
pub(super) fn is_beginning_of_system(name: &str) -> bool {
    let begins = |dir: &&&str| dir.trim_start_matches('/').starts_with(name);
    SYSTEM_DIRS.iter().chain(HOMES).chain(VITAL).any(|dir| begins(&dir))
}

/// The path that an argument names for a command run in `cwd`.
pub(super) fn target(arg: &Arg, cwd: Option<&str>, recursive: bool) -> Target {
    let prefix = arg.prefix();
    let absolute = prefix.starts_with('/');
    if arg.has_unknown() {
        let base = if absolute { Some("/") } else { cwd };
        let known = match base {
            Some(base) if !prefix.is_empty() => {
                let mut known = join(base, prefix);
                if prefix.ends_with('/') && known.len() > 1 {
                    known.push('/');
                }
                known
            }
            // What is unknown may be absolute.
            _ => String::new(),
        };
        let tail = if absolute || cwd.is_some() { arg.tail() } else { arg.below() };
        return Target::UnknownPath { known, tail, recursive };
    }
    match if absolute { Some("/") } else { cwd } {
        Some(base) => {
            let path = join(base, &arg.text());
            let path = in_own_words(&path, cwd).unwrap_or(path);
            // A directory that a loop over a pattern goes to is a pattern itself.
            let glob = arg.has_glob() || base.contains('*');
            Target::Path { path, glob, recursive }
        }
        None => Target::UnknownPath { known: String::new(), tail: arg.below(), recursive },
    }
}

/// A path through the system's list of processes, without that detour: what asks is not the process that is meant.
fn in_own_words(path: &str, cwd: Option<&str>) -> Option<String> {
    let rest = ["/proc/self/", "/proc/thread-self/"].iter().find_map(|start| path.strip_prefix(start))?;
    let (link, rest) = rest.split_once('/').unwrap_or((rest, ""));
    match link {
        "cwd" => Some(join(cwd?, rest)),
        "root" => Some(join("/", rest)),
        _ => None,
    }
}

/// `path` is `dir` or has a name below it; `dir/`, of which the name is not known yet, is neither.
pub(super) fn is_or_has_name_below(path: &str, dir: &str) -> bool {
    below(path, dir) || path == dir
}

/// `path` lies below `dir`.
pub(super) fn below(path: &str, dir: &str) -> bool {
    let dir = dir.trim_end_matches('/');
    path.strip_prefix(dir).is_some_and(|rest| rest.len() > 1 && rest.starts_with('/'))
}

/// The directories that are worked in.
fn roots(places: &Places) -> impl Iterator<Item = &str> {
    places.repo.iter().chain(&places.project).map(String::as_str)
}

/// A path in the repository or the project, without what leads there.
pub(super) fn in_project<'p>(path: &'p str, places: &Places) -> Option<&'p str> {
    roots(places)
        .filter(|root| *root != "/" && is_or_has_name_below(path, root))
        .find_map(|root| path.get(root.len()..))
}

/// The directory of a pattern, and what follows it.
pub(super) fn split_glob(path: &str) -> (&str, &str) {
    let glob = path.find(['*', '?', '[']).unwrap_or(path.len());
    let end = path.get(..glob).and_then(|start| start.rfind('/')).unwrap_or(0);
    let dir = path.get(..end).unwrap_or_default();
    (if dir.is_empty() { "/" } else { dir }, path.get(end..).unwrap_or_default())
}

/// Whether losing it loses the machine, somebody's files or the repository.
pub(super) fn is_vital(path: &str, glob: bool, recursive: bool, places: &Places) -> bool {
    let mut deep = false;
    let (path, all) = match path.rsplit_once('/') {
        Some((dir, last)) if glob && is_everything(last) => {
            deep = last == "**";
            let dir = dir.trim_end_matches("/**").trim_end_matches("/*");
            (if dir.is_empty() { "/" } else { dir }, true)
        }
        _ => (path, false),
    };
    if all && !recursive && !deep && roots(places).any(|root| path == root) {
        // The files at the top, not what is below them.
        return false;
    }
    if glob && !all {
        let (start, rest) = split_glob(path);
        if !rest.is_empty() && !start.is_empty() && rest.contains(['*', '?', '[']) {
            // `/*/bin`, `/home/*`: vital when what it stands in is.
            return recursive && (start == "/" || is_system(start)) && rest.matches('/').count() == 1;
        }
    }
    let holds = |place: &str| path == place || below(place, path);
    path == "/"
        || is_system(path)
        || places.home.as_deref().is_some_and(holds)
        || roots(places).any(|root| holds(root) || is_git_of(path, root))
}

/// Whether nothing lies below a path: `rm -r FILE` is `rm FILE`. A file of git's own is a part of the repository.
pub(super) fn is_one_file(path: &str, fact: Option<&PathFact>) -> bool {
    fact.is_some_and(|fact| fact.kind == PathKind::File)
        && !path.split('/').any(|part| part.eq_ignore_ascii_case(".git"))
}

/// Whether a path is git's own directory at the top of a work tree.
fn is_git_of(path: &str, root: &str) -> bool {
    path.strip_suffix("/.git").is_some_and(|top| top == root.trim_end_matches('/'))
}

/// Whether the known beginning of a path is one below which nothing may be lost blindly.
pub(super) fn is_vital_start(known: &str, places: &Places) -> bool {
    let path = known.trim_end_matches('/');
    path.is_empty()
        || (known.ends_with('/')
            && (is_system(path)
                || places.home.as_deref().is_some_and(|home| path == home || below(home, path))))
}

/// Whether what is lost there can be made again; `ignored`: git ignores it.
pub(super) fn is_disposable(path: &str, ignored: bool, places: &Places) -> bool {
    if let Some(inside) = in_project(path, places) {
        let last = last_name(inside);
        if last.starts_with(".env") {
            return false;
        }
        return (ignored && !inside.is_empty()) || is_build_output(inside) || is_left_by_git(inside);
    }
    if let Some(home) =
        places.home.as_deref().filter(|home| is_or_has_name_below(path, home) || below(home, path))
    {
        let inside = path.get(home.len()..).unwrap_or_default().trim_start_matches('/');
        return below(path, home)
            && (is_cache(inside) || is_trial(inside) || is_lock(inside) || is_remade(inside));
    }
    if PACKAGE_CACHES.iter().any(|cache| is_or_has_name_below(path, cache)) || is_pid_file(path) {
        return true;
    }
    places.temp.iter().any(|temp| {
        below(path, temp) && !is_everything(path.get(temp.len()..).unwrap_or_default().trim_matches('/'))
    })
}

/// Whether a path is that of a file in which a service keeps its number while it runs.
fn is_pid_file(path: &str) -> bool {
    ["/run", "/var/run"].iter().any(|dir| below(path, dir))
        && path.ends_with(".pid")
        && !path.contains(['*', '?', '['])
        && !path.contains("lazaret")
}

/// Whether a path is one of a program that was installed beside the system's own, and can be again.
pub(super) fn is_installed(path: &str) -> bool {
    const DIRS: &[&str] = &["/usr/local/bin", "/usr/local/lib", "/usr/local/share", "/usr/local/include"];
    let guards = path.rsplit('/').next().is_some_and(|name| name == "lazaret" || PROGRAMS.contains(&name));
    !guards && DIRS.iter().any(|dir| below(path, dir))
}

/// Whether a path below the home directory is, or lies in, a cache that the tool it belongs to fills again.
fn is_cache(inside: &str) -> bool {
    CACHES.iter().any(|cache| match cache.strip_suffix('/') {
        Some(dir) => {
            let name = inside.strip_prefix(dir).and_then(|rest| rest.strip_prefix('/')).unwrap_or_default();
            !name.is_empty() && !name.split('/').next().is_some_and(is_everything)
        }
        None => is_or_has_name_below(inside, cache),
    })
}

/// Whether a path below the home directory is, or lies in, what a package manager or a test run of some project makes again.
fn is_remade(inside: &str) -> bool {
    let mut parts = inside.split('/').filter(|part| !part.is_empty());
    // `~/lib/node_modules` and what lies in hidden directories are installed for everything.
    let around = parts.by_ref().take_while(|part| !REMADE.contains(part));
    let mut owners = 0;
    let plain = around.inspect(|_| owners += 1).all(|part| !part.starts_with('.') && part != "lib");
    plain
        && owners > 0
        && inside.split('/').any(|part| REMADE.contains(&part))
        && !inside.contains("..")
        && !inside.contains(['*', '?', '['])
}

/// Whether a path below the home directory is a mark that a tool which was ended has left, and that keeps the next one out.
fn is_lock(inside: &str) -> bool {
    const KEPT: &[&str] = &[".android/avd/", ".gradle/", ".npm/", ".pub-cache/"];
    let last = last_name(inside);
    let marked = last.ends_with(".lock") && KEPT.iter().any(|dir| inside.starts_with(dir));
    (marked || inside == ".cargo/.package-cache") && !inside.contains("..")
}

/// Whether a path below the home directory is what a program keeps of its trials: `.local/share/shop/test-profile`.
fn is_trial(inside: &str) -> bool {
    const DATA: &[&str] = &[".local/share/", ".local/state/", "Library/Application Support/"];
    const WORDS: &[&str] = &["test", "tests", "testing", "e2e", "tmp", "temp", "scratch", "cache"];
    let rest = DATA.iter().find_map(|dir| inside.strip_prefix(dir)).and_then(|rest| rest.split_once('/'));
    rest.is_some_and(|(_, kept)| {
        let name = kept.split('/').next().unwrap_or_default();
        name.split(['-', '_', '.']).any(|word| WORDS.contains(&word)) && !kept.contains("..")
    })
}

/// Whether a relative path is, or lies in, what a build makes.
pub fn is_build_output(path: &str) -> bool {
    let mut parts = path.split('/').filter(|part| !part.is_empty() && *part != ".").peekable();
    while let Some(part) = parts.next() {
        // What git keeps is no output, whatever its branches are called.
        if matches!(part, ".." | ".git") {
            return false;
        }
        let last = parts.peek().is_none();
        if BUILD_DIRS.contains(&part) || (last && BUILD_ENDS.iter().any(|end| part.ends_with(end))) {
            // Whatever comes behind must not lead out again.
            return parts.all(|part| part != "..");
        }
    }
    false
}

/// Whether git leaves a file of that name behind and needs it no more, or an editor beside one of git's.
fn is_left_by_git(inside: &str) -> bool {
    const LEFT: &[&str] = &["MERGE_MSG", "SQUASH_MSG", "COMMIT_EDITMSG", "gc.log", "FETCH_HEAD"];
    /// Of a rebase that broke off: git itself says to delete them.
    const REBASES: &[&str] = &["rebase-merge", "rebase-apply"];
    let Some(name) = inside.strip_prefix("/.git/") else { return false };
    LEFT.contains(&name)
        || REBASES.contains(&name.trim_end_matches('/'))
        || !name.contains('/') && name.ends_with(".swp")
        || name.strip_prefix("hooks/").is_some_and(|hook| !hook.contains('/') && hook.ends_with(".sample"))
}

/// Whether a read of it is worth a question: hidden files, and whatever lies elsewhere.
pub(super) fn is_worth_asking(path: &str, places: &Places) -> bool {
    let inside = in_project(path, places).or_else(|| {
        places
            .temp
            .iter()
            .filter(|temp| is_or_has_name_below(path, temp))
            .find_map(|temp| path.get(temp.len()..))
    });
    inside.is_none_or(|inside| inside.contains("/."))
}

/// Below /dev, and not a device that keeps anything.
pub(super) fn is_harmless_device(path: &str) -> bool {
    path.strip_prefix("/dev/").is_some_and(|name| {
        matches!(
            name,
            "null" | "zero" | "full" | "stdin" | "stdout" | "stderr" | "tty" | "random" | "urandom"
        ) || name.starts_with("fd/")
            || name.starts_with("pts/")
            // A board at a serial line.
            || ["ttyUSB", "ttyACM", "ttyS", "cu.usb", "tty.usb"].iter().any(|line| name.starts_with(line))
    })
}

/// A device that what is written to it changes.
pub(super) fn is_device(path: &str) -> bool {
    path.starts_with("/dev/")
        && !["/dev/shm/", "/dev/tcp/", "/dev/udp/"].iter().any(|place| path.starts_with(place))
        && !is_harmless_device(path)
}

/// Whether a part of a word is longer than any path.
pub(super) fn is_too_long(piece: &Piece) -> bool {
    match piece {
        Piece::Known(text) | Piece::Glob(text) => text.len() > MAX_PATH,
        Piece::Unknown => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places() -> Places {
        Places {
            home: Some("/home/u".to_owned()),
            repo: Some("/home/u/repo".to_owned()),
            project: Some("/home/u/repo".to_owned()),
            temp: vec!["/tmp".to_owned(), "/var/tmp".to_owned()],
            ..Places::default()
        }
    }

    #[test]
    fn vital_places() {
        for path in ["/", "/etc", "/home", "/home/u", "/home/u/repo", "/home/u/repo/.git", "/usr"] {
            assert!(is_vital(path, false, true, &places()), "{path}");
        }
        for path in ["/*", "/home/u/*", "/home/u/.*", "/home/u/repo/*", "/home/*", "/home/u/repo/**"] {
            assert!(is_vital(path, true, true, &places()), "{path}");
        }
        for path in ["/tmp", "/tmp/x", "/home/u/repo/src", "/etc/hosts", "/home/u/other"] {
            assert!(!is_vital(path, false, true, &places()), "{path}");
        }
        for path in [
            "/tmp/*",
            "/home/u/repo/*.o",
            "/home/u/repo/src/*",
            "/home/u/repo/**/*.pyc",
            "/home/u/repo/*/dist",
        ] {
            assert!(!is_vital(path, true, true, &places()), "{path}");
        }
    }

    #[test]
    fn disposable_places() {
        for path in [
            "/home/u/repo/target",
            "/home/u/repo/a/node_modules/x",
            "/home/u/repo/x.pyc",
            "/tmp/x",
            "/tmp/a*",
        ] {
            assert!(is_disposable(path, false, &places()), "{path}");
        }
        for path in
            ["/home/u/repo/src", "/tmp", "/tmp/*", "/home/u/target", "/target", "/home/u/repo", "/var/lib"]
        {
            assert!(!is_disposable(path, false, &places()), "{path}");
        }
        for path in [
            "/home/u/.cache/pip",
            "/home/u/.npm/_cacache",
            "/home/u/go/pkg/mod/x",
            "/home/u/Library/Caches/x",
            "/home/u/.cache/x/**",
            "/home/u/.android/avd/x.avd/*.lock",
            "/home/u/.cargo/.package-cache",
            "/home/u/.gradle/wrapper/dists/gradle-8.7-bin",
            "/var/lib/apt/lists/*",
        ] {
            assert!(is_disposable(path, false, &places()), "{path}");
        }
        for path in [
            "/home/u/.cache",
            "/home/u/.android/avd/x.avd",
            "/home/u/proj/yarn.lock",
            "/home/u/.cache/*",
            "/home/u/.npm",
            "/home/u/.cargo",
            "/home/u/.cargo/bin",
        ] {
            assert!(!is_disposable(path, false, &places()), "{path}");
        }
        assert!(is_disposable("/home/u/repo/gen", true, &places()));
        assert!(!is_disposable("/home/u/repo/.env", true, &places()));
        assert!(!is_disposable("/home/u/repo", true, &places()));
    }

    #[test]
    fn a_repository_in_a_temporary_directory_is_not_disposable() {
        let places =
            Places { repo: Some("/tmp/r".to_owned()), temp: vec!["/tmp".to_owned()], ..Places::default() };
        assert!(!is_disposable("/tmp/r/src", false, &places));
        assert!(is_disposable("/tmp/other", false, &places));
        assert!(is_vital("/tmp/r", false, true, &places));
        assert!(is_vital("/tmp", false, true, &places));
    }

    #[test]
    fn reads_that_are_worth_a_question() {
        assert!(!is_worth_asking("/home/u/repo/README.md", &places()));
        assert!(!is_worth_asking("/tmp/x", &places()));
        assert!(is_worth_asking("/home/u/repo/.env", &places()));
        assert!(is_worth_asking("/etc/shadow", &places()));
    }

    #[test]
    fn globs_are_split_at_their_directory() {
        assert_eq!(split_glob("/a/b/*.o"), ("/a/b", "/*.o"));
        assert_eq!(split_glob("/*"), ("/", "/*"));
        assert_eq!(split_glob("/a/b*/c"), ("/a", "/b*/c"));
    }
}
