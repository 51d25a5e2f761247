//! Lists, pipelines and simple commands.

use super::super::{Assign, Bound, Part, Problem, Redirect, Simple, Word};
use super::Parser;
use super::assign::takes_assignments;
use super::lexer::Keyword;
use super::state::{Cut, Parse, Scope};
use super::word::{Mode, push_text};

/// A simple command that is being read.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub assigns: Vec<Assign>,
    pub declared: Vec<Assign>,
    pub words: Vec<Word>,
    pub redirects: Vec<Redirect>,
}

impl Draft {
    fn is_empty(&self) -> bool {
        self.assigns.is_empty() && self.words.is_empty() && self.redirects.is_empty()
    }
}

impl Parser<'_> {
    /// Commands up to where no command can begin: the end, `)`, `;;`, or a keyword that closes something.
    pub(super) fn list(&mut self) -> Parse<usize> {
        let mut count = 0;
        loop {
            self.newlines()?;
            if self.at_close() {
                return Ok(count);
            }
            let from = self.state.cut();
            self.and_or()?;
            count += 1;
            self.blank();
            match self.byte() {
                None | Some(b')') => return Ok(count),
                Some(b'\n') => {}
                Some(b';') if matches!(self.second(), Some(b';' | b'&')) => return Ok(count),
                Some(b';') => self.pos += 1,
                Some(b'&') => {
                    self.pos += 1;
                    let to = self.state.cut();
                    self.state.wrap(from, to);
                    // zsh takes a `;` behind it; where bash reads the text, nothing of it runs.
                    self.blank();
                    if self.byte() == Some(b';') && !matches!(self.second(), Some(b';' | b'&')) {
                        self.pos += 1;
                    }
                }
                Some(_) if self.compound && self.at_close() => return Ok(count),
                Some(_) => return Err(self.wrong("unexpected token")),
            }
        }
    }

    /// A list that has to hold something.
    pub(super) fn body(&mut self) -> Parse<()> {
        if self.list()? == 0 { Err(self.wrong("a command is missing")) } else { Ok(()) }
    }

    /// Whether what stands here ends a list.
    fn at_close(&mut self) -> bool {
        match self.byte() {
            None | Some(b')') => true,
            Some(b';') => matches!(self.second(), Some(b';' | b'&')),
            Some(b't' | b'e' | b'f' | b'd' | b'}') => matches!(
                self.keyword(),
                Some((
                    Keyword::Then
                        | Keyword::Elif
                        | Keyword::Else
                        | Keyword::Fi
                        | Keyword::Do
                        | Keyword::Done
                        | Keyword::Esac
                        | Keyword::Close,
                    _
                ))
            ),
            _ => false,
        }
    }

    fn and_or(&mut self) -> Parse<()> {
        let Scope { conditional, branched, .. } = self.state.scope;
        // The `cd`s that succeeded where what is read next runs.
        let mut sure: Vec<usize> = Vec::new();
        let mut either = false;
        loop {
            self.blank();
            let start = self.pos;
            self.pipeline()?;
            self.blank();
            let and = self.take(b"&&");
            if !and && !self.take(b"||") {
                break;
            }
            let moved = self.moved(start).filter(|_| !either);
            self.newlines()?;
            self.state.scope.conditional = true;
            if and {
                sure.extend(moved);
            } else {
                self.state.hold(&std::mem::take(&mut sure), self.pos);
                (either, self.state.scope.branched) = (true, true);
                if !conditional && self.leaves() {
                    // `cd there || exit`
                    self.state.hold(moved.as_slice(), usize::MAX);
                }
            }
        }
        self.state.hold(&sure, self.pos);
        self.state.scope = Scope { conditional, branched, ..self.state.scope };
        Ok(())
    }

    /// The last command, where it is a `cd` that began at `start`.
    fn moved(&self, start: usize) -> Option<usize> {
        let last = self.state.commands.last()?;
        let goes = last.words.first().is_some_and(|word| matches!(&*literal(word), "cd" | "pushd"));
        (goes && last.span.0 == self.span(start).0).then(|| self.state.commands.len().saturating_sub(1))
    }

    /// Whether the shell or function ends here.
    fn leaves(&self) -> bool {
        let rest = self.text.get(self.pos..).unwrap_or_default();
        // `{ echo no; exit 1; }`
        let group =
            rest.strip_prefix('{').and_then(|rest| rest.split_once('}')).map_or("", |(group, _)| group);
        let last = group.trim_end_matches([';', ' ', '\n']).rsplit([';', '\n']).next().unwrap_or_default();
        let leaves = |text: &str| {
            ["exit", "return"]
                .iter()
                .filter_map(|word| text.strip_prefix(word))
                .any(|rest| rest.is_empty() || rest.starts_with([' ', ';', '\n', ')', '}']))
        };
        let closed = |quote: char| group.matches(quote).count() % 2 == 0 && !last.contains(quote);
        leaves(rest) || leaves(last.trim_start()) && closed('"') && closed('\'')
    }

    fn pipeline(&mut self) -> Parse<()> {
        let mut prefixed = false;
        loop {
            if self.accept(Keyword::Bang) {
            } else if self.accept(Keyword::Time) {
                self.time_options();
            } else {
                break;
            }
            prefixed = true;
        }
        if prefixed && matches!(self.byte(), None | Some(b'\n' | b';')) {
            self.compound = false;
            return Ok(());
        }
        let start = self.state.cut();
        self.command()?;
        self.blank();
        if self.byte() == Some(b'|') && self.second() != Some(b'|') {
            return self.piped(start);
        }
        Ok(())
    }

    fn time_options(&mut self) {
        loop {
            self.blank();
            let start = self.pos;
            let option = self.take(b"-p") || self.take(b"--");
            if !option || self.peek().is_some_and(|byte| !super::lexer::is_meta(byte)) {
                self.pos = start;
                return;
            }
        }
    }

    /// The other stages of a pipeline, from its first `|` on.
    fn piped(&mut self, start: Cut) -> Parse<()> {
        let mut cuts = vec![start];
        let scope = self.state.scope;
        let result = loop {
            self.blank();
            if self.byte() != Some(b'|') || self.second() == Some(b'|') {
                break Ok(());
            }
            if !self.take(b"|&") {
                self.take(b"|");
            }
            cuts.push(self.state.cut());
            if cuts.len() > Bound::MAX_STAGES {
                break self.state.over(Bound::Stages);
            }
            let mut stage = self.newlines();
            if stage.is_ok() {
                stage = self.stage();
            }
            if stage.is_err() {
                break stage;
            }
        };
        self.state.scope = scope;
        self.state.join(&cuts);
        result
    }

    /// A command behind `|`, where `time` is a word and `!` is wrong.
    fn stage(&mut self) -> Parse<()> {
        match self.keyword() {
            Some((Keyword::Time, _)) => self.simple(),
            _ => self.command(),
        }
    }

    fn command(&mut self) -> Parse<()> {
        self.compound = false;
        match self.peek() {
            None => Err(self.wrong("a command is missing")),
            Some(b'(') => self.parenthesis(),
            Some(_) => match self.keyword() {
                Some((keyword, end)) => self.keyword_command(keyword, end),
                None => self.simple(),
            },
        }
    }

    /// A simple command, or the definition of a function as `name ()`.
    pub(super) fn simple(&mut self) -> Parse<()> {
        let first = self.state.commands.len();
        let scope = self.state.scope;
        let start = self.pos;
        if self.end_of_condition() {
            return Err(self.wrong("unexpected `]]`"));
        }
        // On the heap: commands nest deeply.
        let mut draft = Box::<Draft>::default();
        let result = self.simple_parts(&mut draft);
        self.compound = false;
        if matches!(result, Ok(true)) {
            let name = draft.words.first().map(literal).unwrap_or_default();
            return self.function(name);
        }
        if result.is_ok() && draft.is_empty() {
            // zsh takes a `;` with nothing in front of it.
            let refused = matches!(self.byte(), Some(b'&' | b'|'));
            return Err(self.wrong(if refused { Problem::MISSING } else { "a command is missing" }));
        }
        // What was read before an error counts too.
        self.state.scope = scope;
        if !draft.is_empty() {
            self.finish(*draft, first, start)?;
        }
        result.map(|_| ())
    }

    /// Adds a command that is complete.
    pub(super) fn finish(&mut self, draft: Draft, first: usize, start: usize) -> Parse<()> {
        let Scope { context, subshell, function, conditional, branched, .. } = self.state.scope;
        let Draft { assigns, declared, words, redirects } = draft;
        if subshell == 0 && !conditional && words.len() == 3 {
            let is = |at: usize, wanted: &str| words.get(at).is_some_and(|word| literal(word) == wanted);
            self.state.extglob_next |= is(0, "shopt") && is(1, "-s") && is(2, "extglob");
        }
        let command = Simple {
            assigns,
            declared,
            words,
            redirects,
            context,
            pipeline: self.state.pipeline(),
            stage: 0,
            last: true,
            subshell,
            parent: 0,
            function,
            conditional,
            branched,
            holds: 0,
            owner: None,
            span: self.span(start),
        };
        self.state.push(command, first)
    }

    /// Reads the parts of a simple command. True: it is `name ()`.
    fn simple_parts(&mut self, draft: &mut Draft) -> Parse<bool> {
        let mut assigning = false;
        loop {
            self.blank();
            match self.byte() {
                None | Some(b'\n' | b';' | b')' | b'|') => return Ok(false),
                Some(b'(') => return self.empty_parentheses(draft),
                Some(byte) => {
                    if self.redirect(&mut draft.redirects)? {
                        continue;
                    }
                    if byte == b'&' {
                        return Ok(false);
                    }
                    if draft.words.is_empty() {
                        self.first_word(draft)?;
                        assigning = draft.words.first().is_some_and(takes_assignments);
                    } else if assigning {
                        self.assigning_word(draft)?;
                    } else {
                        self.push_word(&mut draft.words)?;
                        self.parentheses_in_word(&mut draft.words)?;
                    }
                }
            }
        }
    }

    /// `app/(auth)/page.tsx`, `*(.)` or `!(x)` as an argument: bash refuses the line, and zsh, or bash with `extglob` on, takes it
    /// for a pattern. It is read on as one that holds at least as much.
    fn parentheses_in_word(&mut self, words: &mut [Word]) -> Parse<()> {
        while self.peek() == Some(b'(') {
            let inside = self.text.get(self.pos + 1..).unwrap_or_default();
            let plain = |c: char| c.is_alphanumeric() || "_-.@|*?/[],^".contains(c);
            let end = inside
                .find(|c| !plain(c))
                .filter(|end| inside.get(*end..).is_some_and(|rest| rest.starts_with(')')))
                .filter(|end| !inside.get(..*end).is_some_and(qualifier_runs));
            let (Some(end), Some(word)) = (end, words.last_mut()) else { return Ok(()) };
            self.refuse(Problem::PARENTHESIS);
            self.pos += end + 2;
            any_text(&mut word.parts);
            self.word_rest(&mut word.parts, Mode::Plain)?;
            word.span = self.span(word.span.0);
        }
        Ok(())
    }

    /// The `()` behind a function's name.
    fn empty_parentheses(&mut self, draft: &Draft) -> Parse<bool> {
        let alone = draft.words.len() == 1 && draft.assigns.is_empty() && draft.redirects.is_empty();
        self.pos += 1;
        self.blank();
        if alone && self.take(b")") { Ok(true) } else { Err(self.wrong("unexpected `(`")) }
    }

    /// Adds a word to a list. What was read of it before an error stays there.
    pub(super) fn push_word(&mut self, words: &mut Vec<Word>) -> Parse<()> {
        let start = self.pos;
        words.push(Word::default());
        match words.last_mut() {
            Some(word) => self.fill_word(word, start),
            None => Ok(()),
        }
    }

    /// Reads the rest of a word that began at `start`.
    pub(super) fn fill_word(&mut self, word: &mut Word, start: usize) -> Parse<()> {
        let result = self.word_rest(&mut word.parts, Mode::Plain);
        word.span = self.span(start);
        result?;
        self.state.count_word()
    }
}

/// Puts "any text" at the end of a word, in place of the mark that says how often a pattern is repeated.
fn any_text(parts: &mut Vec<Part>) {
    if let Some(Part::Text { text, quoted: false }) = parts.last_mut()
        && text.ends_with(['?', '+', '@', '!'])
    {
        text.pop();
    }
    push_text(parts, "*", false);
}

/// Whether zsh may run what stands in the parentheses behind a pattern: `*(e.reboot.)`.
fn qualifier_runs(inside: &str) -> bool {
    inside.match_indices('e').any(|(at, _)| {
        let mut rest = inside.get(at + 1..).unwrap_or_default().chars();
        rest.next().is_some_and(|mark| !mark.is_alphanumeric() && rest.any(|c| c == mark))
    })
}

/// The text of a word, as far as it is text.
pub(super) fn literal(word: &Word) -> String {
    let texts = word.parts.iter().filter_map(|part| match part {
        Part::Text { text, .. } => Some(text.as_str()),
        Part::Variable { .. } | Part::Substitution { .. } | Part::Process { .. } | Part::Arithmetic(_) => {
            None
        }
    });
    texts.collect()
}
