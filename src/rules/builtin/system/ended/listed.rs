//! Processes that another program lists, and that are ended by the list.

use super::{PILLARS, matches_all};
use crate::rules::Invocation;
use crate::rules::matcher::{Found, Scene, has_flag, runs};
use crate::shell::Arg;

/// A lister of processes whose whole list goes to `kill`.
pub(super) fn kills_listed<'a>(scene: &Scene<'a>) -> Found<'a> {
    let all = scene.invocations();
    let line = scene.command_line();
    let Some(killer) = all.iter().find(|inv| inv.program == "kill") else { return Found::No };
    let ranged =
        killer.text.split_once("..").and_then(|(_, tail)| tail.split('}').next()?.parse::<u32>().ok());
    if ranged.is_some_and(|last| last >= 1000) || killer.args.iter().any(Arg::has_unknown) && counts_on(line)
    {
        return Found::yes(&killer.text);
    }
    if line.contains("/proc/[0-9]") || line.contains("/proc/[1-9]") {
        return Found::yes(&killer.text);
    }
    if !all.iter().any(|inv| inv.program == "kill" && inv.args.iter().any(Arg::has_unknown)) {
        let many = inv_pids(killer) >= MANY_PIDS;
        return if many { Found::yes(&killer.text) } else { Found::No };
    }
    let found = all.iter().find(|inv| lists_all(inv) && !filtered(inv, all) && reaches_kill(inv, all, line));
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// A loop over so many numbers as there are processes: `for i in {2..99999}`, `$(seq 2 99999)`.
fn counts_on(line: &str) -> bool {
    let number =
        |text: &str| text.trim_start().split(|c: char| !c.is_ascii_digit()).next()?.parse::<u32>().ok();
    let braces = line.split("in {").skip(1).filter_map(|rest| number(rest.split_once("..")?.1));
    let seq = line.split("seq ").skip(1).filter_map(|rest| {
        let words = rest.split([')', '`', ';', '|', '\n']).next().unwrap_or_default();
        words.split_whitespace().last().and_then(number)
    });
    braces.chain(seq).any(|last| last >= 1000)
}

/// So many processes in one go are a range of numbers.
const MANY_PIDS: usize = 200;

fn inv_pids(inv: &Invocation) -> usize {
    inv.operands.iter().filter(|arg| arg.prefix().starts_with(|c: char| c.is_ascii_digit())).count()
}

/// It prints the numbers of all processes, or of all of a user.
fn lists_all(inv: &Invocation) -> bool {
    let words: Vec<String> = inv.args.iter().map(Arg::to_text).collect();
    let first = words.first().map(String::as_str).unwrap_or_default();
    match inv.program.as_str() {
        "top" => has_flag(inv, "-b") || first.contains('b'),
        "ps" => {
            let chosen =
                ["-p", "--pid", "-C", "--ppid", "-t", "--tty"].iter().any(|flag| has_flag(inv, flag));
            let bundle = first.trim_start_matches('-');
            !chosen
                && (bundle.contains(['e', 'A', 'x']) && bundle.len() < 8
                    || ["-e", "-A", "-u", "-U", "-x"].iter().any(|flag| has_flag(inv, flag)))
        }
        "pgrep" => {
            let of_user = ["-u", "-U", "-G", "--euid", "--uid"].iter().any(|flag| has_flag(inv, flag));
            let chosen = ["-P", "-g", "-s", "-t", "-F"].iter().any(|flag| has_flag(inv, flag));
            let patterns = inv.operands.len().saturating_sub(usize::from(of_user && !has_value(inv)));
            !chosen && (matches_all(inv) || patterns == 0)
        }
        "pidof" => inv.operands.iter().any(|arg| arg.known().is_some_and(|name| PILLARS.contains(&name))),
        "seq" => {
            inv.operands.iter().filter_map(|arg| arg.known()?.parse::<u64>().ok()).any(|last| last >= 1000)
        }
        "lsof" => inv.operands.iter().any(|arg| matches!(arg.known(), Some("/" | "/home" | "/usr" | "/var"))),
        "ls" | "find" => inv.operands.iter().any(|arg| matches!(arg.known(), Some("/proc" | "/proc/"))),
        _ => false,
    }
}

/// Its option for a user has the user with it.
fn has_value(inv: &Invocation) -> bool {
    inv.flags.iter().any(|flag| matches!(flag.name.as_str(), "-u" | "-U" | "-G") && flag.value.is_some())
}

/// Something behind it picks single processes out.
fn filtered(lister: &Invocation, all: &[Invocation]) -> bool {
    all.iter().any(|inv| {
        let by_number = |text: &str| text.contains("[0-9]") || text.contains("\\d");
        let picks = match inv.program.as_str() {
            "grep" | "egrep" | "rg" | "fgrep" => {
                !inv.args.iter().any(|arg| by_number(&arg.text())) && !has_flag(inv, "-v")
            }
            "awk" | "gawk" | "mawk" => inv.operands.first().is_some_and(|arg| {
                let text = arg.text();
                text.contains(['/', '~'])
                    || text.contains("==")
                    || text.contains('>') && lister.program != "top"
            }),
            "sed" => inv.args.iter().any(|arg| arg.text().contains('/') && arg.text().contains('p')),
            // `tail -n +2` leaves out the heading.
            "tail" => !inv.args.iter().any(|arg| arg.text().trim_start_matches("-n").starts_with('+')),
            _ => runs(inv, &["head", "fzf", "jq", "comm"]),
        };
        // What stands behind the killer picks among its messages.
        let last = all
            .iter()
            .filter(|one| one.program == "kill" && one.pipeline == lister.pipeline)
            .map(|one| one.stage)
            .min();
        inv.pipeline == lister.pipeline
            && inv.stage > lister.stage
            && last.is_none_or(|last| inv.stage < last)
            && picks
    })
}

/// What it prints is given to `kill`, in a pipeline, a substitution or a loop over one.
fn reaches_kill(lister: &Invocation, all: &[Invocation], line: &str) -> bool {
    let piped = all
        .iter()
        .any(|inv| inv.program == "kill" && inv.pipeline == lister.pipeline && inv.stage > lister.stage);
    let substituted = || {
        let word = lister.text.split_whitespace().next().unwrap_or("ps");
        ["$(", "`", "<("].iter().any(|open| line.contains(&format!("{open}{word}")))
    };
    piped
        || lister.feeds.and_then(|at| all.get(at)).is_some_and(|outer| outer.program == "kill")
        || substituted()
}
