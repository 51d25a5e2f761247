//! Resources, buckets and what is in containers, deleted.

use super::requests::{self, Request};
use super::{HUBS, IN_CODE, PROVIDERS};
use crate::domain::{Effect, Target};
use crate::rules::Invocation;
use crate::rules::builtin::libraries::Told;
use crate::rules::builtin::{database, libraries, lists, operations, standing};
use crate::rules::facts::operations::RAZES_CLOUD;
use crate::rules::matcher::{Found, Scene, asks_for_help, has_flag, has_sub, input_of};
use crate::rules::survey::IN_CONTAINER;
use crate::shell::Arg;

fn bucket_client_deletes(inv: &Invocation, scene: &Scene<'_>) -> bool {
    ["rb", "rm"].iter().any(|sub| has_sub(inv, sub))
        && !asks_for_help(inv)
        && !database::is_local_bucket(inv, scene)
}

fn provider_told_to_delete<'a>(scene: &Scene<'a>) -> Found<'a> {
    scene.code_where(|codes, _| {
        codes.iter().any(|code| {
            code.holds_any(PROVIDERS_IN_CODE)
                && code.holds_any(DELETED_IN_CODE)
                && !libraries::is_emulated(code)
        })
    })
}

fn name_deleted_from_a_zone(inv: &Invocation, scene: &Scene<'_>) -> bool {
    let lines = input_of(inv, scene).join("\n").replace("\\n", "\n").to_ascii_lowercase();
    lines.lines().any(|line| {
        let mut words = line.split_whitespace().skip_while(|word| *word == "update");
        matches!(words.next(), Some("delete" | "del"))
    })
}

words!("builtin/cloud/removed");

/// Libraries of providers as code names them.
const PROVIDERS_IN_CODE: &[&str] = &["boto3", "google.cloud", "azure.mgmt", "@aws-sdk/", "@google-cloud/"];

/// A provider is asked to delete by a plain request, or by a mutation that is named so.
fn deleted_by_request(inv: &Invocation) -> bool {
    let texts: Vec<String> = inv.args.iter().map(Arg::to_text).collect();
    let deletes = texts.iter().any(|text| {
        matches!(text.as_str(), "DELETE" | "-XDELETE" | "--request=DELETE" | "--method=DELETE" | "delete")
    });
    let asked = |text: &str| {
        let address = text.split_once("://").map_or(text, |(_, rest)| rest);
        let at_github = address.strip_prefix("api.github.com/repos/").is_some_and(|path| {
            let path = path.trim_end_matches('/');
            path.split('/').count() == 2 || path.ends_with("/protection")
        });
        let at_main = ["main", "master", "develop", "production"]
            .iter()
            .any(|name| address.strip_suffix(name).is_some_and(|rest| rest.ends_with("/git/refs/heads/")));
        let at_cluster = || {
            let (host, path) = address.split_once('/').unwrap_or_default();
            let serves = [":6443", ":8001", ":8443"].iter().any(|port| host.ends_with(port))
                || host.starts_with("kubernetes.default");
            let kept = ["api/v1/namespaces/", "api/v1/nodes/", "api/v1/persistentvolumes", "apis/"];
            serves && kept.iter().any(|front| path.starts_with(front)) && !path.contains("/pods/")
        };
        let at_gitlab = address
            .split_once("/api/v4/projects/")
            .is_some_and(|(host, _)| host.contains('.') && !host.contains('/') && !host.starts_with("127."));
        at_github
            || at_main && address.starts_with("api.github.com/repos/")
            || at_cluster()
            || at_gitlab
            || address.starts_with("api.github.com/orgs/")
            || address.starts_with("api.github.com/user/")
            || PROVIDERS.iter().any(|front| {
                address.starts_with(front)
                    || address
                        .find(front)
                        .is_some_and(|at| !address.get(..at).unwrap_or_default().contains('/'))
            })
    };
    let mutates = || {
        texts.iter().any(|text| {
            text.contains("mutation")
                && [
                    "volumeDelete",
                    "projectDelete",
                    "serviceDelete",
                    "environmentDelete",
                    "deleteRepository",
                    "deleteApp",
                    "deleteProject",
                    "deleteDatabase",
                    "deleteOrganization",
                ]
                .iter()
                .any(|name| text.contains(name))
        })
    };
    let forces_a_branch = || {
        texts.iter().any(|text| matches!(text.as_str(), "PATCH" | "-XPATCH" | "--request=PATCH"))
            && texts
                .iter()
                .any(|text| text.contains("api.github.com/repos/") && text.contains("/git/refs/heads/"))
            && texts.iter().any(|text| libraries::plain(text).contains("force:true"))
    };
    deletes && texts.iter().any(|text| asked(text)) || mutates() || forces_a_branch()
}

/// Where databases keep their data.
fn is_data(path: &str) -> bool {
    [
        "postgresql",
        "mysql",
        "mongodb",
        "mariadb",
        "redis",
        "elasticsearch",
        "cassandra",
        "clickhouse",
        "etcd",
        "rabbitmq",
    ]
    .iter()
    .any(|name| path.strip_prefix("/var/lib/").is_some_and(|rest| rest.starts_with(name)))
        || path.starts_with("/data/db")
        || path.trim_end_matches(['*', '/', '.']) == "/data"
}

/// The root, a directory at the top or one of data, or all in one.
fn is_wide(path: &str) -> bool {
    let dir = path.trim_end_matches(['*', '/', '.']);
    let depth = dir.split('/').filter(|part| !part.is_empty()).count();
    let data = dir.starts_with("/var/lib/") || dir.starts_with("/srv/") || dir.starts_with("/mnt/");
    data || if path.starts_with('/') { depth < 2 } else { dir.is_empty() }
}

/// A path for which `test` holds is deleted in a container.
fn deleted_inside<'a>(scene: &Scene<'a>, test: fn(&str) -> bool) -> Found<'a> {
    let wide = |effect: &Effect| {
        let path = match &effect.target {
            Target::Command(what) => what.strip_suffix(IN_CONTAINER)?,
            Target::Path { .. } | Target::UnknownPath { .. } | Target::Url(_) | Target::None => return None,
        };
        (test(path) && !effect.disposable).then_some(())
    };
    if !scene.view.survey.effects.iter().any(|effect| wide(effect).is_some()) {
        return Found::No;
    }
    let found = scene.invocations().iter().find(|inv| {
        inv.contained
            && (["-r", "-R", "--recursive", "-delete"].iter().any(|flag| has_flag(inv, flag))
                || inv.program == "find")
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// A bucket loses what the directory does not have, and the directory is not what a build has made.
fn mirrored(inv: &Invocation) -> bool {
    let words: Vec<String> = inv.args.iter().map(Arg::to_text).collect();
    let has = |flag: &str| words.iter().any(|word| word == flag);
    let mirrors = has("sync") && has("--delete")
        || has("rsync") && (has("-d") || has("--delete-unmatched-destination-objects"));
    let spared = has("--dryrun") || has("--dry-run") || has("-n") || operations::is_emulated(inv);
    let source = words.iter().skip_while(|word| !matches!(word.as_str(), "sync" | "rsync")).skip(1);
    let source = source.map(String::as_str).find(|word| !word.starts_with('-')).unwrap_or_default();
    let built = source.split('/').any(|part| BUILT.contains(&part)) && !source.contains("://");
    mirrors && !spared && !built
}

fn razed<'a>(scene: &Scene<'a>) -> Found<'a> {
    let is_spared = |inv: &Invocation| {
        let texts = || inv.operands.iter().map(Arg::text);
        match inv.program.as_str() {
            // What is emptied is elsewhere.
            // `server enable-protection db-1 delete`
            "hcloud" => inv.args.iter().any(|arg| arg.known() == Some("enable-protection")),
            "rclone" => !texts()
                .any(|text| text.split(':').next().is_some_and(|name| name != text && !name.contains('/'))),
            // The repository or what protects it, not a thing in it.
            "glab" => !inv.args.iter().map(Arg::text).any(|text| {
                let path = text.trim_start_matches('/');
                path.starts_with("projects/")
                    && (path.split('/').count() == 2 || path.contains("/protected_branches/"))
                    || text == "repo"
            }),
            "gh" if inv.args.iter().any(|arg| arg.known() == Some("release")) => false,
            "gh" => !inv.args.iter().map(Arg::text).any(|text| {
                let path = text.trim_start_matches('/');
                path.starts_with("repos/")
                    && (path.split('/').count() == 3
                        || path.ends_with("/protection")
                        || path.ends_with("/vulnerability-alerts")
                        || path.contains("/rulesets/")
                        || path.contains("/branches/"))
                    || text == "codespace"
            }),
            _ => false,
        }
    };
    match operations::done_where(scene, RAZES_CLOUD, |inv| {
        !is_spared(inv) && !standing::is_scratch_alone(inv)
    }) {
        Found::No => graphql_deletes(scene),
        found @ (Found::Yes(_) | Found::Unsure(_)) => found,
    }
}

/// A mutation that deletes, sent to the code host.
fn graphql_deletes<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(HUBS, |inv| {
        let asks = inv.args.iter().any(|arg| arg.known() == Some("api"));
        asks && inv.args.iter().map(Arg::text).any(|text| {
            text.contains("mutation")
                && [
                    "deleteRepository",
                    "deleteBranchProtectionRule",
                    "archiveRepository",
                    "deleteProject",
                    "deleteRef(",
                    "updateRepository(",
                ]
                .iter()
                .any(|name| text.contains(name))
        })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

fn cloud_deletes(inv: &Invocation) -> bool {
    let words: Vec<&str> =
        inv.sub.iter().map(String::as_str).chain(inv.operands.iter().filter_map(Arg::known)).collect();
    let dry = operations::is_rehearsal(inv) || asks_for_help(inv) || operations::is_emulated(inv);
    // The action is the verb of the command; a resource may be named like one, but stands behind it.
    let verb = match inv.program.as_str() {
        "aws" => words.get(1).is_some_and(|verb| {
            ["delete-", "terminate-", "deregister-", "purge-", "schedule-key-deletion", "remove-"]
                .iter()
                .any(|front| verb.starts_with(front))
        }),
        _ => words
            .iter()
            .skip(1)
            .take(4)
            // `server enable-protection db-1 delete`
            .take_while(|word| !word.starts_with("enable-"))
            .any(|verb| matches!(*verb, "delete" | "destroy" | "purge" | "terminate")),
    };
    verb && !dry && !standing::is_scratch_alone(inv)
}
