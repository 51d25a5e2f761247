//! Services of a cloud that hand out the credentials of the machine.

use crate::domain::{Action, OneOf};
use crate::rules::Invocation;
use crate::rules::builtin::{lists, scripts};
use crate::rules::matcher::{
    Found, Scene, has_flag, host_of, input_of, is_metadata, is_metadata_address, is_prose, metadata_fetched,
    runs, squeeze, tells_where,
};
use crate::shell::Arg;
use std::cell::LazyCell;

words!("builtin/network/metadata");

/// A tool that is not ours to know, given an address of a metadata service as a whole value.
fn metadata_by_tool<'a>(scene: &Scene<'a>) -> Found<'a> {
    let Action::Other { text, .. } = &scene.view.call.action else { return Found::No };
    let named = scripts::strings(text).iter().any(|value| {
        value.contains("://") && !value.contains(char::is_whitespace) && is_metadata(&host_of(value))
    });
    if named { Found::yes(text) } else { Found::No }
}

fn metadata_named<'a>(scene: &Scene<'a>) -> Found<'a> {
    let may_talk = |inv: &Invocation| {
        inv.program == "git"
            || runs(inv, lists::SENDERS)
            || runs(inv, lists::NETCATS)
            || runs(inv, lists::DOWNLOADERS)
            || runs(inv, lists::CONNECTIONS)
            || runs(inv, lists::FETCHERS)
    };
    let line = LazyCell::new(|| MetadataLine::of(scene.command_line()));
    let found = scene.running(may_talk).find(|inv| {
        const TALKS: &[&str] = &["clone", "ls-remote", "fetch", "pull", "push", "archive"];
        let talks = inv.program != "git" || inv.sub.first().is_some_and(|sub| TALKS.contains(&sub.as_str()));
        talks
            && !only_sought(inv)
            && (inv.args.iter().any(|arg| names_metadata(arg) && !is_prose(inv, arg) && !is_word_of_its_own(inv, arg))
                || runs(inv, lists::DOWNLOADERS) && computed_metadata(inv, &line)
                // What the container's own variable holds is known by its name alone.
                || inv.text.contains('$') && !inv.text.contains('\'') && CREDENTIAL_VARIABLES.iter().any(|name| inv.text.contains(name))
                || input_of(inv, scene).iter().any(|text| {
                    runs(inv, lists::DOWNLOADERS)
                        && text
                            .split([' ', '=', '"', '\n'])
                            .any(|word| word.contains("://") && is_metadata(&host_of(word)))
                }))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// `npm run metadata`: a bare word is a host only to what connects to the host that it is given.
fn is_word_of_its_own(inv: &Invocation, arg: &Arg) -> bool {
    const TO_HOSTS: [&[&str]; 4] = [lists::SENDERS, lists::NETCATS, lists::DOWNLOADERS, lists::CONNECTIONS];
    let is_word = arg.known().is_some_and(|text| text.bytes().all(|b| b.is_ascii_alphabetic() || b == b'-'));
    is_word && !TO_HOSTS.iter().any(|list| runs(inv, list))
}

/// What the whole command line says of a metadata service, looked for once.
struct MetadataLine {
    /// Numbers that the shell makes its address of.
    computed: bool,
    named: bool,
    as_proxy: bool,
}

impl MetadataLine {
    fn of(line: &str) -> MetadataLine {
        const NUMBERS: &[&str] =
            &["0xa9fea9fe", "2852039166", "169*16777216", "169<<24", "169*256**3", "0xa9<<24"];
        let lower = line.to_ascii_lowercase();
        let squeezed: String =
            lower.chars().filter(|c| !c.is_whitespace() && !matches!(c, '(' | ')')).collect();
        let as_proxy = lower.match_indices("_proxy=").any(|(at, sign)| {
            let value = lower.get(at + sign.len()..).unwrap_or_default().trim_start_matches(['"', '\'']);
            let value = value.split([' ', ';', '"', '\'', '&']).next().unwrap_or_default();
            is_metadata(&host_of(value))
        });
        MetadataLine {
            computed: NUMBERS.iter().any(|number| squeezed.contains(number)),
            named: lower.contains("169.254.169.254"),
            as_proxy,
        }
    }
}

/// The address is worked out by the shell, set as the proxy in front of the command, or comes in by a list.
fn computed_metadata(inv: &Invocation, line: &MetadataLine) -> bool {
    let listed = || ["-i", "--input-file", "-K", "--config"].iter().any(|flag| has_flag(inv, flag));
    inv.text.contains('$') && line.computed || line.named && listed() || line.as_proxy
}

/// The address is a word of a search, of a test's name or of a look-up of who owns it.
fn only_sought(inv: &Invocation) -> bool {
    let first = inv.sub.first().map(String::as_str).or_else(|| inv.operands.first().and_then(Arg::known));
    match inv.program.as_str() {
        "whois" => true,
        "gh" | "glab" => matches!(first, Some("search" | "issue" | "pr" | "mr")),
        "go" | "npm" | "pnpm" | "yarn" | "bun" | "cargo" | "deno" => {
            matches!(first, Some("test" | "t" | "bench"))
        }
        _ => false,
    }
}

static HOSTS: OneOf<{ lists::METADATA_HOSTS.len() }> = OneOf::new(lists::METADATA_HOSTS);

/// An address of a metadata service anywhere in an argument: as URL, behind a port, as the value of an option.
fn names_metadata(arg: &Arg) -> bool {
    let text = arg.text();
    // An address has a number, and nearly every word of a command has neither that nor the letters of such a name.
    let is_told =
        text.bytes().any(|b| b.is_ascii_digit() || !b.is_ascii() || matches!(b, b':' | b'%' | b'$'));
    if !is_told && !HOSTS.may_stand_in(&text) {
        return false;
    }
    // `-H Metadata:true`, without which Azure's tells nothing.
    let header =
        || text.split_once(':').is_some_and(|(name, value)| name == "Metadata" && value.trim() == "true");
    if arg.known().is_some_and(tells_where) || header() {
        return false;
    }
    // As one part of another address.
    let decoded =
        text.contains("%2").then(|| text.replace("%2F", "/").replace("%2f", "/").replace("%3A", ":"));
    let parts =
        || decoded.as_deref().unwrap_or(&text).split(['/', '@', '=', ',', ' ', '?', '#', '\\', '"', '\'']);
    is_metadata(&host_of(&text))
        || text.contains('$') && CREDENTIAL_VARIABLES.iter().any(|name| text.contains(name))
        || parts().any(|part| {
            let begins = part.trim_start_matches(|c: char| !c.is_ascii_digit()).starts_with("169.254.");
            begins
                || is_metadata_address(part)
                || part.split(':').any(|part| part.contains('.') && is_metadata(part))
        })
}

/// Code that asks a metadata service, whose address may be put together out of pieces.
fn metadata_in_code<'a>(scene: &Scene<'a>) -> Found<'a> {
    scene.code_where(|codes, _| {
        codes.iter().any(|text| {
            let asks =
                ["http", "connect", "request", "fetch", "/inet/tcp"].iter().any(|word| text.holds(word));
            if !asks {
                return false;
            }
            let squeezed = squeeze(text).to_ascii_lowercase();
            // An address in numbers of another base, or in fewer than four.
            let odd = |rest: &str| {
                let end = rest.find(['\'', '"', '`', ')', ' ']).unwrap_or(rest.len());
                is_metadata_address(&host_of(rest.get(..end).unwrap_or_default()))
            };
            METADATA_NAMES.iter().any(|name| squeezed.contains(name))
                || text.split("://").skip(1).take(64).any(odd)
        })
    })
}
