//! What an expression in code may be, and what two values make together.

use super::lex::Node;
use crate::shell::{Arg, Piece};

/// Most values of one expression.
pub(super) const MAX_VALUES: usize = 24;

/// What an expression may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    Text(Arg),
    /// An object that is a path.
    Path(Arg),
    /// Elements, and whether there may be more.
    List(Vec<Value>, bool),
    /// A module, or what it holds: `os.path.join`.
    Named(String),
    /// A function or a class of the code's own.
    Own,
    /// No text, no list of texts and nothing that does anything: a number, a table.
    Other,
    Unknown,
}

impl Value {
    pub fn text(text: &str) -> Value {
        Value::Text(Arg::literal(text))
    }

    /// As a part of a text.
    pub fn as_arg(&self) -> Arg {
        match self {
            Value::Text(arg) | Value::Path(arg) => arg.clone(),
            _ => Arg { pieces: vec![Piece::Unknown].into() },
        }
    }
}

/// What a member of a module is, where it is a text or a list.
pub(super) fn constant(owner: &str, name: &str) -> Option<Value> {
    Some(match (owner, name) {
        ("os", "sep") | ("path", "sep") => Value::text("/"),
        ("os", "curdir") => Value::text("."),
        ("sys", "executable") => Value::text("python3"),
        ("process", "execPath") => Value::text("node"),
        ("sys" | "process", "argv") => Value::List(Vec::new(), true),
        (
            "os.environ" | "process.env",
            "get" | "items" | "keys" | "copy" | "setdefault" | "values" | "pop" | "update",
        ) => {
            return None;
        }
        ("os.environ" | "process.env", variable_name) => variable(Some(variable_name)),
        ("subprocess", "PIPE" | "DEVNULL" | "STDOUT") => Value::Other,
        ("os", "devnull") => Value::Text(Arg::literal("/dev/null")),
        _ => return None,
    })
}

/// What a variable of the environment holds, as far as it is the same everywhere.
pub(super) fn variable(name: Option<&str>) -> Value {
    match name {
        Some("HOME") => Value::Path(Arg::literal("~")),
        _ => Value::Unknown,
    }
}

pub(super) fn distinct(values: Vec<Value>) -> Vec<Value> {
    let mut out: Vec<Value> = Vec::new();
    for value in values {
        if !out.contains(&value) {
            out.push(value);
        }
    }
    out
}

/// Every value of one with every value of the other.
pub(super) fn both(left: &[Value], right: &[Value], with: impl Fn(&Value, &Value) -> Value) -> Vec<Value> {
    let mut out = Vec::new();
    for one in left {
        for other in right {
            if out.len() >= MAX_VALUES {
                out.push(Value::Unknown);
                return out;
            }
            let value = with(one, other);
            if !out.contains(&value) {
                out.push(value);
            }
        }
    }
    out
}

/// One behind the other: texts, or lists.
pub(super) fn joined(left: &Value, right: &Value) -> Value {
    match (left, right) {
        (Value::List(one, open), Value::List(other, more)) => {
            Value::List(one.iter().chain(other).cloned().collect(), *open || *more)
        }
        (Value::List(one, _), _) => Value::List(one.clone(), true),
        (_, Value::List(other, _)) => {
            Value::List([Value::Unknown].iter().chain(other).cloned().collect(), true)
        }
        (Value::Unknown | Value::Other | Value::Own, Value::Unknown | Value::Other | Value::Own) => {
            Value::Unknown
        }
        _ => Value::Text(concatenated(&left.as_arg(), &right.as_arg())),
    }
}

pub(super) fn concatenated(left: &Arg, right: &Arg) -> Arg {
    let mut pieces: Vec<Piece> = left.pieces.iter().cloned().collect();
    for piece in &right.pieces {
        match (pieces.last_mut(), piece) {
            (Some(Piece::Known(text)), Piece::Known(more)) => text.push_str(more),
            (Some(Piece::Unknown), Piece::Unknown) => {}
            _ => pieces.push(piece.clone()),
        }
    }
    pieces.retain(|piece| !matches!(piece, Piece::Known(text) if text.is_empty()));
    Arg { pieces: pieces.into() }
}

pub(super) fn inside_of(base: &Value, name: &Value) -> Value {
    let path = joined_path(&base.as_arg(), &name.as_arg());
    if matches!(base, Value::Path(_)) { Value::Path(path) } else { Value::Text(path) }
}

/// A name in a directory; a path from the root is itself.
pub(super) fn joined_path(base: &Arg, name: &Arg) -> Arg {
    if name.prefix().starts_with(['/', '~']) {
        return name.clone();
    }
    let name = match name.known() {
        Some("" | ".") => return base.clone(),
        _ => name,
    };
    match base.known() {
        Some("" | ".") => name.clone(),
        Some(text) if text.ends_with('/') => concatenated(base, name),
        _ => concatenated(&concatenated(base, &Arg::literal("/")), name),
    }
}

pub(super) fn list_joined(by: &Value, list: &Value) -> Value {
    let Value::List(values, false) = list else { return Value::Unknown };
    let mut out = Value::text("");
    for (at, value) in values.iter().enumerate() {
        out = if at > 0 { joined(&out, by) } else { out };
        out = joined(&out, value);
    }
    out
}

/// A list with one more element, or with all those that `spread` stands for.
pub(super) fn appended(list: &Value, value: &Value, spread: bool) -> Value {
    let Value::List(values, open) = list else { return Value::Unknown };
    let mut values = values.clone();
    match (spread, value) {
        (true, Value::List(more, unsure)) => {
            values.extend(more.iter().cloned());
            return Value::List(values, *open || *unsure);
        }
        (true, _) => return Value::List(values, true),
        (false, value) => values.push(value.clone()),
    }
    Value::List(values, *open)
}

/// One element of a list, or whatever may be in it.
pub(super) fn element(value: Value, place: Option<usize>) -> Value {
    let Value::List(values, open) = value else { return Value::Unknown };
    match place.and_then(|place| values.get(place)) {
        Some(found) if !open => found.clone(),
        Some(_) | None => Value::Unknown,
    }
}

/// A list to which something is added, or a text.
pub(super) fn grown(value: Value, more: &[Value]) -> Value {
    match value {
        Value::List(mut values, _) => {
            for value in more {
                match value {
                    Value::List(more, _) => values.extend(more.iter().cloned()),
                    other => values.push(other.clone()),
                }
            }
            Value::List(values, true)
        }
        Value::Text(text) => Value::Text(concatenated(&text, &Value::Unknown.as_arg())),
        other => other,
    }
}

/// `[::-1]`
pub(super) fn is_turned(inside: &[Node<'_>]) -> bool {
    matches!(inside, [Node::Sign(":"), Node::Sign(":"), Node::Sign("-"), Node::Number("1")])
}

/// A pattern of names, as the shell's.
pub(super) fn globbed(path: &str) -> Arg {
    let mut pieces = Vec::new();
    for (at, part) in path.split("**/").collect::<String>().split('*').enumerate() {
        if at > 0 {
            pieces.push(Piece::Glob("*".to_owned()));
        }
        if !part.is_empty() {
            pieces.push(Piece::Known(part.to_owned()));
        }
    }
    Arg { pieces: pieces.into() }
}
