//! What is started by the system: services and jobs.

use super::{WRITES, written};
use crate::domain::{Action, Severity, Target, Verdict};
use crate::rules::builtin::{flagged, lists, predicate, run, sub};
use crate::rules::matcher::{
    At, Classes, Code, Command, EFFECT, Found, Instead, OnEffect, Operand, RULE, Rule, Scene, Trigger, When,
    at, has_flag, runs,
};
use crate::shell::Arg;

pub(in crate::rules::builtin) const RULES: &[Rule] = &[
    Rule {
        id: "persistence.cron",
        reason: "plants a job that runs by itself later",
        instead: Some(Instead::Advice("print the line for the person to add to their crontab")),
        when: &[written(lists::CRON)],
        ..RULE
    },
    Rule {
        id: "persistence.crontab",
        reason: "changes the jobs that run by themselves",
        instead: Some(Instead::Command("crontab -l")),
        when: &[
            When::Command(flagged(&["crontab"], &[&["-e"]])),
            When::Command(Command { operand: Operand::Some, without: &["-l", "-r"], ..run(&["crontab"]) }),
            predicate("crontab_from_standard_input", Trigger::programs(CRONTAB), crontab_from_stdin),
        ],
        ..RULE
    },
    Rule {
        id: "persistence.at",
        severity: Severity::Medium,
        reason: "has a command run later, when nobody looks",
        instead: Some(Instead::Advice("tell the person what is to be done, and let them do it")),
        when: &[
            When::Command(Command {
                operand: Operand::Some,
                without: &["-l", "-q", "-c", "-V"],
                ..run(&["at"])
            }),
            When::Command(run(&["batch"])),
            When::Command(flagged(
                &["systemd-run"],
                &[&[
                    "--on-calendar",
                    "--on-boot",
                    "--on-startup",
                    "--on-active",
                    "--on-unit-active",
                    "--timer-property",
                ]],
            )),
        ],
        ..RULE
    },
    Rule {
        id: "persistence.service-file",
        reason: "plants a service that starts by itself",
        instead: Some(Instead::Advice("write the unit into the project and let the person install it")),
        when: &[written(lists::SERVICES)],
        ..RULE
    },
    Rule {
        id: "persistence.service-planted",
        reason: "has a service of no known package start by itself from now on",
        instead: Some(Instead::Command("systemctl --user list-unit-files")),
        when: &[
            predicate("unknown_unit_enabled", Trigger::programs(ENABLERS), unknown_enabled),
            When::Command(sub(&["loginctl"], &["enable-linger"])),
            When::Command(Command {
                operand: Operand::Contains(&[
                    "systemd1.manager.enableunitfiles",
                    "systemd1.manager.startunit",
                ]),
                ..run(&["dbus-send", "gdbus"])
            }),
            When::Command(Command {
                operand: Operand::Is(&[
                    "EnableUnitFiles",
                    "LinkUnitFiles",
                    "StartUnit",
                    "StartTransientUnit",
                ]),
                ..run(&["busctl"])
            }),
            When::Command(sub(&["launchctl"], &["load", "bootstrap", "submit", "enable"])),
            When::Command(Command {
                operand: Operand::Is(&["LoginHook", "LogoutHook"]),
                ..run(&["defaults"])
            }),
            When::Command(Command {
                operand: Operand::Contains(&["launchagents", "launchdaemons", "loginitems"]),
                ..sub(&["defaults"], &["write"])
            }),
            When::Code(Code { programs: &["osascript"], all: &[&["login item"]] }),
            When::Command(Command {
                operand: Operand::Is(&["/create", "/Create", "/CREATE"]),
                ..run(&["schtasks", "schtasks.exe"])
            }),
            When::Command(Command {
                operand: Operand::Contains(&["currentversion\\run", "\\run"]),
                ..sub(&["reg", "reg.exe"], &["add"])
            }),
            When::Command(sub(&["sc", "sc.exe"], &["create"])),
        ],
        ..RULE
    },
    Rule {
        id: "persistence.startup-command",
        reason: "plants a command in a file that every new shell of the person runs",
        instead: Some(Instead::Advice("print the line for the person to read and add")),
        when: &[
            predicate("command_in_a_startup_file", Trigger::kinds(WRITES), startup_command),
            When::Effect(OnEffect {
                kinds: WRITES,
                at: &[At::Home(".ssh/rc"), At::Home(".ssh/environment")],
                // ssh reads them, it does not start them: another mode or owner plants nothing.
                except: &["mkdir", "chmod", "chown"],
                ..EFFECT
            }),
        ],
        ..RULE
    },
    Rule {
        id: "persistence.service-enabled",
        verdict: Verdict::Modify,
        reason: "has a service start by itself from now on",
        instead: Some(Instead::Command("systemctl --user list-unit-files")),
        when: &[
            When::Command(sub(
                &["systemctl"],
                &["enable", "reenable", "preset", "link", "edit", "import-environment", "set-environment"],
            )),
            When::Command(sub(&["rc-update"], &["add"])),
            When::Command(flagged(&["chkconfig"], &[&["--add"]])),
            When::Command(Command {
                operand: Operand::Is(&["on", "defaults", "enable"]),
                ..run(&["chkconfig", "update-rc.d"])
            }),
            When::Command(Command {
                operand: Operand::Is(&["LoginHook", "LogoutHook"]),
                ..run(&["defaults"])
            }),
            When::Code(Code { programs: &["osascript"], all: &[&["login item"]] }),
            When::Command(sub(&["pm2"], &["startup"])),
            When::Command(Command {
                operand: Operand::Is(&["/create", "/Create", "/CREATE"]),
                ..run(&["schtasks"])
            }),
            When::Command(Command {
                operand: Operand::Contains(&["currentversion\\run", "\\run"]),
                ..sub(&["reg"], &["add"])
            }),
            When::Command(sub(&["sc", "sc.exe"], &["create"])),
            When::Command(sub(&["dconf"], &["load", "write"])),
            When::Command(Command {
                operand: Operand::Contains(&["custom-keybinding", "autostart"]),
                ..run(&["gsettings"])
            }),
            When::Command(sub(&["xdg-mime"], &["default"])),
            When::Command(sub(&["xdg-settings"], &["set"])),
            When::Command(sub(
                &["launchctl"],
                &["load", "bootstrap", "enable", "submit", "setenv", "kickstart"],
            )),
            When::Command(sub(&["loginctl"], &["enable-linger"])),
            When::Command(Command {
                operand: Operand::Is(&["enable", "defaults", "on"]),
                ..run(&["update-rc.d", "chkconfig"])
            }),
            When::Command(sub(&["pm2"], &["startup", "save"])),
            When::Command(Command { privileged: true, ..sub(&["brew"], &["services start"]) }),
            When::Command(Command { flags: &[&["--file", "--all"]], ..sub(&["brew"], &["services start"]) }),
        ],
        ..RULE
    },
];

const CRONTAB: &[&str] = &["crontab"];

const ENABLERS: &[&str] = &["systemctl", "rc-update", "chkconfig", "update-rc.d"];

words!("builtin/persistence/scheduled");

fn crontab_from_stdin<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(CRONTAB, |inv| {
        inv.operands.is_empty()
            && !["-l", "-r", "-e", "-V", "--help", "-h"].iter().any(|flag| has_flag(inv, flag))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// Whether a unit is one that some package brings along.
fn is_known_unit(name: &str) -> bool {
    let stem = name.split('@').next().unwrap_or_default();
    let stem = [".service", ".socket", ".timer", ".target"]
        .iter()
        .find_map(|end| stem.strip_suffix(end))
        .unwrap_or(stem);
    // `php8.2-fpm`, `postgresql-16`, `apache2`.
    let bare: String = stem.chars().filter(|c| !c.is_ascii_digit() && *c != '.').collect();
    let bare = bare.trim_end_matches('-');
    KNOWN_UNITS.contains(&stem) || KNOWN_UNITS.contains(&bare)
}

/// A unit switched on that no package brings along, or that is named by its path.
fn unknown_enabled<'a>(scene: &Scene<'a>) -> Found<'a> {
    const SAYS: &[&str] = &[
        "enable", "reenable", "preset", "link", "add", "on", "defaults", "default", "boot", "start", "--add",
    ];
    let found = scene.first(ENABLERS, |inv| {
        let words = || inv.sub.iter().map(String::as_str).chain(inv.args.iter().filter_map(Arg::known));
        let systemd = inv.program == "systemctl";
        let on = match inv.program.as_str() {
            "systemctl" => words().any(|word| matches!(word, "enable" | "reenable" | "link")),
            "rc-update" => words().any(|word| matches!(word, "add" | "-a")),
            "update-rc.d" => words().any(|word| matches!(word, "defaults" | "enable")),
            _ => words().any(|word| matches!(word, "on" | "--add")),
        };
        let level = |word: &str| !systemd && word.bytes().all(|b| b.is_ascii_digit());
        on && (inv.args.iter().any(Arg::has_unknown)
            || words().any(|word| {
                let named = !word.starts_with('-') && !SAYS.contains(&word) && !level(word);
                named && !is_known_unit(word)
            }))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// A line of a startup file that runs a program, and does not only set, name or load something.
fn runs_command(line: &str) -> bool {
    let line = line.trim();
    if line.starts_with('#') {
        return false;
    }
    let mut words = line.trim_start_matches(['(', '{', ' ']).split_whitespace();
    let Some(first) = words.next() else { return false };
    let asks = first == "command" && words.next() == Some("-v");
    // What stands alone may be a directory that `autocd` enters, but nobody adds that.
    let by_path = first.contains('/') && !first.contains('=');
    let end = line.trim_end_matches(['"', '\'', '}', ';', ' ']);
    by_path || RUN_BY_LINES.contains(&first) && !asks || end.ends_with('&') && !end.ends_with("&&")
}

/// What is written to a startup file of the person's shell runs a command, or was not to be read.
fn startup_command<'a>(scene: &Scene<'a>) -> Found<'a> {
    let home = scene.view.facts.places.home.as_deref();
    let starts = |target: &Target| at(target, lists::SHELL_STARTUP, home);
    match &scene.view.call.action {
        Action::Write { path, content, .. } | Action::Edit { path, content, .. } => {
            let target = Target::Path { path: path.clone(), glob: false, recursive: false };
            let hit = content.lines().take(4096).any(runs_command) && starts(&target);
            return if hit { Found::yes(path) } else { Found::No };
        }
        Action::Shell { .. }
        | Action::Read { .. }
        | Action::Search { .. }
        | Action::Fetch { .. }
        | Action::Spawn { .. }
        | Action::Other { .. } => {}
    }
    let starting = |(index, (effect, _)): (usize, (&crate::domain::Effect, Classes))| {
        WRITES.contains(&effect.kind)
            && scene.may_be_at(index)
            && scene.is_at(index, effect, lists::SHELL_STARTUP)
    };
    if !scene.effects().enumerate().any(starting) {
        return Found::No;
    }
    let said = scene.view.survey.written.iter().any(|(path, text)| {
        let target = Target::Path { path: path.clone(), glob: false, recursive: false };
        starts(&target) && text.text().lines().any(runs_command)
    });
    let unread = || {
        scene.invocations().iter().any(|writer| {
            let into = writer.writes.iter().any(|(target, _)| starts(target)) || writer.program == "tee";
            into && scene.invocations().iter().any(|inv| {
                inv.pipeline == writer.pipeline
                    && (runs(
                        inv,
                        &["base64", "base32", "xxd", "openssl", "uudecode", "gunzip", "zcat", "gpg"],
                    ) || runs(inv, lists::DOWNLOADERS))
            })
        })
    };
    if said || unread() { Found::yes(scene.command_line()) } else { Found::No }
}
