//! Kubernetes and fleets of containers.

use super::{LOOKS, is_on_own, stacks};
use crate::rules::builtin::clusters::KUBECTL;
use crate::rules::builtin::{clusters, code, standing};
use crate::rules::matcher::{
    Found, Scene, asks_for_help, flag_value, has_flag, has_sub, is_rehearsal, only_reads,
};
use crate::rules::{Flag, Invocation};
use crate::shell::Arg;

fn cluster_emptied<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first_of(
        |program| KUBECTL.contains(&program) || program == "helm",
        |inv| is_taken_down(inv) && !is_turned_back(inv) && !clusters::is_local(inv, scene),
    );
    Found::from(found.map(|inv| inv.text.as_str()))
}

fn ansible_playbook_runs(inv: &Invocation) -> bool {
    const LOOKS: &[&str] = &["--check", "-C", "--syntax-check", "--list-hosts", "--list-tasks"];
    !LOOKS.iter().any(|flag| has_flag(inv, flag)) && !asks_for_help(inv) && !is_on_own(inv)
}

words!("builtin/cloud/kubernetes");

fn salt_changes(inv: &Invocation) -> bool {
    let tried = inv.args.iter().any(|arg| matches!(arg.known(), Some("test=True" | "test=true")));
    // Which of the words names the minions is not told apart: all that may be functions have to look.
    let functions = || inv.args.iter().filter_map(Arg::known).filter(|word| is_salt_function(word));
    let looks = |word: &str| {
        let (module, last) = word.split_once('.').unwrap_or_default();
        // `cp.get_file` lays it down on the minions.
        module == "test" || module != "cp" && SALT_LOOKS.contains(&last.split('_').next().unwrap_or_default())
    };
    let only_looks = functions().next().is_some() && functions().all(looks);
    !tried && !inv.operands.is_empty() && !only_looks
}

/// Machines of a provider made, changed or destroyed; its functions and actions say by their names that they look.
fn salt_clouds_changed(inv: &Invocation) -> bool {
    let looks = |arg: &Arg| ["show_", "list_", "avail_"].iter().any(|front| arg.prefix().starts_with(front));
    let has = |flags: &[&str]| flags.iter().any(|flag| has_flag(inv, flag));
    let does = has(&["-a", "--action", "-f", "--function"]) && !inv.args.iter().any(looks);
    let makes = has(&["-m", "--map", "-p", "--profile"]) && !has(&["-Q", "--query", "-F", "--full-query"]);
    does || makes || has(&["-d", "--destroy"])
}

/// `module.function`
fn is_salt_function(word: &str) -> bool {
    let is_name = |name: &str| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
    };
    word.split_once('.').is_some_and(|(module, function)| is_name(module) && is_name(function))
}

/// A module that may change something on many machines.
fn ansible_changes(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let module = flag_value(inv, &["-m", "--module-name"]).map(Arg::text);
    let looks = module.as_deref().is_some_and(|name| {
        let last = name.rsplit('.').next().unwrap_or_default();
        // By the names that Ansible demands, such modules only look.
        LOOKS.contains(&last) || last.ends_with("_info") || last.ends_with("_facts")
    });
    (module.is_some() || has_flag(inv, "-a") || has_flag(inv, "--args"))
        && !looks
        && !ansible_asks(inv, module.as_deref(), scene)
        && !has_flag(inv, "--check")
}

/// The machines are told to run a command, and that only looks.
fn ansible_asks(inv: &Invocation, module: Option<&str>, scene: &Scene<'_>) -> bool {
    let runs = module.is_none_or(|name| matches!(name.rsplit('.').next(), Some("command" | "shell" | "raw")));
    let told = flag_value(inv, &["-a", "--args"]).and_then(Arg::known);
    // What stands in `{{ }}` is worked out on this machine.
    runs && told.is_some_and(|told| {
        !told.contains("{{")
            && (ASKS_SERVERS.contains(&told)
                || only_reads(scene, (&code::shell_text::shell(told.to_owned()), "/"), READERS))
    })
}

/// Kinds of things that are started again or have run.
const POD_KINDS: &[&str] = &["pod", "pods", "po", "job", "jobs"];

/// Kinds of what keeps a volume for somebody.
const CLAIMS: &[&str] = &["pvc", "persistentvolumeclaim", "persistentvolumeclaims"];

/// `-n dev`: in a space of a cluster that a person works in alone, as far as the command says.
pub(super) fn in_own_space(inv: &Invocation) -> bool {
    // Of several the last counts.
    let mut spaces = inv.flags.iter().filter(|flag| matches!(flag.name.as_str(), "-n" | "--namespace"));
    let named = |flag: &Flag| flag.value.as_ref().and_then(Arg::known).is_some_and(standing::is_own);
    spaces.next().is_some_and(named)
        && spaces.next().is_none()
        && !inv.flags.iter().any(|flag| matches!(flag.name.as_str(), "-A" | "--all-namespaces"))
        && !standing::names_live(inv)
        && !standing::names_shared(inv)
}

/// An earlier state of what runs in one's own space is taken back.
pub(super) fn is_turned_back(inv: &Invocation) -> bool {
    (has_sub(inv, "rollout undo") || inv.program == "helm" && has_sub(inv, "rollback")) && in_own_space(inv)
}

/// Nodes emptied, replicas taken to none, releases removed.
fn is_taken_down(inv: &Invocation) -> bool {
    let told = |subs: &[&str]| subs.iter().any(|sub| has_sub(inv, sub));
    let rehearsed = has_flag(inv, "--dry-run") && is_rehearsal(inv);
    !rehearsed
        && !asks_for_help(inv)
        && if inv.program == "helm" {
            // `--kube-context x` may stand in front of it.
            let mut words = inv.args.iter().filter_map(Arg::known).filter(|word| !word.starts_with('-'));
            words.by_ref().take(2).any(|word| matches!(word, "uninstall" | "delete" | "rollback"))
        } else {
            told(&["drain", "cordon", "taint"])
                || told(&["scale"])
                    && has_flag(inv, "--replicas=0")
                    && (has_flag(inv, "--all") || !in_own_space(inv))
        }
}

/// Pods that have run to their end.
fn only_finished(inv: &Invocation) -> bool {
    let phase = flag_value(inv, &["--field-selector"]).and_then(Arg::known);
    let phase =
        phase.and_then(|text| text.strip_prefix("status.phase=")).map(|text| text.trim_start_matches('='));
    matches!(phase, Some("Failed" | "Succeeded"))
        && inv.operands.first().and_then(Arg::known).is_some_and(|kind| is_kind(kind, POD_KINDS))
        && inv.operands.len() == 1
        && !has_flag(inv, "--all")
        && !standing::names_live(inv)
}

/// The words behind `kubectl delete`; nothing for another command, and for a dry run.
fn kubectl_deleted<'i>(inv: &'i Invocation, scene: &Scene<'_>) -> Option<Vec<&'i Arg>> {
    let mut words = inv.sub.iter().map(String::as_str);
    let deletes = words.next() == Some("delete") && !is_rehearsal(inv) && !clusters::is_local(inv, scene);
    deletes.then(|| inv.operands.iter().collect())
}

fn is_kind(word: &str, kinds: &[&str]) -> bool {
    let kind = word.split('/').next().unwrap_or_default();
    !kind.is_empty() && kind.split(',').all(|kind| kinds.contains(&kind))
}

fn kubectl_wide(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let Some(words) = kubectl_deleted(inv, scene) else { return false };
    let kind = words.first().map(|arg| arg.prefix()).unwrap_or_default();
    let kinds = kind.split('/').next().unwrap_or_default();
    let every = inv.flags.iter().any(|flag| flag.name == "--all");
    let space = matches!(kinds, "ns" | "namespace" | "namespaces");
    let names = || words.iter().skip(1).filter_map(|arg| arg.known());
    // A namespace that is made to be thrown away.
    let spared =
        space && words.len() > 1 && names().count() + 1 == words.len() && names().all(standing::is_scratch);
    // What is lost there is one's own, and a person is asked all the same.
    let asked = in_own_space(inv)
        && if every { is_kind(kind, POD_KINDS) } else { is_kind(kind, CLAIMS) && !words.is_empty() };
    !asked && (every || !spared && kinds.split(',').any(|kind| WIDE_KINDS.contains(&kind)))
}

/// A deletion in a cluster: of pods given by name, or (with `pods` false) of anything else.
fn kubectl_deletes<'a>(scene: &Scene<'a>, pods: bool) -> Found<'a> {
    let found = scene.first(KUBECTL, |inv| {
        let Some(words) = kubectl_deleted(inv, scene).filter(|_| !asks_for_help(inv)) else { return false };
        if only_finished(inv) {
            return false;
        }
        let known: Option<Vec<&str>> = words.iter().map(|arg| arg.known()).collect();
        let selects = ["-f", "--filename", "-k", "-l", "--selector", "--all", "--field-selector", "-A"];
        let chosen = |flags: &[&str]| flags.iter().any(|flag| has_flag(inv, flag));
        // What a label chooses in one's own space is started again there too.
        let by_label = chosen(&["-l", "--selector"])
            && !chosen(&["-f", "--filename", "-k", "--all", "--field-selector", "-A", "--all-namespaces"])
            && in_own_space(inv);
        let by_name = by_label || !chosen(&selects);
        let names_pods = has_flag(inv, "-f") && is_own_there(inv)
            || by_name
                && match known.as_deref() {
                    Some([kind]) => (by_label || kind.contains('/')) && is_kind(kind, POD_KINDS),
                    Some([kind, ..]) => is_kind(kind, POD_KINDS),
                    Some([]) | None => false,
                };
        names_pods == pods
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// What is deleted is named by a file for trying things.
fn is_own_there(inv: &Invocation) -> bool {
    let every = ["--all", "-A", "--all-namespaces", "-k", "--field-selector"];
    let file = flag_value(inv, &["-f", "--filename"]).and_then(Arg::known);
    !every.iter().any(|flag| has_flag(inv, flag))
        && !standing::names_live(inv)
        && file.is_some_and(|file| {
            standing::is_own(file) && [".yaml", ".yml", ".json"].iter().any(|end| file.ends_with(end))
        })
}
