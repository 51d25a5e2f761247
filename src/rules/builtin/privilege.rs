//! Rights: becoming another user, giving rights away, stepping out of a container.

pub(super) mod accounts;
pub(super) mod containers;
pub(super) mod modes;

use super::everyday;
use crate::domain::EffectKind;
use crate::rules::Invocation;
use crate::rules::matcher::{Found, Scene, has_flag, runs};
use crate::shell::Arg;

const CHANGES: &[EffectKind] =
    &[EffectKind::FileCreation, EffectKind::FileModification, EffectKind::FileDeletion];

const PASSWORD_TAKERS: &[&str] = &["sshpass", "sudo"];

/// Programs that look into a running process.
const TRACERS: &[&str] = &["gdb", "lldb", "strace", "ltrace", "rr", "frida", "reptyr"];

fn attaches(inv: &Invocation) -> bool {
    ["-p", "--pid", "--attach", "--attach-pid"].iter().any(|flag| has_flag(inv, flag))
        && !shows_stack(inv)
        && !everyday::only_counts(inv)
}

/// A debugger that prints where a process stands, and goes.
fn shows_stack(inv: &Invocation) -> bool {
    // Which process it is need not be known.
    let after_pid = |at: usize| {
        let before = at.checked_sub(1).and_then(|at| inv.args.get(at)).and_then(Arg::known);
        matches!(before, Some("-p" | "--pid" | "--attach-pid"))
    };
    let known = |(at, arg): (usize, &'_ Arg)| {
        arg.known().map(str::to_owned).or_else(|| after_pid(at).then(String::new))
    };
    let known: Option<Vec<String>> = inv.args.iter().enumerate().map(known).collect();
    let Some(words) = known else { return false };
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let has = |names: &[&str]| words.iter().any(|word| names.contains(word));
    let told = |names: &[&str]| -> Vec<&str> {
        let pairs = words.windows(2).filter(|pair| pair.first().is_some_and(|word| names.contains(word)));
        pairs.filter_map(|pair| pair.last().copied()).collect()
    };
    let (batch, told, others): (bool, Vec<&str>, &[&str]) = match inv.program.as_str() {
        "gdb" => (
            has(&["-batch", "--batch"]),
            told(&["-ex", "--ex"]),
            &["-x", "--command", "-iex", "-ix", "--eval-command"],
        ),
        "lldb" => (
            has(&["-b", "--batch"]),
            told(&["-o", "--one-line"]),
            &["-s", "--source", "-S", "-O", "-k", "-K", "--repl", "-r"],
        ),
        _ => return false,
    };
    !inv.privileged
        && batch
        && !told.is_empty()
        && told.into_iter().all(prints_stack)
        && !words.iter().any(|word| others.iter().any(|other| word.starts_with(other)))
}

/// A command of a debugger's that shows, where nothing in it can be an expression that is worked out.
fn prints_stack(command: &str) -> bool {
    let plain =
        |text: &str| text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b' ' | b'-' | b'_'));
    // `thread apply all -q bt full 20`
    let each =
        command.strip_prefix("thread apply all ").map(|rest| rest.trim_start_matches(['-', 'q', 's', ' ']));
    let command = each.unwrap_or(command);
    plain(command)
        && (DEBUGGER_LOOKS.contains(&command)
            || DEBUGGER_FRONTS.iter().any(|front| {
                command.strip_prefix(front).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
                    && !command.starts_with("thread apply")
            }))
}

words!("builtin/privilege");

/// Whether a file is called after a hole in a system, or after what goes through one.
fn is_exploit(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    lower.rsplit('/').take(2).any(|name| {
        let stem = name.split('.').next().unwrap_or_default();
        let digits = |part: Option<&str>| {
            part.is_some_and(|part| part.len() >= 4 && part.bytes().all(|b| b.is_ascii_digit()))
        };
        let mut parts = stem.split(['-', '_']);
        EXPLOITS.contains(&stem)
            || parts.next() == Some("cve") && digits(parts.next()) && digits(parts.next())
    })
}

/// A program or a script of such a name is run.
fn exploit_run(inv: &Invocation) -> bool {
    let word = inv.word.text();
    let placed = word.contains('/') && is_exploit(&word);
    let script = || {
        let hunts = |path: &str| path.rsplit('/').next().is_some_and(|name| HUNTERS.contains(&name));
        runs(inv, &["python", "python3", "perl", "ruby", "bash", "sh", "zsh", "dash"]) && {
            inv.operands.first()
        }
        .map(Arg::text)
        .is_some_and(|path| is_exploit(&path) || hunts(&path))
    };
    placed || script()
}

/// `find / -perm -4000`: programs that run with the rights of root.
fn setuid_sought(inv: &Invocation) -> bool {
    let words: Vec<String> = inv.args.iter().map(Arg::to_text).collect();
    let wide = words.iter().any(|word| matches!(word.as_str(), "/" | "/usr" | "/usr/bin" | "/bin"));
    let sought = words.windows(2).any(|pair| {
            matches!(pair, [flag, mode] if flag == "-perm" && (mode.contains("4000") || mode.contains("6000") || mode.contains("2000") || mode.contains("+s") || mode.contains("=s")))
        });
    let all = inv.program == "getcap" && words.iter().any(|word| word == "/");
    (wide && sought) || all
}

fn from(scene: &Scene<'_>, wrapper: &str) -> Option<usize> {
    scene.invocations().iter().position(|inv| inv.wrappers.iter().any(|name| name == wrapper))
}

fn from_pkexec<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found =
        from(scene, "pkexec").or_else(|| from(scene, "run0")).and_then(|at| scene.invocations().get(at));
    Found::from(found.map(|inv| inv.text.as_str()))
}

fn password_piped<'a>(scene: &Scene<'a>) -> Found<'a> {
    let only_tells = |inv: &Invocation| inv.args.iter().all(|arg| matches!(arg.known(), Some("-V" | "-h")));
    let types = |inv: &&Invocation| {
        inv.program == "sshpass" && !only_tells(inv) || inv.wrappers.iter().any(|name| name == "sshpass")
    };
    if let Some(inv) = scene.invocations().iter().find(types) {
        return Found::yes(&inv.text);
    }
    // The option is gone once sudo is unfolded; the text still has it.
    let asked = scene.says("sudo -S") || scene.says("sudo --stdin");
    let found = scene.invocations().iter().find(|inv| asked && (inv.privileged || inv.program == "sudo"));
    Found::from(found.map(|inv| inv.text.as_str()))
}
