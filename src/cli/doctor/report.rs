//! What doctor found: lines, each with its fix, printed for people or as JSON.

use std::io::Write;

use anyhow::Result;
use serde::Serialize;

use crate::domain::escape;

/// How a line stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    Ok,
    Note,
    Fail,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Line {
    pub status: Status,
    pub subject: String,
    pub message: String,
    /// What to do about it, a command where one does it.
    pub fix: Option<String>,
}

/// All that was looked at, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    pub lines: Vec<Line>,
}

impl Report {
    pub fn ok(&mut self, subject: &str, message: impl Into<String>) {
        self.push(Status::Ok, subject, message.into(), None);
    }

    pub fn note(&mut self, subject: &str, message: impl Into<String>) {
        self.push(Status::Note, subject, message.into(), None);
    }

    pub fn note_with(&mut self, subject: &str, message: impl Into<String>, fix: &str) {
        self.push(Status::Note, subject, message.into(), Some(fix.to_owned()));
    }

    pub fn fail(&mut self, subject: &str, message: impl Into<String>, fix: &str) {
        self.push(Status::Fail, subject, message.into(), Some(fix.to_owned()));
    }

    fn push(&mut self, status: Status, subject: &str, message: String, fix: Option<String>) {
        self.lines.push(Line { status, subject: subject.to_owned(), message, fix });
    }

    pub fn is_well(&self) -> bool {
        self.lines.iter().all(|line| line.status != Status::Fail)
    }

    pub fn print(&self, out: &mut dyn Write) -> Result<()> {
        // What is not well comes first, in the order in which it was looked at: a cause before what it causes.
        let failing = self.lines.iter().filter(|line| line.status == Status::Fail);
        let others = self.lines.iter().filter(|line| line.status != Status::Fail);
        for line in failing.chain(others) {
            let status = match line.status {
                Status::Ok => "ok  ",
                Status::Note => "note",
                Status::Fail => "FAIL",
            };
            writeln!(out, "{status}  {}: {}", line.subject, escape(&line.message))?;
            if let Some(fix) = &line.fix {
                writeln!(out, "      fix: {}", escape(fix))?;
            }
        }
        let failed = self.lines.iter().filter(|line| line.status == Status::Fail).count();
        match failed {
            0 => writeln!(out, "the gate is closed")?,
            1 => writeln!(out, "1 thing is not well")?,
            more => writeln!(out, "{more} things are not well")?,
        }
        Ok(())
    }

    pub fn print_json(&self, out: &mut dyn Write) -> Result<()> {
        #[derive(Serialize)]
        struct Whole<'a> {
            ok: bool,
            checks: &'a [Line],
        }
        let whole = Whole { ok: self.is_well(), checks: &self.lines };
        writeln!(out, "{}", serde_json::to_string(&whole)?)?;
        Ok(())
    }
}
