//! Names of what a descriptor leads to: by a process's list of them, by a link that the call has made, from within their directory.

use super::call::Call;
use super::paths;
use super::scope::Scope;
use super::{Stdin, Surveyor};
use crate::domain::{OneOf, Target, join};
use crate::shell::{Arg, Piece};

/// The name of standard input as a file, however it was written.
pub(super) const STDIN: &str = "/dev/stdin";

/// Most links that are followed; the system itself follows no more.
const HOPS: usize = 40;

/// The directories in which files are named that are none.
const SPECIAL: &[&str] = &["/dev", "/proc"];
static NAMED: OneOf<{ SPECIAL.len() }> = OneOf::new(SPECIAL);

impl Surveyor<'_> {
    /// The same for the words of a command. What it was not given may be anything, by whichever name.
    pub(super) fn name_plainly(&self, call: &mut Call, scope: &Scope) {
        let cwd = call.cwd.as_deref();
        let is_given = call.stdin != Stdin::Inherited;
        for word in &mut call.words {
            if self.may_name(word, cwd) {
                let mut named = word.clone();
                self.named_plainly(&mut named, scope, cwd);
                if is_given || named.known() != Some(STDIN) {
                    *word = named;
                }
            }
        }
    }

    /// Gives an argument that names a descriptor its usual name, or that of the file on which it is open.
    pub(super) fn named_plainly(&self, arg: &mut Arg, scope: &Scope, cwd: Option<&str>) {
        if !self.may_name(arg, cwd) {
            return;
        }
        let text = arg.text();
        let base = if text.starts_with('/') { Some("/") } else { cwd };
        let Some(path) = base.map(|base| self.led(join(base, &text))) else { return };
        let Some(number) = descriptor(&path) else {
            self.named_below(arg, &path, scope);
            return;
        };
        let name = match (scope.opened(number), number) {
            (Some(Target::Path { path, .. }), 1..) => path.clone(),
            (_, 0) => STDIN.to_owned(),
            (_, 1 | 2) => return,
            (_, number) => format!("/dev/fd/{number}"),
        };
        arg.pieces = vec![Piece::Known(name)].into();
    }

    /// The same of what lies below the directory on which a descriptor is open: `exec 3< DIR; rm /dev/fd/3/x`.
    fn named_below(&self, arg: &mut Arg, path: &str, scope: &Scope) {
        let below = path.match_indices('/').find_map(|(at, _)| {
            let (front, rest) = path.split_at_checked(at)?;
            Some((descriptor(front).filter(|number| *number > 2)?, rest))
        });
        let Some((number, rest)) = below else { return };
        let Some(Target::Path { path: dir, glob: false, .. }) = scope.opened(number) else { return };
        // What is a sign of patterns stays one.
        let name = format!("/fd/{number}");
        let known = match arg.pieces.split_first() {
            Some((Piece::Known(front), tail)) => front.split_once(&name).map(|(_, rest)| (rest, tail)),
            _ => None,
        };
        let (rest, tail) = known.filter(|_| arg.has_glob()).unwrap_or((rest, &[]));
        let front = Piece::Known(format!("{}{rest}", dir.trim_end_matches('/')));
        arg.pieces = std::iter::once(front).chain(tail.iter().cloned()).collect::<Vec<_>>().into();
    }

    /// Whether an argument may name a descriptor; nearly none does.
    fn may_name(&self, arg: &Arg, cwd: Option<&str>) -> bool {
        let start = arg.prefix();
        if start.starts_with('-') || arg.has_glob() && !start.contains("/fd/") {
            return false;
        }
        let within = |dir: &&str| cwd.is_some_and(|cwd| paths::is_or_has_name_below(cwd, dir));
        !self.links.is_empty() || NAMED.stands_in(start) || SPECIAL.iter().any(within)
    }

    /// Where a path leads by the links that the call itself has made.
    pub(super) fn led(&self, mut path: String) -> String {
        for _ in 0..HOPS {
            let leads = |(link, _): &&(String, String)| path == *link || paths::below(&path, link);
            let Some((link, to)) = self.links.iter().rev().find(leads) else { break };
            let next = join(to, path.get(link.len()..).unwrap_or_default().trim_start_matches('/'));
            if next == path {
                break;
            }
            path = next;
        }
        path
    }
}

impl Surveyor<'_> {
    /// Where a path leads when each link on its way is followed before the name behind it: `link/..` lies where the link leads.
    pub(super) fn physical(&self, base: Option<&str>, text: &str) -> Option<String> {
        let mut at = if text.starts_with('/') { "/".to_owned() } else { self.led(base?.to_owned()) };
        for name in text.split('/') {
            at = self.led(join(&at, name));
            if let Some(fact) = self.facts.path(&at).filter(|fact| fact.link) {
                at.clone_from(&fact.real);
            }
        }
        Some(at)
    }
}

/// The number of the descriptor that a path names.
pub(super) fn descriptor(path: &str) -> Option<u32> {
    if let Some(name) = path.strip_prefix("/dev/") {
        return match name {
            "stdin" => Some(0),
            "stdout" => Some(1),
            "stderr" => Some(2),
            _ => name.strip_prefix("fd/")?.parse().ok(),
        };
    }
    let (process, number) = path.strip_prefix("/proc/")?.split_once("/fd/")?;
    let own =
        |process: &str| matches!(process, "self" | "thread-self" | "…") || process.parse::<u32>().is_ok();
    let is_own = match process.split_once("/task/") {
        Some((process, thread)) => own(process) && own(thread),
        None => own(process),
    };
    number.parse().ok().filter(|_| is_own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_descriptors() {
        for (path, number) in [
            ("/dev/stdin", 0),
            ("/dev/fd/7", 7),
            ("/proc/self/fd/3", 3),
            ("/proc/12/fd/3", 3),
            ("/proc/self/task/…/fd/0", 0),
        ] {
            assert_eq!(descriptor(path), Some(number), "{path}");
        }
        for path in ["/dev/null", "/dev/fd/substitution-1", "/proc/self/exe", "/proc/x/fd/3", "/tmp/stdin"] {
            assert_eq!(descriptor(path), None, "{path}");
        }
    }
}
