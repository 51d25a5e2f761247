//! A view with what several rules ask of it worked out once.

use std::cell::OnceCell;

use super::beside::Beside;
use super::class::{Named, at_by, classify_next, names_in};
use super::{Classes, Told, Trigger, View, classify, runs};
use crate::domain::{Action, Claim, Effect, Verdict};
use crate::rules::Invocation;

/// Effects whose classes are kept without asking for memory: an ordinary call has no more.
const KEPT: usize = 8;

/// What the conditions look at.
#[derive(Debug)]
pub(crate) struct Scene<'a> {
    pub view: View<'a>,
    kept: [Classes; KEPT],
    /// Those of later effects.
    more: Vec<Classes>,
    /// The names in the effects' targets, once a rule asks for a place.
    names: OnceCell<Vec<u64>>,
    pub trigger: Trigger,
    /// How often a word was held against the name of an effect's target.
    pub looks: std::cell::Cell<usize>,
    /// A call inside another: code in it is not followed further.
    pub nested: bool,
    /// A command that stands in what a call writes: what it writes itself is not followed.
    pub inner: bool,
    told: OnceCell<Option<Told<'a>>>,
    printers: OnceCell<Vec<&'a Invocation>>,
    /// What is said of a content that the call writes, once it was looked at.
    pub written: OnceCell<Verdict>,
}

impl<'a> Scene<'a> {
    pub fn new(view: View<'a>) -> Scene<'a> {
        let mut kept = [Classes::NONE; KEPT];
        for (classes, effect) in kept.iter_mut().zip(&view.survey.effects) {
            *classes = classify(&effect.target, effect.kind, &view);
        }
        let later = view.survey.effects.iter().skip(KEPT);
        let mut beside = Beside::default();
        let mut next = |effect: &'a Effect| classify_next(&effect.target, effect.kind, &view, &mut beside);
        let more: Vec<Classes> = later.map(&mut next).collect();
        Scene {
            view,
            trigger: Trigger::of_call(&view, kept.iter().chain(&more).copied()),
            kept,
            more,
            names: OnceCell::new(),
            looks: std::cell::Cell::new(0),
            nested: false,
            inner: false,
            told: OnceCell::new(),
            printers: OnceCell::new(),
            written: OnceCell::new(),
        }
    }

    pub fn nested(view: View<'a>) -> Scene<'a> {
        Scene { nested: true, ..Scene::new(view) }
    }

    /// The scene of a command that stands in what a call writes.
    pub fn inner(view: View<'a>) -> Scene<'a> {
        Scene { inner: true, ..Scene::new(view) }
    }

    pub fn effects(&self) -> impl Iterator<Item = (&'a Effect, Classes)> + '_ {
        self.view.survey.effects.iter().zip(self.kept.iter().chain(&self.more).copied())
    }

    /// Whether the target of the effect with that number is one of `places` or lies below one.
    pub fn is_at(&self, index: usize, effect: &Effect, places: &[Named<'_>]) -> bool {
        if places.is_empty() {
            return false;
        }
        let all = || self.view.survey.effects.iter().map(|effect| names_in(&effect.target)).collect();
        let names = self.names.get_or_init(all).get(index).copied().unwrap_or(u64::MAX);
        at_by(&effect.target, names, places, self.view.facts.places.home.as_deref())
    }

    /// The call of a tool of which only its name and its arguments tell anything.
    pub fn told(&self) -> Option<&Told<'a>> {
        self.told.get_or_init(|| Told::of(&self.view)).as_ref()
    }

    pub fn invocations(&self) -> &'a [Invocation] {
        &self.view.survey.invocations
    }

    /// The invocations that print what they are given, for those behind them in a pipeline.
    pub fn printers(&self) -> &[&'a Invocation] {
        self.printers.get_or_init(|| {
            let prints = |inv: &&Invocation| runs(inv, &["echo", "printf", "cat", "tee"]);
            self.invocations().iter().filter(prints).collect()
        })
    }

    /// The first invocation of one of `programs` for which `test` holds.
    pub fn first(&self, programs: &[&str], test: impl Fn(&Invocation) -> bool) -> Option<&'a Invocation> {
        self.invocations().iter().find(|inv| programs.contains(&inv.program.as_str()) && test(inv))
    }

    /// The whole command line (the first, of a tool that we do not know); empty when the call has none.
    pub fn command_line(&self) -> &'a str {
        line_of(&self.view)
    }

    /// The command line, and every text that a shell inside it runs.
    pub fn texts(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        std::iter::once(line_of(&self.view)).chain(self.view.survey.nested.iter().map(String::as_str))
    }
}

pub(super) fn line_of<'a>(view: &View<'a>) -> &'a str {
    match &view.call.action {
        Action::Shell { command, .. } => command,
        Action::Other { claims, .. } => claims
            .iter()
            .find_map(|claim| match claim {
                Claim::Command(line) => Some(line.as_str()),
                Claim::Code(_) | Claim::File { .. } | Claim::Unread => None,
            })
            .unwrap_or_default(),
        Action::Read { .. }
        | Action::Write { .. }
        | Action::Edit { .. }
        | Action::Search { .. }
        | Action::Fetch { .. }
        | Action::Spawn { .. } => "",
    }
}
