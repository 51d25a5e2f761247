//! What a person is told at the beginning of a session: what about this machine is not as they may think.

use std::path::Path;

use super::{ELSEWHERE, Setting};
use crate::cli::CHECKS;
use crate::cli::audit::verify::why;
use crate::domain::{Places, Reason, Severity, Verdict, escape};
use crate::host::audit::{self, End};
use crate::host::config::{self, NoteKind};
use crate::host::watch;

/// All of it.
pub fn said(setting: &Setting, places: &Places) -> impl Iterator<Item = Reason> {
    [elsewhere(setting), replaced(setting), unaccepted(setting, places), unverified(setting)]
        .into_iter()
        .flatten()
}

/// Variables name other places than the registration: a project may have set them.
pub fn elsewhere(setting: &Setting) -> Option<Reason> {
    let reason = warning(ELSEWHERE, setting.elsewhere()?);
    Some(Reason {
        severity: Severity::High,
        instead: Some("if you set them, register with them set: lazaret install".to_owned()),
        ..reason
    })
}

/// The binary is not the one that was installed, or that ran last.
fn replaced(setting: &Setting) -> Option<Reason> {
    let binary = std::env::current_exe().ok()?;
    let text = match watch::binary::keep(&setting.dirs.state, &binary) {
        Ok(false) => return None,
        Ok(true) => {
            format!("{} is not the file that it was when it was installed or last started", shown(&binary))
        }
        Err(fault) => {
            format!("{} could not be compared with what was installed: {}", shown(&binary), fault.message())
        }
    };
    let instead =
        Some("if you did not put it there, install lazaret again, and look at what ran before".to_owned());
    Some(Reason { severity: Severity::High, instead, ..warning("self.binary-changed", text) })
}

fn shown(path: &Path) -> String {
    escape(&path.display().to_string())
}

/// What in the user's configuration does not count because no person accepted it.
fn unaccepted(setting: &Setting, places: &Places) -> Option<Reason> {
    let notes = config::load(&setting.dirs, places, CHECKS).ok()?.notes;
    let texts: Vec<String> =
        notes.iter().filter(|note| note.kind == NoteKind::Unaccepted).map(ToString::to_string).collect();
    (!texts.is_empty()).then(|| warning("config.unaccepted", texts.join("; ")))
}

/// The end of the log is not what was written.
fn unverified(setting: &Setting) -> Option<Reason> {
    let bad = match audit::begun(&audit::dir(&setting.dirs.state)) {
        Ok(End::Wrong(bad)) if setting.policy.audit.enabled => bad,
        Ok(_) | Err(_) => return None,
    };
    let text = format!(
        "the audit log does not verify ({}, byte {}): {}; see `lazaret audit verify`",
        bad.file.display(),
        bad.offset,
        why(bad.wrong)
    );
    Some(warning("audit.unverified", text))
}

fn warning(rule: &str, message: String) -> Reason {
    Reason::new(rule, Verdict::Warn, Severity::Medium, message)
}
