//! What others live by, by its name or because it is on another machine: databases that are written to, deployments that are started
//! anew.

use super::clusters::{self, KUBECTL};
use super::operations;
use super::{database, standing};
use crate::rules::Invocation;
use crate::rules::Stdin;
use crate::rules::facts::operations::QUERIES_HOSTED_DATABASE;
use crate::rules::matcher::{
    Found, Scene, flag_value, has_flag, has_sub, host_of, input_of, is_rehearsal, runs,
};
use crate::shell::Arg;

words!("builtin/live");

/// Programs that run a command on another machine, or with the addresses of what runs there.
const AFAR: &[&str] = &["heroku", "railway", "fly", "flyctl", "ssh"];

fn live_database_migrated(inv: &Invocation, scene: &Scene<'_>) -> bool {
    is_of_others(inv, scene) && (!has_sub(inv, "db execute") || changes(inv, scene))
}

fn hosted_database_told(inv: &Invocation, scene: &Scene<'_>) -> bool {
    !is_at_home(inv) && changes(inv, scene)
}

fn shared_deployment_restarted<'a>(scene: &Scene<'a>) -> Found<'a> {
    restarted(scene, |inv| standing::names_shared(inv) && !standing::names_live(inv))
}

fn restarted<'a>(scene: &Scene<'a>, test: fn(&Invocation) -> bool) -> Found<'a> {
    let found = scene.first(KUBECTL, |inv| {
        has_sub(inv, "rollout restart") && !is_rehearsal(inv) && !clusters::is_local(inv, scene) && test(inv)
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// A client is given what changes rows or tables, or what is not known.
fn told(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let elsewhere = || standing::is_led_elsewhere(scene, inv) && !database::is_own_name(inv, scene);
    (names_live(inv) || elsewhere()) && changes(inv, scene)
}

/// Whether a tool is told, by names, addresses or the settings around it, to work on a database that is not one's own.
fn is_of_others(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let around = |other: &Invocation| {
        other.text.len() > inv.text.len() && other.text.contains(&inv.text) && standing::names_live(other)
    };
    let afar = || {
        inv.wrappers.iter().any(|name| AFAR.contains(&name.as_str()))
            && !scene.invocations().iter().any(|other| runs(other, AFAR) && standing::names_scratch(other))
    };
    // `dotenv -e .env.production`, `. .env.prod`
    let settings = || {
        let words = scene.command_line().split_whitespace().map(|word| word.trim_matches(['"', '\'', ';']));
        { words }.any(|word| {
            word.rsplit('/').next().is_some_and(|name| name.starts_with(".env"))
                && standing::says_live(word)
                && !["example", "sample", "template"].iter().any(|end| word.contains(end))
        })
    };
    names_live(inv)
        || !database::is_own_name(inv, scene)
            && (settings()
                || standing::is_led_elsewhere(scene, inv)
                || standing::is_live_in(&said_for(inv, scene), scene, inv)
                || afar()
                || scene.invocations().iter().any(around))
}

/// The parts of the command line that a tool is started by, and those whose assignments stay for it.
fn said_for(inv: &Invocation, scene: &Scene<'_>) -> String {
    let stays = |part: &str| {
        let mut words = part.split_whitespace().peekable();
        words.peek().is_some_and(|first| matches!(*first, "export" | "declare" | "set" | "." | "source"))
            || words.all(|word| word.contains('='))
    };
    let line = scene.command_line().replace("\\\n", " ");
    let parts = line.split(['\n', ';', '|', '&']);
    parts.filter(|part| part.contains(inv.program.as_str()) || stays(part)).collect::<Vec<_>>().join(" ")
}

/// Whether a tool of a host is told to work on the copy on this machine, or on a branch or environment of one's own.
fn is_at_home(inv: &Invocation) -> bool {
    let words = operations::known_words(inv);
    let here = |text: &&&str| text.contains("://") && standing::is_this_machine(&host_of(text));
    let named = |text: &str| !text.contains([' ', '/']) && !text.ends_with(".sql") && standing::is_own(text);
    let by_variable = || {
        let variables = inv.text.split('$').skip(1).map(|rest| rest.trim_start_matches('{'));
        { variables }.any(|rest| {
            standing::is_own(
                rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default(),
            )
        })
    };
    !names_live(inv)
        && (words.iter().any(|word| matches!(*word, "--local" | "--preview"))
            || words.iter().find(here).is_some()
            || words.iter().any(|word| named(word))
            || by_variable())
}

fn changes(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let statements = inv.flags.iter().filter(|flag| {
        matches!(
            flag.name.as_str(),
            "-c" | "--command" | "-e" | "--execute" | "-Q" | "-q" | "--query" | "--eval"
        )
    });
    // Of a shell that is given a database by name, a text with blanks is a statement.
    let shell = operations::is_named(inv, QUERIES_HOSTED_DATABASE);
    let told = inv.args.iter().filter(|arg| shell && arg.text().trim().contains(' '));
    let mut statements = statements.filter_map(|flag| flag.value.as_ref()).chain(told).peekable();
    if statements.peek().is_some() {
        return statements.any(|text| text.known().is_none_or(is_change));
    }
    let by_file = ["-f", "--file", "-i"].iter().any(|flag| has_flag(inv, flag));
    let texts = input_of(inv, scene);
    let poured = match &inv.stdin {
        Stdin::Inherited => false,
        Stdin::Pipe | Stdin::Text(_) | Stdin::File(_) => {
            // What a file holds that is shown to it is not known.
            let shown = |other: &&Invocation| {
                other.stage < inv.stage
                    && !other.operands.is_empty()
                    && runs(other, &["cat", "zcat", "gunzip", "sed", "pv"])
            };
            texts.is_empty()
                || texts.iter().any(|text| is_change(text))
                || scene.printers(inv.pipeline).iter().any(|other| shown(&&**other))
        }
    };
    by_file || poured
}

/// Whether a word of a text stands at the head of statements that change something.
fn is_change(text: &str) -> bool {
    const CHANGES: &[&str] = &[
        "insert", "update", "delete", "merge", "upsert", "replace", "alter", "create", "drop", "truncate",
        "rename", "grant", "revoke", "copy", "call", "do", "vacuum", "reindex", "refresh", "i", "ir",
    ];
    let code = ["insertOne", "insertMany", "updateOne", "updateMany", "deleteOne", "deleteMany", "bulkWrite"];
    let head = |text: &str| {
        let word = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default();
        CHANGES.iter().any(|change| word.eq_ignore_ascii_case(change))
    };
    code.iter().any(|call| text.contains(call))
        // In brackets stands what `WITH` and `EXPLAIN ANALYZE` run.
        || text.split([';', '(', ')', '\n', '\\']).any(|part| {
            let part = part.trim_start();
            let behind = ["explain analyze", "begin"]
                .iter()
                .find_map(|front| part.get(..front.len()).filter(|have| have.eq_ignore_ascii_case(front)))
                .and_then(|front| part.get(front.len()..));
            head(part) || behind.is_some_and(|rest| head(rest.trim_start()))
        })
}

/// A variable, the address or the host that the command is given says by its name that it is in production.
fn names_live(inv: &Invocation) -> bool {
    let variables = inv.text.split('$').skip(1).map(|rest| {
        let rest = rest.strip_prefix('{').unwrap_or(rest);
        rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default()
    });
    let addresses = inv.args.iter().map(Arg::prefix).filter(|text| text.contains("://"));
    let host = flag_value(inv, &["-h", "--host", "--hostname"]).map(Arg::prefix);
    variables.chain(addresses.map(authority)).chain(host).any(standing::says_live)
}

/// Of an address the part that names a host.
fn authority(address: &str) -> &str {
    let rest = address.split_once("://").map_or("", |(_, rest)| rest);
    let host = rest.split(['/', '?']).next().unwrap_or_default();
    host.rsplit('@').next().unwrap_or_default()
}
