//! The running system: power, processes, kernel, services, firewall, traces.

pub(super) mod ended;
pub(super) mod guards;
pub(super) mod kernel;
pub(super) mod power;
mod services;
pub(super) mod traces;

use crate::domain::EffectKind;
use crate::rules::Invocation;
use crate::rules::matcher::{has_operand, runs};
use crate::shell::Arg;

const GONE: &[EffectKind] =
    &[EffectKind::FileDeletion, EffectKind::FileModification, EffectKind::FileCreation];

const KILLERS: &[&str] = &["kill", "pkill", "killall", "killall5", "skill"];

words!("builtin/system");

fn systemctl_stops_the_session(inv: &Invocation) -> bool {
    let session = |arg: &Arg| {
        let text = arg.text();
        arg.has_unknown()
            || [".target", ".slice", "*", "dbus", "session", "wayland", "gnome", "plasma", "lazaret"]
                .iter()
                .any(|word| text.contains(word))
    };
    let stops = inv.sub.first().is_some_and(|sub| sub == "stop") || has_operand(inv, "stop");
    stops && inv.operands.iter().any(session)
}

/// A container's first process is told to read its settings again.
pub(super) fn reloads(inv: &Invocation) -> bool {
    let named = |name: &str| matches!(name.trim_start_matches("SIG"), "HUP" | "USR1" | "USR2" | "WINCH");
    inv.contained
        && inv.program == "kill"
        && inv.args.iter().filter_map(Arg::known).any(|word| named(word.trim_start_matches('-')))
}

/// The names that a killer is given, by itself or from `pidof` and `pgrep`.
fn killed_names<'s>(inv: &'s Invocation, all: &'s [Invocation]) -> impl Iterator<Item = &'s str> {
    let finder = |other: &&Invocation| runs(other, &["pidof", "pgrep"]);
    let fed = all.iter().filter(finder).filter(|_| inv.program == "kill");
    let own = std::iter::once(inv).filter(|inv| inv.program != "kill");
    // `-STOP` looks like a bundle of which one takes the name for its value.
    let word = |name: &&str| !name.starts_with('-');
    own.chain(fed).flat_map(move |inv| inv.args.iter().filter_map(Arg::known).filter(word))
}
