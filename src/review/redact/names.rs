//! Names that say that a value is a secret, and programs whose short options carry one.

use super::tail;

/// Longest name that is looked at.
pub(super) const MAX_NAME: usize = 64;

/// Words that say so alone, also at the end of a longer word (`PGPASSWORD`).
const SECRET: [&[u8]; 9] = [
    b"password",
    b"passwd",
    b"passphrase",
    b"secret",
    b"token",
    b"apikey",
    b"accesskey",
    b"credential",
    b"credentials",
];
/// Words that say so before `key`.
const KEY_OF: [&[u8]; 8] =
    [b"api", b"access", b"private", b"secret", b"account", b"auth", b"encryption", b"signing"];
/// Last words that say what is *about* a secret (`token_type`, `password_file`).
const ABOUT: [&[u8]; 30] = [
    b"file",
    b"files",
    b"path",
    b"dir",
    b"url",
    b"uri",
    b"endpoint",
    b"name",
    b"names",
    b"id",
    b"ids",
    b"type",
    b"types",
    b"count",
    b"length",
    b"len",
    b"limit",
    b"size",
    b"budget",
    b"ttl",
    b"age",
    b"expiry",
    b"expires",
    b"timeout",
    b"policy",
    b"format",
    b"header",
    b"field",
    b"prompt",
    b"index",
];
/// Headers whose whole value is a secret.
const HEADERS: [&[u8]; 4] = [b"authorization", b"proxy-authorization", b"cookie", b"set-cookie"];

/// Whether the value of something called `name` is a secret.
pub(super) fn is_secret(name: &[u8]) -> bool {
    let mut words = words(name);
    let Some(mut last) = words.next() else { return false };
    let mut secret = says_secret(last);
    let mut alone = true;
    for word in words {
        alone = false;
        let pair = is(word, b"key") && KEY_OF.iter().any(|of| is(last, of));
        secret |= pair || says_secret(word);
        last = word;
    }
    // `MYSQL_PWD`, but not the shell's own `PWD`.
    secret |= !alone && is(last, b"pwd");
    secret && !ABOUT.iter().any(|about| is(last, about))
}

pub(super) fn is_header(name: &[u8]) -> bool {
    HEADERS.iter().any(|header| is(name, header))
}

fn is(word: &[u8], other: &[u8]) -> bool {
    word.eq_ignore_ascii_case(other)
}

fn says_secret(word: &[u8]) -> bool {
    SECRET.iter().any(|secret| {
        let from = word.len().checked_sub(secret.len());
        from.is_some_and(|from| is(tail(word, from), secret))
    })
}

/// The words of a name: `aws_secret-key.apiToken` has six.
fn words(name: &[u8]) -> impl Iterator<Item = &[u8]> {
    let hump = |pair: &[u8]| matches!(pair, [a, b] if a.is_ascii_lowercase() && b.is_ascii_uppercase());
    name.split(|byte| !byte.is_ascii_alphanumeric()).flat_map(move |part| {
        let mut rest = part;
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let length = rest.windows(2).position(hump).map_or(rest.len(), |at| at + 1);
            let (word, after) = rest.split_at_checked(length)?;
            rest = after;
            Some(word)
        })
    })
}

/// A program that takes a secret by a short option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Program {
    Other,
    /// `-p SECRET` or `-pSECRET`.
    Sshpass,
    /// `-p SECRET` (`docker login`, `mongosh`).
    Login,
    /// `-pSECRET` only: alone, `-p` asks for it.
    Mysql,
    /// `-a SECRET`.
    Redis,
    /// `-u USER:SECRET`.
    Curl,
}

/// The program whose name is the whole word at `at`.
pub(super) fn program(bytes: &[u8], at: usize) -> Option<Program> {
    let rest = tail(bytes, at);
    let known: &[(&[u8], Program)] = match rest.first()? {
        b's' => &[(b"sshpass", Program::Sshpass)],
        b'l' => &[(b"login", Program::Login)],
        b'm' => &[
            (b"mysql", Program::Mysql),
            (b"mysqldump", Program::Mysql),
            (b"mysqladmin", Program::Mysql),
            (b"mariadb", Program::Mysql),
            (b"mariadb-dump", Program::Mysql),
            (b"mongo", Program::Login),
            (b"mongosh", Program::Login),
            (b"mongodump", Program::Login),
        ],
        b'r' => &[(b"redis-cli", Program::Redis)],
        b'c' => &[(b"curl", Program::Curl)],
        _ => return None,
    };
    let ends = |name: &[u8]| rest.get(name.len()).is_none_or(u8::is_ascii_whitespace);
    known.iter().find(|(name, _)| rest.starts_with(name) && ends(name)).map(|(_, program)| *program)
}
