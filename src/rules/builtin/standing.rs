//! What a command line says of where it works: on something that others live by, or on something that nobody misses. Names only;
//! what is done there is for the rules.

use crate::rules::Invocation;
use crate::rules::matcher::{Scene, host_of, is_known};
use crate::shell::Arg;

/// Words in names of what others live by.
const LIVE: &[&str] = &["prod", "production", "prd"];

/// Words in names of what is made to be thrown away.
const SCRATCH: &[&str] = &["test", "tests", "testing", "tmp", "temp", "scratch", "ci", "e2e"];

/// Words in names of what a person works on alone.
const OWN: &[&str] = &["dev", "development", "local", "localhost", "sandbox", "playground", "preview"];

/// Contexts of clusters on this machine.
const LOCAL_CONTEXTS: &[&str] = &[
    "minikube",
    "docker-desktop",
    "docker-for-desktop",
    "rancher-desktop",
    "orbstack",
    "colima",
    "microk8s",
];

/// Schemes of addresses of databases.
const DATABASES: &[&str] = &[
    "postgres://",
    "postgresql://",
    "mysql://",
    "mariadb://",
    "mongodb://",
    "mongodb+srv://",
    "redis://",
    "rediss://",
    "sqlserver://",
    "cockroachdb://",
    "libsql://",
];

/// Assignments that say a command is not for the database of the tests, or that switch off the question whether it is.
const UNGUARDED: &[&str] =
    &["DISABLE_DATABASE_ENVIRONMENT_CHECK=", "PRISMA_USER_CONSENT_FOR_DANGEROUS_AI_ACTION="];

fn has_word(name: &str, words: &[&str]) -> bool {
    name.split(|c: char| !c.is_ascii_alphanumeric())
        .any(|part| words.iter().any(|word| part.eq_ignore_ascii_case(word)))
}

/// Whether a name is one of what nobody misses.
pub(super) fn is_scratch(name: &str) -> bool {
    has_word(name, SCRATCH)
}

/// The same, or of what a person works on alone.
pub(super) fn is_own(name: &str) -> bool {
    has_word(name, SCRATCH) || has_word(name, OWN)
}

/// Whether a context is that of a cluster on this machine.
pub(super) fn is_local_context(name: &str) -> bool {
    LOCAL_CONTEXTS.contains(&name) || name.starts_with("kind-") || name.starts_with("k3d-")
}

/// Whether an argument names what others live by; text with blanks names nothing.
pub(super) fn names_live(inv: &Invocation) -> bool {
    inv.args.iter().map(Arg::prefix).any(|text| !text.contains(' ') && has_word(text, LIVE))
}

/// Whether an argument names what nobody misses.
pub(super) fn names_scratch(inv: &Invocation) -> bool {
    inv.args.iter().map(Arg::prefix).any(|text| !text.contains(' ') && is_own(text))
}

/// Whether the command line says, in an argument, an assignment or the address of a database, that it is about something live.
pub(super) fn is_live(scene: &Scene<'_>, inv: &Invocation) -> bool {
    let sets = |word: &str| {
        UNGUARDED.iter().any(|name| word.starts_with(name))
            || word.split_once('=').is_some_and(|(name, value)| {
                name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_')
                    && (has_word(value, LIVE) || is_elsewhere(scene, value))
            })
    };
    // Inside of quotes or brackets of another shell it is an assignment too.
    let around = ['\'', '"', '(', '{', '`'];
    let assigned = |word: &str| sets(word.trim_start_matches(around)) || word.split(around).any(sets);
    names_live(inv)
        || inv.args.iter().any(|arg| is_elsewhere(scene, &arg.text()))
        || scene.command_line().split_whitespace().any(assigned)
}

/// The address of a database on a host that is neither local nor known.
fn is_elsewhere(scene: &Scene<'_>, text: &str) -> bool {
    let Some(at) = DATABASES.iter().find_map(|scheme| text.find(scheme)) else { return false };
    let host = host_of(text.get(at..).unwrap_or_default());
    !host.is_empty() && !is_known(&host, scene.view.policy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for name in ["app_test", "x-ci", "tests", "tmp.db"] {
            assert!(is_scratch(name), "{name}");
        }
        for name in ["contest", "latest", "app", "dev"] {
            assert!(!is_scratch(name), "{name}");
        }
        assert!(is_own("dev") && is_own("x_test") && !is_own("devices"));
        assert!(is_local_context("kind-x") && !is_local_context("arn:aws:eks:x"));
    }
}
