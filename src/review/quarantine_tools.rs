//! The tools of a quarantined agent: the few that it may use, and what the others could do to whom. The allowlist decides;
//! the table of denied tools says why, for messages, the audit log and the configuration.

use crate::domain::{RiskLevel, Tool, words};

words! {
    /// A tool that a quarantined agent may use. There is no list of forbidden ones that decides: what is not here is denied.
    AllowedTool {
        Read = "Read",
        Grep = "Grep",
        Glob = "Glob",
    }
}

impl AllowedTool {
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

const fn row(names: &'static [&'static str], risk: RiskLevel, scenario: Scenario, why: &'static str) -> Row {
    Row { names, denied: Denied { risk, scenario, why } }
}

/// The denied tools of both clients.
#[rustfmt::skip]
pub const DENIED: &[Row] = {
    use RiskLevel::{Critical, High, Low, Medium};
    use Scenario::{Flood, ForbiddenTool, ForeignSession, PathEscape, TaintEscape};
    &[
        row(&["Bash", "shell"], Critical, ForbiddenTool, "runs any program with the rights of the person"),
        row(&["PowerShell"], Critical, ForbiddenTool, "runs any program with the rights of the person"),
        row(&["Monitor"], Critical, ForbiddenTool, "runs a command in the background or opens a connection"),
        row(&["LSP"], High, ForbiddenTool, "starts language servers, which run build scripts of the code under review"),
        row(&["Write"], Critical, ForbiddenTool, "writes whole files"),
        row(&["Edit", "MultiEdit"], Critical, ForbiddenTool, "changes files"),
        row(&["apply_patch", "patch"], Critical, ForbiddenTool, "changes, creates and deletes files"),
        row(&["NotebookEdit"], High, ForbiddenTool, "changes notebooks, whose cells are run later"),
        row(&["EnterWorktree"], High, ForbiddenTool, "makes a work tree and moves the agent there"),
        row(&["ExitWorktree"], High, ForbiddenTool, "leaves a work tree and may throw its changes away"),
        row(&["WebFetch"], High, ForbiddenTool, "sends what stands in an address to any host"),
        row(&["WebSearch", "codesearch"], High, ForbiddenTool, "sends its query to a search service"),
        row(&["Agent", "Task", "subagent"], Critical, ForbiddenTool, "starts an agent that is not in quarantine"),
        row(&["Workflow"], Critical, Flood, "runs a script that starts agents"),
        row(&["CronCreate"], High, Flood, "sets prompts for later, for agents that are not in quarantine"),
        row(&["CronDelete"], Medium, ForeignSession, "takes scheduled prompts away"),
        row(&["CronList"], Low, ForeignSession, "shows scheduled prompts of the client session"),
        row(&["ScheduleWakeup"], High, Flood, "lets the client go on by itself later"),
        row(&["TeamCreate", "TeamDelete"], Medium, ForeignSession, "names the agents of a session, or ends that"),
        row(&["SendMessage"], High, TaintEscape, "puts text into another agent's context"),
        row(&["AskUserQuestion", "question"], Medium, TaintEscape, "puts text of its choice before the person"),
        row(&["ReportFindings"], Medium, TaintEscape, "reports past the schema and the cleaning"),
        row(&["StructuredOutput"], Medium, TaintEscape, "reports past the schema and the cleaning"),
        row(&["ProposeGoal"], Medium, TaintEscape, "proposes what the client session is to aim at"),
        row(&["Skill"], High, ForbiddenTool, "loads instructions and scripts, from the code under review too"),
        row(&["ToolSearch"], Medium, ForbiddenTool, "brings further tools into reach"),
        row(&["NotebookRead"], Medium, PathEscape, "reads files that no reference grants"),
        row(&["LS", "list"], Medium, PathEscape, "lists directories that no reference grants"),
        row(&["BashOutput", "TaskOutput"], Medium, ForeignSession, "reads what commands of other agents print"),
        row(&["KillShell", "TaskStop"], Medium, ForeignSession, "ends what other agents started"),
        row(&["ListAgents"], Low, ForeignSession, "shows the agents of the client session"),
        row(&["TaskCreate", "TaskUpdate"], Medium, TaintEscape, "writes into the list of tasks that all agents read"),
        row(&["TaskGet", "TaskList"], Low, ForeignSession, "reads the list of tasks of all agents"),
        row(&["ReadMcpResourceTool", "ListMcpResourcesTool"], High, ForbiddenTool, "asks a connected program for its data"),
        row(&["TodoWrite", "TodoRead"], Low, TaintEscape, "keeps a list of its own"),
        row(&["EnterPlanMode", "plan_enter"], Low, TaintEscape, "changes its mode"),
        row(&["ExitPlanMode", "plan_exit"], Medium, TaintEscape, "puts a plan before the person and asks to carry it out"),
        row(&["invalid"], Low, TaintEscape, "hands an error of its own back to the agent"),
    ]
};

/// Every tool of an MCP server.
pub const DENIED_MCP: Denied = Denied {
    risk: RiskLevel::High,
    scenario: Scenario::ForbiddenTool,
    why: "belongs to a program that somebody connected, which may do anything",
};

/// Every tool that is in no list.
pub const DENIED_UNKNOWN: Denied = Denied {
    risk: RiskLevel::High,
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
            assert!(denied(&tool).is_some_and(|denied| denied != DENIED_UNKNOWN), "{tool:?}");
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
}
