//! One command on its way through the survey, and how it becomes an invocation.

use std::rc::Rc;

use super::container::Container;
use super::options::Parsed;
use super::{Invocation, Stdin, Surveyor};
use crate::domain::{Ask, Target, clip, join};
use crate::rules::facts::Role;
use crate::shell::Arg;

/// Tools of databases that take the address from a file `.env` where they are run, unless a variable has it.
pub(in crate::rules) const SETTLED: &[&str] = &["prisma", "sqlx", "diesel", "dbmate"];

/// Longest text of a command that is kept, in bytes.
pub(super) const MAX_TEXT: usize = 400;

/// A command: its words and what surrounds it.
#[derive(Debug, Clone)]
pub(super) struct Call {
    /// The program and its arguments.
    pub words: Vec<Arg>,
    pub cwd: Option<String>,
    /// Where it runs if the `cd` in front of it fails.
    pub before: Option<String>,
    /// It runs only where the `cd` in front of it succeeded.
    pub arrived: bool,
    pub privileged: bool,
    /// On another machine or with other files.
    pub remote: bool,
    /// The container that it runs in.
    pub container: Option<Rc<Container>>,
    /// A program that we do not know is code of the project.
    pub lenient: bool,
    pub wrappers: Vec<String>,
    pub stdin: Stdin,
    /// What comes in, where that is known.
    pub input: Option<Arg>,
    pub writes: Vec<(Target, bool)>,
    pub reads: Vec<Target>,
    pub pipeline: u32,
    pub stage: u16,
    /// There are other stages in its pipeline.
    pub piped: bool,
    pub text: String,
    pub depth: u8,
}

impl Call {
    pub fn args(&self) -> &[Arg] {
        self.words.get(1..).unwrap_or_default()
    }

    /// The same command with other words, as what `wrapper` runs.
    pub fn unfolded(&self, wrapper: &str, words: Vec<Arg>) -> Call {
        let mut wrappers = self.wrappers.clone();
        wrappers.push(wrapper.to_owned());
        // Not cloned whole: the words may be as many as the commands in them.
        Call {
            words,
            cwd: self.cwd.clone(),
            before: self.before.clone(),
            arrived: self.arrived,
            privileged: self.privileged,
            remote: self.remote,
            container: self.container.clone(),
            lenient: self.lenient,
            wrappers,
            stdin: self.stdin.clone(),
            input: self.input.clone(),
            writes: self.writes.clone(),
            reads: self.reads.clone(),
            pipeline: self.pipeline,
            stage: self.stage,
            piped: self.piped,
            text: self.text.clone(),
            depth: self.depth.saturating_add(1),
        }
    }
}

impl Surveyor<'_> {
    /// Notes an invocation, with the words that were told apart where there were tables for that; gives its index.
    pub(super) fn emit(&mut self, call: &Call, program: &str, parsed: Option<&Parsed>) -> usize {
        let mut invocation = Invocation {
            program: program.to_owned(),
            word: call.words.first().cloned().unwrap_or_default(),
            args: call.args().to_vec(),
            sub: Vec::new(),
            flags: Vec::new(),
            operands: Vec::new(),
            cwd: call.cwd.clone(),
            variables: Vec::new(),
            privileged: call.privileged,
            contained: call.container.is_some(),
            scratch: false,
            wrappers: call.wrappers.clone(),
            stdin: call.stdin.clone(),
            writes: call.writes.clone(),
            reads: call.reads.clone(),
            pipeline: call.pipeline,
            stage: call.stage,
            feeds: None,
            text: clip(&call.text, MAX_TEXT),
            listed: super::listed::Listed::default(),
            does: parsed.and_then(Parsed::said),
            gives_code: parsed.is_some_and(|parsed| parsed.roles.contains(&Role::Code)),
            added: Vec::new(),
        };
        match parsed {
            Some(parsed) => {
                invocation.sub.clone_from(&parsed.sub);
                invocation.flags.clone_from(&parsed.flags);
                invocation.operands.clone_from(&parsed.operands);
            }
            None => plain_words(&mut invocation),
        }
        if SETTLED.contains(&program)
            && let Some(cwd) = invocation.cwd.as_deref().filter(|_| !call.remote && call.container.is_none())
        {
            let settings = Ask::Content(join(cwd, ".env"));
            self.out.invocations.push(invocation);
            self.ask(settings);
        } else {
            self.out.invocations.push(invocation);
        }
        self.out.invocations.len().saturating_sub(1)
    }
}

/// Options and operands of a program without a row: a word with a dash is an option, without a value unless it has `=`.
fn plain_words(invocation: &mut Invocation) {
    let mut dashes = false;
    for arg in &invocation.args {
        let text = arg.prefix();
        if dashes || text.len() < 2 || !text.starts_with('-') {
            invocation.operands.push(arg.clone());
        } else if arg.known() == Some("--") {
            dashes = true;
        } else if let Some((name, _)) = text.split_once('=') {
            let value = super::options::after(arg, name.len() + 1).unwrap_or_default();
            invocation.flags.push(super::Flag { name: name.to_owned(), value: Some(value) });
        } else {
            invocation.flags.push(super::Flag { name: text.to_owned(), value: None });
        }
    }
}
