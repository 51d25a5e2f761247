//! What protects the machine: firewalls, mandatory access control, updates, the clock.

use super::{GONE, KILLERS, killed_names};
use crate::domain::{EffectKind, last_name};
use crate::rules::Invocation;
use crate::rules::builtin::everyday;
use crate::rules::builtin::files::WIDE;
use crate::rules::builtin::selfprotect::only_asks;
use crate::rules::matcher::{
    Class, Found, Scene, asks_for_help, classify, has_flag, inside, runs, target_of,
};
use crate::rules::survey::paths::is_build_output;
use crate::shell::Arg;

fn firewall_opened_by_ufw(inv: &Invocation) -> bool {
    const OPENS: &[&str] = &["disable", "reset", "allow", "delete", "default"];
    let first = inv.args.iter().filter_map(Arg::known).find(|word| !word.starts_with('-'));
    first.is_some_and(|word| OPENS.contains(&word))
        && !has_flag(inv, "--dry-run")
        && !asks_for_help(inv)
        && !everyday::opens_known_port(inv)
}

words!("builtin/system/guards");

/// A guard of the machine is killed, by name.
fn guard_killed(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let all = scene.invocations();
    // `pkill -f 'auditd|osqueryd'`
    let each = |name: &str| name.split(['|', '(', ')', '^', '$']).any(is_guard);
    !only_asks(inv) && !opens_anew(inv, all) && (killed_names(inv, all).any(each) || sifted(inv, all))
}

/// `pkill -HUP rsyslogd`: what writes the logs opens its files anew, as it is told whenever they are rotated.
fn opens_anew(inv: &Invocation, all: &[Invocation]) -> bool {
    const WRITERS: &[&str] = &["rsyslogd", "syslog-ng"];
    let told = inv.args.iter().any(|arg| matches!(arg.known(), Some("-HUP" | "-SIGHUP")));
    let mut names = killed_names(inv, all).peekable();
    told && names.peek().is_some() && names.all(|name| WRITERS.contains(&name))
}

/// `kill` is told its numbers by a filter over all processes that looks for a guard.
fn sifted(inv: &Invocation, all: &[Invocation]) -> bool {
    let words = |text: &str| {
        text.split(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '_' | '.')).any(is_guard)
    };
    let filters = |other: &&Invocation| runs(other, &["grep", "egrep", "rg", "awk", "gawk"]);
    inv.program == "kill"
        && all.iter().any(|other| other.program == "ps")
        && all.iter().filter(filters).flat_map(|other| &other.args).any(|arg| words(&arg.text()))
}

/// The name of a guard, as process or as unit.
fn is_guard(name: &str) -> bool {
    let name = last_name(name);
    let name = name.trim_end_matches(".service").trim_end_matches(".socket").trim_end_matches(".plist");
    // The packages and units of one product have all sorts of names.
    const MAKERS: &[&str] =
        &["crowdstrike", "wazuh", "sentinelone", "osquery", "jamf", "sophos", "carbonblack"];
    GUARDS.iter().any(|guard| guard.eq_ignore_ascii_case(name)) || { name.split(['-', '.', '_']) }
        .any(|part| MAKERS.iter().any(|maker| part.eq_ignore_ascii_case(maker)))
}

/// A guard's service is stopped, or its package taken away.
fn guard_stopped(inv: &Invocation) -> bool {
    let words = || inv.sub.iter().map(String::as_str).chain(inv.args.iter().filter_map(Arg::known));
    let removes = inv.program == "rpm" && has_flag(inv, "-e")
        || inv.program == "dpkg"
            && ["-r", "-P", "--purge", "--remove"].iter().any(|flag| has_flag(inv, flag))
        || inv.program == "pacman" && inv.args.iter().any(|arg| arg.prefix().starts_with("-R"));
    (removes || words().any(|word| STOPS.contains(&word))) && words().any(is_guard)
}

/// A file that cannot be changed is made changeable, or the other way round, outside the project.
fn unlocked(inv: &Invocation, scene: &Scene<'_>) -> bool {
    const LOCKS: &[&str] = &["noschg", "schg", "uchg", "nouchg", "uappnd", "sappnd"];
    let locks = |word: &str| {
        let letters = word.strip_prefix(['+', '-', '=']);
        LOCKS.contains(&word)
            || letters.is_some_and(|letters| letters.contains(['i', 'a']) && letters.len() < 5)
    };
    let sets = inv.args.iter().filter_map(Arg::known).any(locks);
    sets && inv.args.iter().any(|arg| {
        let place = classify(&target_of(arg, inv.cwd.as_deref()), EffectKind::FileDeletion, &scene.view);
        if arg.prefix().starts_with("/tmp/") {
            return true;
        }
        let named = arg.prefix().starts_with(['/', '~', '.']) || arg.has_unknown();
        named && (place.any(WIDE) || place.has(Class::Project))
    })
}

/// Checks of certificates are switched off for everything that follows.
fn checks_off(inv: &Invocation) -> bool {
    const OFF: &[&str] = &[
        "GIT_SSL_NO_VERIFY=1",
        "GIT_SSL_NO_VERIFY=true",
        "NODE_TLS_REJECT_UNAUTHORIZED=0",
        "PYTHONHTTPSVERIFY=0",
    ];
    inv.args.iter().any(|arg| OFF.contains(&&*arg.text()))
}

/// `exec -a '[kworker/0:0]'`: the list of processes is to show something else.
fn disguised<'a>(scene: &Scene<'a>) -> Found<'a> {
    let line = scene.command_line();
    // Each way holds one of these.
    if !scene.says("exec -a ") && !scene.says("-unix/.") {
        return Found::No;
    }
    let hidden = ["exec -a '[", "exec -a \"[", "exec -a [", "/tmp/.X11-unix/.", "/tmp/.ICE-unix/."]
        .iter()
        .any(|form| line.contains(form));
    let runs_it =
        scene.invocations().iter().any(|inv| !runs(inv, &["echo", "printf", "git", "grep", "rg", "cat"]));
    if hidden && runs_it { Found::yes(line) } else { Found::No }
}

/// A program whose marks say that it came from elsewhere loses them. What a build of this project made has none but in the way.
fn marks_cleared(inv: &Invocation, scene: &Scene<'_>) -> bool {
    const FETCHERS: &[&str] =
        &["curl", "wget", "aria2c", "gh", "unzip", "hdiutil", "tar", "ditto", "scp", "open"];
    let program = |arg: &Arg| {
        let text = arg.text().to_ascii_lowercase();
        text.contains(".app") || text.contains("/applications")
    };
    let built = |arg: &Arg, inv: &Invocation| {
        let target = target_of(arg, inv.cwd.as_deref());
        arg.known().is_some_and(|text| !text.starts_with(['/', '~']) && is_build_output(text))
            && classify(&target, EffectKind::FileModification, &scene.view).any(&[Class::Expected])
            && scene.first(FETCHERS, |_| true).is_none()
    };
    ["-c", "-cr", "-rc"].iter().any(|flag| has_flag(inv, flag))
        && inv.operands.iter().any(|arg| program(arg) && !built(arg, inv))
}

/// A program is run that a temporary directory hides.
fn hidden_run(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let path = inv.word.prefix();
    let in_home = scene.view.facts.places.home.as_deref().is_some_and(|home| inside(path, home));
    let below = ["/tmp/", "/var/tmp/", "/dev/shm/"].iter().find_map(|dir| path.strip_prefix(dir));
    let below = below.filter(|_| !in_home);
    // Environments, build directories and those that libraries make for tests are hidden for another reason.
    let made = |part: &str| {
        part.starts_with(".tmp")
            || matches!(part, ".venv" | ".cargo" | ".local" | ".npm" | ".nvm" | ".bun" | ".deno" | ".")
    };
    below.is_some_and(|rest| rest.split('/').any(|part| part.starts_with('.') && !made(part)))
}
