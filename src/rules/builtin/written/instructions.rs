//! What agents are told in files that they read by themselves. Documentation of dangers is not an instruction.

use super::extract;
use super::judge::{self, Place};
use crate::domain::Verdict;
use crate::rules::matcher::Scene;

/// Whether an agent takes a file of that name for what it is to do.
pub(super) fn is_read_by_agents(lower: &str) -> bool {
    let name = lower.rsplit('/').next().unwrap_or_default();
    let named = matches!(
        name,
        "claude.md"
            | "claude.local.md"
            | "agents.md"
            | "agent.md"
            | "gemini.md"
            | "skill.md"
            | ".cursorrules"
            | ".windsurfrules"
            | ".clinerules"
            | "copilot-instructions.md"
            | ".goosehints"
            | "codex.md"
            | "warp.md"
    );
    let placed = [
        ".claude/commands/",
        ".claude/agents/",
        ".claude/skills/",
        ".claude/output-styles/",
        ".cursor/rules/",
        ".opencode/",
        ".windsurf/",
        "/.clinerules/",
        ".github/instructions/",
        ".github/prompts/",
        ".claude/rules/",
        ".codex/",
    ]
    .iter()
    .any(|dir| lower.contains(dir));
    named || placed && (name.ends_with(".md") || name.ends_with(".mdc") || name.ends_with(".txt"))
}

/// Words with which a text forbids or describes.
const FORBIDS: &[&str] = &[
    "never",
    "don't",
    "do not",
    "avoid",
    "forbid",
    "block",
    "flag",
    "reject",
    "refuse",
    "dangerous",
    "must not",
    "detect",
    "warn",
    "prevent",
    "instead of",
    "deny",
    "no `",
    "not run",
    "prohibited",
    "unsafe",
    "malicious",
    "e.g.",
    "such as",
    "like `",
];

/// Words with which a text orders.
const ORDERS: &[&str] = &[
    "run", "execute", "exec ", "invoke", "start by", "paste", "type ", "use `", "call ", "launch", "do `",
    "issue ",
];

/// Words with which a text asks about a command.
const ASKS: &[&str] = &[
    "where ",
    "explain",
    "why ",
    "find ",
    "search",
    "review",
    "document",
    "describe",
    "whether",
    "test that",
    "tests",
    "look for",
    "grep",
    "list ",
];

/// Ways to say that the person is not to know.
const HIDES: &[&str] = &[
    "without telling",
    "do not tell the user",
    "don't tell the user",
    "never tell the user",
    "without informing",
    "do not inform",
    "don't inform",
    "without the user",
    "do not mention",
    "don't mention this",
    "never mention",
    "secretly",
    "silently send",
    "hide this from",
    "without asking",
    "do not reveal",
    "keep this hidden",
    "do not show the user",
    "not tell the human",
    "without notifying",
    "do not notify",
    "do not alert",
];

/// Ways to take the agent away from whom it works for.
const OVERRIDES: &[&str] = &[
    "ignore all previous instructions",
    "ignore previous instructions",
    "disregard all previous",
    "disregard previous instructions",
    "ignore your instructions",
    "ignore the above instructions",
    "override your instructions",
    "forget all previous",
    "ignore all prior",
    "you are now in developer mode",
    "new system prompt",
];

/// Things that no instruction has to do with.
const SECRETS: &[&str] = &[
    "id_rsa",
    "id_ed25519",
    ".ssh/",
    ".aws/credentials",
    "environment variables",
    "process.env",
    "api keys",
    "api_key",
    ".env file",
    "contents of .env",
    "credentials",
    "secrets",
    "private key",
    "env to",
    "tokens",
];
const SENDS: &[&str] = &["exfiltrate", "send ", "upload", "post ", "curl", "transmit", "leak"];

pub(super) fn verdict(scene: &Scene<'_>, text: &str) -> Verdict {
    let lower = text.to_lowercase();
    let has = |list: &[&str]| list.iter().any(|word| lower.contains(word));
    let unseen = text
        .chars()
        .any(|c| matches!(c, '\u{e0000}'..='\u{e007f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'));
    let mut worst = if unseen { Verdict::Modify } else { Verdict::Allow };
    for (command, run, line) in extract::quoted(text) {
        let said = line.to_lowercase();
        let forbidden =
            FORBIDS.iter().any(|word| said.contains(word)) && !HIDES.iter().any(|word| said.contains(word));
        let bad = judge::command(scene, &command, Place::Hook);
        if run {
            worst = worst.max(bad).max(judge::unasked(scene, &command));
        } else if !forbidden && bad > Verdict::Allow && ORDERS.iter().any(|word| said.contains(word)) {
            worst = worst.max(if has(HIDES) || has(OVERRIDES) { Verdict::Block } else { Verdict::Modify });
        }
    }
    // In one sentence, so that a list of what is forbidden does not come together by chance.
    let sentences = lower.split(['\n', ';']).filter(|line| line.len() < 4096);
    for line in sentences {
        let in_line = |list: &[&str]| list.iter().any(|word| line.contains(word));
        let robs = in_line(SECRETS) && in_line(SENDS) && judge::foreign_host(scene, line);
        let forbids = in_line(FORBIDS) && !in_line(HIDES) && !in_line(OVERRIDES);
        if robs && !forbids {
            worst = Verdict::Block;
        }
        let pipes = line.contains("| sh") || line.contains("| bash");
        if in_line(OVERRIDES) && !line.contains(['"', '`']) && !forbids || in_line(HIDES) && pipes && !forbids
        {
            worst = worst.max(if pipes || robs { Verdict::Block } else { Verdict::Modify });
        }
    }
    // Settings in front of a command of the client's.
    let free = text.starts_with("---")
        && text.lines().take(16).any(|line| {
            line.starts_with("allowed-tools:") && (line.contains("Bash(*)") || line.contains("Bash(*:*)"))
        });
    worst.max(if free { Verdict::Modify } else { Verdict::Allow })
}

/// What an order to another agent deserves: its commands, in backquotes, in fences, or behind the word that orders them.
pub(super) fn order(scene: &Scene<'_>, text: &str) -> Verdict {
    let mut worst = if verdict(scene, text) == Verdict::Block { Verdict::Block } else { Verdict::Allow };
    let mut fenced = false;
    let mut ordered = false;
    for line in text.lines().take(2048) {
        if worst == Verdict::Block {
            break;
        }
        let lower = line.to_lowercase();
        if lower.trim_start().starts_with("```") {
            fenced = !fenced;
            continue;
        }
        if fenced {
            if ordered {
                worst = worst.max(sure(scene, line));
            }
            continue;
        }
        let has = |list: &[&str]| list.iter().any(|word| lower.contains(word));
        let quiet = !has(FORBIDS) && !has(ASKS);
        if !lower.trim().is_empty() {
            ordered = quiet && has(ORDERS);
        }
        // A command and nothing in front of it.
        let bare = line.trim_start().starts_with(|c: char| c.is_ascii_lowercase());
        if quiet && bare {
            worst = worst.max(sure(scene, until_said(line)));
        }
        if !(quiet && has(ORDERS)) {
            continue;
        }
        for part in line.split('`').skip(1).step_by(2) {
            worst = worst.max(sure(scene, part));
        }
        for word in ["run ", "execute ", "run: ", ": ", "command ", "directory: ", "then "] {
            for (at, _) in lower.match_indices(word).take(8) {
                let rest = line.get(at + word.len()..).unwrap_or_default();
                worst = worst.max(sure(scene, until_said(rest)));
            }
        }
    }
    worst
}

/// A command up to where the sentence around it goes on.
fn until_said(text: &str) -> &str {
    let end = [" and ", ". ", ", then", ", and", " on the ", " then ", " to ", " in ", " please"]
        .iter()
        .filter_map(|stop| text.find(stop))
        .min()
        .unwrap_or(text.len());
    text.get(..end).unwrap_or_default().trim_end_matches('.')
}

fn sure(scene: &Scene<'_>, command: &str) -> Verdict {
    let bad = || judge::command(scene, command, Place::Hook) == Verdict::Block;
    if command.trim().contains(' ') && (judge::refused(scene, command) || bad()) {
        Verdict::Block
    } else {
        Verdict::Allow
    }
}
