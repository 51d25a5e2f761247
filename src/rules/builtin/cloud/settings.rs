//! Variables, secrets and names of what runs with a host, changed by the host's command line: what others use is another thing afterwards.

use super::PROVIDERS;
use crate::domain::Verdict;
use crate::rules::Invocation;
use crate::rules::builtin::operations::{self, Operations};
use crate::rules::builtin::{lists, predicate, standing};
use crate::rules::matcher::{Found, Instead, RULE, Rule, Scene, Trigger, runs};
use crate::shell::Arg;

pub(in crate::rules::builtin) const RULES: &[Rule] = &[Rule {
    id: "cloud.settings-changed",
    verdict: Verdict::Modify,
    reason: "changes the variables, secrets or DNS names of what runs for others",
    instead: Some(Instead::Advice("name the setting and its value, and let the person change it")),
    when: &[
        predicate("hosted_settings_changed", Trigger::rows(SETTINGS), |scene| {
            operations::done_where(scene, SETTINGS, |inv| !is_own(inv))
        }),
        predicate("hosted_settings_changed_by_request", Trigger::programs(lists::DOWNLOADERS), by_request),
    ],
    fires: &[
        "vercel env add DATABASE_URL production",
        "printf x | npx vercel env add TEST_API_KEY production",
        "vercel env rm DATABASE_URL production -y",
        "vercel dns add x.example www A 192.0.2.1",
        "netlify env:set API_KEY x",
        "netlify env:set API_KEY x --context production",
        "echo x | npx wrangler secret put API_KEY --env production",
    ],
    silent: &[
        "vercel env ls",
        "vercel env add API_KEY development",
        "vercel env add API_KEY preview feature-x",
        "vercel env add --help",
        "vercel dns ls",
        "netlify env:set API_KEY x --context deploy-preview",
        "npx wrangler secret list",
    ],
    ..RULE
}];

/// Programs that work on an environment of one's own until they are given another.
const OWN_FIRST: &[&str] = &["doppler", "infisical", "sst", "convex", "vault"];

/// Operations by which what runs with a host gets other variables, secrets or names.
#[rustfmt::skip]
const SETTINGS: Operations = &[
    (&["vercel", "now"], &["env add", "env update", "env rm", "env remove", "dns add", "dns import", "dns rm", "dns remove", "domains add", "domains buy", "domains move", "domains rm", "domains remove", "certs rm"]),
    (&["netlify"], &["env:set", "env:unset", "env:import", "env:clone"]),
    (&["wrangler"], &["secret put", "secret bulk", "secret delete", "secrets-store secret create", "secrets-store secret update", "secrets-store secret delete"]),
    (&["fly", "flyctl"], &["secrets set", "secrets unset", "secrets import", "certs remove", "ips release"]),
    (&["heroku"], &["config:set", "config:add", "config:unset", "config:remove", "config:edit", "domains:add", "domains:update", "domains:remove"]),
    (&["railway"], &["variables --set", "variable --set", "variables set", "variable set", "variables delete", "variable delete"]),
    (&["doctl"], &["compute domain create", "compute domain records create", "compute domain records update", "apps update"]),
    (&["flarectl"], &["dns create", "dns create-or-update", "dns update"]),
    (&["aws"], &["route53 change-resource-record-sets", "route53domains update-domain-nameservers", "ssm put-parameter", "ssm delete-parameter", "secretsmanager put-secret-value", "secretsmanager update-secret", "lambda update-function-configuration --environment", "amplify update-app --environment-variables", "amplify update-branch --environment-variables"]),
    (&["gcloud"], &["dns record-sets create", "dns record-sets update", "dns record-sets import", "dns record-sets transaction execute", "run services update --set-env-vars", "run services update --update-env-vars", "run services update --remove-env-vars", "run services update --clear-env-vars", "run services update --set-secrets", "run services update --update-secrets", "secrets versions add"]),
    (&["az"], &["network dns record-set add-record", "network dns record-set set-record", "network dns record-set remove-record", "network dns record-set update", "webapp config appsettings set", "functionapp config appsettings set", "staticwebapp appsettings set", "containerapp update --set-env-vars", "containerapp update --replace-env-vars", "containerapp update --remove-env-vars", "keyvault secret set"]),
    (&["eb"], &["setenv"]),
    (&["cf"], &["set-env", "unset-env"]),
    (&["dokku"], &["config:set", "config:unset", "domains:add", "domains:remove"]),
    (&["supabase"], &["secrets set", "secrets unset"]),
    (&["convex"], &["env set --prod", "env remove --prod", "env unset --prod"]),
    (&["firebase", "firebase-tools"], &["functions:config:set", "functions:config:unset", "functions:secrets:set", "functions:secrets:destroy"]),
    (&["eas", "eas-cli"], &["env:create", "env:update", "env:delete", "env:push", "secret:create", "secret:push", "secret:delete"]),
    (&["linode-cli"], &["domains records-create", "domains records-update", "domains create", "domains update"]),
    (&["hcloud"], &["zone add-records", "zone set-records", "zone remove-records", "zone rrset add-records", "zone rrset set-records", "zone rrset remove-records", "zone rrset create"]),
    (&["scw"], &["dns record add", "dns record set", "dns record delete", "dns record bulk-update"]),
    (&["cli53"], &["rrcreate", "rrdelete", "import"]),
    (&["pdnsutil"], &["add-record", "replace-rrset"]),
    (&["lexicon"], &["create", "update", "delete"]),
    (&["nsupdate"], &["*"]),
    (&["dnscontrol"], &["push"]),
    (&["octodns-sync"], &["--doit"]),
    (&["oci"], &["dns record rrset update", "dns record rrset patch", "dns record zone patch"]),
    (&["vultr-cli"], &["dns record create", "dns record update", "dns domain create"]),
    (&["circleci"], &["env-var set", "context store-secret", "context remove-secret"]),
    (&["platform", "upsun"], &["variable:create", "variable:set", "variable:update", "variable:delete"]),
    (&["koyeb"], &["secrets create", "secrets update", "secrets delete"]),
    (&["zeabur"], &["variable create", "variable update", "variable delete"]),
    (&["sst"], &["secret set", "secret remove"]),
    (&["doppler"], &["secrets set", "secrets upload", "secrets delete"]),
    (&["infisical"], &["secrets set", "secrets delete"]),
];

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
