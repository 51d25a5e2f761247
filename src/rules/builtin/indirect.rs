//! The same harm by a program seldom used for it, or one thing at a time: lists that are emptied in a loop, what is fetched by rare
//! clients and run, and operations of code hosts that nobody takes back.

mod fetched;
mod hubs;
mod listed;

use super::cloud::HUBS;
use super::{lists, operations, predicate, run};
use crate::domain::{Action, EffectKind, Severity, Target, Verdict};
use crate::rules::Invocation;
use crate::rules::facts::operations::{HOLDS_FIRST_PROCESS, RUNS_BUNDLE};
use crate::rules::matcher::{
    Class, Code, Command, Found, Instead, RULE, Rule, Scene, Trigger, When, flag_value, has_flag, host_of,
    input_of, is_known, runs, runs_code, runs_shell,
};
use crate::shell::Arg;
use fetched::{compose_from_input, fetched_and_applied, metadata_compiled, system_from_address};
use hubs::{HUB_DELETES, HUB_HOSTS, hub_emptied, hub_lost, repository_moved};
use listed::{deleted_by_desktop, listed_and_deleted, listed_overwritten};

const COMPOSERS: &[&str] = &["docker", "docker-compose", "podman", "podman-compose"];

words!("builtin/indirect");

const FINDERS: &[&str] = &["rmlint", "fdupes", "jdupes", "rdfind"];

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "cloud.hosting-lost",
        severity: Severity::Critical,
        reason: "takes something away on the code host for everybody, or passes its protections by",
        instead: Some(Instead::Command("gh secret list")),
        when: &[
            predicate("lost_on_a_code_host", Trigger::programs(HUBS), hub_lost),
            predicate("listed_on_a_code_host", Trigger::programs(HUBS), hub_emptied),
            When::Code(Code { programs: &[], all: &[HUB_HOSTS, HUB_DELETES] }),
        ],
        ..RULE
    },
    Rule {
        id: "cloud.emptied-one-by-one",
        severity: Severity::Critical,
        reason: "lists all of a kind and deletes each",
        instead: Some(Instead::Advice("name the one thing that is to go")),
        when: &[predicate(
            "listed_and_deleted",
            Trigger::programs(lists::CONTAINER_CLIENTS),
            listed_and_deleted,
        )],
        ..RULE
    },
    Rule {
        id: "cloud.hosts-emptied",
        severity: Severity::Critical,
        reason: "deletes files or packages on every machine of a list",
        instead: Some(Instead::Command("ansible {1} --list-hosts")),
        when: &[predicate("ansible_takes_away", Trigger::programs(&["ansible"]), ansible_takes_away)],
        ..RULE
    },
    Rule {
        id: "cloud.compose-leads-out",
        severity: Severity::Critical,
        reason: "starts containers that lead out of themselves: privileged, or with the daemon's socket",
        instead: Some(Instead::Command("docker compose config")),
        when: &[predicate("compose_from_its_input", Trigger::programs(COMPOSERS), compose_from_input)],
        ..RULE
    },
    Rule {
        id: "network.rare-client-run",
        severity: Severity::Critical,
        reason: "runs a file that the same call fetches from another machine",
        instead: Some(Instead::Advice("fetch the file, read it, and let the person run it")),
        when: &[predicate(
            "fetched_by_a_rare_client",
            Trigger::programs(RARE_CLIENTS).or(Trigger::programs(&["wget", "wget2", "aria2c"])),
            rare_client_run,
        )],
        ..RULE
    },
    Rule {
        id: "network.fetched-statements",
        reason: "feeds what a host that nobody vouches for sends into a program that does what it says",
        instead: Some(Instead::Advice("fetch it into a file, read it, and apply that file")),
        when: &[predicate("fetched_and_applied", Trigger::programs(lists::DOWNLOADERS), fetched_and_applied)],
        ..RULE
    },
    Rule {
        id: "network.metadata-compiled",
        severity: Severity::Critical,
        reason: "builds or runs a program that asks the cloud's metadata service for credentials",
        instead: Some(Instead::Advice("ask the person for what the program needs to know of the machine")),
        when: &[predicate("metadata_in_a_source", Trigger::programs(COMPILERS), metadata_compiled)],
        ..RULE
    },
    Rule {
        id: "system.first-process",
        severity: Severity::Critical,
        reason: "takes time or means away from the first process, on which all others depend",
        instead: Some(Instead::Advice("tell the person what is to be done, and let them do it")),
        when: &[predicate("first_process_tied_down", Trigger::rows(HOLDS_FIRST_PROCESS), |scene| {
            operations::done(scene, HOLDS_FIRST_PROCESS)
        })],
        ..RULE
    },
    Rule {
        id: "files.deleted-by-a-desktop",
        severity: Severity::Critical,
        reason: "has a desktop or a script language of the desktop delete whole directories of the person's",
        instead: Some(Instead::Advice("tell the person what is to be done, and let them do it")),
        when: &[predicate(
            "deleted_by_a_desktop",
            Trigger::programs(&["swift", "osascript"]),
            deleted_by_desktop,
        )],
        ..RULE
    },
    Rule {
        id: "files.sources-overwritten",
        reason: "overwrites or deletes the files of the project one by one",
        instead: Some(Instead::Command("git ls-files")),
        when: &[predicate(
            "listed_files_overwritten",
            Trigger::programs(&["tee", "rmlint.sh"]),
            listed_overwritten,
        )],
        ..RULE
    },
    Rule {
        id: "files.sources-deleted",
        verdict: Verdict::Modify,
        reason: "deletes all sources of a kind, wherever they lie in the project",
        instead: Some(Instead::Advice("tell the person what is to be done, and let them do it")),
        when: &[predicate("sources_deleted", Trigger::kinds(&[EffectKind::FileDeletion]), sources_deleted)],
        ..RULE
    },
    Rule {
        id: "tools.repository-moved",
        severity: Severity::Critical,
        reason: "takes the history of the project out of its place",
        instead: Some(Instead::Advice("leave .git where it is, and clone it where a copy is needed")),
        when: &[predicate("repository_moved_by_a_tool", Trigger::TOOL, repository_moved)],
        ..RULE
    },
    Rule {
        id: "tools.daemon-asked",
        reason: "asks the daemon of containers or of a cluster's node, which does whatever it is asked",
        instead: Some(Instead::Advice("have the person look at the containers")),
        when: &[predicate("daemon_asked_by_a_tool", Trigger::URL.or(Trigger::TOOL), daemon_asked)],
        ..RULE
    },
    Rule {
        id: "packages.registry-turned",
        severity: Severity::Critical,
        reason: "has every later install come from a host where anybody on the way can change it",
        instead: Some(Instead::Command("npm config list")),
        when: &[predicate("registry_set_to_a_plain_address", Trigger::programs(MANAGERS), registry_turned)],
        ..RULE
    },
    Rule {
        id: "packages.system-from-address",
        verdict: Verdict::Modify,
        reason: "installs a system package from an address without encryption, with its scripts as root",
        instead: Some(Instead::Advice("install the package from the distribution's sources")),
        when: &[predicate("system_package_from_address", Trigger::programs(SYSTEM), system_from_address)],
        ..RULE
    },
    Rule {
        id: "privilege.pager-as-root",
        verdict: Verdict::Modify,
        severity: Severity::Medium,
        reason: "opens a pager as root, out of which any command can be run",
        instead: Some(Instead::Advice("read it with your own rights")),
        when: &[When::Command(Command { privileged: true, ..run(&["less", "more", "most", "man", "view"]) })],
        ..RULE
    },
    Rule {
        id: "persistence.lifecycle-script",
        verdict: Verdict::Modify,
        reason: "has every install of this package run a command",
        instead: Some(Instead::Command("npm pkg get scripts")),
        when: &[predicate("lifecycle_script_set", Trigger::programs(&["npm", "pnpm"]), lifecycle_script)],
        ..RULE
    },
    Rule {
        id: "privilege.low-level-runtime",
        verdict: Verdict::Modify,
        reason: "starts a container past the daemon and its limits",
        instead: Some(Instead::Advice("tell the person what is to be done, and let them do it")),
        when: &[predicate("container_by_its_runtime", Trigger::rows(RUNS_BUNDLE), |scene| {
            operations::done(scene, RUNS_BUNDLE)
        })],
        ..RULE
    },
    Rule {
        id: "network.home-copied-away",
        reason: "copies the person's own directories to a store that is not this machine",
        instead: Some(Instead::Advice("name the files of the project that are to be copied")),
        when: &[predicate(
            "home_copied_to_a_store",
            Trigger::programs(&["rclone", "aws", "gsutil"]),
            home_copied,
        )],
        ..RULE
    },
];

const SYSTEM: &[&str] = &["rpm", "dnf", "yum", "zypper"];

fn first_of<'a>(scene: &Scene<'a>, test: impl Fn(&Invocation) -> bool) -> Found<'a> {
    Found::from(scene.invocations().iter().find(|inv| test(inv)).map(|inv| inv.text.as_str()))
}

fn ansible_takes_away<'a>(scene: &Scene<'a>) -> Found<'a> {
    first_of(scene, |inv| {
        let module = flag_value(inv, &["-m", "--module-name"]).map(Arg::text).unwrap_or_default();
        let told = flag_value(inv, &["-a", "--args"]).map(Arg::text).unwrap_or_default();
        runs(inv, &["ansible"])
            && [
                "file",
                "user",
                "mount",
                "lvol",
                "mysql_db",
                "postgresql_db",
                "package",
                "apt",
                "yum",
                "docker_volume",
            ]
            .contains(&module.rsplit('.').next().unwrap_or_default())
            && told.contains("state=absent")
            && !has_flag(inv, "--check")
            && !has_flag(inv, "-C")
    })
}

fn rare_client_run<'a>(scene: &Scene<'a>) -> Found<'a> {
    let all = scene.invocations();
    let listed = |inv: &Invocation| {
        runs(inv, &["wget", "wget2", "aria2c"]) && (has_flag(inv, "-i") || has_flag(inv, "--input-file"))
    };
    let fetches = |inv: &Invocation| runs(inv, RARE_CLIENTS) || listed(inv);
    let Some(at) = all.iter().position(fetches) else { return Found::No };
    let Some(client) = all.get(at) else { return Found::No };
    let mut told: Vec<String> = client.args.iter().map(Arg::to_text).collect();
    told.extend(input_of(client, scene));
    let names = |file: &str| {
        let name = file.rsplit('/').next().unwrap_or_default();
        !name.is_empty()
            && told.iter().any(|text| {
                text.split(|c: char| c.is_whitespace() || matches!(c, '/' | ';' | '"' | '\''))
                    .any(|word| word == name)
            })
    };
    let found = all.iter().skip(at + 1).find(|inv| {
        let runner = runs_shell(inv) || runs_code(inv) || runs(inv, lists::RUN_IN_SHELL);
        let word = inv.word.text();
        let script = inv.operands.first().filter(|_| runner && !has_flag(inv, "-c")).map(Arg::text);
        let run = script.or_else(|| word.starts_with("./").then_some(word));
        run.is_some_and(|file| names(&file) || listed(client) && (runs_shell(inv) || file.starts_with("./")))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

fn registry_turned<'a>(scene: &Scene<'a>) -> Found<'a> {
    first_of(scene, |inv| {
        if !runs(inv, MANAGERS) {
            return false;
        }
        let words: Vec<String> = inv.args.iter().map(Arg::to_text).collect();
        let sets = words.iter().any(|word| word == "set" || word == "config" || word == "add");
        let keyed = words.iter().any(|word| {
            let key = word.split('=').next().unwrap_or_default();
            key.ends_with("registry")
                || key.starts_with("repo.")
                || key.ends_with("index-url")
                || key == "npmRegistryServer"
        });
        let plain = words.iter().any(|word| {
            let url = word.split_once('=').map_or(word.as_str(), |(_, url)| url);
            let host = host_of(url);
            url.starts_with("http://") && host.contains('.') && !is_known(&host, scene.view.policy)
        });
        sets && keyed && plain
    })
}

fn home_copied<'a>(scene: &Scene<'a>) -> Found<'a> {
    first_of(scene, |inv| {
        let verb = inv
            .args
            .iter()
            .find_map(|arg| arg.known().filter(|word| !word.starts_with('-')))
            .unwrap_or_default();
        let copies =
            inv.program == "rclone" && matches!(verb, "copy" | "sync" | "move" | "copyto" | "moveto");
        let places: Vec<String> =
            inv.args.iter().skip(1).map(Arg::to_text).filter(|word| !word.starts_with('-')).collect();
        let [from, to, ..] = places.as_slice() else { return false };
        let home = scene.view.facts.places.home.as_deref().unwrap_or_default();
        let inside = |path: &str| {
            let rest = path
                .strip_prefix("~")
                .or_else(|| Some(path).filter(|_| !home.is_empty())?.strip_prefix(home));
            rest.is_some_and(|rest| {
                let rest = rest.trim_start_matches('/');
                let first = rest.split('/').next().unwrap_or_default();
                rest.is_empty()
                    || first.starts_with('.')
                    || matches!(
                        first,
                        "Documents" | "Desktop" | "Pictures" | "Photos" | "Downloads" | "Library"
                    )
            })
        };
        copies && inside(from) && to.contains(':') && !from.contains(':')
    })
}

fn sources_deleted<'a>(scene: &Scene<'a>) -> Found<'a> {
    let roots: Vec<&str> = scene.view.facts.places.roots().collect();
    let found = scene.effects().find(|(effect, classes)| {
        let Target::Path { path, glob, .. } = &effect.target else { return false };
        let rest = roots.iter().find_map(|root| path.strip_prefix(root)?.strip_prefix('/'));
        let Some(rest) = rest.filter(|_| effect.kind == EffectKind::FileDeletion && !effect.disposable)
        else {
            return false;
        };
        let kind = path.rsplit_once("*.").map_or("", |(_, ending)| ending);
        let all = *glob && rest.contains("**") && SOURCES.contains(&kind);
        all && !classes.any(&[Class::Outside, Class::Unknown])
    });
    found.map_or(Found::No, |(effect, _)| Found::yes(effect.target.text()))
}

fn daemon_asked<'a>(scene: &Scene<'a>) -> Found<'a> {
    let Action::Fetch { url, .. } = &scene.view.call.action else { return Found::No };
    let authority = url.split_once("://").and_then(|(_, rest)| rest.split('/').next()).unwrap_or_default();
    let port = authority.rsplit_once(':').map_or("", |(_, port)| port);
    if matches!(port, "2375" | "2376" | "4243" | "10250" | "10255" | "2379") {
        Found::yes(url)
    } else {
        Found::No
    }
}

fn lifecycle_script<'a>(scene: &Scene<'a>) -> Found<'a> {
    const KEYS: &[&str] = &["scripts.preinstall=", "scripts.install=", "scripts.postinstall="];
    const NAMES: &[&str] = &["preinstall", "install", "postinstall", "prepare"];
    first_of(scene, |inv| {
        let words: Vec<String> = inv.args.iter().map(Arg::to_text).collect();
        runs(inv, &["npm", "pnpm"])
            && (words.iter().any(|word| word == "pkg")
                && words.iter().any(|word| word == "set")
                && words.iter().any(|word| KEYS.iter().any(|key| word.starts_with(key)))
                || matches!(words.as_slice(), [set, name, ..] if set == "set-script" && NAMES.contains(&name.as_str())))
    })
}
