//! Stores of credentials, and the commands that print what is in them.

use super::{Trigger, has_flag, runs};
use crate::rules::Invocation;
use crate::shell::Arg;

/// Ends of the names of the hosts that the credentials of these programs are for.
const BELONGS: &[(&str, &[&str])] = &[
    ("gcloud", &["googleapis.com", "google.com", "run.app", "pkg.dev", "gcr.io"]),
    ("az", &["azure.com", "windows.net", "microsoft.com", "azure.net"]),
    ("aws", &["amazonaws.com"]),
    ("gh", &["github.com", "githubusercontent.com"]),
    ("glab", &["gitlab.com"]),
    ("heroku", &["heroku.com"]),
    ("fly", &["fly.io", "machines.dev"]),
];

/// Whether what a command prints out of a store is for this host.
pub(crate) fn belongs_to(inv: &Invocation, host: &str) -> bool {
    let row = BELONGS.iter().find(|(program, _)| *program == inv.program);
    row.is_some_and(|(_, ends)| {
        ends.iter()
            .any(|end| host.strip_suffix(end).is_some_and(|front| front.is_empty() || front.ends_with('.')))
    })
}

/// Subcommands that print a secret.
const BY_SUB: &[(&str, &[&str])] = &[
    ("gh", &["auth token"]),
    ("glab", &["auth token"]),
    ("secret-tool", &["lookup"]),
    (
        "gcloud",
        &[
            "auth print-access-token",
            "auth print-identity-token",
            "auth application-default print-access-token",
            "secrets versions access",
            "config config-helper",
        ],
    ),
    (
        "az",
        &[
            "account get-access-token",
            "keyvault secret show",
            "keyvault secret download",
            "storage account keys list",
            "ad sp create-for-rbac",
            "acr credential show",
            "cosmosdb keys list",
        ],
    ),
    (
        "aws",
        &[
            "configure export-credentials",
            "secretsmanager get-secret-value",
            "secretsmanager batch-get-secret-value",
            "sts get-session-token",
            "sts assume-role",
            "sts get-federation-token",
            "kms decrypt",
        ],
    ),
    ("op", &["read", "item get", "document get"]),
    ("bw", &["get", "list items"]),
    ("lpass", &["show"]),
    ("gopass", &["show", "cat", "otp"]),
    ("pass", &["show"]),
    ("keepassxc-cli", &["show", "clip"]),
    ("ansible-vault", &["view", "decrypt"]),
    ("rclone", &["config show", "config dump", "reveal"]),
    ("keyring", &["get"]),
    ("heroku", &["auth:token", "config", "config:get"]),
    ("fly", &["auth token"]),
    ("flyctl", &["auth token"]),
    ("infisical", &["secrets", "export"]),
    ("netlify", &["env:list", "env:get"]),
    ("vercel", &["env pull"]),
    ("railway", &["variables"]),
    ("chamber", &["read", "export"]),
    ("teller", &["show", "export"]),
    ("terraform", &["state pull"]),
    ("tofu", &["state pull"]),
    ("wg", &["showconf"]),
    ("vault", &["read", "kv get", "token lookup", "print token"]),
    (
        "git",
        &[
            "credential fill",
            "credential-osxkeychain get",
            "credential-libsecret get",
            "credential-store get",
            "credential-cache get",
            "credential-manager get",
            "credential-wincred get",
        ],
    ),
    ("git-credential-osxkeychain", &["get"]),
    ("git-credential-libsecret", &["get"]),
    ("git-credential-store", &["get"]),
    ("git-credential-manager", &["get"]),
    ("docker-credential-desktop", &["get", "list"]),
    ("docker-credential-osxkeychain", &["get", "list"]),
    ("docker-credential-secretservice", &["get", "list"]),
    ("docker-credential-pass", &["get", "list"]),
    ("docker-credential-wincred", &["get", "list"]),
    ("rails", &["credentials:show"]),
    ("nmcli", &["device wifi show-password", "dev wifi show-password"]),
    ("keyctl", &["print", "pipe", "read"]),
    ("kubectl", &["create token"]),
    ("oc", &["create token", "whoami -t"]),
];

/// Subcommands that print all that a store holds, or what nobody but root may see.
const WHOLE: &[(&str, &[&str])] = &[
    ("security", &["dump-keychain", "export"]),
    ("secret-tool", &["search"]),
    ("bw", &["export"]),
    ("lpass", &["export"]),
    ("keepassxc-cli", &["export"]),
    ("getent", &["shadow", "gshadow"]),
];

/// Programs that are there to take credentials out of where they are kept.
pub(crate) const THIEVES: &[&str] = &[
    "kwallet-query",
    "unshadow",
    "mimikatz",
    "mimipenguin",
    "lazagne",
    "LaZagne",
    "laZagne.py",
    "hashdump",
    "pypykatz",
    "secretsdump.py",
    "impacket-secretsdump",
    "lazagne.py",
    "mimipenguin.sh",
    "mimipenguin.py",
];

/// Programs that print a secret with certain options only.
const BY_OPTION: &[&str] = &[
    "age",
    "gh",
    "glab",
    "security",
    "aws",
    "sops",
    "npm",
    "doppler",
    "stripe",
    "nmcli",
    "ssh-keygen",
    "ps",
    "docker",
    "podman",
    "pass",
    "gpg",
    "gpg2",
    "kubectl",
    "oc",
    "wg",
];

/// What a call has that prints a secret out of a store.
pub(crate) const SECRET_PRINTERS: Trigger = Trigger::keys(BY_SUB)
    .or(Trigger::programs(BY_OPTION))
    .or(Trigger::keys(WHOLE))
    .or(Trigger::programs(THIEVES));

/// Whether a command prints a secret out of a credential store.
pub(crate) fn prints_secret(inv: &Invocation) -> bool {
    listed(inv, BY_SUB) || dumps_store(inv) || by_option(inv)
}

/// Whether a command prints all of a store, or takes out what it is not meant to give.
pub(crate) fn dumps_store(inv: &Invocation) -> bool {
    let keys = matches!(inv.program.as_str(), "gpg" | "gpg2")
        // `--export` and `--export-options` are no abbreviations of it.
        && inv.flags.iter().any(|flag| flag.name.starts_with("--export-s"));
    listed(inv, WHOLE) || keys || runs(inv, THIEVES)
}

fn listed(inv: &Invocation, table: &'static [(&str, &[&str])]) -> bool {
    if !inv.listed.known_or(table, || table.iter().any(|(program, _)| *program == inv.program)) {
        return false;
    }
    let rows = table.iter().filter(|(program, _)| *program == inv.program);
    { rows }.flat_map(|(_, subs)| *subs).any(|path| begins(inv, path))
}

/// The subcommand and operands begin with these words.
fn begins(inv: &Invocation, path: &str) -> bool {
    let mut given = inv.sub.iter().map(String::as_str).chain(inv.operands.iter().filter_map(Arg::known));
    // Nearly every path is told apart by its first word.
    given.clone().next().is_some_and(|first| path.starts_with(first))
        && path.split(' ').all(|word| given.next() == Some(word))
}

fn by_option(inv: &Invocation) -> bool {
    let flag = |names: &[&str]| names.iter().any(|name| has_flag(inv, name));
    let says = |word: &str| inv.args.iter().any(|arg| arg.text().contains(word));
    match inv.program.as_str() {
        "gh" | "glab" => begins(inv, "auth status") && flag(&["--show-token", "-t"]),
        "security" => {
            (begins(inv, "find-generic-password") || begins(inv, "find-internet-password"))
                && flag(&["-w", "-g"])
        }
        "aws" => {
            begins(inv, "configure get") && says("secret")
                || says("get-parameter") && flag(&["--with-decryption"])
        }
        "sops" => (begins(inv, "decrypt") || flag(&["-d", "--decrypt"])) && !flag(&["-i", "--in-place"]),
        "npm" => begins(inv, "config get") && says("_auth"),
        "doppler" => begins(inv, "secrets") && !begins(inv, "secrets set"),
        "stripe" => begins(inv, "config") && flag(&["--list"]),
        "nmcli" => {
            says("psk")
                || flag(&["--show-secrets"])
                || flag(&["-s"]) && (says("security") || says("connection"))
        }
        "age" => flag(&["-d", "--decrypt"]) && !flag(&["-o", "--output"]) && inv.writes.is_empty(),
        "ssh-keygen" => flag(&["-p"]) && inv.args.iter().any(|arg| arg.known() == Some("-N")),
        // Without a dash `e` stands for the environment.
        "ps" => inv.args.first().is_some_and(|arg| {
            let text = arg.text();
            text.contains('e') && text.bytes().all(|b| b.is_ascii_lowercase())
        }),
        "wg" => begins(inv, "show") && (says("private-key") || says("preshared-keys")),
        "docker" | "podman" => begins(inv, "inspect") && says(".Config.Env"),
        "pass" => inv.sub.is_empty() && !inv.operands.is_empty() && !begins(inv, "ls") && !begins(inv, "git"),
        "kubectl" | "oc" => {
            (begins(inv, "get secret") || begins(inv, "get secrets"))
                && inv.args.iter().any(|arg| shows_values(arg.prefix()))
                || begins(inv, "config view") && flag(&["--raw", "--flatten"])
        }
        _ => false,
    }
}

/// A format of kubectl that shows what is in a secret.
fn shows_values(arg: &str) -> bool {
    if arg.contains("jsonpath={.metadata.") && arg.matches('{').count() == 1 {
        return false;
    }
    let format = ["--output=", "-o=", "-o"].iter().find_map(|front| arg.strip_prefix(front)).unwrap_or(arg);
    ["yaml", "json", "go-template", "template", "custom-columns"].iter().any(|name| format.starts_with(name))
}
