//! Names that several rules share: places, programs, words. Facts about single commands are in `commands`.

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
    "wallet.dat",
];

/// Directories of what tests are run with.
pub(crate) const FIXTURES: &[&str] = &["fixtures", "__fixtures__", "testdata", "test-data", "test_data"];

/// Ends of the names of key stores.
pub(crate) const SECRET_ENDINGS: &[&str] =
    &[".kdbx", ".pfx", ".p12", ".ppk", ".keychain-db", ".jks", ".keystore"];

/// Names in secret directories that are no secret.
pub(crate) const NOT_SECRET: &[&str] =
    &["known_hosts", "known_hosts.old", "config", "authorized_keys", "authorized_keys2"];

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
];

/// Of these, the ones of which every file is a secret, but for [`NOT_SECRET`].
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
    At::Name(".claude/.credentials.json"),
    At::Name(".local/share/opencode/auth.json"),
    At::Name(".codex/auth.json"),
    At::Home(".npmrc"),
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
pub(crate) const SECRET_ROOTS: &[&str] = &["/etc/", "/proc/", "/run/", "/var/run/", "/Users/"];

/// Parts of the name of a `.env` file that is there to be read.
pub(crate) const ENV_EXAMPLES: &[&str] =
    &["example", "sample", "template", "dist", "schema", "test", "ci", "default", "defaults", "tpl", "vault"];

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
];

/// System-wide start-up files.
pub(crate) const SYSTEM_STARTUP: &[At] = &[
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
];

/// Histories of shells.
pub(crate) const HISTORIES: &[At] = &[
    At::Home(".bash_history"),
    At::Home(".zsh_history"),
    At::Home(".local/share/fish/fish_history"),
    At::Home(".history"),
    At::Home(".python_history"),
];

/// Logs of the system.
pub(crate) const LOGS: &[At] = &[At::Abs("/var/log"), At::Abs("/private/var/log"), At::Abs("/run/log")];

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
    ".m2/repository",
    ".ivy2/cache",
    ".nuget/packages",
    ".composer/cache",
    ".terraform.d/plugin-cache",
    "go/pkg/mod",
    ".expo/cache",
    ".node-gyp",
    "Library/Developer/Xcode/DerivedData",
];

/// Hooks of a git repository.
pub(crate) const GIT_HOOKS: &[At] = &[At::Name(".git/hooks")];

/// Filters whose program, the first operand, can run commands and write files.
pub(crate) const SCRIPTED_FILTERS: &[&str] = &["awk", "gawk", "mawk", "nawk"];

/// The stream editor, by its names.
pub(crate) const SEDS: &[&str] = &["sed", "gsed"];

/// Interpreters with subcommands.
pub(crate) const RUNTIMES: &[&str] = &["deno", "bun"];

/// Builtins that run text or a file as part of the shell.
pub(crate) const RUN_IN_SHELL: &[&str] = &["eval", "source", "."];

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
    "irm",
    "iwr",
    "Invoke-RestMethod",
    "Invoke-WebRequest",
    "invoke-restmethod",
    "invoke-webrequest",
];

/// Programs that join a connection with their input and output.
pub(crate) const NETCATS: &[&str] = &["nc", "ncat", "netcat", "nc.traditional", "nc.openbsd"];

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
    "xz", "xzcat", "unxz", "zstd", "rev", "tr", "gpg", "hex",
];

/// Options that name a file which the program uses to prove who it is, and does not send.
pub(crate) const IDENTITY_FLAGS: &[(&str, &[&str])] = &[
    ("ssh", &["-i", "-F", "-o"]),
    ("scp", &["-i", "-F", "-o"]),
    ("sftp", &["-i", "-F", "-o", "-b"]),
    ("rsync", &["-e", "--rsh", "--password-file"]),
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

/// Names of the host that hands out a cloud machine's credentials.
pub(crate) const METADATA_HOSTS: &[&str] = &[
    "169.254.169.254",
    "169.254.170.2",
    "metadata.google.internal",
    "metadata",
    "metadata.goog",
    "fd00:ec2::254",
    "100.100.100.200",
    "2852039166",
    "0xa9fea9fe",
    "0251.0376.0251.0376",
    "::ffff:169.254.169.254",
    "::ffff:a9fe:a9fe",
    "instance-data",
    "169.254.42.42",
    "192.0.0.192",
    "rancher-metadata",
    "instance-data.ec2.internal",
];

/// The clients that lazaret guards, by the names of their programs.
pub(crate) const CLIENTS: &[&str] = &["claude", "opencode", "opencode2"];

/// Names of protected files that mean nothing else, wherever they stand.
pub(crate) const TELLING_NAMES: &[&str] =
    &["opencode.json", "opencode.jsonc", ".claude.json", ".lazaret.toml", "managed-settings.json"];
