//! Commands that are written so as not to be seen: a program named by a pattern or with something in it that comes to nothing, and
//! letters that cannot be seen or look like others. What they come to is judged in their place.

use super::code::shell_text::shell;
use crate::domain::{Verdict, last_name, single_quoted};
use crate::rules::Invocation;
use crate::rules::facts;
use crate::rules::matcher::{Found, Scene, inner_verdict, may_be};
use crate::shell::{Arg, Piece};

words!("builtin/disguise");

/// Most names that one pattern is tried with.
const MAX_NAMES: usize = 8;

/// What an argument that is not known is written as.
const UNKNOWN: &str = "\"$UNKNOWN\"";

/// A program that is a pattern, or has parts that may come to nothing: as if it were what is left.
pub(super) fn guessed(inv: &Invocation, scene: &Scene<'_>) -> bool {
    if scene.nested {
        return false;
    }
    let cwd = inv.cwd.as_deref().unwrap_or(scene.view.cwd);
    let before: String = upstream(inv, scene).iter().map(|inv| format!("{} | ", inv.text)).collect();
    { names(inv) }.iter().take(MAX_NAMES).any(|name| {
        let words: String = inv.args.iter().map(|arg| format!(" {}", written(arg))).collect();
        let line = shell(format!("{before}{name}{words}"));
        inner_verdict(scene, &line, cwd) == Verdict::Block
    })
}

/// What stands in front of a command in its pipeline.
fn upstream<'a>(inv: &Invocation, scene: &Scene<'a>) -> Vec<&'a Invocation> {
    let same = |other: &&Invocation| other.pipeline == inv.pipeline && other.stage < inv.stage;
    scene
        .invocations()
        .iter()
        .filter(same)
        .filter(|other| other.wrappers.len() <= inv.wrappers.len())
        .collect()
}

/// The programs that a word may stand for.
fn names(inv: &Invocation) -> Vec<String> {
    let word = &inv.word;
    if word.has_glob() && !word.has_unknown() {
        let text = word.text();
        let last = last_name(&text);
        // `[` is a program, and a pattern alone may be the name of any.
        let telling = last.bytes().any(|byte| byte.is_ascii_alphanumeric()) || last.contains('?');
        let fits = |name: &&&str| telling && may_be(last, name);
        return NAMES.iter().filter(fits).map(|name| (*name).to_owned()).collect();
    }
    if !inv.program.is_empty() || !word.has_unknown() {
        return Vec::new();
    }
    let mut left = String::new();
    for piece in &word.pieces {
        match piece {
            Piece::Known(text) => left.push_str(text),
            Piece::Glob(_) => return Vec::new(),
            Piece::Unknown => {}
        }
    }
    let name = last_name(&left);
    // `$DIR/tool` is a program of the project's own.
    let whole = !left.starts_with('/') && left.contains('/');
    if name.is_empty() || whole || facts::find(name).is_none() { Vec::new() } else { vec![name.to_owned()] }
}

/// An argument as a word of a command line.
fn written(arg: &Arg) -> String {
    let mut out = String::new();
    for piece in &arg.pieces {
        match piece {
            Piece::Known(text) => out.push_str(&single_quoted(text)),
            Piece::Glob(text) => out.push_str(text),
            Piece::Unknown => out.push_str(UNKNOWN),
        }
    }
    if out.is_empty() { "''".to_owned() } else { out }
}

/// Letters that cannot be seen or look like others, where what they look like must not be run.
pub(super) fn disguised<'a>(scene: &Scene<'a>) -> Found<'a> {
    let line = scene.command_line();
    if scene.nested {
        return Found::No;
    }
    let Some(plain) = plain(line) else { return Found::No };
    if inner_verdict(scene, &shell(plain), scene.view.cwd) == Verdict::Block {
        Found::yes(line)
    } else {
        Found::No
    }
}

/// A line as it looks; none when it looks like what it is.
fn plain(line: &str) -> Option<String> {
    if line.is_ascii() && !line.contains('\r') {
        return None;
    }
    let mut changed = false;
    let mut out = String::with_capacity(line.len());
    for c in line.chars() {
        let shown = looks_like(c);
        changed |= shown != Some(c);
        out.extend(shown);
    }
    changed.then_some(out)
}

/// The ASCII character that a letter, a dash or a blank looks like; nothing for what cannot be seen.
fn looks_like(c: char) -> Option<char> {
    const ALIKE: &[(&str, &str)] = &[
        ("абвгдезикмнорстуухѕіјѵһԁԛԝ", "aбвrдeзukmнopctyyxsijvhdqw"),
        ("АВЕКМНОРСТХЅІЈ", "ABEKMHOPCTXSIJ"),
        ("αεικνορτυχ", "aeikvoptux"),
        ("‐‑‒–—―−﹣", "--------"),
        ("∕⁄⧸", "///"),
        ("∼˜", "~~"),
    ];
    match c {
        '\r' | '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{180e}' => None,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fe00}'..='\u{fe0f}' => None,
        '\u{e0000}'..='\u{e007f}' => None,
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => Some(' '),
        // The wide forms stand in the same order as the plain ones.
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(c as u32 - 0xff01 + 0x21),
        c if c.is_ascii() => Some(c),
        c => {
            let found = ALIKE
                .iter()
                .find_map(|(odd, plain)| odd.chars().zip(plain.chars()).find(|(one, _)| *one == c));
            Some(found.map_or(c, |(_, plain)| plain))
        }
    }
}
