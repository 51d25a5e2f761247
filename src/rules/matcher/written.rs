//! Rules between constants and their written form: a built-in rule is written out, a written condition is lent to the matcher.

use super::class::Named;
use super::when::{Condition, Holds, HostIs, On, OperandIs, Run, ToolCalled};
use super::{Found, Instead, Predicate, Rewriter, Rule, Trigger, all};
use crate::domain::{
    WayOut, WrittenCode, WrittenCommand, WrittenEffect, WrittenOperand, WrittenRule, WrittenTool, WrittenWhen,
};

/// A built-in rule in the form in which rules are written.
pub fn written(rule: &Rule) -> WrittenRule {
    WrittenRule {
        id: rule.id.to_owned(),
        verdict: rule.verdict,
        severity: rule.severity,
        reason: rule.reason.to_owned(),
        instead: rule.instead.map(|instead| match instead {
            Instead::Command(text) => WayOut::Command(text.to_owned()),
            Instead::Advice(text) => WayOut::Advice(text.to_owned()),
        }),
        rewriter: rule.rewriter.map(|rewriter| rewriter.name().to_owned()),
        when: rule.when.iter().map(write).collect(),
        fires: rule.fires().to_vec(),
        silent: rule.silent().to_vec(),
        hushed: false,
    }
}

/// The names of the conditions in code, in the order of the rules.
pub fn predicates() -> impl Iterator<Item = &'static str> {
    all().flat_map(|rule| rule.when).filter_map(|when| predicate_of(when).map(|predicate| predicate.name))
}

/// The rewriter of that name.
pub fn rewriter(name: &str) -> Option<Rewriter> {
    Rewriter::ALL.iter().copied().find(|rewriter| rewriter.name() == name)
}

fn predicate_of<'r>(when: &'r Condition<'_>) -> Option<&'r Predicate> {
    match when {
        Condition::Predicate(predicate) => Some(predicate),
        Condition::Command(_)
        | Condition::Effect(_)
        | Condition::Flow(_)
        | Condition::Url(_)
        | Condition::Code(_)
        | Condition::Tool(_) => None,
    }
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn owned_groups(groups: &[&[&str]]) -> Vec<Vec<String>> {
    groups.iter().map(|group| owned(group)).collect()
}

fn places(places: &[Named<'_>]) -> Vec<String> {
    let text = |place: &Named<'_>| match place {
        Named::Home(rest) => format!("~/{rest}"),
        Named::Abs(path) => (*path).to_owned(),
        Named::Name(name) => (*name).to_owned(),
    };
    places.iter().map(text).collect()
}

/// A condition in the form in which conditions are written.
pub(super) fn write(when: &Condition<'_>) -> WrittenWhen {
    match when {
        Condition::Command(run) => WrittenWhen::Command(WrittenCommand {
            programs: owned(run.programs),
            subs: owned(run.subs),
            flags: owned_groups(run.flags),
            without: owned(run.without),
            operand: write_operand(&run.operand),
            privileged: run.privileged,
            away: run.away,
        }),
        Condition::Effect(on) => WrittenWhen::Effect(WrittenEffect {
            kinds: on.kinds.to_vec(),
            on: on.any.to_vec(),
            at: places(on.at),
            not_on: on.none.to_vec(),
            recursive: on.recursive,
            lasting: on.lasting,
            except: owned(on.except),
        }),
        Condition::Flow(flow) => WrittenWhen::Flow(*flow),
        Condition::Url(HostIs::Is(hosts)) => WrittenWhen::Hosts(owned(hosts)),
        Condition::Code(code) => {
            WrittenWhen::Code(WrittenCode { programs: owned(code.programs), all: owned_groups(code.all) })
        }
        Condition::Tool(tool) => {
            WrittenWhen::Tool(WrittenTool { names: owned(tool.names), all: owned_groups(tool.all) })
        }
        Condition::Predicate(predicate) => WrittenWhen::Predicate(predicate.name.to_owned()),
    }
}

fn write_operand(operand: &OperandIs<'_>) -> Option<WrittenOperand> {
    match operand {
        OperandIs::Any => None,
        OperandIs::Some => Some(WrittenOperand::Some),
        OperandIs::Is(words) => Some(WrittenOperand::Is(owned(words))),
        OperandIs::Starts(words) => Some(WrittenOperand::Starts(owned(words))),
        OperandIs::Ends(words) => Some(WrittenOperand::Ends(owned(words))),
        OperandIs::Contains(words) => Some(WrittenOperand::Contains(owned(words))),
        OperandIs::On(classes) => Some(WrittenOperand::On(classes.to_vec())),
        OperandIs::SourceOn(classes) => Some(WrittenOperand::SourceOn(classes.to_vec())),
        OperandIs::At(at) => Some(WrittenOperand::At(places(at))),
    }
}

fn words(list: &[String]) -> Vec<&str> {
    list.iter().map(String::as_str).collect()
}

/// Calls `take` with the groups of words as the matcher has them.
fn groups<R>(list: &[Vec<String>], take: impl FnOnce(&[&[&str]]) -> R) -> R {
    let inner: Vec<Vec<&str>> = list.iter().map(|group| words(group)).collect();
    let outer: Vec<&[&str]> = inner.iter().map(Vec::as_slice).collect();
    take(&outer)
}

fn named(list: &[String]) -> Vec<Named<'_>> {
    list.iter().map(|text| name(text)).collect()
}

fn name(text: &str) -> Named<'_> {
    match text.strip_prefix('~') {
        Some(rest) => Named::Home(rest.trim_start_matches('/')),
        None if text.starts_with('/') => Named::Abs(text),
        None => Named::Name(text),
    }
}

/// What stands for a condition whose name nobody knows: it cannot tell.
const NOBODY: Predicate =
    Predicate { name: "", needs: Trigger::ALWAYS, test: |_| Found::Unsure(std::borrow::Cow::Borrowed("")) };

/// Calls `take` with a written condition as the matcher has them.
pub(super) fn lend<R>(when: &WrittenWhen, take: impl FnOnce(&Condition<'_>) -> R) -> R {
    match when {
        WrittenWhen::Command(run) => lend_command(run, take),
        WrittenWhen::Effect(on) => take(&Condition::Effect(On {
            kinds: &on.kinds,
            any: &on.on,
            at: &named(&on.at),
            none: &on.not_on,
            recursive: on.recursive,
            lasting: on.lasting,
            except: &words(&on.except),
        })),
        WrittenWhen::Flow(flow) => take(&Condition::Flow(*flow)),
        WrittenWhen::Hosts(hosts) => take(&Condition::Url(HostIs::Is(&words(hosts)))),
        WrittenWhen::Code(code) => {
            groups(&code.all, |all| take(&Condition::Code(Holds { programs: &words(&code.programs), all })))
        }
        WrittenWhen::Tool(tool) => {
            groups(&tool.all, |all| take(&Condition::Tool(ToolCalled { names: &words(&tool.names), all })))
        }
        WrittenWhen::Predicate(name) => {
            let mut known = all().flat_map(|rule| rule.when).filter_map(predicate_of);
            let found = known.find(|predicate| predicate.name == name).copied();
            take(&Condition::Predicate(found.unwrap_or(NOBODY)))
        }
    }
}

fn lend_command<R>(run: &WrittenCommand, take: impl FnOnce(&Condition<'_>) -> R) -> R {
    let (programs, subs, without) = (words(&run.programs), words(&run.subs), words(&run.without));
    let given = match &run.operand {
        Some(
            WrittenOperand::Is(list)
            | WrittenOperand::Starts(list)
            | WrittenOperand::Ends(list)
            | WrittenOperand::Contains(list),
        ) => words(list),
        Some(
            WrittenOperand::Some
            | WrittenOperand::On(_)
            | WrittenOperand::SourceOn(_)
            | WrittenOperand::At(_),
        )
        | None => Vec::new(),
    };
    let at = match &run.operand {
        Some(WrittenOperand::At(list)) => named(list),
        Some(_) | None => Vec::new(),
    };
    let operand = match &run.operand {
        None => OperandIs::Any,
        Some(WrittenOperand::Some) => OperandIs::Some,
        Some(WrittenOperand::Is(_)) => OperandIs::Is(&given),
        Some(WrittenOperand::Starts(_)) => OperandIs::Starts(&given),
        Some(WrittenOperand::Ends(_)) => OperandIs::Ends(&given),
        Some(WrittenOperand::Contains(_)) => OperandIs::Contains(&given),
        Some(WrittenOperand::On(classes)) => OperandIs::On(classes),
        Some(WrittenOperand::SourceOn(classes)) => OperandIs::SourceOn(classes),
        Some(WrittenOperand::At(_)) => OperandIs::At(&at),
    };
    groups(&run.flags, |flags| {
        take(&Condition::Command(Run {
            programs: &programs,
            subs: &subs,
            flags,
            without: &without,
            operand,
            privileged: run.privileged,
            away: run.away,
        }))
    })
}
