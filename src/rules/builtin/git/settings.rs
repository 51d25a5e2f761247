//! Settings that make git run a program: judged by the command that they hold.

use super::{GIT, is_git};
use crate::domain::{EffectKind, Verdict};
use crate::rules::Invocation;
use crate::rules::builtin::code::shell_text::{fed, has_known_programs, shell};
use crate::rules::matcher::{Found, Scene, has_flag, inner_survey, inner_verdict};
use crate::rules::survey::setting_command;
use crate::shell::Arg;

words!("builtin/git/settings");

/// Whose setting it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// This repository's, or one call's: what it has run is judged like a call.
    Here,
    /// The user's or the machine's.
    Wide,
}

/// Whether a setting of this repository, or of one call, has git run what would not be let run as a call, or what is not known.
pub(in crate::rules::builtin) fn is_stopped(
    scene: &Scene<'_>,
    (key, value): (&str, Option<&str>),
    cwd: &str,
) -> bool {
    stops(scene, (key, value), (Reach::Here, cwd))
}

fn stops(scene: &Scene<'_>, (key, value): (&str, Option<&str>), (reach, cwd): (Reach, &str)) -> bool {
    if value.is_some_and(|value| HARMLESS.contains(&value.trim())) {
        return false;
    }
    let key = key.to_ascii_lowercase();
    let reaches = REACHING.iter().any(|(front, back)| {
        if front.ends_with('.') { key.starts_with(front) && key.ends_with(back) } else { key == *front }
    });
    // What is set is not known: an alias may be anything, and so may a command.
    let Some(value) = value else {
        return reaches || setting_command(&Arg::literal(&format!("{key}=!unknown"))).is_some();
    };
    if key.starts_with("alias.") && !value.starts_with('!') {
        return false;
    }
    if key == "core.hookspath" && reach == Reach::Here {
        // The hooks in a directory of the project are looked at by themselves.
        return value.starts_with(['/', '~']) || value.split('/').any(|part| part == "..");
    }
    let Some(command) = setting_command(&Arg::literal(&format!("{key}={value}"))) else { return reaches };
    reaches || reach == Reach::Wide || !is_let_run(scene, &key, command.text().trim(), cwd)
}

/// Whether git may run a command by a setting of that name.
fn is_let_run(scene: &Scene<'_>, key: &str, command: &str, cwd: &str) -> bool {
    let verdict = |line: String| inner_verdict(scene, &shell(line), cwd);
    // Git puts arguments behind it.
    let given = format!("{command} \"$arguments\"");
    if verdict(given.clone()) >= Verdict::Modify {
        return false;
    }
    if key.starts_with("alias.") {
        return true;
    }
    if EDITORS.contains(&key) {
        return edits_by_pattern(scene, command, cwd) || only_shows(scene, given, cwd);
    }
    // Or hands it text.
    verdict(fed(command)) < Verdict::Modify && has_known_programs(scene, given, cwd)
}

/// Settings that name a program which changes what git does next.
const EDITORS: &[&str] = &["core.editor", "sequence.editor"];

/// Whether a command line changes nothing.
fn only_shows(scene: &Scene<'_>, line: String, cwd: &str) -> bool {
    inner_survey(scene, &shell(line.clone()), cwd, |survey| {
        survey.effects.iter().all(|effect| effect.kind == EffectKind::FileRead)
    }) && has_known_programs(scene, line, cwd)
}

fn config_executes<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.invocations().iter().find(|inv| {
        inv.program == "git"
            && (one_call_setting(scene, inv) || is_git(inv, "config") && lasting_setting(scene, inv))
    });
    match found {
        Some(inv) => Found::yes(&inv.text),
        None => rebase_made_to_run(scene),
    }
}

fn cwd_of<'i>(scene: &'i Scene<'_>, inv: &'i Invocation) -> &'i str {
    inv.cwd.as_deref().unwrap_or(scene.view.cwd)
}

/// Whether a list of commits, or what is put into one, has commands that would not be let run.
fn runs_stopped(scene: &Scene<'_>, text: &str, cwd: &str) -> bool {
    const RUN: &[&str] = &["exec ", "/x ", "ix ", "ax ", "\\x "];
    let stopped = |line: &str| inner_verdict(scene, &shell(line.trim().to_owned()), cwd) >= Verdict::Modify;
    RUN.iter().filter_map(|word| text.split_once(word)).any(|(_, rest)| {
        let line = rest.split('\n').next().unwrap_or_default();
        stopped(line) || line.rsplit_once('/').is_some_and(|(front, _)| stopped(front))
    })
}

/// `GIT_SEQUENCE_EDITOR="sed -i '1iexec …'" git rebase -i`: the list of commits is given commands to run, and they may not run.
fn rebase_made_to_run<'a>(scene: &Scene<'a>) -> Found<'a> {
    const EDITORS: &[&str] = &["sed", "gsed", "perl", "awk", "gawk"];
    let Some(rebase) = scene.first(GIT, |inv| is_git(inv, "rebase")) else { return Found::No };
    let cwd = cwd_of(scene, rebase);
    let found = scene.first(EDITORS, |inv| inv.args.iter().any(|arg| runs_stopped(scene, &arg.text(), cwd)));
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// `git -c key=value …`.
fn one_call_setting(scene: &Scene<'_>, inv: &Invocation) -> bool {
    let mut args = inv.args.iter();
    let mut values: Vec<&Arg> = Vec::new();
    let mut named: Vec<String> = Vec::new();
    while let Some(arg) = args.next() {
        match arg.known() {
            Some("-c") => values.extend(args.next()),
            Some("--config-env") => named.extend(args.next().map(Arg::to_text)),
            Some(option) if option.starts_with("--config-env=") => {
                named.extend(option.split_once('=').map(|(_, setting)| setting.to_owned()));
            }
            Some(option) if option.starts_with("--exec-path=") => return !option.contains("=/usr/"),
            Some(sub) if inv.sub.first().is_some_and(|first| first == sub) => break,
            _ => {}
        }
    }
    let cwd = cwd_of(scene, inv);
    // What the variable holds stands as an option too, where it is known.
    let is_read = |key: &str| {
        values.iter().any(|arg| arg.prefix().strip_prefix(key).is_some_and(|rest| rest.starts_with('=')))
    };
    let unread = named.iter().map(|setting| setting.split('=').next().unwrap_or_default());
    unread.filter(|key| !is_read(key)).any(|key| is_stopped(scene, (key, None), cwd))
        || values.iter().any(|arg| {
            let text = arg.text();
            let (key, value) = text.split_once('=').unwrap_or((&*text, "true"));
            is_stopped(scene, (key, (!arg.has_unknown()).then_some(value)), cwd)
        })
}

/// `-c core.editor="sed -i s/a/b/"`: the message or the list of commits is changed by a pattern, and what that has run may run.
fn edits_by_pattern(scene: &Scene<'_>, value: &str, cwd: &str) -> bool {
    let expression = value.strip_prefix("sed -i ").or_else(|| value.strip_prefix("sed -i.bak "));
    expression.is_some_and(|text| {
        let text = text.trim();
        let quoted = text.strip_prefix('\'').and_then(|text| text.strip_suffix('\''));
        let plain = match quoted {
            Some(inside) => !inside.contains(['\'', '\n']),
            None => !text.contains(['\'', '"', '`', ';', '|', '&', '\n', '(', '>', '<']),
        };
        let text = quoted.unwrap_or(text);
        let becomes = text.split('/').nth(2).unwrap_or_default();
        // `exec` and `x` are what the list of commits runs.
        let runs = format!("\n{becomes}").replace("\nx ", "\nexec ");
        let address = text.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, ',' | '$'));
        plain
            && !runs_stopped(scene, &runs, cwd)
            && address.starts_with("s/")
            && text.matches('/').count() == 3
            && matches!(text.rsplit('/').next(), Some("" | "g" | "I"))
    })
}

/// `git config key value`, `git config set key value`.
fn lasting_setting(scene: &Scene<'_>, inv: &Invocation) -> bool {
    let reads =
        ["--get", "--get-all", "--get-regexp", "--list", "-l", "--unset", "--unset-all", "--remove-section"];
    if reads.iter().any(|flag| has_flag(inv, flag)) || has_flag(inv, "-e") || has_flag(inv, "--edit") {
        return false;
    }
    let nested = inv.sub.iter().skip(1).map(String::as_str);
    let words: Vec<&str> = nested.chain(inv.operands.iter().map(Arg::prefix)).collect();
    let words = match words.first() {
        Some(&"set") => words.get(1..).unwrap_or_default(),
        Some(&("get" | "list" | "unset" | "edit" | "remove-section" | "rename-section")) => return false,
        _ => words.as_slice(),
    };
    let known = inv.operands.last().is_some_and(|arg| !arg.has_unknown());
    let wide = ["--global", "--system", "--file", "-f", "--blob"].iter().any(|flag| has_flag(inv, flag));
    let reach = if wide { Reach::Wide } else { Reach::Here };
    match words {
        [key, value, ..] => stops(scene, (key, known.then_some(*value)), (reach, cwd_of(scene, inv))),
        _ => false,
    }
}
