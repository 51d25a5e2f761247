//! Which files hold secrets, by their names and places.

use std::borrow::Cow;

use super::class::is_at;
use super::glob;
use super::relation::{Rel, name_bit, names_of, parts, relation_to, within};
use super::tails::tails_like;
use crate::domain::{Among, last_name};
use crate::rules::builtin::lists;

static NAMES: Among = Among::NONE.with(lists::SECRET_NAMES);

/// Literal characters that a pattern must have before it can be said to mean a certain name.
const TELLING: usize = 3;

/// A file of settings with secret values in it.
pub(crate) fn is_env_file(path: &str, is_glob: bool) -> bool {
    let name = &*small(last_name(path));
    // What tests are run with is there to be read.
    if !is_glob && name.starts_with(".env") && parts(path).any(|part| lists::FIXTURES.contains(&part)) {
        return false;
    }
    match name.strip_prefix(".env") {
        Some("" | "rc") => true,
        Some(rest) if is_glob && rest.contains(['*', '?', '[']) => true,
        // A sentence that ends in such a name is not one.
        Some(rest) => rest
            .strip_prefix('.')
            .filter(|rest| !rest.contains([' ', '|', ';']))
            .is_some_and(|rest| !rest.split('.').any(|part| lists::ENV_EXAMPLES.contains(&part))),
        None => is_glob && name.starts_with(".e") && glob::segment(name, ".env"),
    }
}

/// A name in small letters: some file systems make no difference, and nobody means one.
fn small(name: &str) -> Cow<'_, str> {
    match name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        true => Cow::Owned(name.to_ascii_lowercase()),
        false => Cow::Borrowed(name),
    }
}

/// A private key, a credential, or with `recursive` a directory of them.
pub(crate) fn is_secret(path: &str, is_glob: bool, recursive: bool, home: Option<&str>) -> bool {
    // `C:\Users\u\.ssh\id_rsa`
    let slashed = (path.contains('\\') && path.contains(":\\")).then(|| path.replace('\\', "/"));
    let path = slashed.as_deref().unwrap_or(path);
    let name = last_name(path);
    if name.ends_with(".pub") {
        return false;
    }
    // Keys that tests are run with are there to be read.
    let kept = || is_glob || path.contains("/.") || !parts(path).any(|part| lists::FIXTURES.contains(&part));
    is_called_secret(path, is_glob, recursive, home) && kept()
}

/// A copy of a secret that somebody kept under its name: `credentials.bak`, `id_rsa.old`, `hosts.yml~`.
pub(super) fn is_copied_secret(path: &str, home: Option<&str>) -> bool {
    const ENDS: &[&str] =
        &[".bak", ".backup", ".old", ".orig", ".save", ".saved", ".copy", ".swp", ".tmp", ".1", "~", "-"];
    ENDS.iter().filter_map(|end| path.strip_suffix(end)).any(|front| is_secret(front, false, false, home))
}

fn is_called_secret(path: &str, is_glob: bool, recursive: bool, home: Option<&str>) -> bool {
    let name = last_name(path);
    if is_glob && (is_any_hidden(path, name, home) || is_text_below(path, name, home)) {
        return false;
    }
    let small = &*small(name);
    let same =
        |secret: &&str| if is_glob { means(name, secret) } else { name == *secret || small == *secret };
    let may_be = is_glob || NAMES.may_have(name) || NAMES.may_have(small);
    if may_be && lists::SECRET_NAMES.iter().any(same) {
        return true;
    }
    if lists::SECRET_ENDINGS.iter().any(|ending| small.len() > ending.len() && small.ends_with(ending)) {
        return true;
    }
    // Cheap first: every place in the lists below has a hidden directory in it, or begins so.
    if !path.contains("/.")
        && names_of(path, false) & name_bit("Library") == 0
        && !is_glob
        && !lists::SECRET_ROOTS.iter().any(|root| path.starts_with(root))
    {
        return false;
    }
    is_at(path, is_glob, lists::SECRET_FILES, home) || in_secret_dir(path, is_glob, recursive, name)
}

/// `build/.[!.]*`: whatever is hidden in a directory that is nobody's home.
fn is_any_hidden(path: &str, name: &str, home: Option<&str>) -> bool {
    let dir = path.strip_suffix(name).unwrap_or_default().trim_end_matches('/');
    let above = dir.rsplit_once('/').map_or("", |(above, _)| above);
    name.starts_with('.')
        && !name.contains(|c: char| c.is_alphanumeric())
        && !dir.contains(['*', '?', '[', '…'])
        && !dir.is_empty()
        && home.is_none_or(|home| dir != home && !home.starts_with(&format!("{dir}/")))
        && dir != "/root"
        && !lists::HOMES.contains(&above)
}

/// `DIR/**/*.txt`: texts and sources anywhere below a directory that is not hidden. No key or credential is called so.
fn is_text_below(path: &str, name: &str, home: Option<&str>) -> bool {
    let front = path.split_once("/**/").filter(|(_, tail)| *tail == name).map(|(front, _)| front);
    let ending = name.strip_prefix("*.").is_some_and(|ending| lists::TEXT_ENDINGS.contains(&ending));
    let front = front.map(|front| home.and_then(|home| front.strip_prefix(home)).unwrap_or(front));
    ending && front.is_some_and(|front| !front.contains("/.") && !front.contains(['*', '?', '[', '…']))
}

fn in_secret_dir(path: &str, is_glob: bool, recursive: bool, name: &str) -> bool {
    let excepted = lists::NOT_SECRET.contains(&name);
    lists::SECRET_DIRS.iter().any(|dir| {
        let tails = tails_like(path, is_glob, dir);
        let rel = tails.map(|tail| relation_to(tail, is_glob, dir)).find(|rel| within(*rel));
        match rel {
            Some(Rel::Below) => lists::SECRET_TREES.contains(dir) && !excepted,
            Some(Rel::Same) => recursive,
            Some(Rel::Above | Rel::Apart) | None => false,
        }
    })
}

/// Whether a pattern can be expanded to `name` and says so with more than wildcards.
fn means(pattern: &str, name: &str) -> bool {
    let literal = pattern.bytes().filter(|b| !matches!(b, b'*' | b'?' | b'[' | b']')).count();
    literal >= TELLING && !glob::begins_open(pattern) && glob::segment(pattern, name)
}
