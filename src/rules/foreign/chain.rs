//! Expressions as they stand: a beginning, and what is done with it; and the arguments of calls.

use super::Language;
use super::lex::Node;

/// What stands behind the beginning of an expression.
pub(super) enum Link<'n, 'c> {
    Member(&'c str),
    Call(&'n [Node<'c>]),
    Index(&'n [Node<'c>]),
    /// A template behind a name: `` sh`ls` ``.
    Template(&'n Node<'c>),
}

/// An expression that begins with a name, a string or a bracket, and goes on with members and calls.
pub(super) struct Chain<'n, 'c> {
    pub first: &'n [Node<'c>],
    pub links: Vec<Link<'n, 'c>>,
    /// Where it ends.
    pub end: usize,
}

/// The expression that begins there.
pub(super) fn chain<'n, 'c>(nodes: &'n [Node<'c>], at: usize, language: Language) -> Option<Chain<'n, 'c>> {
    let rest = nodes.get(at..)?;
    let texts = rest.iter().take_while(|node| matches!(node, Node::Text(_))).count();
    let length = match rest.first()? {
        Node::Text(_) if language == Language::Python => texts,
        Node::Text(_) | Node::Name(_) | Node::Group(..) => 1,
        Node::Number(_) | Node::Regex | Node::Sign(_) | Node::Line => return None,
    };
    let first = rest.get(..length)?;
    let mut links = Vec::new();
    let mut end = at.checked_add(length)?;
    loop {
        let rest = nodes.get(end..).unwrap_or_default();
        let lines = line_ends(rest, language);
        let behind = rest.get(lines..).unwrap_or_default();
        let (link, taken) = match (rest, behind) {
            (_, [Node::Sign("." | "?."), Node::Name(name), ..]) => {
                (Link::Member(name), lines.saturating_add(2))
            }
            (_, [Node::Sign("?."), Node::Group('(', inside), ..]) => {
                (Link::Call(inside), lines.saturating_add(2))
            }
            (_, [Node::Sign("?."), Node::Group('[', inside), ..]) => {
                (Link::Index(inside), lines.saturating_add(2))
            }
            (_, [Node::Group('(', inside), ..]) => (Link::Call(inside), lines.saturating_add(1)),
            (_, [Node::Group('[', inside), ..]) => (Link::Index(inside), lines.saturating_add(1)),
            ([Node::Sign("!"), Node::Sign("."), Node::Name(name), ..], _) => (Link::Member(name), 3),
            ([text @ Node::Text(_), ..], _) if language == Language::JavaScript => (Link::Template(text), 1),
            _ => break,
        };
        links.push(link);
        end = end.checked_add(taken)?;
    }
    Some(Chain { first, links, end })
}

/// How many ends of lines stand there in front of what may go on with a call.
pub(super) fn line_ends(nodes: &[Node<'_>], language: Language) -> usize {
    match language {
        Language::JavaScript => nodes.iter().take_while(|node| **node == Node::Line).count(),
        Language::Python => 0,
    }
}

/// One argument of a call.
pub(super) struct Argument<'n, 'c> {
    /// `name=…`
    pub name: Option<&'c str>,
    /// It stands for several.
    pub spread: bool,
    pub value: &'n [Node<'c>],
}

pub(super) fn arguments<'n, 'c>(inside: &'n [Node<'c>], language: Language) -> Vec<Argument<'n, 'c>> {
    let parts = inside.split(|node| node.is(",")).map(trimmed).filter(|part| !part.is_empty());
    let python = language == Language::Python;
    parts
        .map(|part| match part {
            [Node::Name(name), Node::Sign("="), value @ ..] if python => {
                Argument { name: Some(*name), spread: false, value }
            }
            [Node::Sign("*" | "**" | "..."), value @ ..] => Argument { name: None, spread: true, value },
            value => Argument { name: None, spread: false, value },
        })
        .collect()
}

/// Without the ends of lines around it.
pub(super) fn trimmed<'n, 'c>(nodes: &'n [Node<'c>]) -> &'n [Node<'c>] {
    let start = nodes.iter().take_while(|node| **node == Node::Line).count();
    let nodes = nodes.get(start..).unwrap_or_default();
    let end = nodes.iter().rev().take_while(|node| **node == Node::Line || node.is(";")).count();
    nodes.get(..nodes.len().saturating_sub(end)).unwrap_or_default()
}
