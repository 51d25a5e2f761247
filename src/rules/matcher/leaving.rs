//! Commands that carry data off the machine, and those that read what must not leave it.

use super::{
    Class, Scene, classify, flag_value, host_of, is_prose, own_service, prints_secret, runs, target_of,
};
use crate::domain::{EffectKind, Target};
use crate::rules::builtin::{is_secret_name, lists};
use crate::rules::{Invocation, Stdin};
use crate::shell::Arg;

words!("matcher/leaving");

/// Carries data off the machine when it is told to be a client.
pub(super) const TLS: &[&str] = &["openssl"];

/// Whether a command can carry data off the machine. (A redirection to a socket has a rule of its own.)
pub(super) fn leaves_machine(inv: &Invocation) -> bool {
    let tls = runs(inv, TLS) && inv.args.iter().any(|arg| arg.known() == Some("s_client"));
    tls || is_sender(inv) && !stays_here(inv)
}

/// Whether a client of the web asks nobody but this machine.
fn stays_here(inv: &Invocation) -> bool {
    let is_here = |arg: &Arg| {
        arg.known().is_some_and(|url| matches!(host_of(url).as_str(), "localhost" | "127.0.0.1" | "::1"))
    };
    runs(inv, &["curl", "wget"])
        && !inv.operands.is_empty()
        && inv.operands.iter().all(is_here)
        && !inv.flags.iter().any(|flag| ELSEWHERE.contains(&flag.name.as_str()))
}

pub(super) fn is_sender(inv: &Invocation) -> bool {
    runs(inv, lists::SENDERS) || runs(inv, lists::NETCATS)
}

/// Whether a command joins its input with a connection.
pub(crate) fn connects(inv: &Invocation) -> bool {
    runs(inv, lists::NETCATS) || runs(inv, &["socat", "telnet"])
}

/// Whether a command that can carry data away is itself given a secret file to send.
pub(crate) fn sends(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let identity = lists::IDENTITY_FLAGS.iter().find(|(program, _)| *program == inv.program);
    let identity: &[&str] = identity.map_or(&[], |(_, flags)| *flags);
    let values = inv.flags.iter().filter(|flag| !identity.contains(&flag.name.as_str()));
    let values = values.filter_map(|flag| flag.value.as_ref());
    let stdin = match &inv.stdin {
        Stdin::File(target) => is_secret(target, scene),
        Stdin::Inherited | Stdin::Pipe | Stdin::Text(_) => false,
    };
    stdin
        || inv.reads.iter().any(|target| is_secret(target, scene))
        || inv.operands.iter().chain(values).filter(|arg| !is_prose(inv, arg)).any(|arg| {
            let text = arg.text();
            // `@file`, `name=@file`, `name=<file` as curl has them; `source:target` of copies.
            let file = text.rsplit_once(['@', '<']).map_or(&*text, |(_, file)| file);
            // `FILE:path` as socat has it.
            let file = file.strip_prefix("FILE:").or_else(|| file.strip_prefix("OPEN:")).unwrap_or(file);
            // The text of an issue or a comment speaks of a file and is none.
            let spoken = runs(inv, &["gh", "glab"]) && text.trim().contains(char::is_whitespace);
            !spoken
                && !text.contains("://")
                && is_secret(&target_of(&Arg::literal(file), inv.cwd.as_deref()), scene)
        })
}

fn is_secret(target: &Target, scene: &Scene<'_>) -> bool {
    // With all that is in it: `scp -r ~/.ssh`.
    let whole = match target {
        Target::Path { path, glob, .. } => Target::Path { path: path.clone(), glob: *glob, recursive: true },
        Target::UnknownPath { .. } | Target::Url(_) | Target::Command(_) | Target::None => target.clone(),
    };
    classify(&whole, EffectKind::FileRead, &scene.view).any(&[Class::Secret, Class::EnvFile, Class::Keys])
        || super::held(&whole, EffectKind::FileRead, &scene.view).is_some()
}

pub(super) fn reads_secret(inv: &Invocation, scene: &Scene<'_>) -> bool {
    if prints_secret(inv) {
        return !goes_to_known(inv, scene) && !own_service::is_kept_for_its_service(inv, scene);
    }
    if leaves_machine(inv) || runs(inv, &["source", ".", "test", "[", "ls", "stat"]) {
        return false;
    }
    // All of a home or of the machine holds its secrets too.
    let packs_all = runs(inv, &["tar", "bsdtar", "gtar", "zip", "cpio", "7z"])
        && inv.operands.iter().any(|arg| {
            classify(&target_of(arg, inv.cwd.as_deref()), EffectKind::FileDeletion, &scene.view).any(&[
                Class::Root,
                Class::Home,
                Class::Users,
            ])
        });
    // In an argument it is what `$NAME` is, and may be for the host.
    let one_secret = inv.program == "printenv"
        && inv.feeds.is_none()
        && inv.operands.iter().any(|arg| is_secret_name(arg.prefix()));
    prints_environment(inv)
        || one_secret
        || packs_all
        || inv.reads.iter().any(|target| is_secret(target, scene))
        || inv.operands.iter().any(|arg| is_secret(&target_of(arg, inv.cwd.as_deref()), scene))
            && !own_service::is_for_its_service(inv, scene)
            && !own_service::is_shown_as_key(inv, scene)
}

/// A credential helper's token may go to the host that it is for.
fn goes_to_known(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let mut urls = scene.view.survey.effects.iter().filter_map(|effect| match &effect.target {
        Target::Url(url) => Some(host_of(url)),
        Target::Path { .. } | Target::UnknownPath { .. } | Target::Command(_) | Target::None => None,
    });
    urls.all(|host| super::is_known(&host, scene.view.policy) || super::belongs_to(inv, &host))
}

/// `cut -d= -f1`: of `NAME=value` only the name goes on.
pub(crate) fn cuts_to_names(inv: &Invocation) -> bool {
    inv.program == "cut"
        && flag_value(inv, &["-f", "--fields"]).and_then(Arg::known) == Some("1")
        && flag_value(inv, &["-d", "--delimiter"]).and_then(Arg::known) == Some("=")
}

/// Whether a command prints all variables.
pub(crate) fn prints_environment(inv: &Invocation) -> bool {
    match inv.program.as_str() {
        "env" | "declare" | "typeset" => inv.operands.is_empty() && inv.args.len() <= 1,
        // `set -a` and `set +a` are switches.
        "set" => inv.args.is_empty(),
        "printenv" => inv.operands.is_empty(),
        "export" => inv.operands.is_empty(),
        _ => false,
    }
}
