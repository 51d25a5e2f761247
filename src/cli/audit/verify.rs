//! `lazaret audit verify`: the log is as it was written, or here is the first place where it is not.

use std::io::Write;
use std::path::Path;

use anyhow::Result;
use serde_json::json;

use super::key;
use crate::cli::progress::{Progress, Total};
use crate::cli::{Exit, Machine};
use crate::host::audit::{self, Bad, Checked, Wrong};

/// What is to be verified.
#[derive(Debug, Clone, Copy)]
pub struct What<'a> {
    /// A verification key, or where it is.
    pub key: Option<&'a str>,
    /// Another directory than the machine's own log.
    pub log: Option<&'a Path>,
}

pub fn run(what: What<'_>, json: bool, machine: &Machine, out: &mut dyn Write) -> Result<Exit> {
    let dir = what.log.map_or_else(|| audit::dir(&machine.dirs.state), Path::to_owned);
    let key = what.key.map(key::read).transpose()?;
    let mut progress = Progress::begin("verifying the log", Total::Bytes(audit::bytes(&dir)));
    let verified = audit::verify(&dir, key.as_ref(), &mut |done| progress.at(done))?;
    drop(progress);
    match (verified, json) {
        (Ok(checked), false) => good(&checked, key.is_some(), out)?,
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

fn good(checked: &Checked, with_key: bool, out: &mut dyn Write) -> std::io::Result<()> {
    let Checked { files, lines, first, last, .. } = checked;
    if *lines == 0 {
        writeln!(out, "ok: no chained events in {files} files")?;
    } else {
        writeln!(out, "ok: {lines} events in {files} files, numbers {first} to {last}")?;
    }
    if *lines > 0 || with_key {
        proven(checked, with_key, out)?;
    }
    let notes = [
        (
            checked.earlier,
            "events that an earlier version sealed with one key for all: whoever read that could have written them anew",
        ),
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

/// What is known now, and what is not.
fn proven(checked: &Checked, with_key: bool, out: &mut dyn Write) -> std::io::Result<()> {
    match (checked.proven, with_key) {
        (Some(first), _) => writeln!(
            out,
            "proven with the verification key: events {first} to {}, and that nothing behind them was cut off; whoever \
             reads all of this machine now could not have written them",
            checked.last
        ),
        (None, true) => writeln!(out, "the log has no event yet that this verification key is for"),
        (None, false) => {
            let how = if checked.given > 0 {
                "with --key KEY that is proven too"
            } else {
                "a verification key proves that too, and none was given out yet: lazaret audit key"
            };
            writeln!(
                out,
                "proven without a verification key: nobody who lacks the file `{}` has changed them. Whoever could read it \
                 could have written them anew: {how}",
                audit::CHAIN
            )
        }
    }
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
        "earlier": checked.earlier,
        "proven_from": checked.proven,
        "key_given_from": (checked.given > 0).then_some(checked.given),
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

pub fn why(wrong: Wrong) -> String {
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
        Wrong::Forged => {
            "this event was not sealed with its own key: somebody wrote it who had the chain's key and came later".to_owned()
        }
        Wrong::OtherChain => {
            "this log was not begun by the chain that the verification key is of: it was removed and begun anew, \
             or the key is of another log"
                .to_owned()
        }
    }
}

fn numbers(from: u64, to: u64) -> String {
    if from == to { format!("event {from}") } else { format!("events {from} to {to}") }
}
