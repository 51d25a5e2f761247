//! Databases and tables that are made for tests, or by the call itself.

use super::{any_statement, env_is_scratch, is_for_tests, sql_where, starts, statements, texts, words_of};
use crate::domain::last_name;
use crate::rules::Invocation;
use crate::rules::builtin::database::place::{Place, is_in_test_container, is_own_store, place_of};
use crate::rules::builtin::database::spared::{env_names, is_named_for_tests};
use crate::rules::builtin::operations;
use crate::rules::builtin::standing::{is_own, is_scratch};
use crate::rules::matcher::{Found, Scene};
use crate::shell::Arg;

words!("builtin/database/scratch");

/// Whether a client is at the database of the tests, by what it is given or by the variables around it.
pub(super) fn is_at_tests(inv: &Invocation, scene: &Scene<'_>) -> bool {
    const OPTIONS: &[&str] = &["-d", "--dbname", "-D", "--database"];
    let chosen = inv.flags.iter().any(|flag| OPTIONS.contains(&flag.name.as_str()));
    is_on_scratch(inv)
        || !chosen && is_named_for_tests(inv, scene)
        || !chosen
            && inv.operands.is_empty()
            && (env_is_scratch(inv, scene) || is_in_test_container(inv, scene))
}

/// The same, but for stores for development on this machine.
pub(super) fn sql_unless_own<'a>(scene: &Scene<'a>, test: fn(&[String]) -> bool) -> Found<'a> {
    sql_where(scene, |inv| !is_own_client(inv, scene), test)
}

/// Whether the statements of a text go over to another database than the one that the client was given, not one for tests.
pub(super) fn leaves(text: &str) -> bool {
    let goes = |words: &[&str]| match words {
        ["\\c" | "\\connect", name, ..] => !is_scratch(name),
        [go, name, ..] => go.eq_ignore_ascii_case("use") && !is_scratch(name),
        [..] => false,
    };
    (text.contains("\\c") || text.to_ascii_lowercase().contains("use "))
        && text.split([';', '\n']).any(|one| goes(&one.split_whitespace().collect::<Vec<_>>()))
}

/// Whether all that the statements of a text lose are tables of a database for tests (`app_test.users`), or such as are only
/// there for a while (`tmp_import`, `cache`).
pub(super) fn only_scratch(text: &str, test: fn(&[String]) -> bool) -> bool {
    let loses = |one: &str| any_statement(one, test);
    let plainly = |one: &str| {
        let words = words_of(one);
        test(&words)
            && tables_of(&words)
                .is_some_and(|names| !names.is_empty() && names.iter().all(|name| is_scratch_table(name)))
    };
    statements(text).filter(|one| loses(one)).all(plainly)
}

/// The tables that a statement drops or empties.
pub(super) fn tables_of(words: &[String]) -> Option<&[String]> {
    const FRONTS: &[&[&str]] = &[
        &["DROP", "TABLE", "IF", "EXISTS"],
        &["DROP", "TABLE"],
        &["TRUNCATE", "TABLE"],
        &["TRUNCATE"],
        &["DELETE", "FROM"],
    ];
    const ENDS: &[&str] = &["CASCADE", "RESTRICT", "RESTART", "CONTINUE", "SYNC", "WHERE", "PURGE"];
    let front = FRONTS.iter().find(|front| starts(words, front))?;
    words.get(front.len()..)?.split(|word| ENDS.contains(&word.as_str())).next()
}

pub(super) fn is_scratch_table(name: &str) -> bool {
    let (base, table) = name.rsplit_once('.').unwrap_or(("", name));
    is_scratch(base)
        || ["TMP_", "TEMP_", "SCRATCH_", "CACHE_"].iter().any(|front| table.starts_with(front))
        || ["TMP", "TEMP", "SCRATCH", "CACHE"].contains(&table)
        || ["_TMP", "_SCRATCH", "_CACHE"].iter().any(|end| table.ends_with(end))
}

/// Whether a client works on a store for development on this machine, by what it is given or by the variables around it.
pub(super) fn is_own_client(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let stays = || !texts(inv, scene).iter().any(|text| leaves(text));
    let by_variable = || {
        inv.operands.is_empty()
            && names_with(inv).is_empty()
            && env_names(inv, scene, is_own)
            && place_of(inv, scene) != Place::Elsewhere
    };
    (is_own_store(inv, scene) || by_variable()) && stays()
}

/// Whether the database that a tool is given, or that is set around it, is one for tests or for development by its name.
pub(in crate::rules::builtin) fn is_own_name(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let mut names = names_with(inv);
    !names.is_empty() && names.drain(..).all(|name| is_own(&name))
        || env_names(inv, scene, is_own)
        || is_for_tests(scene)
}

pub(super) fn says_tests(line: &str) -> bool {
    // Over several lines it says the same.
    let line = line.replace("\\\n", " ");
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    TEST_SETTINGS.iter().any(|word| line.contains(word)) || sets_tests(&line)
}

/// An option or a variable chooses settings or an environment that are named for tests.
pub(super) fn sets_tests(line: &str) -> bool {
    const ENDS: &[&str] = &["--settings", "--env", "_ENV", "_ENVIRONMENT", "SETTINGS_MODULE"];
    let named = |name: &str, value: &str| ENDS.iter().any(|end| name.ends_with(end)) && is_scratch(value);
    let words = || line.split(' ');
    words().filter_map(|word| word.split_once('=')).any(|(name, value)| named(name, value))
        || words().zip(words().skip(1)).any(|(name, value)| {
            name == "--settings" && is_scratch(value)
                || name == "--schema" && value.ends_with(".prisma") && is_scratch(last_name(value))
        })
}

/// The databases that options name.
pub(super) fn names_with(inv: &Invocation) -> Vec<String> {
    const KEYS: &[&str] = &["Database=", "Initial Catalog=", "databaseName=", "dbname="];
    let named = |value: &str| {
        // `Host=…;Database=NAME`
        let part = |part: &str| KEYS.iter().find_map(|key| part.trim().strip_prefix(key)).map(str::to_owned);
        let named = value.split([';', ' ']).find_map(part);
        let address = named.as_deref().unwrap_or(value).split('?').next().unwrap_or_default();
        last_name(address).to_owned()
    };
    let words = operations::known_words(inv);
    let apart = words.windows(2).filter_map(|pair| match pair {
        [option, value] if DATABASE_OPTIONS.contains(option) => Some(named(value)),
        _ => None,
    });
    let joined = words.iter().filter_map(|word| word.split_once('='));
    let joined =
        joined.filter(|(option, _)| DATABASE_OPTIONS.contains(option)).map(|(_, value)| named(value));
    // An address needs no option.
    let told = |word: &str| {
        word.contains("://") || KEYS.iter().any(|key| word.contains(key)) || word.ends_with(".db")
    };
    let alone = inv.operands.iter().filter_map(Arg::known).filter(|word| told(word)).map(named);
    apart.chain(joined).chain(alone).collect()
}

/// A client is given no database but one that nobody misses.
pub(super) fn is_on_scratch(inv: &Invocation) -> bool {
    let named = |arg: &Arg| {
        let Some(text) = arg.known().filter(|text| !text.contains(' ')) else { return false };
        let text = text.split_once('=').map_or(text, |(_, value)| value);
        text == ":memory:" || text.starts_with("/tmp/") || is_scratch(last_name(text))
    };
    inv.operands
        .iter()
        .chain(
            inv.flags
                .iter()
                .filter(|flag| matches!(flag.name.as_str(), "-d" | "--dbname" | "-D" | "--database"))
                .filter_map(|flag| flag.value.as_ref()),
        )
        .any(named)
}

/// The copy of a hosted database that the tool keeps beside the project.
pub(super) fn is_local_copy(inv: &Invocation) -> bool {
    let told = |word: &str| inv.args.iter().any(|arg| arg.known() == Some(word));
    inv.program == "wrangler" && told("--local") && !told("--remote")
}
