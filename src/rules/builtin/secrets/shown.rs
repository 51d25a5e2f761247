//! Credentials that would stand in the output of a call: out of a store, a variable, a history or a file of a running service.

use super::{
    ENVIRONMENT, SEARCHERS, VARIABLE_PRINTERS, code_prints, env_file_shown, environment_searched,
    is_diverted, is_secret_name, is_telling, loads_settings, printed_variable, shows,
};
use crate::domain::{Action, EffectKind, Target, last_name};
use crate::rules::Invocation;
use crate::rules::builtin::lists;
use crate::rules::matcher::{
    Class, Found, SECRET_PRINTERS, Scene, at, classify, has_flag, inside, prints_secret, runs, target_of,
};
use crate::shell::Arg;

words!("builtin/secrets/shown");

/// Names of `.env` files of what is in use.
const LIVE: &[&str] = &[".env.production", ".env.prod", ".env.staging", ".env.live"];

/// Programs that read what is in a file, or search it.
const HISTORY_READERS: &[&str] = &["grep", "egrep", "fgrep", "rg", "ag", "awk", "sed"];

fn variable_of_a_service_printed<'a>(scene: &Scene<'a>) -> Found<'a> {
    printed_variable(scene, &|name| is_of_service(name) && !is_assigned(name, scene))
}

fn value_out_of_settings_printed<'a>(scene: &Scene<'a>) -> Found<'a> {
    match printed_variable(scene, &is_telling) {
        found @ Found::Yes(_) if loads_settings(scene) => found,
        Found::Yes(_) | Found::Unsure(_) | Found::No => Found::No,
    }
}

fn variable_of_a_service_printed_by_code<'a>(scene: &Scene<'a>) -> Found<'a> {
    code_prints(scene, false, &is_of_service)
}

fn every_secret_of_a_cluster_shown(inv: &Invocation, scene: &Scene<'_>) -> bool {
    prints_secret(inv)
        && is_shown(inv, scene)
        && ["-A", "--all-namespaces"].iter().any(|flag| has_flag(inv, flag))
}

fn login_of_a_cluster_shown(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let words: Vec<_> = inv.args.iter().filter_map(Arg::known).take(4).collect();
    words.contains(&"config") && prints_secret(inv) && is_shown(inv, scene)
}

fn live_settings_shown<'a>(scene: &Scene<'a>) -> Found<'a> {
    let live = LIVE.iter().any(|name| names_live(scene.command_line(), name));
    if live { env_file_shown(scene) } else { Found::No }
}

/// A store prints a credential, and what it prints is shown.
fn printed_plainly<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.running(|inv| runs(inv, STORES)).find(|inv| {
        prints_secret(inv)
            && (runs(inv, &["npm", "gh"])
                || !inv.args.iter().filter_map(Arg::known).any(|word| NOT_ONLY.contains(&word)))
            && is_shown(inv, scene)
            && !super::is_only_tried(inv, scene)
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// Names and contents of private keys, looked for over a home or the machine.
fn keys_hunted(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let is_key = |text: &str| {
        let name = text.trim_matches('*');
        let ending =
            lists::SECRET_ENDINGS.iter().chain(&[".pem", ".key", "_rsa", "wallet.dat"]).any(|e| *e == name);
        let keys = name.starts_with("id_") || name == "key4.db" || name == "logins.json";
        ending
            || keys
            || super::shaped(text)
            || name.contains("PRIVATE KEY")
            || name.contains("aws_secret_access_key")
    };
    inv.args.iter().any(|arg| is_key(&arg.text()))
        && inv.operands.iter().any(|arg| {
            classify(&target_of(arg, inv.cwd.as_deref()), EffectKind::FileDeletion, &scene.view).any(&[
                Class::Root,
                Class::Home,
                Class::Users,
            ])
        })
}

/// What it prints goes neither to a file, nor into a variable, nor to a program that takes it for what it is for.
fn is_shown(inv: &Invocation, scene: &Scene<'_>) -> bool {
    /// What is nested deeper is taken for shown.
    const MAX_NESTED: usize = 16;
    let all = scene.invocations();
    if is_diverted(inv) {
        return false;
    }
    let behind = all.iter().filter(|other| other.pipeline == inv.pipeline && other.stage > inv.stage);
    if behind.clone().any(|other| !runs(other, VIEWERS) || is_diverted(other)) {
        return false;
    }
    let outer = std::iter::once(inv).chain(behind).find_map(|other| other.feeds).and_then(|at| all.get(at));
    let Some(mut outer) = outer else { return !is_captured(inv, scene.command_line()) };
    // `echo "$(echo "$(printenv TOKEN)")"`
    for _ in 0..MAX_NESTED {
        if !runs(outer, &["echo", "printf", "cat"]) || !outer.writes.is_empty() {
            return false;
        }
        let Some(next) = outer.feeds.and_then(|at| all.get(at)) else { return true };
        outer = next;
    }
    true
}

/// A variable takes it, or the program that logs in with it.
pub(super) fn is_taken(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let logs_in = |other: &Invocation| {
        other.pipeline == inv.pipeline && other.stage > inv.stage && has_flag(other, "--password-stdin")
    };
    let line = scene.command_line();
    let assigned = || {
        // `X=$(gh auth token)`, and nothing else is made of it.
        let front = line.find(inv.text.trim()).and_then(|at| line.get(..at)).unwrap_or_default();
        ["=$(", "=\"$(", "=`"].iter().any(|end| front.ends_with(end))
    };
    let kept = || inv.writes.iter().any(|(file, _)| file.text() != "/dev/null");
    scene.invocations().iter().any(logs_in) || STORES.contains(&inv.program.as_str()) && !kept() && assigned()
}

/// It stands in a substitution whose value is assigned; also where the line does not say.
fn is_captured(inv: &Invocation, line: &str) -> bool {
    let Some(front) = line.find(inv.text.trim()).and_then(|at| line.get(..at)) else { return true };
    // What a comment says opens nothing.
    let front = || front.lines().filter(|line| !line.trim_start().starts_with('#'));
    let count = |sign: &str| front().map(|line| line.matches(sign).count()).sum::<usize>();
    count("$(") > count(")") || count("`") % 2 == 1
}

/// A name that says which service the secret is for: `GITHUB_TOKEN`, and not `TOKEN`.
fn is_of_service(name: &str) -> bool {
    is_secret_name(name)
        && name.contains('_')
        && !name.to_ascii_uppercase().starts_with("CSRF")
        && name.bytes().all(|b| !b.is_ascii_lowercase())
        && !matches!(name, "API_KEY" | "ACCESS_TOKEN" | "AUTH_TOKEN" | "REFRESH_TOKEN" | "ID_TOKEN")
}

/// The call gives the variable its value itself.
fn is_assigned(name: &str, scene: &Scene<'_>) -> bool {
    scene.command_line().contains(&format!("{name}="))
}

/// A history of what the person typed is searched for passwords.
fn history_hunted(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let home = scene.view.facts.places.home.as_deref();
    let hunts = |text: &str| {
        let text = text.to_ascii_lowercase();
        text.split(|c: char| !c.is_ascii_alphanumeric())
            .any(|word| HUNTED.contains(&word) || matches!(word, "pass" | "apikey" | "pwd"))
    };
    let piped = || {
        scene.invocations().iter().any(|other| {
            other.pipeline == inv.pipeline && other.stage < inv.stage && runs(other, &["history", "fc"])
        })
    };
    let own =
        || inv.operands.iter().any(|arg| at(&target_of(arg, inv.cwd.as_deref()), lists::HISTORIES, home));
    inv.operands.first().is_some_and(|arg| hunts(&arg.text())) && (piped() || own())
}

/// A path whose last name says that a private key or a service's credentials are in it.
pub(super) fn is_key_file(path: &str) -> bool {
    // All that is looked for below ends in one of these ways.
    const ENDS: &[&[u8]] = &[b"key", b"son", b"pem", b"ate", b"yml", b"aml", b"oml", b"php", b"fig"];
    let end = path.as_bytes().last_chunk::<3>();
    if !end.is_some_and(|end| ENDS.iter().any(|known| end.eq_ignore_ascii_case(known))) {
        return false;
    }
    let name = last_name(path).to_ascii_lowercase();
    let public = path.split('/').any(|part| PUBLIC_PLACES.contains(&part) || lists::FIXTURES.contains(&part));
    if public || name.contains("example") || name.contains("sample") || name.contains(char::is_whitespace) {
        return false;
    }
    let stem = |ending: &str| name.strip_suffix(ending).filter(|stem| !stem.is_empty());
    let private = |stem: &str| {
        stem.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| {
            matches!(word, "private" | "privkey" | "key" | "privatekey" | "rsa" | "secret" | "identity")
        })
    };
    let of_use = |stem: &str| {
        stem.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| {
            matches!(word, "prod" | "production" | "staging" | "aws" | "ec2" | "deploy" | "bastion")
        })
    };
    let account = ["-key", "_key", "-adminsdk", "-keyfile", "_keyfile"];
    let kept = || path.contains("/secrets/") || path.starts_with("secrets/");
    let settings = || [".yaml", ".yml", ".json", ".toml"].iter().any(|end| stem(end).is_some_and(of_use));
    ["deploy_key", "ssh_key", "signing_key", "private_key", "host_key", "deploy-key"].contains(&name.as_str())
        || name == "kubeconfig"
        || stem(".kubeconfig").is_some()
        || kept() && settings()
        || stem(".json").is_some_and(|stem| account.iter().any(|end| stem.ends_with(end)))
        || stem(".pem").is_some_and(|stem| {
            of_use(stem) && !["pub", "cert", "ca", "chain"].iter().any(|w| stem.contains(w))
        })
        || stem(".key").is_some_and(|stem| !stem.contains("pub"))
        || stem(".pem").is_some_and(|stem| private(stem) && !stem.contains("pub"))
        || stem(".tfstate").is_some()
        || [
            "secrets.yml",
            "secrets.yaml",
            "secrets.json",
            "secrets.toml",
            "credentials.json",
            "wp-config.php",
        ]
        .contains(&name.as_str())
        || stem(".json").is_some_and(|stem| {
            ["service-account", "service_account", "serviceaccount", "client_secret"]
                .iter()
                .any(|front| stem.starts_with(front))
        })
}

/// Whether a file of that name is named, and not only its example (`.env.staging.example`).
fn names_live(line: &str, name: &str) -> bool {
    // Nearly always it is not there, which is told faster than where it would be.
    line.contains(name)
        && line.match_indices(name).any(|(at, _)| {
            let rest = line.get(at + name.len()..).unwrap_or_default();
            let part =
                rest.strip_prefix('.').and_then(|rest| rest.split(|c: char| !c.is_alphanumeric()).next());
            !part.is_some_and(|part| lists::ENV_EXAMPLES.contains(&part))
        })
}

/// What the client keeps of its account, with the tokens of its servers.
fn is_of_client(path: &str) -> bool {
    path.ends_with("/.claude.json")
}

/// `cat server.crt server.key > server.pem`: a key and its certificate, put into one file of the project.
fn is_bundled(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let own = |target: &Target| scene.view.facts.places.roots().any(|root| inside(target.text(), root));
    inv.program == "cat"
        && inv.feeds.is_none()
        && is_diverted(inv)
        && inv.writes.iter().all(|(target, _)| own(target) && target.text().ends_with(".pem"))
        && inv
            .operands
            .iter()
            .any(|arg| [".crt", ".cert", ".cer"].iter().any(|end| arg.prefix().ends_with(end)))
}

fn key_file_shown<'a>(scene: &Scene<'a>) -> Found<'a> {
    match &scene.view.call.action {
        Action::Read { path } if is_of_client(path) => return Found::yes(path),
        Action::Search { kind, .. } if !kind.shows_lines() => {}
        Action::Read { path } | Action::Search { path: Some(path), .. } => {
            return if is_key_file(path) { Found::yes(path) } else { Found::No };
        }
        _ => {}
    }
    let home = scene.view.facts.places.home.as_deref();
    let is_key = |target: &Target| {
        let Target::Path { path, glob, .. } = target else { return false };
        let rest = home.and_then(|home| path.strip_prefix(home)).unwrap_or(path);
        // What is a secret by its place has a rule of its own.
        !glob && is_key_file(rest) && !classify(target, EffectKind::FileRead, &scene.view).has(Class::Secret)
    };
    let found = scene.running(|inv| runs(inv, super::READERS)).find(|inv| {
        let searches = runs(inv, SEARCHERS) || runs(inv, &["sed", "awk", "jq", "yq"]);
        // The first operand of a search is what is looked for.
        let files = inv.operands.iter().skip(usize::from(searches));
        !inv.contained
            && !runs(inv, &["diff", "python", "python3", "node", "ruby", "perl", "php", "vim", "nano", "tee"])
            && ({ files }.any(|arg| {
                let target = target_of(arg, inv.cwd.as_deref());
                is_key(&target) || runs(inv, super::DUMPERS) && is_of_client(target.text())
            }) || inv.reads.iter().any(is_key))
            && shows(inv)
            && !is_bundled(inv, scene)
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}
