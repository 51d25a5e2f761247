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

const CLAUDE_CODE: About = About {
    program: "claude",
    shell: "Bash",
    home: ".claude",
    project: ".claude",
    reads: Reads { files: CLAUDE_FILES, trees: &["hooks", "plugins"], agents: CLAUDE_AGENTS },
    // Its hooks are the person's own work, of which `selfprotect.hooks-changed` asks.
    reads_of_project: Reads { files: CLAUDE_FILES, trees: &["plugins"], agents: CLAUDE_AGENTS },
    managed: "/etc/claude-code",
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
    managed: "/etc/opencode",
    reviews: true,
    types_unseen: false,
    hook_in_session: false,
};

const CODEX: About = About {
    program: "codex",
    shell: "Bash",
    home: ".codex",
    project: ".codex",
    // `.env` is taken into the environment of Codex and so of its hooks.
    reads: Reads {
        files: &["config.toml", "hooks.json", "requirements.toml", "managed_config.toml", ".env"],
        trees: &["hooks", "plugins", "rules"],
        agents: &[],
    },
    reads_of_project: Reads {
        files: &["config.toml", "hooks.json", "requirements.toml", "managed_config.toml"],
        trees: &[],
        agents: &[],
    },
    managed: "/etc/codex",
    reviews: false,
    types_unseen: true,
    hook_in_session: true,
};

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
