//! What tells later what happened: logs and histories.

use super::GONE;
use crate::domain::EffectKind;
use crate::rules::Invocation;
use crate::rules::builtin::{libraries, lists, texts};
use crate::rules::matcher::{Class, Found, Scene, classify, flag_value, has_flag, target_of};
use crate::shell::{Arg, Assign, Part, Word};

words!("builtin/system/traces");

const JOURNAL: &[&str] = &["journalctl"];

/// The journal is cut back; with `trimmed`, to what still tells of some days, else to less.
fn journal_cut<'a>(scene: &Scene<'a>, trimmed: bool) -> Found<'a> {
    const CUTS: &[&str] = &["--vacuum-time", "--vacuum-size", "--vacuum-files"];
    let found = scene.first(JOURNAL, |inv| {
        let mut cuts = CUTS.iter().filter(|cut| has_flag(inv, cut)).peekable();
        cuts.peek().is_some()
            && trimmed
                == cuts.all(|cut| {
                    flag_value(inv, &[cut]).and_then(Arg::known).is_some_and(|value| tells_on(cut, value))
                })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// Whether a journal that is cut back to a day or more, or to fifty megabytes or more, still tells of what was.
fn tells_on(cut: &str, value: &str) -> bool {
    let digits = value.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = value.split_at_checked(digits).unwrap_or_default();
    let number: u32 = number.parse().unwrap_or_default();
    match (cut, unit.trim()) {
        ("--vacuum-time", "d" | "day" | "days" | "w" | "week" | "weeks")
        | ("--vacuum-time", "month" | "months" | "y" | "year" | "years")
        | ("--vacuum-size", "G" | "T") => number > 0,
        ("--vacuum-size", "M") => number >= 50,
        _ => false,
    }
}

/// A file of the system, or a hidden one in a temporary directory, is given a time that it was not changed at.
fn time_forged(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let sets = ["-r", "--reference", "-d", "--date", "-t"].iter().any(|flag| has_flag(inv, flag));
    let reference = flag_value(inv, &["-r", "--reference"]);
    let of_system = |arg: &Arg| {
        let place = classify(&target_of(arg, inv.cwd.as_deref()), EffectKind::FileModification, &scene.view);
        place.has(Class::System)
    };
    sets && (inv.operands.iter().any(of_system) || reference.is_some_and(of_system))
}

/// The shell is told to keep no history.
fn history_off<'a>(scene: &Scene<'a>) -> Found<'a> {
    const DECLARES: &[&str] = &["export", "declare", "typeset", "readonly", "local", "env"];
    let off = |name: &str, value: &str| {
        matches!(name, "HISTFILE" | "HISTSIZE" | "HISTFILESIZE" | "SAVEHIST" | "HISTIGNORE")
            && (value.is_empty()
                || value.starts_with(['0', '*'])
                || value.starts_with("/dev/null")
                || value.starts_with("/tmp/"))
    };
    let assigned = |assign: &Assign| {
        !assign.append
            && assign.value.parts.iter().all(|part| matches!(part, Part::Text { .. }))
            && off(&assign.name, &texts::front(&assign.value))
    };
    let declared = |words: &[Word]| {
        let mut words = words.iter().map(texts::front);
        words.next().is_some_and(|first| DECLARES.contains(&first.as_str()))
            && words.any(|word| word.split_once('=').is_some_and(|(name, value)| off(name, value)))
    };
    let found = texts::holding(scene, "HIST").any(|script| {
        script.commands.iter().any(|simple| simple.assigns.iter().any(assigned) || declared(&simple.words))
    });
    if found { Found::yes(scene.command_line()) } else { Found::No }
}

const HISTORY_SWITCHES: &[&str] = &["set", "shopt", "unsetopt"];

fn history_option_off(inv: &Invocation) -> bool {
    let words: Vec<&str> = inv.args.iter().filter_map(Arg::known).collect();
    match inv.program.as_str() {
        "set" => words.windows(2).any(|pair| pair == ["+o", "history"]),
        "shopt" => {
            words.iter().any(|word| word.starts_with('-') && word.contains('u'))
                && words.iter().any(|word| matches!(*word, "history" | "histappend" | "cmdhist"))
        }
        _ => words.iter().any(|word| word.to_ascii_lowercase().contains("history")),
    }
}

/// Code that goes through the logs of the machine and empties them, or cuts one off.
fn empties_logs(code: &str) -> bool {
    let plain = libraries::plain(code);
    let any = |words: &[&str]| words.iter().any(|word| plain.contains(word));
    any(&["truncate(/var/log", "truncatesync(/var/log"])
        || any(&[
            "glob(/var/log",
            "path(/var/log",
            "readdirsync(/var/log",
            "listdir(/var/log",
            "dir.glob(/var/log",
        ]) && any(&[
            ",w).close()",
            "write_text()",
            "truncatesync(",
            ".truncate(",
            "unlink(",
            "os.remove(",
            "rmsync(",
        ])
}

fn log_overwritten(inv: &Invocation) -> bool {
    inv.writes.iter().any(|(target, append)| !append && crate::rules::matcher::at(target, lists::LOGS, None))
}
