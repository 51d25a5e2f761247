//! `review list`, `review show`, `review end`: the sessions as they are, and their end.

use std::io::Write;

use anyhow::Result;
use serde_json::{Value, json};

use super::start::{self, Brief};
use super::{Office, agents, id, line, seconds_left};
use crate::cli::Exit;
use crate::domain::{Fault, escape};
use crate::host::clock;
use crate::host::quarantine::{self, AgentRow, AgentState, Contents, Listed, Session, Why};

/// What is printed of a session's files.
const SHOWN: usize = 50;

pub fn list(json: bool, office: &Office<'_>, out: &mut dyn Write) -> Result<Exit> {
    let all = quarantine::list(&office.machine.dirs)?;
    let rows = quarantine::agents(&office.machine.dirs, office.now);
    let at_work = |id: &str| rows.as_ref().map(|rows| working(rows, id).count());
    if json {
        let sessions: Vec<Value> = all
            .iter()
            .map(|listed| {
                let mut value = listed_json(listed, office);
                let agents = at_work(listed.id.as_str()).ok();
                if let Some(fields) = value.as_object_mut() {
                    fields.insert("agents".to_owned(), json!(agents));
                }
                value
            })
            .collect();
        line(out, &json!({ "sessions": sessions }))?;
        return Ok(Exit::Fine);
    }
    if all.is_empty() {
        writeln!(out, "no review session is open, and none ended in the last day")?;
    }
    for listed in &all {
        let about = match &listed.session {
            Err(fault) => format!("damaged  {}; end it with `lazaret review end`", escape(&fault.message())),
            Ok(Session { ended: Some(ended), root, .. }) => {
                let at = clock::rfc3339(ended.unix_ms);
                format!("ended    {at} ({})  {}", ended.why.name(), escape(root))
            }
            Ok(session) => format!(
                "open     {} s left, {}, {} at work  {}",
                seconds_left(session, office.now),
                start::files(session.files),
                at_work(listed.id.as_str()).map_or_else(|_| "?".to_owned(), |count| count.to_string()),
                escape(&session.root)
            ),
        };
        writeln!(out, "{}  {about}", listed.id)?;
    }
    Ok(Exit::Fine)
}

/// The agents that hold a place in a review.
fn working<'r>(rows: &'r [AgentRow], review: &str) -> impl Iterator<Item = &'r AgentRow> {
    rows.iter().filter(move |row| row.review == review && row.state == AgentState::Working)
}

fn listed_json(listed: &Listed, office: &Office<'_>) -> Value {
    match &listed.session {
        Ok(session) => session_json(session, office),
        Err(fault) => json!({ "session": listed.id.as_str(), "state": "damaged", "fault": fault.message() }),
    }
}

/// The keys are the same for an open session and one that has ended.
fn session_json(session: &Session, office: &Office<'_>) -> Value {
    let ended =
        session.ended.map(|ended| json!({ "at": clock::rfc3339(ended.unix_ms), "why": ended.why.name() }));
    json!({
        "session": session.id.as_str(),
        "state": if session.ended.is_some() { "ended" } else { "open" },
        "root": session.root,
        "opened": session.opened().rfc3339(),
        "expires": clock::rfc3339(session.expires_unix_ms()),
        "seconds_left": if session.ended.is_some() { 0 } else { seconds_left(session, office.now) },
        "ttl_seconds": session.ttl_s,
        "timeout_seconds": session.timeout_s,
        "keys": session.vault.name(),
        "files": session.files,
        "bytes": session.bytes,
        "skipped_count": session.skipped,
        "ended": ended,
    })
}

/// `how`: whether to print the task, and whether as JSON.
pub fn show(text: &str, how: (bool, bool), office: &Office<'_>, out: &mut dyn Write) -> Result<Exit> {
    let session = office.session(&id(text)?)?;
    let (prompt, json) = how;
    let brief = if prompt {
        office.open_session(&session.id)?;
        Some(Brief::of(office, &session)?)
    } else {
        None
    };
    if let Some(brief) = brief.as_ref().filter(|_| !json) {
        writeln!(out, "{}", brief.task.whole().trim_end())?;
        return Ok(Exit::Fine);
    }
    let contents = session.contents(&office.machine.dirs)?.unwrap_or_default();
    let rows = quarantine::agents(&office.machine.dirs, office.now)?;
    let rows: Vec<&AgentRow> = rows.iter().filter(|row| row.review == session.id.as_str()).collect();
    if json {
        let mut value = session_json(&session, office);
        if let Some(fields) = value.as_object_mut() {
            details(fields, &session, &contents, (&rows, office));
            if let Some(brief) = &brief {
                fields.insert("references".to_owned(), json!(start::references(&session, &brief.task)));
                fields.insert("system_prompt".to_owned(), json!(brief.task.system_prompt));
                fields.insert("user_prompt".to_owned(), json!(brief.task.user_prompt));
                fields.insert("prompt".to_owned(), json!(brief.task.whole()));
            }
        }
        line(out, &value)?;
        return Ok(Exit::Fine);
    }
    print_session(out, &session, office)?;
    print_contents(out, &session, &contents)?;
    if !rows.is_empty() {
        writeln!(out, "agents")?;
    }
    for row in rows {
        writeln!(out, "  {}", agents::words(row, office))?;
    }
    Ok(Exit::Fine)
}

/// What `show` adds to the line of the list.
fn details(
    fields: &mut serde_json::Map<String, Value>,
    session: &Session,
    contents: &Contents,
    (rows, office): (&[&AgentRow], &Office<'_>),
) {
    let entries: Vec<Value> = session
        .entries
        .iter()
        .map(|entry| {
            json!({ "path": entry.original, "kind": start::kind(entry.kind), "bytes": entry.bytes,
                    "sha256": entry.sha256 })
        })
        .collect();
    let files: Vec<Value> = contents
        .files
        .iter()
        .map(|file| {
            json!({ "path": file.original, "bytes": file.bytes, "lines": file.lines, "sha256": file.sha256 })
        })
        .collect();
    let skipped: Vec<Value> =
        contents.skipped.iter().map(|left| json!({ "path": left.path, "why": left.why })).collect();
    fields.insert("instructions".to_owned(), json!(session.instructions));
    fields.insert("entries".to_owned(), json!(entries));
    fields.insert("sealed".to_owned(), json!(files));
    fields.insert("skipped".to_owned(), json!(skipped));
    let agents: Vec<Value> = rows.iter().map(|row| agents::json(row, office)).collect();
    fields.insert("agents".to_owned(), json!(agents));
}

fn print_session(out: &mut dyn Write, session: &Session, office: &Office<'_>) -> Result<()> {
    match session.ended {
        Some(ended) => {
            let at = clock::rfc3339(ended.unix_ms);
            writeln!(out, "review {}: ended at {at} ({})", session.id, ended.why.name())?;
        }
        None => writeln!(
            out,
            "review {}: open, {} s left (until {}); an agent may work for {} s",
            session.id,
            seconds_left(session, office.now),
            clock::rfc3339(session.expires_unix_ms()),
            session.timeout_s
        )?,
    }
    writeln!(out, "  root:   {}", escape(&session.root))?;
    writeln!(out, "  sealed: {}, {} bytes", start::files(session.files), session.bytes)?;
    if let Some(instructions) = &session.instructions {
        writeln!(out, "  asked:  {}", escape(instructions))?;
    }
    Ok(())
}

fn print_contents(out: &mut dyn Write, session: &Session, contents: &Contents) -> Result<()> {
    writeln!(out, "entries")?;
    for entry in &session.entries {
        let kind = start::kind(entry.kind);
        writeln!(out, "  {} ({kind}, {} bytes)", escape(&entry.original), entry.bytes)?;
    }
    if !contents.files.is_empty() {
        writeln!(out, "files")?;
    }
    for file in contents.files.iter().take(SHOWN) {
        writeln!(out, "  {} ({} lines, {} bytes)", escape(&file.original), file.lines, file.bytes)?;
    }
    let more = contents.files.len().saturating_sub(SHOWN);
    if more > 0 {
        writeln!(out, "  and {more} more (--json names all)")?;
    }
    start::print_skipped(out, contents)
}

/// Ends the session named, or every open one.
pub fn end(named: Option<&str>, json: bool, office: &Office<'_>, out: &mut dyn Write) -> Result<Exit> {
    let ids = match named {
        Some(text) => vec![id(text)?],
        None => {
            let open = |listed: &Listed| listed.session.as_ref().is_ok_and(|session| session.ended.is_some());
            let all = quarantine::list(&office.machine.dirs)?;
            all.into_iter().filter(|listed| !open(listed)).map(|listed| listed.id).collect()
        }
    };
    let mut done = Vec::with_capacity(ids.len());
    let mut first: Option<Fault> = None;
    for id in ids {
        match office.end(&id, Why::Asked) {
            Ok(ended) => done.push((id, ended)),
            // The others are to end all the same.
            Err(fault) => drop(first.get_or_insert(fault)),
        }
    }
    // Also those that nobody named end now, if they are over.
    let tidied = office.tidy();
    if let Some(fault) = first.or(tidied.err()) {
        return Err(fault.into());
    }
    let mut sessions = Vec::with_capacity(done.len());
    for (id, ended) in &done {
        let was = if *ended { None } else { office.session(id)?.ended };
        let words = match was {
            None => format!("review {id}: ended; its key is destroyed, its copies are removed"),
            Some(was) => {
                format!(
                    "review {id}: had ended already, at {} ({})",
                    clock::rfc3339(was.unix_ms),
                    was.why.name()
                )
            }
        };
        if !json {
            writeln!(out, "{words}")?;
        }
        sessions.push(json!({ "session": id.as_str(), "ended": ended, "had_ended": was.is_some() }));
    }
    if json {
        line(out, &json!({ "sessions": sessions }))?;
    } else if done.is_empty() {
        writeln!(out, "no review session is open")?;
    }
    Ok(Exit::Fine)
}
