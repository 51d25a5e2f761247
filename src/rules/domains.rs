//! The domains of the built-in rules: the first part of a rule's id, what it is about, and why it is on when nobody has said anything.

/// One domain.
#[derive(Debug)]
pub struct Domain {
    pub name: &'static str,
    pub about: &'static str,
    /// Why it is on by default.
    pub why: &'static str,
}

const fn domain(name: &'static str, about: &'static str, why: &'static str) -> Domain {
    Domain { name, about, why }
}

/// Every domain that a rule has. All are on by default: a rule is only there when ordinary work hardly ever meets it.
pub const DOMAINS: &[Domain] = &[
    domain(
        "files",
        "deletion, overwriting and permissions of files and directories, by what they hit",
        "what is deleted outside of git cannot be brought back, and one wrong path or empty variable is enough",
    ),
    domain(
        "selfprotect",
        "what keeps the guard in place: the clients' settings and hooks, lazaret's own files, keys, processes and transcripts",
        "an agent that can take the guard away is not guarded; no ordinary task needs it",
    ),
    domain(
        "quarantine",
        "what a quarantined reviewer may reach",
        "it reads what nobody trusts, so it gets nothing but the copies made for it",
    ),
    domain(
        "shell",
        "commands that hide what they run: text that is decoded, assembled or reordered and then executed",
        "what cannot be read cannot be judged, and honest work has no reason to hide it",
    ),
    domain(
        "code",
        "one-liners in other languages that delete, execute, send or read what a shell command may not",
        "without it every rule could be passed by through `python3 -c`",
    ),
    domain(
        "disks",
        "file systems, partitions, block devices and mounts",
        "it takes the whole machine with it",
    ),
    domain(
        "secrets",
        "reading of keys, tokens and passwords, and how they leave the machine",
        "what has left cannot be called back; in a conversation a secret has left already",
    ),
    domain(
        "network",
        "what is fetched and run, reverse shells, tunnels, uploads, addresses that hand out credentials",
        "somebody else's commands come in that way, and data leaves",
    ),
    domain(
        "resources",
        "what fills a disk or the memory, keeps the processor busy for nothing, mines, or floods another machine",
        "it takes the machine, or somebody else's, from everybody who works on it, and nothing honest needs it",
    ),
    domain(
        "remote",
        "commands, files and orders for other machines, their containers and their virtual machines",
        "what is lost over there is lost as well, and nobody there is asked",
    ),
    domain(
        "privilege",
        "more rights than the agent was given: sudoers, set-user-id, capabilities, containers with the host in them",
        "rights once given stay after the task; a person gives them",
    ),
    domain(
        "persistence",
        "what runs again later: start-up files, timers, services, login keys, hooks",
        "it outlives the session, and nobody looks there",
    ),
    domain(
        "git",
        "uncommitted work, history, branches that others use, and configuration that executes",
        "git forgets nothing but what was never committed, and a forced push takes it from everybody",
    ),
    domain(
        "system",
        "processes, services, power, users, packages, logs and protections of the machine",
        "it ends or weakens what other people and programs rely on",
    ),
    domain(
        "cloud",
        "infrastructure behind a command line: clusters, providers, what builds it and what holds its state",
        "one command deletes what no repository holds, and bills for it",
    ),
    domain(
        "database",
        "statements that drop, empty or change whole tables, and databases as such",
        "data has no undo, and an agent seldom knows which database it is connected to",
    ),
    domain(
        "mail",
        "messages sent to people, and the mail that is kept for them",
        "what was sent cannot be called back, and it speaks in somebody's name",
    ),
    domain(
        "packages",
        "publishing, installing from unusual sources, and removing what the system needs",
        "what is published cannot be taken back, and what is installed runs code at once",
    ),
    domain(
        "written",
        "what a file that is written will do when it is executed: scripts, hooks, pipelines, manifests, the shell lines and hooks of skills",
        "a command that may not run now may not be left where something else runs it later",
    ),
    domain(
        "powershell",
        "the plain destructive forms of PowerShell and of Windows' command line",
        "the same harm in another shell, which some agents are given",
    ),
    domain(
        "tools",
        "tools of servers that lazaret does not know, by the verbs in their names and by their arguments",
        "they reach mail, tickets, databases and clouds without a shell in between",
    ),
];

/// The domain of a rule's id.
pub fn of(id: &str) -> Option<&'static Domain> {
    let (name, _) = id.split_once('.')?;
    DOMAINS.iter().find(|domain| domain.name == name)
}
