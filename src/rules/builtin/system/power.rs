//! The machine switched off.

use crate::rules::builtin::operations::done;
use crate::rules::builtin::{flagged, predicate, run, sub};
use crate::rules::facts::operations::SWITCHES_OFF;
use crate::rules::matcher::{Code, Command, Instead, Operand, RULE, Rule, Trigger, When};

pub(in crate::rules::builtin) const RULES: &[Rule] = &[Rule {
    id: "system.power",
    reason: "switches the machine off or restarts it",
    instead: Some(Instead::Advice("tell the person what is to be done, and let them do it")),
    when: &[
        When::Command(Command { without: &["-c", "-k", "--show"], ..run(&["shutdown"]) }),
        When::Command(Command {
            without: &["-w", "--wtmp-only", "--version"],
            ..run(&["reboot", "poweroff", "halt", "pm-suspend"])
        }),
        When::Command(Command {
            operand: Operand::Is(&["reboot", "shutdown", "win32shutdown"]),
            ..sub(&["wmic"], &["os"])
        }),
        When::Command(Command {
            operand: Operand::Is(&["0", "1", "6", "s", "S"]),
            ..run(&["init", "telinit", "runit-init", "openrc-init"])
        }),
        When::Command(Command {
            operand: Operand::Is(&[
                "reboot.target",
                "poweroff.target",
                "halt.target",
                "kexec.target",
                "rescue.target",
                "emergency.target",
                "suspend.target",
                "hibernate.target",
                "shutdown.target",
            ]),
            ..sub(&["systemctl"], &["start", "isolate"])
        }),
        When::Command(run(&[
            "pm-hibernate",
            "pm-suspend-hybrid",
            "s2ram",
            "s2disk",
            "s2both",
            "zzz",
            "ZZZ",
            "rtcwake",
            "psshutdown",
            "openrc-shutdown",
            "shutdown.no-molly-guard",
            "reboot.no-molly-guard",
            "grub-reboot",
        ])),
        When::Command(Command {
            operand: Operand::Contains(&[
                "login1.manager.poweroff",
                "login1.manager.reboot",
                "login1.manager.halt",
                "login1.manager.suspend",
                "login1.manager.hibernate",
                "consolekit.manager.stop",
                "consolekit.manager.restart",
            ]),
            ..run(&["dbus-send", "gdbus"])
        }),
        When::Command(Command {
            operand: Operand::Is(&["PowerOff", "Reboot", "Halt", "Suspend", "Hibernate", "KExec"]),
            ..run(&["busctl"])
        }),
        When::Command(Command {
            operand: Operand::Is(&["logoutAndShutdown", "logoutAndReboot", "sleepnow"]),
            ..run(&["qdbus", "qdbus6", "pmset"])
        }),
        When::Command(flagged(
            &["gnome-session-quit", "xfce4-session-logout"],
            &[&["--power-off", "--reboot", "--halt", "--suspend", "--hibernate"]],
        )),
        predicate("machine_switched_by_another", Trigger::rows(SWITCHES_OFF), |scene| {
            done(scene, SWITCHES_OFF)
        }),
        When::Command(sub(&["adb", "fastboot"], &["reboot", "shell reboot"])),
        When::Code(Code {
            programs: &["osascript"],
            all: &[&["shut down", "restart", "aevtrsdn", "aevtrrst", "to sleep"]],
        }),
        When::Code(Code { programs: &[], all: &[&["0x4321fedc", "0xfee1dead", "LINUX_REBOOT"]] }),
        When::Code(Code { programs: &[], all: &[&["CDLL(", "ctypes.util"], &[".reboot("]] }),
        When::Command(sub(
            &["systemctl", "loginctl"],
            &[
                "poweroff",
                "reboot",
                "halt",
                "hybrid-sleep",
                "sleep",
                "suspend-then-hibernate",
                "soft-reboot",
                "suspend",
                "hibernate",
                "kexec",
                "default",
                "rescue",
                "emergency",
                "isolate",
            ],
        )),
    ],
    ..RULE
}];
