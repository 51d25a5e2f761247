//! What a word becomes: braces, tildes and known variables expanded, unknown parts marked.

mod brace;
mod fields;
mod number;
mod pattern;
mod pieces;
mod tail;
mod value;

use std::borrow::Cow;
use std::cell::Cell;

use super::{Part, Word};
use crate::domain::{join, same_name};
use fields::Fields;
pub(crate) use number::number;
use pieces::Pieces;
pub(crate) use tail::is_pattern;
pub(crate) use value::BASH_COMMAND;
use value::Walk;

/// A part of an expanded word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Text that is known and means itself.
    Known(String),
    /// An active glob character or bracket expression, as written.
    Glob(String),
    /// Not known without running the command (a substitution, an unset or computed variable).
    Unknown,
}

/// One argument after expansion.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Arg {
    pub pieces: Pieces,
}

impl Arg {
    /// An argument that is this text.
    pub fn literal(text: &str) -> Arg {
        Arg { pieces: vec![Piece::Known(text.to_owned())].into() }
    }

    /// The whole text, if all of it is known and nothing of it is a glob.
    pub fn known(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [] => Some(""),
            [Piece::Known(text)] => Some(text),
            _ => None,
        }
    }

    /// The known text in front of the first glob or unknown part.
    pub fn prefix(&self) -> &str {
        match self.pieces.first() {
            Some(Piece::Known(text)) => text,
            _ => "",
        }
    }

    /// The end of a path behind its first unknown part, normalised, from a slash on: of `"$DIR/.env"` the `/.env`. With more that is
    /// not known it is a pattern, from a hidden name on: of `"$DIR/.ssh/$KEY"` the `/.ssh/*`. Empty where there is none.
    pub fn tail(&self) -> Box<str> {
        match self.pieces.as_slice() {
            [.., Piece::Unknown, Piece::Known(text)] if text.starts_with('/') => join("/", text).into(),
            pieces => {
                let first = pieces.iter().position(|piece| *piece == Piece::Unknown);
                let behind = first.and_then(|first| pieces.get(first + 1..)).unwrap_or_default();
                tail::pattern("", behind)
            }
        }
    }

    /// The same of a path that stands in a directory that is not known.
    pub fn below(&self) -> Box<str> {
        match self.known() {
            Some("") => Box::default(),
            Some(text) => join("/", text).into(),
            None if self.has_unknown() && self.prefix().is_empty() => self.tail(),
            None => tail::pattern("/", &self.pieces),
        }
    }

    pub fn has_unknown(&self) -> bool {
        self.pieces.contains(&Piece::Unknown)
    }

    pub fn has_glob(&self) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, Piece::Glob(_)))
    }

    /// The same as [`Arg::text`], to be kept.
    pub fn to_text(&self) -> String {
        self.text().into_owned()
    }

    /// The argument as a shell would be given it, with `…` for what is unknown.
    pub fn text(&self) -> Cow<'_, str> {
        if let [Piece::Known(text) | Piece::Glob(text)] = self.pieces.as_slice() {
            return Cow::Borrowed(text);
        }
        let mut out = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Known(text) | Piece::Glob(text) => out.push_str(text),
                Piece::Unknown => out.push('…'),
            }
        }
        Cow::Owned(out)
    }
}

/// The variables whose values are known while a command line is walked.
#[derive(Debug, Clone, Default)]
pub struct Env {
    /// Name and value; `None` = assigned, but not known.
    pub vars: Vec<(String, Option<String>)>,
    pub home: Option<String>,
    /// The working directory, where known (`$PWD`, `~+`).
    pub cwd: Option<String>,
    /// The one before it, where known (`$OLDPWD`, `~-`).
    pub old: Option<String>,
    /// The directories below the working directory on the stack of `pushd`, the latest last (`~1`).
    pub stack: Vec<Option<String>>,
    /// The last word of the command before, where known (`$_`).
    pub last: Option<String>,
    /// How much text variables and braces have become so far; more than [`Env::MAX_SPENT`] is not known.
    pub spent: Cell<usize>,
}

impl Env {
    /// What expansion may add to the text of one command line, in bytes.
    pub const MAX_SPENT: usize = 4 * 1024 * 1024;

    /// How many variables are followed.
    pub const MAX_VARS: usize = 512;

    /// The directory that `~N`, `~+N` or `~-N` means.
    fn on_stack(&self, place: &str) -> Option<&str> {
        let digits = place.trim_start_matches(['+', '-']);
        if digits.is_empty() || place.len() > digits.len().saturating_add(1) {
            return None;
        }
        let count: usize = digits.parse().ok()?;
        // From the left the working directory is the first, from the right the last.
        let left = match place.strip_prefix('-') {
            Some(_) => self.stack.len().checked_sub(count)?,
            None => count,
        };
        match left.checked_sub(1) {
            None => self.cwd.as_deref(),
            Some(below) => {
                let at = self.stack.len().checked_sub(below.checked_add(1)?)?;
                self.stack.get(at)?.as_deref()
            }
        }
    }

    /// Whether so much more may be expanded.
    fn afford(&self, bytes: usize) -> bool {
        let spent = self.spent.get().saturating_add(bytes);
        if spent > Env::MAX_SPENT {
            return false;
        }
        self.spent.set(spent);
        true
    }

    /// The value of a variable: `None` = never assigned here, `Some(None)` = assigned but unknown.
    pub fn get(&self, name: &str) -> Option<Option<&str>> {
        self.vars.iter().rev().find(|(n, _)| same_name(n, name)).map(|(_, value)| value.as_deref())
    }

    /// What is known of a variable, to be put back later.
    pub fn kept(&self, name: &str) -> Option<Option<String>> {
        self.get(name).map(|value| value.map(str::to_owned))
    }

    /// Puts back what [`Env::kept`] gave.
    pub fn restore(&mut self, name: &str, before: Option<Option<String>>) {
        match before {
            Some(value) => self.set(name, value),
            None => self.vars.retain(|(other, _)| other != name),
        }
    }

    /// Notes an assignment. Beyond [`Env::MAX_VARS`] names are not followed, which leaves them unknown.
    pub fn set(&mut self, name: &str, value: Option<String>) {
        let room = self.vars.len() < Env::MAX_VARS || matches!(name, "HOME" | "PWD" | "IFS");
        let known = self.vars.iter_mut().rev().find(|(n, _)| same_name(n, name));
        match known {
            Some((_, before)) => *before = value,
            None if room => self.vars.push((name.to_owned(), value)),
            None => {}
        }
    }
}

/// Expands a word into the arguments that it becomes (none for an empty unquoted variable, several for braces or a
/// known variable that is split). A variable that was never assigned is unknown, also where a default is written.
pub fn expand(word: &Word, env: &Env) -> Vec<Arg> {
    expand_with(word, env, false)
}

/// As [`expand`], but a variable that was never assigned takes the default that it is written with: what
/// `rm -rf "${DIR:-/}"` does when nobody set `DIR`.
pub fn expand_defaults(word: &Word, env: &Env) -> Vec<Arg> {
    expand_with(word, env, true)
}

/// Expands the value of an assignment, a here-string or the body of a here-document: neither split nor globbed, no
/// braces.
pub fn expand_value(word: &Word, env: &Env) -> Arg {
    let mut fields = Fields::whole();
    Walk { env, assume_unset: false, depth: 0 }.parts(&word.parts, &mut fields);
    fields.finish().into_iter().next().unwrap_or_default()
}

/// As [`expand_value`], with the defaults of variables that were never assigned: `DIR="${DIR:-build}"`.
pub fn expand_value_defaults(word: &Word, env: &Env) -> Arg {
    let mut fields = Fields::whole();
    Walk { env, assume_unset: true, depth: 0 }.parts(&word.parts, &mut fields);
    fields.finish().into_iter().next().unwrap_or_default()
}

fn expand_with(word: &Word, env: &Env, assume_unset: bool) -> Vec<Arg> {
    if let Some(arg) = plain(&word.parts) {
        return vec![arg];
    }
    let walk = Walk { env, assume_unset, depth: 0 };
    if !has_brace(&word.parts) {
        let mut fields = Fields::split(env);
        walk.parts(&word.parts, &mut fields);
        return fields.finish();
    }
    let Some(words) = brace::expand(&word.parts, env) else {
        return vec![Arg { pieces: vec![Piece::Unknown].into() }];
    };
    let mut args = Vec::with_capacity(words.len());
    for parts in &words {
        if let Some(arg) = plain(parts) {
            args.push(arg);
            continue;
        }
        let mut fields = Fields::split(env);
        walk.parts(parts, &mut fields);
        args.extend(fields.finish());
    }
    args
}

/// What nearly every word is: one text in which nothing is expanded.
fn plain(parts: &[Part]) -> Option<Arg> {
    let [Part::Text { text, quoted }] = parts else { return None };
    let expands = |byte: u8| matches!(byte, b'*' | b'?' | b'[' | b'(' | b'{' | b'~');
    if !quoted && text.bytes().any(expands) {
        return None;
    }
    Some(if text.is_empty() { Arg::default() } else { Arg::literal(text) })
}

fn has_brace(parts: &[Part]) -> bool {
    parts.iter().any(|part| match part {
        Part::Text { text, quoted } => !quoted && text.contains('{'),
        Part::Variable { .. } | Part::Substitution { .. } | Part::Process { .. } | Part::Arithmetic(_) => {
            false
        }
    })
}
