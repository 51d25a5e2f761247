//! The small closed set of data that a rule's condition is made of. Built-in rules are constants; the conditions of other rules are
//! lent for as long as they are looked at.

use std::borrow::Cow;

use super::class::Named;
use super::{Class, Scene, Trigger};
use crate::domain::EffectKind;
pub(crate) use crate::domain::Flow;

/// A condition.
#[derive(Debug)]
pub(crate) enum Condition<'r> {
    Command(Run<'r>),
    Effect(On<'r>),
    Flow(Flow),
    Url(HostIs<'r>),
    Code(Holds<'r>),
    Tool(ToolCalled<'r>),
    Predicate(Predicate),
}

/// The conditions of built-in rules.
pub(crate) type When = Condition<'static>;
pub(crate) type Command = Run<'static>;
pub(crate) type Operand = OperandIs<'static>;
pub(crate) type OnEffect = On<'static>;
pub(crate) type Hosts = HostIs<'static>;
pub(crate) type Code = Holds<'static>;

/// One program run in a certain way; everything that is given must hold.
#[derive(Debug)]
pub(crate) struct Run<'r> {
    /// Any of these programs.
    pub programs: &'r [&'r str],
    /// Any of these subcommand paths, words joined by a blank (`stash drop`); none given = any.
    pub subs: &'r [&'r str],
    /// Of each group at least one flag. `--name=value` asks for the value too. `-long` is sought among the arguments.
    pub flags: &'r [&'r [&'r str]],
    /// None of these flags.
    pub without: &'r [&'r str],
    pub operand: OperandIs<'r>,
    /// Only with another user's rights.
    pub privileged: bool,
    /// Not where a registry or a directory of this machine is named as what it goes to.
    pub away: bool,
}

pub(crate) const COMMAND: Command = Run {
    programs: &[],
    subs: &[],
    flags: &[],
    without: &[],
    operand: OperandIs::Any,
    privileged: false,
    away: false,
};

/// What must hold of at least one operand.
#[derive(Debug, Clone, Copy)]
pub(crate) enum OperandIs<'r> {
    Any,
    /// There is an operand.
    Some,
    Is(&'r [&'r str]),
    Starts(&'r [&'r str]),
    Ends(&'r [&'r str]),
    /// Without regard to case.
    Contains(&'r [&'r str]),
    /// A path of one of these classes.
    On(&'r [Class]),
    /// The same, of all operands but the last, which is where the others go.
    SourceOn(&'r [Class]),
    /// A path at one of these places.
    At(&'r [Named<'r>]),
}

/// An effect of the call; everything that is given must hold.
#[derive(Debug)]
pub(crate) struct On<'r> {
    pub kinds: &'r [EffectKind],
    /// On a target of any of these classes, or at one of these places. Neither given = on any.
    pub any: &'r [Class],
    pub at: &'r [Named<'r>],
    /// On a target of none of these classes.
    pub none: &'r [Class],
    /// Only when it takes all that lies below with it.
    pub recursive: bool,
    /// Only when what is lost cannot be made again.
    pub lasting: bool,
    /// Not when one of these programs does it.
    pub except: &'r [&'r str],
}

pub(crate) const EFFECT: OnEffect =
    On { kinds: &[], any: &[], at: &[], none: &[], recursive: false, lasting: false, except: &[] };

/// The host of a URL.
#[derive(Debug, Clone, Copy)]
pub(crate) enum HostIs<'r> {
    Is(&'r [&'r str]),
}

/// Code given to an interpreter (by an option or on its standard input) that holds, of each group, one of the words.
#[derive(Debug)]
pub(crate) struct Holds<'r> {
    /// None given = any interpreter.
    pub programs: &'r [&'r str],
    pub all: &'r [&'r [&'r str]],
}

/// A call of a tool; no built-in rule is made of it.
#[derive(Debug)]
pub(crate) struct ToolCalled<'r> {
    /// Any of these tools; a star stands for any letters.
    pub names: &'r [&'r str],
    /// Of each group its input holds one of the words, without regard to case.
    pub all: &'r [&'r [&'r str]],
}

/// A condition that none of the data above can say; named, so that it can be listed.
#[derive(Clone, Copy)]
pub(crate) struct Predicate {
    pub name: &'static str,
    /// Without any of this it cannot match.
    pub needs: Trigger,
    pub test: for<'a> fn(&Scene<'a>) -> Found<'a>,
}

impl std::fmt::Debug for Predicate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Predicate({})", self.name)
    }
}

/// What a condition found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Found<'a> {
    No,
    /// It matches; the part of the call that does.
    Yes(Cow<'a, str>),
    /// It may match, but what decides is not known.
    Unsure(Cow<'a, str>),
}

impl<'a> Found<'a> {
    pub fn yes(text: &'a str) -> Found<'a> {
        Found::Yes(Cow::Borrowed(text))
    }

    pub fn unsure(text: &'a str) -> Found<'a> {
        Found::Unsure(Cow::Borrowed(text))
    }

    /// `Yes` with the text, where there is one.
    pub fn from(text: Option<&'a str>) -> Found<'a> {
        text.map_or(Found::No, Found::yes)
    }
}
