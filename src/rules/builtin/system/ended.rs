//! Processes: killed by the dozen, multiplied without end.

mod listed;

use super::{KILLERS, killed_names, reloads, services};
use crate::domain::{EffectKind, Severity};
use crate::rules::Invocation;
use crate::rules::builtin::selfprotect::only_asks;
use crate::rules::builtin::{everyday, flagged, predicate, run, sub};
use crate::rules::matcher::{
    Class, Code, Command, Found, Instead, Operand, RULE, Rule, Scene, Trigger, When, classify, has_flag,
    input_of, runs, runs_code, target_of,
};
use crate::shell::Arg;
use listed::kills_listed;

pub(in crate::rules::builtin) const RULES: &[Rule] = &[
    Rule {
        id: "system.kill-everything",
        severity: Severity::Critical,
        reason: "ends every process that it may end, this session included",
        instead: Some(Instead::Advice(
            "name the one process: its number, or a pattern of its command line with pkill -f",
        )),
        when: &[
            predicate("kills_everything", Trigger::programs(KILLERS), kills_everything),
            predicate("kills_all_that_are_listed", Trigger::programs(&["kill"]), kills_listed),
            predicate("kills_what_uses_a_system_directory", Trigger::programs(&["fuser"]), kills_users_of),
            predicate("session_pillar_killed", Trigger::programs(KILLERS), pillar_killed),
            predicate("code_that_kills_all", Trigger::INTERPRETER, code_kills_all),
            predicate("door_closed", services::NEEDS.or(Trigger::PLACED), services::door_closed),
            When::Command(sub(
                &["loginctl"],
                &["terminate-user", "kill-user", "terminate-session", "kill-session", "terminate-seat"],
            )),
            When::Command(sub(&["systemctl"], &["exit"])),
            When::Command(Command {
                operand: Operand::Is(&["*", "*.service", "*.target", "*.socket"]),
                ..sub(&["systemctl"], &["stop", "kill", "mask", "disable"])
            }),
            When::Command(run(&["slay"])),
            When::Command(flagged(&["xkill"], &[&["-all", "-frame"]])),
            When::Command(Command {
                operand: Operand::Contains(&[
                    "*",
                    "pid ge",
                    "pid gt",
                    "pid ne",
                    "username eq",
                    "explorer.exe",
                    "csrss",
                    "lsass",
                    "winlogon",
                ]),
                ..run(&["taskkill", "taskkill.exe"])
            }),
            When::Command(Command { operand: Operand::Is(&["delete"]), ..sub(&["wmic"], &["process"]) }),
            When::Command(Command {
                operand: Operand::Contains(&["ksmserver"]),
                ..run(&["qdbus", "qdbus6"])
            }),
            When::Command(sub(&["launchctl"], &["kill"])),
            When::Command(Command {
                operand: Operand::Is(&[
                    "systemd-logind",
                    "display-manager",
                    "dbus",
                    "gdm",
                    "sddm",
                    "lightdm",
                    "systemd-logind.service",
                ]),
                ..sub(&["systemctl"], &["restart", "stop", "kill"])
            }),
            When::Command(Command {
                operand: Operand::Starts(&["user@"]),
                ..sub(&["systemctl"], &["restart", "stop", "kill"])
            }),
            When::Command(Command {
                operand: Operand::Is(&[
                    "ssh",
                    "sshd",
                    "ssh.service",
                    "sshd.service",
                    "NetworkManager",
                    "NetworkManager.service",
                    "networking",
                    "systemd-networkd",
                    "systemd-resolved",
                    "systemd-udevd",
                    "dbus.service",
                    "dbus-broker",
                ]),
                ..sub(&["systemctl"], &["stop", "kill", "disable", "mask"])
            }),
            When::Command(Command {
                flags: &[&["--all", "-a"]],
                ..sub(&["podman"], &["kill", "stop", "rm"])
            }),
            When::Code(Code { programs: &["osascript"], all: &[&["log out", "aevtrlgo"]] }),
            When::Command(sub(&["launchctl"], &["reboot", "bootout gui/501", "bootout user/501"])),
            When::Command(Command {
                without: &["--no-prompt-help"],
                ..flagged(&["gnome-session-quit"], &[&["--force", "--no-prompt", "--logout"]])
            }),
            When::Command(Command {
                operand: Operand::Is(&["*", "user.slice", "system.slice", "-.slice"]),
                ..sub(&["systemctl"], &["stop", "kill"])
            }),
            When::Command(Command { operand: Operand::Is(&["*"]), ..run(&["taskkill", "taskkill.exe"]) }),
            When::Command(sub(&["wmic"], &["process delete"])),
        ],
        ..RULE
    },
    Rule {
        id: "system.fork-bomb",
        severity: Severity::Critical,
        reason: "starts copies of itself without end",
        instead: Some(Instead::Advice(
            "bound the number of processes, and run them in a container with a limit",
        )),
        when: &[
            predicate(
                "function_that_starts_itself_twice",
                Trigger::SIGNS.or(Trigger::WRAPPED).or(Trigger::UNKNOWN),
                fork_bomb,
            ),
            predicate("code_that_forks_without_end", Trigger::ACTIVE, forking_code),
        ],
        ..RULE
    },
];

words!("builtin/system/ended");

fn kills_everything<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(KILLERS, |inv| match inv.program.as_str() {
        _ if reloads(inv) || only_asks(inv) => false,
        "killall5" => true,
        "kill" => {
            let inverse = |other: &Invocation| has_flag(other, "-v") || has_flag(other, "--inverse");
            kills_minus_one(inv)
                || inv.args.iter().any(Arg::has_unknown) && scene.first(&["pgrep"], inverse).is_some()
        }
        // `killall -u me jest` means a program of that user's.
        "killall" => {
            let named = inv.operands.iter().any(|arg| arg.text().contains(char::is_alphabetic));
            !named && (has_flag(inv, "-u") || has_flag(inv, "--user")) || matches_all(inv)
        }
        "skill" => has_flag(inv, "-u") || has_flag(inv, "--user") || matches_all(inv),
        // With a user and no pattern of its own: everything of that user. A user may be taken for an operand.
        _ => {
            let words: Vec<String> = inv.args.iter().map(Arg::to_text).collect();
            let own = |flag: &str| {
                let at = words.iter().position(|word| word == flag);
                at.is_some_and(|at| at + 2 >= words.len())
            };
            matches_all(inv)
                || inv.operands.len() <= 1 && names_user_only(inv)
                || words.len() <= 4 && ["-t", "-g", "-s"].iter().any(|flag| own(flag))
        }
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// `-1` as process: behind a signal or behind `--`. Alone in front of a number it is a signal.
fn kills_minus_one(inv: &Invocation) -> bool {
    let words: Vec<&str> = inv.args.iter().filter_map(Arg::known).collect();
    let last = words.last().copied();
    // All of the own group: `kill -9 -$$`.
    let group =
        inv.args.iter().skip(1).any(|arg| arg.has_unknown() && arg.prefix() == "-" && arg.text() == "-…")
            && inv.text.contains("-$$");
    // Process 1 is what everything hangs from.
    let first_process = last == Some("1");
    first_process
        || group
        || last == Some("-1") && words.len() > 1
        || words.iter().skip(1).any(|word| *word == "-1")
}

fn names_user_only(inv: &Invocation) -> bool {
    // The letters of a signal are no bundle of options: `-HUP`.
    let is_signal = |word: &str| word.len() > 3 && word.bytes().skip(1).all(|b| b.is_ascii_uppercase());
    let own = |word: &str| {
        ["-u", "-U", "--euid", "--uid"].iter().any(|flag| word.starts_with(flag)) && !is_signal(word)
    };
    let bundled = || !inv.args.iter().filter_map(Arg::known).any(is_signal);
    let by_user = inv.args.iter().any(|arg| own(arg.prefix()))
        || bundled() && ["-u", "-U", "--euid", "--uid"].iter().any(|flag| has_flag(inv, flag));
    let signal = inv.flags.iter().filter(|flag| flag.value.is_some() && flag.name.contains("-s")).count();
    by_user && inv.args.iter().filter(|arg| !arg.prefix().starts_with('-')).count() <= 1 + signal
}

/// `fuser -k` on a directory that everything uses; a port is one process.
fn kills_users_of<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(&["fuser"], |inv| {
        let kills = has_flag(inv, "-k") || has_flag(inv, "--kill");
        kills
            && inv.operands.iter().any(|arg| {
                let place =
                    classify(&target_of(arg, inv.cwd.as_deref()), EffectKind::FileDeletion, &scene.view);
                arg.prefix().starts_with(['/', '~', '.'])
                    && place.any(&[Class::Root, Class::System, Class::Home, Class::Users, Class::Project])
            })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

fn pillar_killed<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(KILLERS, |inv| {
        let checks = only_asks(inv) || has_flag(inv, "-0") || has_flag(inv, "-HUP");
        // With -f it is a part of a command line, and there `bash` may be one script.
        !checks
            && !has_flag(inv, "-f")
            && killed_names(inv, scene.invocations())
                .flat_map(|name| name.split('|'))
                .any(|name| PILLARS.contains(&name) && !everyday::refreshes_desktop(name, inv))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// Code that sends a signal to every process.
fn code_kills_all<'a>(scene: &Scene<'a>) -> Found<'a> {
    /// Without these nobody can work on the machine.
    const PILLARS: &[&str] = &["sshd", "systemd", "launchd", "windowserver", "gnome-shell", "xorg"];
    scene.code_where(|codes, _| {
        codes.iter().any(|text| {
            if !text.contains("kill") && !text.contains("terminate") {
                return false;
            }
            let bare: String =
                text.chars().filter(|c| !c.is_whitespace()).collect::<String>().to_ascii_lowercase();
            let chosen = bare.contains("if") && !bare.contains("isdigit");
            let each = bare.contains("process_iter(")
                || bare.contains("pids()")
                || bare.contains("listdir('/proc')");
            let kills = bare.contains(".kill()")
                || bare.contains("kill(int(")
                || bare.contains(".terminate()")
                || bare.contains("kill(");
            let pillar = || {
                PILLARS
                    .iter()
                    .any(|name| bare.contains(&format!("'{name}'")) || bare.contains(&format!("\"{name}\"")))
            };
            KILLS_ALL.iter().any(|call| bare.contains(call)) || each && kills && (!chosen || pillar())
        })
    })
}

fn matches_all(inv: &Invocation) -> bool {
    inv.operands.iter().any(|arg| matches!(arg.known(), Some("" | "." | ".*" | "^" | "$" | ".+" | "*")))
}

fn fork_bomb<'a>(scene: &Scene<'a>) -> Found<'a> {
    // `$0 & $0`: a script that starts itself.
    let own = |inv: &&Invocation| {
        // Nothing else is left of a text, or begins one.
        if !matches!(inv.text.as_bytes().first(), Some(b'.' | b'b' | b's' | b'$' | b'"' | b'%')) {
            return false;
        }
        let text = inv.text.trim_start_matches("./").trim_start_matches("bash ").trim_start_matches("sh ");
        text.starts_with("$0") || text.starts_with("\"$0\"") || text.starts_with("%0")
    };
    let twice = scene.invocations().iter().filter(own).count() > 1;
    if scene.view.survey.restarts.is_some() || twice {
        return Found::yes(scene.command_line());
    }
    Found::No
}

/// A loop without an end, right in front of a fork or right behind it.
fn forking_code<'a>(scene: &Scene<'a>) -> Found<'a> {
    const ENDLESS: &[&str] = &[
        "while1",
        "while(1)",
        "whiletrue",
        "while(true)",
        "for(;;)",
        "loop{",
        "loopdo",
        "iter(int,1)",
        "itertools.count()",
        "redo",
        "while!0",
        "whilefork",
    ];
    const FORKS: &[&str] = &["fork()", "fork;", "fork}", "forkwhile", "fork(", "{fork", "fork{"];
    const WAITS: &[&str] = &["sleep", "wait", "exit", "accept", "break", "return"];
    let is_bomb = |text: &str| {
        if text.len() > 2000 || !text.contains("fork") {
            return false;
        }
        let bare: String =
            text.chars().filter(|c| !c.is_whitespace()).collect::<String>().to_ascii_lowercase();
        let any = |words: &[&str]| words.iter().any(|word| bare.contains(word));
        // As many turns are as many powers of two.
        let turns = |tail: &str| tail.bytes().take_while(u8::is_ascii_digit).count() > 1;
        let often = || bare.split("range(").skip(1).any(turns);
        (any(ENDLESS) || often()) && any(FORKS) && !any(WAITS)
    };
    let compilers = &["gcc", "cc", "clang", "tcc", "g++", "clang++"];
    let found = scene.running(|inv| runs_code(inv) || runs(inv, compilers)).find(|inv| {
        let builds = runs(inv, compilers);
        runs_code(inv) && scene.codes(inv).iter().any(|text| is_bomb(text))
            || builds && input_of(inv, scene).iter().any(|text| is_bomb(text))
    });
    let written = || {
        let mut files = scene.view.survey.written.iter();
        files.any(|(path, text)| path.ends_with(".c") && is_bomb(&text.text()))
    };
    match found {
        Some(inv) => Found::yes(&inv.text),
        None if written() => Found::yes(scene.command_line()),
        None => Found::No,
    }
}
