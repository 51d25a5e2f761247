//! One message of a client, in our own words.

use super::Client;

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub struct $name(String);

        impl $name {
            /// Longest accepted length in bytes.
            pub const MAX: usize = 256;

            /// The id, or nothing when it is empty or longer than [`Self::MAX`] bytes.
            pub fn new(text: &str) -> Option<Self> {
                (!text.is_empty() && text.len() <= Self::MAX).then(|| Self(text.to_owned()))
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }
    };
}

text_id!(
    /// A client session, as the client names it.
    SessionId
);
text_id!(
    /// A subagent inside a session, as the client names it.
    AgentId
);
text_id!(
    /// One tool call: joins what is reported before it with what is reported after it.
    CallId
);

/// Who acts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    pub client: Client,
    pub session: SessionId,
    /// The subagent; none for the main agent.
    pub agent: Option<AgentId>,
    /// The kind of agent (`general-purpose`, `quarantine-reviewer`, `lazaret:quarantine-reviewer`, `build`).
    pub agent_type: Option<String>,
}

/// Whether the client really puts a question to a person before a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asking {
    /// A question is put, or the call does not run.
    Yes,
    /// The same where the client runs in a terminal; elsewhere it may run the call without a question.
    AtTerminal,
    /// The client has no questions, or runs some calls without one: what would be asked is denied.
    No,
}

impl Asking {
    /// What it is once it is known whether the client runs in a terminal.
    #[must_use]
    pub const fn settled(self, at_terminal: bool) -> Asking {
        match self {
            Asking::AtTerminal if at_terminal => Asking::Yes,
            Asking::AtTerminal | Asking::No => Asking::No,
            Asking::Yes => Asking::Yes,
        }
    }
}

/// How far an agent is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    Ordinary,
    Quarantined,
}

/// A tool in the one vocabulary that both clients' names are mapped to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tool {
    Bash,
    Monitor,
    Read,
    Write,
    Edit,
    NotebookEdit,
    Grep,
    Glob,
    Agent,
    WebFetch,
    WebSearch,
    /// A built-in tool of a client that touches nothing on the machine by itself (to-do lists, modes, questions).
    Internal(String),
    /// A tool of an MCP server.
    Mcp {
        server: String,
        tool: String,
    },
    /// A tool we do not know.
    Unknown(String),
}

impl Tool {
    /// Whether the model has a skill or command expanded by it, shell lines and all.
    pub fn starts_prompts(&self) -> bool {
        const NAMES: &[&str] = &["Skill", "SlashCommand", "skill", "slashcommand"];
        matches!(self, Tool::Internal(name) | Tool::Unknown(name) if NAMES.contains(&name.as_str()))
    }

    /// The name shown in messages and the audit log.
    pub fn name(&self) -> std::borrow::Cow<'_, str> {
        use std::borrow::Cow;
        match self {
            Tool::Bash => Cow::Borrowed("Bash"),
            Tool::Monitor => Cow::Borrowed("Monitor"),
            Tool::Read => Cow::Borrowed("Read"),
            Tool::Write => Cow::Borrowed("Write"),
            Tool::Edit => Cow::Borrowed("Edit"),
            Tool::NotebookEdit => Cow::Borrowed("NotebookEdit"),
            Tool::Grep => Cow::Borrowed("Grep"),
            Tool::Glob => Cow::Borrowed("Glob"),
            Tool::Agent => Cow::Borrowed("Agent"),
            Tool::WebFetch => Cow::Borrowed("WebFetch"),
            Tool::WebSearch => Cow::Borrowed("WebSearch"),
            Tool::Internal(name) | Tool::Unknown(name) => Cow::Borrowed(name.as_str()),
            Tool::Mcp { server, tool } => Cow::Owned(format!("mcp__{server}__{tool}")),
        }
    }
}

/// Which search tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchKind {
    /// The lines are shown that hold the pattern as it is written.
    Grep,
    /// The same, and more: the lines around them, or those that hold it in another case.
    Around,
    /// The same, where only names of files or numbers are shown.
    Names,
    Glob,
}

impl SearchKind {
    /// Whether what stands in the files is shown, and not only their names.
    #[must_use]
    pub const fn shows_lines(self) -> bool {
        matches!(self, Self::Grep | Self::Around)
    }
}

/// What a call asks for, decoded only as far as a check needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// A command line for a shell. `workdir` is where the client will run it, when that is not the session's directory.
    Shell {
        command: String,
        workdir: Option<String>,
    },
    Read {
        path: String,
    },
    /// The whole content of a file; `content` is empty when it was longer than [`Action::MAX_CONTENT`], and `long` says about how many bytes it had.
    Write {
        path: String,
        content: String,
        long: Option<u32>,
    },
    /// A change to a part of a file; `content` is the new text.
    Edit {
        path: String,
        content: String,
        long: Option<u32>,
    },
    Search {
        kind: SearchKind,
        pattern: String,
        path: Option<String>,
        glob: Option<String>,
    },
    /// `prompt` is what the page is to be looked at for; empty where the client says nothing of it.
    Fetch {
        url: String,
        prompt: String,
    },
    /// `options` are the arguments that say more of the agent than its type, its task and how it runs: name and raw value.
    Spawn {
        agent_type: Option<String>,
        prompt: String,
        options: Vec<(String, String)>,
    },
    /// Anything else; `text` is the raw JSON of the arguments, at most [`Action::MAX_CONTENT`] bytes of it. `claims` is what
    /// they say of themselves, for tools of which nothing else is known.
    Other {
        text: String,
        claims: Vec<Claim>,
    },
}

/// What an argument of a tool that we do not know is, going by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// A command line for a shell.
    Command(String),
    /// Code in another language, or in one that is not named.
    Code(String),
    File {
        path: String,
        usage: Usage,
    },
    /// There is more than is looked at.
    Unread,
}

/// What a tool does with a file, going by the tool's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Usage {
    Read,
    Write,
    Delete,
    /// The argument's name does not say that it is a file at all.
    Unsaid,
}

impl Action {
    /// Longest content, in bytes, that is kept for a look at it.
    pub const MAX_CONTENT: usize = 256 * 1024;
}

/// A tool call before or after it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    pub tool: Tool,
    pub action: Action,
    pub id: Option<CallId>,
}

/// What an agent's call of the agent tool came back with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentReport {
    /// The agent that ran, as far as the client says.
    pub agent: Option<AgentId>,
    pub agent_type: Option<String>,
    /// It has ended; else it works on elsewhere, and `text` is no report.
    pub completed: bool,
    /// In the agent's own words.
    pub text: String,
}

/// What the client reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    BeforeTool(ToolCall),
    AfterTool {
        call: ToolCall,
        outcome: super::Outcome,
        error: Option<String>,
        duration_ms: Option<u64>,
        /// Of a call of the agent tool that did not fail.
        report: Option<AgentReport>,
    },
    Prompt {
        text: String,
    },
    SessionStart {
        source: String,
    },
    SessionEnd {
        reason: String,
    },
    SubagentStart,
    SubagentStop {
        message: Option<String>,
    },
    /// A settings file of the client changed; the change takes effect unless it is refused.
    ConfigChange {
        source: String,
        path: Option<String>,
    },
    /// Any other event, by the client's name for it: recorded, never judged.
    Other {
        name: String,
    },
}

/// One message of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    pub subject: Subject,
    /// The session's working directory, absolute.
    pub cwd: String,
    /// The file in which the client keeps the session, as far as it says so.
    pub transcript: Option<String>,
    /// The person's prompt that this call belongs to.
    pub prompt_id: Option<String>,
    pub asking: Asking,
    /// The client lets the call work on after its end.
    pub background: bool,
    pub event: Event,
}
