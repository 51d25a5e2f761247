//! What the machine is known by and starts with: files that everything reads, boot, trust, names, network. What runs on it is
//! in `system`.

pub(super) mod devices;
pub(super) mod settings;
pub(super) mod shadowed;

use crate::domain::{Action, EffectKind, Target};
use crate::rules::Invocation;
use crate::rules::matcher::{At, Found, Scene, at, has_flag};
use crate::shell::Arg;

const CHANGES: &[EffectKind] =
    &[EffectKind::FileCreation, EffectKind::FileModification, EffectKind::FileDeletion];

words!("builtin/machine");

/// Directories in which commands are looked for before those of the system.
pub(in crate::rules) const FIRST: &[At] = &[
    At::Home(".local/bin"),
    At::Home("bin"),
    At::Abs("/usr/local/bin"),
    At::Abs("/usr/local/sbin"),
    At::Abs("/opt/bin"),
];

fn directory_of_commands_replaced(inv: &Invocation) -> bool {
    const PLACES: &[&str] = &["/usr/local/bin", "/usr/local/sbin", "/usr/bin", "/usr/sbin", "/bin", "/sbin"];
    let itself = ["-n", "--no-dereference", "-T", "--no-target-directory"];
    let last = inv.operands.last().and_then(Arg::known).unwrap_or_default();
    itself.iter().any(|flag| has_flag(inv, flag)) && PLACES.contains(&last.trim_end_matches('/'))
}

/// An editor's or a browser's extension from a file of unknown origin.
fn extension_from_file(inv: &Invocation) -> bool {
    let loads = |text: &str| text.ends_with(".vsix") || text.starts_with("--load-extension=");
    inv.args.iter().any(|arg| {
        let text = arg.text();
        let path = text.rsplit('=').next().unwrap_or_default();
        let strange = ["/tmp/", "/var/tmp/", "/dev/shm/", "http"].iter().any(|start| path.starts_with(start))
            || path.contains("/Downloads/");
        loads(&text) && strange
    })
}

const SUDOS: &[&str] = &["sudo", "sudoedit", "doas"];

/// A file with the name of a command where commands are looked for first, or in a temporary directory.
fn shadowed<'a>(scene: &Scene<'a>) -> Found<'a> {
    let home = scene.view.facts.places.home.as_deref();
    let found = scene.effects().find(|(effect, _)| {
        let Target::Path { path, .. } = &effect.target else { return false };
        let Some((dir, name)) = path.rsplit_once('/') else { return false };
        let first = matches!(effect.kind, EffectKind::FileCreation | EffectKind::FileModification)
            && COMMANDS.contains(&name);
        let planted = matches!(name, "sudo" | "su" | "ssh" | "passwd" | "doas");
        let temporary = matches!(dir, "/tmp" | "/var/tmp" | "/dev/shm");
        first && (at(&effect.target, FIRST, home) || planted && temporary)
    });
    let line = scene.command_line();
    let shown = |target: &'a str| if line.is_empty() { target } else { line };
    Found::from(found.map(|(effect, _)| shown(effect.target.text())))
}

const ALTERNATIVES: &[&str] = &["update-alternatives", "alternatives"];

/// A command of everybody's that from now on is a program out of a directory which anybody fills.
fn alternative_planted(inv: &Invocation) -> bool {
    let changes = inv.args.iter().any(|arg| matches!(arg.known(), Some("--set" | "--install")));
    let planted = |arg: &Arg| {
        let text = arg.text();
        ["/tmp/", "/var/tmp/", "/dev/shm/", "/home/", "/Users/", "./", "~/"]
            .iter()
            .any(|dir| text.starts_with(dir))
    };
    changes && inv.args.iter().any(planted)
}

/// An alias or a function in the place of a command that asks for a password.
fn shadowed_in_shell<'a>(scene: &Scene<'a>) -> Found<'a> {
    const ASKING: &[&str] = &["sudo", "su", "doas", "ssh", "passwd", "gpg"];
    // What stands behind the name may add an option, and still is the command.
    let replaces = |text: &str| {
        text.split_once('=').is_some_and(|(name, value)| {
            ASKING.contains(&name) && !value.split_whitespace().any(|word| word == name)
        })
    };
    let alias = scene.first(&["alias"], |inv| inv.args.iter().any(|arg| replaces(&arg.text())));
    if let Some(inv) = alias {
        return Found::yes(&inv.text);
    }
    if scene.nested || !scene.says("()") && !scene.says("function ") {
        return Found::No;
    }
    let defined = super::texts::holding(scene, "su")
        .any(|script| script.functions.iter().any(|name| matches!(name.as_str(), "sudo" | "su")));
    if defined && !matches!(scene.view.call.action, Action::Spawn { .. }) {
        Found::yes(scene.command_line())
    } else {
        Found::No
    }
}

/// A program with all rights that is told to run another, or that a person would go on talking to.
fn offered<'a>(scene: &Scene<'a>) -> Found<'a> {
    const TALKS: &[&str] = &[
        "ed", "ex", "vi", "vim", "python", "python3", "irb", "lua", "node", "perl", "gdb", "ftp", "bc",
        "psql", "sqlite3", "mysql", "php", "ruby", "rlwrap",
    ];
    let line = scene.command_line();
    let words: Vec<&str> = line
        .split_whitespace()
        .map(|word| word.trim_matches(['"', '\'', '\\', '(', '`', '{']))
        .filter(|word| !word.is_empty())
        .collect();
    let injected = ["sudo", "doas"].iter().any(|sudo| {
        words.iter().enumerate().filter(|(_, word)| word.ends_with(sudo)).any(|(at, _)| {
            let rest = words.iter().skip(at + 1);
            { rest }.take_while(|word| word.contains('=') || word.starts_with('-')).any(|word| {
                [
                    "LD_PRELOAD=",
                    "LD_LIBRARY_PATH=",
                    "LD_AUDIT=",
                    "PYTHONPATH=",
                    "PERL5LIB=",
                    "PERL5OPT=",
                    "BASH_ENV=",
                ]
                .iter()
                .any(|name| word.starts_with(name))
            })
        })
    });
    let found = scene.invocations().iter().find(|inv| {
        if inv.program == "sudoedit" {
            return true;
        }
        if !inv.privileged || inv.contained {
            return false;
        }
        let words = || inv.args.iter().map(Arg::text);
        match inv.program.as_str() {
            "apt" | "apt-get" | "aptitude" => {
                words().any(|word| word.contains("Invoke::") || word.contains("-Invoke="))
            }
            "tcpdump" => has_flag(inv, "-z"),
            "nmap" => words().any(|word| word == "--interactive" || word.starts_with("--script=/tmp")),
            "script" => !has_flag(inv, "-c") && !has_flag(inv, "--command"),
            "git" => words().next().is_some_and(|word| word == "-p") && words().any(|word| word == "help"),
            "zip" => {
                has_flag(inv, "-T")
                    && words().any(|word| word.starts_with("-TT") || word == "--unzip-command")
            }
            "crash" | "dmsetup" => false,
            program => {
                TALKS.contains(&program)
                    && inv.args.is_empty()
                    && inv.reads.is_empty()
                    && matches!(inv.stdin, crate::rules::Stdin::Inherited)
            }
        }
    });
    match found {
        Some(inv) => Found::yes(&inv.text),
        None if injected && scene.invocations().iter().any(|inv| inv.privileged) => Found::yes(line),
        None => Found::No,
    }
}

/// A time is given to `date` that is not to be shown: by an option, or as digits.
fn date_set(inv: &Invocation) -> bool {
    let is_time = |arg: &Arg| {
        let text = arg.prefix().split('.').next().unwrap_or_default();
        text.len() >= 8 && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    let asks = inv.args.iter().any(|arg| matches!(arg.known(), Some("--help" | "--version")));
    !asks && (has_flag(inv, "-s") || has_flag(inv, "--set") || inv.operands.iter().any(is_time))
}
