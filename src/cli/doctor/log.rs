//! The end of the audit log: whether it is as it was written, and whether a person has a key to prove more.

use super::report::Report;
use crate::cli::audit::verify::why;
use crate::host::audit::{self, End, Wrong};
use crate::host::registration::Surroundings;

pub fn examine(here: &Surroundings, report: &mut Report) {
    match audit::end(&audit::dir(&here.state_dir)) {
        Ok(End::None) => report.note("audit log", "it has no event yet"),
        Ok(End::Fine { given: 0 }) => report.note_with(
            "audit log",
            "its last events verify; nobody was given a key to verify them from elsewhere",
            "lazaret audit key",
        ),
        Ok(End::Fine { given }) => report.ok(
            "audit log",
            format!(
                "its last events verify; a verification key was given out for those from number {given} on"
            ),
        ),
        Ok(End::Wrong(bad)) => report.fail(
            "audit log",
            format!("it does not verify: {} ({})", why(bad.wrong), bad.wrong.name()),
            // Nothing brings a key back.
            if bad.wrong == Wrong::KeyGone { "lazaret audit prune" } else { "lazaret audit verify" },
        ),
        Err(fault) => report.fail("audit log", fault.message(), "lazaret audit verify"),
    }
}
