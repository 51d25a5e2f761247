//! Databases and queues.

use super::{Operands, Operation, Program, p};

const PSQL: &str = "-c --command -d --dbname -f:r --file:r -h --host -p --port -U --username -v --set -o:w --output:w -L:w --log-file:w -F -R -P -T";
const MYSQL: &str = "-e --execute -h --host -P --port -u --user -D --database -S --socket --defaults-file:r --defaults-extra-file:r -p? --password?";
const DUMP: &str = "-f:w --file:w -h --host -p --port -U --username -d --dbname -t --table -n --schema -F --format -j --jobs";
const REDIS: &str =
    "+ -h -p -s -a -u -n -r -i -x! --user --pass --eval:r --rdb:w --csv! --raw! --tls! --scan! --bigkeys!";
const MONGO: &str =
    "--eval -f:r --file:r --host --port -u --username -p --password --authenticationDatabase --quiet!";

const fn db(name: &'static str, options: &'static str) -> Program {
    p(name, options, Operation::Process, Operands::Text)
}

#[rustfmt::skip]
pub(super) const TABLE: &[Program] = &[
    db("atlas", ""),
    db("bcp", ""),
    db("clickhouse", "-q --query"),
    db("clickhouse-client", "-q --query -h --host --port -u --user -d --database"),
    db("cqlsh", "-e --execute -f:r --file:r -u -p -k"),
    db("createdb", "-h -p -U -O -T"),
    db("createuser", "-h -p -U"),
    db("dbmate", ""),
    db("dbt", ""),
    db("diesel", ""),
    db("dropdb", "-h -p -U --if-exists! -f!"),
    db("dropuser", "-h -p -U"),
    p("duckdb", "-c -cmd -s -init:r", Operation::Process, Operands::Text).dash(),
    db("elasticsearch", ""),
    db("etcdctl", ""),
    db("flyway", ""),
    db("goose", ""),
    p("great_expectations", "", Operation::Process, Operands::Text),
    db("influx", "-execute -database"),
    db("initdb", "-D -U"),
    db("kafka-console-consumer", ""),
    db("kafka-console-consumer.sh", ""),
    db("kafka-console-producer", ""),
    db("kafka-console-producer.sh", ""),
    db("kafka-topics", ""),
    db("kafka-topics.sh", ""),
    db("kcat", "-b -t -o -c -p"),
    db("liquibase", ""),
    db("mariadb", MYSQL),
    db("mariadb-dump", MYSQL),
    db("memcached", ""),
    db("migrate", "-path -database"),
    db("minio", ""),
    db("mongo", MONGO),
    db("mongod", ""),
    db("mongodump", "-o --out --uri -d --db -c --collection"),
    db("mongoexport", "--uri -d --db -c -o:w --out:w"),
    db("mongoimport", "--uri -d --db -c --file:r"),
    db("mongorestore", "--uri -d --db --drop!"),
    db("mongosh", MONGO),
    db("mosquitto_pub", "-h -p -t -m -f:r"),
    db("mosquitto_sub", "-h -p -t"),
    db("mycli", MYSQL),
    db("mysql", MYSQL),
    db("mysqladmin", MYSQL),
    p("mysqlcheck", "", Operation::Process, Operands::Text),
    db("mysqld", ""),
    db("mysqldump", MYSQL),
    db("mysqlimport", MYSQL),
    db("nats", ""),
    p("papermill", "", Operation::Process, Operands::Text),
    db("pg_ctl", "-D -l:w -o -m -w!"),
    db("pg_ctlcluster", ""),
    db("pg_dump", DUMP),
    db("pg_dumpall", DUMP),
    db("pg_isready", "-h -p -U -d -t"),
    db("pg_restore", DUMP),
    db("pgcli", PSQL),
    db("psql", PSQL),
    db("rabbitmqctl", ""),
    db("redis-cli", REDIS),
    db("redis-server", ""),
    db("snowsql", "-q -f:r -a -u -d"),
    db("sqlcmd", "-S -U -P -Q -q -i:r -o:w -d"),
    db("sqlfluff", ""),
    p("sqlite", "-cmd -separator", Operation::Process, Operands::Text).dash(),
    p("sqlite3", "-cmd -separator -nullvalue -init:r", Operation::Process, Operands::Text).dash(),
    db("sqlplus", ""),
    db("sqlx", ""),
    db("vacuumdb", "-h -p -U -d"),
    db("valkey-cli", REDIS),
];
