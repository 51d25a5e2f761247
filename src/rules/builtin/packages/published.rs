//! What is published, and taken back.

use crate::domain::{Severity, Verdict};
use crate::rules::builtin::{operations, predicate, standing, sub};
use crate::rules::facts::operations::{PUBLISHES, PUBLISHES_PAGES, UPLOADS_PACKAGE, WITHDRAWS_PACKAGE};
use crate::rules::matcher::{Command, Found, Instead, RULE, Rule, Scene, Trigger, When, has_flag, has_sub};
use crate::shell::Arg;

words!("builtin/packages/published");

pub(in crate::rules::builtin) const RULES: &[Rule] = &[
    Rule {
        id: "packages.published-for-good",
        verdict: Verdict::Modify,
        severity: Severity::Critical,
        reason: "publishes to a public registry, which keeps the version for good",
        instead: Some(Instead::Command("npm publish --dry-run")),
        when: &[
            When::Command(Command {
                away: true,
                without: &["--dry-run", "-n", "--registry", "--index", "--repository", "-r"],
                ..sub(PUBLISHERS, &["publish", "npm publish", "unpublish", "pub publish"])
            }),
            When::Command(Command {
                away: true,
                without: &["--help", "--repository-url", "--repository", "-r"],
                ..sub(&["twine"], &["upload"])
            }),
            When::Command(Command {
                away: true,
                without: &["--host", "--help"],
                ..sub(&["gem"], &["push", "yank"])
            }),
            predicate("uploaded_by_a_module", Trigger::rows(UPLOADS_PACKAGE), |scene| {
                let elsewhere =
                    |word: &&str| matches!(*word, "-r" | "--repository" | "--repository-url" | "--help");
                operations::done_where(scene, UPLOADS_PACKAGE, |inv| {
                    !operations::known_words(inv).iter().any(elsewhere) && !standing::stays_here(inv)
                })
            }),
            When::Command(Command {
                away: true,
                without: &["--dry-run", "-d", "--registry"],
                ..sub(
                    &["pnpm", "yarn", "bun", "nx"],
                    &["changeset publish", "lerna publish", "nx release publish", "release publish"],
                )
            }),
            When::Command(sub(&["cargo"], &["yank"])),
            predicate("crate_released", Trigger::programs(&["cargo"]), crate_released),
            When::Command(Command {
                away: true,
                without: &["--dry-run", "--organization"],
                ..sub(&["mix", "pod"], &["hex.publish", "trunk push"])
            }),
        ],
        ..RULE
    },
    Rule {
        id: "packages.pages-published",
        verdict: Verdict::Modify,
        reason: "puts pages where everybody reads them, over those that stand there",
        instead: Some(Instead::Command("mkdocs build")),
        when: &[predicate("pages_published", Trigger::rows(PUBLISHES_PAGES), |scene| {
            let kept = |word: &&str| *word == "--no-push";
            operations::done_where(scene, PUBLISHES_PAGES, |inv| {
                !operations::known_words(inv).iter().any(kept)
            })
        })],
        ..RULE
    },
    Rule {
        id: "packages.publish",
        verdict: Verdict::Modify,
        reason: "publishes to the world, which cannot be taken back",
        instead: Some(Instead::Command("npm publish --dry-run")),
        when: &[
            When::Command(Command {
                away: true,
                without: &["--dry-run", "-n"],
                ..sub(PUBLISHERS, &["publish", "npm publish", "pub publish"])
            }),
            When::Command(Command { away: true, without: &["--help"], ..sub(&["twine"], &["upload"]) }),
            When::Command(Command { away: true, ..sub(&["gem"], &["push"]) }),
            When::Command(Command {
                away: true,
                without: &["-s", "-DskipTests=only"],
                ..sub(&["mvn", "gradle", "gradlew"], &["deploy", "publish", "release:perform"])
            }),
            When::Command(Command { away: true, ..sub(&["helm"], &["push"]) }),
            When::Command(Command { without: &["--draft"], ..sub(&["gh"], &["release create"]) }),
            predicate("published_by_words", Trigger::rows(PUBLISHES), |scene| {
                let rehearsed = |word: &&str| REHEARSED.contains(word);
                operations::done_where(scene, PUBLISHES, |inv| {
                    !operations::known_words(inv).iter().any(rehearsed) && !standing::stays_here(inv)
                })
            }),
        ],
        ..RULE
    },
    Rule {
        id: "packages.image-pushed",
        verdict: Verdict::Warn,
        severity: Severity::Medium,
        reason: "lays an image in a registry, where others may run it",
        instead: Some(Instead::Command("docker image ls")),
        when: &[
            When::Command(Command { flags: &[&["--push"]], ..sub(&["docker"], &["buildx build", "build"]) }),
            When::Command(sub(&["docker", "podman"], &["push", "image push"])),
        ],
        ..RULE
    },
    Rule {
        id: "packages.unpublish",
        reason: "takes a published package away from everybody who uses it",
        instead: Some(Instead::Command("npm view {1} versions")),
        when: &[
            When::Command(Command { without: &["--dry-run"], ..sub(NODE, &["unpublish"]) }),
            When::Command(Command { without: &["--undo"], ..sub(&["cargo", "gem"], &["yank"]) }),
            When::Command(sub(
                NODE,
                &[
                    "deprecate",
                    "owner add",
                    "owner rm",
                    "access set",
                    "access grant",
                    "access revoke",
                    "access public",
                    "access restricted",
                    "dist-tag rm",
                    "token create",
                    "token revoke",
                ],
            )),
            When::Command(Command {
                flags: &[&["-a", "--add", "-r", "--remove"]],
                ..sub(&["cargo", "gem"], &["owner"])
            }),
            predicate("withdrawn_by_words", Trigger::rows(WITHDRAWS_PACKAGE), |scene| {
                operations::done(scene, WITHDRAWS_PACKAGE)
            }),
        ],
        ..RULE
    },
];

const NODE: &[&str] = &["npm", "pnpm", "yarn", "bun"];

/// `cargo release --execute`, but for its steps that stay here or only push.
fn crate_released<'a>(scene: &Scene<'a>) -> Found<'a> {
    const STEPS: &[&str] =
        &["version", "replace", "hook", "commit", "tag", "push", "owner", "changes", "config"];
    let found = scene.first(&["cargo"], |inv| {
        has_sub(inv, "release")
            && (has_flag(inv, "--execute") || has_flag(inv, "-x"))
            && !has_flag(inv, "--no-publish")
            && !inv.args.iter().filter_map(Arg::known).any(|word| STEPS.contains(&word))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}
