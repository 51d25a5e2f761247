//! Who may do what in a cloud, and what protects it.

use super::IN_CODE;
use super::requests::{self, Request};
use crate::domain::{Severity, Verdict};
use crate::rules::Invocation;
use crate::rules::builtin::clusters::KUBECTL;
use crate::rules::builtin::libraries::Told;
use crate::rules::builtin::{clusters, libraries, operations, predicate};
use crate::rules::facts::operations::{GRANTS_ACCESS, LOOSENS_CLOUD, REVEALS_CLOUD_SECRET};
use crate::rules::matcher::{
    Code, Found, Instead, RULE, Rule, Trigger, When, has_sub, input_of, is_rehearsal,
};
use crate::shell::Arg;

pub(in crate::rules::builtin) const RULES: &[Rule] = &[
    Rule {
        id: "cloud.access-granted",
        reason: "gives somebody access to the cloud account",
        instead: Some(Instead::Command("aws sts get-caller-identity")),
        when: &[
            predicate("access_given_by_words", Trigger::rows(GRANTS_ACCESS), |scene| {
                operations::done(scene, GRANTS_ACCESS)
            }),
            predicate("cluster_admin_bound", Trigger::programs(KUBECTL), |scene| {
                let binds =
                    |text: &String| text.contains("ClusterRoleBinding") && text.contains("cluster-admin");
                let found = scene.first(KUBECTL, |inv| {
                    let told = operations::known_words(inv)
                        .iter()
                        .any(|w| matches!(*w, "apply" | "create" | "replace"));
                    told && !is_rehearsal(inv)
                        && !clusters::is_local(inv, scene)
                        && input_of(inv, scene).iter().any(binds)
                });
                Found::from(found.map(|inv| inv.text.as_str()))
            }),
            predicate("access_given_by_request", requests::ASKING, |scene| {
                requests::asked(scene, Request::grants)
            }),
            predicate("access_given_by_library", IN_CODE, |scene| libraries::told(scene, Told::Grants)),
        ],
        ..RULE
    },
    Rule {
        id: "cloud.protection-off",
        severity: Severity::Critical,
        reason: "switches off what protects or watches a cloud account",
        instead: Some(Instead::Command("aws cloudtrail describe-trails")),
        when: &[
            predicate("cloud_protection_off", Trigger::rows(LOOSENS_CLOUD), |scene| {
                operations::done(scene, LOOSENS_CLOUD)
            }),
            predicate("protection_off_by_request", requests::ASKING, |scene| {
                requests::asked(scene, Request::loosens)
            }),
            predicate("protection_off_by_library", IN_CODE, |scene| libraries::told(scene, Told::Loosens)),
        ],
        ..RULE
    },
    Rule {
        id: "cloud.secret-printed",
        verdict: Verdict::Modify,
        reason: "prints a secret that a cloud keeps",
        instead: Some(Instead::Command("gcloud secrets list")),
        when: &[
            predicate("cloud_secret_printed", Trigger::rows(REVEALS_CLOUD_SECRET), |scene| {
                operations::done_where(scene, REVEALS_CLOUD_SECRET, |inv| !pulls_for_development(inv))
            }),
            predicate("cloud_secret_printed_by_request", requests::ASKING, |scene| {
                requests::asked(scene, Request::reveals)
            }),
            When::Code(Code {
                programs: &[],
                all: &[
                    &[
                        "get_secret_value(",
                        "access_secret_version(",
                        "WithDecryption=True",
                        "list_secret_for_all_namespaces(",
                        "list_namespaced_secret(",
                        "read_namespaced_secret(",
                        "GetSecretValueCommand(",
                        "listSecretForAllNamespaces(",
                    ],
                    &["print(", "console.log", "puts ", "pprint("],
                ],
            }),
            When::Code(Code {
                programs: &[],
                all: &[
                    &["azure.keyvault", "@azure/keyvault"],
                    &["get_secret(", "getSecret("],
                    &["print(", "console.log"],
                ],
            }),
            predicate("variables_of_a_vault_printed", Trigger::programs(&["printenv", "env"]), |scene| {
                const VAULTS: &[&str] = &["aws-vault", "chamber", "doppler", "infisical", "op", "sops"];
                let found = scene.first(&["printenv", "env"], |inv| {
                    inv.operands.is_empty() && inv.wrappers.iter().any(|name| VAULTS.contains(&name.as_str()))
                });
                Found::from(found.map(|inv| inv.text.as_str()))
            }),
        ],
        ..RULE
    },
];

/// `vercel env pull .env.local`: the variables for development go into the file of the project that is there for them.
pub(in crate::rules::builtin) fn pulls_for_development(inv: &Invocation) -> bool {
    const WORDS: &[&str] =
        &["env", "pull", "development", "-y", "--yes", "--environment", "--environment=development"];
    const FILES: &[&str] = &[".env", ".env.local", ".env.development", ".env.development.local"];
    let stays = |path: &str| {
        let file = path.rsplit('/').next().is_some_and(|name| FILES.contains(&name));
        file && !path.starts_with(['/', '~']) && !path.contains("..")
    };
    let plain = |arg: &Arg| arg.known().is_some_and(|word| WORDS.contains(&word) || stays(word));
    matches!(inv.program.as_str(), "vercel" | "now") && has_sub(inv, "env pull") && inv.args.iter().all(plain)
}
