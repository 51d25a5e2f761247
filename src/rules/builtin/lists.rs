//! Names that several rules share: places, programs, words. Facts about single commands are in `commands`.

pub(crate) use crate::rules::facts::words::QUIET;
use crate::rules::matcher::At;

words!("builtin/lists");

/// Directories that hold people's homes.
pub(crate) const HOMES: &[&str] = &["/home", "/Users"];

/// Below /dev, and no device although the name begins like one.
pub(crate) const HARMLESS_DEVICES: &[&str] = &["shm", "stdin", "stdout", "stderr"];

/// Directories of what tests are run with.
pub(crate) const FIXTURES: &[&str] = &["fixtures", "__fixtures__", "testdata", "test-data", "test_data"];

/// Of [`SECRET_DIRS`] the ones of which every file is a secret, but for [`NOT_SECRET`].
pub(crate) const SECRET_TREES: &[&str] =
    &[".ssh", ".gnupg", ".password-store", ".local/share/keyrings", "Library/Keychains", ".config/op"];

/// What the clients log in with, below the home directory.
pub(crate) const CLIENT_CREDENTIALS: &[&str] = crate::domain::client::CREDENTIALS;

/// Files in `.ssh` of keys that may log in, and of commands that run when somebody does.
pub(crate) const LOGIN_KEYS: &[&str] = &["authorized_keys", "authorized_keys2", "rc"];

/// Logs of the system.
pub(crate) const LOGS: &[At] = &[At::Abs("/var/log"), At::Abs("/private/var/log"), At::Abs("/run/log")];

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

/// The clients that lazaret guards, by the names of their programs.
pub(crate) const CLIENTS: &[&str] = crate::domain::client::PROGRAMS;

/// Names of protected files that mean nothing else, wherever they stand.
pub(crate) const TELLING_NAMES: &[&str] =
    &["opencode.json", "opencode.jsonc", ".claude.json", ".lazaret.toml", "managed-settings.json"];
