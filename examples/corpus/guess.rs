//! Family and reason of a row that does not say them: read off the rule that fires, or off the program that runs.

use std::cmp::Reverse;

use lazaret::domain::Decision;

use super::corpus::Expect;

/// Beginnings of the rules' ids, and the family of what they stop; of several that stop a call, the first.
const BY_RULE: &[(&str, &str)] = &[
    ("code.deletes", "deletion-root-home"),
    ("code.archiver", "remote-execution"),
    ("shell", "obfuscated-execution"),
    ("code", "obfuscated-execution"),
    ("network.decoded", "obfuscated-execution"),
    ("network.reverse-shell", "reverse-shells"),
    ("network.download", "remote-execution"),
    ("files.delete-root", "deletion-root-home"),
    ("files.delete-home", "deletion-root-home"),
    ("files.delete-piped", "deletion-root-home"),
    ("files.delete-system", "system-files"),
    ("files.delete-unknown", "deletion-outside-project"),
    ("files.move-home", "deletion-root-home"),
    ("files.delete-project", "project-wipe"),
    ("files.delete-git", "git-history"),
    ("files.chmod", "system-permissions"),
    ("files.chown", "system-permissions"),
    ("files.write", "system-files"),
    ("files.unpack", "system-files"),
    ("files", "deletion-outside-project"),
    ("selfprotect", "agent-configuration"),
    ("quarantine", "secrets"),
    ("disks", "disks"),
    ("secrets.home-copied", "exfiltration"),
    ("secrets", "secrets"),
    ("network.shell-socket", "reverse-shells"),
    ("network.metadata", "metadata-addresses"),
    ("network.attack", "remote-execution"),
    ("network", "exfiltration"),
    ("privilege.container-host", "container-escape"),
    ("privilege.docker-socket", "container-escape"),
    ("privilege.namespaces", "container-escape"),
    ("privilege.setuid", "system-permissions"),
    ("privilege.world-writable", "system-permissions"),
    ("privilege", "privilege"),
    ("persistence", "persistence"),
    ("git.reset", "git-work-tree"),
    ("git.checkout", "git-work-tree"),
    ("git.restore", "git-work-tree"),
    ("git.discard", "git-work-tree"),
    ("git.clean", "git-work-tree"),
    ("git.rm", "git-work-tree"),
    ("git.stash", "git-work-tree"),
    ("git.worktree", "git-work-tree"),
    ("git.submodule", "git-work-tree"),
    ("git.unknown", "git-work-tree"),
    ("git.config", "persistence"),
    ("git.hook", "persistence"),
    ("git", "git-history"),
    ("system.power", "power-off"),
    ("system.kill", "kill-everything"),
    ("system.fork-bomb", "fork-bombs"),
    ("system.history", "defence-evasion"),
    ("system.logs", "defence-evasion"),
    ("system.firewall", "defence-evasion"),
    ("system.security", "defence-evasion"),
    ("system.resources", "resource-abuse"),
    ("system", "machine-settings"),
    ("resources", "resource-abuse"),
    ("cloud", "infrastructure"),
    ("database", "databases"),
    ("packages", "packages"),
];

/// Programs, the family of ordinary work with them, and why it is ordinary.
const BY_PROGRAM: &[(&[&str], &str, &str)] = &[
    (
        &["git", "gh", "glab", "hg", "svn", "pre-commit"],
        "ordinary-git",
        "works on the agent's own branch, and loses nothing that git does not hold",
    ),
    (
        &["docker", "docker-compose", "podman", "buildah", "compose"],
        "ordinary-containers",
        "builds, starts or looks at the project's own containers, with nothing of the machine in them but the project",
    ),
    (
        &[
            "kubectl",
            "helm",
            "terraform",
            "tofu",
            "aws",
            "gcloud",
            "az",
            "pulumi",
            "kustomize",
            "ansible",
            "ansible-playbook",
            "minikube",
            "kind",
            "k9s",
            "oc",
        ],
        "ordinary-infrastructure",
        "looks at infrastructure, or plans a change that somebody still has to approve",
    ),
    (
        &[
            "npm", "pnpm", "yarn", "bun", "pip", "pip3", "uv", "poetry", "gem", "bundle", "composer", "brew",
            "apt", "apt-get", "dnf", "apk", "conda", "pipx", "nvm", "rustup", "asdf", "mise", "corepack",
            "npx", "pnpx", "bunx",
        ],
        "ordinary-packages",
        "installs or runs what the project declares, from the usual registry",
    ),
    (
        &[
            "cargo",
            "make",
            "cmake",
            "ninja",
            "go",
            "mvn",
            "gradle",
            "./gradlew",
            "./mvnw",
            "tsc",
            "pytest",
            "jest",
            "vitest",
            "tox",
            "nox",
            "ruff",
            "black",
            "mypy",
            "eslint",
            "prettier",
            "gcc",
            "cc",
            "g++",
            "clang",
            "rustc",
            "dotnet",
            "swift",
            "bazel",
            "meson",
            "ctest",
            "rake",
            "mix",
            "sbt",
            "zig",
            "nix",
            "python",
            "python3",
            "node",
            "ruby",
            "perl",
            "php",
            "deno",
            "just",
            "java",
            "javac",
            "rspec",
            "playwright",
            "flutter",
            "dart",
            "xcodebuild",
        ],
        "ordinary-build",
        "builds, tests or runs the project, and changes nothing outside it",
    ),
    (
        &["grep", "rg", "ag", "ack", "find", "fd", "locate"],
        "ordinary-search",
        "searches: a pattern and what is found are text, and nothing of it is run",
    ),
    (
        &[
            "sed", "awk", "jq", "yq", "sort", "uniq", "cut", "tr", "tee", "xargs", "column", "paste", "join",
            "comm", "diff", "patch", "iconv", "fold", "nl", "rev", "xmllint", "printf",
        ],
        "ordinary-text",
        "turns text of the project into other text",
    ),
    (
        &[
            "psql",
            "mysql",
            "sqlite3",
            "redis-cli",
            "mongosh",
            "mongo",
            "createdb",
            "dropdb",
            "pg_dump",
            "mysqldump",
            "pg_restore",
            "alembic",
            "prisma",
            "mysqladmin",
        ],
        "ordinary-databases",
        "reads a database, or changes rows that a condition names in one for development",
    ),
    (
        &[
            "curl",
            "wget",
            "http",
            "ssh",
            "scp",
            "rsync",
            "nc",
            "ping",
            "dig",
            "nslookup",
            "host",
            "openssl",
            "traceroute",
            "ip",
            "ifconfig",
            "ss",
            "netstat",
            "telnet",
            "sftp",
        ],
        "ordinary-network",
        "asks this machine, or a host that is only looked at, and neither runs nor sends away what is private",
    ),
    (
        &["rm", "rmdir", "unlink", "trash"],
        "ordinary-cleanup",
        "takes away build output or single files of the project or of a temporary directory",
    ),
    (
        &[
            "cp", "mv", "mkdir", "touch", "ln", "chmod", "install", "truncate", "tar", "zip", "unzip",
            "gzip", "gunzip", "nano", "ed", "ex", "vim", "code", "dd", "mktemp", "chown", "7z", "xz",
            "bzip2", "zstd",
        ],
        "ordinary-editing",
        "makes, moves or packs files of the project, or of a temporary directory",
    ),
    (
        &[
            "ls",
            "cat",
            "head",
            "tail",
            "less",
            "wc",
            "file",
            "stat",
            "du",
            "df",
            "pwd",
            "which",
            "type",
            "tree",
            "date",
            "whoami",
            "id",
            "uname",
            "hostname",
            "uptime",
            "free",
            "ps",
            "top",
            "env",
            "echo",
            "lsof",
            "realpath",
            "basename",
            "dirname",
            "readlink",
            "bat",
            "xxd",
            "hexdump",
            "od",
            "strings",
            "md5sum",
            "sha256sum",
            "history",
            "man",
            "test",
            "[",
            "true",
            "false",
            "lscpu",
            "nproc",
            "printenv",
            "lsblk",
            "mount",
            "dmesg",
            "journalctl",
            "systemctl",
            "crontab",
            "groups",
            "locale",
            "cal",
            "cksum",
        ],
        "ordinary-looking",
        "only looks",
    ),
];

/// Words that are a danger when they are run, and none when they are only written down.
const FRIGHTENING: &[&str] = &[
    "rm -rf",
    "rm -fr",
    "DROP ",
    "drop table",
    "TRUNCATE",
    "reset --hard",
    "push --force",
    "push -f",
    "mkfs",
    "dd if=",
    "| sh",
    "| bash",
    "chmod -R 777",
    "chmod 777",
    "shutdown",
    "reboot",
    "/etc/passwd",
    "/etc/shadow",
    "id_rsa",
    ":(){",
    "DELETE FROM",
    "clean -fd",
    "eval",
    "sudo ",
    "terraform destroy",
    "kubectl delete",
    "/dev/sda",
    "nc -e",
    "169.254",
    "PRIVATE KEY",
    "base64 -d",
    "format c:",
    "kill -9",
    "history -c",
];

const DATA: &str = "ordinary-words";

/// Family and reason.
pub fn of(expect: Expect, tool: &str, command: Option<&str>, decision: &Decision) -> (String, String) {
    if expect.is_dangerous() {
        // What the matrix says is the same for all of them; a rule says what is wrong with this one.
        let told = decision.reasons().iter().filter_map(|reason| {
            let place = BY_RULE.iter().position(|(rule, _)| reason.rule.starts_with(rule))?;
            Some((reason, place))
        });
        let strictest = told.max_by_key(|(reason, place)| (reason.verdict, Reverse(*place)));
        let Some((reason, place)) = strictest else {
            let said = decision.reasons().first().map(|reason| reason.message.clone());
            return ("obfuscated-execution".to_owned(), said.unwrap_or_else(|| "nobody says why".to_owned()));
        };
        let family = BY_RULE.get(place).map_or("obfuscated-execution", |(_, family)| family);
        let family = if tool == "Bash" || family == "agent-configuration" { family } else { "other-tools" };
        return (family.to_owned(), reason.message.clone());
    }
    let Some(command) = command else {
        let why = "a file of the project, or a page that anybody may read, and no secret in it";
        return ("ordinary-tools".to_owned(), why.to_owned());
    };
    let program = program(command);
    let known = BY_PROGRAM.iter().find(|(programs, ..)| programs.contains(&program));
    let writes_down = ["git", "gh", "echo", "printf", "cat", "grep", "rg", "sed", "jq", "tee", "find", "ag"];
    if writes_down.contains(&program) && FRIGHTENING.iter().any(|words| command.contains(words)) {
        let why = format!(
            "what looks dangerous is text that {program} shows, finds or keeps, and that nobody runs"
        );
        return (DATA.to_owned(), why);
    }
    known.map_or_else(
        || {
            let why =
                "it, and what the shell does around it, stays in the project and in temporary directories";
            ("ordinary-shell".to_owned(), why.to_owned())
        },
        |(_, family, why)| ((*family).to_owned(), (*why).to_owned()),
    )
}

/// The program that a command line is about: past assignments, a change of directory and wrappers that change nothing.
fn program(command: &str) -> &str {
    let parts = command.split(['\n', ';', '|']).flat_map(|part| part.split("&&"));
    let first = parts.map(str::trim).find(|part| {
        !part.is_empty()
            && !["cd ", "set ", "export ", "#", "pushd "].iter().any(|word| part.starts_with(word))
    });
    let mut words = first.unwrap_or(command).split_whitespace().filter(|word| {
        let assigns = word.contains('=') && !word.starts_with('-');
        !assigns && !["sudo", "time", "nice", "nohup", "env", "command", "!", "{", "("].contains(word)
    });
    let word = words.next().unwrap_or(command);
    word.rsplit('/').next().filter(|_| word.starts_with("/usr") || word.starts_with("/bin")).unwrap_or(word)
}
