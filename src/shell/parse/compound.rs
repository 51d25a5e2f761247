//! Compound commands and functions.

use super::super::{Assign, Context, Op, Part, Word};
use super::Parser;
use super::command::{Draft, literal};
use super::lexer::Keyword;
use super::state::{Parse, Scope};
use super::word::{Mode, unknown};

impl Parser<'_> {
    /// What a keyword in a command's place begins.
    pub(super) fn keyword_command(&mut self, keyword: Keyword, end: usize) -> Parse<()> {
        match keyword {
            Keyword::Function => {
                self.pos = end;
                let name = self.needed_word("the name of a function is missing")?;
                self.blank();
                let start = self.pos;
                if self.take(b"(") {
                    self.blank();
                    if !self.take(b")") {
                        self.pos = start;
                    }
                }
                return self.function(literal(&name));
            }
            Keyword::Coproc => {
                self.pos = end;
                return self.coproc();
            }
            _ => {}
        }
        let from = self.state.commands.len();
        self.state.enter()?;
        let Scope { conditional, branched, .. } = self.state.scope;
        self.inside(keyword, end)?;
        self.state.scope = Scope { conditional, branched, ..self.state.scope };
        self.state.leave();
        self.tail(from)
    }

    fn inside(&mut self, keyword: Keyword, end: usize) -> Parse<()> {
        let start = std::mem::replace(&mut self.pos, end);
        match keyword {
            Keyword::If => self.if_command(),
            Keyword::While | Keyword::Until => self.loop_command(),
            Keyword::For => self.for_command(),
            Keyword::Select => self.each_command(),
            Keyword::Case => self.case_command(),
            Keyword::Open => {
                self.body()?;
                self.expect(Keyword::Close, "a `}` is missing")
            }
            Keyword::Condition => self.condition(),
            Keyword::Then
            | Keyword::Elif
            | Keyword::Else
            | Keyword::Fi
            | Keyword::Do
            | Keyword::Done
            | Keyword::Esac
            | Keyword::In
            | Keyword::Function
            | Keyword::Time
            | Keyword::Coproc
            | Keyword::Bang
            | Keyword::Close => {
                self.pos = start;
                Err(self.wrong("unexpected keyword"))
            }
        }
    }

    /// The redirections behind a compound command. They are given to each simple command in it; when there is none, to an
    /// empty one.
    fn tail(&mut self, from: usize) -> Parse<()> {
        let to = self.state.commands.len();
        let start = self.pos;
        let mut draft = Draft::default();
        loop {
            self.blank();
            if !self.redirect(&mut draft.redirects)? {
                break;
            }
        }
        self.state.bring_forward(from, to);
        // A keyword may follow `}` directly, but not the target of a redirection.
        self.compound = draft.redirects.is_empty();
        let end = self.state.commands.len();
        if !draft.redirects.is_empty() && !self.state.attach(from, end, &draft.redirects)? {
            self.finish(draft, to, start)?;
        }
        Ok(())
    }

    /// `(…)` or `((…))`.
    pub(super) fn parenthesis(&mut self) -> Parse<()> {
        let from = self.state.commands.len();
        if self.second() == Some(b'(') && self.arithmetic_command()? {
            return self.tail(from);
        }
        self.state.enter()?;
        let outer = self.state.scope;
        let subshell = self.state.subshell(outer.subshell);
        self.state.scope = Scope { subshell, ..outer };
        self.pos += 1;
        self.body()?;
        if !self.take(b")") {
            return Err(self.wrong("a `)` is missing"));
        }
        self.state.scope = outer;
        self.state.leave();
        self.tail(from)
    }

    fn if_command(&mut self) -> Parse<()> {
        self.body()?;
        self.expect(Keyword::Then, "`then` is missing")?;
        self.state.scope.branch();
        self.body()?;
        while self.accept(Keyword::Elif) {
            self.body()?;
            self.expect(Keyword::Then, "`then` is missing")?;
            self.body()?;
        }
        if self.accept(Keyword::Else) {
            self.body()?;
        }
        self.expect(Keyword::Fi, "`fi` is missing")
    }

    fn loop_command(&mut self) -> Parse<()> {
        self.body()?;
        self.do_group(false)
    }

    /// `do …; done`, or `{ …; }` where that may stand for it.
    fn do_group(&mut self, braces: bool) -> Parse<()> {
        self.state.scope.branch();
        if braces && self.accept(Keyword::Open) {
            self.body()?;
            return self.expect(Keyword::Close, "a `}` is missing");
        }
        self.expect(Keyword::Do, "`do` is missing")?;
        self.body()?;
        self.expect(Keyword::Done, "`done` is missing")
    }

    fn for_command(&mut self) -> Parse<()> {
        self.blank();
        if self.byte() != Some(b'(') {
            return self.each_command();
        }
        if self.second() != Some(b'(') {
            return Err(self.wrong("unexpected `(`"));
        }
        let start = self.pos;
        self.take(b"((");
        self.arithmetic(b'(', b')')?;
        self.note_counted(start);
        if self.byte() != Some(b')') {
            return Err(self.wrong("the `))` of a loop is missing"));
        }
        if self.since(start).bytes().filter(|byte| *byte == b';').count() < 2 {
            return Err(self.wrong("a loop's head needs three expressions"));
        }
        self.pos += 1;
        self.blank();
        self.take(b";");
        self.newlines()?;
        self.do_group(true)
    }

    /// `for NAME in …` and `select NAME in …`, behind the keyword.
    fn each_command(&mut self) -> Parse<()> {
        let start = self.pos;
        let first = self.state.commands.len();
        let name = self.needed_word("the name of a loop's variable is missing")?;
        self.blank();
        let mut list = vec![all_parameters(self.span(start))];
        let mut braces = true;
        if self.byte() == Some(b';') {
            self.pos += 1;
            self.newlines()?;
        } else {
            let same_line = self.byte() != Some(b'\n');
            self.newlines()?;
            if self.accept(Keyword::In) {
                list = self.each_words()?;
            } else {
                braces = !same_line;
            }
        }
        let name = literal(&name);
        let value = match list.as_slice() {
            [word] if is_plain(word) => list.pop().unwrap_or_default(),
            _ => Word { parts: vec![unknown(&name)], span: self.span(start) },
        };
        let assign = Assign { name, append: false, array: false, key: None, value, list };
        self.finish(Draft { assigns: vec![assign], ..Draft::default() }, first, start)?;
        self.do_group(braces)
    }

    /// The words of a loop and what separates them from its body.
    fn each_words(&mut self) -> Parse<Vec<Word>> {
        let mut list = Vec::new();
        loop {
            self.blank();
            match self.byte() {
                Some(b';') => {
                    self.pos += 1;
                    self.newlines()?;
                    return Ok(list);
                }
                Some(b'\n') => {
                    self.newlines()?;
                    return Ok(list);
                }
                _ => {
                    let word = self.word(Mode::Plain)?;
                    if word.parts.is_empty() {
                        return Err(self.wrong("unexpected token in the words of a loop"));
                    }
                    list.push(word);
                }
            }
        }
    }

    fn case_command(&mut self) -> Parse<()> {
        self.needed_word("the word of `case` is missing")?;
        self.newlines()?;
        self.expect(Keyword::In, "`in` is missing")?;
        self.state.scope.branch();
        loop {
            self.newlines()?;
            if self.accept(Keyword::Esac) {
                return Ok(());
            }
            self.take(b"(");
            loop {
                self.needed_word("a pattern is missing")?;
                self.blank();
                if !self.take(b"|") {
                    break;
                }
            }
            if !self.take(b")") {
                return Err(self.wrong("a pattern's `)` is missing"));
            }
            self.list()?;
            if !(self.take(b";;&") || self.take(b";;") || self.take(b";&")) {
                return self.expect(Keyword::Esac, "`esac` is missing");
            }
        }
    }

    /// The body of a function.
    pub(super) fn function(&mut self, name: String) -> Parse<()> {
        self.newlines()?;
        let index = u32::try_from(self.state.functions.len()).ok();
        self.state.functions.push(name);
        let outer = self.state.scope;
        self.state.scope = Scope { context: Context::Function, function: index, ..outer };
        self.compound_command("the body of a function is missing")?;
        self.state.scope = outer;
        Ok(())
    }

    /// A command that is not simple.
    fn compound_command(&mut self, missing: &'static str) -> Parse<()> {
        match self.peek() {
            Some(b'(') => self.parenthesis(),
            Some(_) => match self.keyword() {
                Some((Keyword::Function | Keyword::Coproc, _)) | None => Err(self.wrong(missing)),
                Some((keyword, end)) => self.keyword_command(keyword, end),
            },
            None => Err(self.wrong(missing)),
        }
    }

    fn coproc(&mut self) -> Parse<()> {
        self.blank();
        let from = self.state.cut();
        let name = self.co_command()?;
        let to = self.state.cut();
        let subshell = self.state.wrap(from, to);
        self.state.coprocs.push((name, subshell));
        Ok(())
    }

    /// What a co-process runs; gives its name.
    fn co_command(&mut self) -> Parse<String> {
        let usual = "COPROC".to_owned();
        if self.peek() == Some(b'(') {
            return self.parenthesis().map(|()| usual);
        }
        match self.keyword() {
            Some((Keyword::Time, _)) => return self.simple().map(|()| usual),
            Some((keyword, end)) if keyword != Keyword::Coproc => {
                return self.keyword_command(keyword, end).map(|()| usual);
            }
            Some(_) => return Err(self.wrong("unexpected keyword")),
            None => {}
        }
        // `coproc NAME compound`, or a simple command.
        let (start, mark) = (self.pos, self.state.here());
        let name = self.word(Mode::Plain)?;
        self.blank();
        if !name.parts.is_empty() {
            let begins = self.byte() == Some(b'(') && {
                let open = self.pos;
                self.pos += 1;
                self.blank();
                let empty = self.byte() == Some(b')');
                self.pos = open;
                !empty
            };
            if begins || self.keyword().is_some_and(|(keyword, _)| begins_compound(keyword)) {
                return self.compound_command("unexpected token").map(|()| literal(&name));
            }
        }
        self.state.burn(self.pos - start)?;
        self.state.rewind(&mark);
        self.pos = start;
        self.simple().map(|()| usual)
    }
}

fn begins_compound(keyword: Keyword) -> bool {
    matches!(
        keyword,
        Keyword::If
            | Keyword::While
            | Keyword::Until
            | Keyword::For
            | Keyword::Select
            | Keyword::Case
            | Keyword::Open
            | Keyword::Condition
    )
}

/// Whether a word stands for exactly itself.
fn is_plain(word: &Word) -> bool {
    word.parts.iter().all(|part| match part {
        Part::Text { text, quoted } => *quoted || !text.contains(['*', '?', '[', '{', '~', '(']),
        Part::Variable { .. } | Part::Substitution { .. } | Part::Process { .. } | Part::Arithmetic(_) => {
            false
        }
    })
}

/// `"$@"`: what a loop without a list goes through.
fn all_parameters(span: (usize, usize)) -> Word {
    let all =
        Part::Variable { name: "@".to_owned(), plain: true, default: None, op: Op::Plain, quoted: true };
    Word { parts: vec![all], span }
}
