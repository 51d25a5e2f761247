//! What is published, and taken back.

use crate::domain::{Severity, Verdict};
use crate::rules::builtin::{operations, predicate, standing, sub};
use crate::rules::facts::operations::{PUBLISHES, PUBLISHES_PAGES, UPLOADS_PACKAGE, WITHDRAWS_PACKAGE};
use crate::rules::matcher::{Command, Found, Instead, RULE, Rule, Scene, Trigger, When, has_flag, has_sub};
use crate::shell::Arg;

/// Programs that publish a package with `publish`.
const PUBLISHERS: &[&str] = &[
    "npm",
    "pnpm",
    "yarn",
    "bun",
    "cargo",
    "poetry",
    "uv",
    "hatch",
    "flit",
    "lerna",
    "pdm",
    "vsce",
    "ovsx",
    "jsr",
    "deno",
    "pub",
    "changeset",
    "cargo-release",
    "wasm-pack",
];

pub(in crate::rules::builtin) const RULES: &[Rule] = &[
    Rule {
        id: "packages.published-for-good",
        verdict: Verdict::Modify,
        severity: Severity::Critical,
        reason: "publishes to a public registry, which keeps the version for good",
        instead: Some(Instead::Command("npm publish --dry-run")),
        when: &[
            When::Command(Command {
                without: &["--dry-run", "-n", "--registry", "--index", "--repository", "-r"],
                ..sub(PUBLISHERS, &["publish", "npm publish", "unpublish", "pub publish"])
            }),
            When::Command(Command {
                without: &["--help", "--repository-url", "--repository", "-r"],
                ..sub(&["twine"], &["upload"])
            }),
            When::Command(Command { without: &["--host", "--help"], ..sub(&["gem"], &["push", "yank"]) }),
            predicate("uploaded_by_a_module", Trigger::rows(UPLOADS_PACKAGE), |scene| {
                let elsewhere =
                    |word: &&str| matches!(*word, "-r" | "--repository" | "--repository-url" | "--help");
                operations::done_where(scene, UPLOADS_PACKAGE, |inv| {
                    !operations::known_words(inv).iter().any(elsewhere)
                })
            }),
            When::Command(Command {
                without: &["--dry-run", "-d", "--registry"],
                ..sub(
                    &["pnpm", "yarn", "bun", "nx"],
                    &["changeset publish", "lerna publish", "nx release publish", "release publish"],
                )
            }),
            When::Command(sub(&["cargo"], &["yank"])),
            predicate("crate_released", Trigger::programs(&["cargo"]), crate_released),
            When::Command(Command {
                without: &["--dry-run", "--organization"],
                ..sub(&["mix", "pod"], &["hex.publish", "trunk push"])
            }),
        ],
        fires: &[
            "wasm-pack publish",
            "cargo release --execute",
            "mix hex.publish --yes",
            "vsce publish",
            "npm publish",
            "cargo publish",
            "twine upload dist/*",
            "gem push x.gem",
            "poetry publish --build",
            "pnpm publish --access public",
            "pnpm changeset publish",
            "npx nx release publish",
            "yarn nx release publish",
        ],
        silent: &[
            "cargo release version minor --execute",
            "cargo release --no-publish --execute major",
            "pnpm changeset version",
            "npx nx release publish --dry-run",
            "npx nx release version",
            "npm publish --dry-run",
            "npm publish --registry http://localhost:4873",
            "twine upload -r testpypi dist/*",
            "cargo package",
            "npm pack",
            "npm run publish-docs",
            "git commit -m 'npm publish'",
            "cargo release",
            "dart pub publish --dry-run",
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
        fires: &[
            "mkdocs gh-deploy --force",
            "mike deploy --push --update-aliases 1.2 latest",
            "npx gh-pages -d build",
            "ghp-import -p -f site",
        ],
        silent: &["mkdocs build", "mkdocs serve", "mkdocs gh-deploy --help", "mike deploy 1.2", "mike serve"],
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
        fires: &[
            "npm publish",
            "cargo publish",
            "twine upload dist/*",
            "gem push x.gem",
            "pnpm publish --access public",
            "gh release create v1",
            "python -m twine upload dist/*",
            "npx changeset publish",
            "goreleaser release",
            "python setup.py sdist upload",
            "maturin publish",
            "flutter pub publish",
            "./gradlew publishPlugins",
            "npm dist-tag add x@1.0.0 latest",
            "npm publish --registry https://registry.x.example",
            "oras push localhost.x.example/a:1 a.tgz",
        ],
        silent: &[
            "npm publish --dry-run",
            "python setup.py sdist",
            "maturin build",
            "./gradlew build",
            "npm dist-tag ls",
            "cargo publish --dry-run",
            "cargo package",
            "npm pack",
            "docker build .",
            "git commit -m 'npm publish'",
            "npm run publish-docs",
            "goreleaser release --snapshot",
            "npx semantic-release --dry-run",
            "python -m twine check dist/*",
            "npm publish --registry http://localhost:4873",
            "gem push pkg/a-1.0.gem --host http://localhost:9292",
            "helm push a-1.tgz oci://localhost:5000/charts",
            "oras push localhost:5000/a:1 a.tgz",
            "dotnet nuget push a.nupkg -s /tmp/feed",
            "mvn deploy -DaltDeploymentRepository=x::default::file:/tmp/m2",
            "twine upload --repository-url http://localhost:8081/ dist/*",
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
        fires: &["docker push a/b", "docker buildx build --push -t a/b .", "podman push a/b"],
        silent: &["docker build .", "docker pull a/b", "docker image ls"],
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
        fires: &[
            "npm unpublish x --force",
            "cargo yank x@1.0.0",
            "npm owner add u x",
            "cargo owner --add u x",
            "gem yank x -v 1",
            "dotnet nuget delete x 1.0 --non-interactive",
            "pod trunk delete x 1.0",
            "mix hex.publish --revert 1.0.0",
        ],
        silent: &[
            "npm view lodash versions",
            "npm owner ls x",
            "npm access list packages",
            "cargo search x",
            "cargo owner --list",
        ],
        ..RULE
    },
];

const NODE: &[&str] = &["npm", "pnpm", "yarn", "bun"];

/// Options with which nothing is published.
const REHEARSED: &[&str] =
    &["--dry-run", "-d", "--snapshot", "--skip-publish", "--skip=publish", "--version", "--help", "-n"];

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
