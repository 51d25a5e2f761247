//! Rights: becoming another user, giving rights away, stepping out of a container.

use super::{flagged, lists, predicate, run, sub};
use crate::domain::{EffectKind, Severity, Verdict};
use crate::rules::Invocation;
use crate::rules::matcher::{
    At, Class, Command, EFFECT, Found, Instead, OnEffect, Operand, RULE, Rule, Scene, Trigger, When,
    classify, flag_value, has_flag, is_shell, runs, target_of,
};
use crate::shell::Arg;

const CHANGES: &[EffectKind] =
    &[EffectKind::FileCreation, EffectKind::FileModification, EffectKind::FileDeletion];
const CONTAINERS: &[&str] = &["docker", "podman", "nerdctl"];

const MODE_SETTERS: &[&str] = &["chmod", "install", "mkdir"];

const SUDO: &[&str] = &["sudo", "doas", "su"];

const PASSWORD_TAKERS: &[&str] = &["sshpass", "sudo"];

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "privilege.root-shell",
        severity: Severity::Critical,
        reason: "opens a shell with all rights, in which nothing is checked any more",
        instead: Some(Instead::Command("sudo -l")),
        when: &[predicate("shell_with_other_rights", Trigger::SHELL.or(Trigger::programs(SUDO)), root_shell)],
        fires: &["sudo su", "sudo -i", "sudo bash", "sudo -s", "su -", "sudo su - root", "doas sh"],
        silent: &[
            "sudo -l",
            "sudo apt-get update",
            "sudo bash -c 'ls /root'",
            "bash",
            "whoami",
            "echo sudo su",
        ],
        ..RULE
    },
    Rule {
        id: "privilege.sudoers",
        severity: Severity::Critical,
        reason: "changes who may act with all rights",
        instead: Some(Instead::Command("sudo -l")),
        when: &[
            When::Command(Command { without: &["-c", "--check"], ..run(&["visudo"]) }),
            When::Effect(OnEffect {
                kinds: CHANGES,
                at: &[
                    At::Abs("/etc/sudoers"),
                    At::Abs("/etc/sudoers.d"),
                    At::Abs("/etc/doas.conf"),
                    At::Abs("/etc/polkit-1"),
                ],
                ..EFFECT
            }),
        ],
        fires: &[
            "echo 'u ALL=(ALL) NOPASSWD:ALL' | sudo tee /etc/sudoers.d/u",
            "sudo visudo",
            "Write /etc/sudoers x",
            "sudo sed -i s/a/b/ /etc/sudoers",
        ],
        silent: &["sudo -l", "visudo -c", "grep -n sudoers README.md", "ls /etc/sudoers.d"],
        ..RULE
    },
    Rule {
        id: "privilege.accounts",
        reason: "adds, removes or changes users, groups or passwords",
        instead: Some(Instead::Command("id")),
        when: &[
            When::Command(run(&[
                "useradd", "adduser", "usermod", "userdel", "deluser", "groupadd", "addgroup", "groupmod",
                "groupdel", "delgroup", "chpasswd", "gpasswd", "vipw", "vigr", "newusers", "chsh", "chfn",
                "chage",
            ])),
            When::Command(Command { without: &["-S", "--status"], ..run(&["passwd"]) }),
            When::Command(Command {
                operand: Operand::Is(&["-create", "-append", "-delete", "-passwd"]),
                ..run(&["dscl"])
            }),
            When::Command(sub(&["net"], &["user", "localgroup"])),
        ],
        fires: &[
            "sudo useradd -m x",
            "sudo usermod -aG sudo u",
            "echo u:x | sudo chpasswd",
            "passwd root",
            "sudo userdel u",
        ],
        silent: &["id", "passwd -S u", "getent passwd u", "groups", "cat /etc/passwd"],
        ..RULE
    },
    Rule {
        id: "privilege.setuid",
        severity: Severity::Critical,
        reason: "lets everybody run the file with its owner's rights",
        instead: Some(Instead::Command("chmod 755 script.sh")),
        when: &[predicate("set_user_id_mode", Trigger::programs(MODE_SETTERS), setuid)],
        fires: &[
            "chmod u+s /bin/bash",
            "chmod 4755 x",
            "sudo chmod +s ./x",
            "chmod ug+s x",
            "install -m 4755 x /usr/local/bin/x",
            "chmod 6755 x",
        ],
        silent: &[
            "chmod 755 x",
            "chmod 0755 x",
            "chmod u+x x",
            "chmod 1777 /tmp/x",
            "chmod u-s x",
            "install -m 755 x bin/x",
        ],
        ..RULE
    },
    Rule {
        id: "privilege.world-writable",
        verdict: Verdict::Warn,
        severity: Severity::Medium,
        reason: "lets every user of the machine change the file",
        instead: Some(Instead::Command("chmod u+w notes.txt")),
        when: &[predicate("world_writable_mode", Trigger::programs(MODE_SETTERS), world_writable)],
        fires: &[
            "chmod 777 x",
            "chmod -R 0777 dist",
            "chmod o+w x",
            "chmod a+rwx x",
            "chmod 666 x",
            "mkdir -m 777 x",
        ],
        silent: &["chmod 755 x", "chmod u+w x", "chmod 1777 /tmp/x", "chmod 664 x", "chmod a+x x"],
        ..RULE
    },
    Rule {
        id: "privilege.pkexec",
        verdict: Verdict::Modify,
        reason: "asks for another user's rights past sudo and its log",
        instead: Some(Instead::Command("sudo -l")),
        when: &[
            When::Command(run(&["pkexec", "run0", "gksudo", "kdesudo", "gosu", "su-exec"])),
            When::Command(sub(&["machinectl"], &["shell", "login"])),
            When::Command(flagged(&["systemd-run"], &[&["--pty", "-t", "--shell", "-S"]])),
            predicate("unfolded_from_pkexec", Trigger::WRAPPED, from_pkexec),
        ],
        fires: &["pkexec bash", "pkexec cat /etc/hosts", "run0 ls", "machinectl shell"],
        silent: &["sudo -l", "which pkexec", "machinectl list"],
        ..RULE
    },
    Rule {
        id: "privilege.capabilities",
        severity: Severity::Critical,
        reason: "gives a program rights of the kernel",
        instead: Some(Instead::Command("getcap -r .")),
        when: &[When::Command(Command { without: &["-v", "-n"], ..run(&["setcap", "capsh"]) })],
        fires: &[
            "sudo setcap cap_net_raw+ep ./x",
            "setcap cap_setuid+ep /usr/bin/python3",
            "capsh --keep=1 --user=x",
        ],
        silent: &["getcap -r .", "setcap -v cap_net_raw+ep ./x", "grep setcap Makefile"],
        ..RULE
    },
    Rule {
        id: "privilege.container-host",
        severity: Severity::Critical,
        reason: "starts a container that has the whole machine in its hands",
        instead: Some(Instead::Command("docker run --rm -v ./src:/src alpine ls /src")),
        when: &[
            When::Command(Command {
                flags: &[&["--privileged"]],
                ..sub(CONTAINERS, &["run", "exec", "create", "container run", "container create"])
            }),
            predicate("container_with_the_host_in_it", Trigger::programs(CONTAINERS), container_host),
        ],
        fires: &[
            "docker run --privileged alpine",
            "docker run -v /:/host alpine chroot /host",
            "podman run --pid=host alpine",
            "docker run -v /var/run/docker.sock:/var/run/docker.sock x",
            "docker run --mount type=bind,source=/,target=/h x",
            "docker run --cap-add=ALL x",
            "docker run -v ~/.ssh:/k x",
        ],
        silent: &[
            "docker run --rm -v ./src:/src alpine ls /src",
            "docker build .",
            "docker ps",
            "docker run --cap-add=NET_ADMIN x",
            "docker run -v /tmp/x:/x alpine",
        ],
        ..RULE
    },
    Rule {
        id: "privilege.docker-socket",
        severity: Severity::Critical,
        reason: "talks to the container service directly, which acts with all rights",
        instead: Some(Instead::Command("docker ps")),
        when: &[predicate("docker_socket", Trigger::ALWAYS, docker_socket)],
        fires: &[
            "curl --unix-socket /var/run/docker.sock http://localhost/containers/json",
            "chmod 666 /var/run/docker.sock",
            "nc -U /run/docker.sock",
        ],
        silent: &[
            "docker ps",
            "ls -l /var/run/docker.sock",
            "grep docker.sock compose.yml",
            "echo /var/run/docker.sock",
        ],
        ..RULE
    },
    Rule {
        id: "privilege.namespaces",
        reason: "enters the namespaces of another process, out of whatever holds this one",
        instead: Some(Instead::Command("ps aux")),
        when: &[
            When::Command(run(&["nsenter"])),
            When::Command(Command { privileged: true, ..run(&["chroot", "unshare", "pivot_root"]) }),
            predicate("unfolded_from_nsenter", Trigger::WRAPPED, from_nsenter),
        ],
        fires: &["nsenter -t 1 -m -u -i -n bash", "sudo nsenter --target 1 ls", "sudo chroot /mnt bash"],
        silent: &["ps aux", "unshare -r true", "lsns"],
        ..RULE
    },
    Rule {
        id: "privilege.password-typed",
        reason: "types a password for the person",
        instead: Some(Instead::Command("sudo -n -l")),
        when: &[predicate(
            "password_piped_to_sudo",
            Trigger::WRAPPED.or(Trigger::programs(PASSWORD_TAKERS)),
            password_piped,
        )],
        fires: &[
            "echo hunter2 | sudo -S apt-get install x",
            "sudo -S ls <<< pw",
            "sshpass -p x ssh host.example",
        ],
        silent: &["sudo -n ls", "echo x | sudo tee /tmp/x", "git commit -m 'sudo -S'", "ssh host.example ls"],
        ..RULE
    },
    Rule {
        id: "privilege.debugger",
        reason: "attaches to a running process and can change what it does",
        instead: Some(Instead::Command("strace -f ls")),
        when: &[When::Command(flagged(
            &["gdb", "lldb", "strace", "ltrace", "rr", "frida", "reptyr"],
            &[&["-p", "--pid", "--attach", "--attach-pid"]],
        ))],
        fires: &[
            "gdb -p 1234",
            "sudo strace -p 1",
            "lldb --attach-pid 1",
            "gdb --pid=1234 -ex 'call exit(0)'",
        ],
        silent: &["strace -f ls", "gdb ./a.out", "ps -p 1234"],
        ..RULE
    },
];

fn root_shell<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.invocations().iter().find(|inv| match inv.program.as_str() {
        "su" => true,
        "sudo" | "doas" => ["-i", "-s", "--login", "--shell"].iter().any(|flag| has_flag(inv, flag)),
        _ => {
            inv.privileged
                && is_shell(&inv.program)
                && inv.operands.is_empty()
                && !has_flag(inv, "-c")
                && !has_flag(inv, "--version")
        }
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

fn from(scene: &Scene<'_>, wrapper: &str) -> Option<usize> {
    scene.invocations().iter().position(|inv| inv.wrappers.iter().any(|name| name == wrapper))
}

fn from_pkexec<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found =
        from(scene, "pkexec").or_else(|| from(scene, "run0")).and_then(|at| scene.invocations().get(at));
    Found::from(found.map(|inv| inv.text.as_str()))
}

fn from_nsenter<'a>(scene: &Scene<'a>) -> Found<'a> {
    let privileged_chroot = |inv: &&Invocation| {
        inv.wrappers.iter().any(|name| name == "nsenter")
            || (inv.privileged && inv.wrappers.iter().any(|name| name == "chroot"))
    };
    Found::from(scene.invocations().iter().find(privileged_chroot).map(|inv| inv.text.as_str()))
}

/// The modes among the arguments: octal digits or symbolic.
fn modes(inv: &Invocation) -> impl Iterator<Item = &str> {
    let by_flag = flag_value(inv, &["-m", "--mode"]).and_then(Arg::known);
    let given = if inv.program == "chmod" {
        inv.args.iter().filter_map(Arg::known)
    } else {
        [].iter().filter_map(Arg::known)
    };
    given.chain(by_flag)
}

fn octal(mode: &str) -> Option<u32> {
    let digits = mode.strip_prefix(['=', '+']).unwrap_or(mode);
    (digits.len() >= 3).then(|| u32::from_str_radix(digits, 8).ok()).flatten()
}

fn setuid<'a>(scene: &Scene<'a>) -> Found<'a> {
    let sets = |mode: &str| match octal(mode) {
        Some(bits) => bits & 0o4000 != 0 || (bits & 0o2000 != 0 && bits & 0o111 != 0),
        None => mode.split(',').any(|clause| {
            clause.split_once(['+', '=']).is_some_and(|(who, what)| {
                !who.contains('o')
                    && who.chars().all(|c| "ugoa".contains(c))
                    && what.contains('s')
                    && what.chars().all(|c| "rwxXst".contains(c))
            })
        }),
    };
    let found = scene.first(MODE_SETTERS, |inv| modes(inv).any(sets) && inv.program != "mkdir");
    Found::from(found.map(|inv| inv.text.as_str()))
}

fn world_writable<'a>(scene: &Scene<'a>) -> Found<'a> {
    let opens = |mode: &str| match octal(mode) {
        // With the sticky bit only the owner of a file may delete it: /tmp.
        Some(bits) => bits & 0o002 != 0 && bits & 0o1000 == 0,
        None => mode.split(',').any(|clause| {
            clause.split_once(['+', '=']).is_some_and(|(who, what)| {
                who.contains(['o', 'a'])
                    && who.chars().all(|c| "ugoa".contains(c))
                    && what.contains('w')
                    && what.chars().all(|c| "rwxXst".contains(c))
            })
        }),
    };
    let found = scene.first(MODE_SETTERS, |inv| modes(inv).any(opens));
    Found::from(found.map(|inv| inv.text.as_str()))
}

fn container_host<'a>(scene: &Scene<'a>) -> Found<'a> {
    const SHARED: &[&str] = &["--pid", "--ipc", "--userns", "--uts", "--cgroupns"];
    let found = scene.first(CONTAINERS, |inv| {
        inv.flags.iter().any(|flag| {
            let Some(value) = &flag.value else { return false };
            let text = value.text();
            match flag.name.as_str() {
                "-v" | "--volume" => mounts_host(text.split(':').next().unwrap_or_default(), inv, scene),
                "--mount" => text
                    .split(',')
                    .filter_map(|part| part.split_once('='))
                    .any(|(key, source)| matches!(key, "source" | "src") && mounts_host(source, inv, scene)),
                "--cap-add" => matches!(
                    text.to_ascii_uppercase().as_str(),
                    "ALL" | "SYS_ADMIN" | "CAP_SYS_ADMIN" | "SYS_PTRACE" | "SYS_MODULE"
                ),
                "--device" => {
                    text.starts_with("/dev/sd")
                        || text.starts_with("/dev/nvme")
                        || text.starts_with("/dev/mem")
                }
                "--security-opt" => text.contains("unconfined"),
                name => SHARED.contains(&name) && text == "host",
            }
        })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// A directory of the host that holds the machine's or the person's secrets or runs it.
fn mounts_host(source: &str, inv: &Invocation, scene: &Scene<'_>) -> bool {
    if !source.starts_with(['/', '.', '~']) {
        return false;
    }
    let target = target_of(&Arg::literal(source), inv.cwd.as_deref());
    let place = classify(&target, EffectKind::FileDeletion, &scene.view);
    let secret_dir = lists::SECRET_DIRS.iter().any(|dir| target.text().ends_with(dir));
    secret_dir
        || source.ends_with("docker.sock")
        || place.any(&[Class::Root, Class::Home, Class::Users])
        || matches!(
            target.text(),
            "/etc" | "/root" | "/var" | "/usr" | "/boot" | "/proc" | "/sys" | "/dev" | "/var/run" | "/run"
        )
}

fn docker_socket<'a>(scene: &Scene<'a>) -> Found<'a> {
    let harmless = [
        "ls", "stat", "test", "[", "echo", "printf", "grep", "rg", "git", "docker", "podman", "cat", "find",
        "export",
    ];
    let found = scene.invocations().iter().find(|inv| {
        !runs(inv, &harmless)
            && inv.args.iter().any(|arg| {
                let text = arg.text();
                text.ends_with("/docker.sock")
                    || text.ends_with("/containerd.sock")
                    || text.ends_with("/podman.sock")
            })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

fn password_piped<'a>(scene: &Scene<'a>) -> Found<'a> {
    if let Some(inv) = scene
        .invocations()
        .iter()
        .find(|inv| inv.program == "sshpass" || inv.wrappers.iter().any(|w| w == "sshpass"))
    {
        return Found::yes(&inv.text);
    }
    let line = scene.command_line();
    // The option is gone once sudo is unfolded; the text still has it.
    let asked = line.contains("sudo -S") || line.contains("sudo --stdin");
    let found = scene.invocations().iter().find(|inv| asked && (inv.privileged || inv.program == "sudo"));
    Found::from(found.map(|inv| inv.text.as_str()))
}
