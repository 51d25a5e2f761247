//! Files from which a client, or git, runs something without a call that is asked about.

/// What such a file is, and so how it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Surface {
    /// A skill, command or agent of Claude Code: shell lines, `hooks:`, `mcpServers:`.
    ClaudePrompt,
    /// A command or agent of OpenCode: shell lines.
    OpenCodePrompt,
    /// A tool of OpenCode: code that runs when the model calls it, and what stands at its top when the client starts.
    Tool,
    /// A plugin of OpenCode: code that runs beside the gate.
    Plugin,
    /// `opencode.json`.
    OpenCodeSettings,
    /// `.mcp.json`.
    Servers,
    /// `.claude.json`, of which only the servers count: the client writes it all the time.
    ClaudeState,
    /// The manifest or hooks of an installed plugin of Claude Code.
    ClaudePlugin,
    /// A `package.json` that a client installs by itself.
    Package,
    /// A configuration of git.
    GitConfig,
    /// A hook of git.
    GitHook,
}

/// One thing that such a file has run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Run {
    /// A command line for a shell, and the setting that has it run where that matters.
    Command { text: String, by: String },
    /// A file of code, or of a shell.
    Code { name: String, text: String },
    /// A server that is talked to.
    Address(String),
    /// It is asked about whatever is in it; why.
    Always(String),
    /// It may run anything: why it cannot be read with certainty.
    Unread(String),
}

impl Run {
    /// A command line, whatever has it run.
    pub fn command(text: impl Into<String>) -> Run {
        Run::Command { text: text.into(), by: String::new() }
    }
}
