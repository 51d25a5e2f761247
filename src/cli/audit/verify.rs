//! `lazaret audit verify`: the log is as it was written, or here is the first place where it is not.

use std::io::Write;

use anyhow::Result;
use serde_json::json;

use crate::cli::{Exit, Machine};
use crate::host::audit::{self, Bad, Checked, Wrong};

pub fn run(json: bool, machine: &Machine, out: &mut dyn Write) -> Result<Exit> {
    let dir = audit::dir(&machine.dirs.state);
    match (audit::verify(&dir)?, json) {
        (Ok(checked), false) => good(&checked, out)?,
        (Ok(checked), true) => writeln!(out, "{}", good_json(&checked))?,
        (Err(bad), json) => {
            if json {
                writeln!(out, "{}", bad_json(&bad))?;
            } else {
                let Bad { file, line, offset, wrong } = &bad;
                writeln!(
                    out,
                    "{}: {}:{line} (byte {offset}): {}",
                    wrong.name(),
                    file.display(),
                    why(*wrong)
                )?;
            }
            return Ok(Exit::Failed);
        }
    }
    Ok(Exit::Fine)
}

fn good(checked: &Checked, out: &mut dyn Write) -> std::io::Result<()> {
    let Checked { files, lines, first, last, .. } = checked;
    if *lines == 0 {
        writeln!(out, "ok: no chained events in {files} files")?;
    } else {
        writeln!(out, "ok: {lines} events in {files} files, numbers {first} to {last}")?;
    }
    let notes = [
        (checked.unchained, "events from before there was a chain: nothing is known of them"),
        (checked.pruned, "events from before the chain's beginning, in files that were to be removed"),
        (
            checked.unanchored,
            "events behind the anchor: their writers were killed; the next event anchors them",
        ),
    ];
    for (count, what) in notes.iter().filter(|(count, _)| *count > 0) {
        writeln!(out, "note: {count} {what}")?;
    }
    if checked.exposed {
        writeln!(
            out,
            "note: others than you may read the chain's key: `chmod 600` the file `{}` beside the log",
            audit::CHAIN
        )?;
    }
    for torn in &checked.torn {
        writeln!(
            out,
            "note: torn: {}:{} (byte {}): {} bytes of an event whose writer was killed",
            torn.file.display(),
            torn.line,
            torn.offset,
            torn.length
        )?;
    }
    Ok(())
}

fn good_json(checked: &Checked) -> serde_json::Value {
    let torn: Vec<_> = checked
        .torn
        .iter()
        .map(|torn| {
            json!({"file": torn.file, "line": torn.line, "offset": torn.offset, "length": torn.length})
        })
        .collect();
    json!({
        "ok": true,
        "files": checked.files,
        "events": checked.lines,
        "first": checked.first,
        "last": checked.last,
        "unchained": checked.unchained,
        "pruned": checked.pruned,
        "unanchored": checked.unanchored,
        "exposed": checked.exposed,
        "torn": torn,
    })
}

fn bad_json(bad: &Bad) -> serde_json::Value {
    json!({
        "ok": false,
        "wrong": bad.wrong.name(),
        "file": bad.file,
        "line": bad.line,
        "offset": bad.offset,
        "why": why(bad.wrong),
    })
}

fn why(wrong: Wrong) -> String {
    match wrong {
        Wrong::Changed => "this event was changed after it was written".to_owned(),
        Wrong::Added => "what stands here was not written by lazaret".to_owned(),
        Wrong::Removed(from, to) => {
            let (numbers, are) = (numbers(from, to), if from == to { "is" } else { "are" });
            format!("{numbers}, which stood in front of this line, {are} missing")
        }
        Wrong::Moved(number) => format!("event {number} belongs here and stands further behind"),
        Wrong::Repeated(number) => format!("event {number} stands here again"),
        Wrong::CutOff(from, to) => {
            let was = if from == to { "was" } else { "were" };
            format!("the log ends here, and {} {was} written after it", numbers(from, to))
        }
        Wrong::KeyGone => {
            "the key that this event was sealed with is not there any more, so nothing can be proven of it; \
             `lazaret audit prune` removes old files"
                .to_owned()
        }
        Wrong::Anchor => "the chain's anchor names another last event than the log has".to_owned(),
    }
}

fn numbers(from: u64, to: u64) -> String {
    if from == to { format!("event {from}") } else { format!("events {from} to {to}") }
}
