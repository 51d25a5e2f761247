//! Where packages come from.

use super::{INDEX_USERS, INSTALLERS, UNCHECKED, URL_RUNNERS, foreign_index, is_usual, run_from_url, words};
use crate::rules::Invocation;
use crate::rules::matcher::{Scene, has_flag, host_of, is_known};
use crate::shell::Arg;

fn index_trusted_without_a_certificate(inv: &Invocation) -> bool {
    let nameless = |text: &str| {
        let host = host_of(text);
        text.starts_with("http://")
            && !host.starts_with("127.")
            && host.split('.').all(|part| part.parse::<u8>().is_ok())
    };
    has_flag(inv, "--trusted-host") && inv.args.iter().any(|arg| nameless(&arg.text()))
}

words!("builtin/packages/sources");

/// Programs that keep the keys by which software is trusted.
const KEEPERS: &[&str] = &["apt-key", "rpm", "rpmkeys"];

fn key_in_the_open(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let open = |inv: &Invocation| inv.args.iter().any(|arg| arg.prefix().starts_with("http://"));
    let takes = inv.args.iter().any(|arg| matches!(arg.known(), Some("add" | "--import" | "import")));
    let piped = || {
        scene
            .invocations()
            .iter()
            .any(|other| other.pipeline == inv.pipeline && other.stage < inv.stage && open(other))
    };
    takes && (open(inv) || piped())
}

fn foreign_source(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let words = inv.args.iter().map(Arg::text).collect::<Vec<_>>();
    let sets = words.iter().any(|word| matches!(&**word, "-a" | "--add" | "config" | "source" | "--source"));
    sets && words.iter().any(|word| {
        word.contains("://") && !word.starts_with("mirror.") && !is_usual(&host_of(word), scene.view.policy)
    })
}

/// `npm run e2e`, `yarn test`
fn runs_script(inv: &Invocation) -> bool {
    const SCRIPTS: &[&str] = &["run", "run-script", "test", "t", "start"];
    matches!(inv.program.as_str(), "npm" | "pnpm" | "yarn")
        && words(inv).next().is_some_and(|word| SCRIPTS.contains(&word))
}

fn foreign_variable(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let line = scene.command_line();
    let names = |name: &&&str| {
        scene.says(name)
            && line.match_indices(**name).any(|(at, _)| {
                if UNCHECKED.contains(name) {
                    return true;
                }
                let value = line.get(at + name.len()..).unwrap_or_default().trim_start_matches(['"', '\'']);
                let value = value.split([' ', ';', '"', '\'', ',', '|']).next().unwrap_or_default();
                value.contains("://") && !is_usual(&host_of(value), scene.view.policy)
            })
    };
    let mut foreign = REGISTRY_VARIABLES.iter().filter(names).peekable();
    if foreign.peek().is_none() {
        return false;
    }
    // A variable of every Node program: where a script of the project runs, nothing need be fetched.
    let everybodys = foreign.all(|name| name.starts_with("NODE_TLS"));
    !(everybodys && runs_script(inv))
}

fn from_url(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let policy = scene.view.policy;
    let foreign = |text: &str| text.contains("://") && !is_usual(&host_of(text), policy);
    match inv.program.as_str() {
        "pip" | "pip3" | "pipx" | "uv" | "npm" | "pnpm" | "yarn" | "bun" | "apt" | "apt-get" | "dnf"
        | "yum" | "gem" | "rpm" => {
            let installs =
                words(inv).take(3).any(|word| matches!(word, "install" | "add" | "i" | "localinstall"));
            (installs || inv.program == "rpm") && inv.operands.iter().any(|arg| foreign(arg.prefix()))
        }
        "cargo" => {
            has_flag(inv, "--git")
                && inv.args.iter().any(|arg| foreign(arg.prefix().trim_start_matches("--git=")))
        }
        "go" => {
            let module = |arg: &Arg| {
                let host = arg.prefix().split('/').next().unwrap_or_default();
                let usual = [
                    "golang.org",
                    "google.golang.org",
                    "gopkg.in",
                    "go.uber.org",
                    "k8s.io",
                    "sigs.k8s.io",
                    "honnef.co",
                    "mvdan.cc",
                ];
                host.trim_start_matches('.').contains('.')
                    && !is_known(host, policy)
                    && !usual.contains(&host)
            };
            words(inv).next() == Some("install") && inv.operands.iter().any(module)
        }
        _ => false,
    }
}
