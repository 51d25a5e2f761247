//! Variables, secrets and names of what runs with a host, changed by the host's command line: what others use is another thing afterwards.

use super::PROVIDERS;
use crate::rules::Invocation;
use crate::rules::builtin::operations;
use crate::rules::builtin::{lists, standing};
use crate::rules::matcher::runs;
use crate::shell::Arg;

words!("builtin/cloud/settings");

/// Programs that work on an environment of one's own until they are given another.
const OWN_FIRST: &[&str] = &["doppler", "infisical", "sst", "convex", "vault"];

/// Operations by which what runs with a host gets other variables, secrets or names.
/// A request to a provider that writes where it keeps names, variables or secrets.
fn by_request(inv: &Invocation) -> bool {
    let texts: Vec<_> = inv.args.iter().map(Arg::text).collect();
    let kept = |text: &str| {
        let path = text.split(['?', '#']).next().unwrap_or_default();
        PROVIDERS.iter().any(|provider| path.contains(provider))
            && path.split('/').any(|part| KEPT_SETTINGS.contains(&part))
    };
    let writes = |text: &str| {
        let text = text.strip_prefix("-X").or_else(|| text.strip_prefix("--request=")).unwrap_or(text);
        matches!(text, "PUT" | "PATCH" | "POST")
    };
    texts.iter().any(|text| writes(text)) && texts.iter().any(|text| kept(text))
}

/// Whether the command names an environment that a person works on alone.
fn is_own(inv: &Invocation) -> bool {
    let first = || runs(inv, OWN_FIRST) && !operations::known_words(inv).contains(&"--prod");
    standing::chooses_own(inv) || first() && !standing::names_live(inv)
}
