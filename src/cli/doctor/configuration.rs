//! The configuration under examination: whether it can be used, and what in it does not count and why.

use std::path::Path;
use std::time::SystemTime;

use super::report::Report;
use crate::cli::config::all_notes;
use crate::domain::Fault;
use crate::domain::fleet::{Answered, Asked, Caller, VERSION};
use crate::host::config::{Explained, NoteKind};
use crate::host::{brought, fleet};

const SUBJECT: &str = "config";

pub fn examine(explained: &Result<Explained, Fault>, report: &mut Report) {
    let explained = match explained {
        Ok(explained) => explained,
        Err(fault) => {
            let fix = fault.hint.as_deref().unwrap_or("lazaret config check");
            return report.fail(SUBJECT, fault.message(), fix);
        }
    };
    let mut usable = true;
    for note in all_notes(explained) {
        match note.kind {
            NoteKind::Broken => {
                usable = false;
                report.fail(SUBJECT, note.to_string(), "lazaret config check");
            }
            NoteKind::Untrusted => report.note_with(SUBJECT, note.to_string(), "lazaret trust show"),
            NoteKind::Unaccepted => report.note_with(SUBJECT, note.to_string(), "lazaret config accept"),
            NoteKind::Expired => {
                report.note_with(SUBJECT, note.to_string(), "remove it, or give it a new date")
            }
            NoteKind::Unknown => {
                report.note_with(SUBJECT, note.to_string(), "correct its name, or remove it")
            }
            NoteKind::Retired => report.note_with(SUBJECT, note.to_string(), "remove it"),
            NoteKind::Overruled | NoteKind::Adjusted => report.note(SUBJECT, note.to_string()),
        }
    }
    if usable {
        let files: Vec<&str> = explained.layers.iter().map(|layer| layer.path.as_str()).collect();
        let told = if files.is_empty() { "no file: the defaults count".to_owned() } else { files.join(", ") };
        report.ok(SUBJECT, told);
    }
}

/// The bundle of policy in the managed file, where one was applied.
pub fn policy(managed: &Path, report: &mut Report) {
    const SUBJECT: &str = "policy";
    const NEWER: &str = "sudo lazaret-fleet policy apply BUNDLE, with a newer one";
    let (now, found) = (SystemTime::now(), brought::in_force(managed));
    let (applied, same) = match found {
        Ok(Some(found)) => found,
        Ok(None) => return,
        Err(fault) => return report.fail(SUBJECT, fault.message(), NEWER),
    };
    let age = applied.age(now).map(|age| format!(", for {}", humantime::format_duration(age)));
    let told = format!("{} is in force{}", applied.title(), age.unwrap_or_default());
    if !same {
        let told = format!("{} is not what {} brought", managed.display(), applied.title());
        report.fail(SUBJECT, told, "sudo lazaret-fleet policy apply BUNDLE --replace");
    } else if applied.is_expired(now) {
        report.note_with(SUBJECT, format!("{told}, and has expired: it stays in force"), NEWER);
    } else if applied.partly.is_some() {
        report.note_with(SUBJECT, told, "bring lazaret and lazaret-fleet up to date");
    } else {
        report.ok(SUBJECT, told);
    }
}

/// The service for what holds on several machines, where one is set or would have to be.
pub fn fleet(explained: &Explained, state: &Path, report: &mut Report) {
    const SUBJECT: &str = "fleet";
    let policy = &explained.policy;
    let Some(place) = fleet::place(policy.fleet.service, state) else {
        if policy.tool_limits.iter().any(|limit| limit.shared) {
            let told = "a [[limits.tool]] is to count the calls on all machines, and fleet.service is off: it counts none";
            report.fail(SUBJECT, told, "set fleet.service, or leave `per` out");
        }
        return;
    };
    let caller = Caller { client: "doctor".to_owned(), session: "doctor".to_owned(), agent: None };
    let within_ms = policy.fleet.deadline_ms;
    let asked = Asked::Call {
        v: VERSION,
        caller,
        repositories: Vec::new(),
        review: None,
        limits: Vec::new(),
        lease: None,
        within_ms,
    };
    match fleet::ask(&place, &asked, within_ms) {
        Ok(Answered::Unknown { why }) => report.fail(SUBJECT, why, SERVICE),
        Ok(Answered::Stopped { what, why, .. }) => {
            report.note_with(SUBJECT, format!("a person stopped {what}: {why}"), "lazaret-fleet resume");
        }
        Ok(_) => report.ok(SUBJECT, format!("{} answers", place.display())),
        Err(fault) => report.fail(SUBJECT, fault.message(), SERVICE),
    }
}

/// What helps where the service does not answer.
const SERVICE: &str = "start `lazaret-fleet serve`, or look at what it says (docs/fleet.md)";
