//! The bodies of here-documents.

use super::super::{Context, Word};
use super::Parser;
use super::ansi;
use super::state::{Parse, Scope};
use super::word::push_text;

/// A delimiter without its quotes, and whether it had any.
pub(super) fn delimiter(source: &str) -> (String, bool) {
    let mut out = String::new();
    let mut quoted = false;
    let mut rest = source;
    while let Some(char) = rest.chars().next() {
        let after = rest.get(char.len_utf8()..).unwrap_or_default();
        let (piece, left) = match char {
            '\\' => {
                let next = after.chars().next();
                let left = after.get(next.map_or(0, char::len_utf8)..).unwrap_or_default();
                if next != Some('\n') {
                    quoted = true;
                    out.extend(next);
                }
                ("", left)
            }
            '\'' => {
                quoted = true;
                after.split_once('\'').unwrap_or((after, ""))
            }
            '"' => {
                quoted = true;
                ("", in_double(after, &mut out))
            }
            '$' if after.starts_with('\'') => {
                quoted = true;
                ("", in_ansi(after.get(1..).unwrap_or_default(), &mut out))
            }
            '$' if after.starts_with('"') => ("", after),
            _ => (rest.get(..char.len_utf8()).unwrap_or_default(), after),
        };
        out.push_str(piece);
        rest = left;
    }
    (out, quoted)
}

fn in_double<'a>(source: &'a str, out: &mut String) -> &'a str {
    let mut chars = source.char_indices();
    while let Some((at, char)) = chars.next() {
        match char {
            '"' => return source.get(at + 1..).unwrap_or_default(),
            '\\' => match chars.next() {
                Some((_, '\n')) => {}
                Some((_, next @ ('\\' | '$' | '`' | '"'))) => out.push(next),
                Some((_, next)) => out.extend(['\\', next]),
                None => out.push('\\'),
            },
            _ => out.push(char),
        }
    }
    ""
}

fn in_ansi<'a>(source: &'a str, out: &mut String) -> &'a str {
    let mut escaped = false;
    for (at, byte) in source.bytes().enumerate() {
        match byte {
            b'\'' if !escaped => {
                out.push_str(&ansi::decode(source.get(..at).unwrap_or_default()));
                return source.get(at + 1..).unwrap_or_default();
            }
            b'\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    ""
}

/// A line of a here-document: its text, and whether it was joined from several.
struct Line {
    text: String,
    joined: bool,
    /// Where its text begins in the source.
    start: usize,
}

impl Parser<'_> {
    /// Reads the bodies that wait, from the beginning of a line.
    pub(super) fn documents(&mut self) -> Parse<()> {
        for id in std::mem::take(&mut self.state.pending) {
            self.document(id)?;
        }
        Ok(())
    }

    /// At the end of the text those that still wait are empty.
    pub(super) fn documents_at_end(&mut self) -> Parse<()> {
        self.not_passed(self.text.len())?;
        self.documents()
    }

    /// Refuses a text in which the newline that a here-document waits for was not the end of a line.
    pub(super) fn not_passed(&mut self, at: usize) -> Parse<()> {
        match self.urgent {
            Some(wanted) if wanted < at => {
                Err(self.wrong("a here-document whose body begins inside of a word"))
            }
            _ => Ok(()),
        }
    }

    fn document(&mut self, id: usize) -> Parse<()> {
        let Some(doc) = self.state.docs.get_mut(id) else { return Ok(()) };
        let delimiter = std::mem::take(&mut doc.delimiter);
        let (strip, quoted) = (doc.strip, doc.quoted);
        let start = self.pos;
        let mut body = String::new();
        let mut end = start;
        while let Some(line) = self.line(strip, !quoted) {
            if let Some(rest) = line.text.strip_prefix(delimiter.as_str()) {
                if rest.is_empty() {
                    break;
                }
                if self.state.scope.closing && rest.contains(')') {
                    // The line goes on as commands of the substitution.
                    if line.joined {
                        return Err(self.wrong("a here-document's end on a continued line"));
                    }
                    self.pos = line.start + delimiter.len();
                    break;
                }
            }
            body.push_str(&line.text);
            body.push('\n');
            end = self.pos;
        }
        let span = self.origin.unwrap_or((start, end));
        if quoted {
            let mut parts = Vec::new();
            push_text(&mut parts, &body, true);
            return self.keep(id, Word { parts, span });
        }
        self.expanded_body(id, &body, span)
    }

    fn keep(&mut self, id: usize, body: Word) -> Parse<()> {
        if let Some(doc) = self.state.docs.get_mut(id) {
            doc.body = body;
        }
        Ok(())
    }

    /// The next line, without its newline; none at the end of the text.
    fn line(&mut self, strip: bool, join: bool) -> Option<Line> {
        let bytes = self.text.as_bytes();
        bytes.get(self.pos)?;
        while strip && self.byte() == Some(b'\t') {
            self.pos += 1;
        }
        let start = self.pos;
        let mut line = Line { text: String::new(), joined: false, start };
        let mut from = start;
        loop {
            let rest = bytes.get(self.pos..).unwrap_or_default();
            let stop = |byte: &u8| *byte == b'\n' || (join && *byte == b'\\');
            self.pos += rest.iter().position(stop).unwrap_or(rest.len());
            match (self.byte(), bytes.get(self.pos + 1)) {
                (Some(b'\\'), Some(b'\n')) => {
                    line.text.push_str(self.since(from));
                    line.joined = true;
                    self.pos += 2;
                    from = self.pos;
                }
                (Some(b'\\'), next) => self.pos += if next.is_some() { 2 } else { 1 },
                _ => {
                    line.text.push_str(self.since(from));
                    self.pos += usize::from(self.byte().is_some());
                    return Some(line);
                }
            }
        }
    }

    /// A body in which variables and substitutions count.
    fn expanded_body(&mut self, id: usize, body: &str, span: (usize, usize)) -> Parse<()> {
        let mut parts = Vec::new();
        push_text(&mut parts, "", true);
        if !body.contains(['$', '`', '\\']) {
            push_text(&mut parts, body, true);
            return self.keep(id, Word { parts, span });
        }
        self.state.enter()?;
        let outer = self.state.scope;
        let shell = self.state.subshell(outer.subshell);
        self.state.scope =
            Scope { inner: Context::Heredoc, subshell: shell, host: shell, closing: false, ..outer };
        let commands = std::mem::take(&mut self.state.commands);
        let hosts = std::mem::take(&mut self.state.hosts);
        let waiting = std::mem::take(&mut self.state.pending);
        let mark = self.state.here();
        let mut inner = Parser::new(body, Some(span), &mut *self.state);
        let mut result = Ok(());
        while result.is_ok() && inner.byte().is_some() {
            result = inner.in_double(&mut parts, b"");
        }
        result = self.state.behind(&mark, result);
        self.state.pending = waiting;
        let found = std::mem::replace(&mut self.state.commands, commands);
        self.state.hosts = hosts;
        self.state.scope = outer;
        if let Some(doc) = self.state.docs.get_mut(id) {
            doc.body = Word { parts, span };
            doc.commands = found;
            doc.shell = shell;
        }
        self.state.leave();
        result
    }
}
