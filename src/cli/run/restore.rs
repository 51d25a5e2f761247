//! Putting back what a session changed, as far as checkpoints hold it.

use anyhow::Result;
use serde_json::{Value, json};

use crate::cli::{Machine, checkpoint, rollback};
use crate::domain::{Subject, escape};
use crate::host::unwatched;

/// What was put back, and what was not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Restored {
    pub restored: usize,
    pub removed: usize,
    /// Path and why: changed since by somebody else, never saved, or not to be written.
    pub left: Vec<(String, String)>,
    /// The checkpoint by which it can itself be undone.
    pub id: Option<String>,
    /// Why nothing could be done at all.
    pub problem: Option<String>,
}

/// All checkpoints of a session that are not undone yet, put back together.
pub(super) fn session(session: &Subject, machine: &Machine) -> Restored {
    put_back(session, machine)
        .unwrap_or_else(|error| Restored { problem: Some(format!("{error:#}")), ..Restored::default() })
}

fn put_back(session: &Subject, machine: &Machine) -> Result<Restored> {
    let store = checkpoint::store(machine)?;
    let mut standing = store.standing()?;
    standing.retain(|made| made.session == session.session.as_str() && made.client == session.client.name());
    let Some(newest) = standing.first() else {
        let problem = "no checkpoint of this session; see checkpoints.enabled in docs/checkpoints.md";
        return Ok(Restored { problem: Some(problem.to_owned()), ..Restored::default() });
    };
    let undo = store.plan(&standing, &[])?;
    let done = rollback::perform(&store, newest, &standing, (&undo, &mut unwatched))?;
    let refusals = undo.conflicts.iter().chain(&undo.unsaved).chain(&done.failed);
    Ok(Restored {
        restored: done.restored.len(),
        removed: done.removed.len(),
        left: refusals.map(|refusal| (refusal.path.clone(), refusal.why.clone())).collect(),
        id: done.id,
        problem: None,
    })
}

impl Restored {
    pub fn json(&self) -> Value {
        let left = self.left.iter().map(|(path, why)| json!({ "path": path, "why": why }));
        json!({
            "restored": self.restored, "removed": self.removed, "left": left.collect::<Vec<_>>(), "rollback": self.id,
            "problem": self.problem,
        })
    }

    pub fn text(&self) -> String {
        if let Some(problem) = &self.problem {
            return format!("nothing put back: {}\n", escape(problem));
        }
        let mut text = format!("put back: {} files restored, {} removed\n", self.restored, self.removed);
        for (path, why) in &self.left {
            text.push_str(&format!("left alone {}: {}\n", escape(path), escape(why)));
        }
        if let Some(id) = &self.id {
            text.push_str(&format!("to undo this: lazaret rollback {id}\n"));
        }
        text
    }
}
