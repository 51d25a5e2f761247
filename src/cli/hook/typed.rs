//! Programs that run what is typed into them, on a client whose model types without any hook being asked.

use crate::adapters::PATCH_BEGIN;
use crate::domain::{Client, Reason, Severity, Verdict};
use crate::rules::{Invocation, Stdin, Survey};
use crate::shell::Arg;

/// Shells, and other programs that take a script as their first operand, or code behind one of the options.
const INTERPRETERS: &[&str] = &[
    "bash", "sh", "zsh", "dash", "ksh", "mksh", "ash", "fish", "csh", "tcsh", "pwsh", "nu", "xonsh",
    "elvish", "python", "python2", "python3", "ipython", "node", "deno", "bun", "ruby", "irb", "pry", "perl",
    "php", "lua", "luajit", "R", "julia", "ghci", "iex", "erl", "scala", "jshell", "tclsh", "wish", "expect",
    "gdb", "lldb",
];
const CODE: &[&str] =
    &["-c", "-e", "-m", "-p", "-r", "-E", "--eval", "--print", "--version", "-V", "--help", "-h", "-v"];
const TYPED: &[&str] = &["-i", "-s", "-a", "--interactive"];
/// The terminal, or the standard input, by a name.
const TERMINAL: &[&str] = &["-", "/dev/stdin", "/dev/tty", "/dev/fd/0", "/proc/self/fd/0", "/dev/console"];
/// What has any of these programs only tell of itself.
const HARMLESS: &[&str] = &["--version", "--help"];
/// Clients of something else, with so many operands that name it.
const CLIENTS: &[(&str, usize)] = &[
    ("sqlite3", 1),
    ("psql", 2),
    ("mysql", 1),
    ("mariadb", 1),
    ("mongosh", 1),
    ("mongo", 1),
    ("redis-cli", 0),
    ("duckdb", 1),
    ("clickhouse-client", 0),
    ("ssh", 1),
    ("mosh", 1),
    ("telnet", 2),
    ("nc", 2),
    ("ncat", 2),
    ("socat", 2),
    ("ftp", 1),
    ("sftp", 1),
    ("lftp", 1),
];
const GIVEN: &[&str] = &[
    "-c",
    "-f",
    "-e",
    "-N",
    "--command",
    "--file",
    "--execute",
    "--eval",
    "-b",
    "-z",
    "--version",
    "-V",
    "--help",
];
/// Editors and pagers, each with a command that starts a shell, and what gives a program a terminal.
const ALWAYS: &[&str] = &[
    "vi", "vim", "nvim", "view", "nano", "emacs", "ed", "ex", "less", "more", "screen", "tmux", "script",
    "su", "login",
];
/// Write down what is typed.
const WRITERS: &[&str] = &["cat", "tee", "dd"];

/// Why a call leaves a program that what is typed later is run or written by; none where no such program is started, or every call
/// of the client comes to a hook.
pub(super) fn reason(client: Client, survey: &Survey) -> Option<Reason> {
    if !client.about().types_unseen {
        return None;
    }
    if survey.invocations.iter().any(patches_from_elsewhere) {
        let message = "has a patch applied that does not stand in the call".to_owned();
        let instead = Some("write the patch into the call, as a here-document".to_owned());
        return Some(Reason {
            instead,
            ..Reason::new("self.typed", Verdict::Modify, Severity::High, message)
        });
    }
    let found = survey.invocations.iter().find(|inv| takes(inv))?;
    let message =
        format!("starts {}, and what is typed into it later comes to no hook of this client", found.program);
    let instead =
        Some("give it what it is to do in the command: a script, -c, or a here-document".to_owned());
    Some(Reason { instead, ..Reason::new("self.typed", Verdict::Modify, Severity::High, message) })
}

/// Whether the client's own program for patches reads one that the call does not hold.
fn patches_from_elsewhere(inv: &Invocation) -> bool {
    let holds = |arg: &Arg| arg.text().contains(PATCH_BEGIN) && !arg.has_unknown();
    let piped = matches!(&inv.stdin, Stdin::Text(text) if holds(text));
    inv.program == "apply_patch" && !piped && !inv.args.iter().any(holds)
}

/// Whether a program reads from the terminal what it is to do.
fn takes(inv: &Invocation) -> bool {
    if inv.stdin != Stdin::Inherited || inv.stage > 0 {
        return false;
    }
    let program = inv.program.as_str();
    let words: Vec<_> = inv.args.iter().map(|arg| arg.text()).collect();
    let has = |options: &[&str]| words.iter().any(|word| options.contains(&word.as_ref()));
    let operands = words.iter().filter(|word| !word.starts_with('-')).count();
    if has(TERMINAL)
        && (INTERPRETERS.contains(&program)
            || matches!(program, "source" | "." | "eval" | "make" | "gawk" | "awk"))
    {
        return true;
    }
    if has(HARMLESS) || program == "tmux" && has(&["ls"]) || program == "screen" && has(&["-ls"]) {
        return false;
    }
    if INTERPRETERS.contains(&program) {
        let code = words.iter().any(|word| {
            CODE.contains(&word.as_ref())
                || word.starts_with('-') && !word.starts_with("--") && word.ends_with('c')
        });
        return has(TYPED) && program != "perl" || (operands == 0 && !code);
    }
    let client = CLIENTS.iter().find(|(name, _)| *name == program);
    client.is_some_and(|(_, most)| operands <= *most && !has(GIVEN))
        || ALWAYS.contains(&program)
        || (WRITERS.contains(&program) && writes(inv, program, operands))
}

fn writes(inv: &Invocation, program: &str, operands: usize) -> bool {
    match program {
        "tee" => operands > 0,
        "dd" => !inv.args.iter().any(|arg| arg.text().starts_with("if=")),
        _ => operands == 0 && !inv.writes.is_empty(),
    }
}
