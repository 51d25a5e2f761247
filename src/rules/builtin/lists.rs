//! Names that several rules share: places, programs, words. Facts about single commands are in `commands`.

pub(crate) use crate::rules::facts::words::QUIET;
use crate::rules::matcher::At;

/// Directories of the operating system.
pub(crate) const SYSTEM_DIRS: &[&str] = &[
    "/bin",
    "/boot",
    "/efi",
    "/etc",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/opt",
    "/proc",
    "/root",
    "/run",
    "/sbin",
    "/srv",
    "/sys",
    "/usr",
    "/var",
    "/nix",
    "/snap",
    "/System",
    "/Library",
    "/Applications",
    "/private/etc",
    "/private/var",
];

/// Of these, what a running system is made of: nothing is written there in ordinary work.
pub(crate) const SYSTEM_CORE: &[At] = &[
    At::Abs("/bin"),
    At::Abs("/boot"),
    At::Abs("/efi"),
    At::Abs("/etc"),
    At::Abs("/lib"),
    At::Abs("/lib32"),
    At::Abs("/lib64"),
    At::Abs("/libx32"),
    At::Abs("/sbin"),
    At::Abs("/sys"),
    At::Abs("/proc/sys"),
    At::Abs("/proc/sysrq-trigger"),
    At::Abs("/usr/bin"),
    At::Abs("/usr/sbin"),
    At::Abs("/usr/lib"),
    At::Abs("/usr/lib64"),
    At::Abs("/usr/libexec"),
    At::Abs("/usr/share"),
    At::Abs("/usr/include"),
    At::Abs("/var/lib/dpkg"),
    At::Abs("/var/lib/rpm"),
    At::Abs("/var/lib/apt"),
    At::Abs("/System"),
    At::Abs("/Library"),
    At::Abs("/private/etc"),
];

/// Directories that hold people's homes.
pub(crate) const HOMES: &[&str] = &["/home", "/Users"];

/// Beginnings of the names of block devices and of memory, below /dev.
pub(crate) const DEVICES: &[&str] = &[
    "sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "dm-", "mapper/", "md", "nbd", "loop", "sr",
    "zvol", "mem", "kmem", "port",
];

/// Below /dev, and no device although the name begins like one.
pub(crate) const HARMLESS_DEVICES: &[&str] = &["shm", "stdin", "stdout", "stderr"];

/// File names that are secrets wherever they lie.
pub(crate) const SECRET_NAMES: &[&str] = &[
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ecdsa_sk",
    "id_ed25519",
    "id_ed25519_sk",
    ".netrc",
    "_netrc",
    ".git-credentials",
    ".pgpass",
    ".pypirc",
    ".dockercfg",
    ".vault-token",
    ".my.cnf",
    ".s3cfg",
    "key4.db",
    "logins.json",
    "Login Data",
    "Cookies",
    "cookies.sqlite",
    "Web Data",
    "wallet.dat",
    ".htpasswd",
    ".vault_pass",
];

/// Directories of what tests are run with.
pub(crate) const FIXTURES: &[&str] = &["fixtures", "__fixtures__", "testdata", "test-data", "test_data"];

/// Ends of the names of key stores.
pub(crate) const SECRET_ENDINGS: &[&str] =
    &[".kdbx", ".pfx", ".p12", ".ppk", ".keychain-db", ".jks", ".keystore", ".kwl", ".keytab"];

/// Names in secret directories that are no secret.
pub(crate) const NOT_SECRET: &[&str] = &[
    "known_hosts",
    "known_hosts.old",
    "config",
    "authorized_keys",
    "authorized_keys2",
    "gpg.conf",
    "gpg-agent.conf",
    "dirmngr.conf",
    "scdaemon.conf",
    "common.conf",
];

/// Directories in which secrets are kept.
pub(crate) const SECRET_DIRS: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".password-store",
    ".aws",
    ".kube",
    ".config/gh",
    ".docker",
    ".config/gcloud",
    ".azure",
    ".local/share/keyrings",
    "Library/Keychains",
    ".config/op",
    ".mozilla/firefox",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".thunderbird",
];

/// Endings of texts and sources.
pub(crate) const TEXT_ENDINGS: &[&str] = &[
    "adoc", "c", "cc", "cpp", "cs", "css", "csv", "cxx", "dart", "ex", "exs", "go", "gradle", "h", "hpp",
    "hs", "html", "ipynb", "java", "jl", "js", "jsx", "kt", "less", "lua", "md", "mdx", "mjs", "ml", "org",
    "pdf", "php", "png", "proto", "py", "pyi", "rb", "rs", "rst", "scala", "scss", "svelte", "svg", "swift",
    "tex", "ts", "tsv", "tsx", "txt", "vue", "zig",
];

/// Of [`SECRET_DIRS`] the ones of which every file is a secret, but for [`NOT_SECRET`].
pub(crate) const SECRET_TREES: &[&str] =
    &[".ssh", ".gnupg", ".password-store", ".local/share/keyrings", "Library/Keychains", ".config/op"];

/// Single files that are secrets.
pub(crate) const SECRET_FILES: &[At] = &[
    At::Name(".aws/credentials"),
    At::Name(".aws/sso/cache"),
    At::Name(".aws/cli/cache"),
    At::Name(".config/gh/hosts.yml"),
    At::Name(".kube/config"),
    At::Name(".docker/config.json"),
    At::Name(".config/gcloud/application_default_credentials.json"),
    At::Name(".config/gcloud/credentials.db"),
    At::Name(".config/gcloud/access_tokens.db"),
    At::Name(".config/gcloud/legacy_credentials"),
    At::Name(".azure/msal_token_cache.json"),
    At::Name(".azure/accessTokens.json"),
    At::Name(".cargo/credentials"),
    At::Name(".cargo/credentials.toml"),
    At::Name(".gem/credentials"),
    At::Name(".terraform.d/credentials.tfrc.json"),
    At::Name(".config/rclone/rclone.conf"),
    At::Name(".config/hub"),
    At::Name(".config/glab-cli/config.yml"),
    At::Home(".claude/.credentials.json"),
    At::Name(".local/share/opencode/auth.json"),
    At::Name(".codex/auth.json"),
    At::Name(".config/pypoetry/auth.toml"),
    At::Home(".npmrc"),
    At::Home(".yarnrc.yml"),
    At::Home(".config/pip/pip.conf"),
    At::Home(".m2/settings.xml"),
    At::Home(".m2/settings-security.xml"),
    At::Home(".gradle/gradle.properties"),
    At::Home(".composer/auth.json"),
    At::Home(".config/composer/auth.json"),
    At::Home(".nuget/NuGet/NuGet.Config"),
    At::Home(".mongorc.js"),
    At::Home(".boto"),
    At::Home(".databrickscfg"),
    At::Home(".snowflake/config.toml"),
    At::Home(".config/doctl/config.yaml"),
    At::Home(".config/heroku"),
    At::Home(".local/share/com.vercel.cli/auth.json"),
    At::Home(".config/netlify/config.json"),
    At::Home(".fly/config.yml"),
    At::Home(".railway/config.json"),
    At::Home(".wakatime.cfg"),
    At::Home(".config/stripe/config.toml"),
    At::Home(".huggingface/token"),
    At::Home(".cache/huggingface/token"),
    At::Home(".kaggle/kaggle.json"),
    At::Home(".anthropic"),
    At::Home(".gemini/oauth_creds.json"),
    At::Home(".config/github-copilot"),
    At::Name(".config/op/config"),
    At::Home(".config/Exodus"),
    At::Home(".config/atomic"),
    At::Home(".config/Ledger Live"),
    At::Home(".monero"),
    At::Home("Monero/wallets"),
    At::Home(".dogecoin/wallets"),
    At::Home(".litecoin/wallets"),
    At::Home(".zcash"),
    At::Home("Library/Application Support/Exodus"),
    At::Home("Library/Ethereum/keystore"),
    At::Home(".terraformrc"),
    At::Home(".electrum/wallets"),
    At::Home(".bitcoin/wallet.dat"),
    At::Home(".ethereum/keystore"),
    At::Home(".config/solana/id.json"),
    At::Home(".config/filezilla"),
    At::Home(".config/FileZilla"),
    At::Home(".purple/accounts.xml"),
    At::Home(".config/discord/Local Storage"),
    At::Home(".remmina"),
    At::Home(".config/remmina"),
    At::Home(".vnc/passwd"),
    At::Home(".azure/msal_token_cache.bin"),
    At::Home(".azure/azureProfile.json"),
    At::Home(".azure/service_principal_entries.json"),
    At::Home(".config/hcloud/cli.toml"),
    At::Home(".config/linode-cli"),
    At::Home(".config/containers/auth.json"),
    At::Home(".config/configstore/firebase-tools.json"),
    At::Home(".config/wrangler"),
    At::Home(".wrangler/config"),
    At::Home(".supabase/access-token"),
    At::Home(".circleci/cli.yml"),
    At::Home(".sentryclirc"),
    At::Home(".pulumi/credentials.json"),
    At::Home(".docker/contexts"),
    At::Home(".config/helm/registry"),
    At::Home(".lastpass"),
    At::Home(".config/Bitwarden"),
    At::Home(".config/1Password"),
    At::Home(".authinfo"),
    At::Home(".authinfo.gpg"),
    At::Home(".msmtprc"),
    At::Home(".mbsyncrc"),
    At::Home(".fetchmailrc"),
    At::Home(".config/Slack"),
    At::Home(".config/Signal"),
    At::Home(".config/weechat/sec.conf"),
    At::Home(".config/Code/User/globalStorage/state.vscdb"),
    At::Home(".config/Cursor/User/globalStorage/state.vscdb"),
    At::Home(".subversion/auth"),
    At::Home(".aliyun/config.json"),
    At::Home(".tsh/keys"),
    At::Home(".step/secrets"),
    At::Home(".oci/oci_api_key.pem"),
    At::Home(".config/openai"),
    At::Home("Library/Messages"),
    At::Home("Library/Mail"),
    At::Home("Library/Cookies"),
    At::Home("Library/Application Support/Slack"),
    At::Home("Library/Application Support/Google/Chrome"),
    At::Abs("/etc/mysql/debian.cnf"),
    At::Abs("/etc/ppp/chap-secrets"),
    At::Abs("/etc/ppp/pap-secrets"),
    At::Abs("/etc/exim4/passwd.client"),
    At::Abs("/etc/security/opasswd"),
    At::Abs("/etc/master.passwd"),
    At::Abs("/etc/kcpassword"),
    At::Abs("/etc/kubernetes/pki/ca.key"),
    At::Abs("/etc/kubernetes/pki/sa.key"),
    At::Abs("/etc/kubernetes/pki/apiserver.key"),
    At::Abs("/etc/kubernetes/pki/etcd/ca.key"),
    At::Abs("/var/lib/kubelet/pki"),
    At::Abs("/var/lib/jenkins/secrets"),
    At::Abs("/var/db/dslocal/nodes/Default/users"),
    At::Home(".config/Bitwarden CLI"),
    At::Abs("/etc/rancher/k3s/k3s.yaml"),
    At::Abs("/etc/NetworkManager/system-connections"),
    At::Abs("/etc/wpa_supplicant"),
    At::Abs("/etc/openvpn"),
    At::Abs("/etc/wireguard"),
    At::Abs("/etc/letsencrypt/live"),
    At::Abs("/etc/letsencrypt/archive"),
    At::Abs("/etc/sudoers"),
    At::Abs("/etc/krb5.keytab"),
    At::Abs("/tmp/krb5cc_*"),
    At::Abs("/var/lib/sss/secrets"),
    At::Abs("/var/lib/sss/db"),
    At::Abs("/etc/ipsec.secrets"),
    At::Abs("/etc/docker/key.json"),
    At::Home(".config/age/keys.txt"),
    At::Name(".config/sops/age/keys.txt"),
    At::Abs("/etc/shadow"),
    At::Abs("/etc/gshadow"),
    At::Abs("/etc/shadow-"),
    At::Abs("/etc/ssl/private"),
    At::Abs("/etc/ssh/ssh_host_rsa_key"),
    At::Abs("/etc/ssh/ssh_host_ecdsa_key"),
    At::Abs("/etc/ssh/ssh_host_ed25519_key"),
    At::Abs("/etc/kubernetes/admin.conf"),
    At::Abs("/run/secrets"),
    At::Abs("/var/run/secrets"),
    At::Abs("/proc/*/environ"),
    At::Abs("/proc/kcore"),
];

/// Beginnings of the paths of [`SECRET_FILES`] and [`SECRET_DIRS`] without a hidden directory.
pub(crate) const SECRET_ROOTS: &[&str] =
    &["/etc/", "/proc/", "/run/", "/var/run/", "/var/lib/", "/var/db/", "/Users/", "/tmp/krb5cc_"];

/// Parts of the name of a `.env` file that is there to be read.
pub(crate) const ENV_EXAMPLES: &[&str] =
    &["example", "sample", "template", "dist", "schema", "test", "ci", "default", "defaults", "tpl", "vault"];

/// What the clients log in with, below the home directory.
pub(crate) const CLIENT_CREDENTIALS: &[&str] =
    &[".claude/.credentials.json", ".local/share/opencode/auth.json"];

/// Files in `.ssh` of keys that may log in, and of commands that run when somebody does.
pub(crate) const LOGIN_KEYS: &[&str] = &["authorized_keys", "authorized_keys2", "rc"];

/// Files that a shell or a session runs when it starts.
pub(crate) const SHELL_STARTUP: &[At] = &[
    At::Home(".bashrc"),
    At::Home(".bash_profile"),
    At::Home(".bash_login"),
    At::Home(".bash_logout"),
    At::Home(".bash_aliases"),
    At::Home(".profile"),
    At::Home(".zshrc"),
    At::Home(".zshenv"),
    At::Home(".zprofile"),
    At::Home(".zlogin"),
    At::Home(".zlogout"),
    At::Home(".kshrc"),
    At::Home(".config/fish/config.fish"),
    At::Home(".config/fish/conf.d"),
    At::Home(".config/fish/functions"),
    At::Home(".xinitrc"),
    At::Home(".xprofile"),
    At::Home(".xsession"),
    At::Home(".xsessionrc"),
    At::Home(".pam_environment"),
    At::Home(".config/environment.d"),
    At::Home(".oh-my-zsh/custom"),
    At::Home(".zsh"),
    At::Home(".bashrc.d"),
    At::Home(".config/zsh"),
    At::Home(".config/powershell"),
    At::Home(".hushlogin"),
    At::Home(".config/plasma-workspace/env"),
    At::Home(".config/openbox/autostart"),
    At::Home(".config/i3/config"),
    At::Home(".config/sway/config"),
    At::Home(".config/hypr/hyprland.conf"),
    At::Home(".direnvrc"),
    At::Home(".config/direnv"),
];

/// System-wide start-up files.
pub(crate) const SYSTEM_STARTUP: &[At] = &[
    At::Abs("/root/.bashrc"),
    At::Abs("/root/.bash_profile"),
    At::Abs("/root/.profile"),
    At::Abs("/root/.zshrc"),
    At::Abs("/etc/profile"),
    At::Abs("/etc/profile.d"),
    At::Abs("/etc/bash.bashrc"),
    At::Abs("/etc/bashrc"),
    At::Abs("/etc/zsh"),
    At::Abs("/etc/environment"),
    At::Abs("/etc/rc.local"),
    At::Abs("/etc/init.d"),
    At::Abs("/etc/xdg/autostart"),
    At::Abs("/etc/skel"),
    At::Abs("/etc/inittab"),
    At::Abs("/etc/update-motd.d"),
    At::Abs("/etc/NetworkManager/dispatcher.d"),
    At::Abs("/etc/network/if-up.d"),
    At::Abs("/etc/network/interfaces"),
    At::Abs("/etc/udev/rules.d"),
    At::Abs("/lib/udev/rules.d"),
    At::Abs("/etc/modprobe.d"),
    At::Abs("/etc/modules-load.d"),
    At::Abs("/etc/modules"),
    At::Abs("/etc/pam.d"),
    At::Abs("/etc/ssh/sshrc"),
    At::Abs("/etc/ssh/sshd_config"),
    At::Abs("/etc/ssh/sshd_config.d"),
    At::Abs("/etc/apt/apt.conf.d"),
    At::Abs("/etc/X11/Xsession.d"),
    At::Abs("/etc/logrotate.d"),
    At::Abs("/etc/dhcp"),
    At::Abs("/etc/acpi"),
    At::Abs("/etc/supervisor"),
    At::Abs("/etc/sysctl.d"),
    At::Abs("/etc/sysctl.conf"),
    At::Abs("/etc/runit"),
    At::Abs("/etc/sv"),
    At::Abs("/etc/local.d"),
    At::Abs("/etc/grub.d"),
    At::Abs("/etc/default/grub"),
    At::Abs("/etc/initramfs-tools"),
    At::Abs("/etc/binfmt.d"),
    At::Abs("/etc/xinetd.d"),
    At::Abs("/etc/inetd.conf"),
];

/// Units and agents that are started without anybody asking.
pub(crate) const SERVICES: &[At] = &[
    At::Home(".config/systemd/user"),
    At::Home(".local/share/systemd/user"),
    At::Home(".config/autostart"),
    At::Home("Library/LaunchAgents"),
    At::Abs("/etc/systemd"),
    At::Abs("/lib/systemd"),
    At::Abs("/usr/lib/systemd"),
    At::Abs("/usr/local/lib/systemd"),
    At::Abs("/run/systemd/system"),
    At::Abs("/Library/LaunchAgents"),
    At::Abs("/Library/LaunchDaemons"),
    At::Abs("/System/Library/LaunchDaemons"),
];

/// Jobs that are run at a time.
pub(crate) const CRON: &[At] = &[
    At::Abs("/etc/crontab"),
    At::Abs("/etc/cron.d"),
    At::Abs("/etc/cron.hourly"),
    At::Abs("/etc/cron.daily"),
    At::Abs("/etc/cron.weekly"),
    At::Abs("/etc/cron.monthly"),
    At::Abs("/var/spool/cron"),
    At::Abs("/etc/anacrontab"),
    At::Abs("/var/spool/at"),
];

/// Settings of editors and tools that run code when the tool starts.
pub(crate) const TOOL_STARTUP: &[At] = &[
    At::Home(".vimrc"),
    At::Home(".vim/vimrc"),
    At::Home(".vim/plugin"),
    At::Home(".config/nvim"),
    At::Home(".emacs"),
    At::Home(".emacs.d/init.el"),
    At::Home(".config/emacs/init.el"),
    At::Home(".gitconfig"),
    At::Home(".config/git"),
    At::Home(".npmrc"),
    At::Home(".yarnrc.yml"),
    At::Home(".config/pip"),
    At::Home(".cargo/config.toml"),
    At::Home(".pythonrc"),
    At::Home(".tmux.conf"),
    At::Home(".inputrc"),
    At::Home(".gdbinit"),
    At::Home(".Rprofile"),
    At::Home(".irbrc"),
    At::Home(".config/Code/User/settings.json"),
    At::Home(".config/Code/User/tasks.json"),
    At::Home(".pythonrc.py"),
    At::Home(".pip/pip.conf"),
    At::Home(".config/tmux"),
    At::Home(".gradle/init.gradle"),
    At::Home(".gradle/init.d"),
    At::Home(".m2/settings.xml"),
    At::Home(".mavenrc"),
    At::Home(".lldbinit"),
    At::Home(".screenrc"),
    At::Home(".wgetrc"),
    At::Home(".curlrc"),
    At::Home(".psqlrc"),
    At::Home(".sqliterc"),
    At::Home(".ghci"),
    At::Home(".pryrc"),
    At::Home(".julia/config"),
    At::Home(".config/julia"),
    At::Home(".noderc"),
    At::Home(".vscode/extensions"),
    At::Home(".jupyter"),
    At::Home(".ipython/profile_default/startup"),
    At::Home(".config/matplotlib"),
    At::Home(".local/share/applications"),
    At::Home(".config/mimeapps.list"),
    At::Home(".xbindkeysrc"),
    At::Home(".vim/autoload"),
    At::Home(".vim/ftplugin"),
    At::Home(".vim/after"),
    At::Home(".doom.d"),
    At::Home(".config/doom"),
    At::Home(".spacemacs"),
    At::Home(".bazelrc"),
    At::Home(".Renviron"),
    At::Home(".config/pypoetry"),
    At::Home(".bundle/config"),
    At::Home(".gemrc"),
    At::Home(".config/yarn"),
    At::Home(".bunfig.toml"),
    At::Home(".mailcap"),
    At::Home(".lesskey"),
];

/// Histories of shells and of clients.
pub(crate) const HISTORIES: &[At] = &[
    At::Home(".mysql_history"),
    At::Home(".psql_history"),
    At::Home(".sqlite_history"),
    At::Home(".rediscli_history"),
    At::Home(".node_repl_history"),
    At::Home(".lesshst"),
    At::Home(".viminfo"),
    At::Home(".bash_history"),
    At::Home(".zsh_history"),
    At::Home(".local/share/fish/fish_history"),
    At::Home(".history"),
    At::Home(".python_history"),
];

/// Logs of the system.
pub(crate) const LOGS: &[At] = &[At::Abs("/var/log"), At::Abs("/private/var/log"), At::Abs("/run/log")];

/// What package managers fetch again when they need it, and a toolchain whose way of being renewed is to be unpacked anew.
pub(crate) const PACKAGE_CACHES: &[&str] = &[
    "/var/lib/apt/lists",
    "/var/cache/apt",
    "/var/cache/apk",
    "/var/cache/dnf",
    "/var/cache/yum",
    "/var/cache/zypp",
    "/var/cache/pacman/pkg",
    "/usr/local/go",
];

/// Below the home directory: caches that the tools they belong to fill again. With a `/` at the end only what is in it, thing by
/// thing.
pub(crate) const CACHES: &[&str] = &[
    ".cache/",
    "Library/Caches/",
    ".npm/_cacache",
    ".npm/_npx",
    ".npm/_logs",
    ".yarn/cache",
    ".yarn/berry/cache",
    ".pnpm-store",
    ".local/share/pnpm/store",
    "Library/pnpm/store",
    ".bun/install/cache",
    ".cargo/registry/cache",
    ".cargo/registry/src",
    ".cargo/registry/index",
    ".cargo/git/checkouts",
    ".cargo/git/db",
    ".gradle/caches",
    ".gradle/daemon",
    ".gradle/wrapper/dists",
    ".gradle/.tmp",
    ".m2/repository",
    ".ivy2/cache",
    ".sbt/boot",
    ".konan/cache",
    ".konan/dependencies",
    ".android/cache",
    ".android/build-cache",
    ".pub-cache/hosted",
    ".pub-cache/git",
    ".pub-cache/_temp",
    ".dartServer",
    ".ccache",
    ".conan2/p",
    ".platformio/.cache",
    ".stack/snapshots",
    ".julia/compiled",
    ".gem/specs",
    ".hex/packages",
    ".rustup/downloads",
    ".rustup/tmp",
    ".sdkman/tmp",
    ".kube/cache",
    ".minikube/cache",
    ".skaffold/cache",
    ".npm/_locks",
    ".vscode-server/data/logs",
    ".vscode-server/data/CachedExtensionVSIXs",
    ".nuget/packages",
    ".composer/cache",
    ".terraform.d/plugin-cache",
    "go/pkg/mod",
    ".expo/cache",
    ".local/share/rr/",
    ".local/share/virtualenvs/",
    ".rustup/toolchains/",
    ".pyenv/versions/",
    ".rbenv/versions/",
    ".sdkman/candidates/",
    ".vscode-server/extensions/",
    ".local/state/nvim/swap",
    ".node-gyp",
    "Library/Developer/Xcode/DerivedData",
    "Library/Developer/Xcode/iOS DeviceSupport",
    "Library/Developer/CoreSimulator/Caches",
];

/// Hooks of a git repository.
pub(crate) const GIT_HOOKS: &[At] = &[At::Name(".git/hooks")];

/// Programs that run containers.
pub(crate) const CONTAINERS: &[&str] = &["docker", "podman", "nerdctl"];

/// Clients of containers, of those in a cluster too.
pub(crate) const CONTAINER_CLIENTS: &[&str] = &["docker", "podman", "nerdctl", "kubectl", "oc"];

/// Programs that pack files into one with tar.
pub(crate) const TARS: &[&str] = &["tar", "bsdtar", "gtar"];

/// Commands that print what they are given.
pub(crate) const PRINTERS: &[&str] = &["echo", "printf", "cat"];

/// Options by which Node loads a module before anything else.
pub(crate) const NODE_LOADS: &[&str] = &["--require", "-r", "--import", "--loader", "--experimental-loader"];

/// Filters whose program, the first operand, can run commands and write files.
pub(crate) const SCRIPTED_FILTERS: &[&str] = &["awk", "gawk", "mawk", "nawk"];

/// The stream editor, by its names.
pub(crate) const SEDS: &[&str] = &["sed", "gsed"];

/// Interpreters with subcommands.
pub(crate) const RUNTIMES: &[&str] = &["deno", "bun"];

/// Builtins that run text or a file as part of the shell.
pub(crate) const RUN_IN_SHELL: &[&str] = &["eval", "source", "."];

/// Hosts from which the makers of common tools hand them out, and hosts of repositories. `*.` stands for all below.
pub(crate) const DISTRIBUTORS: &[&str] = &[
    "nodejs.org",
    "go.dev",
    "dl.google.com",
    "static.rust-lang.org",
    "python.org",
    "www.python.org",
    "ziglang.org",
    "download.docker.com",
    "releases.hashicorp.com",
    "dl.k8s.io",
    "get.helm.sh",
    "awscli.amazonaws.com",
    "dlcdn.apache.org",
    "archive.apache.org",
    "downloads.apache.org",
    "repo1.maven.org",
    "services.gradle.org",
    "ftp.gnu.org",
    "cdn.kernel.org",
    "bitbucket.org",
    "codeberg.org",
    "git.sr.ht",
    "dev.azure.com",
    "ssh.dev.azure.com",
    "git.kernel.org",
    "git.savannah.gnu.org",
    "gitlab.gnome.org",
    "gitlab.freedesktop.org",
    "salsa.debian.org",
    "*.googlesource.com",
    "dl.fedoraproject.org",
    "mirrors.rpmfusion.org",
    "download.opensuse.org",
    "packages.microsoft.com",
    "rpm.nodesource.com",
    "deb.nodesource.com",
    "yum.postgresql.org",
    "download.postgresql.org",
    "rpms.remirepo.net",
    "www.elrepo.org",
    "repo.mysql.com",
    "dev.mysql.com",
    "artifacts.elastic.co",
];

/// Registries that packages usually come from, and hosts whose modules are run by their address.
pub(crate) const REGISTRIES: &[&str] = &[
    "registry.npmjs.org",
    "registry.yarnpkg.com",
    "npm.jsr.io",
    "jsr.io",
    "deno.land",
    "esm.sh",
    "pypi.org",
    "files.pythonhosted.org",
    "download.pytorch.org",
    "index.crates.io",
    "static.crates.io",
    "rubygems.org",
    "golang.org",
    "honnef.co",
    "mvdan.cc",
    "gotest.tools",
    "repo.maven.apache.org",
    "codeload.github.com",
    "objects.githubusercontent.com",
];

/// Programs that fetch what a URL names.
pub(crate) const DOWNLOADERS: &[&str] = &[
    "curl",
    "wget",
    "wget2",
    "fetch",
    "aria2c",
    "http",
    "https",
    "xh",
    "lynx",
    "links",
    "w3m",
    "axel",
    "elinks",
    "lwp-download",
    "curlie",
    "httpie",
    "wcurl",
    "GET",
    "lwp-request",
    "irm",
    "iwr",
    "Invoke-RestMethod",
    "Invoke-WebRequest",
    "invoke-restmethod",
    "invoke-webrequest",
];

/// Programs that join a connection with their input and output.
pub(crate) const NETCATS: &[&str] =
    &["nc", "ncat", "netcat", "nc.traditional", "nc.openbsd", "cryptcat", "sbd", "nc.exe", "ncat.exe"];

/// Programs whose output comes from another machine.
pub(crate) const CONNECTIONS: &[&str] = &[
    "socat", "telnet", "ssh", "dig", "drill", "host", "nslookup", "ftp", "tftp", "whois", "finger",
    "websocat",
];

/// Programs with subcommands whose output comes from somewhere else.
pub(crate) const REMOTE_STORES: &[&str] =
    &["aws", "gsutil", "rclone", "mc", "gcloud", "kubectl", "docker", "podman", "gh"];

/// Programs that can carry data to another machine.
pub(crate) const SENDERS: &[&str] = &[
    "curl",
    "wget",
    "wget2",
    "http",
    "https",
    "xh",
    "socat",
    "telnet",
    "ssh",
    "scp",
    "sftp",
    "rsync",
    "ftp",
    "lftp",
    "tftp",
    "mail",
    "mailx",
    "sendmail",
    "mutt",
    "aws",
    "gsutil",
    "rclone",
    "dig",
    "nslookup",
    "host",
    "croc",
    "magic-wormhole",
    "wormhole",
    "az",
    "mc",
    "s3cmd",
    "s5cmd",
    "b2",
    "swaks",
    "msmtp",
    "ssmtp",
    "neomutt",
    "s-nail",
    "ncftpput",
    "ftpput",
    "tnftp",
    "smbclient",
    "websocat",
    "mosquitto_pub",
    "kafkacat",
    "kcat",
    "ab",
    "hping3",
    "nping",
    "whois",
    "finger",
    "ping",
    "drill",
    "dog",
    "curlie",
    "xhs",
    "gh",
    "glab",
    "transfer",
    "ffsend",
    "onionshare-cli",
    "gdrive",
    "dropbox_uploader.sh",
    "dbxcli",
    "pastebinit",
    "sprunge",
    "wgetpaste",
    "fpaste",
    "ipfs",
    "irm",
    "iwr",
    "Invoke-RestMethod",
    "Invoke-WebRequest",
    "invoke-restmethod",
    "invoke-webrequest",
];

/// Programs that turn encoded text into what it means.
pub(crate) const DECODERS: &[&str] = &[
    "base64", "base32", "basenc", "xxd", "openssl", "uudecode", "gunzip", "gzip", "zcat", "bunzip2", "bzcat",
    "xz", "xzcat", "unxz", "zstd", "rev", "tr", "gpg", "hex", "unlzma", "lz4", "brotli", "iconv", "strings",
    "exiftool", "unzip", "funzip",
];

/// Options that name a file which the program uses to prove who it is, or leaves out, and does not send.
pub(crate) const IDENTITY_FLAGS: &[(&str, &[&str])] = &[
    ("ssh", &["-i", "-F", "-o"]),
    ("scp", &["-i", "-F", "-o"]),
    ("sftp", &["-i", "-F", "-o", "-b"]),
    ("rsync", &["-e", "--rsh", "--password-file", "--exclude", "--exclude-from"]),
    ("curl", &["--key", "--cert", "-E", "--cacert", "--netrc-file", "--proxy-cert", "--proxy-key"]),
    ("wget", &["--private-key", "--certificate", "--ca-certificate"]),
    ("openssl", &["-key", "-cert", "-CAfile"]),
    ("socat", &[]),
];

/// Programs that name a secret file without showing what is in it.
pub(crate) const SECRET_USERS: &[&str] = &[
    "ls",
    "stat",
    "test",
    "[",
    "[[",
    "file",
    "chmod",
    "chown",
    "ssh",
    "ssh-add",
    "ssh-keygen",
    "ssh-copy-id",
    "scp",
    "sftp",
    "touch",
    "realpath",
    "readlink",
    "dirname",
    "basename",
    "kubectl",
    "helm",
    "gpg",
    "gpg-agent",
    "aws",
    "gh",
    "du",
    "find",
    "git",
    "rm",
    "mkdir",
    "cd",
    "rsync",
    "ansible-playbook",
    "ansible",
    "terraform",
    "fd",
    "tree",
    "wc",
    "export",
];

/// Names of the host that hands out a cloud machine's credentials; its addresses are known by their numbers.
pub(crate) const METADATA_HOSTS: &[&str] = &[
    "metadata.google.internal",
    "metadata",
    "metadata.goog",
    "instance-data",
    "instance-data.ec2.internal",
    "rancher-metadata",
    "metadata.tencentyun.com",
    "metadata.azure.internal",
    "metadata.azure.com",
];

/// Ends of names that stand for the address in front of them.
pub(crate) const ADDRESS_NAMES: &[&str] = &[
    ".nip.io",
    ".xip.io",
    ".sslip.io",
    ".traefik.me",
    ".ip.addr.tools",
    ".nip.direct",
    ".1u.ms",
    ".rbndr.us",
];

/// Programs that fetch what one of their arguments names, although that is not what they are for.
pub(crate) const FETCHERS: &[&str] = &[
    "docker",
    "podman",
    "nerdctl",
    "kubectl",
    "openssl",
    "ffmpeg",
    "ffprobe",
    "wkhtmltopdf",
    "wkhtmltoimage",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "chrome",
    "firefox",
    "pandoc",
    "convert",
    "magick",
    "youtube-dl",
    "yt-dlp",
    "httpx",
    "nmap",
    "ab",
    "hey",
    "wrk",
    "pip",
    "pip3",
    "npm",
    "go",
    "elinks",
    "curlie",
    "grpcurl",
    "nuclei",
    "ffuf",
    "psql",
    "helm",
    "svn",
];

/// The clients that lazaret guards, by the names of their programs.
pub(crate) const CLIENTS: &[&str] = &["claude", "opencode", "opencode2"];

/// Programs that a client may be run by.
pub(crate) const CLIENT_RUNNERS: &[&str] =
    &["npx", "bunx", "pnpx", "npm", "pnpm", "yarn", "bun", "node", "deno", "claude-code", "opencode-ai"];

/// Words of the clients with which they ask nobody before they act.
pub(crate) const CLIENT_UNASKED: &[&str] = &[
    "--dangerously-skip-permissions",
    "--allow-dangerously-skip-permissions",
    "--permission-mode=bypassPermissions",
    "bypassPermissions",
    "--auto",
];

/// Options of the clients that leave hooks, plugins or settings out, or bring settings of their own.
pub(crate) const CLIENT_OFF: &[&str] = &[
    "--bare",
    "--safe-mode",
    "--restricted",
    "--setting-sources",
    "--settings",
    "--pure",
    "--managed-settings",
    "--no-hooks",
];

/// Names of protected files that mean nothing else, wherever they stand.
pub(crate) const TELLING_NAMES: &[&str] =
    &["opencode.json", "opencode.jsonc", ".claude.json", ".lazaret.toml", "managed-settings.json"];
