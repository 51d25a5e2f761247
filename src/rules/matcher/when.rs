//! The small closed set of data that a rule's condition is made of.

use std::borrow::Cow;

use super::{At, Class, Scene, Trigger};
use crate::domain::EffectKind;

/// A condition.
#[derive(Debug)]
pub(crate) enum When {
    Command(Command),
    Effect(OnEffect),
    Flow(Flow),
    Url(Hosts),
    Code(Code),
    Predicate(Predicate),
}

/// One program run in a certain way; everything that is given must hold.
#[derive(Debug)]
pub(crate) struct Command {
    /// Any of these programs.
    pub programs: &'static [&'static str],
    /// Any of these subcommand paths, words joined by a blank (`stash drop`); none given = any.
    pub subs: &'static [&'static str],
    /// Of each group at least one flag. `--name=value` asks for the value too. `-long` is sought among the arguments.
    pub flags: &'static [&'static [&'static str]],
    /// None of these flags.
    pub without: &'static [&'static str],
    pub operand: Operand,
    /// Only with another user's rights.
    pub privileged: bool,
}

pub(crate) const COMMAND: Command =
    Command { programs: &[], subs: &[], flags: &[], without: &[], operand: Operand::Any, privileged: false };

/// What must hold of at least one operand.
#[derive(Debug)]
pub(crate) enum Operand {
    Any,
    /// There is an operand.
    Some,
    Is(&'static [&'static str]),
    Starts(&'static [&'static str]),
    /// Without regard to case.
    Contains(&'static [&'static str]),
    /// A path of one of these classes.
    On(&'static [Class]),
    /// The same, of all operands but the last, which is where the others go.
    SourceOn(&'static [Class]),
    /// A path at one of these places.
    At(&'static [At]),
}

/// An effect of the call; everything that is given must hold.
#[derive(Debug)]
pub(crate) struct OnEffect {
    pub kinds: &'static [EffectKind],
    /// On a target of any of these classes, or at one of these places. Neither given = on any.
    pub any: &'static [Class],
    pub at: &'static [At],
    /// On a target of none of these classes.
    pub none: &'static [Class],
    /// Only when it takes all that lies below with it.
    pub recursive: bool,
    /// Only when what is lost cannot be made again.
    pub lasting: bool,
    /// Not when one of these programs does it.
    pub except: &'static [&'static str],
}

pub(crate) const EFFECT: OnEffect =
    OnEffect { kinds: &[], any: &[], at: &[], none: &[], recursive: false, lasting: false, except: &[] };

/// Data that goes from one command to another, by a pipeline or a substitution.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Flow {
    /// What was fetched is run.
    DownloadToInterpreter,
    /// What was decoded is run.
    DecodedToInterpreter,
    /// A secret leaves the machine.
    SecretToNetwork,
}

/// The host of a URL.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Hosts {
    Is(&'static [&'static str]),
    /// One that hands out a cloud machine's credentials, in any spelling.
    Metadata,
}

/// Code given to an interpreter (by an option or on its standard input) that holds, of each group, one of the words.
#[derive(Debug)]
pub(crate) struct Code {
    /// None given = any interpreter.
    pub programs: &'static [&'static str],
    pub all: &'static [&'static [&'static str]],
}

/// A condition that none of the data above can say; named, so that it can be listed.
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
