//! What names are given in JavaScript.

use super::lex::{Fill, Node};
use super::names::{FOR_EACH, Given, Names, after, before, is_defined};

impl<'n, 'c> Names<'n, 'c> {
    pub(super) fn script(&mut self, nodes: &'n [Node<'c>], at: usize, name: &'c str) {
        let rest = nodes.get(after(at)..).unwrap_or_default();
        match name {
            "import" => self.script_imports(rest),
            "for" => {
                let inside = rest.iter().take(2).find_map(|node| node.inside('(')).unwrap_or_default();
                let of = inside.iter().position(|node| matches!(node.name(), Some("of" | "in")));
                if let Some(end) = of {
                    let (target, source) = inside.split_at_checked(end).unwrap_or_default();
                    self.each(target, source.get(1..).unwrap_or_default());
                }
            }
            "function" => {
                let own = rest.iter().take(2).find_map(Node::name);
                let given = at.checked_sub(2).and_then(|at| nodes.get(at)).and_then(Node::name);
                let given = given.filter(|_| before(nodes, at).is_some_and(|node| node.is("=")));
                let parameters = rest.iter().take(3).find_map(|node| node.inside('('));
                if let Some(own) = own {
                    self.give(own, Given::Own);
                }
                self.parameters(own.or(given), parameters.unwrap_or_default());
            }
            "class" => {
                if let Some(Node::Name(name)) = rest.first() {
                    self.give(name, Given::Own);
                }
            }
            "catch" if !before(nodes, at).is_some_and(|node| node.is(".") || node.is("?.")) => {
                self.unknown(rest.first().and_then(|node| node.inside('(')).unwrap_or_default())
            }
            "with" if rest.first().is_some_and(|node| node.inside('(').is_some()) => self.open = true,
            _ => {
                let defined = || is_defined(nodes, at);
                if let ([Node::Group('(', parameters), ..], true) = (rest, defined()) {
                    self.parameters(Some(name), parameters);
                } else if FOR_EACH.contains(&name)
                    && let Some(inside) = rest.first().and_then(|node| node.inside('('))
                {
                    self.for_each(nodes, at, inside);
                }
            }
        }
    }

    fn script_imports(&mut self, rest: &'n [Node<'c>]) {
        // `import './x.js'`
        if let Some(Node::Text(parts)) = rest.first()
            && let [Fill::Said(module)] = parts.as_slice()
        {
            self.give("", Given::Module(module, None));
        }
        // `import('fs')`, `import.meta`
        if !matches!(rest.first(), Some(Node::Name(_) | Node::Sign("*") | Node::Group('{', _))) {
            return;
        }
        let Some(end) = rest.iter().position(|node| node.is_name("from")) else { return };
        let Some(Node::Text(parts)) = rest.get(after(end)) else { return };
        let [Fill::Said(module)] = parts.as_slice() else { return };
        let front = rest.get(..end).unwrap_or_default();
        for node in front {
            match node {
                Node::Name("type" | "as") => {}
                Node::Name(name) => self.give(name, Given::Module(module, None)),
                Node::Group('{', members) => self.imports(members, Some(module)),
                _ => {}
            }
        }
    }

    /// `['a', 'b'].forEach(x => …)`
    fn for_each(&mut self, nodes: &'n [Node<'c>], at: usize, inside: &'n [Node<'c>]) {
        let front = nodes.get(..at.saturating_sub(1)).unwrap_or_default();
        let is_link = |node: &&Node<'_>| {
            matches!(node, Node::Name(_) | Node::Text(_) | Node::Group('(' | '[', _)) || node.is(".")
        };
        let length = front.iter().rev().take_while(is_link).count();
        let source = front.get(front.len().saturating_sub(length)..).unwrap_or_default();
        let start = usize::from(inside.first().is_some_and(|node| node.is_name("async")));
        let (Some(first), Some(arrow)) = (inside.get(start), inside.get(after(start))) else { return };
        if !arrow.is("=>") {
            return;
        }
        self.each_called.push(std::ptr::from_ref(arrow));
        match first {
            Node::Name(name) => self.give(name, Given::Each(source, None)),
            Node::Group('(', parameters) => {
                let mut parts = parameters.split(|node| node.is(","));
                if let Some(first) = parts.next() {
                    self.each(first, source);
                }
                for part in parts {
                    self.unknown(part);
                }
            }
            _ => {}
        }
    }

    pub(super) fn arrow(&mut self, nodes: &'n [Node<'c>], at: usize) {
        let Some(node) = nodes.get(at) else { return };
        if self.each_called.iter().any(|done| std::ptr::eq(*done, node)) {
            return;
        }
        let front = nodes.get(..at).unwrap_or_default();
        // `(a: string): Promise<void> =>`
        let Some(start) = front.iter().rposition(|node| node.inside('(').is_some()) else {
            if let Some(Node::Name(name)) = front.last() {
                self.give(name, Given::Unknown);
            }
            return;
        };
        if let (Some(Node::Name(name)), false) =
            (front.last(), front.get(after(start)).is_some_and(|n| n.is(":")))
        {
            self.give(name, Given::Unknown);
            return;
        }
        let mut front_of = front.get(..start).unwrap_or_default();
        if front_of.last().is_some_and(|node| node.is_name("async")) {
            front_of = front_of.get(..front_of.len().saturating_sub(1)).unwrap_or_default();
        }
        let function = match front_of {
            [.., Node::Name(name), Node::Sign("=")] => Some(*name),
            _ => None,
        };
        self.parameters(function, front.get(start).and_then(|node| node.inside('(')).unwrap_or_default());
    }
}
