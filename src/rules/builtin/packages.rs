//! Packages: publishing, removal, and code from unusual places.

pub(super) mod hosted;
pub(super) mod published;
pub(super) mod sources;
pub(super) mod strangers;
pub(super) mod system;

use super::lists;
use crate::domain::Policy;
use crate::rules::Invocation;
use crate::rules::matcher::{Found, Scene, flag_value, has_flag, host_of, is_known};
use crate::shell::Arg;

words!("builtin/packages");

/// Settings with which nothing that is fetched is checked, whoever it comes from.
const UNCHECKED: &[&str] = &["GOINSECURE=", "GOSUMDB=off", "NODE_TLS_REJECT_UNAUTHORIZED=0"];

/// A host that packages are taken from as a matter of course.
pub(super) fn is_usual(host: &str, policy: &Policy) -> bool {
    is_known(host, policy) || lists::REGISTRIES.contains(&host)
}

fn words(inv: &Invocation) -> impl Iterator<Item = &str> {
    inv.sub.iter().map(String::as_str).chain(inv.operands.iter().map(Arg::prefix))
}

/// Of runners the first operand is what is fetched, later ones are its arguments.
fn run_from_url<'a>(scene: &Scene<'a>) -> Found<'a> {
    let policy = scene.view.policy;
    let foreign = |text: &str| {
        let host = host_of(text);
        text.contains("://") && !is_usual(&host, policy)
    };
    let found = scene.first(URL_RUNNERS, |inv| {
        let word = |at: usize| words(inv).nth(at).unwrap_or_default();
        let from =
            flag_value(inv, &["--from", "-p", "--package", "--spec"]).map(Arg::prefix).unwrap_or_default();
        match inv.program.as_str() {
            "npx" | "bunx" | "pnpx" | "uvx" => foreign(word(0)) || foreign(from),
            "npm" | "pnpm" | "yarn" | "bun" if matches!(word(0), "exec" | "x" | "dlx" | "create") => {
                foreign(word(1)) || foreign(from)
            }
            "pipx" | "uv" if matches!(word(0), "run" | "tool") => {
                words(inv).take(3).any(foreign) || foreign(from)
            }
            "jbang" => foreign(word(0)),
            "nix" if matches!(word(0), "run" | "shell" | "develop" | "profile") => {
                words(inv).take(4).any(foreign)
            }
            "streamlit" => foreign(word(1)),
            "deno" => {
                matches!(word(0), "run" | "serve" | "install") && words(inv).skip(1).take(1).any(foreign)
            }
            "go" if word(0) == "run" => {
                let module = word(1).split('@').next().unwrap_or_default();
                let host = module.split('/').next().unwrap_or_default();
                let is_module = word(1).contains('@') && host.trim_matches('.').contains('.');
                is_module && !is_usual(host, policy)
            }
            "pip" | "pip3" | "npm" | "pnpm" | "yarn" | "bun" | "pipx" | "uv" | "poetry" => {
                let installs = words(inv).take(3).any(|word| matches!(word, "install" | "add" | "i"));
                installs && inv.operands.iter().any(|arg| foreign(arg.prefix()))
            }
            _ => false,
        }
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

fn foreign_index<'a>(scene: &Scene<'a>) -> Found<'a> {
    let policy = scene.view.policy;
    let found = scene.first(INDEX_USERS, |inv| {
        // The address may be the flag's value or, where the tables do not know the flag, the word behind it.
        let given = INDEX_FLAGS.iter().any(|flag| has_flag(inv, flag));
        let foreign = |text: &str| text.contains("://") && !is_usual(&host_of(text), policy);
        given
            && inv.args.iter().any(|arg| {
                let text = arg.prefix();
                foreign(
                    text.split_once('=')
                        .filter(|(front, _)| front.starts_with('-'))
                        .map_or(text, |(_, url)| url),
                )
            })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}
