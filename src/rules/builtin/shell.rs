//! The command line itself: what hides what it runs. (What cannot be read at all is the review's to judge.)

pub(super) mod injected;
mod loaded;
pub(super) mod unknown;

use super::files::WIDE;
use super::{code, disguise};
use crate::domain::{EffectKind, Verdict, last_name};
use crate::rules::facts::{Kind, Operation};
use crate::rules::matcher::{
    Class, Found, Scene, classify, inner_verdict, is_interpreter, is_shell, target_of,
};
use crate::rules::{Invocation, facts};
use crate::shell::{Arg, Piece, parse};

fn nul_byte<'a>(scene: &Scene<'a>) -> Found<'a> {
    let line = scene.command_line();
    if line.contains('\0') { Found::yes(line) } else { Found::No }
}

/// `alias ls='rm -rf'`: a program with options only, under the name of another.
fn alias_hides(inv: &Invocation) -> bool {
    const DESTROYERS: &[&str] = &["rm", "shred", "dd", "truncate", "unlink", "mkfs", "wipefs"];
    let hides = |arg: &Arg| {
        let text = arg.text();
        let Some((name, value)) = text.split_once('=') else { return false };
        let mut words = value.split_whitespace().skip_while(|word| {
            matches!(word.trim_start_matches(['\'', '"', '\\']), "sudo" | "command" | "doas")
        });
        let program = words.next().unwrap_or_default().trim_start_matches('\\');
        let program = last_name(program);
        DESTROYERS.contains(&program)
            && name != program
            && words.all(|word| word.starts_with('-'))
            && facts::find(name).is_some()
    };
    inv.args.iter().any(hides)
}

/// Its program is not known before it runs.
fn is_unknown(inv: &Invocation) -> bool {
    inv.program.is_empty() && inv.word.has_unknown()
}

fn hidden_command(inv: &Invocation, scene: &Scene<'_>) -> bool {
    const ALSO: &[Class] = &[Class::Project, Class::Git, Class::Device, Class::Protected];
    const DESTROYERS: &[&str] = &["rm", "dd", "shred", "mv", "chmod", "chown", "find", "truncate", "…"];
    let word = inv.word.text();
    let name = last_name(&word);
    if !is_unknown(inv) || (name.len() < word.len() && !DESTROYERS.contains(&name)) {
        return false;
    }
    let option = |arg: &Arg| arg.prefix().starts_with('-') && arg.prefix().contains(['r', 'R', 'f']);
    let recursive = inv.args.iter().any(option);
    inv.args.iter().filter(|arg| !arg.prefix().starts_with('-') && !arg.has_unknown()).any(|arg| {
        let target = target_of(arg, inv.cwd.as_deref());
        let changed = classify(&target, EffectKind::FileModification, &scene.view);
        let lost = classify(&target, EffectKind::FileDeletion, &scene.view);
        changed.any(&[Class::Protected, Class::Device]) || (recursive && (lost.any(WIDE) || lost.any(ALSO)))
    })
}

fn separator_trick<'a>(scene: &Scene<'a>) -> Found<'a> {
    let line = scene.command_line();
    if !scene.says("$IFS") && !scene.says("${IFS") {
        return Found::No;
    }
    let script = parse(line);
    let trick = script.commands.iter().filter_map(|simple| simple.words.first()).find(|word| {
        let text = line.get(word.span.0..word.span.1).unwrap_or_default();
        text.contains("$IFS") || text.contains("${IFS")
    });
    if trick.is_none() || scene.nested {
        return Found::No;
    }
    // Plain names in the project, and nothing is said against the same with blanks.
    let plain = line.replace("${IFS}", " ").replace("$IFS", " ");
    let names =
        plain.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b' ' | b'.' | b'-' | b'_' | b'/'))
            && !plain.contains(" /")
            && !plain.contains("..");
    if names && inner_verdict(scene, &code::shell_text::shell(plain), scene.view.cwd) == Verdict::Allow {
        return Found::No;
    }
    Found::yes(line)
}

/// `xargs -I{} sh -c 'echo {}; wc -l {}'`: what is put in stands behind a program's name each time, and what runs is known by
/// its name. What it does with such an argument is judged by itself.
pub(crate) fn only_as_argument(code: &Arg) -> bool {
    const RUNS: &[&str] = &[
        "eval", "source", "sh", "bash", "dash", "zsh", "ksh", "fish", "exec", "-exec", "-execdir", "--exec",
    ];
    let mut known = String::new();
    if !code.pieces.iter().all(|piece| stands_behind(piece, &mut known, takes_words)) {
        return false;
    }
    let checked = known.replace("bash -n ", "").replace("sh -n ", "");
    let mut words = checked.split(|c: char| !c.is_ascii_alphanumeric() && !"_-./".contains(c));
    !words.any(|word| RUNS.contains(&last_name(word))) && !known.contains('`') && !known.contains("<<")
}

/// Goes through a text piece by piece: whether `takes` holds of the command in front of what is not known.
fn stands_behind(piece: &Piece, known: &mut String, takes: fn(&str) -> bool) -> bool {
    match piece {
        Piece::Known(text) | Piece::Glob(text) => {
            known.push_str(text);
            true
        }
        Piece::Unknown => {
            let text = known.replace("{ ", ";");
            let command = text.rsplit([';', '|', '&', '(', '\n']).next().unwrap_or_default();
            let taken = takes(command.trim_start());
            known.push('x');
            taken
        }
    }
}

words!("builtin/shell");

/// What stands in front of an argument begins with a program that runs nothing it is given.
fn takes_words(front: &str) -> bool {
    let Some((program, rest)) = front.split_once([' ', '\t']) else { return false };
    if matches!(program, "cd" | "pushd") || is_shell(program) && rest.trim() == "-n" {
        return true;
    }
    if program == "git" {
        return rest == "-C " || rest.split_once(' ').is_some_and(|(sub, _)| GIT_LOOKS.contains(&sub));
    }
    if matches!(program, "npx" | "bunx") {
        return rest.contains(' ') && rest.starts_with(|c: char| c.is_ascii_lowercase());
    }
    let Some(row) = facts::find(program).filter(|row| row.operation != Operation::Unknown) else {
        return false;
    };
    if row.kind == Kind::Git {
        return rest.contains(' ') && rest.starts_with(|c: char| c.is_ascii_lowercase());
    }
    matches!(row.kind, Kind::Plain | Kind::Dash | Kind::Raw) && !is_interpreter(program)
}

fn reordered_text<'a>(scene: &Scene<'a>) -> Found<'a> {
    let line = scene.command_line();
    let hidden = !line.is_ascii()
        && line.chars().any(|c| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'));
    if hidden { Found::yes(line) } else { Found::No }
}
