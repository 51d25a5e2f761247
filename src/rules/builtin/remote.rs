//! Other machines: commands, files and orders that go to them.

use super::code::shell_text::{run_part, shell_verdict};
use super::downloads::COPIERS;
use super::operations;
use super::{lists, standing};
use crate::domain::{Verdict, last_name};
use crate::rules::facts::operations::ENDS_WHAT_RUNS;
use crate::rules::matcher::{Found, Scene, flag_value, has_flag, runs};
use crate::rules::{Invocation, Stdin};
use crate::shell::Arg;

words!("builtin/remote");

fn service_ended_on_another_machine<'a>(scene: &Scene<'a>) -> Found<'a> {
    let own =
        |inv: &Invocation| runs(inv, &["ssh"]) && standing::names_scratch(inv) && !standing::names_live(inv);
    if scene.invocations().iter().any(own) {
        return Found::No;
    }
    let inside =
        |inv: &Invocation| inv.args.iter().any(|arg| matches!(arg.known(), Some("exec" | "run" | "logs")));
    let over = |inv: &Invocation| inv.wrappers.iter().any(|name| name == "ssh") && !inside(inv);
    operations::done_where(scene, ENDS_WHAT_RUNS, over)
}

/// The command lines among the arguments: whole ones, and what stands behind `--` or behind words of the program's own.
fn lines(inv: &Invocation) -> Vec<String> {
    const OWN: &[&str] = &["run", "exec", "--", "ssh", "-C", "-c", "-a", "--command"];
    let texts: Vec<String> = inv.args.iter().map(Arg::to_text).collect();
    let mut out: Vec<String> = Vec::new();
    for (at, text) in texts.iter().enumerate() {
        let value = text.split_once("commands=").map_or(text.as_str(), |(_, value)| value);
        let value = value.trim_matches(['[', ']', '"', '\'']);
        if value.contains(' ') {
            out.push(value.to_owned());
        }
        if OWN.contains(&text.as_str())
            && let Some(rest) = texts.get(at + 1..)
        {
            out.push(rest.join(" "));
        }
    }
    out
}

/// Places of another machine where everybody may put a file.
const OPEN_PLACES: &[&str] = &["/tmp/", "/var/tmp/", "/dev/shm/"];

fn carried_and_run<'a>(scene: &Scene<'a>) -> Found<'a> {
    let all = scene.invocations();
    let open = |path: &str| OPEN_PLACES.iter().any(|place| path.starts_with(place));
    // `scp a b HOST:DIR/`: what lies there afterwards.
    let carried = |path: &str| {
        all.iter().filter(|inv| runs(inv, COPIERS)).any(|inv| {
            let Some((to, from)) = inv.operands.split_last() else { return false };
            let to = to.text();
            let Some((_, dest)) = to.split_once(':').filter(|(host, _)| !host.contains('/')) else {
                return false;
            };
            dest == path
                || from.iter().any(|file| {
                    let file = file.text();
                    let name = last_name(&file);
                    path.strip_prefix(dest.trim_end_matches('/')).and_then(|rest| rest.strip_prefix('/'))
                        == Some(name)
                })
        })
    };
    let found = all.iter().filter(|inv| inv.wrappers.iter().any(|name| name == "ssh")).find(|inv| {
        let shell = runs(inv, &["bash", "sh", "dash", "zsh", "python3", "python", "perl"]);
        let word = inv.word.text();
        let script = inv.operands.first().map(Arg::text).unwrap_or_default();
        let poured = || matches!(&inv.stdin, Stdin::File(target) if open(target.text()));
        let run = |path: &str| path.starts_with('/') && (open(path) || carried(path));
        run(&word) || shell && (run(&script) || poured())
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

fn runs_blocked(inv: &Invocation, scene: &Scene<'_>) -> bool {
    if scene.nested {
        return false;
    }
    // Text for people.
    let speaks = inv.program == "gh" && inv.sub.first().is_none_or(|sub| sub != "codespace")
        || inv.program == "az" && !inv.args.iter().any(|arg| arg.known() == Some("run-command"))
        || inv.program == "aws"
            && !inv
                .args
                .iter()
                .any(|arg| matches!(arg.known(), Some("send-command" | "execute-command" | "start-session")));
    !speaks
        && lines(inv)
            .into_iter()
            .filter(|line| run_part(line).is_some())
            .take(4)
            .any(|line| shell_verdict(scene, &line, "/") == Verdict::Block)
}

fn plants(inv: &Invocation) -> bool {
    let Some(last) = inv.operands.last().map(Arg::text) else { return false };
    let planted = PLACES.iter().any(|place| last.contains(place));
    let empties = inv.program == "rsync"
        && inv.flags.iter().any(|flag| flag.name.starts_with("--delete"))
        && last.contains(':')
        && inv.operands.first().is_some_and(|arg| arg.text().trim_end_matches('/').ends_with("empty"));
    inv.operands.len() > 1 && (planted || empties)
}

fn foreign_daemon<'a>(scene: &Scene<'a>) -> Found<'a> {
    const CHANGES: &[&str] = &[
        "run", "exec", "rm", "kill", "stop", "rmi", "system", "volume", "compose", "restart", "update",
        "create", "cp", "stack",
    ];
    let by_variable =
        ["DOCKER_HOST=tcp://", "DOCKER_HOST=ssh://", "DOCKER_CONTEXT="].iter().any(|name| scene.says(name));
    let found = scene.first(lists::CONTAINERS, |inv| {
        let host = flag_value(inv, &["-H", "--host", "--url", "--connection", "--context"]).map(Arg::text);
        let elsewhere = host.as_deref().is_some_and(|host| {
            !host.starts_with("unix://")
                && !host.starts_with("npipe:")
                && !matches!(host, "default" | "desktop-linux" | "colima" | "orbstack" | "rootless")
        });
        let globally = has_flag(inv, "-H")
            || has_flag(inv, "--host")
            || has_flag(inv, "--context")
            || has_flag(inv, "--url")
            || has_flag(inv, "--connection");
        let own = inv.sub.first().is_some_and(|sub| sub == "run")
            && host.as_deref().is_some_and(|host| !host.contains("://"));
        (elsewhere && globally && !own || by_variable)
            && inv.sub.first().is_some_and(|sub| CHANGES.contains(&sub.as_str()))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// Ports and paths on which services take orders from everybody who asks.
fn unguarded<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.running(|inv| runs(inv, lists::DOWNLOADERS)).find(|inv| {
        inv.args.iter().any(|arg| {
            let text = arg.text();
            let path = || {
                text.split_once("://").and_then(|(_, rest)| rest.split_once('/')).map_or("", |(_, path)| path)
            };
            let docker = text.contains(":2375/") || text.contains(":2376/");
            let kubelet = text.contains(":10250/")
                && ["run/", "exec/", "pods", "runningpods"].iter().any(|word| path().starts_with(word));
            docker
                || kubelet
                || path().starts_with("scriptText")
                || path().starts_with("v1/agent/service/register")
        })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}
