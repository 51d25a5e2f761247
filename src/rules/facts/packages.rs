//! Package managers of languages and of systems.

use super::{Operands, Operation, Program, Rest, Sub, WORDS, p, s, t, w};

const NPM: &str = "--prefix:d -C:d -w --workspace --registry --userconfig:r --cache --tag --otp --access --loglevel --omit --include --filter -F --dir:d --cwd:d";

#[rustfmt::skip]
const NPM_SUBS: &[Sub] = &[
    t("run run-script start test t tst restart stop build dev lint serve rebuild rb install-test it install-ci-test cit preview \
        workspaces workspace dlx-run turbo", Operation::Process),
    t("install i add ci in ins clean-install update up upgrade upgrade-interactive uninstall remove rm un unlink link ln dedupe \
        prune import self-update patch patch-commit rebase-lock fetch", Operation::Install),
    s("exec x", "+ -p --package -c:s --call:s --yes! -y! --no!", Operation::Install, Operands::Text).wrap(WORDS.lenient()),
    s("dlx create init", "+ -p --package -c:s --yes! -y!", Operation::Install, Operands::Text).wrap(WORDS.lenient()),
    t("publish unpublish deprecate dist-tag owner access team login logout adduser token star unstar hook", Operation::Network),
    t("ls list ll la view v info show outdated why explain root bin prefix help version -v audit fund doctor ping search query \
        licenses docs repo bugs whoami diff find-dupes explore node", Operation::Look),
    t("config get set pkg pack shrinkwrap cache store completion env", Operation::Change),
];

#[rustfmt::skip]
const BUN: &[Sub] = &[
    t("run test build dev start repl lint", Operation::Process),
    t("install i add a update upgrade remove rm link unlink patch", Operation::Install),
    s("x create", "+ --bun!", Operation::Install, Operands::Text).wrap(WORDS.lenient()),
    t("pm outdated why info", Operation::Look),
    t("publish", Operation::Network),
    t("init", Operation::Change),
];

const CARGO: &str = "-C:d --config --manifest-path --target-dir --color -Z -p --package --features --bin --example --test --bench \
    --target --profile -j --jobs --message-format --exclude -F --release! --workspace! --all-features! --no-default-features! \
    --locked! --offline! --frozen!";

#[rustfmt::skip]
const CARGO_SUBS: &[Sub] = &[
    s("build b check c test t bench run r rustc doc d clippy nextest miri expand llvm-cov tarpaulin hack udeps machete \
        semver-checks flamegraph asm bloat insta mutants criterion fuzz dist deny audit outdated tree metadata msrv about geiger \
        sweep make leptos tauri ndk xtask verify-project careful show-asm component sqlx", "", Operation::Process, Operands::Text),
    s("watch", "-s:s --shell:s -x --exec -w --watch -i --ignore -d --delay -q! -c! --why!", Operation::Process, Operands::Text).wrap(WORDS.lenient().rest(Rest::AfterDashes)),
    t("fmt fix add remove rm update generate-lockfile init new vendor package sort edit set-version upgrade release", Operation::Change),
    t("fetch install uninstall binstall", Operation::Install),
    t("publish yank owner login logout search info", Operation::Network),
    t("pkgid locate-project read-manifest version help report config", Operation::Look),
    t("clean", Operation::Change),
];

#[rustfmt::skip]
const RUSTUP: &[Sub] = &[
    t("show which doc completions help check", Operation::Look),
    s("run", "+ --install!", Operation::Process, Operands::Text).wrap(WORDS.skip(1).lenient()),
    t("update install uninstall toolchain target component default override self set man", Operation::Install),
];

#[rustfmt::skip]
const PIP: &[Sub] = &[
    s("install", "-r:r --requirement:r -c:r --constraint:r -e --editable -t:D --target:D -i --index-url --extra-index-url -f --find-links \
        --prefix --root --python --cache-dir", Operation::Install, Operands::Text),
    t("download wheel uninstall sync", Operation::Install),
    t("list show freeze check inspect debug help config cache index hash search", Operation::Look),
    t("compile", Operation::Process),
];

#[rustfmt::skip]
const PIPX: &[Sub] = &[
    s("run", "+ --spec --pip-args --python --index-url -i --verbose! -q!", Operation::Install, Operands::Text).wrap(WORDS.lenient()),
    t("install inject upgrade upgrade-all uninstall uninstall-all reinstall reinstall-all uninject install-all", Operation::Install),
    t("list environment ensurepath completions interpreter", Operation::Look),
];

#[rustfmt::skip]
const UV: &[Sub] = &[
    s("run", "+ -p --python --with --with-requirements:r --with-editable --env-file:r --directory:d --project --extra --group --only-group --package -m --module --index --index-url", Operation::Process, Operands::Text).wrap(WORDS.lenient()),
    s("tool.run", "+ -p --python --with --from --index", Operation::Install, Operands::Text).wrap(WORDS.lenient()),
    t("tool tool.install tool.upgrade tool.uninstall add remove sync lock pip pip.install pip.uninstall pip.sync pip.compile \
        python python.install self self.update upgrade", Operation::Install),
    t("tree version help export tool.list tool.dir pip.list pip.show pip.freeze pip.check pip.tree python.list python.find python.dir cache.dir", Operation::Look),
    t("init venv build cache cache.clean cache.prune generate-shell-completion format", Operation::Change),
    t("publish auth", Operation::Network),
];

#[rustfmt::skip]
const POETRY: &[Sub] = &[
    s("run", "+", Operation::Process, Operands::Text).wrap(WORDS.lenient()),
    t("install add remove update lock sync self", Operation::Install),
    t("build check shell", Operation::Process),
    t("show env version config about list search source export help", Operation::Look),
    t("new init cache", Operation::Change),
    t("publish", Operation::Network),
];

#[rustfmt::skip]
const HATCH: &[Sub] = &[
    s("run", "+", Operation::Process, Operands::Text).wrap(WORDS.lenient()),
    t("env build test fmt shell new init clean version config dep status python project self fix lint remove install update lock sync graph list show info add check uninstall requirements", Operation::Process),
    t("publish", Operation::Network),
];

#[rustfmt::skip]
const BUNDLE: &[Sub] = &[
    s("exec e", "+ --keep-file-descriptors! --gemfile:r", Operation::Process, Operands::Text).wrap(WORDS.lenient()),
    t("install i update add remove lock outdated cache package pristine clean inject plugin binstubs", Operation::Install),
    t("list show info check config env platform viz open doctor help version", Operation::Look),
    t("init gem console", Operation::Change),
];

#[rustfmt::skip]
const GEM: &[Sub] = &[
    t("install update uninstall fetch cleanup pristine unpack", Operation::Install),
    t("list search info which env environment outdated dependency specification help sources contents query server", Operation::Look),
    t("push yank owner signin signout cert", Operation::Network),
    t("build exec", Operation::Process),
];

#[rustfmt::skip]
const COMPOSER: &[Sub] = &[
    t("install i update u upgrade require req r remove rm reinstall create-project global self-update selfupdate", Operation::Install),
    s("exec", "+", Operation::Process, Operands::Text).wrap(WORDS.lenient()),
    t("run run-script test", Operation::Process),
    t("show info outdated validate why depends prohibits licenses diagnose check-platform-reqs fund suggests status about audit browse search", Operation::Look),
    t("dump-autoload dumpautoload init config clear-cache clearcache bump archive", Operation::Change),
];

#[rustfmt::skip]
const CONDA: &[Sub] = &[
    s("run", "+ -n --name -p --prefix --cwd:d", Operation::Process, Operands::Text).wrap(WORDS.lenient()),
    t("install create update upgrade remove uninstall env build", Operation::Install),
    t("list info search config clean init activate deactivate help compare doctor", Operation::Look),
];

#[rustfmt::skip]
const NIX: &[Sub] = &[
    s("develop shell env", "+ -c! --command! -f -I -k", Operation::Process, Operands::Text).wrap(WORDS.lenient().rest(Rest::AfterFlag)),
    t("build run flake fmt eval repl log why-depends search path-info store show-config derivation hash print-dev-env edit bundle", Operation::Process),
    t("profile registry upgrade-nix copy", Operation::Install),
];

/// Of system package managers: what only looks.
#[rustfmt::skip]
const SYSTEM: &[Sub] = &[
    t("list search show info policy depends rdepends showpkg madison changelog --version -v help provides whatprovides repoquery \
        repolist check-update history leaves deps uses desc home outdated config doctor cat commands --prefix --cellar formulae casks \
        log missing", Operation::Nothing),
    t("download source", Operation::Network),
];

#[rustfmt::skip]
const DPKG: &str = "-i! --install! -r! --remove! -P! --purge! -l? -L? -s? -S? --list? --status? --search? --listfiles? -c! -I! -x! --root";

#[rustfmt::skip]
pub(super) const TABLE: &[Program] = &[
    p("add-apt-repository", "", Operation::System, Operands::Text),
    p("apk", "", Operation::System, Operands::Text).subs("", SYSTEM),
    p("apt", "-o -t -c", Operation::System, Operands::Text).subs("", SYSTEM),
    p("apt-cache", "-o -c", Operation::Nothing, Operands::Text),
    p("apt-get", "-o -t -c", Operation::System, Operands::Text).subs("", SYSTEM),
    p("apt-key", "", Operation::System, Operands::Text),
    p("apt-mark", "", Operation::System, Operands::Text),
    p("aptitude", "", Operation::System, Operands::Text).subs("", SYSTEM),
    p("brew", "", Operation::System, Operands::Text).subs("", SYSTEM),
    p("bun", "+ -e --eval -p --print --cwd:d -c --config:r -r --preload --env-file:r --hot! --watch!", Operation::Process, Operands::Text).subs("", BUN),
    p("bundle", "--gemfile:r", Operation::Process, Operands::Text).subs("", BUNDLE),
    p("bundler", "--gemfile:r", Operation::Process, Operands::Text).subs("", BUNDLE),
    w("bunx", "+ -p --package --bun!", WORDS.lenient()),
    p("cabal", "", Operation::Process, Operands::Text),
    p("cargo", CARGO, Operation::Process, Operands::Text).subs("", CARGO_SUBS),
    p("carthage", "", Operation::Install, Operands::Text),
    p("choco", "", Operation::System, Operands::Text).subs("", SYSTEM),
    p("cnpm", NPM, Operation::Process, Operands::Text).subs("", NPM_SUBS),
    p("composer", "-d:d --working-dir:d", Operation::Process, Operands::Text).subs("", COMPOSER),
    p("conan", "", Operation::Install, Operands::Text),
    p("conda", "", Operation::Install, Operands::Text).subs("", CONDA),
    p("corepack", "", Operation::Install, Operands::Text),
    p("cpan", "", Operation::Install, Operands::Text),
    p("cpanm", "-L -l", Operation::Install, Operands::Text),
    p("cross", CARGO, Operation::Process, Operands::Text).subs("", CARGO_SUBS),
    p("devbox", "", Operation::Process, Operands::Text).subs("", &[s("run", "+", Operation::Process, Operands::Text).wrap(WORDS.lenient())]),
    p("dnf", "--repo --enablerepo --disablerepo", Operation::System, Operands::Text).subs("", SYSTEM),
    p("dpkg", DPKG, Operation::System, Operands::Text),
    p("dpkg-deb", "", Operation::Process, Operands::Read),
    p("dpkg-query", "", Operation::Nothing, Operands::Text),
    p("dpkg-reconfigure", "", Operation::System, Operands::Text),
    p("easy_install", "", Operation::Install, Operands::Text),
    p("emerge", "", Operation::System, Operands::Text),
    p("flatpak", "", Operation::System, Operands::Text).subs("", SYSTEM),
    p("gem", "", Operation::Install, Operands::Text).subs("", GEM),
    p("hatch", "-e --env -p --project", Operation::Process, Operands::Text).subs("", HATCH),
    p("home-manager", "", Operation::System, Operands::Text),
    p("luarocks", "", Operation::Install, Operands::Text),
    p("mamba", "", Operation::Install, Operands::Text).subs("", CONDA),
    p("mas", "", Operation::System, Operands::Text).subs("", SYSTEM),
    p("microdnf", "", Operation::System, Operands::Text).subs("", SYSTEM),
    p("micromamba", "", Operation::Install, Operands::Text).subs("", CONDA),
    p("mix", "", Operation::Process, Operands::Text),
    p("n", "", Operation::Install, Operands::Text),
    p("ncu", "-u! -f -x", Operation::Network, Operands::Text),
    p("nix", "", Operation::Process, Operands::Text).subs("", NIX),
    p("nix-build", "-A -o -I", Operation::Process, Operands::Text),
    p("nix-env", "", Operation::System, Operands::Text),
    p("nix-shell", "--run:s --command:s -p! -A -I -E", Operation::Process, Operands::Text),
    p("nix-store", "", Operation::Process, Operands::Text),
    p("nixos-rebuild", "", Operation::System, Operands::Text),
    p("npm", NPM, Operation::Process, Operands::Text).subs("", NPM_SUBS),
    p("npm-check-updates", "-u! -f -x", Operation::Network, Operands::Text),
    w("npx", "+ -p --package -c:s --call:s -y! --yes! --no! -q! --no-install! -w --workspace --prefix:d", WORDS.lenient()),
    p("opam", "", Operation::Install, Operands::Text),
    p("pacman", "", Operation::System, Operands::Text),
    p("paru", "", Operation::System, Operands::Text),
    p("pdm", "-p --project", Operation::Process, Operands::Text).subs("", HATCH),
    p("pip", "--python --log:w", Operation::Install, Operands::Text).subs("", PIP),
    p("pip-audit", "-r:r", Operation::Look, Operands::Text),
    p("pip-compile", "-o:w --output-file:w", Operation::Process, Operands::Read),
    p("pip-sync", "", Operation::Install, Operands::Read),
    p("pip3", "--python --log:w", Operation::Install, Operands::Text).subs("", PIP),
    p("pipenv", "", Operation::Process, Operands::Text).subs("", HATCH),
    p("pipx", "", Operation::Install, Operands::Text).subs("", PIPX),
    p("pixi", "", Operation::Process, Operands::Text).subs("", HATCH),
    p("pkg", "", Operation::System, Operands::Text).subs("", SYSTEM),
    p("pnpm", NPM, Operation::Process, Operands::Text).subs("", NPM_SUBS),
    w("pnpx", "+ -p --package -c:s", WORDS.lenient()),
    p("pod", "", Operation::Install, Operands::Text),
    p("poetry", "-C:d --directory:d -P --project", Operation::Process, Operands::Text).subs("", POETRY),
    p("port", "", Operation::System, Operands::Text).subs("", SYSTEM),
    p("rebar3", "", Operation::Process, Operands::Text),
    p("rpm", "", Operation::System, Operands::Text),
    p("rustup", "", Operation::Install, Operands::Text).subs("", RUSTUP),
    p("rye", "", Operation::Process, Operands::Text).subs("", HATCH),
    p("scoop", "", Operation::System, Operands::Text).subs("", SYSTEM),
    p("sdk", "", Operation::Install, Operands::Text),
    p("snap", "", Operation::System, Operands::Text).subs("", SYSTEM),
    p("stack", "", Operation::Process, Operands::Text),
    p("twine", "", Operation::Network, Operands::Text),
    p("update-alternatives", "", Operation::System, Operands::Text),
    p("uv", "--directory:d --project --config-file:r --cache-dir -p --python", Operation::Install, Operands::Text).subs("tool pip python cache self", UV),
    w("uvx", "+ -p --python --with --from --index", WORDS.lenient()),
    p("vcpkg", "", Operation::Install, Operands::Text),
    p("virtualenv", "-p --python", Operation::Change, Operands::Create),
    p("volta", "", Operation::Install, Operands::Text).subs("", &[s("run", "+ --node --npm --yarn --pnpm --env", Operation::Process, Operands::Text).wrap(WORDS.lenient())]),
    p("winget", "", Operation::System, Operands::Text).subs("", SYSTEM),
    p("xbps-install", "", Operation::System, Operands::Text),
    p("yarn", NPM, Operation::Process, Operands::Text).subs("", NPM_SUBS),
    w("yarn-dlx", "+", WORDS.lenient()),
    p("yarnpkg", NPM, Operation::Process, Operands::Text).subs("", NPM_SUBS),
    p("yay", "", Operation::System, Operands::Text),
    p("yum", "--enablerepo --disablerepo", Operation::System, Operands::Text).subs("", SYSTEM),
    p("zypper", "", Operation::System, Operands::Text).subs("", SYSTEM),
];
