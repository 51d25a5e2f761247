//! Addresses of private networks and of this machine that a tool asks for.

use super::{FETCHING, SECRET_PARTS, SERVICES, fetched, opens};
use crate::rules::matcher::{Found, Scene, four, host_of};

/// Names that stand for this machine.
const LOOPBACK_NAMES: &[&str] = &["localtest.me", "lvh.me", "vcap.me", "lacolhost.com"];

/// A service of a private network that is asked for its secrets, with a password in the address or by the wire next door.
pub(in crate::rules::builtin::tools) fn private_secret<'a>(scene: &Scene<'a>) -> Found<'a> {
    let asked = |url: &str| {
        let lower = url.to_ascii_lowercase();
        let (authority, rest) =
            lower.split_once("://").map_or(("", ""), |(_, rest)| rest.split_once('/').unwrap_or((rest, "")));
        let path = format!("/{rest}");
        // A service of a network of containers.
        let named = || {
            !matches!(host_of(url).as_str(), "localhost" | "")
                && !host_of(url).contains(['.', ':'])
                && url.contains("://")
        };
        (is_private_address(url) || named())
            && (SECRET_PARTS.iter().any(|part| path.contains(part))
                || authority.contains('@')
                || host_of(url).starts_with("fe80:"))
    };
    fetched(scene, asked, |told| {
        opens(told) && told.args.iter().any(|(_, value)| value.len() < 4096 && asked(value))
    })
}

/// An address in a private network, or a port of this machine that is no place for a page.
pub(in crate::rules::builtin::tools) fn private_address<'a>(scene: &Scene<'a>) -> Found<'a> {
    fetched(scene, is_private_address, |told| {
        (told.names(FETCHING) || told.names(&["playwright"]))
            && told.values(&["url", "uri", "endpoint", "targeturl", "href", "urls"]).any(is_private_address)
    })
}

fn is_private_address(url: &str) -> bool {
    let Some((scheme, rest)) = url.trim().split_once("://") else { return false };
    let scheme = scheme.to_ascii_lowercase();
    let asks = scheme.starts_with("http") || matches!(scheme.as_str(), "ftp" | "ftps" | "sftp" | "smb");
    if !asks || url.contains(char::is_whitespace) {
        return false;
    }
    let written = host_of(url);
    let host = four(&written)
        .map_or_else(|| written.clone(), |address| address.map(|byte| byte.to_string()).join("."));
    // Nobody who means a page of this machine writes its number so.
    if host != written && (host.starts_with("127.") || host == "0.0.0.0") {
        return true;
    }
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let port = authority.rsplit_once(':').map(|(_, port)| port).unwrap_or_default();
    let mut numbers = host.split('.').map(str::parse::<u8>);
    let private = match (numbers.next(), numbers.next(), host.split('.').count()) {
        (Some(Ok(10)), Some(Ok(_)), 4)
        | (Some(Ok(192)), Some(Ok(168)), 4)
        | (Some(Ok(169)), Some(Ok(254)), 4) => true,
        (Some(Ok(172)), Some(Ok(second)), 4) => (16..=31).contains(&second),
        _ => false,
    };
    let local = matches!(host.as_str(), "localhost" | "::1" | "0.0.0.0" | "0" | "host.docker.internal")
        || host.starts_with("127.")
        || LOOPBACK_NAMES.iter().any(|name| {
            host.strip_suffix(name).is_some_and(|front| front.is_empty() || front.ends_with('.'))
        });
    let cluster = host.ends_with(".svc")
        || host.ends_with(".cluster.local")
        || host.ends_with(".consul")
        || host == "kubernetes.default"
        || host.ends_with(".internal") && host != "host.docker.internal";
    let linked = host.starts_with("fe80:")
        || host.starts_with("fc") && host.contains(':')
        || host.starts_with("fd") && host.contains(':');
    private || cluster || linked || local && SERVICES.contains(&port)
}
