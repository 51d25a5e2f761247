//! Text to syntax, in one pass. Nested text recurses, at most [`Bound::MAX_DEPTH`] deep; what may only be repeated or
//! counted (lists, pipelines, parentheses in arithmetic) loops.

mod ansi;
mod arith;
mod assign;
mod command;
mod compound;
mod cond;
mod dollar;
mod heredoc;
mod lexer;
mod redirect;
mod state;
mod word;

use std::collections::BTreeMap;

pub(in crate::shell) use ansi::decode as unescaped;

use super::{Bound, Part, Problem, Script};
use state::{Parse, State, Stop};

/// Parses a command line as bash would, with `extglob` on only where the text has turned it on.
pub fn parse(source: &str) -> Script {
    let mut state = State::new();
    let end = if source.len() > Bound::MAX_BYTES {
        state.over(Bound::Bytes)
    } else {
        Parser::new(source, None, &mut state).script()
    };
    state.finish(end)
}

/// The word of `${NAME:-word}`, as [`super::expand`] needs it; none where it is not a word.
pub(crate) fn fragment(source: &str, quoted: bool) -> Option<Vec<Part>> {
    if source.len() > Bound::MAX_BYTES {
        return None;
    }
    let mut state = State::new();
    let mut parts = Vec::new();
    Parser::new(source, None, &mut state).operand(&mut parts, quoted).ok()?;
    Some(parts)
}

struct Parser<'a> {
    text: &'a str,
    pos: usize,
    /// Where this text stands in the outermost one, when it is not a piece of it.
    origin: Option<(usize, usize)>,
    state: &'a mut State,
    /// Where `((` turned out not to be arithmetic, and where it ends.
    doubled: BTreeMap<usize, usize>,
    /// The end of such text that is being read again: bash looks for the bodies of its here-documents behind it.
    reread: usize,
    /// Where the next newline has to be, because a substitution left a here-document open on this line.
    urgent: Option<usize>,
    /// The last command was a compound one, after which a closing keyword needs no separator.
    compound: bool,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, origin: Option<(usize, usize)>, state: &'a mut State) -> Parser<'a> {
        Parser {
            text,
            pos: 0,
            origin,
            state,
            doubled: BTreeMap::new(),
            reread: 0,
            urgent: None,
            compound: false,
        }
    }

    /// The whole text, as a list of commands.
    fn script(&mut self) -> Parse<()> {
        if let Some(at) = self.text.bytes().position(|byte| byte == 0) {
            self.pos = at;
            return Err(self.wrong("a NUL byte"));
        }
        // A shell that somebody types into drops the line that it refuses, and reads on behind it.
        while let Some(refused) = self.list_or_refusal()? {
            self.refuse(refused);
            self.state.pending.clear();
            let rest = self.text.get(self.pos..).unwrap_or_default();
            self.pos += rest.find('\n').unwrap_or(rest.len());
        }
        self.at_end()
    }

    /// A list, and why every shell refuses what stands behind it.
    fn list_or_refusal(&mut self) -> Parse<Option<&'static str>> {
        let mark = self.state.here();
        let read = self.list();
        let is_missing =
            matches!(&self.state.problem, Some(Problem::Syntax { what, .. }) if *what == Problem::MISSING);
        match read {
            Err(Stop::Syntax) if is_missing => {
                self.state.problem = None;
                self.state.resume(&mark);
                Ok(Some(Problem::MISSING))
            }
            Err(stop) => Err(stop),
            Ok(_) => Ok((self.byte() == Some(b')')).then_some(Problem::CLOSING)),
        }
    }

    /// Commands up to the end of the text.
    fn rest_of_script(&mut self) -> Parse<()> {
        self.list()?;
        self.at_end()
    }

    fn at_end(&mut self) -> Parse<()> {
        if self.byte().is_some() {
            return Err(self.wrong("unexpected token"));
        }
        self.documents_at_end()
    }

    fn wrong(&mut self, what: &'static str) -> Stop {
        self.state.problem = Some(self.problem(what));
        Stop::Syntax
    }

    /// Notes what bash refuses here, where reading goes on.
    fn refuse(&mut self, what: &'static str) {
        let problem = self.problem(what);
        self.state.refused.get_or_insert(problem);
    }

    fn problem(&self, what: &'static str) -> Problem {
        Problem::Syntax { at: self.origin.map_or(self.pos.min(self.text.len()), |(start, _)| start), what }
    }

    fn span(&self, start: usize) -> (usize, usize) {
        self.origin.unwrap_or((start, self.pos.min(self.text.len())))
    }

    /// The text from `start` to here.
    fn since(&self, start: usize) -> &'a str {
        self.text.get(start..self.pos).unwrap_or_default()
    }
}
