//! Databases: statements that lose data, in the arguments of a client or on its standard input.

use super::{predicate, scripts, sub};
use crate::domain::{Action, Severity, Tool, Verdict};
use crate::rules::Invocation;
use crate::rules::matcher;
use crate::rules::matcher::{
    COMMAND, Command, Found, Instead, Operand, RULE, Rule, Scene, Trigger, When, input_of,
};
use crate::shell::Arg;

const CLIENTS: &[&str] = &[
    "psql",
    "mysql",
    "mariadb",
    "sqlite3",
    "sqlite",
    "sqlcmd",
    "clickhouse-client",
    "clickhouse",
    "duckdb",
    "cockroach",
    "usql",
    "bq",
    "snowsql",
    "pgcli",
    "mycli",
    "litecli",
];

/// A client, or a tool that may be one.
const STATEMENTS: Trigger = Trigger::programs(CLIENTS).or(Trigger::TOOL);

/// Words in the names of tools that are given statements.
const TOOLS: &[&str] = &[
    "sql",
    "pg",
    "postgres",
    "postgresql",
    "mysql",
    "mariadb",
    "sqlite",
    "mssql",
    "db",
    "database",
    "query",
    "supabase",
    "neon",
    "bigquery",
    "snowflake",
    "duckdb",
    "clickhouse",
    "cockroachdb",
    "oracle",
    "redshift",
    "athena",
    "databricks",
    "planetscale",
    "turso",
    "d1",
    "dbhub",
    "prisma",
    "cassandra",
    "statement",
];

const DROPPERS: &[&str] = &["dropdb", "mysqladmin"];

const REDIS: &[&str] = &["redis-cli", "valkey-cli", "keydb-cli"];

const MONGO: &[&str] = &["mongosh", "mongo"];

/// Programs that a framework's tasks are run with.
const RUNNERS: &[&str] = &[
    "php",
    "python",
    "python3",
    "npx",
    "bunx",
    "bundle",
    "mix",
    "supabase",
    "pnpm",
    "yarn",
    "sequelize",
    "knex",
    "typeorm",
    "prisma",
    "rake",
    "rails",
    "uv",
    "poetry",
    "django-admin",
    "npm",
    "bun",
];

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "database.drop-database",
        severity: Severity::Critical,
        reason: "deletes a whole database",
        instead: Some(Instead::Command("psql -l")),
        when: &[predicate("sql_drop_database", STATEMENTS, |scene| {
            sql(scene, |words| {
                (starts(words, &["DROP", "DATABASE"]) && !words.last().is_some_and(|name| is_scratch(name)))
                    || starts(words, &["DROP", "SCHEMA"])
                    || starts(words, &["DROP", "KEYSPACE"])
            })
        })],
        fires: &[
            "psql -c 'DROP DATABASE app'",
            "mysql -e \"drop database app\"",
            "echo 'DROP SCHEMA public CASCADE;' | psql app",
            "psql app <<E\nDROP DATABASE x;\nE",
        ],
        silent: &[
            "psql -c 'SELECT 1'",
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
        verdict: Verdict::Modify,
        reason: "deletes a whole database",
        instead: Some(Instead::Command("psql -l")),
        when: &[predicate("database_dropped_by_program", Trigger::programs(DROPPERS), |scene| {
            dropped(scene, false)
        })],
        fires: &["dropdb app", "dropdb -h db --if-exists \"$DB\"", "mysqladmin drop app"],
        silent: &["psql -l", "dropdb test_db", "createdb app", "mysqladmin status"],
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
                dropped(scene, true)
            }),
            predicate("sql_drop_scratch_database", STATEMENTS, |scene| {
                sql(scene, |words| {
                    starts(words, &["DROP", "DATABASE"]) && words.last().is_some_and(|name| is_scratch(name))
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
        verdict: Verdict::Modify,
        reason: "deletes a table with all that is in it",
        instead: Some(Instead::Command("psql -c '\\dt' app")),
        when: &[predicate("sql_drop_table", STATEMENTS, |scene| {
            sql(scene, |words| {
                ["TABLE", "VIEW", "INDEX", "ROLE", "USER", "TABLESPACE", "SEQUENCE"].iter().any(|what| starts(words, &["DROP", what]))
                || starts(words, &["DROP", "MATERIALIZED"])
                || (starts(words, &["ALTER", "TABLE"]) && words.windows(2).any(|pair| matches!(pair, [a, b] if a == "DROP" && b != "CONSTRAINT" && b != "DEFAULT" && b != "NOT")))
            })
        })],
        fires: &[
            "psql -c 'DROP TABLE users'",
            "sqlite3 app.db 'drop table if exists users;'",
            "mysql app -e 'ALTER TABLE u DROP COLUMN x'",
            "printf 'DROP TABLE x;' | mysql app",
        ],
        silent: &[
            "grep 'DROP TABLE' schema.sql",
            "psql -c 'CREATE TABLE x (a int)'",
            "cat > down.sql <<E\nDROP TABLE users;\nE",
            "sqlite3 app.db \"SELECT 'drop table'\"",
            "psql -c 'ALTER TABLE x ADD y int'",
        ],
        ..RULE
    },
    Rule {
        id: "database.truncate",
        verdict: Verdict::Modify,
        reason: "empties a table",
        instead: Some(Instead::Command("psql -c 'SELECT count(*) FROM users' app")),
        when: &[predicate("sql_truncate", STATEMENTS, |scene| {
            sql(scene, |words| starts(words, &["TRUNCATE"]))
        })],
        fires: &[
            "psql -c 'TRUNCATE users'",
            "mysql -e 'truncate table users' app",
            "psql -c 'BEGIN; TRUNCATE users CASCADE; COMMIT'",
        ],
        silent: &["psql -c 'SELECT trunc(1.5)'", "truncate -s 10M x.img", "grep TRUNCATE x.sql"],
        ..RULE
    },
    Rule {
        id: "database.delete-all",
        verdict: Verdict::Modify,
        reason: "changes or deletes every row, because there is no WHERE",
        instead: Some(Instead::Command("psql -c 'SELECT count(*) FROM users WHERE id = 7' app")),
        when: &[predicate("sql_without_where", STATEMENTS, |scene| {
            sql(scene, |words| {
                let all =
                    !words.iter().any(|word| word == "WHERE") && !words.iter().any(|word| word == "LIMIT");
                all && (starts(words, &["DELETE", "FROM"])
                    || (starts(words, &["UPDATE"]) && words.iter().any(|word| word == "SET")))
            })
        })],
        fires: &[
            "psql -c 'DELETE FROM users'",
            "mysql -e 'UPDATE users SET admin=1'",
            "sqlite3 app.db 'delete from users;'",
            "sqlite3 app.db \"DELETE FROM t; SELECT * FROM t WHERE a=1\"",
        ],
        silent: &[
            "psql -c 'DELETE FROM users WHERE id = 7'",
            "psql -c 'UPDATE users SET a=1 WHERE id=2'",
            "sqlite3 app.db 'SELECT * FROM users'",
            "echo 'DELETE FROM users'",
        ],
        ..RULE
    },
    Rule {
        id: "database.flush",
        severity: Severity::Critical,
        reason: "empties a key-value store",
        instead: Some(Instead::Command("redis-cli dbsize")),
        when: &[predicate("store_flushed", Trigger::programs(REDIS), flushed)],
        fires: &[
            "redis-cli FLUSHALL",
            "redis-cli -n 1 flushdb",
            "echo FLUSHALL | redis-cli",
            "valkey-cli flushall async",
        ],
        silent: &["redis-cli dbsize", "redis-cli get flushall", "grep FLUSHALL src", "redis-cli ping"],
        ..RULE
    },
    Rule {
        id: "database.mongo-drop",
        severity: Severity::Critical,
        reason: "deletes a database, a collection or all documents",
        instead: Some(Instead::Command("mongosh --eval 'db.stats()' app")),
        when: &[predicate("mongo_drop", Trigger::programs(MONGO), mongo_drop)],
        fires: &[
            "mongosh --eval 'db.dropDatabase()' app",
            "mongo app --eval 'db.users.drop()'",
            "mongosh app --eval 'db.users.deleteMany({})'",
            "echo 'db.dropDatabase()' | mongosh app",
        ],
        silent: &[
            "mongosh --eval 'db.stats()' app",
            "mongosh app --eval 'db.users.deleteMany({id:1})'",
            "grep dropDatabase src",
        ],
        ..RULE
    },
    Rule {
        id: "database.reset",
        verdict: Verdict::Modify,
        reason: "empties the application's database",
        instead: Some(Instead::Advice("point the command at a scratch database, or let the person run it")),
        when: &[
            When::Command(Command {
                programs: &["rails", "rake", "bin/rails"],
                operand: Operand::Is(&[
                    "db:drop",
                    "db:reset",
                    "db:purge",
                    "db:schema:load",
                    "db:migrate:reset",
                    "db:truncate_all",
                ]),
                ..COMMAND
            }),
            When::Command(sub(&["rails", "rake"], &["db:drop", "db:reset", "db:purge", "db:migrate:reset"])),
            When::Command(Command {
                flags: &[&["--force-reset", "--accept-data-loss"]],
                ..sub(&["prisma"], &["db push"])
            }),
            When::Command(sub(&["prisma"], &["migrate reset"])),
            predicate("framework_database_reset", Trigger::programs(RUNNERS), framework_reset),
        ],
        fires: &[
            "rails db:drop",
            "npx prisma migrate reset --force",
            "php artisan migrate:fresh",
            "python manage.py flush --no-input",
            "bundle exec rake db:reset",
            "supabase db reset",
        ],
        silent: &[
            "rails db:migrate",
            "npx prisma migrate dev",
            "php artisan migrate",
            "python manage.py migrate",
            "supabase status",
            "prisma generate",
        ],
        ..RULE
    },
];

/// Whether a database is named like one that nobody misses.
fn is_scratch(name: &str) -> bool {
    let mut words = name.split(|c: char| !c.is_ascii_alphanumeric()).map(str::to_ascii_lowercase);
    words
        .any(|word| matches!(word.as_str(), "test" | "tests" | "testing" | "tmp" | "temp" | "scratch" | "ci"))
}

/// A database is dropped by a program of its own; with `scratch`, one for tests.
fn dropped<'a>(scene: &Scene<'a>, scratch: bool) -> Found<'a> {
    let found = scene.first(DROPPERS, |inv| {
        let names = match (inv.program.as_str(), inv.operands.as_slice()) {
            ("mysqladmin", [first, names @ ..]) if first.known() == Some("drop") => names,
            ("mysqladmin", _) => return false,
            (_, names) => names,
        };
        let is_scratch = !names.is_empty() && names.iter().all(|name| name.known().is_some_and(is_scratch));
        !names.is_empty() && is_scratch == scratch
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

fn starts(words: &[String], beginning: &[&str]) -> bool {
    beginning.len() <= words.len() && beginning.iter().zip(words).all(|(wanted, word)| wanted == word)
}

/// The texts that a client is given: its arguments, and what comes on its standard input.
fn texts(inv: &Invocation, scene: &Scene<'_>) -> Vec<String> {
    let mut out = input_of(inv, scene);
    out.extend(inv.args.iter().map(Arg::text));
    out
}

/// The arguments of a tool that by its name talks to a database.
fn given_to_tool<'a>(scene: &Scene<'a>) -> Option<&'a str> {
    let Action::Other { text, .. } = &scene.view.call.action else { return None };
    let Tool::Mcp { server, tool } = &scene.view.call.tool else { return None };
    let words = |name: &str, list: &[&str]| matcher::words_of(name).iter().any(|word| list.contains(&word.as_str()));
    // A search for documentation is not a statement, nor is what is written about one.
    const ABOUT: &[&str] = &["search", "docs", "documentation", "issue", "comment", "message", "explain", "help"];
    ((words(server, TOOLS) || words(tool, TOOLS)) && !words(tool, ABOUT)).then_some(text.as_str())
}

/// The first client that is given a statement for which `test` holds; statements come as upper-case words.
fn sql<'a>(scene: &Scene<'a>, test: fn(&[String]) -> bool) -> Found<'a> {
    if let Some(text) = given_to_tool(scene)
        && scripts::strings(text).iter().any(|text| text.split(';').any(|one| test(&words_of(one))))
    {
        return Found::yes(text);
    }
    let found = scene.first(CLIENTS, |inv| {
        texts(inv, scene).iter().any(|text| text.split(';').any(|statement| test(&words_of(statement))))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// The words of a statement without comments and without the insides of quotes.
fn words_of(statement: &str) -> Vec<String> {
    let mut plain = String::with_capacity(statement.len());
    let mut rest = statement.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\'' => {
                while rest.next().is_some_and(|inner| inner != '\'') {}
                plain.push_str(" ? ");
            }
            '-' if rest.peek() == Some(&'-') => {
                while rest.next().is_some_and(|inner| inner != '\n') {}
                plain.push(' ');
            }
            '/' if rest.peek() == Some(&'*') => {
                let mut last = ' ';
                while rest.peek().is_some() && !(last == '*' && rest.peek() == Some(&'/')) {
                    last = rest.next().unwrap_or(' ');
                }
                let _ = rest.next();
                plain.push(' ');
            }
            c if c.is_alphanumeric() || c == '_' || c == '.' => plain.push(c.to_ascii_uppercase()),
            _ => plain.push(' '),
        }
    }
    plain.split_whitespace().map(str::to_owned).collect()
}

fn flushed<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(REDIS, |inv| {
        let flush =
            |word: &str| word.eq_ignore_ascii_case("flushall") || word.eq_ignore_ascii_case("flushdb");
        let given = inv.operands.first().and_then(Arg::known).is_some_and(flush);
        given
            || (inv.operands.is_empty()
                && texts(inv, scene).iter().any(|text| text.split_whitespace().any(flush)))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

fn mongo_drop<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(MONGO, |inv| {
        texts(inv, scene).iter().any(|text| {
            let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
            ["dropDatabase(", ".drop(", "deleteMany({})", "remove({})"].iter().any(|word| text.contains(word))
        })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

fn framework_reset<'a>(scene: &Scene<'a>) -> Found<'a> {
    const PAIRS: &[(&str, &str)] = &[
        ("artisan", "migrate:fresh"),
        ("artisan", "migrate:reset"),
        ("artisan", "db:wipe"),
        ("manage.py", "flush"),
        ("manage.py", "reset_db"),
        ("migrate", "reset"),
        ("db", "reset"),
        ("rake", "db:reset"),
        ("rake", "db:drop"),
        ("rails", "db:drop"),
        ("rails", "db:reset"),
        ("sequelize", "db:drop"),
        ("mix", "ecto.drop"),
        ("mix", "ecto.reset"),
        ("knex", "migrate:rollback"),
        ("typeorm", "schema:drop"),
    ];
    let found = scene.first(RUNNERS, |inv| {
        let words: Vec<&str> = std::iter::once(inv.program.as_str()).chain(inv.args.iter().filter_map(Arg::known)).collect();
        words.windows(2).any(|pair| matches!(pair, [a, b] if PAIRS.iter().any(|(x, y)| a.rsplit('/').next() == Some(x) && b == y)))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
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
