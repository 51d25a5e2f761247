//! What a statement or task spares: tables made to be thrown away, what is rolled back, databases of tests. Judges nothing.

use super::{starts, statements, words_of};
use crate::domain::last_name;
use crate::rules::Invocation;
use crate::rules::builtin::standing::is_scratch;
use crate::rules::matcher::{Scene, contains_word, runs};

/// Tables that the statements of a text make themselves and that nobody else has: temporary ones, and those named for a trial.
pub(super) fn made_by(text: &str) -> Vec<String> {
    let made = |statement: &str| {
        let words = words_of(statement);
        let table = words.iter().take(4).position(|word| word == "TABLE")?;
        if !starts(&words, &["CREATE"]) {
            return None;
        }
        let temporary = words.iter().take(table).any(|word| matches!(word.as_str(), "TEMP" | "TEMPORARY"));
        let behind = words.get(table + 1..)?;
        let name = match behind {
            [a, b, c, name, ..] if a == "IF" && b == "NOT" && c == "EXISTS" => {
                Some(name).filter(|_| temporary)
            }
            [name, ..] => Some(name).filter(|name| temporary || is_scratch(name)),
            [] => None,
        };
        name.cloned()
    };
    statements(text).filter_map(made).collect()
}

/// `DROP TABLE a, b` of nothing but such tables; also where rows of one are deleted.
pub(super) fn takes_only(words: &[String], made: &[String]) -> bool {
    let names = match words {
        [a, b, c, d, names @ ..] if a == "DROP" && b == "TABLE" && c == "IF" && d == "EXISTS" => names,
        [a, b, names @ ..] if b == "TABLE" && (a == "DROP" || a == "TRUNCATE") => names,
        [a, b, name, ..] if a == "DELETE" && b == "FROM" => std::slice::from_ref(name),
        [a, names @ ..] if a == "TRUNCATE" => names,
        _ => return false,
    };
    !names.is_empty() && names.iter().all(|name| made.contains(name))
}

/// Whether all that a text does is taken back at its end: one transaction from its first statement to its last, in a client
/// whose tables are under transactions too.
pub(super) fn is_rolled_back(inv: &Invocation, text: &str) -> bool {
    if !runs(inv, &["psql", "pgcli", "sqlite3"])
        || !contains_word(text, "ROLLBACK") && !contains_word(text, "rollback")
    {
        return false;
    }
    let first = text.trim_start().to_ascii_uppercase();
    let all: Vec<Vec<String>> = statements(text).map(words_of).filter(|words| !words.is_empty()).collect();
    let opens = |words: &&Vec<String>| starts(words, &["BEGIN"]) || starts(words, &["START", "TRANSACTION"]);
    let ends = |words: &&Vec<String>| {
        words
            .first()
            .is_some_and(|word| matches!(word.as_str(), "ROLLBACK" | "COMMIT" | "END" | "ABORT" | "PREPARE"))
    };
    (first.starts_with("BEGIN") || first.starts_with("START TRANSACTION"))
        && !text.contains('\\')
        && !text.lines().any(|line| line.trim_start().starts_with('.'))
        && all.iter().filter(opens).count() == 1
        && all.iter().filter(ends).count() == 1
        && all.last().is_some_and(|last| matches!(last.as_slice(), [word] if word == "ROLLBACK"))
}

/// A variable that names the database of the tests, given to this command or exported before it.
pub(crate) fn env_is_scratch(inv: &Invocation, scene: &Scene<'_>) -> bool {
    env_names(inv, scene, is_scratch)
}

/// The same of a database for the name of which `test` holds.
pub(super) fn env_names(inv: &Invocation, scene: &Scene<'_>, test: fn(&str) -> bool) -> bool {
    const NAMES: &[&str] = &["PGDATABASE=", "DATABASE_URL=", "MYSQL_DATABASE=", "DB_DATABASE=", "DB_NAME="];
    let line = scene.command_line();
    let is_assign = |word: &str| {
        word.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        })
    };
    NAMES.iter().any(|name| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let mut places = words.iter().enumerate().filter(|(_, word)| word.starts_with(name));
        let (Some((at, word)), None) = (places.next(), places.next()) else { return false };
        let value = word.get(name.len()..).unwrap_or_default().trim_matches(['"', '\'']);
        let address = value.split('?').next().unwrap_or_default();
        let exported = at > 0 && words.get(at - 1) == Some(&"export");
        let program = words.iter().skip(at + 1).find(|word| !is_assign(word));
        let own = program.is_some_and(|program| {
            inv.word.known() == Some(program) || inv.wrappers.first().is_some_and(|name| name == program)
        });
        !value.contains([';', '$', '`', '&', '|'])
            && (test(last_name(address)) || is_temporary_file(address))
            && (own && line.matches(inv.program.as_str()).count() == 1 || exported)
    })
}

/// The address of a file of SQLite in a directory that is emptied now and then.
fn is_temporary_file(address: &str) -> bool {
    address
        .strip_prefix("sqlite:")
        .is_some_and(|path| path.split('/').any(|part| part == "tmp") && !path.contains(".."))
}

/// `psql $TEST_DATABASE_URL`: a variable that nothing in the call sets, by its name the address of the database of the tests.
pub(super) fn is_named_for_tests(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let Some((_, rest)) = inv.text.split_once('$') else { return false };
    let rest = rest.strip_prefix('{').unwrap_or(rest);
    let name = rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default();
    let parts: Vec<&str> = name.split('_').collect();
    inv.text.matches('$').count() == 1
        && parts.contains(&"TEST")
        && parts.iter().any(|part| matches!(*part, "URL" | "DSN" | "URI" | "DB" | "DATABASE"))
        && inv.operands.iter().any(|arg| arg.has_unknown() && arg.prefix().is_empty())
        && !scene.texts().any(|text| text.contains(&format!("{name}=")))
}
