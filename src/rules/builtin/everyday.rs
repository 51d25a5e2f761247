//! What lies next to a danger and is everyday work: each told apart once, for the rule whose word it would be.

use super::operations;
use super::packages::hosted;
use crate::domain::{Target, last_name};
use crate::rules::facts;
use crate::rules::matcher::{Scene, asks_for_help, flag_value, has_flag, input_of, runs};
use crate::rules::{Invocation, Stdin};
use crate::shell::Arg;

words!("builtin/everyday");

/// Whether the kernel's switch of this name (with dots) may be set as work needs it.
fn is_tuned(name: &str) -> bool {
    TUNED.iter().any(|tuned| match tuned.strip_suffix('.') {
        Some(group) => {
            name.strip_prefix(group).is_some_and(|rest| rest.starts_with('.') && !rest.contains('/'))
        }
        None => name == *tuned,
    })
}

/// Whether a path below /proc is such a switch.
pub(super) fn is_tuned_file(path: &str) -> bool {
    path.strip_prefix("/proc/sys/").is_some_and(|name| is_tuned(&name.replace('/', "."))) || is_light(path)
}

/// A lamp or a display: `/sys/class/leds/x/brightness`.
fn is_light(path: &str) -> bool {
    const CLASSES: &[&str] = &["leds", "backlight"];
    let mut parts = path.strip_prefix("/sys/class/").unwrap_or_default().split('/');
    CLASSES.contains(&parts.next().unwrap_or_default())
        && parts.next().is_some_and(|name| !name.is_empty())
        && matches!(parts.next(), Some("brightness" | "trigger" | "bl_power"))
        && parts.next().is_none()
}

/// Whether a target is one setting of a device that takes nothing away.
pub(super) fn is_device_setting(target: &Target) -> bool {
    const GONE: &[&str] =
        &["remove", "delete", "delete_device", "unbind", "reset", "driver_override", "online"];
    let Target::Path { path, glob: false, recursive: false } = target else { return false };
    let last = last_name(path);
    DEVICES.iter().any(|dir| path.starts_with(dir))
        && !GONE.contains(&last)
        && !path.contains("/../")
        && !is_light(path)
}

/// `sysctl` that sets such switches and nothing else.
pub(super) fn only_tunes(inv: &Invocation) -> bool {
    let loads = ["-p", "--load", "--system"].iter().any(|flag| has_flag(inv, flag));
    let value = flag_value(inv, &["-w", "--write"]).into_iter();
    let mut set = inv.operands.iter().chain(value).peekable();
    !loads
        && set.peek().is_some()
        && set.all(|arg| {
            let name = arg.prefix().split('=').next().unwrap_or_default();
            arg.known().is_some() && is_tuned(&name.replace('/', "."))
        })
}

/// `echo fs.inotify.max_user_watches=524288 | sudo tee -a /etc/sysctl.conf`: such switches are kept over a start.
pub(super) fn keeps_tuned(inv: &Invocation, target: &Target, scene: &Scene<'_>) -> bool {
    let path = target.text();
    let own = path.strip_prefix("/etc/sysctl.d/").is_some_and(|name| !name.contains('/'));
    let appended = path == "/etc/sysctl.conf" && has_flag(inv, "-a");
    if !runs(inv, &["tee"]) || !(own || appended) {
        return false;
    }
    let sets = |line: &str| {
        line.split_once('=').is_some_and(|(name, value)| {
            let value = value.trim();
            is_tuned(name.trim()) && !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit())
        })
    };
    each_line_given(inv, scene, sets)
}

/// `echo '127.0.0.1 app.local' | sudo tee -a /etc/hosts`: names for work on this machine alone, which nobody else has.
pub(super) fn names_this_machine(inv: &Invocation, scene: &Scene<'_>) -> bool {
    const ENDS: &[&str] = &[".local", ".localhost", ".test"];
    let names = |line: &str| {
        let mut words = line.split_whitespace();
        let here = |address: &str| matches!(address, "127.0.0.1" | "127.0.1.1" | "::1");
        let first = words.next().is_some_and(here);
        let mut names = words.take_while(|word| !word.starts_with('#')).peekable();
        first && names.peek().is_some() && names.all(|name| ENDS.iter().any(|end| name.ends_with(end)))
    };
    runs(inv, &["tee"]) && has_flag(inv, "-a") && each_line_given(inv, scene, names)
}

/// Whether all that a command is given to write is known, and `test` holds of each line that says something.
fn each_line_given(inv: &Invocation, scene: &Scene<'_>, test: impl Fn(&str) -> bool) -> bool {
    let mut before = scene
        .invocations()
        .iter()
        .filter(|other| other.pipeline == inv.pipeline && other.stage < inv.stage)
        .peekable();
    let printed = before.peek().is_some() && before.all(|other| runs(other, &["echo", "printf"]));
    let says = |line: &&str| !line.is_empty() && !line.starts_with('#');
    // `printf` and some shells make line breaks of these.
    let texts: Vec<String> = input_of(inv, scene).iter().map(|text| text.replace("\\n", "\n")).collect();
    if texts.iter().any(|text| text.contains('\\')) {
        return false;
    }
    let mut lines = texts.iter().flat_map(|text| text.lines()).map(str::trim).filter(says).peekable();
    (printed || matches!(inv.stdin, Stdin::Text(_))) && lines.peek().is_some() && lines.all(test)
}

/// `modprobe` of one such module, with its parameters.
pub(super) fn loads_known_module(inv: &Invocation) -> bool {
    const QUIET: &[&str] = &["-v", "--verbose", "-q", "--quiet", "-s", "--syslog"];
    let quiet = inv.flags.iter().all(|flag| QUIET.contains(&flag.name.as_str()));
    let (first, rest) = match inv.operands.split_first() {
        Some((first, rest)) => (first.known().unwrap_or_default(), rest),
        None => return false,
    };
    inv.program == "modprobe"
        && quiet
        && MODULES.contains(&first)
        && rest.iter().all(|arg| arg.known().is_some_and(|word| word.contains('=')))
}

/// `ufw allow 22/tcp`: one door for a service that everybody knows; not everything, and not from one address.
pub(super) fn opens_known_port(inv: &Invocation) -> bool {
    let words = operations::known_words(inv);
    let port = |word: &str| {
        let (port, kind) = word.split_once('/').unwrap_or((word, "tcp"));
        PORTS.contains(&port) && matches!(kind, "tcp" | "udp")
    };
    inv.program == "ufw"
        && words.len() == inv.args.len()
        && matches!(words.as_slice(), ["allow", one] | ["allow", "in", one] if port(one))
}

/// Removes tools that are installed again with one command, or what the package manager itself says that nothing needs.
pub(super) fn removes_tools(inv: &Invocation) -> bool {
    if !runs(inv, INSTALLERS) {
        return false;
    }
    let words = operations::known_words(inv);
    if words.len() != inv.args.len() || words.iter().any(|word| UNASKED_REMOVAL.contains(word)) {
        return false;
    }
    let mut names = words.iter().filter(|word| !word.starts_with('-')).copied();
    let verb = if inv.program == "pacman" { "remove" } else { names.next().unwrap_or_default() };
    let named: Vec<&str> = names.collect();
    match verb {
        // What was only ever there for others that are gone.
        "autoremove" => named.is_empty() && !words.contains(&"--purge"),
        // Homebrew keeps to its own directory and refuses what others need.
        "uninstall" | "remove" | "rm" if inv.program == "brew" => !named.is_empty(),
        "remove" | "purge" | "erase" | "del" | "rm" => {
            !named.is_empty() && named.iter().all(|name| is_tool(name))
        }
        _ => false,
    }
}

/// The packages that an installer is given by name, not by address, path or list.
pub(super) fn installed(inv: &Invocation) -> impl Iterator<Item = &str> {
    const WORDS: &[&str] = &["install", "i", "add", "global", "tool", "pip", "require", "tap"];
    let words = inv.args.iter().filter_map(Arg::known);
    let before = std::iter::once("").chain(inv.args.iter().map(|arg| arg.known().unwrap_or_default()));
    words
        .zip(before)
        .filter(|(word, before)| !word.starts_with(['-', '.', '/', '~']) && !NOT_A_PACKAGE.contains(before))
        .map(|(word, _)| word)
        .filter(|word| {
            !WORDS.contains(word) && !word.contains(':') && !word.contains(".whl") && !word.contains(".tgz")
        })
}

/// Whether a package is one that everybody uses: a program that the tables know, or of a publisher who is known.
pub(super) fn is_well_known(package: &str) -> bool {
    let bare = package.strip_prefix('@').unwrap_or(package);
    let scope = package.split('/').next().unwrap_or_default();
    let end = bare.find(['@', '=', '<', '>', '~', '[', '^']).unwrap_or(bare.len());
    let name = bare.get(..end).unwrap_or_default();
    match name.split_once('/') {
        Some((owner, _)) => !hosted::is_stranger(owner) || PACKAGES.contains(&scope),
        None => {
            let base = name.trim_end_matches("-cli").trim_end_matches("-bin");
            name.starts_with("cargo-")
                || PACKAGES.contains(&name)
                || is_tool(name)
                || facts::find(name).is_some()
                || facts::find(base).is_some()
        }
    }
}

fn is_tool(name: &str) -> bool {
    TOOLS.iter().any(|tool| match tool.split_once('*') {
        Some((front, back)) => {
            name.strip_prefix(front).is_some_and(|rest| rest.contains(back.trim_end_matches('*')))
        }
        None => name == *tool,
    })
}

/// `gh workflow run ci.yml`: has the host build or test; nothing in it speaks of what others use.
pub(super) fn starts_a_check(inv: &Invocation) -> bool {
    let words = operations::known_words(inv);
    let ["workflow", "run", name, ..] = words.as_slice() else { return false };
    let parts = |word: &str| {
        word.to_ascii_lowercase()
            .split(|c: char| !c.is_ascii_alphanumeric())
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let speaks = |word: &&str| {
        let word = word.to_ascii_lowercase();
        NO_CHECKS.iter().any(|other| word.contains(other))
    };
    // On which branch it runs need not be known.
    let named = |(at, arg): (usize, &Arg)| {
        let before = at.checked_sub(1).and_then(|at| inv.args.get(at)).and_then(Arg::known);
        arg.known().is_some() || arg.prefix().starts_with("--ref=") || matches!(before, Some("--ref" | "-r"))
    };
    runs(inv, &["gh"])
        && inv.args.iter().enumerate().all(named)
        && parts(name).iter().any(|part| CHECKS.contains(&part.as_str()))
        && !words.iter().any(speaks)
}

/// `go env -w GOPROXY=direct`: a source that is the language's own, or a private one left out.
pub(super) fn sets_own_source(inv: &Invocation) -> bool {
    let mut settings = inv.args.iter().filter(|arg| arg.prefix().contains('=')).peekable();
    inv.program == "go"
        && settings.peek().is_some()
        && settings.all(|arg| {
            let known = arg.known().and_then(|text| text.split_once('='));
            known.is_some_and(|(name, value)| match name {
                "GOPROXY" => value
                    .split([',', '|'])
                    .all(|one| matches!(one, "direct" | "off" | "https://proxy.golang.org")),
                "GOFLAGS" => value
                    .split(' ')
                    .all(|flag| matches!(flag, "" | "-mod=mod" | "-mod=vendor" | "-mod=readonly")),
                _ => false,
            })
        })
}

/// `strace -c -p`: counts calls and shows nothing of what is in them.
pub(super) fn only_counts(inv: &Invocation) -> bool {
    const OTHERS: &[&str] =
        &["-o", "-e", "-s", "-x", "-y", "-k", "-w", "-C", "--output", "--trace", "--inject"];
    matches!(inv.program.as_str(), "strace" | "ltrace")
        && !inv.privileged
        && (has_flag(inv, "-c") || has_flag(inv, "--summary-only"))
        && !OTHERS.iter().any(|flag| has_flag(inv, flag))
}

/// `cloudflared tunnel list` and its like, which only tell.
pub(super) fn tells_of_tunnels(inv: &Invocation) -> bool {
    let mut words = operations::known_words(inv).into_iter().skip_while(|word| *word != "tunnel").skip(1);
    let first = words.next();
    asks_for_help(inv)
        || matches!(first, Some("list" | "ls" | "info" | "ready" | "--help" | "help" | "--version"))
        || first == Some("diag")
}

/// `tcpdump -r file`: reads what was recorded, and runs nothing on the way.
pub(super) fn reads_recording(inv: &Invocation) -> bool {
    const ASKED: &[&str] = &["-D", "--list-interfaces", "--version", "-h", "--help"];
    let told = |flag: &str| inv.args.iter().any(|arg| arg.prefix().starts_with(flag));
    let letters = |flag: &str| flag.bytes().all(|byte| byte.is_ascii_alphabetic());
    let reads = inv
        .args
        .iter()
        .any(|arg| arg.prefix().strip_prefix('-').is_some_and(|flag| letters(flag) && flag.ends_with('r')));
    let shark = inv.program == "tshark";
    let asks = |flag: &str| ASKED.contains(&flag) || shark && flag == "-v";
    let lists = matches!(inv.args.as_slice(), [one] if one.known().is_some_and(asks));
    // `tcpdump -z` names a program that is started, `tshark -z` a table that is printed; `-X` names a script.
    let starts = if shark { "-X" } else { "-z" };
    lists || (reads || shark && told("-G")) && !told("-i") && !told(starts) && !told("--interface")
}

/// The one right that a server needs to be reached below port 1024.
pub(super) fn binds_low_ports(inv: &Invocation) -> bool {
    const RIGHT: &[&str] = &[
        "cap_net_bind_service=+ep",
        "cap_net_bind_service+ep",
        "cap_net_bind_service=ep",
        "cap_net_bind_service=+eip",
        "cap_net_bind_service+eip",
    ];
    let mut operands = inv.operands.iter();
    let right = operands.next().and_then(Arg::known).unwrap_or_default().to_ascii_lowercase();
    let files: Vec<&Arg> = operands.collect();
    // A program of the machine's own is nobody's server.
    let own = |arg: &&Arg| {
        arg.known().is_some_and(|path| !path.starts_with(['/', '~', '-']) && !path.contains(".."))
    };
    inv.program == "setcap" && RIGHT.contains(&right.as_str()) && !files.is_empty() && files.iter().all(own)
}

/// Parts of the desktop that start again by themselves: how a setting of it is made to show.
pub(super) fn refreshes_desktop(name: &str, inv: &Invocation) -> bool {
    matches!(name, "Finder" | "Dock" | "SystemUIServer") && inv.program == "killall" && inv.flags.is_empty()
}

/// A made-up body for a request, of the kind that tests keep: below a directory for such, in the project.
pub(super) fn is_sample(path: &str) -> bool {
    let dirs = path.rsplit_once('/').map_or("", |(dirs, _)| dirs);
    let safe = !path.starts_with(['/', '~'])
        && !path.split('/').any(|part| part == ".." || part.starts_with(".env"));
    safe && [".json", ".xml", ".graphql"].iter().any(|end| path.ends_with(end))
        && dirs.split('/').any(|dir| SAMPLE_DIRS.contains(&dir))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switches_that_work_is_tuned_with() {
        assert!(is_tuned_file("/proc/sys/vm/drop_caches"));
        assert!(!is_tuned_file("/proc/sys/kernel/sysrq"));
        assert!(!is_tuned_file("/proc/sysrq-trigger"));
    }

    #[test]
    fn bodies_that_tests_keep() {
        assert!(is_sample("tests/fixtures/order.json"));
        for path in
            ["order.json", "/etc/tests/x.json", "../tests/x.json", "tests/dump.sql", "tests/.env.json"]
        {
            assert!(!is_sample(path), "{path}");
        }
    }
}
