//! What a run came to, for people, for programs, and for a report that stays when it was stopped.

use std::path::PathBuf;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::confine::Confined;
use super::restore::Restored;
use super::stop::{Stop, mebibytes};
use super::watch::Figures;
use crate::cli::Machine;
use crate::cli::stats::{self, Tally};
use crate::domain::{Profile, Subject, clip, escape};
use crate::host::audit::Line;
use crate::host::clock::{Now, rfc3339};
use crate::host::files;

/// So many blocked calls are named.
const NAMED: usize = 20;
/// Longest action in a line for people, in bytes.
const ACTION: usize = 160;

/// How a run ended.
#[derive(Debug)]
pub(super) enum Outcome {
    /// With this answer.
    Finished(String),
    /// The client, or lazaret itself, could not do it.
    Failed(String),
    Stopped(Stop),
}

/// All that is said of a run.
#[derive(Debug)]
pub(super) struct Summary {
    pub client: &'static str,
    pub session: Option<Subject>,
    pub profile: Profile,
    pub begun: Now,
    pub seconds: f64,
    pub figures: Figures,
    pub outcome: Outcome,
    pub restored: Option<Restored>,
    /// What was told of budgets that were used up in part.
    pub warnings: Vec<String>,
    /// None = no confinement was asked for.
    pub confined: Option<Confined>,
    pub tally: Tally,
    /// What was blocked, the first of it.
    pub blocked: Vec<Line>,
}

impl Summary {
    /// What the log says of the session, and of what was blocked in it.
    pub fn told(session: Option<&Subject>, begun: Now, machine: &Machine) -> Result<(Tally, Vec<Line>)> {
        match session {
            Some(session) => stats::of_session(session, begun.unix_ms, NAMED, machine),
            None => Ok((Tally::default(), Vec::new())),
        }
    }

    pub fn json(&self) -> Value {
        let (end, reason, answer) = match &self.outcome {
            Outcome::Finished(answer) => ("finished", None, Some(answer.as_str())),
            Outcome::Failed(why) => ("failed", Some(json!({ "kind": "client", "text": why })), None),
            Outcome::Stopped(stop) => {
                ("stopped", Some(json!({ "kind": stop.name(), "text": stop.text() })), None)
            }
        };
        let total = &self.tally.total;
        let blocked = self.blocked.iter().map(
            |line| json!({ "id": line.id, "tool": line.tool, "action": line.action, "rules": line.rules }),
        );
        json!({
            "client": self.client,
            "session": self.session.as_ref().map(|session| session.session.as_str()),
            "profile": self.profile.name(),
            "begun": rfc3339(self.begun.unix_ms),
            "seconds": (self.seconds * 1000.0).round() / 1000.0,
            "end": end,
            "reason": reason,
            "calls": self.figures.calls,
            "tokens": self.figures.tokens,
            "cost_usd": self.figures.cost,
            "peak_memory_bytes": self.figures.memory,
            "decisions": {
                "all": total.all, "allowed": total.allowed, "warned": total.warned, "modified": total.modified,
                "asked": total.asked, "blocked": total.blocked,
            },
            "blocked": blocked.collect::<Vec<_>>(),
            "interventions": self.tally.interventions,
            "faults": self.tally.faults,
            "restored": self.restored.as_ref().map(Restored::json),
            "warnings": self.warnings,
            "confined": self.confined.as_ref().map(Confined::json),
            "answer": answer,
        })
    }

    pub fn text(&self) -> String {
        let end = match &self.outcome {
            Outcome::Finished(_) => "finished".to_owned(),
            Outcome::Failed(why) => format!("failed: {why}"),
            Outcome::Stopped(stop) => format!("stopped: {}", stop.text()),
        };
        let Figures { calls, tokens, cost, memory } = self.figures;
        let memory = memory.map(|bytes| format!(", at most {}", mebibytes(bytes))).unwrap_or_default();
        let mut text = format!("lazaret: {} {end}\n", self.client);
        text.push_str(&format!(
            "{:.1} s, {calls} calls, {tokens} tokens, {cost:.4} dollars{memory}\n",
            self.seconds
        ));
        if self.profile != Profile::Default {
            text.push_str(&format!("profile: {}\n", self.profile.name()));
        }
        if let Some(confined) = &self.confined {
            text.push_str(&confined.text());
        }
        let total = &self.tally.total;
        text.push_str(&format!(
            "decisions: {} allowed, {} warned, {} asked, {} rewritten, {} blocked\n",
            total.allowed,
            total.warned,
            total.asked,
            total.rewritten(),
            total.blocked
        ));
        for (kind, count) in &self.tally.interventions {
            text.push_str(&format!("intervention {kind}: {count}\n"));
        }
        for line in &self.blocked {
            let rule = line.rules.first().map(|rule| format!(" [{rule}]")).unwrap_or_default();
            text.push_str(&format!("blocked: {} {}{rule}\n", line.tool, escape(&clip(&line.action, ACTION))));
        }
        if let Some(restored) = &self.restored {
            text.push_str(&restored.text());
        }
        text
    }

    /// The report of a run that was stopped, in a file of its own: none = it was not stopped.
    pub fn save(&self, machine: &Machine) -> Result<Option<PathBuf>> {
        if !matches!(self.outcome, Outcome::Stopped(_)) {
            return Ok(None);
        }
        let dir = machine.dirs.state.join("reports");
        files::private_dir(&dir).with_context(|| dir.display().to_string())?;
        let time = rfc3339(self.begun.unix_ms).replace([':', '-'], "");
        let path = dir.join(format!("run-{time}-{}.json", std::process::id()));
        let text = serde_json::to_string_pretty(&self.json())?;
        files::create(&path, text.as_bytes()).with_context(|| path.display().to_string())?;
        Ok(Some(path))
    }
}
