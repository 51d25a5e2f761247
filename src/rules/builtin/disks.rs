//! Disks: devices, partitions, file systems, volumes.

use super::operations::done;
use super::{flagged, libraries, predicate, run, sub};
use crate::domain::{EffectKind, Severity, Verdict};
use crate::rules::Invocation;
use crate::rules::facts::operations::OVERWRITES_DISK;
use crate::rules::matcher::{
    At, Class, Code, Command, EFFECT, Found, Instead, OnEffect, Operand, RULE, Rule, Scene, Trigger, When,
    classify, has_flag, runs, target_of,
};
use crate::shell::Arg;

const DEV: Operand = Operand::At(&[At::Abs("/dev")]);

const DD: &[&str] = &["dd", "dcfldd", "ddrescue"];

words!("builtin/disks");

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "disks.write-device",
        severity: Severity::Critical,
        reason: "writes straight onto a disk or into memory, over everything that is there",
        instead: Some(Instead::Advice(
            "write to an image file in the project, and let the person write it to the device",
        )),
        when: &[
            When::Effect(OnEffect {
                kinds: &[
                    EffectKind::FileCreation,
                    EffectKind::FileModification,
                    EffectKind::FileDeletion,
                    EffectKind::SystemModification,
                ],
                any: &[Class::Device],
                except: &[
                    "mount", "umount", "losetup", "chmod", "chown", "ln", "swapoff", "hdparm", "smartctl",
                ],
                ..EFFECT
            }),
            predicate("dd_onto_a_device", Trigger::programs(DD), dd_onto_device),
            predicate("image_put_onto_a_device", Trigger::programs(IMAGERS), imaged),
            predicate("device_opened_by_code", Trigger::INTERPRETER, |scene| {
                libraries::first(scene, opens_device)
            }),
            predicate("each_listed_disk_written", Trigger::programs(&["lsblk"]), each_disk),
        ],
        ..RULE
    },
    Rule {
        id: "disks.format",
        severity: Severity::Critical,
        reason: "makes a new file system over what is on the disk",
        instead: Some(Instead::Advice("tell the person what is to be done, and let them do it")),
        when: &[predicate("file_system_made_on_a_device", Trigger::programs(FORMATTERS), format_device)],
        ..RULE
    },
    Rule {
        id: "disks.partition",
        severity: Severity::Critical,
        reason: "changes a disk's partitions",
        instead: Some(Instead::Advice("tell the person what is to be done, and let them do it")),
        when: &[
            When::Command(Command {
                operand: DEV,
                without: &["-l", "--list", "-s"],
                ..run(&["fdisk", "cfdisk", "gdisk"])
            }),
            When::Command(Command {
                operand: DEV,
                without: &[
                    "-l", "--list", "-d", "--dump", "-J", "--json", "-n", "--no-act", "-s", "-p", "--print",
                    "-i", "--info",
                ],
                ..run(&["sfdisk", "sgdisk"])
            }),
            predicate("partitions_changed_by_parted", Trigger::programs(&["parted"]), |scene| {
                const CHANGES: &[&str] = &["mklabel", "mkpart", "rm", "resizepart", "mktable", "name", "set"];
                let found = scene.first(&["parted"], |inv| {
                    // A file is an image of a disk.
                    let image = |text: &str| [".img", ".raw", ".iso"].iter().any(|end| text.ends_with(end));
                    let words: Vec<&str> = inv.args.iter().filter_map(Arg::known).collect();
                    let on_image = words.iter().any(|word| image(word) && !word.starts_with("/dev/"))
                        && !words.iter().any(|word| word.starts_with("/dev/"));
                    words.iter().any(|word| CHANGES.contains(word)) && !on_image
                });
                Found::from(found.map(|inv| inv.text.as_str()))
            }),
            When::Command(sub(
                &["diskutil"],
                &[
                    "eraseDisk",
                    "eraseVolume",
                    "partitionDisk",
                    "reformat",
                    "zeroDisk",
                    "secureErase",
                    "eraseall",
                    "apfs deleteContainer",
                    "apfs deleteVolume",
                    "apfs eraseVolume",
                    "unmountDisk force",
                    "randomDisk",
                ],
            )),
        ],
        ..RULE
    },
    Rule {
        id: "disks.wipe",
        severity: Severity::Critical,
        reason: "erases a disk",
        instead: Some(Instead::Advice("tell the person what is to be done, and let them do it")),
        when: &[
            When::Command(flagged(&["wipefs"], &[&["-a", "--all", "-o", "--offset"]])),
            When::Command(Command { operand: Operand::Some, ..run(&["blkdiscard", "nwipe"]) }),
            When::Command(flagged(
                &["hdparm"],
                &[&["--security-erase", "--security-erase-enhanced", "--trim-sector-ranges"]],
            )),
            When::Command(sub(&["nvme"], &["format", "sanitize", "delete-ns"])),
            When::Command(Command {
                operand: DEV,
                ..run(&[
                    "sg_format",
                    "sg_sanitize",
                    "dban",
                    "flash_erase",
                    "flash_eraseall",
                    "fdformat",
                    "flashcp",
                ])
            }),
            When::Command(Command {
                operand: Operand::Starts(&["wipe=", "hwipe="]),
                ..run(&["dc3dd", "dcfldd"])
            }),
            When::Command(sub(&["mtd"], &["erase", "write"])),
            When::Command(flagged(&["flashrom"], &[&["-w", "-E", "--write", "--erase"]])),
            When::Command(Command { operand: Operand::Starts(&["blank="]), ..run(&["wodim", "cdrecord"]) }),
            When::Command(flagged(&["xfs_repair"], &[&["-L"]])),
            When::Command(flagged(&["debugfs"], &[&["-w"]])),
            When::Command(flagged(&["efibootmgr"], &[&["-B", "-O", "-D", "-b", "-o", "--delete-bootnum"]])),
            When::Command(Command { operand: DEV, ..run(&["grub-install", "grub2-install"]) }),
            When::Command(Command {
                operand: Operand::Starts(&["C:", "c:", "D:", "d:", "E:"]),
                ..run(&["format", "format.com"])
            }),
            When::Command(Command { without: &["/?"], ..run(&["diskpart"]) }),
            When::Command(Command { operand: Operand::Starts(&["/w:", "/W:"]), ..run(&["cipher"]) }),
            When::Code(Code {
                programs: &["perl", "ruby", "php", "lua", "node", "python", "python3"],
                all: &[
                    &[
                        ">/dev/sd",
                        ">/dev/nvme",
                        ">/dev/vd",
                        ">/dev/hd",
                        ">/dev/mmcblk",
                        ">/dev/disk",
                        "> /dev/sd",
                    ],
                    &["open", "system", "exec"],
                ],
            }),
            When::Command(flagged(&["badblocks"], &[&["-w"]])),
            predicate("disk_overwritten", Trigger::rows(OVERWRITES_DISK), |scene| {
                done(scene, OVERWRITES_DISK)
            }),
        ],
        ..RULE
    },
    Rule {
        id: "disks.volumes",
        severity: Severity::Critical,
        reason: "destroys a volume, a pool or an encrypted container",
        instead: Some(Instead::Advice("tell the person what is to be done, and let them do it")),
        when: &[
            When::Command(Command {
                without: &["-t", "--test"],
                operand: Operand::Some,
                ..run(&["lvremove", "vgremove", "pvremove", "lvreduce", "vgreduce"])
            }),
            predicate("volume_made_smaller", Trigger::programs(&["lvresize"]), shrunk),
            When::Command(sub(&["lvm"], &["lvremove", "vgremove", "pvremove", "lvreduce", "vgreduce"])),
            When::Command(Command { without: &["-n"], ..sub(&["zfs"], &["rollback"]) }),
            When::Command(sub(&["dmsetup"], &["remove_all", "wipe_table", "remove"])),
            When::Command(sub(
                &["ceph"],
                &["osd pool delete", "osd pool rm", "osd purge", "osd destroy", "fs rm"],
            )),
            When::Command(sub(&["rbd"], &["rm", "remove", "snap purge"])),
            When::Command(sub(&["targetcli"], &["clearconfig"])),
            When::Command(Command { without: &["-n"], ..sub(&["zpool", "zfs"], &["destroy", "labelclear"]) }),
            When::Command(sub(&["btrfs"], &["subvolume delete"])),
            When::Command(flagged(
                &["mdadm"],
                &[&["--zero-superblock", "--remove", "--fail", "--stop", "-S", "-f"]],
            )),
            When::Command(sub(
                &["cryptsetup"],
                &["luksFormat", "luksErase", "erase", "luksKillSlot", "luksRemoveKey", "reencrypt"],
            )),
        ],
        ..RULE
    },
    Rule {
        id: "disks.swapoff",
        verdict: Verdict::Modify,
        severity: Severity::Medium,
        reason: "takes swap space away from the running system",
        instead: Some(Instead::Advice("tell the person what is to be done, and let them do it")),
        when: &[When::Command(run(&["swapoff", "zramctl"]))],
        ..RULE
    },
    Rule {
        id: "disks.mount",
        verdict: Verdict::Modify,
        severity: Severity::Medium,
        reason: "changes which file systems are mounted",
        instead: Some(Instead::Advice("tell the person what is to be done, and let them do it")),
        when: &[
            When::Command(Command { operand: Operand::Some, ..run(&["umount", "losetup"]) }),
            predicate("mounted", Trigger::programs(&["mount"]), |scene| {
                // `mount -t nfs` lists those of that kind.
                let listed = |inv: &Invocation| matches!(inv.args.as_slice(), [flag, _] if matches!(flag.known(), Some("-t" | "--types")));
                let found = scene.first(&["mount"], |inv| !inv.operands.is_empty() && !listed(inv));
                Found::from(found.map(|inv| inv.text.as_str()))
            }),
            When::Command(flagged(&["mount", "umount"], &[&["-a", "--all", "--all-targets"]])),
        ],
        ..RULE
    },
];

fn shrunk<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(&["lvresize"], |inv| {
        inv.args.iter().any(|arg| {
            let text = arg.text();
            let size = ["--size=", "--extents=", "-L", "-l"].iter().find_map(|flag| text.strip_prefix(flag));
            let less = size.unwrap_or(&text).strip_prefix('-');
            less.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// Programs that copy images of disks.
const IMAGERS: &[&str] = &["qemu-img", "guestfish", "virt-resize", "virt-format", "qemu-nbd"];

fn imaged<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(IMAGERS, |inv| {
        let words: Vec<String> = inv.args.iter().map(Arg::to_text).collect();
        let reads_only = words.iter().any(|word| matches!(word.as_str(), "--ro" | "-r" | "--read-only"));
        match (inv.program.as_str(), words.first().map(String::as_str)) {
            ("qemu-img", Some("convert")) => words.last().is_some_and(|word| is_disk(word)),
            ("qemu-img", Some("dd")) => {
                words.iter().any(|word| word.strip_prefix("of=").is_some_and(is_disk))
            }
            ("qemu-img", _) => false,
            _ => !reads_only && words.iter().any(|word| is_disk(word)),
        }
    });
    Found::from(found.map(|inv| inv.text.as_str()))
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
fn each_disk<'a>(scene: &Scene<'a>) -> Found<'a> {
    const WRITERS: &[&str] = &["dd", "wipefs", "shred", "blkdiscard", "mkfs", "mke2fs", "sgdisk"];
    let found = scene.invocations().iter().find(|inv| {
        (runs(inv, WRITERS) || inv.program.starts_with("mkfs."))
            && inv.wrappers.iter().any(|wrapper| matches!(wrapper.as_str(), "xargs" | "parallel"))
            && inv.args.iter().any(|arg| arg.has_unknown() || arg.prefix().starts_with("of={"))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

fn dd_onto_device<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(DD, |inv| {
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
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

fn format_device<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.invocations().iter().find(|inv| {
        let formats = runs(inv, FORMATTERS);
        formats
            && !has_flag(inv, "-n")
            && !has_flag(inv, "-N")
            && inv
                .operands
                .iter()
                .any(|arg| arg.prefix().starts_with("/dev/") || arg.prefix().is_empty() && arg.has_unknown())
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}
