//! The host of a URL, and what is known of it.

use std::net::Ipv6Addr;

use super::when::HostIs;
use super::{Found, Scene};
use crate::domain::{Action, Effect, EffectKind, Policy, Target};
use crate::rules::builtin::lists;

pub(super) fn find<'a>(HostIs::Is(names): HostIs<'_>, scene: &Scene<'a>) -> Found<'a> {
    fetched(scene, |url| is_below(&host_of(url), names))
}

/// A request to what hands out a cloud machine's credentials, in any spelling.
pub(crate) fn metadata_fetched<'a>(scene: &Scene<'a>) -> Found<'a> {
    let asks = |url: &str| is_metadata(&host_of(url)) || begins_link_local(url) || names_twice(url);
    fetched(scene, |url| asks(url) && !tells_where(url))
}

words!("matcher/host");

/// Whether an address, as it is written, asks a metadata service for no more than that.
pub(crate) fn tells_where(url: &str) -> bool {
    let place = url.split('?').next().unwrap_or(url);
    WHERE.contains(&place.trim_end_matches('/'))
}

fn fetched<'a>(scene: &Scene<'a>, is: impl Fn(&str) -> bool) -> Found<'a> {
    if let Action::Fetch { url, .. } = &scene.view.call.action
        && (is(url) || repaired(url).is_some_and(|url| is(&url)))
    {
        return Found::yes(url);
    }
    let url_of = |effect: &'a Effect| match &effect.target {
        Target::Url(url) if effect.kind == EffectKind::NetworkRequest => Some(url.as_str()),
        _ => None,
    };
    let mut urls = scene.view.survey.effects.iter().filter_map(url_of);
    Found::from(urls.find(|url| is(url)))
}

/// The address that a client makes of one with too few slashes, or with the other ones: `http:x`, `http:\\\\x`.
fn repaired(url: &str) -> Option<String> {
    let (scheme, rest) = url.trim().split_once(':')?;
    let web = ["http", "https"].iter().any(|name| scheme.eq_ignore_ascii_case(name));
    (web && !rest.starts_with("//"))
        .then(|| format!("http://{}", rest.trim_start_matches(['/', '\\']).replace('\\', "/")))
}

fn is_below(host: &str, names: &[&str]) -> bool {
    names
        .iter()
        .any(|name| host == *name || host.strip_suffix(name).is_some_and(|front| front.ends_with('.')))
}

/// Beginning of the addresses that only the machine next door answers.
const LINK_LOCAL: &str = "169.254.";

/// An address of which the end is only known once it runs, and which begins like a metadata service's.
fn begins_link_local(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.starts_with(LINK_LOCAL)
}

/// Whether a host hands out a cloud machine's credentials, in any spelling of its name or address.
pub(crate) fn is_metadata(host: &str) -> bool {
    is_below(host, lists::METADATA_HOSTS) || is_metadata_address(host)
}

/// The same, of addresses only: as numbers of any base, as IPv6, or in a name that stands for the address in it.
pub(crate) fn is_metadata_address(host: &str) -> bool {
    let host = plain(host);
    let host = host.trim_end_matches('.');
    if host.contains(':')
        && let Ok(address) = host.trim_matches(['[', ']']).parse::<Ipv6Addr>()
    {
        return is_metadata_v6(address);
    }
    let named = lists::ADDRESS_NAMES.iter().find_map(|end| host.strip_suffix(end));
    named.map_or_else(|| four(host), in_name).is_some_and(hands_out)
}

fn hands_out(address: [u8; 4]) -> bool {
    matches!(address, [169, 254, _, _] | [100, 100, 100, 200] | [192, 0, 0, 192] | [168, 63, 129, 16])
}

fn is_metadata_v6(address: Ipv6Addr) -> bool {
    match address.segments() {
        [0xfd00, 0x0ec2, ..] | [0xfd20, 0x00ce, ..] | [0xfe80, .., 0xa9fe, _] | [0x2002, 0xa9fe, ..] => true,
        // An IPv4 address in it: mapped, compatible, translated.
        [0, 0, 0, 0, 0 | 0xffff, 0 | 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
            hands_out([a, b, c, d])
        }
        _ => false,
    }
}

/// Percent signs decoded, and the dots and digits of other scripts that resolvers take for ours.
fn plain(host: &str) -> String {
    let mut out = String::with_capacity(host.len());
    let mut chars = host.chars();
    while let Some(c) = chars.next() {
        let code = u32::from(c);
        match c {
            '%' => {
                let digits: String = chars.by_ref().take(2).collect();
                out.extend(u8::from_str_radix(&digits, 16).ok().map(char::from));
            }
            '。' | '．' | '｡' => out.push('.'),
            '\u{ff10}'..='\u{ff19}' => out.extend(char::from_digit(code.saturating_sub(0xff10), 10)),
            '\u{2460}'..='\u{2468}' => out.extend(char::from_digit(code.saturating_sub(0x245f), 10)),
            '\u{24ea}' => out.push('0'),
            c => out.push(c),
        }
    }
    out
}

/// A metadata service in front of a second `@`, which some readers take for the host.
fn names_twice(url: &str) -> bool {
    let authority = url.split_once("://").map_or(url, |(_, rest)| rest).split(['/', '?', '#']).next();
    let pieces = authority.unwrap_or_default().split('@');
    authority.is_some_and(|text| text.matches('@').count() > 1)
        && pieces.into_iter().any(|piece| is_metadata(&host_of(&format!("http://{piece}"))))
}

/// The four bytes of an address of one to four numbers, each decimal, octal or hexadecimal, as the C library reads it.
pub(crate) fn four(host: &str) -> Option<[u8; 4]> {
    if !host.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let mut numbers = Vec::new();
    for part in host.split('.') {
        let (digits, base) = match part.strip_prefix("0x").or_else(|| part.strip_prefix("0X")) {
            Some(digits) => (digits, 16),
            None if part.len() > 1 && part.starts_with('0') => (part, 8),
            None => (part, 10),
        };
        numbers.push(u64::from_str_radix(digits, base).ok()?);
    }
    let (last, front) = numbers.split_last()?;
    let count = u32::try_from(front.len()).ok().filter(|count| *count < 4)?;
    let mut address = last & (0xffff_ffff >> (8 * count));
    for (number, shift) in front.iter().zip([24, 16, 8]) {
        // Some readers take what is too big modulo 256.
        address |= (number & 0xff) << shift;
    }
    Some(u32::try_from(address).ok()?.to_be_bytes())
}

/// The address in the name of a service that resolves `10.0.0.1.x.example` and `10-0-0-1.x.example` to it.
fn in_name(front: &str) -> Option<[u8; 4]> {
    let parts: Vec<&str> = front.split(['.', '-']).filter(|part| !part.is_empty()).collect();
    let hex = parts.last().filter(|part| part.len() == 8);
    if let Some(number) = hex.and_then(|part| u32::from_str_radix(part, 16).ok()) {
        return Some(number.to_be_bytes());
    }
    four(&parts.get(parts.len().checked_sub(4)?..)?.join("."))
}

/// The host in lower case, without brackets; empty when there is none or it is not known.
pub(crate) fn host_of(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    // A backslash ends the host for some programs, and is part of the user for others.
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((inner, _)) => inner,
        None => host.split(':').next().unwrap_or_default(),
    };
    if host.contains('…') { String::new() } else { host.trim_end_matches('.').to_ascii_lowercase() }
}

/// Known to the policy, or local or private. `.example.org` in the policy stands for all hosts below it.
pub(crate) fn is_known(host: &str, policy: &Policy) -> bool {
    is_private(host)
        || policy.known_hosts.iter().any(|known| {
            let known = known.trim_matches(['[', ']']);
            let below = known.strip_prefix('*').unwrap_or(known);
            known == host || (below.starts_with('.') && host.ends_with(below))
        })
}

/// Hosts of this machine and of private networks. The hosts that hand out credentials are not for this to judge.
pub(crate) fn is_private(host: &str) -> bool {
    if matches!(host, "localhost" | "::1" | "0.0.0.0" | "::" | "host.docker.internal")
        || host.starts_with("127.")
    {
        return true;
    }
    if [".localhost", ".local", ".test", ".lan", ".internal", ".home.arpa"]
        .iter()
        .any(|end| host.ends_with(end))
    {
        return true;
    }
    if !host.contains(['.', ':']) {
        // A single label: a service of a local network, unless it is an address written as a number.
        return !host.starts_with("0x") && !host.bytes().all(|b| b.is_ascii_digit());
    }
    let mut numbers = host.split('.').map(str::parse::<u8>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(10)), Some(Ok(_))) | (Some(Ok(192)), Some(Ok(168))) => true,
        (Some(Ok(172)), Some(Ok(second))) => (16..=31).contains(&second),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts() {
        for (url, host) in [
            ("https://x.example/i.sh", "x.example"),
            ("HTTP://User:pw@X.Example:8080/a?b@c", "x.example"),
            ("http://[fd00:ec2::254]/latest", "fd00:ec2::254"),
            ("169.254.169.254/latest", "169.254.169.254"),
            ("https://github.com\\@evil.example/", "github.com"),
            ("https://metadata.google.internal./x", "metadata.google.internal"),
            ("https://…/x", ""),
        ] {
            assert_eq!(host_of(url), host, "{url}");
        }
    }

    #[test]
    fn known() {
        let mut policy = Policy::default();
        policy.known_hosts.push(".example.org".to_owned());
        for (host, expected) in [
            ("github.com", true),
            ("evil-github.com", false),
            ("a.example.org", true),
            ("example.org", false),
            ("10.0.0.7", true),
            ("172.32.0.1", false),
            ("100.64.0.1", false),
            ("2130706433", false),
            ("db", true),
        ] {
            assert_eq!(is_known(host, &policy), expected, "{host}");
        }
    }
}
