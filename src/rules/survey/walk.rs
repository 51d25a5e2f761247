//! The walk over a parsed text, command by command: which shell each runs in, what its words become, where its input comes
//! from and its output goes.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::call::Call;
use super::container::Container;
use super::descriptors::{Descriptor, is_bare_exec};
use super::function::{Body, Function, Walked};
use super::names::names_shell;
use super::possible::fills_in_turns;
use super::reading::{Inner, Reading, leaves_line_open, names, texts_of, ways};
use super::redirects::{Goes, prints_file};
use super::scope::Scope;
use super::turns::{Turns, Values};
use super::words::forget_substitutions;
use super::{Stdin, Surveyor, output};
use crate::shell::{Arg, BASH_COMMAND, Piece, Problem, Script, Simple, parse};

/// What surrounds a text: the command that runs it.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    pub wrappers: Vec<String>,
    pub privileged: bool,
    pub remote: bool,
    pub container: Option<Rc<Container>>,
    pub stdin: Stdin,
    pub input: Option<Arg>,
    /// The pipeline and stage that the text stands in, where there are other stages.
    pub link: Option<(u32, u16)>,
    pub depth: u8,
}

impl Frame {
    pub fn top() -> Frame {
        Frame {
            wrappers: Vec::new(),
            privileged: false,
            remote: false,
            container: None,
            stdin: Stdin::Inherited,
            input: None,
            link: None,
            depth: 0,
        }
    }

    /// The inside of `call`, as what `wrapper` runs.
    pub fn inside(call: &Call, wrapper: &str) -> Frame {
        let mut wrappers = call.wrappers.clone();
        if !wrapper.is_empty() {
            wrappers.push(wrapper.to_owned());
        }
        Frame {
            wrappers,
            privileged: call.privileged,
            remote: call.remote,
            container: call.container.clone(),
            stdin: call.stdin.clone(),
            input: call.input.clone(),
            link: call.piped.then_some((call.pipeline, call.stage)),
            depth: call.depth.saturating_add(1),
        }
    }
}

impl Surveyor<'_> {
    /// Surveys a text in a shell that begins with `scope`; gives back what the shell then knows.
    pub(super) fn script(&mut self, text: &Arg, mut scope: Scope, frame: Frame) -> Scope {
        let (mut source, marked) = output::freeze(text);
        self.tainted |= marked || output::is_marked(&source);
        if frame.depth > super::MAX_DEPTH {
            self.bound("commands start commands more than 24 levels deep");
            return scope;
        }
        if !self.spend(1 + source.len() / 64) {
            return scope;
        }
        if frame.depth > 0 {
            self.out.nested.push(source.clone());
        }
        let mut script = parse(&source);
        frame.read_fish(&mut script, &mut source);
        match &script.problem {
            Some(Problem::Bound(bound)) => self.bound(&format!("the command is {}", bound.name())),
            Some(Problem::Syntax { .. }) if frame.is_powershell() => self.blocks(&source, &scope, &frame),
            Some(problem @ Problem::Syntax { at, what }) => {
                let alone = self.out.problem.is_none() || self.out.unclosed;
                self.out.unclosed = alone && (frame.depth == 0 || !marked) && problem.is_left_to_the_shell();
                let told = || format!("the command cannot be read: {what} at byte {at}");
                self.out.problem.get_or_insert_with(told);
            }
            None => {}
        }
        scope.settle(&script);
        let (script, source): (Rc<Script>, Rc<str>) = (Rc::new(script), source.into());
        let known = self.functions.len();
        for ((index, name), body) in (0u32..).zip(&script.functions).zip(Body::all(&script)) {
            let text = (Rc::clone(&script), Rc::clone(&source));
            self.functions.push(Function::new(name.clone(), text, index, body));
        }
        let opaque = self.opaque;
        let (own, text, shown) = (Rc::clone(&script), Rc::clone(&source), Rc::clone(&source));
        let traps = self.traps.len();
        let whole = Body { commands: 0..script.commands.len(), subshell: 0 };
        let mut scope = self.commands(script, source, (None, whole), (scope, frame.clone()));
        while self.traps.len() > traps {
            let Some(text) = self.traps.pop() else { break };
            let mut scope = scope.clone();
            if text.text().contains(BASH_COMMAND) {
                scope.choose(BASH_COMMAND, texts_of(&own, &shown));
            }
            self.trap(&text, scope, &frame);
        }
        for at in known..self.functions.len() {
            if self.functions.get(at).is_some_and(|function| function.state == Walked::No) {
                scope = self.function(at, &[], (scope, frame.clone()));
            }
        }
        if self.opaque > opaque || fills_in_turns(&own) {
            self.possible(&own, &scope, &frame, &text);
        }
        self.quoted_subscripts(&own, &scope, &frame, &text);
        scope
    }

    /// Walks the body of a function as `args` call it.
    pub(super) fn function(&mut self, at: usize, args: &[Arg], (mut scope, frame): (Scope, Frame)) -> Scope {
        let Some(function) = self.functions.get_mut(at) else { return scope };
        self.out.restarts = function.restarts().or(self.out.restarts.take());
        if function.state == Walked::Now || frame.depth > super::MAX_DEPTH {
            self.lose_told();
            return scope;
        }
        function.state = Walked::Now;
        self.calls = self.calls.saturating_add(1);
        if self.calls > super::MAX_CALLS {
            self.bound("functions in it are called more than 1000 times");
            return scope;
        }
        let Some(function) = self.functions.get(at) else { return scope };
        let (script, source) = (Rc::clone(&function.script), Rc::clone(&function.source));
        let part = (Some(function.index), function.body.clone());
        let kept = std::mem::take(&mut scope.args);
        self.set_positional(&mut scope, args.to_vec());
        let mut scope = self.commands(script, source, part, (scope, frame));
        self.set_positional(&mut scope, kept);
        if let Some(function) = self.functions.get_mut(at) {
            function.state = Walked::Done;
        }
        scope
    }

    /// Walks the commands of a text that stand in `function`, among those of `body`.
    fn commands(
        &mut self,
        script: Rc<Script>,
        source: Rc<str>,
        (function, body): (Option<u32>, Body),
        state: (Scope, Frame),
    ) -> Scope {
        let outer = body.subshell;
        let commands = script.commands.get(body.commands.clone()).unwrap_or_default();
        let base = self.begin(commands);
        let (scope, frame) = state;
        let mut reading = Reading {
            frame,
            script: Rc::clone(&script),
            source,
            scopes: BTreeMap::new(),
            owned: BTreeMap::new(),
            printed: BTreeMap::new(),
            open: false,
            wide: Vec::new(),
            base,
            looks_back: false,
            shared: Vec::new(),
            processes: BTreeMap::new(),
        };
        reading.looks_back = reading.source.contains("$_") || reading.source.contains("${_");
        let mut scope = scope;
        self.begin_processes(&reading, &mut scope);
        reading.scopes.insert(outer, Some(Box::new(scope)));
        // A subshell runs its own traps, with what it knows at its end.
        let mut inner_traps = Vec::new();
        for (index, command) in (0u32..).zip(&script.commands).skip(body.commands.start).take(commands.len())
        {
            let traps = self.traps.len();
            if command.function == function {
                self.simple(&mut reading, index, command);
            }
            if command.subshell != outer && self.traps.len() > traps {
                inner_traps.extend(self.traps.drain(traps..).map(|text| (command.subshell, text)));
            }
            if self.out.bound {
                break;
            }
        }
        for (subshell, text) in inner_traps {
            let scope = reading.scopes.get(&subshell).cloned().flatten().unwrap_or_default();
            self.trap(&text, *scope, &reading.frame);
        }
        *reading.scopes.remove(&outer).flatten().unwrap_or_default()
    }

    fn simple(&mut self, reading: &mut Reading, index: u32, simple: &Simple) {
        // A redirection costs as much as a few words; and what comes in is copied for each command.
        let given = match &reading.frame.stdin {
            Stdin::Text(text) => output::size(text) / 64,
            Stdin::Inherited | Stdin::Pipe | Stdin::File(_) => 0,
        };
        let input = reading.frame.input.as_ref().map_or(0, output::size) / 64;
        if !self.spend(1 + simple.words.len() + 4 * simple.redirects.len() + given + input) {
            return;
        }
        let mut scope = reading.take_scope(simple);
        self.spend(scope.env.vars.len() / 16);
        let mut inner = reading.owned.remove(&index).unwrap_or_default();
        let around = reading.around(simple, &inner);
        let shared: Vec<usize> = around.iter().flat_map(|inner| inner.invocations.clone()).collect();
        let own = inner.len();
        inner.extend(around);
        let first = self.out.invocations.len();
        let outer_width = std::mem::replace(&mut self.width, 0);
        let (pipeline, stage) = reading.number(simple);
        let mut turns = Turns::new(leaves_line_open(simple));
        let (told, ways) = (self.begin_told(simple), ways(&scope, simple, &reading.given(simple, &inner)));
        let mut values = (ways.len() > 1).then(|| Values::new(&scope));
        for way in ways {
            if let Some(values) = &values {
                values.begin(&mut scope, simple);
            }
            self.tries = self.tries.saturating_add(way.len());
            if self.tries > super::MAX_TRIES {
                self.bound("loops in it have more than 10 000 values");
                scope = Box::default();
                break;
            }
            let held = scope.fix(&way);
            let printed = self.once(reading, simple, &inner, (&mut *scope, pipeline, stage));
            scope.free(held);
            if let Some(values) = &mut values {
                self.spend(scope.env.vars.len() / 16);
                values.note(&scope, &way);
            }
            turns.push(way, printed);
        }
        if let Some(values) = values {
            values.leave(&mut scope, simple);
        }
        let end = self.out.invocations.len();
        if first < end {
            let own = inner.iter().take(own).filter(|inner| inner.last);
            for index in own.flat_map(|inner| inner.invocations.clone()) {
                self.feed(index, first);
            }
            let drawn = !shared.is_empty() || !self.drawn.is_empty();
            let runs = if drawn { self.first_that_runs(first..end) } else { None };
            if let Some(to) = runs {
                self.feed_drawn(shared, to);
            }
            self.feed_variables(&scope, simple, first);
            let drawn = std::mem::take(&mut self.drawn);
            self.feed_drawn(drawn, runs.unwrap_or(first));
        }
        self.end_told(told, first..end);
        self.drawn.clear();
        if !reading.script.coprocs.is_empty() {
            self.note_process(reading, simple, (first..end, turns.whole()));
        }
        if self.width > stage {
            reading.wide.push((simple.pipeline, simple.stage, self.width.saturating_sub(stage)));
        }
        self.width = outer_width.max(self.width).max(if reading.frame.link.is_some() { stage } else { 0 });
        reading.remember(simple, turns.clone());
        self.substituted_in(reading, simple, (first..end, turns));
        reading.scopes.insert(simple.subshell, Some(scope));
    }

    fn feed(&mut self, from: usize, to: usize) {
        if let Some(invocation) = self.out.invocations.get_mut(from) {
            invocation.feeds.get_or_insert(to);
        }
    }

    /// Commands whose output reaches this one through a variable.
    fn feed_variables(&mut self, scope: &Scope, simple: &Simple, to: usize) {
        if scope.sources.is_empty() {
            return;
        }
        for name in simple.words.iter().chain(simple.redirects.iter().map(|r| &r.target)).flat_map(names) {
            let Some((_, from)) = scope.sources.iter().find(|(other, _)| other == name) else { continue };
            for from in from.clone() {
                self.feed(from, to);
            }
        }
    }

    /// Walks a command once, with every variable at one value; gives what it prints.
    fn once(
        &mut self,
        reading: &mut Reading,
        simple: &Simple,
        inner: &[Inner],
        (scope, pipeline, stage): (&mut Scope, u32, u16),
    ) -> Option<Arg> {
        let substituted = self.substitutions(reading, simple, inner, scope);
        let cat = prints_file(simple).then(|| vec![Arg::literal("cat")]);
        let mut words = cat.unwrap_or_else(|| self.words(&simple.words, substituted, scope));
        if let Some(word) = words.first_mut().filter(|word| word.has_unknown() && names_shell(simple)) {
            *word = Arg::literal("bash");
        }
        let fed: Vec<usize> = inner.iter().filter(|i| i.last).flat_map(|i| i.invocations.clone()).collect();
        // In front of a command they hold for it alone.
        let passing = if words.is_empty() { &[][..] } else { simple.assigns.as_slice() };
        let kept: Vec<_> = passing.iter().map(|assign| scope.env.kept(&assign.name)).collect();
        let exported = scope.exported.len();
        for assign in &simple.assigns {
            let value = self.replaced(&assign.value, substituted, scope);
            let assign = crate::shell::Assign { value: value.into_owned(), ..assign.clone() };
            self.assign(scope, &assign, (simple.conditional, substituted), &fed);
            if !passing.is_empty() {
                scope.exported.push(assign.name);
            }
        }
        let mut call = self.call_of(reading, simple, words, (scope, pipeline, stage));
        let (mut files, open) = (Vec::new(), (!simple.redirects.is_empty()).then(|| scope.open.clone()));
        for redirect in &simple.redirects {
            self.redirect(redirect, substituted, scope, (&mut call, &mut files, inner));
        }
        self.name_plainly(&mut call, scope);
        if !call.reads.is_empty() || simple.owner.is_some() {
            self.counted_file(reading, simple, &call);
        }
        if !scope.open.is_empty() {
            self.usual_output(scope, simple, &mut call, &mut files);
            self.draw_named(scope, &call.words);
        }
        let (printed, goes) = (self.shown(reading, simple, &call), Goes::of(simple, &files));
        self.tell(simple, &call, printed.as_ref(), goes);
        self.remember_files(&call, files, printed.as_ref());
        if !simple.redirects.is_empty() || !inner.is_empty() || !scope.open.is_empty() {
            self.descriptors(&call, (simple, inner), scope, printed.as_ref());
        }
        self.set_printed(&call, scope);
        let last = if reading.looks_back { call.words.last().map(output::freeze) } else { None };
        let drawn = std::mem::take(&mut self.drawn);
        if is_bare_exec(&call.words) {
            self.keep_open(scope, &call, simple, inner);
            self.run(call, scope);
        } else if let Some(open) = open {
            self.run_with(call, scope, open);
        } else if !call.words.is_empty() {
            self.run(call, scope);
        }
        self.drawn.extend(drawn);
        if !scope.loaded.is_empty() {
            self.evaluated_values(scope, &reading.source);
        }
        if let Some((last, marked)) = last {
            self.tainted |= marked;
            scope.env.last = Some(last);
        }
        scope.arrive(reading.base, simple);
        for array in &simple.declared {
            self.assign_array(scope, array, substituted);
        }
        for (assign, before) in passing.iter().zip(kept).rev() {
            scope.env.restore(&assign.name, before);
        }
        if !passing.is_empty() {
            scope.exported.truncate(exported);
        }
        if substituted {
            forget_substitutions(scope);
        }
        goes.pass(printed)
    }

    /// The command with what reaches it from outside, before its own redirections.
    fn call_of(
        &mut self,
        reading: &mut Reading,
        simple: &Simple,
        words: Vec<Arg>,
        (scope, pipeline, stage): (&mut Scope, u32, u16),
    ) -> Call {
        let frame = &reading.frame;
        let mut call = Call {
            words,
            cwd: scope.env.cwd.clone(),
            before: scope.before_arriving(reading.base, simple),
            arrived: scope.has_arrived(reading.base, simple),
            privileged: frame.privileged,
            remote: frame.remote,
            container: frame.container.clone(),
            lenient: false,
            wrappers: frame.wrappers.clone(),
            stdin: frame.stdin.clone(),
            input: frame.input.clone(),
            writes: Vec::new(),
            reads: Vec::new(),
            pipeline,
            stage,
            piped: simple.stage > 0 || !simple.last || frame.link.is_some(),
            text: reading.shown(simple),
            depth: frame.depth,
        };
        if simple.stage > 0 {
            call.stdin = Stdin::Pipe;
            call.input = reading.input(simple).and_then(|turns| turns.here(scope));
        } else {
            self.usual_input(scope, &mut call);
        }
        call
    }

    /// Runs a command with redirections of its own, behind which the shell has open what it had before.
    fn run_with(&mut self, call: Call, scope: &mut Scope, open: Vec<Descriptor>) {
        if !call.words.is_empty() {
            self.run(call, scope);
        }
        scope.open = open;
    }
}

/// An argument of which nothing is known.
pub(super) fn unknown() -> Arg {
    Arg { pieces: vec![Piece::Unknown].into() }
}
