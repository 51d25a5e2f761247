//! Options by which what protects is switched off or everybody is let in, whatever the program that is given them.

use super::verb;
use crate::rules::facts::words::{GUARDING, STRONG, WEAK};
use crate::rules::matcher::Told;

/// Whether a value says something to a program: what is written in words says it to people, but for what is written as JSON.
fn is_setting(value: &str) -> bool {
    !value.trim().contains(char::is_whitespace) || value.trim_start().starts_with(['{', '['])
}

/// Whether an option says of what protects that it is off: `--deletion-protection false`, `--no-public-access-prevention`, and
/// `--enabled=false` where the subcommand names it.
pub(super) fn are_off(told: &Told<'_>) -> bool {
    let guards = |name: &str| GUARDING.iter().any(|guard| name.contains(guard));
    let given = || told.args.iter().filter(|(key, _)| key.is_empty()).map(|(_, value)| value);
    let named =
        told.words.iter().any(|word| guards(word)) || given().any(|value| is_setting(value) && guards(value));
    verb(told).is_some()
        && told.args.iter().any(|(key, value)| {
            let turned =
                ["disable", "no"].iter().find_map(|front| key.strip_prefix(front)).is_some_and(guards);
            let off =
                matches!(value.as_str(), "false" | "off" | "0" | "no" | "none" | "disabled" | "disable");
            // What a cluster writes down and shows; of a tool it is only how much it prints.
            let watched = value == "NONE" && matches!(key.as_str(), "logging" | "monitoring");
            let said = || {
                is_setting(value)
                    && said_off(value).any(|name| guards(&name) || named && name.starts_with("enable"))
            };
            let off = off && (guards(key) || named && key.starts_with("enable"));
            if turned { value != "false" } else { off || watched || said() }
        })
}

/// The names that a value says are off: `-s bruteForceProtected=false`, `{"enabled": false}`.
fn said_off(value: &str) -> impl Iterator<Item = String> {
    let bare = |part: &str| {
        part.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase()
    };
    value.split([',', '{', '}']).filter_map(move |part| {
        let (name, said) = part.split_once(['=', ':'])?;
        (bare(said) == "false").then(|| bare(name))
    })
}

/// Whether an argument names every address there is, and not to take it away.
pub(super) fn let_all_in(told: &Told<'_>) -> bool {
    let keeps_out =
        |verb: &str| STRONG.contains(&verb) || WEAK.contains(&verb) || matches!(verb, "revoke" | "deny");
    let every =
        |value: &str| value.contains("0.0.0.0/0") || value.split([',', '=', ':']).any(|part| part == "::/0");
    verb(told).is_some_and(|verb| !keeps_out(verb))
        && told.args.iter().any(|(_, value)| is_setting(value) && every(value))
}
