//! Disks: devices, partitions, file systems, volumes.

use super::libraries;
use crate::domain::EffectKind;
use crate::rules::Invocation;
use crate::rules::matcher::{Class, Scene, classify, has_flag, runs, target_of};
use crate::shell::Arg;

const DD: &[&str] = &["dd", "dcfldd", "ddrescue"];

words!("builtin/disks");

fn partitions_changed_by_parted(inv: &Invocation) -> bool {
    const CHANGES: &[&str] = &["mklabel", "mkpart", "rm", "resizepart", "mktable", "name", "set"];
    // A file is an image of a disk.
    let image = |text: &str| [".img", ".raw", ".iso"].iter().any(|end| text.ends_with(end));
    let words: Vec<&str> = inv.args.iter().filter_map(Arg::known).collect();
    let on_image = words.iter().any(|word| image(word) && !word.starts_with("/dev/"))
        && !words.iter().any(|word| word.starts_with("/dev/"));
    words.iter().any(|word| CHANGES.contains(word)) && !on_image
}

fn mounted(inv: &Invocation) -> bool {
    // `mount -t nfs` lists those of that kind.
    let listed = matches!(inv.args.as_slice(), [flag, _] if matches!(flag.known(), Some("-t" | "--types")));
    !inv.operands.is_empty() && !listed
}

fn shrunk(inv: &Invocation) -> bool {
    inv.args.iter().any(|arg| {
        let text = arg.text();
        let size = ["--size=", "--extents=", "-L", "-l"].iter().find_map(|flag| text.strip_prefix(flag));
        let less = size.unwrap_or(&text).strip_prefix('-');
        less.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    })
}

/// Programs that copy images of disks.
const IMAGERS: &[&str] = &["qemu-img", "guestfish", "virt-resize", "virt-format", "qemu-nbd"];

fn imaged(inv: &Invocation) -> bool {
    let words: Vec<String> = inv.args.iter().map(Arg::to_text).collect();
    let reads_only = words.iter().any(|word| matches!(word.as_str(), "--ro" | "-r" | "--read-only"));
    match (inv.program.as_str(), words.first().map(String::as_str)) {
        ("qemu-img", Some("convert")) => words.last().is_some_and(|word| is_disk(word)),
        ("qemu-img", Some("dd")) => words.iter().any(|word| word.strip_prefix("of=").is_some_and(is_disk)),
        ("qemu-img", _) => false,
        _ => !reads_only && words.iter().any(|word| is_disk(word)),
    }
}

/// A disk by the name of its device.
fn is_disk(text: &str) -> bool {
    const DISKS: &[&str] = &["sd", "nvme", "vd", "xvd", "hd", "mmcblk", "disk", "rdisk", "mapper/", "md"];
    text.strip_prefix("/dev/").is_some_and(|name| DISKS.iter().any(|disk| name.starts_with(disk)))
}

fn opens_device(code: &str) -> bool {
    let plain = libraries::plain(code);
    let opened = plain.split("os.open(").skip(1).any(is_disk);
    opened && ["o_wronly", "o_rdwr"].iter().any(|mode| plain.contains(mode))
}

/// What lists the disks tells a program that overwrites each of them.
fn each_disk(inv: &Invocation) -> bool {
    const WRITERS: &[&str] = &["dd", "wipefs", "shred", "blkdiscard", "mkfs", "mke2fs", "sgdisk"];
    (runs(inv, WRITERS) || inv.program.starts_with("mkfs."))
        && inv.wrappers.iter().any(|wrapper| matches!(wrapper.as_str(), "xargs" | "parallel"))
        && inv.args.iter().any(|arg| arg.has_unknown() || arg.prefix().starts_with("of={"))
}

fn dd_onto_device(inv: &Invocation, scene: &Scene<'_>) -> bool {
    inv.args.iter().any(|arg| {
        let Some(out) = arg.prefix().strip_prefix("of=") else { return false };
        // A list of the disks says which one.
        let listed = ["lsblk", "findmnt", "blkid", "/dev/"].iter().any(|word| inv.text.contains(word));
        if out.is_empty() && arg.has_unknown() && inv.text.contains("of=$(") && listed {
            return true;
        }
        // Which device is only known once it runs.
        if out == "/dev/" || out.starts_with("/dev/{") {
            return true;
        }
        let target = target_of(&Arg::literal(out), inv.cwd.as_deref());
        classify(&target, EffectKind::FileModification, &scene.view).has(Class::Device)
    })
}

fn format_device(inv: &Invocation) -> bool {
    let formats = runs(inv, FORMATTERS);
    formats
        && !has_flag(inv, "-n")
        && !has_flag(inv, "-N")
        && inv
            .operands
            .iter()
            .any(|arg| arg.prefix().starts_with("/dev/") || arg.prefix().is_empty() && arg.has_unknown())
}
