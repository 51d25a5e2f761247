//! Ending the client, the guard, or what either of them runs in.

use super::super::{lists, system::reloads};
use crate::domain::client::PROCESSES;
use crate::rules::Invocation;
use crate::rules::matcher::{Found, Scene, contains_word, has_flag, may_be, runs, runs_code};
use crate::shell::Arg;

pub(super) const SESSIONS: &[&str] = &["loginctl", "tmux"];

words!("builtin/selfprotect/killed");
/// Variables with the numbers of the processes around a shell.
const OWN_PROCESSES: &[&str] = &["CLAUDE_PID", "OPENCODE_PID", "PPID"];
/// What a client may be running in, and much else besides.
pub(in crate::rules::builtin) const RUNTIMES: &[&str] =
    &["node", "bun", "deno", "electron", "node /usr/bin/claude"];

/// Whether it only asks if processes are there: by the signal 0.
pub(in crate::rules::builtin) fn only_asks(inv: &Invocation) -> bool {
    let mut args = inv.args.iter().map(|arg| arg.known().unwrap_or_default());
    match args.next() {
        Some("-0") => args.next().is_some(),
        Some("--signal") => args.next() == Some("0"),
        // `pkill -s 0` means a session.
        Some("-s" | "-n") if inv.program != "pkill" => args.next() == Some("0"),
        _ => false,
    }
}

/// The client or the guard.
pub(super) fn guard<'a>(scene: &Scene<'a>) -> Found<'a> {
    let line = scene.command_line();
    let found = scene.first(KILLERS, |inv| match inv.program.as_str() {
        _ if reloads(inv) || only_asks(inv) => false,
        "prlimit" => own(line),
        "kill" | "tkill" => {
            (numbers(inv).any(is_everybody) && !tidies_up(inv, line))
                || (open(inv) && (own(line) || found_around(scene)))
        }
        "fuser" => has_flag(inv, "-k") && inv.args.iter().any(|arg| names_guard(&arg.text())),
        "pkill" if has_flag(inv, "-v") || has_flag(inv, "--inverse") => true,
        _ => own(line) || patterns(inv).any(|arg| means(inv, arg, PROCESSES) || names_guard(&arg.text())),
    });
    let found = found.or_else(|| scene.invocations().iter().find(|inv| signals_parent(inv)));
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// What a client runs in, or everything of a user or a session.
pub(super) fn runtime<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(KILLERS, |inv| match inv.program.as_str() {
        _ if only_asks(inv) => false,
        "kill" | "tkill" => {
            let lists = |other: &Invocation| {
                runs(other, &["pgrep", "pidof"])
                    && !is_told_by_another(inv, other)
                    && patterns(other).any(|arg| means(other, arg, RUNTIMES))
            };
            tidies_up(inv, scene.command_line())
                || open(inv) && !ends_its_own(inv) && scene.invocations().iter().any(lists)
        }
        "fuser" | "prlimit" => false,
        _ if patterns(inv).next().is_none() => PROCESS_CHOICES.iter().any(|flag| has_flag(inv, flag)),
        _ => patterns(inv).any(|arg| means(inv, arg, RUNTIMES)),
    });
    let session = || {
        scene.first(SESSIONS, |inv| {
            inv.args.iter().any(|arg| {
                matches!(
                    arg.known(),
                    Some("terminate-user" | "kill-user" | "terminate-session" | "kill-server")
                )
            })
        })
    };
    Found::from(found.or_else(session).map(|inv| inv.text.as_str()))
}

/// `pgrep -a node; kill $(pgrep -f vite)`: all that `kill` is told it looks for itself, and nothing of the list is in it.
fn is_told_by_another(inv: &Invocation, lister: &Invocation) -> bool {
    let bare = |text: &str| -> String {
        text.chars().filter(|c| !c.is_whitespace() && !matches!(c, '\'' | '"' | '\\')).collect()
    };
    let looks = |(at, _): (usize, &str)| {
        let rest = inv.text.get(at..).and_then(|rest| rest.strip_prefix("$(")).unwrap_or_default();
        ["pgrep ", "pidof ", "lsof "].iter().any(|finder| rest.starts_with(finder))
    };
    if !inv.text.contains("$(")
        || inv.text.contains(['`', '|', ';'])
        || !inv.text.match_indices('$').all(looks)
    {
        return false;
    }
    let told = bare(&inv.text);
    inv.pipeline != lister.pipeline
        && !told.contains(&bare(&lister.text))
        && !RUNTIMES.iter().any(|name| told.contains(name))
}

fn own(line: &str) -> bool {
    OWN_PROCESSES.iter().any(|name| line.contains(name))
}

/// What `kill` is given behind its signal.
fn numbers(inv: &Invocation) -> impl Iterator<Item = &Arg> {
    let mut args = inv.args.iter();
    let mut rest = args.as_slice();
    if let Some(first) = args.next() {
        match first.known() {
            Some("-s" | "-n" | "--signal" | "-q") => {
                args.next();
                rest = args.as_slice();
            }
            Some("--") => rest = args.as_slice(),
            Some(text) if text.len() > 1 && text.starts_with('-') => rest = args.as_slice(),
            _ => {}
        }
    }
    rest.iter().filter(|arg| arg.known() != Some("--"))
}

/// `trap 'kill 0' EXIT`: a script ends what it started in the background, where it has a group of its own.
fn tidies_up(inv: &Invocation, line: &str) -> bool {
    let all_trapped = || {
        let mut ends = line.match_indices("kill 0").map(|(at, _)| line.get(..at).unwrap_or_default());
        ends.all(|front| {
            front.rsplit_once("trap ").is_some_and(|(_, text)| {
                let quote = text.trim_start().chars().next().filter(|c| matches!(c, '\'' | '"'));
                quote.is_some_and(|quote| text.matches(quote).count() == 1)
            })
        })
    };
    inv.args.iter().all(|arg| arg.known() == Some("0")) && line.contains("trap ") && all_trapped()
}

/// `kill $!`: what this shell started last.
fn ends_its_own(inv: &Invocation) -> bool {
    let mut words = inv.text.split_whitespace().skip_while(|word| *word != "kill").skip(1).peekable();
    words.peek().is_some() && words.all(|word| matches!(word, "$!" | "\"$!\"" | "-9" | "-INT" | "-TERM"))
}

/// All processes, the group that the shell itself is in, or the first of all.
fn is_everybody(arg: &Arg) -> bool {
    matches!(arg.known(), Some("0" | "-0" | "-1" | "1" | "+0" | "00"))
}

/// Whether it is told only while it runs whom to end.
fn open(inv: &Invocation) -> bool {
    let mut numbers = numbers(inv).peekable();
    numbers.peek().is_none() || numbers.any(Arg::has_unknown)
}

/// Whether something on the line looks for the guard, or for the processes around the shell.
fn found_around(scene: &Scene<'_>) -> bool {
    let lists = scene.invocations().iter().any(lists_processes);
    scene.invocations().iter().filter(|inv| runs(inv, FINDERS)).any(|inv| {
        inv.args.iter().any(|arg| {
            let text = arg.text();
            if text.starts_with("--ppid") {
                // Children of one process.
                return false;
            }
            let around = ["ppid", "pgid", "/proc/self/stat", "/proc/$$/stat"];
            let process = text.starts_with("/proc/") && text.contains("stat");
            process
                || names_guard(&text)
                || around.iter().any(|word| contains_word(&text, word))
                || runs(inv, &["pgrep", "pidof"]) && means(inv, arg, PROCESSES)
                // An option is no pattern, and lines that are no processes are searched for anything.
                || lists && runs(inv, &["grep", "egrep", "rg"]) && !text.starts_with('-') && means(inv, arg, PROCESSES)
        })
    })
}

/// Whether it prints the names or command lines of processes.
fn lists_processes(inv: &Invocation) -> bool {
    let numbers_only = || inv.args.iter().any(|arg| is_short_with(arg.prefix(), 't'));
    runs(inv, &["ps", "pgrep", "pstree", "top", "htop", "procs", "ss", "netstat"])
        || inv.program == "lsof" && !numbers_only()
        || inv.args.iter().any(|arg| arg.text().contains("/proc"))
}

/// Whether an argument is a group of short options with this one in it: `-ti`.
fn is_short_with(text: &str, option: char) -> bool {
    text.strip_prefix('-').is_some_and(|letters| !letters.starts_with('-') && letters.contains(option))
}

fn names_guard(text: &str) -> bool {
    contains_word(text, "lazaret") || lists::CLIENTS.iter().any(|client| contains_word(text, client))
}

/// The names or patterns that a command chooses processes by.
fn patterns(inv: &Invocation) -> impl Iterator<Item = &Arg> {
    // The signal is an option that no table has: `-9`, `-KILL`.
    inv.operands.iter().filter(|arg| !arg.prefix().starts_with('-'))
}

/// Whether a pattern can stand for one of `names`: as a whole for `killall`, anywhere in it for the others. Taken so widely
/// that nothing is missed.
fn means(inv: &Invocation, arg: &Arg, names: &[&str]) -> bool {
    let exact = inv.program.starts_with("killall") && !has_flag(inv, "-r") && !has_flag(inv, "--regexp");
    if arg.has_unknown() {
        return false;
    }
    let text = arg.text();
    if exact {
        return names
            .iter()
            .any(|name| text.rsplit('/').next().is_some_and(|last| last.eq_ignore_ascii_case(name)));
    }
    text.split('|').map(widened).any(|pattern| names.iter().any(|name| may_be(&pattern, name)))
}

/// A regular expression as a pattern of the shell that matches at least as much.
fn widened(expression: &str) -> String {
    let mut out = String::from("*");
    let mut rest = expression.chars().peekable();
    while let Some(c) = rest.next() {
        let one = match c {
            '^' | '$' | '(' | ')' => continue,
            '.' => '?',
            '[' => {
                // The first of them may be the bracket itself.
                rest.next();
                let _closed = rest.find(|c| *c == ']');
                // A class inside: `[[:alpha:]]`.
                let _outer = rest.next_if_eq(&']');
                '?'
            }
            '\\' => rest.next().unwrap_or('?'),
            c => c,
        };
        if matches!(one, '*' | '+' | '{') || matches!(rest.peek(), Some('*' | '+' | '?' | '{')) {
            let closed = rest.next_if(|c| matches!(c, '*' | '+' | '?' | '{'));
            if one == '{' || closed == Some('{') {
                let _closed = rest.find(|c| *c == '}');
            }
            out.push('*');
        } else {
            out.push(one);
        }
    }
    out.push('*');
    out
}

/// Code that sends a signal to the process that it was started from, to its group or to everybody.
fn signals_parent(inv: &Invocation) -> bool {
    const EVERYBODY: &[&str] =
        &["killpg(0", "kill(-1", "kill(0,", "kill9,-1", "kill9,0", "getpgrp", "getpgid"];
    runs_code(inv)
        && inv.args.iter().map(Arg::text).filter(|code| contains_word(code, "kill")).any(|code| {
            let bare: String = code.chars().filter(|c| !c.is_whitespace()).collect();
            contains_word(&bare, "ppid") || EVERYBODY.iter().any(|call| bare.contains(call))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_widened() {
        for (expression, name) in [
            ("c[l]aude", "claude"),
            ("^node$", "node"),
            ("cl?aude", "claude"),
            ("(claude|x)", "claude"),
            ("c.aude", "claude"),
            ("clau", "claude"),
            ("a+ude", "claude"),
            (".*", "claude"),
            ("c[^x]aude", "claude"),
            ("cla{1,2}ude", "claude"),
            ("hook", "lazaret hook claude-code"),
        ] {
            let hit = expression.split('|').map(widened).any(|pattern| may_be(&pattern, name));
            assert!(hit, "{expression}: {}", widened(expression));
        }
        for expression in ["vite", "node server", "^python", "node .*server.js", "[v]ite", "webpack|esbuild"]
        {
            let hit = |name: &&str| expression.split('|').map(widened).any(|pattern| may_be(&pattern, name));
            assert!(!PROCESSES.iter().chain(RUNTIMES).any(hit), "{expression}");
        }
    }
}
