//! Which conditions can match a call at all: a mask for each, made when lazaret is compiled, and one for the call. A condition
//! whose mask has nothing in common with the call's is not looked at.

use super::flow;
use super::when::{Flow, When};
use super::{View, command};
use crate::domain::{Action, Effect, EffectKind, Target};
use crate::rules::Invocation;
use crate::rules::builtin::lists;

/// Bits for programs, by a hash of the name; different names may share one.
const PROGRAMS: u32 = 112;
const KINDS: u32 = PROGRAMS;
const URL: u128 = 1 << 120;
/// An interpreter runs.
const INTERPRETER: u128 = 1 << 121;
/// Conditions in code are always looked at; they begin with something cheap.
const ALWAYS: u128 = 1 << 122;

/// What a condition needs, or what a call has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Trigger(u128);

impl Trigger {
    pub const NONE: Trigger = Trigger(0);

    pub const fn meets(self, other: Trigger) -> bool {
        self.0 & other.0 != 0
    }

    /// What a condition needs.
    pub const fn of_condition(when: &When) -> Trigger {
        Trigger(match when {
            When::Command(pattern) => programs(pattern.programs),
            When::Effect(pattern) => kinds(pattern.kinds),
            When::Flow(Flow::DownloadToInterpreter) => {
                programs(lists::DOWNLOADERS)
                    | programs(lists::NETCATS)
                    | programs(lists::CONNECTIONS)
                    | programs(lists::REMOTE_STORES)
            }
            When::Flow(Flow::DecodedToInterpreter) => programs(lists::DECODERS),
            When::Flow(Flow::SecretToNetwork) => {
                programs(lists::SENDERS) | programs(lists::NETCATS) | programs(flow::TLS)
            }
            When::Url(_) => URL,
            When::Code(code) if code.programs.is_empty() => INTERPRETER,
            When::Code(code) => programs(code.programs),
            When::Predicate(_) => ALWAYS,
        })
    }

    /// What a call has.
    pub fn of_call(view: &View<'_>) -> Trigger {
        let mut mask = ALWAYS;
        for inv in &view.survey.invocations {
            mask |= of_invocation(inv);
        }
        for effect in &view.survey.effects {
            mask |= of_effect(effect);
        }
        if matches!(view.call.action, Action::Fetch { .. }) {
            mask |= URL;
        }
        Trigger(mask)
    }

    /// An interpreter runs.
    pub const fn has_interpreter(self) -> bool {
        self.0 & INTERPRETER != 0
    }
}

fn of_invocation(inv: &Invocation) -> u128 {
    let mut mask = program(inv.program.as_bytes());
    // `python3.12` is sought as `python` too.
    let bare = command::without_version(&inv.program);
    if bare.len() < inv.program.len() {
        mask |= program(bare.as_bytes());
    }
    if command::is_interpreter(&inv.program) {
        mask |= INTERPRETER;
    }
    mask
}

fn of_effect(effect: &Effect) -> u128 {
    match effect.target {
        Target::Url(_) => kind(effect.kind) | URL,
        Target::Path { .. } | Target::UnknownPath { .. } | Target::Command(_) | Target::None => {
            kind(effect.kind)
        }
    }
}

const fn kind(kind: EffectKind) -> u128 {
    1 << (KINDS + kind as u32)
}

const fn kinds(mut kinds: &[EffectKind]) -> u128 {
    let mut mask = 0;
    while let [one, rest @ ..] = kinds {
        mask |= kind(*one);
        kinds = rest;
    }
    mask
}

const fn program(mut name: &[u8]) -> u128 {
    let mut hash: u32 = 0x811c_9dc5;
    while let [byte, rest @ ..] = name {
        hash = (hash ^ *byte as u32).wrapping_mul(0x0100_0193);
        name = rest;
    }
    1 << (hash % PROGRAMS)
}

const fn programs(mut names: &[&str]) -> u128 {
    let mut mask = 0;
    while let [name, rest @ ..] = names {
        // `mkfs.*` may be any name.
        mask |= if matches!(name.as_bytes().last(), Some(b'*')) { ALWAYS } else { program(name.as_bytes()) };
        names = rest;
    }
    mask
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Policy;
    use crate::rules::fixture;
    use crate::rules::matcher::{Scene, all, hit};

    /// The masks may let a rule through for nothing, but must never keep one away that matches.
    #[test]
    fn no_rule_that_matches_is_kept_away() {
        let policy = Policy::default();
        let mut kept_away = 0;
        let mut matched = 0;
        for example in all().flat_map(|rule| rule.fires.iter().chain(rule.silent)) {
            let call = fixture::call(example);
            let (survey, facts) = fixture::survey_of(&call, &policy);
            let view =
                View { call: &call, cwd: fixture::PROJECT, survey: &survey, facts: &facts, policy: &policy };
            let trigger = Trigger::of_call(&view);
            let scene = Scene::new(view);
            for (rule, when) in all().flat_map(|rule| rule.when.iter().map(move |when| (rule, when))) {
                let hits = hit(when, &scene).is_some();
                let met = Trigger::of_condition(when).meets(trigger);
                assert!(met || !hits, "{} is kept away from {example}", rule.id);
                matched += usize::from(hits);
                kept_away += usize::from(!met);
            }
        }
        assert!(matched > 700 && kept_away > 50_000, "{matched} matched, {kept_away} kept away");
    }
}
