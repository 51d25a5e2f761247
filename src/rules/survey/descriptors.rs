//! What the descriptors of a shell lead to: input that `exec 3< …` opens, co-processes, `>(…)`.

use super::assigns::element_of;
use super::call::Call;
use super::channels::waits;
use super::output;
use super::reading::{Inner, Reading};
use super::scope::Scope;
use super::{Invocation, Stdin, Surveyor};
use crate::domain::Target;
use crate::rules::matcher::{is_interpreter, runs_shell};
use crate::shell::{Arg, Part, Redirect, Simple, Word};

/// Most descriptors that are followed.
const MAX_OPEN: usize = 32;
/// The first number for a descriptor that a variable names.
const FIRST_NAMED: u32 = 10;
/// The highest number for one of a co-process.
const LAST_OF_PROCESS: u32 = 63;

/// What a descriptor is open for.
#[derive(Debug, Clone)]
pub(super) struct Descriptor {
    number: u32,
    way: Way,
}

#[derive(Debug, Clone)]
enum Way {
    /// What is read there, and the commands that print it.
    In {
        stdin: Stdin,
        input: Option<Arg>,
        from: Vec<usize>,
    },
    /// A file of the machine: what is written there can be read there, by its name or by the descriptor's.
    File(Target),
    /// The commands that read what is written there.
    Out(Vec<usize>),
    Closed,
}

/// A co-process: its number, by which its descriptors get theirs, what it runs and what it prints.
#[derive(Debug, Default)]
pub(super) struct Process {
    invocations: Vec<usize>,
    printed: Option<Arg>,
    silent: bool,
}

impl Scope {
    fn descriptor(&self, number: u32) -> Option<&Way> {
        self.open.iter().rev().find(|open| open.number == number).map(|open| &open.way)
    }

    fn open(&mut self, number: u32, way: Way) {
        self.open.retain(|open| open.number != number);
        if self.open.len() < MAX_OPEN {
            self.open.push(Descriptor { number, way });
        }
    }

    /// The file that a descriptor is open on.
    pub(super) fn opened(&self, number: u32) -> Option<&Target> {
        match self.descriptor(number)? {
            Way::File(target) => Some(target),
            Way::In { .. } | Way::Out(_) | Way::Closed => None,
        }
    }

    /// Whether something is known of a descriptor.
    pub(super) fn is_open(&self, number: &str) -> bool {
        number.parse().is_ok_and(|number| self.descriptor(number).is_some())
    }

    /// Opens a descriptor on a file.
    pub(super) fn open_file(&mut self, number: u32, target: Target) {
        self.open(number, Way::File(target));
    }

    /// What is printed goes to somebody else from here on.
    pub(super) fn forget_output(&mut self) {
        self.open.retain(|open| open.number != 1);
    }

    /// The number that a descriptor gets which a variable names.
    fn next_descriptor(&self) -> u32 {
        let used = |number: &u32| self.open.iter().any(|open| open.number == *number);
        (FIRST_NAMED..).find(|number| !used(number)).unwrap_or(FIRST_NAMED)
    }
}

impl Surveyor<'_> {
    /// The number of the descriptor that a redirection opens: the variable that names it is told.
    pub(super) fn opened_number(&mut self, redirect: &Redirect, scope: &mut Scope) -> Option<u32> {
        let Some(name) = &redirect.name else { return redirect.fd };
        let number = scope.next_descriptor();
        match element_of(name) {
            Some(place) => self.put_element(scope, place, Arg::literal(&number.to_string()), false),
            None => scope.set(name, Some(number.to_string())),
        }
        Some(number)
    }

    /// Opens a descriptor for input.
    pub(super) fn open_input(
        &mut self,
        scope: &mut Scope,
        number: u32,
        (stdin, input): (Stdin, Option<Arg>),
        (word, inner): (&Word, &[Inner]),
    ) {
        let from = printing(word, inner);
        scope.open(number, Way::In { stdin, input, from });
    }

    /// Opens a descriptor for output that commands read.
    pub(super) fn open_output(&mut self, scope: &mut Scope, number: u32, (word, inner): (&Word, &[Inner])) {
        let into = printing(word, inner);
        if !into.is_empty() {
            scope.open(number, Way::Out(into));
        }
    }

    /// What a shell prints of the commands that it runs begins with `PS4`; where that goes to a shell or a file, it may be run.
    pub(super) fn trace(&mut self, scope: &Scope) {
        let Some(front) = scope.env.get("PS4").flatten() else { return };
        let number = numbered(scope, "BASH_XTRACEFD").unwrap_or(2);
        match scope.descriptor(number) {
            Some(Way::Out(into)) if self.first_that_runs_of(into) => self.traps.push(Arg::literal(front)),
            Some(Way::File(target)) => self.files.push((target.text().to_owned(), Arg::literal(front))),
            _ => {}
        }
    }

    fn first_that_runs_of(&self, into: &[usize]) -> bool {
        into.iter().any(|at| self.out.invocations.get(*at).is_some_and(runs_what_it_reads))
    }

    /// Makes `number` what another descriptor is; `call` is what reads the usual one, and what it prints goes to `files`.
    pub(super) fn duplicate(
        &mut self,
        scope: &mut Scope,
        (number, of): (u32, &str),
        (call, files): (&mut Call, &mut Vec<Target>),
    ) {
        let Ok(of) = of.trim_end_matches('-').parse::<u32>() else {
            scope.open(number, Way::Closed);
            return;
        };
        let way = match scope.descriptor(of) {
            Some(way) => way.clone(),
            None if of == 0 && number != 0 => {
                Way::In { stdin: call.stdin.clone(), input: call.input.clone(), from: Vec::new() }
            }
            None => return,
        };
        if let Way::In { input: Some(text), .. } = &way {
            self.name_descriptor(number, text);
        }
        if let (0, Way::In { stdin, input, from }) = (number, &way) {
            call.stdin = stdin.clone();
            call.input.clone_from(input);
            self.drawn.extend(from);
        }
        match (number, &way) {
            (0, Way::File(target)) => {
                call.input = self.written(target.text()).cloned();
                call.stdin = Stdin::File(target.clone());
            }
            (1, Way::File(target)) => writes_on(target, call, files),
            (1, Way::Out(into)) => self.drawn.extend(into),
            _ => {}
        }
        scope.open(number, way);
    }

    /// What a command prints goes to the file that `exec` has opened for that.
    pub(super) fn usual_output(
        &self,
        scope: &Scope,
        simple: &Simple,
        call: &mut Call,
        files: &mut Vec<Target>,
    ) {
        let own = |redirect: &Redirect| !redirect.reads && redirect.fd.unwrap_or(1) == 1;
        if let Some(target) = scope.opened(1).filter(|_| !simple.redirects.iter().any(own)) {
            writes_on(target, call, files);
        }
    }

    /// The usual input of a command, where `exec` has changed it.
    pub(super) fn usual_input(&mut self, scope: &Scope, call: &mut Call) {
        if scope.open.is_empty() {
            return;
        }
        if let Some(Way::In { stdin, input, from }) = scope.descriptor(0) {
            call.stdin = stdin.clone();
            call.input.clone_from(input);
            self.drawn.extend(from);
        }
        if let Some(target) = scope.opened(0) {
            call.input = self.written(target.text()).cloned();
            call.stdin = Stdin::File(target.clone());
        }
        if let Some(Way::Out(into)) = scope.descriptor(1) {
            self.drawn.extend(into);
        }
    }

    /// What is read by the name of a descriptor: `. /dev/fd/3`, `read -u 3`.
    pub(super) fn draw(&mut self, scope: &Scope, number: u32) -> Option<(Stdin, Option<Arg>)> {
        match scope.descriptor(number)? {
            Way::In { stdin, input, from } => {
                self.drawn.extend(from);
                Some((stdin.clone(), input.clone()))
            }
            Way::File(target) => Some((Stdin::File(target.clone()), self.written(target.text()).cloned())),
            Way::Out(_) | Way::Closed => None,
        }
    }

    /// Notes that the words of a command name descriptors.
    pub(super) fn draw_named(&mut self, scope: &Scope, words: &[Arg]) {
        if scope.open.is_empty() {
            return;
        }
        for word in words.iter().filter_map(Arg::known) {
            let number = word.strip_prefix("/dev/fd/").and_then(|number| number.parse().ok());
            if let Some(number) = number {
                let _named = self.draw(scope, number);
            }
        }
    }

    /// After `exec` without a command its redirections hold for the shell itself.
    pub(super) fn keep_open(&mut self, scope: &mut Scope, call: &Call, simple: &Simple, inner: &[Inner]) {
        for redirect in &simple.redirects {
            let written = printing(&redirect.target, inner);
            let number =
                redirect.fd.or_else(|| redirect.name.as_ref().and_then(|name| numbered(scope, name)));
            if redirect.doubles {
                continue;
            }
            let usual = number.unwrap_or(u32::from(!redirect.reads));
            if redirect.reads && usual == 0 {
                let way = Way::In { stdin: call.stdin.clone(), input: call.input.clone(), from: written };
                scope.open(0, way);
            } else if !redirect.reads && !written.is_empty() {
                scope.open(usual, Way::Out(written));
                self.trace(scope);
            } else if let (1, [.., (target, _)]) = (usual, call.writes.as_slice()) {
                scope.open(1, Way::File(target.clone()));
            }
        }
    }

    /// `curl … > >(cat > FILE)`: the commands in it read what is written there, as behind a pipe.
    pub(super) fn lead_into(&mut self, word: &Word, inner: &[Inner], call: &Call) {
        for at in printing(word, inner) {
            if let Some(inv) =
                self.out.invocations.get_mut(at).filter(|inv| inv.stdin != Stdin::Pipe || inv.stage > 0)
            {
                if inv.stage == 0 {
                    inv.stdin = Stdin::Pipe;
                }
                inv.pipeline = call.pipeline;
                inv.stage = call.stage.saturating_add(inv.stage).saturating_add(1);
            }
        }
    }

    /// Whether a shell that was given nothing to do reads what a command prints.
    pub(super) fn prints_to_shell(&self, scope: &Scope, call: &Call) -> bool {
        self.is_read_by_shell(scope, 1, call)
    }

    /// Whether one reads what is written to the descriptor that an argument names.
    pub(super) fn names_shell(&self, scope: &Scope, arg: &Arg, call: &Call) -> bool {
        let number = arg.known().and_then(|text| text.strip_prefix("/dev/fd/")?.parse().ok());
        number.is_some_and(|number| self.is_read_by_shell(scope, number, call))
    }

    fn is_read_by_shell(&self, scope: &Scope, number: u32, call: &Call) -> bool {
        let Some(Way::Out(into)) = scope.descriptor(number) else { return false };
        { into }.iter().filter_map(|at| self.out.invocations.get(*at)).any(|inv| waits(inv, call))
    }

    /// The first of some commands that runs what it reads.
    pub(super) fn first_that_runs(&self, mut range: std::ops::Range<usize>) -> Option<usize> {
        range.find(|at| self.out.invocations.get(*at).is_some_and(runs_what_it_reads))
    }

    /// Gives the commands that reach a command by a descriptor the command that they reach.
    pub(super) fn feed_drawn(&mut self, drawn: Vec<usize>, to: usize) {
        for from in drawn {
            let feeds = self.out.invocations.get(from).and_then(|inv| inv.feeds);
            let reader = feeds.and_then(|at| self.out.invocations.get(at));
            if reader.is_some_and(runs_what_it_reads) {
                continue;
            }
            if let Some(inv) = self.out.invocations.get_mut(from) {
                inv.feeds = Some(to);
            }
        }
    }

    /// Opens the descriptors of the co-processes of a text: `${NAME[0]}` is what one prints, `${NAME[1]}` what it reads.
    pub(super) fn begin_processes(&mut self, reading: &Reading, scope: &mut Scope) {
        for (at, (name, _)) in (0u32..).zip(&reading.script.coprocs) {
            let (printed, read) = numbers(at);
            let values = [printed, read].map(|number| Arg::literal(&number.to_string()));
            scope.fill_array(name, values.to_vec());
            scope.set(name, Some(printed.to_string()));
        }
    }

    /// Notes what a command does that stands in a co-process.
    pub(super) fn note_process(
        &mut self,
        reading: &mut Reading,
        simple: &Simple,
        (invocations, printed): (std::ops::Range<usize>, Option<Arg>),
    ) {
        let around = |of: u32| reading.script.parents.get(of as usize).copied().unwrap_or(0);
        let is_in = |subshell: u32| simple.subshell == subshell || around(simple.subshell) == subshell;
        let found = (0u32..).zip(&reading.script.coprocs).find(|(_, (_, subshell))| is_in(*subshell));
        let Some((at, (_, subshell))) = found else { return };
        let subshell = *subshell;
        let parent = around(subshell);
        let process = reading.processes.entry(subshell).or_default();
        process.invocations.extend(invocations);
        if simple.last {
            process.silent |= printed.is_none();
            if let Some(more) = printed {
                let whole = process.printed.get_or_insert_default();
                if !whole.pieces.is_empty() {
                    output::append(whole, &Arg::literal("\n"));
                }
                output::append(whole, &more);
            }
        }
        let input = process.printed.clone().filter(|_| !process.silent);
        let all = process.invocations.clone();
        let (prints, reads) = numbers(at);
        if let Some(text) = &input {
            self.name_descriptor(prints, text);
        }
        if let Some(Some(scope)) = reading.scopes.get_mut(&parent) {
            let stdin = Stdin::File(Target::begun("", false));
            scope.open(prints, Way::In { stdin, input, from: all.clone() });
            scope.open(reads, Way::Out(all));
        }
    }
}

/// What a command prints goes on in that file behind what is there.
fn writes_on(target: &Target, call: &mut Call, files: &mut Vec<Target>) {
    call.writes.push((target.clone(), true));
    files.push(target.clone());
}

/// The descriptors of a co-process: what it prints, what it reads.
fn numbers(at: u32) -> (u32, u32) {
    let first = LAST_OF_PROCESS.saturating_sub(at.saturating_mul(2));
    (first, first.saturating_sub(1))
}

fn numbered(scope: &Scope, name: &str) -> Option<u32> {
    scope.env.get(name)??.parse().ok()
}

/// The commands in the process substitution that a word is.
fn printing(word: &Word, inner: &[Inner]) -> Vec<usize> {
    let [Part::Process { subshell }] = word.parts.as_slice() else { return Vec::new() };
    let inside = inner.iter().filter(|inner| inner.subshell == *subshell);
    inside.flat_map(|inner| inner.invocations.clone()).collect()
}

/// What reads commands: to it alone a command goes on leading that leads to it.
fn runs_what_it_reads(inv: &Invocation) -> bool {
    runs_shell(inv) || is_interpreter(&inv.program) || matches!(inv.program.as_str(), "." | "source" | "eval")
}

/// `exec` with nothing but redirections.
pub(super) fn is_bare_exec(words: &[Arg]) -> bool {
    let own = |word: &Arg| matches!(word.known(), Some("exec" | "command" | "builtin"));
    words.last().is_some_and(|word| word.known() == Some("exec")) && words.iter().all(own)
}
