//! The packages of the machine, removed or upgraded.

use crate::domain::{Severity, Verdict};
use crate::rules::Invocation;
use crate::rules::builtin::{everyday, flagged, operations, predicate, sub};
use crate::rules::facts::operations::{INSTALLS_FOR_ALL, REMOVES_SOFTWARE, UPGRADES_RELEASE, UPROOTS_TOOLS};
use crate::rules::matcher::{
    Command, Found, Instead, Operand, RULE, Rule, Scene, Trigger, When, asks_for_help,
};
use crate::shell::Arg;

pub(in crate::rules::builtin) const RULES: &[Rule] = &[
    Rule {
        id: "packages.system-removal",
        verdict: Verdict::Modify,
        reason: "removes software from the machine",
        instead: Some(Instead::Command("apt list --installed")),
        when: &[
            predicate("package_removed", Trigger::rows(REMOVES_SOFTWARE), |scene| {
                operations::done_where(scene, REMOVES_SOFTWARE, |inv| {
                    !asks_for_help(inv)
                        && !operations::known_words(inv).iter().any(|word| SIMULATED.contains(word))
                        && !everyday::removes_tools(inv)
                })
            }),
            When::Command(flagged(&["dpkg"], &[&["-r", "-P", "--remove", "--purge"]])),
            When::Command(flagged(&["rpm"], &[&["-e", "--erase"]])),
            predicate("tool_uprooted", Trigger::rows(UPROOTS_TOOLS), |scene| {
                operations::done_where(scene, UPROOTS_TOOLS, |inv| !everyday::sets_own_source(inv))
            }),
            predicate("every_package_removed", Trigger::programs(LISTERS), every_package),
        ],
        ..RULE
    },
    Rule {
        id: "packages.core-removal",
        severity: Severity::Critical,
        reason: "removes a package without which the machine does not run",
        instead: Some(Instead::Command("apt list --installed")),
        when: &[
            When::Command(Command {
                operand: Operand::Is(&[
                    "bash",
                    "dash",
                    "coreutils",
                    "libc6",
                    "glibc",
                    "systemd",
                    "init",
                    "sudo",
                    "apt",
                    "dpkg",
                    "rpm",
                    "dnf",
                    "linux-image-*",
                    "kernel",
                    "openssh-server",
                    "util-linux",
                    "passwd",
                    "login",
                    "grub-pc",
                    "ubuntu-minimal",
                    "musl",
                    "busybox",
                    "network-manager",
                    "python3",
                    "python3-minimal",
                    "base-files",
                    "base",
                    "filesystem",
                    "linux",
                    "alpine-base",
                    "alpine-baselayout",
                    "core",
                    "snapd",
                    "ca-certificates",
                    "openssl",
                    "libssl3",
                    "libc-bin",
                    "perl-base",
                    "initramfs-tools",
                    "libc6*",
                    "libc*",
                    "lib*",
                    "python3*",
                    "python*",
                    "systemd*",
                    "linux-*",
                    "openssh*",
                    "openssl*",
                    "sudo*",
                    // Patterns that stand for every package.
                    "*",
                    ".*",
                    "^.*",
                    "?*",
                    "~i",
                ]),
                without: &["-s", "--simulate", "--dry-run", "--just-print", "--no-act"],
                ..sub(
                    &["apt", "apt-get", "aptitude", "dnf", "yum", "zypper", "apk", "snap"],
                    &["remove", "purge", "erase", "del", "rm", "autoremove"],
                )
            }),
            predicate("core_of_the_system_removed", Trigger::programs(BARE_REMOVERS), core_removed),
            predicate(
                "every_brewed_package_removed",
                Trigger::programs(&["brew", "snap", "flatpak"]),
                |scene| {
                    let says = |inv: &Invocation, words: &[&str]| {
                        operations::known_words(inv).iter().any(|word| words.contains(word))
                    };
                    let listed =
                        |program: &str| scene.first(&[program], |inv| says(inv, &["list", "ls"])).is_some();
                    let found = scene.first(&["brew", "snap", "flatpak"], |inv| {
                        says(inv, &["uninstall", "remove", "rm"])
                            && (listed(&inv.program) || says(inv, &["--all"]))
                    });
                    Found::from(found.map(|inv| inv.text.as_str()))
                },
            ),
            When::Command(flagged(
                &["apt", "apt-get", "dpkg", "rpm"],
                &[&[
                    "--allow-remove-essential",
                    "--force-all",
                    "--force-remove-essential",
                    "--force-depends",
                    "--nodeps",
                ]],
            )),
        ],
        ..RULE
    },
    Rule {
        id: "packages.system-python",
        verdict: Verdict::Warn,
        severity: Severity::Medium,
        reason: "installs over the packages that belong to the operating system",
        instead: Some(Instead::Advice("install into a virtual environment of the project")),
        when: &[
            When::Command(flagged(PIP, &[&["--break-system-packages"]])),
            When::Command(Command {
                privileged: true,
                ..sub(&["pip", "pip3", "npm", "gem", "pnpm", "yarn"], &["install", "i", "add"])
            }),
        ],
        ..RULE
    },
    Rule {
        id: "packages.unknown-global",
        verdict: Verdict::Warn,
        severity: Severity::Low,
        reason: "installs for every project on the machine a package that is none of the well-known ones",
        instead: Some(Instead::Advice("install it into the project, by its exact name and version")),
        when: &[predicate("unknown_package_for_the_machine", Trigger::rows(INSTALLS_FOR_ALL), |scene| {
            operations::done_where(scene, INSTALLS_FOR_ALL, |inv| {
                // What Homebrew itself hands out was looked at by others.
                let tapped = |name: &&str| inv.program != "brew" || name.contains('/');
                everyday::installed(inv).filter(tapped).any(|name| !everyday::is_well_known(name))
            })
        })],
        ..RULE
    },
    Rule {
        id: "packages.all-upgraded",
        verdict: Verdict::Modify,
        reason: "brings the whole system to another release, or restarts it for an update",
        instead: Some(Instead::Command("do-release-upgrade -c")),
        when: &[
            predicate("release_upgraded", Trigger::rows(UPGRADES_RELEASE), |scene| {
                operations::done(scene, UPGRADES_RELEASE)
            }),
            predicate(
                "release_upgraded_by_default",
                Trigger::programs(&["do-release-upgrade"]),
                release_upgraded,
            ),
        ],
        ..RULE
    },
];

const PIP: &[&str] = &["pip", "pip3", "pipx", "uv", "poetry", "pdm"];

words!("builtin/packages/system");

fn release_upgraded<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(&["do-release-upgrade"], |inv| inv.args.is_empty());
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// Programs that remove by an option.
const BARE_REMOVERS: &[&str] = &["pacman", "emerge", "xbps-remove", "rpm", "dpkg", "nix-env"];

/// A library, a shell or an init without which nothing starts.
fn core_removed<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(BARE_REMOVERS, |inv| {
        let removes = inv.program == "xbps-remove"
            || inv.args.iter().filter_map(Arg::known).any(|word| {
                word.starts_with("-R")
                    || matches!(
                        word,
                        "-C" | "--unmerge"
                            | "--remove"
                            | "-e"
                            | "--erase"
                            | "-r"
                            | "-P"
                            | "--purge"
                            | "--uninstall"
                    )
            });
        removes
            && inv
                .operands
                .iter()
                .filter_map(Arg::known)
                .any(|name| NEEDED_TO_START.contains(&name.rsplit('/').next().unwrap_or_default()))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

const LISTERS: &[&str] = &["pip", "pip3", "npm", "gem"];

/// What a program lists of its packages is given to it to remove.
fn every_package<'a>(scene: &Scene<'a>) -> Found<'a> {
    let says = |inv: &Invocation, words: &[&str]| {
        operations::known_words(inv).iter().any(|word| words.contains(word))
    };
    let listed =
        |program: &str| scene.first(&[program], |inv| says(inv, &["freeze", "list", "ls"])).is_some();
    let found =
        scene.first(LISTERS, |inv| says(inv, &["uninstall", "rm", "remove", "un"]) && listed(&inv.program));
    Found::from(found.map(|inv| inv.text.as_str()))
}
