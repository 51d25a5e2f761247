//! `agents`: who is at work in quarantine now, in which review, and how long yet.

use std::io::Write;

use anyhow::Result;
use serde_json::{Value, json};

use super::{Office, line};
use crate::cli::Exit;
use crate::cli::quarantine::Past;
use crate::domain::escape;
use crate::host::clock;
use crate::host::quarantine::{self, AgentRow, AgentState};

pub fn agents(as_json: bool, office: &Office<'_>, out: &mut dyn Write) -> Result<Exit> {
    let mut rows = quarantine::agents(&office.machine.dirs, office.now)?;
    rows.retain(|row| row.state == AgentState::Working);
    let limits = &office.policy.quarantine;
    if as_json {
        let rows: Vec<Value> = rows.iter().map(|row| json(row, office)).collect();
        let value = json!({
            "agents": rows,
            "max_concurrent": limits.concurrent,
            "max_calls": limits.calls,
            "window_seconds": limits.window_seconds,
        });
        line(out, &value)?;
        return Ok(Exit::Fine);
    }
    if rows.is_empty() {
        writeln!(out, "no quarantined agent is at work")?;
        return Ok(Exit::Fine);
    }
    for row in &rows {
        writeln!(out, "{}", words(row, office))?;
    }
    writeln!(
        out,
        "{} of {} at once; each may make {} calls in {} s",
        rows.len(),
        limits.concurrent,
        limits.calls,
        limits.window_seconds
    )?;
    Ok(Exit::Fine)
}

/// An agent in one line.
pub fn words(row: &AgentRow, office: &Office<'_>) -> String {
    let calls = calls(row, office);
    let agent = row.agent.as_deref().unwrap_or("(the client's main agent)");
    let state = match row.state {
        AgentState::Working => format!("{} s left", row.left_ms / 1000),
        AgentState::Left => "has left".to_owned(),
        AgentState::TimedOut => "its time has passed".to_owned(),
    };
    format!(
        "{} of {} session {}: {}, {state}, since {} s, review {}",
        escape(agent),
        escape(&row.client),
        escape(&row.session),
        if calls == 1 { "1 call".to_owned() } else { format!("{calls} calls") },
        office.now.age_ms(row.since) / 1000,
        escape(&row.review)
    )
}

/// The calls that an agent made, refused ones included, as far as they are remembered.
fn calls(row: &AgentRow, office: &Office<'_>) -> u32 {
    Past::of_all(&office.machine.dirs, std::iter::once(row), office.now).count()
}

/// An agent's keys.
pub fn json(row: &AgentRow, office: &Office<'_>) -> Value {
    let state = match row.state {
        AgentState::Working => "working",
        AgentState::Left => "left",
        AgentState::TimedOut => "timed_out",
    };
    json!({
        "client": row.client,
        "client_session": row.session,
        "agent": row.agent,
        "session": row.review,
        "state": state,
        "calls": calls(row, office),
        "since": row.since.rfc3339(),
        "seconds_left": row.left_ms / 1000,
        "deadline": clock::rfc3339(clock::now().unix_ms.saturating_add(row.left_ms)),
    })
}
