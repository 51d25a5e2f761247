//! What is started by the system: services and jobs.

use super::WRITES;
use crate::domain::{Action, Target};
use crate::rules::Invocation;
use crate::rules::builtin::lists;
use crate::rules::matcher::{Classes, Found, Scene, at, has_flag, runs};
use crate::shell::Arg;

const CRONTAB: &[&str] = &["crontab"];

const ENABLERS: &[&str] = &["systemctl", "rc-update", "chkconfig", "update-rc.d"];

words!("builtin/persistence/scheduled");

fn crontab_from_stdin(inv: &Invocation) -> bool {
    inv.operands.is_empty()
        && !["-l", "-r", "-e", "-V", "--help", "-h"].iter().any(|flag| has_flag(inv, flag))
}

/// Whether a unit is one that some package brings along.
fn is_known_unit(name: &str) -> bool {
    let stem = name.split('@').next().unwrap_or_default();
    let stem = [".service", ".socket", ".timer", ".target"]
        .iter()
        .find_map(|end| stem.strip_suffix(end))
        .unwrap_or(stem);
    // `php8.2-fpm`, `postgresql-16`, `apache2`.
    let bare: String = stem.chars().filter(|c| !c.is_ascii_digit() && *c != '.').collect();
    let bare = bare.trim_end_matches('-');
    KNOWN_UNITS.contains(&stem) || KNOWN_UNITS.contains(&bare)
}

/// A unit switched on that no package brings along, or that is named by its path.
fn unknown_enabled(inv: &Invocation) -> bool {
    const SAYS: &[&str] = &[
        "enable", "reenable", "preset", "link", "add", "on", "defaults", "default", "boot", "start", "--add",
    ];
    let words = || inv.sub.iter().map(String::as_str).chain(inv.args.iter().filter_map(Arg::known));
    let systemd = inv.program == "systemctl";
    let on = match inv.program.as_str() {
        "systemctl" => words().any(|word| matches!(word, "enable" | "reenable" | "link")),
        "rc-update" => words().any(|word| matches!(word, "add" | "-a")),
        "update-rc.d" => words().any(|word| matches!(word, "defaults" | "enable")),
        _ => words().any(|word| matches!(word, "on" | "--add")),
    };
    let level = |word: &str| !systemd && word.bytes().all(|b| b.is_ascii_digit());
    on && (inv.args.iter().any(Arg::has_unknown)
        || words().any(|word| {
            let named = !word.starts_with('-') && !SAYS.contains(&word) && !level(word);
            named && !is_known_unit(word)
        }))
}

/// A line of a startup file that runs a program, and does not only set, name or load something.
fn runs_command(line: &str) -> bool {
    let line = line.trim();
    if line.starts_with('#') {
        return false;
    }
    let mut words = line.trim_start_matches(['(', '{', ' ']).split_whitespace();
    let Some(first) = words.next() else { return false };
    let asks = first == "command" && words.next() == Some("-v");
    // What stands alone may be a directory that `autocd` enters, but nobody adds that.
    let by_path = first.contains('/') && !first.contains('=');
    let end = line.trim_end_matches(['"', '\'', '}', ';', ' ']);
    by_path || JOB_RUNNERS.contains(&first) && !asks || end.ends_with('&') && !end.ends_with("&&")
}

/// What is written to a startup file of the person's shell runs a command, or was not to be read.
fn startup_command<'a>(scene: &Scene<'a>) -> Found<'a> {
    let home = scene.view.facts.places.home.as_deref();
    let starts = |target: &Target| at(target, lists::SHELL_STARTUP, home);
    match &scene.view.call.action {
        Action::Write { path, content, .. } | Action::Edit { path, content, .. } => {
            let target = Target::Path { path: path.clone(), glob: false, recursive: false };
            let hit = content.lines().take(4096).any(runs_command) && starts(&target);
            return if hit { Found::yes(path) } else { Found::No };
        }
        Action::Shell { .. }
        | Action::Read { .. }
        | Action::Search { .. }
        | Action::Fetch { .. }
        | Action::Spawn { .. }
        | Action::Other { .. } => {}
    }
    let starting = |(index, (effect, _)): (usize, (&crate::domain::Effect, Classes))| {
        WRITES.contains(&effect.kind)
            && scene.may_be_at(index)
            && scene.is_at(index, effect, lists::SHELL_STARTUP)
    };
    if !scene.effects().enumerate().any(starting) {
        return Found::No;
    }
    let said = scene.view.survey.written.iter().any(|(path, text)| {
        let target = Target::Path { path: path.clone(), glob: false, recursive: false };
        starts(&target) && text.text().lines().any(runs_command)
    });
    let unread = || {
        scene.invocations().iter().any(|writer| {
            let into = writer.writes.iter().any(|(target, _)| starts(target)) || writer.program == "tee";
            into && scene.invocations().iter().any(|inv| {
                inv.pipeline == writer.pipeline
                    && (runs(
                        inv,
                        &["base64", "base32", "xxd", "openssl", "uudecode", "gunzip", "zcat", "gpg"],
                    ) || runs(inv, lists::DOWNLOADERS))
            })
        })
    };
    if said || unread() { Found::yes(scene.command_line()) } else { Found::No }
}
