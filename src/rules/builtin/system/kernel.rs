//! The kernel: its modules and settings.

use crate::domain::{Severity, Target, Verdict};
use crate::rules::Invocation;
use crate::rules::builtin::{everyday, lists, predicate, run, sub};
use crate::rules::matcher::{
    Command, Found, Instead, Operand, RULE, Rule, Scene, Trigger, When, asks_for_help, has_flag, runs,
    target_of,
};
use crate::shell::Arg;

pub(in crate::rules::builtin) const RULES: &[Rule] = &[
    Rule {
        id: "system.kernel-module",
        severity: Severity::Critical,
        reason: "loads code into the kernel or takes it out",
        instead: Some(Instead::Advice("tell the person what is to be done, and let them do it")),
        when: &[
            predicate("module_loaded", Trigger::programs(&["modprobe"]), |scene| {
                const SHOWS: &[&str] = &["-n", "--dry-run", "--show-depends", "-c", "--showconfig"];
                let found = scene.first(&["modprobe"], |inv| {
                    !inv.operands.is_empty()
                        && !SHOWS.iter().any(|flag| has_flag(inv, flag))
                        && !everyday::loads_known_module(inv)
                        && !takes_own_module(inv)
                });
                Found::from(found.map(|inv| inv.text.as_str()))
            }),
            predicate("module_put_in", Trigger::programs(&["insmod", "rmmod"]), |scene| {
                let found = scene.first(&["insmod", "rmmod"], |inv| {
                    !inv.operands.is_empty() && !is_own_module(inv, scene)
                });
                Found::from(found.map(|inv| inv.text.as_str()))
            }),
            When::Command(Command { operand: Operand::Some, ..run(&["kldload", "kextload"]) }),
            When::Command(run(&["kexec"])),
        ],
        ..RULE
    },
    Rule {
        id: "system.own-module",
        verdict: Verdict::Modify,
        reason: "loads a module of the project's own into the kernel, or takes one out that is not the system's",
        instead: Some(Instead::Advice("let the person load it")),
        when: &[
            predicate("own_module", Trigger::programs(&["insmod", "rmmod", "modprobe"]), |scene| {
                let found = scene.first(&["insmod", "rmmod", "modprobe"], |inv| {
                    is_own_module(inv, scene) || takes_own_module(inv)
                });
                Found::from(found.map(|inv| inv.text.as_str()))
            }),
            When::Command(sub(&["bpftool"], &["prog load", "prog loadall", "prog attach"])),
        ],
        ..RULE
    },
    Rule {
        id: "system.kernel-weakened",
        severity: Severity::Critical,
        reason: "switches off what keeps programs of this machine apart, or has the kernel run a program",
        instead: Some(Instead::Command("sysctl -a")),
        when: &[When::Command(Command {
            operand: Operand::Contains(&[
                "kernel.core_pattern=",
                "kernel.modprobe=",
                "kernel.randomize_va_space=0",
                "kernel.yama.ptrace_scope=0",
                "kernel.kptr_restrict=0",
                "kernel.dmesg_restrict=0",
                "kernel.unprivileged_bpf_disabled=0",
                "kernel.sysrq=1",
                "fs.suid_dumpable=2",
                "fs.protected_symlinks=0",
                "fs.protected_hardlinks=0",
                "kernel.pid_max=",
                "kernel.threads-max=",
                "kernel.modules_disabled=",
                "kernel.panic",
                "accept_redirects=1",
                "send_redirects=1",
                "accept_source_route=1",
                "rp_filter=0",
                "tcp_syncookies=0",
            ]),
            ..run(&["sysctl"])
        })],
        ..RULE
    },
    Rule {
        id: "system.sysctl",
        verdict: Verdict::Modify,
        reason: "changes how the kernel behaves",
        instead: Some(Instead::Command("sysctl -a")),
        when: &[predicate("kernel_switch_set", Trigger::programs(&["sysctl"]), |scene| {
            const SETS: &[&str] = &["-w", "--write", "-p", "--load", "--system"];
            let found = scene.first(&["sysctl"], |inv| {
                let sets = SETS.iter().any(|flag| has_flag(inv, flag))
                    || inv.operands.iter().any(|arg| arg.text().contains('='));
                sets && !asks_for_help(inv) && !everyday::only_tunes(inv)
            });
            Found::from(found.map(|inv| inv.text.as_str()))
        })],
        ..RULE
    },
];

words!("builtin/system/kernel");

/// A module leaves the kernel that is none of the system's, without force.
fn takes_own_module(inv: &Invocation) -> bool {
    let removes = match inv.program.as_str() {
        "rmmod" => true,
        "modprobe" => has_flag(inv, "-r") || has_flag(inv, "--remove"),
        _ => false,
    };
    let own = |arg: &Arg| {
        arg.known().is_some_and(|name| {
            let name = name.rsplit('/').next().unwrap_or_default();
            !SYSTEM_MODULES.iter().any(|front| name.starts_with(front))
        })
    };
    removes
        && !has_flag(inv, "-f")
        && !has_flag(inv, "--force")
        && !inv.operands.is_empty()
        && inv.operands.iter().all(own)
}

/// A module that lies in a directory of the project and did not come from elsewhere, or one that leaves the kernel.
fn is_own_module(inv: &Invocation, scene: &Scene<'_>) -> bool {
    if inv.program != "insmod" {
        return inv.program == "rmmod" && takes_own_module(inv);
    }
    let Some(first) = inv.operands.first() else { return false };
    let Target::Path { path, glob: false, recursive: false } = target_of(first, inv.cwd.as_deref()) else {
        return false;
    };
    let below = scene.view.facts.places.roots().filter_map(|root| path.strip_prefix(root)?.strip_prefix('/'));
    // At the top of a project lies what was put there; a driver has a directory of its own.
    let own = { below }.any(|rest| rest.contains('/') && !rest.starts_with('.'));
    own && path.ends_with(".ko")
        && scene.view.survey.marks.source(&path).is_none()
        && !scene.runs_any(|other| runs(other, lists::DOWNLOADERS))
}
