//! Persistence: what makes code run later, without the agent and without being asked.

pub(super) mod loaded;
pub(super) mod scheduled;

use super::{everyday, lists};
use crate::domain::{Action, EffectKind, Target};
use crate::rules::Invocation;
use crate::rules::Stdin;
use crate::rules::matcher::{
    At, EFFECT, Found, OnEffect, Scene, at, find_but, has_flag, input_of, runs, squeeze,
};

const WRITES: &[EffectKind] = &[EffectKind::FileCreation, EffectKind::FileModification];

const SSH_CONFIG: &[At] = &[At::Home(".ssh/config"), At::Home(".ssh/config.d")];

const SCHEDULERS: &[&str] = &["crontab", "at", "batch", "systemd-run"];

words!("builtin/persistence");

fn startup_of_the_system_written<'a>(scene: &Scene<'a>) -> Found<'a> {
    const STARTUP: OnEffect = OnEffect { kinds: WRITES, at: lists::SYSTEM_STARTUP, ..EFFECT };
    find_but(&STARTUP, scene, |inv, target| everyday::keeps_tuned(inv, target, scene))
}

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
fn hostile_job(inv: &Invocation, scene: &Scene<'_>) -> bool {
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
}

/// Code of the call itself that opens a startup file for writing.
fn code_writes_startup<'a>(scene: &Scene<'a>) -> Found<'a> {
    const BARE: &[&str] = &[".bashrc", ".zshrc", ".profile", ".bash_profile"];
    scene.code_where(|codes, _| {
        codes.iter().take(4).any(|text| {
            let lower = text.to_ascii_lowercase();
            let home = ["home", "expand", "~"].iter().any(|word| lower.contains(word));
            let named = || {
                let squeezed = squeeze(text);
                STARTUP_FILES.iter().any(|file| text.contains(file))
                    || squeezed.contains(".sshauthorized_keys")
                    || home && BARE.iter().any(|file| text.contains(file))
            };
            // `*.pth` beside the libraries runs with every start of the interpreter.
            let started = || lower.contains(".pth") && lower.contains("site");
            let timed = lower.contains("crontab(") && lower.contains(".new(") && lower.contains(".write(");
            timed || WRITING_MODES.iter().any(|word| lower.contains(word)) && (named() || started())
        })
    })
}
