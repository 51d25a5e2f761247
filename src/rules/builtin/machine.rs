//! What the machine is known by and starts with: files that everything reads, boot, trust, names, network. What runs on it is
//! in `system`.

use super::deeds::{Deeds, done};
use super::{named, predicate};
use crate::domain::{Action, EffectKind, Severity, Target, Verdict};
use crate::rules::matcher::{
    At, EFFECT, Found, Instead, OnEffect, RULE, Rule, Scene, Trigger, When, at, flag_value, has_flag, runs,
};
use crate::shell::Arg;

const CHANGES: &[EffectKind] =
    &[EffectKind::FileCreation, EffectKind::FileModification, EffectKind::FileDeletion];

/// Files that decide whom the machine talks to, what it mounts and whom it trusts.
pub(super) const VITAL: &[At] = &[
    At::Abs("/etc/hosts"),
    At::Abs("/etc/hosts.allow"),
    At::Abs("/etc/hosts.deny"),
    At::Abs("/etc/resolv.conf"),
    At::Abs("/etc/nsswitch.conf"),
    At::Abs("/etc/gai.conf"),
    At::Abs("/etc/hostname"),
    At::Abs("/etc/machine-id"),
    At::Abs("/etc/localtime"),
    At::Abs("/etc/fstab"),
    At::Abs("/etc/crypttab"),
    At::Abs("/etc/mtab"),
    At::Abs("/etc/exports"),
    At::Abs("/etc/issue"),
    At::Abs("/etc/motd"),
    At::Abs("/etc/login.defs"),
    At::Abs("/etc/securetty"),
    At::Abs("/etc/security"),
    At::Abs("/etc/shells"),
    At::Abs("/etc/services"),
    At::Abs("/etc/protocols"),
    At::Abs("/etc/ssh/ssh_config"),
    At::Abs("/etc/ssh/ssh_config.d"),
    At::Abs("/etc/ssl/certs"),
    At::Abs("/etc/ssl/openssl.cnf"),
    At::Abs("/etc/ca-certificates"),
    At::Abs("/etc/ca-certificates.conf"),
    At::Abs("/etc/pki/ca-trust"),
    At::Abs("/usr/local/share/ca-certificates"),
    At::Abs("/usr/share/ca-certificates"),
    At::Abs("/etc/opt/chrome"),
    At::Abs("/etc/chromium"),
    At::Abs("/etc/firefox"),
    At::Abs("/etc/emond.d"),
    At::Abs("/etc/init"),
    At::Abs("/etc/network"),
    At::Abs("/etc/netplan"),
    At::Abs("/etc/iptables"),
    At::Abs("/etc/nftables.conf"),
    At::Abs("/etc/ufw"),
    At::Abs("/etc/firewalld"),
    At::Abs("/etc/alternatives"),
    At::Abs("/private/etc/hosts"),
];

const BOOT: Deeds = &[
    (
        &["update-grub", "update-grub2", "update-initramfs", "mkinitcpio", "mkinitrd", "kernel-install"],
        &["*"],
    ),
    (&["grub-mkconfig", "grub2-mkconfig"], &["-o", "--output"]),
    (&["grub-install", "grub2-install", "grub-set-default", "grub2-set-default"], &["*"]),
    (&["grub-editenv", "grub2-editenv"], &["set", "unset", "create"]),
    (&["dracut"], &["-f", "--force", "--regenerate-all"]),
    (&["bootctl"], &["install", "remove", "set-default", "set-oneshot", "random-seed"]),
    (&["nvram"], &["-c", "-d", "-f"]),
    (&["fw_setenv", "bless", "fwupdtool"], &["*"]),
    (&["fwupdmgr"], &["install", "downgrade", "activate"]),
    (&["mokutil"], &["--import", "--delete", "--reset"]),
    (
        &["grubby"],
        &[
            "--update-kernel",
            "--set-default",
            "--set-default-index",
            "--remove-kernel",
            "--add-kernel",
            "--remove-args",
        ],
    ),
    (&["dpkg-divert", "dpkg-statoverride"], &["--add", "--rename", "--remove", "--divert"]),
];

const TRUST: Deeds = &[
    (&["trust"], &["anchor", "extract-compat"]),
    (
        &["security"],
        &["add-trusted-cert", "remove-trusted-cert", "trust-settings-import", "delete-certificate"],
    ),
    (&["certutil"], &["-A", "-M", "-addstore", "/addstore"]),
    (&["resolvectl", "systemd-resolve"], &["dns", "domain", "revert", "--set-dns", "dnsovertls", "dnssec"]),
    (
        &["networksetup"],
        &[
            "-setdnsservers",
            "-setwebproxy",
            "-setsecurewebproxy",
            "-setsocksfirewallproxy",
            "-setautoproxyurl",
            "-setsearchdomains",
        ],
    ),
    (&["scutil"], &["--set", "--nc"]),
    (&["hostnamectl"], &["set-hostname", "hostname *"]),
];

const NETWORK: Deeds = &[
    (
        &["ip"],
        &[
            "link set down",
            "link delete",
            "link del",
            "route del",
            "route delete",
            "route flush",
            "route replace default",
            "route add default",
            "addr flush",
            "address flush",
            "rule del",
            "rule flush",
            "neigh flush",
        ],
    ),
    (&["ifconfig"], &["down"]),
    (&["ifdown"], &["*"]),
    (&["route"], &["del", "delete", "flush", "add default"]),
    (
        &["nmcli"],
        &[
            "networking off",
            "radio all off",
            "radio wifi off",
            "r wifi off",
            "n off",
            "connection delete",
            "con delete",
            "connection down",
            "con down",
            "device disconnect",
            "dev disconnect",
        ],
    ),
    (&["networksetup"], &["-setairportpower off", "-setnetworkserviceenabled off"]),
    (&["rfkill"], &["block"]),
    (&["netplan"], &["apply"]),
    (&["tc"], &["qdisc add", "qdisc replace"]),
    (&["arp"], &["-s", "-d"]),
];

/// Authorities of one's own that everything on the machine believes from then on.
const OWN_AUTHORITIES: Deeds = &[
    (&["mkcert"], &["-install"]),
    (&["dotnet"], &["dev-certs https --trust", "dev-certs https -t"]),
    (&["caddy"], &["trust"]),
    (&["step"], &["certificate install"]),
];

/// What is in boards, phones and simulators is erased.
const ERASERS: Deeds = &[
    (&["esptool", "esptool.py"], &["erase_flash", "erase-flash"]),
    (&["python", "python3"], &["-m esptool erase_flash", "-m esptool erase-flash"]),
    (&["idf.py"], &["erase-flash", "erase_flash"]),
    (&["st-flash"], &["erase"]),
    (&["nrfjprog"], &["--eraseall", "--recover"]),
    (&["pyocd"], &["erase --chip", "erase -c", "erase --mass"]),
    (&["fastboot"], &["-w", "erase", "flashing unlock", "oem unlock"]),
    (&["xcrun"], &["simctl erase all", "simctl delete all"]),
];

const CLOCK: Deeds = &[
    (&["date"], &["-s", "--set"]),
    (&["timedatectl"], &["set-time", "set-ntp", "set-local-rtc"]),
    (&["hwclock"], &["-w", "--systohc", "-s", "--hctosys", "--set"]),
    (&["ntpdate", "rdate"], &["*"]),
    (&["systemsetup"], &["-setdate", "-settime", "-setusingnetworktime"]),
];

const MOUNTS: &[&str] = &["mount", "umount"];

/// Names of commands in whose place nobody puts a program of their own.
const COMMANDS: &[&str] = &[
    "sudo",
    "su",
    "doas",
    "ssh",
    "scp",
    "ssh-agent",
    "passwd",
    "login",
    "ls",
    "ps",
    "top",
    "kill",
    "cat",
    "cp",
    "mv",
    "rm",
    "find",
    "grep",
    "netstat",
    "ss",
    "lsof",
    "id",
    "whoami",
    "who",
    "w",
    "last",
    "bash",
    "sh",
    "zsh",
    "git",
    "gpg",
    "curl",
    "wget",
    "systemctl",
    "crontab",
    "mount",
    "apt",
    "apt-get",
    "dpkg",
    "claude",
    "opencode",
];

/// Directories in which commands are looked for before those of the system.
const FIRST: &[At] = &[
    At::Home(".local/bin"),
    At::Home("bin"),
    At::Abs("/usr/local/bin"),
    At::Abs("/usr/local/sbin"),
    At::Abs("/opt/bin"),
];

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "system.vital-file",
        severity: Severity::Critical,
        reason: "changes a file by which the machine finds hosts, mounts, names or trust",
        instead: Some(Instead::Advice("show the person the change and let them make it")),
        when: &[
            predicate("vital_file_changed", Trigger::kinds(CHANGES), vital_changed),
            predicate("vital_file_written_by_code", Trigger::INTERPRETER, code_writes_vital),
        ],
        fires: &[
            "echo 'nameserver 10.0.0.9' > /etc/resolv.conf",
            "sudo sed -i s/ro/rw/ /etc/fstab",
            "Write /etc/hosts x",
            "echo '10.9.8.7 github.com' >> /etc/hosts",
            "cp x.crt /usr/local/share/ca-certificates/x.crt",
            "rm /etc/localtime",
            "perl -e 'open(F,\">/etc/passwd\")'",
            "awk 'BEGIN{print \"x\" > \"/etc/hosts\"}'",
            "python3 -c \"open('/etc/hosts','w').write('x')\"",
            "python3 -c \"import shutil;shutil.copyfile('a','/etc/hosts')\"",
        ],
        silent: &[
            "cat /etc/hosts",
            "echo '127.0.0.1 app.test' | sudo tee -a /etc/hosts",
            "cp /etc/resolv.conf /tmp/resolv.conf",
            "echo x > etc/hosts",
            "awk '{print $1}' /etc/hosts",
            "python3 -c \"print(open('/etc/hosts').read())\"",
            "python3 -c \"import shutil;shutil.copyfile('/etc/hosts','/tmp/hosts')\"",
        ],
        ..RULE
    },
    Rule {
        id: "system.boot",
        severity: Severity::Critical,
        reason: "changes how the machine starts",
        instead: Some(Instead::Command("uname -r")),
        when: &[predicate("start_of_the_machine_changed", Trigger::rows(BOOT), |scene| done(scene, BOOT))],
        fires: &[
            "sudo update-grub",
            "grub-mkconfig -o /boot/grub/grub.cfg",
            "update-initramfs -u",
            "bootctl remove",
            "fw_setenv bootcmd x",
            "dpkg-divert --rename /bin/ls",
            "grubby --update-kernel=ALL --args=init=/bin/bash",
        ],
        silent: &[
            "uname -r",
            "bootctl status",
            "grub-mkconfig --version",
            "nvram -p",
            "fwupdmgr get-devices",
            "grubby --info=ALL",
        ],
        ..RULE
    },
    Rule {
        id: "system.trust",
        severity: Severity::Critical,
        reason: "changes whom the machine trusts, asks for names, or is called by",
        instead: Some(Instead::Command("curl --cacert ./ca.pem https://localhost:8443/")),
        when: &[
            predicate("trust_changed", Trigger::rows(TRUST), |scene| done(scene, TRUST)),
            predicate("names_of_a_connection_changed", Trigger::programs(&["nmcli"]), connection_names),
        ],
        fires: &[
            "sudo trust anchor x.crt",
            "security add-trusted-cert -d -r trustRoot -k /Library/Keychains/System.keychain x.crt",
            "resolvectl dns eth0 10.0.0.9",
            "networksetup -setdnsservers Wi-Fi 10.0.0.9",
            "nmcli con mod x ipv4.dns 10.0.0.9",
            "hostnamectl set-hostname x",
        ],
        silent: &[
            "trust list",
            "resolvectl status",
            "resolvectl query example.org",
            "nmcli con show",
            "hostnamectl",
        ],
        ..RULE
    },
    Rule {
        id: "system.own-authority",
        verdict: Verdict::Modify,
        reason: "has everything on the machine trust an authority of one's own",
        instead: Some(Instead::Command("mkcert localhost")),
        when: &[predicate("own_authority_trusted", Trigger::rows(OWN_AUTHORITIES), |scene| {
            done(scene, OWN_AUTHORITIES)
        })],
        fires: &["mkcert -install", "dotnet dev-certs https --trust", "sudo caddy trust"],
        silent: &[
            "mkcert localhost 127.0.0.1",
            "mkcert -CAROOT",
            "dotnet dev-certs https --check",
            "caddy run",
        ],
        ..RULE
    },
    Rule {
        id: "system.device-erased",
        verdict: Verdict::Modify,
        reason: "erases all that is on a board, a phone or a simulator",
        instead: Some(Instead::Command("esptool.py flash_id")),
        when: &[predicate("device_erased", Trigger::rows(ERASERS), |scene| done(scene, ERASERS))],
        fires: &[
            "esptool.py --port /dev/ttyUSB0 erase_flash",
            "python3 -m esptool erase-flash",
            "idf.py erase-flash",
            "fastboot -w",
            "xcrun simctl erase all",
        ],
        silent: &[
            "esptool.py --port /dev/ttyUSB0 write_flash 0x0 firmware.bin",
            "idf.py -p /dev/ttyUSB0 flash monitor",
            "fastboot devices",
            "xcrun simctl delete unavailable",
            "xcrun simctl erase 5D1F",
        ],
        ..RULE
    },
    Rule {
        id: "system.network-cut",
        reason: "takes the machine off its network or sends its traffic another way",
        instead: Some(Instead::Command("ip addr")),
        when: &[predicate("network_cut", Trigger::rows(NETWORK), |scene| done(scene, NETWORK))],
        fires: &[
            "sudo ip link set eth0 down",
            "ip route del default",
            "ifconfig eth0 down",
            "nmcli networking off",
            "route add default gw 10.0.0.9",
            "rfkill block wifi",
        ],
        silent: &[
            "ip addr",
            "ip link show",
            "ip route",
            "nmcli device status",
            "ifconfig",
            "route -n",
            "rfkill list",
        ],
        ..RULE
    },
    Rule {
        id: "system.clock-set",
        severity: Severity::Medium,
        reason: "sets the machine's clock, which logs, certificates and builds go by",
        instead: Some(Instead::Command("date -u")),
        when: &[predicate("clock_set", Trigger::rows(CLOCK), |scene| done(scene, CLOCK))],
        fires: &["sudo date -s '2020-01-01'", "timedatectl set-ntp false", "hwclock --systohc"],
        silent: &["date", "date -u +%s", "timedatectl", "hwclock --show", "date -d '1 day ago'"],
        ..RULE
    },
    Rule {
        id: "system.hook-removed",
        verdict: Verdict::Modify,
        severity: Severity::Medium,
        reason: "takes away a hook of the repository, which checks what is committed and pushed",
        instead: Some(Instead::Advice("mend what the hook complains about, or let the person remove it")),
        when: &[When::Effect(OnEffect {
            kinds: &[EffectKind::FileDeletion],
            at: super::lists::GIT_HOOKS,
            lasting: true,
            ..EFFECT
        })],
        fires: &["rm .git/hooks/pre-commit", "unlink .git/hooks/pre-push", "rm -f .git/hooks/*"],
        silent: &[
            "ls .git/hooks",
            "cat .git/hooks/pre-commit",
            "pre-commit install",
            "rm .git/hooks/pre-push.sample",
        ],
        ..RULE
    },
    Rule {
        id: "system.mounted-over",
        severity: Severity::Critical,
        reason: "mounts over the system, makes it writable, or takes away what is in use",
        instead: Some(Instead::Command("findmnt")),
        when: &[predicate("system_mounted_over", Trigger::programs(MOUNTS), mounted_over)],
        fires: &[
            "mount --bind /tmp/x /etc/passwd",
            "mount -o remount,rw /",
            "umount -a",
            "umount -l /",
            "mount -o bind /tmp/empty /proc/1234",
            "mount -t tmpfs none /etc",
            "mount --bind /dev/null /var/log/auth.log",
            "mount -t tmpfs tmpfs /var/log",
        ],
        silent: &["mount", "findmnt", "mount /dev/sdb1 /mnt", "umount /mnt", "mount -t tmpfs none /tmp/x"],
        ..RULE
    },
    Rule {
        id: "persistence.command-shadowed",
        severity: Severity::Critical,
        reason: "puts a program of its own in the place of a command that everybody runs",
        instead: Some(Instead::Advice("give the program a name of its own")),
        when: &[
            predicate("command_shadowed_by_a_file", Trigger::kinds(CHANGES), shadowed),
            predicate("command_shadowed_by_an_alias", Trigger::SIGNS, shadowed_in_shell),
            predicate("alternative_of_its_own", Trigger::programs(ALTERNATIVES), alternative_planted),
            predicate("directory_of_commands_replaced", Trigger::programs(&["ln"]), |scene| {
                const PLACES: &[&str] =
                    &["/usr/local/bin", "/usr/local/sbin", "/usr/bin", "/usr/sbin", "/bin", "/sbin"];
                let found = scene.first(&["ln"], |inv| {
                    let itself = ["-n", "--no-dereference", "-T", "--no-target-directory"];
                    let last = inv.operands.last().and_then(Arg::known).unwrap_or_default();
                    itself.iter().any(|flag| has_flag(inv, flag))
                        && PLACES.contains(&last.trim_end_matches('/'))
                });
                Found::from(found.map(|inv| inv.text.as_str()))
            }),
        ],
        fires: &[
            "sudo ln -sfn /tmp/x /usr/local/bin",
            "ln -sf /tmp/evil ~/.local/bin/ls",
            "sudo mv x /usr/local/bin/sudo",
            "cp x ~/bin/ssh",
            "cp x /tmp/sudo",
            "sudo update-alternatives --set python3 /tmp/python",
            "update-alternatives --install /usr/bin/sudo sudo /tmp/sudo 100",
            "alias sudo='/tmp/x'",
            "sudo() { /tmp/x \"$@\"; }; export -f sudo",
        ],
        silent: &[
            "cp x ~/.local/bin/tool",
            "sudo ln -sfn /opt/app/bin/app /usr/local/bin/app",
            "ls ~/.local/bin",
            "alias ll='ls -l'",
            "cp tool /tmp/tool",
            "retry() { \"$@\" || \"$@\"; }; retry ls",
            "mkdir -p bin && cp ls.sh bin/",
            "sudo update-alternatives --set editor /usr/bin/vim.basic",
            "update-alternatives --install /usr/bin/cc cc /opt/gcc/bin/gcc 50",
        ],
        ..RULE
    },
    Rule {
        id: "persistence.extension-file",
        verdict: Verdict::Modify,
        reason: "gives an editor or a browser an extension of unknown origin",
        instead: Some(Instead::Command("code --list-extensions")),
        when: &[predicate("extension_of_unknown_origin", Trigger::programs(EDITORS), extension_from_file)],
        fires: &["code --install-extension /tmp/x.vsix", "google-chrome --load-extension=/tmp/x"],
        silent: &[
            "code --install-extension rust-lang.rust-analyzer",
            "code --install-extension ./out/mine.vsix",
            "code --list-extensions",
        ],
        ..RULE
    },
    Rule {
        id: "disks.read-device",
        reason: "reads a disk or the memory past every permission of the files on it",
        instead: Some(Instead::Command("lsblk -f")),
        when: &[
            When::Effect(OnEffect {
                kinds: &[EffectKind::FileRead],
                at: &[
                    At::Abs("/dev/mem"),
                    At::Abs("/dev/kmem"),
                    At::Abs("/dev/port"),
                    At::Abs("/dev/mapper"),
                    At::Abs("/dev/disk"),
                ],
                except: LOOKERS,
                ..EFFECT
            }),
            predicate("raw_disk_read", Trigger::kinds(&[EffectKind::FileRead]), disk_read),
        ],
        fires: &[
            "cat /dev/sda",
            "dd if=/dev/sda of=/tmp/disk.img",
            "strings /dev/sda1",
            "head -c 1M /dev/nvme0n1 | base64",
            "Read /dev/sda",
            "xxd /dev/mem",
        ],
        silent: &[
            "ls -l /dev/sda",
            "lsblk /dev/sda",
            "file -s /dev/sda",
            "head -c 16 /dev/urandom",
            "cat /dev/null",
            "dd if=/dev/zero of=/tmp/x count=1",
        ],
        ..RULE
    },
    Rule {
        id: "privilege.shell-offered",
        severity: Severity::Critical,
        reason: "has a program that acts with all rights run another command of its own choosing",
        instead: Some(Instead::Command("sudo -l")),
        when: &[predicate(
            "command_run_by_a_privileged_program",
            Trigger::WRAPPED.or(Trigger::programs(SUDOS)),
            offered,
        )],
        fires: &[
            "sudo apt-get update -o APT::Update::Pre-Invoke::=/bin/sh",
            "sudo tcpdump -ln -i lo -w /dev/null -W 1 -G 1 -z /tmp/x -Z root",
            "sudo ed",
            "sudo python3",
            "sudo nmap --interactive",
            "sudo script -q /dev/null",
            "sudo LD_PRELOAD=/tmp/x.so id",
            "sudoedit -s x",
            "sudo git -p help config",
        ],
        silent: &[
            "sudo apt-get update",
            "sudo tcpdump -i eth0 -c 5",
            "sudo python3 -m http.server",
            "sudo DEBIAN_FRONTEND=noninteractive apt-get install -y jq",
            "python3",
            "ed",
            "sudo git status",
        ],
        ..RULE
    },
    Rule {
        id: "system.guests",
        verdict: Verdict::Modify,
        reason: "switches a virtual machine off or takes it away",
        instead: Some(Instead::Command("virsh list --all")),
        when: &[predicate("virtual_machine_ended", Trigger::rows(GUESTS), |scene| done(scene, GUESTS))],
        fires: &[
            "virsh destroy vm1",
            "VBoxManage controlvm x poweroff",
            "qm stop 100",
            "wsl --shutdown",
            "govc vm.power -off web",
        ],
        silent: &["virsh list --all", "VBoxManage list vms", "qm list", "virsh dominfo vm1"],
        ..RULE
    },
];

/// An editor's or a browser's extension from a file of unknown origin.
fn extension_from_file<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(EDITORS, |inv| {
        let loads = |text: &str| text.ends_with(".vsix") || text.starts_with("--load-extension=");
        inv.args.iter().any(|arg| {
            let text = arg.text();
            let path = text.rsplit('=').next().unwrap_or_default();
            let strange =
                ["/tmp/", "/var/tmp/", "/dev/shm/", "http"].iter().any(|start| path.starts_with(start))
                    || path.contains("/Downloads/");
            loads(&text) && strange
        })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

const EDITORS: &[&str] = &[
    "code",
    "codium",
    "vscodium",
    "cursor",
    "windsurf",
    "code-insiders",
    "google-chrome",
    "chromium",
    "chrome",
    "chromium-browser",
    "brave-browser",
    "microsoft-edge",
];

const GUESTS: Deeds = &[
    (&["virsh"], &["destroy", "undefine", "shutdown", "reset", "reboot", "vol-delete", "pool-delete"]),
    (
        &["VBoxManage", "vboxmanage"],
        &["controlvm poweroff", "controlvm reset", "unregistervm", "closemedium --delete"],
    ),
    (&["qm", "pct"], &["stop", "destroy", "shutdown", "reset"]),
    (&["wsl", "wsl.exe"], &["--shutdown", "--terminate", "--unregister"]),
    (&["xl", "xm"], &["destroy", "shutdown"]),
    (&["machinectl"], &["poweroff", "reboot", "terminate", "remove"]),
    (&["vmrun"], &["stop hard", "reset hard", "deleteVM"]),
    (&["govc"], &["vm.power -off", "vm.power -reset", "vm.destroy"]),
    (&["multipass"], &["stop --all", "delete --all", "delete --purge"]),
];

/// Programs that look at a device itself and not at what is on it.
const LOOKERS: &[&str] = &[
    "ls",
    "stat",
    "test",
    "[",
    "lsblk",
    "blkid",
    "file",
    "fdisk",
    "sfdisk",
    "parted",
    "smartctl",
    "hdparm",
    "findmnt",
    "df",
    "udevadm",
    "readlink",
    "realpath",
    "mount",
    "dumpe2fs",
    "tune2fs",
    "blockdev",
    "nvme",
    "wipefs",
    "sgdisk",
    "gdisk",
    "badblocks",
    "fsck",
    "e2fsck",
    "cryptsetup",
    "mdadm",
    "diskutil",
    "echo",
    "lvs",
    "pvs",
    "vgs",
];

const SUDOS: &[&str] = &["sudo", "sudoedit", "doas"];

/// Every change of a file that the machine goes by; a name of this machine added to the list of hosts is only asked about.
fn vital_changed<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene
        .effects()
        .enumerate()
        .find(|(index, (effect, _))| {
            CHANGES.contains(&effect.kind) && scene.may_be_at(*index) && scene.is_at(*index, effect, VITAL)
        })
        .map(|(_, (effect, _))| &effect.target);
    let Some(target) = found else { return Found::No };
    let local = |text: &str| {
        text.lines().all(|line| {
            let line = line.trim();
            line.is_empty() || ["127.", "::1", "#"].iter().any(|start| line.starts_with(start))
        })
    };
    let appends = scene.invocations().iter().any(|inv| {
        inv.program == "tee" && has_flag(inv, "-a")
            || inv.writes.iter().any(|(to, append)| *append && to == target)
    });
    let prints = scene.invocations().iter().filter(|inv| runs(inv, &["echo", "printf"]));
    let mut said = prints.flat_map(|inv| inv.operands.iter().map(Arg::text)).peekable();
    if target.text() == "/etc/hosts" && appends && said.peek().is_some() && said.all(|text| local(&text)) {
        return Found::No;
    }
    let named =
        scene.invocations().iter().find(|inv| inv.text.contains("etc") || inv.text.contains("certificates"));
    Found::yes(named.map_or(target.text(), |inv| inv.text.as_str()))
}

/// Code of the call that opens such a file, or one of the accounts, for writing.
fn code_writes_vital<'a>(scene: &Scene<'a>) -> Found<'a> {
    /// Lines of code that is written into a command.
    const SHORT: usize = 5;
    const FILES: &[&str] = &[
        "/etc/hosts",
        "/etc/passwd",
        "/etc/shadow",
        "/etc/group",
        "/etc/resolv.conf",
        "/etc/fstab",
        "/etc/sudoers",
        "/etc/crontab",
        "/etc/cron.",
        "/etc/profile",
        "/etc/ld.so",
        "/etc/ssh/",
        "/etc/pam.d",
        "/etc/environment",
        "/etc/hostname",
        "/etc/systemd",
        "/boot/",
        "/usr/bin/",
        "/usr/sbin/",
    ];
    const OPENS: &[&str] = &[
        ",'w",
        ",\"w",
        ",'a'",
        ",\"a\"",
        "write_text",
        "writefile",
        "appendfile",
        "file.write",
        "file_put_contents",
        "unlink(",
        "remove(",
        ".rename(",
    ];
    let changes = |text: &str| {
        if !FILES.iter().any(|file| text.contains(file)) {
            return false;
        }
        let bare: String =
            text.chars().filter(|c| !c.is_whitespace()).collect::<String>().to_ascii_lowercase();
        // Perl's and awk's way: the sign in front of the name.
        let signed = FILES.iter().any(|file| {
            ["\">", "'>", "\">>", "'>>", ">\"", ">'", ">>\"", "|\"tee"]
                .iter()
                .any(|sign| bare.contains(&format!("{sign}{file}")))
        });
        let replaced = ["copy", "move", "rename", "symlink"].iter().any(|word| bare.contains(word))
            && [",'/usr/bin/", ",\"/usr/bin/", ",'/usr/sbin/", ",\"/usr/sbin/"]
                .iter()
                .any(|to| bare.contains(to));
        // A copy of such a file is made as a matter of course.
        let onto = bare.split("copyfile").skip(1).any(|rest| {
            let from = rest.trim_start_matches("sync").trim_start_matches(['(', '\'', '"']);
            !FILES.iter().any(|file| from.starts_with(file)) || rest.matches("/etc/").count() > 1
        });
        signed || replaced || onto || OPENS.iter().any(|word| bare.contains(word))
    };
    // A whole program reads one file and writes another: there, name and deed must stand in one line.
    scene.code_where(|codes, inv| {
        let whole = |text: &str| text.lines().count() <= SHORT;
        codes.iter().take(4).any(|text| {
            let changed = if whole(text) { changes(text) } else { text.lines().any(changes) };
            changed && !named::only_as_text(&inv.program, text, FILES)
        })
    })
}

fn connection_names<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(&["nmcli"], |inv| {
        inv.args.iter().any(|arg| {
            let text = arg.text();
            ["ipv4.dns", "ipv6.dns", "+ipv4.dns", "ipv4.gateway", "proxy."]
                .iter()
                .any(|key| text.starts_with(key))
        })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

fn mounted_over<'a>(scene: &Scene<'a>) -> Found<'a> {
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
    let found = scene.first(MOUNTS, |inv| {
        let last = inv.operands.last().map(Arg::text).unwrap_or_default();
        if inv.program == "umount" {
            return ["-a", "--all", "-R"].iter().any(|flag| has_flag(inv, flag))
                || of_system(last.trim_end_matches('/'))
                || last == "/";
        }
        let remounts = flag_value(inv, &["-o", "--options"])
            .is_some_and(|arg| arg.text().contains("remount"))
            || inv.args.iter().any(|arg| arg.text().starts_with("remount"));
        let onto = inv.operands.len() > 1 || remounts;
        onto && of_system(&last)
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// A file with the name of a command where commands are looked for first, or in a temporary directory.
fn shadowed<'a>(scene: &Scene<'a>) -> Found<'a> {
    let home = scene.view.facts.places.home.as_deref();
    let found = scene.effects().find(|(effect, _)| {
        let Target::Path { path, .. } = &effect.target else { return false };
        let Some((dir, name)) = path.rsplit_once('/') else { return false };
        let first = matches!(effect.kind, EffectKind::FileCreation | EffectKind::FileModification)
            && COMMANDS.contains(&name);
        let planted = matches!(name, "sudo" | "su" | "ssh" | "passwd" | "doas");
        let temporary = matches!(dir, "/tmp" | "/var/tmp" | "/dev/shm");
        first && (at(&effect.target, FIRST, home) || planted && temporary)
    });
    let line = scene.command_line();
    let shown = |target: &'a str| if line.is_empty() { target } else { line };
    Found::from(found.map(|(effect, _)| shown(effect.target.text())))
}

const ALTERNATIVES: &[&str] = &["update-alternatives", "alternatives"];

/// A command of everybody's that from now on is a program out of a directory which anybody fills.
fn alternative_planted<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(ALTERNATIVES, |inv| {
        let changes = inv.args.iter().any(|arg| matches!(arg.known(), Some("--set" | "--install")));
        let planted = |arg: &Arg| {
            let text = arg.text();
            ["/tmp/", "/var/tmp/", "/dev/shm/", "/home/", "/Users/", "./", "~/"]
                .iter()
                .any(|dir| text.starts_with(dir))
        };
        changes && inv.args.iter().any(planted)
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// An alias or a function in the place of a command that asks for a password.
fn shadowed_in_shell<'a>(scene: &Scene<'a>) -> Found<'a> {
    const ASKING: &[&str] = &["sudo", "su", "doas", "ssh", "passwd", "gpg"];
    // What stands behind the name may add an option, and still is the command.
    let replaces = |text: &str| {
        text.split_once('=').is_some_and(|(name, value)| {
            ASKING.contains(&name) && !value.split_whitespace().any(|word| word == name)
        })
    };
    let alias = scene.first(&["alias"], |inv| inv.args.iter().any(|arg| replaces(&arg.text())));
    if let Some(inv) = alias {
        return Found::yes(&inv.text);
    }
    if scene.nested || !scene.command_line().contains("()") && !scene.command_line().contains("function ") {
        return Found::No;
    }
    let defined = super::texts::holding(scene, "su")
        .any(|script| script.functions.iter().any(|name| matches!(name.as_str(), "sudo" | "su")));
    if defined && !matches!(scene.view.call.action, Action::Spawn { .. }) {
        Found::yes(scene.command_line())
    } else {
        Found::No
    }
}

fn disk_read<'a>(scene: &Scene<'a>) -> Found<'a> {
    const DISKS: &[&str] = &[
        "/dev/sd",
        "/dev/nvme",
        "/dev/vd",
        "/dev/hd",
        "/dev/xvd",
        "/dev/mmcblk",
        "/dev/rdisk",
        "/dev/dm-",
        "/dev/md",
    ];
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

/// A program with all rights that is told to run another, or that a person would go on talking to.
fn offered<'a>(scene: &Scene<'a>) -> Found<'a> {
    const TALKS: &[&str] = &[
        "ed", "ex", "vi", "vim", "python", "python3", "irb", "lua", "node", "perl", "gdb", "ftp", "bc",
        "psql", "sqlite3", "mysql", "php", "ruby", "rlwrap",
    ];
    let line = scene.command_line();
    let words: Vec<&str> = line
        .split_whitespace()
        .map(|word| word.trim_matches(['"', '\'', '\\', '(', '`', '{']))
        .filter(|word| !word.is_empty())
        .collect();
    let injected = ["sudo", "doas"].iter().any(|sudo| {
        words.iter().enumerate().filter(|(_, word)| word.ends_with(sudo)).any(|(at, _)| {
            let rest = words.iter().skip(at + 1);
            { rest }.take_while(|word| word.contains('=') || word.starts_with('-')).any(|word| {
                [
                    "LD_PRELOAD=",
                    "LD_LIBRARY_PATH=",
                    "LD_AUDIT=",
                    "PYTHONPATH=",
                    "PERL5LIB=",
                    "PERL5OPT=",
                    "BASH_ENV=",
                ]
                .iter()
                .any(|name| word.starts_with(name))
            })
        })
    });
    let found = scene.invocations().iter().find(|inv| {
        if inv.program == "sudoedit" {
            return true;
        }
        if !inv.privileged || inv.contained {
            return false;
        }
        let words = || inv.args.iter().map(Arg::text);
        match inv.program.as_str() {
            "apt" | "apt-get" | "aptitude" => {
                words().any(|word| word.contains("Invoke::") || word.contains("-Invoke="))
            }
            "tcpdump" => has_flag(inv, "-z"),
            "nmap" => words().any(|word| word == "--interactive" || word.starts_with("--script=/tmp")),
            "script" => !has_flag(inv, "-c") && !has_flag(inv, "--command"),
            "git" => words().next().is_some_and(|word| word == "-p") && words().any(|word| word == "help"),
            "zip" => {
                has_flag(inv, "-T")
                    && words().any(|word| word.starts_with("-TT") || word == "--unzip-command")
            }
            "crash" | "dmsetup" => false,
            program => {
                TALKS.contains(&program)
                    && inv.args.is_empty()
                    && inv.reads.is_empty()
                    && matches!(inv.stdin, crate::rules::Stdin::Inherited)
            }
        }
    });
    match found {
        Some(inv) => Found::yes(&inv.text),
        None if injected && scene.invocations().iter().any(|inv| inv.privileged) => Found::yes(line),
        None => Found::No,
    }
}
