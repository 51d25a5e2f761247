//! The host of a URL, and what is known of it.

use super::when::HostIs;
use super::{Found, Scene};
use crate::domain::{Action, Effect, EffectKind, Policy, Target};

pub(super) fn find<'a>(hosts: HostIs<'_>, scene: &Scene<'a>) -> Found<'a> {
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

fn matches(hosts: HostIs<'_>, url: &str) -> bool {
    let host = host_of(url);
    let HostIs::Is(names) = hosts;
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
