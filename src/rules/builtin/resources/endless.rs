//! What does not end.

use super::{FLOOD, LONGEST, inline};
use crate::rules::builtin::loops::{Loop, bare, long};
use crate::rules::matcher::{Found, Scene, flag_value, host_of, is_known};
use crate::shell::Arg;

words!("builtin/resources/endless");

/// Turns of a loop from which on nobody meant it.
const MANY: u64 = 1000;

/// More connections or requests than any test of somebody else's machine would make.
fn overloads<'a>(scene: &Scene<'a>) -> Found<'a> {
    let Found::Yes(_) = loads_foreign(scene) else { return Found::No };
    let found = scene.first(LOAD_TESTERS, |inv| {
        let number = |flags: &[&str]| {
            flag_value(inv, flags)
                .and_then(|arg| arg.text().trim_start_matches('=').parse::<u64>().ok())
                .unwrap_or_default()
        };
        let inline = |flag: &str| {
            let given = inv
                .args
                .iter()
                .filter_map(Arg::known)
                .filter_map(|word| word.strip_prefix(flag)?.parse::<u64>().ok());
            given.max().unwrap_or_default()
        };
        number(&["-c", "--connections", "--concurrent", "-u"]).max(inline("-c")) >= MANY
            || number(&["-n", "--requests", "--amount"]).max(inline("-n")) >= FLOOD
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

fn loads_foreign<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(LOAD_TESTERS, |inv| {
        let hosts = inv
            .operands
            .iter()
            .chain(flag_value(inv, &["-H", "--host", "-u"]))
            .map(|arg| host_of(&arg.text()));
        { hosts }.any(|host| host.contains('.') && !is_known(&host, scene.view.policy))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

fn restless_loop<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.texts().any(|text| {
        let looped =
            ["while", "until", "for"].iter().any(|word| text.contains(word)) && text.contains("done");
        // A heredoc is data, and may be long.
        let plain = || text.len() <= LONGEST && (!text.contains("<<") || text.contains("<<<"));
        looped && plain() && long(&bare(text), MANY).iter().any(harms)
    });
    if found { Found::yes(scene.command_line()) } else { Found::No }
}

/// A loop that never ends and starts, writes or does nothing but turn; or one that starts thousands at once.
fn harms(found: &Loop<'_>) -> bool {
    if found.rests() {
        return false;
    }
    if let Some(turns) = found.turns {
        let makes = found.commands().iter().any(|(command, _)| begins(command, FLOODING_COMMANDS));
        return found.spawns() || makes && turns >= FLOOD;
    }
    let commands = found.commands();
    let behind = found.after.trim_start();
    let appended = behind.starts_with('>') && !behind.contains("/dev/null");
    let idle = commands.iter().all(|(command, _)| {
        matches!(*command, ":" | "true" | "do" | "continue")
            || command.starts_with(|c: char| c.is_ascii_alphabetic()) && is_assignment(command)
    });
    let grows = commands.iter().any(|(command, _)| {
        let another =
            command.contains("$RANDOM") || command.contains("mktemp") || command.contains("uuidgen");
        let copies = another && begins(command, &["dd", "cp", "tar", "head", "truncate", "fallocate"]);
        let writes = command.contains('>') && !command.contains("/dev/null") && !command.contains(">&");
        writes
            || copies
            || begins(
                command,
                &["curl", "wget", "touch", "mkdir", "fork", "yes", "$0", "\"$0\"", "bash $0", "sh $0"],
            )
    });
    found.spawns() || appended || idle || grows
}

fn is_assignment(command: &str) -> bool {
    let name = command.split('=').next().unwrap_or_default();
    command.contains('=') && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

fn begins(command: &str, words: &[&str]) -> bool {
    let command = command.trim_start_matches(['(', '{', ' ']);
    words.iter().any(|word| {
        command.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '>']))
    })
}

fn restless_code<'a>(scene: &Scene<'a>) -> Found<'a> {
    const RESTS: &[&str] = &[
        "break", "sleep", "exit", "return", "input", "recv", "accept", "readline", "read(", "await", "yield",
        "listen", "last", "raise", "throw", "stdin", "gets", "select", "poll", "wait", "getline", "next(",
        "join(", "die", "quit",
    ];
    let found = inline(scene).find(|(_, text)| {
        // Most arguments are no code.
        if !text.contains(['(', '{', ';']) && !["while", "loop"].iter().any(|word| text.contains(word)) {
            return false;
        }
        let bare: String =
            text.chars().filter(|c| !c.is_whitespace()).collect::<String>().to_ascii_lowercase();
        if !TURNS.iter().any(|turn| bare.contains(turn)) {
            return false;
        }
        let starts = ["popen", "spawn", "fork", "process(", "thread("].iter().any(|word| bare.contains(word))
            || bare.contains("system(") && ["&\")", "&')"].iter().any(|end| bare.contains(end));
        let rests = RESTS.iter().any(|word| bare.contains(word));
        !rests || starts && !["break", "exit", "wait", "join("].iter().any(|word| bare.contains(word))
    });
    Found::from(found.map(|(inv, _)| inv.text.as_str()))
}
