//! What is remembered while one text is walked: its shells, what its commands print, how its pipelines are numbered.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::Surveyor;
use super::call::MAX_TEXT;
use super::descriptors::Process;
use super::elements::{counts_with, names_in};
use super::output;
use super::scope::Scope;
use super::turns::{Turns, Way};
use super::walk::Frame;
use crate::domain::clip;
use crate::shell::{Arg, Context, Part, Script, Simple, Word};

/// Most ways that one command is tried in because of the loops around it.
const MAX_WAYS: usize = 64;

/// The walk over one text.
pub(super) struct Reading {
    pub frame: Frame,
    pub script: Rc<Script>,
    pub source: Rc<str>,
    /// By subshell: what it knows, none while one of its commands is walked. Large, so that it is not moved itself.
    pub scopes: BTreeMap<u32, Option<Box<Scope>>>,
    /// By owner: the commands in its substitutions.
    pub owned: BTreeMap<u32, Vec<Inner>>,
    /// What a stage of a pipeline prints.
    pub printed: BTreeMap<(u32, u16), Turns>,
    /// What was printed last does not end its line.
    pub open: bool,
    /// Stages that became several: pipeline, stage, how many more.
    pub wide: Vec<(u32, u16, u16)>,
    /// Added to the numbers of pipelines.
    pub base: u32,
    /// The commands in process substitutions: one in a redirection of a compound command is read by all commands in that.
    pub shared: Vec<Inner>,
    /// The text names the last word of the command before (`$_`).
    pub looks_back: bool,
    /// By subshell: the co-processes in it.
    pub processes: BTreeMap<u32, Process>,
}

/// A command in a substitution.
#[derive(Clone)]
pub(super) struct Inner {
    pub subshell: u32,
    pub last: bool,
    pub invocations: std::ops::Range<usize>,
    pub output: Turns,
    /// What it prints does not end its line.
    pub open: bool,
}

/// The names of the variables in a word.
pub(super) fn names(word: &Word) -> impl Iterator<Item = &str> {
    word.parts.iter().filter_map(|part| match part {
        Part::Variable { name, .. } => Some(name.as_str()),
        Part::Text { .. } | Part::Substitution { .. } | Part::Process { .. } | Part::Arithmetic(_) => None,
    })
}

/// The values of the loops' variables that a command is run with: one way per combination. `given`: the variables by which what it is
/// given differs.
pub(super) fn ways(scope: &Scope, simple: &Simple, given: &[&str]) -> Vec<Way> {
    let mut ways = vec![Vec::new()];
    let places = super::elements::places(&simple.words, scope);
    if scope.choices.is_empty() && places.is_empty() {
        return ways;
    }
    let values = simple.assigns.iter().map(|assign| &assign.value);
    let targets = simple.redirects.iter().map(|redirect| &redirect.target);
    // What is appended is there whatever comes later; else only the last value would stay.
    let more = simple.assigns.iter().chain(&simple.declared).filter(|assign| assign.array && assign.append);
    let more = more.flat_map(|assign| &assign.list);
    let words = || simple.words.iter().chain(values.clone()).chain(targets.clone()).chain(more.clone());
    let keys = simple.assigns.iter().filter_map(|assign| assign.key.as_deref());
    for (name, values) in scope.choices.iter().chain(&places) {
        let used = || {
            words().any(|word| names(word).any(|other| other == name) || counts_with(word, name))
                || given.contains(&name.as_str())
                || keys.clone().any(|key| names_in(key).any(|other| other == name))
        };
        if values.is_empty() || ways.len() * values.len() > MAX_WAYS || !used() {
            continue;
        }
        ways = ways
            .iter()
            .flat_map(|way| {
                values.iter().map(|value| {
                    let mut way = way.clone();
                    way.push((name.clone(), value.clone()));
                    way
                })
            })
            .collect();
    }
    ways
}

/// `printf` and `echo -n`.
pub(super) fn leaves_line_open(simple: &Simple) -> bool {
    let mut words = simple.words.iter().map(|word| match word.parts.as_slice() {
        [Part::Text { text, .. }] => text.as_str(),
        _ => "",
    });
    match words.next() {
        Some("printf") => !words.next().is_some_and(|format| format.ends_with("\\n")),
        Some("echo") => words.next().is_some_and(|flag| flag.starts_with("-n")),
        _ => false,
    }
}

impl Reading {
    /// Takes out the scope of a command's shell; a subshell begins with what the shell around it knows.
    pub fn take_scope(&mut self, simple: &Simple) -> Box<Scope> {
        // Its place is kept: nobody looks at it before it is put back.
        if let Some(scope) = self.scopes.get_mut(&simple.subshell) {
            return scope.take().unwrap_or_default();
        }
        let mut around = simple.parent;
        loop {
            if let Some(scope) = self.scopes.get(&around) {
                let mut scope = scope.clone().unwrap_or_default();
                if simple.owner.is_some() || !simple.last || simple.context == Context::Arithmetic {
                    scope.forget_output();
                }
                return scope;
            }
            let next = self.script.parents.get(around as usize).copied().unwrap_or(0);
            if next == around {
                return self.scopes.values().next().cloned().flatten().unwrap_or_default();
            }
            around = next;
        }
    }

    /// The pipeline and stage of a command in the whole survey.
    pub fn number(&self, simple: &Simple) -> (u32, u16) {
        let before =
            |(pipeline, stage, _): &&(u32, u16, u16)| *pipeline == simple.pipeline && *stage < simple.stage;
        let mut stage = simple.stage;
        let mut last = None;
        for (_, of, more) in self.wide.iter().filter(before) {
            // Commands of one stage share what it became.
            if last != Some(*of) {
                stage = stage.saturating_add(*more);
            }
            last = Some(*of);
        }
        match self.frame.link {
            Some((pipeline, outer)) if simple.owner.is_none() => (pipeline, outer.saturating_add(stage)),
            _ => (self.base.saturating_add(simple.pipeline), stage),
        }
    }

    /// A command's text as people are shown it, clipped.
    pub fn shown(&self, simple: &Simple) -> String {
        let text = self.source.get(simple.span.0..simple.span.1).unwrap_or_default();
        output::shown(clip(text, MAX_TEXT))
    }

    /// What comes in from the stage before.
    pub fn input(&self, simple: &Simple) -> Option<&Turns> {
        self.printed.get(&(simple.pipeline, simple.stage.checked_sub(1)?))
    }

    /// The variables by which what a command is given differs: what comes in, and what is substituted in it.
    pub fn given<'r>(&'r self, simple: &Simple, inner: &'r [Inner]) -> Vec<&'r str> {
        let input = self.input(simple).into_iter();
        input.chain(inner.iter().map(|inner| &inner.output)).flat_map(Turns::names).collect()
    }

    /// Remembers what a command prints, for the next stage.
    pub fn remember(&mut self, simple: &Simple, printed: Turns) {
        if simple.last {
            return;
        }
        let key = (simple.pipeline, simple.stage);
        let open = leaves_line_open(simple);
        let whole = match self.printed.remove(&key) {
            None => printed,
            Some(before) => Turns::once(before.whole().zip(printed.whole()).map(|(mut before, more)| {
                if !self.open {
                    output::append(&mut before, &Arg::literal("\n"));
                }
                output::append(&mut before, &more);
                before
            })),
        };
        self.printed.insert(key, whole);
        self.open = open;
    }

    /// The commands in the redirections that a command has from the compound one around it.
    pub fn around(&self, simple: &Simple, own: &[Inner]) -> Vec<Inner> {
        if self.shared.is_empty() || simple.redirects.is_empty() {
            return Vec::new();
        }
        let parts = simple.redirects.iter().flat_map(|redirect| &redirect.target.parts);
        let named: Vec<u32> = parts
            .filter_map(|part| match part {
                Part::Process { subshell } => Some(*subshell),
                Part::Text { .. }
                | Part::Variable { .. }
                | Part::Substitution { .. }
                | Part::Arithmetic(_) => None,
            })
            .filter(|subshell| own.iter().all(|inner| inner.subshell != *subshell))
            .collect();
        self.shared.iter().filter(|inner| named.contains(&inner.subshell)).cloned().collect()
    }

    /// What a substitution prints.
    pub fn output(&self, subshell: u32, inner: &[Inner], scope: &Scope) -> Option<Arg> {
        let parent = |of: u32| self.script.parents.get(of as usize).copied().unwrap_or(0);
        let mut last = inner
            .iter()
            .filter(|inner| inner.last && (inner.subshell == subshell || parent(inner.subshell) == subshell));
        let first = last.next()?;
        let (mut whole, mut open) = (first.output.here(scope)?, first.open);
        for more in last {
            if !whole.pieces.is_empty() && !open {
                output::append(&mut whole, &Arg::literal("\n"));
            }
            output::append(&mut whole, &more.output.here(scope)?);
            open = more.open;
        }
        Some(whole)
    }
}

impl Surveyor<'_> {
    /// Notes what a command in a substitution prints for the command around it.
    pub(super) fn substituted_in(
        &mut self,
        reading: &mut Reading,
        simple: &Simple,
        (invocations, printed): (std::ops::Range<usize>, Turns),
    ) {
        if simple.context == Context::Arithmetic {
            printed.each().filter_map(Arg::known).for_each(|text| self.evaluated_text(text));
        }
        if let Some(owner) = simple.owner {
            let inner = Inner {
                subshell: simple.subshell,
                last: simple.last,
                invocations,
                output: printed,
                open: leaves_line_open(simple),
            };
            if simple.context == Context::ProcessSubstitution {
                reading.shared.push(inner.clone());
            }
            reading.owned.entry(owner).or_default().push(inner);
        }
    }
}

/// The commands of a text as they stand, one of which a trap may be about.
pub(super) fn texts_of(script: &Script, source: &str) -> Vec<String> {
    /// Most commands that a trap is tried with.
    const MOST: usize = 32;
    let text = |simple: &Simple| source.get(simple.span.0..simple.span.1).map(str::to_owned);
    script.commands.iter().filter_map(text).take(MOST).collect()
}
