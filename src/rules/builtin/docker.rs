//! What is kept for containers on this machine: volumes, images, and all containers at once.

use super::standing::{is_own, is_scratch, names_live};
use super::{predicate, sub};
use crate::domain::{Severity, Verdict};
use crate::rules::Invocation;
use crate::rules::matcher::{
    Command, Found, Instead, RULE, Rule, Scene, Trigger, When, asks_for_help, has_flag, runs,
};
use crate::shell::Arg;

const DOCKER: &[&str] = &["docker", "podman", "nerdctl", "finch"];

const COMPOSE: &[&str] = &["docker-compose", "podman-compose"];

/// Parts of the names of volumes in which a database or a backup is kept.
const DATA: &[&str] = &[
    "data", "pg", "postgres", "mysql", "mariadb", "mongo", "redis", "db", "backup", "elastic", "storage",
    "uploads",
];

/// Filters that leave only what is in nobody's use.
const UNUSED: &[&str] = &[
    "status=exited",
    "status=dead",
    "status=created",
    "dangling=true",
    "ancestor=",
    "name=",
    "label=",
    "reference=",
];

/// How much of what is there a command takes away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Taken {
    /// All volumes, or all containers that run.
    Lasting,
    /// All images, or all containers that it lets end first.
    Again,
}

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "cloud.docker-volumes-pruned",
        reason: "deletes the data of every container that does not run just now, also of other projects",
        instead: Some(Instead::Command("docker system df")),
        when: &[
            When::Command(sub(DOCKER, &["volume prune", "system reset"])),
            When::Command(Command { flags: &[&["--volumes"]], ..sub(DOCKER, &["system prune"]) }),
            When::Command(Command { flags: &[&["-a", "--all"]], ..sub(DOCKER, &["volume rm"]) }),
        ],
        fires: &[
            "docker system prune -a --volumes",
            "docker system prune --volumes -f",
            "docker volume prune -af",
            "podman system reset --force",
            "podman volume rm -a",
        ],
        silent: &[
            "docker volume ls",
            "docker system df -v",
            "docker system prune",
            "docker volume inspect data",
        ],
        ..RULE
    },
    Rule {
        id: "cloud.docker-all-removed",
        reason: "ends every container or deletes every volume on this machine, also those of other projects",
        instead: Some(Instead::Command("docker ps -a")),
        when: &[
            predicate("docker_removes_what_lasts", Trigger::programs(DOCKER), |scene| {
                every(scene, Taken::Lasting)
            }),
            predicate("data_volume_removed", Trigger::programs(DOCKER), |scene| volume_removed(scene, true)),
            When::Command(Command {
                flags: &[&["-a", "--all"], &["-f", "--force"]],
                ..sub(&["podman"], &["rm", "pod rm", "container rm"])
            }),
        ],
        fires: &[
            "docker rm -f $(docker ps -aq)",
            "docker ps -aq | xargs docker rm -fv",
            "docker kill $(docker ps -q)",
            "docker volume rm $(docker volume ls -q)",
            "docker volume rm pgdata",
            "docker service ls -q | xargs docker service rm",
            "podman rm -af",
        ],
        silent: &[
            "docker rm -f $(docker ps -aq --filter label=app=test)",
            "docker rm $(docker ps -aq -f status=exited)",
            "docker stop $(docker ps -q)",
            "docker volume rm app_test_pgdata",
            "docker rm -f web",
            "docker ps -aq | wc -l",
        ],
        ..RULE
    },
    Rule {
        id: "cloud.docker-prune",
        verdict: Verdict::Modify,
        reason: "deletes volumes or all unused images, also those of other projects",
        instead: Some(Instead::Command("docker system df")),
        when: &[
            predicate("volume_removed", Trigger::programs(DOCKER), |scene| volume_removed(scene, false)),
            When::Command(Command {
                flags: &[&["-a", "--all"]],
                ..sub(DOCKER, &["system prune", "image prune"])
            }),
            predicate(
                "composition_removed",
                Trigger::programs(DOCKER).or(Trigger::programs(COMPOSE)),
                composed,
            ),
            predicate("docker_removes_all", Trigger::programs(DOCKER), |scene| every(scene, Taken::Again)),
        ],
        fires: &[
            "docker system prune -a",
            "docker volume rm web_assets",
            "docker compose down -v",
            "docker stop $(docker ps -q)",
            "docker images -q | xargs docker rmi -f",
            "docker-compose down --volumes",
            "docker image prune -af",
        ],
        silent: &[
            "docker system df",
            "docker compose down",
            "docker rm web",
            "docker ps",
            "docker compose up -d",
            "docker system prune -f",
            "docker volume rm x_test",
            "docker volume rm proj_node_modules",
            "docker compose -f docker-compose.test.yml down -v",
            "docker compose -p ci down --volumes",
            "docker rmi $(docker images -f dangling=true -q)",
        ],
        ..RULE
    },
    Rule {
        id: "cloud.docker-tidy",
        verdict: Verdict::Warn,
        severity: Severity::Medium,
        reason: "deletes stopped containers, loose images or build caches, also those of other projects",
        instead: Some(Instead::Command("docker system df")),
        when: &[When::Command(sub(
            DOCKER,
            &[
                "system prune",
                "image prune",
                "container prune",
                "builder prune",
                "network prune",
                "buildx prune",
            ],
        ))],
        fires: &["docker system prune -f", "docker builder prune", "podman container prune -f"],
        silent: &["docker system df", "docker volume ls", "docker image ls"],
        ..RULE
    },
];

/// What the other command lists is narrowed to some, or to what is in nobody's use.
fn is_narrowed(other: &Invocation) -> bool {
    other.args.iter().map(Arg::text).any(|text| {
        let by = text.trim_start_matches("--filter=").trim_start_matches("-f");
        UNUSED.iter().any(|front| by.starts_with(front)) || text.starts_with("--latest") || text == "-l"
    })
}

/// Words behind the program and its group: `rm` of `docker container rm`.
fn verb(inv: &Invocation) -> &str {
    let mut words = inv.args.iter().filter_map(Arg::known).filter(|word| !word.starts_with('-'));
    match words.next().unwrap_or_default() {
        "container" | "image" => words.next().unwrap_or_default(),
        "service" => words.next().filter(|word| matches!(*word, "rm" | "remove")).map_or("", |_| "service"),
        "volume" => words.next().filter(|word| matches!(*word, "rm" | "remove")).map_or("", |_| "volume"),
        word => word,
    }
}

/// What another command lists in full is taken away.
fn every<'a>(scene: &Scene<'a>, taken: Taken) -> Found<'a> {
    let all = scene.invocations();
    let found = all.iter().enumerate().find(|(index, inv)| {
        if !runs(inv, DOCKER) {
            return false;
        }
        let forced = has_flag(inv, "-f") || has_flag(inv, "--force") || has_flag(inv, "-v");
        let takes = match verb(inv) {
            "volume" | "kill" | "service" => Some(Taken::Lasting),
            "rm" if forced => Some(Taken::Lasting),
            "rm" | "rmi" | "stop" => Some(Taken::Again),
            _ => None,
        };
        takes == Some(taken)
            && all.iter().any(|other| {
                let comes =
                    other.feeds == Some(*index) || other.pipeline == inv.pipeline && other.stage < inv.stage;
                let lists = other
                    .args
                    .iter()
                    .filter_map(Arg::known)
                    .take(2)
                    .any(|word| matches!(word, "ps" | "images" | "ls" | "list"));
                comes && lists && runs(other, DOCKER) && !is_narrowed(other)
            })
    });
    Found::from(found.map(|(_, inv)| inv.text.as_str()))
}

/// A volume deleted by name, unless by its name nobody misses it; with `data`, one in which data is kept by its name.
fn volume_removed<'a>(scene: &Scene<'a>, data: bool) -> Found<'a> {
    let found = scene.first(DOCKER, |inv| {
        let removes = verb(inv) == "volume" && !asks_for_help(inv);
        let names =
            || inv.args.iter().skip_while(|arg| !matches!(arg.known(), Some("rm" | "remove"))).skip(1);
        let names = || names().filter(|arg| !arg.prefix().starts_with('-'));
        let keeps = |arg: &Arg| {
            let name = arg.prefix().to_ascii_lowercase();
            DATA.iter().any(|part| name.contains(part)) || names_live(inv)
        };
        let missed = |arg: &&Arg| arg.known().is_none_or(|name| !is_scratch(name) && !is_filled_again(name));
        let mut missed = names().filter(missed).peekable();
        removes
            && if data {
                missed.any(|arg| keeps(arg) && !is_own(arg.prefix()))
            } else {
                missed.peek().is_some() || names().next().is_none()
            }
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// A volume that installing or building fills again.
fn is_filled_again(name: &str) -> bool {
    ["node_modules", "node-modules", "_cache", "-cache", "cargo-registry", "pip-cache"]
        .iter()
        .any(|end| name.ends_with(end))
}

/// A composition taken down with its volumes or images, unless it is one for tests.
fn composed<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.invocations().iter().find(|inv| {
        let words = || inv.args.iter().filter_map(Arg::known);
        let down = words().any(|word| word == "down")
            && (runs(inv, COMPOSE) || words().any(|word| word == "compose"));
        let wide = ["-v", "--volumes", "--rmi"].iter().any(|flag| has_flag(inv, flag));
        let for_tests = words().any(|word| !word.starts_with('-') && is_scratch(word));
        (runs(inv, COMPOSE) || runs(inv, DOCKER)) && down && wide && !for_tests
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}
