//! Programs that run command lines which stand in their arguments, in their input, or in a file that the call itself writes.

use super::code::MAX_LITERALS;
use super::code::shell_text::shell_verdict;
use super::{dialogs, installs, recipes, scripts};
use crate::domain::Verdict;
use crate::rules::Invocation;
use crate::rules::facts::{self, words::MAKES};
use crate::rules::matcher::{Found, Scene, Trigger, content, flag_value, input_of, target_of};
use crate::shell::Arg;

words!("builtin/runners");

/// Programs that run scripts out of package.json.
const SCRIPT_RUNNERS: &[&str] = &["npm", "pnpm", "yarn", "bun", "cnpm", "yarnpkg"];

/// The programs of both lists.
pub(super) const NEEDS: Trigger =
    Trigger::programs(SCRIPT_RUNNERS).or(Trigger::keys(RUNNERS)).or(Trigger::programs(dialogs::EDITORS));

pub(super) fn runs_by_argument<'a>(scene: &Scene<'a>, least: Verdict) -> Found<'a> {
    if scene.nested {
        return Found::No;
    }
    let is_one = |name: &str| {
        SCRIPT_RUNNERS.contains(&name)
            || RUNNERS.iter().any(|(program, _)| *program == name)
            || dialogs::EDITORS.contains(&name)
    };
    let found = scene.first_of(is_one, |inv| {
        let cwd = inv.cwd.as_deref().unwrap_or(scene.view.cwd);
        let blocks = |command: &str| {
            if inv.program == "concurrently" && names_scripts(command) {
                return false;
            }
            // Braces are the quotes of expect.
            let braced = inv.program == "expect";
            let command = if braced {
                dialogs::untcl(command)
            } else if MAKES.contains(&inv.program.as_str()) {
                command.trim_start_matches(['@', '-', '+']).to_owned()
            } else if QUOTED.contains(&inv.program.as_str()) {
                // What stands between the quotes or brackets of a language of its own.
                in_braces(command)
                    .trim_end_matches(['"', '\'', ')', '}', ';', ' '])
                    .trim_start_matches(['"', '\''])
                    .to_owned()
            } else {
                command.to_owned()
            };
            shell_verdict(scene, &command, cwd) >= least
        };
        if SCRIPT_RUNNERS.contains(&inv.program.as_str()) {
            let manifest = written(inv, scene, "package.json").unwrap_or_default();
            // Of an install that does without scripts, a rewrite leaves nothing to ask about.
            let spared = least < Verdict::Block && installs::needs_no_scripts(inv, scene);
            let scripts = if spared { Vec::new() } else { scripts_of(&manifest, inv) };
            return scripts.iter().take(MAX_LITERALS).any(|text| blocks(text))
                || given(inv).iter().take(MAX_LITERALS).any(|text| blocks(text));
        }
        if MAKES.contains(&inv.program.as_str())
            && values(inv).take(MAX_LITERALS).any(|text| blocks(text.trim_end_matches(';')))
        {
            return true;
        }
        if tells(inv, scene) {
            return false;
        }
        let fronts = RUNNERS.iter().find(|(program, _)| *program == inv.program).map_or(&[][..], |row| row.1);
        let texts = told(inv, scene);
        texts
            .iter()
            .flat_map(|text| dialogs::commands(&inv.program, text))
            .any(|command| shell_verdict(scene, &command, cwd) >= least)
            || texts.iter().flat_map(|text| text.lines()).take(MAX_LITERALS).any(|line| {
                let commands =
                    fronts.iter().filter_map(|front| line.split_once(front).map(|(_, command)| command));
                { commands }.any(blocks)
            })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// What stands in front of the bracket that ends it: `\write18{ls}\end{document}`.
fn in_braces(command: &str) -> &str {
    let mut depth = 0usize;
    let end = command.char_indices().find(|(_, c)| {
        match c {
            '{' | '(' => depth += 1,
            '}' | ')' if depth == 0 => return true,
            '}' | ')' => depth -= 1,
            _ => {}
        }
        false
    });
    end.and_then(|(at, _)| command.get(..at)).unwrap_or(command)
}

/// `npm:watch-*`: the scripts of the package with such names.
fn names_scripts(command: &str) -> bool {
    let front = command.split_once(':').map(|(front, _)| front);
    front.is_some_and(|front| SCRIPT_RUNNERS.contains(&front) || front == "node") && !command.contains(' ')
}

/// The texts in which a program finds what it runs: those it is given, and those of files.
fn told(inv: &Invocation, scene: &Scene<'_>) -> Vec<String> {
    let makes = MAKES.contains(&inv.program.as_str());
    let mut texts = input_of(inv, scene);
    if makes {
        // As `printf` and `echo -e` print them.
        let printed = texts.iter().filter(|text| text.contains('\\'));
        let printed: Vec<String> =
            printed.map(|text| text.replace("\\n", "\n").replace("\\t", "\t")).collect();
        texts.extend(printed);
    }
    texts.extend(inv.args.iter().map(Arg::to_text));
    texts.extend(trailing_command(inv));
    texts.extend(typed_keys(inv));
    texts.extend(between_quotes(inv));
    let files: Vec<String> = makefiles(inv).iter().filter_map(|name| written(inv, scene, name)).collect();
    let included: Vec<String> =
        files.iter().flat_map(|text| included(text)).filter_map(|name| written(inv, scene, name)).collect();
    let files = files.into_iter().chain(included);
    texts.extend(generators(inv, scene));
    let bare = |text: &str| text.replace("\t@", "\t").replace("\t-", "\t");
    if !makes {
        texts.extend(files.map(|text| bare(&text.replace("$$", "$").replace("$(HOME)", "$HOME"))));
        return texts;
    }
    texts.extend(files);
    // What one file sets is set in the others.
    let whole = texts.join("\n");
    texts = texts.iter().map(|text| bare(&recipes::expanded(text, &whole))).collect();
    texts.extend(recipes::shell_of(&whole).map(|command| format!("\t{command}")));
    texts
}

/// `tmux display-message text`: shown, unless the text itself has tmux run something.
fn tells(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let shows = TMUX_SHOWS;
    // What lies in a buffer runs once it is pasted into a shell.
    let pastes = || ["paste-buffer", "pasteb"].iter().any(|word| scene.says(word));
    let texts = || inv.args.iter().map(Arg::text);
    inv.program == "tmux"
        && texts().next().is_some_and(|first| shows.contains(&&*first))
        && !texts().any(|text| text.contains("#(") || text.contains(';'))
        && !pastes()
}

/// What runs of itself when packages are installed.
const LIFECYCLE: &[&str] = &["preinstall", "install", "postinstall", "prepare", "prepublish"];

/// The scripts in a package.json that a command starts, and those that they start; all its strings where that cannot be told.
fn scripts_of(manifest: &str, inv: &Invocation) -> Vec<String> {
    let words: Vec<&str> =
        inv.args.iter().filter_map(Arg::known).filter(|word| !word.starts_with('-')).collect();
    let without = inv.args.iter().any(|arg| arg.known() == Some(installs::NO_SCRIPTS));
    let names: Option<Vec<&str>> = match words.as_slice() {
        ["install" | "i" | "ci" | "add", ..] if without => return Vec::new(),
        ["run" | "run-script" | "rum", name, ..] => Some(vec![name]),
        ["test" | "t" | "tst", ..] => Some(vec!["test"]),
        [name @ ("start" | "stop" | "restart"), ..] => Some(vec![name]),
        ["install" | "i" | "ci" | "add", ..] => Some(LIFECYCLE.to_vec()),
        _ => None,
    };
    let parsed = serde_json::from_str::<serde_json::Value>(manifest).ok();
    let scripts = parsed.as_ref().and_then(|manifest| manifest.get("scripts")?.as_object());
    let (Some(mut names), Some(scripts)) = (names, scripts) else { return scripts::strings(manifest) };
    let all: Vec<(&str, &str)> =
        scripts.iter().filter_map(|(name, text)| Some((name.as_str(), text.as_str()?))).collect();
    let runs = |names: &[&str], name: &str| {
        let bare = name.strip_prefix("pre").or_else(|| name.strip_prefix("post"));
        names.contains(&name) || bare.is_some_and(|bare| names.contains(&bare))
    };
    // A script that speaks of another one may run it. Each round finds a new one, or is the last.
    for _ in 0..all.len() {
        let told = all.iter().filter(|(name, _)| runs(&names, name)).flat_map(|(_, text)| {
            all.iter().map(|(name, _)| *name).filter(|name| text.split_whitespace().any(|word| word == *name))
        });
        let new: Vec<&str> = told.filter(|name| !names.contains(name)).take(1).collect();
        if new.is_empty() {
            break;
        }
        names.extend(new);
    }
    all.iter().filter(|(name, _)| runs(&names, name)).map(|(_, text)| (*text).to_owned()).collect()
}

/// The values of `NAME=value`.
fn values(inv: &Invocation) -> impl Iterator<Item = String> {
    inv.args.iter().filter_map(|arg| arg.text().split_once('=').map(|(_, value)| value.to_owned()))
}

/// Commands that stand in the arguments of a program for packages: one to run, or a script to keep.
fn given(inv: &Invocation) -> Vec<String> {
    let first = inv.args.iter().filter_map(Arg::known).find(|word| !word.starts_with('-'));
    match first {
        Some("exec" | "x" | "dlx" | "set-script") => inv.args.iter().map(Arg::to_text).collect(),
        Some("pkg") => values(inv).collect(),
        _ => Vec::new(),
    }
}

/// What the call itself, or an earlier one of the session, wrote to a file in the directory that a program runs in.
fn written(inv: &Invocation, scene: &Scene<'_>, name: &str) -> Option<String> {
    if scene.view.survey.written.is_empty() && scene.view.survey.marks.is_empty() {
        return None;
    }
    content(scene, target_of(&Arg::literal(name), inv.cwd.as_deref()).text())
}

/// The files of rules that a build tool reads.
fn makefiles(inv: &Invocation) -> Vec<String> {
    let names: &[&str] = match inv.program.as_str() {
        "make" | "gmake" | "bmake" => facts::MAKEFILES,
        "just" => &["justfile", "Justfile", ".justfile"],
        "ninja" => &["build.ninja"],
        "cmake" => {
            let given = inv.operands.iter().chain(flag_value(inv, &["-P", "-C"]));
            let lists = ["CMakeLists.txt"].into_iter().map(str::to_owned);
            return given.map(Arg::to_text).chain(lists).collect();
        }
        name if dialogs::EDITORS.contains(&name) => {
            let given = ["-S", "-s", "-u"].iter().filter_map(|flag| flag_value(inv, &[flag]));
            return given.map(Arg::to_text).collect();
        }
        "expect" | "tclsh" | "sqlite3" => {
            let given = inv.operands.iter().chain(flag_value(inv, &["-f", "-init"]));
            return given.map(Arg::to_text).collect();
        }
        _ => return Vec::new(),
    };
    match flag_value(inv, &["-f", "--file", "--makefile", "--justfile"]) {
        Some(file) => vec![file.to_text()],
        None => names.iter().map(|name| (*name).to_owned()).collect(),
    }
}

/// The sources of Go that the call itself writes, whose comments say what is run to generate others.
fn generators(inv: &Invocation, scene: &Scene<'_>) -> Vec<String> {
    let generates = inv.program == "go" && inv.sub.first().is_some_and(|sub| sub == "generate");
    let own = scene.view.survey.written.iter().filter(|(path, _)| generates && path.ends_with(".go"));
    own.map(|(_, text)| text.to_text()).collect()
}

/// The files that a makefile, or a script of Tcl, takes in.
fn included(text: &str) -> impl Iterator<Item = &str> {
    let front = |line: &'_ str| {
        ["include ", "-include ", "sinclude ", "source "].iter().any(|word| line.starts_with(word))
    };
    text.lines().filter(move |line| front(line)).flat_map(|line| line.split_whitespace().skip(1))
}

/// The command that `tmux new-window rm -rf x` and `screen -X stuff 'text'` give as words of their own.
fn trailing_command(inv: &Invocation) -> Option<String> {
    if !matches!(inv.program.as_str(), "tmux" | "screen") {
        return None;
    }
    let is_program = |arg: &Arg| arg.known().is_some_and(|word| facts::find(word).is_some());
    let stuffs = |arg: &Arg| arg.known() == Some("stuff");
    let at = inv.args.iter().position(|arg| is_program(arg) || stuffs(arg))?;
    let words = inv.args.get(at..).unwrap_or_default();
    let words: Vec<String> = words.iter().map(Arg::to_text).collect();
    Some(words.join(" ").replace("\\n", "\n"))
}

/// What `tmux send-keys r m Space -rf` types: words of keys, of which some have names.
fn typed_keys(inv: &Invocation) -> Option<String> {
    let at = inv.args.iter().position(|arg| matches!(arg.known(), Some("send-keys" | "send" | "stuff")))?;
    let key = |arg: &Arg| match arg.known() {
        Some("Space") => " ".to_owned(),
        Some("Enter" | "C-m" | "C-j" | "KPEnter") => "\n".to_owned(),
        Some("Tab") => "\t".to_owned(),
        _ => arg.to_text(),
    };
    (inv.program == "tmux").then(|| inv.args.iter().skip(at + 1).map(key).collect())
}

/// Text in which a command stands between quotes: `if-shell true 'run-shell "rm x"'`.
fn between_quotes(inv: &Invocation) -> Vec<String> {
    if inv.program != "tmux" {
        return Vec::new();
    }
    let texts = inv.args.iter().map(Arg::to_text).filter(|text| text.contains(['"', '\'']));
    texts.flat_map(|text| scripts::strings(&text)).collect()
}
