//! Tools that loosen or open what is guarded, by their words.

use super::making_key;
use crate::domain::{Verdict, words_of};
use crate::rules::facts::words::{CHANGING, MAKING, READING, STRONG, TRUNKS, WEAK};
use crate::rules::matcher::Told;

words!("builtin/tools/verbs/loosens");

/// Whether a word says that something is taken away, stopped, opened or changed.
pub(in crate::rules::builtin::tools) fn takes_or_loosens(word: &str) -> bool {
    [STRONG, WEAK, CHANGING].iter().any(|list| list.contains(&word))
        || LOOSENS.iter().any(|(verbs, ..)| verbs.contains(&word))
}

/// What a tool that stops, switches off or lets out deserves.
pub(in crate::rules::builtin::tools) fn loosens(told: &Told<'_>) -> Verdict {
    let first = told.words.first().map(String::as_str).unwrap_or_default();
    if READING.contains(&first) {
        return Verdict::Allow;
    }
    let words = |list: &[&str]| {
        told.names(list)
            || told
                .values(&["domain", "entityid", "name", "device"])
                .any(|value| list.iter().any(|word| words_of(value).iter().any(|one| one == word)))
    };
    let found =
        LOOSENS.iter().filter(|(verbs, things, _)| told.has(verbs) && (things.is_empty() || words(things)));
    let mut worst = found.map(|(.., verdict)| *verdict).max().unwrap_or_default();
    // What is only proposed is not merged.
    if told.has(&["merge"]) && told.has(&["create", "update", "open", "note", "comment", "approve"]) {
        worst = Verdict::Allow;
    }
    let none = told
        .values(&["replicas", "replicacount", "desiredcount", "desiredcapacity"])
        .any(|value| value == "0");
    if none && told.has(&["scale", "patch", "update", "set", "resize"]) {
        worst = worst.max(Verdict::Modify);
    }
    let guard = |value: &str| {
        let value = value.to_ascii_lowercase();
        ["blocked", "allowed", "permission", "security", "guard", "sandbox", "approve"]
            .iter()
            .any(|word| value.contains(word))
    };
    if told.has(&["config", "settings"])
        && told.value(&["value"]).is_some()
        && told.values(&["setting"]).any(guard)
    {
        worst = worst.max(Verdict::Modify);
    }
    if told.has(&["set", "update", "change"])
        && told.has(&["config", "configuration", "settings"])
        && told.values(&["key", "setting", "name"]).any(guard)
    {
        worst = worst.max(Verdict::Modify);
    }
    let trunk = told.values(&["ref", "branch", "branchname"]).any(|value| TRUNKS.contains(&value));
    if trunk && told.is_on(&["force"]) && told.has(&["update", "set", "reset", "move"]) {
        worst = Verdict::Block;
    }
    let unguarded = |value: &str| {
        let value = value.to_ascii_lowercase();
        value.contains("blockedcommand") || value.contains("alloweddirector")
    };
    if told.has(&["set", "update", "change"]) && told.values(&["key", "setting", "name"]).any(unguarded) {
        worst = Verdict::Block;
    }
    worst
}

/// What a tool that gives somebody access deserves.
pub(in crate::rules::builtin::tools) fn opens(told: &Told<'_>) -> Verdict {
    let first = told.words.first().map(String::as_str).unwrap_or_default();
    if READING.contains(&first) && first != "generate" {
        return Verdict::Allow;
    }
    let both = |verbs: &[&str], things: &[&str]| told.has(verbs) && told.has(things);
    let key = told.has(&["key", "keys"]) && told.has(&["access", "deploy", "ssh", "account", "api", "gpg"]);
    let public = told.args.iter().any(|(key, value)| match key.as_str() {
        "private" => value == "false",
        "public" | "makepublic" | "ispublic" => value == "true",
        "visibility" | "access" | "acl" | "cannedacl" => value.starts_with("public"),
        _ => false,
    });
    let anyone = told.args.iter().any(|(key, value)| {
        matches!(value.as_str(), "anyone" | "allUsers" | "anyoneWithLink" | "public") && key != "query"
    });
    let to_all = |text: &str| text.contains("0.0.0.0/0") || text.contains("::/0");
    let admin = told.args.iter().any(|(key, value)| {
        let value = value.to_ascii_lowercase();
        matches!(
            key.as_str(),
            "role"
                | "permission"
                | "permissions"
                | "roles"
                | "policyarn"
                | "policy"
                | "accesslevel"
                | "rolename"
                | "clusterrole"
        ) && ["admin", "owner", "maintain", "\"*\"", "'*'"].iter().any(|word| value.contains(word))
    });
    let hub = both(
        &["update", "edit", "set", "change", "patch", "make"],
        &["repository", "repo", "project", "visibility", "public", "bucket", "acl"],
    );
    if (making_key(told, MAKING) || key && told.has(MAKING))
        || both(&["attach", "put", "update", "set"], &["policy", "acl"])
            && told.names(&["user", "role", "iam", "bucket", "aws", "s3", "group"])
        || both(MAKING, &["collaborator", "collaborators", "profile"]) && !told.has(&["get"])
        || both(&["create"], &["user"]) && told.names(&["iam", "aws", "gcp", "azure"])
        || both(&["transfer"], &["repository", "repo", "ownership", "domain", "project"])
        || both(&["grant", "promote", "make"], &["admin", "administrator", "superuser"])
        || hub && public
        || both(&["authorize", "open", "add", "create"], &["ingress", "firewall", "rule"])
            && told.args.iter().any(|(_, value)| to_all(value))
        || admin
            && told.has(&[
                "add", "grant", "assign", "attach", "set", "create", "update", "invite", "bind", "share",
            ])
    {
        return Verdict::Block;
    }
    let secret = both(&["create", "set", "update", "put", "add", "write", "upsert"], &["secret", "secrets"])
        && !told.has(&["scanning", "alert", "alerts"]);
    if both(&["make", "set", "share", "link", "publish"], &["public", "publicly"])
        && !told.has(&["get", "key"])
    {
        return Verdict::Block;
    }
    let shared = anyone && told.has(&["share", "permission", "permissions", "sharing", "publish"]);
    let forwards = forwards(told);
    if shared || lets_all(told) || forwards && told.names(&["gmail", "mail", "email", "outlook", "exchange"])
    {
        return Verdict::Block;
    }
    let hooked = both(&["create", "add", "update", "set"], &["webhook", "webhooks", "hook"]);
    if secret || forwards || hooked { Verdict::Modify } else { Verdict::Allow }
}

/// Rules of a store that let everybody do everything.
fn lets_all(told: &Told<'_>) -> bool {
    told.args.iter().any(|(_, text)| says_all(text))
}

fn says_all(text: &str) -> bool {
    if !text.contains("allow") && !text.contains("capabilities") {
        return false;
    }
    let tight: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let open = ["allowread,write:iftrue", "allowwrite:iftrue", "allowread,write;", "\".write\":true"];
    let vault = tight.contains("path\"*\"") && tight.contains("capabilities") && tight.contains("\"sudo\"");
    open.iter().any(|form| tight.contains(form)) || vault
}

/// Whether a tool has what comes in sent on.
fn forwards(told: &Told<'_>) -> bool {
    let rule = told.has(&["filter", "rule", "forwarding", "forward"]) && told.has(&["create", "add", "set"]);
    let named = told.value(&["forward", "forwardto", "forwardingaddress", "redirect"]).is_some();
    let address = told.has(&["create", "add", "set", "enable"]) && told.has(&["forwarding", "delegate"]);
    rule && named || address
}
