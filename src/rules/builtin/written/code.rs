//! Source code that is written: the commands that it starts and the directories that it deletes. What stands in a string or a
//! comment is not code.

use super::super::scripts;
use super::forms;
use super::judge::{self, Place};
use crate::domain::{EffectKind, Target, Verdict, join, single_quoted};
use crate::rules::matcher::{Class, Scene, classify};

/// Most strings of one file that are looked at, and the longest file, in bytes.
const MAX_STRINGS: usize = 4096;
const MAX_CODE: usize = 200 * 1024;
/// Most commands of one file that are judged.
const MAX_COMMANDS: usize = 48;

/// How a language marks comments and strings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    /// `#` begins a comment.
    Hash,
    /// `//` and `/* */`.
    Slash,
    /// Both.
    Php,
    /// `//`, and a quote mark that is no string.
    Rust,
}

/// The language of a file, by its name.
pub(super) fn language(name: &str) -> Option<Language> {
    const NAMES: &[(&str, Language)] = &[
        ("rakefile", Language::Hash),
        ("vagrantfile", Language::Hash),
        ("fastfile", Language::Hash),
        ("gemfile", Language::Hash),
        ("podfile", Language::Hash),
        ("jenkinsfile", Language::Slash),
        ("sconstruct", Language::Hash),
        ("cmakelists.txt", Language::Hash),
        ("gruntfile.js", Language::Slash),
    ];
    if let Some((_, language)) = NAMES.iter().find(|(full, _)| name == *full) {
        return Some(*language);
    }
    match name.rsplit_once('.')?.1 {
        "py" | "pyw" | "pyx" | "rb" | "pl" | "pm" | "gemspec" | "rake" | "r" | "ex" | "exs" | "jl" | "tf"
        | "hcl" | "nix" | "cr" | "tcl" => Some(Language::Hash),
        "js" | "mjs" | "cjs" | "ts" | "tsx" | "jsx" | "mts" | "cts" | "go" | "java" | "kt" | "kts" | "c"
        | "cc" | "cpp" | "h" | "cs" | "swift" | "scala" | "groovy" | "gradle" | "dart" | "zig" | "lua"
        | "vue" | "svelte" | "applescript" | "scpt" => Some(Language::Slash),
        "php" | "phtml" | "phar" => Some(Language::Php),
        "rs" => Some(Language::Rust),
        _ => None,
    }
}

/// A string, with the code between it and the one before.
pub(super) struct Piece {
    pub before: String,
    pub text: String,
}

/// The strings of code, and the code with every string left empty and every comment left out.
fn pieces(code: &str, language: Language) -> (Vec<Piece>, String) {
    let mut out = Vec::new();
    let mut bare = String::with_capacity(code.len());
    let mut before = String::new();
    let mut rest = code;
    while let Some(c) = rest.chars().next() {
        let comment = match language {
            Language::Hash => c == '#',
            Language::Php => c == '#' || rest.starts_with("//"),
            Language::Slash | Language::Rust => rest.starts_with("//"),
        };
        if comment {
            rest = rest.find('\n').and_then(|at| rest.get(at..)).unwrap_or_default();
            continue;
        }
        if language != Language::Hash && rest.starts_with("/*") {
            rest = rest.find("*/").and_then(|at| rest.get(at + 2..)).unwrap_or_default();
            continue;
        }
        let triple =
            ["\"\"\"", "'''"].iter().find(|mark| language == Language::Hash && rest.starts_with(**mark));
        if let Some(mark) = triple {
            let inner = rest.get(3..).unwrap_or_default();
            let (text, behind) = inner.split_once(*mark).unwrap_or((inner, ""));
            out.push(Piece { before: std::mem::take(&mut before), text: text.to_owned() });
            bare.push_str("\"\"");
            rest = behind;
        } else if c == '"'
            || (c == '\'' && language != Language::Rust)
            || c == '`' && language != Language::Rust
        {
            let (text, behind) = string(rest, c);
            // Backquotes run what is in them, in the languages with `#`.
            let run = language != Language::Slash || before.ends_with('$');
            let mark = if c == '`' && run { "`" } else { "" };
            out.push(Piece { before: format!("{}{mark}", std::mem::take(&mut before)), text });
            bare.push_str("\"\"");
            rest = behind;
        } else {
            before.push(c);
            bare.push(c);
            rest = rest.get(c.len_utf8()..).unwrap_or_default();
        }
        if out.len() >= MAX_STRINGS {
            break;
        }
    }
    (out, bare)
}

/// The string that a text begins with, and what comes behind it.
fn string(rest: &str, quote: char) -> (String, &str) {
    // A string on one line that is not ended is an apostrophe.
    scripts::string_up_to(rest.get(1..).unwrap_or_default(), |c| c == quote || (c == '\n' && quote != '`'))
}

words!("builtin/written/code");

/// Whether the code in front of a string starts what is in it.
fn starts(before: &str, execs: bool) -> bool {
    let front = before.trim_end().trim_end_matches(['[', '(', 'f', 'r', 'b', '{']).trim_end();
    let opened = before.trim_end().trim_end_matches(['f', 'r', 'b']).trim_end();
    let opened = opened.trim_end_matches('[').trim_end();
    let opened = LISTS.iter().find_map(|list| opened.strip_suffix(list)).unwrap_or(opened).trim_end();
    // The string in front of it is `child_process`: `require("child_process").exec(`.
    let required = execs && [").exec(", ").spawn(", ").execFile("].iter().any(|call| opened.ends_with(call));
    if required
        || opened.ends_with("sh -c")
        || STARTS.iter().any(|call| {
            opened.ends_with(call)
                || opened.strip_suffix("args=").is_some_and(|text| text.trim_end().ends_with(call))
        })
    {
        return true;
    }
    let alone = |word: &str| {
        let end = if word.ends_with('(') {
            opened
        } else if word.ends_with('`') {
            before
        } else {
            front
        };
        let Some(head) = end.strip_suffix(word) else { return false };
        let apart = !head
            .chars()
            .next_back()
            .is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '$' | '>'));
        apart && (word != "$" || before.ends_with("$`"))
    };
    let bare = STARTS_ALONE.iter().any(|word| alone(word));
    // In JavaScript and in databases `exec` has other meanings.
    let plain = !opened.ends_with("exec(") && !opened.ends_with("spawn(") || execs;
    bare && plain
}

/// What may stand between a call that starts a command and its first word.
const LISTS: &[&str] =
    &["new String[]{", "new String[] {", "List.of(", "Arrays.asList(", "new[] {", "new[]{"];

/// Calls that set what a file may be used for.
const SETS_MODE: &[&str] = &["chmod(", "chmodSync(", "Chmod("];

/// Whether code names the bit with which a program has its owner's rights.
fn roots(bare: &str) -> bool {
    ["0o4", "0o6", "04755", "06755", "04777", "S_ISUID", "ModeSetuid"].iter().any(|mode| bare.contains(mode))
}

/// The code in front of a string without the calls that only make a path of it.
fn unwrapped(before: &str) -> &str {
    let mut call = before.trim_end();
    for _ in 0..4 {
        match PATH_CALLS.iter().find_map(|path| call.strip_suffix(path)) {
            Some(rest) => call = rest.trim_end(),
            None => break,
        }
    }
    call
}

/// A call of what was taken out of the library for files by its own name: `import { rm } from 'node:fs/promises'`.
fn deletes_bare(call: &str, code: &str) -> bool {
    let alone = ["rm(", "rmdir("].iter().any(|name| {
        call.strip_suffix(name).is_some_and(|front| {
            !front.chars().next_back().is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '$'))
        })
    });
    alone && ["fs/promises", "node:fs", "'fs'", "\"fs\""].iter().any(|library| code.contains(library))
}

/// Whether the string at a place is what a shell of the same list is to run: `['sh', '-c', '…']`.
fn is_shells(pieces: &[Piece], at: usize) -> bool {
    let text =
        |back: usize| at.checked_sub(back).and_then(|at| pieces.get(at)).map(|piece| piece.text.as_str());
    text(1).is_some_and(|flag| matches!(flag, "-c" | "-lc" | "-ec")) && text(2).is_some_and(forms::is_shell)
}

/// What source code deserves.
pub(super) fn verdict(scene: &Scene<'_>, code: &str, language: Language, place: Place) -> Verdict {
    if code.len() > MAX_CODE {
        return Verdict::Allow;
    }
    let home = scene.view.facts.places.home.as_deref().unwrap_or("/root");
    let at_home = code.contains("ome")
        || code.contains("UserProfile")
        || code.contains("HOME")
        || code.contains("expanduser");
    let mut code = if at_home { scripts::with_home(code, home) } else { code.to_owned() };
    if language == Language::Rust {
        code = code.replace(&format!("'{home}'"), &format!("\"{home}\""));
    }
    let (pieces, bare) = pieces(&code, language);
    let execs =
        ["child_process", "execa", "shelljs", "zx", "<?php", "system"].iter().any(|word| code.contains(word));
    // Groovy starts a list of words.
    let listed = bare.contains("].execute()");
    let mut worst =
        forms::plain(&code, &bare, &pieces).max(forms::emptied(scene, &code, &bare, &pieces, home));
    worst = worst.max(forms::sent(scene, &bare, &pieces));
    let mut judged = 0;
    for (at, piece) in pieces.iter().enumerate() {
        if worst == Verdict::Block {
            break;
        }
        let call = unwrapped(&piece.before);
        if SETS_MODE.iter().any(|name| call.ends_with(name)) && forms::is_shell(&piece.text) && roots(&bare) {
            worst = Verdict::Block;
        }
        let deletes = DELETES.iter().any(|name| call.ends_with(name)) || deletes_bare(call, &code);
        if deletes && piece.text.starts_with(['/', '~']) {
            let path = piece
                .text
                .strip_prefix('~')
                .map_or_else(|| piece.text.clone(), |rest| format!("{home}{rest}"));
            let path = join("/", &path);
            worst = worst.max(judge::place_of(&path, path == home, Some(home)));
            let kept =
                ["/var/lib/", "/etc/", "/usr/", "/srv/", "/var/www/"].iter().any(|dir| path.starts_with(dir));
            if kept && place != Place::Container && !path.starts_with("/var/lib/apt/") {
                worst = worst.max(Verdict::Modify);
            }
        }
        if judged < MAX_COMMANDS && (starts(&piece.before, execs) || listed && is_shells(&pieces, at)) {
            judged += 1;
            for command in commands(&pieces, at) {
                worst = worst.max(judge::started(scene, &command, place));
            }
        }
    }
    worst
}

/// Whether a cell of a notebook, which runs as it stands, drops what lives on, or reads a file of secrets.
pub(super) fn loses_in_cell(scene: &Scene<'_>, cell: &str) -> bool {
    const DROPS: &[&str] = &["drop table ", "drop database ", "drop schema ", "truncate table "];
    const CLOUD: &[&str] =
        &["delete_dataset(", "delete_bucket(", "delete_db_instance(", "delete_db_cluster(", "delete_stack("];
    let drops = |text: &str| {
        let lower = text.to_ascii_lowercase();
        DROPS.iter().any(|drop| lower.contains(drop)) && !lower.contains(" if exists")
    };
    let magic = ["%%sql", "%%bigquery", "%sql "].iter().any(|magic| cell.trim_start().starts_with(magic));
    if magic {
        return drops(cell);
    }
    let live = cell.contains("delete_contents=True") || cell.contains("prod");
    if live && CLOUD.iter().any(|call| cell.contains(call)) {
        return true;
    }
    let home = scene.view.facts.places.home.as_deref().unwrap_or("/root");
    let (pieces, _) = pieces(cell, Language::Hash);
    pieces.iter().any(|piece| {
        let call = piece.before.trim_end();
        let read = || {
            let path = piece
                .text
                .strip_prefix('~')
                .map_or_else(|| piece.text.clone(), |rest| format!("{home}{rest}"));
            let target = Target::Path { path, glob: false, recursive: false };
            piece.text.starts_with(['/', '~'])
                && classify(&target, EffectKind::FileRead, &scene.view).has(Class::Secret)
        };
        call.ends_with("spark.sql(") && drops(&piece.text)
            || ["open(", "Path(", "expanduser(", "read_text("].iter().any(|way| call.ends_with(way)) && read()
    })
}

/// The commands that begin with the string at a place: the string, those joined to it, and the words of a list.
fn commands(pieces: &[Piece], at: usize) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for (index, piece) in pieces.iter().enumerate().skip(at).take(16) {
        let glue = piece.before.trim();
        match words.last_mut() {
            _ if index == at => words.push(piece.text.clone()),
            Some(last) if matches!(glue, "+" | "." | ".." | "") => last.push_str(&piece.text),
            Some(_)
                if matches!(glue, "," | ", [" | ",[" | ", f" | "], [")
                    || glue.starts_with(").arg")
                    || glue.replace(' ', "") == ",[" =>
            {
                words.push(piece.text.clone())
            }
            _ => break,
        }
    }
    // A word of a list stays one.
    let word = |word: &String| if word.contains(' ') { single_quoted(word) } else { word.clone() };
    let whole = match words.as_slice() {
        [one] => one.clone(),
        words => words.iter().map(word).collect::<Vec<_>>().join(" "),
    };
    let behind = |word: &&String| word.contains(' ');
    let mut out: Vec<String> = words.iter().filter(behind).cloned().collect();
    if !out.contains(&whole) {
        out.push(whole);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_and_comments_are_not_code() {
        let (found, bare) = pieces("a('x') # don't 'y'\n\"\"\"os.system('z')\"\"\"", Language::Hash);
        assert_eq!(
            found.iter().map(|piece| piece.text.as_str()).collect::<Vec<_>>(),
            ["x", "os.system('z')"]
        );
        assert_eq!(bare.trim(), "a(\"\") \n\"\"");
        let (found, _) = pieces("let a: &'a str = \"b\"; // \"c\"", Language::Rust);
        assert_eq!(found.len(), 1);
    }

    #[test]
    fn calls_that_start_commands() {
        for (before, execs) in [
            ("os.system(", false),
            ("subprocess.run([", false),
            ("subprocess.run(args=[", false),
            ("x = system ", false),
            ("exec(", true),
            ("Command::new(", false),
            ("  sh ", false),
        ] {
            assert!(starts(before, execs), "{before}");
        }
        for (before, execs) in
            [("re.exec(", true), ("exec(", false), ("print(", true), ("filesystem(", true), ("= push ", true)]
        {
            assert!(!starts(before, execs), "{before}");
        }
    }
}
