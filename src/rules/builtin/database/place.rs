//! Where a store is and whose, as far as the command line says: on this machine or elsewhere, by its name for tests, for
//! development, or for others. Judges nothing.

use super::names_with;
use crate::domain::{join, last_name};
use crate::rules::Invocation;
use crate::rules::builtin::standing::{self, is_own, is_scratch, is_this_machine};
use crate::rules::matcher::{Scene, content, has_flag, host_of, runs};
use crate::rules::survey::SETTLED;
use crate::shell::Arg;

words!("builtin/database/place");

pub(super) const CONTAINERS: &[&str] =
    &["docker", "docker-compose", "podman", "podman-compose", "nerdctl", "finch"];

/// Keys of the host of a store in what a client is told in one text (`Host=…;Database=…`, `host=… dbname=…`).
const HOST_KEYS: &[&str] = &["host", "hostaddr", "server", "data source"];

/// What is said of the machine that a store is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// This one: a host of this name, or a container on it.
    Here,
    /// Nothing: it is the one that the client takes when it is told none.
    Unsaid,
    /// Another one, one by the name of which others live, or one that is only known once it runs.
    Elsewhere,
}

/// Where the store of a client is.
pub(super) fn place_of(inv: &Invocation, scene: &Scene<'_>) -> Place {
    let known = inv.args.iter().all(|arg| arg.known().is_some());
    let wrapped =
        inv.wrappers.iter().all(|name| [HERE, CONTAINERS].iter().any(|list| list.contains(&name.as_str())));
    if !known || !wrapped || standing::is_live(scene, inv) || is_placed_elsewhere(scene.command_line()) {
        return Place::Elsewhere;
    }
    let (mut here, mut elsewhere) = (false, false);
    hosts(inv, |host| {
        let all = host.split(',').filter(|one| !one.is_empty()).all(is_this_machine);
        here |= all;
        elsewhere |= !all;
    });
    let boxed = inv.contained && outer(inv, scene).next().is_some();
    let foreign = || outer(inv, scene).any(|outer| standing::names_live(outer) || is_led_elsewhere(outer));
    match (elsewhere || foreign(), here || boxed) {
        (true, _) => Place::Elsewhere,
        (false, true) => Place::Here,
        (false, false) => Place::Unsaid,
    }
}

/// The containers' own programs that a command is run with.
fn outer<'a>(inv: &Invocation, scene: &Scene<'a>) -> impl Iterator<Item = &'a Invocation> {
    let wrapped = inv.wrappers.iter().any(|name| CONTAINERS.contains(&name.as_str()));
    let starts = |arg: &Arg| matches!(arg.known(), Some("exec" | "run"));
    scene
        .invocations()
        .iter()
        .filter(move |other| wrapped && runs(other, CONTAINERS) && other.args.iter().any(starts))
}

/// A daemon on another machine.
fn is_led_elsewhere(outer: &Invocation) -> bool {
    let front =
        || outer.args.iter().take_while(|arg| !matches!(arg.known(), Some("exec" | "run" | "compose")));
    let mut words = front().map(Arg::prefix);
    words.any(|word| {
        ["-H", "--host", "-c", "--context", "--url", "--remote", "-r"]
            .iter()
            .any(|flag| word.starts_with(flag))
    })
}

/// Whether the container that a command runs in is named as one for tests.
pub(super) fn is_in_test_container(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let named = |outer: &Invocation| {
        let front = outer.args.iter().take_while(|arg| arg.known() != inv.word.known());
        front.filter_map(Arg::known).any(|word| !word.contains(' ') && is_scratch(word))
    };
    let mut outer = outer(inv, scene).peekable();
    outer.peek().is_some() && outer.all(named) && place_of(inv, scene) == Place::Here
}

/// The hosts that the arguments name.
fn hosts(inv: &Invocation, mut each: impl FnMut(&str)) {
    for flag in inv.flags.iter().filter(|flag| HOSTS.contains(&flag.name.as_str())) {
        if let Some(value) = flag.value.as_ref().and_then(Arg::known).filter(|value| !value.contains("://")) {
            each(value);
        }
    }
    for (option, value) in
        inv.args.iter().filter_map(Arg::known).zip(inv.args.iter().skip(1).filter_map(Arg::known))
    {
        if HOSTS.contains(&option) && !value.starts_with('-') && !value.contains("://") {
            each(value);
        }
    }
    for text in inv.args.iter().filter_map(Arg::known) {
        if text.contains("://") {
            let host = host_of(text.split_once(';').map_or(text, |(front, _)| front));
            if !host.is_empty() {
                each(&host);
            }
            continue;
        }
        for part in text.split([';', ' ']) {
            let pair = part
                .split_once('=')
                .filter(|(key, _)| HOST_KEYS.iter().any(|one| key.eq_ignore_ascii_case(one)));
            if let Some((_, value)) = pair {
                each(value);
            }
        }
    }
}

/// An assignment puts the store on another machine, or where only the shell will know.
fn is_placed_elsewhere(line: &str) -> bool {
    line.split(|c: char| c.is_whitespace() || "(`{;&|".contains(c))
        .filter_map(|word| word.split_once('='))
        .any(|(name, value)| {
            let name = name.trim_start_matches(['(', '\'', '"', '{']);
            let named = !name.is_empty()
                && name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
            let value = value.trim_matches(['"', '\'']).trim_end_matches([';', ')', '"', '\'']);
            named
                && name.rsplit('_').next().is_some_and(|last| PLACED.iter().any(|end| last.ends_with(end)))
                && !value.is_empty()
                && !value.starts_with("file:")
                && !value.starts_with("sqlite:")
                && !match value.contains("://") {
                    true => {
                        let host = host_of(value);
                        host.is_empty() || is_this_machine(&host)
                    }
                    false => is_this_machine(value),
                }
        })
}

/// Whether a client works on a store for development on this machine: by the names it is given and by nothing that speaks against it.
pub(super) fn is_own_store(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let mut names = names(inv);
    !names.is_empty() && names.drain(..).all(|name| is_own(&name)) && place_of(inv, scene) != Place::Elsewhere
}

/// Databases that a client is given: by options, in addresses, and as words of their own.
fn names(inv: &Invocation) -> Vec<String> {
    let mut out = names_with(inv);
    let plain = |text: &str| !text.contains([' ', '(', ';']) && !text.is_empty();
    for text in inv.operands.iter().filter_map(Arg::known).filter(|text| plain(text)) {
        let text = text.split('?').next().unwrap_or_default();
        out.push(last_name(text).to_owned());
    }
    out
}

/// Whether a key-value store is one for development: numbered, or on this machine by what is said of it.
pub(super) fn is_own_keys(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let numbered = |text: &str| text.parse::<u8>().is_ok_and(|number| number > 0);
    let flag =
        |name: &str| inv.flags.iter().find(|flag| flag.name == name).and_then(|flag| flag.value.as_ref());
    let by_option = flag("-n").and_then(Arg::known).is_some_and(numbered);
    match place_of(inv, scene) {
        Place::Here => true,
        Place::Unsaid => by_option,
        Place::Elsewhere => false,
    }
}

/// Whether the alias `local` of a client for buckets is what it is from the start, or set to this machine in the call.
pub(super) fn is_own_alias(scene: &Scene<'_>) -> bool {
    let sets = |inv: &&Invocation| {
        let told = |word: &str| inv.args.iter().any(|arg| arg.known() == Some(word));
        told("alias") && told("set") && told("local")
    };
    let address = |inv: &Invocation| {
        let mut words = inv.args.iter().filter_map(Arg::known);
        words.find(|word| word.contains("://")).is_some_and(|url| is_this_machine(&host_of(url)))
    };
    scene.invocations().iter().filter(|inv| runs(inv, &["mc"])).filter(sets).all(address)
}

/// Whether the file of settings in which a tool finds the address of its database says that it is on this machine, and nothing in
/// the call says another.
pub(in crate::rules::builtin) fn is_settled_here(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let named = |arg: &Arg| arg.known().is_some_and(|word| SETTLED.contains(&word));
    let is_one = runs(inv, SETTLED) || inv.args.iter().take(3).any(named);
    let Some(cwd) = inv.cwd.as_deref().filter(|_| is_one) else { return false };
    let Some(text) = content(scene, &join(cwd, ".env")) else { return false };
    let mut values = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("DATABASE_URL")?.trim_start().strip_prefix('='));
    let (Some(value), None) = (values.next(), values.next()) else { return false };
    let value = value.trim().trim_matches(['"', '\'']);
    let told = ["--url", "--database-url", "--env-file", "--schema", "--config"]
        .iter()
        .any(|flag| has_flag(inv, flag));
    value.contains("://")
        && is_this_machine(&host_of(value))
        && !standing::says_live(value)
        && !told
        && !scene.command_line().contains("DATABASE_URL")
        && place_of(inv, scene) != Place::Elsewhere
}
