//! `review start`: opens a session and prints the task of the agent that is to read in it.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::args::{Scope, StartArgs};
use super::{Office, line};
use crate::cli::Exit;
use crate::cli::progress::{Progress, Total};
use crate::cli::quarantine::Task;
use crate::domain::{Fault, FaultKind, QuarantinePolicy, escape};
use crate::host::clock;
use crate::host::places;
use crate::host::quarantine::{self, Contents, EntryKind, Holder, Opening, Session, VaultKind, Why};

/// What is printed of the names that were left out.
const SHOWN: usize = 20;

pub fn start(args: &StartArgs, office: &Office<'_>, out: &mut dyn Write) -> Result<Exit> {
    if crate::cli::is_output_closed() {
        let why = "it is closed, so the task of the agent could not be written; no session was opened";
        return Err(Fault::new(FaultKind::Host, "standard output", why)
            .with_hint("leave it open, or send it to a file")
            .into());
    }
    let mut progress = Progress::begin("sealing", Total::UncountedFiles).finishing();
    let session = open(&args.scope, args.ttl, (Holder::above(), &mut progress), office)?;
    drop(progress);
    let told = Brief::of(office, &session).map_err(anyhow::Error::from).and_then(|brief| {
        if args.json { line(out, &brief.json()) } else { brief.print(out) }?;
        Ok(out.flush()?)
    });
    if told.as_ref().is_err_and(|error| !is_reader_gone(error)) {
        // Nobody knows of it: it must not stay open. The first error is what counts.
        let _ended = office.end(&session.id, Why::Broken);
    }
    told.map(|()| Exit::Fine)
}

/// Whether somebody has read what they wanted (`| head`).
fn is_reader_gone(error: &anyhow::Error) -> bool {
    let gone = |error: &std::io::Error| error.kind() == std::io::ErrorKind::BrokenPipe;
    error.downcast_ref::<std::io::Error>().is_some_and(gone)
}

/// Opens a session for `scope` and the process that it is for, with its line in the audit log.
pub fn open(
    scope: &Scope,
    ttl_s: u32,
    (opener, progress): (Option<Holder>, &mut Progress),
    office: &Office<'_>,
) -> Result<Session> {
    let cwd = std::env::current_dir().context("the working directory")?;
    let root = match &scope.root {
        Some(root) => root.clone(),
        None => places::repository(&cwd.to_string_lossy()).map_or_else(|| cwd.clone(), PathBuf::from),
    };
    let opening = Opening {
        root: &root,
        paths: &scope.files,
        ttl_s,
        timeout_s: timeout_s(scope, office),
        instructions: scope.instructions.as_deref(),
        opener,
        places: &office.machine.places()?,
        keys: VaultKind::chosen(&office.machine.env)?,
        now: clock::now(),
    };
    let session = quarantine::open(&office.machine.dirs, &opening, &mut |done| progress.at(done))?;
    office.noted(&session, office.log().review_started(&session))?;
    Ok(session)
}

/// How long an agent may work, in seconds.
pub fn timeout_s(scope: &Scope, office: &Office<'_>) -> u32 {
    scope.timeout.unwrap_or(office.policy.quarantine.timeout_seconds)
}

/// The type of agent that reads in quarantine.
pub fn agent_type<'o>(office: &'o Office<'_>) -> &'o str {
    office.policy.quarantine.agent_types.first().map_or(QuarantinePolicy::REVIEWER, String::as_str)
}

/// A session and the task of its agent, to be printed.
pub struct Brief<'b> {
    office: &'b Office<'b>,
    session: &'b Session,
    contents: Contents,
    pub task: Task,
}

impl<'b> Brief<'b> {
    pub fn of(office: &'b Office<'_>, session: &'b Session) -> Result<Brief<'b>, Fault> {
        let task = Task::of(&office.machine.dirs, session)?;
        let contents = session.contents(&office.machine.dirs)?.unwrap_or_default();
        Ok(Brief { office, session, contents, task })
    }

    pub fn json(&self) -> Value {
        let session = self.session;
        let skipped: Vec<Value> =
            self.contents.skipped.iter().map(|left| json!({ "path": left.path, "why": left.why })).collect();
        json!({
            "session": session.id.as_str(),
            "root": session.root,
            "opened": session.opened().rfc3339(),
            "expires": clock::rfc3339(session.expires_unix_ms()),
            "ttl_seconds": session.ttl_s,
            "timeout_seconds": session.timeout_s,
            "keys": session.vault.name(),
            "files": session.files,
            "bytes": session.bytes,
            "skipped": skipped,
            "linked": linked(&self.contents),
            "references": references(session, &self.task),
            "agent_type": agent_type(self.office),
            "system_prompt": self.task.system_prompt,
            "user_prompt": self.task.user_prompt,
            "prompt": self.task.whole(),
        })
    }

    pub fn print(&self, out: &mut dyn Write) -> Result<()> {
        let session = self.session;
        writeln!(out, "review {}", session.id)?;
        writeln!(out, "  root:    {}", escape(&session.root))?;
        writeln!(
            out,
            "  sealed:  {}, {} bytes (key: {})",
            files(session.files),
            session.bytes,
            session.vault.name()
        )?;
        writeln!(
            out,
            "  expires: {} (in {} s; an agent may work for {} s)",
            clock::rfc3339(session.expires_unix_ms()),
            session.ttl_s,
            session.timeout_s
        )?;
        print_references(out, session, &self.task)?;
        print_skipped(out, &self.contents)?;
        print_linked(out, &self.contents)?;
        writeln!(
            out,
            "hand this to the agent tool: subagent type `{}`, and as its prompt all between the lines",
            escape(agent_type(self.office))
        )?;
        writeln!(out, "{0}\n{1}\n{0}", "-".repeat(72), self.task.whole().trim_end())?;
        writeln!(out, "when it has answered: lazaret review end {}", session.id)?;
        Ok(())
    }
}

/// The references of a session, each with what it stands for.
pub fn references(session: &Session, task: &Task) -> Vec<Value> {
    let named = session.entries.iter().zip(&task.references);
    named
        .map(|(entry, uri)| json!({ "path": entry.original, "kind": kind(entry.kind), "uri": uri }))
        .collect()
}

/// So many files, in words.
pub fn files(count: u64) -> String {
    if count == 1 { "1 file".to_owned() } else { format!("{count} files") }
}

pub const fn kind(kind: EntryKind) -> &'static str {
    match kind {
        EntryKind::File => "file",
        EntryKind::Dir => "dir",
    }
}

fn print_references(out: &mut dyn Write, session: &Session, task: &Task) -> Result<()> {
    writeln!(out, "references")?;
    for (entry, uri) in session.entries.iter().zip(&task.references) {
        writeln!(out, "  {} ({})\n    {uri}", escape(&entry.original), kind(entry.kind))?;
    }
    Ok(())
}

/// The files that have other names too.
pub fn linked(contents: &Contents) -> Vec<Value> {
    contents.linked.iter().map(|(path, names)| json!({ "path": path, "names": names })).collect()
}

pub fn print_linked(out: &mut dyn Write, contents: &Contents) -> Result<()> {
    if contents.linked.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "hard links: these files have other names too, and may be changed by those; the copies stay as they are"
    )?;
    for (path, names) in contents.linked.iter().take(SHOWN) {
        writeln!(out, "  {}: {names} names", escape(path))?;
    }
    let more = contents.linked.len().saturating_sub(SHOWN);
    if more > 0 {
        writeln!(out, "  and {more} more (--json names all)")?;
    }
    Ok(())
}

/// What lies below a named directory and was not copied.
pub fn print_skipped(out: &mut dyn Write, contents: &Contents) -> Result<()> {
    if contents.skipped.is_empty() {
        return Ok(());
    }
    writeln!(out, "skipped")?;
    for left in contents.skipped.iter().take(SHOWN) {
        writeln!(out, "  {}: {}", escape(&left.path), escape(&left.why))?;
    }
    let more = contents.skipped.len().saturating_sub(SHOWN);
    if more > 0 {
        writeln!(out, "  and {more} more (--json names all)")?;
    }
    Ok(())
}
