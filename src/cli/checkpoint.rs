//! `lazaret checkpoint`: what was saved, and why. Changes nothing.

use std::io::Write;

use anyhow::{Result, bail};
use serde_json::{Value, json};

use crate::cli::CHECKS;
use crate::cli::args::CheckpointCommand;
use crate::cli::{Exit, Machine};
use crate::domain::{clip, escape};
use crate::host::checkpoint::{Checkpoints, Manifest, State};
use crate::host::clock;
use crate::host::config;

/// Longest action in a line.
pub const ACTION: usize = 60;

pub fn run(command: &CheckpointCommand, machine: &Machine, out: &mut dyn Write) -> Result<Exit> {
    let store = store(machine)?;
    match command {
        CheckpointCommand::List { session, json } => list(&store, session.as_deref(), *json, out),
        CheckpointCommand::Show { id, json } => show(&store, id, *json, out),
    }
}

/// The store, with the bounds of the configuration that is in force here.
pub fn store(machine: &Machine) -> Result<Checkpoints> {
    let policy = config::load(&machine.dirs, &machine.places()?, CHECKS)?.policy;
    Ok(Checkpoints::new(&machine.dirs.state, policy.checkpoints))
}

/// The checkpoint of that id, or the only one whose id begins so.
pub fn named(store: &Checkpoints, id: &str) -> Result<Manifest> {
    if let Some(manifest) = store.find(id)? {
        return Ok(manifest);
    }
    let mut found = store.all()?;
    found.retain(|manifest| manifest.id.starts_with(id));
    match (found.pop(), found.len()) {
        (Some(manifest), 0) if !id.is_empty() => Ok(manifest),
        (Some(_), _) => bail!("checkpoint {id}: several begin so; `lazaret checkpoint list` shows them"),
        (None, _) => bail!("checkpoint {id}: there is none; `lazaret checkpoint list` shows all"),
    }
}

fn list(store: &Checkpoints, session: Option<&str>, json: bool, out: &mut dyn Write) -> Result<Exit> {
    let mut all = store.all()?;
    all.retain(|manifest| session.is_none_or(|session| manifest.session == session));
    if json {
        let all: Vec<Value> = all.iter().map(head).collect();
        writeln!(out, "{}", serde_json::to_string_pretty(&json!({ "checkpoints": all }))?)?;
        return Ok(Exit::Fine);
    }
    if all.is_empty() {
        writeln!(out, "no checkpoints")?;
    }
    for manifest in &all {
        writeln!(
            out,
            "{}  {}  {} paths, {} bytes  {}: {}",
            manifest.id,
            clock::rfc3339(manifest.unix_ms),
            manifest.entries.len(),
            manifest.bytes(),
            manifest.tool,
            escape(&clip(&manifest.action, ACTION))
        )?;
    }
    Ok(Exit::Fine)
}

fn show(store: &Checkpoints, id: &str, json: bool, out: &mut dyn Write) -> Result<Exit> {
    let manifest = named(store, id)?;
    if json {
        let mut whole = head(&manifest);
        if let Some(object) = whole.as_object_mut() {
            let entries: Vec<Value> = manifest.entries.iter().map(|e| entry(&e.path, &e.state)).collect();
            object.insert("entries".to_owned(), Value::from(entries));
        }
        writeln!(out, "{}", serde_json::to_string_pretty(&whole)?)?;
        return Ok(Exit::Fine);
    }
    writeln!(out, "{}  {}", manifest.id, clock::rfc3339(manifest.unix_ms))?;
    writeln!(out, "session {} of {}", escape(&manifest.session), manifest.client)?;
    writeln!(out, "before {}: {}", manifest.tool, escape(&manifest.action))?;
    for entry in &manifest.entries {
        let more = match &entry.state {
            State::File { size, mode, .. } => format!("{size} bytes, mode {mode:04o}"),
            State::Symlink { target } => format!("to {}", escape(target)),
            State::Directory { mode } => format!("mode {mode:04o}"),
            State::Skipped { why, .. } => why.clone(),
            State::Absent => String::new(),
        };
        writeln!(out, "  {:9} {}  {more}", entry.state.name(), escape(&entry.path))?;
    }
    Ok(Exit::Fine)
}

fn head(manifest: &Manifest) -> Value {
    json!({
        "id": manifest.id,
        "time": clock::rfc3339(manifest.unix_ms),
        "client": manifest.client,
        "session": manifest.session,
        "prompt": manifest.prompt,
        "call": manifest.call,
        "tool": manifest.tool,
        "action": manifest.action,
        "cwd": manifest.cwd,
        "root": manifest.root,
        "undoes": manifest.undoes,
        "paths": manifest.entries.len(),
        "bytes": manifest.bytes(),
        "complete": manifest.lost().next().is_none(),
    })
}

fn entry(path: &str, state: &State) -> Value {
    match state {
        State::Absent => json!({ "path": path, "kind": state.name() }),
        State::File { digest, mode, size, links, .. } => {
            json!({ "path": path, "kind": state.name(), "mode": mode, "size": size, "links": links, "digest": digest })
        }
        State::Symlink { target } => json!({ "path": path, "kind": state.name(), "target": target }),
        State::Directory { mode } => json!({ "path": path, "kind": state.name(), "mode": mode }),
        State::Skipped { why, .. } => json!({ "path": path, "kind": state.name(), "why": why }),
    }
}
