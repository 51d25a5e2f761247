//! Databases: statements that lose data, in the arguments of a client or on its standard input.

pub(super) mod dropped;
pub(super) mod emptied;
mod place;
pub(super) mod reset;
mod scratch;
mod spared;
mod sql;

pub(super) use self::place::is_settled_here;
use self::place::{Place, place_of};
pub(super) use self::scratch::is_own_name;
pub(super) use self::spared::env_is_scratch;
use self::spared::env_names;
use crate::domain::last_name;

use super::operations;
use super::standing::{is_own, is_scratch};
use crate::rules::Invocation;
use crate::rules::matcher::{Found, Scene, is_shell, runs};
use crate::shell::Arg;
use scratch::{
    is_at_tests, is_local_copy, is_on_scratch, is_own_client, leaves, names_with, only_scratch, says_tests,
    sql_unless_own,
};
use sql::{
    CLIENTS, STATEMENTS, any_statement, quoted, sql_anywhere, sql_by_client, sql_where, starts, statements,
    texts, words_of,
};

/// Things that `DROP` takes away and that hold no rows of their own.
const DEFINED: &[&str] = &["VIEW", "INDEX", "FUNCTION", "PROCEDURE", "TRIGGER", "POLICY", "MATERIALIZED"];

words!("builtin/database");

const DROPPERS: &[&str] = &["dropdb", "mysqladmin"];

const REDIS: &[&str] = &["redis-cli", "valkey-cli", "keydb-cli"];

fn sql_opens<'a>(scene: &Scene<'a>) -> Found<'a> {
    sql_anywhere(scene, |one| opens(&words_of(one)))
}

/// Whose a store is, as far as a command says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whose {
    /// Made to be thrown away.
    Tests,
    /// For development, on this machine.
    Own,
    /// Anybody's: nothing says that nobody else misses it.
    Others,
}

/// Whether the buckets that a command names are those of a server on this machine.
pub(super) fn is_local_bucket(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let mut buckets = inv.operands.iter().map(Arg::prefix).filter(|word| word.contains('/')).peekable();
    runs(inv, &["mc"])
        && buckets.peek().is_some()
        && buckets.all(|word| word.starts_with("local/"))
        && place::is_own_alias(scene)
        && place_of(inv, scene) != Place::Elsewhere
}

/// A database is dropped by a program of its own.
fn dropped<'a>(scene: &Scene<'a>, whose: Whose) -> Found<'a> {
    // What is added while it runs does not change what the name says.
    let says = |name: &Arg, test: fn(&str) -> bool| match name.known() {
        Some(name) => test(name),
        None => name.prefix().ends_with(['_', '-']) && test(name.prefix()),
    };
    let found = scene.first(DROPPERS, |inv| {
        let names = match (inv.program.as_str(), inv.operands.as_slice()) {
            ("mysqladmin", [first, names @ ..]) if first.known() == Some("drop") => names,
            ("mysqladmin", _) => return false,
            (_, names) => names,
        };
        let is = if names.iter().all(|name| says(name, is_scratch)) {
            Whose::Tests
        } else if names.iter().all(|name| says(name, is_own)) && place_of(inv, scene) != Place::Elsewhere {
            Whose::Own
        } else {
            Whose::Others
        };
        !names.is_empty() && is == whose
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// The names behind `DROP DATABASE` and `DROP SCHEMA`.
fn dropped_names(words: &[String]) -> Option<&[String]> {
    const ENDS: &[&str] = &["WITH", "CASCADE", "RESTRICT", "SYNC", "ON", "GO"];
    if !starts(words, &["DROP", "DATABASE"]) && !starts(words, &["DROP", "SCHEMA"]) {
        return None;
    }
    let rest = words.get(2..).unwrap_or_default();
    let rest = rest.get(if starts(rest, &["IF", "EXISTS"]) { 2 } else { 0 }..).unwrap_or_default();
    rest.split(|word| ENDS.contains(&word.as_str())).next()
}

/// A database or a schema is dropped that is not named for tests.
fn drops_missed(words: &[String]) -> bool {
    dropped_names(words).is_some_and(|names| names.is_empty() || !names.iter().all(|name| is_scratch(name)))
}

/// The same, of one that is not for development either.
fn drops_others(words: &[String]) -> bool {
    starts(words, &["DROP", "DATABASE"])
        && dropped_names(words)
            .is_some_and(|names| names.is_empty() || !names.iter().all(|name| is_own(name)))
}

fn drops_table(words: &[String]) -> bool {
    !defines(words)
        && !is_made_again(words)
        && (DROPPED.iter().any(|what| starts(words, &["DROP", what]))
            || starts(words, &["DROP", "MATERIALIZED"]))
}

fn drops_column(words: &[String]) -> bool {
    let drops = |pair: &[String]| matches!(pair, [a, b] if a == "DROP" && b != "CONSTRAINT" && b != "DEFAULT" && b != "NOT");
    !defines(words) && starts(words, &["ALTER", "TABLE"]) && words.windows(2).any(drops)
}

/// Every row is changed or deleted.
fn spares_no_row(words: &[String]) -> bool {
    let has = |one: &str| words.iter().any(|word| word == one);
    is_without_where(words)
        && (starts(words, &["DELETE", "FROM"])
            || starts(words, &["ALTER", "TABLE"]) && (has("DELETE") || has("UPDATE"))
            || starts(words, &["UPDATE"]) && has("SET")
            || starts(words, &["MERGE"])
                && words.windows(3).any(
                    |three| matches!(three, [a, b, c] if a == "MATCHED" && b == "THEN" && c == "DELETE"),
                )
            || has("PG_TERMINATE_BACKEND"))
}

/// No condition, or one that is always met.
fn is_without_where(words: &[String]) -> bool {
    if words.iter().any(|word| word == "LIMIT") {
        return false;
    }
    let Some(at) = words.iter().position(|word| word == "WHERE") else { return true };
    let condition: Vec<&str> = words.iter().skip(at + 1).map(String::as_str).collect();
    let always = |pair: &[&str]| matches!(pair, ["TRUE"] | ["1"] | ["1", "1"] | ["?", "?"]);
    if condition.rsplit(|word| *word == "OR").next().is_some_and(always) {
        return true;
    }
    matches!(condition.as_slice(), ["TRUE"] | ["1"] | ["1", "1"] | ["?", "?"] | ["TRUE", "TRUE"])
}

/// Statements that let somebody in, or reach out of the database.
fn opens(words: &[String]) -> bool {
    let has = |word: &str| words.iter().any(|one| one == word);
    let both = |a: &str, b: &str| words.windows(2).any(|pair| matches!(pair, [x, y] if x == a && y == b));
    starts(words, &["COPY"]) && has("PROGRAM")
        || words.iter().any(|word| word.rsplit('.').next() == Some("XP_CMDSHELL"))
        || has("SP_OACREATE")
        || both("INTO", "OUTFILE")
        || both("INTO", "DUMPFILE")
        || words.iter().any(|word| {
            matches!(
                word.as_str(),
                "PG_READ_FILE"
                    | "LO_EXPORT"
                    | "LO_IMPORT"
                    | "PG_READ_BINARY_FILE"
                    | "LOAD_FILE"
                    | "PG_LS_DIR"
                    | "SYS_EXEC"
                    | "SYS_EVAL"
            )
        })
        || (starts(words, &["ALTER"]) || starts(words, &["CREATE"])) && has("SUPERUSER")
        || starts(words, &["GRANT", "ALL"])
            && (words.last().is_some_and(|last| last == "PUBLIC")
                || both("GRANT", "OPTION")
                || has("ON") && both("ON", "TO")
                || words.iter().any(|word| word == "."))
        || starts(words, &["ALTER", "TABLE"])
            && has("SECURITY")
            && has("ROW")
            && (has("DISABLE") || both("NO", "FORCE"))
        || starts(words, &["UPDATE", "MYSQL.USER"])
        || starts(words, &["DELETE", "FROM", "MYSQL.USER"])
        || starts(words, &["SET", "GLOBAL", "GENERAL_LOG_FILE"])
        || starts(words, &["CREATE", "FUNCTION"]) && has("SONAME")
        || starts(words, &["ALTER", "SYSTEM"])
        || starts(words, &["SET", "GLOBAL"]) && has("GENERAL_LOG")
        || (starts(words, &["ALTER", "USER"]) || starts(words, &["ALTER", "ROLE"]))
            && words.get(2).is_some_and(|name| matches!(name.as_str(), "POSTGRES" | "ROOT" | "SA"))
            && (has("PASSWORD") || has("IDENTIFIED"))
        || both("LANGUAGE", "PLPYTHONU")
        || both("LANGUAGE", "PLPYTHON3U")
        || starts(words, &["CREATE", "EXTENSION"])
            && ["PLPYTHONU", "PLPYTHON2U", "PLPYTHON3U", "PLPERLU", "PLSH", "PLTCLU"]
                .iter()
                .any(|name| has(name))
        || words.iter().any(|word| {
            matches!(
                word.trim_start_matches("PG_CATALOG."),
                "PG_SHADOW" | "PG_AUTHID" | "AUTHENTICATION_STRING" | "ROLPASSWORD"
            )
        })
        || words.len() == 1 && has("SHUTDOWN")
}

/// A statement that names a file where none of a database's is: programs that it loads, pages that a server shows, accounts.
fn reaches(statement: &str) -> bool {
    const SERVED: &[&str] = &[".php", ".jsp", ".aspx", ".phtml", ".so"];
    const KEPT: &[&str] = &["/etc/", "/root/", "/var/www/", "/.ssh/", "/proc/", "/var/spool/cron"];
    let words = words_of(statement);
    let has = |word: &str| words.iter().any(|one| one == word);
    let named = |test: &dyn Fn(&str) -> bool| quoted(statement).iter().any(|text| test(text));
    let place = |text: &str| {
        SERVED.iter().any(|end| text.ends_with(end)) || KEPT.iter().any(|dir| text.contains(dir))
    };
    let linked = |text: &str| {
        text.split("host=").nth(1).is_some_and(|host| {
            let host = host.split([' ', ';']).next().unwrap_or_default();
            host.contains('.')
                && !host.starts_with("127.")
                && !host.starts_with("10.")
                && !host.starts_with("192.168.")
        })
    };
    (starts(&words, &["ATTACH"])
        || has("INFILE")
        || starts(&words, &["COPY"])
        || starts(&words, &["VACUUM", "INTO"]))
        && named(&place)
        || has("LOAD_EXTENSION") && named(&|text| text.starts_with(['/', '.']))
        || words.iter().any(|word| word.starts_with("DBLINK")) && named(&linked)
        // Functions out of a library that is not the database's own.
        || starts(&words, &["CREATE"])
            && has("FUNCTION")
            && named(&|text| text.starts_with('/') && (text.contains("/libc.so") || text.ends_with(".so")))
        || has("SP_CONFIGURE")
            && named(&|text| {
                matches!(text.to_ascii_lowercase().as_str(), "xp_cmdshell" | "ole automation procedures")
            })
}

/// A statement that takes away what holds no rows, and nothing that hangs on it.
fn defines(words: &[String]) -> bool {
    let dropped = DEFINED.iter().any(|what| starts(words, &["DROP", what]));
    let index = starts(words, &["ALTER", "TABLE"])
        && words
            .windows(3)
            .any(|three| matches!(three, [a, b, _] if a == "DROP" && (b == "INDEX" || b == "KEY")))
        && words.iter().filter(|word| *word == "DROP").count() == 1;
    let cascades = words.iter().any(|word| word == "CASCADE");
    (dropped && (!cascades || is_view(words))) || index
}

/// A statement that takes away what a migration makes again, whatever hangs on it.
fn is_made_again(words: &[String]) -> bool {
    ["FUNCTION", "PROCEDURE", "TRIGGER", "EXTENSION"].iter().any(|what| starts(words, &["DROP", what]))
}

fn is_view(words: &[String]) -> bool {
    starts(words, &["ALTER"])
        || words.get(1).is_some_and(|what| matches!(what.as_str(), "VIEW" | "INDEX" | "MATERIALIZED"))
}

/// Whether one of the statements of a text changes every row of a table.
pub(super) fn changes_every_row(text: &str) -> bool {
    statements(text).any(|statement| {
        let words = words_of(statement);
        starts(&words, &["UPDATE"]) && spares_no_row(&words)
    })
}

/// Whether one of the statements of a text deletes or empties more than some rows.
pub(super) fn loses(text: &str) -> bool {
    let deletes = |words: &[String]| {
        starts(words, &["TRUNCATE"])
            || starts(words, &["DELETE", "FROM"]) && is_without_where(words)
            || starts(words, &["DROP"])
                && words.get(1).is_some_and(|what| {
                    matches!(what.as_str(), "DATABASE" | "SCHEMA" | "KEYSPACE")
                        || DROPPED.contains(&what.as_str())
                })
                && !dropped_names(words).is_some_and(|names| names.iter().all(|name| is_scratch(name)))
    };
    statements(text).any(|statement| deletes(&words_of(statement)))
}

/// The call says itself that it is about the database of the tests.
pub(super) fn is_for_tests(scene: &Scene<'_>) -> bool {
    *scene.for_tests.get_or_init(|| says_tests(scene.command_line()))
}

/// An option names the database, and as one that nobody misses.
pub(super) fn names_scratch(inv: &Invocation) -> bool {
    names_with(inv).iter().any(|name| is_scratch(name))
}

/// An option or a variable names the database, and as one for development on this machine.
pub(super) fn names_own(inv: &Invocation, scene: &Scene<'_>) -> bool {
    (names_with(inv).iter().any(|name| is_own(name)) || env_names(inv, scene, is_own))
        && place_of(inv, scene) != Place::Elsewhere
}

/// A client is told to start a shell.
fn shell_started(inv: &Invocation, scene: &Scene<'_>) -> bool {
    texts(inv, scene).iter().flat_map(|text| text.lines()).any(|line| {
        let line = line.trim();
        let told =
            ["\\!", ".shell", ".system", "system", "!"].iter().find_map(|word| line.strip_prefix(word));
        // `.once |sh`: the answers of the queries are its commands.
        let piped = || {
            let file = [".output ", ".once "].iter().find_map(|word| line.strip_prefix(word))?;
            file.trim_start_matches(['"', '\'', ' ']).strip_prefix('|')
        };
        let told = told.or_else(piped);
        let mut words = told.unwrap_or_default().split_whitespace();
        let program = words.next().map(last_name).unwrap_or_default();
        is_shell(program)
    })
}

fn store_opened(inv: &Invocation) -> bool {
    let words: Vec<String> =
        operations::known_words(inv).iter().map(|word| word.to_ascii_lowercase()).collect();
    let told = |a: &str, b: &str| {
        words.windows(2).any(|pair| matches!(pair, [x, y] if x == a && (b.is_empty() || y == b)))
    };
    let set = told("config", "set")
        && ["dir", "dbfilename", "requirepass", "protected-mode", "rename-command", "logfile"]
            .iter()
            .any(|key| words.iter().any(|word| word == key));
    set || told("module", "load")
        || told("slaveof", "") && !told("slaveof", "no")
        || told("replicaof", "") && !told("replicaof", "no")
        || words.iter().any(|word| word.contains("os.execute") || word.contains("io.popen"))
}

/// A request that deletes in a store; with `all`, everything in it.
fn deleted_by_request<'a>(scene: &Scene<'a>, all: bool) -> Found<'a> {
    let found = scene.first(&["curl", "http", "https", "xh"], |inv| {
        let words: Vec<String> = inv.args.iter().map(Arg::to_text).collect();
        let deletes =
            words.iter().any(|word| matches!(word.as_str(), "DELETE" | "-XDELETE" | "--request=DELETE"));
        words.iter().any(|word| {
            let word = &word.replace("%2A", "*").replace("%2a", "*").replace("%5F", "_").replace("%5f", "_");
            let address = word.split_once("://").map_or(word.as_str(), |(_, rest)| rest);
            let (host, path) = address.split_once('/').unwrap_or((address, ""));
            let port = host.rsplit_once(':').map(|(_, port)| port).unwrap_or_default();
            let (path, query) = path.split_once('?').unwrap_or((path, ""));
            // Nothing else has such a path.
            let store = PORTS.contains(&port) || matches!(path.trim_end_matches('/'), "_all" | "*");
            // One key of Consul, and not all that begin so.
            let one_key = port == "8500" && path.starts_with("v1/kv/") && !query.contains("recurse");
            let by_query = path.ends_with("_delete_by_query");
            let matched = by_query && words.iter().any(|word| word.contains("match_all"));
            let every = matched
                || path.starts_with("_all")
                || path == "*"
                || path.ends_with("-*")
                || path.starts_with('*');
            let schema = port == "8080" && path.starts_with("v1/schema/") && deletes;
            let base = host.ends_with("firebaseio.com")
                && path.ends_with(".json")
                && (deletes
                    || words.iter().any(|word| word == "PUT") && words.iter().any(|word| word == "null"));
            let index = by_solr(&words, port, word);
            // Of several that are named, each is one for tests.
            let several = |part: &str| part.contains(',');
            let tests = is_scratch(path)
                && path
                    .split('/')
                    .filter(|part| several(part))
                    .flat_map(|part| part.split(','))
                    .all(is_scratch);
            ((deletes && store && !one_key || by_query) && !tests || schema || base || index)
                && (every == all || all && (base && path == ".json" || index))
        })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// Everything in an index of Solr, or the index itself.
fn by_solr(words: &[String], port: &str, address: &str) -> bool {
    let every = words.iter().any(|word| {
        word.contains("<query>*:*</query>")
            || word.contains("delete")
                && word
                    .chars()
                    .filter(|c| !c.is_whitespace())
                    .collect::<String>()
                    .contains("\"query\":\"*:*\"")
    });
    port == "8983"
        && (every && address.contains("/update")
            || address.contains("action=UNLOAD") && address.contains("delete"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_without_comments_and_quotes() {
        assert_eq!(
            words_of("drop /* x */ table -- y\n if exists \"Users\""),
            ["DROP", "TABLE", "IF", "EXISTS", "USERS"]
        );
        assert_eq!(words_of("select 'drop table'"), ["SELECT", "?"]);
    }
}
