//! Files: deletion, overwriting and permissions beyond what a project needs.

use super::{everyday, flagged, lists, predicate};
use crate::domain::{Action, Effect, EffectKind, PathKind, Severity, Target, Verdict};
use crate::rules::Invocation;
use crate::rules::matcher::{
    At, Class, Command, EFFECT, Found, Instead, OnEffect, Operand, RULE, Rule, Scene, Trigger, When,
    asks_for_help, classify, find_but, flag_value, has_flag, inside, is_env_file, owner, owners, runs,
    target_of,
};
use crate::rules::survey::is_guarded;
use crate::rules::survey::pattern::of_names;
use crate::shell::{Arg, Piece};

const DELETES: &[EffectKind] = &[EffectKind::FileDeletion];
const CHANGES: &[EffectKind] =
    &[EffectKind::FileCreation, EffectKind::FileModification, EffectKind::FileDeletion];

/// Deletion of what git keeps.
const OF_GIT: OnEffect = OnEffect {
    kinds: DELETES,
    any: &[Class::Git],
    recursive: true,
    lasting: true,
    except: &["git"],
    ..EFFECT
};

/// Deletion of one of these with all that lies below.
const fn recursive_deletion(any: &'static [Class], none: &'static [Class]) -> When {
    When::Effect(OnEffect { kinds: DELETES, any, none, recursive: true, ..EFFECT })
}

/// Places that are more than anybody's single work.
pub(super) const WIDE: &[Class] = &[Class::Root, Class::System, Class::Home, Class::HomeTop, Class::Users];

/// Accounts, log-ins, the boot and the loader: one wrong byte locks everybody out.
const CRITICAL_ETC: &[At] = &[
    At::Abs("/etc/passwd"),
    At::Abs("/etc/shadow"),
    At::Abs("/etc/group"),
    At::Abs("/etc/gshadow"),
    At::Abs("/etc/fstab"),
    At::Abs("/etc/crypttab"),
    At::Abs("/etc/pam.d"),
    At::Abs("/etc/pam.conf"),
    At::Abs("/etc/security"),
    At::Abs("/etc/ssh"),
    At::Abs("/etc/nsswitch.conf"),
    At::Abs("/etc/ld.so.conf"),
    At::Abs("/etc/inittab"),
    At::Abs("/etc/machine-id"),
];

const CHMOD: &[&str] = &["chmod"];

const CHOWN: &[&str] = &["chown", "chgrp"];

/// Programs that clear a directory which an option or a variable names.
const CLEARERS: &[&str] = &[
    "gio",
    "cargo",
    "7z",
    "7za",
    "7zz",
    "7zr",
    "tmpreaper",
    "tmpwatch",
    "trash-cli",
    "trash-put",
    "trash",
    "rmtrash",
    "fdupes",
    "jdupes",
];

const MOVERS: &[&str] = &["mv", "rename"];

const EMPTIERS: &[&str] = &["truncate", "cp"];

/// Programs that overwrite what they delete.
const SHREDDERS: &[&str] = &["shred", "srm", "wipe", "scrub"];

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "files.delete-root",
        severity: Severity::Critical,
        reason: "deletes the whole file system",
        instead: Some(Instead::Advice(
            "delete the one directory inside the project that is meant, by its name",
        )),
        when: &[recursive_deletion(&[Class::Root], &[])],
        fires: &[
            "rm -rf /",
            "rm -rf /*",
            "rm -rf --no-preserve-root /",
            "sudo env X=1 bash -c \"rm -rf /\"",
            "find / -delete",
            "cd / && rm -rf *",
            "docker exec web rm -rf /",
            "docker run --rm -v /:/h alpine rm -rf /h",
        ],
        silent: &[
            "docker run --rm alpine rm -rf /",
            "echo \"rm -rf /\"",
            "git commit -m \"remove rm -rf / from docs\"",
            "rm -rf target",
            "grep -rn 'rm -rf /' src",
        ],
        ..RULE
    },
    Rule {
        id: "files.delete-system",
        severity: Severity::Critical,
        reason: "deletes a directory of the operating system",
        instead: Some(Instead::Advice(
            "remove software with the package manager, and ask the person to do it",
        )),
        when: &[recursive_deletion(&[Class::System], &[])],
        fires: &[
            "rm -rf /etc",
            "sudo rm -rf /usr/lib",
            "rm -r /var/lib/postgresql",
            "rm -rf /u*r/bin",
            "find /etc -name '*.conf' -delete",
        ],
        silent: &[
            "rm -rf /tmp/build",
            "rm -rf ./usr/lib",
            "ls /etc",
            "find /etc -name '*.conf'",
            "sudo rm -rf /var/lib/apt/lists/*",
            "rsync -an --delete ./ /srv/app/",
        ],
        ..RULE
    },
    Rule {
        id: "files.delete-home",
        severity: Severity::Critical,
        reason: "deletes the home directory, somebody's home, or a whole directory in it",
        instead: Some(Instead::Advice(
            "name what is to go inside the project, or ask the person to delete it",
        )),
        when: &[
            recursive_deletion(&[Class::Home, Class::HomeTop, Class::Users], &[]),
            predicate("directory_cleared_by_its_program", Trigger::programs(CLEARERS), cleared),
        ],
        fires: &[
            "gio trash ~",
            "gio remove ~/Documents",
            "cargo clean --target-dir ~",
            "cargo clean --target-dir=/etc",
            "CARGO_TARGET_DIR=~ cargo clean",
            "7z a -sdel /tmp/x.7z .",
            "tmpreaper 0 ~",
            "tmpwatch --all 0 /home",
            "fdupes -rdN ~",
            "rm -rf ~",
            "rm -rf $HOME/*",
            "rm -rf ~/Documents",
            "rm -rf /home",
            "mv ~ /tmp/old",
            "rm -rf /home/other",
            "rm -rf ~/.ssh",
        ],
        silent: &[
            "rm -rf ~/proj/target",
            "ls -R ~",
            "rm -rf \"./~\"",
            "cd ~ && ls",
            "gio trash build",
            "cargo clean",
            "CARGO_TARGET_DIR=/tmp/t cargo clean",
            "7z a /tmp/x.7z .",
            "7z a -sdel /tmp/x.7z old.log",
            "tmpreaper 7d /tmp/x",
            "fdupes -r ~",
        ],
        ..RULE
    },
    Rule {
        id: "files.delete-piped",
        severity: Severity::Critical,
        reason: "deletes all that another command lists, and that lists too much",
        instead: Some(Instead::Advice("name what is to go inside the project, and filter the list by name")),
        when: &[predicate(
            "list_of_everything_piped_to_a_deletion",
            Trigger::WRAPPED.or(Trigger::programs(&["perl"])),
            delete_piped,
        )],
        fires: &[
            "find / -type f -print0 | xargs -0 rm -rf",
            "ls -d ~/* | xargs rm -rf",
            "rg --files ~ | xargs rm",
            "fd . ~ | xargs rm -rf",
            "fd -t f | xargs rm -f",
            "locate '*.jpg' | xargs -d '\\n' rm",
            "mdfind kind:pdf | xargs rm",
            "find . -type f | xargs rm -f",
            "find /etc | xargs -n1 sudo rm",
            "git ls-files -z | xargs -0 rm",
            "ls -d ~/* | grep '\\.bak$' | xargs rm -rf",
            "ls | grep -v keep | xargs rm -rf",
            "rg --files ~ | xargs rm",
            "find ~ -type f -print0 | perl -0 -ne unlink",
            "git ls-files -o --exclude-standard | xargs rm -rf",
            "git ls-files -o --exclude-standard | grep -v x | xargs rm",
        ],
        silent: &[
            "git ls-files '*.orig' | xargs rm",
            "fd -e log . logs | xargs rm -f",
            "fd -e orig | xargs rm -f",
            "fd -t d '^\\.cache$' packages | xargs rm -rf",
            "git ls-files -o --exclude-standard | grep '\\.tmp$' | xargs -r rm",
            "git ls-files | xargs wc -l",
            "rg --files src | xargs wc -l",
            "rg -l TODO --files-with-matches src | xargs sed -i s/a/b/",
            "locate x.conf | xargs ls -l",
            "find . -name '*.orig' -print0 | xargs -0 rm",
            "find target -type f | xargs rm",
            "find / -name x.log | xargs grep error",
            "ls src | xargs wc -l",
            "ls | grep '\\.bak$' | xargs rm",
            "git ls-files -o --exclude-standard | grep '\\.log$' | xargs -r rm",
            "find target -type f -print0 | perl -0 -ne unlink",
        ],
        ..RULE
    },
    Rule {
        id: "files.delete-most",
        verdict: Verdict::Modify,
        reason: "deletes several directories of the project's top at once",
        instead: Some(Instead::Command("git stash -u")),
        when: &[predicate("top_of_the_project_deleted", Trigger::kinds(DELETES), top_deleted)],
        fires: &[
            "rm -rf src docs .opencode",
            "find src docs .opencode -type f -delete",
            "rm -rf {src,docs,.opencode}",
        ],
        silent: &[
            "rm -rf target dist node_modules",
            "rm -rf src/a src/b src/c",
            "rm a.txt b.txt c.txt",
            "rm -rf src docs",
            "rm -rf src docs nothing-there",
            "find src docs .opencode -name '*.orig' -delete",
        ],
        ..RULE
    },
    Rule {
        id: "files.move-home",
        severity: Severity::Critical,
        reason: "moves a directory of the system or of a home out of its place",
        instead: Some(Instead::Advice("copy what is needed into the project")),
        when: &[predicate("directory_of_a_home_moved", Trigger::programs(MOVERS), |scene| {
            moves_home(scene, |inv| !sets_aside(inv, scene))
        })],
        fires: &[
            "mv ~ /tmp/old",
            "mv /etc /etc.bak",
            "sudo mv /usr/bin /x",
            "mv ~/Documents /tmp/gone",
            "mv ~/* /tmp",
            "mv ~/Documents ~/Documents.bak",
            "mv ~/.vimrc ~/.bashrc.bak",
        ],
        silent: &[
            "mv ~/.vimrc ~/.vimrc.bak",
            "mv src lib",
            "mv /tmp/x ~/Documents",
            "mv a.txt ~/",
            "mv ~/proj/a.txt ~/proj/b.txt",
        ],
        ..RULE
    },
    Rule {
        id: "files.set-aside",
        verdict: Verdict::Modify,
        severity: Severity::Medium,
        reason: "puts settings of the home directory aside, which programs then no longer find",
        instead: Some(Instead::Command("cp ~/.vimrc ~/.vimrc.bak")),
        when: &[predicate("settings_put_aside", Trigger::programs(MOVERS), |scene| {
            moves_home(scene, |inv| sets_aside(inv, scene))
        })],
        fires: &["mv ~/.vimrc ~/.vimrc.bak", "mv ~/.tmux ~/.tmux.orig"],
        silent: &["cp ~/.vimrc ~/.vimrc.bak", "mv notes.txt notes.txt.bak"],
        ..RULE
    },
    Rule {
        id: "files.delete-project",
        severity: Severity::Critical,
        reason: "deletes the whole project",
        instead: Some(Instead::Command("git clean -nd")),
        when: &[recursive_deletion(&[Class::Project], &[Class::Root, Class::Home])],
        fires: &[
            "rm -rf /home/u/proj",
            "rm -rf *",
            "rm -rf .",
            "cd .. && rm -rf proj",
            "rm -rf ./* .[!.]*",
            "find . -delete",
            "find . -delete -name '*.pyc'",
            "find . -name node_modules -prune -o -delete",
            "find . -name '*.pyc' -o -delete",
            "find . \\( -name a -o -type f \\) -delete",
            "find . ! \\( -name node_modules \\) -delete",
            "find . ! \\( -empty \\) -delete",
            "find . -delete -empty",
            "docker run --rm -v $PWD:/w alpine rm -rf /w",
            "docker run --rm -v \"$(pwd)\":/w -w /w alpine sh -c 'rm -rf *'",
            "docker run --rm --mount type=bind,src=.,dst=/w alpine find /w -delete",
            "docker run --rm -v $PWD:/w alpine rm -rf /",
        ],
        silent: &[
            "rm -rf target",
            "rm -rf ./node_modules",
            "find . -name '*.orig'",
            "rm *.log",
            "find . -path ./node_modules -prune -o -name '*.pyc' -print -delete",
            "find . \\( -name '*.pyc' -o -name '*.pyo' \\) -delete",
            "find . -name '*.pyc' \\( -type f -o -type l \\) -delete",
            "find . -type d -empty -delete",
        ],
        ..RULE
    },
    Rule {
        id: "files.delete-git",
        severity: Severity::Critical,
        reason: "deletes the repository's history",
        instead: Some(Instead::Command("git status")),
        when: &[predicate("repository_deleted", Trigger::kinds(DELETES), |scene| {
            find_but(&OF_GIT, scene, |_, target| is_module(target))
        })],
        fires: &[
            "rm -rf .git",
            "rm -rf .git/modules",
            "rm -rf .git/modules/*",
            "rm -r /home/u/proj/.git/objects",
            "find .git -delete",
            "mv .git /tmp/x",
            "rm -rf .git/refs/heads/build",
            "rm -rf ../other/.git",
        ],
        silent: &[
            "rm -rf .github/workflows",
            "rm .gitignore",
            "ls .git",
            "rm -f .git/index.lock",
            "rm -rf .git/rebase-merge",
            "git submodule deinit vendor/x && git rm vendor/x && rm -rf .git/modules/vendor/x",
            "rm -rf /tmp/copy/.git",
            "rm -rf node_modules/foo/.git",
        ],
        ..RULE
    },
    Rule {
        id: "files.delete-submodule",
        verdict: Verdict::Modify,
        severity: Severity::Medium,
        reason: "deletes the repository of a submodule, with commits in it that may be nowhere else",
        instead: Some(Instead::Command("git submodule deinit vendor/x")),
        when: &[predicate("repository_of_a_submodule_deleted", Trigger::kinds(DELETES), |scene| {
            find_but(&OF_GIT, scene, |_, target| !is_module(target) || is_taken_out(scene, target))
        })],
        fires: &["rm -rf .git/modules/vendor/x", "git rm docs && rm -rf .git/modules/vendor/x"],
        silent: &[
            "git submodule deinit vendor/x && git rm vendor/x && rm -rf .git/modules/vendor/x",
            "git rm --cached vendor/x && rm -rf vendor/x .git/modules/vendor/x",
            "ls .git/modules",
            "rm -rf .git/rebase-merge",
        ],
        ..RULE
    },
    Rule {
        id: "files.delete-outside",
        reason: "deletes a directory outside the project",
        instead: Some(Instead::Advice(
            "delete inside the project only, or ask the person to add the directory to `scope`",
        )),
        when: &[When::Effect(OnEffect {
            kinds: DELETES,
            any: &[Class::Outside],
            none: &[
                Class::Root,
                Class::System,
                Class::Home,
                Class::HomeTop,
                Class::Users,
                Class::Project,
                Class::Git,
            ],
            recursive: true,
            lasting: true,
            ..EFFECT
        })],
        fires: &[
            "rm -rf ../other/src",
            "rm -rf ~/work/thing",
            "rm -rf /data/cache",
            "find ~/work/thing -type f -delete",
        ],
        silent: &[
            "rm -rf build",
            "rm -rf /tmp/scratch",
            "rm ../other/a.txt",
            "rm -rf src/../target",
            "rm -rf ~/.cache/pip",
            "rm -rf ~/.npm/_cacache",
        ],
        ..RULE
    },
    Rule {
        id: "files.delete-unknown",
        verdict: Verdict::Modify,
        reason: "deletes recursively what is only known once it runs; an empty variable would make it the whole disk",
        instead: Some(Instead::Advice(
            "write the path out, or check the variable with ${NAME:?} and a fixed directory in front",
        )),
        when: &[predicate("recursive_deletion_of_an_unknown_path", Trigger::kinds(DELETES), delete_unknown)],
        fires: &[
            "rm -rf \"$X\"",
            "rm -rf $(cat list.txt)",
            "rm -rf $DIR/src",
            "rm -rf ~/.cache/$X",
            "rm -rf \"${OUT:?}\"/*",
            "rm -rf $(go env GOROOT)",
        ],
        silent: &[
            "rm -rf build/$X",
            "rm -f \"$X\"",
            "D=build; rm -rf \"$D\"",
            "D=\"${D:-build}\"; rm -rf \"$D\"",
            "ROOT=\"$(cd \"$(dirname \"$0\")/..\" && pwd)\"; rm -rf \"$ROOT/dist\"",
            "cd \"$(dirname \"$0\")/..\" && rm -rf dist",
            "rm -rf \"$TMPDIR\"/metro-*",
            "W=$(mktemp -dt shop.XXXX); rm -rf \"$W\"",
            "rm -rf /tmp/x-$$",
            "rm -rf \"$(go env GOCACHE)\"",
            "rm -rf $(brew --cache)",
            "rm -rf \"$(poetry env info -p)\"",
        ],
        ..RULE
    },
    Rule {
        id: "files.delete-unknown-root",
        reason: "deletes all in a directory whose name is not known; were the variable empty, it would be the root",
        instead: Some(Instead::Advice(
            "write the path out, or check the variable with ${NAME:?} and a fixed directory in front",
        )),
        when: &[predicate(
            "recursive_deletion_below_an_unknown_directory",
            Trigger::kinds(DELETES),
            delete_unknown_root,
        )],
        fires: &[
            "rm -rf \"$X/\"",
            "rm -rf $X/*",
            "rm -rf \"${DIR}\"/*",
            "rm -rf /$X",
            "rm -rf \"${X?}\"/*",
            "rm -rf \"${X:?}\"/* $Y/*",
        ],
        silent: &[
            "rm -rf \"${OUT:?is not set}\"/*",
            "rm -rf build/$X/*",
            "X=build; rm -rf \"$X/\"",
            "ls $X/*",
        ],
        ..RULE
    },
    Rule {
        id: "files.delete-inside",
        verdict: Verdict::Warn,
        severity: Severity::Medium,
        reason: "deletes a directory of the project that git may not be able to bring back",
        instead: Some(Instead::Command("git status --short")),
        when: &[When::Effect(OnEffect {
            kinds: DELETES,
            none: &[
                Class::Outside,
                Class::Project,
                Class::Git,
                Class::Root,
                Class::Home,
                Class::Protected,
                Class::Unknown,
            ],
            recursive: true,
            lasting: true,
            except: &["git"],
            ..EFFECT
        })],
        fires: &["rm -rf src", "rm -r docs/old", "find src -delete"],
        silent: &[
            "rm -rf target",
            "rm -rf node_modules",
            "rm -rf /tmp/scratch",
            "rm src/main.rs",
            "git mv src lib",
        ],
        ..RULE
    },
    Rule {
        id: "files.delete-file-outside",
        verdict: Verdict::Modify,
        severity: Severity::Medium,
        reason: "deletes a file outside the project",
        instead: Some(Instead::Advice(
            "delete inside the project only, or ask the person to add the directory to `scope`",
        )),
        when: &[predicate("deletion_of_a_single_file_outside", Trigger::kinds(DELETES), delete_file_outside)],
        fires: &["rm ~/notes.txt", "rm ../other/a.txt", "unlink ~/work/thing/x"],
        silent: &["rm src/main.rs", "rm /tmp/x", "rm -f \"$X\"", "cat ~/notes.txt"],
        ..RULE
    },
    Rule {
        id: "files.write-system",
        severity: Severity::Critical,
        reason: "changes files that the running system is made of",
        instead: Some(Instead::Advice(
            "install software with the package manager, and ask the person to do it",
        )),
        when: &[predicate("system_files_changed", Trigger::kinds(CHANGES), write_system)],
        fires: &[
            "cp x /usr/bin/ls",
            "sudo tee /boot/grub/grub.cfg < x",
            "echo 1 > /proc/sys/kernel/panic",
            "echo 1 | sudo tee /sys/block/sda/device/delete",
            "echo 1 > /sys/class/hwmon/../../block/sda/device/delete",
            "sudo rm /lib/libc.so.6",
            "Write /usr/lib/x.so data",
        ],
        silent: &[
            "cp x ./usr/bin/ls",
            "cat /usr/bin/ls",
            "ls /boot",
            "cp x /usr/local/bin/tool",
            "echo 3 | sudo tee /proc/sys/vm/drop_caches",
            "Read /usr/include/stdio.h",
        ],
        ..RULE
    },
    Rule {
        id: "files.write-device",
        verdict: Verdict::Modify,
        reason: "changes how a device of this machine behaves",
        instead: Some(Instead::Advice("say which device is to do what, and let the person set it")),
        when: &[predicate("device_set", Trigger::kinds(CHANGES), |scene| {
            changed_at(scene, everyday::is_device_setting)
        })],
        fires: &[
            "echo 5 | sudo tee /sys/class/pwm/pwmchip0/pwm0/duty_cycle",
            "echo 17 > /sys/class/gpio/export",
            "echo performance | sudo tee /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
        ],
        silent: &["cat /sys/class/leds/x/brightness", "ls /sys/class/gpio", "echo 5 > sys/class/leds/x"],
        ..RULE
    },
    Rule {
        id: "files.write-accounts",
        severity: Severity::Critical,
        reason: "changes who may log in or how the machine starts",
        instead: Some(Instead::Advice("describe the change and let the person make it")),
        when: &[When::Effect(OnEffect { kinds: CHANGES, at: CRITICAL_ETC, ..EFFECT })],
        fires: &[
            "echo 'x::0:0::/:/bin/sh' >> /etc/passwd",
            "sudo sed -i s/no/yes/ /etc/ssh/sshd_config",
            "rm /etc/fstab",
            "truncate -s 0 /etc/passwd",
        ],
        silent: &[
            "cat /etc/passwd",
            "grep root /etc/passwd",
            "echo x > etc/passwd",
            "Write /home/u/proj/etc/fstab x",
        ],
        ..RULE
    },
    Rule {
        id: "files.write-etc",
        verdict: Verdict::Modify,
        reason: "changes the machine's configuration",
        instead: Some(Instead::Advice("show the person the change and let them make it")),
        when: &[predicate("etc_changed", Trigger::kinds(CHANGES), write_etc)],
        fires: &[
            "echo '127.0.0.1 x' >> /etc/hosts",
            "sudo tee /etc/nginx/nginx.conf < n.conf",
            "sudo sed -i s/a/b/ /etc/hosts",
            "Write /etc/resolv.conf x",
        ],
        silent: &["cat /etc/hosts", "cp /etc/hosts ./hosts", "diff /etc/hosts hosts", "echo x > ./etc/hosts"],
        ..RULE
    },
    Rule {
        id: "files.write-shared",
        verdict: Verdict::Warn,
        severity: Severity::Medium,
        reason: "changes a directory that all users of the machine share",
        instead: Some(Instead::Advice("install into the project or into a directory below it")),
        when: &[When::Effect(OnEffect {
            kinds: CHANGES,
            at: &[At::Abs("/usr/local"), At::Abs("/opt"), At::Abs("/srv"), At::Abs("/var/www")],
            any: &[],
            none: &[Class::Expected],
            ..EFFECT
        })],
        fires: &["sudo cp x /usr/local/bin/x", "echo x > /opt/app/config", "Write /srv/www/index.html x"],
        silent: &["ls /usr/local/bin", "cat /opt/app/config", "cp /usr/local/etc/x ."],
        ..RULE
    },
    Rule {
        id: "files.shred",
        reason: "overwrites files so that nothing can bring them back",
        instead: Some(Instead::Command("git rm --cached secrets.txt")),
        when: &[
            predicate("file_overwritten_for_good", Trigger::programs(SHREDDERS), |scene| {
                let found = scene.first(SHREDDERS, |inv| {
                    // What was made to be thrown away.
                    let temporary = |arg: &Arg| match target_of(arg, inv.cwd.as_deref()) {
                        Target::Path { path, glob: false, .. } => {
                            scene.view.facts.places.temp.iter().any(|dir| inside(&path, dir) && path != *dir)
                        }
                        Target::Path { .. }
                        | Target::UnknownPath { .. }
                        | Target::Url(_)
                        | Target::Command(_)
                        | Target::None => false,
                    };
                    !inv.operands.is_empty() && !inv.operands.iter().all(temporary)
                });
                Found::from(found.map(|inv| inv.text.as_str()))
            }),
            When::Command(flagged(
                &["bleachbit"],
                &[&["-c", "--clean", "-s", "--shred", "-w", "--wipe-free-space", "--wipe-empty-space"]],
            )),
        ],
        fires: &[
            "bleachbit --shred notes.txt",
            "bleachbit -c system.tmp",
            "shred -u notes.txt",
            "shred -n 3 -z src/main.rs",
            "srm x",
        ],
        silent: &[
            "shred -u /tmp/test-key.pem",
            "bleachbit --list",
            "man shred",
            "apt-cache show wipe",
            "grep shred README.md",
        ],
        ..RULE
    },
    Rule {
        id: "files.chmod-wide",
        severity: Severity::Critical,
        reason: "changes the permissions of the system or of a whole home",
        instead: Some(Instead::Command("chmod +x script.sh")),
        when: &[When::Command(Command {
            operand: Operand::On(WIDE),
            ..flagged(&["chmod", "setfacl"], &[&["-R", "--recursive"]])
        })],
        fires: &["chmod -R 777 /", "sudo chmod -R 755 /etc", "chmod -R 700 ~", "chmod -R a+rX /home"],
        silent: &[
            "chmod -R u+w target",
            "chmod +x script.sh",
            "chmod 644 ~/.gitconfig",
            "chmod -R 755 ./dist",
        ],
        ..RULE
    },
    Rule {
        id: "files.chmod-lockout",
        reason: "takes away the permission to read or write the whole project",
        instead: Some(Instead::Command("chmod 600 notes.txt")),
        when: &[predicate("chmod_takes_everything_away", Trigger::programs(CHMOD), chmod_lockout)],
        fires: &["chmod -R 000 .", "chmod -R a-rwx .", "chmod -R ugo-w .", "chmod 000 /home/u/proj"],
        silent: &["chmod -R u+rw .", "chmod 000 secret.txt", "chmod -R go-w .", "chmod -R 755 ."],
        ..RULE
    },
    Rule {
        id: "files.chown-outside",
        reason: "changes the owner of files outside the project",
        instead: Some(Instead::Command("ls -l .")),
        when: &[predicate("owner_changed_outside", Trigger::programs(CHOWN), chown_outside)],
        fires: &[
            "chown -R u:u /",
            "sudo chown -R $USER /usr/local",
            "sudo chown u /etc/hosts",
            "sudo mkdir -p /etc && sudo chown -R u /etc",
            "chgrp -R staff ~/other",
        ],
        silent: &[
            "chown -R u:u target",
            "chown u:u ./a.txt",
            "sudo chown -R u:u node_modules",
            "sudo chown -R $(whoami) ~/.npm",
            "sudo chown -R \"$USER\" ~/.cache/pip",
            "sudo mkdir -p /opt/app && sudo chown $USER /opt/app",
            "sudo mkdir -p /var/lib/app && sudo chown app:app /var/lib/app",
            "sudo chown -R $(whoami) /usr/local/lib/node_modules",
        ],
        ..RULE
    },
    Rule {
        id: "files.rsync-delete",
        reason: "makes a directory an exact copy of another and deletes all else in it",
        instead: Some(Instead::Command("rsync -an --delete dist/ out/")),
        when: &[predicate("mirrored_over_a_directory", Trigger::programs(&["rsync"]), mirrored)],
        fires: &[
            "rsync -a --delete empty/ ~/",
            "rsync -a --delete /tmp/empty/ .",
            "rsync -a --delete-after x/ /var/www",
            "rsync -a --delete ./ ~/",
        ],
        silent: &["rsync -a --delete dist/ out/", "rsync -an --delete empty/ ~/", "rsync -a src/ /tmp/copy"],
        ..RULE
    },
    Rule {
        id: "files.unpack-over-system",
        reason: "unpacks an archive over the file system",
        instead: Some(Instead::Command("tar -tf archive.tar")),
        when: &[
            When::Command(flagged(
                &["tar", "bsdtar"],
                &[&["-x", "--extract", "--get"], &["-C=/", "--directory=/", "-C=/usr", "-C=/etc"]],
            )),
            When::Command(flagged(
                &["tar", "bsdtar"],
                &[&["-x", "--extract", "--get"], &["-P", "--absolute-names"]],
            )),
            When::Command(flagged(&["unzip"], &[&["-d=/", "-d=/usr", "-d=/etc"]])),
        ],
        fires: &[
            "tar -xf a.tar -C /",
            "sudo tar --extract -f a.tar --directory /",
            "unzip a.zip -d /",
            "tar -xPf a.tar",
        ],
        silent: &["tar -xf a.tar", "tar -xzf a.tgz -C build", "tar -tf a.tar", "unzip a.zip -d out"],
        ..RULE
    },
    Rule {
        id: "files.emptied",
        reason: "deletes every file that git tracks, or every line of the files that it is given",
        instead: Some(Instead::Command("git status --short")),
        when: &[
            predicate("all_tracked_files_deleted", Trigger::programs(DELETERS), tracked_deleted),
            predicate("editor_told_to_delete_every_line", Trigger::programs(EDITORS), lines_deleted),
            predicate("files_emptied_in_turn", Trigger::kinds(CHANGES), emptied_in_turn),
        ],
        fires: &[
            "for f in src/*; do > \"$f\"; done",
            "for f in src/*; do cat /dev/null > $f; done",
            "git ls-files | while read f; do : > \"$f\"; done",
            "for f in $(git ls-files); do > $f; done",
            "truncate -s 0 src/*",
            "tee $(git ls-files) < /dev/null",
            "rm $(git ls-files)",
            "xargs rm -f < <(git ls-files)",
            "while read f; do rm -f \"$f\"; done < <(git ls-files)",
            "rg --files | xargs rm",
            "truncate -s 0 ~/Documents/*",
            "for f in ~/Documents/*; do : > \"$f\"; done",
            "find ~/Documents -type f -exec cp /dev/null {} \\;",
            "sed -i d src/main.rs",
            "sed -i '1,$d' src/*.rs",
            "perl -i -ne '' src/main.rs",
            "perl -pi -e '$_=\"\"' $(git ls-files)",
            "awk -i inplace '0' src/main.rs",
        ],
        silent: &[
            "git ls-files --deleted",
            "rm a.txt",
            "sed -i '1d' a.csv",
            "sed -i '/^#/d' a.conf",
            "perl -i -pe 's/a/b/' a.txt",
            "git ls-files '*.orig' | xargs rm",
            "rg -l foo | xargs sed -i s/a/b/",
            "for f in logs/*.log; do > \"$f\"; done",
            "truncate -s 0 *.log",
            "truncate -s 0 /var/log/nginx/*",
            "for f in src/*.rs; do rustfmt \"$f\"; done",
            "for f in src/*.rs; do cat head.txt > \"$f.new\"; done",
            "git ls-files | while read f; do echo \"$f\"; done > list.txt",
            "> \"$OUT\"",
        ],
        ..RULE
    },
    Rule {
        id: "files.data-lost",
        verdict: Verdict::Modify,
        reason: "empties a database or a dump, or deletes one that by its name is in use",
        instead: Some(Instead::Advice("move it to another name first, or let the person empty it")),
        when: &[predicate("data_emptied_or_deleted", Trigger::kinds(CHANGES), data_lost)],
        fires: &[
            "truncate -s 0 app.db",
            "> data.sqlite",
            ": > data.sqlite3",
            "cp /dev/null backup.sql",
            "cat /dev/null > users.rdb",
            "rm prod.db",
            "rm -f backups/production.sqlite3",
        ],
        silent: &[
            "rm db.sqlite3",
            "rm test.db",
            "> test.sqlite",
            "sqlite3 app.db .dump > backup.sql",
            "truncate -s 0 /tmp/x.db",
            "pg_dump app > app.sql",
            "truncate -s 0 logs/app.log",
            "rm src/production.rs",
            "Write /home/u/proj/migrations/002.sql DROP TABLE x;",
        ],
        ..RULE
    },
    Rule {
        id: "files.settings-lost",
        verdict: Verdict::Warn,
        severity: Severity::Medium,
        reason: "overwrites or takes away settings whose values git does not hold",
        instead: Some(Instead::Advice(
            "add the lines that are missing (`>>`); `lazaret rollback` puts back what a checkpoint saved",
        )),
        when: &[predicate("settings_lost", Trigger::kinds(CHANGES), settings_lost)],
        fires: &["rm .env", "rm -f .env.local", "mv .env /tmp/gone"],
        silent: &[
            "rm .env.example",
            "echo 'PORT=3000' >> .env.local",
            "cp .env.example .env.test",
            "rm a.txt",
        ],
        ..RULE
    },
    Rule {
        id: "files.truncate",
        verdict: Verdict::Warn,
        severity: Severity::Medium,
        reason: "empties a file of the project",
        instead: Some(Instead::Command("git status --short")),
        when: &[predicate("truncate_to_nothing", Trigger::programs(EMPTIERS), truncated)],
        fires: &["truncate -s 0 src/main.rs", "truncate --size=0 README.md", "cp /dev/null src/main.rs"],
        silent: &[
            "truncate -s 10M /tmp/disk.img",
            "touch src/main.rs",
            "truncate -s 0 /tmp/x",
            "truncate -s 1G disk.img",
        ],
        ..RULE
    },
];

/// Effects that delete an unknown path recursively, with what is known of it.
const DELETERS: &[&str] = &["rm", "unlink", "shred", "truncate", "git"];

const EDITORS: &[&str] = &["sed", "gsed", "perl", "awk", "gawk", "ex", "vi", "vim", "nvim"];

/// `rm $(git ls-files)`, `git ls-files | xargs rm`: with no pattern that picks some of them.
fn tracked_deleted<'a>(scene: &Scene<'a>) -> Found<'a> {
    let all = scene.invocations();
    let whole = |inv: &Invocation| {
        let bare = inv.operands.is_empty() || inv.operands.iter().all(|arg| arg.known() == Some("."));
        let listed = match inv.program.as_str() {
            "git" => {
                inv.sub.first().is_some_and(|sub| sub == "ls-files")
                    && !["-o", "--others", "-d", "--deleted", "-i", "--ignored"]
                        .iter()
                        .any(|flag| has_flag(inv, flag))
            }
            "rg" => has_flag(inv, "--files") && !has_flag(inv, "-g") && !has_flag(inv, "--glob"),
            _ => false,
        };
        bare && listed
    };
    let Some(lister) = all.iter().find(|inv| whole(inv)) else { return Found::No };
    let filtered = all.iter().any(|inv| {
        inv.pipeline == lister.pipeline
            && runs(inv, &["grep", "rg", "egrep", "head", "fzf", "awk"])
            && inv.stage > lister.stage
    });
    let fed = lister.feeds.and_then(|at| all.get(at));
    let found = all.iter().find(|inv| {
        let behind = inv.pipeline == lister.pipeline && inv.stage > lister.stage;
        let around = fed.is_some_and(|outer| std::ptr::eq(outer, *inv));
        // `xargs rm < <(git ls-files)`, `while read f; do rm "$f"; done < <(git ls-files)`
        let read = scene.command_line().contains("<(git ls-files")
            && (inv.wrappers.iter().any(|name| name == "xargs") || inv.operands.iter().any(Arg::has_unknown));
        let packs = runs(inv, &["tar", "gtar"]) && has_flag(inv, "--remove-files");
        (runs(inv, &["rm", "unlink", "shred", "truncate"]) || packs) && (behind || around || read)
    });
    Found::from(found.filter(|_| !filtered).map(|inv| inv.text.as_str()))
}

/// `for f in src/*; do > "$f"; done`, `git ls-files | while read f; do : > "$f"; done`.
fn emptied_in_turn<'a>(scene: &Scene<'a>) -> Found<'a> {
    let all = scene.invocations();
    for (effect, classes) in scene.effects() {
        let many = match &effect.target {
            Target::Path { path, glob: true, .. } => {
                !(effect.disposable || is_log(path) || classes.has(Class::Outside) && is_cache(path))
            }
            Target::UnknownPath { known, .. } if known.is_empty() => all.iter().any(lists_all_of_git),
            // `find ~/Documents -type f -exec cp /dev/null {} \;`
            Target::UnknownPath { known, .. } => {
                let found = || scene.first(&["find", "fd"], |_| true).is_some();
                classes.has(Class::Outside) && !is_cache(known) && !is_log(known) && found()
            }
            Target::Path { .. } | Target::Url(_) | Target::Command(_) | Target::None => false,
        };
        if !many || !matches!(effect.kind, EffectKind::FileCreation | EffectKind::FileModification) {
            continue;
        }
        let owner = writer(scene, &effect.target);
        if owner.is_none_or(|inv| leaves_nothing(inv) || is_given_nothing(inv, all)) {
            return Found::yes(owner.map_or(scene.command_line(), |inv| inv.text.as_str()));
        }
    }
    Found::No
}

/// `: | tee src/*.ts`
fn is_given_nothing(inv: &Invocation, all: &[Invocation]) -> bool {
    runs(inv, &["tee", "sponge"])
        && !has_flag(inv, "-a")
        && all.iter().any(|other| {
            other.pipeline == inv.pipeline
                && other.stage.checked_add(1) == Some(inv.stage)
                && !runs(other, &["tee", "cp", "truncate"])
                && leaves_nothing(other)
        })
}

/// A database, by the end of its name: emptied, or deleted although it says that it is in use.
fn data_lost<'a>(scene: &Scene<'a>) -> Found<'a> {
    const DATA: &[&str] = &[
        ".db", ".sqlite", ".sqlite3", ".db3", ".mdb", ".rdb", ".aof", ".dump", ".sql", ".bak", ".ldf", ".mdf",
    ];
    const MADE_UP: &[&str] =
        &["test", "tmp", "temp", "dev", "cache", "fixture", "example", "sample", "local", "out"];
    let says = |path: &str, words: &[&str]| {
        let name = path.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
        { name.split(|c: char| !c.is_ascii_alphabetic()) }.any(|word| words.contains(&word))
    };
    // What a tool writes is all of the new file, and is there to be read.
    if !matches!(scene.view.call.action, Action::Shell { .. }) {
        return Found::No;
    }
    for (effect, _) in scene.effects() {
        let Target::Path { path, glob: false, .. } = &effect.target else { continue };
        if !DATA.iter().any(|end| path.len() > end.len() && path.ends_with(end))
            || says(path, MADE_UP)
            || scene.view.facts.places.temp.iter().any(|dir| inside(path, dir))
        {
            continue;
        }
        let owner = writer(scene, &effect.target);
        let lost = match effect.kind {
            EffectKind::FileDeletion => {
                says(path, &["prod", "production", "live", "master"])
                    && owner.is_some_and(|inv| runs(inv, &["rm", "unlink"]))
            }
            _ => owner.is_none_or(leaves_nothing),
        };
        if lost {
            return Found::yes(owner.map_or(scene.command_line(), |inv| inv.text.as_str()));
        }
    }
    Found::No
}

/// Files that are emptied as a matter of course.
fn is_log(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    [".log", ".log*", ".out", ".tmp", ".txt", ".err", ".pid"].iter().any(|end| name.ends_with(end))
        || path.contains("/logs/")
}

/// Outside the project, what is made again or grows by itself.
fn is_cache(path: &str) -> bool {
    ["/.cache/", "/cache/", "/Caches/", "/var/log/", "/tmp/", "/.npm/_"].iter().any(|dir| path.contains(dir))
}

/// Settings with values that no repository holds are overwritten, moved away or deleted.
fn settings_lost<'a>(scene: &Scene<'a>) -> Found<'a> {
    if !matches!(scene.view.call.action, Action::Shell { .. }) {
        return Found::No;
    }
    let replaces = |inv: &Invocation, target: &Target| match inv.program.as_str() {
        "tee" => !has_flag(inv, "-a") && !has_flag(inv, "--append"),
        "cp" | "mv" | "install" | "truncate" | "dd" | "unlink" => true,
        _ => inv.writes.iter().any(|(to, append)| !append && to.text() == target.text()),
    };
    for (effect, classes) in scene.effects() {
        let Target::Path { path, glob: false, .. } = &effect.target else { continue };
        if !is_env_file(path, false) || classes.has(Class::Outside) {
            continue;
        }
        let lost = match effect.kind {
            EffectKind::FileDeletion => true,
            EffectKind::FileModification => {
                owners(scene, &effect.target).any(|inv| replaces(inv, &effect.target))
                    || scene.invocations().is_empty()
            }
            EffectKind::FileRead
            | EffectKind::FileCreation
            | EffectKind::ProcessCreation
            | EffectKind::NetworkRequest
            | EffectKind::SystemCommand
            | EffectKind::SystemModification => false,
        };
        if lost && !scene.view.facts.places.temp.iter().any(|dir| inside(path, dir)) {
            return Found::yes(
                owners(scene, &effect.target).last().map_or(scene.command_line(), |inv| &inv.text),
            );
        }
    }
    Found::No
}

/// The command that writes it; none where nothing but a redirection does.
fn writer<'a>(scene: &Scene<'a>, target: &Target) -> Option<&'a Invocation> {
    const SHOW: &[&str] = &["echo", "printf", "cat"];
    let redirected = |inv: &Invocation| inv.writes.iter().any(|(to, _)| to.text() == target.text());
    let named = owners(scene, target).filter(|inv| !runs(inv, SHOW) || redirected(inv)).last();
    named.or_else(|| {
        let name = target.text().rsplit('/').find(|part| !part.is_empty())?;
        // `sh -c '> data.db'` carries the redirection.
        let names = |arg: &Arg| {
            let before = arg.prefix().split_once(name).map(|(before, _)| before);
            before.is_some_and(|text| !text.trim_end().ends_with('>'))
        };
        scene.invocations().iter().rev().find(|inv| inv.args.iter().any(names))
    })
}

/// A command that writes nothing to what its output goes to, or cuts its operands to nothing.
fn leaves_nothing(inv: &Invocation) -> bool {
    let none = |arg: &Arg| matches!(arg.known(), Some("" | "-n" | "/dev/null"));
    match inv.program.as_str() {
        ":" | "true" => true,
        "cat" => !inv.args.is_empty() && inv.args.iter().all(none),
        "echo" | "printf" => inv.args.iter().all(none),
        "truncate" => flag_value(inv, &["-s", "--size"]).and_then(Arg::known) == Some("0"),
        "cp" => inv.operands.first().and_then(Arg::known) == Some("/dev/null"),
        "tee" => inv.reads.iter().any(|target| target.text() == "/dev/null"),
        _ => false,
    }
}

/// An edit in place that leaves nothing.
fn lines_deleted<'a>(scene: &Scene<'a>) -> Found<'a> {
    const NOTHING: &[&str] =
        &["d", "1,$d", "s/.*//", "s/.*//g", "/./d", "/^/d", "/.*/d", "1~1d", "0,$d", "Q", "1Q"];
    let found = scene.first(EDITORS, |inv| {
        let first = inv.operands.first().map(Arg::text).unwrap_or_default();
        match inv.program.as_str() {
            "perl" => {
                // `-pi`, `-ni.bak`: letters of one cluster, but not the name of a module.
                let in_place = inv.args.iter().any(|arg| {
                    let letters = arg.prefix().strip_prefix('-').unwrap_or_default();
                    let letters = letters.split('.').next().unwrap_or_default();
                    !letters.starts_with(['M', 'm', 'I', 'e', '-'])
                        && letters.bytes().all(|b| b.is_ascii_alphanumeric())
                        && letters.contains('i')
                });
                let clears = |arg: &Arg| {
                    let code: String = arg.text().split_whitespace().collect();
                    matches!(code.trim_end_matches(';'), "undef$_" | "$_=''" | "$_=\"\"" | "$_=undef")
                };
                in_place
                    && (has_flag(inv, "-n") && inv.args.iter().any(|arg| arg.known() == Some(""))
                        || inv.args.iter().any(clears))
            }
            "ex" | "vi" | "vim" | "nvim" => {
                let told: Vec<String> = inv.args.iter().map(Arg::to_text).collect();
                let clears = |text: &str| {
                    let text = text.trim_start_matches([':', '+']).trim_start_matches("bufdo ");
                    let text = text.trim_start_matches("argdo ");
                    matches!(
                        text.split('|').next().unwrap_or_default().trim(),
                        "%d" | "1,$d" | "%delete" | "%d _"
                    )
                };
                let keeps = |text: &str| {
                    ["x", "wq", "w", "wa", "wqa", "xa", "wq!", "x!", "update"]
                        .iter()
                        .any(|word| text.trim_start_matches(':').split('|').any(|part| part.trim() == *word))
                };
                told.iter().any(|text| clears(text)) && told.iter().any(|text| keeps(text))
            }
            "awk" | "gawk" => {
                inv.args.iter().any(|arg| arg.known() == Some("inplace"))
                    && inv.args.iter().any(|arg| matches!(arg.known(), Some("0" | "{}" | "")))
            }
            _ => {
                let in_place = inv.flags.iter().any(|flag| flag.name == "-i" || flag.name == "--in-place");
                in_place && inv.operands.len() > 1 && NOTHING.contains(&&*first)
            }
        }
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// A home, the project or more, named to a program that clears what it is given.
fn cleared<'a>(scene: &Scene<'a>) -> Found<'a> {
    let lost = |arg: &Arg, inv: &Invocation| {
        let home = scene.view.facts.places.home.as_deref();
        let text = arg.text();
        let path = match (text.strip_prefix('~'), home) {
            (Some(rest), Some(home)) => Arg::literal(&format!("{home}{rest}")),
            _ => arg.clone(),
        };
        let classes = classify(&target_of(&path, inv.cwd.as_deref()), EffectKind::FileDeletion, &scene.view);
        classes.any(WIDE) || classes.has(Class::Project)
    };
    let found = scene.first(CLEARERS, |inv| {
        let first = inv.args.iter().filter_map(Arg::known).find(|word| !word.starts_with(['-', '+']));
        match (inv.program.as_str(), first) {
            ("gio", Some("trash")) if has_flag(inv, "--empty") => true,
            ("gio", Some("trash" | "remove")) => inv.args.iter().skip(1).any(|arg| lost(arg, inv)),
            ("gio", _) => false,
            ("cargo", Some("clean")) => {
                let told = inv.args.iter().skip_while(|arg| arg.known() != Some("--target-dir")).nth(1);
                let attached = inv.args.iter().filter_map(|arg| arg.known()?.strip_prefix("--target-dir="));
                // Assignments in front of a command are gone once it is surveyed; the text still has them.
                let line = scene.command_line();
                let by_variable = line.split("CARGO_TARGET_DIR=").skip(1);
                let by_variable = by_variable.filter_map(|rest| rest.split([' ', ';', '\n']).next());
                told.is_some_and(|arg| lost(arg, inv)) || { attached.chain(by_variable) }
                    .any(|dir| lost(&Arg::literal(dir.trim_matches('"')), inv))
            }
            ("cargo", _) => false,
            ("tmpreaper" | "tmpwatch" | "trash-cli" | "trash-put" | "trash" | "rmtrash", _) => {
                inv.args.iter().any(|arg| lost(arg, inv))
            }
            ("fdupes" | "jdupes", _) => {
                let deletes = |arg: &Arg| {
                    arg.prefix() == "--delete" || arg.prefix().starts_with('-') && arg.prefix().contains('d')
                };
                inv.args.iter().any(deletes) && inv.args.iter().any(|arg| lost(arg, inv))
            }
            _ => {
                let deletes = inv.args.iter().any(|arg| arg.known() == Some("-sdel"));
                deletes && inv.args.iter().skip(1).any(|arg| lost(arg, inv))
            }
        }
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

fn unknown_deletions<'s, 'a>(
    scene: &'s Scene<'a>,
) -> impl Iterator<Item = (&'a str, Option<&'a Invocation>)> + 's {
    scene.effects().filter_map(|(effect, _)| match &effect.target {
        Target::UnknownPath { known, recursive: true, .. }
            if effect.kind == EffectKind::FileDeletion && !is_made_again(effect, known) =>
        {
            let deleter = scene.invocations().iter().find(|inv| deletes_unknown(inv));
            Some((known.as_str(), deleter))
        }
        _ => None,
    })
}

/// What is known of it says that it can be made again: more than the directory that it is in.
fn is_made_again(effect: &Effect, known: &str) -> bool {
    effect.disposable && !known.ends_with('/')
}

fn deletes_unknown(inv: &Invocation) -> bool {
    inv.args.iter().any(Arg::has_unknown) && !runs(inv, &["echo", "printf", "export", "read", "test", "["])
}

/// Whether what is known puts it into the project or a temporary directory, whatever comes behind.
fn is_bounded(known: &str, scene: &Scene<'_>) -> bool {
    let target = Target::begun(known, true);
    known.len() > 1 && !classify(&target, EffectKind::FileDeletion, &scene.view).any(&[Class::Outside])
}

fn shown<'a>(known: &'a str, inv: Option<&'a Invocation>) -> Found<'a> {
    Found::yes(inv.map_or(known, |inv| inv.text.as_str()))
}

/// The first command for which `test` holds of those that move a directory of the system or of a home.
fn moves_home<'a>(scene: &Scene<'a>, test: impl Fn(&Invocation) -> bool) -> Found<'a> {
    let found = scene.first(MOVERS, |inv| {
        let count = inv.operands.len().saturating_sub(usize::from(!has_flag(inv, "-t")));
        let wide = |arg: &Arg| {
            let target = target_of(arg, inv.cwd.as_deref());
            classify(&target, EffectKind::FileDeletion, &scene.view).any(WIDE)
        };
        !inv.contained && inv.operands.iter().take(count).any(wide) && test(inv)
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// One hidden thing of the home directory gets another ending: `mv ~/.vimrc ~/.vimrc.bak`.
fn sets_aside(inv: &Invocation, scene: &Scene<'_>) -> bool {
    const ENDS: &[&str] = &[".bak", ".orig", ".old", ".backup", ".save", "-backup", "-old", "~"];
    let [from, to] = inv.operands.as_slice() else { return false };
    let (from, to) = (target_of(from, inv.cwd.as_deref()), target_of(to, inv.cwd.as_deref()));
    let (Target::Path { path, glob: false, .. }, Target::Path { path: to, glob: false, .. }) = (&from, &to)
    else {
        return false;
    };
    let home = scene.view.facts.places.home.as_deref();
    let name = home.and_then(|home| path.strip_prefix(home)).and_then(|name| name.strip_prefix("/."));
    let kept = [Class::Secret, Class::Protected, Class::Keys];
    name.is_some_and(|name| !name.is_empty() && !name.contains('/'))
        && to.strip_prefix(path.as_str()).is_some_and(|end| ENDS.contains(&end))
        && !classify(&from, EffectKind::FileDeletion, &scene.view).any(&kept)
}

fn is_module(target: &Target) -> bool {
    module_of(target).is_some()
}

/// The name of the submodule of which a target is the repository: `.git/modules/vendor/x`.
fn module_of(target: &Target) -> Option<&str> {
    let Target::Path { path, glob: false, .. } = target else { return None };
    path.split_once("/.git/modules/")
        .map(|(_, name)| name.trim_end_matches('/'))
        .filter(|name| !name.is_empty())
}

/// Whether the same call takes the submodule out of the project before: the last step of three.
fn is_taken_out(scene: &Scene<'_>, target: &Target) -> bool {
    let is_it = |arg: &Arg| {
        arg.known()
            .is_some_and(|arg| Some(arg.trim_end_matches('/').trim_start_matches("./")) == module_of(target))
    };
    let takes = |inv: &Invocation| {
        inv.program == "git" && matches!(inv.sub.first().map(String::as_str), Some("rm" | "submodule"))
    };
    scene.invocations().iter().any(|inv| takes(inv) && inv.operands.iter().any(is_it))
}

fn delete_unknown<'a>(scene: &Scene<'a>) -> Found<'a> {
    let mut unbounded = unknown_deletions(scene).filter(|(known, _)| !is_bounded(known, scene));
    let plain = unbounded.find(|(_, inv)| !inv.is_some_and(would_be_root));
    plain.map_or(Found::No, |(known, inv)| shown(known, inv))
}

fn delete_unknown_root<'a>(scene: &Scene<'a>) -> Found<'a> {
    let mut unbounded = unknown_deletions(scene).filter(|(known, _)| !is_bounded(known, scene));
    let root = unbounded.find(|(_, inv)| inv.is_some_and(would_be_root));
    root.map_or(Found::No, |(known, inv)| shown(known, inv))
}

/// With every unknown part empty it deletes `/` or `/*`, and nothing stops the shell then.
fn would_be_root(inv: &Invocation) -> bool {
    inv.operands.iter().any(is_root_when_empty) && !is_guarded(&inv.text)
}

/// With every unknown part empty it would be `/` or `/*`.
fn is_root_when_empty(arg: &Arg) -> bool {
    let mut rest = String::new();
    for piece in &arg.pieces {
        match piece {
            Piece::Known(text) | Piece::Glob(text) => rest.push_str(text),
            Piece::Unknown => {}
        }
    }
    arg.has_unknown() && rest.starts_with('/') && rest.bytes().all(|b| matches!(b, b'/' | b'*' | b'.'))
}

fn delete_file_outside<'a>(scene: &Scene<'a>) -> Found<'a> {
    for (effect, classes) in scene.effects() {
        let Target::Path { path, recursive: false, .. } = &effect.target else { continue };
        let outside =
            classes.has(Class::Outside) && !classes.any(&[Class::System, Class::Protected, Class::Git]);
        if effect.kind != EffectKind::FileDeletion || !outside || effect.disposable {
            continue;
        }
        let owner = owner(scene, &effect.target);
        if owner.is_none_or(|inv| inv.program != "git") {
            return Found::yes(owner.map_or(path.as_str(), |inv| inv.text.as_str()));
        }
    }
    Found::No
}

/// Options with which a search lists only some of what is there.
const FILTERS: &[&str] = &[
    "-name",
    "-iname",
    "-path",
    "-ipath",
    "-wholename",
    "-regex",
    "-iregex",
    "-newer",
    "-mtime",
    "-mmin",
    "-atime",
    "-ctime",
    "-size",
    "-empty",
    "-user",
    "-perm",
];

fn delete_piped<'a>(scene: &Scene<'a>) -> Found<'a> {
    let all = scene.invocations();
    let found = all.iter().find(|inv| {
        let piped = inv.wrappers.iter().any(|name| matches!(name.as_str(), "xargs" | "parallel"));
        let by_code = || {
            inv.program == "perl"
                && has_flag(inv, "-n")
                && inv.args.iter().any(|arg| arg.text().contains("unlink"))
        };
        (piped && runs(inv, &["rm", "rmdir", "unlink", "shred", "truncate", "mv"]) || by_code())
            && all.iter().any(|lister| {
                let before = lister.pipeline == inv.pipeline && lister.stage < inv.stage;
                before && lists_all_of_git(lister) && !is_sifted(lister, scene)
                    || before
                        && (runs(lister, &["find", "ls", "du", "tree"])
                            || runs(lister, FD)
                            || lister.program == "rg" && has_flag(lister, "--files"))
                        && lists_too_much(lister, scene)
                    // All of the machine is searched.
                    || before && runs(lister, &["locate", "plocate", "mlocate", "mdfind"])
            })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// So many directories with what lies in them.
const MANY_DIRS: usize = 3;

/// As many directories right below a root of work, each deleted as a whole by the same call.
fn top_deleted<'a>(scene: &Scene<'a>) -> Found<'a> {
    let facts = &scene.view.facts;
    let mut tops: Vec<&str> = Vec::new();
    for (effect, classes) in scene.effects() {
        let Target::Path { path, glob, recursive } = &effect.target else { continue };
        if effect.kind != EffectKind::FileDeletion || effect.disposable || classes.has(Class::Project) {
            continue;
        }
        // `src/**` is all of `src`.
        let whole = if *glob { path.strip_suffix("/**") } else { Some(path.as_str()).filter(|_| *recursive) };
        let Some(top) = whole.filter(|top| !top.contains(['*', '?', '['])) else { continue };
        let below = facts.places.roots().any(|root| {
            top.strip_prefix(root)
                .and_then(|rest| rest.strip_prefix('/'))
                .is_some_and(|name| !name.contains('/'))
        });
        let missing = facts.path(top).is_some_and(|fact| fact.kind != PathKind::Directory);
        if below && !missing && !tops.contains(&top) {
            tops.push(top);
            if tops.len() >= MANY_DIRS {
                return Found::Yes(scene.command_line().to_owned().into());
            }
        }
    }
    Found::No
}

/// `git ls-files` without a name lists every file of the project, and with `-o` those that git cannot bring back.
fn lists_all_of_git(lister: &Invocation) -> bool {
    let spared = ["-d", "--deleted", "-i", "--ignored"].iter().any(|flag| has_flag(lister, flag));
    lister.program == "git"
        && lister.sub.first().is_some_and(|sub| sub == "ls-files")
        && lister.operands.is_empty()
        && !spared
}

/// `ls | grep '\.bak$'`: by name.
fn is_sifted(lister: &Invocation, scene: &Scene<'_>) -> bool {
    scene.invocations().iter().any(|other| {
        let behind = other.pipeline == lister.pipeline && other.stage > lister.stage;
        let pattern = other.operands.first().and_then(Arg::known).unwrap_or_default();
        behind
            && runs(other, &["grep", "egrep", "rg"])
            && !has_flag(other, "-v")
            && !of_names(pattern).is_empty()
    })
}

/// Of a copy the target decides; of one to another machine the source as well.
fn mirrored<'a>(scene: &Scene<'a>) -> Found<'a> {
    const DELETES: &[&str] =
        &["--delete", "--delete-before", "--delete-after", "--delete-during", "--delete-excluded", "--del"];
    let found = scene.first(&["rsync"], |inv| {
        let lost = |arg: &Arg| {
            let target = target_of(arg, inv.cwd.as_deref());
            let lies = classify(&target, EffectKind::FileDeletion, &scene.view);
            lies.any(WIDE) || lies.any(&[Class::Project, Class::Outside])
        };
        let here = inv.operands.last().is_some_and(|arg| !arg.has_unknown() && !arg.prefix().contains(':'));
        let skipped = if here { inv.operands.len().saturating_sub(1) } else { 0 };
        DELETES.iter().any(|flag| has_flag(inv, flag))
            && !["-n", "--dry-run"].iter().any(|flag| has_flag(inv, flag))
            && inv.operands.iter().skip(skipped).any(lost)
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// Searches whose first operand is what they look for.
const FD: &[&str] = &["fd", "fdfind"];

fn lists_too_much(lister: &Invocation, scene: &Scene<'_>) -> bool {
    let filtered = FILTERS.iter().any(|filter| has_flag(lister, filter));
    let sifted = is_sifted(lister, scene);
    let here = Arg::literal(".");
    // The first operand of `fd` is a pattern.
    let operands = lister.operands.get(usize::from(runs(lister, FD))..).unwrap_or_default();
    let named = operands.iter().filter(|arg| !arg.prefix().is_empty());
    let places: Vec<&Arg> = if operands.is_empty() { vec![&here] } else { named.collect() };
    let pattern = lister.operands.first().and_then(Arg::known).filter(|_| runs(lister, FD));
    let ending = || runs(lister, FD) && flag_value(lister, &["-e", "--extension"]).is_some();
    let sought = pattern.is_some_and(|pattern| !of_names(pattern).is_empty()) || ending();
    !filtered
        && !sought
        && places.iter().any(|arg| {
            let target = target_of(arg, lister.cwd.as_deref());
            let classes = classify(&target, EffectKind::FileDeletion, &scene.view);
            classes.any(WIDE) || (classes.has(Class::Project) && !sifted)
        })
}

fn changed_at<'a>(scene: &Scene<'a>, test: impl Fn(&Target) -> bool) -> Found<'a> {
    for (effect, classes) in scene.effects() {
        if CHANGES.contains(&effect.kind) && classes.has(Class::System) && test(&effect.target) {
            return Found::yes(
                owner(scene, &effect.target).map_or(effect.target.text(), |inv| inv.text.as_str()),
            );
        }
    }
    Found::No
}

fn is_etc(target: &Target) -> bool {
    crate::rules::matcher::at(target, &[At::Abs("/etc"), At::Abs("/private/etc")], None)
}

fn write_system<'a>(scene: &Scene<'a>) -> Found<'a> {
    changed_at(scene, |target| {
        !is_etc(target)
            && crate::rules::matcher::at(target, lists::SYSTEM_CORE, None)
            && !everyday::is_tuned_file(target.text())
            && !everyday::is_device_setting(target)
    })
}

fn write_etc<'a>(scene: &Scene<'a>) -> Found<'a> {
    changed_at(scene, |target| is_etc(target) && !crate::rules::matcher::at(target, CRITICAL_ETC, None))
}

fn chown_outside<'a>(scene: &Scene<'a>) -> Found<'a> {
    const ONE: &[Class] = &[Class::Root, Class::System, Class::Home, Class::Users, Class::Device];
    const TREE: &[Class] = &[Class::Outside, Class::Device];
    let found = scene.first(CHOWN, |inv| {
        let tree = has_flag(inv, "-R") || has_flag(inv, "--recursive");
        let lies = |arg: &Arg| {
            let target = target_of(arg, inv.cwd.as_deref());
            let found = classify(&target, EffectKind::FileDeletion, &scene.view);
            match tree {
                _ if inv.contained => found.has(Class::Device),
                true => found.any(WIDE) || found.any(TREE),
                false => found.any(ONE),
            }
        };
        !asks_for_help(inv)
            && inv.operands.iter().any(lies)
            && !takes_back(inv, scene)
            && !is_of_new_directories(inv, scene)
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// Only directories change hands that the call itself makes, each by its own name.
fn is_of_new_directories(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let files = inv.operands.get(1..).unwrap_or_default();
    let made = |arg: &Arg| {
        let Target::Path { path, glob: false, .. } = target_of(arg, inv.cwd.as_deref()) else { return false };
        let is_new = scene.view.facts.path(&path).is_none_or(|fact| fact.kind == PathKind::Missing);
        let makes = |other: &&Invocation| {
            other.program == "mkdir"
                && other.operands.iter().any(|made| target_of(made, other.cwd.as_deref()).text() == path)
        };
        is_new
            && scene
                .invocations()
                .iter()
                .take_while(|other| !std::ptr::eq(*other, inv))
                .any(|other| makes(&other))
    };
    !files.is_empty() && files.iter().all(made)
}

/// What was unpacked or installed beside the system by one person, by its own directory: that is theirs to give.
fn is_given(path: &str) -> bool {
    const BELOW: &[(&str, usize)] = &[("/opt", 2), ("/srv", 2), ("/var/www", 3), ("/usr/local", 4)];
    let depth = path.split('/').filter(|part| !part.is_empty()).count();
    BELOW.iter().any(|(dir, least)| inside(path, dir) && depth >= *least)
}

/// What lies in the person's own home directory is given back to the person.
fn takes_back(inv: &Invocation, scene: &Scene<'_>) -> bool {
    const ONESELF: &[&str] =
        &["$USER", "${USER}", "$LOGNAME", "$(whoami)", "`whoami`", "$(id -u", "$(id -un", "$UID", "${UID}"];
    let places = &scene.view.facts.places;
    let Some(((owner, files), home)) = inv.operands.split_first().zip(places.home.as_deref()) else {
        return false;
    };
    let oneself = match owner.known() {
        Some(name) => places.user.as_deref() == name.split([':', '.']).next(),
        None => ONESELF.iter().any(|spelling| inv.text.contains(spelling)),
    };
    let own = |arg: &Arg| match target_of(arg, inv.cwd.as_deref()) {
        Target::Path { path, glob, .. } => {
            inside(&path, home) && path.len() > home.len() || !glob && is_given(&path)
        }
        Target::UnknownPath { .. } | Target::Url(_) | Target::Command(_) | Target::None => false,
    };
    oneself && inv.program == "chown" && !inv.contained && files.iter().all(own)
}

fn chmod_lockout<'a>(scene: &Scene<'a>) -> Found<'a> {
    const MODES: &[&str] = &[
        "000", "0000", "0", "a-rwx", "a-r", "a-w", "a-rw", "ugo-rwx", "ugo-w", "ugo-r", "-rwx", "-r", "-w",
        "u-w", "u-r", "u-rwx", "a=", "u=",
    ];
    let found = scene.first(CHMOD, |inv| {
        let mode = inv.args.iter().any(|arg| arg.known().is_some_and(|mode| MODES.contains(&mode)));
        mode && inv.operands.iter().any(|arg| {
            let target = target_of(arg, inv.cwd.as_deref());
            let classes = classify(&target, EffectKind::FileDeletion, &scene.view);
            classes.any(&[Class::Project, Class::Git])
        })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

fn truncated<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(EMPTIERS, |inv| {
        let empties = match inv.program.as_str() {
            "cp" => inv.operands.first().and_then(Arg::known) == Some("/dev/null"),
            _ => {
                (has_flag(inv, "-s") || has_flag(inv, "--size"))
                    && flag_value(inv, &["-s", "--size"]).and_then(Arg::known) == Some("0")
            }
        };
        empties && inv.operands.iter().any(|arg| is_lasting(arg, inv, scene))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// A file in the project, not in a temporary directory.
fn is_lasting(arg: &Arg, inv: &Invocation, scene: &Scene<'_>) -> bool {
    let target = target_of(arg, inv.cwd.as_deref());
    let path = target.text();
    !path.starts_with("/dev/") && !scene.view.facts.places.temp.iter().any(|dir| inside(path, dir))
}
