//! `cd`, and the stack of `pushd` and `popd`.

use super::Surveyor;
use super::options::Parsed;
use super::scope::Scope;
use crate::domain::{Ask, PathKind, join};
use crate::shell::Arg;

/// Most directories on the stack that are followed.
const MAX_STACK: usize = 64;

impl Surveyor<'_> {
    pub(super) fn change_dir(&mut self, scope: &mut Scope, parsed: &Parsed) {
        let to = match parsed.operands.first() {
            None => scope.env.home.clone(),
            Some(to) if to.known() == Some("-") => match scope.env.get("OLDPWD") {
                Some(old) => old.map(str::to_owned),
                None => scope.env.old.clone(),
            },
            Some(to) if parsed.has(&["-P"]) && to.known().is_some() && !self.links.is_empty() => {
                self.physical(scope.env.cwd.as_deref(), &to.text())
            }
            Some(to) if !parsed.has(&["-L"]) && to.known().is_some() && scope.goes_physically() => {
                self.ask(Ask::Path(join(scope.env.cwd.as_deref().unwrap_or("/"), &to.text())));
                self.physical(scope.env.cwd.as_deref(), &to.text())
            }
            Some(to) => match named_by_variable(scope, to).or_else(|| self.searched(scope, to)) {
                Some(to) => Some(to),
                None => scope.resolve(to, &self.facts.places),
            },
        };
        scope.go(to);
    }

    /// Where a name leads by the directories of `CDPATH`: to the first that there is, and where that is not known to the first that
    /// does not depend on where this is.
    fn searched(&mut self, scope: &Scope, to: &Arg) -> Option<String> {
        let dirs = scope.env.get("CDPATH").flatten()?;
        let name = to.known().filter(|name| !name.starts_with(['/', '.', '-']))?;
        let cwd = scope.env.cwd.as_deref().unwrap_or("/");
        for dir in dirs.split(':').take(MAX_STACK) {
            let path = join(&join(cwd, dir), name);
            self.ask(Ask::Path(path.clone()));
            if self.facts.path(&path).is_some_and(|fact| fact.kind == PathKind::Directory) {
                return Some(path);
            }
        }
        let first = dirs.split(':').find(|dir| dir.starts_with('/'))?;
        Some(join(&join("/", first), name))
    }

    /// `pushd DIR` goes there, `pushd` exchanges the two on top, `pushd +N` turns the stack.
    pub(super) fn push_dir(&mut self, scope: &mut Scope, parsed: &Parsed) {
        let stays = parsed.has(&["-n"]);
        let place = place(parsed);
        match (&place, parsed.operands.first()) {
            (None, Some(to)) => {
                let to = self.searched(scope, to).or_else(|| scope.resolve(to, &self.facts.places));
                if stays {
                    scope.env.stack.push(to);
                } else {
                    let from = scope.env.cwd.clone();
                    scope.env.stack.push(from);
                    scope.go(to);
                }
            }
            (turned, _) => {
                let mut all = whole(scope);
                match (turned, all.len()) {
                    (None, 2..) => all.swap(0, 1),
                    (Some(place), length) => match place.left_place(length) {
                        Some(at) => all.rotate_left(at),
                        None => all = vec![None],
                    },
                    (None, _) => {}
                }
                put_back(scope, all, !stays);
            }
        }
        let most = scope.env.stack.len().min(MAX_STACK);
        scope.env.stack.truncate(most);
    }
}

/// The variable of ours that says that variables name directories.
pub(super) const BY_VARIABLE: &str = "\u{1}cdable_vars";

/// The variable of ours that says that links are followed where `cd` goes by them.
const PHYSICALLY: &str = "\u{1}physical";

impl Scope {
    /// `set -P`, `set +o physical`.
    pub(super) fn set_options(&mut self, args: &[Arg]) {
        for (at, arg) in args.iter().enumerate() {
            let text = arg.prefix();
            let named = args.get(at + 1).and_then(Arg::known) == Some("physical");
            let letter = if named && text.ends_with('o') { 'o' } else { 'P' };
            if text.starts_with(['-', '+']) && !text.starts_with("--") && text.contains(letter) {
                self.env.set(PHYSICALLY, text.starts_with('-').then(String::new));
            }
        }
    }

    fn goes_physically(&self) -> bool {
        self.env.get(PHYSICALLY).flatten().is_some()
    }
}

/// `shopt -s cdable_vars; cd NAME`
fn named_by_variable(scope: &Scope, to: &Arg) -> Option<String> {
    scope.env.get(BY_VARIABLE).flatten()?;
    let value = scope.env.get(to.known()?).flatten()?;
    value.starts_with('/').then(|| value.to_owned())
}

/// `popd` goes back, `popd +N` and `popd -n` only forget a directory.
pub(super) fn pop_dir(scope: &mut Scope, parsed: &Parsed) {
    let mut all = whole(scope);
    let at = match place(parsed) {
        Some(place) => place.left_place(all.len()),
        None => Some(usize::from(parsed.has(&["-n"]))),
    };
    match at {
        Some(at) if at < all.len() && all.len() > 1 => {
            all.remove(at);
            put_back(scope, all, at == 0);
        }
        Some(at) if at > 0 => {}
        // Nothing is known of what was there before.
        Some(_) | None => scope.go(None),
    }
}

/// Which directory of the stack is meant: `+N` from the left, `-N` from the right.
struct Place {
    count: Option<usize>,
    right: bool,
}

impl Place {
    fn left_place(&self, length: usize) -> Option<usize> {
        let count = self.count.filter(|count| *count < length)?;
        if self.right { length.checked_sub(count)?.checked_sub(1) } else { Some(count) }
    }
}

/// The place among the arguments: a `-N` looks like an option.
fn place(parsed: &Parsed) -> Option<Place> {
    let named = parsed.flags.iter().map(|flag| flag.name.as_str());
    let given = parsed.operands.iter().map(Arg::prefix);
    named.chain(given).find_map(|text| {
        let digits = text.strip_prefix(['+', '-'])?;
        let is_number = digits.starts_with(|c: char| c.is_ascii_digit());
        is_number.then(|| Place { count: digits.parse().ok(), right: text.starts_with('-') })
    })
}

/// The stack as `dirs` shows it: the working directory first.
fn whole(scope: &Scope) -> Vec<Option<String>> {
    std::iter::once(&scope.env.cwd).chain(scope.env.stack.iter().rev()).cloned().collect()
}

/// `DIRSTACK[N]=DIR`
pub(super) fn put_on_stack(scope: &mut Scope, key: &str, value: &Arg) {
    let length = scope.env.stack.len();
    let at = key.parse::<usize>().ok().filter(|at| *at > 0).and_then(|at| length.checked_sub(at));
    if let Some(place) = at.and_then(|at| scope.env.stack.get_mut(at)) {
        *place = value.known().map(str::to_owned);
    }
}

fn put_back(scope: &mut Scope, mut all: Vec<Option<String>>, goes: bool) {
    if all.is_empty() {
        return;
    }
    let top = all.remove(0);
    all.reverse();
    scope.env.stack = all;
    if goes {
        scope.go(top);
    }
}
