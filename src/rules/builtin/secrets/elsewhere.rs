//! Secrets where nobody keeps them on purpose: in the history of a repository, in what services were started with, in dumps of
//! memory, and in files given to programs that are there for something else.

mod history;

use super::shown::is_key_file;
use super::{is_diverted, is_secret_name, is_shown_through, is_telling};
use crate::domain::{EffectKind, Target, last_name};
use crate::rules::builtin::{lists, standing};
use crate::rules::facts::{Kind, Operands, Operation};
use crate::rules::matcher::{
    Class, Found, Scene, classify, has_flag, is_env_file, is_secret, names_raw_secrets, prints_environment,
    runs, target_of,
};
use crate::rules::{Invocation, facts};
use crate::shell::Arg;
pub(super) use history::hunts;
use history::{committed_file, history_searched, history_shown, hunted_behind};

words!("builtin/secrets/elsewhere");

const CONTAINERS: &[&str] = &["env", "printenv", "export", "set", "declare"];

const GIT: &[&str] = &["git"];

const CLIENTS: &[&str] = &["psql", "mysql", "mariadb", "mongo", "mongosh", "sqlplus", "sqlcmd"];

const BUSES: &[&str] = &["dbus-send", "gdbus", "busctl", "qdbus"];

fn dump_searched_for_secrets<'a>(scene: &Scene<'a>) -> Found<'a> {
    described(scene, &["strings", "compgen"])
}

fn cluster_asked_for_its_secrets(inv: &Invocation) -> bool {
    inv.args.iter().any(|arg| names_raw_secrets(&arg.text()))
}

fn is_taken(arg: &str, inv: &Invocation, scene: &Scene<'_>) -> bool {
    let whole = match target_of(&Arg::literal(arg), inv.cwd.as_deref()) {
        Target::Path { path, glob, .. } => Target::Path { path, glob, recursive: false },
        other => other,
    };
    classify(&whole, EffectKind::FileRead, &scene.view).has(Class::Secret)
}

pub(in crate::rules::builtin) fn named_secret(arg: &Arg, inv: &Invocation, scene: &Scene<'_>) -> bool {
    classify(&target_of(arg, inv.cwd.as_deref()), EffectKind::FileRead, &scene.view).has(Class::Secret)
}

/// Whether an argument is a directory of secrets, or the history of a shell.
pub(in crate::rules::builtin) fn kept_secrets(arg: &Arg, inv: &Invocation, scene: &Scene<'_>) -> bool {
    // Cheap first: what is hidden.
    let text = arg.text();
    if !(text.contains("/.") || text.starts_with('.')) {
        return false;
    }
    let Target::Path { path, glob, .. } = target_of(arg, inv.cwd.as_deref()) else { return false };
    let history = path.ends_with("sh_history");
    let tree = Target::Path { path, glob, recursive: true };
    history || classify(&tree, EffectKind::FileRead, &scene.view).has(Class::Secret)
}

fn given_to_taker(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let needed = ONLY_WITH.iter().find(|(program, _)| *program == inv.program);
    // An option and its value may stand in one word.
    let told =
        |flags: &[&str]| inv.args.iter().any(|arg| flags.iter().any(|flag| arg.prefix().starts_with(flag)));
    if inv.contained || needed.is_some_and(|(_, flags)| !told(flags)) {
        return false;
    }
    inv.args.iter().any(|arg| {
        named_secret(arg, inv, scene) || {
            let text = arg.text();
            let value = text.rsplit('=').next().unwrap_or_default();
            value.contains('/') && value.split_whitespace().any(|word| is_taken(word, inv, scene))
        }
    })
}

/// Whether nothing is known of what a program does with its operands: it has no row, or one that only says that it runs
/// something or talks to another machine.
fn is_opaque(program: &str) -> bool {
    facts::find(program).is_none_or(|row| {
        matches!(row.operation, Operation::Process | Operation::Network)
            && row.operands == Operands::Text
            && row.subs.is_empty()
            && matches!(row.kind, Kind::Plain | Kind::Dash)
    })
}

/// A program of which nothing is known gets a secret as what it works on, and not behind an option.
fn given_to_stranger(inv: &Invocation, scene: &Scene<'_>) -> bool {
    const LOOKING: &[&str] = &["eza", "exa", "lsd", "shred", "srm", "trash", "trash-put", "restorecon"];
    if inv.contained
        || inv.args.is_empty()
        || !is_opaque(&inv.program)
        || runs(inv, lists::SECRET_USERS)
        || runs(inv, LOOKING)
        || runs(inv, TAKERS)
    {
        return false;
    }
    let mut behind_flag = false;
    inv.args.iter().any(|arg| {
        let flag = arg.prefix().starts_with('-');
        // The list of passwords is no key that an option could be for.
        let text = arg.text();
        let value = text.split_once('=').map_or(&*text, |(_, value)| value);
        let passwords = || value.trim_start_matches(['@', '"']).starts_with("/etc/shadow");
        let accounts = || {
            inv.privileged
                && arg.known().is_some_and(|path| path == "/etc/passwd" || path.starts_with("/etc/sudoers"))
        };
        let told = || named_secret(arg, inv, scene) || kept_secrets(arg, inv, scene);
        let given = passwords() || !flag && (!behind_flag && told() || accounts());
        behind_flag = flag && !TAKING_OPTIONS.contains(&&*arg.text());
        given
    })
}

fn sub_is(inv: &Invocation, names: &[&str]) -> bool {
    inv.sub.first().is_some_and(|sub| names.contains(&sub.as_str()))
}

/// A path in a commit, or one that git is asked about, that is a secret by its name.
fn is_kept(path: &str, scene: &Scene<'_>) -> bool {
    let glob = path.contains(['*', '?', '[']);
    let home = scene.view.facts.places.home.as_deref();
    let ends = [".pem", ".key", ".p12", ".pfx"].iter().any(|end| path.ends_with(end) && glob);
    is_env_file(path, glob) || is_secret(path, glob, false, home) || ends || !glob && is_key_file(path)
}

/// A table of programs with the words behind their names.
fn does(inv: &Invocation, table: &[(&str, &[&str])]) -> bool {
    let begins = |words: &str| {
        let mut given = inv.sub.iter().map(String::as_str).chain(inv.operands.iter().filter_map(Arg::known));
        words.split(' ').all(|word| given.next() == Some(word))
    };
    let rows = table.iter().filter(|(program, _)| *program == inv.program);
    { rows }.any(|(_, words)| words.is_empty() || words.iter().any(|words| begins(words)))
}

/// What describes a service is searched for its secrets.
fn described<'a>(scene: &Scene<'a>, programs: &[&str]) -> Found<'a> {
    let found = scene.first(programs, |inv| {
        if !does(inv, DESCRIBERS) {
            return false;
        }
        let tables = || {
            inv.args.iter().any(|arg| {
                let text = arg.text();
                ["yaml", "json", "jsonpath", "template"].iter().any(|form| text.contains(form))
            })
        };
        // A table of names is no description.
        if runs(inv, &["kubectl", "oc"]) && !sub_is(inv, &["describe"]) && !tables() {
            return false;
        }
        let dumped = || {
            inv.operands.iter().any(|arg| {
                let text = arg.text();
                let name = last_name(&text);
                name == "core"
                    || name.starts_with("core.")
                    || ["core", "dmp", "crash", "heap", "mem"]
                        .iter()
                        .any(|end| name.rsplit_once('.').is_some_and(|(_, e)| e == *end))
            })
        };
        if inv.program == "strings" && !dumped()
            || inv.program == "compgen" && !["-v", "-e"].iter().any(|flag| has_flag(inv, flag))
        {
            return false;
        }
        let surrounds = runs(inv, &["docker", "podman", "nerdctl", "crictl"]);
        let wanted = |pattern: &str| {
            let lower = pattern.to_ascii_lowercase();
            let key = || lower.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == "key");
            hunts(pattern) || surrounds && (lower == "env" || lower.contains("config.env") || key())
        };
        hunted_behind(inv, scene, &wanted).is_some()
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

fn values_shown(inv: &Invocation, scene: &Scene<'_>) -> bool {
    // Options in front of its subcommand take values that are not known here.
    let asks_etcd = || inv.program == "etcdctl" && inv.args.iter().any(|arg| arg.known() == Some("get"));
    if !(does(inv, VALUES) || asks_etcd()) || is_diverted(inv) || !is_shown_through(inv, scene) {
        return false;
    }
    let says = |words: &[&str]| {
        inv.args.iter().any(|arg| {
            let text = arg.text();
            words.iter().any(|word| text == *word)
        })
    };
    let named = || inv.operands.last().is_some_and(|arg| hunts(&arg.text()));
    match inv.program.as_str() {
        "aws" => inv.args.iter().any(|arg| arg.text().contains("Environment")),
        // `--query '[].name'`
        "az" => !inv
            .args
            .iter()
            .any(|arg| matches!(arg.text().trim_start_matches("--query="), "[].name" | "[*].name")),
        "consul" => says(&["-recurse"]),
        "etcdctl" => {
            // Where a cluster keeps its secrets.
            let kept = |arg: &Arg| arg.text().starts_with("/registry/secrets");
            let all = |arg: &Arg| says(&["--prefix", "--from-key"]) && matches!(&*arg.text(), "/" | "");
            !says(&["--keys-only", "--count-only"]) && inv.operands.iter().any(|arg| kept(arg) || all(arg))
        }
        "helm" => says(&["--all", "-a"]),
        "redis-cli" => says(&["requirepass", "masterauth", "*"]),
        "launchctl" | "terraform" | "tofu" => named(),
        _ => true,
    }
}

/// All variables of a container that runs, or of what another program adds to them.
fn container_shown(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let entered = || {
        let words: Vec<&str> = inv.text.split_whitespace().take(12).collect();
        inv.contained && words.contains(&"exec") && !words.contains(&"run")
    };
    let loaded = || inv.wrappers.iter().any(|name| matches!(name.as_str(), "dotenv" | "dotenvx" | "doppler"));
    let in_cluster = || inv.wrappers.iter().any(|name| matches!(name.as_str(), "kubectl" | "oc"));
    let piped =
        || scene.invocations().iter().any(|other| other.pipeline == inv.pipeline && other.stage > inv.stage);
    prints_environment(inv)
            && !is_diverted(inv)
            && (entered() || loaded())
            // Of one's own containers it is what everybody looks at first.
            && (!piped() && (loaded() || in_cluster()) || hunted_behind(inv, scene, &hunts).is_some())
}

/// A password out of the environment of a container elsewhere, or one that is then used elsewhere.
fn container_used(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let entered = || inv.contained && inv.text.split_whitespace().any(|word| word == "exec");
    let named = |arg: &Arg| arg.known().is_some_and(|name| is_secret_name(name) || is_telling(name));
    let afar = |other: &Invocation| {
        let outer = runs(other, &["kubectl", "oc", "ssh"]);
        outer && other.text.contains(&inv.text) && !standing::names_scratch(other)
    };
    let takes = inv.args.iter().any(named) || hunted_behind(inv, scene, &hunts).is_some();
    takes
        && (inv.feeds.is_some() || scene.command_line().contains("$(") || scene.command_line().contains('`'))
        && entered()
        && scene
            .invocations()
            .iter()
            .any(|other| afar(other) || runs(other, CLIENTS) && standing::is_led_elsewhere(scene, other))
}

/// The hashes of a database's own users.
fn hashes_selected(inv: &Invocation) -> bool {
    inv.args.iter().any(|arg| {
        let text = arg.text();
        if text.len() < 12 || !text.contains(['_', '.', '$']) {
            return false;
        }
        let lower = text.to_ascii_lowercase();
        let selects = lower.contains("select") && lower.contains("from");
        selects
            && (["pg_shadow", "pg_authid", "authentication_string", "rolpassword", "sys.user$"]
                .iter()
                .any(|word| lower.contains(word))
                || lower.contains("mysql.user") && lower.contains("password"))
            || lower.contains("db.system.users.find")
    })
}

fn bus_asked(inv: &Invocation) -> bool {
    let says = |word: &str| inv.args.iter().any(|arg| arg.text().contains(word));
    says("org.freedesktop.secrets") || says("org.kde.KWallet")
}
