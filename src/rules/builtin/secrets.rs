//! Secrets: private keys, credentials, tokens, and what reads them.

mod answers;
pub(super) mod carried;
pub(super) mod elsewhere;
pub(super) mod environment;
mod given;
mod kept;
mod names;
pub(super) mod searched;
pub(super) mod shown;
pub(super) mod spared;
pub(super) mod stores;
pub(super) mod variables;

use super::{lists, named, scripts};
use crate::domain::{Action, EffectKind, PathKind};
use crate::rules::Invocation;
use crate::rules::matcher::{
    Class, EFFECT, Found, OF_TOKEN, OnEffect, Scene, at, cuts_to_names, find_but, has_flag, inside, runs,
    runs_shell, target_of,
};
use crate::shell::Arg;
use environment::{env_file_shown, loads_settings, shows};
use given::{home_reviewed, secret_given_away};
pub(crate) use names::is_secret_name;
use names::{hunts, shaped};
pub(super) use names::{is_telling, names_in};
use variables::{
    ENVIRONMENT, VARIABLE_PRINTERS, code_prints, environment_searched, is_diverted, leaves_out,
    printed_variable,
};

words!("builtin/secrets");

const SECRET_READ: OnEffect =
    OnEffect { kinds: &[EffectKind::FileRead], any: &[Class::Secret], except: lists::SECRET_USERS, ..EFFECT };

const PUBLISHERS: &[&str] = &["git", "gh", "glab"];

const DECRYPTERS: &[&str] = &["gpg", "gpg2"];

const CLIPBOARDS: &[&str] = &["xclip", "xsel"];

const REVIEWERS: &[&str] = &["lazaret"];

const PACKERS: &[&str] = &["7z", "7za", "7zz", "rar", "cpio", "pax", "ar"];

fn secret_file_read<'a>(scene: &Scene<'a>) -> Found<'a> {
    find_but(&SECRET_READ, scene, |inv, target| {
        spared::shows_headings(inv, target, scene) || spared::stays_in_project(inv, target, scene)
    })
}

/// A change to a private key or a credential.
const SECRET_CHANGE: OnEffect = OnEffect {
    kinds: &[EffectKind::FileModification, EffectKind::FileDeletion, EffectKind::FileCreation],
    any: &[Class::Secret],
    except: &["ssh-keygen", "chmod", "chown", "touch", "mkdir"],
    ..EFFECT
};

fn code_names_secret<'a>(scene: &Scene<'a>) -> Found<'a> {
    scene.code_where(|codes, inv| {
        codes.iter().any(|text| text.holds_any(NAMED_IN_CODE) && !only_as_text(text, inv, scene))
    })
}

/// Whether code only handles the names of secrets as text, and nothing runs what it prints or writes.
fn only_as_text(code: &str, inv: &Invocation, scene: &Scene<'_>) -> bool {
    named::only_as_text(&inv.program, code, NAMED_IN_CODE)
        && inv.writes.is_empty()
        && !scene.runs_any(|other| runs_shell(other) || other.program == "eval")
}

fn key_changed<'a>(scene: &Scene<'a>) -> Found<'a> {
    // A list of users or a key store that the project did not have yet.
    let is_new = |path: &str| {
        (path.ends_with("/.htpasswd") || spared::is_key_store(path))
            && scene.view.facts.places.roots().any(|root| inside(path, root))
            && scene.view.facts.path(path).is_some_and(|fact| fact.kind == PathKind::Missing)
    };
    match &scene.view.call.action {
        Action::Write { path, .. } if is_new(path) => Found::No,
        _ => find_but(&SECRET_CHANGE, scene, |_, target| is_new(target.text())),
    }
}

/// More than the last few lines of what the person typed.
fn much_history(inv: &Invocation, scene: &Scene<'_>) -> bool {
    const FEW: u32 = 50;
    let home = scene.view.facts.places.home.as_deref();
    let many = |arg: &Arg| {
        let text = arg.text();
        let digits = text.trim_start_matches(['-', 'n', '=', '+']);
        digits.parse::<u32>().is_ok_and(|count| count > FEW)
    };
    inv.args.iter().any(many)
        && inv.args.iter().any(|arg| at(&target_of(arg, inv.cwd.as_deref()), lists::HISTORIES, home))
}

/// The strings of code, one behind the other as parts of a path, name a secret.
fn code_joins_secret<'a>(scene: &Scene<'a>) -> Found<'a> {
    scene.code_where(|codes, inv| {
        codes.iter().any(|text| {
            let joined = scripts::strings(text).join("/").replace("//", "/");
            NAMED_IN_CODE.iter().any(|name| joined.contains(name)) && !only_as_text(text, inv, scene)
        })
    })
}

/// Whether a command is given what a variable holds: it is not known, or was read out of a file of settings.
pub(super) fn expands(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let named = || inv.text.contains('$') && !inv.text.contains('\'');
    let preset = || inv.text.contains("${") && inv.text.contains(":-");
    inv.args.iter().any(Arg::has_unknown) || named() && (preset() || loads_settings(scene))
}

/// Nothing of what it prints is shown or kept: thrown away, counted, or one plain field of a state.
pub(super) fn is_only_tried(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let mut behind = scene
        .invocations()
        .iter()
        .filter(|other| other.pipeline == inv.pipeline && other.stage > inv.stage)
        .peekable();
    let next = behind.peek().filter(|other| inv.stage.checked_add(1) == Some(other.stage));
    let first =
        |other: &Invocation| other.operands.first().and_then(Arg::known).unwrap_or_default().to_owned();
    let takes_none = |other: &Invocation| {
        runs(other, &["wc"])
            || runs(other, &["grep"]) && (has_flag(other, "-q") || has_flag(other, "-c"))
            || runs(other, &["jq"])
                && runs(inv, &["terraform", "tofu"])
                && STATE_FIELDS.contains(&first(other).as_str())
            || runs(inv, &["docker", "podman"]) && cuts_to_names(other)
            || runs(other, &["jq", "grep"])
                && runs(inv, &["vault"])
                && other.operands.len() == 1
                && OF_TOKEN.contains(&first(other).trim_start_matches(".data."))
    };
    match next {
        Some(next) => inv.writes.is_empty() && takes_none(next),
        None => is_thrown_away(inv),
    }
}

/// Whether all that a command prints goes to `/dev/null`.
fn is_thrown_away(inv: &Invocation) -> bool {
    is_diverted(inv) && inv.writes.iter().all(|(target, _)| target.text() == "/dev/null") && !tees(inv)
}

/// `>&2` and the like beside a redirection: it may be shown all the same.
fn tees(inv: &Invocation) -> bool {
    let text = inv.text.replace("2>&1", "");
    text.contains(">&") || text.contains("/dev/tty") || text.matches('>').count() > 2
}

/// It is no value of anything, or of something that shows it: `cat <(echo $TOKEN)`, `echo "$(printenv TOKEN)"`.
pub(super) fn is_shown_through(inv: &Invocation, scene: &Scene<'_>) -> bool {
    /// What is nested deeper is taken for shown.
    const MAX_NESTED: usize = 16;
    let all = scene.invocations();
    let used = |outer: &Invocation| {
        let behind = |other: &&Invocation| other.pipeline == outer.pipeline && other.stage > outer.stage;
        all.iter().filter(behind).any(|other| !runs(other, WRITTEN) || is_diverted(other))
    };
    let mut one = inv;
    for _ in 0..MAX_NESTED {
        let Some(outer) = one.feeds.and_then(|at| all.get(at)) else { return one.feeds.is_none() };
        let kept = outer.args.first().and_then(Arg::known) == Some("-v");
        if kept || !runs(outer, &["cat", "echo", "printf"]) || is_diverted(outer) || used(outer) {
            return false;
        }
        one = outer;
    }
    true
}

fn clipboard_printed(inv: &Invocation) -> bool {
    const PRINT: &[&str] = &["-o", "-out", "-b", "--output"];
    inv.args.iter().filter_map(Arg::known).any(|arg| PRINT.contains(&arg))
}

fn memory_read<'a>(scene: &Scene<'a>) -> Found<'a> {
    let memory = |path: &str| {
        matches!(path, "/dev/mem" | "/dev/kmem" | "/proc/kcore")
            || path.strip_prefix("/proc/").is_some_and(|rest| rest.ends_with("/mem"))
    };
    let others = |inv: &Invocation| !runs(inv, &["ls", "stat", "echo", "printf", "grep", "git"]);
    let found = scene.running(others).find(|inv| {
        let bare = |mut text| {
            while let Some(rest) = str::strip_prefix(text, "if=") {
                text = rest;
            }
            text
        };
        let in_args = || inv.args.iter().any(|arg| memory(bare(arg.prefix())));
        let reads = || inv.reads.iter().any(|target| memory(target.text()));
        // `/proc/$(pgrep x)/environ`
        let others = || {
            inv.text.contains('$')
                && inv.text.contains("/proc/$")
                && ["/environ", "/mem"].iter().any(|name| inv.text.contains(name))
                && !inv.text.contains("/meminfo")
                && (!inv.reads.is_empty() || inv.operands.iter().any(Arg::has_unknown))
        };
        in_args() || reads() || others()
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}
