//! `review parse`, and what `review run` does with its client's answer: checked against the schema, cleaned, printed,
//! judged by its severest finding.

use std::collections::HashSet;
use std::io::{Read, Write};
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::args::ParseArgs;
use super::{Office, findings, id, line};
use crate::cli::Exit;
use crate::cli::quarantine::Past;
use crate::domain::{Fault, FaultKind, ReviewId, escape};
use crate::host::clock;
use crate::host::quarantine::{self, Contents, Session};
use crate::review::response::{
    self, CleanReport, Danger, MAX_BYTES, Metadata, ReviewedFile, SchemaError, clean,
};

/// Stands where a session would, when there is none; it is never shown.
const NO_SESSION: &str = "00000000-0000-4000-8000-000000000000";

pub fn parse(args: &ParseArgs, office: &Office<'_>, out: &mut dyn Write) -> Result<Exit> {
    let session = args.session.as_deref().map(id).transpose()?;
    let session = session.map(|id| office.open_session(&id)).transpose()?;
    let name = args.file.display().to_string();
    let answer = read(&args.file).with_context(|| escape(&name))?;
    let verdict = match &session {
        Some(session) => {
            let contents = session.contents(&office.machine.dirs)?.unwrap_or_default();
            let rows = quarantine::agents(&office.machine.dirs, office.now)?;
            let mut own = rows.iter().filter(|row| row.review == session.id.as_str()).peekable();
            // Where nobody worked in it, the answer comes from elsewhere, and nothing is known of its writer.
            let known = own.peek().is_some();
            let past = Past::of_all(&office.machine.dirs, own, office.now);
            let read = if known { past.read(session, &contents) } else { None };
            of_session(&answer, session, &contents, (past.count(), read.as_ref()))
        }
        None => without_session(&answer)?,
    };
    let told = Told {
        verdict,
        session: session.as_ref(),
        fail_on: args.fail_on.map(Danger::from),
        more: Value::Null,
    };
    told.finish(&escape(&name), args.json, out)
}

/// More than an answer may have is read to say how long it is.
fn read(file: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let most = 256 * MAX_BYTES as u64;
    if file == Path::new("-") {
        std::io::stdin().lock().take(most).read_to_end(&mut bytes)?;
    } else {
        std::fs::File::open(file)?.take(most).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// A report that may be shown, or what is wrong with the answer.
pub type Verdict = Result<CleanReport, Vec<SchemaError>>;

fn accepted(answer: &[u8]) -> Result<response::Report, Vec<SchemaError>> {
    match std::str::from_utf8(answer) {
        Ok(text) => response::parse(text),
        Err(_) => Err(vec![SchemaError { path: String::new(), expected: "expected UTF-8".to_owned() }]),
    }
}

/// The answer of an agent that worked in `session`, whose files are `contents`, made so many `calls`, and `read` those
/// files of it, if that is known.
pub fn of_session(
    answer: &[u8],
    session: &Session,
    contents: &Contents,
    (calls, read): (u32, Option<&HashSet<&str>>),
) -> Verdict {
    let grounds = session.grounds();
    let sealed = sealed(session, contents);
    let files: Vec<ReviewedFile<'_>> = contents
        .files
        .iter()
        .zip(&sealed)
        .map(|(file, sealed)| ReviewedFile {
            original: &file.original,
            sealed,
            lines: u32::try_from(file.lines).unwrap_or(u32::MAX),
        })
        .collect();
    let meta = Metadata {
        session: &session.id,
        root: &grounds.root,
        sealed_root: &grounds.copies,
        started_s: session.opened().unix_ms / 1000,
        finished_s: clock::now().unix_ms / 1000,
        calls,
        read,
    };
    accepted(answer).map(|report| clean(report, &files, &meta))
}

/// Where the copies of the files lie, in the same order.
fn sealed(session: &Session, contents: &Contents) -> Vec<String> {
    let grounds = session.grounds();
    contents.files.iter().map(|file| grounds.copy_of(&file.original).unwrap_or_default()).collect()
}

/// An answer of nobody knows which session: no place in it can be checked, so none is kept.
fn without_session(answer: &[u8]) -> Result<Verdict, Fault> {
    let nobody = ReviewId::parse(NO_SESSION)
        .ok_or_else(|| Fault::new(FaultKind::Host, "the answer", "no session can be named"))?;
    let meta = Metadata {
        session: &nobody,
        root: "",
        sealed_root: "",
        started_s: 0,
        finished_s: 0,
        calls: 0,
        read: None,
    };
    Ok(accepted(answer).map(|report| clean(report, &[], &meta)))
}

/// A verdict to be told.
pub struct Told<'t> {
    pub verdict: Verdict,
    pub session: Option<&'t Session>,
    pub fail_on: Option<Danger>,
    /// Keys that the JSON object has besides.
    pub more: Value,
}

impl Told<'_> {
    /// Prints it and says how it ends; `name` is the answer's.
    pub fn finish(&self, name: &str, json: bool, out: &mut dyn Write) -> Result<Exit> {
        let failed = match (&self.verdict, self.fail_on) {
            (Ok(report), Some(limit)) => report.findings.iter().any(|finding| finding.severity >= limit),
            (Ok(_), None) | (Err(_), _) => false,
        };
        if json {
            line(out, &self.json(failed)?)?;
        } else if let Ok(report) = &self.verdict {
            findings::print(out, report, self.session.map(|session| session.root.as_str()))?;
            if let Some(limit) = self.fail_on.filter(|_| failed) {
                writeln!(out, "a finding is at or above {}", limit.name())?;
            }
        }
        match &self.verdict {
            Ok(_) if failed => Ok(Exit::Blocked),
            Ok(_) => Ok(Exit::Fine),
            Err(errors) => {
                out.flush()?;
                let list: Vec<String> = errors.iter().map(|error| format!("\n  {error}")).collect();
                let why = format!("the answer does not follow the schema{}", list.concat());
                Err(Fault::new(FaultKind::BadMessage, name, why)
                    .with_hint("the schema is docs/response.schema.json; nothing of the answer is shown")
                    .into())
            }
        }
    }

    fn json(&self, failed: bool) -> Result<Value> {
        let (report, errors) = match &self.verdict {
            Ok(report) => {
                let mut value: Value = serde_json::from_str(&report.to_json())?;
                if let Some(fields) = value.as_object_mut().filter(|_| self.session.is_none()) {
                    fields.insert("review".to_owned(), Value::Null);
                }
                (value, Vec::new())
            }
            Err(errors) => {
                let list =
                    errors.iter().map(|error| json!({ "path": error.path, "expected": error.expected }));
                (Value::Null, list.collect())
            }
        };
        let mut value = json!({
            "session": self.session.map(|session| session.id.as_str()),
            "usable": self.verdict.is_ok(),
            "locations_checked": self.session.is_some(),
            "fail_on": self.fail_on.map(Danger::name),
            "failed": failed,
            "errors": errors,
            "report": report,
        });
        if let (Some(fields), Some(more)) = (value.as_object_mut(), self.more.as_object()) {
            fields.extend(more.clone());
        }
        Ok(value)
    }
}
