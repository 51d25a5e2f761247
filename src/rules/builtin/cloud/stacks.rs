//! Infrastructure that is changed from files without anybody looking at the plan, the file in which it is kept what was built, and
//! machines that are taken down all at once.

use super::{TERRAFORM, is_on_own, told_beforehand};
use crate::domain::{Action, EffectKind, Target, last_name};
use crate::rules::builtin::{lists, operations, standing};
use crate::rules::matcher::{
    At, EFFECT, Found, OnEffect, Scene, asks_for_help, find_but, flag_value, has_flag, runs,
};
use crate::rules::{Invocation, Stdin};
use crate::shell::Arg;

/// Programs that build infrastructure from files, change it and take it down.
pub(super) const APPLIERS: &[&str] = &["terraform", "tofu", "terragrunt", "pulumi", "cdk", "aws-cdk"];

words!("builtin/cloud/stacks");

/// Puts in place what files say, and answers the question beforehand.
fn applies_unasked(scene: &Scene<'_>, inv: &Invocation) -> bool {
    let words = operations::known_words(inv);
    let has = |list: &[&str]| words.iter().any(|word| list.contains(word));
    let answered = match &inv.stdin {
        Stdin::Inherited => false,
        Stdin::File(target) => target.text() != "/dev/null",
        Stdin::Pipe | Stdin::Text(_) => true,
    };
    let told = match inv.program.as_str() {
        "pulumi" => has(&["up", "update"]) && (answered || has(&["-y", "--yes"])),
        "cdk" | "aws-cdk" => {
            let never = || words.iter().any(|word| word.rsplit('=').next() == Some("never"));
            has(&["deploy"]) && (answered || never())
        }
        _ => {
            has(&["apply"])
                && (answered
                    || has(&["-auto-approve", "--auto-approve"])
                    || told_beforehand(scene, "-auto-approve"))
        }
    };
    told && !asks_for_help(inv)
}

/// What others live by, or the holder of data, is changed without a question.
pub(super) fn applied_live(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let holds = |word: &str| HOLDERS.iter().any(|kind| word.contains(kind));
    let chosen = || {
        let selects =
            |inv: &Invocation| operations::known_words(inv).contains(&"select") && standing::names_live(inv);
        scene.first(APPLIERS, selects).is_some()
            || scene
                .command_line()
                .split_whitespace()
                .any(|word| word.strip_prefix("TF_WORKSPACE=").is_some_and(standing::is_live_name))
    };
    let tainted = || {
        scene.first(TERRAFORM, |inv| {
            let words = operations::known_words(inv);
            words.contains(&"taint") && words.iter().any(|word| holds(word))
        })
    };
    let there = || {
        let below = inv.cwd.as_deref().and_then(|cwd| cwd.strip_prefix(scene.view.cwd));
        below.is_some_and(standing::is_live_name)
    };
    let replaced = || {
        let named = |word: &str| word.trim_start_matches('-').starts_with("replace") && word.starts_with('-');
        let words = operations::known_words(inv);
        words.iter().any(|word| named(word)) && words.iter().any(|word| holds(word))
    };
    applies_unasked(scene, inv)
        && (standing::names_live(inv) || replaced() || there() || chosen() || tainted().is_some())
}

/// Something is changed without a question, and nothing says that it is one's own.
pub(super) fn applied(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let own = |inv: &Invocation| {
        standing::names_scratch(inv)
            || inv.operands.iter().any(|arg| arg.prefix().to_ascii_lowercase().starts_with("dev"))
    };
    applies_unasked(scene, inv) && !own(inv)
}

/// Where it is kept what was built, as a text that something else than the builder writes.
const STATE: OnEffect = OnEffect {
    kinds: &[EffectKind::FileCreation, EffectKind::FileModification],
    at: &[At::Name("terraform.tfstate"), At::Name("terraform.tfstate.d")],
    except: &["terraform", "tofu", "terragrunt", "git", "chmod", "chown", "touch", "mkdir"],
    ..EFFECT
};

pub(super) fn state_written<'a>(scene: &Scene<'a>) -> Found<'a> {
    let tried = |path: &str| {
        let below = scene.view.facts.places.roots().find_map(|root| path.strip_prefix(root)).unwrap_or(path);
        standing::is_scratch(below)
            || below.split('/').any(|part| part == "examples" || lists::FIXTURES.contains(&part))
    };
    if let Action::Write { path, .. } | Action::Edit { path, .. } = &scene.view.call.action {
        return if path.ends_with(".tfstate") && !tried(path) { Found::yes(path) } else { Found::No };
    }
    // A copy of a state, or one that comes back from a copy.
    let copies = |inv: &Invocation| {
        let is_state = |arg: &Arg| arg.prefix().contains("tfstate");
        inv.operands.split_last().is_some_and(|(last, sources)| {
            sources.iter().any(is_state) && (inv.program != "mv" || is_state(last))
        })
    };
    // Into a directory: what lies there afterwards is named by no command.
    let kept =
        |inv: &Invocation| runs(inv, &["cp", "rsync", "install", "scp", "aws", "gsutil"]) && copies(inv);
    if scene.invocations().iter().any(kept) {
        return Found::No;
    }
    find_but(&STATE, scene, |inv, target| {
        copies(inv) || matches!(target, Target::Path { path, .. } if tried(path))
    })
}

/// Modules that take a machine down, and programs that do.
const DOWN: &[&str] = &["reboot", "shutdown", "win_reboot", "poweroff", "halt"];

/// Words in the names of playbooks that leave nothing.
const RAZING: &[&str] = &["destroy", "teardown", "wipe", "nuke", "decommission", "purge"];

/// All machines of an inventory, or those that others live by, are taken down.
pub(super) fn fleet_down(inv: &Invocation) -> bool {
    let last = |text: &str| text.rsplit('.').next().is_some_and(|name| DOWN.contains(&name));
    let tried = ["--check", "-C", "--list-hosts", "--syntax-check", "--list-tasks"];
    if tried.iter().any(|flag| has_flag(inv, flag)) || asks_for_help(inv) || is_on_own(inv) {
        return false;
    }
    if inv.program == "ansible-playbook" {
        let razes = |arg: &Arg| {
            let name = last_name(arg.prefix());
            name.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| RAZING.contains(&word))
        };
        return standing::names_live(inv) && inv.operands.iter().any(razes);
    }
    let value = |flags: &[&str]| flag_value(inv, flags).map(Arg::to_text).unwrap_or_default();
    let module = value(&["-m", "--module-name"]);
    let told = value(&["-a", "--args"]);
    let runs_it = || {
        matches!(module.as_str(), "" | "command" | "shell" | "raw")
            && told.split_whitespace().find(|word| *word != "sudo").is_some_and(last)
    };
    let every = inv.operands.iter().any(|arg| matches!(arg.known(), Some("all" | "*")));
    (every || standing::names_live(inv)) && (last(&module) || runs_it())
}
