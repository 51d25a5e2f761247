//! The same as text, for a pipe, a file, or one look.

use std::io::{self, Write};

use super::feed::Seen;
use super::rows;
use super::shown::Shown;
use crate::domain::shell_word;

pub fn write(seen: &Seen, out: &mut dyn Write) -> io::Result<()> {
    if seen.sessions.is_empty() {
        writeln!(out, "no sessions")?;
    }
    for session in &seen.sessions {
        writeln!(out, "{:<10}  {}", session.status.word(), rows::session(session, seen.now_ms))?;
        if !session.why.is_empty() {
            writeln!(out, "            {}", session.why)?;
        }
    }
    let waiting = seen.sessions.iter().filter(|session| session.status.waits());
    for session in waiting {
        writeln!(out, "to let it go on: lazaret resume {}", Shown::of(&shell_word(&session.key.id)))?;
    }
    for code in &seen.codes {
        writeln!(out, "{}  {}", code.code, rows::code(code))?;
    }
    if !seen.codes.is_empty() {
        writeln!(out, "to allow one: lazaret allow CODE; to refuse it: lazaret allow CODE --refuse")?;
    }
    if !seen.fault.is_empty() {
        writeln!(out, "note: {}", seen.fault)?;
    }
    Ok(())
}
