//! The clients' tool and argument names, mapped to one vocabulary. Nothing else knows how a client spells them.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::claims;
use super::json::{Object, bad, check_depth, decode_text, missing};
use super::patch;
use crate::domain::{Action, CallId, Client, Fault, Rewrite, SearchKind, Tool, ToolCall, clip, join, words};

words! {
    /// An argument that a check needs.
    Word {
        Command = "command",
        Workdir = "workdir",
        FilePath = "file_path",
        Content = "content",
        NewText = "new_string",
        Pattern = "pattern",
        Path = "path",
        Glob = "glob",
        Url = "url",
        Prompt = "prompt",
        AgentType = "subagent_type",
        Background = "run_in_background",
        Patch = "patch",
        OutputMode = "output_mode",
    }
}

impl Word {
    /// How a client spells it. Where there are two, versions or tools of the client differ.
    const fn spellings(self, client: Client) -> &'static [&'static str] {
        match (client, self) {
            (Client::ClaudeCode, Word::Workdir | Word::Patch) => &[],
            (Client::ClaudeCode, Word::FilePath) => &["file_path", "notebook_path"],
            (Client::ClaudeCode, Word::NewText) => &["new_string", "new_source"],
            (Client::ClaudeCode, Word::Glob) => &["glob"],
            (Client::ClaudeCode, Word::AgentType) => &["subagent_type"],
            (Client::ClaudeCode, Word::Background) => &["run_in_background"],
            (Client::OpenCode, Word::Background | Word::OutputMode) => &[],
            (
                Client::Codex,
                Word::Workdir | Word::NewText | Word::Glob | Word::Background | Word::OutputMode,
            ) => &[],
            (Client::Codex, Word::FilePath) => &["path"],
            (Client::Codex, Word::AgentType) => &["agent_type"],
            (Client::Codex, Word::Prompt) => &["message"],
            // Of its tool for patches; that of the shell has it too.
            (Client::Codex, Word::Patch) => &["command"],
            (Client::ClaudeCode, Word::OutputMode) => &["output_mode"],
            (Client::OpenCode, Word::Workdir) => &["workdir"],
            (Client::OpenCode, Word::FilePath) => &["filePath", "path"],
            (Client::OpenCode, Word::NewText) => &["newString"],
            (Client::OpenCode, Word::Glob) => &["include"],
            (Client::OpenCode, Word::AgentType) => &["subagent_type", "agent"],
            (Client::OpenCode, Word::Patch) => &["patchText"],
            (_, Word::Command) => &["command"],
            (_, Word::Content) => &["content"],
            (_, Word::Pattern) => &["pattern"],
            (_, Word::Path) => &["path"],
            (_, Word::Url) => &["url"],
            (_, Word::Prompt) => &["prompt"],
        }
    }
}

/// The arguments of a call.
struct Args<'a> {
    client: Client,
    object: Object<'a>,
}

impl<'a> Args<'a> {
    fn parse(client: Client, raw: &'a str) -> Result<Args<'a>, Fault> {
        let object = Object::parse(raw, "arguments")?;
        object.check_depth(&[])?;
        Ok(Args { client, object })
    }

    /// The spelling that this call uses, with its raw value. Two that differ are refused: which one the client follows
    /// depends on its version, and the other one is a mask.
    fn find(&self, word: Word) -> Result<Option<(&'static str, &'a str)>, Fault> {
        let mut found: Option<(&'static str, &'a str)> = None;
        for name in word.spellings(self.client) {
            match (self.object.raw(name), found) {
                (Some(raw), None) => found = Some((name, raw)),
                (Some(raw), Some((other, first))) if raw != first => {
                    return Err(bad(format!("arguments {other} and {name} contradict each other")));
                }
                _ => {}
            }
        }
        Ok(found)
    }

    fn text(&self, word: Word) -> Result<Option<Cow<'a, str>>, Fault> {
        self.find(word)?.map(|(name, raw)| decode_text(raw, name)).transpose()
    }

    fn need(&self, word: Word) -> Result<String, Fault> {
        let text = self.text(word)?;
        text.map(Cow::into_owned)
            .ok_or_else(|| missing(word.spellings(self.client).first().unwrap_or(&"argument")))
    }

    fn optional(&self, word: Word) -> Result<Option<String>, Fault> {
        Ok(self.text(word)?.map(Cow::into_owned))
    }

    /// Content, and how long it was if it was too long to be kept. Raw text is never shorter than what it stands for, so the bound
    /// holds without decoding a megabyte.
    fn content(&self, word: Word) -> Result<Option<(String, Option<u32>)>, Fault> {
        let Some((name, raw)) = self.find(word)? else { return Ok(None) };
        if raw.starts_with('"') && raw.len() > Action::MAX_CONTENT + 2 {
            return Ok(Some((String::new(), too_long(raw))));
        }
        Ok(Some((decode_text(raw, name)?.into_owned(), None)))
    }
}

/// The call of the tool that the client names `name`, with `raw` arguments, in a session at `cwd`.
pub(super) fn call(
    client: Client,
    name: &str,
    raw: &str,
    cwd: &str,
    id: Option<CallId>,
) -> Result<ToolCall, Fault> {
    let tool = tool(client, name);
    let tool =
        if matches!(tool, Tool::Unknown(_)) && is_shell(client, name, raw) { Tool::Bash } else { tool };
    let (tool, action) = action(client, tool, raw, cwd)?;
    Ok(ToolCall { tool, action, id })
}

/// The arguments after a change.
pub(super) struct Rewritten {
    /// The client's names of those that change, with their new values as raw JSON.
    pub changes: Vec<(&'static str, String)>,
    /// The client's names of those that are left out.
    pub dropped: Vec<String>,
    /// All that are left.
    pub whole: String,
}

/// The arguments as a rewrite wants them. The place of a search is added where it is absent; a switch that the client does
/// not know is left out.
pub(super) fn rewritten(client: Client, raw: &str, rewrite: &Rewrite) -> Option<Rewritten> {
    let args = Args::parse(client, raw).ok()?;
    let word = Word::from_name(rewrite.field)?;
    let name = match args.find(word).ok()? {
        Some((name, _)) => name,
        // Where to search may be left unsaid; every other argument has to be there to be changed.
        None if word == Word::Path => word.spellings(client).first()?,
        None => return None,
    };
    let mut changes = vec![(name, serde_json::to_string(&rewrite.value).ok()?)];
    for (switch, on) in rewrite.also {
        if let Some(name) = Word::from_name(switch)?.spellings(client).first() {
            changes.push((name, on.to_string()));
        }
    }
    // Of two spellings of one argument the one stays that was read.
    let mut only: Vec<&str> = Vec::with_capacity(rewrite.only.len());
    for known in rewrite.only {
        match Word::from_name(known) {
            Some(word) => only.extend(args.find(word).ok()?.map(|(name, _)| name)),
            None => only.push(known),
        }
    }
    let stays = |name: &str| rewrite.only.is_empty() || only.contains(&name);
    let changed = |name: &str| changes.iter().any(|(changed, _)| *changed == name);
    let dropped = args.object.all().map(|(name, _)| name).filter(|name| !stays(name) && !changed(name));
    let dropped = dropped.map(str::to_owned).collect();
    let whole = args.object.with(&changes, stays)?;
    Some(Rewritten { changes, dropped, whole })
}

/// Whether a tool is the shell by another spelling of its name.
fn is_shell(client: Client, name: &str, raw: &str) -> bool {
    const NAMES: [&str; 5] = ["bash", "shell", "sh", "zsh", "terminal"];
    let named = NAMES.iter().any(|shell| name.trim().eq_ignore_ascii_case(shell));
    named && Args::parse(client, raw).is_ok_and(|args| matches!(args.text(Word::Command), Ok(Some(_))))
}

/// What a client's name for a tool means.
pub fn tool(client: Client, name: &str) -> Tool {
    match client {
        Client::ClaudeCode => claude_tool(name),
        Client::OpenCode => opencode_tool(name),
        Client::Codex => super::codex::tool(name),
    }
}

/// Claude Code's tools. Internal ones touch nothing by themselves: what they set in motion (an agent's calls, a
/// scheduled prompt, a skill's instructions) comes back as calls of its own.
fn claude_tool(name: &str) -> Tool {
    match name {
        "Bash" => Tool::Bash,
        "Monitor" => Tool::Monitor,
        "Read" => Tool::Read,
        "Write" => Tool::Write,
        "Edit" | "MultiEdit" => Tool::Edit,
        "NotebookEdit" => Tool::NotebookEdit,
        "Grep" => Tool::Grep,
        "Glob" => Tool::Glob,
        // A workflow is a script that can do nothing but start agents.
        "Agent" | "Task" | "Workflow" => Tool::Agent,
        "WebFetch" => Tool::WebFetch,
        "WebSearch" => Tool::WebSearch,
        // Lists and plans of the session, kept by the client.
        "TodoWrite" | "TaskCreate" | "TaskGet" | "TaskUpdate" | "TaskList" | "ReportFindings" | "ProposeGoal"
        // Background work that was reviewed when it was started.
        | "TaskStop" | "TaskOutput" | "BashOutput" | "KillShell" | "ListAgents"
        // Modes and questions: a person answers.
        | "EnterPlanMode" | "ExitPlanMode" | "AskUserQuestion"
        // Prompts for later or for another agent of this session, whose calls are reviewed.
        | "CronCreate" | "CronDelete" | "CronList" | "ScheduleWakeup" | "SendMessage"
        // Instructions and tool descriptions loaded into the context; language servers asked about symbols.
        | "Skill" | "ToolSearch" | "LSP" | "StructuredOutput"
        // A new, separate work tree below the project, and the way back (see `action` for throwing work away).
        | "EnterWorktree" | "ExitWorktree"
        // Agents of this session that know each other by name, and the end of that; their calls are reviewed.
        | "TeamCreate" | "TeamDelete" => Tool::Internal(name.to_owned()),
        _ => claude_mcp(name).unwrap_or_else(|| Tool::Unknown(name.to_owned())),
    }
}

/// `mcp__SERVER__TOOL`.
pub(super) fn claude_mcp(name: &str) -> Option<Tool> {
    let (server, tool) = name.strip_prefix("mcp__")?.split_once("__")?;
    let named = !server.is_empty() && !tool.is_empty();
    named.then(|| Tool::Mcp { server: server.to_owned(), tool: tool.to_owned() })
}

/// OpenCode's tools, of version 1 and 2.
fn opencode_tool(name: &str) -> Tool {
    match name {
        "bash" | "shell" => Tool::Bash,
        "read" => Tool::Read,
        "write" => Tool::Write,
        "edit" | "multiedit" | "patch" | "apply_patch" => Tool::Edit,
        "grep" => Tool::Grep,
        "glob" => Tool::Glob,
        "task" | "subagent" => Tool::Agent,
        "webfetch" => Tool::WebFetch,
        "websearch" | "codesearch" => Tool::WebSearch,
        // `invalid` only hands an error back to the model; the others as their like in Claude Code.
        "invalid" | "todowrite" | "todoread" | "question" | "plan_enter" | "plan_exit" | "skill" | "lsp" => {
            Tool::Internal(name.to_owned())
        }
        _ => match name.split_once('_') {
            Some((server, tool)) if !server.is_empty() && !tool.is_empty() => {
                Tool::Mcp { server: server.to_owned(), tool: tool.to_owned() }
            }
            _ => Tool::Unknown(name.to_owned()),
        },
    }
}

/// What a call of `tool` asks for. The tool comes back, because some are another one with certain arguments.
fn action(client: Client, tool: Tool, raw: &str, cwd: &str) -> Result<(Tool, Action), Fault> {
    if let Tool::Unknown(_) | Tool::Mcp { .. } | Tool::WebSearch = tool {
        check_depth(raw)?;
        let action = unknown(&tool, raw);
        return Ok((tool, action));
    }
    let args = Args::parse(client, raw)?;
    let action = match &tool {
        Tool::Bash => {
            let workdir = args.optional(Word::Workdir)?.map(|dir| join(cwd, &dir)).filter(|dir| dir != cwd);
            let command = args.need(Word::Command)?;
            let command = if client == Client::Codex { patch::told_out(command) } else { command };
            Action::Shell { command, workdir }
        }
        Tool::Monitor => monitor(&args)?,
        Tool::Read => Action::Read { path: args.need(Word::FilePath)? },
        Tool::Write => {
            let (content, long) = args.content(Word::Content)?.ok_or_else(|| missing("content"))?;
            Action::Write { path: args.need(Word::FilePath)?, content, long }
        }
        Tool::Edit | Tool::NotebookEdit => edit(&args)?,
        Tool::Grep => search(&args, grep_kind(&args)?)?,
        Tool::Glob => search(&args, SearchKind::Glob)?,
        Tool::Agent => {
            // A workflow has no prompt: its script, or the name of one, is all there is to see.
            let prompt = args.optional(Word::Prompt)?.unwrap_or_else(|| clip(raw, Action::MAX_CONTENT));
            Action::Spawn { agent_type: args.optional(Word::AgentType)?, prompt, options: options(&args) }
        }
        Tool::WebFetch => Action::Fetch {
            url: args.need(Word::Url)?,
            prompt: args.optional(Word::Prompt).ok().flatten().unwrap_or_default(),
        },
        Tool::Internal(name) => {
            // Leaving a work tree throws uncommitted work away when told so: that is more than a mode.
            if name == "ExitWorktree" && args.object.raw("discard_changes") == Some("true") {
                return Ok((Tool::Unknown(name.clone()), other(raw)));
            }
            other(raw)
        }
        Tool::WebSearch | Tool::Mcp { .. } | Tool::Unknown(_) => unknown(&tool, raw),
    };
    Ok((tool, action))
}

/// A tool of which nothing is known but what its arguments say.
fn unknown(tool: &Tool, raw: &str) -> Action {
    let claims = if *tool == Tool::WebSearch { Vec::new() } else { claims::of(tool, raw) };
    Action::Other { text: clip(raw, Action::MAX_CONTENT), claims }
}

/// What is said of an agent besides its type, its task and how it runs.
fn options(args: &Args<'_>) -> Vec<(String, String)> {
    const ORDINARY: [&str; 12] = [
        "description",
        "prompt",
        "subagent_type",
        "agent",
        "run_in_background",
        "model",
        "effort",
        "message",
        "agent_type",
        "task_name",
        "fork_turns",
        "reasoning_effort",
    ];
    let said =
        args.object.all().filter(|(name, raw)| !ORDINARY.contains(name) && !matches!(*raw, "null" | "\"\""));
    said.map(|(name, raw)| (clip(name, 64), clip(raw, Action::MAX_CONTENT))).collect()
}

fn other(raw: &str) -> Action {
    Action::Other { text: clip(raw, Action::MAX_CONTENT), claims: Vec::new() }
}

fn monitor(args: &Args<'_>) -> Result<Action, Fault> {
    if let Some(socket) = args.object.object("ws")?
        && args.object.raw("command").is_none()
    {
        let url = socket.text("url")?.ok_or_else(|| missing("ws.url"))?;
        return Ok(Action::Fetch { url: url.into_owned(), prompt: String::new() });
    }
    Ok(Action::Shell { command: args.need(Word::Command)?, workdir: None })
}

fn edit(args: &Args<'_>) -> Result<Action, Fault> {
    if let Some(text) = args.text(Word::Patch)? {
        return patch::action(&text);
    }
    // Deleting a notebook cell has no new text, and the text of one for reading is run by nothing.
    let reading = args.object.text("cell_type")?.as_deref() == Some("markdown");
    let (content, long) = match args.content(Word::NewText)? {
        Some(_) if reading => (String::new(), None),
        Some(content) => content,
        None => several(args)?,
    };
    Ok(Action::Edit { path: args.need(Word::FilePath)?, content, long })
}

/// The new texts of several changes to one file, a line each.
fn several(args: &Args<'_>) -> Result<(String, Option<u32>), Fault> {
    let Some(raw) = args.object.raw("edits") else { return Ok((String::new(), None)) };
    if raw.len() > Action::MAX_CONTENT {
        return Ok((String::new(), too_long(raw)));
    }
    let changes: Vec<&RawValue> = serde_json::from_str(raw).map_err(|_| bad("argument edits is no list"))?;
    let mut content = String::new();
    for change in changes {
        let change = Args::parse(args.client, change.get())?;
        content.push_str(&change.text(Word::NewText)?.unwrap_or_default());
        content.push('\n');
    }
    Ok((content, None))
}

/// The length of what is not kept.
fn too_long(text: &str) -> Option<u32> {
    Some(u32::try_from(text.len()).unwrap_or(u32::MAX))
}

/// Claude Code shows lines only when it is told so.
fn grep_kind(args: &Args<'_>) -> Result<SearchKind, Fault> {
    Ok(match (args.client, args.text(Word::OutputMode)?.as_deref()) {
        (Client::ClaudeCode, None | Some("files_with_matches" | "count")) => SearchKind::Names,
        _ if shows_more(args) => SearchKind::Around,
        _ => SearchKind::Grep,
    })
}

/// Whether a search has an argument by which more may be shown than the lines that hold its pattern: any but those of which we know that
/// they do not.
fn shows_more(args: &Args<'_>) -> bool {
    const NARROWING: &[&str] =
        &["pattern", "path", "glob", "include", "type", "output_mode", "-n", "head_limit", "offset"];
    const UNSET: &[&str] = &["null", "false", "0"];
    args.object.fields().any(|(name, raw)| !NARROWING.contains(&name) && !UNSET.contains(&raw.trim()))
}

fn search(args: &Args<'_>, kind: SearchKind) -> Result<Action, Fault> {
    Ok(Action::Search {
        kind,
        pattern: args.need(Word::Pattern)?,
        path: args.optional(Word::Path)?,
        glob: args.optional(Word::Glob)?,
    })
}

/// Whether the arguments of a shell hold a patch, which Codex takes out of the line and applies itself.
pub(super) fn holds_patch(raw: &str) -> bool {
    raw.contains(patch::BEGIN)
}
