//! What a call on a SpecStory page asked for, in Claude Code's words.

use serde_json::{Value, json};

use super::Left;
use super::codex_tools::text_has_failed;
use crate::domain::single_quoted;

/// A call as it stands on a page.
#[derive(Debug, Default)]
pub(super) struct Block {
    pub kind: String,
    pub name: String,
    /// Lines outside fences.
    plain: Vec<String>,
    /// What stands in fences, with the word behind each.
    fences: Vec<(String, String)>,
    in_fence: bool,
}

impl Block {
    pub fn new(kind: String, name: String) -> Block {
        Block { kind, name, ..Block::default() }
    }

    /// The next line; whether a fence is open after it.
    pub fn push(&mut self, line: &str, open: bool) {
        match (self.in_fence, open) {
            (false, true) => {
                let word = line.trim_start().trim_start_matches(['`', '~']).trim().to_owned();
                self.fences.push((word, String::new()));
            }
            (true, true) => {
                if let Some((_, text)) = self.fences.last_mut() {
                    text.push_str(line);
                    text.push('\n');
                }
            }
            (false, false) if !line.trim().is_empty() => self.plain.push(line.to_owned()),
            _ => {}
        }
        self.in_fence = open;
    }

    /// The first fence with one of these words.
    fn fence(&self, words: &[&str]) -> Option<&str> {
        let (_, text) = self.fences.iter().find(|(word, _)| words.contains(&word.as_str()))?;
        Some(text.strip_suffix('\n').unwrap_or(text))
    }

    fn summary(&self) -> &str {
        let line = self.plain.iter().find(|line| line.contains("<summary>")).map_or("", String::as_str);
        let line = line.split_once("<summary>").map_or(line, |(_, rest)| rest);
        line.strip_suffix("</summary>").unwrap_or(line)
    }

    /// A line that is one piece of code and nothing else.
    fn code(&self) -> Option<&str> {
        let body = self.plain.iter().filter(|line| !line.contains("<summary>"));
        body.filter_map(|line| line.trim().strip_prefix('`')?.strip_suffix('`')).find(|code| !code.is_empty())
    }

    /// What a label stands before: in the summary, at the head of a line, in a list of arguments.
    fn said(&self, labels: &[&str]) -> Option<String> {
        let behind = |text: &str, label: &str| {
            let (_, rest) = text.split_once(label)?;
            let rest = rest.trim();
            let code = rest.strip_prefix('`').and_then(|rest| rest.split_once('`')).map(|(code, _)| code);
            Some(code.unwrap_or(rest).to_owned()).filter(|said| !said.is_empty())
        };
        let lines = || self.plain.iter().map(|line| line.strip_suffix("</summary>").unwrap_or(line));
        labels.iter().find_map(|label| lines().find_map(|line| behind(line, label)))
    }

    /// Arguments as JSON, where the page has them so.
    fn parameters(&self) -> Option<Value> {
        let is_said = self.plain.iter().any(|line| line.starts_with("Parameters:"));
        let text = is_said.then(|| self.fence(&["json"]))??;
        serde_json::from_str(text).ok().filter(Value::is_object)
    }
}

/// The tool and its arguments.
pub(super) fn asked(block: &Block) -> Result<(&str, Value), Left> {
    let name = block.name.as_str();
    match (block.kind.as_str(), name) {
        (_, "list_directory" | "list_dir" | "list_dir_v2") => path(block, "Read"),
        ("shell" | "bash", _) | (_, "Bash" | "shell_command" | "shell" | "exec_command") => {
            let command = command(block).ok_or(Left::NoArguments)?;
            if is_powershell(&command) {
                Err(Left::OtherShell)
            } else {
                Ok(("Bash", json!({ "command": command })))
            }
        }
        ("write", _) | (_, "Edit" | "MultiEdit" | "Write") => written(block),
        ("read", "WebFetch" | "web_fetch") | (_, "WebFetch") => {
            let url = block.code().ok_or(Left::NoArguments)?;
            Ok(("WebFetch", json!({ "url": url, "prompt": "" })))
        }
        ("read", _) => path(block, "Read"),
        (_, "WebSearch" | "web_search" | "google_web_search") => Ok(("WebSearch", json!({}))),
        ("search" | "grep" | "glob", _) => {
            let pattern = block.said(&["pattern "]).ok_or(Left::NoArguments)?;
            let tool = if name.eq_ignore_ascii_case("glob") { "Glob" } else { "Grep" };
            Ok((tool, json!({ "pattern": pattern, "path": block.said(&[" path "]) })))
        }
        (_, "Task" | "Agent") => {
            let said = block.plain.iter().filter(|line| !line.contains("<summary>"));
            let prompt = said.map(|line| line.trim()).collect::<Vec<_>>().join("\n");
            Ok(("Task", json!({ "prompt": prompt, "description": prompt })))
        }
        (_, name) if name.starts_with("mcp__") => Ok((name, block.parameters().ok_or(Left::NoArguments)?)),
        // Lists, plans and questions: nothing of the machine.
        ("task", _)
        | (
            _,
            "TodoWrite" | "TaskCreate" | "TaskUpdate" | "ExitPlanMode" | "EnterPlanMode" | "AskUserQuestion",
        )
        | (_, "ToolSearch" | "Skill" | "BashOutput" | "KillShell" | "update_plan") => {
            Ok(("TodoWrite", json!({})))
        }
        _ => Err(Left::OtherTool),
    }
}

fn command(block: &Block) -> Option<String> {
    if let Some(line) = block.fence(&["bash", "sh", "shell", "zsh"]) {
        return Some(line.to_owned());
    }
    let in_summary = || block.summary().split_once('`')?.1.rsplit_once('`').map(|(line, _)| line.to_owned());
    let named = || block.said(&["- command: "]);
    block.code().map(str::to_owned).or_else(in_summary).or_else(named)
}

fn path<'b>(block: &Block, tool: &'b str) -> Result<(&'b str, Value), Left> {
    let path = place(block).ok_or(Left::NoArguments)?;
    Ok((tool, json!({ "file_path": path })))
}

/// The file that a call is about: said, or told by its result.
fn place(block: &Block) -> Option<String> {
    let said = block.said(&[
        "Read file: ",
        "Edit file: ",
        "Write file: ",
        "Path: ",
        "- file_path: ",
        "Modified file: ",
    ]);
    let patched = || block.said(&["**Add: ", "**Update: ", "**Modify: "]);
    let told = || {
        let (_, text) = block.fences.last()?;
        let (_, rest) = text.split_once("The file ").or_else(|| text.split_once("successfully at: "))?;
        let path = rest.lines().next()?.split(" has been updated").next()?;
        Some(path.trim().to_owned())
    };
    said.or_else(patched).or_else(|| block.code().map(str::to_owned)).or_else(told)
}

/// What was written: lines that a difference adds, or the whole text.
fn written(block: &Block) -> Result<(&str, Value), Left> {
    if let Some(gone) = block.said(&["**Delete: "]) {
        return Ok(("Bash", json!({ "command": format!("rm -- {}", single_quoted(&gone)) })));
    }
    let path = place(block).ok_or(Left::NoArguments)?;
    if let Some(difference) = block.fence(&["diff"]) {
        let added: Vec<&str> = difference.lines().filter_map(|line| line.strip_prefix('+')).collect();
        return Ok(("Edit", json!({ "file_path": path, "old_string": "", "new_string": added.join("\n") })));
    }
    let whole = block.name == "Write" || block.name == "write_file";
    match block.fences.first() {
        Some((_, text)) if whole => Ok(("Write", json!({ "file_path": path, "content": text }))),
        _ => Ok(("Edit", json!({ "file_path": path, "old_string": "", "new_string": "" }))),
    }
}

/// `Verb-Noun`, `$env:`: what no Unix shell has.
fn is_powershell(command: &str) -> bool {
    const VERBS: [&str; 16] = [
        "Get", "Set", "New", "Remove", "Select", "Where", "ForEach", "Start", "Stop", "Test", "Write",
        "Copy", "Move", "Invoke", "Out", "Join",
    ];
    let is_cmdlet = |word: &str| {
        let Some((verb, noun)) = word.split_once('-') else { return false };
        VERBS.contains(&verb) && noun.starts_with(|letter: char| letter.is_ascii_uppercase())
    };
    let mut words = command.split(|letter: char| letter.is_whitespace() || ";|(){}&".contains(letter));
    command.contains("$env:") || words.any(is_cmdlet)
}

/// Whether the result says that the call failed.
pub(super) fn has_failed(block: &Block) -> bool {
    let said =
        block.plain.iter().any(|line| line.starts_with("**Error:**") || line.starts_with("Status: error"));
    let last = block.fences.last().map_or("", |(_, text)| text.as_str());
    let code = last.lines().find_map(|line| line.strip_prefix("Exit Code: ")?.trim().parse::<i64>().ok());
    said || code.unwrap_or(0) != 0 || text_has_failed(last)
}
