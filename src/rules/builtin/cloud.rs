//! Infrastructure: clouds, clusters, containers, hosted repositories.

pub(super) mod access;
pub(super) mod hosting;
pub(super) mod infrastructure;
pub(super) mod kubernetes;
pub(super) mod removed;
mod requests;
pub(super) mod settings;
mod stacks;

use super::clusters::KUBECTL;
use super::{clusters, everyday, libraries, lists, operations, standing};
use crate::rules::Invocation;
use crate::rules::matcher::{Scene, Trigger, flag_value, host_of, runs};
use crate::shell::Arg;

const TERRAFORM: &[&str] = &["terraform", "tofu", "terragrunt"];

/// Clients of code hosts.
pub(super) const HUBS: &[&str] = &["gh", "glab"];

/// Code that stands in a command.
const IN_CODE: Trigger = Trigger::INTERPRETER.or(Trigger::programs(libraries::RUNNERS));

words!("builtin/cloud");

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

/// Machines that cost too much, many in one list, or a pool that is left with none.
fn pools(inv: &Invocation) -> bool {
    let words: Vec<&str> = operations::known_words(inv);
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
        "fly" | "flyctl" => has(&["scale"]) && words.windows(2).any(|pair| matches!(pair, ["count", "0"])),
        _ => false,
    };
    let copies = (inv.program == "fly" || inv.program == "flyctl")
            && words.windows(2).any(|pair| {
                matches!(pair, ["count", number] if number.parse::<u64>().is_ok_and(|number| number >= 50))
            });
    started && kind || listed || emptied && !standing::names_scratch(inv) || copies
}

/// Hundreds of machines or of copies of a service.
fn very_many(inv: &Invocation) -> bool {
    let words: Vec<&str> = operations::known_words(inv);
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
}

/// A request to another machine that deletes there, with the rights of somebody.
fn deleted_elsewhere(inv: &Invocation) -> bool {
    const RIGHTS: &[&str] = &["authorization", "token", "api-key", "apikey", "x-auth", "cookie"];
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
}

fn changed(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let local = || (runs(inv, KUBECTL) || runs(inv, &["helm"])) && clusters::is_local(inv, scene);
    let turned = kubernetes::is_turned_back(inv);
    !(scales(inv) || everyday::starts_a_check(inv) || only_looks_there(inv) || turned || local())
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
    let words = operations::known_words(inv);
    let told =
        |option: &str| words.iter().any(|word| *word == option || word.starts_with(&format!("{option}=")));
    let given = |option: &str| {
        let at = words.iter().position(|word| *word == option);
        let attached = words.iter().find_map(|word| word.strip_prefix(option)?.strip_prefix('='));
        at.and_then(|at| words.get(at + 1).copied()).or(attached)
    };
    let value = |option: &str| given(option).is_some_and(|text| plain(&Arg::literal(text)));
    match inv.program.as_str() {
        "fly" | "flyctl" => ["-C", "--command"].iter().any(|option| told(option) && value(option)),
        "gcloud" => told("ssh") && value("--command"),
        "heroku" => {
            let asked = given("-c").or_else(|| given("--command"));
            told("pg:psql") && !standing::names_live(inv) && asked.is_some_and(only_selects)
        }
        _ => false,
    }
}

/// One statement that shows rows and does nothing to them.
fn only_selects(sql: &str) -> bool {
    let sql = sql.trim().trim_end_matches(';').to_ascii_lowercase();
    let looks = ["select ", "explain select ", "show "].iter().any(|front| sql.starts_with(front));
    looks && !NO_SELECTION.iter().any(|word| sql.contains(word))
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
