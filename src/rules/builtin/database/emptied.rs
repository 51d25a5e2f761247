//! Rows, keys and messages that are deleted all at once.

mod flushed;

use super::place::{Place, is_own_store, place_of};
use super::{
    DROPPERS, PORTS, REDIS, STATEMENTS, Whose, deleted_by_request, dropped, drops_column, drops_missed,
    drops_others, drops_table, is_local_bucket, is_on_scratch, is_own_client, loses, spares_no_row,
    sql_by_client, sql_unless_own, starts, texts, words_of,
};
use crate::domain::EffectKind;
use crate::rules::Invocation;
use crate::rules::builtin::standing::is_scratch;
use crate::rules::builtin::{lists, operations, resets, scripts, standing};
use crate::rules::facts::operations::{DESTROYS_QUEUE, DRAINS_QUEUE};
use crate::rules::matcher::{Found, Scene, contains_word, runs};
use crate::shell::Arg;
use flushed::{FETCHERS, flushed, flushed_by_address, flushed_by_client, flushed_over_socket};

words!("builtin/database/emptied");

fn own_tables_lost<'a>(scene: &Scene<'a>) -> Found<'a> {
    sql_by_client(scene, |inv| is_own_client(inv, scene), loses_tables)
}

fn own_database_dropped<'a>(scene: &Scene<'a>) -> Found<'a> {
    sql_by_client(scene, |inv| place_of(inv, scene) != Place::Elsewhere, drops_own)
}

fn own_queue_lost(inv: &Invocation, scene: &Scene<'_>) -> bool {
    whose_queue(inv, scene) == Whose::Own
}

fn store_asked_to_delete<'a>(scene: &Scene<'a>) -> Found<'a> {
    statement_sent(scene)
}

fn store_deleted_by_words(inv: &Invocation, scene: &Scene<'_>) -> bool {
    whose_queue(inv, scene) == Whose::Others && !standing::is_scratch_alone(inv)
}

fn queue_emptied(inv: &Invocation, scene: &Scene<'_>) -> bool {
    whose_queue(inv, scene) != Whose::Tests
}

const MONGO: &[&str] = &["mongosh", "mongo"];

/// Clients of databases that keep graphs.
const GRAPHS: &[&str] = &["cypher-shell", "neo4j-shell", "arangosh", "gremlin"];

/// Whose the queue or bucket is that a command is about.
fn whose_queue(inv: &Invocation, scene: &Scene<'_>) -> Whose {
    if !operations::is_one(inv, DESTROYS_QUEUE) && !operations::is_one(inv, DRAINS_QUEUE) {
        return Whose::Others;
    }
    let named = |word: &&str| {
        let name = word.split_once('=').map_or(*word, |(_, name)| name);
        !word.contains(' ') && !word.contains("://") && is_scratch(name)
    };
    let named = operations::known_words(inv).iter().any(named);
    // The client of this server is for the machine that it runs on, unless it is told another.
    let at_home = runs(inv, &["rabbitmqadmin", "rabbitmqctl"]);
    match (place_of(inv, scene), named) {
        (Place::Elsewhere, _) => Whose::Others,
        (Place::Here, true) => Whose::Tests,
        (Place::Unsaid, true) if at_home || is_local_bucket(inv, scene) => Whose::Tests,
        (Place::Here, false) => Whose::Own,
        (Place::Unsaid, false) if is_local_bucket(inv, scene) => Whose::Own,
        (Place::Unsaid, _) => Whose::Others,
    }
}

/// What a server keeps its data in goes, on this machine.
fn data_file_deleted<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.effects().find(|(effect, _)| {
        effect.kind == EffectKind::FileDeletion
            && DATA_PLACES.iter().any(|dir| effect.target.text().starts_with(dir))
            && !effect.target.text().ends_with(".pid")
            && !effect.target.text().ends_with(".sock")
    });
    Found::from(found.map(|(effect, _)| effect.target.text()))
}

/// The same, of one for development.
fn drops_own(words: &[String]) -> bool {
    starts(words, &["DROP", "DATABASE"]) && drops_missed(words) && !drops_others(words)
}

fn truncates(words: &[String]) -> bool {
    starts(words, &["TRUNCATE"])
}

/// What is asked of a store for development.
fn loses_tables(words: &[String]) -> bool {
    drops_table(words)
        || drops_column(words)
        || truncates(words)
        || spares_no_row(words)
        || starts(words, &["DROP", "SCHEMA"]) && drops_missed(words)
}

/// Everything in a graph, or a graph with all that is in it.
fn graph_deleted(inv: &Invocation, scene: &Scene<'_>) -> bool {
    texts(inv, scene).iter().flat_map(|text| text.split(';')).any(|statement| {
        let words = words_of(statement);
        let has = |word: &str| words.iter().any(|one| one == word);
        has("MATCH") && has("DELETE") && !has("WHERE") && !statement.contains(['{', ':'])
            || starts(&words, &["DROP", "DATABASE"])
            || contains_word(statement, "._dropDatabase(")
            || contains_word(statement, "._drop(")
            || contains_word(statement, "g.V().drop(")
    })
}

/// A program of one's own on this machine, at a port where no database listens: what it is sent are words to search for.
fn is_own_service(inv: &Invocation) -> bool {
    const LISTENED: &[&str] =
        &["8086", "8123", "8181", "9000", "9047", "4200", "4001", "8082", "8529", "2480"];
    let port = |text: &str| {
        let text = text.split_once("://").map_or(text, |(_, rest)| rest);
        let place = text.split(['/', '?']).next().unwrap_or_default();
        let (host, port) = place.rsplit_once(':')?;
        let here = host.is_empty() || standing::is_this_machine(host);
        (here && !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit())).then(|| port.to_owned())
    };
    let address = inv.args.iter().filter_map(Arg::known).find_map(port);
    let queried = inv.args.iter().any(|arg| arg.text().contains("/query") || arg.text().contains("/_sql"));
    address.is_some_and(|port| !LISTENED.contains(&port.as_str()) && !PORTS.contains(&port.as_str()))
        && !queried
}

/// A statement that deletes, sent to a database that takes them in requests.
fn statement_sent<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(lists::DOWNLOADERS, |inv| {
        // To one's own program on this machine it is a text like any other.
        let own = is_own_service(inv);
        inv.args.iter().any(|arg| {
            if own {
                return loses(&arg.text());
            }
            let text = arg.text();
            let text = text.strip_prefix("q=").or_else(|| text.strip_prefix("query=")).unwrap_or(&text);
            let text = text.split_once("query=").map_or(text, |(_, value)| value).replace(['+', '%'], " ");
            // `{"sql":"drop table users"}`
            loses(&text) || text.starts_with('{') && scripts::strings(&text).iter().any(|text| loses(text))
        })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// `db.getSiblingDB('app_test').dropDatabase()`: all that a text says goes to databases for tests.
fn turns_to_tests(text: &str) -> bool {
    const TURNS: &str = "db.getSiblingDB(";
    let named = |rest: &str| {
        let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''));
        let name = quote.and_then(|quote| rest.get(1..)?.split_once(quote)).map(|(name, _)| name);
        name.is_some_and(is_scratch)
    };
    let elsewhere = ["getMongo", "connect(", "use ", "eval(", "db["];
    text.contains(TURNS)
        && text.split(TURNS).skip(1).all(named)
        && text.matches("getSiblingDB").count() == text.matches(TURNS).count()
        && text.matches("db.").count() == text.matches(TURNS).count()
        && !elsewhere.iter().any(|word| text.contains(word))
}

fn mongo_drop<'a>(scene: &Scene<'a>, whose: Whose) -> Found<'a> {
    let found = scene.first(MONGO, |inv| {
        let (tests, own) = (is_on_scratch(inv), is_own_store(inv, scene));
        texts(inv, scene).iter().any(|text| {
            let leaves =
                ["getSiblingDB", "getMongo", "connect(", "use "].iter().any(|word| text.contains(word));
            let turns = turns_to_tests(text) && place_of(inv, scene) != Place::Elsewhere;
            let is = match (tests && !leaves || turns, own && !leaves) {
                (true, _) => Whose::Tests,
                (false, true) => Whose::Own,
                (false, false) => Whose::Others,
            };
            if is != whose {
                return false;
            }
            let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
            let text = if text.contains("eval(") { text } else { without_strings(&text) };
            MONGO_LOSSES.iter().any(|word| text.contains(word))
        })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// Code without what its strings hold, where every string ends; where code may be put together out of strings, as it is.
fn without_strings(code: &str) -> String {
    let mut out = String::with_capacity(code.len());
    let mut open: Option<char> = None;
    let mut chars = code.chars();
    while let Some(c) = chars.next() {
        match (open, c) {
            (Some(_), '\\') => {
                chars.next();
            }
            (Some(quote), c) if c == quote => {
                open = None;
                out.push(c);
            }
            (Some(_), _) => {}
            (None, '"' | '\'' | '`') => {
                open = Some(c);
                out.push(c);
            }
            (None, _) => out.push(c),
        }
    }
    let built = ["[\"", "['", "Function("].iter().any(|sign| out.contains(sign));
    if open.is_some() || built { code.to_owned() } else { out }
}
