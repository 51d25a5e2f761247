//! Whether a client has the quarantined reviewer, and whether it is the one that lazaret brings.

use super::report::Report;
use crate::cli::install::{agent_for, agent_path, shown};
use crate::domain::Client;
use crate::host::registration::{Scope, Surroundings, files};

/// Without it no review is started, but no call runs unchecked either: so nothing here is a failure.
pub fn examine(client: Client, here: &Surroundings, report: &mut Report) {
    let subject = client.name();
    let fix = format!("lazaret install {subject}");
    // Project and local scope share the file.
    let places = [Scope::User, Scope::Project].map(|scope| agent_path(client, scope, here));
    let mut found = false;
    for path in places.into_iter().flatten() {
        match files::read(&path) {
            Ok(None) => {}
            Ok(Some(text)) => {
                found = true;
                let name = shown(&path);
                if text == agent_for(client) {
                    report.ok(subject, format!("{name}: the quarantined reviewer"));
                } else {
                    let message = format!(
                        "{name} is not the reviewer of this lazaret; the gate limits it all the same"
                    );
                    report.note_with(subject, message, &format!("rm {name}, then: {fix}"));
                }
            }
            Err(fault) => {
                found = true;
                report.note_with(subject, fault.to_string(), fault.hint.as_deref().unwrap_or(&fix));
            }
        }
    }
    if !found {
        report.note_with(
            subject,
            "the quarantined reviewer is not installed: no review can be started",
            &fix,
        );
    }
}
