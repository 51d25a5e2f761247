//! Stores of credentials and tools that print one.

use super::{is_only_tried, shown};
use crate::domain::Target;
use crate::rules::Invocation;
use crate::rules::builtin::cloud::access::pulls_for_development;
use crate::rules::builtin::lists;
use crate::rules::builtin::network::attackers;
use crate::rules::matcher::{
    Found, SECRET_PRINTERS, Scene, THIEVES, belongs_to, dumps_store, host_of, is_known, keeps_secrets,
    prints_secret, runs, runs_code, runs_shell,
};
use crate::shell::Arg;

words!("builtin/secrets/stores");

fn store_dumped<'a>(scene: &Scene<'a>) -> Found<'a> {
    Found::from(scene.running(keeps_secrets).find(|inv| dumps_store(inv)).map(|inv| inv.text.as_str()))
}

/// `python3 LaZagne.py`: such a program run by an interpreter.
fn thief_run<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.running(|inv| runs_code(inv) || runs_shell(inv)).find(|inv| {
        attackers::script_stem(inv).is_some_and(|stem| {
            THIEVES.iter().any(|thief| stem.eq_ignore_ascii_case(thief) && !thief.contains('-'))
        })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

fn token_printed<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.running(keeps_secrets).find(|inv| {
        prints_secret(inv)
            && !pulls_for_development(inv)
            && !shown::is_taken(inv, scene)
            && !goes_where_it_belongs(inv, scene)
            && !only_keys(inv, scene)
            && !is_only_tried(inv, scene)
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// `kubectl get secret … -o json | jq '.data | keys'`: of the secret no more than its keys is shown.
pub(in crate::rules::builtin) fn only_keys(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let keys = |next: &Invocation| {
        // Of what other stores print all are names and values.
        let in_data = runs(inv, &["kubectl", "oc"]);
        let text: String =
            { next.operands.first() }.map(Arg::text).unwrap_or_default().split_whitespace().collect();
        // `-o jsonpath='{.data}'` is the data alone.
        let data = inv.text.contains("jsonpath={.data}") || inv.text.contains("jsonpath='{.data}'");
        let text = text.strip_suffix("[]").unwrap_or(&text);
        let of_data = text.strip_prefix(".data|");
        let shown = if in_data { of_data.or_else(|| data.then_some(text)) } else { Some(text) };
        let plain = || {
            let told = |arg: &Arg| matches!(arg.known(), Some("-r" | "-c" | "--raw-output"));
            let line = scene.command_line();
            next.word.known() == Some("jq")
                && next.args.iter().filter(|arg| !told(arg)).count() == 1
                && !["PATH", "DEBUG", ">"].iter().any(|part| line.contains(part))
        };
        runs(next, &["jq"])
            && (in_data || plain())
            && shown.is_some_and(|last| matches!(last, "keys" | "keys_unsorted" | "length"))
    };
    let after =
        |other: &&Invocation| other.pipeline == inv.pipeline && inv.stage.checked_add(1) == Some(other.stage);
    // Of lines `name: value` what stands in front of the colon, and of YAML the keys.
    let names = |next: &Invocation| {
        let words: Vec<&str> = next.args.iter().filter_map(Arg::known).collect();
        match next.program.as_str() {
            "cut" => matches!(
                words.as_slice(),
                ["-d:" | "-d=", "-f1"] | ["-d", ":" | "=", "-f1"] | ["-d", ":" | "=", "-f", "1"]
            ),
            "yq" => matches!(words.as_slice(), ["keys" | "keys | .[]"] | ["-r", "keys[]"] | ["keys[]"]),
            _ => false,
        }
    };
    let next = || scene.invocations().iter().find(after);
    inv.writes.is_empty()
        && (next().is_some_and(keys)
            || runs(inv, &["ansible-vault", "rails", "sops", "bundle", "helm"]) && next().is_some_and(names))
}

/// It is an argument of a request to a known host, so it is not shown and goes where it is for.
fn goes_where_it_belongs(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let user = inv.feeds.and_then(|index| scene.invocations().get(index));
    let mut urls = scene.view.survey.effects.iter().filter_map(|effect| match &effect.target {
        Target::Url(url) => Some(host_of(url)),
        Target::Path { .. } | Target::UnknownPath { .. } | Target::Command(_) | Target::None => None,
    });
    user.is_some_and(|user| runs(user, lists::DOWNLOADERS))
        && urls.all(|host| is_known(&host, scene.view.policy) || belongs_to(inv, &host))
}
