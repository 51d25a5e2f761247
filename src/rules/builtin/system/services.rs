//! Services that are ended by another way than the program that manages them: by the name of their process, by the file with its
//! number, by the port that they listen on.

use super::{KILLERS, killed_names};
use crate::rules::Invocation;
use crate::rules::builtin::operations;
use crate::rules::matcher::{Scene, Trigger, has_flag, runs};
use crate::shell::Arg;

words!("builtin/system/services");

/// Where the files with the numbers of services lie, and the scripts that start them.
const PID_FILES: &[&str] = &["/run/", "/var/run/"];
const SCRIPTS: &str = "/etc/init.d/";

/// The door through which people come in.
const DOORS: &[&str] = &["ssh", "sshd"];

pub(super) const NEEDS: Trigger = Trigger::programs(KILLERS).or(Trigger::programs(&[
    "fuser",
    "service",
    "rc-service",
    "systemctl",
    "brew",
]));

/// A signal that ends nothing.
fn is_gentle(inv: &Invocation) -> bool {
    // With QUIT a server ends once it has answered all, and a virtual machine tells what it does.
    const GENTLE: &[&str] = &["0", "1", "HUP", "QUIT", "USR1", "USR2", "WINCH", "CONT", "CHLD"];
    inv.args.iter().take(2).filter_map(Arg::known).any(|word| {
        let signal = word.trim_start_matches('-');
        GENTLE.contains(&signal.strip_prefix("SIG").unwrap_or(signal))
    })
}

/// Whether a killer gets the number of a process from elsewhere.
fn is_given(inv: &Invocation) -> bool {
    inv.program == "kill"
        && (inv.args.iter().any(Arg::has_unknown) || inv.wrappers.iter().any(|name| name == "xargs"))
}

/// The files with numbers that are read for a killer, or that it reads itself.
fn pid_files<'s>(scene: &'s Scene<'_>) -> impl Iterator<Item = &'s str> {
    let readers = scene.running(|inv| runs(inv, &["cat", "head", "pkill", "xargs"]));
    let files = readers.flat_map(|inv| {
        let values = inv.flags.iter().filter_map(|flag| flag.value.as_ref());
        inv.operands.iter().chain(values).filter_map(Arg::known)
    });
    files.filter(|file| PID_FILES.iter().any(|dir| file.starts_with(dir)) && file.ends_with(".pid"))
}

/// `-i:22`, `tcp:22`, `22/tcp`, `:ssh`
fn names_door(text: &str) -> bool {
    let port = text.split('/').next().unwrap_or_default();
    matches!(port.rsplit(':').next().unwrap_or_default(), "22" | "ssh")
}

/// Nobody comes in from another machine any more, or nothing that the machine offers runs any more.
pub(super) fn door_closed(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let listed_by_port = || {
        scene.first(&["lsof"], |inv| {
            inv.args.iter().any(|arg| arg.text().contains(':') && names_door(&arg.text()))
        })
    };
    let every_unit = || {
        scene.first(&["systemctl"], |inv| {
            operations::known_words(inv).iter().any(|w| w.starts_with("list-unit"))
        })
    };
    match inv.program.as_str() {
        "kill" => {
            is_given(inv)
                && !is_gentle(inv)
                && (listed_by_port().is_some() || pid_files(scene).any(|file| file.ends_with("/sshd.pid")))
        }
        "pkill" | "killall" => {
            let named = |word: &str| {
                matches!(word.trim_start_matches('^').trim_end_matches('$'), "sshd" | "/usr/sbin/sshd")
            };
            !is_gentle(inv)
                && (killed_names(inv, scene.invocations()).any(named)
                    || has_flag(inv, "-F") && pid_files(scene).any(|file| file.ends_with("/sshd.pid")))
        }
        "fuser" => {
            let words = operations::known_words(inv);
            has_flag(inv, "-k") && words.iter().any(|word| names_door(word))
        }
        "service" | "rc-service" => {
            let words = operations::known_words(inv);
            words.contains(&"stop") && words.iter().any(|word| DOORS.contains(word))
        }
        "systemctl" => {
            let fed =
                inv.wrappers.iter().any(|name| name == "xargs") || inv.args.iter().any(Arg::has_unknown);
            fed && operations::known_words(inv)
                .iter()
                .any(|word| matches!(*word, "stop" | "kill" | "disable" | "mask"))
                && every_unit().is_some()
        }
        name => DOORS.contains(&name) && is_script(inv) && operations::known_words(inv).contains(&"stop"),
    }
}

fn is_script(inv: &Invocation) -> bool {
    inv.word.prefix().starts_with(SCRIPTS)
}

/// A service that others live by is ended.
pub(super) fn ended(inv: &Invocation, scene: &Scene<'_>) -> bool {
    match inv.program.as_str() {
        "kill" | "pkill" | "killall" if is_gentle(inv) || inv.contained => false,
        "kill" => {
            is_given(inv)
                && (pid_files(scene).next().is_some()
                    || killed_names(inv, scene.invocations()).any(|name| SERVERS.contains(&name)))
        }
        "pkill" | "killall" => {
            killed_names(inv, scene.invocations()).any(|name| SERVERS.contains(&name))
                || has_flag(inv, "-F") && pid_files(scene).next().is_some()
        }
        "brew" => {
            let words = operations::known_words(inv);
            words.starts_with(&["services", "stop"]) && words.contains(&"--all")
        }
        _ => is_script(inv) && operations::known_words(inv).contains(&"stop"),
    }
}
