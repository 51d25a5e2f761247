//! Tokens and passwords in a text.

use crate::rules::builtin::standing;
use crate::rules::survey::decode_base64;

words!("builtin/tools/sends/tokens");

/// Whether a text holds a private key or a token.
pub(in crate::rules::builtin::tools) fn holds_secret(text: &str) -> bool {
    // Between backquotes it is spoken of.
    let whole = |at: usize| {
        let spoken = text.get(..at).is_some_and(|front| front.ends_with('`'));
        let rest = text.get(at..).unwrap_or_default();
        rest.split_once("PRIVATE KEY-----").is_some_and(|(_, body)| !spoken || !body.starts_with('`'))
    };
    if text.match_indices("-----BEGIN").take(64).any(|(at, _)| whole(at)) {
        return true;
    }
    let named = |name: &str| {
        let lower = text.to_ascii_lowercase();
        lower.match_indices(name).any(|(at, _)| {
            let rest = lower
                .get(at + name.len()..)
                .unwrap_or_default()
                .trim_start_matches([' ', '=', ':', '"', '\'']);
            rest.chars()
                .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '/' | '+' | '_' | '-'))
                .count()
                >= 20
        })
    };
    let token = |(start, least): &(&str, usize)| {
        text.match_indices(start).any(|(at, _)| {
            let apart = !text
                .get(..at)
                .and_then(|front| front.chars().next_back())
                .is_some_and(char::is_alphanumeric);
            let rest = text.get(at + start.len()..).unwrap_or_default();
            apart
                && rest
                    .chars()
                    .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
                    .count()
                    >= *least
        })
    };
    TOKENS.iter().any(token)
        || text.len() < 65536 && ["aws_secret_access_key", "secretaccesskey"].iter().any(|name| named(name))
}

/// A password in the address of a database on another machine.
pub(in crate::rules::builtin) fn holds_database_password(text: &str) -> bool {
    const MADE_UP: &[&str] = &["password", "changeme", "example", "placeholder"];
    let tells = |rest: &str| {
        let end = |c: char| c.is_whitespace() || matches!(c, '/' | '"' | '\'' | '`' | '?' | '<');
        let authority = rest.split(end).next().unwrap_or_default();
        let Some((user, host)) = authority.rsplit_once('@') else { return false };
        let Some((name, password)) = user.split_once(':') else { return false };
        let host = host.split(':').next().unwrap_or_default().to_ascii_lowercase();
        let own = matches!(host.as_str(), "localhost" | "host" | "hostname")
            || host.starts_with("127.")
            || host.contains("example");
        let lower = password.to_ascii_lowercase();
        password.len() >= 8
            && password != name
            && password.bytes().any(|b| b.is_ascii_digit())
            && password.bytes().any(|b| b.is_ascii_alphabetic())
            && !password.contains(['$', '{', '*', '[', '…'])
            && !MADE_UP.iter().any(|word| lower.contains(word))
            && !own
    };
    standing::DATABASES.iter().any(|scheme| {
        text.match_indices(scheme)
            .take(16)
            .any(|(at, _)| tells(text.get(at + scheme.len()..).unwrap_or_default()))
    })
}

/// A private key or a token in a text, or in what a part of it is base64 of.
pub(super) fn holds_encoded(text: &str) -> bool {
    if holds_secret(text) {
        return true;
    }
    let runs = text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '-' | '_')));
    { runs }.filter(|run| run.len() >= 40).take(16).any(|run| {
        let bytes = decode_base64(run.get(..8192.min(run.len())).unwrap_or_default());
        std::str::from_utf8(&bytes).is_ok_and(holds_secret)
            || ["PRIVATE KEY-----", "openssh-key-v1", "root:x:0:0:"]
                .iter()
                .any(|part| String::from_utf8_lossy(&bytes).contains(part))
    })
}
