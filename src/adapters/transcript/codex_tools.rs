//! Codex's tools in the words of the gate (those of OpenCode, which has a shell with a directory and the same patches).

use crate::adapters::PATCH_BEGIN as BEGIN;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::Left;
use crate::domain::single_quoted;

/// A call in OpenCode's words.
pub(super) struct Asked {
    pub tool: String,
    pub input: Value,
}

/// A function call; `cwd` is the session's.
pub(super) fn function(name: &str, arguments: &Value, cwd: Option<&str>) -> Result<Asked, Left> {
    let text = |field: &str| arguments.get(field).and_then(Value::as_str);
    match name {
        "shell" | "local_shell" | "container.exec" | "shell_command" | "exec_command" | "exec" => {
            let command = arguments.get("command").or_else(|| arguments.get("cmd"));
            let command = command.ok_or(Left::NoArguments)?;
            let workdir = text("workdir").or_else(|| text("working_directory")).or_else(|| text("cwd"));
            let is_windows = cwd.is_some_and(is_windows_path) || workdir.is_some_and(is_windows_path);
            if text("shell").is_some_and(other_shell) || is_windows {
                return Err(Left::OtherShell);
            }
            shell(command, workdir)
        }
        "apply_patch" => {
            let patch = text("input").or_else(|| text("patch")).or(arguments.as_str());
            patch.map(patched).ok_or(Left::NoArguments)
        }
        "view_image" | "read_file" => {
            let path = text("path").or_else(|| text("file_path")).ok_or(Left::NoArguments)?;
            Ok(asked("read", json!({ "filePath": path })))
        }
        "list_dir" => {
            let path = text("dir_path").or_else(|| text("path")).ok_or(Left::NoArguments)?;
            Ok(asked("glob", json!({ "pattern": "*", "path": path })))
        }
        "grep_files" => {
            let pattern = text("pattern").ok_or(Left::NoArguments)?;
            let given = |field: &str| text(field).map(str::to_owned);
            Ok(asked(
                "grep",
                json!({ "pattern": pattern, "path": given("path"), "include": given("include") }),
            ))
        }
        // Recorded without what was sought.
        "web_search" if !arguments.is_object() => Ok(asked("websearch", json!({}))),
        "web_search" => Ok(asked("websearch", arguments.clone())),
        "spawn_agent" => {
            let prompt = text("message").or_else(|| text("prompt")).unwrap_or_default();
            Ok(asked("task", json!({ "prompt": prompt, "subagent_type": text("agent_type") })))
        }
        // Plans, questions, and what a running program or another agent is told: nothing of the machine.
        "update_plan"
        | "request_user_input"
        | "wait"
        | "wait_agent"
        | "close_agent"
        | "list_agents"
        | "get_goal"
        | "create_goal"
        | "update_goal"
        | "resume_agent"
        | "send_input"
        | "send_message"
        | "followup_task"
        | "interrupt_agent"
        | "sleep"
        | "curr_time"
        | "list_mcp_resources"
        | "list_mcp_resource_templates" => Ok(asked("todowrite", json!({}))),
        _ => match name.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")) {
            Some((server, tool)) => {
                let input = if arguments.is_object() { arguments.clone() } else { json!({}) };
                Ok(asked(&format!("{server}_{tool}"), input))
            }
            None => Err(Left::OtherTool),
        },
    }
}

/// Changes of files by their paths, as the patch that made them.
pub(super) fn changed(changes: Option<&Value>) -> Result<Asked, Left> {
    let changes = changes.and_then(Value::as_object).ok_or(Left::NoArguments)?;
    let mut patch = format!("{BEGIN}\n");
    for (path, change) in changes {
        let text = |name: &str| change.get(name).and_then(Value::as_str).unwrap_or_default();
        let head = match text("type") {
            "add" => "Add",
            "delete" => "Delete",
            _ => "Update",
        };
        patch.push_str(&format!("*** {head} File: {path}\n"));
        if !text("move_path").is_empty() {
            patch.push_str(&format!("*** Move to: {}\n", text("move_path")));
        }
        for line in text("content").lines() {
            patch.push_str(&format!("+{line}\n"));
        }
        let added =
            text("unified_diff").lines().filter(|line| line.starts_with('+') && !line.starts_with("+++"));
        added.for_each(|line| patch.push_str(&format!("{line}\n")));
    }
    Ok(patched(&patch))
}

/// A tool whose argument is one text.
pub(super) fn custom(name: &str, input: &str) -> Result<Asked, Left> {
    match name {
        "apply_patch" => Ok(patched(input)),
        // Code calls other tools, and each of those is recorded.
        "exec" => Ok(asked("todowrite", json!({}))),
        _ => Err(Left::OtherTool),
    }
}

fn asked(tool: &str, input: Value) -> Asked {
    Asked { tool: tool.to_owned(), input }
}

fn patched(patch: &str) -> Asked {
    asked("apply_patch", json!({ "patchText": patch }))
}

/// A command line, or a program with its arguments.
fn shell(command: &Value, workdir: Option<&str>) -> Result<Asked, Left> {
    let words: Vec<&str> = match command {
        Value::String(line) => return Ok(line_of(line, workdir)),
        Value::Array(words) => words.iter().filter_map(Value::as_str).collect(),
        _ => return Err(Left::NoArguments),
    };
    match words.as_slice() {
        [] => Err(Left::NoArguments),
        [program, ..] if other_shell(program) => Err(Left::OtherShell),
        ["apply_patch" | "applypatch", patch] => Ok(patched(patch)),
        [program, "-c" | "-lc" | "-ilc" | "-ic", line] if is_shell(program) => Ok(line_of(line, workdir)),
        words => {
            let line: Vec<String> = words.iter().map(|word| quoted(word)).collect();
            Ok(line_of(&line.join(" "), workdir))
        }
    }
}

/// Codex takes a patch out of a line that hands one to `apply_patch` or begins as one, and starts no shell.
fn line_of(line: &str, workdir: Option<&str>) -> Asked {
    let front = line.trim_start();
    if (front.starts_with("apply_patch") || front.starts_with(BEGIN))
        && let Some((_, patch)) = line.split_once(BEGIN)
    {
        return patched(&format!("{BEGIN}{patch}"));
    }
    asked("bash", json!({ "command": line, "workdir": workdir }))
}

/// A word as it stands, where no shell would read more in it.
fn quoted(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./=:,@+%".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) { word.to_owned() } else { single_quoted(word) }
}

fn base(program: &str) -> String {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    name.trim_end_matches(".exe").to_ascii_lowercase()
}

fn is_shell(program: &str) -> bool {
    matches!(base(program).as_str(), "bash" | "sh" | "zsh" | "dash")
}

fn other_shell(program: &str) -> bool {
    matches!(base(program).as_str(), "powershell" | "pwsh" | "cmd")
}

/// `C:\…`
pub(super) fn is_windows_path(path: &str) -> bool {
    let mut letters = path.chars();
    let drive = letters.next().is_some_and(|letter| letter.is_ascii_alphabetic());
    drive && letters.next() == Some(':') && matches!(letters.next(), Some('\\' | '/'))
}

/// Whether the output of a call says that it failed: an exit code in its head, or a refusal.
pub(super) fn has_failed(output: &RawValue) -> bool {
    match serde_json::from_str(output.get()) {
        Ok(Value::String(text)) => text_has_failed(&text),
        Ok(Value::Object(object)) => object.get("success").and_then(Value::as_bool) == Some(false),
        Ok(Value::Array(parts)) => {
            parts.iter().filter_map(|part| part.get("text")?.as_str()).any(text_has_failed)
        }
        _ => false,
    }
}

/// The same of a text.
pub(super) fn text_has_failed(text: &str) -> bool {
    const REFUSED: [&str; 6] = [
        "execution error",
        "failed",
        "apply_patch verification failed",
        "exec_command failed",
        "aborted",
        "command rejected",
    ];
    if let Ok(Value::Object(object)) = serde_json::from_str(text) {
        return object.get("metadata").and_then(|about| about.get("exit_code")?.as_i64()).unwrap_or(0) != 0;
    }
    let code = text.lines().take(8).find_map(|line| {
        let rest =
            line.strip_prefix("Exit code").or_else(|| line.strip_prefix("Process exited with code"))?;
        rest.trim_start_matches(':').trim().parse::<i64>().ok()
    });
    code.unwrap_or(0) != 0 || code.is_none() && REFUSED.iter().any(|word| text.starts_with(word))
}
