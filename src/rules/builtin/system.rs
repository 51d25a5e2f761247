//! The running system: power, processes, kernel, services, firewall, traces.

use super::{flagged, lists, predicate, run, sub};
use crate::domain::{EffectKind, Severity, Verdict};
use crate::rules::Invocation;
use crate::rules::matcher::{
    Code, Command, EFFECT, Found, Instead, OnEffect, Operand, RULE, Rule, Scene, Trigger, When, has_flag,
};
use crate::shell::{Arg, parse};

const GONE: &[EffectKind] =
    &[EffectKind::FileDeletion, EffectKind::FileModification, EffectKind::FileCreation];

const KILLERS: &[&str] = &["kill", "pkill", "killall", "killall5", "skill"];

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "system.power",
        reason: "switches the machine off or restarts it",
        instead: Some(Instead::Command("uptime")),
        when: &[
            When::Command(Command { without: &["-c", "-k", "--show"], ..run(&["shutdown"]) }),
            When::Command(Command {
                without: &["-w", "--wtmp-only"],
                ..run(&["reboot", "poweroff", "halt", "pm-suspend"])
            }),
            When::Command(Command {
                operand: Operand::Is(&["0", "1", "6", "s", "S"]),
                ..run(&["init", "telinit"])
            }),
            When::Command(sub(
                &["systemctl", "loginctl"],
                &[
                    "poweroff",
                    "reboot",
                    "halt",
                    "suspend",
                    "hibernate",
                    "kexec",
                    "rescue",
                    "emergency",
                    "isolate",
                ],
            )),
        ],
        fires: &[
            "sudo reboot",
            "shutdown -h now",
            "systemctl poweroff",
            "sudo init 0",
            "timeout 5 poweroff -f",
        ],
        silent: &["shutdown -c", "last reboot", "npm init", "git init", "systemctl status", "echo reboot"],
        ..RULE
    },
    Rule {
        id: "system.kill-everything",
        severity: Severity::Critical,
        reason: "ends every process that it may end, this session included",
        instead: Some(Instead::Command("pkill -f 'vite --port 5173'")),
        when: &[predicate("kills_everything", Trigger::programs(KILLERS), kills_everything)],
        fires: &[
            "kill -9 -1",
            "kill -KILL -- -1",
            "pkill -9 .",
            "pkill -u u",
            "killall5",
            "killall -u u",
            "kill -9 1",
            "pkill -f ''",
        ],
        silent: &[
            "kill -9 12345",
            "kill -1 12345",
            "pkill -f 'vite --port 5173'",
            "killall node",
            "kill %1",
            "kill -0 12345",
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
            predicate("function_that_starts_itself_twice", Trigger::SIGNS.or(Trigger::WRAPPED), fork_bomb),
            When::Code(Code {
                programs: &["python", "python3", "ruby"],
                all: &[&["os.fork()", "fork()", "fork {"], &["while True", "while 1", "while(1)", "loop"]],
            }),
            When::Code(Code {
                programs: &["perl"],
                all: &[&["fork while fork", "fork while 1", "fork while(1)"]],
            }),
        ],
        fires: &[
            ":(){ :|:& };:",
            "bomb() { bomb | bomb & }; bomb",
            "f(){ f & f & };f",
            "perl -e 'fork while fork'",
            "python3 -c 'import os\nwhile True: os.fork()'",
        ],
        silent: &[
            "echo ':(){ :|:& };:'",
            "f() { echo x | cat; }; f",
            "python3 -c 'import os; os.fork()'",
            "git commit -m ':(){ :|:& };:'",
        ],
        ..RULE
    },
    Rule {
        id: "system.kernel-module",
        severity: Severity::Critical,
        reason: "loads code into the kernel or takes it out",
        instead: Some(Instead::Command("lsmod")),
        when: &[
            When::Command(Command {
                without: &["-n", "--dry-run", "--show-depends", "-c", "--showconfig"],
                operand: Operand::Some,
                ..run(&["modprobe"])
            }),
            When::Command(Command {
                operand: Operand::Some,
                ..run(&["insmod", "rmmod", "kldload", "kextload"])
            }),
            When::Command(run(&["kexec"])),
        ],
        fires: &["sudo insmod x.ko", "sudo modprobe -r nvme", "rmmod kvm", "kexec -l vmlinuz"],
        silent: &["lsmod", "modprobe -n nvme", "modinfo nvme", "make modules"],
        ..RULE
    },
    Rule {
        id: "system.sysctl",
        verdict: Verdict::Modify,
        reason: "changes how the kernel behaves",
        instead: Some(Instead::Command("sysctl -a")),
        when: &[
            When::Command(flagged(&["sysctl"], &[&["-w", "--write", "-p", "--load", "--system"]])),
            When::Command(Command { operand: Operand::Contains(&["="]), ..run(&["sysctl"]) }),
        ],
        fires: &["sudo sysctl -w vm.swappiness=0", "sysctl kernel.panic=1", "sudo sysctl -p"],
        silent: &["sysctl -a", "sysctl vm.swappiness", "sysctl -n kernel.ostype"],
        ..RULE
    },
    Rule {
        id: "system.services",
        verdict: Verdict::Modify,
        reason: "stops or switches off a service of the machine",
        instead: Some(Instead::Command("systemctl status nginx")),
        when: &[
            When::Command(sub(&["systemctl"], &["stop", "disable", "mask", "kill", "set-default", "revert"])),
            When::Command(Command { operand: Operand::Is(&["stop"]), ..run(&["service", "rc-service"]) }),
            When::Command(sub(&["launchctl"], &["unload", "bootout", "remove", "disable", "stop"])),
            When::Command(Command {
                operand: Operand::Is(&["disable", "off", "remove"]),
                ..run(&["chkconfig", "update-rc.d"])
            }),
        ],
        fires: &[
            "sudo systemctl stop nginx",
            "systemctl --user disable x.service",
            "sudo service ssh stop",
            "launchctl bootout gui/501/x",
        ],
        silent: &[
            "systemctl status nginx",
            "systemctl list-units",
            "service --status-all",
            "docker stop web",
            "launchctl list",
        ],
        ..RULE
    },
    Rule {
        id: "system.crontab-removed",
        reason: "deletes all of the person's scheduled jobs",
        instead: Some(Instead::Command("crontab -l")),
        when: &[When::Command(flagged(&["crontab"], &[&["-r"]])), When::Command(run(&["atrm"]))],
        fires: &["crontab -r", "sudo crontab -u u -r", "atrm 3"],
        silent: &["crontab -l", "atq", "crontab -u u -l"],
        ..RULE
    },
    Rule {
        id: "system.history-cleared",
        reason: "removes the traces of what was done in the shell",
        instead: Some(Instead::Advice("leave the history as it is")),
        when: &[
            When::Command(flagged(&["history", "fc"], &[&["-c", "-d", "-w"]])),
            When::Effect(OnEffect { kinds: GONE, at: lists::HISTORIES, ..EFFECT }),
            When::Command(Command { operand: Operand::Is(&["HISTFILE", "HISTSIZE"]), ..run(&["unset"]) }),
            When::Command(Command {
                operand: Operand::Starts(&["HISTFILE=", "HISTSIZE=0"]),
                ..run(&["export"])
            }),
        ],
        fires: &[
            "history -c",
            "rm ~/.bash_history",
            "cat /dev/null > ~/.bash_history",
            "unset HISTFILE",
            "export HISTFILE=/dev/null",
        ],
        silent: &["history", "tail ~/.bash_history", "history | grep make", "git log"],
        ..RULE
    },
    Rule {
        id: "system.logs-removed",
        reason: "removes or empties logs of the machine",
        instead: Some(Instead::Command("journalctl -n 50")),
        when: &[
            When::Effect(OnEffect {
                kinds: &[EffectKind::FileDeletion, EffectKind::FileModification],
                at: lists::LOGS,
                ..EFFECT
            }),
            predicate("log_overwritten", Trigger::REDIRECTED, log_overwritten),
            When::Command(flagged(
                &["journalctl"],
                &[&["--vacuum-time", "--vacuum-size", "--vacuum-files", "--rotate"]],
            )),
            When::Command(flagged(&["dmesg"], &[&["-C", "--clear", "-c", "--read-clear"]])),
        ],
        fires: &[
            "sudo rm -rf /var/log/auth.log",
            "sudo journalctl --vacuum-time=1s",
            "dmesg -C",
            "sudo truncate -s 0 /var/log/syslog",
        ],
        silent: &[
            "journalctl -n 50",
            "tail -f /var/log/syslog",
            "rm logs/app.log",
            "dmesg | tail",
            "grep error /var/log/syslog",
        ],
        ..RULE
    },
    Rule {
        id: "system.firewall",
        reason: "opens, empties or switches off the firewall",
        instead: Some(Instead::Command("ss -tln")),
        when: &[
            When::Command(flagged(
                &["iptables", "ip6tables", "ebtables", "arptables"],
                &[&[
                    "-F", "-X", "-P", "-D", "-A", "-I", "-R", "-Z", "--flush", "--policy", "--delete",
                    "--append", "--insert",
                ]],
            )),
            When::Command(Command {
                operand: Operand::Some,
                ..run(&["iptables-restore", "ip6tables-restore"])
            }),
            When::Command(sub(&["nft"], &["flush", "delete", "add", "insert"])),
            When::Command(sub(&["ufw"], &["disable", "reset", "allow", "delete", "default"])),
            When::Command(flagged(&["pfctl"], &[&["-d", "-F", "-f"]])),
            When::Command(flagged(
                &["firewall-cmd"],
                &[&["--add-port", "--add-service", "--remove-service", "--panic-on", "--set-default-zone"]],
            )),
        ],
        fires: &[
            "sudo iptables -F",
            "sudo ufw disable",
            "nft flush ruleset",
            "iptables -P INPUT ACCEPT",
            "sudo firewall-cmd --add-port=22/tcp",
        ],
        silent: &["sudo iptables -L -n", "ufw status", "nft list ruleset", "firewall-cmd --state"],
        ..RULE
    },
    Rule {
        id: "system.security-off",
        severity: Severity::Critical,
        reason: "switches off a protection of the machine",
        instead: Some(Instead::Advice(
            "describe what the protection gets in the way of and let the person decide",
        )),
        when: &[
            When::Command(Command {
                operand: Operand::Is(&["0", "Permissive", "permissive"]),
                ..run(&["setenforce"])
            }),
            When::Command(run(&["aa-teardown", "aa-disable", "aa-complain"])),
            When::Command(sub(&["csrutil"], &["disable", "authenticated-root"])),
            When::Command(flagged(&["spctl"], &[&["--master-disable", "--global-disable"]])),
            When::Command(flagged(&["auditctl"], &[&["-D", "-e"]])),
            When::Command(sub(&["fdesetup"], &["disable"])),
        ],
        fires: &[
            "sudo setenforce 0",
            "csrutil disable",
            "sudo aa-teardown",
            "auditctl -D",
            "sudo spctl --master-disable",
        ],
        silent: &["getenforce", "csrutil status", "auditctl -l", "aa-status"],
        ..RULE
    },
    Rule {
        id: "system.network-down",
        verdict: Verdict::Modify,
        reason: "changes the machine's network connection",
        instead: Some(Instead::Command("ip addr")),
        when: &[
            When::Command(sub(
                &["ip"],
                &[
                    "link set",
                    "link delete",
                    "link del",
                    "route del",
                    "route delete",
                    "route flush",
                    "route replace",
                    "addr flush",
                    "addr del",
                    "rule del",
                ],
            )),
            When::Command(Command { operand: Operand::Is(&["down"]), ..run(&["ifconfig", "ifdown"]) }),
            When::Command(sub(
                &["nmcli"],
                &["networking off", "radio", "connection delete", "connection down", "device disconnect"],
            )),
            When::Command(Command { operand: Operand::Is(&["del", "delete", "flush"]), ..run(&["route"]) }),
        ],
        fires: &[
            "sudo ip link set eth0 down",
            "ifconfig eth0 down",
            "nmcli networking off",
            "sudo ip route flush table main",
        ],
        silent: &["ip addr", "ip link show", "ifconfig", "nmcli device status", "ip route"],
        ..RULE
    },
    Rule {
        id: "system.clock",
        verdict: Verdict::Modify,
        severity: Severity::Medium,
        reason: "sets the machine's clock",
        instead: Some(Instead::Command("date -u")),
        when: &[
            When::Command(flagged(&["date"], &[&["-s", "--set"]])),
            When::Command(sub(&["timedatectl"], &["set-time", "set-ntp", "set-timezone", "set-local-rtc"])),
            When::Command(flagged(&["hwclock"], &[&["-w", "--systohc", "-s", "--hctosys", "--set"]])),
        ],
        fires: &["sudo date -s '2020-01-01'", "timedatectl set-ntp false", "hwclock --systohc"],
        silent: &["date", "date -u +%s", "timedatectl", "hwclock --show", "date -d '1 day ago'"],
        ..RULE
    },
    Rule {
        id: "system.scheduler",
        verdict: Verdict::Warn,
        severity: Severity::Low,
        reason: "changes the priority of processes that are not its own",
        instead: Some(Instead::Command("nice -n 10 make")),
        when: &[When::Command(Command {
            privileged: true,
            ..run(&["renice", "chrt", "ionice", "taskset", "prlimit"])
        })],
        fires: &["sudo renice -n -20 -p 1", "sudo prlimit --pid 1 --nofile=10"],
        silent: &["nice -n 10 make", "renice -n 5 -p 4321", "ulimit -n"],
        ..RULE
    },
];

fn kills_everything<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(KILLERS, |inv| match inv.program.as_str() {
        "killall5" => true,
        "kill" => kills_minus_one(inv),
        "killall" | "skill" => has_flag(inv, "-u") || has_flag(inv, "--user") || matches_all(inv),
        // With a user and no pattern of its own: everything of that user. A user may be taken for an operand.
        _ => matches_all(inv) || (inv.operands.len() <= 1 && names_user_only(inv)),
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// `-1` as process: behind a signal or behind `--`. Alone in front of a number it is a signal.
fn kills_minus_one(inv: &Invocation) -> bool {
    let words: Vec<&str> = inv.args.iter().filter_map(Arg::known).collect();
    let last = words.last().copied();
    // Process 1 is what everything hangs from.
    let first_process = last == Some("1");
    first_process || last == Some("-1") && words.len() > 1 || words.iter().skip(1).any(|word| *word == "-1")
}

fn names_user_only(inv: &Invocation) -> bool {
    let by_user = ["-u", "-U", "--euid", "--uid"].iter().any(|flag| has_flag(inv, flag));
    by_user && inv.args.iter().filter(|arg| !arg.prefix().starts_with('-')).count() <= 1
}

fn matches_all(inv: &Invocation) -> bool {
    inv.operands.iter().any(|arg| matches!(arg.known(), Some("" | "." | ".*" | "^" | "$" | ".+" | "*")))
}

fn fork_bomb<'a>(scene: &Scene<'a>) -> Found<'a> {
    Found::from(scene.texts().find(|text| starts_itself_twice(text)))
}

fn starts_itself_twice(text: &str) -> bool {
    if !text.contains('(') && !text.contains("function") {
        return false;
    }
    let script = parse(text);
    script.functions.iter().enumerate().any(|(index, name)| {
        let own = script.commands.iter().filter(|simple| {
            simple.function.is_some_and(|f| usize::try_from(f) == Ok(index))
                && simple.words.first().and_then(|word| text.get(word.span.0..word.span.1)) == Some(name)
        });
        own.count() > 1
    })
}

fn log_overwritten<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.invocations().iter().find(|inv| {
        inv.writes
            .iter()
            .any(|(target, append)| !append && crate::rules::matcher::at(target, lists::LOGS, None))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}
