//! The tools of a quarantined agent: the few that it may use, and what the others could do to whom. The allowlist decides;
//! the table of denied tools says why, for messages, the audit log and the configuration.

use crate::domain::{RiskLevel, Tool, clip, escape};

/// A tool that a quarantined agent may use. There is no list of forbidden ones that decides: what is not here is denied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AllowedTool {
    Read,
    Grep,
    Glob,
}

impl AllowedTool {
    pub const ALL: [AllowedTool; 3] = [AllowedTool::Read, AllowedTool::Grep, AllowedTool::Glob];

    pub const fn name(self) -> &'static str {
        match self {
            AllowedTool::Read => "Read",
            AllowedTool::Grep => "Grep",
            AllowedTool::Glob => "Glob",
        }
    }

    /// The arguments that are passed on, as either client calls them where there is no word of ours.
    pub const fn arguments(self) -> &'static [&'static str] {
        match self {
            AllowedTool::Read => &["file_path", "offset", "limit", "pages"],
            AllowedTool::Grep => &[
                "pattern",
                "path",
                "glob",
                "output_mode",
                "-A",
                "-B",
                "-C",
                "context",
                "-n",
                "-i",
                "-o",
                "type",
                "head_limit",
                "offset",
                "multiline",
            ],
            AllowedTool::Glob => &["pattern", "path"],
        }
    }

    /// The allowed tool that this is.
    pub const fn of(tool: &Tool) -> Option<AllowedTool> {
        match tool {
            Tool::Read => Some(AllowedTool::Read),
            Tool::Grep => Some(AllowedTool::Grep),
            Tool::Glob => Some(AllowedTool::Glob),
            Tool::Bash
            | Tool::Monitor
            | Tool::Write
            | Tool::Edit
            | Tool::NotebookEdit
            | Tool::Agent
            | Tool::WebFetch
            | Tool::WebSearch
            | Tool::Internal(_)
            | Tool::Mcp { .. }
            | Tool::Unknown(_) => None,
        }
    }
}

/// What a denied tool would do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Category {
    Execution,
    Writing,
    Network,
    /// Starts other agents, now or later.
    Spawning,
    /// Puts text in front of other agents or of a person.
    Messaging,
    /// Brings instructions or further tools into the agent's context.
    Instructions,
    /// Reads files that no reference grants.
    Reading,
    /// Acts on what other agents of the client session do.
    Session,
    /// A program that somebody connected to the client.
    External,
    /// Lists and modes of the agent itself.
    Bookkeeping,
    Unknown,
}

impl Category {
    pub const fn name(self) -> &'static str {
        match self {
            Category::Execution => "execution",
            Category::Writing => "writing",
            Category::Network => "network",
            Category::Spawning => "spawning",
            Category::Messaging => "messaging",
            Category::Instructions => "instructions",
            Category::Reading => "reading",
            Category::Session => "session",
            Category::External => "external",
            Category::Bookkeeping => "bookkeeping",
            Category::Unknown => "unknown",
        }
    }
}

/// The attack scenario of SECURITY.md that a denied tool belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scenario {
    /// A quarantined agent uses a tool that writes, executes or talks to the network.
    ForbiddenTool,
    /// It reaches for what belongs to another session.
    ForeignSession,
    /// It reads outside what was granted.
    PathEscape,
    /// It floods the machine with calls or agents.
    Flood,
    /// Text of the reviewed code reaches the trusted agent.
    TaintEscape,
}

impl Scenario {
    pub const fn code(self) -> &'static str {
        match self {
            Scenario::ForbiddenTool => "AS-001",
            Scenario::ForeignSession => "AS-003",
            Scenario::PathEscape => "AS-004",
            Scenario::Flood => "AS-006",
            Scenario::TaintEscape => "AS-009",
        }
    }
}

/// Why a tool is denied in quarantine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Denied {
    pub risk: RiskLevel,
    pub category: Category,
    pub scenario: Scenario,
    /// What the tool does: completes "it …".
    pub why: &'static str,
}

/// A denied tool with the names that the clients and their versions give it.
#[derive(Debug)]
pub struct Row {
    pub names: &'static [&'static str],
    pub denied: Denied,
}

const fn row(
    names: &'static [&'static str],
    risk: RiskLevel,
    category: Category,
    scenario: Scenario,
    why: &'static str,
) -> Row {
    Row { names, denied: Denied { risk, category, scenario, why } }
}

/// The denied tools of both clients.
#[rustfmt::skip]
pub const DENIED: &[Row] = {
    use Category::{Bookkeeping, Execution, External, Instructions, Messaging, Network, Reading, Session, Spawning, Writing};
    use RiskLevel::{Critical, High, Low, Medium};
    use Scenario::{Flood, ForbiddenTool, ForeignSession, PathEscape, TaintEscape};
    &[
        row(&["Bash", "shell"], Critical, Execution, ForbiddenTool, "runs any program with the rights of the person"),
        row(&["PowerShell"], Critical, Execution, ForbiddenTool, "runs any program with the rights of the person"),
        row(&["Monitor"], Critical, Execution, ForbiddenTool, "runs a command in the background or opens a connection"),
        row(&["LSP"], High, Execution, ForbiddenTool, "starts language servers, which run build scripts of the code under review"),
        row(&["Write"], Critical, Writing, ForbiddenTool, "writes whole files"),
        row(&["Edit", "MultiEdit"], Critical, Writing, ForbiddenTool, "changes files"),
        row(&["apply_patch", "patch"], Critical, Writing, ForbiddenTool, "changes, creates and deletes files"),
        row(&["NotebookEdit"], High, Writing, ForbiddenTool, "changes notebooks, whose cells are run later"),
        row(&["EnterWorktree"], High, Writing, ForbiddenTool, "makes a work tree and moves the agent there"),
        row(&["ExitWorktree"], High, Writing, ForbiddenTool, "leaves a work tree and may throw its changes away"),
        row(&["WebFetch"], High, Network, ForbiddenTool, "sends what stands in an address to any host"),
        row(&["WebSearch", "codesearch"], High, Network, ForbiddenTool, "sends its query to a search service"),
        row(&["Agent", "Task", "subagent"], Critical, Spawning, ForbiddenTool, "starts an agent that is not in quarantine"),
        row(&["Workflow"], Critical, Spawning, Flood, "runs a script that starts agents"),
        row(&["CronCreate"], High, Spawning, Flood, "sets prompts for later, for agents that are not in quarantine"),
        row(&["CronDelete"], Medium, Session, ForeignSession, "takes scheduled prompts away"),
        row(&["CronList"], Low, Session, ForeignSession, "shows scheduled prompts of the client session"),
        row(&["ScheduleWakeup"], High, Spawning, Flood, "lets the client go on by itself later"),
        row(&["TeamCreate", "TeamDelete"], Medium, Session, ForeignSession, "names the agents of a session, or ends that"),
        row(&["SendMessage"], High, Messaging, TaintEscape, "puts text into another agent's context"),
        row(&["AskUserQuestion", "question"], Medium, Messaging, TaintEscape, "puts text of its choice before the person"),
        row(&["ReportFindings"], Medium, Messaging, TaintEscape, "reports past the schema and the cleaning"),
        row(&["StructuredOutput"], Medium, Messaging, TaintEscape, "reports past the schema and the cleaning"),
        row(&["ProposeGoal"], Medium, Messaging, TaintEscape, "proposes what the client session is to aim at"),
        row(&["Skill"], High, Instructions, ForbiddenTool, "loads instructions and scripts, from the code under review too"),
        row(&["ToolSearch"], Medium, Instructions, ForbiddenTool, "brings further tools into reach"),
        row(&["NotebookRead"], Medium, Reading, PathEscape, "reads files that no reference grants"),
        row(&["LS", "list"], Medium, Reading, PathEscape, "lists directories that no reference grants"),
        row(&["BashOutput", "TaskOutput"], Medium, Session, ForeignSession, "reads what commands of other agents print"),
        row(&["KillShell", "TaskStop"], Medium, Session, ForeignSession, "ends what other agents started"),
        row(&["ListAgents"], Low, Session, ForeignSession, "shows the agents of the client session"),
        row(&["TaskCreate", "TaskUpdate"], Medium, Messaging, TaintEscape, "writes into the list of tasks that all agents read"),
        row(&["TaskGet", "TaskList"], Low, Session, ForeignSession, "reads the list of tasks of all agents"),
        row(&["ReadMcpResourceTool", "ListMcpResourcesTool"], High, External, ForbiddenTool, "asks a connected program for its data"),
        row(&["TodoWrite", "TodoRead"], Low, Bookkeeping, TaintEscape, "keeps a list of its own"),
        row(&["EnterPlanMode", "plan_enter"], Low, Bookkeeping, TaintEscape, "changes its mode"),
        row(&["ExitPlanMode", "plan_exit"], Medium, Messaging, TaintEscape, "puts a plan before the person and asks to carry it out"),
        row(&["invalid"], Low, Bookkeeping, TaintEscape, "hands an error of its own back to the agent"),
    ]
};

/// Every tool of an MCP server.
pub const DENIED_MCP: Denied = Denied {
    risk: RiskLevel::High,
    category: Category::External,
    scenario: Scenario::ForbiddenTool,
    why: "belongs to a program that somebody connected, which may do anything",
};

/// Every tool that is in no list.
pub const DENIED_UNKNOWN: Denied = Denied {
    risk: RiskLevel::High,
    category: Category::Unknown,
    scenario: Scenario::ForbiddenTool,
    why: "is a tool that lazaret does not know",
};

/// Why `tool` is denied in quarantine; nothing when it is allowed.
pub fn denied(tool: &Tool) -> Option<Denied> {
    if AllowedTool::of(tool).is_some() {
        return None;
    }
    Some(match tool {
        Tool::Mcp { .. } => DENIED_MCP,
        // A name decides nothing here: an unknown tool that is called `Read` stays unknown.
        Tool::Unknown(_) => DENIED_UNKNOWN,
        known => listed(&known.name()).unwrap_or(DENIED_UNKNOWN),
    })
}

fn listed(name: &str) -> Option<Denied> {
    let has = |row: &&Row| row.names.iter().any(|known| known.eq_ignore_ascii_case(name));
    DENIED.iter().find(has).map(|row| row.denied)
}

/// Why a name that somebody wants to add to the allowlist is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WhyNot {
    /// As it was written, safe to print.
    pub name: String,
    pub denied: Denied,
}

impl std::fmt::Display for WhyNot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "`{}` cannot be allowed in quarantine: it {} ({}, risk {})",
            self.name,
            self.denied.why,
            self.denied.scenario.code(),
            crate::domain::Level::name(self.denied.risk)
        )
    }
}

/// Whether a configuration may name this tool, as either client spells it, in the allowlist of quarantined agents: those
/// that are on it already, and those that reach nothing but the agent itself. A tool that writes, executes, spawns, talks
/// to anybody or reads elsewhere never may, and neither may an unknown one.
pub fn may_be_allowed(name: &str) -> Result<(), WhyNot> {
    if AllowedTool::ALL.iter().any(|tool| tool.name().eq_ignore_ascii_case(name)) {
        return Ok(());
    }
    let mcp = name.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("mcp__"));
    let denied = if mcp { DENIED_MCP } else { listed(name).unwrap_or(DENIED_UNKNOWN) };
    match denied.category {
        Category::Bookkeeping => Ok(()),
        Category::Execution
        | Category::Writing
        | Category::Network
        | Category::Spawning
        | Category::Messaging
        | Category::Instructions
        | Category::Reading
        | Category::Session
        | Category::External
        | Category::Unknown => Err(WhyNot { name: clip(&escape(name), 80), denied }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_large_enough_and_names_nothing_twice() {
        assert!(DENIED.len() >= 23, "{} rows", DENIED.len());
        let mut names: Vec<String> =
            DENIED.iter().flat_map(|row| row.names).map(|name| name.to_ascii_lowercase()).collect();
        names.extend(AllowedTool::ALL.map(|tool| tool.name().to_ascii_lowercase()));
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(DENIED.iter().all(|row| !row.denied.why.is_empty() && !row.names.is_empty()));
    }

    /// Both clients' tools, as their names are known to the adapters.
    #[test]
    fn every_known_tool_has_its_row() {
        let variants = [
            Tool::Bash,
            Tool::Monitor,
            Tool::Write,
            Tool::Edit,
            Tool::NotebookEdit,
            Tool::Agent,
            Tool::WebFetch,
            Tool::WebSearch,
        ];
        let vocabulary = include_str!("../adapters/vocabulary.rs");
        let (_, names) = vocabulary.split_once("fn claude_tool(").unwrap();
        let (names, _) = names.split_once("/// What a call of").unwrap();
        let internal = names.split('"').skip(1).step_by(2).filter(|name| !matches!(*name, "mcp__" | "__"));
        let internal: Vec<Tool> = internal
            .filter(|name| !AllowedTool::ALL.iter().any(|tool| tool.name().eq_ignore_ascii_case(name)))
            .map(|name| Tool::Internal(name.to_owned()))
            .collect();
        assert!(internal.len() > 50, "{internal:?}");
        for tool in variants.into_iter().chain(internal) {
            assert!(denied(&tool).is_some_and(|denied| denied.category != Category::Unknown), "{tool:?}");
        }
    }

    #[test]
    fn what_is_allowed_is_not_denied_and_everything_else_is() {
        for tool in [Tool::Read, Tool::Grep, Tool::Glob] {
            assert_eq!(denied(&tool), None);
        }
        assert_eq!(denied(&Tool::Bash).map(|denied| denied.risk), Some(RiskLevel::Critical));
        let mcp = Tool::Mcp { server: "s".to_owned(), tool: "read".to_owned() };
        assert_eq!(denied(&mcp), Some(DENIED_MCP));
        for name in ["Invented", "Read", "read", "Bash", ""] {
            assert_eq!(denied(&Tool::Unknown(name.to_owned())), Some(DENIED_UNKNOWN));
        }
        assert_eq!(DENIED_UNKNOWN.risk, RiskLevel::High);
    }

    #[test]
    fn the_allowlist_cannot_be_widened_to_what_reaches_out() {
        for name in ["Read", "grep", "Glob", "TodoWrite", "todoread"] {
            assert_eq!(may_be_allowed(name), Ok(()), "{name}");
        }
        for name in [
            "Bash",
            "bash",
            "BASH",
            "Write",
            "edit",
            "apply_patch",
            "NotebookEdit",
            "Task",
            "agent",
            "Workflow",
            "CronCreate",
            "WebFetch",
            "websearch",
            "SendMessage",
            "Skill",
            "lsp",
            "mcp__x__read",
            "MCP__x",
            "Invented",
            "*",
            "",
            " Read",
            "Read ",
            "R\u{435}ad",
        ] {
            assert!(may_be_allowed(name).is_err(), "{name}");
        }
        assert_eq!(
            may_be_allowed("bash").unwrap_err().to_string(),
            "`bash` cannot be allowed in quarantine: it runs any program with the rights of the person (AS-001, risk critical)"
        );
    }
}
