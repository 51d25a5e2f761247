//! The host of a URL, and what is known of it.

use super::{Found, Hosts, Scene};
use crate::domain::{Action, Effect, EffectKind, Policy, Target};

pub(super) fn find<'a>(hosts: Hosts, scene: &Scene<'a>) -> Found<'a> {
    if let Action::Fetch { url } = &scene.view.call.action
        && matches(hosts, url)
    {
        return Found::yes(url);
    }
    let url_of = |effect: &'a Effect| match &effect.target {
        Target::Url(url) if effect.kind == EffectKind::NetworkRequest => Some(url.as_str()),
        _ => None,
    };
    let mut urls = scene.view.survey.effects.iter().filter_map(url_of);
    Found::from(urls.find(|url| matches(hosts, url)))
}

fn matches(hosts: Hosts, url: &str) -> bool {
    let host = host_of(url);
    let Hosts::Is(names) = hosts;
    names
        .iter()
        .any(|name| host == *name || host.strip_suffix(name).is_some_and(|front| front.ends_with('.')))
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
    if host.contains('…') { String::new() } else { spelled_out(host.trim_end_matches('.')) }
}

/// A host as a program understands it: full-width signs and escapes resolved, an address of any spelling as four numbers.
fn spelled_out(host: &str) -> String {
    let mut plain = String::with_capacity(host.len());
    let mut rest = host.chars();
    while let Some(c) = rest.next() {
        let hex = || u8::from_str_radix(rest.as_str().get(..2)?, 16).ok().filter(u8::is_ascii);
        match c {
            '%' => match hex() {
                Some(byte) => {
                    plain.push(char::from(byte));
                    rest.by_ref().take(2).for_each(drop);
                }
                None => plain.push(c),
            },
            '。' | '．' | '｡' => plain.push('.'),
            // The full-width forms of ASCII lie at one distance.
            '！'..='～' => plain.extend(char::from_u32(u32::from(c) - 0xfee0)),
            c => plain.push(c.to_ascii_lowercase()),
        }
    }
    // What was escaped may end the host.
    let plain = plain.split(['/', '?', '#', '\\']).next().unwrap_or_default().trim_end_matches('.');
    let embedded = [".nip.io", ".sslip.io", ".xip.io"].iter().find_map(|end| plain.strip_suffix(end));
    let address = embedded.map(|front| front.replace('-', "."));
    let address = address.as_deref().unwrap_or(plain);
    if let Some(numbers) = ipv4(address) {
        return numbers;
    }
    plain.to_owned()
}

/// An address of one to four numbers, decimal, octal or hexadecimal, as four decimal ones.
fn ipv4(text: &str) -> Option<String> {
    let parts: Vec<&str> = text.split('.').collect();
    if text.is_empty() || parts.len() > 4 {
        return None;
    }
    let number = |part: &&str| match part.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None if part.len() > 1 && part.starts_with('0') => u64::from_str_radix(part, 8).ok(),
        None => part.parse::<u64>().ok(),
    };
    let numbers: Vec<u64> = parts.iter().map(number).collect::<Option<_>>()?;
    let (last, front) = numbers.split_last()?;
    let mut whole: u64 = 0;
    for part in front {
        whole = (whole << 8) | (*part).min(255);
    }
    let rest = 8 * (4 - u64::try_from(front.len()).ok()?);
    let whole = (whole << rest) | last & ((1 << rest) - 1);
    let byte = |shift: u32| (whole >> shift) & 255;
    Some(format!("{}.{}.{}.{}", byte(24), byte(16), byte(8), byte(0)))
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
            ("http://0xa9.0xfe.0xa9.0xfe/", "169.254.169.254"),
            ("http://025177524776/", "169.254.169.254"),
            ("http://169.16689662/", "169.254.169.254"),
            ("http://169.254.169.254.nip.io/", "169.254.169.254"),
            ("http://169-254-169-254.sslip.io/", "169.254.169.254"),
            ("http://１６９.254。169.254/", "169.254.169.254"),
            ("http://%31%36%39.254.169.254%2flatest", "169.254.169.254"),
            ("http://1.x.example/", "1.x.example"),
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
