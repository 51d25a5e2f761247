//! What tools destroy, loosen, give away or pay, by the words of their names.

use crate::domain::{Verdict, words_of};
use crate::rules::facts::words::{
    BANKS, BUILDERS, CHANGING, CLOUDS, CLUSTERS, DIRECTORIES, GREAT, HUBS, MAKING, MEMORIES, READING, SMALL,
    STRONG, STUDIOS, TRUNKS, WEAK, WEAK_ON,
};
use crate::rules::matcher::Told;

/// What a tool that takes things away deserves, by what it takes.
pub(super) fn destroys(told: &Told<'_>) -> Verdict {
    let words = &told.words;
    let first = words.first().map(String::as_str).unwrap_or_default();
    // The last step of a pipeline that puts its results in place of a collection.
    if told.names(&["mongo", "mongodb"])
        && told.has(&["aggregate"])
        && told.args.iter().any(|(key, _)| key == "out")
    {
        return Verdict::Modify;
    }
    let reads = READING.contains(&first) && !told.names(&["http", "curl"]);
    let strong = told.has(STRONG)
        || told.names(&["mongo", "mongodb"]) && told.args.iter().any(|(key, _)| key == "dropdatabase");
    if reads || !(strong || told.has(WEAK)) || told.is_on(&["dryrun", "validateonly"]) || told.names(STUDIOS)
    {
        return Verdict::Allow;
    }
    if strong && (told.names(BUILDERS) && told.has(&["destroy", "delete", "down", "teardown"]) || many(told))
    {
        return Verdict::Block;
    }
    if strong && takes_every(told) {
        return Verdict::Block;
    }
    // What is noted of a thing is corrected all the time; the thing itself takes all that with it.
    if strong && told.names(MEMORIES) && !told.has(&["observation", "observations"]) {
        return Verdict::Modify;
    }
    // One document that is named, as `db.c.deleteOne({_id: …})`.
    if told.has(&["one"]) && told.args.len() >= 2 && told.args.iter().all(|(_, value)| value != "{}") {
        return Verdict::Warn;
    }
    if told.has(&["branch", "branches", "ref"]) {
        let trunk =
            told.values(&["branch", "branchname", "ref", "name"]).any(|value| TRUNKS.contains(&value));
        let hub = told.names(HUBS);
        return match (trunk, hub) {
            (true, _) => Verdict::Block,
            (false, true) => Verdict::Warn,
            (false, false) => Verdict::Modify,
        };
    }
    let kinds = told.values(&["resourcetype", "kind", "type", "resource", "entitytype", "objecttype"]);
    let kind = kinds.map(str::to_ascii_lowercase).any(|kind| GREAT.contains(&kind.as_str()));
    let remote = told.names(CLOUDS)
        && told.has(&["function", "functions", "job", "jobs", "node", "nodes", "variable"])
        || told.names(HUBS) && told.has(&["tag", "tags", "variable"]);
    let small = told.has(SMALL) && !remote && !(told.names(CLUSTERS) && told.has(&["node", "nodes"]));
    let great = told.has(GREAT) || kind;
    let local = told.has(&["file", "files", "directory", "folder"])
        && told
            .server
            .iter()
            .any(|word| matches!(word.as_str(), "filesystem" | "fs" | "files" | "commander"));
    let one_key =
        told.names(&["redis", "valkey", "memcached", "kv"]) && told.value(&["key"]).is_some() && !great;
    match (strong, great, small) {
        // Of a file its path says how bad it is.
        _ if local || one_key => Verdict::Allow,
        (_, true, false) => Verdict::Block,
        (true, true, true) => Verdict::Modify,
        (true, false, false) => Verdict::Modify,
        (false, true, true) | (_, false, true) => Verdict::Allow,
        (false, false, false) => weak(told),
    }
}

/// What is to go is named by a pattern that hits everything.
fn takes_every(told: &Told<'_>) -> bool {
    let mut every = told.values(&[
        "index",
        "indices",
        "key",
        "pattern",
        "name",
        "collection",
        "path",
        "target",
        "ids",
        "namespace",
        "entitynames",
        "recordids",
        "messageids",
    ]);
    let matched = told.names(&["elasticsearch", "opensearch", "elastic"])
        && told.args.iter().any(|(key, value)| key == "matchall" && value == "{}");
    matched || every.any(|value| matches!(value, "*" | "_all" | "all" | "/"))
}

/// Many messages, or people who can then no longer log in, in one call.
fn many(told: &Told<'_>) -> bool {
    if told.is_on(&["all", "deleteall", "everything"]) && !told.has(SMALL) {
        return true;
    }
    if told.names(&["mongo", "mongodb"]) && told.args.iter().any(|(key, _)| key == "dropdatabase") {
        return true;
    }
    let bulk = told.has(&["batch", "bulk", "many", "multiple", "mass"]);
    bulk && told.has(&[
        "email",
        "emails",
        "mail",
        "messages",
        "users",
        "customers",
        "contacts",
        "files",
        "records",
    ]) || told.has(&["user", "users"]) && told.names(DIRECTORIES)
        || told.has(&["customer", "customers"]) && told.names(BANKS)
}

/// A verb that takes away only with certain things.
fn weak(told: &Told<'_>) -> Verdict {
    if told.has(&["factory"]) {
        return Verdict::Block;
    }
    // One process that is named, as `kill PID`.
    if told.has(&["kill"]) && told.has(&["process"]) {
        let first = |pid: &str| pid.parse::<u32>().map_or(true, |pid| pid < 2);
        return match told.value(&["pid"]) {
            Some(pid) if first(pid) => Verdict::Block,
            Some(_) => Verdict::Allow,
            None => Verdict::Modify,
        };
    }
    if told.has(WEAK_ON) { Verdict::Modify } else { Verdict::Allow }
}

/// Verbs that stop, lock out or open, each with the things of which it is said.
const LOOSENS: &[(&[&str], &[&str], Verdict)] = &[
    (
        &["disable", "remove", "delete", "off", "stop", "deactivate", "suspend", "update", "unset", "bypass"],
        &[
            "protection",
            "logging",
            "guardduty",
            "firewall",
            "mfa",
            "2fa",
            "waf",
            "detector",
            "recorder",
            "cloudtrail",
            "antivirus",
            "defender",
            "ruleset",
            "encryption",
            "versioning",
            "guardrails",
            "guardrail",
        ],
        Verdict::Block,
    ),
    (
        &["disable", "unlock", "disarm", "off", "silence", "mute"],
        &["alarm", "lock", "alert", "alerts", "monitor", "security", "door", "unlock", "workflow"],
        Verdict::Modify,
    ),
    (&["reboot", "shutdown", "poweroff", "hibernate"], &[], Verdict::Modify),
    (&["power"], &["off", "cycle", "down"], Verdict::Modify),
    (
        &["stop", "pause", "suspend"],
        &["instance", "instances", "vm", "project", "database", "cluster", "droplet", "db", "server"],
        Verdict::Modify,
    ),
    (&["drain", "cordon", "evict", "taint"], &[], Verdict::Modify),
    (&["archive"], &["channel", "project", "repository", "repo", "team"], Verdict::Modify),
    (&["cancel"], &["subscription", "subscriptions", "order", "booking"], Verdict::Modify),
    (
        &["ban", "kick", "suspend", "deactivate", "offboard", "block"],
        &["user", "users", "member", "account", "customer"],
        Verdict::Modify,
    ),
    (
        &["revoke", "rotate"],
        &["key", "keys", "token", "tokens", "secret", "access", "certificate", "credentials"],
        Verdict::Modify,
    ),
    (&["unlock"], &["door", "lock", "car", "vehicle"], Verdict::Modify),
    (&["stop", "kill", "mute", "pause", "restart"], &["all", "everything", "monitors"], Verdict::Modify),
    (
        &["disable", "suspend"],
        &["service", "services", "rule", "policy", "key", "backup", "backups", "trigger"],
        Verdict::Modify,
    ),
    (&["run", "execute", "launch"], &["playbook", "playbooks"], Verdict::Modify),
    (&["force"], &["push"], Verdict::Modify),
    (&["unprotect"], &[], Verdict::Block),
    (
        &["update", "edit", "change", "set", "patch", "upsert"],
        &["dns", "nameserver", "nameservers"],
        Verdict::Modify,
    ),
    (&["seal", "unseal"], &["vault"], Verdict::Modify),
    (&["merge"], &["pull", "mr", "request"], Verdict::Modify),
    (&["publish"], &["package", "npm", "crate", "pypi"], Verdict::Modify),
];

/// Whether a word says that something is taken away, stopped, opened or changed.
pub(super) fn takes_or_loosens(word: &str) -> bool {
    [STRONG, WEAK, CHANGING].iter().any(|list| list.contains(&word))
        || LOOSENS.iter().any(|(verbs, ..)| verbs.contains(&word))
}

/// What a tool that stops, switches off or lets out deserves.
pub(super) fn loosens(told: &Told<'_>) -> Verdict {
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
pub(super) fn opens(told: &Told<'_>) -> Verdict {
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

fn making_key(told: &Told<'_>, making: &[&str]) -> bool {
    told.has(making) && told.has(&["accesskey", "deploykey", "sshkey", "credential", "credentials"])
}

/// What a tool that moves money deserves: what goes back to who paid may be an errand, what goes elsewhere is none.
pub(super) fn pays(told: &Told<'_>) -> Verdict {
    let back = told.has(&["refund", "refunds"]);
    let trade = told.has(&["order", "place", "buy", "sell", "swap", "sign"]);
    match moves(told) {
        false => Verdict::Allow,
        true if back || trade => Verdict::Modify,
        true => Verdict::Block,
    }
}

fn moves(told: &Told<'_>) -> bool {
    let first = told.words.first().map(String::as_str).unwrap_or_default();
    if READING.contains(&first) || told.has(&["link", "links", "intent", "method"]) {
        return false;
    }
    let coins = told.has(&["send", "transfer", "withdraw"])
        && told.names(&[
            "bitcoin", "ethereum", "solana", "evm", "crypto", "wallet", "coinbase", "metamask", "binance",
        ]);
    let moves = told.has(&["refund", "refunds", "payout", "payouts", "withdraw", "withdrawal", "wire"]);
    let sends = told.has(&[
        "send", "make", "transfer", "pay", "create", "execute", "initiate", "swap", "buy", "sell", "place",
        "sign",
    ]) && told.has(&[
        "payment",
        "payments",
        "transfer",
        "transaction",
        "funds",
        "money",
        "tokens",
        "order",
        "crypto",
        "pay",
        "swap",
        "buy",
        "sell",
        "eth",
        "sol",
        "btc",
    ]);
    let amount = told.value(&["amount", "value", "lamports", "quantity", "qty", "total"]).is_some();
    coins && amount
        || moves && (told.names(BANKS) || amount)
        || sends && told.names(BANKS) && (amount || told.has(&["payment", "funds", "money"]))
        || sends && amount && told.has(&["funds", "money", "payment", "transaction"])
}

/// Whether a tool shows a secret.
pub(super) fn shows_secret(told: &Told<'_>) -> bool {
    let first = told.words.first().map(String::as_str).unwrap_or_default();
    let takes = matches!(
        first,
        "get"
            | "read"
            | "reveal"
            | "fetch"
            | "retrieve"
            | "show"
            | "view"
            | "export"
            | "dump"
            | "decrypt"
            | "copy"
            | "access"
            | "download"
    ) || told.has(&["get", "read", "reveal", "retrieve", "decrypt", "dump"])
        && !told.has(&["set", "put", "create", "list", "delete", "update"]);
    let secret = told.has(&[
        "secret",
        "secrets",
        "password",
        "passwords",
        "credential",
        "credentials",
        "privatekey",
        "seed",
        "mnemonic",
        "keychain",
        "creds",
    ]) || told.has(&["private"]) && told.has(&["key"]);
    let other = told.has(&[
        "scanning", "alert", "alerts", "metadata", "policy", "list", "names", "docs", "help", "versions",
    ]);
    let keeper =
        told.names(&["1password", "bitwarden", "lastpass", "onepassword", "keychain", "keepass", "dashlane"])
            && told.has(&["item", "password", "credential", "entry", "totp", "login", "field"])
            || told.names(&["vault"])
                && matches!(first, "read" | "kv")
                && told.args.iter().any(|(key, _)| key == "path");
    takes && (secret && !other || keeper)
}
