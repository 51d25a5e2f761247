//! Resources: what fills the disk or the memory, keeps the processor busy for nothing, or floods somebody else's machine.

pub(super) mod endless;
pub(super) mod filled;

use super::{libraries, lists};
use crate::domain::last_name;
use crate::rules::Invocation;
use crate::rules::matcher::{Found, Scene, has_flag, runs, runs_code};
use crate::shell::Arg;

words!("builtin/resources");

const STRESSERS: &[&str] = &["stress", "stress-ng"];

/// Files or requests in one go from which on nobody meant it.
const FLOOD: u64 = 100_000;

/// It is told of a pool to mine for, in the way that only miners are.
fn mines<'a>(scene: &Scene<'a>) -> Found<'a> {
    const TALKS: &[&str] = &["git", "echo", "printf", "grep", "rg", "gh", "sed", "awk", "cat", "npm", "yarn"];
    let found = scene.invocations().iter().find(|inv| {
        !runs(inv, TALKS)
            && inv.args.iter().any(|arg| {
                let text = arg.text();
                text.len() < 300 && POOLS.iter().any(|pool| text.starts_with(pool))
            })
            || runs(inv, lists::CONTAINER_CLIENTS) && starts_miner(inv)
            || inv.args.windows(2).any(|pair| match pair {
                [flag, what] => {
                    matches!(flag.known(), Some("--coin" | "--algo" | "-a"))
                        && matches!(
                            what.known(),
                            Some("monero" | "rx/0" | "randomx" | "cn/r" | "ethash" | "kawpow")
                        )
                        || matches!(flag.known(), Some("-o" | "--url" | "-P" | "--pool"))
                            && what.known().is_some_and(is_pool)
                }
                _ => false,
            })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// A host and a port, called as the places are where many mine together.
fn is_pool(text: &str) -> bool {
    const NAMES: &[&str] =
        &["pool", "xmr", "monero", "nicehash", "2miners", "ethermine", "hashvault", "unmineable"];
    let place = text.split_once("://").map_or(text, |(_, rest)| rest);
    place.rsplit_once(':').is_some_and(|(host, port)| {
        host.contains('.')
            && !port.is_empty()
            && port.bytes().all(|byte| byte.is_ascii_digit())
            && NAMES.iter().any(|name| host.contains(name))
    })
}

/// What mines is fetched or installed by its name.
fn installs_miner(inv: &Invocation) -> bool {
    let mut words = inv.args.iter().filter_map(Arg::known).filter(|word| !word.starts_with('-'));
    let takes = words.next().is_some_and(|verb| matches!(verb, "install" | "i" | "add" | "pull"));
    takes
        && words.any(|word| {
            let name = last_name(word);
            let name = name.split(['@', ':', '=', '<', '>', '~']).next().unwrap_or_default();
            MINERS.contains(&name) || name.contains("xmrig") || name == "webchain-miner"
        })
}

/// A container is started from an image that mines.
fn starts_miner(inv: &Invocation) -> bool {
    let words: Vec<&str> = inv.args.iter().filter_map(Arg::known).collect();
    let starts = words.iter().take(3).any(|word| matches!(*word, "run" | "create" | "start"));
    // `docker run aquasec/trivy image …` looks into it.
    let looks = words.iter().any(|word| matches!(*word, "image" | "scan" | "inspect" | "sbom"));
    starts
        && !looks
        && words.iter().any(|word| {
            let image = word.strip_prefix("--image=").unwrap_or(word);
            let named = image.contains('/') && !image.starts_with(['-', '/', '.']);
            let name = last_name(image).split([':', '@']).next().unwrap_or_default();
            let mines =
                || ["xmrig", "monero-miner", "cpuminer", "ethminer"].iter().any(|one| name.contains(one));
            named && (MINERS.contains(&name) || mines())
        })
}

/// Longest text in which loops are looked for, in bytes.
const LONGEST: usize = 4096;

/// Code in the call itself, in one of the interpreters.
fn inline<'s, 'a>(scene: &'s Scene<'a>) -> impl Iterator<Item = (&'a Invocation, String)> + 's {
    let all = scene.invocations().iter().filter(|inv| runs_code(inv));
    all.flat_map(|inv| {
        let scripts = libraries::scripts_of(inv, scene).into_iter().filter(|text| text.len() <= LONGEST);
        inv.args.iter().map(Arg::to_text).chain(scripts).map(move |text| (inv, text))
    })
}

fn stressed(inv: &Invocation) -> bool {
    let words: Vec<&str> = inv.args.iter().filter_map(Arg::known).collect();
    // One processor for less than a minute is nothing that anybody notices.
    let little = matches!(words.as_slice(), ["--cpu" | "-c", "1" | "2", "--timeout" | "-t", time]
            if time.trim_end_matches('s').parse::<u64>().is_ok_and(|seconds| seconds <= 60));
    (has_flag(inv, "-t") || has_flag(inv, "--timeout")) && !little
}

fn limit_lifted(inv: &Invocation) -> bool {
    let words: Vec<&str> = inv.args.iter().filter_map(Arg::known).collect();
    words.windows(2).any(
        |pair| matches!(pair, [limit, "unlimited"] if ["-u", "-v", "-m", "-f", "-Su", "-Hu"].contains(limit)),
    )
}
