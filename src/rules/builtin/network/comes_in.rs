//! What comes in and is run.

use crate::rules::Invocation;
use crate::rules::builtin::downloads::{
    COPIERS, DECODING, STORES, decoded_is_run, downloaded_is_installed, downloaded_is_run,
    reads_into_variables, release_is_run, runs_variable,
};
use crate::rules::builtin::lists;
use crate::rules::matcher::{Found, Scene, has_flag, runs, runs_shell, unread_decoded};
use crate::shell::Arg;

const EDITORS: &[&str] = &["vim", "nvim", "vi", "ex"];

/// `vim -c ':r !curl …' -c ':so %'`
fn editor_fetches(inv: &Invocation) -> bool {
    let says = |words: &[&str]| {
        inv.args.iter().any(|arg| {
            let text = arg.text();
            words.iter().any(|word| text.trim_start_matches([':', '+']).starts_with(word))
        })
    };
    let fetches = |arg: &Arg| {
        let text = arg.text();
        text.contains('!') && (text.contains("curl ") || text.contains("wget "))
    };
    inv.args.iter().any(fetches)
        && says(&["so %", "so!%", "source %", "luafile %", "w !sh", "w !bash", "%!sh", "%!bash", "pyfile %"])
}

words!("builtin/network/comes_in");

fn takes_what_it_runs(inv: &Invocation) -> bool {
    let loads = || inv.sub.first().is_some_and(|sub| matches!(sub.as_str(), "load" | "import"));
    runs(inv, FILE_RUNNERS) && (!runs(inv, &["docker", "podman"]) || loads())
}

/// `curl … | tee >(sh)`: the shell reads what the command around it writes.
fn fed_shell<'a>(scene: &Scene<'a>) -> Found<'a> {
    let all = scene.invocations();
    let built = all.iter().find(|inv| {
        let outer = || inv.feeds.and_then(|index| all.get(index));
        runs(inv, lists::DOWNLOADERS) && outer().is_some_and(takes_what_it_runs)
    });
    if let Some(inv) = built {
        return Found::yes(&inv.text);
    }
    if ![">(", "<(", "coproc"].iter().any(|form| scene.says(form)) {
        return Found::No;
    }
    // `read X < <(curl …); $X`
    let run_later = all.iter().enumerate().find(|(at, inv)| {
        let into = inv.feeds.and_then(|index| all.get(index));
        runs(inv, lists::DOWNLOADERS)
            && into.is_some_and(reads_into_variables)
            && runs_variable(*at, all).is_some()
    });
    if let Some((_, inv)) = run_later {
        return Found::yes(&inv.text);
    }
    let found = all.iter().find(|inv| {
        let outer = inv.feeds.and_then(|index| all.get(index));
        let reads = runs_shell(inv) && inv.operands.is_empty() && !has_flag(inv, "-c");
        let fetched = |outer: &Invocation| {
            all.iter().any(|other| {
                other.pipeline == outer.pipeline
                    && other.stage <= outer.stage
                    && runs(other, lists::DOWNLOADERS)
            })
        };
        reads && outer.is_some_and(fetched)
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}
