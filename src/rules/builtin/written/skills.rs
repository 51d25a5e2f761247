//! Skills, commands and agents of clients that are written: their shell lines, and the hooks, servers and rights of their front
//! matter. What else they say is prose, which nobody judges.

use super::extract::{self, MAX_COMMANDS};
use super::judge::{self, Place};
use crate::domain::{Verdict, last_name};
use crate::rules::builtin::scripts;
use crate::rules::matcher::Scene;
use crate::rules::prompts::{front_matter, shell_lines};

/// Where a client looks for them.
const PLACES: &[&str] = &[".claude/agents/", ".claude/commands/", ".claude/skills/", OPENCODE];
const OPENCODE: &str = ".opencode/";

/// Whether a client takes a file of that name for one.
pub(super) fn is_one(lower: &str) -> bool {
    let name = last_name(lower);
    name == "skill.md" || name.ends_with(".md") && PLACES.iter().any(|dir| lower.contains(dir))
}

/// What deserves what a client runs or obeys of it.
pub(super) fn verdict(scene: &Scene<'_>, lower: &str, text: &str) -> Verdict {
    let lines = shell_lines(text, !lower.contains(OPENCODE)).into_iter().map(str::to_owned);
    let head = front_matter(text).unwrap_or_default();
    let started = sections(head);
    let words = scripts::strings(&started).into_iter().filter(|word| word.contains(' '));
    let started = extract::yaml(&started).into_iter().chain(words);
    let judged = |line: String| judge::command(scene, &line, Place::Hook).max(judge::unasked(scene, &line));
    let run = lines.chain(started).take(MAX_COMMANDS).map(judged).max().unwrap_or_default();
    run.max(if head.lines().any(frees) { Verdict::Modify } else { Verdict::Allow })
}

/// The hooks and servers of a front matter.
fn sections(head: &str) -> String {
    let mut open = false;
    let of_them = |line: &&str| {
        if !line.starts_with([' ', '\t', '-', '#']) && !line.is_empty() {
            open = line.split(':').next().is_some_and(|key| matches!(key.trim(), "hooks" | "mcpServers"));
        }
        open
    };
    head.lines().filter(of_them).map(|line| format!("{line}\n")).collect()
}

/// A line of a front matter by which the client no longer asks.
fn frees(line: &str) -> bool {
    let Some((key, value)) = line.split_once(':') else { return false };
    match key.trim() {
        "allowed-tools" => value.contains("Bash(*)") || value.contains("Bash(*:*)"),
        "permissionMode" => value.contains("bypassPermissions"),
        _ => false,
    }
}
