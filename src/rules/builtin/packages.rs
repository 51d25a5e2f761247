//! Packages: publishing, removal, and code from unusual places.

pub(super) mod hosted;
pub(super) mod strangers;

use super::deeds::{self, Deeds};
use super::{everyday, flagged, lists, predicate, run, sub};
use crate::domain::{Policy, Severity, Verdict};
use crate::rules::Invocation;
use crate::rules::matcher::{
    Command, Found, Instead, Operand, RULE, Rule, Scene, Trigger, When, asks_for_help, flag_value, has_flag,
    host_of, is_known,
};
use crate::shell::Arg;

const PIP: &[&str] = &["pip", "pip3", "pipx", "uv", "poetry", "pdm"];
const NODE: &[&str] = &["npm", "pnpm", "yarn", "bun"];

const INDEX_USERS: &[&str] =
    &["pip", "pip3", "pipx", "uv", "npm", "pnpm", "yarn", "bun", "cargo", "gem", "npx"];

/// Programs that install what stands at an address.
const INSTALLERS: &[&str] = &[
    "pip", "pip3", "pipx", "uv", "npm", "pnpm", "yarn", "bun", "apt", "apt-get", "dnf", "yum", "gem", "rpm",
    "cargo", "go",
];

/// Programs that run, or install and run, what stands at an address.
const URL_RUNNERS: &[&str] = &[
    "npx",
    "bunx",
    "pnpx",
    "uvx",
    "pip",
    "pip3",
    "npm",
    "pnpm",
    "yarn",
    "bun",
    "pipx",
    "uv",
    "poetry",
    "deno",
    "go",
    "jbang",
    "streamlit",
];

/// Deeds that publish.
/// Modules that upload to the public registry.
const UPLOADED: Deeds = &[
    (&["python", "python3"], &["-m twine upload", "-m flit publish", "-m uv publish"]),
    (&["dart", "flutter"], &["pub publish"]),
];

const PUBLISHED: Deeds = &[
    (&["python", "python3"], &["-m twine upload", "twine upload", "-m flit publish"]),
    (&["python", "python3"], &["setup.py upload", "-m maturin publish", "-m uv publish", "-m build upload"]),
    (&["maturin"], &["publish", "upload"]),
    (&["flutter"], &["pub publish"]),
    (&["rake"], &["release", "gem:push"]),
    (
        &["gradlew", "gradle"],
        &[
            "publishPlugins",
            "publishToSonatype",
            "publishToMavenCentral",
            "publishAllPublications*",
            "uploadArchives",
        ],
    ),
    (&["npm", "pnpm", "yarn"], &["dist-tag add", "tag add", "npm tag add"]),
    (&["dotnet"], &["nuget push"]),
    (&["nuget"], &["push"]),
    (&["mix"], &["hex.publish"]),
    (&["hex"], &["publish"]),
    (&["cabal"], &["upload"]),
    (&["stack"], &["upload"]),
    (&["luarocks"], &["upload"]),
    (&["semantic-release"], &["*"]),
    (&["changeset"], &["publish"]),
    (&["release-it", "np"], &["*"]),
    (&["goreleaser"], &["release"]),
    (&["pod"], &["trunk push"]),
    (&["conda", "anaconda", "anaconda-client"], &["upload"]),
    (&["snapcraft"], &["upload", "push", "release"]),
    (&["flatpak-builder"], &["--publish"]),
    (&["sbt"], &["publish", "publishSigned"]),
    (&["clojure", "lein"], &["deploy"]),
    (&["elm", "spago"], &["publish"]),
    (&["opam"], &["publish"]),
    (&["cpan-upload"], &["*"]),
    (&["web-ext"], &["sign"]),
    (&["fastlane"], &["release", "deliver", "supply", "beta", "pilot upload"]),
    (&["eas"], &["submit", "update"]),
    (&["skopeo", "crane", "oras", "regctl"], &["copy", "push"]),
];

/// Deeds that put pages where everybody reads them.
const PAGES: Deeds = &[
    (&["mkdocs"], &["gh-deploy"]),
    (&["python", "python3"], &["-m mkdocs gh-deploy"]),
    (
        &["mike"],
        &["deploy --push", "deploy -p", "delete --push", "delete -p", "set-default --push", "alias --push"],
    ),
    (&["gh-pages"], &["-d", "--dist"]),
    (&["ghp-import"], &["-p", "--push"]),
    (&["docusaurus"], &["deploy"]),
];

/// Deeds that take a published package away.
const WITHDRAWN: Deeds = &[
    (&["dotnet", "nuget"], &["nuget delete", "delete"]),
    (&["pod"], &["trunk delete", "trunk deprecate"]),
    (&["mix"], &["hex.publish --revert", "hex.retire"]),
    (&["dart", "flutter"], &["pub uploader"]),
    (&["vsce", "ovsx"], &["unpublish"]),
];

/// Options with which nothing is published.
const REHEARSED: &[&str] =
    &["--dry-run", "-d", "--snapshot", "--skip-publish", "--skip=publish", "--version", "--help", "-n"];

/// Deeds that take away what the tools themselves need.
const UPROOTED: Deeds = &[
    (&["npm"], &["uninstall -g npm", "rm -g npm", "uninstall --global npm"]),
    (&["pip", "pip3"], &["uninstall pip", "uninstall setuptools"]),
    (&["conda", "mamba"], &["env remove -n base", "env remove --name base", "remove base --all"]),
    (&["rustup"], &["self uninstall"]),
    (&["emerge"], &["--unmerge", "-C", "--depclean"]),
    (&["xbps-remove"], &["*"]),
    (&["update-alternatives"], &["--remove-all", "--remove"]),
    (&["apt", "apt-get"], &["--allow-unauthenticated", "--allow-insecure-repositories", "--force-yes"]),
    (&["yum", "dnf", "zypper"], &["--nogpgcheck", "--no-gpg-checks"]),
    (&["apk"], &["--allow-untrusted"]),
    (&["yay", "paru", "pamac"], &["-R --noconfirm", "-Rns"]),
    (
        &["go"],
        &[
            "env -w GOPROXY=*",
            "env -w GOFLAGS=*",
            "env -w GONOSUMDB=*",
            "env -w GOSUMDB=off",
            "env -w GOINSECURE=*",
        ],
    ),
];

/// Deeds that take software from the machine.
const REMOVED: Deeds = &[
    (
        &["apt", "apt-get", "aptitude"],
        &["remove", "purge", "autoremove", "autopurge", "dist-upgrade", "full-upgrade"],
    ),
    (&["dnf", "yum", "zypper", "tdnf", "microdnf"], &["remove", "erase", "autoremove", "rm"]),
    (&["apk"], &["del"]),
    (
        &["brew", "snap", "flatpak", "port", "choco", "scoop", "winget", "nix-env", "emerge"],
        &["uninstall", "remove", "rm", "autoremove"],
    ),
    (&["pacman"], &["-R", "--remove"]),
];

/// Options with which a package manager only says what it would remove.
const SIMULATED: &[&str] =
    &["-s", "--simulate", "--dry-run", "--just-print", "--no-act", "--assumeno", "--print", "-p"];

/// Variables that name the registry that packages come from.
const REGISTRY_VARIABLES: &[&str] = &[
    "PIP_INDEX_URL=",
    "PIP_EXTRA_INDEX_URL=",
    "NPM_CONFIG_REGISTRY=",
    "npm_config_registry=",
    "GOPROXY=",
    "UV_INDEX_URL=",
    "UV_INDEX=",
    "UV_DEFAULT_INDEX=",
    "YARN_REGISTRY=",
    "BUNDLE_MIRROR=",
    "YARN_NPM_REGISTRY_SERVER=",
    "CARGO_REGISTRIES_",
    "GOINSECURE=",
    "GOSUMDB=off",
    "NODE_TLS_REJECT_UNAUTHORIZED=0",
];

/// Of these, the ones with which nothing that is fetched is checked, whoever it comes from.
const UNCHECKED: &[&str] = &["GOINSECURE=", "GOSUMDB=off", "NODE_TLS_REJECT_UNAUTHORIZED=0"];

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "packages.published-for-good",
        severity: Severity::Critical,
        reason: "publishes to a public registry, which keeps the version for good",
        instead: Some(Instead::Command("npm publish --dry-run")),
        when: &[
            When::Command(Command {
                without: &["--dry-run", "-n", "--registry", "--index", "--repository", "-r"],
                ..sub(
                    &[
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
                    ],
                    &["publish", "npm publish", "unpublish", "pub publish"],
                )
            }),
            When::Command(Command {
                without: &["--help", "--repository-url", "--repository", "-r"],
                ..sub(&["twine"], &["upload"])
            }),
            When::Command(Command { without: &["--host", "--help"], ..sub(&["gem"], &["push", "yank"]) }),
            predicate("uploaded_by_a_module", Trigger::rows(UPLOADED), |scene| {
                let elsewhere =
                    |word: &&str| matches!(*word, "-r" | "--repository" | "--repository-url" | "--help");
                deeds::done_where(scene, UPLOADED, |inv| !deeds::known_words(inv).iter().any(elsewhere))
            }),
            When::Command(Command {
                without: &["--dry-run", "-d", "--registry"],
                ..sub(
                    &["pnpm", "yarn", "bun", "nx"],
                    &["changeset publish", "lerna publish", "nx release publish", "release publish"],
                )
            }),
            When::Command(sub(&["cargo"], &["yank"])),
            When::Command(Command { flags: &[&["--execute", "-x"]], ..sub(&["cargo"], &["release"]) }),
            When::Command(Command {
                without: &["--dry-run", "--organization"],
                ..sub(&["mix", "pod"], &["hex.publish", "trunk push"])
            }),
        ],
        fires: &[
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
        when: &[predicate("pages_published", Trigger::rows(PAGES), |scene| {
            let kept = |word: &&str| *word == "--no-push";
            deeds::done_where(scene, PAGES, |inv| !deeds::known_words(inv).iter().any(kept))
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
                without: &["--dry-run", "-n"],
                ..sub(
                    &[
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
                        "vsce",
                        "ovsx",
                        "jsr",
                        "wasm-pack",
                        "deno",
                    ],
                    &["publish", "npm publish", "pub publish"],
                )
            }),
            When::Command(Command { without: &["--help"], ..sub(&["twine"], &["upload"]) }),
            When::Command(sub(&["gem"], &["push"])),
            When::Command(Command {
                without: &["-s", "-DskipTests=only"],
                ..sub(&["mvn", "gradle", "gradlew"], &["deploy", "publish", "release:perform"])
            }),
            When::Command(sub(&["helm"], &["push"])),
            When::Command(Command { without: &["--draft"], ..sub(&["gh"], &["release create"]) }),
            predicate("published_by_words", Trigger::rows(PUBLISHED), |scene| {
                let rehearsed = |word: &&str| REHEARSED.contains(word);
                deeds::done_where(scene, PUBLISHED, |inv| !deeds::known_words(inv).iter().any(rehearsed))
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
        instead: Some(Instead::Command("npm view lodash versions")),
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
            predicate("withdrawn_by_words", Trigger::rows(WITHDRAWN), |scene| deeds::done(scene, WITHDRAWN)),
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
    Rule {
        id: "packages.system-removal",
        verdict: Verdict::Modify,
        reason: "removes software from the machine",
        instead: Some(Instead::Command("apt list --installed")),
        when: &[
            predicate("package_removed", Trigger::rows(REMOVED), |scene| {
                deeds::done_where(scene, REMOVED, |inv| {
                    !asks_for_help(inv)
                        && !deeds::known_words(inv).iter().any(|word| SIMULATED.contains(word))
                        && !everyday::removes_tools(inv)
                })
            }),
            When::Command(flagged(&["dpkg"], &[&["-r", "-P", "--remove", "--purge"]])),
            When::Command(flagged(&["rpm"], &[&["-e", "--erase"]])),
            predicate("tool_uprooted", Trigger::rows(UPROOTED), |scene| {
                deeds::done_where(scene, UPROOTED, |inv| !everyday::sets_own_source(inv))
            }),
            predicate("every_package_removed", Trigger::programs(LISTERS), every_package),
        ],
        fires: &[
            "sudo apt-get remove -y nginx",
            "sudo dnf remove httpd",
            "brew uninstall --ignore-dependencies openssl",
            "sudo dpkg --purge x",
            "sudo pacman -Rns x",
            "apk del nginx",
            "sudo apt remove -y nodejs nginx",
            "sudo apt-get autoremove --purge -y",
            "go env -w GOPROXY=https://x.example",
        ],
        silent: &[
            "apt list --installed",
            "apt-get -s remove nginx",
            "npm uninstall lodash",
            "pip uninstall x",
            "sudo apt-get remove -y nodejs",
            "sudo dnf remove -y golang",
            "sudo apt-get autoremove -y",
            "brew uninstall node",
            "pacman -Rs --print x",
            "nvm uninstall 16",
            "rustup toolchain uninstall nightly-2023-01-01",
            "go env -w GOPROXY=direct",
            "brew list",
            "sudo apt-get install -y jq",
        ],
        ..RULE
    },
    Rule {
        id: "packages.core-removal",
        severity: Severity::Critical,
        reason: "removes a package without which the machine does not run",
        instead: Some(Instead::Command("apt list --installed")),
        when: &[
            When::Command(Command {
                operand: Operand::Is(&[
                    "bash",
                    "dash",
                    "coreutils",
                    "libc6",
                    "glibc",
                    "systemd",
                    "init",
                    "sudo",
                    "apt",
                    "dpkg",
                    "rpm",
                    "dnf",
                    "linux-image-*",
                    "kernel",
                    "openssh-server",
                    "util-linux",
                    "passwd",
                    "login",
                    "grub-pc",
                    "ubuntu-minimal",
                    "musl",
                    "busybox",
                    "network-manager",
                    "python3",
                    "python3-minimal",
                    "base-files",
                    "base",
                    "filesystem",
                    "linux",
                    "alpine-base",
                    "alpine-baselayout",
                    "core",
                    "snapd",
                    "ca-certificates",
                    "openssl",
                    "libssl3",
                    "libc-bin",
                    "perl-base",
                    "initramfs-tools",
                    "libc6*",
                    "libc*",
                    "lib*",
                    "python3*",
                    "python*",
                    "systemd*",
                    "linux-*",
                    "openssh*",
                    "openssl*",
                    "sudo*",
                    // Patterns that stand for every package.
                    "*",
                    ".*",
                    "^.*",
                    "?*",
                    "~i",
                ]),
                without: &["-s", "--simulate", "--dry-run", "--just-print", "--no-act"],
                ..sub(
                    &["apt", "apt-get", "aptitude", "dnf", "yum", "zypper", "apk", "snap"],
                    &["remove", "purge", "erase", "del", "rm", "autoremove"],
                )
            }),
            predicate("core_of_the_system_removed", Trigger::programs(BARE_REMOVERS), core_removed),
            predicate(
                "every_brewed_package_removed",
                Trigger::programs(&["brew", "snap", "flatpak"]),
                |scene| {
                    let says = |inv: &Invocation, words: &[&str]| {
                        deeds::known_words(inv).iter().any(|word| words.contains(word))
                    };
                    let listed =
                        |program: &str| scene.first(&[program], |inv| says(inv, &["list", "ls"])).is_some();
                    let found = scene.first(&["brew", "snap", "flatpak"], |inv| {
                        says(inv, &["uninstall", "remove", "rm"])
                            && (listed(&inv.program) || says(inv, &["--all"]))
                    });
                    Found::from(found.map(|inv| inv.text.as_str()))
                },
            ),
            When::Command(flagged(
                &["apt", "apt-get", "dpkg", "rpm"],
                &[&[
                    "--allow-remove-essential",
                    "--force-all",
                    "--force-remove-essential",
                    "--force-depends",
                    "--nodeps",
                ]],
            )),
        ],
        fires: &[
            "sudo apt-get purge -y systemd",
            "sudo apt-get purge -y 'python3*'",
            "dpkg --force-all -P libc6",
            "apt remove coreutils",
            "rpm -e --nodeps glibc",
            "sudo apt-get remove -y python3",
            "sudo pacman -Rns base --noconfirm",
            "pacman -Rdd glibc",
            "zypper rm -y glibc",
            "brew list | xargs brew uninstall --force",
            "emerge --unmerge sys-libs/glibc",
            "sudo apt purge -y '*'",
        ],
        silent: &[
            "apt-get remove -y --dry-run python3",
            "pacman -Rns x",
            "pacman -S glibc",
            "brew uninstall jq",
            "apt-get install bash",
            "apt show systemd",
            "dpkg -l bash",
            "brew uninstall bash",
        ],
        ..RULE
    },
    Rule {
        id: "packages.install-from-url",
        verdict: Verdict::Warn,
        severity: Severity::Medium,
        reason: "installs code from an address instead of a package registry",
        instead: Some(Instead::Advice("install the released package by name and version")),
        when: &[predicate("installed_from_an_address", Trigger::programs(INSTALLERS), from_url)],
        fires: &[
            "pip install https://x.example/a.whl",
            "npm install https://x.example/a.tgz",
            "pip install git+https://x.example/a.git",
            "sudo apt install https://x.example/a.deb",
            "go install x.example/a@latest",
            "cargo install --git https://x.example/a",
        ],
        silent: &[
            "pip install requests",
            "npm install lodash",
            "pip install -r requirements.txt",
            "cargo install ripgrep",
            "pip install .",
            "npm ci",
            "go install github.com/a/b@latest",
        ],
        ..RULE
    },
    Rule {
        id: "packages.run-from-url",
        verdict: Verdict::Modify,
        reason: "fetches code from an address outside the known hosts, and runs it",
        instead: Some(Instead::Advice("run the released package by name and version")),
        when: &[predicate("code_at_an_address_is_run", Trigger::programs(URL_RUNNERS), run_from_url)],
        fires: &[
            "npx https://x.example/y.tgz",
            "bunx https://x.example/y.tgz",
            "bun x https://x.example/y.tgz",
            "deno run https://x.example/y.ts",
            "deno run -A https://x.example/y.ts",
            "pip install http://x.example/a.tar.gz",
            "npm install https://x.example/a.tgz",
            "uvx --from https://x.example/a.whl a",
            "pnpm dlx https://x.example/a.tgz",
            "go run x.example/a@latest",
        ],
        silent: &[
            "npx eslint .",
            "deno run main.ts",
            "deno run https://deno.land/std/x.ts",
            "npx create-react-app https",
            "pip install -r requirements.txt",
            "pip install git+https://github.com/a/b",
            "bunx prettier --write .",
            "npx wait-on http://localhost:3000",
            "npx lighthouse https://x.example",
        ],
        ..RULE
    },
    Rule {
        id: "packages.foreign-index",
        verdict: Verdict::Modify,
        reason: "takes packages from another registry than the usual one",
        instead: Some(Instead::Command("pip install requests")),
        when: &[
            predicate("foreign_package_index", Trigger::programs(INDEX_USERS), foreign_index),
            predicate(
                "foreign_registry_set",
                Trigger::programs(&["gem", "bundle", "poetry"]),
                foreign_source,
            ),
            predicate("foreign_registry_variable", Trigger::programs(VARIABLE_USERS), foreign_variable),
            predicate("index_trusted_without_a_certificate", Trigger::programs(&["pip", "pip3"]), |scene| {
                let nameless = |text: &str| {
                    let host = host_of(text);
                    text.starts_with("http://")
                        && !host.starts_with("127.")
                        && host.split('.').all(|part| part.parse::<u8>().is_ok())
                };
                let found = scene.first(&["pip", "pip3"], |inv| {
                    has_flag(inv, "--trusted-host") && inv.args.iter().any(|arg| nameless(&arg.text()))
                });
                Found::from(found.map(|inv| inv.text.as_str()))
            }),
        ],
        fires: &[
            "pip install --index-url https://x.example/simple a",
            "pip install -i http://x.example/simple a",
            "npm install --registry https://x.example a",
            "pip install --extra-index-url https://x.example/simple a",
            "cargo install --index https://x.example/index a",
            "PIP_INDEX_URL=http://x.example/simple pip install a",
            "GOPROXY=http://x.example go get a.example/b",
            "GOINSECURE=* go get x.example/a",
            "GOSUMDB=off go install x.example/a@latest",
            "gem sources -a http://x.example",
            "pip install --trusted-host 10.0.0.8 --index-url http://10.0.0.8/simple a",
        ],
        silent: &[
            "pip install requests",
            "npm install lodash",
            "pip install --index-url http://localhost:3141/simple a",
            "pip install --trusted-host localhost --index-url http://localhost:3141/simple a",
            "npm install --registry http://localhost:4873 a",
            "npm install --registry https://registry.npmjs.org a",
            "pip install torch --index-url https://download.pytorch.org/whl/cpu",
            "GOPROXY=direct go get a.example/b",
            "gem sources --list",
        ],
        ..RULE
    },
    Rule {
        id: "packages.audit-fix-force",
        verdict: Verdict::Warn,
        severity: Severity::Low,
        reason: "installs new major versions that may break the project",
        instead: Some(Instead::Command("npm audit fix")),
        when: &[When::Command(Command {
            flags: &[&["--force", "-f"]],
            ..sub(&["npm", "pnpm"], &["audit fix", "audit"])
        })],
        fires: &["npm audit fix --force", "npm audit fix -f"],
        silent: &["npm audit fix", "npm audit", "npm ci"],
        ..RULE
    },
    Rule {
        id: "packages.system-python",
        verdict: Verdict::Warn,
        severity: Severity::Medium,
        reason: "installs over the packages that belong to the operating system",
        instead: Some(Instead::Command("python3 -m venv .venv")),
        when: &[
            When::Command(flagged(PIP, &[&["--break-system-packages"]])),
            When::Command(Command {
                privileged: true,
                ..sub(&["pip", "pip3", "npm", "gem", "pnpm", "yarn"], &["install", "i", "add"])
            }),
        ],
        fires: &[
            "pip install --break-system-packages x",
            "sudo pip install x",
            "sudo npm install -g x",
            "sudo gem install x",
        ],
        silent: &[
            "pip install x",
            "python3 -m venv .venv",
            "npm install -g x",
            "sudo apt-get install -y python3-x",
        ],
        ..RULE
    },
    Rule {
        id: "packages.all-upgraded",
        verdict: Verdict::Modify,
        reason: "brings the whole system to another release, or restarts it for an update",
        instead: Some(Instead::Command("do-release-upgrade -c")),
        when: &[
            predicate("release_upgraded", Trigger::rows(UPGRADED), |scene| deeds::done(scene, UPGRADED)),
            predicate(
                "release_upgraded_by_default",
                Trigger::programs(&["do-release-upgrade"]),
                release_upgraded,
            ),
        ],
        fires: &[
            "sudo do-release-upgrade",
            "do-release-upgrade -f DistUpgradeViewNonInteractive",
            "sudo softwareupdate -ia -R",
        ],
        silent: &["do-release-upgrade -c", "softwareupdate -l", "softwareupdate --list"],
        ..RULE
    },
    Rule {
        id: "packages.key-in-the-open",
        reason: "trusts software, or a key for it, that anybody on the way can have changed",
        instead: Some(Instead::Advice(
            "fetch the key by https from the vendor's host and compare its fingerprint",
        )),
        when: &[
            predicate("key_fetched_in_the_open", Trigger::programs(KEEPERS), key_in_the_open),
            When::Command(flagged(&["apt", "apt-get"], &[&["--allow-unauthenticated"]])),
            When::Command(Command {
                operand: Operand::Contains(&["trusted=yes] http://"]),
                ..run(&["add-apt-repository", "apt-add-repository"])
            }),
        ],
        fires: &[
            "curl http://x.example/key.gpg | apt-key add -",
            "wget -qO- http://x.example/k.asc | sudo apt-key add -",
            "sudo rpm --import http://x.example/k.asc",
            "apt-get install -y --allow-unauthenticated ./a.deb",
            "sudo add-apt-repository 'deb [trusted=yes] http://x.example/apt ./'",
        ],
        silent: &[
            "sudo apt-key list",
            "curl http://x.example/key.gpg | gpg --show-keys",
            "sudo apt-get install -y ./a.deb",
            "sudo add-apt-repository ppa:x/y",
            "rpm --import /etc/pki/rpm-gpg/RPM-GPG-KEY-x",
            "rpm -qa",
        ],
        ..RULE
    },
    Rule {
        id: "packages.repository-added",
        verdict: Verdict::Modify,
        reason: "lets a new source install software with all rights",
        instead: Some(Instead::Command("apt-cache policy")),
        when: &[
            When::Command(Command {
                operand: Operand::Some,
                ..run(&["add-apt-repository", "apt-add-repository", "rpmkeys"])
            }),
            When::Command(Command {
                operand: Operand::Is(&["add", "adv", "del", "rm", "remove", "update", "net-update"]),
                ..run(&["apt-key"])
            }),
            When::Command(sub(&["dnf", "yum"], &["config-manager", "copr"])),
            When::Command(sub(&["zypper"], &["addrepo", "ar"])),
            When::Command(sub(&["flatpak"], &["remote-add"])),
        ],
        fires: &[
            "sudo add-apt-repository ppa:x/y",
            "sudo apt-key add k.asc",
            "dnf config-manager --add-repo https://x.example/r",
            "zypper addrepo https://x.example r",
        ],
        silent: &["apt-cache policy", "dnf repolist", "sudo apt-get update", "brew tap", "apt-key list"],
        ..RULE
    },
];

const UPGRADED: Deeds = &[
    (&["softwareupdate"], &["-i", "-ia", "-iaR", "--install", "-R", "--restart"]),
    (&["do-release-upgrade"], &["-f", "-d", "-m"]),
];

fn release_upgraded<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(&["do-release-upgrade"], |inv| inv.args.is_empty());
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// Programs that keep the keys by which software is trusted.
const KEEPERS: &[&str] = &["apt-key", "rpm", "rpmkeys"];

fn key_in_the_open<'a>(scene: &Scene<'a>) -> Found<'a> {
    let open = |inv: &Invocation| inv.args.iter().any(|arg| arg.prefix().starts_with("http://"));
    let found = scene.first(KEEPERS, |inv| {
        let takes = inv.args.iter().any(|arg| matches!(arg.known(), Some("add" | "--import" | "import")));
        let piped = || {
            scene
                .invocations()
                .iter()
                .any(|other| other.pipeline == inv.pipeline && other.stage < inv.stage && open(other))
        };
        takes && (open(inv) || piped())
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// Programs that remove by an option.
const BARE_REMOVERS: &[&str] = &["pacman", "emerge", "xbps-remove", "rpm", "dpkg", "nix-env"];

/// A library, a shell or an init without which nothing starts.
fn core_removed<'a>(scene: &Scene<'a>) -> Found<'a> {
    const CORE: &[&str] = &[
        "glibc",
        "libc6",
        "systemd",
        "base",
        "bash",
        "coreutils",
        "linux",
        "filesystem",
        "pacman",
        "openrc",
        "musl",
        "*",
        ".*",
        "shadow",
        "util-linux",
        "pam",
        "sudo",
        "kernel",
        "dpkg",
        "apt",
        "rpm",
    ];
    let found = scene.first(BARE_REMOVERS, |inv| {
        let removes = inv.program == "xbps-remove"
            || inv.args.iter().filter_map(Arg::known).any(|word| {
                word.starts_with("-R")
                    || matches!(
                        word,
                        "-C" | "--unmerge"
                            | "--remove"
                            | "-e"
                            | "--erase"
                            | "-r"
                            | "-P"
                            | "--purge"
                            | "--uninstall"
                    )
            });
        removes
            && inv
                .operands
                .iter()
                .filter_map(Arg::known)
                .any(|name| CORE.contains(&name.rsplit('/').next().unwrap_or_default()))
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

const LISTERS: &[&str] = &["pip", "pip3", "npm", "gem"];

/// What a program lists of its packages is given to it to remove.
fn every_package<'a>(scene: &Scene<'a>) -> Found<'a> {
    let says =
        |inv: &Invocation, words: &[&str]| deeds::known_words(inv).iter().any(|word| words.contains(word));
    let listed =
        |program: &str| scene.first(&[program], |inv| says(inv, &["freeze", "list", "ls"])).is_some();
    let found =
        scene.first(LISTERS, |inv| says(inv, &["uninstall", "rm", "remove", "un"]) && listed(&inv.program));
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// Programs that take the registry from a variable.
const VARIABLE_USERS: &[&str] =
    &["pip", "pip3", "npm", "pnpm", "yarn", "go", "uv", "bundle", "cargo", "npx", "uvx"];

fn foreign_source<'a>(scene: &Scene<'a>) -> Found<'a> {
    let found = scene.first(&["gem", "bundle", "poetry"], |inv| {
        let words = inv.args.iter().map(Arg::text).collect::<Vec<_>>();
        let sets =
            words.iter().any(|word| matches!(&**word, "-a" | "--add" | "config" | "source" | "--source"));
        sets && words.iter().any(|word| {
            word.contains("://")
                && !word.starts_with("mirror.")
                && !is_usual(&host_of(word), scene.view.policy)
        })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

fn foreign_variable<'a>(scene: &Scene<'a>) -> Found<'a> {
    let line = scene.command_line();
    let foreign = REGISTRY_VARIABLES.iter().any(|name| {
        line.match_indices(name).any(|(at, _)| {
            if UNCHECKED.contains(name) {
                return true;
            }
            let value = line.get(at + name.len()..).unwrap_or_default().trim_start_matches(['"', '\'']);
            let value = value.split([' ', ';', '"', '\'', ',', '|']).next().unwrap_or_default();
            value.contains("://") && !is_usual(&host_of(value), scene.view.policy)
        })
    });
    if !foreign {
        return Found::No;
    }
    let found = scene.first(VARIABLE_USERS, |_| true);
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// A host that packages are taken from as a matter of course.
pub(super) fn is_usual(host: &str, policy: &Policy) -> bool {
    is_known(host, policy) || lists::REGISTRIES.contains(&host)
}

fn words(inv: &Invocation) -> impl Iterator<Item = &str> {
    inv.sub.iter().map(String::as_str).chain(inv.operands.iter().map(Arg::prefix))
}

fn from_url<'a>(scene: &Scene<'a>) -> Found<'a> {
    let policy = scene.view.policy;
    let foreign = |text: &str| text.contains("://") && !is_usual(&host_of(text), policy);
    let found = scene.first(INSTALLERS, |inv| match inv.program.as_str() {
        "pip" | "pip3" | "pipx" | "uv" | "npm" | "pnpm" | "yarn" | "bun" | "apt" | "apt-get" | "dnf"
        | "yum" | "gem" | "rpm" => {
            let installs =
                words(inv).take(3).any(|word| matches!(word, "install" | "add" | "i" | "localinstall"));
            (installs || inv.program == "rpm") && inv.operands.iter().any(|arg| foreign(arg.prefix()))
        }
        "cargo" => {
            has_flag(inv, "--git")
                && inv.args.iter().any(|arg| foreign(arg.prefix().trim_start_matches("--git=")))
        }
        "go" => {
            let module = |arg: &Arg| {
                let host = arg.prefix().split('/').next().unwrap_or_default();
                let usual = [
                    "golang.org",
                    "google.golang.org",
                    "gopkg.in",
                    "go.uber.org",
                    "k8s.io",
                    "sigs.k8s.io",
                    "honnef.co",
                    "mvdan.cc",
                ];
                host.trim_start_matches('.').contains('.')
                    && !is_known(host, policy)
                    && !usual.contains(&host)
            };
            words(inv).next() == Some("install") && inv.operands.iter().any(module)
        }
        _ => false,
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

/// Of runners the first operand is what is fetched, later ones are its arguments.
fn run_from_url<'a>(scene: &Scene<'a>) -> Found<'a> {
    let policy = scene.view.policy;
    let foreign = |text: &str| {
        let host = host_of(text);
        text.contains("://") && !is_usual(&host, policy)
    };
    let found = scene.first(URL_RUNNERS, |inv| {
        let word = |at: usize| words(inv).nth(at).unwrap_or_default();
        let from =
            flag_value(inv, &["--from", "-p", "--package", "--spec"]).map(Arg::prefix).unwrap_or_default();
        match inv.program.as_str() {
            "npx" | "bunx" | "pnpx" | "uvx" => foreign(word(0)) || foreign(from),
            "npm" | "pnpm" | "yarn" | "bun" if matches!(word(0), "exec" | "x" | "dlx" | "create") => {
                foreign(word(1)) || foreign(from)
            }
            "pipx" | "uv" if matches!(word(0), "run" | "tool") => {
                words(inv).take(3).any(foreign) || foreign(from)
            }
            "jbang" => foreign(word(0)),
            "streamlit" => foreign(word(1)),
            "deno" => {
                matches!(word(0), "run" | "serve" | "install") && words(inv).skip(1).take(1).any(foreign)
            }
            "go" if word(0) == "run" => {
                let module = word(1).split('@').next().unwrap_or_default();
                let host = module.split('/').next().unwrap_or_default();
                let is_module = word(1).contains('@') && host.trim_matches('.').contains('.');
                is_module && !is_usual(host, policy)
            }
            "pip" | "pip3" | "npm" | "pnpm" | "yarn" | "bun" | "pipx" | "uv" | "poetry" => {
                let installs = words(inv).take(3).any(|word| matches!(word, "install" | "add" | "i"));
                installs && inv.operands.iter().any(|arg| foreign(arg.prefix()))
            }
            _ => false,
        }
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}

fn foreign_index<'a>(scene: &Scene<'a>) -> Found<'a> {
    const FLAGS: &[&str] = &[
        "--index-url",
        "-i",
        "--extra-index-url",
        "--find-links",
        "--registry",
        "--index",
        "--default-index",
        "--source",
    ];
    let policy = scene.view.policy;
    let found = scene.first(INDEX_USERS, |inv| {
        // The address may be the flag's value or, where the tables do not know the flag, the word behind it.
        let given = FLAGS.iter().any(|flag| has_flag(inv, flag));
        let foreign = |text: &str| text.contains("://") && !is_usual(&host_of(text), policy);
        given
            && inv.args.iter().any(|arg| {
                let text = arg.prefix();
                foreign(
                    text.split_once('=')
                        .filter(|(front, _)| front.starts_with('-'))
                        .map_or(text, |(_, url)| url),
                )
            })
    });
    Found::from(found.map(|inv| inv.text.as_str()))
}
