//! The proof: a registered command is run exactly as Claude Code runs it, with a call that must be blocked and one that
//! must pass, and its answers are judged.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use super::hostile::Project;
use crate::domain::{clip, escape};
use crate::host::registration::process::{self, End, Ran};
use crate::host::registration::{Surroundings, plain};

/// A call that every policy blocks. It is only ever described, never run.
pub const MUST_BLOCK: &str = "rm -rf /";
/// A call that every policy lets through.
pub const MUST_PASS: &str = "ls";
/// What is quoted of a failing hook's own words.
const MAX_QUOTE: usize = 200;

/// What the proof came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proof {
    /// Blocked the one and passed the other.
    Closed,
    /// What is wrong, in one line.
    Open(String),
}

/// Runs a hook entry with both calls, and with the one that must be blocked in a project that is out to switch the gate off.
pub fn prove(entry: &Value, here: &Surroundings, limit: Duration) -> Proof {
    match prove_here(entry, here, limit) {
        Proof::Closed => prove_among_enemies(entry, here, limit),
        open @ Proof::Open(_) => open,
    }
}

fn prove_among_enemies(entry: &Value, here: &Surroundings, limit: Duration) -> Proof {
    let project = match Project::make() {
        Ok(project) => project,
        Err(error) => {
            return Proof::Open(format!("a project for the proof could not be made: {}", plain(&error)));
        }
    };
    let there = Surroundings { cwd: project.dir().to_owned(), ..here.clone() };
    for environment in project.environments() {
        let names: Vec<&str> = environment.iter().map(|(name, _)| *name).collect();
        let names = names.join(", ");
        let session = format!("{}{}", super::PROBE, uuid::Uuid::new_v4());
        let input = message(MUST_BLOCK, &session, &there.cwd).to_string();
        let mut command = command(entry, &there, &session);
        command.envs(environment);
        let ran = process::run(&mut command, &format!("{input}\n"), limit);
        let judged = ran
            .map_err(|error| format!("cannot be started: {}", plain(&error)))
            .and_then(|ran| blocked(&ran, limit));
        if let Err(why) = judged {
            return Proof::Open(format!("where a project sets {names}: {why}"));
        }
        if let Some(path) = project.traces().first() {
            let path = escape(&path.display().to_string());
            return Proof::Open(format!(
                "where a project sets {names}, lazaret's own things go there: {path}"
            ));
        }
    }
    Proof::Closed
}

/// Runs a hook entry with both calls.
fn prove_here(entry: &Value, here: &Surroundings, limit: Duration) -> Proof {
    // A session of its own, so that the proof is no part of anybody's history, nor of an earlier proof's.
    let session = format!("{}{}", super::PROBE, uuid::Uuid::new_v4());
    let run = |call: &str| {
        let input = message(call, &session, &here.cwd).to_string();
        let mut command = command(entry, here, &session);
        process::run(&mut command, &format!("{input}\n"), limit)
            .map_err(|error| format!("cannot be started: {}", plain(&error)))
    };
    let judged = run(MUST_BLOCK)
        .and_then(|ran| blocked(&ran, limit))
        .and_then(|()| run(MUST_PASS))
        .and_then(|ran| passed(&ran, limit));
    match judged {
        Ok(()) => Proof::Closed,
        Err(why) => Proof::Open(why),
    }
}

fn message(call: &str, session: &str, cwd: &Path) -> Value {
    json!({
        "session_id": session,
        "transcript_path": format!("/nonexistent/{session}.jsonl"),
        "cwd": cwd.display().to_string(),
        "permission_mode": "default",
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": call, "description": "lazaret doctor"},
        "tool_use_id": "toolu_lazaret_doctor",
    })
}

/// The process that the client would start: directly when there are `args`, else by `/bin/sh`.
fn command(entry: &Value, here: &Surroundings, session: &str) -> Command {
    let text = entry.get("command").and_then(Value::as_str).unwrap_or_default();
    let project = here.cwd.display().to_string();
    let mut command = match entry.get("args").and_then(Value::as_array) {
        Some(args) => {
            let filled = |text: &str| text.replace("${CLAUDE_PROJECT_DIR}", &project);
            let mut command = Command::new(filled(text));
            command.args(args.iter().map(|arg| filled(arg.as_str().unwrap_or_default())));
            command
        }
        None => {
            let mut command = Command::new("/bin/sh");
            command.args(["-c", text]);
            command
        }
    };
    command
        .current_dir(&here.cwd)
        .env("CLAUDECODE", "1")
        .env("CLAUDE_CODE_ENTRYPOINT", "cli")
        .env("CLAUDE_CODE_SESSION_ID", session)
        .env("CLAUDE_PROJECT_DIR", &here.cwd);
    command
}

fn blocked(ran: &Ran, limit: Duration) -> Result<(), String> {
    let call = format!("`{MUST_BLOCK}`");
    match ran.end {
        End::Exit(2) if denies(&ran.stdout) => Ok(()),
        End::Exit(2) => Err(format!("{call} ends in exit 2, but without lazaret's answer{}", said(ran))),
        End::Exit(0) if denies(&ran.stdout) => Err(format!("{call} is denied, but with exit 0")),
        End::Exit(0) => Err(format!("{call} must be blocked and was let through")),
        End::TimedOut => Err(format!("no answer to {call} within {} s", limit.as_secs_f32())),
        End::Exit(127) => Err(format!("the command was not found when {call} was asked about{}", said(ran))),
        end @ (End::Exit(_) | End::Signal(_)) => {
            Err(format!("{call} must be blocked; instead: {end}{}", said(ran)))
        }
    }
}

fn passed(ran: &Ran, limit: Duration) -> Result<(), String> {
    let call = format!("`{MUST_PASS}`");
    match ran.end {
        End::Exit(0) if ran.stdout.trim().is_empty() => Ok(()),
        End::Exit(0) => Err(format!("{call} must pass in silence; it answers {}", quoted(&ran.stdout))),
        End::TimedOut => Err(format!("no answer to {call} within {} s", limit.as_secs_f32())),
        end @ (End::Exit(_) | End::Signal(_)) => {
            Err(format!("{call} must pass; instead: {end}{}", said(ran)))
        }
    }
}

/// Whether an answer is the one that Claude Code takes for a refusal.
fn denies(stdout: &str) -> bool {
    let Ok(answer) = serde_json::from_str::<Value>(stdout.trim()) else { return false };
    let own = answer.get("hookSpecificOutput");
    let field = |name: &str| own.and_then(|own| own.get(name)).and_then(Value::as_str);
    field("hookEventName") == Some("PreToolUse") && field("permissionDecision") == Some("deny")
}

fn said(ran: &Ran) -> String {
    let words = if ran.stderr.trim().is_empty() { ran.stdout.trim() } else { ran.stderr.trim() };
    if words.is_empty() { String::new() } else { format!(" ({})", quoted(words)) }
}

fn quoted(words: &str) -> String {
    escape(&clip(words.trim(), MAX_QUOTE))
}
