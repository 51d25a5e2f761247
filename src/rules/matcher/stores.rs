//! Stores of credentials, and the commands that print what is in them.

use super::{Trigger, has_flag, has_sub, runs};
use crate::rules::Invocation;
use crate::rules::builtin::is_secret_name;
use crate::rules::builtin::operations::{is_emulated, option_values};
use crate::shell::Arg;

/// Whether what a command prints out of a store is for this host.
pub(crate) fn belongs_to(inv: &Invocation, host: &str) -> bool {
    let row = BELONGS.iter().find(|(program, _)| *program == inv.program);
    row.is_some_and(|(_, ends)| {
        ends.iter()
            .any(|end| host.strip_suffix(end).is_some_and(|front| front.is_empty() || front.ends_with('.')))
    })
}

words!("matcher/stores");

/// What a call has that prints a secret out of a store.
pub(crate) const SECRET_PRINTERS: Trigger = Trigger::keys(BY_SUB)
    .or(Trigger::programs(BY_OPTION))
    .or(Trigger::keys(WHOLE))
    .or(Trigger::programs(THIEVES));

/// Whether a program is one of those that [`prints_secret`] may hold for.
pub(crate) fn keeps_secrets(inv: &Invocation) -> bool {
    let among = |table: &'static [(&str, &[&str])]| table.iter().any(|(program, _)| *program == inv.program);
    among(BY_SUB) || among(WHOLE) || runs(inv, BY_OPTION) || runs(inv, THIEVES)
}

/// Whether a command prints a secret out of a credential store.
pub(crate) fn prints_secret(inv: &Invocation) -> bool {
    listed(inv, BY_SUB) && !names_plain(inv) && !is_emulated(inv) || dumps_store(inv) || by_option(inv)
}

/// A setting that every service has and that says nothing of how to get into it.
fn is_plain_name(name: &str) -> bool {
    !is_secret_name(name)
        && ["_ENV", "_LEVEL", "_REGION", "_VERSION", "_TIMEOUT"].iter().any(|end| name.ends_with(end))
}

/// What a store says of a token beside the token.
pub(crate) const OF_TOKEN: &[&str] = &[
    "policies",
    "ttl",
    "expire_time",
    "display_name",
    "renewable",
    "type",
    "expiresOn",
    "expires_on",
    "tenant",
    "subscription",
    "tokenType",
];

/// One variable, whose name does not say that it is secret: `netlify env:get NODE_VERSION`; one field of a token that is not
/// the token itself.
fn names_plain(inv: &Invocation) -> bool {
    let named = || inv.args.last().and_then(Arg::known).is_some_and(|name| !is_secret_name(name));
    match inv.program.as_str() {
        "netlify" => has_sub(inv, "env:get") && named(),
        "az" => {
            let fields = option_values(inv, &["--query"]);
            let asked = inv.args.iter().filter(|arg| arg.prefix().starts_with("--q")).count();
            let plain = inv
                .args
                .iter()
                .all(|arg| arg.known().is_some_and(|word| !matches!(word, "--debug" | "--verbose")));
            asked == 1
                && plain
                && fields.len() == 1
                && fields.iter().all(|field| OF_TOKEN.contains(&field.as_str()))
        }
        "heroku" => match inv.args.as_slice() {
            [sub, name, rest @ ..] => {
                let only = rest.first().is_none_or(|next| next.prefix().starts_with('-'));
                sub.known() == Some("config:get") && only && name.known().is_some_and(is_plain_name)
            }
            [] | [_] => false,
        },
        "op" => {
            let words: Vec<&str> = inv.args.iter().filter_map(Arg::known).collect();
            let behind = words.iter().zip(words.iter().skip(1)).filter(|(word, _)| **word == "--fields");
            let joined = words.iter().filter_map(|word| word.strip_prefix("--fields="));
            let mut fields = behind.map(|(_, value)| *value).chain(joined).peekable();
            fields.peek().is_some()
                && fields.all(|value| value.split(',').all(|field| OF_ITEM.contains(&field.trim())))
        }
        "vault" => {
            let mut fields =
                inv.args.iter().filter_map(Arg::known).filter_map(|word| word.strip_prefix("-field="));
            has_sub(inv, "token lookup") && fields.any(|field| OF_TOKEN.contains(&field))
        }
        _ => false,
    }
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
    { rows }.flat_map(|(_, subs)| *subs).any(|path| has_sub(inv, path))
}

fn by_option(inv: &Invocation) -> bool {
    let flag = |names: &[&str]| names.iter().any(|name| has_flag(inv, name));
    let says = |word: &str| inv.args.iter().any(|arg| arg.text().contains(word));
    match inv.program.as_str() {
        "gh" | "glab" => {
            has_sub(inv, "auth status") && flag(&["--show-token", "-t"])
                || has_sub(inv, "config get") && says("token")
        }
        "security" => {
            (has_sub(inv, "find-generic-password") || has_sub(inv, "find-internet-password"))
                && flag(&["-w", "-g"])
        }
        "aws" => {
            has_sub(inv, "configure get") && says("secret")
                || says("get-parameter") && flag(&["--with-decryption"])
        }
        "sops" => {
            (has_sub(inv, "decrypt") || flag(&["-d", "--decrypt"])) && !flag(&["-i", "--in-place"])
                || has_sub(inv, "exec-env")
                    && inv
                        .args
                        .last()
                        .is_some_and(|arg| matches!(arg.known(), Some("env" | "printenv" | "set")))
        }
        "npm" => has_sub(inv, "config get") && says("_auth"),
        "doppler" => has_sub(inv, "secrets") && !has_sub(inv, "secrets set") && !flag(&["--only-names"]),
        "stripe" => has_sub(inv, "config") && flag(&["--list"]),
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
        "git" => has_sub(inv, "config") && says("extraheader") && !flag(&["--unset", "--unset-all"]),
        "blackbox_cat" => !inv.args.is_empty(),
        "my_print_defaults" => flag(&["-s", "--show"]),
        "netsh" => says("key=clear"),
        "reg" => has_sub(inv, "query") && says("/f") && says("assword"),
        "findstr" => says("assword") && inv.args.iter().any(|arg| arg.text().starts_with("/s")),
        "gpg" | "gpg2" => {
            let named = |arg: &Arg| {
                let name = arg.text().to_ascii_lowercase();
                // Of an archive the names may be what is asked for.
                ["secret", "password", "credential", ".env", "token"].iter().any(|word| name.contains(word))
                    && ![".tar", ".tgz", ".zip"].iter().any(|end| name.contains(end))
            };
            flag(&["-d", "--decrypt"])
                && !flag(&["-o", "--output"])
                && inv.writes.is_empty()
                && inv.operands.iter().any(named)
        }
        "wg" => has_sub(inv, "show") && (says("private-key") || says("preshared-keys")),
        "docker" | "podman" => has_sub(inv, "inspect") && says(".Config.Env"),
        "pass" => {
            inv.sub.is_empty() && !inv.operands.is_empty() && !has_sub(inv, "ls") && !has_sub(inv, "git")
        }
        "kubectl" | "oc" => {
            (has_sub(inv, "get secret") || has_sub(inv, "get secrets"))
                && inv.args.iter().any(|arg| shows_values(arg.prefix()))
                || has_sub(inv, "config view") && flag(&["--raw", "--flatten"])
                || has_sub(inv, "get") && inv.args.iter().any(|arg| names_raw_secrets(&arg.text()))
        }
        _ => false,
    }
}

/// `/api/v1/secrets`, `/api/v1/namespaces/x/secrets/db`: where a cluster answers with its secrets.
pub(crate) fn names_raw_secrets(text: &str) -> bool {
    let path = text.split(['?', '#']).next().unwrap_or_default();
    path.split_once("/api/v1/").is_some_and(|(_, rest)| {
        let mut parts = rest.split('/');
        match parts.next() {
            Some("secrets") => true,
            Some("namespaces") => parts.nth(1) == Some("secrets"),
            _ => false,
        }
    })
}

/// A format of kubectl that shows what is in a secret.
fn shows_values(arg: &str) -> bool {
    // A certificate is shown to everybody; its key has another name.
    const PUBLIC: &[&str] = &[".metadata.", ".data.tls\\.crt}", ".data.ca\\.crt}", ".type}"];
    if PUBLIC.iter().any(|name| arg.contains(&format!("jsonpath={{{name}"))) && arg.matches('{').count() == 1
    {
        return false;
    }
    let format = ["--output=", "-o=", "-o"].iter().find_map(|front| arg.strip_prefix(front)).unwrap_or(arg);
    ["yaml", "json", "go-template", "template", "custom-columns"].iter().any(|name| format.starts_with(name))
}
