//! The running system: power, processes, kernel, services, firewall, traces.

pub(super) mod ended;
pub(super) mod guards;
pub(super) mod kernel;
pub(super) mod power;
mod services;
pub(super) mod traces;

use super::{flagged, predicate, run, sub};
use crate::domain::{EffectKind, Severity, Verdict};
use crate::rules::Invocation;
use crate::rules::matcher::{
    At, Command, EFFECT, Found, Instead, OnEffect, Operand, RULE, Rule, Trigger, When, has_operand, runs,
};
use crate::shell::Arg;

const GONE: &[EffectKind] =
    &[EffectKind::FileDeletion, EffectKind::FileModification, EffectKind::FileCreation];

const KILLERS: &[&str] = &["kill", "pkill", "killall", "killall5", "skill"];

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "system.services",
        verdict: Verdict::Modify,
        reason: "stops or switches off a service of the machine",
        instead: Some(Instead::Command("systemctl status {last}")),
        when: &[
            When::Command(sub(&["systemctl"], &["disable", "mask", "kill", "set-default", "revert"])),
            When::Command(sub(&["systemctl"], &["stop"])),
            predicate("systemctl_stops_the_session", Trigger::programs(&["systemctl"]), |scene| {
                let session = |arg: &Arg| {
                    let text = arg.text();
                    arg.has_unknown()
                        || [
                            ".target", ".slice", "*", "dbus", "session", "wayland", "gnome", "plasma",
                            "lazaret",
                        ]
                        .iter()
                        .any(|word| text.contains(word))
                };
                let found = scene.first(&["systemctl"], |inv| {
                    let stops = inv.sub.first().is_some_and(|sub| sub == "stop") || has_operand(inv, "stop");
                    stops && inv.operands.iter().any(session)
                });
                Found::from(found.map(|inv| inv.text.as_str()))
            }),
            When::Command(Command { operand: Operand::Is(&["stop"]), ..run(&["service", "rc-service"]) }),
            When::Command(sub(&["launchctl"], &["unload", "bootout", "remove", "disable", "stop"])),
            When::Command(Command {
                operand: Operand::Is(&["disable", "off", "remove"]),
                ..run(&["chkconfig", "update-rc.d"])
            }),
            When::Command(sub(&["pm2"], &["kill", "delete all"])),
            When::Command(Command {
                operand: Operand::Is(&["quit"]),
                without: &["-S"],
                ..flagged(&["screen"], &[&["-X"]])
            }),
            When::Command(sub(&["supervisorctl"], &["shutdown", "stop all"])),
            predicate("service_ended", services::NEEDS.or(Trigger::PLACED), services::ended),
        ],
        ..RULE
    },
    Rule {
        id: "system.crontab-removed",
        reason: "deletes all of the person's scheduled jobs",
        instead: Some(Instead::Command("crontab -l")),
        when: &[
            When::Command(flagged(&["crontab"], &[&["-r"]])),
            When::Command(run(&["atrm"])),
            When::Effect(OnEffect { kinds: GONE, at: &[At::Abs("/var/spool/cron")], ..EFFECT }),
        ],
        ..RULE
    },
    Rule {
        id: "system.scheduler",
        verdict: Verdict::Warn,
        severity: Severity::Low,
        reason: "changes the priority of processes that are not its own",
        instead: Some(Instead::Advice("give a program of your own a lower priority")),
        when: &[When::Command(Command {
            privileged: true,
            ..run(&["renice", "chrt", "ionice", "taskset", "prlimit"])
        })],
        ..RULE
    },
];

/// A container's first process is told to read its settings again.
pub(super) fn reloads(inv: &Invocation) -> bool {
    let named = |name: &str| matches!(name.trim_start_matches("SIG"), "HUP" | "USR1" | "USR2" | "WINCH");
    inv.contained
        && inv.program == "kill"
        && inv.args.iter().filter_map(Arg::known).any(|word| named(word.trim_start_matches('-')))
}

/// The names that a killer is given, by itself or from `pidof` and `pgrep`.
fn killed_names<'s>(inv: &'s Invocation, all: &'s [Invocation]) -> impl Iterator<Item = &'s str> {
    let finder = |other: &&Invocation| runs(other, &["pidof", "pgrep"]);
    let fed = all.iter().filter(finder).filter(|_| inv.program == "kill");
    let own = std::iter::once(inv).filter(|inv| inv.program != "kill");
    // `-STOP` looks like a bundle of which one takes the name for its value.
    let word = |name: &&str| !name.starts_with('-');
    own.chain(fed).flat_map(move |inv| inv.args.iter().filter_map(Arg::known).filter(word))
}
