//! Files that come from elsewhere and are applied, compiled or installed.

use super::{COMPILERS, COMPOSERS, LEADS_OUT, SYSTEM, TAKERS, first_of};
use crate::rules::Invocation;
use crate::rules::builtin::{downloads, lists, operations};
use crate::rules::matcher::{Found, Scene, has_flag, host_of, input_of, is_known, runs};
use crate::shell::Arg;

pub(super) fn compose_from_input<'a>(scene: &Scene<'a>) -> Found<'a> {
    first_of(scene, |inv| {
        let words: Vec<&str> = operations::known_words(inv);
        let starts = words.iter().any(|word| matches!(*word, "up" | "run" | "create" | "start"));
        let taken = words.windows(2).any(|pair| matches!(pair, ["-f" | "--file", "-" | "/dev/stdin"]))
            || words.iter().any(|word| matches!(*word, "-f-" | "--file=-"));
        runs(inv, COMPOSERS)
            && starts
            && taken
            && input_of(inv, scene).iter().any(|text| {
                let lower = text.to_lowercase();
                LEADS_OUT.iter().any(|word| lower.contains(word))
            })
    })
}

pub(super) fn fetched_and_applied<'a>(scene: &Scene<'a>) -> Found<'a> {
    let foreign = |inv: &&Invocation| {
        inv.operands.iter().any(|arg| {
            let text = arg.text();
            let host = host_of(&text);
            let address = text.contains("://") || downloads::takes_bare(inv, &text);
            address && host.contains('.') && !is_known(&host, scene.view.policy)
        })
    };
    let mut downloads = scene.running(|inv| runs(inv, lists::DOWNLOADERS));
    let Some(source) = downloads.find(foreign) else { return Found::No };
    // `psql -f <(curl …)`: what the last command of the pipeline prints is read there.
    let all = scene.invocations();
    let fed: Vec<&Invocation> = all
        .iter()
        .filter(|other| other.pipeline == source.pipeline)
        .filter_map(|other| all.get(other.feeds?))
        .collect();
    first_of(scene, |inv| {
        let looks = ["--stat", "--check", "--numstat", "--summary", "--dry-run"]
            .iter()
            .any(|flag| has_flag(inv, flag));
        let git = inv.program != "git"
            || inv.sub.first().is_some_and(|sub| matches!(sub.as_str(), "apply" | "am" | "fast-import"));
        let given = inv.program != "crontab"
            || inv.operands.iter().any(|arg| arg.known() == Some("-"))
            || inv.args.is_empty();
        runs(inv, TAKERS)
            && git
            && given
            && !looks
            && (inv.pipeline == source.pipeline && inv.stage > source.stage
                || fed.iter().any(|outer| std::ptr::eq(*outer, inv)))
    })
}

pub(super) fn metadata_compiled<'a>(scene: &Scene<'a>) -> Found<'a> {
    if !["169.254.169.254", "metadata.google.internal", "100.100.100.200"].iter().any(|host| scene.says(host))
    {
        return Found::No;
    }
    let written = scene.view.survey.written.iter().any(|(_, text)| {
        text.text().contains("169.254.169.254")
            || text.text().contains("metadata.google.internal")
            || text.text().contains("100.100.100.200")
    });
    if !written {
        return Found::No;
    }
    first_of(scene, |inv| {
        runs(inv, COMPILERS)
            && inv.args.iter().filter_map(Arg::known).any(|word| {
                matches!(word, "run" | "build" | "test")
                    || scene
                        .view
                        .survey
                        .written
                        .iter()
                        .any(|(path, _)| path.rsplit('/').next() == word.rsplit('/').next())
            })
    })
}

pub(super) fn system_from_address<'a>(scene: &Scene<'a>) -> Found<'a> {
    first_of(scene, |inv| {
        let installs = || {
            inv.args.iter().filter_map(Arg::known).any(|word| {
                matches!(
                    word,
                    "install"
                        | "localinstall"
                        | "-i"
                        | "-U"
                        | "-ivh"
                        | "-Uvh"
                        | "--install"
                        | "--upgrade"
                        | "in"
                )
            })
        };
        let plain = || {
            inv.operands.iter().any(|arg| {
                let text = arg.text();
                text.starts_with("http://") && !is_known(&host_of(&text), scene.view.policy)
            })
        };
        runs(inv, SYSTEM) && installs() && plain()
    })
}
