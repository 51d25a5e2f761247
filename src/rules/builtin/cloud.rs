//! Infrastructure: clouds, clusters, containers, hosted repositories.

mod stacks;

use super::clusters::{self, KUBECTL};
use super::deeds::{self, Deeds};
use super::libraries::{self, Told};
use super::{code, database, everyday, lists, predicate, standing, sub};
use crate::domain::{Effect, EffectKind, Severity, Target, Verdict};
use crate::rules::Invocation;
use crate::rules::matcher::{
    At, Command, EFFECT, Found, Instead, OnEffect, Operand, RULE, Rule, Scene, Trigger, When, asks_for_help,
    flag_value, has_flag, has_sub, host_of, input_of, is_rehearsal, only_reads, runs,
};
use crate::rules::survey::IN_CONTAINER;
use crate::shell::Arg;

const TERRAFORM: &[&str] = &["terraform", "tofu", "terragrunt"];

/// Nothing is done, or it is done to an emulated store on this machine.
const EMULATED_OR_DRY: &[&str] = &[
    "--dryrun",
    "--endpoint-url=http://localhost:4566",
    "--endpoint-url=http://127.0.0.1:4566",
    "--endpoint-url=http://localhost:9000",
    "--endpoint-url=http://127.0.0.1:9000",
];

const CLOUDS: &[&str] = &["aws", "gcloud", "az", "doctl", "oci", "ibmcloud", "linode-cli", "hcloud", "scw"];

const HUBS: &[&str] = &["gh", "glab"];

/// Deeds that take whole stacks, clusters, projects or stores away.
const RAZED: Deeds = &[
    (&["cli53"], &["rrpurge", "delete"]),
    (&["flarectl"], &["dns delete", "zone delete"]),
    (&["rndc"], &["delzone"]),
    (&["pdnsutil"], &["delete-zone", "zone delete", "delete-rrset"]),
    (&["aws"], &["account close-account"]),
    (&["gcloud"], &["billing projects unlink"]),
    (&["chalice"], &["delete"]),
    (&["terragrunt"], &["run-all destroy", "destroy-all", "run --all destroy", "stack run destroy"]),
    (&["pulumi"], &["stack rm --force", "stack rm -f"]),
    (&["sam"], &["delete --no-prompts"]),
    (&["serverless", "sls"], &["remove"]),
    (&["eksctl"], &["delete cluster", "delete nodegroup"]),
    (&["kops"], &["delete cluster --yes", "delete instance"]),
    (&["kubeadm"], &["reset"]),
    (&["k3s-uninstall.sh", "k3s-agent-uninstall.sh", "rke2-uninstall.sh"], &["*"]),
    (&["flux", "linkerd", "istioctl"], &["uninstall"]),
    (&["docker"], &["swarm leave --force", "stack rm", "stack down"]),
    (&["velero"], &["backup delete", "schedule delete", "uninstall"]),
    (&["knife"], &["node delete", "client delete"]),
    (
        &["firebase"],
        &["database:remove", "projects:delete", "firestore:delete", "hosting:disable", "functions:delete"],
    ),
    (&["vercel", "now"], &["project rm", "project remove", "projects rm", "teams rm"]),
    (&["s3cmd"], &["rb", "del --recursive", "del -r", "rm --recursive", "rm -r"]),
    (&["s5cmd"], &["rb", "rm"]),
    (&["azcopy"], &["remove", "rm"]),
    (&["rclone"], &["sync"]),
    (&["borg"], &["delete"]),
    (&["qm", "pct"], &["destroy"]),
    (
        &["gh"],
        &[
            "api -X DELETE repos/*",
            "api repos/* -X DELETE",
            "api /repos/* -X DELETE",
            "api repos/* --method DELETE",
            "api -XDELETE repos/*",
            "api -XDELETE /repos/*",
            "api -X DELETE /repos/*",
            "api --method DELETE repos/*",
            "api --method DELETE /repos/*",
            "api --method=DELETE repos/*",
            "api --method=DELETE /repos/*",
            "codespace delete --all",
        ],
    ),
    (&["ibmcloud"], &["resource service-instance-delete", "ks cluster-rm", "ks cluster rm"]),
    (
        &["heroku"],
        &["pg:reset", "apps:destroy", "pipelines:destroy", "addons:destroy", "data:maintenances:run"],
    ),
    (&["amplify"], &["delete"]),
    (&["eb"], &["terminate"]),
    (&["zappa"], &["undeploy"]),
    (&["copilot"], &["app delete", "env delete", "svc delete"]),
    (&["render"], &["services delete"]),
    (&["convex"], &["deployment delete"]),
    (&["openstack"], &["server delete", "volume delete", "project delete", "stack delete"]),
    (
        &["aws"],
        &[
            "organizations leave-organization",
            "ec2 cancel-spot-fleet-requests",
            "backup delete-recovery-point",
        ],
    ),
    (&["nomad"], &["job stop -purge", "system gc"]),
    (&["cdktf"], &["destroy"]),
    (&["gluster"], &["volume delete"]),
    (&["rados"], &["rmpool", "purge"]),
    (&["vultr-cli"], &["instance delete", "kubernetes delete", "database delete", "block-storage delete"]),
    (&["ibmcloud"], &["is instance-delete", "is vpc-delete", "is volume-delete"]),
    (&["gcloud"], &["services disable --force"]),
    (&["dog"], &["monitor delete"]),
    (&["hub"], &["delete"]),
    (&["argocd"], &["app delete", "cluster rm", "proj delete"]),
    (&["aws"], &["organizations close-account"]),
    (&["aws-nuke"], &["--no-dry-run"]),
    (&["cloud-nuke"], &["aws --force", "azure --force", "defaults-aws --force"]),
    (&["azd"], &["down"]),
    (&["cf"], &["delete", "delete-space", "delete-org", "delete-service"]),
    (&["dokku"], &["apps:destroy", "postgres:destroy", "mysql:destroy", "mongo:destroy", "redis:destroy"]),
    (&["rancher"], &["cluster delete", "clusters delete", "projects delete", "namespaces delete"]),
    (&["sst"], &["remove"]),
    (&["railway"], &["volume delete", "environment delete", "delete"]),
    (
        &["wrangler"],
        &[
            "pages project delete",
            "queues delete",
            "vectorize delete",
            "hyperdrive delete",
            "dispatch-namespace delete",
        ],
    ),
    (&["circleci"], &["context delete", "namespace delete"]),
    (&["gh"], &["release delete --cleanup-tag"]),
    (&["glab"], &["api -X DELETE projects/*", "api --method DELETE projects/*", "repo delete"]),
    (&["platform", "upsun"], &["environment:delete", "project:delete"]),
    (&["tencentcloud", "tccli"], &["TerminateInstances", "cvm TerminateInstances"]),
    (&["aliyun"], &["DeleteInstance", "ecs DeleteInstance*", "rds DeleteDBInstance"]),
    (
        &["scw", "hcloud", "civo", "exo"],
        &[
            "instance server terminate",
            "instance server delete",
            "server delete",
            "instance remove",
            "kubernetes remove",
        ],
    ),
    (&["northflank", "koyeb"], &["delete", "app delete", "service delete", "apps delete", "services delete"]),
    (&["upctl", "packet", "metal"], &["server delete", "device delete"]),
    (&["eksctl"], &["delete fargateprofile", "delete iamserviceaccount"]),
    (&["rosa", "ocm"], &["delete cluster"]),
    (&["az"], &["deployment group create --mode=Complete", "deployment group create Complete"]),
    (&["gcloud"], &["deployment-manager deployments delete"]),
    (&["helmfile"], &["destroy", "delete"]),
    (&["skaffold", "okteto", "garden"], &["destroy", "cleanup namespace", "delete environment"]),
    (&["juju"], &["destroy-model", "destroy-controller", "kill-controller", "remove-application"]),
    (&["ceph"], &["osd pool delete", "osd pool rm", "fs rm"]),
    (&["kubectl", "oc"], &["drain --force", "drain --disable-eviction"]),
    (&["k3s-killall.sh", "rke2-killall.sh"], &["*"]),
    (&["crictl"], &["rm -a", "rmp -a", "rmi -a", "rm --all", "rmp --all", "rmi --all"]),
    (&["talosctl"], &["reset"]),
    (&["cilium"], &["uninstall"]),
    (&["mongocli"], &["clusters delete", "projects delete"]),
    (&["firebase-tools"], &["firestore:delete", "database:remove", "projects:delete", "functions:delete"]),
    (&["neonctl", "neon"], &["branches delete"]),
    (&["az"], &["backup protection disable --delete-backup-data"]),
    (&["hub"], &["api -X DELETE repos/*", "api -XDELETE repos/*", "api --method DELETE repos/*"]),
    (&["tea"], &["repo delete", "repos delete", "repos rm", "repo rm"]),
    (&["gh"], &["run delete --all", "cache delete --all"]),
    (&["kubectl", "oc"], &["taint --all", "cordon --all"]),
    (TERRAFORM, &["workspace delete -force", "state push -force", "force-unlock -force"]),
];

/// Deeds that switch off what protects or watches a cloud account.
const LOOSENED: Deeds = &[
    (
        &["aws"],
        &[
            "cloudtrail stop-logging",
            "cloudtrail update-trail",
            "guardduty update-detector",
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
        ],
    ),
];

/// Deeds that give access.
const GIVEN: Deeds = &[
    (
        &["gcloud"],
        &[
            "organizations set-iam-policy",
            "projects set-iam-policy",
            "folders set-iam-policy",
            "compute firewall-rules create --allow=all",
            "compute firewall-rules create --allow all",
        ],
    ),
    (
        &["aws"],
        &[
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
        ],
    ),
    (
        &["gcloud"],
        &[
            "add-iam-policy-binding --member=allUsers",
            "storage buckets add-iam-policy-binding",
            "iam service-accounts add-iam-policy-binding",
            "organizations add-iam-policy-binding",
            "folders add-iam-policy-binding",
            "compute firewall-rules create --source-ranges=0.0.0.0/0",
            "sql instances patch --authorized-networks=0.0.0.0/0",
            "sql instances patch 0.0.0.0/0",
            "sql users set-password",
            "iam roles create",
        ],
    ),
    (
        &["az"],
        &[
            "network nsg rule create --source-address-prefixes",
            "storage container set-permission --public-access",
            "ad app credential reset",
            "ad sp credential reset",
            "ad user create",
            "ad user update --password",
            "sql server firewall-rule create",
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
    (&["gh"], &["ssh-key add", "gpg-key add"]),
    (&["glab"], &["deploy-key add", "repo members add", "ssh-key add"]),
    (&["docker"], &["swarm join"]),
    (&["doctl"], &["compute ssh-key create", "compute firewall add-rules"]),
    (&["kubectl"], &["create clusterrolebinding", "certificate approve", "auth reconcile"]),
    (&["kubectl", "oc"], &["set subject clusterrolebinding*", "set subject rolebinding* --group"]),
];

/// Deeds of which a person is asked.
const ASKED: Deeds = &[
    (&["gh"], &["gist create --public", "gist create -p", "repo create --public --push"]),
    (
        &["aws"],
        &[
            "s3 mv s3://* s3://* --recursive",
            "s3 cp --acl=public-read",
            "s3 cp --acl=public-read-write",
            "s3 cp public-read*",
            "s3 sync --acl=public-read-write",
            "s3 sync public-read-write",
        ],
    ),
    (&["gcloud"], &["run deploy --allow-unauthenticated"]),
    (
        &["aws"],
        &[
            "s3api put-bucket-lifecycle-configuration",
            "ec2 run-instances --count",
            "ecr batch-delete-image",
            "autoscaling update-auto-scaling-group --max-size 0",
            "dynamodb batch-write-item",
        ],
    ),
    (&["terragrunt"], &["run-all apply --terragrunt-non-interactive", "run --all apply"]),
    (&["helmfile"], &["sync", "apply"]),
    (&["argocd"], &["app sync --prune", "app sync --force"]),
    (&["ctr", "nerdctl"], &["containers rm", "containers delete", "images rm", "namespaces rm"]),
    (&["docker"], &["compose rm -v"]),
    (&["kubectl", "oc"], &["port-forward 0.0.0.0", "port-forward --address=0.0.0.0"]),
    (&["fly", "flyctl"], &["postgres detach", "pg detach"]),
    (&["firebase", "firebase-tools"], &["auth:export", "auth:import"]),
    (&["ansible-pull"], &["-U", "--url"]),
    (&["lxd"], &["init --auto"]),
    (TERRAFORM, &["apply -destroy", "apply --destroy", "state mv"]),
    (&["pulumi"], &["stack rm", "state delete", "refresh --yes", "cancel"]),
    (&["sam"], &["delete"]),
    (&["hcloud"], &["server poweroff", "server shutdown", "server reset", "server reboot"]),
    (&["doctl"], &["droplet-action power-off", "droplet-action shutdown", "droplet-action power-cycle"]),
    (&["linode-cli"], &["linodes shutdown", "linodes reboot"]),
    (&["openstack"], &["server stop", "server reboot", "server suspend"]),
    (&["vultr-cli"], &["instance stop", "instance restart"]),
    (
        &["az"],
        &[
            "vm restart",
            "vm stop",
            "vm deallocate",
            "aks stop",
            "vm user update",
            "vm user reset-ssh",
            "security pricing create free",
        ],
    ),
    (
        &["gcloud"],
        &[
            "sql instances patch --activation-policy=NEVER",
            "sql instances patch NEVER",
            "compute os-login ssh-keys add",
            "compute project-info add-metadata",
        ],
    ),
    (&["aws"], &["ec2 import-key-pair", "sns unsubscribe", "autoscaling set-desired-capacity 0"]),
    (&["heroku"], &["authorizations:create"]),
    (
        &["kubectl", "oc"],
        &[
            "node-shell",
            "create --raw",
            "replace --raw",
            "delete --raw",
            "config set-credentials --exec-command",
        ],
    ),
    (&["kubectl-node_shell"], &["*"]),
    (&["crictl"], &["exec", "stopp", "rmp", "rmi"]),
    (&["ctr"], &["task exec", "tasks exec", "t exec"]),
    (&["dnscontrol"], &["push"]),
    (&["octodns-sync"], &["--doit"]),
    (&["puppet"], &["resource ensure=absent", "resource ensure=stopped"]),
    (&["exo"], &["compute instance delete", "dbaas delete"]),
    (&["auth0"], &["apps delete", "apis delete", "users delete", "orgs delete"]),
    (&["kops"], &["delete cluster", "rolling-update cluster --yes"]),
    (
        &["aws"],
        &[
            "ec2 stop-instances",
            "ec2 reboot-instances",
            "ssm send-command",
            "ssm start-session",
            "autoscaling update-auto-scaling-group --desired-capacity",
            "ecs update-service --desired-count",
            "rds stop-db-instance",
            "rds reboot-db-instance",
            "route53 change-resource-record-sets",
            "ec2 revoke-security-group-ingress",
            "ecs execute-command",
            "ec2 create-snapshot",
            "lambda put-function-concurrency",
            "ses send-email",
            "sns publish",
        ],
    ),
    (
        &["gcloud"],
        &[
            "compute instances stop",
            "sql instances restart",
            "compute instances reset",
            "compute ssh --command",
        ],
    ),
    (&["az"], &["vm stop", "vm deallocate", "vm run-command invoke", "webapp stop"]),
    (
        &["heroku"],
        &[
            "config:set",
            "config:unset",
            "ps:scale",
            "run bash",
            "run sh",
            "access:add",
            "maintenance:on",
            "releases:rollback",
            "pg:psql",
            "domains:remove",
        ],
    ),
    (
        &["fly", "flyctl"],
        &["secrets unset", "machine stop", "scale count 0", "ssh console", "certs remove", "tokens create"],
    ),
    (
        &["vercel", "now"],
        &["env rm", "env remove", "domains rm", "rollback", "alias rm", "dns rm", "certs rm"],
    ),
    (&["netlify"], &["env:unset", "functions:delete", "blobs:delete"]),
    (
        &["wrangler"],
        &["secret delete", "kv key delete", "r2 object delete", "rollback", "pages deployment delete"],
    ),
    (&["railway"], &["down"]),
    (
        &["supabase"],
        &[
            "secrets unset",
            "functions delete",
            "branches delete",
            "storage rm",
            "migration repair",
            "db push --include-all",
        ],
    ),
    (
        KUBECTL,
        &[
            "debug node*",
            "debug no/*",
            "debug --profile",
            "debug --custom",
            "replace --force",
            "rollout undo",
            "patch",
            "run --privileged",
            "run --overrides",
            "apply --prune",
        ],
    ),
    (&["helm"], &["uninstall", "rollback"]),
    (&["flux"], &["delete", "suspend"]),
    (&["argocd"], &["app set", "app rollback", "repo rm"]),
    (&["istioctl"], &["uninstall"]),
    (
        &["docker"],
        &["service rm", "context rm", "node rm", "secret rm", "config rm", "swarm leave", "service scale"],
    ),
    (&["nomad"], &["job stop", "node drain", "alloc stop"]),
    (&["vault"], &["token create", "write auth/*", "policy write", "policy delete", "auth enable"]),
    (&["packer"], &["build -force", "build --force"]),
    (
        &["gh"],
        &[
            "pr merge --admin",
            "repo rename",
            "extension install",
            "workflow run",
            "repo deploy-key delete",
            "api repos/* -X PATCH private=*",
            "repo unarchive",
            "project delete",
            "org *",
            "alias set",
            "variable set",
            "repo sync --force",
            "release upload --clobber",
            "repo transfer",
            "attestation delete",
            "api repos/* archived=true",
        ],
    ),
    (
        &["glab"],
        &[
            "variable set",
            "variable delete",
            "ci delete",
            "mr merge",
            "release delete",
            "label delete",
            "mr delete",
            "issue delete",
            "token create",
            "schedule delete",
            "ssh-key add",
            "snippet delete",
            "runner delete",
        ],
    ),
    (&["restic"], &["forget --prune", "forget", "prune"]),
    (&["borg"], &["prune", "compact"]),
    (
        &["stripe"],
        &[
            "refunds create",
            "customers delete",
            "payouts create",
            "transfers create",
            "subscriptions cancel",
            "products delete",
            "charges create",
            "delete",
        ],
    ),
    (&["twilio"], &["api:core:messages:create", "phone-numbers:update", "api:core:calls:create"]),
    (&["lxc", "incus"], &["delete", "stop --all", "storage volume delete"]),
    (&["virsh"], &["undefine", "destroy", "vol-delete", "pool-destroy"]),
    (&["gpg"], &["--delete-secret-keys", "--delete-secret-and-public-key"]),
    (&["dvc"], &["gc", "destroy"]),
    (&["hf", "huggingface-cli"], &["repo delete", "delete-cache", "upload", "repo-files delete"]),
    (&["chef-client", "puppet", "cfn"], &["--once", "apply", "delete"]),
];

/// Secrets that programs of clouds print.
const PRINTED: Deeds = &[
    (&["gcloud"], &["secrets versions access"]),
    (
        &["az"],
        &[
            "keyvault secret show",
            "keyvault secret download",
            "storage account keys list",
            "acr credential show",
        ],
    ),
    (&["heroku"], &["config", "auth:token", "pg:credentials:url"]),
    (&["netlify"], &["env:list"]),
    (&["vercel", "now"], &["env pull"]),
    (
        &["aws"],
        &["secretsmanager batch-get-secret-value", "sts get-session-token", "ecr get-authorization-token"],
    ),
    (&["aws"], &["ec2 get-password-data"]),
    (&["railway"], &["variables"]),
    (&["kubectl", "oc"], &["create token"]),
    (&["doctl"], &["databases connection", "auth token"]),
    (&["glab"], &["variable get", "variable export"]),
    (&["supabase"], &["projects api-keys"]),
    (&["pulumi"], &["config --show-secrets", "stack export --show-secrets", "stack output --show-secrets"]),
];

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "cloud.terraform-destroy",
        severity: Severity::Critical,
        reason: "destroys infrastructure, or changes what others live by, without anybody looking at the plan",
        instead: Some(Instead::Command("terraform plan -destroy")),
        when: &[
            When::Command(Command {
                flags: &[&["-auto-approve", "--auto-approve", "--terragrunt-non-interactive"]],
                ..sub(TERRAFORM, &["destroy", "run-all destroy"])
            }),
            When::Command(Command {
                flags: &[&["-destroy", "--destroy"], &["-auto-approve", "--auto-approve"]],
                ..sub(TERRAFORM, &["apply"])
            }),
            When::Command(Command {
                flags: &[&["-y", "--yes", "-f", "--skip-preview"]],
                without: &["--preview-only"],
                ..sub(&["pulumi"], &["destroy", "down", "stack rm"])
            }),
            When::Command(Command { flags: &[&["--force", "-f"]], ..sub(&["cdk", "aws-cdk"], &["destroy"]) }),
            predicate("infrastructure_destroyed", Trigger::programs(BUILDERS), destroyed),
            predicate("infrastructure_forgotten", Trigger::programs(TERRAFORM), forgotten),
            predicate(
                "live_infrastructure_changed_unasked",
                Trigger::programs(stacks::APPLIERS),
                stacks::applied_live,
            ),
        ],
        fires: &[
            "TF_CLI_ARGS_apply='-auto-approve -destroy' terraform apply",
            "export TF_CLI_ARGS_plan=-destroy; terraform plan -out x && terraform apply x",
            "terraform destroy -auto-approve",
            "tofu apply -destroy -auto-approve",
            "pulumi destroy --yes",
            "cdk destroy --force",
            "terraform destroy",
            "yes yes | terraform destroy",
            "terraform plan -destroy -out=d && terraform apply d",
            "terraform state list | xargs terraform state rm",
            "terraform apply -auto-approve -var-file=prod.tfvars",
            "terraform workspace select prod && terraform apply -auto-approve",
            "cd envs/prod && terraform apply -auto-approve",
            "terraform apply -auto-approve -replace=aws_db_instance.main",
            "terraform taint aws_db_instance.main && terraform apply -auto-approve",
            "echo yes | terraform -chdir=envs/prod apply",
            "pulumi up --yes --stack acme/orders/production",
        ],
        silent: &[
            "terraform apply -var-file=prod.tfvars",
            "terraform workspace select prod && terraform plan",
            "terraform apply -auto-approve -replace=aws_instance.web",
            "pulumi up --yes --stack dev",
            "pulumi preview --stack prod",
            "terraform plan -destroy",
            "terraform plan",
            "terraform apply",
            "terraform -chdir=examples/test destroy",
            "terraform state list",
            "pulumi preview",
            "pulumi destroy --preview-only",
            "terraform validate",
        ],
        ..RULE
    },
    Rule {
        id: "cloud.terraform-ask",
        verdict: Verdict::Modify,
        reason: "changes or forgets infrastructure",
        instead: Some(Instead::Command("terraform plan")),
        when: &[
            When::Command(Command {
                without: &["-auto-approve", "--auto-approve"],
                ..sub(TERRAFORM, &["destroy"])
            }),
            When::Command(Command {
                flags: &[&["-auto-approve", "--auto-approve"]],
                without: &["-destroy"],
                ..sub(TERRAFORM, &["apply"])
            }),
            When::Command(sub(
                TERRAFORM,
                &["state rm", "state push", "force-unlock", "workspace delete", "taint"],
            )),
            When::Command(Command {
                without: &["-y", "--yes", "--preview-only"],
                ..sub(&["pulumi"], &["destroy"])
            }),
            predicate("applied_unasked", Trigger::programs(stacks::APPLIERS), stacks::applied),
        ],
        fires: &[
            "TF_CLI_ARGS='-auto-approve' terraform apply",
            "terraform destroy -var-file=test.tfvars",
            "terraform apply -auto-approve",
            "terraform state rm aws_instance.x",
            "terraform force-unlock 1",
            "yes yes | tofu apply",
            "terraform apply <<< yes",
            "pulumi up --yes",
            "pulumi --cwd infra update -y",
            "cdk deploy --all --require-approval never",
        ],
        silent: &[
            "terraform apply",
            "terraform apply -input=false </dev/null",
            "pulumi up",
            "pulumi up --yes --stack dev",
            "pulumi preview --diff",
            "cdk deploy WebStack",
            "cdk deploy DevStack --require-approval never",
            "echo yes | terraform init",
            "terraform plan",
            "terraform init",
            "terraform state list",
            "terraform fmt",
            "terraform output",
        ],
        ..RULE
    },
    Rule {
        id: "cloud.kubernetes-delete-all",
        severity: Severity::Critical,
        reason: "deletes a namespace, a node, a volume or everything of a kind",
        instead: Some(Instead::Command("kubectl get all")),
        when: &[predicate("kubectl_deletes_widely", Trigger::programs(KUBECTL), kubectl_wide)],
        fires: &[
            "kubectl delete ns prod",
            "kubectl delete namespace prod",
            "kubectl delete all --all",
            "kubectl delete pods --all -A",
            "kubectl delete pvc data",
            "kubectl delete crd x",
            "kubectl delete node n1",
            "kubectl delete namespace/prod",
        ],
        silent: &[
            "kubectl get ns",
            "kubectl delete pod x",
            "kubectl delete ns prod --dry-run=client",
            "kubectl delete namespace ci-123",
            "kubectl --context minikube delete all --all",
            "kubectl describe ns prod",
            "kubectl --context kind-dev delete ns sandbox",
            "kubectl delete --help",
        ],
        ..RULE
    },
    Rule {
        id: "cloud.kubernetes-delete",
        verdict: Verdict::Modify,
        reason: "takes something out of a running cluster",
        instead: Some(Instead::Command("kubectl get pods")),
        when: &[
            predicate("kubectl_deletes", Trigger::programs(KUBECTL), |scene| kubectl_deletes(scene, false)),
            predicate(
                "cluster_emptied",
                Trigger::programs(KUBECTL).or(Trigger::programs(&["helm"])),
                |scene| {
                    let found = scene.first_of(
                        |program| KUBECTL.contains(&program) || program == "helm",
                        |inv| is_taken_down(inv) && !clusters::is_local(inv, scene),
                    );
                    Found::from(found.map(|inv| inv.text.as_str()))
                },
            ),
        ],
        fires: &[
            "kubectl delete deployment web",
            "kubectl config use-context prod && kubectl delete deploy x",
            "kubectl config use-context kind-dev; kubectl delete deploy x",
            "true || kubectl config use-context kind-dev && kubectl delete deploy x",
            "kubectl config use-context kind-dev && kubectl --context prod delete deploy x",
            "helm --kube-context prod uninstall x",
            "kubectl delete pods -n prod --field-selector=status.phase=Failed",
            "kubectl delete pods --field-selector=status.phase=Running",
            "kubectl delete pod \"$P\"",
            "kubectl delete pods -l app=web",
            "kubectl drain n1",
            "helm uninstall app",
            "kubectl scale deploy x --replicas=0",
            "kubectl delete -f k8s/",
            "kubectl delete -f k8s/prod/debug-pod.yaml",
            "kubectl -n orchard-dev delete deployment -l app=api",
            "kubectl -n prod delete pod -l app=dev",
        ],
        silent: &[
            "kubectl get pods",
            "kubectl --context kind-dev delete ns x",
            "kubectl --context kind-dev scale deploy/x --replicas=0",
            "helm --kube-context kind-dev uninstall x",
            "kubectl config use-context kind-dev && kubectl delete ns x",
            "kubectl delete pods -n dev --field-selector=status.phase=Failed",
            "kubectl scale deploy x --replicas=2",
            "kubectl apply -f k8s/ --dry-run=client",
            "helm list",
            "kubectl logs x",
            "kubectl delete pod x --dry-run=client",
            "kubectl delete -f k8s/dev/debug-pod.yaml",
        ],
        ..RULE
    },
    Rule {
        id: "cloud.kubernetes-delete-pod",
        verdict: Verdict::Warn,
        severity: Severity::Medium,
        reason: "deletes a running pod; what keeps it running starts another",
        instead: Some(Instead::Command("kubectl get pods")),
        when: &[predicate("kubectl_deletes_pods", Trigger::programs(KUBECTL), |scene| {
            kubectl_deletes(scene, true)
        })],
        fires: &["kubectl delete pod x", "kubectl -n dev delete pods x y", "kubectl delete job/migrate"],
        silent: &[
            "kubectl get pods",
            "kubectl delete pod x --dry-run=client",
            "kubectl delete deployment web",
        ],
        ..RULE
    },
    Rule {
        id: "cloud.container-data-wiped",
        severity: Severity::Critical,
        reason: "deletes the directory in which a database in a container keeps its data",
        instead: Some(Instead::Command("docker compose exec db ls /var/lib/postgresql")),
        when: &[predicate("container_database_deleted", Trigger::WRAPPED, |scene| {
            deleted_inside(scene, is_data)
        })],
        fires: &[
            "docker exec db rm -rf /var/lib/postgresql/data",
            "kubectl exec db-0 -- sh -c 'rm -rf /var/lib/mysql/*'",
        ],
        silent: &["docker exec web rm -rf /app/tmp", "docker exec db ls /var/lib/postgresql/data"],
        ..RULE
    },
    Rule {
        id: "cloud.state-deleted",
        reason: "deletes or overwrites the file in which it is kept what infrastructure was built",
        instead: Some(Instead::Command("terraform state list")),
        when: &[
            When::Effect(OnEffect {
                kinds: &[EffectKind::FileDeletion],
                at: &[At::Name("terraform.tfstate"), At::Name("terraform.tfstate.d")],
                ..EFFECT
            }),
            predicate(
                "state_overwritten",
                Trigger::kinds(&[EffectKind::FileCreation, EffectKind::FileModification]),
                stacks::state_written,
            ),
        ],
        fires: &[
            "rm terraform.tfstate",
            "rm -f infra/terraform.tfstate",
            "echo '{}' > infra/terraform.tfstate",
            ": > terraform.tfstate",
            "truncate -s 0 terraform.tfstate",
            "mv infra/terraform.tfstate /tmp/",
            "cp /dev/null terraform.tfstate",
            "Write /home/u/proj/infra/prod.tfstate {}",
        ],
        silent: &[
            "rm -rf .terraform",
            "cat terraform.tfstate",
            "rm tfplan",
            "cp terraform.tfstate /home/u/proj/backup/",
            "cp terraform.tfstate.backup terraform.tfstate",
            "mv terraform.tfstate terraform.tfstate.old",
            "terraform state pull > terraform.tfstate",
            "Write /home/u/proj/test/fixtures/terraform.tfstate {}",
            "Write /home/u/proj/src/state.json {}",
        ],
        ..RULE
    },
    Rule {
        id: "cloud.container-wiped",
        verdict: Verdict::Modify,
        reason: "deletes a whole directory in a container that may be a volume or a mount of this machine",
        instead: Some(Instead::Command("docker compose exec web ls /app")),
        when: &[predicate("container_directory_deleted", Trigger::WRAPPED, |scene| {
            deleted_inside(scene, is_wide)
        })],
        fires: &[
            "docker exec web rm -rf /app",
            "docker exec db rm -rf /var/lib/postgresql/data",
            "kubectl exec pod -- sh -c 'rm -rf /data/*'",
            "docker run --rm -v data:/data alpine rm -rf /data",
            "docker run --rm -v \"$DIR\":/w alpine rm -rf /w",
            "docker compose exec web rm -rf .",
        ],
        silent: &[
            "docker exec web sh -c 'rm -rf /app/tmp/*'",
            "docker exec web rm -rf /var/cache/x",
            "docker run --rm alpine rm -rf /etc/apk",
            "kubectl exec pod -- rm -rf /tmp/x",
            "docker exec web rm /app/x.txt",
        ],
        ..RULE
    },
    Rule {
        id: "cloud.s3-delete",
        severity: Severity::Critical,
        reason: "deletes stored objects or a whole bucket",
        instead: Some(Instead::Command("aws s3 ls s3://bucket")),
        when: &[
            When::Command(Command {
                flags: &[&["--recursive"]],
                without: EMULATED_OR_DRY,
                ..sub(&["aws"], &["s3 rm"])
            }),
            When::Command(Command {
                without: EMULATED_OR_DRY,
                ..sub(&["aws"], &["s3 rb", "s3api delete-bucket", "s3api delete-objects"])
            }),
            predicate(
                "bucket_made_like_a_directory",
                Trigger::programs(&["aws", "gsutil", "gcloud"]),
                mirrored,
            ),
            When::Command(sub(&["gsutil"], &["rb", "rm"])),
            When::Command(sub(&["gcloud"], &["storage rm", "storage buckets delete"])),
            When::Command(sub(&["rclone"], &["purge", "delete", "rmdirs"])),
            predicate("bucket_client_deletes", Trigger::programs(&["mc"]), |scene| {
                let found = scene.first(&["mc"], |inv| {
                    ["rb", "rm"].iter().any(|sub| has_sub(inv, sub))
                        && !asks_for_help(inv)
                        && !database::is_local_bucket(inv, scene)
                });
                Found::from(found.map(|inv| inv.text.as_str()))
            }),
            When::Command(sub(
                &["az"],
                &["storage blob delete-batch", "storage container delete", "storage account delete"],
            )),
        ],
        fires: &[
            "aws s3 rm s3://bucket --recursive",
            "aws s3 rb s3://bucket --force",
            "gsutil rm -r gs://bucket",
            "rclone purge remote:x",
            "aws s3 sync . s3://bucket --delete",
            "gsutil -m rsync -d -r ./empty gs://bucket",
        ],
        silent: &[
            "aws --endpoint-url http://localhost:4566 s3 rb s3://test --force",
            "aws s3 ls s3://bucket",
            "aws s3 cp a s3://bucket/",
            "aws s3 rm s3://bucket --recursive --dryrun",
            "gsutil ls gs://bucket",
            "aws s3 sync . s3://bucket",
            "aws s3 sync ./dist s3://site --delete",
        ],
        ..RULE
    },
    Rule {
        id: "cloud.resource-delete",
        severity: Severity::Critical,
        reason: "deletes a cloud resource with what is in it",
        instead: Some(Instead::Advice("list the resource and let the person delete it")),
        when: &[
            predicate("cloud_cli_deletes", Trigger::programs(CLOUDS), cloud_deletes),
            predicate("razed_by_words", Trigger::rows(RAZED), razed),
            predicate("deleted_at_a_provider", Trigger::programs(lists::DOWNLOADERS), deleted_by_request),
            predicate("provider_told_to_delete", Trigger::INTERPRETER, |scene| {
                scene.code_where(|codes, _| {
                    codes.iter().any(|code| {
                        code.holds_any(PROVIDERS_IN_CODE)
                            && code.holds_any(DELETED_IN_CODE)
                            && !libraries::is_emulated(code)
                    })
                })
            }),
            predicate("library_told_to_delete", IN_CODE, |scene| libraries::told(scene, Told::Deletes)),
            predicate("name_deleted_from_a_zone", Trigger::programs(&["nsupdate"]), |scene| {
                let found = scene.first(&["nsupdate"], |inv| {
                    let lines = input_of(inv, scene).join("\n").replace("\\n", "\n").to_ascii_lowercase();
                    lines.lines().any(|line| {
                        let mut words = line.split_whitespace().skip_while(|word| *word == "update");
                        matches!(words.next(), Some("delete" | "del"))
                    })
                });
                Found::from(found.map(|inv| inv.text.as_str()))
            }),
            When::Command(Command { operand: Operand::Contains(&[".tfstate"]), ..sub(&["aws"], &["s3 rm"]) }),
        ],
        fires: &[
            "aws ec2 terminate-instances --instance-ids i-1",
            "aws rds delete-db-instance --db-instance-identifier x",
            "gcloud projects delete x",
            "az group delete -n x",
            "gcloud compute instances delete x",
            "aws cloudformation delete-stack --stack-name x",
            "terragrunt run-all destroy",
            "eksctl delete cluster --name c",
            "argocd app delete x --cascade",
            "gh api -X DELETE repos/a/b",
            "curl -X DELETE https://api.digitalocean.com/v2/droplets/1",
            "curl -X DELETE https://api.github.com/repos/a/b",
            "aws-nuke -c x.yml --no-dry-run",
            "python3 -c \"import boto3; boto3.client('ec2').terminate_instances(InstanceIds=['i-1'])\"",
            "python3 -c \"import boto3; boto3.resource('s3').Bucket('b').objects.all().delete()\"",
            "python3 -c \"import boto3; boto3.client('dynamodb').delete_table(TableName='p')\"",
            "python3 -c \"from kubernetes import client; client.CoreV1Api().delete_namespace('prod')\"",
            "node -e \"new RDSClient().send(new DeleteDBInstanceCommand({}))\" '@aws-sdk/client-rds'",
            "node -e \"fetch('https://api.cloudflare.com/client/v4/zones/1',{method:'DELETE'})\"",
            "nsupdate <<< 'update delete api.x.example A'",
            "cli53 rrpurge x.example",
            "aws s3 rm s3://b/env/terraform.tfstate",
            "curl -X DELETE localhost:8001/api/v1/namespaces/prod",
            "curl -sk -X DELETE https://10.0.0.1:6443/api/v1/nodes/n1",
            "wget --method=DELETE -qO- http://localhost:8001/api/v1/namespaces/prod",
            "curl -X DELETE https://api.github.com/repos/a/b/git/refs/heads/main",
            "curl -XPATCH https://api.github.com/repos/a/b/git/refs/heads/main -d '{\"force\": true}'",
            "python3 -c \"import requests; requests.delete('https://api.cloudflare.com/client/v4/zones/1')\"",
        ],
        silent: &[
            "curl -X DELETE https://api.github.com/repos/a/b/git/refs/heads/x",
            "curl https://api.digitalocean.com/v2/droplets",
            "curl -X DELETE http://localhost:3000/v1/projects/1",
            "curl -X DELETE http://localhost:3000/api/v1/orders/7",
            "nsupdate <<< 'update add a.x.example 60 A 192.0.2.1'",
            "argocd app sync x",
            "rclone sync a b",
            "eksctl get cluster",
            "gh api -X DELETE repos/a/b/git/refs/heads/x",
            "aws ec2 describe-instances",
            "python3 -c \"import boto3; print(boto3.client('ec2').describe_instances())\"",
            "python3 -c \"import boto3; boto3.client('s3',endpoint_url='http://localhost:4566').delete_bucket(Bucket='b')\"",
            "python3 -c \"import requests; requests.delete('http://localhost:3000/orders/7')\"",
            "python3 -c \"import boto3; boto3.client('s3').delete_object(Bucket='b', Key='a')\"",
            "gcloud projects list",
            "az group list",
            "aws rds describe-db-instances",
            "aws ec2 terminate-instances --dry-run --instance-ids i-1",
            "aws ec2 terminate-instances help",
            "gcloud projects delete --help",
        ],
        ..RULE
    },
    Rule {
        id: "cloud.access-granted",
        reason: "gives somebody access to the cloud account",
        instead: Some(Instead::Command("aws sts get-caller-identity")),
        when: &[
            When::Command(sub(
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
                    "s3api put-bucket-acl",
                    "s3api put-bucket-policy",
                    "ec2 authorize-security-group-ingress",
                ],
            )),
            When::Command(sub(
                &["gcloud"],
                &[
                    "iam service-accounts keys create",
                    "projects add-iam-policy-binding",
                    "organizations add-iam-policy-binding",
                ],
            )),
            When::Command(sub(&["az"], &["role assignment create", "ad sp create-for-rbac"])),
            predicate("access_given_by_words", Trigger::rows(GIVEN), |scene| deeds::done(scene, GIVEN)),
            predicate("cluster_admin_bound", Trigger::programs(KUBECTL), |scene| {
                let binds =
                    |text: &String| text.contains("ClusterRoleBinding") && text.contains("cluster-admin");
                let found = scene.first(KUBECTL, |inv| {
                    let told =
                        deeds::known_words(inv).iter().any(|w| matches!(*w, "apply" | "create" | "replace"));
                    told && !is_rehearsal(inv)
                        && !clusters::is_local(inv, scene)
                        && input_of(inv, scene).iter().any(binds)
                });
                Found::from(found.map(|inv| inv.text.as_str()))
            }),
            predicate("access_given_by_request", Trigger::programs(lists::DOWNLOADERS), given_by_request),
            When::Command(sub(KUBECTL, &["create clusterrolebinding", "create rolebinding", "create token"])),
            predicate("access_given_by_library", IN_CODE, |scene| libraries::told(scene, Told::Grants)),
        ],
        fires: &[
            "python3 -c \"import boto3; boto3.client('iam').create_access_key(UserName='root')\"",
            "aws iam create-access-key --user-name x",
            "gcloud projects add-iam-policy-binding p --member=x --role=roles/owner",
            "az role assignment create --role Owner",
            "kubectl create clusterrolebinding x --clusterrole=cluster-admin --user=u",
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
            predicate("cloud_protection_off", Trigger::rows(LOOSENED), |scene| deeds::done(scene, LOOSENED)),
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
        id: "cloud.changed",
        verdict: Verdict::Modify,
        reason: "stops, takes away or changes something that runs for others",
        instead: Some(Instead::Advice("name what is to change, and let the person change it")),
        when: &[
            predicate("cloud_changed_by_words", Trigger::rows(ASKED), changed),
            predicate(
                "deleted_elsewhere_by_request",
                Trigger::programs(lists::DOWNLOADERS),
                deleted_elsewhere,
            ),
            predicate("very_many_started", Trigger::programs(MANIFOLD), very_many),
            predicate("machines_that_cost_too_much_or_none_left", Trigger::programs(MANIFOLD), pools),
        ],
        fires: &[
            "curl -X DELETE https://vault.x.example:8200/v1/secret/data/x -H 'X-Vault-Token: t'",
            "curl -X DELETE 'https://abc.supabase.co/rest/v1/users?id=gt.0' -H \"apikey: $K\"",
            "curl -X POST https://jenkins.x.example/job/orders/doDelete",
            "kubectl scale deploy/api --replicas=1000",
            "aws ec2 run-instances --image-id a --count 250",
            "aws ec2 run-instances --instance-type p5.48xlarge --image-id a",
            "gcloud compute instances create m{1..50} --machine-type=n1",
            "gcloud compute instances create m --machine-type=a2-ultragpu-8g",
            "gcloud container clusters resize prod --num-nodes=0 -q",
            "az vmss scale -g x -n web --new-capacity 0",
            "eksctl scale nodegroup --cluster prod --name n --nodes 500",
            "fly scale count 200 -a acme",
            "gh gist create --public src/a.ts",
            "aws s3 cp a.json s3://b/ --acl public-read",
            "gcloud run deploy api --image x --allow-unauthenticated",
            "gh repo create copy --public --source=. --push",
            "aws ec2 stop-instances --instance-ids i-1",
            "heroku ps:scale web=0",
            "docker stack ps x; docker service rm web",
            "gh pr merge 1 --admin",
            "gh workflow run deploy.yml",
            "gh workflow run ci.yml -f env=prod",
            "gh workflow run ci.yml -f env=\"$TARGET\"",
            "gh workflow run deploy.yml --ref \"$BRANCH\"",
            "stripe refunds create --charge ch_1",
            "kubectl debug node/n1 -it --image=alpine",
            "fly ssh console -C 'ls; rm -rf /data'",
            "fly ssh console",
            "dvc gc -w",
        ],
        silent: &[
            "aws ec2 start-instances --instance-ids i-1",
            "heroku ps",
            "docker service ls",
            "gh pr merge 1 --squash",
            "gh workflow run ci.yml --ref feature/x",
            "gh workflow run ci.yml --ref \"$(git branch --show-current)\"",
            "terraform import aws_s3_bucket.logs logs",
            "stripe listen",
            "kubectl rollout status deploy/x",
            "kubectl debug -it web-1 --image=busybox --target=web",
            "fly ssh console -C 'ls /app'",
            "gcloud compute ssh dev-box --command uptime",
            "dvc gc -w --dry",
            "kubectl patch deploy web -p '{\"spec\":{\"replicas\":2}}'",
            "kubectl -n dev patch deploy web -p '{\"spec\":{\"replicas\":2}}'",
            "curl -X DELETE http://localhost:3000/api/v1/orders/7 -H 'Authorization: Bearer t'",
            "curl -H 'Authorization: Bearer t' https://api.x.example/v1/orders",
            "kubectl scale deploy/api --replicas=5",
            "fly scale show -a acme",
            "fly scale count 2 -a acme",
            "gcloud container clusters resize dev --num-nodes=0",
            "gh repo create new --private --source=. --push",
            "gh gist create notes.md",
            "aws s3 cp a.json s3://b/ --acl private",
        ],
        ..RULE
    },
    Rule {
        id: "cloud.secret-printed",
        verdict: Verdict::Modify,
        reason: "prints a secret that a cloud keeps",
        instead: Some(Instead::Command("gcloud secrets list")),
        when: &[
            predicate("cloud_secret_printed", Trigger::rows(PRINTED), |scene| deeds::done(scene, PRINTED)),
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
        ],
        silent: &[
            "aws-vault exec dev -- npm test",
            "gcloud secrets list",
            "az keyvault list",
            "heroku ps",
            "pulumi stack output url",
        ],
        ..RULE
    },
    Rule {
        id: "cloud.repository-delete",
        severity: Severity::Critical,
        reason: "deletes a hosted repository or makes it public",
        instead: Some(Instead::Command("gh repo view")),
        when: &[
            When::Command(sub(
                &["gh", "glab"],
                &["repo delete", "repo archive", "project delete", "org delete"],
            )),
            When::Command(Command { flags: &[&["--visibility"]], ..sub(&["gh"], &["repo edit"]) }),
        ],
        fires: &[
            "gh repo delete a/b --yes",
            "gh repo edit a/b --visibility public",
            "glab repo delete a/b",
            "gh repo archive a/b",
        ],
        silent: &[
            "gh repo view",
            "gh repo clone a/b",
            "gh repo edit a/b --description x",
            "gh pr list",
            "gh issue create -t 'gh repo delete'",
        ],
        ..RULE
    },
    Rule {
        id: "cloud.hosting-delete",
        verdict: Verdict::Modify,
        reason: "deletes or changes something on the code host",
        instead: Some(Instead::Command("gh release list")),
        when: &[
            When::Command(sub(
                &["gh"],
                &[
                    "release delete",
                    "secret set",
                    "secret delete",
                    "secret remove",
                    "variable delete",
                    "release delete-asset",
                    "run delete",
                    "ssh-key add",
                    "ssh-key delete",
                    "gpg-key add",
                    "label delete",
                    "codespace delete",
                    "workflow disable",
                    "ruleset delete",
                    "auth refresh",
                    "auth logout",
                    "issue delete",
                    "gist delete",
                    "gpg-key delete",
                ],
            )),
            predicate("gh_api_writes", Trigger::programs(HUBS), gh_api_deletes),
        ],
        fires: &[
            "gh release delete v1",
            "gh release delete-asset v1 x.tgz",
            "gh secret set TOKEN",
            "gh api -X DELETE repos/a/b/git/refs/heads/x",
            "gh ssh-key add k.pub",
            "gh api --method delete repos/a/b",
        ],
        silent: &[
            "gh release list",
            "gh api repos/a/b",
            "gh pr create --fill",
            "gh secret list",
            "gh run view 1",
        ],
        ..RULE
    },
    Rule {
        id: "cloud.cache-deleted",
        verdict: Verdict::Warn,
        severity: Severity::Low,
        reason: "deletes caches of the code host, which the next runs have to fill again",
        instead: Some(Instead::Command("gh cache list")),
        when: &[When::Command(sub(&["gh"], &["cache delete"]))],
        fires: &["gh cache delete --all", "gh cache delete 42 --repo a/b"],
        silent: &["gh cache list", "gh cache delete --help"],
        ..RULE
    },
    Rule {
        id: "cloud.app-destroy",
        severity: Severity::Critical,
        reason: "destroys a running application or machine",
        instead: Some(Instead::Advice("name the application to the person and let them destroy it")),
        when: &[
            When::Command(sub(&["heroku"], &["apps:destroy", "pg:reset", "addons:destroy", "destroy"])),
            When::Command(sub(
                &["fly", "flyctl"],
                &[
                    "apps destroy",
                    "destroy",
                    "volumes destroy",
                    "volumes delete",
                    "machine destroy",
                    "postgres destroy",
                ],
            )),
            When::Command(sub(
                &["vercel", "netlify", "railway", "wrangler", "firebase", "doctl", "supabase"],
                &[
                    "rm",
                    "remove",
                    "delete",
                    "sites:delete",
                    "projects:delete",
                    "projects delete",
                    "firestore:delete",
                    "down",
                ],
            )),
            When::Command(sub(&["virsh"], &["destroy", "undefine"])),
            When::Command(sub(
                &["VBoxManage", "multipass", "limactl", "lxc", "incus"],
                &["unregistervm", "delete", "purge"],
            )),
        ],
        fires: &[
            "heroku apps:destroy x --confirm x",
            "flyctl apps destroy x -y",
            "vercel rm x --yes",
            "heroku pg:reset DATABASE",
        ],
        silent: &[
            "heroku logs",
            "fly status",
            "vercel ls",
            "vagrant status",
            "firebase deploy --dry-run",
            "virsh list",
        ],
        ..RULE
    },
    Rule {
        id: "cloud.remote-run",
        verdict: Verdict::Modify,
        severity: Severity::Medium,
        reason: "runs a command on many machines at once",
        instead: Some(Instead::Command("ansible-playbook --check site.yml")),
        when: &[
            predicate("ansible_changes", Trigger::programs(&["ansible"]), ansible_changes),
            predicate("ansible_playbook_runs", Trigger::programs(&["ansible-playbook"]), |scene| {
                const LOOKS: &[&str] = &["--check", "-C", "--syntax-check", "--list-hosts", "--list-tasks"];
                let found = scene.first(&["ansible-playbook"], |inv| {
                    !LOOKS.iter().any(|flag| has_flag(inv, flag)) && !asks_for_help(inv) && !is_on_own(inv)
                });
                Found::from(found.map(|inv| inv.text.as_str()))
            }),
            When::Command(Command { operand: Operand::Some, ..super::run(&["pssh", "pdsh", "clush"]) }),
            predicate("salt_changes", Trigger::programs(&["salt"]), salt_changes),
        ],
        fires: &[
            "ansible all -m shell -a 'rm -rf /tmp/x'",
            "ansible web -m shell -a 'df -h > /srv/df.txt'",
            "ansible web -a 'systemctl restart nginx'",
            "ansible web -m shell -a 'renice 5 1'",
            "ansible web -a '{{ lookup(\"pipe\", \"id\") }}'",
            "ansible web -a \"$CMD\"",
            "ansible-playbook site.yml",
            "ansible-playbook -i inventory/prod site.yml",
            "ansible-playbook -i inventory/dev -i inventory/prod site.yml",
            "pdsh -w h[1-9] reboot",
            "salt '*' state.apply web",
            "salt 'db*' service.restart postgresql",
            "salt -G 'os:Debian' pkg.install nginx",
            "salt '*' junos.shutdown shutdown=True",
        ],
        silent: &[
            "salt '*' test.ping",
            "salt -G 'os:Debian' grains.items",
            "sudo salt 'router*' net.arp",
            "salt minion state.show_top",
            "salt '*' state.apply web test=True",
            "salt --version",
            "ansible-playbook --check site.yml",
            "ansible-playbook -i localhost, -c local setup.yml",
            "ansible-playbook -i inventory/dev site.yml --tags nginx",
            "ansible all -m ping",
            "ansible -i inventory/staging.yml web -b -m command -a 'nginx -t'",
            "ansible -i inventory/staging.yml web -a uptime",
            "ansible web -m ansible.builtin.shell -a 'df -h | tail -3'",
            "ansible --version",
            "ansible all -i hosts -m ping",
            "ansible-playbook --syntax-check site.yml",
            "ansible-lint",
        ],
        ..RULE
    },
    Rule {
        id: "cloud.fleet-down",
        severity: Severity::Critical,
        reason: "restarts, stops or takes away many machines at once",
        instead: Some(Instead::Command("ansible all -m ping")),
        when: &[predicate(
            "fleet_taken_down",
            Trigger::programs(&["ansible", "ansible-playbook"]),
            stacks::fleet_down,
        )],
        fires: &[
            "ansible all -i inventory/prod -b -m reboot",
            "ansible all -b -m community.general.shutdown",
            "ansible all -b -a 'shutdown -h now'",
            "ansible-playbook -i prod destroy.yml",
        ],
        silent: &[
            "ansible all -m ping",
            "ansible web1 -b -m reboot",
            "ansible all -i inventory/dev -b -m reboot",
            "ansible-playbook -i prod destroy.yml --check",
            "ansible-playbook -i staging site.yml",
        ],
        ..RULE
    },
];

/// Functions of Salt that only look, by their last word or its beginning.
const SALT_LOOKS: &[&str] = &[
    "arp",
    "diff",
    "facts",
    "find",
    "get",
    "has",
    "info",
    "interfaces",
    "is",
    "item",
    "items",
    "list",
    "lookup",
    "ls",
    "mac",
    "lldp",
    "ping",
    "read",
    "results",
    "search",
    "show",
    "stat",
    "stats",
    "status",
    "tail",
    "top",
    "traceroute",
    "uptime",
    "usage",
    "version",
    "versions",
    "which",
];

fn salt_changes<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(&["salt"], |inv| {
        let tried = inv.args.iter().any(|arg| matches!(arg.known(), Some("test=True" | "test=true")));
        // Which of the words names the minions is not told apart: all that may be functions have to look.
        let functions = || inv.args.iter().filter_map(Arg::known).filter(|word| is_salt_function(word));
        let looks = |word: &str| {
            let (module, last) = word.split_once('.').unwrap_or_default();
            // `cp.get_file` lays it down on the minions.
            module == "test"
                || module != "cp" && SALT_LOOKS.contains(&last.split('_').next().unwrap_or_default())
        };
        let only_looks = functions().next().is_some() && functions().all(looks);
        !tried && !inv.operands.is_empty() && !only_looks
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// `module.function`
fn is_salt_function(word: &str) -> bool {
    let is_name = |name: &str| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
    };
    word.split_once('.').is_some_and(|(module, function)| is_name(module) && is_name(function))
}

/// Code that stands in a command.
const IN_CODE: Trigger = Trigger::INTERPRETER.or(Trigger::programs(libraries::RUNNERS));

/// Libraries of providers as code names them, and the calls that delete what holds data or runs.
const PROVIDERS_IN_CODE: &[&str] = &["boto3", "google.cloud", "azure.mgmt", "@aws-sdk/", "@google-cloud/"];
const DELETED_IN_CODE: &[&str] = &[
    "terminate_instances(",
    "delete_db_",
    "delete_bucket(",
    "objects.all().delete(",
    "object_versions.all().delete(",
    "delete_stack(",
    "delete_cluster(",
    "delete_user(",
    "schedule_key_deletion(",
    "TerminateInstancesCommand",
    "DeleteBucketCommand",
    "resource_groups.begin_delete(",
];

/// A way into the interfaces of providers, for requests that delete.
pub(super) const PROVIDERS: &[&str] = &[
    "api.digitalocean.com/v2/",
    "api.cloudflare.com/client/v4/",
    "api.heroku.com/apps/",
    "api.heroku.com/addons/",
    "api.vercel.com/",
    "api.netlify.com/api/v1/",
    "api.render.com/v1/",
    "api.machines.dev/v1/",
    "api.hetzner.cloud/v1/",
    "api.linode.com/v4/",
    "api.vultr.com/v2/",
    "api.scaleway.com/",
    "api.supabase.com/v1/",
    "api.planetscale.com/v1/",
    "api.neon.tech/",
    "console.neon.tech/api/v2/",
    "cloud.mongodb.com/api/",
    "app.terraform.io/api/v2/",
    "management.azure.com/",
    "management.core.windows.net/",
    "graph.microsoft.com/",
    "googleapis.com/",
    "amazonaws.com/",
    "api.pulumi.com/",
    "api.civo.com/v2/",
    "api.equinix.com/",
    "api.stripe.com/v1/",
    "gitlab.com/api/v4/projects/",
    "gitlab.com/api/v4/groups/",
    "api.bitbucket.org/2.0/repositories/",
];

/// A provider is asked to delete by a plain request, or by a mutation that is named so.
fn deleted_by_request<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(lists::DOWNLOADERS, |inv| {
        let texts: Vec<String> = inv.args.iter().map(Arg::to_text).collect();
        let deletes = texts.iter().any(|text| {
            matches!(text.as_str(), "DELETE" | "-XDELETE" | "--request=DELETE" | "--method=DELETE" | "delete")
        });
        let asked = |text: &str| {
            let address = text.split_once("://").map_or(text, |(_, rest)| rest);
            let at_github = address.strip_prefix("api.github.com/repos/").is_some_and(|path| {
                let path = path.trim_end_matches('/');
                path.split('/').count() == 2 || path.ends_with("/protection")
            });
            let at_main = ["main", "master", "develop", "production"].iter().any(|name| {
                address.strip_suffix(name).is_some_and(|rest| rest.ends_with("/git/refs/heads/"))
            });
            let at_cluster = || {
                let (host, path) = address.split_once('/').unwrap_or_default();
                let serves = [":6443", ":8001", ":8443"].iter().any(|port| host.ends_with(port))
                    || host.starts_with("kubernetes.default");
                let kept = ["api/v1/namespaces/", "api/v1/nodes/", "api/v1/persistentvolumes", "apis/"];
                serves && kept.iter().any(|front| path.starts_with(front)) && !path.contains("/pods/")
            };
            let at_gitlab = address.split_once("/api/v4/projects/").is_some_and(|(host, _)| {
                host.contains('.') && !host.contains('/') && !host.starts_with("127.")
            });
            at_github
                || at_main && address.starts_with("api.github.com/repos/")
                || at_cluster()
                || at_gitlab
                || address.starts_with("api.github.com/orgs/")
                || address.starts_with("api.github.com/user/")
                || PROVIDERS.iter().any(|front| {
                    address.starts_with(front)
                        || address
                            .find(front)
                            .is_some_and(|at| !address.get(..at).unwrap_or_default().contains('/'))
                })
        };
        let mutates = || {
            texts.iter().any(|text| {
                text.contains("mutation")
                    && [
                        "volumeDelete",
                        "projectDelete",
                        "serviceDelete",
                        "environmentDelete",
                        "deleteRepository",
                        "deleteApp",
                        "deleteProject",
                        "deleteDatabase",
                        "deleteOrganization",
                    ]
                    .iter()
                    .any(|name| text.contains(name))
            })
        };
        let forces_a_branch = || {
            texts.iter().any(|text| matches!(text.as_str(), "PATCH" | "-XPATCH" | "--request=PATCH"))
                && texts
                    .iter()
                    .any(|text| text.contains("api.github.com/repos/") && text.contains("/git/refs/heads/"))
                && texts.iter().any(|text| libraries::plain(text).contains("force:true"))
        };
        deletes && texts.iter().any(|text| asked(text)) || mutates() || forces_a_branch()
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

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

/// Programs that build infrastructure from files, and take it down.
const BUILDERS: &[&str] = &["terraform", "tofu", "terragrunt", "pulumi", "cdk", "aws-cdk"];

/// All that was built is destroyed, and nothing says that it is for tests.
fn destroyed<'a>(scene: &Scene<'a>) -> Found<'a> {
    let all = scene.invocations();
    let test = |inv: &Invocation| {
        let line = scene.command_line();
        let space = line.split_whitespace().find_map(|word| word.strip_prefix("TF_WORKSPACE="));
        standing::names_scratch(inv) || space.is_some_and(standing::is_own)
    };
    let found = scene.first(BUILDERS, |inv| {
        let words: Vec<&str> = inv.args.iter().filter_map(Arg::known).collect();
        let verb = words.iter().find(|word| !word.starts_with('-')).copied().unwrap_or_default();
        // `terraform plan -destroy -out=x && terraform apply x`
        let planned = || {
            let plan = words.iter().rfind(|word| !word.starts_with('-')).copied().unwrap_or_default();
            all.iter().filter(|other| other.program == inv.program).any(|other| {
                let told: Vec<&str> = other.args.iter().filter_map(Arg::known).collect();
                told.iter().any(|word| matches!(*word, "-destroy" | "--destroy"))
                    && told.iter().any(|word| {
                        word.strip_prefix("--out=").or_else(|| word.strip_prefix("-out=")).unwrap_or(word)
                            == plan
                    })
            })
        };
        let help = words.iter().any(|word| matches!(*word, "-help" | "--help" | "-h"));
        let destroys = matches!(verb, "destroy" | "down")
            || verb == "apply"
                && (words.contains(&"-destroy")
                    || words.contains(&"--destroy")
                    || told_beforehand(scene, "-destroy")
                    || planned());
        destroys && !help && !test(inv)
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// Terraform is given a flag by a variable.
fn told_beforehand(scene: &Scene<'_>, flag: &str) -> bool {
    scene.texts().flat_map(|text| text.split("TF_CLI_ARGS").skip(1)).any(|rest| {
        let value = rest.split_once('=').map_or("", |(_, value)| value);
        let end = match value.chars().next() {
            Some(quote @ ('"' | '\'')) => value.get(1..).and_then(|rest| rest.find(quote)).map(|at| at + 1),
            _ => value.find([' ', ';', '\n', '&']),
        };
        value.get(..end.unwrap_or(value.len())).is_some_and(|value| value.contains(flag))
    })
}

/// All that a state knows is forgotten.
fn forgotten<'a>(scene: &Scene<'a>) -> Found<'a> {
    let words = |inv: &Invocation| -> Vec<String> { inv.args.iter().take(2).map(Arg::to_text).collect() };
    let all = scene.invocations();
    let found = all.iter().enumerate().find(|(index, inv)| {
        runs(inv, TERRAFORM)
            && words(inv) == ["state", "rm"]
            && all.iter().any(|other| {
                let comes =
                    other.feeds == Some(*index) || other.pipeline == inv.pipeline && other.stage < inv.stage;
                comes && runs(other, TERRAFORM) && words(other) == ["state", "list"]
            })
    });
    Found::from(found.map(|(_, inv)| inv.text.as_str()))
}

/// Modules that only look.
const LOOKS: &[&str] =
    &["ping", "setup", "debug", "gather_facts", "stat", "service_facts", "package_facts", "assert"];

/// A module that may change something on many machines.
fn ansible_changes<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(&["ansible"], |inv| {
        let module = flag_value(inv, &["-m", "--module-name"]).map(Arg::text);
        let looks = module
            .as_deref()
            .is_some_and(|name| LOOKS.contains(&name.rsplit('.').next().unwrap_or_default()));
        (module.is_some() || has_flag(inv, "-a") || has_flag(inv, "--args"))
            && !looks
            && !ansible_asks(inv, module.as_deref(), scene)
            && !has_flag(inv, "--check")
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// Programs that are asked how a machine fares; what changes it through one of them has an effect.
const READERS: &[&str] = &[
    "cat",
    "head",
    "tail",
    "grep",
    "zgrep",
    "ls",
    "stat",
    "file",
    "wc",
    "sort",
    "uniq",
    "cut",
    "column",
    "du",
    "df",
    "free",
    "uptime",
    "uname",
    "nproc",
    "lscpu",
    "lsblk",
    "ps",
    "pgrep",
    "vmstat",
    "iostat",
    "whoami",
    "id",
    "who",
    "w",
    "last",
    "systemctl",
    "journalctl",
    "dmesg",
    "netstat",
    "lsof",
    "docker",
    "readlink",
    "md5sum",
    "sha256sum",
    "which",
    "true",
    "apt-cache",
    "sudo",
];

/// The machines are told to run a command, and that only looks.
fn ansible_asks(inv: &Invocation, module: Option<&str>, scene: &Scene<'_>) -> bool {
    /// What servers say of themselves and of their settings.
    const ASKS: &[&str] = &[
        "nginx -t",
        "nginx -v",
        "nginx -V",
        "apachectl -t",
        "apachectl configtest",
        "php -v",
        "hostname",
        "hostname -f",
        "ss -tlnp",
        "ss -ltn",
        "ss -tulpn",
        "ip addr",
        "ip route",
    ];
    let runs = module.is_none_or(|name| matches!(name.rsplit('.').next(), Some("command" | "shell" | "raw")));
    let told = flag_value(inv, &["-a", "--args"]).and_then(Arg::known);
    // What stands in `{{ }}` is worked out on this machine.
    runs && told.is_some_and(|told| {
        !told.contains("{{")
            && (ASKS.contains(&told) || only_reads(scene, (&code::shell(told.to_owned()), "/"), READERS))
    })
}

/// Kinds of things with which much goes, or what nothing brings back.
const WIDE_KINDS: &[&str] = &[
    "ns",
    "namespace",
    "namespaces",
    "all",
    "node",
    "nodes",
    "no",
    "pv",
    "pvc",
    "persistentvolume",
    "persistentvolumes",
    "persistentvolumeclaim",
    "persistentvolumeclaims",
    "crd",
    "crds",
    "customresourcedefinition",
    "customresourcedefinitions",
    "clusterrole",
    "storageclass",
    "project",
    "projects",
];

/// Kinds of things that are started again or have run.
const POD_KINDS: &[&str] = &["pod", "pods", "po", "job", "jobs"];

/// Nodes emptied, replicas taken to none, releases removed.
fn is_taken_down(inv: &Invocation) -> bool {
    let told = |subs: &[&str]| subs.iter().any(|sub| has_sub(inv, sub));
    let rehearsed = has_flag(inv, "--dry-run") && is_rehearsal(inv);
    !rehearsed
        && !asks_for_help(inv)
        && if inv.program == "helm" {
            // `--kube-context x` may stand in front of it.
            let mut words = inv.args.iter().filter_map(Arg::known).filter(|word| !word.starts_with('-'));
            words.by_ref().take(2).any(|word| matches!(word, "uninstall" | "delete" | "rollback"))
        } else {
            told(&["drain", "cordon", "taint"]) || told(&["scale"]) && has_flag(inv, "--replicas=0")
        }
}

/// Pods that have run to their end.
fn only_finished(inv: &Invocation) -> bool {
    let phase = flag_value(inv, &["--field-selector"]).and_then(Arg::known);
    let phase =
        phase.and_then(|text| text.strip_prefix("status.phase=")).map(|text| text.trim_start_matches('='));
    matches!(phase, Some("Failed" | "Succeeded"))
        && inv.operands.first().and_then(Arg::known).is_some_and(|kind| is_kind(kind, POD_KINDS))
        && inv.operands.len() == 1
        && !has_flag(inv, "--all")
        && !standing::names_live(inv)
}

/// The words behind `kubectl delete`; nothing for another command, and for a dry run.
fn kubectl_deleted<'i>(inv: &'i Invocation, scene: &Scene<'_>) -> Option<Vec<&'i Arg>> {
    let mut words = inv.sub.iter().map(String::as_str);
    let deletes = words.next() == Some("delete") && !is_rehearsal(inv) && !clusters::is_local(inv, scene);
    deletes.then(|| inv.operands.iter().collect())
}

fn is_kind(word: &str, kinds: &[&str]) -> bool {
    let kind = word.split('/').next().unwrap_or_default();
    !kind.is_empty() && kind.split(',').all(|kind| kinds.contains(&kind))
}

fn kubectl_wide<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(KUBECTL, |inv| {
        let Some(words) = kubectl_deleted(inv, scene) else { return false };
        let kind = words.first().map(|arg| arg.prefix()).unwrap_or_default();
        let kinds = kind.split('/').next().unwrap_or_default();
        let every = inv.flags.iter().any(|flag| flag.name == "--all");
        let space = matches!(kinds, "ns" | "namespace" | "namespaces");
        let names = || words.iter().skip(1).filter_map(|arg| arg.known());
        // A namespace that is made to be thrown away.
        let spared = space
            && words.len() > 1
            && names().count() + 1 == words.len()
            && names().all(standing::is_scratch);
        every || !spared && kinds.split(',').any(|kind| WIDE_KINDS.contains(&kind))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// A deletion in a cluster: of pods given by name, or (with `pods` false) of anything else.
fn kubectl_deletes<'a>(scene: &Scene<'a>, pods: bool) -> Found<'a> {
    let found = scene.first(KUBECTL, |inv| {
        let Some(words) = kubectl_deleted(inv, scene).filter(|_| !asks_for_help(inv)) else { return false };
        if only_finished(inv) {
            return false;
        }
        let known: Option<Vec<&str>> = words.iter().map(|arg| arg.known()).collect();
        let selects = ["-f", "--filename", "-k", "-l", "--selector", "--all", "--field-selector", "-A"];
        let by_name = !selects.iter().any(|flag| has_flag(inv, flag));
        let names_pods = has_flag(inv, "-f") && is_own_there(inv)
            || by_name
                && match known.as_deref() {
                    Some([kind]) => kind.contains('/') && is_kind(kind, POD_KINDS),
                    Some([kind, ..]) => is_kind(kind, POD_KINDS),
                    Some([]) | None => false,
                };
        names_pods == pods
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// What is deleted is named by a file for trying things.
fn is_own_there(inv: &Invocation) -> bool {
    let every = ["--all", "-A", "--all-namespaces", "-k", "--field-selector"];
    let file = flag_value(inv, &["-f", "--filename"]).and_then(Arg::known);
    !every.iter().any(|flag| has_flag(inv, flag))
        && !standing::names_live(inv)
        && file.is_some_and(|file| {
            standing::is_own(file) && [".yaml", ".yml", ".json"].iter().any(|end| file.ends_with(end))
        })
}

/// Where databases keep their data.
fn is_data(path: &str) -> bool {
    [
        "postgresql",
        "mysql",
        "mongodb",
        "mariadb",
        "redis",
        "elasticsearch",
        "cassandra",
        "clickhouse",
        "etcd",
        "rabbitmq",
    ]
    .iter()
    .any(|name| path.strip_prefix("/var/lib/").is_some_and(|rest| rest.starts_with(name)))
        || path.starts_with("/data/db")
        || path.trim_end_matches(['*', '/', '.']) == "/data"
}

/// The root, a directory at the top or one of data, or all in one.
fn is_wide(path: &str) -> bool {
    let dir = path.trim_end_matches(['*', '/', '.']);
    let depth = dir.split('/').filter(|part| !part.is_empty()).count();
    let data = dir.starts_with("/var/lib/") || dir.starts_with("/srv/") || dir.starts_with("/mnt/");
    data || if path.starts_with('/') { depth < 2 } else { dir.is_empty() }
}

/// A path for which `test` holds is deleted in a container.
fn deleted_inside<'a>(scene: &Scene<'a>, test: fn(&str) -> bool) -> Found<'a> {
    let wide = |effect: &Effect| {
        let path = match &effect.target {
            Target::Command(what) => what.strip_suffix(IN_CONTAINER)?,
            Target::Path { .. } | Target::UnknownPath { .. } | Target::Url(_) | Target::None => return None,
        };
        (test(path) && !effect.disposable).then_some(())
    };
    if !scene.view.survey.effects.iter().any(|effect| wide(effect).is_some()) {
        return Found::No;
    }
    let found = scene.invocations().iter().find(|inv| {
        inv.contained
            && (["-r", "-R", "--recursive", "-delete"].iter().any(|flag| has_flag(inv, flag))
                || inv.program == "find")
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// Directories that a build fills again.
const BUILT: &[&str] = &[
    "dist",
    "build",
    "out",
    "public",
    "_site",
    "site",
    "www",
    "export",
    "storybook-static",
    "html",
    "docs",
    "target",
    "output",
];

/// A bucket loses what the directory does not have, and the directory is not what a build has made.
fn mirrored<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(&["aws", "gsutil", "gcloud"], |inv| {
        let words: Vec<String> = inv.args.iter().map(Arg::to_text).collect();
        let has = |flag: &str| words.iter().any(|word| word == flag);
        let mirrors = has("sync") && has("--delete")
            || has("rsync") && (has("-d") || has("--delete-unmatched-destination-objects"));
        let spared = has("--dryrun") || has("--dry-run") || has("-n") || deeds::is_emulated(inv);
        let source = words.iter().skip_while(|word| !matches!(word.as_str(), "sync" | "rsync")).skip(1);
        let source = source.map(String::as_str).find(|word| !word.starts_with('-')).unwrap_or_default();
        let built = source.split('/').any(|part| BUILT.contains(&part)) && !source.contains("://");
        mirrors && !spared && !built
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

fn razed<'a>(scene: &Scene<'a>) -> Found<'a> {
    let is_spared = |inv: &Invocation| {
        let texts = || inv.operands.iter().map(Arg::text);
        match inv.program.as_str() {
            // What is emptied is elsewhere.
            "rclone" => !texts()
                .any(|text| text.split(':').next().is_some_and(|name| name != text && !name.contains('/'))),
            // The repository or what protects it, not a thing in it.
            "glab" => !inv.args.iter().map(Arg::text).any(|text| {
                let path = text.trim_start_matches('/');
                path.starts_with("projects/")
                    && (path.split('/').count() == 2 || path.contains("/protected_branches/"))
                    || text == "repo"
            }),
            "gh" if inv.args.iter().any(|arg| arg.known() == Some("release")) => false,
            "gh" => !inv.args.iter().map(Arg::text).any(|text| {
                let path = text.trim_start_matches('/');
                path.starts_with("repos/")
                    && (path.split('/').count() == 3
                        || path.ends_with("/protection")
                        || path.ends_with("/vulnerability-alerts")
                        || path.contains("/rulesets/")
                        || path.contains("/branches/"))
                    || text == "codespace"
            }),
            _ => false,
        }
    };
    match deeds::done_where(scene, RAZED, |inv| !is_spared(inv)) {
        Found::No => graphql_deletes(scene),
        found @ (Found::Yes(_) | Found::Unsure(_)) => found,
    }
}

/// A mutation that deletes, sent to the code host.
fn graphql_deletes<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(HUBS, |inv| {
        let asks = inv.args.iter().any(|arg| arg.known() == Some("api"));
        asks && inv.args.iter().map(Arg::text).any(|text| {
            text.contains("mutation")
                && [
                    "deleteRepository",
                    "deleteBranchProtectionRule",
                    "archiveRepository",
                    "deleteProject",
                    "deleteRef(",
                    "updateRepository(",
                ]
                .iter()
                .any(|name| text.contains(name))
        })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

fn cloud_deletes<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(CLOUDS, |inv| {
        let words: Vec<&str> =
            inv.sub.iter().map(String::as_str).chain(inv.operands.iter().filter_map(Arg::known)).collect();
        let dry = has_flag(inv, "--dry-run")
            || has_flag(inv, "--dryrun")
            || has_flag(inv, "--no-execute-changeset")
            || asks_for_help(inv)
            || deeds::is_emulated(inv);
        // The action is the verb of the command; a resource may be named like one, but stands behind it.
        let verb = match inv.program.as_str() {
            "aws" => words.get(1).is_some_and(|verb| {
                ["delete-", "terminate-", "deregister-", "purge-", "schedule-key-deletion", "remove-"]
                    .iter()
                    .any(|front| verb.starts_with(front))
            }),
            _ => words
                .iter()
                .skip(1)
                .take(4)
                .any(|verb| matches!(*verb, "delete" | "destroy" | "purge" | "terminate")),
        };
        verb && !dry
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

fn gh_api_deletes<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(HUBS, |inv| {
        let api = inv.sub.first().map(String::as_str).or_else(|| inv.operands.first().and_then(Arg::known))
            == Some("api");
        let method = flag_value(inv, &["-X", "--method"]).map(Arg::text).unwrap_or_default();
        let opens = inv.args.iter().map(Arg::text).any(|text| {
            let path = text.trim_start_matches('/');
            path.starts_with("repos/")
                && (path.ends_with("/hooks") || path.ends_with("/keys") || path.ends_with("/protection"))
        });
        let writes = opens
            && (inv.flags.iter().any(|flag| {
                matches!(flag.name.as_str(), "-f" | "-F" | "--field" | "--raw-field" | "--input")
            }) || inv
                .args
                .iter()
                .any(|arg| matches!(arg.known(), Some("-f" | "-F" | "--field" | "--input"))));
        let glab = inv.program == "glab" && inv.args.iter().any(|arg| arg.known() == Some("DELETE"));
        api && (matches!(method.to_ascii_uppercase().as_str(), "DELETE" | "PUT") || writes || glab)
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// Programs that start as many of a thing as they are told.
const MANIFOLD: &[&str] =
    &["kubectl", "oc", "aws", "gcloud", "docker", "nomad", "az", "eksctl", "fly", "flyctl"];

/// Machines of which each costs as much as hundreds of others, by the names that clouds give their types.
const HUGE: &[&str] = &[
    "p5.",
    "p5e.",
    "p5en.",
    "p4d.",
    "p4de.",
    "trn1.",
    "trn2.",
    "u-6tb",
    "u-12tb",
    "u-24tb",
    "x2iedn.32",
    "a2-ultragpu",
    "a2-megagpu",
    "a3-",
    "a4-",
    "n2-highcpu-96",
    "m2-ultramem",
    "m3-ultramem",
    "standard_nd",
    "ml.p4",
    "ml.p5",
];

/// Machines that cost too much, many in one list, or a pool that is left with none.
fn pools<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(MANIFOLD, |inv| {
        let words: Vec<&str> = deeds::known_words(inv);
        let has = |list: &[&str]| words.iter().any(|word| list.contains(word));
        let value = |names: &[&str]| {
            let joined = words.iter().filter_map(|word| word.split_once('='));
            let joined = joined.filter(|(name, _)| names.contains(name)).map(|(_, value)| value);
            let apart = words.windows(2).filter_map(|pair| match pair {
                [name, value] if names.contains(name) => Some(*value),
                _ => None,
            });
            joined.chain(apart).next()
        };
        let none = |names: &[&str]| value(names) == Some("0");
        let started = has(&["run-instances", "create", "create-training-job", "create-cluster"]);
        let kind = words.iter().any(|word| {
            let kind = word.rsplit('=').next().unwrap_or_default().to_ascii_lowercase();
            HUGE.iter().any(|huge| kind.starts_with(huge))
                || word.contains("InstanceType=ml.p4")
                || word.contains("InstanceType=ml.p5")
        });
        let listed = inv.program == "gcloud"
            && has(&["instances"])
            && has(&["create"])
            && words.iter().filter(|word| !word.starts_with('-')).count() > 20;
        let emptied = match inv.program.as_str() {
            "gcloud" => has(&["resize"]) && none(&["--num-nodes", "--size"]),
            "az" => has(&["scale"]) && none(&["--new-capacity", "--node-count"]),
            "eksctl" => has(&["scale"]) && none(&["--nodes", "-N", "--nodes-max"]),
            "fly" | "flyctl" => {
                has(&["scale"]) && words.windows(2).any(|pair| matches!(pair, ["count", "0"]))
            }
            _ => false,
        };
        let copies = (inv.program == "fly" || inv.program == "flyctl")
            && words.windows(2).any(|pair| {
                matches!(pair, ["count", number] if number.parse::<u64>().is_ok_and(|number| number >= 50))
            });
        started && kind || listed || emptied && !standing::names_scratch(inv) || copies
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// Hundreds of machines or of copies of a service.
fn very_many<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(MANIFOLD, |inv| {
        let words: Vec<&str> = deeds::known_words(inv);
        let counts = |name: &str| {
            matches!(
                name,
                "--replicas"
                    | "--count"
                    | "--desired-capacity"
                    | "--num-nodes"
                    | "--size"
                    | "--new-capacity"
                    | "--node-count"
                    | "--nodes"
            )
        };
        let many = |value: &str| value.parse::<u64>().is_ok_and(|number| number >= 200);
        words.iter().filter_map(|word| word.split_once('=')).any(|(name, value)| counts(name) && many(value))
            || words.windows(2).any(|pair| matches!(pair, [name, value] if counts(name) && many(value)))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// A request to another machine that deletes there, with the rights of somebody.
fn deleted_elsewhere<'a>(scene: &Scene<'a>) -> Found<'a> {
    const RIGHTS: &[&str] = &["authorization", "token", "api-key", "apikey", "x-auth", "cookie"];
    let found = scene.first(lists::DOWNLOADERS, |inv| {
        let texts: Vec<String> = inv.args.iter().map(Arg::to_text).collect();
        let has = |words: &[&str]| texts.iter().any(|text| words.contains(&text.as_str()));
        let deletes = has(&["DELETE", "-XDELETE", "--request=DELETE", "--method=DELETE"]);
        let told = |text: &str| text.contains("/doDelete");
        let lower = || texts.iter().map(|text| text.to_ascii_lowercase());
        let rights = || {
            has(&["-u", "--user", "-a", "--auth", "-n", "--netrc"])
                || lower().any(|text| {
                    RIGHTS.iter().any(|word| text.contains(word))
                        && (text.contains(": ") || text.contains("auth=") || text.contains("token="))
                })
        };
        let away = texts.iter().filter(|text| text.contains("://")).any(|text| {
            let host = host_of(text);
            let own = ["localhost", "127.", "0.0.0.0", "[::1]", "::1", "host.docker.internal"];
            !host.is_empty()
                && !standing::is_own(&host)
                && !host.contains("staging")
                && !own.iter().any(|front| host.starts_with(front))
                && ![".localhost", ".local", ".test"].iter().any(|end| host.ends_with(end))
        });
        away && (deletes && rights() || texts.iter().any(|text| told(text)))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

fn changed<'a>(scene: &Scene<'a>) -> Found<'a> {
    deeds::done_where(scene, ASKED, |inv| {
        let local = || (runs(inv, KUBECTL) || runs(inv, &["helm"])) && clusters::is_local(inv, scene);
        !(scales(inv) || everyday::starts_a_check(inv) || only_looks_there(inv) || local())
    })
}

/// `fly ssh console -C 'ls /app'`: one command on the other machine, which shows how it fares.
fn only_looks_there(inv: &Invocation) -> bool {
    const LOOKS: &[&str] = &[
        "uptime", "ls", "df", "du", "free", "date", "hostname", "uname", "whoami", "id", "w", "nproc", "pwd",
    ];
    let plain = |arg: &Arg| {
        arg.known().is_some_and(|text| {
            !text.contains(['|', ';', '&', '>', '<', '$', '`', '(', '\n'])
                && text.split_whitespace().next().is_some_and(|first| LOOKS.contains(&first))
        })
    };
    let words = deeds::known_words(inv);
    let told =
        |option: &str| words.iter().any(|word| *word == option || word.starts_with(&format!("{option}=")));
    let value = |option: &str| {
        let at = words.iter().position(|word| *word == option);
        let attached = words.iter().find_map(|word| word.strip_prefix(option)?.strip_prefix('='));
        at.and_then(|at| words.get(at + 1).copied())
            .or(attached)
            .is_some_and(|text| plain(&Arg::literal(text)))
    };
    match inv.program.as_str() {
        "fly" | "flyctl" => ["-C", "--command"].iter().any(|option| told(option) && value(option)),
        "gcloud" => told("ssh") && value("--command"),
        _ => false,
    }
}

/// A playbook for this machine alone, or for machines that are one's own to try things on: every inventory says so.
fn is_on_own(inv: &Invocation) -> bool {
    let own = |arg: &Arg| {
        arg.known().is_some_and(|text| {
            matches!(text.trim_end_matches(','), "localhost" | "127.0.0.1")
                || !text.contains(',') && standing::is_own(text)
        })
    };
    let values = |names: &'static [&'static str]| {
        inv.flags
            .iter()
            .filter(move |flag| names.contains(&flag.name.as_str()))
            .map(|flag| flag.value.as_ref())
    };
    let mut inventories = values(&["-i", "--inventory", "--inventory-file"]).peekable();
    inventories.peek().is_some()
        && inventories.all(|value| value.is_some_and(own))
        && !standing::names_live(inv)
}

/// `kubectl patch … -p '{"spec":{"replicas":2}}'`: no more than `kubectl scale` does.
fn scales(inv: &Invocation) -> bool {
    let only = |arg: &Arg| {
        let text: String = arg.text().chars().filter(|c| !c.is_whitespace()).collect();
        let number = text.strip_prefix("{\"spec\":{\"replicas\":").and_then(|rest| rest.strip_suffix("}}"));
        number.is_some_and(|number| number.parse::<u8>().is_ok_and(|replicas| replicas > 0))
    };
    let patches = inv.args.iter().any(|arg| arg.known() == Some("patch"));
    runs(inv, KUBECTL) && patches && flag_value(inv, &["-p", "--patch"]).is_some_and(only)
}
