//! What an expression in code may be: texts and lists of texts as far as they stand in the code, and the names of modules and their
//! functions under whatever name they are called.

use std::cell::{Cell, RefCell};

use super::Language;
use super::chain::{Chain, Link, arguments, chain, trimmed};
use super::lex::{Fill, Node};
use super::names::{Given, Names, plain_module};
use super::value::{
    MAX_VALUES, Value, appended, both, constant, distinct, element, grown, inside_of, is_turned, joined,
    variable,
};
use crate::rules::facts::functions::{Gives, gives};
use crate::shell::Arg;

/// Most steps of one reading.
const MAX_STEPS: usize = 20_000;
/// How deep names may stand for names.
const MAX_DEPTH: usize = 24;

/// Evaluates expressions of one piece of code.
pub(super) struct Values<'v, 'n, 'c> {
    pub names: &'v Names<'n, 'c>,
    pub language: Language,
    steps: Cell<usize>,
    /// Names that are being looked up.
    looked: RefCell<Vec<&'c str>>,
}

/// Words that stand in front of an expression and change nothing of it.
const FRONTS: &[&str] = &["await", "new", "return", "yield", "async", "throw"];

impl<'v, 'n, 'c> Values<'v, 'n, 'c> {
    pub fn new(names: &'v Names<'n, 'c>, language: Language) -> Values<'v, 'n, 'c> {
        Values { names, language, steps: Cell::new(0), looked: RefCell::new(Vec::new()) }
    }

    /// Whether more was to be looked at than is.
    pub fn is_spent(&self) -> bool {
        self.steps.get() > MAX_STEPS
    }

    /// What an expression may be.
    pub fn of(&self, nodes: &'n [Node<'c>]) -> Vec<Value> {
        self.steps.set(self.steps.get().saturating_add(1));
        if self.is_spent() {
            return vec![Value::Unknown];
        }
        let mut nodes = trimmed(nodes);
        if let Some(at) = nodes.iter().rposition(|node| node.is("=") || node.is(":=")) {
            nodes = trimmed(nodes.get(at.saturating_add(1)..).unwrap_or_default());
        }
        while let Some((Node::Name(word), rest)) = nodes.split_first()
            && FRONTS.contains(word)
        {
            nodes = trimmed(rest);
        }
        let mut out = self.whole(nodes);
        if out.len() > MAX_VALUES {
            out.truncate(MAX_VALUES);
            out.push(Value::Unknown);
        }
        out
    }

    fn whole(&self, nodes: &'n [Node<'c>]) -> Vec<Value> {
        match nodes {
            [] => return vec![Value::Unknown],
            [Node::Number(number)] => return vec![Value::text(number)],
            [Node::Regex] => return vec![Value::Other],
            _ => {}
        }
        let has = |signs: &[&str]| nodes.iter().any(|node| signs.iter().any(|sign| node.is(sign)));
        let word =
            |words: &[&str]| nodes.iter().any(|node| node.name().is_some_and(|name| words.contains(&name)));
        let python = self.language == Language::Python;
        if has(&["=>"])
            || nodes.first().is_some_and(|node| matches!(node.name(), Some("lambda" | "function")))
        {
            return vec![Value::Own];
        }
        // `a if c else b`, `c ? a : b`, `a or b`
        let forks = |node: &Node<'_>| match python {
            true => matches!(node.name(), Some("if" | "else" | "or" | "and")),
            false => ["?", ":", "||", "&&", "??"].iter().any(|sign| node.is(sign)),
        };
        if nodes.iter().any(forks) {
            let skip = usize::from(!python && has(&["?"]));
            return nodes.split(forks).skip(skip).flat_map(|part| self.of(part)).collect();
        }
        if has(&["==", "!=", "===", "!==", "<", ">", "<=", ">=", "!"])
            || word(&["not", "in", "is", "instanceof", "typeof", "delete", "void"])
        {
            return vec![Value::Other];
        }
        if has(&["+"]) {
            return self.added(nodes);
        }
        if python && (has(&["/"]) || has(&["%"])) && !has(&["*", "//", "-"]) {
            return if has(&["/"]) { self.below(nodes) } else { self.filled_by(nodes) };
        }
        // TypeScript: `x as T`, `x!`
        let nodes = match nodes.iter().position(|node| node.is_name("as") || node.is_name("satisfies")) {
            Some(at) if !python && at > 0 => nodes.get(..at).unwrap_or_default(),
            _ => nodes,
        };
        match chain(nodes, 0, self.language) {
            Some(chain) if chain.end == nodes.len() => self.chain(&chain, chain.links.len()),
            _ if nodes.iter().all(|node| matches!(node, Node::Number(_) | Node::Sign(_))) => {
                vec![Value::Other]
            }
            _ => vec![Value::Unknown],
        }
    }

    /// What a chain is up to one of its links.
    pub fn chain(&self, chain: &Chain<'n, 'c>, links: usize) -> Vec<Value> {
        let mut values = self.first(chain.first);
        let links = chain.links.get(..links).unwrap_or_default();
        let mut at = 0_usize;
        while let Some(link) = links.get(at) {
            let mut next = Vec::new();
            let call = match (link, links.get(at.saturating_add(1))) {
                (Link::Member(name), Some(Link::Call(inside))) => Some((*name, *inside)),
                _ => None,
            };
            for value in &values {
                match (link, call) {
                    (Link::Member(name), Some((_, inside))) if matches!(value, Value::Named(_)) => {
                        next.extend(self.called(&self.member(value, name), inside));
                    }
                    (_, Some((name, inside))) => next.extend(self.method(value, name, inside)),
                    (Link::Member(name), None) => next.push(self.member(value, name)),
                    (Link::Index(inside), None) => next.extend(self.index(value, inside)),
                    (Link::Call(inside), None) => next.extend(self.called(value, inside)),
                    (Link::Template(node), None) => match value {
                        // The letters as they stand.
                        Value::Named(name) if name == "String.raw" => next.extend(self.template(node)),
                        _ => next.push(Value::Unknown),
                    },
                }
            }
            values = distinct(next);
            at = at.saturating_add(if call.is_some() { 2 } else { 1 });
        }
        values
    }

    fn template(&self, node: &'n Node<'c>) -> Vec<Value> {
        match node {
            Node::Text(parts) => self.text(parts),
            _ => vec![Value::Unknown],
        }
    }

    fn first(&self, first: &'n [Node<'c>]) -> Vec<Value> {
        match first {
            [Node::Text(_), ..] => {
                let texts = first.iter().map(|node| self.template(node));
                texts.reduce(|left, right| both(&left, &right, joined)).unwrap_or_default()
            }
            [Node::Group('[', inside)] => self.list(inside),
            [Node::Group('(', inside)] => {
                let many = inside.iter().any(|node| node.is(","));
                let generated = inside.iter().any(|node| node.is_name("for"));
                if self.language == Language::Python && (many || generated) {
                    self.list(inside)
                } else {
                    self.of(inside)
                }
            }
            [Node::Group(..)] => vec![Value::Other],
            [Node::Name(name)] => self.name(name),
            _ => vec![Value::Unknown],
        }
    }

    /// The elements between brackets.
    fn list(&self, inside: &'n [Node<'c>]) -> Vec<Value> {
        if let Some(end) = inside.iter().position(|node| node.is_name("for"))
            && self.language == Language::Python
        {
            return vec![Value::List(self.of(inside.get(..end).unwrap_or_default()), true)];
        }
        let mut lists = vec![Value::List(Vec::new(), false)];
        for part in inside.split(|node| node.is(",")) {
            let (part, spread) = match trimmed(part) {
                [] => continue,
                [Node::Sign("*" | "..."), rest @ ..] => (rest, true),
                other => (other, false),
            };
            lists = both(&lists, &self.of(part), |list, value| appended(list, value, spread));
        }
        lists
    }

    fn text(&self, parts: &'n [Fill<'c>]) -> Vec<Value> {
        let mut out = vec![Value::text("")];
        for part in parts {
            let values = match part {
                Fill::Said(text) => vec![Value::text(text)],
                Fill::Code(code) => {
                    // `{name:>10}`, `{name!r}`
                    let cut = code.iter().position(|node| node.is(":") || node.is("!") || node.is("="));
                    let formed = cut.filter(|_| self.language == Language::Python);
                    let quoted = formed.is_some_and(|at| code.get(at).is_some_and(|node| !node.is(":")));
                    let shown = code.get(..formed.unwrap_or(code.len())).unwrap_or_default();
                    if quoted { vec![Value::Unknown] } else { self.of(shown) }
                }
            };
            out = both(&out, &values, joined);
        }
        out
    }

    fn name(&self, name: &'c str) -> Vec<Value> {
        if self.looked.borrow().contains(&name) || self.looked.borrow().len() > MAX_DEPTH {
            return vec![Value::Unknown];
        }
        self.looked.borrow_mut().push(name);
        let mut out = Vec::new();
        let mut more = Vec::new();
        let mut added = false;
        for given in self.names.of(name) {
            match given {
                Given::More(nodes) => {
                    added = true;
                    more.extend(nodes.split(|node| node.is(",")).flat_map(|part| self.of(part)));
                }
                other => out.extend(self.given(other)),
            }
        }
        self.looked.borrow_mut().pop();
        if added {
            out = out.into_iter().map(|value| grown(value, &more)).collect();
        }
        if out.is_empty() {
            return vec![if added { Value::Unknown } else { Value::Named(name.to_owned()) }];
        }
        distinct(out)
    }

    /// What stands behind `a, b =`: `1, 2` of Python is a list.
    fn several(&self, nodes: &'n [Node<'c>]) -> Vec<Value> {
        let listed = nodes.iter().any(|node| node.is(",")) && self.language == Language::Python;
        if listed { self.list(nodes) } else { self.of(nodes) }
    }

    fn given(&self, given: Given<'n, 'c>) -> Vec<Value> {
        match given {
            Given::Value(nodes) => self.of(nodes),
            Given::Part(nodes, place) => {
                self.several(nodes).into_iter().map(|value| element(value, Some(place))).collect()
            }
            Given::Member(nodes, name) => {
                self.of(nodes).iter().map(|value| self.member(value, name)).collect()
            }
            Given::Each(nodes, place) => {
                let each = self.several(nodes).into_iter().flat_map(|value| match value {
                    Value::List(mut values, open) => {
                        if open && values.is_empty() {
                            values.push(Value::Unknown);
                        }
                        values
                    }
                    _ => vec![Value::Unknown],
                });
                match place {
                    Some(place) => each.map(|value| element(value, Some(place))).collect(),
                    None => each.collect(),
                }
            }
            Given::Module(module, member) => {
                let module = plain_module(module);
                vec![Value::Named(member.map_or_else(
                    || module.to_owned(),
                    |member| {
                        if member == "default" { module.to_owned() } else { format!("{module}.{member}") }
                    },
                ))]
            }
            Given::Parameter(function, name, place) => self.parameter(function, name, place),
            Given::Own => vec![Value::Own],
            Given::More(_) | Given::Unknown => vec![Value::Unknown],
        }
    }

    /// What a parameter is given where its function is called.
    fn parameter(&self, function: &str, own: &str, place: usize) -> Vec<Value> {
        if self.names.loose.contains(&function) {
            return vec![Value::Unknown];
        }
        let mut out = Vec::new();
        for (_, given) in self.names.calls.iter().filter(|(name, _)| *name == function) {
            let given = arguments(given, self.language);
            if given.iter().any(|argument| argument.spread) {
                out.push(Value::Unknown);
                continue;
            }
            let named = given.iter().find(|argument| argument.name == Some(own));
            let placed = given.iter().filter(|argument| argument.name.is_none()).nth(place);
            out.extend(named.or(placed).into_iter().flat_map(|argument| self.of(argument.value)));
        }
        if out.is_empty() { vec![Value::Unknown] } else { out }
    }

    fn member(&self, value: &Value, name: &str) -> Value {
        match value {
            Value::Named(owner) => {
                let owner = owner.strip_suffix(".default").unwrap_or(owner);
                constant(owner, name).unwrap_or_else(|| Value::Named(format!("{owner}.{name}")))
            }
            Value::Path(_) | Value::Text(_) if matches!(name, "length" | "size") => Value::Other,
            _ => Value::Unknown,
        }
    }

    fn index(&self, value: &Value, inside: &'n [Node<'c>]) -> Vec<Value> {
        let mut out = Vec::new();
        for key in self.of(inside) {
            let key = key.as_arg();
            out.push(match (value, key.known()) {
                (Value::Named(_), Some(name)) => self.member(value, name),
                (Value::List(..), Some(number)) => element(value.clone(), number.parse().ok()),
                (Value::Text(text), _) if is_turned(inside) => match text.known() {
                    Some(text) => Value::text(&text.chars().rev().collect::<String>()),
                    None => Value::Unknown,
                },
                _ => Value::Unknown,
            });
        }
        out
    }

    /// What each argument of a call may be.
    pub(super) fn each_of(&self, inside: &'n [Node<'c>]) -> impl Iterator<Item = Vec<Value>> {
        let parts = inside.split(|node| node.is(",")).map(trimmed).filter(|part| !part.is_empty());
        parts.map(|part| self.of(part))
    }

    pub(super) fn first_of(&self, inside: &'n [Node<'c>]) -> Vec<Value> {
        self.each_of(inside).next().unwrap_or_else(|| vec![Value::Unknown])
    }

    fn called(&self, value: &Value, inside: &'n [Node<'c>]) -> Vec<Value> {
        let Value::Named(name) = value else { return vec![Value::Unknown] };
        let first = || self.first_of(inside);
        match gives(name) {
            Gives::Nothing => vec![Value::Unknown],
            Gives::Same => first(),
            Gives::Path => {
                let paths = first().into_iter().map(|value| Value::Path(value.as_arg()));
                let more = self.each_of(inside).skip(1);
                more.fold(paths.collect(), |left, right| both(&left, &right, inside_of))
            }
            Gives::Joined => {
                let mut parts = self.each_of(inside);
                let front = parts.next().unwrap_or_default();
                parts.fold(front, |left, right| both(&left, &right, inside_of))
            }
            Gives::Home => vec![Value::Path(Arg::literal("~"))],
            Gives::Here => vec![Value::Path(Arg::literal("."))],
            Gives::Variable => first().iter().map(|value| variable(value.as_arg().known())).collect(),
            Gives::Module => first()
                .iter()
                .map(|value| match value.as_arg().known() {
                    Some(name) => Value::Named(plain_module(name).to_owned()),
                    None => Value::Unknown,
                })
                .collect(),
            Gives::Member => {
                let mut parts = self.each_of(inside);
                let (owners, names) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
                both(&owners, &names, |owner, name| match name.as_arg().known() {
                    Some(name) => self.member(owner, name),
                    None => Value::Unknown,
                })
            }
        }
    }
}
