//! A cleaned report for people: one line a finding, and below it what it says. Plain text, no colours.

use std::io::{IsTerminal, Write};

use anyhow::Result;

use crate::domain::escape;
use crate::review::response::{CleanFinding, CleanReport, Flag};

/// Width where standard output is no terminal.
const WIDTH: usize = 100;
/// Narrower than this nothing can be read.
const NARROWEST: usize = 40;
/// Widest column of places.
const PLACE: usize = 48;
const INDENT: &str = "          ";

/// `root`: the directory under review; without one no place was checked.
pub fn print(out: &mut dyn Write, report: &CleanReport, root: Option<&str>) -> Result<()> {
    let width = width();
    let mut findings: Vec<&CleanFinding> = report.findings.iter().collect();
    crate::domain::sort_by_key(&mut findings, |finding| std::cmp::Reverse(finding.severity));
    let places: Vec<String> = findings.iter().map(|finding| place(finding, root.unwrap_or("/"))).collect();
    let column = places.iter().map(|place| place.chars().count()).max().unwrap_or(0).min(PLACE);
    for (finding, place) in findings.iter().zip(&places) {
        let head = format!("{:<8}  {place:<column$}  ", finding.severity.name());
        let title = escape(&finding.title);
        if head.chars().count() + title.chars().count() <= width {
            writeln!(out, "{head}{title}")?;
        } else {
            writeln!(out, "{}", head.trim_end())?;
            wrapped(out, &finding.title, width)?;
        }
        wrapped(out, &finding.description, width)?;
        if let Some(recommendation) = &finding.recommendation {
            wrapped(out, &format!("instead: {recommendation}"), width)?;
        }
        flags(out, "careful", &finding.flags)?;
    }
    if findings.is_empty() {
        writeln!(out, "no findings")?;
    }
    let read = match root {
        Some(_) => format!(": {} of {} files read", report.files_reviewed.len(), report.files),
        None => String::new(),
    };
    writeln!(out, "risk {}{read}", report.risk_level.name())?;
    wrapped(out, &report.summary, width)?;
    for unread in &report.unread {
        wrapped(
            out,
            &format!("not read: {}: {}", short(&unread.file, root.unwrap_or("/")), unread.why),
            width,
        )?;
    }
    flags(out, "careful with the whole", &report.flags)?;
    if root.is_none() {
        writeln!(out, "no session was named: files and lines could not be checked, and are left out")?;
    }
    Ok(())
}

fn flags(out: &mut dyn Write, what: &str, flags: &[Flag]) -> Result<()> {
    if !flags.is_empty() {
        let names: Vec<&str> = flags.iter().map(|flag| flag.name()).collect();
        writeln!(out, "{INDENT}{what}: {}", names.join(", "))?;
    }
    Ok(())
}

/// `file:line`, below the root.
fn place(finding: &CleanFinding, root: &str) -> String {
    let Some(location) = &finding.location else { return "-".to_owned() };
    let file = escape(short(&location.file, root));
    match (location.line, location.end_line) {
        (Some(line), Some(end)) if end > line => format!("{file}:{line}-{end}"),
        (Some(line), _) => format!("{file}:{line}"),
        (None, _) => file,
    }
}

fn short<'f>(file: &'f str, root: &str) -> &'f str {
    let below = file.strip_prefix(root.trim_end_matches('/')).and_then(|rest| rest.strip_prefix('/'));
    below.filter(|rest| !rest.is_empty()).unwrap_or(file)
}

fn width() -> usize {
    let stdout = std::io::stdout();
    if !stdout.is_terminal() {
        return WIDTH;
    }
    let columns = rustix::termios::tcgetwinsize(&stdout).map_or(0, |size| usize::from(size.ws_col));
    // A terminal that does not know its size says 0.
    if columns == 0 { WIDTH } else { columns.clamp(NARROWEST, WIDTH) }
}

/// Text in lines of at most `width` characters; a word that is longer stays whole.
fn wrapped(out: &mut dyn Write, text: &str, width: usize) -> Result<()> {
    let room = width.saturating_sub(INDENT.len());
    for paragraph in text.lines() {
        let mut line = String::new();
        let mut length = 0;
        for word in paragraph.split_whitespace() {
            let word = escape(word);
            let more = word.chars().count();
            if length > 0 && length + 1 + more > room {
                writeln!(out, "{INDENT}{line}")?;
                line.clear();
                length = 0;
            }
            if length > 0 {
                line.push(' ');
                length += 1;
            }
            line.push_str(&word);
            length += more;
        }
        if !line.is_empty() {
            writeln!(out, "{INDENT}{line}")?;
        }
    }
    Ok(())
}
