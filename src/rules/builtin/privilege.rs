//! Rights: becoming another user, giving rights away, stepping out of a container.

use std::cell::LazyCell;

use super::{everyday, flagged, libraries, lists, predicate, run, sub, texts};
use crate::domain::{EffectKind, Severity, Target, Verdict};
use crate::rules::Invocation;
use crate::rules::matcher::{
    At, Class, Code, Command, EFFECT, Found, Instead, OnEffect, Operand, RULE, Rule, Scene, Trigger, When,
    asks_for_help, classify, flag_value, has_flag, input_of, is_shell, runs, runs_code, runs_shell,
    target_of,
};
use crate::shell::{Arg, Word};

const CHANGES: &[EffectKind] =
    &[EffectKind::FileCreation, EffectKind::FileModification, EffectKind::FileDeletion];
const CONTAINERS: &[&str] = &["docker", "podman", "nerdctl"];

const MODE_SETTERS: &[&str] = &["chmod", "install", "mkdir"];

const SUDO: &[&str] = &["sudo", "doas", "su"];

const PASSWORD_TAKERS: &[&str] = &["sshpass", "sudo"];

/// Groups that may use a port or a device of their own kind, and nothing else.
const PORTS: &[&str] =
    &["dialout", "plugdev", "uucp", "video", "audio", "render", "kvm", "input", "gpio", "i2c", "spi"];

/// `usermod -aG dialout NAME`, as the manuals of boards say.
fn joins_a_port(inv: &Invocation) -> bool {
    let known: Vec<&str> = inv.args.iter().filter_map(Arg::known).collect();
    match known.as_slice() {
        ["-aG", group] | ["-aG", group, _] | ["-a", "-G", group] | ["-a", "-G", group, _] => {
            PORTS.contains(group) && inv.args.len() <= known.len() + 1
        }
        _ => false,
    }
}

/// Programs that look into a running process.
const TRACERS: &[&str] = &["gdb", "lldb", "strace", "ltrace", "rr", "frida", "reptyr"];

fn attaches<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(TRACERS, |inv| {
        ["-p", "--pid", "--attach", "--attach-pid"].iter().any(|flag| has_flag(inv, flag))
            && !shows_stack(inv)
            && !everyday::only_counts(inv)
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// A debugger that prints where a process stands, and goes.
fn shows_stack(inv: &Invocation) -> bool {
    // Which process it is need not be known.
    let after_pid = |at: usize| {
        let before = at.checked_sub(1).and_then(|at| inv.args.get(at)).and_then(Arg::known);
        matches!(before, Some("-p" | "--pid" | "--attach-pid"))
    };
    let known = |(at, arg): (usize, &'_ Arg)| {
        arg.known().map(str::to_owned).or_else(|| after_pid(at).then(String::new))
    };
    let known: Option<Vec<String>> = inv.args.iter().enumerate().map(known).collect();
    let Some(words) = known else { return false };
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let has = |names: &[&str]| words.iter().any(|word| names.contains(word));
    let told = |names: &[&str]| -> Vec<&str> {
        let pairs = words.windows(2).filter(|pair| pair.first().is_some_and(|word| names.contains(word)));
        pairs.filter_map(|pair| pair.last().copied()).collect()
    };
    let (batch, told, others): (bool, Vec<&str>, &[&str]) = match inv.program.as_str() {
        "gdb" => (
            has(&["-batch", "--batch"]),
            told(&["-ex", "--ex"]),
            &["-x", "--command", "-iex", "-ix", "--eval-command"],
        ),
        "lldb" => (
            has(&["-b", "--batch"]),
            told(&["-o", "--one-line"]),
            &["-s", "--source", "-S", "-O", "-k", "-K", "--repl", "-r"],
        ),
        _ => return false,
    };
    !inv.privileged
        && batch
        && !told.is_empty()
        && told.into_iter().all(prints_stack)
        && !words.iter().any(|word| others.iter().any(|other| word.starts_with(other)))
}

/// A command of a debugger's that shows, where nothing in it can be an expression that is worked out.
fn prints_stack(command: &str) -> bool {
    const LOOKS: &[&str] = &[
        "where",
        "detach",
        "quit",
        "q",
        "process detach",
        "process status",
        "image list",
        "thread list",
        "py-bt",
    ];
    /// Behind these stand words and numbers.
    const BEFORE: &[&str] = &[
        "bt",
        "backtrace",
        "thread backtrace",
        "thread info",
        "frame info",
        "info",
        "set pagination",
        "set confirm",
        "set width",
        "set height",
    ];
    let plain =
        |text: &str| text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b' ' | b'-' | b'_'));
    // `thread apply all -q bt full 20`
    let each =
        command.strip_prefix("thread apply all ").map(|rest| rest.trim_start_matches(['-', 'q', 's', ' ']));
    let command = each.unwrap_or(command);
    plain(command)
        && (LOOKS.contains(&command)
            || BEFORE.iter().any(|front| {
                command.strip_prefix(front).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
                    && !command.starts_with("thread apply")
            }))
}

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "privilege.root-shell",
        severity: Severity::Critical,
        reason: "opens a shell with all rights, in which nothing is checked any more",
        instead: Some(Instead::Command("sudo -l")),
        when: &[
            predicate("shell_with_other_rights", Trigger::SHELL.or(Trigger::programs(SUDO)), root_shell),
            predicate("shell_out_of_a_program_with_other_rights", Trigger::WRAPPED, shell_out_of),
            predicate("shell_that_keeps_its_rights", Trigger::SHELL.or(Trigger::PLACED), keeps_rights),
            When::Code(Code {
                programs: &[],
                all: &[
                    &[
                        "setuid(0)",
                        "setgid(0)",
                        "setreuid(0",
                        "setresuid(0",
                        "$<=0",
                        "$>=0",
                        "seteuid(0)",
                        "Process::UID.change_privilege(0",
                    ],
                    &["system", "exec", "spawn", "popen", "/bin/sh", "/bin/bash"],
                ],
            }),
        ],
        fires: &[
            "sudo su",
            "sudo -i",
            "sudo bash",
            "sudo xargs -a /dev/null sh",
            "setpriv --reuid=0 --clear-groups bash",
            "sudo ip netns exec x /bin/sh",
            "sudo -s",
            "su -",
            "sudo su - root",
            "doas sh",
            "sudo python3 -c 'import pty; pty.spawn(\"/bin/bash\")'",
            "sudo perl -e 'exec \"/bin/sh\";'",
            "sudo vim -c ':!/bin/sh'",
            "sudo awk 'BEGIN {system(\"/bin/sh\")}'",
            "sudo gdb -nx -ex '!sh' -ex quit",
            "sudo mysql -e '\\! /bin/sh'",
            "sudo tmux",
            "bash -p",
            "sudo -u#-1 id",
            "su root -c id",
            "su deploy -c sh",
            "su deploy",
            "python3 -c 'import os; os.setuid(0); os.system(\"/bin/sh\")'",
            "sudo python3 - <<'E'\nimport pty\npty.spawn('/bin/bash')\nE",
        ],
        silent: &[
            "sudo python3 -c 'print(1)'",
            "sudo vim /tmp/x",
            "sudo npm run x",
            "mkdir -p x",
            "sudo mysql -e 'show databases'",
            "sudo -l",
            "sudo apt-get update",
            "sudo bash -c 'ls /root'",
            "setpriv --reuid=1000 bash",
            "sudo ip netns exec x ping -c1 10.0.0.1",
            "sudo xargs -a list.txt chmod 644",
            "su postgres -c 'createdb app_test'",
            "su - postgres -c 'psql -l'",
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
            When::Command(Command { without: &["-c", "--check", "-V"], ..run(&["visudo"]) }),
            predicate("sudoers_edited", Trigger::WRAPPED.or(Trigger::programs(&["sudoedit"])), |scene| {
                let found = scene.first(&["sudoedit"], |inv| inv.text.contains("/etc/sudoers"));
                if let Some(inv) = found {
                    return Found::yes(&inv.text);
                }
                if edits_sudoers(scene) { Found::yes(scene.command_line()) } else { Found::No }
            }),
            predicate("module_gives_rights", Trigger::programs(&["ansible"]), |scene| {
                const RIGHTS: &[&str] =
                    &["/etc/sudoers", "NOPASSWD", "uid=0 ", "/etc/doas.conf", "/etc/shadow"];
                let module = |inv: &Invocation| {
                    let told = inv.args.iter().map(Arg::text).map(|text| format!("{text} "));
                    { told }.any(|text| RIGHTS.iter().any(|right| text.contains(right)))
                        && !has_flag(inv, "--check")
                };
                Found::from(scene.first(&["ansible"], module).map(|inv| inv.text.as_str()))
            }),
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
            "sudo -e /etc/sudoers",
            "nice sudo  -u root '--edit' /etc/sudoers",
            "sudoedit /etc/sudoers.d/u",
            "Write /etc/sudoers x",
            "sudo sed -i s/a/b/ /etc/sudoers",
            "ansible all -b -m lineinfile -a \"path=/etc/sudoers line='u ALL=(ALL) NOPASSWD: ALL'\"",
            "ansible all -b -m user -a 'name=svc uid=0 non_unique=yes'",
        ],
        silent: &[
            "sudo -l",
            "visudo -c",
            "visudo -V",
            "ansible all -m ping",
            "ansible all -m user -a 'name=svc uid=1042'",
            "grep -n sudoers README.md",
            "ls /etc/sudoers.d",
        ],
        ..RULE
    },
    Rule {
        id: "privilege.accounts",
        reason: "adds, removes or changes users, groups or passwords",
        instead: Some(Instead::Command("id")),
        when: &[
            When::Command(run(&[
                "adduser", "userdel", "deluser", "groupadd", "addgroup", "groupmod", "groupdel", "delgroup",
                "chpasswd", "gpasswd", "vipw", "vigr", "newusers", "chsh", "chfn", "chage",
            ])),
            predicate("account_changed", Trigger::programs(&["usermod", "useradd"]), |scene| {
                // `useradd -D` alone shows what new users would get.
                let shows =
                    |inv: &Invocation| matches!(inv.args.as_slice(), [one] if one.known() == Some("-D"));
                let found = scene.first(&["usermod", "useradd"], |inv| {
                    !(asks_for_help(inv) || joins_a_port(inv) || inv.program == "useradd" && shows(inv))
                });
                Found::from(found.map(|inv| inv.text.as_str()))
            }),
            When::Command(Command { without: &["-S", "--status"], ..run(&["passwd"]) }),
            When::Command(Command {
                operand: Operand::Is(&["-create", "-append", "-delete", "-passwd"]),
                ..run(&["dscl"])
            }),
            When::Command(flagged(
                &["dscl"],
                &[&["-create", "-append", "-delete", "-passwd", "-merge", "-change"]],
            )),
            When::Command(run(&["dseditgroup", "pwpolicy", "newuidmap", "newgidmap"])),
            When::Command(flagged(
                &["sysadminctl"],
                &[&["-addUser", "-deleteUser", "-resetPasswordFor", "-secureTokenOn", "-newPassword"]],
            )),
            When::Command(Command {
                operand: Operand::Contains(&[
                    "accounts.createuser",
                    "accounts.deleteuser",
                    "user.setpassword",
                    "setaccounttype",
                ]),
                ..run(&["dbus-send", "gdbus"])
            }),
            When::Command(Command {
                operand: Operand::Is(&["CreateUser", "DeleteUser", "SetPassword", "SetAccountType"]),
                ..run(&["busctl"])
            }),
            When::Command(Command {
                operand: Operand::Is(&["docker", "root", "sudo", "wheel", "disk", "lxd", "shadow", "adm"]),
                ..run(&["newgrp", "sg"])
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
        when: &[
            predicate("set_user_id_mode", Trigger::programs(MODE_SETTERS), setuid),
            predicate("mode_of_a_set_user_id_program_copied", Trigger::programs(MODE_COPIERS), setuid_copied),
            When::Code(Code {
                programs: &[],
                all: &[
                    &["chmod"],
                    &["04755", "0o4755", "04777", "0o4777", "06755", "0o6755", "u+s", "S_ISUID"],
                ],
            }),
            When::Command(Command {
                operand: Operand::Any,
                ..flagged(&["setfattr"], &[&["-n", "--name", "-x"]])
            }),
        ],
        fires: &[
            "chmod u+s /bin/bash",
            "chmod 4755 x",
            "sudo chmod +s ./x",
            "chmod ug+s x",
            "install -m 4755 x /usr/local/bin/x",
            "chmod 6755 x",
            "chmod --reference=/bin/su /tmp/x",
            "cp -p /usr/bin/sudo /tmp",
            "perl -e 'chmod 04755, \"/bin/bash\"'",
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
        id: "privilege.opened-to-all",
        reason: "lets every user of the machine change a directory that must be somebody's own",
        instead: Some(Instead::Command("chmod 700 private")),
        when: &[
            predicate("world_writable_where_it_must_not_be", Trigger::programs(MODE_SETTERS), opened_to_all),
            predicate("mask_without_a_bit", Trigger::programs(&["umask"]), mask_opened),
            When::Code(Code {
                programs: &[],
                all: &[
                    &["chmod"],
                    &["0777", "0o777", "0666", "0o666", "511"],
                    &["/etc/", "/usr", "\"/\"", "'/'", "/bin/", "/root", "/var", "/home"],
                ],
            }),
            When::Command(flagged(&["setfacl"], &[&["--restore"]])),
            When::Command(Command {
                operand: Operand::On(&[Class::Root, Class::System, Class::Home, Class::Users]),
                ..run(&["setfacl", "nfs4_setfacl", "chcon", "restorecon", "chflags"])
            }),
            When::Command(Command {
                operand: Operand::Starts(&["C:"]),
                ..run(&["icacls", "cacls", "takeown"])
            }),
        ],
        fires: &[
            "chmod 777 ~/.ssh",
            "chmod 666 ~/.ssh/id_rsa",
            "chmod 777 ~",
            "chmod 777 /",
            "umask 000",
            "chmod 644 ~/.ssh/id_rsa",
            "chmod -R 755 ~/.ssh",
            "ruby -e 'File.chmod(0777,\"/etc/passwd\")'",
            "setfacl -R -m u:x:rwx /",
        ],
        silent: &[
            "chmod 700 private",
            "chmod 600 ~/.ssh/id_rsa",
            "chmod 644 ~/.ssh/id_rsa.pub",
            "chmod 700 ~/.ssh",
            "umask 022",
            "umask",
            "umask 077",
            "chmod 777 x",
            "chmod 777 /tmp/x",
            "setfacl -m u:x:r a.txt",
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
        id: "privilege.project-opened",
        verdict: Verdict::Modify,
        severity: Severity::Medium,
        reason: "lets every user of the machine change the whole project",
        instead: Some(Instead::Command("chmod -R u+w src")),
        when: &[predicate("whole_project_world_writable", Trigger::programs(&["chmod"]), project_opened)],
        fires: &["chmod -R 777 .", "chmod -R a+rwx $PWD", "chmod -R 0777 /home/u/proj"],
        silent: &["chmod -R 777 storage", "chmod -R u+w .", "chmod 777 x", "chmod -R 755 ."],
        ..RULE
    },
    Rule {
        id: "privilege.pkexec",
        reason: "asks for another user's rights past sudo and its log",
        instead: Some(Instead::Command("sudo -l")),
        when: &[
            When::Command(run(&["pkexec", "run0", "gksudo", "kdesudo", "gosu", "su-exec", "runas"])),
            When::Command(sub(&["security"], &["authorize", "authorizationdb"])),
            When::Code(Code { programs: &["osascript"], all: &[&["with administrator privileges"]] }),
            When::Command(flagged(&["sudo"], &[&["-A", "--askpass"]])),
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
        when: &[predicate("capabilities_given", Trigger::programs(&["setcap", "capsh"]), |scene| {
            let found = scene.first(&["setcap", "capsh"], |inv| {
                // Who mounts behind it has looked for a way out.
                let only_prints = has_flag(inv, "--print") && scene.first(&["mount"], |_| true).is_none();
                !only_prints
                    && !["-v", "-n", "--decode"].iter().any(|flag| has_flag(inv, flag))
                    && !asks_for_help(inv)
                    && !everyday::binds_low_ports(inv)
            });
            Found::from(found.map(|inv| inv.text.as_str()))
        })],
        fires: &[
            "sudo setcap cap_net_raw+ep ./x",
            "setcap cap_setuid+ep /usr/bin/python3",
            "capsh --keep=1 --user=x",
        ],
        silent: &[
            "getcap -r .",
            "capsh --print",
            "setcap -v cap_net_raw+ep ./x",
            "grep setcap Makefile",
            "sudo setcap cap_net_bind_service=+ep ./bin/app",
        ],
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
                ..sub(
                    CONTAINERS,
                    &[
                        "run",
                        "exec",
                        "create",
                        "update",
                        "container run",
                        "container create",
                        "container exec",
                        "compose run",
                        "compose exec",
                    ],
                )
            }),
            When::Command(flagged(
                &["docker-compose", "podman-compose", "ctr", "runc", "crun"],
                &[&["--privileged"]],
            )),
            When::Command(flagged(&["docker"], &[&["--grant-all-permissions"]])),
            When::Command(flagged(
                &["docker", "podman", "buildah"],
                &[&["--allow=security.insecure", "--isolation=chroot"]],
            )),
            When::Command(Command { operand: Operand::Is(&["security.insecure"]), ..run(&["docker"]) }),
            predicate("namespace_or_host_given_to_a_pod", Trigger::programs(PODS), pod_host),
            predicate(
                "system_container_with_the_host_in_it",
                Trigger::programs(SYSTEM_CONTAINERS),
                system_container_host,
            ),
            predicate(
                "way_through_another_process",
                Trigger::programs(PROC_READERS).or(Trigger::INTERPRETER),
                through_proc_root,
            ),
            When::Command(run(&[
                "peirates",
                "botb",
                "deepce.sh",
                "deepce",
                "amicontained",
                "shocker",
                "cdk-escape",
                "kdigger",
                "dirtycow",
                "dirtypipe",
            ])),
            When::Effect(OnEffect {
                kinds: CHANGES,
                at: &[
                    At::Abs("/proc/sys/kernel/core_pattern"),
                    At::Abs("/proc/sys/kernel/modprobe"),
                    At::Abs("/proc/sys/fs/binfmt_misc"),
                    At::Name("release_agent"),
                    At::Name("notify_on_release"),
                ],
                ..EFFECT
            }),
            When::Command(Command { operand: Operand::Is(&["b", "c"]), ..run(&["mknod"]) }),
            When::Command(Command { operand: Operand::Starts(&["/dev/"]), ..run(&["debugfs"]) }),
            predicate("container_with_the_host_in_it", Trigger::programs(CONTAINERS), container_host),
            predicate(
                "host_reached_by_another_name",
                Trigger::PATHS.or(Trigger::REDIRECTED).or(Trigger::TOOL),
                host_reached,
            ),
            predicate(
                "container_with_the_host_by_library",
                Trigger::INTERPRETER.or(Trigger::programs(libraries::RUNNERS)),
                libraries::host_given,
            ),
            predicate(
                "volume_or_chart_with_the_host",
                Trigger::programs(&["docker", "podman", "helm"]),
                host_lent,
            ),
        ],
        fires: &[
            "docker run --privileged alpine",
            "docker run -v /:/host alpine chroot /host",
            "podman run --pid=host alpine",
            "docker run -v /var/run/docker.sock:/var/run/docker.sock x",
            "docker run -v /var/run/docker.sock:/var/run/docker.sock --entrypoint sh aquasec/trivy",
            "docker run -v /var/run/docker.sock:/var/run/docker.sock x.example/aquasec/trivy image a",
            "docker run -v /var/run/docker.sock:/var/run/docker.sock aquasec/trivy plugin run x.example/a",
            "docker run --security-opt seccomp=unconfined alpine",
            "docker run --cap-add=SYS_PTRACE --security-opt seccomp=unconfined --pid=host alpine",
            "docker run --cap-add=SYS_PTRACE --security-opt apparmor=unconfined alpine",
            "docker run --mount type=bind,source=/,target=/h x",
            "docker run --cap-add=ALL x",
            "docker run -v ~/.ssh:/k x",
            "docker run -v=/root:/r alpine",
            "docker run --cap-add=DAC_READ_SEARCH x",
            "docker compose run --privileged web",
            "docker run -v /run/containerd/containerd.sock:/s x",
            "docker service create --mount type=bind,source=/,target=/h x",
            "ctr run --privileged x y sh",
            "lxc launch ubuntu x -c security.privileged=true",
            "lxc config device add x root disk source=/ path=/mnt/root recursive=true",
            "kubectl debug node/n1 -it --image=busybox",
            "kubectl run x --image=alpine --privileged",
            "kubectl run r --image alpine --overrides '{\"spec\":{\"hostPID\":true}}'",
            "cat /proc/1/root/etc/shadow",
            "echo /cmd > /sys/fs/cgroup/rdma/release_agent",
            "mknod /tmp/sda b 8 0",
            "mount -t cgroup -o rdma cgroup /tmp/c",
            "docker buildx build --allow=security.insecure,network.host .",
            "python3 -c \"import docker; docker.from_env().containers.run('a',volumes={'/':{'bind':'/h'}})\"",
            "python3 -c \"import docker; docker.from_env().containers.run('a', privileged=True)\"",
            "node -e \"new (require('dockerode'))().createContainer({HostConfig:{Binds:['/:/h']}})\"",
            "docker volume create --opt type=none --opt o=bind --opt device=/ x",
            "echo '* * * * * root /tmp/x' > /host/etc/cron.d/a",
            "cat /rootfs/etc/shadow",
            "echo x | tee /hostfs/proc/sys/kernel/core_pattern",
            "echo x > /proc/1/root/etc/cron.d/x",
            "Read /proc/1/root/etc/shadow",
            "helm install x ./chart --set securityContext.privileged=true --set hostPID=true",
        ],
        silent: &[
            "docker run --rm -v ./src:/src alpine ls /src",
            "docker build .",
            "docker ps",
            "docker run --cap-add=NET_ADMIN x",
            "docker run --rm --cap-add SYS_PTRACE gcc:13 gdb -batch a.out",
            "docker run --rm --cap-add=SYS_PTRACE --security-opt seccomp=unconfined -v $PWD:/w gcc:13 gdb a.out",
            "docker run --rm -v /var/run/docker.sock:/var/run/docker.sock aquasec/trivy:0.50.1 image shop:dev",
            "docker run -v /tmp/x:/x alpine",
            "docker compose run --rm web npm test",
            "kubectl run x --image=alpine --rm -it -- sh",
            "kubectl debug pod/x -it --image=busybox",
            "lxc launch ubuntu x",
            "kubectl apply -f deploy.yaml",
            "mkfifo p",
            "ls /proc/1",
            "python3 -c \"import docker,os; docker.from_env().containers.run('a',volumes={os.getcwd():{'bind':'/w'}})\"",
            "docker volume create --opt type=none --opt o=bind --opt device=/srv/data x",
            "ls /host",
            "cat /host/etc/hostname",
            "cp build/sh ./rootfs/usr/bin/sh",
            "helm install x ./chart --set securityContext.privileged=false",
        ],
        ..RULE
    },
    Rule {
        id: "privilege.docker-socket",
        severity: Severity::Critical,
        reason: "talks to the container service directly, which acts with all rights",
        instead: Some(Instead::Command("docker ps")),
        when: &[predicate("docker_socket", Trigger::PATHS, docker_socket)],
        fires: &[
            "curl --unix-socket /var/run/docker.sock http://localhost/containers/json",
            "chmod 666 /var/run/docker.sock",
            "curl --unix-socket /var/run/docker.sock http://localhost/containers/version/json",
            "curl -X POST --unix-socket /var/run/docker.sock http://localhost/containers/create",
            "curl --unix-socket /var/run/docker.sock http://localhost/info http://localhost/images/json",
            "nc -U /run/docker.sock",
        ],
        silent: &[
            "docker ps",
            "curl -s --unix-socket /var/run/docker.sock http://localhost/v1.43/version",
            "curl --unix-socket /var/run/docker.sock http://localhost/_ping",
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
            When::Command(Command {
                operand: Operand::Is(&["bash", "sh", "/bin/bash", "/bin/sh"]),
                ..flagged(&["unshare"], &[&["-r", "-U", "--map-root-user", "--user", "-m", "--mount"]])
            }),
            predicate(
                "chroot_into_the_host",
                Trigger::WRAPPED.or(Trigger::programs(&["chroot"])),
                chroot_host,
            ),
            predicate("unfolded_from_nsenter", Trigger::WRAPPED, from_nsenter),
        ],
        fires: &["nsenter -t 1 -m -u -i -n bash", "sudo nsenter --target 1 ls", "sudo chroot /mnt bash"],
        silent: &[
            "ps aux",
            "unshare -r true",
            "lsns",
            "unshare -r make check",
            "nsenter --version; capsh --print",
            "sudo chroot --version",
        ],
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
        id: "privilege.hunt",
        reason: "looks for a way to rights that it does not have",
        instead: Some(Instead::Command("sudo -l")),
        when: &[
            predicate("set_user_id_programs_sought", Trigger::programs(&["find", "getcap"]), setuid_sought),
            When::Command(run(&[
                "linpeas.sh",
                "linpeas",
                "LinEnum.sh",
                "linenum.sh",
                "lse.sh",
                "les.sh",
                "linux-exploit-suggester.sh",
                "pspy64",
                "pspy32",
                "pspy",
                "unix-privesc-check",
                "linuxprivchecker.py",
                "winpeas.exe",
                "winPEAS.bat",
                "traitor",
                "BeRoot",
                "beroot.py",
                "SUDO_KILLER",
                "sudo_killer.sh",
                "GTFOBLookup",
                "suid3num.py",
            ])),
            predicate("exploit_run", Trigger::INTERPRETER.or(Trigger::PLACED), exploit_run),
        ],
        fires: &[
            "find / -perm -4000 -type f 2>/dev/null",
            "./linpeas.sh -a",
            "getcap -r / 2>/dev/null",
            "gcc pwnkit.c -o pwnkit && ./pwnkit",
            "python3 CVE-2021-4034.py",
            "gcc exploit.c -o exploit && ./exploit",
        ],
        silent: &[
            "gcc bench.c -o bench && ./bench",
            "python3 scripts/cve_report.py",
            "python3 tools/check_cve.py CVE-2021-4034",
            "getcap -r .",
            "getcap -r /usr/bin",
            "find . -perm -u+x",
            "find / -name libc.so.6",
            "find . -type f -perm 644",
        ],
        ..RULE
    },
    Rule {
        id: "privilege.debugger",
        reason: "attaches to a running process and can change what it does",
        instead: Some(Instead::Command("strace -f ls")),
        when: &[predicate("attached_to_a_process", Trigger::programs(TRACERS), attaches)],
        fires: &[
            "gdb -p 1234",
            "sudo strace -p 1",
            "lldb --attach-pid 1",
            "gdb --pid=1234 -ex 'call exit(0)'",
            "gdb -p 1234 -batch -ex bt -ex 'thread apply all call exit(0)'",
            "gdb -p 1234 -batch -ex 'info symbol system(\"id\")'",
            "lldb -p 1234 --batch -o 'expr (int)exit(0)'",
            "lldb -p 1234 --batch -o 'thread return'",
        ],
        silent: &[
            "strace -f ls",
            "gdb ./a.out",
            "ps -p 1234",
            "gdb -p 1234 -batch -ex 'thread apply all bt'",
            "gdb -p $(pgrep app) -batch -ex 'thread apply all bt'",
            "gdb -p 1234 -batch -ex 'info threads' -ex 'thread apply all bt 5'",
            "lldb -p 1234 --batch -o 'bt all' -o 'thread list'",
            "strace -c -p 1234",
        ],
        ..RULE
    },
];

/// `su postgres -c "createdb x"`: one command, which is judged itself, and not with root's rights.
/// `sudo -u root -e /etc/sudoers`: the option is gone once sudo is unfolded; the text still has it.
fn edits_sudoers(scene: &Scene<'_>) -> bool {
    let edits = |words: &[Word]| {
        let words: Vec<String> = words.iter().map(texts::front).collect();
        let mut starts =
            words.iter().enumerate().filter(|(_, word)| *word == "sudo" || word.ends_with("/sudo"));
        words.iter().any(|word| word.starts_with("/etc/sudoers"))
            && starts.any(|(at, _)| {
                let mut valued = false;
                let options = words.iter().skip(at + 1).take_while(|word| {
                    let one = valued || word.starts_with('-');
                    valued = matches!(word.as_str(), "-u" | "-g" | "-h" | "-p" | "-C" | "-r" | "-t" | "-T");
                    one
                });
                { options }.any(|word| word == "-e" || word == "--edit")
            })
    };
    texts::holding(scene, "sudo").any(|script| script.commands.iter().any(|simple| edits(&simple.words)))
}

fn runs_as_other(inv: &Invocation) -> bool {
    let user = inv.operands.iter().find(|arg| arg.known() != Some("-") && arg.known() != Some("-c"));
    has_flag(inv, "-c")
        && user
            .and_then(Arg::known)
            .is_some_and(|name| !name.is_empty() && name != "root" && !name.starts_with('-'))
}

fn root_shell<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.invocations().iter().find(|inv| match inv.program.as_str() {
        "su" => !has_flag(inv, "--help") && !has_flag(inv, "--version") && !runs_as_other(inv),
        "sudo" | "doas" => ["-i", "-s", "--login", "--shell"].iter().any(|flag| has_flag(inv, flag)),
        _ => {
            let becomes = || {
                inv.wrappers.iter().any(|name| name == "setpriv")
                    && ["--reuid=0", "--reuid 0", "--ruid=0", "--euid=0", "--reuid=root", "--reuid root"]
                        .iter()
                        .any(|flag| inv.text.contains(flag))
            };
            // What `xargs` adds is not known.
            let added = || {
                inv.wrappers.last().is_some_and(|name| name == "xargs")
                    && inv.operands.iter().all(Arg::has_unknown)
            };
            runs_shell(inv)
                && (inv.privileged || becomes())
                && (inv.operands.is_empty() || added())
                && !has_flag(inv, "-c")
                && !has_flag(inv, "--version")
        }
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// A shell is asked for inside a program that runs with other rights: in its code, its options, its commands.
fn shell_out_of<'a>(scene: &Scene<'a>) -> Found<'a> {
    const SHELLS: &[&str] = &["/bin/sh", "/bin/bash", "/bin/zsh", "/bin/dash", "pty.spawn"];
    const ESCAPES: &[&str] = &[
        ":!sh",
        ":!bash",
        ":!/bin/",
        ":shell",
        "set shell=",
        "!sh",
        "!bash",
        "!/bin/",
        "\\! sh",
        "\\! /bin/",
        "\\! bash",
        ".shell sh",
        ".shell /bin/",
        ".system sh",
        "shell sh",
        "shell /bin/",
        "spawn sh",
        "spawn /bin/",
        "spawn bash",
    ];
    // `-u#-1` was taken for root by some versions.
    let strange = |text: &str| text.contains("#-1") || text.contains("#4294967295");
    let strange_line = LazyCell::new(|| strange(scene.command_line()));
    let found = scene.invocations().iter().find(|inv| {
        let by_sudo = || inv.program == "sudo" || inv.wrappers.iter().any(|name| name == "sudo");
        if by_sudo() && (strange(&inv.text) || *strange_line) {
            return true;
        }
        if !inv.privileged {
            return false;
        }
        // `ip netns exec x /bin/sh`
        let behind = inv.args.iter().skip_while(|arg| arg.known() != Some("exec")).nth(2);
        let entered = inv.program == "ip"
            && inv.args.last().is_some_and(|last| {
                behind == Some(last)
                    && last.known().is_some_and(|word| is_shell(word.rsplit('/').next().unwrap_or_default()))
            });
        let bare = entered
            || inv.operands.is_empty()
                && runs(inv, &["screen", "tmux", "script", "expect", "byobu", "zellij"]);
        let names =
            |text: &str| SHELLS.iter().any(|shell| text.contains(shell)) && !text.starts_with("/bin/");
        let quoted = |text: &str| {
            let word = |shell: &&str| {
                ['"', '\''].iter().any(|quote| text.contains(&format!("{quote}{shell}{quote}")))
            };
            text.contains("pty.spawn") || SHELLS.iter().any(word)
        };
        let coded = runs_code(inv)
            && (inv.args.iter().any(|arg| names(&arg.text()))
                || libraries::scripts_of(inv, scene).iter().any(|script| quoted(script)));
        let escapes = || {
            inv.args.iter().any(|arg| {
                let text = arg.text();
                ESCAPES
                    .iter()
                    .any(|escape| text == *escape || text.starts_with(escape) && !escape.ends_with("sh"))
            })
        };
        bare || coded || escapes()
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// Whether a file is called after a hole in a system, or after what goes through one.
fn is_exploit(path: &str) -> bool {
    const NAMES: &[&str] = &[
        "pwnkit",
        "dirtycow",
        "dirtypipe",
        "dirty_sock",
        "sudo-hax",
        "overlayfs_exploit",
        "exploit",
        "local_root",
        "polkit-exploit",
        "looney-tunables",
        "nimbuspwn",
        "baronsamedit",
        "printnightmare",
        "zerologon",
        "eternalblue",
    ];
    let lower = path.to_ascii_lowercase();
    lower.rsplit('/').take(2).any(|name| {
        let stem = name.split('.').next().unwrap_or_default();
        let digits = |part: Option<&str>| {
            part.is_some_and(|part| part.len() >= 4 && part.bytes().all(|b| b.is_ascii_digit()))
        };
        let mut parts = stem.split(['-', '_']);
        NAMES.contains(&stem) || parts.next() == Some("cve") && digits(parts.next()) && digits(parts.next())
    })
}

/// A program or a script of such a name is run.
fn exploit_run<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.invocations().iter().find(|inv| {
        let word = inv.word.text();
        let placed = word.contains('/') && is_exploit(&word);
        let script = || {
            runs(inv, &["python", "python3", "perl", "ruby", "bash", "sh"])
                && inv.operands.first().is_some_and(|arg| is_exploit(&arg.text()))
        };
        placed || script()
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// `find / -perm -4000`: programs that run with the rights of root.
fn setuid_sought<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(&["find", "getcap"], |inv| {
        let words: Vec<String> = inv.args.iter().map(Arg::to_text).collect();
        let wide = words.iter().any(|word| matches!(word.as_str(), "/" | "/usr" | "/usr/bin" | "/bin"));
        let sought = words.windows(2).any(|pair| {
            matches!(pair, [flag, mode] if flag == "-perm" && (mode.contains("4000") || mode.contains("6000") || mode.contains("2000") || mode.contains("+s") || mode.contains("=s")))
        });
        let all = inv.program == "getcap" && words.iter().any(|word| word == "/");
        (wide && sought) || all
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// `bash -p`: the rights of a setuid copy are not given up.
fn keeps_rights<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.invocations().iter().find(|inv| {
        let shell = runs_shell(inv) || inv.word.prefix().starts_with("/tmp/") && inv.program.contains("sh");
        shell && !runs(inv, &["fish", "pwsh", "powershell"]) && inv.args.len() == 1 && has_flag(inv, "-p")
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
        let all_mapped =
            || inv.wrappers.iter().any(|name| name == "unshare") && runs_shell(inv) && inv.args.is_empty();
        all_mapped()
            || inv.wrappers.iter().any(|name| name == "nsenter")
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

const MODE_COPIERS: &[&str] = &["chmod", "cp"];

/// Programs that run with the rights of root, whoever starts them.
const SETUID_PROGRAMS: &[&str] =
    &["su", "sudo", "passwd", "mount", "umount", "newgrp", "chsh", "chfn", "gpasswd", "pkexec", "doas"];

fn setuid_copied<'a>(scene: &Scene<'a>) -> Found<'a> {
    let is_one = |text: &str| {
        text.starts_with('/') && text.rsplit('/').next().is_some_and(|name| SETUID_PROGRAMS.contains(&name))
    };
    let found = scene.first(MODE_COPIERS, |inv| {
        if inv.program == "chmod" {
            return flag_value(inv, &["--reference"]).is_some_and(|arg| is_one(arg.prefix()));
        }
        let keeps = ["-p", "-a", "--preserve", "--archive"].iter().any(|flag| has_flag(inv, flag));
        keeps && inv.operands.first().is_some_and(|arg| is_one(arg.prefix()))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// The same where nobody else has anything to do: the home, the system, keys.
fn opened_to_all<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(MODE_SETTERS, |inv| {
        let opens = |mode: &str| {
            octal(mode).is_some_and(|bits| bits & 0o002 != 0)
                || mode.contains("o+w")
                || mode.contains("a+w")
                || mode.contains("a+rw")
                || mode.contains("o+rw")
        };
        // A key is its owner's alone: nobody else may read it either.
        let shows = |mode: &str| octal(mode).is_some_and(|bits| bits & 0o044 != 0) || mode.contains("+r");
        let key = |arg: &Arg| {
            let target = target_of(arg, inv.cwd.as_deref());
            let place = classify(&target, EffectKind::FileRead, &scene.view);
            (place.has(Class::Secret) || target.text().ends_with("/.ssh")) && !target.text().ends_with(".pub")
        };
        let shown = inv.program == "chmod"
            && modes(inv).any(shows)
            && inv.args.iter().skip(1).any(|arg| arg.prefix().contains(['/', '~']) && key(arg));
        let place = |arg: &Arg| {
            let target = target_of(arg, inv.cwd.as_deref());
            let whole = classify(&target, EffectKind::FileDeletion, &scene.view);
            whole.any(&[Class::Root, Class::System, Class::Home, Class::Users, Class::Secret, Class::Device])
                || target.text().ends_with("/.ssh")
                || target.text().ends_with("/.gnupg")
        };
        shown
            || inv.program != "mkdir"
                && modes(inv).any(opens)
                && inv.args.iter().skip(1).any(|arg| arg.prefix().contains(['/', '~']) && place(arg))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

fn mask_opened<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(&["umask"], |inv| {
        inv.operands.iter().filter_map(Arg::known).any(|mask| matches!(mask, "0" | "00" | "000" | "0000"))
    });
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

fn project_opened<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(&["chmod"], |inv| {
        let opens = |mode: &str| {
            octal(mode).is_some_and(|bits| bits & 0o002 != 0)
                || ["a+w", "a+rw", "o+w", "o+rw", "ugo+rw"].iter().any(|word| mode.contains(word))
        };
        let whole = |arg: &Arg| {
            classify(&target_of(arg, inv.cwd.as_deref()), EffectKind::FileDeletion, &scene.view)
                .has(Class::Project)
        };
        (has_flag(inv, "-R") || has_flag(inv, "--recursive"))
            && modes(inv).any(opens)
            && inv.args.iter().skip(1).any(|arg| !arg.prefix().starts_with('-') && whole(arg))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
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
fn host_lent<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(&["docker", "podman", "helm"], |inv| {
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
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

fn container_host<'a>(scene: &Scene<'a>) -> Found<'a> {
    const SHARED: &[&str] = &["--pid", "--ipc", "--userns", "--uts", "--cgroupns"];
    let found = scene.first(CONTAINERS, |inv| {
        inv.flags.iter().any(|flag| {
            let Some(value) = &flag.value else { return false };
            let text = value.text();
            let text = text.strip_prefix('=').unwrap_or(&text);
            match flag.name.as_str() {
                "-v" | "--volume" => mounts_host(text.split(':').next().unwrap_or_default(), inv, scene),
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
                    text.starts_with("/dev/sd")
                        || text.starts_with("/dev/nvme")
                        || text.starts_with("/dev/mem")
                }
                "--security-opt" => {
                    text.contains("unconfined") && !(text == "seccomp=unconfined" && traces(inv))
                        || text == "label=disable"
                        || text == "label:disable"
                }
                name => SHARED.contains(&name) && text == "host",
            }
        })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// A container that may look into its own processes, as the manuals of debuggers have it.
fn traces(inv: &Invocation) -> bool {
    let given = |value: &Arg| matches!(value.text().trim_start_matches('='), "SYS_PTRACE" | "CAP_SYS_PTRACE");
    inv.flags.iter().any(|flag| flag.name == "--cap-add" && flag.value.as_ref().is_some_and(given))
}

/// Images of programs that look into images, and need the service for that alone.
const IMAGE_READERS: &[&str] = &[
    "aquasec/trivy",
    "aquasecurity/trivy",
    "wagoodman/dive",
    "goodwithtech/dockle",
    "anchore/syft",
    "anchore/grype",
    "docker/scout-cli",
];

/// `docker run -v /var/run/docker.sock:/var/run/docker.sock aquasec/trivy image app`
fn reads_images(inv: &Invocation) -> bool {
    let mut words = inv.operands.iter().skip_while(|arg| matches!(arg.known(), Some("run" | "container")));
    let image = words.next().and_then(Arg::known).unwrap_or_default();
    let name = ["docker.io/", "ghcr.io/"].iter().find_map(|host| image.strip_prefix(host)).unwrap_or(image);
    let name = name.split([':', '@']).next().unwrap_or_default();
    IMAGE_READERS.contains(&name)
        && inv.sub.first().is_some_and(|sub| sub == "run")
        && !has_flag(inv, "--entrypoint")
        && inv.args.iter().all(|arg| !matches!(arg.known(), None | Some("plugin" | "module")))
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
        || ["docker.sock", "containerd.sock", "crio.sock", "podman.sock"]
            .iter()
            .any(|name| source.ends_with(name))
            && !(source == "/var/run/docker.sock" && reads_images(inv))
        || place.any(&[Class::Root, Class::Home, Class::Users])
        || matches!(
            target.text(),
            "/etc"
                | "/root"
                | "/var"
                | "/usr"
                | "/boot"
                | "/proc"
                | "/sys"
                | "/dev"
                | "/var/run"
                | "/run"
                | "/var/lib/docker"
                | "/var/lib/kubelet"
                | "/etc/shadow"
                | "/etc/gshadow"
                | "/etc/sudoers"
                | "/etc/sudoers.d"
        )
}

const PROC_READERS: &[&str] = &[
    "cat", "ls", "cp", "mv", "chroot", "tee", "head", "tail", "find", "tar", "less", "rm", "ln", "cd",
    "nsenter", "dd", "rsync",
];

const PODS: &[&str] = &["kubectl", "oc", "k"];

/// A pod that is given the host's namespaces or all rights, in the options or in a manifest that the call holds.
fn pod_host<'a>(scene: &Scene<'a>) -> Found<'a> {
    const GIVEN: &[&str] = &[
        "\"hostPID\":true",
        "\"hostNetwork\":true",
        "\"hostIPC\":true",
        "\"privileged\":true",
        "hostPID:true",
        "hostNetwork:true",
        "hostIPC:true",
        "privileged:true",
        "hostPath:{path:/}",
        "path:/}",
        "\"path\":\"/\"}",
        "path:/,",
        "pod-security.kubernetes.io/enforce=privileged",
        "SYS_ADMIN",
    ];
    let found = scene.first(PODS, |inv| {
        let sub = inv.sub.first().map(String::as_str).unwrap_or_default();
        let node = sub == "debug" && inv.operands.iter().any(|arg| arg.prefix().starts_with("node/"));
        let user = inv.args.iter().any(|arg| {
            let text = arg.text();
            text == "--as=system:admin"
                || text.starts_with("--as=system:masters")
                || text == "--as-group=system:masters"
        });
        let flagged = has_flag(inv, "--privileged") || user;
        if node || flagged {
            return true;
        }
        if !matches!(sub, "run" | "apply" | "create" | "patch" | "replace" | "label" | "set" | "annotate") {
            return false;
        }
        let texts = inv.args.iter().map(Arg::to_text).chain(input_of(inv, scene));
        { texts }.filter(|text| text.len() > 10).any(|text| {
            let bare: String = text.chars().filter(|c| !matches!(c, ' ' | '\n' | '\t')).collect();
            GIVEN.iter().any(|given| bare.contains(given))
        })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

const SYSTEM_CONTAINERS: &[&str] = &[
    "lxc",
    "incus",
    "lxd",
    "ctr",
    "systemd-nspawn",
    "bwrap",
    "singularity",
    "apptainer",
    "flatpak",
    "docker",
    "snap",
    "firejail",
    "flatpak-spawn",
    "distrobox-host-exec",
    "host-spawn",
    "mount",
];

/// Containers of other makes, with the whole machine in them.
fn system_container_host<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(SYSTEM_CONTAINERS, |inv| {
        let texts: Vec<String> = inv.args.iter().map(Arg::to_text).collect();
        let any = |test: &dyn Fn(&str) -> bool| texts.iter().any(|text| test(text));
        let pair = |first: &[&str], second: &str| {
            texts.windows(2).any(|two| matches!(two, [a, b] if first.contains(&a.as_str()) && b == second))
        };
        match inv.program.as_str() {
            "lxc" | "incus" | "lxd" => {
                any(&|text| {
                    text.replace(' ', "") == "security.privileged=true"
                        || text == "source=/"
                        || text == "security.nesting=true" && texts.len() < 3
                }) || pair(&["security.privileged"], "true")
            }
            "ctr" => any(&|text| text.contains("src=/,") || text.contains("source=/,")),
            "docker" => {
                any(&|text| text.starts_with("--allow=") && text.contains("security.insecure"))
                    || inv.sub.first().is_some_and(|sub| sub == "service")
                        && any(&|text| {
                            text.contains("source=/,")
                                || text.contains("src=/,")
                                || text.contains("docker.sock")
                                || text == "ALL"
                        })
            }
            "systemd-nspawn" => {
                any(&|text| text.starts_with("--bind=/:") || text == "--bind=/") || pair(&["-D"], "/")
            }
            "bwrap" => texts
                .windows(3)
                .any(|three| matches!(three, [a, b, c] if a == "--bind" && b == "/" && c == "/")),
            "singularity" | "apptainer" => any(&|text| text.starts_with("/:/")),
            "flatpak" => {
                any(&|text| matches!(text, "--filesystem=host" | "--filesystem=/" | "--filesystem=home"))
            }
            "flatpak-spawn" => any(&|text| text == "--host"),
            "distrobox-host-exec" | "host-spawn" => true,
            // A control group of one's own is the first step out of a container.
            "mount" => pair(&["-t", "--types"], "cgroup") || any(&|text| text == "-tcgroup"),
            "snap" => any(&|text| text == "--devmode" || text == "--dangerous"),
            _ => any(&|text| text == "--noprofile"),
        }
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

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
    const OPTIONS: &[&str] = &[
        "-s",
        "-S",
        "-f",
        "-i",
        "-v",
        "--silent",
        "--fail",
        "--show-error",
        "--unix-socket",
        "-m",
        "--max-time",
    ];
    let harmless = |url: &&str| {
        let path = url.split_once("://").map_or(*url, |(_, rest)| rest).split_once('/').map(|(_, path)| path);
        let last = path.map(|path| path.rsplit('/').next().unwrap_or_default());
        matches!(last, Some("version" | "_ping" | "info"))
            && path.is_some_and(|path| path.matches('/').count() <= 1)
    };
    inv.program == "curl"
        && inv.args.iter().all(|arg| arg.known().is_some())
        && inv.flags.iter().all(|flag| OPTIONS.contains(&flag.name.as_str()))
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
