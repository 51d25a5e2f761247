//! What a parse gathers: commands, subshells, here-documents, and how much of the bounds is used up.

use std::collections::{BTreeMap, BTreeSet};

use super::super::{Bound, Context, Part, Problem, Redirect, RedirectKind, Script, Simple, Word};

/// What backtracking and copying may cost together, in bytes.
const FUEL: usize = 16 * 1024 * 1024;

/// Why reading stopped. What exactly is in [`State::problem`]: so the results of nested calls stay small, and with them
/// the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    Syntax,
    Bound,
}

pub(super) type Parse<T> = Result<T, Stop>;

/// Where the parser is; saved and put back around nested text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scope {
    pub context: Context,
    /// The context of commands in a substitution that is found here.
    pub inner: Context,
    pub subshell: u32,
    pub function: Option<u32>,
    pub conditional: bool,
    /// In the body of an `if`, a loop or a `case`, or behind `||`.
    pub branched: bool,
    /// The substitution whose list this is; 0 outside of any.
    pub host: u32,
    /// In `$(…)`, where a here-document may also end in the line that closes the substitution.
    pub closing: bool,
}

impl Scope {
    /// What follows may run or not.
    pub fn branch(&mut self) {
        self.conditional = true;
        self.branched = true;
    }
}

/// A here-document: known from its redirection on, read at the end of the line.
#[derive(Debug, Default)]
pub(super) struct Doc {
    pub delimiter: String,
    pub strip: bool,
    pub quoted: bool,
    pub body: Word,
    /// The commands of substitutions in the body.
    pub commands: Vec<Simple>,
    /// Stands for the subshell of the command that the document belongs to.
    pub shell: u32,
}

/// A place between commands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cut {
    commands: usize,
    subshells: usize,
}

/// A place to go back to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    commands: usize,
    subshells: usize,
    functions: usize,
    docs: usize,
    pending: usize,
    words: usize,
    count: usize,
    depth: usize,
    pipelines: u32,
    scope: Scope,
}

#[derive(Debug)]
pub(super) struct State {
    /// The last thing that was wrong; it counts when reading did not go on.
    pub problem: Option<Problem>,
    /// The first thing that bash refuses and that was read on behind.
    pub refused: Option<Problem>,
    pub commands: Vec<Simple>,
    /// The substitution that each command stands in, beside `commands`.
    pub hosts: Vec<u32>,
    pub functions: Vec<String>,
    pub coprocs: Vec<(String, u32)>,
    /// The variables that expansions assign.
    pub assigned: BTreeSet<String>,
    pub matched: Vec<Word>,
    /// The subshell around each subshell.
    parents: Vec<u32>,
    /// The subshells that [`Doc::shell`] stands for.
    owners: BTreeMap<u32, u32>,
    pub docs: Vec<Doc>,
    /// Here-documents whose bodies begin at the next newline.
    pub pending: Vec<usize>,
    pub scope: Scope,
    pub extglob: bool,
    /// `shopt -s extglob` counts from the next line on.
    pub extglob_next: bool,
    words: usize,
    count: usize,
    depth: usize,
    pipelines: u32,
    fuel: usize,
}

impl State {
    pub fn new() -> State {
        State {
            problem: None,
            refused: None,
            commands: Vec::new(),
            hosts: Vec::new(),
            functions: Vec::new(),
            coprocs: Vec::new(),
            assigned: BTreeSet::new(),
            matched: Vec::new(),
            parents: vec![0],
            owners: BTreeMap::new(),
            docs: Vec::new(),
            pending: Vec::new(),
            scope: Scope {
                context: Context::Top,
                inner: Context::Substitution,
                subshell: 0,
                function: None,
                conditional: false,
                branched: false,
                host: 0,
                closing: false,
            },
            extglob: false,
            extglob_next: false,
            words: 0,
            count: 0,
            depth: 0,
            pipelines: 0,
            fuel: FUEL,
        }
    }

    pub fn over<T>(&mut self, bound: Bound) -> Parse<T> {
        self.problem = Some(Problem::Bound(bound));
        Err(Stop::Bound)
    }

    pub fn enter(&mut self) -> Parse<()> {
        if self.depth >= Bound::MAX_DEPTH {
            return self.over(Bound::Depth);
        }
        self.depth += 1;
        Ok(())
    }

    pub fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// Nothing is nested here.
    pub fn outermost(&self) -> bool {
        self.depth == 0
    }

    pub fn count_word(&mut self) -> Parse<()> {
        self.words += 1;
        if self.words > Bound::MAX_WORDS { self.over(Bound::Words) } else { Ok(()) }
    }

    pub fn burn(&mut self, bytes: usize) -> Parse<()> {
        match self.fuel.checked_sub(bytes) {
            Some(left) => self.fuel = left,
            None => return self.over(Bound::Fuel),
        }
        Ok(())
    }

    pub fn subshell(&mut self, parent: u32) -> u32 {
        let id = u32::try_from(self.parents.len()).unwrap_or(u32::MAX);
        self.parents.push(parent);
        id
    }

    pub fn pipeline(&mut self) -> u32 {
        self.pipelines += 1;
        self.pipelines
    }

    pub fn here(&self) -> Mark {
        Mark {
            commands: self.commands.len(),
            subshells: self.parents.len(),
            functions: self.functions.len(),
            docs: self.docs.len(),
            pending: self.pending.len(),
            words: self.words,
            count: self.count,
            depth: self.depth,
            pipelines: self.pipelines,
            scope: self.scope,
        }
    }

    pub fn cut(&self) -> Cut {
        Cut { commands: self.commands.len(), subshells: self.parents.len() }
    }

    pub fn rewind(&mut self, mark: &Mark) {
        self.commands.truncate(mark.commands);
        self.hosts.truncate(mark.commands);
        self.parents.truncate(mark.subshells);
        self.functions.truncate(mark.functions);
        self.docs.truncate(mark.docs);
        self.pending.truncate(mark.pending);
        self.words = mark.words;
        self.count = mark.count;
        self.pipelines = mark.pipelines;
        self.resume(mark);
    }

    /// Goes on where `mark` was taken, with what was seen since.
    pub fn resume(&mut self, mark: &Mark) {
        self.depth = mark.depth;
        self.scope = mark.scope;
    }

    /// The same, where a text of its own ended in an open quote or substitution: its last line does not run, and what it is put into
    /// does.
    pub fn behind(&mut self, mark: &Mark, read: Parse<()>) -> Parse<()> {
        match read {
            Err(Stop::Syntax) if self.problem.as_ref().is_some_and(Problem::is_left_to_the_shell) => {
                self.resume(mark);
                Ok(())
            }
            read => read,
        }
    }

    /// Adds a command. The commands since `first` that belong to nobody yet are in its substitutions.
    pub fn push(&mut self, command: Simple, first: usize) -> Parse<()> {
        let index = u32::try_from(self.commands.len()).unwrap_or(u32::MAX);
        for inner in self.commands.iter_mut().skip(first) {
            inner.owner.get_or_insert(index);
        }
        self.commands.push(command);
        self.hosts.push(self.scope.host);
        self.count += 1;
        if self.count > Bound::MAX_COMMANDS { self.over(Bound::Commands) } else { Ok(()) }
    }

    /// Says of these `cd`s how far what follows runs only where they succeeded.
    pub fn hold(&mut self, list: &[usize], until: usize) {
        for at in list {
            if let Some(command) = self.commands.get_mut(*at) {
                command.holds = until;
            }
        }
    }

    /// Puts what was seen since `from` into a subshell of its own; gives its number.
    pub fn wrap(&mut self, from: Cut, to: Cut) -> u32 {
        let outer = self.scope.subshell;
        let id = self.subshell(outer);
        let (skip, take) = (from.subshells, to.subshells.saturating_sub(from.subshells));
        for parent in self.parents.iter_mut().skip(skip).take(take) {
            if *parent == outer {
                *parent = id;
            }
        }
        let (skip, take) = (from.commands, to.commands.saturating_sub(from.commands));
        for command in self.commands.iter_mut().skip(skip).take(take) {
            if command.subshell == outer {
                command.subshell = id;
            }
        }
        id
    }

    /// Makes one pipeline of stages that begin at `cuts`. A pipeline inside a stage becomes part of it: its stages are counted
    /// in, so that data flows only from lower numbers to higher ones.
    pub fn join(&mut self, cuts: &[Cut]) {
        let number = self.pipeline();
        let (host, end) = (self.scope.host, self.cut());
        let mut base = 0u16;
        for (index, from) in cuts.iter().copied().enumerate() {
            let to = cuts.get(index + 1).copied().unwrap_or(end);
            let is_last = index + 1 == cuts.len();
            let mut width = 0u16;
            let take = to.commands.saturating_sub(from.commands);
            let hosts = self.hosts.iter().skip(from.commands);
            for (command, at) in self.commands.iter_mut().skip(from.commands).zip(hosts).take(take) {
                if *at == host {
                    width = width.max(command.stage);
                    command.pipeline = number;
                    command.stage = command.stage.saturating_add(base);
                    command.last &= is_last;
                }
            }
            base = base.saturating_add(width).saturating_add(1);
            self.wrap(from, to);
        }
    }

    /// Puts the commands since `to`, which stand in the redirections behind a compound command, in front of the commands of that, which
    /// begin at `from`: they run first, and belong to the first of these.
    pub fn bring_forward(&mut self, from: usize, to: usize) {
        let moved = self.commands.len().saturating_sub(to);
        let stays = to.saturating_sub(from);
        if moved == 0 || stays == 0 {
            return;
        }
        let host = self.scope.host;
        let first = self.hosts.iter().enumerate().take(to).skip(from).find(|(_, at)| **at == host);
        let first = first.and_then(|(at, _)| u32::try_from(at).ok());
        for command in self.commands.iter_mut().skip(to) {
            command.owner = command.owner.or(first);
        }
        if let (Some(commands), Some(hosts)) = (self.commands.get_mut(from..), self.hosts.get_mut(from..)) {
            commands.rotate_right(moved);
            hosts.rotate_right(moved);
            for owner in commands.iter_mut().filter_map(|command| command.owner.as_mut()) {
                let at = *owner as usize;
                let shifted = if at >= to { at.saturating_sub(stays) } else { at.saturating_add(moved) };
                *owner = u32::try_from(shifted).unwrap_or(u32::MAX);
            }
        }
    }

    /// Gives the redirections of a compound command to the commands in it, in front of their own.
    pub fn attach(&mut self, from: usize, to: usize, redirects: &[Redirect]) -> Parse<bool> {
        let cost: usize =
            redirects.iter().map(|r| 200 + r.target.span.1.saturating_sub(r.target.span.0)).sum();
        let mut any = false;
        for index in from..to {
            if self.hosts.get(index) != Some(&self.scope.host) {
                continue;
            }
            self.burn(cost)?;
            if let Some(command) = self.commands.get_mut(index) {
                command.redirects.splice(0..0, redirects.iter().cloned());
                any = true;
            }
        }
        Ok(any)
    }

    /// What was read; `end`: how reading ended.
    pub fn finish(mut self, end: Parse<()>) -> Script {
        let mut commands = std::mem::take(&mut self.commands);
        let mut problem = if end.is_err() { self.problem.take() } else { self.refused.take() };
        if !self.docs.is_empty() {
            let mut out = Vec::with_capacity(commands.len());
            self.place(commands, &mut out, &mut problem);
            commands = out;
        }
        for parent in &mut self.parents {
            *parent = self.owners.get(parent).copied().unwrap_or(*parent);
        }
        for command in &mut commands {
            command.parent = self.parents.get(command.subshell as usize).copied().unwrap_or(0);
        }
        Script {
            commands,
            functions: self.functions,
            coprocs: self.coprocs,
            parents: self.parents,
            assigned: self.assigned.into_iter().collect(),
            matched: self.matched,
            problem,
        }
    }

    /// Puts the bodies of here-documents into their redirections, and the commands in them before their owners.
    fn place(&mut self, list: Vec<Simple>, out: &mut Vec<Simple>, problem: &mut Option<Problem>) {
        let mut places: Vec<usize> = Vec::with_capacity(list.len());
        for mut command in list {
            let first = out.len();
            for at in 0..command.redirects.len() {
                self.fill(&mut command, at, out, problem);
            }
            let index = u32::try_from(out.len()).unwrap_or(u32::MAX);
            for inner in out.iter_mut().skip(first) {
                inner.owner.get_or_insert(index);
                inner.conditional |= command.conditional;
                inner.branched |= command.branched;
                inner.function = inner.function.or(command.function);
            }
            places.push(out.len());
            out.push(command);
        }
        for place in &places {
            let owner = out.get(*place).and_then(|command| command.owner);
            let moved =
                owner.and_then(|old| places.get(old as usize)).and_then(|new| u32::try_from(*new).ok());
            if let Some(command) = out.get_mut(*place) {
                command.owner = moved;
            }
        }
    }

    fn fill(
        &mut self,
        command: &mut Simple,
        at: usize,
        out: &mut Vec<Simple>,
        problem: &mut Option<Problem>,
    ) {
        let Some(redirect) = command.redirects.get_mut(at).filter(|r| r.kind == RedirectKind::Heredoc) else {
            return;
        };
        let Some(doc) = self.docs.get_mut(redirect.target.span.0) else { return };
        let cost = doc.body.parts.iter().map(size).sum();
        redirect.target = Word { parts: Vec::new(), span: doc.body.span };
        let (inner, shell) = (std::mem::take(&mut doc.commands), doc.shell);
        match self.fuel.checked_sub(cost) {
            Some(left) => {
                self.fuel = left;
                redirect.target.parts.clone_from(&doc.body.parts);
            }
            None => *problem = problem.take().or(Some(Problem::Bound(Bound::Fuel))),
        }
        // A body that is taken as it stands has none; 0 is the shell around everything.
        if shell != 0 {
            self.owners.entry(shell).or_insert(command.subshell);
        }
        self.place(inner, out, problem);
    }
}

fn size(part: &Part) -> usize {
    match part {
        Part::Text { text, .. } => 64 + text.len(),
        Part::Variable { .. } | Part::Substitution { .. } | Part::Process { .. } | Part::Arithmetic(_) => 128,
    }
}
