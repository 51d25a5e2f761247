//! What names are given in Python.

use super::lex::Node;
use super::names::{Given, Names, after, before, line, line_begins};

impl<'n, 'c> Names<'n, 'c> {
    pub(super) fn python(&mut self, nodes: &'n [Node<'c>], at: usize, name: &'c str) {
        let rest = nodes.get(after(at)..).unwrap_or_default();
        match name {
            "import" if !from_in_front(nodes, at) => self.imports(line(rest), None),
            "from" => {
                let module: &'n [Node<'c>] = line(rest);
                let Some(end) = module.iter().position(|node| node.is_name("import")) else { return };
                let (module, members) = module.split_at_checked(end).unwrap_or_default();
                let members = members.get(1..).unwrap_or_default();
                let members = members.first().and_then(|node| node.inside('(')).unwrap_or(members);
                self.open |= members.iter().any(|node| node.is("*"));
                let first = module.first().and_then(Node::name).unwrap_or(".");
                let path = module.get(2).and_then(Node::name).filter(|_| module.len() == 3);
                match path {
                    // `from os.path import join`
                    Some("path") if first == "os" => self.imports(members, Some("os.path")),
                    Some("parse" | "request" | "error") if first == "urllib" => {
                        self.imports(members, Some("urllib"));
                    }
                    _ => self.imports(members, Some(first)),
                }
            }
            "for" => {
                let Some(end) = rest.iter().position(|node| node.is_name("in")) else { return };
                let (target, source) = rest.split_at_checked(end).unwrap_or_default();
                let source = source.get(1..).unwrap_or_default();
                let ends = |node: &Node<'_>| {
                    matches!(node, Node::Line)
                        || node.is(":")
                        || matches!(node.name(), Some("for" | "if" | "async"))
                };
                let end = source.iter().position(ends).unwrap_or(source.len());
                self.each(target, source.get(..end).unwrap_or_default());
            }
            "as" if !line_begins(nodes, at, &["import", "from"]) => {
                let opens =
                    |node: &Node<'_>| node.is(",") || matches!(node.name(), Some("with" | "except" | "case"));
                let front = nodes.get(..at).unwrap_or_default();
                let start = front.iter().rposition(opens).map_or(0, after);
                match rest.first() {
                    Some(Node::Name(name)) => {
                        self.give(name, Given::Value(front.get(start..).unwrap_or_default()));
                    }
                    Some(other) => self.unknown(std::slice::from_ref(other)),
                    None => {}
                }
            }
            "def" => {
                if let [Node::Name(name), Node::Group('(', parameters), ..] = rest {
                    self.give(name, Given::Own);
                    self.parameters(Some(name), parameters);
                }
            }
            "class" => {
                if let Some(Node::Name(name)) = rest.first() {
                    self.give(name, Given::Own);
                }
            }
            // `del a[0]`
            "del" => self.unknown(line(rest)),
            "lambda" => {
                let end = rest.iter().position(|node| node.is(":")).unwrap_or_default();
                self.unknown(rest.get(..end).unwrap_or_default());
            }
            // What a pattern gives its names is not followed.
            "case" if matches!(before(nodes, at), None | Some(Node::Line)) => {
                self.open |= !rest.first().is_some_and(|node| node.is("=") || node.is("."));
            }
            "exec" => self.open |= matches!(rest.first(), Some(Node::Name(_) | Node::Text(_))),
            _ => {}
        }
    }

    /// `a.b as c, d`: the names of an `import`, or those of a module.
    pub(super) fn imports(&mut self, nodes: &'n [Node<'c>], module: Option<&'n str>) {
        for part in nodes.split(|node| node.is(",")) {
            let Some(first) = part.iter().find_map(Node::name) else { continue };
            let alias = part.iter().position(|node| node.is_name("as")).and_then(|at| part.get(after(at)));
            let alias = alias.and_then(Node::name);
            match (module, alias) {
                (Some(module), alias) => {
                    self.give(alias.unwrap_or(first), Given::Module(module, Some(first)));
                }
                // `import os.path` gives `os`, `import os.path as p` what stands behind the dot.
                (None, None) => self.give(first, Given::Module(first, None)),
                (None, Some(alias)) => {
                    let member =
                        part.get(2).and_then(Node::name).filter(|_| part.get(1).is_some_and(|n| n.is(".")));
                    self.give(alias, Given::Module(first, member));
                }
            }
        }
    }
}

fn from_in_front(nodes: &[Node<'_>], at: usize) -> bool {
    line_begins(nodes, at, &["from"])
}
