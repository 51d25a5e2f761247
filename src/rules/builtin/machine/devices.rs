//! Devices, mounts and the network below them.

use crate::domain::EffectKind;
use crate::rules::Invocation;
use crate::rules::matcher::{Found, Scene, flag_value, has_flag, runs};
use crate::shell::Arg;

fn network_cut(inv: &Invocation) -> bool {
    // `tc qdisc add dev lo`: only what this machine says to itself is slowed down.
    let itself = |inv: &Invocation| {
        inv.program == "tc"
            && inv.args.windows(2).any(|pair| match pair {
                [dev, lo] => dev.known() == Some("dev") && lo.known() == Some("lo"),
                _ => false,
            })
    };
    !itself(inv)
}

const MOUNTS: &[&str] = &["mount", "umount"];

words!("builtin/machine/devices");

fn mounted_over(inv: &Invocation) -> bool {
    const SYSTEM: &[&str] = &[
        "/etc", "/usr", "/bin", "/sbin", "/lib", "/lib64", "/boot", "/proc", "/root", "/home", "/var",
        "/var/log", "/sys",
    ];
    let of_system = |text: &str| {
        text == "/"
            || SYSTEM.contains(&text)
            || ["/etc/", "/usr/", "/bin/", "/sbin/", "/lib/", "/proc/", "/boot/", "/var/log/"]
                .iter()
                .any(|dir| text.starts_with(dir))
    };
    let last = inv.operands.last().map(Arg::text).unwrap_or_default();
    if inv.program == "umount" {
        return ["-a", "--all", "-R"].iter().any(|flag| has_flag(inv, flag))
            || of_system(last.trim_end_matches('/'))
            || last == "/";
    }
    let remounts = flag_value(inv, &["-o", "--options"]).is_some_and(|arg| arg.text().contains("remount"))
        || inv.args.iter().any(|arg| arg.text().starts_with("remount"));
    let onto = inv.operands.len() > 1 || remounts;
    onto && of_system(&last)
}

fn disk_read<'a>(scene: &Scene<'a>) -> Found<'a> {
    let disk = |text: &str| DISKS.iter().any(|start| text.starts_with(start));
    let found = scene
        .effects()
        .find(|(effect, _)| effect.kind == EffectKind::FileRead && disk(effect.target.text()))
        .map(|(effect, _)| effect.target.text());
    let Some(target) = found else { return Found::No };
    let names = |text: &str| text.contains("/dev/") || text.contains('$');
    let mut readers = scene.invocations().iter().filter(|inv| names(&inv.text)).peekable();
    if readers.peek().is_none() {
        return Found::yes(target);
    }
    Found::from(readers.find(|inv| !runs(inv, LOOKERS)).map(|inv| inv.text.as_str()))
}
