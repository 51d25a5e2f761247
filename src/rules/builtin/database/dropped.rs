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
        fires: &[
            "psql -c 'DROP DATABASE app'",
            "mysql -e \"drop database app\"",
            "echo 'DROP SCHEMA public CASCADE;' | psql app",
            "psql app <<E\nDROP DATABASE x;\nE",
            "psql -c 'DROP DATABASE app, app_test'",
            "psql -h db.x.example -c 'DROP DATABASE app_dev'",
            "PGHOST=db.x.example psql -c 'DROP DATABASE app_dev'",
        ],
        silent: &[
            "psql -c 'SELECT 1'",
            "sqlcmd -S localhost -Q 'DROP DATABASE IF EXISTS AppTest; CREATE DATABASE AppTest'",
            "psql -c 'DROP DATABASE app_test WITH (FORCE)'",
            "psql -h localhost app_dev -c 'drop schema if exists ann_scratch cascade'",
            "psql -h localhost -c 'DROP DATABASE app_dev'",
            "psql -c 'DROP DATABASE IF EXISTS app_test'",
            "grep -rn 'DROP DATABASE' migrations",
            "git commit -m 'drop database app'",
            "psql -l",
            "echo 'DROP DATABASE app'",
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
        fires: &[
            "dropdb app",
            "dropdb -h db --if-exists \"$DB\"",
            "mysqladmin drop app",
            "dropdb -h db.x.example app_dev",
        ],
        silent: &[
            "psql -l",
            "dropdb test_db",
            "createdb app",
            "mysqladmin status",
            "dropdb app_dev",
            "DB=app_test_$(date +%s); createdb \"$DB\"; dropdb \"$DB\"",
        ],
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
        fires: &[
            "dropdb test_db",
            "dropdb --if-exists app_test",
            "psql -c 'DROP DATABASE IF EXISTS app_test;'",
        ],
        silent: &["createdb test_db", "dropdb app", "dropdb contest"],
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
        fires: &[
            "echo 'DROP TABLE payments;' > m.sql && psql prod -f m.sql",
            "echo 'DROP TABLE payments;' > m.sql; cat m.sql | psql prod",
            "echo 'DROP TABLE payments;' > m.sql; sqlite3 prod.db '.read m.sql'",
            "mysql prod -e \"PREPARE s FROM 'DROP TABLE users'\"",
            "psql prod <<< \"select 'drop table '||tablename from pg_tables \\\\gexec\"",
            "psql -c 'DROP TABLE users'",
            "sqlite3 app.db 'drop table if exists users;'",
            "printf 'DROP TABLE x;' | mysql app",
            "psql -c 'DROP FUNCTION f(int) CASCADE'",
            "psql -d app -c 'DROP EXTENSION pg_trgm'",
            "psql -c 'CREATE TABLE users (a int); DROP TABLE users'",
            "psql -c 'CREATE TEMP TABLE t (a int); DROP TABLE users'",
            "psql -c 'BEGIN; DROP TABLE a; COMMIT; ROLLBACK'",
            "mysql app -e 'BEGIN; DROP TABLE a; ROLLBACK'",
        ],
        silent: &[
            "psql -c 'CREATE TEMP TABLE t AS SELECT 1; DROP TABLE t;'",
            "printf 'CREATE INDEX a ON b(c)' > m.sql && psql orders_dev -f m.sql",
            "psql -f migrations/013_drop_legacy.sql",
            "psql -d app_dev -c 'DROP FUNCTION IF EXISTS f() CASCADE'",
            "psql -d app_dev -c 'DROP EXTENSION IF EXISTS pg_trgm'",
            "grep 'DROP TABLE' schema.sql",
            "psql -c 'CREATE TABLE x (a int)'",
            "cat > down.sql <<E\nDROP TABLE users;\nE",
            "sqlite3 app.db \"SELECT 'drop table'\"",
            "psql -c 'ALTER TABLE x ADD y int'",
            "psql -c 'DROP INDEX i'",
            "psql -c 'CREATE TEMP TABLE t (a int); DROP TABLE t'",
            "psql -c 'create table tmp_x as select * from orders; drop table tmp_x'",
            "psql -c 'BEGIN; DROP TABLE a; ROLLBACK;'",
            "psql app_dev -c 'DROP TABLE users'",
        ],
        ..RULE
    },
    Rule {
        id: "database.drop-column",
        reason: "deletes a column with all that is in it",
        instead: Some(Instead::Advice("show the person the statements, and let them run them")),
        when: &[predicate("sql_drop_column", STATEMENTS, |scene| sql_unless_own(scene, drops_column))],
        fires: &["mysql app -e 'ALTER TABLE u DROP COLUMN x'", "psql -c 'ALTER TABLE a DROP index'"],
        silent: &[
            "psql -c 'ALTER TABLE x ADD y int'",
            "psql -c 'ALTER TABLE x ALTER y DROP NOT NULL'",
            "psql -c 'DROP TABLE x'",
            "psql app_dev -c 'ALTER TABLE u DROP COLUMN x'",
        ],
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
        fires: &[
            "psql -c 'DROP TRIGGER audit ON orders'",
            "psql -c 'DROP POLICY p ON orders'",
            "psql app -c 'DROP FUNCTION f(int)'",
        ],
        silent: &[
            "psql -c 'DROP INDEX i'",
            "psql -c 'CREATE FUNCTION f() RETURNS int'",
            "psql -d app_dev -c 'DROP FUNCTION f(int)'",
            "grep 'DROP TRIGGER' x.sql",
        ],
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
        fires: &[
            "psql -c 'DROP INDEX i'",
            "mysql app -e 'ALTER TABLE a DROP INDEX b'",
            "psql -c 'DROP MATERIALIZED VIEW v'",
        ],
        silent: &[
            "psql -c 'CREATE INDEX i ON t (a)'",
            "psql -c 'DROP TABLE users'",
            "grep 'DROP INDEX' x.sql",
        ],
        ..RULE
    },
];

/// The first client that is given a statement for which `test` holds; statements come as upper-case words.
fn sql<'a>(scene: &Scene<'a>, test: fn(&[String]) -> bool) -> Found<'a> {
    sql_where(scene, |_| true, test)
}
