//! Databases, tables and definitions that are dropped.

use super::{
    DROPPERS, STATEMENTS, Whose, defines, dropped, dropped_names, drops_column, drops_missed, drops_others,
    drops_table, is_made_again, is_view, sql_anywhere, sql_unless_own, sql_where, starts, words_of,
};
use crate::domain::{Severity, Verdict};
use crate::rules::builtin::database::place::{Place, place_of};
use crate::rules::builtin::standing::is_scratch;
use crate::rules::builtin::{predicate, standing};
use crate::rules::matcher::{Found, Instead, RULE, Rule, Scene, Trigger};

pub(in crate::rules::builtin) const RULES: &[Rule] = &[
    Rule {
        id: "database.drop-database",
        severity: Severity::Critical,
        reason: "deletes a whole database",
        instead: Some(Instead::Command("psql -l")),
        when: &[
            predicate("sql_drop_database", STATEMENTS, |scene| {
                sql_unless_own(scene, |words| {
                    starts(words, &["DROP", "SCHEMA"]) && drops_missed(words)
                        || starts(words, &["DROP", "KEYSPACE"])
                        || starts(words, &["DROP", "PLUGGABLE"])
                        || starts(words, &["RESET", "MASTER"])
                        || starts(words, &["PURGE", "BINARY"])
                })
            }),
            predicate("sql_drop_named_database", STATEMENTS, |scene| sql(scene, drops_others)),
            predicate("sql_drop_database_elsewhere", STATEMENTS, |scene| {
                sql_where(
                    scene,
                    |inv| place_of(inv, scene) == Place::Elsewhere,
                    |words| starts(words, &["DROP", "DATABASE"]) && drops_missed(words),
                )
            }),
        ],
        ..RULE
    },
    Rule {
        id: "database.dropdb",
        reason: "deletes a whole database",
        instead: Some(Instead::Advice("tell the person what is to be done, and let them do it")),
        when: &[predicate("database_dropped_by_program", Trigger::programs(DROPPERS), |scene| {
            dropped(scene, Whose::Others)
        })],
        ..RULE
    },
    Rule {
        id: "database.drop-scratch",
        verdict: Verdict::Warn,
        severity: Severity::Low,
        reason: "deletes a database that is named like one for tests",
        instead: Some(Instead::Command("psql -l")),
        when: &[
            predicate("scratch_database_dropped_by_program", Trigger::programs(DROPPERS), |scene| {
                dropped(scene, Whose::Tests)
            }),
            predicate("sql_drop_scratch_database", STATEMENTS, |scene| {
                sql_anywhere(scene, |one| {
                    let words = words_of(one);
                    dropped_names(&words).is_some_and(|names| names.iter().all(|name| is_scratch(name)))
                })
            }),
        ],
        ..RULE
    },
    Rule {
        id: "database.drop-table",
        reason: "deletes a table with all that is in it",
        instead: Some(Instead::Advice("show the person the statements, and let them run them")),
        when: &[
            predicate("sql_drop_table", STATEMENTS, |scene| sql_unless_own(scene, drops_table)),
            predicate("sql_drop_cascades", STATEMENTS, |scene| {
                sql_where(
                    scene,
                    |inv| !standing::names_scratch(inv),
                    |words| is_made_again(words) && !defines(words),
                )
            }),
        ],
        ..RULE
    },
    Rule {
        id: "database.drop-column",
        reason: "deletes a column with all that is in it",
        instead: Some(Instead::Advice("show the person the statements, and let them run them")),
        when: &[predicate("sql_drop_column", STATEMENTS, |scene| sql_unless_own(scene, drops_column))],
        ..RULE
    },
    Rule {
        id: "database.drop-definition",
        verdict: Verdict::Modify,
        severity: Severity::Medium,
        reason: "takes a function, trigger or policy from a database, that may be what guards it",
        instead: Some(Instead::Advice("show the person the statements, and let them run them")),
        when: &[predicate("sql_drop_definition", STATEMENTS, |scene| {
            sql_where(scene, |inv| !standing::names_scratch(inv), |words| defines(words) && !is_view(words))
        })],
        ..RULE
    },
    Rule {
        id: "database.drop-view",
        verdict: Verdict::Warn,
        severity: Severity::Low,
        reason: "takes a view or an index from a database: no rows are lost, but what uses it fails or becomes slow",
        instead: Some(Instead::Advice("show the person the statements, and let them run them")),
        when: &[predicate("sql_drop_view", STATEMENTS, |scene| {
            sql(scene, |words| defines(words) && is_view(words))
        })],
        ..RULE
    },
];

/// The first client that is given a statement for which `test` holds; statements come as upper-case words.
fn sql<'a>(scene: &Scene<'a>, test: fn(&[String]) -> bool) -> Found<'a> {
    sql_where(scene, |_| true, test)
}
