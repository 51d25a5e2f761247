//! Variables, secrets and names of what runs with a host, changed by the host's command line: what others use is another thing afterwards.

use super::PROVIDERS;
use crate::domain::Verdict;
use crate::rules::Invocation;
use crate::rules::builtin::operations;
use crate::rules::builtin::{lists, predicate, standing};
use crate::rules::facts::operations::SETS_HOSTING;
use crate::rules::matcher::{Found, Instead, RULE, Rule, Scene, Trigger, runs};
use crate::shell::Arg;

pub(in crate::rules::builtin) const RULES: &[Rule] = &[Rule {
    id: "cloud.settings-changed",
    verdict: Verdict::Modify,
    reason: "changes the variables, secrets or DNS names of what runs for others",
    instead: Some(Instead::Advice("name the setting and its value, and let the person change it")),
    when: &[
        predicate("hosted_settings_changed", Trigger::rows(SETS_HOSTING), |scene| {
            operations::done_where(scene, SETS_HOSTING, |inv| !is_own(inv))
        }),
        predicate("hosted_settings_changed_by_request", Trigger::programs(lists::DOWNLOADERS), by_request),
    ],
    ..RULE
}];

/// Programs that work on an environment of one's own until they are given another.
const OWN_FIRST: &[&str] = &["doppler", "infisical", "sst", "convex", "vault"];

/// Operations by which what runs with a host gets other variables, secrets or names.
/// A request to a provider that writes where it keeps names, variables or secrets.
fn by_request<'a>(scene: &Scene<'a>) -> Found<'a> {
    const KEPT: &[&str] = &[
        "dns_records",
        "records",
        "env",
        "env-vars",
        "envvars",
        "config-vars",
        "secrets",
        "variables",
        "dns",
    ];
    let found = scene.first(lists::DOWNLOADERS, |inv| {
        let texts: Vec<_> = inv.args.iter().map(Arg::text).collect();
        let kept = |text: &str| {
            let path = text.split(['?', '#']).next().unwrap_or_default();
            PROVIDERS.iter().any(|provider| path.contains(provider))
                && path.split('/').any(|part| KEPT.contains(&part))
        };
        let writes = |text: &str| {
            let text = text.strip_prefix("-X").or_else(|| text.strip_prefix("--request=")).unwrap_or(text);
            matches!(text, "PUT" | "PATCH" | "POST")
        };
        texts.iter().any(|text| writes(text)) && texts.iter().any(|text| kept(text))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// Whether the command names an environment that a person works on alone.
fn is_own(inv: &Invocation) -> bool {
    let first = || runs(inv, OWN_FIRST) && !operations::known_words(inv).contains(&"--prod");
    standing::chooses_own(inv) || first() && !standing::names_live(inv)
}
