//! Who may do what in a cloud, and what protects it.

use super::IN_CODE;
use crate::domain::{Severity, Verdict};
use crate::rules::Invocation;
use crate::rules::builtin::clusters::KUBECTL;
use crate::rules::builtin::libraries::Told;
use crate::rules::builtin::operations::Operations;
use crate::rules::builtin::{clusters, libraries, lists, operations, predicate};
use crate::rules::matcher::{
    Code, Found, Instead, RULE, Rule, Scene, Trigger, When, has_flag, has_sub, input_of, is_rehearsal,
};
use crate::shell::Arg;

pub(in crate::rules::builtin) const RULES: &[Rule] = &[
    Rule {
        id: "cloud.access-granted",
        reason: "gives somebody access to the cloud account",
        instead: Some(Instead::Command("aws sts get-caller-identity")),
        when: &[
            predicate("access_given_by_words", Trigger::rows(GIVEN), |scene| operations::done(scene, GIVEN)),
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
            predicate("access_given_by_request", Trigger::programs(lists::DOWNLOADERS), given_by_request),
            predicate("access_given_by_library", IN_CODE, |scene| libraries::told(scene, Told::Grants)),
        ],
        fires: &[
            "python3 -c \"import boto3; boto3.client('iam').create_access_key(UserName='root')\"",
            "aws iam create-access-key --user-name x",
            "aws iam set-default-policy-version --policy-arn p --version-id v1",
            "gcloud projects add-iam-policy-binding p --member=x --role=roles/owner",
            "az role assignment create --role Owner",
            "kubectl create clusterrolebinding x --clusterrole=cluster-admin --user=u",
            "k3s kubectl create clusterrolebinding x --clusterrole=cluster-admin --user=u",
            "k create rolebinding x --clusterrole=edit --user=u",
            "curl -X PUT https://api.github.com/repos/a/b/collaborators/u",
            "curl -X PATCH https://api.github.com/repos/a/b -d '{\"private\":false}'",
            "gh api repos/a/b/keys -f title=k -f key='ssh-rsa AAAA'",
            "gcloud sql instances patch p --authorized-networks=0.0.0.0/0",
            "kubectl set subject clusterrolebinding admin --user=u",
            "kubectl apply -f - <<< '{\"kind\":\"ClusterRoleBinding\",\"roleRef\":{\"name\":\"cluster-admin\"}}'",
        ],
        silent: &[
            "aws sts get-caller-identity",
            "aws iam list-users",
            "gcloud projects get-iam-policy p",
            "kubectl get clusterrolebindings",
            "kubectl apply -f - <<< '{\"kind\":\"RoleBinding\",\"roleRef\":{\"name\":\"view\"}}'",
            "curl https://api.github.com/repos/a/b/collaborators",
            "curl -X POST https://api.github.com/repos/a/b/issues -d '{\"title\":\"x\"}'",
            "gh api repos/a/b/keys",
        ],
        ..RULE
    },
    Rule {
        id: "cloud.protection-off",
        severity: Severity::Critical,
        reason: "switches off what protects or watches a cloud account",
        instead: Some(Instead::Command("aws cloudtrail describe-trails")),
        when: &[
            predicate("cloud_protection_off", Trigger::rows(LOOSENED), |scene| {
                operations::done(scene, LOOSENED)
            }),
            predicate("protection_off_by_library", IN_CODE, |scene| libraries::told(scene, Told::Loosens)),
        ],
        fires: &[
            "gh api -X PATCH repos/a/b/rulesets/1 -f enforcement=disabled",
            "gh api -X PATCH repos/a/b -F security_and_analysis[secret_scanning][status]=disabled",
            "python3 -c \"import boto3; boto3.client('cloudtrail').stop_logging(Name='t')\"",
            "aws cloudtrail stop-logging --name t",
            "aws iam deactivate-mfa-device --user-name u --serial-number s",
            "aws kms disable-key --key-id k",
            "aws rds modify-db-instance --db-instance-identifier p --backup-retention-period 0",
            "gcloud sql instances patch p --no-deletion-protection",
            "gh api -X PATCH repos/acme/app -f 'security_and_analysis[secret_scanning][status]=disabled'",
        ],
        silent: &[
            "gh api repos/a/b/rulesets",
            "gh api -X PATCH repos/a/b -F security_and_analysis[secret_scanning][status]=enabled",
            "aws rds modify-db-instance --db-instance-identifier p --backup-retention-period 7",
            "gcloud sql instances patch p --tier=db-f1-micro",
            "aws cloudtrail describe-trails",
            "aws kms list-keys",
            "aws guardduty list-detectors",
        ],
        ..RULE
    },
    Rule {
        id: "cloud.secret-printed",
        verdict: Verdict::Modify,
        reason: "prints a secret that a cloud keeps",
        instead: Some(Instead::Command("gcloud secrets list")),
        when: &[
            predicate("cloud_secret_printed", Trigger::rows(PRINTED), |scene| {
                operations::done_where(scene, PRINTED, |inv| !pulls_for_development(inv))
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
            predicate("variables_of_a_vault_printed", Trigger::programs(&["printenv", "env"]), |scene| {
                const VAULTS: &[&str] = &["aws-vault", "chamber", "doppler", "infisical", "op", "sops"];
                let found = scene.first(&["printenv", "env"], |inv| {
                    inv.operands.is_empty() && inv.wrappers.iter().any(|name| VAULTS.contains(&name.as_str()))
                });
                Found::from(found.map(|inv| inv.text.as_str()))
            }),
        ],
        fires: &[
            "gcloud secrets versions access latest --secret=db",
            "az keyvault secret show --vault-name v --name n",
            "heroku config -a prod",
            "pulumi stack export --show-secrets",
            "aws-vault exec prod -- printenv",
            "vercel env pull /dev/stdout",
            "vercel env pull .env.local --environment=production",
            "python3 -c \"import boto3; print(boto3.client('secretsmanager').get_secret_value(SecretId='x'))\"",
        ],
        silent: &[
            "vercel env pull .env.local",
            "vercel env pull --environment=development --yes",
            "aws-vault exec dev -- npm test",
            "gcloud secrets list",
            "az keyvault list",
            "heroku ps",
            "pulumi stack output url",
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

/// Operations that switch off what protects or watches a cloud account.
const LOOSENED: Operations = &[
    (
        &["aws"],
        &[
            "cloudtrail stop-logging",
            "cloudtrail update-trail",
            "guardduty update-detector",
            "guardduty create-ip-set",
            "guardduty create-filter ARCHIVE",
            "guardduty disassociate-from-administrator-account",
            "guardduty disassociate-from-master-account",
            "events disable-rule",
            "s3control put-public-access-block --public-access-block-configuration",
            "s3control delete-public-access-block",
            "ec2 disable-snapshot-block-public-access",
            "ec2 disable-image-block-public-access",
            "kms disable-key",
            "iam deactivate-mfa-device",
            "s3api put-public-access-block --public-access-block-configuration",
            "s3api put-bucket-versioning",
            "ec2 modify-instance-attribute --no-disable-api-termination",
            "ec2 modify-instance-metadata-options optional",
            "ec2 modify-instance-metadata-options --http-tokens=optional",
            "ec2 disable-ebs-encryption-by-default",
            "wafv2 disassociate-web-acl",
            "inspector2 disable",
            "macie2 disable-macie",
            "rds modify-db-cluster --no-deletion-protection",
            "dynamodb update-table --no-deletion-protection-enabled",
            "organizations detach-policy",
            "rds modify-db-instance --no-deletion-protection",
            "rds modify-db-instance --backup-retention-period=0",
            "rds modify-db-instance --backup-retention-period 0",
            "rds modify-db-cluster --backup-retention-period 0",
            "dynamodb update-continuous-backups PointInTimeRecoveryEnabled=false",
            "dynamodb update-continuous-backups --point-in-time-recovery-specification=PointInTimeRecoveryEnabled=false",
            "config stop-configuration-recorder",
            "configservice stop-configuration-recorder",
            "configservice delete-configuration-recorder",
            "securityhub disable-security-hub",
            "logs put-retention-policy",
            "s3api put-bucket-logging",
            "cloudwatch disable-alarm-actions",
            "cloudtrail put-event-selectors",
            "cloudwatch delete-alarms",
            "s3api put-object-lock-configuration",
        ],
    ),
    (
        &["gh"],
        &[
            "api repos/* security_and_analysis[secret_scanning][status]=disabled",
            "api repos/* security_and_analysis[secret_scanning_push_protection][status]=disabled",
            "api repos/* security_and_analysis[advanced_security][status]=disabled",
            "api repos/* enforcement=disabled",
            "api orgs/* enforcement=disabled",
            "repo edit --enable-secret-scanning=false",
            "repo edit --enable-secret-scanning-push-protection=false",
        ],
    ),
    (
        &["gcloud"],
        &[
            "sql instances patch --no-deletion-protection",
            "sql instances patch --no-backup",
            "sql instances patch --no-enable-point-in-time-recovery",
            "compute instances update --no-deletion-protection",
            "logging sinks update --disabled",
            "logging buckets update --retention-days",
            "scc muteconfigs create",
            "resource-manager org-policies disable-enforce",
            "compute networks subnets update --no-enable-flow-logs",
        ],
    ),
    (
        &["az"],
        &[
            "rest --body https://graph.microsoft.com/v1.0/policies/*",
            "security auto-provisioning-setting update --auto-provision Off",
            "sql server audit-policy update --state Disabled",
            "sql db audit-policy update --state Disabled",
            "backup vault backup-properties set --soft-delete-feature-state Disable",
        ],
    ),
];

/// Operations that give access.
const GIVEN: Operations = &[
    (
        &["gcloud"],
        &[
            "iam service-accounts keys create",
            "add-iam-policy-binding",
            "set-iam-policy",
            "compute firewall-rules create --allow=all",
            "compute firewall-rules create --allow all",
        ],
    ),
    (
        &["aws"],
        &[
            "iam create-access-key",
            "iam create-user",
            "iam attach-user-policy",
            "iam attach-role-policy",
            "iam put-user-policy",
            "iam put-role-policy",
            "iam create-login-profile",
            "iam update-assume-role-policy",
            "iam add-user-to-group",
            "iam set-default-policy-version",
            "s3api put-bucket-acl",
            "s3api put-bucket-policy",
            "ec2 authorize-security-group-ingress",
            "rds modify-db-instance --publicly-accessible",
            "rds modify-db-cluster --publicly-accessible",
            "lambda create-function-url-config NONE",
            "sts assume-root",
            "iam create-policy-version",
            "iam put-group-policy",
            "iam attach-group-policy",
            "s3api put-object-acl --acl",
            "ec2 modify-snapshot-attribute",
            "ec2 modify-image-attribute",
            "rds modify-db-snapshot-attribute",
            "lambda add-permission --principal",
            "iam update-login-profile",
            "cognito-idp admin-set-user-password",
            "iam upload-ssh-public-key",
            "ec2 authorize-security-group-egress",
            "secretsmanager put-resource-policy",
            "kms put-key-policy",
            "kms create-grant",
            "ecr set-repository-policy",
            "ec2 replace-iam-instance-profile-association",
            "ec2 associate-iam-instance-profile",
            "eks associate-access-policy",
            "eks create-access-entry",
            "ram create-resource-share --allow-external-principals",
            "route53domains transfer-domain-to-another-aws-account",
            "ec2-instance-connect send-ssh-public-key",
            "ec2-instance-connect send-serial-console-ssh-public-key",
        ],
    ),
    (
        &["gsutil"],
        &[
            "iam ch allUsers*",
            "iam ch allAuthenticatedUsers*",
            "acl ch -u",
            "acl set public-read",
            "acl set public-read-write",
            "defacl set public-read",
            "hmac create",
        ],
    ),
    (
        &["gcloud"],
        &[
            "compute firewall-rules create --source-ranges=0.0.0.0/0",
            "sql instances patch --authorized-networks=0.0.0.0/0",
            "sql instances patch 0.0.0.0/0",
            "sql users set-password",
            "compute reset-windows-password",
            "iam roles update --add-permissions",
            "identity groups memberships add",
            "container clusters update --no-enable-master-authorized-networks",
            "iam roles create",
        ],
    ),
    (
        &["az"],
        &[
            "role assignment create",
            "ad sp create-for-rbac",
            "network nsg rule create --source-address-prefixes",
            "storage container set-permission --public-access",
            "ad app credential reset",
            "ad sp credential reset",
            "ad user create",
            "ad user update --password",
            "sql server firewall-rule create",
            "ad app permission admin-consent",
            "rest https://management.azure.com/providers/Microsoft.Authorization/elevateAccess*",
            "rest --body https://graph.microsoft.com/v1.0/roleManagement*",
            "rest --body https://graph.microsoft.com/v1.0/invitations*",
            "keyvault update --default-action Allow",
            "keyvault update --public-network-access Enabled",
            "storage account generate-sas",
            "storage container generate-sas",
            "sig share add",
            "aks get-credentials --admin",
        ],
    ),
    (
        &["oc"],
        &["adm policy add-cluster-role-to-user", "adm policy add-scc-to-user", "adm policy add-role-to-user"],
    ),
    (
        &["vault"],
        &["token create -policy=root", "operator generate-root", "write auth/* policies=root", "write sys/*"],
    ),
    (
        &["gh"],
        &[
            "repo deploy-key add",
            "api repos/* private=false",
            "api repos/* visibility=public",
            "api -X PUT repos/* permission=admin",
            "api repos/* permission=admin",
            "api repos/* key=*",
            "api user/keys key=*",
            "api /user/keys key=*",
            "api repos/* config[url]=*",
            "api orgs/* role=admin",
            "api repos/* allowed_actions=all",
            "auth refresh delete_repo*",
            "auth refresh admin:*",
            "auth login admin:*",
            "auth login delete_repo*",
        ],
    ),
    (&["glab"], &["api projects/* visibility=public"]),
    (
        &["kubectl", "oc"],
        &["proxy --address=0.0.0.0", "proxy 0.0.0.0", "patch clusterrole*", "edit clusterrole*"],
    ),
    (&["az"], &["storage account update --allow-blob-public-access true"]),
    (&["aws"], &["rds modify-db-instance --master-user-password"]),
    (&["heroku"], &["access:add"]),
    (&["wrangler"], &["r2 bucket dev-url enable"]),
    (&["gh"], &["ssh-key add", "gpg-key add"]),
    (&["glab"], &["deploy-key add", "repo members add", "ssh-key add"]),
    (&["docker"], &["swarm join"]),
    (&["doctl"], &["compute ssh-key create", "compute firewall add-rules"]),
    (
        KUBECTL,
        &[
            "create clusterrolebinding",
            "create rolebinding",
            "create token",
            "certificate approve",
            "auth reconcile",
        ],
    ),
    (&["kubectl", "oc"], &["set subject clusterrolebinding*", "set subject rolebinding* --group"]),
];

/// Secrets that programs of clouds print.
const PRINTED: Operations = &[
    (&["gcloud"], &["secrets versions access", "services api-keys get-key-string"]),
    (
        &["az"],
        &[
            "keyvault secret show",
            "keyvault secret download",
            "storage account keys list",
            "acr credential show",
            "webapp deployment list-publishing-profiles",
        ],
    ),
    (&["heroku"], &["config", "auth:token", "pg:credentials:url"]),
    (&["netlify"], &["env:list"]),
    (&["vercel", "now"], &["env pull"]),
    (
        &["aws"],
        &["secretsmanager batch-get-secret-value", "sts get-session-token", "ecr get-authorization-token"],
    ),
    (
        &["aws"],
        &[
            "ec2 get-password-data",
            "ec2 describe-instance-attribute userData",
            "lightsail download-default-key-pair",
        ],
    ),
    (&["railway"], &["variables"]),
    (&["kubectl", "oc"], &["create token"]),
    (&["doctl"], &["databases connection", "auth token"]),
    (&["glab"], &["variable get", "variable export"]),
    (&["supabase"], &["projects api-keys"]),
    (&["pulumi"], &["config --show-secrets", "stack export --show-secrets", "stack output --show-secrets"]),
];

/// A code host is asked by a plain request to let somebody in, or to show everybody what was private.
fn given_by_request<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(lists::DOWNLOADERS, |inv| {
        let texts: Vec<String> = inv.args.iter().map(Arg::to_text).collect();
        let writes = ["-d", "--data", "--data-raw", "--json", "-X", "--request", "-F", "--method"]
            .iter()
            .any(|flag| has_flag(inv, flag))
            || texts.iter().any(|text| matches!(text.as_str(), "PUT" | "POST" | "PATCH"));
        let path = texts.iter().find_map(|text| {
            let (_, rest) = text.split_once("://")?;
            let (host, path) = rest.split_once('/')?;
            let hosts = host == "api.github.com" || path.starts_with("api/v4/") && host.contains('.');
            hosts.then(|| path.trim_end_matches('/').to_owned())
        });
        let opens = || {
            texts.iter().any(|text| {
                let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
                ["\"private\":false", "\"visibility\":\"public\"", "visibility=public"]
                    .iter()
                    .any(|word| text.contains(word))
            })
        };
        writes
            && path.is_some_and(|path| {
                let last = path.rsplit('/').next().unwrap_or_default();
                matches!(last, "keys" | "hooks" | "deploy_keys" | "members" | "ssh_keys")
                    || path.contains("/collaborators/")
                    || path.contains("/memberships/")
                    || opens()
            })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}
