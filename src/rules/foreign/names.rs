//! What the names in code are given: by assignments, loops, imports, and the calls of the functions whose parameters they are.
//!
//! A name is taken to be the same everywhere in the code, so that it stands for everything that it is given anywhere.

use super::Language;
use super::chain::line_ends;
use super::lex::{Fill, Node};

/// One thing that a name is given.
#[derive(Debug, Clone, Copy)]
pub(super) enum Given<'n, 'c> {
    Value(&'n [Node<'c>]),
    /// One of several that are given together: `a, b = …`.
    Part(&'n [Node<'c>], usize),
    /// A member by its name: `const {a: b} = …`.
    Member(&'n [Node<'c>], &'c str),
    /// Each element of it, or one part of each.
    Each(&'n [Node<'c>], Option<usize>),
    /// A module, or a member of one: `os`, `os` and `path`.
    Module(&'n str, Option<&'c str>),
    /// A parameter of a function: its name and its place.
    Parameter(&'c str, &'c str, usize),
    /// A function or a class of the code's own.
    Own,
    /// What is added to a list.
    More(&'n [Node<'c>]),
    Unknown,
}

/// The names of a piece of code.
#[derive(Debug, Default)]
pub(super) struct Names<'n, 'c> {
    pub given: Vec<(&'c str, Given<'n, 'c>)>,
    /// Every call by a plain name or as a method, and what it is given.
    pub calls: Vec<(&'c str, &'n [Node<'c>])>,
    /// Names that stand where nothing is called: a function among them is called by somebody else.
    pub loose: Vec<&'c str>,
    /// Names of members, wherever they are asked for or set.
    pub members: Vec<&'c str>,
    /// Something gives names a meaning in a way that is not followed.
    pub open: bool,
    /// Functions whose parameters are what a list holds.
    pub(super) each_called: Vec<*const Node<'c>>,
}

/// Words in front of a name that is given a value.
pub(super) const DECLARES: &[&str] = &["const", "let", "var", "using"];
/// Words in front of the type of a field or the name of a parameter.
const QUALIFIES: &[&str] = &["private", "public", "protected", "readonly", "static", "async", "override"];
words!("foreign/names");
/// Methods that add to a list.
const ADDS: &[&str] = &["append", "extend", "push", "add"];

impl<'n, 'c> Names<'n, 'c> {
    pub fn new(nodes: &'n [Node<'c>], language: Language) -> Names<'n, 'c> {
        let mut names = Names::default();
        names.collect(nodes, language, false);
        names
    }

    pub fn of(&self, name: &str) -> impl Iterator<Item = Given<'n, 'c>> {
        self.given.iter().filter(move |(known, _)| *known == name).map(|(_, given)| *given)
    }

    /// The modules that are imported by statements.
    pub fn modules(&self) -> impl Iterator<Item = String> {
        self.given.iter().filter_map(|(_, given)| match given {
            Given::Module(module, _) => Some(plain_module(module).to_owned()),
            _ => None,
        })
    }

    pub(super) fn give(&mut self, name: &'c str, given: Given<'n, 'c>) {
        self.given.push((name, given));
    }

    /// Every name in there may be anything.
    pub(super) fn unknown(&mut self, nodes: &'n [Node<'c>]) {
        for node in nodes {
            match node {
                Node::Name(name) => self.give(name, Given::Unknown),
                Node::Group(_, inside) => self.unknown(inside),
                _ => {}
            }
        }
    }

    /// `call`: the nodes stand in round brackets.
    fn collect(&mut self, nodes: &'n [Node<'c>], language: Language, call: bool) {
        for (at, node) in nodes.iter().enumerate() {
            match node {
                Node::Name(name) => {
                    self.mention(nodes, at, name, language);
                    match language {
                        Language::Python => self.python(nodes, at, name),
                        Language::JavaScript => self.script(nodes, at, name),
                    }
                }
                Node::Sign("=") if !(call && language == Language::Python) => {
                    self.assigned(nodes, at, language);
                }
                Node::Sign("+=") => {
                    if let Some(Node::Name(name)) = before(nodes, at) {
                        self.give(name, Given::More(statement(nodes, after(at), language)));
                    }
                }
                Node::Sign(":=") => {
                    if let Some(Node::Name(name)) = before(nodes, at) {
                        self.give(name, Given::Value(nodes.get(after(at)..).unwrap_or_default()));
                    }
                }
                Node::Sign("=>") => self.arrow(nodes, at),
                Node::Group(open, inside) => {
                    self.collect(inside, language, *open == '(');
                }
                Node::Text(parts) => {
                    for part in parts {
                        if let Fill::Code(inside) = part {
                            self.collect(inside, language, true);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn mention(&mut self, nodes: &'n [Node<'c>], at: usize, name: &'c str, language: Language) {
        let rest = nodes.get(after(at)..).unwrap_or_default();
        let called = rest.get(line_ends(rest, language)).filter(|node| node.inside('(').is_some());
        let next = called.or_else(|| rest.first());
        if before(nodes, at).is_some_and(|node| node.is(".") || node.is("?.")) {
            self.members.push(name);
        }
        let declared = matches!(before(nodes, at), Some(Node::Name("def" | "function" | "class")));
        if declared || is_defined(nodes, at) {
            return;
        }
        if let Some(inside) = next.and_then(|node| node.inside('(')) {
            self.calls.push((name, inside));
            let method = before(nodes, at).is_some_and(|node| node.is("."));
            let list = at.checked_sub(2).and_then(|at| nodes.get(at)).and_then(Node::name);
            match list.filter(|_| method) {
                Some(list) if ADDS.contains(&name) => self.give(list, Given::More(inside)),
                // `os.remove(…)`
                Some(list)
                    if CHANGES.contains(&name)
                        && !self.of(list).any(|given| matches!(given, Given::Module(..))) =>
                {
                    self.give(list, Given::Unknown);
                }
                _ => {}
            }
        } else if !next.is_some_and(|node| node.is("=")) {
            self.loose.push(name);
        }
    }

    /// The parameters of a function; of one without a name nobody knows what it is called with.
    pub(super) fn parameters(&mut self, function: Option<&'c str>, nodes: &'n [Node<'c>]) {
        let mut place = 0_usize;
        for part in nodes.split(|node| node.is(",")) {
            let mut part = part;
            while let [Node::Name(word), Node::Name(_), ..] = part
                && QUALIFIES.contains(word)
            {
                part = part.get(1..).unwrap_or_default();
            }
            let part = part.iter().position(|node| *node != Node::Line).and_then(|at| part.get(at..));
            match (part, function) {
                (Some([Node::Name("self" | "cls"), ..]), _) if place == 0 => continue,
                (Some([Node::Name(name), rest @ ..]), Some(function)) => {
                    self.give(name, Given::Parameter(function, name, place));
                    if let Some(default) = rest.iter().position(|node| node.is("=")) {
                        self.give(name, Given::Value(rest.get(after(default)..).unwrap_or_default()));
                    }
                }
                (Some(other), _) => self.unknown(other),
                (None, _) => {}
            }
            place = place.saturating_add(1);
        }
    }

    /// The target of a loop.
    pub(super) fn each(&mut self, target: &'n [Node<'c>], source: &'n [Node<'c>]) {
        let target = match target {
            [Node::Name(word), rest @ ..] if DECLARES.contains(word) => rest,
            other => other,
        };
        let target = match target {
            [Node::Group(_, inside)] => inside,
            other => other,
        };
        let parts = target.split(|node| node.is(","));
        let many = target.iter().any(|node| node.is(","));
        for (place, part) in parts.enumerate() {
            match part {
                [Node::Name(name)] => self.give(name, Given::Each(source, many.then_some(place))),
                other => self.unknown(other),
            }
        }
    }

    /// At an equals sign.
    fn assigned(&mut self, nodes: &'n [Node<'c>], at: usize, language: Language) {
        let front = nodes.get(..at).unwrap_or_default();
        let is_end = |node: &Node<'_>| matches!(node, Node::Line) || node.is(";") || node.is("=");
        let start = front.iter().rposition(is_end).map_or(0, after);
        let mut target = front.get(start..).unwrap_or_default();
        let value = statement(nodes, after(at), language);
        let declared =
            target.iter().rposition(|node| node.name().is_some_and(|name| DECLARES.contains(&name)));
        if let Some(declared) = declared {
            target = target.get(after(declared)..).unwrap_or_default();
        }
        let python = language == Language::Python;
        match target {
            [Node::Name(name)] => self.give(name, Given::Value(value)),
            // `x: int = 1`, `const x: T = …`; but `else: x = 1`
            [Node::Name(name), Node::Sign(":"), ..] if !matches!(*name, "else" | "try" | "finally") => {
                self.give(name, Given::Value(value));
            }
            // `a[0] = …`
            [Node::Name(name), Node::Group('[', _)] => self.give(name, Given::Unknown),
            [Node::Group('{', members)] if !python => self.destructured(members, value),
            [Node::Group(_, parts)] => self.parts(parts, value),
            _ => {
                let behind = target.iter().rposition(|node| node.is(":")).map_or(0, after);
                let target = target.get(behind..).unwrap_or_default();
                if python && target.iter().any(|node| node.is(",")) {
                    self.parts(target, value);
                } else if let [.., Node::Name(name)] = target
                    && !target.iter().any(|node| node.is("."))
                {
                    // `let a = 1, b = 2`, and whatever else stands in front of it.
                    self.give(name, Given::Value(value));
                } else if !target.iter().any(|node| node.is(".") || node.inside('[').is_some()) {
                    self.unknown(target);
                }
            }
        }
    }

    /// `a, b = …`
    fn parts(&mut self, target: &'n [Node<'c>], value: &'n [Node<'c>]) {
        for (place, part) in target.split(|node| node.is(",")).enumerate() {
            match part {
                [Node::Name(name)] => self.give(name, Given::Part(value, place)),
                other => self.unknown(other),
            }
        }
    }

    /// `const {a, b: c, d = 1} = …`
    fn destructured(&mut self, members: &'n [Node<'c>], value: &'n [Node<'c>]) {
        for part in members.split(|node| node.is(",")) {
            let part = part.iter().position(|node| *node != Node::Line).and_then(|at| part.get(at..));
            match part {
                Some([Node::Name(member), Node::Sign(":"), Node::Name(name), ..]) => {
                    self.give(name, Given::Member(value, member));
                }
                Some([Node::Name(member), ..]) => self.give(member, Given::Member(value, member)),
                Some(other) => self.unknown(other),
                None => {}
            }
        }
    }
}

/// A module of Node by the name that it has without the mark.
pub(super) fn plain_module(module: &str) -> &str {
    module.strip_prefix("node:").unwrap_or(module)
}

pub(super) fn after(at: usize) -> usize {
    at.saturating_add(1)
}

pub(super) fn before<'n, 'c>(nodes: &'n [Node<'c>], at: usize) -> Option<&'n Node<'c>> {
    nodes.get(at.checked_sub(1)?)
}

/// Up to the end of the line.
pub(super) fn line<'n, 'c>(nodes: &'n [Node<'c>]) -> &'n [Node<'c>] {
    let end = nodes.iter().position(|node| matches!(node, Node::Line) || node.is(";"));
    nodes.get(..end.unwrap_or(nodes.len())).unwrap_or_default()
}

/// What stands from there to the end of the statement. A line of JavaScript that ends in a sign, or the next one that begins with one,
/// goes on.
fn statement<'n, 'c>(nodes: &'n [Node<'c>], from: usize, language: Language) -> &'n [Node<'c>] {
    let rest = nodes.get(from..).unwrap_or_default();
    let script = language == Language::JavaScript;
    let goes_on = |at: usize| {
        let sign = |node: Option<&Node<'_>>| matches!(node, Some(Node::Sign(sign)) if !matches!(*sign, ";" | "++" | "--"));
        let behind = rest.get(after(at)..).unwrap_or_default().iter().find(|node| **node != Node::Line);
        script && (at == 0 || sign(before(rest, at)) || sign(behind))
    };
    let end = rest.iter().enumerate().position(|(at, node)| match node {
        Node::Line => !goes_on(at),
        Node::Sign(";") => true,
        Node::Sign(",") => script,
        _ => false,
    });
    rest.get(..end.unwrap_or(rest.len())).unwrap_or_default()
}

/// Whether the line begins with one of these words.
pub(super) fn line_begins(nodes: &[Node<'_>], at: usize, words: &[&str]) -> bool {
    let front = nodes.get(..at).unwrap_or_default();
    let start = front.iter().rposition(|node| matches!(node, Node::Line) || node.is(";")).map_or(0, after);
    front.get(start).and_then(Node::name).is_some_and(|name| words.contains(&name))
}

/// Whether a method is defined there, not called: `run(command) {`.
pub(super) fn is_defined(nodes: &[Node<'_>], at: usize) -> bool {
    const CONTROL: &[&str] = &["if", "for", "while", "switch", "catch", "with", "function"];
    let name = nodes.get(at).and_then(Node::name).unwrap_or_default();
    let rest = nodes.get(after(at)..).unwrap_or_default();
    let body = match rest {
        [Node::Group('(', _), Node::Group('{', _), ..] => true,
        // `run(command: string): void {`
        [Node::Group('(', _), Node::Sign(":"), behind @ ..] => behind
            .iter()
            .take(6)
            .take_while(|node| **node != Node::Line)
            .any(|node| node.inside('{').is_some()),
        _ => false,
    };
    body && !CONTROL.contains(&name) && !before(nodes, at).is_some_and(|node| node.is("."))
}
