//! Words that stand for a list or a part of one: the positional parameters, and the elements of arrays.

use std::borrow::Cow;

use super::arrays::Array;
use super::output;
use super::scope::Scope;
use super::walk::unknown;
use crate::shell::{Arg, Op, Part, Piece, Word, expand_value, fragment, number};

/// Most values that the variable of a subscript is tried with.
const MAX_PLACES: usize = 16;
/// How deep words in words are followed.
const MAX_DEPTH: u8 = 8;
/// The variable of ours that holds the element at which is looked.
const ELEMENT: &str = "\u{1}element";

/// Begins the names of variables of ours that hold any element of an array some of whose keys are not known.
const ANY: &str = "\u{1}any ";

/// What an expansion of a list stands for.
enum Elements {
    One(Arg),
    /// `[@]`: each a word of its own.
    Each(Vec<Arg>),
    /// `[*]`: one word when quoted.
    Joined(Vec<Arg>),
}

/// A variable as a word names it.
#[derive(Clone, Copy)]
struct Named<'a> {
    name: &'a str,
    op: &'a Op,
    default: Option<&'a str>,
    depth: u8,
}

impl Scope {
    /// What arithmetic comes to here.
    pub(super) fn number(&self, source: &str) -> Option<i64> {
        number(source, &|name| match name {
            "#" if self.args.is_empty() => None,
            "#" => Some(self.args.len().to_string()),
            _ => match name.split_once('#') {
                Some(("", of)) => self.array(of).map(|array| array.values().count().to_string()),
                _ => self.env.get(name).flatten().map(str::to_owned),
            },
        })
    }

    /// The key that a subscript is, where that is known.
    pub(super) fn key(&self, source: &str) -> Option<String> {
        let text = source.trim().trim_matches(['"', '\'']);
        let name = text.strip_prefix('$').map_or(text, |name| name.trim_matches(['{', '}']));
        if let Some(value) = self.env.get(name) {
            return value.map(str::to_owned);
        }
        if let Some(number) = self.number(text) {
            return Some(number.to_string());
        }
        let plain = |c: char| !matches!(c, '$' | '`' | '+' | '*' | '(' | '#' | '%');
        if text.chars().all(plain) {
            return Some(text.to_owned());
        }
        // Of an associative array it is a word: `["$HOME/$d"]`.
        let word = Word { parts: fragment(text, true)?, span: (0, 0) };
        expand_value(&word, &self.env).known().map(str::to_owned)
    }

    /// What a word says of a list; none where it names none that is known.
    fn elements(&self, named: Named<'_>) -> Option<Elements> {
        if named.depth >= MAX_DEPTH {
            return None;
        }
        match (named.name, named.op) {
            ("@" | "*", _) if self.args.is_empty() => None,
            ("@" | "*", Op::Slice(range)) => {
                let zero = self.env.get("0").flatten().map_or_else(unknown, Arg::literal);
                let all: Vec<Arg> = std::iter::once(zero).chain(self.args.iter().cloned()).collect();
                let part = self.part(&all, range, 1);
                Some(if named.name == "@" { Elements::Each(part) } else { Elements::Joined(part) })
            }
            ("@" | "*", op) => self.operated(self.args.clone(), named, op.clone(), named.name == "*"),
            (name, Op::Element(source)) => self.subscripted(named, name, source),
            (name, Op::Keys(source)) if matches!(source.as_str(), "[@]" | "[*]") => {
                let keys =
                    self.array(name).filter(|array| !array.is_loose())?.keys().map(Arg::literal).collect();
                Some(if source == "[@]" { Elements::Each(keys) } else { Elements::Joined(keys) })
            }
            (name, Op::Indirect) => self.indirect(named, self.env.get(name)??),
            _ => None,
        }
    }

    /// `${!NAME}`, where the value is itself a list or an element of one.
    fn indirect(&self, named: Named<'_>, value: &str) -> Option<Elements> {
        let depth = named.depth.saturating_add(1);
        match value.split_once('[') {
            Some((name, rest)) => {
                let op = Op::Element(format!("[{rest}"));
                self.elements(Named { name, op: &op, default: None, depth })
            }
            None if matches!(value, "@" | "*") => {
                self.elements(Named { name: value, op: &Op::Plain, default: None, depth })
            }
            None => None,
        }
    }

    /// `${NAME[…]…}`.
    fn subscripted(&self, named: Named<'_>, name: &str, source: &str) -> Option<Elements> {
        let (inside, rest) = closed(source.strip_prefix('[')?)?;
        let array = self.array(name);
        let alone = || Some(Arg::literal(self.env.get(name).flatten()?));
        if !matches!(inside, "@" | "*") {
            let key = self.key(inside)?;
            let value = match array {
                Some(array) => match array.element(&key) {
                    Some(value) => value.clone(),
                    None => output::revive(Arg::literal(self.env.get(&format!("{ANY}{name}")).flatten()?)),
                },
                None => output::revive(alone().filter(|_| matches!(key.as_str(), "0" | "-1"))?),
            };
            return if rest.is_empty() {
                Some(Elements::One(value))
            } else {
                self.operated(vec![value], named, operator(rest)?, true)
            };
        }
        let values: Vec<Arg> = match array {
            Some(array) => array.values().cloned().collect(),
            None => vec![output::revive(alone()?)],
        };
        if rest.is_empty() {
            return Some(if inside == "@" { Elements::Each(values) } else { Elements::Joined(values) });
        }
        match operator(rest)? {
            Op::Slice(range) => {
                let part = self.part(&values, &range, 0);
                Some(if inside == "@" { Elements::Each(part) } else { Elements::Joined(part) })
            }
            op => self.operated(values, named, op, inside == "*"),
        }
    }

    /// The part of a list that `offset:length` means; where that is not known, all of it behind something unknown. `least`: what a
    /// negative offset counts from stands so far behind the first of them.
    fn part(&self, values: &[Arg], range: &str, least: usize) -> Vec<Arg> {
        let (from, count) = match range.split_once(':') {
            Some((from, count)) => (self.number(from), Some(self.number(count))),
            None => (self.number(range), None),
        };
        let known = from.zip(count.unwrap_or(Some(i64::MAX)));
        let Some((from, count)) = known.and_then(|(from, count)| {
            let length = i64::try_from(values.len()).ok()?;
            let from = if from < 0 { from.checked_add(length)? } else { from };
            Some((usize::try_from(from).unwrap_or(usize::MAX), usize::try_from(count).unwrap_or(0)))
        }) else {
            return std::iter::once(unknown()).chain(values.iter().skip(least).cloned()).collect();
        };
        values.iter().skip(from).take(count).cloned().collect()
    }

    /// What an operator makes of each element.
    fn operated(&self, values: Vec<Arg>, named: Named<'_>, op: Op, joined: bool) -> Option<Elements> {
        let list = |values| if joined { Elements::Joined(values) } else { Elements::Each(values) };
        match op {
            Op::Plain | Op::Default { .. } | Op::Assign { .. } | Op::Error { .. } => Some(list(values)),
            Op::Alternative { .. } => {
                let source = named.default?;
                let parts = fragment(source, true)?;
                let word = Word { parts, span: (0, 0) };
                self.whole(&word, named.depth.saturating_add(1)).map(list)
            }
            Op::Trim { .. } | Op::Change(_) | Op::Slice(_) => {
                let part = Part::Variable {
                    name: ELEMENT.to_owned(),
                    plain: false,
                    default: None,
                    op,
                    quoted: true,
                };
                let word = Word { parts: vec![part], span: (0, 0) };
                let mut env = self.env.clone();
                let change = |value: Arg| {
                    env.set(ELEMENT, Some(output::freeze(&value).0));
                    output::revive(expand_value(&word, &env))
                };
                Some(list(values.into_iter().map(change).collect()))
            }
            Op::Element(_) | Op::Keys(_) | Op::Indirect | Op::Other => None,
        }
    }

    /// The arguments that a word stands for which is nothing but a list or an element.
    fn whole(&self, word: &Word, depth: u8) -> Option<Vec<Arg>> {
        let mut parts = word
            .parts
            .iter()
            .filter(|part| !matches!(part, Part::Text { text, quoted: true } if text.is_empty()));
        let (Some(Part::Variable { name, op, quoted, default, .. }), None) = (parts.next(), parts.next())
        else {
            return None;
        };
        if let ((Op::Alternative { .. }, Some(source)), true) =
            ((op, default.as_deref()), !is_list(name, op) && depth < MAX_DEPTH)
        {
            // `${1+"$@"}`
            self.env.get(name).flatten().filter(|_| source.contains(['@', '*']))?;
            let parts = fragment(source, *quoted)?;
            return self.whole(&Word { parts, span: word.span }, depth.saturating_add(1));
        }
        let found = self.elements(Named { name, op, default: default.as_deref(), depth })?;
        Some(match (found, quoted) {
            (Elements::One(value), true) => vec![value],
            (Elements::One(value), false) => output::split_at(&value, self.separators()),
            (Elements::Each(values), true) => values,
            (Elements::Joined(values), true) => vec![self.joined(&values)?],
            (Elements::Each(values) | Elements::Joined(values), false) => {
                values.iter().flat_map(|value| output::split_at(value, self.separators())).collect()
            }
        })
    }

    /// The signs at which values are split.
    fn separators(&self) -> &str {
        self.env.get("IFS").flatten().unwrap_or(" \t\n")
    }

    /// The words in one, with what `IFS` begins with between them.
    fn joined(&self, values: &[Arg]) -> Option<Arg> {
        let between = match self.env.get("IFS") {
            Some(text) => text?.chars().next().map(String::from).unwrap_or_default(),
            None => return Some(output::join_words(values)),
        };
        let mut out = Arg::default();
        for (at, value) in values.iter().enumerate() {
            if at > 0 {
                output::append(&mut out, &Arg::literal(&between));
            }
            output::append(&mut out, value);
        }
        Some(out)
    }
}

/// What stands in front of the `]` that closes a subscript, and behind it.
fn closed(source: &str) -> Option<(&str, &str)> {
    let mut depth = 0usize;
    for (at, byte) in source.bytes().enumerate() {
        match byte {
            b'[' => depth += 1,
            b']' if depth == 0 => return Some((source.get(..at)?, source.get(at + 1..)?)),
            b']' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// The operator that a text behind a name is.
fn operator(rest: &str) -> Option<Op> {
    match fragment(&format!("${{x{rest}}}"), true)?.as_slice() {
        [Part::Variable { op, .. }] => Some(op.clone()),
        _ => None,
    }
}

/// Whether a variable of that name is a list, or an element of one, if it is known at all.
fn is_list(name: &str, op: &Op) -> bool {
    matches!(name, "@" | "*") || matches!(op, Op::Element(_) | Op::Keys(_) | Op::Indirect)
}

/// The arguments that a word stands for which is nothing but a list or an element: `"$@"`, `"${NAME[@]}"`, `${NAME[1]}`.
pub(super) fn whole(word: &Word, scope: &Scope) -> Option<Vec<Arg>> {
    scope.whole(word, 0)
}

/// The word with the elements of lists in it written out.
pub(super) fn written_out<'w>(word: &'w Word, scope: &Scope) -> Cow<'w, Word> {
    let stands = |part: &Part| matches!(part, Part::Variable { name, op, .. } if is_list(name, op));
    if !word.parts.iter().any(stands) {
        return Cow::Borrowed(word);
    }
    let mut word = word.clone();
    for part in &mut word.parts {
        let Part::Variable { name, op, default, .. } = part else { continue };
        let named = Named { name, op, default: default.as_deref(), depth: 0 };
        let value = match scope.elements(named) {
            Some(Elements::One(value)) => value,
            Some(Elements::Each(values)) => output::join_words(&values),
            Some(Elements::Joined(values)) => match scope.joined(&values) {
                Some(value) => value,
                None => continue,
            },
            None => continue,
        };
        if !value.pieces.iter().all(|piece| matches!(piece, Piece::Known(_))) {
            continue;
        }
        *part = Part::Text { text: value.to_text(), quoted: true };
    }
    Cow::Owned(word)
}

/// The text of a subscript or slice, in which variables are named.
fn counted(op: &Op) -> &str {
    match op {
        Op::Element(source) | Op::Slice(source) | Op::Keys(source) => source,
        Op::Plain
        | Op::Default { .. }
        | Op::Assign { .. }
        | Op::Alternative { .. }
        | Op::Error { .. }
        | Op::Trim { .. }
        | Op::Change(_)
        | Op::Indirect
        | Op::Other => "",
    }
}

/// The names in a piece of arithmetic.
pub(super) fn names_in(source: &str) -> impl Iterator<Item = &str> {
    let letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let begins = |name: &&str| name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    source.split(move |c| !letter(c)).filter(begins)
}

/// Whether a subscript or slice in a word names that variable.
pub(super) fn counts_with(word: &Word, name: &str) -> bool {
    word.parts.iter().any(|part| match part {
        Part::Variable { name: own, op: Op::Element(_), .. } if name.strip_prefix(ANY) == Some(own) => true,
        Part::Variable { op, .. } => names_in(counted(op)).any(|other| other == name),
        Part::Text { .. } | Part::Substitution { .. } | Part::Process { .. } | Part::Arithmetic(_) => false,
    })
}

/// The variables in subscripts and slices of lists whose elements are known, and the values that they may have: only the run tells
/// which, so that each is tried.
pub(super) fn places(words: &[Word], scope: &Scope) -> Vec<(String, Vec<String>)> {
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    for part in words.iter().flat_map(|word| &word.parts) {
        let Part::Variable { name, op, .. } = part else { continue };
        let numbers = |length: usize| (0..length).map(|at| at.to_string()).collect();
        let (source, values): (&str, Vec<String>) = match (name.as_str(), op) {
            ("@" | "*", Op::Slice(range)) => (range, numbers(scope.args.len().saturating_add(1))),
            (name, Op::Element(source)) => match scope.array(name) {
                Some(array) if array.is_loose() && !names_element(array, source) => {
                    let any = format!("{ANY}{name}");
                    let values: Vec<String> = array.values().map(|value| output::freeze(value).0).collect();
                    if values.len() <= MAX_PLACES && !found.iter().any(|(other, _)| *other == any) {
                        found.push((any, values));
                    }
                    continue;
                }
                Some(array) if !names_element(array, source) => {
                    (source, array.keys().map(str::to_owned).collect())
                }
                Some(_) | None => continue,
            },
            (name, Op::Indirect) => (name, numbers(scope.args.len().saturating_add(1))),
            _ => continue,
        };
        let mut names = names_in(source).filter(|name| {
            scope.env.get(name).is_none_or(|value| value.is_none())
                && !scope.choices.iter().any(|(other, _)| other == name)
        });
        if let (Some(name), None) = (names.next(), names.next())
            && (1..=MAX_PLACES).contains(&values.len())
            && !found.iter().any(|(other, _)| other == name)
        {
            found.push((name.to_owned(), values));
        }
    }
    found
}

/// Whether a subscript is the key of an element as it stands.
fn names_element(array: &Array, source: &str) -> bool {
    let inside = source.strip_prefix('[').and_then(closed).map_or("", |(inside, _)| inside);
    array.element(inside.trim_matches(['"', '\''])).is_some()
}
