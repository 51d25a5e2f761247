//! Clusters: what is put into them from elsewhere, what is taken out of those that others live by, and those of this machine.

use super::cloud::kubernetes::WIDE_KINDS;
use super::{RuleSet, standing};
use super::{downloads, lists};
use crate::rules::Invocation;
use crate::rules::matcher::{
    Found, Scene, flag_value, has_flag, host_of, is_known, is_rehearsal, matches_one_of, runs,
};
use crate::shell::Arg;

pub(super) const KUBECTL: &[&str] = &["kubectl", "oc", "k3s", "k"];

/// Programs that start the containers of a file.
const COMPOSERS: &[&str] = &["docker", "docker-compose", "podman", "podman-compose", "nerdctl"];

/// Clusters of this machine.
const LOCAL: &[&str] = &["kind", "k3d", "minikube"];

words!("builtin/clusters");

fn vagrant_destroys(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let told = |inv: &Invocation, word: &str| inv.args.iter().any(|arg| arg.known() == Some(word));
    let made = scene.first(&["vagrant"], |inv| told(inv, "up")).is_some();
    let forced = |inv: &Invocation| ["-f", "--force"].iter().any(|flag| has_flag(inv, flag));
    told(inv, "destroy") && forced(inv) && !made
}

/// A cluster that is on this machine, as far as the command names one, or the call has chosen one for it.
pub(super) fn is_local(inv: &Invocation, scene: &Scene<'_>) -> bool {
    const CHOICES: &[&str] = &["--context", "--kube-context"];
    const OTHERS: &[&str] = &["--kubeconfig", "--server", "-s", "--cluster", "--kube-apiserver"];
    // Not every program of these has a table that says which options have values.
    let pair = || {
        let mut pairs = inv.args.iter().zip(inv.args.iter().skip(1));
        pairs.find(|(option, _)| option.known().is_some_and(|word| CHOICES.contains(&word)))
    };
    let chosen = flag_value(inv, CHOICES).or_else(|| pair().map(|(_, value)| value));
    match chosen.map(|name| name.known().unwrap_or_default()) {
        Some(name) => standing::is_local_context(name),
        None => !CHOICES.iter().chain(OTHERS).any(|flag| has_flag(inv, flag)) && is_chosen_before(inv, scene),
    }
}

/// `kubectl config use-context kind-x && … && kubectl delete …`: it only runs where the choice succeeded.
fn is_chosen_before(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let line = scene.command_line();
    let words = |other: &Invocation| other.args.iter().map(Arg::to_text).collect::<Vec<_>>();
    let chooses = |other: &&Invocation| {
        runs(other, KUBECTL) && words(other).iter().any(|word| word == "use-context")
            || matches!(other.program.as_str(), "kubectx" | "kctx") && !other.args.is_empty()
    };
    let mut choices = scene.invocations().iter().filter(chooses);
    let (Some(choice), None) = (choices.next(), choices.next()) else { return false };
    let local = words(choice).last().is_some_and(|name| standing::is_local_context(name));
    let Some((before, after)) = line.split_once(choice.text.as_str()) else { return false };
    let Some((between, _)) = after.split_once(inv.text.as_str()) else { return false };
    let strict = before.contains("set -e");
    local
        && !line.contains("KUBECONFIG=")
        && !before.trim_end().ends_with(['|', '!'])
        && (strict || between.trim_start().starts_with("&&"))
        && (strict || !between.contains([';', '\n']))
        && !between.contains("||")
        && !between.replace("&&", "").replace(">&", "").replace("&>", "").contains('&')
}

/// The host is one whose manifests are known, or the policy knows it.
fn is_published(host: &str, scene: &Scene<'_>) -> bool {
    let below = |names: &[&str]| {
        names
            .iter()
            .map(|name| name.trim_start_matches("*."))
            .any(|name| host == name || host.strip_suffix(name).is_some_and(|front| front.ends_with('.')))
    };
    is_known(host, scene.view.policy) || below(PUBLISHERS) || below(lists::DISTRIBUTORS)
}

fn is_strange(text: &str, scene: &Scene<'_>) -> bool {
    let scheme = ["http://", "https://", "ftp://"].iter().any(|scheme| text.starts_with(scheme));
    let host = host_of(text);
    scheme && (host.is_empty() || !is_published(&host, scene))
}

fn fetched<'a>(scene: &Scene<'a>) -> Found<'a> {
    let all = scene.invocations();
    let found = scene.invocations().iter().find(|&inv| {
        let says = |words: &[&str]| inv.args.iter().filter_map(Arg::known).any(|word| words.contains(&word));
        let puts = runs(inv, KUBECTL) && says(&["apply", "create", "replace"])
            || runs(inv, COMPOSERS)
                && flag_value(inv, &["-f", "--file"]).is_some()
                && says(&["up", "run", "create", "start"]);
        if !puts || is_rehearsal(inv) {
            return false;
        }
        let given = |other: &Invocation| {
            let around = other.feeds.and_then(|at| all.get(at)).is_some_and(|outer| std::ptr::eq(outer, inv));
            around || other.pipeline == inv.pipeline && other.stage < inv.stage
        };
        let strange = |other: &Invocation| {
            other.args.iter().map(Arg::text).any(|text| {
                is_strange(&text, scene)
                    || downloads::takes_bare(other, &text) && is_strange(&format!("http://{text}"), scene)
            })
        };
        let piped = || {
            all.iter()
                .filter(|other| runs(other, lists::DOWNLOADERS) || other.program == "kustomize")
                .any(|other| given(other) && strange(other))
        };
        inv.args.iter().any(|arg| {
            let text = arg.text();
            let value = text.split_once("=http").map_or(0, |(name, _)| name.len() + 1);
            is_strange(text.get(value..).unwrap_or_default(), scene)
        }) || piped()
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// A verb of taking away stands among the first words.
fn takes(inv: &Invocation) -> bool {
    let mut words = inv.sub.iter().map(String::as_str).chain(inv.operands.iter().filter_map(Arg::known));
    runs(inv, TAKERS) && words.by_ref().take(2).any(|word| TAKE.contains(&word))
}

fn live<'a>(scene: &Scene<'a>) -> Found<'a> {
    static DELETING: RuleSet =
        RuleSet::of(&[&["cloud.kubernetes-delete", "cloud.docker-prune", "cloud.docker-volume-removed"]]);
    let found = scene.invocations().iter().find(|inv| takes(inv) && standing::names_live(inv));
    match found {
        Some(inv) if matches_one_of(scene, &DELETING) => Found::yes(&inv.text),
        Some(_) | None => Found::No,
    }
}

/// What another command lists is taken away, whatever it is.
fn listed<'a>(scene: &Scene<'a>) -> Found<'a> {
    let all = scene.invocations();
    let lists_all = |other: &Invocation| {
        let words: Vec<&str> = other.args.iter().filter_map(Arg::known).collect();
        let chooses = ["-l", "--selector", "--field-selector", "-f", "--filter"]
            .iter()
            .any(|flag| has_flag(other, flag));
        let helm = other.program == "helm" && words.iter().any(|word| matches!(*word, "ls" | "list"));
        let kept = ["deploy", "deployments", "deployment", "statefulsets", "sts", "secrets"];
        let wide = |kind: &str| WIDE_KINDS.contains(&kind) || kept.contains(&kind);
        let kubectl = runs(other, KUBECTL)
            && words.contains(&"get")
            && words.iter().any(|word| word.split(',').any(wide));
        (helm || kubectl) && !chooses && !standing::names_scratch(other)
    };
    let found = all.iter().enumerate().find(|(index, inv)| {
        runs(inv, &["kubectl", "oc", "k", "helm"])
            && inv
                .args
                .iter()
                .filter_map(Arg::known)
                .any(|word| matches!(word, "delete" | "uninstall" | "del"))
            && !is_rehearsal(inv)
            && all.iter().any(|other| {
                (other.feeds == Some(*index) || other.pipeline == inv.pipeline && other.stage < inv.stage)
                    && lists_all(other)
            })
    });
    Found::from(found.map(|(_, inv)| inv.text.as_str()))
}

/// A local cluster deleted that the call did not make itself.
fn local_deleted(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let first =
        |inv: &Invocation| inv.args.iter().filter_map(Arg::known).next().unwrap_or_default().to_owned();
    let name = |inv: &Invocation| {
        flag_value(inv, &["--name", "-n", "-p"]).map(Arg::to_text).or_else(|| {
            inv.args.iter().filter_map(Arg::known).skip(1).find(|word| *word != "cluster").map(str::to_owned)
        })
    };
    let made = |other: &Invocation| {
        other.program == inv.program
            && matches!(first(other).as_str(), "create" | "start" | "cluster")
            && name(other) == name(inv)
    };
    first(inv) == "delete" && scene.first(LOCAL, made).is_none()
        || first(inv) == "cluster" && inv.args.iter().any(|arg| arg.known() == Some("delete"))
}
