//! Names of secrets, and text that looks for them.

use crate::rules::builtin::lists;

words!("builtin/secrets/names");

/// Whether the name of a variable that comes out of a file of settings says that its value is a secret, or holds one: an address
/// with a password in it.
pub(in crate::rules::builtin) fn is_telling(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    let shared = ["PUBLIC", "PUBLISHABLE", "CACHE_KEY", "SORT_KEY", "PRIMARY_KEY", "PARTITION_KEY"];
    is_secret_name(name)
        || ADDRESSES.iter().any(|end| upper.ends_with(end))
        || upper.ends_with("_KEY") && !shared.iter().any(|word| upper.contains(word))
}

/// Whether a variable's name says that its value is secret.
pub(crate) fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let ends = SECRET_ENDS;
    ends.iter().any(|end| name.ends_with(end))
        || name.contains("SECRET_")
        || name.ends_with("_PAT")
        || name.ends_with("_PASS")
}

/// The variables that a text expands as they are: `$NAME`, `${NAME}`.
pub(in crate::rules::builtin) fn names_in(text: &str) -> impl Iterator<Item = &str> {
    text.split('$').skip(1).filter_map(|rest| {
        let braced = rest.strip_prefix('{');
        let body = braced.unwrap_or(rest);
        let end = body.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(body.len());
        // A part of the value is as good as the value: `${NAME:0:40}`, `${NAME:-none}`.
        let plain = braced.is_none()
            || body.get(end..).is_some_and(|tail| {
                let sliced = tail.strip_prefix(':').is_some_and(|tail| {
                    tail.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '=' | ' ' | '$'))
                        && !is_front(tail)
                });
                // `${NAME^^}`, `${NAME#x}`: most of the value, whatever is done to it.
                let changed =
                    tail.starts_with(['-', '#', '%', '/', '^', ',', '@']) && !tail.starts_with("@a");
                // `${NAME:$i:1}`: what stands behind the colon is not known.
                tail.starts_with('}') || sliced || changed || tail == ":"
            });
        if plain { body.get(..end) } else { None }
    })
}

/// `0:4}`: the first few letters, by which a person knows which key it is.
fn is_front(slice: &str) -> bool {
    const FEW: u32 = 6;
    let length = slice.strip_prefix("0:").and_then(|rest| rest.split('}').next());
    length.and_then(|length| length.parse::<u32>().ok()).is_some_and(|length| length <= FEW)
}

pub(super) fn hunts(text: &str) -> bool {
    let text = text.trim_matches('*');
    lists::SECRET_NAMES.contains(&text)
        || lists::SECRET_ENDINGS.contains(&text)
        || matches!(
            text,
            ".pem"
                | ".key"
                | "id_"
                | "credentials"
                | "credentials.json"
                | ".env"
                | "kubeconfig"
                | ".ovpn"
                | "_rsa"
                | "secret"
                | "password"
        )
        || matches!(
            letters(text).as_str(),
            "apikey" | "password" | "passwd" | "token" | "secretkey" | "accesskey" | "privatekey"
        )
        || text.contains("PRIVATE KEY")
        || text.contains("aws_secret")
        || shaped(text)
        || text.contains('|')
            && text.split(['|', '(', ')']).any(|part| {
                matches!(letters(part).as_str(), "apikey" | "password" | "passwd" | "secretkey" | "accesskey")
            })
}

/// The beginning of a token or a key, as a pattern has it.
pub(super) fn shaped(text: &str) -> bool {
    // Each of them holds one of these.
    if !text.bytes().any(|byte| matches!(byte, b'_' | b'-' | b'A')) {
        return false;
    }
    ["AKIA", "ghp_", "github_pat_", "xoxb-", "xoxp-", "sk_live", "sk-ant", "sk-[", "AIza", "glpat-"]
        .iter()
        .any(|shape| text.contains(shape))
}

/// `api[_-]?key` as `apikey`.
fn letters(text: &str) -> String {
    text.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase()
}
