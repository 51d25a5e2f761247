//! What a command line says of where it works: on something that others live by, or on something that nobody misses. Names only;
//! what is done there is for the rules.

use crate::rules::Invocation;
use crate::rules::matcher::{Scene, flag_value, has_flag, host_of, is_known, runs};
use crate::shell::Arg;

/// Words in names of what others live by.
const LIVE: &[&str] = &["prod", "production", "prd"];

/// Words in names of what others try things on.
const SHARED: &[&str] = &["staging", "stage", "stg", "uat", "preprod"];

words!("builtin/standing");

/// Assignments that say a command is not for the database of the tests, or that switch off the question whether it is.
const UNGUARDED: &[&str] =
    &["DISABLE_DATABASE_ENVIRONMENT_CHECK=", "PRISMA_USER_CONSENT_FOR_DANGEROUS_AI_ACTION="];

fn has_word(name: &str, words: &[&str]) -> bool {
    let is_one = |part: &str| {
        let bare = part.trim_end_matches(|c: char| c.is_ascii_digit());
        words.iter().any(|word| part.eq_ignore_ascii_case(word) || bare.eq_ignore_ascii_case(word))
    };
    let parts = |name: &str| name.split(|c: char| !c.is_ascii_alphanumeric()).any(is_one);
    parts(name) || has_humps(name) && parts(&apart(name))
}

fn has_humps(name: &str) -> bool {
    name.bytes().zip(name.bytes().skip(1)).any(|(a, b)| a.is_ascii_lowercase() && b.is_ascii_uppercase())
}

/// `ShopTest` as `Shop_Test`.
pub(super) fn apart(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    let mut lower = false;
    for c in name.chars() {
        if lower && c.is_ascii_uppercase() {
            out.push('_');
        }
        lower = c.is_ascii_lowercase();
        out.push(c);
    }
    out
}

/// Whether a host, with or without its port, is this machine; a path is a socket on it.
pub(super) fn is_this_machine(host: &str) -> bool {
    let host = host.strip_prefix("tcp:").unwrap_or(host);
    let bare = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((inner, _)) => inner,
        None if host == "::1" => host,
        None => host.split([':', ',', '\\']).next().unwrap_or_default(),
    };
    matches!(bare, "localhost" | "::1" | "0.0.0.0" | "host.docker.internal" | "." | "(localdb)")
        || bare.starts_with("127.") && bare.bytes().all(|b| b.is_ascii_digit() || b == b'.')
        || bare.starts_with('/')
}

/// The same of an image.
fn image_stays(inv: &Invocation) -> bool {
    const TO_THE_LAST: &[&str] = &["docker", "podman", "skopeo", "crane", "buildah", "nerdctl"];
    // The engine stands on another machine, or a build goes to what its output says.
    if ["--context", "-c", "-H", "--host", "--output", "-o"].iter().any(|option| has_flag(inv, option)) {
        return false;
    }
    let here = |to: &Arg| {
        let text = to.text();
        let host = text.trim_start_matches("docker://").split_once('/').map_or("", |(host, _)| host);
        let (name, port) = host.split_once(':').unwrap_or((host, ""));
        let local = name.contains("local") || name.starts_with("127.");
        local && is_this_machine(name) && port.bytes().all(|byte| byte.is_ascii_digit())
    };
    // What a build is pushed as; one name that lies elsewhere is enough.
    if inv.sub.last().is_some_and(|word| word == "build") {
        let tags = inv.flags.iter().filter(|flag| matches!(flag.name.as_str(), "-t" | "--tag"));
        let mut tags = tags.filter_map(|flag| flag.value.as_ref()).peekable();
        return tags.peek().is_some() && tags.all(here);
    }
    // `podman push localhost/app ghcr.io/acme/app`: what is named last is where it goes.
    let copies = runs(inv, TO_THE_LAST)
        || inv.sub.iter().any(|word| word == "copy")
        || inv.operands.iter().any(|arg| matches!(&*arg.text(), "copy" | "cp"));
    if copies { inv.operands.last().is_some_and(here) } else { inv.operands.iter().any(here) }
}

/// Whether a command names a registry or a directory of this machine as what it goes to, and no other host.
pub(in crate::rules) fn stays_here(inv: &Invocation) -> bool {
    const NAMING: &[&str] = &["registry", "repository", "repo", "url", "host", "source", "server", "index"];
    const OF_IMAGES: &[&str] =
        &["oras", "docker", "podman", "skopeo", "crane", "regctl", "buildah", "nerdctl"];
    const OF_PACKAGES: &[&str] = &["dotnet", "nuget", "choco"];
    let names = |option: &str| {
        matches!(option, "-s" | "-r") || NAMING.iter().any(|word| option.to_ascii_lowercase().contains(word))
    };
    // What is called so there is another machine.
    if inv.args.iter().any(Arg::has_unknown) || inv.wrappers.iter().any(|name| name == "ssh") {
        return false;
    }
    if runs(inv, OF_IMAGES) {
        return image_stays(inv);
    }
    let mut here = false;
    let mut before = String::new();
    for arg in &inv.args {
        let text = arg.text();
        let (option, value) = match text.strip_prefix('-').and_then(|option| option.split_once('=')) {
            Some((option, value)) => (option, value),
            None if before.starts_with('-') => (before.as_str(), &*text),
            None => ("", &*text),
        };
        let goes = names(option) || value.starts_with("oci://");
        if value.contains("://") && !value.starts_with("file://") && !is_this_machine(&host_of(value)) {
            return false;
        }
        here |= goes && value.contains("://");
        if runs(inv, OF_PACKAGES) && matches!(option, "-s" | "--source") {
            let directory = value.starts_with(['/', '.']) && !value.starts_with("//");
            if !directory && !value.contains("://") {
                return false;
            }
            here |= directory;
        }
        here |= runs(inv, &["mvn"])
            && inv.operands.iter().any(|word| word.known() == Some("deploy"))
            && option == "DaltDeploymentRepository"
            && value.contains("::file:");
        before = text.into_owned();
    }
    here
}

/// Whether a name is one of what nobody misses.
pub(super) fn is_scratch(name: &str) -> bool {
    has_word(name, SCRATCH)
}

/// The same, or of what a person works on alone.
pub(super) fn is_own(name: &str) -> bool {
    has_word(name, SCRATCH) || has_word(name, OWN)
}

/// Whether a text names what others live by.
pub(super) fn says_live(text: &str) -> bool {
    has_word(text, LIVE)
}

/// Whether a context is that of a cluster on this machine.
pub(super) fn is_local_context(name: &str) -> bool {
    LOCAL_CONTEXTS.contains(&name) || name.starts_with("kind-") || name.starts_with("k3d-")
}

/// Whether a name is one of what others live by.
pub(super) fn is_live_name(name: &str) -> bool {
    has_word(name, LIVE)
}

/// Whether an argument names what others live by; text with blanks names nothing.
pub(super) fn names_live(inv: &Invocation) -> bool {
    inv.args.iter().map(Arg::prefix).any(|text| !text.contains(' ') && has_word(text, LIVE))
}

/// Whether an argument names what others try things on.
pub(super) fn names_shared(inv: &Invocation) -> bool {
    inv.args.iter().map(Arg::prefix).any(|text| !text.contains(' ') && has_word(text, SHARED))
}

/// Whether an argument names what nobody misses.
pub(super) fn names_scratch(inv: &Invocation) -> bool {
    inv.args.iter().map(Arg::prefix).any(|text| !text.contains(' ') && is_own(text))
}

/// Whether all that a command is told to take away is named as what nobody misses: each name behind its verb, and each that an option
/// gives.
pub(super) fn is_scratch_alone(inv: &Invocation) -> bool {
    const TAKING: &[&str] = &["delete", "destroy", "rm", "rb", "purge", "terminate", "remove"];
    let mut names: Vec<&str> = Vec::new();
    let (mut told, mut option) = (false, None);
    for text in inv.args.iter().map(|arg| arg.known()) {
        let Some(text) = text else { return false };
        let value_of = option.take();
        if let Some(name) = text.strip_prefix('-') {
            match name.split_once('=') {
                Some((name, value)) if is_naming(name) => names.push(value),
                Some(_) => {}
                None => option = Some(name.trim_start_matches('-')),
            }
        } else if TAKING.contains(&text) || text.starts_with("delete-") {
            (told, option) = (true, None);
        } else if value_of.is_some_and(|name| PLACING_OPTIONS.contains(&name)) {
            // Where it lies, not what it is.
        } else if told || value_of.is_some_and(is_naming) {
            names.push(text);
        }
    }
    told && !names.is_empty() && names.iter().all(|name| is_scratch(name)) && !names_live(inv)
}

/// Whether an option names what something is done to.
fn is_naming(option: &str) -> bool {
    let option = option.trim_start_matches('-');
    matches!(option, "n" | "c" | "name") || option.ends_with("-name") && option != "account-name"
}

/// Whether the command line says, in an argument, an assignment or the address of a database, that it is about something live.
pub(super) fn is_live(scene: &Scene<'_>, inv: &Invocation) -> bool {
    is_live_in(scene.command_line(), scene, inv)
}

/// The same with the assignments that stand in these parts of the command line.
pub(super) fn is_live_in(line: &str, scene: &Scene<'_>, inv: &Invocation) -> bool {
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
        || line.split_whitespace().any(assigned)
}

/// Whether an option, or a word of its own, chooses an environment that a person works on alone, and nothing names a live one. The
/// names of variables say nothing: they are written in capitals.
pub(super) fn chooses_own(inv: &Invocation) -> bool {
    let words: Vec<&str> = inv.args.iter().filter_map(Arg::known).collect();
    let is_one = |name: &str| is_own(name) && name.bytes().any(|b| b.is_ascii_lowercase());
    let apart = words
        .windows(2)
        .any(|pair| matches!(pair, [option, value] if CHOOSING.contains(option) && is_one(value)));
    let joined = words.iter().filter_map(|word| word.split_once('='));
    let mut joined = joined.filter(|(option, _)| CHOOSING.contains(option));
    let alone = |word: &&str| word.bytes().all(|b| b.is_ascii_lowercase()) && is_own(word);
    (apart || joined.any(|(_, value)| is_one(value)) || words.iter().any(alone)) && !names_live(inv)
}

/// Whether an address, an option or a variable puts the database of a client on a host that is neither local nor known.
pub(super) fn is_led_elsewhere(scene: &Scene<'_>, inv: &Invocation) -> bool {
    const HOSTS: &[&str] = &["PGHOST=", "PGHOSTADDR=", "MYSQL_HOST=", "DB_HOST="];
    let away = |host: &str| {
        host.contains('.')
            && !host.contains(['$', '/'])
            && !is_this_machine(host)
            && !is_known(host, scene.view.policy)
    };
    let assigned = |word: &str| {
        let value = |name: &&str| word.strip_prefix(*name).map(|value| value.trim_matches(['"', '\'']));
        HOSTS.iter().find_map(value).is_some_and(away)
            || word.split_once('=').is_some_and(|(name, value)| {
                name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_') && is_elsewhere(scene, value)
            })
    };
    let host = flag_value(inv, &["-h", "--host", "--hostname", "-S"]).and_then(Arg::known);
    // `psql "host=… dbname=…"`
    let keyed =
        |arg: &Arg| arg.text().split([' ', ';']).filter_map(|part| part.strip_prefix("host=")).any(away);
    host.is_some_and(away)
        || inv.args.iter().any(keyed)
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
        for name in ["app_test", "x-ci", "tests", "tmp.db", "ShopTest", "shop_test2", "AppE2E", "E2E"] {
            assert!(is_scratch(name), "{name}");
        }
        for name in ["contest", "latest", "app", "dev", "Latest", "Contest2"] {
            assert!(!is_scratch(name), "{name}");
        }
        assert!(is_own("dev") && is_own("x_test") && !is_own("devices"));
        for host in [
            "localhost:9092",
            "127.0.0.1",
            "[::1]:5432",
            "::1",
            "/tmp",
            ".",
            "localhost\\X",
            "tcp:localhost,1433",
        ] {
            assert!(is_this_machine(host), "{host}");
        }
        for host in ["localhost.x.example", "127.x.example", "db", "10.0.0.7", "", "x.example:9092"] {
            assert!(!is_this_machine(host), "{host}");
        }
        assert!(is_local_context("kind-x") && !is_local_context("arn:aws:eks:x"));
    }
}
