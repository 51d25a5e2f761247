//! PowerShell and the command line of Windows, by their plain forms: read as words, statement by statement, never as a program.

mod cloud;
mod places;
mod statement;
mod whole;

use std::borrow::Cow;

use crate::domain::Verdict;
use crate::rules::Invocation;
use crate::rules::matcher::{Found, Scene, Trigger, runs};
use crate::shell::Arg;
use places::{is_afar, roots};
use statement::{FROM_AFAR, statement};
use whole::whole;

words!("builtin/powershell");

const NEEDS: Trigger = Trigger::ACTIVE.or(Trigger::UNKNOWN).or(Trigger::programs(&[
    "type",
    "gc",
    "net",
    "rm",
    "rmdir",
    "cat",
    "Get-Content",
    "get-content",
]));

/// What its own shell is called.
const SHELLS: &[&str] = &["powershell", "pwsh", "powershell.exe", "pwsh.exe"];

/// Commands in that language of which the worst that is said is exactly `verdict`.
fn said<'a>(scene: &Scene<'a>, verdict: Verdict) -> Found<'a> {
    let found = scene.running(may_be_own).find(|inv| {
        if !is_own(inv) {
            return false;
        }
        let line =
            scene.piped(inv.pipeline).iter().map(|other| other.text.as_str()).collect::<Vec<_>>().join(" | ");
        let said = run_now(&in_one_line(&line)).max(run_now(&in_one_line(&inv.text)));
        // Quotes and blanks of the shell around it are not part of what it is told.
        let told =
            || inv.args.iter().map(Arg::text).fold(inv.program.clone(), |line, word| line + " " + &word);
        let said = if runs(inv, SHELLS) { said.max(run_now(&told())) } else { said };
        said == verdict
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// With the lines joined that a POSIX shell joins.
fn in_one_line(text: &str) -> Cow<'_, str> {
    if text.contains("\\\n") { Cow::Owned(text.replace("\\\n", "")) } else { Cow::Borrowed(text) }
}

/// Text that is no shell's, and PowerShell's, of which the worst that is said is exactly `verdict`.
fn unreadable<'a>(scene: &Scene<'a>, verdict: Verdict) -> Found<'a> {
    let line = scene.command_line();
    let read = scene.view.survey.problem.is_none() || line.len() > 65536;
    if read || run_now(line) != verdict { Found::No } else { Found::yes(line) }
}

/// By its place it is remembered which programs are its own.
static NAMED: [u8; 1] = [0];

/// The survey knows some by what they are called elsewhere.
fn is_elsewhere(inv: &Invocation) -> bool {
    matches!(inv.program.as_str(), "rm" | "rmdir" | "cat")
}

/// Whether the program's name alone lets [`is_own`] hold.
fn may_be_own(inv: &Invocation) -> bool {
    let is_named = || {
        let name = inv.program.to_ascii_lowercase();
        let name = name.strip_suffix(".exe").unwrap_or(&name);
        OWN.contains(&name) || is_cmdlet(name)
    };
    is_elsewhere(inv) || inv.listed.known_or(&NAMED, is_named)
}

fn is_own(inv: &Invocation) -> bool {
    if !may_be_own(inv) {
        return false;
    }
    let word = inv.text.split_whitespace().next().unwrap_or_default();
    let is_elsewhere = is_elsewhere(inv);
    let is_by_its_name = word.eq_ignore_ascii_case(&inv.program);
    // Not by the name that every shell has for it.
    if is_elsewhere && is_by_its_name && !SHARED.contains(&inv.program.as_str()) {
        return false;
    }
    let name = if is_elsewhere { word } else { inv.program.as_str() }.to_ascii_lowercase();
    let name = name.strip_suffix(".exe").unwrap_or(&name);
    if OWN.contains(&name) {
        let shared = SHARED.contains(&name);
        return !shared
            || inv.text.contains('\\')
            || inv.text.contains(" /") && name != "rm" && name != "rmdir"
            || inv.text.contains(':')
            || inv.text.contains('%')
            || inv.text.contains("-r -fo")
            || name == "sc"
            || name == "net"
            || name == "reg"
            || name == "rm" && [" -Force", " -Recurse", " -fo"].iter().any(|flag| inv.text.contains(flag));
    }
    is_cmdlet(name) || word.starts_with("$env:")
}

/// `Verb-Noun`.
fn is_cmdlet(name: &str) -> bool {
    name.split_once('-').is_some_and(|(verb, noun)| {
        CMDLET_VERBS.contains(&verb) && noun.len() > 1 && noun.bytes().all(|b| b.is_ascii_alphanumeric())
    })
}

/// What a script of PowerShell or of Windows' command line deserves that somebody may run later, perhaps on another machine.
pub(super) fn script(text: &str) -> Verdict {
    judged(text, |_, _| Verdict::Allow)
}

/// What it deserves on this machine now: there a path with a drive or a server in it is none of the project's.
fn run_now(text: &str) -> Verdict {
    judged(text, lost)
}

fn judged(text: &str, more: fn(&str, &str) -> Verdict) -> Verdict {
    // At the end of a line it joins the next one, elsewhere it only takes a letter's meaning.
    let lower = text.to_ascii_lowercase().replace("`\r\n", " ").replace("`\n", " ").replace('`', "");
    // In the quotes of another shell a backslash stands there twice.
    let lower = if lower.contains(":\\\\") { lower.replace("\\\\", "\\") } else { lower };
    let mut worst = whole(&lower);
    for line in lower.lines().take(4096) {
        if line.trim_start().starts_with(['#', ':']) || line.trim_start().starts_with("rem ") {
            continue;
        }
        for part in unquoted(line, &[';', '&']) {
            let mut before = String::new();
            for stage in unquoted(part, &['|']) {
                worst = worst.max(statement(stage, &before)).max(more(stage, &before));
                before = stage.to_owned();
            }
        }
    }
    worst
}

/// The parts of a line between signs that do not stand in single quotes, where each of those is closed.
fn unquoted<'t>(line: &'t str, signs: &'static [char]) -> Vec<&'t str> {
    let mut quoted = false;
    let closed = line.matches('\'').count().is_multiple_of(2);
    let splits = move |c: char| {
        quoted ^= closed && c == '\'';
        !quoted && signs.contains(&c)
    };
    line.split(splits).collect()
}

/// The words that stand in front of what is run: other shells, blocks, calls.
fn unwrapped(stage: &str) -> &str {
    let mut rest = stage.trim();
    for _ in 0..8 {
        let start = rest;
        rest = rest.trim_start_matches(['{', '(', '@', '&', '"', '\'', ' ', '}', '!']);
        for front in ["powershell.exe", "powershell", "pwsh.exe", "pwsh", "cmd.exe", "cmd"] {
            if let Some(behind) = rest.strip_prefix(front).filter(|behind| behind.starts_with(' ')) {
                let flags = ["-command ", "-c ", "/c ", "/k ", "/s /c "];
                if let Some(at) =
                    flags.iter().filter_map(|flag| behind.find(flag).map(|at| at + flag.len())).min()
                {
                    rest = behind.get(at..).unwrap_or_default();
                } else if front.starts_with("powershell")
                    && !FROM_AFAR.iter().any(|file| behind.contains(file))
                {
                    rest = behind_switches(behind);
                }
            }
        }
        for front in [
            "foreach-object",
            "foreach",
            "try",
            "else",
            "start-job -scriptblock",
            "invoke-command -scriptblock",
            "%",
            "do",
        ] {
            if let Some(behind) =
                rest.strip_prefix(front).filter(|behind| behind.trim_start().starts_with('{'))
            {
                rest = behind;
            }
        }
        if rest.starts_with("if ") || rest.starts_with("if(") {
            rest = rest.split_once(['{']).map_or(rest, |(_, block)| block);
        }
        if let Some((name, value)) = rest
            .split_once('=')
            .filter(|(name, _)| name.trim_start().starts_with('$') && !name.trim().contains(' '))
        {
            let _ = name;
            rest = value;
        }
        if rest.len() == start.len() {
            break;
        }
    }
    rest
}

/// What stands behind the switches of `powershell`, which is a command there; nothing where it is a file.
fn behind_switches(mut rest: &str) -> &str {
    for _ in 0..16 {
        rest = rest.trim_start();
        let (word, behind) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        if matches!(word, "-file" | "-f") || word.starts_with("-e") && !VALUED_SWITCHES.contains(&word) {
            return "";
        }
        if !word.starts_with('-') {
            break;
        }
        rest = behind;
        if VALUED_SWITCHES.contains(&word) {
            rest = rest.trim_start().split_once(char::is_whitespace).map_or("", |(_, behind)| behind);
        }
    }
    rest
}

/// What is lost by a deletion that needs no vital place for it: directories with a drive or a server in their path, and all of here.
fn lost(stage: &str, before: &str) -> Verdict {
    let text = unwrapped(stage);
    let (first, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let name = first.trim_matches(['"', '\'', ')', '}']).rsplit(['\\', '/']).next().unwrap_or_default();
    let name = name.strip_suffix(".exe").unwrap_or(name);
    let given = operands(rest);
    if name == "robocopy" {
        let mirrors = rest.contains("/mir") || rest.contains("/purge");
        let [from, to, ..] = given.as_slice() else { return Verdict::Allow };
        if !mirrors || !is_afar(to) && !roots(to) {
            return Verdict::Allow;
        }
        return if roots(to) || from.contains("empty") { Verdict::Block } else { Verdict::Modify };
    }
    let removes = matches!(name, "remove-item" | "ri" | "rm" | "del" | "erase" | "rd" | "rmdir" | "deltree");
    let empties = matches!(name, "clear-content" | "clc") || name.starts_with("$_.delete");
    if !removes && !empties || rest.contains("-whatif") {
        return Verdict::Allow;
    }
    let flag = |word: &str| matches!(word, "/s" | "-r" | "-rf" | "-fr") || word.starts_with("-rec");
    let recursive = name == "deltree" || rest.split_whitespace().any(flag);
    let here = |word: &String| matches!(word.as_str(), "." | ".." | "*" | ".\\*" | "./*" | ".\\" | "./");
    let named = given.iter().any(|word| is_afar(word)) || name != "rm" && given.iter().any(here);
    let listed = lists_all(before) && (recursive || empties || before.split_whitespace().any(flag));
    if recursive && named || listed { Verdict::Block } else { Verdict::Allow }
}

/// Whether a stage of a pipeline lists, without any choice, what is here or below a path with a drive in it.
fn lists_all(stage: &str) -> bool {
    const CHOICES: &[&str] = &["-filter", "-include ", "-exclude", "-hidden", "-directory"];
    let text = unwrapped(stage);
    let (name, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let name = name.trim_matches(['"', '\'', ')', '}']);
    let given = operands(rest);
    matches!(name, "get-childitem" | "gci" | "ls" | "dir")
        && !CHOICES.iter().any(|flag| rest.replace("-include *", "").contains(flag))
        && given
            .iter()
            .all(|word| is_afar(word) || matches!(word.as_str(), "." | "*" | ".\\" | "./" | ".\\*" | "./*"))
}

/// The words that are no switches, without their quotes; of a list each one.
fn operands(text: &str) -> Vec<String> {
    let mut out = vec![String::new()];
    let mut quote = None;
    for c in text.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, c) if c.is_whitespace() || matches!(c, ',' | ')' | '}' | '(') => out.push(String::new()),
            (_, c) => {
                if let Some(last) = out.last_mut() {
                    last.push(c);
                }
            }
        }
    }
    out.retain(|word| {
        !(word.is_empty() || word.starts_with('-') || word.starts_with('/') && word.len() <= 4)
    });
    out
}
