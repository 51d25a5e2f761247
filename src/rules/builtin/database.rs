//! Databases: statements that lose data, in the arguments of a client or on its standard input.

mod place;
mod spared;

pub(super) use self::place::is_settled_here;
use self::place::{Place, is_in_test_container, is_own_keys, is_own_store, place_of};
pub(super) use self::spared::env_is_scratch;
use self::spared::{env_names, is_named_for_tests, is_rolled_back, made_by, takes_only};
use super::deeds::{self, Deeds};
use super::standing::{apart, is_own, is_scratch};
use super::{lists, predicate, resets, scripts, standing};
use crate::domain::{Action, EffectKind, Severity, Target, Tool, Verdict};
use crate::rules::Invocation;
use crate::rules::matcher;
use crate::rules::matcher::{
    Found, Instead, RULE, Rule, Scene, Trigger, contains_word, content, input_of, is_shell, runs, target_of,
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
    "cqlsh",
    "influx",
    "sqlplus",
    "isql",
    "wrangler",
    "turso",
    "prisma",
    "osql",
    "vsql",
    "trino",
    "presto",
    "hive",
    "beeline",
    "spark-sql",
    "impala-shell",
    "questdb",
    "mssql-cli",
    "pgbench",
    "athenacli",
    "snow",
    "ysqlsh",
    "ycqlsh",
    "sqlite-utils",
    "databricks",
    "spanner-cli",
    "gcloud",
    "aws",
    "heroku",
    "fly",
    "flyctl",
    "supabase",
    "dolt",
    "exaplus",
    "db2",
    "isql-fb",
    "tarantoolctl",
    "rqlite",
    "pgloader",
    "mysqlsh",
    "pscale",
];

/// Frameworks whose own client is given statements on its standard input.
const SHELLS: &[&str] = &["python", "python3", "rails", "django-admin"];

/// A client, or a tool that may be one.
const STATEMENTS: Trigger = Trigger::programs(CLIENTS).or(Trigger::programs(SHELLS)).or(Trigger::TOOL);

/// Deeds by which data of a whole store is lost for good.
const LOST: Deeds = &[
    (&["bq"], &["rm -r", "rm -d", "rm --dataset"]),
    (&["influx"], &["bucket delete", "delete --start", "delete --bucket", "org delete"]),
    (&["etcdctl"], &["del --prefix", "del --from-key"]),
    (&["consul"], &["kv delete -recurse"]),
    (&["rabbitmqctl"], &["reset", "force_reset", "delete_vhost"]),
    (&["turso"], &["db destroy", "group destroy"]),
    (&["pscale"], &["database delete", "branch delete"]),
    (&["kubectl"], &["cnpg destroy"]),
    (
        &["wrangler"],
        &[
            "kv bulk delete",
            "kv:bulk delete",
            "d1 delete",
            "kv namespace delete",
            "kv:namespace delete",
            "r2 bucket delete",
        ],
    ),
    (&["neonctl", "neon"], &["projects delete", "databases delete", "branches reset"]),
    (
        &["vault"],
        &[
            "kv metadata delete",
            "kv destroy",
            "secrets disable",
            "operator seal",
            "auth disable",
            "audit disable",
            "lease revoke -prefix",
            "operator raft remove-peer",
        ],
    ),
    (&["kafka-topics", "kafka-topics.sh"], &["--delete"]),
    (&["atlas"], &["clusters delete", "projects delete"]),
    (&["cockroach"], &["node decommission", "demo --wipe"]),
    (&["minio", "mc"], &["rb --force", "rm --recursive"]),
    (&["neo4j-admin"], &["database delete"]),
    (&["kafka-delete-records", "kafka-delete-records.sh"], &["--offset-json-file"]),
    (&["rabbitmqadmin"], &["delete queue", "delete vhost", "delete exchange", "purge queue"]),
    (&["rpk"], &["topic delete", "cluster storage recovery"]),
    (&["pulsar-admin"], &["topics delete", "namespaces delete", "tenants delete"]),
    (&["nodetool"], &["clearsnapshot", "decommission", "assassinate"]),
    (&["curator", "curator_cli", "elasticdump"], &["delete-indices", "delete_indices", "--deleteAll"]),
    (&["bq"], &["rm -f"]),
    (&["firebase"], &["firestore:delete --all-collections", "database:remove"]),
    (&["dolt"], &["reset --hard", "clean"]),
    (&["barman"], &["delete"]),
    (&["pgbackrest"], &["stanza-delete", "expire --set"]),
    (&["wal-g", "wal-e"], &["delete everything", "delete"]),
    (&["pg_dropcluster", "pg_resetwal"], &["*"]),
    (&["mysqld", "mariadbd", "mysqld_safe"], &["--skip-grant-tables"]),
    (&["redis-cli", "valkey-cli"], &["acl setuser", "ACL SETUSER", "acl deluser", "ACL DELUSER"]),
];

/// The same of Rails.
const RAILS: Deeds = &[(
    &["rails", "rake"],
    &[
        "db:drop*",
        "db:reset*",
        "db:purge*",
        "db:schema:load*",
        "db:migrate:reset*",
        "db:truncate_all*",
        "db:structure:load*",
    ],
)];

/// Deeds by which a database of the application is emptied or set back.
const EMPTIED: Deeds = &[
    (&["wp"], &["db reset", "db drop", "site empty"]),
    (&["drush"], &["sql:drop", "sql-drop"]),
    (&["bq"], &["rm -t", "rm --table"]),
    (&["pg_restore"], &["--clean", "-c"]),
    (&["mongorestore", "mongoimport"], &["--drop"]),
    (&["dropuser"], &["*"]),
    (&["pg_ctl", "pg_ctlcluster"], &["stop immediate", "immediate"]),
    (&["mysqladmin", "mariadb-admin"], &["shutdown", "password"]),
    (&["drizzle-kit"], &["push --force"]),
    (&["flyway"], &["clean"]),
    (&["mvn", "mvnw", "gradle", "gradlew"], &["flyway:clean", "flywayClean", "liquibase:dropAll", "dropAll"]),
    (&["liquibase"], &["drop-all", "dropAll"]),
    (&["diesel"], &["database reset", "migration revert --all", "database drop"]),
    (&["sqlx"], &["database drop", "database reset"]),
    (&["dbmate"], &["drop", "--drop"]),
    (&["migrate"], &["drop", "down -all"]),
    (&["goose"], &["reset", "down-to 0"]),
    (&["atlas"], &["schema clean"]),
    (&["alembic", "flask"], &["downgrade base"]),
    (&["dotnet-ef", "dotnet"], &["database drop", "database update 0"]),
    (&["hasura"], &["metadata clear"]),
    (&["sequelize", "sequelize-cli"], &["db:drop*", "db:migrate:undo:all"]),
    (&["drizzle-kit"], &["drop"]),
    (&["mikro-orm"], &["schema:drop", "migration:fresh"]),
    (&["artisan"], &["migrate:fresh", "migrate:reset", "migrate:refresh"]),
    (&["sea-orm-cli"], &["migrate fresh", "migrate reset", "migrate refresh"]),
    (&["knex"], &["migrate:rollback --all"]),
    (&["python", "python3", "django-admin", "uv", "poetry"], &["migrate zero", "reset_db", "sqlflush"]),
    (&["rabbitmqctl"], &["delete_user"]),
    (&["nats"], &["kv del", "kv rm"]),
    (
        &["redis-cli", "valkey-cli"],
        &[
            "shutdown*",
            "SHUTDOWN*",
            "script flush",
            "SCRIPT FLUSH",
            "debug segfault",
            "debug sleep",
            "DEBUG SLEEP",
            "DEBUG SEGFAULT",
            "function flush",
        ],
    ),
    (&["vault"], &["kv delete", "delete", "token revoke", "lease revoke"]),
    (&["etcdctl"], &["member remove", "snapshot restore"]),
    (&["consul"], &["leave", "force-leave"]),
    (&["kafka-consumer-groups", "kafka-consumer-groups.sh"], &["--delete", "--reset-offsets --execute"]),
    (&["memcflush"], &["*"]),
    (&["aerich"], &["downgrade"]),
    (
        &["edgedb", "gel"],
        &["database wipe", "branch wipe", "instance destroy", "branch drop", "database drop"],
    ),
    (&["surreal"], &["import --drop"]),
    (&["convex"], &["import --replace*"]),
];

/// Deeds by which a queue or a stream goes with what is in it.
const DRAINED: Deeds =
    &[(&["rabbitmqctl"], &["delete_queue", "purge_queue"]), (&["nats"], &["stream rm", "stream purge"])];

/// Deeds by which a schema is set back to what it was.
const SET_BACK: Deeds = &[(&["liquibase"], &["rollback*"])];

/// Those of [`LOST`] that are about queues and buckets, of which everybody has some to try things with.
const QUEUES: Deeds = &[
    (&["kafka-topics", "kafka-topics.sh"], &["--delete"]),
    (&["rabbitmqadmin"], &["delete queue", "delete vhost", "delete exchange", "purge queue"]),
    (&["rpk"], &["topic delete"]),
    (&["minio", "mc"], &["rb", "rm --recursive"]),
    (&["etcdctl"], &["del --prefix", "del --from-key"]),
];

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

/// Things that `DROP` takes away and that hold no rows of their own.
const DEFINED: &[&str] = &["VIEW", "INDEX", "FUNCTION", "PROCEDURE", "TRIGGER", "POLICY", "MATERIALIZED"];

/// Things that `DROP` takes away.
const DROPPED: &[&str] = &[
    "TABLE",
    "VIEW",
    "INDEX",
    "ROLE",
    "USER",
    "TABLESPACE",
    "SEQUENCE",
    "OWNED",
    "EXTENSION",
    "TYPE",
    "FUNCTION",
    "PROCEDURE",
    "TRIGGER",
    "POLICY",
    "WAREHOUSE",
    "STREAM",
    "STAGE",
    "TASK",
    "LOGIN",
    "COLLECTION",
    "BUCKET",
    "COLUMNFAMILY",
    "DICTIONARY",
    "CATALOG",
    "PUBLICATION",
    "SUBSCRIPTION",
    "SERVER",
    "EXTERNAL",
    "RETENTION",
    "MEASUREMENT",
    "SERIES",
    "SHARD",
    "BINLOG",
    "WORKGROUP",
    "SNAPSHOT",
    "PIPE",
];

const DROPPERS: &[&str] = &["dropdb", "mysqladmin"];

const REDIS: &[&str] = &["redis-cli", "valkey-cli", "keydb-cli"];

const MONGO: &[&str] = &["mongosh", "mongo"];

/// Clients of databases that keep graphs.
const GRAPHS: &[&str] = &["cypher-shell", "neo4j-shell", "arangosh", "gremlin"];

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
    "sail",
    "ddev",
    "lando",
];

pub(super) const RULES: &[Rule] = &[
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
        instead: Some(Instead::Command("psql -l")),
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
        instead: Some(Instead::Command("psql -c '\\dt' app")),
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
        instead: Some(Instead::Command("psql -c '\\d users' app")),
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
        id: "database.own-emptied",
        verdict: Verdict::Modify,
        severity: Severity::Medium,
        reason: "deletes or empties what a store for development on this machine holds",
        instead: Some(Instead::Advice(
            "use a database named for the tests, or let the person say that it may go",
        )),
        when: &[
            predicate("own_tables_lost", STATEMENTS, |scene| {
                sql_by_client(scene, |inv| is_own_client(inv, scene), loses_tables)
            }),
            predicate("own_database_dropped", STATEMENTS, |scene| {
                sql_by_client(scene, |inv| place_of(inv, scene) != Place::Elsewhere, drops_own)
            }),
            predicate("own_database_dropped_by_program", Trigger::programs(DROPPERS), |scene| {
                dropped(scene, Whose::Own)
            }),
            predicate("own_store_flushed", Trigger::programs(REDIS), |scene| {
                flushed_by_client(scene, Whose::Own)
            }),
            predicate("own_store_emptied_by_code", Trigger::INTERPRETER, |scene| {
                resets::store_emptied(scene, true)
            }),
            predicate("own_documents_lost", Trigger::programs(MONGO), |scene| mongo_drop(scene, Whose::Own)),
            predicate("own_queue_lost", Trigger::rows(QUEUES), |scene| {
                deeds::done_where(scene, QUEUES, |inv| whose_queue(inv, scene) == Whose::Own)
            }),
        ],
        fires: &[
            "psql app_dev -c 'DROP TABLE users'",
            "psql -h localhost -c 'DROP DATABASE IF EXISTS app_dev; CREATE DATABASE app_dev'",
            "psql postgres://u:p@localhost:5432/app_dev -c 'TRUNCATE carts'",
            "docker exec db psql -U app -d app_dev -c 'TRUNCATE carts'",
            "dropdb app_development",
            "redis-cli -n 9 FLUSHDB",
            "docker compose exec -T redis redis-cli FLUSHALL",
            "python3 -c \"import redis; redis.Redis(host='localhost', db=9).flushdb()\"",
            "mongosh app_dev --eval 'db.orders.drop()'",
            "kafka-topics.sh --bootstrap-server localhost:9092 --delete --topic orders",
            "etcdctl --endpoints=http://127.0.0.1:2379 del --prefix /app/",
        ],
        silent: &[
            "psql app_dev -c 'SELECT 1'",
            "psql app_dev -c 'DROP TABLE IF EXISTS tmp_import'",
            "psql app_test -c 'TRUNCATE carts'",
            "redis-cli -n 9 DBSIZE",
            "docker exec app-redis-test redis-cli FLUSHALL",
            "kafka-topics.sh --bootstrap-server localhost:9092 --delete --topic orders-test",
            "createdb app_dev",
        ],
        ..RULE
    },
    Rule {
        id: "database.drop-definition",
        verdict: Verdict::Modify,
        severity: Severity::Medium,
        reason: "takes a function, trigger or policy from a database, that may be what guards it",
        instead: Some(Instead::Command("psql -c '\\df' app")),
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
        instead: Some(Instead::Command("psql -c '\\di' app")),
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
    Rule {
        id: "database.truncate",
        reason: "empties a table",
        instead: Some(Instead::Command("psql -c 'SELECT count(*) FROM users' app")),
        when: &[predicate("sql_truncate", STATEMENTS, |scene| sql_unless_own(scene, truncates))],
        fires: &[
            "psql -c 'TRUNCATE users'",
            "mysql app_test -e 'use app; truncate users'",
            "psql app_dev -c '\\c app' -c 'truncate users'",
            "mysql -e 'truncate table users' app",
            "psql -c 'BEGIN; TRUNCATE users CASCADE; COMMIT'",
            "PGDATABASE=app_test psql -d app -c 'truncate orders'",
            "PGDATABASE=app_test true; psql -c 'truncate orders'",
            "TEST_DATABASE_URL=$DATABASE_URL; psql $TEST_DATABASE_URL -c 'truncate orders'",
            "mysql -uroot -e 'truncate app_test.a, orders'",
            "mysql -uroot -e 'truncate app_test.a; truncate orders'",
            "mysql -h db.x.example -e 'truncate app_test.a'",
            "psql \"$DATABASE_URL\" -c 'truncate app_test.a'",
        ],
        silent: &[
            "PGDATABASE=orchard_test psql -c 'truncate orders'",
            "psql $TEST_DATABASE_URL -c 'truncate orders cascade'",
            "clickhouse-client -h localhost -q 'TRUNCATE TABLE app_test.events'",
            "mysql -uroot -e 'truncate app_test.a, app_test.b'",
            "psql -c 'SELECT trunc(1.5)'",
            "truncate -s 10M x.img",
            "grep TRUNCATE x.sql",
        ],
        ..RULE
    },
    Rule {
        id: "database.delete-all",
        reason: "changes or deletes every row, because there is no WHERE",
        instead: Some(Instead::Command("psql -c 'SELECT count(*) FROM users WHERE id = 7' app")),
        when: &[predicate("sql_without_where", STATEMENTS, |scene| sql_unless_own(scene, spares_no_row))],
        fires: &[
            "psql prod -c 'WITH x AS (DELETE FROM users RETURNING 1) SELECT 1'",
            "psql prod -c 'WITH a AS (SELECT 1) DELETE FROM users'",
            "psql prod -c '/* list */ WITH x AS (DELETE FROM users RETURNING 1) SELECT 1'",
            "psql prod -c 'MERGE INTO users USING (SELECT 1) s ON true WHEN MATCHED THEN DELETE'",
            "psql -c 'DELETE FROM users'",
            "mysql -e 'UPDATE users SET admin=1'",
            "sqlite3 app.db 'delete from users;'",
            "sqlite3 app.db \"DELETE FROM t; SELECT * FROM t WHERE a=1\"",
            "sqlite3 app.db 'DELETE FROM t WHERE 1=1'",
            "psql -c 'UPDATE t SET a = 0 WHERE id > 0 OR 1=1'",
            "bq query 'DELETE FROM a.b WHERE true'",
        ],
        silent: &[
            "sqlite3 data/app.db 'DELETE FROM cache'",
            "psql -c 'WITH x AS (DELETE FROM users WHERE id = 7 RETURNING 1) SELECT 1'",
            "psql -c 'WITH x AS (SELECT id FROM users) SELECT * FROM x'",
            "psql -c 'DELETE FROM users WHERE id = 7'",
            "psql -c 'UPDATE users SET a=1 WHERE id=2'",
            "sqlite3 app.db 'SELECT * FROM users'",
            "echo 'DELETE FROM users'",
        ],
        ..RULE
    },
    Rule {
        id: "database.opens",
        severity: Severity::Critical,
        reason: "has a database run programs, reach into files, or let everybody in",
        instead: Some(Instead::Command("psql -c '\\du' app")),
        when: &[
            predicate("sql_opens", STATEMENTS, |scene| sql_anywhere(scene, |one| opens(&words_of(one)))),
            predicate("sql_reaches_a_file", STATEMENTS, |scene| sql_anywhere(scene, reaches)),
            predicate("store_opened", Trigger::programs(REDIS), store_opened),
            predicate("shell_of_a_client", Trigger::programs(CLIENTS), shell_started),
        ],
        fires: &[
            "psql -c \"COPY (SELECT 1) TO PROGRAM 'id'\"",
            "sqlcmd -Q \"EXEC xp_cmdshell 'whoami'\"",
            "mysql -e \"SELECT 1 INTO OUTFILE '/var/www/x.php'\"",
            "psql -c 'ALTER USER app WITH SUPERUSER'",
            "psql -c \"ALTER USER postgres WITH PASSWORD 'x'\"",
            "psql -c 'ALTER SYSTEM SET archive_mode = off'",
            "redis-cli CONFIG SET dir /root/.ssh",
            "mysql -e '\\! sh'",
            "sqlite3 /dev/null '.shell /bin/sh'",
            "psql -c 'create extension plpython3u'",
            "mysql -e \"LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE t\"",
            "sqlite3 x.db \"ATTACH DATABASE '/var/www/a.php' AS x\"",
            "sqlite3 x.db \"select load_extension('/tmp/a.so')\"",
            "psql -c \"select dblink_connect('host=203.0.113.7')\"",
            "mcp__postgres__query {\"sql\":\"select * from pg_shadow\"}",
            "mcp__mysql__query {\"sql\":\"select user, authentication_string from mysql.user\"}",
        ],
        silent: &[
            "psql -c 'COPY t TO STDOUT'",
            "psql -c \"ALTER USER app WITH PASSWORD 'x'\"",
            "psql -c 'GRANT SELECT ON t TO reader'",
            "psql -c 'GRANT ALL PRIVILEGES ON DATABASE app TO app'",
            "redis-cli CONFIG GET dir",
            "sqlite3 app.db '.schema'",
            "psql -c '\\d users'",
            "mysql -e 'SHOW GRANTS'",
            "psql -c 'create extension if not exists pgcrypto'",
            "mysql -e \"LOAD DATA LOCAL INFILE 'data/users.csv' INTO TABLE t\"",
            "sqlite3 x.db \"ATTACH DATABASE 'other.db' AS x\"",
            "sqlite3 x.db \"select load_extension('mod_spatialite')\"",
            "mcp__postgres__query {\"sql\":\"select rolname from pg_roles\"}",
        ],
        ..RULE
    },
    Rule {
        id: "database.store-deleted",
        severity: Severity::Critical,
        reason: "deletes all that a store, a queue or a database service keeps",
        instead: Some(Instead::Advice("list what would go, and let the person delete it")),
        when: &[
            predicate("graph_deleted", Trigger::programs(GRAPHS), graph_deleted),
            predicate("store_asked_to_delete", Trigger::programs(lists::DOWNLOADERS), |scene| {
                statement_sent(scene)
            }),
            predicate("store_deleted_by_words", Trigger::rows(LOST), |scene| {
                deeds::done_where(scene, LOST, |inv| whose_queue(inv, scene) == Whose::Others)
            }),
            predicate(
                "file_of_a_server_deleted",
                Trigger::kinds(&[EffectKind::FileDeletion]),
                data_file_deleted,
            ),
            predicate(
                "index_deleted_by_request",
                Trigger::programs(&["curl", "http", "https", "xh"]),
                |scene| deleted_by_request(scene, true),
            ),
        ],
        fires: &[
            "etcdctl del --prefix /",
            "etcdctl del --prefix /app/test/",
            "etcdctl --endpoints=etcd.x.example:2379 del --prefix /app/test/",
            "consul kv delete -recurse app/",
            "bq rm -r -f -d project:dataset",
            "curl -X DELETE http://localhost:9200/_all",
            "curl --request DELETE --url \"https://es.x.example/%2A\"",
            "curl -XDELETE https://es.x.example/_all",
            "vault secrets disable kv/",
            "rm -f /var/lib/mysql/ibdata1",
            "curl http://localhost:8123 -d 'DROP TABLE users'",
            "sudo rm /var/lib/postgresql/16/main/pg_wal/000000010000000000000001",
            "turso db destroy prod",
            "curl 'http://localhost:8123/?query=DROP+TABLE+users'",
            "curl http://localhost:3000/sql -d 'DROP TABLE users'",
        ],
        silent: &[
            "kafka-topics.sh --bootstrap-server localhost:9092 --delete --topic orders-test",
            "rabbitmqadmin purge queue name=orders.test",
            "etcdctl --endpoints=localhost:2379 del --prefix /app/test/",
            "etcdctl get --prefix /",
            "consul kv get app",
            "bq ls",
            "rm -f /var/lib/apt/lists/lock",
            "curl -X DELETE http://localhost:3000/api/users/1",
            "curl -d 'q=DROP TABLE users' http://localhost:3000/search",
            "http POST :3000/search q='DROP TABLE users'",
            "curl -X POST localhost:3000/search -d '{\"q\":\"DROP DATABASE x\"}'",
            "vault status",
        ],
        ..RULE
    },
    Rule {
        id: "database.flush",
        severity: Severity::Critical,
        reason: "empties a key-value store",
        instead: Some(Instead::Command("redis-cli dbsize")),
        when: &[
            predicate(
                "store_flushed",
                Trigger::programs(REDIS)
                    .or(Trigger::programs(lists::NETCATS))
                    .or(Trigger::programs(&["telnet"])),
                flushed,
            ),
            predicate("store_flushed_by_address", Trigger::programs(FETCHERS), flushed_by_address),
            predicate("store_flushed_over_a_socket", Trigger::REDIRECTED, flushed_over_socket),
        ],
        fires: &[
            "printf '*1\\r\\n$8\\r\\nFLUSHALL\\r\\n' | nc redis.x.example 6379",
            "printf 'SHUTDOWN NOSAVE\\r\\n' | ncat redis.x.example 6379",
            "echo flush_all | nc memcached.x.example 11211",
            "redis-cli FLUSHALL",
            "redis-cli -h redis.x.example -n 1 flushdb",
            "docker exec prod-redis redis-cli flushall",
            "echo FLUSHALL | redis-cli",
            "valkey-cli flushall async",
            "echo RkxVU0hBTEw= | base64 -d | redis-cli",
            "curl gopher://127.0.0.1:6379/_FLUSHALL",
            "curl 'dict://127.0.0.1:11211/flush_all'",
            "printf 'FLUSHALL\\r\\n' > /dev/tcp/localhost/6379",
        ],
        silent: &[
            "redis-cli dbsize",
            "redis-cli -n 9 flushdb",
            "docker exec app-redis-test redis-cli flushall",
            "redis-cli get flushall",
            "redis-cli --scan --pattern 'cache:*' | xargs redis-cli del",
            "grep FLUSHALL src",
            "redis-cli ping",
            "curl dict://127.0.0.1:6379/info",
            "printf 'PING\\r\\n' > /dev/tcp/localhost/6379",
        ],
        ..RULE
    },
    Rule {
        id: "database.mongo-drop",
        severity: Severity::Critical,
        reason: "deletes a database, a collection or all documents",
        instead: Some(Instead::Command("mongosh --eval 'db.stats()' app")),
        when: &[predicate("mongo_drop", Trigger::programs(MONGO), |scene| mongo_drop(scene, Whose::Others))],
        fires: &[
            "mongosh --eval 'db.getSiblingDB(\"app_test\").a.find(); db.dropDatabase()'",
            "mongosh --host m.x.example --eval 'db.getSiblingDB(\"app_test\").dropDatabase()'",
            "cat > m.js <<'E'\ndb.dropDatabase()\nE\nmongosh prod m.js",
            "mongosh --eval 'db.dropDatabase()' app",
            "mongo app --eval 'db.users.drop()'",
            "mongosh app --eval 'db.users.deleteMany({})'",
            "echo 'db.dropDatabase()' | mongosh app",
        ],
        silent: &[
            "mongosh --quiet --eval 'db.getSiblingDB(\"app_test\").dropDatabase()'",
            "mongosh --eval 'db.stats()' app",
            "mongosh app --eval 'db.users.deleteMany({id:1})'",
            "grep dropDatabase src",
            "mongosh app_test --eval 'db.dropDatabase()'",
            "mongosh app_dev --eval 'db.orders.drop()'",
            "mongosh app --eval 'db.notes.insertOne({text: \"db.dropDatabase()\"})'",
        ],
        ..RULE
    },
    Rule {
        id: "database.reset",
        verdict: Verdict::Modify,
        reason: "empties the application's database",
        instead: Some(Instead::Advice("point the command at a scratch database, or let the person run it")),
        when: &[
            predicate("rails_database_reset", Trigger::rows(RAILS), |scene| {
                // Last, because it looks through the whole command line.
                deeds::done_where(scene, RAILS, |_| !is_for_tests(scene))
            }),
            predicate("prisma_resets", Trigger::programs(&["prisma"]), |scene| {
                let pushes = |inv: &Invocation| {
                    matcher::has_sub(inv, "db push")
                        && ["--force-reset", "--accept-data-loss"]
                            .iter()
                            .any(|flag| matcher::has_flag(inv, flag))
                };
                let found = scene.first(&["prisma"], |inv| {
                    (matcher::has_sub(inv, "migrate reset") || pushes(inv))
                        && !matcher::asks_for_help(inv)
                        && !env_is_scratch(inv, scene)
                });
                Found::from(found.filter(|_| !is_for_tests(scene)).map(|inv| inv.text.as_str()))
            }),
            predicate("framework_database_reset", Trigger::programs(RUNNERS), framework_reset),
            predicate("database_emptied_by_words", Trigger::rows(EMPTIED), |scene| {
                deeds::done_where(scene, EMPTIED, |inv| {
                    !names_scratch(inv)
                        && !env_is_scratch(inv, scene)
                        && !is_named_for_tests(inv, scene)
                        && !only_prints(inv, scene)
                        && !is_for_tests(scene)
                })
            }),
            predicate(
                "data_deleted_by_request",
                Trigger::programs(&["curl", "http", "https", "xh"]),
                |scene| deleted_by_request(scene, false),
            ),
        ],
        fires: &[
            "rails db:drop",
            "npx prisma migrate reset --force",
            "php artisan migrate:fresh",
            "./vendor/bin/sail artisan migrate:fresh --seed",
            "python manage.py flush --no-input",
            "bundle exec rake db:reset",
            "supabase db reset",
            "flyway clean",
            "alembic downgrade base",
            "DATABASE_URL=sqlite:///app.db alembic downgrade base",
            "DATABASE_URL=sqlite:////srv/test/app.db alembic downgrade base",
            "npx prisma db push --force-reset",
            "npx prisma migrate reset --schema prisma/app.prisma",
            "curl -X DELETE 'http://127.0.0.1:8500/v1/kv/app/?recurse'",
            "pg_restore --clean -d app dump",
            "npx sequelize-cli db:drop",
        ],
        silent: &[
            "rails db:migrate",
            "npx prisma migrate dev",
            "php artisan migrate",
            "python manage.py migrate",
            "supabase status",
            "npx supabase db reset --local",
            "prisma generate",
            "RAILS_ENV=test bin/rails db:reset",
            "MIX_ENV=test mix ecto.reset",
            "php artisan migrate:fresh --env=testing",
            "./vendor/bin/sail artisan migrate --seed",
            "./vendor/bin/sail artisan migrate:fresh --env=testing",
            "alembic downgrade -1",
            "pg_restore -d app_dev dump",
            "flyway -url=jdbc:postgresql://localhost/app_test clean migrate",
            "npx sequelize-cli \\\n  db:drop \\\n  --env \\\n  test",
            "python manage.py sqlflush",
            "NODE_ENV=test npx prisma migrate reset --force",
            "python manage.py flush --no-input --settings config.settings_test",
            "goose -dir db/migrations postgres 'postgres://u:p@localhost:5432/app_test?sslmode=disable' reset",
            "goose -dir db/migrations postgres \"$TEST_DATABASE_URL\" reset",
            "dotenv -e .env.test -- npx prisma migrate reset --force",
        ],
        ..RULE
    },
    Rule {
        id: "database.set-back",
        verdict: Verdict::Modify,
        severity: Severity::Medium,
        reason: "takes changes of a database's schema back, and deletes what is in them",
        instead: Some(Instead::Command("liquibase rollback-count-sql 1")),
        when: &[predicate("schema_set_back", Trigger::rows(SET_BACK), |scene| {
            deeds::done_where(scene, SET_BACK, |inv| {
                let prints = |word: &str| word.contains("-sql") || word.ends_with("SQL");
                !names_scratch(inv) && !deeds::known_words(inv).into_iter().any(prints)
            })
        })],
        fires: &["liquibase rollback-count 1", "liquibase rollback v1.4", "liquibase rollbackCount 3"],
        silent: &[
            "liquibase rollback-count-sql 1",
            "liquibase --url=jdbc:postgresql://localhost/app_test rollback v1",
            "liquibase update",
        ],
        ..RULE
    },
    Rule {
        id: "database.queue-emptied",
        verdict: Verdict::Modify,
        severity: Severity::Medium,
        reason: "deletes a queue or a stream with the messages in it",
        instead: Some(Instead::Command("nats stream info ORDERS")),
        when: &[predicate("queue_emptied", Trigger::rows(DRAINED), |scene| {
            deeds::done_where(scene, DRAINED, |inv| whose_queue(inv, scene) != Whose::Tests)
        })],
        fires: &["nats stream rm ORDERS -f", "rabbitmqctl purge_queue orders", "nats stream purge ORDERS -f"],
        silent: &[
            "nats stream ls",
            "nats stream rm orders-test -f -s nats://localhost:4222",
            "rabbitmqctl list_queues",
        ],
        ..RULE
    },
];

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

/// Whose the queue or bucket is that a command is about.
fn whose_queue(inv: &Invocation, scene: &Scene<'_>) -> Whose {
    if !deeds::is_one(inv, QUEUES) && !deeds::is_one(inv, DRAINED) {
        return Whose::Others;
    }
    let named = |word: &&str| {
        let name = word.split_once('=').map_or(*word, |(_, name)| name);
        !word.contains(' ') && !word.contains("://") && is_scratch(name)
    };
    let named = deeds::known_words(inv).iter().any(named);
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

/// Whether the buckets that a command names are those of a server on this machine.
pub(super) fn is_local_bucket(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let mut buckets = inv.operands.iter().map(Arg::prefix).filter(|word| word.contains('/')).peekable();
    runs(inv, &["mc"])
        && buckets.peek().is_some()
        && buckets.all(|word| word.starts_with("local/"))
        && place::is_own_alias(scene)
        && place_of(inv, scene) != Place::Elsewhere
}

/// What a server keeps its data in goes, on this machine.
fn data_file_deleted<'a>(scene: &Scene<'a>) -> Found<'a> {
    const KEPT: &[&str] = &[
        "/var/lib/mysql/",
        "/var/lib/postgresql/",
        "/var/lib/pgsql/",
        "/var/lib/mongodb/",
        "/var/lib/mongo/",
        "/var/lib/redis/",
        "/var/lib/elasticsearch/",
        "/var/lib/cassandra/",
        "/var/lib/clickhouse/",
        "/var/lib/etcd/",
        "/var/lib/influxdb/",
        "/var/lib/neo4j/",
    ];
    let found = scene.effects().find(|(effect, _)| {
        effect.kind == EffectKind::FileDeletion
            && KEPT.iter().any(|dir| effect.target.text().starts_with(dir))
            && !effect.target.text().ends_with(".pid")
            && !effect.target.text().ends_with(".sock")
    });
    Found::from(found.map(|(effect, _)| effect.target.text()))
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

/// The same, of one for development.
fn drops_own(words: &[String]) -> bool {
    starts(words, &["DROP", "DATABASE"]) && drops_missed(words) && !drops_others(words)
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

fn truncates(words: &[String]) -> bool {
    starts(words, &["TRUNCATE"])
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

/// What is asked of a store for development.
fn loses_tables(words: &[String]) -> bool {
    drops_table(words)
        || drops_column(words)
        || truncates(words)
        || spares_no_row(words)
        || starts(words, &["DROP", "SCHEMA"]) && drops_missed(words)
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
        || has("XP_CMDSHELL")
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
}

fn starts(words: &[String], beginning: &[&str]) -> bool {
    beginning.len() <= words.len() && beginning.iter().zip(words).all(|(wanted, word)| wanted == word)
}

/// The texts that a client is given: its arguments, and what comes on its standard input.
fn texts(inv: &Invocation, scene: &Scene<'_>) -> Vec<String> {
    let mut out = input_of(inv, scene);
    out.extend(inv.args.iter().map(|arg| {
        let text = arg.text();
        // `--execute=DROP TABLE x`
        match text.split_once('=') {
            Some((name, value)) if name.starts_with("--") && !name.contains(' ') => value.to_owned(),
            Some(_) | None => text.into_owned(),
        }
    }));
    out.extend(own_files(inv, scene));
    // `psql -c "select 'drop table ' || …" | psql`
    let made = scene
        .invocations()
        .iter()
        .filter(|other| other.pipeline == inv.pipeline && other.stage < inv.stage && runs(other, CLIENTS));
    out.extend(made.flat_map(|other| other.args.iter().map(Arg::text)).flat_map(|text| quoted(&text)));
    out
}

/// The texts of files that the call itself writes and a client then runs: named in an argument, or shown to it.
fn own_files(inv: &Invocation, scene: &Scene<'_>) -> Vec<String> {
    let written = &scene.view.survey.written;
    if written.is_empty() {
        return Vec::new();
    }
    let shows = |other: &&&Invocation| other.stage < inv.stage && runs(other, &["cat"]);
    let shown = scene.printers(inv.pipeline).iter().filter(shows).flat_map(|other| &other.operands);
    let named = |arg: &Arg| {
        let text = arg.text();
        let file = [".read ", "source ", "\\i ", "--file=", "--eval=", "@", "-f", "-i"]
            .iter()
            .find_map(|front| text.strip_prefix(front))
            .unwrap_or(&text);
        let target = target_of(&Arg::literal(file.trim_matches(['\'', '"', ' '])), inv.cwd.as_deref());
        let own = written.iter().any(|(path, _)| path == target.text());
        own.then(|| content(scene, target.text())).flatten()
    };
    inv.args.iter().chain(shown).filter_map(named).collect()
}

/// The statements in front of which, or in which, a `WITH` stands, and what follows it.
fn within(statement: &str) -> Vec<&str> {
    let mut statement = statement.trim_start();
    while let Some((_, rest)) = statement.strip_prefix("/*").and_then(|rest| rest.split_once("*/")) {
        statement = rest.trim_start();
    }
    if !statement.trim_start().get(..5).is_some_and(|word| word.eq_ignore_ascii_case("with ")) {
        return Vec::new();
    }
    let mut out = Vec::new();
    let (mut depth, mut start) = (0_usize, 0);
    for (at, c) in statement.char_indices() {
        match c {
            '(' => {
                depth += 1;
                if depth == 1 {
                    start = at + 1;
                }
            }
            ')' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    out.extend(statement.get(start..at));
                    let rest = statement.get(at + 1..).unwrap_or_default();
                    let goes_on = rest.trim_start();
                    let more = goes_on.starts_with(',')
                        || goes_on.get(..3).is_some_and(|word| word.eq_ignore_ascii_case("as "));
                    if !more {
                        out.push(rest);
                        return out;
                    }
                }
            }
            _ => {}
        }
    }
    out
}

/// Whether `test` holds for one of the statements of a text, or for one inside of it, and not only of tables that the text makes.
fn any_statement(text: &str, test: fn(&[String]) -> bool) -> bool {
    let holds = |statement: &str| test(&words_of(statement));
    let loses = |one: &str| holds(one) || any_made(one, test) || within(one).into_iter().any(holds);
    // Most texts hold nothing of the kind: what spares them is asked last.
    statements(text).any(loses) && {
        let made = made_by(text);
        statements(text).any(|one| loses(one) && !takes_only(&words_of(one), &made))
    }
}

/// Statements of a text, which a semicolon ends outside of quotes.
fn statements(text: &str) -> impl Iterator<Item = &str> {
    let mut within = false;
    text.split(move |c| {
        within ^= c == '\'';
        c == ';' && !within
    })
}

/// A statement that is put together and executed by another (`EXECUTE 'DROP TABLE ' || name`).
fn any_made(statement: &str, test: fn(&[String]) -> bool) -> bool {
    ["EXECUTE", "PREPARE", "\\gexec"].iter().any(|word| contains_word(statement, word)) && {
        let parts = quoted(statement);
        // `EXECUTE 'DROP ' || 'TABLE x'`
        parts.iter().any(|text| test(&words_of(text)))
            || statement.contains("||") && test(&words_of(&parts.concat()))
    }
}

/// The insides of the quotes of a text.
fn quoted(text: &str) -> Vec<String> {
    text.split('\'').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The arguments of a tool that by its name talks to a database.
fn given_to_tool<'a>(scene: &Scene<'a>) -> Option<&'a str> {
    let Action::Other { text, .. } = &scene.view.call.action else { return None };
    let Tool::Mcp { server, tool } = &scene.view.call.tool else { return None };
    let words = |name: &str, list: &[&str]| {
        crate::domain::words_of(name).iter().any(|word| list.contains(&word.as_str()))
    };
    // A search for documentation is not a statement, nor is what is written about one.
    const ABOUT: &[&str] =
        &["search", "docs", "documentation", "issue", "comment", "message", "explain", "help"];
    ((words(server, TOOLS) || words(tool, TOOLS)) && !words(tool, ABOUT)).then_some(text.as_str())
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

/// Whether a client is at the database of the tests, by what it is given or by the variables around it.
fn is_at_tests(inv: &Invocation, scene: &Scene<'_>) -> bool {
    const OPTIONS: &[&str] = &["-d", "--dbname", "-D", "--database"];
    let chosen = inv.flags.iter().any(|flag| OPTIONS.contains(&flag.name.as_str()));
    is_on_scratch(inv)
        || !chosen && is_named_for_tests(inv, scene)
        || !chosen
            && inv.operands.is_empty()
            && (env_is_scratch(inv, scene) || is_in_test_container(inv, scene))
}

/// The first client that is given a statement for which `test` holds; statements come as upper-case words.
fn sql<'a>(scene: &Scene<'a>, test: fn(&[String]) -> bool) -> Found<'a> {
    sql_where(scene, |_| true, test)
}

/// The same, but for stores for development on this machine.
fn sql_unless_own<'a>(scene: &Scene<'a>, test: fn(&[String]) -> bool) -> Found<'a> {
    sql_where(scene, |inv| !is_own_client(inv, scene), test)
}

/// Whether the statements of a text go over to another database than the one that the client was given, not one for tests.
fn leaves(text: &str) -> bool {
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
fn only_scratch(text: &str, test: fn(&[String]) -> bool) -> bool {
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
fn tables_of(words: &[String]) -> Option<&[String]> {
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

fn is_scratch_table(name: &str) -> bool {
    let (base, table) = name.rsplit_once('.').unwrap_or(("", name));
    is_scratch(base)
        || ["TMP_", "TEMP_", "CACHE_"].iter().any(|front| table.starts_with(front))
        || table == "CACHE"
        || table.ends_with("_CACHE")
}

/// Whether a client works on a store for development on this machine, by what it is given or by the variables around it.
fn is_own_client(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let stays = || !texts(inv, scene).iter().any(|text| leaves(text));
    let by_variable = || {
        inv.operands.is_empty()
            && names_with(inv).is_empty()
            && env_names(inv, scene, is_own)
            && place_of(inv, scene) != Place::Elsewhere
    };
    (is_own_store(inv, scene) || by_variable()) && stays()
}

/// The same, of the clients for which `counts` holds.
fn sql_where<'a>(
    scene: &Scene<'a>,
    counts: impl Fn(&Invocation) -> bool,
    test: fn(&[String]) -> bool,
) -> Found<'a> {
    if let Some(text) = given_to_tool(scene)
        && scripts::strings(text).iter().any(|text| any_statement(text, test))
    {
        return Found::yes(text);
    }
    sql_by_client(scene, counts, test)
}

/// The same, of statements that a client is given in a command.
fn sql_by_client<'a>(
    scene: &Scene<'a>,
    counts: impl Fn(&Invocation) -> bool,
    test: fn(&[String]) -> bool,
) -> Found<'a> {
    let found = scene.running(|inv| runs(inv, CLIENTS) || runs(inv, SHELLS)).find(|inv| {
        let client = runs(inv, CLIENTS) && !is_local_copy(inv);
        let shell = runs(inv, SHELLS) && inv.args.iter().any(|arg| arg.known() == Some("dbshell"));
        if !client && !shell {
            return false;
        }
        let texts = texts(inv, scene);
        let loses = |text: &&String| any_statement(text, test) && !is_rolled_back(inv, text);
        texts.iter().any(|text| loses(&text))
            && counts(inv)
            && !(texts.iter().filter(loses).all(|text| only_scratch(text, test))
                && place_of(inv, scene) != Place::Elsewhere)
            && (!(client && is_on_scratch(inv) || is_at_tests(inv, scene))
                || texts.iter().any(|text| leaves(text)))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// The same of statements as they are written, with no regard to which database it is.
fn sql_anywhere<'a>(scene: &Scene<'a>, test: fn(&str) -> bool) -> Found<'a> {
    if let Some(text) = given_to_tool(scene)
        && scripts::strings(text).iter().any(|text| statements(text).any(test))
    {
        return Found::yes(text);
    }
    let found = scene.first(CLIENTS, |inv| texts(inv, scene).iter().any(|text| statements(text).any(test)));
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
            c if c.is_alphanumeric() || c == '_' || c == '.' => plain.push(c),
            _ => plain.push(' '),
        }
    }
    let mut words: Vec<String> = plain.split_whitespace().map(str::to_owned).collect();
    // `ShopTest` is a name of two words.
    if let [drop, what, names @ ..] = words.as_mut_slice()
        && drop.eq_ignore_ascii_case("drop")
        && (what.eq_ignore_ascii_case("database") || what.eq_ignore_ascii_case("schema"))
    {
        for name in names.iter_mut().filter(|name| !name.eq_ignore_ascii_case("exists")) {
            *name = apart(name);
        }
    }
    words.iter_mut().for_each(|word| word.make_ascii_uppercase());
    words
}

fn flushed<'a>(scene: &Scene<'a>) -> Found<'a> {
    let flush = |word: &str| word.eq_ignore_ascii_case("flushall") || word.eq_ignore_ascii_case("flushdb");
    // `echo FLUSHALL | nc redis 6379`
    let sent = scene.first_of(
        |program| lists::NETCATS.contains(&program) || program == "telnet",
        |inv| {
            let told = |word: &str| {
                flush(word) || word.eq_ignore_ascii_case("flush_all") || word.eq_ignore_ascii_case("shutdown")
            };
            inv.args.iter().any(|arg| matches!(arg.known(), Some("6379" | "6380" | "11211")))
                && input_of(inv, scene).iter().any(|text| {
                    let text = text.replace("\\r", " ").replace("\\n", " ");
                    text.split(|c: char| !c.is_ascii_alphabetic() && c != '_').any(told)
                })
        },
    );
    if let Some(inv) = sent {
        return Found::yes(&inv.text);
    }
    flushed_by_client(scene, Whose::Others)
}

/// A client of a key-value store empties it.
fn flushed_by_client<'a>(scene: &Scene<'a>, whose: Whose) -> Found<'a> {
    let flush = |word: &str| word.eq_ignore_ascii_case("flushall") || word.eq_ignore_ascii_case("flushdb");
    let is = |inv: &Invocation| {
        if is_in_test_container(inv, scene) {
            Whose::Tests
        } else if is_own_keys(inv, scene) {
            Whose::Own
        } else {
            Whose::Others
        }
    };
    let every = |inv: &&Invocation| {
        runs(inv, REDIS) && inv.args.iter().any(|arg| arg.known() == Some("*"))
            || inv.args.iter().any(|arg| arg.known() == Some("--scan"))
                && !inv.args.windows(2).any(|pair| match pair {
                    [option, only] if option.known() == Some("--pattern") => {
                        !only.text().trim_matches(['*', '?']).is_empty()
                    }
                    _ => false,
                })
    };
    let empties = |inv: &Invocation| {
        let deletes = inv
            .operands
            .first()
            .and_then(Arg::known)
            .is_some_and(|word| word.eq_ignore_ascii_case("del") || word.eq_ignore_ascii_case("unlink"));
        if deletes
            && scene
                .invocations()
                .iter()
                .filter(|other| {
                    other.pipeline == inv.pipeline && other.stage < inv.stage || other.feeds.is_some()
                })
                .any(|other| every(&other))
        {
            return true;
        }
        let scripted = texts(inv, scene).iter().any(|text| {
            let mut words = text.split(|c: char| !c.is_ascii_alphabetic());
            text.contains("call(")
                && (words.any(flush)
                    || text.contains("'*'") && (text.contains("'del'") || text.contains("'unlink'")))
        });
        if scripted {
            return true;
        }
        let given = inv.operands.first().and_then(Arg::known).is_some_and(flush);
        given
            || (inv.operands.is_empty()
                && texts(inv, scene).iter().any(|text| text.split_whitespace().any(flush)))
    };
    let found = scene.first(REDIS, |inv| empties(inv) && is(inv) == whose);
    Found::from(found.map(|inv| inv.text.as_str()))
}

const FETCHERS: &[&str] = &["curl"];

/// Words that empty or stop a store, in a text that is sent to it.
fn says_flush(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let plain = lower
        .replace("\\r", " ")
        .replace("\\n", " ")
        .replace("%20", " ")
        .replace("%0d", " ")
        .replace("%0a", " ");
    plain
        .split(|c: char| !c.is_ascii_alphabetic() && c != '_')
        .any(|word| matches!(word.trim_start_matches('_'), "flushall" | "flushdb" | "flush_all" | "shutdown"))
}

/// `gopher://` and `dict://` carry whatever stands in the path to a store.
fn flushed_by_address<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(FETCHERS, |inv| {
        inv.args.iter().any(|arg| {
            let text = arg.text();
            (text.starts_with("gopher://") || text.starts_with("dict://")) && says_flush(&text)
        })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// `printf FLUSHALL > /dev/tcp/localhost/6379`
fn flushed_over_socket<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.invocations().iter().find(|inv| {
        let store = |target: &Target| {
            target
                .text()
                .strip_prefix("/dev/tcp/")
                .is_some_and(|place| ["/6379", "/6380", "/11211"].iter().any(|port| place.ends_with(port)))
        };
        inv.writes.iter().any(|(target, _)| store(target))
            && inv.args.iter().any(|arg| says_flush(&arg.text()))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// Everything in a graph, or a graph with all that is in it.
fn graph_deleted<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(GRAPHS, |inv| {
        texts(inv, scene).iter().flat_map(|text| text.split(';')).any(|statement| {
            let words = words_of(statement);
            let has = |word: &str| words.iter().any(|one| one == word);
            has("MATCH") && has("DELETE") && !has("WHERE") && !statement.contains(['{', ':'])
                || starts(&words, &["DROP", "DATABASE"])
                || contains_word(statement, "._dropDatabase(")
                || contains_word(statement, "._drop(")
                || contains_word(statement, "g.V().drop(")
        })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
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
            [
                "dropDatabase(",
                ".drop(",
                "deleteMany({})",
                "remove({})",
                "dropUser(",
                "dropAllUsers",
                "dropAllRoles",
                "updateMany({},",
                "].drop(",
                "dropDatabase\"](",
                "dropDatabase'](",
                "{dropDatabase:",
                "{drop:",
                "remove({},",
                "deleteMany()",
                "dropCollection(",
                "deleteMany({},",
                "shutdownServer(",
            ]
            .iter()
            .any(|word| text.contains(word))
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

/// The call says itself that it is about the database of the tests.
pub(super) fn is_for_tests(scene: &Scene<'_>) -> bool {
    *scene.for_tests.get_or_init(|| says_tests(scene.command_line()))
}

fn says_tests(line: &str) -> bool {
    // Over several lines it says the same.
    let line = line.replace("\\\n", " ");
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    [
        "RAILS_ENV=test",
        "MIX_ENV=test",
        "NODE_ENV=test",
        "APP_ENV=test",
        "--env=test",
        "--env test",
        "DJANGO_SETTINGS_MODULE=test",
        "RACK_ENV=test",
        ".settings.test",
        "jdbc:h2:mem:",
        "--environment=test",
        "-e test",
        "-e .env.test",
        "--env=ci",
        "--context Test",
    ]
    .iter()
    .any(|word| line.contains(word))
        || sets_tests(&line)
}

/// An option or a variable chooses settings or an environment that are named for tests.
fn sets_tests(line: &str) -> bool {
    const ENDS: &[&str] = &["--settings", "--env", "_ENV", "_ENVIRONMENT", "SETTINGS_MODULE"];
    let named = |name: &str, value: &str| ENDS.iter().any(|end| name.ends_with(end)) && is_scratch(value);
    let words = || line.split(' ');
    words().filter_map(|word| word.split_once('=')).any(|(name, value)| named(name, value))
        || words().zip(words().skip(1)).any(|(name, value)| {
            name == "--settings" && is_scratch(value)
                || name == "--schema"
                    && value.ends_with(".prisma")
                    && is_scratch(value.rsplit('/').next().unwrap_or_default())
        })
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

/// The databases that options name.
fn names_with(inv: &Invocation) -> Vec<String> {
    const OPTIONS: &[&str] = &[
        "-d",
        "--dbname",
        "-D",
        "--database",
        "--db",
        "--database-url",
        "-database",
        "--url",
        "-url",
        "--uri",
        "--connection",
        "-Dflyway.url",
        "-configFiles",
        "-Dflyway.configFiles",
        "--defaults-file",
        "--defaultsFile",
    ];
    const KEYS: &[&str] = &["Database=", "Initial Catalog=", "databaseName=", "dbname="];
    let named = |value: &str| {
        // `Host=…;Database=NAME`
        let part = |part: &str| KEYS.iter().find_map(|key| part.trim().strip_prefix(key)).map(str::to_owned);
        let named = value.split([';', ' ']).find_map(part);
        let address = named.as_deref().unwrap_or(value).split('?').next().unwrap_or_default();
        address.rsplit('/').next().unwrap_or_default().to_owned()
    };
    let words = deeds::known_words(inv);
    let apart = words.windows(2).filter_map(|pair| match pair {
        [option, value] if OPTIONS.contains(option) => Some(named(value)),
        _ => None,
    });
    let joined = words.iter().filter_map(|word| word.split_once('='));
    let joined = joined.filter(|(option, _)| OPTIONS.contains(option)).map(|(_, value)| named(value));
    // An address needs no option.
    let told = |word: &str| {
        word.contains("://") || KEYS.iter().any(|key| word.contains(key)) || word.ends_with(".db")
    };
    let alone = inv.operands.iter().filter_map(Arg::known).filter(|word| told(word)).map(named);
    apart.chain(joined).chain(alone).collect()
}

/// A client is given no database but one that nobody misses.
fn is_on_scratch(inv: &Invocation) -> bool {
    let named = |arg: &Arg| {
        let Some(text) = arg.known().filter(|text| !text.contains(' ')) else { return false };
        let text = text.split_once('=').map_or(text, |(_, value)| value);
        text == ":memory:"
            || text.starts_with("/tmp/")
            || is_scratch(text.rsplit('/').next().unwrap_or_default())
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

/// A client is told to start a shell.
fn shell_started<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(CLIENTS, |inv| {
        texts(inv, scene).iter().flat_map(|text| text.lines()).any(|line| {
            let line = line.trim();
            let told =
                ["\\!", ".shell", ".system", "system", "!"].iter().find_map(|word| line.strip_prefix(word));
            let mut words = told.unwrap_or_default().split_whitespace();
            let program = words.next().and_then(|word| word.rsplit('/').next()).unwrap_or_default();
            is_shell(program)
        })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// The copy of a hosted database that the tool keeps beside the project.
fn is_local_copy(inv: &Invocation) -> bool {
    let told = |word: &str| inv.args.iter().any(|arg| arg.known() == Some(word));
    inv.program == "wrangler" && told("--local") && !told("--remote")
}

fn store_opened<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(REDIS, |inv| {
        let words: Vec<String> =
            deeds::known_words(inv).iter().map(|word| word.to_ascii_lowercase()).collect();
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
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// Ports of stores that are deleted from by plain requests.
const PORTS: &[&str] =
    &["9200", "9201", "5984", "6333", "8983", "19530", "8529", "7700", "8108", "2379", "8500"];

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
            (deletes && store && !one_key && !is_scratch(path) || by_query || schema || base || index)
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

/// `manage.py sqlflush` prints statements; what comes behind it may run them.
fn only_prints(inv: &Invocation, scene: &Scene<'_>) -> bool {
    inv.args.iter().any(|arg| arg.known() == Some("sqlflush"))
        && inv.feeds.is_none()
        && !scene.invocations().iter().any(|other| other.pipeline == inv.pipeline && other.stage > inv.stage)
}

fn framework_reset<'a>(scene: &Scene<'a>) -> Found<'a> {
    const PAIRS: &[(&str, &str)] = &[
        ("artisan", "migrate:fresh"),
        ("artisan", "migrate:reset"),
        ("artisan", "migrate:refresh"),
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
        let words: Vec<&str> =
            std::iter::once(inv.program.as_str()).chain(inv.args.iter().filter_map(Arg::known)).collect();
        // One step back is what migrations are tried with.
        if words.contains(&"supabase") && words.contains(&"--local") {
            return false;
        }
        let step = words.contains(&"migrate:rollback") && !words.contains(&"--all");
        let is_pair = |pair: &[&str]| {
            let [a, b] = pair else { return false };
            PAIRS.iter().any(|(x, y)| a.rsplit('/').next() == Some(x) && b == y)
        };
        // Last, because it looks at the whole command line.
        !step && words.windows(2).any(is_pair) && !env_is_scratch(inv, scene)
    });
    let found = found.filter(|_| !is_for_tests(scene));
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
