//! Places of Windows: those that must not be lost, and the files and variables that hold secrets.

use crate::rules::builtin::is_secret_name;
use crate::rules::survey::paths::is_build_output;

words!("builtin/powershell/places");

/// A place that must not be lost, among the words of a statement.
pub(super) fn roots(text: &str) -> bool {
    text.split([' ', ',', '"', '\'', '(', ')']).any(|word| {
        let word = word.trim_end_matches(['*', '.']).trim_end_matches(['\\', '/']);
        let drive = |rest: &str| {
            rest.is_empty()
                || matches!(
                    rest,
                    "\\windows"
                        | "\\users"
                        | "\\windows\\system32"
                        | "\\program files"
                        | "\\programdata"
                        | "\\progra~1"
                        | "\\boot"
                        | "\\recovery"
                )
        };
        let mut chars = word.chars();
        let lettered = chars.next().is_some_and(|c| c.is_ascii_alphabetic())
            && chars.next() == Some(':')
            && drive(chars.as_str());
        let user = ["\\users\\", "/users/"].iter().any(|dir| {
            word.split_once(dir).is_some_and(|(front, name)| {
                front.len() == 2 && !name.is_empty() && !name.contains(['\\', '/'])
            })
        });
        lettered || user || word.contains("\\windows\\system32") || WHOLE_PLACES.contains(&word)
    })
}

/// A path with a drive or a server in it, and nothing that a build makes again or that is only kept for a while.
pub(super) fn is_afar(word: &str) -> bool {
    const PASSING: &[&str] = &["\\temp", "\\tmp", "\\cache", "\\_work", "\\a\\"];
    let path = word.replace('/', "\\");
    let mut chars = path.chars();
    let drive = chars.next().is_some_and(|c| c.is_ascii_alphabetic()) && chars.next() == Some(':');
    let server = path.starts_with("\\\\") && path.len() > 2;
    (drive || server)
        && !PASSING.iter().any(|dir| path.contains(dir))
        && !is_build_output(&path.replace('\\', "/"))
}

/// A file of secrets, by Windows' separators.
pub(super) fn secret(text: &str) -> bool {
    let text = text.replace('/', "\\");
    let key = SECRET_PLACES;
    key.iter().any(|part| text.contains(part)) && !text.contains(".pub")
}

/// A variable of the environment that by its name holds a secret, as a whole.
pub(super) fn secret_variable(word: &str, front: &str) -> bool {
    let word = word.trim_matches(['"', '\'', '(', ')']);
    let name = word.strip_prefix(front).map(|name| name.trim_start_matches(['\\', '/']));
    name.is_some_and(|name| {
        name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') && is_secret_name(name)
    })
}

/// A file of settings with secrets in it, among the words.
pub(super) fn settings(rest: &str) -> bool {
    rest.split([' ', '"', '\'', '(', ')', ',']).any(|word| {
        let name = word.rsplit(['\\', '/']).next().unwrap_or_default();
        let kind = name.strip_prefix(".env");
        kind.is_some_and(|kind| {
            (kind.is_empty() || kind.starts_with('.'))
                && !["example", "sample", "template", "dist"].iter().any(|end| kind.ends_with(end))
        })
    })
}
