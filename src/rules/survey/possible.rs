//! What a command that cannot be worked out may be: every literal of the same text that could flow into its command word, or into
//! the text that it runs, is judged as if it stood there (see `origins`).

use super::Surveyor;
use super::call::{Call, MAX_TEXT};
use super::origins::{From, Origins, POSITIONAL, Place, Reaching, Sink, plain, sinks};
use super::output;
use super::scope::Scope;
use super::unfold::is_program;
use super::walk::{Frame, unknown};
use crate::domain::clip;
use crate::shell::{Arg, Op, Part, Piece, Script, Simple, Word, expand_defaults, parse};

/// Most commands and texts that are tried for one text.
const MAX_TRIED: usize = 48;
/// Most commands of one text that are looked at for what may come to them.
const MAX_SINKS: usize = 256;
/// Most words of one that is tried.
const MAX_WORDS: usize = 24;
/// Most words that are looked at for where a command may begin.
const MAX_LITERALS: usize = 512;

words!("survey/possible");

/// What was tried already.
#[derive(Default)]
struct Tried(Vec<Vec<Arg>>);

impl Tried {
    /// Notes words that are to be tried; false when they were, or too many.
    fn begins(&mut self, words: &[Arg]) -> bool {
        let new = self.0.len() < MAX_TRIED && !words.is_empty() && !self.0.iter().any(|other| other == words);
        if new {
            self.0.push(words.to_vec());
        }
        new
    }
}

impl Surveyor<'_> {
    /// Judges what a text may run that was not worked out.
    pub(super) fn possible(&mut self, script: &Script, scope: &Scope, frame: &Frame, source: &str) {
        if self.guesses || self.out.bound {
            return;
        }
        self.guesses = true;
        let origins = Origins::of(script);
        let mut tried = Tried::default();
        for sink in sinks(script).into_iter().take(MAX_SINKS) {
            let reaching = origins.reaching(sink.roots.iter().cloned());
            let runs = runs_of(&reaching, scope);
            if runs.is_empty() || !self.spend(runs.iter().map(Vec::len).sum::<usize>()) {
                continue;
            }
            let text = source.get(sink.simple.span.0..sink.simple.span.1).unwrap_or_default();
            self.guess(&sink, &runs, (scope, frame, text), &mut tried);
        }
        self.guesses = false;
    }

    fn guess(
        &mut self,
        sink: &Sink<'_>,
        runs: &[Vec<Arg>],
        (scope, frame, text): (&Scope, &Frame, &str),
        tried: &mut Tried,
    ) {
        let args: Vec<Arg> =
            sink.args.unwrap_or_default().iter().flat_map(|word| expand_defaults(word, &scope.env)).collect();
        let words = literals(runs);
        let backwards: Vec<Arg> = words.iter().rev().cloned().collect();
        let cut: Vec<Arg> = words.iter().flat_map(at_signs).collect();
        for run in runs.iter().chain([&words, &backwards, &cut]) {
            let run: Vec<Arg> = run.iter().flat_map(output::split).collect();
            for at in starts(&run) {
                let tail = run.get(at..).unwrap_or_default();
                let given: Vec<Arg> = tail.iter().take(MAX_WORDS).chain(&args).cloned().collect();
                self.try_words(&given, (scope, frame, text), tried);
                if at > 0 && args.is_empty() {
                    // In another order.
                    let front = run.iter().take(at.min(MAX_WORDS));
                    let turned: Vec<Arg> = tail.iter().take(MAX_WORDS).chain(front).cloned().collect();
                    self.try_words(&turned, (scope, frame, text), tried);
                }
            }
        }
        for joined in [glued(&words), glued(&backwards)].into_iter().flatten() {
            let given: Vec<Arg> = output::split(&joined).into_iter().chain(args.iter().cloned()).collect();
            if starts(&given).next() == Some(0) {
                self.try_words(&given, (scope, frame, text), tried);
            }
        }
        if sink.args.is_none() {
            for whole in runs.iter().flatten().filter(|arg| is_text(arg)) {
                self.try_text(whole, (scope, frame), tried);
            }
            if runs.iter().flatten().any(|arg| is_deadly(arg) && !begins_a_command(arg)) {
                let call = guessed(frame, scope, vec![Arg::literal("eval"), unknown()], text);
                self.emit(&call, "eval", None);
            }
        }
    }

    fn try_words(&mut self, words: &[Arg], (scope, frame, text): (&Scope, &Frame, &str), tried: &mut Tried) {
        if tried.begins(words) && self.spend(words.len()) {
            let mut call = guessed(frame, scope, words.to_vec(), text);
            call.pipeline = self.begin(&[]);
            self.run(call, &mut scope.clone());
        }
    }

    fn try_text(&mut self, text: &Arg, (scope, frame): (&Scope, &Frame), tried: &mut Tried) {
        let (plain, _) = output::freeze(text);
        if parse(&plain).problem.is_none() && tried.begins(std::slice::from_ref(text)) {
            let mut frame = frame.clone();
            frame.depth = frame.depth.saturating_add(1);
            self.script(text, scope.clone(), frame);
        }
    }
}

/// Whether a text assigns in a loop or under a condition, so that what was walked once is not all that may be.
pub(super) fn fills_in_turns(script: &Script) -> bool {
    let turns = |simple: &Simple| {
        simple.conditional
            && (simple.assigns.iter().any(|assign| assign.append || assign.array)
                || !simple.declared.is_empty()
                || matches!(
                    simple.words.first().and_then(plain),
                    Some("shift" | "set" | "read" | "declare" | "eval")
                ))
    };
    script.commands.iter().any(turns)
}

/// A command as it would be run.
fn guessed(frame: &Frame, scope: &Scope, words: Vec<Arg>, text: &str) -> Call {
    Call {
        words,
        cwd: scope.env.cwd.clone(),
        before: None,
        arrived: false,
        privileged: frame.privileged,
        remote: frame.remote,
        container: frame.container.clone(),
        lenient: false,
        wrappers: frame.wrappers.clone(),
        stdin: frame.stdin.clone(),
        input: None,
        writes: Vec::new(),
        reads: Vec::new(),
        pipeline: 0,
        stage: 0,
        piped: false,
        text: output::shown(clip(text, MAX_TEXT)),
        depth: frame.depth.saturating_add(1),
    }
}

/// The words that reach a place, in the rows in which they stand.
fn runs_of(reaching: &Reaching<'_>, scope: &Scope) -> Vec<Vec<Arg>> {
    let mut runs: Vec<Vec<Arg>> = Vec::new();
    let mut left = MAX_LITERALS;
    for place in &reaching.places {
        let Place::Variable(name) = place else { continue };
        if name == POSITIONAL {
            runs.push(scope.args.iter().take(left).cloned().collect());
        }
    }
    for from in &reaching.words {
        let run: Vec<Arg> = match from {
            From::Text(text) => vec![Arg::literal(text.trim_matches(['"', '\'']))],
            From::Words(words) => words.iter().take(left).flat_map(|word| literal(word, scope)).collect(),
            From::Place(_) => continue,
        };
        left = left.saturating_sub(run.len());
        runs.push(run);
    }
    runs.retain(|run| !run.is_empty());
    runs
}

/// What a word says itself: `NAME=value` and `[key]=value` by their parts, and nothing of what only a variable says.
fn literal(word: &Word, scope: &Scope) -> Vec<Arg> {
    let args = expand_defaults(word, &scope.env);
    let args = args.into_iter().map(output::revive);
    let args = args.filter(|arg| arg.pieces.iter().any(|piece| !matches!(piece, Piece::Unknown)));
    let operators = word.parts.iter().filter_map(|part| match part {
        Part::Variable { default: Some(text), .. } => Some(Arg::literal(text)),
        Part::Variable { op: Op::Change(text), .. } => text.rsplit('/').next().map(Arg::literal),
        Part::Variable { .. }
        | Part::Text { .. }
        | Part::Substitution { .. }
        | Part::Process { .. }
        | Part::Arithmetic(_) => None,
    });
    let args = operators.chain(args);
    args.flat_map(|arg| match arg.known().and_then(|text| text.split_once('=')) {
        Some((front, value)) if front.len() < 32 && !front.contains([' ', '/', '-']) => {
            let key = front.rsplit('[').next().unwrap_or_default().trim_end_matches(']');
            vec![Arg::literal(key), Arg::literal(value.trim_matches(['(', ')'])), arg]
        }
        _ => vec![arg],
    })
    .collect()
}

fn literals(runs: &[Vec<Arg>]) -> Vec<Arg> {
    runs.iter().flatten().take(MAX_LITERALS).cloned().collect()
}

/// Where a command may begin.
fn starts(run: &[Arg]) -> impl Iterator<Item = usize> + '_ {
    let is = |arg: &Arg| arg.known().is_some_and(|text| is_program(text) || text.starts_with("/bin/"));
    run.iter().enumerate().filter(move |(_, arg)| is(arg)).map(|(at, _)| at)
}

/// Short pieces put together: `r`, `m`.
fn glued(words: &[Arg]) -> Option<Arg> {
    let short: Vec<&Arg> = words.iter().filter(|arg| !arg.prefix().starts_with('%')).collect();
    let is_short = |arg: &&&Arg| arg.known().is_some_and(|text| text.len() <= 3);
    if short.len() < 2 || short.iter().filter(is_short).count() * 2 < short.len() {
        return None;
    }
    let mut whole = Arg::default();
    short.into_iter().for_each(|arg| output::append(&mut whole, arg));
    Some(whole)
}

/// The parts of a literal that other signs than blanks keep apart.
fn at_signs(arg: &Arg) -> Vec<Arg> {
    const SIGNS: [char; 8] = [':', ',', ';', '|', '_', '+', '%', '@'];
    match arg.known() {
        // An address is one thing.
        Some(text) if text.contains(SIGNS) && !text.contains("://") => {
            text.split(SIGNS).filter(|part| !part.trim().is_empty()).map(Arg::literal).collect()
        }
        _ => vec![arg.clone()],
    }
}

/// Whether a literal may be a command line of its own.
fn is_text(arg: &Arg) -> bool {
    arg.prefix().contains([' ', ';', '\n', '|', '>'])
}

/// Whether a literal begins with the name of a program: it was judged as a command.
fn begins_a_command(arg: &Arg) -> bool {
    arg.prefix().split_whitespace().next().is_some_and(is_program)
}

/// Whether a literal holds the name of a program that takes away, or of a place that matters.
fn is_deadly(arg: &Arg) -> bool {
    let text = arg.text();
    let cut = |c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-' || c == '.');
    text.split(cut).any(|word| DEADLY.contains(&word))
}
