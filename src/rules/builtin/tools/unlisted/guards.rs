//! Options by which what protects is switched off or everybody is let in, whatever the program that is given them.

use super::verb;
use crate::rules::facts::words::{GUARDING, STRONG, WEAK};
use crate::rules::matcher::Told;

/// Whether an option says of what protects that it is off: `--deletion-protection false`, `--no-public-access-prevention`, and
/// `--enabled=false` where the subcommand names it.
pub(super) fn are_off(told: &Told<'_>) -> bool {
    let guards = |name: &str| GUARDING.iter().any(|guard| name.contains(guard));
    let named = told.words.iter().any(|word| guards(word));
    verb(told).is_some()
        && told.args.iter().any(|(key, value)| {
            let turned =
                ["disable", "no"].iter().find_map(|front| key.strip_prefix(front)).is_some_and(guards);
            let off =
                matches!(value.as_str(), "false" | "off" | "0" | "no" | "none" | "disabled" | "disable");
            if turned { value != "false" } else { off && (guards(key) || named && key.starts_with("enable")) }
        })
}

/// Whether an argument names every address there is, and not to take it away.
pub(super) fn let_all_in(told: &Told<'_>) -> bool {
    let keeps_out =
        |verb: &str| STRONG.contains(&verb) || WEAK.contains(&verb) || matches!(verb, "revoke" | "deny");
    let every =
        |value: &str| value.contains("0.0.0.0/0") || value.split([',', '=', ':']).any(|part| part == "::/0");
    verb(told).is_some_and(|verb| !keeps_out(verb)) && told.args.iter().any(|(_, value)| every(value))
}
