//! What others live by, named in the command: databases of production that are written to, deployments that are started anew.

use super::clusters::{self, KUBECTL};
use super::operations::{self, Operations};
use super::{predicate, standing};
use crate::domain::{Severity, Verdict};
use crate::rules::Invocation;
use crate::rules::Stdin;
use crate::rules::matcher::{
    Found, Instead, RULE, Rule, Scene, Trigger, flag_value, has_flag, has_sub, input_of, is_rehearsal,
};
use crate::shell::Arg;

/// Clients that are given statements.
const CLIENTS: &[&str] = &[
    "psql",
    "pgcli",
    "usql",
    "mysql",
    "mariadb",
    "mysqlsh",
    "sqlcmd",
    "clickhouse-client",
    "mongosh",
    "mongo",
];

/// Operations by which a database gets another shape or other rows.
const MIGRATED: Operations = &[
    (&["flyway"], &["migrate", "undo", "repair", "baseline", "clean"]),
    (&["liquibase"], &["update*", "rollback*", "drop-all"]),
    (
        &["prisma"],
        &[
            "migrate deploy",
            "migrate dev",
            "migrate reset",
            "migrate resolve",
            "db push",
            "db execute",
            "db seed",
        ],
    ),
    (&["alembic"], &["upgrade", "downgrade", "stamp"]),
    (&["dbmate"], &["up", "migrate", "down", "rollback", "drop", "load"]),
    (&["goose"], &["up*", "down*", "redo", "reset"]),
    (&["migrate"], &["up", "down", "goto", "force", "drop"]),
    (&["atlas"], &["migrate apply", "schema apply"]),
    (&["sqlx"], &["migrate run", "migrate revert", "database drop"]),
    (&["diesel"], &["migration run", "migration revert", "migration redo", "database reset"]),
    (&["knex"], &["migrate:latest", "migrate:up", "migrate:down", "migrate:rollback", "seed:run"]),
    (&["sequelize", "sequelize-cli"], &["db:migrate*", "db:seed*"]),
    (&["typeorm"], &["migration:run", "migration:revert", "schema:sync"]),
    (&["drizzle-kit"], &["push", "migrate"]),
    (&["rails", "rake"], &["db:migrate*", "db:rollback", "db:seed*"]),
    (&["pg_restore"], &["-d", "--dbname"]),
    (&["mongorestore", "mongoimport"], &["*"]),
];

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "database.live-changed",
        verdict: Verdict::Modify,
        reason: "changes a database that by its name others live by",
        instead: Some(Instead::Advice("show the person the statements or migrations, and let them run them")),
        when: &[
            predicate("live_database_told", Trigger::programs(CLIENTS), told),
            predicate("live_database_migrated", Trigger::rows(MIGRATED), |scene| {
                operations::done_where(scene, MIGRATED, names_live)
            }),
        ],
        fires: &[
            "psql \"$PROD_DATABASE_URL\" -f x.sql",
            "psql \"$PROD_DATABASE_URL\" < x.sql",
            "psql \"${PRODUCTION_DB}\" -c 'update x set a = 1 where id = 2'",
            "psql postgres://u@db.prod.x.example/app -f x.sql",
            "flyway -url=$PROD_URL migrate",
            "DATABASE_URL=$PROD_DATABASE_URL npx prisma migrate deploy",
        ],
        silent: &[
            "psql \"$PROD_DATABASE_URL\" -c 'select count(*) from x'",
            "psql \"$PROD_DATABASE_URL\" -c '\\d orders'",
            "psql \"$DATABASE_URL\" -f x.sql",
            "psql \"$STAGING_DATABASE_URL\" -f x.sql",
            "psql \"$DATABASE_URL\" -f products/prod_names.sql",
            "psql \"$PRODUCTS_URL\" -f x.sql",
            "flyway -url=$STAGING_URL migrate",
            "flyway -url=$PROD_URL info",
            "pg_dump \"$PROD_DATABASE_URL\" -s",
            "echo 'select 1' | psql \"$PROD_DATABASE_URL\"",
        ],
        ..RULE
    },
    Rule {
        id: "cloud.live-restarted",
        verdict: Verdict::Modify,
        reason: "starts anew what by its name others live by",
        instead: Some(Instead::Command("kubectl get pods")),
        when: &[predicate("live_deployment_restarted", Trigger::programs(KUBECTL), |scene| {
            restarted(scene, standing::names_live)
        })],
        fires: &[
            "kubectl -n prod rollout restart deploy/api",
            "kubectl --context prod-eu rollout restart deploy/api",
        ],
        silent: &[
            "kubectl -n prod rollout status deploy/api",
            "kubectl -n prod rollout history deploy/api",
            "kubectl -n dev rollout restart deploy/api",
            "kubectl rollout restart deploy/api",
        ],
        ..RULE
    },
    Rule {
        id: "cloud.shared-restarted",
        verdict: Verdict::Warn,
        severity: Severity::Low,
        reason: "starts anew what by its name others try things on",
        instead: Some(Instead::Command("kubectl get pods")),
        when: &[predicate("shared_deployment_restarted", Trigger::programs(KUBECTL), |scene| {
            restarted(scene, |inv| standing::names_shared(inv) && !standing::names_live(inv))
        })],
        fires: &[
            "kubectl -n staging rollout restart deploy/api",
            "kubectl --context uat rollout restart statefulset/db",
        ],
        silent: &[
            "kubectl -n staging rollout status deploy/api",
            "kubectl rollout restart deploy/api",
            "kubectl -n dev rollout restart deploy/api",
        ],
        ..RULE
    },
];

fn restarted<'a>(scene: &Scene<'a>, test: fn(&Invocation) -> bool) -> Found<'a> {
    let found = scene.first(KUBECTL, |inv| {
        has_sub(inv, "rollout restart") && !is_rehearsal(inv) && !clusters::is_local(inv, scene) && test(inv)
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// A client is given what changes rows or tables, or what is not known.
fn told<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(CLIENTS, |inv| names_live(inv) && changes(inv, scene));
    Found::from(found.map(|inv| inv.text.as_str()))
}

fn changes(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let statements = inv.flags.iter().filter(|flag| {
        matches!(
            flag.name.as_str(),
            "-c" | "--command" | "-e" | "--execute" | "-Q" | "-q" | "--query" | "--eval"
        )
    });
    let mut statements = statements.filter_map(|flag| flag.value.as_ref()).peekable();
    if statements.peek().is_some() {
        return statements.any(|text| text.known().is_none_or(is_change));
    }
    let by_file = ["-f", "--file", "-i"].iter().any(|flag| has_flag(inv, flag));
    let texts = input_of(inv, scene);
    let poured = match &inv.stdin {
        Stdin::Inherited => false,
        Stdin::Pipe | Stdin::Text(_) | Stdin::File(_) => {
            texts.is_empty() || texts.iter().any(|text| is_change(text))
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
