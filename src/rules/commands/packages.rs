//! Package managers of languages and of systems.

use super::{Deed, Operands, Program, Rest, Sub, WORDS, p, s, t, w};

const NPM: &str = "--prefix:d -C:d -w --workspace --registry --userconfig:r --cache --tag --otp --access --loglevel --omit --include --filter -F --dir:d --cwd:d";

#[rustfmt::skip]
const NPM_SUBS: &[Sub] = &[
    t("run run-script start test t tst restart stop build dev lint serve rebuild rb install-test it install-ci-test cit preview \
        workspaces workspace dlx-run turbo", Deed::Process),
    t("install i add ci in ins clean-install update up upgrade upgrade-interactive uninstall remove rm un unlink link ln dedupe \
        prune import self-update patch patch-commit rebase-lock fetch", Deed::Install),
    s("exec x", "+ -p --package -c:s --call:s --yes! -y! --no!", Deed::Install, Operands::Text).wrap(WORDS.lenient()),
    s("dlx create init", "+ -p --package -c:s --yes! -y!", Deed::Install, Operands::Text).wrap(WORDS.lenient()),
    t("publish unpublish deprecate dist-tag owner access team login logout adduser token star unstar hook", Deed::Network),
    t("ls list ll la view v info show outdated why explain root bin prefix help version -v audit fund doctor ping search query \
        licenses docs repo bugs whoami diff find-dupes explore node", Deed::Look),
    t("config get set pkg pack shrinkwrap cache store completion env", Deed::Change),
];

#[rustfmt::skip]
const BUN: &[Sub] = &[
    t("run test build dev start repl lint", Deed::Process),
    t("install i add a update upgrade remove rm link unlink patch", Deed::Install),
    s("x create", "+ --bun!", Deed::Install, Operands::Text).wrap(WORDS.lenient()),
    t("pm outdated why info", Deed::Look),
    t("publish", Deed::Network),
    t("init", Deed::Change),
];

const CARGO: &str = "-C:d --config --manifest-path --target-dir --color -Z -p --package --features --bin --example --test --bench \
    --target --profile -j --jobs --message-format --exclude -F --release! --workspace! --all-features! --no-default-features! \
    --locked! --offline! --frozen!";

#[rustfmt::skip]
const CARGO_SUBS: &[Sub] = &[
    s("build b check c test t bench run r rustc doc d clippy nextest miri expand llvm-cov tarpaulin hack udeps machete \
        semver-checks flamegraph asm bloat insta mutants criterion fuzz dist deny audit outdated tree metadata msrv about geiger \
        sweep make leptos tauri ndk xtask verify-project careful show-asm component sqlx", "", Deed::Process, Operands::Text),
    s("watch", "-s:s --shell:s -x --exec -w --watch -i --ignore -d --delay -q! -c! --why!", Deed::Process, Operands::Text).wrap(WORDS.lenient().rest(Rest::AfterDashes)),
    t("fmt fix add remove rm update generate-lockfile init new vendor package sort edit set-version upgrade release", Deed::Change),
    t("fetch install uninstall binstall", Deed::Install),
    t("publish yank owner login logout search info", Deed::Network),
    t("pkgid locate-project read-manifest version help report config", Deed::Look),
    t("clean", Deed::Change),
];

#[rustfmt::skip]
const RUSTUP: &[Sub] = &[
    t("show which doc completions help check", Deed::Look),
    s("run", "+ --install!", Deed::Process, Operands::Text).wrap(WORDS.skip(1).lenient()),
    t("update install uninstall toolchain target component default override self set man", Deed::Install),
];

#[rustfmt::skip]
const PIP: &[Sub] = &[
    s("install", "-r:r --requirement:r -c:r --constraint:r -e --editable -t:D --target:D -i --index-url --extra-index-url -f --find-links \
        --prefix --root --python --cache-dir", Deed::Install, Operands::Text),
    t("download wheel uninstall sync", Deed::Install),
    t("list show freeze check inspect debug help config cache index hash search", Deed::Look),
    t("compile", Deed::Process),
];

#[rustfmt::skip]
const PIPX: &[Sub] = &[
    s("run", "+ --spec --pip-args --python --index-url -i --verbose! -q!", Deed::Install, Operands::Text).wrap(WORDS.lenient()),
    t("install inject upgrade upgrade-all uninstall uninstall-all reinstall reinstall-all uninject install-all", Deed::Install),
    t("list environment ensurepath completions interpreter", Deed::Look),
];

#[rustfmt::skip]
const UV: &[Sub] = &[
    s("run", "+ -p --python --with --with-requirements:r --with-editable --env-file:r --directory:d --project --extra --group --only-group --package -m --module --index --index-url", Deed::Process, Operands::Text).wrap(WORDS.lenient()),
    s("tool.run", "+ -p --python --with --from --index", Deed::Install, Operands::Text).wrap(WORDS.lenient()),
    t("tool tool.install tool.upgrade tool.uninstall add remove sync lock pip pip.install pip.uninstall pip.sync pip.compile \
        python python.install self self.update upgrade", Deed::Install),
    t("tree version help export tool.list tool.dir pip.list pip.show pip.freeze pip.check pip.tree python.list python.find python.dir cache.dir", Deed::Look),
    t("init venv build cache cache.clean cache.prune generate-shell-completion format", Deed::Change),
    t("publish auth", Deed::Network),
];

#[rustfmt::skip]
const POETRY: &[Sub] = &[
    s("run", "+", Deed::Process, Operands::Text).wrap(WORDS.lenient()),
    t("install add remove update lock sync self", Deed::Install),
    t("build check shell", Deed::Process),
    t("show env version config about list search source export help", Deed::Look),
    t("new init cache", Deed::Change),
    t("publish", Deed::Network),
];

#[rustfmt::skip]
const HATCH: &[Sub] = &[
    s("run", "+", Deed::Process, Operands::Text).wrap(WORDS.lenient()),
    t("env build test fmt shell new init clean version config dep status python project self fix lint remove install update lock sync graph list show info add check uninstall requirements", Deed::Process),
    t("publish", Deed::Network),
];

#[rustfmt::skip]
const BUNDLE: &[Sub] = &[
    s("exec e", "+ --keep-file-descriptors! --gemfile:r", Deed::Process, Operands::Text).wrap(WORDS.lenient()),
    t("install i update add remove lock outdated cache package pristine clean inject plugin binstubs", Deed::Install),
    t("list show info check config env platform viz open doctor help version", Deed::Look),
    t("init gem console", Deed::Change),
];

#[rustfmt::skip]
const GEM: &[Sub] = &[
    t("install update uninstall fetch cleanup pristine unpack", Deed::Install),
    t("list search info which env environment outdated dependency specification help sources contents query server", Deed::Look),
    t("push yank owner signin signout cert", Deed::Network),
    t("build exec", Deed::Process),
];

#[rustfmt::skip]
const COMPOSER: &[Sub] = &[
    t("install i update u upgrade require req r remove rm reinstall create-project global self-update selfupdate", Deed::Install),
    s("exec", "+", Deed::Process, Operands::Text).wrap(WORDS.lenient()),
    t("run run-script test", Deed::Process),
    t("show info outdated validate why depends prohibits licenses diagnose check-platform-reqs fund suggests status about audit browse search", Deed::Look),
    t("dump-autoload dumpautoload init config clear-cache clearcache bump archive", Deed::Change),
];

#[rustfmt::skip]
const CONDA: &[Sub] = &[
    s("run", "+ -n --name -p --prefix --cwd:d", Deed::Process, Operands::Text).wrap(WORDS.lenient()),
    t("install create update upgrade remove uninstall env build", Deed::Install),
    t("list info search config clean init activate deactivate help compare doctor", Deed::Look),
];

#[rustfmt::skip]
const NIX: &[Sub] = &[
    s("develop shell env", "+ -c! --command! -f -I -k", Deed::Process, Operands::Text).wrap(WORDS.lenient().rest(Rest::AfterFlag)),
    t("build run flake fmt eval repl log why-depends search path-info store show-config derivation hash print-dev-env edit bundle", Deed::Process),
    t("profile registry upgrade-nix copy", Deed::Install),
];

/// Of system package managers: what only looks.
#[rustfmt::skip]
const SYSTEM: &[Sub] = &[
    t("list search show info policy depends rdepends showpkg madison changelog --version -v help provides whatprovides repoquery \
        repolist check-update history leaves deps uses desc home outdated config doctor cat commands --prefix --cellar formulae casks \
        log missing", Deed::Nothing),
    t("download source", Deed::Network),
];

#[rustfmt::skip]
const DPKG: &str = "-i! --install! -r! --remove! -P! --purge! -l? -L? -s? -S? --list? --status? --search? --listfiles? -c! -I! -x! --root";

#[rustfmt::skip]
pub(super) const TABLE: &[Program] = &[
    p("add-apt-repository", "", Deed::System, Operands::Text),
    p("apk", "", Deed::System, Operands::Text).subs("", SYSTEM),
    p("apt", "-o -t -c", Deed::System, Operands::Text).subs("", SYSTEM),
    p("apt-cache", "-o -c", Deed::Nothing, Operands::Text),
    p("apt-get", "-o -t -c", Deed::System, Operands::Text).subs("", SYSTEM),
    p("apt-key", "", Deed::System, Operands::Text),
    p("apt-mark", "", Deed::System, Operands::Text),
    p("aptitude", "", Deed::System, Operands::Text).subs("", SYSTEM),
    p("brew", "", Deed::System, Operands::Text).subs("", SYSTEM),
    p("bun", "+ -e --eval -p --print --cwd:d -c --config:r -r --preload --env-file:r --hot! --watch!", Deed::Process, Operands::Text).subs("", BUN),
    p("bundle", "--gemfile:r", Deed::Process, Operands::Text).subs("", BUNDLE),
    p("bundler", "--gemfile:r", Deed::Process, Operands::Text).subs("", BUNDLE),
    w("bunx", "+ -p --package --bun!", WORDS.lenient()),
    p("cabal", "", Deed::Process, Operands::Text),
    p("cargo", CARGO, Deed::Process, Operands::Text).subs("", CARGO_SUBS),
    p("carthage", "", Deed::Install, Operands::Text),
    p("choco", "", Deed::System, Operands::Text).subs("", SYSTEM),
    p("cnpm", NPM, Deed::Process, Operands::Text).subs("", NPM_SUBS),
    p("composer", "-d:d --working-dir:d", Deed::Process, Operands::Text).subs("", COMPOSER),
    p("conan", "", Deed::Install, Operands::Text),
    p("conda", "", Deed::Install, Operands::Text).subs("", CONDA),
    p("corepack", "", Deed::Install, Operands::Text),
    p("cpan", "", Deed::Install, Operands::Text),
    p("cpanm", "-L -l", Deed::Install, Operands::Text),
    p("cross", CARGO, Deed::Process, Operands::Text).subs("", CARGO_SUBS),
    p("devbox", "", Deed::Process, Operands::Text).subs("", &[s("run", "+", Deed::Process, Operands::Text).wrap(WORDS.lenient())]),
    p("dnf", "--repo --enablerepo --disablerepo", Deed::System, Operands::Text).subs("", SYSTEM),
    p("dpkg", DPKG, Deed::System, Operands::Text),
    p("dpkg-deb", "", Deed::Process, Operands::Read),
    p("dpkg-query", "", Deed::Nothing, Operands::Text),
    p("dpkg-reconfigure", "", Deed::System, Operands::Text),
    p("easy_install", "", Deed::Install, Operands::Text),
    p("emerge", "", Deed::System, Operands::Text),
    p("flatpak", "", Deed::System, Operands::Text).subs("", SYSTEM),
    p("gem", "", Deed::Install, Operands::Text).subs("", GEM),
    p("hatch", "-e --env -p --project", Deed::Process, Operands::Text).subs("", HATCH),
    p("home-manager", "", Deed::System, Operands::Text),
    p("luarocks", "", Deed::Install, Operands::Text),
    p("mamba", "", Deed::Install, Operands::Text).subs("", CONDA),
    p("mas", "", Deed::System, Operands::Text).subs("", SYSTEM),
    p("microdnf", "", Deed::System, Operands::Text).subs("", SYSTEM),
    p("micromamba", "", Deed::Install, Operands::Text).subs("", CONDA),
    p("mix", "", Deed::Process, Operands::Text),
    p("n", "", Deed::Install, Operands::Text),
    p("ncu", "-u! -f -x", Deed::Network, Operands::Text),
    p("nix", "", Deed::Process, Operands::Text).subs("", NIX),
    p("nix-build", "-A -o -I", Deed::Process, Operands::Text),
    p("nix-env", "", Deed::System, Operands::Text),
    p("nix-shell", "--run:s --command:s -p! -A -I -E", Deed::Process, Operands::Text),
    p("nix-store", "", Deed::Process, Operands::Text),
    p("nixos-rebuild", "", Deed::System, Operands::Text),
    p("npm", NPM, Deed::Process, Operands::Text).subs("", NPM_SUBS),
    p("npm-check-updates", "-u! -f -x", Deed::Network, Operands::Text),
    w("npx", "+ -p --package -c:s --call:s -y! --yes! --no! -q! --no-install! -w --workspace --prefix:d", WORDS.lenient()),
    p("opam", "", Deed::Install, Operands::Text),
    p("pacman", "", Deed::System, Operands::Text),
    p("paru", "", Deed::System, Operands::Text),
    p("pdm", "-p --project", Deed::Process, Operands::Text).subs("", HATCH),
    p("pip", "--python --log:w", Deed::Install, Operands::Text).subs("", PIP),
    p("pip-audit", "-r:r", Deed::Look, Operands::Text),
    p("pip-compile", "-o:w --output-file:w", Deed::Process, Operands::Read),
    p("pip-sync", "", Deed::Install, Operands::Read),
    p("pip3", "--python --log:w", Deed::Install, Operands::Text).subs("", PIP),
    p("pipenv", "", Deed::Process, Operands::Text).subs("", HATCH),
    p("pipx", "", Deed::Install, Operands::Text).subs("", PIPX),
    p("pixi", "", Deed::Process, Operands::Text).subs("", HATCH),
    p("pkg", "", Deed::System, Operands::Text).subs("", SYSTEM),
    p("pnpm", NPM, Deed::Process, Operands::Text).subs("", NPM_SUBS),
    w("pnpx", "+ -p --package -c:s", WORDS.lenient()),
    p("pod", "", Deed::Install, Operands::Text),
    p("poetry", "-C:d --directory:d -P --project", Deed::Process, Operands::Text).subs("", POETRY),
    p("port", "", Deed::System, Operands::Text).subs("", SYSTEM),
    p("rebar3", "", Deed::Process, Operands::Text),
    p("rpm", "", Deed::System, Operands::Text),
    p("rustup", "", Deed::Install, Operands::Text).subs("", RUSTUP),
    p("rye", "", Deed::Process, Operands::Text).subs("", HATCH),
    p("scoop", "", Deed::System, Operands::Text).subs("", SYSTEM),
    p("sdk", "", Deed::Install, Operands::Text),
    p("snap", "", Deed::System, Operands::Text).subs("", SYSTEM),
    p("stack", "", Deed::Process, Operands::Text),
    p("twine", "", Deed::Network, Operands::Text),
    p("update-alternatives", "", Deed::System, Operands::Text),
    p("uv", "--directory:d --project --config-file:r --cache-dir -p --python", Deed::Install, Operands::Text).subs("tool pip python cache self", UV),
    w("uvx", "+ -p --python --with --from --index", WORDS.lenient()),
    p("vcpkg", "", Deed::Install, Operands::Text),
    p("virtualenv", "-p --python", Deed::Change, Operands::Create),
    p("volta", "", Deed::Install, Operands::Text).subs("", &[s("run", "+ --node --npm --yarn --pnpm --env", Deed::Process, Operands::Text).wrap(WORDS.lenient())]),
    p("winget", "", Deed::System, Operands::Text).subs("", SYSTEM),
    p("xbps-install", "", Deed::System, Operands::Text),
    p("yarn", NPM, Deed::Process, Operands::Text).subs("", NPM_SUBS),
    w("yarn-dlx", "+", WORDS.lenient()),
    p("yarnpkg", NPM, Deed::Process, Operands::Text).subs("", NPM_SUBS),
    p("yay", "", Deed::System, Operands::Text),
    p("yum", "--enablerepo --disablerepo", Deed::System, Operands::Text).subs("", SYSTEM),
    p("zypper", "", Deed::System, Operands::Text).subs("", SYSTEM),
];
