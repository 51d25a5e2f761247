//! Repositories, sites and applications with those who host them.

use super::HUBS;
use crate::domain::{Severity, Verdict};
use crate::rules::builtin::{predicate, sub};
use crate::rules::matcher::{Command, Found, Instead, RULE, Rule, Scene, Trigger, When, flag_value};
use crate::shell::Arg;

pub(in crate::rules::builtin) const RULES: &[Rule] = &[
    Rule {
        id: "cloud.repository-delete",
        severity: Severity::Critical,
        reason: "deletes a hosted repository or makes it public",
        instead: Some(Instead::Command("gh repo view")),
        when: &[
            When::Command(sub(
                &["gh", "glab"],
                &["repo delete", "repo archive", "project delete", "org delete"],
            )),
            When::Command(Command { flags: &[&["--visibility"]], ..sub(&["gh"], &["repo edit"]) }),
        ],
        fires: &[
            "gh repo delete a/b --yes",
            "gh repo edit a/b --visibility public",
            "glab repo delete a/b",
            "gh repo archive a/b",
        ],
        silent: &[
            "gh repo view",
            "gh repo clone a/b",
            "gh repo edit a/b --description x",
            "gh pr list",
            "gh issue create -t 'gh repo delete'",
        ],
        ..RULE
    },
    Rule {
        id: "cloud.hosting-delete",
        verdict: Verdict::Modify,
        reason: "deletes or changes something on the code host",
        instead: Some(Instead::Command("gh release list")),
        when: &[
            When::Command(sub(
                &["gh"],
                &[
                    "release delete",
                    "secret set",
                    "secret delete",
                    "secret remove",
                    "variable delete",
                    "release delete-asset",
                    "run delete",
                    "ssh-key add",
                    "ssh-key delete",
                    "gpg-key add",
                    "label delete",
                    "codespace delete",
                    "workflow disable",
                    "ruleset delete",
                    "auth refresh",
                    "auth logout",
                    "issue delete",
                    "gist delete",
                    "gpg-key delete",
                ],
            )),
            predicate("gh_api_writes", Trigger::programs(HUBS), gh_api_deletes),
        ],
        fires: &[
            "gh release delete v1",
            "gh release delete-asset v1 x.tgz",
            "gh secret set TOKEN",
            "gh api -X DELETE repos/a/b/git/refs/heads/x",
            "gh ssh-key add k.pub",
            "gh api --method delete repos/a/b",
            "gh api -X DELETE repos/a/b/labels/bug",
            "gh api -X PUT repos/a/b/pulls/7/merge",
            "gh api -X DELETE repos/a/b/hooks/4 -q repos/a/b/issues/7/labels",
            "gh api -X DELETE repos/a/b/issues/comments/7",
            "gh api -X DELETE repos/a/b/issues/7/labels/../../../..",
        ],
        silent: &[
            "gh release list",
            "gh api -X DELETE repos/a/b/issues/7/labels/flaky",
            "gh api -X PUT repos/a/b/pulls/7/update-branch",
            "gh api -X DELETE repos/a/b/pulls/7/requested_reviewers -f 'reviewers[]=u'",
            "gh api repos/a/b",
            "gh pr create --fill",
            "gh secret list",
            "gh run view 1",
        ],
        ..RULE
    },
    Rule {
        id: "cloud.cache-deleted",
        verdict: Verdict::Warn,
        severity: Severity::Low,
        reason: "deletes caches of the code host, which the next runs have to fill again",
        instead: Some(Instead::Command("gh cache list")),
        when: &[When::Command(sub(&["gh"], &["cache delete"]))],
        fires: &["gh cache delete --all", "gh cache delete 42 --repo a/b"],
        silent: &["gh cache list", "gh cache delete --help"],
        ..RULE
    },
    Rule {
        id: "cloud.app-destroy",
        severity: Severity::Critical,
        reason: "destroys a running application or machine",
        instead: Some(Instead::Advice("name the application to the person and let them destroy it")),
        when: &[
            When::Command(sub(&["heroku"], &["apps:destroy", "pg:reset", "addons:destroy", "destroy"])),
            When::Command(sub(
                &["fly", "flyctl"],
                &[
                    "apps destroy",
                    "destroy",
                    "volumes destroy",
                    "volumes delete",
                    "machine destroy",
                    "postgres destroy",
                ],
            )),
            When::Command(sub(
                &["vercel", "netlify", "railway", "wrangler", "firebase", "doctl", "supabase"],
                &[
                    "rm",
                    "remove",
                    "delete",
                    "sites:delete",
                    "projects:delete",
                    "projects delete",
                    "firestore:delete",
                    "down",
                ],
            )),
            When::Command(sub(&["virsh"], &["destroy", "undefine"])),
            When::Command(sub(
                &["VBoxManage", "multipass", "limactl", "lxc", "incus"],
                &["unregistervm", "delete", "purge"],
            )),
        ],
        fires: &[
            "heroku apps:destroy x --confirm x",
            "flyctl apps destroy x -y",
            "vercel rm x --yes",
            "heroku pg:reset DATABASE",
        ],
        silent: &[
            "heroku logs",
            "fly status",
            "vercel ls",
            "vagrant status",
            "firebase deploy --dry-run",
            "virsh list",
        ],
        ..RULE
    },
];

/// `repos/a/b/issues/7/labels/flaky`: what sorts an issue or asks for its review, and is put back in a moment.
fn is_of_a_thread(arg: &Arg) -> bool {
    const SORTS: &[&str] = &["labels", "assignees", "requested_reviewers", "reactions"];
    let path = arg.known().unwrap_or_default().trim_start_matches('/');
    let parts: Vec<&str> = path.split('/').collect();
    match parts.as_slice() {
        // The branch of a request takes in what its base has got since.
        ["repos", _, _, "pulls", number, "update-branch"] => number.bytes().all(|b| b.is_ascii_digit()),
        ["repos", _, _, "issues" | "pulls", number, sorts, rest @ ..] => {
            !number.is_empty()
                && number.bytes().all(|b| b.is_ascii_digit())
                && SORTS.contains(sorts)
                && !rest.iter().any(|part| matches!(*part, "" | "." | ".."))
        }
        _ => false,
    }
}

fn gh_api_deletes<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(HUBS, |inv| {
        let api = inv.sub.first().map(String::as_str).or_else(|| inv.operands.first().and_then(Arg::known))
            == Some("api");
        let method = flag_value(inv, &["-X", "--method"]).map(Arg::text).unwrap_or_default();
        let opens = inv.args.iter().map(Arg::text).any(|text| {
            let path = text.trim_start_matches('/');
            path.starts_with("repos/")
                && (path.ends_with("/hooks") || path.ends_with("/keys") || path.ends_with("/protection"))
        });
        let writes = opens
            && (inv.flags.iter().any(|flag| {
                matches!(flag.name.as_str(), "-f" | "-F" | "--field" | "--raw-field" | "--input")
            }) || inv
                .args
                .iter()
                .any(|arg| matches!(arg.known(), Some("-f" | "-F" | "--field" | "--input"))));
        let glab = inv.program == "glab" && inv.args.iter().any(|arg| arg.known() == Some("DELETE"));
        let changes = matches!(method.to_ascii_uppercase().as_str(), "DELETE" | "PUT") || writes || glab;
        // Whatever else could be the address is one of these too.
        let address = |arg: &&Arg| {
            let text = arg.prefix();
            !text.starts_with('-')
                && !text.contains([':', '='])
                && (text.contains('/') || arg.known().is_none())
        };
        let mut addresses = inv.args.iter().filter(address).peekable();
        api && changes && !(addresses.peek().is_some() && addresses.all(is_of_a_thread))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}
