//! What tools destroy, loosen, give away or pay, by the words of their names.

mod loosens;

use crate::domain::Verdict;
use crate::rules::facts::words::{
    BANKS, BUILDERS, CLOUDS, CLUSTERS, DIRECTORIES, GREAT, HUBS, MEMORIES, READING, SMALL, STRONG, STUDIOS,
    TRUNKS, WEAK, WEAK_ON,
};
use crate::rules::matcher::Told;
pub(super) use loosens::{loosens, opens, takes_or_loosens};

words!("builtin/tools/verbs");

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
    // As the tools of editors have it: nothing but where it lies.
    let edited = || {
        let path = |(key, _): &(String, String)| matches!(key.as_str(), "filepath" | "targetfile");
        told.args.iter().all(path) && !told.args.is_empty() && !told.names(HUBS) && !told.names(CLOUDS)
    };
    let file = told.has(&["file", "files", "directory", "folder"]);
    let of_files = |word: &String| matches!(word.as_str(), "filesystem" | "fs" | "files" | "commander");
    let local = file && (edited() || told.server.iter().any(of_files));
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
    let mut every = told.values(EVERYTHING_FIELDS);
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
    bulk && told.has(MANY_THINGS)
        || told.has(&["user", "users"]) && told.names(DIRECTORIES)
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
            // One that the tool itself started, by what it calls it.
            None if told.value(&["sessionid", "processid", "shellid", "terminalid"]).is_some() => {
                Verdict::Allow
            }
            None => Verdict::Modify,
        };
    }
    if told.has(WEAK_ON) { Verdict::Modify } else { Verdict::Allow }
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
    ]) && told.has(MONEY);
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
    let secret = told.has(SECRET_THINGS) || told.has(&["private"]) && told.has(&["key"]);
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
