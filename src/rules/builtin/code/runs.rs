//! Programs that run a command which stands in their script, options or input.

use std::cell::LazyCell;

use super::options::option_runs;
use super::shell_text::{may_be_fed, shell_verdict};
use super::told::{called_deserves, told_by_account, tried};
use super::{CODE, MAX_LITERALS, STARTS, interpreters, is_old_script, texts};
use crate::domain::{Verdict, last_name};
use crate::rules::Invocation;
use crate::rules::builtin::{argv, dialogs, lists, runners, scripts, statements, tcl, undone};
use crate::rules::foreign::{Language, starts_nothing};
use crate::rules::matcher::{
    Found, Scene, contains_word, flag_value, input_of, is_shell, names_module, runs, runs_code, runs_shell,
};
use crate::shell::Arg;

words!("builtin/code/runs");

/// Calls of [`STARTS`] that are also names of functions of a project's own, as tests call them.
const OWN_NAMES: &[&str] = &["run(", "call("];

const ARCHIVERS: &[&str] = &["tar", "bsdtar", "gtar", "zip"];

/// The scripts that sed is given.
fn sed_scripts(inv: &Invocation) -> impl Iterator<Item = &Arg> {
    let by_option = |flag: &&crate::rules::survey::Flag| matches!(flag.name.as_str(), "-e" | "--expression");
    let given =
        inv.flags.iter().any(|flag| matches!(flag.name.as_str(), "-e" | "--expression" | "-f" | "--file"));
    let options = inv.flags.iter().filter(by_option).filter_map(|flag| flag.value.as_ref());
    options.chain(inv.operands.first().filter(|_| !given))
}

fn filter_runs(inv: &Invocation, scene: &Scene<'_>) -> bool {
    if runs(inv, lists::SEDS) {
        let cwd = inv.cwd.as_deref().unwrap_or(scene.view.cwd);
        return sed_scripts(inv).flat_map(|script| scripts::sed_runs(&script.text())).any(|run| match run {
            scripts::SedRun::Command(text) => !may_be_fed(scene, &text, cwd),
            scripts::SedRun::Part(_) => true,
        });
    }
    runs(inv, lists::SCRIPTED_FILTERS)
        && inv
            .operands
            .first()
            .is_some_and(|program| scripts::awk_runs_computed(&program.text(), comes_from_here(inv, scene)))
}

/// Whether what comes down the pipe to a command is what git or a listing of files says.
fn comes_from_here(inv: &Invocation, scene: &Scene<'_>) -> bool {
    const HERE: &[&str] = &["git", "ls", "find", "cat", "grep", "rg", "sort", "uniq", "head", "tail", "cut"];
    let mut before =
        scene.invocations().iter().filter(|other| other.pipeline == inv.pipeline && other.stage < inv.stage);
    before.all(|other| runs(other, HERE))
}

fn runs_at_least<'a>(scene: &Scene<'a>, least: Verdict) -> Found<'a> {
    if scene.nested {
        return Found::No;
    }
    let sed = scene.first(lists::SEDS, |inv| {
        let cwd = inv.cwd.as_deref().unwrap_or(scene.view.cwd);
        let run = sed_scripts(inv).flat_map(|script| scripts::sed_runs(&script.text()));
        { run }.any(|run| shell_verdict(scene, run.text(), cwd) >= least)
    });
    if let Some(text) = sed.map(|inv| inv.text.as_str()).or_else(|| recipes_run(scene, least)) {
        return Found::yes(text);
    }
    if !scene.trigger.meets(CODE) {
        return Found::No;
    }
    let found = interpreters(scene).find(|inv| {
        let cwd = inv.cwd.as_deref().unwrap_or(scene.view.cwd);
        if least < Verdict::Block && is_old_script(inv, scene) {
            return false;
        }
        let is_python = inv.program.starts_with("python") || inv.program.starts_with("pypy");
        texts(inv, scene).any(|text| {
            let whole = text;
            let text = statements::around(&statements::uncommented(&whole), &[STARTS, NAMED_STARTS]);
            let strings = LazyCell::new(|| undone::strings(&text));
            let starts = if runs(inv, lists::SCRIPTED_FILTERS) {
                scripts::awk_starts(&whole)
            } else {
                starts_a_program(inv, &text, &strings)
            };
            if runs(inv, RUBY) && interpolated(&whole).any(|line| shell_verdict(scene, line, cwd) >= least) {
                return true;
            }
            let bare = bare_command(inv, &text, &whole);
            let behind = scene.invocations().len() > 1 && is_run_behind(inv, &whole, scene);
            if bare.is_none() && !starts && !behind {
                return false;
            }
            if fed_by_download(scene, &text, &strings, cwd) >= least {
                return true;
            }
            if !behind {
                let idle = is_python && statements::only_speaks(&whole, &[STARTS, NAMED_STARTS])
                    || bare.is_none() && runs(inv, RUBY) && starts_nothing(&whole);
                if idle {
                    return false;
                }
                if bare.is_none()
                    && let Some(told) = told_by_account(scene, inv, &whole, cwd, least)
                {
                    return told;
                }
            }
            if let Some(command) = bare {
                // Braces are the quotes of expect.
                let command = if runs(inv, &["expect"]) { dialogs::untcl(&command) } else { command };
                return shell_verdict(scene, &command, cwd) >= least;
            }
            // What a started program is given may come from anywhere in the code.
            let commands = tried(scene, inv, (&whole, &text), least, || strings.clone());
            let is_text = |command: &String| least < Verdict::Block && begins_with_pattern(command);
            { commands.into_iter() }
                .filter(|text| !is_text(text))
                .any(|command| shell_verdict(scene, &command, cwd) >= least)
                || least == Verdict::Modify
                    && Language::of(&inv.program).is_none()
                    && called_deserves(scene, &whole, cwd, least)
        })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

const RUBY: &[&str] = &["ruby"];

/// What stands in backticks within what a text of Ruby's has worked out: `"#{`ls`}"`.
fn interpolated(code: &str) -> impl Iterator<Item = &str> {
    code.split("#{").skip(1).filter_map(|rest| rest.split(['}', '\n']).next()?.split('`').nth(1))
}

/// A command of an editor, or those of Tcl: the text itself says what is run.
fn bare_command(inv: &Invocation, text: &str, whole: &str) -> Option<String> {
    // `!seen[$1]++` is a pattern of awk's, not a command of an editor.
    let edits = !runs(inv, lists::SCRIPTED_FILTERS) && flag_value(inv, &["-m"]).is_none();
    let tcl = || runs(inv, TCL).then(|| tcl::commands(whole).join("\n")).filter(|text| !text.is_empty());
    editor_command(text).filter(|_| edits).map(str::to_owned).or_else(tcl)
}

/// Whether a string begins with a pattern that names no directory (`*.json`, `?`, `{x:.1f}%`): a text, for no program is found by it.
fn begins_with_pattern(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    first.contains(['*', '?', '[']) && !first.contains('/')
}

/// Whether code holds what starts a program, or the name of it among its strings: `getattr(os, 'sys' + 'tem')`.
fn starts_a_program(
    inv: &Invocation,
    text: &str,
    strings: &LazyCell<Vec<String>, impl FnOnce() -> Vec<String>>,
) -> bool {
    let tested =
        flag_value(inv, &["-m"]).is_some_and(|module| matches!(module.known(), Some("pytest" | "unittest")));
    let counts = |call: &&&str| {
        !(tested && OWN_NAMES.contains(*call))
            && (**call != "shell" || argv::names_shell(text))
            && (**call != ".execute(" || !speaks_to_database(text))
            && (**call != "`" || argv::runs_backticks(&inv.program, text))
    };
    if STARTS.iter().filter(counts).any(|call| begins(text, call)) {
        return true;
    }
    // Put together, such a name does not stand in the text: the strings must be looked at, where there are any.
    text.contains(['\'', '"', '`'])
        && strings.iter().any(|string| matches!(string.as_str(), "system" | "popen" | "exec" | "execSync"))
}

/// Whether what code has executed are statements for a database, of which rules of their own speak.
fn speaks_to_database(text: &str) -> bool {
    const SIGNS: &[&str] =
        &["SELECT ", "select ", "INSERT ", "UPDATE ", "CREATE TABLE", "PRAGMA", "sqlite3", "cursor", "FROM "];
    SIGNS.iter().any(|sign| text.contains(sign))
}

/// How code gives a program what it reads.
const FEEDS: &[&str] = &["input", "stdin", "communicate", ".pipe("];

/// What code deserves that starts a shell, and feeds it what another program fetches which it starts too.
fn fed_by_download(scene: &Scene<'_>, code: &str, strings: &[String], cwd: &str) -> Verdict {
    let name = |text: &String| {
        let first = text.split_whitespace().next().unwrap_or_default();
        last_name(first).to_owned()
    };
    let fetches = |text: &&String| lists::DOWNLOADERS.contains(&name(text).as_str());
    let shell_text = strings.iter().find(|text| is_shell(&name(text)));
    let fetch = strings.iter().position(|text| fetches(&text));
    let (Some(shell_text), Some(fetch), true) =
        (shell_text, fetch, FEEDS.iter().any(|word| code.contains(word)))
    else {
        return Verdict::Allow;
    };
    let line: Vec<&str> = strings.iter().skip(fetch).map(String::as_str).collect();
    shell_verdict(scene, &format!("{} | {shell_text}", line.join(" ")), cwd)
}

/// Whether another command of the call runs a file that this code names, and may have written.
fn is_run_behind(inv: &Invocation, code: &str, scene: &Scene<'_>) -> bool {
    let files = scripts::written(code);
    scene.invocations().iter().filter(|other| !std::ptr::eq(*other, inv)).any(|other| {
        let tests = flag_value(other, &["-m"])
            .is_some_and(|module| matches!(module.known(), Some("pytest" | "unittest")));
        let runs = runs_code(other) || runs_shell(other) || other.word.prefix().contains('/');
        let named = |arg: &Arg| {
            let name = last_name(arg.prefix());
            name.len() > 1 && code.contains(name)
        };
        let loads = || {
            let texts = other.args.iter().map(Arg::to_text).chain(input_of(other, scene));
            { texts }.any(|text| files.iter().any(|file| names_module(&text, file)))
        };
        runs && !tests
            && (other.operands.iter().chain([&other.word]).any(named)
                || !files.is_empty() && runs_code(other) && loads())
    })
}

/// Whether code holds what starts a command; a bar at the beginning of a string does, a string that is a bar does not.
fn begins(text: &str, call: &str) -> bool {
    if matches!(call, "|\"" | "|'") {
        // `open(F, "rm -rf x|")`
        return text.contains(call) && text.contains("open");
    }
    if call == "Process" {
        // A class and what is asked of it (`new Process(`, `Process.spawn`, `ProcessBuilder`), not every word that has the letters.
        let parts = text.split(call).skip(1);
        return { parts }.any(|behind| {
            behind.starts_with(['(', '.', ':', '\'', '"', '{', '[', ']']) || behind.starts_with("Builder")
        });
    }
    // A call of its own, of which the list speaks too.
    if call == "exec" && text.contains("execute") {
        return contains_word(&text.replace("execute", ""), call);
    }
    if !matches!(call, "\"|" | "'|") {
        return contains_word(text, call);
    }
    text.match_indices(call).any(|(at, _)| {
        let behind = text.get(at + call.len()..).unwrap_or_default().trim_start();
        !behind.is_empty() && !behind.starts_with(['"', '\''])
    })
}

/// `:!command` of vi and its kin, `spawn command` of expect.
fn editor_command(text: &str) -> Option<&str> {
    let text = text.trim_start_matches('+');
    text.strip_prefix(":!").or_else(|| text.strip_prefix('!')).or_else(|| text.strip_prefix("spawn "))
}

/// Tcl has commands without quotes: `exec rm -rf x`.
const TCL: &[&str] = &["tclsh", "wish"];

const MAKES: &[&str] = &["make", "gmake", "bmake", "m4"];

/// `make` that is told on its standard input what to run.
fn recipes_run<'a>(scene: &Scene<'a>, least: Verdict) -> Option<&'a str> {
    let fed = scene.first(MAKES, |inv| {
        let told = flag_value(inv, &["-f", "--file", "--makefile"]);
        let cwd = inv.cwd.as_deref().unwrap_or(scene.view.cwd);
        told.is_some_and(|file| matches!(file.known(), Some("-" | "/dev/stdin")))
            && input_of(inv, scene).iter().flat_map(|text| text.lines()).take(MAX_LITERALS).any(|line| {
                let recipe = line.trim_start_matches(['\t', '@', '-', '+', ' ']).replace("$$", "$");
                let recipe = recipe.replace("$(HOME)", "$HOME").replace("$(PWD)", "$PWD");
                shell_verdict(scene, &recipe, cwd) >= least
            })
    });
    fed.or_else(|| scene.first(&["m4"], |inv| macros_run(inv, scene, least))).map(|inv| inv.text.as_str())
}

/// `syscmd(…)` of m4.
fn macros_run(inv: &Invocation, scene: &Scene<'_>, least: Verdict) -> bool {
    let cwd = inv.cwd.as_deref().unwrap_or(scene.view.cwd);
    let texts = input_of(inv, scene).into_iter().chain(inv.args.iter().map(Arg::to_text));
    { texts }.any(|text| {
        text.split("syscmd(").skip(1).take(MAX_LITERALS).any(|rest| {
            let command = rest.split(')').next().unwrap_or_default().trim_matches(['`', '\'']).to_owned();
            shell_verdict(scene, &command, cwd) >= least
        })
    })
}

fn archiver_runs(inv: &Invocation, scene: &Scene<'_>) -> bool {
    const RUNS: &[&str] =
        &["--checkpoint-action=exec", "--to-command", "--unzip-command", "-TT", "--rsh-command"];
    /// Of these the command is given what is in the archive, or nothing.
    const FED: &[&str] = &["--to-command=", "--checkpoint-action=exec="];
    let cwd = inv.cwd.as_deref().unwrap_or(scene.view.cwd);
    let harmless = |arg: &Arg| {
        let command = arg.known().and_then(|arg| FED.iter().find_map(|option| arg.strip_prefix(option)));
        command.is_some_and(|command| may_be_fed(scene, command, cwd))
    };
    let named = inv.args.iter().filter(|arg| RUNS.iter().any(|option| arg.prefix().starts_with(option)));
    { named }.any(|arg| !harmless(arg))
}
