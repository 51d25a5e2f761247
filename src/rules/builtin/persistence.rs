//! Persistence: what makes code run later, without the agent and without being asked.

pub(super) mod loaded;
pub(super) mod scheduled;

use super::{everyday, lists, predicate, run};
use crate::domain::{Action, EffectKind, Severity, Target, Verdict};
use crate::rules::Stdin;
use crate::rules::matcher::{
    At, Command, EFFECT, Found, Instead, OnEffect, RULE, Rule, Scene, Trigger, When, at, find_but, has_flag,
    input_of, runs, squeeze,
};

const WRITES: &[EffectKind] = &[EffectKind::FileCreation, EffectKind::FileModification];

const fn written(at: &'static [At]) -> When {
    When::Effect(OnEffect { kinds: WRITES, at, except: &["mkdir"], ..EFFECT })
}

const SSH_CONFIG: &[At] = &[At::Home(".ssh/config"), At::Home(".ssh/config.d")];

const SCHEDULERS: &[&str] = &["crontab", "at", "batch", "systemd-run"];

words!("builtin/persistence");

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "persistence.shell-startup",
        verdict: Verdict::Modify,
        reason: "changes a file that every new shell of the person runs",
        instead: Some(Instead::Advice(
            "set the variable for the one command, or print the line for the person to add",
        )),
        when: &[written(lists::SHELL_STARTUP)],
        ..RULE
    },
    Rule {
        id: "persistence.planted-command",
        severity: Severity::Critical,
        reason: "plants a command that runs by itself and reaches for the network, hides, or takes the place of another",
        instead: Some(Instead::Advice("print the line for the person to read and add")),
        when: &[
            predicate("hostile_line_in_a_startup_file", Trigger::kinds(WRITES), hostile_startup),
            predicate("hostile_job_given_to_a_scheduler", Trigger::programs(SCHEDULERS), hostile_job),
        ],
        ..RULE
    },
    Rule {
        id: "persistence.system-startup",
        severity: Severity::Critical,
        reason: "changes what every shell or start of the machine runs",
        instead: Some(Instead::Advice("print the change for the person to make")),
        when: &[predicate("startup_of_the_system_written", Trigger::kinds(WRITES), |scene| {
            const STARTUP: OnEffect = OnEffect { kinds: WRITES, at: lists::SYSTEM_STARTUP, ..EFFECT };
            find_but(&STARTUP, scene, |inv, target| everyday::keeps_tuned(inv, target, scene))
        })],
        ..RULE
    },
    Rule {
        id: "persistence.authorized-keys",
        severity: Severity::Critical,
        reason: "lets somebody log in to this machine with a key",
        instead: Some(Instead::Advice("print the public key for the person to add")),
        when: &[When::Effect(OnEffect {
            kinds: WRITES,
            at: &[At::Name(".ssh/authorized_keys"), At::Name(".ssh/authorized_keys2")],
            // `ssh-keygen -l -f` shows a fingerprint; another mode or owner adds no key.
            except: &["ssh-keygen", "chmod", "chown"],
            ..EFFECT
        })],
        ..RULE
    },
    Rule {
        id: "persistence.code-writes-startup",
        reason: "has an interpreter change a file that starts by itself",
        instead: Some(Instead::Advice("print the line for the person to add")),
        when: &[predicate("startup_file_written_by_code", Trigger::INTERPRETER, code_writes_startup)],
        ..RULE
    },
    Rule {
        id: "persistence.ssh-config",
        verdict: Verdict::Modify,
        reason: "changes what ssh runs and whom it trusts",
        instead: Some(Instead::Advice(
            "write the setting into a file of the project, and name that file to ssh with -F",
        )),
        when: &[When::Effect(OnEffect {
            kinds: WRITES,
            at: &[
                At::Home(".ssh/config"),
                At::Home(".ssh/config.d"),
                At::Home(".ssh/rc"),
                At::Home(".ssh/environment"),
                At::Home(".ssh/known_hosts"),
            ],
            // Another mode changes nothing of what ssh runs.
            except: &["chmod"],
            ..EFFECT
        })],
        ..RULE
    },
    Rule {
        id: "persistence.ssh-copy-id",
        verdict: Verdict::Modify,
        severity: Severity::Medium,
        reason: "lets a key of this machine log in to another",
        instead: Some(Instead::Advice("let the person install the key")),
        when: &[When::Command(Command {
            without: &["-n"],
            ..run(&["ssh-copy-id", "ssh-import-id", "ssh-import-id-gh"])
        })],
        ..RULE
    },
];

fn is_hostile(text: &str) -> bool {
    HOSTILE.iter().any(|word| text.contains(word))
}

/// Files that start by themselves.
pub(super) const STARTUP: &[&[At]] = &[
    lists::SHELL_STARTUP,
    lists::SERVICES,
    lists::CRON,
    lists::TOOL_STARTUP,
    lists::SYSTEM_STARTUP,
    lists::GIT_HOOKS,
    SSH_CONFIG,
];

/// What is written to a file that starts by itself holds a command that nobody puts there for a good reason.
fn hostile_startup<'a>(scene: &Scene<'a>) -> Found<'a> {
    let home = scene.view.facts.places.home.as_deref();
    let starts = |path: &str| {
        let path = match (path.strip_prefix('~'), home) {
            (Some(rest), Some(home)) => format!("{home}{rest}"),
            _ => path.to_owned(),
        };
        let target = Target::Path { path, glob: false, recursive: false };
        STARTUP.iter().any(|places| at(&target, places, home))
    };
    match &scene.view.call.action {
        Action::Write { path, content, .. } | Action::Edit { path, content, .. } => {
            return if starts(path) && is_hostile(content) { Found::yes(path) } else { Found::No };
        }
        Action::Shell { .. }
        | Action::Read { .. }
        | Action::Search { .. }
        | Action::Fetch { .. }
        | Action::Spawn { .. }
        | Action::Other { .. } => {}
    }
    let named = scene.effects().enumerate().any(|(index, (effect, _))| {
        WRITES.contains(&effect.kind)
            && scene.may_be_at(index)
            && STARTUP.iter().any(|places| scene.is_at(index, effect, places))
    });
    // What is written stands in the command line, in front of the name of the file.
    let found = named
        && scene.invocations().iter().any(|inv| {
            let prints =
                runs(inv, &["echo", "printf", "cat", "tee", "sed", "perl", "awk", "ed", "ex", "ruby"]);
            prints
                && (inv.args.iter().any(|arg| is_hostile(&arg.text()))
                    || input_of(inv, scene).iter().any(|text| is_hostile(text)))
        });
    if found { Found::yes(scene.command_line()) } else { Found::No }
}

/// A job that comes from the command line itself.
fn hostile_job<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(SCHEDULERS, |inv| {
        let reads = inv.program != "systemd-run" && !has_flag(inv, "-l") && !has_flag(inv, "-r");
        // Of a group in front of the pipe every command prints a part.
        let piped = || {
            scene.invocations().iter().filter(|other| {
                matches!(inv.stdin, Stdin::Pipe) && other.pipeline == inv.pipeline && other.stage < inv.stage
                    || runs(other, &["echo", "printf"]) && scene.command_line().contains("| crontab")
            })
        };
        reads
            && (input_of(inv, scene).iter().any(|text| is_hostile(text))
                || piped().any(|other| {
                    runs(other, &["echo", "printf", "cat"])
                        && other.args.iter().any(|arg| is_hostile(&arg.text()))
                }))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// Code of the call itself that opens a startup file for writing.
fn code_writes_startup<'a>(scene: &Scene<'a>) -> Found<'a> {
    const FILES: &[&str] = &[
        "/.bashrc",
        "/.zshrc",
        "/.profile",
        "/.bash_profile",
        "/.zshenv",
        "/.zprofile",
        "/.bash_login",
        "authorized_keys",
        "/.config/autostart",
        "/LaunchAgents/",
        "/.config/systemd/user",
        "/etc/cron",
        "/.ssh/config",
        "/.vimrc",
        "/.gitconfig",
        "/.config/fish",
        "/.bash_aliases",
        "/.xprofile",
        "usercustomize",
        "sitecustomize",
    ];
    const BARE: &[&str] = &[".bashrc", ".zshrc", ".profile", ".bash_profile"];
    const WRITES: &[&str] = &[
        "'a'",
        "\"a\"",
        "'w'",
        "\"w\"",
        "'a+'",
        "\"a+\"",
        "'w+'",
        ">>",
        "write_text",
        "writefile",
        "appendfile",
        "file.write",
        "file_append",
        "file_put_contents",
        "copy-file",
        "copy(",
        "copyfile",
        "files.write",
        "\">",
        "'>",
    ];
    scene.code_where(|codes, _| {
        codes.iter().take(4).any(|text| {
            let lower = text.to_ascii_lowercase();
            let home = ["home", "expand", "~"].iter().any(|word| lower.contains(word));
            let named = || {
                let squeezed = squeeze(text);
                FILES.iter().any(|file| text.contains(file))
                    || squeezed.contains(".sshauthorized_keys")
                    || home && BARE.iter().any(|file| text.contains(file))
            };
            // `*.pth` beside the libraries runs with every start of the interpreter.
            let started = || lower.contains(".pth") && lower.contains("site");
            let timed = lower.contains("crontab(") && lower.contains(".new(") && lower.contains(".write(");
            timed || WRITES.iter().any(|word| lower.contains(word)) && (named() || started())
        })
    })
}
