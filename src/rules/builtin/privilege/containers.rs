//! Containers and namespaces as a way to the machine.

mod images;
mod pods;

use super::CHANGES;
use crate::domain::{EffectKind, Target, last_name};
use crate::rules::Invocation;
use crate::rules::builtin::{libraries, lists, texts};
use crate::rules::matcher::{Class, Found, Scene, classify, runs, runs_shell};
use crate::shell::{Arg, Word};
pub(in crate::rules::builtin) use images::{is_monitor, measures};
use images::{is_read_only, mounts_host, traces};
use pods::{PODS, pod_host, system_container_host};

fn from_nsenter<'a>(scene: &Scene<'a>) -> Found<'a> {
    let privileged_chroot = |inv: &&Invocation| {
        let all_mapped =
            || inv.wrappers.iter().any(|name| name == "unshare") && runs_shell(inv) && inv.args.is_empty();
        all_mapped()
            || inv.wrappers.iter().any(|name| name == "nsenter")
            || (inv.privileged && inv.wrappers.iter().any(|name| name == "chroot"))
    };
    Found::from(scene.invocations().iter().find(privileged_chroot).map(|inv| inv.text.as_str()))
}

/// The machine around a container, by the name under which it is mounted there: its secrets read, its system changed.
fn host_reached<'a>(scene: &Scene<'a>) -> Found<'a> {
    const SYSTEM: &[&str] = &["etc", "proc", "sys", "root", "boot", "dev", "usr", "bin", "sbin", "lib"];
    let found = scene.effects().find(|(effect, _)| {
        let Some(inner) = behind_host(effect.target.text()) else { return false };
        let there = Target::Path { path: inner.to_owned(), glob: false, recursive: false };
        if effect.kind == EffectKind::FileRead {
            return inner.starts_with("/etc/kubernetes/")
                || classify(&there, effect.kind, &scene.view).any(&[Class::Secret, Class::Keys]);
        }
        let first = inner.split('/').nth(1).unwrap_or_default();
        CHANGES.contains(&effect.kind) && SYSTEM.contains(&first)
    });
    match found {
        Some((effect, _)) => Found::Yes(effect.target.text().to_owned().into()),
        None => Found::No,
    }
}

/// The path on the machine that a path leads to in a container where the machine's root is mounted.
fn behind_host(path: &str) -> Option<&str> {
    let mounted = ["/host", "/hostfs", "/host-root", "/hostroot", "/mnt/host", "/rootfs"]
        .iter()
        .find_map(|root| path.strip_prefix(root).filter(|rest| rest.starts_with('/')));
    let process = || {
        let (number, rest) = path.strip_prefix("/proc/")?.split_once('/')?;
        let rest = rest.strip_prefix("root")?;
        let is_number = number.bytes().all(|b| b.is_ascii_digit());
        (is_number && rest.starts_with('/')).then_some(rest)
    };
    mounted.or_else(process)
}

/// A volume that is a place of the machine, or a chart whose pods get the machine.
fn host_lent(inv: &Invocation) -> bool {
    let words: Vec<std::borrow::Cow<str>> = inv.args.iter().map(Arg::text).collect();
    let first = |at: usize| words.get(at).map(AsRef::as_ref);
    if inv.program == "helm" {
        return words.iter().flat_map(|word| word.split(',')).any(|word| {
            let word = word.trim_start_matches("--set=").trim_start_matches("--set-string=");
            let on = word.strip_suffix("=true").and_then(|name| name.rsplit('.').next());
            matches!(on, Some("privileged" | "hostPID"))
        });
    }
    first(0) == Some("volume")
        && first(1) == Some("create")
        && words.iter().filter_map(|word| word.split_once("device=")).any(|(_, place)| {
            let path = place.trim_end_matches('/');
            matches!(path, "" | "/etc" | "/root" | "/home" | "/var" | "/usr" | "/boot" | "/proc" | "/dev")
        })
}

fn container_host(inv: &Invocation, scene: &Scene<'_>) -> bool {
    const SHARED: &[&str] = &["--pid", "--ipc", "--userns", "--uts", "--cgroupns"];
    inv.flags.iter().any(|flag| {
        let Some(value) = &flag.value else { return false };
        let text = value.text();
        let text = text.strip_prefix('=').unwrap_or(&text);
        match flag.name.as_str() {
            "-v" | "--volume" => {
                mounts_host(text.split(':').next().unwrap_or_default(), inv, scene)
                    && !(is_read_only(text) && measures(inv))
            }
            "--mount" => text
                .split(',')
                .filter_map(|part| part.split_once('='))
                .any(|(key, source)| matches!(key, "source" | "src") && mounts_host(source, inv, scene)),
            "--cap-add" => matches!(
                text.to_ascii_uppercase().as_str(),
                "ALL"
                    | "SYS_ADMIN"
                    | "CAP_SYS_ADMIN"
                    | "SYS_MODULE"
                    | "DAC_READ_SEARCH"
                    | "SYS_RAWIO"
                    | "DAC_OVERRIDE"
                    | "CAP_SYS_MODULE"
                    | "CAP_DAC_READ_SEARCH"
                    | "BPF"
                    | "MKNOD"
            ),
            "--sysctl" => text.starts_with("kernel.core_pattern") || text.starts_with("kernel.modprobe"),
            "--device" => {
                text.starts_with("/dev/sd") || text.starts_with("/dev/nvme") || text.starts_with("/dev/mem")
            }
            "--security-opt" => {
                text.contains("unconfined") && !(text == "seccomp=unconfined" && traces(inv))
                    || text == "label=disable"
                    || text == "label:disable"
            }
            name => SHARED.contains(&name) && text == "host",
        }
    })
}

words!("builtin/privilege/containers");

/// `/proc/1/root` is the whole machine, seen from inside a container.
fn through_proc_root<'a>(scene: &Scene<'a>) -> Found<'a> {
    let through = |text: &str| {
        text.strip_prefix("/proc/").is_some_and(|rest| {
            let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
            rest.starts_with("/root") || rest.starts_with("/cwd/")
        })
    };
    let others = |inv: &Invocation| !runs(inv, &["echo", "printf", "git", "grep", "rg"]);
    let found = scene.running(others).find(|inv| {
        inv.args.iter().any(|arg| through(arg.prefix()))
            || inv.reads.iter().any(|target| through(target.text()))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

fn docker_socket<'a>(scene: &Scene<'a>) -> Found<'a> {
    const HARMLESS: &[&str] = &[
        "ls", "stat", "test", "[", "echo", "printf", "grep", "rg", "git", "docker", "podman", "cat", "find",
        "export",
    ];
    let found = scene.running(|inv| !runs(inv, HARMLESS)).find(|inv| {
        inv.args.iter().any(|arg| {
            let text = arg.text();
            text.ends_with("/docker.sock")
                || text.ends_with("/containerd.sock")
                || text.ends_with("/podman.sock")
        }) && !asks_for_its_version(inv)
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// `curl -s --unix-socket /var/run/docker.sock http://localhost/version`: whether the service is there, and which.
fn asks_for_its_version(inv: &Invocation) -> bool {
    let harmless = |url: &&str| {
        let path = url.split_once("://").map_or(*url, |(_, rest)| rest).split_once('/').map(|(_, path)| path);
        let last = path.map(last_name);
        matches!(last, Some("version" | "_ping" | "info"))
            && path.is_some_and(|path| path.matches('/').count() <= 1)
    };
    inv.program == "curl"
        && inv.args.iter().all(|arg| arg.known().is_some())
        && inv.flags.iter().all(|flag| REQUEST_OPTIONS.contains(&flag.name.as_str()))
        && inv.operands.iter().filter_map(Arg::known).all(|url| harmless(&url))
}

/// `chroot /host`: out of a container, into what it was given of the machine.
fn chroot_host<'a>(scene: &Scene<'a>) -> Found<'a> {
    const OUT: &[&str] = &["/host", "/mnt", "/proc/", "/rootfs"];
    let found = scene
        .invocations()
        .iter()
        .find(|inv| inv.program == "chroot" || inv.wrappers.iter().any(|name| name == "chroot"));
    let Some(inv) = found else { return Found::No };
    let out = |words: &[Word]| {
        let mut words = words.iter().map(texts::front).skip_while(|word| !word.ends_with("chroot")).skip(1);
        let root = words.find(|word| !word.starts_with('-')).unwrap_or_default();
        root == "/" || OUT.iter().any(|out| root.starts_with(out))
    };
    let out =
        texts::holding(scene, "chroot").any(|script| script.commands.iter().any(|simple| out(&simple.words)));
    if out { Found::yes(&inv.text) } else { Found::No }
}
