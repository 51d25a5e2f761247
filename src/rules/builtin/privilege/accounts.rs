//! Who may be root: shells, sudoers, accounts.

use super::CHANGES;
use crate::domain::last_name;
use crate::rules::builtin::{libraries, texts};
use crate::rules::facts;
use crate::rules::matcher::{Found, Scene, asks_for_help, has_flag, is_shell, runs, runs_code, runs_shell};
use crate::rules::{Invocation, Stdin};
use crate::shell::{Arg, Word};
use std::cell::LazyCell;

fn sudoers_edited<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(&["sudoedit"], |inv| inv.text.contains("/etc/sudoers"));
    if let Some(inv) = found {
        return Found::yes(&inv.text);
    }
    if edits_sudoers(scene) { Found::yes(scene.command_line()) } else { Found::No }
}

fn module_gives_rights(inv: &Invocation) -> bool {
    const RIGHTS: &[&str] = &["/etc/sudoers", "NOPASSWD", "uid=0 ", "/etc/doas.conf", "/etc/shadow"];
    let told = inv.args.iter().map(Arg::text).map(|text| format!("{text} "));
    { told }.any(|text| RIGHTS.iter().any(|right| text.contains(right))) && !has_flag(inv, "--check")
}

fn account_changed(inv: &Invocation) -> bool {
    // `useradd -D` alone shows what new users would get.
    let shows = |inv: &Invocation| matches!(inv.args.as_slice(), [one] if one.known() == Some("-D"));
    !(asks_for_help(inv) || joins_a_port(inv) || inv.program == "useradd" && shows(inv))
}

const SUDO: &[&str] = &["sudo", "doas", "su"];

words!("builtin/privilege/accounts");

/// `usermod -aG dialout NAME`, as the manuals of boards say.
fn joins_a_port(inv: &Invocation) -> bool {
    let known: Vec<&str> = inv.args.iter().filter_map(Arg::known).collect();
    match known.as_slice() {
        ["-aG", group] | ["-aG", group, _] | ["-a", "-G", group] | ["-a", "-G", group, _] => {
            PORTS.contains(group) && inv.args.len() <= known.len() + 1
        }
        _ => false,
    }
}

/// `su postgres -c "createdb x"`: one command, which is judged itself, and not with root's rights.
/// `sudo -u root -e /etc/sudoers`: the option is gone once sudo is unfolded; the text still has it.
fn edits_sudoers(scene: &Scene<'_>) -> bool {
    let edits = |words: &[Word]| {
        let words: Vec<String> = words.iter().map(texts::front).collect();
        let mut starts =
            words.iter().enumerate().filter(|(_, word)| *word == "sudo" || word.ends_with("/sudo"));
        words.iter().any(|word| word.starts_with("/etc/sudoers"))
            && starts.any(|(at, _)| {
                let mut valued = false;
                let options = words.iter().skip(at + 1).take_while(|word| {
                    let one = valued || word.starts_with('-');
                    valued = matches!(word.as_str(), "-u" | "-g" | "-h" | "-p" | "-C" | "-r" | "-t" | "-T");
                    one
                });
                { options }.any(|word| word == "-e" || word == "--edit")
            })
    };
    texts::holding(scene, "sudo").any(|script| script.commands.iter().any(|simple| edits(&simple.words)))
}

fn runs_as_other(inv: &Invocation) -> bool {
    let user = inv.operands.iter().find(|arg| arg.known() != Some("-") && arg.known() != Some("-c"));
    has_flag(inv, "-c")
        && user
            .and_then(Arg::known)
            .is_some_and(|name| !name.is_empty() && name != "root" && !name.starts_with('-'))
}

fn root_shell(inv: &Invocation) -> bool {
    match inv.program.as_str() {
        "su" => !has_flag(inv, "--help") && !has_flag(inv, "--version") && !runs_as_other(inv),
        "sudo" | "doas" => ["-i", "-s", "--login", "--shell"].iter().any(|flag| has_flag(inv, flag)),
        _ => {
            let becomes = || {
                inv.wrappers.iter().any(|name| name == "setpriv")
                    && ["--reuid=0", "--reuid 0", "--ruid=0", "--euid=0", "--reuid=root", "--reuid root"]
                        .iter()
                        .any(|flag| inv.text.contains(flag))
            };
            // What `xargs` adds is not known.
            let added = || {
                inv.wrappers.last().is_some_and(|name| name == "xargs")
                    && inv.operands.iter().all(Arg::has_unknown)
            };
            runs_shell(inv)
                && (inv.privileged || becomes())
                && (inv.operands.is_empty() || added())
                // What it is given to run stands there, and is judged as a script.
                && !matches!(inv.stdin, Stdin::Text(_))
                && !has_flag(inv, "-c")
                && !has_flag(inv, "--version")
        }
    }
}

/// A shell is asked for inside a program that runs with other rights: in its code, its options, its commands.
fn shell_out_of(inv: &Invocation, scene: &Scene<'_>) -> bool {
    const SHELLS: &[&str] = &["/bin/sh", "/bin/bash", "/bin/zsh", "/bin/dash", "pty.spawn"];
    // `-u#-1` was taken for root by some versions.
    let strange = |text: &str| text.contains("#-1") || text.contains("#4294967295");
    let strange_line = LazyCell::new(|| strange(scene.command_line()));
    let by_sudo = || inv.program == "sudo" || inv.wrappers.iter().any(|name| name == "sudo");
    if by_sudo() && (strange(&inv.text) || *strange_line) {
        return true;
    }
    if !inv.privileged {
        return false;
    }
    // `ip netns exec x /bin/sh`
    let behind = inv.args.iter().skip_while(|arg| arg.known() != Some("exec")).nth(2);
    let entered = inv.program == "ip"
        && inv.args.last().is_some_and(|last| {
            behind == Some(last) && last.known().is_some_and(|word| is_shell(last_name(word)))
        });
    let bare = entered
        || inv.operands.is_empty() && runs(inv, &["screen", "tmux", "script", "expect", "byobu", "zellij"]);
    let names = |text: &str| SHELLS.iter().any(|shell| text.contains(shell)) && !text.starts_with("/bin/");
    let quoted = |text: &str| {
        let word =
            |shell: &&str| ['"', '\''].iter().any(|quote| text.contains(&format!("{quote}{shell}{quote}")));
        text.contains("pty.spawn") || SHELLS.iter().any(word)
    };
    let coded = runs_code(inv)
        && (inv.args.iter().any(|arg| names(&arg.text()))
            || libraries::scripts_of(inv, scene).iter().any(|script| quoted(script)));
    let escapes = || {
        inv.args.iter().any(|arg| {
            let text = arg.text();
            SHELL_ESCAPES
                .iter()
                .any(|escape| text == *escape || text.starts_with(escape) && !escape.ends_with("sh"))
        })
    };
    bare || coded || escapes() || hands_shell(inv)
}

/// A program that nobody knows is given a shell to work on, and not behind an option: it can be no more than what starts it.
fn hands_shell(inv: &Invocation) -> bool {
    let shell = |arg: &Arg| {
        let path = arg.known().filter(|word| word.starts_with('/'));
        path.and_then(|path| path.rsplit_once('/')).is_some_and(|(dir, name)| {
            matches!(dir, "/bin" | "/usr/bin" | "/usr/local/bin") && is_shell(name)
        })
    };
    if facts::find(&inv.program).is_some() || inv.program.is_empty() {
        return false;
    }
    let mut behind_option = false;
    inv.args.iter().any(|arg| {
        let option = arg.prefix().starts_with('-');
        let given = !option && !behind_option && shell(arg);
        behind_option = option && !arg.text().contains('=');
        given
    })
}

/// `bash -p`: the rights of a setuid copy are not given up.
fn keeps_rights(inv: &Invocation) -> bool {
    let shell = runs_shell(inv) || inv.word.prefix().starts_with("/tmp/") && inv.program.contains("sh");
    shell && !runs(inv, &["fish", "pwsh", "powershell"]) && inv.args.len() == 1 && has_flag(inv, "-p")
}

/// `net user NAME PASSWORD`, `net localgroup GROUP NAME /add`: with less only what is there is listed.
fn windows_account(inv: &Invocation) -> bool {
    let words: Vec<&str> = inv.args.iter().map(Arg::prefix).collect();
    let words: Vec<&str> = words.into_iter().filter(|word| *word != "/domain").collect();
    matches!(words.as_slice(), ["user" | "localgroup", rest @ ..]
            if rest.len() > 1 || rest.iter().any(|word| word.starts_with('/')))
}
