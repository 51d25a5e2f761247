//! Rights: becoming another user, giving rights away, stepping out of a container.

pub(super) mod accounts;
pub(super) mod containers;
pub(super) mod modes;

use super::{everyday, flagged, predicate, run, sub};
use crate::domain::EffectKind;
use crate::rules::Invocation;
use crate::rules::matcher::{Code, Found, Instead, RULE, Rule, Scene, Trigger, When, has_flag, runs};
use crate::shell::Arg;

const CHANGES: &[EffectKind] =
    &[EffectKind::FileCreation, EffectKind::FileModification, EffectKind::FileDeletion];

const PASSWORD_TAKERS: &[&str] = &["sshpass", "sudo"];

/// Programs that look into a running process.
const TRACERS: &[&str] = &["gdb", "lldb", "strace", "ltrace", "rr", "frida", "reptyr"];

fn attaches<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(TRACERS, |inv| {
        ["-p", "--pid", "--attach", "--attach-pid"].iter().any(|flag| has_flag(inv, flag))
            && !shows_stack(inv)
            && !everyday::only_counts(inv)
    });
    Found::from(found.map(|inv| inv.text.as_str()))
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
    const LOOKS: &[&str] = &[
        "where",
        "detach",
        "quit",
        "q",
        "process detach",
        "process status",
        "image list",
        "thread list",
        "py-bt",
    ];
    /// Behind these stand words and numbers.
    const BEFORE: &[&str] = &[
        "bt",
        "backtrace",
        "thread backtrace",
        "thread info",
        "frame info",
        "info",
        "set pagination",
        "set confirm",
        "set width",
        "set height",
    ];
    let plain =
        |text: &str| text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b' ' | b'-' | b'_'));
    // `thread apply all -q bt full 20`
    let each =
        command.strip_prefix("thread apply all ").map(|rest| rest.trim_start_matches(['-', 'q', 's', ' ']));
    let command = each.unwrap_or(command);
    plain(command)
        && (LOOKS.contains(&command)
            || BEFORE.iter().any(|front| {
                command.strip_prefix(front).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
                    && !command.starts_with("thread apply")
            }))
}

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "privilege.pkexec",
        reason: "asks for another user's rights past sudo and its log",
        instead: Some(Instead::Advice("tell the person what is to be done, and let them do it")),
        when: &[
            When::Command(run(&["pkexec", "run0", "gksudo", "kdesudo", "gosu", "su-exec", "runas"])),
            When::Command(sub(&["security"], &["authorize", "authorizationdb"])),
            When::Code(Code { programs: &["osascript"], all: &[&["with administrator privileges"]] }),
            When::Command(flagged(&["sudo"], &[&["-A", "--askpass"]])),
            When::Command(sub(&["machinectl"], &["shell", "login"])),
            When::Command(flagged(&["systemd-run"], &[&["--pty", "-t", "--shell", "-S"]])),
            predicate("unfolded_from_pkexec", Trigger::WRAPPED, from_pkexec),
        ],
        ..RULE
    },
    Rule {
        id: "privilege.password-typed",
        reason: "types a password for the person",
        instead: Some(Instead::Command("sudo -n -l")),
        when: &[predicate(
            "password_piped_to_sudo",
            Trigger::WRAPPED.or(Trigger::programs(PASSWORD_TAKERS)),
            password_piped,
        )],
        ..RULE
    },
    Rule {
        id: "privilege.hunt",
        reason: "looks for a way to rights that it does not have",
        instead: Some(Instead::Advice("tell the person what is to be done, and let them do it")),
        when: &[
            predicate("set_user_id_programs_sought", Trigger::programs(&["find", "getcap"]), setuid_sought),
            When::Command(run(HUNTERS)),
            predicate(
                "exploit_run",
                Trigger::INTERPRETER.or(Trigger::SHELL).or(Trigger::PLACED),
                exploit_run,
            ),
        ],
        ..RULE
    },
    Rule {
        id: "privilege.debugger",
        reason: "attaches to a running process and can change what it does",
        instead: Some(Instead::Advice("start the program under the debugger")),
        when: &[predicate("attached_to_a_process", Trigger::programs(TRACERS), attaches)],
        ..RULE
    },
];

words!("builtin/privilege");

/// Whether a file is called after a hole in a system, or after what goes through one.
fn is_exploit(path: &str) -> bool {
    const NAMES: &[&str] = &[
        "pwnkit",
        "dirtycow",
        "dirtypipe",
        "dirty_sock",
        "sudo-hax",
        "overlayfs_exploit",
        "exploit",
        "local_root",
        "polkit-exploit",
        "looney-tunables",
        "nimbuspwn",
        "baronsamedit",
        "printnightmare",
        "zerologon",
        "eternalblue",
    ];
    let lower = path.to_ascii_lowercase();
    lower.rsplit('/').take(2).any(|name| {
        let stem = name.split('.').next().unwrap_or_default();
        let digits = |part: Option<&str>| {
            part.is_some_and(|part| part.len() >= 4 && part.bytes().all(|b| b.is_ascii_digit()))
        };
        let mut parts = stem.split(['-', '_']);
        NAMES.contains(&stem) || parts.next() == Some("cve") && digits(parts.next()) && digits(parts.next())
    })
}

/// A program or a script of such a name is run.
fn exploit_run<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.invocations().iter().find(|inv| {
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
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// `find / -perm -4000`: programs that run with the rights of root.
fn setuid_sought<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(&["find", "getcap"], |inv| {
        let words: Vec<String> = inv.args.iter().map(Arg::to_text).collect();
        let wide = words.iter().any(|word| matches!(word.as_str(), "/" | "/usr" | "/usr/bin" | "/bin"));
        let sought = words.windows(2).any(|pair| {
            matches!(pair, [flag, mode] if flag == "-perm" && (mode.contains("4000") || mode.contains("6000") || mode.contains("2000") || mode.contains("+s") || mode.contains("=s")))
        });
        let all = inv.program == "getcap" && words.iter().any(|word| word == "/");
        (wide && sought) || all
    });
    Found::from(found.map(|inv| inv.text.as_str()))
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
