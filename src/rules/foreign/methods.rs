//! What methods and operators make of texts, paths and lists.

use super::lex::Node;
use super::value::{Value, both, globbed, inside_of, joined, joined_path, list_joined};
use super::values::Values;
use crate::shell::{Arg, Piece};

impl<'n, 'c> Values<'_, 'n, 'c> {
    /// What a method gives of a text, a path or a list.
    pub fn method(&self, value: &Value, name: &str, inside: &'n [Node<'c>]) -> Vec<Value> {
        let first = || self.first_of(inside);
        match (value, name) {
            (
                Value::Path(_) | Value::Text(_),
                "expanduser" | "resolve" | "absolute" | "as_posix" | "toString",
            )
            | (Value::List(..), "copy" | "sort" | "sorted" | "slice" | "filter") => vec![value.clone()],
            (Value::Text(_), "strip" | "rstrip" | "lstrip" | "trim" | "encode" | "decode") => {
                vec![value.clone()]
            }
            (Value::Path(_), "joinpath") => {
                self.each_of(inside).fold(vec![value.clone()], |left, right| both(&left, &right, inside_of))
            }
            (Value::Path(_), "glob" | "rglob" | "iterdir") => {
                let pattern = if name == "iterdir" { vec![Value::text("*")] } else { first() };
                let found = both(std::slice::from_ref(value), &pattern, |base, pattern| {
                    Value::Path(match inside_of(base, pattern).as_arg().known() {
                        Some(path) => globbed(path),
                        None => Arg { pieces: vec![Piece::Unknown].into() },
                    })
                });
                vec![Value::List(found, true)]
            }
            (Value::Text(text), "split") => match text.known() {
                Some(text) if inside.is_empty() => {
                    vec![Value::List(text.split_whitespace().map(Value::text).collect(), false)]
                }
                Some(text) => first()
                    .iter()
                    .map(|by| match by.as_arg().known() {
                        Some(by) if !by.is_empty() => {
                            Value::List(text.split(by).map(Value::text).collect(), false)
                        }
                        _ => Value::Unknown,
                    })
                    .collect(),
                None => vec![Value::Unknown],
            },
            (Value::Text(_), "join") => both(std::slice::from_ref(value), &first(), list_joined),
            (Value::List(..), "join") => both(&first(), std::slice::from_ref(value), list_joined),
            (Value::List(left, open), "concat") => first()
                .into_iter()
                .map(|more| match more {
                    Value::List(more, unsure) => {
                        Value::List(left.iter().cloned().chain(more).collect(), *open || unsure)
                    }
                    _ => Value::List(left.clone(), true),
                })
                .collect(),
            _ => vec![Value::Unknown],
        }
    }

    pub(super) fn added(&self, nodes: &'n [Node<'c>]) -> Vec<Value> {
        let mut parts = nodes.split(|node| node.is("+")).map(|part| self.of(part));
        let first = parts.next().unwrap_or_default();
        parts.fold(first, |left, right| both(&left, &right, joined))
    }

    /// `base / 'name'`
    pub(super) fn below(&self, nodes: &'n [Node<'c>]) -> Vec<Value> {
        let mut parts = nodes.split(|node| node.is("/")).map(|part| self.of(part));
        let first = parts.next().unwrap_or_default();
        parts.fold(first, |left, right| {
            both(&left, &right, |base, name| match base {
                Value::Named(_) | Value::Other | Value::List(..) | Value::Own => Value::Unknown,
                Value::Unknown => Value::Path(joined_path(&base.as_arg(), &name.as_arg())),
                Value::Text(_) | Value::Path(_) => Value::Path(joined_path(&base.as_arg(), &name.as_arg())),
            })
        })
    }

    /// `'%s/x' % name`
    pub(super) fn filled_by(&self, nodes: &'n [Node<'c>]) -> Vec<Value> {
        let mut parts = nodes.split(|node| node.is("%"));
        let (Some(format), Some(given), None) = (parts.next(), parts.next(), parts.next()) else {
            return vec![Value::Unknown];
        };
        both(&self.of(format), &self.of(given), |format, given| {
            let Some(format) = format.as_arg().known().map(str::to_owned) else { return Value::Unknown };
            let given = match given {
                Value::List(values, false) => values.clone(),
                other => vec![other.clone()],
            };
            let mut given = given.iter();
            let mut pieces = format.split("%s");
            let mut out = Value::text(pieces.next().unwrap_or_default());
            for piece in pieces {
                let Some(value) = given.next() else { return Value::Unknown };
                out = joined(&joined(&out, value), &Value::text(piece));
            }
            if format.replace("%s", "").contains('%') { Value::Unknown } else { out }
        })
    }
}
