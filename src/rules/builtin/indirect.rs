//! The same harm by a program seldom used for it, or one thing at a time: lists that are emptied in a loop, what is fetched by rare
//! clients and run, and operations of code hosts that nobody takes back.

mod fetched;
mod hubs;
mod listed;

use super::cloud::HUBS;
use super::lists;
use crate::domain::{Action, EffectKind, Target, last_name};
use crate::rules::Invocation;
use crate::rules::matcher::{
    Class, Found, Scene, flag_value, has_flag, host_of, input_of, is_known, runs, runs_code, runs_shell,
};
use crate::shell::Arg;
use fetched::{compose_from_input, fetched_and_applied, metadata_compiled, system_from_address};
use hubs::{HUB_DELETES, HUB_HOSTS, hub_emptied, hub_lost, repository_moved};
use listed::{deleted_by_desktop, listed_and_deleted, listed_overwritten};

const COMPOSERS: &[&str] = &["docker", "docker-compose", "podman", "podman-compose"];

words!("builtin/indirect");

const FINDERS: &[&str] = &["rmlint", "fdupes", "jdupes", "rdfind"];

const SYSTEM: &[&str] = &["rpm", "dnf", "yum", "zypper"];

fn first_of<'a>(scene: &Scene<'a>, test: impl Fn(&Invocation) -> bool) -> Found<'a> {
    Found::from(scene.invocations().iter().find(|inv| test(inv)).map(|inv| inv.text.as_str()))
}

fn ansible_takes_away<'a>(scene: &Scene<'a>) -> Found<'a> {
    first_of(scene, |inv| {
        let module = flag_value(inv, &["-m", "--module-name"]).map(Arg::text).unwrap_or_default();
        let told = flag_value(inv, &["-a", "--args"]).map(Arg::text).unwrap_or_default();
        runs(inv, &["ansible"])
            && ANSIBLE_MODULES.contains(&module.rsplit('.').next().unwrap_or_default())
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
        let name = last_name(file);
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
