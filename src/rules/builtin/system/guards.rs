//! What protects the machine: firewalls, mandatory access control, updates, the clock.

use super::{GONE, KILLERS, killed_names};
use crate::domain::{EffectKind, Severity, Verdict};
use crate::rules::Invocation;
use crate::rules::builtin::files::WIDE;
use crate::rules::builtin::selfprotect::only_asks;
use crate::rules::builtin::{everyday, flagged, predicate, run, sub};
use crate::rules::matcher::{
    At, Class, Code, Command, EFFECT, Found, Instead, OnEffect, Operand, RULE, Rule, Scene, Trigger, When,
    asks_for_help, classify, has_flag, inside, runs, target_of,
};
use crate::rules::survey::paths::is_build_output;
use crate::shell::Arg;

pub(in crate::rules::builtin) const RULES: &[Rule] = &[
    Rule {
        id: "system.firewall",
        reason: "opens, empties or switches off the firewall",
        instead: Some(Instead::Advice("tell the person what is to be done, and let them do it")),
        when: &[
            When::Command(flagged(
                &["iptables", "ip6tables", "ebtables", "arptables"],
                &[&[
                    "-F", "-X", "-P", "-D", "-A", "-I", "-R", "-Z", "--flush", "--policy", "--delete",
                    "--append", "--insert",
                ]],
            )),
            When::Command(Command {
                without: &["-t", "--test", "-V", "--version", "-h"],
                ..run(&["iptables-restore", "ip6tables-restore"])
            }),
            When::Command(sub(&["nft"], &["flush", "delete", "add", "insert"])),
            predicate("firewall_opened_by_ufw", Trigger::programs(&["ufw"]), |scene| {
                const OPENS: &[&str] = &["disable", "reset", "allow", "delete", "default"];
                let found = scene.first(&["ufw"], |inv| {
                    let first = inv.args.iter().filter_map(Arg::known).find(|word| !word.starts_with('-'));
                    first.is_some_and(|word| OPENS.contains(&word))
                        && !has_flag(inv, "--dry-run")
                        && !asks_for_help(inv)
                        && !everyday::opens_known_port(inv)
                });
                Found::from(found.map(|inv| inv.text.as_str()))
            }),
            When::Command(flagged(&["pfctl"], &[&["-d", "-F", "-f"]])),
            When::Command(sub(&["ipset"], &["destroy", "flush"])),
            When::Command(sub(&["netsh"], &["advfirewall set", "advfirewall reset", "firewall set"])),
            When::Command(flagged(
                &["socketfilterfw"],
                &[&["--setglobalstate", "--setblockall", "--unblockapp", "--add"]],
            )),
            When::Command(flagged(
                &["firewall-cmd"],
                &[&[
                    "--add-port",
                    "--add-service",
                    "--remove-service",
                    "--panic-on",
                    "--set-default-zone",
                    "--set-target",
                    "--direct",
                ]],
            )),
        ],
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
            When::Command(run(&["aa-teardown", "aa-disable", "aa-complain", "falconctl", "sentinelctl"])),
            When::Command(flagged(&["apparmor_parser"], &[&["-R", "--remove"]])),
            When::Command(sub(&["semanage"], &["permissive", "boolean", "fcontext", "login"])),
            When::Command(run(&["setsebool"])),
            When::Command(sub(&["fail2ban-client"], &["stop", "unban"])),
            predicate("hidden_program_run", Trigger::PLACED, hidden_run),
            predicate("file_unlocked", Trigger::programs(&["chattr", "chflags"]), unlocked),
            predicate(
                "checks_switched_off_by_variable",
                Trigger::programs(&["export", "declare"]),
                checks_off,
            ),
            predicate("name_of_a_kernel_thread_taken", Trigger::SIGNS, disguised),
            When::Command(Command { operand: Operand::Contains(&["tcc.db"]), ..run(&["sqlite3"]) }),
            When::Code(Code {
                programs: &[],
                all: &[
                    &["os.utime(", "utime(", "File.utime", "utimes("],
                    &["'/usr", "\"/usr", "'/etc", "\"/etc", "'/bin", "'/var/log"],
                ],
            }),
            When::Code(Code { programs: &[], all: &[&["prctl(15", "setproctitle("], &["'[", "\"[", "[k"]] }),
            When::Command(sub(&["fwupdmgr"], &["disable-remote"])),
            When::Command(Command {
                operand: Operand::Contains(&["lockdown"]),
                ..sub(&["gsettings"], &["set"])
            }),
            When::Command(run(&["utmpdump"])),
            When::Effect(OnEffect {
                kinds: GONE,
                at: &[
                    At::Abs("/selinux/enforce"),
                    At::Abs("/sys/fs/selinux"),
                    At::Abs("/etc/selinux"),
                    At::Abs("/etc/apparmor.d"),
                    At::Abs("/etc/audit"),
                    At::Abs("/etc/rsyslog.d"),
                    At::Abs("/etc/rsyslog.conf"),
                    At::Abs("/etc/falco"),
                    At::Abs("/etc/fail2ban"),
                ],
                ..EFFECT
            }),
            predicate("guard_stopped_or_removed", Trigger::programs(GUARD_STOPPERS), guard_stopped),
            predicate("guard_killed", Trigger::programs(KILLERS), guard_killed),
            When::Command(sub(&["mdatp"], &["config", "exclusion", "threat"])),
            When::Command(sub(&["tmutil"], &["disable", "deletelocalsnapshots", "delete"])),
            When::Command(sub(&["tccutil"], &["reset"])),
            When::Command(sub(&["profiles"], &["remove"])),
            When::Command(sub(&["jamf"], &["removeFramework", "removeMdmProfile"])),
            When::Command(Command {
                operand: Operand::Contains(&["com.apple.quarantine"]),
                ..run(&["xattr"])
            }),
            predicate("marks_of_a_program_cleared", Trigger::programs(&["xattr"]), marks_cleared),
            When::Command(Command {
                operand: Operand::Is(&["LSQuarantine", "globalstate", "DisableAntiSpyware", "GKAutoRearm"]),
                ..sub(&["defaults"], &["write", "delete"])
            }),
            When::Command(Command {
                operand: Operand::Starts(&["boot-args=", "csr-active-config="]),
                ..run(&["nvram"])
            }),
            When::Command(flagged(&["softwareupdate"], &[&["--schedule"]])),
            When::Command(flagged(&["mokutil"], &[&["--disable-validation"]])),
            When::Command(flagged(&["fips-mode-setup"], &[&["--disable"]])),
            When::Command(Command {
                operand: Operand::Starts(&["LEGACY"]),
                ..run(&["update-crypto-policies"])
            }),
            When::Command(sub(&["bpftool"], &["prog detach", "link detach"])),
            When::Command(sub(&["vssadmin"], &["delete", "resize"])),
            When::Command(sub(&["wmic"], &["shadowcopy delete"])),
            When::Command(sub(&["wbadmin"], &["delete", "disable"])),
            When::Command(sub(&["bcdedit"], &["/set"])),
            When::Command(sub(&["fsutil"], &["usn"])),
            When::Command(sub(&["auditpol"], &["/clear", "/remove"])),
            When::Command(Command { operand: Operand::Contains(&["windows defender"]), ..run(&["reg"]) }),
            When::Command(flagged(&["google-authenticator"], &[&["--disable"]])),
            When::Command(sub(&["csrutil"], &["disable", "authenticated-root"])),
            When::Command(flagged(&["spctl"], &[&["--master-disable", "--global-disable"]])),
            When::Command(flagged(&["auditctl"], &[&["-D", "-e", "-e0", "-d", "-a", "-A", "-f"]])),
            When::Command(sub(&["fdesetup"], &["disable"])),
        ],
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
            When::Command(Command {
                operand: Operand::Is(&["down", "address", "netns", "name", "promisc", "mtu", "nomaster"]),
                ..sub(&["ip"], &["link set"])
            }),
            When::Command(Command { operand: Operand::Is(&["down"]), ..run(&["ifconfig", "ifdown"]) }),
            When::Command(sub(
                &["nmcli"],
                &["networking off", "connection delete", "connection down", "device disconnect"],
            )),
            When::Command(Command { operand: Operand::Is(&["off"]), ..sub(&["nmcli"], &["radio"]) }),
            When::Command(Command { operand: Operand::Is(&["del", "delete", "flush"]), ..run(&["route"]) }),
        ],
        ..RULE
    },
    Rule {
        id: "system.clock",
        verdict: Verdict::Modify,
        severity: Severity::Medium,
        reason: "changes the time zone of the whole machine",
        instead: Some(Instead::Advice("set TZ for the one command")),
        when: &[When::Command(sub(&["timedatectl"], &["set-timezone"]))],
        ..RULE
    },
];

words!("builtin/system/guards");

/// A guard of the machine is killed, by name.
fn guard_killed<'a>(scene: &Scene<'a>) -> Found<'a> {
    let all = scene.invocations();
    // `pkill -f 'auditd|osqueryd'`
    let each = |name: &str| name.split(['|', '(', ')', '^', '$']).any(is_guard);
    let found = scene.first(KILLERS, |inv| {
        !only_asks(inv) && !opens_anew(inv, all) && (killed_names(inv, all).any(each) || sifted(inv, all))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// `pkill -HUP rsyslogd`: what writes the logs opens its files anew, as it is told whenever they are rotated.
fn opens_anew(inv: &Invocation, all: &[Invocation]) -> bool {
    const WRITERS: &[&str] = &["rsyslogd", "syslog-ng"];
    let told = inv.args.iter().any(|arg| matches!(arg.known(), Some("-HUP" | "-SIGHUP")));
    let mut names = killed_names(inv, all).peekable();
    told && names.peek().is_some() && names.all(|name| WRITERS.contains(&name))
}

/// `kill` is told its numbers by a filter over all processes that looks for a guard.
fn sifted(inv: &Invocation, all: &[Invocation]) -> bool {
    let words = |text: &str| {
        text.split(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '_' | '.')).any(is_guard)
    };
    let filters = |other: &&Invocation| runs(other, &["grep", "egrep", "rg", "awk", "gawk"]);
    inv.program == "kill"
        && all.iter().any(|other| other.program == "ps")
        && all.iter().filter(filters).flat_map(|other| &other.args).any(|arg| words(&arg.text()))
}

/// The name of a guard, as process or as unit.
fn is_guard(name: &str) -> bool {
    let name = name.rsplit('/').next().unwrap_or(name);
    let name = name.trim_end_matches(".service").trim_end_matches(".socket").trim_end_matches(".plist");
    // The packages and units of one product have all sorts of names.
    const MAKERS: &[&str] =
        &["crowdstrike", "wazuh", "sentinelone", "osquery", "jamf", "sophos", "carbonblack"];
    GUARDS.iter().any(|guard| guard.eq_ignore_ascii_case(name)) || { name.split(['-', '.', '_']) }
        .any(|part| MAKERS.iter().any(|maker| part.eq_ignore_ascii_case(maker)))
}

/// A guard's service is stopped, or its package taken away.
fn guard_stopped<'a>(scene: &Scene<'a>) -> Found<'a> {
    const STOPS: &[&str] = &[
        "stop",
        "disable",
        "mask",
        "kill",
        "remove",
        "purge",
        "erase",
        "autoremove",
        "unload",
        "bootout",
        "off",
        "freeze",
        "set-property",
        "delete",
        "uninstall",
        "config",
        "teardown",
    ];
    let found = scene.first(GUARD_STOPPERS, |inv| {
        let words = || inv.sub.iter().map(String::as_str).chain(inv.args.iter().filter_map(Arg::known));
        let removes = inv.program == "rpm" && has_flag(inv, "-e")
            || inv.program == "dpkg"
                && ["-r", "-P", "--purge", "--remove"].iter().any(|flag| has_flag(inv, flag))
            || inv.program == "pacman" && inv.args.iter().any(|arg| arg.prefix().starts_with("-R"));
        (removes || words().any(|word| STOPS.contains(&word))) && words().any(is_guard)
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// A file that cannot be changed is made changeable, or the other way round, outside the project.
fn unlocked<'a>(scene: &Scene<'a>) -> Found<'a> {
    const LOCKS: &[&str] = &["noschg", "schg", "uchg", "nouchg", "uappnd", "sappnd"];
    let locks = |word: &str| {
        let letters = word.strip_prefix(['+', '-', '=']);
        LOCKS.contains(&word)
            || letters.is_some_and(|letters| letters.contains(['i', 'a']) && letters.len() < 5)
    };
    let found = scene.first(&["chattr", "chflags"], |inv| {
        let sets = inv.args.iter().filter_map(Arg::known).any(locks);
        sets && inv.args.iter().any(|arg| {
            let place = classify(&target_of(arg, inv.cwd.as_deref()), EffectKind::FileDeletion, &scene.view);
            if arg.prefix().starts_with("/tmp/") {
                return true;
            }
            let named = arg.prefix().starts_with(['/', '~', '.']) || arg.has_unknown();
            named && (place.any(WIDE) || place.has(Class::Project))
        })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// Checks of certificates are switched off for everything that follows.
fn checks_off<'a>(scene: &Scene<'a>) -> Found<'a> {
    const OFF: &[&str] = &[
        "GIT_SSL_NO_VERIFY=1",
        "GIT_SSL_NO_VERIFY=true",
        "NODE_TLS_REJECT_UNAUTHORIZED=0",
        "PYTHONHTTPSVERIFY=0",
    ];
    let found =
        scene.first(&["export", "declare"], |inv| inv.args.iter().any(|arg| OFF.contains(&&*arg.text())));
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// `exec -a '[kworker/0:0]'`: the list of processes is to show something else.
fn disguised<'a>(scene: &Scene<'a>) -> Found<'a> {
    let line = scene.command_line();
    // Each way holds one of these.
    if !scene.says("exec -a ") && !scene.says("-unix/.") {
        return Found::No;
    }
    let hidden = ["exec -a '[", "exec -a \"[", "exec -a [", "/tmp/.X11-unix/.", "/tmp/.ICE-unix/."]
        .iter()
        .any(|form| line.contains(form));
    let runs_it =
        scene.invocations().iter().any(|inv| !runs(inv, &["echo", "printf", "git", "grep", "rg", "cat"]));
    if hidden && runs_it { Found::yes(line) } else { Found::No }
}

/// A program whose marks say that it came from elsewhere loses them. What a build of this project made has none but in the way.
fn marks_cleared<'a>(scene: &Scene<'a>) -> Found<'a> {
    const FETCHERS: &[&str] =
        &["curl", "wget", "aria2c", "gh", "unzip", "hdiutil", "tar", "ditto", "scp", "open"];
    let program = |arg: &Arg| {
        let text = arg.text().to_ascii_lowercase();
        text.contains(".app") || text.contains("/applications")
    };
    let built = |arg: &Arg, inv: &Invocation| {
        let target = target_of(arg, inv.cwd.as_deref());
        arg.known().is_some_and(|text| !text.starts_with(['/', '~']) && is_build_output(text))
            && classify(&target, EffectKind::FileModification, &scene.view).any(&[Class::Expected])
            && scene.first(FETCHERS, |_| true).is_none()
    };
    let found = scene.first(&["xattr"], |inv| {
        ["-c", "-cr", "-rc"].iter().any(|flag| has_flag(inv, flag))
            && inv.operands.iter().any(|arg| program(arg) && !built(arg, inv))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// A program is run that a temporary directory hides.
fn hidden_run<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.invocations().iter().find(|inv| {
        let path = inv.word.prefix();
        let in_home = scene.view.facts.places.home.as_deref().is_some_and(|home| inside(path, home));
        let below = ["/tmp/", "/var/tmp/", "/dev/shm/"].iter().find_map(|dir| path.strip_prefix(dir));
        let below = below.filter(|_| !in_home);
        // Environments, build directories and those that libraries make for tests are hidden for another reason.
        let made = |part: &str| {
            part.starts_with(".tmp")
                || matches!(part, ".venv" | ".cargo" | ".local" | ".npm" | ".nvm" | ".bun" | ".deno" | ".")
        };
        below.is_some_and(|rest| rest.split('/').any(|part| part.starts_with('.') && !made(part)))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}
