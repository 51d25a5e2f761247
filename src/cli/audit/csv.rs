//! Events as a table of RFC 4180 from which each of them can be made again: docs/audit.md says how.

use std::io::{self, Write};

use serde_json::{Map, Value};

/// What stands in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cell {
    /// The text itself.
    Text,
    /// JSON: a number, a list, an object.
    Json,
}

/// The columns in the order of the keys in a line; a key that has none stands in [`MORE`].
const COLUMNS: [(&str, Cell); 27] = [
    ("id", Cell::Text),
    ("time", Cell::Text),
    ("event", Cell::Text),
    ("client", Cell::Text),
    ("session", Cell::Text),
    ("agent", Cell::Text),
    ("agent_type", Cell::Text),
    ("cwd", Cell::Text),
    ("tool", Cell::Text),
    ("action", Cell::Text),
    ("call_id", Cell::Text),
    ("verdict", Cell::Text),
    ("enforcement", Cell::Text),
    ("quarantined", Cell::Json),
    ("rules", Cell::Json),
    ("reasons", Cell::Json),
    ("exceptions", Cell::Json),
    ("risk", Cell::Json),
    ("rationality", Cell::Json),
    ("coverage", Cell::Json),
    ("effects", Cell::Json),
    ("rewrite", Cell::Json),
    ("fault", Cell::Json),
    ("note", Cell::Text),
    ("duration_us", Cell::Json),
    ("gap", Cell::Json),
    ("seal", Cell::Text),
];
/// The last column: an object with every other key.
const MORE: &str = "more";

pub fn head(out: &mut dyn Write) -> io::Result<()> {
    for (name, _) in COLUMNS {
        write!(out, "{name},")?;
    }
    write!(out, "{MORE}\r\n")
}

/// One event.
pub fn row(text: &str, out: &mut dyn Write) -> io::Result<()> {
    let mut event: Map<String, Value> = serde_json::from_str(text)?;
    for (name, cell) in COLUMNS {
        match (event.get(name), cell) {
            (Some(Value::String(text)), Cell::Text) if !text.is_empty() => {
                quoted(text, out)?;
                event.shift_remove(name);
            }
            (Some(value), Cell::Json) => {
                quoted(&value.to_string(), out)?;
                event.shift_remove(name);
            }
            // Not there, or not what it should be: then it stands with the rest.
            (None | Some(_), _) => {}
        }
        out.write_all(b",")?;
    }
    if !event.is_empty() {
        quoted(&Value::Object(event).to_string(), out)?;
    }
    out.write_all(b"\r\n")
}

/// A cell. What a spreadsheet would take for a formula has an apostrophe in front of it, and so has what begins with one.
fn quoted(text: &str, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"\"")?;
    if text.starts_with(['=', '+', '-', '@', '\t', '\r', '\'']) {
        out.write_all(b"'")?;
    }
    out.write_all(text.replace('"', "\"\"").as_bytes())?;
    out.write_all(b"\"")
}
