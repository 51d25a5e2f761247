//! The clients, and what the rest of the house asks of each: one entry in one table.

use super::words;

words! {
    /// The client that sent a message.
    #[derive(Hash)]
    Client {
        ClaudeCode = "claude-code",
        OpenCode = "opencode",
        Codex = "codex",
    }
}

/// What a client reads from one of its directories: single files, whole trees, and the agent that works in quarantine where agents
/// are defined.
#[derive(Debug)]
pub struct Reads {
    pub files: &'static [&'static str],
    pub trees: &'static [&'static str],
    pub agents: &'static [&'static str],
}

/// The files of a client that are watched with calls, by the event at which they are looked at.
#[derive(Debug)]
pub struct WatchedFiles {
    pub before: &'static [&'static str],
    pub after: &'static [&'static str],
    /// After a call, in the client's directory of the project.
    pub of_project: &'static [&'static str],
}

/// What there is to know of a client.
#[derive(Debug)]
pub struct About {
    /// The name of its program.
    pub program: &'static str,
    /// What it calls its shell.
    pub shell: &'static str,
    /// Its directory below the home directory.
    pub home: &'static str,
    /// Its directory in a project.
    pub project: &'static str,
    /// What it reads in its directory of the user, and in that of a project.
    pub reads: Reads,
    pub reads_of_project: Reads,
    /// All of its own lies in that one directory of the user, and these of its files are watched. Of the others more is known elsewhere.
    pub one_home: bool,
    /// The variable that names another directory of the user.
    pub variable: Option<&'static str>,
    pub watched: WatchedFiles,
    /// Whether it is started so by these arguments that it asks no hook; one that is not known is none.
    pub off: fn(&[Option<&str>]) -> bool,
    /// Where whoever manages the machine puts its settings.
    pub managed: &'static str,
    /// It has agents that can be held to three tools: a review can be run with it.
    pub reviews: bool,
    /// What its model types into a program that was started on a terminal is seen by no hook.
    pub types_unseen: bool,
    /// The process of a hook works in the session's directory, whatever directory a call names.
    pub hook_in_session: bool,
}

const CLAUDE_AGENTS: &[&str] = &["agents/quarantine-reviewer.md"];
const CLAUDE_FILES: &[&str] = &["settings.json", "settings.local.json"];
const OPENCODE_READS: Reads = Reads {
    files: &["opencode.json", "opencode.jsonc", "config.json"],
    trees: &["plugin", "plugins"],
    agents: &["agent/quarantine-reviewer.md", "agents/quarantine-reviewer.md"],
};

const NOTHING: WatchedFiles = WatchedFiles { before: &[], after: &[], of_project: &[] };

const CLAUDE_CODE: About = About {
    program: "claude",
    shell: "Bash",
    home: ".claude",
    project: ".claude",
    reads: Reads { files: CLAUDE_FILES, trees: &["hooks", "plugins"], agents: CLAUDE_AGENTS },
    // Its hooks are the person's own work, of which `selfprotect.hooks-changed` asks.
    reads_of_project: Reads { files: CLAUDE_FILES, trees: &["plugins"], agents: CLAUDE_AGENTS },
    one_home: false,
    variable: Some("CLAUDE_CONFIG_DIR"),
    watched: NOTHING,
    off: |_| false,
    managed: by_system("/etc/claude-code", "/Library/Application Support/ClaudeCode"),
    reviews: true,
    types_unseen: false,
    hook_in_session: false,
};
const OPENCODE: About = About {
    program: "opencode",
    shell: "bash",
    home: ".config/opencode",
    project: ".opencode",
    reads: OPENCODE_READS,
    reads_of_project: OPENCODE_READS,
    one_home: false,
    variable: None,
    watched: NOTHING,
    off: |_| false,
    managed: by_system("/etc/opencode", "/Library/Application Support/opencode"),
    reviews: true,
    types_unseen: false,
    hook_in_session: false,
};

/// The place on Linux, or on macOS.
const fn by_system(linux: &'static str, macos: &'static str) -> &'static str {
    if cfg!(target_os = "macos") { macos } else { linux }
}

const CODEX: About = About {
    program: "codex",
    shell: "Bash",
    home: ".codex",
    project: ".codex",
    // `.env` is taken into the environment of Codex and so of its hooks.
    reads: Reads {
        files: &["config.toml", "hooks.json", "requirements.toml", "managed_config.toml", ".env"],
        // `tmp` is in front of the search path of what it starts.
        trees: &["hooks", "plugins", "rules", "tmp"],
        agents: &[],
    },
    reads_of_project: Reads { files: &["config.toml", "hooks.json"], trees: &[], agents: &[] },
    one_home: true,
    variable: Some("CODEX_HOME"),
    watched: WatchedFiles {
        before: &["hooks.json", "config.toml"],
        after: &["config.toml"],
        of_project: &["config.toml"],
    },
    off: codex_off,
    managed: "/etc/codex",
    reviews: false,
    types_unseen: true,
    hook_in_session: true,
};

/// The names of the clients' programs.
pub const PROGRAMS: &[&str] = &["claude", "opencode", "opencode2", "codex"];
/// Their processes, and those of the guard, as their names and command lines read.
pub const PROCESSES: &[&str] = &[
    "claude",
    "opencode",
    "opencode2",
    "codex",
    "lazaret",
    "lazaret hook claude-code",
    "lazaret hook opencode",
    "lazaret hook codex",
];
/// The packages that they come in, as a registry names them.
pub const PACKAGES: &[&str] = &["@anthropic-ai/claude-code", "opencode-ai", "@opencode/cli", "@openai/codex"];
/// What they log in with, below the home directory.
pub const CREDENTIALS: &[&str] =
    &[".claude/.credentials.json", ".local/share/opencode/auth.json", ".codex/auth.json"];
/// What they read in a home directory before they do anything: single files, and whole trees.
pub const HOME_SETTINGS: &[&str] = &[
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".config/opencode/opencode.json",
    ".config/opencode/opencode.jsonc",
    ".config/opencode/config.json",
    ".codex/config.toml",
    ".codex/hooks.json",
];
pub const HOME_TREES: &[&str] = &[
    ".claude/hooks/",
    ".claude/plugins/",
    ".config/opencode/plugin/",
    ".config/opencode/plugins/",
    ".codex/hooks/",
    ".codex/tmp/",
];

/// Codex started so that it reads other settings, or none, or under a command of its own that asks no hook.
fn codex_off(args: &[Option<&str>]) -> bool {
    const OFF: &[&str] =
        &["--ignore-user-config", "--dangerously-bypass-hook-trust", "--profile", "--remote", "--worktree"];
    const VALUED: &[&str] = &["-c", "--config", "--disable", "--enable"];
    const SERVED: &[&str] =
        &["app-server", "exec-server", "remote-control", "mcp-server", "sandbox", "cloud"];
    let known = || args.iter().copied().flatten();
    let leads = |value: &str| value.contains("hooks") || value.starts_with("features");
    let valued = args.iter().enumerate().any(|(at, arg)| {
        let Some(arg) = arg else { return false };
        let (name, attached) = arg.split_once('=').map_or((*arg, None), |(name, value)| (name, Some(value)));
        let next = || args.get(at + 1).copied().flatten();
        VALUED.contains(&name) && attached.or_else(next).is_none_or(leads)
            || arg.strip_prefix("-c").is_some_and(|value| !value.is_empty() && leads(value))
    });
    let sub = known().find(|arg| !arg.starts_with('-'));
    let features = sub == Some("features") && known().any(|arg| arg == "disable");
    let profile = known().any(|arg| arg.starts_with("-p") && !arg.starts_with("--"));
    let by_option = known().any(|arg| OFF.contains(&arg.split('=').next().unwrap_or(arg)));
    sub.is_some_and(|sub| SERVED.contains(&sub)) || features || valued || profile || by_option
}

impl Client {
    pub const fn about(self) -> &'static About {
        match self {
            Client::ClaudeCode => &CLAUDE_CODE,
            Client::OpenCode => &OPENCODE,
            Client::Codex => &CODEX,
        }
    }

    /// The client whose program has that name.
    pub fn of_program(name: &str) -> Option<Client> {
        Client::ALL.into_iter().find(|client| client.about().program == name)
    }
}
