//! Through all of the code: each call is looked up, and what it does is written down.

use super::chain::{Argument, Chain, Link, arguments, chain};
use super::lex::{Fill, Node};
use super::names::{self, DECLARES, plain_module};
use super::starts::Front;
use super::value::Value;
use super::values::Values;
use super::{Account, Language, MAX_NESTED, Operation, read};
use crate::rules::facts::functions::{self, Does, Gives};
use crate::rules::facts::variables;
use crate::shell::Arg;

words!("foreign/walk");

pub(super) struct Walk<'w, 'v, 'n, 'c> {
    pub values: &'w Values<'v, 'n, 'c>,
    pub account: &'w mut Account,
    pub depth: usize,
}

impl<'n, 'c> Walk<'_, '_, 'n, 'c> {
    /// `call`: the nodes stand in round brackets.
    pub fn nodes(&mut self, nodes: &'n [Node<'c>], call: bool) {
        let mut at = 0_usize;
        let mut imports = false;
        while let Some(node) = nodes.get(at) {
            match node {
                Node::Line | Node::Sign(";") => imports = false,
                Node::Name(name) => {
                    self.account.open |= functions::leads_out(name) || is_obeyed(name);
                    imports |= matches!(*name, "import" | "from") && !called(nodes, at);
                }
                // The names that are imported, or given a value, are not used there.
                Node::Group(..)
                    if imports || nodes.get(at.saturating_add(1)).is_some_and(|node| node.is("=")) =>
                {
                    at = at.saturating_add(1);
                    continue;
                }
                Node::Group(..) | Node::Text(_) => self.inside(node),
                Node::Number(_) | Node::Regex | Node::Sign(_) => {}
            }
            // What gets a name there.
            let target =
                nodes.get(at.saturating_add(1)).is_some_and(|next| next.is("=")) && node.name().is_some();
            let member = at
                .checked_sub(1)
                .and_then(|at| nodes.get(at))
                .is_some_and(|node| node.is(".") || node.is("?."));
            if !(imports
                || member
                || target
                || self.is_word(node)
                || names::is_defined(nodes, at)
                || is_declared(nodes, at))
                && let Some(found) = chain(nodes, at, self.values.language)
            {
                let renames = !(call && self.values.language == Language::Python)
                    && nodes.get(..at).is_some_and(|front| self.is_named(front));
                self.links(&found, renames);
                // What stands in the brackets of the chain is looked at too.
                let rest = nodes.get(at.saturating_add(1)..found.end).unwrap_or_default();
                for (behind, node) in rest.iter().enumerate() {
                    let front = behind.checked_sub(1).map_or(nodes.get(at), |before| rest.get(before));
                    // `promisify(exec)` is the same function.
                    if !front.is_some_and(|node| node.is_name("promisify")) {
                        self.inside(node);
                    }
                }
                at = found.end.max(at.saturating_add(1));
                continue;
            }
            if member
                && let (Node::Name(name), Some(Node::Group('(', given))) =
                    (node, nodes.get(at.saturating_add(1)))
                && !matches!(*name, "test" | "exec")
            {
                // A method of a number or of a pattern.
                self.method(&Value::Unknown, name, &arguments(given, self.values.language));
            }
            at = at.saturating_add(1);
        }
    }

    /// Whether what follows is given a name of its own by what stands in front of it. A member's name may be anybody's, and so may one
    /// that is asked for as a member.
    fn is_named(&self, front: &[Node<'_>]) -> bool {
        let Some((Node::Sign("="), front)) = front.split_last() else { return false };
        let start = |before: &[Node<'_>]| match before.last() {
            None | Some(Node::Line | Node::Sign(";" | ":")) => true,
            Some(Node::Name(word)) => DECLARES.contains(word),
            // `const fs = require('fs'), path = require('path')`
            Some(Node::Sign(",")) => {
                let line = before.iter().rev().take_while(|node| **node != Node::Line && !node.is(";"));
                { line }.any(|node| node.name().is_some_and(|name| DECLARES.contains(&name)))
            }
            Some(_) => false,
        };
        match front {
            [before @ .., Node::Name(name)] => start(before) && !self.values.names.members.contains(name),
            [before @ .., Node::Group('{', _)] => start(before),
            _ => false,
        }
    }

    fn inside(&mut self, node: &'n Node<'c>) {
        match node {
            Node::Group(open, inside) => self.nodes(inside, *open == '('),
            Node::Name(name) => self.account.open |= functions::leads_out(name) || is_obeyed(name),
            Node::Text(parts) => {
                for part in parts {
                    match part {
                        Fill::Code(code) => self.nodes(code, true),
                        Fill::Said(text) => self.account.open |= is_obeyed(text),
                    }
                }
            }
            Node::Number(_) | Node::Regex | Node::Sign(_) | Node::Line => {}
        }
    }

    /// Whether a node is a word of the language, behind which a bracket is no call.
    fn is_word(&self, node: &Node<'_>) -> bool {
        const PYTHON: &[&str] = &[
            "if", "elif", "else", "for", "while", "in", "and", "or", "not", "is", "return", "yield",
            "lambda", "assert", "del", "raise", "with", "as", "try", "except", "finally", "def", "class",
            "pass", "global", "nonlocal", "await", "async", "from",
        ];
        let words = match self.values.language {
            Language::Python => PYTHON,
            Language::JavaScript => JAVASCRIPT_WORDS,
        };
        node.name().is_some_and(|name| words.contains(&name))
    }

    /// `renames`: it is given a name, and what is done by that name is seen there.
    fn links(&mut self, found: &Chain<'n, 'c>, renames: bool) {
        for (at, link) in found.links.iter().enumerate() {
            match link {
                Link::Call(inside) => self.call(found, at, inside),
                Link::Template(text) => {
                    for value in self.values.chain(found, at) {
                        if let Value::Named(name) = &value {
                            match functions::does(name) {
                                Some(Does::Shell(_)) => {
                                    for text in self.values.of(std::slice::from_ref(*text)) {
                                        self.shell(&text, &Front::default());
                                    }
                                }
                                Some(Does::Nothing) | None => {}
                                Some(_) => self.account.open = true,
                            }
                        }
                    }
                }
                Link::Index(_) => {
                    // `globalThis[name](…)`
                    let owners = self.values.chain(found, at);
                    let members = self.values.chain(found, at.saturating_add(1));
                    let unknown = members.contains(&Value::Unknown);
                    let owner = |value: &Value| matches!(value, Value::Named(name) if functions::does(&format!("{name}.?")) == Some(Does::Anything));
                    self.account.open |= unknown && owners.iter().any(owner);
                }
                Link::Member(_) => {}
            }
        }
        if renames {
            return;
        }
        // A function that is not called here is called by somebody else.
        for value in self.values.chain(found, found.links.len()) {
            if let Value::Named(name) = value {
                let does = functions::does(&name);
                let module = functions::does(&format!("{name}.?")) == Some(Does::Anything);
                self.account.open |=
                    !matches!(does, None | Some(Does::Nothing)) || module && !name.contains('.');
            }
        }
    }

    fn call(&mut self, found: &Chain<'n, 'c>, at: usize, inside: &'n [Node<'c>]) {
        let last = at.checked_sub(1).and_then(|at| found.links.get(at));
        let method = match last {
            Some(Link::Member(name)) => Some(*name),
            _ => None,
        };
        let given = arguments(inside, self.values.language);
        for value in self.values.chain(found, at) {
            match (&value, method) {
                (Value::Named(name), _) => self.function(name, &given),
                (Value::Own, None) => {}
                (_, Some(method)) => {
                    let links = at.saturating_sub(1);
                    for owner in self.values.chain(found, links) {
                        self.method(&owner, method, &given);
                    }
                }
                // `handlers[name](x)`, `make()(x)`: what stands there was looked at where it stands.
                (_, None) => {
                    // Whatever it is, it may be a function of a module that starts programs.
                    const STARTING: &[&str] =
                        &["os", "subprocess", "child_process", "pty", "asyncio", "shutil", "fs"];
                    let module = |name: &String| STARTING.contains(&name.as_str());
                    self.account.open |= self.account.modules.iter().any(module);
                    self.other("", &given);
                }
            }
        }
    }

    fn function(&mut self, name: &str, given: &[Argument<'n, 'c>]) {
        let last = name.rsplit('.').next().unwrap_or_default();
        match functions::does(name) {
            Some(does) => self.does(does, None, given),
            None if matches!(functions::gives(name), Gives::Module | Gives::Member) => {
                let place = usize::from(functions::gives(name) == Gives::Member);
                let named =
                    given.get(place).map(|argument| self.values.of(argument.value)).unwrap_or_default();
                let known = |value: &Value| value.as_arg().known().map(|name| plain_module(name).to_owned());
                self.account.open |= named.is_empty() || named.iter().any(|value| known(value).is_none());
                if place == 0 {
                    self.account.modules.extend(named.iter().filter_map(known));
                }
            }
            None if functions::is_plain(last) => {}
            None => self.other(name, given),
        }
    }

    fn method(&mut self, owner: &Value, name: &str, given: &[Argument<'n, 'c>]) {
        match (owner, name) {
            // What a pattern or a table of the code's own does stands in it.
            (Value::Named(_), _) | (Value::Other, "exec" | "test") => {}
            (Value::Path(path), "open") => {
                let mode = given.iter().find(|argument| argument.name.is_none_or(|name| name == "mode"));
                self.opens(path, mode.map(|argument| argument.value));
            }
            (Value::Path(path), "replace") if given.len() == 1 => {
                let path = path.clone();
                self.does(Does::Moves, Some(&path), given);
            }
            _ => match functions::does_to_path(name) {
                Some(does) => self.does(does, Some(&owner.as_arg()), given),
                // `table.update(…)`, `handle.write(…)`
                None if functions::is_plain(name) => {}
                None => self.other(name, given),
            },
        }
    }

    /// The texts that may stand in a place of the arguments. `owner`: what it is a method of stands in the first.
    fn texts(&self, owner: Option<&Arg>, given: &[Argument<'n, 'c>], place: usize) -> Vec<Arg> {
        if let (Some(owner), 0) = (owner, place) {
            return vec![owner.clone()];
        }
        let spread = given.iter().any(|argument| argument.spread);
        let place = place.saturating_sub(usize::from(owner.is_some()));
        let argument = given.iter().filter(|argument| argument.name.is_none()).nth(place).filter(|_| !spread);
        let found = argument.map(|argument| self.values.of(argument.value)).unwrap_or_default();
        let texts: Vec<Arg> = found.iter().map(Value::as_arg).collect();
        if texts.is_empty() { vec![Value::Unknown.as_arg()] } else { texts }
    }

    fn does(&mut self, does: Does, owner: Option<&Arg>, given: &[Argument<'n, 'c>]) {
        let mut nameless = given.iter().filter(|argument| argument.name.is_none());
        let spread = given.iter().any(|argument| argument.spread);
        match does {
            Does::Nothing => {}
            Does::Anything => self.account.open = true,
            Does::Shell(place) => {
                let argument = nameless.nth(place).or_else(|| given.first()).filter(|_| !spread);
                let found = argument.map(|argument| self.values.of(argument.value));
                let front = self.options(given);
                for text in found.unwrap_or_else(|| vec![Value::Unknown]) {
                    self.shell(&text, &front);
                }
            }
            Does::Starts => self.starts(given),
            Does::Spawns => self.spawns(given),
            Does::Executes(place) => {
                self.account.open |= spread;
                self.executes(given.get(place..).unwrap_or_default());
            }
            Does::Code(place) => {
                for text in self.texts(owner, given, place) {
                    self.code(text.known());
                }
            }
            Does::Opens => {
                let mode = given.iter().find(|argument| argument.name == Some("mode"));
                let mode = mode.or_else(|| nameless.nth(1)).map(|argument| argument.value);
                self.account.open |= spread;
                for path in self.texts(owner, given, 0) {
                    self.opens(&path, mode);
                }
            }
            Does::Writes(place) => {
                let paths = self.texts(owner, given, place);
                self.account.operations.extend(paths.into_iter().map(Operation::Writes));
            }
            Does::Deletes(place) | Does::DeletesTree(place) => {
                let tree = matches!(does, Does::DeletesTree(_));
                let paths = self.texts(owner, given, place).into_iter();
                self.account.operations.extend(paths.map(|path| Operation::Deletes { path, tree }));
            }
            Does::Moves | Does::Copies => {
                for from in self.texts(owner, given, 0) {
                    for to in self.texts(owner, given, 1) {
                        let from = from.clone();
                        self.account.operations.push(match does {
                            Does::Moves => Operation::Moves { from, to },
                            _ => Operation::Copies { from, to },
                        });
                    }
                }
            }
        }
    }

    /// A text that is run as code.
    fn code(&mut self, text: Option<&str>) {
        let nested = self.depth.saturating_add(1);
        let mut inner = Account::default();
        let read = text
            .filter(|_| nested <= MAX_NESTED)
            .and_then(|code| read(code, self.values.language, nested, &mut inner));
        // What it calls may be what the code around it means by the name.
        let calls = inner.operations.iter().any(|operation| matches!(operation, Operation::Calls { .. }));
        self.account.open |= read.is_none() || inner.open || calls;
        self.account.operations.extend(inner.operations);
        self.account.modules.extend(inner.modules);
    }

    /// A file is opened: written where its mode says so, or is not known.
    fn opens(&mut self, path: &Arg, mode: Option<&'n [Node<'c>]>) {
        let reads = |value: &Value| match value {
            Value::Text(mode) => mode.known().is_some_and(|mode| !mode.contains(['w', 'a', 'x', '+'])),
            Value::Other => true,
            _ => false,
        };
        let writes = mode.is_some_and(|mode| !self.values.of(mode).iter().all(reads));
        if writes {
            self.account.operations.push(Operation::Writes(path.clone()));
        }
    }

    /// What a call that no row knows is given.
    fn other(&mut self, name: &str, given: &[Argument<'n, 'c>]) {
        let mut texts = Vec::new();
        for argument in given {
            for value in self.values.of(argument.value) {
                flat(&value, &mut texts);
            }
        }
        self.account.operations.push(Operation::Calls { name: name.to_owned(), given: texts });
    }
}

/// Whether a name is that of a variable of the environment that programs obey.
fn is_obeyed(name: &str) -> bool {
    name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
        && (matches!(name, "PATH" | "ENV") || variables::obeyed(name).next().is_some())
}

/// The texts of a value, and of a list's elements.
fn flat(value: &Value, out: &mut Vec<Arg>) {
    match value {
        Value::List(values, open) => {
            for value in values {
                if let Value::List(..) = value {
                    out.push(Value::Unknown.as_arg());
                } else {
                    flat(value, out);
                }
            }
            if *open {
                out.push(Value::Unknown.as_arg());
            }
        }
        Value::Other | Value::Own => {}
        other => out.push(other.as_arg()),
    }
}

/// Whether a name is called there.
fn called(nodes: &[Node<'_>], at: usize) -> bool {
    nodes.get(at.saturating_add(1)).is_some_and(|node| node.inside('(').is_some() || node.is("."))
}

/// Whether a function or a class gets its name there.
fn is_declared(nodes: &[Node<'_>], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|at| nodes.get(at)).and_then(Node::name);
    matches!(before, Some("def" | "function" | "class"))
}
